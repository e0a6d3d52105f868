//! Fixes of diagnostics: each is applied as an ordinary change, and only to the text for which it was offered.

use serde_json::{Value, json};

use crate::bad_servers::fake;
use crate::language_servers::serve;
use crate::support::Server;

/// The diagnostics of a file of all severities, with their fixes; all is known.
#[track_caller]
fn diagnostics(server: &Server, file: &str) -> Vec<Value> {
    let path = format!("/v1/diagnostics?file={file}&severity=error,warning,info,hint&fixes=true");
    let (status, reply) = server.get(&path);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["items"].as_array().unwrap().clone()
}

fn titles(diagnostics: &[Value]) -> Vec<String> {
    let fixes = diagnostics.iter().flat_map(|it| it["fixes"].as_array().cloned().unwrap_or_default());
    fixes.map(|it| it["title"].as_str().unwrap().to_owned()).collect()
}

/// The fix whose title holds these words, with the diagnostic that it is offered against.
#[track_caller]
fn fix(server: &Server, file: &str, words: &str) -> (Value, String) {
    let found = diagnostics(server, file);
    for diagnostic in &found {
        for fix in diagnostic["fixes"].as_array().into_iter().flatten() {
            if fix["title"].as_str().unwrap().contains(words) {
                return (diagnostic.clone(), fix["id"].as_str().unwrap().to_owned());
            }
        }
    }
    panic!("no fix `{words}`: {found:#?}");
}

/// Applies it in a dry run and for good: the diagnostic goes, the text is as expected, and undo brings back each byte.
/// What was offered is then refused on any other text.
#[track_caller]
fn applies(server: &Server, file: &str, words: &str, expected: &str) {
    let before = server.home.read(file);
    let (diagnostic, id) = fix(server, file, words);
    let (status, planned) = server.post("/v1/edit", &json!({"fix": id, "dry_run": true}));
    assert_eq!((status, &planned["applied"], &planned["change"]), (200, &json!(false), &Value::Null), "{planned}");
    assert_eq!(server.home.read(file), before, "nothing is written in a dry run");
    let (status, done) = server.post("/v1/edit", &json!({"fix": id, "on_break": "report"}));
    assert_eq!((status, &done["applied"]), (200, &json!(true)), "{done}");
    assert_eq!(done["files"][0]["diff"], planned["files"][0]["diff"]);
    assert_eq!(server.home.read(file), expected, "{done}");
    assert_eq!(done["edits"][0]["strategy"], "exact", "{done}");
    let after = diagnostics(server, file);
    let same = |it: &Value| it["message"] == diagnostic["message"] && it["line"] == diagnostic["line"];
    assert!(!after.iter().any(same), "{diagnostic} is still there: {after:#?}");

    // It was offered for the text before, and is not applied to this one.
    let reply = server.send(server.request("POST", "/v1/edit").json(&json!({"fix": id, "wait_ms": 60_000})));
    assert_eq!((reply.status, reply.code()), (409, "hash_mismatch".to_owned()), "{}", reply.text);
    assert_eq!(server.home.read(file), expected);
    let (status, undone) = server.post("/v1/undo", &json!({"change": done["change"]}));
    assert_eq!((status, server.home.read(file)), (200, before), "{undone}");
    assert_eq!(fix(server, file, words).1, id, "the same text, the same offer");
}

const RUST: &str = "pub struct Point {\n    pub x: i32,\n    pub y: i32,\n}\n\npub fn origin() -> Point {\n    Point { x: 0 }\n}\n\npub fn count() -> u32 {\n    let mut sum = 0;\n    sum += 1;\n    sum\n}\n\npub fn badName() {}\n";
const USES: &str = "//! Uses.\n\npub fn call() {\n    crate::badName();\n}\n";

