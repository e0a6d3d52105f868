//! Of all servers one serves a directory, and a directory in a workspace is a part of it.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Home, run};

/// A server that is refused.
fn refused(home: &Home, arguments: &[&str]) -> String {
    let ended = run(home.semdex().args(["serve", "--listen", "127.0.0.1:0", "--no-trust"]).args(arguments));
    assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{arguments:?}: {}", ended.errors);
    ended.errors
}

#[test]
fn of_servers_for_one_directory_there_is_one() {
    let home = Home::with(&[("outer/inner/x.txt", "one\n"), ("outer/y.txt", "two\n"), ("beside/z.txt", "three\n")]);
    let mut server = home.serve(&["--no-trust", "outer"]);
    let (pid, address) = (server.pid().to_string(), server.address());
    for directory in ["outer", "outer/inner", "."] {
        let errors = refused(&server.home, &[directory]);
        assert!(errors.contains(&pid) && errors.contains(&address), "{directory}: {errors}");
    }
    // Also with the address of the first.
    let ended = run(server.home.semdex().args(["serve", "outer", "--no-trust", "--listen", &address]));
    assert!(ended.code == Some(1) && ended.errors.contains(&pid), "{}", ended.errors);
    let beside = server.home.clone().serve(&["--no-trust", "beside"]);
    assert_eq!(beside.get("/v1/status").0, 200);
    let open = |root: &str| beside.post("/v1/workspaces", &json!({"root": beside.home.root().join(root)}));
    assert_eq!(open("outer").1["code"], "forbidden_root");

    // The kernel releases the lock of a server that was killed.
    server.signal(Signal::KILL);
    server.wait();
    let next = server.home.clone().serve(&["--no-trust", "outer/inner"]);
    assert_eq!(next.get("/v1/status").0, 200);
    let errors = refused(&server.home, &["outer"]);
    assert!(errors.contains(&next.pid().to_string()) && errors.contains("lies in"), "{errors}");
}

#[test]
fn servers_with_other_state_directories_are_refused_too() {
    let home = Home::with(&[("outer/inner/x.txt", "one\n"), ("outer/y.txt", "two\n"), ("beside/z.txt", "three\n")]);
    let server = home.serve(&["--no-trust", "outer"]);
    let (pid, address) = (server.pid().to_string(), server.address());
    let elsewhere = server.home.root().join("elsewhere");
    let start = |directory: &str| {
        let mut command = server.home.semdex();
        command.args(["serve", "--listen", "127.0.0.1:0", "--no-trust", directory]).env("XDG_STATE_HOME", &elsewhere);
        run(&mut command)
    };
    for directory in ["outer", "outer/inner", "."] {
        let ended = start(directory);
        assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{directory}: {}", ended.errors);
        assert!(ended.errors.contains(&pid) && ended.errors.contains(&address), "{directory}: {}", ended.errors);
    }
}

#[test]
fn a_closed_workspace_can_be_served_by_another_server() {
    let home = Home::with(&[("a/x.txt", "one\n"), ("b/y.txt", "two\n")]);
    let first = home.serve(&["--no-trust", "a", "b"]);
    let (status, closed) = {
        let reply = first.send(first.request("DELETE", "/v1/workspaces?workspace=a"));
        (reply.status, reply.json())
    };
    assert_eq!(status, 200, "{closed}");
    let second = first.home.clone().serve(&["--no-trust", "a"]);
    let (status, refused) = first.post("/v1/workspaces", &json!({"root": first.home.root().join("a")}));
    assert_eq!((status, &refused["code"]), (409, &json!("conflict")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains(&second.pid().to_string()), "{refused}");
}

#[test]
fn a_directory_in_a_workspace_is_a_part_of_it() {
    let home = Home::with(&[("a/x.txt", "outer\n"), ("a/b/x.txt", "inner\n")]);
    let server = home.serve(&["--no-trust", "a/b", "a"]);
    let (_, status) = server.get("/v1/status");
    assert_eq!(status["workspaces"].as_array().unwrap().len(), 1, "{status}");
    assert_eq!(status["workspaces"][0]["root"], json!(server.home.root().join("a")));
    server.wait_for_log("is served as a part of it");
    let (status, opened) = server.post("/v1/workspaces", &json!({"root": server.home.root().join("a/b")}));
    assert_eq!((status, &opened["workspace"]["id"]), (200, &json!("a")), "{opened}");
    let (_, inner) = server.post("/v1/describe", &json!({"file": server.home.root().join("a/b/x.txt")}));
    assert_eq!((&inner["file"]["file"], &inner["file"]["content"]), (&json!("b/x.txt"), &json!("inner\n")), "{inner}");
}
