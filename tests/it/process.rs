//! How the program starts and ends.

use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Home, RUST, Server, run};

#[test]
fn it_says_where_it_listens_and_ends_on_a_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::on(RUST);
        assert_eq!(server.hello["pid"], server.pid());
        assert_eq!(server.hello["version"], env!("CARGO_PKG_VERSION"));
        let state = server.home.path().join("state/semdex");
        assert_eq!(server.hello["token_file"], json!(state.join("token")));
        let file = state.join(format!("servers/{}.json", server.pid()));
        assert!(file.exists());
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0));
        assert!(!file.exists());
    }
}

#[test]
fn what_is_in_flight_holds_the_end_up_and_a_second_signal_does_not_wait() {
    let mut server = Server::on(RUST);
    let mut slow = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "POST /v1/open HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        server.home.token()
    );
    slow.write_all(head.as_bytes()).unwrap();
    // Now the body is being waited for.
    let mut go_on = [0; 12];
    slow.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");

    server.signal(Signal::TERM);
    server.wait_for_log("stopping");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(130));
}

#[test]
fn the_status_tells_of_the_process_and_its_workspaces() {
    let server = Server::on(RUST);
    let (status, reply) = server.get("/v1/status");
    assert_eq!((status, &reply["pid"]), (200, &json!(server.pid())));
    assert!(reply["memory_bytes"].as_u64().unwrap() > 1_000_000);
    let workspace = &reply["workspaces"][0];
    assert_eq!((&workspace["id"], &workspace["trusted"]), (&json!("workspace"), &json!(true)));
    assert_eq!(workspace["root"], json!(server.home.root()));
    assert_eq!(reply["meta"]["workspace"], "workspace");
    assert!(reply["meta"]["elapsed_ms"].is_f64());
}

#[test]
fn a_root_that_nobody_trusted_is_said_to_lack() {
    let untrusted = Home::with(RUST).serve(&[]);
    assert_eq!(untrusted.get("/v1/status").1["workspaces"][0]["trusted"], false);
    let log = untrusted.log();
    assert_eq!(log.lines().filter(|it| it.contains("not trusted")).count(), 1, "{log}");
    let (_, hint) = log.split_once("not trusted\n").unwrap_or_else(|| panic!("{log}"));
    assert!(hint.lines().next().is_some_and(|it| it.contains("semdex trust")), "{log}");

    let home = Home::with(RUST);
    let trusted = run(home.semdex().args(["trust", "."]));
    assert_eq!((trusted.code, trusted.errors.as_str()), (Some(0), ""));
    let server = home.serve(&[]);
    assert_eq!(server.get("/v1/status").1["workspaces"][0]["trusted"], true);
    assert!(!server.log().contains("not trusted"));
}

#[test]
fn bad_usage_and_failure_have_their_own_exit_codes() {
    let home = Home::with(RUST);
    for wrong in [&["serve", "--listen", "nowhere"][..], &["srve"], &["serve", "--listen", "0.0.0.0:1"]] {
        let ended = run(home.semdex().args(wrong));
        assert_eq!((ended.code, ended.output.as_str()), (Some(2), ""), "{wrong:?}: {}", ended.errors);
    }
    let missing = run(home.semdex().args(["serve", "missing"]));
    assert_eq!(missing.code, Some(1));
    assert!(missing.errors.contains("missing"), "{}", missing.errors);
    let server = Server::shared(RUST);
    let taken = run(home.semdex().args(["serve", "--listen", &server.address()]));
    assert_eq!(taken.code, Some(1));
    assert!(taken.errors.contains(&server.address()), "{}", taken.errors);
}
