//! `open`: one file as a reader wants to see it first.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, Part, left_out, next_cursor, text_cost};
use super::enums::Language;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::{Meta, Symbol, is_false};
use super::symbols::SymbolTree;

request! { body
    /// Which file to open.
    #[schema(examples(json!({"file": "crates/searcher/src/lib.rs"})))]
    pub struct OpenRequest {
        /// Relative to the workspace root, with `/`.
        pub file: String,
    }
}

/// A file: its skeleton, its symbols, what it uses and who uses it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::opened))]
pub struct Opened {
    /// Relative to the workspace root; of a link, its target.
    pub file: String,
    /// Absent for a file of a language that nobody analyses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<Language>,
    /// The package that includes it. Absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// How many lines the file has.
    pub lines: usize,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
    /// True where it is the content of an overlay; the disk has another.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
    /// Of the module or package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// The text with bodies as `{ /* 12 lines */ }`, so that it still parses.
    pub skeleton: String,
    /// In the order of the text.
    #[schema(value_type = Vec<Import>)]
    pub imports: Listing<Import>,
    /// As a tree, each with its usages.
    #[schema(value_type = Vec<Symbol>)]
    pub symbols: SymbolTree,
    /// What the file uses of other packages.
    #[schema(value_type = Vec<Upstream>)]
    pub upstream: Listing<Upstream>,
    /// The files that use something of this one.
    #[schema(value_type = Vec<Downstream>)]
    pub downstream: Listing<Downstream>,
    /// Continues the skeleton and the lists.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
    /// For each line of the skeleton, its line in the file.
    #[serde(skip)]
    pub skeleton_lines: Vec<usize>,
    /// The lines of the whole skeleton, and which of them are given.
    #[serde(skip)]
    pub skeleton_part: Part,
}

impl Opened {
    /// With the cursor that continues it.
    pub fn with_cursor(mut self) -> Opened {
        self.next_cursor = next_cursor(&self.parts());
        self
    }

    fn parts(&self) -> [Part; 5] {
        let lists = [self.imports.part, self.upstream.part, self.downstream.part];
        [self.skeleton_part, self.symbols.part, lists[0], lists[1], lists[2]]
    }

    /// Markdown tells symbols and imports by the lines of the skeleton that they stand on.
    fn follow_the_skeleton(&mut self) {
        let given = self.skeleton_part.count;
        let is_last = self.skeleton_part.from + given >= self.skeleton_part.total;
        let last = match given.checked_sub(1).and_then(|it| self.skeleton_lines.get(it)) {
            _ if is_last => usize::MAX,
            Some(line) => *line,
            None => 0,
        };
        self.symbols.part = Part::after(self.symbols.part.from, self.symbols.part.total);
        self.symbols.up_to_line(last);
        self.imports.part = Part::after(self.imports.part.from, self.imports.part.total);
        self.imports.part.count = self.imports.items.iter().take_while(|it| it.line <= last).count();
    }

    fn truncate(&mut self) {
        let lines = self.skeleton_part.count;
        self.skeleton = self.skeleton.split_inclusive('\n').take(lines).collect();
        self.skeleton_lines.truncate(lines);
        self.imports.truncate();
        self.upstream.truncate();
        self.downstream.truncate();
        self.next_cursor = next_cursor(&self.parts());
    }
}

impl Answer for Opened {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        // The skeleton holds them.
        self.docs = None;
        self.symbols.without_docs();
        budget.spend(300);
        let form = budget.form();
        let skeleton = self.skeleton.split_inclusive('\n').map(|it| text_cost(it) + form.or(6, 2)).collect();
        // In Markdown a symbol is a few words at the end of its line.
        let symbols = if form == Form::Markdown { Vec::new() } else { self.symbols.costs(form) };
        let imports =
            if form == Form::Markdown { Vec::new() } else { self.imports.costs(|it| text_cost(&it.path) + 30) };
        let names = |it: &[String]| it.iter().map(|it| text_cost(it) + 4).sum::<usize>() + form.or(30, 80);
        let upstream = self.upstream.costs(|it| names(&it.files) + names(&it.symbols));
        let downstream = self.downstream.costs(|it| names(&it.symbols) + it.file.len());
        budget.share(&mut [
            (&mut self.skeleton_part, skeleton, 60),
            (&mut self.symbols.part, symbols, 60),
            (&mut self.downstream.part, downstream, 50),
            (&mut self.upstream.part, upstream, 50),
            (&mut self.imports.part, imports, 50),
        ]);
        if form == Form::Markdown {
            self.follow_the_skeleton();
        }
        self.truncate();
        let [skeleton, symbols, imports, upstream, downstream] = self.parts();
        Some(left_out(&[
            ("lines of the skeleton", skeleton),
            ("symbols", symbols),
            ("imports", imports),
            ("packages in `upstream`", upstream),
            ("files in `downstream`", downstream),
        ]))
    }
}

/// What a file imports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Import {
    /// What is imported, in full.
    #[schema(examples("std::io"))]
    pub path: String,
    /// The local name, if it is given another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub alias: Option<String>,
    /// Where the path stands, from 1.
    pub line: usize,
}

impl From<semdex_model::Import> for Import {
    fn from(import: semdex_model::Import) -> Import {
        Import { path: import.path, alias: import.alias, line: import.line }
    }
}

/// What the file uses of another package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Upstream {
    /// As requests name it.
    pub package: String,
    /// Outside of the workspace.
    pub external: bool,
    /// Only of packages of the workspace.
    pub files: Vec<String>,
    /// The paths of what is used.
    pub symbols: Vec<String>,
}

impl From<semdex_model::Upstream> for Upstream {
    fn from(upstream: semdex_model::Upstream) -> Upstream {
        let semdex_model::Upstream { package, external, files, symbols } = upstream;
        Upstream { package, external, files, symbols }
    }
}

/// What another file uses of this one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Downstream {
    /// Relative to the workspace root.
    pub file: String,
    /// The package that includes it.
    pub package: String,
    /// The paths of what it uses.
    pub symbols: Vec<String>,
    /// How many places there name them.
    pub count: usize,
}

impl From<semdex_model::Downstream> for Downstream {
    fn from(downstream: semdex_model::Downstream) -> Downstream {
        let semdex_model::Downstream { file, package, symbols, count } = downstream;
        Downstream { file, package, symbols, count }
    }
}
