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
pub(super) struct TraitImpl<'c> {
    pub(super) file: &'c Arc<File>,
    pub(super) block: Impl,
    pub(super) of: Trait,
    /// The previous form of the functions that the edit changed.
    pub(super) shapes: &'c Shapes,
}

/// A place that names a changed symbol, in the state after.
pub(super) struct NamedPlace<'c, 'a> {
    pub(super) changed_symbol: &'c ChangedSymbol<'a>,
    pub(super) occurrence: &'c Occurrence,
    pub(super) token: SyntaxToken,
}

/// An edited file with its changes.
pub(super) struct EditedFile<'c, 'a> {
    /// The index of the file among the edited ones.
    pub(super) index: usize,
    pub(super) file: &'c Arc<File>,
    pub(super) deltas: Vec<&'c Delta<'a>>,
}

/// Everything that a change touches.
pub(super) struct Change<'c, 'a> {
    pub(super) affected: &'c AffectedSet<'a>,
    pub(super) deltas: &'c [(usize, Delta<'a>)],
    pub(super) edit: &'c EditContext,
    /// The removed items, with the indices of their files.
    pub(super) gone: &'c [(usize, &'a OutlineItem)],
    /// The removed variants of enums.
    pub(super) removed_variants: &'c HashSet<&'a str>,
}
