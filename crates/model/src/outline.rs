//! The syntax of one file: what its text says by itself, without an index.

use super::{Detail, Span, SymbolKind};

/// What the text of one file says by itself, without an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// Documentation of the module or package in this file.
    pub docs: Option<String>,
    /// In the order of the text.
    pub imports: Vec<Import>,
    /// The declarations at the top level, in the order of the text.
    pub items: Vec<OutlineItem>,
    /// The text with bodies collapsed; it parses again wherever the file does.
    pub skeleton: String,
    /// For each line of `skeleton`, the line of the file that it came from (from 1).
    pub skeleton_lines: Vec<usize>,
    /// What does not parse; empty says that the whole text does.
    pub errors: Vec<SyntaxError>,
    /// What the engine that made the outline keeps with it.
    pub detail: Detail,
}

impl Outline {
    /// Visits all items, those within others included, in the order of the text.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a OutlineItem)) {
        for item in &self.items {
            item.walk(visit);
        }
    }

    /// The innermost items around an offset, outermost first.
    pub fn enclosing(&self, offset: usize) -> Vec<&OutlineItem> {
        let mut chain = Vec::new();
        let mut level = &self.items;
        while let Some(item) = level.iter().find(|it| it.span.contains(offset)) {
            chain.push(item);
            level = &item.children;
        }
        chain
    }
}

/// A declaration as the parser sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// As far as the parser knows.
    pub kind: SymbolKind,
    /// The identifier.
    pub name: String,
    /// What the symbol's path has between the module or package and the name: of a method its type, of a nested thing (a
    /// field, a variant, an item of an inline module) its parents.
    pub container: Vec<String>,
    /// One line: the declaration without docs, attributes and body.
    pub signature: String,
    /// Its documentation, without comment signs.
    pub docs: Option<String>,
    /// With docs and attributes.
    pub span: Span,
    /// The identifier; for an item without a name, the text in its place.
    pub name_span: Span,
    /// The text between the braces, without them.
    pub body: Option<Span>,
    /// Visible outside its module or package, by its own declaration.
    pub public: bool,
    /// Marked as a test, or as code that only tests are built with.
    pub test: bool,
    /// Members and nested items, in the order of the text.
    pub children: Vec<OutlineItem>,
}

impl OutlineItem {
    /// This item and everything below it, in the order of the text.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a OutlineItem)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}

/// One name that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The path that is imported, one entry for each.
    pub path: String,
    /// The local name if it is given another.
    pub alias: Option<String>,
    /// The whole import, which may name several paths.
    pub span: Span,
    /// Line of the path, from 1.
    pub line: usize,
}

/// A place that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What the parser expected.
    pub message: String,
    /// Where it gave up; empty where something is missing.
    pub span: Span,
}
