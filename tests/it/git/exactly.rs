//! Exactly the requested files and nothing more: index entries that git cannot distinguish from clean ones, links, and
//! commit names that resolve to another commit.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{Repo, TEXTS, git_well, home, repo, serve};
use crate::mcp;

/// A file of the same size that is dated as the index has it may have been changed. git notes of such a file that it
/// does not know it when it writes an index that is as old. Neither the commit nor its undo may have it do so.
#[test]
fn a_file_that_looks_clean_by_its_date_is_left_to_git() {
    let now = SystemTime::now();
    for (dated, date) in [("before", now - Duration::from_secs(100)), ("later", now + Duration::from_secs(3600))] {
        let home = home(TEXTS);
        let (path, root) = (home.path(), home.root());
        let git = |arguments: &[&str]| git_well(&path, &root, arguments);
        // By size and date alone.
        git(&["config", "core.checkStat", "minimal"]);
        let set = |name: &str| File::options().write(true).open(root.join(name)).unwrap().set_modified(date).unwrap();
        set("b.txt");
        git(&["update-index", "--refresh"]);
        set(".git/index");
        home.write("b.txt", "dirty\n");
        set("b.txt");
        assert_eq!(git(&["status", "--porcelain"]), " M b.txt", "{dated}");
        let repo = serve(home, &["--trust"]);
        let change = repo.edit("a.txt", "two", "2");
        let others = |repo: &Repo| {
            let mut index = repo.index();
            index.remove("a.txt").unwrap();
            index
        };
        let before = others(&repo);
        let commit = repo.commit(&json!({"changes": [change]}))["commit"].clone();
        assert_eq!(others(&repo), before, "{dated}: after the commit");
        let (status, undone) = repo.server.post("/v1/undo", &json!({"commit": commit}));
        assert_eq!((status, &undone["commit"]), (200, &json!(repo.head())), "{undone}");
        assert_eq!(others(&repo), before, "{dated}: after the undo");
        assert_eq!(repo.git(&["status", "--porcelain"]), " M b.txt", "{dated}");
        assert_eq!(repo.server.home.read("b.txt"), "dirty\n");
    }
}

/// To git a link is a file of its own: it is what `GET /v1/git` lists, and what is committed by its name.
#[test]
fn a_link_is_committed_by_its_own_name() {
    let home = home(TEXTS);
    let root = home.root();
    let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
    link("a.txt", "link.txt");
    link("nowhere", "broken");
    link("../../elsewhere", "out");
    link("dir", "linked");
    let repo = serve(home, &["--trust"]);
    let (head, tree) = (repo.head(), repo.tree());
    let target = |name: &str| repo.git(&["cat-file", "blob", &format!("HEAD:{name}")]);
    for (name, leads_to) in
        [("link.txt", "a.txt"), ("broken", "nowhere"), ("out", "../../elsewhere"), ("linked", "dir")]
    {
        let reply = repo.commit(&json!({"files": [name]}));
        assert_eq!((&reply["files"], target(name).as_str()), (&json!([name]), leads_to), "{reply}");
        assert!(repo.git(&["ls-tree", "HEAD", name]).starts_with("120000 "), "{name}");
        let message = reply["message"].as_str().unwrap();
        assert!(message.contains(&format!("\n- add {name}, a link to {leads_to}\n")), "{message}");
    }
    assert_eq!((repo.tree(), repo.git(&["status", "--porcelain"]).as_str()), (tree, ""));
    assert_eq!(repo.git(&["diff", "--stat", &head, "--", "a.txt", "dir"]), "");
    // A link as it was committed means its target, and so does a name through a linked directory.
    repo.server.home.write("a.txt", "dirty\n");
    repo.server.home.write("dir/c.txt", "dirty\n");
    assert_eq!(repo.commit(&json!({"files": ["link.txt", "linked/c.txt"]}))["files"], json!(["a.txt", "dir/c.txt"]));
    let detail = repo.refused("/v1/commit", &json!({"files": ["link.txt"]}), 424, "nothing_to_commit");
    assert!(detail.contains("as the last commit has them"), "{detail}");
    // One that leads elsewhere now, and one that is gone.
    fs::remove_file(repo.root().join("link.txt")).unwrap();
    symlink("b.txt", repo.root().join("link.txt")).unwrap();
    fs::remove_file(repo.root().join("broken")).unwrap();
    let reply = repo.commit(&json!({"files": ["link.txt", "broken"]}));
    assert_eq!((&reply["files"], target("link.txt").as_str()), (&json!(["broken", "link.txt"]), "b.txt"), "{reply}");
}

/// Settled: a commit is named by its hash; what is unknown is 404.
#[test]
fn a_commit_is_named_by_its_hash_alone() {
    let repo = repo(TEXTS);
    let start = repo.head();
    let change = repo.edit("a.txt", "two", "2");
    let commit = repo.commit(&json!({"changes": [change]}))["commit"].as_str().unwrap().to_owned();
    // What these mean is another commit as soon as one of them is undone.
    for name in ["HEAD", "main", "HEAD~1", "abc"] {
        let detail = repo.refused("/v1/undo", &json!({"commit": name}), 404, "unknown_change");
        assert!(detail.contains(&format!("`{name}` is not the hash of a commit")), "{detail}");
    }
    // A tag may be called like the beginning of another commit's hash, and a tree begins otherwise than a commit.
    repo.git(&["tag", &start[..8], &commit]);
    let detail = repo.refused("/v1/undo", &json!({"commit": &start[..8]}), 409, "hash_mismatch");
    assert!(detail.contains(&start), "{detail}");
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let detail = repo.refused("/v1/undo", &json!({"commit": tree}), 404, "unknown_change");
    assert!(detail.contains("has no commit"), "{detail}");
    let upper = commit.to_uppercase();
    let (status, dry) = repo.server.post("/v1/undo", &json!({"commit": &upper[..12], "dry_run": true}));
    assert_eq!((status, &dry["files"][0]["file"]), (200, &json!("a.txt")), "{dry}");
}

#[test]
fn a_tool_undoes_a_commit() {
    let repo = repo(TEXTS);
    let undo = |arguments: Value| mcp::call(&repo.server, mcp::NEWEST, "undo", arguments);
    let change = repo.edit("a.txt", "two", "2");
    let commit = repo.commit(&json!({"changes": [change]}))["commit"].clone();
    let (failed, text) = undo(json!({}));
    assert!(failed && text.contains("`commit`"), "{text}");
    let (failed, text) = undo(json!({"commit": commit}));
    assert!(!failed && text.contains(&format!("\n\nIt is committed as `{}`\n", repo.head())), "{text}");
    assert_eq!(
        (repo.server.home.read("a.txt").as_str(), repo.git(&["rev-list", "--count", "HEAD"]).as_str()),
        ("one\ntwo\n", "3")
    );
}
