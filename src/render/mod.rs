//! Answers as Markdown, made for a model to read: the same content as the JSON, with line numbers where one would
//! look them up and repetitions left out. For every face that shows answers; knows no HTTP.

mod change;
mod code;
mod describe;
mod git;
mod journal;
mod lists;
mod map;
mod runs;
mod sarif;
mod status;
mod verify;
mod watched;

use std::convert::Infallible;
use std::fmt::{Arguments, Write};
use std::slice::from_ref;
use std::time::Instant;

pub use change::problem;
pub use sarif::sarif;

use crate::contract::budget::{Fit, Form, fitted};
use crate::contract::{Health, Meta, Missing, PROBLEM_TOKENS, Place, Problem, Reply, milliseconds};
use crate::text::visible;

/// A reply within its budget. `came`: when it was asked for.
pub fn answer(answer: Reply, max_tokens: Option<usize>, came: Instant) -> String {
    within(answer, max_tokens, |mut it| {
        stamp(it.meta(), came);
        reply(&it)
    })
}

/// A problem within the budget that all problems have.
pub fn refusal(refused: Problem, came: Instant) -> String {
    within(refused, Some(PROBLEM_TOKENS), |mut it| {
        stamp(it.meta.as_mut(), came);
        problem(&it)
    })
}

fn within<T: Fit>(answer: T, max_tokens: Option<usize>, write: impl Fn(T) -> String) -> String {
    let Ok(text) = fitted(answer, Form::Markdown, max_tokens, |it| Ok::<_, Infallible>(write(it)));
    text
}

/// How long it took is known last.
fn stamp(meta: Option<&mut Meta>, came: Instant) {
    if let Some(meta) = meta {
        meta.elapsed_ms = milliseconds(came.elapsed());
    }
}

/// A reply in full.
pub fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Open(it) => describe::opened(it) + &footer(&it.meta),
        Reply::Describe(it) => describe::described(it) + &footer(it.meta_of()),
        Reply::Symbols(it) => lists::symbols(it) + &footer(&it.meta),
        Reply::SymbolAt(it) => lists::symbol_at(it) + &footer(&it.meta),
        Reply::Usages(it) => lists::usages(it) + &footer(&it.meta),
        Reply::Callers(it) => lists::callers(it) + &footer(&it.meta),
        Reply::Callees(it) => lists::callees(it) + &footer(&it.meta),
        Reply::Implementations(it) => lists::implementations(it) + &footer(&it.meta),
        Reply::Diagnostics(it) => lists::diagnostics(it) + &footer(&it.meta),
        Reply::Baseline(it) => watched::baseline(it) + &footer(&it.meta),
        Reply::Regressions(it) => watched::regressions(it) + &footer(&it.meta),
        Reply::Gate(it) => watched::gate(it) + &footer(&it.meta),
        Reply::Stats(it) => watched::stats(it) + &footer(&it.meta),
        Reply::Map(it) => map::map(it) + &footer(&it.meta),
        Reply::Impact(it) => change::impact(it) + &footer(&it.meta),
        Reply::Edit(it) | Reply::Write(it) | Reply::Undo(it) | Reply::Rename(it) => {
            change::change(it) + &footer(&it.meta)
        }
        Reply::Git(it) => git::state(it) + &footer(&it.meta),
        Reply::Commit(it) => git::commit(it) + &footer(&it.meta),
        Reply::Changes(it) => journal::changes(it) + &footer(&it.meta),
        Reply::Verify(it) => verify::verified(it) + &footer(&it.meta),
        Reply::ListOverlays(it) => journal::overlays(&it.overlays) + &footer(&it.meta),
        Reply::PutOverlay(it) => journal::overlays(from_ref(&it.overlay)) + &footer(&it.meta),
        Reply::DeleteOverlay(it) => {
            one(format_args!("`{}` is again what the disk has.", it.overlay.file)) + &footer(&it.meta)
        }
        Reply::StartRun(it) => runs::started(it) + &footer(&it.meta),
        Reply::Run(it) | Reply::CancelRun(it) => runs::run(it) + &footer(&it.meta),
        Reply::ListWorkspaces(it) => status::workspaces(&it.workspaces),
        Reply::OpenWorkspace(it) => status::workspaces(from_ref(&it.workspace)),
        Reply::CloseWorkspace(it) => one(format_args!("Closed `{}` ({}).", it.workspace.id, it.workspace.root)),
        Reply::Status(it) => status::status(it),
        Reply::Health(Health { status, version }) => one(format_args!("{status}, semdex {version}")),
    }
}

/// What the answer says of itself: its last lines.
fn footer(meta: &Meta) -> String {
    let mut text = "\n---\n".to_owned();
    let workspace = meta.workspace.as_deref().unwrap_or_default();
    let (revision, state, elapsed) = (meta.revision, meta.state.name(), meta.elapsed_ms);
    let complete = if meta.complete { "complete" } else { "**incomplete**" };
    line(&mut text, format_args!("`{workspace}` at revision {revision}, {state}, {complete} ({elapsed:.1} ms)"));
    if !meta.overlays.is_empty() {
        line(&mut text, format_args!("- not what the disk has (overlays): {}", names(&meta.overlays)));
    }
    missing(&mut text, &meta.missing);
    text
}

fn missing(text: &mut String, missing: &[Missing]) {
    for Missing { code, detail, scope } in missing {
        let scope = scope.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        item(text, format_args!("- missing `{code}`{scope}: "), detail, "");
    }
}

/// Appends one line: whatever is named in it, it does not become two. Writing to a `String` cannot fail.
fn line(text: &mut String, arguments: Arguments<'_>) {
    let from = text.len();
    let _ = text.write_fmt(arguments);
    visible::keep_on_one_line(text, from);
    text.push('\n');
}

/// A text of one line.
fn one(arguments: Arguments<'_>) -> String {
    let mut text = String::new();
    line(&mut text, arguments);
    text
}

/// Appends a line that stands by itself.
fn apart(text: &mut String, arguments: Arguments<'_>) {
    text.push('\n');
    line(text, arguments);
    text.push('\n');
}

/// Appends an item of a list. The further lines of its message stay with it.
fn item(text: &mut String, head: Arguments<'_>, message: &str, end: &str) {
    let mut rest = message.trim_end().lines();
    let mut row = format!("{head}{}", rest.next().unwrap_or_default());
    for next in rest {
        line(text, format_args!("{row}"));
        row = format!("  {next}");
    }
    line(text, format_args!("{row}{end}"));
}

/// Appends what may be of several lines. Those after the first are quoted: none of them is the reply's own.
fn paragraph(text: &mut String, message: &str) {
    let mut lines = message.trim_end().lines();
    line(text, format_args!("{}", lines.next().unwrap_or_default()));
    quoted(text, lines);
}

/// Appends each line with a mark that it is another's.
fn quoted<'a>(text: &mut String, lines: impl Iterator<Item = &'a str>) {
    for it in lines {
        line(text, format_args!("{}", format!("> {it}").trim_end()));
    }
}

/// Appends the docs of a symbol as they were written, in Markdown.
fn docs(text: &mut String, docs: &str) {
    *text += &visible::lines(docs);
    text.push('\n');
}

/// "1 usage", "2 usages".
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// "12", or "12-15".
fn lines(place: &Place) -> String {
    if place.end_line > place.line { format!("{}-{}", place.line, place.end_line) } else { place.line.to_string() }
}

fn names(names: &[String]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
