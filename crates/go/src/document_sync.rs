//! The state of the workspace that gopls has been sent, and the changes that it has yet to be sent.
//!
//! gopls watches nothing: it reads a file from disk and keeps it until it is notified of a change. So every change that
//! the writer reports is recorded here and sent before the next request, in one batch with it. A bounded set of files
//! is held open, because gopls answers quickly only for the packages of open files. gopls is sent the content of these
//! files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use gen_lsp_types::{
    DidChangeTextDocumentNotification, DidChangeTextDocumentParams, DidChangeWatchedFilesNotification,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersNotification, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentNotification, DidCloseTextDocumentParams, DidOpenTextDocumentNotification,
    DidOpenTextDocumentParams, FileChangeType, FileEvent, LanguageKind, TextDocumentContentChangeWholeDocument,
    TextDocumentIdentifier, TextDocumentItem, VersionedTextDocumentIdentifier, WorkspaceFolder,
    WorkspaceFoldersChangeEvent,
};

use super::language::is_left_out;
use super::lsp_conversion::Root;
use super::modules::base_name;
use semdex_engine::files::Files;
use semdex_engine::{FileChange, FileChangeKind};
use semdex_lsp_client::Message;

/// The maximum number of open files. Each one costs the memory of its type-checked package.
const OPEN_FILES: usize = 32;
/// The maximum number of modules that gopls loads at the start. It loads further modules when one of their files is
/// opened.
const MAX_FOLDERS: usize = 32;

pub(crate) struct DocumentSync {
    root: Root,
    files: Arc<Files>,
    generation: u64,
    open: BTreeMap<String, Document>,
    /// The texts of a dry run, which take precedence over the files.
    overlay: BTreeMap<String, Arc<str>>,
    /// Changes on disk since the last notification of gopls.
    changed: BTreeMap<String, FileChangeKind>,
    folders: BTreeSet<String>,
    /// A manifest has changed. After a failed load of a module, gopls notices late that it could load it now, and until
    /// then answers as if the files were in no module. If it is given its folders again, it loads before it answers.
    reload: bool,
    /// The number of such reloads.
    reloads: u64,
    /// Go files that are new, or in another package, since gopls loaded. gopls loads a new package only at a request
    /// for one of its files, and until then omits it from every other answer.
    fresh: BTreeSet<String>,
    /// Files that gopls did not know even after that. They are not tried again before a file is created or deleted.
    unresolvable: HashSet<String>,
    /// The content for which gopls loaded everything again because it did not know a file.
    retried_at: Option<u64>,
    /// File metadata: gopls relies on it to detect whether a file has changed.
    stamps: HashMap<String, Stamp>,
    version: i32,
    clock: u64,
    /// Files or packages were created or deleted, and gopls has computed no references since.
    restructured: bool,
}

struct Document {
    /// The text that gopls has; `None` after a restart.
    sent: Option<Arc<str>>,
    used: u64,
    /// gopls would not notice the change on disk (see `stamps`), so it is sent the content.
    pinned: bool,
}

type Stamp = (u64, i64, i64);

impl DocumentSync {
    pub(crate) fn new(root: Root, files: Arc<Files>) -> DocumentSync {
        let overlaid = files.iter().filter(|it| it.overlay && matters(&it.path)).map(|it| it.path.to_string());
        let overlaid: Vec<String> = overlaid.collect();
        let mut documents = DocumentSync {
            root,
            files,
            generation: 0,
            open: BTreeMap::new(),
            overlay: BTreeMap::new(),
            changed: BTreeMap::new(),
            folders: BTreeSet::new(),
            reload: false,
            reloads: 0,
            fresh: BTreeSet::new(),
            unresolvable: HashSet::new(),
            retried_at: None,
            stamps: HashMap::new(),
            version: 0,
            clock: 0,
            restructured: false,
        };
        overlaid.iter().for_each(|file| documents.pin(file));
        documents
    }

    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether the workspace has any Go files.
    pub(crate) fn has_go(&self) -> bool {
        self.files.iter().any(|file| matters(&file.path))
    }

    /// Whether the Go files among these are the current ones.
    pub(crate) fn is_current(&self, files: &Arc<Files>) -> bool {
        are_same(&self.files, files)
    }

