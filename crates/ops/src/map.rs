//! `map`: the most important files and symbols of a workspace, as many as fit the budget. The graph of references is
//! cached for its revision; each request ranks it again.

mod graph;
mod pagerank;
mod personalization;
mod selection;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::graph::Part;
pub(crate) use self::graph::{Graph, Node};
use self::personalization::{Asked, Interest};
use self::selection::{Candidate, Heading, Ranked, heading};
use super::open::text_of;
use super::query::{RequestOptions, is_miss, not_indexed, query_by_name, run_query, unless_loading};
use super::unanalysed_files;
use crate::ranking::{Focus, index_of};
use semdex_contract::{Around, Listed, MapFile, MapQuery, MapReply, MapSymbol, Symbol, check_name};
use semdex_engine::files::Files;
use semdex_model::{
    Answer, Code, Error, LanguageId, Meta, Missing, MissingCode, OutlineItem, Result, Revision, SymbolQuery,
};
use semdex_workspace::{Workspace, journal};

/// How many edits between the answers of several engines are tolerated.
const ATTEMPTS: usize = 5;
/// How many of the last changes of the journal influence a map.
const RECENT: usize = 10;

pub(crate) async fn map(workspace: &Workspace, request: MapQuery, options: &RequestOptions) -> Result<MapReply> {
    let before = Listed::before(options.cursor.as_deref())?;
    for it in request.focus() {
        check_name("focus", it)?;
    }
    check_name("query", &request.query.clone().unwrap_or_default().replace(char::is_whitespace, " "))?;
    let (graph, files, meta) = graph_of(workspace, options).await?;
    let mut focus = Vec::new();
    for it in request.focus() {
        focus.extend(focus_of(workspace, &files, it, options).await?);
    }
    let recent = recent(workspace).await;
    let most = request.most_bytes();
    let query = request.query.unwrap_or_default();
    let matches = if query.trim().is_empty() {
        HashMap::new()
    } else {
        let index = index_of(workspace, &files, meta.revision).await?;
        index.matches(&query, &*workspace.change_history().await)
    };
    let about = Asked { focus, query, matches, recent };
    let limit = options.limit.unwrap_or(usize::MAX);
    let made = tokio::task::spawn_blocking(move || {
        let interest = Interest::of(&about, &graph);
        let ranked = Ranked::new(&graph, &interest);
        page(&graph, &ranked, &before, most, limit, meta)
    });
    made.await.map_err(|_| Error::new(Code::Internal, "the map could not be made: semdex met a fault of its own"))
}

/// The graph of one revision, with the texts.
pub(crate) async fn graph_of(
    workspace: &Workspace,
    options: &RequestOptions,
) -> Result<(Arc<Graph>, Arc<Files>, Meta)> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let first = workspace.snapshot(options.needs(None, false)).await?;
        let mut meta = workspace.meta(None, first.revision, Default::default());
        unanalysed_files::lack_of_workspace(workspace, &first.files).into_iter().for_each(|it| meta.coverage.lacks(it));
        let mut parts: Vec<Arc<Part>> = Vec::new();
        for language in workspace.status().languages {
            let (part, of_part) = part_of(workspace, language, options).await?;
            parts.push(part);
            meta.coverage.absorb(of_part.coverage);
            meta.revision = meta.revision.max(of_part.revision);
        }
        // After an edit in between, the answers of the engines are not of the same revision.
        let is_one = meta.revision == first.revision || parts.is_empty();
        if !is_one && attempt < ATTEMPTS {
            continue;
        }
        meta.coverage.missing = merged(std::mem::take(&mut meta.coverage.missing));
        let files = first.files;
        parts.push(plain_part(workspace, &files, first.revision));
        let graph = joined(workspace, parts, first.revision).await?;
        return Ok((graph, files, meta));
    }
}

/// Merges entries that are equal for several languages, to keep the map short.
fn merged(all: Vec<Missing>) -> Vec<Missing> {
    let mut merged: Vec<Missing> = Vec::new();
    for it in all {
        let same = merged.iter_mut().find(|other| other.code == it.code && other.detail == it.detail);
        match (same.and_then(|it| it.scope.as_mut()), &it.scope) {
            (Some(scopes), Some(scope)) => scopes.extend([", ", scope.as_str()]),
            _ => merged.push(it),
        }
    }
    merged
}

