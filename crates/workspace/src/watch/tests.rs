//! The tree changes, and a follower of the watcher must know the same files with the same contents as a fresh walk.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::*;

/// For conditions that hold immediately unless something is wrong.
const DEADLINE: Duration = Duration::from_secs(20);

type Hashes = BTreeMap<PathBuf, blake3::Hash>;

fn tree(root: &Path) -> Tree {
    Tree::new(root.to_path_buf(), Arc::default())
}

fn walk(root: &Path) -> io::Result<Vec<PathBuf>> {
    super::walk(&tree(root))
}

fn is_listed(root: &Path, path: &Path) -> bool {
    is_listed_in(&tree(root), path)
}

fn is_listed_in(tree: &Tree, path: &Path) -> bool {
    enter(tree).unwrap().is_some_and(|reader| walk::lists(&reader, path))
}

fn hashes(files: impl IntoIterator<Item = PathBuf>) -> Hashes {
    files.into_iter().filter_map(|path| Some((path.clone(), blake3::hash(&fs::read(path).ok()?)))).collect()
}

/// A tree and a follower of its watcher.
struct Follower {
    home: TempDir,
    root: PathBuf,
    watcher: Watcher,
    wakes: Receiver<()>,
    known: Hashes,
    rescans: usize,
}

impl Follower {
    fn new() -> Follower {
        Follower::of(&[], BOUNDS)
    }

    fn of(files: &[&str], bounds: Bounds) -> Follower {
        let home = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(home.path()).unwrap().join("root");
        fs::create_dir(&root).unwrap();
        for file in files {
            write(&root.join(file), file);
        }
        let (wake, wakes) = sync_channel(64);
        let wake = Arc::new(move || _ = wake.try_send(()));
        let cookies = home.path().join("state");
        let (watcher, found) = Watcher::start_within(bounds, &[tree(&root)], &cookies, wake).unwrap();
        let known = hashes(found);
        let follower = Follower { home, root, watcher, wakes, known, rescans: 0 };
        assert_eq!(follower.known, hashes(walk(&follower.root).unwrap()));
        follower
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    fn follow(&mut self) -> Seen {
        let seen = self.watcher.barrier(DEADLINE).unwrap();
        self.apply(&seen);
        seen
    }

    fn apply(&mut self, seen: &Seen) {
        let Seen::Paths(paths) = seen else {
            self.rescans += 1;
            self.known = hashes(self.watcher.rescan().unwrap());
            return;
        };
        for path in paths {
            let below: Vec<_> = self.known.keys().filter(|known| known.starts_with(path)).cloned().collect();
            for path in below.iter().chain([path]) {
                match fs::read(path) {
                    Ok(bytes) if is_listed(&self.root, path) => {
                        self.known.insert(path.clone(), blake3::hash(&bytes));
                    }
                    _ => {
                        self.known.remove(path);
                    }
                }
            }
        }
    }

    /// Follows, and compares with the tree. Returns the names of the files.
    fn check(&mut self) -> Vec<String> {
        self.follow();
        assert_eq!(self.known, hashes(walk(&self.root).unwrap()));
        assert_eq!(self.known, hashes(self.known.keys().filter(|path| is_listed(&self.root, path)).cloned()));
        let name = |path: &PathBuf| path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
        self.known.keys().map(name).collect()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn replace(path: &Path, text: &str) {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap()).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.persist(path).unwrap();
}

#[test]
fn writes_in_place_and_over_are_seen() {
    let mut follower = Follower::of(&["a", "d/b"], BOUNDS);
    for round in 0..50 {
        follower.write("a", &format!("in place {round}"));
        let expected: BTreeSet<_> = [follower.path("a")].into();
        assert_eq!(follower.follow(), Seen::Paths(expected));
        replace(&follower.path("d/b"), &format!("over {round}"));
        assert_eq!(follower.check(), ["a", "d/b"]);
        assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()), "nothing is told twice");
    }
    assert_eq!(follower.rescans, 0);
}

