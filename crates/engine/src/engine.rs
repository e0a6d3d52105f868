//! The interface between a workspace and an engine. The registry lists an [`EngineKind`] for each engine. The
//! workspace's writer starts it and owns the [`Engine`]; readers query a [`View`] of it.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;

use super::files::Files;
use super::links::Link;
use super::verify::{Job, Planned};
use super::view::View;
use super::{EngineStatus, Tidied};
use semdex_config::Settings;
use semdex_model::{ChangeImpact, FileEdit, LanguageId, Missing, MissingCode, VerifyKind};

/// The texts must be unchanged for this long before an engine brings its data up to date in the background.
pub const BACKGROUND_DELAY: Duration = Duration::from_millis(30);
/// There must be no request for this long before an engine begins work that would delay a query.
pub const QUIET_BEFORE_IDLE_WORK: Duration = Duration::from_millis(300);

/// A kind of engine, and what is known of its languages before it is started. Except for `root_of`, its methods run on
/// threads that serve requests, so they must not block.
pub trait EngineKind: Send + Sync {
    /// The engine's name, as the status shows it.
    fn name(&self) -> &str;

    /// The languages that it analyses. The status shows the first one.
    fn languages(&self) -> &[LanguageId];

    /// The root of a workspace, found by the manifests in these nested directories, innermost first. It may be another
    /// directory that a manifest names. Called before there are any texts; may block.
    fn root_of(&self, around: &[&Path]) -> Option<PathBuf> {
        let _ = around;
        None
    }

    /// Whether a workspace with these texts needs this engine.
    fn is_needed(&self, files: &Files) -> bool {
        self.languages().iter().any(|it| files.of(*it).next().is_some())
    }

    /// Whether the engine is queried only about files that a request names. Searches skip its languages, and
    /// diagnostics of the whole workspace skip its files.
    fn is_on_request(&self) -> bool {
        false
    }

    /// Whether the engine computes the impact of changes of this file, by the file's name. An engine of `Route::Writer`
    /// also does so for files that texts of its languages reference.
    fn computes_impact(&self, file: &str) -> bool {
        self.languages().iter().any(|it| it.takes(file))
    }

    /// Where the impact of changes is computed, and where their texts are tidied.
    fn route(&self) -> Route {
        Route::View
    }

    /// The program that reads this file from the disk even if an overlay hides it, for example `Cargo`.
    fn reader_of(&self, file: &str) -> Option<&str> {
        let _ = file;
        None
    }

    /// Whether the builds of these languages are described in this file, so that nothing is known without its text.
    fn is_manifest(&self, file: &str) -> bool {
        self.reader_of(file).is_some()
    }

    /// What makes a new file of these languages part of its package.
    fn declare(&self, files: &Files, name: &str, content: &str) -> Declaration {
        let _ = (files, name, content);
        Declaration::default()
    }

    /// Whether code that uses the link's name is missing from the engine's answers, since the engine knows the target
    /// only by its own name.
    fn misses_link(&self, link: &Link, files: &Files) -> bool {
        let _ = (link, files);
        true
    }

    /// Formats a text without a running engine. `None`: `View::tidy` formats it.
    fn format(&self, text: Unformatted<'_>) -> Option<Formatting> {
        let _ = text;
        None
    }

    /// The tools to run for a job. `None` if there are none. May block.
    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        let _ = job;
        None
    }

    /// The kind of [`EngineKind::verify`] to run without a request, because the tools confirm or refute the engine's
    /// diagnostics, or find more. Only in trusted workspaces.
    fn confirms(&self, settings: &Settings) -> Option<VerifyKind> {
        let _ = settings;
        None
    }

    /// Whether an engine that was started with the settings `before` has to be started again for the settings `after`.
    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        let _ = (before, after);
        false
    }

    /// What has to be installed for its languages. May block.
    fn requirements(&self, site: &Site<'_>) -> Vec<Requirement> {
        let _ = site;
        Vec::new()
    }

    /// What is not run, and therefore not known, in a workspace that is not trusted.
    fn lost_without_trust(&self) -> Option<String> {
        None
    }

    /// Starts the engine and returns immediately; slow work goes on in the background. An error is what the workspace
    /// misses without the engine.
    fn start(&self, setup: Setup) -> Result<Box<dyn Engine>, Missing>;
}

