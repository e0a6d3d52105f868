//! A panic or a stalled part costs only the current request, never the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{Home, RUST, Server, breaking_edit};

/// Long enough for a busy machine; a test that meets it has failed.
const DEADLINE: Duration = Duration::from_secs(300);

const SECOND: (&str, &str) = ("semdex.toml", "[rust]\nsecond_database = true\n");

#[test]
fn loose_files_that_come_and_go_and_then_a_dry_run() {
    let all: Vec<(&str, &str)> = RUST.iter().copied().chain([SECOND]).collect();
    let server = Server::on(&all);
    server.wait_ready();
    server.wait_for_log("a second database is there");
    let loose = server.home.root().join("loose");
    for round in 0..20 {
        let file = format!("loose/r{round}.rs");
        // Each question has the writer take the state of the disk.
        for text in ["pub fn one() {}\n", "pub fn one() { two(); }\n"] {
            server.home.write(&file, text);
            assert_eq!(server.post("/v1/describe", &json!({"file": file})).0, 200);
        }
        fs::remove_dir_all(&loose).unwrap();
        let (status, reply) = server.post("/v1/describe", &json!({"file": file}));
        assert_eq!((status, &reply["code"]), (404, &json!("unknown_file")), "{reply}");
        let (status, reply) = server.post("/v1/edit", &breaking_edit(true));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        assert_eq!(reply["impact"]["broken"].as_array().unwrap().len(), 2, "{reply}");
    }
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// Asks every verb about a symbol without waiting, from the start until everything is loaded: no answer claims that it
/// does not exist.
fn ask_from_the_start(server: &Server, package: &str, symbol: &str, nowhere: &str, at: &str) {
    let early = |it: &Value| it["workspaces"][0]["state"] != "ready";
    let mut rounds = 0;
    let deadline = Instant::now() + DEADLINE;
    loop {
        assert!(Instant::now() < deadline, "{}", server.get("/v1/status").1);
        let is_early = early(&server.get("/v1/status").1);
        let relations = ["usages", "callers", "callees", "implementations"];
        let mut replies: Vec<(u16, Value)> =
            relations.iter().map(|it| server.get(&format!("/v1/{it}?symbol={symbol}&wait_ms=0"))).collect();
        let body = |symbol: &str| json!({"symbol": symbol, "wait_ms": 0});
        let with = |mut body: Value, more: &Value| {
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        replies.push(server.get(&format!("/v1/symbols/at?{at}&wait_ms=0")));
        replies.push(server.post("/v1/describe", &body(symbol)));
        replies.push(server.post("/v1/describe", &json!({"package": package, "wait_ms": 0})));
        replies.push(server.post("/v1/impact", &with(body(symbol), &json!({"change": "remove"}))));
        replies.push(server.post("/v1/rename", &with(body(symbol), &json!({"new_name": "Other", "dry_run": true}))));
        let delete = json!({"at": "delete", "replacement": "", "dry_run": true});
        replies.push(server.post("/v1/edit", &with(body(symbol), &delete)));
        for (status, reply) in &replies {
            assert!(matches!(status, 200 | 422 | 503 | 504), "{status} {reply}");
            assert!(*status == 200 || reply["meta"]["complete"] == false, "{status} {reply}");
        }
        for (status, reply) in [
            server.get(&format!("/v1/usages?symbol={nowhere}&wait_ms=0")),
            server.post("/v1/describe", &json!({"package": nowhere, "wait_ms": 0})),
        ] {
            let is_certain = status == 404 && reply["meta"]["complete"] == true;
            assert!(
                is_certain || matches!(status, 503 | 504) && reply["meta"]["complete"] == false,
                "{status} {reply}"
            );
            assert!(!(is_certain && is_early && rounds == 0), "{reply}");
        }
        rounds += 1;
        if !is_early {
            break;
        }
    }
    assert!(rounds > 1, "the first question comes before the load");
    let (status, reply) = server.get(&format!("/v1/usages?symbol={nowhere}"));
    assert_eq!((status, &reply["code"], &reply["meta"]["complete"]), (404, &json!("unknown_symbol"), &json!(true)));
}

#[test]
fn nothing_is_said_to_be_unknown_before_all_is_loaded() {
    let at = "file=src/shout.rs&line=5&column=5";
    ask_from_the_start(&Server::on(RUST), "greeter", "greeter::greet", "greeter::nowhere", at);
    let (symbol, nowhere) = ("example.com/greeter.Greeter.Greet", "example.com/greeter.Nowhere");
    ask_from_the_start(&Server::on(GO), "example.com/greeter", symbol, nowhere, "file=greet.go&line=12&column=20");
}

/// A server in which faults can be set.
fn server_on(files: &[(&str, &str)]) -> Server {
    server_with(files, &[])
}

/// The same, with faults from the start.
fn server_with(files: &[(&str, &str)], faults: &[(&str, &str)]) -> Server {
    let home = Home::with(files);
    let directory = home.path().join("faults");
    fs::create_dir(&directory).unwrap();
    for (point, what) in faults {
        fs::write(directory.join(point), what).unwrap();
    }
    home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &directory)])
}

