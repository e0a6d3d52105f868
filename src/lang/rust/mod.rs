//! Rust, analysed in the process: the only place that names rust-analyzer's crates.

pub(crate) mod engine;
pub(crate) mod impact;
pub(crate) mod index;
pub(crate) mod invalidate;
pub(crate) mod questions;
pub(crate) mod resolve;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;
pub(crate) mod verify;
pub(crate) mod view;

pub use engine::seam::RustKind;
pub use syntax::language::{LANGUAGE, file};

/// As the status names it.
pub const ENGINE: &str = "rust-analyzer";

/// What reads manifests.
pub const BUILD_TOOL: &str = "Cargo";

/// The version of rust-analyzer's crates that is built in.
pub const VERSION: &str = "0.0.348";

pub use super::STACK_BYTES;
