//! How far a run of a model is.

/// How far a run of a model is, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It still works, or waits for the model.
    Running,
    /// The change is made and verified.
    Succeeded,
    /// It gave up; what it changed is taken back.
    Failed,
    /// Somebody ended it; what it changed is taken back.
    Cancelled,
}

impl RunState {
    /// The word for it in replies: `running`.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Succeeded => "succeeded",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
        }
    }
}
