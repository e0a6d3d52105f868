//! `symbols` and `symbol_at`: symbols by name, by file and by position.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::budget::{Budget, Form, Part, left_out, next_cursor, symbol_cost, text_cost};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::{Meta, Origin, Place, Symbol, holds_others, list};
use semdex_model::{Code, Error, Result};

request! { query
    /// Exactly one of `query` and `file`.
    pub struct SymbolsQuery {
        /// A part of a name; letters may be left out. The best matches come first. Default: none; then `file` is
        /// required.
        #[param(nullable = false, example = "srchr")]
        pub query: Option<String>,
        /// The file whose symbols are returned as a tree. Default: none; then `query` is required.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

/// The validated query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolsOf<'a> {
    /// All symbols whose names match; not empty.
    Name(&'a str),
    /// All symbols of this file.
    File(&'a str),
}

impl SymbolsQuery {
    /// Validates the request. Returns `invalid_request` if neither or both fields are given.
    pub fn checked(&self) -> Result<SymbolsOf<'_>> {
        match (&self.query, &self.file) {
            (Some(name), None) if name.trim().is_empty() => {
                Err(Error::new(Code::InvalidRequest, "`query` is empty: give a part of a name"))
            }
            (Some(name), None) => Ok(SymbolsOf::Name(name)),
            (None, Some(file)) => Ok(SymbolsOf::File(file)),
            _ => Err(Error::new(Code::InvalidRequest, "say either `query` or `file`")),
        }
    }
}

/// The found symbols.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::symbols))]
pub struct SymbolsReply {
    /// A list for `query`, a tree for `file`.
    #[schema(value_type = Vec<Symbol>)]
    pub symbols: SymbolTree,
    /// The number of symbols, including members and symbols on later pages.
    pub total: usize,
    /// Continues the symbols. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The searched revision, and whether the search is complete.
    pub meta: Meta,
}

impl SymbolsReply {
    /// The total and the cursor follow from the tree.
    pub fn new(symbols: SymbolTree, meta: Meta) -> SymbolsReply {
        SymbolsReply { total: symbols.part.total, next_cursor: symbols.next_cursor(), symbols, meta }
    }
}

impl Answer for SymbolsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        let costs = self.symbols.costs(budget.form());
        budget.share(&mut [(&mut self.symbols.part, costs, 100)]);
        self.next_cursor = self.symbols.next_cursor();
        Some(left_out(&[("symbols", self.symbols.part)]))
    }
}

/// A tree of symbols and the page of it: each symbol counts as one, parents before their children. It is serialized as
/// the symbols in the page.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolTree {
    /// Which of all symbols are in the page.
    pub part: Part,
    symbols: Vec<Symbol>,
    /// Whether kinds that can have members have the field `children` even if it is empty.
    says_empty: bool,
}

impl SymbolTree {
    /// The symbols of a file.
    pub fn of_file(from: usize, symbols: Vec<semdex_model::Symbol>) -> SymbolTree {
        SymbolTree::after(from, symbols.into_iter().map(Symbol::tree).collect(), true)
    }

    /// The symbols of a package.
    pub(crate) fn of_package(
        from: usize,
        symbols: Vec<semdex_model::Symbol>,
        origin: Option<&Arc<semdex_model::Origin>>,
    ) -> SymbolTree {
        let symbols = symbols.into_iter().map(|it| Symbol::below(it, origin)).collect();
        SymbolTree::after(from, symbols, false)
    }

    /// A list of at most `limit` symbols without members.
    pub fn of_list(from: usize, limit: usize, symbols: Vec<semdex_model::Symbol>) -> SymbolTree {
        let mut tree = SymbolTree::after(from, list(symbols), false);
        tree.part.count = tree.part.count.min(limit);
        tree
    }

    fn after(from: usize, symbols: Vec<Symbol>, says_empty: bool) -> SymbolTree {
        SymbolTree { part: Part::after(from, symbols.iter().map(size).sum()), symbols, says_empty }
    }

