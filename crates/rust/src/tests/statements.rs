//! What a file states for its whole crate, and lifetimes and bounds that an edit far from their uses declares or asks.

use super::truth::{Edit, Suite, hold};
use super::*;

const LIB: &str = "src/lib.rs";
const LIFETIMES: &str = "src/lifetimes.rs";

const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\ndefault = [\"std\"]\nstd = []\n[workspace]\n",
    ),
    (
        LIB,
        "extern crate alloc;\n#[macro_use]\nmod macros;\nmod a;\nmod b;\npub mod lifetimes;\n\npub use a::go;\n\npub fn top() -> alloc::vec::Vec<u8> {\n    a::vecs()\n}\n",
    ),
    ("src/macros.rs", "macro_rules! two {\n    () => {\n        2\n    };\n}\n"),
    (
        "src/a.rs",
        "use core::fmt;\n\npub struct A(pub Vec<u8>);\n\nimpl fmt::Display for A {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        write!(f, \"{}\", self.0.len())\n    }\n}\n\n\
         pub fn go() -> String {\n    println!(\"x\");\n    format!(\"{}\", A(vec![two!()]))\n}\n\npub fn vecs() -> alloc::vec::Vec<u8> {\n    alloc::vec![1]\n}\n",
    ),
    (
        "src/b.rs",
        "pub fn safe() -> std::collections::HashMap<u8, Box<u8>> {\n    std::collections::HashMap::new()\n}\n\n\
         #[cfg(test)]\nmod tests {\n    #[test]\n    fn length() {\n        assert_eq!(super::safe().len(), 0);\n        assert!(!super::safe().contains_key(&1));\n    }\n}\n",
    ),
    (LIFETIMES, include_str!("fixtures/lifetimes.rs")),
];

const ALLOC: &str = "extern crate alloc;";

/// Name, file, the text that is replaced, and its replacement.
const EDITS: &[(&str, &str, &str, &str)] = &[
    ("without the standard library", LIB, ALLOC, "#![no_std]\nextern crate alloc;"),
    ("without it under a condition", LIB, ALLOC, "#![cfg_attr(feature = \"std\", no_std)]\nextern crate alloc;"),
    ("without it in no build", LIB, ALLOC, "#![cfg_attr(not(feature = \"std\"), no_std)]\nextern crate alloc;"),
    ("without it but in tests", LIB, ALLOC, "#![cfg_attr(not(test), no_std)]\nextern crate alloc;"),
    ("without its prelude", LIB, ALLOC, "#![no_std]\nextern crate std;\nextern crate alloc;"),
    ("without its prelude's types", LIB, ALLOC, "#![no_std]\n#[macro_use]\nextern crate std;\nextern crate alloc;"),
    ("a crate that is not named", LIB, "extern crate alloc;\n", ""),
    ("a crate by another name", LIB, ALLOC, "extern crate alloc as allocated;"),
    ("macros that stay in their module", LIB, "#[macro_use]\n", ""),
    ("macros after their users", LIB, "#[macro_use]\nmod macros;\nmod a;\n", "mod a;\n#[macro_use]\nmod macros;\n"),
    ("a crate for tests alone", LIB, ALLOC, "#![cfg(test)]\nextern crate alloc;"),
    ("a module that a condition excludes", "src/b.rs", "pub fn safe()", "#![cfg(any())]\npub fn safe()"),
    ("a used module that a condition excludes", "src/a.rs", "use core::fmt;", "#![cfg(any())]\nuse core::fmt;"),
    ("an attribute of a crate in a module", "src/a.rs", "use core::fmt;", "#![no_std]\nuse core::fmt;"),
    ("a lifetime that parts of a block use", LIFETIMES, "impl<'a> P<'a> {", "impl P<'_> {"),
    ("a lifetime that a body uses", LIFETIMES, "fn g<'b>(x: &'b str) -> &'b str {", "fn g(x: &str) -> &str {"),
    ("a lifetime of a function", LIFETIMES, "fn free<'a>(x: &'a u8) -> &'a u8 {", "fn free(x: &u8) -> &u8 {"),
    ("a lifetime of an implementation", LIFETIMES, "impl<'a> Tr<'a> for P<'a> {", "impl Tr<'_> for P<'_> {"),
    ("a lifetime of a field", LIFETIMES, "struct Own {", "struct Own {\n    pub z: &'q u8,"),
    (
        "a lifetime that the type declares",
        LIFETIMES,
        "struct Own {",
        "struct Own<'q> {\n    pub z: &'q u8,\n    pub y: Box<dyn for<'r> Fn(&'r u8) -> &'r u8>,",
    ),
    (
        "a lifetime of the function around",
        LIFETIMES,
        "pub fn other() {",
        "pub fn other<'o>(_: &'o u8) {\n    pub fn inner(x: &'o u8) -> u8 {\n        *x\n    }\n    inner(&1);\n",
    ),
    (
        "labels and lifetimes that an inner block declares",
        LIFETIMES,
        "pub fn other() {",
        "pub fn other() {\n    struct L<'a>(&'a u8);\n    impl<'z> L<'z> {\n        fn f(&self) -> &'z u8 {\n            self.0\n        }\n    }\n    'l: loop {\n        L(&1).f();\n        break 'l;\n    }\n",
    ),
    ("a lifetime of a closure", LIFETIMES, "pub fn other() {", "pub fn other() {\n    let _ = |x: &'c u8| *x;\n"),
    ("an associated type's lifetime", LIFETIMES, "type Item<'x> = &'x u8 where", "type Item<'y> = &'x u8 where"),
    ("a binder", LIFETIMES, "trait Gat {", "trait Gat\nwhere\n    for<'w> &'w Self: Sized,\n{"),
    ("no binder", LIFETIMES, "trait Gat {", "trait Gat\nwhere\n    &'w Self: Sized,\n{"),
    ("another lifetime for a macro", LIFETIMES, "mac!(u8, 'a);", "mac!(u8, 'b);"),
    (
        "a parameter that an alias leaves out",
        LIFETIMES,
        "struct Wrap<I: Iterator, F> {",
        "struct Wrap<I: Iterator, F, const N: usize = 1> {",
    ),
];

