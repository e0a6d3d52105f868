//! What is found out for a hook: what is wrong in the files that were touched, what the edit broke elsewhere, and what is
//! left at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::apply_change::tried;
use super::super::diagnostics::{Collected, OnLine, find, gravest_first, seen_in};
use super::super::gate::configured;
use super::super::query::RequestOptions;
use super::event::{Event, Kind};
use super::report_text::{Text, counts};
use semdex_config::Gate;
use semdex_contract::Common;
use semdex_engine::Extent;
use semdex_engine::files::Files;
use semdex_model::{Diagnostic, FileEdit, Missing, MissingCode, Result, Severity};
use semdex_workspace::Workspace;
use semdex_workspace::statistics::Seen;

/// How long a hook waits for an index that is being built.
const WAIT_MS: u64 = 1500;
/// After so long what an edit broke elsewhere is not looked for any more.
const LOOKING: Duration = Duration::from_millis(2200);
/// Files of a session that are looked at again at its end.
const LAST_LOOK: usize = 200;
/// All files of a workspace are looked at so long at the end of a session.
const LAST_WAIT: Duration = Duration::from_millis(900);

/// What an agent is answered.
pub(super) struct Report {
    pub(super) text: String,
    /// It is not to go on before it heeds it.
    pub(super) stops: bool,
}

/// What is wrong in the files that were touched. Nothing where nothing is, or nothing is known.
pub(super) async fn edited(workspaces: &[Workspace], event: &Event) -> Option<Report> {
    let mut text = Text::default();
    let mut is_telling = false;
    let mut stops = false;
    for (workspace, files) in located(workspaces, event) {
        let Ok(report) = in_workspace(&workspace, event, &files, &mut text).await else { continue };
        is_telling |= report.0;
        stops |= report.1;
    }
    is_telling.then(|| Report { text: text.finish(), stops })
}

/// Files of a workspace, each with the use of a tool that touched it.
type Touches = Vec<(String, Option<String>)>;

/// The files, by the workspace that they belong to, each with the uses of tools that touched it.
fn located(workspaces: &[Workspace], event: &Event) -> Vec<(Workspace, Touches)> {
    let mut of: Vec<(Workspace, Touches)> = Vec::new();
    for touched in &event.touched {
        let Some((workspace, name)) = locate(workspaces, &touched.file) else { continue };
        let at = of.iter().position(|it| it.0.id() == workspace.id()).unwrap_or_else(|| {
            of.push((workspace, Vec::new()));
            of.len() - 1
        });
        of[at].1.push((name, touched.tool_use.clone()));
    }
    of
}

/// The innermost workspace that a file is in, and its name there.
fn locate(workspaces: &[Workspace], file: &Path) -> Option<(Workspace, String)> {
    // The directory may be named by way of a link; the file itself is the workspace's to follow.
    let directory = file.parent()?.canonicalize().ok()?;
    let file = directory.join(file.file_name()?);
    let around = |it: &&Workspace| file.starts_with(it.root());
    let workspace = workspaces.iter().filter(around).max_by_key(|it| it.root().as_os_str().len())?;
    let name = file.strip_prefix(workspace.root()).ok()?.to_str()?;
    Some((workspace.clone(), workspace.locate(name).ok()?))
}

