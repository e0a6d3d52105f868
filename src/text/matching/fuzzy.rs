//! The last stage: the place that is most like the search text, if it is alike enough and clearly more so than any
//! other.
//!
//! A sweep over the file bounds for every line how alike a place that begins there can be at most: by the characters
//! that the search text has and the lines do not. The most promising places are then aligned, the best bound first,
//! until no further one could be the answer or a rival to it. Where a place begins and ends is taken from the
//! alignment only if words there agree; a place whose extent is doubtful is told as the nearest, not taken.

use rustc_hash::FxHashSet;

use super::{Hit, Outcome, Region, Search, miss, nearest_to_line};
use crate::model::{Span, Strategy};
use crate::text::score::{self, Pattern, collapse};

/// Longer search texts are not compared fuzzily: nobody means a place by so much text that has it wrong.
const LONGEST: usize = 20_000;
/// Places that are looked at however bad their bound is, so that a miss can tell the nearest.
const TRIES: usize = 12;
/// Columns times blocks of the alignments: some milliseconds.
const BUDGET: usize = 1_200_000;
/// The first and the last line must be as alike as this, else the place's extent is doubtful.
const EDGE_SCORE: f64 = 50.0;

/// A second place is a rival unless it is worse than the best by at least two points, and by half of what the best
/// itself lacks.
fn rivals_down_to(score: f64) -> f64 {
    score - f64::max(2.0, (100.0 - score) / 2.0)
}

pub(super) fn find(search: &Search, region: &Region, context: &str) -> Outcome {
    let asked = Asked::new(context);
    if asked.length > LONGEST {
        let reason = format!(
            "the text is not in the file as it stands, and it is longer than the {LONGEST} characters up to which a \
             similar place is looked for: search for fewer lines"
        );
        return Outcome::Missed { nearest: None, reason };
    }
    let flat = Flat::new(region.text);
    let (places, exhausted) = Finder { asked: &asked, flat: &flat, autofix: f64::from(search.autofix) }.places();
    let hit = |place: &Place| {
        let span = region.outer(flat.original(region.text, place.start, place.end));
        Hit { span, score: place.score, strategy: Strategy::Fuzzy }
    };
    let Some(nearest) = places.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else {
        return Outcome::Missed { nearest: None, reason: "nothing in the file is like the search text".to_owned() };
    };
    let missed = |why: String| {
        let nearest = hit(nearest);
        Outcome::Missed { nearest: Some(nearest), reason: miss::reason(search, &nearest, &why) }
    };
    let least = f64::from(search.autofix);
    if search.autofix == 0 {
        return missed("`autofix` is 0, which takes no similar place".to_owned());
    }
    let taken = places.iter().filter(|place| place.doubt.is_none() && place.score >= least);
    let Some(best) = taken.max_by(|a, b| a.score.total_cmp(&b.score)) else {
        return missed(match nearest.doubt {
            Some(doubt) if nearest.score >= least => doubt.to_owned(),
            _ => format!("`autofix` asks for {}", search.autofix),
        });
    };
    let mut rivals: Vec<&Place> =
        places.iter().filter(|place| place.score > rivals_down_to(best.score) && !place.is_the_same_as(best)).collect();
    if rivals.is_empty() && !exhausted {
        return Outcome::Found(hit(best));
    }
    if rivals.is_empty() {
        return missed("too many places are alike to be sure that it is the one that is meant".to_owned());
    }
    rivals.push(best);
    rivals.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.start.cmp(&b.start)));
    let candidates: Vec<Hit> =
        rivals.iter().filter(|place| place.doubt.is_none() && place.score >= least).map(|place| hit(place)).collect();
    match nearest_to_line(search, &candidates) {
        Some(hit) if candidates.len() == rivals.len() && !exhausted => Outcome::Found(hit),
        _ => Outcome::Ambiguous(rivals.into_iter().map(hit).collect()),
    }
}

/// The search text, ready to be compared.
struct Asked<'a> {
    /// As it came.
    context: &'a str,
    text: String,
    /// In characters.
    length: usize,
    /// Its lines, collapsed, without the blank ones.
    lines: Vec<String>,
}

