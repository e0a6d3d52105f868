//! Errors of the compiler are reported, also those that rust-analyzer does not report; nothing is reported that the
//! compiler may accept.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::Server;

const MANIFEST: &str = "[package]\nname = \"missed\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn errors(server: &Server, file: &str) -> BTreeSet<String> {
    let (status, reply) = server.get(&format!("/v1/diagnostics?file={file}&severity=error"));
    assert_eq!(status, 200, "{reply}");
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    let items = reply["items"].as_array().unwrap();
    items.iter().map(|it| format!("{} {}", it["line"], it["code"].as_str().unwrap_or_default())).collect()
}

/// The lines that say in a comment which error the compiler has for them.
fn expected(text: &str) -> BTreeSet<String> {
    let lines = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, line.split_once("// E")?.1)));
    lines
        .flat_map(|(line, codes)| codes.split(' ').map(move |it| format!("{line} E{}", it.trim_start_matches('E'))))
        .collect()
}

/// The same for errors without a number: a code that rust-analyzer or a lint has, or none.
fn marked(text: &str) -> BTreeSet<String> {
    let lines = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, line.split_once("//= ")?.1)));
    lines.map(|(line, code)| format!("{line} {code}")).collect()
}

fn line_of(error: &str) -> usize {
    error.split_once(' ').unwrap().0.parse().unwrap()
}

