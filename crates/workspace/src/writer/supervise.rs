//! Restarts the writer after a panic. State that may be damaged is rebuilt: the texts from the disk and the overlays,
//! the watcher, the repair of interrupted changes. Requests during that time wait, or are refused with that reason.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::{Event, Writer};
use crate::published::Phase;
use semdex_engine::{Backoff, panic_message};
use semdex_model::{Code, Error};

/// Who comes in a pause no longer than this waits; in a longer one it is asked to come back.
const UNNOTICED: Duration = Duration::from_secs(1);

/// Runs the writer until the workspace is closed.
pub(super) fn supervise(mut writer: Writer, events: &Receiver<Event>) {
    let mut backoff = Backoff::default();
    let mut has_begun = false;
    let mut held: Vec<Event> = Vec::new();
    loop {
        let live = || {
            if std::mem::replace(&mut has_begun, true) {
                writer.rebuild()
            } else {
                writer.begin()
            }
            held.drain(..).for_each(|it| writer.take_up(it));
            writer.run(events);
        };
        let Err(panic) = catch_unwind(AssertUnwindSafe(live)) else { break };
        if writer.publication.is_closing() {
            break;
        }
        let pause = backoff.failed();
        tracing::error!(panic = panic_message(&*panic), ?pause, "the workspace panicked and is rebuilt");
        writer.publication.enter(Phase::Rebuilding);
        if pause <= UNNOTICED {
            thread::sleep(pause);
        } else if refuse_for(pause, events, &mut held).is_break() {
            break;
        }
    }
    writer.publication.enter(Phase::Closed);
}

/// Refuses what comes for so long; what asks nothing is held for later. Breaks when the workspace is closed.
fn refuse_for(pause: Duration, events: &Receiver<Event>, held: &mut Vec<Event>) -> ControlFlow<()> {
    let until = Instant::now() + pause;
    loop {
        match events.recv_deadline(until) {
            Ok(event @ Event::Trust(_)) => held.push(event),
            Ok(event) => event.refuse()?,
            Err(RecvTimeoutError::Timeout) => return ControlFlow::Continue(()),
            Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
        }
    }
}

/// The error for a request while the workspace is rebuilt.
pub(crate) fn rebuilding() -> Error {
    let detail = "the workspace met a fault, which is in the log, and is being built again: ask again in a moment";
    Error::new(Code::NotReady, detail)
}

impl Event {
    /// Nobody is there to handle it. Breaks when it closes the workspace.
    fn refuse(self) -> ControlFlow<()> {
        match self {
            Event::Snapshot { reply, .. } => drop(reply.send(Err(rebuilding()))),
            Event::Change { reply, .. } => drop(reply.send(Err(rebuilding()))),
            Event::FixImports { reply, .. } => drop(reply.send(Err(rebuilding()))),
            Event::PutOverlay { reply, .. } => drop(reply.send(Err(rebuilding()))),
            Event::RemoveOverlay { reply, .. } => drop(reply.send(Err(rebuilding()))),
            Event::Journal { reply } => drop(reply.send(Err(rebuilding()))),
            // The rebuilt workspace looks at everything.
            Event::Wake | Event::Engine(_) | Event::Trust(_) => {}
            Event::Close { reply } => {
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Writer {
    /// What came while nobody was there to handle it.
    fn take_up(&mut self, event: Event) {
        if let Event::Trust(trusted) = event {
            self.set_trust(trusted);
        }
    }

    /// Rebuilds everything that the panic may have left half done. Texts that the disk and the overlays confirm stay,
    /// with their revision and what the engines know of them.
    fn rebuild(&mut self) {
        // A change that the panic interrupted left a mark in the lock file. It is repaired first.
        self.transactions.restart(&self.config.state_dir);
        self.missing.replace("journal", None);
        if !self.transactions.all_ended() {
            self.recover_changes();
        }
        self.bring_engines_in_step();
        if let Err(error) = self.watch() {
            tracing::error!(%error, "the workspace could not be read");
        }
        self.show_overlays();
        self.disk_changes.compare_all();
        if let Err(error) = self.catch_up() {
            tracing::error!(%error, "the next request tries again");
        }
        self.revisions.resume();
        self.start_engines();
        self.take_all_engine_results();
        self.watch_external_modules();
        self.publish();
        self.publication.enter(Phase::Up);
    }
}
