//! Whether a replacement was written as if its first line had no indentation.

use super::indentation::{indent, width};
use crate::tokens::is_word;

/// Whether the replacement of a line with this indentation ignores it: one of its later lines is further left than its
/// brackets allow, or at the left margin, and none closes a bracket that was open before. `above` is the text before
/// the line, which may continue it.
pub(crate) fn is_written_at_margin(replacement: &str, indentation: &str, above: &str) -> bool {
    const CONTINUES: [&str; 7] = [".", "?", "&&", "||", "=", "->", "where "];
    const CONTINUED: [&str; 4] = ["=", "&&", "||", "+"];
    let first = width(indentation);
    let is_continued = |line: &str| CONTINUED.iter().any(|it| line.trim_end().ends_with(it));
    // The lines of one list are not deeper than each other.
    let is_listed = is_continued(above.trim_end_matches(['\r', '\n']));
    let (mut depth, mut misfits, mut closes, mut continued) = (0isize, false, false, false);
    for (at, line) in replacement.trim_start_matches(['\r', '\n']).lines().enumerate() {
        let words = line.trim();
        let words = if at == 0 { words.trim_start_matches([')', ']', '}']) } else { words };
        // `)*}` and `)?;}` close two brackets.
        let signs = words.chars().take_while(|it| !is_word(*it) && !"([{\"'`/".contains(*it));
        let closed = signs.filter(|it| ")]}".contains(*it)).count().cast_signed();
        if depth < closed {
            return false;
        }
        // A continuation after a closing bracket has the bracket's indentation.
        let is_deeper =
            depth > closed || continued && !is_listed || !closes && CONTINUES.iter().any(|it| words.starts_with(it));
        closes = closed > 0;
        continued = is_continued(words);
        let own = width(indent(line));
        misfits |= at > 0 && !words.is_empty() && (own == 0 || is_deeper && own <= first);
        // Brackets in literals and comments do not count.
        for code in words.split('"').step_by(2) {
            let (code, comment) = code.split_once("//").map_or((code, None), |it| (it.0, Some(it.1)));
            let count = |signs: &str| code.chars().filter(|it| signs.contains(*it)).count().cast_signed();
            depth += count("([{") - count(")]}");
            if comment.is_some() {
                break;
            }
        }
    }
    misfits && first > 0
}
