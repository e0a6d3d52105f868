//! Access control: Host, Origin and the token.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Home, RUST, Server, run};

#[test]
fn a_token_is_wanted_but_for_the_health_and_the_pages() {
    let server = Server::shared(RUST);
    assert_eq!(server.send(server.stranger("GET", "/healthz")).json()["status"], "ok");
    for path in ["/v1/status", "/v1/nothing", "/page/", "/docs/x", "//"] {
        let reply = server.send(server.stranger("GET", path));
        assert_eq!((reply.status, reply.code().as_str()), (401, "unauthorized"), "{path}");
        assert!(reply.header("www-authenticate").starts_with("Bearer"));
    }
    let token = server.home.token();
    for wrong in ["x".to_owned(), String::new(), format!("{token}x"), token[1..].to_owned()] {
        let reply = server.send(server.stranger("GET", "/v1/status").bearer_auth(&wrong));
        assert_eq!(reply.code(), "unauthorized");
    }
    let basic = server.send(server.stranger("GET", "/v1/status").header("authorization", format!("Basic {token}")));
    assert_eq!(basic.code(), "unauthorized");
    let lower = server.send(server.stranger("GET", "/v1/status").header("authorization", format!("bearer {token}")));
    assert_eq!(lower.status, 200);
    assert_eq!(server.get("/v1/status").0, 200);
}

#[test]
fn without_auth_the_door_still_looks_at_host_and_origin() {
    let server = Home::with(RUST).serve(&["--trust", "--no-auth"]);
    assert!(server.hello.get("token_file").is_none());
    assert_eq!(server.get("/v1/status").0, 200);
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let code = |headers: &[(&str, &str)]| {
        let request =
            headers.iter().fold(server.request("GET", "/v1/status"), |it, (name, value)| it.header(*name, *value));
        let reply = server.send(request);
        if reply.status == 200 { "welcome".to_owned() } else { reply.code() }
    };
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]:80"] {
        assert_eq!(code(&[("host", host)]), "welcome", "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "semdex.localhost", "0.0.0.0", "x@localhost"]
    {
        assert_eq!(code(&[("host", host)]), "forbidden_host", "{host}");
    }
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(code(&[("origin", &own)]), "welcome");
    assert_eq!(code(&[("origin", &own), ("sec-fetch-site", "same-origin")]), "welcome");
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", &own.replace("http", "https"), "http://"] {
        assert_eq!(code(&[("origin", origin)]), "forbidden_origin", "{origin}");
    }
    assert_eq!(code(&[("sec-fetch-site", "cross-site")]), "forbidden_origin");
    let preflight = server.send(server.request("OPTIONS", "/v1/edit").header("origin", "http://evil.example"));
    assert_eq!(preflight.code(), "forbidden_origin");
    assert!(!preflight.headers.keys().any(|it| it.as_str().starts_with("access-control")));
}

#[test]
fn a_request_names_its_host_once() {
    let server = Home::with(RUST).serve(&["--trust", "--no-auth"]);
    let raw = |head: &str| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    };
    assert!(raw("GET /v1/status HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 200"));
    for head in [
        "GET /v1/status HTTP/1.1",
        "GET /v1/status HTTP/1.0",
        "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example",
        "GET http://evil.example/v1/status HTTP/1.1\r\nHost: localhost",
    ] {
        let reply = raw(head);
        assert!(reply.contains("forbidden_host"), "{head}: {reply}");
    }
}

#[test]
fn a_socket_in_the_file_system_is_guarded_by_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::with(RUST);
    let path = home.path().join("s");
    let listen = format!("unix:{}", path.display());
    let server = home.serve(&["--trust", "--listen", &listen]);
    assert_eq!(server.hello["listening"], listen);
    assert!(server.hello.get("token_file").is_none());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let reply = server.send(server.request("GET", "/v1/status").header("host", "anything"));
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[test]
fn a_relative_socket_is_found_from_every_directory() {
    let home = Home::with(RUST);
    let server = home.serve(&["--trust", "--listen", "unix:s"]);
    let path = server.home.root().join("s");
    assert_eq!(server.hello["listening"], format!("unix:{}", path.display()));
    let below = run(server.home.semdex().arg("status").current_dir(server.home.root().join("src")));
    assert_eq!(below.code, Some(0), "{}", below.errors);
}
