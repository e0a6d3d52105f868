//! Items that rust-analyzer's parser accepts and the compiler refuses by their form alone, or by the kind of type that
//! they are about.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_hir::{Adt, AssocItem, HasVisibility as _, ModuleDef, PathResolution, Type, Visibility};
use ra_ap_syntax::ast::{HasAttrs as _, HasGenericArgs as _, HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::report::Add;
use super::{bounds, editions, entry_points, exhaustive, generic_parameters, item_attributes, report, sized};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The calling conventions that the compiler knows, also those that are not stable.
const CONVENTIONS: [&str; 27] = [
    "C",
    "Rust",
    "aapcs",
    "avr-interrupt",
    "avr-non-blocking-interrupt",
    "cdecl",
    "cmse-nonsecure-call",
    "cmse-nonsecure-entry",
    "custom",
    "efiapi",
    "fastcall",
    "gpu-kernel",
    "msp430-interrupt",
    "ptx-kernel",
    "riscv-interrupt-m",
    "riscv-interrupt-s",
    "rust-call",
    "rust-cold",
    "rust-intrinsic",
    "rust-invalid",
    "rust-preserve-none",
    "stdcall",
    "system",
    "sysv64",
    "thiscall",
    "vectorcall",
    "win64",
];

/// For an item and the nodes of its head.
pub(crate) fn malformed(cx: &Context<'_>, item: &SyntaxNode, head: &[SyntaxNode], out: &mut Vec<RawDiagnostic>) {
    let mut add = |at: &SyntaxNode, code: Code, message: &str| {
        out.push(report::raw_diagnostic(cx, at, code, message.to_owned()));
    };
    item_attributes::malformed_attributes(cx, item, &mut add);
    visibility(item, &mut add);
    unknown_module(cx, item, &mut add);
    generic_parameters::malformed_generics(item, head, &mut add);
    // The compiler reports all of an item together.
    if let Some(it) =
        head.iter().filter(|it| it.kind() == SyntaxKind::INFER_TYPE).min_by_key(|it| it.text_range().start())
    {
        add(it, Code::E0121, "the placeholder `_` is not allowed within types on item signatures");
    }
    for node in head {
        nested_impl_trait(node, &mut add);
        argument_order(node, &mut add);
        unknown_capture(node, &mut add);
        if let Some(it) = ast::LifetimeParam::cast(node.clone()).and_then(|it| it.lifetime()) {
            match it.text() {
                "'static" => add(it.syntax(), Code::E0262, "invalid lifetime parameter name: `'static`"),
                "'_" => add(it.syntax(), Code::E0637, "`'_` cannot be used here"),
                _ => {}
            }
        }
        if let Some(it) = ast::Abi::cast(node.clone())
            && let Some(name) = it.abi_string().and_then(|it| it.value().ok().map(|it| it.into_owned()))
            && !CONVENTIONS.contains(&name.trim_end_matches("-unwind"))
        {
            add(it.syntax(), Code::E0703, &format!("invalid ABI: found `{name}`"));
        }
    }
    editions::safe_block(cx, item, &mut add);
    match ast::Item::cast(item.clone()) {
        Some(ast::Item::Fn(it)) => {
            function(&it, &mut add);
            foreign(&it, &mut add);
            receiver(cx, &it, &mut add);
            entry_points::unfit_main(cx, &it, &mut add);
            refutable_parameters(cx, &it, &mut add);
        }
        Some(ast::Item::Impl(it)) => {
            block(cx, &it, &mut add);
            made_again(cx, &it, &mut add);
        }
        Some(ast::Item::Enum(it)) => discriminants(&it, &mut add),
        Some(ast::Item::TypeAlias(it)) => {
            alias(&it, &mut add);
            if it.ty().is_none() {
                without_value(item, "type alias", "type", &mut add);
            }
            private_in_public(cx, &it, &mut add);
        }
        Some(ast::Item::Const(it)) if it.body().is_none() => without_value(item, "constant item", "constant", &mut add),
        Some(ast::Item::Static(it)) if it.body().is_none() => without_value(item, "static item", "static", &mut add),
        Some(ast::Item::Static(it)) => unshared(cx, &it, &mut add),
        Some(ast::Item::Struct(_) | ast::Item::Union(_)) => {
            let fields = head.iter().filter(|it| it.kind() == SyntaxKind::IMPL_TRAIT_TYPE);
            fields.for_each(|it| add(it, Code::E0562, "`impl Trait` is not allowed in field types"));
        }
        _ => {}
    }
    if let Some(ast::Item::Union(it)) = ast::Item::cast(item.clone()) {
        union_fields(cx, &it, &mut add);
    }
    if let Some(it) = ast::Adt::cast(item.clone()) {
        short_lived_fields(&it, head, &mut add);
        unsized_fields(cx, &it, &mut add);
    }
}

/// An item that ends where its value or type should follow. In a trait, and for a static in an `extern` block, it may.
fn without_value(item: &SyntaxNode, free: &str, member: &str, add: &mut Add<'_>) {
    let around = item.parent().map(|it| it.kind());
    let message = match around {
        Some(SyntaxKind::EXTERN_ITEM_LIST) => return,
        Some(SyntaxKind::ASSOC_ITEM_LIST) => {
            match item.parent().and_then(|it| it.parent()).is_some_and(|it| ast::Impl::can_cast(it.kind())) {
                true => format!("associated {member} in `impl` without body"),
                false => return,
            }
        }
        _ => format!("free {free} without body"),
    };
    add(item, Code::Uncoded, &message);
}

/// Parameters whose pattern does not take all values.
fn refutable_parameters(cx: &Context<'_>, item: &ast::Fn, add: &mut Add<'_>) {
    let list = item.param_list().filter(|_| item.body().is_some());
    let patterns = list.into_iter().flat_map(|it| it.params()).filter_map(|it| it.pat());
    for it in patterns.filter(|it| !matches!(it, ast::Pat::IdentPat(_))) {
        if exhaustive::is_refutable(cx, &it) {
            add(it.syntax(), Code::E0005, "refutable pattern in function argument");
        }
    }
}

/// A static whose type other threads may not use.
fn unshared(cx: &Context<'_>, item: &ast::Static, add: &mut Add<'_>) {
    let Some(written) = item.ty().filter(|_| item.mut_token().is_none()) else { return };
    // Each thread has its own.
    let is_of_thread = item.attrs().any(|it| it.simple_name().is_some_and(|it| it == "thread_local"));
    let ty = cx.sema.to_def(item).map(|it| it.ty(cx.db));
    let Some(ty) = ty.filter(|it| !it.contains_unknown() && !is_of_thread) else { return };
    let sync = bounds::trait_at(cx, item.syntax(), "::core::marker::Sync");
    if sync.is_some_and(|it| !ty.impls_trait(cx.db, it, &[])) {
        let message = format!("`{}` cannot be shared between threads safely", written.syntax().text());
        add(written.syntax(), Code::E0277, &message);
    }
}

/// Fields whose size is not known. The last one of a struct may be one.
fn unsized_fields(cx: &Context<'_>, item: &ast::Adt, add: &mut Add<'_>) {
    let fields = |it: ast::FieldList| -> Vec<ast::Type> {
        match it {
            ast::FieldList::RecordFieldList(it) => it.fields().filter_map(|it| it.ty()).collect(),
            ast::FieldList::TupleFieldList(it) => it.fields().filter_map(|it| it.ty()).collect(),
        }
    };
    let of_struct = |it: &ast::Struct| {
        let mut all = it.field_list().map(fields).unwrap_or_default();
        all.pop();
        all
    };
    let all = match item {
        ast::Adt::Struct(it) => of_struct(it),
        ast::Adt::Enum(it) => {
            let variants = it.variant_list().into_iter().flat_map(|it| it.variants());
            variants.filter_map(|it| it.field_list()).flat_map(fields).collect()
        }
        ast::Adt::Union(_) => return,
    };
    for written in all {
        let ty = cx.sema.resolve_type(&written);
        if ty.is_some_and(|it| sized::is_unsized(cx, written.syntax(), &it)) {
            let message =
                format!("the size of values of type `{}` cannot be known at compilation time", written.syntax().text());
            add(written.syntax(), Code::E0277, &message);
        }
    }
}

/// Fields of a union that would have to be dropped.
fn union_fields(cx: &Context<'_>, item: &ast::Union, add: &mut Add<'_>) {
    for field in item.record_field_list().into_iter().flat_map(|it| it.fields()) {
        let Some(written) = field.ty() else { continue };
        let Some(ty) = cx.sema.to_def(&field).map(|it| it.ty(cx.db)) else { continue };
        if is_dropped(cx, &ty) {
            let message = "field must implement `Copy` or be wrapped in `ManuallyDrop<...>` to be used in a union";
            add(written.syntax(), Code::E0740, message);
        }
    }
}

fn is_dropped(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    let is_manual =
        |it: Adt| it.name(cx.db).as_str() == "ManuallyDrop" && it.module(cx.db).krate(cx.db).is_builtin(cx.db);
    if ty.contains_unknown() || ty.is_copy(cx.db) || ty.is_reference() {
        return false;
    }
    if let Some((of, _)) = ty.as_array(cx.db) {
        return is_dropped(cx, &of);
    }
    match ty.as_adt() {
        Some(it) => !is_manual(it),
        None if ty.is_tuple() => ty.tuple_fields(cx.db).iter().any(|it| is_dropped(cx, it)),
        None => ty.as_type_param(cx.db).is_some(),
    }
}

/// `&'static T` in a field, for a parameter that may live shorter. Other lifetimes are implied by the field.
fn short_lived_fields(item: &ast::Adt, head: &[SyntaxNode], add: &mut Add<'_>) {
    let is_static = |it: &ast::Lifetime| it.text() == "'static";
    let bounded = |it: Option<ast::TypeBoundList>| it.is_some_and(|it| it.bounds().any(|it| it.ty().is_some()));
    let lasts = |it: Option<ast::TypeBoundList>| {
        it.is_some_and(|it| it.bounds().any(|it| it.lifetime().is_some_and(|it| is_static(&it))))
    };
    let conditions: Vec<ast::WherePred> = item.where_clause().into_iter().flat_map(|it| it.predicates()).collect();
    for parameter in item.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params()) {
        let ast::TypeOrConstParam::Type(parameter) = parameter else { continue };
        let Some(name) = parameter.name() else { continue };
        let of = conditions.iter().filter(|it| it.ty().is_some_and(|it| it.syntax().text() == *name.text()));
        let lists = || std::iter::once(parameter.type_bound_list()).chain(of.clone().map(|it| it.type_bound_list()));
        // A trait can have `'static` as a condition of its own.
        if lists().any(|it| lasts(it.clone()) || bounded(it)) {
            continue;
        }
        let is_too_short = |it: &ast::RefType| {
            let tokens = it.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
            it.lifetime().is_some_and(|it| is_static(&it)) && tokens.into_iter().any(|it| it.text() == name.text())
        };
        if let Some(it) = head.iter().cloned().filter_map(ast::RefType::cast).find(is_too_short) {
            let message = format!("the parameter type `{}` may not live long enough", name.text());
            add(it.syntax(), Code::E0310, &message);
        }
    }
}

