//! A real server on a workspace of its own, for as long as a test holds it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::Deref;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use semdex::contract::{CALLS, Needs};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub const SEMDEX: &str = env!("CARGO_BIN_EXE_semdex");

/// Long enough for a busy machine; a test that meets it has failed.
const START_DEADLINE: Duration = Duration::from_secs(300);
const END_DEADLINE: Duration = Duration::from_secs(300);
const READY_DEADLINE: Duration = Duration::from_secs(600);
const REPLY_DEADLINE: Duration = Duration::from_secs(180);

/// As long as a request may ask for.
const LONGEST_WAIT_MS: u64 = 120_000;

/// The standard library of the tests: small, so that a server is ready in a fraction of a second and not of the minute.
const SMALL_STD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/std/library");

/// A directory for a workspace and for semdex's own files, removed with this value.
#[derive(Clone)]
pub struct Home {
    directory: Arc<TempDir>,
    has_real_std: bool,
    has_no_privileges: bool,
}

impl Home {
    /// A workspace with these files.
    pub fn with(files: &[(&str, &str)]) -> Home {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let home = Home { directory, has_real_std: false, has_no_privileges: false };
        fs::create_dir(home.root()).unwrap();
        for (name, text) in files {
            home.write(name, text);
        }
        home
    }

    /// The same with the toolchain's own standard library: for a test whose answer depends on it.
    pub fn with_real_std(self) -> Home {
        Home { has_real_std: true, ..self }
    }

    /// The modes of files and directories hold for the server even if the superuser runs the tests.
    pub fn without_privileges(self) -> Home {
        Home { has_no_privileges: true, ..self }
    }

    /// The root of the workspace.
    pub fn root(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// What holds the workspace and all else of the test.
    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// The program with its files below this home. The cache is shared by all tests, since gopls is installed there.
    pub fn semdex(&self) -> Command {
        let cache = std::env::var_os("SEMDEX_TEST_CACHE")
            .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), PathBuf::from);
        let mut command = Command::new(SEMDEX);
        command
            .current_dir(self.root())
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_CACHE_HOME", cache)
            .env_remove("SEMDEX_LOG")
            .stdin(Stdio::null());
        if !self.has_real_std {
            command.env("RUST_SRC_PATH", SMALL_STD);
        }
        if self.has_no_privileges {
            drop_privileges(&mut command);
        }
        command
    }

    pub fn token(&self) -> String {
        fs::read_to_string(self.path().join("state/semdex/token")).unwrap().trim().to_owned()
    }

    /// The servers of this home that live, as their files describe them.
    pub fn servers(&self) -> Vec<Value> {
        let files = fs::read_dir(self.path().join("state/semdex/servers")).into_iter().flatten().flatten();
        let files = files.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "json"));
        // A server keeps its file locked.
        let lives = |it: &fs::File| flock(it, FlockOperation::NonBlockingLockShared).is_err();
        let opened = files.filter_map(|it| fs::File::open(it).ok()).filter(lives);
        opened.filter_map(|it| serde_json::from_reader(it).ok()).collect()
    }

    /// Starts a server on a free port.
    pub fn serve(self, arguments: &[&str]) -> Server {
        Server::start(self, arguments, &[])
    }

    /// The same with other variables in its environment.
    pub fn serve_with(self, arguments: &[&str], variables: &[(&str, &Path)]) -> Server {
        Server::start(self, arguments, variables)
    }
}

