//! Whether a line is another line misspelt, or has another meaning in the same form. Neighbouring lines often differ
//! only in a name and a number. A line that is recalled loosely rarely has both completely wrong.

use super::collapsed::{is_word, words as plain_words};
use crate::score;
use crate::words::words;

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

/// A word of a line, and the other line's word in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Differing<'a> {
    asked: &'a str,
    there: &'a str,
    /// One of the two is negative.
    negated: bool,
    /// The names that both lines declare.
    declared: bool,
}

impl Differing<'_> {
    fn is_foreign(&self) -> bool {
        !is_like(self.asked, self.there)
    }

    fn is_letter(&self) -> bool {
        self.asked.chars().nth(1).or(self.there.chars().nth(1)).is_none()
    }

    /// Whether it is a completely different word, and not only a letter.
    pub(crate) fn is_named(&self) -> bool {
        self.is_foreign() && !self.is_letter()
    }

    /// A different number: one digit more or less may be an error or not.
    fn is_other_number(&self) -> bool {
        let digits = |it: &str| it.replace('_', "");
        is_number(self.asked) && is_number(self.there) && (self.negated || digits(self.asked) != digits(self.there))
    }

    /// The removed and the added text between the common beginning and end.
    fn change(&self) -> (&str, &str) {
        score::between(self.asked, self.there)
    }
}

/// The words of two lines side by side.
#[derive(Default)]
pub(super) struct Pairing<'a> {
    /// A word in place of another one.
    pub differing: Vec<Differing<'a>>,
    /// How many words are equal, or may be the same word misspelt.
    alike: usize,
    words: usize,
    /// Both lines begin with the same word, misspelt or not.
    begins_alike: bool,
    as_many: bool,
}

/// How two words correspond, or one word and two that an error has joined or split.
#[derive(Clone, Copy)]
enum Step {
    Pair,
    OnlyAsked,
    OnlyThere,
    Joined,
    Parted,
}

/// Aligns the words of two lines so that as little as possible differs.
pub(super) fn pairing<'a>(asked: &'a str, there: &'a str) -> Pairing<'a> {
    /// Words in a line; longer lines are compared word by word.
    const MOST: usize = 40_000;
    // An underscore alone is a sign.
    let spoken = |it: &(usize, &str)| it.1.contains(|character| character != '_');
    let (a, b): (Vec<_>, Vec<_>) = (words(asked).filter(spoken).collect(), words(there).filter(spoken).collect());
    let first = a.iter().zip(&b).take_while(|(x, y)| x.1 == y.1).count();
    let last = a[first..].iter().rev().zip(b[first..].iter().rev()).take_while(|(x, y)| x.1 == y.1).count();
    let (rows, columns) = (a.len() - first - last, b.len() - first - last);
    let steps = match (rows + 1).saturating_mul(columns + 1) {
        ..=MOST => cheapest_steps(&a[first..first + rows], &b[first..first + columns]),
        _ => vec![Step::Pair; rows.min(columns)],
    };
    let steps = std::iter::repeat_n(Step::Pair, first).chain(steps).chain(std::iter::repeat_n(Step::Pair, last));
    let mut pairing = Pairing { words: a.len(), as_many: a.len() == b.len(), ..Pairing::default() };
    let (mut i, mut j) = (0, 0);
    for step in steps {
        let at_start = (i, j) == (0, 0);
        let alike = match step {
            Step::Pair => {
                let ((at, word), (other, there_word)) = (a[i], b[j]);
                let negated = is_negated(asked, at) != is_negated(there, other);
                let declares = |words: &[(usize, &str)], at: usize| at > 0 && DECLARING.contains(&words[at - 1].1);
                let declared = declares(&a, i) && declares(&b, j);
                if word != there_word || (negated && is_number(word)) {
                    pairing.differing.push(Differing { asked: word, there: there_word, negated, declared });
                }
                (i, j) = (i + 1, j + 1);
                is_like(word, there_word)
            }
            Step::OnlyAsked => {
                i += 1;
                false
            }
            Step::OnlyThere => {
                j += 1;
                false
            }
            Step::Joined => {
                (i, j) = (i + 1, j + 2);
                true
            }
            Step::Parted => {
                (i, j) = (i + 2, j + 1);
                true
            }
        };
        pairing.alike += usize::from(alike);
        pairing.begins_alike |= alike && at_start;
    }
    pairing
}