/// The workspace for which something has to be installed.
#[derive(Debug, Clone, Copy)]
pub struct Site<'s> {
    /// Its directory.
    pub root: &'s Path,
    /// Whether the workspace's own programs are used.
    pub trusted: bool,
    /// `$XDG_CACHE_HOME/semdex`.
    pub cache_dir: &'s Path,
    /// The engine has more files of the workspace than any other engine.
    pub is_main: bool,
}

/// A program or a part of a toolchain that an engine needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The name that its vendor uses.
    pub name: String,
    /// Where it is. `None` if it is not installed.
    pub found: Option<String>,
    /// Answers are wrong or incomplete without it. Otherwise something smaller is missing.
    pub is_needed: bool,
    /// The command that installs it, or where it can be found.
    pub install: String,
    /// What a workspace loses without it.
    pub without: &'static str,
}

/// Where the impact of a change is computed, and where its texts are tidied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// In a view, before the writer handles the change.
    View,
    /// In the engine, while the writer handles the change.
    Writer,
}

/// What an engine is started with.
pub struct Setup {
    /// The workspace's directory, absolute and without links.
    pub root: PathBuf,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// The settings of this workspace.
    pub settings: Settings,
    /// `$XDG_CACHE_HOME/semdex`.
    pub cache_dir: PathBuf,
    /// Files and directories that are never read.
    pub forbidden: Arc<[PathBuf]>,
    /// The runtime on which the engine may start tasks. Its own threads are not on it.
    pub runtime: tokio::runtime::Handle,
    /// All texts of the workspace at the start. Changes follow by [`Engine::apply`].
    pub files: Arc<Files>,
    /// How many engines of this kind have failed before.
    pub restarts: u32,
    /// Makes the writer call [`Engine::take_results`]. It may block, so the engine must not call it while the writer
    /// calls the engine.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// The part of an engine that readers use without the writer.
#[derive(Clone)]
pub struct Handle {
    /// The state of the engine, published whenever it changes.
    pub status: watch::Receiver<EngineStatus>,
    /// Resolves when the engine has this much, or never will.
    pub reached: Arc<dyn Fn(Readiness) -> BoxFuture<'static, ()> + Send + Sync>,
    /// Ends the engine's processes. Bounded in time.
    pub close: Wait,
}

/// How much of the workspace an engine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readiness {
    /// The texts.
    Texts,
    /// All but what packages generate when they are built. No answer is complete, but most of what is computed for it
    /// serves the next one.
    Unbuilt,
    /// All but few packages: most questions can be answered.
    Most,
    /// There is nothing to wait for: the engine can answer, or never will.
    Settled,
}

impl Readiness {
    /// The least that is more.
    #[must_use]
    pub fn next(self) -> Readiness {
        match self {
            Readiness::Texts => Readiness::Unbuilt,
            Readiness::Unbuilt => Readiness::Most,
            Readiness::Most | Readiness::Settled => Readiness::Settled,
        }
    }
}

/// Makes a future of something that will come. Any number of tasks may wait for it.
pub type Wait = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// A running engine. The writer owns it and calls it on its own thread, in the order of the revisions. An engine that
/// panics is discarded and started again from the texts.
pub trait Engine: Send {
    /// The part that readers use; taken once, after the start.
    fn handle(&self) -> Handle;

    /// How much it knows.
    fn readiness(&self) -> Readiness;

    /// A view of the current revision. `files` are those that were applied last.
    fn view(&self, files: Arc<Files>) -> Box<dyn View>;

