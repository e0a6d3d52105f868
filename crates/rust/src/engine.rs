//! The engine, as the workspace's writer uses it: the analysis host, the virtual files and the loaded projects. One
//! thread owns it; readers get a [`View`].

pub(crate) mod background;
pub(crate) mod changes;
pub(crate) mod compute_impact;
mod crate_scopes;
pub(crate) mod crossings;
mod doctest_modules;
mod doctest_texts;
pub(crate) mod fill;
pub(crate) mod fix_imports;
pub(crate) mod format;
pub(crate) mod freshness;
pub(crate) mod other_crates;
pub(crate) mod path_dependencies;
pub(crate) mod prime;
mod requirements;
pub(crate) mod revalidate;
pub(crate) mod seam;
pub(crate) mod shadow;
pub(crate) mod source_roots;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ra_ap_hir::ChangeWithProcMacros;
use ra_ap_ide::AnalysisHost;
use ra_ap_ide_db::base_db::salsa::plumbing::ZalsaDatabase as _;
use ra_ap_ide_db::base_db::salsa::{Database as _, Durability, Setter as _};
use ra_ap_ide_db::base_db::{
    CrateGraphBuilder, LibraryRoots, LocalRoots, ProcMacroPaths, SourceDatabase, SourceRoot, SourceRootId,
};
use ra_ap_load_cargo::SourceRootConfig;
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use ra_ap_project_model::{CargoFeatures, ProjectWorkspace};
use ra_ap_vfs::{Change as VfsChange, ChangedFile, FileId, Vfs, VfsPath};
use tokio::sync::watch;

use self::crossings::Crossing;
use self::doctest_texts::DoctestTexts;
use self::shadow::{ShadowDatabase, Texts};
use super::bounds::abandoned::Abandoned;
use super::index::Index;
use super::syntax::analysed::as_analysed;
use super::view::View;
use crate::bounds::refusals::Refusals;
use crate::file_interface::FileInterface;
use crate::load::builds::has_not_test_cfg;
use crate::load::external_inputs::Freshness;
use crate::load::further_builds::{FurtherBuild, LoadedBuilds};
use crate::load::manifests::is_manifest;
use crate::load::planned::Planner;
use crate::load::unstable_methods::UnstableMethods;
use crate::load::workspace::cargo_of;
use crate::load::{Delivery, Limits, LoadRequest, Loaded, MacroTable, crate_graph};
use crate::view::environment::{Builds, Environment, Faults, FileIds, PlanCrates};
use crate::{LANGUAGE, load};
use semdex_config::RustBuild;
use semdex_engine::files::{File, Files};
use semdex_engine::{Backoff, EngineStatus, Progress, Readiness};
use semdex_model::{Missing, State};
use semdex_process::fault;

pub(crate) use self::path_dependencies::OutsideChange;

/// Larger files that are not Rust are not available to `include_str!`.
const MAX_INCLUDED_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct RustConfig {
    pub root: PathBuf,
    pub trusted: bool,
    /// Paths that are never read.
    pub forbidden: Arc<[PathBuf]>,
    /// The target directory for build scripts and proc macros; never the workspace's own.
    pub target_dir: PathBuf,
    pub features: Vec<String>,
    pub all_features: bool,
    pub build_scripts: bool,
    pub proc_macros: bool,
    /// Further builds of each Cargo workspace.
    pub listed_builds: Vec<RustBuild>,
    /// The most further builds of a Cargo workspace that are chosen.
    pub max_builds: usize,
    /// The sources of the standard library, if they are not those that are installed.
    pub std_sources: Option<PathBuf>,
    /// Whether dry runs use a second database. `None`: decided by the available memory.
    pub second_database: Option<bool>,
    /// The time limits of a load.
    pub limits: Limits,
}

