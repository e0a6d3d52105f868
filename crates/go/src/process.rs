//! Starts gopls and the checker: memory limit, environment variables, and process.

use std::io;
use std::path::Path;
use std::process::Command;

use semdex_process::child::{Child, Pipes};

/// gopls collects garbage more often when its heap approaches this soft limit. Without it, the garbage of a burst of
/// edits doubles the heap and is released late. In 1,000 edits 481 MiB grew to 932 MiB, although at most 260 MiB were
/// alive at rest. With 64 MiB less, gopls spent 28 % of its time on garbage collection.
const LEAST_MEMORY: u64 = 548 << 20;
const MOST_MEMORY: u64 = 4 << 30;
/// The bytes of memory for each byte of Go source in the workspace.
const MEMORY_PER_BYTE: u64 = 48;

/// Garbage may grow to twice the live heap if the limit allows it. More frequent collection would only free memory that
/// is used soon after.
const GARBAGE: &str = "200";

/// The soft limit on a process's memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLimit {
    /// From the configuration.
    Configured(u64),
    /// From the size of the workspace, if the user's environment sets no limit.
    Estimated(u64),
}

impl MemoryLimit {
    /// The configured limit, else an estimate from the number of bytes of Go source.
    pub(crate) fn new(configured: Option<u64>, text: u64) -> MemoryLimit {
        configured.map_or_else(|| MemoryLimit::Estimated(memory_limit(text)), MemoryLimit::Configured)
    }

    /// The environment variables for the limit, in addition to the user's.
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

/// The limit in bytes for a workspace with this many bytes of Go source.
fn memory_limit(text: u64) -> u64 {
    text.saturating_mul(MEMORY_PER_BYTE).saturating_add(LEAST_MEMORY).min(MOST_MEMORY)
}

/// Keeps `go` from using the network, git and other version control systems. `GOPROXY` alone does not apply to modules
/// in the user's `GOPRIVATE` or `GONOPROXY`, nor to the checksum database. `go` treats an empty value as unset and then
/// uses the value of `go env -w`, so each variable has a value.
const NO_DOWNLOAD: [(&str, &str); 4] =
    [("GOPROXY", "off"), ("GONOPROXY", "none"), ("GOVCS", "*:off"), ("GOSUMDB", "off")];

/// The environment of gopls and `go` in addition to the user's own. In an untrusted workspace they run nothing that the
/// workspace provides: no toolchain named in `go.mod`, no cgo, no download.
///
/// `go` also queries git and others for the state of the repository, and these run programs from the repository's
/// configuration (`core.fsmonitor`). In an untrusted workspace a flag disables that (`-buildvcs`).
pub(crate) fn environment(trusted: bool) -> Vec<(&'static str, &'static str)> {
    // Telemetry would start a second process.
    let mut environment = vec![("GO_TELEMETRY_CHILD", "2")];
    if !trusted {
        environment.extend([("GOTOOLCHAIN", "local"), ("CGO_ENABLED", "0")]);
        environment.extend(NO_DOWNLOAD);
        // Not `-mod=readonly`: it is the default, except with a vendor directory.
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
