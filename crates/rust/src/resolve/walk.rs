//! Follows a full path from its crate, type or implementation, segment by segment.

use either::Either;
use ra_ap_hir::{Adt, Crate, Impl, Trait, Type, import_map};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;

use super::requested::{RequestedPath, Segment, fits_end, is_of_kind, segments, split_ordinal, split_qualified};
use super::types::Piece;
use super::{paths, types};
use crate::names::definitions::{ORDINAL, as_assoc_item, module_definition};
use crate::names::instances::{self, representative};
use crate::resolve::paths::{containers, crates, members};
use crate::view::Context;
use semdex_model::SymbolKind;

pub(crate) fn walk_written<'db>(cx: &Context<'db>, written: &RequestedPath<'_>) -> Vec<Definition<'db>> {
    if written.kind != Some("impl") || written.path.starts_with('<') && split_qualified(&written.path).is_some() {
        return walk(cx, &written.path);
    }
    let (ty, ordinal) = split_ordinal(&written.path);
    let blocks = walk(cx, ty).into_iter().flat_map(|it| match it {
        Definition::Adt(_) | Definition::BuiltinType(_) | Definition::SelfType(_) => members::inherent_impls(cx, it),
        _ => Vec::new(),
    });
    let nth = ordinal.unwrap_or(1).saturating_sub(1);
    blocks.skip(nth).take(1).map(Definition::SelfType).collect()
}

/// Follows a path from a crate, from a built-in type, or from angle brackets. If several crates share a name, the first
/// one that has the path is used.
pub(crate) fn walk<'db>(cx: &Context<'db>, path: &str) -> Vec<Definition<'db>> {
    let segments = segments(path);
    let Some((first, rest)) = segments.split_first() else { return Vec::new() };
    let mut found: Vec<Definition<'db>> = Vec::new();
    for heads in heads_of(cx, first, rest.is_empty()) {
        for definition in heads.into_iter().flat_map(|it| walk_members(cx, it, rest)) {
            let definition = representative(cx.db, definition);
            if !found.contains(&definition) {
                found.push(definition);
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    // Arguments are written only if two blocks would clash, and are ignored otherwise.
    let is_exact = |it: &Definition<'db>| paths::path_of(cx, *it).is_some_and(|it| it == path);
    if found.len() > 1 && found.iter().any(is_exact) {
        found.retain(is_exact);
    }
    found
}

/// The possible meanings of a first segment, the most likely first; those in one list are equally likely.
fn heads_of<'db>(cx: &Context<'db>, first: &Segment<'_>, is_all: bool) -> Vec<Vec<Definition<'db>>> {
    if first.is_qualified() {
        return vec![blocks(cx, first)];
    }
    // Dashes occur in package names.
    let names = [name_with_ordinal(first), first.name.to_owned(), first.name.replace('-', "_")];
    let mut crates = names.iter().map(|it| crates::crates_named(cx, it)).find(|it| !it.is_empty()).unwrap_or_default();
    if !crates.is_empty() {
        crates.truncate(if is_all { 1 } else { usize::MAX });
        let roots = |crates: Vec<Crate>| {
            crates.into_iter().map(|it| Definition::Module(it.root_module(cx.db))).collect::<Vec<_>>()
        };
        return crates.into_iter().map(roots).collect();
    }
    if !first.name.starts_with(char::is_lowercase) {
        return Vec::new();
    }
    // A primitive type is in scope everywhere; this crate contains its docs.
    let primitive = crates::crates_named(cx, "core").into_iter().flatten().next();
    let primitive = primitive.map(|it| Definition::Module(it.root_module(cx.db)));
    let primitive = primitive.into_iter().flat_map(|core| members::reachable(cx, core, "primitive"));
    let found: Vec<_> = primitive.flat_map(|it| members::reachable(cx, it, first.name)).collect();
    vec![match first.name {
        "slice" if !is_all => blocks_of_type(cx, "[T]"),
        "array" if !is_all => blocks_of_type(cx, "[T; N]"),
        _ => found,
    }]
}

fn name_with_ordinal(segment: &Segment<'_>) -> String {
    match segment.ordinal {
        Some(ordinal) => format!("{}{ORDINAL}{ordinal}", segment.name),
        None => segment.name.to_owned(),
    }
}

pub(crate) fn walk_members<'db>(
    cx: &Context<'db>,
    from: Definition<'db>,
    segments: &[Segment<'_>],
) -> Vec<Definition<'db>> {
    let Some((first, rest)) = segments.split_first() else { return vec![from] };
    step(cx, from, first).into_iter().flat_map(|member| walk_members(cx, member, rest)).collect()
}

fn step<'db>(cx: &Context<'db>, from: Definition<'db>, segment: &Segment<'_>) -> Vec<Definition<'db>> {
    let of_kind = |it: &Definition<'db>| {
        segment.kind.is_none_or(|word| kind_of(cx, *it).is_some_and(|kind| is_of_kind(word, kind)))
    };
    if segment.ordinal.is_some() {
        // A number counts the declared members.
        let members = members::members_of(cx, from);
        let marked = name_with_ordinal(segment);
        let is_it = |it: &Definition<'db>| paths::path_of(cx, *it).is_some_and(|it| it.ends_with(&marked));
        return members.named(segment.name).iter().copied().filter(of_kind).filter(is_it).collect();
    }
    let unmarked = |it: &Definition<'db>| {
        containers::container_of(&cx.sema, *it) != Some(from)
            || paths::path_of(cx, *it).is_none_or(|path| segments(&path).last().is_none_or(|it| it.ordinal.is_none()))
    };
    members::reachable(cx, from, segment.name).into_iter().filter(of_kind).filter(unmarked).collect()
}