    /// The cursor that continues the symbols. None if nothing is left.
    pub(crate) fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.part])
    }

    /// The symbols in the page. Parents of these symbols are included, even if they were on an earlier page.
    pub(crate) fn shown(&self) -> Cow<'_, [Symbol]> {
        if self.part.count == self.part.total {
            return Cow::Borrowed(&self.symbols);
        }
        let wanted = self.part.from..self.part.from + self.part.count;
        let mut position = 0;
        Cow::Owned(self.symbols.iter().filter_map(|it| self.shown_of(it, &wanted, &mut position)).collect())
    }

    fn shown_of(&self, symbol: &Symbol, wanted: &Range<usize>, position: &mut usize) -> Option<Symbol> {
        let is_wanted = wanted.contains(position);
        *position += 1;
        let inner: Vec<Symbol> = symbol.inner().iter().filter_map(|it| self.shown_of(it, wanted, position)).collect();
        if !is_wanted && inner.is_empty() {
            return None;
        }
        let says = !inner.is_empty() || self.says_empty && holds_others(symbol.kind);
        let docs = symbol.docs.clone().filter(|_| is_wanted);
        Some(Symbol { children: says.then_some(inner), docs, ..symbol.clone() })
    }

    /// The costs of the symbols, from the first one in the page.
    pub(super) fn costs(&self, form: Form) -> Vec<usize> {
        fn walk(symbol: &Symbol, form: Form, costs: &mut Vec<usize>) {
            costs.push(symbol_cost(symbol, form));
            symbol.inner().iter().for_each(|it| walk(it, form, costs));
        }
        let mut costs = Vec::new();
        self.symbols.iter().for_each(|it| walk(it, form, &mut costs));
        costs.split_off(self.part.from)
    }

    /// Limits the page to symbols that are named up to this line.
    pub(super) fn up_to_line(&mut self, line: usize) {
        fn walk(symbol: &Symbol, line: usize, count: &mut usize) -> bool {
            if symbol.name_at.line > line {
                return false;
            }
            *count += 1;
            symbol.inner().iter().all(|it| walk(it, line, count))
        }
        let mut count = 0;
        self.symbols.iter().all(|it| walk(it, line, &mut count));
        self.part.count = self.part.count.min(count.saturating_sub(self.part.from));
    }

    /// Removes the docs, which the text of the file contains too.
    pub(super) fn without_docs(&mut self) {
        fn walk(symbol: &mut Symbol) {
            symbol.docs = None;
            symbol.children.iter_mut().flatten().for_each(walk);
        }
        self.symbols.iter_mut().for_each(walk);
    }
}

impl Serialize for SymbolTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.shown().serialize(serializer)
    }
}

fn size(symbol: &Symbol) -> usize {
    1 + symbol.inner().iter().map(size).sum::<usize>()
}

request! { query
    /// A position in a file: `offset`, or `line` and `column`.
    pub struct SymbolAtQuery {
        /// Relative to the workspace root.
        pub file: String,
        /// The offset in bytes, from 0. Default: `line` and `column`.
        #[param(nullable = false)]
        pub offset: Option<usize>,
        /// The line, from 1. Default: `offset`.
        #[param(nullable = false, minimum = 1)]
        pub line: Option<usize>,
        /// The column in bytes, from 1. Default: `offset`.
        #[param(nullable = false, minimum = 1)]
        pub column: Option<usize>,
    }
}

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// In UTF-8 bytes, from 0.
    Offset(usize),
    /// Line and column, as editors show them.
    LineColumn {
        /// From 1.
        line: usize,
        /// From 1, in UTF-8 bytes.
        column: usize,
    },
}

impl SymbolAtQuery {
    /// Validates the position. Returns `invalid_request` unless it is an offset, or a line and a column.
    pub fn position(&self) -> Result<Position> {
        match (self.offset, self.line, self.column) {
            (Some(offset), None, None) => Ok(Position::Offset(offset)),
            (None, Some(line), Some(column)) if line > 0 && column > 0 => Ok(Position::LineColumn { line, column }),
            _ => Err(Error::new(
                Code::InvalidRequest,
                "say either `offset` (bytes, from 0) or both `line` and `column` (from 1, the column in bytes)",
            )),
        }
    }
}

/// The symbol at a position. Fields that do not apply are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::symbol_at))]
pub struct SymbolAtReply {
    /// The symbol that the position refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<Symbol>,
    /// The type of the expression or binding.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ty: Option<String>,
    /// The hover text of an editor, as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hover: Option<String>,
    /// The place of the definition, also for local variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub definition: Option<Place>,
    /// The origin of a definition outside the workspace root.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub origin: Option<Origin>,
    /// The word at the position.
    pub at: Place,
    /// Continues `hover`.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that is described, and whether the reply is complete.
    pub meta: Meta,
    /// The lines of `hover` in the page.
    #[serde(skip)]
    pub part: Part,
}

impl Answer for SymbolAtReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(300 + self.ty.as_deref().map_or(0, text_cost));
        if let Some(symbol) = &mut self.symbol {
            // `hover` contains them.
            symbol.docs = None;
            budget.spend(symbol_cost(symbol, budget.form()));
        }
        let hover = self.hover.as_deref().unwrap_or_default();
        let costs = hover.split_inclusive('\n').map(text_cost).collect();
        budget.share(&mut [(&mut self.part, costs, 100)]);
        let kept = hover.split_inclusive('\n').take(self.part.count).collect();
        self.hover = self.hover.is_some().then_some(kept);
        self.next_cursor = next_cursor(&[self.part]);
        Some(left_out(&[("lines of `hover`", self.part)]))
    }
}

impl SymbolAtReply {
    /// The page that starts at a line of `hover`.
    pub fn after(line: usize, found: semdex_model::SymbolAt, meta: Meta) -> SymbolAtReply {
        let part = Part::after(line, found.hover.as_deref().unwrap_or_default().split_inclusive('\n').count());
        SymbolAtReply {
            symbol: found.symbol.map(Symbol::from),
            ty: found.ty,
            hover: found.hover.map(|it| part.lines(&it)),
            definition: found.definition.map(Place::from),
            origin: found.origin.map(Origin::from),
            at: found.at.into(),
            next_cursor: next_cursor(&[part]),
            meta,
            part,
        }
    }
}
