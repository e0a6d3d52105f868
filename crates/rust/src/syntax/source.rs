//! A parsed text: the edition that accepts it, and the mapping of the parser's offsets to offsets in the file.

use std::borrow::Cow;

use ra_ap_syntax::{Edition, Parse, SourceFile, TextRange, TextSize};

use super::{token_trees, validation};
use semdex_model::{Span, SyntaxError};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file's edition is in a manifest, not in the text. Some code is valid in only one edition (`gen` as a name, `async`
/// as a name): the first edition that accepts the text is used.
const EDITIONS: [Edition; 3] = [Edition::CURRENT, Edition::Edition2021, Edition::Edition2015];

pub(crate) struct Source<'a> {
    /// The text as it is in the file.
    pub(crate) text: &'a str,
    pub(crate) tree: SourceFile,
    pub(crate) errors: Vec<SyntaxError>,
    /// Whether the latest edition accepts it.
    pub(crate) is_current: bool,
    /// Whether it does not consist of token trees, so that the compiler reports nothing else.
    pub(crate) is_unreadable: bool,
    offsets: Offsets,
}

impl<'a> Source<'a> {
    pub(crate) fn parse(text: &'a str) -> Source<'a> {
        let (parsed, offsets) = normalize(text);
        let mut best: Option<(Parse<SourceFile>, Vec<_>)> = None;
        let mut is_current = false;
        for edition in EDITIONS {
            let parse = SourceFile::parse(&parsed, edition);
            let errors = parse.errors();
            let accepted = errors.is_empty();
            // A file that no edition accepts is broken code, which today is written in the latest edition.
            if accepted || best.is_none() {
                best = Some((parse, errors));
            }
            if accepted {
                is_current = edition == Edition::CURRENT;
                break;
            }
        }
        let (tree, mut errors) = match best {
            Some((parse, errors)) => (parse.tree(), errors),
            None => (SourceFile::parse("", Edition::CURRENT).tree(), Vec::new()),
        };
        let in_trees = if errors.is_empty() { Vec::new() } else { token_trees::errors(&tree, &errors) };
        let is_unreadable = !in_trees.is_empty();
        if is_unreadable {
            errors =
                in_trees.into_iter().map(|(range, message)| ra_ap_syntax::SyntaxError::new(message, range)).collect();
        }
        let mut errors: Vec<SyntaxError> = errors
            .into_iter()
            .map(|error| {
                // The error range of a literal may begin or end within a character.
                let Span { start, end } = offsets.span(error.range());
                let span = Span::new(text.floor_char_boundary(start), text.ceil_char_boundary(end));
                SyntaxError { message: in_words(&error.to_string()), span }
            })
            .collect();
        if errors.is_empty() {
            let refused = |(range, message)| SyntaxError { message, span: offsets.span(range) };
            errors.extend(validation::refused(&tree).into_iter().map(refused));
        }
        errors.sort_by_key(|error| (error.span.start, error.span.end));
        Source { text, tree, errors, is_current, is_unreadable, offsets }
    }

    pub(crate) fn span(&self, range: TextRange) -> Span {
        self.offsets.span(range)
    }

    pub(crate) fn offset(&self, offset: TextSize) -> usize {
        self.offsets.file_offset(offset)
    }

    /// The offset of the first character that is not a byte order mark.
    pub(crate) fn start(&self) -> usize {
        self.offsets.skipped
    }

    /// Empty if the span is not one of this text.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub(crate) fn is_broken(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// A message of the parser, with tokens as they are written instead of their kinds: "expected `;`" for "expected
/// SEMICOLON".
fn in_words(message: &str) -> String {
    let Some(kind) = message.strip_prefix("expected ") else { return message.to_owned() };
    let token = match kind {
        "SEMICOLON" => "`;`",
        "COMMA" => "`,`",
        "COLON" => "`:`",
        "COLON2" => "`::`",
        "L_CURLY" => "`{`",
        "R_CURLY" => "`}`",
        "L_PAREN" => "`(`",
        "R_PAREN" => "`)`",
        "L_BRACK" => "`[`",
        "R_BRACK" => "`]`",
        "L_ANGLE" => "`<`",
        "R_ANGLE" => "`>`",
        "EQ" => "`=`",
        "EQ2" => "`==`",
        "BANG" => "`!`",
        "AMP" => "`&`",
        "PIPE" => "`|`",
        "POUND" => "`#`",
        "DOT" => "`.`",
        "DOT2" => "`..`",
        "STAR" => "`*`",
        "MINUS" => "`-`",
        "FAT_ARROW" => "`=>`",
        "THIN_ARROW" => "`->`",
        "UNDERSCORE" => "`_`",
        "IDENT" | "NAME" | "NAME_REF" => "a name",
        "LIFETIME_IDENT" | "LIFETIME" => "a lifetime",
        "STRING" => "a string",
        "INT_NUMBER" => "a number",
        "BLOCK_EXPR" => "a block",
        _ => match kind.strip_suffix("_KW") {
            Some(keyword) => return format!("expected `{}`", keyword.to_lowercase()),
            None => return message.to_owned(),
        },
    };
    format!("expected {token}")
}

/// The text as rustc's lexer receives it: without a byte order mark, and with `\n` for `\r\n`. A `\r` would be an error
/// inside a string, and a part of a doc comment.
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
    /// The number of bytes omitted before the first character.
    skipped: usize,
    /// The newlines, by their offsets in the parsed text, that follow a `\r` in the file. Ascending.
    returns: Vec<usize>,
}

impl Offsets {
    /// A range that ends at a line's end ends before the `\r`.
    fn file_offset(&self, offset: TextSize) -> usize {
        let offset = usize::from(offset);
        offset + self.skipped + self.returns.partition_point(|&newline| newline < offset)
    }

    fn span(&self, range: TextRange) -> Span {
        Span::new(self.file_offset(range.start()), self.file_offset(range.end()))
    }
}
