//! Where a place begins and ends. An alignment is exact to the character, but the cheapest extent need not be the meant
//! one: one closing bracket more or less costs one edit. So both edges must agree with the edges of the search text, in
//! words and lines, and the place must open and close the same brackets.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::collapsed::{Asked, Collapsed, first_atom, is_word, last_atom, words};
use super::line_meaning::{Differing, are_others, is_slip, pairing, says_another_thing};
use crate::matching::whitespace::glues;
use crate::{diff, score};

/// The first and the last line must have at least this score; otherwise the place's extent is doubtful.
const EDGE_SCORE: f64 = 50.0;

/// The search text may be so many edits further from an extent that is chosen for its brackets.
const FURTHER: usize = 3;

/// A place in the collapsed text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub start: usize,
    pub end: usize,
    pub score: f64,
    /// Why the place must not match although it is similar.
    pub doubt: Option<Doubt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Edges,
    Brackets,
    Lines,
}

impl Doubt {
    pub(crate) fn reason(self) -> &'static str {
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
    /// Whether both describe the same place, with other limits.
    pub(crate) fn is_the_same_as(&self, other: &Place) -> bool {
        let overlaps = self.start < other.end && other.start < self.end;
        self.start == other.start || self.end == other.end || (overlaps && self.doubt.is_some())
    }
}

/// Judges and corrects the extents of places.
#[derive(Clone)]
pub(super) struct Extents<'a> {
    asked: &'a Asked<'a>,
    collapsed: &'a Collapsed,
    /// The search text, collapsed.
    replacement: &'a str,
    /// For each line of the search text: whether the replacement has it as well.
    repeats: Vec<bool>,
    /// The replacement equals the search text without some of its lines.
    only_deletes: bool,
    /// What the search text and the replacement open and do not close.
    asked_open: [i64; 3],
    left_open: [i64; 3],
    /// The replacement begins or ends with a line that is only a bracket, and the search text does not.
    closes_more: bool,
    autofix: f64,
}

/// A beginning and an end of a place, with the points against them.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: usize,
    end: usize,
    distance: usize,
    score: f64,
    begins: bool,
    ends: bool,
    brackets: bool,
    /// The search text leaves as many brackets open.
    as_asked: bool,
    /// The replacement leaves as many brackets open.
    as_left: bool,
    /// The edit would duplicate the rest of a line.
    repeats: bool,
    /// In half edits: the distance, and the effect of the extent on the surrounding text.
    cost: usize,
    as_many_lines: bool,
    /// Whether the first and the last line equal the edges of the search text.
    same_edges: [bool; 2],
    /// How many of its edges are not edges of a line.
    cut_lines: usize,
}

impl Extent {
    fn doubt(&self) -> Option<Doubt> {
        if !self.begins || !self.ends {
            return Some(Doubt::Edges);
        }
        (!self.brackets).then_some(Doubt::Brackets)
    }

    /// Whether another extent, which is further away, differs only at the edge where this extent has the search text's
    /// line.
    fn is_torn_by(&self, other: &Extent) -> bool {
        let [begins, ends] = self.same_edges;
        let moved = [self.start != other.start, self.end != other.end];
        self.distance < other.distance && ((begins && moved == [true, false]) || (ends && moved == [false, true]))
    }

    /// Lower is better.
    fn rank(&self) -> (usize, usize, bool, usize) {
        let doubts = 2 * (usize::from(!self.begins) + usize::from(!self.ends)) + usize::from(!self.brackets);
        (doubts, self.cost, !self.as_many_lines, self.cut_lines)
    }
}

/// Whether a replacement begins or ends with a line that is only a bracket, where the search text does not.
fn closes_more(asked: &Asked, replacement: &str) -> bool {
    let mut lines = replacement.lines().map(str::trim).filter(|it| !it.is_empty());
    let first = lines.next();
    let last = lines.next_back().or(first);
    let more = |there: Option<&str>, asked: Option<&String>| {
        there.is_some_and(is_short) && !asked.is_some_and(|it| is_short(it))
    };
    more(first, asked.lines.first()) || more(last, asked.lines.last())
}

