//! `rename`: renames a symbol in every place as one change, or returns the reason why not.

use std::collections::BTreeMap;

use super::apply_change::{Mode, Plan, apply_change};
use super::query::{RequestOptions, query_by_name, unless_loading};
use semdex_contract::{ChangeReport, OnBreak, PossiblePlaces, RenameRequest};
use semdex_engine::files::File;
use semdex_engine::links;
use semdex_model::{
    Candidate, Code, Error, FileEdit, Help, Landed, Missing, MissingCode, Renaming, Result, Rewrite, Span, Strategy,
    SymbolQuery, Usage,
};
use semdex_text::matching::{self, Patch};
use semdex_text::words::has_word;
use semdex_workspace::disk::Notes;
use semdex_workspace::{Cause, Workspace};

/// How many of the places that prevent the rename are shown.
const MOST_SHOWN: usize = 20;

pub(crate) async fn rename(
    workspace: &Workspace,
    request: RenameRequest,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    check_name(workspace, &request.new_name)?;
    // A rename should not break anything, so the default is to refuse.
    let on_break = request.on_break.unwrap_or(OnBreak::Reject);
    let mode = Mode::new(Cause::Rename, request.dry_run.unwrap_or_default(), on_break);
    let answer = apply_change(workspace, options, mode, || plan(workspace, &request, options)).await;
    answer.map_err(|mut error| {
        if error.code == Code::WouldBreak {
            error.code = Code::RenameRefused;
            let first = error.help.impact.as_ref().and_then(|it| it.broken.first());
            let why = first.map(|it| format!(" (the first: {})", it.reason)).unwrap_or_default();
            error.detail = format!("the new name clashes with what is there{why}: {}", error.detail);
        }
        error
    })
}

fn check_name(workspace: &Workspace, name: &str) -> Result<()> {
    if workspace.languages().iter().any(|it| it.syntax.is_identifier(name)) {
        return Ok(());
    }
    let detail = format!("`{name}` is no name: give an identifier, not a path");
    Err(Error::new(Code::RenameRefused, detail))
}

async fn plan(workspace: &Workspace, request: &RenameRequest, options: &RequestOptions) -> Result<Plan> {
    let file = request.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let query = SymbolQuery {
        symbol: request.symbol.clone(),
        package: request.package.clone(),
        file,
        ..SymbolQuery::default()
    };
    // The answer is not cached, because it depends on the texts that it changes.
    let verb = format!("rename {}", request.new_name);
    // A symbolic link matters only if it leads to the file of the symbol.
    let all = RequestOptions { links: false, ..options.clone() };
    let mut found = query_by_name(workspace, &all, &verb, &query, |view, query, deadlines| {
        view.rename(query, request.new_name.clone(), deadlines)
    })
    .await
    .map_err(unless_loading)?;
    let renaming = found.value;
    let links = workspace.snapshot(options.needs(Some(renaming.symbol.language), true)).await?.links;
    let leads_there = links.iter().filter(|it| it.other_name(&renaming.symbol.place.file).is_some());
    links::missing(leads_there).into_iter().for_each(|it| found.meta.coverage.lacks(it));
    if renaming.symbol.name == request.new_name {
        return Ok(Plan::new(Vec::new(), Vec::new()));
    }
    let is_coming =
        |it: &&Missing| matches!(it.code, MissingCode::Indexing | MissingCode::EngineRestarting | MissingCode::Timeout);
    if let Some(lack) = found.meta.coverage.missing.iter().filter(|_| !found.meta.coverage.complete).find(is_coming) {
        let detail = format!("not all of its places are known yet: {}", lack.detail);
        return Err(Error::new(Code::NotReady, detail).in_workspace(found.meta));
    }
    let leaves = request.possible == Some(PossiblePlaces::Leave);
    if !leaves && !renaming.possible.is_empty() {
        return Err(in_the_way(&renaming).in_workspace(found.meta));
    }
    if !found.meta.coverage.complete {
        let lacks: Vec<&str> = found.meta.coverage.missing.iter().map(|it| it.detail.as_str()).collect();
        let detail = format!("not all of its places are known: {}", lacks.join("; "));
        return Err(Error::new(Code::RenameRefused, detail).in_workspace(found.meta));
    }
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let mut edits = Vec::new();
    let mut landed = Vec::new();
    let mut possible = renaming.possible.clone();
    let notes = notes_outside_builds(workspace, &renaming);
    let moved = renaming.moves.iter().map(|(from, to)| (to.clone(), from.clone())).collect();
    let mut moves: BTreeMap<&str, &str> =
        renaming.moves.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let text = |file: &str| {
        let stale = || {
            Error::new(Code::Conflict, format!("`{file}` was changed by somebody else during this request: try again"))
        };
        snapshot.files.get(file).cloned().ok_or_else(stale)
    };
    for rewrite in &renaming.rewrites {
        let file = text(&rewrite.file)?;
        let patches: Vec<Patch> =
            rewrite.parts.iter().map(|(range, text)| Patch { range: *range, text: text.clone() }).collect();
        if patches.iter().any(|it| file.text.get(it.range.start..it.range.end).is_none()) {
            let detail = format!("`{}` was changed by somebody else during this request: try again", rewrite.file);
            return Err(Error::new(Code::Conflict, detail));
        }
        let (new, spans) = matching::apply_all(&file.text, &patches)?;
        let name = moves.remove(rewrite.file.as_str()).unwrap_or(&rewrite.file);
        let after = workspace.file(name, new);
        for usage in possible.iter_mut().filter(|it| it.place.file == rewrite.file) {
            moved_along(usage, rewrite, &after);
        }
        for span in spans {
            let place = after.lines().place(name, span);
            landed.push(Landed::as_sent(Strategy::Symbol, 100.0, place));
        }
        push(&mut edits, &file, name, &after)?;
    }
    for (from, to) in moves {
        let file = text(from)?;
        possible.iter_mut().filter(|it| it.place.file == from).for_each(|it| it.place.file = to.to_owned());
        push(&mut edits, &file, to, &workspace.file(to, file.text.clone()))?;
    }
    for edit in edits.iter().filter(|it| it.old.is_none()) {
        if workspace.read_if_there(&edit.file)?.is_some() {
            let detail = format!("its file would become `{}`, which exists", edit.file);
            return Err(Error::new(Code::RenameRefused, detail));
        }
    }
    edits.sort_by(|a: &FileEdit, b| a.file.cmp(&b.file));
    landed.sort_by(|a, b| (&a.place.file, a.place.start).cmp(&(&b.place.file, b.place.start)));
    Ok(Plan { moves: moved, possible, notes, ..Plan::new(edits, landed) })
}

