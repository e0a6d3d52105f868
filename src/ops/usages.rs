//! `usages` and `implementations`: who names a symbol, and who stands in for it.

use super::ask::{Ask, Listing, Reply, ask_by_name, tokens};
use crate::model::{Result, Symbol, SymbolQuery, Usage, Usages};
use crate::workspace::Workspace;

const PAGE: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct UsageList {
    pub total: usize,
    pub files: usize,
    pub items: Vec<Usage>,
    pub possible: Vec<Usage>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UsagesOf {
    pub symbol: Symbol,
    pub usages: UsageList,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImplementationsOf {
    pub symbol: Symbol,
    pub list: Listing<Symbol>,
}

pub async fn usages(workspace: &Workspace, query: &SymbolQuery, asked: &Ask) -> Result<Reply<UsagesOf>> {
    let found = ask_by_name(workspace, asked, query, |view, query, deadline| view.usages(query, deadline)).await?;
    let (symbol, usages) = found.value;
    let symbol = Symbol { usages: Some(usages.count()), ..symbol };
    Ok(Reply { value: UsagesOf { symbol, usages: list(usages, asked)? }, meta: found.meta })
}

pub async fn implementations(
    workspace: &Workspace,
    query: &SymbolQuery,
    asked: &Ask,
) -> Result<Reply<ImplementationsOf>> {
    let found =
        ask_by_name(workspace, asked, query, |view, query, deadline| view.implementations(query, deadline)).await?;
    let (symbol, implementations) = found.value;
    let cost = |it: &Symbol| tokens(&[&it.path, &it.signature, &it.place.file]) + 40;
    let list = asked.page(implementations, PAGE, cost)?;
    Ok(Reply { value: ImplementationsOf { symbol, list }, meta: found.meta })
}

/// The asked stretch of all usages: those outside tests first, each file's together.
pub(super) fn list(mut usages: Usages, asked: &Ask) -> Result<UsageList> {
    usages.items.sort_by(|a, b| (a.test, &a.place).cmp(&(b.test, &b.place)));
    let count = usages.count();
    let cost = |it: &Usage| tokens(&[&it.text, &it.place.file, it.symbol.as_deref().unwrap_or("")]) + 30;
    let page = asked.page(usages.items, PAGE, cost)?;
    Ok(UsageList {
        total: count.total,
        files: count.files,
        items: page.items,
        possible: usages.possible,
        next_cursor: page.next_cursor,
    })
}
