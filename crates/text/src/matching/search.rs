//! The request and the result of a search, and the part of a text that is searched.

use crate::lines::LineIndex;
use semdex_model::{Code, Error, Result, Span, Strategy};

/// More places than this are not distinguished, whatever `near_line` is.
pub(crate) const MOST_PLACES: usize = 10_000;

/// What is searched, where, and how much it may differ.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The whole text of the file.
    pub text: &'a str,
    /// The text to be found.
    pub context: &'a str,
    /// The new text. Where the file already has it, a similar place does not match.
    pub replacement: &'a str,
    /// The least score of a fuzzy match, 1 to 100; 0 turns fuzzy matching off.
    pub autofix: u8,
    /// Of several places, the place nearest to this line (from 1) is meant.
    pub near_line: Option<usize>,
    /// Searches only this part of the text.
    pub within: Option<Span>,
    /// A place must consist of whole lines, except for indentation and blanks at the line ends.
    pub whole_lines: bool,
}

/// The result of a search: one place, or why there is not exactly one.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The only matching place, or the nearest to the given line.
    Found(Hit),
    /// In the order of the text, or the best first if the places are only similar. At most [`MOST_PLACES`].
    Ambiguous(Vec<Hit>),
    /// No place matches. `reason` says how the nearest place differs, or why it was not accepted.
    NotFound {
        /// The most similar place. None if nothing is similar.
        nearest: Option<Hit>,
        /// For the error's detail.
        reason: String,
    },
}

/// A matching place. It contains neither leading indentation nor the last line end, unless the match is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Byte offsets in the text.
    pub span: Span,
    /// Its similarity to the search text, in percent.
    pub score: f64,
    /// The stage that found it.
    pub strategy: Strategy,
}

/// The part of the text that is searched, and where it begins. It never contains a byte order mark.
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

pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// One place is the result. Of several, the place that is nearest to `near_line`.
pub(super) fn decide(search: &Search, hits: Vec<Hit>) -> Outcome {
    if let [hit] = hits[..] {
        return Outcome::Found(hit);
    }
    match nearest_to_line(search, &hits) {
        Some(hit) => Outcome::Found(hit),
        None => Outcome::Ambiguous(hits),
    }
}

/// The place that holds the line, or else the nearest one, measured from its start as well as from its nearest line.
/// `None` if the two measures disagree.
pub(super) fn nearest_to_line(search: &Search, hits: &[Hit]) -> Option<Hit> {
    let line = search.near_line?;
    if hits.len() >= MOST_PLACES {
        return None;
    }
    let lines = LineIndex::new(search.text);
    // Blank lines around a place do not count.
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
