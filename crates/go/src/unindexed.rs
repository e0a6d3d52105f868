//! Unindexed files: the workspace has no text of them, but gopls reads them from disk, so their usages are unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LANGUAGE;
use super::language::is_left_out;
use semdex_engine::files::Files;
use semdex_engine::{Result, blocking, unindexed};
use semdex_model::{ChangeImpact, ChangeKind, Missing};

/// The gaps in an answer about a name that such files may contain.
pub(crate) async fn naming(files: &Arc<Files>, name: &str) -> Result<Vec<Missing>> {
    if files.unindexed_files().is_empty() {
        return Ok(Vec::new());
    }
    let (files, name) = (files.clone(), name.to_owned());
    let is_code = |it: &str| LANGUAGE.takes(it) && !it.split('/').any(is_left_out);
    blocking(move || Ok(unindexed::missing(&files, is_code, &name))).await
}

/// Adds the gaps in a change's impact: such files may use the changed declarations.
pub(crate) async fn of_change(files: &Arc<Files>, change_impact: &mut ChangeImpact) -> Result<()> {
    let changed = change_impact.impact.changed.iter();
    let altered = changed.filter(|it| !matches!(it.kind, ChangeKind::Added | ChangeKind::Body));
    let name = |path: &str| path.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = altered.map(|it| name(&it.symbol)).collect();
    for name in names {
        for missing in naming(files, &name).await? {
            change_impact.lacks(missing);
        }
    }
    Ok(())
}
