//! `describe`: everything about a symbol, a package or a file.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, Part, left_out, line_costs, next_cursor, symbol_cost, text_cost};
use super::enums::{ExampleOrigin, Language};
use super::examples;
use super::relations::{UsageList, spend_on};
use super::request::{Answer, request};
use super::shared_types::{Meta, Origin, Symbol, is_false};
use super::symbols::SymbolTree;

request! { body
    /// What to describe: a symbol by its path, or by a shorter name in a package or file. Without `symbol`, the package
    /// or the file itself.
    #[schema(examples(
        json!({"package": "grep_searcher", "symbol": "Searcher"}),
        json!({"symbol": "grep_searcher::Searcher::new"}),
        json!({"package": "std::collections"}),
        json!({"file": "build.rs"})
    ))]
    pub struct DescribeRequest {
        /// The path of the symbol. A shorter path is accepted if it is unique. Default: none; then `package` or `file`
        /// is required.
        pub symbol: Option<String>,
        /// Rust: a crate or a module. Go: an import path.
        pub package: Option<String>,
        /// Relative to the workspace root, with `/`.
        pub file: Option<String>,
        /// The name that the client gives itself, any text. Its later edits are merged with the changes of others that
        /// it has not seen. The header `X-Session` says the same.
        pub session: Option<String>,
    }
}

/// The description of a symbol, a package or a file; `kind` says which.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "kind", mapping(
    ("symbol" = "#/components/schemas/DescribedSymbol"),
    ("package" = "#/components/schemas/DescribedPackage"),
    ("file" = "#/components/schemas/DescribedFile")
)))]
pub enum Described {
    /// The request has `symbol`.
    Symbol(Box<DescribedSymbol>),
    /// The request has only `package`.
    Package(DescribedPackage),
    /// The request has only `file`.
    File(DescribedFile),
}

impl Described {
    /// The metadata of the reply.
    pub(crate) fn meta_of(&self) -> &Meta {
        match self {
            Described::Symbol(it) => &it.meta,
            Described::Package(it) => &it.meta,
            Described::File(it) => &it.meta,
        }
    }
}

impl Answer for Described {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(match self {
            Described::Symbol(it) => &mut it.meta,
            Described::Package(it) => &mut it.meta,
            Described::File(it) => &mut it.meta,
        })
    }

    fn fit(&mut self, budget: Budget) -> Option<Vec<String>> {
        Some(match self {
            Described::Symbol(it) => it.fit(budget),
            Described::Package(it) => it.fit(budget),
            Described::File(it) => it.fit(budget),
        })
    }
}

/// The kind of a description, for a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfSymbol {
    /// On the wire: `symbol`.
    Symbol,
}

/// The kind of a description, for a package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfPackage {
    /// On the wire: `package`.
    Package,
}

/// The kind of a description, for a file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfFile {
    /// On the wire: `file`.
    File,
}

/// The description of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::described))]
pub struct DescribedSymbol {
    #[expect(missing_docs, reason = "utoipa turns the comment of an inlined field into a schema of type `object`")]
    #[schema(inline)]
    pub kind: OfSymbol,
    /// The definition, with its members.
    pub symbol: Symbol,
    /// The full source, with docs and attributes. Absent if no source is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<String>,
    /// Its documentation as Markdown. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// Code that shows how it is used, the most useful first.
    #[schema(value_type = Vec<Example>)]
    pub examples: Listing<Example>,
    /// The first usages of the symbol.
    pub usages: UsageList,
    /// For a trait or interface, the types that implement it; for a type, the traits and interfaces that it implements.
    #[schema(value_type = Vec<Symbol>)]
    pub implementations: Listing<Symbol>,
    /// The enclosing item of a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub container: Option<Container>,
    /// The version of the package of an external symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// Continues the source, the examples, the usages and the implementations.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
    /// The line of the file that the given source begins with.
    #[serde(skip)]
    pub first_line: usize,
    /// The lines of the source in the page, or of the docs if no source is available.
    #[serde(skip)]
    pub text_part: Part,
}

