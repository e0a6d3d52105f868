//! What the compiler accepts only with an unstable feature (E0658) or in a later edition: items of the standard library
//! and syntax.

use ra_ap_hir::{
    AsAssocItem as _, AssocItemContainer, Function, HasAttrs as _, InFile, ModuleDef, PathResolution, Trait,
};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxNode, SyntaxToken, ast};

use super::{places, report, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The latest compiler whose gates of syntax are listed here: a later one may accept more.
const LISTED: (u64, u64) = (1, 95);

pub(crate) fn let_chains(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let is_and = |it: &SyntaxNode| {
        let operator = ast::BinExpr::cast(it.clone()).and_then(|it| it.op_kind());
        matches!(operator, Some(ast::BinaryOp::LogicOp(ast::LogicOp::And)))
    };
    if !ast::LetExpr::can_cast(node.kind()) || !node.parent().is_some_and(|it| is_and(&it)) {
        return;
    }
    let around = node.ancestors().skip(1).find(|it| !is_and(it));
    let is_condition = around.is_some_and(|it| ast::IfExpr::can_cast(it.kind()) || ast::WhileExpr::can_cast(it.kind()));
    let krate = cx.sema.scope(node).map(|it| it.krate()).filter(|_| is_condition);
    if krate.is_some_and(|it| !it.edition(cx.db).at_least_2024()) {
        let message = "let chains are only allowed in Rust 2024 or later".to_owned();
        out.push(report::raw_diagnostic(cx, node, Code::Uncoded, message));
    }
}

/// An attribute of a crate that enables unstable features, which only a nightly compiler accepts.
pub(crate) fn features(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(attribute) = ast::Attr::cast(node.clone()).filter(|it| it.kind().is_inner()) else { return };
    if attribute.simple_name().is_none_or(|it| it != "feature") || std::env::var_os("RUSTC_BOOTSTRAP").is_some() {
        return;
    }
    let root = node.parent().filter(|it| ast::SourceFile::can_cast(it.kind()));
    let Some(scope) = root.and_then(|it| cx.sema.scope(&it)) else { return };
    let toolchain = scope.krate().base().workspace_data(cx.db).toolchain.clone();
    if scope.module().is_crate_root(cx.db) && toolchain.is_some_and(|it| it.pre.is_empty()) {
        let message = "`#![feature]` may not be used on the stable release channel".to_owned();
        out.push(report::raw_diagnostic(cx, node, Code::E0554, message));
    }
}

pub(crate) fn gated_syntax(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some((at, features, what)) = gate(node) else { return };
    let Some(krate) = cx.sema.scope(node).map(|it| it.krate()) else { return };
    let toolchain = krate.base().workspace_data(cx.db).toolchain.clone();
    let is_listed = toolchain.is_some_and(|it| (it.major, it.minor) <= LISTED);
    if is_listed && !features.iter().any(|it| written::enables(cx, node, it)) {
        let range = InFile::new(cx.sema.hir_file_for(node), at.text_range());
        let message = format!("{what} needs the unstable feature `{}`", features[0]);
        out.push(RawDiagnostic::new(places::reported_at(cx, range), Code::E0658, message));
    }
}

/// The token at which the compiler reports syntax, the features that allow it, and its name.
fn gate(node: &SyntaxNode) -> Option<(SyntaxToken, &'static [&'static str], &'static str)> {
    let first = || first_of(node);
    if ast::NeverType::can_cast(node.kind()) {
        let result = node.parent().filter(|it| ast::RetType::can_cast(it.kind())).and_then(|it| it.parent());
        let is_result = result.is_some_and(|it| {
            let kind = it.kind();
            ast::Fn::can_cast(kind) || ast::FnPtrType::can_cast(kind) || ast::ClosureExpr::can_cast(kind)
        });
        return (!is_result).then(first)?.map(|it| (it, &["never_type"][..], "the type `!`"));
    }
    if ast::BoxPat::can_cast(node.kind()) {
        return Some((first()?, &["box_patterns"], "a box pattern"));
    }
    if let Some(it) = ast::BlockExpr::cast(node.clone()) {
        let modifier = it.try_block_modifier()?;
        return Some((first_of(modifier.syntax())?, &["try_blocks"], "a `try` block"));
    }
    if let Some(it) = ast::ClosureExpr::cast(node.clone()) {
        return match it.const_token() {
            Some(it) => Some((it, &["const_closures"], "a `const` closure")),
            None => {
                Some((first_of(it.for_binder()?.syntax())?, &["closure_lifetime_binder"], "`for<..>` of a closure"))
            }
        };
    }
    if ast::YeetExpr::can_cast(node.kind()) {
        return Some((first()?, &["yeet_expr"], "`do yeet`"));
    }
    if ast::BecomeExpr::can_cast(node.kind()) {
        return Some((first()?, &["explicit_tail_calls"], "`become`"));
    }
    if ast::MacroDef::can_cast(node.kind()) {
        return Some((first()?, &["decl_macro"], "`macro`"));
    }
    if let Some(it) = ast::Trait::cast(node.clone()) {
        if it.auto_token().is_some() {
            return Some((first()?, &["auto_traits"], "an auto trait"));
        }
        return it.eq_token().and_then(|_| Some((first()?, &["trait_alias"][..], "a trait alias")));
    }
    if let Some(it) = ast::Impl::cast(node.clone()) {
        if let Some(it) = it.excl_token() {
            return Some((it, &["negative_impls"], "a negative implementation"));
        }
        return it.default_token().map(|it| (it, &["specialization"][..], "a default implementation"));
    }
    if let Some(it) = ast::TypeAlias::cast(node.clone()) {
        let (list, ty) = (node.parent()?, it.ty()?);
        let around = list.parent();
        if ast::ItemList::can_cast(list.kind()) || ast::SourceFile::can_cast(list.kind()) {
            let opaque = opaque_in(ty.syntax())?;
            return Some((opaque, &["type_alias_impl_trait"], "`impl Trait` in a type alias"));
        }
        if around.as_ref().is_some_and(|it| ast::Trait::can_cast(it.kind())) {
            return Some((first()?, &["associated_type_defaults"], "a default of an associated type"));
        }
        let block = ast::Impl::cast(around?)?;
        if block.trait_().is_none() {
            return Some((first()?, &["inherent_associated_types"], "an associated type without a trait"));
        }
        let opaque = opaque_in(ty.syntax())?;
        return Some((opaque, &["impl_trait_in_assoc_type"], "`impl Trait` in an associated type"));
    }
    if let Some(it) = ast::RecordField::cast(node.clone()) {
        return it.eq_token().map(|it| (it, &["default_field_values"][..], "a default value of a field"));
    }
    None
}

