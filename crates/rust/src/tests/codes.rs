//! Each code that an error can have: one line that is made wrong. Each code of the rules has such a case somewhere, so
//! that no code can be confused with another.

use std::collections::BTreeSet;

use super::truth;
use super::truth::{Edit, Suite, hold};
use crate::finding::code::Code;
use crate::impact::rules;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod codes;\n"),
    ("src/codes.rs", include_str!("fixtures/codes.rs")),
    (
        "src/main.rs",
        "use judged::codes::{Open, open};\n\nfn main() {\n    let Open { a, .. } = open();\n    println!(\"{a}\");\n}\n",
    ),
];

const LIB: &str = "src/codes.rs";
const MAIN: &str = "src/main.rs";

/// Name, file, the text that is replaced, and its replacement.
const EDITS: &[(&str, &str, &str, &str)] = &[
    ("E0004", LIB, "        Kind::Small => 1,\n", ""),
    ("E0005", LIB, "it else { return 0 };", "it;"),
    ("E0015", LIB, "pub const fn steady()", "pub fn steady()"),
    ("E0023", LIB, "let Pair(left, _) = it;", "let Pair(left) = it;"),
    ("E0026", LIB, "let Point { x, y: _ } = it;", "let Point { x, y: _, z: _ } = it;"),
    ("E0027", LIB, "let Point { x, y: _ } = it;", "let Point { x } = it;"),
    ("E0046", LIB, "    type Unit = u8;\n", ""),
    ("E0049", LIB, "    fn made() -> u8 {", "    fn made<T>() -> u8 {"),
    ("E0050", LIB, "    fn area(&self, by: u8) -> u8 {", "    fn area(&self, by: u8, _: u8) -> u8 {"),
    ("E0053", LIB, "    fn area(&self, by: u8) -> u8 {", "    fn area(&self, by: u8) -> u16 {"),
    ("E0057", LIB, "    add(1, 2)", "    add(1)"),
    ("E0061", LIB, "    sum(1, 2)", "    sum(1)"),
    ("E0062", LIB, "Point { x: 1, y: 2 }", "Point { x: 1, x: 1, y: 2 }"),
    ("E0063", LIB, "Point { x: 1, y: 2 }", "Point { x: 1 }"),
    ("E0067", LIB, "    it += 1;", "    1 += it;"),
    ("E0080", LIB, "250 + 5", "250 + 6"),
    ("E0107", LIB, "let all: Vec<u8> =", "let all: Vec<u8, u8, u8> ="),
    ("E0109", LIB, "let it: u8 = 1;", "let it: u8<u8> = 1;"),
    ("E0124", LIB, "    pub y: u8,\n", "    pub y: u8,\n    pub y: u8,\n"),
    ("E0133", LIB, "unsafe { danger() }", "danger()"),
    ("E0185", LIB, "    fn made() -> u8 {", "    fn made(&self) -> u8 {"),
    ("E0186", LIB, "    fn area(&self, by: u8) -> u8 {", "    fn area(by: u8) -> u8 {"),
    ("E0199", LIB, "impl Shape for Square {", "unsafe impl Shape for Square {"),
    ("E0200", LIB, "pub trait Shape {", "pub unsafe trait Shape {"),
    ("E0268", LIB, "    while it {\n", "    if it {\n"),
    ("E0277", LIB, "pub fn mixed(a: u8, b: u8)", "pub fn mixed(a: u8, b: u16)"),
    ("E0282", LIB, "let all: Vec<u8> = Vec", "let all = Vec"),
    ("E0308", LIB, "    \"told\"", "    1"),
    ("E0326", LIB, "const SIDES: u8 = 4;", "const SIDES: u16 = 4;"),
    ("E0368", LIB, "pub fn more(mut it: u8) -> u8 {", "pub fn more(mut it: Point) -> Point {"),
    ("E0369", LIB, "    it.x + it.y", "    (*it + *it).x"),
    (
        "E0119",
        LIB,
        "pub struct Pair(pub u8, pub u8);\n",
        "#[derive(Clone)]\npub struct Pair(pub u8, pub u8);\nimpl Clone for Pair {\n    fn clone(&self) -> Pair {\n        \
         Pair(self.0, self.1)\n    }\n}\n",
    ),
    ("E0072", LIB, "    pub next: Option<Box<Chain>>,", "    pub next: Option<Chain>,"),
    ("E0072 by a generic type", LIB, "pub struct Held<T>(pub Box<T>);", "pub struct Held<T>(pub Option<T>);"),
    ("E0080 of a size", LIB, "    pub size: u8,\n", "    pub size: u16,\n"),
    ("E0080 of an index", LIB, "pub const TABLE: [u8; 3] = [1, 2, 3];", "pub const TABLE: [u8; 2] = [1, 2];"),
    ("E0191", LIB, "&mut dyn Iterator<Item = u8>", "&mut dyn Iterator"),
    ("E0191 elsewhere", LIB, "pub trait Named {\n", "pub trait Named {\n    type Name;\n"),
    ("E0392", LIB, "pub struct Square;\n", "pub struct Square;\npub struct Fresh<'a, T> {\n    pub x: u8,\n}\n"),
    ("E0401", LIB, "    fn inner(it: u8) -> u8 {", "    fn inner(it: T) -> u8 {"),
    ("E0401 of `Self`", LIB, "        fn one(it: &Chain) -> u8 {", "        fn one(it: &Self) -> u8 {"),
    ("E0283", LIB, "    let all: Vec<u8> = it.iter()", "    let all = it.iter()"),
    ("E0790", LIB, "    let _it: u8 = Default", "    let _it = Default"),
    ("E0408", LIB, "        Part::Whole(of)\n", "        Part::Whole(of @ _other)\n"),
    ("E0599 beside an `impl` in a body", LIB, "    Part.made().graded()", "    Part.make().graded()"),
    ("E0408 of variants in a macro", LIB, "    use Grade::{High, Low};\n", ""),
    ("E0424", LIB, "    pub fn ended(&self) -> bool {", "    pub fn ended() -> bool {"),
    ("E0434", LIB, "        it + STEP", "        step + STEP"),
    ("E0434 of `self`", LIB, "            it.next.is_some() as u8", "            self.next.is_some() as u8"),
    ("E0435", LIB, "        const STEP: u8 = 1;", "        const STEP: u8 = it;"),
    ("E0252", LIB, "pub struct Point {", "use std::fmt::Write;\nuse std::io::Write;\npub struct Point {"),
    ("E0255", LIB, "pub struct Square;\n", "use std::fmt::Write as Square;\npub struct Square;\n"),
    ("E0277 of `?`", LIB, "    it.0.count_ones()", "    it.0.checked_add(1)?.count_ones()"),
    ("E0403", LIB, "pub fn referred(it: &u8) -> u8 {", "pub fn referred<T, T>(it: &u8) -> u8 {"),
    ("E0407", LIB, "    type Unit = u8;\n", "    type Unit = u8;\n    fn other() {}\n"),
    ("E0411", LIB, "pub fn referred(it: &u8) -> u8 {", "pub fn referred(it: &Self) -> u8 {"),
    ("E0416", LIB, "let Pair(left, _) = it;", "let Pair(left, left) = it;"),
    ("E0422", LIB, "    Point { x: 1, y: 2 }", "    Pointed { x: 1, y: 2 }"),
    ("E0423", LIB, "    Point { x: 1, y: 2 }", "    Point(1, 2)"),
    ("E0425", LIB, "    sum(1, 2)", "    summing(1, 2)"),
    ("E0426", LIB, "break 'outer;", "break 'inner;"),
    ("E0428", LIB, "pub struct Square;\n", "pub struct Square;\npub struct Square;\n"),
    ("E0433", LIB, "    Kind::Odd { by: 1 }", "    Kinds::Odd { by: 1 }"),
    ("E0437", LIB, "    type Unit = u8;\n", "    type Unit = u8;\n    type Other = u8;\n"),
    ("E0438", LIB, "    type Unit = u8;\n", "    type Unit = u8;\n    const OTHER: u8 = 1;\n"),
    ("E0451", LIB, "hidden::Secret::new()", "hidden::Secret { seen: 1, unseen: 2 }"),
    ("E0527", LIB, "    let [left, _] = it;", "    let [left, _, _] = it;"),
    ("E0529", LIB, "    match it {\n        [left", "    match it.len() {\n        [left"),
    ("E0531", LIB, "    let Pair(left, _) = it;", "    let Pairs(left, _) = it;"),
    ("E0533", LIB, "    Kind::Odd { by: 1 }", "    Kind::Odd(1)"),
    ("E0559", LIB, "Kind::Odd { by: 1 }", "Kind::Odd { by: 1, of: 1 }"),
    ("E0560", LIB, "Point { x: 1, y: 2 }", "Point { x: 1, y: 2, z: 3 }"),
    (
        "E0592",
        LIB,
        "        fn kept(&self)",
        "        pub fn shown(&self) -> u8 {\n            1\n        }\n        fn kept(&self)",
    ),
    ("E0593", LIB, "    taken_by(|it| it)", "    taken_by(|it, _| it)"),
    ("E0599", LIB, "    it.0.count_ones()", "    it.0.counted()"),
    ("E0600", LIB, "pub fn negated(it: i8) -> i8 {\n    -it", "pub fn negated(it: &str) -> &str {\n    -it"),
    ("E0603", LIB, "    hidden::deep::reached()", "    hidden::deep::unreached()"),
    ("E0606", LIB, "    *it as u32", "    it as u32"),
    ("E0608", LIB, "    it[0]", "    it.len()[0]"),
    ("E0609", LIB, "pub fn read(it: &Point) -> u8 {\n    it.x", "pub fn read(it: &Point) -> u8 {\n    it.z"),
    ("E0614", LIB, "pub fn referred(it: &u8) -> u8 {\n    *it", "pub fn referred(it: &u8) -> u8 {\n    **it"),
    ("E0615", LIB, "    it.len()\n", "    it.len\n"),
    ("E0616", LIB, "    it.seen\n}", "    it.unseen\n}"),
    ("E0618", LIB, "pub fn given(it: fn() -> u8) -> u8 {", "pub fn given(it: u8) -> u8 {"),
    ("E0620", LIB, "    it as &[u8]", "    &(*it as [u8])"),
    ("E0624", LIB, "    it.shown()", "    it.kept()"),
    ("E0638", MAIN, "let Open { a, .. }", "let Open { a }"),
    ("E0639", MAIN, "= open();", "= { let _ = open; Open { a: 1 } };"),
    ("E0728", LIB, "pub async fn waited() -> u8 {", "pub fn waited() -> u8 {"),
    (
        "nothing: an item and its use as comments",
        LIB,
        "pub fn stepped() -> u8 {\n    1\n}\n\npub fn walked() -> u8 {\n    stepped()\n}\n",
        "// pub fn stepped() -> u8 {\n//     1\n// }\n\n// pub fn walked() -> u8 {\n//     stepped()\n// }\n",
    ),
    ("E0131", MAIN, "fn main() {", "fn main<T>() {"),
    ("E0277 of the result of `main`", MAIN, "fn main() {", "fn main() -> u8 {\n    1\n}\n\npub fn other() {"),
    ("E0554", "src/lib.rs", "pub mod codes;\n", "#![feature(never_type)]\npub mod codes;\n"),
    ("E0580", MAIN, "fn main() {", "fn main(_: u8) {"),
    ("E0752", MAIN, "fn main() {", "async fn main() {"),
    (
        "no code: a constant of another type in a pattern",
        LIB,
        "#[derive(PartialEq)]\npub struct Level",
        "pub struct Level",
    ),
    ("no code: a format string", LIB, "format!(\"{}\", it.x)", "format!(\"{} {}\", it.x)"),
    ("no code: an argument too many", LIB, "format!(\"{}\", it.x)", "format!(\"{}\", it.x, it.y)"),
    ("no code: a macro", LIB, "format!(\"{}\", it.x)", "formatted!(\"{}\", it.x)"),
];

