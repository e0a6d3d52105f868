//! The program: runs the command, and is the only place that ends the process.

mod allocator;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use allocator::Allocator;
use clap::Parser;
use semdex::cli::{self, Announcement, Arguments, Color, Command, Serve, Severity, Verb};
use semdex::config::{Config, Flags, create_private_dir};
use semdex::config::{access::Tokens, logging, token, trust::TrustStore};
use semdex::engine::{Registry, STACK_BYTES, panic_message};
use semdex::engines;
use semdex::http::{self, Credentials, IdleTimer, Listener};
use semdex::ops::{Runs, Service};
use semdex::process::{process_group, search_path};
use semdex::workspace::{Workspaces, wait_for_root};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A background thread returns unused memory to the system after two seconds, also when nothing is allocated any
/// longer.
#[expect(unsafe_code, reason = "jemalloc reads its options from this symbol")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_OPTIONS: &[u8; 60] = b"background_thread:true,dirty_decay_ms:2000,muzzy_decay_ms:0\0";

const FAILED: u8 = 1;
const INTERRUPTED: i32 = 130;
/// rust-analyzer recurses deeply, and its queries run on threads of this runtime.
const STACK: usize = STACK_BYTES;
/// Analysis that still runs after everything else has ended gets so long to notice it.
const LEFTOVERS: Duration = Duration::from_secs(2);
/// How often the owner's trust decisions are read again.
const TRUST_PACE: Duration = Duration::from_millis(500);

/// The shutdown takes no longer than this; then the process ends whatever still runs.
const END: Duration = Duration::from_secs(50);

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(usage) => {
            cli::usage(&usage);
            // An agent takes exit code 2 for a hook that blocks, but this command line was not understood.
            if std::env::args_os().nth(1).is_some_and(|it| it == "hook") {
                return ExitCode::SUCCESS;
            }
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(FAILED));
        }
    };
    match carry_out(arguments.command, arguments.color) {
        Ok(code) => code,
        Err(failure) => {
            cli::complain(Severity::Error, &failure.to_string(), arguments.color);
            ExitCode::from(FAILED)
        }
    }
}

