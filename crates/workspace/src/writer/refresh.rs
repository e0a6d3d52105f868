//! How the writer learns what others changed on the disk: the barrier before each answer, and comparing the texts with
//! the disk. Links, referenced files and unindexed files follow from that.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Event, Writer};
use crate::change::{Cause, with_edits};
use crate::file_reader::FileReader;
use crate::referenced_files::{Sources, references_by_path};
use crate::unindexed_files::{NAMES_SCOPE, UnindexedSearch};
use crate::watch::{Seen, walk, walk_with_gaps};
use semdex_engine::ReferencedFiles;
use semdex_engine::files::Files;
use semdex_engine::links::Link;
use semdex_engine::unindexed::{UnindexedFile, UnindexedFiles, is_installed};
use semdex_fs::Tree;
use semdex_model::{Code, Error, FileEdit, LanguageId, Missing, MissingCode, Result};

/// At most this many files that have no text are listed in the status.
const MOST_UNREAD: usize = 20;
/// How often the disk is compared for one answer while directories are renamed.
const MOST_PASSES: usize = 8;

/// What came with the changes that were taken.
#[derive(Debug, Default)]
struct Taken {
    /// Directories came, went or were renamed, and perhaps again while they were read.
    has_moves: bool,
    /// There are other files than before.
    has_other_files: bool,
}

impl Taken {
    /// Whether the texts may be of several states of the disk. Torn texts stay so until nothing moves while they are
    /// compared: files of both names of a directory may be read as they are known.
    fn may_be_torn(&self, were_torn: bool) -> bool {
        self.has_moves && (self.has_other_files || were_torn)
    }
}

