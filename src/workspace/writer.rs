//! The writer: the one thread that owns all mutable state of a workspace. It handles one event after the other, and
//! before it hands out a view it has seen every change on the disk that was made before.

mod trust;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use tokio::sync::{oneshot, watch as channel};

use super::change::{Cause, Change, Outcome};
use super::compare::OpenTrees;
use super::disk::Disk;
use super::journal::Journal;
use super::memo::Memo;
use super::outside::OutsideModules;
use super::overlays::{Overlays, Put, Shown};
use super::repair::repair;
use super::turn::Turns;
use super::watch::{Watcher, walk};
use super::{Inner, Published, Snapshot, Workspace, Workspaces};
use crate::beneath::Tree;
use crate::config::{Config, Features, Settings};
use crate::lang::Tidied;
use crate::lang::files::{File, Files};
use crate::lang::go::{FileChange, FileChangeKind, Go, GoConfig, local_modules};
use crate::lang::rust::engine::{Rust, RustConfig, Step};
use crate::lang::rust::load::Limits;
use crate::lang::rust::second::Made;
use crate::lang::rust::{self};
use crate::model::{Code, Error, FileEdit, Language, Missing, MissingCode, Result, Revision};

/// Requests that may wait for the writer at once.
const INBOX: usize = 1024;

const IDLE: Duration = Duration::from_millis(300);
/// So long the disk must be quiet before changes are taken that nobody has asked about, and the index of usages is
/// brought up to date.
const SOON: Duration = Duration::from_millis(30);
/// Where the disk does not become quiet, changes are taken after so long.
const NEWS_WAIT: Duration = Duration::from_millis(500);

/// Everything that can happen to a workspace.
pub(super) enum Event {
    Snapshot {
        language: Option<Language>,
        reply: oneshot::Sender<Result<Snapshot>>,
    },
    Change {
        change: Box<Change>,
        reply: oneshot::Sender<Result<Outcome>>,
    },
    /// Somebody wants to know how the imports of planned texts should be.
    FixImports {
        edits: Vec<FileEdit>,
        reply: oneshot::Sender<Result<Vec<Tidied>>>,
    },
    PutOverlay {
        put: Box<Put>,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// Somebody wants to know what the journal says.
    Journal {
        reply: oneshot::Sender<()>,
    },
    RemoveOverlay {
        file: String,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// The watcher has heard something.
    Wake,
    RustLoaded(Box<Step>),
    RustPrimed(bool),
    RustIndexed(bool),
    RustSecond(Box<Made>),
    /// The owner of the workspace has begun to trust it, or trusts it no more.
    Trust(bool),
    Close {
        reply: oneshot::Sender<()>,
    },
}

/// The writer's letter box. Bounded: who finds it full is told to come back.
#[derive(Clone)]
pub(super) struct Inbox(Sender<Event>);

impl Inbox {
    pub(super) fn send(&self, event: Event) -> Result<()> {
        self.0.try_send(event).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::new(Code::Busy, "too many requests wait for this workspace: try again in a second")
            }
            TrySendError::Disconnected(_) => Error::new(Code::UnknownWorkspace, "the workspace was closed meanwhile"),
        })
    }
}

pub(super) struct Writer {
    pub(super) root: PathBuf,
    trusted: bool,
    config: Config,
    pub(super) settings: Settings,
    runtime: tokio::runtime::Handle,
    pub(super) inbox: Sender<Event>,
    pub(super) disk: Arc<Disk>,
    pub(super) journal: Journal,
    pub(super) turns: Turns,
    pub(super) tokens: ulid::Generator,
    pub(super) watcher: Option<Watcher>,
    pub(super) files: Arc<Files>,
    pub(super) overlays: Arc<Overlays>,
    /// What could not be read when it was to be.
    pub(super) unread: BTreeSet<PathBuf>,
    /// The last comparison of everything did not come to its end.
    pub(super) compares_all: bool,
    looked_into_journal: bool,
    /// Sources of path dependencies outside the root, by their absolute names.
    pub(super) outside_roots: Vec<PathBuf>,
    pub(super) outside_modules: OutsideModules,
    pub(super) revision: Revision,
    pub(super) rust: Option<Rust>,
    pub(super) go: Option<Go>,
    published: channel::Sender<Published>,
    pub(super) is_priming: bool,
    pub(super) is_indexing: bool,
    /// The watcher has heard something that was not taken yet.
    pub(super) news_since: Option<Instant>,
    changed: Instant,
    pub(super) has_garbage: bool,
    /// More is kept than the next change will leave.
    pub(super) is_full: bool,
    pub(super) missing: Vec<Missing>,
}

