//! `edit`: each edit matches exactly one place, or the whole change is refused.

pub(super) mod symbol_edit;
mod text_edit;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::base::{Base, base_of, merged, patch_between};
use super::fixes;
use super::format_and_imports::FormatOptions;
use super::open::text_of;
use super::query::RequestOptions;
use semdex_contract::{At, ChangeReport, Edit, EditRequest, Edits, Target, TextSearch};
use semdex_engine::files::{File, Files};
use semdex_model::{Code, Error, FileEdit, Help, Landed, Result, Span, Strategy, Symbol, SymbolQuery};
use semdex_text::applied;
use semdex_text::lines::LineIndex;
use semdex_text::matching::{self, Outcome, Patch, Search};
use semdex_workspace::{Cause, Workspace};

pub(crate) async fn edit(
    workspace: &Workspace,
    request: EditRequest,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let edits = request.checked()?;
    let format_options = FormatOptions { format: edits.format, fix_imports: edits.fix_imports };
    let files = edits.edits.iter().filter_map(|it| named_file(&it.target)).filter_map(|it| workspace.locate(it).ok());
    let files = files.collect();
    let mode = Mode::new(Cause::Edit, edits.dry_run, edits.on_break);
    let mode = Mode { format_options, files, elisions: edits.elisions, ..mode };
    apply_change(workspace, options, mode, || plan(workspace, &edits, options)).await
}

/// The file that an edit names.
fn named_file(target: &Target) -> Option<&str> {
    match target {
        Target::Text { file, .. } | Target::File { file, .. } => Some(file),
        Target::Within { symbol, .. } | Target::Symbol { symbol, .. } => symbol.file.as_deref(),
        Target::Fix(_) => None,
    }
}

/// An edit with its place.
struct Placed {
    file: Arc<File>,
    /// Whether the file is new.
    created: bool,
    patch: Patch,
    strategy: Strategy,
    score: f64,
    /// Its author saw an older text.
    merged: Option<MergedEdit>,
    /// Where the file differs from what its author saw or recalls, in the text with this edit alone.
    kept: Vec<Span>,
}

/// An edit of an older text, merged with what others changed since.
struct MergedEdit {
    /// The text that its author saw.
    base: Arc<str>,
    /// The edit of that text.
    patch: Patch,
}

impl Placed {
    fn of(file: Arc<File>, patch: Patch, strategy: Strategy) -> Placed {
        Placed { file, created: false, patch, strategy, score: 100.0, merged: None, kept: Vec::new() }
    }

    /// An edit of the text that its author saw, merged with what others changed since. `None` if the present text has
    /// the edit already.
    fn on_base(file: &Arc<File>, base: &Arc<str>, patch: Patch, strategy: Strategy) -> Result<Option<Placed>> {
        let (ours, _) = matching::apply_all(base, std::slice::from_ref(&patch))?;
        let both = merged(file, base, &ours)?;
        if both.text == *file.text {
            return Ok(None);
        }
        let present = patch_between(&file.text, &both.text);
        let merged = Some(MergedEdit { base: base.clone(), patch });
        Ok(Some(Placed { merged, kept: both.kept, ..Placed::of(file.clone(), present, strategy) }))
    }
}

/// Matches all edits against the same state, before any of them is applied.
async fn plan(workspace: &Workspace, request: &Edits, options: &RequestOptions) -> Result<Plan> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let several = request.edits.len() > 1;
    let mut placed: Vec<Placed> = Vec::new();
    for (index, edit) in request.edits.iter().enumerate() {
        let some = place(workspace, edit, request, &snapshot.files, options).await.map_err(|mut error| {
            if let Some(other) = made_by(&error, index, &request.edits) {
                error.detail = format!(
                    "{}; it exists only after `edits[{other}]`, and all edits are matched against the files as they are \
                     before the first of them: merge both edits into one",
                    error.detail
                );
            }
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
    request: &Edits,
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
            let base = base_of(workspace, &file, expected, edit.on_conflict, options).await?;
            by_text(workspace, files, file, None, base, search, edit, request).await?
        }
        Target::Within { symbol, search } => {
            let (symbol, file) = symbol_edit::find_symbol(workspace, &located(workspace, symbol)?, options).await?;
            let base = base_of(workspace, &file, expected, edit.on_conflict, options).await?;
            let within = symbol_edit::extent(&file, &symbol)?;
            by_text(workspace, files, file, Some(within), base, search, edit, request).await?
        }
        Target::Symbol { symbol, at } => {
            let (symbol, file) = symbol_edit::find_symbol(workspace, &located(workspace, symbol)?, options).await?;
            let base = base_of(workspace, &file, expected, edit.on_conflict, options).await?;
            let merged = match base {
                Base::Older(base) => {
                    symbol_on_base(workspace, &file, &base, &symbol, *at, &edit.replacement, request.repeat)?
                }
                Base::Present | Base::Unknown => None,
            };
            match merged {
                Some(merged) => merged,
                None => {
                    let patch = symbol_edit::at_symbol(&file, &symbol, *at, &edit.replacement, request.repeat)?;
                    Placed::of(file, patch, Strategy::Symbol)
                }
            }
        }
        Target::File { file, create } => whole_file(workspace, files, file, *create, edit, options).await?,
    };
    Ok(vec![one])
}

