//! The similarity of two texts: the contract's score, and the edit distance that it is computed from.
//!
//! The distance is Levenshtein's over Unicode characters, computed 64 rows at a time (Myers 1999, in the blocks of
//! Hyyrö 2003), so that a search text of a screenful is compared in less than a millisecond.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;
use semdex_model::Span;

/// 100 · (1 − Levenshtein(a, b) / max(|a|, |b|)). In both texts each run of white space is collapsed to one blank, and
/// the ends are trimmed. Two texts that are then empty are equal.
pub fn score(a: &str, b: &str) -> f64 {
    let (a, b) = (collapse(a), collapse(b));
    let longest = a.chars().count().max(b.chars().count());
    from_distance(distance(&a, &b), longest)
}

/// The score of two collapsed texts at this distance, the longer of which has `longest` characters.
pub(crate) fn from_distance(distance: usize, longest: usize) -> f64 {
    if longest == 0 { 100.0 } else { 100.0 * (1.0 - distance as f64 / longest as f64) }
}

/// The text trimmed, with each run of white space as one blank.
pub(crate) fn collapse(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    // ASCII without other white space than single blanks, as in most lines. Both scans go to the end of the text, so
    // that the compiler vectorizes them.
    let bytes = trimmed.as_bytes();
    let plain = bytes.iter().fold(true, |plain, byte| plain & (b' '..0x80).contains(byte));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let collapsed = pairs.fold(plain, |single, pair| single & (pair != (&b' ', &b' ')));
    if collapsed {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    for word in trimmed.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

/// Levenshtein's distance over Unicode characters.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = between(a, b);
    let pattern: Vec<char> = a.chars().collect();
    if pattern.is_empty() {
        return b.chars().count();
    }
    let masks = Masks::new(pattern.iter());
    let mut columns = Columns::new(&masks, usize::MAX - 64);
    b.chars().for_each(|it| columns.push(it, 1));
    columns.distance().unwrap_or(usize::MAX)
}

/// The parts of both texts between the common beginning and the common end.
fn between<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let equal = |(a, b): &(&u8, &u8)| a == b;
    let common = a.as_bytes().iter().zip(b.as_bytes()).take_while(equal).count();
    // Common bytes up to the start of a character are common characters.
    let prefix = (0..=common).rev().find(|&at| a.is_char_boundary(at)).unwrap_or_default();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let common = a.as_bytes().iter().rev().zip(b.as_bytes().iter().rev()).take_while(equal).count();
    let suffix = (0..=common).rev().find(|&length| a.is_char_boundary(a.len() - length)).unwrap_or_default();
    (&a[..a.len() - suffix], &b[..b.len() - suffix])
}

/// A text, prepared for searches of its nearest part in many others.
pub(crate) struct Pattern {
    forwards: Masks,
    backwards: Masks,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Pattern {
        let characters: Vec<char> = text.chars().collect();
        Pattern { forwards: Masks::new(characters.iter()), backwards: Masks::new(characters.iter().rev()) }
    }

    /// The first part of a text that has the least distance to the pattern and begins at this offset or before, if that
    /// distance is at most `limit`. `work` counts the computed words of 64 bits.
    pub(crate) fn nearest_part(&self, text: &str, last_start: usize, limit: usize, work: &mut usize) -> Option<Span> {
        let mut columns = Columns::new(&self.forwards, limit);
        let (mut least, mut end) = (self.forwards.rows, 0);
        for (at, character) in text.char_indices() {
            let next = at + character.len_utf8();
            columns.push(character, i32::from(next > last_start));
            if let Some(distance) = columns.distance().filter(|it| *it < least) {
                (least, end) = (distance, next);
            }
        }
        *work += columns.work;
        let mut columns = Columns::new(&self.backwards, least);
        let mut start = end;
        for (at, character) in text[..end].char_indices().rev() {
            columns.push(character, 1);
            if at <= last_start && columns.distance() == Some(least) {
                start = at;
                break;
            }
        }
        *work += columns.work;
        (least <= limit).then_some(Span::new(start, end))
    }
}

/// For each character of a pattern, the rows that have it.
struct Masks {
    rows: usize,
    blocks: usize,
    of: FxHashMap<char, Vec<u64>>,
    absent: Vec<u64>,
}

