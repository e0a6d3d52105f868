//! The verbs on the command line, with a running server and without.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Ended, Home, RUST, Server, run};

fn semdex(server: &Server, arguments: &[&str]) -> Ended {
    run(server.home.semdex().args(arguments))
}

#[test]
fn the_verbs_ask_the_server_that_runs() {
    let server = Server::on(RUST);
    let status = semdex(&server, &["status", "--json"]);
    let json: Value = serde_json::from_str(&status.output).unwrap();
    assert_eq!(json["pid"], server.pid());

    let open = run(server.home.semdex().current_dir(server.home.root().join("src")).args(["open", "lib.rs"]));
    assert_eq!(open.code, Some(0), "{}", open.errors);
    assert!(open.output.starts_with("# src/lib.rs"), "{}", open.output);
    assert!(open.output.contains("6| pub fn greet("), "{}", open.output);

    let unknown = semdex(&server, &["describe", "greeter::gret"]);
    assert_eq!((unknown.code, unknown.output.as_str()), (Some(1), ""));
    assert!(
        unknown.errors.contains("unknown_symbol") && unknown.errors.contains("greeter::greet"),
        "{}",
        unknown.errors
    );

    let edit = ["edit", "src/lib.rs", "--search", "Hello, {name}!", "--replace", "Hi, {name}!"];
    let edited = semdex(&server, &edit);
    assert_eq!(edited.code, Some(0), "{}", edited.errors);
    assert!(edited.output.starts_with("# Edit successful"), "{}", edited.output);
    assert!(server.home.read("src/lib.rs").contains("Hi, {name}!"));

    let blocks = "src/lib.rs\n<<<<<<< SEARCH\n    format!(\"Hi, {name}!\")\n=======\n    format!(\"Hey, {name}!\")\n>>>>>>> REPLACE\n";
    server.home.write("blocks.txt", blocks);
    let edited = semdex(&server, &["edit", "--blocks", "blocks.txt", "--autofix", "0"]);
    assert_eq!(edited.code, Some(0), "{}", edited.errors);
    assert!(server.home.read("src/lib.rs").contains("Hey, {name}!"));

    let written = semdex(&server, &["write", "notes/a.txt", "--content", "-x\n", "--mode", "create"]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert_eq!(server.home.read("notes/a.txt"), "-x\n");

    assert_eq!(semdex(&server, &["edit", "src/lib.rs", "--symbol", "a"]).code, Some(2));
    assert_eq!(semdex(&server, &["token"]).output.trim(), server.home.token());
}

#[test]
fn without_a_server_one_is_started_and_found_again() {
    let home = Home::with(RUST);
    let pid = || {
        let status = run(home.semdex().args(["status", "--json"]));
        let json: Value = serde_json::from_str(&status.output).unwrap_or_else(|_| panic!("{}", status.errors));
        json["pid"].as_i64().unwrap()
    };
    let first = pid();
    let second = pid();
    kill_process(Pid::from_raw(i32::try_from(first).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(first, second);
}