/// A step of a load on its way to the writer; `None` if the load panicked.
pub(crate) struct Step {
    ticket: u64,
    loaded: Option<Delivery>,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Adopted {
    /// `roots`: directories of path dependencies outside the root, which have to be watched. `sources`: all sources
    /// outside the root that were read and may have changed since.
    Step { roots: Vec<PathBuf>, sources: Vec<PathBuf> },
    /// Further builds have joined the default build, which stays as it is.
    Further,
    /// A newer load supersedes this one.
    Superseded,
    /// The load produced nothing and is to be retried after a pause.
    Failed,
}

pub(crate) struct Rust {
    pub(crate) config: RustConfig,
    pub(crate) root: AbsPathBuf,
    target_dir: AbsPathBuf,
    pub(crate) host: AnalysisHost,
    pub(crate) shadow_database: ShadowDatabase,
    pub(crate) vfs: Vfs,
    source_roots: SourceRootConfig,
    crossings: Vec<Crossing>,
    /// The source roots as the database has them, so that only differences are set.
    pub(crate) roots: Vec<SourceRoot>,
    pub(crate) ids: Arc<FileIds>,
    workspaces: Arc<Vec<ProjectWorkspace>>,
    further: Vec<FurtherBuild>,
    doctests: DoctestTexts,
    macros: MacroTable,
    known: Arc<HashSet<AbsPathBuf>>,
    /// Files that each load reads: output of build scripts, and files that are read only because code outside the root
    /// names them.
    made: BTreeSet<AbsPathBuf>,
    /// Sources of libraries that are nested too deeply to be analysed.
    deep: Arc<BTreeSet<AbsPathBuf>>,
    unstable: Arc<UnstableMethods>,
    freshness: Freshness,
    pub(crate) environment: Arc<Environment>,
    pub(crate) index: Arc<Index>,
    /// The bodies whose analysis costs too much.
    pub(crate) abandoned: Arc<Abandoned>,
    /// The interfaces of the files that were edited last, as other files see them.
    pub(crate) seen: HashMap<FileId, Arc<FileInterface>>,
    ticket: u64,
    superseded: Superseded,
    pub(crate) primed: bool,
    pub(crate) is_indexed: bool,
    /// The index is complete for the current texts.
    pub(crate) is_complete: bool,
    /// The index has been complete since the last load.
    pub(crate) was_complete: bool,
    pub(crate) retries: Background,
    /// A write to the database was interrupted: its contents cannot be trusted.
    is_torn: bool,
    started: Instant,
    pub(crate) status: watch::Sender<EngineStatus>,
}

impl Rust {
    /// An engine that has the texts of the workspace but no crate graph yet. `restarts`: the number of Rust engines
    /// that failed before it.
    pub(crate) fn new(config: RustConfig, files: &Files, restarts: u32) -> Option<Rust> {
        let absolute = |path: &PathBuf| AbsPathBuf::try_from(Utf8PathBuf::from_path_buf(path.clone()).ok()?).ok();
        let root = absolute(&config.root)?;
        let target_dir = absolute(&config.target_dir)?;
        let status = watch::Sender::new(EngineStatus {
            version: Some(super::VERSION.to_owned()),
            restarts,
            ..EngineStatus::new(super::ENGINE, LANGUAGE, State::Syntax)
        });
        let mut engine = Rust {
            config,
            root,
            target_dir,
            host: new_host(),
            shadow_database: ShadowDatabase::default(),
            vfs: Vfs::default(),
            source_roots: SourceRootConfig::default(),
            crossings: Vec::new(),
            roots: Vec::new(),
            ids: Arc::default(),
            workspaces: Arc::default(),
            further: Vec::new(),
            doctests: DoctestTexts::default(),
            macros: MacroTable::default(),
            known: Arc::default(),
            made: BTreeSet::new(),
            deep: Arc::default(),
            unstable: Arc::default(),
            freshness: Freshness::default(),
            environment: Arc::new(Environment { refusals: Refusals::new(), ..Environment::default() }),
            index: Arc::default(),
            abandoned: Arc::new(Abandoned::new(Some(status.clone()))),
            seen: HashMap::new(),
            ticket: 0,
            superseded: Superseded::default(),
            primed: false,
            is_indexed: false,
            is_complete: false,
            was_complete: false,
            retries: Background::default(),
            is_torn: false,
            started: Instant::now(),
            status,
        };
        let all: Vec<_> = files.iter().map(|file| (file.path.clone(), Some(file.text.clone()))).collect();
        engine.apply(&all);
        Some(engine)
    }

