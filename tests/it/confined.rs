//! Files outside of the workspace are not read, written or listed: by no name, through no link, and in no race.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::language_servers::{serve_home, usages};
use crate::support::{Home, RUST, Reply, Server, run};

/// Far more than all of it takes; a test that meets it has failed.
const DEADLINE: Duration = Duration::from_secs(240);

fn get(server: &Server, path: &str, query: &[(&str, &str)]) -> Reply {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    server.send(server.request("GET", &format!("{path}?{query}")))
}

/// Every call that takes a file's name, with this one.
fn calls(server: &Server, name: &str) -> Vec<(&'static str, Reply)> {
    let post = |path, body: Value| (path, server.send(server.request("POST", path).json(&body)));
    let get = |path, query: &[(&str, &str)]| (path, get(server, path, query));
    let overlay = name.replace('%', "%25").replace('#', "%23");
    let overlay = format!("/v1/overlays/{overlay}");
    let put = server.request("PUT", &overlay).json(&json!({"content": "mine"}));
    let blocks = format!("`{name}`\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n");
    let blocks = server.request("POST", "/v1/edit").header("content-type", "text/x-search-replace").body(blocks);
    vec![
        post("/v1/open", json!({"file": name})),
        post("/v1/describe", json!({"file": name})),
        post("/v1/describe", json!({"file": name, "symbol": "x"})),
        post("/v1/edit", json!({"file": name, "search_context": "a", "replacement": "b"})),
        post("/v1/edit", json!({"symbol": "x", "file": name, "at": "delete"})),
        post("/v1/edit", json!({"file": name, "content": "mine"})),
        post("/v1/edit", json!({"file": name, "delete": true})),
        post("/v1/edit", json!({"file": name, "move_to": "moved"})),
        post("/v1/edit", json!({"file": "src/lib.rs", "move_to": name})),
        post("/v1/write", json!({"name": name, "content": "mine", "mode": "create"})),
        post("/v1/write", json!({"name": name, "content": "mine", "mode": "overwrite"})),
        post("/v1/write", json!({"name": name, "content": "mine"})),
        post("/v1/rename", json!({"symbol": "x", "file": name, "new_name": "y"})),
        post("/v1/impact", json!({"symbol": "x", "file": name, "change": "remove"})),
        get("/v1/symbols", &[("file", name)]),
        get("/v1/symbols/at", &[("file", name), ("offset", "0")]),
        get("/v1/diagnostics", &[("file", name)]),
        get("/v1/usages", &[("symbol", "x"), ("file", name)]),
        get("/v1/callers", &[("symbol", "x"), ("file", name)]),
        get("/v1/changes", &[("file", name)]),
        ("PUT /v1/overlays", server.send(put)),
        ("DELETE /v1/overlays", server.send(server.request("DELETE", &overlay))),
        ("blocks", server.send(blocks)),
    ]
}

