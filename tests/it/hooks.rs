//! The hooks of agents, over HTTP and by `semdex hook` on standard input.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bad_servers::{fake, kill_all, set_mode};
use crate::language_servers::{errors, serve};
use crate::support::{Ended, Home, RUST, Reply, Server, run, wait};

const SHOUT: &str = "use crate::greet;\n\npub fn shout(name: &str) -> String {\n    greet(name).to_uppercase()\n}\n";

/// A workspace without errors.
fn whole() -> Home {
    let home = Home::with(RUST);
    home.write("src/shout.rs", SHOUT);
    home
}

/// The payload of an agent's hook after an edit.
fn edited(server: &Server, session: &str, file: &str) -> Value {
    json!({
        "session_id": session, "transcript_path": "/nowhere", "cwd": server.home.root(),
        "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "toolu_1",
        "tool_input": {"file_path": server.home.root().join(file), "old_string": "a", "new_string": "b"},
        "tool_response": {"success": true},
    })
}

#[track_caller]
fn post(server: &Server, agent: &str, told: &Value) -> Value {
    let reply = server.send(server.request("POST", &format!("/v1/hooks/{agent}")).json(told));
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{}", reply.text);
    reply.json()
}

#[track_caller]
fn context(answer: &Value) -> String {
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().or(answer["additional_context"].as_str());
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn hook(home: &Home, agent: &str, told: &str) -> Ended {
    let file = home.path().join("event.json");
    std::fs::write(&file, told).unwrap();
    run(home.semdex().args(["hook", agent]).stdin(File::open(file).unwrap()))
}

/// Neither a word nor a reason to stop.
#[track_caller]
fn silent(ended: &Ended) {
    assert_eq!((ended.code, ended.output.as_str(), ended.errors.as_str()), (Some(0), "", ""));
}

const BROKEN_SHOUT: &str =
    "use crate::greet;\n\npub fn shout(name: &str) -> String {\n    nothing();\n    greet(name, 2).to_uppercase()\n}\n";

#[test]
fn after_an_edit_the_agent_reads_what_is_wrong() {
    let server = whole().serve(&["--trust"]);
    server.wait_ready();
    // Clean: nothing is said.
    server.home.write("src/shout.rs", &SHOUT.replace("greet(name)", "greet(name).clone()"));
    assert_eq!(post(&server, "claude", &edited(&server, "s", "src/shout.rs")), json!({}));
    silent(&hook(&server.home, "claude", &edited(&server, "s", "src/shout.rs").to_string()));

    server.home.write("src/shout.rs", BROKEN_SHOUT);
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/shout.rs")));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "LSP: 2 error(s), 0 warning(s) in src/shout.rs", "{text}");
    assert!(lines[1].starts_with("  - [ERROR] Line 4: ") && lines[1].ends_with(" [rust-analyzer]"), "{text}");
    assert!(lines[2].starts_with("  - [ERROR] Line 5: ") && lines.len() == 3, "{text}");

    // Each agent in its own form, over both interfaces.
    let fields = |answer: &Value| answer.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for (agent, event, told) in [
        ("claude", "PostToolUse", edited(&server, "s", "src/shout.rs")),
        (
            "codex",
            "PostToolUse",
            json!({
                "session_id": "s", "turn_id": "t", "cwd": server.home.root(), "hook_event_name": "PostToolUse", "model": "m",
                "tool_name": "apply_patch", "tool_use_id": "u",
                "tool_input": {"command": "*** Begin Patch\n*** Update File: src/shout.rs\n@@\n-a\n+b\n*** End Patch"},
            }),
        ),
        (
            "gemini",
            "AfterTool",
            json!({
                "session_id": "s", "cwd": server.home.root(), "hook_event_name": "AfterTool", "timestamp": "",
                "tool_name": "replace", "tool_input": {"file_path": "src/shout.rs"}, "tool_response": {"llmContent": ""},
            }),
        ),
        (
            "cursor",
            "",
            json!({
                "conversation_id": "s", "hook_event_name": "afterFileEdit", "workspace_roots": [server.home.root()],
                "file_path": server.home.root().join("src/shout.rs"), "edits": [],
            }),
        ),
    ] {
        let answer = post(&server, agent, &told);
        assert!(context(&answer).starts_with("LSP: 2 error(s), 0 warning(s) in src/shout.rs\n"), "{agent}: {answer}");
        match agent {
            "cursor" => assert_eq!(fields(&answer), ["additional_context"], "{answer}"),
            _ => {
                assert_eq!(fields(&answer), ["hookSpecificOutput"], "{answer}");
                assert_eq!(fields(&answer["hookSpecificOutput"]), ["additionalContext", "hookEventName"], "{answer}");
                assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
            }
        }
        let ended = hook(&server.home, agent, &told.to_string());
        assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""), "{agent}");
        assert_eq!(serde_json::from_str::<Value>(&ended.output).unwrap(), answer, "{agent}");
    }
    let batch = json!({
        "session_id": "s", "cwd": server.home.root(), "hook_event_name": "PostToolBatch", "tool_calls": [
            {"tool_name": "Read", "tool_use_id": "1", "tool_input": {"file_path": server.home.root().join("src/lib.rs")}},
            {"tool_name": "Edit", "tool_use_id": "2", "tool_input": {"file_path": server.home.root().join("src/shout.rs")}},
        ],
    });
    let answer = post(&server, "claude", &batch);
    assert!(context(&answer).starts_with("LSP: 2 error(s)"), "{answer}");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolBatch");
}

