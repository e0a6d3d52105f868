//! Files and directories that semdex may not read or passes over: each answer that they can touch is incomplete and says
//! why, and the status lists them. And directories that are renamed while they are read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::language_servers::serve_home;
use crate::support::{Home, Server};

fn set_mode(server: &Home, name: &str, mode: u32) {
    fs::set_permissions(server.root().join(name), fs::Permissions::from_mode(mode)).unwrap();
}

/// The scopes of the gaps that a list of missing things has.
fn scopes(missing: &Value) -> BTreeSet<String> {
    let is_gap = |it: &&Value| it["code"] == "unread";
    missing.as_array().unwrap().iter().filter(is_gap).map(|it| it["scope"].as_str().unwrap().to_owned()).collect()
}

/// The gaps of each answer that unread code can touch.
fn gaps(server: &Server, symbol: &str, edit: &Value) -> Vec<(&'static str, bool, BTreeSet<String>)> {
    let mut found = Vec::new();
    let mut add = |what, (status, reply): (u16, Value)| {
        assert_eq!(status, 200, "{what}: {reply}");
        found.push((what, reply["meta"]["complete"] == true, scopes(&reply["meta"]["missing"])));
    };
    add("usages", server.get(&format!("/v1/usages?symbol={symbol}")));
    add("symbols", server.get("/v1/symbols?query=twice"));
    add("diagnostics", server.get("/v1/diagnostics"));
    add("map", server.get("/v1/map"));
    add("impact", server.post("/v1/edit", edit));
    found
}

#[track_caller]
fn all_have(server: &Server, symbol: &str, edit: &Value, wanted: &[&str]) {
    let wanted: BTreeSet<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
    for (what, is_complete, found) in gaps(server, symbol, edit) {
        assert_eq!(found, wanted, "{what}");
        assert!(!is_complete || wanted.is_empty(), "{what}");
    }
    let (_, status) = server.get("/v1/status");
    let listed = scopes(&status["workspaces"][0]["missing"]);
    assert!(listed.is_superset(&wanted) && (listed.is_empty() || !wanted.is_empty()), "{status}");
}

