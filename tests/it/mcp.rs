//! The Model Context Protocol over its transports, in every protocol version; and the official SDKs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use semdex::cli::{Announcement, register};
use serde_json::{Value, json};

use crate::support::{Home, RUST, Reply, Server, Started, run, wait};

pub const NEWEST: &str = "2026-07-28";
const WITH_INITIALIZE: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25"];
const TOOLS: &[&str] = &[
    "explore",
    "open",
    "describe",
    "usages",
    "map",
    "edit",
    "write",
    "rename",
    "impact",
    "diagnostics",
    "verify",
    "undo",
];

/// A request of a protocol version, as its clients send it.
fn request(protocol: &str, method: &str, mut params: Value) -> Value {
    if protocol == NEWEST {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(protocol);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "wire", "version": "1"});
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn post(server: &Server, protocol: &str, message: &Value) -> Reply {
    let mut request = server
        .request("POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", protocol)
        .json(message);
    if protocol == NEWEST {
        request = request.header("mcp-method", message["method"].as_str().unwrap());
        if let Some(name) = message["params"]["name"].as_str() {
            request = request.header("mcp-name", name);
        }
    }
    server.send(request)
}

/// The result of a request that is answered with one message.
#[track_caller]
fn result(server: &Server, protocol: &str, method: &str, params: Value) -> Value {
    let reply = post(server, protocol, &request(protocol, method, params));
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{}", reply.text);
    let message = reply.json();
    assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)), "{message}");
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

/// Whether a tool failed, and its text.
#[track_caller]
pub fn call(server: &Server, protocol: &str, tool: &str, mut arguments: Value) -> (bool, String) {
    arguments["wait_ms"] = json!(120_000);
    of_call(&result(server, protocol, "tools/call", json!({"name": tool, "arguments": arguments})))
}

#[track_caller]
fn of_call(result: &Value) -> (bool, String) {
    assert!(result.get("structuredContent").is_none(), "{result}");
    let blocks = result["content"].as_array().unwrap();
    assert!(blocks.iter().all(|it| it["type"] == "text"), "{result}");
    let text = blocks.iter().map(|it| it["text"].as_str().unwrap()).collect();
    (result["isError"] == true, text)
}

#[test]
fn every_protocol_version_opens_lists_and_calls() {
    let server = Server::shared(RUST);
    for &protocol in WITH_INITIALIZE.iter().chain([&NEWEST]) {
        if protocol == NEWEST {
            let found = result(&server, protocol, "server/discover", json!({}));
            let versions: Vec<_> = WITH_INITIALIZE.iter().chain([&NEWEST]).collect();
            assert_eq!(found["supportedVersions"], json!(versions), "{found}");
        } else {
            let hello = json!({
                "protocolVersion": protocol,
                "capabilities": {},
                "clientInfo": {"name": "wire", "version": "1"},
            });
            let opened = result(&server, protocol, "initialize", hello);
            assert_eq!(opened["protocolVersion"], protocol, "{opened}");
            assert_eq!(opened["serverInfo"]["name"], "semdex", "{opened}");
            let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            assert_eq!(post(&server, protocol, &told).status, 202);
        }
        let tools = result(&server, protocol, "tools/list", json!({}))["tools"].clone();
        let names: Vec<_> = tools.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS);
        let length = tools.to_string().chars().count();
        assert!(length <= 8000, "{length} characters");
        let always = tools.as_array().unwrap().iter().filter(|it| it["_meta"]["anthropic/alwaysLoad"] == true);
        let always: Vec<_> = always.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(always, ["explore", "usages", "edit", "impact", "diagnostics"], "{tools}");
        for tool in tools.as_array().unwrap() {
            assert!(tool.get("outputSchema").is_none(), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            let reads = matches!(
                tool["name"].as_str().unwrap(),
                "explore" | "open" | "describe" | "usages" | "map" | "impact" | "diagnostics"
            );
            assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
            assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        }
        let (failed, text) = call(&server, protocol, "usages", json!({"symbol": "greet"}));
        assert!(!failed && text.contains("greeter::greet") && text.contains("src/shout.rs"), "{text}");
    }
}

