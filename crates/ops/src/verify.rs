//! `verify`: runs the tools of all languages on the files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::query::{RequestOptions, not_indexed, run_query};
use semdex_contract::{VerifyReply, VerifyRequest};
use semdex_model::{
    Answer, Code, Coverage, Diagnostic, Error, Missing, MissingCode, Result, Symbol, TestFailure, Verified, VerifyKind,
};
use semdex_workspace::verify_runs::Wanted;
use semdex_workspace::{Needs, Workspace};

/// For how many files the enclosing symbols of the findings are determined.
const MOST_FILES: usize = 100;
/// How long to wait for an engine that is loading. Without it the paths of symbols are unknown.
const WAIT_FOR_NAMES: Duration = Duration::from_secs(3);

pub(crate) async fn verify(
    workspace: &Workspace,
    request: VerifyRequest,
    options: &RequestOptions,
) -> Result<VerifyReply> {
    let timeout = request.timeout()?;
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let revision = snapshot.revision;
    let failed = |error: Error| error.in_workspace(workspace.meta(None, revision, Coverage::default()));
    if !snapshot.trusted {
        let detail =
            "its tools run code of the workspace, which is not trusted: `semdex trust PATH` or `--trust` lets it run";
        return Err(failed(Error::new(Code::Untrusted, detail)));
    }
    let changed = match &request.change {
        Some(token) => Some(files_of(workspace, token).await.map_err(failed)?),
        None => None,
    };
    let names = |list: &Option<Vec<String>>| {
        let mut names: Vec<String> = list.iter().flatten().map(|it| it.trim().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    let tests = names(&request.tests);
    let kind = VerifyKind::from(request.kind);
    if kind != VerifyKind::Test && !tests.is_empty() {
        let detail = format!("`tests`: only `test` runs tests, not `{}`", kind.name());
        return Err(failed(Error::new(Code::InvalidRequest, detail)));
    }
    let wanted = Wanted { kind, packages: names(&request.packages), tests, changed, timeout };
    let verified = workspace.verify(&wanted, snapshot.files, revision).await.map_err(failed)?;
    let mut verified = Verified::clone(&verified);
    let failures = verified.tests.iter_mut().flat_map(|it| &mut it.failures).filter_map(Located::of_failure);
    let mut located: Vec<Located<'_>> = verified.diagnostics.iter_mut().map(Located::from).chain(failures).collect();
    name_symbols(workspace, &mut located, options).await;
    let mut coverage = std::mem::take(&mut verified.coverage);
    let overlays: Vec<String> = workspace.overlays().into_iter().map(|it| format!("`{}`", it.file)).collect();
    if !overlays.is_empty() {
        let detail = format!("the tools read the disk, not the overlays of {}", overlays.join(", "));
        coverage.lacks(Missing::new(MissingCode::Overlays, "disk", detail));
    }
    let now = workspace.snapshot(options.needs(None, false)).await.map_or(revision, |it| it.revision);
    if now != revision {
        let detail =
            format!("contents changed while this ran (revision {} to {}): it may speak of either", revision.0, now.0);
        coverage.lacks(Missing::new(MissingCode::Changed, "disk", detail));
    }
    Ok(VerifyReply::new(verified, workspace.meta(None, revision, coverage).into()))
}

/// The files of a change of the journal.
async fn files_of(workspace: &Workspace, token: &str) -> Result<Vec<String>> {
    // Tokens are printed in upper case, and accepted in any case.
    let entry = workspace.made(&token.trim().to_ascii_uppercase()).await?.ok_or_else(|| {
        let detail =
            format!("the journal has no change `{token}` of this workspace: `changes` lists those that there are");
        Error::new(Code::UnknownChange, detail)
    })?;
    Ok(entry.files.iter().map(|it| it.file.clone()).collect())
}

/// A place whose enclosing symbol is to be determined.
pub(super) struct Located<'a> {
    file: &'a str,
    at: At,
    symbol: &'a mut Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Offset(usize),
    Line(usize),
}

impl<'a> From<&'a mut Diagnostic> for Located<'a> {
    fn from(diagnostic: &'a mut Diagnostic) -> Located<'a> {
        let Diagnostic { place, symbol, .. } = diagnostic;
        Located { file: &place.file, at: At::Offset(place.start), symbol }
    }
}

impl<'a> Located<'a> {
    fn of_failure(failure: &'a mut TestFailure) -> Option<Located<'a>> {
        let TestFailure { file, line, symbol, .. } = failure;
        Some(Located { file: file.as_deref()?, at: At::Line((*line)?), symbol })
    }
}

/// Determines the enclosing symbols of places, as far as the outlines are available in time.
pub(super) async fn name_symbols(workspace: &Workspace, located: &mut [Located<'_>], options: &RequestOptions) {
    let mut trees: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
    let deadline = Instant::now() + WAIT_FOR_NAMES;
    let files: BTreeSet<&str> = located.iter().map(|it| it.file).filter(|it| !it.starts_with('/')).collect();
    for file in files.into_iter().take(MOST_FILES) {
        let Some(language) = workspace.language_of(file) else { continue };
        let needs = Needs { deadline, ..options.needs(Some(language), true) };
        let outline = run_query(workspace, needs, None, |it| {
            let file = file.to_owned();
            async move {
                match it.view {
                    Some(view) => view.outline(file, it.deadlines).await,
                    None => Ok(Answer::lacking(Default::default(), not_indexed(workspace, language))),
                }
            }
        });
        if let Ok(outline) = outline.await {
            trees.insert(file.to_owned(), outline.value.symbols);
        }
    }
    for Located { file, at, symbol } in located {
        let symbols = trees.get(*file).map(Vec::as_slice).unwrap_or_default();
        let at = *at;
        **symbol = innermost(symbols, &|it| match at {
            At::Offset(offset) => it.place.span().contains(offset),
            At::Line(line) => (it.place.line..=it.place.end_line).contains(&line),
        });
    }
}

/// The path of the innermost symbol for which `holds` is true.
fn innermost(symbols: &[Symbol], holds: &dyn Fn(&Symbol) -> bool) -> Option<String> {
    let around = symbols.iter().find(|it| holds(it))?;
    innermost(&around.children, holds).or_else(|| Some(around.path.clone()))
}