#[test]
fn semdexs_own_files_are_no_part_of_a_root_that_encloses_them() {
    let home = Home::with(&[("a.txt", "a\n")]);
    let around = home.path();
    let cache = around.join("cache");
    fs::create_dir_all(around.join("config/semdex")).unwrap();
    fs::write(around.join("config/semdex/config.toml"), "[limits]\nmax_file_bytes = 1000000\n").unwrap();
    // A place of another server of the same user.
    fs::create_dir_all(around.join(".local/state/semdex")).unwrap();
    fs::write(around.join(".local/state/semdex/token"), "another's").unwrap();
    let root = around.to_str().unwrap().to_owned();
    let variables = [("XDG_CACHE_HOME", cache.as_path()), ("HOME", around.as_path())];
    let server = home.serve_with(&["--trust", &root], &variables);
    let state = around.join("state/semdex");
    symlink("state", around.join("by-link")).unwrap();
    symlink("state/semdex/token", around.join("link.txt")).unwrap();
    fs::hard_link(state.join("token"), around.join("hard.txt")).unwrap();
    let token = server.home.token();
    for name in [
        "state/semdex/token",
        "state/semdex/trust.json",
        "state/semdex/new/file.rs",
        "by-link/semdex/token",
        "link.txt",
        "hard.txt",
        "config/semdex/config.toml",
        "cache/semdex/x.rs",
        ".local/state/semdex/token",
        &format!("file://{root}/state/semdex/token"),
    ] {
        for (call, reply) in calls(&server, name) {
            assert!(!reply.text.contains(&token), "{call} {name}: {}", reply.text);
            assert_eq!(reply.code(), "outside_workspace", "{call} {name}: {}", reply.text);
        }
    }
    assert!(!state.join("trust.json").exists() && !state.join("new").exists());
    assert_eq!(server.home.token(), token);
    // Escaped in the path of a call, too.
    let escaped = server.request("PUT", "/v1/overlays/state%2F..%2Fstate%2Fsemdex%2Ftoken");
    assert_eq!(server.send(escaped.json(&json!({"content": "mine"}))).code(), "outside_workspace");
    let escaped = server.request("PUT", "/v1/overlays/state%2Fsemdex%2Ftoken");
    assert_eq!(server.send(escaped.json(&json!({"content": "mine"}))).code(), "outside_workspace");
    // Its text does not find it either.
    let miss = json!({"file": "workspace/a.txt", "search_context": token, "replacement": "b", "autofix": 100});
    let (status, reply) = server.post("/v1/edit", &miss);
    assert_eq!((status, reply.to_string().contains("semdex/token")), (409, false), "{reply}");
    // A file next to it is ordinary.
    let (status, reply) =
        server.post("/v1/write", &json!({"name": "state/mine.txt", "content": "x", "mode": "create"}));
    assert_eq!(status, 200, "{reply}");
    let opened = server.post("/v1/workspaces", &json!({"root": state}));
    assert_eq!((opened.0, &opened.1["code"]), (403, &json!("forbidden_root")), "{}", opened.1);
}

/// Exchanges two names until it is stopped.
fn exchange(one: &Path, two: &Path, stop: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (one, two, stop) = (one.to_owned(), two.to_owned(), stop.clone());
    thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            // One of them may be absent during a write.
            let _ = renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE);
            thread::yield_now();
        }
    })
}

