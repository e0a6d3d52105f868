//! The ranking of the parts of a workspace for a query: which sections of which files it is about. `explore` and
//! `map` use it, and `benches/localisation` fits its weights.

#[path = "../../../../crates/ops/src/ranking/choice.rs"]
pub mod choice;
#[path = "../../../../crates/ops/src/ranking/focus.rs"]
mod focus;
#[path = "../../../../crates/ops/src/ranking/index.rs"]
mod index;
#[path = "../../../../crates/ops/src/ranking/kinds.rs"]
mod kinds;
#[path = "../../../../crates/ops/src/ranking/links.rs"]
mod links;
#[path = "../../../../crates/ops/src/ranking/matches.rs"]
mod matches;
#[path = "../../../../crates/ops/src/ranking/places.rs"]
mod places;
#[path = "../../../../crates/ops/src/ranking/query.rs"]
mod query;
#[path = "../../../../crates/ops/src/ranking/scores.rs"]
mod scores;
#[path = "../../../../crates/ops/src/ranking/weights.rs"]
mod weights;

pub use focus::Focus;
pub use index::{At, Index, Ranked};
pub use kinds::Kind;
pub(crate) use matches::FileMatch;
pub use scores::{Ranking, Why, rank};
pub use weights::{WEIGHTS, Weights};
