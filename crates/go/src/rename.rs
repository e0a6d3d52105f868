//! Renames a Go symbol. gopls computes the changes in the builds that it loads together, and refuses a name that would
//! not compile. The usages add what other modules of the workspace name, and the places that no build of this machine
//! resolves, which prevent the rename.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use gen_lsp_types::{
    DocumentChange, Edit, PrepareRenameParams, PrepareRenameRequest, RenameParams, RenameRequest, TextEdit, Uri,
    WorkDoneProgressParams, WorkspaceEdit,
};

use super::further_builds::renames::Further;
use super::further_builds::{self, FurtherBuilds};
use super::queries::{GoplsQueries, MAX_CONCURRENT};
use super::session::Failure;
use super::unlisted_occurrences::{Effort, UnlistedOccurrence};
use super::usage_index::{Places, Spot};
use super::usages;
use super::{definition, lsp_conversion, other_builds};
use crate::LANGUAGE;
use semdex_engine::files::File;
use semdex_engine::{Result, Stop};
use semdex_model::{
    Answer, Code, Coverage, Diagnostic, Error, Help, Missing, Renaming, Rewrite, Span, Symbol, SymbolKind,
};

pub(crate) async fn of(queries: &GoplsQueries<'_>, symbol: Symbol, new_name: &str) -> Result<Answer<Renaming>> {
    if symbol.external {
        return Err(refused(format!("`{}` is not part of this workspace", symbol.path)).into());
    }
    if symbol.kind == SymbolKind::Package {
        let detail = "a package is named by its directory: move the directory, and change its package clauses";
        return Err(refused(detail.to_owned()).into());
    }
    let builds = queries.session.builds(queries.layout);
    let is_left_out = !queries.layout.is_active(&symbol.name_at.file);
    let mut left_out = queries.layout.left_out();
    if !builds.0.is_empty() && left_out.any(|it| it.words().offsets(&it.text, &symbol.name).next().is_some()) {
        queries.session.wait_for_further(&builds, queries.deadlines.ready).await;
    }
    let mut parts: Parts = BTreeMap::new();
    match if is_left_out { other_builds::twin_of_default(queries, &symbol) } else { Some(symbol.clone()) } {
        Some(of_default) => by_gopls(queries, &of_default, new_name, &mut parts).await?,
        None if queries.session.has_further(&builds) => {}
        None => {
            let detail = format!("the build that has `{}` is not read yet, or there is none", symbol.path);
            return Err(refused(detail).into());
        }
    }
    if is_left_out {
        add(&mut parts, &symbol.name_at.file, symbol.name_at.span(), new_name);
    }
    if let Some(place) = other_builds::clash(queries, &symbol, new_name) {
        let detail = format!(
            "`{new_name}` is taken in {}:{}, which is not built together with `{}`",
            place.file, place.line, symbol.path
        );
        return Err(refused(detail).into());
    }
    let Answer { value: places, coverage } = further_builds::places::of(queries, &symbol, Effort::Thorough).await?;
    for spot in unrenamed(queries, &symbol, &places, &parts).await? {
        parts.entry(spot.file.to_string()).or_default().push((spot.span, new_name.to_owned()));
    }
    let further = in_further_builds(queries, &builds, &symbol, new_name, &mut parts).await;
    let is_member = matches!(symbol.kind, SymbolKind::Field | SymbolKind::Method);
    let may_name = |file: &str| !is_member || queries.layout.may_depend_on(file, &symbol.package);
    let mut possible = places.possible.clone();
    possible.retain(|it| may_name(&it.file));
    // A build that resolves all that has the name says what is bound to the symbol.
    let is_resolved = |it: &UnlistedOccurrence| {
        further.is_read && !further.unclear.contains(&*it.file.path) && builds.with(&it.file).next().is_some()
    };
    let bound = other_builds::bound(queries, &symbol, &places);
    possible.extend(bound.iter().filter(|it| !is_resolved(it)).map(UnlistedOccurrence::spot));
    possible.retain(|it| !is_renamed(&parts, &it.file, it.span));
    possible.sort_unstable();
    possible.dedup();
    // What is not known of a file is which of its places name the symbol, and these are listed.
    let is_said = |it: &Missing| {
        let scope = it.scope.as_deref().unwrap_or_default();
        let is_of_another = || queries.files.get(scope).is_some() && LANGUAGE.takes(scope) && !may_name(scope);
        possible.iter().any(|it| *it.file == *scope) || is_of_another()
    };
    let coverage = without(coverage, is_said);
    let possible = possible.iter().filter_map(|it| usages::possible_at(queries, it)).collect();
    let rewrites = parts.into_iter().map(|(file, mut parts)| {
        parts.sort_by_key(|it| it.0.start);
        Rewrite { file, parts }
    });
    let rewrites: Vec<Rewrite> = rewrites.collect();
    if let Some((build, error)) = further_builds::renames::error(queries, &builds, &rewrites).await {
        let Diagnostic { place, message, .. } = error;
        let detail = format!("the build {build} would not compile: {}:{}: {message}", place.file, place.line);
        return Err(refused(detail).into());
    }
    Ok(Answer {
        value: Renaming { symbol, rewrites, moves: Vec::new(), possible, outside_builds: Vec::new() },
        coverage,
    })
}

