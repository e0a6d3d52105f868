//! Signs that an author has wrong in both texts, as tools and models mangle them on the way: the file keeps its own
//! signs, or the edit is refused.

use std::fs;
use std::path::Path;

use crate::edits::{AUTOFIX, spliced};
use crate::random::Random;
use semdex_model::{Span, Strategy};
use semdex_text::matching::{self, Outcome, Search};
use semdex_text::score;
use semdex_text::words::words;

/// A kind of wrong signs, and a block of lines with them; `is_new`: it is the replacement.
pub type Kind = (&'static str, fn(&str, is_new: bool) -> String);

pub const KINDS: [Kind; 9] = [
    ("escaped quotes", |text, _| text.replace('"', "\\\"")),
    ("diff signs", |text, is_new| each(text, |_, line| format!("{}{line}", if is_new { '+' } else { '-' }))),
    ("entities for signs", |text, _| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")),
    ("signs for entities", |text, _| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")),
    ("curly quotes", |text, _| text.replace('"', "\u{201d}").replace('\'', "\u{2019}")),
    ("straight quotes", |text, _| text.replace(['\u{201c}', '\u{201d}'], "\"").replace('\u{2019}', "'")),
    ("no-break blanks", |text, _| inner_blanks(text, "\u{a0}")),
    ("zero-width blanks", |text, _| inner_blanks(text, " \u{200b}")),
    ("line numbers", |text, _| each(text, |at, line| format!("{:>4}| {line}", at + 41))),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    Refused,
    Wrong,
}

/// Whether the author or the file has the wrong signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Author,
    File,
}

/// One edit in a block of a file, where both texts of the author have wrong signs, or the file has. `None` if the block
/// has no such sign.
pub fn judge(text: &str, (_, mangle): Kind, side: Side, random: &mut Random) -> Option<Verdict> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = random.below(lines.len());
    let end = (first + random.between(1, 4)).min(lines.len());
    let start = lines[..first].concat().len();
    let block = lines[first..end].concat();
    let changed = changed(&block, side, random)?;
    if text.matches(&block).count() != 1 || mangle(&block, false) == block {
        return None;
    }
    let place = Span::new(start, start + block.len());
    let (file, context, replacement, wanted) = match side {
        Side::Author => {
            (text.to_owned(), mangle(&block, false), mangle(&changed, true), spliced(text, place, &changed))
        }
        Side::File => {
            let [file, wanted] = [&block, &changed].map(|it| spliced(text, place, &mangle(it, false)));
            (file, block.clone(), changed, wanted)
        }
    };
    if file.contains(&context) {
        return None;
    }
    let search = Search {
        text: &file,
        context: &context,
        replacement: &replacement,
        autofix: *random.pick(&[AUTOFIX, 80]),
        near_line: None,
        within: None,
        whole_lines: false,
    };
    let made = match matching::find(&search) {
        Ok(Outcome::Found(hit)) => matching::apply(&file, &hit, &context, &replacement).ok().map(|made| (hit, made)),
        _ => None,
    };
    let Some((hit, made)) = made else { return Some(Verdict::Refused) };
    // Another place may be nearer to what is sent, or equal to it except for white space.
    let there = &file[start..file.len() - (text.len() - place.end)];
    let is_at = start <= hit.span.start && hit.span.end <= start + there.len();
    if !is_at && (hit.strategy != Strategy::Fuzzy || score::score(&context, there) <= hit.score) {
        return None;
    }
    if made.text != wanted {
        println!("=== {}", semdex_text::diff::between("wanted", &wanted, "made", &made.text));
        println!("--- search\n{context}--- replacement\n{replacement}");
    }
    Some(if made.text == wanted { Verdict::Kept } else { Verdict::Wrong })
}

/// A block with a word replaced, removed or added, or with one more line. What is added to a file with other signs is as
/// its author writes it.
fn changed(block: &str, side: Side, random: &mut Random) -> Option<String> {
    let places: Vec<(usize, &str)> = words(block).filter(|it| it.1.len() > 3).collect();
    if places.is_empty() {
        return None;
    }
    let &(at, word) = random.pick(&places);
    let other = format!("other{}", random.below(1000));
    let end = at + word.len();
    let with = |new: &str| spliced(block, Span::new(at, end), new);
    Some(match random.below(6) {
        0 if side == Side::Author => spliced(block, Span::new(end, end), &format!(" {other}")),
        // With the blank before it, so that none is left over.
        1 if block[..at].ends_with(' ') && !block[..at].trim().is_empty() => spliced(block, Span::new(at - 1, end), ""),
        2 if side == Side::Author => {
            let line = block[..at].rfind('\n').map_or(0, |it| it + 1);
            let line = block[line..].split_inclusive('\n').next().filter(|it| it.ends_with('\n'))?;
            block.to_owned() + &line.replacen(word, &other, 1)
        }
        _ => with(&other),
    })
}

/// The text files below a directory, without carriage returns.
pub fn files(below: &Path) -> Vec<String> {
    const ENDINGS: [&str; 6] = ["rs", "go", "md", "html", "htm", "toml"];
    let mut found = Vec::new();
    let mut pending = vec![below.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|it| it.path()).collect();
        paths.sort();
        for path in paths {
            let is_text = path.extension().is_some_and(|it| ENDINGS.iter().any(|ending| it == *ending));
            if path.is_dir() && !path.is_symlink() {
                pending.push(path);
            } else if is_text
                && let Ok(text) = fs::read_to_string(&path)
                && text.len() > 40
                && !text.contains('\r')
            {
                found.push(text);
            }
        }
    }
    found
}

fn each(text: &str, line: impl Fn(usize, &str) -> String) -> String {
    text.split_inclusive('\n').enumerate().map(|(at, it)| line(at, it)).collect()
}

/// Blanks between words, not those of the indentation.
fn inner_blanks(text: &str, blank: &str) -> String {
    each(text, |_, line| {
        let indent = line.len() - line.trim_start().len();
        line[..indent].to_owned() + &line[indent..].replace(' ', blank)
    })
}
