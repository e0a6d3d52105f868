//! Fuzz targets of Rust's syntax: outlines, skeletons, and the outline after an edit.

use super::*;
use semdex_model::Alteration;
use semdex_testing::fuzz::{fuzz, mutated, two_states};

const SOURCES: &[&str] = &[
    include_str!("../../../../../tests/fixtures/corpus/src/model.rs"),
    include_str!("../../../../../tests/fixtures/corpus/src/store/macros.rs"),
    include_str!("../../../../../tests/fixtures/corpus/src/text/blocks.rs"),
    include_str!("../../../../../tests/fixtures/corpus/src/store/schedule.rs"),
    "//! Docs.\n#![cfg(x)]\nuse a::{self, b::*, c as _};\n\n/// T.\n#[derive(A)]\npub struct T<'a, const N: usize>(pub &'a [u8; N]) where T: Copy;\n",
    "impl<T: ?Sized> From<&T> for U { const A: u8 = 1; type B = C; fn f(&self) -> impl Fn() -> u8 { || { 1 } } }\nmacro_rules! m { ($a:expr) => { $a }; }\nm! { a }\n",
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\nunsafe extern \"C\" { fn puts(s: *const u8); }\nenum E { A = 1, B { x: u8 }, C(u8) }\nunion U { a: u8 }\ntrait Q: R { fn d() { 1; } }\n",
    "fn f() { let r = r#\"a\"#; let c = 'c'; let b = b\"\\xff\"; match x { Some(1..=2) if y => {} _ => return, } }\r\nstatic S: &[u8] = &[1, 2,\r\n 3];\r\n",
];
const WORDS: &[&str] = &[
    "fn ",
    "pub ",
    "pub(crate) ",
    "struct ",
    "enum ",
    "union ",
    "trait ",
    "impl ",
    "mod ",
    "use ",
    "const ",
    "static ",
    "type ",
    "where ",
    "for ",
    "let ",
    "match ",
    "if ",
    "else ",
    "loop ",
    "unsafe ",
    "async ",
    "extern \"C\" ",
    "macro_rules! m ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    "->",
    "=>",
    "=",
    ".",
    "..",
    "..=",
    "*",
    "&",
    "|",
    "||",
    "!",
    "?",
    "#",
    "#[",
    "#![",
    "#[cfg(test)]\n",
    "'a",
    "'x'",
    "\"",
    "r#\"",
    "b'",
    "//",
    "///",
    "//!",
    "/*",
    "*/",
    "/**",
    "\n",
    " ",
    "x",
    "T",
    "_",
    "é",
    "1u8",
    "0x",
    "1e",
    "$x",
    "r#fn",
    "~",
    "@",
    "---\n",
    "#!/bin/sh\n",
    "c\"a\"",
];

#[test]
fn fuzz_rust_syntax() {
    fuzz("rust_syntax", mutated(SOURCES, WORDS), |text| {
        let found = outline(&text);
        check_spans(&text, &found);
        if found.errors.is_empty() {
            assert_eq!(disagreement(&text, &found), None, "{}", found.skeleton);
        }
        for error in &found.errors {
            assert!(text.get(error.span.start..error.span.end).is_some(), "{error:?}");
        }
        for item in found.items.iter().take(4) {
            for change in [Alteration::Remove, Alteration::Rename, Alteration::Signature, Alteration::Visibility] {
                if let Some((span, _)) = alter(&text, item.span, item.name_span, change) {
                    assert!(text.get(span.start..span.end).is_some());
                }
            }
        }
    });
}

#[test]
fn fuzz_rust_edits() {
    fuzz("rust_edits", two_states(SOURCES, WORDS), |(old, new)| {
        let before = outline(&old);
        if before.errors.is_empty() {
            assert_eq!(outline_after(&before, &old, &new), outline(&new));
        }
    });
}