#[test]
fn paths_that_lead_nowhere_are_told() {
    let lib = "\
mod wtr;

pub fn function() -> u8 {
    wtr::gone() // E0425
}
pub fn constant() -> u8 {
    crate::wtr::GONE // E0425
}
pub fn pattern(it: u8) -> u8 {
    match it {
        wtr::LEAST => 1,
        wtr::MOST => 2, // E0531
        _ => 3,
    }
}
pub fn taken(it: wtr::Pair) -> u8 {
    let wtr::Pair(left, _) = it;
    let wtr::Triple(right, ..) = it; // E0531
    left + right
}
pub fn literal() -> wtr::Pair {
    wtr::Point { x: 1 }; // E0422
    wtr::Pair(1, 2)
}
pub fn module() -> u8 {
    nowhere::gone() // E0433
}
pub fn inner() -> u8 {
    wtr::nowhere::gone() // E0433
}
pub fn parameter(_: &wtr::Gone) {} // E0425
pub fn single(_: &Gone) {} // E0425
pub fn bound<T: Gone>(_: T) {} // E0405
pub fn member() -> wtr::Kind {
    wtr::Kind::made(); // E0599
    wtr::Kind::Gone // E0599
}
pub fn hidden() -> u8 {
    wtr::hidden() // E0603
}
pub fn macros(it: u8) -> Vec<u8> {
    println!(\"{}\", wtr::gone()); // E0425
    assert!(matches!(it, wtr::LEAST | wtr::MOST)); // E0531
    assert_eq!(nowhere::gone(), it); // E0433
    vec![wtr::LEAST, wtr::gone()] // E0425
}
";
    let wtr = "\
pub const LEAST: u8 = 1;
pub struct Pair(pub u8, pub u8);
pub enum Kind {
    Here,
}
fn hidden() -> u8 {
    1
}
#[cfg(test)]
mod tests {
    fn gone() {}
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/wtr.rs", wtr)]);
    server.wait_ready();
    assert_eq!(errors(&server, "src/lib.rs"), expected(lib));
    assert_eq!(errors(&server, "src/wtr.rs"), BTreeSet::new());
    // A name that appears is no longer unresolved.
    server.home.write("src/wtr.rs", &(wtr.to_owned() + "pub fn gone() -> u8 {\n    2\n}\n"));
    let mut left = expected(lib);
    left.retain(|it| lib.lines().nth(line_of(it) - 1).is_some_and(|line| !line.contains("wtr::gone()")));
    assert_eq!(errors(&server, "src/lib.rs"), left);
}

/// Code that a condition does not switch off is code like any other.
#[test]
fn paths_that_lead_nowhere_are_told_under_conditions_that_hold() {
    let code = "#![cfg_attr(docsrs, feature(doc_cfg))]

pub fn here() {
    crate::nowhere::f(); // E0433
}

#[cfg(not(miri))]
pub fn there() {
    nowhere::f(); // E0433
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", code)]);
    server.wait_ready();
    assert_eq!(errors(&server, "src/lib.rs"), expected(code));
}

/// What the rules find that decide what an edit breaks is also told of the code as it is.
#[test]
fn errors_in_items_are_told() {
    let lib = "\
pub struct Plain;
#[derive(Clone, Copy)]
pub struct Holder { // E0204
    pub it: String,
}
pub struct Unused<T>; // E0392
pub struct Loop { // E0072
    pub inner: Option<Loop>,
}
pub trait Shape {
    const SIDES: u8;
    fn area<T>(&self, by: T) -> u8;
}
impl Shape for Plain { // E0046
    fn area<T: Copy>(&self, _by: T) -> u8 { // E0276
        1
    }
}
impl Shape for Holder {
    const SIDES: u8 = 4;
    fn area<T>(&self, _by: T, _and: u8) -> u8 { // E0050
        1
    }
}
impl From<Holder> for Plain {
    fn from(_: Holder) -> Plain {
        Plain
    }
}
impl From<Holder> for Plain { // E0119
    fn from(_: Holder) -> Plain {
        Plain
    }
}
#[repr(u8)] // E0084
pub enum Never {}
pub fn compared(a: Plain, b: Plain) -> bool {
    a == b // E0369
}
pub fn object(it: &dyn Iterator) -> usize { // E0191
    it.size_hint().0
}
impl Drop for u8 { // E0117
    fn drop(&mut self) {}
}
pub const SIZE: usize = size(); // E0015
fn size() -> usize {
    3
}
pub fn global() -> u8 {
    ::gone(1) + ::compared // E0425
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    assert_eq!(errors(&server, "src/lib.rs"), expected(lib));
}

/// Names in the wrong place: a derive macro for a trait, a variable for a type, a type that no bound has.
#[test]
fn names_of_another_kind_are_told() {
    let lib = "\
pub struct Plain;
impl Debug for Plain {} // E0404
pub fn bound<T: Hash>(it: T) -> T { // E0404
    it
}
pub fn object(it: &dyn Debug) { // E0404
    let _ = it;
}
pub trait Walk {
    type Step;
    fn step(&self) -> Self::Stop; // E0220
    fn next(&self) -> Self::Step;
}
pub fn walk<W: Walk>(it: W) -> W::Stop // E0220
where
    W: Clone,
{
    it.step()
}
pub fn own<W: Clone + Iterator>(it: W) -> Option<W::Item> {
    it.clone().next()
}
pub fn literal() {
    let plain = Plain;
    let _ = plain {}; // E0574
}
pub fn alone() -> Self { // E0411
    todo!()
}
pub fn length(count: usize) -> usize {
    let zeros = [0; count]; // E0435
    let pair = [count, { let count = 2; count }];
    zeros.len() + pair.len() + [0; { const COUNT: usize = 2; COUNT }].len()
}
pub mod scope {
    pub mod inner {}
    pub(in crate::scope) struct Inside;
    pub(in crate::other) struct Outside; // E0742
    pub(in crate::Plain) struct Nowhere; // E0577
}
pub mod other {}
impl<'a> Walk for &'a Plain {
    type Step = &'a str;
    fn step(&self) {}
    fn next(&self) -> &'a str {
        \"\"
    }
}
impl<'a> Iterator for Plain { // E0207
    type Item = &'a str;
    fn next(&mut self) -> Option<&'a str> {
        None
    }
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    assert_eq!(errors(&server, "src/lib.rs"), expected(lib));
}

/// What the compiler's parser refuses, what its macros refuse, and what derives and attributes need.
#[test]
fn errors_of_form_are_told() {
    let lib = "\
pub fn without(); //= syntax-error
pub struct Fields {
    pub it: u8,
    /// Nothing. //= syntax-error
}
pub trait Constant {
    const fn it(); //= syntax-error
}
pub fn arms(it: u8) -> u8 {
    if it > 1 {
        /// Nothing. //= syntax-error
    }
    match it {
        /// A part.
        0 => 1,
        _ => 2,
    }
}
";
    let attributes = "\
#[derive(Default)] //= E0665
pub enum Choice {
    A,
    B,
}
#[derive(Clone)]
pub struct Plain {
    #[serde(skip)] //= 
    pub it: u8,
    #[allow(dead_code)]
    own: u8,
}
#[derive(Default)]
pub enum Chosen {
    #[default]
    A,
}
pub const TEXT: &str = include_str!(\"nothing.txt\"); //= 
compile_error!(\"no\"); //= 
mod twice {}
mod twice {} //= E0428
";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", &format!("pub mod attributes;\n{lib}"))];
    let server = Server::on(&[files[0], files[1], ("src/attributes.rs", attributes)]);
    assert_eq!(errors(&server, "src/lib.rs"), marked(files[1].1));
    assert_eq!(errors(&server, "src/attributes.rs"), marked(attributes));
}

/// Errors that rust-analyzer finds and its editors do not show, with the compiler's codes.
#[test]
fn errors_in_patterns_and_values_are_told() {
    let lib = "\
pub struct Pair {
    pub a: u8,
    pub b: u8,
}
pub trait Made {
    fn made() -> u8 {
        1
    }
}
pub fn patterns(pair: Pair, items: Vec<u8>, two: (u8, u8)) -> u8 {
    let Pair { a } = pair; // E0027
    for (x, y) in items { // E0308
        let _ = (x, y);
    }
    let (one, two, three) = two; // E0308
    a
}
pub fn slices(slice: &[u8]) -> u8 {
    let [first, second] = slice; // E0005
    *first + *second
}
pub fn test(it: Option<u8>) -> bool {
    matches!(it, Ok(_)) // E0308
}
pub fn values(it: bool) -> u8 {
    let _: u8 = 255;
    let _: i8 = -128;
    let _: u64 = 0xffff_ffff_ffff_ffff;
    1
}
pub fn unknown(text: &str) {
    let it = text.parse().unwrap(); // E0284
}
pub fn default() {
    let _ = Default::default(); // E0790
}
pub fn made() -> u8 {
    Made::made() // E0790
}
pub fn ended(it: bool) -> u8 {
    if it { 1 } // E0317
}
pub fn label() {
    let _ = (1u8, 2u8).2; // E0609
    loop {
        break 'outer; // E0426
    }
}
pub struct Text(pub String);
impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
pub fn compared(a: Text, b: &String) -> bool {
    a == b
}
";
    let literals = "\
pub const BYTE: u8 = 256; //= overflowing_literals
pub const LEAST: i8 = -128;
pub const MOST: u64 = 0xffff_ffff_ffff_ffff;
pub const BELOW: i8 = -129; //= overflowing_literals
#[allow(overflowing_literals)]
pub const ALLOWED: u8 = 300;
";
    let lib = format!("{lib}pub mod literals;\n");
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", &lib), ("src/literals.rs", literals)];
    let server = Server::on(&files);
    assert_eq!(errors(&server, "src/lib.rs"), expected(&lib));
    assert_eq!(errors(&server, "src/literals.rs"), marked(literals));
}

#[test]
fn macros_that_do_not_exist_are_told_wherever_they_are_called() {
    let lib = "\
gone!(); // E
std::gone!(); // E0433

pub struct Twice;
pub struct Twice; // E0428
pub fn generic<T, T>(_: T) {} // E0403
#[gone] // E
pub fn attribute() {}
#[derive(Gone)] // E
pub struct Derived;
impl Derived {
    gone!(); // E
}
pub fn lifetime(it: &'a u8) -> u8 { // E0261
    *it
}
pub fn taken((a, a): (u8, u8)) -> u8 { // E0415
    a
}
pub fn call() {
    std::gone!() // E0433
}
macro_rules! traced {
    ($it:expr) => {
        #[cfg(any())]
        gone::traced!($it);
    };
}
pub fn switched_off() {
    #[cfg(any())]
    gone::trace!(1);
    #[cfg(any())]
    gone::lazy! {
        static A: u8 = 1;
    }
    traced!(1);
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    let (_, reply) = server.get("/v1/diagnostics?file=src/lib.rs&severity=error");
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    let lines: BTreeSet<usize> =
        reply["items"].as_array().unwrap().iter().map(|it| it["line"].as_u64().unwrap() as usize).collect();
    let wrong = lib.lines().enumerate().filter(|it| it.1.contains("// E")).map(|it| it.0 + 1);
    assert_eq!(lines, wrong.collect(), "{reply}");
    let known = expected(lib).into_iter().filter(|it| !it.ends_with(" E"));
    let told = errors(&server, "src/lib.rs");
    known.for_each(|it| assert!(told.contains(&it), "{it} is not told: {told:?}"));
}

/// What the edition of a crate refuses: in the code as it is, and in an edit.
#[test]
fn errors_of_the_edition_are_told() {
    let lib = "\
extern \"C\" { //=\x20
    fn foreign();
}
#[no_mangle] //=\x20
pub extern \"C\" fn given() {}
#[unsafe(no_mangle)]
pub extern \"C\" fn taken() {}
pub static mut COUNT: Vec<u8> = Vec::new();
pub fn counted() -> usize {
    unsafe {
        let _ = &raw const COUNT;
        let it = &COUNT; //= static_mut_refs
        COUNT.len() + //= static_mut_refs
            it.len()
    }
}
#[allow(static_mut_refs)]
pub fn allowed() -> usize {
    unsafe { COUNT.len() }
}
pub fn patterns(it: &Option<(u8, u8)>, of: Option<&u8>) -> u8 {
    let Some((ref a, _)) = it else { return 1 }; //=\x20
    let Some((mut b, _)) = it else { return 1 }; //=\x20
    let &Some((ref c, mut d)) = it else { return 1 };
    d += 1;
    b += 1;
    if let Some(&e) = of {
        return e;
    }
    *a + b + *c + d
}
";
    let server = Server::on(&[("Cargo.toml", &MANIFEST.replace("2021", "2024")), ("src/lib.rs", lib)]);
    let told = errors(&server, "src/lib.rs");
    assert!(told.is_superset(&marked(lib)), "{told:?}");
    let edit = json!({
        "file": "src/lib.rs",
        "search_context": "pub fn counted()",
        "replacement": "pub fn gen() {}\npub fn counted()",
        "dry_run": true,
    });
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["impact"]["broken"][0]["code"]), (200, &json!("syntax-error")), "{reply}");
    server.home.write("Cargo.toml", MANIFEST);
    server.wait_for(|it| errors(it, "src/lib.rs").is_empty());
}

