//! Errors of bodies: each edit adds items with one error to a crate that has none.

use std::sync::{Arc, PoisonError};

use super::REAL;
use super::truth::{Edit, Suite, hold};
use crate::LANGUAGE;
use crate::checks::errors;
use crate::finding::RuleId;
use crate::finding::code::Code;
use semdex_engine::files::File;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", include_str!("fixtures/body_codes.rs")),
];

/// Name, and what is added.
const ADDED: &[(&str, &str)] = &[
    // Constants.
    ("E0015: a function", "pub const fn c() -> u8 {\n    plain()\n}\n"),
    ("E0015: a method", "pub const fn c(it: &Day) -> u8 {\n    it\n        .number()\n}\n"),
    ("E0015: a method of a trait", "pub const fn c(it: &Day) -> u8 {\n    it.first()\n}\n"),
    ("E0015: a derived operator", "pub const fn c(a: Day, b: Day) -> bool {\n    a == b\n}\n"),
    ("E0015: a closure", "pub const fn c() -> u8 {\n    let one = || 1;\n    one()\n}\n"),
    ("E0015: a bound", "pub const fn c<T: Clone>(it: &T) -> T {\n    it.clone()\n}\n"),
    ("E0015: a loop", "pub const fn c() {\n    for _ in 0..3 {}\n}\n"),
    ("E0015: a macro", "pub const fn c() -> String {\n    format!(\"a\")\n}\n"),
    ("E0015: a static", "pub static C: u8 = plain();\n"),
    ("E0015: a length", "pub fn c() {\n    let _: [u8; plain() as usize];\n}\n"),
    ("E0015: a block", "pub fn c() -> u8 {\n    const { plain() }\n}\n"),
    ("E0658: an operator", "pub const fn c(a: &u8, b: &u8) -> bool {\n    a == b\n}\n"),
    ("E0658: a conversion", "pub const fn c(it: u8) -> char {\n    char::from(it)\n}\n"),
    ("E0658: a callback", "pub const fn c(it: Option<u8>) -> Option<u8> {\n    it.map(|it| it)\n}\n"),
    // Associated types.
    ("E0271", "pub fn c(it: &mut Vec<String>) {\n    it.extend(\n        vec![\"a\"],\n    );\n}\n"),
    (
        "E0271 of a path",
        "pub fn c(it: &mut Vec<String>) {\n    Extend::<String>::extend(\n        it,\n        vec![1],\n    );\n}\n",
    ),
    (
        "E0271 of an iterator",
        "pub fn c(it: Vec<u8>) {\n    let _ = it.into_iter().chain(\n        vec![String::new()],\n    );\n}\n",
    ),
    (
        "E0271 of a function",
        "fn apply<F: Fn() -> u8>(_: F) {}\nfn wide() -> u16 {\n    1\n}\npub fn c() {\n    apply(\n        wide,\n    );\n}\n",
    ),
    (
        "E0271 of an own type",
        "struct Days;\nimpl Iterator for Days {\n    type Item = Day;\n    fn next(&mut self) -> Option<Day> {\n        None\n    }\n}\nfn names<I>(_: I)\nwhere\n    I: IntoIterator<Item = String>,\n{\n}\npub fn c() {\n    names(Days);\n}\n",
    ),
    // Numbers.
    ("E0689", "pub fn c() -> f64 {\n    2.0.powi(2)\n}\n"),
    ("E0689 of a variable", "pub fn c() -> bool {\n    let it = 10;\n    it.pow(2) > 0\n}\n"),
    ("E0689 of a negative number", "pub fn c() {\n    let _ = (-1).abs();\n}\n"),
    // Unknown types.
    ("E0284", "pub fn c() {\n    let _it = \"5\".parse().unwrap();\n}\n"),
    ("E0284 of a statement", "pub fn c() {\n    \"5\"\n        .parse()\n        .unwrap();\n}\n"),
    (
        "E0284 in a match",
        "pub fn c() {\n    match \"5\".parse() {\n        Ok(_) => {}\n        Err(_) => {}\n    }\n}\n",
    ),
    ("E0282 of a receiver", "pub fn c() {\n    let it = \"5\".parse().unwrap();\n    it.number();\n}\n"),
    // Editions and features.
    ("no code: a let chain", "pub fn c(a: Option<u8>, b: bool) {\n    if b\n        && let Some(_) = a\n    {}\n}\n"),
    ("E0658: a type", "pub fn c(_: !) {}\n"),
    ("E0658: a type of a variable", "pub fn c() {\n    let _it: ! = loop {};\n}\n"),
    ("E0658: an associated type", "impl Day {\n    type C = u8;\n}\n"),
    ("E0658: a default of a type", "pub trait C {\n    type C = u8;\n}\n"),
    ("E0658: a method", "pub fn c(it: std::vec::IntoIter<u8>) {\n    let _ = it.intersperse(1);\n}\n"),
    ("E0658: a path", "pub fn c(it: std::vec::IntoIter<u8>) {\n    let _ = Iterator::intersperse(it, 1);\n}\n"),
    // Sizes.
    ("E0277: a parameter", "pub fn c(_: u8, _: str) {}\n"),
    ("E0277: an object", "pub fn c(_: dyn First) {}\n"),
    ("E0277: a result", "pub fn c() -> [u8] {\n    loop {}\n}\n"),
    ("E0277: a variable", "pub fn c(it: Box<[u8]>) {\n    let _it = *it;\n}\n"),
    // The form of items.
    ("no code: a constant", "impl Day {\n    const C: u8;\n}\n"),
    ("no code: a type", "type C;\n"),
    ("no code: a static", "static C: u8;\n"),
    (
        "no code: an associated type",
        "impl Iterator for Ending {\n    type Item;\n    fn next(&mut self) -> Option<u8> {\n        None\n    }\n}\n",
    ),
    ("E0223", "pub fn c() -> Iterator::Item {\n    loop {}\n}\n"),
    ("E0310", "pub struct C<T> {\n    it: &'static T,\n}\n"),
    ("E0366", "pub struct C<T>(T);\nimpl Drop for C<u8> {\n    fn drop(&mut self) {}\n}\n"),
    (
        "E0446",
        "struct C;\nimpl Iterator for Ending {\n    type Item = Option<C>;\n    fn next(&mut self) -> Option<Option<C>> {\n        None\n    }\n}\n",
    ),
    ("E0562: a variable", "pub fn c() {\n    let _it: impl Copy = 1;\n}\n"),
    ("E0740", "pub union C {\n    a: u8,\n    b: String,\n}\n"),
    // Globs.
    (
        "E0659: a function",
        "mod left {\n    pub fn same() {}\n    pub struct Same;\n}\nmod right {\n    pub fn same() {}\n    pub struct Same;\n}\nuse left::*;\nuse right::*;\npub fn c() {\n    same();\n}\n",
    ),
    (
        "E0659: a type of a signature",
        "mod left {\n    pub fn same() {}\n    pub struct Same;\n}\nmod right {\n    pub fn same() {}\n    pub struct Same;\n}\nuse left::*;\nuse right::*;\npub(crate) fn c(_: Same) {}\n",
    ),
    (
        "E0659: in a macro",
        "mod left {\n    pub fn same() {}\n    pub struct Same;\n}\nmod right {\n    pub fn same() {}\n    pub struct Same;\n}\nuse left::*;\nuse right::*;\npub fn c() {\n    println!(\"{:?}\", same());\n}\n",
    ),
    (
        "E0659: through the module",
        "mod left {\n    pub fn same() {}\n    pub struct Same;\n}\nmod right {\n    pub fn same() {}\n    pub struct Same;\n}\nuse left::*;\nuse right::*;\npub fn c() {\n    crate::same();\n}\n",
    ),
    // Items that a condition leaves out.
    ("E0425: a function left out", "#[cfg(windows)]\npub fn off() {}\npub fn c() {\n    off();\n}\n"),
    ("E0412: a type left out", "#[cfg(windows)]\npub struct Off;\npub fn c(_: Off) {}\n"),
    ("E0432: an import left out", "#[cfg(windows)]\npub mod off {\n    pub fn c() {}\n}\nuse off::c;\n"),
    (
        "E0425: an import left out",
        "pub mod on {\n    pub fn off() {}\n}\n#[cfg(windows)]\nuse on::off;\npub fn c() {\n    off();\n}\n",
    ),
    // Others.
    ("E0201", "impl Second for Day {\n    fn first(&self) {}\n    fn first(&self) {}\n}\n"),
    ("E0119: a parameter", "impl<T> First for T {}\n"),
    ("E0119: a bound", "impl<T: Clone> First for T {}\n"),
    (
        "E0119: of the standard library",
        "impl From<Day> for Day {\n    fn from(it: Day) -> Day {\n        it\n    }\n}\n",
    ),
    ("E0533", "pub fn c(it: Kind) {\n    match it {\n        Kind::Record => {}\n        _ => {}\n    }\n}\n"),
    (
        "E0533 of a function",
        "pub fn c(it: Day) {\n    match it {\n        Day::made => {}\n        _ => {}\n    }\n}\n",
    ),
    (
        "E0532 of a variant",
        "pub fn c(it: Kind) {\n    match it {\n        Kind::Tuple => {}\n        _ => {}\n    }\n}\n",
    ),
    ("E0040", "pub fn c(it: Ending) {\n    it.drop();\n}\n"),
    ("E0040 of a path", "pub fn c(mut it: Ending) {\n    Drop::drop(&mut it);\n}\n"),
    ("E0070", "pub fn c() {\n    1 = 2;\n}\n"),
    ("E0070 of a call", "pub fn c() {\n    plain() = 2;\n}\n"),
    ("E0070 of a part", "pub fn c(mut it: u8) {\n    (it, 1) = (2, 1);\n    let _ = it;\n}\n"),
    ("E0733", "pub async fn c(it: u8) {\n    if it > 0 {\n        c(it - 1).await;\n    }\n}\n"),
    ("E0733 of a method", "impl Day {\n    pub async fn c(&self) {\n        self.c().await\n    }\n}\n"),
    ("E0029", "pub fn c(it: &str) {\n    match it {\n        \"a\"..=\"z\" => {}\n        _ => {}\n    }\n}\n"),
    ("E0033", "pub fn c(it: &dyn First) {\n    let &_it = it;\n}\n"),
    ("E0034", "impl Both for Day {}\npub fn c(it: &Day) {\n    it.first();\n}\n"),
    ("E0054", "pub fn c(it: u8) -> bool {\n    it as bool\n}\n"),
    ("E0069", "pub fn c() -> u8 {\n    return;\n}\n"),
    ("E0317", "pub fn c(it: bool) -> u8 {\n    if it { 1 }\n}\n"),
    ("E0436", "pub fn c(it: Kind) -> Kind {\n    Kind::Record { ..it }\n}\n"),
    ("E0572", "pub const C: u8 = return 0;\n"),
    ("E0604", "pub fn c(it: u32) -> char {\n    it as char\n}\n"),
    ("E0605", "pub fn c(it: Day) -> u8 {\n    it as u8\n}\n"),
    ("E0607", "pub fn c(it: *const u8) -> *const [u8] {\n    it as *const [u8]\n}\n"),
];