impl<'a> Extents<'a> {
    /// `new` is the replacement, collapsed as the score compares it.
    pub(crate) fn new(
        asked: &'a Asked<'a>,
        collapsed: &'a Collapsed,
        replacement: &str,
        new: &'a str,
        autofix: f64,
    ) -> Extents<'a> {
        let lines: FxHashSet<Cow<str>> = replacement.lines().map(score::collapse).collect();
        let only_deletes = lines.iter().all(|line| line.is_empty() || asked.lines.iter().any(|it| it == line));
        Extents {
            asked,
            collapsed,
            replacement: new,
            repeats: asked.lines.iter().map(|line| lines.contains(line.as_str())).collect(),
            only_deletes,
            asked_open: balance(&asked.text),
            left_open: balance(new),
            closes_more: closes_more(asked, replacement),
            autofix,
        }
    }

    pub(crate) fn with_autofix(&self, autofix: f64) -> Extents<'a> {
        Extents { autofix, ..self.clone() }
    }

    /// The place of an alignment. It tries the ends of lines near the edges, and words like those at the search text's
    /// edges. The cheapest extent without doubt is the place.
    pub(crate) fn place(&self, begin: usize, end: usize) -> Option<Place> {
        let text = self.collapsed.text[begin..end].trim_end();
        let (begin, end) = (begin + text.len() - text.trim_start().len(), begin + text.len());
        let text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        let aligned = self.extent(begin, end, usize::MAX)?;
        // Many lines have an additional bracket or quote: only a word confirms an edge.
        let same = |there: &str, asked: &str| there == asked && there.starts_with(is_word);
        let same_edges =
            same(first_atom(text), self.asked.first_atom()) && same(last_atom(text), self.asked.last_atom());
        let whole = self.begins_line(begin) && self.ends_line(end);
        let limit = self.asked.most_edits(self.autofix);
        // A short line that is missing at an edge may make the difference.
        let is_far = aligned.score < self.autofix && aligned.distance > limit;
        if is_far || (aligned.doubt().is_none() && same_edges && whole) {
            return Some(self.meant(&aligned));
        }
        // The nearest extent whose edges agree, whatever its brackets.
        let nearest = Cell::new(usize::MAX);
        // The cost of the cheapest extent with the replacement's brackets, whatever its edges.
        let balanced = Cell::new(usize::MAX);
        // The nearest extent with the search text's brackets whose lines correspond to it one to one.
        let of_its_lines: Cell<Option<Extent>> = Cell::new(None);
        let cheaper = |best: Extent, other: Extent| {
            if other.begins && other.ends {
                nearest.set(nearest.get().min(other.distance));
            }
            if other.as_left && self.begins_line(other.start) && self.ends_line(other.end) {
                balanced.set(balanced.get().min(other.cost));
            }
            if other.as_many_lines && other.as_asked && of_its_lines.get().is_none_or(|it| other.distance < it.distance)
            {
                of_its_lines.set(Some(other));
            }
            let better = other.score >= self.autofix && other.rank() < best.rank();
            if better { other } else { best }
        };
        let begins = self.begins(begin).into_iter().filter(|&begin| begin < end);
        let best = begins.filter_map(|begin| self.extent(begin, end, limit)).fold(cheaper(aligned, aligned), cheaper);
        let ends = self.ends(end).into_iter().filter(|&end| end > best.start);
        let best = ends.filter_map(|end| self.extent(best.start, end, limit)).fold(best, cheaper);
        // With another end, another beginning may be better.
        let begins = self.begins(begin).into_iter().filter(|&begin| begin < best.end);
        let best = begins.filter_map(|begin| self.extent(begin, best.end, limit)).fold(best, cheaper);
        // Brackets alone do not select an extent that is much further away.
        let is_near = best.distance <= nearest.get().saturating_add(FURTHER);
        // A line with the bracket that the search text lost may be part of the place.
        let lost = self.closes_more && !best.as_left && balanced.get() < best.cost;
        // If an extent differs by one line only for its brackets, the edit may intend to change exactly that line.
        let torn = !best.as_many_lines && of_its_lines.get().is_some_and(|it| it.is_torn_by(&best));
        let brackets = best.brackets && is_near && !lost && !torn && !best.repeats;
        Some(self.meant(&Extent { brackets, ..best }))
    }

    /// A place with exact limits and its rank among others: lower is better. `None` beyond so many edits.
    pub(crate) fn judge(&self, begin: usize, end: usize, limit: usize) -> Option<(Place, impl Ord + use<>)> {
        let extent = self.extent(begin, end, limit)?;
        Some((self.meant(&extent), (extent.distance, extent.rank())))
    }

    fn meant(&self, extent: &Extent) -> Place {
        let another = || self.has_another_line(extent.start, extent.end).then_some(Doubt::Lines);
        let doubt = extent.doubt().or_else(another);
        Place { start: extent.start, end: extent.end, score: extent.score, doubt }
    }

    fn extent(&self, start: usize, end: usize, limit: usize) -> Option<Extent> {
        /// The cost of one edit more or less.
        const EDIT: usize = 2;
        /// An edit normally leaves a text with the brackets and line ends that it had. Otherwise the extent was not
        /// meant.
        const BREAKS: usize = 7;
        let text = &self.collapsed.text[start..end];
        let distance = score::distance_within(&self.asked.text, text, limit)?;
        let longest = self.asked.length.max(text.chars().count());
        let opened = balance(text);
        let lines = self.collapsed.texts_between(start, end);
        let as_many_lines = lines.len() == self.asked.lines.len();
        let as_asked = opened == self.asked_open;
        let as_left = opened == self.leaves_open(&lines);
        let is_same = |asked: Option<&String>, there: Option<&&str>| asked.map(String::as_str) == there.copied();
        let asked = &self.asked.lines;
        let same_edges = [is_same(asked.first(), lines.first()), is_same(asked.last(), lines.last())];
        let [begins, ends] = self.edges_agree(start, end, &lines, as_asked || as_left);
        let repeats = self.repeats_head(start) || self.repeats_tail(end);
        let of_lines = self.asked.lines.len() > 1 || self.asked.begins_line() || self.asked.ends_line();
        let cut_lines = usize::from(!self.begins_line(start)) + usize::from(!self.ends_line(end));
        let cut_signs = usize::from(is_signs(self.head(start))) + usize::from(is_signs(self.tail(end)));
        let cost = EDIT * distance
            + BREAKS * (usize::from(!as_left) + usize::from(repeats))
            + usize::from(!as_asked)
            + if of_lines { cut_lines + cut_signs } else { 0 };
        // A blank line that the file does not have may have been before a bracket.
        let has_lost = !as_left && self.asked.has_blanks_alone && !self.collapsed.has_blanks_alone;
        let brackets = (as_asked || as_left || self.lines_agree(&lines)) && !has_lost;
        let score = score::from_distance(distance, longest);
        Some(Extent {
            start,
            end,
            distance,
            score,
            begins,
            ends,
            brackets,
            as_asked,
            as_left,
            repeats,
            cost,
            as_many_lines,
            same_edges,
            cut_lines,
        })
    }

    /// What the replacement opens and does not close, after its repeated lines are replaced by the file's: an error in
    /// such a line is not written.
    fn leaves_open(&self, lines: &[&str]) -> [i64; 3] {
        let mut open = self.left_open;
        if lines.len() != self.asked.lines.len() {
            return open;
        }
        let lines = self.asked.lines.iter().zip(lines).zip(&self.repeats);
        for ((asked, there), _) in lines.filter(|((asked, there), repeats)| **repeats && asked.as_str() != **there) {
            let (asked, there) = (balance(asked), balance(there));
            (0..open.len()).for_each(|kind| open[kind] += there[kind] - asked[kind]);
        }
        open
    }

    fn begins_line(&self, at: usize) -> bool {
        self.collapsed.lines[self.collapsed.line_of(at)].start == at
    }

    fn ends_line(&self, at: usize) -> bool {
        self.collapsed.lines[self.collapsed.line_of(at - 1)].end == at
    }

    /// The text before a place on its line.
    fn head(&self, at: usize) -> &str {
        self.collapsed.text[self.collapsed.lines[self.collapsed.line_of(at)].start..at].trim_end()
    }

    /// The text after a place on its line.
    fn tail(&self, at: usize) -> &str {
        self.collapsed.text[at..self.collapsed.lines[self.collapsed.line_of(at - 1)].end].trim_start()
    }

    /// Whether the edit would duplicate the text before the place on its line.
    fn repeats_head(&self, at: usize) -> bool {
        let before = self.head(at);
        !before.is_empty() && self.replacement.starts_with(before) && !self.asked.text.starts_with(before)
    }

    fn repeats_tail(&self, at: usize) -> bool {
        let after = self.tail(at);
        !after.is_empty() && self.replacement.ends_with(after) && !self.asked.text.ends_with(after)
    }

    /// Whether a place may begin here: with the same word, misspelt or not, or with a line that begins as the search
    /// text does.
    fn begins_alike(&self, at: usize) -> bool {
        if joins_word(&self.collapsed.text, at) {
            return false;
        }
        let there = &self.collapsed.text[at..];
        let (asked, first) = (self.asked.first_atom(), first_atom(there));
        // The bracket at the start of the search text is the one before the place.
        if asked != first && is_bracket(asked) && self.collapsed.text[..at].trim_end().ends_with(asked) {
            return false;
        }
        let same = || same_word(asked, first);
        if !self.begins_line(at) {
            return !self.asked.begins_line() && same();
        }
        let (asked, line) = (self.asked.lines.first().map_or("", String::as_str), self.line_from(at));
        self.asked.begins_line()
            || same_kind(self.asked.first_atom(), first_atom(there))
            || (is_short(asked) && is_short(line))
            || words(asked).next().zip(words(line).next()).is_some_and(|(a, b)| a == b || is_slip(a, b))
    }

    fn ends_alike(&self, at: usize) -> bool {
        if joins_word(&self.collapsed.text, at) {
            return false;
        }
        let there = &self.collapsed.text[..at];
        let (asked, last) = (self.asked.last_atom(), last_atom(there));
        if asked != last && is_bracket(asked) && self.collapsed.text[at..].trim_start().starts_with(asked) {
            return false;
        }
        let same = || same_word(asked, last);
        if !self.ends_line(at) {
            return !self.asked.ends_line() && same();
        }
        let (asked, line) = (self.asked.lines.last().map_or("", String::as_str), self.line_up_to(at));
        self.asked.ends_line()
            || same_kind(self.asked.last_atom(), last_atom(there))
            || (is_short(asked) && is_short(line))
            || words(asked).last().zip(words(line).last()).is_some_and(|(a, b)| a == b || is_slip(a, b))
    }

    fn line_from(&self, at: usize) -> &str {
        &self.collapsed.text[at..self.collapsed.lines[self.collapsed.line_of(at)].end]
    }

    fn line_up_to(&self, at: usize) -> &str {
        &self.collapsed.text[self.collapsed.lines[self.collapsed.line_of(at - 1)].start..at]
    }

    fn begins(&self, near: usize) -> Vec<usize> {
        let line = self.collapsed.line_of(near);
        let lines = self.collapsed.lines_between(line.saturating_sub(2), line + 1);
        let words = self.collapsed.atoms_like(lines, self.asked.first_atom());
        let inside = self.collapsed.atoms_on(line).filter(|atom| atom.start <= near && near < atom.end);
        nearest(near, lines.iter().map(|line| line.start), words.chain(inside).map(|atom| atom.start))
    }

    fn ends(&self, near: usize) -> Vec<usize> {
        let line = self.collapsed.line_of(near - 1);
        let lines = self.collapsed.lines_between(line.saturating_sub(1), line + 2);
        let words = self.collapsed.atoms_like(lines, self.asked.last_atom());
        let inside = self.collapsed.atoms_on(line).filter(|atom| atom.start < near && near <= atom.end);
        nearest(near, lines.iter().map(|line| line.end), words.chain(inside).map(|atom| atom.end))
    }

    /// Whether the first and the last line have the same subject.
    fn edges_agree(&self, begin: usize, end: usize, lines: &[&str], balanced: bool) -> [bool; 2] {
        let asked = self.asked.lines.iter().map(String::as_str);
        // The lines may be wrapped differently: then brackets and the words at the edge must agree.
        let text = &self.collapsed.text[begin..end];
        let same_first = balanced && first_atom(text) == self.asked.first_atom();
        let same_last = balanced && last_atom(text) == self.asked.last_atom();
        let begins = same_first || edge_agrees(asked.clone().zip(lines.iter().copied()));
        let ends = same_last || edge_agrees(asked.rev().zip(lines.iter().rev().copied()));
        [begins && self.begins_alike(begin), ends && self.ends_alike(end)]
    }

    /// Whether the lines correspond one to one.
    fn lines_agree(&self, lines: &[&str]) -> bool {
        let asked = self.asked.lines.iter().map(String::as_str);
        lines.len() == self.asked.lines.len()
            && asked.zip(lines).all(|(asked, there)| (is_short(asked) && is_short(there)) || line_agrees(asked, there))
    }

    /// Whether the edit only deletes, and would delete a line that names something else.
    fn deletes_another(&self, asked: &str, there: &str) -> bool {
        let is_repeated =
            || self.asked.lines.iter().zip(&self.repeats).any(|(line, repeats)| *repeats && line == asked);
        self.only_deletes && !is_repeated() && pairing(asked, there).differing.iter().any(Differing::is_named)
    }

    /// Whether a line corresponds to one with another meaning. Then that line was not misspelt, however similar the
    /// whole is.
    fn has_another_line(&self, begin: usize, end: usize) -> bool {
        let lines = self.collapsed.texts_between(begin, end);
        let asked = &self.asked.lines;
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        let mut pair = |from: Range<usize>, to: Range<usize>| {
            let (mut from, mut to): (Vec<&str>, Vec<&str>) =
                (asked[from].iter().map(String::as_str).collect(), lines[to].to_vec());
            if from.len() != to.len() {
                // A bracket more or less does not hide the difference of the other lines.
                from.retain(|it| !is_short(it));
                to.retain(|it| !is_short(it));
            }
            if from.len() == to.len() {
                pairs.extend(from.into_iter().zip(to));
            }
        };
        if lines.len() == asked.len() {
            pair(0..asked.len(), 0..lines.len());
        } else {
            let there: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            let ops = diff::of_lines(asked, &there);
            // The place has no form of this line at the edge: it begins or ends elsewhere.
            let at_edge = |lines: &Range<usize>| lines.start == 0 || lines.end == asked.len();
            let is_lost = |lines: Range<usize>| at_edge(&lines) && asked[lines].iter().any(|it| !is_short(it));
            if ops.iter().any(|op| op.new_range().is_empty() && is_lost(op.old_range())) {
                return true;
            }
            ops.into_iter().for_each(|op| pair(op.old_range(), op.new_range()));
        }
        pairs.retain(|(asked, there)| asked != there);
        let words: Vec<Differing> = pairs.iter().flat_map(|(asked, there)| pairing(asked, there).differing).collect();
        are_others(&words)
            || pairs.iter().any(|(asked, there)| says_another_thing(asked, there) || self.deletes_another(asked, there))
    }
}

