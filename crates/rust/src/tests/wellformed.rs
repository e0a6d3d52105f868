//! Bounds that a change adds to the parameters of types and traits: each place with an argument that does not meet
//! them.

use super::impact::hold_in;

const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod bounded;\npub mod bounded_used;\n"),
    ("src/bounded.rs", include_str!("fixtures/bounded.rs")),
    ("src/bounded_used.rs", include_str!("fixtures/bounded_used.rs")),
];

const CASES: &[(&str, &str, &str)] = &[
    ("a bound of a struct", "pub struct Wrap<T> {", "pub struct Wrap<T: Mark> {"),
    ("a bound of a struct in a clause", "pub struct Wrap<T> {", "pub struct Wrap<T>\nwhere\n    T: Mark,\n{"),
    ("two bounds", "pub struct Wrap<T> {", "pub struct Wrap<T: Copy + Mark> {"),
    ("a bound by a path", "pub struct Wrap<T> {", "pub struct Wrap<T: std::fmt::Display> {"),
    ("a bound with an argument", "pub struct Both<A, B>(", "pub struct Both<A: From<B>, B>("),
    ("a bound with an argument of its own", "pub struct Both<A, B>(", "pub struct Both<A, B: Into<u16>>("),
    ("a bound of a tuple struct", "pub struct Both<A, B>(", "pub struct Both<A: Mark, B>("),
    ("a bound of an enum", "pub enum Maybe<T> {", "pub enum Maybe<T: Mark> {"),
    ("a bound beside a constant", "pub struct Fixed<T, const", "pub struct Fixed<T: Mark, const"),
    ("another constant", "pub struct Fixed<T, const N: usize>", "pub struct Fixed<T, const N: usize, const M: usize>"),
    ("a size", "pub struct Loose<T: ?Sized>", "pub struct Loose<T>"),
    ("a bound of a trait's parameter", "pub trait Store<K> {", "pub trait Store<K: Mark> {"),
    ("a trait built on another", "pub trait Sorted {", "pub trait Sorted: Mark {"),
    ("a trait built on another in a clause", "pub trait Sorted {", "pub trait Sorted\nwhere\n    Self: Mark,\n{"),
    ("a bound of a trait's type", "    type Item;\n", "    type Item: Mark;\n"),
    ("a bound of a function", "pub fn wrap<T>(", "pub fn wrap<T: Mark>("),
    ("a derive gone that is asked for", "#[derive(Clone, Debug)]\npub struct Wrap<T> {", "pub struct Wrap<T: Clone> {"),
];

#[test]
fn each_place_with_an_argument_that_lacks_a_bound_is_reported() {
    hold_in("bounded", &FILES, "src/bounded.rs", CASES.iter());
}
