//! Rust, analysed in the process: the only place that names rust-analyzer's crates.

mod background;
mod calls;
mod changes;
mod declare;
mod delta;
pub mod describe;
pub mod diagnostics;
mod doc_links;
mod doubt;
pub mod engine;
pub mod format;
mod hover;
pub mod impact;
mod imports;
mod index;
mod inputs;
mod language;
pub mod load;
mod named;
mod names;
mod outside;
pub mod paths;
mod postings;
mod prime;
pub mod questions;
pub mod rename;
pub mod resolve;
mod root;
mod seam;
mod search;
pub mod second;
mod source;
pub mod symbols;
pub mod syntax;
#[cfg(test)]
mod tests;
mod touch;
pub mod usages;
mod verify;
pub mod view;

pub use language::{LANGUAGE, file};
pub use seam::RustKind;

/// As the status names it.
pub const ENGINE: &str = "rust-analyzer";

/// What reads manifests.
pub const BUILD_TOOL: &str = "Cargo";

/// The version of rust-analyzer's crates that is built in.
pub const VERSION: &str = "0.0.348";

pub use super::STACK_BYTES;
