//! What processes take of the machine: memory, and how much of it there is, in bytes; time of its processors.

use std::fs;

/// The resident memory of a process.
pub fn resident_memory(pid: u32) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The resident memory of a process and of all others in the process group that it leads.
pub fn group_memory(leader: u32) -> Option<u64> {
    let own = resident_memory(leader)?;
    let others = members(leader).filter(|it| it.pid != leader).filter_map(|it| resident_memory(it.pid));
    Some(own + others.sum::<u64>())
}

/// What the processes of a group, and those that they have waited for, have taken of the processors, in clock ticks.
pub fn processor_time(leader: u32) -> u64 {
    members(leader).map(|it| it.ticks).sum()
}

/// A process of a group.
pub(crate) struct Member {
    pub pid: u32,
    /// What it and those that it has waited for have taken of the processors.
    ticks: u64,
}

/// The processes of the group that this one leads.
pub(crate) fn members(leader: u32) -> impl Iterator<Item = Member> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // What follows the name of the program, which may hold anything: its state, its parent, its group.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|it| it.parse::<u64>().ok()).sum();
        (fields.get(2)?.parse::<u32>().ok()? == leader).then_some(Member { pid, ticks })
    })
}

/// All that this process may take: the machine's, or less where its control group has a bound.
pub fn total_memory() -> Option<u64> {
    let bound = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|it| it.trim().parse().ok());
    Some(field("/proc/meminfo", "MemTotal:")?.min(bound.unwrap_or(u64::MAX)))
}

fn field(file: &str, name: &str) -> Option<u64> {
    let content = fs::read_to_string(file).ok()?;
    let line = content.lines().find_map(|it| it.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
