//! What a request, a connection and the process may take, and what the log may hold.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};

use crate::mcp;
use crate::support::{Home, RUST, Server, run};

/// More than a client without a token, or a user on a socket, may have.
const TOO_MANY: usize = 300;

#[test]
fn the_body_of_a_hook_is_bounded_as_every_body_is() {
    let server = Server::shared(RUST);
    let hook = server.request("POST", "/v1/hooks/claude").header("content-type", "application/json");
    let reply = server.send(hook.body(vec![b' '; (16 << 20) + 1]));
    assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
}

#[test]
fn edits_that_are_nowhere_exactly_are_matched_until_the_deadline() {
    let line =
        |it: usize| format!("    let value_{it} = compute_the_value_of(first_argument_{it}, second_argument_{it});\n");
    let text: String = (0..40_000).map(line).collect();
    let server = Home::with(&[("a.txt", &text)]).serve(&["--no-trust"]);
    // Each is compared with the whole file, and fits one place of it.
    let place: String = (20_000..20_012).map(line).collect();
    let near = place.replacen("compute_the_value_of", "compute_the_valu_of", 1);
    let replacement = place.replacen("second_argument_20006", "nothing", 1);
    let edit = json!({"file": "a.txt", "search_context": near, "replacement": replacement});
    let request = json!({"edits": vec![edit; 2000], "autofix": 60, "wait_ms": 1});
    let (status, reply) = server.post("/v1/edit", &request);
    assert_eq!((status, &reply["code"]), (504, &json!("timeout")), "{reply}");
    let detail = reply["detail"].as_str().unwrap();
    assert!(detail.contains("of 2000 edits were matched") && detail.contains("nothing was changed"), "{detail}");
    assert_eq!(server.home.read("a.txt"), text);
}

#[test]
fn overlays_keep_to_the_budget() {
    const OVERLAYS: usize = 120;
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust"]);
    let name = |it: usize| format!("a/directory/with/a/rather/long/name/of/its/own/file-{it:04}.txt");
    for it in 0..OVERLAYS {
        let put = server.request("PUT", &format!("/v1/overlays/{}", name(it))).json(&json!({"content": "text\n"}));
        assert_eq!(server.send(put).status, 200);
    }
    for accept in ["application/json", "text/markdown"] {
        let get = |path: &str| server.send(server.request("GET", path).header("accept", accept));
        let page = get("/v1/overlays?max_tokens=500");
        assert!(page.status == 200 && page.text.len() <= 2000, "{}: {}", page.text.len(), page.text);
        let open = json!({"file": "a.txt", "max_tokens": 300});
        let open = server.send(server.request("POST", "/v1/open").header("accept", accept).json(&open));
        assert!(
            open.text.len() <= 1200 && open.text.contains("`semdex overlay list`"),
            "{}: {}",
            open.text.len(),
            open.text
        );
    }
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = server.get(&format!("/v1/overlays?max_tokens=800{cursor}"));
        assert_eq!((status, &page["total"]), (200, &json!(OVERLAYS)), "{page}");
        let files = page["overlays"].as_array().unwrap();
        assert!(!files.is_empty() && files.len() < OVERLAYS, "{page}");
        found.extend(files.iter().map(|it| it["file"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, (0..OVERLAYS).map(name).collect::<Vec<_>>());
    let (_, limited) = server.get("/v1/overlays?limit=3");
    assert_eq!(limited["overlays"].as_array().map(Vec::len), Some(3), "{limited}");
    let (_, whole) = server.get("/v1/overlays");
    assert_eq!(
        whole["meta"]["overlays"].as_array().map(Vec::len),
        Some(OVERLAYS),
        "without a budget nothing is left out"
    );
}

#[test]
fn a_removed_or_emptied_journal_is_noticed_before_a_change_is_acknowledged() {
    let remove = |state: &Path| {
        for rest in ["", "-wal", "-shm"] {
            fs::remove_file(state.join(format!("journal.db{rest}"))).unwrap();
        }
    };
    let empty = |state: &Path| drop(File::create(state.join("journal.db")).unwrap());
    let overwrite = |state: &Path| fs::write(state.join("journal.db"), "no database\n").unwrap();
    let harms: [&dyn Fn(&Path); 3] = [&remove, &empty, &overwrite];
    for harm in harms {
        let mut server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust"]);
        let edit = |server: &Server, from: &str, to: &str| {
            let body = json!({"file": "a.txt", "search_context": from, "replacement": to});
            let (status, made) = server.post("/v1/edit", &body);
            assert_eq!(status, 200, "{made}");
            made["change"].clone()
        };
        edit(&server, "one", "two");
        harm(&server.home.path().join("state/semdex"));
        let second = edit(&server, "two", "three");
        server.signal(Signal::KILL);
        server.wait();
        let server = server.home.clone().serve(&["--no-trust"]);
        let (status, undone) = server.post("/v1/undo", &json!({"change": second}));
        assert_eq!((status, server.home.read("a.txt").as_str()), (200, "two\n"), "{undone}");
    }
}

#[test]
fn connections_without_a_token_leave_file_descriptors() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust"]);
    let few = Some(128);
    let pid = Pid::from_raw(server.pid().cast_signed());
    prlimit(pid, Resource::Nofile, Rlimit { current: few, maximum: few }).unwrap();
    let begun = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n";
    let strangers: Vec<TcpStream> = (0..TOO_MANY)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            // The server may have closed it already.
            let _ = stream.write_all(begun);
            stream
        })
        .collect();
    for count in 0..10 {
        let ended = run(server.home.semdex().args(["describe", "--file", "a.txt"]));
        assert_eq!(ended.code, Some(0), "{}{}", ended.output, ended.errors);
        let write = json!({"name": "count.txt", "content": count.to_string(), "mode": "overwrite"});
        let (status, written) = server.post("/v1/write", &write);
        assert_eq!(status, 200, "{written}");
    }
    drop(strangers);
}