/// Whether there is anything to tell, and whether it is too much.
async fn in_workspace(
    workspace: &Workspace,
    event: &Event,
    touched: &[(String, Option<String>)],
    text: &mut Text,
) -> Result<(bool, bool)> {
    let options = RequestOptions::new(&Common { wait_ms: Some(WAIT_MS), ..Common::default() }, None)?;
    workspace.follow_settings().await;
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let (files_now, revision) = (snapshot.files.clone(), snapshot.revision);
    drop(snapshot);
    let session = event.session.as_deref();
    let (mut files, mut gone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (file, tool_use) in touched {
        if files_now.get(file).is_none() {
            gone.push(file.clone());
            continue;
        }
        workspace.statistics().count_edit(session, tool_use.as_deref(), event.kind == Kind::Batch);
        if !files.contains(file) && workspace.language_of(file).is_some() {
            files.push(file.clone());
        }
    }
    // A file that is gone says nothing by itself; what it broke is said with those that the same edit touched, as where it
    // was moved.
    if files.is_empty() {
        return Ok((false, false));
    }
    let Collected { mut diagnostics, meta, .. } = find(workspace, &files, &options).await?;
    let is_known = meta.coverage.complete || !diagnostics.is_empty();
    gravest_first(&mut diagnostics);
    let mut is_telling = false;
    let mut most_errors = 0;
    for file in files.iter().filter(|_| is_known) {
        let seen = seen_in(&diagnostics, file);
        workspace.statistics().note_in(session, revision.max(meta.revision), file, seen);
        most_errors = most_errors.max(seen.errors);
        let reported: Vec<&Diagnostic> = of_file(&diagnostics, file);
        if !reported.is_empty() {
            is_telling = true;
            text.of_file(file, seen, &reported);
        }
    }
    // What is wrong in the file itself is worth more than all of it too late.
    let rest = LOOKING.saturating_sub(options.begun.elapsed());
    let looked = elsewhere(workspace, &options, [&files, &gone], &files_now);
    let broken = tokio::time::timeout(rest, looked).await;
    if broken.is_err() && is_telling {
        text.elsewhere_unknown();
    }
    let broken = broken.ok().and_then(Result::ok).unwrap_or_default();
    if !broken.is_empty() {
        if !is_telling && let Some(first) = files.first() {
            text.of_file(first, seen_in(&diagnostics, first), &[]);
        }
        is_telling = true;
        text.elsewhere(&broken);
        if let Some(session) = session {
            workspace.statistics().note_broken(session, broken.iter().map(|it| it.place.file.as_str()));
        }
    }
    Ok((is_telling, is_telling && is_too_much(workspace, most_errors).await))
}

/// The errors and warnings of a file.
fn of_file<'a>(found: &'a [OnLine], file: &str) -> Vec<&'a Diagnostic> {
    let of = found.iter().map(|it| &it.diagnostic);
    of.filter(|it| it.place.file == file && it.severity <= Severity::Warning).collect()
}

/// Whether the workspace's own configuration stops agents at so many errors in a file.
async fn is_too_much(workspace: &Workspace, errors: usize) -> bool {
    let is_more = |gate: Gate| gate.stops_agents && errors > gate.max_errors;
    configured(workspace).await.is_ok_and(is_more)
}

/// The errors in other files that would be gone with the edit taken back: of these files, and of those that are gone.
async fn elsewhere(
    workspace: &Workspace,
    options: &RequestOptions,
    [files, gone]: [&[String]; 2],
    now: &Arc<Files>,
) -> Result<Vec<Diagnostic>> {
    let mut back = Vec::new();
    for file in files.iter().chain(gone) {
        let Some(before) = workspace.recent().before(file) else { continue };
        let old = now.get(file).map(|it| it.text.clone());
        if before != old && !back.iter().any(|it: &FileEdit| it.file == *file) {
            back.push(FileEdit { file: file.clone(), old, new: before });
        }
    }
    if back.is_empty() {
        return Ok(Vec::new());
    }
    let change_impact = tried(workspace, options, back, Extent::FixedElsewhere).await?;
    files.iter().chain(gone).for_each(|it| workspace.recent().forget(it));
    let is_broken = |it: &Diagnostic| it.severity == Severity::Error && !files.contains(&it.place.file);
    let mut broken: Vec<Diagnostic> = change_impact.fixed.into_iter().filter(is_broken).collect();
    broken.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(broken)
}

/// What a session leaves at the end of a turn in the files that it touched or broke. Nothing where nothing is left.
pub(super) async fn left(workspaces: &[Workspace], event: &Event) -> Option<Report> {
    let workspace = of_session(workspaces, event)?;
    let left = last_look(&workspace, event).await?.files;
    let sum = sum(&left);
    if sum.errors == 0 {
        return None;
    }
    let most = left.iter().map(|it| it.1.errors).max().unwrap_or_default();
    let mut text = Text::default();
    text.left(&format!("LSP: {} left in files of this session", counts(sum)), &left);
    Some(Report { text: text.finish(), stops: is_too_much(&workspace, most).await })
}

