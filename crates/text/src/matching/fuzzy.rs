//! The last stage: the place that is most similar to the search text, if it is similar enough and clearly more so than
//! any other.
//!
//! One pass over the file bounds, for every line, the similarity of a place that begins there: the search text is cut
//! into groups of three bytes, and each group that the lines do not have is an edit (partitioning, Wu and Manber 1992).
//! The most promising lines are aligned, the best bound first, until no other place can be the result or a rival.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::doubt::{doubt, is_there_already};
use super::not_found;
use super::patch::patch;
use super::search::{Hit, Outcome, Region, Search, nearest_to_line};
use super::whitespace::Squeezed;
use crate::score::{self, Pattern, collapse};
use crate::tokens::{cuts_token, is_word};
use crate::words::{has_word, words};
use semdex_model::{Span, Strategy};

/// Longer search texts are not compared fuzzily: nobody misremembers that much text and still means one place.
const LONGEST: usize = 20_000;
/// More places than this are not distinguished.
const MOST_ALIKE: usize = 100;
/// So many places are compared whatever their bound, so that a failure can report the nearest one.
const TRIES: usize = 6;
/// The work of the comparisons, in characters of the file times blocks of 64 of the search text: some milliseconds.
const BUDGET: usize = 1_000_000;
/// Bytes in a group.
const GROUP: usize = 3;

/// A second place is a rival, unless its score is lower than the best by at least two points and by half of the
/// distance of the best score from 100.
fn rivals_down_to(score: f64) -> f64 {
    score - f64::max(2.0, (100.0 - score) / 2.0)
}

pub(super) fn find(search: &Search, region: &Region, context: &str) -> Outcome {
    let asked = collapse(context);
    let length = asked.chars().count();
    let not_found = |reason: String| Outcome::NotFound { nearest: None, reason };
    if length > LONGEST {
        return not_found(format!(
            "the text is not in the file as it is, and it is longer than the {LONGEST} characters up to which a similar \
             place is looked for: search for fewer lines"
        ));
    }
    if !asked.chars().any(|it| is_word(it) || !it.is_ascii()) {
        return not_found(
            "these brackets and signs are not in the file as they are, and without a word in them no place is like \
             them: take more lines around"
                .to_owned(),
        );
    }
    let finder = Finder { asked, length, context, search, text: region.text };
    let (places, exhausted) = finder.places();
    let hit = |place: &Place| Hit { span: region.outer(place.span), score: place.score, strategy: Strategy::Fuzzy };
    let Some(best) = places.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else {
        return not_found("nothing in the file is like the search text".to_owned());
    };
    let not_found_because =
        |why: &str| Outcome::NotFound { nearest: Some(hit(best)), reason: not_found::reason(search, &hit(best), why) };
    if search.autofix == 0 {
        return not_found_because("`autofix` is 0, which takes no similar place");
    }
    if best.score < f64::from(search.autofix) {
        return not_found_because(&format!("`autofix` asks for {}", search.autofix));
    }
    // The search text agrees with the better place wherever, or nearly wherever, the two places differ.
    let distinguishes = |best: &Place, other: &Place| {
        let (nearer, between) = finder.nearer(best, other);
        nearer > 0 && 4 * nearer >= 3 * between
    };
    // It favours one place so clearly that `near_line` is no reason to choose the other.
    let prefers = |best: &Place, other: &Place| {
        let (nearer, between) = finder.nearer(best, other);
        nearer > 0 && 2 * nearer >= between
    };
    let is_rival = |place: &&Place| {
        place.score > rivals_down_to(best.score) && !place.span.overlaps(best.span) && !distinguishes(best, place)
    };
    let mut rivals: Vec<&Place> = places.iter().filter(is_rival).collect();
    if rivals.is_empty() && exhausted {
        return not_found_because("too many places are alike to be sure that it is the one that is meant");
    }
    let chosen = if rivals.is_empty() {
        best
    } else {
        rivals.push(best);
        rivals.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.span.start.cmp(&b.span.start)));
        let hits: Vec<Hit> = rivals.iter().map(|it| hit(it)).collect();
        let least = f64::from(search.autofix);
        let chosen = nearest_to_line(search, &hits).filter(|_| !exhausted && hits.iter().all(|it| it.score >= least));
        let chosen = chosen.and_then(|it| rivals.iter().find(|place| hit(place) == it));
        match chosen {
            Some(place) if !prefers(best, place) => place,
            _ => return Outcome::Ambiguous(hits),
        }
    };
    let found = hit(chosen);
    let why = doubt(search, found.span, context).or_else(|| {
        let is_done = || {
            // Most edits have a word that is not in the place.
            let place = &search.text[found.span.start..found.span.end];
            let is_known = |(_, word): (usize, &str)| has_word(place, word) || has_word(context, word);
            words(search.replacement).all(is_known)
                && patch(search.text, &found, context, search.replacement)
                    .is_ok_and(|it| it.patch.text.is_empty() && it.patch.range.start == it.patch.range.end)
        };
        (is_there_already(search, found.span) || is_done()).then(|| "the replacement is there already".to_owned())
    });
    match why {
        Some(why) => Outcome::NotFound { nearest: Some(found), reason: not_found::reason(search, &found, &why) },
        None => Outcome::Found(found),
    }
}

