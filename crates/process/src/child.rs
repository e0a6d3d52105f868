//! A long-lived program that semdex starts and communicates with. It ends with semdex, and the last lines of its
//! standard error are kept.

use std::collections::VecDeque;
use std::io;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;

use super::process_group::{self, Group};

const STDERR_LINES: usize = 200;
const STDERR_LINE: usize = 4 << 10;
/// Above that of all programs that do not ask for more, and below the highest, 1,000.
const EXPENDABLE: &str = "500";

/// A running program. Dropping it kills the program and every process that the program started.
pub struct Child {
    /// The process ID of the program and of its group.
    pub pid: u32,
    group: Arc<Group>,
    exited: watch::Receiver<Option<String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

/// The program's standard input and output.
#[derive(Debug)]
pub struct Pipes {
    /// Closed when it is dropped.
    pub stdin: ChildStdin,
    /// Must be read, otherwise the program blocks.
    pub stdout: ChildStdout,
}

impl Child {
    /// Starts a program. `name` is its name in the log.
    pub async fn start(mut command: Command, name: &'static str) -> io::Result<(Child, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = tokio::task::spawn_blocking(|| process_group::spawn(command)).await;
        let (group, pipes) = spawned.map_err(io::Error::other)??;
        let (Some(stdin), Some(stdout), Some(stderr)) = (pipes.stdin, pipes.stdout, pipes.stderr) else {
            return Err(io::Error::other("a child without its pipes"));
        };
        let lines = Arc::default();
        tokio::spawn(keep_lines(ChildStderr::from_std(stderr)?, name, Arc::clone(&lines)));
        let group = Arc::new(group);
        // If memory is used up, the kernel ends this program before semdex and before the user's.
        let _ = std::fs::write(format!("/proc/{}/oom_score_adj", group.id()), EXPENDABLE);
        let process = Child { pid: group.id(), exited: keep(group.clone(), name)?, group, stderr: lines };
        let pipes = Pipes { stdin: ChildStdin::from_std(stdin)?, stdout: ChildStdout::from_std(stdout)? };
        Ok((process, pipes))
    }

    /// Resolves when the program has ended, with its exit status.
    pub async fn exited(&self) -> String {
        let mut exited = self.exited.clone();
        match exited.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(status)) => status.clone(),
            _ => "it was lost".to_owned(),
        }
    }

    /// Kills the program and every process that it started.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// The last lines of the program's standard error.
    pub fn last_words(&self) -> String {
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().rev().take(3).rev().cloned().collect::<Vec<_>>().join("; ")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the program's end on a thread, and publishes its exit status.
fn keep(group: Arc<Group>, name: &str) -> io::Result<watch::Receiver<Option<String>>> {
    let (exit, exited) = watch::channel(None);
    std::thread::Builder::new().name(format!("{name}-keeper")).spawn(move || {
        let status = match group.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        exit.send_replace(Some(status));
    })?;
    Ok(exited)
}

async fn keep_lines(stderr: impl AsyncRead + Unpin, name: &'static str, kept: Arc<Mutex<VecDeque<String>>>) {
    use tokio::io::AsyncReadExt as _;
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(STDERR_LINE as u64).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        // It may quote code.
        tracing::trace!(target: "semdex::engine", engine = name, "{text}");
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == STDERR_LINES {
            kept.pop_front();
        }
        kept.push_back(text);
    }
}