impl Writer {
    /// Reads files of one operation.
    pub(super) fn reader(&self) -> FileReader<'_> {
        FileReader::new(&self.disk, &self.external_roots, self.settings.values().max_file_bytes)
    }

    /// Begins to watch, and returns all files. Without a watcher every answer compares all files with the disk.
    pub(super) fn watch(&mut self) -> std::io::Result<Vec<PathBuf>> {
        self.disk_changes.stop_watching();
        self.engines.forget_watches();
        let inbox = self.inbox.clone();
        let wake = move || drop(inbox.try_send(Event::Wake));
        let cookies = self.config.state_dir.join("cookies");
        let external = self.external_roots.iter().map(|it| self.disk.external_tree(it));
        let trees: Vec<Tree> = std::iter::once(self.disk.tree().clone()).chain(external).collect();
        match self.disk_changes.watch(&trees, &cookies, wake) {
            Ok(found) => {
                self.report_watching();
                Ok(found)
            }
            Err(error) => {
                tracing::error!(%error, "the workspace cannot be watched: every answer compares it with the disk");
                let (found, gaps) = walk_with_gaps(self.disk.tree())?;
                self.disk_changes.note_gaps(gaps);
                Ok(found)
            }
        }
    }

    /// The status reports why every request compares all files, where that is so.
    pub(super) fn report_watching(&mut self) {
        let missing = self.disk_changes.obstacle().map(|lack| {
            let detail = format!("{lack}; so every request compares the whole workspace with the disk");
            Missing::new(MissingCode::TooMany, "watcher", detail)
        });
        self.missing.replace("watcher", missing);
    }

    /// Reads these files, before there are engines.
    pub(super) fn read_all(&mut self, found: Vec<PathBuf>) {
        let mut files = Files::new(self.engines.registry().languages().clone());
        let mut found: BTreeSet<PathBuf> = found.into_iter().collect();
        if self.update_names(&mut found, false).is_err() {
            self.disk_changes.compare_all();
        }
        let mut unread = Vec::new();
        let mut reader = self.reader();
        for path in &found {
            match reader.read(path) {
                Ok(Some(text)) => drop(files.insert(Arc::new(files.file(&self.disk.name_of(path), text)))),
                Ok(None) => {}
                Err(_) => unread.push(path.clone()),
            }
        }
        self.disk_changes.retry(unread);
        self.files = Arc::new(files);
        if let Some(unindexed) = self.unindexed_after(&self.files, &found, true) {
            self.files = Arc::new(Files::clone(&self.files).with_unindexed_files(unindexed));
        }
    }

    /// The barrier: the texts have everything that anyone finished on the disk before this call.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        self.end_overlays();
        self.follow_settings();
        let mut was_torn = std::mem::replace(&mut self.is_torn, true);
        for _ in 0..MOST_PASSES {
            let seen = self.disk_changes.barrier();
            was_torn = self.take(seen)?.may_be_torn(was_torn);
            if !was_torn {
                break;
            }
        }
        self.is_torn = was_torn;
        self.follow_unread_directories();
        self.update_links();
        self.update_referenced_files();
        self.check_environment();
        Ok(())
    }

    /// Takes the changes that the watcher has reported, before anybody asks.
    pub(super) fn take_reported(&mut self) {
        let Some(seen) = self.disk_changes.drain() else { return };
        match self.take(seen) {
            Ok(taken) => self.is_torn |= taken.may_be_torn(self.is_torn),
            Err(error) => tracing::error!(%error, "the next request tries again"),
        }
    }

    fn take(&mut self, seen: Seen) -> Result<Taken> {
        self.disk_changes.clear_report();
        let (edits, checked, is_all) = match seen {
            Seen::Paths(mut paths) if !self.disk_changes.compares_all() => {
                if !paths.is_empty() {
                    self.links.mark_stale();
                }
                paths.append(&mut self.disk_changes.take_unread());
                let sources = self.external_roots.split(&mut paths);
                if let Err(error) = self.compare_external_sources(sources.clone(), false) {
                    self.disk_changes.retry(paths);
                    return Err(error);
                }
                self.check_touched(&sources);
                let modules = self.split_external_modules(&mut paths, false);
                self.compare_external_modules(modules);
                self.check_touched(&paths);
                if let Err(error) = self.follow_names(&mut paths, false) {
                    self.disk_changes.retry(paths);
                    return Err(error);
                }
                if paths.is_empty() {
                    return Ok(Taken::default());
                }
                match self.compare(&paths) {
                    Ok(edits) => (edits, paths, false),
                    Err(error) => {
                        self.disk_changes.retry(paths);
                        return Err(error);
                    }
                }
            }
            _ => {
                self.disk_changes.compare_all();
                self.links.mark_stale();
                let (edits, listed) = self.compare_all()?;
                self.disk_changes.note_all_compared();
                (edits, listed, true)
            }
        };
        self.take_edits(&edits, &checked, is_all);
        let has_other_files = edits.iter().any(|it| it.old.is_none() || it.new.is_none());
        let moved = self.disk_changes.take_moved();
        Ok(Taken { has_moves: if is_all { has_other_files } else { moved }, has_other_files })
    }

    /// Brings these edits into the texts, and finds which of the checked files have no text.
    fn take_edits(&mut self, edits: &[FileEdit], checked: &BTreeSet<PathBuf>, is_all: bool) {
        let after = if edits.is_empty() { self.files.clone() } else { with_edits(&self.files, edits) };
        let unindexed = self.unindexed_after(&after, checked, is_all);
        let is_news = unindexed.is_some();
        let after = match unindexed {
            Some(now) => Arc::new(Files::clone(&after).with_unindexed_files(now)),
            None => after,
        };
        if !edits.is_empty() {
            self.apply(edits, after, Cause::Outside);
        } else if is_news {
            // No text has changed, but answers are no longer complete, or complete again.
            self.files = after;
            self.note_external_change();
            self.publish();
        }
    }

    /// Compares the files at these paths. A path that is not a file means everything known below it.
    fn compare(&self, paths: &BTreeSet<PathBuf>) -> Result<Vec<FileEdit>> {
        let mut edits = Vec::new();
        let mut seen = BTreeSet::new();
        let mut reader = self.reader();
        for path in paths {
            let text = reader.read(path)?;
            let name = self.disk.name_of(path);
            self.add_difference(name.clone(), text, &mut seen, &mut edits);
            // The path may have been a directory, or be one that was moved here.
            let below: Vec<String> = self.files.below(&name).map(|it| it.path.to_string()).collect();
            for name in below {
                let text = reader.read(&self.disk.root().join(&name))?;
                self.add_difference(name, text, &mut seen, &mut edits);
            }
        }
        Ok(edits)
    }

    /// Compares all files. Returns the edits and the files that exist.
    fn compare_all(&mut self) -> Result<(Vec<FileEdit>, BTreeSet<PathBuf>)> {
        self.reporter.count_rescan();
        let listed = match self.disk_changes.rescan() {
            Some(listed) => listed,
            None => self.walk_all(),
        };
        self.report_watching();
        let listed = listed.map_err(|error| {
            tracing::error!(%error, "the workspace could not be read again");
            Error::new(
                Code::NotReady,
                "the workspace's files cannot be read at the moment, so no answer could be true: ask again",
            )
        })?;
        let mut listed: BTreeSet<PathBuf> = listed.into_iter().collect();
        let sources = self.external_roots.split(&mut listed);
        self.compare_external_sources(sources, true)?;
        let modules = self.split_external_modules(&mut listed, true);
        self.compare_external_modules(modules);
        self.follow_names(&mut listed, true)?;
        let mut edits = Vec::new();
        let mut seen = BTreeSet::new();
        let mut reader = self.reader();
        for path in &listed {
            if let Some(text) = reader.read(path)? {
                self.add_difference(self.disk.name_of(path), Some(text), &mut seen, &mut edits);
            }
        }
        let gone: Vec<String> =
            self.files.iter().filter(|it| !seen.contains(&*it.path)).map(|it| it.path.to_string()).collect();
        for name in gone {
            self.add_difference(name, None, &mut seen, &mut edits);
        }
        Ok((edits, listed))
    }

    /// All files of the workspace and of external sources, where nothing can be watched.
    fn walk_all(&mut self) -> std::io::Result<Vec<PathBuf>> {
        let (mut files, gaps) = walk_with_gaps(self.disk.tree())?;
        self.disk_changes.note_gaps(gaps);
        for root in self.external_roots.iter() {
            files.extend(walk(&self.disk.external_tree(root))?);
        }
        Ok(files)
    }

    fn add_difference(
        &self,
        name: String,
        text: Option<Arc<str>>,
        seen: &mut BTreeSet<String>,
        edits: &mut Vec<FileEdit>,
    ) {
        // An overlay hides the disk's content. Files that are read only because they are referenced are compared apart.
        let is_referenced = text.is_none() && self.referenced.holds(&name);
        if is_referenced || !seen.insert(name.clone()) || self.overlays.contains_key(&name) {
            return;
        }
        let old = self.files.get(&name).map(|it| it.text.clone());
        if old != text {
            edits.push(FileEdit { file: name, old, new: text });
        }
    }

    /// Takes files whose names are not UTF-8 out of these paths. Returns whether there are other ones than before.
    fn update_names(&mut self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Result<bool> {
        let Some(now) = self.non_utf8_names.after(paths, is_all, self.disk.root(), &mut self.reader())? else {
            return Ok(false);
        };
        self.non_utf8_names = now;
        let missing = self.missing_names(None);
        self.missing.replace(NAMES_SCOPE, missing);
        Ok(true)
    }

    /// The same, and a revision of its own if there are other files: answers are no longer complete, or complete again.
    fn follow_names(&mut self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        if self.update_names(paths, is_all)? {
            self.note_external_change();
            self.publish();
        }
        Ok(())
    }

    /// Finds the directories that are not read. Returns whether there are other ones than before.
    pub(super) fn update_unread_directories(&mut self) -> bool {
        let languages = self.engines.registry().languages();
        self.unread_directories.update(self.disk_changes.gaps(), &self.disk, &self.files, languages)
    }

    /// The same, and a revision of its own if there are other ones: answers are no longer complete, or complete again.
    fn follow_unread_directories(&mut self) {
        if self.update_unread_directories() {
            self.note_external_change();
            self.publish();
        }
    }

    /// What the status reports of files and directories that are not read.
    pub(super) fn unread(&self) -> Vec<Missing> {
        let mut missing = self.unread_directories.missing(None);
        let all = self.files.unindexed_without_overlay().filter(|it| !is_installed(&it.path));
        missing.extend(all.take(MOST_UNREAD).map(|it| it.missing_from_all()));
        missing
    }

    /// What answers about a language miss because of what was not read.
    pub(super) fn unread_of(&self, language: Option<LanguageId>) -> Vec<Missing> {
        let mut missing = self.unread_directories.missing(language);
        missing.extend(self.unread_manifests(language).take(MOST_UNREAD).map(|it| it.missing_from_all()));
        if self.is_torn {
            let detail = "directories were renamed again and again while they were read: ask again when it is quieter";
            missing.push(Missing::new(MissingCode::Changed, "disk", detail));
        }
        missing
    }

    /// The manifests of a language without a text; of all languages without one.
    fn unread_manifests(&self, language: Option<LanguageId>) -> impl Iterator<Item = &Arc<UnindexedFile>> {
        let is_manifest = move |path: &str| {
            let mut kinds = self.engines.registry().kinds().iter();
            kinds.any(|it| language.is_none_or(|language| it.languages().contains(&language)) && it.is_manifest(path))
        };
        self.files.unindexed_without_overlay().filter(move |it| !is_installed(&it.path) && is_manifest(&it.path))
    }

    /// What answers about a language miss for files whose names are not UTF-8; about all languages without one.
    pub(super) fn missing_names(&self, language: Option<LanguageId>) -> Option<Missing> {
        self.non_utf8_names.missing(language, self.engines.registry().languages(), self.disk.root())
    }

    /// The unindexed files once the texts are `after`; `None` if they are as before.
    fn unindexed_after(&self, after: &Files, paths: &BTreeSet<PathBuf>, is_all: bool) -> Option<Arc<UnindexedFiles>> {
        let search = UnindexedSearch {
            before: &self.files,
            overlays: &self.overlays,
            registry: self.engines.registry(),
            disk: &self.disk,
            links: self.disk_changes.links().map(Path::to_path_buf).collect(),
            reader: self.reader(),
        };
        search.run(after, paths, is_all)
    }

    /// Before an answer, if anything has changed: a revision of its own if there are other links than before. No text
    /// has changed, but answers are no longer complete, or complete again.
    fn update_links(&mut self) {
        if !self.links.take_stale() {
            return;
        }
        let links = self.find_links();
        if links != self.links.all() {
            self.links.set(links);
            self.referenced.note_news();
            self.note_external_change();
            self.publish();
        }
    }

    /// The links that lead to code of any language.
    pub(super) fn find_links(&self) -> Vec<Link> {
        self.links.find(&self.disk, self.disk_changes.links(), &self.files, &self.engines.languages())
    }

    /// Before an answer: brings the texts of referenced files up to date.
    pub(super) fn update_referenced_files(&mut self) {
        loop {
            let edits = self.referenced_edits();
            self.notify_of_referenced_files();
            if edits.is_empty() {
                return;
            }
            // The texts that were read may reference more files.
            self.referenced.note_news();
            self.apply(&edits, with_edits(&self.files, &edits), Cause::Outside);
        }
    }

    /// Gives the engines the referenced files and the links, if there are other ones or an engine was started.
    pub(super) fn notify_of_referenced_files(&mut self) {
        if !self.referenced.take_news() {
            return;
        }
        let referenced = ReferencedFiles {
            unread: self.referenced.missing(),
            by_path: references_by_path(&self.files),
            compiled_elsewhere: self.real_names().into_values().collect(),
            links: self.links.all().to_vec(),
        };
        for at in 0..self.engines.len() {
            self.with_engine(at, |it| it.set_referenced_files(&referenced));
        }
        if self.referenced.report(referenced.unread) {
            // No text has changed, but answers are no longer complete, or complete again.
            self.note_external_change();
        }
        self.publish();
    }

    /// Reads the referenced files, before there are engines.
    pub(super) fn read_referenced_files(&mut self) {
        loop {
            let edits = self.referenced_edits();
            if edits.is_empty() {
                return;
            }
            let after = with_edits(&self.files, &edits);
            self.referenced.note_edits(&edits, &self.files, &after);
            self.files = after;
        }
    }

    /// Reads the files that an engine's build begins with, if they have no text yet.
    pub(super) fn read_build_roots(&mut self, at: usize) {
        let roots = self.with_engine(at, |it| it.roots()).unwrap_or_default();
        if self.referenced.add_roots(roots, &self.files) {
            self.update_referenced_files();
        }
    }

    fn referenced_edits(&mut self) -> Vec<FileEdit> {
        let sources = Sources {
            files: &self.files,
            overlays: &self.overlays,
            disk: &self.disk,
            external_roots: &self.external_roots,
            max_file_bytes: self.settings.values().max_file_bytes,
        };
        self.referenced.update(&sources)
    }

    /// Shows the text that the disk has of a file, or that it has none.
    pub(super) fn read_or_retry(&mut self, path: &Path) -> Option<Arc<str>> {
        let read = self.reader().read(path);
        read.unwrap_or_else(|_| {
            // A file that cannot be read now is compared again before the next answer.
            self.disk_changes.retry([path.to_path_buf()]);
            None
        })
    }
}
