//! A run: reply, change, verification, and again with feedback, until it is verified or no attempt is left.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;

use super::apply_edits::{self, Refused, apply, plain_name};
use super::feedback::Feedback;
use super::model::{Model, Question, Stop};
use super::model_reply::{Said, talk};
use super::prompt::{self, Material, RULES};
use super::run_record::RunRecord;
use super::verification::{self, Verified};
use super::visible_files::VisibleFiles;
use super::workspace_map::{Map, map};
use semdex_contract::{
    ChangeReport, Diagnostic, RunAttempt, RunEdit, RunTask, RunTimes, RunVerification, VerifyKind, milliseconds,
};
use semdex_model::{Code, Error, Result, RunState};
use semdex_ops::Service;
use semdex_text::blocks::Block;
use semdex_text::reply::ReplyEdits;
use semdex_workspace::{Needs, Workspace};

/// How many errors and how much of the diff of an attempt are kept.
const MOST_DIAGNOSTICS: usize = 50;
const LONGEST_DIFF: usize = 20_000;
/// The largest number of remaining errors.
const MOST_ERRORS: usize = 1000;

pub(crate) struct Run {
    pub service: Service,
    pub model: Arc<dyn Model>,
    pub task: RunTask,
    pub record: Arc<RunRecord>,
}

/// Why a run does not succeed.
enum End {
    Failed(String),
    Cancelled,
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error.to_string())
    }
}

/// The effect of a run on files.
#[derive(Default)]
struct Done {
    /// The tokens of its changes in their order.
    changes: Vec<String>,
    /// For each file: its hash before the first change and after the last.
    files: BTreeMap<String, (Option<String>, Option<String>)>,
}

impl Done {
    fn add(&mut self, report: &ChangeReport) {
        self.changes.extend(report.change.clone());
        for file in &report.files {
            let first = (file.old_hash.clone(), None);
            self.files.entry(file.file.clone()).or_insert(first).1.clone_from(&file.hash);
        }
    }

    /// The files that differ from their content before the run.
    fn changed(&self) -> BTreeSet<String> {
        self.files.iter().filter(|(_, (before, after))| before != after).map(|(file, _)| file.clone()).collect()
    }
}

/// The result of one reply.
enum Next {
    Succeeded,
    Again(Feedback),
}

/// Validates a task before it starts, and normalises the names of its files.
pub(crate) async fn checked(workspace: &Workspace, task: RunTask) -> Result<RunTask> {
    if !task.verify.is_empty() && !workspace.is_trusted() {
        let detail = "the workspace is not trusted, so nothing of it is compiled or tested: `semdex trust` it, or send \
                      `verify: []`";
        return Err(Error::new(Code::Untrusted, detail));
    }
    let visible = look(workspace).await?;
    let mut files = Vec::new();
    for file in &task.files {
        let name = workspace.locate(file)?;
        if visible.files.get(&name).is_none() && workspace.read_if_there(&name)?.is_none() {
            return Err(Error::new(Code::UnknownFile, format!("`files`: there is no file `{name}`")));
        }
        files.push(name);
    }
    prompt::check(&visible, &task.prompt, &files)?;
    Ok(RunTask { files, ..task })
}

async fn look(workspace: &Workspace) -> Result<VisibleFiles> {
    let files = workspace.snapshot(Needs::texts()).await?.files;
    Ok(VisibleFiles::new(files, workspace.root()))
}

impl Run {
    /// Executes the run until it has ended in any state.
    pub(crate) async fn carry_out(self) {
        let mut done = Done::default();
        let ended = AssertUnwindSafe(self.work(&mut done)).catch_unwind().await;
        let ended =
            ended.unwrap_or_else(|_| Err(End::Failed("this run met a fault of semdex; it is in the log".into())));
        let finished = AssertUnwindSafe(self.finish(ended, &done)).catch_unwind().await;
        if finished.is_err() {
            let reason =
                "this run met a fault of semdex, which is in the log: its changes stay, and are in the journal";
            self.record.end(RunState::Failed, Some(reason.to_owned()));
        }
    }