impl<'a> Asked<'a> {
    fn new(context: &'a str) -> Asked<'a> {
        let text = collapse(context).into_owned();
        let lines = context.lines().map(|line| collapse(line).into_owned()).filter(|line| !line.is_empty()).collect();
        Asked { context, length: text.chars().count(), text, lines }
    }

    fn first_atom(&self) -> &str {
        first_atom(&self.text)
    }

    fn last_atom(&self) -> &str {
        last_atom(&self.text)
    }

    /// Whether it says itself that it begins with a line, by an indentation or a line end before it.
    fn begins_line(&self) -> bool {
        self.context.starts_with(char::is_whitespace)
    }

    fn ends_line(&self) -> bool {
        self.context.trim_end_matches([' ', '\t', '\r']).ends_with('\n')
    }
}

/// A text collapsed as the score wants it, line by line: a part of it is the collapsed text of a part of the file.
struct Flat {
    text: String,
    /// Of the lines that are not blank.
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    /// In the flat text.
    start: usize,
    end: usize,
    /// In the original, of its first character that is not white space.
    original: usize,
}

impl Flat {
    fn new(original: &str) -> Flat {
        let mut flat = Flat { text: String::with_capacity(original.len()), lines: Vec::new() };
        let mut at = 0;
        for line in original.split_inclusive('\n') {
            let collapsed = collapse(line);
            if !collapsed.is_empty() {
                if !flat.text.is_empty() {
                    flat.text.push(' ');
                }
                let start = flat.text.len();
                flat.text.push_str(&collapsed);
                let blank = line.len() - line.trim_start().len();
                flat.lines.push(Line { start, end: flat.text.len(), original: at + blank });
            }
            at += line.len();
        }
        flat
    }

    fn line_text(&self, line: usize) -> &str {
        &self.text[self.lines[line].start..self.lines[line].end]
    }

    fn lines_around(&self, first: usize, last: usize) -> &[Line] {
        &self.lines[first..(last + 1).min(self.lines.len())]
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    fn original(&self, original: &str, start: usize, end: usize) -> Span {
        let last = end.saturating_sub(1).max(start);
        let from = self.original_of(original, start);
        // The end of the last character, not the start of what follows it.
        let character = (start..=last).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(start);
        let length = self.text[character..].chars().next().map_or(0, char::len_utf8);
        Span::new(from, self.original_of(original, character) + length)
    }

    fn original_of(&self, original: &str, offset: usize) -> usize {
        let line = self.lines[self.line_of(offset)];
        let mut left = offset - line.start;
        let mut characters = original[line.original..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if left == 0 {
                return line.original + at;
            }
            if character.is_whitespace() {
                while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {}
                left = left.saturating_sub(1);
            } else {
                left = left.saturating_sub(character.len_utf8());
            }
        }
        original.len()
    }
}

/// A place in the flat text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    start: usize,
    end: usize,
    score: f64,
    /// Why it must not be taken although it is alike.
    doubt: Option<&'static str>,
}

impl Place {
    /// Whether this is but another opinion on where the other place begins or ends.
    fn is_the_same_as(&self, other: &Place) -> bool {
        let overlaps = self.start < other.end && other.start < self.end;
        self.start == other.start || self.end == other.end || (overlaps && self.doubt.is_some())
    }
}

/// A line where a place may begin, and the characters that the search text has more of than the lines from there on.
#[derive(Debug, Clone, Copy)]
struct Start {
    lacking: usize,
    line: usize,
    /// The line after the last.
    end_line: usize,
}

struct Finder<'a> {
    asked: &'a Asked<'a>,
    flat: &'a Flat,
    autofix: f64,
}

