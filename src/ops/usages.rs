//! `usages`, `callers`, `callees` and `implementations`: what stands in relation to a symbol.

use super::ask::{Ask, Listing, Reply, ask_by_name};
use super::fit::{Budget, Fit, Part, left_out, next_cursor, symbol_cost, text_cost, usage_cost};
use crate::model::{Calls, Result, Symbol, SymbolQuery, Usage, UsageCount, UsagePage, Window};
use crate::workspace::Workspace;

pub(super) const PAGE: usize = 100;

/// A stretch of the usages of a symbol; those that are only possible come after all others.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageList {
    pub total: usize,
    pub files: usize,
    pub items: Vec<Usage>,
    pub possible: Vec<Usage>,
    pub part: Part,
}

impl UsageList {
    pub(super) fn new(page: UsagePage, window: Window) -> UsageList {
        let UsagePage { count: UsageCount { total, files }, possible_count, items, possible } = page;
        let mut part = Part::after(window.from, total + possible_count);
        part.count = items.len() + possible.len();
        UsageList { total, files, items, possible, part }
    }

    pub(super) fn costs(&self) -> Vec<usize> {
        self.items.iter().chain(&self.possible).map(usage_cost).collect()
    }

    /// Drops what the part does not hold any more.
    pub(super) fn truncate(&mut self) {
        self.possible.truncate(self.part.count.saturating_sub(self.items.len()));
        self.items.truncate(self.part.count);
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UsagesOf {
    pub symbol: Symbol,
    pub usages: UsageList,
}

impl UsagesOf {
    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.usages.part])
    }
}

impl Fit for UsagesOf {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        spend_on(&mut self.symbol, &mut budget);
        let costs = self.usages.costs();
        budget.share(&mut [(&mut self.usages.part, costs, 100)]);
        self.usages.truncate();
        left_out(&[("usages", self.usages.part)])
    }
}

/// A list of what stands in some relation to a symbol.
#[derive(Debug, Clone, PartialEq)]
pub struct RelatedTo<T> {
    pub symbol: Symbol,
    pub list: Listing<T>,
}

pub type ImplementationsOf = RelatedTo<Symbol>;
pub type CallsOf = RelatedTo<Calls>;

impl Fit for ImplementationsOf {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        spend_on(&mut self.symbol, &mut budget);
        self.list.cut(&mut budget, symbol_cost);
        left_out(&[("implementations", self.list.part)])
    }
}

impl Fit for CallsOf {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        spend_on(&mut self.symbol, &mut budget);
        let site = |it: &crate::model::CallSite| text_cost(&it.text) + it.place.file.len() + 100;
        self.list.cut(&mut budget, |it| symbol_cost(&it.symbol) + it.calls.iter().map(site).sum::<usize>());
        left_out(&[("symbols", self.list.part)])
    }
}

/// The symbol that an answer is about. Who counts tokens has its docs elsewhere.
pub(super) fn spend_on(symbol: &mut Symbol, budget: &mut Budget) {
    if budget.is_limited() {
        symbol.docs = None;
    }
    budget.spend(symbol_cost(symbol));
}

pub async fn usages(workspace: &Workspace, query: &SymbolQuery, asked: &Ask) -> Result<Reply<UsagesOf>> {
    let window = asked.window(PAGE)?;
    let found =
        ask_by_name(workspace, asked, "usages", query, |view, query, deadlines| view.usages(query, window, deadlines))
            .await?;
    Ok(found.map(|(symbol, page)| {
        let symbol = Symbol { usages: Some(page.count), ..symbol };
        UsagesOf { symbol, usages: UsageList::new(page, window) }
    }))
}

pub async fn implementations(
    workspace: &Workspace,
    query: &SymbolQuery,
    asked: &Ask,
) -> Result<Reply<ImplementationsOf>> {
    let found = ask_by_name(workspace, asked, "implementations", query, |view, query, deadlines| {
        view.implementations(query, deadlines)
    })
    .await?;
    related(found, asked)
}

pub async fn callers(workspace: &Workspace, query: &SymbolQuery, asked: &Ask) -> Result<Reply<CallsOf>> {
    let found =
        ask_by_name(workspace, asked, "callers", query, |view, query, deadlines| view.callers(query, deadlines))
            .await?;
    related(found, asked)
}

pub async fn callees(workspace: &Workspace, query: &SymbolQuery, asked: &Ask) -> Result<Reply<CallsOf>> {
    let found =
        ask_by_name(workspace, asked, "callees", query, |view, query, deadlines| view.callees(query, deadlines))
            .await?;
    related(found, asked)
}

fn related<T>(found: Reply<(Symbol, Vec<T>)>, asked: &Ask) -> Result<Reply<RelatedTo<T>>> {
    let (symbol, items) = found.value;
    Ok(Reply { value: RelatedTo { symbol, list: asked.page(items, PAGE)? }, meta: found.meta })
}
