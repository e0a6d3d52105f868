//! Cuts lines that are too long for a budget, for example lines of generated code. A reply has at least one line,
//! otherwise paging would never end.

use super::markdown::missing;
use crate::Missing;
use semdex_model::MissingCode;

const CUT: &str = "…";
/// The minimum length of a cut line in bytes. Values that clients send back (cursors, hashes, ids of fixes) are on
/// shorter lines.
const SHORTEST: usize = 240;
const NOTE: &str = "lines that end with `…` are cut; no cursor brings the rest of a line";

/// Cuts the longest lines until the text has at most `most` bytes, or as short as that makes it, and adds a note.
pub(crate) fn cut_lines(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let mut note = "\n".to_owned();
    missing(&mut note, &[Missing::new(MissingCode::Budget, "max_tokens", NOTE.to_owned())]);
    let lengths: Vec<usize> = text.split_inclusive('\n').map(str::len).collect();
    let allowed = most.saturating_sub(note.len());
    let taken = |length: usize| lengths.iter().map(|it| (*it).min(length + CUT.len() + 1)).sum::<usize>();
    let longest = longest_that_fits(SHORTEST, most, |it| taken(it) <= allowed);
    if lengths.iter().all(|it| *it <= longest + CUT.len() + 1) {
        return text;
    }
    let mut cut = String::with_capacity(most);
    for line in text.split_inclusive('\n') {
        if line.len() <= longest + CUT.len() + 1 {
            cut.push_str(line);
            continue;
        }
        cut.push_str(&line[..line.floor_char_boundary(longest)]);
        cut.push_str(CUT);
        cut.push('\n');
    }
    cut.truncate(cut.trim_end().len());
    cut.push_str(&note);
    if cut.len() < text.len() { cut } else { text }
}

/// The largest number from `least` to `most` that fits, by bisection. `least` if none fits.
fn longest_that_fits(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least, most.max(least));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_lines_are_cut_as_far_as_they_must() {
        let text = format!("short\n{}\n{}\nend\n", "ä".repeat(5000), "b".repeat(300));
        let cut = cut_lines(text.clone(), 2000);
        assert!((1900..=2000).contains(&cut.len()), "{}", cut.len());
        let lines: Vec<&str> = cut.lines().collect();
        assert_eq!((lines[0], lines[2], lines[3]), ("short", &*"b".repeat(300), "end"));
        assert!(lines[1].starts_with("ää") && lines[1].ends_with("ä…"), "{}", lines[1]);
        assert!(cut.ends_with(&format!("\n- missing `budget` (max_tokens): {NOTE}\n")), "{cut}");
        assert_eq!(cut_lines(text.clone(), text.len()), text);
    }

    #[test]
    fn many_short_lines_stay() {
        let text = "x\n".repeat(1000);
        assert_eq!(cut_lines(text.clone(), 500), text);
        // As short as possible.
        assert!(cut_lines("y".repeat(1000), 10).len() < 400);
        let text = text + &"y".repeat(300);
        assert_eq!(cut_lines(text.clone(), 500), text, "with the note it would be longer");
    }
}
