//! A new name for a symbol of Go: gopls says what changes, and refuses what would not compile.

use std::collections::BTreeMap;

use lsp_types::request::{PrepareRenameRequest, Rename};
use lsp_types::{
    DocumentChangeOperation, DocumentChanges, OneOf, RenameParams, TextEdit, Uri, WorkDoneProgressParams, WorkspaceEdit,
};

use super::inquiry::Inquiry;
use super::session::Failure;
use super::wire;
use crate::lang::Result;
use crate::model::{Answer, Code, Error, Renaming, Rewrite, Symbol, SymbolKind};

pub async fn of(inquiry: &Inquiry<'_>, symbol: Symbol, new_name: &str) -> Result<Answer<Renaming>> {
    if symbol.external {
        return Err(refused(format!("`{}` is not part of this workspace", symbol.path)).into());
    }
    if symbol.kind == SymbolKind::Package {
        let detail = "a package is named by its directory: move the directory, and change its package clauses";
        return Err(refused(detail.to_owned()).into());
    }
    let Some(file) = inquiry.load(&symbol.name_at.file) else {
        return Err(refused(format!("`{}` has no text in the workspace", symbol.path)).into());
    };
    let at = inquiry.at(&file, symbol.name_at.start).map_err(failed)?;
    let prepared = inquiry.ask::<PrepareRenameRequest>(&file.path, &inquiry.to_open(&file.path), &at).await;
    if prepared.map_err(failed)?.is_none() {
        return Err(refused(format!("gopls does not rename `{}`", symbol.path)).into());
    }
    let params = RenameParams {
        text_document_position: at,
        new_name: new_name.to_owned(),
        work_done_progress_params: WorkDoneProgressParams::default(),
    };
    let answer = inquiry.ask::<Rename>(&file.path, &inquiry.to_open(&file.path), &params).await.map_err(failed)?;
    let mut rewrites = Vec::new();
    for (uri, edits) in by_file(answer.unwrap_or_default())? {
        let name = inquiry.session.root.file(&uri).unwrap_or_default();
        let Some(file) = inquiry.files.get(&name) else {
            return Err(refused(format!("`{name}`, outside of the workspace, would change")).into());
        };
        let parts = edits.into_iter().map(|it| (wire::span(file, it.range), it.new_text)).collect();
        rewrites.push(Rewrite { file: name, parts });
    }
    Ok(Answer::whole(Renaming { symbol, rewrites, moves: Vec::new(), possible: Vec::new() }))
}

/// gopls answers with documents or with changes, as it likes.
#[expect(clippy::mutable_key_type, reason = "a `Uri` compares by its text, which does not change")]
pub(super) fn by_file(edit: WorkspaceEdit) -> Result<BTreeMap<Uri, Vec<TextEdit>>> {
    let mut files: BTreeMap<Uri, Vec<TextEdit>> = BTreeMap::new();
    let documents = match edit.document_changes {
        Some(DocumentChanges::Edits(edits)) => edits,
        Some(DocumentChanges::Operations(operations)) => {
            let mut edits = Vec::new();
            for operation in operations {
                match operation {
                    DocumentChangeOperation::Edit(edit) => edits.push(edit),
                    DocumentChangeOperation::Op(_) => {
                        return Err(refused("gopls would move files for it".to_owned()).into());
                    }
                }
            }
            edits
        }
        None => Vec::new(),
    };
    for document in documents {
        let edits = document.edits.into_iter().map(|it| match it {
            OneOf::Left(edit) => edit,
            OneOf::Right(annotated) => annotated.text_edit,
        });
        files.entry(document.text_document.uri).or_default().extend(edits);
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
