//! Names, links, modes and failures, on a real file system.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::fault::{Plan, failing};
use super::write::{Failure, Moment};
use super::*;

struct Fixture {
    _guard: tempfile::TempDir,
    disk: Disk,
}

impl Fixture {
    /// A workspace in a directory of its own, so that there is something outside it.
    fn new(files: &[(&str, &str)]) -> Fixture {
        let guard = tempfile::tempdir().unwrap();
        let root = guard.path().join("workspace");
        fs::create_dir(&root).unwrap();
        fs::write(guard.path().join("secret"), "outside").unwrap();
        let own = ["own/semdex", "state/semdex"].map(|it| root.canonicalize().unwrap().join(it));
        let fixture = Fixture { disk: Disk::new(&root, own.into()).unwrap(), _guard: guard };
        for (name, content) in files {
            fs::create_dir_all(fixture.path(name).parent().unwrap()).unwrap();
            fs::write(fixture.path(name), content).unwrap();
        }
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.disk.root().join(name)
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn refused(&self, name: &str) -> Code {
        self.disk.locate(name).unwrap_err().code
    }

    fn written(&self, changes: &[(&str, Option<&str>, Option<&str>)]) -> Result<()> {
        self.written_while(changes, &mut |_| {})
    }

    /// Each change is a name, the content that it is made for, and the new one.
    fn written_while(
        &self,
        changes: &[(&str, Option<&str>, Option<&str>)],
        before_swap: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let mut watch = |file: &str, moment| {
            if moment == Moment::BeforeSwap {
                before_swap(file);
            }
        };
        let result = self.written_watched(changes, &mut watch);
        self.nothing_left();
        result.map(drop).map_err(|failure| failure.error)
    }

    fn written_watched(
        &self,
        changes: &[(&str, Option<&str>, Option<&str>)],
        watch: &mut dyn FnMut(&str, Moment),
    ) -> std::result::Result<Notes, Failure> {
        let located = changes.iter().map(|(name, ..)| self.disk.locate(name)).collect::<Result<Vec<Located>>>();
        let located = located.map_err(|error| Failure { error, remains: false })?;
        let writes: Vec<Write> = changes
            .iter()
            .zip(&located)
            .map(|((_, old, new), located)| {
                let expected = old.map(|old| blake3::hash(old.as_bytes()));
                Write::new(located, expected, new.map(str::as_bytes))
            })
            .collect();
        self.disk.write_watched("tag", &writes, watch)
    }

    fn nothing_left(&self) {
        let mut directories: Vec<PathBuf> =
            self.disk.root().exists().then(|| self.disk.root().to_owned()).into_iter().collect();
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
                assert!(!entry.file_name().to_str().unwrap().starts_with(TEMPORARY_PREFIX), "{entry:?}");
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                }
            }
        }
    }
}

#[test]
fn names_stay_inside() {
    let fixture =
        Fixture::new(&[("src/a.rs", "a"), (".github/x.yml", ""), (".gitignore", ""), ("odd \\ n\name\"", "")]);
    for name in
        ["/etc/passwd", "../secret", "src/../../secret", "src/..", ".git/config", "a/.GIT/b", ".Git", ".semdex-1"]
    {
        assert_eq!(fixture.refused(name), Code::OutsideWorkspace, "{name}");
    }
    for name in ["", ".", "./", "src", "src/", "src/a.rs/", "a\0b", "src/."] {
        assert_eq!(fixture.refused(name), Code::InvalidRequest, "{name:?}");
    }
    assert_eq!(fixture.refused("src/a.rs/b"), Code::UnknownFile);
    assert_eq!(fixture.refused(&"x".repeat(300)), Code::InvalidRequest);
    assert_eq!(fixture.refused(&("d/".repeat(256) + "x")), Code::InvalidRequest);
    fixture.disk.locate(&("d/".repeat(255) + "x")).unwrap();
    // What others have made is read all the same.
    let deep = "deep/".repeat(260);
    fs::create_dir_all(fixture.path(&deep)).unwrap();
    fs::write(fixture.path(&deep).join("x"), "").unwrap();
    fixture.disk.locate(&(deep + "x")).unwrap();
    for name in
        ["src/a.rs", ".github/x.yml", ".gitignore", "odd \\ n\name\"", "new/directory/ü.rs", "..a", "a..", ".gitx/b"]
    {
        let located = fixture.disk.locate(name).unwrap();
        assert_eq!((located.rel.as_str(), located.via_link), (name, false));
    }
    let located = fixture.disk.locate("./src//a.rs").unwrap();
    assert_eq!((located.rel.as_str(), fixture.disk.read_text(&located).unwrap().as_str()), ("src/a.rs", "a"));
    assert_eq!(located.abs, fixture.path("src/a.rs"));
}