/// Errors of items are kept until a declaration changes that they may depend on.
#[test]
fn errors_in_items_follow_what_they_depend_on() {
    let (copied, cloned) = ("#[derive(Clone, Copy)]\npub struct Small;\n", "#[derive(Clone)]\npub struct Small;\n");
    let lib = "pub mod small;\n\n#[derive(Clone, Copy)]\npub struct Holder(pub small::Small);\n\npub fn f() -> u8 {\n    1\n}\n";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/small.rs", copied)]);
    let none = BTreeSet::new();
    let one = BTreeSet::from(["4 E0204".to_owned()]);
    assert_eq!(errors(&server, "src/lib.rs"), none);
    let edit =
        json!({"file": "src/small.rs", "search_context": "Clone, Copy", "replacement": "Clone", "dry_run": true});
    assert_eq!(server.post("/v1/edit", &edit).0, 200);
    assert_eq!(errors(&server, "src/lib.rs"), none, "a change that is only tried leaves nothing");
    for _ in 0..2 {
        server.home.write("src/small.rs", cloned);
        assert_eq!(errors(&server, "src/lib.rs"), one);
        server.home.write("src/lib.rs", &lib.replace("    1\n", "    2\n"));
        assert_eq!(errors(&server, "src/lib.rs"), one, "a body decides nothing of it");
        server.home.write("src/small.rs", copied);
        assert_eq!(errors(&server, "src/lib.rs"), none);
        server.home.write("src/lib.rs", lib);
    }
}

