//! Changes on the disk that the texts do not have yet: what the watcher reports, and what has to be compared again.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::watch::{DEBOUNCE_LIMIT, Gaps, Seen, Watcher, walk};
use semdex_fs::Tree;

/// How long the file system may take to report what has happened.
const BARRIER: Duration = Duration::from_secs(2);

/// The watcher, and the changes that are outstanding.
#[derive(Default)]
pub(super) struct DiskChanges {
    /// `None` where the workspace cannot be watched.
    watcher: Option<Watcher>,
    /// Files that could not be read. They are compared again before the next answer.
    unread: BTreeSet<PathBuf>,
    /// All files have to be compared, since the last such comparison failed or other files are read than before.
    compares_all: bool,
    /// The directories that were passed over when all files were listed without a watcher.
    walked: Gaps,
    /// When the watcher reported the first change that was not taken yet.
    reported_at: Option<Instant>,
}

impl DiskChanges {
    /// Begins to watch these trees, in place of those before, and returns their files.
    pub(super) fn watch(
        &mut self,
        trees: &[Tree],
        cookies: &Path,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Vec<PathBuf>> {
        let (watcher, found) = Watcher::start(trees, cookies, wake)?;
        self.watcher = Some(watcher);
        Ok(found)
    }

    /// Ends the watcher.
    pub(super) fn stop_watching(&mut self) {
        self.watcher = None;
    }

    /// Watches one more tree and returns its files. Without a watcher it only lists them.
    pub(super) fn watch_also(&mut self, tree: &Tree) -> io::Result<Vec<PathBuf>> {
        match &mut self.watcher {
            Some(watcher) => watcher.add_root(tree),
            None => walk(tree),
        }
    }

    /// All files of the watched trees, with new watches. `None` without a watcher.
    pub(super) fn rescan(&mut self) -> Option<io::Result<Vec<PathBuf>>> {
        self.watcher.as_mut().map(Watcher::rescan)
    }

    /// Why every answer compares all files although there is a watcher. `None` where watching works.
    pub(super) fn obstacle(&self) -> Option<String> {
        self.watcher.as_ref().and_then(Watcher::lacks)
    }

    /// The symbolic links among the watched files.
    pub(super) fn links(&self) -> impl Iterator<Item = &Path> {
        self.watcher.iter().flat_map(|it| it.links())
    }

    /// The directories that are passed over, though they may contain code.
    pub(super) fn gaps(&self) -> &Gaps {
        self.watcher.as_ref().map_or(&self.walked, Watcher::gaps)
    }

    /// Whether a directory came, went or was renamed since the last call. `true` without a watcher, which would notice.
    pub(super) fn take_moved(&mut self) -> bool {
        self.watcher.as_mut().is_none_or(Watcher::take_moved)
    }

    /// Without a watcher, these directories were passed over.
    pub(super) fn note_gaps(&mut self, gaps: Gaps) {
        self.walked = gaps;
    }

    /// Everything that anyone changed before this call.
    pub(super) fn barrier(&mut self) -> Seen {
        match &mut self.watcher {
            Some(watcher) => watcher.barrier(BARRIER).unwrap_or(Seen::Rescan),
            None => Seen::Rescan,
        }
    }

    /// The changes that have arrived so far. `None` without a watcher.
    pub(super) fn drain(&mut self) -> Option<Seen> {
        self.watcher.as_mut().map(Watcher::drain)
    }

    /// The watcher has reported a change.
    pub(super) fn note_report(&mut self) {
        self.reported_at.get_or_insert_with(Instant::now);
    }

    /// The reported changes are taken.
    pub(super) fn clear_report(&mut self) {
        self.reported_at = None;
    }

    /// Whether the watcher has reported a change that was not taken yet.
    pub(super) fn is_reported(&self) -> bool {
        self.reported_at.is_some()
    }

    /// Whether a reported change has waited for the disk to become quiet for too long.
    pub(super) fn is_overdue(&self) -> bool {
        self.reported_at.is_some_and(|it| it.elapsed() > DEBOUNCE_LIMIT)
    }

    /// These files are compared again before the next answer.
    pub(super) fn retry(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.unread.extend(paths);
    }

    /// The files that have to be compared again. They count as taken.
    pub(super) fn take_unread(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.unread)
    }

    /// All files are compared before the next answer.
    pub(super) fn compare_all(&mut self) {
        self.compares_all = true;
    }

    /// All files were compared.
    pub(super) fn note_all_compared(&mut self) {
        self.compares_all = false;
        self.unread.clear();
    }

    /// Whether all files have to be compared.
    pub(super) fn compares_all(&self) -> bool {
        self.compares_all
    }
}
