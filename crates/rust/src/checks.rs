//! Errors of one state of the workspace that the compiler reports: rust-analyzer's own diagnostics in the compiler's
//! terms (`native`), and what rust-analyzer does not check. Diagnostics, the index and `impact` use them.

pub(crate) mod alternatives;
pub(crate) mod anchors;
pub(crate) mod bound_twice;
pub(crate) mod bounds;
pub(crate) mod branches;
pub(crate) mod closed;
pub(crate) mod constants;
pub(crate) mod constructors;
pub(crate) mod derive_expansion;
pub(crate) mod error_types;
pub(crate) mod errors;
pub(crate) mod expansions;
pub(crate) mod format_strings;
pub(crate) mod imported_twice;
pub(crate) mod imports;
pub(crate) mod lookup;
pub(crate) mod macro_paths;
pub(crate) mod native;
pub(crate) mod object_types;
pub(crate) mod opaque;
pub(crate) mod operators;
pub(crate) mod origins;
pub(crate) mod outer_items;
pub(crate) mod patterns;
pub(crate) mod places;
pub(crate) mod projections;
pub(crate) mod recursive_types;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod try_operator;
pub(crate) mod unknown_types;
pub(crate) mod unresolved;
pub(crate) mod unresolved_paths;