#[test]
fn what_an_edit_broke_elsewhere_is_told_once() {
    let server = whole().serve(&["--trust"]);
    server.wait_ready();
    let lib = server.home.read("src/lib.rs");
    server
        .home
        .write("src/lib.rs", &lib.replace("pub fn greet(name: &str)", "pub fn greet(name: &str, _times: usize)"));
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/lib.rs")));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "LSP: 1 error(s), 0 warning(s) in src/lib.rs", "{text}");
    assert!(lines[1].starts_with("  - [ERROR] Line 12: "), "{text}");
    assert_eq!(lines[2], "This edit broke 1 place in 1 other file:", "{text}");
    assert!(lines[3].starts_with("  - [ERROR] src/shout.rs:4: ") && lines.len() == 4, "{text}");

    // The next edit did not break that.
    server.home.write("src/lib.rs", &server.home.read("src/lib.rs").replace("greet(name))", "greet(name, 1))"));
    assert_eq!(post(&server, "claude", &edited(&server, "s", "src/lib.rs")), json!({}));

    // What is left at the end of the turn, and of the session.
    let stop =
        json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": "Stop", "stop_hook_active": false});
    let left = post(&server, "claude", &stop);
    let message = left["systemMessage"].as_str().unwrap_or_else(|| panic!("{left}"));
    assert_eq!(
        message,
        "LSP: 1 error(s), 0 warning(s) left in files of this session\n  - src/shout.rs: 1 error(s), 0 warning(s)"
    );
    let end = json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": "SessionEnd", "reason": "other"});
    let begun = Instant::now();
    let ended = hook(&server.home, "claude", &end.to_string());
    assert!(begun.elapsed() < Duration::from_millis(1500) || cfg!(debug_assertions), "{:?}", begun.elapsed());
    let message = serde_json::from_str::<Value>(&ended.output).unwrap()["systemMessage"].as_str().unwrap().to_owned();
    assert!(message.starts_with("LSP: 1 error(s), 0 warning(s) left in the workspace"), "{message}");

    server.home.write("src/shout.rs", &SHOUT.replace("greet(name)", "greet(name, 3)"));
    assert_eq!(post(&server, "claude", &edited(&server, "s", "src/shout.rs")), json!({}));
    assert_eq!(post(&server, "claude", &stop), json!({}));
    assert!(post(&server, "claude", &end)["systemMessage"].as_str().unwrap().starts_with("LSP: 0 error(s)"));

    // A removed file breaks its users; a restored file does not.
    std::fs::rename(server.home.root().join("src/shout.rs"), server.home.path().join("shout.rs")).unwrap();
    assert_eq!(
        post(&server, "claude", &edited(&server, "s", "src/shout.rs")),
        json!({}),
        "a file that is gone: silence"
    );
}