#[test]
fn what_a_call_refuses_is_a_result_that_says_what_to_do() {
    let server = Server::shared(RUST);
    server.wait_ready();
    for (tool, arguments, wanted) in [
        ("usages", json!({"symbol": "gret"}), &["unknown_symbol", "greeter::greet"][..]),
        ("usages", json!({"symbol": "qqqzzzxxx"}), &["unknown_symbol", "; `map` with `query` finds names"]),
        ("usages", json!({"symbl": "greet"}), &["invalid_request", "symbl", "symbol"]),
        ("usages", json!({}), &["invalid_request", "symbol"]),
        ("open", json!({"file": 7}), &["invalid_request", "file"]),
        ("open", json!({"file": "../x"}), &["outside_workspace"]),
        (
            "edit",
            json!({"file": "src/lib.rs", "search_context": "fn gret(", "replacement": ""}),
            &["no_match", "fn greet("],
        ),
        ("edit", json!({"fix": "none"}), &["invalid_request", "`diagnostics` with `fixes`"]),
        ("undo", json!({"change": "01"}), &["unknown_change", ": `semdex changes` lists"]),
        ("verify", json!({"kind": "check", "change": "01"}), &["unknown_change", ": `semdex changes` lists"]),
    ] {
        let (failed, text) = call(&server, NEWEST, tool, arguments);
        assert!(failed, "{text}");
        assert!(wanted.iter().all(|it| text.contains(it)), "{tool} lacks one of {wanted:?}: {text}");
        assert!(!text.contains("/v1/"), "an agent has no call of HTTP: {text}");
    }
    // Over HTTP the call itself is named.
    let (_, refused) = server.post("/v1/undo", &json!({"change": "01"}));
    assert!(refused["detail"].as_str().unwrap().contains(": `changes` lists"), "{refused}");
    let unknown = request("2025-06-18", "tools/call", json!({"name": "grep", "arguments": {}}));
    let error = post(&server, "2025-06-18", &unknown).json()["error"].clone();
    assert_eq!(error["code"], -32602, "{error}");
    assert!(error["message"].as_str().unwrap().contains("`usages`"), "{error}");
}

#[test]
fn a_change_by_a_tool_is_in_the_journal_with_the_client_and_is_taken_back() {
    let server = Server::on(RUST);
    server.wait_ready();
    let edit = json!({"symbol": "greeter::greet", "at": "body", "replacement": "\n    name.to_owned()\n"});
    let (failed, text) = call(&server, NEWEST, "edit", edit);
    assert!(!failed && text.starts_with("# Edit successful"), "{text}");
    let (_, changes) = server.get("/v1/changes");
    let change = &changes["changes"][0];
    assert_eq!(change["client"], "wire/1", "{changes}");
    let token = change["change"].as_str().unwrap();
    assert!(text.contains(token), "{text}");
    let (failed, text) = call(&server, NEWEST, "undo", json!({"change": token}));
    assert!(!failed, "{text}");
    assert!(server.home.read("src/lib.rs").contains("Hello, {name}!"));
}

