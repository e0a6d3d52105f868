//! The second stage: equal characters except for white space.
//!
//! All white space is removed from both texts. Where the squeezed search text occurs in the squeezed file, the gaps are
//! compared one by one. A gap may have any length and may hold line ends. But it may not split or join words,
//! operators, string literals or comments, because that changes the meaning.

use super::exact::occurrences;
use super::literals::Literals;
use super::search::{Hit, MOST_PLACES};
use super::{indentation, line_pairs};
use crate::score::{self, collapse};
use semdex_model::{Span, Strategy};

/// The result of the second stage.
#[derive(Default)]
pub(super) struct WhitespaceMatch {
    pub hits: Vec<Hit>,
    /// A place with equal characters that must not match, not even as a similar one.
    pub refused: Option<RejectedHit>,
}

pub(super) struct RejectedHit {
    pub hit: Hit,
    pub reason: &'static str,
}

pub(super) const OTHER_INDENTATION: &str = "the same words stand there, but indentation has a meaning in them and is \
                                            another: send the lines with the indentation that the file has";

pub(super) fn find(text: &str, context: &str) -> WhitespaceMatch {
    if !has_words_of(text, context) {
        return WhitespaceMatch::default();
    }
    let asked = Squeezed::new(context.trim());
    let there = Squeezed::new(text);
    let starts = occurrences(there.text.as_bytes(), asked.text.as_bytes(), MOST_PLACES);
    if starts.is_empty() {
        return WhitespaceMatch::default();
    }
    let (asked_literals, literals) = (Literals::scan(asked.original), Literals::scan(text));
    let pair = Pair { asked: &asked, asked_literals, there: &there, literals };
    let mut loose = WhitespaceMatch::default();
    // There is at most one gap after each byte. Overlapping places are compared repeatedly, but only a bounded number
    // of times.
    let mut gaps_left = 4 * (asked.text.len() + there.text.len()) + 1024;
    let mut scorer = Scorer { budget: 4_000_000 };
    for start in starts {
        let span = there.span(start, start + asked.text.len());
        let differing = pair.differing_gaps(start, &mut gaps_left);
        if gaps_left == 0 {
            let hit = Hit { span, score: 100.0, strategy: Strategy::Whitespace };
            let reason = "the search text repeats itself and overlaps itself in the file at too many places to tell \
                          them apart: take more lines around it";
            return WhitespaceMatch { hits: Vec::new(), refused: Some(RejectedHit { hit, reason }) };
        }
        let Some(differing) = differing else { continue };
        let place = &text[span.start..span.end];
        let strategy = if same_lines(asked.original, place) { Strategy::Indent } else { Strategy::Whitespace };
        let hit = Hit { span, score: scorer.score(asked.original, place, differing), strategy };
        if indentation_differs_in_meaning(text, span, context) {
            loose.refused = Some(RejectedHit { hit, reason: OTHER_INDENTATION });
        } else {
            loose.hits.push(hit);
        }
    }
    loose
}

