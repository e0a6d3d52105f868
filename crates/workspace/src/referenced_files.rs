//! Referenced files: code references them as modules or includes them, but the directory walk passes over them, because
//! they are behind linked directories, in directories with a `CACHEDIR.TAG`, or in `node_modules`. They are part of the
//! code and are read where that is allowed. A file that may not be read is reported, and no answer that could depend on
//! it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

use crate::disk::{self, Disk};
use crate::external_inputs::ExternalRoots;
use crate::file_reader::FileReader;
use crate::overlays::Overlays;
use crate::watch::is_hidden_name;
use semdex_engine::files::Files;
use semdex_fs::FileStamp;
use semdex_model::{FileEdit, Missing, MissingCode};

/// At most this many files are read only because they are referenced.
const MOST_FILES: usize = 4096;
/// A file below more directories than this is not read.
const DEEPEST: usize = 64;

/// The referenced files of a workspace, and what the engines know of them.
#[derive(Default)]
pub(super) struct ReferenceTracker {
    /// Names that are referenced but not listed, each with the reason. `None` if they have to be found again.
    wanted: Option<BTreeMap<String, String>>,
    /// The files that are not read, as the engines were last given them.
    reported: Vec<Missing>,
    /// A file was read or forgotten since the engines were notified.
    has_news: bool,
    /// The files that a build begins with, as the engines report them.
    roots: BTreeSet<String>,
    /// The files that were checked, with the results.
    known: BTreeMap<String, CheckedName>,
}

/// Where the tracker looks files up.
pub(super) struct Sources<'w> {
    pub(super) files: &'w Files,
    pub(super) overlays: &'w Overlays,
    pub(super) disk: &'w Disk,
    pub(super) external_roots: &'w ExternalRoots,
    pub(super) max_file_bytes: u64,
}

struct CheckedName {
    stamp: FileStamp,
    found: Lookup,
}

enum Lookup {
    /// The file is among the texts, though the walk does not list it.
    Text,
    /// The file exists but is not read, for this reason.
    Refused(String),
    Absent,
}

