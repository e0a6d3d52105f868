//! The white space around a text and before its lines.

use crate::matching::without_bom;
use semdex_model::Span;

pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The indentation at the end of the white space before a token.
pub(crate) fn indent_of(gap: &str) -> &str {
    gap.rsplit('\n').next().unwrap_or_default()
}

/// The columns of a tab. Only to compare depths.
pub(super) const TAB: usize = 4;

pub(crate) fn width(indentation: &str) -> usize {
    indentation.chars().map(|character| if character == '\t' { TAB } else { 1 }).sum()
}

pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |newline| newline + 1);
    // A byte order mark belongs to no line.
    if start == 0 { text.len() - without_bom(text).len() } else { start }
}

/// The text before the offset on its line, if that is only indentation.
pub(crate) fn indentation_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(line_start(text, offset)..offset)?;
    before.trim().is_empty().then_some(before)
}

/// A place with the indentation of its first line, if it begins a line.
pub(crate) fn with_indentation(text: &str, span: Span) -> &str {
    let start = indentation_before(text, span.start).map_or(span.start, |head| span.start - head.len());
    &text[start..span.end]
}

/// A text without the white space around it, and that white space.
pub(crate) struct Edges<'a> {
    pub(crate) head: &'a str,
    pub(crate) core: &'a str,
    pub(crate) tail: &'a str,
}

impl<'a> Edges<'a> {
    pub(crate) fn of(text: &'a str) -> Edges<'a> {
        let core_and_tail = text.trim_start();
        let core = core_and_tail.trim_end();
        let head = &text[..text.len() - core_and_tail.len()];
        Edges { head, core, tail: &core_and_tail[core.len()..] }
    }
}
