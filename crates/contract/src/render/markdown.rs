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

/// Why an answer without items says nothing: something that it needs is loading, or does not answer. `None` if the answer
/// is complete, or incomplete for a reason that waiting does not change.
pub(crate) fn not_known_yet(meta: &Meta) -> Option<&str> {
    let waits = |it: &&Missing| {
        matches!(it.code.as_str(), "indexing" | "engine_restarting" | "engine_down" | "engine_missing" | "timeout")
    };
    let lack = meta.missing.iter().filter(|_| !meta.complete).find(waits)?;
    lack.detail.lines().next()
}

/// Why errors may be missing that no count names: the same, or the engine of a language was not started.
pub(crate) fn errors_not_known(meta: &Meta) -> Option<&str> {
    let is_untrusted = |it: &&Missing| it.code == "untrusted";
    let untrusted = || meta.missing.iter().filter(|_| !meta.complete).find(is_untrusted)?.detail.lines().next();
    not_known_yet(meta).or_else(untrusted)
}

/// "12 usages of fn `f` in 3 files" as a heading. It never says 0 for what is not known, nor a number that will rise.
pub(crate) fn headed(meta: &Meta, count: usize, thing: &str, rest: &str) -> String {
    match not_known_yet(meta) {
        Some(why) if count == 0 => one(format_args!("# Not known yet: {thing}s{rest} ({why})")),
        Some(_) => one(format_args!("# At least {}{rest}", counted(count, thing))),
        None if count == 0 && !meta.complete => one(format_args!("# No certain {thing}s{rest}")),
        None => one(format_args!("# {}{rest}", counted(count, thing))),
    }
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
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn a_heading_never_counts_what_is_not_known() {
        let meta = |complete: bool, code: &str| Meta {
            workspace: None,
            root: None,
            revision: 1,
            state: State::Ready,
            complete,
            missing: vec![Missing { code: code.to_owned(), detail: "reading files".to_owned(), scope: None }],
            fallback: None,
            builds: Vec::new(),
            overlays: Vec::new(),
            elapsed_ms: 0.0,
        };
        let head = |meta: &Meta, count: usize| headed(meta, count, "usage", " of fn `f`");
        assert_eq!(head(&meta(false, "indexing"), 0), "# Not known yet: usages of fn `f` (reading files)\n");
        assert_eq!(head(&meta(false, "timeout"), 2), "# At least 2 usages of fn `f`\n");
        // A limit or another build does not change with time.
        for lasting in [meta(true, "indexing"), meta(false, "cfg_off"), meta(false, "budget")] {
            let none = if lasting.complete { "# 0 usages" } else { "# No certain usages" };
            assert_eq!(head(&lasting, 0), format!("{none} of fn `f`\n"));
            assert_eq!(head(&lasting, 1), "# 1 usage of fn `f`\n");
        }
    }
}
