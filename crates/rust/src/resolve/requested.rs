//! Parses a symbol as a request writes it.

use super::paths::crates::TARGETS;
use super::types;
use crate::names::definitions::{ORDINAL, plain_name};
use semdex_model::{Code, Error, SymbolKind};

/// The most segments, and the deepest brackets, of a path; no printed path has more.
const MOST_SEGMENTS: usize = 64;
const DEEPEST: usize = 32;

pub(crate) struct RequestedPath<'a> {
    /// The text of the request.
    pub(crate) asked: &'a str,
    /// The kind, in the forms of rustdoc's links: `fn@`, `struct@`, `f()`, `name!`.
    pub(crate) kind: Option<&'a str>,
    pub(crate) path: String,
}

impl RequestedPath<'_> {
    /// `invalid_request` for a text that cannot be a path.
    pub(crate) fn parse(symbol: &str) -> Result<RequestedPath<'_>, Error> {
        let asked = symbol.trim();
        let (kind, path) = split_mark(asked);
        // Macros write `::std::vec`.
        let path = path.strip_prefix("::").unwrap_or(path);
        well_formed(path)?;
        Ok(RequestedPath { asked, kind, path: path.to_owned() })
    }

    pub(crate) fn fits(&self, kind: Option<SymbolKind>) -> bool {
        self.kind.is_none_or(|word| kind.is_some_and(|kind| is_of_kind(word, kind)))
    }
}

/// The parts of a search query: a kind, if there is one, the segments before the name, and the name or a part of it.
pub(crate) fn query_of(query: &str) -> (Option<&str>, Vec<&str>, &str) {
    let (kind, path) = split_mark(query.trim());
    let (around, name) = path.rsplit_once("::").unwrap_or(("", path));
    (kind, around.split("::").filter(|it| !it.is_empty()).collect(), plain_name(name))
}

/// The part of a path between two `::`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    pub(crate) kind: Option<&'a str>,
    /// Without generics; a qualified one (`<Type as Trait>`) as a whole.
    pub(crate) name: &'a str,
    /// `<A, B>`, if given.
    pub(crate) arguments: &'a str,
    /// The number of an item among those with this path.
    pub(crate) ordinal: Option<usize>,
}

impl Segment<'_> {
    /// Whether the requested segment may mean this one: it may be incomplete and use shortened paths.
    fn may_be(&self, asked: &Segment<'_>) -> bool {
        let is_like = || self.is_qualified() && asked.is_qualified() && types::is_like(self.name, asked.name);
        (self.name == asked.name || is_like())
            && (asked.ordinal.is_none() || self.ordinal == asked.ordinal)
            && (asked.kind.is_none() || self.kind == asked.kind)
            && (asked.arguments.is_empty()
                || self.arguments.is_empty()
                || short_arguments(self.arguments) == short_arguments(asked.arguments))
    }

    pub(crate) fn is_qualified(&self) -> bool {
        self.name.starts_with(['<', '['])
    }
}

/// The segments of a path. Bracketed text belongs to one segment; a turbofish is not a segment.
pub(crate) fn segments(path: &str) -> Vec<Segment<'_>> {
    let is_turbofish = |(at, it): &(usize, &str)| *at > 0 && it.starts_with('<');
    parts(path).enumerate().filter(|it| !is_turbofish(it)).map(|it| segment(it.1)).collect()
}

/// The parts between `::` outside brackets.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let separator = outside_brackets(text).find(|&at| text[at..].starts_with("::"));
        rest = separator.and_then(|at| text.get(at + 2..));
        Some(&text[..separator.unwrap_or(text.len())])
    })
}

/// The offsets of the characters outside brackets, without the brackets.
fn outside_brackets(text: &str) -> impl Iterator<Item = usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    text.char_indices().filter_map(move |(at, character)| {
        let is_arrow = before == '-';
        before = character;
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' if is_arrow => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// Rejects a text that cannot be a path, so that it is neither searched for nor misinterpreted.
pub(crate) fn well_formed(path: &str) -> Result<(), Error> {
    let refused = |why: &str| {
        let shown: String = path.chars().take(100).collect();
        let dots = if shown.len() < path.len() { "…" } else { "" };
        let detail = format!("`{shown}{dots}` is no path: {why}; a path is like `krate::module::Type::method`");
        Err(Error::new(Code::InvalidRequest, detail))
    };
    if path.trim().is_empty() {
        return refused("it is empty");
    }
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    for character in path.chars() {
        let closing = match character {
            '<' => Some('>'),
            '(' => Some(')'),
            '[' => Some(']'),
            _ => None,
        };
        open.extend(closing);
        let closes = matches!(character, ')' | ']') || character == '>' && before != '-';
        if closes && open.pop() != Some(character) {
            return refused("a bracket is closed that was not opened");
        }
        if open.len() > DEEPEST {
            return refused("brackets are nested too deep");
        }
        before = character;
    }
    if !open.is_empty() {
        return refused("a bracket is not closed");
    }
    if parts(path).count() > MOST_SEGMENTS {
        return refused("it has too many segments");
    }
    let is_empty = |part: &str| {
        let name = split_kind(part.trim()).1;
        name.is_empty() || name.starts_with('<') && name.trim_matches(['<', '>', ' ']).is_empty()
    };
    if parts(path).any(is_empty) { refused("a segment is empty") } else { Ok(()) }
}

fn segment(text: &str) -> Segment<'_> {
    let (kind, rest) = match text.starts_with('<') {
        true => (None, text),
        false => split_kind(text),
    };
    let (rest, ordinal) = split_ordinal(rest);
    let (name, arguments) = match rest.find(['<', '(']) {
        Some(at) if !rest.starts_with(['<', '[']) => rest.split_at_checked(at).unwrap_or((rest, "")),
        _ => (rest, ""),
    };
    Segment { kind, name: plain_name(name.trim()), arguments, ordinal }
}

/// Whether it may be one segment, without additions that make it unique.
pub(crate) fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it == '_' || it.is_alphanumeric())
}