    pub(crate) fn status(&self) -> watch::Receiver<EngineStatus> {
        self.status.subscribe()
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.environment.readiness()
    }

    /// An immutable view of this revision. It blocks the next change until it is dropped or cancelled.
    pub(crate) fn view(&self, files: Arc<Files>) -> View {
        View::new(
            self.host.raw_database().clone(),
            files,
            self.ids.clone(),
            self.root.clone(),
            self.environment.clone(),
            self.index.clone(),
            self.abandoned.clone(),
        )
    }

    /// The texts in the form that a database takes; `None` if files are created or deleted.
    pub(crate) fn texts_of(&self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Texts> {
        let taken = changes.iter().filter(|it| is_taken(&it.0, it.1.as_deref()));
        taken
            .map(|(name, text)| {
                let text = String::from_utf8(as_analysed(text.as_deref()?)).ok();
                Some((*self.ids.get(name)?, text))
            })
            .chain(self.doctests_of_trial(changes)?.0.into_iter().map(Some))
            .collect()
    }

    /// Starts to read the manifests again, in a thread of its own. Answers come from the previous state and are marked
    /// as incomplete until the writer has adopted the steps that `deliver` sends.
    pub(crate) fn reload(&mut self, files: &Arc<Files>, deliver: impl Fn(Step) + Send + 'static) {
        self.superseded = Superseded::default();
        self.retries.is_load_failed = false;
        self.freshness.begin();
        self.ticket += 1;
        let ticket = self.ticket;
        let manifests: Vec<AbsPathBuf> =
            files.iter().filter(|file| is_manifest(&file.path)).map(|file| self.absolute(&file.path)).collect();
        if manifests.is_empty() {
            // Nothing can be loaded; answers come from the texts alone.
            self.set_environment(|it| it.settled = true);
            self.primed = true;
            self.publish();
            return;
        }
        let request = LoadRequest {
            root: self.root.clone(),
            manifests,
            begun: self.freshness.begun(),
            texts: files.clone(),
            trusted: self.config.trusted,
            forbidden: self.config.forbidden.clone(),
            target_dir: self.target_dir.clone(),
            features: self.features(),
            build_scripts: self.config.build_scripts,
            proc_macros: self.config.proc_macros,
            listed_builds: self.config.listed_builds.clone(),
            max_builds: self.config.max_builds,
            is_calm: self.is_calm(),
            std_sources: self.config.std_sources.clone(),
            known: self.known.clone(),
            deep: self.deep.clone(),
            unstable: self.unstable.clone(),
            before: self.workspaces.clone(),
            superseded: self.superseded.0.clone(),
            limits: self.config.limits,
            faults: Faults::new(self.status.clone()),
        };
        self.set_environment(|it| (it.settled, it.unbuilt) = (false, None));
        self.publish();
        let status = self.status.clone();
        let work = move |deliver: &dyn Fn(Step)| {
            fault::point("rust.load");
            let progress = |stage: &str, done: usize, total: usize| {
                let progress = Progress { stage: stage.to_owned(), done, total };
                status.send_modify(|it| it.progress = Some(progress));
            };
            load::load(&request, &progress, &mut |loaded| deliver(Step { ticket, loaded: Some(loaded) }));
        };
        let run = move || {
            if catch_unwind(AssertUnwindSafe(|| work(&deliver))).is_err() {
                deliver(Step { ticket, loaded: None });
            }
        };
        if let Err(error) = std::thread::Builder::new().name("rust-load".to_owned()).spawn(run) {
            tracing::error!(%error, "no thread could be started for loading manifests");
            self.note_failed_load();
        }
    }

    fn features(&self) -> CargoFeatures {
        if self.config.all_features {
            CargoFeatures::All
        } else {
            CargoFeatures::Selected { features: self.config.features.clone(), no_default_features: false }
        }
    }

    /// Adopts a finished step.
    pub(crate) fn adopt(&mut self, step: Step) -> Adopted {
        if step.ticket != self.ticket {
            return Adopted::Superseded;
        }
        match step.loaded {
            Some(Delivery::Default(loaded)) => self.adopt_default(*loaded),
            Some(Delivery::Further(builds)) => {
                self.join(*builds);
                Adopted::Further
            }
            None => {
                self.note_failed_load();
                Adopted::Failed
            }
        }
    }

    fn adopt_default(&mut self, loaded: Loaded) -> Adopted {
        let Loaded {
            inputs,
            outdated,
            last,
            workspaces,
            sources,
            named,
            unread,
            source_roots,
            local_roots,
            macros,
            tools,
            facts,
            packages,
            faults,
            missing,
            deep,
            unstable,
            unbuilt,
            ..
        } = loaded;
        let last = self.note_inputs(inputs, outdated, last);
        let unbuilt = unbuilt.filter(|it| !it.is_empty() && !self.may_be_outdated(outdated)).map(Arc::from);
        (self.deep, self.unstable) = (deep, unstable);
        let read = sources.iter().map(|it| PathBuf::from(it.0.clone())).collect();
        self.take_sources(sources, named);
        self.source_roots = source_roots;
        self.shadow_database.note_graph();
        (self.workspaces, self.macros) = (workspaces, macros);
        self.further.clear();
        self.find_doctests();
        self.flush(Some(self.graph()));
        self.primed = false;
        self.is_indexed = false;
        self.is_complete = false;
        self.was_complete = false;
        self.index.forget_crates();
        let missing = missing.into_iter().chain(self.freshness.lack()).collect();
        let planner = tools.map(|tools| -> Arc<dyn PlanCrates> {
            Arc::new(Planner {
                root: self.root.clone(),
                target_dir: self.target_dir.clone(),
                forbidden: self.config.forbidden.clone(),
                features: self.features(),
                tools,
                workspaces: self.workspaces.clone(),
                facts,
                known: self.known.clone(),
            })
        });
        let doubt = self.freshness.doubt().cloned();
        let asks_for_builds = self.config.max_builds > 0 || !self.config.listed_builds.is_empty();
        let has_builds = asks_for_builds && planner.is_some();
        let generated = Arc::new(self.generated());
        self.set_environment(|it| {
            it.doubt = doubt;
            it.planner = planner;
            it.generated = generated;
            it.unread_outside = unread;
            it.loaded = true;
            it.settled = last;
            it.unbuilt = unbuilt;
            it.missing = missing;
            it.packages = packages;
            it.faults = faults;
            it.builds = Builds { are_pending: has_builds, ..Builds::default() };
        });
        tracing::info!(elapsed = ?self.started.elapsed(), last, "Cargo workspaces loaded");
        self.publish();
        Adopted::Step { roots: local_roots, sources: read }
    }

    /// Whether the default build answers, for the thread of a load.
    fn is_calm(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let status = self.status.subscribe();
        Arc::new(move || status.borrow().state == State::Ready)
    }

    /// Further builds join the default build: what is known of it stays known.
    fn join(&mut self, loaded: LoadedBuilds) {
        let LoadedBuilds { builds, failed, sources, source_roots, macros } = loaded;
        let names: Vec<String> = builds.iter().map(|it| it.name.clone()).collect();
        let has_any = !builds.is_empty();
        if has_any {
            let known = Arc::make_mut(&mut self.known);
            for (path, bytes) in sources {
                self.vfs.set_file_contents(VfsPath::from(path.clone()), Some(bytes));
                if path.starts_with(&self.target_dir) {
                    self.made.insert(path)
                } else {
                    known.insert(path)
                };
            }
            self.source_roots = source_roots;
            self.macros.extend(macros);
            self.further = builds;
            self.shadow_database.note_graph();
            self.flush(Some(self.graph()));
            self.index.forget_further();
            self.is_indexed = false;
            self.is_complete = false;
        }
        tracing::info!(?names, "further builds loaded");
        self.set_environment(|it| it.builds = Builds { names, failed, are_pending: has_any });
        self.publish();
    }

    /// Adopts the sources that a load read outside the root. Output of build scripts and files that code names were
    /// read again; files that are no longer among them are deleted.
    fn take_sources(&mut self, sources: Vec<(AbsPathBuf, Vec<u8>)>, named: Vec<(AbsPathBuf, Vec<u8>)>) {
        let mut made = std::mem::take(&mut self.made);
        let known = Arc::make_mut(&mut self.known);
        for (path, bytes) in sources {
            self.vfs.set_file_contents(VfsPath::from(path.clone()), Some(bytes));
            made.remove(&path);
            if path.starts_with(&self.target_dir) {
                self.made.insert(path)
            } else {
                known.insert(path)
            };
        }
        for (path, bytes) in named {
            if !known.contains(&path) {
                self.vfs.set_file_contents(VfsPath::from(path.clone()), Some(bytes));
                made.remove(&path);
                self.made.insert(path);
            }
        }
        for path in made.into_iter().filter(|it| !known.contains(it)) {
            self.vfs.set_file_contents(VfsPath::from(path), None);
        }
    }

    /// The files that build scripts of the workspace's own packages wrote.
    fn generated(&self) -> Vec<(Arc<File>, FileId)> {
        let db = self.host.raw_database();
        let one = |path: &AbsPathBuf| {
            let id = self.vfs.file_id(&VfsPath::from(path.clone()))?.0;
            let root = db.file_source_root(id).source_root_id(db);
            let is_own = path.starts_with(&self.target_dir) && !db.source_root(root).source_root(db).is_library;
            is_own.then(|| (Arc::new(File::new(Some(LANGUAGE), path.as_str(), &**db.file_text(id).text(db))), id))
        };
        self.made.iter().filter_map(one).collect()
    }

    /// The crates of these workspaces and of further builds.
    pub(crate) fn crates_of(
        &self,
        workspaces: &[ProjectWorkspace],
        further: &[FurtherBuild],
    ) -> (CrateGraphBuilder, ProcMacroPaths) {
        let id = |path: &AbsPath| self.vfs.file_id(&VfsPath::from(path.to_path_buf())).map(|(id, _)| id);
        let split = self.packages_with_not_test_cfg(workspaces);
        crate_graph(workspaces, further, &mut |path| id(path), &|it| split.contains(it))
    }

    /// The crates and their macros.
    pub(crate) fn graph(&self) -> ChangeWithProcMacros {
        let (mut graph, paths) = self.crates_of(&self.workspaces, &self.further);
        let mut id = |path: &AbsPath| Some(self.vfs.file_id(&VfsPath::from(path.to_path_buf()))?.0);
        load::doctest_crates::add(&mut graph, &self.doctests.libraries, &mut id);
        let mut change = ChangeWithProcMacros::default();
        change.set_crate_graph(graph);
        change.set_proc_macros(self.macros.resolve(&paths));
        change
    }

    /// The directories of packages with code under `cfg(not(test))`.
    fn packages_with_not_test_cfg(&self, workspaces: &[ProjectWorkspace]) -> HashSet<AbsPathBuf> {
        let cargos = workspaces.iter().filter_map(cargo_of);
        let packages: HashSet<&AbsPath> =
            cargos.flat_map(|it| it.packages().map(|package| it[package].manifest.parent())).collect();
        let db = self.host.raw_database();
        let rust = self.ids.iter().filter(|it| LANGUAGE.takes(it.0));
        let files = rust.filter(|it| has_not_test_cfg(db.file_text(*it.1).text(db)));
        let package = |path: AbsPathBuf| {
            let mut around = std::iter::successors(path.parent(), |it| it.parent());
            around.find(|it| packages.contains(*it)).map(AbsPath::to_path_buf)
        };
        files.filter_map(|it| package(self.absolute(it.0))).collect()
    }

    /// Whether everything is known for the current texts.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    #[cfg(test)]
    pub(crate) fn knows_names_of(&self, file: &str) -> bool {
        self.index.names(self.ids[file]).is_some_and(|it| it.is_complete())
    }

    #[cfg(test)]
    pub(crate) fn forget_index(&self) {
        drop(self.index.forget_all());
    }

    /// Frees what no answer needs any longer, unless an answer is being computed in this process. Returns whether it
    /// did.
    pub(crate) fn collect_garbage(&mut self) -> bool {
        super::view::collect_garbage(&mut self.host)
    }

    /// Drops now what the next change would drop while a client waits for it. Returns whether it did.
    pub(crate) fn evict(&mut self) -> bool {
        super::view::evict(&mut self.host)
    }

    #[cfg(test)]
    pub(crate) fn ids(&self) -> &Arc<FileIds> {
        &self.ids
    }

    fn absolute(&self, name: &str) -> AbsPathBuf {
        self.root.join(name)
    }

    fn set_environment(&mut self, change: impl FnOnce(&mut Environment)) {
        change(Arc::make_mut(&mut self.environment));
    }

    /// What may be missing from answers.
    fn missing(&self) -> Vec<Missing> {
        self.environment.lacks().into_iter().chain(self.abandoned.missing()).collect()
    }

    fn publish(&self) {
        let environment = &self.environment;
        let warm = environment.settled && self.primed;
        let state = match (environment.loaded, warm, self.was_complete) {
            _ if self.retries.is_load_failed => State::Degraded,
            (false, ..) => State::Syntax,
            (true, true, true) => State::Ready,
            (true, ..) => State::Indexing,
        };
        self.status.send_modify(|status| {
            status.state = state;
            status.warm = warm;
            status.missing = self.missing();
            if state == State::Ready {
                status.progress = None;
            }
        });
    }

    /// Moves the changes of the virtual files into the database. Source roots come first, and only those that differ:
    /// setting a root makes salsa verify every answer that depends on it.
    fn flush(&mut self, change: Option<ChangeWithProcMacros>) {
        // Code that catches a panic after this point must discard this database.
        self.is_torn = true;
        let adopting = change.is_some();
        let mut change = change.unwrap_or_default();
        let changed = self.vfs.take_changes();
        // What is created, deleted and created again within one change is reported as modified.
        let is_structural = |(id, it): (&FileId, &ChangedFile)| it.is_created_or_deleted() || !is_in(&self.roots, *id);
        let structural = adopting || self.roots.is_empty() || changed.iter().any(is_structural);
        for (id, file) in changed {
            let text = match file.change {
                // What is no text, as `include_bytes!` may name it, is empty in the database.
                VfsChange::Create(bytes, _) | VfsChange::Modify(bytes, _) => {
                    Some(String::from_utf8(bytes).unwrap_or_default())
                }
                // The database never received a file that was created and deleted within one change.
                VfsChange::Delete if !is_in(&self.roots, id) => continue,
                VfsChange::Delete => None,
            };
            self.abandoned.note_text(id, text.as_deref());
            self.shadow_database.note(id, text.clone());
            change.change_file(id, text);
        }
        fault::point("rust.write");
        if structural {
            self.shadow_database.note_roots();
            let roots = self.partitioned();
            set_roots(&mut self.host, &mut self.roots, roots);
        }
        apply_change(&mut self.host, change, &self.abandoned);
        self.environment.refusals.note_change();
        self.is_torn = false;
    }

    /// What may be computed by now although it was ended before is not refused any longer.
    pub(crate) fn renew(&mut self) {
        renew(&mut self.host, &self.abandoned);
    }

    /// A write was begun and not finished: the engine has to be discarded.
    fn is_torn(&self) -> bool {
        self.is_torn
    }
}

/// Stops a load whose result nobody waits for, and the programs that it has started.
#[derive(Debug, Default)]
struct Superseded(Arc<AtomicBool>);

impl Drop for Superseded {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether a file belongs to one of these source roots.
fn is_in(roots: &[SourceRoot], file: FileId) -> bool {
    roots.iter().any(|it| it.path_for_file(&file).is_some())
}

/// Changes a database in which this was abandoned.
fn apply_change(host: &mut AnalysisHost, change: ChangeWithProcMacros, abandoned: &Abandoned) {
    let revision = |host: &AnalysisHost| host.raw_database().zalsa().current_revision();
    let before = revision(host);
    host.apply_change(change);
    if revision(host) != before {
        abandoned.note_revision();
    }
    renew(host, abandoned);
}

/// Gives a database another revision, with the same inputs, if what was abandoned wants it.
fn renew(host: &mut AnalysisHost, abandoned: &Abandoned) {
    if abandoned.wants_revision() {
        host.raw_database_mut().synthetic_write(Durability::LOW);
        abandoned.note_revision();
    }
}

fn new_host() -> AnalysisHost {
    let mut host = AnalysisHost::new(None);
    host.raw_database_mut().enable_proc_attr_macros();
    host
}

/// Whether a file is passed to rust-analyzer.
fn is_taken(name: &str, text: Option<&str>) -> bool {
    LANGUAGE.takes(name) || text.is_none_or(|it| it.len() <= MAX_INCLUDED_BYTES)
}

/// Sets the source roots of a database; `known` are the roots that it has. All that was computed from an input is
/// computed again once it is set, whether it differs or not.
fn set_roots(host: &mut AnalysisHost, known: &mut Vec<SourceRoot>, roots: Vec<SourceRoot>) {
    if roots == *known {
        return;
    }
    // Setting a root locks the table of roots and then waits for readers, which may wait for that lock.
    host.trigger_cancellation();
    let db = host.raw_database_mut();
    for (id, new) in identified(&roots) {
        let old = known.get(id.0 as usize);
        if old == Some(new) {
            continue;
        }
        let durability = if new.is_library { Durability::MEDIUM } else { Durability::LOW };
        let alike = old.filter(|it| it.is_library == new.is_library);
        let had: HashSet<FileId> = alike.into_iter().flat_map(SourceRoot::iter).collect();
        for file in new.iter().filter(|it| !had.contains(it)) {
            db.set_file_source_root_with_durability(file, id, durability);
        }
        db.set_source_root_with_durability(id, new.clone().into(), durability);
    }
    let are_libraries = |roots: &[SourceRoot]| roots.iter().map(|it| it.is_library).collect::<Vec<_>>();
    if are_libraries(&roots) != are_libraries(known) {
        let (libraries, local) = identified(&roots).partition::<Vec<_>, _>(|it| it.1.is_library);
        LocalRoots::get(db).set_roots(db).to(local.into_iter().map(|it| it.0).collect());
        LibraryRoots::get(db).set_roots(db).to(libraries.into_iter().map(|it| it.0).collect());
    }
    *known = roots;
}

fn identified(roots: &[SourceRoot]) -> impl Iterator<Item = (SourceRootId, &SourceRoot)> {
    (0..).map(SourceRootId).zip(roots)
}

impl Rust {
    /// A reload has to follow. If trust is withdrawn, the output of workspace code is discarded immediately, and the
    /// programs that run it are ended.
    pub(crate) fn set_trust(&mut self, trusted: bool, build_scripts: bool, proc_macros: bool) {
        self.superseded.0.store(true, Ordering::Relaxed);
        (self.config.trusted, self.config.build_scripts, self.config.proc_macros) =
            (trusted, build_scripts, proc_macros);
        if trusted {
            return;
        }
        self.macros = MacroTable::default();
        self.further.clear();
        for workspace in Arc::make_mut(&mut self.workspaces) {
            workspace.set_build_scripts(Default::default());
        }
        self.shadow_database.note_graph();
        self.flush(Some(self.graph()));
        self.primed = false;
        self.is_indexed = false;
        self.is_complete = false;
        self.index.forget_crates();
    }
}

/// When failed work is retried.
#[derive(Debug, Default)]
pub(crate) struct Background {
    pub(crate) load: Backoff,
    pub(crate) is_load_failed: bool,
    prime: Backoff,
    index: Backoff,
}

impl Background {
    pub(crate) fn is_load_due(&self) -> bool {
        self.is_load_failed && self.load.is_due()
    }
}
