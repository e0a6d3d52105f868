//! The disk: names confined to the workspace's root, and writes that leave a file wholly old or wholly new. The only
//! place that writes to a workspace.
//!
//! A file is replaced by renaming a temporary one over it, so it keeps its mode and owner but not its inode: a file
//! with several hard links is parted from its other names, as by any editor that writes this way. Several files are
//! changed one after the other, and put back if one fails; what a kill in between leaves is the journal's to repair.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::model::{Code, Error, Help, Result};

/// Larger files are not read.
pub const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;
/// The names of temporary files begin with this.
const TEMPORARY: &str = ".semdex-";

pub struct Disk {
    /// Canonical.
    root: PathBuf,
}

/// A file of the workspace that is there, or could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Relative to the root, with `/`; of the target, where a link led to it.
    pub rel: String,
    pub abs: PathBuf,
}

/// The new content of one file; `None` deletes it. `expected` is the content that it takes the place of; `None` says
/// that nothing may stand there.
pub struct Write<'a> {
    pub located: Located,
    pub expected: Option<blake3::Hash>,
    pub content: Option<&'a [u8]>,
}

/// The text of some bytes: valid UTF-8 without NUL.
pub fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

impl Disk {
    pub fn new(root: &Path) -> io::Result<Disk> {
        Ok(Disk { root: fs::canonicalize(root)? })
    }

