//! Renames a Go symbol: gopls computes the changes and refuses a name that would not compile.

use std::collections::HashMap;

use gen_lsp_types::{
    DocumentChange, Edit, PrepareRenameParams, PrepareRenameRequest, RenameParams, RenameRequest, TextEdit, Uri,
    WorkDoneProgressParams, WorkspaceEdit,
};

use super::lsp_conversion;
use super::queries::GoplsQueries;
use super::session::Failure;
use semdex_engine::Result;
use semdex_model::{Answer, Code, Error, Renaming, Rewrite, Symbol, SymbolKind};

pub(crate) async fn of(queries: &GoplsQueries<'_>, symbol: Symbol, new_name: &str) -> Result<Answer<Renaming>> {
    if symbol.external {
        return Err(refused(format!("`{}` is not part of this workspace", symbol.path)).into());
    }
    if symbol.kind == SymbolKind::Package {
        let detail = "a package is named by its directory: move the directory, and change its package clauses";
        return Err(refused(detail.to_owned()).into());
    }
    let Some(file) = queries.load(&symbol.name_at.file) else {
        return Err(refused(format!("`{}` has no text in the workspace", symbol.path)).into());
    };
    let at = queries.at(&file, symbol.name_at.start);
    let params = PrepareRenameParams {
        text_document_position_params: at.clone(),
        work_done_progress_params: WorkDoneProgressParams::default(),
    };
    let prepared = queries.ask::<PrepareRenameRequest>(&file.path, &queries.to_open(&file.path), &params).await;
    if prepared.map_err(failed)?.is_none() {
        return Err(refused(format!("gopls does not rename `{}`", symbol.path)).into());
    }
    let params = RenameParams {
        text_document_position_params: at,
        new_name: new_name.to_owned(),
        work_done_progress_params: WorkDoneProgressParams::default(),
    };
    let answer =
        queries.ask::<RenameRequest>(&file.path, &queries.to_open(&file.path), &params).await.map_err(failed)?;
    let mut rewrites = Vec::new();
    for (uri, edits) in by_file(answer.unwrap_or_default())? {
        let name = queries.session.root.file(&uri).unwrap_or_default();
        let Some(file) = queries.files.get(&name) else {
            return Err(refused(format!("`{name}`, outside of the workspace, would change")).into());
        };
        let parts = edits.into_iter().map(|it| (lsp_conversion::span(file, it.range), it.new_text)).collect();
        rewrites.push(Rewrite { file: name, parts });
    }
    rewrites.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(Answer::whole(Renaming { symbol, rewrites, moves: Vec::new(), possible: Vec::new() }))
}

/// gopls answers with `documentChanges` or `changes`.
pub(super) fn by_file(edit: WorkspaceEdit) -> Result<HashMap<Uri, Vec<TextEdit>>> {
    let mut files: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for change in edit.document_changes.unwrap_or_default() {
        let DocumentChange::TextDocumentEdit(document) = change else {
            return Err(refused("gopls would move files for it".to_owned()).into());
        };
        let edits = files.entry(document.text_document.text_document_identifier.uri).or_default();
        for edit in document.edits {
            edits.push(match edit {
                Edit::TextEdit(edit) => edit,
                Edit::AnnotatedTextEdit(annotated) => annotated.text_edit,
                Edit::SnippetTextEdit(_) => return Err(refused("gopls answered with a snippet".to_owned()).into()),
            });
        }
    }
    for (uri, edits) in edit.changes.unwrap_or_default() {
        files.entry(uri).or_default().extend(edits);
    }
    Ok(files)
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Inapplicable(message) | Failure::Refused(message) => refused(format!("gopls: {message}")),
        Failure::Lacking(missing) => Error::new(Code::EngineUnavailable, missing.detail),
    }
}

fn refused(detail: String) -> Error {
    Error::new(Code::RenameRefused, detail)
}
