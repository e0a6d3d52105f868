//! Optional corrections with a change: the imports and the format of the files that it writes.

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server};

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/site\n\ngo 1.22\n"),
    ("auth/auth.go", "package auth\n\nfunc Login(name string) bool { return name != \"\" }\n"),
];

fn write(server: &Server, body: &Value) -> Value {
    let (status, reply) = server.post("/v1/write", body);
    assert_eq!(status, 200, "{reply}");
    reply
}

#[test]
fn rust_is_formatted() {
    let server = Server::on(RUST);
    server.wait_ready();
    let body = json!({"name": "src/lib.rs", "content": "\npub fn  two( )->u8{ 2 }\n", "format": true, "dry_run": true});
    let before = server.home.read("src/lib.rs");
    let planned = write(&server, &body);
    let diff = planned["files"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("+pub fn two() -> u8 {\n+    2\n+}"), "{diff}");
    assert_eq!(server.home.read("src/lib.rs"), before, "nothing is written in a dry run");
    let mut body = body;
    body["dry_run"] = json!(false);
    let done = write(&server, &body);
    assert_eq!(server.home.read("src/lib.rs"), before.clone() + "\npub fn two() -> u8 {\n    2\n}\n");
    assert_eq!((&done["files"][0]["hash"], &done["edits"][0]["line"]), (&planned["files"][0]["hash"], &json!(14)));
    assert_eq!(done["impact"]["changed"][0]["symbol"], "greeter::two", "{done}");
    // It is one change: one token takes it back.
    let (status, undone) = server.post("/v1/undo", &json!({"change": done["change"]}));
    assert_eq!((status, server.home.read("src/lib.rs")), (200, before), "{undone}");

    // What does not parse is written as it is.
    let broken = json!({"name": "src/broken.rs", "content": "fn f( {\n", "format": true});
    let reply = write(&server, &broken);
    let note = reply["files"][0]["note"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(note.contains("unformatted") && note.contains("rustfmt"), "{note}");
    assert_eq!(server.home.read("src/broken.rs"), "fn f( {\n");
}

#[test]
fn without_rustfmt_a_text_is_written_all_the_same() {
    let home = Home::with(RUST);
    let empty = home.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let server = home.serve_with(&[], &[("PATH", &empty)]);
    let reply = write(&server, &json!({"name": "src/a.rs", "content": "fn  f() {}\n", "format": true}));
    assert_eq!(reply["applied"], true, "{reply}");
    let note = reply["files"][0]["note"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(note.contains("rustup component add rustfmt"), "{note}");
    assert_eq!(server.home.read("src/a.rs"), "fn  f() {}\n");
}

#[test]
fn imports_of_rust_are_put_right() {
    let server = Server::on(RUST);
    server.wait_ready();
    let content = "use std::fmt;\nuse std::collections::{BTreeMap, HashSet};\nuse std::io::Write as _;\n\n\
                   pub fn count(names: &[&str]) -> HashMap<String, usize> {\n    let seen: HashSet<&str> = HashSet::new();\n    \
                   names.iter().map(|it| (shout(it), seen.len())).collect()\n}\n";
    let body = json!({"name": "src/count.rs", "content": content, "declare": true, "dry_run": true});
    let plain = write(&server, &body);
    let mut unused: Vec<&str> = Vec::new();
    for finding in plain["validation"].as_array().unwrap().iter().filter(|it| it["kind"] == "unused_import") {
        unused.push(finding["text"].as_str().unwrap());
    }
    assert_eq!(unused, ["std::fmt", "std::collections::BTreeMap", "std::io::Write"], "{plain}");

    let mut body = body;
    body["fix_imports"] = json!(true);
    body["dry_run"] = json!(false);
    let reply = write(&server, &body);
    let text = server.home.read("src/count.rs");
    let imports: Vec<&str> =
        text.lines().take_while(|it| !it.starts_with("pub fn")).filter(|it| !it.is_empty()).collect();
    assert!(text.contains("HashMap") && imports.iter().any(|it| it.contains("crate::shout::shout")), "{text}");
    assert!(!text.contains("use std::fmt") && !text.contains("BTreeMap") && !text.contains("Write"), "{text}");
    assert_eq!(reply["diagnostics"]["new"], json!([]), "{reply}\n{text}");
    assert_eq!((&reply["validation"], &reply["impact"]["broken"]), (&json!([]), &json!([])), "{reply}");

    // What may be used is left alone: by a macro, by a module below, by a method of a trait.
    let used = "use std::fmt::Write;\nuse std::rc::Rc;\npub use std::sync::Arc;\nuse std::cell::*;\n\n\
                mod below {\n    pub fn f() -> super::Rc<u8> {\n        super::Rc::new(1)\n    }\n}\n\n\
                pub fn g(out: &mut String) {\n    write!(out, \"{}\", below::f()).unwrap();\n}\n";
    let body = json!({"name": "src/used.rs", "content": used, "declare": true, "fix_imports": true});
    let reply = write(&server, &body);
    assert_eq!((server.home.read("src/used.rs").as_str(), &reply["validation"]), (used, &json!([])), "{reply}");
}

#[test]
fn go_is_formatted_and_its_imports_are_put_right() {
    let server = Server::on(GO);
    server.wait_ready();
    let content =
        "package web\nimport \"os\"\nfunc  In( ) bool {\nfmt.Println(\"in\")\n  return auth.Login( \"a\" )\n}\n";
    let body = json!({"name": "web/web.go", "content": content, "format": true, "fix_imports": true});
    let reply = write(&server, &body);
    let expected = "package web\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/site/auth\"\n)\n\nfunc In() bool {\n\t\
                    fmt.Println(\"in\")\n\treturn auth.Login(\"a\")\n}\n";
    assert_eq!(server.home.read("web/web.go"), expected, "{reply}");
    assert_eq!((&reply["validation"], &reply["diagnostics"]["new"]), (&json!([]), &json!([])), "{reply}");

    let edit = json!({"file": "web/web.go", "search_context": "\tfmt.Println(\"in\")\n", "replacement": "  _ = 1\n",
        "format": true, "fix_imports": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    let expected = "package web\n\nimport (\n\t\"example.com/site/auth\"\n)\n\nfunc In() bool {\n\t_ = 1\n\treturn auth.Login(\"a\")\n}\n";
    assert_eq!((status, server.home.read("web/web.go").as_str()), (200, expected), "{reply}");
    assert_eq!(reply["edits"][0]["line"], 8, "{reply}");

    let broken = write(&server, &json!({"name": "web/bad.go", "content": "package web\n\nfunc {\n", "format": true}));
    let note = broken["files"][0]["note"].as_str().unwrap_or_else(|| panic!("{broken}"));
    assert!(note.contains("unformatted"), "{note}");
    assert_eq!(server.home.read("web/bad.go"), "package web\n\nfunc {\n");
}
