//! Differences between a file and a request: layout that is recalled loosely, and words that have drifted.

use crate::random::Random;

/// How the layout of a request differs from the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All lines as far left as possible.
    Dedented,
    /// All lines further right.
    Indented,
    /// Tabs for spaces, or spaces for tabs.
    OtherUnit,
    /// The first line has lost its indentation.
    FirstLineLost,
    TrailingBlanks,
    BlankLinesLost,
    BlankLinesMore,
    /// Blanks inside of lines doubled.
    Spaced,
    /// Two lines as one.
    Joined,
    /// One line split into two.
    Wrapped,
    /// No blanks inside brackets and before signs where the file has them, or the reverse.
    Tight,
}

impl Layout {
    pub const ALL: [Layout; 11] = [
        Layout::Dedented,
        Layout::Indented,
        Layout::OtherUnit,
        Layout::FirstLineLost,
        Layout::TrailingBlanks,
        Layout::BlankLinesLost,
        Layout::BlankLinesMore,
        Layout::Spaced,
        Layout::Joined,
        Layout::Wrapped,
        Layout::Tight,
    ];

    /// The search text and the replacement in this layout. None if it does not change the search text, or if it changes
    /// the meaning of the text.
    pub fn apply(self, search: &str, replacement: &str, random: &mut Random) -> Option<(String, String)> {
        // A change that only alters layout, in another layout, shows nothing.
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        if squeezed(search) == squeezed(replacement) {
            return None;
        }
        // Mixtures of tabs and blanks.
        let indents = || search.lines().chain(replacement.lines()).map(|it| &it[..it.len() - it.trim_start().len()]);
        if indents().any(|it| it.contains('\t')) && indents().any(|it| it.contains(' ')) {
            return None;
        }
        // The right indentation of a literal's new lines is unknown.
        let opens = |line: &str| ["\"", "`"].iter().any(|quote| line.matches(quote).count() % 2 == 1);
        let has_others = |a: &str, b: &str| a.lines().any(|line| opens(line) && !b.lines().any(|it| it == line));
        if has_others(replacement, search) || has_others(search, replacement) {
            return None;
        }
        // A line further left than all searched lines: its shift is unknown.
        let least = |text: &str| {
            text.lines().filter(|it| !it.trim().is_empty()).map(|it| it.len() - it.trim_start().len()).min()
        };
        let search_only = |text: Option<String>| Some((text?, replacement.to_owned()));
        let made = match self {
            Layout::Dedented => {
                let margin = margin(&[search, replacement])?;
                // A line with only blanks would lose them, and the request would not show that they existed.
                let lost = |it: &str| !it.is_empty() && it.trim().is_empty() && it.len() <= margin.len();
                if search.lines().chain(replacement.lines()).any(lost) {
                    return None;
                }
                let dedent = |text: &str| each(text, |line| line.get(margin.len()..).unwrap_or_default().to_owned());
                (dedent(search), dedent(replacement))
            }
            Layout::Indented => {
                let tabs = search.contains("\n\t") || replacement.contains("\n\t");
                let unit = if tabs { "\t" } else { unit(search).or(unit(replacement)).unwrap_or("    ") };
                let mixed = tabs && search.lines().chain(replacement.lines()).any(|it| it.starts_with(' '));
                if mixed || (least(replacement) < least(search)) {
                    return None;
                }
                let indent = |text: &str| {
                    each(text, |line| if line.is_empty() { String::new() } else { format!("{unit}{line}") })
                };
                (indent(search), indent(replacement))
            }
            Layout::OtherUnit => {
                let from = unit(search)?;
                if least(replacement) < least(search) {
                    return None;
                }
                // Text aligned by blanks, or a mixture, has no unit of indentation.
                let is_mixed = |it: &str| it.trim_start_matches(from).starts_with([' ', '\t']);
                if search.lines().chain(replacement.lines()).any(is_mixed) {
                    return None;
                }
                let to = if from == "\t" { *random.pick(&["    ", "  ", "        "]) } else { "\t" };
                let change = |text: &str| {
                    each(text, |line| {
                        let rest = line.trim_start_matches(from);
                        to.repeat((line.len() - rest.len()) / from.len()) + rest
                    })
                };
                (change(search), change(replacement))
            }
            Layout::FirstLineLost => {
                let indent = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
                // Lines that are further left may be meant so, or as far as the first one.
                if indent(search) != indent(replacement) || least(replacement) < Some(indent(search)) {
                    return None;
                }
                (search[indent(search)..].to_owned(), replacement[indent(replacement)..].to_owned())
            }
            Layout::TrailingBlanks => search_only(some_lines(search, random, |line| Some(format!("{line}  "))))?,
            // Where the edit itself does not change them.
            Layout::BlankLinesLost => {
                let lines: Vec<&str> = search.split('\n').collect();
                let is_left = |at: usize| {
                    at > 0
                        && at + 1 < lines.len()
                        && lines[at].trim().is_empty()
                        && !lines[at - 1].trim().is_empty()
                        && !lines[at + 1].trim().is_empty()
                        && replacement.contains(&lines[at - 1..=at + 1].join("\n"))
                };
                let kept: Vec<&str> = (0..lines.len()).filter(|&at| !is_left(at)).map(|at| lines[at]).collect();
                search_only(Some(kept.join("\n")))?
            }
            Layout::BlankLinesMore => {
                let core = search.trim_matches('\n');
                let (lines, last) = core.rsplit_once('\n')?;
                let more = some_lines(lines, random, |line| {
                    let is_left =
                        replacement.lines().any(|it| it == line) && !replacement.contains(&format!("{line}\n\n"));
                    (is_left && line.ends_with([';', ',', '}', '{'])).then(|| format!("{line}\n"))
                })?;
                search_only(Some(search.replacen(core, &format!("{more}\n{last}"), 1)))?
            }
            Layout::Spaced => search_only(some_lines(search, random, |line| {
                if line.contains(['"', '\'', '`', '#']) || line.contains("//") || line.contains("/*") {
                    return None;
                }
                let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
                rest.contains(' ').then(|| indent.to_owned() + &rest.replacen(' ', "  ", 2))
            }))?,
            Layout::Tight => search_only(some_lines(search, random, |line| {
                let plain = !line.contains(['"', '\'', '`', '#', '*']) && !line.contains("//");
                let tighter = [", ", " { ", " }", " = ", " + "].iter().find(|it| line.trim().contains(*it));
                let looser = ["(", ","].iter().find(|it| line.contains(*it));
                match (tighter, looser) {
                    (Some(sign), _) if plain => Some(line.replacen(sign, sign.trim(), 1)),
                    (None, Some(sign)) if plain => Some(line.replacen(sign, &format!("{sign} "), 1)),
                    _ => None,
                }
            }))?,
            Layout::Joined => search_only(joined(search, random))?,
            Layout::Wrapped => search_only(some_lines(search, random, |line| {
                let plain = !line.contains(['"', '\'', '`', '#', '*']) && !line.contains("//");
                let at = line.find(", ").filter(|_| plain)?;
                Some(format!("{},\n{}", &line[..at], &line[at + 2..]))
            }))?,
        };
        // A line that accidentally equals the replacement's line would mean that the edit leaves it unchanged.
        let old: Vec<&str> = search.lines().collect();
        let by_chance = |line: &str| !old.contains(&line) && replacement.lines().any(|it| it == line);
        let moves = made.1 != replacement;
        (made.0 != search && (moves || !made.0.lines().any(by_chance))).then_some(made)
    }
}

fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    text.split('\n').map(change).collect::<Vec<_>>().join("\n")
}

/// The common prefix of all lines that are not blank, if there is one.
fn margin(texts: &[&str]) -> Option<String> {
    let mut margin: Option<&str> = None;
    for line in texts.iter().flat_map(|it| it.lines()).filter(|it| !it.trim().is_empty()) {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let common = match margin {
            None => indent,
            Some(margin) => {
                let same = margin.bytes().zip(indent.bytes()).take_while(|(a, b)| a == b).count();
                &margin[..same]
            }
        };
        margin = Some(common);
    }
    margin.filter(|it| !it.is_empty()).map(str::to_owned)
}

/// The indentation unit of a text.
fn unit(text: &str) -> Option<&'static str> {
    let mut least = usize::MAX;
    for line in text.lines().filter(|it| !it.trim().is_empty()) {
        if line.starts_with('\t') {
            return Some("\t");
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        if indent > 0 {
            least = least.min(indent);
        }
    }
    match least {
        usize::MAX => None,
        2 | 6 => Some("  "),
        _ => Some("    "),
    }
}

/// Changes a few lines; `None` if no line can be changed.
fn some_lines(text: &str, random: &mut Random, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let mut candidates: Vec<usize> = (0..lines.len()).filter(|&at| !lines[at].trim().is_empty()).collect();
    random.shuffle(&mut candidates);
    let mut left = random.between(1, 3);
    let mut changed = false;
    for at in candidates {
        if left == 0 {
            break;
        }
        if let Some(new) = change(&lines[at]) {
            lines[at] = new;
            left -= 1;
            changed = true;
        }
    }
    changed.then(|| lines.join("\n"))
}

