//! A client of the Language Server Protocol over any pair of byte streams. It depends on no particular server and on no
//! files: the same code communicates with a process and, in tests, over an in-memory pipe.
//!
//! Guarantees: every request has a deadline. Dropping a pending request cancels it at the server. Every queue is
//! bounded. Messages leave in the order in which they were queued. When a stream ends, every pending request fails
//! immediately, so the end of a server never looks like an empty answer.
//!
//! Alternatives: async-lsp 0.2 has unbounded queues and no deadlines for requests. tower-lsp is for servers.

mod client;
pub mod file_uri;
mod framing;
#[cfg(test)]
mod fuzz;
mod incoming;
#[cfg(test)]
mod tests;

pub use client::{Client, Hooks, Message, RequestError};
