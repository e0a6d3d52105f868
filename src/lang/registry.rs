//! Which engines there are: the one place besides their own rooms that names them.

use super::{go, rust};
use crate::model::Languages;

/// The languages that are analysed, in the order in which they are listed.
pub fn languages() -> Languages {
    Languages::new([rust::LANGUAGE, go::LANGUAGE])
}