/// An associated type that is private, in the implementation of a trait for a type that are both public.
fn private_in_public(cx: &Context<'_>, item: &ast::TypeAlias, add: &mut Add<'_>) {
    let list = item.syntax().parent().filter(|it| ast::AssocItemList::can_cast(it.kind()));
    let Some(block) = list.and_then(|it| it.parent()).and_then(ast::Impl::cast) else { return };
    let (Some(ty), Some(of)) = (item.ty(), cx.sema.to_def(&block)) else { return };
    let Some(implemented) = of.trait_ref(cx.db) else { return };
    let is_public = |it: Visibility| it == Visibility::Public;
    let private = |ty: &Type<'_>| {
        let mut found = None;
        ty.walk(cx.db, |it| {
            let adt = it.as_adt().filter(|it| !is_public(it.visibility(cx.db)));
            found = found.or(adt);
        });
        found
    };
    let arguments: Vec<Type<'_>> = (0..).map_while(|it| implemented.get_type_argument(it)).collect();
    if !is_public(implemented.trait_().visibility(cx.db)) || arguments.iter().any(|it| private(it).is_some()) {
        return;
    }
    let Some(meant) = cx.sema.resolve_type(&ty) else { return };
    if let Some(it) = private(&meant) {
        let message = format!("private type `{}` in public interface", it.name(cx.db).as_str());
        add(item.syntax(), Code::E0446, &message);
    }
}