#[test]
fn what_may_not_be_read_makes_answers_incomplete() {
    let uses = "from lib import twice\n\ntwice(1)\n";
    let home = Home::with(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        (".gitignore", "/data/\n"),
        ("lib.py", "def twice(a: int) -> int:\n    return 2 * a\n"),
        ("uses.py", uses),
        ("locked/uses.py", uses),
        ("closed/inner/uses.py", uses),
        ("secret.py", uses),
        ("tagged/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("tagged/uses.py", uses),
        // What git ignores, an installed package, and a cache without code are no code of the workspace.
        ("data/uses.py", uses),
        ("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("cache/notes", "twice\n"),
        ("ignoring/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("ignoring/.gitignore", "*\n"),
        ("ignoring/uses.py", uses),
        ("lib/site-packages/other/uses.py", uses),
    ])
    .without_privileges();
    let locked = ["locked", "secret.py", "data", "lib/site-packages/other"];
    locked.iter().for_each(|it| set_mode(&home, it, 0o000));
    // It may be listed and not entered.
    set_mode(&home, "closed", 0o444);
    let server = serve_home(home);
    let edit = json!({"file": "lib.py", "search_context": "def twice(a: int)", "replacement": "def twice(a: int, b: int)", "dry_run": true});
    all_have(&server, "lib.py::twice", &edit, &["closed", "locked", "secret.py", "tagged"]);
    let (_, reply) = server.get("/v1/usages?symbol=lib.py::twice");
    let reason = |scope: &str| {
        let missing = reply["meta"]["missing"].as_array().unwrap();
        missing.iter().find(|it| it["scope"] == scope).unwrap()["detail"].as_str().unwrap().to_owned()
    };
    assert!(reason("locked").contains("permission") && reason("secret.py").contains("permission"), "{reply}");
    assert!(reason("tagged").contains("CACHEDIR.TAG"), "{reply}");
    // Where nothing is found, it may be there.
    let (status, reply) = server.get("/v1/usages?symbol=lib.py::thrice");
    assert_eq!((status, &reply["meta"]["complete"]), (404, &json!(false)), "{reply}");

    // What can be read again is part of the answers.
    let before = server.get("/v1/usages?symbol=lib.py::twice").1["total"].as_u64().unwrap();
    locked.iter().for_each(|it| set_mode(&server.home, it, 0o755));
    set_mode(&server.home, "closed", 0o755);
    fs::remove_file(server.home.root().join("tagged/CACHEDIR.TAG")).unwrap();
    all_have(&server, "lib.py::twice", &edit, &[]);
    let after = server.get("/v1/usages?symbol=lib.py::twice").1["total"].as_u64().unwrap();
    assert!(after >= before + 4, "{before} {after}");
    set_mode(&server.home, "locked", 0o000);
    all_have(&server, "lib.py::twice", &edit, &["locked"]);
    set_mode(&server.home, "locked", 0o755);
    all_have(&server, "lib.py::twice", &edit, &[]);
}

#[test]
fn a_module_that_may_not_be_read_is_not_taken_for_missing() {
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "mod hidden;\nmod secret;\n\npub fn twice(a: u32) -> u32 {\n    2 * a\n}\n"),
        ("src/hidden/mod.rs", "pub fn uses() -> u32 {\n    crate::twice(1)\n}\n"),
        ("src/secret.rs", "pub fn uses() -> u32 {\n    crate::twice(1)\n}\n"),
        ("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("target/debug/out.rs", "fn generated() {}\n"),
    ])
    .without_privileges();
    set_mode(&home, "src/hidden", 0o000);
    set_mode(&home, "src/secret.rs", 0o000);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    for path in ["/v1/usages?symbol=p::twice", "/v1/symbols?query=uses", "/v1/diagnostics", "/v1/map"] {
        let (status, reply) = server.get(path);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{path}: {reply}");
        let missing = reply["meta"]["missing"].to_string();
        assert!(missing.contains("src/hidden") && missing.contains("src/secret.rs"), "{path}: {reply}");
        assert!(missing.contains("permission") && !missing.contains("target"), "{path}: {reply}");
    }
    set_mode(&server.home, "src/hidden", 0o755);
    set_mode(&server.home, "src/secret.rs", 0o644);
    let (status, reply) = server.get("/v1/usages?symbol=p::twice");
    assert_eq!((status, &reply["meta"]["complete"], &reply["total"]), (200, &json!(true), &json!(2)), "{reply}");
}

