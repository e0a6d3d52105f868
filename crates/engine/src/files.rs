//! The texts of a workspace at one revision. Every engine and every answer is based on them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, OnceLock};

use crate::unindexed::{UnindexedFile, UnindexedFiles};
use crate::unpoisoned;
use semdex_model::{LanguageId, Languages, Outline, ReferencedFile};
use semdex_text::lines::LineIndex;
use semdex_text::terms::Terms;
use semdex_text::words::WordTable;

/// How many outlines are kept for the next file with the same text.
const MOST_RECENT: usize = 8;

/// One file's content. It is immutable; a change creates another one.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: Arc<str>,
    /// UTF-8, with the line ends and the byte order mark of the file.
    pub text: Arc<str>,
    /// BLAKE3 of the text's bytes.
    pub hash: blake3::Hash,
    /// `None` for a text that no engine analyses.
    pub language: Option<LanguageId>,
    /// The text is an overlay: it hides the disk's content.
    pub overlay: bool,
    lines: OnceLock<LineIndex>,
    outline: OnceLock<Arc<Outline>>,
    words: OnceLock<WordTable>,
    terms: OnceLock<Terms>,
    is_too_deep: OnceLock<bool>,
    referenced_files: OnceLock<Vec<ReferencedFile>>,
}

impl File {
    /// A file with the disk's content. [`File::as_overlay`] makes it an overlay.
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

    /// The same file as an overlay.
    pub fn as_overlay(self) -> File {
        File { overlay: true, ..self }
    }

    /// Offsets to lines and back, computed at the first use.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// The positions of each word of the text.
    pub fn words(&self) -> &WordTable {
        self.words.get_or_init(|| WordTable::new(&self.text))
    }

    /// What the text is about, in words that prose shares with code.
    pub fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::new(&self.path, &self.text, self.outline()))
    }

    /// Whether the text is nested too deeply to be analysed. Then it is plain text.
    pub fn is_too_deep(&self) -> bool {
        *self.is_too_deep.get_or_init(|| self.language.is_some_and(|it| it.syntax.is_too_deep(&self.text)))
    }

    /// The files that the text references as parts of the code.
    pub fn referenced_files(&self) -> &[ReferencedFile] {
        let named = || self.language.map(|it| it.syntax.referenced_files(&self.path, &self.text)).unwrap_or_default();
        self.referenced_files.get_or_init(named)
    }

    /// The outline that the language's parser finds; empty for a file of no known language.
    pub fn outline(&self) -> &Arc<Outline> {
        self.outline_by(|language| language.syntax.outline(&self.text))
    }

    /// The same, computed from the outline of an earlier state of the file.
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

/// The outline of a text. A text that is planned, analysed and reported is parsed once, though each step makes a file
/// of it.
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

/// All text files of a workspace, in the order of their names. They are UTF-8 and at most 10 MiB each. Files below
/// `.git`, `node_modules` or a directory with a `CACHEDIR.TAG` are only among them if code references them.
#[derive(Debug, Clone, Default)]
pub struct Files {
    languages: Languages,
    files: BTreeMap<Arc<str>, Arc<File>>,
    unindexed: Arc<UnindexedFiles>,
}

impl Files {
    /// No files yet, in a workspace of these languages.
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

    /// Makes a file of this workspace from a text. It is not added.
    pub fn file(&self, path: &str, text: impl Into<Arc<str>>) -> File {
        File::new(self.languages.of(path), path, text)
    }

    /// The languages to which texts are assigned.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The same texts, with these unindexed files.
    pub fn with_unindexed_files(self, unindexed: Arc<UnindexedFiles>) -> Files {
        Files { unindexed, ..self }
    }

    /// The unindexed files, as they are on the disk.
    pub fn unindexed_files(&self) -> &UnindexedFiles {
        &self.unindexed
    }

    /// The unindexed files, except those that have a text by an overlay.
    pub fn unindexed_without_overlay(&self) -> impl Iterator<Item = &Arc<UnindexedFile>> {
        self.unindexed.values().filter(|it| self.get(&it.path).is_none())
    }

    /// A file by its name relative to the root.
    pub fn get(&self, path: &str) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// Adds or replaces a file, and returns the replaced one.
    pub fn insert(&mut self, file: Arc<File>) -> Option<Arc<File>> {
        self.files.insert(file.path.clone(), file)
    }

    /// Removes a file and returns it. `None` if there was no such file.
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

    /// Whether a text of this language references that file by its path.
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

    /// The number of files, of all languages.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
