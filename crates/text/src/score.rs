//! The similarity of two texts: the contract's score, and the edit distance that it is computed from.
//!
//! The distance is Levenshtein's over Unicode characters, computed 64 rows at a time (Myers 1999, in the blocks of
//! Hyyrö 2003), so that a search text of a screenful is compared in microseconds.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

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
    distance_within(a, b, usize::MAX).unwrap_or(usize::MAX)
}

/// The first limit that is tried for the distance of two texts.
const FIRST_LIMIT: usize = 64;

/// The distance if it is at most `limit`. The common beginning and end cost nothing.
pub(crate) fn distance_within(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b) = between(a, b);
    let pattern: Vec<char> = a.chars().collect();
    let text: Vec<char> = b.chars().collect();
    // The shorter text as the pattern needs fewer blocks.
    let (pattern, text) = if pattern.len() <= text.len() { (pattern, text) } else { (text, pattern) };
    if text.len() - pattern.len() > limit {
        return None;
    }
    if pattern.is_empty() {
        return Some(text.len());
    }
    let masks = Masks::new(&pattern);
    let limit = limit.min(text.len());
    // Most compared texts are similar: then a few blocks next to the diagonal are enough.
    let mut first = FIRST_LIMIT.max(text.len() - pattern.len()).min(limit);
    loop {
        let found = within(&masks, pattern.len(), &text, first);
        if found.is_some() || first == limit {
            return found;
        }
        first = (4 * first).min(limit);
    }
}

/// The distance of a pattern to a text, if it is at most `limit`.
fn within(masks: &Masks, rows: usize, text: &[char], limit: usize) -> Option<usize> {
    let mut columns = Columns::new(masks, rows, Begin::AtStart, limit);
    for (done, &character) in text.iter().enumerate() {
        columns.push(character);
        // Each further column can lower the distance by at most one.
        if columns.distance().is_some_and(|it| it.saturating_sub(text.len() - done - 1) > limit) {
            return None;
        }
    }
    columns.distance().filter(|it| *it <= limit)
}

/// The parts of both texts between the common beginning and the common end.
pub(crate) fn between<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let equal = |(a, b): &(&u8, &u8)| a == b;
    let common = a.as_bytes().iter().zip(b.as_bytes()).take_while(equal).count();
    // Common bytes up to the start of a character are common characters.
    let prefix = (0..=common).rev().find(|&at| a.is_char_boundary(at)).unwrap_or_default();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let common = a.as_bytes().iter().rev().zip(b.as_bytes().iter().rev()).take_while(equal).count();
    let suffix = (0..=common).rev().find(|&length| a.is_char_boundary(a.len() - length)).unwrap_or_default();
    (&a[..a.len() - suffix], &b[..b.len() - suffix])
}

/// Where in the text an alignment may begin without cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    AtStart,
    Anywhere,
}

/// A pattern, prepared for searches in many texts.
#[derive(Debug)]
pub(crate) struct Pattern {
    characters: Vec<char>,
    masks: Masks,
}

/// The part of a text that is nearest to the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NearestPart {
    /// Levenshtein distance to the pattern, in characters.
    pub distance: usize,
    /// Byte offset of its end.
    pub end: usize,
}

impl Pattern {
    /// Prepares a pattern for [`Pattern::nearest_part`] and similar functions.
    pub(crate) fn new(pattern: &str) -> Pattern {
        let characters: Vec<char> = pattern.chars().collect();
        let masks = Masks::new(&characters);
        Pattern { characters, masks }
    }

    /// The reversed pattern, for texts that are read backwards.
    pub(crate) fn reversed(pattern: &str) -> Pattern {
        let characters: Vec<char> = pattern.chars().rev().collect();
        let masks = Masks::new(&characters);
        Pattern { characters, masks }
    }