fn carry_out(command: Command, color: Color) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(serve) => {
            search_path::forget_relative();
            process_group::prepare();
            let _logging = logging::start(&serve.log)?;
            report_panics();
            let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build()?;
            runtime.block_on(serve_until_stopped(serve, &runtime))?;
            runtime.shutdown_timeout(LEFTOVERS);
        }
        Command::Token(asked) => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let token = runtime.block_on(asked.token(&config, &engines()))?;
            writeln!(cli::output(), "{token}")?;
        }
        Command::Trust { path, revoke } => {
            let store = TrustStore::new(&Config::load(&Flags::default())?.state_dir);
            let decided = if revoke { store.distrust(&path) } else { store.trust(&path) };
            decided.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Command::Config(show) => {
            show.print(&engines(), |config, root| TrustStore::new(&config.state_dir).is_trusted(root).unwrap_or(false))?
        }
        Command::Completions(completions) => completions.print()?,
        Command::Man(man) => man.print()?,
        Command::Mcp { root } => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let served = runtime.block_on(cli::serve_mcp(root.as_deref(), &config, engines()));
            // A pending read of standard input cannot be cancelled.
            runtime.shutdown_background();
            served?;
        }
        Command::Init(init) => {
            if !cli::init(&init, &engines())? {
                return Ok(ExitCode::from(FAILED));
            }
        }
        Command::Hook { agent } => {
            // An agent takes a failed hook for a reason to stop.
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return Ok(ExitCode::SUCCESS);
            };
            let code = runtime.block_on(cli::hook(agent, &engines()));
            // A pending read of standard input cannot be cancelled.
            runtime.shutdown_background();
            return Ok(ExitCode::from(code));
        }
        Command::Doctor { root, agents, all } => {
            let asked = cli::Doctor { directory: root.as_deref(), agents, all };
            if !cli::doctor(&asked, &Config::load(&Flags::default())?, &engines())? {
                return Ok(ExitCode::from(FAILED));
            }
        }
        Command::Stop { root, all } => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            if !runtime.block_on(cli::stop(root.as_deref(), all, &config, &engines()))? {
                return Ok(ExitCode::from(FAILED));
            }
        }
        Command::Restart { root } => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(cli::restart(root.as_deref(), &config, &engines()))?;
        }
        Command::Cache(command) => {
            if !cli::cache(command, &Config::load(&Flags::default())?)? {
                return Ok(ExitCode::from(FAILED));
            }
        }
        Command::Backup { directory } => cli::backup(&directory, &Config::load(&Flags::default())?)?,
        Command::Events(asked) => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            return Ok(ExitCode::from(runtime.block_on(cli::follow(asked, &config, &engines(), color))?));
        }
        Command::Verb(Verb::Run(task)) => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            return Ok(ExitCode::from(runtime.block_on(cli::run_task(task, &config, &engines(), color))?));
        }
        Command::Verb(verb) => {
            let config = Config::load(&Flags::default())?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            return Ok(ExitCode::from(runtime.block_on(cli::run(verb, &config, &engines(), color))?));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Serves until a signal or idleness ends it, answers open requests, and ends every child process.
async fn serve_until_stopped(serve: Serve, runtime: &Runtime) -> Result<(), Failure> {
    let config = Config::load(&Flags { config_file: serve.config.clone(), trust: serve.trusts() })?;
    let named = named(&serve.roots)?;
    let engines = engines();
    let roots = roots(&named, &engines)?;
    create_private_dir(&config.state_dir)?;
    for root in &roots {
        wait_for_root(&config.state_dir, root).map_err(|error| error.detail)?;
        settle_trust(&config, root)?;
    }
    let listen = serve.listen.absolute()?;
    let listener = Listener::bind(&listen).map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let own = Listener::bind_own(&config.state_dir);
    let own =
        own.inspect_err(|error| tracing::warn!(%error, "the command line reaches this server by its address")).ok();
    // A Unix socket is guarded by its file mode instead.
    let is_token_required = !serve.no_auth && !listener.is_unix();
    let made = token::load_or_create(&config.state_dir);
    if is_token_required {
        made?;
    }
    let credentials =
        Credentials { tokens: Tokens::new(&config.state_dir), is_token_required, address: listener.address()? };
    let announcement = announcement(&credentials, &config, own.as_ref());

    let stop = CancellationToken::new();
    heed_signals(stop.clone())?;
    let idle_timer = IdleTimer::new();
    if let Some(minutes) = serve.idle_exit {
        tokio::spawn(stop_when_idle(idle_timer.clone(), Duration::from_secs(minutes * 60), stop.clone()));
    }

    let may_open = roots.iter().chain(&config.workspace_roots).filter_map(|it| it.canonicalize().ok()).collect();
    let (state_dir, max_tokens) = (config.state_dir.clone(), config.max_tokens);
    let runs = runs(&config);
    let workspaces = Workspaces::new(config, runtime.handle().clone(), engines).at(&announcement.listening);
    // The outermost first: a root in another one is a part of it.
    let mut named = named;
    named.sort_by_cached_key(|it| workspaces.engines().find_root(it).map_or(0, |it| it.components().count()));
    for directory in &named {
        workspaces.open(directory).map_err(|error| error.detail)?;
    }
    tokio::spawn(heed_trust(workspaces.clone()));
    tokio::spawn(end_runs(workspaces.clone(), stop.clone()));
    let registered = cli::register(&state_dir, &announcement, &roots)?;
    announce(&announcement)?;
    if io::stderr().is_terminal() {
        say_what_next(&announcement, is_token_required)?;
    }
    let mut service = Service::new(workspaces.clone(), may_open, max_tokens);
    if let Some(runs) = &runs {
        service = service.with_runs(runs.clone());
    }
    let router = http::router(service, Some(Arc::new(credentials)), idle_timer);
    let serve_own = async {
        if let Some(own) = own {
            own.serve(router.clone(), stop.clone()).await;
        }
    };
    tokio::join!(listener.serve(router.clone(), stop.clone()), serve_own);

    drop(registered);
    if let Some(runs) = runs {
        // As long as the workspaces can take the runs' changes back.
        runs.leave(None).await;
    }
    workspaces.shutdown().await;
    Ok(())
}

/// Reports panics as the standard library does, but without what the message quotes: that may be text of the workspace.
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic_message(panic.payload());
        let mut errors = io::stderr().lock();
        // If even this cannot be printed, nobody reads it.
        let _ = writeln!(errors, "thread {:?} panicked at {place}:\n{message}", thread.name().unwrap_or("unnamed"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            let _ = writeln!(errors, "{backtrace}");
        }
    }));
}

/// The runner of models, if there is a client for one.
#[cfg(feature = "bedrock")]
fn runs(config: &Config) -> Option<Arc<dyn Runs>> {
    use semdex::coder::{Coder, bedrock::Bedrock};
    Some(Arc::new(Coder::new(Arc::new(Bedrock::new(config.run_model.clone())))))
}

#[cfg(not(feature = "bedrock"))]
fn runs(_: &Config) -> Option<Arc<dyn Runs>> {
    None
}

/// The directories whose workspaces are served.
fn named(given: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    if given.is_empty() { Ok(vec![std::env::current_dir()?]) } else { Ok(given.to_vec()) }
}

