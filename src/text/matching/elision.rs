//! Elisions: `...`, `// existing code` and their like, by which a model leaves out what it does not want to repeat.
//! In a search text they match nothing, in a replacement they would be written to the file: both are refused, with
//! what to do instead, unless the file says the same words itself.

use rustc_hash::FxHashSet;

use crate::model::{Code, Error, Result};

/// Refuses a search text or a replacement (`field`) with an elision that the file does not have literally.
pub fn refuse(field: &str, asked: &str, text: &str) -> Result<()> {
    let mut suspects = asked.lines().enumerate().filter_map(|(at, line)| Some((at + 1, line.trim(), marker(line)?)));
    let Some(first) = suspects.next() else { return Ok(()) };
    // Almost no request comes this far, so that only a suspect pays for the lines of the file.
    let lines: FxHashSet<&str> = text.lines().map(str::trim).collect();
    match std::iter::once(first).chain(suspects).find(|(_, line, _)| !lines.contains(line)) {
        None => Ok(()),
        Some((number, line, Marker::Elision)) => Err(Error::new(
            Code::InvalidRequest,
            format!(
                "line {number} of `{field}` is an elision (`{line}`) that the file does not contain. Elisions are not \
                 filled in: write the lines out in full, or send several smaller edits"
            ),
        )),
        Some((number, line, Marker::Collapsed)) => Err(Error::new(
            Code::InvalidRequest,
            format!(
                "line {number} of `{field}` is a collapsed body of a skeleton (`{line}`), not the file's text: read \
                 the symbol in full, or edit it as `{{symbol, at: body}}`"
            ),
        )),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Elision,
    /// `{ /* 12 lines */ }`, as a skeleton has it.
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
        || comment(line).is_some_and(says_elided)
        || block_comments(line).any(is_dots)
        // Between braces: `fn f() { ... }`, `{ // existing code }`.
        || braced(line).is_some_and(|inner| is_dots(inner) || comment(inner).is_some_and(says_elided));
    elided.then_some(Marker::Elision)
}

fn is_dots(text: &str) -> bool {
    matches!(text, "..." | "…" | "....")
}

/// What a line says that is nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    let closed = |open: &str, close: &str| line.strip_prefix(open)?.strip_suffix(close);
    let said = closed("/*", "*/")
        .or_else(|| closed("<!--", "-->"))
        .or_else(|| ["///", "//", "#", "--", ";;"].iter().find_map(|open| line.strip_prefix(open)))?;
    Some(said.trim())
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

/// Whether a comment stands for code that was left out. A comment that merely speaks of existing code does not.
fn says_elided(said: &str) -> bool {
    const WHOLE: [&str; 22] = [
        "existing code",
        "existing code here",
        "existing code unchanged",
        "existing code remains",
        "existing code remains unchanged",
        "keep existing code",
        "rest of code",
        "rest of the code",
        "rest of the file",
        "rest of file",
        "rest of the function",
        "rest of function",
        "rest of the implementation",
        "rest unchanged",
        "remaining code",
        "other code",
        "previous code",
        "same as before",
        "unchanged",
        "unchanged code",
        "code omitted",
        "omitted for brevity",
    ];
    const HINTS: [&str; 10] =
        ["existing", "rest", "unchanged", "remaining", "other", "same", "previous", "omitted", "code", "more"];
    let dots = |text: &str| text.starts_with("...") || text.starts_with('…');
    let is_dot = |character: char| character == '.' || character == '…';
    let bare = said.trim_matches(|character: char| {
        is_dot(character) || character.is_whitespace() || "()[]<>:-".contains(character)
    });
    let lower = bare.to_lowercase();
    if dots(said) {
        let closed = said.trim_end().ends_with("...") || said.ends_with('…');
        // `// ...and so on` goes on with a sentence; `// ... rest` leaves out.
        let detached = said.trim_start_matches(is_dot).starts_with(char::is_whitespace);
        let hinted = lower.split(|character: char| !character.is_alphanumeric()).any(|word| HINTS.contains(&word));
        return bare.is_empty() || closed || (detached && hinted);
    }
    WHOLE.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elisions_are_told_from_prose_and_code() {
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
        ];
        for line in elided {
            assert!(marker(line) == Some(Marker::Elision), "{line}");
            let error = refuse("search_context", &format!("a\n{line}\nb"), "a\nb").unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
            assert!(error.detail.contains("line 2"), "{}", error.detail);
            refuse("search_context", &format!("a\n{line}\nb"), &format!("x\n  {}\n", line.trim())).unwrap();
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
}
