//! The running servers: each has a file in the state directory while it lives, by which the command line finds it. If
//! there is none, the command line starts one.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};

use semdex_config::create_private_dir;
use semdex_engine::{Registry, repository_around};

const START_DEADLINE: Duration = Duration::from_secs(30);
/// A server that the command line started stops after so long without a request.
const IDLE_MINUTES: &str = "60";

/// What a server prints on standard output as soon as its socket accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// `http://127.0.0.1:41237` or `unix:PATH`.
    pub listening: String,
    /// Absent if no token is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// The socket for programs of the same user, which requires no token. Absent if its path is too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// The process id of the server.
    pub pid: u32,
    /// The version of semdex.
    pub version: String,
}

/// A running server, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    #[serde(flatten)]
    pub announcement: Announcement,
    pub roots: Vec<PathBuf>,
}

impl Running {
    /// The nearest root of the server that contains this path.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let around = self.roots.iter().filter(|it| path.starts_with(it));
        around.max_by_key(|it| it.as_os_str().len()).map(PathBuf::as_path)
    }
}

/// The file of this process's server, removed when this value is dropped. It is locked while the server lives: a
/// process id may be reused, a lock cannot.
#[derive(Debug)]
pub struct Registered {
    file: PathBuf,
    _lock: File,
}

impl Drop for Registered {
    fn drop(&mut self) {
        // If it remains, it names a process that is gone, and the next reader removes it.
        let _ = fs::remove_file(&self.file);
    }
}

/// Registers this server, so that the command line finds it.
pub fn register(state_dir: &Path, announcement: &Announcement, roots: &[PathBuf]) -> io::Result<Registered> {
    let directory = directory(state_dir);
    create_private_dir(&directory)?;
    let file = directory.join(format!("{}.json", announcement.pid));
    let running = Running { announcement: announcement.clone(), roots: roots.to_vec() };
    let mut written = tempfile::Builder::new().prefix(".server-").tempfile_in(&directory)?;
    serde_json::to_writer(&mut written, &running)?;
    // Locked before it has its name: a reader removes an unlocked file.
    flock(written.as_file(), FlockOperation::NonBlockingLockExclusive)?;
    let lock = written.persist(&file).map_err(|error| error.error)?;
    Ok(Registered { file, _lock: lock })
}

/// The server of the workspace at `root`: a running one, or one that is started now and outlives this process.
/// Concurrent callers get the same server. None is started for the home directory or `/`, unless it has a manifest.
pub(crate) async fn find_or_start(state_dir: &Path, root: &Path, engines: &Registry) -> io::Result<Running> {
    start_unless((state_dir, engines), root, || find_running(state_dir, root)).await
}

/// The same, but without servers of a parent directory: files are named relative to this root.
pub(crate) async fn find_or_start_of(state_dir: &Path, root: &Path, engines: &Registry) -> io::Result<Running> {
    let is_of_root = |it: &Running| it.roots.iter().any(|it| it == root);
    start_unless((state_dir, engines), root, || find_running(state_dir, root).filter(is_of_root)).await
}

async fn start_unless(
    (state_dir, engines): (&Path, &Registry),
    root: &Path,
    find: impl Fn() -> Option<Running>,
) -> io::Result<Running> {
    let directory = directory(state_dir);
    create_private_dir(&directory)?;
    let lock = File::create(directory.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if let Some(running) = find() {
        return Ok(running);
    }
    if engines.is_everything(root)? {
        return Err(io::Error::other(Everything(root.to_owned())));
    }
    let started = start(&directory, root).await;
    match started {
        // The user has started one in the time since.
        Err(error) => find().ok_or(error),
        started => started,
    }
}

/// Why no server is started for a directory.
#[derive(Debug, thiserror::Error)]
#[error("{} is no project, and everything lies in it, so no server is started over it by itself: go into a project, or start one with `semdex serve DIRECTORY`", .0.display())]
struct Everything(PathBuf);

/// Whether no server was started because of the kind of directory.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|it| it.is::<Everything>())
}

/// All running servers.
pub(crate) fn all(state_dir: &Path) -> Vec<Running> {
    living(&directory(state_dir))
}

/// The server that serves a path, if one runs.
pub(crate) fn find_running(state_dir: &Path, path: &Path) -> Option<Running> {
    find(&directory(state_dir), path)
}

fn directory(state_dir: &Path) -> PathBuf {
    state_dir.join("servers")
}

/// The running server of this root, or else the nearest one of a parent directory. A server of a directory above the
/// repository does not count: commands in a repository are about that repository.
fn find(directory: &Path, root: &Path) -> Option<Running> {
    let repository = repository_around(root);
    let is_near = |it: &Path| repository.as_ref().is_none_or(|repository| it.starts_with(repository));
    let around = |it: &Running| it.root_of(root).filter(|it| is_near(it)).map(|it| it.as_os_str().len());
    let found = living(directory).into_iter().filter_map(|it| Some((around(&it)?, it)));
    found.max_by_key(|(length, _)| *length).map(|(_, running)| running)
}