#[test]
fn what_the_compiler_may_find_is_not_told() {
    let lib = "\
mod made;
mod handed;
mod broken;

pub fn by_macro() -> u8 {
    made::made() + made::again()
}
#[cfg(not(test))]
pub fn by_cfg() -> u8 {
    made::outside_tests() + handed::outside_tests()
}
pub fn by_glob() -> Option<u8> {
    handed::Option::Some(1).and(handed::deep::found())
}
pub fn by_broken_import() {
    broken::gone();
    broken::within::gone();
}
macro_rules! texts {
    ($($it:tt)*) => {
        stringify!($($it)*)
    };
}
pub fn by_texts() -> (&'static str, &'static str) {
    println!(\"{}\", texts!(made::nothing()));
    (texts!(made::nothing()), stringify!(made::nothing()))
}
pub fn by_block() -> u8 {
    use crate::made as other;
    macro_rules! local {
        () => {
            mod inner {
                pub fn found() -> u8 {
                    1
                }
            }
        };
    }
    local!();
    inner::found() + other::made()
}
pub fn generic<T: Iterator>(it: T) -> Option<T::Item> {
    it.max_by(|_, _| core::cmp::Ordering::Equal)
}
pub mod nested {
    pub(in crate::nested) fn own() -> Self_ {
        super::by_macro()
    }
    type Self_ = u8;
    pub fn called() -> u8 {
        own()
    }
}
";
    let made = "\
macro_rules! make {
    ($name:ident) => {
        pub fn $name() -> u8 {
            1
        }
    };
}
make!(made);
macro_rules! make_again {
    () => {
        make!(again);
    };
}
make_again!();
#[cfg(not(test))]
pub fn outside_tests() -> u8 {
    1
}
";
    let handed = "\
#[cfg(not(test))]
pub use crate::made::*;
pub use std::option::*;
pub mod deep {
    pub use super::super::made::made as kept;
    pub fn found() -> Option<u8> {
        Some(kept())
    }
}
";
    // The import alone is wrong.
    let broken = "\
pub use crate::made::gone;
pub mod within {
    pub use super::*;
}
";
    let files = [("src/lib.rs", lib), ("src/made.rs", made), ("src/handed.rs", handed), ("src/broken.rs", broken)];
    let files: Vec<(&str, &str)> = [("Cargo.toml", MANIFEST)].into_iter().chain(files).collect();
    let server = Server::on(&files);
    server.wait_ready();
    for (file, _) in &files[1..] {
        let expected = if *file == "src/broken.rs" { BTreeSet::from(["1 E0432".to_owned()]) } else { BTreeSet::new() };
        assert_eq!(errors(&server, file), expected, "{file}");
    }
    let (_, all) = server.get("/v1/diagnostics?severity=error");
    assert_eq!(all["items"].as_array().map(Vec::len), Some(1), "{all}");
    assert_eq!(all["items"][0]["code"], Value::from("E0432"), "{all}");
}

