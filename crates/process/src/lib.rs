//! Programs that semdex starts: where they are found, the process groups that end with semdex, and what they use.

pub mod child;
pub mod fault;
pub mod named_pipes;
pub mod process_group;
pub mod resource_usage;
pub mod search_path;