    async fn work(&self, done: &mut Done) -> Result<(), End> {
        let mut feedback = Feedback::Nothing;
        let mut doubted = Vec::new();
        let mut why = String::new();
        for attempt in 0..=self.task.max_retries {
            let is_last = attempt == self.task.max_retries;
            let (said, visible) = self.ask(&feedback, done).await?;
            let next = match self.heard(said) {
                Err(feedback) => Next::Again(feedback),
                Ok(edits) => self.try_out(edits, &visible, done, &mut doubted, is_last).await?,
            };
            match next {
                Next::Succeeded => return Ok(()),
                Next::Again(next) => {
                    why = summary(&next);
                    feedback = next;
                }
            }
            if self.task.dry_run && matches!(feedback, Feedback::Broken(_)) {
                break;
            }
        }
        let replies = self.record.lock().attempts.len();
        let counted = if replies == 1 { "1 reply".to_owned() } else { format!("{replies} replies") };
        Err(End::Failed(format!("after {counted} of the model: {why}")))
    }

    /// The next reply of the model, and the files that were visible to it.
    async fn ask(&self, feedback: &Feedback, done: &Done) -> Result<(Said, VisibleFiles), End> {
        self.record.step("reading the workspace");
        let workspace = self.record.workspace();
        let visible = self.unless_cancelled(look(workspace)).await??;
        let mut named = visible.named_by(&self.task.prompt);
        named.retain(|it| !self.task.files.contains(it));
        let map = self.unless_cancelled(map(&self.service, workspace, &self.task, &named)).await?;
        let changed = done.changed();
        let Map { text, ranked } = map;
        let material =
            Owned { visible, task: self.task.clone(), named, changed, map: text, ranked, feedback: feedback.clone() };
        // Counting words and parsing files takes time, so it runs on another thread.
        let written = tokio::task::spawn_blocking(move || material.prompt());
        let (prompt, tokens, visible) =
            written.await.map_err(|_| End::Failed("the prompt could not be written".into()))?;
        let question = Question { model: self.record.model.clone(), system: RULES.to_owned(), prompt };
        self.record.step("asking the model");
        let began = Instant::now();
        let said = talk(&*self.model, &question, |it| self.record.step(it));
        let said = self.unless_cancelled(said).await?.map_err(|it| End::Failed(it.detail))?;
        let took = RunTimes { model_ms: milliseconds(began.elapsed()), ..RunTimes::default() };
        self.record.note(|it| {
            it.usage.input_tokens += said.usage.input_tokens;
            it.usage.output_tokens += said.usage.output_tokens;
            it.attempts.push(RunAttempt {
                edits: Vec::new(),
                change: None,
                refused: None,
                diagnostics: Vec::new(),
                verify: Vec::new(),
                diff: String::new(),
                prompt_tokens: tokens,
                took,
            });
        });
        Ok((said, visible))
    }

    /// The edits of a complete reply.
    fn heard(&self, said: Said) -> Result<ReplyEdits, Feedback> {
        let cut = match &said.stop {
            Stop::End => None,
            Stop::Length => Some("It reached the most tokens that a reply may have".to_owned()),
            Stop::Cut(why) => Some(format!("It was cut off ({why})")),
        };
        let heard = match (cut, said.edits) {
            (Some(cut), _) => Err(Feedback::Cut(cut)),
            (None, Err(error)) => Err(Feedback::Malformed(error.detail)),
            (None, Ok(edits)) => Ok(edits),
        };
        let root = self.record.workspace().root();
        let shown = heard.as_ref().map(|it| listed(&it.blocks, root)).unwrap_or_default();
        let refused = heard.as_ref().err().map(summary);
        self.record.attempt(|it| (it.edits, it.refused) = (shown, refused));
        heard
    }

    /// Applies the edits and verifies the result.
    async fn try_out(
        &self,
        edits: ReplyEdits,
        visible: &VisibleFiles,
        done: &mut Done,
        doubted: &mut Vec<String>,
        is_last: bool,
    ) -> Result<Next, End> {
        let ReplyEdits { mut blocks, nameless } = edits;
        let root = self.record.workspace().root().to_owned();
        blocks.iter_mut().for_each(|it| it.file = plain_name(&it.file, &root));
        if !blocks.is_empty() {
            if self.record.cancel.is_cancelled() {
                return Err(End::Cancelled);
            }
            self.record.step("applying the edits");
            // The change is not cancelled in the middle. Otherwise it is unknown whether there is something to undo.
            let errors = match self.change(&blocks, visible, done).await? {
                Ok(errors) => errors,
                Err(feedback) => return Ok(Next::Again(feedback)),
            };
            let keys: Vec<String> =
                errors.iter().map(|it| format!("{}:{}: {}", it.place.file, it.place.line, it.message)).collect();
            // Errors that the model does not fix, and the final decision, are left to the compiler.
            let is_for_the_compiler =
                !self.task.verify.is_empty() && !self.task.dry_run && (is_last || keys == *doubted);
            if !errors.is_empty() && !is_for_the_compiler {
                *doubted = keys;
                return Ok(Next::Again(Feedback::Broken(apply_edits::findings(&errors))));
            }
        }
        if self.task.dry_run {
            return Ok(Next::Succeeded);
        }
        self.verify(!blocks.is_empty(), nameless, done).await
    }

