//! The seam: what an engine is to its workspace. The registry lists an [`EngineKind`] for each; the workspace's writer
//! starts it and owns the [`Engine`]; readers ask a [`View`] of it.

use std::collections::BTreeSet;
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

/// So long the texts must be unchanged before what was known of them is brought up to date in the background.
pub const BACKGROUND_DELAY: Duration = Duration::from_millis(30);
/// So long nobody must have asked anything before work begins that would hold a question up.
pub const QUIET_BEFORE_IDLE_WORK: Duration = Duration::from_millis(300);

/// An engine before it is started, and what can be said of its languages without it. But for `root_of` it is asked on
/// threads that serve requests: nothing blocks.
pub trait EngineKind: Send + Sync {
    /// As the status names it.
    fn name(&self) -> &str;

    /// The first is the one that the status names.
    fn languages(&self) -> &[LanguageId];

    /// Which of these directories is the root of a workspace by the manifests in them, or another that they name. They are
    /// one above the other, the innermost first. Asked before there are any texts; may block.
    fn root_of(&self, around: &[&Path]) -> Option<PathBuf> {
        let _ = around;
        None
    }

    /// Whether a workspace with these texts has anything for it to do.
    fn is_needed(&self, files: &Files) -> bool {
        self.languages().iter().any(|it| files.of(*it).next().is_some())
    }

    /// Whether it is asked only about files that are named: no name is looked for in its languages, and no file of theirs is
    /// checked with the whole workspace.
    fn is_on_request(&self) -> bool {
        false
    }

    /// Whether it computes the impact of changes of this file, by its name. An engine of `Route::Writer` does so too of what
    /// texts of its languages name.
    fn computes_impact(&self, file: &str) -> bool {
        self.languages().iter().any(|it| it.takes(file))
    }

    /// Where it computes the impact of changes and tidies their texts.
    fn route(&self) -> Route {
        Route::View
    }

    /// Who reads this file from the disk, whatever overlay hides it: `Cargo`, say.
    fn reader_of(&self, file: &str) -> Option<&str> {
        let _ = file;
        None
    }

    /// What makes a new file a part of its package. The file is of one of the languages.
    fn declare(&self, files: &Files, name: &str, content: &str) -> Declaration {
        let _ = (files, name, content);
        Declaration::default()
    }

    /// Whether it misses code that names by this link what the link leads to: it knows all there by its own name alone.
    fn misses_link(&self, link: &Link, files: &Files) -> bool {
        let _ = (link, files);
        true
    }

    /// How a text is formatted, where that needs no engine; else `View::tidy` is asked.
    fn format(&self, text: Unformatted<'_>) -> Option<Formatting> {
        let _ = text;
        None
    }

    /// What its tools would run to answer a job; `None` where it has none. May block.
    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        let _ = job;
        None
    }

    /// What [`EngineKind::verify`] is asked for while nobody asks anything, since its tools confirm or refute what the
    /// engine says, or know more. Only where the workspace is trusted.
    fn confirms(&self, settings: &Settings) -> Option<VerifyKind> {
        let _ = settings;
        None
    }

    /// Whether an engine that was started with the settings `before` has to be started anew where those `after` count.
    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        let _ = (before, after);
        false
    }

    /// What has to be installed for its languages. May block.
    fn requirements(&self, site: &Site<'_>) -> Vec<Requirement> {
        let _ = site;
        Vec::new()
    }

    /// What is not run, and what is unknown by that, where a workspace is not trusted.
    fn lost_without_trust(&self) -> Option<String> {
        None
    }

    /// Returns at once; what takes longer goes on in the background. An error says what the workspace lacks by it.
    fn start(&self, setup: Setup) -> Result<Box<dyn Engine>, Missing>;
}

/// The workspace for which something has to be installed.
#[derive(Debug, Clone, Copy)]
pub struct Site<'s> {
    /// Its directory.
    pub root: &'s Path,
    /// Whether its own programs count.
    pub trusted: bool,
    /// `$XDG_CACHE_HOME/semdex`.
    pub cache_dir: &'s Path,
    /// More of its files are of the engine's languages than of any other's.
    pub is_main: bool,
}

/// A program or a part of a toolchain that an engine works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The program or part, as its makers call it.
    pub name: String,
    /// Where it is; absent: it is not there.
    pub found: Option<String>,
    /// Answers are wrong or incomplete without it. Else something smaller is missing.
    pub is_needed: bool,
    /// The command that gets it, or where it is to be had.
    pub install: String,
    /// What a workspace loses without it.
    pub without: &'static str,
}

/// Where the impact of a change is computed, and where its texts are tidied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By a view, before the writer has its turn.
    View,
    /// By the engine, in the writer's turn.
    Writer,
}