#[test]
fn a_uri_of_a_file_inside_is_that_file() {
    let fixture = Fixture::new(&[("src/a b%.rs", "a"), ("ü#.txt", "u")]);
    symlink(fixture.disk.root(), fixture.path("../alias")).unwrap();
    let (root, alias) = (fixture.disk.root().to_str().unwrap(), fixture.path("../alias"));
    let alias = alias.parent().unwrap().canonicalize().unwrap().join("alias");
    let alias = alias.to_str().unwrap();
    for (uri, expected) in [
        (format!("file://{root}/src/a%20b%25.rs"), "src/a b%.rs"),
        (format!("file://localhost{root}/src//./a%20b%25.rs"), "src/a b%.rs"),
        (format!("FILE:{root}/src/a%20b%25.rs"), "src/a b%.rs"),
        (format!("file://{root}/%C3%BC%23.txt"), "ü#.txt"),
        (format!("file://{alias}/ü%23.txt"), "ü#.txt"),
        (format!("file://{root}/new/x.rs"), "new/x.rs"),
    ] {
        assert_eq!(fixture.disk.locate(&uri).unwrap().rel, expected, "{uri}");
    }
    // And so is its absolute path, as it is written.
    for (path, expected) in [
        (format!("{root}/src/a b%.rs"), "src/a b%.rs"),
        (format!("/{root}//src/./a b%.rs"), "src/a b%.rs"),
        (format!("{alias}/ü#.txt"), "ü#.txt"),
        (format!("{root}/new/x.rs"), "new/x.rs"),
    ] {
        assert_eq!(fixture.disk.locate(&path).unwrap().rel, expected, "{path}");
    }
    for (path, code) in [
        ("/etc/nothing/x".to_owned(), Code::OutsideWorkspace),
        (format!("{root}/../secret"), Code::OutsideWorkspace),
        (format!("{root}/.git/config"), Code::OutsideWorkspace),
        (format!("{root}/own/semdex/token"), Code::OutsideWorkspace),
        (root.to_owned(), Code::InvalidRequest),
        (format!("{root}/src"), Code::InvalidRequest),
        (format!("{root}/src/a b%.rs/"), Code::InvalidRequest),
    ] {
        assert_eq!(fixture.refused(&path), code, "{path}");
    }
    for uri in [
        "file:///etc/passwd".to_owned(),
        "file:///etc/nothing/x".to_owned(),
        format!("file://{root}/../secret"),
        format!("file://{root}/%2e%2e/secret"),
        format!("file://{root}/src/%2E%2E/%2e%2e/secret"),
        format!("file://elsewhere{root}/src/a%20b%25.rs"),
        format!("file://{root}/.git/config"),
        format!("file://{root}/%2egit/config"),
        format!("file://{root}/own/semdex/token"),
    ] {
        assert_eq!(fixture.refused(&uri), Code::OutsideWorkspace, "{uri}");
    }
    for uri in [
        "file://".to_owned(),
        "file:///".to_owned(),
        format!("file://{root}"),
        format!("file://{root}/src/"),
        format!("file://{root}/a%2Fb"),
        format!("file://{root}/a%00b"),
        format!("file://{root}/a%ffb"),
        format!("file://{root}/a%2"),
        format!("file://{root}/a.rs?x"),
        format!("file://{root}/a.rs#L1"),
        "./file:/x".to_owned(),
        "src/file:///x/y.rs".to_owned(),
    ] {
        assert_eq!(fixture.refused(&uri), Code::InvalidRequest, "{uri}");
    }
    assert_eq!(fixture.disk.locate("file:x").unwrap().rel, "file:x", "an odd name, and no URI");
}

