//! Rust: rust-analyzer in the process. The only place that names its crates.

pub mod syntax;