/// Adds what has to change in further builds.
async fn in_further_builds(
    queries: &GoplsQueries<'_>,
    builds: &FurtherBuilds,
    symbol: &Symbol,
    new_name: &str,
    parts: &mut Parts,
) -> Further {
    let is_compiled = |it: &File| queries.layout.is_active(&it.path) || builds.with(it).next().is_some();
    for twin in other_builds::twins(queries, symbol).iter().filter(|it| is_compiled(&it.file)) {
        add(parts, &twin.file.path, twin.span, new_name);
    }
    let renamed = parts.iter().flat_map(|(file, parts)| parts.iter().map(|it| (file.clone(), it.0.start))).collect();
    let further = further_builds::renames::more(queries, builds, &symbol.name, renamed).await;
    for (file, at) in &further.places {
        let span = Span::new(*at, at + symbol.name.len());
        let is_name = |it: &Arc<File>| it.text.get(span.start..span.end) == Some(&symbol.name);
        if queries.files.get(file).is_some_and(is_name) {
            add(parts, file, span, new_name);
        }
    }
    further
}

fn add(parts: &mut Parts, file: &str, span: Span, new_name: &str) {
    if !is_renamed(parts, file, span) {
        parts.entry(file.to_owned()).or_default().push((span, new_name.to_owned()));
    }
}

/// What gopls renames in the default build.
async fn by_gopls(queries: &GoplsQueries<'_>, symbol: &Symbol, new_name: &str, parts: &mut Parts) -> Result<()> {
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
    let answer = match queries.ask::<RenameRequest>(&file.path, &queries.to_open(&file.path), &params).await {
        Err(Failure::Refused(message) | Failure::Inapplicable(message)) => {
            return Err(explained(queries, symbol, message).await.into());
        }
        answer => answer.map_err(failed)?,
    };
    for (uri, edits) in by_file(answer.unwrap_or_default())? {
        let name = queries.session.root.file(&uri).unwrap_or_default();
        let Some(file) = queries.files.get(&name) else {
            return Err(refused(format!("`{name}`, outside of the workspace, would change")).into());
        };
        let edits = edits.into_iter().map(|it| (lsp_conversion::span(file, it.range), it.new_text));
        parts.entry(name).or_default().extend(edits);
    }
    Ok(())
}

/// A coverage without what the answer says itself, or what does not concern it.
fn without(coverage: Coverage, is_said: impl Fn(&Missing) -> bool) -> Coverage {
    if coverage.complete {
        return coverage;
    }
    let mut left = Coverage::default();
    coverage.missing.into_iter().filter(|it| !is_said(it)).for_each(|it| left.lacks(it));
    left
}

/// The new texts of each file, by their places.
type Parts = BTreeMap<String, Vec<(Span, String)>>;

fn is_renamed(parts: &Parts, file: &str, name: Span) -> bool {
    parts.get(file).is_some_and(|it| it.iter().any(|(span, _)| span.overlaps(name)))
}

/// The usages that gopls does not rename: those in modules that it does not load together with the symbol's. The
/// usages of a method include calls of methods that correspond to it, so there the declaration has to be renamed too.
async fn unrenamed(queries: &GoplsQueries<'_>, symbol: &Symbol, places: &Places, parts: &Parts) -> Result<Vec<Spot>> {
    let mut left = places.items.clone();
    left.retain(|it| !is_renamed(parts, &it.file, it.span));
    if symbol.kind != SymbolKind::Method {
        return Ok(left);
    }
    left.retain(|it| !queries.layout.is_searched_from(&symbol.name_at.file, &it.file));
    let meant = left.into_iter().map(|spot| async move {
        let Some(file) = queries.files.get(&spot.file) else { return Ok(None) };
        let definitions = queries.definition(file, spot.span.start).await.map_err(failed)?;
        let mut declared = definitions.iter().filter_map(|it| queries.place(it));
        Ok(declared.any(|it| is_renamed(parts, &it.file, it.span())).then_some(spot))
    });
    let meant: Vec<Option<Spot>> =
        stream::iter(meant).buffered(MAX_CONCURRENT).try_collect().await.map_err(Stop::Failed)?;
    Ok(meant.into_iter().flatten().collect())
}

/// gopls renames no method alone that implements an interface: the interface's method has to be renamed.
async fn explained(queries: &GoplsQueries<'_>, symbol: &Symbol, message: String) -> Error {
    if symbol.kind != SymbolKind::Method || !message.contains("assignable to interface") {
        return refused(format!("gopls: {message}"));
    }
    let mut methods = definition::implementations(queries, symbol).await.value;
    methods.retain(|it| it.kind == SymbolKind::Method && it.name == symbol.name);
    let named: Vec<Symbol> = methods.iter().filter(|it| names(&message, &it.path)).cloned().collect();
    let methods = if named.is_empty() { methods } else { named };
    let (outside, inside): (Vec<_>, Vec<_>) = methods.into_iter().partition(|it| it.external);
    let paths = |them: &[Symbol]| them.iter().map(|it| format!("`{}`", it.path)).collect::<Vec<_>>().join(", ");
    let detail = match (inside.as_slice(), outside.as_slice()) {
        ([], []) => format!("gopls: {message}"),
        (_, [_, ..]) => {
            let why = "which is not part of this workspace: its type would no longer implement the interface";
            format!("`{}` implements {}, {why}", symbol.path, paths(&outside))
        }
        (_, []) => format!(
            "`{}` implements {}: rename that method, and the methods that implement it are renamed with it",
            symbol.path,
            paths(&inside)
        ),
    };
    let suggestions = if outside.is_empty() { inside.into_iter().map(|it| it.path).collect() } else { Vec::new() };
    refused(detail).with_help(Help { suggestions, ..Help::default() })
}

/// Whether a message contains a path as a whole.
fn names(message: &str, path: &str) -> bool {
    message.split(|it: char| it.is_whitespace() || "()\"".contains(it)).any(|it| it == path)
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
