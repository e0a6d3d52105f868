//! Uncommitted files, commits of selected files, and the undo of a commit, in repositories of the user's own git.

mod exactly;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, run};

const TEXTS: &[(&str, &str)] = &[("a.txt", "one\ntwo\n"), ("b.txt", "three\n"), ("dir/c.txt", "four\n")];
const CONFIG: &str =
    "[user]\nname = Ada\nemail = ada@x.org\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n";

/// A server on a repository.
struct Repo {
    server: Server,
}

/// git in a directory, with the configuration of the test alone.
fn git_in(home: &Path, directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    command
        .env("GIT_CONFIG_GLOBAL", home.join("gitconfig"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // A read does not write the index.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(directory)
        .args(arguments);
    command.output().expect("git is installed: `scripts/install-missing.sh git`")
}

#[track_caller]
fn git_well(home: &Path, directory: &Path, arguments: &[&str]) -> String {
    let output = git_in(home, directory, arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// A home with a repository whose files are committed.
fn home(files: &[(&str, &str)]) -> Home {
    let home = Home::with(files);
    fs::write(home.path().join("gitconfig"), CONFIG).unwrap();
    // The repository's own configuration, so that every server on it knows the author.
    let user = [&["config", "user.name", "Ada"][..], &["config", "user.email", "ada@x.org"]];
    for arguments in [&["init", "-q"][..], user[0], user[1], &["add", "-A"], &["commit", "-qm", "start"]] {
        git_well(&home.path(), &home.root(), arguments);
    }
    home
}

fn serve(home: Home, arguments: &[&str]) -> Repo {
    let config = home.path().join("gitconfig");
    let variables = [("GIT_CONFIG_GLOBAL", config.as_path()), ("GIT_CONFIG_NOSYSTEM", Path::new("1"))];
    Repo { server: home.serve_with(arguments, &variables) }
}

fn repo(files: &[(&str, &str)]) -> Repo {
    serve(home(files), &["--trust"])
}

impl Repo {
    fn root(&self) -> PathBuf {
        self.server.home.root()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        git_well(&self.server.home.path(), &self.root(), arguments)
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Changes a word of a file by semdex, and returns the token.
    #[track_caller]
    fn edit(&self, file: &str, search: &str, replacement: &str) -> String {
        let body = json!({"file": file, "search_context": search, "replacement": replacement});
        let (status, reply) = self.server.post("/v1/edit", &body);
        assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
        reply["change"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn commit(&self, body: &Value) -> Value {
        let (status, reply) = self.server.post("/v1/commit", body);
        assert_eq!(status, 200, "{reply}");
        assert_eq!(reply["commit"], self.head(), "{reply}");
        reply
    }

    #[track_caller]
    fn refused(&self, path: &str, body: &Value, status: u16, code: &str) -> String {
        let head = git_in(&self.server.home.path(), &self.root(), &["rev-parse", "-q", "--verify", "HEAD"]).stdout;
        let (found, reply) = self.server.post(path, body);
        assert_eq!((found, &reply["code"]), (status, &json!(code)), "{reply}");
        let now = git_in(&self.server.home.path(), &self.root(), &["rev-parse", "-q", "--verify", "HEAD"]).stdout;
        assert_eq!(head, now, "HEAD was moved: {reply}");
        self.check_clean();
        reply["detail"].as_str().unwrap().to_owned()
    }

    /// The files of a commit.
    fn files_of(&self, commit: &str) -> Vec<String> {
        let listed = self.git(&["diff-tree", "-r", "--root", "--no-commit-id", "--name-only", commit]);
        listed.lines().map(str::to_owned).collect()
    }

    fn status(&self) -> Value {
        let (status, reply) = self.server.get("/v1/git");
        assert_eq!(status, 200, "{reply}");
        reply
    }

    /// Nothing of semdex remains in the repository.
    #[track_caller]
    fn check_clean(&self) {
        let directory = PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]));
        let names = fs::read_dir(&directory).unwrap().map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
        let left: Vec<String> = names.filter(|it| it.starts_with("semdex")).collect();
        assert_eq!(left, Vec::<String>::new());
    }

    /// The entries of the index with their flags and cached file data, by name.
    fn index(&self) -> BTreeMap<String, String> {
        let listed = self.git(&["ls-files", "--stage", "--debug", "-v", "-z"]);
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        let mut name = String::new();
        for part in listed.split('\0') {
            let mut head = part;
            if !name.is_empty() {
                // Five lines follow a name, and then the next name.
                let end = part.match_indices('\n').nth(4).map_or(part.len(), |(at, _)| at + 1);
                let debug;
                (debug, head) = part.split_at(end);
                entries.get_mut(&name).unwrap().push_str(debug.trim_end());
            }
            if let Some((stat, path)) = head.split_once('\t') {
                path.clone_into(&mut name);
                entries.insert(name.clone(), stat.to_owned());
            }
        }
        entries
    }

    /// All files of the work tree, links by where they lead.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        fn walk(directory: &Path, into: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                if entry.file_name() == ".git" {
                    continue;
                }
                if kind.is_dir() {
                    walk(&path, into);
                } else if kind.is_symlink() {
                    into.insert(path.clone(), (0, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
                } else {
                    let mode = entry.metadata().unwrap().permissions().mode();
                    into.insert(path.clone(), (mode, fs::read(&path).unwrap()));
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(&self.root(), &mut found);
        found
    }
}

/// A state of a repository, made before the server starts.
type State = (&'static str, fn(&Home, &dyn Fn(&[&str]) -> String));

const STATES: &[State] = &[
    ("clean", |_, _| {}),
    ("another is dirty", |home, _| home.write("b.txt", "dirty\n")),
    ("another is staged", |home, git| {
        home.write("b.txt", "dirty\n");
        git(&["add", "b.txt"]);
    }),
    ("another is staged and dirty", |home, git| {
        home.write("b.txt", "staged\n");
        git(&["add", "b.txt"]);
        home.write("b.txt", "dirty\n");
    }),
    ("another is new", |home, git| {
        home.write("new.txt", "new\n");
        git(&["add", "new.txt"]);
        home.write("later.txt", "later\n");
        git(&["add", "--intent-to-add", "later.txt"]);
    }),
    ("another is gone", |home, git| {
        git(&["rm", "-q", "b.txt"]);
        fs::remove_file(home.root().join("dir/c.txt")).unwrap();
    }),
    ("another is renamed", |_, git| {
        git(&["mv", "b.txt", "renamed.txt"]);
    }),
    ("others are untracked and ignored", |home, _| {
        home.write(".gitignore", "*.log\n");
        home.write("x.log", "x\n");
        home.write("deep/er/y.txt", "y\n");
    }),
    ("flags of others", |home, git| {
        git(&["update-index", "--assume-unchanged", "b.txt"]);
        git(&["update-index", "--skip-worktree", "dir/c.txt"]);
        home.write("b.txt", "unseen\n");
        home.write("dir/c.txt", "unseen\n");
    }),
    ("flags of its own", |_, git| {
        git(&["update-index", "--skip-worktree", "--assume-unchanged", "a.txt"]);
    }),
    ("partly staged itself", |home, git| {
        home.write("a.txt", "zero\none\ntwo\n");
        git(&["add", "a.txt"]);
        home.write("a.txt", "zero\none\ntwo\nthree\n");
    }),
    ("a split index", |home, git| {
        git(&["update-index", "--split-index"]);
        home.write("b.txt", "dirty\n");
        git(&["add", "b.txt"]);
    }),
    ("an index of version 4 with an untracked cache", |_, git| {
        git(&["update-index", "--index-version", "4", "--untracked-cache"]);
    }),
    ("a sparse checkout", |_, git| {
        git(&["sparse-checkout", "set", "--no-cone", "/a.txt"]);
    }),
    ("odd names", |home, git| {
        home.write("a \"b\"\n'c'.txt", "odd\n");
        fs::write(home.root().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), "odd\n").unwrap();
        git(&["add", "-A"]);
    }),
    ("a link and a program", |home, git| {
        std::os::unix::fs::symlink("a.txt", home.root().join("link")).unwrap();
        home.write("run.sh", "true\n");
        fs::set_permissions(home.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        git(&["add", "-A"]);
    }),
];

/// Settled: index entries, their flags and other dirty files stay as they were; a commit takes whole files.
#[test]
fn only_the_files_of_the_change_are_committed_whatever_else_there_is() {
    for (name, prepare) in STATES {
        let home = home(TEXTS);
        let (path, root) = (home.path(), home.root());
        prepare(&home, &|arguments| git_well(&path, &root, arguments));
        let repo = serve(home, &["--trust"]);
        let change = repo.edit("a.txt", "two", "2");
        let (index, tree, before) = (repo.index(), repo.tree(), repo.head());
        let made = repo.commit(&json!({"changes": [change]}));
        assert_eq!(made["files"], json!(["a.txt"]), "{name}");
        assert_eq!(repo.files_of("HEAD"), ["a.txt"], "{name}");
        assert_eq!(repo.git(&["rev-parse", "HEAD^"]), before, "{name}");
        assert_eq!(repo.git(&["show", "HEAD:a.txt"]), repo.server.home.read("a.txt").trim_end(), "{name}");
        assert_eq!(repo.tree(), tree, "{name}");
        let mut now = repo.index();
        let (own, was) = (now.remove("a.txt").unwrap(), index.get("a.txt").unwrap());
        assert_eq!(own.chars().next(), was.chars().next(), "{name}: its flags are another");
        let mut others = index.clone();
        others.remove("a.txt");
        assert_eq!(now, others, "{name}");
        assert_eq!(repo.git(&["status", "--porcelain", "a.txt"]), "", "{name}");
        repo.check_clean();
        repo.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_taken_for_deleted() {
    let repo = repo(TEXTS);
    repo.git(&["sparse-checkout", "set", "--no-cone", "/a.txt"]);
    assert!(!repo.root().join("b.txt").exists());
    let (index, head) = (repo.index(), repo.head());
    repo.refused("/v1/commit", &json!({"files": ["b.txt"]}), 424, "nothing_to_commit");
    assert_eq!((repo.index(), repo.head()), (index, head));
    let change = repo.edit("a.txt", "two", "2");
    let reply = repo.commit(&json!({"changes": [change], "files": ["b.txt"]}));
    assert_eq!(reply["files"], json!(["a.txt"]), "{reply}");
    repo.git(&["cat-file", "-e", "HEAD:b.txt"]);
}

#[test]
fn new_and_deleted_files_are_committed() {
    let repo = repo(TEXTS);
    let (_, made) = repo.server.post("/v1/write", &json!({"name": "new/deep.txt", "content": "new\n"}));
    fs::remove_file(repo.root().join("b.txt")).unwrap();
    let reply = repo.commit(&json!({"changes": [made["change"]], "files": ["b.txt"]}));
    assert_eq!(reply["files"], json!(["b.txt", "new/deep.txt"]));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    // What is neither is not known.
    repo.refused("/v1/commit", &json!({"files": ["b.txt"]}), 404, "unknown_file");
    repo.refused("/v1/commit", &json!({"files": ["nothing.txt"]}), 404, "unknown_file");
    repo.refused("/v1/commit", &json!({"files": ["../out.txt"]}), 400, "outside_workspace");
    repo.refused("/v1/commit", &json!({"files": [".git/config"]}), 400, "outside_workspace");
    repo.refused("/v1/commit", &json!({"changes": ["01JD8M2Q6Z5V9K3T7W1X4Y0ABC"]}), 404, "unknown_change");
    repo.refused("/v1/commit", &json!({"files": ["a.txt"]}), 424, "nothing_to_commit");
    repo.refused("/v1/commit", &json!({}), 424, "nothing_to_commit");
    // A file that git ignores is left out of a change, and the answer says so.
    repo.server.home.write(".gitignore", "*.log\n");
    let body = json!({"edits": [{"file": "a.txt", "search_context": "two", "replacement": "2"}]});
    let (_, first) = repo.server.post("/v1/edit", &body);
    let (_, second) = repo.server.post("/v1/write", &json!({"name": "x.log", "content": "x\n"}));
    let reply = repo.commit(&json!({"changes": [first["change"], second["change"]]}));
    assert_eq!((&reply["files"], &reply["left_out"][0]["file"]), (&json!(["a.txt"]), &json!("x.log")), "{reply}");
    let detail = repo.refused("/v1/commit", &json!({"changes": [second["change"]]}), 424, "nothing_to_commit");
    assert!(detail.contains("x.log") && detail.contains("ignores"), "{detail}");
}

/// Settled: `commit_first` is one commit of all tracked dirt, then the change's own; the user's lines in a file of the
/// change go into the first.
#[test]
fn the_users_own_work_is_committed_first_or_refuses_the_commit() {
    let repo = repo(TEXTS);
    repo.server.home.write("a.txt", "one\ntwo\nmine\n");
    repo.server.home.write("untracked.txt", "untracked\n");
    fs::remove_file(repo.root().join("dir/c.txt")).unwrap();
    let change = repo.edit("a.txt", "two", "2");
    let refuse = json!({"changes": [change], "dirty": "refuse"});
    let detail = repo.refused("/v1/commit", &refuse, 409, "conflict");
    assert!(detail.contains("`dir/c.txt`") && detail.contains("`a.txt`") && !detail.contains("untracked"), "{detail}");
    let reply = repo.commit(&json!({"changes": [change], "dirty": "commit_first", "message": "mine"}));
    assert_eq!(repo.files_of("HEAD^"), ["a.txt", "dir/c.txt"]);
    assert_eq!(reply["before"]["files"], json!(["a.txt", "dir/c.txt"]), "{reply}");
    assert_eq!(reply["before"]["commit"], repo.git(&["rev-parse", "HEAD^"]));
    assert_eq!(repo.git(&["show", "HEAD^:a.txt"]), "one\ntwo\nmine");
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "one\n2\nmine");
    assert_eq!(repo.files_of("HEAD"), ["a.txt"]);
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]), "3");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? untracked.txt");

    // Without other uncommitted work there is no first commit, and nothing to refuse.
    let change = repo.edit("b.txt", "three", "3");
    let reply = repo.commit(&json!({"changes": [change], "dirty": "commit_first"}));
    assert_eq!(reply.get("before"), None, "{reply}");
    let change = repo.edit("b.txt", "3", "4");
    repo.commit(&json!({"changes": [change], "dirty": "refuse"}));
    // Later commits of others do not count as the user's own lines.
    let change = repo.edit("b.txt", "4", "5");
    repo.git(&["commit", "-qam", "by hand"]);
    let later = repo.edit("b.txt", "5", "6");
    let reply = repo.commit(&json!({"changes": [change, later], "dirty": "commit_first"}));
    assert_eq!((reply.get("before"), repo.git(&["show", "HEAD:b.txt"]).as_str()), (None, "6"));
    // If the change has nothing of its own, the first commit is not made either.
    repo.server.home.write("a.txt", "dirty\n");
    repo.refused("/v1/commit", &json!({"changes": [later], "dirty": "commit_first"}), 424, "nothing_to_commit");
}

#[test]
fn messages_and_authors() {
    let repo = repo(RUST);
    repo.server.wait_ready();
    let change =
        repo.edit("src/lib.rs", "/// Greets everyone.", "/// Waves.\npub fn wave() {}\n\n/// Greets everyone.");
    let reply = repo.commit(&json!({"changes": [change]}));
    let first = repo.git(&["log", "-1", "--format=%s"]);
    assert_eq!(first, "feat: add wave to lib.rs");
    let message = reply["message"].as_str().unwrap();
    for words in ["What changed:\n- added `wave` to src/lib.rs: ", &change] {
        assert!(message.contains(words), "{message}");
    }
    assert!(!message.contains("safe") && !message.contains("break"), "{message}");
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), message.trim_end());
    assert_eq!(repo.git(&["log", "-1", "--format=%an <%ae> %cn <%ce>"]), "Ada <ada@x.org> Ada <ada@x.org>");

    let change = repo.edit("src/lib.rs", "pub fn wave() {}", "pub fn wave(hands: usize) {\n    let _ = hands;\n}");
    let message = "# Not a comment\n\n  two  blanks \u{e9}\n\n\n#123 stays\n";
    let author = "Grace B. H <grace@x.org>";
    repo.commit(&json!({"changes": [change], "message": message, "author": author}));
    let raw = repo.git(&["cat-file", "commit", "HEAD"]);
    assert_eq!(format!("{}\n", raw.split_once("\n\n").unwrap().1), message);
    assert_eq!(repo.git(&["log", "-1", "--format=%an <%ae> %cn"]), format!("{author} Ada"));
    for wrong in ["Ada", "Ada <", "<a@x>", "A\nB <a@x>"] {
        let body = json!({"files": ["src/lib.rs"], "author": wrong});
        repo.refused("/v1/commit", &body, 400, "invalid_request");
    }
    for wrong in ["", " \n", "a\0b"] {
        repo.refused("/v1/commit", &json!({"files": ["src/lib.rs"], "message": wrong}), 400, "invalid_request");
    }
    repo.refused("/v1/commit", &json!({"files": ["src/lib.rs"], "dirty": "keep"}), 400, "invalid_request");
    // What it broke when it was made may be fixed in the same commit: the message does not say.
    let change = repo.edit("src/lib.rs", "pub fn greet(name: &str)", "pub fn greet(name: &str, loud: bool)");
    let reply = repo.commit(&json!({"changes": [change]}));
    let message = reply["message"].as_str().unwrap();
    // Its own form counts as little as the form of the message before it: most commits here have none.
    assert!(message.starts_with("change the signature of greet in lib.rs\n"), "{message}");
    assert!(!message.contains("break"), "{message}");
    // A repository with a form of its own keeps it.
    for subject in ["Add one", "Fix two", "Say three", "Drop four", "Move five"] {
        repo.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }
    let change = repo.edit("src/lib.rs", "pub fn greet(name: &str, loud: bool)", "pub fn greet(name: &str)");
    let reply = repo.commit(&json!({"changes": [change]}));
    let message = reply["message"].as_str().unwrap();
    assert!(message.starts_with("Change the signature of greet in lib.rs\n"), "{message}");
}

#[test]
fn a_co_author_is_configured() {
    let home = home(TEXTS);
    home.write("semdex.toml", "[git]\nco_author = \"semdex <bot@x.org>\"\n");
    let repo = serve(home, &["--trust"]);
    let change = repo.edit("a.txt", "two", "2");
    repo.commit(&json!({"changes": [change]}));
    assert_eq!(
        repo.git(&["log", "-1", "--format=%(trailers:key=Co-authored-by,valueonly)"]).trim(),
        "semdex <bot@x.org>"
    );
}

fn hook(home: &Home, name: &str, script: &str) {
    let path = home.root().join(".git/hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Settled: trusted, `pre-commit` runs, sees just these files, can stop it.
#[test]
fn hooks_run_where_the_workspace_is_trusted() {
    let home = home(TEXTS);
    home.write("b.txt", "staged\n");
    git_well(&home.path(), &home.root(), &["add", "b.txt"]);
    let seen = home.path().join("seen");
    hook(
        &home,
        "pre-commit",
        &format!(
            "git diff --cached --name-only >{0}; pwd >>{0}; test ! -e stop || {{ echo no way >&2; exit 3; }}",
            seen.display()
        ),
    );
    hook(&home, "commit-msg", "echo 'Reviewed-by: Hook <h@x>' >>\"$1\"");
    hook(&home, "post-commit", &format!("echo after >>{}", seen.display()));
    let repo = serve(home, &["--trust"]);
    let change = repo.edit("a.txt", "two", "2");
    repo.server.home.write("stop", "");
    let index = repo.index();
    let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 422, "invalid_content");
    assert!(detail.contains("no way") && detail.contains("`pre-commit`"), "{detail}");
    assert_eq!(repo.index(), index);
    fs::remove_file(repo.root().join("stop")).unwrap();
    repo.commit(&json!({"changes": [change], "message": "fix: a"}));
    assert_eq!(fs::read_to_string(&seen).unwrap(), format!("a.txt\n{}\nafter\n", repo.root().display()));
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]), "fix: a\nReviewed-by: Hook <h@x>");
    assert_eq!(repo.git(&["status", "--porcelain"]), "M  b.txt");
    // A hook that formats what is staged.
    hook(&repo.server.home, "pre-commit", "printf 'formatted\\n' >a.txt; git add a.txt");
    let change = repo.edit("a.txt", "one", "1");
    repo.commit(&json!({"changes": [change]}));
    assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "formatted");
    assert_eq!(repo.git(&["status", "--porcelain"]), "M  b.txt");
}

