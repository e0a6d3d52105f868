//! How alike two texts are: the contract's score, and the edit distance under it.
//!
//! The distance is Levenshtein's over Unicode characters, computed 64 rows at a time (Myers 1999, in the blocks of
//! Hyyrö 2003), so that a search text of a screenful is compared in microseconds.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// 100 · (1 − Levenshtein(a, b) / max(|a|, |b|)), both with runs of white space collapsed to one blank and trimmed.
/// Two texts that are empty then are equal.
pub fn score(a: &str, b: &str) -> f64 {
    let (a, b) = (collapse(a), collapse(b));
    let longest = a.chars().count().max(b.chars().count());
    from_distance(distance(&a, &b), longest)
}

/// The score of two collapsed texts at this distance, the longer of which has `longest` characters.
pub fn from_distance(distance: usize, longest: usize) -> f64 {
    if longest == 0 { 100.0 } else { 100.0 * (1.0 - distance as f64 / longest as f64) }
}

/// The text trimmed, with each run of white space as one blank.
pub fn collapse(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let mut before = b'x';
    // Bytes of ASCII without other white space than single blanks, as most lines are.
    let collapsed = trimmed.bytes().all(|byte| {
        let fine = (b' '..0x80).contains(&byte) && !(byte == b' ' && before == b' ');
        before = byte;
        fine
    });
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
pub fn distance(a: &str, b: &str) -> usize {
    distance_within(a, b, usize::MAX).unwrap_or(usize::MAX)
}

/// The distance if it is at most `limit`. What both have in common at the start and at the end costs nothing.
pub fn distance_within(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b) = between(a, b);
    let pattern: Vec<char> = a.chars().collect();
    let text: Vec<char> = b.chars().collect();
    // The shorter one as the pattern makes fewer blocks.
    let (pattern, text) = if pattern.len() <= text.len() { (pattern, text) } else { (text, pattern) };
    if text.len() - pattern.len() > limit {
        return None;
    }
    if pattern.is_empty() {
        return Some(text.len());
    }
    let mut columns = Columns::new(&pattern, Begin::AtStart);
    for (done, &character) in text.iter().enumerate() {
        let distance = columns.push(character);
        // Each further column can lower the distance by one at most.
        if distance.saturating_sub(text.len() - done - 1) > limit {
            return None;
        }
    }
    (columns.distance <= limit).then_some(columns.distance)
}

/// How many bytes of the longer text lie between what both have in common at the start and at the end.
pub fn differing(a: &str, b: &str) -> usize {
    let (a, b) = between(a, b);
    a.len().max(b.len())
}

/// What lies between what both texts have in common at the start and at the end.
pub fn between<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let prefix: usize = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix: usize =
        a.chars().rev().zip(b.chars().rev()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    (&a[..a.len() - suffix], &b[..b.len() - suffix])
}

/// Where in the text an alignment may begin without a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    AtStart,
    Anywhere,
}

/// A pattern made ready to be looked for in many texts.
#[derive(Debug)]
pub struct Pattern {
    characters: Vec<char>,
    masks: Masks,
}

/// The stretch of a text that is nearest to the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearestPart {
    pub distance: usize,
    /// Byte offset of its end.
    pub end: usize,
}

impl Pattern {
    pub fn new(pattern: &str) -> Pattern {
        let characters: Vec<char> = pattern.chars().collect();
        let masks = Masks::new(&characters);
        Pattern { characters, masks }
    }

    pub fn reversed(pattern: &str) -> Pattern {
        let characters: Vec<char> = pattern.chars().rev().collect();
        let masks = Masks::new(&characters);
        Pattern { characters, masks }
    }

    /// How many words of 64 bits one character of the text costs.
    pub fn blocks(&self) -> usize {
        self.masks.blocks
    }

