//! Rust as an engine of the workspace: when it starts, what it does in the background, and which events its threads
//! send.

pub(crate) mod view_impl;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use blake3::Hash;
use crossbeam_channel::{Receiver, Sender};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::watch;

use super::format::Form;
use super::shadow::NewShadow;
use super::{Adopted, OutsideChange, Rust, RustConfig, Step, format, requirements};
use crate::load::manifests::{decides_packages, is_manifest, is_reload};
use crate::load::{Limits, manifests};
use crate::syntax::declare;
use crate::{LANGUAGE, verify};
use semdex_config::{Features, Settings};
use semdex_engine::files::Files;
use semdex_engine::links::Link;
use semdex_engine::verify::{Job, Planned};
use semdex_engine::{
    Applied, BACKGROUND_DELAY, Declaration, Ended, Engine, EngineKind, ExternalSources, ExternalText, Formatting,
    Handle, Pause, QUIET_BEFORE_IDLE_WORK, Readiness, ReferencedFiles, Requirement, Route, Setup, Site, Tidied, Trial,
    Unformatted, View,
};
use semdex_model::{ChangeImpact, FileEdit, LanguageId, Missing, MissingCode, VerifyKind};

/// After this time without a change priming begins, also where there is no moment without a request.
const PRIMING_DELAY: Duration = Duration::from_secs(1);
/// After this time without an event, memory that no answer needs any longer is freed.
const GARBAGE_AFTER: Duration = Duration::from_secs(30);
/// The capacity of the event channel; a sender waits if it is full.
const NEWS: usize = 64;

/// rust-analyzer, before it is started.
#[derive(Debug)]
pub struct RustKind;

impl EngineKind for RustKind {
    fn name(&self) -> &str {
        crate::ENGINE
    }

    fn languages(&self) -> &[LanguageId] {
        &[LANGUAGE]
    }

    fn root_of(&self, around: &[&Path]) -> Option<PathBuf> {
        manifests::cargo_root(around)
    }

    fn is_needed(&self, files: &Files) -> bool {
        files.of(LANGUAGE).next().is_some() || files.iter().any(|it| is_manifest(&it.path))
    }

    /// A manifest decides which crates there are.
    fn computes_impact(&self, file: &str) -> bool {
        LANGUAGE.takes(file) || decides_packages(file)
    }

    fn route(&self) -> Route {
        Route::Writer
    }

    /// The engine receives the texts under all their names.
    fn misses_link(&self, _: &Link, _: &Files) -> bool {
        false
    }

    fn reader_of(&self, file: &str) -> Option<&str> {
        is_reload(file, false).then_some(crate::BUILD_TOOL)
    }

    fn declare(&self, files: &Files, name: &str, _: &str) -> Declaration {
        Declaration { content: None, mention: declare::mod_line(files, name) }
    }

    fn format(&self, text: Unformatted<'_>) -> Option<Formatting> {
        let Unformatted { file, text, root, trusted, files, patience } = text;
        let edition = format::edition(file, |name| Some(&*files.get(name)?.text));
        let (root, file, plain) = (root.to_owned(), file.to_owned(), text.to_owned());
        Some(Box::new(move || {
            let place = root.join(&file);
            let directory = place.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(Path::new("/"));
            let form = Form { root: &root, directory, edition: &edition, trusted };
            format::format(plain.trim_start_matches('\u{feff}'), &form, Instant::now() + patience)
        }))
    }

    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        self.is_needed(&job.files).then(|| verify::plan(job))
    }

    fn confirms(&self, settings: &Settings) -> Option<VerifyKind> {
        let check = settings.rust.confirm.then_some(VerifyKind::Check);
        if settings.rust.clippy { Some(VerifyKind::Lint) } else { check }
    }

    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        !before.rust.start_the_same(&after.rust)
    }

    fn requirements(&self, _: &Site<'_>) -> Vec<Requirement> {
        requirements::requirements()
    }

    fn lost_without_trust(&self) -> Option<String> {
        Some("build scripts and proc macros are not run, and their output is unknown".to_owned())
    }

    fn start(&self, setup: Setup) -> Result<Box<dyn Engine>, Missing> {
        let Setup { root, trusted, settings, cache_dir, forbidden, files, restarts, wake, .. } = setup;
        let (features, all_features) = match &settings.rust.features {
            Features::Default => (Vec::new(), false),
            Features::All => (Vec::new(), true),
            Features::Named(features) => (features.clone(), false),
        };
        let config = RustConfig {
            target_dir: target_dir(&cache_dir, &root),
            root,
            trusted,
            forbidden,
            features,
            all_features,
            build_scripts: settings.rust.build_scripts,
            proc_macros: settings.rust.proc_macros,
            listed_builds: settings.rust.builds.listed.clone(),
            max_builds: if settings.rust.builds.are_chosen { settings.rust.max_builds } else { 0 },
            std_sources: None,
            second_database: settings.rust.second_database,
            limits: Limits::default(),
        };
        let Some(rust) = Rust::new(config, &files, restarts) else {
            let detail = "the path of the workspace is not UTF-8, which rust-analyzer needs: move it";
            return Err(Missing::new(MissingCode::WorkspaceBroken, LANGUAGE.name, detail));
        };
        let (sender, news) = crossbeam_channel::bounded(NEWS);
        let mut engine = RustEngine {
            rust: Box::new(rust),
            readiness: watch::Sender::new(Readiness::Texts),
            tell: Tell { news: sender, wake },
            news,
            sources_outside: None,
            is_priming: false,
            is_indexing: false,
            is_rebuilding: false,
            has_garbage: false,
            is_full: false,
        };
        engine.reload(&files);
        Ok(Box::new(engine))
    }
}

