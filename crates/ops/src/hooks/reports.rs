//! Collects the report of a hook: the errors in the touched files, the errors that the edit caused elsewhere, and the
//! remaining errors at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::apply_change::tried;
use super::super::client::Client;
use super::super::diagnostics::{Collected, OnLine, find, gravest_first, seen_in};
use super::super::gate::configured;
use super::super::query::RequestOptions;
use super::super::undo::made;
use super::event::{Event, Kind};
use super::report_text::{Text, counts};
use semdex_config::Gate;
use semdex_contract::Common;
use semdex_engine::files::Files;
use semdex_engine::{Extent, blocking};
use semdex_fs::holds;
use semdex_model::{Code, Diagnostic, FileEdit, Missing, MissingCode, Result, Severity};
use semdex_process::fault;
use semdex_workspace::Workspace;
use semdex_workspace::statistics::Seen;

/// How long a hook waits for an index that is being built.
const WAIT_MS: u64 = 1500;
/// After this time errors in other files are no longer searched.
const LOOKING: Duration = Duration::from_millis(2200);
/// How long they are searched for the next hook.
const LOOKING_ON_MS: u64 = 20_000;
/// How long the end of a turn waits for an index that is being built.
const WAIT_AT_STOP_MS: u64 = 500;
/// How many files of a session are checked again at its end.
const LAST_LOOK: usize = 200;
/// The deadline for checking all files of a workspace at the end of a session.
const LAST_WAIT: Duration = Duration::from_millis(900);

/// The answer for an agent.
pub(super) struct Report {
    pub(super) text: String,
    /// Whether the agent must act on it before it continues.
    pub(super) stops: bool,
}

/// The errors in the touched files. None if there are none or nothing is known.
pub(super) async fn edited(workspaces: &[Workspace], event: &Event) -> Option<Report> {
    let mut text = Text::default();
    let mut is_telling = false;
    let mut stops = false;
    let located = located(workspaces, event);
    note_touched(&located, event);
    note_own_changes(workspaces, event).await;
    for (workspace, touched) in &located {
        match in_workspace(workspace, event, touched, &mut text).await {
            Ok(report) => {
                is_telling |= report.0;
                stops |= report.1;
            }
            Err(error) if matches!(error.code, Code::Timeout | Code::NotReady | Code::Conflict) => {
                let files = leave_for_next(workspace, event, touched);
                if !files.is_empty() {
                    is_telling = true;
                    text.put_off(&files, event.session.is_some());
                }
            }
            Err(_) => {}
        }
    }
    is_telling.then(|| Report { text: text.finish(), stops })
}

/// The end of the turn counts the errors of each touched file, whatever its hook finds in time.
fn note_touched(located: &[(Workspace, Touches)], event: &Event) {
    let Some(session) = &event.session else { return };
    for (workspace, touched) in located {
        workspace.statistics().note_broken(session, touched.iter().map(|it| it.file.as_str()));
    }
}

/// The end of the turn counts the errors of the files that our own tools changed, whatever their arguments name.
async fn note_own_changes(workspaces: &[Workspace], event: &Event) {
    let Some(session) = &event.session else { return };
    for change in &event.changes {
        for workspace in workspaces {
            let Ok(entry) = made(workspace, change).await else { continue };
            workspace.statistics().note_broken(session, entry.files.iter().map(|it| it.file.as_str()));
        }
    }
}

/// Leaves the answer for the next hook of the session, because the time for this one is over. Returns what this hook
/// says instead. None for an event that needs no answer.
pub(super) fn put_off(workspaces: &[Workspace], event: &Event) -> Option<String> {
    let located = located(workspaces, event);
    let named: Vec<String> = located.iter().flat_map(|it| leave_for_next(&it.0, event, &it.1)).collect();
    (!named.is_empty()).then(|| {
        let mut text = Text::default();
        text.put_off(&named, event.session.is_some());
        text.finish()
    })
}

