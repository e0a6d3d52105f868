//! Each rule with its case, compared with the compiler: the places that an edit breaks are those that the compiler
//! reports.

use super::truth::{Edit, Suite, hold};
use super::*;
use semdex_model::ChangeImpact;

const SHAPES: &str = include_str!("fixtures/shapes.rs");
const USER: &str = include_str!("fixtures/user.rs");
const READER: &str = include_str!("fixtures/reader.rs");
const TEST: &str = include_str!("fixtures/it.rs");

pub(super) const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"),
    (
        "src/lib.rs",
        "pub mod reader;\npub mod shapes;\npub mod user;\n\npub use shapes::inner::deep;\nuse crate::{\n    shapes::{flagged, sized, within},\n};\n\npub mod handed {\n    pub use crate::shapes::Wrapped;\n}\n\npub use handed::*;\n\npub fn wrapped() -> Option<Wrapped> {\n    None\n}\n\npub mod last {\n    use crate::flagged;\n    pub mod told {\n        use super::*;\n        pub fn is_flagged() -> bool {\n            flagged()\n        }\n    }\n}\n\npub fn both() -> usize {\n    if flagged() { sized(1) } else { within().into() }\n}\n",
    ),
    ("src/shapes.rs", SHAPES),
    ("src/user.rs", USER),
    ("src/reader.rs", READER),
    ("tests/it.rs", TEST),
];