/// `name~2`
pub(crate) fn split_ordinal(text: &str) -> (&str, Option<usize>) {
    let split = text.rsplit_once(ORDINAL).and_then(|(name, ordinal)| Some((name, ordinal.parse().ok()?)));
    split.map_or((text, None), |(name, ordinal)| (name, Some(ordinal)))
}

/// `kind@rest`. The kind of a crate's target belongs to its name.
fn split_kind(path: &str) -> (Option<&str>, &str) {
    match path.split_once('@') {
        Some((kind, rest)) if is_kind(kind) => (Some(kind), rest),
        _ => (None, path),
    }
}

/// The kind of a path, from its prefix or from `()` or `!` after it.
fn split_mark(path: &str) -> (Option<&str>, &str) {
    let (kind, path) = split_kind(path);
    match (kind, path.strip_suffix("()"), path.strip_suffix('!')) {
        (None, Some(path), _) => (Some("fn"), path),
        (None, None, Some(path)) => (Some("macro"), path),
        (kind, stripped, other) => (kind, stripped.or(other).unwrap_or(path)),
    }
}

/// A path without the kind before it.
pub(crate) fn bare(path: &str) -> &str {
    split_kind(path).1
}

/// A path's last segment as in outlines, which includes the names of `impl` blocks.
pub(crate) fn last_name(path: &str) -> String {
    let (kind, path) = split_kind(path);
    let parts = segments(path);
    let Some(last) = parts.last() else { return String::new() };
    if let Some((ty, of)) = split_qualified(last.name) {
        return format!("{} for {}", types::short(of), types::short(ty));
    }
    if kind == Some("impl") { split_ordinal(last.name).0.to_owned() } else { last.name.to_owned() }
}

/// Splits `<ty as trait>`.
pub(crate) fn split_qualified(head: &str) -> Option<(&str, &str)> {
    let inner = head.strip_prefix('<')?.strip_suffix('>')?;
    let at = outside_brackets(inner).find(|&at| inner[at..].starts_with(" as "))?;
    Some((inner[..at].trim(), inner[at + " as ".len()..].trim()))
}

/// Whether `full` may be written as `short`: by its last segments, or for a trait's implementation by the last segments
/// of its type or trait. Numbers and generics may be omitted.
pub(crate) fn fits_end(full: &str, short: &str) -> bool {
    let (full, short) = (segments(bare(full)), segments(short));
    let names = |path: &[Segment<'_>], end: &[Segment<'_>]| {
        path.len() >= end.len() && path.iter().rev().zip(end.iter().rev()).all(|(segment, asked)| segment.may_be(asked))
    };
    let (Some((head, rest)), Some((asked_head, asked_rest))) = (full.split_first(), short.split_first()) else {
        return false;
    };
    let Some((ty, of)) = split_qualified(head.name) else { return names(&full, &short) };
    match split_qualified(asked_head.name) {
        Some((asked_ty, asked_of)) => {
            let is_numbered_so = asked_head.ordinal.is_none() || head.ordinal == asked_head.ordinal;
            is_numbered_so
                && types::is_like(ty, asked_ty)
                && types::is_like(of, asked_of)
                && names(rest, asked_rest)
                && rest.len() == asked_rest.len()
        }
        None => {
            let through = |path: &str| {
                let mut whole = segments(path);
                whole.extend_from_slice(rest);
                names(&whole, &short)
            };
            short.len() <= rest.len() && names(rest, &short) || through(ty) || through(of)
        }
    }
}

/// Arguments with each path reduced to its last segment.
fn short_arguments(arguments: &str) -> String {
    let mut short = String::new();
    for part in arguments.split_inclusive("::") {
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        match part.strip_suffix("::") {
            Some(qualifier) => short.push_str(qualifier.trim_end_matches(is_name)),
            None => short.push_str(part),
        }
    }
    short.retain(|it| !it.is_whitespace());
    short
}

fn is_kind(word: &str) -> bool {
    // The additional kinds of rustdoc's links.
    const ALIASES: [&str; 5] = ["module", "function", "constant", "derive", "typealias"];
    const WORDS: [&str; 14] = [
        "mod", "struct", "enum", "union", "trait", "type", "fn", "method", "field", "variant", "const", "static",
        "macro", "impl",
    ];
    !TARGETS.contains(&word) && (WORDS.contains(&word) || ALIASES.contains(&word))
}

pub(crate) fn is_of_kind(word: &str, kind: SymbolKind) -> bool {
    match word {
        "mod" | "module" => kind == SymbolKind::Module,
        "struct" => kind == SymbolKind::Struct,
        "enum" => kind == SymbolKind::Enum,
        "union" => kind == SymbolKind::Union,
        "trait" => kind == SymbolKind::Trait,
        "type" | "typealias" => kind == SymbolKind::Type,
        "fn" | "function" => matches!(kind, SymbolKind::Function | SymbolKind::Method),
        "method" => kind == SymbolKind::Method,
        "field" => kind == SymbolKind::Field,
        "variant" => kind == SymbolKind::Variant,
        "const" | "constant" => kind == SymbolKind::Const,
        "static" => kind == SymbolKind::Static,
        "macro" | "derive" => kind == SymbolKind::Macro,
        "impl" => kind == SymbolKind::Impl,
        _ => false,
    }
}
