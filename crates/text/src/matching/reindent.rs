//! What a replacement makes of a place: brought to the place's indentation and to the file's line endings.
//!
//! The lines of the search text are laid beside those of the place. That tells for each depth of the request which
//! indentation the file has for it; depths that only the replacement has are counted on from the nearest one, in the
//! file's own unit. Where both agree, and for an exact match, the replacement is taken as it is.

mod exactly;
mod fit;
mod kept;

use similar::DiffOp;

use super::literals::Literals;
use super::search::{Hit, without_bom};
use crate::{diff, endings, score};
use exactly::literal;
use fit::Fit;
use kept::Kept;
use semdex_model::{Code, Error, Help, Result, Span, Strategy};

/// One replacement: exactly this range of the old text becomes this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The place that matched; where whole lines go or move it takes their indentation and line ends along.
    pub range: Span,
    /// What takes the place of the range.
    pub text: String,
}

/// A text after a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The whole text.
    pub text: String,
    /// Of the new text.
    pub span: Span,
    /// What of the old text it took the place of.
    pub range: Span,
}

/// The text with a match replaced.
pub fn apply(text: &str, hit: &Hit, context: &str, replacement: &str) -> Replaced {
    let patch = patch(text, hit, context, replacement);
    let new = [&text[..patch.range.start], &patch.text, &text[patch.range.end..]].concat();
    let span = Span::new(patch.range.start, patch.range.start + patch.text.len());
    Replaced { text: new, span, range: patch.range }
}

/// The text with several patches at once, each made against the same old text, and where each one's text is now.
/// Patches that overlap are refused.
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

/// What is to be replaced by what, for a match of `context` in `text`.
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

/// All of a text as another one: in its line endings, with its byte order mark.
pub fn whole(text: &str, content: &str) -> Patch {
    let bom = text.len() - without_bom(text).len();
    let new = endings::like(&text[bom..], &unix(without_bom(content)), endings::at(text, bom));
    Patch { range: Span::new(bom, text.len()), text: new }
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A file that ends with a newline still does.
fn keep_final_newline(text: &str, patch: &mut Patch) {
    let before = without_bom(&text[..patch.range.start]);
    let ends = if patch.text.is_empty() { before } else { &patch.text };
    if patch.range.end == text.len() && text.ends_with('\n') && !ends.is_empty() && !ends.ends_with('\n') {
        patch.text.push('\n');
    }
}

/// Whether lines are searched from their first word on, to be deleted with their ends: their indentation goes too.
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
            // Whole lines go whole.
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

    let fit = Fit::new(text, span, context, replacement);
    // What opens before the place may close in it. What closes after it is all around it, and moves as it does.
    let before = &text[..span.start];
    let literals = Literals::scan(&[before, new.core, &text[span.end..]].concat());
    let literals = literals.closed_by(before.len() + new.core.len());
    let kept = Kept::new(text, span, &asked, &new);
    let mut out = String::new();
    let mut offset = before.len();
    let mut gap = String::new();
    let mut continued = false;
    for (at, line) in new.core.split('\n').enumerate() {
        // In a literal the lines after a backslash are code as to their indentation.
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
        // What stands between the last word and the line's end belongs to the line.
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
        // The search text ends in a blank line without its end.
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
        // The end of the place's own line stays.
        out.push('\n');
        range.end = around.end_below(fewer.saturating_sub(more).min(around.below));
    }
    Patch { range, text: out }
}

/// The blank lines right above and right below a place.
struct Around<'a> {
    text: &'a str,
    line_start: usize,
    line_end: usize,
    /// How many of them, as far as the search text or the replacement speaks of any.
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

/// Before a text's first line end.
fn trailing_blanks(text: &str) -> &str {
    &text[..text.find(['\r', '\n']).unwrap_or(text.len())]
}

/// How long the line end is that stands before an offset.
fn line_end_before(text: &str, offset: usize) -> usize {
    match text[..offset].strip_suffix('\n') {
        Some(line) => 1 + usize::from(line.ends_with('\r')),
        None => 0,
    }
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// A text, and the white space around it.
struct Edges<'a> {
    head: &'a str,
    core: &'a str,
    tail: &'a str,
}

impl<'a> Edges<'a> {
    fn of(text: &'a str) -> Edges<'a> {
        let core_and_tail = text.trim_start();
        let core = core_and_tail.trim_end();
        let head = &text[..text.len() - core_and_tail.len()];
        Edges { head, core, tail: &core_and_tail[core.len()..] }
    }

    /// Of its first line.
    fn indent(&self) -> &'a str {
        self.head.rsplit('\n').next().unwrap_or_default()
    }
}

pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// In columns, a tab counting four: only to compare depths.
pub(super) fn width(indentation: &str) -> usize {
    indentation.chars().map(|character| if character == '\t' { 4 } else { 1 }).sum()
}

fn line_start(text: &str, offset: usize) -> usize {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |newline| newline + 1);
    // A byte order mark belongs to no line.
    if start == 0 { text.len() - without_bom(text).len() } else { start }
}

/// What stands before the offset on its line, if that is nothing but indentation.
fn indentation_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(line_start(text, offset)..offset)?;
    before.trim().is_empty().then_some(before)
}