/// The edits of `src/shapes.rs`: name, the text that is replaced, and its replacement.
pub(super) const BREAKING: &[(&str, &str, &str)] = &[
    ("a function renamed", "pub fn helper() -> u8", "pub fn helped() -> u8"),
    ("a function removed", "pub fn helper() -> u8 {\n    1\n}\n", ""),
    ("a parameter added", "by: u32, times: usize", "by: u32, times: usize, more: u8"),
    ("a parameter dropped", "by: u32, times: usize) -> usize {\n", "by: u32) -> usize {\n        let times = 1;\n"),
    ("a parameter added in front", "(&mut self, by: u32", "(&mut self, more: &str, by: u32"),
    (
        "a generic function with one more",
        "pub fn total<T: Area>(items: &[T])",
        "pub fn total<T: Area>(items: &[T], _: T::Unit)",
    ),
    ("a trait's method with a body and one more", "fn label(&self) -> String {", "fn label(&self, _: u8) -> String {"),
    ("parameters swapped", "by: u32, times: usize", "times: usize, by: u32"),
    ("a parameter of another type", "pub fn kind_of(square: &Square)", "pub fn kind_of(square: Option<&Square>)"),
    ("another result", "pub fn hidden(&self) -> u8 {\n        self.hidden", "pub fn hidden(&self) -> u16 {\n        7"),
    ("a private function", "pub fn helper() -> u8", "fn helper() -> u8"),
    ("a private method", "pub fn grow(&mut self", "fn grow(&mut self"),
    ("a private field", "pub side: Side,", "side: Side,"),
    ("a private type", "pub struct Side(pub u32);", "struct Side(pub u32);"),
    ("a field renamed", "pub side: Side,", "pub edge: Side,"),
    ("a field of another type", "pub side: Side,", "pub side: Option<Side>,"),
    ("a field added", "    hidden: u8,\n}", "    hidden: u8,\n    more: u8,\n}"),
    ("a variant renamed", "    Small,\n", "    Tiny,\n"),
    ("a variant added", "    Small,\n", "    Small,\n    Middle,\n"),
    ("a variant with another field", "Large(u32)", "Large(u32, u8)"),
    ("a field of a variant renamed", "Odd { by: u8 }", "Odd { off: u8 }"),
    ("a required method added", "    type Unit;\n", "    type Unit;\n    fn more(&self);\n"),
    ("a required type added", "    type Unit;\n", "    type Unit;\n    type More;\n"),
    (
        "a trait's method with another parameter",
        "fn area(&self, scale: u32) -> u32;",
        "fn area(&self, scale: u64) -> u32;",
    ),
    (
        "a trait's method with one more",
        "fn area(&self, scale: u32) -> u32;",
        "fn area(&self, scale: u32, more: u8) -> u32;",
    ),
    ("a trait's method without a receiver", "fn label(&self) -> String {", "fn label() -> String {"),
    ("a trait's method renamed", "fn label(&self) -> String {", "fn title(&self) -> String {"),
    (
        "a derive dropped that is used",
        "#[derive(Clone, Debug, PartialEq, Default)]",
        "#[derive(Debug, PartialEq, Default)]",
    ),
    (
        "a derive dropped that fields need",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]",
        "#[derive(Clone, Copy, PartialEq, Eq, Default)]",
    ),
    (
        "a derive dropped that another needs",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]",
        "#[derive(Copy, Debug, PartialEq, Eq, Default)]",
    ),
    ("no more comparable", "#[derive(Clone, Debug, PartialEq, Default)]", "#[derive(Clone, Debug, Default)]"),
    (
        "an implementation removed",
        "impl fmt::Display for Square {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        write!(f, \"{}\", self.side.0)\n    }\n}\n",
        "",
    ),
    ("a type renamed", "pub struct Side(pub u32);", "pub struct Edge(pub u32);"),
    ("a type gone whose method made others", "pub struct Steps(u32);", "pub struct Stairs(u32);"),
    ("a trait renamed", "pub trait Area {", "pub trait Surface {"),
    ("a constant of another value", "pub const LIMIT: usize = 3;", "pub const LIMIT: usize = 4;"),
    ("a constant renamed", "pub const LIMIT: usize = 3;", "pub const LIMITS: usize = 3;"),
    ("a constant that is a function", "pub const UNIT: u32 = 1;", "pub fn UNIT() -> u32 { 1 }"),
    ("a function made async", "pub fn hidden(&self) -> u8", "pub async fn hidden(&self) -> u8"),
    ("another bound", "pub fn total<T: Area>", "pub fn total<T: Area + Copy>"),
    ("a module renamed", "pub mod inner {", "pub mod outer {"),
    ("a module without a file", "pub mod inner {", "pub mod nowhere;\n\npub mod inner {"),
    ("declared twice", "pub fn helper() -> u8 {", "pub fn doubled() -> u8 {\n    2\n}\n\npub fn helper() -> u8 {"),
    ("a name that means nothing", "pub fn helper() -> u8 {", "pub fn helper(_: Missing) -> u8 {"),
    ("a body that does not fit", "        times\n    }", "        by\n    }"),
    ("a body that names nothing", "    items.iter().map", "    things.iter().map"),
    ("an import removed", "use std::fmt;\n", "\n"),
    ("a length of another type", "pub const LIMIT: usize = 3;", "pub const LIMIT: u8 = 3;"),
    ("a length that is a function", "pub const LIMIT: usize = 3;", "pub const fn LIMIT() -> usize { 3 }"),
    ("a constant that overflows", "pub const MASK: u16 = 1000;", "pub const MASK: u16 = 2000;"),
    (
        "no more an operand of `!`",
        "pub fn flagged() -> bool {\n    true",
        "pub fn flagged() -> Option<bool> {\n    None",
    ),
    ("a function gone that the root hands on", "pub fn flagged()", "pub fn marked()"),
    ("a function gone that the root knew before macros", "pub fn deep()", "pub fn deeper()"),
    ("a field added to what a macro makes", "    pub right: String,\n", "    pub right: String,\n    pub more: u8,\n"),
    ("a variant that alone used a parameter", "    Other(T),\n", ""),
    ("a type gone that has the name of a variant", "pub enum Err {", "pub enum Failed {"),
    ("a type gone that a glob brings", "pub struct Wrapped(pub u8);", "pub struct Unwrapped(pub u8);"),
    ("a method of a trait that macros call", "    fn weigh(&self) -> u8;", "    fn weigh(&self, by: u8) -> u8;"),
    (
        "a result that patterns read",
        "fn parse(&self, it: I) -> Option<(I, u8)>;",
        "fn parse(&self, it: I) -> Result<(I, u8), u8>;",
    ),
    ("a private field that a literal takes over", "    pub within: u8,\n", "    pub within: u8,\n    extra: u8,\n"),
    ("a variant gone that is one of several patterns", "    North,\n", ""),
    ("an import of a body removed", "    use std::path;\n", "\n"),
    ("the twin that is compiled removed", "#[cfg(unix)]\npub fn twin() -> u8 {\n    2\n}\n", ""),
    ("a function that macros call", "pub fn helper() -> u8 {", "pub fn helper(_: u8) -> u8 {"),
    ("a trait renamed that is used as an object", "pub trait Told {", "pub trait Said {"),
    ("no object any more", "    fn told(&self) -> u8;\n", "    fn told<T>(&self, it: T) -> u8;\n"),
    ("a parameter that no field uses", "    pub within: Option<Within<B>>,\n", ""),
    ("a variant that alone used a lifetime", "    Borrowed(&'a str),\n", ""),
    ("a type gone that used a parameter", "pub struct Within<B: Bound>(pub B);", ""),
    (
        "a lifetime that nothing tells",
        "pub fn helper() -> u8 {",
        "pub fn untold() -> &u8 {\n    &1\n}\n\npub fn helper() -> u8 {",
    ),
    (
        "a lifetime that two may tell",
        "pub fn helper() -> u8 {\n    1",
        "pub fn chosen<'a>(it: &'a u8, _: Option<&'a str>) -> &u8 {\n    it\n}\n\npub fn helper() -> u8 {\n    1",
    ),
    (
        "a lifetime that no receiver tells",
        "pub fn more(&mut self) -> u8 {",
        "pub fn less(self, it: &u8, _: &u8) -> &u8 {\n        it\n    }\n\n    pub fn more(&mut self) -> u8 {",
    ),
    ("a field without its lifetime", "    pub by: u8,\n", "    pub by: u8,\n    pub name: &str,\n"),
    ("hidden within the crate", "pub(crate) fn within() -> u8 {", "fn within() -> u8 {"),
    ("hidden from the root", "pub fn sized(side: u32) -> usize {", "fn sized(side: u32) -> usize {"),
    ("an import of another thing by the same name", "use std::fmt;\n", "use std::cmp as fmt;\n"),
    ("a block of another type", "impl Steps {", "impl Side {"),
    ("a body without its value", "    drop(side);\n    1\n", "    drop(side);\n"),
    ("no default any more", "    #[default]\n    Plain,\n", ""),
    ("a part of a length of another type", "pub const WIDTH: usize", "pub const WIDTH: u8"),
    ("a part of a length that is a function", "pub const WIDTH: usize = 2;", "pub fn WIDTH() -> usize { 2 }"),
    ("a shift of all bits", "pub const SHIFTED: u32 =", "pub const SHIFTED: u16 ="),
    ("an enum renamed that is handed on", "pub enum Kind {", "pub enum Sort {"),
    ("a method of a macro's implementations", "    fn size(&self) -> u8;", "    fn size(&self) -> u16;"),
    (
        "one more that a macro does not implement",
        "    fn size(&self) -> u8;",
        "    fn size(&self) -> u8;\n    fn more(&self);",
    ),
    ("no receiver any more", "pub fn pair(&self) -> (String, u8) {", "pub fn pair() -> (String, u8) {"),
    (
        "an operand that is none any more",
        "pub fn hidden(&self) -> u8 {\n        self.hidden",
        "pub fn hidden(&self) -> Option<u8> {\n        Some(self.hidden)",
    ),
    ("a hidden enum", "pub enum Kind {", "enum Kind {"),
    ("an alias renamed that has the name of another", "pub type Result<T, E = Side>", "pub type Outcome<T, E = Side>"),
    (
        "a conversion removed that an alias needs",
        "impl From<u8> for Side {\n    fn from(it: u8) -> Side {\n        Side(it.into())\n    }\n}\n",
        "",
    ),
    ("a derive dropped that reads attributes", "#[derive(Default)]\npub enum Mode", "pub enum Mode"),
    ("a field renamed by whose name there is a method", "    pub items: Vec<String>,", "    pub things: Vec<String>,"),
    ("an implementation removed that a type of a trait needs", "impl Failure for Broke {}\n", ""),
    ("a derive dropped that a type of a trait needs", "#[derive(Debug)]\npub struct Broke;", "pub struct Broke;"),
    ("a trait renamed that is asked of a type", "pub trait Failure:", "pub trait Failing:"),
    ("imports removed that macros read", "use self::pieces::{Piece, Whole};\n", "\n"),
    ("an import of a trait removed whose type is named", "use std::str::FromStr;\n", "\n"),
    ("a variant renamed in which a text was", "    Tuple(String, Host),\n", "    Pair(String, Host),\n"),
    ("a type gone in which a text was", "pub enum Origin {", "pub enum Source {"),
    ("a type gone that was imported and had a text", "pub struct Settings {", "pub struct Setup {"),
    ("a function gone that made a part of a branch", "pub fn unescaped(", "pub fn escaped("),
    (
        "a derive dropped that an order needs",
        "#[derive(PartialEq, Eq, PartialOrd, Ord)]",
        "#[derive(PartialEq, PartialOrd, Ord)]",
    ),
    ("a trait gone whose types are named", "pub trait Yield {", "pub trait Yields {"),
    ("a type gone of which a parameter is", "pub struct Page<", "pub struct Sheet<"),
    ("a variant added to what macros match", "    Right(u16),\n", "    Right(u16),\n    Back,\n"),
    ("an enum renamed whose variants are handed on", "pub enum Bearing<T> {", "pub enum Heading<T> {"),
    ("an import of a bound removed", "    use std::ops::Add;\n", "\n"),
    (
        "a receiver dropped that another block has",
        "both(self) -> u8 {\n            *self.0 + *self.1\n        }\n    }\n}",
        "both() -> u8 {\n            1\n        }\n    }\n}",
    ),
    ("a variant gone that is handed on", "    East(T),\n", "    Eastern(T),\n"),
    ("a variant gone that is named where nothing is read too", "    Low,\n    High,\n", "    Lowest,\n    Highest,\n"),
    ("a variant gone of which others are made", "    Opened { depth: u8", "    Open { depth: u8"),
    (
        "an iterator of other items",
        "pub fn tens() -> std::vec::IntoIter<u8> {\n    vec![10, 20].into_iter()",
        "pub fn tens() -> std::vec::IntoIter<u16> {\n    vec![10u16, 20].into_iter()",
    ),
    (
        "an option of an iterator",
        "pub fn listing() -> Listing {\n    Listing::Closed(Vec::new().into_iter())",
        "pub fn listing() -> Option<Listing> {\n    Some(Listing::Closed(Vec::new().into_iter()))",
    ),
    ("a hidden type that elsewhere implements a trait", "    pub struct Engine(", "    struct Engine("),
    ("an import removed of a type that implements a trait", "    use super::motor::Engine;\n", "\n"),
    ("an import removed of a trait that is implemented", "    use super::motor::Runs;\n", "\n"),
    ("a field gone beside what is left out", "Driven { by: &'a W },\n", "Driven,\n"),
    ("a type renamed that is imported where that is left out", "    pub struct Engine(", "    pub struct Motor("),
    ("conditions that are futures", "pub fn is_steep(", "pub async fn is_steep("),
    ("a private field of a tuple struct", "    pub struct Coin(pub u8);", "    pub struct Coin(u8);"),
    (
        "no more copied into an array",
        "    #[derive(Clone, Copy)]\n    pub struct Coin",
        "    #[derive(Clone)]\n    pub struct Coin",
    ),
    (
        "an unknown derive",
        "    #[derive(Debug)]\n    pub struct Fault;",
        "    #[derive(Debug, Missing)]\n    pub struct Fault;",
    ),
    (
        "a new type with an unknown derive",
        "    #[derive(Debug)]\n    pub struct Fault;",
        "    #[derive(Clone, Missing)]\n    pub struct More;\n\n    #[derive(Debug)]\n    pub struct Fault;",
    ),
    (
        "an implementation removed that another trait needs",
        "    impl std::fmt::Display for Fault {\n        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n            Ok(())\n        }\n    }\n",
        "",
    ),
    ("a future whose fields are bound", "pub fn plate(", "pub async fn plate("),
    ("a pattern of a future", "pub fn found(", "pub async fn found("),
    (
        "a constant that only a macro of itself names",
        "pub const INPUTS: &[u8] =",
        "pub const INPUTS: fn() -> u8 = branch; pub const _IN: &[u8] =",
    ),
    ("a type gone that is converted", "pub struct Authority(", "pub struct Authorities("),
    ("a method gone that what is behind has", "    pub fn as_str(", "    pub fn as_text("),
    ("a method hidden that what is behind has", "    pub fn as_str(", "    fn as_str("),
    ("arms behind a wrong one", "pub fn branch() -> u8 {\n    1", "pub fn branch() -> Option<u8> {\n    None"),
    ("a field added to what a macro in a macro makes", "pub struct Placed {", "pub struct Placed {\n    pub more: u8,"),
    (
        "a method of what macros of macros implement",
        "    fn process(&mut self, it: I)",
        "    fn process(&mut self, it: I, _: u8)",
    ),
    ("one more that they do not", "pub trait Process<I> {", "pub trait Process<I> {\n    fn more(&self);"),
    ("a method gone that macros implement", "    fn size(&self) -> u8;\n", ""),
    ("a type gone whose values have numbers", "pub struct Bytes<", "pub struct Octets<"),
];

