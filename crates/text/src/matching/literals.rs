//! Where white space has a meaning: string literals and line comments, found without a parser for the language.
//!
//! The rules fit Rust and Go, and most similar languages. Where they err, they take code for a literal, which makes a
//! comparison stricter, never looser. Each side of a comparison is scanned separately: a literal that only one scan
//! finds still counts.

use memchr::{memchr, memmem};

use semdex_model::Span;

/// The literals of one text, in order.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    /// String literals with their quotes.
    pub strings: Vec<Span>,
    /// Line comments, up to the end of the line.
    pub line_comments: Vec<Span>,
}

impl Literals {
    pub(crate) fn scan(text: &str) -> Literals {
        let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, unclosed: Unclosed::default() };
        let mut literals = Literals::default();
        while let Some(found) = scanner.next() {
            match found {
                Lexeme::String(span) => literals.strings.push(span),
                Lexeme::LineComment(span) => literals.line_comments.push(span),
            }
        }
        literals
    }

    /// The literals without the strings that end after an offset.
    pub(crate) fn closed_by(mut self, end: usize) -> Literals {
        self.strings.retain(|span| span.end <= end);
        self
    }

    /// Whether the gap between the bytes before and after `offset` lies within a string literal.
    pub(crate) fn in_string(&self, offset: usize) -> bool {
        enclosing(&self.strings, offset).is_some_and(|span| span.start < offset && offset < span.end)
    }

    /// Whether the text before `offset` belongs to a line comment, which a line end would close.
    pub(crate) fn in_line_comment(&self, offset: usize) -> bool {
        enclosing(&self.line_comments, offset).is_some_and(|span| span.start < offset && offset <= span.end)
    }
}

/// The last span that begins before the offset.
fn enclosing(spans: &[Span], offset: usize) -> Option<Span> {
    spans.partition_point(|span| span.start < offset).checked_sub(1).map(|at| spans[at])
}

enum Lexeme {
    String(Span),
    LineComment(Span),
}

/// An opening that has no end in the text is not searched again: so the scan stays linear.
#[derive(Default)]
struct Unclosed {
    double: bool,
    triple: bool,
    raw: bool,
    backtick: bool,
    block_comment: bool,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    unclosed: Unclosed,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<Lexeme> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            let found = match byte {
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'#' if self.begins_word(start) && matches!(self.peek(1), Some(b' ' | b'\t')) => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => {
                    self.block_comment();
                    None
                }
                b'"' => self.double_quoted(),
                // A fence around code in prose.
                b'`' if self.bytes[start..].starts_with(b"```") => {
                    self.at += self.bytes[start..].iter().take_while(|byte| **byte == b'`').count();
                    None
                }
                b'`' => self.closed_by(1, b"`", |unclosed| &mut unclosed.backtick),
                b'\'' => self.single_quoted(),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
            if self.at == start {
                self.at += 1;
            }
        }
        None
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn begins_word(&self, at: usize) -> bool {
        at == 0 || self.bytes[at - 1].is_ascii_whitespace()
    }

    fn line_comment(&mut self) -> Option<Lexeme> {
        let start = self.at;
        self.at = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |length| start + length);
        Some(Lexeme::LineComment(Span::new(start, self.at)))
    }

    fn block_comment(&mut self) {
        if self.unclosed.block_comment {
            return;
        }
        match memmem::find(&self.bytes[self.at + 2..], b"*/") {
            Some(length) => self.at += length + 4,
            None => self.unclosed.block_comment = true,
        }
    }

    /// A literal that ends with `closing` and has no escapes.
    fn closed_by(&mut self, opening: usize, closing: &[u8], flag: fn(&mut Unclosed) -> &mut bool) -> Option<Lexeme> {
        if *flag(&mut self.unclosed) {
            return None;
        }
        let start = self.at;
        let Some(length) = memmem::find(&self.bytes[start + opening..], closing) else {
            *flag(&mut self.unclosed) = true;
            return None;
        };
        self.at = start + opening + length + closing.len();
        Some(Lexeme::String(Span::new(start, self.at)))
    }

    fn double_quoted(&mut self) -> Option<Lexeme> {
        let hashes = self.bytes[..self.at].iter().rev().take_while(|&&byte| byte == b'#').count();
        let before = &self.bytes[..self.at - hashes];
        let prefix = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if matches!(&before[before.len() - prefix..], b"r" | b"br" | b"cr") {
            let closing: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
            return self.closed_by(1, &closing, |unclosed| &mut unclosed.raw);
        }
        if self.bytes[self.at..].starts_with(b"\"\"\"") {
            return self.closed_by(3, b"\"\"\"", |unclosed| &mut unclosed.triple);
        }
        if self.unclosed.double {
            return None;
        }
        let start = self.at;
        let mut at = start + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'"' => {
                    self.at = at + 1;
                    return Some(Lexeme::String(Span::new(start, self.at)));
                }
                _ => {}
            }
            at += 1;
        }
        self.unclosed.double = true;
        None
    }

    /// A character, or a string of a language with single quotes, but neither a lifetime nor an apostrophe: no letter
    /// may follow the closing quote or precede the opening one.
    fn single_quoted(&mut self) -> Option<Lexeme> {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let start = self.at;
        if start > 0 && is_word(self.bytes.get(start - 1)) && !matches!(self.bytes[start - 1], b'b' | b'u' | b'r') {
            return None;
        }
        let mut at = start + 1;
        loop {
            match self.bytes.get(at)? {
                b'\\' => at += 2,
                b'\n' => return None,
                b'\'' if at == start + 1 || is_word(self.bytes.get(at + 1)) => return None,
                b'\'' => {
                    self.at = at + 1;
                    return Some(Lexeme::String(Span::new(start, self.at)));
                }
                _ => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let literals = Literals::scan(text);
        let strings: Vec<&str> = literals.strings.iter().map(|span| &text[span.start..span.end]).collect();
        assert_eq!(strings, expected, "{text}");
    }

    #[test]
    fn strings_of_many_languages() {
        check(r#"f("a b", 'c', "d\"e")"#, &[r#""a b""#, "'c'", r#""d\"e""#]);
        check(r###"let x = r#"a " b"#; "c""###, &[r##""a " b"#"##, "\"c\""]);
        check("`raw \" string` + \"b\"", &["`raw \" string`", "\"b\""]);
        check("fn f<'a>(x: &'a str, y: &'b str) -> char {\n'\\'' }", &["'\\''"]);
        check("x = '\"'; y = \"z\"", &["'\"'", "\"z\""]);
        check("// it's \"odd\nlet s = \"a\nb\";", &["\"a\nb\""]);
        check("/* \" */ \"a\" # don't \"\n\"b\"", &["\"a\"", "\"b\""]);
        check("print('a b', \"\"\"c \" d\"\"\")", &["'a b'", "\"\"\"c \" d\"\"\""]);
        check("```sh\n\"a\"\n```\n`b`", &["\"a\"", "`b`"]);
        check("lone \" quote", &[]);
        check("it's and isn't", &[]);
    }

    #[test]
    fn what_never_closes_is_looked_for_once() {
        let text = "\"".to_owned() + &"\\\"`/*'".repeat(200_000);
        let started = std::time::Instant::now();
        Literals::scan(&text);
        assert!(started.elapsed().as_secs() < 5);
    }
}