impl Finder<'_> {
    /// All places that may be meant, and whether the budget ran out before all were seen.
    fn places(&self) -> (Vec<Place>, bool) {
        let pattern = Pattern::new(&self.asked.text);
        let backwards = Pattern::reversed(&self.asked.text);
        let mut budget = BUDGET.max(8 * self.asked.length * pattern.blocks());
        let mut places: Vec<Place> = Vec::new();
        let mut seen = FxHashSet::default();
        // Of those that leave no doubt.
        let mut best = 0.0;
        for (tried, start) in self.starts().into_iter().enumerate() {
            let at_most = 100.0 * (1.0 - start.lacking as f64 / self.asked.length as f64);
            let needed = if self.autofix > 0.0 { rivals_down_to(f64::max(best, self.autofix)) } else { best };
            if at_most < needed && (tried >= TRIES || best > 0.0) {
                break;
            }
            let from = self.flat.lines[start.line].start;
            // Two lines more, for what the file has besides.
            let last = (start.end_line + 1).min(self.flat.lines.len() - 1);
            let part = &self.flat.text[from..self.flat.lines[last].end];
            let cost = 2 * part.len() * pattern.blocks();
            if cost > budget {
                return (places, at_most >= needed);
            }
            budget -= cost;
            let found = pattern.nearest_part(part);
            let at_most = score::from_distance(found.distance, self.asked.length + found.distance);
            if at_most < needed && best > 0.0 {
                continue;
            }
            let reversed: String = part[..found.end].chars().rev().collect();
            let length = backwards.nearest_part(&reversed).end;
            let (begin, end) = (from + found.end - length, from + found.end);
            if !seen.insert((begin, end)) {
                continue;
            }
            let Some(place) = self.place(begin, end) else { continue };
            if place.doubt.is_none() {
                best = f64::max(best, place.score);
            }
            if !places.iter().any(|other| (other.start, other.end) == (place.start, place.end)) {
                places.push(place);
            }
        }
        (places, false)
    }

    /// Where places may begin, the most promising first. Linear but for the sorting of the few.
    fn starts(&self) -> Vec<Start> {
        let lines = &self.flat.lines;
        let first_line = self.asked.lines.first().map_or(0, String::len);
        let rest = self.asked.text.len().saturating_sub(first_line);
        let mut bag = Bag::new(&self.asked.text);
        let mut starts = Vec::with_capacity(lines.len());
        let mut end = 0;
        for (at, line) in lines.iter().enumerate() {
            // Enough lines to hold the search text, also where it begins in the midst of the first one.
            let holds = |end: usize| {
                let reach = lines[end - 1].end;
                reach - line.start >= self.asked.text.len() && reach.saturating_sub(line.end) >= rest
            };
            while end < lines.len() && (end <= at || !holds(end)) {
                bag.add(self.flat.line_text(end));
                end += 1;
            }
            starts.push(Start { lacking: bag.lacking, line: at, end_line: end });
            bag.remove(self.flat.line_text(at));
        }
        let least = if self.autofix > 0.0 { rivals_down_to(self.autofix) } else { 100.0 };
        let most_lacking = (self.asked.length as f64 * (1.0 - least / 100.0)) as usize;
        starts.sort_by_key(|start| start.lacking);
        let promising = starts.partition_point(|start| start.lacking <= most_lacking);
        starts.truncate(promising.max(TRIES));
        starts
    }

    /// The place of an alignment. Where its edges are in doubt, the ends of lines and the words like those at the
    /// search text's edges are tried near by: the best that leaves no doubt is the place.
    fn place(&self, begin: usize, end: usize) -> Option<Place> {
        let text = self.flat.text[begin..end].trim_end();
        let (begin, end) = (begin + text.len() - text.trim_start().len(), begin + text.len());
        let text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        let aligned = self.judge(begin, end);
        let same_edges = first_atom(text) == self.asked.first_atom() && last_atom(text) == self.asked.last_atom();
        if aligned.score < self.autofix || (aligned.doubt.is_none() && same_edges) {
            return Some(aligned);
        }
        let better = |best: Place, place: Place| {
            let rank = |place: &Place| (place.doubt.is_none(), place.score);
            if rank(&place) > rank(&best) { place } else { best }
        };
        let begins = self.begins(begin).into_iter().filter(|&begin| begin < end);
        let best = begins.map(|begin| self.judge(begin, end)).fold(aligned, better);
        let begin = if best.doubt.is_none() { best.start } else { begin };
        let ends = self.ends(end).into_iter().filter(|&end| end > begin);
        Some(ends.map(|end| self.judge(begin, end)).fold(best, better))
    }

    fn judge(&self, begin: usize, end: usize) -> Place {
        let text = &self.flat.text[begin..end];
        let longest = self.asked.length.max(text.chars().count());
        let score = score::from_distance(score::distance(&self.asked.text, text), longest);
        let balanced = balance(text) == balance(&self.asked.text);
        let doubt = if !self.begins_alike(begin) || !self.ends_alike(end) || !self.edges_agree(begin, end, balanced) {
            Some("it does not begin and end as the search text does, so that its extent is doubtful")
        } else if !balanced && !self.lines_agree(begin, end) {
            Some("it opens and closes other brackets than the search text, so that its extent is doubtful")
        } else {
            None
        };
        Place { start: begin, end, score, doubt }
    }

    /// Whether a place may begin here: with the same word, or with a line where the search text does so or has a
    /// word as well.
    fn begins_alike(&self, at: usize) -> bool {
        let (asked, there) = (self.asked.first_atom(), first_atom(&self.flat.text[at..]));
        let begins_line = self.flat.lines[self.flat.line_of(at)].start == at;
        if self.asked.begins_line() { begins_line } else { asked == there || (begins_line && same_kind(asked, there)) }
    }

    fn ends_alike(&self, at: usize) -> bool {
        let (asked, there) = (self.asked.last_atom(), last_atom(&self.flat.text[..at]));
        let ends_line = self.flat.lines[self.flat.line_of(at - 1)].end == at;
        if self.asked.ends_line() { ends_line } else { asked == there || (ends_line && same_kind(asked, there)) }
    }

    fn begins(&self, near: usize) -> Vec<usize> {
        let line = self.flat.line_of(near);
        let lines = self.flat.lines_around(line.saturating_sub(2), line + 1);
        let words = lines
            .iter()
            .flat_map(|&line| atoms(&self.flat.text, line))
            .filter(|atom| &self.flat.text[atom.start..atom.end] == self.asked.first_atom());
        nearest(near, lines.iter().map(|line| line.start), words.map(|atom| atom.start))
    }

    fn ends(&self, near: usize) -> Vec<usize> {
        let line = self.flat.line_of(near - 1);
        let lines = self.flat.lines_around(line.saturating_sub(1), line + 2);
        let words = lines
            .iter()
            .flat_map(|&line| atoms(&self.flat.text, line))
            .filter(|atom| &self.flat.text[atom.start..atom.end] == self.asked.last_atom());
        nearest(near, lines.iter().map(|line| line.end), words.map(|atom| atom.end))
    }

    /// Whether the first and the last line are about the same ones.
    fn edges_agree(&self, begin: usize, end: usize, balanced: bool) -> bool {
        let lines = self.lines_between(begin, end);
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

    /// Whether the lines correspond one to one.
    fn lines_agree(&self, begin: usize, end: usize) -> bool {
        let lines = self.lines_between(begin, end);
        lines.len() == self.asked.lines.len()
            && lines.iter().zip(&self.asked.lines).all(|(there, asked)| score::score(asked, there) >= EDGE_SCORE)
    }

    fn lines_between(&self, begin: usize, end: usize) -> Vec<&str> {
        let (first, last) = (self.flat.line_of(begin), self.flat.line_of(end - 1));
        let lines = self.flat.lines[first..=last].iter();
        lines.map(|line| &self.flat.text[line.start.max(begin)..line.end.min(end)]).collect()
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

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The words and single signs of a line.
fn atoms(text: &str, line: Line) -> impl Iterator<Item = Span> {
    let mut at = line.start;
    std::iter::from_fn(move || {
        let rest = text[at..line.end].trim_start();
        at = line.end - rest.len();
        let length = first_atom(rest).len();
        at += length;
        (length > 0).then(|| Span::new(at - length, at))
    })
}

fn first_atom(text: &str) -> &str {
    let mut characters = text.char_indices();
    match characters.next() {
        None => text,
        Some((_, first)) if is_word(first) => &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())],
        Some((_, first)) => &text[..first.len_utf8()],
    }
}