#[test]
fn a_hook_ends_with_the_trust_in_its_workspace_and_nothing_is_committed() {
    let home = home(TEXTS);
    let begun = home.path().join("begun");
    hook(&home, "pre-commit", &format!("echo $$ >{}; while :; do sleep 1; done", begun.display()));
    let ended = run(home.semdex().args(["trust", "."]));
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    let repo = serve(home, &[]);
    let change = repo.edit("a.txt", "two", "2");
    let (head, index) = (repo.head(), repo.index());
    let mut revoke = repo.server.home.semdex();
    revoke.args(["trust", "--revoke", "."]);
    let pid = begun.clone();
    let revoked = std::thread::spawn(move || {
        while !fs::read_to_string(&pid).is_ok_and(|it| it.ends_with('\n')) {
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
        run(&mut revoke).code
    });
    let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 403, "untrusted");
    assert_eq!(revoked.join().unwrap(), Some(0));
    assert!(detail.contains("nothing was committed") && detail.contains("`pre-commit`"), "{detail}");
    let hook = fs::read_to_string(&begun).unwrap();
    assert!(!Path::new("/proc").join(hook.trim()).exists(), "{hook}");
    assert_eq!((repo.head(), repo.index()), (head, index));
}

/// Settled: untrusted, nothing of the repository runs; the commit is made, or 403.
#[test]
fn nothing_of_the_repository_runs_untrusted() {
    let home = home(TEXTS);
    let (path, root) = (home.path(), home.root());
    let git = |arguments: &[&str]| git_well(&path, &root, arguments);
    let ran = path.join("ran");
    let evil = path.join("evil");
    fs::write(&evil, format!("#!/bin/sh\necho \"$0 $@\" >>{}\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.display().to_string();
    for name in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
    ] {
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::copy(&evil, root.join(".git/hooks").join(name)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("gpg.program", &evil),
        ("diff.external", &evil),
        ("core.pager", &evil),
        ("core.editor", &evil),
        ("core.sshCommand", &evil),
        ("credential.helper", &evil),
        ("filter.a=b.clean", &evil),
        ("filter.a=b.smudge", &evil),
        ("filter.p.process", &evil),
        ("filter.p.required", "true"),
        ("alias.status", "!false"),
    ] {
        git(&["config", key, value]);
    }
    // Of the same length, so that git has to read it to know.
    home.write("b.txt", "THREE\n");
    fs::write(root.join(".git/info/attributes"), "b.txt filter=a=b\ndir/c.txt filter=p\n").unwrap();
    let repo = serve(home, &["--no-trust"]);
    let before = fs::read(repo.root().join(".git/index")).unwrap();
    let state = repo.status();
    assert_eq!((&state["branch"], &state["dirty"][0]["file"]), (&json!("main"), &json!("b.txt")), "{state}");
    assert_eq!(state["meta"]["missing"][0]["code"], "untrusted", "{state}");
    let change = repo.edit("a.txt", "two", "2");
    assert_eq!(fs::read(repo.root().join(".git/index")).unwrap(), before);
    repo.commit(&json!({"changes": [change]}));
    for file in ["b.txt", "dir/c.txt"] {
        repo.server.home.write(file, "dirty\n");
        let detail = repo.refused("/v1/commit", &json!({"files": [file]}), 403, "untrusted");
        assert!(detail.contains(file) && detail.contains("filter"), "{detail}");
    }
    let commit = repo.head();
    let (status, undone) = repo.server.post("/v1/undo", &json!({"commit": commit}));
    assert_eq!(status, 200, "{undone}");
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    git_well(&path, &repo.root(), &["config", "commit.gpgSign", "true"]);
    let change = repo.edit("a.txt", "two", "2");
    repo.refused("/v1/commit", &json!({"changes": [change]}), 403, "untrusted");
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
}

/// Settled: `commit.gpgSign` is obeyed.
#[test]
fn commits_are_signed_where_that_is_configured() {
    let home = home(TEXTS);
    let gpg = home.path().join("gpg");
    let script = "#!/bin/sh\ncat >/dev/null\nprintf '\\n[GNUPG:] SIG_CREATED ' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\nsigned\\n-----END PGP SIGNATURE-----\\n'\n";
    fs::write(&gpg, script).unwrap();
    fs::set_permissions(&gpg, fs::Permissions::from_mode(0o755)).unwrap();
    for (key, value) in [("commit.gpgSign", "true"), ("gpg.program", &gpg.display().to_string())] {
        git_well(&home.path(), &home.root(), &["config", key, value]);
    }
    let repo = serve(home, &["--trust"]);
    let change = repo.edit("a.txt", "two", "2");
    repo.commit(&json!({"changes": [change]}));
    assert!(repo.git(&["cat-file", "commit", "HEAD"]).contains("gpgsig -----BEGIN PGP SIGNATURE-----"));
    fs::write(&gpg, "#!/bin/sh\necho no key >&2\nexit 2\n").unwrap();
    let change = repo.edit("a.txt", "one", "1");
    let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 409, "conflict");
    assert!(detail.contains("gpg"), "{detail}");
}

/// Settled: merge, cherry-pick, rebase in progress: 409, for undo too.
#[test]
fn what_is_in_progress_is_finished_first() {
    let repo = repo(TEXTS);
    repo.git(&["switch", "-qc", "side"]);
    repo.server.home.write("b.txt", "side\n");
    repo.git(&["commit", "-qam", "side"]);
    repo.git(&["switch", "-q", "main"]);
    repo.server.home.write("b.txt", "main\n");
    repo.git(&["commit", "-qam", "main"]);
    repo.server.home.write("b.txt", "more\n");
    repo.git(&["commit", "-qam", "more"]);
    let undo = json!({"commit": repo.head()});
    for (begin, abort, name) in [
        (&["merge", "side"][..], &["merge", "--abort"][..], "merge"),
        (&["cherry-pick", "side"], &["cherry-pick", "--abort"], "cherry-pick"),
        (&["revert", "--no-edit", "HEAD^"], &["revert", "--abort"], "revert"),
        (&["rebase", "side"], &["rebase", "--abort"], "rebase"),
    ] {
        git_in(&repo.server.home.path(), &repo.root(), begin);
        assert_eq!(repo.status()["in_progress"], name);
        let change = repo.edit("a.txt", "two", "2");
        let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 409, "conflict");
        assert!(detail.contains(name), "{detail}");
        repo.refused("/v1/undo", &undo, 409, "conflict");
        repo.edit("a.txt", "2", "two");
        repo.git(abort);
    }
    repo.git(&["bisect", "start"]);
    repo.refused("/v1/undo", &undo, 409, "conflict");
    repo.git(&["bisect", "reset"]);
    assert_eq!(repo.status().get("in_progress"), None);
}

