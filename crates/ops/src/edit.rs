//! `edit`: each edit matches exactly one place, or the whole change is refused.

mod hunk_place;
mod neighbours;
pub(super) mod symbol_edit;
mod text_edit;
mod whole_files;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply_change::{Mode, Plan, apply_change};
use super::base::{Base, Retry, base_of, conflict, merged, patch_between};
use super::fixes;
use super::format_and_imports::FormatOptions;
use super::open::text_of;
use super::query::RequestOptions;
use whole_files::Fate;

use semdex_contract::{At, ChangeReport, Edit, EditRequest, Edits, Target, TextSearch};
use semdex_engine::files::{File, Files};
use semdex_model::{Code, Error, Help, Landed, Result, Span, Strategy, Symbol, SymbolQuery};
use semdex_text::applied;
use semdex_text::lines::LineIndex;
use semdex_text::matching::{self, Outcome, Patch, Search};
use semdex_text::merge;
use semdex_workspace::{Cause, Workspace};

/// The edits of a request may take so long to be matched, unless `wait_ms` says that they may take longer. One edit has
/// a bound of its own (`text/src/matching/`).
const MATCHING: Duration = Duration::from_secs(10);

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
        Target::Text { file, .. }
        | Target::File { file, .. }
        | Target::Delete { file, .. }
        | Target::Move { file, .. } => Some(file),
        Target::Within { symbol, .. } | Target::Symbol { symbol, .. } => symbol.file.as_deref(),
        Target::Fix(_) => None,
    }
}

/// An edit with its place.
struct Placed {
    file: Arc<File>,
    /// What happens to the file as a whole.
    fate: Fate,
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
        Placed { file, fate: Fate::Stays, patch, strategy, score: 100.0, merged: None, kept: Vec::new() }
    }

    /// An edit of the text that its author saw, merged with what others changed since. `None` if the present text has
    /// the edit already.
    fn on_base(
        file: &Arc<File>,
        base: &Arc<str>,
        patch: Patch,
        strategy: Strategy,
        retry: Retry,
    ) -> Result<Option<Placed>> {
        let (ours, _) = matching::apply_all(base, std::slice::from_ref(&patch))?;
        let both = merged(file, base, &ours, retry)?;
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
    // The place of each edit, with the index of the edit. A fix has several.
    let mut placed: Vec<(usize, Placed)> = Vec::new();
    let until = options.needs(None, true).deadline.max(options.begun + MATCHING);
    for (index, edit) in request.edits.iter().enumerate() {
        if Instant::now() >= until {
            return Err(late(index, request.edits.len(), until - options.begun));
        }
        let some = place(workspace, edit, request, &snapshot.files, options).await.map_err(|mut error| {
            if let Some(other) = made_by(&error, index, &request.edits) {
                error.detail = format!(
                    "{}; it exists only after `edits[{other}]`, and all edits are matched against the files as they are \
                     before the first of them: merge both edits into one",
                    error.detail
                );
            }
            if error.code == Code::AlreadyExists {
                error = whole_files::deleted_by_another(&request.edits, index).unwrap_or(error);
            }
            error.help.edit = several.then_some(index);
            if let Some(line) = edit.line {
                error.detail = format!("line {line} of the patch: {}", error.detail);
            }
            if error.code == Code::UnknownFile {
                error.detail.push_str(&whole_files::made_by_another(&request.edits, index));
            }
            tracing::trace!(index, code = error.code.name(), reason = error.detail, "an edit is refused");
            error
        })?;
        for Placed { file, strategy, score, patch, .. } in &some {
            let (start, end) = (patch.range.start, patch.range.end);
            tracing::trace!(index, file = %file.path, stage = strategy.name(), score, start, end, "an edit is located");
        }
        placed.extend(some.into_iter().map(|it| (index, it)));
    }
    let mut plan = combine(&placed)?;
    plan.findings = whole_files::undeclared(workspace, &snapshot.files, &plan.edits);
    Ok(plan)
}

fn late(matched: usize, of: usize, patience: Duration) -> Error {
    let detail = format!(
        "only {matched} of {of} edits were matched within {} s, and nothing was changed: send fewer edits in one request, \
         search texts as the files have them, or a longer `wait_ms`",
        patience.as_secs()
    );
    Error::new(Code::Timeout, detail)
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
        Target::File { file, mode } => {
            whole_files::content(workspace, files, file, *mode, edit, request.repeat, options).await?
        }
        Target::Delete { file, content } => {
            whole_files::deleted(workspace, files, file, content.as_deref(), edit, options).await?
        }
        Target::Move { file, to } => whole_files::moved(workspace, files, file, to, edit, options).await?,
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
    Placed::on_base(file, base, patch, Strategy::Symbol, Retry::ByHash)
}

