//! Answers describe the disk: every change before a request is in its answer. And engines that die.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::language_servers::engine;
use crate::read::GO;
use crate::support::{RUST, Server, breaking_edit};

const DEADLINE: Duration = Duration::from_secs(120);

fn total(server: &Server, symbol: &str) -> u64 {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["total"].as_u64().unwrap()
}

#[test]
fn every_change_from_outside_is_seen_at_once() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let server = Server::on(&all);
    server.wait_ready();
    let root = server.home.root();
    let (rust, go) = ("greeter::greet", "example.com/greeter.Greeter.Greet");
    assert_eq!((total(&server, rust), total(&server, go)), (3, 3));
    let more = |times: usize| {
        let calls = "    let _ = greet(\"\");\n".repeat(times);
        (format!("use crate::greet;\n\npub fn more() {{\n{calls}}}\n"), {
            let calls = "\tg.Greet(\"\")\n".repeat(times);
            format!("package greeter\n\nfunc More(g *Greeter) {{\n{calls}}}\n")
        })
    };
    // A new file that a crate includes, in a new directory; then in place, then renamed over.
    fs::write(root.join("src/lib.rs"), format!("{}\npub mod deep;\n", server.home.read("src/lib.rs"))).unwrap();
    for times in 1..12 {
        let (rust_text, go_text) = more(times);
        server.home.write("src/deep/mod.rs", "pub mod more;\n");
        if times % 2 == 0 {
            server.home.write("src/deep/more.rs", &rust_text);
            server.home.write("more.go", &go_text);
        } else {
            for (name, text) in [("src/deep/more.rs", &rust_text), ("more.go", &go_text)] {
                server.home.write("other/tmp", text);
                fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                fs::rename(root.join("other/tmp"), root.join(name)).unwrap();
            }
        }
        assert_eq!(total(&server, rust), 4 + times as u64, "Rust, {times}");
        assert_eq!(total(&server, go), 3 + times as u64, "Go, {times}");
    }
    // Removed again, as a directory.
    fs::remove_dir_all(root.join("src/deep")).unwrap();
    fs::remove_file(root.join("more.go")).unwrap();
    assert_eq!((total(&server, rust), total(&server, go)), (3, 3));
    let (status, reply) = server.post("/v1/open", &json!({"file": "src/deep/more.rs"}));
    assert_eq!((status, &reply["code"]), (404, &json!("unknown_file")));
    // A new modification time is not a change.
    let (_, before) = server.get("/v1/diagnostics?file=src/lib.rs");
    fs::File::open(root.join("src/lib.rs")).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    let (_, after) = server.get("/v1/diagnostics?file=src/lib.rs");
    assert_eq!(before["meta"]["revision"], after["meta"]["revision"]);
}

#[test]
fn a_checkout_is_seen_at_once() {
    let server = Server::on(RUST);
    server.wait_ready();
    let root = server.home.root();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let done = Command::new("git").current_dir(&root).args(identity).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    git(&["checkout", "-qb", "other"]);
    server.home.write("src/shout.rs", "pub fn shout() {}\n");
    fs::rename(root.join("src/shout.rs"), root.join("src/loud.rs")).unwrap();
    let lib = server.home.read("src/lib.rs").replace("mod shout", "mod loud");
    server.home.write("src/lib.rs", &lib);
    git(&["add", "."]);
    git(&["commit", "-qm", "two"]);
    for _ in 0..5 {
        git(&["checkout", "-q", "main"]);
        assert_eq!(total(&server, "greeter::greet"), 3);
        git(&["checkout", "-q", "other"]);
        assert_eq!(total(&server, "greeter::greet"), 1);
    }
}