#[test]
fn a_crate_with_a_text_that_has_no_end_has_no_other_errors() {
    let server = Server::on(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"low\", \"top\", \"apart\"]\nresolver = \"2\"\n"),
        ("low/Cargo.toml", &MANIFEST.replace("missed", "low")),
        ("low/src/lib.rs", "pub mod a;\npub mod b;\n"),
        ("low/src/a.rs", "pub fn f() {\n    if true {\n}\n\npub struct Kept;\n"),
        ("low/src/b.rs", "pub fn g() -> crate::a::Kept {\n    crate::a::f();\n    1\n}\n"),
        ("top/Cargo.toml", &format!("{}\n[dependencies]\nlow.path = \"../low\"\n", MANIFEST.replace("missed", "top"))),
        ("top/src/lib.rs", "pub fn h() -> u8 {\n    low::b::gone()\n}\n"),
        ("apart/Cargo.toml", &MANIFEST.replace("missed", "apart")),
        ("apart/src/lib.rs", "pub fn i() -> u8 {\n    \"\"\n}\n"),
    ]);
    server.wait_ready();
    let of = |file: &str| {
        let (status, reply) = server.get(&format!("/v1/diagnostics?severity=error{file}"));
        let items = reply["items"].as_array().unwrap_or_else(|| panic!("{status} {reply}")).iter();
        let items: Vec<String> = items.map(|it| format!("{}:{}", it["file"], it["code"])).collect();
        let missing = reply["meta"]["missing"].as_array().unwrap().iter();
        (items, missing.map(|it| format!("{} {}", it["code"], it["scope"])).collect::<Vec<_>>())
    };
    let unread = "\"workspace_broken\" \"low/src/a.rs\"";
    let (all, missing) = of("");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("\"apart/src/lib.rs\":\"E0308") && all[1].starts_with("\"low/src/a.rs\":"), "{all:?}");
    assert_eq!(missing, [unread]);
    assert_eq!(of("&file=low/src/b.rs"), (vec![], vec![unread.to_owned()]));
    assert_eq!(of("&file=top/src/lib.rs"), (vec![], vec![unread.to_owned()]));
    assert_eq!(of("&file=apart/src/lib.rs").1, Vec::<String>::new());
    server.home.write("low/src/a.rs", "pub fn f() {\n    if true {}\n}\n\npub struct Kept;\n");
    let (mended, missing) = of("");
    assert_eq!((mended.len(), missing), (3, vec![]), "{mended:?}");
}

