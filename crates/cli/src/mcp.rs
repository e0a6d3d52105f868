//! `semdex mcp`: the Model Context Protocol over standard input and output. The workspace's server answers the tool
//! calls: a running one, or one that is started and stops when it is idle.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::client::{self, Call, Said};
use super::running_servers::{self, Running};
use super::trees;
use semdex_config::Config;
use semdex_contract::{Name, Problem, render};
use semdex_engine::Registry;
use semdex_mcp::{Backend, Caller, Client};
use semdex_model::{Code, Error};
use semdex_text::visible::one_line;
use semdex_workspace::session_trees::{SessionTrees, ambiguous_tree, counterpart, counterparts};

/// How often a call that reached no server is repeated.
const MOST_UNREACHED: usize = 3;
/// A killed server keeps its file locked until the process is completely gone.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the workspace around a directory until standard input ends.
pub async fn serve(directory: Option<&Path>, config: &Config, engines: Registry) -> io::Result<()> {
    let own = engines.find_root(&directory.map_or_else(std::env::current_dir, |it| Ok(it.to_owned()))?)?;
    let running = running_servers::find_running(&config.state_dir, &own);
    let root = running.as_ref().and_then(|it| it.root_of(&own)).map_or(own, Path::to_owned);
    let (state_dir, parent) = (config.state_dir.clone(), trees::parent());
    let remote = Remote { engines, state_dir, root, parent, servers: Arc::default(), used: Arc::default() };
    // The index is loaded during the handshake. The first call reports why that failed.
    let starting = remote.clone();
    tokio::spawn(async move { starting.server(&starting.root).await.is_ok() });
    semdex_mcp::over_stdio(remote).await
}

/// The message for a change that was sent but not answered.
fn in_doubt(error: &io::Error) -> io::Error {
    let detail = format!(
        "{error}. It is not known whether the change was made: `open` of the file shows it, or `semdex changes`; if it was \
         not made, ask again"
    );
    io::Error::new(error.kind(), detail)
}

/// The note below an answer that names no tree, if the session works in others too.
fn others_noted(root: &Path, others: &[PathBuf]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let others = others.iter().map(|it| format!("`{}`", it.display())).collect::<Vec<_>>().join(", ");
    format!("\nnote: this is about `{}`; for {others} name it as `workspace`\n", root.display())
}

