//! Which source files of the workspace are no texts: they are not UTF-8, or larger than files are read. Engines are not given
//! them, and are told which they are.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

use super::open_trees::OpenTrees;
use super::writer::Writer;
use semdex_engine::files::Files;
use semdex_engine::unindexed::{UnindexedFile, UnindexedFiles, UnindexedReason};
use semdex_fs::FileStamp;

impl Writer {
    /// Before there are engines: notes which of all these files have no text.
    pub(super) fn begin_left_out(&mut self, listed: &BTreeSet<PathBuf>) {
        if let Some(left_out) = self.left_out_after(&self.files, listed, true) {
            self.files = Arc::new(Files::clone(&self.files).with_unindexed_files(left_out));
        }
    }

    /// The files that are no texts once the texts are those `after`; nothing where they are as before. Looks at these
    /// paths, which were read just now, and at those known below them. `is_all`: there are no others.
    pub(super) fn left_out_after(
        &self,
        after: &Files,
        paths: &BTreeSet<PathBuf>,
        is_all: bool,
    ) -> Option<Arc<UnindexedFiles>> {
        let known = self.files.unindexed_files();
        let mut names: BTreeSet<Arc<str>> = paths.iter().map(|it| Arc::from(self.name_of(it))).collect();
        let others: Vec<Arc<str>> = match is_all {
            true => known.keys().cloned().collect(),
            false => names.iter().flat_map(|it| below(known, it)).collect(),
        };
        names.extend(others);
        let mut trees = OpenTrees::default();
        let mut now: Option<UnindexedFiles> = None;
        for name in names {
            let before = known.get(&name);
            match (before, self.left_out_at(&mut trees, after, &name)) {
                (None, None) => {}
                (Some(before), Some(found)) if Arc::ptr_eq(before, &found) => {}
                (_, Some(found)) => drop(now.get_or_insert_with(|| known.clone()).insert(name, found)),
                (Some(_), None) => drop(now.get_or_insert_with(|| known.clone()).remove(&name)),
            }
        }
        now.map(Arc::new)
    }

    /// The file of this name, if it is there, is of a language by its name, and is no text.
    fn left_out_at(&self, trees: &mut OpenTrees, after: &Files, name: &Arc<str>) -> Option<Arc<UnindexedFile>> {
        self.registry.languages().of(name)?;
        let path = self.root.join(&**name);
        let is_text = match self.overlays.contains_key(&**name) {
            // What the disk has under it.
            true => self.read_with(trees, &path).ok()?.is_some(),
            false => after.get(name).is_some(),
        };
        if is_text {
            return None;
        }
        let before = self.files.unindexed_files().get(name);
        let stamp = FileStamp::at(&path);
        let tree = self.disk.tree();
        // What cannot be asked just now is as it was.
        let Ok(size) = trees.of(tree).and_then(|it| it.size(&path)) else { return before.cloned() };
        let why = match size? > self.settings.max_file_bytes {
            true => UnindexedReason::TooLarge,
            false => UnindexedReason::NotText,
        };
        let same = before.filter(|it| !it.may_differ(why, &stamp)).cloned();
        Some(same.unwrap_or_else(|| Arc::new(UnindexedFile::new(name.clone(), why, tree.clone(), stamp))))
    }
}

/// The names in a directory.
fn below(known: &UnindexedFiles, directory: &str) -> Vec<Arc<str>> {
    let prefix = format!("{directory}/");
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let all = known.range::<str, _>(from).map(|(name, _)| name.clone());
    all.take_while(|it| it.starts_with(&prefix)).collect()
}
