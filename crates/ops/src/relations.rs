//! `usages`, `callers`, `callees` and `implementations`: the relations of a symbol.

use super::query::{RequestOptions, WithMeta, query_by_name, unless_loading, with_candidates};
use semdex_contract::budget::Listing;
use semdex_contract::{
    AboutSymbolQuery, Calls, CallsReply, ImplementationsReply, Meta, Symbol, SymbolUsesQuery, UsageList, UsagesReply,
};
use semdex_model::Result;
use semdex_workspace::Workspace;

pub(super) const PAGE: usize = 100;

pub(crate) async fn usages(
    workspace: &Workspace,
    request: SymbolUsesQuery,
    options: &RequestOptions,
) -> Result<UsagesReply> {
    let options = &options.early();
    let window = options.window(PAGE)?;
    let found = query_by_name(workspace, options, "usages", &request.symbol(), |view, query, deadlines| {
        view.usages(query, window, deadlines)
    })
    .await
    .map_err(unless_loading);
    let found = match found {
        Ok(found) => found,
        Err(error) => return Err(with_candidates(workspace, options, &request.symbol().symbol, error).await),
    };
    let (symbol, page) = found.value;
    let names = page.items.iter().chain(&page.outside_builds).map(|it| &it.place.file);
    workspace.seen_texts().note_glimpsed(options.session.as_deref(), &found.files, names);
    let mut usages = UsageList::new(page, window);
    usages.part.asked_for(options.limit);
    Ok(UsagesReply::new(Symbol { usages: Some(usages.count()), ..symbol.into() }, usages, found.meta.into()))
}

pub(crate) async fn implementations(
    workspace: &Workspace,
    request: AboutSymbolQuery,
    options: &RequestOptions,
) -> Result<ImplementationsReply> {
    let options = &options.early();
    let found = query_by_name(workspace, options, "implementations", &request.symbol(), |view, query, deadlines| {
        view.implementations(query, deadlines)
    })
    .await
    .map_err(unless_loading)?;
    let (symbol, items, meta) = related(found, options)?;
    Ok(ImplementationsReply::new(symbol, items.map(Symbol::from), meta))
}

pub(crate) async fn callers(
    workspace: &Workspace,
    request: SymbolUsesQuery,
    options: &RequestOptions,
) -> Result<CallsReply> {
    let options = &options.early();
    let found = query_by_name(workspace, options, "callers", &request.symbol(), |view, query, deadlines| {
        view.callers(query, deadlines)
    })
    .await
    .map_err(unless_loading)?;
    let (symbol, items, meta) = related(found, options)?;
    Ok(CallsReply::new(symbol, items.map(Calls::from), meta))
}

pub(crate) async fn callees(
    workspace: &Workspace,
    request: AboutSymbolQuery,
    options: &RequestOptions,
) -> Result<CallsReply> {
    let options = &options.early();
    let found = query_by_name(workspace, options, "callees", &request.symbol(), |view, query, deadlines| {
        view.callees(query, deadlines)
    })
    .await
    .map_err(unless_loading)?;
    let (symbol, items, meta) = related(found, options)?;
    Ok(CallsReply::new(symbol, items.map(Calls::from), meta))
}

/// The symbol, and the requested page of its relations.
fn related<T>(
    found: WithMeta<(semdex_model::Symbol, Vec<T>)>,
    options: &RequestOptions,
) -> Result<(Symbol, Listing<T>, Meta)> {
    let (symbol, items) = found.value;
    Ok((symbol.into(), options.page(items, PAGE)?, found.meta.into()))
}
