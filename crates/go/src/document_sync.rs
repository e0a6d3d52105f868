//! What gopls has been sent of the workspace's content, and what it has yet to be sent.
//!
//! gopls watches nothing: it reads a file from the disk and keeps it until it hears of a change. So every change
//! that the writer reports is noted here, and everything noted is sent before the next question, in one batch with
//! it. A bounded set of files is held open, because gopls answers quickly for the packages of open files only; of
//! these it is sent the content itself.

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

use super::lsp_conversion::{Root, is_hidden};
use super::modules::base_name;
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::{FileChange, FileChangeKind};
use semdex_lsp_client::Message;

/// Files held open. Each costs the memory of its type-checked package.
const OPEN_FILES: usize = 32;
/// Modules of one workspace that gopls loads at the start; the others it loads when one of their files is opened.
const MAX_FOLDERS: usize = 32;

pub(crate) struct DocumentSync {
    root: Root,
    files: Arc<Files>,
    generation: u64,
    open: BTreeMap<String, Document>,
    /// The texts of a dry run, which stand before those of the files.
    overlay: BTreeMap<String, Arc<str>>,
    /// On the disk, since gopls was last notified.
    changed: BTreeMap<String, FileChangeKind>,
    folders: BTreeSet<String>,
    /// A manifest has changed. gopls, having once failed to load a module, notices late that it could now, and
    /// answers meanwhile as if the files were in none; given its folders anew, it loads before it answers.
    reload: bool,
    /// How often that was done.
    reloads: u64,
    /// Go files that came, or into another package, since gopls loaded: it loads a new package only when it is asked
    /// about a file of it, and leaves it out of every other answer until then.
    fresh: BTreeSet<String>,
    /// Files that gopls did not know even then; they are not tried again before something comes or goes.
    hopeless: HashSet<String>,
    /// What the disk says of a file besides its content: gopls trusts it to tell that a file is unchanged.
    stamps: HashMap<String, Stamp>,
    version: i32,
    clock: u64,
    /// Files or packages came or went, and gopls was not asked who names what since.
    restructured: bool,
}

struct Document {
    /// What gopls holds; none if it was restarted since.
    sent: Option<Arc<str>>,
    used: u64,
    /// gopls would not see what the disk has (see `stamps`), so it has to be sent.
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
            hopeless: HashSet::new(),
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

    /// Whether there is anything here for gopls.
    pub(crate) fn has_go(&self) -> bool {
        self.files.iter().any(|file| matters(&file.path))
    }