/// A place with the indentation of its first line, where it begins one.
pub(super) fn with_indentation(text: &str, span: Span) -> &str {
    let start = indentation_before(text, span.start).map_or(span.start, |head| span.start - head.len());
    &text[start..span.end]
}

/// The indentation of a line of the search text, and of the line that corresponds to it in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Indentations<'a> {
    pub asked: &'a str,
    pub there: &'a str,
    /// Of the first line of the search text, which may have lost its indentation on the way.
    pub first: bool,
}

/// Line for line, the first one first if it begins a line of the file. A line that begins with another sign than the file's
/// does not tell how far to the right it stands: a sign that was lost or added there leaves its blanks. Where all do, or all but
/// the first one, which may have lost its indentation, all count.
pub(super) fn indentations<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<Indentations<'a>> {
    let pairs = line_pairs(text, span, context);
    let begins_alike = |(asked, there): &&(&str, &str)| {
        let [asked, there] = [asked, there].map(|it| it.trim().chars().next());
        asked == there || [asked, there].iter().all(|it| it.is_some_and(char::is_alphanumeric))
    };
    let alike: Vec<&(&str, &str)> = pairs.iter().filter(begins_alike).collect();
    let first_line = context.lines().find(|line| !line.trim().is_empty()).map(str::as_ptr);
    let is_first = |asked: &str| Some(asked.as_ptr()) == first_line;
    let tells = alike.iter().any(|(asked, _)| !is_first(asked) || !indent(asked).is_empty());
    let counting = if tells { alike } else { pairs.iter().collect() };
    let indentations = |(asked, there): &(&'a str, &'a str)| Indentations {
        asked: indent(asked),
        there: indent(there),
        first: is_first(asked),
    };
    counting.into_iter().map(indentations).collect()
}

/// Which line of a search text is which of the place.
fn line_pairs<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<(&'a str, &'a str)> {
    let asked: Vec<&str> = context.lines().filter(|line| !line.trim().is_empty()).collect();
    let there: Vec<&str> = with_indentation(text, span).lines().filter(|line| !line.trim().is_empty()).collect();
    let squeezed =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.split_whitespace().collect()).collect() };
    let begins_line = indentation_before(text, span.start).is_some();
    if let Some(same) = same_starts(&squeezed(&asked), &squeezed(&there)) {
        let same = same.into_iter().filter(|(_, of_there)| *of_there > 0 || begins_line);
        return same.map(|(a, b)| (asked[a], there[b])).collect();
    }
    // Line by line, where a misspelt line would have a bracket alone taken for any other one.
    if lines_correspond(&squeezed(&asked), &squeezed(&there)) {
        return asked.into_iter().zip(there).skip(usize::from(!begins_line)).collect();
    }
    let tells = tells_which(&asked, &there);
    let mut pairs = Vec::new();
    for op in diff::of_lines(&squeezed(&asked), &squeezed(&there)) {
        let (old_index, new_index, len) = match op {
            DiffOp::Equal { old_index, new_index, len } => (old_index, new_index, len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
                (old_index, new_index, old_len)
            }
            _ => continue,
        };
        let lines = asked[old_index..].iter().copied().zip(there[new_index..].iter().copied()).take(len);
        pairs.extend(lines.skip(usize::from(new_index == 0 && !begins_line)).filter(|(a, b)| tells(a, b)));
    }
    pairs
}

/// Whether two lines that a comparison has paired are the same one. Of brackets alone, only where both texts have as many of them,
/// and as many lines, or there is but one such line: else it may be any other one.
pub(super) fn tells_which<T: AsRef<str>>(asked: &[T], there: &[T]) -> impl Fn(&str, &str) -> bool {
    let is_bracket = |line: &str| !line.contains(|it: char| it.is_alphanumeric() || !it.is_ascii());
    let [of_asked, of_there] = [asked, there].map(|it| it.iter().filter(|it| is_bracket(it.as_ref())).count());
    let as_many_lines = asked.len() == there.len();
    let is_only = move |line: &str| there.iter().filter(|it| it.as_ref().trim() == line.trim()).count() == 1;
    move |a, b| !(is_bracket(a) && is_bracket(b)) || (of_asked == of_there && (as_many_lines || is_only(b)))
}

/// Whether two texts have as many lines, each with words as alike as a misspelt one.
pub(super) fn lines_correspond(asked: &[String], there: &[String]) -> bool {
    /// Less alike, a line is another one.
    const ALIKE: f64 = 60.0;
    let has_words = |line: &str| line.chars().filter(|it| it.is_alphanumeric()).nth(1).is_some();
    let is_same = |(a, b): (&String, &String)| a == b || !has_words(a) || score::score(a, b) >= ALIKE;
    asked.len() == there.len() && asked.iter().zip(there).all(is_same)
}

/// Which lines of two texts begin with the same character of them, if they are the same but for white space.
fn same_starts(a: &[String], b: &[String]) -> Option<Vec<(usize, usize)>> {
    let starts = |lines: &[String]| -> Vec<usize> {
        let mut end = 0;
        let start = |line: &String| {
            end += line.len();
            end - line.len()
        };
        lines.iter().map(start).collect()
    };
    if a.concat() != b.concat() {
        return None;
    }
    let (a, b) = (starts(a), starts(b));
    Some(a.iter().enumerate().filter_map(|(at, start)| Some((at, b.binary_search(start).ok()?))).collect())
}
