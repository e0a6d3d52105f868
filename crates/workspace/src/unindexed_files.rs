//! Unindexed files: files of the workspace that have no text in it. Source files that are not UTF-8 or too large, and
//! links out of the workspace, are reported to the engines. A file whose name is not UTF-8 cannot be named by a request or shown by an answer; answers
//! that could contain something of it report that.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::Disk;
use crate::file_reader::FileReader;
use crate::git;
use crate::overlays::Overlays;
use semdex_engine::Registry;
use semdex_engine::files::Files;
use semdex_engine::unindexed::{UnindexedFile, UnindexedFiles, UnindexedReason};
use semdex_fs::FileStamp;
use semdex_model::{LanguageId, Languages, Missing, MissingCode, Result};

/// The scope under which files without a UTF-8 name are reported.
pub(super) const NAMES_SCOPE: &str = "names";
/// At most this many are reported by name.
const MOST_SHOWN: usize = 5;

/// Text files below the root whose names are not UTF-8.
#[derive(Default)]
pub(super) struct NonUtf8Names(BTreeSet<PathBuf>);

impl NonUtf8Names {
    /// Removes such files from `paths` and returns all such files as they are now; `None` if they are as before. Looks
    /// at the removed ones and at those known below one of the paths. `is_all`: the paths are all files that exist.
    pub(super) fn after(
        &self,
        paths: &mut BTreeSet<PathBuf>,
        is_all: bool,
        root: &Path,
        reader: &mut FileReader<'_>,
    ) -> Result<Option<NonUtf8Names>> {
        let has_other_name = |it: &Path| it.strip_prefix(root).is_ok_and(|below| below.to_str().is_none());
        let is_checked = |it: &&PathBuf| is_all || it.ancestors().any(|above| paths.contains(above));
        let known = self.0.iter().filter(is_checked);
        let checked: BTreeSet<PathBuf> = known.chain(paths.iter().filter(|it| has_other_name(it))).cloned().collect();
        if checked.is_empty() {
            return Ok(None);
        }
        let mut now = self.0.clone();
        for path in &checked {
            match reader.read(path)? {
                Some(_) => now.insert(path.clone()),
                None => now.remove(path),
            };
        }
        paths.retain(|it| !has_other_name(it));
        Ok((now != self.0).then_some(NonUtf8Names(now)))
    }

    /// What answers about a language miss for these files; of all languages without one. `None` where nothing is
    /// missing.
    pub(super) fn missing(&self, language: Option<LanguageId>, languages: &Languages, root: &Path) -> Option<Missing> {
        let concerns = |it: &&PathBuf| language.is_none() || languages.of(&it.to_string_lossy()) == language;
        let escaped = |it: &PathBuf| git::escaped(it.strip_prefix(root).unwrap_or(it).as_os_str().as_bytes());
        let names: Vec<String> = self.0.iter().filter(concerns).map(escaped).collect();
        let shown = names.iter().take(MOST_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > MOST_SHOWN { ", …" } else { "" };
        let count = match names.len() {
            0 => return None,
            1 => "1 file has a name that is not UTF-8, and is".to_owned(),
            many => format!("{many} files have names that are not UTF-8, and are"),
        };
        let detail = format!("{count} not looked into: {shown}{more}. Rename what is to be part of the workspace");
        Some(Missing::new(MissingCode::Unsupported, NAMES_SCOPE, detail))
    }
}

/// Finds the source files that have no text.
pub(super) struct UnindexedSearch<'w> {
    /// The texts before the change. They list the unindexed files that are known.
    pub(super) before: &'w Files,
    pub(super) overlays: &'w Overlays,
    pub(super) registry: &'w Registry,
    pub(super) disk: &'w Disk,
    /// Symbolic links, wherever they lead.
    pub(super) links: Vec<PathBuf>,
    pub(super) reader: FileReader<'w>,
}

impl UnindexedSearch<'_> {
    /// The unindexed files once the texts are `after`; `None` if they are as before. Checks these paths, which were
    /// read just now, and the files known below them. `is_all`: the paths are all files that exist.
    pub(super) fn run(mut self, after: &Files, paths: &BTreeSet<PathBuf>, is_all: bool) -> Option<Arc<UnindexedFiles>> {
        let known = self.before.unindexed_files();
        let mut names: BTreeSet<Arc<str>> = paths.iter().map(|it| Arc::from(self.disk.name_of(it))).collect();
        let others: Vec<Arc<str>> = match is_all {
            true => {
                let links = self.links.iter().filter(|it| it.starts_with(self.disk.root()));
                known.keys().cloned().chain(links.map(|it| Arc::from(self.disk.name_of(it)))).collect()
            }
            false => names.iter().flat_map(|it| below(known, it)).collect(),
        };
        names.extend(others);
        let mut now: Option<UnindexedFiles> = None;
        for name in names {
            let before = known.get(&name);
            match (before, self.file_at(after, &name)) {
                (None, None) => {}
                (Some(before), Some(found)) if Arc::ptr_eq(before, &found) => {}
                (_, Some(found)) => drop(now.get_or_insert_with(|| known.clone()).insert(name, found)),
                (Some(_), None) => drop(now.get_or_insert_with(|| known.clone()).remove(&name)),
            }
        }
        now.map(Arc::new)
    }

    /// The file of this name if it exists, is of a language or a manifest by its name, and has no text.
    fn file_at(&mut self, after: &Files, name: &Arc<str>) -> Option<Arc<UnindexedFile>> {
        let is_manifest = || self.registry.kinds().iter().any(|it| it.is_manifest(name));
        if self.registry.languages().of(name).is_none() && !is_manifest() {
            return None;
        }
        let path = self.disk.root().join(&**name);
        let is_text = match self.overlays.contains_key(&**name) {
            // The overlay hides the disk's content, which decides.
            true => self.reader.read(&path).ok()?.is_some(),
            false => after.get(name).is_some(),
        };
        if is_text {
            return None;
        }
        let before = self.before.unindexed_files().get(name);
        let stamp = FileStamp::at(&path);
        // A file whose size cannot be read at the moment counts as unchanged.
        let Ok(size) = self.reader.size(&path) else { return before.cloned() };
        let why = match size {
            None if self.reader.leads_out(&path) => UnindexedReason::Outside,
            None => return None,
            Some(size) if self.reader.is_too_large(size) => UnindexedReason::TooLarge,
            Some(_) if self.reader.is_refused(&path) => UnindexedReason::Refused,
            Some(_) => UnindexedReason::NotText,
        };
        let same = before.filter(|it| !it.may_differ(why, &stamp)).cloned();
        let tree = self.disk.tree().clone();
        Some(same.unwrap_or_else(|| Arc::new(UnindexedFile::new(name.clone(), why, tree, stamp))))
    }
}

/// The names in a directory.
fn below(known: &UnindexedFiles, directory: &str) -> Vec<Arc<str>> {
    let prefix = format!("{directory}/");
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let all = known.range::<str, _>(from).map(|(name, _)| name.clone());
    all.take_while(|it| it.starts_with(&prefix)).collect()
}
