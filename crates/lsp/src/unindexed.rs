//! Files that the server reads from the disk and whose uses of a symbol nobody can list: those that are no texts of the
//! workspace, and those that code includes by a name of no language. Where one of them may hold the symbol's name, no
//! answer about the symbol is complete.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::names;
use super::queries::{ResolvedItem, ServerQueries};
use super::table::base_name;
use semdex_engine::files::File;
use semdex_engine::unindexed::{self, is_installed};
use semdex_engine::{Result, blocking};
use semdex_model::{Missing, MissingCode};

/// What an answer about a name lacks, since files of the server's languages that may hold it are no texts.
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

/// Texts of no language that the code includes and that hold a symbol's name: the server may know nothing of them.
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
        let holds = |it: &&Arc<File>| !names::occurrences(it, &name).is_empty();
        Ok(queries.files.iter().filter(is_included).filter(holds).cloned().collect())
    })
    .await
}

/// What an answer lacks for such a text.
pub(crate) fn of_no_language(file: &str, name: &str) -> Missing {
    let detail = format!(
        "`{file}` is included, holds the word `{name}` and is of no language here: list it under `file_names` of \
         `[languages.c]` or `[languages.cpp]` in semdex.toml"
    );
    Missing::new(MissingCode::Unsupported, file, detail)
}

/// What an answer lacks where the server tells a place in a file of the workspace that is no text of it.
pub(crate) fn of_no_text(file: &str, name: &str) -> Missing {
    let detail = format!("`{name}` is also named in `{file}`, which is no text that is analysed");
    Missing::new(MissingCode::Unsupported, file, detail)
}

/// Whether a file by its name relative to the root lies in the workspace, and in no directory of what is installed.
pub(crate) fn is_of_workspace(file: &str) -> bool {
    !file.starts_with('/') && !is_installed(file) && !file.split('/').any(|it| it.starts_with('.'))
}
