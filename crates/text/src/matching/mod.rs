//! Where a search text is in a file, and what a replacement changes there.
//!
//! Three stages, from strict to loose: exact; equal except for white space; a score of at least `autofix`. The first
//! stage that finds one place decides. If a stage finds several places, the place nearest to `near_line` is chosen;
//! without `near_line` the result is that the request is ambiguous. The order of the places never decides.
//!
//! All stages are linear in the file, except for the close comparison of a few places in the last stage, which has a
//! budget.

mod corrected;
mod doubt;
mod elision;
mod exact;
mod fuzzy;
mod not_found;
mod patch;
mod search;
mod whitespace;

use semdex_model::{Code, Error, Result, Span, Strategy};

pub use crate::merge::Conflict;
use crate::tokens::is_word;
pub use elision::added_elision;
pub use not_found::{nearest, stands_in};
pub use patch::{Fitted, Patch, Replaced, apply, apply_all, patch, whole};
pub(crate) use search::without_bom;
pub use search::{Hit, Outcome, Search};
use search::{decide, is_blank, region, trimmed};

/// Finds the place that a search text means.
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

    let fits = |span: Span| !search.whole_lines || is_whole_lines(search.text, region.outer(span));
    // A search text with whole lines means whole words. So does one with several words, if a similar place with whole
    // words exists.
    let of_lines = context.contains('\n') || context.starts_with(char::is_whitespace);
    let of_words = of_lines || context.contains(char::is_whitespace);
    let whole_words =
        |span: &Span| !of_words || !(cuts_word(region.text, span.start) || cuts_word(region.text, span.end));
    let exact = exact::find(region.text, context).into_iter();
    let exact = exact.filter(|&span| fits(span) && !glues_lines(search, region.outer(span)));
    let (exact, cut): (Vec<Span>, Vec<Span>) = exact.partition(whole_words);
    let exact: Vec<Span> = exact.into_iter().map(|span| region.outer(span)).collect();
    // A match that begins inside an indentation: the file's lines are deeper than the search text's.
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
    if let Some((hit, reason)) = loose.refused.filter(|it| fits(it.0.span)) {
        let nearest = Some(Hit { span: region.outer(hit.span), ..hit });
        return Ok(Outcome::NotFound { nearest, reason: reason.to_owned() });
    }
    let is_cut = !of_lines && !cut.is_empty();
    if !is_cut {
        elision::refuse_in_similar(context)?;
    }
    Ok(match fuzzy::find(search, &region, context) {
        Outcome::NotFound { .. } if is_cut => {
            let span = |span| with_whole_words(search, region.outer(span), context);
            let hit = |it| Hit { span: span(it), score: 100.0, strategy: Strategy::Exact };
            decide(search, cut.into_iter().map(hit).collect())
        }
        outcome => outcome,
    })
}

/// Whether a blank first line of the search text would be the end of a line with words, which what follows would join.
fn glues_lines(search: &Search, span: Span) -> bool {
    let found = &search.text[span.start..span.end];
    let head = &found[..found.len() - found.trim_start().len()];
    let mut follows = [search.replacement, &search.text[span.end..]].into_iter().flat_map(str::chars);
    let joins = follows.find(|it| *it == '\n' || !it.is_whitespace()).is_some_and(|it| it != '\n');
    head.contains('\n') && !is_blank(line_before(search.text, span.start)) && joins
}

/// A place with the whole of its first and last word, where the replacement has the whole word for the part in the
/// search text.
fn with_whole_words(search: &Search, span: Span, context: &str) -> Span {
    let head = |text: &'_ str| text.len() - text.trim_start_matches(is_word).len();
    let tail = |text: &'_ str| text.len() - text.trim_end_matches(is_word).len();
    let new = search.replacement;
    let (before, after) = (tail(&search.text[..span.start]), head(&search.text[span.end..]));
    let first = &search.text[span.start - before..span.start + head(context)];
    let last = &search.text[span.end - tail(context)..span.end + after];
    let is_first = head(context) > 0 && &new[..head(new)] == first;
    let is_last = tail(context) > 0 && &new[new.len() - tail(new)..] == last;
    Span::new(span.start - if is_first { before } else { 0 }, span.end + if is_last { after } else { 0 })
}

fn cuts_word(text: &str, at: usize) -> bool {
    text[..at].ends_with(is_word) && text[at..].starts_with(is_word)
}

/// Whether an offset is inside an indentation, not at its start.
fn cuts_indentation(text: &str, at: usize) -> bool {
    let before = line_before(text, at);
    !before.is_empty() && is_blank(before) && text[at..].starts_with([' ', '\t'])
}

/// The text before an offset on its line. A byte order mark at the start of the text belongs to no line; elsewhere it
/// is an ordinary character.
fn line_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    match before.rsplit_once('\n') {
        Some((_, line)) => line,
        None => without_bom(before),
    }
}

/// Whether only white space is before the place on its first line and after it on its last line.
fn is_whole_lines(text: &str, span: Span) -> bool {
    let after = text[span.end..].split('\n').next().unwrap_or_default();
    is_blank(line_before(text, span.start)) && (text[..span.end].ends_with('\n') || is_blank(after))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