/// Whether the lines at one edge correspond, from the edge to the first line with words: a bracket alone may be a
/// different bracket.
fn edge_agrees<'a>(mut pairs: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    let telling = pairs.find(|(asked, there)| !(is_short(asked) && is_short(there)));
    telling.is_none_or(|(asked, there)| line_agrees(asked, there))
}

fn line_agrees(asked: &str, there: &str) -> bool {
    score::score(asked, there) >= EDGE_SCORE
}

/// A bracket or two, with at most one letter that slipped in.
fn is_short(line: &str) -> bool {
    line.len() <= 3 && line.chars().filter(|it| is_word(*it)).count() <= 1
}

/// Only signs.
fn is_signs(text: &str) -> bool {
    !text.is_empty() && !text.contains(is_word)
}

fn is_bracket(atom: &str) -> bool {
    matches!(atom, "(" | ")" | "[" | "]" | "{" | "}")
}

/// The few edges nearest to the edge of an alignment: of lines, and of words.
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

/// Where an edge has no other evidence, short words do not count as misspelt: too many words resemble them.
fn same_word(a: &str, b: &str) -> bool {
    const SHORTEST: usize = 4;
    a == b || (a.len().min(b.len()) >= SHORTEST && is_slip(a, b))
}

fn same_kind(a: &str, b: &str) -> bool {
    a.starts_with(is_word) == b.starts_with(is_word)
}

/// How many brackets of each kind a text opens more often than it closes, outside quotes if those are balanced.
fn balance(text: &str) -> [i64; 3] {
    let bytes = text.as_bytes();
    let is_quote = |at: usize| bytes[at] == b'"' && (at == 0 || bytes[at - 1] != b'\\');
    let is_quoted = (0..bytes.len()).filter(|&at| is_quote(at)).count().is_multiple_of(2);
    let (mut balance, mut quoted, mut at) = ([0; 3], false, 0);
    while let Some(&byte) = bytes.get(at) {
        quoted ^= is_quoted && is_quote(at);
        // The bracket, as a character.
        if byte == b'\'' && bytes.get(at + 2) == Some(&b'\'') {
            at += 3;
            continue;
        }
        match byte {
            _ if quoted => {}
            b'(' => balance[0] += 1,
            b')' => balance[0] -= 1,
            b'[' => balance[1] += 1,
            b']' => balance[1] -= 1,
            b'{' => balance[2] += 1,
            b'}' => balance[2] -= 1,
            _ => {}
        }
        at += 1;
    }
    balance
}
