//! Replaces a place by a text, with the place's indentation and the file's line endings.
//!
//! The lines of the search text are compared with the lines of the place. That shows which indentation the file has for
//! each depth of the request. Depths that only the replacement has are computed from the nearest known one, in the
//! file's own unit. If both agree, and for an exact match, the replacement is used unchanged.

use super::indentation::{Edges, indent, indentation_before, line_start};
use super::indentation_map::IndentationMap;
use super::kept_lines::KeptLines;
use super::literals::Literals;
use super::search::{Hit, without_bom};
use super::written_at_margin::is_written_at_margin;
use crate::endings;
use semdex_model::{Code, Error, Help, Result, Span, Strategy};

/// One replacement: exactly this range of the old text becomes this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The place that matched. Where whole lines are removed or moved, it includes their indentation and line ends.
    pub range: Span,
    /// The new text of the range.
    pub text: String,
}

/// A text after a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The whole text.
    pub text: String,
    /// The range of the replacement in the new text.
    pub span: Span,
    /// The replaced range of the old text.
    pub range: Span,
}

/// Replaces a match.
pub fn apply(text: &str, hit: &Hit, context: &str, replacement: &str) -> Replaced {
    let patch = patch(text, hit, context, replacement);
    let new = [&text[..patch.range.start], &patch.text, &text[patch.range.end..]].concat();
    let span = Span::new(patch.range.start, patch.range.start + patch.text.len());
    Replaced { text: new, span, range: patch.range }
}

/// Applies several patches that were made for the same old text. Returns the new text and the span of each replacement
/// in it. Overlapping patches are refused.
pub fn apply_all(text: &str, patches: &[Patch]) -> Result<(String, Vec<Span>)> {
    let mut order: Vec<usize> = (0..patches.len()).collect();
    order.sort_by_key(|&at| (patches[at].range.start, patches[at].range.end));
    let mut out = String::with_capacity(text.len());
    let mut spans = vec![Span::default(); patches.len()];
    let mut done = 0;
    let mut previous = None;
    for at in order {
        let Patch { range, text: new } = &patches[at];
        let Some(kept) = text.get(done..range.start) else {
            let other = previous.unwrap_or(at);
            let help = Help { edit: Some(at.max(other)), ..Help::default() };
            let detail = format!("edits {} and {} overlap: send them as one", at.min(other), at.max(other));
            return Err(Error::new(Code::InvalidRequest, detail).with_help(help));
        };
        out.push_str(kept);
        spans[at] = Span::new(out.len(), out.len() + new.len());
        out.push_str(new);
        (done, previous) = (range.end, Some(at));
    }
    out.push_str(&text[done..]);
    Ok((out, spans))
}

/// Which range is replaced by which text, for a match of `context` in `text`.
pub fn patch(text: &str, hit: &Hit, context: &str, replacement: &str) -> Patch {
    let context = unix(without_bom(context));
    let replacement = unix(without_bom(replacement));
    let mut patch = match hit.strategy {
        Strategy::Exact if deletes_lines(text, hit.span, &context, &replacement) => {
            let place = &text[hit.span.start..hit.span.end];
            let start = hit.span.start + place.len() - place.trim_start().len();
            fitted(text, Span::new(start, start + place.trim().len()), &context, &replacement)
        }
        Strategy::Exact => literal(text, hit.span, &context, &replacement),
        _ => fitted(text, hit.span, &context, &replacement),
    };
    let newline = endings::at(text, patch.range.start);
    keep_final_newline(text, &mut patch);
    patch.text = endings::like(&text[patch.range.start..patch.range.end], &patch.text, newline);
    patch
}

/// An exact match is replaced by exactly the replacement, with one exception: if one line was searched without its
/// indentation and the replacement is written as if that line were at the margin, its lines are indented like the
/// file's line.
fn literal(text: &str, span: Span, context: &str, replacement: &str) -> Patch {
    let shift = indentation_before(text, span.start).unwrap_or_default();
    let moves = !context.trim_end().contains('\n') && is_written_at_margin(replacement, context, shift);
    // If the first line is removed, its indentation is removed as well.
    let first_goes = replacement.starts_with('\n') && !context.starts_with('\n');
    let at_the_margin = replacement.lines().find(|it| !it.trim().is_empty()).is_some_and(|it| indent(it).is_empty());
    let moves = moves || (first_goes && at_the_margin);
    let line = |(at, line): (usize, &str)| match line.trim().is_empty() || !moves || (at == 0 && !first_goes) {
        true => line.to_owned(),
        false => shift.to_owned() + line,
    };
    let lines: Vec<String> = replacement.split('\n').enumerate().map(line).collect();
    let start = if first_goes { span.start - shift.len() } else { span.start };
    Patch { range: Span::new(start, span.end), text: lines.join("\n") }
}

