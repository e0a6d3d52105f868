//! The last stage: the place that is most similar to the search text, if it is similar enough and clearly more so than
//! any other.
//!
//! One pass over the file bounds, for every line, the similarity of a place that begins there: by the groups of three
//! characters that the search text has and the lines do not. The most promising places are then aligned, the best bound
//! first, until no other place can be the result or a rival. A place with a doubtful extent is reported as the nearest,
//! but does not match.

mod candidate_starts;
mod collapsed;
mod extent;
mod line_meaning;

use rustc_hash::FxHashSet;

use super::not_found;
use super::patch::patch;
use super::search::{Hit, Outcome, Region, Search, nearest_to_line};
use crate::score::{self, NearestPart, Pattern};
use candidate_starts::{Characters, Start, TRIES};
use collapsed::{Asked, Collapsed, is_word, occurrences_of_word, words};
use extent::{Doubt, Extents, Place};
use semdex_model::{Span, Strategy};

/// Longer search texts are not compared fuzzily: nobody misremembers that much text and still means one place.
const LONGEST: usize = 20_000;
/// The work of the alignments, in columns times blocks: some milliseconds.
const BUDGET: usize = 1_000_000;

/// More places than this are not distinguished.
const MOST_ALIKE: usize = 100;

/// A second place is a rival, unless its score is lower than the best by at least two points and by half of the
/// distance of the best score from 100.
fn rivals_down_to(score: f64) -> f64 {
    score - f64::max(2.0, (100.0 - score) / 2.0)
}

pub(super) fn find(search: &Search, region: &Region, context: &str) -> Outcome {
    let asked = Asked::new(context, search.whole_lines);
    if asked.length > LONGEST {
        let reason = format!(
            "the text is not in the file as it stands, and it is longer than the {LONGEST} characters up to which a \
             similar place is looked for: search for fewer lines"
        );
        return Outcome::NotFound { nearest: None, reason };
    }
    if !asked.text.chars().any(|it| is_word(it) || !it.is_ascii()) {
        let reason = "these brackets and signs are not in the file as they stand, and without a word in them no place \
                      is like them: take more lines around";
        return Outcome::NotFound { nearest: None, reason: reason.to_owned() };
    }
    let collapsed = Collapsed::new(region.text);
    let replacement = score::collapse(search.replacement);
    let finder = Finder::new(&asked, &collapsed, &replacement, search);
    let (places, exhausted) = finder.places();
    let hit = |place: &Place| {
        let span = region.outer(collapsed.original(region.text, place.start, place.end));
        Hit { span, score: place.score, strategy: Strategy::Fuzzy }
    };
    let Some(nearest) = places.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else {
        let reason = if exhausted {
            "the text is not in the file, and its lines are too long to look for a similar one"
        } else {
            "nothing in the file is like the search text"
        };
        return Outcome::NotFound { nearest: None, reason: reason.to_owned() };
    };
    let not_found_because = |why: String| {
        let nearest = finder.as_if_taken(nearest).map_or_else(|| hit(nearest), |it| hit(&it));
        Outcome::NotFound { nearest: Some(nearest), reason: not_found::reason(search, &nearest, &why) }
    };
    let least = f64::from(search.autofix);
    if search.autofix == 0 {
        return not_found_because("`autofix` is 0, which takes no similar place".to_owned());
    }
    let taken = places.iter().filter(|place| place.doubt.is_none() && place.score >= least);
    let Some(best) = taken.max_by(|a, b| a.score.total_cmp(&b.score)) else {
        return not_found_because(match nearest.doubt.filter(|_| nearest.score >= least) {
            Some(doubt) => finder.absent_name(nearest).unwrap_or_else(|| doubt.reason().to_owned()),
            None => format!("`autofix` asks for {}", search.autofix),
        });
    };
    // Another extent of the same place may hide the doubt.
    if let Some(doubt) = nearest.doubt.filter(|it| *it == Doubt::Lines && nearest.score > best.score)
        && nearest.is_the_same_as(best)
    {
        return not_found_because(doubt.reason().to_owned());
    }
    let is_rival = |place: &&Place| {
        place.score > rivals_down_to(best.score) && !place.is_the_same_as(best) && !finder.distinguishes(best, place)
    };
    let mut rivals: Vec<&Place> = places.iter().filter(is_rival).collect();
    if rivals.is_empty() && exhausted {
        return not_found_because("too many places are alike to be sure that it is the one that is meant".to_owned());
    }
    if rivals.is_empty() {
        let unchanged = || {
            let same_words = collapsed.text[best.start..best.end] == *score::collapse(search.replacement);
            let patch = same_words.then(|| patch(search.text, &hit(best), context, search.replacement));
            patch.is_some_and(|it| search.text.get(it.range.start..it.range.end) == Some(&it.text))
        };
        if finder.already_there(best, search.replacement) || unchanged() {
            return not_found_because("the replacement stands there already".to_owned());
        }
        return match finder.absent_name(best) {
            Some(reason) => not_found_because(reason),
            None => Outcome::Found(hit(best)),
        };
    }
    rivals.push(best);
    rivals.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.start.cmp(&b.start)));
    let candidates: Vec<Hit> =
        rivals.iter().filter(|place| place.doubt.is_none() && place.score >= least).map(|place| hit(place)).collect();
    let chosen = nearest_to_line(search, &candidates).filter(|_| candidates.len() == rivals.len() && !exhausted);
    let place = chosen.and_then(|it| rivals.iter().find(|place| hit(place) == it));
    match place {
        Some(place) if !finder.prefers(best, place) => Outcome::Found(hit(place)),
        _ => Outcome::Ambiguous(rivals.into_iter().map(hit).collect()),
    }
}