fn fault(server: &Server, point: &str) -> PathBuf {
    server.home.path().join("faults").join(point)
}

fn set(server: &Server, point: &str, what: &str) {
    fs::write(fault(server, point), what).unwrap();
}

fn revision(server: &Server) -> u64 {
    server.get("/v1/status").1["workspaces"][0]["revision"].as_u64().unwrap()
}

/// Asks until the answer is complete; until then it says so, and is no 404.
fn usages(server: &Server, symbol: &str) -> u64 {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}&wait_ms=1000"));
        if status == 200 && reply["meta"]["complete"] == true {
            return reply["total"].as_u64().unwrap();
        }
        assert!(matches!(status, 200 | 500 | 503 | 504) && reply["meta"]["complete"] != true, "{status} {reply}");
        assert!(Instant::now() < deadline, "{reply}");
    }
}

/// All goes on: questions, changes, and what is worked out in the background.
fn check_all_is_well(server: &Server, point: &str) {
    assert!(!fault(server, point).exists(), "{point} was not met");
    server.wait_ready();
    let before = revision(server);
    assert_eq!(usages(server, "greeter::greet"), 3, "{point}");
    let edit = json!({"file": "src/lib.rs", "search_context": "Hello, ", "replacement": "Hi, "});
    let (status, made) = server.post("/v1/edit", &edit);
    assert_eq!((status, &made["applied"]), (200, &json!(true)), "{point}: {made}");
    let (status, undone) = server.post("/v1/undo", &json!({"change": made["change"]}));
    assert_eq!(status, 200, "{point}: {undone}");
    assert_eq!(revision(server), before + 2, "{point}");
    let (status, reply) = server.post("/v1/edit", &breaking_edit(true));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{point}: {reply}");
    assert_eq!(reply["impact"]["broken"].as_array().unwrap().len(), 2, "{point}: {reply}");
}

#[test]
fn a_panic_of_any_thread_of_rust_costs_one_request_at_most() {
    let all: Vec<(&str, &str)> = RUST.iter().copied().chain([SECOND]).collect();
    let server = server_on(&all);
    server.wait_ready();
    let touch_manifest = || server.home.write("Cargo.toml", &(server.home.read("Cargo.toml") + "\n"));
    let touch_lib = || server.home.write("src/lib.rs", &(server.home.read("src/lib.rs") + "\n"));
    let describe = || server.post("/v1/describe", &json!({"file": "src/lib.rs"}));

    set(&server, "writer.event", "once");
    assert_eq!(describe().0, 200);
    check_all_is_well(&server, "writer.event");

    for point in ["writer.apply", "rust.write"] {
        let before = revision(&server);
        set(&server, point, "once");
        touch_lib();
        let (status, reply) = describe();
        assert_eq!((status, &reply["file"]["content"]), (200, &json!(server.home.read("src/lib.rs"))), "{point}");
        assert_eq!(reply["meta"]["revision"], json!(before + 1), "{point}: {reply}");
        check_all_is_well(&server, point);
    }

    set(&server, "rust.question", "once");
    let (status, reply) = server.get("/v1/symbols?query=greeter");
    assert_eq!((status, &reply["code"]), (500, &json!("internal")), "{reply}");
    check_all_is_well(&server, "rust.question");

    set(&server, "rust.impact", "once");
    let (status, reply) = server.post("/v1/edit", &breaking_edit(true));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    check_all_is_well(&server, "rust.impact");

    // What it would break is not known, so that it must not be made.
    set(&server, "rust.impact", "once");
    let mut strict = breaking_edit(false);
    strict["on_break"] = json!("reject");
    let (status, reply) = server.post("/v1/edit", &strict);
    assert_eq!((status, &reply["code"]), (503, &json!("not_ready")), "{reply}");
    check_all_is_well(&server, "rust.impact");

    set(&server, "rust.write", "once");
    let (status, reply) = server.post("/v1/edit", &strict);
    assert_eq!((status, &reply["code"]), (503, &json!("not_ready")), "{reply}");
    check_all_is_well(&server, "rust.write");

    set(&server, "rust.index", "once");
    touch_lib();
    assert_eq!(describe().0, 200);
    server.wait_for(|it| !fault(it, "rust.index").exists());
    check_all_is_well(&server, "rust.index");

    server.wait_for_log("a second database is there");
    set(&server, "rust.shadow.set", "once");
    touch_lib();
    assert_eq!(describe().0, 200);
    server.wait_for(|it| !fault(it, "rust.shadow.set").exists());
    check_all_is_well(&server, "rust.shadow.set");

    for point in ["rust.load", "rust.prime"] {
        set(&server, point, "once");
        touch_manifest();
        assert_eq!(describe().0, 200);
        server.wait_for(|it| !fault(it, point).exists());
        check_all_is_well(&server, point);
    }
}

