//! Inputs of Go's build that are not Go texts: files for `//go:embed`, includes of cgo. A change of one is in the next
//! answer; the impact of such a change is not computed before it is made.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Home, Server};

const EMBEDS: &str = "package em\n\nimport _ \"embed\"\n\n//go:embed data.txt\nvar Data string\n";
const CALLS: &str = "package c\n\n// #include \"x.h\"\nimport \"C\"\n\nfunc F() int {\n\treturn int(C.f(1))\n}\n";
const NARROW: &str = "static int f(int n) { return n; }\n";
const WIDE: &str = "static int f(int n, int by) { return n * by; }\n";

fn serve(files: &[(&str, &str)]) -> Server {
    let home = Home::with(&[("go.mod", "module example.com/m\n\ngo 1.22\n")]);
    files.iter().for_each(|(name, text)| home.write(name, text));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    server
}

/// Whether a file has errors, in a complete answer.
#[track_caller]
fn has_errors(server: &Server, file: &str) -> bool {
    let (status, reply) = server.get(&format!("/v1/diagnostics?severity=error&file={file}"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["total"].as_u64().unwrap() > 0
}

/// The answer says that the impact of a change of this file is unknown.
#[track_caller]
fn is_not_judged(reply: &Value, file: &str) {
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    let said =
        format!("`{file}` is read by the go command beside the code: what its change makes of the code is known");
    assert!(reply["impact"]["unchecked"].to_string().contains(&said), "{reply}");
}

#[test]
fn what_is_embedded_comes_and_goes() {
    let server = serve(&[("em/e.go", EMBEDS)]);
    assert!(has_errors(&server, "em/e.go"));
    for _ in 0..2 {
        server.home.write("em/data.txt", "a text\n");
        assert!(!has_errors(&server, "em/e.go"));
        fs::remove_file(server.home.root().join("em/data.txt")).unwrap();
        assert!(has_errors(&server, "em/e.go"));
    }
    let (status, written) = server.post("/v1/write", &json!({"name": "em/data.txt", "content": "a text\n"}));
    assert_eq!(status, 200, "{written}");
    is_not_judged(&written, "em/data.txt");
    assert!(!has_errors(&server, "em/e.go"));
    // Its content does not matter to a compiler.
    let edit = json!({"file": "em/data.txt", "search_context": "a text", "replacement": "another", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let (status, undone) = server.post("/v1/undo", &json!({"change": written["change"]}));
    assert_eq!(status, 200, "{undone}");
    is_not_judged(&undone, "em/data.txt");
    assert!(has_errors(&server, "em/e.go"));
}

#[test]
fn what_cgo_includes_is_followed() {
    let server = serve(&[("c/c.go", CALLS), ("c/x.h", NARROW)]);
    assert!(!has_errors(&server, "c/c.go"));
    for _ in 0..2 {
        server.home.write("c/x.h", WIDE);
        assert!(has_errors(&server, "c/c.go"));
        server.home.write("c/x.h", NARROW);
        assert!(!has_errors(&server, "c/c.go"));
    }
    let edit = json!({"file": "c/x.h", "search_context": NARROW.trim(), "replacement": WIDE.trim(), "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    is_not_judged(&reply, "c/x.h");
    assert!(!has_errors(&server, "c/c.go"));
}