struct Finder<'a> {
    extents: Extents<'a>,
    asked: &'a Asked<'a>,
    collapsed: &'a Collapsed,
    autofix: f64,
}

impl<'a> Finder<'a> {
    fn new(asked: &'a Asked<'a>, collapsed: &'a Collapsed, replacement: &'a str, search: &Search) -> Finder<'a> {
        let autofix = f64::from(search.autofix);
        let extents = Extents::new(asked, collapsed, search.replacement, replacement, autofix);
        Finder { extents, asked, collapsed, autofix }
    }

    /// A place below the threshold, with the extent that a lower threshold would give it: whole words where the file
    /// has them.
    fn as_if_taken(&self, place: &Place) -> Option<Place> {
        let autofix = place.score.floor();
        let below = (autofix < self.autofix).then(|| self.extents.with_autofix(autofix))?;
        below.place(place.start, place.end).filter(|it| it.score >= autofix)
    }

    /// All places that may be meant, and whether the budget was exhausted before all were seen.
    fn places(&self) -> (Vec<Place>, bool) {
        let mut aligner = Aligner::new(self.asked);
        let starts = candidate_starts::starts(self.asked, self.collapsed, self.autofix);
        let nearly_equal = starts.iter().enumerate().filter_map(|(at, start)| self.nearly_equal(start, at < TRIES));
        let mut places: Vec<Place> = nearly_equal.take(MOST_ALIKE).collect();
        // The best score of places without doubt.
        let mut best = places.iter().map(|place| place.score).fold(0.0, f64::max);
        for (tried, start) in starts.iter().enumerate() {
            let needed = if self.autofix > 0.0 { rivals_down_to(f64::max(best, self.autofix)) } else { best };
            let hopeless = |at_most: f64| at_most < needed && (tried >= TRIES || best > 0.0);
            if hopeless(self.asked.at_most(start.absent)) {
                break;
            }
            if places.len() >= MOST_ALIKE {
                return (places, true);
            }
            let part = self.part(start);
            // Only a place that is good enough excludes other starts near it.
            let mut known = places.iter().filter(|place| place.doubt.is_none() && place.score >= needed);
            if known.any(|place| place.start == part.start || !self.may_be_shifted(place, start, needed)) {
                continue;
            }
            let Some(absent) = aligner.absent(&self.collapsed.text[part.start..part.end]) else {
                return (places, true);
            };
            if hopeless(self.asked.at_most(absent)) {
                continue;
            }
            let limit = if hopeless(0.0) { self.asked.most_edits(needed) } else { self.asked.length };
            let Some(aligned) = self.align(&mut aligner, start, part, limit) else { return (places, true) };
            let Some(place) = aligned.and_then(|span| self.extents.place(span.start, span.end)) else { continue };
            if place.doubt.is_none() {
                best = f64::max(best, place.score);
            }
            if !places.iter().any(|other| (other.start, other.end) == (place.start, place.end)) {
                places.push(place);
            }
        }
        (places, false)
    }

    /// The nearest part that begins on a line, within a number of edits. The outer `None` means that the budget is
    /// exhausted.
    fn align(&self, aligner: &mut Aligner, start: &Start, part: Span, limit: usize) -> Option<Option<Span>> {
        // A part that begins further down belongs to another start, unless nothing here is nearer.
        let narrow = Span::new(part.start, self.collapsed.lines[start.end_line - 1].end);
        for part in [part, narrow] {
            let text = &self.collapsed.text[part.start..part.end];
            let Some(found) = aligner.forwards(text, limit)? else { return Some(None) };
            let begin = aligner.backwards(&text[..found.end], found.distance);
            if self.collapsed.line_of(part.start + begin) == start.line {
                return Some(Some(Span::new(part.start + begin, part.start + found.end)));
            }
        }
        Some(None)
    }

    /// The lines of a start, and two more for additional lines of the file.
    fn part(&self, start: &Start) -> Span {
        let last = (start.end_line + 1).min(self.collapsed.lines.len() - 1);
        Span::new(self.collapsed.lines[start.line].start, self.collapsed.lines[last].end)
    }

    /// Whether a place that begins at this line and overlaps a known place may reach `needed`. That is only possible in
    /// a repetitive text, where it equals the known place line by line.
    fn may_be_shifted(&self, place: &Place, start: &Start, needed: f64) -> bool {
        let (first, last) = (self.collapsed.line_of(place.start), self.collapsed.line_of(place.end - 1));
        let length = last + 1 - first;
        if first.abs_diff(start.line) >= length {
            return true;
        }
        let edits = |score: f64| (self.asked.length as f64 * (1.0 - score / 100.0)).ceil() as usize;
        let text = |line: usize| if line < self.collapsed.lines.len() { self.collapsed.line_text(line) } else { "" };
        let differing = |at: usize| match (text(start.line + at), text(first + at)) {
            (here, there) if here == there => 0,
            (here, there) => here.len().abs_diff(there.len()).max(1),
        };
        (0..length).map(differing).sum::<usize>() <= edits(needed) + edits(place.score)
    }

    /// Shortcut for the most frequent case: whole lines, of which the first and the last equal those of the search
    /// text, with a small difference between them. Only an equal number of lines is accepted, because another line
    /// could begin or end with the same word. For the most promising starts the differences may lie far apart, if they
    /// are few.
    fn nearly_equal(&self, start: &Start, is_promising: bool) -> Option<Place> {
        const MOST_DIFFERING: usize = 256;
        const FEW: usize = 64;
        const LEAST: f64 = 90.0;
        const MOST_ABSENT: usize = 32;
        const MOST_ENDS: usize = 8;
        let (first, last) = (self.asked.lines.first()?, self.asked.lines.last()?);
        if self.collapsed.line_text(start.line) != first {
            return None;
        }
        let begin = self.collapsed.lines[start.line].start;
        // A shorter place does not hold all lines of the search text.
        let shortest = self.asked.text.len().saturating_sub(self.asked.most_edits(LEAST).min(MOST_ABSENT));
        let lines = self.collapsed.lines_between(start.line, start.end_line + 1);
        let long_enough = &lines[lines.partition_point(|line| line.end - begin < shortest)..];
        let mut ends: Vec<usize> = long_enough
            .iter()
            .filter(|line| &self.collapsed.text[line.start..line.end] == last)
            .map(|line| line.end)
            .collect();
        ends.sort_by_key(|end| (end - begin).abs_diff(self.asked.text.len()));
        ends.truncate(MOST_ENDS);
        let places = ends.into_iter().filter_map(|end| {
            let differing = score::differing(&self.asked.text, &self.collapsed.text[begin..end]);
            let limit = if differing <= MOST_DIFFERING { differing } else { FEW };
            let is_small = differing <= MOST_DIFFERING || is_promising;
            is_small.then(|| self.extents.judge(begin, end, limit)).flatten()
        });
        let is_good = |place: &Place| place.doubt.is_none() && place.score >= f64::max(self.autofix, LEAST);
        places.min_by(|a, b| a.1.cmp(&b.1)).map(|(place, _)| place).filter(is_good)
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
        let text = |place: &Place| &self.collapsed.text[place.start..place.end];
        let edits = |there: &str| score::distance(&self.asked.text, there);
        let nearer = edits(text(other)).saturating_sub(edits(text(place)));
        (nearer, score::distance(text(place), text(other)))
    }

    /// Whether the edit was made before: its replacement is in the file, and is not only a part of the place.
    fn already_there(&self, place: &Place, replacement: &str) -> bool {
        /// A shorter replacement may occur in many places.
        const TELLING: usize = 40;
        let replacement = score::collapse(replacement);
        if replacement.len() < TELLING {
            return false;
        }
        let mut found = memchr::memmem::find_iter(self.collapsed.text.as_bytes(), replacement.as_bytes());
        found.any(|at| {
            let end = at + replacement.len();
            !(place.start <= at && end <= place.end)
        })
    }

    /// A name of the search text that the place does not have, but a few other lines do, each at least as similar to
    /// the searched line as the place's lines are. Then one of those may be meant.
    fn absent_name(&self, place: &Place) -> Option<String> {
        const RARE: usize = 8;
        const MOST_NAMES: usize = 16;
        let there: FxHashSet<&str> = words(&self.collapsed.text[place.start..place.end]).collect();
        let mut absent: Vec<(&str, &str)> = Vec::new();
        for line in &self.asked.lines {
            absent.extend(words(line).filter(|it| is_name(it) && !there.contains(it)).map(|it| (it, line.as_str())));
        }
        absent.sort_unstable();
        absent.dedup_by_key(|it| it.0);
        absent.truncate(MOST_NAMES);
        let lines = self.collapsed.texts_between(place.start, place.end);
        let is_meant = |&(name, line): &(&str, &str)| {
            let found = occurrences_of_word(&self.collapsed.text, name, RARE + 1);
            let here = lines.iter().map(|it| score::score(line, it)).fold(0.0, f64::max);
            let nearer = |&at: &usize| score::score(line, self.collapsed.line_text(self.collapsed.line_of(at))) >= here;
            found.len() <= RARE && found.iter().any(nearer)
        };
        let (name, _) = absent.into_iter().find(is_meant)?;
        Some(format!("it lacks `{name}`, which the file has elsewhere"))
    }
}

