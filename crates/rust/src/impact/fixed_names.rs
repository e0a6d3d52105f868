//! Names that are unresolved before a change and resolve after it. They are errors that the change fixes outside the
//! edited files. A removed item is found by the places that name it; no resolved name refers to an added item yet.

use std::collections::BTreeSet;

use ra_ap_hir::{ModuleDef, PathResolution, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken, ast};

use super::cascades;
use super::delta::Delta;
use super::edit_context::EditContext;
use crate::checks::report;
use crate::checks::unresolved::{is_left_out, made_of_input, message, path_of, unless_unseen, unresolved_kind_as_made};
use crate::finding::code::Code;
use crate::finding::{Finding, Subject};
use crate::index::search::{Occurrence, Search};
use crate::names::{Reader, Resolution};
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages;
use crate::view::Context;

/// An unresolved name before a change, and the error that is reported for it.
pub(crate) struct Missed {
    pub(crate) occurrence: Occurrence,
    error: Option<Finding>,
}

/// The unresolved places whose names the change may add.
pub(crate) fn missed_before(cx: &Context<'_>, edit: &EditContext, deltas: &[(usize, Delta<'_>)]) -> Vec<Missed> {
    let search = Search::of_words(&names_brought(edit, deltas));
    let mut places: Vec<Occurrence> = usages::search_for(cx, &search).into_iter().flat_map(|it| it.missed()).collect();
    // A glob or a macro may add any name.
    if edit.scope_changes.iter().any(|it| it.all) {
        places.extend(usages::known_as_missed(cx));
    }
    places.sort_by_key(|it| (it.id, it.at.start));
    places.dedup_by_key(|it| (it.id, it.at.start));
    places.into_iter().map(|occurrence| Missed { error: error_at(cx, &occurrence), occurrence }).collect()
}

/// Adds the errors of the places that resolve now, unless they are already reported.
pub(crate) fn add_mended(cx: &Context<'_>, missed: Vec<Missed>, edit: &EditContext, fixed: &mut Vec<Finding>) {
    // One for each file: what it computes of the whole file is computed once.
    let mut reader = None;
    for Missed { occurrence, error } in missed {
        let Some(error) = error.filter(|_| means_something(cx, &mut reader, &occurrence, edit)) else { continue };
        let is_reported = |it: &Finding| {
            let is_there = it.place.file == error.place.file && it.place.line <= error.place.line;
            is_there && error.place.line <= it.place.end_line && (it.code == error.code || it.place == error.place)
        };
        if !fixed.iter().any(is_reported) {
            fixed.push(error);
        }
    }
}

/// The names that a change declares or makes visible; an import declares too.
fn names_brought<'n>(edit: &'n EditContext, deltas: &[(usize, Delta<'n>)]) -> BTreeSet<&'n str> {
    let items = deltas.iter().filter(|it| it.1.brings_name()).filter_map(|it| it.1.after);
    let mut names: BTreeSet<&str> = items.map(|it| it.name.as_str()).collect();
    names.extend(edit.scope_changes.iter().flat_map(|it| &it.names).map(String::as_str));
    // An added file is a module, if it is declared.
    let came = edit.olds.iter().zip(&edit.news).filter(|(old, new)| old.text.is_empty() && !new.text.is_empty());
    names.extend(came.filter_map(|(_, new)| module_of(&new.path)));
    names
}

fn module_of(path: &str) -> Option<&str> {
    let stem = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?;
    Some(stem.rsplit_once('/').map_or(stem, |it| it.1))
}

fn means_something<'a, 'db>(
    cx: &'a Context<'db>,
    reader: &mut Option<(FileId, Reader<'a, 'db>)>,
    occurrence: &Occurrence,
    edit: &EditContext,
) -> bool {
    let at = edit.moved(&occurrence.file.path, occurrence.at.start);
    let Some((at, id)) = at.zip(cx.file_id(&occurrence.file.path)) else { return false };
    let word = &occurrence.file.text[occurrence.at.start..occurrence.at.end];
    let meaning = || {
        let known = reader.take().filter(|it| it.0 == id);
        let (_, reader) = reader.insert(known.unwrap_or_else(|| (id, Reader::new(&cx.sema, id))));
        reader.read(at, word)
    };
    let place = || format!("`{word}` in {}", occurrence.file.path);
    matches!(cx.unless_at_fault(place, meaning).flatten(), Some(Resolution::Names(it)) if !it.is_empty())
}

/// The compiler's error for an unresolved name, or for the first unresolved segment of its path.
fn error_at(cx: &Context<'_>, occurrence: &Occurrence) -> Option<Finding> {
    let token = positions::token(&cx.sema, occurrence.id, occurrence.at.start)?;
    if token.kind() != SyntaxKind::IDENT || is_left_out(&cx.sema, occurrence.id, &token) {
        return None;
    }
    // In the input of a macro an unresolved segment of the path is reported where it is named itself.
    if made_of_input(&cx.sema, &token).is_some_and(|it| first_missed(&cx.sema, &it).is_some()) {
        return None;
    }
    let token = first_missed(&cx.sema, &token).unwrap_or(token);
    let (code, what) = unresolved_kind_as_made(&cx.sema, &token)?;
    // The compiler does not look for items that an unresolved trait would give its implementations.
    if code == Code::E0220 && implements_nothing(&cx.sema, &token) {
        return None;
    }
    let qualifier = path_of(&token).and_then(|it| it.qualifier());
    if qualifier.is_some_and(|it| cascades::is_unbound(&cx.sema, &token, &it.syntax().text().to_string())) {
        return None;
    }
    let code = unless_unseen(&cx.sema, &token, code);
    let place = occurrence.file.lines().place(&occurrence.file.path, span(token.text_range()));
    let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
    Some(report::error(cx, place, code, message(&token, what)).about(subject))
}

/// The first unresolved segment of a path, before the given one.
fn first_missed(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> Option<SyntaxToken> {
    let before = std::iter::successors(path_of(token)?.qualifier(), ast::Path::qualifier);
    // A variant has no members: the unresolved name is a type of its name.
    let leads_on =
        |it: &ast::Path| !matches!(sema.resolve_path(it), None | Some(PathResolution::Def(ModuleDef::EnumVariant(_))));
    let missed = before.filter(|it| !leads_on(it)).last()?;
    missed.segment()?.name_ref()?.ident_token()
}

/// Whether the block around a token implements an unresolved trait.
fn implements_nothing(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> bool {
    let block = token.parent_ancestors().find_map(ast::Impl::cast);
    let Some(ast::Type::PathType(of)) = block.and_then(|it| it.trait_()) else { return false };
    of.path().is_some_and(|it| sema.resolve_path(&it).is_none())
}
