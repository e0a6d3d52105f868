//! Functions of an implementation that go while the block stays, and that the trait provides: each call means the
//! trait's function from then on, with the same types.

use ra_ap_hir::{AssocItem, AssocItemContainer, Function, HasSource as _};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, ast};

use super::delta::Delta;
use crate::names::definitions::as_assoc_item;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, SymbolKind};

/// Whether the bodies that call a removed function are as before. `deltas` are those of its file.
pub(super) fn is_provided<'a, 'd: 'a>(
    cx: &Context<'_>,
    file: &File,
    definition: Definition<'_>,
    delta: &Delta<'_>,
    mut deltas: impl Iterator<Item = &'a Delta<'d>>,
) -> bool {
    let Some(item) = delta.before.filter(|_| delta.kind == ChangeKind::Removed) else { return false };
    let of_trait = || of_trait(cx.db, definition).is_some_and(|it| has_a_written_result(cx, it));
    let enclosing = file.outline().enclosing(item.name_span.start);
    let block = enclosing.into_iter().rfind(|it| it.kind == SymbolKind::Impl);
    let mut changes = |block: usize| deltas.any(|it| it.before.is_some_and(|it| it.name_span.start == block));
    block.is_some_and(|it| !changes(it.name_span.start)) && of_trait()
}

/// The function of the trait, if it has a body.
fn of_trait(db: &RootDatabase, definition: Definition<'_>) -> Option<Function> {
    let Definition::Function(own) = definition else { return None };
    let AssocItemContainer::Impl(block) = as_assoc_item(definition, db)?.container(db) else { return None };
    let items = block.trait_(db)?.items(db);
    let functions = items.into_iter().filter_map(|it| if let AssocItem::Function(it) = it { Some(it) } else { None });
    functions.into_iter().find(|it| it.name(db) == own.name(db)).filter(|it| it.has_body(db))
}

/// An implementation's function has its own type in place of `impl Trait`, and `async` is one.
fn has_a_written_result(cx: &Context<'_>, function: Function) -> bool {
    let Some(source) = function.source(cx.db) else { return false };
    let result = source.value.ret_type();
    let is_opaque = |it: ast::RetType| it.syntax().descendants().any(|it| ast::ImplTraitType::can_cast(it.kind()));
    source.value.async_token().is_none() && !result.is_some_and(is_opaque)
}