/// The edit of a symbol in the text that its author saw, merged with what others changed since. `None` if that text has
/// no such symbol.
fn symbol_on_base(
    workspace: &Workspace,
    file: &Arc<File>,
    base: &Arc<str>,
    symbol: &Symbol,
    at: At,
    replacement: &str,
    repeat: bool,
) -> Result<Option<Placed>> {
    let older = workspace.file(&file.path, base.clone());
    let Some(symbol) = symbol_edit::same_symbol(file, symbol, &older) else { return Ok(None) };
    let patch = symbol_edit::at_symbol(&older, &symbol, at, replacement, repeat)?;
    Placed::on_base(file, base, patch, Strategy::Symbol)
}

/// The other edit whose new text contains what this edit did not find.
fn made_by(error: &Error, index: usize, edits: &[Edit]) -> Option<usize> {
    let target = &edits.get(index)?.target;
    let wanted = match target {
        Target::Text { search, .. } | Target::Within { search, .. } if error.code == Code::NoMatch => &*search.context,
        Target::Symbol { symbol, .. } if error.code == Code::UnknownSymbol => {
            symbol.symbol.rsplit(|it: char| !it.is_alphanumeric() && it != '_').find(|it| !it.is_empty())?
        }
        _ => return None,
    };
    let is_elsewhere = |other: &Target| match (target, other) {
        (Target::Text { file, .. }, Target::Text { file: other, .. } | Target::File { file: other, .. }) => {
            file != other
        }
        _ => false,
    };
    edits.iter().enumerate().position(|(at, other)| {
        at != index && !is_elsewhere(&other.target) && !applied::places(&other.replacement, wanted).is_empty()
    })
}

fn located(workspace: &Workspace, query: &SymbolQuery) -> Result<SymbolQuery> {
    let file = query.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    Ok(SymbolQuery { file, ..query.clone() })
}

/// The place of a text: in the text that its author saw if that is known, else in the present text. A text that is not
/// there as it was sent may be one that the file had lately.
#[expect(clippy::too_many_arguments, reason = "what is searched, where, and how")]
async fn by_text(
    workspace: &Workspace,
    files: &Arc<Files>,
    file: Arc<File>,
    within: Option<Span>,
    base: Base,
    search: &TextSearch,
    edit: &Edit,
    request: &Edits,
) -> Result<Placed> {
    let replacement = &edit.replacement;
    if let Base::Older(base) = &base
        && let Some(placed) = text_on_base(&file, base, search, replacement, request.repeat)?
    {
        return Ok(placed);
    }
    let present =
        in_present_text(files.clone(), file.clone(), within, search.clone(), replacement.clone(), request).await;
    let may_be_older = match &present {
        Ok(placed) => placed.strategy != Strategy::Exact,
        Err(error) => error.code == Code::NoMatch || error.help.conflict.is_some(),
    };
    if !may_be_older || within.is_some() || matches!(base, Base::Present) {
        return present;
    }
    let older = workspace.seen_texts().of_file(&file.path).await.unwrap_or_default();
    let (search, replacement, repeat) = (search.clone(), replacement.clone(), request.repeat);
    let found = tokio::task::spawn_blocking(move || {
        older.iter().find_map(|base| text_on_base(&file, base, &search, &replacement, repeat).transpose())
    });
    match found.await.map_err(|_| search_failed())? {
        Some(Ok(placed)) => Ok(placed),
        // A formatter has changed the same lines: the present text is the same except for white space.
        Some(Err(_)) if present.as_ref().is_ok_and(|it| it.strategy != Strategy::Fuzzy) => present,
        Some(Err(conflict)) => Err(conflict),
        None => present,
    }
}

