//! Properties of every text, checked on this project's own sources; then the tree, docs and imports.

mod fuzz;
mod skeleton;
mod window;

use std::path::{Path, PathBuf};

use semdex_model::{OutlineItem, Span, SymbolKind};

use super::*;

/// Spans are within the text, at character boundaries; children are within their parents, in order; every skeleton line
/// has its line.
fn check_spans(text: &str, outline: &Outline) {
    fn check(text: &str, items: &[OutlineItem], within: Span) {
        let mut at = within.start;
        for item in items {
            assert!(text.get(item.span.start..item.span.end).is_some(), "{item:?}");
            assert!(item.span.start >= at && item.span.end <= within.end, "{item:?} in {within:?}");
            assert!(item.span.encloses(item.name_span), "{item:?}");
            assert!(item.body.is_none_or(|body| item.span.encloses(body)), "{item:?}");
            assert!(!item.signature.contains('\n'), "{item:?}");
            check(text, &item.children, item.span);
            at = item.span.end;
        }
    }
    check(text, &outline.items, Span::new(0, text.len()));
    assert_eq!(outline.skeleton.lines().count(), outline.skeleton_lines.len(), "{}", outline.skeleton);
    let line_count = text.lines().count();
    assert!(outline.skeleton_lines.is_sorted() && outline.skeleton_lines.iter().all(|&line| line <= line_count));
}

/// The difference between a skeleton and its text. Contents that are left out on purpose are not compared: test
/// modules, bodies and the values of constants.
fn disagreement(text: &str, outline: &Outline) -> Option<String> {
    fn list(items: &[OutlineItem], out: &mut Vec<String>) {
        for item in items {
            let value = matches!(item.kind, SymbolKind::Const | SymbolKind::Static);
            let signature = if value { item.signature.split(" = ").next() } else { Some(item.signature.as_str()) };
            out.push(format!("{:?} {}::{} {signature:?}", item.kind, item.container.join("::"), item.name));
            let has_body = value || matches!(item.kind, SymbolKind::Function | SymbolKind::Method);
            if !has_body && (item.kind != SymbolKind::Module || !item.test) {
                list(&item.children, out);
            }
        }
    }
    check_spans(text, outline);
    let again = super::outline(&outline.skeleton);
    if let Some(error) = again.errors.first() {
        let around = outline.skeleton.get(error.span.start.saturating_sub(60)..).unwrap_or_default();
        return Some(format!("{error:?} at …{}", around.chars().take(120).collect::<String>()));
    }
    let (mut was, mut is) = (Vec::new(), Vec::new());
    list(&outline.items, &mut was);
    list(&again.items, &mut is);
    if let Some((was, is)) = was.iter().zip(&is).find(|(was, is)| was != is) {
        return Some(format!("{was} became {is}"));
    }
    (was.len() != is.len()).then(|| format!("{} items became {}", was.len(), is.len()))
}

/// Numbers below a limit.
fn chance(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed).unwrap() % limit.max(1)
    }
}

fn corpus() -> Vec<(PathBuf, String)> {
    fn add(directory: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                out.push((path, text));
            }
        }
    }
    let mut out = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/corpus/src"), &mut out);
    out.sort();
    out
}

#[test]
fn skeletons_of_real_code_parse_and_hold_every_signature() {
    for (path, text) in corpus() {
        for text in [text.replace('\n', "\r\n"), text] {
            let outline = outline(&text);
            assert_eq!(outline.errors, [], "{}", path.display());
            assert_eq!(disagreement(&text, &outline), None, "{}", path.display());
        }
    }
}

#[test]
fn broken_code_is_never_a_panic() {
    // Reproducible, and different for each file.
    let mut below = chance(0x9e37_79b9_7f4a_7c15);
    for (_, text) in corpus() {
        let mut cut = text.clone().into_bytes();
        cut.truncate(below(text.len()));
        let mut torn = text.into_bytes();
        for _ in 0..3 {
            let from = below(torn.len());
            let to = (from + 1 + below(8)).min(torn.len());
            torn.drain(from..to);
        }
        for bytes in [cut, torn] {
            let text = String::from_utf8_lossy(&bytes);
            check_spans(&text, &outline(&text));
        }
    }
}

