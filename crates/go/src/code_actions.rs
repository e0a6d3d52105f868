//! Quick fixes that gopls offers for its diagnostics, if they change only files of the workspace.

use futures::stream::{self, StreamExt as _};
use gen_lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionParams, CodeActionRequest, CodeActionResolveRequest,
    CodeActionResponse, Diagnostic as LspDiagnostic, PartialResultParams, TextDocumentIdentifier, TextEdit,
    WorkDoneProgressParams, WorkspaceEdit,
};

use super::answer_cache::Checked;
use super::diagnostics::translate;
use super::lsp_conversion;
use super::queries::{GoplsQueries, MAX_CONCURRENT};
use super::rename::by_file;
use super::session::Failure;
use semdex_engine::files::File;
use semdex_engine::fix::{Fix, Parts, files_of};
use semdex_model::{Answer, Coverage, Diagnostic, Place};

/// For the diagnostics at exactly these places.
pub(crate) async fn of(queries: &GoplsQueries<'_>, places: &[Place]) -> Answer<Vec<Fix>> {
    let mut coverage = Coverage::default();
    let names = files_of(places);
    let mut checked = queries.check_all(names.iter().map(|it| (*it).to_owned()).collect()).await;
    let mut asked = Vec::new();
    for name in names {
        let (Some(file), Some(checked)) = (queries.files.get(name), checked.remove(name)) else { continue };
        match checked {
            Ok(Checked::Known(found)) => asked.extend(found.iter().filter_map(|raw| {
                let diagnostic = translate(queries, file, raw);
                let raw = raw.clone();
                let is_asked = places.contains(&diagnostic.place);
                is_asked.then_some(async move { against(queries, file, raw, diagnostic).await })
            })),
            // The file has no diagnostics.
            Ok(Checked::Unknown(_)) => {}
            Err(failure) => failure.note(&mut coverage),
        }
    }
    let offers: Vec<Result<Vec<Fix>, Failure>> = stream::iter(asked).buffered(MAX_CONCURRENT).collect().await;
    let mut fixes = Vec::new();
    for offered in offers {
        match offered {
            Ok(offered) => fixes.extend(offered),
            Err(failure) => failure.note(&mut coverage),
        }
    }
    Answer { value: fixes, coverage }
}

async fn against(
    queries: &GoplsQueries<'_>,
    file: &File,
    raw: LspDiagnostic,
    diagnostic: Diagnostic,
) -> Result<Vec<Fix>, Failure> {
    let open = queries.to_open(&file.path);
    let params = CodeActionParams {
        text_document: TextDocumentIdentifier { uri: queries.session.root.uri(&file.path) },
        range: raw.range,
        context: CodeActionContext {
            diagnostics: vec![raw],
            only: Some(vec![CodeActionKind::QuickFix]),
            ..CodeActionContext::default()
        },
        work_done_progress_params: WorkDoneProgressParams::default(),
        partial_result_params: PartialResultParams::default(),
    };
    let actions = queries.ask::<CodeActionRequest>(&file.path, &open, &params).await?.unwrap_or_default();
    let mut fixes = Vec::new();
    for action in actions {
        // The server runs a command by itself, and its effect is not known in advance.
        let CodeActionResponse::CodeAction(action) = action else { continue };
        if action.disabled.is_some() || action.kind.as_ref().is_some_and(|it| *it != CodeActionKind::QuickFix) {
            continue;
        }
        let title = action.title.clone();
        let Some(edit) = edit_of(queries, file, action).await? else { continue };
        let Some(changed) = changed(queries, edit) else { continue };
        fixes.extend(Fix::new(queries.files, diagnostic.clone(), &title, changed));
    }
    Ok(fixes)
}

/// The edit of an action, included or resolved by another request.
async fn edit_of(
    queries: &GoplsQueries<'_>,
    file: &File,
    action: CodeAction,
) -> Result<Option<WorkspaceEdit>, Failure> {
    if action.edit.is_some() || action.data.is_none() {
        return Ok(action.edit);
    }
    let open = queries.to_open(&file.path);
    match queries.ask::<CodeActionResolveRequest>(&file.path, &open, &action).await {
        Ok(resolved) => Ok(resolved.edit),
        // gopls offered it but cannot compute it.
        Err(Failure::Inapplicable(_) | Failure::Refused(_)) => Ok(None),
        Err(lacking) => Err(lacking),
    }
}

/// `None` if more than files of the workspace would change.
fn changed(queries: &GoplsQueries<'_>, edit: WorkspaceEdit) -> Option<Vec<Parts>> {
    let of_file = |(uri, edits): (_, Vec<TextEdit>)| {
        let name = queries.session.root.file(&uri)?;
        let file = queries.files.get(&name)?;
        let parts = edits.into_iter().map(|it| (lsp_conversion::span(file, it.range), it.new_text)).collect();
        Some((name, parts))
    };
    by_file(edit).ok()?.into_iter().map(of_file).collect()
}
