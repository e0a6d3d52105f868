//! `runs`: a model's work on a task, from the prompt to a verified change.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, Part, left_out, next_cursor, positions, text_cost};
use super::change::Landed;
use super::diagnostics::Diagnostic;
use super::enums::{RunState, VerifyKind};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;
use semdex_model::{Code, Error, Result};

const DEFAULT_RETRIES: u32 = 3;
const MOST_RETRIES: u32 = 20;
/// Longer is no task, but a file.
const LONGEST_PROMPT: usize = 64 << 10;
const MOST_FILES: usize = 100;

request! { body
    /// A task for a model.
    #[schema(examples(json!({
        "prompt": "Give `LineIter::new` a limit on the number of lines.", "files": ["crates/searcher/src/lines.rs"], "commit": true
    })))]
    pub struct StartRunRequest {
        /// What is to be done, in plain words.
        #[schema(min_length = 1)]
        pub prompt: String,
        /// The model, or the inference profile, by its id in Bedrock. Default: `[runs] model` of the user's configuration.
        pub model: Option<String>,
        /// After the first reply the model may try again so often: when an edit misses, breaks something or does not verify.
        #[schema(default = 3, maximum = 20)]
        pub max_retries: Option<u32>,
        /// What has to succeed. An empty list verifies nothing. Default: `check` and `test`.
        pub verify: Option<Vec<VerifyKind>>,
        /// Files that the model is to see in full. Others are chosen by the task.
        pub files: Option<Vec<String>>,
        /// Commit what the run has changed, if it succeeds.
        #[schema(default = false)]
        pub commit: Option<bool>,
        /// Show in `attempts` where the first edits that fit would land, and change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Leave the edits of a run that does not succeed where they are; else the files are again what they were.
        #[schema(default = false)]
        pub keep: Option<bool>,
    }
}

/// A task that is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTask {
    /// What is to be done; not empty.
    pub prompt: String,
    /// None: the one that is configured.
    pub model: Option<String>,
    /// How often the model may try again after its first reply.
    pub max_retries: u32,
    /// What has to succeed, in this order. Empty: nothing is run.
    pub verify: Vec<VerifyKind>,
    /// What the model is shown from the beginning, relative to the workspace root.
    pub files: Vec<String>,
    /// What is verified is committed.
    pub commit: bool,
    /// The edits are tried, and nothing is written.
    pub dry_run: bool,
    /// A run that fails leaves its changes.
    pub keep: bool,
}

impl StartRunRequest {
    /// The task with its defaults. An `invalid_request` names the field that is wrong.
    pub fn checked(self) -> Result<RunTask> {
        let wrong = |detail: String| Err(Error::new(Code::InvalidRequest, detail));
        if self.prompt.trim().is_empty() {
            return wrong("`prompt` is empty: say what is to be done".to_owned());
        }
        if self.prompt.len() > LONGEST_PROMPT {
            let detail = format!(
                "`prompt` has {} bytes, {LONGEST_PROMPT} at most: name long texts in `files`",
                self.prompt.len()
            );
            return Err(Error::new(Code::TooLarge, detail));
        }
        let max_retries = self.max_retries.unwrap_or(DEFAULT_RETRIES);
        if max_retries > MOST_RETRIES {
            return wrong(format!("`max_retries`: {max_retries} is more than {MOST_RETRIES}"));
        }
        if self.model.as_deref().is_some_and(|it| it.trim().is_empty()) {
            return wrong("`model` is empty: give its id in Bedrock, or leave it out".to_owned());
        }
        let files = self.files.unwrap_or_default();
        if files.len() > MOST_FILES {
            return wrong(format!("`files` names {} files, {MOST_FILES} at most", files.len()));
        }
        let mut verify: Vec<VerifyKind> = Vec::new();
        for kind in self.verify.unwrap_or_else(|| vec![VerifyKind::Check, VerifyKind::Test]) {
            if !verify.contains(&kind) {
                verify.push(kind);
            }
        }
        Ok(RunTask {
            prompt: self.prompt,
            model: self.model,
            max_retries,
            verify,
            files,
            commit: self.commit.unwrap_or_default(),
            dry_run: self.dry_run.unwrap_or_default(),
            keep: self.keep.unwrap_or_default(),
        })
    }
}

request! { about run("The token that the run was started with.") query
    /// Which run.
    pub struct RunQuery {}
}

request! { about run("The token that the run was started with.") query
    /// Which run to end.
    pub struct CancelRunQuery {}
}

/// A run that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::run_started))]
pub struct RunStarted {
    /// The token to ask for it with, a ULID.
    pub run: String,
    /// The revision at which it began.
    pub meta: Meta,
}

impl Answer for RunStarted {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }
}

/// How far a run is, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::run))]
pub struct RunReply {
    /// The token that the run was started with.
    pub run: String,
    /// Whether it still works, or how it ended.
    pub state: RunState,
    /// What is being done at the moment, in a few words; null when it has ended.
    #[schema(required)]
    pub step: Option<String>,
    /// Why it failed, or ended in another way than was asked for.
    #[schema(required)]
    pub reason: Option<String>,
    /// The model that is asked.
    #[schema(examples("global.anthropic.claude-sonnet-4-5-20250929-v1:0"))]
    pub model: String,
    /// A reply of the model each, the first one first.
    #[schema(value_type = Vec<RunAttempt>)]
    pub attempts: Listing<RunAttempt>,
    /// The files that are not what they were before the run; those that a run which failed could not restore, or was told to
    /// keep, among them.
    pub files: Vec<String>,
    /// The changes that the run has made and not taken back, the first one first: `/v1/undo` takes them back.
    pub changes: Vec<String>,
    /// What is still wrong, after the last attempt.
    #[schema(value_type = Vec<Diagnostic>)]
    pub errors: Listing<Diagnostic>,
    /// As the model counts them, of all complete replies together.
    pub usage: RunUsage,
    /// How often the model tried again after its first reply.
    pub retries: u32,
    /// The commit, where one was asked for and the run has succeeded.
    #[schema(required)]
    pub commit: Option<String>,
    /// Continues the lists; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision now.
    pub meta: Meta,
}

