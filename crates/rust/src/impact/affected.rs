//! What a change may affect: its symbols with the places that name them, and the bodies around these places.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::delta::Delta;
use crate::index::search::Occurrence;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, OutlineItem, Span, SymbolKind};

/// A changed declaration in the state before.
pub(super) struct ChangedSymbol<'a> {
    /// With the index of the edited file. `None` for what an edit no longer re-exports, and for what it affects
    /// indirectly.
    pub(super) delta: Option<(usize, Delta<'a>)>,
    pub(super) path: String,
    /// The name by which the places refer to it.
    pub(super) name: String,
    pub(super) occurrences: Vec<Occurrence>,
    /// Places in macros that may name it: their expansions are checked too.
    pub(super) in_macros: Vec<Occurrence>,
    /// Places in the output of build scripts, which is not checked again.
    pub(super) in_generated: Vec<Occurrence>,
    /// For removed symbols: the calls of each macro whose definition contains such a place.
    pub(super) calls: Vec<Vec<Occurrence>>,
    /// Whether the places use its own name, not the name of its parent.
    pub(super) is_itself: bool,
    /// The traits that it no longer implements.
    pub(super) lost: Vec<String>,
}

impl ChangedSymbol<'_> {
    /// Whether it is found through something that the edit changes, and is itself unchanged.
    pub(super) fn is_found_through(&self) -> bool {
        self.is_itself && self.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.name != self.name)
    }

    /// Whether nothing has this name any longer.
    pub(super) fn goes(&self) -> bool {
        let kind = self.delta.as_ref().map(|it| it.1.kind);
        let is_gone = matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        self.is_itself && (is_gone || self.is_switched())
    }

    /// Whether its declaration is unchanged, and a changed attribute decides whether it exists.
    pub(super) fn is_switched(&self) -> bool {
        let delta = self.delta.as_ref().map(|it| &it.1).filter(|it| it.kind == ChangeKind::Visibility);
        let both = delta.and_then(|it| it.before.zip(it.after));
        both.is_some_and(|(before, after)| before.signature == after.signature)
    }

    /// Whether it is compiled only for tests now; rust-analyzer always compiles it.
    pub(super) fn is_left_to_tests(&self) -> bool {
        let both = self.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
        self.is_switched() && both.is_some_and(|(before, after)| !before.test && after.test)
    }
}

/// A function, constant or static with its body, identified by the position of its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BodyRef {
    pub(super) file: Arc<str>,
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Whether the edit itself changed it.
    pub(super) edited: bool,
}

/// Everything that has to be checked.
#[derive(Default)]
pub(super) struct AffectedSet<'a> {
    pub(super) changed_symbols: Vec<ChangedSymbol<'a>>,
    pub(super) bodies_by_ref: Vec<BodyRef>,
    /// The positions of `impl` blocks whose items have to fit their trait again.
    pub(super) blocks: BTreeSet<(Arc<str>, usize)>,
    /// The changed functions of traits and implementations in their previous form, by the current positions of their
    /// names.
    pub(super) shapes: Shapes,
    /// Names of an edited file that were unresolved before, by position.
    pub(super) unresolved: BTreeSet<(Arc<str>, usize)>,
    /// Traits that are dyn compatible, by the positions of their names.
    pub(super) objects: BTreeMap<(Arc<str>, usize), Objects>,
    pub(super) unused_candidates: UnusedCandidates,
    pub(super) helpers: Vec<Derived<'a>>,
    /// Wrong calls in bodies that are not checked for errors.
    pub(super) miscalls: Miscalls,
    /// Whether an expression may have a different type than before, or its type different traits.
    pub(super) retyped: bool,
}

/// Whether a symbol of this kind has a body of its own.
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

/// Whether a place within an item is in its head.
pub(super) fn is_outside_body(item: &OutlineItem, place: &Occurrence) -> bool {
    item.body.is_none_or(|body| place.at.start < body.start)
}

/// A call that has the wrong number of arguments after the change.
#[derive(Debug)]
pub(super) struct Miscall {
    pub(super) file: Arc<str>,
    /// The name of the called function, in the text before.
    pub(super) at: Span,
    pub(super) expected: usize,
    pub(super) found: usize,
}

/// Such calls by the bodies that contain them.
pub(super) type Miscalls = BTreeMap<(Arc<str>, usize), Vec<Miscall>>;

/// A type whose derives change, or may lose a derive macro.
pub(super) struct Derived<'a> {
    /// The index of the edited file.
    pub(super) file: usize,
    pub(super) item: &'a OutlineItem,
    /// The attributes that its derives read before.
    pub(super) helpers: BTreeSet<String>,
    /// The derives that were unresolved before.
    pub(super) unknown: BTreeSet<String>,
}

/// A function's signature as it is written, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) receiver: Option<String>,
    pub(super) params: Vec<String>,
    pub(super) result: String,
    /// The number of type and constant parameters, as written, including each `impl Trait` in a parameter.
    pub(super) generics: usize,
    pub(super) is_async: bool,
    pub(super) is_unsafe: bool,
}

/// The previous form of functions, by the current positions of their names.
pub(super) type Shapes = BTreeMap<(Arc<str>, usize), Shape>;

/// Where a trait is used as `dyn`, in the state before.
#[derive(Default)]
pub(super) struct Objects {
    /// The places that name it as a type.
    pub(super) places: Vec<Occurrence>,
    /// The bodies that may contain such a value, by their anchors.
    pub(super) bodies: BTreeSet<(Arc<str>, usize)>,
}

/// Types with a parameter that only changed fields used, in the state before.
#[derive(Default)]
pub(super) struct UnusedCandidates {
    /// The positions of their names.
    pub(super) types: BTreeSet<(Arc<str>, usize)>,
    /// The bodies that name these types, or items with these types in their signature, by their anchors.
    pub(super) bodies: BTreeSet<(Arc<str>, usize)>,
    /// The names that are used there: of the types, of their variants, and of items with them in their signature.
    pub(super) names: HashSet<String>,
    /// The positions of these names.
    pub(super) places: BTreeSet<(Arc<str>, usize)>,
}