#[test]
fn a_file_that_is_moved_is_missed_where_it_was_imported() {
    let server = serve(&[
        ("pkg/__init__.py", ""),
        ("pkg/mod_a.py", "def f() -> int:\n    return 1\n"),
        ("pkg/mod_b.py", "from .mod_a import f\n\nx = f()\n"),
    ]);
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    let patched = |patch: &str| {
        json!({
            "session_id": "s", "turn_id": "t", "cwd": server.home.root(), "hook_event_name": "PostToolUse", "model": "m",
            "tool_name": "apply_patch", "tool_use_id": "u",
            "tool_input": {"command": format!("*** Begin Patch\n{patch}*** End Patch")},
        })
    };
    let root = server.home.root();
    std::fs::rename(root.join("pkg/mod_a.py"), root.join("pkg/mod_q.py")).unwrap();
    let moved = patched("*** Update File: pkg/mod_a.py\n*** Move to: pkg/mod_q.py\n");
    let text = context(&post(&server, "codex", &moved));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "LSP: 0 error(s), 0 warning(s) in pkg/mod_q.py", "{text}");
    assert_eq!(lines[1], "This edit broke 1 place in 1 other file:", "{text}");
    assert!(lines[2].starts_with("  - [ERROR] pkg/mod_b.py:1: ") && lines.len() == 3, "{text}");
    // Restoring it breaks nothing.
    std::fs::rename(root.join("pkg/mod_q.py"), root.join("pkg/mod_a.py")).unwrap();
    let back = patched("*** Update File: pkg/mod_q.py\n*** Move to: pkg/mod_a.py\n");
    assert_eq!(post(&server, "codex", &back), json!({}));
}

