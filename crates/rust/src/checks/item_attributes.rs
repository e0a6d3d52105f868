//! Attributes of items that nothing reads, and those of the language that are malformed or on items that they are not
//! for.

use std::collections::BTreeSet;

use ra_ap_hir::{ModuleDef, PathResolution};
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SyntaxKind, SyntaxNode, T, ast};

use super::derive_expansion::OF_THE_COMPILER;
use super::report::Add;
use super::{editions, entry_points, representations};
use crate::finding::code::Code;
use crate::syntax::attributes::{arguments, derives_in};
use crate::syntax::is_builtin;
use crate::view::Context;

/// For the attributes of an item.
pub(super) fn malformed_attributes(cx: &Context<'_>, item: &SyntaxNode, add: &mut Add<'_>) {
    let is_type = ast::Adt::can_cast(item.kind());
    let Some(item) = ast::Item::cast(item.clone()) else { return };
    if let ast::Item::Enum(it) = &item {
        defaults(it, add);
    }
    if let Some(it) = ast::Adt::cast(item.syntax().clone()) {
        representations::malformed_representation(&it, add);
        unread(cx, &it, add);
    }
    for attribute in item.attrs() {
        let Some(name) = attribute.simple_name() else { continue };
        let Some(meta) = attribute.meta() else { continue };
        editions::safe_attribute(cx, &name, &attribute, add);
        match name.as_str() {
            "derive" if !is_type => {
                let message = "`derive` may only be applied to `struct`s, `enum`s and `union`s";
                add(attribute.syntax(), Code::E0774, message);
            }
            "derive" if has_string(&meta) => add(meta.syntax(), Code::E0777, "expected path to a trait, found literal"),
            "derive" if !lists_paths(&meta) => {
                add(meta.syntax(), Code::Uncoded, "malformed `derive` attribute: expected paths to traits");
            }
            "repr" if !is_type => {
                add(meta.syntax(), Code::E0517, "attribute should be applied to a struct, enum, or union");
            }
            "inline" if !matches!(item, ast::Item::Fn(_)) => {
                add(attribute.syntax(), Code::Uncoded, "`#[inline]` can only be used on functions");
            }
            "inline" => inline(&attribute, add),
            "deprecated" => deprecated(&attribute, add),
            "allow" | "deny" | "expect" | "forbid" | "warn" => lints(&name, &attribute, add),
            "stable" | "unstable" | "rustc_const_stable" | "rustc_const_unstable" => {
                let message = "stability attributes may not be used outside of the standard library";
                add(attribute.syntax(), Code::E0734, message);
            }
            "track_caller" => track_caller(&item, &attribute, add),
            "non_exhaustive" if !matches!(item, ast::Item::Struct(_) | ast::Item::Enum(_)) => {
                let message = "`#[non_exhaustive]` can only be used on structs, enums and their variants";
                add(attribute.syntax(), Code::Uncoded, message);
            }
            "test" => test(cx, &item, &attribute, add),
            // The attributes of a type may be those of its derive macros.
            name if !is_type && !is_builtin(name) && is_unknown_attribute(cx, &meta) => {
                add(meta.syntax(), Code::Uncoded, &format!("cannot find attribute `{name}` in this scope"));
            }
            _ => {}
        }
    }
}

/// The compiler takes one word: `always` or `never`.
fn inline(attribute: &ast::Attr, add: &mut Add<'_>) {
    let Some((_, list)) = attribute.meta().and_then(|it| it.as_simple_call()) else { return };
    match &arguments(&list)[..] {
        [word] if matches!(word.concat().as_str(), "always" | "never") => {}
        [_] => add(attribute.syntax(), Code::E0539, "malformed `inline` attribute input"),
        _ => add(attribute.syntax(), Code::E0805, "malformed `inline` attribute input"),
    }
}

fn deprecated(attribute: &ast::Attr, add: &mut Add<'_>) {
    let Some((_, list)) = attribute.meta().and_then(|it| it.as_simple_call()) else { return };
    let mut known = BTreeSet::new();
    for argument in arguments(&list) {
        let [name, equals, value] = &argument[..] else {
            return add(attribute.syntax(), Code::E0539, "malformed `deprecated` attribute input");
        };
        let is_known = matches!(name.as_str(), "note" | "since" | "suggestion");
        if !is_known || equals != "=" || !value.starts_with(['"', 'r']) {
            return add(attribute.syntax(), Code::E0539, "malformed `deprecated` attribute input");
        }
        if !known.insert(name.clone()) {
            return add(attribute.syntax(), Code::E0538, "malformed `deprecated` attribute input");
        }
    }
}

