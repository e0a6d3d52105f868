//! Errors of a search text that its replacement does not have: they are no change of the edit.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::merge::indentation::indent_of;
use crate::merge::is_misspelt;
use crate::tokens::{Change, Tokens, changes, is_word, kept};
use crate::words::has_word;

/// Parts of a search text, and what they ought to be.
type Corrections = Vec<(Range<usize>, String)>;

/// A search text in which lines and words are as in the file where its author has them so in the replacement as well,
/// and otherwise in the search text alone.
pub(super) fn corrected(base: &str, ours: &str, theirs: &str, file: &str) -> String {
    with_words(&with_lines(base, ours, theirs), ours, theirs, file)
}

/// With the lines of the file that the replacement has, and the search text has otherwise.
fn with_lines(base: &str, ours: &str, theirs: &str) -> String {
    let [asked, wanted, there] = [base, ours, theirs].map(Tokens::new);
    let changes = changes(&asked, &there);
    let occurrences = |of: &Tokens, part: &Range<usize>| -> Vec<usize> {
        let starts = 0..(wanted.len() + 1).saturating_sub(part.len());
        starts.filter(|&at| wanted.slice(at..at + part.len()).eq(of.slice(part.clone()))).collect()
    };
    let begins = |at: usize| at == wanted.len() || wanted.begins_line(at);
    let mut lines: Vec<(Lines, usize, Corrections)> = Vec::new();
    for part in changed_lines(&asked, &there, &changes) {
        let [at] = occurrences(&there, &part.theirs)[..] else { continue };
        let made: Option<Corrections> = part.changes.iter().map(|it| correction(&asked, &there, it)).collect();
        if let Some(made) = made
            && begins(at)
            && begins(at + part.theirs.len())
            && occurrences(&asked, &part.base).is_empty()
        {
            lines.push((part, at, made));
        }
    }
    let with = |lines: &[(Lines, usize, Corrections)]| replaced(base, lines.iter().flat_map(|it| it.2.iter().cloned()));
    // The edit must keep such a line: else it may be a line that it writes elsewhere.
    let text = with(&lines);
    let tokens = Tokens::new(&text);
    let kept = kept(&self::changes(&tokens, &wanted), tokens.len());
    let mut longer = 0isize;
    lines.retain(|(Lines { base, theirs, .. }, at, _)| {
        let start = base.start.saturating_add_signed(longer);
        longer += theirs.len().cast_signed() - base.len().cast_signed();
        (0..theirs.len()).all(|step| kept.get(start + step) == Some(&Some(at + step)))
    });
    with(&lines)
}

/// The part of a search text that is replaced, and the words of the file. Line ends stay as the author has them; `None`
/// if there are more of them, or less. Other white space is the file's, so that the replacement decides about it.
fn correction(asked: &Tokens, there: &Tokens, Change { old, new }: &Change) -> Option<(Range<usize>, String)> {
    let ends_line = |it: &&str| it.contains('\n');
    let mut line_ends = old.clone().skip(1).map(|at| asked.gap(at)).filter(ends_line);
    let mut words = String::new();
    for at in new.clone() {
        let gap = Some(there.gap(at)).filter(|_| at > new.start).unwrap_or_default();
        words += if gap.contains('\n') { line_ends.next()? } else { gap };
        words += there.get(at);
    }
    if line_ends.next().is_some() {
        return None;
    }
    let around = [asked.gap(old.start), asked.gap(old.end)];
    let inline = |at: usize| Some(there.gap(at)).filter(|it| !ends_line(it));
    Some(if new.is_empty() {
        let edge = if old.start == 0 { Some(around[0]) } else { (old.end == asked.len()).then_some(around[1]) };
        let gap = edge.or(around.into_iter().find(ends_line)).or(inline(new.start)).unwrap_or(around[0]);
        (asked.end_before(old.start)..asked.start(old.end), gap.to_owned())
    } else if !old.is_empty() {
        (asked.start(old.start)..asked.end_before(old.end), words)
    } else if let Some(before) = inline(new.start).filter(|_| old.start > 0) {
        let at = asked.end_before(old.start);
        (at..at, format!("{before}{words}"))
    } else {
        let after = inline(new.end).unwrap_or_default();
        let at = asked.start(old.start);
        // Where words at the start of a line are lost, the blanks after them look like indentation.
        let [own, theirs] = [asked.gap(old.start), there.gap(new.start)].map(indent_of);
        let is_left = own.len() == theirs.len() + after.len();
        let (from, before) = if is_left { (at - own.len(), theirs) } else { (at, "") };
        (from..at, [before, &words, after].concat())
    })
}