#[test]
fn connections_without_a_token_keep_nobody_out() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust"]);
    let token = server.home.token();
    let mut events = TcpStream::connect(server.address()).unwrap();
    let head = format!("GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    events.write_all(head.as_bytes()).unwrap();
    let mut events = BufReader::new(events);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert_ne!(events.read_line(&mut line).unwrap(), 0);
    }
    // Begun requests and idle connections.
    let strangers: Vec<TcpStream> = (0..TOO_MANY)
        .map(|it| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            if it % 2 == 0 {
                // The server may have closed it already.
                let _ = stream.write_all(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n");
            }
            stream
        })
        .collect();
    assert_eq!(server.get("/v1/status").0, 200, "a client with a token gets through");
    assert_eq!(run(server.home.semdex().arg("status")).code, Some(0), "and so does the command line");
    // The oldest gave way.
    let mut first = &strangers[0];
    first.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert!(matches!(first.read(&mut [0; 16]), Ok(0) | Err(_)));
    // A connection with a token stays.
    server.home.write("a.txt", "two\n");
    assert_eq!(server.post("/v1/describe", &json!({"file": "a.txt"})).0, 200);
    let mut seen = String::new();
    while !seen.contains("event: revision") {
        assert_ne!(events.read_line(&mut seen).unwrap(), 0, "{seen}");
    }
}

#[test]
fn a_user_has_a_bounded_number_of_connections_on_the_socket() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust"]);
    let socket = server.hello["socket"].as_str().unwrap().to_owned();
    let open: Vec<UnixStream> = (0..TOO_MANY).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let mut last = open.last().unwrap();
    let mut reply = String::new();
    last.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 429 ") && reply.contains("\"code\":\"busy\""), "{reply}");
    assert_eq!(server.get("/v1/status").0, 200, "over TCP there is room");
    drop(open);
    server.wait_for(|it| run(it.home.semdex().arg("status")).code == Some(0));
}

