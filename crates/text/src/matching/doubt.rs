//! Why a similar place is not the intended place: one ordered list of reasons. A search text may be misspelt, and
//! the place may have been changed by somebody else; but it is never a neighbour of the place.

use rustc_hash::FxHashSet;

use super::search::Search;
use crate::merge::indentation::{indent_of, indentation_before, width, with_indentation};
use crate::merge::{digits, is_slip};
use crate::score::{collapse, score};
use crate::tokens::{Change, Tokens, changes, is_word, kept};
use crate::words::occurrences;
use semdex_model::Span;

pub(super) const OTHER_INDENTATION: &str = "the same words are there, but indentation has a meaning in them and differs: send \
                                            the lines with the indentation that the file has";
const OTHER_NAME: &str = "it declares another name";
const OTHER_NUMBER: &str = "it has another number";
const OTHER_WORDS: &str = "several of its words are quite different";
const OTHER_EDGE: &str = "its first or last line is not the one that was searched, so that its extent is doubtful";

/// The keyword before a declared name, in various languages.
const DECLARING: [&str; 15] = [
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "mod",
    "const",
    "static",
    "type",
    "macro_rules",
    "func",
    "interface",
    "def",
    "class",
    "function",
];

/// The first reason against a similar place.
pub(super) fn doubt(search: &Search, span: Span, context: &str) -> Option<String> {
    let (asked, there) = (Tokens::new(context), Tokens::new(&search.text[span.start..span.end]));
    let changes = changes(&asked, &there);
    let named = |reason: &str| Some(reason.to_owned());
    let pairs: Vec<(usize, usize)> = changes.iter().flat_map(counterparts).collect();
    let differing = || pairs.iter().map(|&(a, b)| (a, asked.get(a), there.get(b))).filter(|it| it.1 != it.2);
    let declares = |at: usize| at > 0 && DECLARING.contains(&asked.get(at - 1)) && is_name(asked.get(at));
    let is_other = |(at, a, b): (usize, &str, &str)| {
        declares(at) && !is_slip(a, b) || differs_in_label(a, b) && names_place(&asked, at, declares)
    };
    if differing().any(|it| (is_name(it.1) || is_name(it.2)) && is_other(it)) {
        return named(OTHER_NAME);
    }
    let is_number = |it: &str| it.starts_with(|it: char| it.is_ascii_digit());
    if differing().any(|(_, a, b)| (is_number(a) || is_number(b)) && digits(a).ne(digits(b))) {
        return named(OTHER_NUMBER);
    }
    let is_alike = |a: &str, b: &str| extends(a, b) || strsim::osa_distance(a, b) <= 1;
    let foreign = |(_, a, b): &(usize, &str, &str)| is_name(a) && is_name(b) && !is_alike(a, b);
    let mut others: Vec<(&str, &str)> = differing().filter(foreign).map(|it| (it.1, it.2)).collect();
    others.sort_unstable();
    others.dedup();
    if others.len() > 1 {
        return named(OTHER_WORDS);
    }
    if loses_edge(&asked, &there, &changes)
        || cuts_line(search.text, span, &asked, &there, &changes)
        || has_blank_edge(search.text, span, context)
    {
        return named(OTHER_EDGE);
    }
    let kept = kept(&changes, asked.len());
    let lines = same_lines(search.text, span, &asked, &there, |at| kept[at]);
    if indentation_differs(&lines, search.text, span) {
        return named(OTHER_INDENTATION);
    }
    absent_name(search, span, context)
}

/// Whether a word names the place: it is declared, or is in a line that encloses the next one or is the only one, and
/// that declares nothing.
fn names_place(asked: &Tokens, at: usize, declares: impl Fn(usize) -> bool) -> bool {
    let start = (0..=at).rfind(|&it| asked.begins_line(it)).unwrap_or(0);
    let end = (at + 1..asked.len()).find(|&it| asked.begins_line(it)).unwrap_or(asked.len());
    let indent = |at: usize| width(indent_of(asked.gap(at)));
    let is_head = end - start == asked.len() || end < asked.len() && indent(end) > indent(start);
    declares(at) || is_head && !(start..end).any(declares)
}

