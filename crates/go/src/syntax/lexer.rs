//! A lexer for Go that also works on broken text, where the parser may fail.

use semdex_model::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Word,
    Comment,
    Text,
    Number,
    /// White space; a run of line breaks and blanks is one token.
    Space,
    /// One character of any other kind.
    Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Every byte of the text is in exactly one token.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (kind, len) = first_token(rest);
        let span = Span::new(at, at + len);
        at = span.end;
        Some(Token { kind, span })
    })
}

fn first_token(rest: &str) -> (Kind, usize) {
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '/' if rest.starts_with("//") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => {
            (Kind::Comment, rest.get(2..).and_then(|it| it.find("*/")).map_or(rest.len(), |at| at + 4))
        }
        '`' => (Kind::Text, rest[1..].find('`').map_or(rest.len(), |at| at + 2)),
        '"' | '\'' => (Kind::Text, quoted(rest, first)),
        _ if first.is_whitespace() => (Kind::Space, run(rest, char::is_whitespace)),
        _ if first.is_ascii_digit() => (Kind::Number, run(rest, |it| it.is_alphanumeric() || it == '_' || it == '.')),
        _ if is_letter(first) => (Kind::Word, run(rest, |it| is_letter(it) || it.is_numeric())),
        _ => (Kind::Mark, first.len_utf8()),
    }
}

fn run(rest: &str, holds: impl Fn(char) -> bool) -> usize {
    rest.find(|it| !holds(it)).unwrap_or(rest.len())
}

/// A literal that ends at its quote or, if unterminated, before the end of the line.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn is_letter(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

/// The name in the package clause. Found without parsing, since the computation of packages needs it for all files.
pub(crate) fn package_clause(text: &str) -> Option<&str> {
    let words = tokens(text).filter(|it| !matches!(it.kind, Kind::Space | Kind::Comment));
    let mut words = words.map(|it| (it.kind, text.get(it.span.start..it.span.end).unwrap_or_default()));
    words.find(|it| *it == (Kind::Word, "package"))?;
    words.next().filter(|(kind, name)| *kind == Kind::Word && !is_keyword(name)).map(|(_, name)| name)
}

/// Go's keywords.
pub(crate) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "break"
            | "case"
            | "chan"
            | "const"
            | "continue"
            | "default"
            | "defer"
            | "else"
            | "fallthrough"
            | "for"
            | "func"
            | "go"
            | "goto"
            | "if"
            | "import"
            | "interface"
            | "map"
            | "package"
            | "range"
            | "return"
            | "select"
            | "struct"
            | "switch"
            | "type"
            | "var"
    )
}

/// The end of the block that the text begins with, after its closing brace.
pub(crate) fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for token in tokens(text).filter(|it| it.kind == Kind::Mark) {
        match text.get(token.span.start..token.span.end) {
            Some("{") => depth += 1,
            Some("}") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(token.span.end);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a file imports cgo's pseudo-package.
pub(crate) fn imports_c(text: &str) -> bool {
    let pieces = tokens(text).map(|it| (it.kind, &text[it.span.start..it.span.end]));
    let mut head = pieces.take_while(|(_, piece)| !matches!(*piece, "func" | "type" | "const" | "var"));
    head.any(|(kind, piece)| kind == Kind::Text && matches!(piece, "\"C\"" | "`C`"))
}

/// Source text on one line: comments dropped, white space collapsed, elisions shown as `…`.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let (mut gap, mut broken) = (false, false);
    for token in tokens(text) {
        let piece = &text[token.span.start..token.span.end];
        let piece = match token.kind {
            Kind::Comment if stands_for_more(piece) => "…",
            Kind::Comment | Kind::Space => {
                gap = true;
                broken |= piece.contains('\n');
                continue;
            }
            _ => piece,
        };
        // A list over several lines loses the blanks inside its brackets and its last comma.
        let closes = matches!(piece, ")" | "]");
        if broken && closes && line.ends_with(',') {
            line.pop();
        }
        let bracketed = broken && (closes || line.ends_with(['(', '[']));
        if gap && !bracketed && !line.is_empty() {
            line.push(' ');
        }
        (gap, broken) = (false, false);
        if token.kind == Kind::Text && piece.contains('\n') {
            let words: Vec<&str> = piece.split_whitespace().collect();
            line.push_str(&words.join(" "));
        } else {
            line.push_str(piece);
        }
    }
    line
}

/// The replacement for a long value in a skeleton.
pub(crate) const ELIDED: &str = "/* … */";

/// Whether a comment is a skeleton's replacement for a body or a value.
fn stands_for_more(comment: &str) -> bool {
    let counted = || {
        let inner = comment.strip_prefix("/* ")?.strip_suffix(" */")?;
        let count = inner.strip_suffix(" lines").or_else(|| inner.strip_suffix(" line"))?;
        Some(count.bytes().all(|it| it.is_ascii_digit()))
    };
    comment == ELIDED || counted().unwrap_or(false)
}
