//! One file per verb: what is asked, composed from the workspace's answers, in the words of `model`.

pub mod apply_change;
mod ask;
pub mod changes;
pub mod describe;
pub mod diagnostics;
pub mod edit;
pub mod fit;
#[cfg(test)]
mod fuzz;
pub mod impact;
pub mod open;
pub mod overlays;
pub mod rename;
pub mod symbols;
pub mod tidy;
pub mod undo;
pub mod usages;
mod validate;
pub mod write;

pub use ask::{Ask, Listing, Reply};
