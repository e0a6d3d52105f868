//! The second stage: equal words and signs, other white space between them.
//!
//! All white space is removed from both texts. Where the squeezed search text occurs in the squeezed file, the gaps are
//! compared one by one. A gap may have any length and may hold line ends, unless white space has a meaning there: in a
//! string, at the end of a line comment, between two signs that form an operator, in indentation that is structure.
//! What is refused here is not accepted as a similar place either.

use std::borrow::Cow;

use super::doubt::{self, OTHER_INDENTATION};
use super::exact::occurrences;
use super::search::{Hit, MOST_PLACES};
use crate::merge::indentation::line_start;
use crate::score::{collapse, from_distance};
use crate::tokens::{Tokens, cuts_token, is_word};
use semdex_model::{Span, Strategy};

/// The result of the second stage.
#[derive(Default)]
pub(super) struct WhitespaceMatch {
    pub hits: Vec<Hit>,
    /// A place with equal words that must not match, not even as a similar one, and why.
    pub refused: Option<(Hit, &'static str)>,
}

const OTHER_WHITE_SPACE: &str = "the same words are there, but the white space between them has a meaning (in a string, a \
                                 comment or an operator) and differs: send the lines as the file has them";
const OVERLAPS: &str = "the search text repeats itself and overlaps itself in the file at too many places to distinguish \
                        them: take more lines around it";

pub(super) fn find(text: &str, context: &str) -> WhitespaceMatch {
    if !may_occur(text, context) {
        return WhitespaceMatch::default();
    }
    let (asked, there) = (Squeezed::new(context, ""), Squeezed::new(text, ""));
    let tokens = Tokens::new(context.trim());
    let mut loose = WhitespaceMatch::default();
    // Overlapping places are compared repeatedly, but only a bounded number of times.
    let mut left = 4 * (asked.text.len() + there.text.len()) + 1024;
    for start in occurrences(there.text.as_bytes(), asked.text.as_bytes(), MOST_PLACES) {
        let span = there.span(start, start + asked.text.len());
        let place = Tokens::new(&text[span.start..span.end]);
        let mut hit = Hit { span, score: 100.0, strategy: Strategy::Whitespace };
        let Some(rest) = left.checked_sub(place.len()) else {
            return WhitespaceMatch { hits: Vec::new(), refused: Some((hit, OVERLAPS)) };
        };
        left = rest;
        if !place.slice(0..place.len()).eq(tokens.slice(0..tokens.len()))
            || cuts_token(text, span.start)
            || cuts_token(text, span.end)
        {
            continue;
        }
        if same_lines(tokens.text, place.text) {
            hit.strategy = Strategy::Indent;
        }
        let inner = 1..tokens.len();
        let differing = inner.clone().filter(|&at| tokens.gap(at).is_empty() != place.gap(at).is_empty()).count();
        let longest = [tokens.text, place.text].map(|it| collapse(it).chars().count()).into_iter().max();
        hit.score = from_distance(differing, longest.unwrap_or_default());
        let pairs = doubt::same_lines(text, span, &tokens, &place, Some);
        if doubt::indentation_differs(&pairs, text, span) {
            loose.refused = Some((hit, OTHER_INDENTATION));
        } else if inner.into_iter().any(|at| differs_in_meaning(text, span.start, [&tokens, &place], at))
            || ends_line(context) && ends_comment(&text[..span.end]) && !is_line_end(&text[span.end..])
        {
            loose.refused = Some((hit, OTHER_WHITE_SPACE));
        } else {
            loose.hits.push(hit);
        }
    }
    loose
}

/// Whether the characters around the longest word of the search text, without white space, are those around one of its
/// occurrences: a gap never splits a word. This costs less than squeezing a long text.
fn may_occur(text: &str, context: &str) -> bool {
    /// More occurrences are not compared.
    const MOST: usize = 64;
    let length = |it: &&str| it.len();
    let Some(word) = context.split(|it| !is_word(it)).max_by_key(length).filter(|it| !it.is_empty()) else {
        return true;
    };
    let (before, after) = context.split_at(word.as_ptr() as usize - context.as_ptr() as usize);
    fn begins(text: impl Iterator<Item = char>, asked: impl Iterator<Item = char>) -> bool {
        let mut text = text.filter(|it| !it.is_whitespace());
        asked.filter(|it| !it.is_whitespace()).all(|it| text.next() == Some(it))
    }
    let is_around =
        |at: usize| begins(text[at..].chars(), after.chars()) && begins(text[..at].chars().rev(), before.chars().rev());
    memchr::memmem::find_iter(text.as_bytes(), word.as_bytes())
        .enumerate()
        .any(|(seen, at)| seen == MOST || is_around(at))
}

/// The words of a text with the same separator between all of them, and the map back to the original offsets.
pub(super) struct Squeezed {
    pub(super) text: String,
    /// Each part that both texts have: where it begins in the squeezed text and in the original.
    runs: Vec<(usize, usize)>,
    /// Where each line that is not blank begins in the squeezed text.
    pub(super) lines: Vec<usize>,
}

impl Squeezed {
    pub(super) fn new(original: &str, separator: &str) -> Squeezed {
        let mut made = Squeezed { text: String::with_capacity(original.len()), runs: Vec::new(), lines: Vec::new() };
        let mut push = |at: usize, run: &str| {
            if !made.text.is_empty() {
                made.text.push_str(separator);
            }
            if at == 0 {
                made.lines.push(made.text.len());
            }
            made.runs.push((made.text.len(), run.as_ptr() as usize - original.as_ptr() as usize));
            made.text.push_str(run);
        };
        let mut rest = 0;
        for end in memchr::memchr_iter(b'\n', original.as_bytes()).chain([original.len()]) {
            let line = &original[rest..end];
            rest = end + 1;
            // A line whose words are separated so already is one run.
            match collapse(line) {
                Cow::Borrowed("") => {}
                Cow::Borrowed(run) if separator == " " => push(0, run),
                _ => line.split_whitespace().enumerate().for_each(|(at, word)| push(at, word)),
            }
        }
        made
    }