#[test]
fn a_request_whose_reply_was_not_kept_is_not_made_twice() {
    let server = server_on(&[("notes.txt", "one\n")]);
    set(&server, "first_reply.keep", "once");
    let append = json!({"name": "notes.txt", "content": "more\n", "mode": "append"});
    let write = |body: &Value, key: &str| {
        let reply = server.send(server.request("POST", "/v1/write").header("idempotency-key", key).json(body));
        (reply.status, reply.json())
    };
    assert_eq!(write(&append, "k").0, 500);
    assert_eq!(server.home.read("notes.txt"), "one\nmore\n");
    let (status, again) = write(&append, "k");
    assert_eq!((status, &again["code"]), (409, &json!("already_applied")), "{again}");
    let made = server.get("/v1/changes").1["changes"][0]["change"].as_str().unwrap().to_owned();
    assert!(again["detail"].as_str().unwrap().contains(&made), "{again}");
    let (status, other) = write(&json!({"name": "notes.txt", "content": "other\n", "mode": "append"}), "k");
    assert_eq!((status, &other["code"]), (422, &json!("invalid_content")), "{other}");
    assert_eq!(server.home.read("notes.txt"), "one\nmore\n");
    assert_eq!(write(&append, "k2").0, 200);
    assert_eq!(server.home.read("notes.txt"), "one\nmore\nmore\n");
}

#[test]
fn a_body_over_which_the_analysis_panics_is_none_without_errors() {
    let server = server_on(RUST);
    server.wait_ready();
    let point = fault(&server, "rust.body");
    set(&server, "rust.body", "always");
    let (status, reply) = server.post("/v1/edit", &breaking_edit(true));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    let unchecked = reply["impact"]["unchecked"].to_string();
    assert!(unchecked.contains("the body of `greet` (src/lib.rs:6)"), "{reply}");
    // Of this one nothing else is known to break.
    let strict = json!({"file": "src/lib.rs", "search_context": "format!(\"Hello, {name}!\")", "replacement": "1", "on_break": "reject"});
    let (status, reply) = server.post("/v1/edit", &strict);
    assert_eq!((status, &reply["code"]), (503, &json!("engine_unavailable")), "{reply}");
    // What was not judged is not kept for what has no errors.
    let whole = server.home.read("src/lib.rs");
    server.home.write("src/lib.rs", &whole.replace("greet(name: &str)", "greet(name: &str, _times: usize)"));
    server.wait_ready();
    fs::remove_file(point).unwrap();
    let mended = json!({"name": "src/lib.rs", "content": whole, "mode": "overwrite", "dry_run": true});
    let (status, reply) = server.post("/v1/write", &mended);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    assert_eq!(reply["diagnostics"]["fixed"].as_array().unwrap().len(), 2, "{reply}");
    server.home.write("src/lib.rs", &whole);
    // The write is seen before revisions are counted.
    assert_eq!(usages(&server, "greeter::greet"), 3);
    check_all_is_well(&server, "rust.body");
}

#[test]
fn a_panic_at_the_start_costs_nothing() {
    let all: Vec<(&str, &str)> = RUST.iter().copied().chain([SECOND]).collect();
    let points = ["writer.begin", "rust.write", "rust.load", "rust.prime", "rust.index", "rust.shadow.make"];
    let faults = points.map(|it| (it, "once"));
    let server = server_with(&all, &faults);
    assert_eq!(usages(&server, "greeter::greet"), 3);
    for point in points {
        server.wait_for(|it| !fault(it, point).exists());
    }
    server.wait_for_log("a second database is there");
    check_all_is_well(&server, "rust.shadow.make");
}