/// Lines of the file with changes in them, and what the search text has for them.
struct Lines {
    base: Range<usize>,
    theirs: Range<usize>,
    changes: Vec<Change>,
}

/// The lines of the file with a change in them, and what the search text has for them. Whole lines that one of both has
/// and the other one has not are what somebody else has added or removed.
fn changed_lines(asked: &Tokens, there: &Tokens, changes: &[Change]) -> Vec<Lines> {
    let begins = |tokens: &Tokens, at: usize| at == tokens.len() || tokens.begins_line(at);
    let are_lines = |tokens: &Tokens, range: &Range<usize>| begins(tokens, range.start) && begins(tokens, range.end);
    let kept = kept(changes, asked.len());
    let mut found: Vec<Lines> = Vec::new();
    let mut start = (0, 0);
    for (old, new) in line_starts(asked, there, changes, &kept).into_iter().chain([(asked.len(), there.len())]) {
        let (base, theirs) = (start.0..old, start.1..new);
        start = (old, new);
        let is_within = |it: &&Change| {
            base.start <= it.old.start
                && it.old.end <= base.end
                && theirs.start <= it.new.start
                && it.new.end <= theirs.end
        };
        let changes: Vec<Change> = changes.iter().filter(is_within).cloned().collect();
        let is_whole = |it: &Change| {
            it.old.is_empty() && are_lines(there, &it.new) || it.new.is_empty() && are_lines(asked, &it.old)
        };
        let same = base.clone().filter(|&at| kept[at].is_some()).count();
        let is_alike = 2 * same >= base.len().max(theirs.len());
        let added: usize = changes.iter().map(|it| it.new.len()).sum();
        let is_alike = is_alike && same + added == theirs.len();
        if is_alike && !changes.is_empty() && !changes.iter().any(is_whole) {
            found.push(Lines { base, theirs, changes });
        }
    }
    found
}

/// Where the lines of the file begin in the search text and in the file. Words that only the search text has before a
/// line belong to it if they begin a line there.
fn line_starts(asked: &Tokens, there: &Tokens, changes: &[Change], kept: &[Option<usize>]) -> Vec<(usize, usize)> {
    let of_kept = (0..asked.len()).filter_map(|old| {
        let new = kept[old].filter(|&it| there.begins_line(it))?;
        let before = (0..old).rev().take_while(|&it| kept[it].is_none()).find(|&it| asked.begins_line(it));
        Some((before.unwrap_or(old), new))
    });
    let is_added = |it: &&Change| !it.new.is_empty() && there.begins_line(it.new.start);
    let begins = |it: &&Change| it.old.start == asked.len() || asked.begins_line(it.old.start);
    let of_changes = changes.iter().filter(is_added).filter(begins).map(|it| (it.old.start, it.new.start));
    let mut starts: Vec<(usize, usize)> = of_kept.chain(of_changes).collect();
    starts.sort_unstable();
    starts
}

/// With the words of the place that the replacement has, and that the search text misspells. A word that the file has
/// elsewhere is not misspelt.
fn with_words(base: &str, ours: &str, theirs: &str, file: &str) -> String {
    let [asked, wanted, there] = [base, ours, theirs].map(Tokens::new);
    let written: FxHashSet<&str> = wanted.slice(0..wanted.len()).collect();
    let mut corrections: Vec<(Range<usize>, &str)> = Vec::new();
    for Change { old, new } in changes(&asked, &there) {
        let pairs = || old.clone().zip(there.slice(new.clone()));
        let is_error = |(at, there): (usize, &str)| {
            let asked = asked.get(at);
            asked == there
                || asked.starts_with(is_word)
                    && !written.contains(asked)
                    && written.contains(there)
                    && is_misspelt(asked, there)
                    && !has_word(file, asked)
        };
        if old.len() == new.len() && pairs().all(is_error) {
            corrections.extend(pairs().map(|(at, there)| (asked.start(at)..asked.end_before(at + 1), there)));
        }
    }
    replaced(base, corrections.into_iter())
}

/// A text with some parts replaced.
fn replaced(text: &str, parts: impl Iterator<Item = (Range<usize>, impl AsRef<str>)>) -> String {
    let mut made = String::with_capacity(text.len());
    let mut done = 0;
    for (part, new) in parts {
        made += &text[done..part.start];
        made += new.as_ref();
        done = part.end;
    }
    made + &text[done..]
}
