//! The engines behind one vocabulary. Nothing above this module knows rust-analyzer, gopls or LSP.
//!
//! Every engine answers the same questions about one revision, in the words of `model`. A question that meets a
//! change stops with [`Stop::Stale`], and whoever asked takes a fresh view; an engine that is down or still
//! loading answers as far as it can and says in the answer's coverage what is lacking.

mod backoff;
mod engine;
pub mod files;
pub mod fix;
pub mod links;
pub mod ranking;
mod registry;
pub mod unindexed;
pub mod unpoisoned;
pub mod verify;
mod view;
mod workspace_root;

pub use backoff::Backoff;
pub use engine::{
    Applied, BACKGROUND_DELAY, Declaration, Engine, EngineKind, ExternalSources, ExternalText, FileChange,
    FileChangeKind, Formatting, Handle, Mention, Pause, QUIET_BEFORE_IDLE_WORK, ReferencedFiles, Requirement, Route,
    Setup, Site, Trial, Unformatted, impact_unknown, not_started, unknown_until_loaded,
};
pub use registry::Registry;
pub use view::{Answering, Extent, Suggested, Unknown, View, blocking};
pub use workspace_root::{read_manifest, repository_around};

use std::sync::Arc;
use std::time::Instant;

use semdex_model::{EngineState, Error, FileEdit, LanguageId, Missing, MissingCode, State};

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The content changed while the question was being answered: ask again with a fresh view.
    Stale,
    /// The question has an error for an answer.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// What questions to engines answer with.
pub type Result<T> = std::result::Result<T, Stop>;

/// How long a question may take, whatever it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// An engine that is built, started, loading or restarting is waited for no longer.
    pub ready: Instant,
    /// An engine that is at work answers with what it has by then.
    pub answer: Instant,
}

/// How far a stage of an engine's start or of its background work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for people to read.
    pub stage: String,
    /// Steps that are done.
    pub done: usize,
    /// Steps of the stage; 0 where nobody knows.
    pub total: usize,
}

/// How an engine is doing. Published on a watch channel whenever it changes.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineStatus {
    /// The program, or the library in the process.
    pub name: String,
    /// What it analyses; of several languages the first.
    pub language: LanguageId,
    /// None where it is not known.
    pub version: Option<String>,
    /// How much it knows.
    pub state: State,
    /// Whether it is up at all.
    pub condition: Condition,
    /// What it works on. None where nothing is going on.
    pub progress: Option<Progress>,
    /// Of the engine's own process, where it has one.
    pub pid: Option<u32>,
    /// Resident memory of its own process. None where it has none.
    pub memory_bytes: Option<u64>,
    /// How often it ended unasked and was started again.
    pub restarts: u32,
    /// What its answers may lack as long as this lasts.
    pub missing: Vec<Missing>,
    /// Its answers are quick, be all that it works out in the background there or not.
    pub warm: bool,
    /// It is started when somebody asks: that it is not up yet does not keep the workspace from being ready.
    pub on_demand: bool,
}

impl EngineStatus {
    /// Of an engine of which nothing else is known.
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

    /// How it is doing, in one word.
    pub fn engine_state(&self) -> EngineState {
        match self.condition {
            Condition::Normal => self.state.into(),
            Condition::Missing => EngineState::Missing,
            Condition::Broken => EngineState::Broken,
            Condition::Idle => EngineState::Idle,
        }
    }
}

/// What the state alone does not say of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// It is up, or about to be.
    #[default]
    Normal,
    /// Its program is not there, or may not be started.
    Missing,
    /// It does not stay up.
    Broken,
    /// It is started at the first need.
    Idle,
}

/// How work in the background came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All of it is done.
    Finished,
    /// A change came between.
    Stopped,
    /// It panicked.
    Failed,
}

/// What a panic said.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// Of threads that analyse. The system provides what is used of it. Type inference recurses as deeply as a text may be
/// nested, and macros in each other take more.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;

/// What is wanted of planned texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Unused imports removed, missing ones added where only one fits.
    pub imports: bool,
    /// In the form of their language's formatter.
    pub format: bool,
}

/// A planned text in another form: with its imports put right, or as its language's formatter has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tidied {
    /// Relative to the root.
    pub file: String,
    /// The text to be written; the planned one where nothing could be done.
    pub text: Arc<str>,
    /// What could not be done, and why.
    pub note: Option<String>,
}

impl Tidied {
    /// The written texts of a language as they were planned, with a note why.
    pub fn untouched(edits: &[FileEdit], language: LanguageId, note: &str) -> Vec<Tidied> {
        let written = edits.iter().filter(|it| language.takes(&it.file));
        let noted =
            |it: &FileEdit| Some(Tidied { file: it.file.clone(), text: it.new.clone()?, note: Some(note.to_owned()) });
        written.filter_map(noted).collect()
    }
}

/// What an answer lacks by a file that is nested so deeply.
pub fn too_deep(file: &str) -> Missing {
    let detail = format!("{file} is nested too deeply to be analysed: it is taken for plain text");
    Missing::new(MissingCode::Unsupported, file, detail)
}
