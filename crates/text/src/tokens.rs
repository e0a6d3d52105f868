//! A text as a sequence of words and signs with the white space between them, and how two such sequences differ.

use std::ops::Range;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// After this time a comparison becomes coarser: larger parts count as replaced.
const PATIENCE: Duration = Duration::from_millis(200);
/// Two changed parts with more pairs of tokens are not compared token by token.
const MOST_PAIRS: usize = 4_000_000;

/// A token is a word (letters, digits, underscores), a run of one sign (`::`, `//`, `--`), or one bracket. Blanks that
/// are invisible in a text and have a meaning of their own (no-break, zero-width, ideographic) are signs.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    spans: Vec<Range<usize>>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Tokens<'a> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut before = ' ';
        for (at, character) in text.char_indices() {
            let end = at + character.len_utf8();
            let continues = continues(before, character);
            before = character;
            match spans.last_mut() {
                _ if is_gap(character) => {}
                Some(last) if continues => last.end = end,
                _ => spans.push(at..end),
            }
        }
        Tokens { text, spans }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn get(&self, at: usize) -> &'a str {
        &self.text[self.spans[at].clone()]
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator {
        range.map(|at| self.get(at))
    }

    /// Where a token begins. After the last one, the end of the text.
    pub(crate) fn start(&self, at: usize) -> usize {
        self.spans.get(at).map_or(self.text.len(), |it| it.start)
    }

    /// The first token that begins at an offset or behind it.
    pub(crate) fn at_or_after(&self, offset: usize) -> usize {
        self.spans.partition_point(|it| it.start < offset)
    }

    /// Where the token before this one ends. Before the first one, the start of the text.
    pub(crate) fn end_before(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.spans[before].end)
    }

    /// The white space before a token, or after the last one.
    pub(crate) fn gap(&self, at: usize) -> &'a str {
        &self.text[self.end_before(at)..self.start(at)]
    }

    /// Whether a token is the first one of its line.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.gap(at).contains('\n')
    }

    /// Whether tokens of a range are on several lines.
    pub(crate) fn has_line_end(&self, range: &Range<usize>) -> bool {
        range.clone().skip(1).any(|at| self.begins_line(at))
    }

    /// The tokens of each line that has any.
    fn lines(&self) -> Vec<Range<usize>> {
        let mut lines: Vec<Range<usize>> = Vec::new();
        for at in 0..self.len() {
            match lines.last_mut() {
                Some(last) if !self.begins_line(at) => last.end = at + 1,
                _ => lines.push(at..at + 1),
            }
        }
        lines
    }
}

/// Whether two characters side by side belong to one token.
fn continues(before: char, character: char) -> bool {
    match (is_word(before), is_word(character)) {
        (true, true) => true,
        (false, false) => before == character && !is_gap(character) && !"()[]{}<>".contains(character),
        _ => false,
    }
}

