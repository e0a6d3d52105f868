//! Applies a planned change of any call: computes its impact, proposes it to the writer, and builds the report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semdex_config::CountedBuilds;
use semdex_contract::{ChangeReport, ChangedFile, DiagnosticsDelta, Elisions, Finding, Meta, OnBreak, list};
use semdex_engine::links::{self, Link};
use semdex_engine::{EngineKind, Extent, Route, Stop, not_started};
use semdex_model::{
    Broken, ChangeImpact, Code, Coverage, Diagnostic, Error, FileEdit, Help, Landed, MissingCode, Result, Revision,
    Severity, Usage,
};
use semdex_text::diff::{renamed, unified};
use semdex_text::matching::added_elision;
use semdex_workspace::disk::Notes;
use semdex_workspace::timing::{self, Part};
use semdex_workspace::{Cause, Change, Hashes, Outcome, Preparations, Undone, Workspace};

use super::format_and_imports::{self, FormatOptions};
use super::gate::configured;
use super::query::{RequestOptions, deadlines};
use super::validate;

/// How often a change is planned again for another reason than a changed text.
const ATTEMPTS: usize = 8;
/// For how long a change is planned again while others change its files, counted from its turn.
const AGAIN: Duration = Duration::from_secs(30);

/// What a request changes in the present texts.
pub(super) struct Plan {
    pub(super) edits: Vec<FileEdit>,
    /// The new names of moved files, each with the old name.
    pub(super) moves: BTreeMap<String, String>,
    pub(super) landed: Vec<Landed>,
    /// The places that a rename leaves although they may name its symbol, in the texts after it.
    pub(super) possible: Vec<Usage>,
    /// Findings of the plan itself.
    pub(super) findings: Vec<Finding>,
    /// Notes by file, for the user.
    pub(super) notes: Notes,
    /// Texts that the client expects in the files after the change: it has not seen what others changed.
    pub(super) believed: BTreeMap<String, Arc<str>>,
}

impl Plan {
    pub(super) fn new(edits: Vec<FileEdit>, landed: Vec<Landed>) -> Plan {
        let (moves, believed) = (BTreeMap::new(), BTreeMap::new());
        Plan { edits, moves, landed, possible: Vec::new(), findings: Vec::new(), notes: Notes::new(), believed }
    }

    /// The old content of the file that an edit results in: for a moved file, the content under its old name.
    fn text_before<'a>(&'a self, edit: &'a FileEdit) -> Option<&'a Arc<str>> {
        match self.moves.get(&edit.file) {
            Some(from) => self.edits.iter().find(|it| it.file == *from)?.old.as_ref(),
            None => edit.old.as_ref(),
        }
    }

    /// The diff of one of the edits. A moved file is compared with its old content.
    fn diff_of(&self, edit: &FileEdit) -> String {
        let from = self.moves.get(&edit.file);
        match (from.zip(self.text_before(edit)), &edit.new) {
            (Some((from, old)), Some(new)) => renamed(from, old, &edit.file, new),
            (None, None) if self.moves.values().any(|it| *it == edit.file) => String::new(),
            _ => unified(edit.old.as_deref(), edit.new.as_deref(), &edit.file),
        }
    }
}

/// The options of a change.
#[derive(Debug, Clone)]
pub(super) struct Mode {
    pub(super) cause: Cause,
    pub(super) dry_run: bool,
    pub(super) on_break: OnBreak,
    pub(super) undoes: Option<Undone>,
    pub(super) format_options: FormatOptions,
    /// The files that the change is known to edit before it is planned.
    pub(super) files: Vec<String>,
    pub(super) elisions: Elisions,
}

impl Mode {
    pub(super) fn new(cause: Cause, dry_run: bool, on_break: OnBreak) -> Mode {
        let (undoes, format_options) = (None, FormatOptions::default());
        let elisions = Elisions::Keep;
        Mode { cause, dry_run, on_break, undoes, format_options, files: Vec::new(), elisions }
    }
}

