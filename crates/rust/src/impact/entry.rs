//! Programs that lose their `main`.

use super::code::Code;
use super::delta::Delta;
use super::finding::Finding;
use super::report;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, Span, SymbolKind};

/// The crate root of a program without `main`.
pub(super) fn without_main(cx: &Context<'_>, file: &File, deltas: &[&Delta<'_>]) -> Option<Finding> {
    let is_main = |delta: &&&Delta<'_>| {
        let item = delta.before.filter(|it| it.container.is_empty() && it.name == "main");
        let goes = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Renamed);
        goes && item.is_some_and(|it| it.kind == SymbolKind::Function)
    };
    deltas.iter().find(is_main)?;
    let module = cx.sema.file_to_module_def(cx.file_id(&file.path)?)?;
    let has_main = || module.scope(cx.db, None).iter().any(|(name, _)| name.as_str() == "main");
    if !module.is_crate_root(cx.db) || file.path.ends_with("lib.rs") || has_main() {
        return None;
    }
    let end = file.text.trim_end().len();
    let place = file.lines().place(&file.path, Span::new(end, end));
    Some(report::error(cx, place, Code::E0601, "`main` function not found in this crate".to_owned()))
}
