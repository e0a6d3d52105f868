//! Where a search text is in a file, and what a replacement changes there.
//!
//! Three stages, from strict to loose: exact; equal except for white space; a score of at least `autofix`. The first
//! stage that finds one place decides. If a stage finds several places, the place nearest to `near_line` is chosen;
//! without `near_line` the result is that the request is ambiguous. The order of the places never decides.
//!
//! All stages are linear in the file, except for the close comparison of a few places in the last stage, which has a
//! budget.

mod elision;
mod exact;
mod fuzzy;
mod indentation;
mod indentation_map;
mod kept_lines;
mod line_pairs;
mod literals;
mod not_found;
mod patch;
mod search;
mod whitespace;
mod written_at_margin;

use semdex_model::{Code, Error, Result, Span, Strategy};

pub use elision::refuse_in_replacement as refuse_elisions;
pub use not_found::{already_applied, nearest, stands_in};
pub use patch::{Patch, Replaced, apply, apply_all, patch, whole};
pub use search::{Hit, Outcome, Search};
use search::{decide, is_blank, region, trimmed, without_bom};

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
    elision::refuse(context, search.text)?;

    let fits = |span: Span| !search.whole_lines || is_whole_lines(search.text, region.outer(span));
    // A search text with whole lines means whole words. So does one with several words, if a similar place with whole
    // words exists.
    let of_lines = context.contains('\n') || context.starts_with(char::is_whitespace);
    let of_words = of_lines || context.contains(char::is_whitespace);
    let whole_words =
        |span: &Span| !of_words || !(cuts_word(region.text, span.start) || cuts_word(region.text, span.end));
    let exact = exact::find(region.text, context).into_iter().filter(|&span| fits(span));
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
    if let Some(refused) = loose.refused.filter(|it| fits(it.hit.span)) {
        let nearest = Some(Hit { span: region.outer(refused.hit.span), ..refused.hit });
        return Ok(Outcome::NotFound { nearest, reason: refused.reason.to_owned() });
    }
    match fuzzy::find(search, &region, context) {
        Outcome::NotFound { .. } if !of_lines && !cut.is_empty() => {
            let hit = |span| Hit { span: region.outer(span), score: 100.0, strategy: Strategy::Exact };
            Ok(decide(search, cut.into_iter().map(hit).collect()))
        }
        Outcome::Found(hit) => {
            elision::refuse_in_search(context, search.text, hit.span)?;
            match doubt(search, &hit, context) {
                Some(why) => {
                    let reason = not_found::reason(search, &hit, why);
                    Ok(Outcome::NotFound { nearest: Some(hit), reason })
                }
                None => Ok(Outcome::Found(hit)),
            }
        }
        Outcome::NotFound { nearest: Some(hit), reason } => {
            elision::refuse_in_search(context, search.text, hit.span)?;
            Ok(Outcome::NotFound { nearest: Some(hit), reason })
        }
        outcome => Ok(outcome),
    }
}

fn cuts_word(text: &str, at: usize) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
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

const ELIDED: &str = "the search text has a line that reads like an elision, and the other lines differ";
const OTHER_BRACKET: &str = "its first or last line is a bracket, and the search text has it where the file has the bracket beside it, so \
                             that it is not clear where the place ends";
const LOST_EDGE: &str = "its first or last line is blank in the search text but not in the file, so that it is not clear where \
                         the place ends";

/// Why a place does not match although it is similar and the only one.
fn doubt(search: &Search, hit: &Hit, context: &str) -> Option<&'static str> {
    if !elision::may_be_alike(context, hit) {
        Some(ELIDED)
    } else if whitespace::indentation_differs_in_meaning(search.text, hit.span, context) {
        Some(whitespace::OTHER_INDENTATION)
    } else if loses_edge(search, hit.span, context) {
        Some(LOST_EDGE)
    } else {
        takes_other_bracket(search.text, hit.span, context).then_some(OTHER_BRACKET)
    }
}

/// Whether the search text begins or ends with a single bracket at the depth of the bracket next to the place, not at
/// the depth of the place's own bracket, although the depths of other lines agree.
fn takes_other_bracket(text: &str, span: Span, context: &str) -> bool {
    let has_line = |line: &&str| !is_blank(line);
    let asked: Vec<&str> = context.lines().filter(has_line).collect();
    let place = indentation::with_indentation(text, span);
    let is_other = |[asked, inner, there, beside]: [Option<&str>; 4]| {
        let (Some(asked), Some(there), Some(beside)) = (asked, there, beside) else { return false };
        let [of_asked, of_there, of_beside] = [asked, there, beside].map(indentation::indent);
        let is_one = [asked, there, beside].into_iter().all(is_bracket) && !inner.is_some_and(is_bracket);
        is_one && of_asked != of_there && of_asked == of_beside
    };
    let mut lines = asked.iter().copied();
    let first = [lines.next(), lines.next(), place.lines().find(has_line)];
    let mut lines = asked.iter().rev().copied();
    let last = [lines.next(), lines.next(), place.lines().rfind(has_line)];
    let above = text[..span.start].rsplit('\n').skip(1).find(has_line);
    let below = text[span.end..].split('\n').skip(1).find(has_line);
    (is_other([first[0], first[1], first[2], above]) || is_other([last[0], last[1], last[2], below]))
        && line_pairs::indentation_pairs(text, span, context).iter().any(|it| it.asked == it.there)
}

/// Whether the search text begins or ends with an indentation without text where the file has text, or with a blank
/// line where the file has a bracket. Then a line may have been left out, and the edit would duplicate it.
fn loses_edge(search: &Search, span: Span, context: &str) -> bool {
    let text = search.text;
    let is_lost = |line: Option<&str>| line.is_some_and(|it| !it.is_empty() && is_blank(it));
    let has_more = |line: Option<&str>| line.is_some_and(|it| !is_blank(it));
    let is_bracket = |line: Option<&str>| line.is_some_and(is_bracket);
    let brackets = |text: &str| text.lines().filter(|line| is_bracket(Some(line))).count();
    let above = text[..span.start].rsplit('\n').skip(1);
    let below = text[span.end..].split('\n').skip(1);
    let last = context.strip_suffix('\n').unwrap_or(context).rsplit_once('\n').map(|it| it.1);
    let words = context.trim();
    let start = words.as_ptr() as usize - context.as_ptr() as usize;
    let blank_above = context[..start].matches('\n').count();
    // The end of the last line, unless the replacement has a bracket there without a line end.
    let has_bracket = !search.replacement.ends_with('\n') && is_bracket(search.replacement.lines().next_back());
    let ends = usize::from(!has_bracket);
    let blank_below = context[start + words.len()..].matches('\n').count().saturating_sub(ends);
    is_lost(context.split_once('\n').map(|it| it.0)) && has_more(above.clone().next())
        || is_lost(last) && has_more(below.clone().next())
        || blank_above + blank_below > 0 && brackets(&text[span.start..span.end]) > brackets(words)
        || above.take(blank_above).any(|it| is_bracket(Some(it)))
        || below.take(blank_below).any(|it| is_bracket(Some(it)))
}

fn is_bracket(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.chars().all(|it| "()[]{};,".contains(it))
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
