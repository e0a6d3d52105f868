//! Files and workspaces that no engine analyses. An empty list about them would look like a complete answer.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use semdex_engine::files::Files;
use semdex_model::{Code, Error, LanguageId, Missing, MissingCode};
use semdex_workspace::Workspace;

/// How many extensions are named, the most frequent ones.
const MOST_NAMED: usize = 3;

/// What an answer about this file is missing.
pub(super) fn lack_of_file(file: &str) -> Missing {
    let detail = "no engine analyses this kind of file, so nothing is known of it";
    Missing::new(MissingCode::Unsupported, file, detail)
}

/// What an answer about the whole workspace is missing if none of its files is analysed. None if one is, or if there
/// are no files.
pub(super) fn lack_of_workspace(workspace: &Workspace, files: &Files) -> Option<Missing> {
    if is_any_analysed(workspace, files) || files.is_empty() {
        return None;
    }
    let shown = match frequent_extensions(files) {
        named if named.is_empty() => String::new(),
        named => format!(": {}", named.join(", ")),
    };
    let detail = format!(
        "no file here is of a language that is analysed{shown}; `[languages.NAME]` in `semdex.toml` adds a language"
    );
    Some(Missing::new(MissingCode::Unsupported, "workspace", detail))
}

/// The error for a symbol of a language without an engine in the workspace.
pub(super) fn no_symbols(workspace: &Workspace, files: &Files, language: LanguageId) -> Error {
    let detail = if is_any_analysed(workspace, files) {
        format!("the workspace has no {} code, so there is no symbol of it", language.name)
    } else {
        "no file of this workspace is of a language that is analysed, so there are no symbols".to_owned()
    };
    Error::new(Code::UnknownSymbol, detail)
}

fn is_any_analysed(workspace: &Workspace, files: &Files) -> bool {
    // A manifest is enough to start an engine.
    !workspace.status().languages.is_empty() || files.iter().any(|it| it.language.is_some())
}

/// `.ext`, the most frequent first.
fn frequent_extensions(files: &Files) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for extension in files.iter().filter_map(|it| Path::new(&*it.path).extension()?.to_str()) {
        *counts.entry(extension).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    // The sort is stable: equal counts stay in alphabetical order.
    counts.sort_by_key(|it| Reverse(it.1));
    counts.into_iter().take(MOST_NAMED).map(|it| format!("`.{}`", it.0)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use semdex_model::Languages;

    #[test]
    fn the_most_frequent_extensions_are_named_first() {
        let of = |names: &[&str]| {
            let mut files = Files::new(Languages::default());
            for name in names {
                files.insert(Arc::new(files.file(name, "")));
            }
            frequent_extensions(&files)
        };
        assert_eq!(of(&["Main.hs", "a.tcl", "b/c.tcl", "Makefile", ".ignore", "d.e/f"]), ["`.tcl`", "`.hs`"]);
        assert_eq!(of(&["a.d", "a.c", "a.b", "a.a"]), ["`.a`", "`.b`", "`.c`"]);
        assert!(of(&["Makefile", "LICENSE"]).is_empty());
    }
}