/// Leaves the touched files for the next hook of the session, and searches on for what their edits broke. Returns the
/// files.
fn leave_for_next(workspace: &Workspace, event: &Event, touched: &[Touch]) -> Vec<String> {
    let is_asked = |it: &&Touch| !it.is_own && workspace.language_of(&it.file).is_some();
    let files: Vec<String> = touched.iter().filter(is_asked).map(|it| it.file.clone()).collect();
    if let Some(session) = event.session.as_deref().filter(|_| !files.is_empty()) {
        workspace.statistics().note_pending(session, &files);
        look_on(workspace, session, files.clone(), None);
    }
    files
}

/// What the end of a turn says where there was no time to look. None for a session that touched nothing.
pub(super) fn not_looked(workspaces: &[Workspace], event: &Event) -> Option<String> {
    let workspace = of_session(workspaces, event)?;
    let session = workspace.statistics().of(Some(event.session.as_deref()?))?;
    let files: BTreeSet<&String> = session.files.keys().chain(&session.broken).collect();
    let named: Vec<String> = files.into_iter().filter(|it| workspace.language_of(it).is_some()).cloned().collect();
    (!named.is_empty()).then(|| {
        let mut text = Text::default();
        text.not_known_yet(&named, "there was no time to look");
        text.finish()
    })
}

/// A touched file of a workspace.
struct Touch {
    file: String,
    tool_use: Option<String>,
    is_own: bool,
}

/// The touched files of a workspace.
type Touches = Vec<Touch>;

/// The touched files by workspace.
fn located(workspaces: &[Workspace], event: &Event) -> Vec<(Workspace, Touches)> {
    let mut of: Vec<(Workspace, Touches)> = Vec::new();
    for touched in &event.touched {
        let Some((workspace, name)) = locate(workspaces, &touched.file) else { continue };
        let at = of.iter().position(|it| it.0.id() == workspace.id()).unwrap_or_else(|| {
            of.push((workspace, Vec::new()));
            of.len() - 1
        });
        of[at].1.push(Touch { file: name, tool_use: touched.tool_use.clone(), is_own: touched.is_own });
    }
    of
}

/// The innermost workspace of a file, and the name of the file in it.
fn locate(workspaces: &[Workspace], file: &Path) -> Option<(Workspace, String)> {
    // The directory may be named through a symbolic link. A link at the file itself is resolved by the workspace.
    let directory = file.parent()?.canonicalize().ok()?;
    let file = directory.join(file.file_name()?);
    let around = |it: &&Workspace| holds(it.root(), &file);
    let workspace = workspaces.iter().filter(around).max_by_key(|it| it.root().as_os_str().len())?;
    let name = file.strip_prefix(workspace.root()).ok()?.to_str()?;
    Some((workspace.clone(), workspace.locate(name).ok()?))
}