/// A different edit whose new text contains what this edit did not find.
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
    let TextSearch { context, near_line, whole_lines, place, final_newline } = search;
    let unix = |text: &str| text.replace("\r\n", "\n");
    let has_it =
        |text: &str| text.contains(context.as_str()) || text.contains("\r\n") && unix(text).contains(&unix(context));
    if *base == file.text || !has_it(base) {
        return Ok(None);
    }
    let (near_line, whole_lines) = (*near_line, *whole_lines);
    let mut search = Search { text: base, context, replacement, autofix: 0, near_line, within: None, whole_lines };
    search.near_line = near_line.or_else(|| hunk_place::line(&search, place.as_ref()?));
    match matching::find(&search) {
        Ok(Outcome::Found(hit)) if hit.strategy == Strategy::Exact => {
            if !repeat && applied::around(base, hit.span, context, replacement).is_some() {
                let there = applied::places(&file.text, replacement).first().copied();
                return there.map_or(Ok(None), |there| Err(text_edit::already_applied(file, there)));
            }
            // An exact match has nothing to merge.
            let Ok(mut fitted) = matching::patch(base, &hit, context, replacement) else { return Ok(None) };
            if let Some(place) = place {
                if hunk_place::check(&file.path, base, hit.span, place).is_err() {
                    return Ok(None);
                }
                hunk_place::end_file(base, hit.span, &mut fitted.patch, *final_newline);
            }
            let retry = if has_it(&file.text) { Retry::ByHash } else { Retry::None };
            let placed = Placed::on_base(file, base, fitted.patch, Strategy::Exact, retry);
            if search.near_line.is_some() {
                return placed;
            }
            match matching::find(&Search { text: &file.text, ..search }) {
                Ok(Outcome::Found(now)) if now.strategy == Strategy::Exact => {
                    unless_moved(placed, file, base, [hit.span, now.span], replacement)
                }
                _ => placed,
            }
        }
        _ => Ok(None),
    }
}

/// A merged edit, if it is where its search text is. A text that is once in the base and once in the present text may have
/// been moved, which a merge takes for a removal: then `None`, or a conflict if other lines enclose it now.
fn unless_moved(
    placed: Result<Option<Placed>>,
    file: &File,
    base: &str,
    [then, now]: [Span; 2],
    replacement: &str,
) -> Result<Option<Placed>> {
    let at = match &placed {
        Ok(placed) => placed.as_ref().map(|it| it.patch.range),
        Err(error) => error.help.conflict.as_ref().map(|it| Span::new(it.place.start, it.place.end)),
    };
    if at.is_none_or(|it| it.start <= now.end && now.start <= it.end) {
        return placed;
    }
    if merge::is_enclosed_alike([base, &file.text], [then.start, now.start]) {
        return Ok(None);
    }
    let both = merge::Conflict {
        reason: "the text that was read is there once, and other lines enclose it",
        base: base[then.start..then.end].to_owned(),
        ours: replacement.to_owned(),
        theirs: file.text[now.start..now.end].to_owned(),
        place: now,
    };
    Err(conflict(file, both, Retry::ByHash))
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
        let TextSearch { context, near_line, whole_lines, place, final_newline } = &wanted;
        let (near_line, whole_lines) = (*near_line, *whole_lines);
        let mut search =
            Search { text: &file.text, context, replacement: &replacement, autofix, near_line, within, whole_lines };
        search.near_line = near_line.or_else(|| hunk_place::line(&search, place.as_ref()?));
        let (fitted, hit) = text_edit::search(&files, &file, &search, repeat)?;
        let mut patch = fitted.patch;
        if let Some(place) = place {
            hunk_place::check(&file.path, &file.text, hit.span, place)?;
            hunk_place::end_file(&file.text, hit.span, &mut patch, *final_newline);
            patch = hunk_place::without_context(&file.text, patch);
        }
        Ok(Placed { score: hit.score, kept: fitted.kept, ..Placed::of(file, patch, hit.strategy) })
    });
    found.await.map_err(|_| search_failed())?
}