/// Name, and the item that is added after `Square`.
const ITEMS: &[(&str, &str)] = &[
    ("E0038 in a head", "pub fn cloned(_: &dyn Clone) {}\n"),
    ("E0081", "pub enum Again {\n    A = 1,\n    B = 1,\n}\n"),
    ("E0091", "pub type Only<T> = u8;\n"),
    ("E0118", "impl<T> T {\n    fn own(&self) {}\n}\n"),
    ("E0120", "pub trait Ended {}\nimpl Drop for dyn Ended {\n    fn drop(&mut self) {}\n}\n"),
    ("E0121", "pub fn guessed() -> _ {\n    1\n}\n"),
    ("E0121 of a constant", "pub const GUESSED: Vec<_> = Vec::<u8>::new();\n"),
    ("E0184", "#[derive(Clone, Copy)]\npub struct Ending;\nimpl Drop for Ending {\n    fn drop(&mut self) {}\n}\n"),
    (
        "E0195",
        "pub trait Early {\n    fn early<'a>(&self) -> &'a str;\n}\nimpl Early for Square {\n    fn early(&self) -> &str {\n        \
         \"\"\n    }\n}\n",
    ),
    ("E0197", "unsafe impl Square {}\n"),
    (
        "E0276",
        "pub trait Looser {\n    fn loose<T>(it: T);\n}\nimpl Looser for Square {\n    fn loose<T: Copy>(_: T) {}\n}\n",
    ),
    (
        "E0276 of a clause",
        "pub trait Looser {\n    fn loose<T: Clone>(it: T);\n}\nimpl Looser for Square {\n    fn loose<U>(_: U)\n    where\n        \
         U: Clone + Default,\n    {\n    }\n}\n",
    ),
    (
        "E0276 of an argument",
        "pub trait Looser {\n    fn loose(it: impl Clone);\n}\nimpl Looser for Square {\n    fn loose(_: impl Clone + Copy) {}\n}\n",
    ),
    (
        "E0643",
        "pub trait Unnamed {\n    fn unnamed(it: impl Copy);\n}\nimpl Unnamed for Square {\n    fn unnamed<T: Copy>(_: T) {}\n}\n",
    ),
    ("E0214", "pub fn vector(_: Vec(u8)) {}\n"),
    ("E0225", "pub fn told_of(_: &(dyn std::fmt::Debug + std::fmt::Display)) {}\n"),
    ("E0262", "pub fn always<'static>(_: &'static u8) {}\n"),
    ("E0379", "impl Default for Square {\n    const fn default() -> Square {\n        Square\n    }\n}\n"),
    ("E0390", "impl u8 {\n    pub fn own(self) {}\n}\n"),
    ("E0404 of a new bound", "pub fn bounded<T: Square>(_: T) {}\n"),
    ("E0429", "use std::fmt::self;\n"),
    ("no code: an import of `self`", "use {self};\n"),
    ("E0449", "pub impl Drop for Square {\n    fn drop(&mut self) {}\n}\n"),
    ("E0449 in a trait", "pub trait Seen {\n    pub fn seen();\n}\n"),
    ("E0463", "extern crate unheard_of;\n"),
    ("E0517", "#[repr(C)]\npub fn laid_out() {}\n"),
    ("E0562", "pub struct Hidden {\n    pub it: impl Copy,\n}\n"),
    ("E0573", "pub fn odd() -> Kind::Odd {\n    unreachable!()\n}\n"),
    ("E0573 of a module", "pub fn module(_: hidden) {}\n"),
    (
        "E0574",
        "pub fn taken(it: Kind) -> bool {\n    matches!(it, Kind::Odd { .. })\n}\npub fn given_kind() {\n    let _ = Kind { by: 1 };\n}\n",
    ),
    ("E0577", "pub(in crate::codes::Kind) struct InKind;\n"),
    ("E0637", "pub fn anonymous<'_>(_: &u8) {}\n"),
    ("E0642", "pub trait Split {\n    fn split((a, b): (u8, u8));\n}\n"),
    ("E0742", "pub(in crate::codes::hidden) struct InHidden;\n"),
    ("E0666", "pub fn nested(_: impl Into<impl Copy>) {}\n"),
    ("E0703", "pub extern \"invalid\" fn called_abroad() {}\n"),
    ("E0747", "pub struct Ordered<'a, T>(pub &'a T);\npub fn ordered(_: Ordered<u8, 'static>) {}\n"),
    ("E0774", "#[derive(Clone)]\npub fn derived() {}\n"),
    ("E0777", "#[derive(\"Clone\")]\npub struct Texted;\n"),
    ("E0782", "pub fn bare(_: &std::fmt::Debug) {}\n"),
    ("E0364 of a new import", "mod within {\n    pub(crate) fn inner() {}\n}\npub use within::inner;\n"),
    ("E0365 of a new import", "mod within {\n    pub(crate) mod inner {}\n}\npub use within::inner;\n"),
    ("E0365 of `self`", "mod within {\n    pub struct Inner;\n}\npub use within::{self as without, Inner};\n"),
    (
        "E0530",
        "pub static ZERO: u8 = 0;\npub fn zero(it: Option<u8>) -> u8 {\n    match it {\n        Some(ZERO) => 1,\n        _ => 2,\n    }\n}\n",
    ),
    (
        "E0004 of a number",
        "pub fn number(it: u8) -> u8 {\n    match it {\n        0..=100 => 1,\n        102.. => 2,\n    }\n}\n",
    ),
    ("E0004 of a text", "pub fn text(it: &str) -> u8 {\n    match it {\n        \"a\" => 1,\n    }\n}\n"),
    (
        "E0004 of a slice",
        "pub fn slice(it: &[u8]) -> u8 {\n    match it {\n        [] => 1,\n        [_, _, ..] => 2,\n    }\n}\n",
    ),
    (
        "E0004 of a number within",
        "pub fn within(it: (Option<u8>, bool)) -> u8 {\n    match it {\n        (Some(1) | None, _) => 1,\n        (Some(_), true) => \
         2,\n    }\n}\n",
    ),
    ("E0005 of a loop", "pub fn each_some(all: Vec<Option<u8>>) {\n    for Some(_) in all {}\n}\n"),
    ("E0005 of a parameter", "pub fn taken_apart(Some(_): Option<u8>) {}\n"),
    ("E0005 of a closure", "pub fn closed(it: Option<u8>) {\n    let f = |Some(_): Option<u8>| ();\n    f(it);\n}\n"),
    (
        "E0106 of a hidden lifetime",
        "pub struct Lent<'a>(pub &'a u8);\npub fn lent(_: &u8, _: &u8) -> Lent {\n    unreachable!()\n}\n",
    ),
    ("E0277 of a derive", "#[derive(PartialOrd)]\npub struct Compared;\n"),
    ("E0277 of a static", "pub static SHARED: std::cell::Cell<u8> = std::cell::Cell::new(1);\n"),
    ("E0277 of a supertrait", "pub struct Same;\nimpl Eq for Same {}\n"),
    ("E0277 of a field", "pub struct Wide {\n    pub it: [u8],\n    pub by: u8,\n}\n"),
    ("E0428 of a variant", "pub enum Twice {\n    A,\n    A,\n}\n"),
    ("no code: a derive without a comma", "#[derive(Clone Copy)]\npub struct Spaced;\n"),
    ("no code: a derive with arguments", "#[derive(Clone(x))]\npub struct Argued;\n"),
    (
        "no code: two defaults",
        "#[derive(Default)]\npub enum Two {\n    #[default]\n    A,\n    #[default]\n    B,\n}\n",
    ),
    ("no code: a default with fields", "#[derive(Default)]\npub enum Filled {\n    #[default]\n    A(u8),\n}\n"),
    ("no code: a default that nothing reads", "pub enum Unread {\n    #[default]\n    A,\n}\n"),
    ("no code: an `async` test", "#[test]\nasync fn tested() {}\n"),
    ("no code: a test with a parameter", "#[test]\nfn tested(_: u8) {}\n"),
    ("no code: a test of a type", "impl Square {\n    #[test]\n    fn tested() {}\n}\n"),
    ("no code: an attribute", "#[nothing]\npub fn attributed() {}\n"),
    ("no code: an attribute of functions", "#[inline]\npub struct Inlined;\n"),
];

