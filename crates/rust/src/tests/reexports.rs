//! What a crate re-exports and how other crates may use it: imports with another name or visibility, and attributes
//! that seal a type, hide an item or keep a macro private. `tests/user.rs` is another crate.

use super::truth::{Edit, Suite, hold};
use super::*;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    (
        "src/lib.rs",
        "mod m;\npub mod pm;\nmod inn;\npub mod closed;\n\npub use m::f as ff;\npub use m::Cc;\npub use m::sub;\npub(crate) use m::g;\npub use pm::*;\n",
    ),
    (
        "src/m.rs",
        "pub fn f() -> u8 {\n    1\n}\n\npub fn g() -> u8 {\n    2\n}\n\npub struct Cc;\n\npub mod sub {\n    pub fn deep() -> u8 {\n        3\n    }\n}\n",
    ),
    ("src/pm.rs", "pub fn h() -> u8 {\n    4\n}\n\npub fn own() -> u8 {\n    h()\n}\n"),
    (
        "src/inn.rs",
        "pub fn renamed() -> u8 {\n    crate::ff()\n}\n\npub fn made() {\n    let _ = crate::Cc;\n}\n\npub fn globbed() -> u8 {\n    crate::h()\n}\n\n\
         pub fn within() -> u8 {\n    crate::sub::deep() + crate::g()\n}\n\npub fn called() -> u8 {\n    crate::pt!()\n}\n",
    ),
    (
        "src/closed.rs",
        "pub struct Record {\n    pub a: u8,\n}\n\npub struct Pair(pub u8, pub u8);\n\npub struct Unit;\n\npub enum Kind {\n    One,\n    Two(u8),\n}\n\n\
         #[macro_export]\nmacro_rules! pt {\n    () => {\n        1u8\n    };\n}\n\n\
         pub fn record() -> Record {\n    Record { a: pt!() }\n}\n\npub fn pair() -> Pair {\n    Pair(1, 2)\n}\n\npub fn kind(it: &Kind) -> u8 {\n    match it {\n        Kind::One => 1,\n        Kind::Two(it) => *it,\n    }\n}\n",
    ),
    (
        "tests/user.rs",
        "use judged::closed::{Kind, Pair, Record, Unit};\nuse judged::pt;\n\n\
         #[test]\nfn handed_on() {\n    judged::ff();\n    let _ = judged::Cc;\n    judged::h();\n    judged::sub::deep();\n}\n\n\
         #[test]\nfn records() {\n    let it = Record { a: 1 };\n    let Record { a } = it;\n    assert_eq!(a, 1);\n}\n\n\
         #[test]\nfn pairs() {\n    let it = Pair(1, 2);\n    let Pair(left, _) = it;\n    let _ = judged::closed::Pair(left, 2);\n    let _ = Unit;\n}\n\n\
         fn kinds(it: Kind) -> u8 {\n    match it {\n        Kind::One => 1,\n        Kind::Two(it) => it,\n    }\n}\n\n\
         #[test]\nfn macros() {\n    let one = pt!();\n    let two = judged::pt!();\n    assert_eq!(one + two, kinds(Kind::Two(2)));\n}\n",
    ),
];

const LIB: &str = "src/lib.rs";
const CLOSED: &str = "src/closed.rs";

/// Name, file, the text that is replaced, and its replacement.
const BREAKING: &[(&str, &str, &str, &str)] = &[
    ("another alias", LIB, "f as ff", "f as fg"),
    ("an alias that was none", LIB, "pub use m::Cc;", "pub use m::Cc as Cd;"),
    ("a named import for the crate", LIB, "pub use m::Cc;", "pub(crate) use m::Cc;"),
    ("a private named import", LIB, "pub use m::Cc;", "use m::Cc;"),
    ("a named import removed", LIB, "pub use m::Cc;\n", "\n"),
    ("a module handed on by another name", LIB, "pub use m::sub;", "pub use m::sub as below;"),
    ("a module handed on to the crate", LIB, "pub use m::sub;", "pub(crate) use m::sub;"),
    ("a glob removed", LIB, "pub use pm::*;\n", "\n"),
    ("a glob for the crate", LIB, "pub use pm::*;", "pub(crate) use pm::*;"),
    ("a glob that is one name", LIB, "pub use pm::*;", "pub use pm::own;"),
    ("a module for tests alone", LIB, "pub mod pm;", "#[cfg(test)]\npub mod pm;"),
    ("a function that a condition hides", "src/pm.rs", "pub fn h()", "#[cfg(any())]\npub fn h()"),
    ("a closed struct", CLOSED, "pub struct Record {", "#[non_exhaustive]\npub struct Record {"),
    ("a closed tuple struct", CLOSED, "pub struct Pair(", "#[non_exhaustive]\npub struct Pair("),
    ("a closed unit struct", CLOSED, "pub struct Unit;", "#[non_exhaustive]\npub struct Unit;"),
    ("a closed enum", CLOSED, "pub enum Kind {", "#[non_exhaustive]\npub enum Kind {"),
    ("a macro that stays at home", CLOSED, "#[macro_export]\n", "\n"),
];