impl DescribedSymbol {
    /// The page that starts at a line of the text, with the cursor that continues it.
    pub fn after(mut self, line: usize) -> DescribedSymbol {
        let text = self.source.as_deref().or(self.docs.as_deref()).unwrap_or_default();
        self.text_part = Part::after(line, text.split_inclusive('\n').count());
        self.first_line = self.symbol.place.line + self.text_part.from;
        if line > 0 {
            match (&mut self.source, &mut self.docs) {
                (Some(source), docs) => {
                    *source = self.text_part.lines(source);
                    // The first page of the source contains them.
                    *docs = None;
                }
                (None, Some(docs)) => *docs = self.text_part.lines(docs),
                (None, None) => {}
            }
        }
        self.next_cursor = next_cursor(&self.parts());
        self
    }

    fn parts(&self) -> [Part; 4] {
        [self.text_part, self.examples.part, self.usages.part, self.implementations.part]
    }

    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        spend_on(&mut self.symbol, &mut budget);
        let text = line_costs(self.source.as_deref().or(self.docs.as_deref()).unwrap_or_default(), Part::default());
        let examples = self.examples.costs(|it| text_cost(&it.code) + text_cost(&it.title) + it.file.len() + 100);
        let usages = self.usages.costs(budget.form());
        let implementations = self.implementations.costs(|it| symbol_cost(it, budget.form()));
        budget.share(&mut [
            (&mut self.text_part, text, 50),
            (&mut self.examples.part, examples, 35),
            (&mut self.usages.part, usages, 65),
            (&mut self.implementations.part, implementations, 100),
        ]);
        let kept = |text: &str| text.split_inclusive('\n').take(self.text_part.count).collect::<String>();
        match &self.source {
            Some(source) => (self.source, self.docs) = (Some(kept(source)), None),
            None => self.docs = self.docs.as_deref().map(kept),
        }
        self.examples.truncate();
        self.usages.truncate();
        self.implementations.truncate();
        self.next_cursor = next_cursor(&self.parts());
        let [text, examples, usages, implementations] = self.parts();
        let what = if self.source.is_some() { "lines of the source" } else { "lines of the docs" };
        left_out(&[(what, text), ("examples", examples), ("usages", usages), ("implementations", implementations)])
    }
}

/// The enclosing block, trait, type or variant of a member.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Container {
    /// Its path for requests.
    pub path: String,
    /// The first line of its declaration, without the body.
    pub signature: String,
    /// Relative to the workspace root, or absolute outside of it.
    pub file: String,
    /// Its first line, from 1.
    pub line: usize,
}

impl From<semdex_model::Symbol> for Container {
    fn from(symbol: semdex_model::Symbol) -> Container {
        let semdex_model::Symbol { path, signature, place, .. } = symbol;
        Container { path, signature, file: place.file, line: place.line }
    }
}

/// A piece of code that shows how the symbol is used.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Example {
    /// The kind of code that the example comes from.
    pub origin: ExampleOrigin,
    /// Relative to the workspace root, or absolute outside of it.
    pub file: String,
    /// Its first line in that file, from 1.
    pub line: usize,
    /// Its title: the name of the test or example, or the heading above it.
    pub title: String,
    /// The code without common indentation.
    pub code: String,
}

impl From<semdex_model::Example> for Example {
    fn from(example: semdex_model::Example) -> Example {
        let semdex_model::Example { origin, file, line, title, code } = example;
        Example { origin: origin.into(), file, line, title, code }
    }
}

/// The description of a package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::described_package))]
pub struct DescribedPackage {
    #[schema(inline)]
    pub(crate) kind: OfPackage,
    /// The name, location and contents of the package.
    pub package: Package,
    /// Continues the docs, the files and the symbols.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
    #[serde(skip)]
    docs_part: Part,
    #[serde(skip)]
    files_part: Part,
}