pub(super) const HARMLESS: &[(&str, &str, &str)] = &[
    ("a comment", "pub fn helper() -> u8 {", "// A remark.\npub fn helper() -> u8 {"),
    ("documentation", "pub struct Side(pub u32);", "/// A side.\npub struct Side(pub u32);"),
    ("another body", "        times\n    }", "        times + 1\n    }"),
    ("a function added", "pub fn helper() -> u8 {", "pub fn more() -> u8 {\n    2\n}\n\npub fn helper() -> u8 {"),
    ("a method with a body added to a trait", "    type Unit;\n", "    type Unit;\n    fn more(&self) {}\n"),
    (
        "an implementation added",
        "pub enum Kind {",
        "impl From<u32> for Square {\n    fn from(it: u32) -> Square {\n        Square::new(it)\n    }\n}\n\npub enum Kind {",
    ),
    ("a derive added", "pub enum Kind {", "#[derive(Debug)]\npub enum Kind {"),
    ("a constant added", "pub const LIMIT: usize = 3;", "pub const LIMIT: usize = 3;\npub const LEAST: usize = 1;"),
    ("an import added", "use std::fmt;\n", "use std::fmt;\n#[allow(unused_imports)]\nuse std::io;\n"),
    ("a parameter with another name", "fn area(&self, scale: u32) -> u32;", "fn area(&self, factor: u32) -> u32;"),
    ("the twin that is not compiled removed", "#[cfg(not(unix))]\npub fn twin() -> u8 {\n    1\n}\n", ""),
    (
        "lifetimes that are told",
        "pub fn helper() -> u8 {",
        "pub fn one<'a>(it: &'a str, _: u8) -> Option<&str> {\n    Some(it)\n}\n\npub fn two(it: std::str::Chars, _: fn(&u8) -> &u8) -> &str {\n    it.as_str()\n}\n\npub fn three(_: impl Fn(&str) -> &str) -> &'static str {\n    \"\"\n}\n\npub fn helper() -> u8 {",
    ),
    (
        "a block added",
        "pub enum Kind {",
        "impl Side {\n    pub fn half(&self) -> u32 {\n        self.0 / 2\n    }\n}\n\npub enum Kind {",
    ),
    (
        "a module of tests added",
        "pub enum Kind {",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n\npub enum Kind {",
    ),
    ("a comment in a body", "pub fn helper() -> u8 {\n", "pub fn helper() -> u8 {\n    // One.\n"),
    ("attributes", "pub fn helper() -> u8 {", "/// Helps.\n#[inline]\n#[must_use]\npub fn helper() -> u8 {"),
    ("white space", "pub fn helper() -> u8 {\n    1\n}", "pub fn helper()   -> u8 { 1 }"),
];

fn impact(it: &mut Loaded, from: &str, to: &str) -> ChangeImpact {
    impact_in(it, "src/shapes.rs", from, to)
}

fn impact_in(it: &mut Loaded, file: &str, from: &str, to: &str) -> ChangeImpact {
    let (after, edits) = it.change(file, from, to);
    let before = it.files.clone();
    it.rust.impact_of(&before, &after, &edits, None)
}

#[test]
fn what_breaks_is_what_the_compiler_reports() {
    hold_in("shapes", &FILES, "src/shapes.rs", BREAKING.iter().chain(HARMLESS));
}

/// Compares the edits of one file of a fixture with the compiler.
pub(super) fn hold_in<'c>(
    name: &str,
    files: &[(&str, &str)],
    file: &str,
    cases: impl Iterator<Item = &'c (&'c str, &'c str, &'c str)>,
) {
    let edits: Vec<Edit<'_>> = cases.map(|(name, from, to)| Edit { name, file, from, to }).collect();
    hold(&Suite { name, files, is_built: false }, &edits);
}