#[test]
fn heads_of_every_kind() {
    let repo = repo(TEXTS);
    // Detached: HEAD moves, no branch.
    let main = repo.head();
    repo.git(&["checkout", "-q", "--detach"]);
    let change = repo.edit("a.txt", "two", "2");
    let reply = repo.commit(&json!({"changes": [change]}));
    assert_eq!((&reply["branch"], &repo.status()["branch"]), (&Value::Null, &Value::Null));
    assert_eq!((repo.git(&["rev-parse", "main"]), repo.git(&["rev-parse", "HEAD^"])), (main.clone(), main));
    assert_eq!(repo.git(&["branch", "--show-current"]), "");
    // Before the first commit.
    let home = Home::with(TEXTS);
    fs::write(home.path().join("gitconfig"), CONFIG).unwrap();
    git_well(&home.path(), &home.root(), &["init", "-q"]);
    git_well(&home.path(), &home.root(), &["add", "b.txt"]);
    let repo = serve(home, &["--trust"]);
    let state = repo.status();
    assert_eq!(
        (&state["branch"], &state["head"], &state["total"]),
        (&json!("main"), &Value::Null, &json!(3)),
        "{state}"
    );
    let change = repo.edit("a.txt", "two", "2");
    repo.commit(&json!({"changes": [change]}));
    assert_eq!(repo.git(&["status", "--porcelain", "-uall"]), "A  b.txt\n?? dir/c.txt");
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]), "1");
}

