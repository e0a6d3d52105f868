//! Changes that somebody else made inside or beside the place, after the author of an edit has read it.

use std::collections::HashSet;

use semdex_model::Span;

use crate::edits::{Block, spliced};
use crate::random::Random;

/// What somebody else did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    AddedLine,
    RemovedLine,
    ChangedWord,
    ChangedSign,
    Replaced,
    Moved,
    Reindented,
}

const KINDS: [Kind; 7] = [
    Kind::AddedLine,
    Kind::RemovedLine,
    Kind::ChangedWord,
    Kind::ChangedSign,
    Kind::Replaced,
    Kind::Moved,
    Kind::Reindented,
];

/// A base with two independent changes.
pub struct Both {
    pub kind: Kind,
    /// The text that the author read.
    pub base: String,
    /// The base with the author's change.
    pub ours: String,
    /// The base with the change of somebody else.
    pub theirs: String,
    /// What has to be in a text that has their change, without white space, and how often at most.
    pub sign: Sign,
}

/// By what their change is recognised.
pub enum Sign {
    /// This text occurs, without white space.
    Has(String),
    /// This sign occurs as often as both changes leave it; or this line of theirs is there, since both have made it.
    Counted(&'static str, String),
    /// This line occurs at most so many times more than in their text as the author has added it, or it is not where it
    /// was: between these two lines.
    HasNot(String, [String; 2]),
    /// Every word of their text is there; nothing else is known.
    Unknown,
}

/// One change of somebody else, within six lines of the block.
pub fn both(base: &str, ours: &str, block: &Block, random: &mut Random) -> Option<Both> {
    let kind = *random.pick(&KINDS);
    let lines: Vec<Span> = lines(base);
    let first = lines.iter().position(|it| it.end > block.span.start)?;
    let last = lines.iter().rposition(|it| it.start < block.span.end)?;
    let near = first.saturating_sub(3)..(last + 4).min(lines.len());
    let at = random.between(near.start, near.end - 1);
    let line = lines[at];
    let text = &base[line.start..line.end];
    let below = &base[line.start..];
    let indent = below[..below.len() - below.trim_start().len()].rsplit('\n').next().unwrap_or_default();
    let (theirs, sign) = match kind {
        Kind::AddedLine => {
            let marker = format!("by_somebody_else_{}();", random.below(100_000));
            let added = format!("{indent}{marker}\n");
            (spliced(base, Span::new(line.start, line.start), &added), Sign::Has(marker))
        }
        Kind::RemovedLine => {
            (!text.trim().is_empty()).then_some(())?;
            let beside = [at.checked_sub(1), Some(at + 1)].map(|it| {
                let line = it.and_then(|it| lines.get(it)).map_or("", |it| &base[it.start..it.end]);
                line.trim().to_owned()
            });
            (spliced(base, line, ""), Sign::HasNot(text.trim().to_owned(), beside))
        }
        Kind::ChangedWord => {
            let words: Vec<(usize, &str)> = semdex_text::words::words(text).filter(|it| it.1.len() > 2).collect();
            (!words.is_empty()).then_some(())?;
            let (from, word) = *random.pick(&words);
            let other = format!("otherwise{}", random.below(100_000));
            let span = Span::new(line.start + from, line.start + from + word.len());
            (spliced(base, span, &other), Sign::Has(other))
        }
        Kind::ChangedSign => {
            const SIGNS: [(&str, &str); 9] = [
                (" < ", " <= "),
                (" > ", " >= "),
                ("==", "!="),
                ("&&", "||"),
                (" + ", " - "),
                ("i64", "i32"),
                ("u8", "u16"),
                ("true", "false"),
                ("0", "1"),
            ];
            let (from, (old, new)) = SIGNS.iter().find_map(|it| Some((text.find(it.0)?, *it)))?;
            let span = Span::new(line.start + from, line.start + from + old.len());
            // By chance the author has changed it in the same way: then there is one change.
            let changed = [&text[..from], new].concat();
            let count = |all: &str| all.lines().filter(|it| it.starts_with(&changed)).count();
            let is_ours = count(ours) > count(base);
            (!is_ours).then_some(())?;
            let theirs = spliced(base, span, new);
            let changed = text.replacen(old, new, 1);
            (theirs, Sign::Counted(new, changed.trim().to_owned()))
        }
        Kind::Replaced => {
            let marker = format!("    wholly_rewritten_{}(by, somebody, else);\n", random.below(100_000));
            (spliced(base, block.span, &marker.repeat(2)), Sign::Has(squeezed(&marker)))
        }
        Kind::Moved => {
            let to = lines[random.below(lines.len())].start;
            (to < block.span.start || to >= block.span.end).then_some(())?;
            let moved = &base[block.span.start..block.span.end];
            let theirs = if to < block.span.start {
                [&base[..to], moved, &base[to..block.span.start], &base[block.span.end..]].concat()
            } else {
                [&base[..block.span.start], &base[block.span.end..to], moved, &base[to..]].concat()
            };
            (theirs, Sign::Unknown)
        }
        Kind::Reindented => {
            let from = lines[near.start].start;
            let to = lines[near.end - 1].end;
            let deeper = |line: &str| if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") };
            let indented: String = base[from..to].split_inclusive('\n').map(deeper).collect();
            (spliced(base, Span::new(from, to), &indented), Sign::Unknown)
        }
    };
    (theirs != base && theirs != ours && base.is_char_boundary(line.start)).then(|| Both {
        kind,
        base: base.to_owned(),
        ours: ours.to_owned(),
        theirs,
        sign,
    })
}

impl Both {
    /// Whether a text that was made of both changes has lost theirs.
    pub fn is_lost(&self, made: &str) -> bool {
        match &self.sign {
            Sign::Has(text) => !squeezed(made).contains(text.as_str()),
            Sign::Counted(sign, line) => {
                // The author may have written it without the blanks around it.
                let count = |text: &str| text.matches(sign.trim()).count();
                let lines = |text: &str| text.lines().filter(|it| it.trim() == line).count();
                count(made) + count(&self.base) < count(&self.theirs) + count(&self.ours)
                    && lines(made) < lines(&self.theirs)
            }
            Sign::HasNot(line, beside) => {
                let count = |text: &str| text.lines().filter(|it| it.trim() == line).count();
                let [base, ours]: [Vec<&str>; 2] = [&self.base, &self.ours].map(|it| it.lines().collect());
                let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &base, &ours);
                let changes = changes.iter().map(|it| it.as_tag_tuple()).filter(|it| it.0 != similar::DiffTag::Equal);
                let added: usize = changes.map(|it| ours[it.2].iter().filter(|it| it.trim() == line).count()).sum();
                let is_there = |text: &str| {
                    let lines: Vec<&str> = text.lines().map(str::trim).collect();
                    let pairs = lines.windows(2).filter(|it| *it == [&beside[0], line] || *it == [line, &beside[1]]);
                    pairs.count()
                };
                count(made) > count(&self.theirs) + added && is_there(made) > is_there(&self.theirs)
            }
            Sign::Unknown => false,
        }
    }

    /// Whether a text has lost words that we added, or has words that neither text has.
    pub fn is_corrupt(&self, made: &str) -> bool {
        let words =
            |text: &str| -> HashSet<String> { semdex_text::words::words(text).map(|it| it.1.to_owned()).collect() };
        let [base, ours, theirs, made] = [&*self.base, &*self.ours, &*self.theirs, made].map(words);
        made.iter().any(|it| !ours.contains(it) && !theirs.contains(it))
            || ours.iter().any(|it| !base.contains(it) && !made.contains(it))
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn lines(text: &str) -> Vec<Span> {
    let mut start = 0;
    let line = |line: &str| {
        start += line.len();
        Span::new(start - line.len(), start)
    };
    text.split_inclusive('\n').map(line).collect()
}