/// What a client should know of each changed file that no build includes: nothing judges it, and its expected output may
/// have the old name.
fn notes_outside_builds(workspace: &Workspace, renaming: &Renaming) -> Notes {
    let name = renaming.symbol.name.as_str();
    let mut notes = Notes::new();
    for (file, outputs) in &renaming.outside_builds {
        let mut note = "no build includes this file: the name is changed in it, and nothing checks it".to_owned();
        for output in outputs {
            // What is no text has no name in it.
            let Ok(Some(text)) = workspace.read_if_there(output) else { continue };
            let lines = text.lines().zip(1..).filter(|it| has_word(it.0, name));
            let lines: Vec<String> = lines.take(MOST_SHOWN).map(|it| it.1.to_string()).collect();
            if !lines.is_empty() {
                note += &format!("; {output}:{} has `{name}` and is left as it is: record it again", lines.join(","));
            }
        }
        notes.push((file.clone(), note));
    }
    notes
}

/// Moves a place that is left as it is to where it is after the rename of its file.
fn moved_along(usage: &mut Usage, rewrite: &Rewrite, after: &File) {
    let before = rewrite.parts.iter().filter(|it| it.0.end <= usage.place.start);
    let (removed, added) = before.fold((0, 0), |sum, it| (sum.0 + (it.0.end - it.0.start), sum.1 + it.1.len()));
    let moved = |at: usize| at + added - removed;
    let span = Span::new(moved(usage.place.start), moved(usage.place.end));
    usage.place = after.lines().place(&after.path, span);
    usage.text = after.lines().line_text(&after.text, usage.place.line).to_owned();
}

/// Adds the edits for the new text of a file, under its old or a new name.
fn push(edits: &mut Vec<FileEdit>, file: &File, name: &str, after: &File) -> Result<()> {
    let old = Some(file.text.clone());
    if name == &*file.path {
        edits.push(FileEdit { file: name.to_owned(), old, new: Some(after.text.clone()) });
    } else {
        edits.push(FileEdit { file: file.path.to_string(), old, new: None });
        edits.push(FileEdit { file: name.to_owned(), old: None, new: Some(after.text.clone()) });
    }
    Ok(())
}

fn in_the_way(renaming: &Renaming) -> Error {
    let described = |it: &Usage| {
        let why = it.doubt.as_ref().map(|it| format!(" ({})", it.detail)).unwrap_or_default();
        format!("{}:{}{why}", it.place.file, it.place.line)
    };
    let shown: Vec<String> = renaming.possible.iter().take(3).map(described).collect();
    let more = if renaming.possible.len() > shown.len() { ", …" } else { "" };
    let detail = format!(
        "{} may name `{}`, which is not known for certain: {}{more}. Look at them. `possible: \"leave\"` renames all \
         other places and leaves these as they are",
        if renaming.possible.len() == 1 { "1 place".to_owned() } else { format!("{} places", renaming.possible.len()) },
        renaming.symbol.path,
        shown.join(", "),
    );
    let candidates = renaming.possible.iter().take(MOST_SHOWN).map(|it| Candidate {
        place: it.place.clone(),
        score: 100.0,
        text: it.text.clone(),
    });
    Error::new(Code::RenameRefused, detail).with_help(Help { candidates: candidates.collect(), ..Help::default() })
}
