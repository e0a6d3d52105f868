//! What is known of a language without any engine: its names, its files, and what one text of it says.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Alteration, FindingKind, Outline, OutlineItem, Span, SymbolKind};

/// A language as data. Modules above `lang` never name a language: all facts that they need are here.
#[derive(Debug)]
pub struct Language {
    /// As requests and replies name it: `python`.
    pub name: &'static str,
    /// As prose names it: `Python`.
    pub title: &'static str,
    /// Of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// The files that are of it by their whole names: `Dockerfile`.
    pub file_names: &'static [&'static str],
    /// One level of indentation, where a text does not show its own.
    pub indent: &'static str,
    /// What one text of the language says by itself.
    pub syntax: &'static dyn Syntax,
}

/// A language, cheap to copy and to compare. Two with one name are the same.
#[derive(Clone, Copy)]
pub struct LanguageId(pub &'static Language);

/// A file that a text references as a part of the code: a module, or an included file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferencedFile {
    /// Where it may lie, relative to the root or absolute, the likeliest place first.
    pub candidates: Vec<String>,
    /// The code gives its path, which may lead into another package.
    pub has_path: bool,
}

/// What one text of a language says by itself: no engine, no other file, no I/O. The text may be anything.
pub trait Syntax: fmt::Debug + Sync {
    /// Its declarations, its imports, its errors and its skeleton.
    fn outline(&self, text: &str) -> Outline;

    /// The same, where the outline of an earlier state of the text is known.
    fn outline_after(&self, old: &Outline, old_text: &str, text: &str) -> Outline {
        let _ = (old, old_text);
        self.outline(text)
    }

    /// Whether the text is nested so deeply that its analysis would overflow the stack.
    fn is_too_deep(&self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// The files that a text of this name references as parts of the code.
    fn referenced_files(&self, name: &str, text: &str) -> Vec<ReferencedFile> {
        let _ = (name, text);
        Vec::new()
    }

    /// The declaration after such a change, as replacements of parts of the text. `None` if the change is not possible
    /// for it.
    fn alter(&self, text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
        let _ = (text, item, name, change);
        None
    }

    /// Whether two declarations in different files are of one function: a prototype and its definition.
    fn are_of_one_function(&self, item: &OutlineItem, other: &OutlineItem) -> bool {
        let _ = (item, other);
        false
    }

    /// Whether a file of the language is code only if other code references it. Otherwise its directory decides.
    fn is_found_by_reference(&self) -> bool {
        false
    }

    /// Whether files in a directory can be code of the workspace, by the directory's name alone.
    fn may_be_in(&self, directory: &str) -> bool {
        let _ = directory;
        true
    }

    /// Whether a comma separates declarations of this kind in all places. Otherwise the text shows it.
    fn has_commas(&self, kind: SymbolKind) -> bool {
        let _ = kind;
        false
    }

    /// Whether a symbol or package can have this name only in this language.
    fn is_path(&self, name: &str) -> bool;

    /// Whether a declaration can be called this.
    fn is_identifier(&self, name: &str) -> bool {
        let is_start = |it: char| it == '_' || it.is_alphabetic();
        name.starts_with(is_start) && name.chars().all(|it| it == '_' || it.is_alphanumeric())
    }

    /// The kind of mistake that a diagnostic with this code reports in a new text, if it is one of these.
    fn finding(&self, code: &str) -> Option<FindingKind> {
        let _ = code;
        None
    }
}

impl LanguageId {
    /// Whether a file is of this language, by its name alone.
    pub fn takes(self, file: &str) -> bool {
        let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|it| self.extensions.contains(&it)) || self.file_names.contains(&name)
    }

    /// This language, if the file is of it.
    pub fn of(self, file: &str) -> Option<LanguageId> {
        self.takes(file).then_some(self)
    }
}

impl Deref for LanguageId {
    type Target = Language;

    fn deref(&self) -> &Language {
        self.0
    }
}

impl PartialEq for LanguageId {
    fn eq(&self, other: &LanguageId) -> bool {
        std::ptr::eq(self.0, other.0) || self.name == other.name
    }
}

impl Eq for LanguageId {}

impl Hash for LanguageId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for LanguageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The languages of a workspace, in the order in which they are listed; cheap to copy.
#[derive(Debug, Clone, Default)]
pub struct Languages(Arc<[LanguageId]>);

impl Languages {
    /// The first that takes a file's name is its language.
    pub fn new(languages: impl IntoIterator<Item = LanguageId>) -> Languages {
        Languages(languages.into_iter().collect())
    }

    /// The language of a file, by its name alone.
    pub fn of(&self, file: &str) -> Option<LanguageId> {
        self.0.iter().copied().find(|it| it.takes(file))
    }

    /// In the order in which they are listed.
    pub fn iter(&self) -> impl Iterator<Item = LanguageId> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Plain;

    impl Syntax for Plain {
        fn outline(&self, _: &str) -> Outline {
            Outline::default()
        }

        fn is_path(&self, name: &str) -> bool {
            name.contains('.')
        }
    }

    static DOCKER: Language = Language {
        name: "docker",
        title: "Docker",
        extensions: &["dockerfile"],
        file_names: &["Dockerfile"],
        indent: "  ",
        syntax: &Plain,
    };

    #[test]
    fn a_file_is_of_a_language_by_its_extension_or_its_name() {
        let languages = Languages::new([LanguageId(&DOCKER)]);
        for (file, is_taken) in [
            ("a/b.dockerfile", true),
            ("a/Dockerfile", true),
            ("Dockerfile", true),
            ("a.dockerfile/b", false),
            ("dockerfile", false),
            ("a.dockerfile.x", false),
        ] {
            assert_eq!(languages.of(file).is_some(), is_taken, "{file}");
        }
        assert!(Plain.is_identifier("größe_1") && !Plain.is_identifier("a.b") && !Plain.is_identifier("1a"));
    }
}