const MAKER: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"maker\"]\n\n[package]\nname = \"made\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nmaker = { path = \"maker\" }\n",
    ),
    (
        "maker/Cargo.toml",
        "[package]\nname = \"maker\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\nproc-macro = true\n",
    ),
    ("maker/src/lib.rs", include_str!("fixtures/maker.rs")),
    (
        "src/lib.rs",
        "#[derive(maker::Tags)]\n#[check(helper(1))]\n#[call(\"deep::other\")]\npub enum Shape {\n    Round,\n    Flat,\n}\n\npub fn helper(it: u8) -> u8 {\n    it\n}\n\npub fn flat() -> ShapeTag {\n    ShapeTag::Flat\n}\n\npub fn is_round(it: &ShapeTag) -> bool {\n    matches!(it, ShapeTag::Round)\n}\n\npub mod deep {\n    pub fn other() -> u8 {\n        1\n    }\n}\n\npub mod imported {\n    use maker::Tags;\n\n    #[derive(Clone, Tags)]\n    #[check(crate::helper(1))]\n    pub enum Other {\n        One,\n    }\n}\n",
    ),
    ("src/main.rs", "fn main() {\n    made::helper(1);\n}\n"),
];

const OF_MAKER: &[(&str, &str, &str, &str)] = &[
    ("a variant renamed", "src/lib.rs", "    Flat,", "    Even,"),
    ("a parameter more", "src/lib.rs", "helper(it: u8)", "helper(it: u8, _: u8)"),
    ("a variant gone", "src/lib.rs", "    Round,\n", ""),
    ("a function renamed that a text names", "src/lib.rs", "fn other()", "fn another()"),
    ("a parameter more of what a text names", "src/lib.rs", "fn other()", "fn other(_: u8)"),
    ("an import of a derive removed", "src/lib.rs", "    use maker::Tags;\n", "\n"),
    ("no main any more", "src/main.rs", "fn main()", "fn mean()"),
];

