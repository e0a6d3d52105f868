//! How the writer puts, edits and removes overlays, and ends those whose time is over.

use std::sync::Arc;
use std::time::Instant;

use super::Writer;
use crate::change::{Cause, with_edits};
use crate::overlays::{MOST_BYTES, Overlay, Put, Shown};
use crate::{disk, journal};
use semdex_engine::files::{File, Files};
use semdex_model::{Code, Error, FileEdit, Help, Result};

impl Writer {
    pub(super) fn put_overlay(&mut self, put: Put) -> Result<Shown> {
        self.catch_up()?;
        let file = self.disk.locate(&put.file)?.rel;
        let wrong = |code, what: &str| {
            let help = Help { file: Some(file.clone()), ..Help::default() };
            Err(Error::new(code, format!("`{file}`: {what}")).with_help(help))
        };
        if disk::text_of(put.content.as_bytes()).is_none() {
            return wrong(Code::NotText, "the content has a NUL character: only text is taken");
        }
        if put.content.len() > disk::MOST_BYTES {
            return wrong(Code::TooLarge, "the content is larger than 10 MiB");
        }
        let by_name = self.engines.registry().kinds().iter().find_map(|it| it.reader_of(&file));
        if let Some(reader) = by_name.or_else(|| self.engines.running().find_map(|it| it.reader_of(&file))) {
            let what = format!(
                "{reader} reads it from the disk and would not see an overlay, so answers would be wrong: write it"
            );
            return wrong(Code::InvalidContent, &what);
        }
        let others: usize = self.overlays.values().filter(|it| it.file != file).map(|it| it.text.len()).sum();
        if others + put.content.len() > MOST_BYTES {
            return wrong(Code::TooLarge, "all overlays together may have 64 MiB: take others away first");
        }
        let text: Arc<str> = Arc::from(put.content);
        let milliseconds = i64::try_from(put.lives.as_millis()).unwrap_or(i64::MAX);
        let overlay = Overlay {
            file: file.clone(),
            hash: blake3::hash(text.as_bytes()),
            edits: put.edits,
            ends_at: journal::now().saturating_add(milliseconds),
            text: text.clone(),
            ends: Instant::now() + put.lives,
        };
        let old = self.files.get(&file).cloned();
        Arc::make_mut(&mut self.overlays).insert(file.clone(), overlay.clone());
        self.show(&file, Some(Arc::new(self.files.file(&file, text).as_overlay())));
        let old_hash = old.map(|it| it.hash.to_hex().to_string());
        Ok(Shown { overlay, old_hash, revision: self.revisions.current() })
    }

    pub(super) fn remove_overlay(&mut self, file: &str) -> Result<Shown> {
        self.catch_up()?;
        let file = self.disk.locate(file)?.rel;
        let Some(overlay) = Arc::make_mut(&mut self.overlays).remove(&file) else {
            let help = Help { file: Some(file.clone()), ..Help::default() };
            return Err(Error::new(Code::UnknownFile, format!("`{file}` has no overlay")).with_help(help));
        };
        self.show_disk(&file);
        let old_hash = Some(overlay.hash.to_hex().to_string());
        Ok(Shown { overlay, old_hash, revision: self.revisions.current() })
    }

    /// Those whose time is over go.
    pub(super) fn end_overlays(&mut self) {
        if self.overlays.is_empty() {
            return;
        }
        let now = Instant::now();
        let over: Vec<String> = self.overlays.values().filter(|it| it.ends <= now).map(|it| it.file.clone()).collect();
        for file in over {
            tracing::info!(file, "the overlay's time is over");
            Arc::make_mut(&mut self.overlays).remove(&file);
            self.show_disk(&file);
        }
    }

    /// An edit of overlays: they have these contents now.
    pub(super) fn edit_overlays(&mut self, edits: &[FileEdit], after: Arc<Files>) {
        let overlays = Arc::make_mut(&mut self.overlays);
        for edit in edits {
            if let (Some(overlay), Some(new)) = (overlays.get_mut(&edit.file), &edit.new) {
                overlay.hash = blake3::hash(new.as_bytes());
                overlay.text = new.clone();
            }
        }
        self.apply(edits, after, Cause::Overlay);
    }

    /// Where a panic came between, each overlay is seen again, and nothing of those that are gone.
    pub(super) fn show_overlays(&mut self) {
        let overlays = self.overlays.clone();
        for overlay in overlays.values() {
            if self.files.get(&overlay.file).is_none_or(|it| !it.overlay || it.hash != overlay.hash) {
                let shown = self.files.file(&overlay.file, overlay.text.clone()).as_overlay();
                self.show(&overlay.file, Some(Arc::new(shown)));
            }
        }
        let is_gone = |it: &&Arc<File>| it.overlay && !overlays.contains_key(&*it.path);
        let gone: Vec<String> = self.files.iter().filter(is_gone).map(|it| it.path.to_string()).collect();
        gone.iter().for_each(|it| self.show_disk(it));
    }

    /// What the disk has of a file is seen again.
    fn show_disk(&mut self, file: &str) {
        let now = self.read_or_retry(&self.disk.root().join(file));
        self.show(file, now.map(|text| Arc::new(self.files.file(file, text))));
    }

    fn show(&mut self, file: &str, now: Option<Arc<File>>) {
        let old = self.files.get(file).map(|it| it.text.clone());
        let edit = FileEdit { file: file.to_owned(), old, new: now.as_ref().map(|it| it.text.clone()) };
        let mut after = (*self.files).clone();
        match now {
            Some(file) => drop(after.insert(file)),
            None => drop(after.remove(file)),
        }
        let edits = self.with_other_names(&[edit]);
        let after = with_edits(&Arc::new(after), edits.get(1..).unwrap_or_default());
        self.apply(&edits, after, Cause::Overlay);
    }
}
