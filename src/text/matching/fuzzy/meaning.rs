//! Whether a line is another one misspelt, or says another thing in the same form. Neighbours are often alike but for a
//! name and a number; who recalls a line loosely gets neither wholly wrong at once.

use super::flat::{is_word, words};
use crate::text::score;

/// What the word after it names, in one language or another.
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

/// Whether two lines that correspond mean different things: they have no word in common, or declare different names, or
/// have another number.
pub(super) fn says_another_thing(asked: &str, there: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (words(asked).collect(), words(there).collect());
    if a.is_empty() {
        // No sign but those of ASCII.
        let mut signs = asked.chars().filter(|it| !it.is_ascii()).peekable();
        return signs.peek().is_some() && !signs.any(|it| there.contains(it));
    }
    if a.len() > 1 && !a.iter().any(|word| b.iter().any(|other| is_like(word, other))) {
        return true;
    }
    let (mine, theirs) = (numbers(asked), numbers(there));
    if mine.len() == theirs.len() && mine.iter().zip(&theirs).any(|(a, b)| !a.starts_with(b) && !b.starts_with(a)) {
        return true;
    }
    if a.len() != b.len() {
        return false;
    }
    let differing: Vec<usize> = (0..a.len()).filter(|&at| a[at] != b[at]).collect();
    let is_foreign = |at: usize| !is_like(a[at], b[at]);
    let declared = declared(asked, &a);
    let renamed = |at: usize| Some(at) == declared && (is_foreign(at) || differing.len() > 1);
    differing.iter().any(|&at| renamed(at))
        || (differing.iter().any(|&at| is_foreign(at)) && signs(asked) != signs(there))
}

/// Which word of a line is the name that it declares, if it does.
fn declared(line: &str, words: &[&str]) -> Option<usize> {
    if let Some(at) = (1..words.len()).find(|&at| DECLARING.contains(&words[at - 1])) {
        return Some(at);
    }
    let rest = line.strip_prefix(words.first()?)?.trim_start();
    (rest.starts_with('=') && !rest.starts_with("==")).then_some(0)
}

/// All signs of a line, one after the other.
pub(super) fn signs(text: &str) -> String {
    text.chars().filter(|it| !is_word(*it) && !it.is_whitespace()).collect()
}

/// The numbers of a line, with the sign before them and all digits.
fn numbers(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |it| it.1);
        let begins = character.is_ascii_digit() && !is_word(before);
        let negative = character == '-' && next.is_ascii_digit() && !is_word(before) && before != ')';
        if begins || negative {
            let is_part = |it: char| is_word(it) || it == '.';
            let length = line[at + 1..].find(|it| !is_part(it)).unwrap_or(line.len() - at - 1);
            let number = line[at..at + 1 + length].trim_end_matches('.');
            if is_number(number) {
                found.push(number);
            }
            while characters.next_if(|(next, _)| *next < at + 1 + length).is_some() {}
        }
        before = character;
    }
    found
}

/// In how many places one line has quite another word than the other; none where they have not as many.
pub(super) fn foreign_words(asked: &str, there: &str) -> usize {
    let (a, b): (Vec<&str>, Vec<&str>) = (words(asked).collect(), words(there).collect());
    if a.len() != b.len() {
        return 0;
    }
    a.iter().zip(&b).filter(|(word, other)| word != other && !is_like(word, other)).count()
}

/// Whether one word may be the other misspelt or abbreviated. Numbers are not misspelt, but for a digit at the end.
fn is_like(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.starts_with(short) || long.ends_with(short) {
        return true;
    }
    if is_number(a) && is_number(b) {
        return false;
    }
    let length = a.chars().count().max(b.chars().count());
    score::distance_within(a, b, (length / 3).max(usize::from(length > 1))).is_some()
}

fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    word.starts_with(|it: char| it.is_ascii_digit())
        && word.chars().all(|it| it.is_ascii_hexdigit() || matches!(it, 'x' | 'o' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::{foreign_words, says_another_thing};

    #[test]
    fn a_misspelt_line_says_the_same() {
        let same = |asked: &str, there: &str| assert!(!says_another_thing(asked, there), "{asked:?} {there:?}");
        same("__pad1s: c_ulon,", "__pad1: c_ulong,");
        same("offqet: myu64,", "offset: u64,");
        same("let val = f(a);", "let value = f(a);");
        same("let x: usize = 3;", "let x: u64 = 3;");
        same("if count > 100 {", "if count > 10 {");
        same("fn insert_all(&self) {", "fn insert(&self) {");
        same("}", ")");
    }

    #[test]
    fn a_neighbour_says_another_thing() {
        let other = |asked: &str, there: &str| {
            let foreign = foreign_words(asked, there);
            assert!(foreign > 1 || says_another_thing(asked, there), "{asked:?} {there:?}");
        };
        other("pub const XCASE: tcflag_t = 0o000004;", "pub const ICANON: tcflag_t = 0o000002;");
        other("pub const ECHOE: tcflag_t = 0o000020;", "pub const ECHOK: tcflag_t = 0o000040;");
        other("[#626]: https://host/pull/626", "[#654]: https://host/pull/654");
        other("pub struct Plus/1 /// adds", "pub struct Or/1 /// adds");
        other("[!] => { $crate::token::Not };", "[+] => { $crate::token::Plus };");
        other("sizeofMsglFree = C.sizeof_msgl", "sizeofMsgFree = C.sizeof_msg");
        other("from_str(\"-88.19\"),", "from_str(\"88.19\"),");
        other("f(a, 20)", "f(a, 21)");
        other("read(path)", "write(file)");
        other("» « …", "— – ·");
    }
}
