//! Links within a workspace: uses through a link are reported as not followed, and are checked against the current
//! content of the link's target.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::language_servers::serve_home;
use crate::support::{Home, Server};

const GO: &[(&str, &str)] = &[
    (
        "go.mod",
        "module example.com/app\n\ngo 1.22\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ./lib\n",
    ),
    ("main.go", "package main\n\nimport \"example.com/lib\"\n\nfunc main() {\n\tprintln(lib.Name())\n}\n"),
    ("lib2/go.mod", "module example.com/lib\n\ngo 1.22\n"),
    ("lib2/lib.go", "package lib\n\nfunc Name() string { return \"\" }\n"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    (
        "tsconfig.json",
        "{\"compilerOptions\": {\"strict\": true, \"target\": \"es2022\", \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}, \"files\": [\"main.ts\"]}\n",
    ),
    ("main.ts", "import { made } from './ln/m';\n\nexport const used: number = made(1);\n"),
    ("real/m.ts", "export function made(n: number): number {\n  return n;\n}\n"),
];

fn linked(files: &[(&str, &str)], target: &str, name: &str) -> Home {
    let home = Home::with(files);
    symlink(target, home.root().join(name)).unwrap();
    home
}

/// What is said to be missing for links.
fn lacks(reply: &Value) -> Vec<String> {
    let missing = reply["meta"]["missing"].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
    let of_links = missing.filter(|it| it["scope"] == "links");
    of_links.map(|it| it["detail"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn is_lacking(reply: &Value, detail: &str) {
    assert_eq!((&reply["meta"]["complete"], lacks(reply)), (&json!(false), vec![detail.to_owned()]), "{reply}");
}

fn replaced(file: &str, before: &str, after: &str) -> Value {
    json!({"file": file, "search_context": before, "replacement": after})
}

fn dry_run(server: &Server, edit: &Value) -> Value {
    let mut edit = edit.clone();
    edit["dry_run"] = json!(true);
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    reply
}

/// An edit that is refused, since nobody knows all that it breaks.
#[track_caller]
fn is_refused(server: &Server, edit: &Value) {
    let mut edit = edit.clone();
    edit["on_break"] = json!("reject");
    let file = edit["file"].as_str().unwrap();
    let before = server.home.read(file);
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["code"]), (503, &json!("engine_unavailable")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("is a link to"), "{reply}");
    assert_eq!(server.home.read(file), before);
}

const OF_GO: &str = "`lib` is a link to `lib2`: code that names it by the link is not followed";

#[test]
fn a_module_of_go_by_a_link_is_not_followed_and_said_so() {
    let server = linked(GO, "lib2", "lib").serve(&["--trust"]);
    server.wait_ready();
    for path in ["/v1/diagnostics", "/v1/usages?symbol=example.com/lib.Name"] {
        let (status, reply) = server.get(path);
        assert_eq!(status, 200, "{reply}");
        is_lacking(&reply, OF_GO);
    }
    let edit = replaced("lib2/lib.go", "Name()", "Gone()");
    is_lacking(&dry_run(&server, &edit), OF_GO);
    is_refused(&server, &edit);
    let rename = |symbol: &str| server.post("/v1/rename", &json!({"symbol": symbol, "new_name": "Other"}));
    let (status, reply) = rename("example.com/lib.Name");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
    // What no link leads to is judged in full.
    server.home.write("own.go", "package main\n\nfunc Own() int { return 1 }\n");
    let (status, reply) = rename("Own");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let reply = dry_run(&server, &replaced("main.go", "lib.Name()", "1"));
    assert_eq!(lacks(&reply), Vec::<String>::new(), "{reply}");
}

/// The errors of a file. Nothing but what the links lead to is missing.
#[track_caller]
fn errors(server: &Server, file: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/diagnostics?severity=error&file={file}"));
    assert_eq!(status, 200, "{reply}");
    assert!(reply["meta"]["missing"].as_array().unwrap().iter().all(|it| it["scope"] == "links"), "{reply}");
    reply["total"].clone()
}

const RENAMED: &str = "package lib\n\nfunc Nom() string { return \"\" }\n";

#[test]
fn diagnostics_of_go_follow_what_a_link_leads_to() {
    let server = linked(GO, "lib2", "lib").serve(&["--trust"]);
    server.wait_ready();
    for _ in 0..2 {
        assert_eq!(errors(&server, "main.go"), 0);
        server.home.write("lib2/lib.go", RENAMED);
        assert_eq!(errors(&server, "main.go"), 1);
        server.home.write("lib2/lib.go", GO[3].1);
    }
}

/// The watcher reports the change before any request passes the barrier.
#[test]
fn a_change_before_the_first_request_counts_under_the_name_of_a_link() {
    let server = linked(GO, "lib2", "lib").serve(&["--trust"]);
    server.wait_ready();
    let revision = |it: &Server| it.get("/v1/status").1["workspaces"][0]["revision"].as_u64().unwrap();
    let before = revision(&server);
    server.home.write("lib2/lib.go", RENAMED);
    server.wait_for(|it| revision(it) > before);
    assert_eq!(errors(&server, "main.go"), 1);
}

const OF_TYPESCRIPT: &str = "`ln` is a link to `real`: code that names it by the link is not followed";

#[test]
fn a_linked_directory_of_typescript_is_not_followed_and_said_so() {
    let server = serve_home(linked(TYPESCRIPT, "real", "ln"));
    let (status, reply) = server.get("/v1/usages?symbol=real/m.ts::made");
    assert_eq!(status, 200, "{reply}");
    is_lacking(&reply, OF_TYPESCRIPT);
    let edit = replaced("real/m.ts", "made(n", "gone(n");
    is_lacking(&dry_run(&server, &edit), OF_TYPESCRIPT);
    is_refused(&server, &edit);
}

#[test]
fn diagnostics_of_typescript_follow_what_a_link_leads_to() {
    let server = serve_home(linked(TYPESCRIPT, "real", "ln"));
    assert_eq!(errors(&server, "main.ts"), 0);
    server.home.write("real/m.ts", "export function other(n: number): number {\n  return n;\n}\n");
    assert_eq!(errors(&server, "main.ts"), 1);
}

#[test]
fn only_links_to_code_that_come_and_go_count() {
    let home = Home::with(&[
        ("go.mod", "module example.com/app\n\ngo 1.22\n"),
        ("main.go", "package main\n\nimport \"example.com/app/sub\"\n\nfunc main() {\n\tprintln(sub.Name())\n}\n"),
        ("sub/sub.go", "package sub\n\nfunc Name() string { return \"\" }\n"),
        ("docs/notes.txt", "Notes.\n"),
        ("node_modules/readme.txt", "Nothing.\n"),
    ]);
    let link = |target: &str, name: &str| symlink(target, home.root().join(name)).unwrap();
    link("docs", "latest");
    link("docs/notes.txt", "notes.txt");
    link("../sub", "node_modules/sub");
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let answers = || {
        let edit = replaced("sub/sub.go", "Name()", "Gone()");
        let (status, usages) = server.get("/v1/usages?symbol=example.com/app/sub.Name");
        assert_eq!(status, 200, "{usages}");
        [usages, dry_run(&server, &edit)]
    };
    let complete = || answers().map(|it| it["meta"]["complete"].clone());
    assert_eq!(complete(), [true, true]);
    symlink("sub", server.home.root().join("ln")).unwrap();
    answers().iter().for_each(|it| {
        is_lacking(it, "`ln` is a link to `sub`: code that names it by the link is not followed");
    });
    fs::remove_file(server.home.root().join("ln")).unwrap();
    assert_eq!(complete(), [true, true]);
}
