//! A symbol as a request writes it, taken apart.

use crate::lang::rust::paths::{ORDINAL, TARGETS, plain_name};
use crate::model::SymbolKind;

pub(super) struct Written<'a> {
    /// As it came.
    pub(super) asked: &'a str,
    /// As in rustdoc's links: `fn@`, `struct@`, `f()`, `name!`.
    pub(super) kind: Option<&'a str>,
    pub(super) path: String,
}

impl Written<'_> {
    pub(super) fn parse(symbol: &str) -> Written<'_> {
        let asked = symbol.trim();
        let (kind, path) = split_kind(asked);
        let (kind, path) = match (kind, path.strip_suffix("()"), path.strip_suffix('!')) {
            (None, Some(path), _) => (Some("fn"), path),
            (None, None, Some(path)) => (Some("macro"), path),
            (kind, stripped, other) => (kind, stripped.or(other).unwrap_or(path)),
        };
        Written { asked, kind, path: path.to_owned() }
    }

    pub(super) fn fits(&self, kind: Option<SymbolKind>) -> bool {
        self.kind.is_none_or(|word| kind.is_some_and(|kind| is_of_kind(word, kind)))
    }
}

/// One part of a path between `::`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) kind: Option<&'a str>,
    /// Without generics; a qualified one (`<Type as Trait>`) as a whole.
    pub(super) name: &'a str,
    /// `<A, B>`, if told.
    pub(super) arguments: &'a str,
    /// Which of several with this path.
    pub(super) ordinal: Option<usize>,
}

impl Segment<'_> {
    /// Whether what was asked may mean this: it need not tell everything, nor by whole paths.
    fn may_be(&self, asked: &Segment<'_>) -> bool {
        self.name == asked.name
            && (asked.ordinal.is_none() || self.ordinal == asked.ordinal)
            && (asked.kind.is_none() || self.kind == asked.kind)
            && (asked.arguments.is_empty()
                || self.arguments.is_empty()
                || short_arguments(self.arguments) == short_arguments(asked.arguments))
    }

    pub(super) fn is_qualified(&self) -> bool {
        self.name.starts_with(['<', '['])
    }
}

/// A path's parts. What stands in brackets is in one part; a turbofish is none.
pub(super) fn segments(path: &str) -> Vec<Segment<'_>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    let bytes = path.as_bytes();
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') && at >= start => {
                found.extend(path.get(start..at).map(segment));
                start = at + 2;
            }
            _ => {}
        }
    }
    found.extend(path.get(start..).map(segment));
    let is_turbofish = |(at, it): &(usize, Segment<'_>)| *at > 0 && it.name.starts_with('<');
    found.into_iter().enumerate().filter(|it| !is_turbofish(it)).map(|it| it.1).collect()
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

/// `name~2`
pub(super) fn split_ordinal(text: &str) -> (&str, Option<usize>) {
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

/// A path without the kind before it.
pub(super) fn bare(path: &str) -> &str {
    split_kind(path).1
}

/// A path's last part, as files declare it: for `impl` blocks what the outline calls them.
pub(super) fn last_name(path: &str) -> String {
    let (kind, path) = split_kind(path);
    let parts = segments(path);
    let Some(last) = parts.last() else { return String::new() };
    if let Some((ty, of)) = split_qualified(last.name) {
        let short = |path: &str| segments(path).last().map(|it| it.name.to_owned()).unwrap_or_default();
        let ty_name = ty.trim_start_matches("&mut ").trim_start_matches('&');
        let sign = ty.strip_suffix(ty_name).unwrap_or_default();
        return format!("{} for {sign}{}", short(of), short(ty_name));
    }
    if kind == Some("impl") { split_ordinal(last.name).0.to_owned() } else { last.name.to_owned() }
}

/// `<ty as trait>`, taken apart.
pub(super) fn split_qualified(head: &str) -> Option<(&str, &str)> {
    let inner = head.strip_prefix('<')?.strip_suffix('>')?;
    let mut depth = 0_usize;
    for (at, character) in inner.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                if let Some(of) = inner.get(at..).and_then(|it| it.strip_prefix(" as ")) {
                    return Some((inner.get(..at)?, of));
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether `full` may be written as `short`: by its last segments, or for a trait's implementation by those of its
/// type or of its trait. Numbers and generics need not be told.
pub(super) fn fits_end(full: &str, short: &str) -> bool {
    let (full, short) = (segments(bare(full)), segments(short));
    let names = |path: &[Segment<'_>], end: &[Segment<'_>]| {
        path.len() >= end.len() && path.iter().rev().zip(end.iter().rev()).all(|(told, asked)| told.may_be(asked))
    };
    let (Some((head, rest)), Some((asked_head, asked_rest))) = (full.split_first(), short.split_first()) else {
        return false;
    };
    let Some((ty, of)) = split_qualified(head.name) else { return names(&full, &short) };
    let tail = |path: &str, end: &str| names(&segments(path), &segments(end));
    match split_qualified(asked_head.name) {
        Some((asked_ty, asked_of)) => {
            let is_numbered_so = asked_head.ordinal.is_none() || head.ordinal == asked_head.ordinal;
            is_numbered_so
                && tail(ty, asked_ty)
                && tail(of, asked_of)
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

/// Arguments with each path by its last segment.
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
    const ALIASES: [&str; 2] = ["module", "function"];
    const WORDS: [&str; 14] = [
        "mod", "struct", "enum", "union", "trait", "type", "fn", "method", "field", "variant", "const", "static",
        "macro", "impl",
    ];
    !TARGETS.contains(&word) && (WORDS.contains(&word) || ALIASES.contains(&word))
}

pub(super) fn is_of_kind(word: &str, kind: SymbolKind) -> bool {
    match word {
        "mod" | "module" => kind == SymbolKind::Module,
        "struct" => kind == SymbolKind::Struct,
        "enum" => kind == SymbolKind::Enum,
        "union" => kind == SymbolKind::Union,
        "trait" => kind == SymbolKind::Trait,
        "type" => kind == SymbolKind::Type,
        "fn" | "function" => matches!(kind, SymbolKind::Function | SymbolKind::Method),
        "method" => kind == SymbolKind::Method,
        "field" => kind == SymbolKind::Field,
        "variant" => kind == SymbolKind::Variant,
        "const" => kind == SymbolKind::Const,
        "static" => kind == SymbolKind::Static,
        "macro" => kind == SymbolKind::Macro,
        "impl" => kind == SymbolKind::Impl,
        _ => false,
    }
}
