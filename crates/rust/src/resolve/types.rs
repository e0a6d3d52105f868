//! Types and traits as paths write them, compared piece by piece: each path may be shortened to its last segments.
//! Arguments, lifetimes and further bounds may be omitted, and white space does not matter.

/// A piece of a type: `&mut [krate::Pair]` has `&`, `mut`, `[`, `krate::Pair`, `]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The segments of a path, or a keyword.
    Path(Vec<String>),
    Sign(&'static str),
    /// A character that occurs in no type.
    Other(char),
}

const SIGNS: [&str; 18] = ["->", "<", ">", "(", ")", "[", "]", "{", "}", "&", "*", ",", ";", "+", "=", "!", "?", "-"];

pub(crate) fn pieces(ty: &str) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let mut rest = ty.trim_start();
    let mut continues = false;
    while let Some(first) = rest.chars().next() {
        let (text, after) = rest.split_at(length_of_piece(rest, first));
        rest = after.trim_start();
        if first == '\'' {
            // A lifetime is removed with the comma after it, or with the plus before it.
            match rest.strip_prefix(',') {
                Some(after) => rest = after.trim_start(),
                None => drop(found.pop_if(|it| *it == Piece::Sign("+"))),
            }
        } else if first == '~' {
            continue;
        } else if text == "::" {
            continues = true;
            continue;
        } else if is_word(first) {
            let word = text.strip_prefix("r#").unwrap_or(text).to_owned();
            match found.last_mut() {
                Some(Piece::Path(segments)) if continues => segments.push(word),
                _ => found.push(Piece::Path(vec![word])),
            }
        } else {
            push_sign(&mut found, text, first);
        }
        continues = false;
    }
    found
}

/// Crates may have a version or a target before their names, and a file may be in place of a crate:
/// `syn@1.0.109::Item`, `src/orphan.rs::Item`.
fn length_of_piece(rest: &str, first: char) -> usize {
    let word = |from: usize| {
        let tail = rest.get(from..).unwrap_or_default();
        let goes_on = |at: usize, it: char| {
            is_word(it) || matches!(it, '/' | '.' | '@') || it == '-' && !tail[at..].starts_with("->")
        };
        from + tail.char_indices().find(|&(at, it)| !goes_on(at, it)).map_or(tail.len(), |it| it.0)
    };
    match first {
        '\'' => word(1),
        'r' if rest.starts_with("r#") => word(2),
        _ if is_word(first) => word(0),
        // The number of an item with this path: the path as a whole decides.
        '~' => 1 + rest[1..].find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len() - 1),
        _ if rest.starts_with("::") || rest.starts_with("->") => 2,
        _ => first.len_utf8(),
    }
}

fn push_sign(found: &mut Vec<Piece>, text: &str, first: char) {
    let Some(sign) = SIGNS.into_iter().find(|it| *it == text) else {
        found.push(Piece::Other(first));
        return;
    };
    if matches!(sign, ">" | ")" | "]") {
        found.pop_if(|it| *it == Piece::Sign(","));
    }
    // The rest of `Cow<'a>` and `for<'a>`.
    if sign == ">" && found.pop_if(|it| *it == Piece::Sign("<")).is_some() {
        found.pop_if(|it| matches!(it, Piece::Path(path) if path == &["for"]));
        return;
    }
    found.push(Piece::Sign(sign));
}

