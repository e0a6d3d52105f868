//! The last stage: the place that is most similar to the search text, if it is similar enough and clearly more so than
//! any other.
//!
//! One pass over the file bounds, for every line, the similarity of a place that begins there, by the groups of three
//! characters that the search text has and the lines do not (q-gram lemma, Ukkonen 1992). The most promising lines are
//! aligned, the best bound first, until no other place can be the result or a rival.

mod candidate_starts;

use std::borrow::Cow;

use super::doubt::{doubt, is_there_already};
use super::not_found;
use super::patch::patch;
use super::search::{Hit, Outcome, Region, Search, nearest_to_line};
use crate::score::{self, Pattern, collapse};
use crate::tokens::{cuts_token, is_word};
use candidate_starts::{Lines, Start, TRIES};
use semdex_model::{Span, Strategy};

/// Longer search texts are not compared fuzzily: nobody misremembers that much text and still means one place.
const LONGEST: usize = 20_000;
/// More places than this are not distinguished.
const MOST_ALIKE: usize = 100;
/// The work of the alignments, in columns times blocks: some milliseconds.
const BUDGET: usize = 1_000_000;

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
    let is_rival = |place: &&Place| {
        place.score > rivals_down_to(best.score) && !place.is_the_same_as(best) && !finder.distinguishes(best, place)
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
            Some(place) if !finder.prefers(best, place) => place,
            _ => return Outcome::Ambiguous(hits),
        }
    };
    let found = hit(chosen);
    let why = doubt(search, found.span, context).or_else(|| {
        let done = || {
            patch(search.text, &found, context, search.replacement)
                .is_ok_and(|it| it.patch.text.is_empty() && it.patch.range.start == it.patch.range.end)
        };
        (is_there_already(search, found.span) || done()).then(|| "the replacement is there already".to_owned())
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

impl Place {
    fn is_the_same_as(&self, other: &Place) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end
    }
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
        let lines = Lines::new(self.text);
        let mut aligner = Aligner::new(&self.asked, self.length);
        let mut places: Vec<Place> = Vec::new();
        let mut best = 0.0;
        let at_most = |absent: usize| 100.0 * (1.0 - absent as f64 / self.length as f64);
        // Beyond this distance, a place has a lower score, however long it is.
        let most_edits =
            |score: f64| ((self.length as f64 * (100.0 - score) / score.max(1.0)).ceil() as usize).min(self.length);
        let least = if autofix > 0.0 { rivals_down_to(autofix) } else { 100.0 };
        let first_line = self.context.lines().map(collapse).find(|it| !it.is_empty()).map_or(0, |it| it.len());
        let starts = lines.starts(&self.asked, first_line, |absent| at_most(absent) >= least);
        for (tried, start) in starts.iter().enumerate() {
            let needed = if autofix > 0.0 { rivals_down_to(f64::max(best, autofix)) } else { best };
            let hopeless = tried >= TRIES || best > 0.0;
            if at_most(start.absent) < needed && hopeless {
                break;
            }
            if places.len() >= MOST_ALIKE {
                return (places, true);
            }
            let limit = if hopeless { most_edits(needed) } else { self.length };
            let Some(aligned) = aligner.align(&lines, start, limit) else { return (places, true) };
            let Some(place) = aligned.map(|it| self.place(&lines, it)) else { continue };
            if !places.iter().any(|it| it.span == place.span) {
                best = f64::max(best, place.score);
                places.push(place);
            }
        }
        (places, false)
    }

    /// The place of an alignment: whole words, and whole lines where the search text has whole lines.
    fn place(&self, lines: &Lines, part: Span) -> Place {
        let span = lines.original(self.text, part);
        let is_blank = |it: char| it == ' ' || it == '\t';
        let several = self.search.whole_lines || self.context.trim().contains('\n');
        let (mut start, mut end) = (span.start, span.end);
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
        let span = Span::new(start, end);
        let place = collapse(&self.text[span.start..span.end]);
        let longest = self.length.max(place.chars().count());
        Place { span, score: score::from_distance(score::distance(&self.asked, &place), longest) }
    }

    /// Whether the search text agrees with the better place wherever the two places differ: the distance to the second
    /// place contains all, or nearly all, of the differences between the two.
    fn distinguishes(&self, best: &Place, other: &Place) -> bool {
        let (nearer, between) = self.nearer(best, other);
        nearer > 0 && 4 * nearer >= 3 * between
    }

    /// Whether the search text favours one place so clearly that `near_line` is no reason to choose the other place.
    fn prefers(&self, best: &Place, other: &Place) -> bool {
        let (nearer, between) = self.nearer(best, other);
        nearer > 0 && 2 * nearer >= between
    }

    /// By how many edits the search text is nearer to one place than to another, and how many edits lie between the two
    /// places.
    fn nearer(&self, place: &Place, other: &Place) -> (usize, usize) {
        let [place, other] = [place, other].map(|it| collapse(&self.text[it.span.start..it.span.end]));
        let nearer = score::distance(&self.asked, &other).saturating_sub(score::distance(&self.asked, &place));
        (nearer, score::distance(&place, &other))
    }
}

/// Aligns the search text with parts of the file, until the budget is exhausted.
struct Aligner {
    forwards: Pattern,
    backwards: Pattern,
    budget: usize,
}

impl Aligner {
    fn new(asked: &str, length: usize) -> Aligner {
        let budget = BUDGET.max(5 * length * length.div_ceil(64));
        Aligner { forwards: Pattern::new(asked), backwards: Pattern::reversed(asked), budget }
    }

    /// The nearest part that begins on a line, within a number of edits. The outer `None` means that the budget is
    /// exhausted.
    fn align(&mut self, lines: &Lines, start: &Start, limit: usize) -> Option<Option<Span>> {
        // A part that begins further down belongs to another start, unless nothing here is nearer.
        for last in [start.end_line + 1, start.end_line - 1] {
            let part = lines.part(start.line, last);
            let text = lines.text(part);
            let mut work = 0;
            let found = self.forwards.nearest_part(text, limit, &mut work);
            self.budget = self.budget.checked_sub(work)?;
            let Some(found) = found else { return Some(None) };
            let reversed: String = text[..found.end].chars().rev().collect();
            let length =
                self.backwards.nearest_part(&reversed, found.distance, &mut work).map_or(found.end, |it| it.end);
            let begin = part.start + found.end - length;
            if lines.line_of(begin) == start.line && length > 0 {
                return Some(Some(Span::new(begin, part.start + found.end)));
            }
        }
        Some(None)
    }
}
