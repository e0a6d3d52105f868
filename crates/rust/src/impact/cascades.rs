//! Errors that follow from an unresolved name. Errors that disappear when the name is fixed are not reported; errors
//! that have to be edited as well are reported (`follows`).

use std::collections::HashSet;

use ra_ap_hir::{Adt, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::ast::{HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::broken_imports::{BrokenImports, UnresolvedImports};
use super::delta::Delta;
use super::edit_context::EditContext;
use super::{follows, macros};
use crate::checks::anchors::has_body;
use crate::checks::bounds::bound_path;
use crate::checks::lookup;
use crate::checks::lookup::brought_by;
use crate::finding::code::Code;
use crate::finding::{Finding, Subject};
use crate::index::search::Occurrence;
use crate::syntax::positions;
use crate::usages;
use crate::view::Context;
use semdex_engine::files::Files;
use semdex_model::{ChangeKind, Span, SymbolKind};
use semdex_text::words::words;

/// A block whose trait or type is unresolved.
pub(crate) struct UnresolvedHead {
    file: String,
    span: Span,
    of_trait: bool,
}

pub(crate) fn is_unresolved(lost: &UnresolvedImports, error: &Finding, name: &str) -> bool {
    let names = lost.get(error.place.file.as_str());
    names.into_iter().flatten().any(|(lost, within)| lost == name && within.contains(error.place.start))
}

pub(crate) fn is_of_a_body(error: &Finding) -> bool {
    error.code.is_of_unknown_type() || matches!(error.code, Code::E0277 | Code::E0308 | Code::E0369 | Code::E0599)
}

impl EditContext {
    /// Whether an error of the state before followed from a missing name that the change adds: then the compiler
    /// reported the missing name.
    pub(crate) fn follows_from_absence(&self, deltas: &[(usize, Delta<'_>)], before: &Files, error: &Finding) -> bool {
        if !is_of_a_body(error) {
            return false;
        }
        let is_brought =
            |it: &Delta<'_>| matches!(it.kind, ChangeKind::Added | ChangeKind::Renamed | ChangeKind::Visibility);
        let items = deltas.iter().filter(|it| is_brought(&it.1)).filter_map(|it| it.1.after);
        let mut names: HashSet<&str> = items.map(|it| it.name.as_str()).collect();
        names.extend(self.scope_changes.iter().flat_map(|it| &it.names).map(String::as_str));
        let is_any = self.scope_changes.iter().any(|it| it.all);
        let Some(file) = before.get(&error.place.file) else { return false };
        let line = file.lines().line_text(&file.text, error.place.line);
        let is_named = || !error.code.is_of_unknown_type() && words(line).any(|it| names.contains(it.1));
        is_any || !names.is_empty() && !is_named()
    }
}

/// Whether the unresolved name is a member of `Self` that a trait would provide.
pub(crate) fn is_of_self(cx: &Context<'_>, error: &Finding) -> bool {
    let before = || cx.files.get(&error.place.file)?.text.get(..error.place.start);
    error.code == Code::E0220 && before().is_some_and(|it| it.ends_with("Self::"))
}

/// Records what a broken import would have brought into scope: the name itself, or members of its target.
pub(crate) fn note_unresolved<'a>(
    cx: &Context<'_>,
    import: &Finding,
    name: &str,
    members: impl Iterator<Item = &'a str>,
    lost: &mut UnresolvedImports,
) {
    let Some(file) = cx.files.get(&import.place.file) else { return };
    let around = file.outline().enclosing(import.place.start);
    let scope = around.iter().rfind(|it| it.kind == SymbolKind::Module || has_body(it.kind));
    let within = scope.map_or(Span::new(0, file.text.len()), |it| it.span);
    let mut names = match follows::use_tree_of(cx, import) {
        Some(tree) => brought_by(&tree).unwrap_or_else(|| members.map(str::to_owned).collect()),
        None => vec![name.to_owned()],
    };
    names.retain(|it| !is_globbed_variant(cx, import, it));
    lost.entry(file.path.clone()).or_default().extend(names.into_iter().map(|it| (it, within)));
}

/// The block whose trait or type is unresolved: the compiler reports nothing in its bodies.
pub(crate) fn block_headed_by(cx: &Context<'_>, error: &Finding) -> Option<UnresolvedHead> {
    let file = cx.files.get(&error.place.file)?;
    let of_trait = match error.code {
        Code::E0404 | Code::E0405 => true,
        Code::E0433 if leads_to_header(cx, error) => true,
        Code::E0412 if is_headed(cx, error) => false,
        _ => return None,
    };
    let block = file.outline().enclosing(error.place.start).pop().filter(|it| it.kind == SymbolKind::Impl)?;
    Some(UnresolvedHead { file: error.place.file.clone(), span: block.span, of_trait })
}

/// Whether an error is within such a block, or is about a member that the block would give its type. If a trait is
/// unresolved, the compiler stops before it reports that.
pub(crate) fn is_of_unresolved_head(cx: &Context<'_>, of: &UnresolvedHead, error: &Finding) -> bool {
    if of.file == error.place.file && of.span.contains(error.place.start) {
        return true;
    }
    let Some(file) = cx.files.get(&of.file).filter(|_| of.of_trait) else { return false };
    let chain = file.outline().enclosing(of.span.start);
    let Some(block) = chain.last().filter(|it| it.span == of.span) else { return false };
    match error.code {
        Code::E0277 => {
            let of = block.name.split(" for ").next().and_then(|it| it.rsplit("::").next()).unwrap_or_default();
            matches!(&error.subject, Subject::Bound { of: lacks, .. } if lacks == of)
        }
        Code::E0599 => {
            let text = text_of(cx, error).unwrap_or_default();
            let member = text.rsplit("::").next().unwrap_or_default();
            block.children.iter().any(|it| it.name == member)
        }
        _ => false,
    }
}

/// Whether the unresolved name is the self type of a block.
fn is_headed(cx: &Context<'_>, error: &Finding) -> bool {
    let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start));
    let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
    let Some(ast::Type::PathType(of)) = block.and_then(|it| it.self_ty()) else { return false };
    of.path().and_then(|it| it.segment()?.name_ref()?.ident_token()) == token
}

/// Whether the unresolved name is a module in the path to the trait that a block implements.
fn leads_to_header(cx: &Context<'_>, error: &Finding) -> bool {
    let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start));
    let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
    let Some(ast::Type::PathType(of)) = block.and_then(|it| it.trait_()) else { return false };
    let mut way = std::iter::successors(of.path().and_then(|it| it.qualifier()), |it| it.qualifier());
    way.any(|it| it.segment().and_then(|it| it.name_ref()?.ident_token()) == token)
}