/// A visibility on what has that of the type or trait around it.
fn visibility(item: &SyntaxNode, add: &mut Add<'_>) {
    let Some(written) = item.children().find_map(ast::Visibility::cast) else { return };
    let list = item.parent().filter(|it| ast::AssocItemList::can_cast(it.kind())).and_then(|it| it.parent());
    let is_of_trait = list.is_some_and(|it| match ast::Impl::cast(it.clone()) {
        Some(block) => block.trait_().is_some(),
        None => ast::Trait::can_cast(it.kind()),
    });
    if is_of_trait || ast::Impl::can_cast(item.kind()) || ast::Variant::can_cast(item.kind()) {
        add(written.syntax(), Code::E0449, "visibility qualifiers are not permitted here");
    }
}

/// `impl Into<impl Copy>`.
fn nested_impl_trait(node: &SyntaxNode, add: &mut Add<'_>) {
    let Some(outer) = ast::ImplTraitType::cast(node.clone()) else { return };
    let inner = outer.syntax().descendants().skip(1).filter(|it| ast::ImplTraitType::can_cast(it.kind()));
    let is_argument = |it: &SyntaxNode| {
        let between = it.ancestors().skip(1).take_while(|it| it != outer.syntax());
        let mut between = between.map(|it| it.kind());
        // A nested one has its own turn.
        !between.any(|it| matches!(it, SyntaxKind::ASSOC_TYPE_ARG | SyntaxKind::IMPL_TRAIT_TYPE))
    };
    for it in inner.filter(is_argument) {
        let is_callback = it.ancestors().any(|it| it.kind() == SyntaxKind::PARENTHESIZED_ARG_LIST);
        match is_callback {
            true => add(&it, Code::E0562, "`impl Trait` is not allowed in the parameters of `Fn` trait bounds"),
            false => add(&it, Code::E0666, "nested `impl Trait` is not allowed"),
        }
    }
}