/// Whether there is anything to report, and whether the agent must stop.
async fn in_workspace(
    workspace: &Workspace,
    event: &Event,
    touched: &[Touch],
    text: &mut Text,
) -> Result<(bool, bool)> {
    let options = RequestOptions::new(&Common { wait_ms: Some(WAIT_MS), ..Common::default() }, Client::default())?;
    workspace.follow_settings().await;
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let (files_now, revision) = (snapshot.files.clone(), snapshot.revision);
    drop(snapshot);
    let session = event.session.as_deref();
    let (mut files, mut gone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for Touch { file, tool_use, is_own } in touched {
        if *is_own {
            continue;
        }
        if files_now.get(file).is_none() {
            gone.push(file.clone());
            continue;
        }
        workspace.statistics().count_edit(session, tool_use.as_deref(), event.kind == Kind::Batch);
        if !files.contains(file) && workspace.language_of(file).is_some() {
            files.push(file.clone());
        }
    }
    // A deleted file has no diagnostics of its own. The errors that it caused are reported with the remaining files of
    // the same edit, for example if it was moved.
    if files.is_empty() {
        return Ok((false, false));
    }
    // What an earlier hook could not say is answered now.
    let pending: Vec<String> = session.map(|it| workspace.statistics().pending(it)).unwrap_or_default();
    let late: Vec<String> =
        pending.into_iter().filter(|it| files_now.get(it).is_some() && !files.contains(it)).collect();
    let found_late = session.map(|it| workspace.statistics().late(it)).unwrap_or_default();
    let found_in = found_late.iter().map(|it| &it.place.file);
    let found_in: BTreeSet<&String> = found_in.filter(|it| !files.contains(it) && !late.contains(it)).collect();
    let asked: Vec<String> = files.iter().chain(&late).chain(found_in).cloned().collect();
    faulty("hook.files").await;
    let Collected { mut diagnostics, meta, .. } = find(workspace, &asked, &options).await?;
    let is_known = meta.coverage.complete || !diagnostics.is_empty();
    gravest_first(&mut diagnostics);
    let mut is_telling = false;
    let mut is_pending = false;
    if let (false, Some(lack)) = (is_known, meta.coverage.missing.iter().find(|it| waits(it))) {
        // Silence would read as clean.
        (is_telling, is_pending) = (true, true);
        text.not_known_yet(&asked, &lack.detail);
        session.into_iter().for_each(|it| workspace.statistics().note_pending(it, &asked));
    }
    for lack in meta.coverage.missing.iter().filter(|it| it.code == MissingCode::NotInAPackage) {
        is_telling = true;
        text.not_included(lack.scope.as_deref(), &lack.detail);
    }
    for file in late.iter().filter(|_| is_known) {
        is_telling = true;
        text.of_file(file, seen_in(&diagnostics, file), &of_file(&diagnostics, file));
    }
    let is_unknown = meta.coverage.missing.iter().any(waits);
    let found_since = still_there(&found_late, &diagnostics, is_unknown, &files);
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
    if !found_since.is_empty() {
        is_telling = true;
        text.elsewhere("An earlier edit", &found_since);
    }
    // The errors of the file itself in time are worth more than a complete answer that is too late.
    let rest = LOOKING.saturating_sub(options.begun.elapsed());
    let looked = elsewhere(workspace, &options, [&files, &gone], &files_now);
    let broken = tokio::time::timeout(rest, looked).await.ok().flatten();
    if broken.is_none() {
        // Silence would read as clean.
        is_telling = true;
        text.elsewhere_unknown(&files, session.is_some());
    }
    let is_judged = broken.is_some();
    let broken = broken.unwrap_or_default();
    if !broken.is_empty() {
        if !is_telling && let Some(first) = files.first() {
            text.of_file(first, seen_in(&diagnostics, first), &[]);
        }
        is_telling = true;
        text.elsewhere("This edit", &broken);
        if let Some(session) = session {
            workspace.statistics().note_broken(session, broken.iter().map(|it| it.place.file.as_str()));
        }
    }
    let stops = is_telling && is_too_much(workspace, most_errors).await;
    // Only now: a hook that runs out of time is cancelled anywhere above.
    for session in session.into_iter().filter(|_| !is_pending) {
        workspace.statistics().settle(session, &asked, &found_late);
    }
    let touched: Vec<String> = files.into_iter().chain(gone).collect();
    match session {
        Some(session) if is_judged => forget(workspace, session, &touched),
        Some(session) => look_on(workspace, session, touched, Some(files_now)),
        None if is_judged => touched.iter().for_each(|it| workspace.recent().forget(it)),
        None => {}
    }
    Ok((is_telling, stops))
}

/// Those of the errors that an earlier search found in other files that are still there, as they are now. What is not
/// known yet counts as still there.
fn still_there(found: &[Diagnostic], now: &[OnLine], is_unknown: bool, files: &[String]) -> Vec<Diagnostic> {
    let mut left: Vec<Diagnostic> = Vec::new();
    for earlier in found.iter().filter(|it| !files.contains(&it.place.file)) {
        // The engines word the errors of a change in their own way, and lines move.
        let is_it = |it: &&Diagnostic| {
            let is_same = it.place.line == earlier.place.line || it.code.is_some() && it.code == earlier.code;
            it.severity == Severity::Error && it.place.file == earlier.place.file && is_same
        };
        let present: Vec<&Diagnostic> = now.iter().map(|it| &it.diagnostic).filter(is_it).collect();
        let of_earlier = if present.is_empty() && is_unknown { vec![earlier] } else { present };
        for it in of_earlier {
            if !left.contains(it) {
                left.push(it.clone());
            }
        }
    }
    left
}

/// Whether more is known when somebody asks again.
fn waits(lack: &Missing) -> bool {
    matches!(lack.code, MissingCode::Indexing | MissingCode::EngineRestarting | MissingCode::Timeout)
}

/// Where a test delays a hook.
async fn faulty(point: &'static str) {
    let _ = blocking(move || {
        fault::point(point);
        Ok(())
    })
    .await;
}

/// Searches on after the hook has answered. The next hook of the session reports what is found. `now`: the present texts,
/// if they are known.
fn look_on(workspace: &Workspace, session: &str, touched: Vec<String>, now: Option<Arc<Files>>) {
    workspace.statistics().note_searched(session, &touched);
    let (workspace, session) = (workspace.clone(), session.to_owned());
    tokio::spawn(async move {
        let common = Common { wait_ms: Some(LOOKING_ON_MS), ..Common::default() };
        let Ok(options) = RequestOptions::new(&common, Client::default()) else { return };
        let now = match now {
            Some(now) => now,
            None => match workspace.snapshot(options.needs(None, false)).await {
                Ok(snapshot) => snapshot.files,
                Err(_) => return,
            },
        };
        let (files, gone): (Vec<String>, Vec<String>) = touched.iter().cloned().partition(|it| now.get(it).is_some());
        if let Some(broken) = elsewhere(&workspace, &options, [&files, &gone], &now).await {
            workspace.statistics().note_late(&session, broken);
            forget(&workspace, &session, &touched);
        }
    });
}

/// The edits of these files are judged.
fn forget(workspace: &Workspace, session: &str, touched: &[String]) {
    touched.iter().for_each(|it| workspace.recent().forget(it));
    workspace.statistics().note_found(session, touched);
}

/// The errors and warnings of a file.
fn of_file<'a>(found: &'a [OnLine], file: &str) -> Vec<&'a Diagnostic> {
    let of = found.iter().map(|it| &it.diagnostic);
    of.filter(|it| it.place.file == file && it.severity <= Severity::Warning).collect()
}