#[test]
fn what_is_written_into_new_directories_at_once_is_seen() {
    let mut follower = Follower::new();
    for round in 0..200 {
        let file = format!("{}/x/y/z/file", round % 7);
        follower.write(&file, &round.to_string());
        assert_eq!(follower.check(), [file]);
        fs::remove_dir_all(follower.path(&(round % 7).to_string())).unwrap();
    }
    assert_eq!(follower.rescans, 0);
}

#[test]
fn a_removed_directory_takes_its_files_along() {
    let mut follower = Follower::of(&["d/e/f", "d/g", "h"], BOUNDS);
    fs::remove_dir_all(follower.path("d")).unwrap();
    assert_eq!(follower.check(), ["h"]);
    follower.write("d/e/f", "again");
    assert_eq!(follower.check(), ["d/e/f", "h"]);
    fs::remove_dir_all(follower.path("d")).unwrap();
    follower.write("d", "a file by the directory's name");
    assert_eq!(follower.check(), ["d", "h"]);
    assert_eq!(follower.rescans, 0);
}

#[test]
fn a_renamed_directory_lives_on_under_its_new_name_only() {
    let mut follower = Follower::of(&["old/e/f", "old/g"], BOUNDS);
    fs::rename(follower.path("old"), follower.path("new")).unwrap();
    assert_eq!(follower.check(), ["new/e/f", "new/g"]);
    follower.write("new/e/f", "changed");
    let seen = follower.watcher.barrier(DEADLINE).unwrap();
    assert_eq!(seen, Seen::Paths([follower.path("new/e/f")].into()));
    follower.apply(&seen);
    follower.write("new/e/h", "");
    follower.write("old/e/f", "another");
    assert_eq!(follower.check(), ["new/e/f", "new/e/h", "new/g", "old/e/f"]);

    // Into a directory that is not watched yet when its own move is heard of.
    for round in 0..50 {
        fs::create_dir(follower.path("deep")).unwrap();
        fs::rename(follower.path("new"), follower.path("deep/new")).unwrap();
        follower.check();
        follower.write("deep/new/e/f", &format!("there {round}"));
        follower.check();
        fs::rename(follower.path("deep/new"), follower.path("new")).unwrap();
        fs::remove_dir(follower.path("deep")).unwrap();
        follower.write("new/e/f", &format!("back {round}"));
        assert_eq!(follower.check(), ["new/e/f", "new/e/h", "new/g", "old/e/f"]);
    }
    assert_eq!(follower.rescans, 0);
}

#[test]
fn what_is_moved_in_is_seen_and_what_is_moved_out_is_gone() {
    let mut follower = Follower::new();
    write(&follower.outside("file"), "1");
    write(&follower.outside("directory/e/f"), "2");
    fs::rename(follower.outside("file"), follower.path("file")).unwrap();
    fs::rename(follower.outside("directory"), follower.path("directory")).unwrap();
    assert_eq!(follower.check(), ["directory/e/f", "file"]);
    fs::rename(follower.path("file"), follower.outside("file")).unwrap();
    fs::rename(follower.path("directory"), follower.outside("directory")).unwrap();
    assert_eq!(follower.check(), [""; 0]);
    write(&follower.outside("directory/e/f"), "3");
    assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()), "it is none of ours any more");
}