/// Whether two words differ in a number or in a single letter that is a part of its own, as the names of neighbours do:
/// `handle_a` and `handle_b`, `userA` and `userB`, `tab1` and `tab2`.
fn differs_in_label(a: &str, b: &str) -> bool {
    if digits(a).ne(digits(b)) {
        return true;
    }
    let [a, b] = [a, b].map(|it| it.chars().collect::<Vec<char>>());
    let differing: Vec<usize> = (0..a.len().min(b.len())).filter(|&at| a[at] != b[at]).collect();
    let is_part = |word: &[char], at: usize| {
        let begins =
            at == 0 || !word[at - 1].is_alphanumeric() || word[at].is_uppercase() && word[at - 1].is_lowercase();
        let ends = word.get(at + 1).is_none_or(|it| !it.is_alphanumeric() || it.is_uppercase());
        begins && ends
    };
    a.len() == b.len() && matches!(differing[..], [at] if is_part(&a, at) && is_part(&b, at))
}

/// Whether one word is the other with something before or after it.
fn extends(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) || long.ends_with(short)
}

/// The tokens of a replaced part side by side, if there are as many of them.
fn counterparts(change: &Change) -> impl Iterator<Item = (usize, usize)> {
    let as_many = change.old.len() == change.new.len();
    change.old.clone().zip(change.new.clone()).filter(move |_| as_many)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|it: char| is_word(it) && !it.is_ascii_digit())
}

/// Whether the whole first or last line of the search text is absent, although it has words.
fn loses_edge(asked: &Tokens, there: &Tokens, changes: &[Change]) -> bool {
    let line_end = (1..asked.len()).find(|&at| asked.begins_line(at)).unwrap_or(asked.len());
    let line_start = (1..asked.len()).rfind(|&at| asked.begins_line(at)).unwrap_or(0);
    let has_words = |mut tokens: std::ops::Range<usize>| tokens.any(|at| asked.get(at).starts_with(is_word));
    let several = line_end < asked.len();
    let is_lost = |lines: std::ops::Range<usize>| {
        let covers = |it: &&Change| it.old.start <= lines.start && lines.end <= it.old.end;
        let gone = |it: &Change| score(&text(asked, it.old.clone()), &text(there, it.new.clone())) < 50.0;
        has_words(lines.clone()) && changes.iter().find(covers).is_some_and(gone)
    };
    several && (is_lost(0..line_end) || is_lost(line_start..asked.len()))
}

/// Whether the line goes on before or after the place, where the search text has something else at this edge.
fn cuts_line(text: &str, span: Span, asked: &Tokens, there: &Tokens, changes: &[Change]) -> bool {
    let before = text[..span.start].rsplit('\n').next().unwrap_or_default();
    let after = text[span.end..].split('\n').next().unwrap_or_default();
    let slips = |it: &Change| {
        let mut pairs = counterparts(it).peekable();
        pairs.peek().is_some() && pairs.all(|(a, b)| is_slip(asked.get(a), there.get(b)))
    };
    let first = changes.first().is_some_and(|it| it.old.start == 0 && !slips(it));
    let last = changes.last().is_some_and(|it| it.old.end == asked.len() && !slips(it));
    (first && !before.trim().is_empty()) || (last && !after.trim().is_empty())
}

/// Whether the search text begins or ends with blank lines where the file has a text: with an indentation alone, or
/// with more of them than the file has before or after a bracket.
fn has_blank_edge(text: &str, span: Span, context: &str) -> bool {
    let is_bracket = |line: &str| !line.trim().is_empty() && line.trim().chars().all(|it| "()[]{};,".contains(it));
    let is_lost = |line: Option<&str>| line.is_some_and(|it| !it.is_empty() && it.trim().is_empty());
    const MOST: usize = 8;
    let above: Vec<&str> = text[..span.start].rsplit('\n').skip(1).take(MOST).collect();
    let below: Vec<&str> = text[span.end..].split('\n').skip(1).take(MOST).collect();
    let words = context.trim();
    let start = context.len() - context.trim_start().len();
    let blank_above = context[..start].matches('\n').count();
    let blank_below = context[start + words.len()..].matches('\n').count().saturating_sub(1);
    let has_text = |lines: &[&str]| lines.first().is_some_and(|it| !it.trim().is_empty());
    let last = context.strip_suffix('\n').unwrap_or(context).rsplit_once('\n').map(|it| it.1);
    is_lost(context.split_once('\n').map(|it| it.0)) && has_text(&above)
        || is_lost(last) && has_text(&below)
        || above.iter().take(blank_above).chain(below.iter().take(blank_below)).any(|it| is_bracket(it))
}

fn text(tokens: &Tokens, range: std::ops::Range<usize>) -> String {
    tokens.slice(range).collect::<Vec<_>>().join(" ")
}