/// A lifetime after a type among generic arguments.
fn argument_order(node: &SyntaxNode, add: &mut Add<'_>) {
    let Some(list) = ast::GenericArgList::cast(node.clone()) else { return };
    let mut has_type = false;
    for it in list.generic_args() {
        match it {
            ast::GenericArg::LifetimeArg(_) if has_type => {
                return add(node, Code::E0747, "lifetime provided when a type was expected");
            }
            ast::GenericArg::LifetimeArg(_) => {}
            _ => has_type = true,
        }
    }
}

fn function(item: &ast::Fn, add: &mut Add<'_>) {
    let result = item.ret_type().and_then(|it| it.ty()).filter(|_| item.body().is_some());
    if let Some(ast::Type::DynTraitType(it)) = result.filter(|_| item.async_token().is_none()) {
        add(it.syntax(), Code::E0746, "return type cannot be a trait object without pointer indirection");
    }
    let list = item.syntax().parent().filter(|it| ast::AssocItemList::can_cast(it.kind()));
    let block = list.as_ref().and_then(|it| it.parent()).and_then(ast::Impl::cast);
    if item.const_token().is_some() && block.is_some_and(|it| it.trait_().is_some()) {
        add(item.syntax(), Code::E0379, "functions in trait impls cannot be declared const");
    }
    if list.is_some() && item.body().is_none() {
        let patterns = item.param_list().into_iter().flat_map(|it| it.params()).filter_map(|it| it.pat());
        for it in patterns.into_iter().filter(|it| !is_name_alone(it)) {
            add(it.syntax(), Code::E0642, "patterns aren't allowed in functions without bodies");
        }
    }
}

