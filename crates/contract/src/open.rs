//! `open`: an overview of a file.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, Part, left_out, next_cursor, text_cost};
use super::enums::Language;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::{Meta, Symbol, is_false};
use super::symbols::SymbolTree;

request! { body
    /// The file to open.
    #[schema(examples(json!({"file": "crates/searcher/src/lib.rs"})))]
    pub struct OpenRequest {
        /// Relative to the workspace root, with `/`.
        pub file: String,
        /// The name that the client gives itself, any text. Its later edits are merged with the changes of others that
        /// it has not seen. The header `X-Session` says the same.
        pub session: Option<String>,
    }
}

/// An overview of a file: its skeleton, its symbols, what it uses, and which files use it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::opened))]
pub struct Opened {
    /// Relative to the workspace root. For a symbolic link, its target.
    pub file: String,
    /// Absent if no engine analyses the language of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<Language>,
    /// The package that contains the file. Absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// How many lines the file has.
    pub lines: usize,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
    /// True if this is the content of an overlay. The content on disk is different.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
    /// The docs of the module or package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// The text with collapsed bodies such as `{ /* 12 lines */ }`. It still parses.
    pub skeleton: String,
    /// The imports in the order of the text.
    #[schema(value_type = Vec<Import>)]
    pub imports: Listing<Import>,
    /// The symbols as a tree, with their usages.
    #[schema(value_type = Vec<Symbol>)]
    pub symbols: SymbolTree,
    /// What the file uses from other packages.
    #[schema(value_type = Vec<Upstream>)]
    pub upstream: Listing<Upstream>,
    /// The files that use something of this file.
    #[schema(value_type = Vec<Downstream>)]
    pub downstream: Listing<Downstream>,
    /// Continues the skeleton and the lists.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
    /// The line in the file of each line of the skeleton.
    #[serde(skip)]
    pub skeleton_lines: Vec<usize>,
    /// The lines of the skeleton in the page.
    #[serde(skip)]
    pub skeleton_part: Part,
}

impl Opened {
    /// Sets the cursor that continues the reply.
    pub fn with_cursor(mut self) -> Opened {
        self.next_cursor = next_cursor(&self.parts());
        self
    }

    fn parts(&self) -> [Part; 5] {
        let lists = [self.imports.part, self.upstream.part, self.downstream.part];
        [self.skeleton_part, self.symbols.part, lists[0], lists[1], lists[2]]
    }

    /// Limits symbols and imports to the lines of the skeleton in the page, because Markdown shows them on these lines.
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
        // The skeleton contains them.
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

/// An import of a file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Import {
    /// The full path of the import.
    #[schema(examples("std::io"))]
    pub path: String,
    /// The local name, if the import has an alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub alias: Option<String>,
    /// The line of the path, from 1.
    pub line: usize,
}

impl From<semdex_model::Import> for Import {
    fn from(import: semdex_model::Import) -> Import {
        Import { path: import.path, alias: import.alias, line: import.line }
    }
}

/// What the file uses from another package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Upstream {
    /// The name of the package in requests.
    pub package: String,
    /// Whether it is outside the workspace.
    pub external: bool,
    /// The files that are used. Empty for packages outside the workspace.
    pub files: Vec<String>,
    /// The paths of the used symbols.
    pub symbols: Vec<String>,
}

impl From<semdex_model::Upstream> for Upstream {
    fn from(upstream: semdex_model::Upstream) -> Upstream {
        let semdex_model::Upstream { package, external, files, symbols } = upstream;
        Upstream { package, external, files, symbols }
    }
}

/// What another file uses of this file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Downstream {
    /// Relative to the workspace root.
    pub file: String,
    /// The package that contains the file.
    pub package: String,
    /// The paths of the used symbols.
    pub symbols: Vec<String>,
    /// The number of places in the file that name them.
    pub count: usize,
}

impl From<semdex_model::Downstream> for Downstream {
    fn from(downstream: semdex_model::Downstream) -> Downstream {
        let semdex_model::Downstream { file, package, symbols, count } = downstream;
        Downstream { file, package, symbols, count }
    }
}
