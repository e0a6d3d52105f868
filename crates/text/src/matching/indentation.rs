//! The white space around a text and before its lines.

use super::search::without_bom;
use semdex_model::Span;

pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Columns, where a tab counts four. Only to compare depths.
pub(super) fn width(indentation: &str) -> usize {
    indentation.chars().map(|character| if character == '\t' { 4 } else { 1 }).sum()
}

pub(super) fn line_start(text: &str, offset: usize) -> usize {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |newline| newline + 1);
    // A byte order mark belongs to no line.
    if start == 0 { text.len() - without_bom(text).len() } else { start }
}

/// The text before the offset on its line, if that is only indentation.
pub(super) fn indentation_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(line_start(text, offset)..offset)?;
    before.trim().is_empty().then_some(before)
}

/// A place with the indentation of its first line, if it begins a line.
pub(super) fn with_indentation(text: &str, span: Span) -> &str {
    let start = indentation_before(text, span.start).map_or(span.start, |head| span.start - head.len());
    &text[start..span.end]
}

/// A text without the white space around it, and that white space.
pub(super) struct Edges<'a> {
    pub(super) head: &'a str,
    pub(super) core: &'a str,
    pub(super) tail: &'a str,
}

impl<'a> Edges<'a> {
    pub(super) fn of(text: &'a str) -> Edges<'a> {
        let core_and_tail = text.trim_start();
        let core = core_and_tail.trim_end();
        let head = &text[..text.len() - core_and_tail.len()];
        Edges { head, core, tail: &core_and_tail[core.len()..] }
    }

    /// The indentation of its first line.
    pub(super) fn indent(&self) -> &'a str {
        self.head.rsplit('\n').next().unwrap_or_default()
    }
}