    /// The writer's report of one applied change.
    pub(crate) fn feed(&mut self, files: Arc<Files>, changes: &[FileChange]) {
        let before = std::mem::replace(&mut self.files, files);
        let mut touched = false;
        for change in changes.iter().filter(|change| matters(&change.path)) {
            touched = true;
            self.reload |= is_manifest(&change.path);
            if self.reload || change.kind != FileChangeKind::Changed {
                self.unresolvable.clear();
            }
            let header = |files: &Files| files.get(&change.path).map(|it| header(&it.text).to_owned());
            match header(&self.files) {
                None => self.fresh.remove(&change.path),
                after if after != header(&before) => self.fresh.insert(change.path.clone()),
                _ => false,
            };
            self.restructured |=
                self.reload || change.kind != FileChangeKind::Changed || header(&self.files) != header(&before);
            self.note_stamp(change);
            self.changed
                .entry(change.path.clone())
                .and_modify(|kind| *kind = kind.then(change.kind))
                .or_insert(change.kind);
        }
        if touched {
            self.generation += 1;
        }
    }

    /// A change of files outside the workspace that its build reads, of non-Go files that the build reads, or of the
    /// build's configuration.
    pub(crate) fn feed_outside(&mut self, changes: &[FileChange]) {
        // gopls rereads by itself only the files that it watches.
        self.reload |= changes.iter().any(|it| is_manifest(&it.path) || !matters(&it.path));
        self.restructured = true;
        self.unresolvable.clear();
        for change in changes {
            let known = self.changed.entry(change.path.clone());
            known.and_modify(|kind| *kind = kind.then(change.kind)).or_insert(change.kind);
        }
        self.generation += 1;
    }

    /// gopls considers a file with the same inode and modification time unchanged. A tool that restores the time after
    /// writing in place would deceive it, so such a file is held open until its time changes.
    fn note_stamp(&mut self, change: &FileChange) {
        if self.files.get(&change.path).is_some_and(|it| it.overlay) {
            self.stamps.remove(&change.path);
            self.pin(&change.path);
            return;
        }
        let stamp = stamp(&self.root, &change.path);
        let before = match stamp {
            Some(stamp) => self.stamps.insert(change.path.clone(), stamp),
            None => self.stamps.remove(&change.path),
        };
        let unseen = stamp.is_some() && stamp == before;
        if unseen {
            self.pin(&change.path);
        } else if let Some(document) = self.open.get_mut(&change.path) {
            document.pinned = false;
        }
    }

    /// Holds a file open, because its content on disk is not what gopls has to see.
    fn pin(&mut self, file: &str) {
        let document = self.open.entry(file.to_owned());
        document.or_insert(Document { sent: None, used: self.clock, pinned: true }).pinned = true;
    }

    /// Records the files' metadata at the start.
    pub(crate) fn note_stamps(&mut self, stamps: HashMap<String, Stamp>) {
        for (file, stamp) in stamps {
            self.stamps.entry(file).or_insert(stamp);
        }
    }

    /// A new gopls reads everything from disk and has no open file.
    pub(crate) fn restarted(&mut self) -> Vec<WorkspaceFolder> {
        self.changed.clear();
        self.fresh.clear();
        self.open.values_mut().for_each(|document| document.sent = None);
        self.reload = false;
        self.reloads += 1;
        self.folders = folders(&self.files);
        self.folders.iter().map(|folder| self.folder(folder)).collect()
    }

    /// New files that need a request of their own before any other request.
    pub(crate) fn fresh(&self) -> Vec<String> {
        self.fresh.iter().cloned().collect()
    }

    /// These files were requested, in this generation.
    pub(crate) fn settled(&mut self, files: &[String], generation: u64) {
        if generation == self.generation {
            files.iter().for_each(|file| {
                self.fresh.remove(file);
            });
        }
    }

    /// Makes gopls load everything again before the next request.
    pub(crate) fn request_reload(&mut self) {
        self.reload = true;
    }

    /// gopls processes created and deleted files at the next request; until then no other source may answer in its
    /// place.
    pub(crate) fn is_restructured(&self) -> bool {
        self.restructured
    }

    /// gopls has computed references in this generation.
    pub(crate) fn was_asked(&mut self, generation: u64) {
        self.restructured &= generation != self.generation;
    }

    pub(crate) fn reloads(&self) -> u64 {
        self.reloads
    }

    /// Whether to retry a file that gopls did not know, although it should. gopls is retried after a full reload, once
    /// for this content, unless one has happened since the request (when the count was `reloads`).
    pub(crate) fn retries(&mut self, file: &str, reloads: u64) -> bool {
        let has_reloaded = self.reloads != reloads;
        let is_first = self.retried_at != Some(self.generation);
        let hope = (has_reloaded || is_first) && self.unresolvable.insert(file.to_owned());
        if hope && !has_reloaded {
            self.reload = true;
            self.retried_at = Some(self.generation);
        }
        hope
    }

