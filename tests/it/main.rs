//! All integration tests: the real program, on copies of small workspaces, through its public interfaces.

#![cfg(test)]
#![expect(unreachable_pub, reason = "a test binary has no interface: `pub` here is for the modules beside")]

mod auth;
mod bad_servers;
mod bounds;
mod budget;
mod calls;
mod change;
mod children;
mod cli;
mod client;
mod confined;
mod depth;
mod diagnostics;
mod errors;
mod events;
mod expansion;
mod fixes;
mod freezes;
mod fresh;
mod git;
mod go_inputs;
mod healthy;
mod hooks;
mod identity;
mod impact;
mod inputs;
mod journal;
mod language_servers;
mod left_out;
mod linked;
mod map;
mod markdown;
mod mcp;
mod merges;
mod named_files;
mod names;
mod offline;
mod one_server;
mod openapi;
mod origins;
mod outside_modules;
mod overlays;
mod own_socket;
mod pages;
mod path_dependencies;
mod possible_usages;
mod process;
mod read;
mod refusals;
mod rename;
mod roots;
#[cfg(feature = "bedrock")]
mod runs;
mod server_answers;
mod server_configuration;
mod settings;
mod snapshots;
#[cfg(feature = "otel")]
mod spans;
mod stand_ins;
mod starting;
mod support;
mod survival;
mod terminal;
mod third_engine;
mod tidy_up;
mod trust;
mod unanalysed;
mod unread;
mod validation;
mod verbs;
mod verify;
mod watched;
mod whole_files;