/// Whether a pattern is a name or `_`, as parameters of functions without a body have to be.
fn is_name_alone(pattern: &ast::Pat) -> bool {
    match pattern {
        ast::Pat::IdentPat(it) => it.mut_token().is_none() && it.ref_token().is_none() && it.pat().is_none(),
        it => matches!(it, ast::Pat::WildcardPat(_)),
    }
}

/// A function of another language.
fn foreign(item: &ast::Fn, add: &mut Add<'_>) {
    let list = item.syntax().parent().filter(|it| it.kind() == SyntaxKind::EXTERN_ITEM_LIST);
    let Some(block) = list.and_then(|it| ast::ExternBlock::cast(it.parent()?)) else { return };
    let parameters: Vec<ast::Param> = item.param_list().into_iter().flat_map(|it| it.params()).collect();
    let convention = block.abi().and_then(|it| it.abi_string()).and_then(|it| Some(it.value().ok()?.into_owned()));
    if convention.as_deref() == Some("Rust") && parameters.iter().any(|it| it.dotdotdot_token().is_some()) {
        let message = "C-variadic functions with the \"Rust\" calling convention are not supported";
        add(item.syntax(), Code::E0045, message);
    }
    let mut generics = item.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    if generics.next().is_some() {
        add(item.syntax(), Code::E0044, "foreign items may not have type or const parameters");
    }
    for it in parameters.iter().filter_map(|it| it.pat()).filter(|it| !is_name_alone(it)) {
        add(it.syntax(), Code::E0130, "patterns aren't allowed in foreign function declarations");
    }
}

/// A receiver whose type is a parameter of the function.
fn receiver(cx: &Context<'_>, item: &ast::Fn, add: &mut Add<'_>) {
    let Some(ty) = item.param_list().and_then(|it| it.self_param()).and_then(|it| it.ty()) else { return };
    let is_generic = match &ty {
        ast::Type::ImplTraitType(_) => true,
        ast::Type::PathType(it) => {
            let path = it.path().filter(|it| it.as_single_name_ref().is_some_and(|it| it.text() != "Self"));
            matches!(path.and_then(|it| cx.sema.resolve_path(&it)), Some(PathResolution::TypeParam(_)))
        }
        _ => false,
    };
    if is_generic {
        add(ty.syntax(), Code::E0801, &format!("invalid generic `self` parameter type: `{}`", ty.syntax().text()));
    }
}

/// `use<T>` where nothing declares `T`.
fn unknown_capture(node: &SyntaxNode, add: &mut Add<'_>) {
    let Some(list) = ast::UseBoundGenericArgs::cast(node.clone()) else { return };
    let mut known = BTreeSet::from(["Self".to_owned()]);
    for it in node.ancestors().filter_map(ast::AnyHasGenericParams::cast).filter_map(|it| it.generic_param_list()) {
        known.extend(it.type_or_const_params().filter_map(|it| Some(it.name()?.text().to_string())));
    }
    for it in list.use_bound_generic_args() {
        let ast::UseBoundGenericArg::NameRef(it) = it else { continue };
        if !known.contains(it.text()) {
            let message = format!("cannot find type or const parameter `{}` in this scope", it.text());
            add(it.syntax(), Code::E0800, &message);
        }
    }
}

