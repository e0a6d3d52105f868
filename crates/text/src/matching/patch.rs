//! Replaces a place by a text, with the place's indentation and the file's line endings.
//!
//! For an exact match the replacement is used unchanged. Otherwise the search text is what its author recalls, and the
//! place is what somebody else made of it: a three-way merge, so that the file keeps what the edit does not change.

use super::corrected::corrected;
use super::search::{Hit, without_bom};
use crate::endings;
use crate::merge::indentation::{Edges, indent, indentation_before, line_start};
use crate::merge::written_at_margin::is_written_at_margin;
use crate::merge::{Conflict, Context, ThreeWay};
use crate::tokens::Tokens;

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

/// The change for a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// What to replace.
    pub patch: Patch,
    /// Where the file differs from the search text in more than white space: this stays as the file has it. Spans of
    /// the text after the patch; what the file does not have is an empty span.
    pub kept: Vec<Span>,
}

/// Replaces a match.
pub fn apply(text: &str, hit: &Hit, context: &str, replacement: &str) -> std::result::Result<Replaced, Conflict> {
    let patch = patch(text, hit, context, replacement)?.patch;
    let new = [&text[..patch.range.start], &patch.text, &text[patch.range.end..]].concat();
    let span = Span::new(patch.range.start, patch.range.start + patch.text.len());
    Ok(Replaced { text: new, span, range: patch.range })
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

/// What to replace for a match of `context` in `text`. A match that is not exact is merged: the search text is the base
/// of two changes, the replacement and what the file has in its place.
pub fn patch(text: &str, hit: &Hit, context: &str, replacement: &str) -> std::result::Result<Fitted, Conflict> {
    let context = unix(without_bom(context));
    let replacement = unix(without_bom(replacement));
    let mut fitted = match hit.strategy {
        Strategy::Exact if deletes_lines(text, hit.span, &context, &replacement) => {
            let place = &text[hit.span.start..hit.span.end];
            let start = hit.span.start + place.len() - place.trim_start().len();
            let span = Span::new(start, start + place.trim().len());
            merged(text, &Hit { span, ..*hit }, &context, &replacement)?
        }
        Strategy::Exact => Fitted { patch: literal(text, hit.span, &context, &replacement), kept: Vec::new() },
        _ => merged(text, hit, &context, &replacement)?,
    };
    let patch = &mut fitted.patch;
    let newline = endings::at(text, patch.range.start);
    keep_final_newline(text, patch);
    if hit.strategy == Strategy::Exact {
        patch.text = endings::like(&text[patch.range.start..patch.range.end], &patch.text, newline);
    }
    Ok(fitted)
}

/// An exact match is replaced by exactly the replacement, with one exception: if one line was searched without its
/// indentation and the replacement is written as if that line were at the margin, its lines are indented like the
/// file's line.
fn literal(text: &str, span: Span, context: &str, replacement: &str) -> Patch {
    let shift = indentation_before(text, span.start).unwrap_or_default();
    let moves = !context.trim_end().contains('\n')
        && is_written_at_margin(replacement, shift, &text[..span.start - shift.len()]);
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
    endings::unix(text).into_owned()
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

/// The place and the replacement as two changes of the search text.
fn merged(text: &str, hit: &Hit, context: &str, replacement: &str) -> std::result::Result<Fitted, Conflict> {
    let span = hit.span;
    let (asked, new) = (Edges::of(context), Edges::of(replacement));
    let begins_line = indentation_before(text, span.start).is_some();
    let rest = &text[span.end..];
    let line_end = span.end + rest.find('\n').unwrap_or(rest.len());
    let ends_line = text[span.end..line_end].trim().is_empty();
    let start = if begins_line { blank_lines_above(text, span.start, newlines(asked.head)) } else { span.start };
    // The place's own line end stays, unless another one follows.
    let asked_ends = newlines(asked.tail);
    let blank_below = newlines(&text[span.end..blank_lines_below(text, line_end, asked_ends).max(span.end)]);
    let is_spare = new.tail.is_empty() && ends_line && asked_ends > 0 && blank_below >= asked_ends;
    let own = |tail: &'_ str| tail.rsplit_once('\n').map_or(String::new(), |it| it.0.to_owned());
    let [asked_tail, new_tail] = if asked_ends == 0 {
        [asked.tail, new.tail].map(str::to_owned)
    } else if is_spare {
        [asked.tail.to_owned(), String::new()]
    } else {
        [own(asked.tail), own(new.tail)]
    };
    let end = if !ends_line || asked.tail.is_empty() && new.tail.is_empty() {
        span.end
    } else {
        blank_lines_below(text, line_end, newlines(&asked_tail)).max(span.end)
    };
    let base = [asked.head, asked.core, &asked_tail].concat();
    let ours = [new.head, new.core, &new_tail].concat();
    let base = corrected(&base, &ours, &text[start..end], text);
    let sides = [base.as_str(), ours.as_str(), &text[start..end]].map(Tokens::new);
    let context = Context {
        file: text,
        before: &text[..start],
        around: around(text, start..end),
        begins_line,
        recalled: true,
        similar: hit.strategy == Strategy::Fuzzy,
        newline: endings::at(text, span.start),
    };
    let merge = ThreeWay::new(&sides[0], &sides[1], &sides[2], context);
    let made = merge.patches()?;
    let whole = || [0, 1, 2].map(|side| 0..sides[side].len());
    let changes_edge = merge.changes_edges();
    if hit.strategy == Strategy::Fuzzy && (!begins_line && changes_edge[0] || !ends_line && changes_edge[1]) {
        return Err(merge.conflict(LINE_GOES_ON, whole()));
    }
    if writes_bracket_twice(text, span, [&sides[0], &sides[1]]) {
        return Err(merge.conflict(BRACKET_TWICE, whole()));
    }
    let outer = |range: &std::ops::Range<usize>| Span::new(start + range.start, start + range.end);
    let kept: Vec<Span> = merge.applied(&made).kept.iter().map(|it| outer(&(it.start..it.end))).collect();
    if new.core.is_empty() && begins_line && ends_line {
        // Whole lines go with their line end.
        let end = blank_lines_below(text, line_end, asked_ends.saturating_sub(1));
        let end = if text[end..].starts_with("\r\n") { end + 1 } else { end }.max(line_end);
        let range = Span::new(start, if end < text.len() { end + 1 } else { end });
        let text = endings::at(text, span.start).repeat(newlines(replacement));
        return Ok(Fitted { patch: Patch { range, text }, kept });
    }
    let (Some(first), Some(last)) = (made.first(), made.last()) else {
        return Ok(Fitted { patch: Patch { range: Span::new(span.start, span.start), text: String::new() }, kept });
    };
    let range = first.range.start..last.range.end;
    let place = sides[2].text;
    let mut new = String::new();
    let mut done = range.start;
    for replacement in &made {
        new.push_str(&place[done..replacement.range.start]);
        new.push_str(&replacement.text);
        done = replacement.range.end;
    }
    // A bracket that the search text has wrong may be one that the edit adds or removes.
    let [asked, wanted, there] = [0, 1, 2].map(|side| open_brackets(sides[side].text));
    let made = open_brackets(&[&place[..range.start], &new, &place[range.end..]].concat());
    let is_meant = |kind: usize| {
        let by_edit = there[kind] + wanted[kind] - asked[kind];
        made[kind] == if wanted[kind] == there[kind] { there[kind] } else { by_edit }
    };
    if !(0..made.len()).all(is_meant) || merge.both_change_quotes() {
        return Err(merge.conflict(OTHER_BRACKETS, whole()));
    }
    Ok(Fitted { patch: Patch { range: outer(&range), text: new }, kept })
}

const OTHER_BRACKETS: &str =
    "the search text has other brackets or quotes than the file, and the edit changes brackets or quotes";

const LINE_GOES_ON: &str = "the edit changes the first or last word of a place that is only similar, and the line goes \
                            on there";

const BRACKET_TWICE: &str = "the replacement begins or ends with a bracket that the search text does not have, and the \
                             file has it right beside the place";

/// Whether a replacement has another number of some brackets than the search text, and begins or ends with one that the
/// file has right above or below the place. Then the search text has left it out.
fn writes_bracket_twice(text: &str, span: Span, [asked, new]: [&Tokens; 2]) -> bool {
    const BRACKETS: &str = "()[]{}";
    let above = text[..span.start].trim_end().chars().next_back();
    let below = text[span.end..].trim_start().chars().next();
    let is_bracket = |it: &&str| BRACKETS.contains(it);
    let is_twice = |beside: Option<char>, edge: &[&str]| {
        let kind = beside.filter(|it| edge.iter().any(|edge| edge.starts_with(*it))).and_then(|it| BRACKETS.find(it));
        kind.is_some_and(|it| open_brackets(new.text)[it / 2] != open_brackets(asked.text)[it / 2])
    };
    let tokens = || new.slice(0..new.len());
    let first: Vec<&str> = tokens().take_while(is_bracket).collect();
    let last = tokens().rev().skip_while(|it| [";", ","].contains(it)).take_while(is_bracket);
    is_twice(above, &first) || is_twice(below, &last.collect::<Vec<_>>())
}

/// How many brackets of each kind a text opens more often than it closes. Arrows are no brackets.
fn open_brackets(text: &str) -> [isize; 4] {
    let count = |bracket: u8| memchr::memchr_iter(bracket, text.as_bytes()).count().cast_signed();
    let arrows = (text.matches("->").count() + text.matches("=>").count()).cast_signed();
    let [round, square, curly, angle] =
        [(b'(', b')'), (b'[', b']'), (b'{', b'}'), (b'<', b'>')].map(|(opens, closes)| count(opens) - count(closes));
    [round, square, curly, angle + arrows]
}

/// A part of a text with so many lines before and after it: they show whether it is indented with tabs or blanks. The
/// number is not tuned; a whole file may be made of parts with different units.
fn around(text: &str, part: std::ops::Range<usize>) -> &str {
    const LINES: usize = 100;
    let before = memchr::memrchr_iter(b'\n', &text.as_bytes()[..part.start]).nth(LINES);
    let after = memchr::memchr_iter(b'\n', &text.as_bytes()[part.end..]).nth(LINES);
    &text[before.map_or(0, |at| at + 1)..after.map_or(text.len(), |at| part.end + at)]
}

/// Where the line of an offset begins, or up to so many blank lines above it.
fn blank_lines_above(text: &str, offset: usize, most: usize) -> usize {
    let mut start = line_start(text, offset);
    for _ in 0..most {
        let above = line_start(text, start.saturating_sub(1));
        if above == start || !text[above..start].trim().is_empty() {
            break;
        }
        start = above;
    }
    start
}

/// Where a line ends, or up to so many blank lines below it; without the last line end.
fn blank_lines_below(text: &str, line_end: usize, most: usize) -> usize {
    let mut end = line_end;
    for _ in 0..most {
        let Some(rest) = text.get(end + 1..) else { break };
        let line = rest.find('\n').unwrap_or(rest.len());
        if !rest[..line].trim().is_empty() || end + 1 + line == text.len() {
            break;
        }
        end += 1 + line;
    }
    end - usize::from(text[..end].ends_with('\r'))
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
