//! What the writer has done in the background, or does while nobody waits.

use std::time::Duration;

use super::writer::{Event, Writer};
use crate::lang::rust::engine::Rust;

/// After so long without an event what no answer needs any more is freed.
const GARBAGE_AFTER: Duration = Duration::from_secs(30);

impl Writer {
    pub(super) fn idle(&mut self, quiet: Duration) {
        let Some(rust) = &mut self.rust else { return };
        if rust.needs_priming() && !self.is_priming {
            self.is_priming = true;
            let inbox = self.inbox.clone();
            rust.prime(move |finished| drop(inbox.send(Event::RustPrimed(finished))));
        } else if self.has_garbage && quiet > GARBAGE_AFTER {
            self.has_garbage = !rust.collect_garbage();
        } else if self.is_full {
            self.is_full = !rust.evict();
        } else if rust.needs_second() {
            let inbox = self.inbox.clone();
            rust.make_second(self.files.clone(), move |made| drop(inbox.send(Event::RustSecond(Box::new(made)))));
        }
    }

    pub(super) fn is_second_behind(&self) -> bool {
        self.rust.as_ref().is_some_and(Rust::is_second_behind)
    }

    pub(super) fn needs_indexing(&self) -> bool {
        !self.is_indexing && !self.is_priming && self.rust.as_ref().is_some_and(Rust::needs_indexing)
    }

    pub(super) fn index(&mut self) {
        let Some(rust) = &mut self.rust else { return };
        self.is_indexing = true;
        self.has_garbage = true;
        let inbox = self.inbox.clone();
        rust.index(self.files.clone(), move |finished| drop(inbox.send(Event::RustIndexed(finished))));
    }
}