/// What a package depends on cannot be had: any name may be from there.
#[test]
fn a_package_without_its_dependencies_is_judged_by_its_syntax() {
    let fuzz = "use base::shared;\nuse gone::{Give, take};\n\n#[gone::main]\npub async fn f(it: impl Give) -> u8 {\n    \
                gone::with(it.give());\n    shared()\n}\n";
    let server = Server::on(&[
        (
            "Cargo.toml",
            &format!("{}\n[workspace]\nexclude = [\"fuzz\", \"gone\"]\n", MANIFEST.replace("missed", "base")),
        ),
        ("src/lib.rs", "pub fn shared() -> u8 {\n    \"\"\n}\n"),
        (
            "fuzz/Cargo.toml",
            &format!(
                "{}\n[dependencies]\nbase.path = \"..\"\ngone = {{ path = \"../gone\", version = \"9\" }}\n[workspace]\n",
                MANIFEST.replace("missed", "fuzz")
            ),
        ),
        ("fuzz/src/lib.rs", fuzz),
        ("gone/Cargo.toml", &format!("{}\n[workspace]\n", MANIFEST.replace("missed", "gone"))),
        ("gone/src/lib.rs", ""),
    ]);
    server.wait_ready();
    let errors = || {
        let (status, reply) = server.get("/v1/diagnostics?severity=error");
        let items = reply["items"].as_array().unwrap_or_else(|| panic!("{status} {reply}")).iter();
        let items: Vec<String> = items.map(|it| format!("{} {}", it["file"], it["code"])).collect();
        assert!(reply["meta"]["missing"].to_string().contains("only its syntax is judged"), "{reply}");
        items
    };
    let own = "\"src/lib.rs\" \"E0308\"".to_owned();
    assert_eq!(errors(), [own]);
    let edit = |search: &str, replace: &str| {
        let body =
            json!({"file": "fuzz/src/lib.rs", "search_context": search, "replacement": replace, "on_break": "reject"});
        server.post("/v1/edit", &body)
    };
    let (status, reply) = edit("    shared()\n", "    take(gone::Fresh::new(it.more()))\n");
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    let (status, reply) = edit("    take(", "    take((");
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    server.home.write("fuzz/src/lib.rs", &fuzz.replace("shared()\n}", "shared(\n}"));
    assert_eq!(errors().len(), 2);
}

/// What an edit that writes this would be told; the functions that are awaited are in another file too.
#[test]
fn futures_that_are_sent_and_cannot_be_are_reported() {
    let lib = "\
mod work;

use std::future::Future;
use std::rc::Rc;

pub fn spawn<F: Future + Send + 'static>(_: F) {}
pub async fn tick() {}

pub async fn holds() -> u32 {
    let it = Rc::new(1);
    tick().await;
    *it
}
pub fn sent() {
    spawn(holds()); // refused
    spawn(tick());
    spawn(work::deep()); // refused
    spawn(work::fine());
    spawn(async { // refused
        let it = Rc::new(1);
        tick().await;
        drop(it);
    });
}
pub fn boxed() -> std::pin::Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(holds()) // refused
}
";
    let work = "pub async fn deep() {\n    lower().await\n}\nasync fn lower() {\n    let it = std::rc::Rc::new(1);\n    \
                crate::tick().await;\n    drop(it);\n}\npub async fn fine() {\n    drop(std::rc::Rc::new(1));\n    \
                crate::tick().await;\n}\n";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/work.rs", work)]);
    server.wait_ready();
    let refused = lib.lines().enumerate().filter(|it| it.1.ends_with("// refused")).map(|it| it.0 + 1);
    let refused: Vec<usize> = refused.collect();
    let lines = || -> Vec<usize> { errors(&server, "src/lib.rs").iter().map(|it| line_of(it)).collect() };
    assert_eq!(lines(), refused);
    // What is held is in a body of another file.
    server
        .home
        .write("src/work.rs", &work.replace("let it = std::rc::Rc::new(1);\n    crate", "let it = 1;\n    crate"));
    let without_deep: Vec<usize> = refused.iter().copied().filter(|it| *it != 17).collect();
    assert_eq!(lines(), without_deep);
}
