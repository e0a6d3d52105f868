//! Source files that are not text: their uses are unknown, and answers that may depend on them are not complete.

use std::fs;

use serde_json::{Value, json};

use crate::language_servers::{serve_home, usages};
use crate::support::{Home, Server};

/// A trusted workspace with these files, some of which are no text.
fn serve_bytes(files: &[(&str, &[u8])]) -> Server {
    let home = Home::with(&[]);
    for (name, bytes) in files {
        fs::write(home.root().join(name), bytes).unwrap();
    }
    serve_home(home)
}

/// The files of which an incomplete answer says that they were left out.
#[track_caller]
fn named(reply: &Value, files: &[&str]) {
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    let missing = reply["meta"]["missing"].as_array().unwrap();
    for file in files {
        let is_it = |it: &Value| it["code"] == "unsupported" && it["scope"] == *file;
        assert!(missing.iter().any(is_it), "{file}: {reply}");
    }
}

const HEADER: &str = "#ifndef H_H\n#define H_H\nint zz(int a);\nint other(int a);\n#endif\n";
const LIB: &str = "#include \"h.h\"\n\nint zz(int a) {\n  return a;\n}\n\nint other(int a) {\n  return a + 1;\n}\n";
const LATIN: &[u8] = b"/* caf\xe9 */\n#include \"h.h\"\n\nint main(void) {\n  return zz(1);\n}\n";

#[test]
fn a_file_in_another_encoding_may_use_what_it_names() {
    let server = serve_bytes(&[("h.h", HEADER.as_bytes()), ("b.c", LIB.as_bytes()), ("a.c", LATIN)]);
    for path in ["/v1/usages?symbol=b.c::zz", "/v1/callers?symbol=b.c::zz"] {
        let (status, reply) = server.get(path);
        assert_eq!(status, 200, "{reply}");
        named(&reply, &["a.c"]);
    }
    // What it does not name it does not use.
    let (status, reply) = server.get("/v1/usages?symbol=b.c::other");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");

    let edit = json!({"file": "b.c", "search_context": "int zz(int a) {", "replacement": "int zz(int a, int b) {", "dry_run": true});
    let (status, planned) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{planned}");
    named(&planned, &["a.c"]);

    let (status, refused) = server.post("/v1/rename", &json!({"symbol": "b.c::zz", "new_name": "yy"}));
    assert_eq!((status, &refused["code"]), (422, &json!("rename_refused")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("`a.c`"), "{refused}");
    assert_eq!((server.home.read("h.h"), server.home.read("b.c")), (HEADER.to_owned(), LIB.to_owned()));
    assert_eq!(fs::read(server.home.root().join("a.c")).unwrap(), LATIN);

    // Saved as UTF-8 it is a text as all others.
    server.home.write("a.c", &String::from_utf8_lossy(LATIN).replace('\u{fffd}', "é"));
    assert!(usages(&server, "b.c::zz").contains(&"a.c:5 call".to_owned()));
}

#[test]
fn what_a_change_breaks_in_files_that_are_no_texts_is_not_known() {
    let lib = "def z(a: int) -> int:\n    return a\n\n\ndef alone(a: int) -> int:\n    return a\n";
    let large = format!("from lib import z\n\nz(1)\n# {}\n", "long ".repeat(400));
    let wide: Vec<u8> = "\u{feff}from lib import z\n\nz(1)\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let server = serve_bytes(&[
        ("pyproject.toml", b"[project]\nname = \"pkg\"\n"),
        ("semdex.toml", b"[limits]\nmax_file_bytes = 1000\n"),
        ("lib.py", lib.as_bytes()),
        ("latin.py", b"# -*- coding: latin-1 -*-\nfrom lib import z\n\nNAME = \"caf\xe9\"\nz(1)\n"),
        ("large.py", large.as_bytes()),
        ("wide.py", &wide),
    ]);
    let all = ["latin.py", "large.py", "wide.py"];
    let (status, reply) = server.get("/v1/usages?symbol=lib.py::z");
    assert_eq!(status, 200, "{reply}");
    named(&reply, &all);
    let dry_run = |old: &str, new: &str| {
        let edit = json!({"file": "lib.py", "search_context": old, "replacement": new, "dry_run": true});
        let (status, planned) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{planned}");
        planned
    };
    named(&dry_run("def z(a: int)", "def z(a: int, b: int)"), &all);
    let planned = dry_run("def alone(a: int)", "def alone(a: int, b: int)");
    assert_eq!(planned["meta"]["complete"], true, "{planned}");
    let (status, refused) = server.post("/v1/rename", &json!({"symbol": "lib.py::z", "new_name": "y"}));
    assert_eq!((status, &refused["code"]), (422, &json!("rename_refused")), "{refused}");
    assert_eq!(server.home.read("lib.py"), lib);
}

#[test]
fn a_text_of_no_language_that_code_includes_may_use_what_it_names() {
    let server = serve_bytes(&[
        ("h.h", HEADER.as_bytes()),
        ("b.c", LIB.as_bytes()),
        ("body", b"int main(void) { return zz(1); }\n"),
        ("notes", b"zz and other\n"),
        ("a.c", b"#include \"h.h\"\n#include \"body\"\n"),
    ]);
    let (status, reply) = server.get("/v1/usages?symbol=b.c::zz");
    assert_eq!(status, 200, "{reply}");
    let is_known = reply["items"].as_array().unwrap().iter().any(|it| it["file"] == "body");
    if !is_known {
        named(&reply, &["body"]);
    }
    let (status, reply) = server.get("/v1/usages?symbol=b.c::other");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
}

#[test]
fn of_go_too_a_file_that_is_too_large_may_use_what_it_names() {
    let large = format!("package lib\n\nvar X = Twice(1)\n\n// {}\n", "long ".repeat(400));
    let lib = "package lib\n\n// Twice doubles.\nfunc Twice(a int) int { return 2 * a }\n\nfunc Alone(a int) int { return a }\n";
    let server = serve_bytes(&[
        ("go.mod", b"module example.com/lib\n\ngo 1.21\n"),
        ("semdex.toml", b"[limits]\nmax_file_bytes = 1000\n"),
        ("lib.go", lib.as_bytes()),
        ("large.go", large.as_bytes()),
    ]);
    server.wait_ready();
    let (status, reply) = server.get("/v1/usages?symbol=Twice");
    assert_eq!(status, 200, "{reply}");
    named(&reply, &["large.go"]);
    let (status, refused) = server.post("/v1/rename", &json!({"symbol": "Twice", "new_name": "Double"}));
    assert_eq!((status, &refused["code"]), (422, &json!("rename_refused")), "{refused}");
    assert_eq!(server.home.read("lib.go"), lib);
}