impl ReferenceTracker {
    /// Whether a file is among the texts only because it is referenced.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.known.get(name).is_some_and(|it| matches!(it.found, Lookup::Text))
    }

    /// The files that are read only because they are referenced.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        self.known.iter().filter(|it| matches!(it.1.found, Lookup::Text)).map(|it| it.0)
    }

    /// The engines have to be notified, because one was started or links have changed.
    pub(super) fn note_news(&mut self) {
        self.has_news = true;
    }

    /// Whether the engines have to be notified. They count as notified from now on.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Notes the missing files that the engines are given. Returns whether they differ from those given before.
    pub(super) fn report(&mut self, missing: Vec<Missing>) -> bool {
        let is_other = self.reported != missing;
        self.reported = missing;
        is_other
    }

    /// The referenced files that exist and are not read.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let missing = |(name, known): (&String, &CheckedName)| match &known.found {
            Lookup::Refused(why) => Some(Missing::new(MissingCode::Unsupported, name.as_str(), why.as_str())),
            Lookup::Text | Lookup::Absent => None,
        };
        self.known.iter().filter_map(missing).collect()
    }

    /// Adds the files that a build begins with. Returns whether one of them is new and has no text.
    pub(super) fn add_roots(&mut self, roots: Vec<String>, files: &Files) -> bool {
        let is_new = |it: &String| files.get(it).is_none() && !self.roots.contains(it);
        if !roots.iter().any(is_new) {
            return false;
        }
        self.roots.extend(roots);
        self.wanted = None;
        true
    }

    /// Texts change: if they reference other files than before, the referenced files are found again.
    pub(super) fn note_edits(&mut self, edits: &[FileEdit], before: &Files, after: &Files) {
        let referenced = |files: &Files, name: &str| files.get(name).map(|it| it.referenced_files().to_vec());
        if edits.iter().any(|it| referenced(before, &it.file) != referenced(after, &it.file)) {
            self.wanted = None;
        }
    }

    /// Compares the referenced files with the disk. Returns the edits that bring the texts up to date.
    pub(super) fn update(&mut self, sources: &Sources<'_>) -> Vec<FileEdit> {
        let wanted = match self.wanted.take() {
            Some(wanted) => wanted,
            None => {
                self.has_news = true;
                self.find_wanted(sources.files)
            }
        };
        let gone: Vec<String> = self.known.keys().filter(|it| !wanted.contains_key(*it)).cloned().collect();
        let mut edits = Vec::new();
        for name in gone {
            // The file is no longer referenced, or the walk lists it now.
            if self.holds(&name) {
                let text = sources.read_listed(&name);
                edits.extend(edit_of(sources.files, &name, text));
            }
            self.known.remove(&name);
        }
        for (name, by) in &wanted {
            let stamp = FileStamp::at(&sources.disk.root().join(name));
            if self.known.get(name).is_some_and(|it| !it.stamp.may_differ(&stamp)) {
                continue;
            }
            let was_text = self.holds(name);
            let (found, text) = self.look_up(name, by, &stamp, sources);
            if was_text || text.is_some() {
                edits.extend(edit_of(sources.files, name, text));
            }
            self.has_news = true;
            self.known.insert(name.clone(), CheckedName { stamp, found });
        }
        self.wanted = Some(wanted);
        edits
    }

    fn find_wanted(&self, files: &Files) -> BTreeMap<String, String> {
        let is_listed = |it: &String| files.get(it).is_some() && !self.holds(it);
        let mut wanted = BTreeMap::new();
        for file in files.iter() {
            for named in file.referenced_files().iter().filter(|it| !it.candidates.iter().any(is_listed)) {
                let by = format!("`{}` names it", file.path);
                wanted.extend(named.candidates.iter().map(|it| (it.clone(), by.clone())));
            }
        }
        let roots = self.roots.iter().filter(|it| !is_listed(it));
        wanted.extend(roots.map(|it| (it.clone(), "the build begins with it".to_owned())));
        wanted
    }

    fn look_up(&self, name: &str, by: &str, stamp: &FileStamp, sources: &Sources<'_>) -> (Lookup, Option<Arc<str>>) {
        let refused = |why: &str| (Lookup::Refused(format!("`{name}` is not read, though {by}: {why}")), None);
        if stamp.is_refused() {
            return refused(
                "semdex may not enter its directory, so that it may exist: give the permission to its user",
            );
        }
        if stamp.changed().is_none() {
            return (Lookup::Absent, None);
        }
        let path = Path::new(name);
        if path.is_absolute() || path.components().any(|it| it == Component::ParentDir) {
            return refused("it lies outside of the workspace");
        }
        let real = sources.disk.locate(name).map(|it| it.rel).unwrap_or_default();
        let hidden = |path: &Path| path.components().any(|it| is_hidden_name(it.as_os_str()));
        if hidden(path) || hidden(Path::new(&real)) {
            return refused("it lies in a directory that is no part of the workspace");
        }
        if path.components().count() > DEEPEST {
            return refused("it lies behind too many directories, perhaps behind links in a circle");
        }
        if sources.overlays.contains_key(&real) {
            return (Lookup::Text, sources.files.get(&real).map(|it| it.text.clone()));
        }
        if self.texts().count() >= MOST_FILES {
            return refused("too many files are read only because they are named");
        }
        let most = usize::try_from(sources.max_file_bytes).unwrap_or(usize::MAX);
        match sources.disk.tree().read(path, most) {
            Ok(bytes) => match disk::text_of(&bytes) {
                Some(text) => (Lookup::Text, Some(Arc::from(text))),
                None => refused("it is not UTF-8, or holds NUL bytes: save it as UTF-8"),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Lookup::Absent, None),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => (Lookup::Absent, None),
            Err(error) => refused(&sources.why_unread(name, &error)),
        }
    }
}

impl Sources<'_> {
    /// The text of a file as the walk would list it. `None` where it has none or cannot be read.
    fn read_listed(&self, name: &str) -> Option<Arc<str>> {
        let mut reader = FileReader::new(self.disk, self.external_roots, self.max_file_bytes);
        reader.read(&self.disk.root().join(name)).unwrap_or_default()
    }

    fn why_unread(&self, name: &str, error: &std::io::Error) -> String {
        match self.disk.locate(name) {
            Err(refused) => refused.detail,
            Ok(_) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                "it is larger than files are read (`max_file_bytes`)".to_owned()
            }
            Ok(_) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                "semdex has no permission to read it: give the permission to its user".to_owned()
            }
            Ok(_) => error.to_string(),
        }
    }
}

/// Texts that reference a file by its path, each with that file.
pub(super) fn references_by_path(files: &Files) -> Vec<(String, String)> {
    let mut by_path = Vec::new();
    for file in files.iter() {
        let paths = file.referenced_files().iter().filter(|it| it.has_path).flat_map(|it| &it.candidates);
        let existing = paths.filter(|it| files.get(it).is_some());
        by_path.extend(existing.map(|it| (file.path.to_string(), it.clone())));
    }
    by_path
}

/// The edit that gives a file this text. `None` if the file has it already.
pub(super) fn edit_of(files: &Files, name: &str, text: Option<Arc<str>>) -> Option<FileEdit> {
    let old = files.get(name).map(|it| it.text.clone());
    (old != text).then(|| FileEdit { file: name.to_owned(), old, new: text })
}
