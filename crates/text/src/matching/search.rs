//! What a search asks and comes to, and the part of a text in which it looks.

use crate::lines::LineIndex;
use semdex_model::{Code, Error, Result, Span, Strategy};

/// More places than this are not distinguished any more, whatever `near_line` says.
pub(crate) const MOST_PLACES: usize = 10_000;

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
    NotFound {
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

/// The part of the text that is searched, and where it begins. A byte order mark is never part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Region<'_> {
    pub(super) fn outer(&self, span: Span) -> Span {
        Span::new(self.start + span.start, self.start + span.end)
    }
}

pub(super) fn region<'a>(search: &Search<'a>) -> Result<Region<'a>> {
    let bom = search.text.len() - without_bom(search.text).len();
    let within = search.within.unwrap_or(Span::new(0, search.text.len()));
    let start = within.start.max(bom);
    let outside = || Error::new(Code::InvalidRequest, "the part to search in is not a part of the file");
    let text = search.text.get(start..within.end.max(start)).ok_or_else(outside)?;
    Ok(Region { text, start })
}

pub(super) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// One place is it; of several the one that is nearer to `near_line` than any other.
pub(super) fn decide(search: &Search, hits: Vec<Hit>) -> Outcome {
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
pub(super) fn nearest_to_line(search: &Search, hits: &[Hit]) -> Option<Hit> {
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

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(super) fn trimmed(text: &str, span: Span) -> Span {
    let place = &text[span.start..span.end];
    let start = span.start + place.len() - place.trim_start().len();
    Span::new(start, start + place.trim().len())
}
