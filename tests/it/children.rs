//! Processes that semdex starts end with it, or as soon as they are no longer needed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Home, Server, run};

/// A package whose build script never ends, is deaf to SIGTERM, and has children that are; beside a Go module.
fn stubborn() -> Home {
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"stubborn\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("go.mod", "module example.com/m\n\ngo 1.21\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
    ]);
    let script = "trap '' TERM HUP INT; (trap '' TERM HUP INT; while :; do sleep 1; done) & \
                  setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; : in-a-session; done' & \
                  echo $$ > MARK.tmp; mv MARK.tmp MARK; while :; do sleep 1; done";
    let script = script.replace("MARK", home.path().join("begun").to_str().unwrap());
    home.write(
        "build.rs",
        &format!(
            "fn main() {{\n    std::process::Command::new(\"sh\").args([\"-c\", {script:?}]).status().unwrap();\n}}\n"
        ),
    );
    home
}

/// Whatever lives of what the server has started: all of it has the server's environment.
fn living(home: &Home, server: u32) -> Vec<String> {
    let mark = format!("XDG_STATE_HOME={}", home.path().join("state").display());
    let mut living = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let name = process.file_name().to_string_lossy().into_owned();
        if name == server.to_string() || !name.bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|it| *it == 0).any(|it| it == mark.as_bytes()) {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            living.push(format!("{name} {}", String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    living
}

fn is_building(server: &Server) -> bool {
    let has_gopls = || {
        server.get("/v1/status").1["workspaces"][0]["engines"].as_array().unwrap().iter().any(|it| it["pid"].is_u64())
    };
    server.home.path().join("begun").exists() && has_gopls()
}

#[test]
fn nothing_lives_on_when_semdex_ends_or_is_killed() {
    for signal in [Signal::TERM, Signal::KILL] {
        let mut server = stubborn().serve(&["--trust"]);
        server.wait_for(is_building);
        let before = living(&server.home, server.pid());
        for wanted in ["cargo", "build-script-build", "sleep", "in-a-session", "gopls"] {
            assert!(before.iter().any(|it| it.contains(wanted)), "no {wanted}: {before:#?}");
        }
        server.signal(signal);
        server.wait();
        let pid = server.pid();
        server.wait_for(|server| living(&server.home, pid).is_empty());
    }
}

/// rust-analyzer starts a Cargo of its own for the standard library. Here it hangs, and so do its children.
#[test]
fn a_cargo_that_hangs_during_the_load_ends_with_semdex() {
    for signal in [Signal::TERM, Signal::KILL] {
        let home = Home::with(&[
            ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("src/lib.rs", "pub fn f() {}\n"),
        ])
        .with_real_std();
        // rust-analyzer takes the Cargo of `CARGO`, which `cargo test` sets, else the Cargo on the search path.
        let programs = home.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let begun = home.path().join("begun");
        let path = std::env::var("PATH").unwrap();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n*metadata*) ;;\n*) PATH='{path}' exec cargo \"$@\" ;;\nesac\ntrap '' TERM HUP INT\n\
             setsid sh -c 'trap \"\" TERM; echo > {}; while :; do sleep 1; : in-a-session; done' &\n\
             while :; do sleep 1; : hanging-cargo; done\n",
            begun.display()
        );
        let cargo = programs.join("cargo");
        fs::write(&cargo, script).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{path}", programs.display());
        let mut server = home.serve_with(&["--trust"], &[("PATH", Path::new(&path)), ("CARGO", &cargo)]);
        server.wait_for(|_| begun.exists());
        let before = living(&server.home, server.pid());
        assert!(before.iter().any(|it| it.contains("in-a-session")), "{before:#?}");
        server.signal(signal);
        server.wait();
        let pid = server.pid();
        server.wait_for(|server| living(&server.home, pid).is_empty());
    }
}

