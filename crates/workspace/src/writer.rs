//! The writer: the one thread that owns all mutable state of a workspace. It handles one event after the other, and
//! before it hands out a view it has seen every change on the disk that was made before.

mod revisions;
mod settings;
mod trust;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use tokio::sync::{oneshot, watch as channel};

use super::busy::Busy;
use super::change::{Cause, Change, Outcome};
use super::disk::Disk;
use super::events::{self, News};
use super::git;
use super::journal::Journal;
use super::lock::LockFile;
use super::named::NamedFiles;
use super::open_trees::OpenTrees;
use super::overlays::{Overlays, Put, Shown};
use super::published::{Phase, Published};
use super::recent::Recent;
use super::repair::repair;
use super::settings_files::SettingsFiles;
use super::slots::Slot;
use super::snapshot::Snapshot;
use super::supervise::supervise;
use super::telemetry::Telemetry;
use super::timing::{Part, Ticket};
use super::watch::{Watcher, walk};
use revisions::Revisions;
use semdex_config::{Config, Settings};
use semdex_engine::files::Files;
use semdex_engine::links::Link;
use semdex_engine::{BACKGROUND_DELAY, QUIET_BEFORE_IDLE_WORK, Registry, STACK_BYTES, Tidied};
use semdex_fs::Tree;
use semdex_model::{Code, Error, FileEdit, LanguageId, Missing, MissingCode, Result, Revision};
use semdex_process::fault;
use semdex_process::search_path::{self, Barred};

/// Requests that may wait for the writer at once.
const INBOX: usize = 1024;

/// Where the disk does not become quiet, changes are taken after so long.
const NEWS_WAIT: Duration = Duration::from_millis(500);

/// Everything that can happen to a workspace.
pub(super) enum Event {
    Snapshot {
        language: Option<LanguageId>,
        ticket: Ticket,
        reply: oneshot::Sender<Result<Snapshot>>,
    },
    Change {
        change: Box<Change>,
        /// Whoever waits has given up: it is not to be made any more.
        given_up: Arc<AtomicBool>,
        ticket: Ticket,
        reply: oneshot::Sender<Result<Outcome>>,
    },
    /// Somebody wants to know how the imports of planned texts of a language should be.
    FixImports {
        language: LanguageId,
        edits: Vec<FileEdit>,
        reply: oneshot::Sender<Result<Vec<Tidied>>>,
    },
    PutOverlay {
        put: Box<Put>,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// Somebody wants to know what the journal says.
    Journal {
        reply: oneshot::Sender<Result<()>>,
    },
    RemoveOverlay {
        file: String,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// The watcher has heard something.
    Wake,
    /// Threads of this engine have found something out.
    Engine(usize),
    /// The owner of the workspace has begun to trust it, or trusts it no more.
    Trust(bool),
    Close {
        reply: oneshot::Sender<()>,
    },
}

/// The writer's letter box. Bounded: who finds it full is asked to come back.
#[derive(Clone)]
pub(super) struct Inbox(Sender<Event>);

impl Inbox {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

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
    /// The workspace's name.
    pub(super) id: String,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) root: PathBuf,
    pub(super) trusted: bool,
    /// Held while it is not trusted.
    pub(super) barred: Option<Barred>,
    pub(super) config: Config,
    pub(super) settings: Settings,
    pub(super) settings_files: SettingsFiles,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) inbox: Sender<Event>,
    pub(super) disk: Arc<Disk>,
    pub(super) journal: Journal,
    recent: Arc<Recent>,
    pub(super) lock_file: LockFile,
    pub(super) tokens: ulid::Generator,
    pub(super) watcher: Option<Watcher>,
    pub(super) files: Arc<Files>,
    pub(super) overlays: Arc<Overlays>,
    /// What could not be read when it was to be.
    pub(super) unread: BTreeSet<PathBuf>,
    /// Texts below the root whose names are not UTF-8.
    pub(super) nameless: BTreeSet<PathBuf>,
    /// The last comparison of everything did not come to its end.
    pub(super) compares_all: bool,
    pub(super) has_looked_into_journal: bool,
    /// Directories of sources outside of the root.
    pub(super) outside_roots: Vec<PathBuf>,
    pub(super) named: NamedFiles,
    /// Within the root, to code.
    pub(super) links: Vec<Link>,
    /// They may be others than these.
    pub(super) has_to_find_links: bool,
    pub(super) revision: Revision,
    pub(super) revisions: Revisions,
    pub(super) registry: Registry,
    /// As the registry lists them.
    pub(super) slots: Vec<Slot>,
    published: channel::Sender<Published>,
    busy: Arc<Busy>,
    /// The workspace was closed.
    closing: Arc<AtomicBool>,
    /// The watcher has heard something that was not taken yet.
    pub(super) news_since: Option<Instant>,
    pub(super) changed: Instant,
    pub(super) missing: Vec<Missing>,
}