fn search_failed() -> Error {
    Error::new(Code::Internal, "the search failed; nothing was changed")
}

/// An edit of a text that is exactly once in the base, merged with what others changed since. `None` if it is not, or if
/// the present text has the edit already.
fn text_on_base(
    file: &Arc<File>,
    base: &Arc<str>,
    search: &TextSearch,
    replacement: &str,
    repeat: bool,
) -> Result<Option<Placed>> {
    let TextSearch { context, near_line, whole_lines } = search;
    let unix = |text: &str| text.replace("\r\n", "\n");
    let has_it = base.contains(context.as_str()) || base.contains("\r\n") && unix(base).contains(&unix(context));
    if *base == file.text || !has_it {
        return Ok(None);
    }
    let (near_line, whole_lines) = (*near_line, *whole_lines);
    let search = Search { text: base, context, replacement, autofix: 0, near_line, within: None, whole_lines };
    match matching::find(&search) {
        Ok(Outcome::Found(hit)) if hit.strategy == Strategy::Exact => {
            if !repeat && applied::around(base, hit.span, context, replacement).is_some() {
                let there = applied::places(&file.text, replacement).first().copied();
                return there.map_or(Ok(None), |there| Err(text_edit::already_applied(file, there)));
            }
            // An exact match has nothing to merge.
            let Ok(fitted) = matching::patch(base, &hit, context, replacement) else { return Ok(None) };
            Placed::on_base(file, base, fitted.patch, Strategy::Exact)
        }
        _ => Ok(None),
    }
}

/// Runs on another thread, because fuzzy matching and the search in other files may take milliseconds.
async fn in_present_text(
    files: Arc<Files>,
    file: Arc<File>,
    within: Option<Span>,
    wanted: TextSearch,
    replacement: String,
    request: &Edits,
) -> Result<Placed> {
    let (autofix, repeat) = (request.autofix, request.repeat);
    let found = tokio::task::spawn_blocking(move || {
        let TextSearch { context, near_line, whole_lines } = &wanted;
        let (near_line, whole_lines) = (*near_line, *whole_lines);
        let search =
            Search { text: &file.text, context, replacement: &replacement, autofix, near_line, within, whole_lines };
        let (fitted, hit) = text_edit::search(&files, &file, &search, repeat)?;
        Ok(Placed { score: hit.score, kept: fitted.kept, ..Placed::of(file, fitted.patch, hit.strategy) })
    });
    found.await.map_err(|_| search_failed())?
}

/// Replaces a whole file and keeps its line endings and byte order mark.
async fn whole_file(
    workspace: &Workspace,
    files: &Files,
    file: &str,
    create: bool,
    edit: &Edit,
    options: &RequestOptions,
) -> Result<Placed> {
    let (name, content) = (workspace.locate(file)?, &*edit.replacement);
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
    if let Base::Older(base) = base_of(workspace, &old, None, edit.on_conflict, options).await?
        && let Some(placed) = Placed::on_base(&old, &base, matching::whole(&base, content), Strategy::Whole)?
    {
        return Ok(placed);
    }
    let patch = matching::whole(&old.text, content);
    Ok(Placed::of(old, patch, Strategy::Whole))
}

/// Refuses edits of one file whose places overlap, with the indexes of both. Places may be next to each other.
fn refuse_overlaps(name: &str, placed: &[Placed], indexes: &[usize]) -> Result<()> {
    let range = |index: usize| placed[index].patch.range;
    let mut order = indexes.to_vec();
    order.sort_by_key(|&index| (range(index).start, range(index).end));
    let Some(pair) = order.windows(2).find(|pair| range(pair[1]).start < range(pair[0]).end) else { return Ok(()) };
    let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
    let line = |index: usize| placed[index].file.lines().line(range(index).start);
    let detail = format!(
        "`edits[{first}]` (`{name}`, line {}) and `edits[{second}]` (line {}) overlap: all edits are matched against \
         the file as it is before the first of them, so send these as one edit",
        line(first),
        line(second)
    );
    let help = Help { edit: Some(second), file: Some(name.to_owned()), ..Help::default() };
    Err(Error::new(Code::InvalidRequest, detail).with_help(help))
}

