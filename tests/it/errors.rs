//! Error messages name the problem so that the next request is right.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Home, RUST, Reply, Server};

#[test]
fn a_request_that_is_not_understood_is_refused_with_what_helps() {
    let server = Server::shared(RUST);
    let post = |path: &str, content_type: &str, body: &str| {
        server.send(server.request("POST", path).header("content-type", content_type).body(body.to_owned()))
    };
    let json = |path: &str, body: &str| post(path, "application/json", body);
    let check = |reply: &Reply, status: u16, code: &str, wanted: &str| {
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.text);
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(wanted), "{detail} lacks {wanted}");
    };

    check(&json("/v1/open", "{"), 400, "invalid_json", "line 1");
    check(&json("/v1/open", r#"{"fiel":"x"}"#), 400, "invalid_request", "did you mean `file`");
    check(&json("/v1/open", r#"{"file":"a","file":"b"}"#), 400, "invalid_request", "duplicate field `file`");
    check(&json("/v1/open", r#"{"file":"a","wait_ms":120001}"#), 400, "invalid_request", "`wait_ms`");
    check(&json("/v1/open?file=a", r#"{"file":"a"}"#), 400, "invalid_request", "JSON body");
    let edit = r#"{"file":"a","search_context":"x","replacement":"y","autofix":95.5}"#;
    check(&json("/v1/edit", edit), 400, "invalid_request", "`autofix`");
    let null = r#"{"file":"a","search_context":"x","replacement":null}"#;
    check(&json("/v1/edit", null), 400, "invalid_request", "`replacement`");
    check(&post("/v1/edit", "text/plain", edit), 415, "unsupported_media_type", "application/json");
    check(&post("/v1/write", "text/x-search-replace", ""), 415, "unsupported_media_type", "application/json");

    // A field that has two names.
    let both = r#"{"file":"a","name":"a","content":""}"#;
    check(&json("/v1/write", both), 400, "invalid_request", "`name` is there twice, and `file` is the same field");
    check(&json("/v1/write", r#"{"content":""}"#), 400, "invalid_request", "missing field `name`, or `file`");

    let get = |path: &str| server.send(server.request("GET", path));
    // Names of other tools.
    let other = r#"{"file":"x","old_string":"a","replacement":"b"}"#;
    check(&json("/v1/edit", other), 400, "invalid_request", "did you mean `search_context`");
    check(&json("/v1/open", r#"{"file_path":"x"}"#), 400, "invalid_request", "did you mean `file`");
    check(&json("/v1/open", r#"{"file":3}"#), 400, "invalid_request", "expected a string");
    check(&get("/v1/usages?symbl=x"), 400, "invalid_request", "did you mean `symbol`");
    check(&get("/v1/usages?symbol=x&limit=-1"), 400, "invalid_request", "`limit`");
    check(&get("/v1/usages?symbol=x&symbol=y"), 400, "invalid_request", "duplicate field `symbol`");
    check(&get("/v1/symbols"), 400, "invalid_request", "either `query` or `file`");
    check(&get("/v1/symbols/at?file=a&line=1"), 400, "invalid_request", "`column`");
    check(&get("/v1/diagnostics?severity=eror"), 400, "invalid_request", "`error`");
    check(&get("/v1/status?x=1"), 400, "invalid_request", "it is none of those known. Known: workspace");
    let change = r#"{"symbol":"greet","change":"zzzzzz"}"#;
    check(&json("/v1/impact", change), 400, "invalid_request", "it is none of those known. Known: ");
    check(&get("/v1/status?workspace=nothing"), 404, "unknown_workspace", "nothing");
    check(&get("/v1/opne"), 404, "unknown_route", "`/v1/open`");
    let put = server.send(server.request("PUT", "/v1/workspaces"));
    check(&put, 405, "method_not_allowed", "PUT");
    let mut allowed: Vec<&str> = put.header("allow").split(',').map(str::trim).collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "GET", "HEAD", "POST"]);

    let xml = server.send(server.request("GET", "/v1/status").header("accept", "application/xml"));
    check(&xml, 406, "not_acceptable", "text/markdown");
}

#[test]
fn what_is_not_utf_8_is_refused_wherever_it_stands() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--trust"]);
    for (path, wanted) in [
        ("/v1/symbols?query=gr%FFeet", "the query is not UTF-8"),
        ("/v1/symbols?query=%C3&limit=1", "the query is not UTF-8"),
        ("/v1/symbols?query=%zz", "`%zz`"),
        ("/v1/symbols?query=%", "`%`"),
        ("/v1/symbols?query=a%2", "`%2`"),
        ("/v1/map?focus=a.txt&focus=%FF", "the query is not UTF-8"),
        ("/v1/events?workspace=%FF", "the query is not UTF-8"),
        ("/v1/runs/%FF", "the path is not UTF-8"),
        ("/v1/runs/%zz", "`%zz`"),
    ] {
        let reply = sent(&server, &format!("GET {path} HTTP/1.1\r\nHost: localhost"));
        assert_eq!(reply.problem["code"], "invalid_request", "{path}: {}", reply.head);
        assert!(reply.problem["detail"].as_str().unwrap().contains(wanted), "{path}: {}", reply.problem);
    }
    let fine = server.get("/v1/symbols?query=%c3%a9+%25&limit=1");
    assert_eq!(fine.0, 200, "{}", fine.1);
}

/// A reply as it came over the connection.
struct Sent {
    head: String,
    problem: Value,
}

/// The reply to this request head, sent unchanged, which an HTTP client would not do.
#[track_caller]
fn sent(server: &Server, head: &str) -> Sent {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let token = server.home.token();
    write!(stream, "{head}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    // The last of several replies.
    let last = &reply[reply.rfind("HTTP/1.1 ").unwrap_or_else(|| panic!("{reply:?}"))..];
    let (head, body) = last.split_once("\r\n\r\n").unwrap();
    let problem = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {reply}"));
    Sent { head: head.to_ascii_lowercase(), problem }
}

#[test]
fn a_head_that_makes_no_request_is_refused_like_any_other() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--trust"]);
    let long = format!("GET /v1/symbols?query={} HTTP/1.1\r\nHost: localhost", "a".repeat(70_000));
    let many: String = (0..200).map(|it| format!("\r\nX-{it}: a")).collect();
    let wide = format!("\r\nX: {}", "a".repeat(1 << 20));
    let get = "GET /v1/health HTTP/1.1\r\nHost: localhost";
    for (head, status, code) in [
        (long.as_str(), 414, "too_large"),
        (&format!("{get}{many}"), 431, "too_large"),
        (&format!("{get}{wide}"), 431, "too_large"),
        ("GARBAGE", 400, "invalid_request"),
        ("\u{16}\u{3}\u{1}", 400, "invalid_request"),
        ("GET /v1/health HTTP/7.0\r\nHost: localhost", 400, "invalid_request"),
        ("GET /v1/health HTTP/1.1\r\nHo st: localhost", 400, "invalid_request"),
        // After a request that was answered.
        (&format!("{get}\r\n\r\nGARBAGE"), 400, "invalid_request"),
    ] {
        let (shown, reply) = (&head[..head.len().min(60)], sent(&server, head));
        assert!(reply.head.starts_with(&format!("http/1.1 {status} ")), "{shown}: {}", reply.head);
        assert_eq!((&reply.problem["code"], &reply.problem["status"]), (&json!(code), &json!(status)), "{shown}");
        let id = reply.problem["request_id"].as_str().unwrap();
        for field in [
            &format!("\r\nx-request-id: {id}"),
            "\r\ncontent-type: application/problem+json",
            "\r\ncache-control: no-store",
            "\r\nx-content-type-options: nosniff",
        ] {
            assert!(reply.head.contains(field), "{shown} lacks {field}: {}", reply.head);
        }
    }
}

#[test]
fn whatever_refuses_tells_of_the_workspace() {
    let server = Server::on(RUST);
    server.wait_ready();
    let lib = server.home.read("src/lib.rs");
    let edit = |search: &str| json!({"file": "src/lib.rs", "search_context": search, "replacement": "x"});
    let hashed = json!({"file": "src/lib.rs", "search_context": "fn greet", "replacement": "x", "expected_hash": "000000000000"});
    let all = [
        server.post("/v1/edit", &edit("there is nothing like this here, and never was")),
        server.post("/v1/edit", &edit("}")),
        server.post("/v1/edit", &hashed),
        server.post("/v1/write", &json!({"name": "src/lib.rs", "content": "x", "mode": "create"})),
        server.post("/v1/write", &json!({"name": "../lib.rs", "content": "x"})),
        server.post("/v1/undo", &json!({"change": "01JABC"})),
        server.get("/v1/usages?symbol=greet&min_revision=99999&wait_ms=100"),
        server.get("/v1/usages?symbol=nothing_of_this_name"),
        server.get("/v1/diagnostics?file=src/lb.rs"),
        server.get("/v1/runs/none"),
    ];
    for (status, refused) in &all {
        assert!(*status >= 400 && refused["code"].is_string(), "{refused}");
        assert_eq!(refused["meta"]["workspace"], "workspace", "{refused}");
    }
    assert_eq!(all[6].1["meta"]["complete"], false, "{}", all[6].1);
    assert_eq!(server.home.read("src/lib.rs"), lib);
    let nothing = server.send(server.request("DELETE", "/v1/overlays/src/lib.rs")).json();
    assert!(nothing["detail"].as_str().is_some_and(|it| !it.contains("did you mean")), "{nothing}");
}

/// A client that sends everything before it reads gets an answer.
#[test]
fn what_is_refused_is_read_to_its_end() {
    let server = Server::shared(RUST);
    let large = || vec![b' '; (16 << 20) + 1];
    for _ in 0..5 {
        let stranger = server.stranger("POST", "/v1/write").header("content-type", "application/json").body(large());
        assert_eq!(server.send(stranger).code(), "unauthorized");
        let known = server.request("POST", "/v1/write").header("content-type", "application/json").body(large());
        assert_eq!(server.send(known).code(), "too_large");
    }
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let server = Server::shared(RUST);
    let body = json!({"name": "a", "content": "x".repeat(17 << 20)}).to_string();
    let announced = server.request("POST", "/v1/write").header("content-type", "application/json");
    // A client that goes on sending may find the connection closed; what counts is that nothing was written.
    let reply = server.send(announced.header("content-length", (17 << 20).to_string()).body("{}"));
    assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
    assert!(body.len() > 16 << 20 && !server.home.root().join("a").exists());
}

#[test]
fn a_workspace_is_opened_only_below_a_named_root() {
    let server = Server::on(RUST);
    let open = |root: &str| server.post("/v1/workspaces", &json!({"root": root}));
    let root = server.home.root().display().to_string();
    let (status, reply) = open(&root);
    assert_eq!((status, &reply["workspace"]["root"]), (200, &json!(root)), "{reply}");
    assert_eq!(reply["meta"]["workspace"], reply["workspace"]["id"]);
    for (root, status, code) in [
        ("/", 403, "forbidden_root"),
        ("/etc", 403, "forbidden_root"),
        (&format!("{root}/../state"), 403, "forbidden_root"),
        ("src", 400, "invalid_request"),
    ] {
        let (got, reply) = open(root);
        assert_eq!((got, reply["code"].as_str().unwrap()), (status, code), "{root}");
    }
    let id = server.get("/v1/workspaces").1["workspaces"][0]["id"].as_str().unwrap().to_owned();
    let closed = server.send(server.request("DELETE", &format!("/v1/workspaces?workspace={id}")));
    assert_eq!((closed.status, &closed.json()["workspace"]["id"]), (200, &json!(id)));
    assert_eq!(server.get("/v1/workspaces").1["workspaces"], json!([]));
    assert_eq!(server.post("/v1/open", &json!({"file": "src/lib.rs"})).1["code"], "unknown_workspace");
}