fn joined(text: &str, random: &mut Random) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let plain = |line: &str| !line.contains(['"', '\'', '`', '#']) && !line.contains("//") && !line.contains('*');
    let mut fits: Vec<usize> = (0..lines.len().saturating_sub(1))
        .filter(|&at| {
            let (line, next) = (lines[at].trim_end(), lines[at + 1].trim());
            line.ends_with([',', '(', '{', '[']) && !next.is_empty() && plain(line) && plain(next)
        })
        .collect();
    random.shuffle(&mut fits);
    let at = *fits.first()?;
    let mut out: Vec<String> = lines[..at].iter().map(|it| (*it).to_owned()).collect();
    out.push(format!("{} {}", lines[at].trim_end(), lines[at + 1].trim_start()));
    out.extend(lines[at + 2..].iter().map(|it| (*it).to_owned()));
    Some(out.join("\n"))
}

/// A text with so many of its words changed, omitted or added, as it is recalled from memory.
pub fn drift(text: &str, tokens: usize, random: &mut Random) -> Option<String> {
    let mut out = text.to_owned();
    for _ in 0..tokens {
        // Another number is another meaning.
        let mut words: Vec<(usize, usize)> = words(&out);
        words.retain(|it| !out[it.0..].starts_with(|it: char| it.is_ascii_digit()));
        if words.is_empty() {
            return None;
        }
        let (start, end) = *random.pick(&words);
        let word = &out[start..end];
        let new = match random.below(5) {
            // One letter more, one less, or a different one.
            0 => format!("{word}s"),
            1 if word.chars().count() > 3 => word.chars().take(word.chars().count() - 1).collect(),
            2 => {
                let mut letters: Vec<char> = word.chars().collect();
                let at = random.below(letters.len());
                letters[at] = if letters[at] == 'q' { 'k' } else { 'q' };
                letters.into_iter().collect()
            }
            // A name with the same meaning.
            3 => format!("{word}_{}", random.pick(&["ref", "id", "new"])),
            4 if word.contains('_') => word.replacen('_', "", 1),
            _ => format!("{}{}", random.pick(&["my", "the"]), word),
        };
        out.replace_range(start..end, &new);
    }
    (out != text).then_some(out)
}

/// A text with so many typing errors anywhere except in numbers: a wrong, missing, doubled or swapped letter or sign.
pub fn typos(text: &str, count: usize, random: &mut Random) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..count {
        let fits = |it: &char| !it.is_whitespace() && !it.is_numeric();
        let places: Vec<usize> = (0..characters.len()).filter(|&at| fits(&characters[at])).collect();
        if places.is_empty() {
            return None;
        }
        let at = *random.pick(&places);
        let next = characters.get(at + 1).copied().filter(fits);
        match (random.below(5), next) {
            (0, _) => drop(characters.remove(at)),
            (1, _) => characters.insert(at, characters[at]),
            (2, Some(next)) if next != characters[at] => characters.swap(at, at + 1),
            (3, _) => characters.insert(at, *random.pick(&['e', 'a', 't', 's', 'o'])),
            _ => characters[at] = another(characters[at], random),
        }
    }
    let made: String = characters.into_iter().collect();
    (made != text).then_some(made)
}

fn another(character: char, random: &mut Random) -> char {
    let letters = ['a', 'e', 'i', 'n', 'o', 'r', 's', 't', 'x'];
    let signs = [',', '.', ';', ':', '(', ')', '-', '_', '\'', '='];
    let of = if character.is_alphanumeric() { &letters[..] } else { &signs[..] };
    let others: Vec<char> = of.iter().copied().filter(|it| *it != character).collect();
    *random.pick(&others)
}