/// Combines the edits by file, and computes where each landed.
fn combine(placed: &[Placed]) -> Result<Plan> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, it) in placed.iter().enumerate() {
        by_file.entry(&it.file.path).or_default().push(index);
    }
    let mut edits = Vec::new();
    let mut landed: BTreeMap<usize, Landed> = BTreeMap::new();
    let mut texts = BTreeMap::new();
    for (name, indexes) in by_file {
        let file = &placed[indexes[0]].file;
        if indexes.iter().any(|&index| placed[index].file.hash != file.hash) {
            let detail = format!("`{name}` was changed by somebody else meanwhile: try again");
            let help = Help { actual_hash: Some(file.hash.to_hex().to_string()), ..Help::default() };
            return Err(Error::new(Code::Conflict, detail).with_help(help));
        }
        if indexes.len() > 1 && indexes.iter().any(|&index| placed[index].strategy == Strategy::Whole) {
            let detail = format!("the whole content of `{name}` is given, and another edit of it: send one of them");
            let help = Help { edit: indexes.last().copied(), file: Some(name.to_owned()), ..Help::default() };
            return Err(Error::new(Code::InvalidRequest, detail).with_help(help));
        }
        refuse_overlaps(name, placed, &indexes)?;
        let patches: Vec<Patch> = indexes.iter().map(|&index| placed[index].patch.clone()).collect();
        let (text, spans) = matching::apply_all(&file.text, &patches)?;
        let lines = LineIndex::new(&text);
        for (own, (&index, &span)) in indexes.iter().zip(&spans).enumerate() {
            let place = lines.place(name, span);
            let Placed { strategy, score, merged, kept, .. } = &placed[index];
            let is_merged = merged.is_some() || !kept.is_empty();
            let kept = kept.iter().map(|&span| {
                let at = |offset| offset_in_result(offset, own, &patches, &spans);
                lines.place(name, Span::new(at(span.start), at(span.end)))
            });
            let kept = kept.collect();
            landed.insert(index, Landed { merged: is_merged, kept, ..Landed::as_sent(*strategy, *score, place) });
        }
        if let Some(text) = believed(&indexes, placed)? {
            texts.insert(name.to_owned(), text);
        }
        let old = (!placed[indexes[0]].created).then(|| file.text.clone());
        edits.push(FileEdit { file: name.to_owned(), old, new: Some(text.into()) });
    }
    Ok(Plan { believed: texts, ..Plan::new(edits, landed.into_values().collect()) })
}

/// The text that the author of these edits of one file takes for the result: the text that it saw, with the edits.
/// `None` if it saw the present text.
fn believed(indexes: &[usize], placed: &[Placed]) -> Result<Option<Arc<str>>> {
    let mut base = None;
    let mut patches = Vec::new();
    for merged in indexes.iter().filter_map(|&index| placed.get(index)).map(|it| &it.merged) {
        let Some(MergedEdit { base: own, patch, .. }) = merged else { return Ok(None) };
        if *base.get_or_insert(own) != own {
            return Ok(None);
        }
        patches.push(patch.clone());
    }
    let Some(base) = base else { return Ok(None) };
    Ok(Some(matching::apply_all(base, &patches)?.0.into()))
}

/// Where an offset in the text with only one of the patches is in the text with all of them.
fn offset_in_result(offset: usize, own: usize, patches: &[Patch], spans: &[Span]) -> usize {
    let Patch { range, text } = &patches[own];
    if (range.start..=range.start + text.len()).contains(&offset) {
        return spans[own].start + offset - range.start;
    }
    let old = if offset < range.start { offset } else { offset - text.len() + (range.end - range.start) };
    let mut result = old;
    for (Patch { range, text }, span) in patches.iter().zip(spans) {
        if range.end <= old {
            result = result + text.len() - (range.end - range.start);
        } else if range.start < old {
            return span.start;
        }
    }
    result
}
