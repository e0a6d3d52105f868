//! Calls in a syntax tree.

use ra_ap_syntax::ast::HasArgList as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

/// The call with this name as callee: the callee, which is a method's name or a path, and the arguments.
pub(crate) fn call_by(name: &ast::NameRef) -> Option<(SyntaxNode, ast::ArgList)> {
    let around = name.syntax().parent()?;
    if let Some(call) = ast::MethodCallExpr::cast(around.clone()) {
        return Some((name.syntax().clone(), call.arg_list()?));
    }
    let path = ast::PathSegment::cast(around)?.parent_path();
    let callee = ast::PathExpr::cast(path.syntax().parent()?)?;
    let call = ast::CallExpr::cast(callee.syntax().parent()?)?;
    // The name may also be an argument.
    call.expr().filter(|it| it.syntax() == callee.syntax())?;
    Some((callee.syntax().clone(), call.arg_list()?))
}
