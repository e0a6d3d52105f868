//! Rust analysis in the process. Only this crate uses rust-analyzer's crates; `crates/parser` replaces one of them.
//!
//! Each module uses only those before it; `cargo xtask tidy` checks the order (`LAYERS`):
//!
//! - `syntax`: what one text shows by itself.
//! - `names`: what each name in a text means.
//! - `file_interface`: what other files can see of a file, and which parts of it a change leaves as they are.
//! - `finding`: errors as data: codes, rules, findings.
//! - `index`: what is known to be right for the current texts.
//! - `view`: an immutable view of one revision, which every query runs on.
//! - `resolve`: from paths to definitions, and back.
//! - `usages`: where definitions are named.
//! - `checks`: the errors of one state of the workspace.
//! - `invalidate`: what a change invalidates in the index.
//! - `impact`: how the errors differ between the states before and after a change.
//! - `questions`: the queries that every engine answers.
//! - `load`: Cargo workspaces and their inputs.
//! - `verify`: Cargo, clippy and the tests.
//! - `engine`: the owner of the database, its background work, and the engine interface.

pub(crate) mod bounds;
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

pub use bounds::note_allocation;
pub use engine::seam::RustKind;
pub(crate) use syntax::language::{BUILD_TOOL, ENGINE, LANGUAGE, VERSION, file};

pub(crate) use semdex_engine::STACK_BYTES;
