//! Programs that semdex starts: where they are found, their process groups, which end with semdex, their priority,
//! and their use of memory and processor time.

pub mod child;
pub mod fault;
pub mod named_pipes;
pub mod priority;
pub mod process_group;
pub mod resource_usage;
pub mod search_path;
