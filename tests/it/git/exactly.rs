//! What is asked for and nothing besides: entries of the index that git cannot tell from clean ones, links, and names of
//! commits that mean another one.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{Repo, TEXTS, git_well, home, serve};

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
