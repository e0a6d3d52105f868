//! Writes lines, items and paragraphs of Markdown for all replies.

use std::fmt::{Arguments, Write};

use crate::{Meta, Missing, Place};
use semdex_text::visible;

/// The metadata of a reply, as its last lines.
pub(crate) fn footer(meta: &Meta) -> String {
    let mut text = "\n---\n".to_owned();
    let workspace = meta.workspace.as_deref().unwrap_or_default();
    let root = meta.root.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let (revision, state, elapsed) = (meta.revision, meta.state.name(), meta.elapsed_ms);
    let complete = if meta.complete { "complete" } else { "**incomplete**" };
    line(&mut text, format_args!("`{workspace}`{root} at revision {revision}, {state}, {complete} ({elapsed:.1} ms)"));
    if !meta.overlays.is_empty() {
        line(&mut text, format_args!("- not what the disk has (overlays): {}", names(&meta.overlays)));
    }
    missing(&mut text, &meta.missing);
    text
}

pub(crate) fn missing(text: &mut String, missing: &[Missing]) {
    for Missing { code, detail, scope } in missing {
        let scope = scope.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        item(text, format_args!("- missing `{code}`{scope}: "), detail, "");
    }
}

/// Appends one line. Line breaks in the arguments are replaced. Writing to a `String` cannot fail.
pub(crate) fn line(text: &mut String, arguments: Arguments<'_>) {
    let from = text.len();
    let _ = text.write_fmt(arguments);
    visible::keep_on_one_line(text, from);
    text.push('\n');
}

/// The first digits of a hash. They are enough to send it back as `expected_hash`.
pub(crate) fn short_hash(hash: &str) -> &str {
    const DIGITS: usize = 12;
    hash.get(..DIGITS).unwrap_or(hash)
}

/// A text of one line.
pub(crate) fn one(arguments: Arguments<'_>) -> String {
    let mut text = String::new();
    line(&mut text, arguments);
    text
}

/// Appends a line in a paragraph of its own.
pub(crate) fn apart(text: &mut String, arguments: Arguments<'_>) {
    text.push('\n');
    line(text, arguments);
    text.push('\n');
}

/// Appends an item of a list. Further lines of its message are indented.
pub(crate) fn item(text: &mut String, head: Arguments<'_>, message: &str, end: &str) {
    let mut rest = message.trim_end().lines();
    let mut row = format!("{head}{}", rest.next().unwrap_or_default());
    for next in rest {
        line(text, format_args!("{row}"));
        row = format!("  {next}");
    }
    line(text, format_args!("{row}{end}"));
}

/// Appends a text that may have several lines. Lines after the first are quoted, because they are not text of the reply
/// itself.
pub(crate) fn paragraph(text: &mut String, message: &str) {
    let mut lines = message.trim_end().lines();
    line(text, format_args!("{}", lines.next().unwrap_or_default()));
    quoted(text, lines);
}

/// Appends each line as a quotation.
pub(crate) fn quoted<'a>(text: &mut String, lines: impl Iterator<Item = &'a str>) {
    for it in lines {
        line(text, format_args!("{}", format!("> {it}").trim_end()));
    }
}

/// Appends the docs of a symbol as they were written, in Markdown.
pub(crate) fn docs(text: &mut String, docs: &str) {
    *text += &visible::lines(docs);
    text.push('\n');
}

/// "1 usage", "2 usages".
pub(crate) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// "12", or "12-15".
pub(crate) fn lines(place: &Place) -> String {
    if place.end_line > place.line { format!("{}-{}", place.line, place.end_line) } else { place.line.to_string() }
}

pub(crate) fn names(names: &[String]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
