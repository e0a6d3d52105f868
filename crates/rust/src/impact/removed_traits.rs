//! What requires a trait that a type no longer implements: types that contain the type and derive the trait, other
//! derives of the type itself, and subtraits of the lost trait.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_hir::{Impl, ModuleDef, PathResolution, Trait};
use ra_ap_ide::TryToNav as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasGenericArgs as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, ast};

use super::affected::ChangedSymbol;
use super::delta::{derives, is_type};
use super::edit_context::EditContext;
use super::findings::Findings;
use super::helper_attributes::has_derive;
use crate::checks::report;
use crate::finding::code::Code;
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Role, Span};

/// Derivable traits, with the derivable traits that require them.
const BUILT_ON: [(&str, &[&str]); 4] =
    [("Clone", &["Copy"]), ("Eq", &["Ord"]), ("PartialEq", &["Eq", "PartialOrd", "Ord"]), ("PartialOrd", &["Ord"])];

/// What requires a trait that a type no longer implements.
pub(crate) fn unmet_by_removed_traits(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    edit: &EditContext,
    out: &mut Findings<'_>,
) {
    for lost in &changed_symbol.lost {
        let mut printed: HashSet<(&str, usize)> = HashSet::new();
        let needs = BUILT_ON.iter().find(|it| it.0 == lost).map_or(&[][..], |it| it.1);
        for occurrence in changed_symbol.occurrences.iter().filter(|it| it.role == Role::Type) {
            let name: &str = &occurrence.file.path;
            let Some((file, start)) = cx.files.get(name).zip(edit.moved(name, occurrence.at.start)) else {
                continue;
            };
            let chain = file.outline().enclosing(start);
            let Some(holder) = chain.iter().find(|it| is_type(it.kind)) else { continue };
            let token = cx.file_id(name).and_then(|id| positions::token(&cx.sema, id, start));
            if token.is_none_or(|it| needs_no(cx, lost, &it)) {
                continue;
            }
            // `Debug` uses each field as a `dyn` value, and the compiler reports that once.
            let is_reported = lost == "Debug" && !printed.insert((name, holder.name_span.start));
            if !is_reported && derives(holder, &file.text).contains(lost.as_str()) {
                let at = Span::new(start, start + (occurrence.at.end - occurrence.at.start));
                let (code, message) = match lost.as_str() {
                    "Copy" => (Code::E0204, "the trait `Copy` cannot be implemented: a field is not `Copy`".to_owned()),
                    "PartialEq" => (Code::E0369, format!("`==` cannot be applied to type `{}`", changed_symbol.name)),
                    _ => (Code::E0277, format!("`{}` does not implement `{lost}`", changed_symbol.name)),
                };
                let place = if lost == "Copy" { holder.name_span } else { at };
                out.add(report::error(cx, file.lines().place(name, place), code, message));
            }
        }
        let Some((file, own)) = type_of_cause(cx, changed_symbol, edit) else { continue };
        let blocks = blocks_of(cx, &own, &file);
        let is_named = |it: &Trait| it.name(cx.db).as_str() == lost;
        // A derive may have become a written implementation.
        let is_lost = !blocks.iter().any(|it| it.trait_(cx.db).is_some_and(|it| is_named(&it)));
        for need in needs.iter().filter(|_| is_lost) {
            if has_derive(cx, &file, &own, need) {
                let at = own.name_span;
                let message = format!("`{}` does not implement `{lost}`, which `{need}` needs", own.name);
                out.add(report::error(cx, file.lines().place(&file.path, at), Code::E0277, message));
            }
        }
        supertraits(cx, &own, &blocks, lost, out);
    }
}

fn blocks_of(cx: &Context<'_>, own: &OutlineItem, file: &File) -> Vec<Impl> {
    match cx.file_id(&file.path).and_then(|id| at::definition_at(&cx.sema, id, own.name_span.start)) {
        Some(Definition::Adt(adt)) => Impl::all_for_type(cx.db, adt.ty(cx.db)),
        _ => Vec::new(),
    }
}