#[test]
fn each_error_has_its_code() {
    let square = "pub struct Square;\n";
    let items: Vec<String> = ITEMS.iter().map(|it| format!("{square}{}", it.1)).collect();
    let added = ITEMS.iter().zip(&items).map(|(it, to)| Edit { name: it.0, file: LIB, from: square, to });
    let edits = EDITS.iter().map(|&(name, file, from, to)| Edit { name, file, from, to });
    let edits: Vec<Edit<'_>> = edits.chain(added).collect();
    hold(&Suite { name: "codes", files: FILES, is_built: false }, &edits);
}

/// What is not found in the input of a macro, or with another code beside it.
const NOT_IN_MACROS: &[&str] = &["E0119", "E0252", "E0255", "E0401", "E0599 beside an `impl` in a body", "E0603"];

#[test]
fn each_error_has_its_code_in_the_input_of_a_macro() {
    let wrapped = truth::within_macro(include_str!("fixtures/codes.rs"));
    let files: Vec<(&str, &str)> = FILES.iter().map(|it| if it.0 == LIB { (LIB, &*wrapped) } else { *it }).collect();
    let square = "pub struct Square;\n";
    let items: Vec<String> = ITEMS.iter().map(|it| format!("{square}{}", it.1)).collect();
    let added = ITEMS.iter().zip(&items).map(|(it, to)| Edit { name: it.0, file: LIB, from: square, to });
    let edits = EDITS.iter().map(|&(name, file, from, to)| Edit { name, file, from, to });
    let edits: Vec<Edit<'_>> =
        edits.chain(added).filter(|it| it.file == LIB && !NOT_IN_MACROS.contains(&it.name)).collect();
    hold(&Suite { name: "codes_in_macro", files: &files, is_built: false }, &edits);
}

