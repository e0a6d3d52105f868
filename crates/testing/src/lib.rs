//! What the tests of several crates share. It depends on no other crate of semdex, so that each of them can use it.

pub mod fuzz;
pub mod rng;