#[test]
fn names_exchanged_during_requests_neither_hang_nor_show_what_lies_outside() {
    let texts: Vec<(String, String)> = (0..8).map(|it| (format!("d/f{it}.txt"), format!("inside {it}\n"))).collect();
    let mut files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.extend([("p.txt", "inside p\n"), ("s.txt", "inside s\n"), ("still.txt", "still\n")]);
    let mut server = Home::with(&files).serve(&["--trust"]);
    let root = server.home.root();
    let outside = server.home.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    for (name, _) in &texts {
        fs::write(outside.join(Path::new(name).file_name().unwrap()), "SECRET\n").unwrap();
    }
    symlink(&outside, root.join("link")).unwrap();
    mkfifoat(CWD, root.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = [("d", "link"), ("p.txt", "pipe"), ("s.txt", "socket")];
    let threads: Vec<_> = swaps.iter().map(|(a, b)| exchange(&root.join(a), &root.join(b), &stop)).collect();
    let deadline = Instant::now() + DEADLINE;
    let mut inside = 0;
    for round in 0..200 {
        let name = format!("d/f{}.txt", round % 8);
        let link = name.replace("d/", "link/");
        for name in [name.as_str(), link.as_str(), "p.txt", "pipe", "s.txt", "socket", "zero"] {
            let reply = server.send(server.request("POST", "/v1/describe").json(&json!({"file": name})));
            assert!(!reply.text.contains("SECRET"), "{name}: {}", reply.text);
            inside += usize::from(reply.status == 200);
        }
        let edit = json!({"file": name, "search_context": "inside", "replacement": "inside", "autofix": 0});
        let write = json!({"name": format!("d/new{round}.txt"), "content": "new"});
        for (path, body) in [("/v1/edit", edit), ("/v1/write", write)] {
            let reply = server.send(server.request("POST", path).json(&body));
            assert!(!reply.text.contains("SECRET"), "{}", reply.text);
        }
        assert!(Instant::now() < deadline, "the requests are being held up");
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert!(inside > 100, "{inside} answers prove nothing");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 8, "nothing was written there");
    assert_eq!(server.post("/v1/describe", &json!({"file": "still.txt"})).1["file"]["content"], "still\n");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
}

/// A program that opens a named pipe waits for a writer, and a server's file never gets one.
#[test]
fn a_pipe_under_a_files_name_holds_no_server() {
    let home = Home::with(&[
        ("go.mod", "module example.com/shop\n\ngo 1.24\n"),
        ("shop.go", "package shop\n\nfunc Sell() int { return 1 }\n\nvar sold = Sell()\n"),
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("pkg/__init__.py", ""),
        ("pkg/till.py", "def ring() -> int:\n    return 1\n\n\nRUNG = ring()\n"),
        ("ts/tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}\n"),
        ("ts/stock.ts", "export function count(): number {\n  return 1;\n}\nexport const counted = count();\n"),
    ]);
    for pipe in ["piped.go", "empty/piped.go", "pkg/piped.py", "ts/piped.ts"] {
        let path = home.root().join(pipe);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
    }
    let server = serve_home(home);
    for (symbol, place) in [("Sell", "shop.go:5 call"), ("ring", "pkg/till.py:5 call"), ("count", "ts/stock.ts:4 call")]
    {
        let is_there = |server: &Server| {
            let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
            (status, &reply["meta"]["complete"]) == (200, &json!(true))
        };
        server.wait_for(is_there);
        assert_eq!(usages(&server, symbol), [place]);
    }
}

#[test]
fn a_uri_names_a_file_inside_and_nothing_outside() {
    let server = Server::on(&[RUST, &[("odd name#%.txt", "odd\n")]].concat());
    let root = server.home.root().to_str().unwrap().to_owned();
    let uri = |name: &str| format!("file://{root}/{name}");
    server.wait_ready();
    let (status, opened) = server.post("/v1/open", &json!({"file": uri("src/lib.rs")}));
    assert_eq!((status, &opened["file"]), (200, &json!("src/lib.rs")), "{opened}");
    let odd = uri("odd%20name%23%25.txt").replace("file://", "file://localhost");
    let (status, described) = server.post("/v1/describe", &json!({"file": odd}));
    assert_eq!((status, &described["file"]["content"]), (200, &json!("odd\n")), "{described}");
    let lib = uri("src/lib.rs");
    let file = ("file", lib.as_str());
    for (path, query) in [
        ("/v1/symbols", &[file][..]),
        ("/v1/diagnostics", &[file]),
        ("/v1/symbols/at", &[file, ("line", "6"), ("column", "8")]),
    ] {
        let reply = get(&server, path, query);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    }
    let reply = get(&server, "/v1/usages", &[("symbol", "greet"), file]);
    assert_eq!((reply.status, &reply.json()["total"]), (200, &json!(3)), "{}", reply.text);
    let blocks = format!("{}\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n", uri("new/by-blocks.txt"));
    let blocks = server.request("POST", "/v1/edit").header("content-type", "text/x-search-replace").body(blocks);
    assert_eq!(server.send(blocks).status, 200);
    assert_eq!(server.home.read("new/by-blocks.txt"), "new\n");
    let (status, written) = server.post("/v1/write", &json!({"name": uri("new/a.txt"), "content": "a\n"}));
    assert_eq!((status, &written["files"][0]["file"]), (200, &json!("new/a.txt")), "{written}");
    let edit = json!({"file": uri("new/a.txt"), "search_context": "a", "replacement": "b"});
    assert_eq!(server.post("/v1/edit", &edit).0, 200);
    assert_eq!(server.home.read("new/a.txt"), "b\n");
    let overlay = format!("/v1/overlays/{}", uri("new/a.txt"));
    let put = server.send(server.request("PUT", &overlay).json(&json!({"content": "over\n"})));
    assert_eq!((put.status, &put.json()["file"]), (200, &json!("new/a.txt")), "{}", put.text);
    assert_eq!(server.send(server.request("DELETE", &overlay)).status, 200);
    let shown = run(server.home.semdex().args(["open", &uri("src/lib.rs")]));
    assert!(shown.code == Some(0) && shown.output.starts_with("# src/lib.rs"), "{} {}", shown.output, shown.errors);

    for name in ["file:///etc/passwd", "file:///etc/new", "file://elsewhere/etc/passwd", &uri("../x"), &uri("%2e%2e/x")]
    {
        for (call, reply) in calls(&server, name) {
            assert_eq!(reply.code(), "outside_workspace", "{call} {name}: {}", reply.text);
        }
    }
    assert!(!server.home.root().join("file:").exists());
}

#[test]
fn an_absolute_path_names_a_file_inside_and_nothing_outside() {
    let server = Server::on(RUST);
    server.wait_ready();
    let absolute = |name: &str| server.home.root().join(name).to_str().unwrap().to_owned();
    let lib = absolute("src/lib.rs");
    let (status, opened) = server.post("/v1/open", &json!({"file": lib}));
    assert_eq!((status, &opened["file"]), (200, &json!("src/lib.rs")), "{opened}");
    let file = ("file", lib.as_str());
    for (path, query) in [("/v1/symbols", &[file][..]), ("/v1/symbols/at", &[file, ("line", "6"), ("column", "8")])] {
        let reply = get(&server, path, query);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    }
    let reply = get(&server, "/v1/usages", &[("symbol", "greet"), file]);
    assert_eq!((reply.status, &reply.json()["total"]), (200, &json!(3)), "{}", reply.text);
    let (status, written) = server.post("/v1/write", &json!({"name": absolute("new/a.txt"), "content": "a\n"}));
    assert_eq!((status, &written["files"][0]["file"]), (200, &json!("new/a.txt")), "{written}");
    let edit = json!({"edits": [{"file": absolute("new/a.txt"), "search_context": "a", "replacement": "b"}]});
    assert_eq!(server.post("/v1/edit", &edit).0, 200);
    assert_eq!(server.home.read("new/a.txt"), "b\n");
    for name in ["/etc/passwd", "/etc/new", &absolute("../x"), &absolute(".git/config")] {
        for (call, body) in [
            ("/v1/open", json!({"file": name})),
            ("/v1/describe", json!({"file": name, "symbol": "x"})),
            ("/v1/write", json!({"name": name, "content": "mine"})),
        ] {
            let reply = server.send(server.request("POST", call).json(&body));
            assert_eq!(reply.code(), "outside_workspace", "{call} {name}: {}", reply.text);
        }
    }
}

#[test]
fn a_path_says_which_of_several_workspaces_is_meant() {
    let home = Home::with(&[("a/x.txt", "one\n"), ("b/x.txt", "two\n"), ("c/x.txt", "other\n")]);
    let server = home.serve(&["--trust", "a", "b", "c"]);
    let path = |name: &str| server.home.root().join(name).to_str().unwrap().to_owned();
    symlink(path("c"), path("alias")).unwrap();
    for (name, workspace, text) in
        [("a/x.txt", "a", "one\n"), ("b/x.txt", "b", "two\n"), ("alias/x.txt", "c", "other\n")]
    {
        for file in [path(name), format!("file://{}", path(name))] {
            let (status, reply) = server.post("/v1/describe", &json!({"file": file}));
            assert_eq!((status, &reply["file"]["content"]), (200, &json!(text)), "{file}: {reply}");
            assert_eq!(reply["meta"]["workspace"], workspace, "{file}: {reply}");
        }
    }
    let (status, written) = server.post("/v1/write", &json!({"name": path("c/new.txt"), "content": "new\n"}));
    assert_eq!((status, &written["meta"]["workspace"]), (200, &json!("c")), "{written}");
    let open = |body: Value| {
        let reply = server.send(server.request("POST", "/v1/open").json(&body));
        (reply.status, reply.code())
    };
    // What is said counts, and what says nothing is asked for.
    let (outside, unknown) = ("outside_workspace".to_owned(), "unknown_workspace".to_owned());
    assert_eq!(open(json!({"file": path("c/x.txt"), "workspace": "a"})), (400, outside.clone()));
    assert_eq!(open(json!({"file": path("c/.git/x")})), (400, outside));
    for file in ["x.txt".to_owned(), "/etc/passwd".to_owned(), path("d/x.txt")] {
        assert_eq!(open(json!({"file": file})), (404, unknown.clone()), "{file}");
    }
}

#[test]
fn an_import_path_does_not_leave_its_module() {
    let home = Home::with(&[
        ("go.mod", "module example.com/m\n\ngo 1.22\n\nrequire github.com/x/y v1.0.0\n"),
        ("m.go", "package m\n"),
    ]);
    let around = home.path();
    let module = around.join("mod/github.com/x/y@v1.0.0");
    for (directory, text) in [
        (module.clone(), "// Package y is what is required.\npackage y\n\n// Lawful is inside.\nconst Lawful = 1\n"),
        (around.join("outside"), "// Package outside is private.\npackage outside\n\nconst Password = 1\n"),
    ] {
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("x.go"), text).unwrap();
    }
    fs::write(module.join("go.mod"), "module github.com/x/y\n").unwrap();
    symlink(around.join("outside"), module.join("link")).unwrap();
    let proxy = Path::new("off");
    let server = home.serve_with(
        &["--trust"],
        &[("GOMODCACHE", &around.join("mod")), ("GOPROXY", proxy), ("GOFLAGS", Path::new("-mod=mod"))],
    );
    let describe = |package: &str| {
        let reply = server.request("POST", "/v1/describe").json(&json!({"package": package, "wait_ms": 120_000}));
        server.send(reply)
    };
    server.wait_for(|_| describe("github.com/x/y").text.contains("Lawful"));
    let up = "../".repeat(20);
    let outside = around.join("outside").to_str().unwrap().to_owned();
    for package in [
        format!("github.com/x/y/{up}{}", &outside[1..]),
        "github.com/x/y/../../../../outside".to_owned(),
        "github.com/x/y/link".to_owned(),
        outside,
        format!("{up}outside"),
    ] {
        let reply = describe(&package);
        assert!(!reply.text.contains("Password") && reply.status == 404, "{package}: {} {}", reply.status, reply.text);
        let symbol = json!({"symbol": format!("{package}.Password"), "wait_ms": 120_000});
        let reply = server.send(server.request("POST", "/v1/describe").json(&symbol));
        assert!(!reply.text.contains("const Password") && reply.status == 404, "{package}: {}", reply.text);
    }
}