/// Each path reduced to its last segment, without arguments, as outlines name it.
pub(crate) fn short(ty: &str) -> String {
    let mut kept: Vec<Piece> = Vec::new();
    let whole = pieces(ty);
    let mut rest = whole.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let from = rest;
        rest = after;
        match first {
            Piece::Path(path) => {
                kept.push(Piece::Path(path.last().cloned().into_iter().collect()));
                if path.last().is_none_or(|it| it != "fn") {
                    rest = after_arguments(rest);
                }
            }
            // `<Type as Trait>::f::Inner` counts as its last segment.
            Piece::Sign("<") => rest = after_group(from),
            other => kept.push(other.clone()),
        }
    }
    written(&kept)
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// The text of these pieces, with white space as in rustfmt.
pub(crate) fn written(pieces: &[Piece]) -> String {
    let mut text = String::new();
    let mut follows_word = false;
    for piece in pieces {
        match piece {
            Piece::Path(segments) => {
                if follows_word {
                    text.push(' ');
                }
                text.push_str(&segments.join("::"));
            }
            Piece::Sign(sign) => {
                let (before, after) = match *sign {
                    "->" | "+" | "=" => (" ", " "),
                    "," | ";" => ("", " "),
                    _ => ("", ""),
                };
                text.extend([before, sign, after]);
            }
            Piece::Other(character) => text.push(*character),
        }
        follows_word = matches!(piece, Piece::Path(_));
    }
    text
}

/// Whether a type may be written as `short`.
pub(crate) fn is_like(full: &str, short: &str) -> bool {
    are_alike(&pieces(full), &pieces(short))
}

pub(crate) fn are_alike(mut full: &[Piece], mut short: &[Piece]) -> bool {
    loop {
        let bounds = [full, short].map(|it| it.first() == Some(&Piece::Sign("+")));
        if bounds == [true, false] {
            full = after_bound(full);
            continue;
        }
        if bounds == [false, true] {
            short = after_bound(short);
            continue;
        }
        match (full.split_first(), short.split_first()) {
            (None, None) => return true,
            (Some((Piece::Path(a), after_a)), Some((Piece::Path(b), after_b))) => {
                if !a.iter().rev().zip(b.iter().rev()).all(|(a, b)| a == b) {
                    return false;
                }
                (full, short) = (after_a, after_b);
                let opens = |it: &[Piece]| it.first().filter(|it| is_opening(it)).cloned();
                if opens(full) != opens(short) {
                    (full, short) = (after_arguments(full), after_arguments(short));
                }
            }
            // The last arguments may be omitted: they may be defaults.
            (Some((Piece::Sign(","), _)), Some((Piece::Sign(">"), _))) => full = at_end_of_group(full),
            (Some((a, after_a)), Some((b, after_b))) if a == b => (full, short) = (after_a, after_b),
            _ => return false,
        }
    }
}

fn is_opening(piece: &Piece) -> bool {
    matches!(piece, Piece::Sign("<" | "("))
}

/// The pieces after the `<…>` or `(…) -> …` of a path, if it has them.
fn after_arguments(pieces: &[Piece]) -> &[Piece] {
    let is_call = pieces.first() == Some(&Piece::Sign("("));
    if !pieces.first().is_some_and(is_opening) {
        return pieces;
    }
    let rest = after_group(pieces);
    match rest.split_first() {
        Some((Piece::Sign("->"), result)) if is_call => {
            let mut rest = result;
            while let Some(first) = rest.first() {
                match first {
                    Piece::Sign("<" | "(" | "[") => rest = after_group(rest),
                    Piece::Sign(">" | ")" | "]" | "," | "+") => break,
                    _ => rest = rest.get(1..).unwrap_or_default(),
                }
            }
            rest
        }
        _ => rest,
    }
}

fn after_group(pieces: &[Piece]) -> &[Piece] {
    let mut depth = 0_usize;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Sign("<" | "(" | "[") => depth += 1,
            Piece::Sign(">" | ")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return pieces.get(at + 1..).unwrap_or_default();
        }
    }
    &[]
}

/// The bracket that ends the group around these pieces, and the pieces after it.
fn at_end_of_group(pieces: &[Piece]) -> &[Piece] {
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        match first {
            Piece::Sign("<" | "(" | "[") => rest = after_group(rest),
            Piece::Sign(">" | ")" | "]") => break,
            _ => rest = rest.get(1..).unwrap_or_default(),
        }
    }
    rest
}

/// The pieces after `+ Send` or `+ ?Sized`.
fn after_bound(pieces: &[Piece]) -> &[Piece] {
    let mut rest = pieces.get(1..).unwrap_or_default();
    while let Some((Piece::Sign("?") | Piece::Path(_), after)) = rest.split_first() {
        rest = after;
    }
    after_arguments(rest)
}