/// Lints with an argument, and those of a tool that does not exist.
fn lints(name: &str, attribute: &ast::Attr, add: &mut Add<'_>) {
    const TOOLS: [&str; 6] = ["clippy", "diagnostic", "miri", "rust_analyzer", "rustdoc", "rustfmt"];
    let Some((_, list)) = attribute.meta().and_then(|it| it.as_simple_call()) else { return };
    for argument in arguments(&list).iter().filter(|it| it[0] != "reason") {
        let said = argument.concat();
        let tool = said.split_once("::").map(|it| it.0).filter(|it| *it != "rustc");
        if said.contains(['=', '"', '(']) {
            return add(attribute.syntax(), Code::E0452, &format!("malformed `{name}` attribute input"));
        } else if let Some(tool) = tool.filter(|it| !TOOLS.contains(it)) {
            let message = format!("unknown tool name `{tool}` found in scoped lint: `{said}`");
            return add(attribute.syntax(), Code::E0710, &message);
        }
    }
}

fn track_caller(item: &ast::Item, attribute: &ast::Attr, add: &mut Add<'_>) {
    match item {
        ast::Item::Fn(it) => {
            let convention = it.abi().and_then(|it| it.abi_string()).and_then(|it| Some(it.value().ok()?.into_owned()));
            if it.abi().is_some() && convention.as_deref() != Some("Rust") {
                add(attribute.syntax(), Code::E0737, "`#[track_caller]` requires Rust ABI");
            }
        }
        _ => add(attribute.syntax(), Code::Uncoded, "`#[track_caller]` can only be used on functions"),
    }
}

/// The attributes of a type's fields and variants that are neither of the language nor of its derives.
fn unread(cx: &Context<'_>, of: &ast::Adt, add: &mut Add<'_>) {
    let derives = of.attrs().flat_map(|it| it.skip_cfg_attrs()).filter_map(|it| cx.sema.resolve_derive_macro(&it));
    if !derives.flatten().all(|it| it.is_some()) {
        return;
    }
    let helpers = cx.sema.derive_helpers_in_scope(of).unwrap_or_default();
    let is_helper = |name: &str| helpers.iter().any(|it| it.0.as_str() == name);
    let is_part =
        |it: &SyntaxNode| matches!(it.kind(), SyntaxKind::RECORD_FIELD | SyntaxKind::TUPLE_FIELD | SyntaxKind::VARIANT);
    for part in of.syntax().descendants().filter(is_part) {
        // What is under a condition may be off, as the derive that reads it.
        for meta in part.children().filter_map(ast::Attr::cast).filter_map(|it| it.meta()) {
            let Some(name) = meta.simple_name().filter(|it| !is_builtin(it) && !is_helper(it)) else { continue };
            if is_unknown_attribute(cx, &meta) {
                add(meta.syntax(), Code::Uncoded, &format!("cannot find attribute `{name}` in this scope"));
            }
        }
    }
}

fn is_unknown_attribute(cx: &Context<'_>, meta: &ast::Meta) -> bool {
    let path = meta.syntax().children().find_map(ast::Path::cast);
    cx.environment.lacks().is_empty() && path.is_some_and(|it| cx.sema.resolve_path(&it).is_none())
}

fn has_string(meta: &ast::Meta) -> bool {
    let mut tokens = meta.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
    tokens.any(|it| it.kind() == SyntaxKind::STRING)
}

