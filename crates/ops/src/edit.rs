//! `edit`: each edit matches exactly one place, or the whole change is refused.

pub(super) mod symbol_edit;
mod text_edit;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::fixes;
use super::format_and_imports::FormatOptions;
use super::open::text_of;
use super::query::RequestOptions;
use semdex_contract::{ChangeReport, Edit, EditRequest, Edits, Target, TextSearch};
use semdex_engine::files::{File, Files};
use semdex_model::{Code, Error, FileEdit, Help, Landed, Result, Span, Strategy, SymbolQuery};
use semdex_text::lines::LineIndex;
use semdex_text::matching::{self, Patch, Search};
use semdex_workspace::{Cause, Workspace};

pub(crate) async fn edit(
    workspace: &Workspace,
    request: EditRequest,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let edits = request.checked()?;
    let format_options = FormatOptions { format: edits.format, fix_imports: edits.fix_imports };
    let mode = Mode { format_options, ..Mode::new(Cause::Edit, edits.dry_run, edits.on_break) };
    apply_change(workspace, options, mode, || plan(workspace, &edits, options)).await
}

/// An edit with its place.
struct Placed {
    file: Arc<File>,
    /// Whether the file is new.
    created: bool,
    patch: Patch,
    strategy: Strategy,
    score: f64,
}

impl Placed {
    fn of(file: Arc<File>, patch: Patch, strategy: Strategy) -> Placed {
        Placed { file, created: false, patch, strategy, score: 100.0 }
    }
}

/// Matches all edits against the same state, before any of them is applied.
async fn plan(workspace: &Workspace, request: &Edits, options: &RequestOptions) -> Result<Plan> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let several = request.edits.len() > 1;
    let mut placed: Vec<Placed> = Vec::new();
    for (index, edit) in request.edits.iter().enumerate() {
        let some = place(workspace, edit, request.autofix, &snapshot.files, options).await.map_err(|mut error| {
            error.help.edit = several.then_some(index);
            error
        })?;
        placed.extend(some);
    }
    combine(&placed)
}

/// The places of an edit. A fix may have several.
async fn place(
    workspace: &Workspace,
    edit: &Edit,
    autofix: u8,
    files: &Arc<Files>,
    options: &RequestOptions,
) -> Result<Vec<Placed>> {
    let expected = edit.expected_hash.as_deref();
    let one = match &edit.target {
        Target::Fix(name) => {
            let parts = fixes::parts(workspace, files, name, expected, options).await?;
            return Ok(parts.into_iter().map(|(file, patch)| Placed::of(file, patch, Strategy::Exact)).collect());
        }
        Target::Text { file, search } => {
            let file = text_of(files, &workspace.locate(file)?)?;
            check_hash(&file, expected)?;
            by_text(files.clone(), file, None, search.clone(), edit.replacement.clone(), autofix).await?
        }
        Target::Within { symbol, search } => {
            let (symbol, file) = symbol_edit::find_symbol(workspace, &located(workspace, symbol)?, options).await?;
            check_hash(&file, expected)?;
            let within = symbol_edit::extent(&file, &symbol)?;
            by_text(files.clone(), file, Some(within), search.clone(), edit.replacement.clone(), autofix).await?
        }
        Target::Symbol { symbol, at } => {
            let (symbol, file) = symbol_edit::find_symbol(workspace, &located(workspace, symbol)?, options).await?;
            check_hash(&file, expected)?;
            let patch = symbol_edit::at_symbol(&file, &symbol, *at, &edit.replacement)?;
            Placed::of(file, patch, Strategy::Symbol)
        }
        Target::File { file, create } => whole_file(workspace, files, file, *create, &edit.replacement)?,
    };
    Ok(vec![one])
}

fn located(workspace: &Workspace, query: &SymbolQuery) -> Result<SymbolQuery> {
    let file = query.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    Ok(SymbolQuery { file, ..query.clone() })
}