    /// How much Go text there is.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.files.of(LANGUAGE).map(|file| file.text.len() as u64).sum()
    }

    /// Whether these files are the current ones as far as Go goes.
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
                self.hopeless.clear();
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

    /// Files outside of the workspace that its build reads have changed, what it reads beside the texts of Go, or what
    /// decides how it is built.
    pub(crate) fn feed_outside(&mut self, changes: &[FileChange]) {
        // gopls takes in by itself only what it watches.
        self.reload |= changes.iter().any(|it| is_manifest(&it.path) || !matters(&it.path));
        self.restructured = true;
        self.hopeless.clear();
        for change in changes {
            let known = self.changed.entry(change.path.clone());
            known.and_modify(|kind| *kind = kind.then(change.kind)).or_insert(change.kind);
        }
        self.generation += 1;
    }

    /// gopls takes a file with the same inode and modification time for unchanged. Tools that restore the time
    /// after writing in place would fool it, so such a file is held open until its time changes.
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

    /// Holds a file open: what gopls would read on the disk is not what it is to see.
    fn pin(&mut self, file: &str) {
        let document = self.open.entry(file.to_owned());
        document.or_insert(Document { sent: None, used: self.clock, pinned: true }).pinned = true;
    }

    /// Notes how the files are found at the start.
    pub(crate) fn note_stamps(&mut self, stamps: HashMap<String, Stamp>) {
        for (file, stamp) in stamps {
            self.stamps.entry(file).or_insert(stamp);
        }
    }

    /// A new gopls reads everything from the disk, and no file is open in it.
    pub(crate) fn restarted(&mut self) -> Vec<WorkspaceFolder> {
        self.changed.clear();
        self.fresh.clear();
        self.open.values_mut().for_each(|document| document.sent = None);
        self.reload = false;
        self.reloads += 1;
        self.folders = folders(&self.files);
        self.folders.iter().map(|folder| self.folder(folder)).collect()
    }

    /// The files that gopls has to be asked about before it is asked anything else.
    pub(crate) fn fresh(&self) -> Vec<String> {
        self.fresh.iter().cloned().collect()
    }

    /// It was asked about these, in this generation.
    pub(crate) fn settled(&mut self, files: &[String], generation: u64) {
        if generation == self.generation {
            files.iter().for_each(|file| {
                self.fresh.remove(file);
            });
        }
    }

    /// Has everything loaded anew before the next question.
    pub(crate) fn load_anew(&mut self) {
        self.reload = true;
    }

    /// gopls takes in what came and went with the first question after it; until then nobody answers in its place.
    pub(crate) fn is_restructured(&self) -> bool {
        self.restructured
    }

    /// gopls was asked who names what in this generation.
    pub(crate) fn was_asked(&mut self, generation: u64) {
        self.restructured &= generation != self.generation;
    }

    pub(crate) fn reloads(&self) -> u64 {
        self.reloads
    }

    /// Whether to ask once more about a file that gopls did not know, though it should: after it has loaded all anew,
    /// if that was not done since the question (when there had been `reloads`).
    pub(crate) fn retries(&mut self, file: &str, reloads: u64) -> bool {
        let hope = self.hopeless.insert(file.to_owned());
        self.reload |= hope && self.reloads == reloads;
        hope
    }

    /// Takes texts for granted that are not on the disk, until [`DocumentSync::take_back`].
    pub(crate) fn overlay(&mut self, texts: impl IntoIterator<Item = (String, Arc<str>)>) {
        self.overlay = texts.into_iter().collect();
        self.reload |= self.overlay.keys().any(|file| is_manifest(file));
    }

    /// Ends a dry run: what gopls was sent of it is taken back before it is asked or sent anything else.
    pub(crate) fn take_back(&mut self) {
        for file in std::mem::take(&mut self.overlay).into_keys() {
            self.reload |= is_manifest(&file);
            if self.files.get(&file).is_none() {
                // Once more from the disk, where it is not.
                self.changed.insert(file, FileChangeKind::Deleted);
            }
        }
    }

    fn text(&self, file: &str) -> Option<Arc<str>> {
        self.overlay.get(file).or_else(|| self.files.get(file).map(|file| &file.text)).cloned()
    }

    /// All that gopls has to know before it is asked about `wanted`, which are opened.
    pub(crate) fn preamble(&mut self, wanted: &[&str]) -> Vec<Message> {
        let mut messages = Vec::new();
        self.clock += 1;
        self.close(|documents, file, _| documents.text(file).is_none(), &mut messages);
        self.tell_changes(&mut messages);
        let dry: Vec<String> = self.overlay.keys().cloned().collect();
        for file in wanted.iter().copied().chain(dry.iter().map(String::as_str)) {
            if self.text(file).is_some() {
                let document = self.open.entry(file.to_owned());
                document.or_insert(Document { sent: None, used: 0, pinned: false }).used = self.clock;
            }
        }
        self.tell_texts(&mut messages);
        self.tell_folders(&mut messages);
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

    fn tell_changes(&mut self, messages: &mut Vec<Message>) {
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

    fn tell_folders(&mut self, messages: &mut Vec<Message>) {
        let folders = folders(&self.files);
        let reload = std::mem::take(&mut self.reload);
        if folders == self.folders && !reload {
            return;
        }
        self.reloads += u64::from(reload);
        let gone: Vec<&String> = self.folders.iter().filter(|it| reload || !folders.contains(*it)).collect();
        let new: Vec<&String> = folders.iter().filter(|it| reload || !self.folders.contains(*it)).collect();
        let named = |folders: &[&String]| folders.iter().map(|it| self.folder(it)).collect::<Vec<_>>();
        // One after the other: where gopls stumbles over the first, it does not come to the second.
        for (removed, added) in [(named(&gone), Vec::new()), (Vec::new(), named(&new))] {
            if !removed.is_empty() || !added.is_empty() {
                let event = WorkspaceFoldersChangeEvent { added, removed };
                let params = DidChangeWorkspaceFoldersParams { event };
                messages.push(Message::notification::<DidChangeWorkspaceFoldersNotification>(&params));
            }
        }
        self.folders = folders;
    }

    fn tell_texts(&mut self, messages: &mut Vec<Message>) {
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

/// Whether two states are one as far as Go goes.
pub(crate) fn are_same(one: &Arc<Files>, other: &Arc<Files>) -> bool {
    fn relevant(files: &Files) -> impl Iterator<Item = &semdex_engine::files::File> {
        files.iter().map(Arc::as_ref).filter(|file| matters(&file.path))
    }
    let of = |files| relevant(files).map(|it| (&it.path, it.hash));
    Arc::ptr_eq(one, other) || of(one).eq(of(other))
}

/// What decides whether a build takes a file, and into which package.
pub(crate) fn header(text: &str) -> &str {
    let clause =
        if text.starts_with("package ") { Some(0) } else { memchr::memmem::find(text.as_bytes(), b"\npackage ") };
    let end = clause.and_then(|at| Some(at + 1 + text.get(at + 1..)?.find('\n')?));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What gopls itself would watch, and the list of vendored modules.
pub(crate) fn matters(file: &str) -> bool {
    match base_name(file).rsplit_once('.') {
        Some((_, "go" | "mod" | "sum" | "work" | "s")) => true,
        _ => is_manifest(file),
    }
}

/// Whether the go command opens a file of this name: for its package clause, its build constraints, or as a manifest.
pub(crate) fn is_read(name: &str) -> bool {
    const OTHERS: [&str; 17] =
        ["c", "cc", "cpp", "cxx", "m", "h", "hh", "hpp", "hxx", "f", "F", "for", "f90", "S", "sx", "swig", "swigcxx"];
    matters(name) || name.rsplit_once('.').is_some_and(|(_, extension)| OTHERS.contains(&extension))
}

/// What says which modules there are and what they need.
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

/// The directories that gopls loads as folders: each module's, but with a `go.work` at the root the root alone,
/// which then says what belongs together. The go command never looks into `testdata`, `vendor`, `_x` and `.x`.
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

/// A directory with nothing in it for the build of the module around it.
pub(crate) fn is_left_out(directory: &str) -> bool {
    directory == "vendor" || is_hidden(directory)
}

fn stamp(root: &Root, file: &str) -> Option<Stamp> {
    let metadata = std::fs::metadata(root.directory().join(file)).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

/// How the files are found on the disk.
pub(crate) fn stamps(root: &Root, files: &Files) -> HashMap<String, Stamp> {
    files
        .iter()
        .filter(|file| matters(&file.path))
        .filter_map(|file| Some((file.path.to_string(), stamp(root, &file.path)?)))
        .collect()
}
