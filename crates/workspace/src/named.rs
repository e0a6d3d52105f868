//! Files that code names as its modules, or takes in, and that the walk passes over: behind linked directories, in
//! directories that are marked as caches, in `node_modules`. They belong to the code as all others do, and are read
//! where that is allowed. What may not be read is reported, and no answer that could depend on it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

use super::change::{Cause, with_edits};
use super::disk;
use super::watch::is_hidden_name;
use super::writer::Writer;
use semdex_engine::ReferencedFiles;
use semdex_engine::files::Files;
use semdex_fs::FileStamp;
use semdex_model::{FileEdit, Missing, MissingCode};

/// More files than this are not read because they are named.
const MOST_FILES: usize = 4096;
/// Or such as lie below more directories.
const DEEPEST: usize = 64;

#[derive(Default)]
pub(super) struct NamedFiles {
    /// What is named and not listed, with who names it; nothing where that is to be worked out anew.
    wanted: Option<BTreeMap<String, String>>,
    /// As the engines were given it last.
    unread: Vec<Missing>,
    /// Something was read, or forgotten, since the engines were notified.
    is_news: bool,
    /// The files that a build begins with, as the engines say.
    roots: BTreeSet<String>,
    /// What was looked at, with what it came to.
    known: BTreeMap<String, CheckedName>,
}

struct CheckedName {
    stamp: FileStamp,
    found: Lookup,
}

enum Lookup {
    /// It is among the texts, though the walk does not list it.
    Text,
    /// It is there, and this is why it is not read.
    Refused(String),
    Absent,
}

impl NamedFiles {
    /// Whether a file is among the texts only because it is named.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.known.get(name).is_some_and(|it| matches!(it.found, Lookup::Text))
    }

    /// The engines are to be notified anew: one of them knows nothing of all this yet, or links have changed.
    pub(super) fn note_news(&mut self) {
        self.is_news = true;
    }

    fn lacks(&self) -> Vec<Missing> {
        let lack = |(name, known): (&String, &CheckedName)| match &known.found {
            Lookup::Refused(why) => Some(Missing::new(MissingCode::Unsupported, name.as_str(), why.as_str())),
            Lookup::Text | Lookup::Absent => None,
        };
        self.known.iter().filter_map(lack).collect()
    }
}

impl Writer {
    /// Before an answer: brings the texts to what the files hold that are read only because they are named.
    pub(super) fn follow_named(&mut self) {
        loop {
            let edits = self.named_edits();
            if std::mem::take(&mut self.named.is_news) {
                let named = ReferencedFiles {
                    unread: self.named.lacks(),
                    by_path: self.by_path(),
                    compiled_elsewhere: self.real_names().into_values().collect(),
                    links: self.links.clone(),
                };
                for at in 0..self.slots.len() {
                    self.with_engine(at, |it| it.set_referenced_files(&named));
                }
                if self.named.unread != named.unread {
                    // No text has changed, and answers are complete no more, or again.
                    self.named.unread = named.unread;
                    self.note_change_outside();
                }
                self.publish();
            }
            if edits.is_empty() {
                return;
            }
            // What was read now may name more.
            self.named.is_news = true;
            self.apply(&edits, with_edits(&self.files, &edits), Cause::Outside);
        }
    }

    /// Before there are engines.
    pub(super) fn begin_named(&mut self) {
        loop {
            let edits = self.named_edits();
            if edits.is_empty() {
                return;
            }
            let after = with_edits(&self.files, &edits);
            self.note_names(&edits, &after);
            self.files = after;
        }
    }

    /// Reads the roots of what an engine builds, where they are no texts yet.
    pub(super) fn follow_roots(&mut self, at: usize) {
        let roots = self.with_engine(at, |it| it.roots()).unwrap_or_default();
        let lacks = |it: &String| self.files.get(it).is_none() && !self.named.roots.contains(it);
        if roots.iter().any(lacks) {
            self.named.roots.extend(roots);
            self.named.wanted = None;
            self.follow_named();
        }
    }

    fn named_edits(&mut self) -> Vec<FileEdit> {
        let wanted = match self.named.wanted.take() {
            Some(wanted) => wanted,
            None => {
                self.named.is_news = true;
                self.wanted()
            }
        };
        let gone: Vec<String> = self.named.known.keys().filter(|it| !wanted.contains_key(*it)).cloned().collect();
        let mut edits = Vec::new();
        for name in gone {
            // Nobody names it any more, or it is listed now.
            if self.named.holds(&name) {
                let text = self.read(&self.root.join(&name)).unwrap_or_default();
                edits.extend(self.edit_of(&name, text));
            }
            self.named.known.remove(&name);
        }
        for (name, by) in &wanted {
            let stamp = FileStamp::at(&self.root.join(name));
            if self.named.known.get(name).is_some_and(|it| !it.stamp.may_differ(&stamp)) {
                continue;
            }
            let was_text = self.named.holds(name);
            let (found, text) = self.find_named(name, by, &stamp);
            if was_text || text.is_some() {
                edits.extend(self.edit_of(name, text));
            }
            self.named.is_news = true;
            self.named.known.insert(name.clone(), CheckedName { stamp, found });
        }
        self.named.wanted = Some(wanted);
        edits
    }