/// The part of the graph from the engine of a language.
async fn part_of(workspace: &Workspace, language: LanguageId, options: &RequestOptions) -> Result<(Arc<Part>, Meta)> {
    let memo = Some(format!("references {}", language.name));
    let reply = run_query(workspace, options.needs_all(language), memo, |it| async move {
        let Some(view) = it.view else { return Ok(Answer::lacking(Arc::default(), not_indexed(workspace, language))) };
        let files = it.files;
        let Answer { value, coverage } = view.references(it.deadlines).await?;
        let value = semdex_engine::blocking(move || Ok(Arc::new(Part::new(&value, &files)))).await?;
        Ok(Answer { value, coverage })
    });
    match reply.await {
        Ok(reply) => Ok((reply.value, reply.meta)),
        // All other languages are still available, and the reply says what is missing.
        Err(error) if matches!(error.code, Code::Timeout | Code::NotReady) => match error.meta() {
            Some(meta) => {
                let mut meta = meta.clone();
                if meta.coverage.complete {
                    meta.coverage.lacks(Missing::new(MissingCode::Timeout, language.name, error.detail.as_str()));
                }
                Ok((Arc::default(), meta))
            }
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// The part of the graph with files that no engine analyses.
fn plain_part(workspace: &Workspace, files: &Files, revision: Revision) -> Arc<Part> {
    const MEMO: &str = "references of none";
    if let Some(known) = workspace.answers().answer::<Arc<Part>>(MEMO, revision) {
        return known.value;
    }
    let part = Arc::new(Part::plain(files.iter().filter(|it| it.language.is_none())));
    workspace.answers().keep(MEMO.to_owned(), revision, &Answer::whole(part.clone()));
    part
}

async fn joined(workspace: &Workspace, parts: Vec<Arc<Part>>, revision: Revision) -> Result<Arc<Graph>> {
    const MEMO: &str = "graph";
    let known = workspace.answers().answer::<Arc<Graph>>(MEMO, revision).map(|it| it.value);
    if let Some(known) = known.filter(|it| it.is_of(&parts)) {
        return Ok(known);
    }
    let made = tokio::task::spawn_blocking(move || Arc::new(Graph::new(parts))).await;
    let graph = made.map_err(|_| Error::new(Code::Internal, "the graph of references could not be made"))?;
    workspace.answers().keep(MEMO.to_owned(), revision, &Answer::whole(graph.clone()));
    Ok(graph)
}

/// The files that a `focus` names, or the file and the symbol in it.
pub(crate) async fn focus_of(
    workspace: &Workspace,
    files: &Files,
    named: &str,
    options: &RequestOptions,
) -> Result<Vec<Focus>> {
    if named.trim().is_empty() {
        return Err(Error::new(Code::InvalidRequest, "`focus` is empty: give a file, a directory, or a symbol's path"));
    }
    let looks_like_a_file = is_like_a_file(workspace, files, named);
    let directory = named.trim_start_matches("./").trim_end_matches('/');
    let below = files.below(directory).filter(|_| !directory.is_empty());
    let below: Vec<Focus> = below.map(|it| Focus { file: it.path.to_string(), at: None }).collect();
    if !below.is_empty() {
        return Ok(below);
    }
    match workspace.locate(named) {
        Ok(file) if files.get(&file).is_some() => return Ok(vec![Focus { file, at: None }]),
        Ok(file) if looks_like_a_file => drop(text_of(files, &file)?),
        Err(error) if looks_like_a_file => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let query = SymbolQuery { symbol: named.to_owned(), ..SymbolQuery::default() };
    let found = query_by_name(workspace, options, "resolve", &query, |view, query, deadlines| async move {
        view.resolve(query, deadlines).await.map(Answer::whole)
    });
    let symbol = found.await.map_err(unless_loading).map_err(|mut error| {
        if is_miss(&error) {
            error.code = Code::UnknownSymbol;
        }
        error
    })?;
    let semdex_model::Symbol { place, name_at, external, .. } = symbol.value;
    if external {
        let detail =
            format!("`{named}` is of a dependency or the standard library: `focus` takes what the workspace has");
        return Err(Error::new(Code::UnknownSymbol, detail));
    }
    // A module represents its file.
    let at = (place.file == name_at.file).then_some(name_at.start);
    Ok(vec![Focus { file: place.file, at }])
}

/// Whether a name that is neither a file nor a directory was probably meant to be one.
fn is_like_a_file(workspace: &Workspace, files: &Files, named: &str) -> bool {
    if named.contains("::") || named.contains(char::is_whitespace) {
        return false;
    }
    let extension = |path: &str| path.rsplit('/').next().and_then(|it| it.rsplit_once('.')).map(|it| it.1.to_owned());
    let own = extension(named);
    let is_there = || own.is_some() && files.iter().any(|it| extension(&it.path) == own);
    let directory = named.rsplit_once('/').map(|it| it.0);
    let is_below = directory.is_some_and(|it| !it.is_empty() && files.below(it).next().is_some());
    named.starts_with(['/', '.']) || workspace.language_of(named).is_some() || is_there() || is_below
}

/// The files that semdex changed last, also before a restart.
async fn recent(workspace: &Workspace) -> Vec<String> {
    let query = journal::Query { limit: RECENT, ..journal::Query::default() };
    let Ok(found) = workspace.changes(query).await else { return Vec::new() };
    let made = found.entries.into_iter().filter(|it| it.undone_by.is_none() && it.undoes.is_none());
    let mut files: Vec<String> = Vec::new();
    for file in made.flat_map(|it| it.files).map(|it| it.file) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

fn page(graph: &Graph, ranked: &Ranked, before: &Listed, most: usize, limit: usize, meta: Meta) -> MapReply {
    let symbols_total = ranked.order.iter().filter(|it| it.item.is_some()).count();
    let mut nodes: Vec<usize> = ranked.order.iter().map(|it| it.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let meta: semdex_contract::Meta = meta.into();
    let mut reply = MapReply { files: Vec::new(), total: nodes.len(), next_cursor: None, meta, symbols_total };
    let room = most.saturating_sub(reply.frame());
    let (chosen, listed) = ranked.page(graph, before, room, limit);
    let symbols = listed.count().saturating_sub(ranked.bare(&listed));
    reply.files = files_of(graph, ranked, &chosen);
    if listed.count() < ranked.order.len() {
        reply.note_rest(&listed, symbols);
    }
    reply
}

fn files_of(graph: &Graph, ranked: &Ranked, chosen: &[Candidate]) -> Vec<MapFile> {
    let mut by_file: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for it in chosen {
        by_file.entry(it.node).or_default().extend(it.item);
    }
    let rank_of = |node: usize| ranked.files.get(node).copied().unwrap_or_default();
    let mut files: Vec<MapFile> = by_file
        .into_iter()
        .filter_map(|(position, mut items)| {
            let node = graph.node(position)?;
            items.sort_unstable();
            let symbols = items.iter().filter_map(|&it| symbol_of(node, it, &items, ranked, position)).collect();
            Some(MapFile { file: node.file.path.to_string(), rank: rank_of(position), symbols })
        })
        .collect();
    // The sort is stable: files of the same rank stay in the order of their names.
    files.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    files
}

fn symbol_of(node: &Node, at: usize, listed: &[usize], ranked: &Ranked, position: usize) -> Option<MapSymbol> {
    let item = node.items.get(at)?;
    let outline = node.file.outline().clone();
    let mut declared: Option<&OutlineItem> = None;
    outline.walk(&mut |it| {
        if it.name_span.start == item.at && it.kind == item.kind {
            declared = Some(it);
        }
    });
    let declared = declared?;
    let lines = node.file.lines();
    let symbol = semdex_model::Symbol {
        language: node.language?,
        path: item.path.clone()?,
        kind: declared.kind,
        name: declared.name.clone(),
        signature: declared.signature.clone(),
        package: node.package.clone(),
        place: lines.place(&node.file.path, declared.span),
        name_at: lines.place(&node.file.path, declared.name_span),
        declared_at: None,
        docs: None,
        external: false,
        origin: None,
        public: declared.public,
        test: declared.test || node.test,
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
    };
    let around = match heading(node, item, listed) {
        Heading::None => None,
        Heading::Listed => Some(Around::Listed),
        Heading::Row(row) => Some(Around::Heading(row.to_owned())),
    };
    let rank = ranked.symbols.get(&(position, at)).copied().unwrap_or_default();
    Some(MapSymbol { symbol: Symbol::from(symbol), rank, around })
}
