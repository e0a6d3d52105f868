//! Paths to an item of another kind than the place takes: a module or a variant as a type, a type as a bound, an enum as
//! a struct, traits that cannot be objects, and bindings that cannot hide an item; and `impl Trait` where a body needs a
//! type. rust-analyzer accepts them.

use ra_ap_hir::{Adt, ModuleDef, PathResolution, StructKind, Trait};
use ra_ap_syntax::ast::{HasGenericArgs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Edition, SyntaxKind, SyntaxNode, ast};

use super::bounds::bound_path;
use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::declaration::free_alias_around;
use crate::view::Context;

/// Names that are types in a path, whatever module has the same name.
const PRIMITIVE: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

/// For a node of a body or of an item's head.
pub(crate) fn misused_paths(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let found = match node.kind() {
        SyntaxKind::PATH_TYPE => ast::PathType::cast(node.clone()).and_then(|it| as_type(cx, &it)),
        SyntaxKind::TYPE_BOUND => ast::TypeBound::cast(node.clone()).and_then(|it| as_bound(cx, it)),
        SyntaxKind::DYN_TRAIT_TYPE => ast::DynTraitType::cast(node.clone()).and_then(|it| as_object(cx, &it)),
        SyntaxKind::RECORD_EXPR => {
            ast::RecordExpr::cast(node.clone()).and_then(|it| it.path()).and_then(|it| as_struct(cx, it))
        }
        SyntaxKind::RECORD_PAT => {
            ast::RecordPat::cast(node.clone()).and_then(|it| it.path()).and_then(|it| as_struct(cx, it))
        }
        SyntaxKind::IMPL_TRAIT_TYPE => in_body(node),
        SyntaxKind::ARRAY_EXPR => ast::ArrayExpr::cast(node.clone()).and_then(|it| match it.kind() {
            ast::ArrayExprKind::Repeat { repeat, .. } => as_length(cx, repeat?),
            ast::ArrayExprKind::ElementList(_) => None,
        }),
        SyntaxKind::ARRAY_TYPE => {
            ast::ArrayType::cast(node.clone()).and_then(|it| as_length(cx, it.const_arg()?.expr()?))
        }
        SyntaxKind::VISIBILITY => ast::Visibility::cast(node.clone()).and_then(|it| as_scope(cx, &it)),
        SyntaxKind::IDENT_PAT => ast::IdentPat::cast(node.clone()).and_then(|it| as_binding(cx, &it)),
        _ => None,
    };
    if let Some((at, code, message)) = found {
        out.push(report::raw_diagnostic(cx, &at, code, message));
    }
}

type Misuse = (SyntaxNode, Code, String);

/// A variable in the length of an array.
fn as_length(cx: &Context<'_>, length: ast::Expr) -> Option<Misuse> {
    let is_outer = |it: &ast::Path| match cx.sema.resolve_path(it) {
        Some(PathResolution::Local(local)) => {
            let declared = local.primary_source(cx.db);
            let declared = declared.as_ident_pat().map(|it| it.syntax().text_range());
            declared.is_none_or(|it| !length.syntax().text_range().contains_range(it))
        }
        _ => false,
    };
    let path = length.syntax().descendants().filter_map(ast::Path::cast).find(is_outer)?;
    let message = format!("`{}` is a variable: a length has to be a constant", path.syntax().text());
    Some((path.syntax().clone(), Code::E0435, message))
}

/// `pub(in path)`: the path of a module around.
fn as_scope(cx: &Context<'_>, visibility: &ast::Visibility) -> Option<Misuse> {
    let path = visibility.visibility_inner()?.path()?;
    let at = path.syntax().clone();
    let own = cx.sema.scope(&at)?.module();
    match cx.sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::Module(it)) => {
            let is_around = own.path_to_root(cx.db).contains(&it);
            let message = "visibilities can only be restricted to ancestor modules".to_owned();
            (!is_around).then_some((at, Code::E0742, message))
        }
        PathResolution::Def(_) => {
            let message = format!("expected a module, found `{}`", at.text());
            Some((at, Code::E0577, message))
        }
        _ => None,
    }
}

