//! The gopls process: what it is started with.

use std::io;
use std::path::Path;
use std::process::Command;

use semdex_process::child::{Child, Pipes};

/// gopls collects garbage harder when its heap comes near this; it is no hard limit. Without it the garbage of a burst
/// of edits doubles what it holds, and is given back late: 481 MiB grew to 932 in 1,000 edits, though no more than
/// 260 of them were alive at rest. With 64 MiB less it spent 28 % of its time on collecting.
const LEAST_MEMORY: u64 = 548 << 20;
const MOST_MEMORY: u64 = 4 << 30;
/// What each byte of the workspace's Go text adds.
const MEMORY_PER_BYTE: u64 = 48;

/// Garbage may grow to twice of what is alive, as long as the limit allows it: collecting more often early saves
/// memory that is used soon after.
const GARBAGE: &str = "200";

/// The soft limit on a process's memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLimit {
    /// As the configuration has it.
    Configured(u64),
    /// By the size of the workspace, where the user's environment says nothing.
    Estimated(u64),
}

impl MemoryLimit {
    /// What is configured, else by so many bytes of Go text.
    pub(crate) fn new(configured: Option<u64>, text: u64) -> MemoryLimit {
        configured.map_or_else(|| MemoryLimit::Estimated(memory_limit(text)), MemoryLimit::Configured)
    }

    /// The variables that say so, beside those of the user.
    fn variables(self, is_set: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
        let garbage = ("GOGC", GARBAGE.to_owned());
        match self {
            MemoryLimit::Configured(bytes) if is_set("GOGC") => vec![("GOMEMLIMIT", bytes.to_string())],
            MemoryLimit::Configured(bytes) => vec![("GOMEMLIMIT", bytes.to_string()), garbage],
            MemoryLimit::Estimated(_) if is_set("GOMEMLIMIT") || is_set("GOGC") => Vec::new(),
            MemoryLimit::Estimated(bytes) => vec![("GOMEMLIMIT", bytes.to_string()), garbage],
        }
    }
}

/// In bytes, for a workspace with so much Go text.
fn memory_limit(text: u64) -> u64 {
    text.saturating_mul(MEMORY_PER_BYTE).saturating_add(LEAST_MEMORY).min(MOST_MEMORY)
}

/// Keeps `go` from the network, and from git and its like. `GOPROXY` alone does not hold for modules that the user's
/// `GOPRIVATE` or `GONOPROXY` names, nor for the database of checksums. An empty value is none for `go`, which then takes
/// what `go env -w` has set, so each says something.
const NO_DOWNLOAD: [(&str, &str); 4] =
    [("GOPROXY", "off"), ("GONOPROXY", "none"), ("GOVCS", "*:off"), ("GOSUMDB", "off")];

/// What gopls and `go` are given beside the user's own environment. Without trust they run nothing that the workspace
/// brings: no toolchain that `go.mod` names, no cgo, no download.
///
/// `go` also asks git and its like for the state of the repository, and these run what its configuration names
/// (`core.fsmonitor`): without trust a flag forbids that (`-buildvcs`).
pub(crate) fn environment(trusted: bool) -> Vec<(&'static str, &'static str)> {
    // Telemetry would start a second process beside gopls.
    let mut environment = vec![("GO_TELEMETRY_CHILD", "2")];
    if !trusted {
        environment.extend([("GOTOOLCHAIN", "local"), ("CGO_ENABLED", "0")]);
        environment.extend(NO_DOWNLOAD);
        // Not `-mod=readonly`: that is the default, but where a vendor directory is to be used.
        environment.extend([("GOFLAGS", "-buildvcs=false"), ("GOPACKAGESDRIVER", "off")]);
    }
    environment
}

/// Starts a program in the workspace.
pub(crate) async fn start(
    program: &Path,
    root: &Path,
    trusted: bool,
    memory: MemoryLimit,
) -> io::Result<(Child, Pipes)> {
    let mut command = Command::new(program);
    command.current_dir(root);
    command.envs(environment(trusted));
    command.envs(memory.variables(|it| std::env::var_os(it).is_some()));
    Child::start(command, "gopls").await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_limit_stands_before_the_environment_and_the_estimate() {
        let variables = |memory: MemoryLimit, set: &[&str]| memory.variables(|it| set.contains(&it));
        let limit = |bytes: u64| ("GOMEMLIMIT", bytes.to_string());
        let garbage = ("GOGC", GARBAGE.to_owned());
        assert_eq!(variables(MemoryLimit::Configured(1 << 30), &["GOMEMLIMIT"]), [limit(1 << 30), garbage.clone()]);
        assert_eq!(variables(MemoryLimit::Configured(1 << 30), &["GOGC"]), [limit(1 << 30)]);
        assert_eq!(variables(MemoryLimit::Estimated(5), &[]), [limit(5), garbage]);
        assert_eq!(variables(MemoryLimit::Estimated(5), &["GOMEMLIMIT"]), []);
    }

    #[test]
    fn the_limit_grows_with_the_workspace() {
        assert_eq!(memory_limit(0), 548 << 20);
        assert_eq!(memory_limit(10 << 20), 1028 << 20);
        assert_eq!(memory_limit(u64::MAX), 4 << 30);
    }
}