    /// Where a name leads: never out of the root, never into `.git`, never to what is no file. It need not exist yet.
    pub fn locate(&self, name: &str) -> Result<Located> {
        let relative = lawful(name)?;
        let path = self.root.join(&relative);
        let resolved = self.resolve(name, &path)?;
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            let detail =
                format!("`{name}` is a link that leads out of the workspace: only files inside are read and written");
            return Err(Error::new(Code::OutsideWorkspace, detail));
        };
        let rel = inside.to_str().ok_or_else(|| {
            Error::new(Code::OutsideWorkspace, format!("`{name}` is a link to a file whose name is not UTF-8"))
        })?;
        refuse_private(name, inside)?;
        match fs::metadata(&resolved) {
            Ok(metadata) => check_kind(name, &metadata)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(told(name, &error)),
        }
        Ok(Located { rel: rel.to_owned(), abs: resolved })
    }

    /// The real path of what exists, with the rest of the name behind it.
    fn resolve(&self, name: &str, path: &Path) -> Result<PathBuf> {
        let mut rest = Vec::new();
        let mut existing = path;
        loop {
            match fs::canonicalize(existing) {
                Ok(mut real) => {
                    if !rest.is_empty() && !real.is_dir() {
                        let detail = format!("`{name}` cannot be: a file stands where it has a directory");
                        return Err(Error::new(Code::InvalidRequest, detail));
                    }
                    real.extend(rest.iter().rev());
                    return Ok(real);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    // A link to nothing leads somewhere all the same, and to where is not known to be inside.
                    if fs::symlink_metadata(existing).is_ok() {
                        let detail = format!("`{name}` is a link to nothing: remove it or make its target");
                        return Err(Error::new(Code::OutsideWorkspace, detail));
                    }
                    rest.extend(existing.file_name());
                    match existing.parent() {
                        Some(parent) if parent.starts_with(&self.root) => existing = parent,
                        _ => return Err(told(name, &error)),
                    }
                }
                Err(error) => return Err(told(name, &error)),
            }
        }
    }

    pub fn read(&self, located: &Located) -> Result<Vec<u8>> {
        let name = &located.rel;
        // A FIFO that has just taken the file's place must not hang us.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&located.abs);
        let file = opened.map_err(|error| told(name, &error))?;
        let metadata = file.metadata().map_err(|error| told(name, &error))?;
        check_kind(name, &metadata)?;
        if metadata.len() > MAX_FILE_BYTES {
            let detail = format!("`{name}` has {} bytes; files above {MAX_FILE_BYTES} are not read", metadata.len());
            return Err(Error::new(Code::TooLarge, detail));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| told(name, &error))?;
        Ok(bytes)
    }

    pub fn read_text(&self, located: &Located) -> Result<String> {
        let bytes = self.read(located)?;
        match text_of(&bytes) {
            Some(text) => Ok(text.to_owned()),
            None => {
                let detail = format!("`{}` is not text: it is not UTF-8, or has NUL bytes", located.rel);
                Err(Error::new(Code::NotText, detail))
            }
        }
    }

    /// Makes all these changes or none of them.
    pub fn write(&self, writes: &[Write<'_>]) -> Result<()> {
        let mut made_directories = Vec::new();
        let outcome = self.prepare(writes, &mut made_directories).and_then(|prepared| self.commit(prepared));
        if outcome.is_err() {
            // Only those that are still empty go.
            made_directories.iter().rev().for_each(|it| drop(fs::remove_dir(it)));
        }
        outcome
    }

    /// Writes all new contents beside their targets, so that what can fail has failed before anything is changed.
    fn prepare<'a>(&self, writes: &'a [Write<'a>], made: &mut Vec<PathBuf>) -> Result<Vec<Prepared<'a>>> {
        writes
            .iter()
            .map(|write| {
                let name = &write.located.rel;
                let old = self.current(write)?;
                let parent = write.located.abs.parent().unwrap_or(&self.root);
                let directory = fs::metadata(parent);
                if directory.is_err() {
                    make_directories(parent, made).map_err(|error| told(name, &error))?;
                }
                self.confine(name, parent)?;
                let Some(content) = write.content else { return Ok(Prepared { write, old, temporary: None }) };
                let temporary =
                    temporary(parent, content, old.as_ref().map(|it| &it.1)).map_err(|error| told(name, &error))?;
                Ok(Prepared { write, old, temporary: Some(temporary) })
            })
            .collect()
    }

    /// What stands there now, if it is what the change expects.
    fn current(&self, write: &Write<'_>) -> Result<Option<(Vec<u8>, Metadata)>> {
        let name = &write.located.rel;
        let metadata = match fs::symlink_metadata(&write.located.abs) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match write.expected {
                    None => Ok(None),
                    Some(_) => Err(mismatch(name, None)),
                };
            }
            Err(error) => return Err(told(name, &error)),
        };
        let bytes = self.read(&write.located)?;
        let actual = blake3::hash(&bytes);
        if write.expected != Some(actual) {
            return Err(mismatch(name, Some(actual)));
        }
        // As an editor would, even where this process could write all the same.
        if metadata.permissions().mode() & 0o200 == 0 {
            let detail = format!("`{name}` is read-only: make it writable first (`chmod u+w`)");
            return Err(Error::new(Code::PermissionDenied, detail));
        }
        Ok(Some((bytes, metadata)))
    }

    fn confine(&self, name: &str, parent: &Path) -> Result<()> {
        let real = fs::canonicalize(parent).map_err(|error| told(name, &error))?;
        if real.starts_with(&self.root) {
            return Ok(());
        }
        let detail = format!("`{name}` leads out of the workspace now: a directory on its way became a link");
        Err(Error::new(Code::OutsideWorkspace, detail))
    }

    fn commit(&self, prepared: Vec<Prepared<'_>>) -> Result<()> {
        let mut done: Vec<(&Write<'_>, Option<(Vec<u8>, Metadata)>)> = Vec::new();
        for Prepared { write, old, temporary } in prepared {
            // Whoever wrote meanwhile must not be overwritten: this is the last look before the rename.
            let step = self.current(write).and_then(|_| {
                let path = &write.located.abs;
                let replaced = match temporary {
                    Some(temporary) if write.expected.is_none() => {
                        temporary.persist_noclobber(path).map(drop).map_err(|error| error.error)
                    }
                    Some(temporary) => temporary.persist(path).map(drop).map_err(|error| error.error),
                    None => fs::remove_file(path),
                };
                replaced.map_err(|error| told(&write.located.rel, &error))
            });
            match step {
                Ok(()) => done.push((write, old)),
                Err(error) => return Err(put_back(&done, error)),
            }
        }
        for (write, _) in &done {
            if let Some(parent) = write.located.abs.parent() {
                // The rename is done; that it also survives a loss of power is asked for, and not known if this fails.
                if let Err(error) = File::open(parent).and_then(|it| it.sync_all()) {
                    tracing::warn!(%error, file = write.located.rel, "the directory could not be synced");
                }
            }
        }
        Ok(())
    }
}

/// A change that is ready to be made.
struct Prepared<'a> {
    write: &'a Write<'a>,
    old: Option<(Vec<u8>, Metadata)>,
    temporary: Option<NamedTempFile>,
}

