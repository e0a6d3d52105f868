//! Elisions: `...`, `// existing code` and similar lines, with which a model leaves out what it does not want to
//! repeat. In a search text they match nothing; a replacement would write them to the file. Both are refused with a
//! hint, unless the place has the same line itself.

use rustc_hash::{FxHashMap, FxHashSet};

use semdex_model::{Code, Error, Result, Span};

/// Refuses a search text with an elision that occurs nowhere in the file. If it occurs elsewhere in the file than in
/// the place, [`refuse_in_search`] refuses it later.
pub(super) fn refuse(context: &str, text: &str) -> Result<()> {
    let mut suspects = suspects(context).peekable();
    // Almost no request has one. Only a suspect line is worth a pass over the lines of the file.
    if suspects.peek().is_none() {
        return Ok(());
    }
    let lines: FxHashSet<&str> = text.lines().map(str::trim).collect();
    suspects.find(|it| !lines.contains(it.line)).map_or(Ok(()), |it| Err(it.error("search_context")))
}

/// Refuses a search text that has more elisions than the place, where the place is only similar to it. Each elision
/// must be a line of the place, with the same number of lines around it as in the search text.
pub(super) fn refuse_in_search(context: &str, text: &str, place: Span) -> Result<()> {
    let mut suspects = suspects(context).peekable();
    if suspects.peek().is_none() {
        return Ok(());
    }
    let written = |text: &str| text.lines().filter(|it| !it.trim().is_empty()).count();
    if written(whole_lines(text, place)) != written(context)
        && let Some(first) = suspects.peek()
    {
        return Err(first.error("search_context"));
    }
    let mut left: FxHashMap<&str, usize> = FxHashMap::default();
    whole_lines(text, place).lines().for_each(|line| *left.entry(line.trim()).or_default() += 1);
    let missing = suspects.find(|it| match left.get_mut(it.line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    missing.map_or(Ok(()), |it| Err(it.error("search_context")))
}

/// Refuses a replacement with an elision that the place does not have. Elsewhere in the file the same words may be a
/// comment. Only Python's `...` as the body of a function is code everywhere.
pub fn refuse_in_replacement(replacement: &str, text: &str, place: Span) -> Result<()> {
    let mut suspects = suspects(replacement).peekable();
    if suspects.peek().is_none() {
        return Ok(());
    }
    let lines: FxHashSet<&str> = whole_lines(text, place).lines().map(str::trim).collect();
    let stubs = has_stub(text);
    let is_code = |it: &Suspect| it.line == "..." && it.after.is_some_and(|before| before.ends_with(':')) && stubs;
    let written = suspects.find(|it| !lines.contains(it.line) && !is_code(it));
    written.map_or(Ok(()), |it| Err(it.error("replacement")))
}

/// Whether a text has `...` as a body, as in Python.
fn has_stub(text: &str) -> bool {
    let mut before = "";
    text.lines().map(str::trim).any(|line| std::mem::replace(&mut before, line).ends_with(':') && line == "...")
}

/// The lines that overlap the place.
fn whole_lines(text: &str, place: Span) -> &str {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n').map_or(text.len(), |at| place.end + at);
    &text[start..end]
}

/// A line that may be an elision.
struct Suspect<'a> {
    /// Line number, from 1.
    number: usize,
    /// Its text, trimmed.
    line: &'a str,
    /// The line before it.
    after: Option<&'a str>,
    marker: Marker,
}

fn suspects(text: &str) -> impl Iterator<Item = Suspect<'_>> {
    let mut before = None;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim();
        let after = before.replace(line);
        Some(Suspect { number: at + 1, line, after, marker: marker(line)? })
    })
}

impl Suspect<'_> {
    fn error(&self, field: &str) -> Error {
        let Suspect { number, line, .. } = self;
        let detail = match self.marker {
            Marker::Elision => format!(
                "line {number} of `{field}` is an elision (`{line}`) that the place does not contain. Elisions are not \
                 filled in: write the lines out in full, or send several smaller edits"
            ),
            Marker::Collapsed => format!(
                "line {number} of `{field}` is a collapsed body of a skeleton (`{line}`), not the file's text: read \
                 the symbol in full, or edit it as `{{symbol, at: body}}`"
            ),
        };
        Error::new(Code::InvalidRequest, detail)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Elision,
    /// `{ /* 12 lines */ }`, as a skeleton prints it.
    Collapsed,
}

