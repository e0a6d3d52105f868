//! Go: what the text says by itself (pure, no process), and gopls for what only types can tell.

pub mod constraints;
pub mod dependencies;
pub mod examples;
pub mod external;
#[cfg(test)]
mod fixture;
pub mod gomod;
pub mod lookup;
pub mod modules;
pub mod names;
pub mod overview;
pub mod resolve;
pub mod search;
pub mod suggest;
pub mod syntax;
