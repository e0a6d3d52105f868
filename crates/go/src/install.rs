//! Finds gopls, or installs it with the user's own `go` into semdex's cache. Lists the programs that the Go engine
//! needs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use semdex_engine::Requirement;
use semdex_process::priority;
use semdex_process::process_group::{self, Failure};
use semdex_process::search_path;

/// The newest gopls that Go 1.26 builds; raise it here and nowhere else.
pub(crate) const VERSION: &str = "v0.23.0";
pub(crate) const MODULE: &str = "golang.org/x/tools/gopls";
/// A build takes about a minute; with a slow network and a busy machine much more.
const INSTALL_LIMIT: Duration = Duration::from_secs(15 * 60);
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// An installed gopls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    pub program: PathBuf,
    pub version: String,
}

/// Why there is no gopls, with the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InstallError {
    #[error(
        "`go` is not on the PATH, and gopls is of no use without it: install Go 1.26 or later \
         (https://go.dev/doc/install), then restart semdex"
    )]
    NoGo,
    #[error(
        "gopls is missing, and {VERSION} could not be installed: {0}. \
         Install it with `go install {MODULE}@{VERSION}` into a directory of the PATH"
    )]
    Failed(String),
}

impl From<io::Error> for InstallError {
    fn from(error: io::Error) -> InstallError {
        InstallError::Failed(error.to_string())
    }
}

/// The cached gopls, else the user's own if it is at least as new as the pinned version, else a newly installed one.
/// `progress` is called at the start of slow steps.
pub(crate) async fn ensure(cache_dir: &Path, progress: &(dyn Fn(&str) + Sync)) -> Result<Installed, InstallError> {
    // gopls needs `go`, which it runs to load modules.
    let go = search_path::find("go").ok_or(InstallError::NoGo)?;
    let directory = cache_dir.join("gopls").join(VERSION);
    let program = directory.join("gopls");
    if let Some(found) = cached(&program) {
        return Ok(found);
    }
    if let Some(own) = search_path::find("gopls")
        && let Some(version) = version_of(&own).await
        && at_least(&version, VERSION)
    {
        return Ok(Installed { program: own, version });
    }
    std::fs::create_dir_all(&directory)?;
    let _lock = lock(&directory.join("lock"), progress).await?;
    // Another process may have installed it while this one waited.
    if let Some(found) = cached(&program) {
        return Ok(found);
    }
    progress(&format!("installing gopls {VERSION}"));
    install(&go, &directory, &program).await?;
    cached(&program).ok_or_else(|| InstallError::Failed("the installed program is not there".to_owned()))
}

/// The path of gopls if it is installed. Does not install it.
pub(crate) fn known(cache_dir: &Path) -> Option<PathBuf> {
    let program = cache_dir.join("gopls").join(VERSION).join("gopls");
    cached(&program).map(|it| it.program).or_else(|| search_path::find("gopls"))
}

fn cached(program: &Path) -> Option<Installed> {
    is_executable(program).then(|| Installed { program: program.to_owned(), version: VERSION.to_owned() })
}

/// Builds a program from its sources, which need only the standard library; returns an existing build if there is one.
pub(crate) async fn build(
    go: &Path,
    directory: &Path,
    name: &str,
    sources: &[(&str, &str)],
) -> Result<PathBuf, InstallError> {
    let program = directory.join(name);
    if is_executable(&program) {
        return Ok(program);
    }
    std::fs::create_dir_all(directory)?;
    let _lock = lock(&directory.join("lock"), &|_| ()).await?;
    if is_executable(&program) {
        return Ok(program);
    }
    let build = tempfile::Builder::new().prefix("build-").tempdir_in(directory)?;
    for (file, text) in sources {
        std::fs::write(build.path().join(file), text)?;
    }
    let mut command = command(go, build.path());
    command.args(["build", "-trimpath", "-o", name, "."]).env("CGO_ENABLED", "0");
    // gopls, which is starting, answers the first questions alone.
    run(priority::lowest(&command)).await?;
    std::fs::rename(build.path().join(name), &program)?;
    Ok(program)
}