#[test]
fn the_guard_stands_before_the_protocol() {
    let server = Home::with(&[]).serve(&[]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let stranger = server.stranger("POST", "/mcp").json(&ping);
    assert_eq!(server.send(stranger).code(), "unauthorized");
    let elsewhere = server.request("POST", "/mcp").header("origin", "http://evil.example").json(&ping);
    assert_eq!(server.send(elsewhere).code(), "forbidden_origin");
    let host = server.request("POST", "/mcp").header("host", "evil.example").json(&ping);
    assert_eq!(server.send(host).code(), "forbidden_host");
    let accept = "application/json, text/event-stream";
    let large = server.request("POST", "/mcp").header("accept", accept).header("content-type", "application/json");
    assert_eq!(server.send(large.body(vec![b' '; (16 << 20) + 1])).status, 413);
    assert_eq!(server.send(server.request("GET", "/mcp").header("accept", accept)).status, 405);
    let own = server.request("POST", "/mcp").header("accept", accept).header("origin", server.base()).json(&ping);
    assert_eq!(server.send(own).status, 200);
}

#[test]
fn several_workspaces_are_told_apart_by_a_field() {
    let home = Home::with(&[("a/Cargo.toml", MANIFEST), ("a/src/lib.rs", "pub fn one() {}\n"), ("b/x.txt", "two\n")]);
    let server = home.serve(&["--trust", "a", "b"]);
    let tools = result(&server, NEWEST, "tools/list", json!({}))["tools"].clone();
    assert!(tools.as_array().unwrap().iter().all(|it| it["inputSchema"]["properties"]["workspace"].is_object()));
    let (failed, text) = call(&server, NEWEST, "open", json!({"file": "src/lib.rs", "workspace": "a"}));
    assert!(!failed && text.contains("pub fn one()"), "{text}");
    let (failed, text) = call(&server, NEWEST, "open", json!({"file": "src/lib.rs"}));
    assert!(failed && text.contains("workspace"), "{text}");
}

const MANIFEST: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[test]
fn a_call_that_waits_for_the_index_tells_how_far_it_is() {
    let server = Home::with(RUST).with_real_std().serve(&["--trust"]);
    let params = json!({
        "name": "usages",
        "arguments": {"symbol": "greet", "wait_ms": 120_000},
        "_meta": {"progressToken": "p1"},
    });
    let reply = post(&server, "2025-11-25", &request("2025-11-25", "tools/call", params));
    assert_eq!((reply.status, reply.header("content-type")), (200, "text/event-stream"), "{}", reply.text);
    let messages: Vec<Value> = reply
        .text
        .lines()
        .filter_map(|it| it.strip_prefix("data:"))
        .filter_map(|it| serde_json::from_str(it.trim()).ok())
        .collect();
    let (last, told) = messages.split_last().unwrap();
    assert!(of_call(&last["result"]).1.contains("greeter::greet"), "{last}");
    assert!(!told.is_empty(), "{}", reply.text);
    let mut before = 0.0;
    for it in told {
        assert_eq!((&it["method"], &it["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p1")));
        let progress = it["params"]["progress"].as_f64().unwrap();
        assert!(progress > before, "{it}");
        before = progress;
        let message = it["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("workspace: ") && !message.contains("of 0"), "{it}");
    }
}

#[test]
fn progress_is_that_of_the_workspace_that_the_call_is_about() {
    let home = Home::with(&[
        ("a/Cargo.toml", MANIFEST),
        ("a/src/lib.rs", "pub fn one() {}\n"),
        ("b/Cargo.toml", MANIFEST),
        ("b/src/lib.rs", "pub fn two() {}\n"),
    ])
    .with_real_std();
    // Both are loaded as long as this file exists.
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    fs::write(faults.join("rust.prime"), "stall").unwrap();
    let server = home.serve_with(&["--trust", "a", "b"], &[("SEMDEX_FAULTS", &faults)]);
    for (directory, named) in [("b", None), ("a", Some("b"))] {
        let mut stdio = Piped::of(&server.home, directory);
        stdio.initialize();
        let arguments = json!({"symbol": "two", "workspace": named, "wait_ms": 120_000});
        let params = json!({"name": "usages", "arguments": arguments, "_meta": {"progressToken": "p"}});
        stdio.tell(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        let message = stdio.hear();
        let progress = message["params"]["message"].as_str().unwrap_or_else(|| panic!("{message}"));
        assert!(progress.starts_with("b: ") && !progress.contains("of 0"), "{message}");
    }
}

/// `semdex mcp`, spoken with line by line.
pub struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Piped {
    pub fn start(home: &Home) -> Piped {
        Piped::of(home, ".")
    }

    /// For the workspace in this directory below the root.
    fn of(home: &Home, directory: &str) -> Piped {
        let mut command = home.semdex();
        command.args(["mcp", directory]);
        Piped::by(&mut command)
    }

    fn by(command: &mut Command) -> Piped {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Piped { child, input, output: BufReader::new(output) }
    }

    fn tell(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    fn send_line(&mut self, line: &[u8]) {
        self.input.as_mut().unwrap().write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// The server's instructions for the client.
    pub fn initialize(&mut self) -> String {
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "piped", "version": "2"},
        });
        let opened = self.ask("initialize", hello);
        assert_eq!(opened["protocolVersion"], "2025-06-18");
        self.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        opened["instructions"].as_str().unwrap().to_owned()
    }

    /// Whether a tool failed, and its text.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        of_call(&self.ask("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// The code and the message of the error that answers this line; it must name no request if none is known.
    #[track_caller]
    fn refused(&mut self, line: &[u8], id: Option<u64>) -> (i64, String) {
        self.send_line(line);
        let reply = self.hear();
        assert_eq!(reply["id"].as_u64(), id, "{reply}");
        (reply["error"]["code"].as_i64().unwrap(), reply["error"]["message"].as_str().unwrap().to_owned())
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.tell(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.hear()["result"].clone()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn standard_input_and_output_share_the_running_server_and_end_with_the_input() {
    let server = Server::on(RUST);
    server.wait_ready();
    let mut stdio = Piped::start(&server.home);
    stdio.initialize();
    let tools = stdio.ask("tools/list", json!({}));
    assert_eq!(tools["tools"].as_array().unwrap().len(), TOOLS.len());
    // The answer of a call equals the server's answer over HTTP, except for the elapsed time.
    let asked = json!({"symbol": "greet", "package": null});
    let (failed, piped) = of_call(&stdio.ask("tools/call", json!({"name": "usages", "arguments": asked})));
    assert!(!failed, "{piped}");
    let (_, direct) = call(&server, NEWEST, "usages", json!({"symbol": "greet"}));
    let timeless = |text: &str| text.split(" ms)").next().unwrap().rsplit_once('(').unwrap().0.to_owned();
    assert_eq!(timeless(&piped), timeless(&direct));
    let (failed, text) = of_call(&stdio.ask("tools/call", json!({"name": "usages", "arguments": {"symbl": "x"}})));
    assert!(failed && text.contains("symbl"), "{text}");
    let edit = json!({"symbol": "greeter::greet", "at": "body", "replacement": "\n    name.to_owned()\n"});
    let (failed, text) = of_call(&stdio.ask("tools/call", json!({"name": "edit", "arguments": edit})));
    assert!(!failed, "{text}");
    let (_, changes) = server.get("/v1/changes");
    assert!(changes["changes"][0]["client"].as_str().unwrap().contains("piped/2"), "{changes}");
    drop(stdio.input.take());
    assert!(wait(&mut stdio.child).success());
    assert_eq!(server.get("/v1/status").0, 200);
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_next_one_is() {
    let server = Server::shared(RUST);
    let mut stdio = Piped::start(&server.home);
    stdio.initialize();
    // No change will ever make this revision: the call waits until it is cancelled.
    let waits = json!({"symbol": "greet", "min_revision": 1_000_000, "wait_ms": 120_000});
    let waits = json!({"name": "usages", "arguments": waits});
    stdio.tell(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": waits}));
    stdio.tell(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}));
    stdio.tell(&json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}));
    assert_eq!(stdio.hear()["id"], 8);
}

#[test]
fn standard_input_takes_the_workspace_that_a_call_names() {
    let home = Home::with(&[("a/Cargo.toml", MANIFEST), ("a/src/lib.rs", "pub fn one() {}\n"), ("b/x.txt", "two\n")]);
    let server = home.serve(&["--trust", "a", "b"]);
    let mut stdio = Piped::of(&server.home, "a");
    stdio.initialize();
    let (failed, text) = stdio.call("open", json!({"file": "src/lib.rs"}));
    assert!(!failed && text.contains("pub fn one()"), "{text}");
    for unknown in ["zz", "/"] {
        let (failed, text) = stdio.call("open", json!({"file": "src/lib.rs", "workspace": unknown}));
        assert!(failed && text.contains("unknown_workspace"), "{text}");
    }
    let mut write = json!({"name": "new.txt", "content": "three\n", "workspace": "b"});
    let (failed, text) = stdio.call("write", write.clone());
    assert!(failed && text.contains("missing field `mode`: one of `append`, `overwrite`, `create`"), "{text}");
    write["mode"] = json!("create");
    let (failed, text) = stdio.call("write", write);
    assert!(!failed, "{text}");
    assert_eq!(server.home.read("b/new.txt"), "three\n");
    assert!(!server.home.root().join("a/new.txt").exists());
    let (failed, text) = stdio.call("describe", json!({"file": "x.txt", "workspace": null}));
    assert!(failed, "{text}");
}

#[test]
fn a_session_in_a_repository_is_not_about_a_directory_above_it() {
    let home = Home::with(&[("project/.git/HEAD", "ref: refs/heads/main\n"), ("plain/a.txt", "one\n")]);
    let server = home.serve(&["--trust"]);
    let root = server.home.root();
    let new = || json!({"name": "new.txt", "content": "text\n", "mode": "create"});
    // Two servers would both write its files.
    let mut stdio = Piped::of(&server.home, "project");
    let instructions = stdio.initialize();
    assert!(instructions.contains(&format!("relative to `{}`", root.join("project").display())), "{instructions}");
    let (failed, text) = stdio.call("write", new());
    assert!(failed && text.contains(&server.pid().to_string()) && text.contains(&server.address()), "{text}");
    assert!(!root.join("new.txt").exists() && !root.join("project/new.txt").exists());

    let mut stdio = Piped::of(&server.home, "plain");
    let instructions = stdio.initialize();
    assert!(instructions.contains(&format!("relative to `{}`", root.display())), "{instructions}");
    let (failed, text) = stdio.call("write", new());
    assert!(!failed && root.join("new.txt").exists(), "{text}");
}

#[test]
fn in_the_home_directory_each_call_is_answered_with_what_to_do() {
    let home = Home::with(&[("a.txt", "one\n")]);
    let root = home.root();
    let mut stdio = Piped::by(home.semdex().arg("mcp").env("HOME", &root));
    stdio.initialize();
    for _ in 0..2 {
        let (failed, text) = stdio.call("describe", json!({"file": "a.txt"}));
        assert!(failed && text.contains("semdex serve DIRECTORY"), "{text}");
    }
    assert!(home.servers().is_empty());
    let _server = home.serve_with(&[], &[("HOME", &root)]);
    let (failed, text) = stdio.call("describe", json!({"file": "a.txt"}));
    assert!(!failed && text.contains("one"), "{text}");
}

/// A server that ends at the first request, before it has answered.
fn ends_at_a_request(home: &Home) {
    let socket = home.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let listening = format!("unix:{}", socket.display());
    let announcement = Announcement { listening, token_file: None, socket: None, pid: 0, version: "0".to_owned() };
    let registered = register(&home.path().join("state/semdex"), &announcement, &[home.root()]).unwrap();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        // Unread data resets the connection.
        client.read_exact(&mut [0]).unwrap();
        drop(registered);
    });
}

#[test]
fn a_call_that_reads_is_asked_again_where_the_server_has_ended() {
    let edit = json!({"file": "a.txt", "search_context": "one", "replacement": "two", "dry_run": true});
    for (tool, arguments) in [("describe", json!({"file": "a.txt"})), ("edit", edit)] {
        let home = Home::with(&[("a.txt", "one\n")]);
        let _started = Started(&home);
        ends_at_a_request(&home);
        let mut stdio = Piped::start(&home);
        stdio.initialize();
        let (failed, text) = stdio.call(tool, arguments);
        assert!(!failed, "{text}");
    }
}

#[test]
fn a_change_that_is_in_doubt_says_how_to_go_on() {
    let home = Home::with(&[("a.txt", "one\n")]);
    let _started = Started(&home);
    ends_at_a_request(&home);
    let mut stdio = Piped::start(&home);
    stdio.initialize();
    let new = json!({"name": "new.txt", "content": "two\n", "mode": "create"});
    let (failed, text) = stdio.call("write", new.clone());
    assert!(failed && text.contains("not known whether the change was made") && text.contains("ask again"), "{text}");
    let (failed, text) = stdio.call("write", new);
    assert!(!failed, "{text}");
    assert_eq!(home.read("new.txt"), "two\n");
}

#[test]
fn wrong_parameters_are_told_from_an_unknown_method() {
    let server = Server::shared(RUST);
    let mut stdio = Piped::start(&server.home);
    let line = |method: &str, params: Option<Value>| {
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        if let Some(params) = params {
            message["params"] = params;
        }
        message
    };
    let wrong = [
        (line("initialize", Some(json!({}))), "protocolVersion"),
        (line("initialize", None), "protocolVersion"),
        (line("tools/call", None), "`name`"),
        (line("tools/call", Some(json!([]))), "an object"),
        (line("tools/call", Some(json!({"name": 5}))), "`name`"),
        (line("tools/call", Some(json!({"name": "open", "arguments": []}))), "`arguments`"),
    ];
    // Before the session is opened, in it, and over HTTP.
    for is_open in [false, true] {
        if is_open {
            stdio.initialize();
        }
        for (message, wanted) in &wrong {
            let (code, detail) = stdio.refused(message.to_string().as_bytes(), Some(1));
            assert!(code == -32602 && detail.contains(wanted), "{message}: {code} {detail}");
        }
    }
    // There the library refuses everything but objects.
    for (message, wanted) in wrong.iter().filter(|it| !it.0["params"].is_array()) {
        let error = post(&server, "2025-06-18", message).json()["error"].clone();
        assert!(error["message"].as_str().is_some_and(|it| it.contains(wanted)), "{message}: {error}");
        assert_eq!(error["code"], -32602, "{message}: {error}");
    }
    let unknown = line("tools/cal", Some(json!({})));
    assert_eq!(stdio.refused(unknown.to_string().as_bytes(), Some(1)).0, -32601);
}

#[test]
fn a_line_that_is_not_json_is_answered_and_the_session_goes_on() {
    let server = Server::shared(RUST);
    let mut stdio = Piped::start(&server.home);
    let deep = "[".repeat(100_000);
    let not_json: [&[u8]; 5] = [b"garbage", b"{", b"{\"jsonrpc\": \"\xFF\"}", deep.as_bytes(), b"{} {}"];
    for is_open in [false, true] {
        if is_open {
            stdio.initialize();
        }
        for line in not_json {
            let (code, detail) = stdio.refused(line, None);
            assert!(code == -32700 && detail.contains("not JSON"), "{code} {detail}");
        }
        for line in ["[]", "7", "{}", r#"{"jsonrpc": "2.0"}"#] {
            assert_eq!(stdio.refused(line.as_bytes(), None).0, -32600, "{line}");
        }
        assert_eq!(stdio.refused(br#"{"id": 9, "method": "ping"}"#, Some(9)).0, -32600);
        // 2025-03-26 had them, no other version has.
        let batch = json!([request("2025-03-26", "tools/list", json!({}))]).to_string();
        let (code, detail) = stdio.refused(batch.as_bytes(), None);
        assert!(code == -32600 && detail.contains("each message by itself"), "{code} {detail}");
    }
    // Over HTTP as well.
    let batch = json!([request("2025-03-26", "tools/list", json!({}))]).to_string();
    for (body, code, wanted) in
        [(batch.as_str(), -32600, "each message by itself"), ("garbage", -32700, "not JSON"), ("7", -32600, "JSON-RPC")]
    {
        for protocol in WITH_INITIALIZE {
            let request = server.request("POST", "/mcp").header("accept", "application/json, text/event-stream");
            let request = request.header("mcp-protocol-version", *protocol).header("content-type", "application/json");
            let reply = server.send(request.body(body.to_owned()));
            assert_eq!((reply.status, reply.header("content-type")), (400, "application/json"), "{}", reply.text);
            let error = &reply.json()["error"];
            assert_eq!(error["code"], code, "{error}");
            assert!(error["message"].as_str().is_some_and(|it| it.contains(wanted)), "{error}");
        }
    }
    // An empty line and an unknown notification are not answered.
    stdio.send_line(b"");
    stdio.tell(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5}));
    assert_eq!(stdio.ask("tools/list", json!({}))["tools"].as_array().unwrap().len(), TOOLS.len());
}

#[test]
fn the_official_sdks_are_served() {
    let server = Server::on(RUST);
    server.wait_ready();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/mcp-test.sh");
    let semdex = server.home.semdex();
    let mut command = Command::new(script);
    command
        .args([server.base().as_str(), server.home.token().as_str(), crate::support::SEMDEX])
        .current_dir(server.home.root())
        .env("SEMDEX_TOOLS", Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools"));
    for (name, value) in semdex.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.output, ended.errors);
    for part in ["python http auto", "python http legacy", "python stdio auto", "typescript http", "typescript stdio"] {
        assert!(ended.output.contains(&format!("{part}: fine")), "{}", ended.output);
    }
}
