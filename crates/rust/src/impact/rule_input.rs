//! The input of rules: an implementation, a place, an edited file, a change.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_hir::{Impl, Trait};
use ra_ap_syntax::SyntaxToken;

use super::affected::{AffectedSet, ChangedSymbol, Shapes};
use super::delta::Delta;
use super::edit_context::EditContext;
use crate::index::search::Occurrence;
use semdex_engine::files::File;
use semdex_model::OutlineItem;

/// An implementation of a trait.
pub(crate) struct TraitImpl<'c> {
    pub(crate) block: Impl,
    pub(crate) of: Trait,
    /// The previous form of the functions that the edit changed.
    pub(crate) shapes: &'c Shapes,
}

/// A place that names a changed symbol, in the state after.
pub(crate) struct NamedPlace<'c, 'a> {
    pub(crate) changed_symbol: &'c ChangedSymbol<'a>,
    pub(crate) occurrence: &'c Occurrence,
    pub(crate) token: SyntaxToken,
}

/// An edited file with its changes.
pub(crate) struct EditedFile<'c, 'a> {
    /// The index of the file among the edited ones.
    pub(crate) index: usize,
    pub(crate) file: &'c Arc<File>,
    pub(crate) deltas: Vec<&'c Delta<'a>>,
}

/// Everything that a change touches.
pub(crate) struct Change<'c, 'a> {
    pub(crate) affected: &'c AffectedSet<'a>,
    pub(crate) deltas: &'c [(usize, Delta<'a>)],
    pub(crate) edit: &'c EditContext,
    /// The removed items, with the indices of their files.
    pub(crate) gone: &'c [(usize, &'a OutlineItem)],
    /// The removed variants of enums.
    pub(crate) removed_variants: &'c HashSet<&'a str>,
}
