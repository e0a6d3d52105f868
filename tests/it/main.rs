//! All integration tests: the real program, on copies of small workspaces, through its public faces.

mod cli;
mod client;
mod door;
mod errors;
mod markdown;
mod openapi;
mod process;
mod support;
mod tidy;