    fn edit_of(&self, name: &str, text: Option<Arc<str>>) -> Option<FileEdit> {
        let old = self.files.get(name).map(|it| it.text.clone());
        (old != text).then(|| FileEdit { file: name.to_owned(), old, new: text })
    }

    /// What is named and not listed, with who names it.
    fn wanted(&self) -> BTreeMap<String, String> {
        let is_listed = |it: &String| self.files.get(it).is_some() && !self.named.holds(it);
        let mut wanted = BTreeMap::new();
        for file in self.files.iter() {
            for named in file.referenced_files().iter().filter(|it| !it.candidates.iter().any(is_listed)) {
                let by = format!("`{}` names it", file.path);
                wanted.extend(named.candidates.iter().map(|it| (it.clone(), by.clone())));
            }
        }
        let roots = self.named.roots.iter().filter(|it| !is_listed(it));
        wanted.extend(roots.map(|it| (it.clone(), "the build begins with it".to_owned())));
        wanted
    }

    /// Texts that name others by a path, with these.
    fn by_path(&self) -> Vec<(String, String)> {
        let mut by_path = Vec::new();
        for file in self.files.iter() {
            let paths = file.referenced_files().iter().filter(|it| it.has_path).flat_map(|it| &it.candidates);
            let there = paths.filter(|it| self.files.get(it).is_some());
            by_path.extend(there.map(|it| (file.path.to_string(), it.clone())));
        }
        by_path
    }

    /// Texts change: where other files are named, or listed, than before, the engines are notified anew which.
    pub(super) fn note_names(&mut self, edits: &[FileEdit], after: &Files) {
        let named = |files: &Files, name: &str| files.get(name).map(|it| it.referenced_files().to_vec());
        if edits.iter().any(|it| named(&self.files, &it.file) != named(after, &it.file)) {
            self.named.wanted = None;
        }
    }

    fn find_named(&self, name: &str, by: &str, stamp: &FileStamp) -> (Lookup, Option<Arc<str>>) {
        if stamp.changed().is_none() {
            return (Lookup::Absent, None);
        }
        let refused = |why: &str| (Lookup::Refused(format!("`{name}` is not read, though {by}: {why}")), None);
        let path = Path::new(name);
        if path.is_absolute() || path.components().any(|it| it == Component::ParentDir) {
            return refused("it lies outside of the workspace");
        }
        let real = self.disk.locate(name).map(|it| it.rel).unwrap_or_default();
        let hidden = |path: &Path| path.components().any(|it| is_hidden_name(it.as_os_str()));
        if hidden(path) || hidden(Path::new(&real)) {
            return refused("it lies in a directory that is no part of the workspace");
        }
        if path.components().count() > DEEPEST {
            return refused("it lies behind too many directories, perhaps behind links in a circle");
        }
        if self.overlays.contains_key(&real) {
            return (Lookup::Text, self.files.get(&real).map(|it| it.text.clone()));
        }
        let texts = self.named.known.values().filter(|it| matches!(it.found, Lookup::Text)).count();
        if texts >= MOST_FILES {
            return refused("too many files are read only because they are named");
        }
        let most = usize::try_from(self.settings.max_file_bytes).unwrap_or(usize::MAX);
        match self.disk.tree().read(path, most) {
            Ok(bytes) => match disk::text_of(&bytes) {
                Some(text) => (Lookup::Text, Some(Arc::from(text))),
                None => refused("it is not text"),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Lookup::Absent, None),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => (Lookup::Absent, None),
            Err(error) => refused(&self.why_unread(name, &error)),
        }
    }

    fn why_unread(&self, name: &str, error: &std::io::Error) -> String {
        match self.disk.locate(name) {
            Err(refused) => refused.detail,
            Ok(_) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                "it is larger than files are read (`max_file_bytes`)".to_owned()
            }
            Ok(_) => error.to_string(),
        }
    }

    /// These edits, and the same ones of all other names that their files have among the texts: by links, and by linked
    /// directories.
    pub(super) fn with_other_names(&self, edits: &[FileEdit]) -> Vec<FileEdit> {
        let mut all = edits.to_vec();
        for (name, real) in self.real_names() {
            if let Some(edit) = edits.iter().find(|it| it.file == real) {
                all.extend(self.edit_of(&name, edit.new.clone()));
            }
        }
        all
    }

    /// The texts that are other names of files, with the names that these have without links.
    fn real_names(&self) -> BTreeMap<String, String> {
        let links = self.watcher.iter().flat_map(|it| it.links()).map(|it| self.name_of(it));
        let named = self.named.known.iter().filter(|it| matches!(it.1.found, Lookup::Text)).map(|it| it.0.clone());
        let names = links.chain(named).filter(|it| self.files.get(it).is_some());
        let real = |name: String| Some((self.disk.locate(&name).ok()?.rel, name));
        names.filter_map(real).filter(|(real, name)| real != name).map(|(real, name)| (name, real)).collect()
    }
}
