//! What the writer has done in the background, or does while nobody waits.

use std::time::Duration;

use super::engines::RustNews;
use super::writer::{Event, Writer};
use crate::lang::rust::engine::Rust;

/// After so long without an event what no answer needs any more is freed.
const GARBAGE_AFTER: Duration = Duration::from_secs(30);

impl Writer {
    pub(super) fn idle(&mut self, quiet: Duration) {
        let Some(rust) = &mut self.rust else { return };
        let (inbox, life, files) = (self.inbox.clone(), self.rust_lives.number(), self.files.clone());
        if rust.needs_priming() && !self.is_priming {
            let tell = move |ended| drop(inbox.send(Event::Rust(life, RustNews::Primed(ended))));
            self.is_priming = self.with_rust(|it| it.prime(tell)).unwrap_or_default();
        } else if self.has_garbage && quiet > GARBAGE_AFTER {
            self.has_garbage = !self.with_rust(Rust::collect_garbage).unwrap_or(true);
        } else if self.is_full {
            self.is_full = !self.with_rust(Rust::evict).unwrap_or(true);
        } else if rust.needs_second() {
            let tell = move |made| drop(inbox.send(Event::Rust(life, RustNews::Second(Box::new(made)))));
            self.with_rust(|it| it.make_second(files, tell));
        }
    }

    pub(super) fn is_second_behind(&self) -> bool {
        self.rust.as_ref().is_some_and(|it| it.is_second_behind())
    }

    pub(super) fn needs_indexing(&self) -> bool {
        !self.is_indexing && !self.is_priming && self.rust.as_ref().is_some_and(|it| it.needs_indexing())
    }

    pub(super) fn index(&mut self) {
        self.has_garbage = true;
        let (inbox, life, files) = (self.inbox.clone(), self.rust_lives.number(), self.files.clone());
        let tell = move |ended| drop(inbox.send(Event::Rust(life, RustNews::Indexed(ended))));
        self.is_indexing = self.with_rust(|it| it.index(files, tell)).unwrap_or_default();
    }
}