    /// Applies new contents. The same contents may come again.
    fn apply(&mut self, change: Applied<'_>);

    /// Applies a change for a trial, computes its impact, and reverts it unless `keep` returns true. Without `keep` the
    /// caller only asks. For engines of `Route::Writer`.
    fn impact(&mut self, trial: &Trial<'_>, keep: Option<&dyn Fn(&ChangeImpact) -> bool>) -> Option<ChangeImpact> {
        let _ = (trial, keep);
        None
    }

    /// The texts of a change that differ once their imports are fixed. The engine keeps nothing of the trial. For
    /// engines of `Route::Writer`.
    fn fix_imports(&mut self, trial: &Trial<'_>) -> Vec<Tidied> {
        let _ = trial;
        Vec::new()
    }

    /// The owner's trust has changed. Returns whether the engine keeps running; otherwise it is closed and started
    /// again.
    fn set_trust(&mut self, trusted: bool, settings: &Settings, files: &Arc<Files>) -> bool {
        let _ = (trusted, settings, files);
        false
    }

    /// Takes the results of its threads, after they called [`Setup::wake`].
    fn take_results(&mut self) {}

    /// Whether it waits for a moment without requests.
    fn is_due(&self) -> bool {
        false
    }

    /// Does background work. Called after every event.
    fn work(&mut self, files: &Arc<Files>, pause: Pause) {
        let _ = (files, pause);
    }

    /// The program that reads this file from the disk, as far as only the loaded workspace knows it (see
    /// `EngineKind::reader_of`).
    fn reader_of(&self, file: &str) -> Option<&str> {
        let _ = file;
        None
    }

    /// Whether a file of another language has code of its own: a Markdown file with doctests.
    fn has_code_of(&self, file: &str) -> bool {
        let _ = file;
        false
    }

    /// The part of a change's impact that is unknown until the change is made and the workspace is loaded again.
    fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        let _ = trial;
        None
    }

    /// The external sources that it has read since the last call. They are watched from then on, and changes come by
    /// `set_external_sources`.
    fn take_external_sources(&mut self) -> Option<ExternalSources> {
        None
    }

    /// The external sources that it has loaded.
    fn known_external_sources(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        Box::new(std::iter::empty())
    }

    /// Whether an external file is a source.
    fn is_external_source(&self, file: &Path) -> bool {
        let _ = file;
        false
    }

    /// Takes the contents of external sources. Returns whether one of them differs from before.
    fn set_external_sources(&mut self, contents: Vec<ExternalText>, files: &Arc<Files>) -> bool {
        let _ = (contents, files);
        false
    }

    /// Directories outside the root that its build reads. The workspace has no texts of their files. The engine is
    /// given the changes of those that `reads_external` selects.
    fn external_modules(&self, files: &Files) -> BTreeSet<PathBuf> {
        let _ = files;
        BTreeSet::new()
    }

    /// Whether a change of this file may change which directories these are.
    fn declares_external_modules(&self, file: &str) -> bool {
        let _ = file;
        false
    }

    /// Whether such a directory exists. One that does not is looked for again.
    fn is_external_module(&self, directory: &Path) -> bool {
        directory.is_dir()
    }

    /// Whether the build reads this file of such a directory.
    fn reads_external(&self, file: &Path) -> bool {
        let _ = file;
        false
    }

    /// Files of such directories have changed. Their paths are absolute.
    fn apply_external_changes(&mut self, changes: &[FileChange]) {
        let _ = changes;
    }

    /// The files that its packages begin with. They are read wherever they are.
    fn roots(&self) -> Vec<String> {
        Vec::new()
    }

    /// Takes the references between files that file names alone do not show.
    fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        let _ = named;
    }

    /// Checks, before an answer, inputs that nobody watches: the environment and the toolchain. Returns whether they
    /// have changed.
    fn check_environment(&mut self, files: &Arc<Files>) -> bool {
        let _ = files;
        false
    }

    /// A file without a text was touched, in the workspace or in external sources. Returns whether that changes what is
    /// loaded.
    fn check_touched_file(&mut self, path: &Path, files: &Arc<Files>) -> bool {
        let _ = (path, files);
        false
    }

    /// Ends the engine. Bounded in time.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// New contents.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    /// All texts after the change.
    pub files: &'a Arc<Files>,
    /// What differs from the texts before.
    pub edits: &'a [FileEdit],
    /// Whether programs that read the disk see the contents too. False for overlays.
    pub is_on_disk: bool,
}

/// What an engine has read outside the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalSources {
    /// The directories.
    pub roots: Vec<PathBuf>,
    /// The files.
    pub read: Vec<PathBuf>,
}

/// The files that code references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferencedFiles {
    /// Files that code references but that are not read. No answer that could depend on one is complete.
    pub unread: Vec<Missing>,
    /// Pairs of texts: the first references the second by its path.
    pub by_path: Vec<(String, String)>,
    /// Texts that are compiled under another name, by a link.
    pub compiled_elsewhere: BTreeSet<String>,
    /// The links within the root that lead to code.
    pub links: Vec<Link>,
}