/// Runs on another thread, because fuzzy matching and the search in other files may take milliseconds.
async fn by_text(
    files: Arc<Files>,
    file: Arc<File>,
    within: Option<Span>,
    wanted: TextSearch,
    replacement: String,
    autofix: u8,
) -> Result<Placed> {
    let found = tokio::task::spawn_blocking(move || {
        let TextSearch { context, near_line, whole_lines } = &wanted;
        let (near_line, whole_lines) = (*near_line, *whole_lines);
        let search =
            Search { text: &file.text, context, replacement: &replacement, autofix, near_line, within, whole_lines };
        let (patch, hit) = text_edit::search(&files, &file, &search)?;
        Ok(Placed { score: hit.score, ..Placed::of(file, patch, hit.strategy) })
    });
    found.await.map_err(|_| Error::new(Code::Internal, "the search failed; nothing was changed"))?
}

/// Replaces a whole file and keeps its line endings and byte order mark.
fn whole_file(workspace: &Workspace, files: &Files, file: &str, create: bool, content: &str) -> Result<Placed> {
    let name = workspace.locate(file)?;
    if content.contains('\0') {
        return Err(Error::new(Code::NotText, "the new content has a NUL character: only text is written"));
    }
    let old = match files.get(&name) {
        Some(file) => Some(file.clone()),
        // An existing file that is not text must not be overwritten as if it were missing.
        None => workspace.read_if_there(&name)?.map(|text| Arc::new(workspace.file(&name, text))),
    };
    let Some(old) = old else {
        let file = Arc::new(workspace.file(&name, ""));
        let patch = Patch { range: Span::default(), text: content.to_owned() };
        return Ok(Placed { created: true, ..Placed::of(file, patch, Strategy::Whole) });
    };
    if create && !old.text.trim().is_empty() {
        let detail = format!(
            "`{name}` exists, and a block with an empty SEARCH makes a new file: search for the lines to be replaced"
        );
        return Err(Error::new(Code::AlreadyExists, detail));
    }
    let patch = matching::whole(&old.text, content);
    Ok(Placed::of(old, patch, Strategy::Whole))
}

pub(super) fn check_hash(file: &File, expected: Option<&str>) -> Result<()> {
    let actual = file.hash.to_hex();
    match expected {
        Some(expected) if !expected.eq_ignore_ascii_case(&actual) => {
            let detail = format!("`{}` is not what you read: its hash is {actual} now; read it again", file.path);
            let help =
                Help { actual_hash: Some(actual.to_string()), file: Some(file.path.to_string()), ..Help::default() };
            Err(Error::new(Code::HashMismatch, detail).with_help(help))
        }
        _ => Ok(()),
    }
}

/// Combines the edits by file, and computes where each landed.
fn combine(placed: &[Placed]) -> Result<Plan> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, it) in placed.iter().enumerate() {
        by_file.entry(&it.file.path).or_default().push(index);
    }
    let mut edits = Vec::new();
    let mut landed: BTreeMap<usize, Landed> = BTreeMap::new();
    for (name, indexes) in by_file {
        let file = &placed[indexes[0]].file;
        if indexes.iter().any(|&index| placed[index].file.hash != file.hash) {
            let detail = format!("`{name}` was changed by somebody else meanwhile: try again");
            return Err(Error::new(Code::Conflict, detail));
        }
        if indexes.len() > 1 && indexes.iter().any(|&index| placed[index].strategy == Strategy::Whole) {
            let detail = format!("the whole content of `{name}` is given, and another edit of it: send one of them");
            let help = Help { edit: indexes.last().copied(), file: Some(name.to_owned()), ..Help::default() };
            return Err(Error::new(Code::InvalidRequest, detail).with_help(help));
        }
        let patches: Vec<Patch> = indexes.iter().map(|&index| placed[index].patch.clone()).collect();
        let (text, spans) = matching::apply_all(&file.text, &patches)?;
        let lines = LineIndex::new(&text);
        for (&index, span) in indexes.iter().zip(spans) {
            let place = lines.place(name, span);
            landed.insert(index, Landed { strategy: placed[index].strategy, score: placed[index].score, place });
        }
        let old = (!placed[indexes[0]].created).then(|| file.text.clone());
        edits.push(FileEdit { file: name.to_owned(), old, new: Some(text.into()) });
    }
    Ok(Plan::new(edits, landed.into_values().collect()))
}
