//! Whether a replacement was written as if its first line had no indentation.

use super::indentation::{indent, width};
use crate::words::words;

/// Whether the replacement of a line with this indentation ignores it. That is so if it repeats the line at the left
/// margin, or if the brackets of its later lines fit better to a first line at the margin.
pub(crate) fn is_written_at_margin(replacement: &str, context: &str, indentation: &str) -> bool {
    if indentation.is_empty() {
        return false;
    }
    let first = width(indentation);
    if let Some(repeated) = replacement.lines().skip(1).find(|line| line.trim() == context.trim())
        && words(context).next().is_some()
        && [0, first].contains(&width(indent(repeated)))
    {
        return indent(repeated).is_empty();
    }
    let mut depth = 0i64;
    let (mut as_it_is, mut at_the_margin) = (0usize, 0usize);
    let mut before = "";
    let replacement = without_strings(replacement.trim_start_matches(['\r', '\n']));
    for (at, line) in replacement.lines().enumerate() {
        let words = line.trim();
        // The brackets that the first line closes were opened before it.
        let words = if at == 0 { words.trim_start_matches([')', ']', '}']) } else { words };
        let continues = continues(before, words);
        // A continuation after a closing bracket has the bracket's indentation.
        let closes = before.starts_with([')', ']', '}']);
        before = words;
        if at > 0 && !words.is_empty() {
            let closed = words.chars().take_while(|it| matches!(it, ')' | ']' | '}')).count();
            let depth = depth - closed.cast_signed() as i64;
            let misfits = |first: usize| match depth {
                1.. => width(indent(line)) <= first,
                0 if continues && !closes => width(indent(line)) <= first,
                0 => width(indent(line)) < first,
                _ => width(indent(line)) >= first,
            };
            let stands_deeper = depth == 0 && !continues && !indent(line).is_empty();
            as_it_is += usize::from(misfits(first));
            at_the_margin += usize::from(misfits(0) || stands_deeper);
        }
        // Brackets in comments do not count.
        let words = if words.starts_with("//") { "" } else { words };
        for character in words.chars() {
            depth += match character {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
        }
    }
    as_it_is > 0 && at_the_margin <= as_it_is
}

/// A text without the content of its strings, so that every bracket is a token.
fn without_strings(text: &str) -> String {
    let mut quoted = false;
    let mut before = ' ';
    let keep = |&character: &char| {
        quoted = character != '\n' && quoted ^ (character == '"' && before != '\\');
        before = character;
        !quoted
    };
    text.chars().filter(keep).collect()
}

/// Whether a line continues the line before it.
fn continues(before: &str, line: &str) -> bool {
    const FIRST: [&str; 7] = [".", "?", "&&", "||", "=", "->", "where "];
    const LAST: [&str; 5] = ["=", "+", "&&", "||", ":"];
    if before.starts_with("//") || line.starts_with("//") {
        return false;
    }
    FIRST.iter().any(|it| line.starts_with(it)) || LAST.iter().any(|it| before.ends_with(it))
}
