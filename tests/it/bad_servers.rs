//! Language servers that crash, hang, return wrong answers or answer late: a server of the tests that does so on
//! request.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::language_servers::{broken, engine, errors, usages};
use crate::support::{Home, Server};

/// A workspace that the server of the tests serves, and where it reads how it is to behave.
pub fn fake(mode: &str, more: &[(&str, &str)]) -> Server {
    fake_with("", mode, more)
}

/// The same with more keys of its language.
fn fake_with(keys: &str, mode: &str, more: &[(&str, &str)]) -> Server {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let mut files = vec![
        ("lib.py", "def greet(name):\n    return name\n"),
        ("main.py", "import lib; greet(1)\n# greet\ngreet(2)\n"),
    ];
    files.extend(more);
    let home = Home::with(&files);
    let path = home.path();
    let settings = format!(
        "[languages.python]\ncommand = ['python3', '{}']\nreadiness = {{}}\ndeadline_s = 2\nformat = true\n\
         {keys}env = {{FAKE_MODE = '{}', FAKE_PIDS = '{}', FAKE_LOG = '{}'}}\n",
        program.display(),
        path.join("mode").display(),
        path.join("pids").display(),
        path.join("formatted").display(),
    );
    home.write("semdex.toml", &settings);
    std::fs::write(path.join("mode"), mode).unwrap();
    home.serve(&["--trust"])
}

/// The servers of the tests that live.
fn living(server: &Server) -> Vec<String> {
    let pids = std::fs::read_to_string(server.home.path().join("pids")).unwrap_or_default();
    let is_alive =
        |pid: &&str| std::fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|it| !it.contains("State:\tZ"));
    pids.lines().filter(is_alive).map(str::to_owned).collect()
}