#[test]
fn semdexs_own_files_are_no_part_of_a_workspace() {
    let fixture = Fixture::new(&[("own/semdex/token", "secret"), ("a", "a"), ("own/b", "b")]);
    symlink("own", fixture.path("link")).unwrap();
    symlink("own/semdex/token", fixture.path("direct")).unwrap();
    fs::hard_link(fixture.path("own/semdex/token"), fixture.path("hard")).unwrap();
    let names = ["own/semdex/token", "own/semdex/new", "own/semdex", "link/semdex/token", "direct", "hard"];
    // Not there yet, and not to be made by anybody else.
    for name in names.into_iter().chain(["state/semdex/trust.json", "state/semdex"]) {
        assert_eq!(fixture.refused(name), Code::OutsideWorkspace, "{name}");
    }
    // What was resolved before the directory came to be where it is.
    let located = fixture.disk.locate("state/other/token").unwrap();
    fs::create_dir(fixture.path("state")).unwrap();
    fs::rename(fixture.path("own/semdex"), fixture.path("state/semdex")).unwrap();
    symlink("semdex", fixture.path("state/other")).unwrap();
    fixture.disk.read(&located).unwrap_err();
    let located = Located { rel: "state/semdex/token".to_owned(), abs: PathBuf::new(), via_link: false };
    assert_eq!(fixture.disk.read(&located).unwrap_err().code, Code::OutsideWorkspace);
    let write = Write::new(&located, Some(blake3::hash(b"secret")), Some(b"mine"));
    assert_eq!(fixture.disk.write("tag", &[write]).unwrap_err().error.code, Code::OutsideWorkspace);
    assert_eq!(fixture.disk.locate("own/b").unwrap().rel, "own/b");
    let inside = Disk::new(&fixture.path("state/semdex"), fixture.disk.tree().forbidden().clone());
    assert_eq!(inside.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
}

#[test]
fn links_are_followed_inside_and_refused_outside() {
    let fixture = Fixture::new(&[("src/a.rs", "a"), (".git/config", "")]);
    let link = |target: &str, name: &str| symlink(target, fixture.path(name)).unwrap();
    link("src/a.rs", "in");
    link("src", "directory");
    link("../in", "src/twice");
    link("src/new.rs", "dangling");
    link("../secret", "out");
    link("../nowhere/x", "dangling_out");
    link("/etc", "absolute");
    link(".git/config", "config");
    link("circle", "circle");
    link("nothing/../src/a.rs", "broken");
    symlink(fixture.path("src/a.rs"), fixture.path("absolute_in")).unwrap();
    link("../workspace/src/a.rs", "out_and_in");
    for name in ["in", "directory/a.rs", "src/twice", "absolute_in", "out_and_in"] {
        let located = fixture.disk.locate(name).unwrap();
        assert_eq!((located.rel.as_str(), located.via_link), ("src/a.rs", true), "{name}");
    }
    for name in ["out", "dangling_out", "absolute/passwd", "absolute/nothing", "config"] {
        assert_eq!(fixture.refused(name), Code::OutsideWorkspace, "{name}");
    }
    assert_eq!(fixture.refused("circle"), Code::InvalidRequest);
    assert_eq!(fixture.refused("broken"), Code::UnknownFile);
    fixture.written(&[("directory/a.rs", Some("a"), Some("b")), ("dangling", None, Some("new"))]).unwrap();
    assert_eq!((fixture.content("src/a.rs"), fixture.content("src/new.rs")), ("b".into(), "new".into()));
    assert!(fixture.path("dangling").symlink_metadata().unwrap().is_symlink(), "the link stays");
    let same = fixture.written(&[("in", Some("b"), Some("c")), ("src/a.rs", Some("b"), Some("d"))]).unwrap_err();
    assert_eq!(same.code, Code::InvalidRequest, "two names of one file");
}

#[test]
fn a_directory_that_becomes_a_link_later_leads_nowhere() {
    let fixture = Fixture::new(&[("src/a.rs", "a")]);
    let located = fixture.disk.locate("src/a.rs").unwrap();
    fs::rename(fixture.path("src"), fixture.path("../stolen")).unwrap();
    symlink("../stolen", fixture.path("src")).unwrap();
    fixture.disk.read(&located).unwrap_err();
    let write = Write::new(&located, Some(blake3::hash(b"a")), Some(b"b"));
    fixture.disk.write("tag", &[write]).unwrap_err();
    assert_eq!(fixture.content("src/a.rs"), "a");
}

#[test]
fn what_is_no_text_file_is_reported() {
    let fixture = Fixture::new(&[("a", "a\0b"), ("text", "ß\r\n")]);
    let root = open_directory(rustix::fs::CWD, fixture.disk.root()).unwrap();
    rustix::fs::mkfifoat(&root, "pipe", Mode::from_raw_mode(0o644)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(fixture.path("socket")).unwrap();
    for name in ["pipe", "socket"] {
        assert_eq!(fixture.refused(name), Code::NotText);
    }
    let located = fixture.disk.locate("a").unwrap();
    assert_eq!(fixture.disk.read(&located).unwrap(), b"a\0b");
    assert_eq!(fixture.disk.read_text(&located).unwrap_err().code, Code::NotText);
    fs::write(fixture.path("a"), b"\xff").unwrap();
    assert_eq!(fixture.disk.read_text(&located).unwrap_err().code, Code::NotText);
    assert_eq!(fixture.disk.read_text(&fixture.disk.locate("text").unwrap()).unwrap(), "ß\r\n");
    // What came after the name was resolved.
    fs::remove_file(fixture.path("a")).unwrap();
    assert_eq!(fixture.disk.read(&located).unwrap_err().code, Code::UnknownFile);
    rustix::fs::mkfifoat(&root, "a", Mode::from_raw_mode(0o644)).unwrap();
    assert_eq!(fixture.disk.read(&located).unwrap_err().code, Code::NotText);
    assert_eq!((text_of(b"a"), text_of(b"\0"), text_of(b"\xff"), text_of(b"")), (Some("a"), None, None, Some("")));
}

#[test]
fn sizes_are_limited() {
    let fixture = Fixture::new(&[("big", "")]);
    File::create(fixture.path("big")).unwrap().set_len(MOST_BYTES as u64 + 1).unwrap();
    let located = fixture.disk.locate("big").unwrap();
    assert_eq!(fixture.disk.read(&located).unwrap_err().code, Code::TooLarge);
    let error = fixture.written(&[("new", None, Some(&"x".repeat(MOST_BYTES + 1)))]).unwrap_err();
    assert_eq!(error.code, Code::TooLarge);
    assert!(!fixture.path("new").exists());
}

#[test]
fn files_are_created_replaced_and_deleted_together() {
    let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
    fs::set_permissions(fixture.path("a"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::hard_link(fixture.path("a"), fixture.path("other")).unwrap();
    fixture.written(&[("a", Some("1"), Some("one")), ("b", Some("2"), None), ("x/y/z", None, Some(""))]).unwrap();
    assert_eq!((fixture.content("a"), fixture.content("x/y/z")), ("one".into(), String::new()));
    assert!(!fixture.path("b").exists());
    assert_eq!(fs::metadata(fixture.path("a")).unwrap().mode() & 0o7777, 0o750);
    assert_eq!(fixture.content("other"), "1", "another name of the old file keeps it");
    fs::write(fixture.path("plain"), "").unwrap();
    let mode = |name: &str| fs::metadata(fixture.path(name)).unwrap().mode();
    assert_eq!(mode("x/y/z"), mode("plain"), "the user's mask counts");
    fixture.written(&[]).unwrap();
}

#[test]
fn nothing_is_written_over_what_someone_else_wrote() {
    let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
    let change = [("a", Some("1"), Some("one")), ("b", Some("old"), Some("two"))];
    let error = fixture.written(&change).unwrap_err();
    assert_eq!((error.code, error.help.file.as_deref()), (Code::HashMismatch, Some("b")));
    assert_eq!(error.help.actual_hash, Some(blake3::hash(b"2").to_hex().to_string()));
    assert!(error.detail.ends_with("nothing was changed"), "{}", error.detail);
    assert_eq!(fixture.written(&[("a", None, Some(""))]).unwrap_err().code, Code::AlreadyExists);
    assert_eq!(fixture.written(&[("c", Some(""), Some("x"))]).unwrap_err().code, Code::Conflict);
    assert_eq!(fixture.written(&[("c", None, None)]).unwrap_err().code, Code::UnknownFile);
    assert_eq!((fixture.content("a"), fixture.content("b")), ("1".into(), "2".into()));
}

/// Somebody interferes when the first files are swapped already.
#[test]
fn a_change_that_fails_midway_is_taken_back() {
    let change = [
        ("a", Some("1"), Some("one")),
        ("gone", Some("3"), None),
        ("new/directory/c", None, Some("new")),
        ("b", Some("2"), Some("two")),
    ];
    type Interfere<'a> = &'a dyn Fn(&Fixture);
    let interfere: [(Interfere, Code); 5] = [
        (&|it| fs::write(it.path("b"), "theirs").unwrap(), Code::HashMismatch),
        (&|it| fs::remove_file(it.path("b")).unwrap(), Code::Conflict),
        (
            &|it| {
                fs::remove_file(it.path("b")).unwrap();
                fs::create_dir(it.path("b")).unwrap();
            },
            Code::InvalidRequest,
        ),
        (
            &|it| {
                fs::remove_file(it.path("b")).unwrap();
                symlink("../../secret", it.path("b")).unwrap();
            },
            Code::Conflict,
        ),
        (&|it| fs::remove_dir_all(it.disk.root()).unwrap(), Code::Conflict),
    ];
    for (interfere, code) in &interfere {
        let fixture = Fixture::new(&[("a", "1"), ("b", "2"), ("gone", "3")]);
        let result = fixture.written_while(&change, &mut |file| {
            if file == "b" {
                assert_eq!(fixture.content("a"), "one", "the first is swapped already");
                interfere(&fixture);
            }
        });
        let error = result.unwrap_err();
        assert_eq!(error.code, *code, "{error}");
        if fixture.disk.root().exists() {
            assert!(error.detail.ends_with("nothing was changed"), "{}", error.detail);
            assert_eq!((fixture.content("a"), fixture.content("gone")), ("1".into(), "3".into()));
            assert!(!fixture.path("new").exists(), "made directories go again");
        }
    }
}

#[test]
fn taking_back_does_not_overwrite_what_came_after() {
    let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
    let error = fixture
        .written_while(&[("a", Some("1"), Some("one")), ("b", Some("2"), Some("two"))], &mut |file| {
            if file == "b" {
                fs::write(fixture.path("a"), "theirs").unwrap();
                fs::write(fixture.path("b"), "theirs").unwrap();
            }
        })
        .unwrap_err();
    assert!(error.detail.contains("`a` was written by someone else during this request"), "{}", error.detail);
    assert_eq!((fixture.content("a"), fixture.content("b")), ("theirs".into(), "theirs".into()));
}

#[test]
fn a_new_file_does_not_replace_one_that_came_first() {
    let fixture = Fixture::new(&[]);
    let error = fixture
        .written_while(&[("x/new", None, Some("mine"))], &mut |_| fs::write(fixture.path("x/new"), "theirs").unwrap())
        .unwrap_err();
    assert_eq!((error.code, fixture.content("x/new").as_str()), (Code::AlreadyExists, "theirs"));
}

#[test]
fn read_only_files_are_left_alone() {
    let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
    fs::set_permissions(fixture.path("b"), fs::Permissions::from_mode(0o444)).unwrap();
    for new in [Some("two"), None] {
        let error = fixture.written(&[("a", Some("1"), Some("one")), ("b", Some("2"), new)]).unwrap_err();
        assert_eq!((error.code, error.help.file.as_deref()), (Code::PermissionDenied, Some("b")));
    }
    assert_eq!((fixture.content("a"), fixture.content("b")), ("1".into(), "2".into()));
}

#[test]
fn all_or_nothing_where_a_target_is_a_directory() {
    let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
    let located = [fixture.disk.locate("a").unwrap(), fixture.disk.locate("b").unwrap()];
    fs::remove_file(fixture.path("b")).unwrap();
    fs::create_dir(fixture.path("b")).unwrap();
    let write = |located, old: &str| Write::new(located, Some(blake3::hash(old.as_bytes())), Some(b"x"));
    let error = fixture.disk.write("tag", &[write(&located[0], "1"), write(&located[1], "2")]).unwrap_err().error;
    assert_eq!(error.code, Code::InvalidRequest);
    assert_eq!(fixture.content("a"), "1");
    fixture.nothing_left();
}

/// Each step of a change fails once, with each error; then all from there on, as on a disk that has died.
#[test]
fn whatever_fails_nothing_is_torn_and_nothing_is_reported_wrongly() {
    let change = [
        ("a", Some("1"), Some("one")),
        ("gone", Some("3"), None),
        ("new/directory/c", None, Some("new")),
        ("b", Some("2"), Some("two")),
    ];
    let state = |fixture: &Fixture| {
        ["a", "gone", "new/directory/c", "b"].map(|name| fs::read_to_string(fixture.path(name)).ok())
    };
    let owned = |it: [Option<&str>; 4]| it.map(|it| it.map(str::to_owned));
    let before = owned([Some("1"), Some("3"), None, Some("2")]);
    let after = owned([Some("one"), None, Some("new"), Some("two")]);
    for errno in [Errno::IO, Errno::NOSPC, Errno::ACCESS] {
        let mut count = 0;
        for number in 1.. {
            for plan in [Plan::Only(number), Plan::From(number)] {
                let fixture = Fixture::new(&[("a", "1"), ("b", "2"), ("gone", "3")]);
                let (result, failed) = failing(plan, errno, || fixture.written_watched(&change, &mut |_, _| {}));
                let now = state(&fixture);
                let Err(Failure { error, remains }) = result else {
                    assert_eq!((now, failed), (after.clone(), 0), "applied, so all of it, without a failure");
                    continue;
                };
                count += 1;
                assert!(failed > 0, "{error}");
                assert_ne!(error.code, Code::HashMismatch, "{plan:?} {errno}: {error}");
                for (now, (before, after)) in now.iter().zip(before.iter().zip(&after)) {
                    assert!(now == before || now == after, "{plan:?} {errno}: {now:?}");
                }
                assert_eq!(remains, now != before, "{plan:?} {errno}: {error}");
                assert_eq!(error.detail.ends_with("; nothing was changed"), !remains, "{error}");
                if !remains {
                    fixture.nothing_left();
                    assert!(!fixture.path("new").exists(), "made directories go again");
                }
            }
            let applied = count < 2 * number;
            if applied {
                break;
            }
        }
        assert!(count >= 30, "{count} failures of {errno}");
    }
}

#[test]
fn what_is_written_to_the_old_file_while_it_is_replaced_is_not_lost() {
    use std::io::Write as _;
    for content in ["x", "longer"] {
        let fixture = Fixture::new(&[("a", "1"), ("b", "2")]);
        let mut theirs = fs::OpenOptions::new().write(true).open(fixture.path("b")).unwrap();
        let change = [("a", Some("1"), Some("one")), ("b", Some("2"), Some("two"))];
        let result = fixture.written_watched(&change, &mut |file, moment| {
            if (file, moment) == ("b", Moment::BeforeEnd) {
                theirs.write_all(content.as_bytes()).unwrap();
            }
        });
        let failure = result.unwrap_err();
        assert_eq!((failure.error.code, failure.remains), (Code::HashMismatch, false), "{}", failure.error);
        assert_eq!((fixture.content("a"), fixture.content("b")), ("1".to_owned(), content.to_owned()));
        fixture.nothing_left();
    }
}

#[test]
fn what_a_file_has_besides_its_content_stays() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let fixture = Fixture::new(&[("a", "1")]);
    fs::hard_link(fixture.path("a"), fixture.path("other")).unwrap();
    setxattr(fixture.path("a"), "user.note", b"mine", XattrFlags::empty()).unwrap();
    let notes = fixture.written_watched(&[("a", Some("1"), Some("2"))], &mut |_, _| {}).unwrap();
    assert!(matches!(notes.as_slice(), [(file, note)] if file == "a" && note.contains("2 names")), "{notes:?}");
    let mut value = [0; 16];
    let length = getxattr(fixture.path("a"), "user.note", &mut value).unwrap();
    assert_eq!(&value[..length], b"mine");
    assert!(fixture.written_watched(&[("a", Some("2"), Some("3"))], &mut |_, _| {}).unwrap().is_empty());
}

#[test]
fn a_file_that_goes_takes_the_directories_made_for_it_along() {
    let fixture = Fixture::new(&[("kept/a", "1")]);
    let located = fixture.disk.locate("kept/x/y/b").unwrap();
    assert_eq!(fixture.disk.look(&located), (None, 2));
    fixture.disk.write("tag", &[Write { mode: Some(0o755), ..Write::new(&located, None, Some(b"2")) }]).unwrap();
    assert_eq!(fixture.disk.look(&located), (Some(0o755), 0));
    let gone = Write { directories: 2, ..Write::new(&located, Some(blake3::hash(b"2")), None) };
    fixture.disk.write("tag", &[gone]).unwrap();
    assert!(fixture.path("kept/a").exists() && !fixture.path("kept/x").exists());
    for name in [".semdex-tag-1", ".semdex-tag-2", ".semdex-other-1"] {
        fs::write(fixture.path("kept").join(name), "").unwrap();
    }
    let located = fixture.disk.locate("kept/a").unwrap();
    assert_eq!(fixture.disk.sweep(&located, "tag"), 2);
    assert!(fixture.path("kept/.semdex-other-1").exists(), "another change's may be in use");
}