/// A removed name is unresolved wherever it was used, and restoring it fixes exactly these places.
#[test]
fn what_goes_is_missed_elsewhere_and_mended_by_what_brings_it_back() {
    let manifest = "[package]\nname = \"paged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lib = "mod wtr;\npub use crate::wtr::{block, line};\n\npub fn two() -> u8 {\n    wtr::inner()\n}\n\n\
               pub fn kept(it: &wtr::Kept) -> u8 {\n    it.0\n}\n\npub fn shown() -> String {\n    format!(\"{}\", wtr::most())\n}\n";
    let wtr = "pub fn inner() -> u8 {\n    1\n}\n\npub fn block() {}\n\npub fn line() {}\n\npub struct Kept(pub u8);\n\n\
               pub fn most() -> u8 {\n    9\n}\n";
    let server = Server::on(&[("Cargo.toml", manifest), ("src/lib.rs", lib), ("src/wtr.rs", wtr)]);
    server.wait_ready();
    for (from, to, line, code) in [
        ("pub fn inner() -> u8 {\n    1\n}\n\n", "", 5, "E0425"),
        ("pub fn inner()", "pub fn outer()", 5, "E0425"),
        ("pub fn inner()", "fn inner()", 5, "E0603"),
        ("pub fn line()", "pub fn lines()", 2, "E0432"),
        ("pub struct Kept", "pub struct Left", 8, "E0425"),
        ("pub fn most()", "pub fn least()", 13, "E0425"),
    ] {
        server.home.write("src/wtr.rs", &wtr.replace(from, to));
        let text = context(&post(&server, "claude", &edited(&server, "s", "src/wtr.rs")));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("LSP: 0 error(s), "), "{to}: {text}");
        let broken = lines.iter().position(|it| *it == "This edit broke 1 place in 1 other file:");
        let broken = broken.unwrap_or_else(|| panic!("{to}: {text}"));
        assert!(lines[broken + 1].starts_with(&format!("  - [ERROR] src/lib.rs:{line}: ")), "{to}: {text}");
        assert_eq!(lines.len(), broken + 2, "{to}: {text}");

        let (status, told) = server.get("/v1/diagnostics?file=src/lib.rs&severity=error");
        assert_eq!((status, &told["total"]), (200, &json!(1)), "{to}: {told}");
        assert_eq!(
            (&told["items"][0]["line"], &told["items"][0]["code"]),
            (&json!(line), &json!(code)),
            "{to}: {told}"
        );

        let back = json!({"name": "src/wtr.rs", "content": wtr, "mode": "overwrite", "dry_run": true});
        let (status, reply) = server.post("/v1/write", &back);
        assert_eq!(status, 200, "{reply}");
        let fixed = reply["diagnostics"]["fixed"].as_array().unwrap();
        let fixed: Vec<&Value> = fixed.iter().filter(|it| it["severity"] == "error").collect();
        assert_eq!(fixed.len(), 1, "{to}: {reply}");
        assert_eq!(
            (&fixed[0]["file"], &fixed[0]["line"], &fixed[0]["code"]),
            (&json!("src/lib.rs"), &json!(line), &json!(code)),
            "{to}: {reply}"
        );
        server.home.write("src/wtr.rs", wtr);
        post(&server, "claude", &edited(&server, "s", "src/wtr.rs"));
    }
}

#[test]
fn a_session_that_ends_while_a_server_starts_is_told_what_is_known() {
    // The server never announces itself.
    let server = fake("mute", &[]);
    let end = json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": "SessionEnd", "reason": "other"});
    let told = |server: &Server| {
        let answer = post(server, "claude", &end);
        answer["systemMessage"].as_str().unwrap_or_default().to_owned()
    };
    // On a busy machine there may not be enough time even for that.
    let unknown = "LSP: what is left in the workspace is not known: ";
    server.wait_for(|it| told(it).starts_with(unknown));
    server.wait_for(|it| told(it).contains("is being started"));

    set_mode(&server, "sound");
    server.wait_for(|it| it.get("/v1/diagnostics?file=main.py").1["meta"]["complete"] == true);
    server.home.write("main.py", "nobody(1)\n");
    let text = |server: &Server| post(server, "claude", &edited(server, "s", "main.py")).to_string();
    server.wait_for(|it| text(it).contains("nobody is unknown"));
    // The server is gone, and the next one is not ready.
    set_mode(&server, "mute");
    kill_all(&server);
    let seen = "LSP: 1 error(s), 0 warning(s) left in files of this session, as they were seen last\n  - main.py: 1 \
                error(s), 0 warning(s)\nNot all is known: ";
    server.wait_for(|it| told(it).starts_with(seen));
}

#[test]
fn each_session_has_its_statistics() {
    let server = whole().serve(&["--trust"]);
    server.wait_ready();
    let stats = |query: &str| {
        let (status, reply) = server.get(&format!("/v1/stats{query}"));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        reply
    };
    let none = stats("?session=a");
    assert_eq!(
        (&none["session"], &none["edits"], &none["files"], &none["since"]),
        (&json!("a"), &json!(0), &json!([]), &Value::Null)
    );

    server.home.write("src/shout.rs", BROKEN_SHOUT);
    post(&server, "claude", &edited(&server, "a", "src/shout.rs"));
    let once = stats("?session=a");
    assert_eq!(
        (&once["edits"], &once["counts"]["error"], &once["files"][0]["file"]),
        (&json!(1), &json!(2), &json!("src/shout.rs"))
    );
    server.home.write("src/shout.rs", SHOUT);
    post(&server, "claude", &edited(&server, "a", "src/shout.rs"));
    post(&server, "claude", &edited(&server, "b", "src/lib.rs"));
    // A file without a language is still a file of the workspace; a file outside is not.
    server.home.write("notes.txt", "x\n");
    post(&server, "claude", &edited(&server, "b", "notes.txt"));
    post(&server, "claude", &edited(&server, "b", "../outside.txt"));
    // Of a batch, only files that were not reported before.
    let batch = json!({"session_id": "b", "cwd": server.home.root(), "hook_event_name": "PostToolBatch", "tool_calls": [
        {"tool_name": "Edit", "tool_use_id": "toolu_1", "tool_input": {"file_path": server.home.root().join("src/lib.rs")}}]});
    post(&server, "claude", &batch);

    let of_a = stats("?session=a");
    let file = &of_a["files"][0];
    assert_eq!(
        (&of_a["edits"], &of_a["counts"]["error"], &file["errors"]),
        (&json!(2), &json!(0), &json!(0)),
        "{of_a}"
    );
    let errors: Vec<&Value> = file["history"].as_array().unwrap().iter().map(|it| &it["errors"]).collect();
    assert_eq!(errors, [&json!(2), &json!(0)], "{of_a}");
    assert!(of_a["since"].as_str().unwrap().ends_with('Z'), "{of_a}");
    let of_b = stats("?session=b");
    assert_eq!((&of_b["edits"], of_b["files"].as_array().unwrap().len()), (&json!(2), 1), "{of_b}");
    let all = stats("");
    assert_eq!((&all["session"], &all["edits"]), (&Value::Null, &json!(4)), "{all}");
    let printed = run(server.home.semdex().args(["stats", "--session", "a"]));
    assert!(printed.output.contains("- src/shout.rs: 0 errors, 0 warnings (errors: 2 → 0)"), "{}", printed.output);
}

#[test]
fn a_hook_blocks_only_where_the_workspace_says_so() {
    let server = whole().serve(&["--trust"]);
    server.wait_ready();
    server.home.write("src/shout.rs", BROKEN_SHOUT);
    let told = edited(&server, "s", "src/shout.rs");
    let in_words_of = |agent: &str| match agent {
        "gemini" => {
            let mut told = told.clone();
            told["hook_event_name"] = "AfterTool".into();
            told["tool_name"] = "replace".into();
            told
        }
        _ => told.clone(),
    };
    let users = server.home.path().join("config/semdex/config.toml");
    std::fs::create_dir_all(users.parent().unwrap()).unwrap();
    std::fs::write(&users, "[gate]\nblock_on_error = true\n").unwrap();
    for (gate, blocks) in [
        ("", false),
        ("[gate]\nmax_errors = 0\n", false),
        ("[gate]\nblock_on_error = false\n", false),
        ("[gate]\nblock_on_error = true\nmax_errors = 2\n", false),
        ("[gate\n", false),
        ("[gate]\nblock_on_error = true\nmax_errors = 1\n", true),
        ("[gate]\nblock_on_error = true\n", true),
    ] {
        server.home.write("semdex.toml", gate);
        for agent in ["claude", "codex", "gemini"] {
            let answer = post(&server, agent, &in_words_of(agent));
            let ended = hook(&server.home, agent, &in_words_of(agent).to_string());
            if blocks && agent != "gemini" {
                assert_eq!(answer["decision"], "block", "{gate}: {answer}");
                assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
                let reason = answer["reason"].as_str().unwrap();
                assert!(reason.starts_with("LSP: 2 error(s), 0 warning(s) in src/shout.rs\n"), "{answer}");
                assert_eq!((ended.code, ended.output.as_str()), (Some(2), ""), "{gate} {agent}");
                assert_eq!(ended.errors.trim_end(), reason);
            } else {
                assert!(context(&answer).starts_with("LSP: 2 error(s)"), "{gate}: {answer}");
                assert!(answer.get("decision").is_none(), "{gate}: {answer}");
                assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""), "{gate} {agent}");
            }
        }
    }
    // An agent that was kept going once may stop then.
    let stop = |again: bool| json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": "Stop", "stop_hook_active": again});
    assert_eq!(post(&server, "claude", &stop(false))["decision"], "block");
    assert!(post(&server, "claude", &stop(true)).get("decision").is_none());
}