#[test]
fn a_directory_that_is_not_there_is_told_before_anything_is_done() {
    let home = Home::with(&[]);
    let served = run(home.semdex().args(["serve", "--listen", "127.0.0.1:0", "typo"]));
    assert_eq!((served.code, served.output.as_str()), (Some(1), ""));
    assert!(served.errors.starts_with("error: typo: No such file or directory"), "{}", served.errors);
    assert!(!home.path().join("state").exists(), "nothing was begun");
    // Under `make test` this make would take itself for a part of that one, and say which directory it enters.
    let make = run(std::process::Command::new("make")
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", "WORKSPACE=no/such/directory"]));
    assert_eq!(make.code, Some(2));
    assert!(make.errors.contains("there is no directory no/such/directory"), "{}", make.errors);
    assert_eq!(make.output, "", "nothing was built");
}

/// Semdex makes no file that deep; what others have made is read like any other.
#[test]
fn a_deep_name_stops_nobody() {
    let server = Server::on(RUST);
    let deep = "d/".repeat(2000) + "x.txt";
    for mode in ["append", "create", "overwrite"] {
        let (status, reply) = server.post("/v1/write", &json!({"name": deep, "content": "x", "mode": mode}));
        assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{mode}: {reply}");
    }
    assert!(!server.home.root().join("d").exists());
    let (status, reply) = server.post("/v1/write", &json!({"name": "d/".repeat(255) + "x.txt", "content": "x"}));
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let (status, reply) = server.post("/v1/undo", &json!({"change": reply["change"]}));
    assert_eq!((status, server.home.root().join("d").exists()), (200, false), "{reply}");

    let theirs = "e/".repeat(300) + "x.txt";
    server.home.write(&theirs, "theirs\n");
    let (status, reply) = server.post("/v1/describe", &json!({"file": theirs}));
    assert_eq!((status, &reply["file"]["content"]), (200, &json!("theirs\n")), "{reply}");
    let edit = json!({"file": theirs, "search_context": "theirs", "replacement": "ours"});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, server.home.read(&theirs).as_str()), (200, "ours\n"), "{reply}");
}