/// The servers whose files are locked. Removes the files of all others.
fn living(directory: &Path) -> Vec<Running> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "json"));
    let living = files.filter_map(|file| {
        let mut opened = File::open(&file).ok()?;
        // The holder of the lock is the server that wrote the file, and is alive.
        if flock(&opened, FlockOperation::NonBlockingLockShared).is_ok() {
            let _ = fs::remove_file(&file);
            return None;
        }
        serde_json::from_reader(&mut opened).ok()
    });
    living.collect()
}

/// What a server said last: the two lines of its complaint, or its last line.
fn last_words(log: &str) -> Option<String> {
    let lines: Vec<&str> = log.trim().lines().collect();
    let begins = lines.iter().rposition(|it| it.starts_with("error: ")).unwrap_or(lines.len().saturating_sub(1));
    let words: Vec<&str> = lines.get(begins..)?.iter().map(|it| it.trim_start_matches("error: ").trim()).collect();
    Some(words.join(": ")).filter(|it| !it.is_empty())
}

async fn start(directory: &Path, root: &Path) -> io::Result<Running> {
    let log_file = directory.join("last-start.log");
    let log = File::create(&log_file)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg(root).args(["--listen", "127.0.0.1:0", "--idle-exit", IDLE_MINUTES]);
    // A process group of its own: signals of the terminal are only for this process.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
    let mut child = tokio::process::Command::from(command).spawn()?;
    let failed = || match last_words(&fs::read_to_string(&log_file).unwrap_or_default()) {
        Some(why) => io::Error::other(format!("no server could be started: {why}")),
        None => io::Error::other(format!("no server could be started; {} says why", log_file.display())),
    };
    let output = child.stdout.take().ok_or_else(failed)?;
    let mut line = String::new();
    let mut output = BufReader::new(output);
    match tokio::time::timeout(START_DEADLINE, output.read_line(&mut line)).await {
        Ok(Ok(_)) => {
            let announcement = serde_json::from_str(&line).map_err(|_| failed())?;
            Ok(Running { announcement, roots: vec![root.to_owned()] })
        }
        _ => {
            child.start_kill()?;
            Err(failed())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_living_server_is_found() {
        let state = tempfile::tempdir().unwrap();
        let announce = |pid| Announcement {
            listening: "http://127.0.0.1:1".to_owned(),
            token_file: None,
            socket: None,
            pid,
            version: "0".to_owned(),
        };
        // Process ids prove nothing: the id of a killed server may be reused.
        let own = std::process::id();
        let near = register(state.path(), &announce(1), &["/src/a/b".into(), "/src/x".into()]).unwrap();
        let far = register(state.path(), &announce(2), &["/src".into()]).unwrap();
        let killed = register(state.path(), &announce(own), &["/src/a/b/c".into()]).unwrap();
        let gone = killed.file.clone();
        fs::copy(&gone, gone.with_extension("kept")).unwrap();
        drop(killed);
        fs::rename(gone.with_extension("kept"), &gone).unwrap();
        let found = |root: &str| find(&directory(state.path()), Path::new(root)).map(|it| it.announcement.pid);
        assert_eq!(found("/src/a/b/c"), Some(1));
        assert!(!gone.exists());
        assert_eq!(found("/src/a"), Some(2));
        assert_eq!(found("/srcs"), None);
        drop(near);
        assert_eq!(found("/src/a/b/c"), Some(2));
        drop(far);
        assert_eq!(found("/src/a/b/c"), None);
    }

    #[test]
    fn a_server_above_the_repository_is_not_found() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let (state, project) = (top.join("state"), top.join("hh/project"));
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(top.join("hh/plain")).unwrap();
        let serve = |pid, root: &Path| {
            let listening = "http://127.0.0.1:1".to_owned();
            let announcement = Announcement { listening, token_file: None, socket: None, pid, version: "0".to_owned() };
            register(&state, &announcement, &[root.to_owned()]).unwrap()
        };
        let found = |path: &Path| find_running(&state, path).map(|it| it.announcement.pid);
        let above = serve(1, &top.join("hh"));
        for path in [project.clone(), project.join("src"), project.join("src/a.py")] {
            assert_eq!(found(&path), None, "{}", path.display());
        }
        assert_eq!(found(&top.join("hh/plain")), Some(1));
        let own = serve(2, &project);
        assert_eq!(found(&project.join("src/a.py")), Some(2));
        let below = serve(3, &project.join("src"));
        assert_eq!((found(&project.join("src/a.py")), found(&project)), (Some(3), Some(2)));
        drop((above, own, below));
    }
}
