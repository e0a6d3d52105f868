//! Memory and processor time that processes use, and the memory of the machine. Memory is in bytes.

use std::fs;

/// The resident memory of a process.
pub fn resident_memory(pid: u32) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The resident memory of all processes in the group that this process leads.
pub fn group_memory(leader: u32) -> Option<u64> {
    let own = resident_memory(leader)?;
    let others = members(leader).filter(|it| it.pid != leader).filter_map(|it| resident_memory(it.pid));
    Some(own + others.sum::<u64>())
}

/// The processor time that the processes of a group and their reaped children have used, in clock ticks.
pub fn processor_time(leader: u32) -> u64 {
    members(leader).map(|it| it.ticks).sum()
}

/// A process of a group.
pub(crate) struct Member {
    pub pid: u32,
    /// Processor time of the process and of its reaped children.
    ticks: u64,
}

/// The processes of the group that `leader` leads.
pub(crate) fn members(leader: u32) -> impl Iterator<Item = Member> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The fields after the program's name, which may contain any character: state, parent, group, ….
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|it| it.parse::<u64>().ok()).sum();
        (fields.get(2)?.parse::<u32>().ok()? == leader).then_some(Member { pid, ticks })
    })
}

/// The memory that this process may use: the machine's, or the limit of its control group if that is less.
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
