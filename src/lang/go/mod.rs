//! Go: what the text says by itself (pure, no process), and gopls for what only types can tell.

pub mod syntax;