#[test]
fn a_change_is_made_or_not_wherever_the_writer_panics() {
    let server = server_on(RUST);
    server.wait_ready();
    let old = server.home.read("src/lib.rs");
    let new = old.replace("Hello, ", "Hi, ");
    let edit = json!({"file": "src/lib.rs", "search_context": "Hello, ", "replacement": "Hi, "});
    for (point, is_made) in [
        ("writer.change.recorded", false),
        ("writer.change.written", true),
        ("writer.change.settled", true),
        ("writer.apply", true),
    ] {
        let before = revision(&server);
        let changes = server.get("/v1/changes").1["total"].as_u64().unwrap();
        set(&server, point, "once");
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["code"]), (500, &json!("internal")), "{point}: {reply}");
        let (status, seen) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
        let expected = if is_made { &new } else { &old };
        assert_eq!((status, &seen["file"]["content"]), (200, &json!(expected)), "{point}: {seen}");
        assert_eq!(&server.home.read("src/lib.rs"), expected, "{point}");
        assert_eq!(seen["meta"]["revision"], json!(before + u64::from(is_made)), "{point}: {seen}");
        let (_, after) = server.get("/v1/changes");
        assert_eq!(after["total"], json!(changes + u64::from(is_made)), "{point}: {after}");
        if is_made {
            let (status, undone) = server.post("/v1/undo", &json!({"change": after["changes"][0]["change"]}));
            assert_eq!((status, server.home.read("src/lib.rs")), (200, old.clone()), "{point}: {undone}");
        }
        check_all_is_well(&server, point);
    }
}

#[test]
fn overlays_outlive_a_panic() {
    let server = server_on(RUST);
    server.wait_ready();
    let disk = server.home.read("src/lib.rs");
    let shown = format!("{disk}\npub fn more() {{\n    let _ = greet(\"\");\n}}\n");
    let put = |body: &Value| {
        let request = server.request("PUT", "/v1/overlays/src%2Flib.rs").json(body);
        let reply = server.send(request);
        (reply.status, reply.json())
    };
    assert_eq!(put(&json!({"content": shown})).0, 200);
    assert_eq!(usages(&server, "greeter::greet"), 4);
    let before = revision(&server);
    for point in ["writer.event", "rust.write"] {
        set(&server, point, "once");
        server.home.write("src/other.rs", point);
        let (status, reply) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
        assert_eq!((status, &reply["file"]["content"]), (200, &json!(shown)), "{point}: {reply}");
        assert_eq!((&reply["file"]["overlay"], server.home.read("src/lib.rs")), (&json!(true), disk.clone()));
        assert_eq!(usages(&server, "greeter::greet"), 4, "{point}");
    }
    assert_eq!(revision(&server), before + 2, "a file came, and was changed");
    // One that was being put.
    set(&server, "writer.apply", "once");
    let (status, reply) = put(&json!({"content": disk.replace("Hello, ", "Hi, ")}));
    assert_eq!((status, &reply["code"]), (500, &json!("internal")), "{reply}");
    let (_, seen) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
    let (_, listed) = server.get("/v1/overlays");
    assert_eq!(listed["overlays"][0]["hash"], seen["file"]["hash"], "{listed} {seen}");
    let gone = server.send(server.request("DELETE", "/v1/overlays/src%2Flib.rs"));
    assert_eq!(gone.status, 200, "{}", gone.text);
    let (_, seen) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
    assert_eq!((&seen["file"]["content"], seen["file"].get("overlay")), (&json!(disk), None));
    check_all_is_well(&server, "writer.apply");
}

#[test]
fn what_panics_again_and_again_is_said_and_heals() {
    let server = server_on(RUST);
    server.wait_ready();
    for point in ["writer.event", "rust.write"] {
        let is_writer = point == "writer.event";
        set(&server, point, "always");
        let deadline = Instant::now() + DEADLINE;
        loop {
            server.home.write("src/lib.rs", &(server.home.read("src/lib.rs") + "\n"));
            let (status, reply) = server.get("/v1/usages?symbol=greeter::greet&wait_ms=0");
            assert_eq!((status, &reply["code"]), (503, &json!("not_ready")), "{point}: {reply}");
            assert_eq!(reply["meta"]["complete"], false, "{point}: {reply}");
            let (status, opened) = server.post("/v1/open", &json!({"file": "src/lib.rs", "wait_ms": 0}));
            // The text alone needs no engine.
            assert_eq!(status, if is_writer { 503 } else { 200 }, "{point}: {opened}");
            let (_, told) = server.get("/v1/status");
            let workspace = &told["workspaces"][0];
            let is_told = workspace["missing"].as_array().unwrap().iter().any(|it| it["code"] == "engine_restarting");
            if workspace["state"] == "degraded" && is_told {
                break;
            }
            assert!(Instant::now() < deadline, "{point}: {told}");
        }
        fs::remove_file(fault(&server, point)).unwrap();
        check_all_is_well(&server, point);
    }
}

