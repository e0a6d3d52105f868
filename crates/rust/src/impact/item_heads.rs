//! Errors that an edit writes into the heads of items. rust-analyzer does not report these: generics that do not fit,
//! derives that fields do not support, and forbidden blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::{Adt, Impl, ModuleDef, PathResolution, Semantics, Trait, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, SyntaxKind, SyntaxNode, ast};

use super::delta::Delta;
use super::findings::Findings;
use super::scope_changes::ScopeChanges;
use super::{conflicts, generics, helper_attributes, unused};
use crate::checks::closed::Closed;
use crate::checks::recursive_types::{Contents, recursive_types};
use crate::checks::{
    ambiguous_globs, bound_twice, malformed_expressions, malformed_items, misused_paths, object_types, report,
    undeclared_lifetimes,
};
use crate::finding::code::Code;
use crate::finding::{RawDiagnostic, RuleId};
use crate::resolve::at;
use crate::syntax::attributes::is_conditional;
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, Place, SymbolKind};
use semdex_text::words::words;

/// Derives, and the supertraits of their traits.
const NEEDED: [(&str, &str); 5] =
    [("Eq", "PartialEq"), ("PartialOrd", "PartialEq"), ("Ord", "Eq"), ("Ord", "PartialOrd"), ("Copy", "Clone")];

