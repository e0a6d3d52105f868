//! The matcher's own sources, compiled without the rest of semdex, and what the bench measures them with.

#[cfg(test)]
#[path = "../../../src/fuzz.rs"]
mod fuzz;
#[path = "../../../src/model/mod.rs"]
pub mod model;
#[path = "../../../src/text/mod.rs"]
pub mod text;

pub mod corpus;
pub mod edits;
pub mod perturb;
pub mod random;
pub mod several;
