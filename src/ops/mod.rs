//! One file per verb: what is asked, composed from the workspace's answers, in the words of `contract`.

mod answer;
mod apply_change;
mod ask;
mod changes;
mod describe;
mod diagnostics;
mod edit;
mod impact;
mod open;
mod overlays;
mod process;
mod rename;
mod symbols;
mod tidy;
mod undo;
mod usages;
mod validate;
mod write;

pub use answer::{Service, answer};