#[test]
fn a_hook_never_breaks_the_agent() {
    let server = whole().serve(&["--trust"]);
    server.wait_ready();
    let outside = server.home.path().join("outside.rs");
    std::fs::write(&outside, "fn f() { nothing(); }\n").unwrap();
    std::os::unix::fs::symlink(&outside, server.home.root().join("src/link.rs")).unwrap();
    std::os::unix::fs::symlink(server.home.path(), server.home.root().join("up")).unwrap();
    server.home.write("notes.md", "# x\n");
    let file = |name: &str| edited(&server, "s", name).to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for told in [
        String::new(),
        "nonsense".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"hook_event_name\": \"PostToolUse\"}".to_owned(),
        "{\"hook_event_name\": \"PostToolUse\", \"tool_input\": 7, \"cwd\": 7}".to_owned(),
        "{\"hook_event_name\": \"SomethingNew\", \"cwd\": \"/\"}".to_owned(),
        "{\"hook_event_name\": \"SessionEnd\", \"cwd\": \"/nowhere\", \"session_id\": \"?\"}".to_owned(),
        deep,
        file("src/link.rs"),
        file("up/outside.rs"),
        file("../outside.rs"),
        file("src"),
        file("src/gone.rs"),
        file("no/such/file.rs"),
        file("notes.md"),
        file(""),
    ] {
        let shown: String = told.chars().take(200).collect();
        for agent in ["claude", "codex", "gemini", "cursor"] {
            let reply: Reply = server.send(server.request("POST", &format!("/v1/hooks/{agent}")).body(told.clone()));
            assert_eq!((reply.status, reply.text.as_str()), (200, "{}"), "{agent} {shown}");
        }
        silent(&hook(&server.home, "claude", &told));
    }
    let unknown = server.send(server.request("POST", "/v1/hooks/cluade").json(&json!({})));
    assert!(unknown.code() == "unknown_route" && unknown.text.contains("`claude`"), "{}", unknown.text);
    let stranger = server.send(server.stranger("POST", "/v1/hooks/claude").json(&json!({})));
    assert_eq!(stranger.status, 401);

    // Standard input that does not end, and a server that does not respond.
    let mut child =
        server.home.semdex().args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"hook_event_name\":").unwrap();
    let begun = Instant::now();
    assert_eq!(wait(&mut child).code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(input);
    server.signal(rustix::process::Signal::STOP);
    let begun = Instant::now();
    let ended = hook(&server.home, "claude", &file("src/lib.rs"));
    server.signal(rustix::process::Signal::CONT);
    // Silence would say that nothing is broken.
    assert!(ended.code == Some(0) && ended.errors.is_empty(), "{}", ended.errors);
    assert!(
        ended.output.contains("additionalContext") && ended.output.contains("is not known yet"),
        "{}",
        ended.output
    );
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());

    // A configuration that names an unknown agent.
    let unknown = hook(&server.home, "cluade", "{}");
    assert!(
        unknown.code == Some(0) && unknown.output.is_empty() && unknown.errors.contains("claude"),
        "{}",
        unknown.errors
    );

    // A server that is gone.
    let told = file("src/lib.rs");
    let home = Home::with(RUST);
    silent(&hook(&home, "claude", &told));
    silent(&hook(&home, "gemini", "{"));
}

