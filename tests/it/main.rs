//! All integration tests: the real program, on copies of small workspaces, through its public faces.

#![cfg(test)]

mod budget;
mod change;
mod cli;
mod client;
mod door;
mod errors;
mod fresh;
mod markdown;
mod openapi;
mod process;
mod read;
mod rename;
mod support;
mod tidy;
mod validation;
mod verbs;
