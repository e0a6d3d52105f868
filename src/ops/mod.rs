//! One file per verb: what is asked, composed from the workspace's answers, in the words of `contract`.

mod answer;
mod apply_change;
mod ask;
mod baseline;
mod changes;
mod commit;
mod commit_message;
mod compare;
mod confirm;
mod describe;
mod diagnostics;
mod edit;
pub mod events;
mod gate;
mod git;
pub mod hooks;
mod impact;
mod map;
mod nearest_file;
mod open;
mod overlays;
mod process;
mod rename;
mod replies;
pub mod slow;
mod stats;
mod symbols;
mod tidy;
mod undo;
mod undo_commit;
mod usages;
mod validate;
mod verify;
pub mod vitals;
mod write;

pub use answer::{Service, answer};
