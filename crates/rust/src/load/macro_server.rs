//! The process that runs proc macros. rust-analyzer waits for its answers without a deadline and blocks every change
//! during that time. The messages between them therefore pass through this module. If an answer does not arrive in
//! time, its process group is killed and the next request gets a new process, a bounded number of times. A macro that
//! hung is not called again until the next load.

use std::collections::HashSet;
use std::io;
use std::io::{BufRead, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ra_ap_paths::AbsPath;
use ra_ap_proc_macro_api::process::ProcessExit;
use ra_ap_proc_macro_api::{ProcMacroClient, ServerError};
use rustc_hash::FxHashMap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Deserialize;

use crate::view::environment::Faults;
use semdex_process::process_group;
use semdex_process::process_group::Group;

/// The most processes of one load.
const MOST_STARTS: usize = 8;

/// How a process is started, and the time limit of an answer.
#[derive(Clone)]
pub(crate) struct Plan {
    pub program: PathBuf,
    pub environment: FxHashMap<String, Option<String>>,
    pub limit: Duration,
    pub faults: Faults,
}

/// A client whose requests have a time limit.
pub(crate) fn start(plan: &Plan, program: &AbsPath) -> io::Result<ProcMacroClient> {
    let spawn = |_: Option<_>| {
        let session = Shared(Arc::new(Mutex::new(Session::new(plan.clone())?)));
        let exit: Box<dyn ProcessExit> = Box::new(session.clone());
        let requests: Box<dyn Write + Send + Sync> = Box::new(session.clone());
        let answers: Box<dyn BufRead + Send + Sync> = Box::new(Answers { session, line: Vec::new(), taken: 0 });
        Ok((exit, requests, answers))
    };
    // No version: only the line protocol is understood here.
    ProcMacroClient::with_io_channels(program, spawn, None, 1)
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Session>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Session {
    plan: Plan,
    server: Option<Server>,
    starts: usize,
    /// The request that is being written.
    request: Vec<u8>,
    sent: Instant,
    /// The request that selects the kind of positions; each new process has to receive it.
    settings: Option<Vec<u8>>,
    /// Macros that did not answer, by library and name.
    hung: HashSet<Called>,
}

struct Server {
    group: Group,
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// What was read and not forwarded.
    read: Vec<u8>,
}

/// The part of a request that identifies the called macro.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
struct Called {
    lib: PathBuf,
    macro_name: String,
}

#[derive(Deserialize)]
enum Request {
    ExpandMacro(Called),
}

impl Session {
    fn new(plan: Plan) -> io::Result<Session> {
        let mut session = Session {
            plan,
            server: None,
            starts: 0,
            request: Vec::new(),
            sent: Instant::now(),
            settings: None,
            hung: HashSet::new(),
        };
        session.begin()?;
        Ok(session)
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.starts == MOST_STARTS {
            return Err(io::Error::other(format!("the proc-macro server ended {MOST_STARTS} times")));
        }
        self.starts += 1;
        let mut server = Server::start(&self.plan)?;
        if let Some(settings) = &self.settings {
            let deadline = Instant::now() + self.plan.limit;
            server.write(settings, deadline)?;
            server.line(deadline)?;
        }
        self.server = Some(server);
        Ok(())
    }

    /// Sends a complete request.
    fn send(&mut self) -> io::Result<()> {
        let request = std::mem::take(&mut self.request);
        if request.starts_with(b"{\"SetConfig\"") {
            self.settings = Some(request.clone());
        }
        // If no macro has hung, requests need not be parsed.
        if let Some(called) = if self.hung.is_empty() { None } else { called(&request) }
            && self.hung.contains(&called)
        {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("`{}` hung before", called.macro_name)));
        }
        if self.server.is_none() {
            self.begin().inspect_err(|error| self.plan.faults.note(&error.to_string()))?;
        }
        self.sent = Instant::now();
        let written = match &mut self.server {
            Some(server) => server.write(&request, self.sent + self.plan.limit),
            None => Ok(()),
        };
        // Kept to identify the macro that does not answer.
        self.request = request;
        written.map_err(|error| self.fail(&error))
    }

    /// The next line of the answer.
    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let deadline = self.sent + self.plan.limit;
        let Some(server) = &mut self.server else { return Ok(Vec::new()) };
        let line = server.line(deadline).map_err(|error| self.fail(&error))?;
        if line.starts_with(b"{") {
            self.request.clear();
        }
        Ok(line)
    }

    /// The process is no longer usable.
    fn fail(&mut self, error: &io::Error) -> io::Error {
        // Dropping it kills it with all processes that it started.
        self.server = None;
        let called = called(&std::mem::take(&mut self.request));
        let whose = called.as_ref().map_or_else(
            || "the proc-macro server".to_owned(),
            |it| format!("the macro `{}` of {}", it.macro_name, library(&it.lib)),
        );
        let detail = if error.kind() == io::ErrorKind::TimedOut {
            format!("{whose} did not answer within {:?} and was ended", self.plan.limit)
        } else {
            format!("{whose} ended its process: {error}")
        };
        tracing::warn!("{detail}");
        self.hung.extend(called);
        self.plan.faults.note(&detail);
        io::Error::new(error.kind(), detail)
    }
}

