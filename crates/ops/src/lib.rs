//! The handlers of the calls, one file for each call or group of calls. They query the workspace and return the types
//! of `contract`.

mod apply_change;
mod base;
mod baseline;
mod changes;
mod commit;
mod commit_message;
mod compiler_confirmation;
mod describe;
mod diagnostics;
mod diagnostics_diff;
mod dispatch;
mod edit;
pub mod events;
pub mod first_replies;
mod fixes;
mod format_and_imports;
mod gate;
mod git;
pub mod hooks;
mod impact;
mod map;
mod nearest_file;
mod open;
mod overlays;
pub mod process_metrics;
mod query;
mod relations;
mod rename;
mod reply_cache;
mod restore_files;
mod runs;
mod stats;
mod status;
mod symbols;
pub mod timed_answer;
mod unanalysed_files;
mod undo;
mod undo_commit;
mod validate;
mod verify;
mod write;

pub use dispatch::{Client, Service, answer};
pub use restore_files::restore_files;
pub use runs::Runs;
