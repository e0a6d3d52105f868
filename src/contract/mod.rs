//! The contract: what may be asked and what is answered, whatever the face. Requests with their validation, replies,
//! budgets and cursors, problems, and the one table of calls. Knows no transport, no workspace and no engine.

pub mod budget;
mod call;
mod calls;
mod change;
mod describe;
mod diagnostics;
mod edit;
mod events;
mod examples;
#[cfg(test)]
mod fuzz;
mod impact;
mod journal;
mod names;
mod open;
mod overlays;
mod pages;
mod parse;
mod problem;
mod process;
mod relations;
mod rename;
mod request;
mod shapes;
mod symbols;
mod time;
mod words;
mod write;

pub use call::{Call, Effect, Method, Needs, Refusals};
pub use calls::{CALLS, Name, Reply, Request};
pub use change::*;
pub use describe::*;
pub use diagnostics::*;
pub use edit::*;
pub use events::*;
pub use impact::*;
pub use journal::*;
pub use names::*;
pub use open::*;
pub use overlays::*;
pub use pages::{Kept, kept_under};
pub use parse::nearest;
pub use problem::{PROBLEM_TOKENS, Problem, ProblemCandidate, title};
pub use process::*;
pub use relations::*;
pub use rename::*;
pub use request::{Answer, Arguments, Common, Document, NamedSchema, schemas};
pub use shapes::*;
pub use symbols::*;
pub use time::rfc3339;
pub use words::*;
pub use write::*;
