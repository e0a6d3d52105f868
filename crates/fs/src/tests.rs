//! Trees on a real file system, and changes that other processes make during an operation.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::fs::{RenameFlags, mkfifoat, renameat_with};

use super::*;

const DEADLINE: Duration = Duration::from_secs(60);

struct Home {
    _guard: tempfile::TempDir,
    path: PathBuf,
    tree: Tree,
}

fn home(files: &[(&str, &str)]) -> Home {
    let guard = tempfile::tempdir().unwrap();
    let path = guard.path().canonicalize().unwrap();
    for (name, text) in files {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), text).unwrap();
    }
    let tree = Tree::new(path.join("root"), Arc::default());
    Home { _guard: guard, path, tree }
}

fn text(content: io::Result<Vec<u8>>) -> Option<String> {
    content.ok().map(|it| String::from_utf8(it).unwrap())
}

#[test]
fn links_are_followed_as_long_as_they_stay_inside() {
    let home = home(&[("root/a/b", "inside"), ("root/c", "c"), ("outside/b", "outside"), ("root/x/y/z", "deep")]);
    let link = |target: &str, name: &str| symlink(target, home.path.join("root").join(name)).unwrap();
    link("a", "in");
    link("../outside", "out");
    link("../root/a", "out_and_in");
    link("../../../../../../../../../../etc", "far");
    link("y/../../a/b", "x/up");
    symlink(home.path.join("root/a"), home.path.join("root/absolute")).unwrap();
    symlink(home.path.join("outside"), home.path.join("root/absolute_out")).unwrap();
    link("circle", "circle");
    let read = |name: &str| text(home.tree.read(Path::new(name), 100));
    for name in ["a/b", "in/b", "out_and_in/b", "absolute/b", "x/up", "x/y/../../a/b"] {
        assert_eq!(read(name).as_deref(), Some("inside"), "{name}");
    }
    for name in ["out/b", "absolute_out/b", "../outside/b", "far/passwd", "circle", "a", "c/d", "missing", ""] {
        assert_eq!(read(name), None, "{name}");
    }
    assert_eq!(home.tree.names(Path::new("in")).unwrap(), ["b"]);
    home.tree.names(Path::new("out")).unwrap_err();
    let reader = home.tree.reader().unwrap();
    assert!(reader.directory(Path::new("in")).is_err(), "handles follow no link");
    assert!(reader.directory(Path::new("../outside")).is_err());
    assert_eq!(reader.resolve(Path::new("in/new/x")).unwrap().path, home.path.join("root/a/new/x"));
}

