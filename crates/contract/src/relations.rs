//! `usages`, `callers`, `callees` and `implementations`: the relations of one symbol.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, Part, left_out, next_cursor, symbol_cost, text_cost, usage_cost};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::{Meta, Place, Symbol, Usage, list};
use semdex_model::{SymbolQuery, UsageCount, UsagePage, Window};

request! { query
    /// The symbol.
    pub struct AboutSymbolQuery {
        /// The path of the symbol. A shorter path is accepted if it is unique.
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

request! { query
    /// The symbol, and the builds that may name it.
    pub struct SymbolUsesQuery {
        /// The path of the symbol. A shorter path is accepted if it is unique.
        #[param(example = "grep_searcher::Searcher")]
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path. Default: any.
        #[param(nullable = false)]
        pub package: Option<String>,
        /// Narrows a short path: the file of the definition. Default: any.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// One build alone: its name in `meta.builds`, or `default` for the default build. Default: all builds.
        #[param(nullable = false, example = "target_os=windows")]
        pub build: Option<String>,
    }
}

impl AboutSymbolQuery {
    /// The symbol as the request names it.
    pub fn symbol(&self) -> SymbolQuery {
        let AboutSymbolQuery { symbol, package, file, .. } = self;
        SymbolQuery { symbol: symbol.clone(), package: package.clone(), file: file.clone(), build: None }
    }
}

impl SymbolUsesQuery {
    /// The symbol as the request names it.
    pub fn symbol(&self) -> SymbolQuery {
        let SymbolUsesQuery { symbol, package, file, build, .. } = self;
        let (symbol, package, file, build) = (symbol.clone(), package.clone(), file.clone(), build.clone());
        SymbolQuery { symbol, package, file, build }
    }
}

/// The usages of a symbol, ranked, grouped by file, with the total.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct UsageList {
    /// The number of usages without the possible ones.
    pub total: usize,
    /// The number of files with at least one usage.
    pub files: usize,
    /// The number of possible usages, including those on other pages.
    pub possible_total: usize,
    /// Places that may name the symbol, each with its `reason`. They come before all usages.
    pub possible: Vec<Usage>,
    /// The number of usages in files that no build includes, including those on other pages.
    pub outside_builds_total: usize,
    /// The usages: other files first, then the file of the definition, tests last.
    pub items: Vec<Usage>,
    /// Usages in files that no build includes, such as UI tests and fixtures: each file is resolved as a program of its
    /// own. They are not in `total`, and come after all usages.
    pub outside_builds: Vec<Usage>,
    /// The page over the possible usages, the usages, and those outside all builds, in this order.
    #[serde(skip)]
    pub part: Part,
}

impl UsageList {
    /// The usages of a page with their position among all.
    pub fn new(page: UsagePage, window: Window) -> UsageList {
        let UsagePage { count, possible_count, items, possible, outside_builds } = page;
        let UsageCount { total, files, outside_builds: outside_builds_total } = count;
        let mut part = Part::after(window.from, possible_count + total + outside_builds_total);
        part.count = possible.len() + items.len() + outside_builds.len();
        UsageList {
            total,
            files,
            possible_total: possible_count,
            possible: list(possible),
            outside_builds_total,
            items: list(items),
            outside_builds: list(outside_builds),
            part,
        }
    }

    /// The number of usages, for the symbol.
    pub fn count(&self) -> super::UsageCount {
        let UsageList { total, files, outside_builds_total, .. } = *self;
        super::UsageCount { total, files, outside_builds: outside_builds_total }
    }

    pub(super) fn costs(&self, form: Form) -> Vec<usize> {
        self.possible.iter().chain(&self.items).chain(&self.outside_builds).map(|it| usage_cost(it, form)).collect()
    }

    /// Drops the items that are no longer in the part.
    pub(super) fn truncate(&mut self) {
        let mut left = self.part.count;
        for list in [&mut self.possible, &mut self.items, &mut self.outside_builds] {
            list.truncate(left);
            left -= list.len();
        }
    }
}

/// The usages of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::usages))]
pub struct UsagesReply {
    /// The symbol of the request.
    pub symbol: Symbol,
    /// The usages of the page.
    #[serde(flatten)]
    pub usages: UsageList,
    /// Continues the usages. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The searched revision. `complete` means that no usage is missing.
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

/// Subtracts the symbol that the reply is about. A reply with a budget leaves out its docs, which `describe` returns.
pub(super) fn spend_on(symbol: &mut Symbol, budget: &mut Budget) {
    symbol.docs = None;
    budget.spend(symbol_cost(symbol, budget.form()));
}

/// The implementations of a trait, an interface or a method.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::implementations))]
pub struct ImplementationsReply {
    /// The symbol of the request.
    pub symbol: Symbol,
    /// The number of implementations, including those on later pages.
    pub total: usize,
    /// The implementing types or members.
    #[schema(value_type = Vec<Symbol>)]
    pub items: Listing<Symbol>,
    /// Continues the items. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The searched revision, and whether the search is complete.
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

/// The callers or callees of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::calls))]
pub struct CallsReply {
    /// The symbol of the request.
    pub symbol: Symbol,
    /// The number of callers or callees, including those on later pages.
    pub total: usize,
    /// The callers or callees.
    #[schema(value_type = Vec<Calls>)]
    pub items: Listing<Calls>,
    /// Continues the items. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The searched revision, and whether the search is complete.
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

/// A caller or callee, with its calls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Calls {
    /// The caller or callee.
    pub symbol: Symbol,
    /// The calls in the order of the text.
    pub calls: Vec<CallSite>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CallSite {
    /// The place of the name of the called symbol.
    #[serde(flatten)]
    pub place: Place,
    /// The text of the whole line.
    pub text: String,
    /// Whether it is in test code.
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