/// `<Type as Trait>`, `<[T]>`
fn blocks<'db>(cx: &Context<'db>, head: &Segment<'_>) -> Vec<Definition<'db>> {
    let Some((ty, of)) = split_qualified(head.name) else {
        let inner = head.name.strip_prefix('<').and_then(|it| it.strip_suffix('>')).unwrap_or(head.name);
        let walked = if is_plain_path(inner) { walk(cx, inner) } else { Vec::new() };
        return if walked.is_empty() { blocks_of_type(cx, inner) } else { walked };
    };
    let traits = outside_too(cx, of).into_iter().filter_map(|it| match it {
        Definition::Trait(it) => Some(it),
        _ => None,
    });
    let full = name_with_ordinal(head);
    let in_full = || {
        let (ty, of) = (types::written(&full_path(cx, ty)), types::written(&full_path(cx, of)));
        let name = format!("<{ty} as {of}>");
        name_with_ordinal(&Segment { name: &name, ..*head })
    };
    let mut found: Vec<Impl> = Vec::new();
    for of in traits {
        let blocks = implementations_written(cx, of, ty);
        let fits = |full: &str| -> Vec<Impl> {
            blocks.iter().copied().filter(|it| fits_end(&paths::impl_path(cx, *it), full)).collect()
        };
        let mut fitting = fits(&full);
        if fitting.is_empty() && !blocks.is_empty() {
            fitting = fits(&in_full());
        }
        found.extend(fitting);
    }
    let exact = |it: &Impl| paths::impl_path(cx, *it) == full;
    if found.iter().any(exact) {
        found.retain(exact);
    }
    found.into_iter().map(Definition::SelfType).collect()
}

/// The implementations of a trait for a type, as far as the type can be recognized without its arguments.
fn implementations_written(cx: &Context<'_>, of: Trait, ty: &str) -> Vec<Impl> {
    let all = || paths::implementations(cx.db, of, None);
    if is_plain_path(ty) {
        // If the path of a type resolves, its implementations are found without checking all others.
        let meant = walk(cx, ty).into_iter().next().or_else(|| in_the_prelude(cx, ty).into_iter().next());
        let found = meant.and_then(|it| type_by_path(cx.db, it)).map(|it| paths::implementations(cx.db, of, Some(it)));
        if let Some(found) = found.filter(|it| !it.is_empty()) {
            return found;
        }
        let name = segments(ty).last().map(|it| it.name.to_owned()).unwrap_or_default();
        let may_be = |it: &Impl| match it.self_ty(cx.db).as_adt() {
            Some(adt) => adt.name(cx.db).as_str() == name,
            None => true,
        };
        return all().into_iter().filter(may_be).filter(|it| types::is_like(&paths::type_of(cx, *it), ty)).collect();
    }
    let asked = types::pieces(ty);
    let found = implementations_for(cx, all(), &asked);
    if found.is_empty() { implementations_for(cx, all(), &full_path(cx, ty)) } else { found }
}

fn implementations_for(cx: &Context<'_>, all: Vec<Impl>, ty: &[Piece]) -> Vec<Impl> {
    // Most are for types with a path; the path of a type in a member's body begins with a bracket.
    let is_member = ty.first() == Some(&Piece::Sign("<"));
    let others = all.into_iter().filter(|it| is_member || it.self_ty(cx.db).as_adt().is_none());
    others.filter(|it| types::are_alike(&types::pieces(&paths::type_of(cx, *it)), ty)).collect()
}

fn type_by_path<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> Option<Type<'db>> {
    match definition {
        Definition::Adt(it) => Some(it.ty(db)),
        Definition::BuiltinType(it) => Some(it.ty(db)),
        Definition::TypeAlias(it) => it.ty(db).as_adt().map(|it| it.ty(db)),
        _ => None,
    }
}

/// A type with each of its paths as printed, if the request used other ones.
fn full_path(cx: &Context<'_>, ty: &str) -> Vec<Piece> {
    let mut pieces = types::pieces(ty);
    for piece in &mut pieces {
        let Piece::Path(path) = piece else { continue };
        let asked = path.join("::");
        let found = walk(cx, &asked).into_iter().next().or_else(|| in_the_prelude(cx, &asked).into_iter().next());
        let found = match found {
            Some(Definition::TypeAlias(it)) => it.ty(cx.db).as_adt().map(Definition::Adt),
            found => found,
        };
        if let Some(full) = found.and_then(|it| paths::path_as_container(cx, it)) {
            *path = full.split("::").map(str::to_owned).collect();
        }
    }
    pieces
}