#[test]
fn what_is_no_regular_file_is_neither_read_nor_waited_for() {
    let home = home(&[("root/a", "12345")]);
    let path = |name: &str| home.path.join("root").join(name);
    mkfifoat(CWD, path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(path("socket")).unwrap();
    symlink("/dev/zero", path("zero")).unwrap();
    let begun = Instant::now();
    for name in ["pipe", "socket", "zero", "."] {
        assert!(read_file(&path(name), 100).is_err(), "{name}");
        assert!(read_at(CWD, &path(name), 100).is_err(), "{name}");
    }
    // The file is replaced between the check and the open.
    for name in ["pipe", "socket"] {
        let opened = openat(CWD, path(name), reading(), Mode::empty()).map_err(Unreadable::from);
        assert!(opened.and_then(|it| read_opened(it, 100)).is_err(), "{name}");
    }
    assert!(begun.elapsed() < DEADLINE);
    assert_eq!(read_file(&path("a"), 5).unwrap(), b"12345");
    assert_eq!(read_at(CWD, &path("a"), 4).unwrap_err(), Unreadable::TooLarge);
}

#[test]
fn what_is_forbidden_is_so_by_every_name() {
    let home = home(&[("root/own/token", "secret"), ("root/file.toml", "x"), ("root/b/c", "")]);
    symlink("own", home.path.join("root/other_name")).unwrap();
    symlink("own/token", home.path.join("root/link")).unwrap();
    fs::hard_link(home.path.join("root/own/token"), home.path.join("root/hard")).unwrap();
    fs::hard_link(home.path.join("root/b/c"), home.path.join("root/harmless")).unwrap();
    let forbidden = ["root/other_name", "root/file.toml", "root/later/own"].map(|it| home.path.join(it));
    let tree = Tree::new(home.path.join("root"), forbidden.into());
    let reader = tree.reader().unwrap();
    for name in ["own", "own/token", "own/new/file", "other_name/token", "link", "hard", "file.toml", "later/own/x"] {
        let found = reader.resolve(Path::new(name));
        assert!(matches!(found, Err(Unresolved::Failed(_, Errno::XDEV))), "{name}: {found:?}");
        assert!(tree.read(Path::new(name), 100).is_err(), "{name}");
    }
    for name in ["b/c", "harmless", "later/x", "new"] {
        reader.resolve(Path::new(name)).unwrap();
    }
    assert_eq!(reader.directory(Path::new("own")).unwrap_err(), Errno::XDEV);
    assert!(!tree.is_forbidden());
    assert!(Tree::new(home.path.join("root/own"), tree.forbidden().clone()).is_forbidden());
    assert!(Tree::new(home.path.join("root/own/below"), tree.forbidden().clone()).is_forbidden());
}

#[test]
fn a_directory_exchanged_for_a_link_leads_nobody_outside() {
    let home = home(&[("root/d/f", "inside"), ("outside/f", "outside")]);
    let (one, two) = (home.path.join("root/d"), home.path.join("link"));
    symlink(home.path.join("outside"), &two).unwrap();
    let stop = AtomicBool::new(false);
    let read = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut read = (0, 0);
        let until = Instant::now() + DEADLINE;
        // The test needs both outcomes.
        while (read.0 < 500 || read.1 < 500) && Instant::now() < until {
            match text(home.tree.read(Path::new("d/f"), 100)).as_deref() {
                Some("inside") => read.0 += 1,
                None => read.1 += 1,
                other => {
                    stop.store(true, Ordering::Relaxed);
                    panic!("{other:?}");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        read
    });
    assert!(read.0 >= 500 && read.1 >= 500, "{read:?}");
}

#[test]
fn a_descent_goes_on_from_where_it_stands() {
    let deep = "d/".repeat(200) + "end/x";
    let home = home(&[("root/a/b/c/x", ""), ("root/a/e/x", ""), (&format!("root/{deep}"), "")]);
    symlink("b", home.path.join("root/a/link")).unwrap();
    let reader = home.tree.reader().unwrap();
    let mut descent = Descent::new(&reader);
    let mut agrees = |name: &str| {
        let (direct, there) = (reader.stat(Path::new(name)), descent.stat(Path::new(name)));
        assert_eq!(direct.map(|it| identity(&it)), there.map(|it| identity(&it)), "{name}");
    };
    let (below, above) = (&deep[..deep.len() - 2], &deep[..2 * 100 - 1]);
    // Down, up beyond the handles that are kept, sideways, through links, and to missing paths.
    for name in
        ["", "a", "a/b/c/x", "a/b", "a/e", below, deep.as_str(), above, "d", "a/link", "a/link/c", "no", "a/../a"]
    {
        agrees(name);
    }
    descent.directory(Path::new("a/b")).unwrap();
    fs::rename(home.path.join("root/a"), home.path.join("root/moved")).unwrap();
    descent.directory(Path::new("a/b/c")).unwrap();
    assert_eq!(reader.identity_now(Path::new("a/b/c")), Err(Errno::NOENT), "its name is another's");
}

#[test]
fn the_identity_of_a_name_is_that_of_the_moment() {
    let home = home(&[("root/a/b/x", ""), ("outside/x", "")]);
    symlink("a", home.path.join("root/link")).unwrap();
    let reader = home.tree.reader().unwrap();
    for name in ["", "a", "a/b"] {
        let found = reader.stat(Path::new(name)).unwrap();
        assert_eq!(reader.identity_now(Path::new(name)), Ok(identity(&found)), "{name}");
    }
    for name in ["link", "link/b", "a/b/x", "missing", "../outside", "a/../../outside"] {
        reader.identity_now(Path::new(name)).unwrap_err();
    }
}