#[test]
fn each_error_of_a_body_is_found() {
    let here = "// Here.\n";
    let edits = ADDED.iter().map(|it| Edit { name: it.0, file: "src/lib.rs", from: here, to: it.1 });
    let edits: Vec<Edit<'_>> = edits.collect();
    hold(&Suite { name: "body_codes", files: FILES, is_built: false }, &edits);
}

/// Code that compiles has none of these errors: the corpus, or the workspace that `SEMDEX_COMPARE_ROOT` names.
#[test]
fn healthy_code_has_no_such_error() {
    let it = REAL.lock().unwrap_or_else(PoisonError::into_inner);
    let found = it.asked(|view| {
        view.ask(|cx| {
            let files: Vec<_> = cx.files.of(LANGUAGE).cloned().collect();
            let of_file = |file: &Arc<File>| {
                let bodies = errors::errors_of_file(cx, file).bodies.into_values().flatten();
                bodies.filter(|it| RULES.contains(&it.rule) || CODES.contains(&it.code)).collect::<Vec<_>>()
            };
            Ok((files.len(), files.iter().flat_map(of_file).collect::<Vec<_>>()))
        })
    });
    let (files, found) = found.unwrap();
    println!("{files} files");
    let shown = found.iter().map(|it| format!("{}:{} {:?} {}", it.place.file, it.place.line, it.code, it.message));
    assert!(files > 5 && found.is_empty(), "{}", shown.collect::<Vec<_>>().join("\n"));
}

const RULES: [RuleId; 11] = [
    RuleId::AmbiguousGlobs,
    RuleId::UnmetProjections,
    RuleId::AmbiguousNumbers,
    RuleId::UnknownResults,
    RuleId::ConstContexts,
    RuleId::Gates,
    RuleId::LetChains,
    RuleId::UnstableItems,
    RuleId::Sized,
    RuleId::Assignments,
    RuleId::AsyncRecursion,
];
const CODES: [Code; 14] = [
    Code::E0029,
    Code::E0033,
    Code::E0034,
    Code::E0040,
    Code::E0054,
    Code::E0069,
    Code::E0317,
    Code::E0436,
    Code::E0532,
    Code::E0533,
    Code::E0572,
    Code::E0604,
    Code::E0605,
    Code::E0607,
];
