//! The ranking of the parts of a workspace for a query: which sections of which files it is about. `explore` and
//! `map` use it, and `benches/localisation` fits its weights.

pub mod choice;
mod focus;
mod index;
mod kinds;
mod links;
mod matches;
mod places;
mod postings;
mod query;
mod scores;
mod shared_index;
mod weights;

pub use focus::Focus;
pub use index::{At, Index, Ranked};
pub use kinds::Kind;
pub use links::ResolvedUses;
pub(crate) use matches::FileMatch;
pub use scores::{Ranking, Why, rank};
pub(crate) use shared_index::index_of;
pub use weights::{WEIGHTS, Weights};
