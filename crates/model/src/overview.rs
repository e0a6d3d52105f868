//! What the index knows of a file, a symbol or a package as a whole.

use std::sync::Arc;

use super::{Origin, Symbol};

/// A file as the index sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overview {
    /// The package that includes the file. None where no package does.
    pub package: Option<String>,
    /// Documentation of the module or package in this file.
    pub docs: Option<String>,
    /// What the file defines, as a tree in the order of the text.
    pub symbols: Vec<Symbol>,
    /// What the file uses, by package.
    pub upstream: Vec<Upstream>,
    /// The files that use something of this one.
    pub downstream: Vec<Downstream>,
    /// The text with bodies collapsed, and for each line the line of the file: if the text alone does not determine
    /// that.
    pub skeleton: Option<(String, Vec<usize>)>,
}

/// What a file uses of another package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// As requests name it.
    pub package: String,
    /// It is not of the workspace.
    pub external: bool,
    /// Only for packages of the workspace.
    pub files: Vec<String>,
    /// The paths of what is used, each once.
    pub symbols: Vec<String>,
}

/// Another file's use of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downstream {
    /// The file that uses something of the queried file.
    pub file: String,
    /// The package of that file.
    pub package: String,
    /// The paths of what it uses, each once.
    pub symbols: Vec<String>,
    /// How many places of the file name these.
    pub count: usize,
}

/// All that is known of one symbol but for its usages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// With its children where it has members.
    pub symbol: Symbol,
    /// In full, docs and attributes included.
    pub source: Option<String>,
    /// Its documentation as Markdown, in full.
    pub docs: Option<String>,
    /// Code that shows how it is used, the most useful first.
    pub examples: Vec<Example>,
    /// The types of a trait or interface, or the traits and interfaces of a type.
    pub implementations: Vec<Symbol>,
    /// Of a member: the block, trait, type or variant that contains it.
    pub container: Option<Symbol>,
    /// Of an external one: its package's.
    pub version: Option<String>,
}

/// Code that shows how a symbol is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The kind of code that it is taken from.
    pub origin: ExampleOrigin,
    /// Relative to the root, or absolute outside of it.
    pub file: String,
    /// Its first line in that file, from 1.
    pub line: usize,
    /// What names it: a test, an example, the heading above it.
    pub title: String,
    /// The code itself, without common indentation.
    pub code: String,
}

/// What kind of code an example is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleOrigin {
    /// A code block in the documentation, or an example that the test runner knows.
    Doctest,
    /// A program of the package's directory of examples.
    Example,
    /// A test that calls the symbol.
    Test,
    /// A file of test data.
    Testdata,
    /// Code of the workspace that is neither.
    Use,
}

/// A package as a whole: what it is called, where it lies, what it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// As requests and imports name it.
    pub name: String,
    /// None where its manifest gives none.
    pub version: Option<String>,
    /// Documentation of the package, or of its root module.
    pub docs: Option<String>,
    /// Its directory, relative to the workspace where it lies inside.
    pub root: String,
    /// Those that it is built from, in the order of their names.
    pub files: Vec<String>,
    /// What it offers to others, without members.
    pub symbols: Vec<Symbol>,
    /// It is a dependency or part of the standard library.
    pub external: bool,
    /// Of one that lies outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
}