/// Some signs replaced, omitted or added: details that are easily overlooked.
pub fn punctuation(text: &str, count: usize, random: &mut Random) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..count {
        let places: Vec<usize> = (0..characters.len()).filter(|&at| ",.;:'\"`()-".contains(characters[at])).collect();
        if places.is_empty() {
            return None;
        }
        let at = *random.pick(&places);
        match random.below(3) {
            0 => drop(characters.remove(at)),
            1 => characters.insert(at, characters[at]),
            _ => characters[at] = another(characters[at], random),
        }
    }
    let made: String = characters.into_iter().collect();
    (made != text).then_some(made)
}

/// The same typing error in a line of both texts that the edit does not change.
pub fn typo_in_both(search: &str, replacement: &str, random: &mut Random) -> Option<(String, String)> {
    let once = |text: &str, line: &str| text.split('\n').filter(|it| *it == line).count() == 1;
    let common = |line: &&str| line.trim().len() > 8 && once(search, line) && once(replacement, line);
    // A line that the edit moves is changed, even if its neighbours stay next to it.
    let pairs = |text: &str| -> Vec<(String, String)> {
        let lines: Vec<&str> = text.split('\n').collect();
        lines.windows(2).map(|it| (it[0].to_owned(), it[1].to_owned())).collect()
    };
    let (before, after) = (pairs(search), pairs(replacement));
    let stays = |line: &&str| before.iter().any(|it| (it.0 == *line || it.1 == *line) && after.contains(it));
    let lines: Vec<&str> = search.split('\n').filter(common).filter(stays).collect();
    if lines.is_empty() {
        return None;
    }
    let line = *random.pick(&lines);
    let slipped = typos(line, 1, random)?;
    let with = |text: &str| -> String {
        let lines: Vec<&str> = text.split('\n').map(|it| if it == line { &slipped } else { it }).collect();
        lines.join("\n")
    };
    Some((with(search), with(replacement)))
}

/// A different number in place of one with at least two digits.
pub fn other_number(text: &str, random: &mut Random) -> Option<String> {
    let numbers: Vec<(usize, usize)> = words(text)
        .into_iter()
        .filter(|&(a, b)| b - a > 1 && text[a..b].bytes().all(|it| it.is_ascii_digit()))
        .collect();
    if numbers.is_empty() {
        return None;
    }
    let (start, end) = *random.pick(&numbers);
    let other = random.between(100, 99_999).to_string();
    let number = &text[start..end];
    let like =
        number.starts_with(&other) || other.starts_with(number) || number.ends_with(&other) || other.ends_with(number);
    (!like).then(|| [&text[..start], &other, &text[end..]].concat())
}

/// A declaration of another item.
pub fn other_declaration(text: &str, random: &mut Random) -> Option<String> {
    const NAMES: [&str; 6] = ["Quux", "zygote_of", "visit_kin", "MAX_WIDTH_PX", "parseUpward", "Jigsaw"];
    let words = words(text);
    let declares =
        |word: &str| ["fn", "func", "struct", "enum", "trait", "const", "static", "type", "mod"].contains(&word);
    let at = words.iter().position(|&(a, b)| declares(&text[a..b]))?;
    let &(start, end) = words.get(at + 1)?;
    let between = &text[words[at].1..start];
    let name = *random.pick(&NAMES);
    let like = name.starts_with(&text[start..end]) || name.ends_with(&text[start..end]);
    (between == " " && end - start > 3 && !like).then(|| [&text[..start], name, &text[end..]].concat())
}

fn words(text: &str) -> Vec<(usize, usize)> {
    semdex_text::words::words(text).map(|(at, word)| (at, at + word.len())).collect()
}

/// A near-copy of a block: one of its names is replaced everywhere, or one line is missing.
pub fn near_copy(text: &str, random: &mut Random) -> Option<String> {
    let words = words(text);
    let names: Vec<&str> = words.iter().map(|&(a, b)| &text[a..b]).filter(|it| it.len() > 3).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() > 4 && random.chance(3) {
        let without = random.between(1, lines.len() - 2);
        if !lines[without].trim().is_empty() {
            return Some(lines.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, it)| *it).collect());
        }
    }
    if names.is_empty() {
        return None;
    }
    let name = *random.pick(&names);
    let mut out = text.to_owned();
    for &(a, b) in words.iter().rev().filter(|&&(a, b)| &text[a..b] == name) {
        out.replace_range(a..b, &format!("{name}Zz"));
    }
    Some(out)
}