/// An external file and its content; `None` if the file is gone.
pub type ExternalText = (PathBuf, Option<Vec<u8>>);

/// A change on trial: the texts before and after it.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// All texts of the current revision.
    pub before: &'a Arc<Files>,
    /// All texts with the change.
    pub after: &'a Arc<Files>,
    /// What the change edits.
    pub edits: &'a [FileEdit],
    /// The new names of moved files, each with the old name.
    pub moves: &'a BTreeMap<String, String>,
    /// What the engine's view prepared for it (`View::prepare`).
    pub prepared: Option<&'a Prepared>,
}

impl fmt::Debug for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("edits", &self.edits).finish_non_exhaustive()
    }
}

/// What an engine of `Route::Writer` computes of a change before the writer's turn. Only the engine knows the type.
pub type Prepared = Arc<dyn Any + Send + Sync>;

/// How long nothing has happened.
#[derive(Debug, Clone, Copy)]
pub struct Pause {
    /// How long there was no request. `None` just after one.
    pub quiet: Option<Duration>,
    /// How long the texts are unchanged.
    pub unchanged: Duration,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root.
    pub path: String,
    /// What happened to the file.
    pub kind: FileChangeKind,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It is new.
    Created,
    /// Its content may have changed.
    Changed,
    /// It is gone.
    Deleted,
}

impl FileChangeKind {
    /// This change and the next one, combined into one.
    #[must_use]
    pub fn then(self, next: FileChangeKind) -> FileChangeKind {
        match (self, next) {
            (FileChangeKind::Created, FileChangeKind::Changed) => FileChangeKind::Created,
            (FileChangeKind::Deleted, FileChangeKind::Created) => FileChangeKind::Changed,
            (_, next) => next,
        }
    }
}

impl From<&FileEdit> for FileChange {
    fn from(edit: &FileEdit) -> FileChange {
        let kind = match (&edit.old, &edit.new) {
            (None, _) => FileChangeKind::Created,
            (_, None) => FileChangeKind::Deleted,
            _ => FileChangeKind::Changed,
        };
        FileChange { path: edit.file.clone(), kind }
    }
}

/// What makes a new file part of its package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Its content, if it has to differ from the planned one.
    pub content: Option<String>,
    /// How another file has to reference it.
    pub mention: Option<Mention>,
}

/// The line by which one file references another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The line itself, for the reply: `mod name;`.
    pub line: String,
    /// The edit of the file that references the new one.
    pub edit: FileEdit,
    /// What the new file is not part of without the line, for example `crate`.
    pub whole: &'static str,
}

/// A planned text to format.
#[derive(Debug, Clone, Copy)]
pub struct Unformatted<'a> {
    /// Relative to the root.
    pub file: &'a str,
    /// The planned text.
    pub text: &'a str,
    /// The workspace's directory. The formatter's configuration is looked up there.
    pub root: &'a Path,
    /// Whether the workspace's toolchain and configuration may be used.
    pub trusted: bool,
    /// All texts before the change.
    pub files: &'a Files,
    /// How long formatting may take.
    pub patience: Duration,
}

/// Formats a text, or returns why it could not. It blocks, so it must run on a thread that may block.
pub type Formatting = Box<dyn FnOnce() -> Result<String, String> + Send>;

/// The impact of a change that an engine could not compute.
pub fn impact_unknown(language: LanguageId) -> ChangeImpact {
    let detail = "the change could not be judged; ask `diagnostics`";
    ChangeImpact::unanswered(Missing::new(MissingCode::Timeout, language.name, detail))
}

/// The impact of a change that adds the first code of a language.
pub fn not_started(language: LanguageId) -> ChangeImpact {
    let detail =
        format!("the first code of {} starts its engine: what the change breaks could not be asked", language.title);
    ChangeImpact::unanswered(Missing::new(MissingCode::EngineDown, language.name, detail))
}

/// The missing part of an impact when an engine reads the changed file beside the code. `why` follows the file's name
/// in the message.
pub fn unknown_until_loaded(code: MissingCode, file: &str, why: &str) -> Missing {
    let detail = format!(
        "`{file}` {why}: what its change makes of the code is known once it was made and the workspace was loaded again"
    );
    Missing::new(code, file, detail)
}