/// `kind container::name: signature`, children indented; `+` is public, `t` is a test.
fn check(text: &str, expected: &str) {
    fn write(item: &OutlineItem, depth: usize, out: &mut String) {
        let flags = format!("{}{}", if item.public { "+" } else { "" }, if item.test { "t" } else { "" });
        let path: Vec<&str> = item.container.iter().map(String::as_str).chain([item.name.as_str()]).collect();
        let (indent, kind) = ("  ".repeat(depth), item.kind.name());
        out.push_str(&format!("{indent}{kind}{flags} {}: {}\n", path.join("::"), item.signature));
        item.children.iter().for_each(|child| write(child, depth + 1, out));
    }
    let outline = outline(text);
    let mut out = String::new();
    outline.items.iter().for_each(|item| write(item, 0, &mut out));
    assert_eq!(out.trim_end(), expected.trim(), "\n{out}");
    check_spans(text, &outline);
    if outline.errors.is_empty() {
        assert_eq!(disagreement(text, &outline), None);
    }
}

fn find<'a>(outline: &'a Outline, name: &str) -> &'a OutlineItem {
    let mut found = None;
    outline.walk(&mut |item| {
        if item.name == name {
            found = Some(item);
        }
    });
    found.unwrap()
}

#[test]
fn types_and_their_parts() {
    check(
        r#"
/// A point.
#[derive(Debug)]
pub struct Point<T> where T: Copy, {
    /// Across.
    pub x: T,
    pub(crate) y: [u8; 3], // trailing
}
struct Pair(
    pub u32, // first
    #[serde(skip)] (String,),
);
struct Unit;
pub union Bits { f: f32, i: u32 }
pub enum Shape {
    Empty,
    Tag = 7,
    Round(f64),
    Square {
        side: f64,
    },
}
pub type Alias<T> = Vec<T>;
"#,
        "
struct+ Point: pub struct Point<T> where T: Copy { … }
  field+ Point::x: pub x: T
  field Point::y: pub(crate) y: [u8; 3]
struct Pair: struct Pair(pub u32, (String,))
  field+ Pair::0: pub u32
  field Pair::1: (String,)
struct Unit: struct Unit
union+ Bits: pub union Bits { … }
  field Bits::f: f: f32
  field Bits::i: i: u32
enum+ Shape: pub enum Shape { … }
  variant+ Shape::Empty: Empty
  variant+ Shape::Tag: Tag = 7
  variant+ Shape::Round: Round(f64)
    field+ Shape::Round::0: f64
  variant+ Shape::Square: Square { side: f64 }
    field+ Shape::Square::side: side: f64
type+ Alias: pub type Alias<T> = Vec<T>
",
    );
}

#[test]
fn traits_and_impls() {
    check(
        r"
pub trait Sink: Send {
    type Error;
    const LIMIT: usize = 3;
    fn take(&self, byte: u8) -> Result<(), Self::Error>;
    fn new() -> Self where Self: Sized { todo!() }
}
pub struct File; struct Hidden;
impl<'a, T> File { pub fn open() {} fn close(self) {} pub const A: u8 = 1; }
impl<'a, T: Copy> io::Sink<T> for &'a mut File where T: Send { type Error = (); fn take(&self, byte: u8) {} }
impl Clone for Hidden { fn clone(&self) -> Self { Hidden } }
unsafe impl !Send for File {}
impl<T> From<T> for Box<dyn for<'a> Fn(&'a T) -> u8 + 'a> { fn from(t: T) -> Self { x } }
impl Sink for dyn for<'a> Fn(&'a T) -> u8 + 'static + Send {}
impl Sink for fmt::inner::Type<u8> {}
impl Sink for [u8] {}
impl<A, B> Sink for (A, Vec<B>) {}
",
        "
trait+ Sink: pub trait Sink: Send { … }
  type+ Sink::Error: type Error
  const+ Sink::LIMIT: const LIMIT: usize = 3
  method+ Sink::take: fn take(&self, byte: u8) -> Result<(), Self::Error>
  method+ Sink::new: fn new() -> Self where Self: Sized
struct+ File: pub struct File
struct Hidden: struct Hidden
impl+ File: impl<'a, T> File
  function+ File::open: pub fn open()
  method File::close: fn close(self)
  const+ File::A: pub const A: u8 = 1
impl+ Sink for &mut File: impl<'a, T: Copy> io::Sink<T> for &'a mut File where T: Send
  type+ <&mut File as Sink>::Error: type Error = ()
  method+ <&mut File as Sink>::take: fn take(&self, byte: u8)