fn temporary(parent: &Path, content: &[u8], old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mode = old.map_or(0o666, |it| it.permissions().mode() & 0o7777);
    let mut file =
        tempfile::Builder::new().prefix(TEMPORARY).permissions(fs::Permissions::from_mode(mode)).tempfile_in(parent)?;
    if let Some(old) = old {
        // The umask has had its say when the file was made; an old file's mode is kept as it is.
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
        let own = file.as_file().metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Only root may give a file away; for others it becomes theirs, as with any editor.
            let _ = std::os::unix::fs::fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
        }
    }
    file.write_all(content)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn make_directories(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|it| fs::symlink_metadata(it).is_err()).collect();
    for directory in missing.into_iter().rev() {
        match fs::create_dir(directory) {
            Ok(()) => made.push(directory.to_path_buf()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes back what was changed already, and says in what state that leaves the disk.
fn put_back(done: &[(&Write<'_>, Option<(Vec<u8>, Metadata)>)], mut error: Error) -> Error {
    let mut stuck = Vec::new();
    for (write, old) in done.iter().rev() {
        let path = &write.located.abs;
        let back = match old {
            Some((bytes, metadata)) => path.parent().map_or(Ok(()), |parent| {
                temporary(parent, bytes, Some(metadata))?.persist(path).map(drop).map_err(|error| error.error)
            }),
            None => fs::remove_file(path),
        };
        if let Err(failure) = back {
            stuck.push(format!("`{}` ({failure})", write.located.rel));
        }
    }
    if !stuck.is_empty() {
        error.detail =
            format!("{}; and these could not be put back and are changed: {}", error.detail, stuck.join(", "));
    } else if !done.is_empty() {
        error.detail = format!("{}; the other files were put back as they were", error.detail);
    }
    error
}

/// A name made of ordinary components.
fn lawful(name: &str) -> Result<PathBuf> {
    let outside = |why: &str| {
        let detail = format!("`{name}` {why}: name files relative to the workspace's root, with `/`");
        Err(Error::new(Code::OutsideWorkspace, detail))
    };
    if name.is_empty() || name.contains('\0') {
        return Err(Error::new(Code::InvalidRequest, "a file's name is empty or has a NUL character"));
    }
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return outside("has `..`"),
            Component::RootDir | Component::Prefix(_) => return outside("is absolute"),
        }
    }
    if path.as_os_str().is_empty() || name.ends_with('/') {
        return Err(Error::new(Code::InvalidRequest, format!("`{name}` is a directory: name a file")));
    }
    refuse_private(name, &path)?;
    Ok(path)
}

/// `.git` in any case, and semdex's own files, are no part of the workspace.
fn refuse_private(name: &str, path: &Path) -> Result<()> {
    for part in path.components().filter_map(|it| it.as_os_str().to_str()) {
        if part.eq_ignore_ascii_case(".git") || part.starts_with(TEMPORARY) {
            let detail = format!("`{name}` lies in `{part}`, which is not part of the workspace");
            return Err(Error::new(Code::OutsideWorkspace, detail));
        }
    }
    Ok(())
}

fn check_kind(name: &str, metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "a directory" } else { "a device, pipe or socket" };
    Err(Error::new(Code::InvalidRequest, format!("`{name}` is {kind}: name a file")))
}

fn mismatch(name: &str, actual: Option<blake3::Hash>) -> Error {
    let detail = match actual {
        Some(_) => format!("`{name}` was changed by somebody else meanwhile: read it again"),
        None => format!("`{name}` was removed by somebody else meanwhile"),
    };
    let help =
        Help { actual_hash: actual.map(|it| it.to_hex().to_string()), file: Some(name.to_owned()), ..Help::default() };
    Error::new(Code::Conflict, detail).with_help(help)
}

/// What the operating system says, in our codes.
fn told(name: &str, error: &io::Error) -> Error {
    if rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP) {
        return Error::new(Code::OutsideWorkspace, format!("`{name}` is a link that leads in circles"));
    }
    match error.kind() {
        ErrorKind::NotFound => Error::new(Code::UnknownFile, format!("there is no file `{name}` in the workspace")),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::new(Code::PermissionDenied, format!("`{name}` may not be read or written: {error}"))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::new(
            Code::DiskFull,
            format!("no room to write `{name}`: nothing was changed; free some and try again"),
        ),
        ErrorKind::AlreadyExists => {
            Error::new(Code::Conflict, format!("`{name}` was made by somebody else meanwhile: read it"))
        }
        ErrorKind::NotADirectory => {
            Error::new(Code::InvalidRequest, format!("`{name}` cannot be: a file stands where it has a directory"))
        }
        ErrorKind::InvalidFilename => {
            Error::new(Code::InvalidRequest, format!("`{name}` is too long for this file system"))
        }
        _ => {
            tracing::error!(%error, name, "the disk failed");
            Error::new(Code::Internal, format!("the disk failed on `{name}`; nothing was changed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
        disk: Disk,
    }

    fn fixture() -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("a/.github")).unwrap();
        fs::create_dir(root.join(".GIT")).unwrap();
        fs::write(root.join("a/f"), "old").unwrap();
        fs::write(root.join(".GIT/config"), "").unwrap();
        fs::write(directory.path().join("secret"), "").unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("a/f", root.join("in")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("..", root.join("up")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let disk = Disk::new(&root).unwrap();
        Fixture { directory, disk }
    }

    impl Fixture {
        fn locate(&self, name: &str) -> String {
            self.disk.locate(name).map_or_else(|error| error.code.name().to_owned(), |it| it.rel)
        }

        fn write(&self, name: &str, expected: Option<&str>, content: Option<&str>) -> Result<()> {
            self.disk.write(&[self.change(name, expected, content)?])
        }

        fn change<'a>(&self, name: &str, expected: Option<&str>, content: Option<&'a str>) -> Result<Write<'a>> {
            let expected = expected.map(|it| blake3::hash(it.as_bytes()));
            Ok(Write { located: self.disk.locate(name)?, expected, content: content.map(str::as_bytes) })
        }

        fn text(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.directory.path().join("root").join(name)).ok()
        }

        fn leftovers(&self) -> usize {
            let walk = ignore::WalkBuilder::new(self.directory.path()).standard_filters(false).build();
            walk.flatten().filter(|it| it.file_name().to_string_lossy().starts_with(TEMPORARY)).count()
        }
    }

    #[test]
    fn names_stay_inside() {
        let it = fixture();
        for (name, expected) in [
            ("a/f", "a/f"),
            ("./a//f", "a/f"),
            ("in", "a/f"),
            ("a/.github/x", "a/.github/x"),
            (".gitignore", ".gitignore"),
            ("new/deep/file", "new/deep/file"),
            ("a b/ü\\x", "a b/ü\\x"),
            ("", "invalid_request"),
            ("a", "invalid_request"),
            ("a/f/g", "invalid_request"),
            ("pipe", "invalid_request"),
            ("/etc/passwd", "outside_workspace"),
            ("../secret", "outside_workspace"),
            ("a/../../secret", "outside_workspace"),
            ("out", "outside_workspace"),
            ("up/secret", "outside_workspace"),
            ("dangling", "outside_workspace"),
            ("loop", "outside_workspace"),
            (".git/config", "outside_workspace"),
            (".GIT/config", "outside_workspace"),
            ("a/.Git/x", "outside_workspace"),
            ("a/.semdex-1", "outside_workspace"),
        ] {
            assert_eq!(it.locate(name), expected, "{name:?}");
        }
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let it = fixture();
        let path = it.directory.path().join("root/a/f");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        it.write("in", Some("old"), Some("new")).unwrap();
        assert_eq!(it.text("a/f").unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        assert_eq!(it.write("a/f", Some("old"), Some("x")).unwrap_err().code, Code::Conflict);
        assert_eq!(it.write("a/f", None, Some("x")).unwrap_err().code, Code::Conflict);
        assert_eq!(it.write("a/none", Some("old"), Some("x")).unwrap_err().code, Code::Conflict);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(it.write("a/f", Some("new"), Some("x")).unwrap_err().code, Code::PermissionDenied);
        assert_eq!(it.text("a/f").unwrap(), "new");
        it.write("new/deep/file", None, Some("1")).unwrap();
        assert_eq!(it.text("new/deep/file").unwrap(), "1");
        it.write("new/deep/file", Some("1"), None).unwrap();
        assert_eq!(it.text("new/deep/file"), None);
        assert_eq!(it.leftovers(), 0);
    }

    #[test]
    fn several_files_change_together_or_not_at_all() {
        let it = fixture();
        let writes = [
            it.change("a/f", Some("old"), Some("new")).unwrap(),
            it.change("made/g", None, Some("new")).unwrap(),
            it.change("h", None, Some("new")).unwrap(),
        ];
        // Somebody makes a directory where the last one should go.
        fs::create_dir(it.directory.path().join("root/h")).unwrap();
        assert!(it.disk.write(&writes).is_err());
        assert_eq!((it.text("a/f").as_deref(), it.text("made/g")), (Some("old"), None));
        assert!(!it.directory.path().join("root/made").exists());
        assert_eq!(it.leftovers(), 0);
        fs::remove_dir(it.directory.path().join("root/h")).unwrap();
        it.disk.write(&writes).unwrap();
        assert_eq!((it.text("a/f").as_deref(), it.text("h").as_deref()), (Some("new"), Some("new")));
    }

    #[test]
    fn what_is_no_text_is_told() {
        let it = fixture();
        let root = it.directory.path().join("root");
        for (name, bytes) in [("nul", &b"a\0b"[..]), ("latin", &b"\xe4"[..])] {
            fs::write(root.join(name), bytes).unwrap();
            assert_eq!(it.disk.read_text(&it.disk.locate(name).unwrap()).unwrap_err().code, Code::NotText);
        }
        let gone = it.disk.locate("gone").unwrap();
        assert_eq!(it.disk.read_text(&gone).unwrap_err().code, Code::UnknownFile);
        // A pipe that takes a file's place after it was located does not hang the reader.
        let located = it.disk.locate("latin").unwrap();
        fs::remove_file(root.join("latin")).unwrap();
        fs::rename(root.join("pipe"), root.join("latin")).unwrap();
        assert_eq!(it.disk.read(&located).unwrap_err().code, Code::InvalidRequest);
    }
}