pub(crate) fn unfit_heads(
    cx: &Context<'_>,
    file: &Arc<File>,
    deltas: &[&Delta<'_>],
    scope_changes: &ScopeChanges,
    out: &mut Findings<'_>,
) {
    let Some(id) = cx.file_id(&file.path) else { return };
    // A block without a trait is not a declaration.
    for at in scope_changes.heads() {
        let block = positions::token(&cx.sema, id, at).and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let Some(block) = block.filter(|it| it.trait_().is_none()) else { continue };
        let chain = file.outline().enclosing(block.syntax().text_range().start().into());
        let item = chain.last().filter(|it| it.kind == SymbolKind::Impl);
        if let Some((_, of)) = item.zip(cx.sema.to_def(&block)) {
            unfit_block(cx, &block, of, out);
            unfit_head(cx, block.syntax(), out);
        }
    }
    for item in deltas.iter().filter(|it| it.kind != ChangeKind::Body).filter_map(|it| it.after) {
        let Some(token) = positions::token(&cx.sema, id, item.name_span.start) else { continue };
        if item.kind == SymbolKind::Impl {
            let Some(block) = token.parent_ancestors().find_map(ast::Impl::cast) else { continue };
            // What `cfg` switches off has no definition.
            let Some(of) = cx.sema.to_def(&block) else { continue };
            unfit_block(cx, &block, of, out);
        }
        let Some(node) = token.parent_ancestors().find(is_whole) else { continue };
        if item.kind != SymbolKind::Impl && at::definition_at(&cx.sema, id, item.name_span.start).is_none() {
            continue;
        }
        unfit_head(cx, &node, out);
        if let Some(adt) = node.ancestors().find_map(ast::Adt::cast) {
            unfit_derives(cx, &adt, out);
            if let Some(adt) = cx.sema.to_def(&adt) {
                conflicts::conflicting_derives(cx, adt).into_iter().for_each(|it| out.add(it));
            }
        }
    }
}

pub(super) fn unfit_head(cx: &Context<'_>, node: &SyntaxNode, out: &mut Findings<'_>) {
    for ty in head_of(node).into_iter().filter_map(ast::PathType::cast) {
        let token = ty.path().and_then(|it| it.segment()?.name_ref()?.ident_token());
        let unfit = token.and_then(|it| generics::unfit_generic(cx, &it, true));
        // The compiler does not check the bounds in an alias where it is declared.
        let is_alias = ast::TypeAlias::can_cast(node.kind());
        unfit.filter(|it| !is_alias || it.code != Code::E0277).into_iter().for_each(|it| out.add(it));
    }
    if let Some(again) = ast::AnyHasGenericParams::cast(node.clone()).and_then(|it| bound_twice::parameter_twice(&it)) {
        let message = format!("the name `{}` is already used for a generic parameter", again.syntax().text());
        add_at(cx, again.syntax(), Code::E0403, message, out);
    }
    let Some(list) = ast::Fn::cast(node.clone()).and_then(|it| it.param_list()) else { return };
    let params = list.params().filter(|it| !is_conditional(it.syntax()));
    let names = params.filter_map(|it| it.pat()).flat_map(|it| it.syntax().descendants().collect::<Vec<_>>());
    let mut known = BTreeSet::new();
    for name in names.filter_map(ast::IdentPat::cast).filter_map(|it| it.name()) {
        if !known.insert(name.text().to_string()) {
            let message = format!("`{}` is bound more than once in this parameter list", name.text());
            add_at(cx, name.syntax(), Code::E0415, message, out);
        }
    }
}

/// Derives for which the type of a field does not implement the required trait. The derive itself adds bounds to the
/// parameters.
pub(super) fn unfit_derives<'db>(cx: &Context<'db>, adt: &ast::Adt, out: &mut Findings<'_>) {
    let Some(own_name) = adt.name() else { return };
    let derived_macros = helper_attributes::derives_of(&cx.sema, adt);
    let known = derived_macros.iter().filter(|it| it.1);
    let names: BTreeSet<&str> = known.map(|it| it.0.as_str()).collect();
    let generics = adt.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let generics: Vec<String> = generics.filter_map(|it| Some(it.name()?.text().to_string())).collect();
    let names_one = |it: &ast::Type| {
        let names = it.syntax().descendants().filter_map(ast::NameRef::cast);
        let is_one = |it: &str| generics.iter().any(|of| it == of) || it == "Self" && !generics.is_empty();
        names.into_iter().any(|it| is_one(it.text()))
    };
    // It is neither copied nor cloned, whatever it refers to.
    let is_exclusive = |it: &ast::Type| matches!(it, ast::Type::RefType(it) if it.mut_token().is_some());
    let fields = adt.syntax().descendants().filter_map(|it| match ast::RecordField::cast(it.clone()) {
        Some(it) => Some((it.ty()?, cx.sema.to_def(&it)?)),
        None => ast::TupleField::cast(it).and_then(|it| Some((it.ty()?, cx.sema.to_def(&it)?))),
    });
    let fields: Vec<(ast::Type, Type<'db>)> = fields
        .filter(|it| !names_one(&it.0) || is_exclusive(&it.0))
        .map(|(ty, field)| (ty, field.ty(cx.db)))
        .filter(|it| !it.1.contains_unknown())
        .collect();
    for name in names {
        let Some(of) = derived_trait(&cx.sema, name, adt) else { continue };
        let is_judged = |ty: &ast::Type| matches!(name, "Clone" | "Copy") || !names_one(ty);
        let lacks = |ty: &Type<'db>| match name {
            "PartialEq" | "PartialOrd" => !ty.impls_trait(cx.db, of, std::slice::from_ref(ty)),
            _ => !ty.impls_trait(cx.db, of, &[]),
        };
        // The default of an enum is one of its variants without fields.
        let needs = name != "Default" || !matches!(adt, ast::Adt::Enum(_));
        for (ty, _) in fields.iter().filter(|it| needs && is_judged(&it.0) && lacks(&it.1)) {
            let written = ty.syntax().text();
            match name {
                "Copy" => {
                    let message = "the trait `Copy` cannot be implemented: a field is not `Copy`".to_owned();
                    add_at(cx, own_name.syntax(), Code::E0204, message, out);
                }
                "PartialEq" => {
                    add_at(cx, ty.syntax(), Code::E0369, format!("`==` cannot be applied to type `{written}`"), out);
                }
                _ => {
                    let message = format!("`{written}` does not implement `{name}`");
                    add_at(cx, ty.syntax(), Code::E0277, message, out);
                }
            }
            if matches!(name, "Copy" | "Debug") {
                break;
            }
        }
    }
    let Some(own) = cx.sema.to_def(adt) else { return };
    let is_there = |name: &str| derived_macros.iter().any(|it| it.0 == name);
    let is_implemented = |name: &str| {
        let mut of_type = Impl::all_for_type(cx.db, own.ty(cx.db)).into_iter().filter_map(|it| it.trait_(cx.db));
        of_type.any(|it| it.name(cx.db).as_str() == name)
    };
    for (name, needed) in NEEDED {
        if is_there(name) && !is_there(needed) && !is_implemented(needed) {
            let message = format!("`{}` does not implement `{needed}`, which `{name}` needs", own_name.text());
            add_at(cx, own_name.syntax(), Code::E0277, message, out);
            break;
        }
    }
}