/// Whether a character is between tokens: one that a keyboard has.
fn is_gap(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// Whether an offset is inside a token.
pub(crate) fn cuts_token(text: &str, at: usize) -> bool {
    match (text[..at].chars().next_back(), text[at..].chars().next()) {
        (Some(before), Some(after)) => continues(before, after),
        _ => false,
    }
}

pub(crate) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Tokens of an old text that a new text has replaced, removed or added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// For each token of an old text, its index in the new one if it was kept.
pub(crate) fn kept(changes: &[Change], length: usize) -> Vec<Option<usize>> {
    let mut kept = vec![None; length];
    let mut at = (0, 0);
    for change in changes.iter().chain([&Change { old: length..length, new: 0..0 }]) {
        (at.0..change.old.start).for_each(|old| kept[old] = Some(at.1 + old - at.0));
        at = (change.old.end, change.new.end);
    }
    kept
}

/// The changes from one text to another, in order. White space does not count. Equal lines are anchors (patience diff,
/// Bram Cohen); between them tokens are compared (Myers), and equal tokens that separate larger changes by chance count
/// as changed (semantic cleanup, Neil Fraser).
pub(crate) fn changes(old: &Tokens, new: &Tokens) -> Vec<Change> {
    let deadline = Some(Instant::now() + PATIENCE);
    let mut ids: FxHashMap<Vec<&str>, u32> = FxHashMap::default();
    let (old_lines, new_lines) = (old.lines(), new.lines());
    let lines = old_lines.iter().map(|line| old.slice(line.clone()).collect());
    let lines = lines.chain(new_lines.iter().map(|line| new.slice(line.clone()).collect()));
    let keys: Vec<u32> = lines
        .map(|line: Vec<&str>| {
            let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            *ids.entry(line).or_insert(next)
        })
        .collect();
    let (old_keys, new_keys) = keys.split_at(old_lines.len());
    let has_words = |lines: Range<usize>| {
        old_lines[lines].iter().any(|line| old.slice(line.clone()).any(|token| token.starts_with(is_word)))
    };
    let mut parts: Vec<Change> = Vec::new();
    let mut is_open = false;
    for op in capture_diff_slices_deadline(Algorithm::Patience, old_keys, new_keys, deadline) {
        let (tag, of_old, of_new) = op.as_tag_tuple();
        let is_anchor = tag == DiffTag::Equal && has_words(of_old.clone());
        match parts.last_mut() {
            // A bracket alone is no anchor.
            Some(part) if is_open && !is_anchor => {
                part.old.end = of_old.end;
                part.new.end = of_new.end;
            }
            _ if tag == DiffTag::Equal => {}
            _ => parts.push(Change { old: of_old, new: of_new }),
        }
        is_open = !is_anchor && (tag != DiffTag::Equal || is_open);
    }
    let lines = |it: Change| [tokens_of(&old_lines, it.old), tokens_of(&new_lines, it.new)];
    let changes = parts.into_iter().map(lines).flat_map(|[of_old, of_new]| within(old, of_old, new, of_new, deadline));
    let mut changes: Vec<Change> = changes.collect();
    for at in 0..changes.len() {
        let from = at.checked_sub(1).map_or(0, |it| changes[it].old.end);
        let to = changes.get(at + 1).map_or(old.len(), |it| it.old.start);
        changes[at] = at_line_start(old, new, changes[at].clone(), from..to);
    }
    changes
}

/// Added or removed tokens that may as well be the ones a few places above or below, moved to where they begin a line.
fn at_line_start(old: &Tokens, new: &Tokens, change: Change, between: Range<usize>) -> Change {
    let (tokens, range) = match (change.old.is_empty(), change.new.is_empty()) {
        (true, _) => (new, &change.new),
        (_, true) => (old, &change.old),
        _ => return change,
    };
    let begins =
        |it: &Change| old.begins_line(it.old.start.min(old.len().saturating_sub(1))) && new.begins_line(it.new.start);
    let moved = |it: &Range<usize>, by: isize| it.start.saturating_add_signed(by)..it.end.saturating_add_signed(by);
    let by = |by: isize| Change { old: moved(&change.old, by), new: moved(&change.new, by) };
    let above = (1..=change.old.start - between.start)
        .take_while(|&by| old.get(change.old.start - by) == tokens.get(range.end - by))
        .map(|it| -it.cast_signed());
    let below = (0..between.end - change.old.end)
        .take_while(|&by| old.get(change.old.end + by) == tokens.get(range.start + by))
        .map(|it| it.cast_signed() + 1);
    if begins(&change) { change.clone() } else { above.chain(below).map(by).find(begins).unwrap_or(change.clone()) }
}

/// The tokens of some lines. No lines are an empty range before the tokens of the next line.
fn tokens_of(lines: &[Range<usize>], range: Range<usize>) -> Range<usize> {
    let start = lines.get(range.start).map_or(lines.last().map_or(0, |it| it.end), |it| it.start);
    start..lines[range].last().map_or(start, |it| it.end)
}

fn within(
    old: &Tokens,
    of_old: Range<usize>,
    new: &Tokens,
    of_new: Range<usize>,
    deadline: Option<Instant>,
) -> Vec<Change> {
    if of_old.len().saturating_mul(of_new.len()) > MOST_PAIRS {
        return vec![Change { old: of_old, new: of_new }];
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.slice(of_old.clone()).collect(), new.slice(of_new.clone()).collect());
    let size = |range: Range<usize>| range.map(|at| a[at].len()).sum::<usize>();
    let new_size = |range: Range<usize>| range.map(|at| b[at].len()).sum::<usize>();
    let weight = |it: &Change| size(it.old.clone()).max(new_size(it.new.clone()));
    let mut kept: Vec<Change> = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &a, &b, deadline) {
        let (tag, of_old, of_new) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        let mut change = Change { old: of_old, new: of_new };
        // One of several equal tokens side by side: always the first one, so that two texts agree which one changed.
        while (change.old.len() + change.new.len() == 1)
            && change.old.start > kept.last().map_or(0, |it| it.old.end)
            && a[change.old.start - 1]
                == change.new.clone().next().map_or(a[change.old.start.min(a.len() - 1)], |at| b[at])
        {
            change.old = change.old.start - 1..change.old.end - 1;
            change.new = change.new.start - 1..change.new.end - 1;
        }
        while let Some(before) = kept.pop_if(|before| {
            let equal = size(before.old.end..change.old.start);
            equal <= weight(before) && equal <= weight(&change)
        }) {
            change = Change { old: before.old.start..change.old.end, new: before.new.start..change.new.end };
        }
        kept.push(change);
    }
    let mut pairs = Pairs::of(&kept, a.len(), b.len());
    pairs.drop_signs_of_rewritten_lines(old, of_old.start);
    let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    let outer = |it: Change| Change { old: moved(it.old, of_old.start), new: moved(it.new, of_new.start) };
    pairs.changes().into_iter().map(outer).collect()
}