/// Starts the writer of a workspace. Returns at once; the files are read on its own thread.
pub(super) fn start(
    id: String,
    root: PathBuf,
    trusted: bool,
    config: &Config,
    journal: Journal,
    runtime: tokio::runtime::Handle,
) -> Result<Workspace> {
    let settings = config.settings(&root, trusted).map_err(|error| {
        Error::new(Code::InvalidRequest, format!("the configuration of {}: {error}", root.display()))
    })?;
    let disk = Disk::new(&root, config.own_paths()).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Code::ForbiddenRoot,
            _ => Code::UnknownWorkspace,
        };
        Error::new(code, format!("{}: {error}", root.display()))
    })?;
    let disk = Arc::new(disk);
    let (sender, receiver) = crossbeam_channel::bounded(INBOX);
    let first = Published {
        revision: Revision(0),
        trusted,
        scanned: false,
        rust_settled: false,
        rust: None,
        go: None,
        overlays: Arc::default(),
        missing: Vec::new(),
    };
    let (published, subscription) = channel::channel(first);
    let mut writer = Writer {
        root: root.clone(),
        trusted,
        config: config.clone(),
        settings,
        runtime,
        inbox: sender.clone(),
        disk: disk.clone(),
        journal: journal.clone(),
        turns: Turns::new(&config.state_dir, &root),
        tokens: ulid::Generator::new(),
        watcher: None,
        files: Arc::default(),
        overlays: Arc::default(),
        unread: BTreeSet::new(),
        compares_all: false,
        looked_into_journal: false,
        outside_roots: Vec::new(),
        outside_modules: OutsideModules::default(),
        revision: Revision(0),
        rust: None,
        go: None,
        published,
        is_priming: false,
        is_indexing: false,
        news_since: None,
        changed: Instant::now(),
        has_garbage: false,
        is_full: false,
        missing: Vec::new(),
    };
    std::thread::Builder::new()
        .name(format!("writer-{id}"))
        .stack_size(rust::STACK_BYTES)
        .spawn(move || {
            writer.begin();
            writer.run(&receiver);
        })
        .map_err(|error| Error::new(Code::Internal, format!("no thread for the workspace: {error}")))?;
    Ok(Workspace {
        inner: Arc::new(Inner {
            id,
            root,
            inbox: Inbox(sender),
            disk,
            journal,
            published: subscription,
            memo: Memo::new(),
        }),
    })
}

