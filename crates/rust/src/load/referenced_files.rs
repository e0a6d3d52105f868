//! Referenced files of path dependencies outside the root: code names them and the watcher skips them, behind links, in
//! directories that are marked as caches, in `node_modules`. They are read, and checked before each answer, like the
//! referenced files of the workspace. Files that may not be read are reported.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ra_ap_paths::{AbsPathBuf, Utf8PathBuf};

use super::external_inputs::ExternalInputs;
use super::sources::LARGEST_SOURCE;
use crate::syntax::referenced_files::referenced_files;
use semdex_fs::{FileStamp, Tree, read_file};
use semdex_model::{Missing, MissingCode, ReferencedFile};

/// The most files that are read because they are named.
const MOST_FILES: usize = 4096;
/// The most directories above such a file.
const DEEPEST: usize = 64;

/// The files that code names and no directory listing has.
#[derive(Default)]
pub(crate) struct ReferencedFiles {
    pub sources: Vec<(AbsPathBuf, Vec<u8>)>,
    pub unread: Vec<Missing>,
}

/// Directories of path dependencies, and paths that are never read.
pub(crate) struct Packages<'a> {
    pub roots: &'a [PathBuf],
    pub forbidden: &'a Arc<[PathBuf]>,
}

enum Lookup {
    Text(Vec<u8>),
    Refused(&'static str),
    Unreadable(io::Error),
    Absent,
}

impl Packages<'_> {
    /// Whether a path is in one of them.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    /// Follows the names in these listed files, and in the files that they name.
    pub(crate) fn follow<'a>(
        &self,
        listed: impl Iterator<Item = &'a AbsPathBuf>,
        inputs: &mut ExternalInputs,
    ) -> ReferencedFiles {
        let mut named = ReferencedFiles::default();
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut pending: Vec<(PathBuf, Option<Vec<u8>>)> = listed
            .filter(|it| it.extension() == Some("rs"))
            .map(|it| PathBuf::from(it.clone()))
            .filter(|it| self.holds(it))
            .map(|it| (it, None))
            .collect();
        while let Some((path, text)) = pending.pop() {
            let text = text.or_else(|| read_file(&path, LARGEST_SOURCE).ok()).unwrap_or_default();
            let (Some(name), Ok(text)) = (path.to_str(), str::from_utf8(&text)) else { continue };
            for file in referenced_files(name, text).into_iter().filter(|it| !self.has_listed(it)) {
                for candidate in file.candidates.into_iter().map(PathBuf::from) {
                    if !candidate.is_absolute() || !seen.insert(candidate.clone()) {
                        continue;
                    }
                    inputs.add(candidate.clone());
                    let place = Utf8PathBuf::from_path_buf(candidate.clone()).ok();
                    let why = match (self.find(&candidate), place.and_then(|it| AbsPathBuf::try_from(it).ok())) {
                        (Lookup::Absent, _) | (_, None) => continue,
                        (Lookup::Text(_), _) if named.sources.len() >= MOST_FILES => {
                            "too many files are read only because they are named".to_owned()
                        }
                        (Lookup::Text(bytes), Some(place)) => {
                            named.sources.push((place, bytes.clone()));
                            pending.push((candidate, Some(bytes)));
                            continue;
                        }
                        (Lookup::Refused(why), _) => why.to_owned(),
                        (Lookup::Unreadable(error), _) => error.to_string(),
                    };
                    let candidate = candidate.display().to_string();
                    let detail = format!("`{candidate}` is not read although `{name}` names it: {why}");
                    named.unread.push(Missing::new(MissingCode::Unsupported, candidate, detail));
                }
            }
        }
        named
    }

    fn has_listed(&self, file: &ReferencedFile) -> bool {
        file.candidates.iter().map(Path::new).any(|it| it.extension().is_some_and(|it| it == "rs") && self.lists(it))
    }

    /// Whether the watcher lists this file, so that it is read and followed without being named.
    fn lists(&self, path: &Path) -> bool {
        let Some(below) = self.root_of(path).and_then(|root| path.strip_prefix(root).ok()) else { return false };
        let above = path.ancestors().skip(1).take(below.components().count().saturating_sub(1));
        let is_walked = |it: &Path| {
            let is_plain = it.symlink_metadata().is_ok_and(|it| it.is_dir());
            is_plain && !is_passed_over(it)
        };
        let is_link = path.symlink_metadata().map(|it| it.is_symlink());
        match is_link {
            Ok(true) => match path.canonicalize() {
                Ok(target) => target.is_file() && above.into_iter().all(is_walked) && self.lists(&target),
                Err(_) => false,
            },
            Ok(false) => path.is_file() && above.into_iter().all(is_walked),
            Err(_) => false,
        }
    }

    fn find(&self, path: &Path) -> Lookup {
        if FileStamp::at(path).changed().is_none() || path.is_dir() {
            return Lookup::Absent;
        }
        let Some(root) = self.root_of(path) else { return Lookup::Refused("it lies outside of its package") };
        let Ok(below) = path.strip_prefix(root) else { return Lookup::Absent };
        let real = path.canonicalize().unwrap_or_default();
        let is_hidden = |it: Component<'_>| is_hidden(it.as_os_str().as_encoded_bytes());
        if below.components().any(is_hidden) || real.components().any(is_hidden) {
            return Lookup::Refused("it is in a directory that does not belong to the package");
        }
        if below.components().count() > DEEPEST {
            return Lookup::Refused("it is below too many directories, perhaps because links form a circle");
        }
        match Tree::named(root.to_path_buf(), self.forbidden.clone()).read(below, LARGEST_SOURCE) {
            Ok(bytes) => Lookup::Text(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Lookup::Absent,
            Err(_) if !self.holds(&real) => Lookup::Refused("it lies outside of its package"),
            Err(error) => Lookup::Unreadable(error),
        }
    }

    /// The innermost root.
    fn root_of(&self, path: &Path) -> Option<&Path> {
        let around = self.roots.iter().filter(|it| path.starts_with(it));
        around.max_by_key(|it| it.as_os_str().len()).map(PathBuf::as_path)
    }
}

/// Whether the watcher skips directories like this (`workspace/watch/walk.rs`).
pub(crate) fn is_passed_over(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default();
    name == "node_modules"
        || is_hidden(name.as_encoded_bytes())
        || directory.join("CACHEDIR.TAG").symlink_metadata().is_ok()
        || semdex_fs::is_linked_worktree(directory)
}

fn is_hidden(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name.starts_with(b".semdex-")
}
