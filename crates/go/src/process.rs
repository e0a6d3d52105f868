//! Starts gopls and the checker: environment variables and process.

use std::io;
use std::path::Path;
use std::process::Command;

use super::memory_limit::MemoryLimit;
use semdex_process::child::{Child, Pipes};

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
    command.envs(memory.variable());
    Child::start(command, "gopls").await
}