impl Clone for Hidden: impl Clone for Hidden
  method <Hidden as Clone>::clone: fn clone(&self) -> Self
impl+ !Send for File: unsafe impl !Send for File
impl+ From for Box: impl<T> From<T> for Box<dyn for<'a> Fn(&'a T) -> u8 + 'a>
  function+ <Box as From>::from: fn from(t: T) -> Self
impl+ Sink for dyn Fn + Send: impl Sink for dyn for<'a> Fn(&'a T) -> u8 + 'static + Send
impl+ Sink for Type: impl Sink for fmt::inner::Type<u8>
impl+ Sink for [u8]: impl Sink for [u8]
impl+ Sink for (A, Vec): impl<A, B> Sink for (A, Vec<B>)
",
    );
}

#[test]
fn modules_functions_values_and_macros() {
    check(
        r#"
mod file;
pub mod inner {
    pub(crate) async fn wait<
        T,
    >(
        #[cfg(x)] first: T, // a comment
        (a, b): (u8, u8),
    ) -> T
    where
        T: Copy,
    {
        fn nested() {}
    }
    impl Thing { fn f() {} }
}
unsafe extern "C" { pub fn puts(s: *const u8) -> i32; static ERRNO: i32; type Opaque; }
pub const SHORT: &str = "a";
const LONG: &str = "0123456789012345678901234567890123456789012345678901234567890123456789";
static mut COUNT: u32 = { 0 };
const _: () = assert!(true);
#[macro_export]
macro_rules! shout { ($x:expr) => { $x }; }
macro_rules! whisper ( () => {} );
pub macro modern($x:expr) { $x }
#[tokio::test] async fn works() {}
#[cfg(all(test, unix))] mod tests { fn helper() {} #[test] fn one() {} }
#[cfg(not(test))] fn real() {}
"#,
        r#"
module file: mod file
module+ inner: pub mod inner
  function inner::wait: pub(crate) async fn wait<T>(first: T, (a, b): (u8, u8)) -> T where T: Copy
    function inner::wait::nested: fn nested()
  impl+ inner::Thing: impl Thing
    function inner::Thing::f: fn f()
function+ puts: pub fn puts(s: *const u8) -> i32
static ERRNO: static ERRNO: i32
type Opaque: type Opaque
const+ SHORT: pub const SHORT: &str = "a"
const LONG: const LONG: &str
static COUNT: static mut COUNT: u32 = { 0 }
const _: const _: () = assert!(true)
macro+ shout: macro_rules! shout
macro whisper: macro_rules! whisper
macro+ modern: pub macro modern($x:expr)
functiont works: async fn works()
modulet tests: mod tests
  functiont tests::helper: fn helper()
  functiont tests::one: fn one()
function real: fn real()
"#,
    );
}

#[test]
fn an_item_spans_its_docs_and_attributes_and_no_plain_comment() {
    let text = "// About nothing.\n\n// Why.\n/// Docs.\n// Between.\n#[inline]\npub fn f() -> u8 { 1 + 1 }\nstruct S { a: u8 }\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{}", text.replace('\n', "\r\n"))] {
        let outline = outline(&text);
        let at = |span: Span| &text[span.start..span.end];
        let f = find(&outline, "f");
        assert!(at(f.span).starts_with("/// Docs.") && at(f.span).ends_with("{ 1 + 1 }"), "{:?}", at(f.span));
        assert_eq!((at(f.name_span), f.body.map(at), f.docs.as_deref()), ("f", Some(" 1 + 1 "), Some("Docs.")));
        assert_eq!(find(&outline, "S").body.map(at), Some(" a: u8 "));
    }
}

