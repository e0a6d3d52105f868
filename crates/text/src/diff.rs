//! Differences between two texts: as a unified diff for people, and as a map of offsets, which compares findings about
//! places before and after a change.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, TextDiff};

use semdex_model::Span;

/// After this time, a diff of texts that have little in common becomes coarser.
const PATIENCE: Duration = Duration::from_millis(500);

/// The change of one file as `git diff` shows it. An absent side means that the file was created or deleted. Empty if
/// nothing changed.
pub fn unified(old: Option<&str>, new: Option<&str>, file: &str) -> String {
    let side = |content: Option<&str>, prefix: &str| match content {
        Some(_) => header(&format!("{prefix}/{file}")).into_owned(),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (side(old, "a"), side(new, "b"));
    let diff = between(&before, old.unwrap_or_default(), &after, new.unwrap_or_default());
    if diff.is_empty() && old.is_some() != new.is_some() {
        return format!("--- {before}\n+++ {after}\n");
    }
    diff
}

/// The change of a file that is moved, as `git diff` shows it. The hunks are missing if the content is the same.
pub fn renamed(old_name: &str, old: &str, new_name: &str, new: &str) -> String {
    let (before, after) =
        (header(&format!("a/{old_name}")).into_owned(), header(&format!("b/{new_name}")).into_owned());
    let (from, to) = (header(old_name), header(new_name));
    let hunks = between(&before, old, &after, new);
    format!("diff --git {before} {after}\nrename from {from}\nrename to {to}\n{hunks}")
}

/// A unified diff between two texts with names of their own.
pub fn between(old_name: &str, old: &str, new_name: &str, new: &str) -> String {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    diff.unified_diff().context_radius(3).header(old_name, new_name).to_string()
}

/// Which lines of two texts correspond.
pub(super) fn of_lines(old: &[String], new: &[String]) -> Vec<DiffOp> {
    similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(Instant::now() + PATIENCE))
}

/// A name that would break a header's line is quoted as git quotes it.
fn header(name: &str) -> Cow<'_, str> {
    if !name.contains(|character: char| character.is_control() || character == '"' || character == '\\') {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if character.is_control() => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// Where the unchanged parts of an old text are in the new one.
///
/// Lines that occur exactly once in both texts anchor the comparison (as in a patience diff). Equal lines around them
/// follow, then the equal beginning and end of what lies between. So the time is linear in the texts, except for the
/// sort of the anchors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetMap {
    /// Equal parts, in the order of the old text.
    kept: Vec<Kept>,
    old_len: usize,
    new_len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    old: usize,
    new: usize,
    len: usize,
}

impl OffsetMap {
    /// Compares two texts by their lines, then by their words.
    pub fn new(old: &str, new: &str) -> OffsetMap {
        let mut map = OffsetMap { kept: Vec::new(), old_len: old.len(), new_len: new.len() };
        let (mut old_at, mut new_at) = (0, 0);
        for anchor in anchors(old, new) {
            // This anchor is already part of an earlier anchor's equal surroundings.
            if anchor.old < old_at || anchor.new < new_at {
                continue;
            }
            map.gap(old, Span::new(old_at, anchor.old), new, Span::new(new_at, anchor.new));
            let len = common_prefix(&old[anchor.old..], &new[anchor.new..]);
            map.keep(anchor.old, anchor.new, len);
            (old_at, new_at) = (anchor.old + len, anchor.new + len);
        }
        map.gap(old, Span::new(old_at, old.len()), new, Span::new(new_at, new.len()));
        map
    }

