//! References between files: the edges between the files of a language.

use std::sync::Arc;

/// What the files of a language declare, and which of it each refers to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct References {
    /// In the order of their names.
    pub files: Vec<FileReferences>,
}

/// What one file declares, and what it refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct FileReferences {
    /// Relative to the workspace root.
    pub file: Arc<str>,
    /// The package that includes it, as replies name it.
    pub package: String,
    /// Whether all of it is test code.
    pub test: bool,
    /// What other replies name by a path, in the order of the text.
    pub declared: Vec<Declared>,
    /// Each declaration once.
    pub uses: Vec<Reference>,
}

/// A declaration, by where its name begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Byte offset of the first byte of its name.
    pub at: usize,
    /// Its path, as replies print it.
    pub path: String,
}

/// How often a file refers to a declaration. A reference with several candidates counts as a fraction for each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The position of the declaration's file in the list.
    pub file: u32,
    /// Where the declaration's name begins.
    pub at: u32,
    /// How many places refer to it.
    pub count: f32,
    /// How many of these are in test code.
    pub tests: f32,
}