fn called(request: &[u8]) -> Option<Called> {
    let Request::ExpandMacro(called) = serde_json::from_slice(request).ok()?;
    Some(called)
}

/// `serde_derive` of `libserde_derive-0123456789abcdef.so`.
fn library(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    format!("`{}`", name.trim_start_matches("lib"))
}

impl Server {
    fn start(plan: &Plan) -> io::Result<Server> {
        let mut command = Command::new(&plan.program);
        for (name, value) in &plan.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("RUST_ANALYZER_INTERNALS_DO_NOT_USE", "this is unstable");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (group, pipes) = process_group::spawn(command)?;
        let (Some(stdin), Some(stdout)) = (pipes.stdin, pipes.stdout) else {
            return Err(io::Error::other("a child without its pipes"));
        };
        for pipe in [stdin.as_fd(), stdout.as_fd()] {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Server { group, stdin, stdout, read: Vec::new() })
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stdin.write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&PollFd::new(&self.stdin, PollFlags::OUT), deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next line, with its line break.
    fn line(&mut self, deadline: Instant) -> io::Result<Vec<u8>> {
        let mut searched = 0;
        loop {
            let rest = self.read.get(searched..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', rest) {
                let mut line = std::mem::take(&mut self.read);
                self.read = line.split_off(searched + end + 1);
                return Ok(line);
            }
            searched = self.read.len();
            // The deadline also applies if it never stops printing.
            wait(&PollFd::new(&self.stdout, PollFlags::IN), deadline)?;
            let mut piece = [0; 64 << 10];
            match self.stdout.read(&mut piece) {
                Ok(0) => {
                    let status = self.group.wait_until(deadline, &|| true)?;
                    let status = status.map_or_else(|| "it closed its output".to_owned(), |it| it.to_string());
                    return Err(io::Error::other(status));
                }
                Ok(count) => self.read.extend(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn wait(event: &PollFd<'_>, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let limit = Timespec::try_from(left).ok();
    match poll(&mut [event.clone()], limit.as_ref()) {
        Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        // A pipe that is always ready must not keep this loop running for ever.
        Ok(_) if left.is_zero() => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().request.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().send()
    }
}

impl ProcessExit for Shared {
    /// There is always another process, or an error for each request.
    fn exit_err(&mut self) -> Option<ServerError> {
        None
    }
}

struct Answers {
    session: Shared,
    line: Vec<u8>,
    taken: usize,
}

impl BufRead for Answers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.line.len() {
            self.line = self.session.lock().receive()?;
            self.taken = 0;
        }
        Ok(self.line.get(self.taken..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.taken += count;
    }
}

impl Read for Answers {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut there = self.fill_buf()?;
        let count = there.read(into)?;
        self.consume(count);
        Ok(count)
    }
}