#[test]
fn git_is_followed_and_its_own_directory_ignored() {
    let mut follower = Follower::of(&["src/a.rs", "src/deep/b.rs"], BOUNDS);
    let git = |arguments: &str| {
        let mut command = Command::new("git");
        command.current_dir(&follower.root).args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        // Nothing of the user's own configuration, and of a repository that the tests are started from.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "git {arguments}: {output:?}");
    };
    git("init -q -b one");
    git("add .");
    git("commit -q -m one");
    git("checkout -q -b two");
    git("mv src/deep other");
    write(&follower.root.join("src/a.rs"), "two");
    write(&follower.root.join("more/c.rs"), "two");
    git("add .");
    git("commit -q -m two");
    let mut branches = Vec::new();
    for _ in 0..5 {
        for branch in ["one", "two"] {
            git(&format!("checkout -q {branch}"));
            let seen = follower.watcher.barrier(DEADLINE).unwrap();
            branches.push((branch, seen, walk(&follower.root).unwrap()));
        }
    }
    for (branch, seen, files) in &branches {
        let expected: &[&str] = match *branch {
            "one" => &["src/a.rs", "src/deep/b.rs"],
            _ => &["more/c.rs", "other/b.rs", "src/a.rs"],
        };
        let expected: Vec<_> = expected.iter().map(|name| follower.root.join(name)).collect();
        assert_eq!(*files, expected, "{branch}");
        let Seen::Paths(seen) = seen else { panic!("a rescan for {branch}") };
        assert!(expected.iter().all(|path| seen.contains(path)), "{branch}: {seen:?}");
        assert!(!seen.iter().any(|path| path.starts_with(follower.root.join(".git"))), "{seen:?}");
    }
    follower.known = hashes(follower.watcher.rescan().unwrap());
    assert_eq!(follower.check(), ["more/c.rs", "other/b.rs", "src/a.rs"]);
}

#[test]
fn caches_are_ignored_as_long_as_they_are_tagged() {
    let mut follower = Follower::of(&["src/a", "target/debug/x", "target/CACHEDIR.TAG", "node_modules/m/i.js"], BOUNDS);
    assert_eq!(follower.check(), ["src/a"]);
    follower.write("target/debug/y", "");
    follower.write("target/z", "");
    assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()));

    fs::remove_file(follower.path("target/CACHEDIR.TAG")).unwrap();
    assert_eq!(follower.check(), ["src/a", "target/debug/x", "target/debug/y", "target/z"]);
    follower.write("target/debug/x", "watched again");
    follower.check();
    follower.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
    assert_eq!(follower.check(), ["src/a"]);

    // The root is what was asked for, whatever it holds.
    follower.write("CACHEDIR.TAG", "");
    assert_eq!(follower.check(), ["CACHEDIR.TAG", "src/a"]);
    for name in [".git", "sub/.GIT", "sub/node_modules", ".semdex-dir", "target"] {
        follower.write(&format!("{name}/inside"), "");
        assert_eq!(follower.follow(), Seen::Paths(follower.ignored_name_only(name)));
    }
    follower.write("src/.semdex-1234", "a write in progress");
    assert_eq!(follower.check(), ["CACHEDIR.TAG", "src/a"]);
    for name in [".github/x", "node_modules2/x"] {
        follower.write(name, "");
    }
    assert_eq!(follower.check(), [".github/x", "CACHEDIR.TAG", "node_modules2/x", "src/a"]);
    assert_eq!(follower.rescans, 0);
}

impl Follower {
    /// What is reported when an ignored directory is made: at most directories that came with it.
    fn ignored_name_only(&self, name: &str) -> BTreeSet<PathBuf> {
        match name {
            "sub/.GIT" => [self.path("sub")].into(),
            "sub/node_modules" => [self.path(name)].into(),
            _ => BTreeSet::new(),
        }
    }
}