#[test]
fn go_code_in_a_tagged_directory_is_missing() {
    let server = Server::on(&[
        ("go.mod", "module example.com/lib\n\ngo 1.21\n"),
        ("lib.go", "package lib\n\nfunc Twice(a int) int { return 2 * a }\n"),
        ("gen/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("gen/gen.go", "package gen\n\nimport \"example.com/lib\"\n\nvar X = lib.Twice(1)\n"),
        ("testdata/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("testdata/t.go", "package t\n"),
    ]);
    server.wait_ready();
    let edit = json!({"file": "lib.go", "search_context": "func Twice(a int)", "replacement": "func Twice(a, b int)", "dry_run": true});
    for (what, is_complete, found) in gaps(&server, "Twice", &edit) {
        assert_eq!((is_complete, found), (false, BTreeSet::from(["gen".to_owned()])), "{what}");
    }
}

#[test]
fn a_root_that_cannot_be_read_makes_answers_incomplete() {
    let home = Home::with(&[
        ("go.mod", "module example.com/lib\n\ngo 1.21\n"),
        ("lib.go", "package lib\n\nfunc Twice(a int) int { return 2 * a }\n"),
        ("sub/sub.go", "package sub\n\nimport \"example.com/lib\"\n\nvar X = lib.Twice(1)\n"),
    ])
    .without_privileges();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let ask = || {
        ["/v1/symbols?query=Twice", "/v1/diagnostics", "/v1/map"].map(|path| {
            let (status, reply) = server.get(path);
            assert_eq!(status, 200, "{path}: {reply}");
            (reply["meta"]["complete"] == true, scopes(&reply["meta"]["missing"]), reply["total"].clone())
        })
    };
    let whole = ask();
    assert!(whole.iter().all(|it| it.0), "{whole:?}");
    let check = |when: &str, take: &dyn Fn(), give_back: &dyn Fn()| {
        take();
        for (is_complete, scopes, total) in ask() {
            assert!(!is_complete && scopes.contains("."), "{when}: {scopes:?}, {total}");
        }
        let (_, status) = server.get("/v1/status");
        assert!(scopes(&status["workspaces"][0]["missing"]).contains("."), "{when}: {status}");
        give_back();
        server.wait_for(|_| ask() == whole);
    };
    for mode in [0o000, 0o444] {
        check(&format!("{mode:o}"), &|| set_mode(&server.home, "", mode), &|| set_mode(&server.home, "", 0o755));
    }
    let (root, away) = (server.home.root(), server.home.path().join("away"));
    let bring_back = || fs::rename(&away, &root).unwrap();
    check("renamed", &|| fs::rename(&root, &away).unwrap(), &bring_back);
    let replace = || {
        fs::rename(&root, &away).unwrap();
        symlink(&away, &root).unwrap();
    };
    check("replaced by a link", &replace, &|| {
        fs::remove_file(&root).unwrap();
        bring_back();
    });
}

#[test]
fn a_manifest_that_cannot_be_read_makes_answers_incomplete() {
    let is_missing = |server: &Server, name: &str| {
        ["/v1/symbols?query=twice", "/v1/diagnostics", "/v1/map"].into_iter().all(|path| {
            let (_, reply) = server.get(path);
            reply["meta"]["complete"] == false && reply["meta"]["missing"].to_string().contains(&format!("`{name}`"))
        })
    };
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn twice(a: u32) -> u32 {\n    2 * a\n}\n"),
    ])
    .without_privileges();
    set_mode(&home, "Cargo.toml", 0o000);
    let server = home.serve(&["--trust"]);
    server.wait_for(|it| is_missing(it, "Cargo.toml"));
    set_mode(&server.home, "Cargo.toml", 0o644);
    let found = |server: &Server| {
        let (_, reply) = server.get("/v1/symbols?query=twice");
        reply["total"] == 1 && reply["meta"]["complete"] == true
    };
    server.wait_for(found);
    set_mode(&server.home, "Cargo.toml", 0o000);
    assert!(is_missing(&server, "Cargo.toml"));

    // The go command takes what is not UTF-8 in a comment.
    let home = Home::with(&[("lib.go", "package lib\n\nfunc twice(a int) int { return 2 * a }\n")]);
    fs::write(home.root().join("go.mod"), b"module example.com/p\n\n// \xe9\ngo 1.21\n").unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_for(|it| is_missing(it, "go.mod"));
    server.home.write("go.mod", "module example.com/p\n\ngo 1.21\n");
    server.wait_for(found);
}