#[cfg(test)]
mod tests {
    use super::{is_like, pieces, short, written};

    #[test]
    fn the_short_form_is_that_of_outlines() {
        for (full, expected) in [
            ("<k::Size as k::Read>::read::Bytes", "Bytes"),
            ("&mut <k::Size as k::Read>::read::Bytes", "&mut Bytes"),
            ("src/a-b/c.rs::over::Sum", "Sum"),
            ("k::twin~2", "twin"),
            ("bstr@1.13.1::BString", "BString"),
            ("(k::A, &[k::B; 2])", "(A, &[B; 2])"),
            ("fn(k::A) -> k::B", "fn(A) -> B"),
            ("alloc::boxed::Box<dyn k::Spoken>", "Box"),
            ("dyn k::Fn(u8) -> u8 + Send", "dyn Fn + Send"),
        ] {
            assert_eq!(short(full), expected, "{full}");
        }
    }

    #[test]
    fn a_type_is_like_its_shorter_forms() {
        for (full, short) in [
            ("&std::path::Path", "&Path"),
            ("&mut std::path::Path", "&'a mut  path::Path"),
            ("[k::Pair]", "[Pair]"),
            ("&[k::Pair]", "&[Pair]"),
            ("(u8, k::Pair)", "(u8,Pair)"),
            ("(k::A, k::B)", "(A, B,)"),
            ("*const k::Pair", "*const Pair"),
            ("*mut k::Pair", "* mut Pair"),
            ("[k::Pair; 4]", "[Pair;4]"),
            ("dyn k::Spoken", "dyn Spoken + Send + 'static"),
            ("dyn core::ops::function::Fn", "dyn Fn(u8) -> Vec<u8>"),
            ("alloc::boxed::Box<dyn core::ops::function::Fn>", "Box<dyn Fn(u8, u8) -> u8 + Send>"),
            ("alloc::boxed::Box<dyn k::Spoken>", "Box<dyn Spoken>"),
            ("alloc::boxed::Box", "Box<dyn Spoken>"),
            ("fn(A) -> k::B", "fn(A) -> B"),
            ("fn(&k::A)", "for<'a> fn(&'a A)"),
            ("!", "!"),
            ("str", "str"),
            ("k::Of<u8>", "Of<'a, u8>"),
            ("alloc::boxed::Box<str, alloc::alloc::Global>", "Box<str>"),
            ("&k::Map<(u8, u8), k::Of<u8>, k::Hasher<(u8, u8)>>", "&Map<(u8, u8)>"),
            ("k::Of<u8>", "Of"),
            ("k::Cow", "Cow<'_>"),
            ("k::type", "r#type"),
            ("core::convert::From<k::A>", "From<A>"),
            ("<T as k::Iter>::Item", "<T as Iter>::Item"),
        ] {
            assert!(is_like(full, short), "{full} {short}: {:?} {:?}", pieces(full), pieces(short));
            assert!(is_like(full, &written(&pieces(full))), "{full}: {}", written(&pieces(full)));
        }
    }

    #[test]
    fn another_type_is_not() {
        for (full, short) in [
            ("&k::Path", "Path"),
            ("k::Path", "&Path"),
            ("&k::Path", "&mut Path"),
            ("*const u8", "*mut u8"),
            ("[u8; 4]", "[u8; 5]"),
            ("[u8]", "[u8; 4]"),
            ("(u8, u16)", "(u16, u8)"),
            ("(u8, u16)", "(u8, u16, u32)"),
            ("fn(u8)", "fn(u16)"),
            ("dyn k::A", "k::A"),
            ("dyn k::A", "dyn B + A"),
            ("k::Of<u8>", "Of<u16>"),
            ("k::Of<u8>", "Of<u8, u8>"),
            ("k::a::Of", "b::Of"),
            ("k::Of", ""),
            ("u8", "u8 u8"),
        ] {
            assert!(!is_like(full, short), "{full} {short}");
        }
    }
}