#[test]
fn linked_worktrees_are_trees_of_their_own() {
    let mut follower = Follower::of(&["src/a", ".git/config", "sub/b", "wt/early/src/a"], BOUNDS);
    let gitdir = |name: &str| format!("gitdir: {}\n", follower.path(".git").join(name).display());
    let (early, late, sub) = (gitdir("worktrees/early"), gitdir("worktrees/late"), gitdir("modules/sub"));
    assert_eq!(follower.check(), ["src/a", "sub/b", "wt/early/src/a"]);
    follower.write("wt/early/.git", &early);
    follower.write("sub/.git", &sub);
    assert_eq!(follower.check(), ["src/a", "sub/b"]);
    // As git makes one: the directory, the file, and then what is checked out.
    fs::create_dir_all(follower.path(".claude/worktrees/late")).unwrap();
    follower.check();
    follower.write(".claude/worktrees/late/.git", "");
    follower.check();
    follower.write(".claude/worktrees/late/.git", &late);
    follower.write(".claude/worktrees/late/src/a", "");
    assert_eq!(follower.check(), ["src/a", "sub/b"]);
    follower.write(".claude/worktrees/late/src/a", "changed");
    follower.write("wt/early/src/b", "");
    assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()));
    fs::rename(follower.path("wt/early"), follower.path("wt/moved")).unwrap();
    assert_eq!(follower.check(), ["src/a", "sub/b"]);
    fs::remove_file(follower.path("wt/moved/.git")).unwrap();
    assert_eq!(follower.check(), ["src/a", "sub/b", "wt/moved/src/a", "wt/moved/src/b"]);
    fs::remove_dir_all(follower.path(".claude/worktrees/late")).unwrap();
    follower.check();
    assert_eq!(follower.rescans, 0);
    // The root is what was asked for.
    follower.write("wt/moved/.git", &early);
    assert_eq!(walk(&follower.path("wt/moved")).unwrap().len(), 2);
}