    /// Applies texts that are not on disk, until [`DocumentSync::take_back`].
    pub(crate) fn overlay(&mut self, texts: impl IntoIterator<Item = (String, Arc<str>)>) {
        self.overlay = texts.into_iter().collect();
        self.reload |= self.overlay.keys().any(|file| is_manifest(file));
    }

    /// Ends a dry run: reverts what gopls was sent for it, before the next request or notification.
    pub(crate) fn take_back(&mut self) {
        for file in std::mem::take(&mut self.overlay).into_keys() {
            self.reload |= is_manifest(&file);
            if self.files.get(&file).is_none() {
                // gopls reads the disk again, where the file does not exist.
                self.changed.insert(file, FileChangeKind::Deleted);
            }
        }
    }

    fn text(&self, file: &str) -> Option<Arc<str>> {
        self.overlay.get(file).or_else(|| self.files.get(file).map(|file| &file.text)).cloned()
    }

    /// All notifications that gopls needs before a request about `wanted`. Opens these files.
    pub(crate) fn preamble(&mut self, wanted: &[&str]) -> Vec<Message> {
        let mut messages = Vec::new();
        self.clock += 1;
        self.close(|documents, file, _| documents.text(file).is_none(), &mut messages);
        self.push_changes(&mut messages);
        let dry: Vec<String> = self.overlay.keys().cloned().collect();
        for file in wanted.iter().copied().chain(dry.iter().map(String::as_str)) {
            if self.text(file).is_some() {
                let document = self.open.entry(file.to_owned());
                document.or_insert(Document { sent: None, used: 0, pinned: false }).used = self.clock;
            }
        }
        self.push_texts(&mut messages);
        self.push_folders(&mut messages);
        let excess = self.open.len().saturating_sub(OPEN_FILES.max(wanted.len()));
        if excess > 0 {
            let mut ages: Vec<u64> = self.open.values().filter(|it| !it.pinned).map(|it| it.used).collect();
            ages.sort_unstable();
            let oldest = ages.get(excess - 1).copied().unwrap_or_default().min(self.clock - 1);
            self.close(|_, _, document| !document.pinned && document.used <= oldest, &mut messages);
        }
        messages
    }

    fn close(&mut self, which: impl Fn(&DocumentSync, &str, &Document) -> bool, messages: &mut Vec<Message>) {
        let closing: Vec<String> =
            self.open.iter().filter(|(file, it)| which(self, file, it)).map(|(file, _)| file.clone()).collect();
        for file in closing {
            let sent = self.open.remove(&file).and_then(|document| document.sent);
            if sent.is_some() {
                let text_document = TextDocumentIdentifier { uri: self.root.uri(&file) };
                let params = DidCloseTextDocumentParams { text_document };
                messages.push(Message::notification::<DidCloseTextDocumentNotification>(&params));
            }
        }
    }

    fn push_changes(&mut self, messages: &mut Vec<Message>) {
        let changes: Vec<FileEvent> = std::mem::take(&mut self.changed)
            .into_iter()
            .map(|(file, kind)| {
                let kind = match kind {
                    FileChangeKind::Created => FileChangeType::Created,
                    FileChangeKind::Changed => FileChangeType::Changed,
                    FileChangeKind::Deleted => FileChangeType::Deleted,
                };
                FileEvent { uri: self.root.uri(&file), kind }
            })
            .collect();
        if !changes.is_empty() {
            let params = DidChangeWatchedFilesParams { changes };
            messages.push(Message::notification::<DidChangeWatchedFilesNotification>(&params));
        }
    }

    fn push_folders(&mut self, messages: &mut Vec<Message>) {
        let folders = folders(&self.files);
        let reload = std::mem::take(&mut self.reload);
        if folders == self.folders && !reload {
            return;
        }
        self.reloads += u64::from(reload);
        let gone: Vec<&String> = self.folders.iter().filter(|it| reload || !folders.contains(*it)).collect();
        let new: Vec<&String> = folders.iter().filter(|it| reload || !self.folders.contains(*it)).collect();
        let named = |folders: &[&String]| folders.iter().map(|it| self.folder(it)).collect::<Vec<_>>();
        // One notification each: if gopls fails at the first, it does not process the second.
        for (removed, added) in [(named(&gone), Vec::new()), (Vec::new(), named(&new))] {
            if !removed.is_empty() || !added.is_empty() {
                let event = WorkspaceFoldersChangeEvent { added, removed };
                let params = DidChangeWorkspaceFoldersParams { event };
                messages.push(Message::notification::<DidChangeWorkspaceFoldersNotification>(&params));
            }
        }
        self.folders = folders;
    }