#[test]
fn no_repository_and_none_that_is_ones_own() {
    let without = Home::with(TEXTS);
    fs::write(without.path().join("gitconfig"), CONFIG).unwrap();
    let server = without.serve(&["--trust"]);
    let body = json!({"file": "a.txt", "search_context": "two", "replacement": "2"});
    let (_, made) = server.post("/v1/edit", &body);
    for (status, reply) in [
        server.get("/v1/git"),
        server.post("/v1/commit", &json!({"changes": [made["change"]]})),
        server.post("/v1/undo", &json!({"commit": "abcd"})),
    ] {
        assert_eq!((status, &reply["code"]), (424, &json!("not_a_repository")), "{reply}");
    }
    // A repository of another user: git itself reports it.
    let home = home(TEXTS);
    // Only root can give a directory away; for other users a variable of git has the same effect.
    if rustix::process::geteuid().is_root() {
        for directory in [home.root().join(".git"), home.root()] {
            std::os::unix::fs::chown(directory, Some(12345), None).unwrap();
        }
        let repo = serve(home, &["--trust"]);
        let (status, reply) = repo.server.get("/v1/git");
        assert_eq!((status, &reply["code"]), (403, &json!("untrusted")), "{reply}");
        assert!(reply["detail"].as_str().unwrap().contains("dubious ownership"), "{reply}");
    }
}

