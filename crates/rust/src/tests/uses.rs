//! The impact of changes on many kinds of uses, compared with the compiler: traits, generics, functions and constants
//! (`fixtures/parts.rs`), properties of values (`fixtures/values.rs`), and newly written code (`fixtures/written.rs`).

use super::impact::hold_in;

const MANIFEST: &str = "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

const PARTS: [(&str, &str); 4] = [
    ("Cargo.toml", MANIFEST),
    ("src/lib.rs", "#[macro_use]\npub mod parts;\npub mod parts_used;\n"),
    ("src/parts.rs", include_str!("fixtures/parts.rs")),
    ("src/parts_used.rs", include_str!("fixtures/parts_used.rs")),
];

const OF_PARTS: &[(&str, &str, &str)] = &[
    ("another bound of a trait's type", "type Unit;", "type Unit: std::fmt::Display;"),
    ("generics of a trait's type", "type Unit;", "type Unit<X>;"),
    ("a constant of a trait that has to be given", "const SIDES: usize = 1;", "const SIDES: usize;"),
    ("a method that borrows for a change", "fn paint(&mut self, color: &str)", "fn paint(&self, color: &str)"),
    (
        "a method of a trait that is unsafe",
        "fn area(&self, scale: u32) -> u32;",
        "unsafe fn area(&self, scale: u32) -> u32;",
    ),
    ("a trait with generics", "pub trait Shape {", "pub trait Shape<X> {"),
    ("an unsafe trait", "pub trait Shape {", "pub unsafe trait Shape {"),
    ("another bound of a trait's parameter", "pub trait Store<K> {", "pub trait Store<K: Copy> {"),
    ("one more parameter of a trait", "pub trait Store<K> {", "pub trait Store<K, V> {"),
    ("a trait built on one that is implemented", "pub trait Plain {", "pub trait Plain: Send {"),
    (
        "one more parameter of a struct",
        "pub struct Grid<T> {",
        "pub struct Grid<T, U = u8> {\n    pub more: Option<U>,",
    ),
    ("a private field that is given and read", "    pub width: usize,", "    width: usize,"),
    ("a struct with a lifetime", "pub struct Conf {", "pub struct Conf<'a> {\n    pub by: &'a str,"),
    ("a variant with names", "Write(String)", "Write { text: String }"),
    ("a variant without names", "Move { x: i32, y: i32 }", "Move(i32, i32)"),
    ("a variant without fields", "Write(String)", "Write"),
    ("a variant added beside other errors", "    Quit,", "    Quit,\n    Extra,"),
    ("a future that is read and taken apart", "pub fn build(", "pub async fn build("),
    ("unsafe to call", "pub fn safe", "pub unsafe fn safe"),
    ("constant no more", "pub const fn calc", "pub fn calc"),
    ("a callback with one more", "impl Fn(u8) -> bool", "impl Fn(u8, u8) -> bool"),
    (
        "a callback with another result",
        "pub fn cb(f: impl Fn(u8) -> bool) -> bool {\n    f(1)",
        "pub fn cb(f: impl Fn(u8) -> Option<bool>) -> bool {\n    f(1).is_some()",
    ),
    ("a callback with one less", "F: FnMut(&str, u8)", "F: FnMut(&str)"),
    ("another bound of a function", "pub fn gen<T>(it: T)", "pub fn gen<T: Plain>(it: T)"),
    ("a result that may fail", "-> Result<u8, String> {\n    Ok(n)", "-> Result<u8, std::fmt::Error> {\n    Ok(n)"),
    ("a module hidden", "pub mod inner", "mod inner"),
    ("a macro that reads another field", "&$c.title", "&$c.heading"),
];

const VALUES: [(&str, &str); 4] = [
    ("Cargo.toml", MANIFEST),
    ("src/lib.rs", "pub mod values;\npub mod values_used;\n"),
    ("src/values.rs", include_str!("fixtures/values.rs")),
    ("src/values_used.rs", include_str!("fixtures/values_used.rs")),
];

const OF_VALUES: &[(&str, &str, &str)] = &[
    ("a constant in arithmetic that is a function", "pub const STEP: u64 = 7;", "pub fn STEP() -> u64 { 7 }"),
    (
        "no Clone",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
    ),
    (
        "no Copy",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
    ),
    (
        "no Debug",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
    ),
    (
        "no PartialEq",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
    ),
    (
        "no Ord",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Hash, Default)]\npub struct Id",
    ),
    (
        "no Hash",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]\npub struct Id",
    ),
    (
        "no Default",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]\npub struct Id",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub struct Id",
    ),
    ("a private field of a tuple", "pub struct Id(pub u32)", "pub struct Id(u32)"),
    ("a field of a tuple more", "pub struct Id(pub u32)", "pub struct Id(pub u32, pub u8)"),
    (
        "no Display",
        "impl fmt::Display for Name {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        f.write_str(&self.text)\n    }\n}\n",
        "",
    ),
    (
        "an error without its text",
        "impl fmt::Display for Bad {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        f.write_str(\"bad\")\n    }\n}\n",
        "",
    ),
    ("no error", "impl std::error::Error for Bad {}\n", ""),
    (
        "no conversion",
        "impl From<u8> for Name {\n    fn from(_: u8) -> Self {\n        Name { text: String::new() }\n    }\n}\n",
        "",
    ),
    (
        "no operator",
        "impl std::ops::Add for Name {\n    type Output = Name;\n    fn add(self, _: Name) -> Name {\n        self\n    }\n}\n",
        "",
    ),
    (
        "no index",
        "impl std::ops::Index<usize> for Name {\n    type Output = u8;\n    fn index(&self, i: usize) -> &u8 {\n        &self.text.as_bytes()[i]\n    }\n}\n",
        "",
    ),
    (
        "no dereference",
        "impl std::ops::Deref for Wrap {\n    type Target = Name;\n    fn deref(&self) -> &Name {\n        &self.0\n    }\n}\n",
        "",
    ),
    ("no reference", "impl AsRef<str> for Name {\n    fn as_ref(&self) -> &str {\n        &self.text\n    }\n}\n", ""),
    (
        "not parsed",
        "impl std::str::FromStr for Name {\n    type Err = Bad;\n    fn from_str(s: &str) -> Result<Self, Bad> {\n        Err(Bad)\n    }\n}\n",
        "",
    ),
    (
        "not collected",
        "impl FromIterator<Id> for Bag {\n    fn from_iter<T: IntoIterator<Item = Id>>(_: T) -> Self {\n        Bag\n    }\n}\n",
        "",
    ),
];

