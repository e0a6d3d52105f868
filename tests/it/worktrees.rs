//! Several checkouts of one repository: linked worktrees below the root are no part of the workspace.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::Piped;
use crate::support::{Home, RUST, Server, Started, run, sorted_places};

/// git, with nothing of the user's configuration.
pub fn git(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
    let command = command.args(own).args(arguments).current_dir(directory);
    let command = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = command.output().unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with one commit of these files.
pub fn repository(files: &[(&str, &str)]) -> Home {
    let home = Home::with(files);
    git(&home.root(), &["init", "-q", "-b", "main"]);
    git(&home.root(), &["add", "."]);
    git(&home.root(), &["commit", "-q", "-m", "first"]);
    home
}

/// A linked worktree with a branch of its name.
pub fn worktree(home: &Home, path: &str) {
    let branch = path.rsplit('/').next().unwrap();
    git(&home.root(), &["worktree", "add", "-q", "-b", branch, path]);
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/m\n\ngo 1.21\n"),
    ("m.go", "package m\n\nfunc Greet() string { return \"\" }\n\nfunc all() string { return Greet() }\n"),
];

const PYTHON: &[(&str, &str)] = &[("app.py", "def greet():\n    pass\n\n\ngreet()\n")];

#[track_caller]
fn usages(server: &Server, symbol: &str) -> (Vec<String>, Value) {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!(status, 200, "{reply}");
    (sorted_places(&reply["items"]), reply)
}

#[test]
fn a_linked_worktree_below_the_root_is_not_a_part_of_the_workspace() {
    for (files, symbol, file) in [(RUST, "greet", "src/lib.rs"), (GO, "Greet", "m.go"), (PYTHON, "greet", "app.py")] {
        let home = repository(files);
        worktree(&home, ".claude/worktrees/early");
        let server = crate::language_servers::serve_home(home);
        let (before, reply) = usages(&server, symbol);
        assert!(!before.is_empty() && before.iter().all(|it| !it.contains("worktrees")), "{reply}");
        let is_complete = reply["meta"]["complete"].clone();
        // One that appears later, in a directory without a dot.
        worktree(&server.home, "trees/late");
        let (after, reply) = usages(&server, symbol);
        assert_eq!((&after, &reply["meta"]["complete"]), (&before, &is_complete), "{reply}");
        let (_, found) = server.get(&format!("/v1/symbols?query={symbol}"));
        let mut files = found["symbols"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str());
        assert!(files.all(|it| !it.contains("trees")), "{found}");
        // A path into a worktree is not confused with the file of the workspace.
        for name in [".claude/worktrees/early", "trees/late"] {
            let (status, refused) = server.post("/v1/open", &json!({"file": format!("{name}/{file}")}));
            assert_eq!((status, &refused["code"]), (400, &json!("outside_workspace")), "{refused}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(server.home.root().join(name).to_str().unwrap()), "{refused}");
        }
    }
}

#[test]
fn a_submodule_stays_a_part_of_the_workspace() {
    let other = repository(&[("sub.py", "def below():\n    pass\n")]);
    let home = repository(&[("app.py", "def top():\n    pass\n")]);
    git(&home.root(), &["submodule", "add", "-q", other.root().to_str().unwrap(), "vendor/sub"]);
    let server = home.serve(&["--trust"]);
    let (status, opened) = server.post("/v1/open", &json!({"file": "vendor/sub/sub.py"}));
    assert_eq!(status, 200, "{opened}");
    let (_, found) = server.get("/v1/symbols?query=below");
    assert_eq!(found["symbols"][0]["file"], "vendor/sub/sub.py", "{found}");
}

#[test]
fn a_worktree_below_the_root_is_a_workspace_beside_the_one_around_it() {
    let home = repository(RUST);
    worktree(&home, ".claude/worktrees/a");
    home.write(".claude/worktrees/a/src/more.rs", "pub fn only_here() {}\n");
    let server = home.serve(&["--trust"]);
    let tree = server.home.root().join(".claude/worktrees/a");
    let (status, opened) = server.post("/v1/workspaces", &json!({"root": tree}));
    assert_eq!((status, &opened["workspace"]["root"]), (200, &json!(tree)), "{opened}");
    let (status, outline) = server.post("/v1/open", &json!({"file": "src/more.rs", "workspace": tree}));
    assert_eq!(status, 200, "{outline}");
    let (_, outline) = server.post("/v1/open", &json!({"file": tree.join("src/more.rs")}));
    assert_eq!(outline["file"], "src/more.rs", "{outline}");
}

#[test]
fn the_command_line_asks_the_server_of_the_worktree_that_a_file_lies_in() {
    let home = repository(RUST);
    worktree(&home, TREE);
    home.write(".claude/worktrees/a/src/more.rs", "pub fn only_here() {}\n");
    let server = home.serve(&["--trust"]);
    let home = &server.home;
    let _started = Started(home);
    let tree = home.root().join(TREE);
    let opened = run(home.semdex().arg("open").arg(tree.join("src/more.rs")));
    assert!(opened.code == Some(0) && opened.output.contains("only_here"), "{}{}", opened.output, opened.errors);
    let roots: Vec<Value> = home.servers().into_iter().map(|it| it["roots"].clone()).collect();
    assert!(roots.contains(&json!([tree])) && roots.contains(&json!([home.root()])), "{roots:?}");
    // The server of the main tree names the other one.
    let (status, refused) = server.post("/v1/open", &json!({"file": "src/more.rs", "workspace": tree}));
    let detail = refused["detail"].as_str().unwrap_or_default();
    assert!(status == 404 && detail.contains("Another server serves ") && detail.contains("http://"), "{refused}");
}

const EDIT: &str = "Hello, {name}!";

/// An edit of this file that breaks nothing.
fn edit(file: &str) -> Value {
    json!({"file": file, "search_context": EDIT, "replacement": "Hi, {name}!"})
}

fn is_edited(home: &Home, below: &str) -> bool {
    home.read(&format!("{below}src/lib.rs")).contains("Hi, {name}!")
}

const TREE: &str = ".claude/worktrees/a";

#[test]
fn a_change_names_its_root_and_needs_a_tree_where_the_session_works_in_several() {
    let home = repository(RUST);
    worktree(&home, TREE);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let (root, tree) = (server.home.root(), server.home.root().join(TREE));
    let with = |mut body: Value, fields: Value| {
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    // Of a session that works in one checkout the root is in the replies to changes.
    let (_, dry) = server.post("/v1/edit", &with(edit("src/lib.rs"), json!({"dry_run": true, "session": "s"})));
    assert_eq!(dry["meta"]["root"], json!(root), "{dry}");
    let (_, found) = server.get("/v1/usages?symbol=greet");
    assert_eq!(found["meta"]["root"], Value::Null, "{found}");

    let moved = json!({"session_id": "s", "hook_event_name": "CwdChanged", "cwd": tree.join("src")});
    let reply = server.send(server.request("POST", "/v1/hooks/claude").json(&moved));
    assert_eq!((reply.status, reply.text.as_str()), (200, "{}"));
    for body in [
        edit("src/lib.rs"),
        json!({"symbol": "greet", "at": "delete"}),
        json!({"edits": [edit("src/lib.rs")], "dry_run": true}),
    ] {
        let (status, refused) = server.post("/v1/edit", &with(body, json!({"session": "s"})));
        assert_eq!((status, &refused["code"]), (409, &json!("ambiguous_tree")), "{refused}");
        assert_eq!(refused["trees"], json!([root, tree]), "{refused}");
    }
    let write = json!({"name": "src/new.rs", "content": "", "mode": "create", "session": "s"});
    assert_eq!(server.post("/v1/write", &write).0, 409);
    let rename = json!({"symbol": "greet", "new_name": "welcome", "session": "s"});
    assert_eq!(server.post("/v1/rename", &rename).0, 409);
    assert!(!is_edited(&server.home, "") && !is_edited(&server.home, &format!("{TREE}/")));
    // Another session is not concerned.
    let (status, other) = server.post("/v1/edit", &with(edit("src/lib.rs"), json!({"dry_run": true})));
    assert_eq!(status, 200, "{other}");

    // By its root, and by a full path.
    let (status, done) = server.post("/v1/edit", &with(edit("src/lib.rs"), json!({"session": "s", "workspace": tree})));
    assert_eq!((status, &done["meta"]["root"]), (200, &json!(tree)), "{done}");
    assert!(is_edited(&server.home, &format!("{TREE}/")) && !is_edited(&server.home, ""));
    let full = with(edit(root.join("src/lib.rs").to_str().unwrap()), json!({"session": "s"}));
    let text = server.markdown("/v1/edit", Some(&full)).text;
    assert!(text.contains(&format!("in `{}`: `undo` takes it back", root.display())), "{text}");
    assert!(is_edited(&server.home, ""));
    // A reply to a question says which tree it is about; requests of others mean the main checkout.
    let named = server.send(server.request("GET", "/v1/usages?symbol=greet&wait_ms=120000").header("x-session", "s"));
    assert_eq!(named.json()["meta"]["root"], json!(root), "{}", named.text);
    let (status, found) = server.get("/v1/usages?symbol=greet");
    assert_eq!((status, &found["meta"]["workspace"]), (200, &json!("workspace")), "{found}");
}

#[test]
fn a_connection_that_named_a_worktree_says_which_one_a_change_means() {
    let home = repository(RUST);
    worktree(&home, TREE);
    let _started = Started(&home);
    let mut stdio = Piped::start(&home);
    stdio.initialize();
    let (root, tree) = (home.root(), home.root().join(TREE));
    let (failed, text) = stdio.call("edit", edit(tree.join("src/lib.rs").to_str().unwrap()));
    assert!(!failed && text.contains(&format!("in `{}`", tree.display())), "{text}");
    assert!(is_edited(&home, &format!("{TREE}/")) && !is_edited(&home, ""));
    let (failed, text) = stdio.call("edit", edit("src/lib.rs"));
    assert!(failed && text.contains("ambiguous_tree") && text.contains(tree.to_str().unwrap()), "{text}");
    let (failed, text) = stdio.call("open", json!({"file": "src/lib.rs"}));
    assert!(!failed && text.contains(&format!("this is about `{}`", root.display())), "{text}");
    let mut body = edit("src/lib.rs");
    body["workspace"] = json!(root);
    let (failed, text) = stdio.call("edit", body);
    assert!(!failed && is_edited(&home, ""), "{text}");
    // The connection is known to be of the same agent as a hook, because both have the same parent.
    let mut other = Piped::start(&home);
    other.initialize();
    hook(&home, &json!({"session_id": "h", "hook_event_name": "PostToolUse", "cwd": tree}));
    let (failed, text) = other.call("write", json!({"name": "new.md", "content": "", "mode": "create"}));
    assert!(failed && text.contains("ambiguous_tree"), "{text}");
}

fn hook(home: &Home, event: &Value) -> String {
    let file = home.path().join("event.json");
    std::fs::write(&file, event.to_string()).unwrap();
    let ended = run(home.semdex().args(["hook", "claude"]).stdin(File::open(file).unwrap()));
    assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""));
    ended.output
}

#[test]
fn a_hook_adds_the_tree_of_the_agent_to_the_arguments_of_our_tools() {
    let home = repository(RUST);
    worktree(&home, TREE);
    let tree = home.root().join(TREE);
    let event = |cwd: &Path, tool: &str, input: Value| json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": tool, "tool_input": input});
    // A session in the main checkout alone needs nothing.
    assert_eq!(hook(&home, &event(&home.root(), "mcp__semdex__edit", edit("src/lib.rs"))), "");
    let output: Value =
        serde_json::from_str(&hook(&home, &event(&tree.join("src"), "mcp__semdex__edit", edit("src/lib.rs")))).unwrap();
    let mut wanted = edit("src/lib.rs");
    wanted["workspace"] = json!(tree);
    let wanted = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": wanted}});
    assert_eq!(output, wanted);
    // Back in the main checkout it is named too.
    let back = hook(&home, &event(&home.root(), "mcp__semdex__usages", json!({"symbol": "greet"})));
    assert!(back.contains(&format!("\"workspace\":{}", json!(home.root()))), "{back}");
    for input in [edit(tree.join("src/lib.rs").to_str().unwrap()), json!({"symbol": "x", "workspace": "w"})] {
        assert_eq!(hook(&home, &event(&tree, "mcp__semdex__edit", input)), "");
    }
    assert_eq!(hook(&home, &event(&tree, "mcp__other__edit", edit("src/lib.rs"))), "");
}