#[test]
fn what_takes_long_to_find_elsewhere_is_reported_by_the_next_hook() {
    let home = whole();
    // The search in other files does not end as long as this file exists.
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let stall = faults.join("hook.elsewhere");
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    std::fs::write(&stall, "stall").unwrap();
    let lib = server.home.read("src/lib.rs");
    server
        .home
        .write("src/lib.rs", &lib.replace("pub fn greet(name: &str)", "pub fn greet(name: &str, _times: usize)"));
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/lib.rs")));
    let unknown = "What the edit of src/lib.rs broke in other files is not known yet: the next hook reports it.";
    assert!(text.starts_with("LSP: 1 error(s)") && text.ends_with(unknown), "{text}");
    std::fs::remove_file(&stall).unwrap();
    let found = " edit broke 1 place in 1 other file:\n  - [ERROR] src/shout.rs:4: ";
    server.wait_for(|it| context(&post(it, "claude", &edited(it, "s", "src/lib.rs"))).contains(found));
    // It counts at the end of the turn.
    let stop =
        json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": "Stop", "stop_hook_active": false});
    let left = post(&server, "claude", &stop);
    assert!(left["systemMessage"].as_str().is_some_and(|it| it.contains("src/shout.rs: 1 error(s)")), "{left}");
}

#[test]
fn what_a_hook_has_no_time_for_is_reported_by_the_next_one() {
    let home = whole();
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let stall = faults.join("hook.files");
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    std::fs::write(&stall, "stall").unwrap();
    server.home.write("src/shout.rs", "pub fn shout() -> u8 {\n    nothing()\n}\n");
    let unknown = "LSP: what the edit of src/shout.rs broke is not known yet: the next hook reports it.";
    assert_eq!(context(&post(&server, "claude", &edited(&server, "s", "src/shout.rs"))), unknown);
    // Without a session there is no next hook.
    let mut nobody = edited(&server, "s", "src/shout.rs");
    nobody.as_object_mut().unwrap().remove("session_id");
    assert!(context(&post(&server, "claude", &nobody)).ends_with("is not known yet: `diagnostics` reports it."));
    std::fs::remove_file(&stall).unwrap();
    let next = context(&post(&server, "claude", &edited(&server, "s", "src/lib.rs")));
    assert!(next.contains("1 error(s), 0 warning(s) in src/shout.rs"), "{next}");
}