/// The indentation widths of lines that both texts begin with the same token, in columns; the first line of the search
/// text only if it is the only one, since it may have lost its indentation.
pub(super) fn same_lines(
    text: &str,
    span: Span,
    asked: &Tokens,
    there: &Tokens,
    kept: impl Fn(usize) -> Option<usize>,
) -> Vec<(usize, usize)> {
    let begins = indentation_before(text, span.start);
    let indent = |gap: &str| width(indent_of(gap));
    let pair = |at: usize| {
        let other = kept(at).filter(|&other| if other == 0 { begins.is_some() } else { there.begins_line(other) })?;
        let own = if other == 0 { width(begins.unwrap_or_default()) } else { indent(there.gap(other)) };
        asked.begins_line(at).then(|| (at, (indent(asked.gap(at)), own)))
    };
    let mut pairs: Vec<(usize, (usize, usize))> = (0..asked.len()).filter_map(pair).collect();
    if pairs.len() > 1 && pairs[0].0 == 0 && pairs[0].1.0 == 0 {
        pairs.remove(0);
    }
    pairs.into_iter().map(|it| it.1).collect()
}

/// Where a line that ends with a colon opens a deeper block (Python, YAML), indentation is structure. It may be shifted
/// as a whole, but the order of depths must stay the same.
pub(super) fn indentation_differs(pairs: &[(usize, usize)], text: &str, span: Span) -> bool {
    if !opens_by_indentation(with_indentation(text, span)) {
        return false;
    }
    let mut widths = pairs.to_vec();
    widths.sort_unstable();
    widths.dedup();
    widths.windows(2).any(|two| two[0].0 == two[1].0 || two[0].1 >= two[1].1)
}

fn opens_by_indentation(lines: &str) -> bool {
    let mut lines = lines.lines().filter(|line| !line.trim().is_empty()).peekable();
    while let Some(line) = lines.next() {
        let opener = line.trim();
        let indent = |line: &str| width(&line[..line.len() - line.trim_start().len()]);
        // Labels in a switch of Go and C also end with a colon, but are inside braces.
        let is_case = opener.starts_with("case ") || opener.starts_with("default");
        if opener.ends_with(':') && !is_case && lines.peek().is_some_and(|next| indent(next) > indent(line)) {
            return true;
        }
    }
    false
}

/// A name of the search text that the place does not have, but a few other lines do, each at least as similar to the
/// searched line as the place's lines are. Then one of those may be meant.
fn absent_name(search: &Search, span: Span, context: &str) -> Option<String> {
    const RARE: usize = 8;
    const MOST_NAMES: usize = 16;
    let place = &search.text[span.start..span.end];
    let there: FxHashSet<&str> = place.split(|it| !is_word(it)).collect();
    let mut absent: Vec<(&str, &str)> = Vec::new();
    for line in context.lines() {
        absent.extend(
            line.split(|it| !is_word(it)).filter(|it| is_identifier(it) && !there.contains(it)).map(|it| (it, line)),
        );
    }
    absent.sort_unstable();
    absent.dedup_by_key(|it| it.0);
    absent.truncate(MOST_NAMES);
    let line_at = |at: usize| {
        let start = search.text[..at].rfind('\n').map_or(0, |it| it + 1);
        search.text[start..].lines().next().unwrap_or_default()
    };
    let is_meant = |&(name, line): &(&str, &str)| {
        let found: Vec<usize> = occurrences(search.text, name).take(RARE + 1).collect();
        let here = place.lines().map(|it| score(line, it)).fold(0.0, f64::max);
        found.len() <= RARE && found.iter().any(|&at| score(line, line_at(at)) >= here)
    };
    let (name, _) = absent.into_iter().find(is_meant)?;
    Some(format!("`{name}` is missing in it, and the file has it elsewhere"))
}

/// Whether a word looks like an identifier rather than a word of a language: `read_line`, `readLine`, `line2`.
fn is_identifier(word: &str) -> bool {
    let mixed = word.contains('_') || word.chars().skip(1).any(|character| !character.is_lowercase());
    mixed && !word.starts_with(char::is_numeric)
}

/// Whether the replacement is in the file already, and not only as a part of the place.
pub(super) fn is_there_already(search: &Search, span: Span) -> bool {
    /// A shorter replacement may occur in many places.
    const TELLING: usize = 40;
    let replacement = collapse(search.replacement);
    replacement.len() >= TELLING
        && memchr::memmem::find_iter(search.text.as_bytes(), search.replacement.trim().as_bytes())
            .any(|at| !(span.start <= at && at + search.replacement.trim().len() <= span.end))
}