fn marker(line: &str) -> Option<Marker> {
    let line = line.trim();
    if line.len() > 400 {
        return None;
    }
    if line.contains("/*") && block_comments(line).any(is_collapsed) {
        return Some(Marker::Collapsed);
    }
    let elided = is_dots(line)
        || comment(line).or(trailing_comment(line)).is_some_and(says_elided)
        || block_comments(line).any(is_dots)
        // Between braces: `fn f() { ... }`, `{ // existing code }`.
        || braced(line).is_some_and(|inner| is_dots(inner) || comment(inner).is_some_and(says_elided));
    elided.then_some(Marker::Elision)
}

fn is_dots(text: &str) -> bool {
    let inner = ["()", "[]", "<>"].iter().find_map(|it| text.strip_prefix(&it[..1])?.strip_suffix(&it[1..]));
    let text = inner.unwrap_or(text).trim();
    text == "…" || (text.len() >= 3 && text.bytes().all(|it| it == b'.')) || is_snip(text)
}

/// `--snip--`, `<snip>`.
fn is_snip(text: &str) -> bool {
    let word = text.trim_matches(|it: char| "-<>[](){}8 ".contains(it));
    word.len() < text.len() && ["snip", "snipped"].contains(&word.to_lowercase().as_str())
}

/// The text of a line that is only a comment.
fn comment(line: &str) -> Option<&str> {
    let closed = |open: &str, close: &str| line.strip_prefix(open)?.strip_suffix(close);
    let said = closed("/*", "*/")
        .or_else(|| closed("<!--", "-->"))
        .or_else(|| ["///", "//", "#", "--", ";;", ";", "%"].iter().find_map(|open| line.strip_prefix(open)))?;
    Some(said.trim())
}

/// The text of a comment after code.
fn trailing_comment(line: &str) -> Option<&str> {
    Some(line.rsplit_once(" //")?.1.trim())
}

fn braced(line: &str) -> Option<&str> {
    let (_, inner) = line.split_once('{')?;
    Some(inner.trim_end_matches([';', ',']).strip_suffix('}')?.trim())
}

fn block_comments(line: &str) -> impl Iterator<Item = &str> {
    line.split("/*").skip(1).filter_map(|rest| Some(rest.split_once("*/")?.0.trim()))
}

/// `12 lines`, `14 tests, 320 lines`.
fn is_collapsed(said: &str) -> bool {
    let counted = |part: &str| {
        let (number, what) = part.split_once(' ').unwrap_or((part, ""));
        !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(what, "line" | "lines" | "test" | "tests")
    };
    said.split(", ").all(counted)
}

/// Whether a comment replaces omitted code. A comment that only mentions existing code does not.
fn says_elided(said: &str) -> bool {
    const WHOLE: [&str; 8] = [
        "keep existing code",
        "other code",
        "previous code",
        "same as before",
        "unchanged",
        "omitted",
        "omitted for brevity",
        "rest unchanged",
    ];
    const HINTS: [&str; 11] =
        ["existing", "rest", "unchanged", "remaining", "other", "same", "previous", "omitted", "code", "more", "as"];
    let is_dot = |character: char| character == '.' || character == '…';
    let is_bracket = |character: char| "()[]<>:-".contains(character);
    let bracketed = said.trim_matches(|it: char| is_bracket(it) || it.is_whitespace());
    let starts = bracketed.starts_with("..") || bracketed.starts_with('…');
    let ends = bracketed.ends_with("...") || bracketed.ends_with('…');
    let bare = bracketed.trim_matches(|it: char| is_dot(it) || is_bracket(it) || it.is_whitespace());
    let lower = bare.to_lowercase();
    let words = || lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    if starts {
        // `// ...and so on` continues a sentence; `// ... rest` is an elision.
        let detached = bracketed.trim_start_matches(is_dot).starts_with(char::is_whitespace);
        return bare.is_empty() || ends || (detached && words().any(|word| HINTS.contains(&word)));
    }
    // `// other fields ...`, but not `// see above...`.
    let trails = ends && words().count() <= 4 && words().next().is_some_and(|word| HINTS.contains(&word));
    trails || WHOLE.contains(&lower.as_str()) || is_left_out(words()) || is_snip(said)
}