    fn push_texts(&mut self, messages: &mut Vec<Message>) {
        let files: Vec<String> = self.open.keys().cloned().collect();
        for file in files {
            let Some(text) = self.text(&file) else { continue };
            let uri = self.root.uri(&file);
            let Some(document) = self.open.get_mut(&file) else { continue };
            let before = document.sent.replace(text.clone());
            if before.as_ref() == Some(&text) {
                continue;
            }
            self.version = self.version.wrapping_add(1).max(1);
            let (version, text) = (self.version, text.to_string());
            messages.push(match before {
                None => Message::notification::<DidOpenTextDocumentNotification>(&DidOpenTextDocumentParams {
                    text_document: TextDocumentItem {
                        uri,
                        language_id: LanguageKind::from(language_id(&file)),
                        version,
                        text,
                    },
                }),
                Some(_) => Message::notification::<DidChangeTextDocumentNotification>(&DidChangeTextDocumentParams {
                    text_document: VersionedTextDocumentIdentifier {
                        version,
                        text_document_identifier: TextDocumentIdentifier { uri },
                    },
                    content_changes: vec![TextDocumentContentChangeWholeDocument { text }.into()],
                }),
            });
        }
    }

    fn folder(&self, folder: &str) -> WorkspaceFolder {
        WorkspaceFolder { uri: self.root.uri(folder), name: folder.to_owned() }
    }
}

/// Whether the Go files of two states are the same.
pub(crate) fn are_same(one: &Arc<Files>, other: &Arc<Files>) -> bool {
    fn relevant(files: &Files) -> impl Iterator<Item = &semdex_engine::files::File> {
        files.iter().map(Arc::as_ref).filter(|file| matters(&file.path))
    }
    let of = |files| relevant(files).map(|it| (&it.path, it.hash));
    Arc::ptr_eq(one, other) || of(one).eq(of(other))
}

/// The part of a file that decides whether a build includes it, and in which package.
pub(crate) fn header(text: &str) -> &str {
    let clause =
        if text.starts_with("package ") { Some(0) } else { memchr::memmem::find(text.as_bytes(), b"\npackage ") };
    let end = clause.and_then(|at| Some(at + 1 + text.get(at + 1..)?.find('\n')?));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The files that gopls itself would watch, and the list of vendored modules.
pub(crate) fn matters(file: &str) -> bool {
    match base_name(file).rsplit_once('.') {
        Some((_, "go" | "mod" | "sum" | "work" | "s")) => true,
        _ => is_manifest(file),
    }
}

/// Whether the go command opens a file of this name, for its package clause, its build constraints, or as a manifest.
pub(crate) fn is_read(name: &str) -> bool {
    const OTHERS: [&str; 17] =
        ["c", "cc", "cpp", "cxx", "m", "h", "hh", "hpp", "hxx", "f", "F", "for", "f90", "S", "sx", "swig", "swigcxx"];
    matters(name) || name.rsplit_once('.').is_some_and(|(_, extension)| OTHERS.contains(&extension))
}

/// Whether a file defines modules and their requirements.
pub(crate) fn is_manifest(file: &str) -> bool {
    matches!(base_name(file), "go.mod" | "go.sum" | "go.work" | "go.work.sum" | "modules.txt")
}

fn language_id(file: &str) -> &'static str {
    match base_name(file) {
        "go.mod" => "go.mod",
        "go.sum" => "go.sum",
        "go.work" => "go.work",
        _ => "go",
    }
}

/// The directories that gopls loads as folders: each module's; with a `go.work` at the root, only the root, because the
/// file lists the modules. The go command ignores `testdata`, `vendor`, `_x` and `.x`.
pub(crate) fn folders(files: &Files) -> BTreeSet<String> {
    let root = BTreeSet::from([String::new()]);
    if files.get("go.work").is_some() {
        return root;
    }
    let modules: BTreeSet<String> = files
        .iter()
        .filter_map(|file| file.path.strip_suffix("go.mod"))
        .filter(|directory| directory.is_empty() || directory.ends_with('/'))
        .filter(|directory| !directory.split('/').any(is_left_out))
        .map(|directory| directory.trim_end_matches('/').to_owned())
        .take(MAX_FOLDERS)
        .collect();
    if modules.is_empty() { root } else { modules }
}

fn stamp(root: &Root, file: &str) -> Option<Stamp> {
    let metadata = std::fs::metadata(root.directory().join(file)).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

/// The metadata of the files on disk.
pub(crate) fn stamps(root: &Root, files: &Files) -> HashMap<String, Stamp> {
    files
        .iter()
        .filter(|file| matters(&file.path))
        .filter_map(|file| Some((file.path.to_string(), stamp(root, &file.path)?)))
        .collect()
}