fn last_atom(text: &str) -> &str {
    match text.chars().next_back() {
        None => text,
        Some(last) if is_word(last) => text.rsplit(|c| !is_word(c)).next().unwrap_or(text),
        Some(last) => &text[text.len() - last.len_utf8()..],
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

/// The characters that the search text has more often than some lines: each of them costs an edit at least, so that
/// no part of the lines can be nearer than that.
struct Bag {
    /// By character, folded to a byte, which only makes the bound lower.
    more: [i32; 256],
    lacking: usize,
}

impl Bag {
    fn new(asked: &str) -> Bag {
        let mut bag = Bag { more: [0; 256], lacking: 0 };
        for character in asked.chars().filter(|&character| character != ' ') {
            bag.more[fold(character)] += 1;
            bag.lacking += 1;
        }
        bag
    }

    fn add(&mut self, line: &str) {
        for character in line.chars() {
            let more = &mut self.more[fold(character)];
            self.lacking -= usize::from(*more > 0);
            *more -= 1;
        }
    }

    fn remove(&mut self, line: &str) {
        for character in line.chars() {
            let more = &mut self.more[fold(character)];
            *more += 1;
            self.lacking += usize::from(*more > 0);
        }
    }
}

fn fold(character: char) -> usize {
    let code = character as usize;
    (code ^ (code >> 8) ^ (code >> 16)) & 255
}