/// A path where a type is wanted.
fn as_type(cx: &Context<'_>, ty: &ast::PathType) -> Option<Misuse> {
    let around = ty.syntax().parent()?;
    if is_of_trait(ty) {
        return as_trait(cx, &ty.path()?);
    }
    // A generic argument may be a constant.
    if matches!(around.kind(), SyntaxKind::TYPE_BOUND | SyntaxKind::TYPE_ARG) && !is_trait(cx, ty) {
        return None;
    }
    let path = ty.path()?;
    if path.qualifier().is_none() && path.segment()?.self_type_token().is_some() {
        let is_around =
            |it: SyntaxNode| matches!(it.kind(), SyntaxKind::IMPL | SyntaxKind::TRAIT) || ast::Adt::can_cast(it.kind());
        let is_alone = !cx.sema.ancestors_with_macros(ty.syntax().clone()).any(is_around);
        let misuse = || (path.syntax().clone(), Code::E0411, "cannot find type `Self` in this scope".to_owned());
        return is_alone.then(misuse);
    }
    let qualifier = path.qualifier().filter(|it| it.segment().is_some_and(|it| it.type_anchor().is_none()));
    if let Some(PathResolution::Def(ModuleDef::Trait(_))) = qualifier.and_then(|it| cx.sema.resolve_path(&it)) {
        return Some((path.syntax().clone(), Code::E0223, "ambiguous associated type".to_owned()));
    }
    let said = || path.syntax().text().to_string();
    let at = path.syntax().clone();
    match cx.sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::Module(_)) if !PRIMITIVE.contains(&said().as_str()) => {
            Some((at, Code::E0573, format!("expected type, found module `{}`", said())))
        }
        PathResolution::Def(ModuleDef::EnumVariant(_)) => {
            Some((at, Code::E0573, format!("expected type, found variant `{}`", said())))
        }
        PathResolution::Def(ModuleDef::Const(_) | ModuleDef::Static(_) | ModuleDef::Function(_))
            if !matches!(around.kind(), SyntaxKind::TYPE_BOUND | SyntaxKind::TYPE_ARG) =>
        {
            Some((at, Code::E0573, format!("expected type, found value `{}`", said())))
        }
        PathResolution::Def(ModuleDef::BuiltinType(_)) if has_arguments(&path) => {
            Some((at, Code::E0109, format!("generic arguments are not allowed on builtin type `{}`", said())))
        }
        PathResolution::Def(ModuleDef::Trait(_)) if around.kind() != SyntaxKind::TYPE_BOUND => {
            let edition = cx.sema.scope(ty.syntax())?.krate().edition(cx.db);
            let message = || "expected a type, found a trait".to_owned();
            (edition >= Edition::Edition2021).then(|| (at, Code::E0782, message()))
        }
        PathResolution::Def(ModuleDef::Adt(_)) if path.segment()?.parenthesized_arg_list().is_some() => {
            let message = "parenthesized type parameters may only be used with a `Fn` trait";
            Some((at, Code::E0214, message.to_owned()))
        }
        _ => None,
    }
}

fn has_arguments(path: &ast::Path) -> bool {
    let list = path.segment().and_then(|it| it.generic_arg_list());
    // A shift after a cast looks like the beginning of a list: `it as u8 << 1`.
    list.is_some_and(|it| it.r_angle_token().is_some() && it.generic_args().next().is_some())
}

fn is_trait(cx: &Context<'_>, ty: &ast::PathType) -> bool {
    let meant = ty.path().and_then(|it| cx.sema.resolve_path(&it));
    matches!(meant, Some(PathResolution::Def(ModuleDef::Trait(_))))
}

/// Whether a path names the trait of a block or of a qualified path: `impl Trait for`, `<T as Trait>`.
fn is_of_trait(ty: &ast::PathType) -> bool {
    let Some(around) = ty.syntax().parent() else { return false };
    if let Some(block) = ast::Impl::cast(around.clone()) {
        return block.trait_().is_some_and(|it| it.syntax() == ty.syntax());
    }
    let is_qualified = ast::TypeAnchor::can_cast(around.kind());
    is_qualified && around.children().filter(|it| ast::Type::can_cast(it.kind())).nth(1).as_ref() == Some(ty.syntax())
}

/// `impl Trait` as the type of a variable, of a closure or of a cast.
fn in_body(node: &SyntaxNode) -> Option<Misuse> {
    let place = node.ancestors().skip(1).find_map(|it| match it.kind() {
        SyntaxKind::LET_STMT => Some(Some("the type of variable bindings")),
        SyntaxKind::CLOSURE_EXPR => Some(Some("closure parameters and results")),
        SyntaxKind::CAST_EXPR => Some(Some("cast expression types")),
        kind if ast::Item::can_cast(kind) || kind == SyntaxKind::IMPL_TRAIT_TYPE => Some(None),
        _ => None,
    })??;
    Some((node.clone(), Code::E0562, format!("`impl Trait` is not allowed in {place}")))
}

