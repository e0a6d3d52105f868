//! The seam to whoever writes the edits: a model that streams its reply.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use semdex_model::Result;

/// A model that can be asked, in whatever place it runs.
pub trait Model: Send + Sync {
    /// The one that is asked where a task names none.
    fn default_name(&self) -> &str;

    /// What can be said at once against asking it: that no region is set, say. Quick, and asks nobody.
    fn check(&self) -> BoxFuture<'_, Result<()>>;

    /// Begins to answer. The stream ends after the reply, or with what went wrong.
    fn reply<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, std::result::Result<Reply, Trouble>>;
}

/// The pieces of a reply as they come.
pub type Reply = BoxStream<'static, std::result::Result<Piece, Trouble>>;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// By its id, as the model's service takes it.
    pub model: String,
    /// How edits are written, and what else holds for every task.
    pub system: String,
    /// The task with the code that it needs, and what became of earlier replies.
    pub prompt: String,
}

/// A part of a reply, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The next part of the answer's text.
    Text(String),
    /// What it thinks is no part of its answer, and is never read.
    Thought,
    /// It has said all that it wanted to, or was stopped.
    Stop(Stop),
    /// What the reply cost, as the model's service counts.
    Usage {
        /// Of the question.
        input_tokens: u64,
        /// Of the reply.
        output_tokens: u64,
    },
}

/// Why a reply is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It had said all.
    End,
    /// It reached the most tokens that it may have.
    Length,
    /// It was cut off for another reason: a filter, say.
    Cut(String),
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, for people to read.
    pub detail: String,
    /// Whether asking again may help.
    pub lasts: Lasts,
}

/// Whether asking again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// It is busy, or the way to it broke.
    Passing,
    /// Nobody answers there: soon, or not at all.
    Unreachable,
    /// It refused.
    Lasting,
}

impl Trouble {
    /// Something that goes by: the service is overloaded, the reply broke off.
    pub(crate) fn passing(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Passing }
    }

    /// The service could not be reached.
    pub(crate) fn unreachable(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Unreachable }
    }

    /// Something that stays: no such model, no permission.
    pub(crate) fn lasting(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Lasting }
    }
}