/// Takes the capabilities to read and enter everything from a program. They are none of another user than the superuser.
fn drop_privileges(command: &mut Command) {
    const DAC_OVERRIDE: libc::c_ulong = 1;
    const DAC_READ_SEARCH: libc::c_ulong = 2;
    #[expect(unsafe_code, reason = "only the child itself can drop what it gets when it executes the program")]
    // SAFETY: between fork and exec the closure makes two system calls.
    unsafe {
        command.pre_exec(|| {
            for capability in [DAC_OVERRIDE, DAC_READ_SEARCH] {
                // It fails for another user, who does not have them.
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            Ok(())
        });
    }
}

/// Ends the servers that the command line has started for a home, when it is dropped.
pub struct Started<'h>(pub &'h Home);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        let pids = self.0.servers().into_iter().filter_map(|it| i32::try_from(it["pid"].as_i64()?).ok());
        for pid in pids.filter_map(Pid::from_raw) {
            // A process that ends during the search is gone as well.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// A running server. Killed when it is dropped; what it logged is printed if the test failed.
pub struct Server {
    pub home: Home,
    /// What it said on standard output.
    pub hello: Value,
    child: Child,
    token: Option<String>,
    runtime: Runtime,
    client: reqwest::Client,
}

/// A reply as it came.
pub struct Reply {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The code of a problem, its status checked against the reply's.
    #[track_caller]
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{problem}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

/// The names and texts of the files of a workspace.
type Texts = Vec<(String, String)>;
/// The shared servers, by the files of their workspaces.
static SHARED: Mutex<BTreeMap<Texts, &'static OnceLock<Server>>> = Mutex::new(BTreeMap::new());
/// A shared server that nothing asks for this many minutes ends by itself, so that none outlives a killed test process.
const SHARED_IDLE_MINUTES: &str = "60";

/// A server that several tests share. When a test that holds it fails, what the server logged is printed.
pub struct Shared(&'static Server);

impl Deref for Shared {
    type Target = Server;

    fn deref(&self) -> &Server {
        self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- what the shared server logged\n{}---", self.0.log());
        }
    }
}

/// Ends the shared servers and removes their directories when the test process exits.
extern "C" fn end_shared() {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    for server in shared.values().filter_map(|it| it.get()) {
        // What has ended already is what is wanted.
        let _ = Pid::from_raw(server.pid().cast_signed()).map(|pid| kill_process(pid, Signal::KILL));
        let _ = fs::remove_dir_all(server.home.path());
    }
}

impl Server {
    /// On a workspace with these files, trusted.
    pub fn on(files: &[(&str, &str)]) -> Server {
        Home::with(files).serve(&["--trust"])
    }

    /// The same for tests that only read: one server for all of them that name the same files. They must not change
    /// files, the journal, overlays or the baseline, and must not depend on what the server was asked before.
    pub fn shared(files: &[(&str, &str)]) -> Shared {
        let key = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let server = {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.is_empty() {
                #[expect(unsafe_code, reason = "the C library has no safe function to run one at exit")]
                // SAFETY: the function is `extern "C"`, takes nothing and does not unwind.
                let registered = unsafe { libc::atexit(end_shared) };
                assert_eq!(registered, 0, "nothing can be run when the process exits");
            }
            *shared.entry(key).or_insert_with(|| Box::leak(Box::default()))
        };
        let start = || Home::with(files).serve(&["--trust", "--idle-exit", SHARED_IDLE_MINUTES]);
        Shared(server.get_or_init(start))
    }

    fn start(home: Home, arguments: &[&str], variables: &[(&str, &Path)]) -> Server {
        let log = fs::File::create(home.path().join("log")).unwrap();
        let mut command = home.semdex();
        command.arg("serve").args(arguments).envs(variables.iter().copied());
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (said, hello) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(output).read_line(&mut line);
            let _ = said.send(read.map(|_| line));
        });
        let hello = hello.recv_timeout(START_DEADLINE);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // The server closes idle connections, and between requests nobody here would notice it.
        let client = || reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(REPLY_DEADLINE);
        let mut server =
            Server { home, hello: Value::Null, child, token: None, runtime, client: client().build().unwrap() };
        // From here on the server ends with the test, whatever it said.
        let line = hello.expect("the server says where it listens").unwrap();
        server.hello = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        if let Some(file) = server.hello["token_file"].as_str() {
            server.token = Some(fs::read_to_string(file).unwrap().trim().to_owned());
        }
        if let Some(path) = server.hello["listening"].as_str().unwrap().strip_prefix("unix:") {
            server.client = client().unix_socket(Path::new(path)).build().unwrap();
        }
        server
    }

    /// Another server on the same workspace, with the same files of its own.
    pub fn beside(&self, arguments: &[&str]) -> Server {
        self.home.clone().serve(arguments)
    }

    /// Ends it in good order, and starts another in its place.
    pub fn restart(mut self, arguments: &[&str]) -> Server {
        self.signal(Signal::TERM);
        self.wait();
        self.beside(arguments)
    }

    /// Returns when this holds.
    #[track_caller]
    pub fn wait_for(&self, mut holds: impl FnMut(&Server) -> bool) {
        let deadline = Instant::now() + READY_DEADLINE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "it did not come about in time");
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// `http://ADDRESS:PORT`.
    pub fn base(&self) -> String {
        let listening = self.hello["listening"].as_str().unwrap();
        if listening.starts_with("unix:") { "http://localhost".to_owned() } else { listening.to_owned() }
    }

    /// `ADDRESS:PORT`.
    pub fn address(&self) -> String {
        self.base().trim_start_matches("http://").to_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A request with the token, to be altered and then given to `send`.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method.parse().unwrap(), format!("{}{path}", self.base()));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// A request without the token.
    pub fn stranger(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().unwrap(), format!("{}{path}", self.base()))
    }

    pub fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        self.runtime.block_on(async {
            let reply = request.send().await.unwrap();
            let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
            Reply { status, headers, text: reply.text().await.unwrap() }
        })
    }

    /// A question that says nothing of it waits for what it needs, however busy the machine is.
    pub fn get(&self, path: &str) -> (u16, Value) {
        let waits = may_wait(path) && !path.contains("wait_ms");
        let and = if path.contains('?') { '&' } else { '?' };
        let path = if waits { format!("{path}{and}wait_ms={LONGEST_WAIT_MS}") } else { path.to_owned() };
        let reply = self.send(self.request("GET", &path));
        (reply.status, reply.json())
    }

    /// As `get`.
    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let mut body = body.clone();
        if let Some(fields) = body.as_object_mut().filter(|_| may_wait(path)) {
            fields.entry("wait_ms").or_insert(LONGEST_WAIT_MS.into());
        }
        let reply = self.send(self.request("POST", path).json(&body));
        (reply.status, reply.json())
    }

    pub fn markdown(&self, path: &str, body: Option<&Value>) -> Reply {
        let request = match body {
            Some(body) => self.request("POST", path).json(body),
            None => self.request("GET", path),
        };
        self.send(request.header("accept", "text/markdown"))
    }

    /// Returns when every workspace is ready; asked for at a pace that leaves the machine to the server.
    pub fn wait_ready(&self) {
        self.wait_for_state(&["ready"]);
    }

    /// Also for workspaces in languages without a server.
    pub fn wait_loaded(&self) {
        self.wait_for_state(&["ready", "degraded"]);
    }

    fn wait_for_state(&self, wanted: &[&str]) {
        let deadline = Instant::now() + READY_DEADLINE;
        loop {
            let (_, status) = self.get("/v1/status");
            let workspaces = status["workspaces"].as_array().unwrap();
            if workspaces.iter().all(|it| wanted.iter().any(|state| it["state"] == *state)) {
                return;
            }
            assert!(Instant::now() < deadline, "not ready in time: {status}");
            thread::park_timeout(Duration::from_millis(50));
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Returns when the server has logged this.
    pub fn wait_for_log(&self, wanted: &str) {
        let deadline = Instant::now() + READY_DEADLINE;
        while !self.log().contains(wanted) {
            assert!(Instant::now() < deadline, "{wanted:?} was not logged in time");
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- what the server logged\n{}---", self.log());
        }
    }
}

/// Whether a call may wait for an engine.
fn may_wait(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    CALLS.iter().any(|it| it.path == path && it.needs >= Needs::Text)
}

/// `FILE:LINE` of each place of a list, sorted.
#[track_caller]
pub fn sorted_places(list: &Value) -> Vec<String> {
    let place = |it: &Value| format!("{}:{}", it["file"].as_str().unwrap(), it["line"]);
    let mut places: Vec<String> = list.as_array().unwrap_or_else(|| panic!("{list}")).iter().map(place).collect();
    places.sort();
    places
}

pub fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + END_DEADLINE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the process did not end in time");
        }
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// What a program printed, and how it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Ended {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let read = |mut from: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).unwrap();
            text
        })
    };
    let output = read(Box::new(child.stdout.take().unwrap()));
    let errors = read(Box::new(child.stderr.take().unwrap()));
    let code = wait(&mut child).code();
    Ended { code, output: output.join().unwrap(), errors: errors.join().unwrap() }
}

/// A small Rust package, enough for what does not depend on the code.
pub const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"greeter\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/lib.rs", LIB),
    ("src/shout.rs", SHOUT),
];

const LIB: &str = r#"//! Greetings.

pub mod shout;

/// Greets someone.
pub fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}

/// Greets everyone.
pub fn greet_all(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| greet(name)).collect()
}
"#;

const SHOUT: &str = r#"use crate::greet;

/// Greets loudly.
pub fn shout(name: &str) -> String {
    greet(name).to_uppercase()
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_loud() {
        assert_eq!(super::shout("you"), "HELLO, YOU!");
    }
}
"#;

/// An edit of that package that breaks the callers of `greet`.
pub fn breaking_edit(dry_run: bool) -> Value {
    json!({
        "file": "src/lib.rs",
        "search_context": "pub fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\")",
        "replacement": "pub fn greet(name: &str, times: usize) -> String {\n    format!(\"Hello, {name}!\").repeat(times)",
        "dry_run": dry_run,
    })
}