#[test]
fn a_writer_that_stands_still_is_told_and_does_not_hold_up_the_end() {
    let mut server = server_on(RUST);
    server.wait_ready();
    set(&server, "writer.event", "stall");
    let started = Instant::now();
    let (status, reply) = server.get("/v1/usages?symbol=greeter::greet&wait_ms=0");
    // A query is cancelled by its own deadline or by the deadline of its turn.
    let says_why = |status: u16, reply: &Value| {
        matches!((status, reply["code"].as_str()), (504, Some("timeout")) | (503, Some("not_ready")))
    };
    assert!(says_why(status, &reply) && reply["meta"]["complete"] == false, "{status} {reply}");
    let took = started.elapsed();
    assert!(took < DEADLINE / 2, "{took:?}");
    // All of them concurrently, since each waits for its own deadline.
    let (base, token) = (server.base(), server.home.token());
    let ask = |method: &'static str, path: &'static str, body: Value| {
        let (base, token) = (base.clone(), token.clone());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = reqwest::Client::builder().no_proxy().build().unwrap();
                let request = client.request(method.parse().unwrap(), format!("{base}{path}")).bearer_auth(token);
                let request = if body.is_null() { request } else { request.json(&body) };
                let reply = request.send().await.unwrap();
                (path, reply.status().as_u16(), reply.json::<Value>().await.unwrap())
            })
        })
    };
    let edit = json!({"file": "src/lib.rs", "search_context": "Hello, ", "replacement": "Hi, "});
    let asked = [
        ask("POST", "/v1/edit", edit.clone()),
        ask("POST", "/v1/open", json!({"file": "src/lib.rs"})),
        ask("PUT", "/v1/overlays/a.txt", json!({"content": "a"})),
        ask("DELETE", "/v1/overlays/a.txt", Value::Null),
        ask("GET", "/v1/changes", Value::Null),
        ask("POST", "/v1/undo", json!({"change": "01ARZ3NDEKTSV4RRFFQ69G5FAV"})),
        ask("GET", "/v1/diagnostics?wait_ms=100", Value::Null),
    ];
    for it in asked {
        let (path, status, reply) = it.join().unwrap();
        assert!(says_why(status, &reply), "{path}: {status} {reply}");
    }
    server.wait_for(|it| it.get("/v1/status").1["workspaces"][0]["state"] == "degraded");
    // Those that were given up are not made once the writer goes on.
    fs::remove_file(fault(&server, "writer.event")).unwrap();
    server.wait_ready();
    assert!(server.home.read("src/lib.rs").contains("Hello, "));
    assert_eq!(server.get("/v1/changes").1["total"], 0);
    assert_eq!(server.post("/v1/edit", &edit).0, 200);

    set(&server, "writer.event", "stall");
    server.home.write("src/more.rs", "");
    server.wait_for(|it| it.get("/v1/overlays").0 == 200);
    server.signal(Signal::TERM);
    assert!(server.wait().code().is_some());
}

#[test]
fn a_panic_of_any_task_of_go_costs_one_request_at_most() {
    let points = ["go.supervisor", "go.filler", "go.checker"];
    let faults = points.map(|it| (it, "once"));
    let server = server_with(GO, &faults);
    let symbol = "example.com/greeter.Greeter.Greet";
    assert_eq!(usages(&server, symbol), 3);
    for point in points {
        server.wait_for(|it| !fault(it, point).exists());
    }
    server.wait_ready();
    let more = "package greeter\n\nfunc More(g *Greeter) {\n\tg.Greet(\"\")\n}\n";
    set(&server, "go.feed", "once");
    server.home.write("more.go", more);
    assert_eq!(usages(&server, symbol), 4);
    assert!(!fault(&server, "go.feed").exists());
    // Under the lock of the state that gopls was sent: the next gopls receives everything.
    set(&server, "go.documents", "once");
    server.home.write("more.go", "package greeter\n");
    let _ = server.get("/v1/diagnostics?file=more.go");
    server.wait_for(|it| !fault(it, "go.documents").exists());
    assert_eq!(usages(&server, symbol), 3);
    server.wait_ready();
}