    /// By whole lines, with as few additions and removals as possible. No part of a changed line has a place in the new
    /// text.
    pub fn of_lines(old: &str, new: &str) -> OffsetMap {
        let [old_lines, new_lines] = [old, new].map(|it| it.split_inclusive('\n').collect::<Vec<_>>());
        let starts = |lines: &[&str]| {
            let ends = lines.iter().scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect::<Vec<usize>>()
        };
        let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
        let mut map = OffsetMap { kept: Vec::new(), old_len: old.len(), new_len: new.len() };
        for op in similar::capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                let start = old_starts[old_index];
                map.keep(start, new_starts[new_index], old_starts[old_index + len] - start);
            }
        }
        map
    }

    /// From parts that the caller found to be equal, each with its start in the new text. The parts may be in another
    /// order; none may overlap another.
    pub fn of_parts(old: &str, new: &str, mut parts: Vec<(Span, usize)>) -> OffsetMap {
        parts.sort_unstable();
        let mut map = OffsetMap { kept: Vec::new(), old_len: old.len(), new_len: new.len() };
        parts.iter().for_each(|(part, start)| map.keep(part.start, *start, part.end - part.start));
        map
    }

    /// Between two equal parts: the common beginning and the common end.
    fn gap(&mut self, old: &str, old_span: Span, new: &str, new_span: Span) {
        let (before, after) = (&old[old_span.start..old_span.end], &new[new_span.start..new_span.end]);
        let prefix = common_prefix(before, after);
        self.keep(old_span.start, new_span.start, prefix);
        let suffix = common_suffix(&before[prefix..], &after[prefix..]);
        self.keep(old_span.end - suffix, new_span.end - suffix, suffix);
    }

    fn keep(&mut self, old: usize, new: usize, len: usize) {
        match self.kept.last_mut() {
            Some(last) if last.old + last.len == old && last.new + last.len == new => last.len += len,
            _ if len > 0 => self.kept.push(Kept { old, new, len }),
            _ => {}
        }
    }

    /// Where the character at an old offset is now, if it is unchanged.
    pub fn offset(&self, old: usize) -> Option<usize> {
        if old == self.old_len {
            return Some(self.new_len);
        }
        let kept = self.kept[..self.kept.partition_point(|kept| kept.old <= old)].last()?;
        (old < kept.old + kept.len).then(|| kept.new + (old - kept.old))
    }

    /// Where a range of the old text is now. Its first and its last character are unchanged; the text between them may
    /// have changed. An empty range follows the character after it.
    pub fn span(&self, old: Span) -> Option<Span> {
        let start = self.offset(old.start)?;
        if old.end <= old.start {
            return Some(Span::new(start, start));
        }
        Some(Span::new(start, self.offset(old.end - 1)? + 1))
    }

    /// Where a range is now, if it lies within one of the equal parts.
    pub fn part(&self, old: Span) -> Option<Span> {
        let kept = self.kept[..self.kept.partition_point(|kept| kept.old <= old.start)].last()?;
        let start = kept.new + (old.start - kept.old);
        (old.end <= kept.old + kept.len).then(|| Span::new(start, start + old.end - old.start))
    }

    /// The map from the new text to the old one.
    pub fn inverse(&self) -> OffsetMap {
        let turned = |it: &Kept| Kept { old: it.new, new: it.old, len: it.len };
        let mut kept: Vec<Kept> = self.kept.iter().map(turned).collect();
        kept.sort_unstable_by_key(|it| it.old);
        OffsetMap { kept, old_len: self.new_len, new_len: self.old_len }
    }

    /// The removed ranges of the old text. A range is empty where text was only inserted.
    pub fn gaps(&self) -> Vec<Span> {
        let mut gaps = Vec::new();
        let (mut old, mut new) = (0, 0);
        let end = Kept { old: self.old_len, new: self.new_len, len: 0 };
        for kept in self.kept.iter().chain([&end]) {
            if (kept.old, kept.new) != (old, new) {
                gaps.push(Span::new(old, kept.old));
            }
            (old, new) = (kept.old + kept.len, kept.new + kept.len);
        }
        gaps
    }

    /// Whether a range is unchanged.
    pub fn is_untouched(&self, old: Span) -> bool {
        self.span(old).is_some_and(|new| {
            let last = self.kept[..self.kept.partition_point(|kept| kept.old <= old.start)].last();
            new.end - new.start == old.end - old.start && last.is_none_or(|kept| old.end <= kept.old + kept.len)
        })
    }
}

/// Starts of lines that occur exactly once in both texts, in an order that both texts share.
fn anchors(old: &str, new: &str) -> Vec<Kept> {
    #[derive(Default)]
    struct Seen {
        old: Option<usize>,
        new: Option<usize>,
        often: bool,
    }
    let prefix = line_prefix(old, new);
    let suffix = line_suffix(&old[prefix..], &new[prefix..]);
    let (old_middle, new_middle) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let mut lines: FxHashMap<&str, Seen> = FxHashMap::default();
    let mut at = prefix;
    for line in old_middle.split_inclusive('\n') {
        let seen = lines.entry(line).or_default();
        seen.often |= seen.old.replace(at).is_some();
        at += line.len();
    }
    let mut pairs = Vec::new();
    let mut at = prefix;
    for line in new_middle.split_inclusive('\n') {
        if let Some(seen) = lines.get_mut(line) {
            seen.often |= seen.new.replace(at).is_some();
        }
        at += line.len();
    }
    for seen in lines.values() {
        if let (Some(old), Some(new), false) = (seen.old, seen.new, seen.often) {
            pairs.push(Kept { old, new, len: 0 });
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.old);
    increasing(&pairs)
}

/// The longest run of pairs that rises on both sides (patience sorting).
fn increasing(pairs: &[Kept]) -> Vec<Kept> {
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|&top| pairs[top].new < pair.new);
        before.push(pile.checked_sub(1).map(|left| tops[left]));
        if pile == tops.len() {
            tops.push(at);
        } else {
            tops[pile] = at;
        }
    }
    let mut chain: Vec<Kept> =
        std::iter::successors(tops.last().copied(), |&at| before[at]).map(|at| pairs[at]).collect();
    chain.reverse();
    chain
}

fn common_prefix(a: &str, b: &str) -> usize {
    let equal = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    (0..=equal).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0)
}