/// A package and its contents.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Package {
    /// Its name in requests and imports.
    #[schema(examples("std::collections"))]
    pub name: String,
    /// Absent if its manifest gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// Documentation of the package as Markdown. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// Its directory. Relative to the workspace root if it is inside.
    pub root: String,
    /// Its source files, in the order of their names.
    pub files: Vec<String>,
    /// Its public symbols without members.
    #[schema(value_type = Vec<Symbol>)]
    pub symbols: SymbolTree,
    /// Whether it is outside the workspace.
    pub external: bool,
    /// The origin of a package outside the workspace root.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub origin: Option<Origin>,
}

impl DescribedPackage {
    /// The page that starts at a line of the docs, a file and a symbol.
    pub fn after(from: [usize; 3], package: semdex_model::Package, meta: Meta) -> DescribedPackage {
        let semdex_model::Package { name, version, docs, root, mut files, symbols, external, origin } = package;
        let docs_part = Part::after(from[0], docs.as_deref().unwrap_or_default().split_inclusive('\n').count());
        let files_part = Part::after(from[1], files.len());
        files.drain(..files_part.from);
        let docs = docs.map(|it| docs_part.lines(&it)).filter(|it| !it.is_empty());
        let symbols = SymbolTree::of_package(from[2], symbols, origin.as_ref());
        let origin = origin.map(Origin::from);
        let package = Package { name, version, docs, root, files, symbols, external, origin };
        let kind = OfPackage::Package;
        let mut described = DescribedPackage { kind, package, next_cursor: None, meta, docs_part, files_part };
        described.next_cursor = next_cursor(&described.parts());
        described
    }

    fn parts(&self) -> [Part; 3] {
        [self.docs_part, self.files_part, self.package.symbols.part]
    }

    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        budget.spend(200);
        let package = &mut self.package;
        let docs = line_costs(package.docs.as_deref().unwrap_or_default(), Part::default());
        let files = package.files.iter().map(|it| text_cost(it) + 4).collect();
        let symbols = package.symbols.costs(budget.form());
        budget.share(&mut [
            (&mut self.docs_part, docs, 40),
            (&mut self.files_part, files, 20),
            (&mut package.symbols.part, symbols, 100),
        ]);
        let lines = self.docs_part.count;
        package.docs = package.docs.as_deref().map(|it| it.split_inclusive('\n').take(lines).collect());
        package.files.truncate(self.files_part.count);
        self.next_cursor = next_cursor(&self.parts());
        let [docs, files, symbols] = self.parts();
        left_out(&[("lines of the docs", docs), ("files", files), ("symbols", symbols)])
    }
}

/// The description of a file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::described_file))]
pub struct DescribedFile {
    #[schema(inline)]
    pub(crate) kind: OfFile,
    /// Its content.
    pub file: FileText,
    /// Continues the content.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileText {
    /// Relative to the workspace root, with `/`.
    pub file: String,
    /// Absent if no engine analyses the language of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<Language>,
    /// The content, or the part of it that fits the budget.
    pub content: String,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
    /// True if this is the content of an overlay. The content on disk is different.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
    /// How many lines the whole file has.
    pub lines: usize,
    /// The lines in the page.
    #[serde(skip)]
    pub part: Part,
}

impl DescribedFile {
    /// A reply with the cursor that continues it.
    pub fn new(file: FileText, meta: Meta) -> DescribedFile {
        DescribedFile { kind: OfFile::File, next_cursor: next_cursor(&[file.part]), file, meta }
    }

    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        budget.spend(200);
        let FileText { content, part, .. } = &mut self.file;
        let costs = line_costs(content, Part::default());
        budget.share(&mut [(part, costs, 100)]);
        *content = content.split_inclusive('\n').take(part.count).collect();
        self.next_cursor = next_cursor(&[self.file.part]);
        left_out(&[("lines", self.file.part)])
    }
}