/// Names from the workspace's root, which lies below the top of the work tree.
#[test]
fn a_workspace_below_the_top_and_a_linked_work_tree() {
    let home = Home::with(&[("a.txt", "one\ntwo\n"), ("deep/b.txt", "three\n")]);
    fs::write(home.path().join("gitconfig"), CONFIG).unwrap();
    fs::write(home.path().join(".gitignore"), "/state\n/config\n/log\n/gitconfig\n").unwrap();
    fs::write(home.path().join("beside.txt"), "beside\n").unwrap();
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "start"]] {
        git_well(&home.path(), &home.path(), arguments);
    }
    fs::write(home.path().join("beside.txt"), "dirty\n").unwrap();
    let repo = serve(home, &["--trust"]);
    let change = repo.edit("deep/b.txt", "three", "3");
    let state = repo.status();
    let names: Vec<&str> = state["dirty"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["../beside.txt", "deep/b.txt"], "{state}");
    let detail = repo.refused("/v1/commit", &json!({"changes": [change], "dirty": "refuse"}), 409, "conflict");
    assert!(detail.contains("`../beside.txt`"), "{detail}");
    let reply = repo.commit(&json!({"changes": [change]}));
    assert_eq!(
        (&reply["files"], repo.files_of("HEAD")),
        (&json!(["deep/b.txt"]), vec!["workspace/deep/b.txt".to_owned()])
    );
    let (status, undone) = repo.server.post("/v1/undo", &json!({"commit": reply["commit"]}));
    assert_eq!((status, repo.server.home.read("deep/b.txt").as_str()), (200, "three\n"), "{undone}");

    // Another work tree of the same repository: its own HEAD and index.
    let first = Home::with(&[]);
    let (path, root) = (first.path(), first.root());
    fs::write(path.join("gitconfig"), CONFIG).unwrap();
    fs::remove_dir(&root).unwrap();
    let main = path.join("main");
    fs::create_dir(&main).unwrap();
    fs::write(main.join("a.txt"), "one\ntwo\n").unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "start"],
        &["worktree", "add", "-q", "-b", "side", root.to_str().unwrap()],
    ] {
        git_well(&path, &main, arguments);
    }
    let index = fs::read(main.join(".git/index")).unwrap();
    let repo = serve(first, &["--trust"]);
    let change = repo.edit("a.txt", "two", "2");
    let reply = repo.commit(&json!({"changes": [change]}));
    assert_eq!((&reply["branch"], repo.git(&["status", "--porcelain"]).as_str()), (&json!("side"), ""));
    assert_eq!(git_well(&path, &main, &["rev-parse", "main"]), repo.git(&["rev-parse", "side^"]));
    assert_eq!(fs::read(main.join(".git/index")).unwrap(), index);
    repo.check_clean();
}