#[test]
fn a_manifest_is_read_again() {
    let server = Server::on(RUST);
    server.wait_ready();
    server.home.write("helper/Cargo.toml", "[package]\nname = \"helper\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    server.home.write("helper/src/lib.rs", "pub fn help() {}\n");
    let manifest = server.home.read("Cargo.toml");
    server.home.write("Cargo.toml", &format!("{manifest}\n[dependencies]\nhelper = {{ path = \"helper\" }}\n"));
    let lib = server.home.read("src/lib.rs");
    server.home.write("src/lib.rs", &format!("{lib}\npub fn helped() {{\n    helper::help();\n}}\n"));
    assert_eq!(total(&server, "helper::help"), 1);
    // A broken manifest loses nothing, and is reported.
    server.home.write("Cargo.toml", "[package\n");
    let (_, reply) = server.get("/v1/usages?symbol=greeter::greet");
    assert_eq!(reply["total"], 3, "{reply}");
    assert!(reply["meta"]["missing"].to_string().contains("workspace_broken"), "{reply}");
}

fn gopls(server: &Server) -> Option<u32> {
    let (_, status) = server.get("/v1/status");
    let engines = status["workspaces"][0]["engines"].as_array().unwrap().clone();
    let pid = engines.iter().find(|it| it["name"] == "gopls")?["pid"].as_u64()?;
    u32::try_from(pid).ok()
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Whether a process exists and is not a zombie.
fn lives(pid: u32) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap_or_default();
    status.lines().any(|it| it.starts_with("State:") && !it.contains("Z (zombie)"))
}

#[test]
fn gopls_comes_back() {
    let server = Server::on(GO);
    server.wait_ready();
    for _ in 0..3 {
        // Known results are answered while the next engine starts.
        server.wait_for(|it| gopls(it).is_some_and(lives));
        kill(gopls(&server).expect("gopls runs"));
        let (status, reply) = server.get("/v1/usages?symbol=Greeter.Greet&wait_ms=120000");
        let whole = reply["meta"]["complete"] == true;
        assert_eq!(status, 200, "{reply}");
        assert!(reply["total"] == 3 || !whole, "an empty success: {reply}");
        server.wait_ready();
        assert_eq!(total(&server, "Greeter.Greet"), 3);
    }
}

#[test]
fn a_killed_gopls_is_not_ready_until_it_answers_again() {
    let server = Server::on(GO);
    server.wait_ready();
    let killed = gopls(&server).expect("gopls runs");
    kill(killed);
    let state = || {
        let (_, status) = server.get("/v1/status");
        let workspace = &status["workspaces"][0];
        let gopls = workspace["engines"].as_array().unwrap().iter().find(|it| it["name"] == "gopls").unwrap();
        (gopls["pid"].as_u64(), gopls["state"].clone(), workspace["state"].clone())
    };
    // semdex learns of the end a moment later.
    let deadline = Instant::now() + DEADLINE;
    let mut seen = state();
    while seen.0 == Some(killed.into()) {
        assert!(Instant::now() < deadline, "{seen:?}");
        seen = state();
    }
    assert!(seen.1 != "ready" && seen.2 != "ready", "{seen:?}");
    server.wait_ready();
    let (pid, engine, workspace) = state();
    assert!(pid.is_some_and(|it| it != u64::from(killed)) && engine == "ready" && workspace == "ready");
    let (_, reply) = server.get("/v1/usages?symbol=Greeter.Greet&wait_ms=0");
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
}

#[test]
fn no_gopls_outlives_semdex() {
    let mut server = Server::on(GO);
    server.wait_ready();
    let gopls = gopls(&server).expect("gopls runs");
    assert!(lives(gopls));
    server.signal(rustix::process::Signal::KILL);
    server.wait();
    let deadline = Instant::now() + DEADLINE;
    while lives(gopls) {
        assert!(Instant::now() < deadline, "gopls {gopls} is still there");
        std::thread::yield_now();
    }
}

#[test]
fn without_go_rust_works_on() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let home = crate::support::Home::with(&all);
    // The whole search path except Go, and a cache without gopls.
    let tools = home.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in ["cargo", "rustc", "rustup", "cc", "ld", "git"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap().stdout;
        let found = String::from_utf8(found).unwrap();
        if !found.trim().is_empty() {
            std::os::unix::fs::symlink(found.trim(), tools.join(tool)).unwrap();
        }
    }
    let cache = home.path().join("cache");
    let server = home.serve_with(&["--trust"], &[("PATH", &tools), ("XDG_CACHE_HOME", &cache)]);
    let (_, rust) = server.get("/v1/usages?symbol=greeter::greet&wait_ms=60000");
    assert_eq!((&rust["total"], &rust["meta"]["complete"]), (&json!(3), &json!(true)), "{rust}");
    let (_, go) = server.get("/v1/usages?symbol=Greeter.Greet&wait_ms=2000");
    assert_eq!(go["meta"]["complete"], false, "{go}");
    is_missing(&go, "https://go.dev/doc/install");
    assert_eq!(engine(&server, "go")["state"], "missing");

    // The effect of a change of Go is unknown.
    let before = server.home.read("greet.go");
    let mut append =
        json!({"name": "greet.go", "content": "\nfunc more() {}\n", "on_break": "reject", "wait_ms": 2000});
    let (status, refused) = server.post("/v1/write", &append);
    assert_eq!((status, &refused["code"]), (503, &json!("engine_unavailable")), "{refused}");
    assert_eq!(server.home.read("greet.go"), before);
    append["on_break"] = json!("report");
    let (status, made) = server.post("/v1/write", &append);
    assert_eq!((status, &made["applied"], &made["meta"]["complete"]), (200, &json!(true), &json!(false)), "{made}");
}