/// What an engine starts with.
pub struct Setup {
    /// The workspace's directory, absolute and without links.
    pub root: PathBuf,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// What the configuration says for this workspace.
    pub settings: Settings,
    /// `$XDG_CACHE_HOME/semdex`.
    pub cache_dir: PathBuf,
    /// Files and directories that are never read, wherever they lie.
    pub forbidden: Arc<[PathBuf]>,
    /// Where the engine may start tasks; its own threads are plain ones.
    pub runtime: tokio::runtime::Handle,
    /// All texts of the workspace at the start; changes come by [`Engine::apply`].
    pub files: Arc<Files>,
    /// So many of its kind have failed before it.
    pub restarts: u32,
    /// Has the writer call [`Engine::take_results`]. May block: never to be called in one of the writer's calls.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// What can be known of an engine without asking the writer.
#[derive(Clone)]
pub struct Handle {
    /// The state of the engine, published whenever it changes.
    pub status: watch::Receiver<EngineStatus>,
    /// Resolves when there is nothing to wait for: it can answer, or it will not be able to.
    pub settled: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
    /// Ends what runs outside of the process. Bounded in time.
    pub close: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

/// A running engine, owned by the workspace's writer: all is called on its thread, and in the order of the revisions. A
/// panic costs the engine, which is thrown away and started anew from the texts.
pub trait Engine: Send {
    /// What can be known of it without the writer; taken once, after the start.
    fn handle(&self) -> Handle;

    /// Whether there is nothing to wait for.
    fn is_settled(&self) -> bool;

    /// One revision. The files are those that were applied last.
    fn view(&self, files: Arc<Files>) -> Box<dyn View>;

    /// Brings new contents in. What is there already may come again.
    fn apply(&mut self, change: Applied<'_>);

    /// Tries a change, computes its impact, and takes it back unless `keep` says otherwise; without that it is only asked about. For
    /// those of `Route::Writer`.
    fn impact(&mut self, trial: &Trial<'_>, keep: Option<&dyn Fn(&ChangeImpact) -> bool>) -> Option<ChangeImpact> {
        let _ = (trial, keep);
        None
    }

    /// The texts of a change with their imports put right, where that changes them. Nothing of it stays. For those of
    /// `Route::Writer`.
    fn fix_imports(&mut self, trial: &Trial<'_>) -> Vec<Tidied> {
        let _ = trial;
        Vec::new()
    }

    /// The owner's trust has changed. Answers whether the engine goes on: else it is closed and started anew.
    fn set_trust(&mut self, trusted: bool, settings: &Settings, files: &Arc<Files>) -> bool {
        let _ = (trusted, settings, files);
        false
    }

    /// Takes in what its threads have found out, after they called [`Setup::wake`].
    fn take_results(&mut self) {}

    /// Whether it waits for a moment in which nobody asks anything.
    fn is_due(&self) -> bool {
        false
    }

    /// Called between all events: work that nobody waits for.
    fn work(&mut self, files: &Arc<Files>, pause: Pause) {
        let _ = (files, pause);
    }

    /// Who reads this file from the disk, as far as only the loaded workspace tells (see `EngineKind::reader_of`).
    fn reader_of(&self, file: &str) -> Option<&str> {
        let _ = file;
        None
    }

    /// What cannot be known of a change before it is made and the workspace is loaded anew.
    fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        let _ = trial;
        None
    }

    /// What it has read of sources outside of the root since it was asked last: they are watched from then on, and it is
    /// given what they hold (`set_external_sources`).
    fn take_external_sources(&mut self) -> Option<ExternalSources> {
        None
    }

    /// The sources outside of the root that it holds.
    fn known_external_sources(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        Box::new(std::iter::empty())
    }

    /// Whether a file there is a source.
    fn is_external_source(&self, file: &Path) -> bool {
        let _ = file;
        false
    }

    /// What sources outside of the root hold now. Answers whether that is something else than before.
    fn set_external_sources(&mut self, contents: Vec<ExternalText>, files: &Arc<Files>) -> bool {
        let _ = (contents, files);
        false
    }

    /// Directories outside of the root that its build reads. Their files have no texts here; of those that it `reads` it
    /// is given what has changed.
    fn external_modules(&self, files: &Files) -> BTreeSet<PathBuf> {
        let _ = files;
        BTreeSet::new()
    }

    /// Whether a change of this file may change which directories these are.
    fn declares_external_modules(&self, file: &str) -> bool {
        let _ = file;
        false
    }

    /// Whether something is built of such a directory: one that is not there yet is looked for.
    fn is_external_module(&self, directory: &Path) -> bool {
        directory.is_dir()
    }

    /// Whether it reads a file of such a directory.
    fn reads_external(&self, file: &Path) -> bool {
        let _ = file;
        false
    }