const WRITTEN: [(&str, &str); 4] = [
    ("Cargo.toml", MANIFEST),
    ("src/lib.rs", "pub mod wording;\npub mod written;\n"),
    ("src/wording.rs", include_str!("fixtures/wording.rs")),
    ("src/written.rs", include_str!("fixtures/written.rs")),
];

const OF_WRITTEN: &[(&str, &str, &str)] = &[
    ("derived of what a field has not: Copy", "pub struct Thing {", "#[derive(Copy, Clone)]\npub struct Thing {"),
    (
        "derived of what a field has not: Default",
        "    pub name: String,\n",
        "    pub name: String,\n    pub more: Option<Conf>,\n    pub by: Conf,\n",
    ),
    (
        "derived of what a field has not: PartialEq and Default",
        "pub struct Thing {\n    pub n: u32,",
        "#[derive(PartialEq, Default)]\npub struct Thing {\n    pub by: Conf,\n    pub n: u32,",
    ),
    ("derived of what the type has not", "pub struct Thing {", "#[derive(Eq)]\npub struct Thing {"),
    ("derived for a variant that has it not", "    Two(u8),", "    Two(Conf),"),
    ("a reference without a lifetime", "    pub name: String,", "    pub name: &str,"),
    ("a lifetime that nobody declares", "pub fn size(&self) -> u32 {", "pub fn size(&self, by: &'a str) -> u32 {"),
    (
        "a lifetime that a bound declares",
        "pub fn size(&self) -> u32 {",
        "pub fn size(&self, by: impl for<'a> Fn(&'a str)) -> u32 {",
    ),
    ("a parameter twice", "pub fn size(&self) -> u32 {", "pub fn size(&self, by: u8, by: u8) -> u32 {"),
    ("a result that does not implement", "pub fn size(&self) -> u32 {", "pub fn size(&self) -> impl Plain {"),
    ("less than nothing", "        self.n\n", "        -self.n\n"),
    ("too few generics of a field", "    pub name: String,", "    pub name: HashMap<String>,"),
    ("too few generics of an alias", "HashMap<u8, Conf>;", "HashMap<u8>;"),
    ("too many generics of a block", "impl<T: Clone> Gen<T> {", "impl<T: Clone> Gen<T, T> {"),
    ("no generics of a block", "impl<T: Clone> Gen<T> {", "impl<T: Clone> Gen {"),
    ("a block without its generics", "impl<T: Clone> Gen<T> {", "impl Gen<T> {"),
    ("a block with more generics than are named", "impl<T: Clone> Gen<T> {", "impl<T: Clone, U> Gen<T> {"),
    ("a parameter that its field does not use", "    pub it: T,", "    pub it: u8,"),
    (
        "implemented twice",
        "impl Plain for Thing {",
        "impl Plain for Thing {\n    fn go(&self) -> u8 {\n        2\n    }\n}\n\nimpl Plain for Thing {",
    ),
    ("a struct implemented", "impl Plain for Thing {", "impl Conf for Thing {"),
    (
        "what is of elsewhere implemented for what is of elsewhere",
        "impl Plain for Thing {",
        "impl fmt::Display for Vec<u8> {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        Ok(())\n    }\n}\n\nimpl Plain for Thing {",
    ),
    (
        "a block of a type of elsewhere",
        "impl Plain for Thing {",
        "impl Vec<u8> {\n    pub fn own(&self) {}\n}\n\nimpl Plain for Thing {",
    ),
    (
        "a new type that fits",
        "pub struct Thing {",
        "#[derive(Clone, Debug, PartialEq, Default)]\npub struct Fits<'a, T: Clone> {\n    pub by: &'a [T],\n    pub map: HashMap<String, Vec<Option<T>>>,\n}\n\nimpl<'a, T: Clone + 'a> IntoIterator for &'a Fits<'a, T> {\n    type Item = &'a T;\n    type IntoIter = std::slice::Iter<'a, T>;\n    fn into_iter(self) -> Self::IntoIter {\n        self.by.iter()\n    }\n}\n\npub struct Thing {",
    ),
];

#[test]
fn what_is_made_of_parts() {
    hold_in("parts", &PARTS, "src/parts.rs", OF_PARTS.iter());
}

#[test]
fn what_values_can_do() {
    hold_in("values", &VALUES, "src/values.rs", OF_VALUES.iter());
}

#[test]
fn what_is_written_anew() {
    hold_in("written", &WRITTEN, "src/written.rs", OF_WRITTEN.iter());
}