    /// From the first byte of a part to the end of its last one, in the original. White space around the part, of which
    /// the original may have other characters, does not count.
    pub(super) fn span(&self, mut start: usize, mut end: usize) -> Span {
        let is_blank = |at: usize| self.text.as_bytes()[at] == b' ';
        while start < end && is_blank(end - 1) {
            end -= 1;
        }
        while start < end && is_blank(start) {
            start += 1;
        }
        let original = |at: usize| {
            let (squeezed, original) = self.runs[self.runs.partition_point(|run| run.0 <= at).saturating_sub(1)];
            original + at - squeezed
        };
        if start == end {
            return Span::new(original(start), original(start));
        }
        Span::new(original(start), original(end - 1) + 1)
    }
}

/// Whether the gap before a token differs between the search text and the place in a way that means something.
fn differs_in_meaning(text: &str, start: usize, [asked, there]: [&Tokens; 2], at: usize) -> bool {
    let gaps = [asked.gap(at), there.gap(at)];
    if gaps[0] == gaps[1] {
        return false;
    }
    let lines = [(asked.text, asked.end_before(at), asked.start(at)), {
        let line = line_start(text, start + there.end_before(at));
        (&text[line..], start + there.end_before(at) - line, start + there.start(at) - line)
    }];
    let in_string = |(text, before, after): (&str, usize, usize)| is_quoted(text, before, after);
    let breaks = gaps.map(|it| it.contains('\n'));
    let in_comment = |(text, before, _): (&str, usize, usize)| ends_comment(&text[..before]);
    let (before, after) = (asked.get(at - 1), asked.get(at));
    (breaks == [false; 2] && lines.into_iter().any(in_string))
        || (breaks[0] != breaks[1] && lines.into_iter().any(in_comment))
        || (gaps[0].is_empty() != gaps[1].is_empty() && forms_operator(before, after))
}

/// Whether a part of a line is within a pair of quotes: an odd number of them before it on its line, and one after it.
/// An apostrophe or a lifetime has a word after it.
fn is_quoted(text: &str, before: usize, after: usize) -> bool {
    let line = text[line_start(text, before)..before].replace("\\\\", "").replace("\\\"", "");
    let rest = text[after..].split('\n').next().unwrap_or_default();
    let is_odd = |quote: char| line.matches(quote).count() % 2 == 1;
    let closes = |quote: char| rest.match_indices(quote).any(|(at, _)| !rest[at + 1..].starts_with(is_word));
    ['"', '`', '\''].into_iter().any(|quote| is_odd(quote) && closes(quote))
}

/// Whether a text ends with a line end and blanks.
fn ends_line(text: &str) -> bool {
    text.trim_end_matches([' ', '\t', '\r']).ends_with('\n')
}

/// Whether a line ends here, blanks not counted.
fn is_line_end(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\r']).starts_with('\n') || text.trim_start().is_empty()
}

/// Whether the last line of a text has begun a line comment.
fn ends_comment(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let begins = |mark: &str| line.trim_start().starts_with(mark) || line.contains(&format!(" {mark}"));
    line.contains("//") || ["# ", "-- ", ";; "].into_iter().any(begins)
}

/// Whether two signs mean something else side by side than with white space between them.
fn forms_operator(before: &str, after: &str) -> bool {
    const OPERATORS: &str = "++ -- && || == != <= >= << >> -> => <- :: .. += -= *= /= %= &= |= ^= := .= // /* */ ** &^ |> \
                             <| =~ !~ ~= ?. ?? ?: <> ## \\\\ $$ @@ ``";
    let is_quote = |it: &str| matches!(it, "\"" | "'" | "`");
    if is_quote(before) || is_quote(after) {
        // `b "x"` is not a byte string, and two literals side by side may be one.
        return before.starts_with(is_word) || after.starts_with(is_word) || before == after || before == "#";
    }
    if matches!(before, "$" | "@" | "\\" | "#") {
        return after.starts_with(is_word) || after == "{";
    }
    !before.starts_with(is_word)
        && !after.starts_with(is_word)
        && OPERATORS.split(' ').any(|it| it == [before, after].concat())
}

/// Whether only indentation and blanks at line ends differ.
fn same_lines(asked: &str, place: &str) -> bool {
    asked.lines().map(str::trim).eq(place.lines().map(str::trim))
}
