//! `runs`: runs of a model, from a task to a verified change.

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
/// A longer text belongs in a file.
const LONGEST_PROMPT: usize = 64 << 10;
const MOST_FILES: usize = 100;

request! { body
    /// A task for a model.
    #[schema(examples(json!({
        "prompt": "Give `LineIter::new` a limit on the number of lines.", "files": ["crates/searcher/src/lines.rs"], "commit": true
    })))]
    pub struct StartRunRequest {
        /// The task in plain words.
        #[schema(min_length = 1)]
        pub prompt: String,
        /// The id of the model or inference profile in Bedrock. Default: `[runs] model` of the user's configuration.
        pub model: Option<String>,
        /// How often the model may try again after its first reply, if an edit matches no place, breaks something or
        /// fails the verification.
        #[schema(default = 3, maximum = 20)]
        pub max_retries: Option<u32>,
        /// The verifications that must succeed. An empty list verifies nothing. Default: `check` and `test`.
        pub verify: Option<Vec<VerifyKind>>,
        /// Files that the model gets in full. Other files are chosen by their relevance for the task.
        pub files: Option<Vec<String>>,
        /// Commit the changes of the run if it succeeds.
        #[schema(default = false)]
        pub commit: Option<bool>,
        /// Only show in `attempts` where the first matching edits would land, and change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Keep the edits of a run that does not succeed. Otherwise its files are restored.
        #[schema(default = false)]
        pub keep: Option<bool>,
    }
}

/// A validated task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTask {
    /// The task in plain words; not empty.
    pub prompt: String,
    /// The id of the model. None: the configured one.
    pub model: Option<String>,
    /// How often the model may try again after its first reply.
    pub max_retries: u32,
    /// The verifications in their order. Empty: none.
    pub verify: Vec<VerifyKind>,
    /// Files that the model gets in full, relative to the workspace root.
    pub files: Vec<String>,
    /// Whether a verified change is committed.
    pub commit: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether a failed run keeps its changes.
    pub keep: bool,
}

impl StartRunRequest {
    /// Validates the request and fills in defaults. An `invalid_request` names the wrong field.
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

request! { about run("The token of the run.") query
    /// The run.
    pub struct RunQuery {}
}

request! { about run("The token of the run.") query
    /// The run to cancel.
    pub struct CancelRunQuery {}
}

/// A run that has started.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::run_started))]
pub struct RunStarted {
    /// The token of the run, a ULID.
    pub run: String,
    /// The revision at the start.
    pub meta: Meta,
}

impl Answer for RunStarted {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }
}

/// The state and the results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::run))]
pub struct RunReply {
    /// The token of the run.
    pub run: String,
    /// The state of the run.
    pub state: RunState,
    /// The current step in a few words. Null after the end.
    #[schema(required)]
    pub step: Option<String>,
    /// Why it failed, or did not do all that was requested.
    #[schema(required)]
    pub reason: Option<String>,
    /// The id of the model.
    #[schema(examples("global.anthropic.claude-sonnet-4-5-20250929-v1:0"))]
    pub model: String,
    /// The attempts in their order. Each is one reply of the model.
    #[schema(value_type = Vec<RunAttempt>)]
    pub attempts: Listing<RunAttempt>,
    /// The files that differ from their content before the run, including files that a failed run kept or could not
    /// restore.
    pub files: Vec<String>,
    /// The tokens of the changes of the run that were not undone, in their order. `/v1/undo` undoes them.
    pub changes: Vec<String>,
    /// The remaining errors after the last attempt.
    #[schema(value_type = Vec<Diagnostic>)]
    pub errors: Listing<Diagnostic>,
    /// The tokens of all complete replies, as counted by the model.
    pub usage: RunUsage,
    /// The number of attempts after the first.
    pub retries: u32,
    /// The hash of the commit, if one was requested and the run succeeded.
    #[schema(required)]
    pub commit: Option<String>,
    /// Continues the lists. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The present revision.
    pub meta: Meta,
}

/// The tokens of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunUsage {
    /// The tokens of all prompts.
    pub input_tokens: u64,
    /// The tokens of all replies.
    pub output_tokens: u64,
}

/// A reply of the model and its results.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunAttempt {
    /// The edits in the order of the reply.
    pub edits: Vec<RunEdit>,
    /// The token of the change. Null if nothing was applied.
    #[schema(required)]
    pub change: Option<String>,
    /// Why nothing was applied. Null if the edits were applied.
    #[schema(required)]
    pub refused: Option<String>,
    /// The first 50 errors that the edits cause.
    pub diagnostics: Vec<Diagnostic>,
    /// The verifications in their order. After a failed one, the rest is not run.
    pub verify: Vec<RunVerification>,
    /// The first 20,000 bytes of the unified diff of all files.
    pub diff: String,
    /// The approximate size of the prompt in tokens of four bytes.
    pub prompt_tokens: usize,
    /// The times of its parts.
    pub took: RunTimes,
}

/// The times of the parts of an attempt, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
pub struct RunTimes {
    /// The reply of the model.
    pub model_ms: f64,
    /// Applying the edits and computing their impact.
    pub edit_ms: f64,
    /// The verification.
    pub verify_ms: f64,
}

/// One edit of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunEdit {
    /// The file as named in the reply.
    pub file: String,
    /// The line of the reply at which the edit begins, from 1.
    pub reply_line: usize,
    /// Where it landed. Absent if it was not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub landed: Option<Landed>,
}

/// A verification and its result.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunVerification {
    /// The kind of tools.
    pub kind: VerifyKind,
    /// Whether it succeeded.
    pub ok: bool,
    /// The time of all tools together.
    pub duration_ms: f64,
    /// The number of errors and failed tests.
    pub errors: usize,
    /// The first 50 failed tests.
    pub failed_tests: Vec<String>,
    /// Why it could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refused: Option<String>,
}

/// The positions at which the lists of a run continue.
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
