//! Where a place begins and ends. An alignment tells it to the character, but what is cheapest there need not be what
//! is meant: a closing bracket more or less costs one edit. So both edges must agree with the search text's, in their
//! words and lines, and the place must open and close what the search text does.

use std::ops::Range;

use super::flat::{Asked, Flat, first_atom, is_word, last_atom};
use super::meaning::{Differing, are_others, differing, says_another_thing, signs};
use crate::text::matching::whitespace::glues;
use crate::text::{diff, score};

/// The first and the last line must be as alike as this, else the place's extent is doubtful.
const EDGE_SCORE: f64 = 50.0;

/// A place in the flat text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub start: usize,
    pub end: usize,
    pub score: f64,
    /// Why it must not be taken although it is alike.
    pub doubt: Option<Doubt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Edges,
    Brackets,
    Lines,
}

impl Doubt {
    pub fn reason(self) -> &'static str {
        match self {
            Doubt::Edges => "it does not begin and end as the search text does, so that its extent is doubtful",
            Doubt::Brackets => {
                "it opens and closes other brackets than the search text, so that its extent is doubtful"
            }
            Doubt::Lines => "one of its lines says another thing than the line that was searched",
        }
    }
}

impl Place {
    /// Whether this is but another opinion on where the other place begins or ends.
    pub fn is_the_same_as(&self, other: &Place) -> bool {
        let overlaps = self.start < other.end && other.start < self.end;
        self.start == other.start || self.end == other.end || (overlaps && self.doubt.is_some())
    }
}

/// Judges and mends the extents of places.
pub(super) struct Extents<'a> {
    pub asked: &'a Asked<'a>,
    pub flat: &'a Flat,
    pub autofix: f64,
}

