//! Which line of a search text is which line of the place that it matches.

use similar::DiffOp;

use super::indentation::{indent, indentation_before, with_indentation};
use crate::{diff, score};
use semdex_model::Span;

/// The indentation of a line of the search text, and of the line that corresponds to it in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndentationPair<'a> {
    pub asked: &'a str,
    pub there: &'a str,
    /// It is the first line of the search text, which may have lost its indentation.
    pub first: bool,
}

/// The pairs in order; the first line only if it begins a line of the file. A line that begins with a different sign
/// than the file's line is no evidence of its depth: where a sign is missing or added, its blanks remain. If no line is
/// evidence, except perhaps the first one, which may have lost its indentation, all lines count.
pub(super) fn indentation_pairs<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<IndentationPair<'a>> {
    let pairs = line_pairs(text, span, context);
    let begins_alike = |(asked, there): &&(&str, &str)| {
        let [asked, there] = [asked, there].map(|it| it.trim().chars().next());
        asked == there || [asked, there].iter().all(|it| it.is_some_and(char::is_alphanumeric))
    };
    let alike: Vec<&(&str, &str)> = pairs.iter().filter(begins_alike).collect();
    let first_line = context.lines().find(|line| !line.trim().is_empty()).map(str::as_ptr);
    let is_first = |asked: &str| Some(asked.as_ptr()) == first_line;
    let tells = alike.iter().any(|(asked, _)| !is_first(asked) || !indent(asked).is_empty());
    let counting = if tells { alike } else { pairs.iter().collect() };
    let indentations = |(asked, there): &(&'a str, &'a str)| IndentationPair {
        asked: indent(asked),
        there: indent(there),
        first: is_first(asked),
    };
    counting.into_iter().map(indentations).collect()
}

/// Which line of a search text is which line of the place.
fn line_pairs<'a>(text: &'a str, span: Span, context: &'a str) -> Vec<(&'a str, &'a str)> {
    let asked: Vec<&str> = context.lines().filter(|line| !line.trim().is_empty()).collect();
    let there: Vec<&str> = with_indentation(text, span).lines().filter(|line| !line.trim().is_empty()).collect();
    let squeezed =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.split_whitespace().collect()).collect() };
    let begins_line = indentation_before(text, span.start).is_some();
    if let Some(same) = same_starts(&squeezed(&asked), &squeezed(&there)) {
        let same = same.into_iter().filter(|(_, of_there)| *of_there > 0 || begins_line);
        return same.map(|(a, b)| (asked[a], there[b])).collect();
    }
    // Line by line: otherwise a misspelt line would pair a bracket with a different bracket.
    if are_alike_line_by_line(&squeezed(&asked), &squeezed(&there)) {
        return asked.into_iter().zip(there).skip(usize::from(!begins_line)).collect();
    }
    let is_reliable = is_reliable_pair(&asked, &there);
    let mut pairs = Vec::new();
    for op in diff::of_lines(&squeezed(&asked), &squeezed(&there)) {
        let (old_index, new_index, len) = match op {
            DiffOp::Equal { old_index, new_index, len } => (old_index, new_index, len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
                (old_index, new_index, old_len)
            }
            _ => continue,
        };
        let lines = asked[old_index..].iter().copied().zip(there[new_index..].iter().copied()).take(len);
        pairs.extend(lines.skip(usize::from(new_index == 0 && !begins_line)).filter(|(a, b)| is_reliable(a, b)));
    }
    pairs
}

/// Whether two lines that a comparison has paired are the same line. Lines that are only brackets count if both texts
/// have the same number of them and the same number of lines, or if there is exactly one such line.
pub(super) fn is_reliable_pair<T: AsRef<str>>(asked: &[T], there: &[T]) -> impl Fn(&str, &str) -> bool {
    let is_bracket = |line: &str| !line.contains(|it: char| it.is_alphanumeric() || !it.is_ascii());
    let [of_asked, of_there] = [asked, there].map(|it| it.iter().filter(|it| is_bracket(it.as_ref())).count());
    let as_many_lines = asked.len() == there.len();
    let is_only = move |line: &str| there.iter().filter(|it| it.as_ref().trim() == line.trim()).count() == 1;
    move |a, b| !(is_bracket(a) && is_bracket(b)) || (of_asked == of_there && (as_many_lines || is_only(b)))
}

/// Whether two texts have the same number of lines, each with words that may be misspelt forms of the other's.
pub(super) fn are_alike_line_by_line(asked: &[String], there: &[String]) -> bool {
    /// Below this score a line is a different line.
    const ALIKE: f64 = 60.0;
    let has_words = |line: &str| line.chars().filter(|it| it.is_alphanumeric()).nth(1).is_some();
    let is_same = |(a, b): (&String, &String)| a == b || !has_words(a) || score::score(a, b) >= ALIKE;
    asked.len() == there.len() && asked.iter().zip(there).all(is_same)
}

/// Which lines of two texts begin with the same character, if the texts are equal except for white space.
pub(super) fn same_starts(a: &[String], b: &[String]) -> Option<Vec<(usize, usize)>> {
    let starts = |lines: &[String]| -> Vec<usize> {
        let mut end = 0;
        let start = |line: &String| {
            end += line.len();
            end - line.len()
        };
        lines.iter().map(start).collect()
    };
    if a.concat() != b.concat() {
        return None;
    }
    let (a, b) = (starts(a), starts(b));
    Some(a.iter().enumerate().filter_map(|(at, start)| Some((at, b.binary_search(start).ok()?))).collect())
}
