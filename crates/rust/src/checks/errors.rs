//! The errors of a body, of a file and of an implementation: all rules that apply to these.

use std::collections::{BTreeSet, HashSet};

use ra_ap_hir::DefWithBody;
use ra_ap_hir_def::DefWithBodyId;
use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::base_db::salsa::plumbing::AsId as _;
use ra_ap_syntax::{AstNode as _, ast};

use super::derive_expansion::derive_anchor;
use super::{anchors, branches, derive_expansion, error_types, imports, native, report, rules};
use crate::bounds::abandoned::About;
use crate::bounds::{self, Bound, MOST_ERRORS};
use crate::finding::code::{Code, Phase};
use crate::finding::file_errors::FileErrors;
use crate::finding::{Finding, RawDiagnostic, RuleId, merge_equal};
use crate::names::instances::is_pinned_to_further_build;
use crate::syntax::declaration::is_among_items;
use crate::view::{Context, Fault};
use semdex_engine::files::File;
use semdex_process::fault;

/// The errors in a body and in the generics of its item. If rust-analyzer panics for a body, it has no errors, which
/// the answer reports. The errors of the remaining bodies are complete.
pub(crate) fn errors_in(cx: &Context<'_>, body: DefWithBody, with_operators: bool) -> Vec<Finding> {
    let errors = || {
        fault::point("rust.body");
        let Ok(id) = DefWithBodyId::try_from(body) else { return errors_of_body(cx, body, with_operators) };
        if bounds::has_too_many_arms(cx.db, id) {
            cx.note_stumble(Fault::Exhausted(Bound::Steps), || native::described(cx, body));
            return Vec::new();
        }
        let about = About::Body(id.as_id().as_bits());
        let most = bounds::bound_of_body(cx.db, Some(id));
        bounds::part("the errors", about, most, || errors_of_body(cx, body, with_operators))
    };
    cx.unless_at_fault(|| native::described(cx, body), errors).unwrap_or_default()
}

pub(crate) fn errors_of_body(cx: &Context<'_>, body: DefWithBody, types_differ: bool) -> Vec<Finding> {
    let mut found: Vec<RawDiagnostic> = Vec::new();
    rules::check_body(cx, body, false, &mut found);
    if let Some(source) = native::body_syntax(&cx.sema, body) {
        rules::check_nodes(cx, &source, types_differ, &mut found);
        keep_first(cx, body, &mut found);
        error_types::without_error_types(&cx.sema, &source, &mut found);
        branches::without_later_arms(&cx.sema, &source, &mut found);
        found.retain(|it| it.code != Code::E0599 || !derive_expansion::is_at_derive(&cx.sema, it));
    }
    // The compiler reports errors of patterns only if there are no others.
    let is_late = |it: &RawDiagnostic| {
        matches!(it.code.phase(), Phase::Patterns | Phase::Lints) || it.rule == RuleId::ConstContexts
    };
    if found.iter().any(|it| !is_late(it) && !it.code.is_of_unknown_type()) {
        found.retain(|it| !is_late(it));
    }
    rules::check_body(cx, body, true, &mut found);
    // An unknown type follows from any other error.
    let is_alone = found.iter().all(|it| it.code.is_of_unknown_type());
    let found = found.into_iter().filter(|it| is_alone || !it.code.is_of_unknown_type());
    let mut errors: Vec<Finding> = found.filter_map(|it| report::placed(cx, it)).collect();
    errors.sort();
    errors.dedup();
    errors
}

/// Leaves out errors beyond the bound.
fn keep_first(cx: &Context<'_>, body: DefWithBody, found: &mut Vec<RawDiagnostic>) {
    if found.len() > MOST_ERRORS {
        found.sort_by_key(|it| (it.file.index(), it.range.start()));
        found.truncate(MOST_ERRORS);
        cx.note_stumble(Fault::Exhausted(Bound::Errors), || native::described(cx, body));
    }
}

/// The errors in the bodies of an anchor, in each crate that includes the file.
pub(crate) fn errors_at(cx: &Context<'_>, file: &str, anchor: usize, with_operators: bool) -> Vec<Finding> {
    let Some(id) = cx.file_id(file) else { return Vec::new() };
    let of_crate = |cx: &Context<'_>| -> Vec<Finding> {
        let bodies = anchors::bodies_at(cx, file, anchor).into_iter();
        bodies.flat_map(|it| errors_in(cx, it, with_operators)).collect()
    };
    let each = cx.for_each_instance(id, of_crate);
    let is_shared = each.len() > 1;
    let mut found = each.concat();
    if is_shared {
        merge_equal(&mut found);
    }
    found
}

/// The errors of all bodies of a file.
pub(crate) fn errors_of_file(cx: &Context<'_>, file: &File) -> FileErrors {
    let (mut bodies, mut made) = (anchors::bodies_of_file(file), HashSet::new());
    if let Some(id) = cx.file_id(&file.path) {
        let tree = cx.sema.parse_guess_edition(id);
        let calls = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
        bodies.extend(calls.map(|it| usize::from(it.syntax().text_range().start())));
        made.extend(tree.syntax().descendants().filter_map(ast::Adt::cast).filter_map(|it| derive_anchor(&it)));
        bodies.extend(made.iter().copied());
    }
    let errors = |at: usize| {
        cx.db.unwind_if_revision_cancelled();
        (at, errors_at(cx, &file.path, at, true))
    };
    let bodies = bodies.into_iter().map(errors).filter(|it| !it.1.is_empty()).collect();
    FileErrors { bodies, made, imports: imports::unused_imports(cx, file) }
}

/// The lines on which the bodies of an anchor have errors.
pub(crate) fn lines_with_errors(cx: &Context<'_>, file: &File, id: FileId, anchor: usize) -> BTreeSet<usize> {
    let errors: Vec<Finding> = match cx.index.errors(id) {
        // The index is about the default build.
        _ if is_pinned_to_further_build(cx.db, id) => {
            let bodies = anchors::bodies_at(cx, &file.path, anchor).into_iter();
            bodies.flat_map(|it| errors_in(cx, it, true)).collect()
        }
        Some(known) => known.bodies.get(&anchor).cloned().into_iter().flatten().collect(),
        None => errors_at(cx, &file.path, anchor, true),
    };
    errors.iter().flat_map(|it| it.place.line..=it.place.end_line).collect()
}