#[test]
fn rust_is_put_right() {
    let manifest = "[package]\nname = \"shapes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let lib = format!("pub mod uses;\n\n{RUST}");
    let server = Server::on(&[("Cargo.toml", manifest), ("src/lib.rs", &lib), ("src/uses.rs", USES)]);
    server.wait_ready();
    let (_, plain) = server.get("/v1/diagnostics?file=src/lib.rs");
    assert!(!plain.to_string().contains("\"fixes\""), "only where asked for: {plain}");
    applies(&server, "src/lib.rs", "Fill struct fields", &lib.replace("{ x: 0 }", "{ x: 0, y: todo!() }"));
    let found = diagnostics(&server, "src/lib.rs");
    let fields = found.iter().find(|it| it["code"] == "E0063").unwrap_or_else(|| panic!("{found:#?}"));
    assert!(!titles(std::slice::from_ref(fields)).is_empty(), "{fields}");

    // One that changes other files says which, and is one change.
    let (diagnostic, id) = fix(&server, "src/lib.rs", "Rename to bad_name");
    let offered = diagnostic["fixes"].as_array().unwrap().iter().find(|it| it["id"] == id.as_str()).unwrap();
    assert_eq!(offered["files"], json!(["src/lib.rs", "src/uses.rs"]), "{offered}");
    let (status, done) = server.post("/v1/edit", &json!({"fix": id}));
    assert_eq!((status, done["files"].as_array().map(Vec::len)), (200, Some(2)), "{done}");
    assert!(server.home.read("src/uses.rs").contains("crate::bad_name();"));
    server.post("/v1/undo", &json!({"change": done["change"]}));
    assert_eq!((server.home.read("src/lib.rs"), server.home.read("src/uses.rs")), (lib.clone(), USES.to_owned()));

    // The second file was changed since: it is another offer now.
    server.home.write("src/uses.rs", &USES.replace("Uses.", "It uses."));
    let reply = server.send(server.request("POST", "/v1/edit").json(&json!({"fix": id, "wait_ms": 60_000})));
    assert_eq!((reply.status, reply.code()), (409, "conflict".to_owned()), "{}", reply.text);
    assert_eq!(server.home.read("src/lib.rs"), lib);

    let markdown = server.markdown("/v1/diagnostics?file=src/lib.rs&severity=error,hint,warning&fixes=true", None);
    assert!(markdown.text.contains("\n  - fix `src/lib.rs@"), "{}", markdown.text);
    // A name needs no memory: it outlives the process.
    let id = fix(&server, "src/lib.rs", "Fill struct fields").1;
    let server = server.restart(&["--trust"]);
    server.wait_ready();
    let (status, done) = server.post("/v1/edit", &json!({"fix": id, "dry_run": true}));
    let diff = done["files"][0]["diff"].as_str().unwrap_or_default();
    assert!(status == 200 && diff.contains("+    Point { x: 0, y: todo!() }"), "{done}");
    let hash = done["files"][0]["old_hash"].clone();
    let (status, _) = server.post("/v1/edit", &json!({"fix": id, "expected_hash": hash, "dry_run": true}));
    assert_eq!(status, 200);
    let (status, refused) =
        server.post("/v1/edit", &json!({"fix": id, "expected_hash": "000000000000", "dry_run": true}));
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
}

#[test]
fn go_is_put_right() {
    let text = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(total(1, \"a\"))\n}\n";
    let server = Server::on(&[("go.mod", "module example.com/app\n\ngo 1.22\n"), ("main.go", text)]);
    server.wait_ready();
    let id = fix(&server, "main.go", "Create function total").1;
    let (status, done) = server.post("/v1/edit", &json!({"fix": id}));
    assert_eq!((status, &done["applied"]), (200, &json!(true)), "{done}");
    assert!(server.home.read("main.go").contains("func total(i int, s string)"), "{done}");
    assert_eq!(diagnostics(&server, "main.go").len(), 0, "{done}");
    let (_, undone) = server.post("/v1/undo", &json!({"change": done["change"]}));
    assert_eq!(server.home.read("main.go"), text, "{undone}");
}

#[test]
fn python_and_typescript_are_put_right() {
    let python = "def main() -> None:\n    print(Path(\".\"))\n";
    let typescript = "export function main(): number {\n  return shop;\n}\n";
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("main.py", python),
        ("lib.py", "class Path:\n    def __init__(self, name: str) -> None:\n        self.name = name\n"),
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"*.ts\"]}\n"),
        ("shop.ts", "export const shop = 1;\n"),
        ("main.ts", typescript),
    ]);
    applies(&server, "main.py", "from lib import Path", &format!("from lib import Path\n\n\n{python}"));
    applies(&server, "main.ts", "Add import", &format!("import {{ shop }} from \"./shop\";\n\n{typescript}"));
}