#[test]
fn a_workspace_that_is_closed_or_trusted_no_more_ends_what_it_has_started() {
    let home = stubborn();
    let trust = |home: &Home, arguments: &[&str]| {
        let ended = run(home.semdex().arg("trust").args(arguments));
        assert_eq!(ended.code, Some(0), "{}", ended.errors);
    };
    trust(&home, &["."]);
    let server = home.serve(&[]);
    let builds = |server: &Server| {
        let is_of_build = |it: &String| it.contains("build-script-build") || it.contains("in-a-session");
        living(&server.home, server.pid()).iter().any(is_of_build)
    };
    server.wait_for(is_building);
    assert!(builds(&server));

    trust(&server.home, &["--revoke", "."]);
    server.wait_for(|server| !builds(server));
    server.wait_for(|server| server.get("/v1/status").1["workspaces"][0]["trusted"] == false);
    server.wait_ready();
    let missing = server.get("/v1/status").1["workspaces"][0]["missing"].clone();
    let untrusted = missing.as_array().unwrap().iter().filter(|it| it["code"] == "untrusted").count();
    assert_eq!(untrusted, 2, "{missing}");

    fs::remove_file(server.home.path().join("begun")).unwrap();
    trust(&server.home, &["."]);
    server.wait_for(is_building);
    assert!(builds(&server));
    let closed = server.send(server.request("DELETE", "/v1/workspaces?workspace=workspace"));
    assert_eq!(closed.status, 200, "{}", closed.text);
    server.wait_for(|server| living(&server.home, server.pid()).iter().all(|it| it.contains("serve")));
}

#[test]
fn a_macro_that_hangs_or_dies_costs_its_own_answers() {
    let server = Server::on(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"host\", \"macros\"]\nresolver = \"2\"\n"),
        (
            "macros/Cargo.toml",
            "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nproc-macro = true\n",
        ),
        (
            "macros/src/lib.rs",
            "use proc_macro::TokenStream;\n\n\
             #[proc_macro]\npub fn hang(_: TokenStream) -> TokenStream {\n    loop {\n        std::thread::park();\n    }\n}\n\n\
             #[proc_macro]\npub fn die(_: TokenStream) -> TokenStream {\n    std::process::abort()\n}\n\n\
             #[proc_macro]\npub fn fine(name: TokenStream) -> TokenStream {\n    format!(\"pub fn {name}() {{}}\").parse().unwrap()\n}\n",
        ),
        (
            "host/Cargo.toml",
            "[package]\nname = \"host\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nmacros = { path = \"../macros\" }\n",
        ),
        (
            "host/src/lib.rs",
            "macros::fine!(first);\nmacros::hang!();\nmacros::fine!(second);\nmacros::die!();\nmacros::fine!(third);\n\n\
             pub fn uses() {\n    first();\n    second();\n    third();\n}\n",
        ),
    ]);
    server.wait_ready();
    let details = |reply: &serde_json::Value| {
        let missing = reply["meta"]["missing"].as_array().unwrap().clone();
        missing.iter().filter(|it| it["code"] == "proc_macros").map(|it| it["detail"].to_string()).collect::<Vec<_>>()
    };
    let (status, found) = server.get("/v1/diagnostics?file=host/src/lib.rs");
    assert_eq!((status, &found["meta"]["complete"]), (200, &json!(false)), "{found}");
    let said = details(&found);
    assert!(said.iter().any(|it| it.contains("`hang`") && it.contains("did not answer")), "{said:?}");
    assert!(said.iter().any(|it| it.contains("`die`")), "{said:?}");

    // All other engines have a process again.
    let text = server.home.read("host/src/lib.rs");
    for name in ["first", "second", "third"] {
        let offset = text.find(&format!("{name}();")).unwrap();
        let (status, found) = server.get(&format!("/v1/symbols/at?file=host/src/lib.rs&offset={offset}"));
        assert_eq!((status, &found["symbol"]["name"]), (200, &json!(name)), "{found}");
    }
    // A change waits for none of them.
    let edit = json!({"file": "host/src/lib.rs", "search_context": "pub fn uses() {", "replacement": "pub fn uses() {\n    third();"});
    let (status, edited) = server.post("/v1/edit", &edit);
    assert_eq!((status, &edited["applied"]), (200, &json!(true)), "{edited}");
    assert!(Path::new(&server.home.root()).join("host/src/lib.rs").exists());
}