/// Refuses edits of one file whose places overlap, with the indexes of both. Places may be next to each other.
fn refuse_overlaps(name: &str, edits: &[(usize, &Placed)]) -> Result<()> {
    let range = |it: &(usize, &Placed)| it.1.patch.range;
    let mut order = edits.to_vec();
    order.sort_by_key(|it| (range(it).start, range(it).end));
    let overlap = order.windows(2).find(|pair| range(&pair[1]).start < range(&pair[0]).end);
    let Some([one, other]) = overlap else { return Ok(()) };
    let (first, second) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    let line = |it: &(usize, &Placed)| it.1.file.lines().line(range(it).start);
    let detail = format!(
        "`edits[{}]` (`{name}`, line {}) and `edits[{}]` (line {}) overlap: all edits are matched against the file as it \
         is before the first of them, so send these as one edit",
        first.0,
        line(first),
        second.0,
        line(second)
    );
    let help = Help { edit: Some(second.0), file: Some(name.to_owned()), ..Help::default() };
    Err(Error::new(Code::InvalidRequest, detail).with_help(help))
}

/// Combines the edits by file, and computes where each landed.
fn combine(placed: &[(usize, Placed)]) -> Result<Plan> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (_, it)) in placed.iter().enumerate() {
        by_file.entry(&it.file.path).or_default().push(at);
    }
    let mut texts = Vec::new();
    let mut landed: BTreeMap<usize, Landed> = BTreeMap::new();
    let mut believed_texts = BTreeMap::new();
    for (name, all) in &by_file {
        let file = &placed[all[0]].1.file;
        if all.iter().any(|&at| placed[at].1.file.hash != file.hash) {
            let detail = format!("`{name}` was changed by somebody else during this request: try again");
            let help = Help { actual_hash: Some(file.hash.to_hex().to_string()), ..Help::default() };
            return Err(Error::new(Code::Conflict, detail).with_help(help));
        }
        let edits: Vec<(usize, &Placed)> = all.iter().map(|&at| (placed[at].0, &placed[at].1)).collect();
        let fate = whole_files::fate(name, &edits)?;
        let of_text: Vec<(usize, &Placed)> = edits.into_iter().filter(|it| it.1.has_text()).collect();
        refuse_overlaps(name, &of_text)?;
        let with_text: Vec<usize> = all.iter().copied().filter(|&at| placed[at].1.has_text()).collect();
        let patches: Vec<Patch> = of_text.iter().map(|it| it.1.patch.clone()).collect();
        let (text, spans) = matching::apply_all(&file.text, &patches)?;
        let name = fate.name_after(name);
        let lines = LineIndex::new(&text);
        for (own, (&at, &span)) in with_text.iter().zip(&spans).enumerate() {
            let place = lines.place(name, span);
            let Placed { strategy, score, merged, kept, .. } = &placed[at].1;
            let is_merged = merged.is_some() || !kept.is_empty();
            let kept = kept.iter().map(|&span| {
                let at = |offset| offset_in_result(offset, own, &patches, &spans);
                lines.place(name, Span::new(at(span.start), at(span.end)))
            });
            let kept = kept.collect();
            landed.insert(at, Landed { merged: is_merged, kept, ..Landed::as_sent(*strategy, *score, place) });
        }
        // An edit without a text is about the whole file; of a deleted file nothing is left.
        let whole = if fate == Fate::Deleted { Span::default() } else { Span::new(0, text.len()) };
        for &at in all.iter().filter(|&&at| !placed[at].1.has_text()) {
            landed.insert(at, Landed::as_sent(Strategy::Whole, 100.0, lines.place(name, whole)));
        }
        if let Some(text) = believed(&with_text, placed)? {
            believed_texts.insert(name.to_owned(), text);
        }
        texts.push((file.clone(), fate, text));
    }
    let (edits, moves) = whole_files::settle(&texts)?;
    Ok(Plan { moves, believed: believed_texts, ..Plan::new(edits, landed.into_values().collect()) })
}

/// The text that the author of these edits of one file takes for the result: the text that it saw, with the edits.
/// `None` if it saw the present text.
fn believed(with_text: &[usize], placed: &[(usize, Placed)]) -> Result<Option<Arc<str>>> {
    let mut base = None;
    let mut patches = Vec::new();
    for merged in with_text.iter().filter_map(|&at| placed.get(at)).map(|it| &it.1.merged) {
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
