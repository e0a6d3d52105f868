//! What types implement, compared with the compiler.

use super::impact::hold_in;

const FILES: [(&str, &str); 3] = [
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod traits;\n"),
    ("src/traits.rs", include_str!("fixtures/traits.rs")),
];

const EDITS: &[(&str, &str, &str)] = &[
    ("a derive dropped that a trait of a trait needs", "#[derive(Clone)]\npub struct Hint;", "pub struct Hint;"),
    ("a type renamed whose own block a derive needs", "pub enum Half<", "pub enum Part<"),
    (
        "a type moved whose own block a derive needs",
        "#[derive(Copy, Eq)]\npub enum Half<L, R> {\n    Left(L),\n    Right(R),\n}",
        "pub mod here {\n    #[derive(Copy, Eq)]\n    pub enum Half<L, R> {\n        Left(L),\n        Right(R),\n    }\n}",
    ),
    ("a type gone that is compared", "pub struct Label(String);", "pub struct Tag(String);"),
    ("a type gone that is compared with itself at last", "pub struct Count(usize);", "pub struct Number(usize);"),
    ("numbers of another size", "pub const WIDE: usize = 8;", "pub const WIDE: u16 = 8;"),
    ("numbers of another sort", "pub const WIDE: usize = 8;", "pub const WIDE: f32 = 8.0;"),
    ("a parameter that no field uses, by another name", "    pub by: F,\n", ""),
    ("a variant gone that alone used a parameter, and is handed on", "    First(A),\n", ""),
    (
        "other items behind those of an iterator",
        "last: &'static str) -> Vec<String> {",
        "last: &'static String) -> Vec<String> {",
    ),
];

#[test]
fn what_types_implement() {
    hold_in("traits", &FILES, "src/traits.rs", EDITS.iter());
}