/// What all workspaces have in common.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) journal: Journal,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) telemetry: Arc<Telemetry>,
}

/// What others have of a writer that was started.
pub(super) struct Started {
    pub(super) inbox: Inbox,
    pub(super) disk: Arc<Disk>,
    pub(super) recent: Arc<Recent>,
    pub(super) published: channel::Receiver<Published>,
    pub(super) busy: Arc<Busy>,
    pub(super) closing: Arc<AtomicBool>,
}

/// Starts the writer of a workspace. Returns at once; the files are read on its own thread.
pub(super) fn start(
    id: String,
    root: PathBuf,
    trusted: bool,
    config: &Config,
    registry: Registry,
    shared: &Shared,
) -> Result<Started> {
    let Shared { journal, runtime, telemetry } = shared.clone();
    let settings_files = SettingsFiles::new(&root, config.config_file.as_deref());
    let settings = config.settings(&root, trusted).map_err(|error| {
        Error::new(Code::InvalidRequest, format!("the configuration of {}: {error}", root.display()))
    })?;
    let registry = registry.configured(&settings.languages);
    let disk = Disk::new(&root, config.own_paths()).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Code::ForbiddenRoot,
            _ => Code::UnknownWorkspace,
        };
        Error::new(code, format!("{}: {error}", root.display()))
    })?;
    let disk = Arc::new(disk);
    let slots: Vec<Slot> = registry.kinds().iter().cloned().map(Slot::new).collect();
    let (sender, receiver) = crossbeam_channel::bounded(INBOX);
    let first = Published {
        settings_files: settings_files.clone(),
        registry: registry.clone(),
        revision: Revision(0),
        trusted,
        phase: Phase::Starting,
        engines: slots.iter().map(Slot::seen).collect(),
        present: Vec::new(),
        overlays: Arc::default(),
        missing: Vec::new(),
    };
    let (published, subscription) = channel::channel(first);
    let recent = Arc::new(Recent::default());
    let (busy, closing) = (Arc::new(Busy::default()), Arc::new(AtomicBool::new(false)));
    let writer = Writer {
        barred: (!trusted).then(|| search_path::bar(&root)),
        id: id.clone(),
        telemetry,
        root: root.clone(),
        trusted,
        config: config.clone(),
        settings,
        settings_files,
        runtime,
        inbox: sender.clone(),
        disk: disk.clone(),
        journal: journal.clone(),
        recent: recent.clone(),
        lock_file: LockFile::new(&config.state_dir, &root),
        tokens: ulid::Generator::new(),
        watcher: None,
        files: Arc::new(Files::new(registry.languages().clone())),
        overlays: Arc::default(),
        unread: BTreeSet::new(),
        nameless: BTreeSet::new(),
        compares_all: false,
        has_looked_into_journal: false,
        outside_roots: Vec::new(),
        named: NamedFiles::default(),
        links: Vec::new(),
        has_to_find_links: false,
        revision: Revision(0),
        revisions: Revisions::new(&config.state_dir, &root),
        registry,
        slots,
        published,
        busy: busy.clone(),
        closing: closing.clone(),
        news_since: None,
        changed: Instant::now(),
        missing: Vec::new(),
    };
    std::thread::Builder::new()
        .name(format!("writer-{id}"))
        .stack_size(STACK_BYTES)
        .spawn(move || supervise(writer, &receiver))
        .map_err(|error| Error::new(Code::Internal, format!("no thread for the workspace: {error}")))?;
    Ok(Started { inbox: Inbox(sender), disk, recent, published: subscription, busy, closing })
}

