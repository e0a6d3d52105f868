//! Test helpers of several crates. It depends on no other crate of semdex, so that every crate can use it.

#![expect(clippy::panic, clippy::print_stderr, reason = "a failed property fails its test, and says with which seed")]

pub mod fuzz;
pub mod rng;
