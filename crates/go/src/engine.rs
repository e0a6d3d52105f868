//! The engine seam for Go: the [`EngineKind`], [`Engine`] and [`semdex_engine::View`] that the workspace uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::build_inputs::BuildInputs;
use super::{
    Go, GoConfig, LANGUAGE, View, document_sync, go_tools, impact, install, local_modules, package_clause,
    unresolved_names, workspace_root,
};
use semdex_config::Settings;
use semdex_engine::files::Files;
use semdex_engine::fix::Fix;
use semdex_engine::links::{self, Link};
use semdex_engine::verify::{Job, Planned};
use semdex_engine::{
    Answering, Applied, Deadlines, Declaration, Engine, EngineKind, Extent, FileChange, FileChangeKind, Handle,
    Readiness, ReferencedFiles, Requirement, Result, Setup, Site, Suggested, Tidied, Trial, Unknown, Wanted, blocking,
    ranking, unknown_until_loaded,
};
use semdex_model::{
    Answer, Calls, ChangeImpact, Code, Description, Diagnostic, Error, FileEdit, LanguageId, Missing, MissingCode,
    Overview, Package, Place, References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, VerifyKind, Window,
};
use semdex_process::fault;

/// The Go engine's kind: its properties, and how to start it.
#[derive(Debug)]
pub struct GoKind;

impl EngineKind for GoKind {
    fn name(&self) -> &str {
        super::ENGINE
    }

    fn languages(&self) -> &[LanguageId] {
        &[LANGUAGE]
    }

    fn root_of(&self, around: &[&Path]) -> Option<PathBuf> {
        workspace_root::go_root(around)
    }

    fn is_needed(&self, files: &Files) -> bool {
        let is_manifest = |it: &str| it == "go.mod" || it.ends_with("/go.mod");
        files.of(LANGUAGE).next().is_some() || files.iter().any(|it| is_manifest(&it.path))
    }

    fn is_manifest(&self, file: &str) -> bool {
        document_sync::is_manifest(file)
    }

    fn computes_impact(&self, file: &str) -> bool {
        impact::concerns_go(file)
    }

    fn declare(&self, files: &Files, name: &str, content: &str) -> Declaration {
        Declaration { content: package_clause::with_package_clause(files, name, content), mention: None }
    }

    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        self.is_needed(&job.files).then(|| go_tools::plan(job))
    }

    fn confirms(&self, settings: &Settings) -> Option<VerifyKind> {
        settings.go_vet.then_some(VerifyKind::Lint)
    }

    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        (before.go_memory_limit, &before.go_builds) != (after.go_memory_limit, &after.go_builds)
    }

    fn requirements(&self, site: &Site<'_>) -> Vec<Requirement> {
        install::requirements(site.cache_dir)
    }

    fn lost_without_trust(&self) -> Option<String> {
        Some("cgo is not run, and what it makes is unknown".to_owned())
    }

    fn start(&self, setup: Setup) -> std::result::Result<Box<dyn Engine>, Missing> {
        let Setup { root, trusted, settings, cache_dir, runtime, files, .. } = setup;
        let (memory_limit, builds) = (settings.go_memory_limit, settings.go_builds.clone());
        let config = GoConfig { root: root.clone(), trusted, cache_dir, runtime, memory_limit, builds };
        Ok(Box::new(GoEngine { go: Go::start(config, files), root, links: None }))
    }
}

struct GoEngine {
    go: Go,
    root: PathBuf,
    /// The links within the root in the last notification; `None` before the first.
    links: Option<Vec<Link>>,
}

/// The files that appear or disappear with a link.
fn read_by(link: &Link, files: &Files, kind: FileChangeKind) -> Vec<FileChange> {
    let read =
        link.texts(files).filter(|it| document_sync::matters(&it.path)).filter_map(|it| link.other_name(&it.path));
    read.map(|path| FileChange { path, kind }).collect()
}