const HARMLESS: &[(&str, &str, &str, &str)] = &[
    ("imports in another order", LIB, "pub use m::f as ff;\npub use m::Cc;\n", "pub use m::Cc;\npub use m::f as ff;\n"),
    ("merged imports", LIB, "pub use m::f as ff;\npub use m::Cc;\n", "pub use m::{f as ff, Cc};\n"),
    ("an alias beside", LIB, "pub use m::f as ff;", "pub use m::f as ff;\npub use m::f as fg;"),
    ("an import for more", LIB, "pub(crate) use m::g;", "pub use m::g;"),
    ("another path to the same", LIB, "pub use m::Cc;", "pub use self::m::Cc;"),
    ("the names of a glob", LIB, "pub use pm::*;", "pub use pm::{h, own};"),
    ("a condition that holds", "src/pm.rs", "pub fn h()", "#[cfg(all())]\npub fn h()"),
    ("documentation of a closed type", CLOSED, "pub enum Kind {", "/// It is not non_exhaustive.\npub enum Kind {"),
];

#[test]
fn what_is_handed_on_otherwise_is_what_the_compiler_reports() {
    let all = BREAKING.iter().chain(HARMLESS);
    let edits: Vec<Edit<'_>> = all.map(|&(name, file, from, to)| Edit { name, file, from, to }).collect();
    hold(&Suite { name: "reexports", files: FILES, is_built: false }, &edits);
}

/// `file:line code` of what an edit breaks.
fn broken(it: &mut Loaded, file: &str, from: &str, to: &str) -> Vec<String> {
    let (after, edits) = it.change(file, from, to);
    let before = it.files.clone();
    let broken = it.rust.impact_of(&before, &after, &edits, None).impact.broken;
    let place = |it: &semdex_model::Broken| {
        format!("{}:{} {}", it.at.place.file, it.at.place.line, it.code.as_deref().unwrap_or_default())
    };
    let mut places: Vec<String> = broken.iter().map(place).collect();
    places.sort();
    places
}

/// The same without the compiler, and for crates that depend on a failing one, which the compiler does not check.
#[test]
fn both_crates_are_told_of_what_is_handed_on_no_more() {
    let (_directory, mut it) = fixture(FILES);
    it.fill();
    for (from, to, expected) in [
        ("f as ff", "f as fg", &["src/inn.rs:2 E0425", "tests/user.rs:6 E0425"][..]),
        ("pub use m::Cc;", "pub(crate) use m::Cc;", &["tests/user.rs:7 E0603"][..]),
        ("pub use pm::*;", "pub(crate) use pm::*;", &["tests/user.rs:8 E0603"][..]),
        ("pub use pm::*;\n", "\n", &["src/inn.rs:10 E0425", "tests/user.rs:8 E0425"][..]),
    ] {
        assert_eq!(broken(&mut it, LIB, from, to), expected, "{to}");
    }
    for (_, file, from, to) in HARMLESS {
        assert_eq!(broken(&mut it, file, from, to), [] as [String; 0], "{to}");
    }
}

/// What an edit leaves known does not hide errors of the next edit.
#[test]
fn a_macro_at_home_is_missed_after_other_edits_too() {
    let (_directory, mut it) = fixture(FILES);
    it.fill();
    let expected = broken(&mut it, CLOSED, "#[macro_export]\n", "\n");
    assert!(expected.iter().any(|it| it == "tests/user.rs:2 E0432"), "{expected:?}");
    assert!(expected.iter().any(|it| it == "src/inn.rs:18 E0433"), "{expected:?}");
    apply(&mut it, CLOSED, "        1u8\n", "        2u8\n");
    assert_eq!(broken(&mut it, CLOSED, "#[macro_export]\n", "\n"), expected);
}
