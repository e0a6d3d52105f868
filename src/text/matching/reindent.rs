//! What a replacement makes of a place: brought to the place's indentation and to the file's line endings.
//!
//! The lines of the search text are laid beside those of the place. That tells for each depth of the request which
//! indentation the file has for it; depths that only the replacement has are counted on from the nearest one, in the
//! file's own unit. Where both agree, and for an exact match, the replacement is taken as it is.

use similar::DiffOp;

use super::literals::Literals;
use super::{Hit, without_bom};
use crate::model::{Code, Error, Help, Result, Span, Strategy};
use crate::text::diff;

/// One replacement: exactly this range of the old text becomes this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The place that matched; where whole lines go or move it takes their indentation and line ends along.
    pub range: Span,
    pub text: String,
}

/// A text after a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
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
        Strategy::Exact => Patch { range: hit.span, text: literal(text, hit.span, &context, &replacement) },
        _ => fitted(text, hit.span, &context, &replacement),
    };
    let newline = line_ending(text, patch.range.start);
    keep_final_newline(text, &mut patch);
    if newline == "\r\n" {
        patch.text = patch.text.replace('\n', newline);
    }
    patch
}

/// All of a text as another one: in its line endings, with its byte order mark.
pub fn whole(text: &str, content: &str) -> Patch {
    let bom = text.len() - without_bom(text).len();
    let mut new = unix(without_bom(content));
    if line_ending(text, bom) == "\r\n" {
        new = new.replace('\n', "\r\n");
    }
    Patch { range: Span::new(bom, text.len()), text: new }
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// How the line ends that holds this offset, or else the one before it.
fn line_ending(text: &str, offset: usize) -> &'static str {
    let bytes = text.as_bytes();
    let newline = memchr::memchr(b'\n', &bytes[offset..])
        .map(|length| offset + length)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..offset]));
    match newline {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// A file that ends with a newline still does.
fn keep_final_newline(text: &str, patch: &mut Patch) {
    let before = without_bom(&text[..patch.range.start]);
    let ends = if patch.text.is_empty() { before } else { &patch.text };
    if patch.range.end == text.len() && text.ends_with('\n') && !ends.is_empty() && !ends.ends_with('\n') {
        patch.text.push('\n');
    }
}

/// An exact match is replaced as asked. But where one line was searched with less than its indentation, and the
/// replacement is written as if the line stood as far left, the lines that follow move to where the line stands.
fn literal(text: &str, span: Span, context: &str, replacement: &str) -> String {
    let shift = indentation_before(text, span.start);
    match shift {
        Some(shift) if !context.trim_end().contains('\n') && ignores(replacement, shift) => {
            each_line(replacement, |at, line| {
                if at > 0 && !line.trim().is_empty() { shift.to_owned() + line } else { line.to_owned() }
            })
        }
        _ => replacement.to_owned(),
    }
}

/// Whether a replacement for something that stands this far to the right does not take that into account: a line
/// after the first stands further left, though no bracket was closed that it had not opened.
fn ignores(replacement: &str, indentation: &str) -> bool {
    if indentation.is_empty() {
        return false;
    }
    let mut depth = 0i64;
    for character in replacement.chars() {
        depth += match character {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    let mut later = replacement.lines().skip(1).filter(|line| !line.trim().is_empty());
    later.any(|line| width(indent(line)) < width(indentation))
}

/// A match that is not exact: the place lies between its first and last word, and the replacement is fitted to it.
fn fitted(text: &str, span: Span, context: &str, replacement: &str) -> Patch {
    let line_start = line_start(text, span.start);
    let head = indentation_before(text, span.start);
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[span.end..]).map_or(text.len(), |length| span.end + length);
    let ends_line = text[span.end..line_end].trim().is_empty();
    let asked = Edges::of(context);
    let new = Edges::of(replacement);

    if new.core.is_empty() {
        return match head {
            // Whole lines go whole.
            Some(_) if ends_line => {
                let end = if line_end < text.len() { line_end + 1 } else { line_end };
                Patch { range: Span::new(line_start, end), text: "\n".repeat(newlines(replacement)) }
            }
            _ => Patch { range: span, text: String::new() },
        };
    }

    let fit = Fit::new(text, span, context, replacement);
    let literals = Literals::scan(new.core);
    let mut offset = 0;
    let mut out = each_line(new.core, |at, line| {
        let starts = offset;
        offset += line.len() + 1;
        if at == 0 || literals.in_string(starts) {
            line.to_owned()
        } else if line.trim().is_empty() {
            String::new()
        } else {
            fit.indentation(indent(line)) + line.trim_start()
        }
    });

    let mut range = span;
    if let Some(head) = head {
        let first = if new.indent() == asked.indent() { head.to_owned() } else { fit.indentation(new.indent()) };
        let blank_lines = newlines(new.head).saturating_sub(newlines(asked.head));
        if blank_lines > 0 || first != head {
            range.start = line_start;
            out = "\n".repeat(blank_lines) + &first + &out;
        }
    }
    let asked_ends = newlines(asked.tail).max(usize::from(ends_line));
    out.push_str(&"\n".repeat(newlines(new.tail).saturating_sub(asked_ends)));
    Patch { range, text: out }
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

fn each_line(text: &str, mut map: impl FnMut(usize, &str) -> String) -> String {
    let lines: Vec<String> = text.split('\n').enumerate().map(|(at, line)| map(at, line)).collect();
    lines.join("\n")
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
}

/// Line for line, the first one first if it begins a line of the file.
pub(super) fn indentations<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<Indentations<'a>> {
    let asked: Vec<&str> = context.lines().filter(|line| !line.trim().is_empty()).collect();
    let there: Vec<&str> = with_indentation(text, span).lines().filter(|line| !line.trim().is_empty()).collect();
    let squeezed =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.split_whitespace().collect()).collect() };
    let begins_line = indentation_before(text, span.start).is_some();
    let mut pairs = Vec::new();
    for op in diff::of_lines(&squeezed(&asked), &squeezed(&there)) {
        let (old_index, new_index, len) = match op {
            DiffOp::Equal { old_index, new_index, len } => (old_index, new_index, len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
                (old_index, new_index, old_len)
            }
            _ => continue,
        };
        let lines = asked[old_index..].iter().zip(&there[new_index..]).take(len);
        let lines = lines.skip(usize::from(new_index == 0 && !begins_line));
        pairs.extend(lines.map(|(asked, there)| Indentations { asked: indent(asked), there: indent(there) }));
    }
    pairs
}

