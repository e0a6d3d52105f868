//! Memory and processor time that processes use, and the memory of the machine. Memory is in bytes.

use std::fs;
use std::path::{Path, PathBuf};

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

/// The memory of a process that is no file's content: heap and stacks.
pub fn anonymous_memory(pid: u32) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "RssAnon:")
}

/// The memory that this process may use: the machine's, or the limit of its control group if that is less.
pub fn total_memory() -> Option<u64> {
    let limits = control_groups().into_iter().filter_map(|it| it.limit());
    Some(limits.fold(field("/proc/meminfo", "MemTotal:")?, u64::min))
}

/// The memory that processes can allocate now: what the machine has available, or the rest below the limit of the
/// control group if that is less.
pub fn free_memory() -> Option<u64> {
    let free = control_groups().into_iter().filter_map(|it| it.free());
    Some(free.fold(field("/proc/meminfo", "MemAvailable:")?, u64::min))
}

/// A control group that accounts for the memory of this process.
#[derive(Debug, PartialEq, Eq)]
struct ControlGroup {
    directory: PathBuf,
    names: &'static Names,
}

/// The files of a control group, by the version of the interface.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    /// Where the groups are mounted, in the usual order.
    mounts: &'static [&'static str],
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat` with the cached files that are freed first.
    cache: &'static str,
}

const VERSION_1: Names = Names {
    mounts: &["sys/fs/cgroup/memory"],
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: "total_inactive_file ",
};
const VERSION_2: Names = Names {
    mounts: &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
    limit: "memory.max",
    usage: "memory.current",
    cache: "inactive_file ",
};

impl ControlGroup {
    /// `None` without a limit.
    fn limit(&self) -> Option<u64> {
        number(&self.directory.join(self.names.limit))
    }

    fn free(&self) -> Option<u64> {
        let usage = number(&self.directory.join(self.names.usage))?;
        let statistics = fs::read_to_string(self.directory.join("memory.stat")).unwrap_or_default();
        let cache = statistics.lines().find_map(|it| it.strip_prefix(self.names.cache)?.trim().parse().ok());
        let used = usage.saturating_sub(cache.unwrap_or_default());
        Some(self.limit()?.saturating_sub(used))
    }
}

fn control_groups() -> Vec<ControlGroup> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    control_groups_of(&own, Path::new("/"))
}

/// The groups in `/proc/PID/cgroup` with all groups around them: the least limit applies. A container sees its own
/// group as the root, and may have the path of the host in that file.
fn control_groups_of(own: &str, root: &Path) -> Vec<ControlGroup> {
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let names = match controllers {
            "" => &VERSION_2,
            _ if controllers.split(',').any(|it| it == "memory") => &VERSION_1,
            _ => continue,
        };
        for around in Path::new(path.trim_start_matches('/')).ancestors() {
            let directories = names.mounts.iter().map(|it| root.join(it).join(around));
            groups.extend(directories.map(|directory| ControlGroup { directory, names }));
        }
    }
    groups.retain(|it| it.directory.join(it.names.usage).is_file());
    groups
}

/// The number in a file of a control group; `None` for `max`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn field(file: &str, name: &str) -> Option<u64> {
    let content = fs::read_to_string(file).ok()?;
    let line = content.lines().find_map(|it| it.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_around_a_process_applies() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.path().join("sys/fs/cgroup").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("outer/memory.max", "1000\n");
        write("outer/memory.current", "900\n");
        write("outer/memory.stat", "anon 500\ninactive_file 300\n");
        write("outer/inner/memory.max", "max\n");
        write("outer/inner/memory.current", "100\n");
        write("memory/memory.limit_in_bytes", "700\n");
        write("memory/memory.usage_in_bytes", "650\n");
        let groups = |own: &str| control_groups_of(own, root.path());
        let least = |own: &str| groups(own).iter().filter_map(ControlGroup::free).min();
        // 300 of the 900 bytes in use are cached files.
        assert_eq!(least("0::/outer/inner\n"), Some(400));
        assert_eq!(groups("0::/outer/inner\n").iter().filter_map(ControlGroup::limit).min(), Some(1000));
        assert_eq!(least("5:cpu,cpuacct:/outer\n4:memory:/of/the/host\n"), Some(50));
        assert_eq!(least("3:cpu:/outer\n"), None);
    }

    #[test]
    fn some_memory_is_free() {
        let (free, total) = (free_memory().unwrap(), total_memory().unwrap());
        assert!(0 < free && free <= total, "{free} of {total}");
    }
}