/// Whether the longest words of the search text occur in the text: a gap never splits a word, so without them there is
/// no match. This costs less than squeezing a long text.
fn has_words_of(text: &str, context: &str) -> bool {
    const MOST: usize = 12;
    let mut words: Vec<&str> = context.split(|it| !is_word(it)).filter(|it| it.len() > 2).collect();
    words.sort_unstable_by_key(|it| std::cmp::Reverse(it.len()));
    words.dedup();
    words.iter().take(MOST).all(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// A text without its white space, and the map back to the original offsets.
struct Squeezed<'a> {
    original: &'a str,
    text: String,
    runs: Vec<Run>,
}

/// A run without white space: where it begins in the squeezed text and in the original.
#[derive(Debug, Clone, Copy)]
struct Run {
    at: usize,
    start: usize,
}

impl<'a> Squeezed<'a> {
    fn new(original: &'a str) -> Squeezed<'a> {
        let mut text = String::with_capacity(original.len());
        let mut runs = Vec::new();
        for word in original.split_whitespace() {
            let start = word.as_ptr() as usize - original.as_ptr() as usize;
            runs.push(Run { at: text.len(), start });
            text.push_str(word);
        }
        Squeezed { original, text, runs }
    }

    /// The runs that begin after `from` and before `to`: each has a gap before it.
    fn gaps(&self, from: usize, to: usize) -> impl Iterator<Item = (Run, &'a str)> {
        let first = self.runs.partition_point(|run| run.at <= from);
        let last = self.runs.partition_point(|run| run.at < to);
        (first.max(1)..last.max(first.max(1))).map(|index| {
            let (before, run) = (self.runs[index - 1], self.runs[index]);
            (run, &self.original[before.start + (run.at - before.at)..run.start])
        })
    }

    /// Where the character at an offset of the squeezed text begins in the original.
    fn start(&self, offset: usize) -> usize {
        let run = self.runs[self.runs.partition_point(|run| run.at <= offset) - 1];
        run.start + (offset - run.at)
    }

    /// Where the character before an offset of the squeezed text ends in the original.
    fn end(&self, offset: usize) -> usize {
        let run = self.runs[self.runs.partition_point(|run| run.at < offset) - 1];
        run.start + (offset - run.at)
    }

    fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.start(from), self.end(to))
    }
}

struct Pair<'a> {
    asked: &'a Squeezed<'a>,
    asked_literals: Literals,
    there: &'a Squeezed<'a>,
    literals: Literals,
}

impl Pair<'_> {
    /// How many gaps only one side has, if all differences are allowed.
    fn differing_gaps(&self, start: usize, gaps_left: &mut usize) -> Option<usize> {
        let squeezed = &self.there.text;
        let end = start + self.asked.text.len();
        // The neighbouring characters may not belong to the first or last word or sign of the place.
        let touches = |at: usize| {
            0 < at && at < squeezed.len() && self.there.start(at) == self.there.end(at) && joined(squeezed, at)
        };
        if touches(start) || touches(end) {
            return None;
        }
        let mut asked = self.asked.gaps(0, self.asked.text.len()).peekable();
        let mut there = self.there.gaps(start, end).peekable();
        let mut differing = 0;
        loop {
            *gaps_left = gaps_left.saturating_sub(1);
            if *gaps_left == 0 {
                return None;
            }
            let at = match (asked.peek(), there.peek()) {
                (None, None) => return Some(differing),
                (Some((run, _)), None) => run.at,
                (None, Some((run, _))) => run.at - start,
                (Some((mine, _)), Some((theirs, _))) => mine.at.min(theirs.at - start),
            };
            let mine = asked.next_if(|(run, _)| run.at == at).map_or("", |(_, gap)| gap);
            let theirs = there.next_if(|(run, _)| run.at == start + at).map_or("", |(_, gap)| gap);
            if !self.may_differ(at, start + at, mine, theirs) {
                return None;
            }
            differing += usize::from(mine.is_empty() != theirs.is_empty());
        }
    }

    /// Whether a gap may be `mine` on one side and `theirs` on the other.
    fn may_differ(&self, asked_at: usize, at: usize, mine: &str, theirs: &str) -> bool {
        if same_gap(mine, theirs) {
            return true;
        }
        let (asked_place, place) = (self.asked.end(asked_at), self.there.end(at));
        let breaks = |gap: &str| gap.contains('\n');
        if self.asked_literals.in_string(asked_place) || self.literals.in_string(place) {
            // The indentation of a line after a backslash is not part of the literal.
            let continued = self.there.text[..at].ends_with('\\');
            return continued && breaks(mine) && breaks(theirs);
        }
        let in_comment = self.asked_literals.in_line_comment(asked_place) || self.literals.in_line_comment(place);
        if in_comment && breaks(mine) != breaks(theirs) {
            return false;
        }
        if !mine.is_empty() && !theirs.is_empty() {
            return true;
        }
        !joined(&self.there.text, at)
    }
}

