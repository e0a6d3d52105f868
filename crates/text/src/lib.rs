//! Pure text: lines and columns, matching, diffs. No I/O.

pub mod applied;
pub mod blocks;
pub mod diff;
pub mod endings;
#[cfg(test)]
mod fuzz;
pub mod lines;
pub mod matching;
pub mod merge;
pub mod patches;
pub mod reply;
pub mod score;
pub mod sections;
pub mod terms;
pub(crate) mod tokens;
pub mod visible;
pub mod words;
