//! One text, parsed: which edition reads it, and how the parser's offsets become offsets in the file.

use std::borrow::Cow;

use ra_ap_syntax::{Edition, Parse, SourceFile, TextRange, TextSize};

use semdex_model::{Span, SyntaxError};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file's own edition stands in a manifest, which the text does not show. What is new code to the latest edition
/// and old code to an earlier one (`gen` as a name, `async` as a name) is taken in the first that accepts it.
const EDITIONS: [Edition; 3] = [Edition::CURRENT, Edition::Edition2021, Edition::Edition2015];

pub(super) struct Source<'a> {
    /// As it is in the file.
    pub(super) text: &'a str,
    pub(super) tree: SourceFile,
    pub(super) errors: Vec<SyntaxError>,
    /// Whether the latest edition accepts it.
    pub(super) is_current: bool,
    offsets: Offsets,
}

impl<'a> Source<'a> {
    pub(super) fn parse(text: &'a str) -> Source<'a> {
        let (parsed, offsets) = normalize(text);
        let mut best: Option<(Parse<SourceFile>, Vec<_>)> = None;
        let mut is_current = false;
        for edition in EDITIONS {
            let parse = SourceFile::parse(&parsed, edition);
            let errors = parse.errors();
            let accepted = errors.is_empty();
            // A file that no edition accepts is broken code, which today is written in the latest.
            if accepted || best.is_none() {
                best = Some((parse, errors));
            }
            if accepted {
                is_current = edition == Edition::CURRENT;
                break;
            }
        }
        let (tree, errors) = match best {
            Some((parse, errors)) => (parse.tree(), errors),
            None => (SourceFile::parse("", Edition::CURRENT).tree(), Vec::new()),
        };
        let mut errors: Vec<SyntaxError> = errors
            .into_iter()
            .map(|error| {
                // That of a literal may begin or end within a character.
                let Span { start, end } = offsets.span(error.range());
                let span = Span::new(text.floor_char_boundary(start), text.ceil_char_boundary(end));
                SyntaxError { message: error.to_string(), span }
            })
            .collect();
        errors.sort_by_key(|error| (error.span.start, error.span.end));
        Source { text, tree, errors, is_current, offsets }
    }

    pub(super) fn span(&self, range: TextRange) -> Span {
        self.offsets.span(range)
    }

    pub(super) fn offset(&self, offset: TextSize) -> usize {
        self.offsets.file_offset(offset)
    }

    /// Where the first character stands that is not a byte order mark.
    pub(super) fn start(&self) -> usize {
        self.offsets.skipped
    }

    /// Empty where the span is not one of this text.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(super) fn is_broken(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// The text as rustc's lexer gets it: without a byte order mark, and with `\n` for `\r\n`. Left in, a `\r` would be
/// an error inside a string, and a part of a doc comment.
fn normalize(text: &str) -> (Cow<'_, str>, Offsets) {
    let content = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let skipped = text.len() - content.len();
    let mut returns = Vec::new();
    if memchr::memchr(b'\r', content.as_bytes()).is_none() {
        return (Cow::Borrowed(content), Offsets { skipped, returns });
    }
    let mut normalized = String::with_capacity(content.len());
    for (at, line) in content.split("\r\n").enumerate() {
        if at > 0 {
            returns.push(normalized.len());
            normalized.push('\n');
        }
        normalized.push_str(line);
    }
    (Cow::Owned(normalized), Offsets { skipped, returns })
}

struct Offsets {
    /// Bytes left out before the first character.
    skipped: usize,
    /// The newlines, by their offsets in the parsed text, that have a `\r` before them in the file. Ascending.
    returns: Vec<usize>,
}

impl Offsets {
    /// What ends at a line's end ends before the `\r`.
    fn file_offset(&self, offset: TextSize) -> usize {
        let offset = usize::from(offset);
        offset + self.skipped + self.returns.partition_point(|&newline| newline < offset)
    }

    fn span(&self, range: TextRange) -> Span {
        Span::new(self.file_offset(range.start()), self.file_offset(range.end()))
    }
}
