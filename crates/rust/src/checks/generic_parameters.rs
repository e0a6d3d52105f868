//! Generic parameters that hide others, that depend on what is not known yet, or whose bounds are malformed.

use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::report::Add;
use crate::finding::code::Code;

/// For an item and the nodes of its head.
pub(super) fn malformed_generics(item: &SyntaxNode, head: &[SyntaxNode], add: &mut Add<'_>) {
    if let Some(it) = ast::AnyHasGenericParams::cast(item.clone()) {
        hidden_parameters(&it, add);
        defaults(&it, add);
        of_constants(&it, add);
    }
    for node in head {
        match node.kind() {
            SyntaxKind::TYPE_BOUND_LIST => bounds(node, add),
            SyntaxKind::WHERE_PRED => conditions(node, add),
            SyntaxKind::FOR_BINDER => bound_lifetimes(node, add),
            _ => {}
        }
    }
}

fn list_of(node: SyntaxNode) -> Option<ast::GenericParamList> {
    ast::AnyHasGenericParams::cast(node).and_then(|it| it.generic_param_list())
}

fn names(list: &ast::GenericParamList) -> Vec<String> {
    let lifetimes = list.lifetime_params().filter_map(|it| Some(it.lifetime()?.text().to_string()));
    let others = list.type_or_const_params().filter_map(|it| Some(it.name()?.text().to_string()));
    lifetimes.chain(others).collect()
}

/// The parameters of the trait or block around an item.
fn around(item: &SyntaxNode) -> Vec<String> {
    let list = item.parent().filter(|it| ast::AssocItemList::can_cast(it.kind()));
    list.and_then(|it| list_of(it.parent()?)).map(|it| names(&it)).unwrap_or_default()
}

/// Parameters with the name of one of the trait or block around.
fn hidden_parameters(item: &ast::AnyHasGenericParams, add: &mut Add<'_>) {
    let known = around(item.syntax());
    for parameter in item.generic_param_list().into_iter().flat_map(|it| it.generic_params()) {
        match &parameter {
            ast::GenericParam::LifetimeParam(it) => {
                let name = it.lifetime().map(|it| it.text().to_string()).unwrap_or_default();
                if known.contains(&name) {
                    let message = format!("lifetime name `{name}` shadows a lifetime name that is already in scope");
                    add(parameter.syntax(), Code::E0496, &message);
                }
            }
            ast::GenericParam::TypeParam(_) | ast::GenericParam::ConstParam(_) => {
                let name = name_of(&parameter);
                if known.contains(&name) {
                    let message = format!("the name `{name}` is already used for a generic parameter");
                    add(parameter.syntax(), Code::E0403, &message);
                }
            }
        }
    }
}

fn name_of(parameter: &ast::GenericParam) -> String {
    let name = match parameter {
        ast::GenericParam::TypeParam(it) => it.name(),
        ast::GenericParam::ConstParam(it) => it.name(),
        ast::GenericParam::LifetimeParam(_) => None,
    };
    name.map(|it| it.text().to_string()).unwrap_or_default()
}

/// Single names in a type.
fn mentioned(of: &SyntaxNode) -> Vec<String> {
    let paths = of.descendants().filter_map(ast::Path::cast).filter(|it| it.qualifier().is_none());
    paths.filter_map(|it| Some(it.segment()?.name_ref()?.text().to_string())).collect()
}

/// Defaults that name a parameter that is declared later, or the type itself.
fn defaults(item: &ast::AnyHasGenericParams, add: &mut Add<'_>) {
    let all: Vec<_> = item.generic_param_list().into_iter().flat_map(|it| it.generic_params()).collect();
    for (at, parameter) in all.iter().enumerate() {
        let ast::GenericParam::TypeParam(of) = parameter else { continue };
        let Some(default) = of.default_type() else { continue };
        let named = mentioned(default.syntax());
        if all[at..].iter().any(|it| named.contains(&name_of(it))) {
            let message = "generic parameter defaults cannot reference parameters before they are declared";
            add(default.syntax(), Code::E0128, message);
        }
        if named.iter().any(|it| it == "Self") && !ast::Trait::can_cast(item.syntax().kind()) {
            add(default.syntax(), Code::E0735, "generic parameters cannot use `Self` in their defaults");
        }
    }
}

/// Constants whose type names another parameter.
fn of_constants(item: &ast::AnyHasGenericParams, add: &mut Add<'_>) {
    let Some(list) = item.generic_param_list() else { return };
    let mut known = names(&list);
    known.extend(around(item.syntax()));
    for it in list.type_or_const_params() {
        let ast::TypeOrConstParam::Const(it) = it else { continue };
        let Some(ty) = it.ty() else { continue };
        if mentioned(ty.syntax()).iter().any(|it| known.contains(it)) {
            let message = "the type of const parameters must not depend on other generic parameters";
            add(ty.syntax(), Code::E0770, message);
        }
    }
}

/// The bounds of a parameter, a trait or an associated type: no reference without a lifetime.
fn bounds(list: &SyntaxNode, add: &mut Add<'_>) {
    let holder = list.parent().map(|it| it.kind());
    if !matches!(
        holder,
        Some(SyntaxKind::TYPE_PARAM | SyntaxKind::WHERE_PRED | SyntaxKind::TRAIT | SyntaxKind::TYPE_ALIAS)
    ) {
        return;
    }
    elided(list, add);
}

/// References without a lifetime, outside of `Fn(&u8)` and the like.
fn elided(of: &SyntaxNode, add: &mut Add<'_>) {
    let has_own = |it: &SyntaxNode| {
        let mut between = it.ancestors().take_while(|it| it != of);
        between.any(|it| {
            matches!(it.kind(), SyntaxKind::PARENTHESIZED_ARG_LIST | SyntaxKind::FN_PTR_TYPE | SyntaxKind::RET_TYPE)
        })
    };
    let references = of.descendants().filter_map(ast::RefType::cast).filter(|it| it.lifetime().is_none());
    for it in references.filter(|it| !has_own(it.syntax())) {
        add(it.syntax(), Code::E0637, "`&` without an explicit lifetime name cannot be used here");
    }
}

fn conditions(node: &SyntaxNode, add: &mut Add<'_>) {
    let Some(it) = ast::WherePred::cast(node.clone()) else { return };
    it.ty().into_iter().for_each(|it| elided(it.syntax(), add));
    let has_binder = |it: &SyntaxNode| it.children().any(|it| ast::ForBinder::can_cast(it.kind()));
    for bound in it.type_bound_list().into_iter().flat_map(|it| it.bounds()) {
        if has_binder(node) && has_binder(bound.syntax()) {
            add(bound.syntax(), Code::E0316, "nested quantification of lifetimes");
        }
    }
}

/// `for<'a>` where `'a` means something already.
fn bound_lifetimes(node: &SyntaxNode, add: &mut Add<'_>) {
    let Some(list) = ast::ForBinder::cast(node.clone()).and_then(|it| it.generic_param_list()) else { return };
    let mut known = Vec::new();
    for it in node.ancestors().skip(1) {
        known.extend(list_of(it.clone()).map(|it| names(&it)).unwrap_or_default());
        if ast::Item::can_cast(it.kind()) {
            known.extend(around(&it));
            break;
        }
    }
    for it in list.lifetime_params().filter_map(|it| it.lifetime()) {
        let name = it.text().to_string();
        if known.contains(&name) {
            let message = format!("lifetime name `{name}` shadows a lifetime name that is already in scope");
            add(it.syntax(), Code::E0496, &message);
        }
    }
}