#[test]
fn docs_are_what_their_author_meant() {
    let docs = |text: &str| outline(text).items.first().and_then(|item| item.docs.clone()).unwrap_or_default();
    assert_eq!(docs("/// One.\n///\n///     code\n/// two\nfn f() {}"), "One.\n\n    code\ntwo");
    assert_eq!(docs("///One.\n/// two\nfn f() {}"), "One.\n two");
    assert_eq!(docs("/// One.\r\n/// two\r\nfn f() {}"), "One.\ntwo");
    assert_eq!(docs("/** One. */ fn f() {}"), "One.");
    assert_eq!(docs("/**\n * One.\n *\n * * point\n */\nfn f() {}"), "One.\n\n* point");
    assert_eq!(docs("/** One.\n    two\n*/\nfn f() {}"), "One.\n   two");
    assert_eq!(docs("/// One.\n#[doc = \"tw\\u{6f}\"]\n#[doc(hidden)]\n// no\nfn f() {}"), "One.\ntwo");
    assert_eq!(docs("#[doc = r\" One.\"] fn f() {}"), "One.");
    assert_eq!(docs("/// Outer.\nmod m {\n    //! Inner.\n    fn f() {}\n}"), "Outer.\nInner.");
    assert_eq!(docs("//// No.\n/***/\nfn f() {}"), "");
    let outline = outline("#!/bin/sh\n//! File.\n//!\n//!  more\n#![no_std]\n\n/// Item.\nfn f() {}\n");
    assert_eq!(outline.docs.as_deref(), Some("File.\n\n more"));
}

#[test]
fn imports_are_the_leaves_of_their_trees() {
    let text = "use std::io;\nuse ::a::{self, b :: c as d, e::{*, self as f}, g::*};\nuse {h, i::j as _};\nuse *;\nuse r::{};\n\
                extern crate k as l;\nmod m { use super::n; fn f() { use no::t; } }\n";
    let outline = outline(text);
    let found: Vec<String> = outline
        .imports
        .iter()
        .map(|it| {
            let alias = it.alias.as_ref().map_or(String::new(), |alias| format!(" as {alias}"));
            format!("{}{alias} {} `{}`", it.path, it.line, &text[it.span.start..it.span.end])
        })
        .collect();
    let expected = "std::io 1 `std::io`|::a 2 `self`|::a::b::c as d 2 `b :: c as d`|::a::e::* 2 `*`|\
                    ::a::e as f 2 `self as f`|::a::g::* 2 `g::*`|h 3 `h`|i::j as _ 3 `i::j as _`|* 4 `*`|\
                    k as l 6 `k as l`|super::n 7 `super::n`";
    assert_eq!(found, expected.split('|').collect::<Vec<_>>());
}

#[test]
fn a_lost_brace_hides_nothing_behind_it() {
    check(
        "fn a() {\n    if x {\n}\n\n/// B.\npub fn b() {}\nimpl S { fn c(&self) { if y { } fn d(&self) {} }\nstruct Z;\n",
        "
function a: fn a()
function+ b: pub fn b()
impl+ S: impl S
  method S::c: fn c(&self)
  method S::d: fn d(&self)
struct Z: struct Z
",
    );
    let broken = outline("fn a() {\n    if x {\n}\n\n/// B.\npub fn b() { c(); }\n");
    assert!(!broken.errors.is_empty());
    assert_eq!(find(&broken, "a").body, None);
    assert_eq!(broken.skeleton, "fn a() { /* 1 line */ }\n\n/// B.\npub fn b() { c(); }\n");
}

#[test]
fn old_editions_are_read_too() {
    assert_eq!(outline("fn f(rng: R) -> u8 { rng.gen() }").errors, []);
    assert_eq!(outline("fn async(try: u8) { let dyn = 1; }").errors, []);
    assert_ne!(outline("fn f(").errors, []);
}

#[test]
fn nesting_without_end_does_not_end_the_process() {
    for (open, close) in [("mod a {", "}"), ("const A: u8 = (", ");"), ("m! {[)", "")] {
        let text = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        let outline = outline(&text);
        assert_eq!((outline.errors.len(), outline.skeleton == text), (1, true));
    }
    assert_eq!(outline(&format!("const A: u8 = {}1{};", "(".repeat(250), ")".repeat(250))).errors, []);
    assert_eq!(nesting::too_deep(&"// ( \n const A: char = '(';".repeat(1000)), None);
}

#[test]
fn files_of_tests_are_known_by_their_names() {
    for path in ["tests/it/main.rs", "crates/a/tests/x.rs", "src/tests.rs", "src/a_test.rs", "src/a_tests.rs"] {
        assert!(is_test_file_path(path), "{path}");
    }
    for path in ["src/lib.rs", "src/testing.rs", "src/contests/a.rs", "tests/data.txt", "benches/a.rs", "latest.rs"] {
        assert!(!is_test_file_path(path), "{path}");
    }
}
