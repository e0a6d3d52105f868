//! The questions of the seam: what the texts tell at once, the rest by waiting for gopls.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::{Go, LANGUAGE, View, unknown};
use semdex_engine::fixes::Fix;
use semdex_engine::view::{self, Answering, Extent, Suggested, Unknown, blocking};
use semdex_engine::{Deadlines, Result, Tidied, Wanted, rank};
use semdex_model::{
    Answer, Calls, ChangeImpact, Code, Description, Diagnostic, Error, FileEdit, LanguageId, Missing, MissingCode,
    Overview, Package, Place, References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

/// A view with the engine that it is of.
pub(super) struct GoView {
    pub go: Go,
    pub view: View,
}

impl view::View for GoView {
    fn language(&self) -> LanguageId {
        LANGUAGE
    }

    fn resolve(self: Box<Self>, query: SymbolQuery, _: Deadlines) -> BoxFuture<'static, Result<Symbol>> {
        blocking(move || one(self.view.resolve(&query)?, &query))
    }

    fn usages(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Symbol, UsagePage)> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            let page = view.usage_page(&symbol, window, deadlines).await?;
            Ok(page.map(|page| (symbol, page)))
        }
        .boxed()
    }

    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Description, UsagePage)> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            let described = view.describe(&symbol, deadlines).await?;
            let usages = view.usage_page(&symbol, window, deadlines).await?;
            let mut coverage = described.coverage;
            coverage.absorb(usages.coverage);
            Ok(Answer { value: (described.value, usages.value), coverage })
        }
        .boxed()
    }

    fn symbols(self: Box<Self>, file: String, _: Deadlines) -> Answering<Vec<Symbol>> {
        blocking(move || Ok(Answer { value: self.view.symbols(&file), coverage: self.view.unread(Some(&file)) }))
    }

    fn outline(self: Box<Self>, file: String, _: Deadlines) -> Answering<Overview> {
        blocking(move || Ok(Answer { value: self.view.outline(&file)?, coverage: self.view.unread(Some(&file)) }))
    }

    fn overview(self: Box<Self>, file: String, deadlines: Deadlines, _: Instant) -> Answering<Overview> {
        let view = self.view;
        async move {
            let mut answer = view.overview(&file, deadlines).await?;
            answer.coverage.absorb(view.unread(Some(&file)));
            Ok(answer)
        }
        .boxed()
    }

    fn symbol_at(self: Box<Self>, file: String, offset: usize, deadlines: Deadlines) -> Answering<SymbolAt> {
        let view = self.view;
        async move { view.symbol_at(&file, offset, deadlines).await }.boxed()
    }

    fn diagnostics(self: Box<Self>, files: Vec<String>, deadlines: Deadlines) -> Answering<Vec<Diagnostic>> {
        let view = self.view;
        async move { view.diagnostics(&files, deadlines).await }.boxed()
    }

    fn fixes(self: Box<Self>, places: Vec<Place>, deadlines: Deadlines) -> Answering<Vec<Fix>> {
        let view = self.view;
        async move { view.fixes(&places, deadlines).await }.boxed()
    }

    fn package(self: Box<Self>, name: String, _: Deadlines) -> Answering<Package> {
        blocking(move || self.view.package(&name))
    }

    fn search(self: Box<Self>, query: String, limit: usize, _: Deadlines) -> Answering<Vec<(Symbol, f64)>> {
        blocking(move || Ok(search(&self.view, &query, limit)))
    }

    fn callers(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            let found = view.callers(&symbol, deadlines).await?;
            Ok(found.map(|found| (symbol, found)))
        }
        .boxed()
    }

    fn callees(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            let found = view.callees(&symbol, deadlines).await?;
            Ok(found.map(|found| (symbol, found)))
        }
        .boxed()
    }

    fn implementations(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Symbol>)> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            let found = view.implementations(&symbol, deadlines).await?;
            Ok(found.map(|found| (symbol, found)))
        }
        .boxed()
    }

    fn references(self: Box<Self>, deadlines: Deadlines) -> Answering<Arc<References>> {
        let view = self.view;
        async move { view.references(deadlines).await }.boxed()
    }

    fn rename(self: Box<Self>, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Answering<Renaming> {
        let view = self.view;
        async move {
            let symbol = one(view.resolve(&query)?, &query)?;
            view.rename(symbol, &new_name, deadlines).await
        }
        .boxed()
    }

    fn suggest(self: Box<Self>, asked: Unknown, _: Deadlines) -> Answering<Suggested> {
        blocking(move || Ok(Answer::whole(unknown::suggest(&self.view, &asked)?)))
    }

    fn impact(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        _: Extent,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<ChangeImpact>> {
        async move { self.go.impact(&self.view, &edits, deadlines).await }.boxed()
    }

    fn tidy(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        wanted: Wanted,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<Vec<Tidied>>> {
        async move { self.go.tidy(&self.view, &edits, wanted, deadlines).await }.boxed()
    }
}

fn search(view: &View, query: &str, limit: usize) -> Answer<Vec<(Symbol, f64)>> {
    let name = query.rsplit(['.', '/']).next().unwrap_or(query);
    let fits = |symbol: Symbol| {
        let fit = rank::fit(name, &symbol.name, symbol.public, symbol.test).unwrap_or_default();
        (symbol, fit)
    };
    let hits = view.search(query, limit);
    let is_cut = hits.items.len() < hits.total;
    let found = hits.items.into_iter().map(|it| fits(it.0)).collect();
    let mut coverage = view.unread(None);
    if is_cut {
        let detail = format!("{} symbols fit, the best {limit} are listed: give more of the name", hits.total);
        coverage.lacks(Missing::new(MissingCode::TooMany, LANGUAGE.name, detail));
    }
    Answer { value: found, coverage }
}

fn one(mut found: Vec<Symbol>, query: &SymbolQuery) -> Result<Symbol> {
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::new(Code::UnknownSymbol, format!("there is no one symbol `{}`", query.symbol)).into()),
    }
}
