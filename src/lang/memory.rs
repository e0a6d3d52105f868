//! What processes take of the machine's memory, and how much there is, in bytes.

use std::fs;

/// The resident memory of a process.
pub fn resident(pid: u32) -> Option<u64> {
    told(&format!("/proc/{pid}/status"), "VmRSS:")
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
