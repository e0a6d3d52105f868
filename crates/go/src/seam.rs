//! Go as the workspace has it: when it starts, how it is fed, what it reads outside of the workspace.

mod questions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::beside::Beside;
use super::{Go, GoConfig, LANGUAGE, declare, document_sync, impact, local_modules, requirements, root, verify};
use questions::GoView;
use semdex_config::Settings;
use semdex_engine::engine::{
    Applied, Declaration, Engine, EngineKind, FileChange, FileChangeKind, Handle, NamedTexts, Requirement, Setup, Site,
    Trial, unknown_until_loaded,
};
use semdex_engine::files::Files;
use semdex_engine::links::{self, Link};
use semdex_engine::verify::{Job, Planned};
use semdex_engine::view::View;
use semdex_model::{FileEdit, LanguageId, Missing, MissingCode, VerifyKind};
use semdex_process::fault;

/// gopls, before it is started.
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
        root::go_root(around)
    }

    fn is_needed(&self, files: &Files) -> bool {
        let is_manifest = |it: &str| it == "go.mod" || it.ends_with("/go.mod");
        files.of(LANGUAGE).next().is_some() || files.iter().any(|it| is_manifest(&it.path))
    }

    fn computes_impact(&self, file: &str) -> bool {
        impact::concerns_go(file)
    }

    fn declare(&self, files: &Files, name: &str, content: &str) -> Declaration {
        Declaration { content: declare::with_package_clause(files, name, content), mention: None }
    }

    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        self.is_needed(&job.files).then(|| verify::plan(job))
    }

    fn confirms(&self, settings: &Settings) -> Option<VerifyKind> {
        settings.go_vet.then_some(VerifyKind::Lint)
    }

    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        before.go_memory_limit != after.go_memory_limit
    }

    fn requirements(&self, site: &Site<'_>) -> Vec<Requirement> {
        requirements::requirements(site.cache_dir)
    }

    fn lost_without_trust(&self) -> Option<String> {
        Some("cgo is not run, and what it makes is unknown".to_owned())
    }

    fn start(&self, setup: Setup) -> Result<Box<dyn Engine>, Missing> {
        let Setup { root, trusted, settings, cache_dir, runtime, files, .. } = setup;
        let memory_limit = settings.go_memory_limit;
        let config = GoConfig { root: root.clone(), trusted, cache_dir, runtime, memory_limit };
        Ok(Box::new(GoEngine { go: Go::start(config, files), root, links: None }))
    }
}

struct GoEngine {
    go: Go,
    root: PathBuf,
    /// Within the root, as the engine was notified of them last; none before it was.
    links: Option<Vec<Link>>,
}

/// What comes or goes with a link.
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
            settled: Arc::new(move || {
                let go = settled.clone();
                async move { go.settled().await }.boxed()
            }),
            close: Arc::new(move || {
                let go = closed.clone();
                async move { go.shutdown().await }.boxed()
            }),
        }
    }

    fn is_settled(&self) -> bool {
        self.go.is_settled()
    }

    fn view(&self, files: Arc<Files>) -> Box<dyn View> {
        Box::new(GoView { view: self.go.view(files), go: self.go.clone() })
    }

    fn apply(&mut self, change: Applied<'_>) {
        fault::point("go.feed");
        let changes: Vec<FileChange> = change.edits.iter().map(FileChange::from).collect();
        self.go.feed(change.files.clone(), &changes);
        // What is built of a file by a link has that name: as if it lay outside.
        let links = self.links.as_deref().filter(|_| change.is_on_disk).unwrap_or_default();
        let mut others = links::by_other_names(links, &changes, change.files);
        others.retain(|it| document_sync::matters(&it.path));
        if !others.is_empty() {
            self.go.feed_outside(&others);
        }
    }

    fn set_named(&mut self, named: &NamedTexts) {
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
        let (before, after) = (Beside::new(trial.before.clone()), Beside::new(trial.after.clone()));
        let is_read = |it: &FileEdit| {
            let is_go = document_sync::matters(&it.file) && !impact::concerns_go(&it.file);
            let change = FileChange::from(it);
            is_go || before.concerns(&change) || after.concerns(&change)
        };
        let edit = trial.edits.iter().find(|it| it.old != it.new && is_read(it))?;
        let why = "is read by the go command beside the code";
        Some(unknown_until_loaded(MissingCode::Unsupported, &edit.file, why))
    }

    fn modules_outside(&self, files: &Files) -> BTreeSet<PathBuf> {
        local_modules::outside(files, &self.root)
    }

    fn names_modules(&self, file: &str) -> bool {
        local_modules::is_named_in(file)
    }

    fn is_module(&self, directory: &Path) -> bool {
        directory.join("go.mod").is_file()
    }

    fn reads(&self, file: &Path) -> bool {
        file.to_str().is_some_and(document_sync::is_read)
    }

    fn apply_outside(&mut self, changes: &[FileChange]) {
        self.go.feed_outside(changes);
    }

    fn follow_environment(&mut self, _: &Arc<Files>) -> bool {
        self.go.follow_environment()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async move { self.go.shutdown().await }.boxed()
    }
}