/// How the request's indentation becomes the file's.
struct Fit<'a> {
    /// For each indentation of the search text the file's, the shallowest first; empty where both agree.
    table: Vec<Indentations<'a>>,
    asked_unit: Unit,
    unit: Unit,
}

impl<'a> Fit<'a> {
    fn new(text: &'a str, span: Span, context: &'a str, replacement: &str) -> Fit<'a> {
        let unit = Unit::of([text]).unwrap_or(Unit::Spaces(4));
        let asked_unit = Unit::of([context, replacement]).unwrap_or(unit);
        let fit = |pairs: &[Indentations<'a>]| Fit { table: table(pairs), asked_unit, unit };
        let pairs = indentations(text, span, context);
        match pairs[..] {
            // One line without its indentation, and a replacement that knows it all the same.
            [only] if width(only.asked) < width(only.there) && !ignores(replacement, only.there) => fit(&[]),
            [first, _, ..] => {
                // The first line may have lost its indentation on the way, which the others then contradict.
                let others = fit(&pairs[1..]);
                if others.indentation(first.asked) == first.there { fit(&pairs) } else { others }
            }
            _ => fit(&pairs),
        }
    }

    fn indentation(&self, asked: &str) -> String {
        let deeper = self.table.partition_point(|pair| width(pair.asked) <= width(asked));
        let Some(base) = self.table.get(deeper.saturating_sub(1)) else { return asked.to_owned() };
        let (from, to) = (width(base.asked), width(asked));
        let step = self.asked_unit.width();
        if to >= from {
            let (levels, rest) = ((to - from) / step, (to - from) % step);
            return base.there.to_owned() + &self.unit.text().repeat(levels) + &" ".repeat(rest);
        }
        let mut there = base.there;
        for _ in 0..(from - to).div_ceil(step) {
            let shorter = there.strip_suffix(self.unit.text().as_str()).or_else(|| there.strip_suffix('\t'));
            there = shorter.unwrap_or_default();
        }
        there.to_owned()
    }
}

/// One entry for each depth of the search text: the indentation that the file has for it most often.
fn table<'a>(pairs: &[Indentations<'a>]) -> Vec<Indentations<'a>> {
    if pairs.iter().all(|pair| pair.asked == pair.there) {
        return Vec::new();
    }
    let mut counted: Vec<(Indentations<'a>, usize)> = Vec::new();
    let mut sorted = pairs.to_vec();
    sorted.sort_by_key(|pair| (width(pair.asked), pair.there));
    for pair in sorted {
        match counted.last_mut() {
            Some((last, count)) if width(last.asked) == width(pair.asked) && last.there == pair.there => *count += 1,
            _ => counted.push((pair, 1)),
        }
    }
    counted.sort_by_key(|(pair, count)| (width(pair.asked), std::cmp::Reverse(*count)));
    counted.dedup_by_key(|(pair, _)| width(pair.asked));
    counted.into_iter().map(|(pair, _)| pair).collect()
}

/// One step of indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Tab,
    Spaces(usize),
}

impl Unit {
    /// As most of the indented lines have it; unknown if none is indented.
    fn of<const N: usize>(texts: [&str; N]) -> Option<Unit> {
        /// Enough to know a file's habit.
        const LINES: usize = 2000;
        let (mut tabs, mut spaces) = (0, 0);
        let mut steps = [0usize; 9];
        let mut before = 0;
        let lines = texts.iter().flat_map(|text| text.lines());
        for line in lines.filter(|line| !line.trim().is_empty()).take(LINES) {
            let indentation = indent(line);
            if indentation.starts_with('\t') {
                tabs += 1;
                continue;
            }
            spaces += usize::from(!indentation.is_empty());
            let step = width(indentation).abs_diff(before);
            before = width(indentation);
            if (2..steps.len()).contains(&step) {
                steps[step] += 1;
            }
        }
        if tabs == 0 && spaces == 0 {
            return None;
        }
        if tabs >= spaces {
            return Some(Unit::Tab);
        }
        let most = steps.iter().max().copied().unwrap_or_default();
        Some(Unit::Spaces(if most == 0 { 4 } else { steps.iter().position(|&count| count == most).unwrap_or(4) }))
    }

    fn width(self) -> usize {
        match self {
            Unit::Tab => 4,
            Unit::Spaces(count) => count,
        }
    }

    fn text(self) -> String {
        match self {
            Unit::Tab => "\t".to_owned(),
            Unit::Spaces(count) => " ".repeat(count),
        }
    }
}
