//! The Go part of one revision of a workspace: every query is answered for that revision, or with [`Stop::Stale`].

use std::sync::Arc;

use tokio::sync::OwnedRwLockReadGuard;

use super::layout::Layout;
use super::queries::GoplsQueries;
use super::search::{self, Hits};
use super::session::{SCOPE, Session};
use super::unlisted_occurrences::Effort;
use super::{
    call_hierarchy, code_actions, definition, diagnostics, external_symbols, file_overview, further_builds,
    package_overview, reference_graph, rename, resolve, unindexed, usages,
};
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_engine::fix::Fix;
use semdex_engine::{Deadlines, Result, Stop, too_deep};
use semdex_model::{
    Answer, Calls, Code, Coverage, Description, Diagnostic, Error, Missing, MissingCode, Overview, Package, Place,
    References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

#[derive(Clone)]
pub(crate) struct View {
    pub(super) session: Arc<Session>,
    pub(super) files: Arc<Files>,
    pub(super) generation: Option<u64>,
}

impl View {
    pub(super) fn new(session: Arc<Session>, files: Arc<Files>) -> View {
        let generation = {
            let documents = session.documents();
            // gopls cannot answer for files that were never applied or are no longer the newest.
            documents.is_current(&files).then(|| documents.generation())
        };
        View { session, files, generation }
    }

    /// The symbols of a file as a tree, from its text alone.
    pub(crate) fn symbols(&self, file: &str) -> Vec<Symbol> {
        self.session.layout(&self.files).symbols(file)
    }

    /// The coverage for texts that are nested too deeply to parse: this file, or all if none is given.
    pub(crate) fn unread(&self, file: Option<&str>) -> Coverage {
        let mut coverage = Coverage::default();
        let asked = |it: &&Arc<File>| file.is_none_or(|file| *it.path == *file);
        for file in self.files.of(LANGUAGE).filter(asked).filter(|it| it.is_too_deep()) {
            coverage.lacks(too_deep(&file.path));
        }
        coverage
    }

    /// The symbols that a query means: of the workspace, else of the standard library and the dependencies.
    pub(crate) fn resolve(&self, query: &SymbolQuery) -> Result<Vec<Symbol>> {
        let outside = |path: &str, bits: &[String]| external_symbols::find(&self.session, &self.files, path, bits);
        let package_set = self.session.layout(&self.files).package_set(query.file.as_deref());
        let refused = match resolve::resolve_in(&package_set, &self.files, query, &outside) {
            Ok(found) if !found.is_empty() => return Ok(found),
            Ok(_) => None,
            Err(error) if error.code == Code::UnknownSymbol || error.code == Code::UnknownPackage => Some(error),
            Err(error) => return Err(error.into()),
        };
        let found = external_symbols::resolve(&self.session, &self.files, query);
        match (found, refused) {
            (None, Some(error)) => Err(external_symbols::suggesting(&self.session, &self.files, query, error).into()),
            (found, _) => Ok(found.into_iter().collect()),
        }
    }

    /// The symbols of the workspace whose names match, best first.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Hits {
        search::search(&self.session.layout(&self.files).package_set(None), query, limit)
    }

    /// A package of the workspace, else of the standard library or a dependency.
    pub(crate) fn package(&self, name: &str) -> Result<Answer<Package>> {
        let unknown = match package_overview::package(&self.session.layout(&self.files).package_set(None), name) {
            Ok(package) => return Ok(Answer::whole(package)),
            Err(error) if error.code == Code::UnknownPackage => error,
            Err(error) => return Err(error.into()),
        };
        let outside = external_symbols::package(&self.session, &self.files, name);
        outside
            .map(Answer::whole)
            .ok_or_else(|| external_symbols::suggesting_packages(&self.files, name, unknown).into())
    }

    /// The outline of a file from its text, without usages.
    pub(crate) fn outline(&self, file: &str) -> Result<Overview> {
        let file = self.file(file)?;
        Ok(file_overview::of_text(&self.session.layout(&self.files), &file))
    }

    /// The symbol at an offset, wherever it is defined.
    pub(crate) async fn symbol_at(&self, file: &str, offset: usize, deadlines: Deadlines) -> Result<Answer<SymbolAt>> {
        let file = self.file(file)?;
        let Some(turn) = self.turn(deadlines).await? else {
            let at = file.lines().place(&file.path, definition::word_at(&file.text, offset));
            return Ok(Answer::lacking(SymbolAt::nothing(at), busy()));
        };
        let answer = definition::symbol_at(&turn.queries(deadlines), &file, offset).await;
        turn.end(answer)
    }

    /// All usages of a symbol, for comparisons in tests.
    #[cfg(test)]
    pub(crate) async fn usages(&self, symbol: &Symbol, deadlines: Deadlines) -> Result<Answer<semdex_model::Usages>> {
        let Some(turn) = self.turn(deadlines).await? else {
            return Ok(Answer::lacking(semdex_model::Usages::default(), busy()));
        };
        let effort = Effort::Thorough;
        let answer = usages::of(&turn.queries(deadlines), symbol, effort).await?;
        turn.end(answer)
    }

    /// One page of the usages of a symbol in the workspace, in the order of the report.
    pub(crate) async fn usage_page(
        &self,
        symbol: &Symbol,
        build: Option<&str>,
        window: Window,
        deadlines: Deadlines,
    ) -> Result<Answer<UsagePage>> {
        // What the index has needs no gopls.
        let is_known = self.generation.is_some_and(|it| self.session.index.knows(it, symbol));
        let turn = if is_known { Some(self.begin(None)?) } else { self.turn(deadlines).await? };
        let Some(turn) = turn else {
            let turn = self.begin(None)?;
            let queries = turn.queries(deadlines);
            let answer = usages::by_text(&queries, symbol, busy());
            let page = answer.map(|places| usages::page(&queries, symbol, &places, window));
            return turn.end(page);
        };
        let queries = turn.queries(deadlines);
        let answer = further_builds::places::of_build(&queries, symbol, build, Effort::Thorough).await?;
        let mut page = answer.map(|places| usages::page(&queries, symbol, &places, window));
        unindexed::naming(&self.files, &symbol.name).await?.into_iter().for_each(|it| page.coverage.lacks(it));
        turn.end(page)
    }

    /// The changes for a new name of a symbol.
    pub(crate) async fn rename(
        &self,
        symbol: Symbol,
        new_name: &str,
        deadlines: Deadlines,
    ) -> Result<Answer<Renaming>> {
        let Some(turn) = self.turn(deadlines).await? else { return Err(Stop::Failed(timeout())) };
        let name = symbol.name.clone();
        let mut answer = rename::of(&turn.queries(deadlines), symbol, new_name).await?;
        unindexed::naming(&self.files, &name).await?.into_iter().for_each(|it| answer.coverage.lacks(it));
        turn.end(answer)
    }

    pub(crate) async fn implementations(&self, symbol: &Symbol, deadlines: Deadlines) -> Result<Answer<Vec<Symbol>>> {
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Vec::new(), busy())) };
        let answer = definition::implementations(&turn.queries(deadlines), symbol).await;
        turn.end(answer)
    }

    /// The callers of a function, with the places.
    pub(crate) async fn callers(
        &self,
        symbol: &Symbol,
        build: Option<&str>,
        deadlines: Deadlines,
    ) -> Result<Answer<Vec<Calls>>> {
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Vec::new(), busy())) };
        let mut answer = call_hierarchy::callers(&turn.queries(deadlines), symbol, build).await?;
        unindexed::naming(&self.files, &symbol.name).await?.into_iter().for_each(|it| answer.coverage.lacks(it));
        turn.end(answer)
    }

    /// The calls in a function or in a variable's initialiser, with the places.
    pub(crate) async fn callees(&self, symbol: &Symbol, deadlines: Deadlines) -> Result<Answer<Vec<Calls>>> {
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Vec::new(), busy())) };
        let answer = call_hierarchy::callees(&turn.queries(deadlines), symbol).await;
        turn.end(answer)
    }

    /// The declarations of each file, and the number of its references to other declarations.
    pub(crate) async fn references(&self, deadlines: Deadlines) -> Result<Answer<Arc<References>>> {
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Arc::default(), busy())) };
        let answer = reference_graph::of(&turn.queries(deadlines), &turn.layout).await?;
        turn.end(answer)
    }

    /// The description of a symbol, without its usages.
    pub(crate) async fn describe(&self, symbol: &Symbol, deadlines: Deadlines) -> Result<Answer<Description>> {
        let Some(turn) = self.turn(deadlines).await? else { return Err(Stop::Failed(timeout())) };
        let answer = definition::describe(&turn.queries(deadlines), symbol).await;
        turn.end(answer)
    }

    /// A file's symbols with usage counts, what it uses and what uses it.
    pub(crate) async fn overview(&self, file: &str, deadlines: Deadlines) -> Result<Answer<Overview>> {
        let file = self.file(file)?;
        let Some(turn) = self.turn(deadlines).await? else {
            let overview = file_overview::of_text(&self.session.layout(&self.files), &file);
            return Ok(Answer::lacking(overview, busy()));
        };
        let answer = file_overview::of(&turn.queries(deadlines), &file).await?;
        turn.end(answer)
    }

    /// The diagnostics of these files; if there are none, of every built file.
    pub(crate) async fn diagnostics(&self, files: &[String], deadlines: Deadlines) -> Result<Answer<Vec<Diagnostic>>> {
        for file in files {
            self.file(file)?;
        }
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Vec::new(), busy())) };
        let queries = turn.queries(deadlines);
        let answer = if files.is_empty() {
            // Files that need cgo are reported as incomplete.
            let built = queries.layout.built().chain(queries.layout.built_with_cgo());
            let built: Vec<String> = built.map(str::to_owned).collect();
            diagnostics::of(&queries, &built).await
        } else {
            diagnostics::of(&queries, files).await
        };
        turn.end(answer)
    }

    /// gopls's quick fixes for the diagnostics at exactly these places.
    pub(crate) async fn fixes(&self, places: &[Place], deadlines: Deadlines) -> Result<Answer<Vec<Fix>>> {
        let Some(turn) = self.turn(deadlines).await? else { return Ok(Answer::lacking(Vec::new(), busy())) };
        let answer = code_actions::of(&turn.queries(deadlines), places).await;
        turn.end(answer)
    }

    fn file(&self, file: &str) -> Result<Arc<File>> {
        let found = self.files.get(file).filter(|it| LANGUAGE.takes(&it.path));
        let unknown = || Error::new(Code::UnknownFile, format!("the workspace has no Go file {file}"));
        found.cloned().ok_or_else(|| unknown().into())
    }

    /// Waits while a dry run has exclusive access; `None` if that takes too long.
    async fn turn(&self, deadlines: Deadlines) -> Result<Option<ReadSession<'_>>> {
        if self.generation.is_none() {
            return Err(Stop::Stale);
        }
        let gate = self.session.gate.clone().read_owned();
        let Ok(gate) = tokio::time::timeout_at(deadlines.answer.into(), gate).await else { return Ok(None) };
        self.begin(Some(gate)).map(Some)
    }

    /// Without the gate, gopls must not be asked.
    fn begin(&self, gate: Option<OwnedRwLockReadGuard<()>>) -> Result<ReadSession<'_>> {
        let Some(generation) = self.generation else { return Err(Stop::Stale) };
        let turn = ReadSession { view: self, layout: self.session.layout(&self.files), generation, _gate: gate };
        turn.check()?;
        Ok(turn)
    }
}

/// The scope of one query: no dry run runs during it, and a change is detected.
struct ReadSession<'a> {
    view: &'a View,
    layout: Arc<Layout>,
    generation: u64,
    _gate: Option<OwnedRwLockReadGuard<()>>,
}

impl ReadSession<'_> {
    fn queries(&self, deadlines: Deadlines) -> GoplsQueries<'_> {
        GoplsQueries::new(&self.view.session, &self.layout, deadlines, Some(self.generation))
    }

    fn check(&self) -> Result<()> {
        if self.view.session.documents().generation() == self.generation { Ok(()) } else { Err(Stop::Stale) }
    }

    fn end<T>(self, answer: T) -> Result<T> {
        self.check()?;
        Ok(answer)
    }
}

fn busy() -> Missing {
    Missing::new(MissingCode::Timeout, SCOPE, "gopls was busy with a dry run: ask again with a longer `wait_ms`")
}

fn timeout() -> Error {
    Error::new(Code::Timeout, busy().detail)
}
