//! The explanation when no place matches: the nearest text, the differences from it, and whether the change was already
//! made.

use similar::DiffOp;

use super::search::{Hit, Search, without_bom};
use super::{exact, whitespace};
use crate::diff;
use crate::lines::LineIndex;
use crate::merge::indentation;
use crate::score::collapse;
use crate::words::words;
use semdex_model::{Nearest, Span};

/// Further differences are counted, not listed.
const MOST_LISTED: usize = 3;
const LONGEST_QUOTE: usize = 160;

/// The nearest text with its place and a diff from the search text to it.
pub fn nearest(text: &str, file: &str, context: &str, hit: &Hit) -> Nearest {
    let place = LineIndex::new(text).place(file, hit.span);
    let there = indentation::with_indentation(text, hit.span).replace("\r\n", "\n");
    let asked = without_bom(context).replace("\r\n", "\n");
    let diff = diff::between("search_context", asked.trim_end(), file, &there);
    Nearest { place, score: hit.score, text: text[hit.span.start..hit.span.end].to_owned(), diff }
}

/// Where a text occurs, except for white space, if it is long enough to be distinctive.
pub fn stands_in(text: &str, asked: &str) -> Option<Span> {
    let asked = without_bom(asked).trim();
    // A bracket or a single word occurs in every file.
    let mut words: Vec<&str> = words(asked).map(|(_, word)| word).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let longest = words.get(1).and(words.first())?;
    memchr::memmem::find(text.as_bytes(), longest.as_bytes())?;
    let exact = exact::find(text, asked).into_iter().next();
    exact.or_else(|| whitespace::find(text, asked).hits.first().map(|hit| hit.span))
}

/// Why the nearest place did not match, and the differences line by line.
pub(super) fn reason(search: &Search, hit: &Hit, why: &str) -> String {
    let lines = LineIndex::new(search.text);
    let place = lines.place("", hit.span);
    let at = if place.line == place.end_line {
        format!("line {}", place.line)
    } else {
        format!("lines {} to {}", place.line, place.end_line)
    };
    let differences = differences(search, hit.span, &lines);
    let listed = if differences.is_empty() { "only white space differs".to_owned() } else { first_few(&differences) };
    format!("the nearest text is {at}, {} % alike, and {why}: {listed}", percent(hit.score))
}

/// One decimal, never rounded up to the threshold.
fn percent(score: f64) -> f64 {
    (score * 10.0).floor() / 10.0
}

fn first_few(differences: &[String]) -> String {
    let mut listed = differences.iter().take(MOST_LISTED).cloned().collect::<Vec<String>>().join("; ");
    match differences.len().saturating_sub(MOST_LISTED) {
        0 => {}
        1 => listed.push_str("; and one more line differs"),
        more => listed.push_str(&format!("; and {more} more lines differ")),
    }
    listed
}

/// "line 3 says `foo(a)`, the file has `foo(a, b)` (line 120)".
fn differences(search: &Search, span: Span, lines: &LineIndex) -> Vec<String> {
    let numbered = |text: &'_ str, first: usize| -> (Vec<usize>, Vec<String>) {
        let lines = text.lines().enumerate().map(|(at, line)| (first + at, collapse(line).into_owned()));
        lines.filter(|(_, line)| !line.is_empty()).unzip()
    };
    let (asked_numbers, asked) = numbered(without_bom(search.context), 1);
    let (numbers, there) = numbered(&search.text[span.start..span.end], lines.line(span.start));
    let mut differences = Vec::new();
    for op in diff::of_lines(&asked, &there) {
        let (old, new) = match op {
            DiffOp::Equal { .. } => continue,
            _ => (op.old_range(), op.new_range()),
        };
        let replaced = old.len().min(new.len());
        for (old, new) in old.clone().zip(new.clone()) {
            differences.push(format!(
                "line {} says {}, the file has {} (line {})",
                asked_numbers[old],
                quote(&asked[old]),
                quote(&there[new]),
                numbers[new]
            ));
        }
        for old in old.skip(replaced) {
            differences.push(format!(
                "line {} says {}, which the file does not have there",
                asked_numbers[old],
                quote(&asked[old])
            ));
        }
        for new in new.skip(replaced) {
            differences.push(format!("the file has {} besides (line {})", quote(&there[new]), numbers[new]));
        }
    }
    differences
}

fn quote(line: &str) -> String {
    if line.chars().count() <= LONGEST_QUOTE {
        return format!("`{line}`");
    }
    let start: String = line.chars().take(LONGEST_QUOTE).collect();
    format!("`{start}…`")
}