/// Whether the list of a derive has paths, with a comma between them.
fn lists_paths(meta: &ast::Meta) -> bool {
    let Some(list) = meta.syntax().children().find_map(ast::TokenTree::cast) else { return false };
    let inner = list.syntax().children_with_tokens();
    let parts = inner.filter(|it| !matches!(it.kind(), T!['('] | T![')']) && !it.kind().is_trivia());
    // What may come next: a path, its next segment, or a separator.
    let (mut is_path_next, mut was_name, mut was_comma) = (true, false, true);
    for part in parts {
        let NodeOrToken::Token(part) = part else { return false };
        match part.kind() {
            // A path's colons may be two tokens.
            T![::] | T![:] => is_path_next = true,
            T![,] if !was_comma => is_path_next = true,
            T![,] => return false,
            it if (it == SyntaxKind::IDENT || it.is_any_identifier() || it.is_keyword(Edition::CURRENT))
                && is_path_next =>
            {
                is_path_next = false;
            }
            _ => return false,
        }
        was_comma = part.kind() == T![,];
        was_name = !matches!(part.kind(), T![::] | T![:] | T![,]);
    }
    was_name || was_comma
}

/// A test that the harness cannot call. Another attribute may change the function before.
fn test(cx: &Context<'_>, item: &ast::Item, attribute: &ast::Attr, add: &mut Add<'_>) {
    let of_user = |it: &ast::Attr| !it.simple_name().is_some_and(|it| is_builtin(&it));
    let path = attribute.meta().and_then(|it| it.syntax().children().find_map(ast::Path::cast));
    let meant = path.and_then(|it| cx.sema.resolve_path(&it));
    let is_imported = match meant {
        Some(PathResolution::Def(ModuleDef::Macro(it))) => !it.module(cx.db).krate(cx.db).origin(cx.db).is_lang(),
        Some(_) => true,
        None => false,
    };
    if is_imported || item.attrs().any(|it| of_user(&it)) {
        return;
    }
    let mut add = |at: &SyntaxNode, message: &str| add(at, Code::Uncoded, message);
    let is_member = item.syntax().parent().is_some_and(|it| ast::AssocItemList::can_cast(it.kind()));
    let function = match item {
        ast::Item::Fn(it) if !is_member => it,
        _ => return add(attribute.syntax(), "the `#[test]` attribute may only be used on a free function"),
    };
    let name = function.name().map_or_else(|| item.syntax().clone(), |it| it.syntax().clone());
    if function.async_token().is_some() {
        add(&name, "async functions cannot be used for tests");
    } else if function.param_list().is_some_and(|it| it.params().next().is_some()) {
        add(&name, "functions used as tests can not have any arguments");
    } else if let Some(it) = entry_points::unfit_result(cx, function) {
        add(it.syntax(), &format!("the trait bound `{}: Termination` is not satisfied", it.syntax().text()));
    }
}

/// The marks of an enum's default variant.
fn defaults(item: &ast::Enum, add: &mut Add<'_>) {
    let names: Vec<String> = item.attrs().filter_map(|it| it.meta()).flat_map(|it| derives_in(&it)).collect();
    let is_conditional = item.attrs().any(|it| matches!(it.meta(), Some(ast::Meta::CfgAttrMeta(_))));
    let mark = |it: &ast::Variant| it.attrs().find(|it| it.simple_name().is_some_and(|it| it == "default"));
    let variants = item.variant_list().into_iter().flat_map(|it| it.variants());
    let marked: Vec<(ast::Variant, ast::Attr)> = variants.filter_map(|it| Some((it.clone(), mark(&it)?))).collect();
    if is_conditional || marked.is_empty() {
        return;
    }
    let has_only_known = names.iter().all(|it| OF_THE_COMPILER.contains(&it.as_str()));
    if !names.iter().any(|it| it == "Default") {
        // Other derives may read it, and an attribute macro may add one.
        let is_as_written = item.attrs().all(|it| it.simple_name().is_some_and(|it| is_builtin(&it) || it == "derive"));
        for (_, it) in marked.iter().filter(|_| has_only_known && is_as_written) {
            add(it.syntax(), Code::Uncoded, "cannot find attribute `default` in this scope");
        }
        return;
    }
    let is_default = |it: &ast::Attr| it.meta().is_some_and(|it| derives_in(&it).iter().any(|it| it == "Default"));
    match &marked[..] {
        [(variant, _)] => {
            if let Some(name) = variant.name().filter(|_| variant.field_list().is_some()) {
                let message = "the `#[default]` attribute may only be used on unit enum variants";
                add(name.syntax(), Code::Uncoded, message);
            }
        }
        _ => {
            let derive = item.attrs().find(is_default);
            derive.into_iter().for_each(|it| add(it.syntax(), Code::Uncoded, "multiple declared defaults"));
        }
    }
}