#[test]
fn only_files_and_links_to_files_of_the_tree_are_listed() {
    let follower = Follower::new();
    for name in ["real", "d/in", "t/CACHEDIR.TAG", "t/cached", ".git/config"] {
        follower.write(name, name);
    }
    write(&follower.outside("elsewhere"), "secret");
    for (target, name) in [
        ("real", "link"),
        ("../real", "d/up"),
        ("link", "chain"),
        ("d", "linked-directory"),
        ("linked-directory/in", "through"),
        ("missing", "dangling"),
        ("../elsewhere", "out"),
        (".git/config", "git"),
        ("t/cached", "cached"),
        ("loop", "loop"),
    ] {
        symlink(target, follower.path(name)).unwrap();
    }
    let fifo = Command::new("mkfifo").arg(follower.path("fifo")).status().unwrap();
    assert!(fifo.success());
    let names: Vec<_> = ["chain", "d/in", "d/up", "link", "real", "through"].map(|name| follower.path(name)).into();
    assert_eq!(walk(&follower.root).unwrap(), names);
    let others = ["out", "git", "cached", "t/cached", "dangling", "loop", "fifo", "d", "linked-directory", "nothing"];
    for name in others.into_iter().chain(["linked-directory/in", "../elsewhere", ""]) {
        assert!(!is_listed(&follower.root, &follower.path(name)), "{name}");
    }
    assert!(names.iter().all(|path| is_listed(&follower.root, path)));
    assert_eq!(walk(&follower.path("nothing")).unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn links_change_with_their_targets() {
    let mut follower = Follower::of(&["real", "d/in"], BOUNDS);
    symlink("d/in", follower.path("link")).unwrap();
    symlink("d", follower.path("directory")).unwrap();
    symlink("directory/in", follower.path("through")).unwrap();
    symlink("later", follower.path("dangling")).unwrap();
    assert_eq!(follower.check(), ["d/in", "link", "real", "through"]);
    follower.write("d/in", "changed");
    follower.check();
    follower.write("later", "now there");
    assert_eq!(follower.check(), ["d/in", "dangling", "later", "link", "real", "through"]);
    fs::rename(follower.path("d"), follower.path("e")).unwrap();
    assert_eq!(follower.check(), ["dangling", "e/in", "later", "real"]);
    fs::rename(follower.path("e"), follower.path("d")).unwrap();
    follower.check();
    // A link where a directory was.
    fs::rename(follower.path("d"), follower.path("e")).unwrap();
    symlink("real", follower.path("d")).unwrap();
    follower.check();
    follower.write("real", "changed");
    follower.check();
    fs::remove_file(follower.path("d")).unwrap();
    fs::rename(follower.path("e"), follower.path("d")).unwrap();
    follower.check();
    // The target leaves the tree without moving.
    follower.write("d/CACHEDIR.TAG", "");
    assert_eq!(follower.check(), ["dangling", "later", "real"]);
    assert_eq!(follower.rescans, 0);
}

#[test]
fn hard_links_change_together() {
    let mut follower = Follower::of(&["a", "d/b"], BOUNDS);
    fs::hard_link(follower.path("a"), follower.path("d/c")).unwrap();
    assert_eq!(follower.check(), ["a", "d/b", "d/c"]);
    for round in 0..20 {
        follower.write("d/c", &format!("by the other name {round}"));
        follower.check();
    }
    write(&follower.outside("out"), "");
    fs::hard_link(follower.outside("out"), follower.path("in")).unwrap();
    follower.check();
    for round in 0..20 {
        write(&follower.outside("out"), &format!("from outside {round}"));
        follower.check();
    }
    assert_eq!(follower.rescans, 2, "one for each new name of a known file");
}

#[test]
fn more_changes_than_are_kept_ask_for_a_rescan() {
    let mut follower = Follower::of(&["a"], Bounds { paths: 10, ..BOUNDS });
    for number in 0..50 {
        follower.write(&format!("f{number}"), "");
    }
    assert_eq!(follower.watcher.barrier(DEADLINE), Ok(Seen::Rescan));
    assert_eq!(follower.watcher.barrier(DEADLINE), Ok(Seen::Rescan), "until it is done");
    assert_eq!(follower.watcher.drain(), Seen::Rescan);
    assert_eq!(follower.check().len(), 51);
    assert_eq!(follower.rescans, 1);
    follower.write("f1", "changed");
    // A process that another test started in the meantime may have held one of the files open until now.
    match follower.follow() {
        Seen::Paths(seen) => assert!(seen.contains(&follower.path("f1")) && seen.len() <= 10, "{seen:?}"),
        Seen::Rescan => panic!("the rescan was not the last"),
    }
    follower.check();
}

#[test]
fn without_enough_watches_every_answer_is_a_rescan() {
    let mut follower = Follower::of(&["a/b", "c/d", "e/f"], Bounds { directories: 3, ..BOUNDS });
    assert!(follower.watcher.lacks().unwrap().contains("fs.inotify.max_user_watches"));
    for round in 0..3 {
        follower.write("a/b", &round.to_string());
        follower.write(&format!("new/{round}"), "");
        follower.check();
        assert_eq!(follower.rescans, round + 1);
    }
    assert_eq!(follower.watcher.drain(), Seen::Paths(BTreeSet::new()));

    let mut follower = Follower::of(&["a/b"], Bounds { directories: 3, ..BOUNDS });
    assert_eq!(follower.watcher.lacks(), None);
    follower.write("c/d/e", "one too many");
    assert_eq!(follower.check(), ["a/b", "c/d/e"]);
    assert!(follower.watcher.lacks().is_some());
    assert_eq!(follower.follow(), Seen::Rescan);
}

#[test]
fn a_root_may_go_and_come_back() {
    let mut follower = Follower::of(&["a/b"], BOUNDS);
    for round in 0..3 {
        fs::rename(&follower.root, follower.outside("away")).unwrap();
        assert_eq!(follower.check(), [""; 0]);
        write(&follower.outside("away/a/b"), &format!("changed {round}"));
        assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()));
        fs::rename(follower.outside("away"), &follower.root).unwrap();
        assert_eq!(follower.check(), ["a/b"]);
        follower.write("a/c", "");
        assert_eq!(follower.check(), ["a/b", "a/c"]);
        fs::remove_file(follower.path("a/c")).unwrap();
        follower.check();
    }
    fs::remove_dir_all(&follower.root).unwrap();
    assert_eq!(follower.check(), [""; 0]);
    follower.write("x/y", "another root by the same name");
    assert_eq!(follower.check(), ["x/y"]);
    symlink(follower.outside("away"), follower.path("x/link")).unwrap();
    assert_eq!(follower.check(), ["x/y"]);
}

