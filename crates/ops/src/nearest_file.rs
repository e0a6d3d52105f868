//! Which file a mistyped name meant.

use std::time::Instant;

use semdex_engine::files::Files;
use semdex_model::{Code, Error};
use semdex_workspace::{Needs, Workspace};

/// So many are suggested.
const MOST: usize = 5;

/// The files whose names are most like this one, the nearest first.
pub(super) fn near(files: &Files, name: &str) -> Vec<String> {
    let base = name.rsplit('/').next().unwrap_or(name);
    let mut near: Vec<(f64, &str)> = files
        .iter()
        .map(|it| {
            let other = it.path.rsplit('/').next().unwrap_or(&it.path);
            let score = strsim::jaro_winkler(other, base) + strsim::jaro_winkler(&it.path, name) / 2.0;
            (score, &*it.path)
        })
        .filter(|it| it.0 > 1.2)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(MOST).map(|it| it.1.to_owned()).collect()
}

/// An error about a file that is not there says which one was perhaps meant, whichever call it comes from.
pub(super) async fn suggest(workspace: &Workspace, mut error: Error) -> Error {
    if error.code != Code::UnknownFile || !error.help.suggestions.is_empty() {
        return error;
    }
    let Some(file) = error.help.file.clone() else { return error };
    let needs = Needs { language: None, index: false, links: false, min_revision: None, deadline: Instant::now() };
    let Ok(snapshot) = workspace.snapshot(needs).await else { return error };
    // What is there is no other name for itself: it has something else not, an overlay perhaps.
    error.help.suggestions = near(&snapshot.files, &file).into_iter().filter(|it| *it != file).collect();
    if let Some(first) = error.help.suggestions.first() {
        error.detail = format!("{}: did you mean `{first}`?", error.detail);
    }
    error
}
