//! rust-analyzer's fixes for its own diagnostics.

use ra_ap_ide::AssistResolveStrategy;
use ra_ap_ide_db::source_change::SourceChange;

use super::diagnostics::{full, to_model};
use crate::syntax::positions::span;
use crate::view::{Context, View};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_engine::fix::{Fix, Parts, files_of};
use semdex_model::{Answer, Place};

impl View {
    /// Fixes for the diagnostics at exactly these places.
    pub(crate) fn fixes(self, places: &[Place]) -> Result<Answer<Vec<Fix>>> {
        self.ask(|it| {
            let mut fixes = Vec::new();
            for file in files_of(places).into_iter().filter_map(|name| it.files.get(name)) {
                fixes.extend(of_file(it, file, places));
            }
            Ok(Answer { value: fixes, coverage: it.coverage(true) })
        })
    }
}

fn of_file(cx: &Context<'_>, file: &File, places: &[Place]) -> Vec<Fix> {
    let Some(id) = cx.file_id(&file.path) else { return Vec::new() };
    let mut fixes = Vec::new();
    for mut found in full(cx, id, AssistResolveStrategy::All) {
        let offered = found.fixes.take().unwrap_or_default();
        let place = file.lines().place(&file.path, span(found.range.range));
        if offered.is_empty() || !places.contains(&place) {
            continue;
        }
        let Some(diagnostic) = to_model(cx, file, id, found) else { continue };
        for assist in offered {
            let Some(changed) = assist.source_change.and_then(|it| changed(cx, &it)) else { continue };
            fixes.extend(Fix::new(cx.files, diagnostic.clone(), &String::from(assist.label), changed));
        }
    }
    fixes
}

/// The text edits of a fix; `None` if it has placeholders that somebody has to fill in, or creates or moves files.
fn changed(cx: &Context<'_>, change: &SourceChange) -> Option<Vec<Parts>> {
    if change.is_snippet || !change.file_system_edits.is_empty() {
        return None;
    }
    let of_file = |(id, (edit, _)): (&_, &(ra_ap_ide_db::text_edit::TextEdit, _))| {
        let parts = edit.iter().map(|it| (span(it.delete), it.insert.clone()));
        Some((cx.name_of(*id)?, parts.collect()))
    };
    change.source_file_edits.iter().map(of_file).collect()
}