#[test]
fn a_panic_of_what_runs_a_language_server_costs_one_request_at_most() {
    let home = Home::with(&[
        ("pyproject.toml", "[project]\nname = \"shop\"\n"),
        ("shop.py", "def sell():\n    pass\n"),
        ("main.py", "from shop import sell\n\nsell()\n"),
    ]);
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    fs::write(faults.join("lsp.supervisor"), "once").unwrap();
    let path = format!("{}:{}", crate::language_servers::tools().display(), std::env::var("PATH").unwrap());
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults), ("PATH", Path::new(&path))]);
    let symbol = "shop.py::sell";
    assert_eq!(usages(&server, symbol), 2);
    assert!(!fault(&server, "lsp.supervisor").exists());
    // While it watches the server, which is lost with it.
    set(&server, "lsp.life", "once");
    server.wait_for(|it| !fault(it, "lsp.life").exists());
    server.home.write("more.py", "import shop\n\nshop.sell()\n");
    assert_eq!(usages(&server, symbol), 3);
    server.wait_ready();
}

#[test]
fn a_panic_of_the_journal_or_the_watcher_costs_one_request_at_most() {
    let server = server_on(RUST);
    server.wait_ready();
    let before = server.home.read("src/lib.rs");
    let edit = json!({"file": "src/lib.rs", "search_context": "Hello, ", "replacement": "Hi, "});
    set(&server, "journal.job", "once");
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["code"]), (500, &json!("internal")), "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), before, "nothing was changed");
    check_all_is_well(&server, "journal.job");
    set(&server, "journal.job", "once");
    let (status, reply) = server.get("/v1/changes");
    assert_eq!((status, &reply["code"]), (500, &json!("internal")), "{reply}");
    assert_eq!(server.get("/v1/changes").1["total"], 2, "made and undone");
    check_all_is_well(&server, "journal.job");

    set(&server, "watch.event", "once");
    server.home.write("src/lib.rs", &format!("{before}\n"));
    let (status, reply) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
    assert_eq!((status, &reply["file"]["content"]), (200, &json!(format!("{before}\n"))), "{reply}");
    check_all_is_well(&server, "watch.event");
}

#[test]
fn a_workspace_that_panics_again_and_again_can_be_closed_and_opened_anew() {
    let server = server_on(RUST);
    server.wait_ready();
    let reached = format!("/v1/symbols?query=greet&wait_ms=300&min_revision={}", revision(&server) + 1);
    set(&server, "writer.event", "once");
    let (status, reply) = server.get(&reached);
    assert_eq!((status, &reply["code"]), (503, &json!("revision_not_reached")), "{reply}");
    assert!(!fault(&server, "writer.event").exists());

    set(&server, "writer.event", "always");
    server.wait_for(|it| {
        let _ = it.get("/v1/symbols?query=greet&wait_ms=0");
        it.get("/v1/status").1["workspaces"][0]["state"] == "degraded"
    });
    let gone = server.send(server.request("DELETE", "/v1/workspaces?workspace=workspace"));
    assert_eq!(gone.status, 200, "{}", gone.text);
    let (status, reply) = server.get("/v1/symbols?query=greet");
    assert_eq!((status, &reply["code"]), (404, &json!("unknown_workspace")), "{reply}");
    fs::remove_file(fault(&server, "writer.event")).unwrap();
    let (status, reply) = server.post("/v1/workspaces", &json!({"root": server.home.root()}));
    assert_eq!(status, 200, "{reply}");
    check_all_is_well(&server, "writer.event");
}

#[test]
fn a_file_opens_while_its_engine_stands_still() {
    let server = server_on(RUST);
    server.wait_ready();
    let at_once = json!({"file": "src/lib.rs", "wait_ms": 0});
    set(&server, "rust.question", "stall");
    let (status, reply) = server.post("/v1/open", &at_once);
    fs::remove_file(fault(&server, "rust.question")).unwrap();
    assert_eq!(status, 200, "{reply}");
    assert!(reply["skeleton"].as_str().unwrap().contains("pub fn greet"), "{reply}");
    assert_eq!((&reply["meta"]["complete"], &reply["meta"]["missing"][0]["code"]), (&json!(false), &json!("indexing")));
    let (status, reply) = server.post("/v1/open", &at_once);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
}
