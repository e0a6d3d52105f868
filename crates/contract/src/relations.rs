//! `usages`, `callers`, `callees` and `implementations`: what stands in relation to one symbol.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, Part, left_out, next_cursor, symbol_cost, text_cost, usage_cost};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::{Meta, Place, Symbol, Usage, list};
use semdex_model::{SymbolQuery, UsageCount, UsagePage, Window};

request! { query
    /// Which symbol.
    pub struct AboutSymbolQuery {
        /// Its path; a shorter one is taken where it is unique.
        #[param(example = "grep_searcher::Searcher")]
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path. Default: any.
        #[param(nullable = false)]
        pub package: Option<String>,
        /// Narrows a short path: the file of the definition. Default: any.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

impl AboutSymbolQuery {
    /// The symbol as the request names it.
    pub fn symbol(&self) -> SymbolQuery {
        SymbolQuery { symbol: self.symbol.clone(), package: self.package.clone(), file: self.file.clone() }
    }
}

/// The places that name a symbol, ranked, grouped by file and counted in full.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct UsageList {
    /// Usages, the possible ones not counted.
    pub total: usize,
    /// Files that have at least one of these.
    pub files: usize,
    /// Other files before the definition's own, tests last.
    pub items: Vec<Usage>,
    /// Places that hold the name and that nobody could resolve.
    pub possible: Vec<Usage>,
    /// Those that are only possible come after all others.
    #[serde(skip)]
    pub part: Part,
}

impl UsageList {
    /// The usages of a page, and where they stand among all.
    pub fn new(page: UsagePage, window: Window) -> UsageList {
        let UsagePage { count: UsageCount { total, files }, possible_count, items, possible } = page;
        let mut part = Part::after(window.from, total + possible_count);
        part.count = items.len() + possible.len();
        UsageList { total, files, items: list(items), possible: list(possible), part }
    }

    pub(super) fn costs(&self, form: Form) -> Vec<usize> {
        self.items.iter().chain(&self.possible).map(|it| usage_cost(it, form)).collect()
    }

    /// Drops what the part does not hold any more.
    pub(super) fn truncate(&mut self) {
        self.possible.truncate(self.part.count.saturating_sub(self.items.len()));
        self.items.truncate(self.part.count);
    }
}

/// Who uses a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::usages))]
pub struct UsagesReply {
    /// The one that the request means.
    pub symbol: Symbol,
    /// The stretch of them that was asked for.
    #[serde(flatten)]
    pub usages: UsageList,
    /// Continues the usages; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was searched; `complete` says that no usage is missing.
    pub meta: Meta,
}

impl UsagesReply {
    /// The cursor follows from the list.
    pub fn new(symbol: Symbol, usages: UsageList, meta: Meta) -> UsagesReply {
        UsagesReply { symbol, next_cursor: next_cursor(&[usages.part]), usages, meta }
    }
}

impl Answer for UsagesReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        spend_on(&mut self.symbol, &mut budget);
        let costs = self.usages.costs(budget.form());
        budget.share(&mut [(&mut self.usages.part, costs, 100)]);
        self.usages.truncate();
        self.next_cursor = next_cursor(&[self.usages.part]);
        Some(left_out(&[("usages", self.usages.part)]))
    }
}

/// The symbol that an answer is about. Who counts tokens has its docs elsewhere.
pub(super) fn spend_on(symbol: &mut Symbol, budget: &mut Budget) {
    symbol.docs = None;
    budget.spend(symbol_cost(symbol, budget.form()));
}

/// What implements a trait or an interface, or overrides a method.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::implementations))]
pub struct ImplementationsReply {
    /// The one that the request means.
    pub symbol: Symbol,
    /// How many there are, those left to `next_cursor` too.
    pub total: usize,
    /// The types or members.
    #[schema(value_type = Vec<Symbol>)]
    pub items: Listing<Symbol>,
    /// Continues the items; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was searched, and whether all of it was.
    pub meta: Meta,
}

impl ImplementationsReply {
    /// The total and the cursor follow from the list.
    pub fn new(symbol: Symbol, items: Listing<Symbol>, meta: Meta) -> ImplementationsReply {
        ImplementationsReply { symbol, total: items.total(), next_cursor: items.next_cursor(), items, meta }
    }
}

impl Answer for ImplementationsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        spend_on(&mut self.symbol, &mut budget);
        let form = budget.form();
        self.items.cut(&mut budget, |it| symbol_cost(it, form));
        self.next_cursor = self.items.next_cursor();
        Some(left_out(&[("implementations", self.items.part)]))
    }
}

/// Who calls a symbol, or what it calls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::calls))]
pub struct CallsReply {
    /// The one that the request means.
    pub symbol: Symbol,
    /// How many callers or callees there are, those left to `next_cursor` too.
    pub total: usize,
    /// A caller or callee each.
    #[schema(value_type = Vec<Calls>)]
    pub items: Listing<Calls>,
    /// Continues the items; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was searched, and whether all of it was.
    pub meta: Meta,
}

impl CallsReply {
    /// The total and the cursor follow from the list.
    pub fn new(symbol: Symbol, items: Listing<Calls>, meta: Meta) -> CallsReply {
        CallsReply { symbol, total: items.total(), next_cursor: items.next_cursor(), items, meta }
    }
}

impl Answer for CallsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        spend_on(&mut self.symbol, &mut budget);
        let site = |it: &CallSite| text_cost(&it.text) + it.place.file.len() + 100;
        let form = budget.form();
        self.items.cut(&mut budget, |it| symbol_cost(&it.symbol, form) + it.calls.iter().map(site).sum::<usize>());
        self.next_cursor = self.items.next_cursor();
        Some(left_out(&[("symbols", self.items.part)]))
    }
}

/// The caller or the callee, and where it calls or is called.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Calls {
    /// The caller; for callees, what is called.
    pub symbol: Symbol,
    /// In the order of the text.
    pub calls: Vec<CallSite>,
}

/// A place that calls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CallSite {
    /// The name of what is called.
    #[serde(flatten)]
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// It stands in test code.
    pub test: bool,
}

impl From<semdex_model::Calls> for Calls {
    fn from(calls: semdex_model::Calls) -> Calls {
        Calls { symbol: calls.symbol.into(), calls: list(calls.calls) }
    }
}

impl From<semdex_model::CallSite> for CallSite {
    fn from(site: semdex_model::CallSite) -> CallSite {
        CallSite { place: site.place.into(), text: site.text, test: site.test }
    }
}
