//! Resolves a name in the scope of a file: with its imports, its own items, the prelude, `crate::` and `super::`.

use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, SyntaxNode, ast};

use super::paths::items;
use super::requested::{Segment, segments};
use super::walk;
use crate::syntax::nesting::too_deep;
use crate::view::Context;

/// Resolved at the file's own level, else in its inline modules.
pub(crate) fn seen_from<'db>(cx: &Context<'db>, file: &str, path: &str) -> Vec<Definition<'db>> {
    let Some(id) = cx.file_id(file).filter(|it| cx.sema.file_to_module_def(*it).is_some()) else {
        return Vec::new();
    };
    let tree = cx.sema.parse_guess_edition(id);
    let parts = segments(path);
    let inline = tree.syntax().descendants().filter_map(ast::Module::cast).filter_map(|it| it.item_list());
    let scopes = std::iter::once(tree.syntax().clone()).chain(inline.map(|it| it.syntax().clone()));
    scopes.map(|scope| seen_at(cx, &scope, &parts)).find(|it| !it.is_empty()).unwrap_or_default()
}

/// The longest prefix that resolves in the scope is followed by the rest.
fn seen_at<'db>(cx: &Context<'db>, scope: &SyntaxNode, parts: &[Segment<'_>]) -> Vec<Definition<'db>> {
    for known in (1..=parts.len()).rev() {
        let Some((head, rest)) = parts.split_at_checked(known) else { continue };
        if head.iter().any(|it| it.is_qualified() || it.kind.is_some() || it.ordinal.is_some()) {
            continue;
        }
        let text: Vec<&str> = head.iter().map(|it| it.name).collect();
        let Some(path) = parsed(&text.join("::")) else { continue };
        let Some(definition) = items::definition_of_path(&cx.sema, scope, &path) else { continue };
        let found = walk::walk_members(cx, definition, rest);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn parsed(path: &str) -> Option<ast::Path> {
    // It comes from a request and may have any content.
    if too_deep(path).is_some() {
        return None;
    }
    let file = SourceFile::parse(&format!("type T = {path};"), Edition::CURRENT);
    let whole = file.errors().is_empty().then(|| file.tree())?;
    whole.syntax().descendants().find_map(ast::Path::cast)
}
