//! What a replacement makes of a place: brought to the place's indentation and to the file's line endings.
//!
//! The lines of the search text are laid beside those of the place. That tells for each depth of the request which
//! indentation the file has for it; depths that only the replacement has are counted on from the nearest one, in the
//! file's own unit. Where both agree, and for an exact match, the replacement is taken as it is.

mod kept;

use similar::DiffOp;

use super::literals::Literals;
use super::{Hit, without_bom};
use crate::model::{Code, Error, Help, Result, Span, Strategy};
use crate::text::diff;
use crate::text::words::words;
use kept::Kept;

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
        Strategy::Exact if deletes_lines(text, hit.span, &context, &replacement) => {
            let place = &text[hit.span.start..hit.span.end];
            let start = hit.span.start + place.len() - place.trim_start().len();
            fitted(text, Span::new(start, start + place.trim().len()), &context, &replacement)
        }
        Strategy::Exact => literal(text, hit.span, &context, &replacement),
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

/// Whether lines are searched from their first word on, to be deleted with their ends: their indentation goes too.
fn deletes_lines(text: &str, span: Span, context: &str, replacement: &str) -> bool {
    replacement.trim().is_empty()
        && context.ends_with('\n')
        && indentation_before(text, span.start).is_some_and(|shift| !shift.is_empty())
}

/// An exact match is replaced as asked. But where one line was searched with less than its indentation, and the
/// replacement is written as if the line stood as far left, its lines move to where the line stands.
fn literal(text: &str, span: Span, context: &str, replacement: &str) -> Patch {
    let shift = indentation_before(text, span.start).unwrap_or_default();
    let moves = !context.trim_end().contains('\n') && ignores(replacement, context, shift);
    // Where the first line goes, its indentation is not left behind.
    let first_goes = replacement.starts_with('\n') && !context.starts_with('\n');
    let line = |(at, line): (usize, &str)| match line.trim().is_empty() || !moves || (at == 0 && !first_goes) {
        true => line.to_owned(),
        false => shift.to_owned() + line,
    };
    let lines: Vec<String> = replacement.split('\n').enumerate().map(line).collect();
    let start = if first_goes { span.start - shift.len() } else { span.start };
    Patch { range: Span::new(start, span.end), text: lines.join("\n") }
}

/// Whether the replacement of a line that stands this far to the right does not take that into account: it repeats the
/// line at the left margin, or else its later lines fit the brackets that it opens and closes better if its first line
/// stands there.
fn ignores(replacement: &str, context: &str, indentation: &str) -> bool {
    if indentation.is_empty() {
        return false;
    }
    let first = width(indentation);
    if let Some(repeated) = replacement.lines().skip(1).find(|line| line.trim() == context.trim())
        && words(context).nth(1).is_some()
        && [0, first].contains(&width(indent(repeated)))
    {
        return indent(repeated).is_empty();
    }
    let mut depth = 0i64;
    let (mut as_it_is, mut at_the_margin) = (0usize, 0usize);
    let mut before = "";
    let replacement = without_strings(replacement.trim_start_matches(['\r', '\n']));
    for (at, line) in replacement.lines().enumerate() {
        let words = line.trim();
        // What the first line closes was opened before it.
        let words = if at == 0 { words.trim_start_matches([')', ']', '}']) } else { words };
        let continues = continues(before, words);
        before = words;
        if at > 0 && !words.is_empty() {
            let closed = words.chars().take_while(|it| matches!(it, ')' | ']' | '}')).count();
            let depth = depth - closed.cast_signed() as i64;
            let misfits = |first: usize| match depth {
                1.. => width(indent(line)) <= first,
                0 if continues => width(indent(line)) <= first,
                0 => width(indent(line)) < first,
                _ => width(indent(line)) >= first,
            };
            let stands_deeper = depth == 0 && !continues && !indent(line).is_empty();
            as_it_is += usize::from(misfits(first));
            at_the_margin += usize::from(misfits(0) || stands_deeper);
        }
        for character in words.chars() {
            depth += match character {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
        }
    }
    as_it_is > 0 && at_the_margin <= as_it_is
}

/// A text with nothing in its string literals, so that a bracket is a bracket.
fn without_strings(text: &str) -> String {
    let literals = Literals::scan(text);
    text.char_indices().filter(|(at, it)| *it == '\n' || !literals.in_string(*at)).map(|(_, it)| it).collect()
}

/// Whether a line goes on with what the line before it began.
fn continues(before: &str, line: &str) -> bool {
    const FIRST: [&str; 5] = [".", "?", "&&", "||", "="];
    const LAST: [&str; 5] = ["=", "+", "&&", "||", ":"];
    if before.starts_with("//") || line.starts_with("//") {
        return false;
    }
    FIRST.iter().any(|it| line.starts_with(it)) || LAST.iter().any(|it| before.ends_with(it))
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
        let blank = |line: &&str| without_bom(line).trim().is_empty();
        let before =
            text[..line_start].strip_suffix('\n').map(|it| it.rsplit('\n').take(most).take_while(blank).count());
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
}

/// Line for line, the first one first if it begins a line of the file.
pub(super) fn indentations<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<Indentations<'a>> {
    let asked: Vec<&str> = context.lines().filter(|line| !line.trim().is_empty()).collect();
    let there: Vec<&str> = with_indentation(text, span).lines().filter(|line| !line.trim().is_empty()).collect();
    let squeezed =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.split_whitespace().collect()).collect() };
    let begins_line = indentation_before(text, span.start).is_some();
    let mut pairs = Vec::new();
    if let Some(same) = same_starts(&squeezed(&asked), &squeezed(&there)) {
        let same = same.into_iter().filter(|(_, of_there)| *of_there > 0 || begins_line);
        let pair = |(a, b): (usize, usize)| Indentations { asked: indent(asked[a]), there: indent(there[b]) };
        return same.map(pair).collect();
    }
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

