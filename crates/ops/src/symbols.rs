//! `symbols` and `symbol_at`: the search by name, the tree of a file, and the symbol at a position.

use super::open::text_of;
use super::query::{RequestOptions, by_bare_name, not_indexed, run_query};
use super::unanalysed_files;
use semdex_contract::budget::positions;
use semdex_contract::{
    Position, SymbolAtQuery, SymbolAtReply, SymbolTree, SymbolsOf, SymbolsQuery, SymbolsReply, check_name,
};
use semdex_model::{Answer, Code, Error, LanguageId, Missing, Result, Symbol};
use semdex_workspace::Workspace;

const PAGE: usize = 50;
/// How many symbols are ranked besides those with exactly the name. A client that needs more narrows the query.
const MOST: usize = 1000;

pub(crate) async fn symbols(
    workspace: &Workspace,
    request: SymbolsQuery,
    options: &RequestOptions,
) -> Result<SymbolsReply> {
    match request.checked()? {
        SymbolsOf::Name(name) => search(workspace, name, options).await,
        SymbolsOf::File(file) => symbols_of(workspace, file, options).await,
    }
}

async fn search(workspace: &Workspace, query: &str, options: &RequestOptions) -> Result<SymbolsReply> {
    check_name("query", query)?;
    let first = workspace.snapshot(options.needs(None, false)).await?;
    let mut meta = workspace.meta(None, first.revision, Default::default());
    unanalysed_files::lack_of_workspace(workspace, &first.files).into_iter().for_each(|it| meta.coverage.lacks(it));
    let mut found: Vec<(Symbol, f64)> = Vec::new();
    let part = query.trim().to_lowercase();
    let is_meant = move |name: &str| name.to_lowercase().contains(&part);
    for language in by_bare_name(workspace, options, workspace.status().languages, is_meant).await? {
        let memo = Some(format!("search {} {query}", language.name));
        let reply = run_query(workspace, options.needs_all(language), memo, |it| async move {
            match it.view {
                Some(view) => view.search(query.trim().to_owned(), MOST, it.deadlines).await,
                None => Ok(Answer::lacking(Vec::new(), not_indexed(workspace, language))),
            }
        })
        .await?;
        found.extend(reply.value);
        meta.revision = reply.meta.revision;
        meta.coverage.absorb(reply.meta.coverage);
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.path.cmp(&b.0.path)));
    let symbols = found.into_iter().map(|it| it.0).collect();
    let window = options.window(PAGE)?;
    let mut tree = SymbolTree::of_list(window.from, window.limit, symbols);
    tree.part.asked_for(options.limit);
    Ok(SymbolsReply::new(tree, meta.into()))
}

/// The symbols of one file as a tree.
async fn symbols_of(workspace: &Workspace, file: &str, options: &RequestOptions) -> Result<SymbolsReply> {
    let [from] = positions(options.cursor.as_deref())?;
    let name = workspace.locate(file)?;
    let language = workspace.language_of(&name);
    let needs = options.needs(language, options.wait.is_some_and(|it| !it.is_zero()));
    let reply = run_query(workspace, needs, None, |it| {
        let name = name.clone();
        async move {
            text_of(&it.files, &name)?;
            match (it.view, language) {
                // An engine that has just loaded may need long even for the names of a file.
                (Some(view), Some(language)) => {
                    let answered = view.symbols(name, it.deadlines);
                    let answered = tokio::time::timeout_at(it.deadlines.answer.into(), answered).await;
                    answered.unwrap_or_else(|_| Ok(Answer::lacking(Vec::new(), not_computed(language))))
                }
                (_, Some(language)) => Ok(Answer::lacking(Vec::new(), not_indexed(workspace, language))),
                (_, None) => Ok(Answer::lacking(Vec::new(), unanalysed_files::lack_of_file(&name))),
            }
        }
    })
    .await?;
    Ok(SymbolsReply::new(SymbolTree::of_file(from, reply.value), reply.meta.into()))
}

/// The gap for symbols whose paths an engine did not compute in time.
fn not_computed(language: LanguageId) -> Missing {
    let detail =
        "the workspace has just been loaded: its symbols are not known yet; ask again, or give a longer `wait_ms`";
    Missing::being_read(language.name, detail)
}

pub(crate) async fn symbol_at(
    workspace: &Workspace,
    request: SymbolAtQuery,
    options: &RequestOptions,
) -> Result<SymbolAtReply> {
    let at = request.position()?;
    let name = workspace.locate(&request.file)?;
    let Some(language) = workspace.language_of(&name) else {
        let extensions: Vec<String> =
            workspace.languages().iter().flat_map(|it| it.extensions).map(|it| format!("`.{it}`")).collect();
        let only = extensions.join(" and ");
        let detail = format!("`{name}` is of no language that is analysed: only {only} files have symbols");
        return Err(Error::new(Code::InvalidRequest, detail));
    };
    let found = run_query(workspace, options.early().needs(Some(language), true), Some(format!("at {name} {at:?}")), |it| {
        let name = name.clone();
        async move {
            let file = text_of(&it.files, &name)?;
            let offset = match at {
                Position::Offset(offset) => Some(offset).filter(|it| file.text.is_char_boundary(*it)),
                Position::LineColumn { line, column } => file.lines().offset(&file.text, line, column),
            };
            let Some(offset) = offset else {
                let detail = format!(
                    "there is no such place in `{name}`: it has {} bytes and {} lines; offsets and columns count bytes of \
                     UTF-8, lines and columns from 1, and must not lie inside a character",
                    file.text.len(),
                    file.lines().line_count(),
                );
                return Err(Error::new(Code::InvalidRequest, detail).into());
            };
            match it.view {
                Some(view) => view.symbol_at(name, offset, it.deadlines).await,
                None => Err(Error::new(Code::NotReady, "the engine of this language is not running yet: ask again").into()),
            }
        }
    })
    .await?;
    let [line] = positions(options.cursor.as_deref())?;
    Ok(SymbolAtReply::after(line, found.value, found.meta.into()))
}