/// Builds in a separate directory and renames, so that other processes never see an incomplete program.
async fn install(go: &Path, directory: &Path, program: &Path) -> Result<(), InstallError> {
    let build = tempfile::Builder::new().prefix("install-").tempdir_in(directory)?;
    let mut command = command(go, build.path());
    command.args(["install", &format!("{MODULE}@{VERSION}")]).env("GOBIN", build.path());
    run(command).await?;
    std::fs::rename(build.path().join("gopls"), program)?;
    Ok(())
}

/// Runs outside the workspace, so that the workspace cannot influence the build.
fn command(go: &Path, directory: &Path) -> Command {
    let mut command = Command::new(go);
    command
        .current_dir(directory)
        .env("GOTOOLCHAIN", "local")
        .env("GOWORK", "off")
        .env_remove("GOFLAGS")
        .env_remove("GOOS")
        .env_remove("GOARCH");
    command
}

async fn run(command: Command) -> Result<(), InstallError> {
    let output = process_group::output(command, INSTALL_LIMIT).await.map_err(|error| match error {
        Failure::Late => InstallError::Failed(format!("no end after {} minutes", INSTALL_LIMIT.as_secs() / 60)),
        other => InstallError::Failed(other.to_string()),
    })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("go: downloading")).collect();
        let last = lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("; ");
        return Err(InstallError::Failed(last));
    }
    Ok(())
}

/// A lock for one installer at a time across all processes. Released when the file is closed, also when its holder
/// dies.
async fn lock(path: &Path, progress: &(dyn Fn(&str) + Sync)) -> Result<File, InstallError> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let deadline = Instant::now() + INSTALL_LIMIT;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                progress("waiting for another semdex that installs gopls");
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
            Err(error) => return Err(InstallError::Failed(format!("{} cannot be locked: {error}", path.display()))),
        }
    }
}

/// The version in the output of `gopls version`.
async fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("version").current_dir("/");
    let output = process_group::output(command, VERSION_LIMIT).await.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (module, version) = text.lines().next()?.split_once(' ')?;
    (module == MODULE).then(|| version.trim().to_owned())
}

/// Compares releases only: a pre-release or a development build counts as older than any pinned version.
fn at_least(version: &str, pin: &str) -> bool {
    fn numbers(version: &str) -> Option<Vec<u64>> {
        version.strip_prefix('v')?.split('.').map(|number| number.parse().ok()).collect()
    }
    matches!((numbers(version), numbers(pin)), (Some(version), Some(pin)) if version >= pin)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// The programs that the Go engine needs, for `doctor`.
pub(crate) fn requirements(cache_dir: &Path) -> Vec<Requirement> {
    let shown = |it: PathBuf| it.display().to_string();
    let go = search_path::find("go").map(shown);
    vec![
        Requirement {
            name: "go".to_owned(),
            found: go,
            is_needed: true,
            install: "install Go 1.26 or later: https://go.dev/doc/install".to_owned(),
            without: "no answer about Go code but its outline",
        },
        Requirement {
            name: "gopls".to_owned(),
            found: known(cache_dir).map(shown),
            // The first start installs it, if Go is installed.
            is_needed: false,
            install: format!("go install {MODULE}@{VERSION}"),
            without: "the first start takes a minute more, and needs a network, to install it",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(at_least("v0.23.0", VERSION));
        assert!(at_least("v0.100.0", VERSION));
        assert!(at_least("v1.0.0", VERSION));
        assert!(!at_least("v0.9.9", VERSION));
        assert!(!at_least("(devel)", VERSION));
        assert!(!at_least("v0.23.0-pre.1", VERSION));
    }

    #[tokio::test]
    async fn a_cached_gopls_is_taken_and_is_the_pinned_one() {
        let found = ensure(&crate::tests::testbed::cache_dir(), &|_| ()).await.unwrap();
        assert_eq!(version_of(&found.program).await.as_deref(), Some(VERSION));
    }
}
