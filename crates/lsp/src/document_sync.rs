//! The documents that a server has open, the texts that it was sent, and the changes that it was not sent yet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::table::Service;
use super::wire::Root;
use semdex_engine::files::{File, Files};
use semdex_engine::{FileChange, FileChangeKind};
use semdex_lsp_client::Message;

/// The most open documents. Beyond it, the least recently used are closed.
const MOST_OPEN: usize = 300;
/// The most files in one `didChangeWatchedFiles` notification. More files are sent in several.
const MOST_IN_A_NOTE: usize = 1000;

#[derive(Debug)]
pub(crate) struct DocumentSync {
    root: Root,
    service: Arc<Service>,
    files: Arc<Files>,
    generation: u64,
    open: BTreeMap<String, Document>,
    /// Whether a server is running and has to be notified. A new server reads the disk.
    is_alive: bool,
    /// Files that have changed on disk since the last notification, each once.
    pending: BTreeMap<String, FileChangeKind>,
    /// Texts of a dry run.
    trial: BTreeMap<String, Arc<str>>,
    clock: u64,
    version: i64,
    saves: bool,
    /// Whether documents that change together are sent twice: a server that checks each document as it arrives checks
    /// it against the previous state of all others.
    repeats: bool,
    /// When a change last made earlier diagnostics outdated.
    changed: Instant,
}

#[derive(Debug)]
struct Document {
    version: i64,
    /// The hash of the text that the server has. `None`: it must be sent again.
    hash: Option<blake3::Hash>,
    used: u64,
}

impl DocumentSync {
    pub(crate) fn new(root: Root, service: Arc<Service>, files: Arc<Files>) -> DocumentSync {
        DocumentSync {
            root,
            service,
            files,
            generation: 0,
            open: BTreeMap::new(),
            is_alive: false,
            pending: BTreeMap::new(),
            trial: BTreeMap::new(),
            clock: 0,
            version: 0,
            saves: false,
            repeats: false,
            changed: Instant::now(),
        }
    }

    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// Increases with every change of content.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// A new server starts without any documents. `saves`: it wants `didSave`. `repeats`: its diagnostics of a document
    /// may depend on the state that other documents had when the document was sent.
    pub(crate) fn restart(&mut self, saves: bool, repeats: bool) {
        self.end();
        self.is_alive = true;
        self.saves = saves;
        self.repeats = repeats;
    }

    /// The server has ended.
    pub(crate) fn end(&mut self) {
        self.is_alive = false;
        self.open.clear();
        self.pending.clear();
    }

    /// Something outside of the texts has changed, so answers to earlier requests are outdated.
    pub(crate) fn note_outside(&mut self) {
        self.generation += 1;
        self.changed = Instant::now();
    }

    /// When the texts last changed.
    pub(crate) fn last_change(&self) -> Instant {
        self.changed
    }

    /// The last version of a document that the server was sent.
    pub(crate) fn version_of(&self, file: &str) -> Option<i64> {
        self.open.get(file).map(|it| it.version)
    }

    /// Makes the server check a document again by sending it the same text again. Returns the next version.
    pub(crate) fn touch(&mut self, file: &str) -> Option<i64> {
        if let Some(document) = self.open.get_mut(file) {
            document.hash = None;
        }
        Some(self.version + 1)
    }

    pub(crate) fn feed(&mut self, files: Arc<Files>, changes: &[FileChange], is_on_disk: bool) {
        self.files = files;
        self.generation += 1;
        self.changed = Instant::now();
        if is_on_disk && self.is_alive {
            for change in changes {
                self.pending.insert(change.path.clone(), change.kind);
            }
        }
    }

    /// Sets texts that replace the files' texts until `end_trial`.
    pub(crate) fn begin_trial(&mut self, texts: BTreeMap<String, Arc<str>>) {
        self.trial = texts;
        self.changed = Instant::now();
    }

    /// Returns the files of the dry run, whose texts must be restored.
    pub(crate) fn end_trial(&mut self) -> Vec<String> {
        self.changed = Instant::now();
        std::mem::take(&mut self.trial).into_keys().collect()
    }