/// The server that answers; another one is found or started after it ended.
#[derive(Clone)]
struct Remote {
    engines: Registry,
    state_dir: PathBuf,
    /// The root of the session's workspace. If a server of a parent directory ran at the start, it is that server's
    /// root: the client reads immediately what file names are relative to, and that must not change when servers
    /// change.
    root: PathBuf,
    /// The agent.
    parent: Option<String>,
    /// The servers by the roots of their workspaces: the session's own, and those of other checkouts of its repository.
    servers: Arc<Mutex<BTreeMap<PathBuf, Running>>>,
    /// The roots in other checkouts that calls have named.
    used: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Remote {
    async fn server(&self, root: &Path) -> io::Result<Running> {
        let mut known = self.servers.lock().await;
        if let Some(running) = known.get(root) {
            return Ok(running.clone());
        }
        let found = running_servers::find_or_start_of(&self.state_dir, root, &self.engines).await?;
        known.insert(root.to_owned(), found.clone());
        Ok(found)
    }

    /// The root of another checkout that the arguments name, by the workspace or by a full path.
    fn other_tree(&self, arguments: &Map<String, Value>) -> Option<PathBuf> {
        let named = arguments.get("workspace").and_then(Value::as_str).map(PathBuf::from);
        let path = named.or_else(|| trees::full_path(arguments)).filter(|it| it.is_absolute())?;
        let path = path.ancestors().find_map(|it| it.canonicalize().ok())?;
        counterpart(&self.root, &path)
    }

    /// The other checkouts that the session works in, by its calls and its hooks.
    async fn other_trees(&self) -> Vec<PathBuf> {
        let mut checkouts: Vec<PathBuf> = self.used.lock().await.iter().cloned().collect();
        if let Some(parent) = &self.parent {
            checkouts.extend(SessionTrees::new(&self.state_dir).of_process(parent));
        }
        counterparts(&self.root, &checkouts)
    }

    /// A server that does not answer may have ended. Then the current server is asked, if the call can be repeated.
    async fn said(&self, call: &Call, json: bool, client: Option<&str>) -> io::Result<Said> {
        let other = self.other_tree(&call.fields);
        let root = other.as_deref().unwrap_or(&self.root);
        let call = match &other {
            Some(root) => call.clone().with("workspace", Some(root.to_string_lossy().into_owned())),
            None => self.narrowed(call),
        };
        let (mut unreached, mut is_repeated) = (0, false);
        loop {
            let running = self.server(root).await?;
            let error = match client::call(&running.announcement, &call, json, client).await {
                Ok(said) => return Ok(said),
                Err(error) => error,
            };
            // Another call may have found a server already.
            let mut known = self.servers.lock().await;
            if known.get(root).is_some_and(|it| it.announcement == running.announcement) {
                known.remove(root);
            }
            drop(known);
            match error.kind() {
                // No server has received the call.
                io::ErrorKind::ConnectionRefused if unreached < MOST_UNREACHED => unreached += 1,
                io::ErrorKind::ConnectionAborted | io::ErrorKind::TimedOut if !call.only_reads() => {
                    return Err(in_doubt(&error));
                }
                io::ErrorKind::ConnectionAborted if !is_repeated => is_repeated = true,
                _ => return Err(error),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// A call that names no workspace is about this one, which may be one of several of the server.
    fn narrowed(&self, call: &Call) -> Call {
        let is_own = !call.fields.contains_key("workspace");
        call.clone().with("workspace", is_own.then(|| self.root.to_string_lossy().into_owned()))
    }
}

impl Backend for Remote {
    async fn answer(
        &self,
        name: Name,
        mut arguments: Map<String, Value>,
        caller: Caller,
        idempotency_key: Option<String>,
    ) -> Result<String, String> {
        let came = Instant::now();
        arguments.retain(|_, value| !value.is_null());
        // Refused as the server refuses it, whether the fields are in a body or in a query.
        name.call().from_arguments(arguments.clone()).map_err(|error| render::refusal(Problem::new(error), came))?;
        let mut note = String::new();
        match self.other_tree(&arguments) {
            Some(root) => _ = self.used.lock().await.insert(root),
            None if trees::names_tree(&arguments) => {}
            None => {
                let others = self.other_trees().await;
                if !others.is_empty() && matches!(name, Name::Edit | Name::Write | Name::Rename) {
                    return Err(render::refusal(Problem::new(ambiguous_tree(&self.root, &others)), came));
                }
                note = others_noted(&self.root, &others);
            }
        }
        let Client { name: client, session, .. } = caller.client;
        let call = Call { fields: arguments, session, idempotency_key, ..Call::of(name) };
        match self.said(&call, false, client.as_deref()).await {
            Ok(Said { well: true, text }) => Ok(text + &note),
            Ok(Said { text, .. }) => Err(text),
            Err(error) => {
                let code =
                    if running_servers::is_refused(&error) { Code::ForbiddenRoot } else { Code::EngineUnavailable };
                Err(render::refusal(Problem::new(Error::new(code, error.to_string())), came))
            }
        }
    }

    async fn busy_with(&self, workspace: Option<&str>) -> Option<String> {
        let call = Call::of(Name::Status).with("workspace", workspace);
        let status = self.said(&call, true, None).await.ok()?;
        let status: Value = serde_json::from_str(&status.text).ok()?;
        let workspace = status["workspaces"].get(0)?;
        let (id, state, progress) = (workspace["id"].as_str()?, workspace["state"].as_str()?, &workspace["progress"]);
        if matches!(state, "ready" | "degraded") {
            return None;
        }
        let count = |name: &str| progress[name].as_u64().unwrap_or_default();
        Some(match progress["stage"].as_str() {
            Some(stage) => semdex_mcp::describe_progress(id, stage, count("done"), count("total")),
            None => format!("{id}: {state}"),
        })
    }

    /// If the server has several workspaces, the calls name this one.
    async fn has_several_workspaces(&self) -> bool {
        false
    }

    fn root(&self) -> Option<String> {
        Some(one_line(&self.root.to_string_lossy()).into_owned())
    }
}