    /// Makes the change. Returns the errors that it causes, or the feedback for the model.
    async fn change(
        &self,
        blocks: &[Block],
        visible: &VisibleFiles,
        done: &mut Done,
    ) -> Result<Result<Vec<Diagnostic>, Feedback>, End> {
        let began = Instant::now();
        let (workspace, dry_run) = (self.record.workspace().id(), self.task.dry_run);
        let applied = apply(&self.service, workspace, &self.client(), visible, blocks, dry_run).await;
        let edit_ms = milliseconds(began.elapsed());
        let report = match applied {
            Ok(report) => report,
            Err(Refused::Failed(error)) => return Err(error.into()),
            Err(Refused::Missed(misses)) => {
                let feedback = Feedback::Missed(misses);
                let refused = Some(summary(&feedback));
                self.record.attempt(|it| {
                    it.refused = refused;
                    it.took.edit_ms = edit_ms;
                });
                return Ok(Err(feedback));
            }
        };
        if !dry_run {
            done.add(&report);
        }
        let errors = apply_edits::errors(&report);
        let mut diff: String = report.files.iter().map(|it| it.diff.as_str()).collect();
        let end = (0..=LONGEST_DIFF.min(diff.len())).rev().find(|it| diff.is_char_boundary(*it)).unwrap_or_default();
        diff.truncate(end);
        self.record.attempt(|it| {
            it.change.clone_from(&report.change);
            for (edit, landed) in it.edits.iter_mut().zip(&report.edits) {
                edit.file.clone_from(&landed.place.file);
                edit.landed = Some(landed.clone());
            }
            it.diagnostics = errors.iter().take(MOST_DIAGNOSTICS).cloned().collect();
            it.diff = diff;
            it.took.edit_ms = edit_ms;
        });
        self.record.note(|it| {
            it.files = done.changed().into_iter().collect();
            it.changes.clone_from(&done.changes);
            it.errors = errors.iter().take(MOST_ERRORS).cloned().collect();
        });
        Ok(Ok(errors))
    }

    async fn verify(&self, had_edits: bool, nameless: Vec<usize>, done: &Done) -> Result<Next, End> {
        let began = Instant::now();
        let mut kinds = self.task.verify.clone();
        // Fast and informative verifications come first.
        kinds.sort_by_key(|it| match it {
            VerifyKind::Check => 0,
            VerifyKind::Lint => 1,
            VerifyKind::Test => 2,
        });
        for kind in kinds {
            self.record.step(format!("verifying: {}", kind.name()));
            let workspace = self.record.workspace();
            let client = self.client();
            let verified = verification::verify(&self.service, workspace, kind, &done.changes, &client);
            let verified: Verified = self.unless_cancelled(verified).await?;
            let result = RunVerification {
                kind,
                ok: verified.ok,
                duration_ms: milliseconds(verified.duration),
                errors: verified.errors.len().max(verified.failed_tests.len()),
                failed_tests: verified.failed_tests.iter().take(MOST_DIAGNOSTICS).cloned().collect(),
                refused: verified.refused.clone(),
            };
            self.record.attempt(|it| {
                it.verify.push(result);
                it.took.verify_ms = milliseconds(began.elapsed());
            });
            let Verified { ok, errors, findings, output, refused, .. } = verified;
            self.record.note(|it| it.errors = errors.into_iter().take(MOST_ERRORS).collect());
            if let Some(refused) = refused {
                return Err(End::Failed(format!("it cannot be verified: {refused}")));
            }
            if !ok {
                return Ok(Next::Again(Feedback::Failed { kind, had_edits, nameless, findings, output }));
            }
        }
        self.record.note(|it| it.errors.clear());
        Ok(Next::Succeeded)
    }

