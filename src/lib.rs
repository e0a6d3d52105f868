//! semdex: a type-aware code knowledge service. The modules in reading order.

pub mod model;
pub mod text;
