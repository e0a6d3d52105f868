//! Errors about missing files: names that may be meant, and why a file that exists is not among the texts.

use semdex_engine::files::Files;
use semdex_model::{Code, Error};
use semdex_workspace::{Needs, Workspace};

/// How many files are suggested.
const MOST: usize = 5;

/// The files with the most similar names, the most similar first.
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

/// Completes an error about a missing file, for all calls: a file that exists and is not text is `not_text`, and for
/// others similar names are added.
pub(super) async fn complete(workspace: &Workspace, mut error: Error) -> Error {
    if error.code != Code::UnknownFile {
        return error;
    }
    let Some(file) = error.help.file.clone() else { return error };
    if let Err(mut unreadable) = workspace.read_if_there(&file)
        && matches!(unreadable.code, Code::NotText | Code::TooLarge | Code::PermissionDenied)
    {
        unreadable.help.edit = error.help.edit;
        return unreadable;
    }
    if !error.help.suggestions.is_empty() {
        return error;
    }
    let Ok(snapshot) = workspace.snapshot(Needs::texts()).await else { return error };
    // Do not suggest a file that exists: the request failed for another reason, for example a missing overlay.
    error.help.suggestions = near(&snapshot.files, &file).into_iter().filter(|it| *it != file).collect();
    if let Some(first) = error.help.suggestions.first() {
        error.detail = format!("{}: did you mean `{first}`?", error.detail);
    }
    error
}
