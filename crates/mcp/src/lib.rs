//! The interface for agents: the Model Context Protocol, over HTTP and over standard input and output. The only crate
//! that names rmcp. A tool is a call of the contract with a description for a model (`tools.rs`). Replies are text from
//! `render`. A refused call is a result too, since clients do not show protocol errors to the model.

mod lenient_arguments;
mod local;
mod message;
mod parameters;
mod progress;
mod stdio;
mod tools;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};

pub use local::Local;
pub use message::refusal;
pub use progress::describe_progress;
pub use tools::names_by_effect;

use semdex_contract::{Name, Problem, render};
pub use semdex_ops::timed_answer::Caller;
pub use semdex_ops::{Access, Client};

/// The supported protocol versions: `server/discover` opens the newest, `initialize` the older ones.
const PROTOCOLS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Some clients show a model only the first 247 characters: they name the tools and say when to use them.
const INSTRUCTIONS: &str = "Code by symbols. Before grep or whole files: `usages` finds references and callers, \
    `describe` the definition, `open` outlines a file. Before a change: `impact`. For changes: `edit`, `rename`; they \
    report what breaks. `diagnostics` lists errors. \
    semdex knows this workspace as its compilers do, and is always equal to the disk. grep does as well for plain words \
    in comments, strings and configuration. A list with `complete` is proved to be whole; `missing` says what an \
    incomplete answer does not know. For another checkout (worktree) of the repository give its path as `workspace`.";

/// Who answers the tool calls: this process or another server.
pub trait Backend: Clone + Send + Sync + 'static {
    /// The reply as Markdown, or the error, as Markdown too.
    fn answer(
        &self,
        call: Name,
        arguments: Map<String, Value>,
        caller: Caller,
        idempotency_key: Option<String>,
    ) -> impl Future<Output = Result<String, String>> + Send;

    /// In a few words, what the workspace of a call is busy with while it is not ready. `None`: the call names no
    /// workspace.
    fn busy_with(&self, workspace: Option<&str>) -> impl Future<Output = Option<String>> + Send;

    /// Whether a call has to name a workspace.
    fn has_several_workspaces(&self) -> impl Future<Output = bool> + Send;

    /// The root of the workspace of calls that name none, if it is known.
    fn root(&self) -> Option<String>;
}

/// A server of the protocol. Over HTTP there is one for each request.
#[derive(Clone)]
pub struct Server<B> {
    backend: B,
    received: Received,
}

/// What is known of a request besides its message.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Its id in logs and problems.
    pub request_id: Option<Arc<str>>,
    /// What distinguishes its client from others: a session, or the connection.
    pub session: Option<String>,
    /// What its token allows.
    pub access: Access,
}

tokio::task_local! {
    /// The request that is being received: the library answers it in a task of its own.
    static RECEIVED: Received;
}

/// Receives a request.
pub async fn receiving<T>(received: Received, handled: impl Future<Output = T>) -> T {
    RECEIVED.scope(received, handled).await
}

/// The service behind `/mcp`, which needs access control before it. Requests are independent: there are no sessions.
pub type OverHttp<B> = StreamableHttpService<Server<B>, NeverSessionManager>;

/// For requests whose host and origin were checked, and whose body has at most this length.
pub fn over_http<B: Backend>(backend: B, largest_body: usize) -> OverHttp<B> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The access control knows the address listened on; a list of names does not. It checks Host and Origin.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(largest_body);
    let server = move || {
        let received = RECEIVED.try_with(Clone::clone).unwrap_or_default();
        Ok(Server { backend: backend.clone(), received })
    };
    StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config)
}

/// Serves standard input and output until the input ends.
pub async fn over_stdio<B: Backend>(backend: B) -> io::Result<()> {
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let session = Some(format!("mcp-{}-{began}", std::process::id()));
    let server = Server { backend, received: Received { session, ..Received::default() } };
    match server.serve(stdio::Stdio::new()).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
        // A client that leaves without a message is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

impl<B: Backend> ServerHandler for Server<B> {
    fn get_info(&self) -> ServerConfig {
        let instructions = match self.backend.root() {
            Some(root) => format!("{INSTRUCTIONS} Names of files are relative to `{root}`."),
            None => INSTRUCTIONS.to_owned(),
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("semdex", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(PROTOCOLS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let several = self.backend.has_several_workspaces().await;
        Ok(ListToolsResult::with_all_items(tools::all(several)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::named(name).map(|it| it.definition(false))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let detail = format!("there is no tool `{}`: there are {}", request.name, tools::names());
            return Err(ErrorData::invalid_params(detail, None));
        };
        let mut arguments = request.arguments.unwrap_or_default();
        // Of the connection, not of the call.
        let Received { request_id, session, access } = self.received.clone();
        let session = taken(&mut arguments, "session").or(session);
        let key = taken(&mut arguments, "idempotency_key");
        let only = access.workspace.as_deref().map(|it| it.to_string_lossy().into_owned());
        let caller =
            Caller { client: Client { name: client_name(&context), session, access, request_key: None }, request_id };
        let refused = |error| {
            let text = render::refusal(Problem::new(error), Instant::now());
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
        };
        let (arguments, note) = match lenient_arguments::read(tool.call(), arguments) {
            Ok(read) => read,
            Err(error) => return refused(error),
        };
        let workspace = only.or_else(|| arguments.get("workspace").and_then(Value::as_str).map(str::to_owned));
        if let Some(error) = tool.missing_choice(&arguments) {
            return refused(error);
        }
        let answer = self.backend.answer(tool.name, arguments, caller, key);
        let cancelled = context.ct.clone();
        let about = (tool.call().name, workspace.as_deref());
        let answer = progress::telling(&self.backend, about, &context, answer);
        // A cancelled request is not answered. Dropping the future cancels it in the engine too.
        let answer = tokio::select! {
            answer = answer => answer,
            () = cancelled.cancelled() => return Err(ErrorData::internal_error("cancelled by the client", None)),
        };
        let noted = |text: String| vec![ContentBlock::text(text + note.as_deref().unwrap_or_default())];
        Ok(match answer {
            Ok(text) => CallToolResult::success(noted(text)),
            Err(text) => CallToolResult::error(noted(tools::refusal(&text))),
        }
        .into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let unknown = || {
            let detail = format!("there is no method `{}`", request.method);
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, detail, None)
        };
        Err(parameters::refused(&request.method, request.params.as_ref()).unwrap_or_else(unknown))
    }
}

/// Takes a text out of the arguments. A value that is no text stays, and is refused with the other arguments.
fn taken(arguments: &mut Map<String, Value>, name: &str) -> Option<String> {
    let text = arguments.get(name)?.as_str().map(str::to_owned)?;
    arguments.remove(name);
    Some(text).filter(|it| !it.is_empty())
}

/// The name of the client.
fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    const LONGEST: usize = 200;
    let of_request = context.meta.client_info();
    let of_session = context.peer.peer_info().map(|it| it.client_info.clone());
    // Without a session the library uses its own name instead of an unknown one.
    let named = of_request.or(of_session.filter(|it| it.name != "rmcp"))?;
    Some(format!("{}/{}", named.name, named.version).chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_the_instructions_names_the_tools() {
        let shown: String = INSTRUCTIONS.chars().take(247).collect();
        for it in ["usages", "describe", "open", "impact", "edit", "rename", "diagnostics"] {
            assert!(shown.contains(&format!("`{it}`")), "{shown}");
        }
    }
}
