//! The state of a workspace and of its engines, which every reply reports.

use super::Coverage;

/// What every reply reports about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// The files whose content differs from the disk.
    pub overlays: Vec<String>,
    /// The identifier of the workspace, which requests take too.
    pub workspace: String,
    /// The state of the texts that the reply describes.
    pub revision: Revision,
    /// How much of the workspace was known when the reply was made.
    pub state: State,
    /// Whether this reply is complete, and what is missing.
    pub coverage: Coverage,
}

/// Grows with every change of content of a workspace, and with nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// How much of a workspace is known at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The engines are being built or started.
    Starting,
    /// Only the texts are known.
    Syntax,
    /// Packages are loaded and usages read in the background.
    Indexing,
    /// Nothing is outstanding in the background.
    Ready,
    /// An engine is down; all other engines answer.
    Degraded,
}

impl State {
    /// The word for it in replies: `indexing`.
    pub fn name(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Syntax => "syntax",
            State::Indexing => "indexing",
            State::Ready => "ready",
            State::Degraded => "degraded",
        }
    }
}

/// The state of an engine, as the status reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineState {
    /// It is being started.
    Starting,
    /// It knows only the texts.
    Syntax,
    /// It answers, and still works in the background.
    Indexing,
    /// It answers, and nothing is outstanding.
    Ready,
    /// It answers, but something that it needs is missing.
    Degraded,
    /// Its program is not installed, or may not be started.
    Missing,
    /// Its program does not stay up; it is not started again until something changes.
    Broken,
    /// It is started by the first question that needs it.
    Idle,
}

impl From<State> for EngineState {
    fn from(state: State) -> EngineState {
        match state {
            State::Starting => EngineState::Starting,
            State::Syntax => EngineState::Syntax,
            State::Indexing => EngineState::Indexing,
            State::Ready => EngineState::Ready,
            State::Degraded => EngineState::Degraded,
        }
    }
}

impl EngineState {
    /// The word for it in replies: `ready`.
    pub fn name(self) -> &'static str {
        match self {
            EngineState::Starting => "starting",
            EngineState::Syntax => "syntax",
            EngineState::Indexing => "indexing",
            EngineState::Ready => "ready",
            EngineState::Degraded => "degraded",
            EngineState::Missing => "missing",
            EngineState::Broken => "broken",
            EngineState::Idle => "idle",
        }
    }
}
