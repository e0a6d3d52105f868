//! semdex: a type-aware code knowledge service. This crate names the engines; everything else is in the crates that it
//! re-exports, in reading order.

mod engines;

pub use engines::engines;
pub use semdex_cli as cli;
pub use semdex_coder as coder;
pub use semdex_config as config;
pub use semdex_contract as contract;
pub use semdex_engine as engine;
pub use semdex_http as http;
pub use semdex_model as model;
pub use semdex_ops as ops;
pub use semdex_process as process;
pub use semdex_text as text;
pub use semdex_workspace as workspace;