#[test]
fn what_a_file_states_for_its_crate_is_judged_in_all_files() {
    let edits: Vec<Edit<'_>> = EDITS.iter().map(|&(name, file, from, to)| Edit { name, file, from, to }).collect();
    hold(&Suite { name: "statements", files: FILES, is_built: false }, &edits);
}

/// Errors that only a lint makes are not known, and neither is what rust-analyzer ignores.
#[test]
fn a_stricter_lint_makes_an_answer_incomplete() {
    let (_directory, mut it) = fixture(FILES);
    it.fill();
    let mut missing = |statement: &str| -> Vec<String> {
        let at = if statement.starts_with("#!") { ALLOC } else { "pub fn top()" };
        let (after, edits) = it.change(LIB, at, &format!("{statement}\n{at}"));
        let before = it.files.clone();
        let impact = it.rust.impact_of(&before, &after, &edits, None);
        impact.coverage.missing.iter().map(|it| it.detail.clone()).collect()
    };
    for it in [
        "#![deny(missing_docs)]",
        "#[deny(unused_variables)]",
        "#![forbid(unsafe_code, clippy::all)]",
        "#![no_implicit_prelude]",
    ] {
        assert_eq!(missing(it).len(), 1, "{it}");
    }
    for it in ["#![deny(clippy::all)]", "#![warn(missing_docs)]", "#![allow(dead_code)]", "#![doc = \"deny(x)\"]"] {
        assert_eq!(missing(it), [] as [String; 0], "{it}");
    }
}

/// A trait of one file whose bound is another trait in each of the two workspaces that have the file.
#[test]
fn a_bound_is_read_for_the_crate_that_asks() {
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let body = "[features]\nfirst = []\nsecond = []\n[dependencies]\none = { path = \"../one\" }\ntwo = { path = \"../two\" }\n[workspace]\n";
    let user = |of: &str, feature: &str, at: &str| {
        format!(
            "[dependencies]\n{of} = {{ path = \"{at}/{of}\" }}\nbody = {{ path = \"{at}/body\", features = [\"{feature}\"] }}\n[workspace]\nexclude = [\"example\", \"body\", \"one\", \"two\"]\n"
        )
    };
    let implementing = |of: &str| {
        format!(
            "pub struct Own;\n\nimpl body::Body for Own {{\n    type Data = {of}::Bytes;\n}}\n\npub struct Other;\n"
        )
    };
    let library = "pub trait Buf {}\n\npub struct Bytes;\n\nimpl Buf for Bytes {}\n";
    let files = [
        ("Cargo.toml", manifest("judged", &user("one", "first", "."))),
        ("src/lib.rs", implementing("one")),
        ("example/Cargo.toml", manifest("example", &user("two", "second", ".."))),
        ("example/src/lib.rs", implementing("two")),
        ("one/Cargo.toml", manifest("one", "[workspace]\n")),
        ("one/src/lib.rs", library.to_owned()),
        ("two/Cargo.toml", manifest("two", "[workspace]\n")),
        ("two/src/lib.rs", library.to_owned()),
        ("body/Cargo.toml", manifest("body", body)),
        (
            "body/src/lib.rs",
            "#[cfg(feature = \"first\")]\nuse one::Buf;\n#[cfg(feature = \"second\")]\nuse two::Buf;\n\n\
             #[cfg(any(feature = \"first\", feature = \"second\"))]\npub trait Body {\n    type Data: Buf;\n}\n"
                .to_owned(),
        ),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
    let (_directory, mut it) = fixture(&files);
    it.fill();
    for file in ["src/lib.rs", "example/src/lib.rs"] {
        let of = if file.starts_with("example") { "two" } else { "one" };
        let mut broken = |data: &str| {
            let another = format!("pub struct Other;\n\nimpl body::Body for Other {{\n    type Data = {data};\n}}\n");
            let (after, edits) = it.change(file, "pub struct Other;\n", &another);
            let before = it.files.clone();
            it.rust.impact_of(&before, &after, &edits, None).impact.broken.len()
        };
        assert_eq!(broken(&format!("{of}::Bytes")), 0, "{file}");
        assert_eq!(broken("Own"), 1, "{file}");
    }
}
