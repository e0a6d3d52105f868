//! Rust analysis in the process. Only this crate uses rust-analyzer's crates; `crates/parser` replaces one of them.

pub(crate) mod checks;
pub(crate) mod engine;
pub(crate) mod file_interface;
pub(crate) mod finding;
pub(crate) mod impact;
pub(crate) mod index;
pub(crate) mod invalidate;
pub(crate) mod load;
pub(crate) mod names;
pub(crate) mod questions;
pub(crate) mod resolve;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;
pub(crate) mod usages;
pub(crate) mod verify;
pub(crate) mod view;

pub use engine::seam::RustKind;
pub(crate) use syntax::language::{BUILD_TOOL, ENGINE, LANGUAGE, VERSION, file};

pub(crate) use semdex_engine::STACK_BYTES;
