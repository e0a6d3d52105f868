//! Answers as Markdown, made for a model to read: the same content as the JSON, with line numbers where one would
//! look them up and repetitions left out. For every face that shows answers; knows no HTTP.

mod change;
mod code;
mod describe;
mod journal;
mod lists;
mod status;

use std::fmt::Write;
use std::time::Duration;

pub use change::{change, impact, problem};
pub use describe::{described, opened};
pub use journal::{changes, overlays, rfc3339};
pub use lists::{callees, callers, diagnostics, implementations, symbol_at, symbol_tree, symbols, usages};
pub use status::workspaces;

use crate::model::{Meta, Missing};

/// What the answer says of itself: its last lines.
pub fn footer(meta: &Meta, elapsed: Duration) -> String {
    let mut text = format!(
        "\n---\n`{}` at revision {}, {}, {} ({:.1} ms)\n",
        meta.workspace,
        meta.revision.0,
        meta.state.name(),
        if meta.coverage.complete { "complete" } else { "**incomplete**" },
        elapsed.as_secs_f64() * 1000.0
    );
    if !meta.overlays.is_empty() {
        line(&mut text, format_args!("- not what the disk has (overlays): {}", names(&meta.overlays)));
    }
    missing(&mut text, &meta.coverage.missing);
    text
}

fn missing(text: &mut String, missing: &[Missing]) {
    for Missing { code, detail, scope } in missing {
        let scope = scope.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        line(text, format_args!("- missing `{}`{scope}: {detail}", code.name()));
    }
}

/// Appends a line. Writing to a `String` cannot fail.
fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
    text.push('\n');
}

/// "1 usage", "2 usages".
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// "12", or "12-15".
fn lines(place: &crate::model::Place) -> String {
    if place.end_line > place.line { format!("{}-{}", place.line, place.end_line) } else { place.line.to_string() }
}

fn names(names: &[String]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
