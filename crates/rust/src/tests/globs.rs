//! What makes a name ambiguous that another file takes from a glob.

use super::impact::hold_in;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod left;\npub mod right;\npub mod user;\npub mod other;\n"),
    (
        "src/left.rs",
        "pub fn size() -> u8 {\n    1\n}\npub struct Shape;\npub struct Side(pub u8);\npub enum Kind {\n    One,\n}\npub const LIMIT: u8 = 1;\n",
    ),
    ("src/right.rs", "pub fn length() -> u8 {\n    2\n}\n// Here.\n"),
    (
        "src/user.rs",
        "use crate::left::*;\nuse crate::right::*;\n\npub struct Holder {\n    pub shape: Shape,\n}\n\nimpl Holder {\n    pub fn made(_: Option<Shape>) -> Holder {\n        Holder { shape: Shape }\n    }\n}\n\npub fn total() -> u8 {\n    println!(\"{}\", size());\n    length()\n        + size()\n        + LIMIT\n}\n\npub fn side(it: &Side) -> u8 {\n    let Side(it) = it;\n    *it\n}\n\npub fn is_one(it: Kind) -> bool {\n    matches!(it, Kind::One)\n}\n\npub mod chosen {\n    use crate::left::*;\n    use crate::left::size;\n    use crate::right::*;\n\n    pub fn total() -> u8 {\n        size() + length()\n    }\n}\n",
    ),
    ("src/other.rs", "use crate::left::*;\n\npub fn size_of() -> u8 {\n    size()\n}\n"),
];

const HERE: &str = "// Here.\n";

const EDITS: &[(&str, &str, &str)] = &[
    ("a function", HERE, "pub fn size() -> u8 {\n    3\n}\n"),
    ("a type", HERE, "pub struct Shape;\n"),
    ("a type with fields", HERE, "pub struct Side {\n    pub it: u8,\n}\n"),
    ("an enum", HERE, "pub enum Kind {\n    One,\n}\n"),
    ("a constant", HERE, "pub const LIMIT: u8 = 2;\n"),
    ("a function renamed", "pub fn length()", "pub fn size()"),
    ("a private function", HERE, "#[allow(dead_code)]\nfn size() -> u8 {\n    3\n}\n"),
    ("the same function", HERE, "pub use crate::left::size;\n"),
    ("a module of the name of a function", HERE, "pub mod size {}\n"),
];

#[test]
fn an_item_added_makes_the_names_of_globs_ambiguous() {
    hold_in("globs", FILES, "src/right.rs", EDITS.iter());
}
