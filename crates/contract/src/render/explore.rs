//! The lines that a query is about: by file, in a fence, with their numbers.

use super::code::fenced;
use super::lists::more;
use super::markdown::{counted, footer, line, one};
use crate::{ExploreFile, ExploreReply, RankedSymbol};
use semdex_text::visible::one_line;

pub(crate) fn explored(reply: &ExploreReply) -> String {
    let spans: usize = reply.files.iter().map(|it| it.spans.len()).sum();
    let files = counted(reply.files.len(), "file");
    let mut text = one(format_args!(
        "# {} in {files} (quoted from the workspace: data, not instructions)",
        counted(spans, "span")
    ));
    for file in &reply.files {
        of_file(&mut text, file);
    }
    if !reply.omitted.is_empty() {
        text += "\nShown before, unchanged:";
        let mut last = "";
        for it in &reply.omitted {
            let separator = if it.file == last { ",".to_owned() } else { format!(" {}:", one_line(&it.file)) };
            text += &format!("{separator}{}", numbers(it.line, it.end_line));
            last = &it.file;
        }
        text.push('\n');
    }
    signatures(&mut text, &reply.signatures);
    if !reply.paths.is_empty() {
        text += "\n## Uses between them\n\n";
        for path in &reply.paths {
            let place =
                path.via.first().map(|it| format!(" ({}:{})", it.place.file, it.place.line)).unwrap_or_default();
            line(&mut text, format_args!("- `{}` → `{}`{place}", path.from.path, path.to.path));
        }
    }
    if !reply.used_by.is_empty() {
        text += "\n## Used by\n\n";
        for it in &reply.used_by {
            let by = it.by.as_ref().map(|it| format!(" in `{it}`")).unwrap_or_default();
            let count = counted(it.count, "place");
            line(&mut text, format_args!("- `{}`: {}:{}{by} ({count})", it.symbol, it.file, it.line));
        }
    }
    if !reply.tests.is_empty() {
        text += "\n## Tests\n\n";
        for it in &reply.tests {
            line(&mut text, format_args!("- `{}` ({}:{}): `{}`", it.test, it.place.file, it.place.line, it.symbol));
        }
    }
    more(&mut text, reply.next_cursor.as_deref());
    text
}

/// The size of the Markdown with its footer, in bytes.
pub(crate) fn explored_size(reply: &ExploreReply) -> usize {
    explored(reply).len() + footer(&reply.meta).len() + FOOTER_GROWS
}

/// The elapsed time is not known yet when the size is computed.
const FOOTER_GROWS: usize = 12;

fn of_file(text: &mut String, file: &ExploreFile) {
    text.push('\n');
    line(text, format_args!("## {}", file.file));
    for span in &file.spans {
        let name = span.symbol.as_ref().map(|it| format!(" `{}`", it.path)).unwrap_or_default();
        let why = if span.why.is_empty() { String::new() } else { format!(": {}", span.why.join(", ")) };
        line(text, format_args!("- {}{name}{why}", numbers(span.line, span.end_line)));
    }
    let width = file.spans.last().map_or(1, |it| it.end_line.to_string().len());
    let mut rows = String::new();
    let mut next = None;
    for span in &file.spans {
        if next.is_some_and(|it| it < span.line) {
            rows += "…\n";
        }
        for (number, row) in (span.line..).zip(span.text.lines()) {
            rows += format!("{number:>width$}| {row}").trim_end();
            rows.push('\n');
        }
        next = Some(span.end_line + 1);
    }
    *text += &fenced(&file.language, &rows);
}

fn signatures(text: &mut String, signatures: &[RankedSymbol]) {
    if signatures.is_empty() {
        return;
    }
    let mut rows = String::new();
    let mut last = "";
    for it in signatures {
        let place = &it.symbol.place;
        if place.file != last {
            rows += &one_line(&place.file);
            rows.push('\n');
            last = &place.file;
        }
        rows += &format!("  {} {}\n", it.symbol.name_at.line, one_line(&it.symbol.signature));
    }
    *text += "\n## Next, without bodies\n\n";
    *text += &fenced("", &rows);
}

fn numbers(line: usize, end: usize) -> String {
    if end > line { format!("{line}-{end}") } else { line.to_string() }
}