/// Whether a word looks like an identifier rather than a word of a language: `read_line`, `readLine`, `line2`.
fn is_name(word: &str) -> bool {
    let mixed = word.contains('_') || word.chars().skip(1).any(|character| !character.is_lowercase());
    mixed && !word.starts_with(char::is_numeric)
}

/// Aligns the search text forwards and backwards until the budget is exhausted.
struct Aligner {
    forwards: Pattern,
    backwards: Pattern,
    characters: Characters,
    budget: usize,
}

impl Aligner {
    fn new(asked: &Asked) -> Aligner {
        let budget = BUDGET.max(5 * asked.length * asked.length.div_ceil(64));
        Aligner {
            forwards: Pattern::new(&asked.text),
            backwards: Pattern::reversed(&asked.text),
            characters: Characters::of(&asked.text),
            budget,
        }
    }

    /// A cheap lower bound of the distance.
    fn absent(&mut self, text: &str) -> Option<usize> {
        self.budget = self.budget.checked_sub(text.len() / 8)?;
        Some(self.characters.absent_in(text))
    }

    /// The part of the text with the least distance, if that is within the limit. The outer `None` means that the
    /// budget is exhausted.
    fn forwards(&mut self, text: &str, limit: usize) -> Option<Option<NearestPart>> {
        let mut work = 0;
        let found = self.forwards.nearest_part(text, limit, &mut work);
        self.budget = self.budget.checked_sub(work)?;
        Some(found)
    }

    /// Where the part with this distance begins, if it ends with the text.
    fn backwards(&mut self, text: &str, distance: usize) -> usize {
        let mut work = 0;
        let reversed: String = text.chars().rev().collect();
        let found = self.backwards.nearest_part(&reversed, distance, &mut work);
        self.budget = self.budget.saturating_sub(work);
        text.len() - found.map_or(text.len(), |it| it.end)
    }
}
