//! Imports of the 2015 edition: their paths begin at the crate root, or with an external crate. rust-analyzer resolves
//! them like that for the module, but not where a path of an import is asked for.

use ra_ap_hir::{PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::make::path_from_text;
use ra_ap_syntax::{AstNode as _, Edition, ast};

/// The meaning of the path that ends with a name in such an import. `None` for any other name.
pub(crate) fn meant_from_root<'db>(
    sema: &Semantics<'db, RootDatabase>,
    name: &ast::NameRef,
) -> Option<Option<PathResolution<'db>>> {
    let path = name.syntax().parent().and_then(ast::PathSegment::cast)?.parent_path();
    let tree = path.top_path().syntax().parent().and_then(ast::UseTree::cast)?;
    let scope = sema.scope(tree.syntax())?;
    if scope.krate().edition(sema.db) != Edition::Edition2015 {
        return None;
    }
    let outer = tree.syntax().ancestors().skip(1).filter_map(ast::UseTree::cast).filter_map(|it| it.path());
    let mut parts: Vec<String> = std::iter::once(path).chain(outer).map(|it| it.syntax().text().to_string()).collect();
    // `a::{self}`
    if parts.len() > 1 && parts[0] == "self" {
        parts.remove(0);
    }
    parts.reverse();
    let whole = parts.join("::");
    let first = whole.split("::").next().unwrap_or_default().trim();
    if matches!(first, "" | "self" | "super" | "crate" | "$crate") {
        return None;
    }
    Some(scope.speculative_resolve(&path_from_text(&format!("::{whole}"))))
}