/// The type that loses a trait, in its current form: the edited type, or the self type of a removed implementation.
fn type_of_cause(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    edit: &EditContext,
) -> Option<(Arc<File>, OutlineItem)> {
    let (index, delta) = changed_symbol.delta.as_ref()?;
    if let Some(own) = delta.after.filter(|it| is_type(it.kind)) {
        return Some((edit.news[*index].clone(), own.clone()));
    }
    let is_type_name = |it: &&Occurrence| matches!(it.role, Role::Type | Role::SelfType);
    let token = changed_symbol.occurrences.iter().filter(is_type_name).find_map(|it| {
        let token = positions::token(&cx.sema, it.id, edit.moved(&it.file.path, it.at.start)?)?;
        (token.text() == changed_symbol.name).then_some(token)
    })?;
    let Definition::Adt(adt) = at::definition_of_token(&cx.sema, &token)? else { return None };
    let at = Definition::Adt(adt).try_to_nav(&cx.sema)?.call_site;
    let file = cx.file(at.file_id)?.clone();
    let chain = file.outline().enclosing(span(at.focus_or_full_range()).start);
    let own = chain.last().filter(|it| is_type(it.kind)).map(|it| (*it).clone())?;
    Some((file, own))
}

/// Other traits of a type that have a lost one as supertrait.
fn supertraits(cx: &Context<'_>, own: &OutlineItem, blocks: &[Impl], lost: &str, out: &mut Findings<'_>) {
    let implemented: HashSet<Trait> = blocks.iter().filter_map(|it| it.trait_(cx.db)).collect();
    for block in blocks {
        let Some(of) = block.trait_(cx.db) else { continue };
        let is_lost = |it: &Trait| it.name(cx.db).as_str() == lost && !implemented.contains(it);
        let needs = of.all_supertraits(cx.db).iter().any(|it| *it != of && is_lost(it));
        let Some(source) = cx.sema.source(*block).filter(|_| needs) else { continue };
        let Some(id) = source.file_id.file_id() else { continue };
        let Some(file) = cx.file(id.file_id(cx.db)) else { continue };
        let Some(header) = source.value.trait_() else { continue };
        let at = span(header.syntax().text_range());
        let message = format!("`{}` does not implement `{lost}`, which `{}` needs", own.name, of.name(cx.db).as_str());
        out.add(report::error(cx, file.lines().place(&file.path, at), Code::E0277, message));
    }
}

/// Whether the type around another type implements a trait regardless of the inner type.
fn needs_no(cx: &Context<'_>, lost: &str, ty: &SyntaxToken) -> bool {
    let around: Vec<SyntaxNode> = ty.parent_ancestors().take_while(|it| !ast::Item::can_cast(it.kind())).collect();
    if around.iter().any(|it| ast::GenericParamList::can_cast(it.kind())) {
        return true;
    }
    let outermost = around.iter().rev().find_map(|it| ast::Type::cast(it.clone()));
    outermost.and_then(|it| implements(cx, &it, lost)).unwrap_or_else(|| is_implemented_for_any(lost, &around))
}

/// Whether a type implements a trait that the standard library derives. `None` if the type or the trait is not known.
fn implements(cx: &Context<'_>, ty: &ast::Type, of: &str) -> Option<bool> {
    let module = match of {
        "Clone" => "clone",
        "Copy" => "marker",
        "Debug" => "fmt",
        "Default" => "default",
        "Hash" => "hash",
        "Eq" | "Ord" | "PartialEq" | "PartialOrd" => "cmp",
        _ => return None,
    };
    let path = ast::make::path_from_text(&format!("::core::{module}::{of}"));
    let meant = cx.sema.scope(ty.syntax())?.speculative_resolve(&path)?;
    let PathResolution::Def(ModuleDef::Trait(of)) = meant else { return None };
    let ty = cx.sema.resolve_type(ty).filter(|it| !it.contains_unknown())?;
    let takes_itself = of.type_or_const_param_count(cx.db, false) > 0;
    let arguments = if takes_itself { std::slice::from_ref(&ty) } else { &[] };
    Some(ty.impls_trait(cx.db, of, arguments))
}

/// The same for types of the standard library, by their names.
fn is_implemented_for_any(lost: &str, around: &[SyntaxNode]) -> bool {
    around.iter().any(|it| match (lost, ast::PathSegment::cast(it.clone())) {
        ("Clone" | "Copy", None) => ast::RefType::can_cast(it.kind()) || ast::PtrType::can_cast(it.kind()),
        (_, Some(segment)) if segment.generic_arg_list().is_some() => {
            let name = segment.name_ref().map(|it| it.text().to_string()).unwrap_or_default();
            match lost {
                "Clone" => matches!(name.as_str(), "Arc" | "Rc" | "Weak" | "PhantomData"),
                "Default" => !matches!(name.as_str(), "Box" | "Arc" | "Rc" | "Cell" | "RefCell" | "Mutex" | "RwLock"),
                _ => name == "PhantomData",
            }
        }
        _ => false,
    })
}