/// A path, or a short one into a dependency.
fn outside_too<'db>(cx: &Context<'db>, path: &str) -> Vec<Definition<'db>> {
    let found = walk(cx, path);
    let found = if found.is_empty() { in_the_prelude(cx, path) } else { found };
    if found.is_empty() { in_dependencies(cx, path) } else { found }
}

/// The inherent blocks of a type that is not a path; one block represents all of them.
fn blocks_of_type<'db>(cx: &Context<'db>, ty: &str) -> Vec<Definition<'db>> {
    let all = match ty.strip_prefix("dyn ") {
        Some(of) => {
            let of = of.split_once('+').map_or(of, |it| it.0).trim();
            let traits = outside_too(cx, of).into_iter().filter_map(|it| it.krate(cx.db));
            traits.flat_map(|krate| Impl::all_in_crate(cx.db, krate)).filter(|it| it.trait_(cx.db).is_none()).collect()
        }
        None => members::impls_of_the_language(cx.db),
    };
    let all: Vec<Impl> = all.into_iter().filter(|it| it.self_ty(cx.db).as_adt().is_none()).collect();
    let path = format!("<{ty}>");
    let block = all.iter().find(|it| paths::impl_path(cx, **it) == path);
    let like = |path: &str| all.iter().find(|it| types::is_like(&paths::impl_path(cx, **it), path));
    let block = block.or_else(|| like(&path));
    let block = block.or_else(|| like(&format!("<{}>", types::written(&full_path(cx, ty)))));
    block.copied().map(Definition::SelfType).into_iter().collect()
}

/// Whether the text in angle brackets is a path, not another form of type.
fn is_plain_path(ty: &str) -> bool {
    matches!(types::pieces(ty).as_slice(), [Piece::Path(_)] | [Piece::Path(_), Piece::Sign("<"), ..])
        && !ty.starts_with("for<")
}

/// A definition's kind, named as in the document symbols of LSP.
pub(crate) fn kind_of<'db>(context: &Context<'db>, definition: Definition<'db>) -> Option<SymbolKind> {
    Some(match definition {
        Definition::Module(_) | Definition::Crate(_) => SymbolKind::Module,
        Definition::Adt(Adt::Struct(_)) => SymbolKind::Struct,
        Definition::Adt(Adt::Enum(_)) => SymbolKind::Enum,
        Definition::Adt(Adt::Union(_)) => SymbolKind::Union,
        Definition::Trait(_) => SymbolKind::Trait,
        Definition::TypeAlias(_) | Definition::BuiltinType(_) => SymbolKind::Type,
        Definition::Function(it) => {
            let in_trait = as_assoc_item(definition, context.db)
                .is_some_and(|it| matches!(it.container(context.db), ra_ap_hir::AssocItemContainer::Trait(_)));
            if in_trait || it.has_self_param(context.db) { SymbolKind::Method } else { SymbolKind::Function }
        }
        Definition::Field(_) | Definition::TupleField(_) => SymbolKind::Field,
        Definition::EnumVariant(_) => SymbolKind::Variant,
        Definition::Const(_) => SymbolKind::Const,
        Definition::Static(_) => SymbolKind::Static,
        Definition::Local(_) => SymbolKind::Variable,
        Definition::Macro(_) => SymbolKind::Macro,
        Definition::SelfType(_) => SymbolKind::Impl,
        _ => return None,
    })
}

/// What every file can name without an import.
pub(crate) fn in_the_prelude<'db>(cx: &Context<'db>, path: &str) -> Vec<Definition<'db>> {
    if path.starts_with('<') {
        return Vec::new();
    }
    ["std::prelude::rust_2024", "core::prelude::rust_2024"]
        .into_iter()
        .map(|prelude| walk(cx, &format!("{prelude}::{path}")))
        .find(|it| !it.is_empty())
        .unwrap_or_default()
}

/// A short path into a dependency: the workspace could import its first segment.
pub(crate) fn in_dependencies<'db>(cx: &Context<'db>, path: &str) -> Vec<Definition<'db>> {
    let parts = segments(path);
    let Some((first, rest)) = parts.split_first().filter(|it| !it.0.name.is_empty() && !it.0.is_qualified()) else {
        return Vec::new();
    };
    let mut found: Vec<Definition<'db>> = Vec::new();
    for krate in instances::default_crates(cx.db).into_iter().filter(|krate| krate.origin(cx.db).is_local()) {
        let query = import_map::Query::new(first.name.to_owned()).exact().case_sensitive();
        for (item, _) in krate.query_external_importables(cx.db, query) {
            let definition = match item {
                Either::Left(item) => module_definition(item),
                Either::Right(item) => Definition::Macro(item),
            };
            for member in walk_members(cx, definition, rest) {
                if !found.contains(&member) {
                    found.push(member);
                }
            }
        }
    }
    found
}