    /// The first part of `text` with the least distance to the pattern, if that is at most `limit`. `work` counts the
    /// computed words of 64 bits.
    pub(crate) fn nearest_part(&self, text: &str, limit: usize, work: &mut usize) -> Option<NearestPart> {
        let mut best = NearestPart { distance: self.characters.len(), end: 0 };
        if self.characters.is_empty() {
            return Some(best);
        }
        let mut columns = Columns::new(&self.masks, self.characters.len(), Begin::Anywhere, limit.min(best.distance));
        for (at, character) in text.char_indices() {
            columns.push(character);
            if let Some(distance) = columns.distance()
                && distance < best.distance
            {
                best = NearestPart { distance, end: at + character.len_utf8() };
                // Greater distances are irrelevant.
                columns.limit = columns.limit.min(distance);
            }
        }
        *work += columns.work;
        (best.distance <= limit).then_some(best)
    }
}

/// For each character of a pattern, the rows that have it.
#[derive(Debug)]
struct Masks {
    blocks: usize,
    ascii: Vec<u64>,
    others: FxHashMap<char, Vec<u64>>,
    absent: Vec<u64>,
}

impl Masks {
    fn new(pattern: &[char]) -> Masks {
        let blocks = pattern.len().div_ceil(64).max(1);
        let mut masks =
            Masks { blocks, ascii: vec![0; 128 * blocks], others: FxHashMap::default(), absent: vec![0; blocks] };
        for (row, &character) in pattern.iter().enumerate() {
            let bit = 1u64 << (row % 64);
            if character.is_ascii() {
                masks.ascii[character as usize * blocks + row / 64] |= bit;
            } else {
                masks.others.entry(character).or_insert_with(|| vec![0; blocks])[row / 64] |= bit;
            }
        }
        masks
    }

    fn of(&self, character: char) -> &[u64] {
        if character.is_ascii() {
            let at = character as usize * self.blocks;
            &self.ascii[at..at + self.blocks]
        } else {
            self.others.get(&character).unwrap_or(&self.absent)
        }
    }
}

/// One column of the matrix of distances, as differences between neighbouring rows: a bit in `plus` where a row is one
/// more than the row above it, in `minus` where it is one less.
///
/// Only the blocks that can hold a distance up to the limit are computed (Ukkonen's cut-off): those that the rows above
/// them may reach, and, in an alignment from the start, those near the diagonal. All other distances are greater than
/// the limit.
struct Columns<'a> {
    masks: &'a Masks,
    begin: Begin,
    limit: usize,
    rows: usize,
    blocks: Vec<Block>,
    /// The computed blocks.
    first: usize,
    end: usize,
    /// The number of columns so far.
    count: usize,
    work: usize,
}

#[derive(Clone, Copy)]
struct Block {
    plus: u64,
    minus: u64,
    /// The distance in its last row.
    distance: usize,
}