/// Which token of a part of the new text is which of the old one.
struct Pairs {
    new: Vec<Option<usize>>,
    new_len: usize,
}

impl Pairs {
    fn of(changes: &[Change], old_len: usize, new_len: usize) -> Pairs {
        Pairs { new: kept(changes, old_len), new_len }
    }

    /// A line of which no word is kept is another line, whatever signs both have.
    fn drop_signs_of_rewritten_lines(&mut self, old: &Tokens, start: usize) {
        let mut from = 0;
        for end in 1..=self.new.len() {
            if end < self.new.len() && !old.begins_line(start + end) {
                continue;
            }
            let mut words = (from..end).filter(|&at| old.get(start + at).starts_with(is_word)).peekable();
            if words.peek().is_some() && words.all(|at| self.new[at].is_none()) {
                self.new[from..end].fill(None);
            }
            from = end;
        }
    }

    fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut at = (0, 0);
        for (old, new) in self.new.iter().copied().enumerate().chain([(self.new.len(), Some(self.new_len))]) {
            let Some(new) = new else { continue };
            if (old, new) != at {
                changes.push(Change { old: at.0..old, new: at.1..new });
            }
            at = (old + 1, new + 1);
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(old: &str, new: &str) -> Vec<(String, String)> {
        let (old, new) = (Tokens::new(old), Tokens::new(new));
        let text = |tokens: &Tokens, range: Range<usize>| tokens.slice(range).collect::<Vec<_>>().join(" ");
        changes(&old, &new).into_iter().map(|it| (text(&old, it.old), text(&new, it.new))).collect()
    }

    #[test]
    fn words_and_signs_with_the_gaps_between_them() {
        let tokens = Tokens::new(" a_1+ß\n\t\"x\" ");
        assert_eq!(tokens.slice(0..tokens.len()).collect::<Vec<_>>(), ["a_1", "+", "ß", "\"", "x", "\""]);
        assert_eq!((tokens.gap(0), tokens.gap(1), tokens.gap(3), tokens.gap(6)), (" ", "", "\n\t", " "));
        assert!(tokens.begins_line(3) && !tokens.begins_line(4));
        assert_eq!(Tokens::new("").gap(0), "");
    }

    #[test]
    fn only_tokens_count_and_chance_does_not_split_a_change() {
        assert_eq!(changed("f( a,b )\n", "f(a, c)"), [("b".to_owned(), "c".to_owned())]);
        assert_eq!(changed("a\n\n  b", "a b"), []);
        assert_eq!(changed("x\ny\nz\n", "x\nz\n"), [("y".to_owned(), String::new())]);
        let both = changed("let a = first(one, two);", "if other { third(four); }");
        assert!(both.len() <= 2, "{both:?}");
        let both = changed("f(account: u64, amount: i64)", "f(owner: u64, amount: i32)");
        assert_eq!(both.len(), 2, "{both:?}");
    }
}