/// In an answer about Go the engine is missing; the answer says how to install it.
#[track_caller]
fn is_missing(reply: &Value, how: &str) {
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    let missing = reply["meta"]["missing"].as_array().unwrap();
    let lack = missing.iter().find(|it| it["code"] == "engine_missing").unwrap_or_else(|| panic!("{reply}"));
    assert!(lack["detail"].as_str().unwrap().contains(how), "{reply}");
}

#[test]
fn a_gopls_that_cannot_be_installed_is_said_to_be_missing() {
    let home = crate::support::Home::with(GO);
    let tools = home.path().join("tools");
    fs::create_dir(&tools).unwrap();
    // A `go` without a network.
    let go = tools.join("go");
    fs::write(&go, "#!/bin/sh\necho 'dial tcp: lookup proxy: no such host' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let cache = home.path().join("cache");
    let server = home.serve_with(&["--trust"], &[("PATH", &tools), ("XDG_CACHE_HOME", &cache)]);
    let how = "Install it with `go install golang.org/x/tools/gopls@v";
    for path in ["/v1/usages?symbol=Greeter.Greet&wait_ms=60000", "/v1/diagnostics?wait_ms=60000"] {
        let (status, reply) = server.get(path);
        assert_eq!(status, 200, "{reply}");
        is_missing(&reply, how);
        assert!(reply["meta"]["missing"].to_string().contains("no such host"), "{reply}");
    }
    assert_eq!(engine(&server, "go")["state"], "missing");
    // Answers from the text alone are given.
    let (status, opened) = server.post("/v1/open", &json!({"file": "greet.go"}));
    assert_eq!((status, &opened["language"]), (200, &json!("go")), "{opened}");
}

/// Files that no request can name: none is taken for another, and answers say that they are not analysed.
#[test]
fn files_whose_names_are_not_text_are_told() {
    let server = Server::on(RUST);
    server.wait_ready();
    let path = |name: &[u8]| server.home.root().join("src").join(OsStr::from_bytes(name));
    let search = || server.get("/v1/symbols?query=worse&wait_ms=60000").1;
    let before = search();
    assert_eq!((&before["total"], &before["meta"]["complete"]), (&json!(0), &json!(true)), "{before}");

    fs::write(path(b"other\xff.txt"), "of no language\n").unwrap();
    assert_eq!(search()["meta"]["complete"], true);
    fs::write(path(b"bad\xff.rs"), "pub fn bad() {}\n").unwrap();
    fs::write(path(b"bad\xfe.rs"), "pub fn worse() {}\n").unwrap();
    let lack = |reply: &Value| {
        let missing = reply["meta"]["missing"].as_array().unwrap().iter();
        let lack = missing.clone().find(|it| it["scope"] == "names").unwrap_or_else(|| panic!("{reply}"));
        assert_eq!((&lack["code"], &reply["meta"]["complete"]), (&json!("unsupported"), &json!(false)), "{reply}");
        lack["detail"].as_str().unwrap().to_owned()
    };
    let detail = lack(&search());
    assert!(detail.starts_with("2 files") && detail.contains("\"src/bad\\376.rs\", \"src/bad\\377.rs\""), "{detail}");
    assert_eq!(server.get("/v1/symbols?query=bad&wait_ms=60000").1["total"], 0);
    let (status, miss) = server.get("/v1/usages?symbol=greeter::worse&wait_ms=60000");
    assert_eq!(status, 404, "{miss}");
    lack(&miss);
    let (status, dry_run) = server.post("/v1/edit", &breaking_edit(true));
    assert_eq!(status, 200, "{dry_run}");
    lack(&dry_run);
    let (_, told) = server.get("/v1/status");
    assert!(told["workspaces"][0]["missing"].to_string().contains("3 files"), "{told}");

    fs::remove_file(path(b"bad\xfe.rs")).unwrap();
    assert!(lack(&search()).starts_with("1 file has"));
    // A server that finds it at its start, and a directory that is removed with its content.
    fs::create_dir(path(b"dir\xff")).unwrap();
    fs::rename(path(b"bad\xff.rs"), path(b"dir\xff").join("good.rs")).unwrap();
    assert!(lack(&search()).contains("src/dir\\377/good.rs"));
    let server = server.restart(&["--trust"]);
    server.wait_ready();
    let search = || server.get("/v1/symbols?query=worse&wait_ms=60000").1;
    assert!(lack(&search()).starts_with("1 file has"));
    fs::remove_dir_all(server.home.root().join("src").join(OsStr::from_bytes(b"dir\xff"))).unwrap();
    let after = search();
    assert_eq!((&after["meta"]["complete"], &after["meta"]["missing"]), (&json!(true), &before["meta"]["missing"]));
}
