//! The textual scope of `macro_rules!`: from a definition on to the end of its block or module, and into the modules
//! below it, until another definition of the name. rust-analyzer takes the last definition of a module or block for all
//! calls in bodies.

use ra_ap_hir::{Macro, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::{HasAttrs as _, HasModuleItem as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Direction, SyntaxNode, ast};

/// The macro of this file that a call names by its textual scope. `None` if the name is not defined before the call in
/// the same text: it is found in another file, or by a path.
pub(crate) fn macro_of(sema: &Semantics<'_, RootDatabase>, call: &ast::MacroCall) -> Option<Macro> {
    let path = call.path().filter(|it| it.qualifier().is_none())?;
    let name = path.segment()?.name_ref()?;
    let around = call.syntax().ancestors();
    around.flat_map(|it| it.siblings(Direction::Prev).skip(1)).find_map(|it| defined(sema, &it, name.text()))
}

/// The last macro with a name that a node defines for what follows it.
fn defined(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode, name: &str) -> Option<Macro> {
    if let Some(definition) = ast::MacroRules::cast(node.clone()) {
        let is_it = definition.name().is_some_and(|it| it.text() == name);
        return is_it.then(|| sema.to_def(&ast::Macro::MacroRules(definition))).flatten();
    }
    let module = ast::Module::cast(node.clone())?;
    let is_used = module.attrs().any(|it| it.simple_name().is_some_and(|it| it == "macro_use"));
    let items: Vec<ast::Item> = module.item_list().filter(|_| is_used)?.items().collect();
    items.iter().rev().find_map(|it| defined(sema, it.syntax(), name))
}
