//! Content that is not on the disk: every answer sees it while it lasts, and nothing else does.

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{RUST, Server};

fn put(server: &Server, file: &str, body: &Value) -> (u16, Value) {
    let reply = server.send(server.request("PUT", &format!("/v1/overlays/{file}")).json(body));
    (reply.status, reply.json())
}

fn delete(server: &Server, file: &str) -> (u16, Value) {
    let reply = server.send(server.request("DELETE", &format!("/v1/overlays/{file}")));
    (reply.status, reply.json())
}

fn errors(server: &Server) -> Vec<String> {
    let (status, reply) = server.get("/v1/diagnostics?severity=error&wait_ms=60000");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let place = |it: &Value| format!("{}:{}", it["file"].as_str().unwrap(), it["line"]);
    reply["items"].as_array().unwrap().iter().map(place).collect()
}

fn usages(server: &Server, symbol: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}&wait_ms=60000"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["total"].clone()
}

#[test]
fn rust_answers_see_an_overlay() {
    let server = Server::on(RUST);
    server.wait_ready();
    let disk = server.home.read("src/lib.rs");
    let before = usages(&server, "greeter::greet");
    let broken = disk.replace("greet(name: &str)", "greet(name: &str, times: usize)");
    let (status, reply) = put(&server, "src/lib.rs", &json!({"content": broken}));
    assert_eq!((status, &reply["file"]), (200, &json!("src/lib.rs")), "{reply}");
    assert_eq!(reply["hash"], blake3::hash(broken.as_bytes()).to_hex().as_str());
    assert_eq!(reply["old_hash"], blake3::hash(disk.as_bytes()).to_hex().as_str());
    assert_eq!(reply["meta"]["overlays"], json!(["src/lib.rs"]));
    assert_eq!(errors(&server), ["src/lib.rs:12", "src/shout.rs:5"]);
    assert_eq!(server.home.read("src/lib.rs"), disk, "the disk stays as it is");

    let (_, opened) = server.post("/v1/open", &json!({"file": "src/lib.rs"}));
    assert_eq!((&opened["hash"], &opened["overlay"]), (&reply["hash"], &json!(true)), "{opened}");
    let (_, text) = server.post("/v1/describe", &json!({"file": "src/lib.rs"}));
    assert_eq!((&text["file"]["content"], &text["file"]["overlay"]), (&json!(broken), &json!(true)));
    let (_, other) = server.post("/v1/open", &json!({"file": "src/shout.rs"}));
    assert_eq!((other.get("overlay"), &other["meta"]["overlays"]), (None, &json!(["src/lib.rs"])), "{other}");

    // Changes of the disk below it are invisible until it is removed.
    let changed = disk.replace("names.iter().map(|name| greet(name)).collect()", "Vec::new()");
    server.home.write("src/lib.rs", &changed);
    assert_eq!(errors(&server).len(), 2);
    let (status, gone) = delete(&server, "src/lib.rs");
    assert_eq!((status, gone["meta"].get("overlays")), (200, None), "{gone}");
    assert!(errors(&server).is_empty());
    assert_eq!(json!(usages(&server, "greeter::greet").as_u64().unwrap() + 1), before);
    let (status, reply) = delete(&server, "src/lib.rs");
    assert_eq!((status, &reply["code"]), (404, &json!("unknown_file")));
}

#[test]
fn go_answers_see_an_overlay() {
    let server = Server::on(GO);
    server.wait_ready();
    assert!(errors(&server).is_empty());
    let disk = server.home.read("greet.go");
    let broken = disk.replace("Greet(name string) string", "Greet(name string, loud bool) string");
    assert_ne!(disk, broken);
    let (status, reply) = put(&server, "greet.go", &json!({"content": broken}));
    assert_eq!(status, 200, "{reply}");
    assert_eq!(errors(&server), ["cmd/hello/main.go:11", "greet.go:18", "greet_test.go:7"]);
    // A file that is not on the disk.
    let (status, reply) =
        put(&server, "more.go", &json!({"content": "package greeter\n\nfunc More() string { return nowhere }\n"}));
    assert_eq!((status, &reply["old_hash"]), (200, &json!(null)), "{reply}");
    assert!(errors(&server).contains(&"more.go:3".to_owned()), "{:?}", errors(&server));
    assert!(!server.home.root().join("more.go").exists());
    // The disk changes below; gopls must not read it.
    server.home.write("greet.go", &format!("{disk}\n// somebody's\n"));
    assert_eq!(errors(&server).len(), 4);

    assert_eq!(delete(&server, "more.go").0, 200);
    assert_eq!(delete(&server, "greet.go").0, 200);
    assert!(errors(&server).is_empty());
    let (_, text) = server.post("/v1/describe", &json!({"file": "greet.go"}));
    assert!(text["file"]["content"].as_str().unwrap().ends_with("// somebody's\n"), "{text}");
    let (status, _) = server.post("/v1/describe", &json!({"file": "more.go"}));
    assert_eq!(status, 404);
}

