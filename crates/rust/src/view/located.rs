//! Where the bodies are that were abandoned.

use ra_ap_hir::{DefWithBody, HasSource, Semantics};
use ra_ap_hir_def::DefWithBodyId;
use ra_ap_ide::{FileRange, RootDatabase};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::base_db::salsa::plumbing::{FromIdWithDb as _, Id, ZalsaDatabase as _};
use ra_ap_syntax::AstNode as _;

use super::Context;
use crate::bounds::abandoned::{AbandonedPlace, About};

/// `None` if it is not in the workspace, or is gone.
pub(crate) fn place_of(cx: &Context<'_>, about: About) -> Option<AbandonedPlace> {
    let body = match about {
        About::Body(body) => body,
        About::File(id) => {
            let file = cx.name_of(id)?;
            let text = cx.db.file_text(id).text(cx.db).as_bytes();
            return Some(AbandonedPlace { described: file.clone(), id, file, text: blake3::hash(text) });
        }
    };
    let body = DefWithBody::from(DefWithBodyId::from_id(Id::from_bits(body), cx.db.zalsa()));
    let (name, range) = match body {
        DefWithBody::Function(it) => (Some(it.name(cx.db)), range_of(&cx.sema, it)?),
        DefWithBody::Static(it) => (Some(it.name(cx.db)), range_of(&cx.sema, it)?),
        DefWithBody::Const(it) => (it.name(cx.db), range_of(&cx.sema, it)?),
        DefWithBody::EnumVariant(it) => (Some(it.name(cx.db)), range_of(&cx.sema, it)?),
    };
    let place = cx.place(range)?;
    let text = cx.db.file_text(range.file_id).text(cx.db).as_bytes();
    let name = name.map_or_else(|| "a constant".to_owned(), |it| format!("`{}`", it.as_str()));
    let described = format!("the body of {name} ({}:{})", place.file, place.line);
    let file = place.file.clone();
    Some(AbandonedPlace { described, id: range.file_id, file, text: blake3::hash(text) })
}

fn range_of<T: HasSource>(sema: &Semantics<'_, RootDatabase>, item: T) -> Option<FileRange>
where
    T::Ast: ra_ap_syntax::AstNode,
{
    let source = sema.source(item)?;
    let range = sema.original_range_opt(source.value.syntax())?;
    Some(FileRange { file_id: range.file_id.file_id(sema.db), range: range.range })
}