fn cheapest_steps(a: &[(usize, &str)], b: &[(usize, &str)]) -> Vec<Step> {
    let width = b.len() + 1;
    let mut costs = vec![(u32::MAX, Step::Pair); (a.len() + 1) * width];
    costs[0].0 = 0;
    let join = |words: &[(usize, &str)]| words.iter().map(|it| it.1).collect::<String>();
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let mut best = costs[i * width + j];
            let mut offer = |from: usize, price: u32, step: Step| {
                let cost = costs[from].0.saturating_add(price);
                if cost < best.0 {
                    best = (cost, step);
                }
            };
            if i > 0 && j > 0 {
                let (word, other) = (a[i - 1].1, b[j - 1].1);
                let price = if word == other {
                    0
                } else if is_like(word, other) {
                    2
                } else {
                    5
                };
                offer((i - 1) * width + j - 1, price, Step::Pair);
            }
            if i > 0 {
                offer((i - 1) * width + j, 3, Step::OnlyAsked);
            }
            if j > 0 {
                offer(i * width + j - 1, 3, Step::OnlyThere);
            }
            if i > 0 && j > 1 && is_slip(a[i - 1].1, &join(&b[j - 2..j])) {
                offer((i - 1) * width + j - 2, 3, Step::Joined);
            }
            if i > 1 && j > 0 && is_slip(b[j - 1].1, &join(&a[i - 2..i])) {
                offer((i - 2) * width + j - 1, 3, Step::Parted);
            }
            costs[i * width + j] = best;
        }
    }
    let (mut i, mut j) = (a.len(), b.len());
    let mut steps = Vec::new();
    while (i, j) != (0, 0) {
        let step = costs[i * width + j].1;
        steps.push(step);
        (i, j) = match step {
            Step::Pair => (i - 1, j - 1),
            Step::OnlyAsked => (i - 1, j),
            Step::OnlyThere => (i, j - 1),
            Step::Joined => (i - 1, j - 2),
            Step::Parted => (i - 2, j - 1),
        };
    }
    steps.reverse();
    steps
}

/// Whether so many words differ that it is another place, a neighbour: two words; letters, if the same ones differ
/// again.
pub(super) fn are_others(differing: &[Differing]) -> bool {
    let foreign: Vec<&Differing> = differing.iter().filter(|it| it.is_foreign()).collect();
    let again = |it: &Differing| foreign.iter().filter(|other| ***other == *it).count() > 1;
    foreign.iter().filter(|it| !it.is_letter() || again(it)).count() > 1
}

/// Whether two corresponding lines have different meanings: they have no word in common, declare different names, have
/// a different number, or differ in the same way in half of their words. A difference in signs alone is none: signs are
/// misspelt most often.
pub(super) fn says_another_thing(asked: &str, there: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (plain_words(asked).collect(), plain_words(there).collect());
    if a.is_empty() {
        let telling = |text: &str| -> String { text.chars().filter(|it| !it.is_ascii()).collect() };
        return telling(asked) != telling(there);
    }
    let pairing = pairing(asked, there);
    let says_much = a.len() > 1 || (b.len() == 1 && a[0].chars().nth(1).is_some());
    if says_much && pairing.alike == 0 && pairing.words > 0 {
        return true;
    }
    let differing = &pairing.differing;
    let same_way = |it: &[Differing]| it.len() > 1 && it.iter().all(|other| other.change() == it[0].change());
    let other_signs = signs(asked) != signs(there);
    differing.iter().any(|it| it.declared && it.is_foreign())
        || (a[0] == "impl" && differing.iter().any(Differing::is_named))
        || differing.iter().any(Differing::is_other_number)
        || (2 * differing.len() >= pairing.words && same_way(differing))
        || (differing.iter().any(Differing::is_named) && other_signs)
        || (!pairing.as_many && !pairing.begins_alike && other_signs)
}

