//! `explore`: the lines that a query is about. The ranking decides which sections are shown; the graph of references
//! says how they are connected. Text that models must not see is never shown.

mod focus;
mod page;
mod relations;
mod symbols;

use std::time::Duration;

use self::focus::focused;
use self::page::Page;
use self::symbols::Symbols;
use super::map::{focus_of, graph_of};
use super::query::RequestOptions;
use crate::ranking::{WEIGHTS, index_of, rank};
use crate::redaction::Secrets;
use semdex_contract::{ExploreReply, ExploreRequest, Listed, Seen, check_name};
use semdex_model::{Code, Error, Result};
use semdex_workspace::Workspace;

pub(crate) async fn explore(
    workspace: &Workspace,
    request: ExploreRequest,
    options: &RequestOptions,
) -> Result<ExploreReply> {
    let before = Listed::before(options.cursor.as_deref())?;
    for it in request.focus.iter().flatten() {
        check_name("focus", it)?;
    }
    check(&request)?;
    // The words of the texts answer while engines are still loading.
    let options = &RequestOptions { wait: options.wait.or(Some(Duration::ZERO)), ..options.clone() };
    let (graph, files, meta) = graph_of(workspace, options).await?;
    let index = index_of(workspace, &files, meta.revision).await?;
    let history = workspace.change_history().await;
    let mut focus = Vec::new();
    for it in request.focus.iter().flatten() {
        focus.extend(focus_of(workspace, &files, it, options).await?);
    }
    let most = request.most_bytes();
    let tests = request.tests.unwrap_or_default();
    let session = options.session.clone();
    let omits = request.seen != Some(Seen::Repeat);
    let (workspace, limit) = (workspace.clone(), options.limit.unwrap_or(usize::MAX));
    let made = tokio::task::spawn_blocking(move || {
        let secrets = Secrets::new(&files, workspace.root());
        let index = focused(index, &files, &focus, &secrets);
        let symbols = Symbols::new(&graph, &index);
        let ranking = rank(&index, &request.query, &focus, &history, &WEIGHTS, &|file| symbols.uses(file));
        let shown = workspace.shown_lines();
        let page = Page::new(&index, &ranking, &symbols, tests, files.languages());
        let seen = session.as_deref().filter(|_| omits).map(|it| |spans: &[(&str, &str)]| shown.seen(it, spans));
        let reply = page.reply(&before, most, limit, meta.into(), seen);
        if let Some(session) = &session {
            let spans: Vec<(&str, &str)> = reply
                .files
                .iter()
                .flat_map(|file| file.spans.iter().map(|it| (file.file.as_str(), it.text.as_str())))
                .collect();
            shown.note(session, &spans);
        }
        for file in reply.files.iter().filter_map(|it| files.get(&it.file)) {
            workspace.seen_texts().note_shown(session.as_deref(), file);
        }
        reply
    });
    made.await.map_err(|_| Error::new(Code::Internal, "the answer could not be made: semdex met a fault of its own"))
}

fn check(request: &ExploreRequest) -> Result<()> {
    const LONGEST: usize = 256 << 10;
    let refused = |detail: String| Err(Error::new(Code::InvalidRequest, detail));
    if request.query.trim().is_empty() && request.focus.iter().flatten().next().is_none() {
        return refused("`query` is empty: give a question, an error message, or the text of an issue".to_owned());
    }
    if request.query.len() > LONGEST {
        return refused(format!("`query` has {} bytes: at most {LONGEST} are read", request.query.len()));
    }
    Ok(())
}
