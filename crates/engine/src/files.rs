//! The texts of a workspace at one revision: what every engine and every answer speaks of.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, OnceLock};

use crate::unindexed::{UnindexedFile, UnindexedFiles};
use crate::unpoisoned;
use semdex_model::{LanguageId, Languages, Outline, ReferencedFile};
use semdex_text::lines::LineIndex;
use semdex_text::terms::Terms;
use semdex_text::words::WordTable;

/// Outlines that are kept for the next file of the same text.
const MOST_RECENT: usize = 8;

/// One file's content. Immutable; a change makes a new one.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: Arc<str>,
    /// UTF-8, with the line ends and the byte order mark that the file has.
    pub text: Arc<str>,
    /// BLAKE3 of the bytes.
    pub hash: blake3::Hash,
    /// None for a text that no engine analyses.
    pub language: Option<LanguageId>,
    /// It stands before what the disk has.
    pub overlay: bool,
    lines: OnceLock<LineIndex>,
    outline: OnceLock<Arc<Outline>>,
    words: OnceLock<WordTable>,
    terms: OnceLock<Terms>,
    is_too_deep: OnceLock<bool>,
    referenced_files: OnceLock<Vec<ReferencedFile>>,
}

impl File {
    /// A file as the disk has it; [`File::as_overlay`] makes it an overlay.
    pub fn new(language: Option<LanguageId>, path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> File {
        let text: Arc<str> = text.into();
        let hash = blake3::hash(text.as_bytes());
        File {
            path: path.into(),
            text,
            hash,
            language,
            overlay: false,
            lines: OnceLock::new(),
            outline: OnceLock::new(),
            words: OnceLock::new(),
            terms: OnceLock::new(),
            is_too_deep: OnceLock::new(),
            referenced_files: OnceLock::new(),
        }
    }

    /// Content that is not on the disk.
    pub fn as_overlay(self) -> File {
        File { overlay: true, ..self }
    }

    /// Offsets to lines and back, computed at the first use.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// Where each word of the text stands.
    pub fn words(&self) -> &WordTable {
        self.words.get_or_init(|| WordTable::new(&self.text))
    }

    /// What it is about, in words that prose shares with code.
    pub fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::new(&self.path, &self.text, self.outline()))
    }

    /// Whether it is nested too deeply for any analysis: it is text alone.
    pub fn is_too_deep(&self) -> bool {
        *self.is_too_deep.get_or_init(|| self.language.is_some_and(|it| it.syntax.is_too_deep(&self.text)))
    }

    /// The files that it names as parts of the code.
    pub fn referenced_files(&self) -> &[ReferencedFile] {
        let named = || self.language.map(|it| it.syntax.referenced_files(&self.path, &self.text)).unwrap_or_default();
        self.referenced_files.get_or_init(named)
    }

    /// What the parser of its language says; empty for a file of no known language.
    pub fn outline(&self) -> &Arc<Outline> {
        self.outline_by(|language| language.syntax.outline(&self.text))
    }

    /// The same, where an earlier state of the file is known.
    pub fn outline_after(&self, before: &File) -> &Arc<Outline> {
        self.outline_by(|language| language.syntax.outline_after(before.outline(), &before.text, &self.text))
    }

    fn outline_by(&self, parse: impl FnOnce(LanguageId) -> Outline) -> &Arc<Outline> {
        self.outline.get_or_init(|| match self.language {
            Some(language) => recent_outline(language, self.hash, || parse(language)),
            None => Arc::default(),
        })
    }
}

/// A text that is planned, analysed and reported is parsed once, though each makes a file of it.
fn recent_outline(language: LanguageId, hash: blake3::Hash, parse: impl FnOnce() -> Outline) -> Arc<Outline> {
    static RECENT: Mutex<VecDeque<(LanguageId, blake3::Hash, Arc<Outline>)>> = Mutex::new(VecDeque::new());
    let recent = || unpoisoned::lock(&RECENT);
    if let Some((.., outline)) = recent().iter().find(|it| (it.0, it.1) == (language, hash)) {
        return outline.clone();
    }
    let outline = Arc::new(parse());
    let mut recent = recent();
    recent.truncate(MOST_RECENT - 1);
    recent.push_front((language, hash, outline.clone()));
    outline
}

/// All text files of a workspace (UTF-8, at most 10 MiB each, nothing under `.git`, `node_modules` or a directory
/// with a `CACHEDIR.TAG` but what code names as a part of it), in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct Files {
    languages: Languages,
    files: BTreeMap<Arc<str>, Arc<File>>,
    unindexed: Arc<UnindexedFiles>,
}

impl Files {
    /// None yet, in a workspace of these languages.
    pub fn new(languages: Languages) -> Files {
        Files { languages, files: BTreeMap::new(), unindexed: Arc::default() }
    }

    /// The same texts, assigned to other languages.
    pub fn in_languages(&self, languages: Languages) -> Files {
        let mut files = Files::new(languages).with_unindexed_files(self.unindexed.clone());
        for file in self.iter() {
            let language = files.languages.of(&file.path);
            let is_same = match (language, file.language) {
                (Some(now), Some(before)) => std::ptr::eq(now.0, before.0),
                (now, before) => now == before,
            };
            files.insert(if is_same {
                file.clone()
            } else {
                Arc::new(File::new(language, &*file.path, file.text.clone()))
            });
        }
        files
    }

    /// A text as a file of this workspace; it is not among these yet.
    pub fn file(&self, path: &str, text: impl Into<Arc<str>>) -> File {
        File::new(self.languages.of(path), path, text)
    }

    /// The languages to which texts are assigned.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The same texts, beside these files that are none.
    pub fn with_unindexed_files(self, unindexed: Arc<UnindexedFiles>) -> Files {
        Files { unindexed, ..self }
    }

    /// The files that are no texts, as they stand on the disk.
    pub fn unindexed_files(&self) -> &UnindexedFiles {
        &self.unindexed
    }

    /// The same without those that have a text all the same: that of an overlay.
    pub(crate) fn unindexed_without_overlay(&self) -> impl Iterator<Item = &Arc<UnindexedFile>> {
        self.unindexed.values().filter(|it| self.get(&it.path).is_none())
    }

    /// A file by its name relative to the root.
    pub fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// Adds or replaces a file; answers with the one that it replaces.
    pub fn insert(&mut self, file: Arc<File>) -> Option<Arc<File>> {
        self.files.insert(file.path.clone(), file)
    }

    /// Takes a file away and answers with it. None: there was no such file.
    pub fn remove(&mut self, path: &str) -> Option<Arc<File>> {
        self.files.remove(path)
    }

    /// All files, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files.values()
    }

    /// The files of one language, in the order of their names.
    pub fn of(&self, language: LanguageId) -> impl Iterator<Item = &Arc<File>> {
        self.files.values().filter(move |file| file.language == Some(language))
    }

    /// Whether a text of this language gives the path of that file, as a part of the code.
    pub fn references(&self, language: LanguageId, file: &str) -> bool {
        let is_it = |it: &ReferencedFile| it.has_path && it.candidates.iter().any(|name| name == file);
        self.of(language).any(|it| it.referenced_files().iter().any(is_it))
    }

    /// The files in and below a directory (`""` is the root).
    pub fn below<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = &'a Arc<File>> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        self.files.range::<str, _>(from).map(|(_, file)| file).take_while(move |file| file.path.starts_with(&prefix))
    }

    /// How many files there are, of whatever language.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file at all.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