impl Engine for GoEngine {
    fn handle(&self) -> Handle {
        let (settled, closed) = (self.go.clone(), self.go.clone());
        Handle {
            status: self.go.status(),
            reached: Arc::new(move |_| {
                let go = settled.clone();
                async move { go.settled().await }.boxed()
            }),
            close: Arc::new(move || {
                let go = closed.clone();
                async move { go.shutdown().await }.boxed()
            }),
        }
    }

    fn readiness(&self) -> Readiness {
        if self.go.is_settled() { Readiness::Settled } else { Readiness::Texts }
    }

    fn view(&self, files: Arc<Files>) -> Box<dyn semdex_engine::View> {
        Box::new(GoView { view: self.go.view(files), go: self.go.clone() })
    }

    fn apply(&mut self, change: Applied<'_>) {
        fault::point("go.feed");
        let changes: Vec<FileChange> = change.edits.iter().map(FileChange::from).collect();
        self.go.feed(change.files.clone(), &changes);
        // A file that a link leads to is built under the link's name, as if it were outside the workspace.
        let links = self.links.as_deref().filter(|_| change.is_on_disk).unwrap_or_default();
        let mut others = links::by_other_names(links, &changes, change.files);
        others.retain(|it| document_sync::matters(&it.path));
        if !others.is_empty() {
            self.go.feed_outside(&others);
        }
    }

    fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        let Some(before) = self.links.replace(named.links.clone()) else { return };
        let files = self.go.files();
        let gone = before.iter().filter(|it| !named.links.contains(it));
        let come = named.links.iter().filter(|it| !before.contains(it));
        let gone = gone.flat_map(|it| read_by(it, &files, FileChangeKind::Deleted));
        let changes: Vec<FileChange> =
            gone.chain(come.flat_map(|it| read_by(it, &files, FileChangeKind::Created))).collect();
        if !changes.is_empty() {
            self.go.feed_outside(&changes);
        }
    }

    fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        let (before, after) = (BuildInputs::new(trial.before.clone()), BuildInputs::new(trial.after.clone()));
        // The impact of a change with a `go.mod` covers all manifests in it.
        let is_judged = |file: &str| impact::concerns_go(file) && document_sync::is_manifest(file);
        let is_planned = trial.edits.iter().any(|it| is_judged(&it.file));
        let is_read = |it: &FileEdit| {
            let is_judged = impact::concerns_go(&it.file) || is_planned && document_sync::is_manifest(&it.file);
            let is_go = document_sync::matters(&it.file) && !is_judged;
            let change = FileChange::from(it);
            is_go || before.concerns(&change) || after.concerns(&change)
        };
        let edit = trial.edits.iter().find(|it| it.old != it.new && is_read(it))?;
        let why = "is read by the go command beside the code";
        Some(unknown_until_loaded(MissingCode::Unsupported, &edit.file, why))
    }

    fn external_modules(&self, files: &Files) -> BTreeSet<PathBuf> {
        local_modules::outside(files, &self.root)
    }

    fn declares_external_modules(&self, file: &str) -> bool {
        local_modules::is_named_in(file)
    }

    fn is_external_module(&self, directory: &Path) -> bool {
        directory.join("go.mod").is_file()
    }

    fn reads_external(&self, file: &Path) -> bool {
        file.to_str().is_some_and(document_sync::is_read)
    }

    fn apply_external_changes(&mut self, changes: &[FileChange]) {
        self.go.feed_outside(changes);
    }

    fn check_environment(&mut self, _: &Arc<Files>) -> bool {
        self.go.check_environment()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async move { self.go.shutdown().await }.boxed()
    }
}

/// A view with its engine.
struct GoView {
    go: Go,
    view: View,
}

impl semdex_engine::View for GoView {
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
            let page = view.usage_page(&symbol, query.build.as_deref(), window, deadlines).await?;
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
            let usages = view.usage_page(&symbol, None, window, deadlines).await?;
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
            let found = view.callers(&symbol, query.build.as_deref(), deadlines).await?;
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
        blocking(move || Ok(Answer::whole(unresolved_names::suggest(&self.view, &asked)?)))
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
        let fit = ranking::fit(name, &symbol.name, symbol.public, symbol.test).unwrap_or_default();
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
