//! The texts of a change with corrected imports, computed in the state after the change, which is then reverted.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::Rust;
use super::changes::Tried;
use crate::LANGUAGE;
use crate::checks::imports;
use crate::view::share_types;
use semdex_engine::files::Files;
use semdex_engine::{Result, Stop, Tidied};
use semdex_model::FileEdit;

impl Rust {
    /// The texts of a change with corrected imports, where that changes them. The change itself is reverted.
    pub(crate) fn fix_imports(&mut self, after: &Arc<Files>, edits: &[FileEdit]) -> Vec<Tidied> {
        let rust = |it: &&FileEdit| LANGUAGE.takes(&it.file) && it.new.is_some();
        let edits: Vec<&FileEdit> = edits.iter().filter(rust).collect();
        if edits.is_empty() {
            return Vec::new();
        }
        let _shared = share_types();
        let old: Vec<_> = edits.iter().map(|it| (Arc::from(it.file.as_str()), it.old.clone())).collect();
        let new: Vec<_> = edits.iter().map(|it| (Arc::from(it.file.as_str()), it.new.clone())).collect();
        let tried = self.try_in_shadow(&new).unwrap_or_else(|| self.try_out(&new, None));
        // A panic of the analysis must not end the only thread that owns the workspace.
        let fixed = catch_unwind(AssertUnwindSafe(|| self.with_imports(after.clone(), &edits, &tried)));
        let fixed = fixed.unwrap_or_else(|panic| {
            if self.is_torn() {
                resume_unwind(panic);
            }
            self.note_shadow_panic();
            Err(Stop::Stale)
        });
        self.take_back(&old, tried);
        match fixed {
            Ok(fixed) => fixed,
            Err(_) => {
                tracing::error!("correcting imports failed");
                let note = |it: &&FileEdit| Tidied {
                    file: it.file.clone(),
                    text: it.new.clone().unwrap_or_default(),
                    note: Some("its imports could not be corrected".to_owned()),
                };
                edits.iter().map(note).collect()
            }
        }
    }

    fn with_imports(&mut self, mut after: Arc<Files>, edits: &[&FileEdit], tried: &Tried) -> Result<Vec<Tidied>> {
        let mut fixed = Vec::new();
        for edit in edits {
            let removed = self.view_of(&after, tried).ask(|it| Ok(imports::without_unused(it, &edit.file)))?;
            if let Some(text) = &removed {
                after = self.replaced(&after, &edit.file, text.clone(), tried);
            }
            let added = self.view_of(&after, tried).ask(|it| Ok(imports::with_missing(it, &edit.file)))?;
            if let Some(text) = &added {
                after = self.replaced(&after, &edit.file, text.clone(), tried);
            }
            if let Some(text) = added.or(removed) {
                fixed.push(Tidied { file: edit.file.clone(), text, note: None });
            }
        }
        Ok(fixed)
    }

    fn replaced(&mut self, files: &Files, name: &str, text: Arc<str>, tried: &Tried) -> Arc<Files> {
        self.retry(&[(Arc::from(name), Some(text.clone()))], tried);
        let mut files = files.clone();
        files.insert(Arc::new(crate::file(name, text)));
        Arc::new(files)
    }
}
