//! Tuple structs with a field that may not be seen: there they can neither be made nor matched. And structs and variants
//! with named fields, where they are made or matched as if these had no names. rust-analyzer tells neither.

use ra_ap_hir::{Adt, HasVisibility as _, ModuleDef, PathResolution, StructKind};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::code::Code;
use super::finding::RawDiagnostic;
use super::report;
use crate::lang::rust::view::Context;

pub(super) fn hidden_constructors(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some(it) = ast::PathExpr::cast(node.clone()) {
        out.extend(it.path().and_then(|it| hidden_constructor(cx, &it, Code::E0423, "make")));
    } else if let Some(it) = ast::TupleStructPat::cast(node.clone()) {
        out.extend(it.path().and_then(|it| hidden_constructor(cx, &it, Code::E0532, "match")));
    }
}

fn hidden_constructor(cx: &Context<'_>, path: &ast::Path, code: Code, what: &str) -> Option<RawDiagnostic> {
    let name = path.segment()?.name_ref()?;
    // What begins with a small letter is a variable or a function.
    if !name.text().starts_with(char::is_uppercase) {
        return None;
    }
    let (of, named) = match cx.sema.resolve_path(path)? {
        PathResolution::Def(ModuleDef::Adt(Adt::Struct(of))) => (Some(of), of.kind(cx.db) == StructKind::Record),
        PathResolution::Def(ModuleDef::EnumVariant(of)) => (None, of.kind(cx.db) == StructKind::Record),
        _ => return None,
    };
    if named {
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
    let of = of?;
    let from = cx.sema.scope(path.syntax())?.module();
    let is_seen = || of.fields(cx.db).iter().all(|it| it.is_visible_from(cx.db, from));
    if of.kind(cx.db) != StructKind::Tuple || is_seen() {
        return None;
    }
    let message = format!("cannot {what} the tuple struct `{}`: it has private fields", name.text());
    match path.qualifier() {
        Some(_) => Some(report::raw_diagnostic(cx, name.syntax(), Code::E0603, message)),
        None => Some(report::raw_diagnostic(cx, path.syntax(), code, message)),
    }
}
