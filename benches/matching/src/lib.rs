//! The parts of the bench that measures the matcher.

pub mod corpus;
pub mod edits;
pub mod others;
pub mod perturb;
pub mod random;
pub mod several;
pub mod signs;