#[test]
fn a_file_in_a_submodule_is_refused() {
    let home = home(TEXTS);
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("s.txt"), "five\n").unwrap();
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "start"]] {
        git_well(&home.path(), &other, arguments);
    }
    git_well(&home.path(), &home.root(), &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"]);
    git_well(&home.path(), &home.root(), &["commit", "-qm", "sub"]);
    let repo = serve(home, &["--trust"]);
    let change = repo.edit("sub/s.txt", "five", "5");
    let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 409, "conflict");
    assert!(detail.contains("`sub`") && detail.contains("submodule"), "{detail}");
    assert_eq!(
        repo.status()["dirty"],
        json!([{"file": "sub", "status": "modified", "staged": false, "unstaged": true, "submodule": true}])
    );
    // One that is not checked out.
    repo.git(&["submodule", "--quiet", "deinit", "--force", "sub"]);
    let (_, made) = repo.server.post("/v1/write", &json!({"name": "sub/new.txt", "content": "new\n"}));
    repo.refused("/v1/commit", &json!({"changes": [made["change"]]}), 409, "conflict");
    // Everything else is committed as ever.
    let change = repo.edit("a.txt", "two", "2");
    repo.commit(&json!({"changes": [change]}));
    assert!(repo.git(&["ls-files", "--stage", "sub"]).starts_with("160000 "));
}

/// Settled: the user's locks are respected, never removed.
#[test]
fn a_lock_of_the_users_is_waited_for_and_left() {
    let repo = repo(TEXTS);
    let first = repo.edit("a.txt", "two", "2");
    let commit = repo.commit(&json!({"changes": [first]}));
    let change = repo.edit("a.txt", "2", "3");
    for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        let lock = repo.root().join(".git").join(name);
        fs::write(&lock, "").unwrap();
        let detail = repo.refused("/v1/commit", &json!({"changes": [change]}), 409, "conflict");
        assert!(detail.contains(name), "{detail}");
        assert!(lock.exists(), "{name}");
        fs::remove_file(&lock).unwrap();
    }
    fs::write(repo.root().join(".git/index.lock"), "").unwrap();
    repo.refused("/v1/undo", &json!({"commit": commit["commit"]}), 409, "conflict");
    assert_eq!(repo.server.home.read("a.txt"), "one\n3\n");
    assert_eq!(repo.status()["total"], 1);
    fs::remove_file(repo.root().join(".git/index.lock")).unwrap();
    repo.commit(&json!({"changes": [change]}));
}