/// The standard library's trait with the name of a derive.
fn derived_trait(sema: &Semantics<'_, RootDatabase>, name: &str, adt: &ast::Adt) -> Option<Trait> {
    let path = match name {
        "Clone" => "core::clone::Clone",
        "Copy" => "core::marker::Copy",
        "Debug" => "core::fmt::Debug",
        "Default" => "core::default::Default",
        "PartialEq" => "core::cmp::PartialEq",
        "Eq" => "core::cmp::Eq",
        "PartialOrd" => "core::cmp::PartialOrd",
        "Ord" => "core::cmp::Ord",
        "Hash" => "core::hash::Hash",
        _ => return None,
    };
    let scope = sema.scope(adt.syntax())?;
    let tree = SourceFile::parse(&format!("use ::{path};"), Edition::CURRENT).tree();
    let path = tree.syntax().descendants().find_map(ast::Path::cast)?;
    match scope.speculative_resolve(&path)? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    }
}

/// The errors of a new block.
pub(super) fn unfit_block(cx: &Context<'_>, block: &ast::Impl, of: Impl, out: &mut Findings<'_>) {
    let Some(own) = block.self_ty() else { return };
    let header = block.trait_();
    let at = |node: &SyntaxNode| -> Option<Place> { cx.place(report::reported_range(cx, node)) };
    let mut add = |node: &SyntaxNode, code: Code, message: String| {
        at(node).into_iter().for_each(|it| out.add(report::error(cx, it, code, message.clone())));
    };
    if let Some(ast::Type::PathType(path)) = &header {
        let meant = path.path().and_then(|it| cx.sema.resolve_path(&it));
        if let Some(PathResolution::Def(ModuleDef::Adt(_))) = meant {
            let message = format!("expected trait, found `{}`", path.syntax().text());
            return add(path.syntax(), Code::E0404, message);
        }
    }
    let ty = of.self_ty(cx.db);
    if ty.contains_unknown() {
        return;
    }
    match (&header, of.trait_(cx.db)) {
        (Some(header), Some(_)) if !of.check_orphan_rules(cx.db) => {
            add(header.syntax(), Code::E0117, "neither the trait nor the type is of this crate".to_owned());
        }
        (None, _) => {
            let krate = of.module(cx.db).krate(cx.db);
            let adt = ty.as_adt().map(|it: Adt| it.module(cx.db).krate(cx.db));
            if adt.is_some_and(|it| it != krate) {
                let message = "an `impl` without a trait has to be in the crate of its type".to_owned();
                add(own.syntax(), Code::E0116, message);
            }
        }
        _ => {}
    }
    let mut named = own.syntax().text().to_string();
    named.extend(header.iter().map(|it| format!(" {}", it.syntax().text())));
    // A projection in the where clause is recognized by its text.
    named.extend(block.where_clause().map(|it| format!(" {}", it.syntax().text())));
    let parameters = block.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    for parameter in parameters.filter_map(|it| match it {
        ast::TypeOrConstParam::Type(it) => Some(it),
        ast::TypeOrConstParam::Const(_) => None,
    }) {
        let Some(name) = parameter.name() else { continue };
        let bounds = block.generic_param_list().map(|it| it.syntax().text().to_string()).unwrap_or_default();
        let is_named =
            words(&named).any(|it| it.1 == name.text()) || words(&bounds).filter(|it| it.1 == name.text()).count() > 1;
        if !is_named {
            let message = format!("the type parameter `{}` is not constrained by the block", name.text());
            add(parameter.syntax(), Code::E0207, message);
        }
    }
    unconstrained_lifetimes(block, &mut add);
    conflicts::conflicting(cx, of).into_iter().for_each(|it| out.add(it));
}

/// Lifetimes of a block that only its associated types mention.
fn unconstrained_lifetimes(block: &ast::Impl, add: &mut dyn FnMut(&SyntaxNode, Code, String)) {
    let Some(members) = block.assoc_item_list() else { return };
    let Some(parameters) = block.generic_param_list() else { return };
    for parameter in parameters.lifetime_params().filter_map(|it| it.lifetime()) {
        let name = parameter.text().to_string();
        let mentioned = |within: &SyntaxNode| {
            let tokens = within.descendants_with_tokens().filter_map(|it| it.into_token());
            tokens.filter(|it| it.kind() == SyntaxKind::LIFETIME_IDENT && it.text() == name).count()
        };
        let mut types = members.assoc_items().filter(|it| matches!(it, ast::AssocItem::TypeAlias(_)));
        // Once where it is declared.
        let is_in_members_alone = mentioned(block.syntax()) == mentioned(members.syntax()) + 1;
        if is_in_members_alone && types.any(|it| mentioned(it.syntax()) > 0) {
            let message = format!("the lifetime parameter `{name}` is not constrained by the block");
            add(parameter.syntax(), Code::E0207, message);
        }
    }
}

