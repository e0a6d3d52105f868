//! The engines that semdex is built with: the only place that names them.

use std::sync::Arc;

use semdex_engine::Registry;

/// The built-in engines, followed by the language servers of the table.
pub fn engines() -> Registry {
    Registry::new(vec![Arc::new(semdex_rust::RustKind), Arc::new(semdex_go::GoKind)], semdex_lsp::kinds)
}