#[test]
fn what_macros_make_goes_with_its_type() {
    let edits: Vec<Edit<'_>> = OF_MAKER.iter().map(|&(name, file, from, to)| Edit { name, file, from, to }).collect();
    hold(&Suite { name: "maker", files: MAKER, is_built: true }, &edits);
}

/// To rust-analyzer a restored module is a new one.
#[test]
fn what_is_known_outlives_a_dry_run_that_takes_modules_away() {
    let (_directory, mut it) = fixture(&FILES);
    it.fill();
    let known = it.usages("judged::shapes::inner::deep");
    assert!(!known.is_empty());
    let broken = impact(&mut it, "pub fn deep()", "pub fn deeper()").impact.broken;
    assert!(!broken.is_empty());
    for (from, to) in [("pub mod inner {", "pub mod outer {"), ("pub mod inner {", "pub mod inner2 {")] {
        let _ = impact(&mut it, from, to);
        assert_eq!(it.usages("judged::shapes::inner::deep"), known, "after {to}");
        it.fill();
        assert_eq!(it.usages("judged::shapes::inner::deep"), known, "after {to}, filled");
    }
    assert_eq!(impact(&mut it, "pub fn deep()", "pub fn deeper()").impact.broken, broken);
    assert!(it.path("judged::shapes::inner::deeper").starts_with("unknown_symbol"));
}