    /// Commits a successful run, and reverts an unsuccessful one.
    async fn finish(&self, ended: Result<(), End>, done: &Done) {
        let (state, reason) = match ended {
            Ok(()) => {
                let refused = self.commit(done).await.err();
                let reason = refused.map(|it| format!("it is verified and stays, but was not committed: {it}"));
                let state = if reason.is_some() { RunState::Failed } else { RunState::Succeeded };
                return self.record.end(state, reason);
            }
            Err(End::Failed(reason)) => (RunState::Failed, Some(reason)),
            Err(End::Cancelled) => (RunState::Cancelled, None),
        };
        if self.task.keep || done.changes.is_empty() {
            return self.record.end(state, reason);
        }
        self.record.step("taking its changes back");
        match semdex_ops::restore_files(self.record.workspace(), &done.changes, Some(self.client())).await {
            Ok(left) => {
                let is_all = left.is_empty();
                self.record.note(|it| {
                    it.files = left;
                    if is_all {
                        it.changes.clear();
                    }
                });
                self.record.end(state, reason);
            }
            Err(error) => {
                let stays = format!("its changes could not be taken back: {error}");
                let reason = reason.map_or_else(|| stays.clone(), |it| format!("{it}; {stays}"));
                self.record.end(state, Some(reason));
            }
        }
    }

    async fn commit(&self, done: &Done) -> Result<()> {
        if !self.task.commit || self.task.dry_run || done.changed().is_empty() {
            return Ok(());
        }
        self.record.step("committing");
        let commit =
            super::commit::commit(&self.service, self.record.workspace(), &done.changes, &self.client()).await?;
        self.record.note(|it| it.commit = Some(commit));
        Ok(())
    }

    /// Waits for a future unless the run is cancelled.
    async fn unless_cancelled<T>(&self, wait: impl Future<Output = T>) -> Result<T, End> {
        tokio::select! {
            biased;
            () = self.record.cancel.cancelled() => Err(End::Cancelled),
            done = wait => Ok(done),
        }
    }

    /// The name of the client in the journal.
    fn client(&self) -> String {
        format!("run {}", self.record.run)
    }
}

/// The owned input of a prompt, for another thread.
struct Owned {
    visible: VisibleFiles,
    task: RunTask,
    named: Vec<String>,
    changed: BTreeSet<String>,
    map: String,
    ranked: Vec<String>,
    feedback: Feedback,
}

impl Owned {
    fn prompt(self) -> (String, usize, VisibleFiles) {
        let Owned { visible, task, mut named, changed, map, ranked, feedback } = self;
        let wanted = task.files;
        // Files that match words of the task come first among the chosen files, but are not required.
        named.extend(ranked);
        let material = Material {
            visible: &visible,
            task: &task.prompt,
            named: &wanted,
            changed: &changed,
            map: &map,
            ranked: &named,
            feedback: &feedback,
        };
        let (prompt, tokens) = prompt::prompt(&material);
        (prompt, tokens, visible)
    }
}

fn listed(blocks: &[Block], root: &Path) -> Vec<RunEdit> {
    blocks.iter().map(|it| RunEdit { file: plain_name(&it.file, root), reply_line: it.line, landed: None }).collect()
}

/// The error in one sentence.
fn summary(feedback: &Feedback) -> String {
    match feedback {
        Feedback::Nothing => String::new(),
        Feedback::Cut(why) => format!("the reply did not end: {why}"),
        Feedback::Malformed(why) => format!("the reply could not be read: {why}"),
        Feedback::Missed(misses) => {
            let first = misses.first().map(|it| format!("`{}`: {}", it.file, it.why)).unwrap_or_default();
            let more = if misses.len() > 1 { format!(" (and {} more)", misses.len() - 1) } else { String::new() };
            format!("an edit of {first}{more}")
        }
        Feedback::Broken(findings) => format!("the edits break {} places", findings.len()),
        Feedback::Failed { kind, findings, .. } => {
            let first = findings.first().map(|it| format!(": {}", it.message.lines().next().unwrap_or_default()));
            format!("`{}` does not succeed{}", kind.name(), first.unwrap_or_default())
        }
    }
}