/// All signs of a line, one after the other.
fn signs(text: &str) -> String {
    text.chars().filter(|it| !is_word(*it) && !it.is_whitespace()).collect()
}

fn is_negated(line: &str, number: usize) -> bool {
    let operand = |it: char| is_word(it) || matches!(it, ')' | ']');
    let before = line[..number].trim_end_matches('-');
    before.len() < number && !before.ends_with(operand)
}

/// Whether one word may be the other misspelt or abbreviated. For numbers: whether digits were added or removed.
fn is_like(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.starts_with(short) || long.ends_with(short) {
        return true;
    }
    if is_number(a) && is_number(b) {
        return false;
    }
    is_slip(a, b)
}

/// Whether one word may be the other with wrong, additional, missing or exchanged letters.
pub(super) fn is_slip(a: &str, b: &str) -> bool {
    /// In longer words an exchange of two letters counts twice.
    const LONGEST: usize = 64;
    let lengths = [a, b].map(|it| it.chars().count());
    let length = lengths[0].max(lengths[1]);
    let most = (length / 3).max(usize::from(length > 1));
    // Additional or different letters cost at least one edit each.
    let letters = |word: &str| word.chars().fold(0u64, |set, letter| set | 1 << (u32::from(letter) % 64));
    let [of_a, of_b] = [a, b].map(letters);
    let more = (of_a & !of_b).count_ones().max((of_b & !of_a).count_ones()) as usize;
    if lengths[0].abs_diff(lengths[1]).max(more) > most {
        return false;
    }
    if length > LONGEST {
        return score::distance_within(a, b, most).is_some();
    }
    strsim::osa_distance(a, b) <= most
}

fn is_number(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_digit())
        && word.chars().all(|it| it.is_ascii_hexdigit() || matches!(it, 'x' | 'o' | '_'))
}

#[cfg(test)]
mod tests {
    use super::{are_others, pairing, says_another_thing};

    #[test]
    fn a_misspelt_line_says_the_same() {
        let same = |asked: &str, there: &str| assert!(!says_another_thing(asked, there), "{asked:?} {there:?}");
        same("__pad1s: c_ulon,", "__pad1: c_ulong,");
        same("offqet: myu64,", "offset: u64,");
        same("let val = f(a);", "let value = f(a);");
        same("let x: usize = 3;", "let x: u64 = 3;");
        same("if count > 1_000 {", "if count > 1000 {");
        same("fn insert_all(&self) {", "fn insert(&self) {");
        same("since = \"my1.64\"", "since = \"1.64\"");
        same("dir := q.TempDir()", "dir := t.TempDir()");
        same("const ALL_id: [u8; q4] = [", "const ALL: [u8; 44] = [");
        same("}", ")");
        same("let value == f(a);", "let value = f(a);");
        same("let value = f(a):", "let value = f(a);");
        same("elt valeu = slef.f(a);", "let value = self.f(a);");
        same("let value = f.oo(bar);", "let value = foo(bar);");
        same("let value = foobar);", "let value = foo(bar);");
        same("pubfn value(x: u8)", "pub fn value(x: u8)");
    }

    #[test]
    fn a_neighbour_says_another_thing() {
        let other = |asked: &str, there: &str| {
            let differing = pairing(asked, there).differing;
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
        other("f(a, 11)", "f(a, 1)");
        other("if count > 100 {", "if count > 10 {");
        other("version = \"10.19.0\"", "version = \"1.19.0\"");
        other("impl<T> Eq for P<T> {", "impl<T> Eq for Box<T> {");
        other("// +build !app", "//go:build !app");
        other("read(path)", "write(file)");
        other("embedded:", "check:");
        other("» « …", "— – ·");
    }
}