/// The target directory of a workspace.
fn target_dir(cache_dir: &Path, root: &Path) -> PathBuf {
    let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    cache_dir.join("target").join(&key[..16])
}

/// Events from its threads.
enum News {
    Loaded(Box<Step>),
    Primed(Ended),
    Indexed(Ended),
    ShadowDatabase(Box<NewShadow>),
    /// The new output of build scripts.
    Rebuilt(Option<Vec<Hash>>),
}

/// How the threads send events.
#[derive(Clone)]
struct Tell {
    news: Sender<News>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Tell {
    /// If the engine is gone, there is no receiver.
    fn tell(&self, news: News) {
        if self.news.send(news).is_ok() {
            (self.wake)();
        }
    }
}

struct RustEngine {
    rust: Box<Rust>,
    readiness: watch::Sender<Readiness>,
    tell: Tell,
    news: Receiver<News>,
    /// What was read of path dependencies and not yet collected.
    sources_outside: Option<ExternalSources>,
    is_priming: bool,
    is_indexing: bool,
    is_rebuilding: bool,
    /// Memory is held that no answer needs any longer.
    has_garbage: bool,
    /// More is cached than the next change will leave.
    is_full: bool,
}

impl Engine for RustEngine {
    fn handle(&self) -> Handle {
        let readiness = self.readiness.subscribe();
        Handle {
            status: self.rust.status(),
            reached: Arc::new(move |wanted| {
                let mut readiness = readiness.clone();
                async move { drop(readiness.wait_for(|it| *it >= wanted).await) }.boxed()
            }),
            // Its child processes end with it.
            close: Arc::new(|| std::future::ready(()).boxed()),
        }
    }

    fn readiness(&self) -> Readiness {
        self.rust.readiness()
    }

    fn view(&self, files: Arc<Files>) -> Box<dyn View> {
        Box::new(self.rust.view(files))
    }

    fn apply(&mut self, change: Applied<'_>) {
        let Applied { files, edits, is_on_disk } = change;
        let texts: Vec<_> = edits.iter().map(|it| (Arc::from(it.file.as_str()), it.new.clone())).collect();
        let names = edits.iter().map(|it| it.file.as_str());
        // A crate whose root was not a text is missing from the graph.
        let is_root = |it: &FileEdit| it.old.is_none() && self.rust.crate_roots().contains(&it.file);
        let is_reload = edits.iter().any(|it| is_reload(&it.file, it.old.is_some() != it.new.is_some()) || is_root(it));
        let is_to_be_loaded = is_reload || is_on_disk && self.rust.note_edits(names);
        self.has_garbage = true;
        self.rust.apply(&texts);
        self.reload_if(is_to_be_loaded, files);
    }

    fn impact(&mut self, trial: &Trial<'_>, keep: Option<&dyn Fn(&ChangeImpact) -> bool>) -> Option<ChangeImpact> {
        self.has_garbage = true;
        Some(self.rust.impact(trial, keep))
    }

    fn has_code_of(&self, file: &str) -> bool {
        self.rust.is_in_docs(file)
    }

    fn fix_imports(&mut self, trial: &Trial<'_>) -> Vec<Tidied> {
        self.rust.fix_imports(trial.after, trial.edits)
    }

    /// If trust is withdrawn, running processes are ended first.
    fn set_trust(&mut self, trusted: bool, settings: &Settings, files: &Arc<Files>) -> bool {
        self.rust.set_trust(trusted, settings.rust.build_scripts, settings.rust.proc_macros);
        self.reload(files);
        true
    }

    fn take_results(&mut self) {
        while let Ok(news) = self.news.try_recv() {
            match news {
                News::Loaded(step) => self.adopt(*step),
                News::Primed(ended) => {
                    self.is_priming = false;
                    self.has_garbage |= ended == Ended::Finished;
                    self.rust.set_primed(ended);
                }
                News::Indexed(ended) => {
                    self.is_indexing = false;
                    self.rust.set_indexed(ended);
                    self.is_full = ended == Ended::Finished && !self.rust.evict();
                }
                News::Rebuilt(output) => {
                    self.is_rebuilding = false;
                    self.rust.end_rebuild(output);
                }
                News::ShadowDatabase(made) => {
                    self.has_garbage = true;
                    self.rust.adopt_shadow(*made);
                }
            }
        }
    }

