//! What the bench measures the matcher with.

pub mod corpus;
pub mod edits;
pub mod perturb;
pub mod random;
pub mod several;
