//! Changes of files: what is edited, how an edit found its place, what a rename comes to.

use std::sync::Arc;

use super::{Place, Span, Symbol, Usage};

/// The new content of one file; `None` deletes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Relative to the workspace root.
    pub file: String,
    /// The content that the edit was planned against. None: the file must not exist yet.
    pub old: Option<Arc<str>>,
    /// The content that takes its place. None: the file is deleted.
    pub new: Option<Arc<str>>,
}

/// Parts of a file that become other texts; none overlaps another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// Relative to the workspace root.
    pub file: String,
    /// Spans of the old text with what takes their place.
    pub parts: Vec<(Span, String)>,
}

/// What a symbol's new name changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    /// The symbol as it is called now.
    pub symbol: Symbol,
    /// Each file once; the texts that hold the new name.
    pub rewrites: Vec<Rewrite>,
    /// Files that go by another name then.
    pub moves: Vec<(String, String)>,
    /// Places that may name the symbol, and that nobody can rename.
    pub possible: Vec<Usage>,
    /// The files of `rewrites` that no build includes, each with the names of files that may hold its expected output.
    pub outside_builds: Vec<(String, Vec<String>)>,
}

/// Where one edit landed; the place speaks of the text after the change.
#[derive(Debug, Clone, PartialEq)]
pub struct Landed {
    /// How the place was found.
    pub strategy: Strategy,
    /// How similar what was searched and what was found are, in percent; 100 where they are equal but for white space.
    pub score: f64,
    /// The replacement.
    pub place: Place,
    /// The edit was merged with changes that others made since its author read the file.
    pub merged: bool,
    /// The places of those changes, where it was merged.
    pub kept: Vec<Place>,
}

impl Landed {
    /// An edit that was made as it was sent.
    pub fn as_sent(strategy: Strategy, score: f64, place: Place) -> Landed {
        Landed { strategy, score, place, merged: false, kept: Vec::new() }
    }
}

/// How the place of an edit was found; [`Strategy::name`] is the word in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The searched text occurs there byte for byte.
    Exact,
    /// It occurs there except for blanks and line ends.
    Whitespace,
    /// Its lines occur there with another indentation.
    Indent,
    /// The most similar text, above the least score that the request allows.
    Fuzzy,
    /// The request names a symbol and a part of it.
    Symbol,
    /// The whole content of the file is replaced.
    Whole,
}

impl Strategy {
    /// The word for it in replies: `fuzzy`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Exact => "exact",
            Strategy::Whitespace => "whitespace",
            Strategy::Indent => "indent",
            Strategy::Fuzzy => "fuzzy",
            Strategy::Symbol => "symbol",
            Strategy::Whole => "whole",
        }
    }
}