/// `existing code`, `the rest of the function remains unchanged`: names what is left out, says that it is, and says
/// nothing else.
fn is_left_out<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    const LEFT: [&str; 7] = ["existing", "rest", "remaining", "remainder", "unchanged", "omitted", "elided"];
    const WHAT: [&str; 9] =
        ["code", "file", "function", "method", "class", "implementation", "body", "module", "logic"];
    const BETWEEN: [&str; 14] = [
        "the", "this", "of", "is", "remains", "stays", "here", "same", "as", "before", "for", "brevity", "goes", "your",
    ];
    const MOST: usize = 8;
    let (mut left, mut what, mut count) = (false, false, 0);
    for word in words {
        let (is_left, is_what) = (LEFT.contains(&word), WHAT.contains(&word));
        if !is_left && !is_what && !BETWEEN.contains(&word) {
            return false;
        }
        (left, what, count) = (left || is_left, what || is_what, count + 1);
    }
    left && what && count <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elisions_are_distinguished_from_prose_and_code() {
        let elided = [
            "...",
            "    // ...",
            "# ...",
            "// … existing code …",
            "// ... rest of the function",
            "/* ... */",
            "// existing code",
            "// (unchanged)",
            "fn f() { ... }",
            "<!-- ... -->",
            "// ... imports ...",
            "const TABLE: [u8; 256] = [1, 2, /* … */];",
            "[...]",
            "// [...]",
            "// ......",
            "// --snip--",
            "// … rest …",
            "// ... (unchanged)",
            "// (rest of the code)",
            "// other fields ...",
            "// .. existing code ..",
            "// The rest of the method stays the same.",
            "// remaining implementation omitted for brevity",
            "fn f() { // ...",
            "{/* ... */}",
        ];
        for line in elided {
            assert!(marker(line) == Some(Marker::Elision), "{line}");
            let error = refuse(&format!("a\n{line}\nb"), "a\nb").unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
            assert!(error.detail.contains("line 2"), "{}", error.detail);
            let text = format!("x\n  {}\ny\n", line.trim());
            refuse(&format!("a\n{line}\nb"), &text).unwrap();
            let (elsewhere, there) = (Span::new(0, 1), Span::new(0, text.len()));
            for (place, refused) in [(elsewhere, true), (there, false)] {
                let whole = format!("x\n{line}\ny");
                assert_eq!(refuse_in_search(&whole, &text, place).is_err(), refused, "{line}");
                assert_eq!(refuse_in_replacement(line, &text, place).is_err(), refused, "{line}");
            }
            assert!(refuse_in_search(&format!("{line}\n{line}"), &text, there).is_err(), "twice: {line}");
        }
        let kept = [
            "args...",
            "f(args...)",
            "// ...and so on",
            "// Keep existing code paths warm.",
            "match x { .. }",
            "// see above...",
            "let r = 0..=9; // the range",
            "// rest",
            "// same as above",
            "// The existing code is slow.",
            "// more on this in the manual...",
            "..",
            "self.rest of code",
            "#[derive(Debug)]",
            "{ ...spread }",
        ];
        for line in kept {
            assert_eq!(marker(line), None, "{line}");
        }
        for line in ["pub fn f() { /* 12 lines */ }", "mod tests { /* 14 tests, 320 lines */ }"] {
            assert_eq!(marker(line), Some(Marker::Collapsed), "{line}");
        }
    }

    #[test]
    fn a_body_of_dots_is_code_where_the_file_has_such() {
        let stub = "def f(self):\n    ...\n";
        let place = Span::new(0, 1);
        assert!(refuse_in_replacement(stub, "class A:\n    pass\n", place).is_err());
        refuse_in_replacement(stub, "class A:\n    def g(self):\n        ...\n", place).unwrap();
        assert!(refuse_in_replacement("a\n...\nb", "class A:\n    def g(self):\n        ...\n", place).is_err());
    }
}
