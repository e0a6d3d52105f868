//! The lines of a place that an edit does not change.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use similar::DiffOp;

use super::indentation::{Edges, indent, indentation_before, with_indentation};
use super::line_pairs::{are_alike_line_by_line, is_reliable_pair, same_starts};
use super::literals::Literals;
use crate::diff;
use crate::score::{collapse, score};
use semdex_model::Span;

/// Lines that a replacement repeats from the search text: the file's own lines remain, with the blank lines between
/// them. An edit that repeats a wrongly recalled line does not intend to change that line.
pub(super) struct KeptLines<'a> {
    /// By line number in the replacement's core.
    lines: FxHashMap<usize, &'a str>,
    /// The blank lines before a line of the replacement's core, with their line ends.
    gaps: FxHashMap<usize, &'a str>,
    /// The request has the lines of string literals at another indentation than the file, like all its lines.
    pub(super) shifts_strings: bool,
}

/// A line with words: its number among all lines, and its place in the text.
struct WordLine<'a> {
    at: usize,
    span: Span,
    text: &'a str,
}

/// The blank lines before a line, with their line ends.
fn gap<'a>(text: &'a str, lines: &[WordLine], at: usize) -> &'a str {
    let Some(before) = at.checked_sub(1) else { return "" };
    text[lines[before].span.end..lines[at].span.start].split_once('\n').map_or("", |(_, blank)| blank)
}

fn word_lines(text: &str) -> Vec<WordLine<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        let content = line.trim_end_matches('\r');
        if !content.trim().is_empty() {
            lines.push(WordLine { at, span: Span::new(start, start + content.len()), text: content });
        }
        start += line.len() + 1;
    }
    lines
}

impl<'a> KeptLines<'a> {
    pub(super) fn new(text: &'a str, span: Span, asked: &Edges, new: &Edges) -> KeptLines<'a> {
        let there_text = with_indentation(text, span);
        let begins_line = indentation_before(text, span.start).is_some();
        let (asked_lines, new_lines, there) = (word_lines(asked.core), word_lines(new.core), word_lines(there_text));
        // The first lines have lost their indentation here.
        let whole = |lines: &[WordLine], edges: &Edges| -> Vec<String> {
            let line =
                |it: &WordLine| if it.at == 0 { edges.indent().to_owned() + it.text } else { it.text.to_owned() };
            lines.iter().map(line).collect()
        };
        let squeezed = |lines: &[WordLine]| -> Vec<String> {
            lines.iter().map(|it| it.text.split_whitespace().collect()).collect()
        };
        let (asked_words, there_words) = (squeezed(&asked_lines), squeezed(&there));
        let collapsed =
            |lines: &[WordLine]| -> Vec<String> { lines.iter().map(|it| collapse(it.text).into_owned()).collect() };
        let in_file: BTreeMap<usize, usize> = match same_starts(&asked_words, &there_words) {
            Some(pairs) => pairs.into_iter().filter(|&(a, b)| asked_words[a] == there_words[b]).collect(),
            None => corresponding(&collapsed(&asked_lines), &collapsed(&there)),
        };
        let (new_whole, asked_whole) = (whole(&new_lines, new), whole(&asked_lines, asked));
        let mut taken_over = equal_lines(&new_whole, &asked_whole);
        // A line that both have exactly once is repeated, also between other lines.
        for (new, asked) in only_ones(&new_whole, &asked_whole) {
            taken_over.entry(new).or_insert(asked);
        }
        // A bracket alone may be a different bracket.
        let beside = |new: usize, asked: usize| taken_over.get(&new) == Some(&asked);
        let is_known = |new: usize, asked: usize| {
            new_lines[new].text.contains(|it: char| it.is_alphanumeric() || !it.is_ascii())
                || beside(new + 1, asked + 1)
                || (new > 0 && asked > 0 && beside(new - 1, asked - 1))
        };
        let taken_over: BTreeMap<usize, usize> =
            taken_over.iter().map(|(a, b)| (*a, *b)).filter(|&(new, asked)| is_known(new, asked)).collect();
        let literals = Literals::scan(&text[..span.end]);
        let there_start = span.end - there_text.len();
        let shifts_strings = in_file.iter().any(|(&of_asked, &of_there)| {
            let (asked_line, there_line) = (&asked_lines[of_asked], &there[of_there]);
            let asked_indent = if asked_line.at == 0 { asked.indent() } else { indent(asked_line.text) };
            literals.in_string(there_start + there_line.span.start) && asked_indent != indent(there_line.text)
        });
        let mut kept = KeptLines { lines: FxHashMap::default(), gaps: FxHashMap::default(), shifts_strings };
        let mut before: Option<(usize, usize, usize)> = None;
        for (of_new, of_asked) in taken_over {
            let Some(&of_there) = in_file.get(&of_asked).filter(|&&at| at > 0 || begins_line) else { continue };
            let at = new_lines[of_new].at;
            kept.lines.insert(at, there[of_there].text);
            let (asked_gap, new_gap) = (gap(asked.core, &asked_lines, of_asked), gap(new.core, &new_lines, of_new));
            if before == Some((of_new.wrapping_sub(1), of_asked.wrapping_sub(1), of_there.wrapping_sub(1)))
                && new_gap == asked_gap
            {
                kept.gaps.insert(at, gap(there_text, &there, of_there));
            }
            before = Some((of_new, of_asked, of_there));
        }
        kept
    }

    pub(super) fn line(&self, at: usize) -> Option<&'a str> {
        self.lines.get(&at).copied()
    }

    pub(super) fn gap(&self, at: usize) -> Option<&'a str> {
        self.gaps.get(&at).copied()
    }
}

/// Which line of the search text is which line of the place: equal lines, or as many different ones between equal
/// lines.
fn corresponding(asked: &[String], there: &[String]) -> BTreeMap<usize, usize> {
    /// Below this score a line is a different line.
    const ALIKE: f64 = 60.0;
    let is_same = |&(a, b): &(usize, usize)| asked[a] == there[b] || score(&asked[a], &there[b]) >= ALIKE;
    // Lines without words all look the same.
    if are_alike_line_by_line(asked, there) {
        return (0..asked.len()).zip(0..there.len()).filter(is_same).collect();
    }
    let is_reliable = is_reliable_pair(asked, there);
    let counts = |&(a, b): &(usize, usize)| is_reliable(&asked[a], &there[b]);
    let mut pairs = BTreeMap::new();
    for op in diff::of_lines(asked, there) {
        let (old, new) = (op.old_range(), op.new_range());
        if old.len() == new.len() {
            pairs.extend(old.zip(new).filter(is_same).filter(counts));
        }
    }
    pairs
}

/// The equal lines among those that occur exactly once in each of two texts.
fn only_ones(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    let once = |lines: &[String]| -> FxHashMap<String, Option<usize>> {
        let mut once = FxHashMap::default();
        for (at, line) in lines.iter().enumerate() {
            once.entry(line.clone()).and_modify(|it| *it = None).or_insert(Some(at));
        }
        once
    };
    let there = once(b);
    once(a).into_iter().filter_map(|(line, at)| Some((at?, (*there.get(&line)?)?))).collect()
}

/// Which line of one text equals which line of another, in order.
fn equal_lines(a: &[String], b: &[String]) -> BTreeMap<usize, usize> {
    let mut pairs = BTreeMap::new();
    for op in diff::of_lines(a, b) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|at| (old_index + at, new_index + at)));
        }
    }
    pairs
}