/// A similar part of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    span: Span,
    score: f64,
}

/// A line where a place may begin. The greatest is the most promising one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    /// No place that begins there has less of them.
    edits: Reverse<usize>,
    line: usize,
    /// The end of what such a place can hold, in the collapsed text.
    end: usize,
}

struct Finder<'a> {
    /// The search text, collapsed as the score compares it, and its length in characters.
    asked: Cow<'a, str>,
    length: usize,
    context: &'a str,
    search: &'a Search<'a>,
    text: &'a str,
}

impl Finder<'_> {
    /// All places that may be meant, and whether there were too many to see them all.
    fn places(&self) -> (Vec<Place>, bool) {
        let autofix = f64::from(self.search.autofix);
        let there = Squeezed::new(self.text, " ");
        let pattern = Pattern::new(&self.asked);
        let mut work = 0;
        let most_work = BUDGET.max(8 * self.length * self.length.div_ceil(64));
        let mut places: Vec<Place> = Vec::new();
        let mut best = 0.0;
        let least = if autofix > 0.0 { rivals_down_to(autofix) } else { 1.0 };
        let at_most = |edits: usize| 100.0 * (1.0 - edits as f64 / self.length as f64);
        // Beyond this distance, a place has a lower score, however long it is.
        let most_edits =
            |score: f64| ((self.length as f64 * (100.0 - score) / score.max(1.0)).ceil() as usize).min(self.length);
        let mut starts = self.starts(&there);
        let starts = std::iter::from_fn(|| starts.pop());
        for (tried, Start { edits: Reverse(edits), line, end }) in starts.enumerate() {
            let needed = if autofix > 0.0 { rivals_down_to(f64::max(best, autofix)) } else { best };
            let must_be_good = tried >= TRIES || best >= least;
            if at_most(edits) < needed && (must_be_good || at_most(edits) <= best) {
                break;
            }
            if work > most_work || places.len() >= MOST_ALIKE {
                return (places, true);
            }
            let start = there.lines[line];
            let first_line = there.lines.get(line + 1).map_or(there.text.len(), |it| it - 1) - start;
            let limit = if must_be_good { most_edits(needed) } else { self.length };
            let part = pattern.nearest_part(&there.text[start..end], first_line.saturating_sub(1), limit, &mut work);
            if let Some(part) = part.filter(|it| it.start < it.end) {
                let place = self.place(there.span(start + part.start, start + part.end));
                if !places.iter().any(|it| it.span == place.span) {
                    best = f64::max(best, place.score);
                    places.push(place);
                }
            }
        }
        (places, false)
    }

    /// Every line, the most promising first. Of equal ones the last: what those above it can hold has its place in it.
    fn starts(&self, there: &Squeezed) -> BinaryHeap<Start> {
        // Different groups may have one hash.
        let hash = |group: u32| (group.wrapping_mul(0x9E37_79B1) >> 16) as usize;
        let with = |group: u32, byte: &u8| (group << 8 | u32::from(*byte)) & 0xff_ffff;
        // The groups of the search text are numbered; others mean nothing.
        let mut numbers = vec![0u16; 1 << 16];
        // How often the search text has each of them more than the lines, and how many it has more in all.
        let mut more = vec![0i32];
        let mut absent = 0;
        for group in self.asked.as_bytes().chunks_exact(GROUP) {
            let number = &mut numbers[hash(group.iter().fold(0, with))];
            if *number == 0 {
                *number = u16::try_from(more.len()).unwrap_or(u16::MAX);
                more.push(0);
            }
            more[usize::from(*number)] += 1;
            absent += 1;
        }
        // Those that the file has, in order.
        let mut found: Vec<(usize, u16)> = Vec::with_capacity(there.text.len() / 8);
        let mut group = 0;
        for (at, byte) in there.text.bytes().enumerate() {
            group = with(group, &byte);
            let number = numbers[hash(group)];
            if number != 0 {
                found.push(((at + 1).saturating_sub(GROUP), number));
            }
        }
        // A character of up to four bytes may be in two groups.
        let groups_of_an_edit = if self.asked.is_ascii() { 1 } else { 2 };
        let line = |at: usize| there.lines.get(at).copied().unwrap_or(there.text.len());
        let (mut last, mut entered, mut left) = (0, 0, 0);
        let bound = |at: usize| {
            // A place may begin at the end of the line, and may be somewhat longer than the search text.
            let reach = line(at + 1) + self.asked.len() + self.asked.len() / 8;
            while last < there.lines.len() && line(last) < reach {
                last += 1;
            }
            while let Some(&(_, group)) = found.get(entered).filter(|it| it.0 < line(last)) {
                absent -= usize::from(more[usize::from(group)] > 0);
                more[usize::from(group)] -= 1;
                entered += 1;
            }
            let start = Start { edits: Reverse(absent.div_ceil(groups_of_an_edit)), line: at, end: line(last) };
            while let Some(&(_, group)) = found.get(left).filter(|it| it.0 < line(at + 1)) {
                more[usize::from(group)] += 1;
                absent += usize::from(more[usize::from(group)] > 0);
                left += 1;
            }
            start
        };
        (0..there.lines.len()).map(bound).collect()
    }

    /// A part of the text as a place: whole words, and whole lines where the search text has whole lines.
    fn place(&self, part: Span) -> Place {
        let Span { mut start, mut end } = part;
        let is_blank = |it: char| it == ' ' || it == '\t';
        let several = self.search.whole_lines || self.context.trim().contains('\n');
        if several || self.context.starts_with(char::is_whitespace) {
            let line = self.text[..start].rfind('\n').map_or(0, |it| it + 1);
            start = start.min(line + self.text[line..].len() - self.text[line..].trim_start().len());
        }
        if several || self.context.trim_end_matches(is_blank).ends_with('\n') {
            end += self.text[end..].split('\n').next().unwrap_or_default().trim_end().len();
        }
        while cuts_token(self.text, start) {
            start -= self.text[..start].chars().next_back().map_or(0, char::len_utf8);
        }
        while cuts_token(self.text, end) {
            end += self.text[end..].chars().next().map_or(0, char::len_utf8);
        }
        let place = |span: Span| Place { span, score: score::score(&self.asked, &self.text[span.start..span.end]) };
        let whole = place(Span::new(start, end));
        // The last line may be none of the place, and only begin as the search text goes on.
        let above = self.text[start..part.end].rfind('\n').filter(|_| several && part.end < end);
        let shorter = above.map(|at| place(Span::new(start, start + self.text[start..start + at].trim_end().len())));
        shorter.filter(|it| it.score > whole.score).unwrap_or(whole)
    }

    /// By how many edits the search text is nearer to one place than to another, and how many edits lie between the two
    /// places.
    fn nearer(&self, place: &Place, other: &Place) -> (usize, usize) {
        let [place, other] = [place, other].map(|it| collapse(&self.text[it.span.start..it.span.end]));
        let nearer = score::distance(&self.asked, &other).saturating_sub(score::distance(&self.asked, &place));
        (nearer, score::distance(&place, &other))
    }
}
