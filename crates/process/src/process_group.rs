//! Programs that semdex starts, each as the leader of a process group. The group ends with its leader, at its deadline,
//! when its result is no longer wanted, and with semdex. This holds even if semdex is killed or the group ignores
//! SIGTERM.
//!
//! Descendants that have left the group, for example by `setsid`, end at the deadline, when the result is no longer
//! wanted, and with semdex. If the leader ends by itself, they may live on until semdex ends: a build may have started
//! a daemon for the next one.

pub mod lines;
mod marked;
mod reaper;

use std::io::{self, Read, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::search_path;
pub use marked::Mark;

/// How often a wait checks whether the result is still wanted.
const PACE: Duration = Duration::from_millis(50);
/// A killed process that does not end within this time hangs in the kernel.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// The most output of one program that is kept, in bytes.
const MOST_OUTPUT: u64 = 256 << 20;

/// Forks the process that ends what semdex leaves behind, and marks all processes that semdex will start. Call it
/// before the first thread is started and memory is allocated.
pub fn prepare() {
    marked::mark_all();
    let _ = reaper::start();
}

/// A running program and every process that it started. Dropping it kills them.
#[derive(Debug)]
pub struct Group {
    leader: Pid,
    handle: OwnedFd,
    mark: Mark,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Not waited for yet, so that no other process can have its process ID.
    Running(Child),
    Ended(ExitStatus),
}

/// The requested standard streams of a program.
#[derive(Debug)]
pub struct Pipes {
    /// Closed when it is dropped.
    pub stdin: Option<ChildStdin>,
    /// Must be read to its end, otherwise the program blocks.
    pub stdout: Option<ChildStdout>,
    /// Must be read to its end, otherwise the program blocks.
    pub stderr: Option<ChildStderr>,
}

/// Why a program gave no output.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The operating system did not start it.
    #[error("{0}")]
    NotStarted(#[from] io::Error),
    /// It was killed at its deadline.
    #[error("it did not end in time")]
    Late,
    /// It was killed because its result was no longer wanted.
    #[error("it is no longer wanted")]
    Unwanted,
}

/// Starts a program as the leader of a new process group.
///
/// No code of ours runs between fork and exec, so that the standard library can use `posix_spawn`: a fork copies the
/// page tables of all memory, which holds up every thread of a large process. Until the group is enlisted, the mark is
/// how the reaper finds it.
pub fn spawn(mut command: Command) -> io::Result<(Group, Pipes)> {
    confine(&mut command)?;
    let socket = reaper::start();
    let mark = Mark::new();
    let (name, value) = mark.variable();
    let mut child = command.process_group(0).env(name, value).spawn()?;
    // Its standard streams are open in it as well.
    drop(command);
    let pipes = Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let opened = leader.map(|leader| Ok((leader, pidfd_open(leader, PidfdFlags::empty())?)));
    match opened.unwrap_or_else(|| Err(io::Error::other("a child without a number"))) {
        Ok((leader, handle)) => {
            if let Some(socket) = socket {
                reaper::enlist(socket, leader.as_raw_nonzero().get());
            }
            Ok((Group { leader, handle, mark, state: Mutex::new(State::Running(child)) }, pipes))
        }
        Err(error) => {
            if let Some(leader) = leader {
                let _ = kill_process_group(leader, Signal::KILL);
            }
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Removes roots that are open without trust from the search path of the program and of what it starts.
fn confine(command: &mut Command) -> io::Result<()> {
    let set = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let Some(path) = search_path::confined(set) else { return Ok(()) };
    let program = command.get_program();
    if !program.as_bytes().contains(&b'/') && search_path::is_barred(program, &path) {
        let why = format!("`{}` lies in a workspace that is not trusted", program.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    command.env("PATH", path);
    Ok(())
}

impl Group {
    /// The program's process ID.
    pub(crate) fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills all processes of the group that still run, and all descendants that have left it.
    pub fn kill(&self) {
        if let State::Running(_) = *self.lock() {
            // The descendants first: without their parents they cannot all be found. The rest fails if all have ended.
            self.mark.kill_with(Some(self.leader));
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }

    /// Waits without a deadline until the program has ended, and kills the processes that it leaves behind.
    pub(crate) fn wait(&self) -> io::Result<ExitStatus> {
        while !self.has_ended(None)? {}
        self.collect()
    }

    /// The same, until the deadline or until `go_on` returns false. Then it returns `None`.
    pub fn wait_until(&self, deadline: Instant, go_on: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.has_ended(Some(left.min(PACE)))? {
                return self.collect().map(Some);
            }
            if left.is_zero() || !go_on() {
                return Ok(None);
            }
        }
    }

    /// Waits at most `limit`. The pidfd also reports a child that was already waited for.
    fn has_ended(&self, limit: Option<Duration>) -> io::Result<bool> {
        let limit = limit.and_then(|it| Timespec::try_from(it).ok());
        match poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], limit.as_ref()) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The leader has ended: kills the rest of the group, and then reaps the leader, which releases its process ID.
    fn collect(&self) -> io::Result<ExitStatus> {
        let mut state = self.lock();
        match &mut *state {
            State::Ended(status) => Ok(*status),
            State::Running(child) => {
                let _ = kill_process_group(self.leader, Signal::KILL);
                let status = child.wait()?;
                *state = State::Ended(status);
                reaper::discharge(self.leader.as_raw_nonzero().get());
                Ok(status)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        // A killed process ends immediately, except if it hangs in the kernel.
        let _ = self.wait_until(Instant::now() + LAST_WAIT, &|| true);
    }
}

/// Runs a program to its end and returns its output. It has no standard input.
pub fn run(command: Command, deadline: Instant, is_wanted: &dyn Fn() -> bool) -> Result<Output, Failure> {
    run_on(command, Stdio::null(), deadline, is_wanted)
}

/// The same with a file as standard input: nothing here could write to a pipe while the program runs.
pub fn run_on(
    mut command: Command,
    input: Stdio,
    deadline: Instant,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Output, Failure> {
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (group, pipes) = spawn(command)?;
    let (stdout, stderr) = (Collected::of(pipes.stdout), Collected::of(pipes.stderr));
    let Some(status) = group.wait_until(deadline, is_wanted)? else {
        return Err(if Instant::now() >= deadline { Failure::Late } else { Failure::Unwanted });
    };
    Ok(Output { status, stdout: stdout.take(), stderr: stderr.take() })
}

/// The same for async code. The program ends when the future is dropped.
pub async fn output(command: Command, limit: Duration) -> Result<Output, Failure> {
    output_of(command, None, limit).await
}

/// The same with a text as standard input.
pub async fn output_of(command: Command, input: Option<Arc<str>>, limit: Duration) -> Result<Output, Failure> {
    let wanted = Wanted(Arc::new(AtomicBool::new(true)));
    let is_wanted = wanted.0.clone();
    let run = move || {
        let input = input.map_or(Ok(Stdio::null()), |it| file_of(&it).map(Stdio::from))?;
        run_on(command, input, Instant::now() + limit, &|| is_wanted.load(Ordering::Relaxed))
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(output) => output,
        Err(error) => Err(Failure::NotStarted(io::Error::other(error))),
    }
}

/// An unnamed temporary file, so that no thread has to write while the program reads.
fn file_of(text: &str) -> io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.seek(io::SeekFrom::Start(0))?;
    Ok(file)
}

struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The output of a pipe, read on a thread of its own.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: mpsc::Receiver<()>,
}

impl Collected {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Collected {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (ended, end) = mpsc::channel();
        let Some(pipe) = pipe else { return Collected { bytes, end } };
        let into = bytes.clone();
        std::thread::spawn(move || {
            let mut pipe = pipe.take(MOST_OUTPUT);
            let mut piece = [0; 16 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut piece) {
                let mut bytes = into.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend(piece.get(..count).unwrap_or_default());
            }
            drop(ended);
        });
        Collected { bytes, end }
    }

    /// Returns all output. It does not wait long for a process that has left the group and still holds the pipe.
    fn take(self) -> Vec<u8> {
        let _ = self.end.recv_timeout(LAST_WAIT);
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn is_running(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    }

    fn wait_for(holds: impl Fn() -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !holds() {
            assert!(Instant::now() < deadline, "it did not come about in time");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    /// A program and its child that both ignore SIGTERM and print their process IDs.
    fn stubborn(directory: &Path) -> Command {
        let script = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > child.tmp; mv child.tmp child; while :; do sleep 1; done' & \
                      echo $$ > leader; while :; do sleep 1; done";
        let mut command = shell(script);
        command.current_dir(directory);
        command
    }

    #[test]
    fn what_is_printed_is_answered() {
        let output = run(shell("echo out; echo err >&2; exit 3"), Instant::now() + DEADLINE, &|| true).unwrap();
        assert_eq!((output.status.code(), &*output.stdout, &*output.stderr), (Some(3), &b"out\n"[..], &b"err\n"[..]));
        let missing = run(Command::new("no-such-program-at-all"), Instant::now() + DEADLINE, &|| true);
        assert!(matches!(missing, Err(Failure::NotStarted(_))), "{missing:?}");
    }

    #[test]
    fn a_group_ends_at_its_deadline_and_when_it_is_not_wanted() {
        let directory = tempfile::tempdir().unwrap();
        let pid_of = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap_or_default();
        let late = run(stubborn(directory.path()), Instant::now() + Duration::from_millis(500), &|| true);
        assert!(matches!(late, Err(Failure::Late)), "{late:?}");
        let child = directory.path().join("child");
        let _ = std::fs::remove_file(&child);

        let unwanted = run(stubborn(directory.path()), Instant::now() + DEADLINE, &|| !child.exists());
        assert!(matches!(unwanted, Err(Failure::Unwanted)), "{unwanted:?}");
        wait_for(|| !is_running(&pid_of("leader")) && !is_running(&pid_of("child")));
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let output = run(shell("sleep 1000 & echo $!"), Instant::now() + DEADLINE, &|| true).unwrap();
        let left = String::from_utf8(output.stdout).unwrap();
        wait_for(|| !is_running(&left));
    }

    #[test]
    fn descendants_of_other_sessions_end_at_the_deadline() {
        // A session of its own; one without a parent that lives; one with an empty environment.
        let endless = "echo $$ > NAME.tmp; mv NAME.tmp NAME; trap \"\" TERM HUP; while :; do sleep 1; done";
        let of = |name: &str| endless.replace("NAME", name);
        let script = format!(
            "setsid sh -c '{}' & (setsid sh -c '{}' &) & setsid env -i PATH=\"$PATH\" sh -c '{}' & \
             while :; do sleep 1; done",
            of("session"),
            of("orphan"),
            of("bare")
        );
        let directory = tempfile::tempdir().unwrap();
        let mut command = shell(&script);
        command.current_dir(directory.path());
        let names = ["session", "orphan", "bare"];
        let have_begun = || names.iter().all(|it| directory.path().join(it).exists());
        let ended = run(command, Instant::now() + DEADLINE, &|| !have_begun());
        assert!(matches!(ended, Err(Failure::Unwanted)), "{ended:?}");
        for name in names {
            let pid = std::fs::read_to_string(directory.path().join(name)).unwrap();
            wait_for(|| !is_running(&pid));
        }
    }

    #[test]
    fn what_a_dependency_starts_can_be_ended() {
        let mark = Mark::for_dependency();
        let (name, value) = mark.variable();
        let mut child = shell("setsid sleep 1000 & sleep 1000").env(name, value).spawn().unwrap();
        let others = shell("sleep 1000").env(name, format!("{value}0")).spawn().unwrap();
        mark.kill();
        assert!(!child.wait().unwrap().success());
        assert!(is_running(&others.id().to_string()));
        let mut others = others;
        others.kill().unwrap();
        others.wait().unwrap();
    }

    #[tokio::test]
    async fn nobody_waits_and_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let child = directory.path().join("child");
        let waiting = tokio::spawn(output(stubborn(directory.path()), DEADLINE));
        let pid = tokio::task::spawn_blocking(move || {
            wait_for(|| child.exists());
            std::fs::read_to_string(child).unwrap()
        });
        let pid = pid.await.unwrap();
        waiting.abort();
        tokio::task::spawn_blocking(move || wait_for(|| !is_running(&pid))).await.unwrap();
    }
}
