//! The interface to the model that writes the edits and streams its reply.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use semdex_model::Result;

/// A model, independent of where it runs.
pub trait Model: Send + Sync {
    /// The id of the model for tasks that name none.
    fn default_name(&self) -> &str;

    /// Checks quickly, without a request, whether the model can be used, for example whether a region is set.
    fn check(&self) -> BoxFuture<'_, Result<()>>;

    /// Starts a reply. The stream ends after the reply or with an error.
    fn reply<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, std::result::Result<Reply, Trouble>>;
}

/// The stream of the parts of a reply.
pub type Reply = BoxStream<'static, std::result::Result<Piece, Trouble>>;

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The id of the model, as its service accepts it.
    pub model: String,
    /// The system prompt: the format of edits, and rules for every task.
    pub system: String,
    /// The task with the relevant code, and the results of earlier replies.
    pub prompt: String,
}

/// A part of a streamed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The next part of the text.
    Text(String),
    /// The model is reasoning. Its reasoning is not part of the reply and is not read.
    Thought,
    /// The reply has ended.
    Stop(Stop),
    /// The tokens of the reply, as counted by the service.
    Usage {
        /// The tokens of the request.
        input_tokens: u64,
        /// The tokens of the reply.
        output_tokens: u64,
    },
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The reply is complete.
    End,
    /// The reply reached its token limit.
    Length,
    /// The reply was cut off for another reason, for example by a filter.
    Cut(String),
}

/// An error of a model or its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, for display.
    pub detail: String,
    /// Whether a retry may help.
    pub lasts: Lasts,
}

/// Whether a retry may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// The service is overloaded, or the connection broke.
    Passing,
    /// The service could not be reached. It will be soon, or not at all.
    Unreachable,
    /// The service refused the request.
    Lasting,
}

impl Trouble {
    /// A temporary error: the service is overloaded, or the reply broke off.
    pub(crate) fn passing(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Passing }
    }

    /// The service could not be reached.
    #[cfg(feature = "bedrock")]
    pub(crate) fn unreachable(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Unreachable }
    }

    /// A permanent error: unknown model, or no permission.
    pub(crate) fn lasting(detail: impl Into<String>) -> Trouble {
        Trouble { detail: detail.into(), lasts: Lasts::Lasting }
    }
}