/// The tokens of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunUsage {
    /// Of all prompts.
    pub input_tokens: u64,
    /// Of all replies.
    pub output_tokens: u64,
}

/// A reply of the model, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunAttempt {
    /// In the order of the reply.
    pub edits: Vec<RunEdit>,
    /// The change that the edits were applied as; null where none was.
    #[schema(required)]
    pub change: Option<String>,
    /// Why nothing of it was applied.
    #[schema(required)]
    pub refused: Option<String>,
    /// The errors that the edits bring: the first 50.
    pub diagnostics: Vec<Diagnostic>,
    /// In the order in which they ran; what came after one that failed was not run.
    pub verify: Vec<RunVerification>,
    /// Unified, of all files: the first 20,000 bytes.
    pub diff: String,
    /// About how large the prompt was, a token counted as four bytes.
    pub prompt_tokens: usize,
    /// Where its time went.
    pub took: RunTimes,
}

/// Where the time of an attempt went, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
pub struct RunTimes {
    /// Until the model's last token.
    pub model_ms: f64,
    /// Until the edits were applied, and what they break was known.
    pub edit_ms: f64,
    /// Until it was verified, or not.
    pub verify_ms: f64,
}

/// One edit of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunEdit {
    /// As the reply names it.
    pub file: String,
    /// Where it begins in the reply, from 1.
    pub reply_line: usize,
    /// Where it landed; absent where it was not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub landed: Option<Landed>,
}

/// A verification and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunVerification {
    /// Which tools ran.
    pub kind: VerifyKind,
    /// They ended well.
    pub ok: bool,
    /// Of all tools together.
    pub duration_ms: f64,
    /// How many errors and failing tests it reports.
    pub errors: usize,
    /// The tests that failed: the first 50.
    pub failed_tests: Vec<String>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refused: Option<String>,
}

/// Where the lists of a run go on.
pub fn run_positions(cursor: Option<&str>) -> Result<[usize; 2]> {
    positions(cursor)
}

impl RunReply {
    fn parts(&self) -> [Part; 2] {
        [self.attempts.part, self.errors.part]
    }
}

impl Answer for RunReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        let form = budget.form();
        let reason = self.reason.as_deref().map_or(0, text_cost);
        let names: usize = self.files.iter().chain(&self.changes).map(|it| it.len() + 8).sum();
        budget.spend(500 + reason + names);
        let attempts = self.attempts.items.iter().map(|it| it.cost(form)).collect();
        let errors = self.errors.items.iter().map(|it| diagnostic_cost(it, form)).collect();
        budget.share(&mut [(&mut self.attempts.part, attempts, 60), (&mut self.errors.part, errors, 100)]);
        self.attempts.truncate();
        self.errors.truncate();
        let [attempts, errors] = self.parts();
        self.next_cursor = next_cursor(&[attempts, errors]);
        Some(left_out(&[("attempts", attempts), ("errors", errors)]))
    }
}

impl RunAttempt {
    fn cost(&self, form: Form) -> usize {
        let edits: usize = self.edits.iter().map(|it| it.file.len() + form.or(40, 240)).sum();
        let diagnostics: usize = self.diagnostics.iter().map(|it| diagnostic_cost(it, form)).sum();
        let verify = |it: &RunVerification| {
            it.failed_tests.iter().map(|it| it.len() + 6).sum::<usize>()
                + it.refused.as_deref().map_or(0, text_cost)
                + 120
        };
        let verify: usize = self.verify.iter().map(verify).sum();
        let refused = self.refused.as_deref().map_or(0, text_cost);
        edits + diagnostics + verify + refused + text_cost(&self.diff) + form.or(120, 320)
    }
}

fn diagnostic_cost(diagnostic: &Diagnostic, form: Form) -> usize {
    let symbol = diagnostic.symbol.as_deref().map_or(0, str::len);
    text_cost(&diagnostic.message) + diagnostic.place.file.len() + symbol + form.or(40, 220)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<RunTask> {
        serde_json::from_str::<StartRunRequest>(text).unwrap().checked()
    }

    #[test]
    fn a_task_has_defaults_and_bounds() {
        let task = checked(r#"{"prompt":"x","model":null}"#).unwrap();
        assert_eq!((task.max_retries, task.verify), (3, vec![VerifyKind::Check, VerifyKind::Test]));
        assert!(!task.commit && !task.dry_run && !task.keep);
        assert_eq!(checked(r#"{"prompt":"x","verify":["test","test"]}"#).unwrap().verify, [VerifyKind::Test]);
        assert_eq!(checked(r#"{"prompt":"x","verify":[]}"#).unwrap().verify, []);
        for (wrong, word) in [
            (r#"{"prompt":" "}"#, "`prompt`"),
            (r#"{"prompt":"x","max_retries":21}"#, "`max_retries`"),
            (r#"{"prompt":"x","model":""}"#, "`model`"),
        ] {
            let error = checked(wrong).unwrap_err();
            assert!(error.code == Code::InvalidRequest && error.detail.contains(word), "{error}");
        }
        let long = StartRunRequest {
            prompt: "x".repeat(LONGEST_PROMPT + 1),
            ..serde_json::from_str(r#"{"prompt":""}"#).unwrap()
        };
        assert_eq!(long.checked().unwrap_err().code, Code::TooLarge);
    }
}