/// The roots of these directories, each once. A root in another one is a part of it.
fn roots(named: &[PathBuf], engines: &Registry) -> Result<Vec<PathBuf>, Failure> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for directory in named {
        let root = engines.find_root(directory)?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let outer = |it: &PathBuf| roots.iter().find(|other| it != *other && it.starts_with(other));
    for (root, outer) in roots.iter().filter_map(|it| Some((it, outer(it)?))) {
        warn(&format!("{} lies in {}: it is served as a part of it", root.display(), outer.display()));
    }
    Ok(roots.iter().filter(|it| outer(it).is_none()).cloned().collect())
}

/// Asks once if a person can answer; otherwise reports what is incomplete.
fn settle_trust(config: &Config, root: &Path) -> Result<(), Failure> {
    let store = TrustStore::new(&config.state_dir);
    if config.trust == Some(true) || config.trust.is_none() && store.is_trusted(root)? {
        return Ok(());
    }
    if config.trust.is_none() && !store.is_decided(root)? && io::stdin().is_terminal() && io::stderr().is_terminal() {
        let question = format!(
            "{} is not trusted. To know it fully, its build scripts, proc macros and toolchain have to be run, which \
             any of its authors can make do anything. Trust it? [y/N] ",
            root.display()
        );
        write!(cli::errors(), "{question}")?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(store.trust(root)?);
        }
        store.decline(root)?;
    }
    warn(&format!(
        "{root} is not trusted: its build scripts, proc macros, toolchain and cgo are not run, so answers about code \
         that they make are incomplete and say so. `semdex trust {root}` or `--trust` lets them run.",
        root = root.display()
    ));
    Ok(())
}

fn announcement(credentials: &Credentials, config: &Config, own: Option<&Listener>) -> Announcement {
    Announcement {
        listening: credentials.address.clone(),
        token_file: credentials.is_token_required.then(|| token::token_file(&config.state_dir)),
        socket: own.and_then(Listener::socket_file).map(Path::to_path_buf),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Prints the only line on standard output.
fn announce(announcement: &Announcement) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", serde_json::to_string(announcement)?)?;
    Ok(output.flush()?)
}

/// For a person at a terminal: three lines with the next steps.
fn say_what_next(announcement: &Announcement, wants_token: bool) -> Result<(), Failure> {
    let (curl, page) = match announcement.listening.strip_prefix("unix:") {
        Some(socket) => (format!("--unix-socket {socket} http://localhost"), None),
        None => (announcement.listening.clone(), Some(&announcement.listening)),
    };
    let token = if wants_token { "-H \"Authorization: Bearer $(semdex token)\" " } else { "" };
    let mut output = cli::errors();
    writeln!(output, "ask:    curl {token}{curl}/v1/status")?;
    writeln!(output, "agent:  semdex init claude    (or codex, cursor, gemini, opencode)")?;
    match page {
        Some(page) => writeln!(output, "look:   {page}/    (the token: semdex token)")?,
        None => writeln!(output, "look:   a browser needs `--listen 127.0.0.1:7878`")?,
    }
    Ok(())
}

/// A separate thread handles signals, so that they have an effect whatever other threads wait for.
fn heed_signals(stop: CancellationToken) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(signals.heed(stop)))?;
    Ok(())
}

/// The signals with which a user or a supervisor ends a server.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The first signal shuts the server down, the second ends it immediately.
    async fn heed(mut self, stop: CancellationToken) {
        self.next().await;
        tracing::info!("stopping: open requests are answered; another signal ends the process immediately");
        stop.cancel();
        let code = tokio::select! {
            () = self.next() => INTERRUPTED,
            () = tokio::time::sleep(END) => {
                tracing::error!("the shutdown did not end within {END:?}: the process ends now");
                FAILED.into()
            }
        };
        std::process::exit(code);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Other processes grant and withdraw trust, and write it to a file.
async fn heed_trust(workspaces: Workspaces) {
    let mut ticks = tokio::time::interval(TRUST_PACE);
    loop {
        ticks.tick().await;
        workspaces.heed_trust();
    }
}

/// Builds and tests take longer than a user waits for the shutdown.
async fn end_runs(workspaces: Workspaces, stop: CancellationToken) {
    stop.cancelled().await;
    workspaces.stop_runs();
}

async fn stop_when_idle(idle_timer: IdleTimer, duration: Duration, stop: CancellationToken) {
    idle_timer.idle_for(duration).await;
    tracing::info!("stopping: no request for {duration:?}");
    stop.cancel();
}

/// For the user who started the process, whether it is logged or not.
fn warn(message: &str) {
    cli::complain(Severity::Warning, message, Color::Auto);
}