    fn is_due(&self) -> bool {
        self.needs_indexing() || self.rust.is_shadow_behind()
    }

    fn work(&mut self, files: &Arc<Files>, pause: Pause) {
        if self.rust.needs_reload() || self.rust.is_outdated() {
            self.reload(files);
        }
        match pause.quiet {
            Some(_) if self.rust.is_shadow_behind() => self.rust.catch_shadow_up(),
            Some(quiet) if quiet >= QUIET_BEFORE_IDLE_WORK => self.idle(files, quiet),
            _ => {}
        }
        self.rust.renew();
        // The rest also happens during a steady stream of queries.
        if pause.unchanged >= PRIMING_DELAY {
            self.prime();
        }
        if !self.is_rebuilding && self.rust.needs_rebuild() {
            let tell = self.tell.clone();
            self.is_rebuilding = self.rust.rebuild(move |output| tell.tell(News::Rebuilt(output)));
        }
        if self.needs_indexing() && pause.unchanged >= BACKGROUND_DELAY {
            self.has_garbage = true;
            let tell = self.tell.clone();
            self.is_indexing = self.rust.index(files.clone(), move |ended| tell.tell(News::Indexed(ended)));
        }
    }

    fn reader_of(&self, file: &str) -> Option<&str> {
        self.rust.is_read_from_disk(file).then_some(crate::BUILD_TOOL)
    }

    fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        self.rust.unknown_before_load(trial)
    }

    fn take_external_sources(&mut self) -> Option<ExternalSources> {
        self.sources_outside.take()
    }

    fn known_external_sources(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        Box::new(self.rust.known_outside())
    }

    fn is_external_source(&self, file: &Path) -> bool {
        file.extension().is_some_and(|it| it == "rs")
    }

    fn set_external_sources(&mut self, contents: Vec<ExternalText>, files: &Arc<Files>) -> bool {
        let OutsideChange { is_changed, needs_reload } = self.rust.set_outside(contents);
        self.has_garbage |= is_changed;
        if needs_reload {
            self.reload(files);
        }
        is_changed || needs_reload
    }

    fn check_environment(&mut self, files: &Arc<Files>) -> bool {
        let (is_changed, is_to_be_loaded) = self.rust.look_at_inputs();
        self.reload_if(is_to_be_loaded, files);
        is_changed
    }

    fn roots(&self) -> Vec<String> {
        self.rust.crate_roots().into_iter().collect()
    }

    fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        self.rust.set_referenced_files(named);
    }

    fn check_touched_file(&mut self, path: &Path, files: &Arc<Files>) -> bool {
        let is_to_be_loaded = self.rust.check_touched_file(path);
        self.reload_if(is_to_be_loaded, files);
        is_to_be_loaded
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        // Dropping its database may take a while.
        let thread = std::thread::Builder::new().name("rust-discard".to_owned());
        let gone = thread.spawn(move || {
            drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(self))));
        });
        drop(gone);
        std::future::ready(()).boxed()
    }
}

impl RustEngine {
    fn reload(&mut self, files: &Arc<Files>) {
        let tell = self.tell.clone();
        self.rust.reload(files, move |step| tell.tell(News::Loaded(Box::new(step))));
        self.note_readiness();
    }

    /// Reads everything again, or tells that a change of an input ended what could be answered before the end of a load.
    fn reload_if(&mut self, is_to_be_loaded: bool, files: &Arc<Files>) {
        if is_to_be_loaded { self.reload(files) } else { self.note_readiness() }
    }

    fn note_readiness(&self) {
        let is = self.rust.readiness();
        self.readiness.send_if_modified(|it| std::mem::replace(it, is) != is);
    }

    fn adopt(&mut self, step: Step) {
        if let Adopted::Step { roots, sources } = self.rust.adopt(step) {
            let outside = self.sources_outside.get_or_insert_default();
            outside.roots.extend(roots);
            outside.read.extend(sources);
            self.is_priming = false;
        }
        self.note_readiness();
    }

    fn needs_indexing(&self) -> bool {
        !self.is_indexing && !self.is_priming && self.rust.needs_indexing()
    }

    /// Starts what most answers need, if it is neither there nor begun. Returns whether it was started.
    fn prime(&mut self) -> bool {
        let begins = self.rust.needs_priming() && !self.is_priming;
        if begins {
            let tell = self.tell.clone();
            self.is_priming = self.rust.prime(move |ended| tell.tell(News::Primed(ended)));
        }
        begins
    }

    /// Work for idle time, one task per call.
    fn idle(&mut self, files: &Arc<Files>, quiet: Duration) {
        if self.prime() {
            return;
        }
        if self.has_garbage && quiet > GARBAGE_AFTER {
            self.has_garbage = !self.rust.collect_garbage();
        } else if self.is_full {
            self.is_full = !self.rust.evict();
        } else if self.rust.needs_shadow() {
            let tell = self.tell.clone();
            self.rust.make_shadow(files.clone(), move |made| tell.tell(News::ShadowDatabase(Box::new(made))));
        }
    }
}
