//! The commands of the command line, with a running server and without.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Ended, Home, RUST, Server, Started, run};

fn semdex(server: &Server, arguments: &[&str]) -> Ended {
    run(server.home.semdex().args(arguments))
}

/// A command that needs an engine waits for it, however busy the machine is.
fn patient(server: &Server, arguments: &[&str]) -> Ended {
    run(server.home.semdex().args(arguments).args(["--wait-ms", "120000"]))
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

    let unknown = patient(&server, &["describe", "greeter::gret"]);
    assert_eq!((unknown.code, unknown.output.as_str()), (Some(1), ""));
    assert!(
        unknown.errors.contains("unknown_symbol") && unknown.errors.contains("greeter::greet"),
        "{}",
        unknown.errors
    );

    let edit = ["edit", "src/lib.rs", "--search", "Hello, {name}!", "--replace", "Hi, {name}!"];
    let edited = patient(&server, &edit);
    assert_eq!(edited.code, Some(0), "{}", edited.errors);
    assert!(edited.output.starts_with("# Edit successful"), "{}", edited.output);
    assert!(server.home.read("src/lib.rs").contains("Hi, {name}!"));

    let blocks = "src/lib.rs\n<<<<<<< SEARCH\n    format!(\"Hi, {name}!\")\n=======\n    format!(\"Hey, {name}!\")\n>>>>>>> REPLACE\n";
    server.home.write("blocks.txt", blocks);
    let edited = patient(&server, &["edit", "--blocks", "blocks.txt", "--autofix", "0"]);
    assert_eq!(edited.code, Some(0), "{}", edited.errors);
    assert!(server.home.read("src/lib.rs").contains("Hey, {name}!"));

    let written = patient(&server, &["write", "notes/a.txt", "--content", "-x\n", "--mode", "create"]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert_eq!(server.home.read("notes/a.txt"), "-x\n");

    assert_eq!(semdex(&server, &["edit", "src/lib.rs", "--symbol", "a"]).code, Some(2));
    assert_eq!(semdex(&server, &["token"]).output.trim(), server.home.token());
}

#[test]
fn a_symbol_is_renamed_everywhere() {
    let server = Server::on(RUST);
    server.wait_ready();
    let tried = patient(&server, &["rename", "greeter::greet", "welcome", "--dry-run"]);
    assert_eq!(
        (tried.code, server.home.read("src/shout.rs").contains("welcome")),
        (Some(0), false),
        "{}",
        tried.errors
    );
    let renamed = patient(&server, &["rename", "greeter::greet", "welcome", "--json"]);
    assert_eq!(renamed.code, Some(0), "{}", renamed.errors);
    let json: Value = serde_json::from_str(&renamed.output).unwrap();
    assert_eq!((&json["applied"], json["files"].as_array().map(Vec::len)), (&Value::Bool(true), Some(2)), "{json}");
    let both = ["src/lib.rs", "src/shout.rs"].map(|it| server.home.read(it));
    assert!(both[0].contains("pub fn welcome(name") && both[1].starts_with("use crate::welcome;"), "{both:?}");
    let taken = patient(&server, &["rename", "greeter::welcome", "greet_all"]);
    assert_eq!((taken.code, taken.output.as_str()), (Some(1), ""));
    assert!(taken.errors.contains("rename_refused") && taken.errors.contains("greet_all"), "{}", taken.errors);
}

#[test]
fn overlays_are_put_listed_and_taken_away() {
    let server = Server::on(RUST);
    let name = "src/a b#.rs";
    let put =
        semdex(&server, &["overlay", "put", name, "--content", "fn f() {}\n", "--ttl", "60", "--edits", "overlay"]);
    assert_eq!(put.code, Some(0), "{}", put.errors);
    assert!(put.output.contains(name), "{}", put.output);
    let (_, seen) = server.post("/v1/describe", &serde_json::json!({"file": name}));
    assert_eq!(seen["file"]["content"], "fn f() {}\n", "{seen}");
    let listed = semdex(&server, &["overlay", "list", "--json"]);
    let json: Value = serde_json::from_str(&listed.output).unwrap_or_else(|_| panic!("{}", listed.errors));
    let overlay = &json["overlays"][0];
    assert_eq!((&overlay["file"], &overlay["edits"]), (&Value::from(name), &Value::from("overlay")), "{json}");
    let deleted = semdex(&server, &["overlay", "delete", name]);
    assert_eq!((deleted.code, deleted.output.contains(name)), (Some(0), true), "{}", deleted.errors);
    assert!(!server.home.root().join(name).exists());
    assert_eq!(semdex(&server, &["overlay", "delete", name]).code, Some(1), "there is none any more");
    assert_eq!(semdex(&server, &["overlay"]).code, Some(2));
}

#[test]
fn a_written_text_is_formatted() {
    let server = Server::on(RUST);
    let write = ["write", "src/b.rs", "--content", "pub fn  f( ){}\n", "--format", "--fix-imports"];
    let written = patient(&server, &write);
    assert_eq!(
        (written.code, server.home.read("src/b.rs").as_str()),
        (Some(0), "pub fn f() {}\n"),
        "{}",
        written.errors
    );
}

#[test]
fn without_a_server_one_is_started_and_found_again() {
    let home = Home::with(RUST);
    let pid = || {
        assert_eq!(run(home.semdex().args(["open", "src/lib.rs"])).code, Some(0));
        let status = run(home.semdex().args(["status", "--json"]));
        let json: Value = serde_json::from_str(&status.output).unwrap_or_else(|_| panic!("{}", status.errors));
        json["pid"].as_i64().unwrap()
    };
    let first = pid();
    let second = pid();
    kill_process(Pid::from_raw(i32::try_from(first).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(first, second);
}

#[test]
fn what_a_verb_did_to_a_file_further_down_is_listed_and_taken_back() {
    let home = Home::with(&[("package/a.txt", "one\n")]);
    let _started = Started(&home);
    let semdex = |arguments: &[&str]| {
        let ended = run(home.semdex().args(arguments).arg("--json"));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.errors);
        serde_json::from_str::<Value>(&ended.output).unwrap()
    };
    let edited = semdex(&["edit", "package/a.txt", "--search", "one", "--replace", "two"]);
    let token = edited["change"].as_str().unwrap();
    let changes = semdex(&["changes"]);
    assert_eq!(changes["changes"][0]["change"], token, "{changes}");
    semdex(&["undo", token]);
    assert_eq!(home.read("package/a.txt"), "one\n");
    let roots: Vec<Value> = home.servers().into_iter().map(|it| it["roots"].clone()).collect();
    assert_eq!(roots, [serde_json::json!([home.root()])]);
}

#[test]
fn init_prints_what_each_agent_needs_and_merges_it_without_loss() {
    let home = Home::with(&[
        (".mcp.json", "{\n  \"mcpServers\": {\"other\": {\"command\": \"o\"}}\n}\n"),
        ("go.mod", "module x\n"),
    ]);
    let init = |arguments: &[&str]| {
        let mut command = home.semdex();
        command.arg("init").args(arguments).env("CODEX_HOME", home.path().join("codex"));
        run(&mut command)
    };
    for agent in ["claude", "cursor", "gemini", "opencode"] {
        let printed = init(&[agent]);
        assert_eq!(printed.code, Some(0), "{}", printed.errors);
        let entry: Value = serde_json::from_str(&printed.output).unwrap();
        let server = entry.get("mcpServers").or(entry.get("mcp")).unwrap()["semdex"].clone();
        assert!(server.to_string().contains("\"mcp\""), "{server}");
        assert!(printed.errors.contains(home.root().to_str().unwrap()), "{}", printed.errors);
    }
    assert!(init(&["codex"]).output.contains("[mcp_servers.semdex]"));
    for agent in ["claude", "codex", "gemini", "cursor"] {
        let printed = init(&[agent, "--hook"]);
        let hooks: Value = serde_json::from_str(&printed.output).unwrap();
        assert_eq!((printed.code, hooks["hooks"].is_object()), (Some(0), true), "{hooks}");
        assert_eq!(hooks["mcpServers"]["semdex"].is_object(), agent == "gemini", "one file holds both: {hooks}");
    }
    // Standard input is not a terminal.
    let refused = init(&["claude", "--write"]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(!home.read(".mcp.json").contains("semdex"));
    for _ in 0..2 {
        assert_eq!(init(&["claude", "--write", "--yes", "--hook"]).code, Some(0));
        let merged: Value = serde_json::from_str(&home.read(".mcp.json")).unwrap();
        assert_eq!(merged["mcpServers"]["other"]["command"], "o");
        assert_eq!(merged["mcpServers"]["semdex"]["args"], serde_json::json!(["mcp"]));
        let hooks: Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
        for event in ["PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
            assert_eq!(hooks["hooks"][event].as_array().unwrap().len(), 1, "{hooks}");
        }
    }
    home.write(".cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"postToolUse\": [{\"command\": \"own\"}]}}\n");
    for (agent, file, event, count) in [
        ("codex", ".codex/hooks.json", "PostToolUse", 1),
        ("gemini", ".gemini/settings.json", "AfterTool", 1),
        ("cursor", ".cursor/hooks.json", "postToolUse", 2),
    ] {
        for _ in 0..2 {
            assert_eq!(init(&[agent, "--write", "--yes", "--hook"]).code, Some(0), "{agent}");
        }
        let hooks: Value = serde_json::from_str(&home.read(file)).unwrap();
        assert_eq!(hooks["hooks"][event].as_array().unwrap().len(), count, "{hooks}");
        assert!(hooks.to_string().contains(&format!("hook {agent}\"")), "{hooks}");
    }
    assert_eq!(init(&["zed", "--hook"]).code, Some(1));
    assert_eq!(init(&["codex", "--write", "--yes"]).code, Some(0));
    assert!(std::fs::read_to_string(home.path().join("codex/config.toml")).unwrap().contains("args = [\"mcp\"]"));
}

#[test]
fn init_makes_files_as_any_program_does_and_follows_no_link_that_leads_nowhere() {
    let home = Home::with(&[("go.mod", "module x\n"), ("opencode.json", "{}\n")]);
    let init = |agent: &str| run(home.semdex().args(["init", agent, "--write", "--yes"]));
    let mode = |name: &str| std::fs::metadata(home.root().join(name)).unwrap().permissions().mode();
    assert_eq!(init("claude").code, Some(0));
    assert_eq!(mode(".mcp.json"), mode("go.mod"), "the umask alone decides");
    // An existing file keeps its mode.
    std::fs::set_permissions(home.root().join("opencode.json"), Permissions::from_mode(0o640)).unwrap();
    assert_eq!(init("opencode").code, Some(0));
    assert_eq!((mode("opencode.json") & 0o777, home.read("opencode.json").contains("semdex")), (0o640, true));

    let link = home.root().join(".cursor/mcp.json");
    std::fs::create_dir(link.parent().unwrap()).unwrap();
    symlink("../nowhere.json", &link).unwrap();
    let refused = init("cursor");
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("a link to ../nowhere.json, which is not there"), "{}", refused.errors);
    assert!(refused.output.contains("mcpServers"), "{}", refused.output);
    assert_eq!(std::fs::read_link(&link).unwrap(), Path::new("../nowhere.json"));
    assert!(!home.root().join("nowhere.json").exists());
}

#[test]
fn doctor_fails_where_what_the_workspace_needs_is_missing() {
    let home = Home::with(RUST);
    let fine = run(home.semdex().arg("doctor"));
    assert_eq!(fine.code, Some(0), "{}{}", fine.output, fine.errors);
    assert!(fine.output.contains("ok      cargo: ") && fine.output.contains("ok      rust-src: "), "{}", fine.output);
    let idle = fine.output.lines().find(|it| it.starts_with("This workspace has nothing for "));
    assert!(idle.is_some_and(|it| it.len() < 120) && !fine.output.contains("yaml"), "{}", fine.output);
    // As in `status`, all files of the workspace count.
    home.write(".github/workflows/ci.yaml", "on: push\n");
    let data = run(home.semdex().arg("doctor"));
    assert!(data.code == Some(0) && data.output.contains(" yaml-language-server: "), "{}", data.output);
    // With an empty PATH nothing is found.
    let lacking = run(home.semdex().arg("doctor").env("PATH", home.path()));
    assert_eq!(lacking.code, Some(1), "{}", lacking.output);
    assert!(lacking.output.contains("MISSING cargo: ") && lacking.output.contains("rustup"), "{}", lacking.output);
    // Where a language server is missing, the text answers.
    home.write("greet.py", "def greet():\n    pass\n");
    let without = run(home.semdex().arg("doctor").env("PATH", home.path()));
    assert!(
        without.output.contains("absent  basedpyright") && without.output.contains("install it with"),
        "{}",
        without.output
    );
    // `go` is needed where there is Go.
    home.write("go.mod", "module greeter\n\ngo 1.26\n");
    let without = run(home.semdex().arg("doctor").env("PATH", home.path()));
    assert!(without.output.contains("MISSING go: "), "{}", without.output);
}

#[test]
fn doctor_fails_where_the_server_of_what_the_workspace_is_made_up_of_is_missing() {
    let home = Home::with(&[("greet.py", "def greet():\n    pass\n"), ("a.py", ""), ("a.yaml", "a: 1\n")]);
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let doctor = || run(home.semdex().arg("doctor").env("PATH", &bin));
    let missing = doctor();
    assert_eq!(missing.code, Some(1), "{}", missing.output);
    for wanted in [
        "MISSING basedpyright: install it with `pip install basedpyright`",
        "absent  yaml-language-server: ",
        "basedpyright is not started, since it runs code of the workspace: answers about Python come from the text alone",
    ] {
        assert!(missing.output.contains(wanted), "no {wanted:?} in {}", missing.output);
    }
    // The worst comes first, and an engine that is one program is named once.
    let at = |text: &str| missing.output.find(text).unwrap_or(usize::MAX);
    assert!(at("MISSING basedpyright") < at("absent  yaml-language-server"), "{}", missing.output);
    assert!(!missing.output.contains("\nbasedpyright\n"), "{}", missing.output);
    assert!(!missing.output.contains("cgo") && !missing.output.contains("build scripts"), "{}", missing.output);
    let program = |name: &str| {
        std::fs::write(bin.join(name), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(bin.join(name), Permissions::from_mode(0o755)).unwrap();
    };
    program("basedpyright-langserver");
    let found = doctor();
    assert_eq!((found.code, found.output.contains("ok      basedpyright: ")), (Some(0), true), "{}", found.output);
    // The settings say which server it is, where they count.
    home.write("semdex.toml", "[languages.python]\ncommand = ['ty', 'server']\n");
    assert_eq!(doctor().code, Some(0));
    assert_eq!(run(home.semdex().args(["trust", "."])).code, Some(0));
    let configured = doctor();
    assert_eq!(configured.code, Some(1), "{}", configured.output);
    assert!(
        configured.output.contains("ok      trusted") && configured.output.contains("MISSING ty: "),
        "{}",
        configured.output
    );
    program("ty");
    assert_eq!(doctor().code, Some(0));
}

/// The hook's answer before a tool is used.
fn before_tool(server: &Server, tool: &str, input: Value) -> String {
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": server.home.root(), "tool_name": tool,
        "tool_input": input,
    });
    let file = server.home.path().join("event.json");
    std::fs::write(&file, event.to_string()).unwrap();
    let mut command = server.home.semdex();
    command.args(["hook", "claude"]).stdin(std::fs::File::open(file).unwrap());
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    ended.output
}

#[test]
fn the_hook_lets_a_search_pass_whose_answer_would_lack_something() {
    let search = |server: &Server, name: &str| before_tool(server, "Grep", serde_json::json!({"pattern": name}));
    // Its server would run code of the workspace.
    let python = Home::with(&[("greet.py", "def greet_all(names):\n    return names\n")]).serve(&["--no-trust"]);
    let (status, described) = python.post("/v1/describe", &serde_json::json!({"symbol": "greet_all"}));
    assert_eq!((status, &described["meta"]["complete"]), (200, &Value::Bool(false)), "{described}");
    assert_eq!(search(&python, "greet_all"), "");

    // As long as it lasts, the index is loaded.
    let home = Home::with(RUST);
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    std::fs::write(faults.join("rust.prime"), "stall").unwrap();
    let rust = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    assert_eq!(search(&rust, "greet_all"), "");
    std::fs::remove_file(faults.join("rust.prime")).unwrap();
    rust.wait_ready();
    // It has not received this answer before.
    let answer = search(&rust, "greet_all");
    assert!(answer.contains("\"permissionDecision\":\"deny\""), "{answer}");
}

#[test]
fn the_hook_answers_the_first_search_of_a_name_and_lets_the_second_pass() {
    let server = Server::on(RUST);
    server.wait_ready();
    let ask = |tool: &str, input: Value| before_tool(&server, tool, input);
    let told = ask("Grep", serde_json::json!({"pattern": "greet_all"}));
    assert!(told.contains("\"permissionDecision\":\"deny\"") && told.contains("greeter::greet_all"), "{told}");
    assert_eq!(ask("Grep", serde_json::json!({"pattern": "greet_all"})), "");
    assert_eq!(ask("Grep", serde_json::json!({"pattern": "no_such_name"})), "");
    assert_eq!(ask("Bash", serde_json::json!({"command": "ls"})), "");
    assert_eq!(ask("Read", serde_json::json!({"file_path": "src/lib.rs"})), "");
}

#[test]
fn a_server_is_stopped_and_nothing_starts_one_to_say_that_none_runs() {
    let home = Home::with(RUST);
    let _started = Started(&home);
    let semdex = |arguments: &[&str]| run(home.semdex().args(arguments));
    for verb in ["status", "health"] {
        let ended = semdex(&[verb]);
        assert!(ended.code == Some(1) && ended.errors.contains("no server runs"), "{verb}: {}", ended.errors);
        let problem: Value = serde_json::from_str(&semdex(&[verb, "--json"]).errors).unwrap();
        assert_eq!(problem["code"], "unknown_workspace", "{problem}");
    }
    assert_eq!((semdex(&["stop"]).code, home.servers().len()), (Some(1), 0));
    // `semdex stop --all && semdex backup DIRECTORY` works in any case.
    let none = semdex(&["stop", "--all"]);
    assert_eq!((none.code, none.output.as_str()), (Some(0), "no server runs\n"), "{}", none.errors);
    assert_eq!(semdex(&["open", "src/lib.rs"]).code, Some(0));
    let pid = home.servers()[0]["pid"].clone();
    assert_eq!(semdex(&["status"]).code, Some(0));
    let refused = semdex(&["cache", "clean"]);
    assert!(refused.code == Some(1) && refused.errors.contains("semdex stop --all"), "{}", refused.errors);
    let refused = semdex(&["backup", "kept"]);
    assert!(refused.code == Some(1) && refused.errors.contains("semdex stop --all"), "{}", refused.errors);
    let restarted = semdex(&["restart"]);
    assert_eq!(restarted.code, Some(0), "{}", restarted.errors);
    assert!(home.servers().len() == 1 && home.servers()[0]["pid"] != pid, "{}", restarted.output);
    let stopped = semdex(&["stop", "--all"]);
    assert_eq!((stopped.code, home.servers().len()), (Some(0), 0), "{}", stopped.errors);
    let kept = home.root().join("kept");
    assert_eq!(semdex(&["write", "new.txt", "--content", "x"]).code, Some(0));
    let log = home.path().join("state/semdex/journal.db-wal");
    assert!(log.is_file());
    assert_eq!(semdex(&["stop"]).code, Some(0));
    assert!(!log.exists(), "a clean stop leaves the journal in one file");
    let backup = semdex(&["backup", "kept"]);
    assert_eq!(backup.code, Some(0), "{}", backup.errors);
    assert!(kept.join("journal.db").is_file(), "{}", backup.output);
    let again = semdex(&["backup", "kept"]);
    assert!(again.code == Some(1) && again.errors.contains("not empty"), "{}", again.errors);
    let mut command = home.semdex();
    let cache = home.path().join("cache");
    std::fs::create_dir_all(cache.join("semdex/part")).unwrap();
    std::fs::write(cache.join("semdex/part/x"), vec![0; 2 << 20]).unwrap();
    let sized = run(command.args(["cache", "size"]).env("XDG_CACHE_HOME", &cache));
    assert!(sized.output.contains("2.0 MiB"), "{}", sized.output);
    let cleaned = run(home.semdex().args(["cache", "clean"]).env("XDG_CACHE_HOME", &cache));
    assert!(cleaned.code == Some(0) && !cache.join("semdex/part").exists(), "{}", cleaned.errors);
}