/// Whether the configuration of the workspace stops agents at this number of errors in a file.
async fn is_too_much(workspace: &Workspace, errors: usize) -> bool {
    let is_more = |gate: Gate| gate.stops_agents && errors > gate.max_errors;
    configured(workspace).await.is_ok_and(is_more)
}

/// The errors in other files that an undo of the edit would fix. `files`: the edited and the deleted files. None if
/// they are not known yet.
async fn elsewhere(
    workspace: &Workspace,
    options: &RequestOptions,
    [files, gone]: [&[String]; 2],
    now: &Arc<Files>,
) -> Option<Vec<Diagnostic>> {
    let mut back = Vec::new();
    for file in files.iter().chain(gone) {
        let Some(before) = workspace.recent().before(file) else { continue };
        let old = now.get(file).map(|it| it.text.clone());
        if before != old && !back.iter().any(|it: &FileEdit| it.file == *file) {
            back.push(FileEdit { file: file.clone(), old, new: before });
        }
    }
    if back.is_empty() {
        return Some(Vec::new());
    }
    faulty("hook.elsewhere").await;
    let change_impact = tried(workspace, options, back, Extent::FixedElsewhere).await.ok()?;
    let is_broken = |it: &Diagnostic| it.severity == Severity::Error && !files.contains(&it.place.file);
    let mut broken: Vec<Diagnostic> = change_impact.fixed.into_iter().filter(is_broken).collect();
    if broken.is_empty() && change_impact.coverage.missing.iter().any(waits) {
        return None;
    }
    broken.sort_by(|a, b| a.place.cmp(&b.place));
    Some(broken)
}

/// The remaining errors at the end of a turn in the files that the session touched or broke. None if there are none.
pub(super) async fn left(workspaces: &[Workspace], event: &Event) -> Option<Report> {
    let workspace = of_session(workspaces, event)?;
    let LastLook { files, left, unknown, searched } = last_look(&workspace, event, WAIT_AT_STOP_MS).await?;
    let sum = sum(&left);
    let mut text = Text::default();
    match &unknown {
        Some(why) if sum.errors == 0 => text.not_known_yet(&files, why),
        _ if sum.errors == 0 => {}
        why => {
            text.left(&format!("LSP: {} left in files of this session", counts(sum)), &left);
            why.iter().for_each(|it| text.not_known(it));
        }
    }
    if unknown.is_none() && !searched.is_empty() {
        text.elsewhere_unknown(&searched, true);
    }
    let text = text.finish();
    let most = left.iter().map(|it| it.1.errors).max().unwrap_or_default();
    (!text.is_empty()).then_some(())?;
    Some(Report { text, stops: is_too_much(&workspace, most).await })
}

