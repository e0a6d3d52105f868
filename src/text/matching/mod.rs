//! Where a search text stands in a file, and what a replacement makes of it.
//!
//! Three stages, each stricter than the next: exact; equal but for white space; alike by at least `autofix`. A stage
//! that finds one place decides; one that finds several is asked for the one nearest to `near_line`, and otherwise
//! the answer is that the request is ambiguous. Nothing is ever taken because it came first.
//!
//! All stages are linear in the file, but for the comparison of the few places that the last one looks at closely,
//! which is bounded by a budget.

mod elision;
mod exact;
mod fuzzy;
mod literals;
mod miss;
mod reindent;
mod whitespace;

use crate::model::{Code, Error, Result, Span, Strategy};
use crate::text::lines::LineIndex;

pub use elision::refuse_in_replacement as refuse_elisions;
pub use miss::{already_applied, nearest, stands_in};
pub use reindent::{Patch, Replaced, apply, apply_all, patch, whole};

/// More places than this are not told apart any more, whatever `near_line` says.
pub const MOST_PLACES: usize = 10_000;

/// What is searched, where, and how much it may differ.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The whole text of the file.
    pub text: &'a str,
    /// What is to be found in it.
    pub context: &'a str,
    /// What is to stand there: where it does already, nothing is merely alike.
    pub replacement: &'a str,
    /// The least score that a fuzzy match must reach, 1 to 100; 0 turns it off.
    pub autofix: u8,
    /// Of several places the one nearest to this line (from 1) is meant.
    pub near_line: Option<usize>,
    /// Only in this part of the text.
    pub within: Option<Span>,
    /// A place begins and ends with lines, indentation and blanks at their ends aside.
    pub whole_lines: bool,
}

/// What a search comes to: one place, or why there is not one.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The only place that fits, or the nearest to the line that was given.
    Found(Hit),
    /// In the order of the text, or the best first where they are merely alike. At most [`MOST_PLACES`].
    Ambiguous(Vec<Hit>),
    /// `reason` says in words what differs from the nearest place, or why that was not good enough.
    Missed {
        /// The place that is most alike. None where nothing is alike at all.
        nearest: Option<Hit>,
        /// For the error's detail.
        reason: String,
    },
}

/// A place that fits. Leading indentation and the last line's end are not part of it, unless the match is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Byte offsets in the text.
    pub span: Span,
    /// Its similarity to what was searched, in percent.
    pub score: f64,
    /// The stage that found it.
    pub strategy: Strategy,
}

/// Finds the one place that a search text means.
pub fn find(search: &Search) -> Result<Outcome> {
    let context = without_bom(search.context);
    if context.trim().is_empty() {
        return Err(Error::new(
            Code::InvalidRequest,
            "`search_context` is empty: give the lines to be replaced, as the file has them",
        ));
    }
    if search.autofix > 100 {
        return Err(Error::new(Code::InvalidRequest, "`autofix` goes from 0 to 100"));
    }
    let region = region(search)?;
    elision::refuse(context, search.text)?;

    let fits = |span: Span| !search.whole_lines || is_whole_lines(search.text, region.outer(span));
    // Who sends lines means whole words; who sends several words too, if there is a place of whole words that is alike.
    let of_lines = context.contains('\n') || context.starts_with(char::is_whitespace);
    let of_words = of_lines || context.contains(char::is_whitespace);
    let whole_words =
        |span: &Span| !of_words || !(cuts_word(region.text, span.start) || cuts_word(region.text, span.end));
    let exact = exact::find(region.text, context).into_iter().filter(|&span| fits(span));
    let (exact, cut): (Vec<Span>, Vec<Span>) = exact.partition(whole_words);
    let exact: Vec<Span> = exact.into_iter().map(|span| region.outer(span)).collect();
    // Where it begins in the midst of an indentation, the lines stand further right than was said.
    let (shifted, exact): (Vec<Span>, Vec<Span>) =
        exact.into_iter().partition(|span| cuts_indentation(search.text, span.start));
    if !exact.is_empty() {
        let hit = |span| Hit { span, score: 100.0, strategy: Strategy::Exact };
        return Ok(decide(search, exact.into_iter().map(hit).collect()));
    }
    if !shifted.is_empty() {
        let hit = |span| Hit { span: trimmed(search.text, span), score: 100.0, strategy: Strategy::Indent };
        return Ok(decide(search, shifted.into_iter().map(hit).collect()));
    }
    let mut loose = whitespace::find(region.text, context);
    let begins_line = |span: Span| is_blank(line_before(search.text, region.outer(span).start));
    loose.hits.retain(|hit| fits(hit.span) && (!context.starts_with(char::is_whitespace) || begins_line(hit.span)));
    if !loose.hits.is_empty() {
        let hits = loose.hits.into_iter().map(|hit| Hit { span: region.outer(hit.span), ..hit });
        return Ok(decide(search, hits.collect()));
    }
    if let Some(refused) = loose.refused.filter(|it| fits(it.hit.span)) {
        let nearest = Some(Hit { span: region.outer(refused.hit.span), ..refused.hit });
        return Ok(Outcome::Missed { nearest, reason: refused.reason.to_owned() });
    }
    match fuzzy::find(search, &region, context) {
        Outcome::Missed { .. } if !of_lines && !cut.is_empty() => {
            let hit = |span| Hit { span: region.outer(span), score: 100.0, strategy: Strategy::Exact };
            Ok(decide(search, cut.into_iter().map(hit).collect()))
        }
        Outcome::Found(hit) => {
            elision::refuse_in_search(context, search.text, hit.span)?;
            if whitespace::indentation_differs_in_meaning(search.text, hit.span, context) {
                let reason = miss::reason(search, &hit, whitespace::OTHER_INDENTATION);
                return Ok(Outcome::Missed { nearest: Some(hit), reason });
            }
            if loses_edge(search.text, hit.span, context) {
                let reason = miss::reason(search, &hit, LOST_EDGE);
                return Ok(Outcome::Missed { nearest: Some(hit), reason });
            }
            Ok(Outcome::Found(hit))
        }
        Outcome::Missed { nearest: Some(hit), reason } => {
            elision::refuse_in_search(context, search.text, hit.span)?;
            Ok(Outcome::Missed { nearest: Some(hit), reason })
        }
        outcome => Ok(outcome),
    }
}

