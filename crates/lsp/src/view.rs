//! A view of one revision through a language server.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::queries::ServerQueries;
use super::session::Session;
use super::{diagnostics, edits, fixes, impact, overview, reference_counts, relations, usages};
use semdex_engine::files::Files;
use semdex_engine::fix::Fix;
use semdex_engine::{Answering, Deadlines, Extent, Result, Tidied, View, Wanted, blocking};
use semdex_model::{
    Answer, Calls, ChangeImpact, Coverage, Description, Diagnostic, Error, FileEdit, LanguageId, Overview, Package,
    Place, References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

pub(crate) struct LspView {
    pub session: Arc<Session>,
    pub files: Arc<Files>,
    pub generation: Option<u64>,
}

impl LspView {
    fn queries(&self, deadlines: Deadlines) -> ServerQueries {
        let (session, files) = (self.session.clone(), self.files.clone());
        ServerQueries { session, files, generation: self.generation, deadlines }
    }

    /// Runs a query while no dry run has the server exclusively.
    fn with<T, F>(
        self: Box<Self>,
        deadlines: Deadlines,
        question: impl FnOnce(ServerQueries) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T>>
    where
        F: Future<Output = Result<T>> + Send,
        T: Send + 'static,
    {
        async move {
            let queries = self.queries(deadlines);
            let turn = self.session.gate.clone().read_owned();
            let Ok(_turn) = tokio::time::timeout_at(deadlines.answer.into(), turn).await else {
                let missing = self.session.out_of_time().missing(&self.session);
                return Err(Error::new(semdex_model::Code::Timeout, missing.detail).into());
            };
            question(queries).await
        }
        .boxed()
    }
}

impl View for LspView {
    fn language(&self) -> LanguageId {
        self.session.language
    }

    fn resolve(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> BoxFuture<'static, Result<Symbol>> {
        self.with(deadlines, |it| async move {
            let found = it.resolve(&query, &mut Coverage::default()).await?;
            relations::symbol_of(&it, &found)
        })
    }

    fn usages(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Symbol, UsagePage)> {
        self.with(deadlines, move |it| async move {
            let mut coverage = Coverage::default();
            let found = it.resolve(&query, &mut coverage).await?;
            let used = usages::of(&it, &found, &mut coverage).await?;
            let symbol = relations::symbol_of(&it, &found)?;
            Ok(Answer { value: (symbol, usages::page(used, &found.file.path, window)), coverage })
        })
    }

    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Description, UsagePage)> {
        self.with(deadlines, move |it| async move { relations::describe(&it, &query, window).await })
    }

    fn symbols(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Vec<Symbol>> {
        self.session.want();
        self.with(deadlines, move |it| async move {
            let file = it.file(&file)?;
            Ok(overview::outline(&it, &file, false).await?.map(|it| it.symbols))
        })
    }

    fn outline(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Overview> {
        // A client that opens a file will soon query it.
        self.session.want();
        let queries = self.queries(deadlines);
        async move {
            let file = queries.file(&file)?;
            overview::outline(&queries, &file, true).await
        }
        .boxed()
    }

    fn overview(self: Box<Self>, file: String, deadlines: Deadlines, until: Instant) -> Answering<Overview> {
        self.with(deadlines, move |it| async move {
            let file = it.file(&file)?;
            overview::of(&it, &file, until).await
        })
    }

    fn symbol_at(self: Box<Self>, file: String, offset: usize, deadlines: Deadlines) -> Answering<SymbolAt> {
        self.with(deadlines, move |it| async move {
            let file = it.file(&file)?;
            relations::symbol_at(&it, file, offset).await
        })
    }

    fn diagnostics(self: Box<Self>, files: Vec<String>, deadlines: Deadlines) -> Answering<Vec<Diagnostic>> {
        self.with(deadlines, move |it| async move { diagnostics::of(&it, files).await })
    }

    fn fixes(self: Box<Self>, places: Vec<Place>, deadlines: Deadlines) -> Answering<Vec<Fix>> {
        self.with(deadlines, move |it| async move { fixes::of(&it, &places).await })
    }

    fn package(self: Box<Self>, name: String, deadlines: Deadlines) -> Answering<Package> {
        self.with(deadlines, move |it| async move { overview::package(&it, &name).await })
    }

    fn search(self: Box<Self>, query: String, limit: usize, deadlines: Deadlines) -> Answering<Vec<(Symbol, f64)>> {
        self.with(deadlines, move |it| async move { overview::search(&it, query, limit).await })
    }

    fn callers(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        self.with(deadlines, move |it| async move { relations::callers(&it, &query).await })
    }

    fn callees(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        self.with(deadlines, move |it| async move { relations::callees(&it, &query).await })
    }

    fn implementations(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Symbol>)> {
        self.with(deadlines, move |it| async move { relations::implementations(&it, &query).await })
    }

    /// From the texts alone, without the server.
    fn references(self: Box<Self>, deadlines: Deadlines) -> Answering<Arc<References>> {
        let queries = self.queries(deadlines);
        blocking(move || Ok(reference_counts::of(&queries)))
    }

    fn rename(self: Box<Self>, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Answering<Renaming> {
        self.with(deadlines, move |it| async move { edits::rename(&it, &query, &new_name).await })
    }

    fn impact(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        extent: Extent,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<ChangeImpact>> {
        let queries = self.queries(deadlines);
        async move { impact::run(&queries, edits, extent).await }.boxed()
    }

    fn tidy(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        wanted: Wanted,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<Vec<Tidied>>> {
        let queries = self.queries(deadlines);
        async move { edits::tidy(&queries, &edits, wanted).await }.boxed()
    }
}