/// Whether two gaps are equal, where all line endings are equal.
fn same_gap(mine: &str, theirs: &str) -> bool {
    let bytes = |gap: &'_ str| gap.bytes().filter(|&byte| byte != b'\r').collect::<Vec<u8>>();
    mine == theirs || (mine.len() != theirs.len() && bytes(mine) == bytes(theirs))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether the characters before and after this offset form one token if there is no gap.
fn joined(squeezed: &str, at: usize) -> bool {
    match (squeezed[..at].chars().next_back(), squeezed[at..].chars().next()) {
        (Some(before), Some(after)) => glues(before, after),
        _ => false,
    }
}

/// Whether two characters have another meaning side by side than with white space between them.
pub(super) fn glues(before: char, after: char) -> bool {
    const OPERATORS: [&str; 44] = [
        "++", "--", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "->", "=>", "<-", "::", "..", "+=", "-=", "*=",
        "/=", "%=", "&=", "|=", "^=", ":=", ".=", "//", "/*", "*/", "**", "&^", "|>", "<|", "=~", "!~", "~=", "?.",
        "??", "?:", "<>", "##", "\\\\", "$$", "@@", "``",
    ];
    if is_word(before) && is_word(after) {
        return true;
    }
    let is_quote = |character: char| matches!(character, '"' | '\'' | '`');
    if is_quote(before) || is_quote(after) {
        // `b "x"` is not a byte string, and two literals side by side may be one.
        return is_word(before) || is_word(after) || before == after || before == '#';
    }
    if matches!(before, '$' | '@' | '\\' | '#') {
        return is_word(after) || after == '{';
    }
    OPERATORS.iter().any(|operator| operator.chars().eq([before, after]))
}

/// Scores places whose squeezed text is equal.
struct Scorer {
    /// Characters times words of 64 characters: the budget for all places together.
    budget: usize,
}

impl Scorer {
    /// The contract's score. Each of `differing` gaps costs at most one edit, and less only in repetitive texts. If the
    /// budget is exhausted, that bound is the result.
    fn score(&mut self, asked: &str, place: &str, differing: usize) -> f64 {
        if differing == 0 {
            return 100.0;
        }
        let (asked, place) = (collapse(asked), collapse(place));
        let longest = asked.chars().count().max(place.chars().count());
        let cost = longest * longest.div_ceil(64);
        let distance = if cost <= self.budget {
            self.budget -= cost;
            score::distance_within(&asked, &place, differing).unwrap_or(differing)
        } else {
            differing
        };
        score::from_distance(distance, longest)
    }
}

/// Whether only indentation and blanks at line ends differ.
fn same_lines(asked: &str, place: &str) -> bool {
    let trimmed = |text: &'_ str| -> Vec<String> { text.lines().map(|line| line.trim().to_owned()).collect() };
    trimmed(asked) == trimmed(place)
}

/// Where a line that ends with a colon opens a deeper block (Python, YAML), indentation is structure. It may be shifted
/// as a whole, but the order of depths must stay the same.
pub(super) fn indentation_differs_in_meaning(text: &str, span: Span, context: &str) -> bool {
    if !opens_by_indentation(indentation::with_indentation(text, span)) {
        return false;
    }
    let pairs = line_pairs::indentation_pairs(text, span, context);
    let is_only = pairs.len() == 1;
    let telling = pairs.iter().filter(|pair| is_only || !pair.first);
    let mut widths: Vec<(usize, usize)> =
        telling.map(|pair| (indentation::width(pair.asked), indentation::width(pair.there))).collect();
    widths.sort_unstable();
    widths.dedup();
    widths.windows(2).any(|two| two[0].0 == two[1].0 || two[0].1 >= two[1].1)
}

fn opens_by_indentation(lines: &str) -> bool {
    let mut lines = lines.lines().filter(|line| !line.trim().is_empty()).peekable();
    while let Some(line) = lines.next() {
        let opener = line.trim();
        let indent = |line: &str| indentation::width(indentation::indent(line));
        // Labels in a switch of Go and C also end with a colon, but are inside braces.
        let is_case = opener.starts_with("case ") || opener.starts_with("default");
        if opener.ends_with(':') && !is_case && lines.peek().is_some_and(|next| indent(next) > indent(line)) {
            return true;
        }
    }
    false
}