/// A path where a trait is wanted.
fn as_bound(cx: &Context<'_>, bound: ast::TypeBound) -> Option<Misuse> {
    as_trait(cx, &bound_path(bound)?)
}

fn as_trait(cx: &Context<'_>, path: &ast::Path) -> Option<Misuse> {
    let said = path.syntax().text().to_string();
    let what = match cx.sema.resolve_path(path)? {
        // A derive macro is named after its trait.
        PathResolution::Def(ModuleDef::Macro(_)) => "macro",
        PathResolution::Def(ModuleDef::Adt(Adt::Struct(_))) => "struct",
        PathResolution::Def(ModuleDef::Adt(Adt::Enum(_))) => "enum",
        PathResolution::Def(ModuleDef::Adt(Adt::Union(_))) => "union",
        PathResolution::Def(ModuleDef::TypeAlias(_)) => "type alias",
        PathResolution::Def(ModuleDef::BuiltinType(_)) => "builtin type",
        PathResolution::Def(ModuleDef::Module(_)) => "module",
        PathResolution::Def(ModuleDef::EnumVariant(_)) => "variant",
        PathResolution::TypeParam(_) => "type parameter",
        _ => return None,
    };
    Some((path.syntax().clone(), Code::E0404, format!("expected trait, found {what} `{said}`")))
}

/// A trait object of several traits, or of one that has none.
fn as_object(cx: &Context<'_>, ty: &ast::DynTraitType) -> Option<Misuse> {
    let bounds = ty.type_bound_list()?.bounds().filter_map(bound_path);
    let traits = bounds.filter_map(|it| match cx.sema.resolve_path(&it)? {
        PathResolution::Def(ModuleDef::Trait(of)) => Some((it, of)),
        _ => None,
    });
    let traits: Vec<(ast::Path, Trait)> = traits.filter(|it| !it.1.is_auto(cx.db)).collect();
    if let [_, (second, _), ..] = traits.as_slice() {
        let message = "only auto traits can be used as additional traits in a trait object".to_owned();
        return Some((second.syntax().clone(), Code::E0225, message));
    }
    let (path, of) = traits.into_iter().next()?;
    // The compiler checks an alias where it is used.
    if free_alias_around(ty.syntax()).is_some() {
        return None;
    }
    of.dyn_compatibility(cx.db)?;
    let name = of.name(cx.db);
    Some((path.syntax().clone(), Code::E0038, format!("the trait `{}` is not dyn compatible", name.as_str())))
}

/// A path where a struct or a variant is wanted.
fn as_struct(cx: &Context<'_>, path: ast::Path) -> Option<Misuse> {
    let said = path.syntax().text().to_string();
    let what = match cx.sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::Adt(Adt::Enum(_))) => "enum",
        PathResolution::Def(ModuleDef::Trait(_)) => "trait",
        PathResolution::Def(ModuleDef::Module(_)) => "module",
        PathResolution::Def(ModuleDef::BuiltinType(_)) => "builtin type",
        PathResolution::Def(ModuleDef::Function(_)) => "function",
        PathResolution::Def(ModuleDef::Const(_)) => "constant",
        PathResolution::Def(ModuleDef::Static(_)) => "static",
        PathResolution::Local(_) => "local variable",
        _ => return None,
    };
    let message = format!("expected struct, variant or union type, found {what} `{said}`");
    Some((path.syntax().clone(), Code::E0574, message))
}

/// A binding with the name of what it cannot hide. A name in lower case is taken for a new one.
fn as_binding(cx: &Context<'_>, pattern: &ast::IdentPat) -> Option<Misuse> {
    let name = pattern.name().filter(|it| it.text().starts_with(char::is_uppercase))?;
    let path = ast::make::path_from_text(name.text());
    let what = match cx.sema.scope(pattern.syntax())?.speculative_resolve(&path)? {
        PathResolution::Def(ModuleDef::Static(_)) => "statics",
        PathResolution::Def(ModuleDef::Adt(Adt::Struct(it))) if it.kind(cx.db) == StructKind::Tuple => "tuple structs",
        PathResolution::Def(ModuleDef::EnumVariant(it)) if it.kind(cx.db) == StructKind::Tuple => "tuple variants",
        _ => return None,
    };
    Some((name.syntax().clone(), Code::E0530, format!("bindings cannot shadow {what}")))
}
