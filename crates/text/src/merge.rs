//! Merges two changes of one text, which were made independently, line by line.

use std::ops::Range;

use similar::{Algorithm, capture_diff_slices};

/// What changes some lines of the base.
struct Hunk<'a> {
    of: Range<usize>,
    lines: Vec<&'a str>,
}

/// The base with both changes; `None` if they touch the same or neighbouring lines.
pub fn merge(base: &str, one: &str, other: &str) -> Option<String> {
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let (mut one, mut other) = (hunks(&base, one).into_iter().peekable(), hunks(&base, other).into_iter().peekable());
    let mut merged = String::new();
    let mut at = 0;
    loop {
        let hunk = match (one.peek(), other.peek()) {
            (Some(a), Some(b)) => {
                let touch = a.of.start <= b.of.end && b.of.start <= a.of.end;
                if touch && (a.of != b.of || a.lines != b.lines) {
                    return None;
                }
                if touch {
                    other.next();
                    one.next()
                } else if a.of.start < b.of.start {
                    one.next()
                } else {
                    other.next()
                }
            }
            (Some(_), None) => one.next(),
            (None, _) => other.next(),
        };
        let Some(hunk) = hunk else { break };
        merged.extend(base.get(at..hunk.of.start)?.iter().copied());
        merged.extend(hunk.lines);
        at = hunk.of.end;
    }
    merged.extend(base.get(at..)?.iter().copied());
    Some(merged)
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

    #[test]
    fn changes_of_different_lines_are_both_made() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(merge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").as_deref(), Some("A\nb\nc\nd\nE\n"));
        assert_eq!(merge(base, "b\nc\nd\ne\n", "a\nb\nc\nx\ny\nd\ne\n").as_deref(), Some("b\nc\nx\ny\nd\ne\n"));
        assert_eq!(merge(base, base, "z\n").as_deref(), Some("z\n"));
        assert_eq!(merge(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n").as_deref(), Some("a\nB\nc\nd\ne\n"));
        assert_eq!(merge("", "a\n", "").as_deref(), Some("a\n"));
    }

    #[test]
    fn changes_that_meet_are_not() {
        let base = "a\nb\nc\n";
        assert_eq!(merge(base, "a\nB\nc\n", "a\nX\nc\n"), None);
        assert_eq!(merge(base, "a\nB\nc\n", "a\nb\nC\n"), None, "lines next to each other");
        assert_eq!(merge("", "a\n", "b\n"), None);
        assert_eq!(merge(base, "", "a\nb\nc\nd\n"), None);
    }

    proptest::proptest! {
        #[test]
        fn one_change_alone_is_that_change(base in "[ab\n]{0,12}", text in "[ab\n]{0,12}") {
            proptest::prop_assert_eq!(merge(&base, &base, &text), Some(text.clone()));
            proptest::prop_assert_eq!(merge(&base, &text, &base), Some(text.clone()));
            proptest::prop_assert_eq!(merge(&base, &text, &text), Some(text));
        }
    }
}
