//! Code that compiles and looks like code with errors, written by one edit; and imports of the 2015 edition.

use super::truth::{Edit, Suite, hold, within_macro};

#[test]
fn valid_code_has_no_errors() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/lib.rs", "// The code.\n"),
    ];
    let to = include_str!("fixtures/valid.rs");
    let edit = Edit { name: "all of it", file: "src/lib.rs", from: "// The code.\n", to };
    hold(&Suite { name: "valid", files: &files, is_built: false }, &[edit]);
}

#[test]
fn valid_code_has_no_errors_in_the_input_of_a_macro() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/lib.rs", "// The code.\n"),
    ];
    let to = within_macro(include_str!("fixtures/valid.rs"));
    let edit = Edit { name: "all of it", file: "src/lib.rs", from: "// The code.\n", to: &to };
    hold(&Suite { name: "valid_in_macro", files: &files, is_built: false }, &[edit]);
}

const OF_2015: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2015\"\n[workspace]\n"),
    (
        "src/lib.rs",
        "pub mod user;\n\npub mod shapes {\n    pub struct Round;\n    pub mod deep {\n        pub fn made() -> u8 {\n            \
         1\n        }\n    }\n}\n",
    ),
    (
        "src/user.rs",
        "use shapes::Round;\n\npub fn used(_: &Round) -> u8 {\n    1\n}\n\npub mod inner {\n    pub mod shapes {\n        \
         pub struct Square;\n    }\n    pub fn square() -> shapes::Square {\n        shapes::Square\n    }\n}\n",
    ),
];

const EDITS_OF_2015: &[(&str, &str, &str, &str)] = &[
    (
        "imports from the root",
        "src/user.rs",
        "use shapes::Round;\n",
        "use std::fmt::Debug;\nuse shapes::{Round, deep};\nuse shapes::deep::made;\nuse user::inner::shapes::{self, \
         Square};\npub fn made_here() -> u8 {\n    let _: &Debug = &1;\n    let _: (Square, shapes::Square);\n    deep::made() + \
         made()\n}\n",
    ),
    (
        "an import from the root of a module within",
        "src/user.rs",
        "pub mod inner {\n",
        "pub mod inner {\n    use shapes::deep;\n    pub fn made() -> u8 {\n        deep::made()\n    }\n",
    ),
    ("an unknown item", "src/user.rs", "use shapes::Round;\n", "use shapes::Round;\nuse shapes::deep::none;\n"),
    ("an unknown module", "src/user.rs", "use shapes::Round;\n", "use shapes::Round;\nuse inner::shapes;\n"),
    ("a renamed item", "src/lib.rs", "pub struct Round;", "pub struct Rounded;"),
    ("a renamed module", "src/lib.rs", "pub mod deep {", "pub mod deeper {"),
];

#[test]
fn imports_of_2015_begin_at_the_root() {
    let edits: Vec<Edit<'_>> =
        EDITS_OF_2015.iter().map(|&(name, file, from, to)| Edit { name, file, from, to }).collect();
    hold(&Suite { name: "edition_2015", files: OF_2015, is_built: false }, &edits);
}