impl<'a> Columns<'a> {
    fn new(masks: &'a Masks, rows: usize, begin: Begin, limit: usize) -> Columns<'a> {
        let end = (limit / 64 + 1).min(masks.blocks);
        let last_row = |block: usize| rows.min(64 * (block + 1));
        let blocks = (0..masks.blocks).map(|at| Block { plus: u64::MAX, minus: 0, distance: last_row(at) }).collect();
        Columns { masks, begin, limit, rows, blocks, first: 0, end, count: 0, work: 0 }
    }

    /// The distance of the whole pattern to the text so far. `None` if it is certainly greater than the limit.
    fn distance(&self) -> Option<usize> {
        (self.end == self.blocks.len()).then(|| self.blocks[self.end - 1].distance)
    }

    fn push(&mut self, character: char) {
        self.count += 1;
        let equal = self.masks.of(character);
        // The difference that enters the block from above. In the row before the first one, the distance grows with
        // each character of the text, unless the alignment may begin anywhere. Above blocks that are not computed, it
        // is the greatest possible one.
        let mut enters = i32::from(self.begin == Begin::AtStart || self.first > 0);
        for (at, &equal) in equal.iter().enumerate().take(self.end).skip(self.first) {
            enters = self.advance(at, equal, enters);
        }
        let bottom = self.blocks[self.end - 1].distance;
        if self.end < self.blocks.len() && bottom.saturating_add_signed(-(enters as isize)) <= self.limit {
            let above = bottom.saturating_add_signed(-(enters as isize));
            let at = self.end;
            self.blocks[at] = Block { plus: u64::MAX, minus: 0, distance: above + self.rows_of(at) };
            self.advance(at, equal[at], enters);
            self.end += 1;
        } else {
            while self.end > self.first + 1 && self.blocks[self.end - 1].distance >= self.limit.saturating_add(64) {
                self.end -= 1;
            }
        }
        if self.begin == Begin::AtStart {
            // Above the diagonal by more than the limit.
            while self.first + 1 < self.end && 64 * (self.first + 1) + self.limit < self.count {
                self.first += 1;
            }
        }
    }

    fn rows_of(&self, block: usize) -> usize {
        (self.rows - 64 * block).min(64)
    }

    /// Computes the next column of a block. Returns the difference in its last row.
    fn advance(&mut self, at: usize, equal: u64, enters: i32) -> i32 {
        self.work += 1;
        let last = 1u64 << (self.rows_of(at) - 1);
        let Block { plus, minus, distance } = &mut self.blocks[at];
        let (up, down) = (u64::from(enters > 0), u64::from(enters < 0));
        let vertical = equal | *minus;
        let equal = equal | down;
        let horizontal = ((equal & *plus).wrapping_add(*plus) ^ *plus) | equal;
        let rises = *minus | !(horizontal | *plus);
        let falls = *plus & horizontal;
        let (rise, fall) = ((rises << 1) | up, (falls << 1) | down);
        *plus = fall | !(vertical | rise);
        *minus = rise & vertical;
        let leaves = i32::from(rises & last != 0) - i32::from(falls & last != 0);
        *distance = distance.saturating_add_signed(leaves as isize);
        leaves
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
            assert_eq!(distance_within(&a, &b, expected), Some(expected));
            if expected > 0 {
                assert_eq!(distance_within(&a, &b, expected - 1), None);
            }
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
        for _ in 0..200 {
            let text = rng.text("abß", 60);
            let pattern = rng.text("abß", 12);
            let found = Pattern::new(&pattern).nearest_part(&text, usize::MAX, &mut 0).unwrap();
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let to = |end: usize| {
                let starts = ends.iter().filter(|&&start| start <= end);
                starts.map(|&start| strsim::levenshtein(&pattern, &text[start..end])).min()
            };
            assert_eq!(to(found.end), Some(found.distance));
            assert_eq!(ends.iter().filter_map(|&end| to(end)).min(), Some(found.distance));
            for limit in 0..found.distance + 3 {
                let within = (found.distance <= limit).then_some(found);
                assert_eq!(Pattern::new(&pattern).nearest_part(&text, limit, &mut 0), within);
            }
        }
    }

    #[test]
    fn limits_leave_out_nothing_that_is_within_them() {
        let mut rng = Rng::new(23);
        for _ in 0..300 {
            let pattern = rng.text("abcde ", 400);
            let text = rng.text("abcde ", 200) + &rng.perturb(&pattern, 40) + &rng.text("abcde ", 200);
            let all = Pattern::new(&pattern).nearest_part(&text, usize::MAX, &mut 0).unwrap();
            for limit in [all.distance, all.distance + 1, all.distance + 17, 2 * all.distance + 64] {
                assert_eq!(Pattern::new(&pattern).nearest_part(&text, limit, &mut 0), Some(all));
            }
            if let Some(less) = all.distance.checked_sub(1) {
                assert_eq!(Pattern::new(&pattern).nearest_part(&text, less, &mut 0), None);
            }
        }
    }
}