fn opaque_in(ty: &SyntaxNode) -> Option<SyntaxToken> {
    first_of(&ty.descendants().find(|it| ast::ImplTraitType::can_cast(it.kind()))?)
}

/// The first token after attributes and comments.
fn first_of(node: &SyntaxNode) -> Option<SyntaxToken> {
    let mut parts = node.children_with_tokens().filter(|it| match it {
        NodeOrToken::Node(it) => !ast::Attr::can_cast(it.kind()),
        NodeOrToken::Token(it) => !it.kind().is_trivia(),
    });
    match parts.next()? {
        NodeOrToken::Node(it) => it.first_token(),
        NodeOrToken::Token(it) => Some(it),
    }
}

/// Methods and paths of the standard library that are unstable.
pub(crate) fn unstable_items(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let is_named = ast::MethodCallExpr::can_cast(node.kind()) || ast::Path::can_cast(node.kind());
    if !is_named || !written::is_written(cx, node) {
        return;
    }
    let found = match ast::MethodCallExpr::cast(node.clone()) {
        Some(it) => unstable_method(cx, &it),
        None => ast::Path::cast(node.clone()).and_then(|it| unstable_path(cx, &it)),
    };
    if let Some((at, feature)) = found.filter(|_| !written::is_left_out(cx, node)) {
        let message = format!("use of unstable library feature `{feature}`");
        out.push(report::raw_diagnostic(cx, &at, Code::E0658, message));
    }
}

fn unstable_method(cx: &Context<'_>, call: &ast::MethodCallExpr) -> Option<(SyntaxNode, String)> {
    let function = cx.sema.resolve_method_call(call)?;
    let feature = feature_of_function(cx, function)?;
    if written::enables(cx, call.syntax(), &feature) {
        return None;
    }
    // The compiler prefers a stable method of this name.
    let scope = cx.sema.scope(call.syntax())?;
    let name = function.name(cx.db);
    let receiver = cx.sema.type_of_expr(&call.receiver()?)?.original;
    let is_other = |it: Function| (it != function && feature_of_function(cx, it).is_none()).then_some(());
    let has_other = receiver.iterate_method_candidates(cx.db, &scope, Some(&name), is_other).is_some();
    let is_of_other_trait = |it: Trait| {
        let own = it.items(cx.db).into_iter().filter_map(|it| it.as_function());
        own.filter(|it| it.name(cx.db) == name).any(|it| feature_of_function(cx, it).is_none())
    };
    let is_ambiguous = scope.visible_traits().0.iter().any(|it| is_of_other_trait((*it).into()));
    (!has_other && !is_ambiguous).then(|| Some((call.name_ref()?.syntax().clone(), feature)))?
}

/// The feature that a function of the standard library needs. Those of an implementation need the feature of the trait's.
fn feature_of_function(cx: &Context<'_>, function: Function) -> Option<String> {
    if !written::is_of_std(cx, function) {
        return None;
    }
    let own = function.attrs(cx.db);
    if own.is_unstable() {
        return own.unstable_feature(cx.db).map(|it| it.as_str().to_owned());
    }
    let Some(AssocItemContainer::Impl(block)) = function.as_assoc_item(cx.db).map(|it| it.container(cx.db)) else {
        return None;
    };
    let declared = block.trait_(cx.db)?.function(cx.db, function.name(cx.db))?;
    let attributes = declared.attrs(cx.db);
    attributes.unstable_feature(cx.db).filter(|_| attributes.is_unstable()).map(|it| it.as_str().to_owned())
}

fn unstable_path(cx: &Context<'_>, path: &ast::Path) -> Option<(SyntaxNode, String)> {
    let name = path.segment()?.name_ref()?;
    // Such a name is a variable, or an import of it is reported.
    if path.qualifier().is_none() && !name.text().starts_with(char::is_uppercase) {
        return None;
    }
    let PathResolution::Def(def) = cx.sema.resolve_path(path)? else { return None };
    if matches!(def, ModuleDef::Module(_) | ModuleDef::BuiltinType(_) | ModuleDef::Macro(_)) {
        return None;
    }
    if let ModuleDef::Function(it) = def {
        let feature = feature_of_function(cx, it).filter(|it| !written::enables(cx, path.syntax(), it))?;
        return Some((path.syntax().clone(), feature));
    }
    let attributes = def.module(cx.db).filter(|it| written::is_of_std(cx, *it)).map(|_| def.attrs(cx.db))?;
    let feature = attributes.unstable_feature(cx.db).filter(|_| attributes.is_unstable())?.as_str().to_owned();
    (!written::enables(cx, name.syntax(), &feature)).then(|| (path.syntax().clone(), feature))
}
