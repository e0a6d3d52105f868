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
pub(crate) use syntax::language::{LANGUAGE, file};

/// As the status names it.
pub(crate) const ENGINE: &str = "rust-analyzer";

/// What reads manifests.
pub(crate) const BUILD_TOOL: &str = "Cargo";

/// The version of rust-analyzer's crates that is built in.
pub(crate) const VERSION: &str = "0.0.348";

pub(crate) use semdex_engine::STACK_BYTES;