    /// The first of the stretches of `text` with the least distance to the pattern.
    pub fn nearest_part(&self, text: &str) -> NearestPart {
        let mut best = NearestPart { distance: self.characters.len(), end: 0 };
        if self.characters.is_empty() {
            return best;
        }
        let mut columns = Columns::with_masks(Cow::Borrowed(&self.masks), self.characters.len(), Begin::Anywhere);
        for (at, character) in text.char_indices() {
            let distance = columns.push(character);
            if distance < best.distance {
                best = NearestPart { distance, end: at + character.len_utf8() };
            }
        }
        best
    }
}

/// For each character of a pattern, the rows where it stands.
#[derive(Debug, Clone)]
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

/// One column of the matrix of distances, as differences between neighbouring rows: a bit in `plus` where a row is
/// one more than the row above it, in `minus` where it is one less.
struct Columns<'a> {
    masks: Cow<'a, Masks>,
    begin: Begin,
    plus: Vec<u64>,
    minus: Vec<u64>,
    /// The bit of the last row in the last block.
    last: u64,
    /// In the last row: the distance of the whole pattern to the text so far.
    distance: usize,
}

impl<'a> Columns<'a> {
    fn new(pattern: &[char], begin: Begin) -> Columns<'static> {
        Columns::with_masks(Cow::Owned(Masks::new(pattern)), pattern.len(), begin)
    }

    fn with_masks(masks: Cow<'a, Masks>, rows: usize, begin: Begin) -> Columns<'a> {
        let blocks = masks.blocks;
        let last = 1u64 << (rows.saturating_sub(1) % 64);
        Columns { masks, begin, plus: vec![u64::MAX; blocks], minus: vec![0; blocks], last, distance: rows }
    }

    fn push(&mut self, character: char) -> usize {
        let equal = self.masks.of(character);
        // The difference that enters the block from above: in the row before the first one the distance grows with
        // each character of the text, unless the alignment may begin anywhere.
        let (mut up, mut down) = (u64::from(self.begin == Begin::AtStart), 0u64);
        let (mut rises, mut falls) = (0, 0);
        for ((plus, minus), &equal) in self.plus.iter_mut().zip(&mut self.minus).zip(equal) {
            let vertical = equal | *minus;
            let equal = equal | down;
            let horizontal = ((equal & *plus).wrapping_add(*plus) ^ *plus) | equal;
            rises = *minus | !(horizontal | *plus);
            falls = *plus & horizontal;
            let (rise, fall) = ((rises << 1) | up, (falls << 1) | down);
            (up, down) = (rises >> 63, falls >> 63);
            *plus = fall | !(vertical | rise);
            *minus = rise & vertical;
        }
        // The last row is not the last bit of its block.
        self.distance += usize::from(rises & self.last != 0);
        self.distance -= usize::from(falls & self.last != 0);
        self.distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::Dice;

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
        let mut dice = Dice::new(7);
        for round in 0..400 {
            let length = if round % 8 == 0 { 300 } else { 70 };
            let a = dice.text("abcß𝒳 ", length);
            let b = if round % 2 == 0 { dice.text("abcß𝒳 ", length) } else { dice.perturb(&a, 6) };
            let expected = strsim::levenshtein(&a, &b);
            assert_eq!(distance(&a, &b), expected, "{a:?} {b:?}");
            assert_eq!(distance_within(&a, &b, expected), Some(expected));
            if expected > 0 {
                assert_eq!(distance_within(&a, &b, expected - 1), None);
            }
        }
    }

    #[test]
    fn finds_the_nearest_part() {
        let mut dice = Dice::new(11);
        for _ in 0..200 {
            let text = dice.text("abß", 60);
            let pattern = dice.text("abß", 12);
            let found = Pattern::new(&pattern).nearest_part(&text);
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let to = |end: usize| {
                let starts = ends.iter().filter(|&&start| start <= end);
                starts.map(|&start| strsim::levenshtein(&pattern, &text[start..end])).min()
            };
            assert_eq!(to(found.end), Some(found.distance));
            assert_eq!(ends.iter().filter_map(|&end| to(end)).min(), Some(found.distance));
        }
    }
}