fn add_at(cx: &Context<'_>, node: &SyntaxNode, code: Code, message: String, out: &mut Findings<'_>) {
    let place = cx.place(report::reported_range(cx, node));
    place.into_iter().for_each(|it| out.add(report::error(cx, it, code, message.clone())));
}

pub(crate) fn is_whole(node: &SyntaxNode) -> bool {
    ast::Item::can_cast(node.kind())
        || ast::RecordField::can_cast(node.kind())
        || ast::TupleField::can_cast(node.kind())
        || ast::Variant::can_cast(node.kind())
}

/// The nodes of an item's head, or the whole item if it has no body.
pub(crate) fn head_of(node: &SyntaxNode) -> Vec<SyntaxNode> {
    let mut found = Vec::new();
    let mut next: Vec<SyntaxNode> = node.children().collect();
    while let Some(it) = next.pop() {
        let is_body = ast::BlockExpr::can_cast(it.kind())
            || ast::AssocItemList::can_cast(it.kind())
            || ast::ItemList::can_cast(it.kind())
            || ast::Attr::can_cast(it.kind())
            || ast::Expr::can_cast(it.kind());
        if !is_body {
            next.extend(it.children());
            found.push(it);
        }
    }
    found
}

/// The errors in the head of an item or of a part of one, which may be in an expansion. `is_final`: no attribute macro
/// replaces it.
pub(super) fn errors_of_item(
    cx: &Context<'_>,
    node: &SyntaxNode,
    adt: Option<Adt>,
    is_final: bool,
    contents: &mut Contents,
    found: &mut Vec<RawDiagnostic>,
) {
    let mut add = |rule: RuleId, errors: Vec<RawDiagnostic>| {
        found.extend(errors.into_iter().map(|it| RawDiagnostic { rule, ..it }));
    };
    let head = head_of(node);
    let (mut of_objects, mut of_paths, mut of_globs, mut of_form) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut of_types = Vec::new();
    for it in &head {
        object_types::missing_types(cx, it, &mut of_objects);
        misused_paths::misused_paths(cx, it, &mut of_paths);
        ambiguous_globs::ambiguous_path(cx, it, &mut of_globs);
        malformed_expressions::malformed_node(cx, it, &mut of_types);
    }
    if is_final {
        malformed_items::malformed(cx, node, &head, &mut of_form);
    }
    add(RuleId::ObjectTypes, of_objects);
    add(RuleId::MisusedPaths, of_paths);
    add(RuleId::AmbiguousGlobs, of_globs);
    add(RuleId::MalformedExpressions, of_types);
    add(RuleId::MalformedItems, of_form);
    let mut of_lifetimes = Vec::new();
    undeclared_lifetimes::undeclared_lifetimes(cx, node, &mut of_lifetimes);
    add(RuleId::UndeclaredLifetimes, of_lifetimes);
    let Some(adt) = adt else { return };
    let mut errors = Vec::new();
    recursive_types(cx, adt, contents, &mut errors);
    add(RuleId::RecursiveTypes, errors);
    add(RuleId::UnmentionedParameters, unmentioned_parameters(cx, adt, node));
}

/// The parameters of a type that no field mentions.
fn unmentioned_parameters(cx: &Context<'_>, of: Adt, node: &SyntaxNode) -> Vec<RawDiagnostic> {
    let Some(source) = ast::Adt::cast(node.clone()) else { return Vec::new() };
    let fields = unused::fields(&cx.sema, &source);
    let all = match of {
        Adt::Struct(it) => it.fields(cx.db).len(),
        Adt::Union(it) => it.fields(cx.db).len(),
        Adt::Enum(it) => it.variants(cx.db).iter().map(|it| it.fields(cx.db).len()).sum(),
    };
    let is_written = fields.len() == all && !node.descendants().any(|it| ast::MacroType::can_cast(it.kind()));
    let item = ast::Item::from(source.clone());
    if !is_written || cx.sema.to_def(&source) != Some(of) || !Closed::new(cx, "").has_known_attributes(&item) {
        return Vec::new();
    }
    let parameters = source.generic_param_list().into_iter().flat_map(|it| it.generic_params());
    let unmentioned = parameters.filter_map(|it| {
        let name = unused::name_of(&it)?;
        let is_mentioned = |field: &SyntaxNode| unused::mentions(field, &name).next().is_some();
        let is_used = fields.iter().any(is_mentioned) || unused::is_determined(&source, &name);
        let what = if name.starts_with('\'') { "lifetime" } else { "type" };
        let message = format!("{what} parameter `{name}` is never used");
        (!is_used).then(|| report::raw_diagnostic(cx, it.syntax(), Code::E0392, message))
    });
    unmentioned.collect()
}