/// The part of the text that is searched, and where it begins. A byte order mark is never part of it.
#[derive(Debug, Clone, Copy)]
struct Region<'a> {
    text: &'a str,
    start: usize,
}

impl Region<'_> {
    fn outer(&self, span: Span) -> Span {
        Span::new(self.start + span.start, self.start + span.end)
    }
}

fn region<'a>(search: &Search<'a>) -> Result<Region<'a>> {
    let bom = search.text.len() - without_bom(search.text).len();
    let within = search.within.unwrap_or(Span::new(0, search.text.len()));
    let start = within.start.max(bom);
    let outside = || Error::new(Code::InvalidRequest, "the part to search in is not a part of the file");
    let text = search.text.get(start..within.end.max(start)).ok_or_else(outside)?;
    Ok(Region { text, start })
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn cuts_word(text: &str, at: usize) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    text[..at].ends_with(is_word) && text[at..].starts_with(is_word)
}

/// Whether an indentation goes on at an offset that is not where it begins.
fn cuts_indentation(text: &str, at: usize) -> bool {
    let before = line_before(text, at);
    !before.is_empty() && is_blank(before) && text[at..].starts_with([' ', '\t'])
}

/// What stands before an offset on its line.
fn line_before(text: &str, at: usize) -> &str {
    without_bom(text[..at].rsplit('\n').next().unwrap_or_default())
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn trimmed(text: &str, span: Span) -> Span {
    let place = &text[span.start..span.end];
    let start = span.start + place.len() - place.trim_start().len();
    Span::new(start, start + place.trim().len())
}

const LOST_EDGE: &str = "its first or last line is blank in the search text but not in the file, so that it is not clear where \
                         the place ends";

/// Whether the search text begins or ends with an indentation that nothing follows, where the file has something: a brace
/// was left out perhaps, and would stand there twice after the edit.
fn loses_edge(text: &str, span: Span, context: &str) -> bool {
    let is_lost = |line: Option<&str>| line.is_some_and(|it| !it.is_empty() && is_blank(it));
    let has_more = |line: Option<&str>| line.is_some_and(|it| !is_blank(it));
    let above = text[..span.start].rsplit('\n').nth(1);
    let below = text[span.end..].split('\n').nth(1);
    let last = context.strip_suffix('\n').unwrap_or(context).rsplit_once('\n').map(|it| it.1);
    is_lost(context.split_once('\n').map(|it| it.0)) && has_more(above) || is_lost(last) && has_more(below)
}

/// Whether nothing but white space stands before a place on its first line and after it on its last.
fn is_whole_lines(text: &str, span: Span) -> bool {
    let after = text[span.end..].split('\n').next().unwrap_or_default();
    is_blank(line_before(text, span.start)) && (text[..span.end].ends_with('\n') || is_blank(after))
}

/// One place is it; of several the one that is nearer to `near_line` than any other.
fn decide(search: &Search, hits: Vec<Hit>) -> Outcome {
    if let [hit] = hits[..] {
        return Outcome::Found(hit);
    }
    match nearest_to_line(search, &hits) {
        Some(hit) => Outcome::Found(hit),
        None => Outcome::Ambiguous(hits),
    }
}

/// The place that holds the line, or else the one that is nearer to it than any other, from where it begins as well as
/// from its nearest line. Where the two disagree, it is no nearer than the other one.
fn nearest_to_line(search: &Search, hits: &[Hit]) -> Option<Hit> {
    let line = search.near_line?;
    if hits.len() >= MOST_PLACES {
        return None;
    }
    let lines = LineIndex::new(search.text);
    // Blank lines around a place make it no longer.
    let lines_of = |hit: &Hit| {
        let span = trimmed(search.text, hit.span);
        (lines.line(span.start), lines.line(span.end.saturating_sub(1).max(span.start)))
    };
    let places: Vec<(usize, usize)> = hits.iter().map(lines_of).collect();
    let nearest = |away: &dyn Fn(&(usize, usize)) -> usize| {
        let least = places.iter().map(away).min()?;
        let mut nearest = (0..places.len()).filter(|&at| away(&places[at]) == least);
        let only = nearest.next()?;
        nearest.next().is_none().then_some((only, least))
    };
    let (only, away) = nearest(&|&(first, last)| first.saturating_sub(line).max(line.saturating_sub(last)))?;
    let is_it = away == 0 || nearest(&|&(first, _)| first.abs_diff(line)).is_some_and(|(other, _)| other == only);
    is_it.then_some(hits[only])
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
