//! The state of a run: the result first, then each attempt.

use super::code::fenced;
use super::lists::{diagnostic_rows, inline, more};
use super::markdown::{apart, counted, line, names, one};
use crate::{RunAttempt, RunReply, RunStarted, RunVerification};

pub(crate) fn started(begun: &RunStarted) -> String {
    one(format_args!("Run `{run}` has begun: `GET /v1/runs/{run}` reports its progress.", run = begun.run))
}

pub(crate) fn run(run: &RunReply) -> String {
    let mut text = one(format_args!("# Run `{}` {}", run.run, run.state.name()));
    if let Some(step) = &run.step {
        text.push('\n');
        line(&mut text, format_args!("{}", inline(step)));
    }
    if let Some(reason) = &run.reason {
        text.push('\n');
        line(&mut text, format_args!("{}", inline(reason)));
    }
    text.push('\n');
    if !run.files.is_empty() {
        line(&mut text, format_args!("- changed: {}", names(&run.files)));
    }
    if !run.changes.is_empty() {
        line(&mut text, format_args!("- `undo` takes back, the last one first: {}", names(&run.changes)));
    }
    if let Some(commit) = &run.commit {
        line(&mut text, format_args!("- commit `{commit}`"));
    }
    let (asked, answered) = (run.usage.input_tokens, run.usage.output_tokens);
    let retries = counted(run.retries as usize, "retry").replace("retrys", "retries");
    line(&mut text, format_args!("- {}: {asked} tokens in, {answered} out, {retries}", run.model));
    for (at, attempt) in run.attempts.items.iter().enumerate() {
        apart(&mut text, format_args!("## Reply {}", run.attempts.part.from + at + 1));
        self::attempt(&mut text, attempt);
    }
    if !run.errors.items.is_empty() {
        text += "\n## Still wrong\n\n";
        diagnostic_rows(&mut text, &run.errors.items);
    }
    more(&mut text, run.next_cursor.as_deref());
    text
}

fn attempt(text: &mut String, attempt: &RunAttempt) {
    if let Some(refused) = &attempt.refused {
        line(text, format_args!("Not applied: {}", inline(refused)));
    }
    if attempt.edits.is_empty() && attempt.refused.is_none() {
        line(text, format_args!("No edit."));
    }
    for edit in &attempt.edits {
        match &edit.landed {
            Some(it) => {
                let (file, at, how) = (&edit.file, it.place.line, it.strategy.name());
                line(text, format_args!("- {file}:{at} ({how})"));
            }
            None => line(text, format_args!("- {} (not applied)", edit.file)),
        }
    }
    for RunVerification { kind, ok, duration_ms, errors, failed_tests, refused } in &attempt.verify {
        let seconds = duration_ms / 1000.0;
        let how = match (ok, refused) {
            (true, _) => "succeeds".to_owned(),
            (_, Some(refused)) => format!("cannot be run: {}", inline(refused)),
            _ => format!("fails with {}", counted(*errors, "error")),
        };
        line(text, format_args!("- `{}` {how} ({seconds:.1} s)", kind.name()));
        if !failed_tests.is_empty() {
            line(text, format_args!("  - {}", names(failed_tests)));
        }
    }
    if !attempt.diagnostics.is_empty() {
        text.push_str("\nErrors that it brings:\n\n");
        diagnostic_rows(text, &attempt.diagnostics);
    }
    if !attempt.diff.is_empty() {
        text.push('\n');
        *text += &fenced("diff", &attempt.diff);
    }
}
