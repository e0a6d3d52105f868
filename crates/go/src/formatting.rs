//! Planned texts after goimports and gofmt. gopls computes them in a dry run with exclusive access to the session,
//! which is reverted before the next query.

use std::sync::Arc;

use gen_lsp_types::{
    CodeActionContext, CodeActionKind, CodeActionParams, CodeActionRequest, CodeActionResponse,
    DocumentFormattingParams, DocumentFormattingRequest, FormattingOptions, PartialResultParams, Range,
    TextDocumentIdentifier, TextEdit, WorkDoneProgressParams,
};

use super::impact::{Overlaid, planned};
use super::layout::Layout;
use super::lsp_conversion;
use super::queries::GoplsQueries;
use super::rename::by_file;
use super::session::{Failure, Session};
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, Result, Stop, Tidied, Wanted};
use semdex_model::FileEdit;
use semdex_text::matching::{self, Patch};

pub(crate) async fn run(
    session: Arc<Session>,
    files: Arc<Files>,
    generation: u64,
    edits: Vec<FileEdit>,
    wanted: Wanted,
    deadlines: Deadlines,
) -> Result<Vec<Tidied>> {
    let is_written = |it: &&FileEdit| LANGUAGE.takes(&it.file) && it.new.is_some();
    let written: Vec<FileEdit> = edits.iter().filter(is_written).cloned().collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let Ok(_alone) = tokio::time::timeout_at(deadlines.answer.into(), session.gate.write()).await else {
        let busy = "gopls was busy with other questions: neither imports nor layout were touched";
        return Ok(written.iter().map(|it| untouched(it, busy.to_owned())).collect());
    };
    if session.documents().generation() != generation {
        return Err(Stop::Stale);
    }
    let mut after = Files::clone(&files);
    session.documents().overlay(edits.iter().map(|edit| (edit.file.clone(), planned(edit))));
    let overlaid = Overlaid(&session);
    let mut tidied = Vec::new();
    for edit in &edits {
        match &edit.new {
            Some(text) => drop(after.insert(Arc::new(crate::file(edit.file.as_str(), text.clone())))),
            None => drop(after.remove(&edit.file)),
        }
    }
    for edit in &written {
        let mut one = untouched(edit, String::new());
        one.note = None;
        for step in [Step::Imports, Step::Format] {
            let is_wanted = if step == Step::Imports { wanted.imports } else { wanted.format };
            if !is_wanted {
                continue;
            }
            let layout = Layout::of(Arc::new(after.clone()), &session.context());
            let queries = GoplsQueries::new(&session, &layout, deadlines, None);
            match asked(&queries, &edit.file, step).await {
                Ok(Some(text)) => {
                    one.text = text.clone();
                    after.insert(Arc::new(crate::file(edit.file.as_str(), text.clone())));
                    session.documents().overlay([(edit.file.clone(), text)]);
                }
                Ok(None) => {}
                Err(failure) => one.note = Some(step.failed(failure)),
            }
        }
        tidied.push(one);
    }
    drop(overlaid);
    if session.documents().generation() != generation { Err(Stop::Stale) } else { Ok(tidied) }
}

fn untouched(edit: &FileEdit, note: String) -> Tidied {
    Tidied { file: edit.file.clone(), text: edit.new.clone().unwrap_or_default(), note: Some(note) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Imports,
    Format,
}

impl Step {
    fn failed(self, failure: Failure) -> String {
        let what = match self {
            Step::Imports => "its imports could not be put right",
            Step::Format => "it was written unformatted",
        };
        format!("{what}: {}", failure.missing().detail)
    }
}

/// The file's text after a step, if the step changes it.
async fn asked(queries: &GoplsQueries<'_>, name: &str, step: Step) -> std::result::Result<Option<Arc<str>>, Failure> {
    let Some(file) = queries.load(name) else { return Ok(None) };
    let uri = queries.session.root.uri(name);
    let text_document = TextDocumentIdentifier { uri: uri.clone() };
    let open = queries.to_open(name);
    let edits: Vec<TextEdit> = match step {
        Step::Imports => {
            let params = CodeActionParams {
                text_document,
                range: Range::default(),
                context: CodeActionContext {
                    only: Some(vec![CodeActionKind::SourceOrganizeImports]),
                    ..CodeActionContext::default()
                },
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            };
            let actions = queries.ask::<CodeActionRequest>(name, &open, &params).await?;
            let edit = actions.unwrap_or_default().into_iter().find_map(|it| match it {
                CodeActionResponse::CodeAction(action) => action.edit,
                CodeActionResponse::Command(_) => None,
            });
            let Some(edit) = edit else { return Ok(None) };
            let mut files = by_file(edit).map_err(|_| Failure::Refused("gopls would move files for it".to_owned()))?;
            files.remove(&uri).unwrap_or_default()
        }
        Step::Format => {
            let params = DocumentFormattingParams {
                text_document,
                options: FormattingOptions { tab_size: 8, insert_spaces: false, ..FormattingOptions::default() },
                work_done_progress_params: WorkDoneProgressParams::default(),
            };
            queries.ask::<DocumentFormattingRequest>(name, &open, &params).await?.unwrap_or_default()
        }
    };
    let patch = |it: TextEdit| Patch { range: lsp_conversion::span(&file, it.range), text: it.new_text };
    let patches: Vec<Patch> = edits.into_iter().map(patch).collect();
    if patches.is_empty() {
        return Ok(None);
    }
    let (text, _) = matching::apply_all(&file.text, &patches).map_err(|it| Failure::Refused(it.detail))?;
    Ok(Some(text.into()))
}
