//! Several checkouts of one repository: linked worktrees below the root are no part of the workspace.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, sorted_places};

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
        let server = home.serve(&["--trust"]);
        let (before, reply) = usages(&server, symbol);
        assert!(!before.is_empty() && before.iter().all(|it| !it.contains("worktrees")), "{reply}");
        let is_complete = reply["meta"]["complete"].clone();
        // One that appears later, in a directory without a dot.
        worktree(&server.home, "trees/late");
        let (after, reply) = usages(&server, symbol);
        assert_eq!((&after, &reply["meta"]["complete"]), (&before, &is_complete), "{reply}");
        let (_, found) = server.get(&format!("/v1/symbols?query={symbol}"));
        let files = found["symbols"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str());
        assert!(files.into_iter().all(|it| !it.contains("trees")), "{found}");
        // A path into a worktree is not confused with the file of the workspace.
        for name in [".claude/worktrees/early", "trees/late"] {
            let named = format!("{name}/{file}");
            for named in [named.clone(), server.home.root().join(&named).to_str().unwrap().to_owned()] {
                let (status, refused) = server.post("/v1/open", &json!({"file": named}));
                assert_eq!((status, &refused["code"]), (400, &json!("outside_workspace")), "{refused}");
                let detail = refused["detail"].as_str().unwrap();
                assert!(detail.contains(server.home.root().join(name).to_str().unwrap()), "{refused}");
            }
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
