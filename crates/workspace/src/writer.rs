//! The writer: the thread that owns all mutable state of a workspace. It handles one event at a time. A snapshot has
//! every change that was made on the disk before it was requested.

mod change_overlays;
mod configuration;
mod propose;
mod refresh;
mod refresh_external;
mod revisions;
mod run_engines;
mod supervise;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use tokio::sync::{oneshot, watch as channel};

use super::busy::Busy;
use super::change::{Cause, Change, Outcome};
use super::disk::Disk;
use super::disk_changes::DiskChanges;
use super::engines::{Engines, Slot};
use super::events::{self, News};
use super::external_inputs::ExternalRoots;
use super::git;
use super::journal::{self, Journal};
use super::links::Links;
use super::overlays::{Overlays, Put, Shown};
use super::published::{MissingList, Phase, Publication, Published};
use super::recent::Recent;
use super::referenced_files::ReferenceTracker;
use super::seen_texts::SeenTexts;
use super::settings_files::{EffectiveSettings, SettingsFiles};
use super::snapshot::Snapshot;
use super::telemetry::{Reporter, Telemetry};
use super::timing::{Part, Ticket};
use super::transactions::Transactions;
use super::trust::Trust;
use super::unindexed_files::NonUtf8Names;
use super::unread_directories::UnreadDirectories;
use super::watch::DEBOUNCE;
use revisions::Revisions;
use semdex_config::Config;
use semdex_engine::files::Files;
use semdex_engine::{BACKGROUND_DELAY, QUIET_BEFORE_IDLE_WORK, Readiness, Registry, STACK_BYTES, Tidied};
use semdex_model::{Code, Error, FileEdit, LanguageId, Missing, MissingCode, Result, Revision};
use semdex_process::fault;
pub(super) use supervise::rebuilding;
use supervise::supervise;

/// How many requests may wait for the writer.
const INBOX: usize = 1024;

/// Everything that can happen to a workspace.
pub(super) enum Event {
    Snapshot {
        language: Option<LanguageId>,
        ticket: Ticket,
        reply: oneshot::Sender<Result<Snapshot>>,
    },
    Change {
        change: Box<Change>,
        /// The client has given up: the change is not made.
        given_up: Arc<AtomicBool>,
        ticket: Ticket,
        reply: oneshot::Sender<Result<Outcome>>,
    },
    /// A client asks how the imports of planned texts of a language should be.
    FixImports {
        language: LanguageId,
        edits: Vec<FileEdit>,
        reply: oneshot::Sender<Result<Vec<Tidied>>>,
    },
    PutOverlay {
        put: Box<Put>,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// A client wants to read the journal.
    Journal {
        reply: oneshot::Sender<Result<()>>,
    },
    RemoveOverlay {
        file: String,
        reply: oneshot::Sender<Result<Shown>>,
    },
    /// The watcher reports a change.
    Wake,
    /// Threads of the engine at this position have results.
    Engine(usize),
    /// The owner of the workspace begins or ceases to trust it.
    Trust(bool),
    Close {
        reply: oneshot::Sender<()>,
    },
}

/// The writer's inbox. It is bounded: a request that finds it full is refused.
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
            TrySendError::Disconnected(_) => {
                Error::new(Code::UnknownWorkspace, "the workspace was closed during this request")
            }
        })
    }
}

pub(super) struct Writer {
    config: Config,
    settings: EffectiveSettings,
    trust: Trust,
    inbox: Sender<Event>,
    reporter: Reporter,
    publication: Publication,
    disk: Arc<Disk>,
    disk_changes: DiskChanges,
    transactions: Transactions,
    files: Arc<Files>,
    revisions: Revisions,
    recent: Arc<Recent>,
    seen_texts: Arc<SeenTexts>,
    overlays: Arc<Overlays>,
    non_utf8_names: NonUtf8Names,
    unread_directories: UnreadDirectories,
    /// The texts may be of several states of the disk.
    is_torn: bool,
    referenced: ReferenceTracker,
    links: Links,
    external_roots: ExternalRoots,
    engines: Engines,
    missing: MissingList,
}

/// What all workspaces share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) journal: Journal,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) telemetry: Arc<Telemetry>,
}

/// The ends of a started writer that others hold.
pub(super) struct Started {
    pub(super) inbox: Inbox,
    pub(super) disk: Arc<Disk>,
    pub(super) recent: Arc<Recent>,
    pub(super) seen_texts: Arc<SeenTexts>,
    pub(super) published: channel::Receiver<Published>,
    pub(super) busy: Arc<Busy>,
    pub(super) closing: Arc<AtomicBool>,
}

