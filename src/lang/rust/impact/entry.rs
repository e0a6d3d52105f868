//! Programs that lose their beginning.

use super::code::Code;
use super::finding::Finding;
use crate::lang::files::File;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, Span, SymbolKind};

impl<'db> Context<'db> {
    /// The root of a program without its `main`.
    pub(super) fn without_main(&self, file: &File, deltas: &[&Delta<'_>]) -> Option<Finding> {
        let is_main = |delta: &&&Delta<'_>| {
            let item = delta.before.filter(|it| it.container.is_empty() && it.name == "main");
            let goes = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Renamed);
            goes && item.is_some_and(|it| it.kind == SymbolKind::Function)
        };
        deltas.iter().find(is_main)?;
        let module = self.sema.file_to_module_def(self.file_id(&file.path)?)?;
        let has_main = || module.scope(self.db, None).iter().any(|(name, _)| name.as_str() == "main");
        if !module.is_crate_root(self.db) || file.path.ends_with("lib.rs") || has_main() {
            return None;
        }
        let end = file.text.trim_end().len();
        let place = file.lines().place(&file.path, Span::new(end, end));
        Some(self.error(place, Code::E0601, "`main` function not found in this crate".to_owned()))
    }
}
