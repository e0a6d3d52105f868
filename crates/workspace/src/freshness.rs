//! How the writer learns what others did: the barrier, and comparing the texts with what stands on the disk.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::change::{Cause, with_edits};
use super::disk;
use super::open_trees::OpenTrees;
use super::watch::{Seen, Watcher, walk};
use super::writer::Writer;
use semdex_engine::files::Files;
use semdex_fs::Tree;
use semdex_model::{Code, Error, FileEdit, Missing, MissingCode, Result};

/// How long the file system may take to tell what has happened.
const BARRIER: Duration = Duration::from_secs(2);

impl Writer {
    /// The barrier: whatever anyone finished on the disk before this call is in the texts after it.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        self.end_overlays();
        self.follow_settings();
        let seen = match &mut self.watcher {
            Some(watcher) => watcher.barrier(BARRIER).unwrap_or(Seen::Rescan),
            None => Seen::Rescan,
        };
        self.take(seen)?;
        self.follow_links();
        self.follow_named();
        self.check_environment();
        Ok(())
    }

    /// What the watcher has heard, before anybody asks.
    pub(super) fn take_news(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            let seen = watcher.drain();
            if let Err(error) = self.take(seen) {
                tracing::error!(%error, "the next request tries again");
            }
        }
    }

    fn take(&mut self, seen: Seen) -> Result<()> {
        self.news_since = None;
        let (edits, looked_at, is_all) = match seen {
            Seen::Paths(mut paths) if !self.compares_all => {
                self.has_to_find_links |= !paths.is_empty();
                paths.append(&mut self.unread);
                let sources = self.split_sources_outside(&mut paths);
                if let Err(error) = self.compare_sources_outside(sources.clone(), false) {
                    self.unread.append(&mut paths);
                    return Err(error);
                }
                self.check_touched_file(&sources);
                let outside = self.split_outside(&mut paths, false);
                self.take_outside(outside);
                self.check_touched_file(&paths);
                if let Err(error) = self.follow_nameless(&mut paths, false) {
                    self.unread.append(&mut paths);
                    return Err(error);
                }
                if paths.is_empty() {
                    return Ok(());
                }
                // What cannot be read now is looked at again before the next answer.
                match self.compare(&paths) {
                    Ok(edits) => (edits, paths, false),
                    Err(error) => {
                        self.unread = paths;
                        return Err(error);
                    }
                }
            }
            _ => {
                self.compares_all = true;
                self.has_to_find_links = true;
                let (edits, listed) = self.compare_all()?;
                self.compares_all = false;
                self.unread.clear();
                (edits, listed, true)
            }
        };
        self.take_edits(&edits, &looked_at, is_all);
        Ok(())
    }

    /// Brings in what differs at these paths, and which files there are no texts.
    fn take_edits(&mut self, edits: &[FileEdit], looked_at: &BTreeSet<PathBuf>, is_all: bool) {
        let after = if edits.is_empty() { self.files.clone() } else { with_edits(&self.files, edits) };
        let left_out = self.left_out_after(&after, looked_at, is_all);
        let is_news = left_out.is_some();
        let after = match left_out {
            Some(now) => Arc::new(Files::clone(&after).with_unindexed_files(now)),
            None => after,
        };
        if !edits.is_empty() {
            self.apply(edits, after, Cause::Outside);
        } else if is_news {
            // No text has changed, and answers are complete no more, or again.
            self.files = after;
            self.note_change_outside();
            self.publish();
        }
    }

    /// Reads what stands at these paths now. A path that is no file stands for everything known below it.
    fn compare(&self, paths: &BTreeSet<PathBuf>) -> Result<Vec<FileEdit>> {
        let mut edits = Vec::new();
        let mut seen = BTreeSet::new();
        let mut trees = OpenTrees::default();
        for path in paths {
            let text = self.read_with(&mut trees, path)?;
            self.differs(self.name_of(path), text, &mut seen, &mut edits);
            // It may have been a directory, or be one that was moved here.
            let name = self.name_of(path);
            let below: Vec<String> = self.files.below(&name).map(|it| it.path.to_string()).collect();
            for name in below {
                let text = self.read_with(&mut trees, &self.absolute(&name))?;
                self.differs(name, text, &mut seen, &mut edits);
            }
        }
        Ok(edits)
    }

    /// The same of all files, with these.
    fn compare_all(&mut self) -> Result<(Vec<FileEdit>, BTreeSet<PathBuf>)> {
        self.telemetry.rescans.up();
        let listed = match &mut self.watcher {
            Some(watcher) => watcher.rescan(),
            None => self.walk_all(),
        };
        self.note_watching();
        let listed = listed.map_err(|error| {
            tracing::error!(%error, "the workspace could not be read again");
            Error::new(
                Code::NotReady,
                "the workspace's files cannot be read at the moment, so no answer could be true: ask again",
            )
        })?;
        let mut listed: BTreeSet<PathBuf> = listed.into_iter().collect();
        let sources = self.split_sources_outside(&mut listed);
        self.compare_sources_outside(sources, true)?;
        let outside = self.split_outside(&mut listed, true);
        self.take_outside(outside);
        self.follow_nameless(&mut listed, true)?;
        let mut edits = Vec::new();
        let mut seen = BTreeSet::new();
        let mut trees = OpenTrees::default();
        for path in &listed {
            if let Some(text) = self.read_with(&mut trees, path)? {
                self.differs(self.name_of(path), Some(text), &mut seen, &mut edits);
            }
        }
        let gone: Vec<String> =
            self.files.iter().filter(|it| !seen.contains(&*it.path)).map(|it| it.path.to_string()).collect();
        for name in gone {
            self.differs(name, None, &mut seen, &mut edits);
        }
        Ok((edits, listed))
    }

    /// All files of the workspace and of its sources outside, where nothing can be watched.
    fn walk_all(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = walk(self.disk.tree())?;
        for root in &self.outside_roots {
            files.extend(walk(&self.outside_tree(root))?);
        }
        Ok(files)
    }

    /// Whether changes are heard of, or have to be looked for, is part of the status.
    pub(super) fn note_watching(&mut self) {
        self.missing.retain(|it| it.scope.as_deref() != Some("watcher"));
        if let Some(lack) = self.watcher.as_ref().and_then(Watcher::lacks) {
            let detail = format!("{lack}; so every request compares the whole workspace with the disk");
            self.missing.push(Missing::new(MissingCode::TooMany, "watcher", detail));
        }
    }

    fn differs(&self, name: String, text: Option<Arc<str>>, seen: &mut BTreeSet<String>, edits: &mut Vec<FileEdit>) {
        // What the disk has under an overlay is not seen before that goes.
        // What is read only because it is named is followed by itself.
        let is_named = text.is_none() && self.named.holds(&name);
        if is_named || !seen.insert(name.clone()) || self.overlays.contains_key(&name) {
            return;
        }
        let old = self.files.get(&name).map(|it| it.text.clone());
        if old != text {
            edits.push(FileEdit { file: name, old, new: text });
        }
    }

    /// A file's text; `None` for what is no text, too large, gone, or no file of the workspace. That it cannot be read
    /// just now (a failing disk, no file descriptors left) does not mean that it is gone.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Arc<str>>> {
        self.read_with(&mut OpenTrees::default(), path)
    }

    /// The same for one file of many.
    pub(super) fn read_with(&self, trees: &mut OpenTrees, path: &Path) -> Result<Option<Arc<str>>> {
        let bytes = self.read_bytes(trees, path)?;
        Ok(bytes.as_deref().and_then(disk::text_of).map(Arc::from))
    }

    /// A file's content; `None` for what is too large, gone, or no file of the workspace or outside.
    pub(super) fn read_bytes(&self, trees: &mut OpenTrees, path: &Path) -> Result<Option<Vec<u8>>> {
        let most = usize::try_from(self.settings.max_file_bytes).unwrap_or(usize::MAX);
        trees.of(&self.tree_of(path)).and_then(|it| it.read(path, most)).map_err(|error| {
            tracing::error!(%error, path = %path.display(), "a file cannot be read");
            let detail = format!(
                "`{}` cannot be read at the moment ({error}), so no answer could be true: ask again",
                self.name_of(path)
            );
            Error::new(Code::NotReady, detail)
        })
    }

    pub(super) fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    fn absolute(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn tree_of(&self, path: &Path) -> Tree {
        match self.source_outside(path) {
            Some(root) => self.outside_tree(root),
            None => self.disk.tree().clone(),
        }
    }

    /// A directory outside of the root.
    pub(super) fn outside_tree(&self, root: &Path) -> Tree {
        Tree::named(root.to_path_buf(), self.disk.tree().forbidden().clone())
    }
}