/// The files below a root. Refused for directories of semdex's own.
pub(super) fn open_disk(root: &Path, config: &Config) -> Result<Disk> {
    Disk::new(root, config.own_paths()).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Code::ForbiddenRoot,
            _ => Code::UnknownWorkspace,
        };
        Error::new(code, format!("{}: {error}", root.display()))
    })
}

/// Starts the writer of a workspace. Returns immediately: the writer reads the files on its own thread.
pub(super) fn start(
    id: String,
    root: &Path,
    trusted: bool,
    config: &Config,
    registry: Registry,
    shared: &Shared,
) -> Result<Started> {
    let Shared { journal, runtime, telemetry } = shared.clone();
    let settings_files = SettingsFiles::new(root, config.config_file.as_deref());
    let mut missing = MissingList::default();
    let settings = config.settings(root, trusted).unwrap_or_else(|error| {
        let wrong = configuration::in_force_in_part(&error);
        tracing::error!("{}", wrong.detail);
        missing.push(wrong);
        config.settings_in_part(root, trusted)
    });
    let registry = registry.configured(&settings.languages);
    let disk = Arc::new(open_disk(root, config)?);
    let languages = registry.languages().clone();
    let engines = Engines::new(registry, runtime);
    let (sender, receiver) = crossbeam_channel::bounded(INBOX);
    let publication = Publication::new(Published {
        settings_files: settings_files.clone(),
        registry: engines.registry().clone(),
        revision: Revision(0),
        trusted,
        phase: Phase::Starting,
        engines: engines.iter().map(Slot::seen).collect(),
        present: Vec::new(),
        overlays: Arc::default(),
        missing: missing.all().clone(),
    });
    let recent = Arc::new(Recent::default());
    let seen_texts = Arc::new(SeenTexts::new(journal.clone(), journal::key(root)));
    let started = Started {
        inbox: Inbox(sender.clone()),
        disk: disk.clone(),
        recent: recent.clone(),
        seen_texts: seen_texts.clone(),
        published: publication.subscribe(),
        busy: publication.busy().clone(),
        closing: publication.closing().clone(),
    };
    let writer = Writer {
        config: config.clone(),
        settings: EffectiveSettings::new(settings, settings_files),
        trust: Trust::new(trusted, root),
        inbox: sender,
        reporter: Reporter::new(id.clone(), telemetry),
        publication,
        disk_changes: DiskChanges::default(),
        transactions: Transactions::new(disk.clone(), journal, &config.state_dir),
        files: Arc::new(Files::new(languages)),
        revisions: Revisions::new(&config.state_dir, root),
        recent,
        seen_texts,
        overlays: Arc::default(),
        non_utf8_names: NonUtf8Names::default(),
        unread_directories: UnreadDirectories::default(),
        is_torn: false,
        referenced: ReferenceTracker::default(),
        links: Links::default(),
        external_roots: ExternalRoots::new(root),
        engines,
        missing,
        disk,
    };
    std::thread::Builder::new()
        .name(format!("writer-{id}"))
        .stack_size(STACK_BYTES)
        .spawn(move || supervise(writer, &receiver))
        .map_err(|error| Error::new(Code::Internal, format!("no thread for the workspace: {error}")))?;
    Ok(started)
}

