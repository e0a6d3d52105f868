//! Names from globs, re-exports and imports of these. All places that have to be edited are reported, with a mark on
//! places that fail only because of a broken import. The compiler checks the code again without these imports.

use super::impact::hold_in;
use super::*;

const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod base;\npub mod handed;\n"),
    ("src/base.rs", include_str!("fixtures/base.rs")),
    ("src/handed.rs", include_str!("fixtures/handed.rs")),
];

const CASES: &[(&str, &str, &str)] = &[
    ("a struct renamed", "pub struct Thing {", "pub struct Other {"),
    ("a struct removed", "pub struct Pair(pub u8, pub u8);", ""),
    ("a struct hidden", "pub struct Pair(", "struct Pair("),
    ("a trait renamed", "pub trait Measure {", "pub trait Measures {"),
    ("an enum renamed", "pub enum Kind {", "pub enum Sort {"),
    ("an enum hidden", "pub enum Kind {", "enum Kind {"),
    ("a variant renamed", "    Round,\n", "    Square,\n"),
    ("a variant with fields renamed", "    Odd { by: u8 },\n", "    Even { by: u8 },\n"),
    ("an alias renamed", "pub type Short", "pub type Brief"),
    ("a constant renamed", "pub const LIMIT", "pub const MOST"),
    ("a constant hidden", "pub const LIMIT", "const LIMIT"),
    ("a static renamed", "pub static NAMES", "pub static WORDS"),
    ("a function renamed", "pub fn helper()", "pub fn helped()"),
    ("a function removed", "pub fn helper() -> u8 {\n    1\n}\n", ""),
    ("a function hidden", "pub fn helper()", "fn helper()"),
    ("an inline module renamed", "pub mod deep {", "pub mod deeper {"),
    ("an inline module hidden", "pub mod deep {", "mod deep {"),
    ("a struct of a module renamed", "    pub struct Inner;", "    pub struct Inmost;"),
    ("a function of a module hidden", "    pub fn deepest()", "    fn deepest()"),
    ("a type of a trait renamed", "    type Unit;\n", "    type Scale;\n"),
    ("a constant of a trait renamed", "    const MOST: u8 = 9;\n", "    const LEAST: u8 = 9;\n"),
];

#[test]
fn names_by_globs_and_imports_of_imports_are_all_reported() {
    hold_in("base", &FILES, "src/base.rs", CASES.iter());
}

/// A place has a mark if the name would be resolved without broken imports, and only then.
#[test]
fn what_fails_only_through_a_broken_import_is_marked() {
    let lib = "pub mod base {\n    pub fn helper() -> u8 {\n        1\n    }\n    pub fn own() -> u8 {\n        helper()\n    }\n}\n\
               pub mod prelude {\n    pub use crate::base::helper;\n}\n\
               pub mod globbed {\n    use crate::prelude::*;\n    pub fn one() -> u8 {\n        helper()\n    }\n\
               \n    mod within {\n        use super::*;\n        #[test]\n        fn two() {\n            assert_eq!(helper(), 1);\n        }\n    }\n}\n\
               pub mod direct {\n    use crate::base::*;\n    pub fn three() -> u8 {\n        helper() + crate::base::helper()\n    }\n}\n\
               pub mod imported {\n    use crate::prelude::helper;\n    pub fn four() -> u8 {\n        helper()\n    }\n}\n";
    let (_directory, mut it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    it.fill();
    let (after, edits) = it.change("src/lib.rs", "pub fn helper() ->", "pub fn helped() ->");
    let before = it.files.clone();
    let change_impact = it.rust.impact_of(&before, &after, &edits, None);
    let mut broken: Vec<(&str, bool)> =
        change_impact.impact.broken.iter().map(|it| (it.at.text.trim(), it.follows)).collect();
    broken.sort_unstable();
    assert_eq!(
        broken,
        [
            ("assert_eq!(helper(), 1);", true),
            ("helper()", false),
            ("helper()", true),
            ("helper()", true),
            ("helper() + crate::base::helper()", false),
            ("pub use crate::base::helper;", false),
            ("use crate::prelude::helper;", true),
        ],
        "{:?}",
        change_impact.impact.broken
    );
}

/// Only the import has to be edited.
#[test]
fn what_an_import_gives_another_name_does_not_follow() {
    let lib = "pub mod base {\n    pub struct Thing;\n}\npub mod user {\n    use crate::base::Thing as Other;\n\
               \n    pub fn one(it: Other) -> Other {\n        let _: &Other = &it;\n        it\n    }\n}\n";
    let (_directory, mut it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    it.fill();
    let (after, edits) = it.change("src/lib.rs", "pub struct Thing;", "pub struct Thin;");
    let before = it.files.clone();
    let change_impact = it.rust.impact_of(&before, &after, &edits, None);
    let lines: Vec<usize> = change_impact.impact.broken.iter().map(|it| it.at.place.line).collect();
    assert_eq!(lines, [5], "{:?}", change_impact.impact.broken);
}

/// The checks of edited bodies, and the checks for changed types, are the same before and after.
#[test]
fn an_error_that_stays_is_not_reported_as_fixed() {
    let lib = "pub mod base {\n    pub struct Plain;\n    pub trait Asked {}\n    pub fn helper() -> u8 {\n        1\n    }\n}\n\
               use base::{Asked, Plain, helper};\n\
               pub fn sum(by: u16) -> u16 {\n    let _ = helper();\n    1u8 + by\n}\n\
               pub fn copies() -> usize {\n    let _ = helper();\n    [Plain; 2].len()\n}\n\
               pub fn promised() -> impl Asked {\n    let _ = helper();\n    Plain\n}\n";
    let (_directory, mut it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    it.fill();
    for (from, to) in [
        ("    pub fn helper() -> u8", "    pub(crate) fn helper() -> u8"),
        ("    pub fn helper() -> u8", "    pub fn helper(_: u8) -> u8"),
        ("    pub fn helper() -> u8", "    pub fn helped() -> u8"),
    ] {
        let (after, edits) = it.change("src/lib.rs", from, to);
        let before = it.files.clone();
        let change_impact = it.rust.impact_of(&before, &after, &edits, None);
        assert_eq!(change_impact.fixed, [], "{to}");
        let of_types = |it: &&semdex_model::Diagnostic| it.code.as_deref() == Some("E0277");
        assert_eq!(change_impact.new.iter().filter(of_types).count(), 0, "{to}: {:?}", change_impact.new);
    }
}
