//! What a patch says of the place of a hunk besides its lines: a line number, the lines above it, the end of the file.
//! The lines of the hunk decide. These hints only choose between several places, and refuse a place in another block.

use semdex_model::{Code, Error, Help, Result, Span};
use semdex_text::endings;
use semdex_text::lines::LineIndex;
use semdex_text::matching::{self, Outcome, Patch, Search};
use semdex_text::patches::{FinalNewline, PlaceHints};

/// The line of the place that the hints choose, if several places match.
///
/// A line number is trusted only if a place begins in that very line: models guess these numbers, and the nearest place
/// to a guess is any place.
pub(super) fn line(search: &Search, place: &PlaceHints) -> Option<usize> {
    if *place == PlaceHints::default() {
        return None;
    }
    let Ok(Outcome::Ambiguous(hits)) = matching::find(search) else { return None };
    let text = search.text;
    let lines = LineIndex::new(text);
    let spans: Vec<Span> = hits.iter().map(|it| it.span).collect();
    let only = |is_it: &dyn Fn(&Span) -> bool| match spans.iter().filter(|it| is_it(it)).collect::<Vec<_>>()[..] {
        [one] => Some(lines.line(one.start)),
        _ => None,
    };
    let below = || {
        let block = block_below(text, &place.headings)?;
        only(&|it| touches(*it, block))
    };
    let at_end = || only(&|it| text[it.end..].trim().is_empty());
    let numbered = || only(&|it| Some(lines.line(it.start)) == place.line);
    let last = || place.at_end.then(at_end).flatten();
    if place.is_below { below().or_else(last).or_else(numbered) } else { numbered().or_else(below) }
}

/// Refuses a place outside the block that the patch names.
pub(super) fn check(path: &str, text: &str, found: Span, place: &PlaceHints) -> Result<()> {
    let Some(block) = block_below(text, &place.headings).filter(|it| place.is_below && !touches(found, *it)) else {
        return Ok(());
    };
    let lines = LineIndex::new(text);
    let detail = format!(
        "the text of the hunk is in line {} of `{path}`, and not below `@@ {}`, which is in line {}: leave out the line \
         after `@@`, or name the line above the place",
        lines.line(found.start),
        place.headings.join("` `@@ "),
        lines.line(block.start)
    );
    let help = Help { file: Some(path.to_owned()), ..Help::default() };
    Err(Error::new(Code::NoMatch, detail).with_help(help))
}

/// Adds or removes the newline at the end of the file, if the place of the hunk reaches it.
pub(super) fn end_file(text: &str, found: Span, patch: &mut Patch, final_newline: FinalNewline) {
    let rest = text.get(found.end.max(patch.range.end)..).unwrap_or_default();
    if final_newline == FinalNewline::Kept || !matches!(rest, "" | "\n" | "\r\n") {
        return;
    }
    // The patch may be less than the place, and nothing where no word changes.
    let before = text.get(found.start..patch.range.start).unwrap_or_default();
    let after = text.get(patch.range.end..found.end).unwrap_or_default();
    patch.text = [before, &patch.text, after].concat();
    patch.range.start -= before.len();
    patch.range.end = text.len();
    let bare = patch.text.strip_suffix('\n').map_or(patch.text.len(), |it| it.trim_end_matches('\r').len());
    patch.text.truncate(bare);
    if final_newline == FinalNewline::Added && !patch.text.is_empty() {
        patch.text.push_str(endings::at(text, patch.range.start));
    }
}

/// The patch without the whole lines at its start and end that stay the same, so that hunks may share such lines.
pub(super) fn without_context(text: &str, patch: Patch) -> Patch {
    let Patch { range, text: new } = patch;
    let old = text.get(range.start..range.end).unwrap_or_default();
    let same = |(a, b): &(&str, &str)| a == b;
    let length = |pairs: Vec<(&str, &str)>| pairs.iter().map(|it| it.0.len()).sum::<usize>();
    let head = length(old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(same).collect());
    let (old, new) = (&old[head..], &new[head..]);
    let tail = length(old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev()).take_while(same).collect());
    let range = Span::new(range.start + head, range.end - tail);
    Patch { range, text: new[..new.len() - tail].to_owned() }
}

fn touches(found: Span, block: Span) -> bool {
    found.start < block.end && block.start < found.end
}

/// The block below these lines, each of which is in the block of the line before. None if a line is not found, or found
/// more than once.
fn block_below(text: &str, headings: &[String]) -> Option<Span> {
    let mut block = None;
    for heading in headings {
        let within = block.unwrap_or(Span::new(0, text.len()));
        block = Some(block_of(text, within, only_line(text, within, heading.trim())?));
    }
    block
}

