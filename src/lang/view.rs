//! One revision as any engine sees it: the same questions for every language. Rust is asked on a blocking thread,
//! Go by waiting for gopls; whoever asks cannot tell.

use std::time::Instant;

use super::{Deadlines, Result, Stop, go, rank, rust};
use crate::fault;
use crate::model::{
    Answer, Calls, Code, Description, Diagnostic, Error, LanguageId, Missing, MissingCode, Overview, Package, Renaming,
    Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

pub enum View {
    Rust(rust::view::View),
    Go(go::View),
}

impl View {
    pub fn language(&self) -> LanguageId {
        match self {
            View::Rust(_) => rust::LANGUAGE,
            View::Go(_) => go::LANGUAGE,
        }
    }

    /// Rust answers with what it has by then.
    fn by(self, until: Instant) -> View {
        match self {
            View::Rust(view) => View::Rust(view.by(until)),
            go @ View::Go(_) => go,
        }
    }

    pub async fn usages(
        self,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Result<Answer<(Symbol, UsagePage)>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.usages(&query, window)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                let page = view.usage_page(&symbol, window, deadlines).await?;
                Ok(page.map(|page| (symbol, page)))
            }
        }
    }

    /// Who calls a symbol, and where.
    pub async fn callers(self, query: SymbolQuery, deadlines: Deadlines) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.callers(&query)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                let found = view.callers(&symbol, deadlines).await?;
                Ok(found.map(|found| (symbol, found)))
            }
        }
    }

    /// What a symbol calls, and where.
    pub async fn callees(self, query: SymbolQuery, deadlines: Deadlines) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.callees(&query)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                let found = view.callees(&symbol, deadlines).await?;
                Ok(found.map(|found| (symbol, found)))
            }
        }
    }

    pub async fn implementations(
        self,
        query: SymbolQuery,
        deadlines: Deadlines,
    ) -> Result<Answer<(Symbol, Vec<Symbol>)>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.implementations(&query)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                let found = view.implementations(&symbol, deadlines).await?;
                Ok(found.map(|found| (symbol, found)))
            }
        }
    }

    pub async fn describe(
        self,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Result<Answer<(Description, UsagePage)>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.describe(&query, window)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                let described = view.describe(&symbol, deadlines).await?;
                let usages = view.usage_page(&symbol, window, deadlines).await?;
                let mut coverage = described.coverage;
                coverage.absorb(usages.coverage);
                Ok(Answer { value: (described.value, usages.value), coverage })
            }
        }
    }

    /// What a symbol's new name changes, or why it cannot have it.
    pub async fn rename(self, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Result<Answer<Renaming>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.rename(&query, &new_name)).await,
            View::Go(view) => {
                let symbol = one(view.resolve(&query)?, &query)?;
                view.rename(symbol, &new_name, deadlines).await
            }
        }
    }

    /// The one symbol that a query means.
    pub async fn resolve(self, query: SymbolQuery) -> Result<Symbol> {
        match self {
            View::Rust(view) => blocking(move || view.resolve(&query)).await,
            View::Go(view) => one(view.resolve(&query)?, &query),
        }
    }

    pub async fn symbols(self, file: String) -> Result<Answer<Vec<Symbol>>> {
        match self {
            View::Rust(view) => blocking(move || view.symbols(&file)).await,
            View::Go(view) => Ok(Answer { value: view.symbols(&file), coverage: view.unread(Some(&file)) }),
        }
    }

    /// What the text of a file says by itself: no usages are counted.
    pub async fn outline(self, file: String) -> Result<Answer<Overview>> {
        match self {
            View::Rust(view) => {
                let symbols = blocking(move || view.symbols(&file)).await?;
                Ok(symbols.map(|symbols| Overview { symbols, ..Overview::default() }))
            }
            View::Go(view) => Ok(Answer { value: view.outline(&file)?, coverage: view.unread(Some(&file)) }),
        }
    }

    /// After `until` Rust counts no more usages, and says so.
    pub async fn overview(self, file: String, deadlines: Deadlines, until: Instant) -> Result<Answer<Overview>> {
        match self {
            View::Rust(view) => blocking(move || view.overview(&file, until)).await,
            View::Go(view) => {
                let mut answer = view.overview(&file, deadlines).await?;
                answer.coverage.absorb(view.unread(Some(&file)));
                Ok(answer)
            }
        }
    }

    pub async fn symbol_at(self, file: String, offset: usize, deadlines: Deadlines) -> Result<Answer<SymbolAt>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.symbol_at(&file, offset)).await,
            View::Go(view) => view.symbol_at(&file, offset, deadlines).await,
        }
    }

    /// Of these files, or of all where none is named.
    pub async fn diagnostics(self, files: Vec<String>, deadlines: Deadlines) -> Result<Answer<Vec<Diagnostic>>> {
        match self.by(deadlines.answer) {
            View::Rust(view) => blocking(move || view.diagnostics(&files)).await,
            View::Go(view) => view.diagnostics(&files, deadlines).await,
        }
    }

    pub async fn package(self, name: String) -> Result<Answer<Package>> {
        match self {
            View::Rust(view) => blocking(move || view.package(&name)).await,
            View::Go(view) => view.package(&name),
        }
    }

    /// Symbols by parts of their name, with how well each fits, on one scale for all languages.
    pub async fn search(self, query: String, limit: usize) -> Result<Answer<Vec<(Symbol, f64)>>> {
        match self {
            View::Rust(view) => blocking(move || view.search(&query, limit)).await,
            View::Go(view) => {
                let name = query.rsplit(['.', '/']).next().unwrap_or(&query);
                let fits = |symbol: Symbol| {
                    let fit = rank::fit(name, &symbol.name, symbol.public, symbol.test).unwrap_or_default();
                    (symbol, fit)
                };
                let hits = view.search(&query, limit);
                let is_cut = hits.items.len() < hits.total;
                let found = hits.items.into_iter().map(|it| fits(it.0)).collect();
                let mut coverage = view.unread(None);
                if is_cut {
                    let detail =
                        format!("{} symbols fit, the best {limit} are listed: give more of the name", hits.total);
                    coverage.lacks(Missing::new(MissingCode::TooMany, "go", detail));
                }
                Ok(Answer { value: found, coverage })
            }
        }
    }
}

/// Analysis never runs on a thread that serves requests.
async fn blocking<T: Send + 'static>(question: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let question = || {
        fault::point("rust.question");
        question()
    };
    match tokio::task::spawn_blocking(question).await {
        Ok(answer) => answer,
        Err(error) if error.is_panic() => {
            tracing::error!(%error, "a question panicked");
            Err(Stop::Failed(Error::new(Code::Internal, "the analysis failed on this question; the server goes on")))
        }
        Err(_) => Err(Stop::Failed(Error::new(Code::Internal, "the server is stopping"))),
    }
}

fn one(mut found: Vec<Symbol>, query: &SymbolQuery) -> Result<Symbol> {
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::new(Code::UnknownSymbol, format!("there is no one symbol `{}`", query.symbol)).into()),
    }
}
