//! What a change may affect: its symbols with the places that name them, and the bodies around these.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::delta::Delta;
use crate::index::search::Occurrence;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, OutlineItem, Span, SymbolKind};

/// One changed declaration as it was before.
pub(super) struct ChangedSymbol<'a> {
    /// With the edited file among those of the edit. Absent for what an edit stops to re-export, and for what it
    /// reaches by way of something else.
    pub(super) delta: Option<(usize, Delta<'a>)>,
    pub(super) path: String,
    /// As the places name it.
    pub(super) name: String,
    pub(super) occurrences: Vec<Occurrence>,
    /// Places in macros that may name it: what these make is looked at too.
    pub(super) in_macros: Vec<Occurrence>,
    /// Places in what build scripts wrote, which is not checked again.
    pub(super) in_generated: Vec<Occurrence>,
    /// Of what goes away: the calls of each macro in whose definition such a place is.
    pub(super) calls: Vec<Vec<Occurrence>>,
    /// Whether it is named by its own name, not by that of what it belongs to.
    pub(super) is_itself: bool,
    /// The traits that it has no more.
    pub(super) lost: Vec<String>,
}

impl ChangedSymbol<'_> {
    /// Whether it is reached through what the edit changes, and is itself what it was.
    pub(super) fn is_found_through(&self) -> bool {
        self.is_itself && self.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.name != self.name)
    }

    /// Whether nothing is called so any more.
    pub(super) fn goes(&self) -> bool {
        let kind = self.delta.as_ref().map(|it| it.1.kind);
        let is_gone = matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        self.is_itself && (is_gone || self.is_switched())
    }

    /// Whether it is declared as it was, and an attribute decides anew where it is found at all.
    pub(super) fn is_switched(&self) -> bool {
        let delta = self.delta.as_ref().map(|it| &it.1).filter(|it| it.kind == ChangeKind::Visibility);
        let both = delta.and_then(|it| it.before.zip(it.after));
        both.is_some_and(|(before, after)| before.signature == after.signature)
    }

    /// Whether it is compiled for tests alone now, which rust-analyzer always does.
    pub(super) fn is_left_to_tests(&self) -> bool {
        let both = self.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
        self.is_switched() && both.is_some_and(|(before, after)| !before.test && after.test)
    }
}

/// A function, constant or static with its body, by where its name stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BodyRef {
    pub(super) file: Arc<str>,
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Whether the edit itself changed it.
    pub(super) edited: bool,
}

/// All that has to be looked at.
#[derive(Default)]
pub(super) struct AffectedSet<'a> {
    pub(super) changed_symbols: Vec<ChangedSymbol<'a>>,
    pub(super) bodies_by_ref: Vec<BodyRef>,
    /// Where the names of `impl` blocks of traits stand that have to fit them again.
    pub(super) blocks: BTreeSet<(Arc<str>, usize)>,
    /// The functions of traits and their implementations that change, as they were, by where their names stand now.
    pub(super) shapes: Shapes,
    /// Names of an edited file that meant nothing before, by their places.
    pub(super) unresolved: BTreeSet<(Arc<str>, usize)>,
    /// Traits that can be objects, by where their names stand.
    pub(super) objects: BTreeMap<(Arc<str>, usize), Objects>,
    pub(super) unused_candidates: UnusedCandidates,
    pub(super) helpers: Vec<Derived<'a>>,
    /// Of bodies that are not asked for their errors.
    pub(super) miscalls: Miscalls,
    /// Whether an expression may have another type than before, or its type other traits.
    pub(super) retyped: bool,
}

/// What holds a body of its own.
pub(super) fn has_body(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static | SymbolKind::Variant
    )
}

/// The outermost item with a body around an offset.
pub(super) fn body_item_around(file: &File, offset: usize) -> Option<&OutlineItem> {
    file.outline().enclosing(offset).into_iter().find(|it| has_body(it.kind))
}

/// Whether a place within an item stands in its head.
pub(super) fn is_outside_body(item: &OutlineItem, place: &Occurrence) -> bool {
    item.body.is_none_or(|body| place.at.start < body.start)
}

/// A call that gives the wrong number of arguments now.
#[derive(Debug)]
pub(super) struct Miscall {
    pub(super) file: Arc<str>,
    /// What is called, in the text before.
    pub(super) at: Span,
    pub(super) expected: usize,
    pub(super) found: usize,
}

/// Such calls by the bodies that they stand in.
pub(super) type Miscalls = BTreeMap<(Arc<str>, usize), Vec<Miscall>>;

/// A type that derives something else, or may lose the macro that a derive names.
pub(super) struct Derived<'a> {
    /// Among those of the edit.
    pub(super) file: usize,
    pub(super) item: &'a OutlineItem,
    /// The attributes that its derives read before.
    pub(super) helpers: BTreeSet<String>,
    /// The derives that named no macro before either.
    pub(super) unknown: BTreeSet<String>,
}

/// A function's signature as it is written, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) receiver: Option<String>,
    pub(super) params: Vec<String>,
    pub(super) result: String,
    /// Of types and constants, as written; `impl Trait` in a parameter is one too.
    pub(super) generics: usize,
    pub(super) is_async: bool,
    pub(super) is_unsafe: bool,
}

/// What functions were, by the places of their names now.
pub(super) type Shapes = BTreeMap<(Arc<str>, usize), Shape>;

/// Where a trait is an object, in the state before.
#[derive(Default)]
pub(super) struct Objects {
    /// The places that name it as one.
    pub(super) places: Vec<Occurrence>,
    /// The bodies that may hold such an object, by their anchors.
    pub(super) bodies: BTreeSet<(Arc<str>, usize)>,
}

/// Types of which a parameter was used by nothing but what changes, in the state before.
#[derive(Default)]
pub(super) struct UnusedCandidates {
    /// Where their names stand.
    pub(super) types: BTreeSet<(Arc<str>, usize)>,
    /// The bodies that name them or what has them in its signature, by their anchors.
    pub(super) bodies: BTreeSet<(Arc<str>, usize)>,
    /// By which they are named there: the types, their variants, and what has them in its signature.
    pub(super) names: HashSet<String>,
    /// And where.
    pub(super) places: BTreeSet<(Arc<str>, usize)>,
}