#[test]
fn another_root_is_followed_too() {
    let mut follower = Follower::of(&["a"], BOUNDS);
    let library = fs::canonicalize(follower.home.path()).unwrap().join("library");
    write(&library.join("src/lib.rs"), "");
    assert!(follower.watcher.add_root(&tree(&follower.outside("missing"))).is_err());
    assert_eq!(follower.watcher.add_root(&tree(&library)).unwrap(), [library.join("src/lib.rs")]);
    assert_eq!(follower.watcher.add_root(&tree(&library)).unwrap(), [library.join("src/lib.rs")], "twice is once");
    write(&library.join("src/lib.rs"), "changed");
    follower.write("a", "changed");
    let both = [library.join("src/lib.rs"), follower.path("a")].into();
    assert_eq!(follower.watcher.barrier(DEADLINE), Ok(Seen::Paths(both)));
    assert_eq!(follower.watcher.rescan().unwrap(), [library.join("src/lib.rs"), follower.path("a")]);
}

#[test]
fn rights_decide_what_is_there() {
    // A privileged user sees no difference; other users do.
    let mut follower = Follower::of(&["d/e/f"], BOUNDS);
    for mode in [0o000, 0o755, 0o700] {
        fs::set_permissions(follower.path("d"), fs::Permissions::from_mode(mode)).unwrap();
        follower.check();
    }
    follower.write("d/e/f", "changed");
    assert_eq!(follower.check(), ["d/e/f"]);
}

#[test]
fn a_change_wakes_once_and_reading_never() {
    let mut follower = Follower::of(&["a", "d/b"], BOUNDS);
    for _ in 0..10 {
        fs::read(follower.path("a")).unwrap();
        fs::read_dir(follower.path("d")).unwrap().for_each(drop);
        assert_eq!(follower.follow(), Seen::Paths(BTreeSet::new()));
    }
    assert!(follower.wakes.try_recv().is_err());

    follower.write("a", "1");
    follower.wakes.recv_timeout(DEADLINE).unwrap();
    follower.write("d/b", "2");
    follower.follow();
    assert!(follower.wakes.try_recv().is_err(), "it is awake already");
    follower.write("d/b", "3");
    follower.wakes.recv_timeout(DEADLINE).unwrap();
    let deadline = Instant::now() + DEADLINE;
    let mut drained = BTreeSet::new();
    while !drained.contains(&follower.path("d/b")) {
        assert!(Instant::now() < deadline);
        let Seen::Paths(paths) = follower.watcher.drain() else { panic!("nothing was lost") };
        drained.extend(paths);
    }
}