/// The remaining errors at the end of a session, as far as they are known, and what is unknown.
pub(super) async fn ended(workspaces: &[Workspace], event: &Event) -> Option<String> {
    let begun = Instant::now();
    let workspace = of_session(workspaces, event)?;
    let looked = tokio::time::timeout(LAST_WAIT / 2, last_look(&workspace, event, 0)).await.ok().flatten();
    let everywhere = async {
        let options = RequestOptions::new(&Common { wait_ms: Some(0), ..Common::default() }, Client::default()).ok()?;
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
        // That none was seen says nothing of what is there.
        (sum(&files).errors > 0).then_some(files)
    };
    let (files, when) = match looked {
        Some(LastLook { left, unknown: None, .. }) => (Some(left), ""),
        // If there is no time for another check, the last known errors are reported.
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

/// Why there may be more errors than found. None if a server is missing, because then no further ones will be found.
fn unknown(found: &Collected) -> Option<String> {
    let may_come = |it: &&Missing| it.code.passes() && it.code != MissingCode::EngineMissing;
    let lack = found.meta.coverage.missing.iter().find(may_come)?;
    // No client remains that could ask again.
    Some(lack.detail.split(": ask again").next().unwrap_or_default().to_owned())
}

/// The workspace of a session: the working directory of the agent, otherwise the workspace that knows the session.
fn of_session(workspaces: &[Workspace], event: &Event) -> Option<Workspace> {
    let directories: Vec<PathBuf> = event.directories.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let is_around = |it: &&Workspace| directories.iter().any(|directory| holds(it.root(), directory));
    let around = workspaces.iter().filter(is_around).max_by_key(|it| it.root().as_os_str().len());
    let knows =
        |it: &&Workspace| event.session.as_deref().is_some_and(|session| it.statistics().of(Some(session)).is_some());
    around.or_else(|| workspaces.iter().find(knows)).cloned()
}

/// The present errors of the files that a session touched or broke, the files with the most errors first.
struct LastLook {
    /// All of them.
    files: Vec<String>,
    /// Those with errors or warnings.
    left: Vec<(String, Seen)>,
    /// Why it may be incomplete.
    unknown: Option<String>,
    /// The edited files for which it is not known yet what they broke elsewhere.
    searched: Vec<String>,
}

/// None for a session that touched nothing.
async fn last_look(workspace: &Workspace, event: &Event, wait_ms: u64) -> Option<LastLook> {
    let name = event.session.as_deref()?;
    let session = workspace.statistics().of(Some(name))?;
    let common = Common { wait_ms: Some(wait_ms), ..Common::default() };
    let options = RequestOptions::new(&common, Client::default()).ok()?;
    let now = workspace.snapshot(options.needs(None, false)).await.ok()?.files;
    let files: BTreeSet<&String> = session.files.keys().chain(&session.broken).collect();
    let is_there = |it: &&&String| now.get(it).is_some() && workspace.language_of(it).is_some();
    let files: Vec<String> = files.iter().filter(is_there).take(LAST_LOOK).map(|it| (*it).clone()).collect();
    let searched = session.searched.into_iter().collect();
    if files.is_empty() {
        return None;
    }
    let Ok(found) = find(workspace, &files, &options).await else {
        let unknown = Some("there was no time to look".to_owned());
        return Some(LastLook { files, left: Vec::new(), unknown, searched });
    };
    let seen: BTreeMap<&String, Seen> = files.iter().map(|it| (it, seen_in(&found.diagnostics, it))).collect();
    let left = listed(seen.into_iter().map(|(file, seen)| (file.clone(), seen)));
    let unknown = unknown(&found);
    if unknown.is_none() {
        workspace.statistics().settle(name, &files, &[]);
    }
    Some(LastLook { files, left, unknown, searched })
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
