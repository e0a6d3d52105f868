//! Unresolved paths that rust-analyzer does not report: it reports only single names of values and members of types.
//! They are reported where the compiler certainly reports them too.

use std::sync::Arc;

use ra_ap_hir::{AssocItem, ModuleDef, PathResolution, Trait};
use ra_ap_ide::FileId;
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::bounds::bound_path;
use super::closed::{self, Closed, module_of};
use super::{report, unresolved};
use crate::ENGINE;
use crate::finding::Finding;
use crate::index::file_names::{Names, StoredResolution};
use crate::names::definitions::plain_name;
use crate::names::{Reader, Resolution, UnresolvedReason, instances};
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages::names_now;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::Span;

pub(crate) fn unresolved_paths(cx: &Context<'_>, file: &Arc<File>, id: FileId) -> Vec<Finding> {
    // The index has the names of all crates.
    let names = (!instances::is_any_pinned()).then(|| names_now(cx, id));
    within(cx, file, id, names, Span::new(0, file.text.len()))
}

/// Those of a part of a file.
pub(crate) fn unresolved_paths_within(cx: &Context<'_>, file: &Arc<File>, id: FileId, part: Span) -> Vec<Finding> {
    let known = cx.index.names(id).filter(|it| it.is_complete() && !instances::is_any_pinned());
    within(cx, file, id, known, part)
}

fn within(cx: &Context<'_>, file: &Arc<File>, id: FileId, known: Option<Arc<Names>>, part: Span) -> Vec<Finding> {
    let is_missed = |it| matches!(it, UnresolvedReason::UnknownType | UnresolvedReason::MacroInput);
    let places: Vec<usize> = match known {
        Some(names) => {
            let missed = names.within(part.start, part.end);
            let missed = missed.filter(|it| matches!(it.1, StoredResolution::Unresolved(why) if is_missed(why)));
            missed.map(|it| it.0).collect()
        }
        None => {
            let mut places = Vec::new();
            Reader::new(&cx.sema, id).read_within(part, |at, it| {
                if matches!(it, Resolution::Unresolved(why) if is_missed(why)) {
                    places.push(at);
                }
            });
            places
        }
    };
    places.into_iter().filter_map(|it| error_at(cx, file, id, it)).collect()
}

fn error_at(cx: &Context<'_>, file: &Arc<File>, id: FileId, at: usize) -> Option<Finding> {
    let written = positions::token(&cx.sema, id, at).filter(|it| it.kind() == SyntaxKind::IDENT)?;
    let token = as_code(cx, id, &written)?;
    let path = unresolved::path_of(&token)?;
    let outer = path.parent_path();
    let around = path.top_path().syntax().parent()?.kind();
    // rust-analyzer reports imports, macros, and single names of values.
    let is_reported = match around {
        SyntaxKind::USE_TREE | SyntaxKind::MACRO_CALL | SyntaxKind::VISIBILITY => true,
        SyntaxKind::PATH_EXPR => outer.is_none() && path.qualifier().is_none() && !unresolved::is_global(&path),
        _ => false,
    };
    if is_reported {
        return None;
    }
    let name = written.text().trim_start_matches("r#");
    let within = written.parent()?;
    let mut is_of_parameter = false;
    let is_sure = match path.qualifier() {
        Some(qualifier) => match cx.sema.resolve_path(&qualifier)? {
            PathResolution::Def(ModuleDef::Module(it)) => {
                module_of(&cx.sema, &within).is_some() && Closed::new(cx, name).module(it)
            }
            PathResolution::TypeParam(it) if outer.is_none() && around == SyntaxKind::PATH_TYPE => {
                is_of_parameter = true;
                let said = qualifier.syntax().text().to_string();
                has_no_type(cx, &it.trait_bounds(cx.db), name)
                    && bounds_around(cx, &within, &said).is_some_and(|it| has_no_type(cx, &it, name))
            }
            _ => false,
        },
        None if unresolved::is_global(&path) => closed::is_sure_of_crates(cx, name, &within),
        None => closed::is_sure(cx, name, &within),
    };
    let (code, what) = is_sure.then(|| unresolved::unresolved_kind(&token)).flatten()?;
    let code = if is_of_parameter { code } else { unresolved::of_module(code, around) };
    let code = unresolved::unless_unseen(&cx.sema, &token, code);
    let place = file.lines().place(&file.path, span(written.text_range()));
    let message = unresolved::message(&token, what);
    Some(report::error_of(cx, ENGINE, place, code, message))
}

/// Whether neither these traits nor their supertraits have a type of this name.
fn has_no_type(cx: &Context<'_>, traits: &[Trait], name: &str) -> bool {
    let all = traits.iter().flat_map(|it| it.all_supertraits(cx.db));
    let mut items = all.flat_map(|it| it.items(cx.db));
    !items.any(|it| matches!(it, AssocItem::TypeAlias(it) if plain_name(it.name(cx.db).as_str()) == name))
}

/// The traits that the items around a node require of a parameter, or of `Self`. `None` if one is not known.
fn bounds_around(cx: &Context<'_>, within: &SyntaxNode, parameter: &str) -> Option<Vec<Trait>> {
    let mut lists: Vec<ast::TypeBoundList> = Vec::new();
    for item in within.ancestors().filter_map(ast::AnyHasGenericParams::cast) {
        let parameters = item.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
        lists.extend(parameters.filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) if it.name()?.text() == parameter => it.type_bound_list(),
            _ => None,
        }));
        let predicates = item.where_clause().into_iter().flat_map(|it| it.predicates());
        lists.extend(predicates.filter_map(|it| {
            let is_of = it.ty().is_none_or(|it| it.syntax().text() == parameter);
            it.type_bound_list().filter(|_| is_of)
        }));
        let of_trait = ast::Trait::cast(item.syntax().clone()).filter(|_| parameter == "Self");
        lists.extend(of_trait.and_then(|it| it.type_bound_list()));
    }
    let paths = lists.iter().flat_map(|it| it.bounds()).filter(|it| it.lifetime().is_none());
    let of_path = |it: ast::TypeBound| match cx.sema.resolve_path(&bound_path(it)?)? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    };
    paths.map(of_path).collect()
}

/// The code of a written name: the name itself, or its copy in the expansion of a standard library macro, which keeps
/// code as it is. `None` if another macro may change it.
pub(crate) fn as_code(cx: &Context<'_>, id: FileId, written: &SyntaxToken) -> Option<SyntaxToken> {
    if unresolved::is_as_written(&cx.sema, id, written) {
        return Some(written.clone());
    }
    let token = cx.sema.descend_into_macros_exact(written.clone()).into_iter().next()?;
    let mut file = cx.sema.hir_file_for(&token.parent_ancestors().last()?);
    let mut is_made = false;
    while let Some(made) = file.macro_file() {
        let call = made.call_node(cx.db);
        let origin = &made.loc(cx.db).def.krate.data(cx.db).origin;
        if !origin.is_lang() || !ast::MacroCall::can_cast(call.value.kind()) {
            return None;
        }
        (file, is_made) = (call.file_id, true);
    }
    is_made.then_some(token)
}