fn common_suffix(a: &str, b: &str) -> usize {
    let equal = a.bytes().rev().zip(b.bytes().rev()).take_while(|(x, y)| x == y).count();
    let fits = |len: usize| a.is_char_boundary(a.len() - len) && b.is_char_boundary(b.len() - len);
    (0..=equal).rev().find(|&len| fits(len)).unwrap_or(0)
}

/// The common end in whole lines.
fn line_suffix(a: &str, b: &str) -> usize {
    let equal = &a[a.len() - common_suffix(a, b)..];
    equal.find('\n').map_or(0, |newline| equal.len() - newline - 1)
}

/// The common beginning in whole lines.
fn line_prefix(a: &str, b: &str) -> usize {
    let equal = common_prefix(a, b);
    memchr::memrchr(b'\n', &a.as_bytes()[..equal]).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_testing::rng::Rng;

    #[test]
    fn gaps_are_what_is_not_kept() {
        let text = |text: &'static str| move |it: Span| &text[it.start..it.end];
        let (old, new) = ("a\nbbb\nc\n", "a\nc\nddd\n");
        let map = OffsetMap::new(old, new);
        assert_eq!(map.gaps().into_iter().map(text(old)).collect::<Vec<_>>(), ["bbb\n", ""]);
        assert_eq!(map.inverse().gaps().into_iter().map(text(new)).collect::<Vec<_>>(), ["", "ddd\n"]);
        assert_eq!(OffsetMap::new(old, old).gaps(), []);
    }

    #[test]
    fn lines_that_stay_keep_their_places() {
        let map = OffsetMap::of_lines("a\nb\nc\n", "a\nnew\nc\nd\n");
        assert_eq!(map.part(Span::new(4, 5)), Some(Span::new(6, 7)));
        assert_eq!(map.part(Span::new(2, 3)), None);
        let back = map.inverse();
        assert_eq!((back.part(Span::new(6, 7)), back.part(Span::new(2, 3))), (Some(Span::new(4, 5)), None));
    }

    #[test]
    fn parts_may_change_places() {
        let (old, new) = ("one two", "two one");
        let map = OffsetMap::of_parts(old, new, vec![(Span::new(4, 7), 0), (Span::new(0, 3), 4)]);
        assert_eq!(map.part(Span::new(1, 3)), Some(Span::new(5, 7)));
        assert_eq!(map.part(Span::new(4, 5)), Some(Span::new(0, 1)));
        assert_eq!(map.part(Span::new(2, 5)), None);
        assert_eq!(map.inverse().part(Span::new(4, 7)), Some(Span::new(0, 3)));
    }

    #[test]
    fn unified_diffs() {
        let diff = unified(Some("a\nb\n"), Some("a\nc\n"), "src/x.rs");
        assert_eq!(diff, "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        let created = unified(None, Some("a"), "x");
        assert_eq!(created, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
        assert_eq!(unified(Some("a\n"), None, "x"), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(None, Some(""), "x"), "--- /dev/null\n+++ b/x\n");
        assert_eq!(unified(Some("a"), Some("a"), "x"), "");
        assert!(unified(None, Some("a\n"), "we\nird \"x\"").contains("+++ \"b/we\\nird \\\"x\\\"\"\n"));
    }

    #[test]
    fn what_was_left_alone_is_found_again() {
        let old = "fn a() {}\nfn b() { one(); }\n\nfn c() {}\n";
        let new = "fn new() {}\nfn a() {}\nfn b() { two(); one(); }\n\nfn c() {}\n";
        let map = OffsetMap::new(old, new);
        for word in ["fn a", "fn b() {", "one();", "fn c"] {
            assert_eq!(map.offset(old.find(word).unwrap()), new.find(word), "{word}");
        }
        let body = |text: &str| Span::new(text.find("fn b").unwrap(), text.find("\n\n").unwrap());
        assert_eq!(map.span(body(old)), Some(body(new)));
        assert!(!map.is_untouched(body(old)));
        let map = OffsetMap::new("a\nxyz\nb\n", "a\nb\n");
        assert_eq!((map.offset(3), map.offset(6), map.offset(8)), (None, Some(2), Some(4)));
    }

    #[test]
    fn the_map_only_joins_equal_characters() {
        let mut rng = Rng::new(5);
        for _ in 0..500 {
            let old = rng.text("ab\n\nß{}", 60);
            let new = if rng.below(4) == 0 { rng.text("ab\n\nß{}", 60) } else { rng.perturb(&old, 4) };
            let map = OffsetMap::new(&old, &new);
            let mut last = None;
            for (at, character) in old.char_indices() {
                if let Some(now) = map.offset(at) {
                    assert!(new[now..].starts_with(character), "{old:?} {new:?} {at}");
                    assert!(last.is_none_or(|last| last < now), "in order");
                    last = Some(now);
                }
            }
            if old == new {
                assert!(map.is_untouched(Span::new(0, old.len())));
            }
        }
    }
}