impl Extents<'_> {
    /// The place of an alignment. Where its edges are in doubt, the ends of lines and the words like those at the
    /// search text's edges are tried near by: the best that leaves no doubt is the place.
    pub fn place(&self, begin: usize, end: usize) -> Option<Place> {
        let text = self.flat.text[begin..end].trim_end();
        let (begin, end) = (begin + text.len() - text.trim_start().len(), begin + text.len());
        let text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        let aligned = self.judge(begin, end);
        // A bracket or a quote more stands on many a line: only a word confirms an edge.
        let same = |there: &str, asked: &str| there == asked && there.starts_with(is_word);
        let same_edges =
            same(first_atom(text), self.asked.first_atom()) && same(last_atom(text), self.asked.last_atom());
        if aligned.score < self.autofix || (aligned.doubt.is_none() && same_edges) {
            return Some(aligned);
        }
        let better = |best: Place, place: Place| {
            let as_many =
                |place: &Place| self.flat.texts_between(place.start, place.end).len() == self.asked.lines.len();
            let rank = |place: &Place| (place.doubt.is_none(), place.score, as_many(place));
            // A worse extent may hide that a line says another thing.
            let hides = aligned.doubt == Some(Doubt::Lines) && place.score < aligned.score;
            if rank(&place) > rank(&best) && !hides { place } else { best }
        };
        let begins = self.begins(begin).into_iter().filter(|&begin| begin < end);
        let best = begins.map(|begin| self.judge(begin, end)).fold(aligned, better);
        let begin = if best.doubt.is_none() { best.start } else { begin };
        let ends = self.ends(end).into_iter().filter(|&end| end > begin);
        let best = ends.map(|end| self.judge(begin, end)).fold(best, better);
        // No other extent fits the brackets better: then it is inside that they differ.
        if best.doubt == Some(Doubt::Brackets) && self.edges_equal(best.start, best.end) {
            return Some(Place { doubt: None, ..best });
        }
        Some(best)
    }

    pub fn judge(&self, begin: usize, end: usize) -> Place {
        let text = &self.flat.text[begin..end];
        let longest = self.asked.length.max(text.chars().count());
        let score = score::from_distance(score::distance(&self.asked.text, text), longest);
        let balanced = balance(text) == balance(&self.asked.text);
        let doubt = if !self.begins_alike(begin) || !self.ends_alike(end) || !self.edges_agree(begin, end, balanced) {
            Some(Doubt::Edges)
        } else if !balanced && !self.lines_agree(begin, end) {
            Some(Doubt::Brackets)
        } else if self.has_another_line(begin, end) {
            Some(Doubt::Lines)
        } else {
            None
        };
        Place { start: begin, end, score, doubt }
    }

    /// Whether a place may begin here: with the same word, or with a line where the search text does so or has a
    /// word as well.
    fn begins_alike(&self, at: usize) -> bool {
        if joins_word(&self.flat.text, at) {
            return false;
        }
        let (asked, there) = (self.asked.first_atom(), first_atom(&self.flat.text[at..]));
        let begins_line = self.flat.lines[self.flat.line_of(at)].start == at;
        if self.asked.begins_line() { begins_line } else { asked == there || (begins_line && same_kind(asked, there)) }
    }

    fn ends_alike(&self, at: usize) -> bool {
        if joins_word(&self.flat.text, at) {
            return false;
        }
        let (asked, there) = (self.asked.last_atom(), last_atom(&self.flat.text[..at]));
        let ends_line = self.flat.lines[self.flat.line_of(at - 1)].end == at;
        if self.asked.ends_line() { ends_line } else { asked == there || (ends_line && same_kind(asked, there)) }
    }

    fn begins(&self, near: usize) -> Vec<usize> {
        let line = self.flat.line_of(near);
        let lines = self.flat.lines_between(line.saturating_sub(2), line + 1);
        let words = self.flat.atoms_like(lines, self.asked.first_atom());
        nearest(near, lines.iter().map(|line| line.start), words.map(|atom| atom.start))
    }

    fn ends(&self, near: usize) -> Vec<usize> {
        let line = self.flat.line_of(near - 1);
        let lines = self.flat.lines_between(line.saturating_sub(1), line + 2);
        let words = self.flat.atoms_like(lines, self.asked.last_atom());
        nearest(near, lines.iter().map(|line| line.end), words.map(|atom| atom.end))
    }

    /// Whether the first and the last line are about the same ones.
    fn edges_agree(&self, begin: usize, end: usize, balanced: bool) -> bool {
        let lines = self.flat.texts_between(begin, end);
        let alike = |asked: Option<&String>, there: Option<&&str>| match (asked, there) {
            (Some(asked), Some(there)) => score::score(asked, there) >= EDGE_SCORE,
            _ => false,
        };
        // Lines may be wrapped otherwise: then brackets and the words at the edge must agree.
        let text = &self.flat.text[begin..end];
        let same_first = balanced && first_atom(text) == self.asked.first_atom();
        let same_last = balanced && last_atom(text) == self.asked.last_atom();
        (same_first || alike(self.asked.lines.first(), lines.first()))
            && (same_last || alike(self.asked.lines.last(), lines.last()))
    }

    /// Whether the lines correspond one to one, and those at the edges open and close the same.
    fn lines_agree(&self, begin: usize, end: usize) -> bool {
        let lines = self.flat.texts_between(begin, end);
        let edge =
            |asked: Option<&String>, there: Option<&&str>| asked.map(|it| balance(it)) == there.map(|it| balance(it));
        lines.len() == self.asked.lines.len()
            && edge(self.asked.lines.first(), lines.first())
            && edge(self.asked.lines.last(), lines.last())
            && lines.iter().zip(&self.asked.lines).all(|(there, asked)| score::score(asked, there) >= EDGE_SCORE)
    }

    /// Whether a line corresponds to one that says another thing. However alike the whole is then, that line was not
    /// misspelt.
    fn has_another_line(&self, begin: usize, end: usize) -> bool {
        let lines = self.flat.texts_between(begin, end);
        /// In so many lines only signs differ: that is a habit of another place.
        const OTHER_SIGNS: usize = 2;
        let asked = &self.asked.lines;
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        let mut pair = |from: Range<usize>, to: Range<usize>| {
            if from.len() == to.len() {
                pairs.extend(asked[from].iter().map(String::as_str).zip(lines[to].iter().copied()));
            }
        };
        if lines.len() == asked.len() {
            pair(0..asked.len(), 0..lines.len());
        } else {
            let there: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            diff::of_lines(asked, &there).into_iter().for_each(|op| pair(op.old_range(), op.new_range()));
        }
        pairs.retain(|(asked, there)| asked != there);
        let words: Vec<Differing> = pairs.iter().flat_map(|(asked, there)| differing(asked, there)).collect();
        let other_signs =
            |(asked, there): &&(&str, &str)| differing(asked, there).is_empty() && signs(asked) != signs(there);
        are_others(&words)
            || pairs.iter().filter(other_signs).count() >= OTHER_SIGNS
            || pairs.iter().any(|(asked, there)| says_another_thing(asked, there))
    }

    /// Whether the first lines and the last lines are the same, on each side up to one that has a word.
    fn edges_equal(&self, begin: usize, end: usize) -> bool {
        let lines = self.flat.texts_between(begin, end);
        let forwards = self.asked.lines.iter().map(String::as_str).zip(lines.iter().copied());
        let backwards = self.asked.lines.iter().rev().map(String::as_str).zip(lines.iter().rev().copied());
        fn equal<'a>(mut pairs: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
            pairs
                .find(|(asked, there)| asked != there || asked.contains(is_word))
                .is_some_and(|(asked, there)| asked == there)
        }
        equal(forwards) && equal(backwards)
    }
}

/// The few edges nearest to where an alignment has one: of lines, and of words.
fn nearest(at: usize, lines: impl Iterator<Item = usize>, words: impl Iterator<Item = usize>) -> Vec<usize> {
    const WORDS: usize = 4;
    let mut words: Vec<usize> = words.collect();
    words.sort_by_key(|edge| edge.abs_diff(at));
    words.truncate(WORDS);
    words.extend(lines);
    words
}

/// Whether an offset is inside a word or an operator.
fn joins_word(text: &str, at: usize) -> bool {
    match (text[..at].chars().next_back(), text[at..].chars().next()) {
        (Some(before), Some(after)) => glues(before, after),
        _ => false,
    }
}

fn same_kind(a: &str, b: &str) -> bool {
    a == b || (a.starts_with(is_word) && b.starts_with(is_word))
}

/// How many brackets of each kind a text opens more than it closes.
fn balance(text: &str) -> [i64; 3] {
    let mut balance = [0; 3];
    for byte in text.bytes() {
        match byte {
            b'(' => balance[0] += 1,
            b')' => balance[0] -= 1,
            b'[' => balance[1] += 1,
            b']' => balance[1] -= 1,
            b'{' => balance[2] += 1,
            b'}' => balance[2] -= 1,
            _ => {}
        }
    }
    balance
}