/// Settled: one change in the journal, one commit on top.
#[test]
fn a_commit_is_undone_by_a_change_and_a_commit() {
    let repo = repo(RUST);
    repo.server.wait_ready();
    let change = repo.edit("src/lib.rs", "pub fn greet(name: &str)", "pub fn greet(name: &str, loud: bool)");
    let (_, new) = repo.server.post("/v1/write", &json!({"name": "deep/er/new.txt", "content": "new\n"}));
    let made = repo.commit(&json!({"changes": [change, new["change"]], "message": "refactor: loud"}));
    let commit = made["commit"].as_str().unwrap();
    let both = json!({"change": change, "commit": commit});
    repo.refused("/v1/undo", &both, 400, "invalid_request");
    repo.refused("/v1/undo", &json!({}), 400, "invalid_request");
    for unknown in ["0123456789abcdef0123456789abcdef01234567", "HEAD", "--all", "", "nonsense"] {
        repo.refused("/v1/undo", &json!({"commit": unknown}), 404, "unknown_change");
    }
    let (status, dry) = repo.server.post("/v1/undo", &json!({"commit": commit, "dry_run": true}));
    assert_eq!((status, &dry["applied"], dry.get("commit")), (200, &json!(false), None), "{dry}");
    assert_eq!(repo.head(), commit);
    let (status, undone) = repo.server.post("/v1/undo", &json!({"commit": &commit[..9]}));
    assert_eq!((status, &undone["applied"]), (200, &json!(true)), "{undone}");
    assert_eq!(undone["commit"], repo.head());
    assert_eq!(undone["impact"]["changed"][0]["kind"], "signature", "{undone}");
    assert_eq!(undone["diagnostics"]["fixed"].as_array().unwrap().len(), 2, "{undone}");
    assert_eq!(
        (repo.git(&["rev-parse", "HEAD^"]).as_str(), repo.git(&["status", "--porcelain"]).as_str()),
        (commit, "")
    );
    assert_eq!(repo.git(&["rev-parse", "HEAD^{tree}"]), repo.git(&["rev-parse", "HEAD~2^{tree}"]));
    assert_eq!(
        repo.git(&["log", "-1", "--format=%B"]),
        format!("revert: refactor: loud\n\nThis reverts commit {commit}.")
    );
    assert!(!repo.root().join("deep").exists());
    let (_, changes) = repo.server.get("/v1/changes");
    assert_eq!((&changes["total"], &changes["changes"][0]["cause"]), (&json!(3), &json!("undo")), "{changes}");
    assert_eq!(changes["changes"][0]["change"], undone["change"]);
    // A second undo is refused.
    repo.refused("/v1/undo", &json!({"commit": commit}), 409, "hash_mismatch");
    // The undo of the undo.
    let (status, again) = repo.server.post("/v1/undo", &json!({"commit": undone["commit"]}));
    assert_eq!((status, repo.server.home.read("deep/er/new.txt").as_str()), (200, "new\n"), "{again}");
}

#[test]
fn history_that_moved_on_is_not_undone() {
    let repo = repo(TEXTS);
    let start = repo.head();
    let change = repo.edit("a.txt", "two", "2");
    let commit = repo.commit(&json!({"changes": [change]}))["commit"].clone();
    let undo = json!({"commit": commit});
    // Changed in the work tree, in the index, in a later commit.
    repo.server.home.write("a.txt", "one\n2\nmore\n");
    let detail = repo.refused("/v1/undo", &undo, 409, "hash_mismatch");
    assert!(detail.contains("`a.txt`"), "{detail}");
    repo.git(&["add", "a.txt"]);
    repo.server.home.write("a.txt", "one\n2\n");
    repo.refused("/v1/undo", &undo, 409, "hash_mismatch");
    repo.git(&["commit", "-qm", "later"]);
    repo.git(&["checkout", "-q", "a.txt"]);
    repo.refused("/v1/undo", &undo, 409, "hash_mismatch");
    // On another branch.
    repo.git(&["switch", "-qc", "other", &start]);
    repo.refused("/v1/undo", &undo, 409, "conflict");
    // A merge.
    repo.server.home.write("b.txt", "3\n");
    repo.git(&["commit", "-qam", "other"]);
    repo.git(&["merge", "-q", "--no-edit", "main"]);
    repo.refused("/v1/undo", &json!({"commit": repo.head()}), 409, "conflict");
    // A hook that stops the commit has the change taken back.
    hook(&repo.server.home, "pre-commit", "echo no; exit 1");
    let other = repo.git(&["rev-parse", "HEAD^1"]);
    repo.refused("/v1/undo", &json!({"commit": other}), 422, "invalid_content");
    assert_eq!((repo.server.home.read("b.txt").as_str(), repo.git(&["status", "--porcelain"]).as_str()), ("3\n", ""));
    fs::remove_file(repo.root().join(".git/hooks/pre-commit")).unwrap();
    // Other files may have changed since then.
    let (status, undone) = repo.server.post("/v1/undo", &json!({"commit": other}));
    assert_eq!((status, repo.server.home.read("b.txt").as_str()), (200, "three\n"), "{undone}");
}

