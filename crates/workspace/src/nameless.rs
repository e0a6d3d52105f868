//! Files whose names are not UTF-8. No request can name them and no answer show them, so they are no texts of the
//! workspace; answers that could hold something of them say so.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::git;
use super::open_trees::OpenTrees;
use super::writer::Writer;
use semdex_model::{LanguageId, Missing, MissingCode, Result};

/// The scope under which they are reported.
const SCOPE: &str = "names";
/// So many are reported by name.
const MOST_SHOWN: usize = 5;

impl Writer {
    /// Takes such files from these paths and looks at them, and at those known below a path. True if others are there
    /// than before. `is_all`: the paths are all that there are.
    pub(super) fn find_nameless(&mut self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Result<bool> {
        let is_nameless = |it: &Path| it.strip_prefix(&self.root).is_ok_and(|below| below.to_str().is_none());
        let is_looked_at = |it: &&PathBuf| is_all || it.ancestors().any(|above| paths.contains(above));
        let known = self.nameless.iter().filter(is_looked_at);
        let looked_at: BTreeSet<PathBuf> = known.chain(paths.iter().filter(|it| is_nameless(it))).cloned().collect();
        if looked_at.is_empty() {
            return Ok(false);
        }
        let mut now = self.nameless.clone();
        let mut trees = OpenTrees::default();
        for path in &looked_at {
            match self.read_with(&mut trees, path)? {
                Some(_) => now.insert(path.clone()),
                None => now.remove(path),
            };
        }
        paths.retain(|it| !is_nameless(it));
        if now == self.nameless {
            return Ok(false);
        }
        self.nameless = now;
        self.missing.retain(|it| it.scope.as_deref() != Some(SCOPE));
        self.missing.extend(self.lack_of_names(None));
        Ok(true)
    }

    /// The same, and a revision of its own where others are there than before: no text has changed, and answers are
    /// complete no more, or again.
    pub(super) fn follow_nameless(&mut self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        if self.find_nameless(paths, is_all)? {
            self.note_change_outside();
            self.publish();
        }
        Ok(())
    }

    /// What answers about a language lack for it, or about all of them.
    pub(super) fn lack_of_names(&self, language: Option<LanguageId>) -> Option<Missing> {
        let languages = self.registry.languages();
        let concerns = |it: &&PathBuf| language.is_none() || languages.of(&it.to_string_lossy()) == language;
        let names: Vec<String> = self.nameless.iter().filter(concerns).map(|it| self.shown(it)).collect();
        let shown = names.iter().take(MOST_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > MOST_SHOWN { ", …" } else { "" };
        let count = match names.len() {
            0 => return None,
            1 => "1 file has a name that is not UTF-8, and is".to_owned(),
            many => format!("{many} files have names that are not UTF-8, and are"),
        };
        let detail = format!("{count} not looked into: {shown}{more}. Rename what is to be part of the workspace");
        Some(Missing::new(MissingCode::Unsupported, SCOPE, detail))
    }

    fn shown(&self, path: &Path) -> String {
        git::escaped(path.strip_prefix(&self.root).unwrap_or(path).as_os_str().as_bytes())
    }
}