/// Ends the servers of the tests that live.
pub fn kill_all(server: &Server) {
    for pid in living(server) {
        let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
        // A process that has just ended is gone as well.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

pub fn set_mode(server: &Server, mode: &str) {
    std::fs::write(server.home.path().join("mode"), mode).unwrap();
}

/// How many were started so far.
fn started(server: &Server) -> usize {
    std::fs::read_to_string(server.home.path().join("pids")).unwrap_or_default().lines().count()
}

#[test]
fn a_server_that_misbehaves_is_never_believed() {
    let mut server = fake("mean", &[]);
    let expected = ["main.py:1 call", "main.py:3 call"];
    let (rounds, right) = (Cell::new(0), Cell::new(0));
    let ask = |server: &Server| {
        let asks_for_usages = rounds.replace(rounds.get() + 1) % 2 == 0;
        let (path, total) = match asks_for_usages {
            true => ("/v1/usages?symbol=lib.py::greet&wait_ms=1000", 2),
            false => ("/v1/diagnostics?file=main.py&wait_ms=1000", 0),
        };
        right.set(right.get() + u32::from(is_honest(server, path, total)));
    };
    (0..100).for_each(|_| ask(&server));
    // After several failed starts in a row it pauses, and nothing is answered during the pause.
    server.wait_for(|it| {
        ask(it);
        right.get() > 5
    });
    // Once it behaves, it is believed again.
    std::fs::write(server.home.path().join("mode"), "sound").unwrap();
    server.wait_for(|it| it.get("/v1/usages?symbol=lib.py::greet").1["meta"]["complete"] == true);
    assert_eq!(usages(&server, "lib.py::greet"), expected);
    let edit = json!({"symbol": "lib.py::greet", "at": "whole", "replacement": "def hail(name):\n    return name\n", "dry_run": true});
    // Usages may be known from before; it may rest for a while after so many bad lives.
    server.wait_for(|it| it.post("/v1/edit", &edit).1["meta"]["complete"] == true);
    let (_, planned) = server.post("/v1/edit", &edit);
    assert_eq!(broken(&planned), ["main.py:1", "main.py:3"], "{planned}");
    assert_eq!(living(&server).len(), 1);
    server.signal(rustix::process::Signal::KILL);
    server.wait();
    server.wait_for(|it| living(it).is_empty());
}

#[test]
fn what_others_write_is_never_answered_stale() {
    let server = fake("sound", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    for round in 0..100 {
        let calls = round % 7 + 1;
        server.home.write("main.py", &"greet(1)\n".repeat(calls));
        let (status, reply) = server.get("/v1/usages?symbol=lib.py::greet");
        assert_eq!(
            (status, &reply["total"], &reply["meta"]["complete"]),
            (200, &json!(calls), &json!(true)),
            "{reply}"
        );
    }
    let server = server.restart(&["--trust"]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 99 % 7 + 1);
    assert_eq!(living(&server).len(), 1, "the first ended with its server");
}

/// What is missing from `open` if nothing is waited for.
pub fn lacks_at_once(server: &Server, file: &str) -> Vec<String> {
    let opened = server.send(server.request("POST", "/v1/open").json(&json!({"file": file}))).json();
    let missing = opened["meta"]["missing"].as_array().unwrap_or_else(|| panic!("{opened}"));
    missing.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

/// Says of an answer that it is either right or honest: as many as there are, or not complete and with a reason.
#[track_caller]
fn is_honest(server: &Server, path: &str, right: usize) -> bool {
    let reply = server.send(server.request("GET", path));
    let value = reply.json();
    let is_complete = reply.status == 200 && value["meta"]["complete"] == true;
    if is_complete {
        assert_eq!(value["total"], right, "{value}");
    } else {
        let has_reason = value["meta"]["missing"].as_array().is_some_and(|it| !it.is_empty());
        assert!(reply.status >= 500 || has_reason, "{value}");
    }
    is_complete
}

#[test]
fn a_server_that_dies_at_each_question_is_never_ready_and_not_started_for_ever() {
    let server = fake("dies", &[]);
    for _ in 0..8 {
        assert!(!is_honest(&server, "/v1/usages?symbol=lib.py::greet&wait_ms=1000", 2));
        let state = engine(&server, "python")["state"].clone();
        assert_ne!(state, "ready");
        let (_, status) = server.get("/v1/status");
        let whole = status["workspaces"][0]["state"].as_str().unwrap().to_owned();
        assert!(["ready", "degraded"].contains(&&*whole), "{status}");
    }
    assert!(started(&server) <= 5, "{} were started", started(&server));
    server.wait_for(|it| engine(it, "python")["state"] == "broken");
    assert!(started(&server) <= 5, "{} were started", started(&server));
}

#[test]
fn a_server_that_hangs_is_not_ready() {
    let server = fake("sound", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    assert_eq!(engine(&server, "python")["state"], "ready");
    set_mode(&server, "hangs");
    assert!(!is_honest(&server, "/v1/diagnostics?file=main.py&wait_ms=100", 0));
    assert_ne!(engine(&server, "python")["state"], "ready");
    set_mode(&server, "sound");
    server.wait_for(|it| it.get("/v1/usages?symbol=lib.py::greet").1["meta"]["complete"] == true);
    server.wait_for(|it| engine(it, "python")["state"] == "ready");
}

#[test]
fn a_server_that_never_answers_holds_nobody_up() {
    let files = [("a.nim", "proc greet()\n"), ("notes.txt", "x\n")];
    let server = fake("mute", &files);
    for path in ["/v1/usages?symbol=lib.py::greet&wait_ms=300", "/v1/diagnostics?file=main.py&wait_ms=300"] {
        assert!(!is_honest(&server, path, 0), "{path}");
    }
    let (_, status) = server.get("/v1/status");
    assert_eq!(status["workspaces"][0]["state"], "ready", "{status}");
    assert_eq!(engine(&server, "python")["state"], "starting", "{status}");
}

#[test]
fn a_server_that_takes_too_much_memory_while_it_starts_is_ended() {
    let server = fake_with("memory_mib = 150\n", "greedy", &[]);
    assert!(!is_honest(&server, "/v1/usages?symbol=lib.py::greet&wait_ms=1000", 2));
    server.wait_for(|it| it.get("/v1/status").1.to_string().contains("more than 150 MiB"));
    set_mode(&server, "sound");
    server.wait_for(|it| it.get("/v1/usages?symbol=lib.py::greet").1["meta"]["complete"] == true);
}

#[test]
fn what_a_server_gives_back_is_asked_again() {
    let server = fake("modified", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
}

#[test]
fn a_server_that_refuses_what_it_answered_before_begins_anew() {
    let server = fake("sound", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    set_mode(&server, "stuck");
    let round = Cell::new(0);
    server.wait_for(|it| {
        // Each time another question.
        round.set(round.get() + 1);
        it.home.write("lib.py", &format!("{}def greet(name):\n    return name\n", "#\n".repeat(round.get())));
        is_honest(it, "/v1/usages?symbol=lib.py::greet", 2)
    });
    assert_eq!(started(&server), 2, "after {} questions", round.get());
    assert!(round.get() > 1);
}

#[test]
fn what_a_server_does_not_bear_to_be_cancelled_is_not() {
    let key = "uncancelled = ['textDocument/references']\n";
    let [cancelled, kept] = ["", key].map(|keys| {
        let server = fake_with(keys, "slow", &[]);
        let noted = server.home.path().join("formatted");
        go_away(&server, "GET /v1/usages?symbol=lib.py::greet", "", &noted);
        // The next query is read after everything that was sent before.
        assert_eq!(usages(&server, "lib.py::greet").len(), 2);
        std::fs::read_to_string(&noted).unwrap()
    });
    assert!(cancelled.contains("cancelled"), "{cancelled}");
    assert!(kept.contains("asked") && !kept.contains("cancelled"), "{kept}");
}

#[test]
fn a_server_that_tells_a_part_is_found_out() {
    let server = fake("partial", &[]);
    // What it leaves out leads to the declaration.
    assert_eq!(usages(&server, "lib.py::greet"), ["main.py:1 call", "main.py:3 call"]);
    let server = fake("ignorant", &[]);
    let (status, reply) = server.get("/v1/usages?symbol=lib.py::greet&wait_ms=500");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    assert_eq!(reply["possible"].as_array().unwrap().len(), 2, "{reply}");
    let (_, callees) = server.get("/v1/callees?symbol=lib.py::greet&wait_ms=500");
    assert_eq!(callees["meta"]["complete"], true, "it calls nothing: {callees}");
}

#[test]
fn calls_that_lead_nowhere_are_said_to() {
    let server = fake("ignorant", &[("more.py", "def twice():\n    return greet(1)\n")]);
    let (status, reply) = server.get("/v1/callees?symbol=more.py::twice&wait_ms=500");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    let (_, at) = server.get("/v1/symbols/at?file=more.py&line=2&column=12&wait_ms=500");
    assert_eq!(at["meta"]["complete"], false, "{at}");
}

#[test]
fn a_server_that_says_nothing_of_what_it_should_know_is_not_believed() {
    let server = fake("empty", &[("bad.py", "nothing_such(1)\n")]);
    for path in ["/v1/diagnostics?file=bad.py&wait_ms=500", "/v1/usages?symbol=lib.py::greet&wait_ms=500"] {
        assert!(!is_honest(&server, path, 1), "{path}");
    }
}

#[test]
fn a_push_that_comes_late_is_not_taken_for_the_new_text() {
    let server = fake("pushes", &[]);
    for round in 0..3 {
        let (text, wanted) = match round % 2 {
            0 => ("greet(1)\nhail(2)\n", 1),
            _ => ("greet(1)\ngreet(2)\n", 0),
        };
        server.home.write("main.py", text);
        let found = errors(&server, "/v1/diagnostics?file=main.py");
        assert_eq!(found.len(), wanted, "round {round}: {found:?}");
    }
    let edit = json!({"file": "main.py", "search_context": "hail(2)", "replacement": "greet(2)", "dry_run": true});
    let (_, planned) = server.post("/v1/edit", &edit);
    assert_eq!(planned["diagnostics"]["fixed"].as_array().map(Vec::len), Some(1), "{planned}");
    assert_eq!(errors(&server, "/v1/diagnostics?file=main.py").len(), 1, "nothing of it stays");
}

/// Asks, and does not wait for the answer once this file is there.
fn go_away(server: &Server, request: &str, body: &str, until: &Path) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address(),
        server.home.token(),
        body.len(),
    )
    .unwrap();
    server.wait_for(|_| until.exists());
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let _ = stream.read(&mut [0; 1]);
}

#[test]
fn who_goes_away_in_the_middle_leaves_no_text_behind() {
    let server = fake("formats", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    let body =
        json!({"file": "main.py", "search_context": "greet(2)", "replacement": "greet(2)\ngreet(3)", "format": true});
    go_away(&server, "POST /v1/edit", &body.to_string(), &server.home.path().join("formatted"));
    assert_eq!(usages(&server, "lib.py::greet"), ["main.py:1 call", "main.py:3 call"]);
    assert_eq!(server.home.read("main.py"), "import lib; greet(1)\n# greet\ngreet(2)\n");
}

#[test]
fn what_is_installed_meanwhile_starts_the_server_anew() {
    let server = fake("sound", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    assert_eq!(started(&server), 1);
    server.home.write(".venv/lib/python3/site-packages/thing/__init__.py", "");
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    assert_eq!(started(&server), 2);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    assert_eq!(started(&server), 2, "once");
    server.wait_for(|it| living(it).len() == 1);
}

/// A language of the configuration alone, and another program for YAML, both the server of the tests.
fn several(mode: &str) -> Server {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let server = fake("sound", &[("a.nim", "proc greet()\n"), ("ci.yaml", "greet: 1\n")]);
    let path = server.home.path();
    let row = |name: &str, more: &str| {
        format!(
            "[languages.{name}]\ncommand = ['python3', '{}']\n{more}\nenv = {{FAKE_MODE = '{}', FAKE_PIDS = '{}'}}\n",
            program.display(),
            path.join(format!("mode-{name}")).display(),
            path.join(format!("pids-{name}")).display(),
        )
    };
    for name in ["nim", "yaml"] {
        std::fs::write(path.join(format!("mode-{name}")), mode).unwrap();
    }
    let config = server.home.read("semdex.toml") + &row("nim", "extensions = {nim = 'nim'}") + &row("yaml", "");
    server.home.write("semdex.toml", &config);
    server.restart(&["--trust"])
}

#[test]
fn engines_fail_apart() {
    let server = several("mute");
    // Another engine that cannot answer takes nothing from one that can.
    let (status, reply) = server.get("/v1/usages?symbol=greet&wait_ms=3000");
    assert_eq!((status, &reply["total"]), (200, &json!(2)), "{reply}");
    // Nobody asks the server of a language whose files are asked about by name alone.
    let (_, found) = server.get("/v1/symbols?query=greet&wait_ms=1000");
    assert_eq!(found["symbols"][0]["path"], "lib.py::greet", "{found}");
    assert!(!server.home.path().join("pids-yaml").exists());
    assert_eq!(engine(&server, "yaml")["state"], "idle");
    // The answers of a server that is still starting are unknown, not empty.
    let reply = server.send(server.request("GET", "/v1/usages?symbol=a.nim::greet&wait_ms=300"));
    assert_eq!((reply.status, reply.code()), (503, "not_ready".to_owned()), "{}", reply.text);
    assert_eq!(reply.json()["meta"]["complete"], false, "{}", reply.text);
}

#[test]
fn a_language_whose_command_is_not_trusted_says_so() {
    let settings = "[languages.nim]\ncommand = ['no-such']\nextensions = {nim = 'nim'}\n";
    let server = Home::with(&[("a.nim", "proc greet()\n"), ("semdex.toml", settings)]).serve(&["--no-trust"]);
    let (_, reply) = server.get("/v1/diagnostics?file=a.nim");
    let codes: Vec<&Value> = reply["meta"]["missing"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert!(codes.contains(&&json!("untrusted")) && !codes.contains(&&json!("engine_missing")), "{reply}");
    assert_eq!(lacks_at_once(&server, "a.nim"), ["untrusted"]);
    assert_eq!(engine(&server, "nim")["state"], "missing");
    let status = server.markdown("/v1/status", None).text;
    assert!(status.contains(": not started: not trusted\n"), "{status}");
}

#[test]
fn a_server_that_is_down_is_not_said_to_be_coming() {
    let server = fake("dies", &[]);
    server.wait_for(|it| {
        assert!(!is_honest(it, "/v1/usages?symbol=lib.py::greet&wait_ms=1000", 2));
        engine(it, "python")["state"] == "broken"
    });
    // It may be restarted in between.
    server.wait_for(|it| lacks_at_once(it, "lib.py") == ["engine_down"]);
}

#[test]
fn the_status_names_every_language() {
    let server = Home::with(&[("a.js", "export const x = 1;\n"), ("b.cpp", "int x;\n"), ("c.h", "int y;\n")])
        .serve(&["--trust"]);
    server.wait_loaded();
    for language in ["javascript", "cpp", "c"] {
        engine(&server, language);
    }
    let (_, status) = server.get("/v1/status");
    let engines = status["workspaces"][0]["engines"].as_array().unwrap();
    assert!(!engines.iter().any(|it| it["language"] == "typescript"), "{status}");
}