    /// The notifications that must precede a request, so that these files are open and the server has the current
    /// state.
    pub(crate) fn preamble(&mut self, wanted: &[&str]) -> Vec<Message> {
        let mut messages = Vec::new();
        self.clock += 1;
        if !self.pending.is_empty() {
            let kind = |it: FileChangeKind| match it {
                FileChangeKind::Created => 1,
                FileChangeKind::Changed => 2,
                FileChangeKind::Deleted => 3,
            };
            let pending = std::mem::take(&mut self.pending);
            let changes: Vec<Value> =
                pending.iter().map(|(file, it)| json!({"uri": self.root.uri(file), "type": kind(*it)})).collect();
            for changes in changes.chunks(MOST_IN_A_NOTE) {
                messages.push(Message::plain("workspace/didChangeWatchedFiles", &json!({"changes": changes})));
            }
        }
        let stale: Vec<String> = self.open.keys().cloned().collect();
        let changed: Vec<String> = stale.into_iter().filter(|it| self.sync(it, &mut messages)).collect();
        // The last document was sent after all others.
        if let Some((_, before)) = changed.split_last().filter(|_| self.repeats) {
            for file in before {
                self.touch(file);
                self.sync(file, &mut messages);
            }
        }
        let files = self.files.clone();
        let hidden = files.iter().filter(|it| it.overlay && self.service.row_of(&it.path).is_some());
        let hidden: Vec<String> = hidden.map(|it| it.path.to_string()).collect();
        let tried: Vec<String> = self.trial.keys().cloned().collect();
        for file in wanted.iter().copied().chain(hidden.iter().chain(&tried).map(String::as_str)) {
            self.ensure_open(file, &mut messages);
        }
        self.close_some(&mut messages);
        messages
    }

    fn text(&self, file: &str) -> Option<Arc<str>> {
        self.trial.get(file).cloned().or_else(|| self.files.get(file).map(|it| it.text.clone()))
    }

    /// Updates an open document to the file's content. Returns whether the server is sent another text.
    fn sync(&mut self, file: &str, messages: &mut Vec<Message>) -> bool {
        let uri = self.root.uri(file);
        let Some(text) = self.text(file) else {
            if self.open.remove(file).is_some() {
                messages.push(Message::plain("textDocument/didClose", &json!({"textDocument": {"uri": uri}})));
            }
            return false;
        };
        let hash = match self.trial.contains_key(file) {
            true => blake3::hash(text.as_bytes()),
            false => self.files.get(file).map_or_else(|| blake3::hash(text.as_bytes()), |it| it.hash),
        };
        let Some(document) = self.open.get_mut(file).filter(|it| it.hash != Some(hash)) else { return false };
        self.version += 1;
        let is_touched = document.hash.is_none();
        (document.version, document.hash) = (self.version, Some(hash));
        let mut params =
            json!({"textDocument": {"uri": uri, "version": self.version}, "contentChanges": [{"text": &*text}]});
        if is_touched {
            // Specific to clangd: without it, clangd publishes nothing for a header whose text is unchanged.
            params["forceRebuild"] = json!(true);
        }
        messages.push(Message::plain("textDocument/didChange", &params));
        if self.saves {
            messages.push(Message::plain("textDocument/didSave", &json!({"textDocument": {"uri": uri}})));
        }
        true
    }

    fn ensure_open(&mut self, file: &str, messages: &mut Vec<Message>) {
        let clock = self.clock;
        if let Some(document) = self.open.get_mut(file) {
            document.used = clock;
            return;
        }
        let Some(text) = self.text(file) else { return };
        let Some(language) = self.service.row_of(file).and_then(|it| it.language_id(file)) else { return };
        self.version += 1;
        let document = Document { version: self.version, hash: Some(blake3::hash(text.as_bytes())), used: clock };
        self.open.insert(file.to_owned(), document);
        let item = json!({"uri": self.root.uri(file), "languageId": language, "version": self.version, "text": &*text});
        messages.push(Message::plain("textDocument/didOpen", &json!({"textDocument": item})));
    }

    /// Keeps the documents of the latest request.
    fn close_some(&mut self, messages: &mut Vec<Message>) {
        while self.open.len() > MOST_OPEN {
            let is_free = |(file, it): &(&String, &Document)| {
                it.used < self.clock
                    && !self.trial.contains_key(*file)
                    && !self.files.get(file).is_some_and(|it| it.overlay)
            };
            let Some(oldest) = self.open.iter().filter(is_free).min_by_key(|it| it.1.used).map(|it| it.0.clone())
            else {
                return;
            };
            self.open.remove(&oldest);
            let params = json!({"textDocument": {"uri": self.root.uri(&oldest)}});
            messages.push(Message::plain("textDocument/didClose", &params));
        }
    }
}

/// Whether both have files of the same names on disk. A dry run may add or remove files.
pub(crate) fn are_of_same_names(one: &Files, other: &Files) -> bool {
    let same = |(a, b): (&Arc<File>, &Arc<File>)| a.path == b.path && a.overlay == b.overlay;
    one.len() == other.len() && one.iter().zip(other.iter()).all(same)
}

/// Whether two sets of texts are the same for a server: its source files and all other files that it reads.
pub(crate) fn are_same(one: &Arc<Files>, other: &Arc<Files>) -> bool {
    let same = |(a, b): (&Arc<File>, &Arc<File>)| a.path == b.path && a.hash == b.hash;
    Arc::ptr_eq(one, other) || (one.len() == other.len() && one.iter().zip(other.iter()).all(same))
}
