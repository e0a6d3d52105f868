//! Where a doctest failed. rustdoc names it by its first line, but a panic in it has a line of the program that rustdoc
//! generated. Only the column and the code at it are correct.

use super::libtest::At;
use semdex_engine::verify::line_of;

/// Code that panics, as it appears at the column of a panic.
const PANICKING: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "expect",
    "expect_err",
    "panic",
    "todo",
    "unimplemented",
    "unreachable",
    "unwrap",
    "unwrap_err",
];

/// `src/lib.rs - path (line 3)` is a doctest.
pub(crate) fn place(name: &str) -> Option<At> {
    let (file, rest) = name.split_once(" - ")?;
    let line = rest.rsplit_once("(line ")?.1.split(')').next()?.parse().ok()?;
    Some(At { file: file.to_owned(), line, column: 1 })
}

/// The path of the documented item; empty for the module of a file.
pub(crate) fn path(name: &str) -> &str {
    name.split_once(" - ").and_then(|it| it.1.split_once(" (")).map_or("", |it| it.0.trim())
}

/// The most specific word of its name by which rustdoc can select it.
pub(crate) fn filter(name: &str) -> &str {
    let path = path(name);
    let whole = if path.is_empty() || path.starts_with("(line") { name } else { path };
    whole.split(' ').next().unwrap_or(whole)
}

/// The line of the file that a panic refers to, found by the text of that file; `None` if the code is elsewhere.
pub(crate) fn line_of_panic(text: &str, begins: usize, panic: &At, message: &str) -> Option<usize> {
    let is_real = line_of(text, panic.line)
        .is_some_and(|(_, code)| !code.trim_start().starts_with("//") && panics_at(code, panic.column));
    if is_real && !panic.file.contains("doctest_bundle") {
        return None;
    }
    let mut fallback = None;
    for (at, line) in text.lines().enumerate().skip(begins) {
        let code = uncommented(line);
        if code.trim_start().starts_with("```") || code.trim_start().starts_with("~~~") {
            break;
        }
        if panics_at(code, panic.column) {
            if word_at(code, panic.column).is_some_and(|it| fits(it, message)) {
                return Some(at + 1);
            }
            fallback.get_or_insert(at + 1);
        }
    }
    Some(fallback.unwrap_or(begins))
}

/// Without the marker of a doc comment, and without the prefix that hides a line.
fn uncommented(line: &str) -> &str {
    let line = line.trim_start();
    let inner = ["///", "//!", "*"].iter().find_map(|it| line.strip_prefix(it)).unwrap_or(line);
    let inner = inner.strip_prefix(' ').unwrap_or(inner);
    inner.strip_prefix("# ").unwrap_or(inner)
}

fn word_at(code: &str, column: usize) -> Option<&str> {
    let (from, _) = code.char_indices().nth(column.checked_sub(1)?)?;
    let rest = code.get(from..)?;
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    rest.get(..end)
}

fn panics_at(code: &str, column: usize) -> bool {
    word_at(code, column).is_some_and(|it| PANICKING.contains(&it))
}

/// Whether this code produces such a message.
fn fits(word: &str, message: &str) -> bool {
    match word.trim_start_matches("debug_") {
        "assert_eq" => message.starts_with("assertion `left == right`"),
        "assert_ne" => message.starts_with("assertion `left != right`"),
        "unwrap" | "unwrap_err" => message.contains("::unwrap"),
        "todo" | "unimplemented" => message.starts_with("not "),
        "unreachable" => message.starts_with("internal error: entered unreachable code"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/// ```
/// let x: Option<u8> = None;
/// assert!(true);
/// x.unwrap();
/// ```
pub fn f() { panic!(\"here\"); }
";

    #[test]
    fn a_panic_is_found_by_its_column() {
        let at = |file: &str, line, column| At { file: file.to_owned(), line, column };
        let line = |panic: At, message: &str| line_of_panic(TEXT, 1, &panic, message);
        assert_eq!(line(at("src/lib.rs", 5, 3), "called `Option::unwrap()` on a `None` value"), Some(4));
        assert_eq!(line(at("/tmp/doctest_bundle_2021.rs", 19, 1), "assertion failed"), Some(3));
        assert_eq!(line(at("src/lib.rs", 6, 14), "here"), None);
        assert_eq!(line(at("src/lib.rs", 40, 9), "boom"), Some(1));
    }

    #[test]
    fn names_are_taken_apart() {
        let at = place("a/src/lib.rs - m::f (line 12)").unwrap();
        assert_eq!((at.file.as_str(), at.line), ("a/src/lib.rs", 12));
        assert_eq!((filter("src/lib.rs - m::f (line 12)"), path("src/lib.rs - m::f (line 12)")), ("m::f", "m::f"));
        assert_eq!((filter("src/lib.rs - (line 1)"), path("src/lib.rs - (line 1)")), ("src/lib.rs", ""));
        assert_eq!(place("tests::it_works"), None);
    }
}
