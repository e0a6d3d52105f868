//! Test helpers of several crates. It depends on no other crate of semdex, so that every crate can use it.

pub mod fuzz;
pub mod rng;
