//! The engines behind one interface. Nothing above this crate knows rust-analyzer, gopls or LSP.
//!
//! Every engine answers the same queries about one revision, in the types of `model`. A query that meets a change stops
//! with [`Stop::Stale`], and the caller takes a fresh view. An engine that is down or still loading answers as far as
//! it can, and its answer's coverage lists what is missing.

mod backoff;
mod engine;
pub mod files;
pub mod fix;
pub mod links;
pub mod ranking;
mod registry;
mod renamed_names;
pub mod unindexed;
pub mod unpoisoned;
pub mod verify;
mod view;
mod workspace_root;

pub use backoff::Backoff;
pub use engine::{
    Applied, BACKGROUND_DELAY, Declaration, Engine, EngineKind, ExternalSources, ExternalText, FileChange,
    FileChangeKind, Formatting, Handle, Mention, Pause, Prepared, QUIET_BEFORE_IDLE_WORK, Readiness, ReferencedFiles,
    Requirement, Route, Setup, Site, Trial, Unformatted, Wait, impact_unknown, not_started, unknown_until_loaded,
};
pub use registry::Registry;
pub use renamed_names::RenamedNames;
pub use view::{Answering, Extent, Suggested, Unknown, View, blocking};
pub use workspace_root::{read_manifest, repository_around};

use std::sync::Arc;
use std::time::Instant;

use semdex_model::{EngineState, Error, FileEdit, LanguageId, Missing, MissingCode, State};

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The content changed during the query: ask again with a fresh view.
    Stale,
    /// The query failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// The result of a query to an engine.
pub type Result<T> = std::result::Result<T, Stop>;

/// How long a query may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until when the query waits for an engine that is built, started, loading or restarting.
    pub ready: Instant,
    /// Until when a running engine may work on the answer. Then it returns what it has.
    pub answer: Instant,
}

/// How far a stage of an engine's start or of its background work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What the stage does, for people to read.
    pub stage: String,
    /// Steps that are done.
    pub done: usize,
    /// Steps of the stage; 0 if the number is not known.
    pub total: usize,
}

/// The state of an engine. Published on a watch channel whenever it changes.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineStatus {
    /// The name of the program, or of the library in the process.
    pub name: String,
    /// The language that it analyses; the first one if there are several.
    pub language: LanguageId,
    /// `None` if the version is not known.
    pub version: Option<String>,
    /// How much the engine knows.
    pub state: State,
    /// Whether the engine is running at all.
    pub condition: Condition,
    /// What the engine works on. `None` if it works on nothing.
    pub progress: Option<Progress>,
    /// The process id. `None` for an engine inside this process.
    pub pid: Option<u32>,
    /// Resident memory of the engine's process, in bytes. `None` for an engine inside this process.
    pub memory_bytes: Option<u64>,
    /// How often the engine ended unexpectedly and was started again.
    pub restarts: u32,
    /// What answers may miss in this state.
    pub missing: Vec<Missing>,
    /// Queries are quick, even if background work is not finished.
    pub warm: bool,
    /// The engine is started by the first query for it, so the workspace is ready without it.
    pub on_demand: bool,
}

impl EngineStatus {
    /// The status of an engine of which nothing else is known.
    pub fn new(name: &str, language: LanguageId, state: State) -> EngineStatus {
        EngineStatus {
            name: name.to_owned(),
            language,
            version: None,
            state,
            condition: Condition::Normal,
            progress: None,
            pid: None,
            memory_bytes: None,
            restarts: 0,
            missing: Vec::new(),
            warm: false,
            on_demand: false,
        }
    }

    /// The state in one word, as replies have it.
    pub fn engine_state(&self) -> EngineState {
        match self.condition {
            Condition::Normal => self.state.into(),
            Condition::Missing => EngineState::Missing,
            Condition::Broken => EngineState::Broken,
            Condition::Idle => EngineState::Idle,
        }
    }
}

/// The part of an engine's state that [`State`] does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// The engine is running or about to run.
    #[default]
    Normal,
    /// Its program is not installed, or may not be started.
    Missing,
    /// It ends again and again.
    Broken,
    /// It is started by the first query for it.
    Idle,
}

/// How background work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All of it is done.
    Finished,
    /// A change interrupted it.
    Stopped,
    /// It panicked.
    Failed,
}

/// The message of a panic, without what it quotes: that may be text of the workspace, and the message is logged.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let fixed = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let composed = || panic.downcast_ref::<String>().map(|it| without_quotes(it));
    fixed.or_else(composed).unwrap_or_else(|| "a panic".to_owned())
}

fn without_quotes(message: &str) -> String {
    const QUOTES: [char; 3] = ['`', '"', '\''];
    match (message.find(QUOTES), message.rfind(QUOTES)) {
        (Some(first), Some(last)) => format!("{}…{}", &message[..first], &message[last + 1..]),
        _ => message.to_owned(),
    }
}

/// The stack size of threads that analyse, in bytes. The system commits only the part that is used. Type inference
/// recurses as deeply as a text may be nested, and nested macros need more.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;

/// What to do with planned texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Remove unused imports, and add a missing one if only one candidate exists.
    pub imports: bool,
    /// Format the text with the formatter of its language.
    pub format: bool,
}

/// A planned text with fixed imports or formatting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tidied {
    /// Relative to the root.
    pub file: String,
    /// The text to write; the planned text if nothing could be done.
    pub text: Arc<str>,
    /// What could not be done, and why.
    pub note: Option<String>,
}

impl Tidied {
    /// The planned texts of a language, unchanged, with a note that says why.
    pub fn untouched(edits: &[FileEdit], language: LanguageId, note: &str) -> Vec<Tidied> {
        let written = edits.iter().filter(|it| language.takes(&it.file));
        let noted =
            |it: &FileEdit| Some(Tidied { file: it.file.clone(), text: it.new.clone()?, note: Some(note.to_owned()) });
        written.filter_map(noted).collect()
    }
}

/// What an answer misses because a file is nested too deeply.
pub fn too_deep(file: &str) -> Missing {
    let detail = format!("{file} is nested too deeply to be analysed: it is taken for plain text");
    Missing::new(MissingCode::Unsupported, file, detail)
}