/// Replaces the whole text; keeps its line endings and its byte order mark.
pub fn whole(text: &str, content: &str) -> Patch {
    let bom = text.len() - without_bom(text).len();
    let new = endings::like(&text[bom..], &unix(without_bom(content)), endings::at(text, bom));
    Patch { range: Span::new(bom, text.len()), text: new }
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Keeps the newline at the end of a file.
fn keep_final_newline(text: &str, patch: &mut Patch) {
    let before = without_bom(&text[..patch.range.start]);
    let ends = if patch.text.is_empty() { before } else { &patch.text };
    if patch.range.end == text.len() && text.ends_with('\n') && !ends.is_empty() && !ends.ends_with('\n') {
        patch.text.push('\n');
    }
}

/// Whether lines are searched from their first word on and deleted with their line ends: then their indentation is
/// deleted too.
fn deletes_lines(text: &str, span: Span, context: &str, replacement: &str) -> bool {
    replacement.trim().is_empty()
        && context.ends_with('\n')
        && indentation_before(text, span.start).is_some_and(|shift| !shift.is_empty())
}

/// A match that is not exact: the place lies between its first and last word, and the replacement is fitted to it.
fn fitted(text: &str, span: Span, context: &str, replacement: &str) -> Patch {
    let line_start = line_start(text, span.start);
    let head = indentation_before(text, span.start);
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[span.end..]).map_or(text.len(), |length| span.end + length);
    let ends_line = text[span.end..line_end].trim().is_empty();
    let asked = Edges::of(context);
    let new = Edges::of(replacement);
    let around = Around::new(text, line_start, line_end, &asked, &new);

    if new.core.is_empty() {
        return match head {
            // Whole lines are removed with their line ends.
            Some(_) if ends_line => {
                let end = if line_end < text.len() { line_end + 1 } else { line_end };
                let asked_above = newlines(asked.head);
                let (above, below) =
                    (asked_above.min(around.above), newlines(asked.tail).saturating_sub(1).min(around.below));
                let range = Span::new(around.start_above(above), if below > 0 { around.end_below(below) } else { end });
                let kept = newlines(replacement).saturating_sub(asked_above - above);
                Patch { range, text: "\n".repeat(kept) }
            }
            _ => Patch { range: span, text: String::new() },
        };
    }

    let fit = IndentationMap::new(text, span, context, replacement);
    // A literal that begins before the place may end in it. A literal that ends after it surrounds the place and moves
    // with it.
    let before = &text[..span.start];
    let literals = Literals::scan(&[before, new.core, &text[span.end..]].concat());
    let literals = literals.closed_by(before.len() + new.core.len());
    let kept = KeptLines::new(text, span, &asked, &new);
    let mut out = String::new();
    let mut offset = before.len();
    let mut gap = String::new();
    let mut continued = false;
    for (at, line) in new.core.split('\n').enumerate() {
        // In a literal, the lines after a backslash are indented like code.
        let literal = literals.in_string(offset) && !kept.shifts_strings && !continued;
        offset += line.len() + 1;
        continued = line.ends_with('\\');
        if line.trim().is_empty() {
            gap.push_str(&if literal || line.is_empty() { line.to_owned() } else { fit.indentation(line) });
            gap.push('\n');
            continue;
        }
        if at > 0 {
            out.push('\n');
            match kept.gap(at) {
                Some(there) => out.push_str(&unix(there)),
                None => out.push_str(&gap),
            }
        }
        gap.clear();
        match kept.line(at) {
            Some(there) if at == 0 => out.push_str(there.trim_start()),
            Some(there) => out.push_str(there),
            None if at == 0 || literal => out.push_str(line),
            None => out.push_str(&(fit.indentation(indent(line)) + line.trim_start())),
        }
    }

    let mut range = span;
    if let Some(head) = head {
        let first = match kept.line(0) {
            Some(there) => indent(there).to_owned(),
            None if new.indent() == asked.indent() => head.to_owned(),
            None => fit.indentation(new.indent()),
        };
        let (more, fewer) = (newlines(new.head), newlines(asked.head));
        let blank = |edges: &Edges| edges.head[..edges.head.len() - edges.indent().len()].to_owned();
        if more == fewer && blank(&new) != blank(&asked) && around.above >= fewer {
            range.start = around.start_above(fewer);
            out = blank(&new) + &first + &out;
        } else if more != fewer || first != head {
            let gone = fewer.saturating_sub(more).min(around.above);
            range.start = around.start_above(gone);
            let added: String = new.head.split_inclusive('\n').take(more.saturating_sub(fewer)).collect();
            out = added + &first + &out;
        }
    }
    let (more, fewer) = (newlines(new.tail), newlines(asked.tail));
    if ends_line {
        // The text between the last word and the line end belongs to the line.
        range.end = line_end - usize::from(text[..line_end].ends_with('\r'));
        let last_kept = kept.line(new.core.split('\n').count() - 1).is_some()
            && trailing_blanks(new.tail) == trailing_blanks(asked.tail);
        let blanks = if last_kept { &text[span.end..range.end] } else { trailing_blanks(new.tail) };
        out.push_str(blanks);
    }
    let tail = &new.tail[trailing_blanks(new.tail).len()..];
    let asked_tail = &asked.tail[trailing_blanks(asked.tail).len()..];
    let rewritten = match fewer {
        0 => 0,
        // The search text ends with a blank line without a line end.
        _ if !asked_tail.ends_with('\n') => fewer,
        _ if more == fewer && tail != asked_tail => fewer - 1,
        _ => 0,
    };
    if ends_line && 0 < rewritten && rewritten <= around.below {
        let end = around.end_below(rewritten);
        (range.end, out) = if rewritten == fewer {
            (end - line_end_before(text, end), out + tail)
        } else {
            (end, out + &tail[..=tail.rfind('\n').unwrap_or_default()])
        };
    } else if more > fewer {
        // The file's own line ends come last.
        let ends: Vec<usize> = tail.match_indices('\n').map(|(at, _)| at).collect();
        let end = if fewer == 0 { tail.len() } else { ends[more - fewer] };
        let blank = |line: &str| if line.is_empty() { String::new() } else { fit.indentation(line) };
        let lines: Vec<String> = tail[..end].split('\n').map(blank).collect();
        out.push_str(&lines.join("\n"));
    } else if ends_line && fewer.saturating_sub(more).min(around.below) > 0 {
        // The line end of the place itself remains.
        out.push('\n');
        range.end = around.end_below(fewer.saturating_sub(more).min(around.below));
    }
    Patch { range, text: out }
}