/// Whether a glob next to an import brings in a variant of that name, which is then the name's meaning.
fn is_globbed_variant(cx: &Context<'_>, import: &Finding, name: &str) -> bool {
    let Some(module) = follows::module_around(cx, import) else { return false };
    let trees = lookup::nodes_in(&cx.sema, module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
    let globs = trees.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
    globs.into_iter().any(|it| match cx.sema.resolve_path(&it) {
        Some(PathResolution::Def(ModuleDef::Adt(Adt::Enum(it)))) => {
            it.variants(cx.db).iter().any(|it| it.name(cx.db).as_str() == name)
        }
        _ => false,
    })
}

/// Whether a name in a body is unresolved because of a broken import.
pub(crate) fn follows_from(
    cx: &Context<'_>,
    lost: &UnresolvedImports,
    imports: &BrokenImports,
    error: &Finding,
) -> bool {
    let is_of_name = match error.code {
        Code::Uncoded => error.subject == Subject::Macro,
        Code::E0220
        | Code::E0404
        | Code::E0405
        | Code::E0412
        | Code::E0422
        | Code::E0425
        | Code::E0433
        | Code::E0531 => true,
        _ => false,
    };
    if !is_of_name {
        return false;
    }
    let text = text_of(cx, error).unwrap_or_default();
    let first = text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
    follows::follows(cx, error, first, imports, lost)
        || is_bare(cx, error) && is_unresolved_in_definition(cx, lost, error, first)
}

/// Whether a name is in the definition of a macro, and would have been imported at each of its calls.
fn is_unresolved_in_definition(cx: &Context<'_>, lost: &UnresolvedImports, error: &Finding, name: &str) -> bool {
    let names = || lost.values().flatten().any(|it| it.0 == name);
    let id = cx.file_id(&error.place.file).filter(|_| names());
    let Some(definition) = id.and_then(|id| macros::macro_around(&cx.sema, id, error.place.start)) else {
        return false;
    };
    let is_unresolved_there = |it: &Occurrence| {
        let names = lost.get(&it.file.path).into_iter().flatten();
        names.into_iter().any(|(lost, within)| lost == name && within.contains(it.at.start))
    };
    usages::find(cx, &[definition])
        .into_iter()
        .all(|it| !it.items.is_empty() && it.items.iter().all(is_unresolved_there))
}

/// Whether an error follows from an unknown type: that is reported where the type is named or imported.
pub(crate) fn follows_from_unknown(
    cx: &Context<'_>,
    gone: &HashSet<&str>,
    lost: &UnresolvedImports,
    error: &Finding,
) -> bool {
    let is_of_nothing = || error.subject.ty() == Some("()");
    match error.code {
        code if code.is_of_unknown_type() => true,
        Code::E0277 | Code::E0599 if is_of_nothing() || is_of_unbound(cx, error) => true,
        // If an import is lost, the name does not mean another item from a prelude.
        Code::E0107 => names_unresolved(cx, &HashSet::new(), lost, error),
        Code::E0277 | Code::E0308 | Code::E0369 => names_unresolved(cx, gone, lost, error),
        Code::E0599 => {
            let is_of_member = matches!(error.subject, Subject::Member { .. });
            is_of_member && names_unresolved(cx, gone, lost, error) && !is_of_known_type(cx, error)
        }
        _ => false,
    }
}

/// Whether the unresolved name is a variant or other member of a known type.
fn is_of_known_type(cx: &Context<'_>, error: &Finding) -> bool {
    let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start));
    let paths = token.into_iter().flat_map(|it| it.parent_ancestors()).map_while(|it| match it.kind() {
        SyntaxKind::NAME_REF | SyntaxKind::PATH_SEGMENT => Some(None),
        _ => ast::Path::cast(it).map(Some),
    });
    let qualifier = paths.flatten().find_map(|it| it.qualifier());
    let meant = qualifier.and_then(|it| cx.sema.resolve_path(&it));
    matches!(meant, Some(PathResolution::Def(ModuleDef::Adt(_))))
}