/// `pub(in path)` where the path leads nowhere.
fn unknown_module(cx: &Context<'_>, item: &SyntaxNode, add: &mut Add<'_>) {
    let written = item.children().find_map(ast::Visibility::cast);
    let path = written.and_then(|it| it.syntax().descendants().find_map(ast::Path::cast));
    if let Some(path) = path.filter(|it| cx.sema.resolve_path(it).is_none()) {
        let name = path.segment().map(|it| it.syntax().text().to_string()).unwrap_or_default();
        add(path.syntax(), Code::E0433, &format!("cannot find `{name}` in this scope"));
    }
}

/// Members that a block writes, or has a macro write, beside one of the same name that a macro call of it makes.
fn made_again(cx: &Context<'_>, item: &ast::Impl, add: &mut Add<'_>) {
    let mut parts = item.assoc_item_list().into_iter().flat_map(|it| it.assoc_items());
    let Some(of) = cx.sema.to_def(item).filter(|_| parts.any(|it| matches!(it, ast::AssocItem::MacroCall(_)))) else {
        return;
    };
    let code = if item.trait_().is_some() { Code::E0201 } else { Code::E0592 };
    let mut known: BTreeMap<(String, bool), bool> = BTreeMap::new();
    for it in of.items(cx.db) {
        let node = match it {
            AssocItem::Function(it) => cx.sema.source(it).and_then(|it| Some(it.value.name()?.syntax().clone())),
            AssocItem::Const(it) => cx.sema.source(it).and_then(|it| Some(it.value.name()?.syntax().clone())),
            AssocItem::TypeAlias(it) => cx.sema.source(it).and_then(|it| Some(it.value.name()?.syntax().clone())),
        };
        let Some(node) = node else { continue };
        let name = node.text().to_string();
        let is_made = cx.sema.hir_file_for(&node).is_macro();
        let is_type = matches!(it, AssocItem::TypeAlias(_));
        if known.insert((name.clone(), is_type), is_made).is_some_and(|it| it || is_made) {
            add(&node, code, &format!("duplicate definitions with name `{name}`"));
        }
    }
}

fn block(cx: &Context<'_>, item: &ast::Impl, add: &mut Add<'_>) {
    let Some(ty) = item.self_ty() else { return };
    let Some(of) = item.trait_() else {
        if item.unsafe_token().is_some() {
            add(item.syntax(), Code::E0197, "inherent impls cannot be unsafe");
        }
        let is_primitive = match &ty {
            ast::Type::PathType(it) => match it.path().and_then(|it| cx.sema.resolve_path(&it)) {
                Some(PathResolution::TypeParam(_)) => {
                    return add(ty.syntax(), Code::E0118, "no nominal type found for inherent implementation");
                }
                Some(PathResolution::Def(ModuleDef::BuiltinType(_))) => true,
                _ => false,
            },
            ast::Type::ArrayType(_)
            | ast::Type::FnPtrType(_)
            | ast::Type::NeverType(_)
            | ast::Type::PtrType(_)
            | ast::Type::RefType(_)
            | ast::Type::SliceType(_)
            | ast::Type::TupleType(_) => true,
            _ => false,
        };
        if is_primitive {
            add(ty.syntax(), Code::E0390, "cannot define inherent `impl` for primitive types");
        }
        return;
    };
    if is_of_language(cx, &of, "Drop") {
        drop_block(cx, &ty, add);
    } else if is_of_language(cx, &of, "Sized") {
        add(of.syntax(), Code::E0322, "explicit impls for the `Sized` trait are not permitted");
    }
}

fn is_of_language(cx: &Context<'_>, of: &ast::Type, name: &str) -> bool {
    let ast::Type::PathType(it) = of else { return false };
    match it.path().and_then(|it| cx.sema.resolve_path(&it)) {
        Some(PathResolution::Def(ModuleDef::Trait(it))) => {
            it.name(cx.db).as_str() == name && it.module(cx.db).krate(cx.db).is_builtin(cx.db)
        }
        _ => false,
    }
}