/// The codes of the rules, without errors that have no code.
fn listed() -> BTreeSet<&'static str> {
    let codes = rules::described().flat_map(|it| it.1).map(|it| it.name());
    codes.filter(|it| it.starts_with('E')).collect()
}

#[test]
fn each_code_of_the_rules_has_a_case() {
    let known = truth::codes_alone_in_a_line();
    let missing: Vec<&str> = listed().into_iter().filter(|it| !known.contains(*it)).collect();
    assert!(missing.is_empty(), "no edit of a fixture has a line with this error alone: {missing:?}");
    let all: BTreeSet<&str> = Code::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(all, listed(), "each code belongs to a rule");
}

#[test]
fn two_codes_cannot_be_taken_for_each_other() {
    let codes: Vec<&str> = listed().into_iter().collect();
    let mut alike = Vec::new();
    for (at, one) in codes.iter().enumerate() {
        for other in &codes[at + 1..] {
            if !truth::tells_apart(one, other) {
                alike.push((one, other));
            }
        }
    }
    assert!(alike.is_empty(), "{alike:?}");
}

/// The table in `docs/impact.md`.
#[test]
fn the_documented_rules_are_those_of_the_table() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/impact.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let (begin, end) = ("<!-- the table of rules -->\n", "<!-- the end of the table -->");
    let (head, rest) = text.split_once(begin).unwrap();
    let (table, tail) = rest.split_once(end).unwrap();
    let rows = rules::described().filter_map(|(about, codes)| {
        let codes: BTreeSet<&str> = codes.iter().map(|it| it.name()).filter(|it| it.starts_with('E')).collect();
        let codes: Vec<&str> = codes.into_iter().collect();
        (!codes.is_empty()).then(|| format!("| {} | {} |\n", about, codes.join(", ")))
    });
    let generated = format!("| what | errors |\n|---|---|\n{}", rows.collect::<String>());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, format!("{head}{begin}{generated}{end}{tail}")).unwrap();
        return;
    }
    assert_eq!(table, generated, "run `cargo xtask docs`");
}
