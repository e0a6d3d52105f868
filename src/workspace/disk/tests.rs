//! Names, links, modes and failures, on a real file system.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

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
        let fixture = Fixture { disk: Disk::new(&root).unwrap(), _guard: guard };
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
        let located = changes.iter().map(|(name, ..)| self.disk.locate(name)).collect::<Result<Vec<Located>>>()?;
        let writes: Vec<Write> = changes
            .iter()
            .zip(&located)
            .map(|((_, old, new), located)| Write {
                located,
                expected: old.map(|old| blake3::hash(old.as_bytes())),
                content: new.map(str::as_bytes),
            })
            .collect();
        let result = self.disk.write_watched(&writes, before_swap);
        self.nothing_left();
        result
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
    let write = Write { located: &located, expected: Some(blake3::hash(b"a")), content: Some(b"b") };
    fixture.disk.write(&[write]).unwrap_err();
    assert_eq!(fixture.content("src/a.rs"), "a");
}

#[test]
fn what_is_no_text_file_is_told() {
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
    assert!(error.detail.contains("`a` was written by someone else meanwhile"), "{}", error.detail);
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
    let write =
        |located, old: &str| Write { located, expected: Some(blake3::hash(old.as_bytes())), content: Some(b"x") };
    let error = fixture.disk.write(&[write(&located[0], "1"), write(&located[1], "2")]).unwrap_err();
    assert_eq!(error.code, Code::InvalidRequest);
    assert_eq!(fixture.content("a"), "1");
    fixture.nothing_left();
}