/// How the request's indentation becomes the file's.
struct Fit<'a> {
    /// For each indentation of the search text the file's, the shallowest first; empty where both agree.
    table: Vec<Indentations<'a>>,
    asked_unit: Unit,
    unit: Unit,
    /// By how many columns the file's lines stand further right than the request's, where all depths agree on it.
    shift: Option<isize>,
}

impl<'a> Fit<'a> {
    fn new(text: &'a str, span: Span, context: &'a str, replacement: &str) -> Fit<'a> {
        let asked_unit = Unit::of([context, replacement]);
        let unit = Unit::of([text]).or(asked_unit).unwrap_or(Unit::Spaces(4));
        let asked_unit = match (asked_unit, unit) {
            // What goes on further right, not a wide step.
            (Some(Unit::Spaces(asked)), Unit::Spaces(step)) if asked > 4 && asked % step == 0 => unit,
            (asked, _) => asked.unwrap_or(unit),
        };
        let fit = |pairs: &[Indentations<'a>]| {
            let table = table(pairs);
            let shift = common_shift(&table, asked_unit, unit);
            Fit { shift, unit: step_there(&table, asked_unit).unwrap_or(unit), table, asked_unit }
        };
        let pairs = indentations(text, span, context);
        match pairs[..] {
            // One line without its indentation, and a replacement that knows it all the same.
            [only] if only.asked.is_empty() && !ignores(replacement, context, only.there) => fit(&[]),
            [first, _, ..] => {
                // The first line may have lost its indentation on the way, which the others then contradict.
                let (all, others) = (fit(&pairs), fit(&pairs[1..]));
                let lost =
                    all.shift.is_none() && first.asked.is_empty() && others.indentation(first.asked) != first.there;
                if lost { others } else { all }
            }
            _ => fit(&pairs),
        }
    }

    fn indentation(&self, asked: &str) -> String {
        let deeper = self.table.partition_point(|pair| width(pair.asked) <= width(asked));
        let Some(base) = self.table.get(deeper.saturating_sub(1)) else { return asked.to_owned() };
        let (from, to) = (width(base.asked), width(asked));
        if let (Some(shift), Unit::Spaces(_)) = (self.shift, self.unit) {
            return " ".repeat(to.saturating_add_signed(shift));
        }
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

/// Of two depths or more, or of one that is another step in the file: that is no matter of wider or narrower steps.
fn common_shift(table: &[Indentations], asked_unit: Unit, unit: Unit) -> Option<isize> {
    let shift = |pair: &Indentations| width(pair.there).cast_signed() - width(pair.asked).cast_signed();
    let first = shift(table.first()?);
    let is_known = match table {
        [only] => {
            let step = width(only.asked) * unit.width() == width(only.there) * asked_unit.width();
            let odd = !width(only.there).is_multiple_of(unit.width());
            !only.asked.contains('\t') && (odd || (!only.asked.is_empty() && !step))
        }
        _ => true,
    };
    let spaces = table.iter().all(|pair| !pair.there.contains('\t'));
    (spaces && is_known && table.iter().all(|pair| shift(pair) == first)).then_some(first)
}

/// How many blanks the place has for each step of the request, where that is the same for all depths.
fn step_there(table: &[Indentations], asked_unit: Unit) -> Option<Unit> {
    let steps = table.windows(2).map(|two| {
        let asked = width(two[1].asked) - width(two[0].asked);
        let there = width(two[1].there).checked_sub(width(two[0].there))?;
        let spaces = !two[1].there.contains('\t');
        let whole = asked % asked_unit.width() == 0 && there % (asked / asked_unit.width()).max(1) == 0;
        (spaces && whole && there > 0).then(|| there / (asked / asked_unit.width()).max(1))
    });
    let steps: Option<Vec<usize>> = steps.collect();
    let steps = steps?;
    let first = *steps.first()?;
    steps.iter().all(|it| *it == first).then_some(Unit::Spaces(first))
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
