//! Whether an author means one word and writes another one.

use crate::tokens::is_word;

/// Whether a word is another one with one slip (a letter more, less or different, or two swapped), or with something
/// before or after it. Another number is no slip, and short words are like too many others.
pub(crate) fn is_slip(asked: &str, there: &str) -> bool {
    const SHORTEST: usize = 4;
    const SHORTEST_PART: usize = 2;
    let shortest = asked.chars().count().min(there.chars().count());
    let extends = |a: &str, b: &str| a.starts_with(b) || a.ends_with(b);
    asked.starts_with(is_word)
        && there.starts_with(is_word)
        && digits(asked).eq(digits(there))
        && (shortest >= SHORTEST_PART && (extends(asked, there) || extends(there, asked))
            || shortest >= SHORTEST && strsim::osa_distance(asked, there) <= 1)
}

/// Whether an author who writes a word in one text may mean it by another word in the other text: a third of its letters
/// differs at most, or one is the other with something before or after it. Another number is another word.
pub(crate) fn is_misspelt(asked: &str, right: &str) -> bool {
    let longest = asked.chars().count().max(right.chars().count());
    let extends = |a: &str, b: &str| a.starts_with(b) || a.ends_with(b);
    digits(asked).eq(digits(right))
        && (extends(asked, right)
            || extends(right, asked)
            || strsim::osa_distance(asked, right) <= (longest / 3).max(1))
}

/// The digits in a word: words with other digits are never the same word misspelt.
pub(crate) fn digits(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(char::is_ascii_digit)
}
