//! Unindexed files: the server reads them from disk, and their uses of a symbol are unknown. The workspace has no text
//! of them, or code includes them although they are of no known language. If one of them may contain the symbol's name, no answer about the symbol is
//! complete.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::changed_declarations::{ChangedDeclaration, is_sealed};
use super::queries::{ResolvedItem, ServerQueries};
use super::symbol_paths;
use super::table::base_name;
use semdex_engine::files::File;
use semdex_engine::unindexed::{self, is_installed};
use semdex_engine::{Result, blocking};
use semdex_model::{ChangeImpact, ChangeKind, Missing, MissingCode, Unchecked};

/// The missing coverage of an answer about a name, for files of the server's languages that are not indexed and may
/// contain it.
pub(crate) async fn naming(queries: &ServerQueries, name: &str) -> Result<Vec<Missing>> {
    if queries.files.unindexed_files().is_empty() {
        return Ok(Vec::new());
    }
    let (queries, name) = (queries.clone(), name.to_owned());
    blocking(move || {
        let is_code = |it: &str| queries.session.service.row_of(it).is_some();
        Ok(unindexed::missing(&queries.files, is_code, &name))
    })
    .await
}

/// Texts without a language that the code includes and that contain a symbol's name. The server may not know them.
pub(crate) async fn included(queries: &ServerQueries, found: &ResolvedItem) -> Result<Vec<Arc<File>>> {
    if !found.has_headers() {
        return Ok(Vec::new());
    }
    let (queries, name) = (queries.clone(), found.item.name.clone());
    blocking(move || {
        let own = queries.own_files();
        let imports = own.iter().flat_map(|it| &it.outline().imports);
        let names: BTreeSet<&str> = imports.map(|it| base_name(&it.path)).collect();
        let is_included = |it: &&Arc<File>| it.language.is_none() && names.contains(base_name(&it.path));
        let holds = |it: &&Arc<File>| !symbol_paths::occurrences(it, &name).is_empty();
        Ok(queries.files.iter().filter(is_included).filter(holds).cloned().collect())
    })
    .await
}

/// The missing coverage for such a text.
pub(crate) fn of_no_language(file: &str, name: &str) -> Missing {
    let detail = format!(
        "`{file}` is included, holds the word `{name}` and is of no language here: list it under `file_names` of \
         `[languages.c]` or `[languages.cpp]` in semdex.toml"
    );
    Missing::new(MissingCode::Unsupported, file, detail)
}

/// The missing coverage if the server reports a place in a file of the workspace that is not indexed.
pub(crate) fn of_no_text(file: &str, name: &str) -> Missing {
    let detail = format!("`{name}` is also named in `{file}`, which is no text that is analysed");
    Missing::new(MissingCode::Unsupported, file, detail)
}

/// Whether a path relative to the root is in the workspace and not in a directory of installed packages.
pub(crate) fn is_of_workspace(file: &str) -> bool {
    !file.starts_with('/') && !is_installed(file) && !file.split('/').any(|it| it.starts_with('.'))
}

/// Adds what is unknown about a change because such files may use the changed declarations.
pub(crate) async fn of_change(
    queries: &ServerQueries,
    altered: &[ChangedDeclaration],
    change_impact: &mut ChangeImpact,
) -> Result<()> {
    let mut seen: BTreeSet<(&str, bool)> = BTreeSet::new();
    for one in altered.iter().filter(|it| it.changed.kind != ChangeKind::Added) {
        let (name, is_sealed) = (one.item.name.as_str(), is_sealed(one));
        if !seen.insert((name, is_sealed)) {
            continue;
        }
        let found = ResolvedItem { file: one.file.clone(), item: one.item.clone() };
        let included = included(queries, &found).await?;
        let included = included.iter().map(|it| of_no_language(&it.path, name));
        for missing in naming(queries, name).await?.into_iter().chain(included) {
            let unchecked = Unchecked::from(&missing);
            match is_sealed {
                // The change cannot break them.
                true if change_impact.impact.unchecked.contains(&unchecked) => {}
                true => change_impact.impact.unchecked.push(unchecked),
                false => change_impact.lacks(missing),
            }
        }
    }
    Ok(())
}