/// What is left when a session is over, as far as that is known, and what is not.
pub(super) async fn ended(workspaces: &[Workspace], event: &Event) -> Option<String> {
    let begun = Instant::now();
    let workspace = of_session(workspaces, event)?;
    let looked = tokio::time::timeout(LAST_WAIT / 2, last_look(&workspace, event)).await.ok().flatten();
    let everywhere = async {
        let options = RequestOptions::new(&Common { wait_ms: Some(0), ..Common::default() }, None).ok()?;
        let found = find(&workspace, &[], &options).await.ok()?;
        Some((Seen::of(found.diagnostics.iter().map(|it| &it.diagnostic)), unknown(&found)))
    };
    let rest = LAST_WAIT.saturating_sub(begun.elapsed());
    let all = tokio::time::timeout(rest, everywhere).await.ok().flatten();
    let why = match &all {
        Some((_, why)) => why.clone(),
        None => Some("there was no time to look".to_owned()),
    };
    let seen = || {
        let session = workspace.statistics().of(Some(event.session.as_deref()?))?;
        let files = listed(session.files.iter().map(|(file, history)| (file.clone(), history.last())));
        (!session.files.is_empty()).then_some(files)
    };
    let (files, when) = match looked {
        Some(LastLook { files, unknown: None }) => (Some(files), ""),
        // What was seen last, where there is no time to look again.
        _ => (seen(), ", as they were seen last"),
    };
    let mut text = Text::default();
    match (all, files) {
        (Some((all, None)), files) => {
            text.left(&format!("LSP: {} left in the workspace", counts(all)), &files.unwrap_or_default());
        }
        (Some((all, _)), files) if all.errors + all.warnings > 0 => {
            let head = format!("LSP: {} left in the workspace, as far as is known", counts(all));
            text.left(&head, &files.unwrap_or_default());
        }
        (_, Some(files)) => {
            text.left(&format!("LSP: {} left in files of this session{when}", counts(sum(&files))), &files);
        }
        (_, None) => {
            let why = why.unwrap_or_default();
            text.left(&format!("LSP: what is left in the workspace is not known: {why}"), &[]);
            return Some(text.finish());
        }
    }
    why.iter().for_each(|it| text.not_known(it));
    Some(text.finish())
}

/// Why more may come than was found. Where a server is missing nothing will.
fn unknown(found: &Collected) -> Option<String> {
    let may_come = |it: &&Missing| it.code.passes() && it.code != MissingCode::EngineMissing;
    let lack = found.meta.coverage.missing.iter().find(may_come)?;
    // Nobody is there any more to ask again.
    Some(lack.detail.split(": ask again").next().unwrap_or_default().to_owned())
}

/// The workspace that a session is about: the one where the agent works, else the one that knows the session.
fn of_session(workspaces: &[Workspace], event: &Event) -> Option<Workspace> {
    let directories: Vec<PathBuf> = event.directories.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let is_around = |it: &&Workspace| directories.iter().any(|directory| directory.starts_with(it.root()));
    let around = workspaces.iter().filter(is_around).max_by_key(|it| it.root().as_os_str().len());
    let knows =
        |it: &&Workspace| event.session.as_deref().is_some_and(|session| it.statistics().of(Some(session)).is_some());
    around.or_else(|| workspaces.iter().find(knows)).cloned()
}

/// What the files that a session touched or broke have now, those with most errors first.
struct LastLook {
    files: Vec<(String, Seen)>,
    /// Why it may not be all.
    unknown: Option<String>,
}

async fn last_look(workspace: &Workspace, event: &Event) -> Option<LastLook> {
    let session = workspace.statistics().of(Some(event.session.as_deref()?))?;
    let options = RequestOptions::new(&Common { wait_ms: Some(0), ..Common::default() }, None).ok()?;
    let now = workspace.snapshot(options.needs(None, false)).await.ok()?.files;
    let files: BTreeSet<&String> = session.files.keys().chain(&session.broken).collect();
    let is_there = |it: &&&String| now.get(it).is_some() && workspace.language_of(it).is_some();
    let files: Vec<String> = files.iter().filter(is_there).take(LAST_LOOK).map(|it| (*it).clone()).collect();
    if files.is_empty() {
        return Some(LastLook { files: Vec::new(), unknown: None });
    }
    let found = find(workspace, &files, &options).await.ok()?;
    let seen: BTreeMap<&String, Seen> = files.iter().map(|it| (it, seen_in(&found.diagnostics, it))).collect();
    let files = listed(seen.into_iter().map(|(file, seen)| (file.clone(), seen)));
    Some(LastLook { files, unknown: unknown(&found) })
}

fn listed(files: impl Iterator<Item = (String, Seen)>) -> Vec<(String, Seen)> {
    let mut files: Vec<(String, Seen)> = files.filter(|it| it.1.errors + it.1.warnings > 0).collect();
    files.sort_by(|a, b| (b.1.errors, b.1.warnings, &a.0).cmp(&(a.1.errors, a.1.warnings, &b.0)));
    files
}

fn sum(files: &[(String, Seen)]) -> Seen {
    let add =
        |a: Seen, b: &(String, Seen)| Seen { errors: a.errors + b.1.errors, warnings: a.warnings + b.1.warnings, ..a };
    files.iter().fold(Seen::default(), add)
}
