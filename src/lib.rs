//! semdex: a type-aware code knowledge service. The modules in reading order.

pub mod config;
pub mod lang;
pub mod lsp;
pub mod model;
pub mod ops;
pub mod text;
pub mod workspace;
