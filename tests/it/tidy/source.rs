//! Reading Rust well enough for the rules of `tidy`: comments and literals blanked, tests told apart, tokens, and the
//! modules that a file names. Every byte and line keeps its place, so that a complaint can name it.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    Comments,
    CommentsAndLiterals,
}

/// The text with comments and literals blanked; every byte and line keeps its place.
pub fn code(text: &str) -> String {
    blank(text, Blank::CommentsAndLiterals)
}

pub fn blank(text: &str, what: Blank) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut clear = |range: Range<usize>| {
        for byte in &mut out[range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment(bytes, at);
        if end > at {
            let comment = bytes[at] == b'/';
            if comment {
                clear(at..end);
            } else if what == Blank::CommentsAndLiterals {
                clear(at + 1..end - 1);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The end of the comment or literal that begins here; `at` itself where none does.
fn literal_or_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let find = |needle: &[u8], from: usize| {
        rest.get(from..).and_then(|it| it.windows(needle.len()).position(|it| it == needle)).map(|it| from + it)
    };
    if rest.starts_with(b"//") {
        return at + find(b"\n", 0).unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        let mut depth = 0;
        let mut here = 0;
        while here < rest.len() {
            match &rest[here..rest.len().min(here + 2)] {
                b"/*" => (depth, here) = (depth + 1, here + 2),
                b"*/" => (depth, here) = (depth - 1, here + 2),
                _ => here += 1,
            }
            if depth == 0 {
                break;
            }
        }
        return at + here;
    }
    let after_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if !after_word && (rest[0] == b'r' || rest.starts_with(b"br")) {
        let from = if rest[0] == b'b' { 2 } else { 1 };
        let hashes = rest[from..].iter().take_while(|it| **it == b'#').count();
        if rest.get(from + hashes) == Some(&b'"') {
            let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
            return at + find(&close, from + hashes + 1).map_or(rest.len(), |it| it + close.len());
        }
    }
    if rest[0] == b'"' {
        let mut here = 1;
        while here < rest.len() && rest[here] != b'"' {
            here += if rest[here] == b'\\' { 2 } else { 1 };
        }
        return at + rest.len().min(here + 1);
    }
    if rest[0] == b'\'' {
        // A character, or else a lifetime, which has no second quote.
        let here = match rest.get(1) {
            Some(b'\\') => find(b"'", 3),
            Some(first) => Some(1 + utf8_length(*first)).filter(|it| rest.get(*it) == Some(&b'\'')),
            None => None,
        };
        return here.map_or(at, |it| at + it + 1);
    }
    at
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// Code without its `#[cfg(test)]` modules and items, lines kept.
pub fn without_tests(code: &str) -> String {
    blank_ranges(code, &test_ranges(code))
}

pub fn is_test_file(file: &str) -> bool {
    file.starts_with("tests/")
        || file.ends_with("/tests.rs")
        || file.ends_with("/properties.rs")
        || file.contains("/tests/")
}

/// The tests in a file, as code.
pub fn test_code(file: &str, text: &str) -> String {
    let code = code(text);
    if is_test_file(file) {
        return code;
    }
    let mut kept = Vec::new();
    let mut from = 0;
    for range in test_ranges(&code) {
        kept.push(from..range.start);
        from = range.end;
    }
    kept.push(from..code.len());
    blank_ranges(&code, &kept)
}

pub fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, mark) in code.match_indices("#[cfg(test)]") {
        if ranges.last().is_some_and(|last| last.contains(&start)) {
            continue;
        }
        let rest = &code[start + mark.len()..];
        let Some(open) = rest.find(['{', ';']) else { continue };
        let length = if rest.as_bytes()[open] == b'{' { block_length(&rest[open..]) } else { 1 };
        ranges.push(start..start + mark.len() + open + length);
    }
    ranges
}

fn block_length(from_brace: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in from_brace.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    from_brace.len()
}

pub fn without_attributes(code: &str) -> String {
    let mut ranges = Vec::new();
    for (start, _) in code.match_indices("#[").chain(code.match_indices("#![")) {
        let mut depth = 0usize;
        for (at, byte) in code[start..].bytes().enumerate() {
            match byte {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                ranges.push(start..start + at + 1);
                break;
            }
        }
    }
    blank_ranges(code, &ranges)
}

pub fn blank_ranges(code: &str, ranges: &[Range<usize>]) -> String {
    let mut out = code.as_bytes().to_vec();
    for range in ranges {
        out[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// Identifiers, `::`, and every other character by itself.
pub fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = code;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(Token { text: rest[..length].to_owned(), line });
        }
        line += usize::from(first == '\n');
        rest = &rest[length..];
    }
    tokens
}

pub fn is_named(token: &str, name: &str) -> bool {
    if name.ends_with('_') { token.starts_with(name) } else { token == name }
}

/// Whether the identifier at `at` begins a path, as the name of a crate does.
pub fn is_crate(tokens: &[Token], at: usize) -> bool {
    let text = |at: Option<usize>| at.and_then(|it| tokens.get(it)).map_or("", |it| it.text.as_str());
    let before = text(at.checked_sub(1));
    let after = text(Some(at + 1));
    let begins = match before {
        // `::name` is absolute unless something stands before it.
        "::" => !text(at.checked_sub(2)).ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == '>'),
        "." => false,
        _ => true,
    };
    // `notify::<T>()` calls a function of that name.
    let goes_on = after == "::" && text(Some(at + 2)) != "<";
    begins && (goes_on || matches!(before, "use" | "crate") && matches!(after, ";" | "as"))
}

/// Whether the identifier at `at` is used as a path's segment or called, and is not a method or a field.
pub fn is_path_or_call(tokens: &[Token], at: usize) -> bool {
    let text = |at: Option<usize>| at.and_then(|it| tokens.get(it)).map_or("", |it| it.text.as_str());
    let before = text(at.checked_sub(1));
    before != "." && before != "fn" && (before == "::" || text(Some(at + 1)) == "::")
}

/// The top-level modules that code names by `crate::…` or `super::…`, with their lines.
pub fn modules_used(own: &[String], code: &str) -> Vec<(usize, String)> {
    let tokens = tokens(code);
    let mut used = Vec::new();
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" => {
                depth += 1;
                if at >= 2 && tokens[at - 2].text == "mod" {
                    inline.push(depth);
                }
            }
            "}" => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                }
                depth -= 1;
            }
            "crate" => used.extend(leaves(&tokens, at + 1)),
            "super" if at == 0 || tokens[at - 1].text != "::" => {
                let mut supers = 1;
                while tokens.get(at + 1).is_some_and(|it| it.text == "::")
                    && tokens.get(at + 2).is_some_and(|it| it.text == "super")
                {
                    supers += 1;
                    at += 2;
                }
                if supers == own.len() + inline.len() {
                    used.extend(leaves(&tokens, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    used
}

/// The first segments after a `::`, whether it is one path or a group of several.
fn leaves(tokens: &[Token], at: usize) -> Vec<(usize, String)> {
    let Some(first) = tokens.get(at + 1).filter(|_| tokens[at].text == "::") else { return Vec::new() };
    if first.text != "{" {
        return vec![(first.line, first.text.clone())];
    }
    let mut found = Vec::new();
    let mut depth = 0;
    for (token, before) in tokens[at + 1..].iter().zip(&tokens[at..]) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && matches!(before.text.as_str(), "{" | ",") => {
                found.push((token.line, name.to_owned()));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// Lines of Markdown outside fenced blocks, inline code blanked.
pub fn prose_lines(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let prose = line.split('`').enumerate().map(|(part, it)| if part % 2 == 0 { it } else { "`" });
            lines.push((number + 1, prose.collect()));
        }
    }
    lines
}
