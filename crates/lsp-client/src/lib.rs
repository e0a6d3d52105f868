//! A client of the Language Server Protocol over any pair of byte streams. It knows no particular server and no
//! files: the same code speaks to a process and, in tests, to an in-memory pipe.
//!
//! What it holds: every request has a deadline, a request that nobody waits for any more is cancelled at the
//! server, every queue is bounded, messages leave in the order in which they were queued, and when a stream ends
//! every waiting request fails at once, so that a server's death never looks like an empty answer.
//!
//! async-lsp 0.2 was looked at: its queues are unbounded and its requests know no deadline. tower-lsp is for servers.

mod client;
pub mod file_uri;
mod framing;
#[cfg(test)]
mod fuzz;
mod incoming;
#[cfg(test)]
mod tests;

pub use client::{Client, Hooks, Message, RequestError};