impl Writer {
    pub(super) fn begin(&mut self) {
        fault::point("writer.begin");
        // Opening the journal takes longer than all else here; where nobody was interrupted it can wait.
        if !self.lock_file.all_ended() {
            self.look_into_journal();
        }
        git::repair(&self.config.state_dir);
        match self.watch() {
            Ok(found) => {
                let mut files = Files::new(self.registry.languages().clone());
                let mut trees = OpenTrees::default();
                let mut found: BTreeSet<PathBuf> = found.into_iter().collect();
                if self.find_nameless(&mut found, false).is_err() {
                    self.compares_all = true;
                }
                for path in &found {
                    match self.read_with(&mut trees, path) {
                        Ok(Some(text)) => drop(files.insert(Arc::new(files.file(&self.name_of(path), text)))),
                        Ok(None) => {}
                        Err(_) => drop(self.unread.insert(path.clone())),
                    }
                }
                self.files = Arc::new(files);
                self.begin_left_out(&found);
                self.revision = self.revisions.first();
            }
            Err(error) => {
                let detail = format!("the workspace could not be read: {error}");
                self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "disk", detail));
            }
        }
        self.begin_named();
        self.links = self.find_links();
        self.start_engines();
        self.begin_outside();
        self.publish();
        self.enter(Phase::Up);
    }

    /// Begins to watch, and lists the files. Where that cannot be, every answer compares all with the disk.
    pub(super) fn watch(&mut self) -> std::io::Result<Vec<PathBuf>> {
        self.watcher = None;
        self.slots.iter_mut().for_each(|it| it.outside.forget_watches());
        let inbox = self.inbox.clone();
        let wake = move || drop(inbox.try_send(Event::Wake));
        let cookies = self.config.state_dir.join("cookies");
        let outside = self.outside_roots.iter().map(|it| self.outside_tree(it));
        let trees: Vec<Tree> = std::iter::once(self.disk.tree().clone()).chain(outside).collect();
        match Watcher::start(&trees, &cookies, wake) {
            Ok((watcher, found)) => {
                self.watcher = Some(watcher);
                self.note_watching();
                Ok(found)
            }
            Err(error) => {
                tracing::error!(%error, "the workspace cannot be watched: every answer compares it with the disk");
                walk(self.disk.tree())
            }
        }
    }

    /// Before anything is asked of the journal, or written: what was interrupted is put right.
    pub(super) fn look_into_journal(&mut self) {
        if std::mem::replace(&mut self.has_looked_into_journal, true) {
            return;
        }
        if let Err(error) = repair(&self.disk, &self.journal, &mut self.lock_file) {
            tracing::error!(%error, "a change that was interrupted is perhaps half made");
            self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "journal", error.detail));
        }
    }

    pub(super) fn run(&mut self, events: &Receiver<Event>) {
        let mut last = Instant::now();
        loop {
            self.busy.end();
            if self.is_closing() {
                return;
            }
            let wait = if self.news_since.is_some() || self.is_engine_due() {
                BACKGROUND_DELAY
            } else {
                QUIET_BEFORE_IDLE_WORK
            };
            let mut quiet = None;
            let event = events.recv_timeout(wait);
            self.busy.begin();
            match event {
                Ok(event) => {
                    last = Instant::now();
                    if self.handle(event, events).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.news_since.is_some() => self.take_news(),
                Err(RecvTimeoutError::Timeout) => quiet = Some(last.elapsed()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.end_overlays();
            if self.news_since.is_some_and(|it| it.elapsed() > NEWS_WAIT) {
                self.take_news();
            }
            self.revive_engines();
            self.have_engines_work(quiet);
        }
    }

    /// Breaks when the workspace was closed.
    fn handle(&mut self, event: Event, events: &Receiver<Event>) -> ControlFlow<()> {
        fault::point("writer.event");
        match event {
            Event::Snapshot { language, ticket, reply } => {
                // Those that came before the barrier are served by it together.
                let mut waiting = vec![(language, ticket, reply)];
                let mut later = None;
                while waiting.len() < 64 {
                    match events.try_recv() {
                        Ok(Event::Snapshot { language, ticket, reply }) => waiting.push((language, ticket, reply)),
                        Ok(other) => {
                            later = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                waiting.iter().for_each(|(_, ticket, _)| ticket.taken_up());
                let begun = Instant::now();
                let caught_up = self.catch_up();
                let barrier = begun.elapsed();
                for (language, ticket, reply) in waiting {
                    ticket.add(Part::Barrier, barrier);
                    let _ = reply.send(caught_up.clone().map(|()| self.snapshot(language)));
                }
                if let Some(event) = later {
                    return self.handle(event, events);
                }
            }
            Event::Change { given_up, .. } if given_up.load(Ordering::Relaxed) => {}
            Event::Change { change, given_up, ticket, reply } => {
                ticket.taken_up();
                let begun = Instant::now();
                let caught_up = self.catch_up();
                ticket.add(Part::Barrier, begun.elapsed());
                let begun = Instant::now();
                let outcome = caught_up.and_then(|()| self.propose(*change, &given_up));
                ticket.add(Part::Engine, begun.elapsed());
                let _ = reply.send(outcome);
            }
            Event::FixImports { language, edits, reply } => {
                let fixed = self.catch_up().and_then(|()| self.fix_imports(language, &edits));
                let _ = reply.send(fixed);
            }
            Event::PutOverlay { put, reply } => drop(reply.send(self.put_overlay(*put))),
            Event::Journal { reply } => {
                self.look_into_journal();
                let _ = reply.send(Ok(()));
            }
            Event::RemoveOverlay { file, reply } => drop(reply.send(self.remove_overlay(&file))),
            // A file that is written in place is empty for a moment: who does not ask need not see it so.
            Event::Wake => {
                self.news_since.get_or_insert_with(Instant::now);
            }
            Event::Engine(at) => self.hear_engine(at),
            Event::Trust(trusted) => self.set_trust(trusted),
            Event::Close { reply } => {
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn snapshot(&mut self, language: Option<LanguageId>) -> Snapshot {
        self.revive_engines();
        let slot = language.and_then(|it| self.slot_of(it));
        let engine = slot.and_then(|it| it.engine.as_ref());
        let lacks = slot.and_then(Slot::lack).filter(|_| engine.is_none());
        Snapshot {
            revision: self.revision,
            files: self.files.clone(),
            view: engine.map(|it| it.view(self.files.clone())),
            trusted: self.trusted,
            settled: engine.is_none_or(|it| it.is_settled()) && lacks.is_none(),
            lacks,
            nameless: self.lack_of_names(language),
            links: slot.map(|it| self.links_missed_by(&*it.kind)).unwrap_or_default(),
        }
    }

    /// Brings new contents into the texts and every engine: the choke point, which every change of content passes.
    /// `after` are the texts with the edits made.
    pub(super) fn apply(&mut self, edits: &[FileEdit], after: Arc<Files>, cause: Cause) {
        self.note_names(edits, &after);
        self.files = after;
        self.has_to_find_links = true;
        match cause {
            Cause::Outside => self.recent.note(edits),
            // The effect was reported to whoever made it.
            _ => edits.iter().for_each(|it| self.recent.forget(&it.file)),
        }
        // An overlay may say just what the disk has.
        let before = self.revision;
        self.revision.0 += u64::from(edits.iter().any(|it| it.old != it.new));
        self.changed = Instant::now();
        fault::point("writer.apply");
        // An overlay is not on the disk.
        self.feed_engines(edits, cause != Cause::Overlay);
        self.start_engines();
        if edits.iter().any(|it| self.declares_external_modules(&it.file)) {
            self.begin_outside();
        }
        tracing::debug!(revision = self.revision.0, ?cause, files = edits.len(), "changed");
        self.publish();
        if self.revision != before {
            self.tell(News::Revision { cause, files: events::files(edits) });
        }
    }

    /// What is read outside of the root is another, which is a revision of its own: what was answered may be answered
    /// otherwise.
    pub(super) fn note_change_outside(&mut self) {
        self.revision.0 += 1;
        self.changed = Instant::now();
        self.tell(News::Revision { cause: Cause::Outside, files: Vec::new() });
    }

    /// Whoever listens hears of it.
    pub(super) fn tell(&self, news: News) {
        self.telemetry.events.tell(&self.id, self.revision, news);
    }

    pub(super) fn publish(&self) {
        self.revisions.announce(self.revision);
        self.published.send_modify(|it| {
            it.revision = self.revision;
            it.trusted = self.trusted;
            it.settings_files = self.settings_files.clone();
            it.registry = self.registry.clone();
            it.engines = self.slots.iter().map(Slot::seen).collect();
            it.present = self.slots.iter().filter_map(|it| it.present(&self.files)).collect();
            it.overlays = self.overlays.clone();
            it.missing.clone_from(&self.missing);
        });
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.published.send_modify(|it| it.phase = phase);
    }
}