impl Masks {
    fn new<'a>(pattern: impl ExactSizeIterator<Item = &'a char>) -> Masks {
        let rows = pattern.len();
        let absent = vec![0; rows.div_ceil(64)];
        let mut of: FxHashMap<char, Vec<u64>> = FxHashMap::default();
        for (row, &character) in pattern.enumerate() {
            of.entry(character).or_insert_with(|| absent.clone())[row / 64] |= 1 << (row % 64);
        }
        Masks { rows, blocks: absent.len(), of, absent }
    }
}

/// One column of the matrix of distances, as differences between neighbouring rows: a bit in `plus` where a row is one
/// more than the row above it, in `minus` where it is one less.
///
/// Only those blocks are computed that can hold a distance up to the limit (Ukkonen's cut-off).
struct Columns<'a> {
    masks: &'a Masks,
    limit: usize,
    blocks: Vec<Block>,
    computed: Range<usize>,
    work: usize,
}

struct Block {
    plus: u64,
    minus: u64,
    /// The distance in its last row.
    distance: usize,
    /// The bit of its last row.
    last: u32,
}

impl<'a> Columns<'a> {
    fn new(masks: &'a Masks, limit: usize) -> Columns<'a> {
        let block = |at: usize| {
            let rows = (masks.rows - 64 * at).min(64);
            Block { plus: u64::MAX, minus: 0, distance: 64 * at + rows, last: rows as u32 - 1 }
        };
        let blocks = (0..masks.blocks).map(block).collect();
        Columns { masks, limit, blocks, computed: 0..(limit / 64 + 1).min(masks.blocks), work: 0 }
    }

    /// The distance of the whole pattern to the text so far. `None` if it is certainly greater than the limit.
    fn distance(&self) -> Option<usize> {
        (self.computed.end == self.blocks.len()).then(|| self.blocks.last().map_or(0, |it| it.distance))
    }

    /// The next character of the text. `enters` is by how much the row above the first one grows: 1, or 0 where a part
    /// of the text may begin without cost.
    fn push(&mut self, character: char, mut enters: i32) {
        let equal = self.masks.of.get(&character).unwrap_or(&self.masks.absent);
        // In a block whose last row is as far beyond the limit as it has rows, all rows are beyond it.
        let beyond = self.limit.saturating_add(64);
        // They stay so, unless a part may begin without cost. The row above the next block then only grows.
        while enters > 0 && self.computed.len() > 1 && self.blocks[self.computed.start].distance >= beyond {
            self.computed.start += 1;
        }
        for (block, equal) in self.blocks[self.computed.clone()].iter_mut().zip(&equal[self.computed.start..]) {
            enters = block.advance(*equal, enters);
        }
        self.work += self.computed.len();
        let end = self.computed.end;
        let Some(last) = self.blocks.get(end.saturating_sub(1)) else { return };
        let above = last.distance.saturating_add_signed(-(enters as isize));
        if end < self.blocks.len() && above <= self.limit {
            let block = &mut self.blocks[end];
            *block = Block { plus: u64::MAX, minus: 0, distance: above + 1 + block.last as usize, last: block.last };
            block.advance(equal[end], enters);
            self.computed.end += 1;
        } else {
            while self.computed.len() > 1 && self.blocks[self.computed.end - 1].distance >= beyond {
                self.computed.end -= 1;
            }
        }
    }
}

impl Block {
    /// Computes the next column. Returns by how much the last row grows.
    fn advance(&mut self, equal: u64, enters: i32) -> i32 {
        let Block { plus, minus, distance, last } = self;
        let (up, down) = (u64::from(enters > 0), u64::from(enters < 0));
        let vertical = equal | *minus;
        let equal = equal | down;
        let horizontal = ((equal & *plus).wrapping_add(*plus) ^ *plus) | equal;
        let (rises, falls) = (*minus | !(horizontal | *plus), *plus & horizontal);
        let (rise, fall) = ((rises << 1) | up, (falls << 1) | down);
        *plus = fall | !(vertical | rise);
        *minus = rise & vertical;
        let grows = (rises >> *last & 1) as i32 - (falls >> *last & 1) as i32;
        *distance = distance.saturating_add_signed(grows as isize);
        grows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_testing::rng::Rng;

    #[test]
    fn the_contracts_score() {
        assert_eq!(score("", ""), 100.0);
        assert_eq!(score(" a\t\tb \n", "a b"), 100.0);
        assert_eq!(score("abcd", ""), 0.0);
        assert_eq!(score("kitten", "sitting"), 100.0 * (1.0 - 3.0 / 7.0));
        assert_eq!(score("größe", "grösse"), 100.0 * (1.0 - 2.0 / 6.0), "characters, not bytes");
        assert_eq!(score("foo (a)", "foo(a)"), 100.0 * (1.0 - 1.0 / 7.0));
    }

    #[test]
    fn equals_the_plain_algorithm() {
        let mut rng = Rng::new(7);
        for round in 0..400 {
            let length = if round % 8 == 0 { 300 } else { 70 };
            let a = rng.text("abcß𝒳 ", length);
            let b = if round % 2 == 0 { rng.text("abcß𝒳 ", length) } else { rng.perturb(&a, 6) };
            let expected = strsim::levenshtein(&a, &b);
            assert_eq!(distance(&a, &b), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn characters_in_common_are_whole() {
        // 𝒳 and 𝒴 have three bytes in common at the start, é and ũ the last one.
        assert_eq!(between("a𝒳b", "a𝒴b"), ("𝒳", "𝒴"));
        assert_eq!(between("xé", "xũ"), ("é", "ũ"));
        assert_eq!(between("aa", "a"), ("a", ""));
        assert_eq!(between("größe", "grösse"), ("ß", "ss"));
        let mut rng = Rng::new(5);
        for _ in 0..400 {
            let (a, b) = (rng.text("aé𝒳𝒴", 6), rng.text("aé𝒳𝒴", 6));
            let same = |(x, y): &(char, char)| x == y;
            let prefix = a.chars().zip(b.chars()).take_while(same).count();
            let most = a.chars().count().min(b.chars().count()) - prefix;
            let suffix = a.chars().rev().zip(b.chars().rev()).take(most).take_while(same).count();
            let inner = |text: &str| text.chars().skip(prefix).take(text.chars().count() - prefix - suffix).collect();
            let expected: (String, String) = (inner(&a), inner(&b));
            assert_eq!(between(&a, &b), (expected.0.as_str(), expected.1.as_str()), "{a} {b}");
        }
    }

    #[test]
    fn finds_the_nearest_part() {
        let mut rng = Rng::new(11);
        for _ in 0..400 {
            let text = rng.text("abß", 60);
            let pattern = rng.text("abß", 12);
            let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let last_start = *rng.pick(&offsets);
            let prepared = Pattern::new(&pattern);
            let found = prepared.nearest_part(&text, last_start, usize::MAX / 2, &mut 0).unwrap();
            let to = |end: usize| {
                let starts = offsets.iter().filter(|&&start| start <= end.min(last_start));
                starts.map(|&start| strsim::levenshtein(&pattern, &text[start..end])).min()
            };
            assert!(found.start <= last_start);
            let distance = strsim::levenshtein(&pattern, &text[found.start..found.end]);
            assert_eq!(
                offsets.iter().filter_map(|&end| to(end)).min(),
                Some(distance),
                "{pattern:?} {text:?} {last_start}"
            );
            for limit in 0..distance + 3 {
                let within = (distance <= limit).then_some(found);
                assert_eq!(prepared.nearest_part(&text, last_start, limit, &mut 0), within);
            }
        }
    }

    #[test]
    fn limits_leave_out_nothing_that_is_within_them() {
        let mut rng = Rng::new(23);
        for _ in 0..300 {
            let pattern = rng.text("abcde ", 400);
            let text = rng.text("abcde ", 200) + &rng.perturb(&pattern, 40) + &rng.text("abcde ", 200);
            let nearest = |limit: usize| Pattern::new(&pattern).nearest_part(&text, text.len(), limit, &mut 0);
            let all = nearest(usize::MAX / 2).unwrap();
            let distance = strsim::levenshtein(&pattern, &text[all.start..all.end]);
            for limit in [distance, distance + 1, distance + 17, 2 * distance + 64] {
                assert_eq!(nearest(limit), Some(all));
            }
            if let Some(less) = distance.checked_sub(1) {
                assert_eq!(nearest(less), None);
            }
        }
    }
}