#[test]
fn silence_is_never_the_answer_to_an_edit_that_is_not_judged() {
    let home = whole();
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    std::fs::write(faults.join("hook.elsewhere"), "stall").unwrap();
    // The file itself is clean.
    server.home.write("src/shout.rs", &SHOUT.replace("greet(name)", "greet(name).clone()"));
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/shout.rs")));
    assert!(text.contains("src/shout.rs broke in other files is not known yet"), "{text}");
    std::fs::remove_file(faults.join("hook.elsewhere")).unwrap();
    server.wait_for(|it| post(it, "claude", &edited(it, "s", "src/shout.rs")) == json!({}));
}

/// The answer to an event at the end of a turn or session.
fn at_end(server: &Server, event: &str) -> String {
    let told =
        json!({"session_id": "s", "cwd": server.home.root(), "hook_event_name": event, "stop_hook_active": false});
    post(server, "claude", &told)["systemMessage"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_end_of_a_turn_keeps_what_an_earlier_hook_promised() {
    let home = whole();
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let stall = faults.join("rust.load");
    std::fs::write(&stall, "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.home.write("src/shout.rs", BROKEN_SHOUT);
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/shout.rs")));
    assert!(text.contains("not known yet"), "{text}");
    let unknown = at_end(&server, "Stop");
    assert!(unknown.starts_with("LSP: not known yet for src/shout.rs: "), "{unknown}");
    let ended = at_end(&server, "SessionEnd");
    assert!(ended.contains("is not known") && !ended.contains("0 error(s)"), "{ended}");
    std::fs::remove_file(&stall).unwrap();
    server.wait_ready();
    server.wait_for(|it| at_end(it, "Stop").contains("  - src/shout.rs: 2 error(s)"));
    let ended = at_end(&server, "SessionEnd");
    assert!(ended.contains("  - src/shout.rs: 2 error(s)"), "{ended}");
}

#[test]
fn the_end_of_a_turn_counts_a_file_whose_hook_had_no_time() {
    let home = whole();
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let [files, elsewhere] = ["hook.files", "hook.elsewhere"].map(|it| faults.join(it));
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    for it in [&files, &elsewhere] {
        std::fs::write(it, "stall").unwrap();
    }
    let lib = server.home.read("src/lib.rs");
    server
        .home
        .write("src/lib.rs", &lib.replace("pub fn greet(name: &str)", "pub fn greet(name: &str, _times: usize)"));
    let text = context(&post(&server, "claude", &edited(&server, "s", "src/lib.rs")));
    assert!(text.ends_with("is not known yet: the next hook reports it."), "{text}");
    let left = at_end(&server, "Stop");
    assert!(left.contains("  - src/lib.rs: 1 error(s)") && left.contains("in other files is not known yet"), "{left}");
    for it in [&files, &elsewhere] {
        std::fs::remove_file(it).unwrap();
    }
    server.wait_for(|it| at_end(it, "Stop").contains("  - src/shout.rs: 1 error(s)"));
    assert!(!at_end(&server, "Stop").contains("not known"), "{}", at_end(&server, "Stop"));
}