#[test]
fn links_out_of_the_workspace_make_answers_incomplete() {
    let home = Home::with(&[
        ("go.mod", "module example.com/lib\n\ngo 1.21\n"),
        ("lib.go", "package lib\n\nfunc Twice(a int) int { return 2 * a }\n"),
        ("main/main.go", "package main\n\nimport \"example.com/lib/sub\"\n\nfunc main() { println(sub.X) }\n"),
    ]);
    let outside = home.path().join("outside");
    for (name, text) in [
        ("file.go", "package lib\n\nvar Y = Twice(2)\n"),
        ("sub/sub.go", "package sub\n\nimport \"example.com/lib\"\n\nvar X = lib.Twice(1)\n"),
        ("data/notes", "Twice\n"),
    ] {
        let file = outside.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let link = |name: &str, target: &str| symlink(outside.join(target), home.root().join(name)).unwrap();
    link("b.go", "file.go");
    link("sub", "sub");
    // No code, and nothing.
    link("data", "data");
    link("gone.go", "nowhere");
    let server = home.clone().serve(&["--trust"]);
    server.wait_ready();
    let edit = json!({"file": "lib.go", "search_context": "func Twice(a int)", "replacement": "func Twice(a, b int)", "dry_run": true});
    all_have(&server, "Twice", &edit, &["b.go", "sub"]);
    // One that goes, and one whose target comes.
    fs::remove_file(home.root().join("sub")).unwrap();
    all_have(&server, "Twice", &edit, &["b.go"]);
    fs::write(outside.join("nowhere"), "package lib\n\nvar Z = Twice(3)\n").unwrap();
    all_have(&server, "Twice", &edit, &["b.go", "gone.go"]);
    for name in ["b.go", "gone.go"] {
        fs::remove_file(home.root().join(name)).unwrap();
    }
    link("sub", "sub");
    all_have(&server, "Twice", &edit, &["sub"]);
}

#[test]
fn answers_are_not_torn_while_a_directory_is_renamed() {
    const FILES: usize = 200;
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", ""),
    ]);
    for number in 0..FILES {
        home.write(&format!("moved_a/m{number}.py"), &format!("def marker_{number}():\n    pass\n"));
    }
    let server = serve_home(home);
    let found = || {
        let (status, reply) = server.get("/v1/symbols?query=marker_&limit=1000");
        assert_eq!(status, 200, "{reply}");
        let files = reply["symbols"].as_array().unwrap().len();
        (files, reply["meta"]["complete"] == true, reply["meta"].clone())
    };
    server.wait_for(|_| found().1);
    assert_eq!(found().0, FILES);
    let root = server.home.root();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let names = ["moved_a", "moved_b"];
            let mut turn = 0;
            while !is_over.load(Ordering::Relaxed) {
                rename(&root, names[turn % 2], names[(turn + 1) % 2]);
                turn += 1;
                thread::park_timeout(Duration::from_millis(50));
            }
        });
        let answers: Vec<_> = (0..60).map(|_| found()).collect();
        is_over.store(true, Ordering::Relaxed);
        for (files, is_complete, meta) in answers {
            assert!(files == FILES || !is_complete, "{files} files: {meta}");
        }
    });
    let (files, is_complete, meta) = found();
    assert!(files == FILES && is_complete, "{files} files: {meta}");
}

fn rename(root: &Path, from: &str, to: &str) {
    fs::rename(root.join(from), root.join(to)).unwrap();
}

/// The compiler reports the declaration of a module without a file, and nothing of what leads through it. A file that
/// exists is not missing.
#[test]
fn what_leads_through_a_module_without_a_file_is_no_error() {
    let lib = "pub mod bytes;\npub mod gone;\nuse gone::Thing;\nuse gone::*;\n\npub fn f(it: bytes::Byte, _: Thing) -> gone::Out {\n    gone::g(bytes::h(it))\n}\n\npub fn wrong() -> u8 {\n    nothing::at_all()\n}\n";
    let home = Home::with(&[("Cargo.toml", "[package]\nname = \"app\"\nedition = \"2024\"\n"), ("src/lib.rs", lib)]);
    fs::write(home.root().join("src/bytes.rs"), b"pub struct Byte; // \xff\n").unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let (status, reply) = server.get("/v1/diagnostics?severity=error");
    let found: Vec<(u64, &str)> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["code"].as_str().unwrap()))
        .collect();
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    assert!(found.contains(&(2, "E0583")) && found.iter().all(|it| it.0 == 2 || it.0 == 11), "{reply}");
}
