//! The reply of `verify`: errors first, and nothing about what passed.

use super::code::fenced;
use super::lists::{diagnostic_rows, more};
use super::markdown::{apart, counted, line, one, paragraph};
use crate::{Severity, TestFailure, TestReport, VerifyReply};

/// How much of the output of a failed test is shown.
const OUTPUT_LINES: usize = 20;

pub(crate) fn verified(reply: &VerifyReply) -> String {
    let VerifyReply { kind, ok, timed_out, exit_code, duration_ms, .. } = reply;
    let how = match (ok, timed_out) {
        (true, _) if reply.runs.is_empty() => "ok, nothing had to run",
        (true, _) => "ok",
        (false, true) => "timeout",
        // A test that never ran has not failed.
        (false, false) if reply.runs.is_empty() => "nothing was run",
        (false, false) => "failed",
    };
    let code = exit_code.map(|it| format!("exit code {it}, ")).unwrap_or_default();
    let took = match reply.runs.as_slice() {
        [] => String::new(),
        _ => format!(" ({code}{:.1} s)", duration_ms / 1000.0),
    };
    let mut text = one(format_args!("# {}: {how}{took}", kind.name()));
    for run in &reply.runs {
        let place = if run.directory.is_empty() { String::new() } else { format!(" in `{}`", run.directory) };
        let code = run.exit_code.map_or("ended".to_owned(), |it| format!("{it}"));
        line(&mut text, format_args!("- `{}`{place}: {code}", run.command.join(" ")));
    }
    if let Some(TestReport { passed, failed, skipped, .. }) = &reply.tests {
        text.push('\n');
        line(&mut text, format_args!("{passed} passed, {failed} failed, {skipped} skipped"));
    }
    if !reply.diagnostics.is_empty() {
        let count = |severity| reply.diagnostics.iter().filter(|it| it.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        apart(&mut text, format_args!("## {}, {}", counted(errors, "error"), counted(warnings, "warning")));
        diagnostic_rows(&mut text, &reply.diagnostics);
    }
    reply.failures().iter().for_each(|it| failure(&mut text, it));
    if reply.output_tells_more() && !reply.output.is_empty() {
        apart(&mut text, format_args!("## Output"));
        text += &fenced("", reply.output.trim_end());
    }
    more(&mut text, reply.next_cursor.as_deref());
    text
}

fn failure(text: &mut String, failure: &TestFailure) {
    let TestFailure { name, file, line: number, message, output, symbol, .. } = failure;
    let place = match (file, number) {
        (Some(file), Some(number)) => format!(" at {file}:{number}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    };
    let within = symbol.as_ref().map(|it| format!(" (`{it}`)")).unwrap_or_default();
    apart(text, format_args!("## FAILED `{name}`{place}{within}"));
    paragraph(text, message);
    // A stack trace adds little to the place.
    let shown: Vec<&str> = output.lines().take_while(|it| *it != "stack backtrace:").collect();
    let shown = shown.get(shown.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default().join("\n");
    if !shown.trim().is_empty() && shown.trim() != message.trim() {
        text.push('\n');
        *text += &fenced("", shown.trim_end());
    }
}
