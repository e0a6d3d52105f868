//! All integration tests: the real program, on copies of small workspaces, through its public faces.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on says so and stops, its helpers too"
)]

mod cli;
mod client;
mod door;
mod errors;
mod markdown;
mod openapi;
mod process;
mod support;
mod tidy;
mod verbs;