/// Plans a change and applies it. If others changed its files in between, it is planned again. Requests of the same
/// files take turns, so that each of many gets through.
pub(super) async fn apply_change<F>(
    workspace: &Workspace,
    options: &RequestOptions,
    mode: Mode,
    plan: impl Fn() -> F,
) -> Result<ChangeReport>
where
    F: Future<Output = Result<Plan>>,
{
    let rejected_in = match mode.on_break {
        OnBreak::Reject => Some(configured(workspace).await.map(|it| it.builds).unwrap_or_default()),
        OnBreak::Report => None,
    };
    let mut last = None;
    let mut turn = timing::during(Part::Queue, workspace.turn(&mode.files)).await;
    let latest = options.needs(None, true).deadline.max(Instant::now() + AGAIN);
    // Attempts that failed for another reason than a changed text.
    let mut failed = 0;
    while last.is_none() || Instant::now() < latest && failed < ATTEMPTS {
        let mut plan = match plan().await {
            Ok(plan) => plan,
            Err(error) if is_outdated(&error) => {
                last = Some(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        if mode.elisions == Elisions::Refuse {
            refuse_elisions(&plan)?;
        }
        match format_and_imports::format_and_fix_imports(workspace, options, &mut plan, mode.format_options).await {
            Ok(()) => plan.edits.retain(|it| it.old != it.new),
            Err(Stop::Stale) => {
                workspace.telemetry().stale_retries.up();
                last = last.or_else(|| Some(stale()));
                continue;
            }
            Err(Stop::Failed(error)) if error.code == Code::Conflict => {
                failed += usize::from(!is_outdated(&error));
                last = Some(error);
                continue;
            }
            Err(Stop::Failed(error)) => return Err(error),
        }
        workspace.check_overlays(&plan.edits)?;
        let (view_impact, prepared) = match impact_of(workspace, options, &plan.edits, Extent::Whole).await {
            Ok((view_impact, prepared)) if mode.on_break == OnBreak::Reject => {
                (with_own_errors(view_impact, &plan.edits), prepared)
            }
            Ok(found) => found,
            Err(Stop::Stale) => {
                workspace.telemetry().stale_retries.up();
                last = last.or_else(|| Some(stale()));
                continue;
            }
            Err(Stop::Failed(error)) => return Err(error),
        };
        if plan.edits.is_empty() {
            let revision = workspace.snapshot(options.needs(None, false)).await?.revision;
            let meta = workspace.meta(None, revision, Coverage::default());
            return Ok(report(workspace, &plan, nothing_done(revision), meta.into()));
        }
        let change = Change {
            cause: mode.cause,
            client: options.client.clone(),
            request_key: options.request_key.clone(),
            undoes: mode.undoes.clone(),
            edits: plan.edits.clone(),
            moves: plan.moves.clone(),
            dry_run: mode.dry_run,
            rejected_in,
            view_impact,
            prepared,
        };
        match workspace.change(change, options.needs(None, true).deadline).await {
            Ok(outcome) => {
                if outcome.applied {
                    note_believed(workspace, options, &plan);
                }
                let mut report = finish(workspace, &plan, outcome, rejected_in.unwrap_or_default())?;
                validate::suggest(workspace, options, &plan, &mut report.validation).await;
                report.validation.append(&mut plan.findings);
                return Ok(report);
            }
            Err(error) if error.code == Code::Conflict => {
                failed += usize::from(!is_outdated(&error));
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
        let mut files: Vec<String> = plan.edits.iter().map(|it| it.file.clone()).collect();
        files.extend(mode.files.iter().cloned());
        if !turn.is_of(&files) {
            drop(turn);
            turn = workspace.turn(&files).await;
        }
    }
    Err(last.unwrap_or_else(stale))
}

/// The change was planned from a text that is no longer the file's. Planned again, it may be made.
fn is_outdated(error: &Error) -> bool {
    error.code == Code::Conflict && error.help.actual_hash.is_some() && error.help.conflict.is_none()
}

fn stale() -> Error {
    Error::new(Code::Conflict, "the files were changed by others again and again: read them and try once more")
}

/// What the client takes for the texts of the files now.
fn note_believed(workspace: &Workspace, options: &RequestOptions, plan: &Plan) {
    let Some(session) = &options.session else { return };
    for edit in &plan.edits {
        match plan.believed.get(&edit.file).or(edit.new.as_ref()) {
            Some(text) => workspace.seen_texts().note_believed(session, &edit.file, text),
            None => workspace.seen_texts().note_gone(session, &edit.file),
        }
    }
}

/// Refuses a plan that writes an elision in place of code, before the text is formatted.
fn refuse_elisions(plan: &Plan) -> Result<()> {
    for edit in &plan.edits {
        let (Some(old), Some(new)) = (plan.text_before(edit), &edit.new) else { continue };
        if let Some((line, mut error)) = added_elision(&edit.file, old, new) {
            let holds = |it: &Landed| it.place.file == edit.file && (it.place.line..=it.place.end_line).contains(&line);
            error.help.edit = plan.landed.iter().position(holds).filter(|_| plan.landed.len() > 1);
            return Err(error);
        }
    }
    Ok(())
}

/// Computes the impact of a change once without applying it. If the workspace changes during that, the impact is
/// unknown.
pub(super) async fn tried(
    workspace: &Workspace,
    options: &RequestOptions,
    edits: Vec<FileEdit>,
    extent: Extent,
) -> Result<ChangeImpact> {
    let busy = || Error::new(Code::Conflict, "the files were changed by others during this request");
    let (view_impact, prepared) = impact_of(workspace, options, &edits, extent).await.map_err(|stop| match stop {
        Stop::Stale => busy(),
        Stop::Failed(error) => error,
    })?;
    let change = Change {
        cause: Cause::Edit,
        client: None,
        request_key: None,
        undoes: None,
        edits,
        moves: BTreeMap::new(),
        dry_run: true,
        rejected_in: None,
        view_impact,
        prepared,
    };
    Ok(workspace.change(change, options.needs(None, true).deadline).await?.change_impact)
}

/// With `on_break: reject` the written text itself must compile too, so its own errors count as broken places.
fn with_own_errors(mut change_impact: ChangeImpact, edits: &[FileEdit]) -> ChangeImpact {
    for diagnostic in change_impact.new.iter().filter(|it| it.severity == Severity::Error) {
        let Some(edit) = edits.iter().find(|it| it.file == diagnostic.place.file) else { continue };
        let text = edit.new.as_deref().unwrap_or_default();
        let line = text.lines().nth(diagnostic.place.line.saturating_sub(1)).unwrap_or_default().to_owned();
        if change_impact.impact.broken.iter().any(|it| it.at.place == diagnostic.place) {
            continue;
        }
        change_impact.impact.broken.push(Broken::of_error(diagnostic, line, false));
    }
    change_impact
}

/// The impact from the engines that compute it before the writer runs, and what all other engines prepare: these
/// compute it in the writer, which waits for an engine that is loading.
async fn impact_of(
    workspace: &Workspace,
    options: &RequestOptions,
    edits: &[FileEdit],
    extent: Extent,
) -> std::result::Result<(ChangeImpact, Preparations), Stop> {
    let concerned = |it: &&Arc<dyn EngineKind>| edits.iter().any(|edit| it.computes_impact(&edit.file));
    let mut change_impact = ChangeImpact::nothing();
    let mut prepared = Preparations::default();
    for kind in workspace.registry().kinds().iter().filter(concerned) {
        let Some(&language) = kind.languages().first() else { continue };
        let needs = options.needs(Some(language), true);
        let snapshot = workspace.snapshot(needs).await?;
        let unseen = snapshot.unindexed_names.iter().chain(&snapshot.unread);
        unseen.for_each(|it| change_impact.coverage.lacks(it.clone()));
        if kind.route() == Route::Writer {
            if let Some(view) = snapshot.view {
                let of_engine = timing::during(Part::Engine, view.prepare(edits.to_vec(), deadlines(needs))).await?;
                prepared.0.extend(of_engine.map(|it| (kind.name().to_owned(), it)));
            }
            continue;
        }
        let mut own = match snapshot.view {
            Some(view) => timing::during(Part::Engine, view.impact(edits.to_vec(), extent, deadlines(needs))).await?,
            None => not_started(language),
        };
        let leads_here = |it: &&Link| edits.iter().any(|edit| it.other_name(&edit.file).is_some());
        links::missing(snapshot.links.iter().filter(leads_here)).into_iter().for_each(|it| own.lacks(it));
        change_impact.join(own);
    }
    Ok((change_impact, prepared))
}

/// The outcome if the files already have the requested content.
fn nothing_done(revision: Revision) -> Outcome {
    Outcome {
        applied: false,
        change: None,
        to_overlays: false,
        notes: Notes::new(),
        rejected: false,
        revision,
        change_impact: ChangeImpact::nothing(),
        hashes: Hashes::new(),
    }
}

fn finish(workspace: &Workspace, plan: &Plan, mut outcome: Outcome, counted: CountedBuilds) -> Result<ChangeReport> {
    let language = plan.edits.iter().find_map(|it| workspace.language_of(&it.file));
    let refusal = outcome.rejected.then(|| refusal(&outcome.change_impact, counted));
    let coverage = std::mem::take(&mut outcome.change_impact.coverage);
    let meta = workspace.meta(language, outcome.revision, coverage);
    match refusal {
        Some(error) if error.code == Code::WouldBreak => {
            let help = Help { impact: Some(outcome.change_impact.impact), ..Help::default() };
            Err(error.with_help(help).in_workspace(meta))
        }
        Some(error) => Err(error.in_workspace(meta)),
        None => Ok(report(workspace, plan, outcome, meta.into())),
    }
}

/// Why a change was refused: because of what it breaks, or because its impact is incomplete.
fn refusal(change_impact: &ChangeImpact, counted: CountedBuilds) -> Error {
    let all = change_impact.impact.broken.iter();
    let broken: Vec<&Broken> = all.filter(|it| counted.counts(it.at.build.as_deref())).collect();
    match change_impact.not_analysed() {
        Some(missing) if broken.is_empty() => {
            let code = match missing.code {
                MissingCode::Indexing | MissingCode::EngineRestarting | MissingCode::Timeout => Code::NotReady,
                _ => Code::EngineUnavailable,
            };
            // The detail may say the same.
            let why = missing.detail.split(": ask again").next().unwrap_or_default();
            let again = if missing.code.passes() { "ask again with a longer `wait_ms`, or " } else { "" };
            let detail = format!(
                "nothing was written: what the change breaks is not known in full ({why}); {again}send it with \
                 `on_break: \"report\"` to make it all the same"
            );
            Error::new(code, detail)
        }
        _ => {
            let places = if broken.len() == 1 { "1 place".to_owned() } else { format!("{} places", broken.len()) };
            let detail = format!(
                "nothing was written: it would break {places} ({}); send it with `on_break: \"report\"` to make it all \
                 the same",
                first_places(&broken),
            );
            Error::new(Code::WouldBreak, detail)
        }
    }
}

/// All notes about a file.
fn note_of<'a>(file: &str, notes: impl Iterator<Item = &'a (String, String)>) -> Option<String> {
    let notes: Vec<&str> = notes.filter(|it| it.0 == file).map(|it| it.1.as_str()).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn first_places(broken: &[&Broken]) -> String {
    let mut shown: Vec<String> =
        broken.iter().take(3).map(|it| format!("{}:{}", it.at.place.file, it.at.place.line)).collect();
    if broken.len() > shown.len() {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn report(workspace: &Workspace, plan: &Plan, outcome: Outcome, meta: Meta) -> ChangeReport {
    let Outcome { applied, change, to_overlays, notes, change_impact, hashes, .. } = outcome;
    let of = |edit: &FileEdit| hashes.get(&edit.file).copied().unwrap_or_default();
    let hex = |it: blake3::Hash| it.to_hex().to_string();
    let files = plan
        .edits
        .iter()
        .map(|edit| ChangedFile {
            file: edit.file.clone(),
            hash: of(edit).1.map(hex),
            old_hash: of(edit).0.map(hex),
            created: edit.old.is_none(),
            deleted: edit.new.is_none(),
            moved_from: plan.moves.get(&edit.file).cloned(),
            diff: plan.diff_of(edit),
            overlay: to_overlays,
            note: note_of(&edit.file, notes.iter().chain(&plan.notes)),
        })
        .collect();
    let validation = plan.edits.iter().flat_map(|edit| validate::of(workspace, edit, &change_impact.new)).collect();
    let new = unsaid(change_impact.new, &change_impact.impact.broken);
    ChangeReport {
        change,
        applied,
        files,
        possible: list(plan.possible.clone()),
        edits: list(plan.landed.clone()),
        validation,
        diagnostics: DiagnosticsDelta { new: list(new), fixed: list(change_impact.fixed) },
        impact: change_impact.impact.into(),
        commit: None,
        next_cursor: None,
        meta,
        pages: Default::default(),
    }
}

/// The new diagnostics that are not in the list of broken places.
fn unsaid(new: Vec<Diagnostic>, broken: &[Broken]) -> Vec<Diagnostic> {
    let is_said = |it: &Diagnostic| {
        broken.iter().any(|broken| {
            let is_there = broken.at.place.file == it.place.file && broken.at.place.line == it.place.line;
            is_there && (broken.at.place == it.place || broken.code == it.code || broken.reason == it.message)
        })
    };
    new.into_iter().filter(|it| it.severity != Severity::Error || !is_said(it)).collect()
}
