//! Tuple structs with a field that is not visible: they can neither be constructed nor matched there. The same holds in
//! another crate for `#[non_exhaustive]` tuple structs, unit structs and variants. Also structs and variants with named
//! fields that are constructed or matched as if they were tuples. rust-analyzer reports none of these.

use ra_ap_hir::{
    Adt, AsAssocItem as _, AssocItemContainer, HasAttrs as _, HasCrate as _, HasVisibility as _, ModuleDef,
    PathResolution, Struct, StructKind,
};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn hidden_constructors(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some(it) = ast::PathExpr::cast(node.clone()) {
        out.extend(it.path().and_then(|it| hidden_constructor(cx, &it, Code::E0423, "make")));
    } else if let Some(it) = ast::TupleStructPat::cast(node.clone()) {
        out.extend(it.path().and_then(|it| hidden_constructor(cx, &it, Code::E0532, "match")));
    } else if let Some(it) = ast::PathPat::cast(node.clone()) {
        out.extend(it.path().and_then(|it| no_value(cx, &it)));
    }
}

/// A path in a pattern that is not a constant, unit struct or unit variant.
fn no_value(cx: &Context<'_>, path: &ast::Path) -> Option<RawDiagnostic> {
    let PathResolution::Def(meant) = cx.sema.resolve_path(path)? else { return None };
    let qualifier = path.qualifier()?;
    // Members of a type are looked up with its type.
    let is_of_type = !matches!(
        cx.sema.resolve_path(&qualifier)?,
        PathResolution::Def(ModuleDef::Module(_) | ModuleDef::Adt(Adt::Enum(_)))
    ) || qualifier.segment()?.self_type_token().is_some();
    let (what, code) = match meant {
        ModuleDef::EnumVariant(it) => match it.kind(cx.db) {
            StructKind::Record => ("a variant with named fields", Code::E0533),
            StructKind::Tuple if is_of_type => ("a tuple variant", Code::E0533),
            StructKind::Tuple => ("a tuple variant", Code::E0532),
            StructKind::Unit => return None,
        },
        ModuleDef::Adt(Adt::Struct(it)) if it.kind(cx.db) != StructKind::Unit => ("a struct with fields", Code::E0532),
        ModuleDef::Function(it) => match it.as_assoc_item(cx.db).map(|it| it.container(cx.db)) {
            Some(AssocItemContainer::Impl(it)) if it.trait_(cx.db).is_none() => ("an associated function", Code::E0533),
            Some(_) => return None,
            None => ("a function", Code::E0532),
        },
        ModuleDef::Static(_) => ("a static", Code::E0532),
        _ => return None,
    };
    let message = format!("expected a unit struct, unit variant or constant, found {what}");
    Some(report::raw_diagnostic(cx, path.syntax(), code, message))
}

fn hidden_constructor(cx: &Context<'_>, path: &ast::Path, code: Code, what: &str) -> Option<RawDiagnostic> {
    let name = path.segment()?.name_ref()?;
    // A name in lower case is a variable or a function.
    if !name.text().starts_with(char::is_uppercase) {
        return None;
    }
    let (of, kind, closed_by) = match cx.sema.resolve_path(path)? {
        PathResolution::Def(ModuleDef::Adt(Adt::Struct(of))) => {
            let closed_by = of.attrs(cx.db).is_non_exhaustive().then(|| of.krate(cx.db));
            (Some(of), of.kind(cx.db), closed_by)
        }
        PathResolution::Def(ModuleDef::EnumVariant(of)) => {
            let closed_by = of.attrs(cx.db).is_non_exhaustive().then(|| of.krate(cx.db));
            (None, of.kind(cx.db), closed_by)
        }
        _ => return None,
    };
    if kind == StructKind::Record {
        let code = match (of.is_none(), code, path.qualifier()) {
            (true, Code::E0532, Some(_)) => Code::E0164,
            (true, Code::E0423, _) => Code::E0533,
            _ => code,
        };
        return Some(report::raw_diagnostic(
            cx,
            path.syntax(),
            code,
            format!("the fields of `{}` have names", name.text()),
        ));
    }
    if closed_by.is_none() && (of.is_none() || kind != StructKind::Tuple) {
        return None;
    }
    let from = cx.sema.scope(path.syntax())?.module();
    let is_closed = closed_by.is_some_and(|it| it != from.krate(cx.db));
    let has_hidden = |it: Struct| it.fields(cx.db).iter().any(|it| !it.is_visible_from(cx.db, from));
    let message = match is_closed {
        true => format!("cannot {what} `{}` here: it is `#[non_exhaustive]`", name.text()),
        false if kind == StructKind::Tuple && of.is_some_and(has_hidden) => {
            format!("cannot {what} the tuple struct `{}`: it has private fields", name.text())
        }
        false => return None,
    };
    match path.qualifier() {
        Some(_) => Some(report::raw_diagnostic(cx, name.syntax(), Code::E0603, message)),
        None => Some(report::raw_diagnostic(cx, path.syntax(), code, message)),
    }
}

/// Struct update syntax: such a literal names all fields of the struct, so all have to be visible. rust-analyzer does
/// not check that.
pub(crate) fn unseen_in_updates(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    out.extend(ast::RecordExpr::cast(node.clone()).and_then(|it| unseen_in(cx, &it)));
}

fn unseen_in(cx: &Context<'_>, literal: &ast::RecordExpr) -> Option<RawDiagnostic> {
    let list = literal.record_expr_field_list()?;
    let rest = list.spread()?;
    let from = cx.sema.scope(literal.syntax())?.module();
    let given: Vec<String> = list.fields().filter_map(|it| Some(it.field_name()?.text().to_string())).collect();
    let fields = cx.sema.resolve_variant(literal.clone())?.fields(cx.db).into_iter();
    let mut names = fields.filter(|it| !it.is_visible_from(cx.db, from)).map(|it| it.name(cx.db));
    let unseen = names.find(|it| given.iter().all(|given| given != it.as_str()))?;
    let message = format!("field `{}` is private", unseen.as_str());
    Some(report::raw_diagnostic(cx, rest.syntax(), Code::E0451, message))
}