impl Writer {
    fn begin(&mut self) {
        // Opening the journal takes longer than all else here; where nobody was interrupted it can wait.
        if !self.turns.all_ended() {
            self.look_into_journal();
        }
        let inbox = self.inbox.clone();
        let wake = move || drop(inbox.try_send(Event::Wake));
        let cookies = self.config.state_dir.join("cookies");
        let found = match Watcher::start(std::slice::from_ref(self.disk.tree()), &cookies, wake) {
            Ok((watcher, found)) => {
                self.watcher = Some(watcher);
                self.note_watching();
                Ok(found)
            }
            Err(error) => {
                tracing::error!(%error, "the workspace cannot be watched: every answer compares it with the disk");
                walk(self.disk.tree())
            }
        };
        match found {
            Ok(found) => {
                let mut files = Files::default();
                let mut trees = OpenTrees::default();
                for path in found {
                    match self.read_with(&mut trees, &path) {
                        Ok(Some(text)) => drop(files.insert(Arc::new(File::new(self.name_of(&path), text)))),
                        Ok(None) => {}
                        Err(_) => drop(self.unread.insert(path)),
                    }
                }
                self.files = Arc::new(files);
                self.revision = Revision(1);
            }
            Err(error) => {
                let detail = format!("the workspace could not be read: {error}");
                self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "disk", detail));
            }
        }
        self.start_engines();
        self.begin_outside();
        self.publish();
    }

    /// Before anything is asked of the journal, or written: what was interrupted is put right.
    pub(super) fn look_into_journal(&mut self) {
        if std::mem::replace(&mut self.looked_into_journal, true) {
            return;
        }
        if let Err(error) = repair(&self.disk, &self.journal, &mut self.turns) {
            tracing::error!(%error, "a change that was interrupted is perhaps half made");
            self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "journal", error.detail));
        }
    }

    /// Engines start when the first file of their language is there.
    fn start_engines(&mut self) {
        let has = |files: &Files, language, manifest: &str| {
            let is_manifest = |it: &Arc<File>| *it.path == *manifest || it.path.ends_with(&format!("/{manifest}"));
            files.of(language).next().is_some() || files.iter().any(is_manifest)
        };
        if self.rust.is_none() && has(&self.files, Language::Rust, "Cargo.toml") {
            let (features, all_features) = match &self.settings.rust.features {
                Features::Default => (Vec::new(), false),
                Features::All => (Vec::new(), true),
                Features::Named(features) => (features.clone(), false),
            };
            let config = RustConfig {
                root: self.root.clone(),
                trusted: self.trusted,
                target_dir: Workspaces::target_dir(&self.config, &self.root),
                features,
                all_features,
                build_scripts: self.settings.rust.build_scripts,
                proc_macros: self.settings.rust.proc_macros,
                second_database: self.settings.rust.second_database,
                limits: Limits::default(),
            };
            match Rust::new(config, &self.files) {
                Some(engine) => {
                    self.rust = Some(engine);
                    self.reload_rust();
                }
                None => {
                    let detail = "the path of the workspace is not UTF-8, which rust-analyzer needs: move it";
                    self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "rust", detail));
                }
            }
        }
        if self.go.is_none() && has(&self.files, Language::Go, "go.mod") {
            let config = GoConfig {
                root: self.root.clone(),
                trusted: self.trusted,
                cache_dir: self.config.cache_dir.clone(),
                runtime: self.runtime.clone(),
                memory_limit: self.settings.go_memory_limit,
            };
            self.go = Some(Go::start(config, self.files.clone()));
        }
    }

    fn run(&mut self, events: &Receiver<Event>) {
        let mut last = Instant::now();
        loop {
            let is_something_due = self.news_since.is_some() || self.needs_indexing() || self.is_second_behind();
            let wait = if is_something_due { SOON } else { IDLE };
            match events.recv_timeout(wait) {
                Ok(event) => {
                    last = Instant::now();
                    if self.handle(event, events).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.news_since.is_some() => self.take_news(),
                Err(RecvTimeoutError::Timeout) if self.is_second_behind() => {
                    self.rust.iter_mut().for_each(Rust::catch_second_up);
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() < IDLE => {}
                Err(RecvTimeoutError::Timeout) => self.idle(last.elapsed()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.end_overlays();
            if self.news_since.is_some_and(|it| it.elapsed() > NEWS_WAIT) {
                self.take_news();
            }
            // Also under a steady stream of questions.
            if self.needs_indexing() && self.changed.elapsed() >= SOON {
                self.index();
            }
        }
    }

    /// Breaks when the workspace was closed.
    fn handle(&mut self, event: Event, events: &Receiver<Event>) -> ControlFlow<()> {
        match event {
            Event::Snapshot { language, reply } => {
                // Those that came before the barrier are served by it together.
                let mut waiting = vec![(language, reply)];
                let mut later = None;
                while waiting.len() < 64 {
                    match events.try_recv() {
                        Ok(Event::Snapshot { language, reply }) => waiting.push((language, reply)),
                        Ok(other) => {
                            later = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let caught_up = self.catch_up();
                for (language, reply) in waiting {
                    let _ = reply.send(caught_up.clone().map(|()| self.snapshot(language)));
                }
                if let Some(event) = later {
                    return self.handle(event, events);
                }
            }
            Event::Change { change, reply } => {
                let outcome = self.catch_up().and_then(|()| self.propose(*change));
                let _ = reply.send(outcome);
            }
            Event::FixImports { edits, reply } => {
                let fixed = self.catch_up().and_then(|()| self.fix_imports(&edits));
                let _ = reply.send(fixed);
            }
            Event::PutOverlay { put, reply } => drop(reply.send(self.put_overlay(*put))),
            Event::Journal { reply } => {
                self.look_into_journal();
                let _ = reply.send(());
            }
            Event::RemoveOverlay { file, reply } => drop(reply.send(self.remove_overlay(&file))),
            // A file that is written in place is empty for a moment: who does not ask need not see it so.
            Event::Wake => {
                self.news_since.get_or_insert_with(Instant::now);
            }
            Event::RustLoaded(step) => self.adopt(*step),
            Event::RustPrimed(finished) => {
                self.is_priming = false;
                if let Some(rust) = self.rust.as_mut().filter(|_| finished) {
                    rust.set_primed();
                    self.has_garbage = true;
                }
            }
            Event::RustIndexed(finished) => {
                self.is_indexing = false;
                if let Some(rust) = &mut self.rust {
                    rust.set_indexed(finished);
                    self.is_full = finished && !rust.evict();
                }
            }
            Event::RustSecond(made) => {
                if let Some(rust) = &mut self.rust {
                    rust.adopt_second(*made);
                    self.has_garbage = true;
                }
            }
            Event::Trust(trusted) => self.set_trust(trusted),
            Event::Close { reply } => {
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn adopt(&mut self, step: Step) {
        let Some(rust) = &mut self.rust else { return };
        let Some(roots) = rust.adopt(step) else { return };
        for root in roots {
            if self.outside_roots.contains(&root) {
                continue;
            }
            let tree = Tree::named(root.clone(), self.disk.tree().forbidden().clone());
            if let Some(watcher) = &mut self.watcher
                && let Err(error) = watcher.add_root(&tree)
            {
                tracing::warn!(%error, root = %root.display(), "a path dependency cannot be watched");
            }
            self.outside_roots.push(root);
        }
        self.is_priming = false;
        self.publish();
    }

    fn snapshot(&mut self, language: Option<Language>) -> Snapshot {
        let rust = self.rust.as_ref().filter(|_| language == Some(Language::Rust));
        let go = self.go.as_ref().filter(|_| language == Some(Language::Go));
        let settled = match language {
            Some(Language::Rust) => rust.is_none_or(Rust::is_settled),
            Some(Language::Go) => go.is_none_or(Go::is_settled),
            None => true,
        };
        Snapshot {
            revision: self.revision,
            files: self.files.clone(),
            rust: rust.map(|it| it.view(self.files.clone())),
            go: go.map(|it| it.view(self.files.clone())),
            trusted: self.trusted,
            settled,
        }
    }

    /// Brings new contents into the texts and every engine: the one place where a revision is made.
    /// `after` are the texts with the edits made.
    pub(super) fn apply(&mut self, edits: &[FileEdit], after: Arc<Files>, cause: Cause) {
        self.files = after;
        // An overlay may say just what the disk has.
        self.revision.0 += u64::from(edits.iter().any(|it| it.old != it.new));
        self.changed = Instant::now();
        self.has_garbage = true;
        let mut reload = false;
        if let Some(rust) = &mut self.rust {
            rust.apply(&texts(edits));
            reload = edits.iter().any(|it| rust::engine::is_reload(&it.file, it.old.is_some() != it.new.is_some()));
        }
        if let Some(go) = &self.go {
            let changes: Vec<FileChange> = edits.iter().map(go_change).collect();
            go.feed(self.files.clone(), &changes);
        }
        self.start_engines();
        if edits.iter().any(|it| local_modules::is_named_in(&it.file)) {
            self.begin_outside();
        }
        if reload {
            self.reload_rust();
        }
        tracing::debug!(revision = self.revision.0, ?cause, files = edits.len(), reload, "changed");
        self.publish();
    }

    pub(super) fn publish(&self) {
        self.published.send_modify(|it| {
            it.revision = self.revision;
            it.trusted = self.trusted;
            it.scanned = true;
            it.rust_settled = self.rust.as_ref().is_none_or(Rust::is_settled);
            it.rust = self.rust.as_ref().map(Rust::status);
            it.go.clone_from(&self.go);
            it.overlays = self.overlays.clone();
            it.missing.clone_from(&self.missing);
        });
    }
}

pub(super) fn texts(edits: &[FileEdit]) -> Vec<(Arc<str>, Option<Arc<str>>)> {
    edits.iter().map(|it| (Arc::from(it.file.as_str()), it.new.clone())).collect()
}

fn go_change(edit: &FileEdit) -> FileChange {
    let kind = match (&edit.old, &edit.new) {
        (None, _) => FileChangeKind::Created,
        (_, None) => FileChangeKind::Deleted,
        _ => FileChangeKind::Changed,
    };
    FileChange { path: edit.file.clone(), kind }
}
