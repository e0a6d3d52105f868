//! The seam to whoever writes the edits: a model that streams its reply.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::model::Result;

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
    pub model: String,
    /// How edits are written, and what else holds for every task.
    pub system: String,
    pub prompt: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// What it thinks is no part of its answer, and is never read.
    Thought,
    /// It has said all that it wanted to, or was stopped.
    Stop(Stop),
    Usage {
        input_tokens: u64,
        output_tokens: u64,
    },
}

/// Why a reply is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    End,
    /// It reached the most tokens that it may have.
    Length,
    /// It was cut off for another reason: a filter, say.
    Cut(String),
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub detail: String,
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
    pub fn passing(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Passing }
    }

    pub fn unreachable(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Unreachable }
    }

    pub fn lasting(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Lasting }
    }
}
