//! What a change may affect: its symbols with the places that name them, and the bodies around these places.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_hir::Trait;

use super::delta::Delta;
use crate::index::search::Occurrence;
use semdex_model::{ChangeKind, OutlineItem, Span};

/// A changed declaration in the state before.
pub(crate) struct ChangedSymbol<'a> {
    /// With the index of the edited file. `None` for what an edit no longer re-exports, and for what it affects
    /// indirectly.
    pub(crate) delta: Option<(usize, Delta<'a>)>,
    pub(crate) path: String,
    /// The name by which the places refer to it.
    pub(crate) name: String,
    pub(crate) occurrences: Vec<Occurrence>,
    /// The places that only a further build compiles.
    pub(crate) further: Vec<InFurtherBuild>,
    /// Places in macros that may name it: their expansions are checked too.
    pub(crate) in_macros: Vec<Occurrence>,
    /// Places in the output of build scripts, which is not checked again.
    pub(crate) in_generated: Vec<Occurrence>,
    /// For removed symbols: the calls of each macro whose definition contains such a place.
    pub(crate) calls: Vec<Vec<Occurrence>>,
    /// Whether the places use its own name, not the name of its parent.
    pub(crate) is_itself: bool,
    /// The traits that it no longer implements.
    pub(crate) lost: Vec<String>,
    /// Whether its trait provides it when it goes: nothing breaks where it is called.
    pub(crate) is_provided: bool,
}

/// A place that only a further build compiles.
#[derive(Clone)]
pub(crate) struct InFurtherBuild {
    pub(crate) at: Occurrence,
    /// The build, as its crates are marked.
    pub(crate) build: String,
    /// What differs there from the default build.
    pub(crate) name: String,
}

impl ChangedSymbol<'_> {
    /// Whether it is found through something that the edit changes, and is itself unchanged.
    pub(crate) fn is_found_through(&self) -> bool {
        self.is_itself && self.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.name != self.name)
    }

    /// Whether nothing has this name any longer.
    pub(crate) fn goes(&self) -> bool {
        let kind = self.delta.as_ref().map(|it| it.1.kind);
        let is_gone = matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        self.is_itself && !self.is_provided && (is_gone || self.is_switched())
    }

    /// Whether its declaration is unchanged, and a changed attribute decides whether it exists.
    pub(crate) fn is_switched(&self) -> bool {
        let delta = self.delta.as_ref().map(|it| &it.1).filter(|it| it.kind == ChangeKind::Visibility);
        let both = delta.and_then(|it| it.before.zip(it.after));
        both.is_some_and(|(before, after)| before.signature == after.signature)
    }

    /// Whether it is compiled only for tests now; rust-analyzer always compiles it.
    pub(crate) fn is_left_to_tests(&self) -> bool {
        let both = self.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
        self.is_itself && both.is_some_and(|(before, after)| !before.test && after.test)
    }
}

/// A function, constant or static with its body, identified by the position of its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BodyRef {
    pub(crate) file: Arc<str>,
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    /// Whether the edit itself changed it.
    pub(crate) edited: bool,
}

/// Everything that has to be checked.
#[derive(Default)]
pub(crate) struct AffectedSet<'a> {
    pub(crate) changed_symbols: Vec<ChangedSymbol<'a>>,
    pub(crate) bodies_by_ref: Vec<BodyRef>,
    /// The positions of `impl` blocks whose items have to fit their trait again.
    pub(crate) blocks: BTreeSet<(Arc<str>, usize)>,
    /// The changed functions of traits and implementations in their previous form, by the current positions of their
    /// names.
    pub(crate) shapes: Shapes,
    /// Names of an edited file that were unresolved before, by position.
    pub(crate) unresolved: BTreeSet<(Arc<str>, usize)>,
    /// Traits that are dyn compatible, by the positions of their names.
    pub(crate) objects: BTreeMap<(Arc<str>, usize), Objects>,
    pub(crate) unused_candidates: UnusedCandidates,
    /// The files that are compiled for the first time, because of their `mod` lines.
    pub(crate) new_files: BTreeSet<Arc<str>>,
    /// Items whose heads may be wrong now, by the positions of their names in the state before.
    pub(crate) heads: BTreeSet<(Arc<str>, usize)>,
    pub(crate) helpers: Vec<Derived<'a>>,
    /// Wrong calls in bodies that are not checked for errors.
    pub(crate) miscalls: Miscalls,
    pub(crate) deleted_files: Vec<DeletedFile>,
    /// Whether an expression may have a different type than before, or its type different traits.
    pub(crate) retyped: bool,
}

/// A file that the edit deletes.
pub(crate) struct DeletedFile {
    /// Its index among the edited files.
    pub(crate) index: usize,
    /// The path of its module, in the state before.
    pub(crate) module: Option<String>,
    /// The names in the `mod` lines that name it, in the state before: file and offset.
    pub(crate) declared: Vec<(Arc<str>, usize)>,
}

/// Whether a place within an item is in its head.
pub(crate) fn is_outside_body(item: &OutlineItem, place: &Occurrence) -> bool {
    item.body.is_none_or(|body| place.at.start < body.start)
}

/// A call that has the wrong number of arguments after the change.
#[derive(Debug)]
pub(crate) struct Miscall {
    pub(crate) file: Arc<str>,
    /// The name of the called function, in the text before.
    pub(crate) at: Span,
    pub(crate) expected: usize,
    pub(crate) found: usize,
}

/// Such calls by the bodies that contain them.
pub(crate) type Miscalls = BTreeMap<(Arc<str>, usize), Vec<Miscall>>;

/// A type whose derives change, or may lose a derive macro.
pub(crate) struct Derived<'a> {
    /// The index of the edited file.
    pub(crate) file: usize,
    pub(crate) item: &'a OutlineItem,
    /// The attributes that its derives read before.
    pub(crate) helpers: BTreeSet<String>,
    /// The derives that were unresolved before.
    pub(crate) unknown: BTreeSet<String>,
}

/// A function's signature as it is written, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) receiver: Option<String>,
    pub(crate) params: Vec<String>,
    pub(crate) result: String,
    /// The number of type and constant parameters, as written, including each `impl Trait` in a parameter.
    pub(crate) generics: usize,
    pub(crate) is_async: bool,
    pub(crate) is_unsafe: bool,
}

/// The previous form of functions, by the current positions of their names.
pub(crate) type Shapes = BTreeMap<(Arc<str>, usize), Shape>;

/// Where a trait is used as `dyn`, in the state before.
#[derive(Default)]
pub(crate) struct Objects {
    /// The places that name it as a type.
    pub(crate) places: Vec<Occurrence>,
    /// The traits that require it.
    pub(crate) required_by: Vec<Trait>,
    /// Whether the trait may have other associated types after the change.
    pub(crate) has_other_types: bool,
    /// The bodies that may contain such a value, by their anchors.
    pub(crate) bodies: BTreeSet<(Arc<str>, usize)>,
}

/// Types with a parameter that only changed fields used, in the state before.
#[derive(Default)]
pub(crate) struct UnusedCandidates {
    /// The positions of their names.
    pub(crate) types: BTreeSet<(Arc<str>, usize)>,
    /// The bodies that name these types, or items with these types in their signature, by their anchors.
    pub(crate) bodies: BTreeSet<(Arc<str>, usize)>,
    /// The names that are used there: of the types, of their variants, and of items with them in their signature.
    pub(crate) names: HashSet<String>,
    /// The positions of these names.
    pub(crate) places: BTreeSet<(Arc<str>, usize)>,
}