impl Writer {
    /// Reads the workspace and starts its engines.
    pub(super) fn begin(&mut self) {
        fault::point("writer.begin");
        // Opening the journal takes longer than everything else here. It can wait unless a change was interrupted.
        if !self.transactions.all_ended() {
            self.recover_changes();
        }
        git::repair(&self.config.state_dir);
        match self.watch() {
            Ok(found) => {
                self.read_all(found);
                self.revisions.begin();
            }
            Err(error) => {
                let detail = format!("the workspace could not be read: {error}");
                self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "disk", detail));
            }
        }
        self.read_referenced_files();
        self.update_unread_directories();
        self.links.set(self.find_links());
        self.start_engines();
        self.watch_external_modules();
        self.publish();
        self.publication.enter(Phase::Up);
    }

    /// Before the journal is read or written: completes or takes back interrupted changes.
    pub(super) fn recover_changes(&mut self) {
        if let Err(error) = self.transactions.recover() {
            tracing::error!(%error, "a change that was interrupted is perhaps half made");
            self.missing.push(Missing::new(MissingCode::WorkspaceBroken, "journal", error.detail));
        }
    }

    /// Handles events until the workspace is closed.
    pub(super) fn run(&mut self, events: &Receiver<Event>) {
        let mut last = Instant::now();
        loop {
            self.publication.busy().end();
            if self.publication.is_closing() {
                return;
            }
            let wait = if self.disk_changes.is_reported() {
                DEBOUNCE
            } else if self.is_engine_due() {
                BACKGROUND_DELAY
            } else {
                QUIET_BEFORE_IDLE_WORK
            };
            let mut quiet = None;
            let event = events.recv_timeout(wait);
            self.publication.busy().begin();
            match event {
                Ok(event) => {
                    last = Instant::now();
                    if self.handle(event, events).is_break() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.disk_changes.is_reported() => self.take_reported(),
                Err(RecvTimeoutError::Timeout) => quiet = Some(last.elapsed()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.end_overlays();
            if self.disk_changes.is_overdue() {
                self.take_reported();
            }
            self.restart_engines();
            self.run_background_work(quiet);
        }
    }

    /// Breaks when the workspace was closed.
    fn handle(&mut self, event: Event, events: &Receiver<Event>) -> ControlFlow<()> {
        fault::point("writer.event");
        match event {
            Event::Snapshot { language, ticket, reply } => {
                // One barrier serves all snapshots that were requested before it.
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
                self.recover_changes();
                let _ = reply.send(Ok(()));
            }
            Event::RemoveOverlay { file, reply } => drop(reply.send(self.remove_overlay(&file))),
            // A file that is written in place is empty for a moment. Without a request the writer waits until it is
            // whole.
            Event::Wake => self.disk_changes.note_report(),
            Event::Engine(at) => self.take_engine_results(at),
            Event::Trust(trusted) => self.set_trust(trusted),
            Event::Close { reply } => {
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn snapshot(&mut self, language: Option<LanguageId>) -> Snapshot {
        self.restart_engines();
        let slot = language.and_then(|it| self.engines.slot_of(it));
        let engine = slot.and_then(|it| it.engine.as_ref());
        let lacks = slot.and_then(Slot::missing).filter(|_| engine.is_none());
        Snapshot {
            revision: self.revisions.current(),
            files: self.files.clone(),
            view: engine.map(|it| it.view(self.files.clone())),
            trusted: self.trust.is_given(),
            readiness: match engine {
                Some(engine) => engine.readiness(),
                None if lacks.is_some() => Readiness::Texts,
                None => Readiness::Settled,
            },
            lacks,
            unindexed_names: self.missing_names(language),
            unread: self.unread_of(language),
            links: slot.map(|it| self.links.missed_by(&*it.kind, &self.files)).unwrap_or_default(),
        }
    }

    /// Brings new contents into the texts and every engine. Every change of content passes here. `after` are the texts
    /// with the edits made.
    pub(super) fn apply(&mut self, edits: &[FileEdit], after: Arc<Files>, cause: Cause) {
        self.referenced.note_edits(edits, &self.files, &after);
        edits.iter().for_each(|it| self.unread_directories.note_edit(&it.file));
        self.seen_texts.note_replaced(&self.files, edits, cause == Cause::Outside);
        self.files = after;
        self.links.mark_stale();
        match cause {
            Cause::Outside => self.recent.note(edits),
            // The client that made the change was given its effect.
            _ => edits.iter().for_each(|it| self.recent.forget(&it.file)),
        }
        let before = self.revisions.current();
        // An overlay may have the same content as the disk.
        self.revisions.note_change(edits.iter().any(|it| it.old != it.new));
        fault::point("writer.apply");
        // An overlay is not on the disk.
        self.feed_engines(edits, cause != Cause::Overlay);
        self.start_engines();
        if edits.iter().any(|it| self.declares_external_modules(&it.file)) {
            self.watch_external_modules();
        }
        tracing::debug!(revision = self.revisions.current().0, ?cause, files = edits.len(), "changed");
        self.publish();
        if self.revisions.current() != before {
            self.report(News::Revision { cause, files: events::files(edits) });
        }
    }

    /// Something that answers depend on has changed, but no text. That is a revision of its own.
    pub(super) fn note_external_change(&mut self) {
        self.revisions.note_change(true);
        self.report(News::Revision { cause: Cause::Outside, files: Vec::new() });
    }

    /// Publishes an event at the current revision.
    pub(super) fn report(&self, news: News) {
        self.reporter.report(self.revisions.current(), news);
    }

    /// Publishes the current state.
    pub(super) fn publish(&self) {
        self.revisions.announce();
        self.publication.update(|it| {
            it.revision = self.revisions.current();
            it.trusted = self.trust.is_given();
            it.settings_files = self.settings.files().clone();
            it.registry = self.engines.registry().clone();
            it.engines = self.engines.iter().map(Slot::seen).collect();
            it.present = self.engines.iter().filter_map(|it| it.present(&self.files)).collect();
            it.overlays = self.overlays.clone();
            it.missing.clone_from(self.missing.all());
            it.missing.extend(self.unread());
        });
    }
}