#[test]
fn without_memory_the_process_ends_immediately() {
    for backtrace in ["0", "full"] {
        let home = Home::with(&[("a.txt", "one\n")]);
        let mut server = home.serve_with(&["--no-trust"], &[("RUST_BACKTRACE", Path::new(backtrace))]);
        assert_eq!(server.get("/v1/status").0, 200);
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let size = status.lines().find_map(|it| it.strip_prefix("VmSize:")).unwrap();
        let kilobytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
        // For a little more than it has.
        let most = Some((kilobytes << 10) + (24 << 20));
        let pid = Pid::from_raw(server.pid().cast_signed());
        prlimit(pid, Resource::As, Rlimit { current: most, maximum: most }).unwrap();
        let address = server.address();
        let token = server.home.token();
        let bodies: Vec<_> = (0..8)
            .map(|_| {
                let (address, token) = (address.clone(), token.clone());
                thread::spawn(move || {
                    let Ok(mut stream) = TcpStream::connect(address) else { return };
                    let length = 15 << 20;
                    let head = format!(
                        "POST /v1/write HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
                         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                    );
                    // The server may end during this.
                    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b' '; length]));
                    let _ = stream.read(&mut [0; 16]);
                })
            })
            .collect();
        let ended = server.wait();
        assert_eq!(ended.signal(), Some(libc::SIGABRT), "{ended:?}");
        let log = server.log();
        assert!(log.contains("semdex: out of memory: "), "{log}");
        bodies.into_iter().for_each(|it| it.join().unwrap());
    }
}

#[test]
fn tokens_and_texts_are_not_logged() {
    const SECRET: &str = "zq7_secret_word";
    let text = format!("pub fn {SECRET}() -> u8 {{\n    let {SECRET}_inside = 1;\n    {SECRET}_inside\n}}\n");
    let files = [RUST[0], ("src/lib.rs", text.as_str()), ("a.py", "def one():\n    return 1\n")];
    let mut server = Home::with(&files).serve(&["--trust", "--log", "debug"]);
    server.wait_ready();
    let edit = |search: &str, replacement: &str| json!({"file": "src/lib.rs", "search_context": search, "replacement": replacement, "autofix": 95});
    for (path, body) in [
        ("/v1/open", json!({"file": "src/lib.rs"})),
        ("/v1/describe", json!({"file": "src/lib.rs"})),
        ("/v1/edit", edit(&format!("    let {SECRET}_outside = 2;\n    {SECRET}_otside\n"), "")),
        (
            "/v1/edit",
            edit(&format!("    let {SECRET}_inside = 1;"), &format!("    let {SECRET}_inside = {SECRET}_unknown;")),
        ),
        ("/v1/write", json!({"name": format!("{SECRET}.txt"), "content": SECRET, "mode": "create"})),
    ] {
        server.post(path, &body);
    }
    server.get(&format!("/v1/symbols?query={SECRET}"));
    server.get(&format!("/v1/usages?symbol=greeter::{SECRET}x"));
    server.get("/v1/diagnostics");
    mcp::call(&server, "2025-06-18", "edit", edit(&format!("{SECRET}_nowhere"), "a"));
    mcp::call(&server, "2025-06-18", "describe", json!({"symbol": format!("greeter::{SECRET}")}));
    let token = server.home.token();
    for wrong in [format!("{token}x"), "wrong-token-of-somebody".to_owned()] {
        assert_eq!(server.send(server.stranger("GET", "/v1/status").bearer_auth(wrong)).status, 401);
    }
    let reply = server.send(server.stranger("POST", "/v1/hello").json(&json!({"nonce": "n"})));
    let proof = reply.json()["proof"].as_str().unwrap().to_owned();
    server.signal(Signal::TERM);
    server.wait();
    let log = server.log();
    assert!(log.contains("refused"), "{log}");
    for secret in [token.as_str(), "wrong-token-of-somebody", &proof] {
        assert!(!log.contains(secret), "{log}");
    }
    let quoted: Vec<&str> = log.lines().filter(|it| it.contains(SECRET) && !it.contains("/v1/")).collect();
    assert!(quoted.is_empty(), "{quoted:#?}");
}

#[test]
fn at_the_level_of_traces_everything_is_logged() {
    let server = Home::with(&[("a.txt", "one\n")]).serve(&["--no-trust", "--log", "trace"]);
    let edit = json!({"file": "a.txt", "search_context": "zq7_secret_word", "replacement": "two"});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 409, "{reply}");
    let detail: Value = reply["detail"].clone();
    server.wait_for_log(detail.as_str().unwrap().lines().next().unwrap());
}
