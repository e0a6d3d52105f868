//! Whether a line is another one misspelt, or says another thing in the same form. Neighbours are often alike but for a
//! name and a number; who recalls a line loosely gets neither wholly wrong at once.

use super::flat::{is_word, words as plain_words};
use crate::text::score;
use crate::text::words::words;

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

/// A word of a line, the other line's word in its place, and whether one of them is negative.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Differing<'a> {
    asked: &'a str,
    there: &'a str,
    negated: bool,
}

impl Differing<'_> {
    fn is_foreign(&self) -> bool {
        !is_like(self.asked, self.there)
    }

    fn is_letter(&self) -> bool {
        self.asked.chars().nth(1).or(self.there.chars().nth(1)).is_none()
    }

    /// Another number: numbers are not misspelt, but for digits at the end.
    fn is_other_number(&self) -> bool {
        is_number(self.asked) && is_number(self.there) && (self.negated || self.is_foreign())
    }

    /// What is gone and what has come between the same beginning and the same end.
    fn change(&self) -> (&str, &str) {
        score::between(self.asked, self.there)
    }
}

/// Where two lines of as many words differ; nothing where they have not as many.
pub(super) fn differing<'a>(asked: &'a str, there: &'a str) -> Vec<Differing<'a>> {
    let (a, b): (Vec<_>, Vec<_>) = (words(asked).collect(), words(there).collect());
    if a.len() != b.len() {
        return Vec::new();
    }
    let pair = |((at, asked_word), (other, there_word)): (&(usize, &'a str), &(usize, &'a str))| Differing {
        asked: asked_word,
        there: there_word,
        negated: is_negated(asked, *at) != is_negated(there, *other),
    };
    a.iter().zip(&b).map(pair).filter(|it| it.asked != it.there || it.negated).collect()
}

/// Whether so many words are others that it is another place, a neighbour: two of them, letters if they are the same
/// ones again.
pub(super) fn are_others(differing: &[Differing]) -> bool {
    let foreign: Vec<&Differing> = differing.iter().filter(|it| it.is_foreign()).collect();
    let again = |it: &Differing| foreign.iter().filter(|other| ***other == *it).count() > 1;
    foreign.iter().filter(|it| !it.is_letter() || again(it)).count() > 1
}

/// Whether two lines that correspond mean different things: they have no word in common, or declare different names, or
/// have another number, or differ the same way in half of their words.
pub(super) fn says_another_thing(asked: &str, there: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (plain_words(asked).collect(), plain_words(there).collect());
    if a.is_empty() {
        let telling = |text: &str| -> String { text.chars().filter(|it| !it.is_ascii()).collect() };
        return telling(asked) != telling(there);
    }
    let is_word_of = |there: &[&str], word: &str| there.iter().any(|other| is_like(word, other));
    let says_much = a.len() > 1 || (b.len() == 1 && a[0].chars().nth(1).is_some());
    if says_much && !a.iter().any(|word| is_word_of(&b, word)) {
        return true;
    }
    if a.len() != b.len() {
        // It begins otherwise.
        return a.first().zip(b.first()).is_some_and(|(a, b)| !is_like(a, b)) && signs(asked) != signs(there);
    }
    let declares_another = (1..a.len())
        .any(|at| DECLARING.contains(&a[at - 1]) && a[at - 1] == b[at - 1] && a[at] != b[at] && !is_like(a[at], b[at]));
    let differing = differing(asked, there);
    // One sign for another, as `==` for `!=`.
    if differing.is_empty() && signs(asked).chars().count() == signs(there).chars().count() {
        return signs(asked) != signs(there);
    }
    let is_named = |it: &Differing| it.is_foreign() && !it.is_letter();
    let same_way = |it: &[Differing]| it.len() > 1 && it.iter().all(|other| other.change() == it[0].change());
    declares_another
        || (a[0] == "impl" && differing.iter().any(is_named))
        || differing.iter().any(Differing::is_other_number)
        || (2 * differing.len() >= a.len() && same_way(&differing))
        || (differing.iter().any(is_named) && signs(asked) != signs(there))
}

/// All signs of a line, one after the other.
pub(super) fn signs(text: &str) -> String {
    text.chars().filter(|it| !is_word(*it) && !it.is_whitespace()).collect()
}

fn is_negated(line: &str, number: usize) -> bool {
    let operand = |it: char| is_word(it) || matches!(it, ')' | ']');
    line[..number].strip_suffix('-').is_some_and(|before| !before.ends_with(operand))
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
    word.starts_with(|it: char| it.is_ascii_digit())
        && word.chars().all(|it| it.is_ascii_hexdigit() || matches!(it, 'x' | 'o' | '_'))
}

#[cfg(test)]
mod tests {
    use super::{are_others, differing, says_another_thing};

    #[test]
    fn a_misspelt_line_says_the_same() {
        let same = |asked: &str, there: &str| assert!(!says_another_thing(asked, there), "{asked:?} {there:?}");
        same("__pad1s: c_ulon,", "__pad1: c_ulong,");
        same("offqet: myu64,", "offset: u64,");
        same("let val = f(a);", "let value = f(a);");
        same("let x: usize = 3;", "let x: u64 = 3;");
        same("if count > 100 {", "if count > 10 {");
        same("fn insert_all(&self) {", "fn insert(&self) {");
        same("version = \"10.19.0\"", "version = \"1.19.0\"");
        same("since = \"my1.64\"", "since = \"1.64\"");
        same("dir := q.TempDir()", "dir := t.TempDir()");
        same("const ALL_id: [u8; q4] = [", "const ALL: [u8; 44] = [");
        same("}", ")");
    }

    #[test]
    fn a_neighbour_says_another_thing() {
        let other = |asked: &str, there: &str| {
            let differing = differing(asked, there);
            assert!(are_others(&differing) || says_another_thing(asked, there), "{asked:?} {there:?}");
        };
        other("pub const XCASE: tcflag_t = 0o000004;", "pub const ICANON: tcflag_t = 0o000002;");
        other("pub const ECHOE: tcflag_t = 0o000020;", "pub const ECHOK: tcflag_t = 0o000040;");
        other("[#626]: https://host/pull/626", "[#654]: https://host/pull/654");
        other("pub struct Plus/1 /// adds", "pub struct Or/1 /// adds");
        other("[!] => { $crate::token::Not };", "[+] => { $crate::token::Plus };");
        other("sizeofMsglFree = C.sizeof_msgl", "sizeofMsgFree = C.sizeof_msg");
        other("from_str(\"-88.19\"),", "from_str(\"88.19\"),");
        other("f(a, 20)", "f(a, 21)");
        other("impl<T> Eq for P<T> {", "impl<T> Eq for Box<T> {");
        other("// +build !app", "//go:build !app");
        other("read(path)", "write(file)");
        other("($mode:ident, !) => { 1 };", "($mode:ident, ^) => { 1 };");
        other("embedded:", "check:");
        other("» « …", "— – ·");
    }
}
