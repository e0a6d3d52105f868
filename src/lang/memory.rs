//! What processes take of the machine's memory, and how much there is, in bytes.

use std::fs;

/// The resident memory of a process.
pub fn resident(pid: u32) -> Option<u64> {
    told(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The resident memory of a process and of all others in the process group that it leads.
pub fn of_group(leader: u32) -> Option<u64> {
    let own = resident(leader)?;
    let Ok(entries) = fs::read_dir("/proc") else { return Some(own) };
    let numbers = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let others = numbers.filter(|it| *it != leader && group_of(*it) == Some(leader)).filter_map(resident);
    Some(own + others.sum::<u64>())
}

/// What follows the name of the program, which may hold anything: its state, its parent, its group.
fn group_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

/// All that this process may take: the machine's, or less where its control group has a bound.
pub fn total() -> Option<u64> {
    let bound = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|it| it.trim().parse().ok());
    Some(told("/proc/meminfo", "MemTotal:")?.min(bound.unwrap_or(u64::MAX)))
}

fn told(file: &str, name: &str) -> Option<u64> {
    let told = fs::read_to_string(file).ok()?;
    let line = told.lines().find_map(|it| it.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
