//! A long-lived program that semdex starts and speaks with: it never outlives semdex, and its last words are kept.

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

/// A running program. Dropping it kills it, with all that it has started.
pub struct Child {
    pub pid: u32,
    group: Arc<Group>,
    exited: watch::Receiver<Option<String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

/// The ends of its standard input and output.
#[derive(Debug)]
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
}

impl Child {
    /// Starts a program. `name`: as the log names it.
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
        let process = Child { pid: group.id(), exited: keep(group.clone(), name)?, group, stderr: lines };
        let pipes = Pipes { stdin: ChildStdin::from_std(stdin)?, stdout: ChildStdout::from_std(stdout)? };
        Ok((process, pipes))
    }

    /// Resolves when it has ended, with how.
    pub async fn exited(&self) -> String {
        let mut exited = self.exited.clone();
        match exited.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(status)) => status.clone(),
            _ => "it was lost".to_owned(),
        }
    }

    /// With all that it has started.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// The last lines that it wrote to its standard error.
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

/// What is known of its end, by a thread that waits for it.
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
        tracing::debug!(target: "semdex::engine", engine = name, "{text}");
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == STDERR_LINES {
            kept.pop_front();
        }
        kept.push_back(text);
    }
}