/// What is offered for an overlay is of its text, and changes it alone.
#[test]
fn a_fix_of_an_overlay_changes_the_overlay() {
    let (disk, shown) = ("x = 1\n", "def main() -> None:\n    print(Path(\".\"))\n");
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("main.py", disk),
        ("lib.py", "class Path:\n    def __init__(self, name: str) -> None:\n        self.name = name\n"),
    ]);
    let put = |text: &str| {
        let body = json!({"content": text, "edits": "overlay"});
        let reply = server.send(server.request("PUT", "/v1/overlays/main.py").json(&body));
        assert_eq!(reply.status, 200, "{}", reply.text);
    };
    put(shown);
    let id = fix(&server, "main.py", "from lib import Path").1;
    let (status, done) = server.post("/v1/edit", &json!({"fix": id}));
    assert_eq!(status, 200, "{done}");
    let mended = format!("from lib import Path\n\n\n{shown}");
    let (_, text) = server.post("/v1/describe", &json!({"file": "main.py"}));
    assert_eq!((&text["file"]["content"], &text["file"]["overlay"]), (&json!(mended), &json!(true)), "{text}");
    assert_eq!(titles(&diagnostics(&server, "main.py")), [""; 0]);
    assert_eq!(server.home.read("main.py"), disk);
    // Below the overlay the offer is of no use.
    let reply = server.send(server.request("DELETE", "/v1/overlays/main.py"));
    assert_eq!(reply.status, 200, "{}", reply.text);
    let reply = server.send(server.request("POST", "/v1/edit").json(&json!({"fix": id, "wait_ms": 60_000})));
    assert_eq!((reply.status, reply.code()), (409, "hash_mismatch".to_owned()), "{}", reply.text);
    put(shown);
    assert_eq!(fix(&server, "main.py", "from lib import Path").1, id);
}

#[test]
fn only_changes_of_texts_are_offered_by_a_server() {
    let server = fake("fixes", &[("bad.py", "hail(1)\n")]);
    let found = diagnostics(&server, "bad.py");
    assert_eq!(titles(&found), ["Change hail to greet", "Define hail"], "{found:#?}");
    let fixes = found[0]["fixes"].as_array().unwrap();
    assert_eq!((&fixes[0]["files"], &fixes[1]["files"]), (&Value::Null, &json!(["lib.py"])));
    applies(&server, "bad.py", "Change hail", "greet(1)\n");

    // It is worked out once it is wanted, and changes another file.
    let id = fix(&server, "bad.py", "Define hail").1;
    let lib = server.home.read("lib.py");
    let (status, done) = server.post("/v1/edit", &json!({"fix": id}));
    assert_eq!((status, &done["files"][0]["file"]), (200, &json!("lib.py")), "{done}");
    assert_eq!(server.home.read("lib.py"), format!("def hail(it):\n    return it\n\n\n{lib}"));
    assert!(diagnostics(&server, "bad.py").is_empty());
    // Its file is the same, but the diagnostic is gone.
    let reply = server.send(server.request("POST", "/v1/edit").json(&json!({"fix": id, "wait_ms": 60_000})));
    assert_eq!((reply.status, reply.code()), (409, "conflict".to_owned()), "{}", reply.text);
    let (_, undone) = server.post("/v1/undo", &json!({"change": done["change"]}));
    assert_eq!(server.home.read("lib.py"), lib, "{undone}");
}

#[test]
fn what_is_no_fix_is_refused() {
    let server = fake("fixes", &[("bad.py", "hail(1)\n")]);
    let id = fix(&server, "bad.py", "Change hail").1;
    let tampered = format!("{}{}", &id[..id.len() - 4], "0000");
    let moved = id.replace("@0-4", "@1-4");
    let other = id.replace("bad.py", "none.py");
    let outside = id.replace("bad.py", "../bad.py");
    let beyond = id.replace("@0-4", "@0-4000");
    for (wrong, status, code) in [
        ("x", 400, "invalid_request"),
        ("", 400, "invalid_request"),
        (&tampered, 409, "conflict"),
        (&moved, 409, "conflict"),
        (&beyond, 409, "conflict"),
        (&other, 404, "unknown_file"),
        (&outside, 400, "outside_workspace"),
    ] {
        let (got, refused) = server.post("/v1/edit", &json!({"fix": wrong}));
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{wrong}: {refused}");
    }
    for beside in [
        json!({"search_context": "x", "replacement": "y"}),
        json!({"symbol": "lib.py::greet"}),
        json!({"edits": []}),
        json!({"replacement": ""}),
    ] {
        let mut body = beside;
        body["fix"] = json!(id);
        let (status, refused) = server.post("/v1/edit", &body);
        assert_eq!((status, &refused["code"]), (400, &json!("invalid_request")), "{body}: {refused}");
    }
    assert_eq!(server.home.read("bad.py"), "hail(1)\n");
    // An overlay is the text, and takes edits only where it says so.
    server.home.write("bad.py", "hail(1)\nhail(2)\n");
    let (status, refused) = server.post("/v1/edit", &json!({"fix": id}));
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
    assert!(refused["actual_hash"].is_string(), "{refused}");
    assert_eq!(server.home.read("bad.py"), "hail(1)\nhail(2)\n");
}
