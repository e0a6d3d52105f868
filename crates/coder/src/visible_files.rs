//! The files of a workspace at one revision that a model may see: their texts without secrets, and the files that are
//! relevant for a task.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use semdex_engine::files::{File, Files};
use semdex_ops::redaction::{self, Secrets, redact};
use semdex_text::words::occurrences;

/// How many words of a task are searched.
const MOST_WORDS: usize = 200;
/// A word in more files than this is ignored.
const MOST_FILES_OF_A_WORD: usize = 40;

pub(crate) struct VisibleFiles {
    pub files: Arc<Files>,
    secrets: Secrets,
}

impl VisibleFiles {
    pub(crate) fn new(files: Arc<Files>, root: &Path) -> VisibleFiles {
        let secrets = Secrets::new(&files, root);
        VisibleFiles { files, secrets }
    }

    /// Whether a file must be neither shown nor edited.
    pub(crate) fn hides(&self, file: &str) -> bool {
        self.secrets.hides(file, self.is_code(file))
    }

    fn is_code(&self, file: &str) -> bool {
        redaction::is_code(self.files.languages(), file)
    }

    /// A visible file.
    pub(crate) fn get(&self, file: &str) -> Option<&Arc<File>> {
        self.files.get(file).filter(|it| !self.hides(&it.path))
    }

    /// The text of a file with secrets replaced.
    pub(crate) fn text(&self, file: &File) -> String {
        redact(&file.text, self.is_code(&file.path))
    }

    /// The skeleton of a file with secrets replaced, if its language is known.
    pub(crate) fn skeleton(&self, file: &File) -> Option<String> {
        let is_code = file.language.is_some() && !file.is_too_deep();
        is_code.then(|| redact(&file.outline().skeleton, self.is_code(&file.path)))
    }

    /// The size of all relevant visible texts, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.files.iter().filter(|it| it.language.is_some()).map(|it| it.text.len()).sum()
    }

    /// The files that a task names by their paths or by ends of paths.
    pub(crate) fn named_by(&self, task: &str) -> Vec<String> {
        let mut named = BTreeSet::new();
        for word in task.split(|it: char| it.is_whitespace() || "`'\"(),;".contains(it)) {
            let word = word.trim_end_matches(['.', ':', '?', '!']).trim_start_matches("./");
            // `src/lib.rs:12`.
            let word = word.split(':').next().unwrap_or_default();
            if !word.contains(['.', '/']) || word.len() < 3 {
                continue;
            }
            let end = format!("/{word}");
            let fitting: Vec<_> = self.files.iter().filter(|it| *it.path == *word || it.path.ends_with(&end)).collect();
            // An end that matches many paths names none of them.
            if fitting.len() <= 3 {
                named.extend(fitting.into_iter().filter(|it| !self.hides(&it.path)).map(|it| it.path.to_string()));
            }
        }
        named.into_iter().collect()
    }

    /// Files that may be relevant for a task, the most likely first: files that declare what it names, then files that
    /// mention it, then all other code.
    pub(crate) fn candidates(&self, task: &str, ranked: &[String]) -> Vec<Arc<File>> {
        let words: BTreeSet<&str> = task
            .split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .filter(|it| it.len() >= 4 || it.contains('_'))
            .take(MOST_WORDS)
            .collect();
        let shown: Vec<&Arc<File>> =
            self.files.iter().filter(|it| is_worth_showing(it) && !self.hides(&it.path)).collect();
        let mut scores: BTreeMap<&str, f64> = BTreeMap::new();
        for word in words {
            let stands = |it: &&&Arc<File>| occurrences(&it.text, word).next().is_some();
            let fitting: Vec<_> = shown.iter().filter(stands).take(MOST_FILES_OF_A_WORD + 1).collect();
            if fitting.len() > MOST_FILES_OF_A_WORD {
                continue;
            }
            let weight = 1.0 / (fitting.len() as f64).sqrt();
            for file in fitting {
                let declares = declares(file, word);
                *scores.entry(&file.path).or_default() += if declares { 8.0 * weight } else { weight };
            }
        }
        let count = ranked.len().max(1) as f64;
        for (at, file) in ranked.iter().enumerate() {
            *scores.entry(file).or_default() += 4.0 * (1.0 - at as f64 / count);
        }
        let score = |it: &Arc<File>| scores.get(&*it.path).copied().unwrap_or_default();
        let mut candidates: Vec<Arc<File>> = shown.into_iter().cloned().collect();
        candidates.sort_by(|a, b| {
            let by_score = score(b).total_cmp(&score(a));
            by_score.then_with(|| a.language.is_none().cmp(&b.language.is_none())).then_with(|| a.path.cmp(&b.path))
        });
        candidates
    }
}

fn declares(file: &File, word: &str) -> bool {
    if file.language.is_none() || file.is_too_deep() {
        return false;
    }
    let mut found = false;
    for item in &file.outline().items {
        item.walk(&mut |it| found |= it.name == word);
    }
    found
}

/// Lock files, minified and generated files are text without use for a model.
fn is_worth_showing(file: &File) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let is_lock = name.ends_with(".lock")
        || name.ends_with(".sum")
        || name.ends_with("-lock.json")
        || name.ends_with("-lock.yaml");
    let is_minified = name.contains(".min.") || name.ends_with(".map") || name.ends_with(".svg");
    let is_generated = file.text.lines().take(5).any(|it| it.contains("DO NOT EDIT") || it.contains("@generated"));
    !is_lock && !is_minified && !is_generated && file.text.len() < 512 << 10
}