    /// Files of such directories have changed. Their names are absolute.
    fn apply_external_changes(&mut self, changes: &[FileChange]) {
        let _ = changes;
    }

    /// The texts that its packages begin with: they are read wherever they lie.
    fn roots(&self) -> Vec<String> {
        Vec::new()
    }

    /// How code names files, where that is more than their names tell.
    fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        let _ = named;
    }

    /// Looks, before an answer, at what decides it and is watched by nobody: the environment, the toolchain. Answers
    /// whether that has changed.
    fn check_environment(&mut self, files: &Arc<Files>) -> bool {
        let _ = files;
        false
    }

    /// Something that is no text of the workspace was touched, in it or among the sources outside. Answers whether that
    /// changes what was loaded.
    fn check_touched_file(&mut self, path: &Path, files: &Arc<Files>) -> bool {
        let _ = (path, files);
        false
    }

    /// Ends it. Bounded in time.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// New contents.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    /// All texts after them.
    pub files: &'a Arc<Files>,
    /// What differs from the texts before.
    pub edits: &'a [FileEdit],
    /// Whether programs that read the disk see them too: not those of overlays.
    pub is_on_disk: bool,
}

/// What an engine has read outside of the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalSources {
    /// The directories.
    pub roots: Vec<PathBuf>,
    /// The files.
    pub read: Vec<PathBuf>,
}

/// How the code of a workspace names files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferencedFiles {
    /// Files that code names and that are not read: no answer that could depend on them is complete.
    pub unread: Vec<Missing>,
    /// Texts that name another by its path, with that.
    pub by_path: Vec<(String, String)>,
    /// Texts that are compiled under another name, behind a link.
    pub compiled_elsewhere: BTreeSet<String>,
    /// The links within the root that lead to code.
    pub links: Vec<Link>,
}

/// A file outside of the root and what it holds now; nothing where no file stands any more.
pub type ExternalText = (PathBuf, Option<Vec<u8>>);

/// A change that is tried: the texts before and after it.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// All texts of the revision that is current.
    pub before: &'a Arc<Files>,
    /// All texts as they would be.
    pub after: &'a Arc<Files>,
    /// What differs between the two.
    pub edits: &'a [FileEdit],
}

/// How long nothing has happened.
#[derive(Debug, Clone, Copy)]
pub struct Pause {
    /// For so long nobody has asked anything; none where somebody just did.
    pub quiet: Option<Duration>,
    /// The texts are unchanged for so long.
    pub unchanged: Duration,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root.
    pub path: String,
    /// What became of the file.
    pub kind: FileChangeKind,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It was not there before.
    Created,
    /// Its content may be another.
    Changed,
    /// It is gone.
    Deleted,
}

impl FileChangeKind {
    /// This change followed by another one, as one change.
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

/// What makes a new file a part of its package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Its content, where it has to be another.
    pub content: Option<String>,
    /// Another file has to name it.
    pub mention: Option<Mention>,
}

/// The line by which one file names another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The line itself, for the reply: `mod name;`.
    pub line: String,
    /// Of the file that is to name the other.
    pub edit: FileEdit,
    /// What the other is no part of without it: `crate`.
    pub whole: &'static str,
}

/// A planned text that is to be formatted.
#[derive(Debug, Clone, Copy)]
pub struct Unformatted<'a> {
    /// Relative to the root.
    pub file: &'a str,
    /// The text as it is planned.
    pub text: &'a str,
    /// The workspace's directory, in which the formatter's configuration is looked for.
    pub root: &'a Path,
    /// Whether a toolchain and a configuration of the workspace may be used.
    pub trusted: bool,
    /// All texts before the change.
    pub files: &'a Files,
    /// How long it may take.
    pub patience: Duration,
}

/// Formats a text, or says why not. Blocks, so that it belongs on a thread that may.
pub type Formatting = Box<dyn FnOnce() -> Result<String, String> + Send>;

/// What is said of a change whose impact an engine could not compute.
pub fn impact_unknown(language: LanguageId) -> ChangeImpact {
    let detail = "the change could not be judged; ask `diagnostics`";
    ChangeImpact::unanswered(Missing::new(MissingCode::Timeout, language.name, detail))
}

/// What is said of a change that brings the first code of a language.
pub fn not_started(language: LanguageId) -> ChangeImpact {
    let detail =
        format!("the first code of {} starts its engine: what the change breaks could not be asked", language.title);
    ChangeImpact::unanswered(Missing::new(MissingCode::EngineDown, language.name, detail))
}

/// What is said of a change whose file an engine reads beside the code; `why` goes on after the file's name.
pub fn unknown_until_loaded(code: MissingCode, file: &str, why: &str) -> Missing {
    let detail = format!(
        "`{file}` {why}: what its change makes of the code is known once it was made and the workspace was loaded anew"
    );
    Missing::new(code, file, detail)
}