/// Settled: untracked files one by one, kinds distinguished, odd names escaped, the index not even refreshed.
#[test]
fn the_state_is_told_and_nothing_is_written() {
    let home = home(&[
        ("a.txt", "one\n"),
        ("b.txt", "two\n"),
        ("c.txt", "three and some more\n"),
        ("d.txt", "four\n"),
        ("sub/e.txt", "five\n"),
    ]);
    let (path, root) = (home.path(), home.root());
    let git = |arguments: &[&str]| git_well(&path, &root, arguments);
    home.write("a.txt", "dirty\n");
    fs::remove_file(root.join("b.txt")).unwrap();
    git(&["mv", "c.txt", "renamed.txt"]);
    home.write("new.txt", "new\n");
    git(&["add", "new.txt"]);
    home.write("u/v/1.txt", "1\n");
    home.write("u/v/2.txt", "2\n");
    home.write("odd \"name\"\n.txt", "odd\n");
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), "odd\n").unwrap();
    fs::remove_file(root.join("d.txt")).unwrap();
    std::os::unix::fs::symlink("a.txt", root.join("d.txt")).unwrap();
    // Touched, so that a refresh would write the index.
    home.write("sub/e.txt", "five\n");
    let repo = serve(home, &["--trust"]);
    let index = fs::read(root.join(".git/index")).unwrap();
    let state = repo.status();
    assert_eq!((&state["branch"], &state["head"]), (&json!("main"), &json!(repo.head())));
    let told: BTreeMap<&str, &str> = state["dirty"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["file"].as_str().unwrap(), it["status"].as_str().unwrap()))
        .collect();
    let wanted: BTreeMap<&str, &str> = [
        ("a.txt", "modified"),
        ("b.txt", "deleted"),
        ("renamed.txt", "renamed"),
        ("new.txt", "added"),
        ("u/v/1.txt", "untracked"),
        ("u/v/2.txt", "untracked"),
        ("odd \"name\"\n.txt", "untracked"),
        ("\"caf\\351.txt\"", "untracked"),
        ("d.txt", "type_changed"),
    ]
    .into();
    assert_eq!(told, wanted, "{state}");
    let renamed = state["dirty"].as_array().unwrap().iter().find(|it| it["status"] == "renamed").unwrap();
    assert_eq!((&renamed["from"], &renamed["staged"]), (&json!("c.txt"), &json!(true)));
    assert_eq!(fs::read(root.join(".git/index")).unwrap(), index);
    // Page by page.
    let mut seen = Vec::new();
    let mut path = "/v1/git?limit=4".to_owned();
    loop {
        let (_, page) = repo.server.get(&path);
        seen.extend(page["dirty"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/git?limit=4&cursor={cursor}");
    }
    assert_eq!(json!(seen), state["dirty"]);
    let markdown = repo.server.markdown("/v1/git", None).text;
    assert!(
        markdown.starts_with("# 9 dirty files, branch `main`, ") && markdown.contains("- a.txt: modified\n"),
        "{markdown}"
    );
}

/// Settled: after kill -9 the next answer leaves no lock of ours, and the file clean or plainly dirty.
#[test]
fn a_kill_leaves_a_commit_made_or_not_made() {
    for (point, made) in [("git.locked", false), ("git.filled", false), ("git.moved", true)] {
        let home = home(TEXTS);
        let faults = home.path().join("faults");
        fs::create_dir(&faults).unwrap();
        let config = home.path().join("gitconfig");
        let variables = [("GIT_CONFIG_GLOBAL", config.as_path()), ("SEMDEX_FAULTS", faults.as_path())];
        let mut repo = Repo { server: home.serve_with(&["--trust"], &variables) };
        repo.server.home.write("b.txt", "dirty\n");
        let change = repo.edit("a.txt", "two", "2");
        let (before, index) = (repo.head(), repo.index());
        fs::write(faults.join(point), "stall").unwrap();
        let lock = repo.root().join(".git/index.lock");
        let request = repo.server.request("POST", "/v1/commit").json(&json!({"changes": [change]}));
        let sent = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { request.send().await.is_ok() })
        });
        let has_come_so_far = || match point {
            "git.locked" => lock.exists(),
            "git.filled" => fs::metadata(&lock).is_ok_and(|it| it.len() > 0),
            _ => repo.head() != before,
        };
        repo.server.wait_for(|_| has_come_so_far());
        repo.server.signal(rustix::process::Signal::KILL);
        repo.server.wait();
        sent.join().unwrap();
        let server = repo.server.beside(&["--trust"]);
        let repo = Repo { server };
        assert_eq!(repo.server.get("/v1/git").0, 200);
        assert!(!lock.exists(), "{point}");
        repo.check_clean();
        assert_eq!(repo.head() != before, made, "{point}");
        assert_eq!(
            repo.git(&["status", "--porcelain"]),
            if made { " M b.txt" } else { " M a.txt\n M b.txt" },
            "{point}"
        );
        if !made {
            assert_eq!(repo.index(), index, "{point}");
        }
        assert_eq!(fs::read_dir(repo.server.home.path().join("state/semdex/git")).unwrap().count(), 0, "{point}");
        // And the next commit works as usual.
        let body = json!({"files": ["b.txt"], "message": "on"});
        let (status, reply) = repo.server.post("/v1/commit", &body);
        assert_eq!(status, 200, "{reply}");
    }
}

#[test]
fn commits_at_once_come_one_after_the_other() {
    let files: Vec<(String, String)> = (0..6).map(|it| (format!("f{it}.txt"), format!("{it}\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let repo = repo(&files);
    for (file, _) in &files {
        repo.server.home.write(file, "changed\n");
    }
    let sent: Vec<_> = files
        .iter()
        .map(|(file, _)| repo.server.request("POST", "/v1/commit").json(&json!({"files": [file], "message": file})))
        .map(|request| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async { request.send().await.unwrap().status().as_u16() })
            })
        })
        .collect();
    let codes: Vec<u16> = sent.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(codes, [200; 6]);
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]), "7");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_command_line_commits() {
    let repo = repo(TEXTS);
    let change = repo.edit("a.txt", "two", "2");
    let ran = |arguments: &[&str]| {
        let mut command = repo.server.home.semdex();
        run(command.env("GIT_CONFIG_GLOBAL", repo.server.home.path().join("gitconfig")).args(arguments))
    };
    let state = ran(&["git"]);
    assert!(state.output.contains("1 dirty file, branch `main`"), "{} {}", state.output, state.errors);
    let made = ran(&["commit", "--change", &change, "-m", "fix: two", "--author", "Grace <g@x>", "--dirty", "refuse"]);
    assert_eq!(
        (made.code, repo.git(&["log", "-1", "--format=%s %an"]).as_str()),
        (Some(0), "fix: two Grace"),
        "{}",
        made.errors
    );
    let commit = repo.head();
    assert!(made.output.contains(&commit), "{}", made.output);
    let again = ran(&["commit", "--file", "a.txt"]);
    assert!(again.code == Some(1) && again.errors.contains("nothing_to_commit"), "{}", again.errors);
    let undone = ran(&["undo", "--commit", &commit]);
    assert_eq!((undone.code, repo.server.home.read("a.txt").as_str()), (Some(0), "one\ntwo\n"), "{}", undone.errors);
    assert_eq!(ran(&["undo", &change, "--commit", &commit]).code, Some(2));
}

#[test]
fn a_message_of_any_length_is_stored() {
    let repo = serve(home(TEXTS), &["--trust"]);
    for (message, file) in
        [("long ".repeat(100_000), "a.txt"), (format!("short\n\n{}", "body\n".repeat(300_000)), "b.txt")]
    {
        repo.server.home.write(file, "changed\n");
        let (status, made) = repo.server.post("/v1/commit", &json!({"files": [file], "message": message}));
        assert_eq!(status, 200, "{}", made["detail"]);
        let stored = git_well(&repo.server.home.path(), &repo.server.home.root(), &["log", "-1", "--format=%B"]);
        assert_eq!(stored.trim_end(), message.trim_end());
    }
    let logged =
        git_well(&repo.server.home.path(), &repo.server.home.root(), &["reflog", "-1", "--format=%gs", "HEAD@{1}"]);
    assert!(logged.starts_with("commit: long long") && logged.ends_with('…'), "{logged}");
    let author = json!({"files": ["dir/c.txt"], "author": format!("{} <a@x.org>", "A".repeat(200_000))});
    repo.server.home.write("dir/c.txt", "changed\n");
    let (status, refused) = repo.server.post("/v1/commit", &author);
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_request")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("at most 1000 bytes"), "{refused}");
}