/// The blank lines directly above and below a place.
struct Around<'a> {
    text: &'a str,
    line_start: usize,
    line_end: usize,
    /// How many blank lines there are, up to the number in the search text or the replacement.
    above: usize,
    below: usize,
}

impl<'a> Around<'a> {
    fn new(text: &'a str, line_start: usize, line_end: usize, asked: &Edges, new: &Edges) -> Around<'a> {
        let most = newlines(asked.head).max(newlines(asked.tail)).max(newlines(new.head));
        let blank = |line: &&str| line.trim().is_empty();
        let above = without_bom(&text[..line_start]);
        let before = above.strip_suffix('\n').map(|it| it.rsplit('\n').take(most).take_while(blank).count());
        let after = text.get(line_end + 1..).unwrap_or_default();
        let below = after.split_inclusive('\n').take(most).take_while(blank).count();
        Around { text, line_start, line_end, above: before.unwrap_or_default(), below }
    }

    fn start_above(&self, lines: usize) -> usize {
        (0..lines).fold(self.line_start, |start, _| line_start(self.text, start.saturating_sub(1)))
    }

    fn end_below(&self, lines: usize) -> usize {
        let after = self.text.get(self.line_end + 1..).unwrap_or_default();
        self.line_end + 1 + after.split_inclusive('\n').take(lines).map(str::len).sum::<usize>()
    }
}

/// The blanks before a text's first line end.
fn trailing_blanks(text: &str) -> &str {
    &text[..text.find(['\r', '\n']).unwrap_or(text.len())]
}

/// The length of the line end before an offset.
fn line_end_before(text: &str, offset: usize) -> usize {
    match text[..offset].strip_suffix('\n') {
        Some(line) => 1 + usize::from(line.ends_with('\r')),
        None => 0,
    }
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