#[test]
fn the_cookies_directory_is_private_and_goes_with_the_watcher() {
    let mut follower = Follower::of(&["a"], BOUNDS);
    let cookies = follower.outside("state");
    let homes = || -> Vec<PathBuf> { fs::read_dir(&cookies).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let [home] = homes().try_into().unwrap();
    assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
    let (other, _) = Watcher::start(&[tree(&follower.root)], &cookies, || {}).unwrap();
    assert_eq!(homes().len(), 2, "another watcher's is no leftover");
    drop(other);
    assert_eq!(homes(), std::slice::from_ref(&home));

    fs::remove_dir_all(&home).unwrap();
    follower.write("a", "changed while there was no cookie");
    assert_eq!(follower.check(), ["a"]);
    assert_eq!(follower.rescans, 1);
    follower.write("a", "changed again");
    assert_eq!(follower.check(), ["a"]);
    assert_eq!(follower.rescans, 1, "there is one again");

    fs::create_dir(cookies.join(".semdex-watch-killed")).unwrap();
    File::create(cookies.join(".semdex-watch-killed/0")).unwrap();
    fs::create_dir(cookies.join("journal")).unwrap();
    let (other, _) = Watcher::start(&[tree(&follower.root)], &cookies, || {}).unwrap();
    assert_eq!(homes().len(), 3, "two watchers and what is not ours");
    drop((other, follower.watcher));
    assert_eq!(homes(), [cookies.join("journal")]);
}

#[test]
fn a_cookie_that_does_not_come_asks_for_a_rescan() {
    let home = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(home.path()).unwrap().join("root");
    write(&root.join("a"), "");
    // Holds the watching thread up in its first call, as a starved machine would, until it is allowed to go on.
    let (go_on, gate) = sync_channel::<()>(0);
    let gate = std::sync::Mutex::new(gate);
    let wake = move || _ = gate.lock().unwrap().recv_timeout(DEADLINE);
    let (mut watcher, _) = Watcher::start(&[tree(&root)], &home.path().join("state"), wake).unwrap();
    write(&root.join("a"), "changed");
    let patience = Duration::from_millis(50);
    assert_eq!(watcher.barrier(patience), Err(BarrierTimedOut(patience)));
    go_on.send(()).unwrap();
    drop(go_on);
    assert_eq!(watcher.barrier(DEADLINE), Ok(Seen::Rescan), "it stays so until the rescan");
    assert_eq!(watcher.rescan().unwrap(), [root.join("a")]);
    assert_eq!(watcher.barrier(DEADLINE), Ok(Seen::Paths(BTreeSet::new())));
}

#[test]
fn what_is_forbidden_is_neither_listed_nor_watched() {
    let home = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(home.path()).unwrap();
    let (own, later) = (root.join("state/semdex"), root.join("cache/semdex"));
    write(&own.join("token"), "secret");
    write(&root.join("a"), "");
    symlink("state/semdex/token", root.join("link")).unwrap();
    fs::hard_link(own.join("token"), root.join("hard")).unwrap();
    // Its name may lead through a link.
    symlink("state", root.join("alias")).unwrap();
    let tree = Tree::new(root.clone(), [root.join("alias/semdex"), later.clone()].into());
    let (mut watcher, found) = Watcher::start(std::slice::from_ref(&tree), &own.join("cookies"), || {}).unwrap();
    assert_eq!(found, [root.join("a")]);
    for name in ["state/semdex/token", "alias/semdex/token", "link", "hard"] {
        assert!(!is_listed_in(&tree, &root.join(name)), "{name}");
        assert_eq!(Texts::of(&tree).unwrap().read(&root.join(name), 100).unwrap(), None, "{name}");
    }
    write(&own.join("token"), "another");
    write(&later.join("b/c"), "comes later");
    write(&root.join("b"), "");
    let Ok(Seen::Paths(seen)) = watcher.barrier(DEADLINE) else { panic!("a rescan") };
    assert!(seen.contains(&root.join("b")) && !seen.iter().any(|it| it.starts_with(&own)), "{seen:?}");
    assert_eq!(super::walk(&tree).unwrap(), [root.join("a"), root.join("b")]);
    assert_eq!(watcher.rescan().unwrap(), [root.join("a"), root.join("b")]);
}

#[test]
fn a_directory_exchanged_for_a_link_shows_nothing_from_outside() {
    let mut follower = Follower::of(&["d/e/f", "other/x"], BOUNDS);
    write(&follower.outside("elsewhere/e/f"), "outside");
    write(&follower.outside("elsewhere/e/g"), "outside");
    symlink(follower.outside("elsewhere"), follower.path("swap")).unwrap();
    let (one, two) = (follower.path("d"), follower.path("swap"));
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = {
        let stop = stop.clone();
        thread::spawn(move || {
            let mut count = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
                count += 1;
            }
            // Back to where it began.
            if count % 2 == 1 {
                renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
            }
        })
    };
    let tree = tree(&follower.root);
    let files = ["d/e/f", "d/e/g", "swap/e/f", "swap/e/g"].map(|name| follower.path(name));
    let mut shown = 0;
    for round in 0..3000 {
        for file in &files {
            let text = Texts::of(&tree).unwrap().read(file, 100).unwrap();
            assert_ne!(text.as_deref(), Some(&b"outside"[..]), "{}", file.display());
            shown += usize::from(text.is_some());
        }
        if round % 50 == 0 {
            let listed = walk(&follower.root).unwrap();
            assert!(!listed.iter().any(|it| it.ends_with("g")), "{listed:?}");
            if let Ok(Seen::Rescan) = follower.watcher.barrier(DEADLINE) {
                let listed = follower.watcher.rescan().unwrap();
                assert!(!listed.iter().any(|it| it.ends_with("g")), "{listed:?}");
            }
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(shown > 0, "what is inside was read now and then");
    assert_eq!(follower.check(), ["d/e/f", "other/x"]);
}

/// Changes a small tree at random, in all ways that are known to be hard.
struct Vandal {
    root: PathBuf,
    outside: PathBuf,
    state: u64,
}

impl Vandal {
    fn of(follower: &Follower, seed: u64) -> Vandal {
        let outside = fs::canonicalize(follower.home.path()).unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        Vandal { root: follower.root.clone(), outside, state: seed }
    }

    /// xorshift64.
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }

    fn any(&mut self) -> PathBuf {
        let mut path = if self.below(12) == 0 { self.outside.clone() } else { self.root.clone() };
        for _ in 0..=self.below(4) {
            path.push(["a", "b", "c", "d"][self.below(4) as usize]);
        }
        path
    }

    /// Most fail since what they want is not there; what they leave behind is all that counts.
    fn act(&mut self) {
        let (one, two) = (self.any(), self.any());
        let text = self.below(1 << 40).to_string();
        let write = |path: &Path| {
            let _ = fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(path, &text));
        };
        match self.below(19) {
            0..=3 => write(&one),
            4 | 5 => write(&one.join("a/b")),
            6 => drop(fs::write(&one, &text)),
            7 => drop(fs::remove_file(&one)),
            8 => drop(fs::remove_dir_all(&one)),
            9 | 10 => drop(fs::rename(&one, &two)),
            11 => {
                let _ = fs::rename(&one, &two);
                let _ = fs::rename(&two, &one);
            }
            12 => drop(renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE)),
            13 => drop(symlink(&two, &one)),
            14 if self.below(8) == 0 => drop(fs::hard_link(&two, &one)),
            15 => {
                let _ = fs::remove_dir_all(&one);
                write(&one.join("c"));
                let _ = fs::rename(&one, &two);
                write(&one.join("d"));
            }
            16 => drop(fs::write(one.join("CACHEDIR.TAG"), "")),
            17 => drop(fs::remove_file(one.join("CACHEDIR.TAG"))),
            18 if fs::rename(&one, &two).is_ok() => {
                let _ = symlink(&two, &one);
                if self.below(2) == 0 {
                    let _ = fs::remove_file(&one);
                    let _ = fs::rename(&two, &one);
                }
            }
            _ => drop(fs::create_dir(&one)),
        }
    }
}

#[test]
fn a_thousand_random_changes_are_followed() {
    let mut follower = Follower::of(&["a/a/a", "b/b", "c/d/a", "d"], BOUNDS);
    let mut vandal = Vandal::of(&follower, 0x5eed_0001);
    for _ in 0..1000 {
        for _ in 0..=vandal.below(3) {
            vandal.act();
        }
        follower.check();
    }
    assert_eq!(follower.watcher.lacks(), None);
    assert!(follower.rescans < 100, "{} rescans are no proof of the watching", follower.rescans);
}

#[test]
fn random_changes_during_the_looking_are_followed() {
    let mut follower = Follower::of(&["a/a/a", "b/b", "c/d/a", "d"], BOUNDS);
    let mut vandal = Vandal::of(&follower, 0x5eed_0001);
    for _ in 0..100 {
        let work = thread::spawn(move || {
            (0..20).for_each(|_| vandal.act());
            vandal
        });
        while !work.is_finished() {
            follower.follow();
        }
        vandal = work.join().unwrap();
        follower.check();
    }
    assert_eq!(follower.watcher.lacks(), None);
    assert!(follower.rescans < 100, "{} rescans are no proof of the watching", follower.rescans);
}