/// The only line in a range that is this one, or else begins with it, or else contains it.
fn only_line(text: &str, within: Span, heading: &str) -> Option<Span> {
    let tests: [fn(&str, &str) -> bool; 3] = [
        |line, heading| line == heading,
        |line, heading| line.starts_with(heading),
        |line, heading| line.contains(heading),
    ];
    for is_it in tests {
        let mut found = lines(text, within).filter(|it| is_it(text[it.start..it.end].trim(), heading));
        match (found.next(), found.next()) {
            (None, _) => {}
            (Some(one), None) => return Some(one),
            (Some(_), Some(_)) => return None,
        }
    }
    None
}

/// A line with the deeper lines after it, and the closing bracket. All that follows if no deeper line does.
fn block_of(text: &str, within: Span, head: Span) -> Span {
    let depth = |line: Span| {
        let line = &text[line.start..line.end];
        line.len() - line.trim_start().len()
    };
    let own = depth(head);
    let ends = |line: &Span| {
        let bare = text[line.start..line.end].trim();
        !bare.is_empty() && depth(*line) <= own && !bare.starts_with(['{', '}', ')', ']'])
    };
    let end = lines(text, Span::new(head.end, within.end)).find(ends).filter(|it| it.start > head.end);
    Span::new(head.start, end.map_or(within.end, |it| it.start))
}

/// The lines that begin in a range, with their line ends.
fn lines(text: &str, within: Span) -> impl Iterator<Item = Span> {
    let mut at = within.start;
    text[within.start..within.end].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        Span::new(start, at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_line_with_the_deeper_lines_below() {
        let text = "class A:\n    def f(self):\n        x()\n\n    def g(self):\n        x()\nclass B:\n    \
                    def f(self):\n        x()\n";
        let block = |headings: &[&str]| {
            let headings: Vec<String> = headings.iter().map(|it| (*it).to_owned()).collect();
            block_below(text, &headings).map(|it| &text[it.start..it.end])
        };
        assert_eq!(block(&["class B"]), Some("class B:\n    def f(self):\n        x()\n"));
        assert_eq!(block(&["class A:", "def f"]), Some("    def f(self):\n        x()\n\n"));
        assert_eq!(block(&["def f(self):"]), None, "twice");
        assert_eq!(block(&["def h"]), None);
        let c = "int f(void)\n{\n    x();\n}\n\nint g(void)\n{\n    x();\n}\n";
        let block = block_below(c, &["int f(void)".to_owned()]).unwrap();
        assert_eq!(&c[block.start..block.end], "int f(void)\n{\n    x();\n}\n\n");
    }

    #[test]
    fn a_patch_without_context_has_the_same_result() {
        let text = "a\nb\nc\nd";
        let of = |start, end, new: &str| {
            let patch = without_context(text, Patch { range: Span::new(start, end), text: new.to_owned() });
            let whole = [&text[..start], new, &text[end..]].concat();
            assert_eq!([&text[..patch.range.start], &patch.text, &text[patch.range.end..]].concat(), whole);
            (patch.range.start, patch.range.end, patch.text)
        };
        assert_eq!(of(0, 6, "a\nx\nc\n"), (2, 4, "x\n".to_owned()));
        assert_eq!(of(0, 4, "a\nx\nb\n"), (2, 2, "x\n".to_owned()));
        assert_eq!(of(0, 7, "a\nb\nc\nd\ne"), (6, 7, "d\ne".to_owned()));
        assert_eq!(of(0, 3, "a\nb"), (3, 3, String::new()));
        assert_eq!(of(2, 3, "c"), (2, 3, "c".to_owned()));
    }

    #[test]
    fn the_end_of_the_file_is_as_the_patch_says() {
        let ended = |text: &str, from: usize, new: &str, final_newline| {
            let found = Span::new(from, from + 1);
            let mut patch = Patch { range: found, text: new.to_owned() };
            end_file(text, found, &mut patch, final_newline);
            [&text[..patch.range.start], &patch.text, &text[patch.range.end..]].concat()
        };
        assert_eq!(ended("a\nb", 2, "c", FinalNewline::Added), "a\nc\n");
        assert_eq!(ended("a\r\nb", 3, "c", FinalNewline::Added), "a\r\nc\r\n");
        assert_eq!(ended("a\nb\n", 2, "c\n", FinalNewline::Removed), "a\nc");
        assert_eq!(ended("a\nb\n", 2, "c", FinalNewline::Removed), "a\nc");
        assert_eq!(ended("a\nb\n", 0, "c", FinalNewline::Removed), "c\nb\n", "not at the end");
        assert_eq!(ended("a\nb", 2, "c", FinalNewline::Kept), "a\nc");
        // Nothing else changes.
        for at in 0..=3 {
            let mut patch = Patch { range: Span::new(at, at), text: String::new() };
            end_file("a\nb", Span::new(0, 3), &mut patch, FinalNewline::Added);
            assert_eq!((patch.range, &*patch.text), (Span::new(0, 3), "a\nb\n"), "{at}");
        }
    }
}