/// Whether an error is about a type parameter with an unresolved bound: it may have any method.
fn is_of_unbound(cx: &Context<'_>, error: &Finding) -> bool {
    let name = error.subject.ty().unwrap_or_default().trim_start_matches(['&', ' ']).trim_start_matches("mut ");
    if !name.chars().all(char::is_alphanumeric) {
        return false;
    }
    let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start));
    token.is_some_and(|it| is_unbound(&cx.sema, &it, name))
}

/// Whether a name is a type parameter with such a bound.
pub(crate) fn is_unbound(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken, name: &str) -> bool {
    let around = token.parent_ancestors().filter_map(ast::AnyHasGenericParams::cast);
    around.into_iter().any(|it| {
        let own = it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
        let own = own.filter(|it| it.name().is_some_and(|it| it.text() == name)).filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => it.type_bound_list(),
            ast::TypeOrConstParam::Const(_) => None,
        });
        let clauses = it.where_clause().into_iter().flat_map(|it| it.predicates());
        let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == name));
        let lists = own.chain(clauses.filter_map(|it| it.type_bound_list()));
        let mut paths = lists.flat_map(|it| it.bounds()).filter_map(bound_path);
        paths.any(|it| sema.resolve_path(&it).is_none())
    })
}

/// Whether the line of an error names a removed item.
fn names_unresolved(cx: &Context<'_>, gone: &HashSet<&str>, lost: &UnresolvedImports, error: &Finding) -> bool {
    let Some(file) = cx.files.get(&error.place.file) else { return false };
    let mut lines = (error.place.line..=error.place.end_line).map(|it| file.lines().line_text(&file.text, it));
    lines.any(|line| words(line).any(|(_, word)| gone.contains(word) || is_unresolved(lost, error, word)))
}

pub(crate) fn text_of<'db>(cx: &Context<'db>, error: &Finding) -> Option<&'db str> {
    cx.files.get(&error.place.file)?.text.get(error.place.start..error.place.end)
}

/// Whether a name is written there without its container.
pub(crate) fn is_bare(cx: &Context<'_>, error: &Finding) -> bool {
    let Some(token) = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start))
    else {
        return false;
    };
    // The input of a macro is only tokens.
    if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
        let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
        return before.is_none_or(|it| it.text() != ":");
    }
    let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast);
    segment.is_some_and(|it| it.parent_path().qualifier().is_none())
}
