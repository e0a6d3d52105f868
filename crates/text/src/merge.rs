//! Merges two changes of one text, which were made independently, line by line.

use std::ops::Range;

use semdex_model::Span;
use similar::{Algorithm, capture_diff_slices};

/// A text with both changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The text.
    pub text: String,
    /// The places of their changes in the text.
    pub kept: Vec<Span>,
    /// The places of our changes in the text.
    pub landed: Vec<Span>,
}

/// A place that both change in different ways, or next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The place before both changes.
    pub base: String,
    /// The place after our change.
    pub ours: String,
    /// The place after their change.
    pub theirs: String,
    /// Where `theirs` is in their text.
    pub place: Span,
}

/// What changes some lines of the base.
struct Hunk<'a> {
    of: Range<usize>,
    lines: Vec<&'a str>,
}

/// The base with our change and theirs.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<Merged, Conflict> {
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let (all_ours, all_theirs) = (hunks(&base, ours), hunks(&base, theirs));
    let (mut ours, mut theirs) = (all_ours.iter().peekable(), all_theirs.iter().peekable());
    let mut merged = Merged { text: String::new(), kept: Vec::new(), landed: Vec::new() };
    let mut at = 0;
    loop {
        let (hunk, is_ours, is_theirs) = match (ours.peek(), theirs.peek()) {
            (Some(a), Some(b)) if a.touches(&b.of) => {
                if a.of != b.of || a.lines != b.lines {
                    let lines = a.of.start.min(b.of.start)..a.of.end.max(b.of.end);
                    return Err(conflict(&base, &all_ours, &all_theirs, lines));
                }
                theirs.next();
                (ours.next(), true, true)
            }
            (Some(a), Some(b)) if a.of.start < b.of.start => (ours.next(), true, false),
            (Some(_), None) => (ours.next(), true, false),
            (_, _) => (theirs.next(), false, true),
        };
        let Some(hunk) = hunk else { break };
        merged.text.extend(base.get(at..hunk.of.start).unwrap_or_default().iter().copied());
        let start = merged.text.len();
        merged.text.extend(hunk.lines.iter().copied());
        let place = Span::new(start, merged.text.len());
        merged.landed.extend(is_ours.then_some(place));
        merged.kept.extend(is_theirs.then_some(place));
        at = hunk.of.end;
    }
    merged.text.extend(base.get(at..).unwrap_or_default().iter().copied());
    Ok(merged)
}

/// The conflict at these lines of the base, with all changes that touch them.
fn conflict(base: &[&str], ours: &[Hunk<'_>], theirs: &[Hunk<'_>], mut lines: Range<usize>) -> Conflict {
    for _ in 0..ours.len() + theirs.len() {
        for hunk in ours.iter().chain(theirs) {
            if hunk.touches(&lines) {
                lines = lines.start.min(hunk.of.start)..lines.end.max(hunk.of.end);
            }
        }
    }
    let of_base = |range: Range<usize>| base.get(range).unwrap_or_default().concat();
    let version = |hunks: &[Hunk<'_>], of: Range<usize>| {
        let (mut text, mut at) = (String::new(), of.start);
        for hunk in hunks.iter().filter(|it| of.start <= it.of.start && it.of.end <= of.end) {
            text += &of_base(at..hunk.of.start);
            text.extend(hunk.lines.iter().copied());
            at = hunk.of.end;
        }
        text + &of_base(at..of.end)
    };
    let (before, there) = (version(theirs, 0..lines.start), version(theirs, lines.clone()));
    let place = Span::new(before.len(), before.len() + there.len());
    Conflict { base: of_base(lines.clone()), ours: version(ours, lines), theirs: there, place }
}

impl Hunk<'_> {
    fn touches(&self, lines: &Range<usize>) -> bool {
        self.of.start <= lines.end && lines.start <= self.of.end
    }
}

fn hunks<'a>(base: &[&str], text: &'a str) -> Vec<Hunk<'a>> {
    let lines: Vec<&'a str> = text.split_inclusive('\n').collect();
    let operations = capture_diff_slices(Algorithm::Myers, base, &lines);
    let changed = operations.iter().map(|it| it.as_tag_tuple()).filter(|(tag, ..)| *tag != similar::DiffTag::Equal);
    changed.map(|(_, of, new)| Hunk { of, lines: lines.get(new).unwrap_or_default().to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(base: &str, ours: &str, theirs: &str) -> String {
        merge(base, ours, theirs).expect("they can be merged").text
    }

    #[test]
    fn changes_of_different_lines_are_both_made() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(text(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"), "A\nb\nc\nd\nE\n");
        assert_eq!(text(base, "b\nc\nd\ne\n", "a\nb\nc\nx\ny\nd\ne\n"), "b\nc\nx\ny\nd\ne\n");
        assert_eq!(text(base, base, "z\n"), "z\n");
        assert_eq!(text(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n"), "a\nB\nc\nd\ne\n");
        assert_eq!(text("", "a\n", ""), "a\n");
        let both = merge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nx\ny\nd\ne\n").expect("they can be merged");
        assert_eq!((both.landed, both.kept), (vec![Span::new(0, 2)], vec![Span::new(6, 10)]));
    }

    #[test]
    fn changes_that_meet_are_not() {
        let base = "a\nb\nc\n";
        let met = merge(base, "a\nB\nc\n", "0\n1\na\nX\nc\n").expect_err("the same line");
        let wanted = Conflict { base: "b\n".into(), ours: "B\n".into(), theirs: "X\n".into(), place: Span::new(6, 8) };
        assert_eq!(met, wanted);
        assert!(merge(base, "a\nB\nc\n", "a\nb\nC\n").is_err(), "lines next to each other");
        assert!(merge("", "a\n", "b\n").is_err());
        assert!(merge(base, "", "a\nb\nc\nd\n").is_err());
    }

    proptest::proptest! {
        #[test]
        fn one_change_alone_is_that_change(base in "[ab\n]{0,12}", one in "[ab\n]{0,12}") {
            proptest::prop_assert_eq!(&text(&base, &base, &one), &one);
            proptest::prop_assert_eq!(&text(&base, &one, &base), &one);
            proptest::prop_assert_eq!(&text(&base, &one, &one), &one);
        }
    }
}