/// Only types of the crate may have a destructor, and those that can be copied may not.
fn drop_block(cx: &Context<'_>, ty: &ast::Type, add: &mut Add<'_>) {
    let adt = match ty {
        ast::Type::PathType(it) => match it.path().and_then(|it| cx.sema.resolve_path(&it)) {
            Some(PathResolution::Def(ModuleDef::Adt(it))) => it,
            _ => return,
        },
        ast::Type::DynTraitType(_) | ast::Type::RefType(_) | ast::Type::SliceType(_) => {
            let message = "the `Drop` trait may only be implemented for local structs, enums, and unions";
            return add(ty.syntax(), Code::E0120, message);
        }
        _ => return,
    };
    let ast::Type::PathType(path) = ty else { return };
    let arguments = path.path().and_then(|it| it.segment()?.generic_arg_list());
    let types = arguments.into_iter().flat_map(|it| it.generic_args()).filter_map(|it| match it {
        ast::GenericArg::TypeArg(it) => it.ty(),
        _ => None,
    });
    let mut seen = BTreeSet::new();
    let mut is_own_parameter = |it: &ast::Type| match it {
        ast::Type::PathType(it) => {
            let meant = it.path().and_then(|it| cx.sema.resolve_path(&it));
            matches!(meant, Some(PathResolution::TypeParam(_) | PathResolution::ConstParam(_)) | None)
                && seen.insert(it.syntax().text().to_string())
        }
        ast::Type::MacroType(_) => true,
        _ => false,
    };
    if !types.into_iter().all(|it| is_own_parameter(&it)) {
        add(ty.syntax(), Code::E0366, "`Drop` impls cannot be specialized");
    }
    let Some(source) = cx.sema.source(adt).map(|it| it.value) else { return };
    let derives_copy = source.attrs().any(|it| {
        let tokens = it.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
        it.simple_name().is_some_and(|it| it == "derive") && tokens.into_iter().any(|it| it.text() == "Copy")
    });
    if let Some(name) = source.name().filter(|_| derives_copy) {
        let message = "the trait `Copy` cannot be implemented for this type; the type has a destructor";
        add(name.syntax(), Code::E0184, message);
    }
}

/// Discriminants that are written as numbers, of which one is there twice.
fn discriminants(item: &ast::Enum, add: &mut Add<'_>) {
    let mut known: BTreeSet<i128> = BTreeSet::new();
    let mut next: i128 = 0;
    for variant in item.variant_list().into_iter().flat_map(|it| it.variants()) {
        if let Some(written) = variant.const_arg().and_then(|it| it.expr()) {
            let Some(value) = number(&written) else { return };
            next = value;
        }
        if !known.insert(next) {
            return add(item.syntax(), Code::E0081, &format!("discriminant value `{next}` assigned more than once"));
        }
        next += 1;
    }
}

fn number(written: &ast::Expr) -> Option<i128> {
    match written {
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::IntNumber(it) => i128::try_from(it.value().ok()?).ok(),
            _ => None,
        },
        ast::Expr::PrefixExpr(it) if it.op_kind() == Some(ast::UnaryOp::Neg) => Some(-number(&it.expr()?)?),
        _ => None,
    }
}

/// Parameters that an alias does not use.
fn alias(item: &ast::TypeAlias, add: &mut Add<'_>) {
    let is_member = item.syntax().parent().is_some_and(|it| ast::AssocItemList::can_cast(it.kind()));
    let Some(ty) = item.ty().filter(|_| !is_member) else { return };
    let mentioned = |name: &str| {
        ty.syntax().descendants_with_tokens().any(|it| match it.into_token() {
            Some(it) => it.text() == name,
            None => false,
        })
    };
    for it in item.generic_param_list().into_iter().flat_map(|it| it.generic_params()) {
        // Lifetimes need not be used.
        let name = match &it {
            ast::GenericParam::TypeParam(it) => it.name().map(|it| it.text().to_string()),
            ast::GenericParam::LifetimeParam(_) | ast::GenericParam::ConstParam(_) => None,
        };
        if let Some(name) = name.filter(|it| !mentioned(it)) {
            add(it.syntax(), Code::E0091, &format!("type parameter `{name}` is never used"));
        }
    }
}