#[test]
fn edits_of_an_overlaid_file_go_where_its_owner_says() {
    let server = Server::on(&[("a.txt", "disk\n"), ("b.txt", "other\n")]);
    assert_eq!(put(&server, "a.txt", &json!({"content": "buffer\n"})).0, 200);
    let edit = |file: &str, search: &str, replacement: &str| {
        server.post("/v1/edit", &json!({"file": file, "search_context": search, "replacement": replacement}))
    };
    let (status, reply) = edit("a.txt", "buffer", "edited");
    assert_eq!((status, &reply["code"], &reply["file"]), (409, &json!("conflict"), &json!("a.txt")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("overlay"), "{reply}");

    assert_eq!(put(&server, "a.txt", &json!({"content": "buffer\n", "edits": "overlay"})).0, 200);
    let (status, reply) = edit("a.txt", "buffer", "edited");
    assert_eq!((status, &reply["applied"], &reply["change"]), (200, &json!(true), &json!(null)), "{reply}");
    assert_eq!((&reply["files"][0]["overlay"], server.home.read("a.txt").as_str()), (&json!(true), "disk\n"));
    let (_, listed) = server.get("/v1/overlays");
    assert_eq!(listed["overlays"][0]["hash"], reply["files"][0]["hash"], "{listed}");
    let (_, changes) = server.get("/v1/changes");
    assert_eq!(changes["total"], 0, "the journal speaks of the disk");
    let both = json!({"edits": [{"file": "a.txt", "search_context": "edited", "replacement": "x"},
        {"file": "b.txt", "search_context": "other", "replacement": "x"}]});
    let (status, reply) = server.post("/v1/edit", &both);
    assert_eq!((status, &reply["code"]), (409, &json!("conflict")), "{reply}");
    assert_eq!(server.home.read("b.txt"), "other\n");
    let (status, reply) = edit("b.txt", "other", "changed");
    assert_eq!((status, reply["files"][0].get("overlay")), (200, None), "{reply}");
}

#[test]
fn an_overlay_ends_by_itself() {
    let server = Server::on(&[("dir/a.txt", "disk\n")]);
    let revision = || server.get("/v1/changes").1["meta"]["revision"].as_u64().unwrap();
    let first = revision();
    assert_eq!(put(&server, "dir/a.txt", &json!({"content": "disk\n", "ttl_s": 3600})).0, 200);
    assert_eq!(revision(), first, "nobody sees another content");
    let (status, reply) = put(&server, "dir%2Fa.txt", &json!({"content": "buffer\n", "ttl_s": 1}));
    assert_eq!((status, &reply["file"]), (200, &json!("dir/a.txt")), "{reply}");
    assert_eq!(revision(), first + 1);
    server.wait_for(|it| it.get("/v1/overlays").1["overlays"] == json!([]));
    let (_, text) = server.post("/v1/describe", &json!({"file": "dir/a.txt"}));
    assert_eq!(text["file"]["content"], "disk\n", "{text}");
    assert_eq!(revision(), first + 2);
}

#[test]
fn what_cannot_be_an_overlay_is_refused() {
    let server = Server::on(RUST);
    for (file, body, status, code) in [
        ("..%2Fx", json!({"content": ""}), 400, "outside_workspace"),
        (".git/config", json!({"content": ""}), 400, "outside_workspace"),
        ("src", json!({"content": ""}), 400, "invalid_request"),
        ("src/lib.rs", json!({"content": "\u{0}"}), 422, "not_text"),
        ("Cargo.toml", json!({"content": ""}), 422, "invalid_content"),
        ("tsconfig.json", json!({"content": "{}"}), 422, "invalid_content"),
        ("compile_flags.txt", json!({"content": "-DX\n"}), 422, "invalid_content"),
        (".clangd", json!({"content": ""}), 422, "invalid_content"),
        ("pyproject.toml", json!({"content": ""}), 422, "invalid_content"),
        ("src/lib.rs", json!({"content": "", "ttl_s": 0}), 400, "invalid_request"),
        ("src/lib.rs", json!({"content": "", "ttl_s": 999_999_999}), 400, "invalid_request"),
        ("src/lib.rs", json!({"content": "x".repeat((10 << 20) + 1)}), 413, "too_large"),
        ("src/lib.rs", json!({"contents": ""}), 400, "invalid_request"),
    ] {
        let reply = server.send(server.request("PUT", &format!("/v1/overlays/{file}")).json(&body));
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{file}: {}", reply.text);
    }
    assert_eq!(server.get("/v1/overlays").1["overlays"], json!([]));
    // It makes a root too, and its server is sent its text.
    let (status, reply) = put(&server, "setup.py", &json!({"content": "x = 1\n"}));
    assert_eq!(status, 200, "{reply}");
}
