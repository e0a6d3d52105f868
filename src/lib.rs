//! semdex: a type-aware code knowledge service. The modules in reading order.

pub mod api;
pub(crate) mod beneath;
pub mod cli;
pub mod coder;
pub mod config;
pub mod contract;
pub(crate) mod fault;
#[cfg(test)]
mod fuzz;
pub mod lang;
pub mod logging;
pub(crate) mod lsp;
pub(crate) mod mcp;
pub mod model;
pub mod ops;
pub mod render;
pub mod text;
pub mod token;
pub mod trust;
pub mod workspace;
