//! Events, metrics, request ids, and the log of slow queries.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, breaking_edit, wait};

/// Longer than any event takes.
const DEADLINE: Duration = Duration::from_secs(300);

/// A client that listens.
struct Stream {
    connection: Box<dyn Connection>,
    text: String,
}

trait Connection: Read + Write {}

impl<T: Read + Write> Connection for T {}

#[derive(Debug)]
struct Event {
    id: String,
    of: String,
    data: Value,
}

impl Stream {
    fn open(server: &Server, query: &str, last: Option<&str>) -> Stream {
        let connection = TcpStream::connect(server.address()).unwrap();
        connection.set_read_timeout(Some(DEADLINE)).unwrap();
        Stream::over(Box::new(connection), &server.home.token(), query, last)
    }

    fn over(mut connection: Box<dyn Connection>, token: &str, query: &str, last: Option<&str>) -> Stream {
        let last = last.map(|it| format!("Last-Event-ID: {it}\r\n")).unwrap_or_default();
        let head = format!(
            "GET /v1/events{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n{last}\r\n"
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut stream = Stream { connection, text: String::new() };
        let head = stream.until("\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
        stream
    }

    /// What comes up to and with this.
    fn until(&mut self, mark: &str) -> String {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.text.find(mark) {
                let rest = self.text.split_off(at + mark.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let read = self.connection.read(&mut buffer).unwrap();
            assert!(read > 0, "the stream ended at {:?}", self.text);
            self.text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    }

    fn next(&mut self) -> Event {
        loop {
            // Chunks have their lengths between.
            let block = self.until("\n\n");
            let field = |name: &str| {
                let line = block.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
                line.unwrap_or_default().to_owned()
            };
            if let Ok(data) = serde_json::from_str(&field("data")) {
                return Event { id: field("id"), of: field("event"), data };
            }
        }
    }

    fn next_of(&mut self, of: &str) -> Event {
        loop {
            let event = self.next();
            if event.of == of {
                return event;
            }
        }
    }
}

/// What `semdex events` prints.
fn printed(home: &Home, arguments: &[&str]) -> (Child, mpsc::Receiver<String>) {
    let mut command = home.semdex();
    command.arg("events").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    (child, receiver)
}

/// Changes a file until this is printed: nobody knows from when on the command listens.
#[track_caller]
fn until_printed(home: &Home, printed: &mpsc::Receiver<String>, is_it: impl Fn(&str) -> bool) -> String {
    let deadline = Instant::now() + DEADLINE;
    for number in 0.. {
        assert!(Instant::now() < deadline, "it was not printed in time");
        home.write("note.txt", &format!("{number}\n"));
        match printed.recv_timeout(Duration::from_millis(100)) {
            Ok(line) if is_it(&line) => return line,
            Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!()
}

#[test]
fn the_command_line_follows_the_events_from_one_server_to_the_next() {
    let server = Server::on(RUST);
    server.wait_ready();
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}"));
    let (mut child, lines) = printed(&server.home, &["--json", "--types", "revision,change"]);
    let line = until_printed(&server.home, &lines, |it| event(it)["data"]["files"] == json!(["note.txt"]));
    let first = event(&line);
    assert_eq!((&first["event"], &first["data"]["cause"]), (&json!("revision"), &json!("outside")), "{first}");
    let (mut told, words) = printed(&server.home, &[]);
    until_printed(&server.home, &words, |it| {
        it.starts_with("workspace at revision ") && it.ends_with(", revision: outside: note.txt")
    });

    // The next server knows no events of this one, and says so.
    let server = server.restart(&["--trust"]);
    let reset = until_printed(&server.home, &lines, |it| event(it)["event"] == "reset");
    assert!(event(&reset)["id"].as_u64() > first["id"].as_u64(), "{reset}");
    until_printed(&server.home, &lines, |it| event(it)["event"] == "revision");

    // Who started the tests may have had SIGINT ignored.
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = wait(&mut child);
    assert!(status.signal() == Some(15) || status.code() == Some(143), "{status}");
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    let is_told = |it: &str| it == "warning: the server has ended" || it.contains("waiting for the next");
    assert!(errors.lines().all(is_told), "{errors}");
    told.kill().unwrap();
    wait(&mut told);

    // Nobody reads: it ends though there is nothing to say.
    let mut command = server.home.semdex();
    let mut child = command.args(["events", "--types", "run"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(wait(&mut child).code(), Some(0));
}

#[test]
fn revisions_rise_over_the_lives_of_a_workspace() {
    let server = Server::on(RUST);
    server.wait_ready();
    let revision = |server: &Server| {
        let (status, reply) = server.post("/v1/open", &json!({"file": "src/lib.rs"}));
        assert_eq!(status, 200, "{reply}");
        reply["meta"]["revision"].as_u64().unwrap()
    };
    let (_, edited) = server.post("/v1/edit", &breaking_edit(false));
    let before = edited["meta"]["revision"].as_u64().unwrap();
    assert_eq!(revision(&server), before);

    // Opened again, by this server and by the next. A client that asks for an event that exists already gets it
    // immediately.
    let closed = server.send(server.request("DELETE", "/v1/workspaces?workspace=workspace"));
    assert_eq!(closed.status, 200, "{}", closed.text);
    let (status, opened) = server.post("/v1/workspaces", &json!({"root": server.home.root()}));
    assert_eq!(status, 200, "{opened}");
    let again = revision(&server);
    assert!(again > before, "{again} after {before}");
    let server = server.restart(&["--trust"]);
    let (status, reply) = server.post("/v1/open", &json!({"file": "src/lib.rs", "min_revision": again, "wait_ms": 0}));
    assert_eq!(status, 200, "{reply}");
    assert!(reply["meta"]["revision"].as_u64().unwrap() > again, "{reply}");
}

#[test]
fn a_client_hears_what_happens_and_resumes_where_it_was() {
    let server = Server::on(RUST);
    let mut all = Stream::open(&server, "", None);
    server.wait_ready();
    let mut changes = Stream::open(&server, "?types=change,revision&workspace=workspace", None);
    let (_, edited) = server.post("/v1/edit", &breaking_edit(false));

    let revision = changes.next();
    let change = changes.next();
    assert_eq!((revision.of.as_str(), change.of.as_str()), ("revision", "change"));
    assert_eq!(revision.data["files"], json!(["src/lib.rs"]));
    assert_eq!(change.data["change"], edited["change"]);
    assert_eq!((&change.data["cause"], &change.data["files"]), (&json!("edit"), &json!(["src/lib.rs"])));
    assert_eq!(change.data["impact"], edited["impact"]);
    assert_eq!(change.data["revision"], edited["meta"]["revision"]);
    assert!(change.id.parse::<u64>().unwrap() > revision.id.parse().unwrap());
    let diagnostics = all.next_of("diagnostics");
    assert_eq!(diagnostics.data["change"], edited["change"]);
    // The reply reports broken places once, in its impact.
    let places = |list: &Value| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|it| json!([it["file"], it["line"], it["code"]])).collect()
    };
    assert_eq!(places(&diagnostics.data["new"]), places(&edited["impact"]["broken"]));

    // What others do is a revision, and no change.
    server.home.write("src/shout.rs", "//! Quiet now.\n");
    let outside = changes.next();
    assert_eq!((outside.of.as_str(), &outside.data["cause"]), ("revision", &json!("outside")));

    let mut again = Stream::open(&server, "?types=change,revision", Some(&revision.id));
    assert_eq!(again.next().id, change.id);
    assert_eq!(again.next().id, outside.id);

    for strange in ["1", "99999999999999999999"] {
        let mut strange = Stream::open(&server, "?types=change", Some(strange));
        let reset = strange.next();
        assert_eq!((reset.of.as_str(), &reset.data["workspace"]), ("reset", &json!("workspace")), "{reset:?}");
        assert!(reset.id.parse::<u64>().unwrap() >= outside.id.parse().unwrap());
    }
}

#[test]
fn the_states_tell_how_a_workspace_comes_up() {
    let server = Server::on(RUST);
    let mut stream = Stream::open(&server, "?types=state", None);
    let mut seen = Vec::new();
    let mut progress = false;
    loop {
        let event = stream.next();
        assert_eq!((event.of.as_str(), &event.data["workspace"]), ("state", &json!("workspace")));
        progress |= event.data["progress"]["total"].is_u64();
        seen.push(event.data["state"].as_str().unwrap().to_owned());
        if seen.last().is_some_and(|it| it == "ready") {
            break;
        }
    }
    assert!(seen.len() > 1 && progress, "{seen:?}");
}

#[test]
fn what_cannot_be_heard_is_refused() {
    let server = Server::shared(RUST);
    let get = |path: &str| server.send(server.request("GET", path));
    let unknown = get("/v1/events?types=state,chang");
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "invalid_request"));
    assert!(unknown.json()["detail"].as_str().unwrap().contains("did you mean `change`"), "{}", unknown.text);
    assert_eq!(get("/v1/events?workspace=other").code(), "unknown_workspace");
    assert_eq!(get("/v1/events?nonsense=1").code(), "invalid_request");
    let odd = server.send(server.request("GET", "/v1/events").header("last-event-id", "x7"));
    assert_eq!(odd.code(), "invalid_request");
    for path in ["/v1/events", "/metrics"] {
        assert_eq!(server.send(server.stranger("GET", path)).code(), "unauthorized", "{path}");
    }
}

#[test]
fn who_takes_nothing_is_cut_off_and_holds_nobody_up() {
    // What a socket in the file system holds is soon full.
    let home = Home::with(RUST);
    let socket = home.path().join("socket");
    let server = home.serve(&["--trust", "--listen", &format!("unix:{}", socket.display())]);
    server.wait_ready();
    let open = |query: &str| {
        let connection = UnixStream::connect(&socket).unwrap();
        connection.set_read_timeout(Some(DEADLINE)).unwrap();
        Stream::over(Box::new(connection), "", query, None)
    };
    let mut stuck = open("");
    let change = |n: usize| {
        let file = format!("{}a.txt", format!("{}/", "x".repeat(200)).repeat(15));
        let (status, reply) =
            server.post("/v1/write", &json!({"name": file, "content": format!("{n}\n"), "mode": "overwrite"}));
        assert_eq!(status, 200, "{reply}");
    };
    let count = std::cell::Cell::new(0);
    server.wait_for(|server| {
        (0..50).for_each(|_| {
            change(count.replace(count.get() + 1));
        });
        server.log().contains("takes no events is cut off")
    });
    // All other clients still receive events, and the disconnected one reads its end.
    let mut other = open("?types=change");
    change(1_000_000);
    assert_eq!(other.next().of, "change");
    let end = stuck.connection.read_to_end(&mut Vec::new());
    assert!(end.is_ok() || end.is_err_and(|it| it.kind() == std::io::ErrorKind::ConnectionReset));
}

#[test]
fn a_listening_client_does_not_hold_up_the_end() {
    let mut server = Server::on(RUST);
    let _stream = Stream::open(&server, "", None);
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(!server.log().contains("requests still in flight"), "it waited for the one who listens: {}", server.log());
}

#[test]
fn the_metrics_count_what_was_asked() {
    let server = Server::on(RUST);
    server.wait_ready();
    server.get("/v1/usages?symbol=greeter::greet");
    server.get("/v1/usages?symbol=greeter::gret");
    server.send(server.request("GET", "/no/such/path"));
    let reply = server.send(server.request("GET", "/metrics"));
    assert_eq!(
        (reply.status, reply.header("content-type").split(';').next()),
        (200, Some("application/openmetrics-text"))
    );
    let value = |name: &str| -> f64 {
        let line = reply.text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {}", reply.text)).parse().unwrap()
    };
    for status in [200, 404] {
        let name = format!("semdex_request_duration_seconds_count{{call=\"usages\",status=\"{status}\"}}");
        assert!((value(&name) - 1.0).abs() < f64::EPSILON, "{}", reply.text);
    }
    assert!(value("semdex_request_duration_seconds_count{call=\"unknown\",status=\"404\"}") > 0.0);
    assert!(value("semdex_memory_bytes{engine=\"semdex\"}") > 1e6);
    assert!(value("semdex_revision") >= 1.0);
    assert!(value("semdex_queue_length{queue=\"writer\"}") >= 0.0);
    for name in
        ["semdex_rescans_total", "semdex_stale_retries_total", "semdex_engine_restarts_total{engine=\"rust-analyzer\"}"]
    {
        assert!(value(name) >= 0.0, "{name}");
    }
    assert!(reply.text.ends_with("# EOF\n"));
    for private in ["greet", "no/such", server.home.root().to_str().unwrap()] {
        assert!(!reply.text.contains(private), "{private} in {}", reply.text);
    }
}

#[test]
fn a_request_has_an_id_in_its_reply_its_problem_and_the_log() {
    let server = Home::with(RUST).serve(&["--trust", "--log", "semdex=debug"]);
    server.wait_ready();
    let own = server.send(server.request("GET", "/v1/usages?symbol=").header("x-request-id", "mine-1"));
    assert_eq!((own.header("x-request-id"), &own.json()["request_id"]), ("mine-1", &json!("mine-1")));
    server.wait_for_log("mine-1");
    let made = server.send(server.stranger("GET", "/v1/status"));
    assert_eq!(made.json()["request_id"], made.header("x-request-id"));
    assert!(!made.header("x-request-id").is_empty());
    let told = server.markdown("/v1/usages?symbol=", None);
    let id = told.header("x-request-id").to_owned();
    assert!(told.text.ends_with(&format!("request `{id}`\n")), "{}", told.text);
    let tool = mcp_call(&server, "refused-1", &json!({"symbol": "greeter::gret"}));
    assert!(tool.contains("unknown_symbol") && tool.contains("request `refused-1`"), "{tool}");
    let odd = server.send(server.request("GET", "/healthz").header("x-request-id", "a b"));
    assert_ne!(odd.header("x-request-id"), "a b");
}

/// The reply to a call of the tool `usages` by a request of this id.
fn mcp_call(server: &Server, id: &str, arguments: &Value) -> String {
    let params = json!({"name": "usages", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = server.request("POST", "/mcp").header("accept", "application/json, text/event-stream");
    let request = request.header("mcp-protocol-version", "2025-11-25").header("x-request-id", id);
    let reply = server.send(request.json(&call));
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_slow_question_says_where_its_time_went() {
    let home = Home::with(RUST);
    let config = home.path().join("slow.toml");
    std::fs::write(&config, "[log]\nslow_ms = 1\n").unwrap();
    let server = home.serve(&["--trust", "--config", config.to_str().unwrap()]);
    let (status, _) = server.get("/v1/usages?symbol=greeter::greet");
    assert_eq!(status, 200);
    server.wait_for_log("a slow question");
    let (_, status) = server.get("/v1/status");
    let slow = status["slow_questions"].as_array().unwrap().iter().find(|it| it["call"] == "usages").unwrap();
    let ms = |name: &str| slow[name].as_f64().unwrap();
    let parts = ["reading", "queue", "barrier", "index", "engine", "computing", "rendering"];
    let sum: f64 = parts.iter().map(|it| ms(&format!("{it}_ms"))).sum();
    assert!(ms("index_ms") > 0.0 && ms("engine_ms") > 0.0, "{slow}");
    assert!((sum - ms("elapsed_ms")).abs() < 0.1, "the parts are the whole: {slow}");
    assert!(slow["request_id"].is_string());
    let shown = server.markdown("/v1/status", None).text;
    let row = shown.lines().find(|it| it.starts_with("- usages at "));
    assert!(row.is_some_and(|it| it.contains(" ms (index ") || it.contains(", index ")), "{shown}");

    // The same of a tool of an agent.
    server.home.write("src/lib.rs", &format!("{}\n", RUST[1].1));
    assert!(mcp_call(&server, "agent-1", &json!({"symbol": "greeter::greet"})).contains("3 usages"));
    let slow = |id: &str| {
        let (_, status) = server.get("/v1/status");
        status["slow_questions"].as_array().unwrap().iter().find(|it| it["request_id"] == id).cloned()
    };
    let of_agent = slow("agent-1").unwrap();
    assert_eq!(of_agent["call"], "usages");
    assert!(of_agent["engine_ms"].as_f64().unwrap() + of_agent["barrier_ms"].as_f64().unwrap() > 0.0, "{of_agent}");
    let log = server.log();
    let logged = log.lines().find(|it| it.contains("a slow question") && it.contains("agent-1"));
    assert!(logged.is_some_and(|it| it.contains("usages") && it.contains("computing=")), "{log}");
    assert!(!server.log().contains("greeter::greet"), "what was asked is nobody's business");
}
