//! Any path that a reply prints can be requested again.

use std::collections::BTreeMap;
use std::time::Instant;

use super::{Loaded, REAL, Std, fixture, fixture_of, query};
use crate::LANGUAGE;
use crate::resolve;
use crate::resolve::symbols;
use semdex_engine::Stop;
use semdex_model::{Symbol, SymbolQuery};

/// Requests every symbol of every file by its printed path. `Err`: the paths that did not lead back.
pub(super) fn round_trip(it: &Loaded) -> Result<usize, Vec<String>> {
    let found = it.asked(|view| {
        view.ask(|context| {
            let mut printed: Vec<Symbol> = Vec::new();
            for file in it.files.of(LANGUAGE) {
                for symbol in symbols::symbols_in(context, file).0 {
                    flatten(symbol, &mut printed);
                }
            }
            let mut failures = Vec::new();
            let mut seen: BTreeMap<&str, &Symbol> = BTreeMap::new();
            for symbol in &printed {
                if let Some(other) = seen.insert(&symbol.path, symbol) {
                    failures.push(format!("{} is {} and {}", symbol.path, place(other), place(symbol)));
                }
                match resolve::resolve(context, &query(&symbol.path)) {
                    Ok(back) if place(&back.symbol) == place(symbol) && back.symbol.path == symbol.path => {}
                    Ok(back) => {
                        failures.push(format!("{} of {} is {}", symbol.path, place(symbol), place(&back.symbol)))
                    }
                    Err(error) => failures.push(format!("{} of {}: {error}", symbol.path, place(symbol))),
                }
            }
            Ok(if failures.is_empty() { Ok(printed.len()) } else { Err(failures) })
        })
    });
    match found {
        Ok(found) => found,
        Err(Stop::Failed(error)) => Err(vec![error.to_string()]),
        Err(Stop::Stale) => panic!("no answer in time"),
    }
}

pub(super) fn flatten(mut symbol: Symbol, into: &mut Vec<Symbol>) {
    let children = std::mem::take(&mut symbol.children);
    into.push(symbol);
    children.into_iter().for_each(|it| flatten(it, into));
}

fn place(symbol: &Symbol) -> String {
    format!("{}:{}", symbol.name_at.file, symbol.name_at.start)
}

#[test]
fn every_symbol_of_a_real_workspace_makes_the_round_trip() {
    let it = REAL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let started = Instant::now();
    match round_trip(&it) {
        Ok(count) => {
            println!("{count} symbols asked again in {:.1?}", started.elapsed());
            assert!(count > 800, "a real workspace has more symbols than {count}");
        }
        Err(failures) => panic!("{} do not lead back:\n{}", failures.len(), failures.join("\n")),
    }
}

const MANIFEST: &str = "\
[package]
name = \"odd-names\"
version = \"0.1.0\"
edition = \"2024\"
build = \"build.rs\"

[[bin]]
name = \"odd_names\"
path = \"src/main.rs\"

[[test]]
name = \"odd_names\"
path = \"checks/main.rs\"
";

const LIB: &str = r#"
pub mod shapes;
#[path = "elsewhere.rs"]
pub mod moved;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "nt.rs"]
mod platform;
pub mod inline {
    pub mod deeper {
        pub fn reached() {}
    }
    #[cfg(feature = "none")]
    pub mod off {
        pub struct Hidden {
            pub field: u8,
        }
        impl Hidden {
            pub fn method(&self) {}
        }
    }
}
pub use inline::deeper::reached as renamed;
pub use shapes::Shape;

macro_rules! local {
    () => {};
}
local!();
macro_rules! local {
    ($name:ident) => {
        pub fn $name() {}
        pub struct Made {
            pub part: u8,
        }
    };
}
local!(made_by_macro);
#[macro_export]
macro_rules! shared {
    () => {};
}
pub mod shared {
    pub fn inside() {}
}
pub fn shared() {
    fn inside() {}
    inside();
}

#[cfg(unix)]
pub fn twin() -> u8 {
    1
}
#[cfg(windows)]
pub fn twin() -> u8 {
    2
}
#[cfg(any())]
pub fn twin() -> u8 {
    3
}

pub fn bodies(first: bool) {
    if first {
        fn helper() {}
        helper();
    } else {
        fn helper() {}
        struct Local {
            field: u8,
        }
        impl Local {
            fn method(&self) -> u8 {
                fn innermost() {}
                innermost();
                self.field
            }
        }
        impl Clone for Local {
            fn clone(&self) -> Self {
                Local { field: self.field }
            }
        }
        helper();
        Local { field: 1 }.clone().method();
    }
    impl shapes::Shape {
        pub fn added_in_a_body(&self) {}
    }
}
const _: () = {
    fn checked() {}
    checked()
};
const _: () = {
    fn checked() {}
    checked()
};
pub static LIMIT: usize = 3;
pub fn r#match() {}
unsafe extern "C" {
    pub fn foreign(x: u8);
    pub static FOREIGN: u8;
}
impl Missing for Shape {
    fn of_nothing_known() {}
}
impl AlsoMissing for Shape {
    fn of_nothing_known() {}
}
fn uses() -> (Made, u8) {
    made_by_macro();
    let made = Made { part: 1 };
    let part = made.part;
    (made, part)
}
"#;

const SHAPES: &str = r#"
#[derive(Clone, Debug)]
pub struct Shape {
    pub len: usize,
}
pub struct Pair(pub u8, #[allow(unused)] pub u16);
pub struct Of<T, const N: usize>([T; N]);
pub union Bits {
    pub int: u32,
    pub float: f32,
}
pub enum Kind {
    Plain,
    Tuple(u8, u16),
    Named { size: u8 },
    #[cfg(windows)]
    Off,
}
pub trait Draw {
    type Canvas;
    const SIDES: usize;
    fn draw(&self) -> Self::Canvas;
    fn twice(&self) {
        fn once() {}
        once();
    }
}
impl Shape {
    pub const EMPTY: Shape = Shape { len: 0 };
    pub fn len(&self) -> usize {
        self.len
    }
    #[cfg(windows)]
    pub fn len(&self) -> usize {
        0
    }
}
#[cfg(windows)]
impl Shape {
    pub fn len(&self) -> usize {
        1
    }
    pub fn only_there(&self) {}
}
impl Draw for Shape {
    type Canvas = u8;
    const SIDES: usize = 4;
    fn draw(&self) -> u8 {
        1
    }
}
#[cfg(windows)]
impl Draw for Shape {
    type Canvas = u16;
    const SIDES: usize = 4;
    fn draw(&self) -> u16 {
        1
    }
}
#[cfg(windows)]
impl Draw for Pair {
    type Canvas = u16;
    const SIDES: usize = 4;
    fn draw(&self) -> u16 {
        1
    }
}
impl From<u8> for Shape {
    fn from(len: u8) -> Shape {
        Shape { len: len.into() }
    }
}
impl From<u16> for Shape {
    fn from(len: u16) -> Shape {
        Shape { len: len.into() }
    }
}
impl From<Shape> for Pair {
    fn from(_: Shape) -> Pair {
        Pair(1, 2)
    }
}
impl<const N: usize> Of<u8, N> {
    pub fn first(&self) -> u8 {
        1
    }
}
impl<const N: usize> Of<u16, N> {
    pub fn first(&self) -> u8 {
        1
    }
}
impl Draw for Of<u8, 1> {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
impl Draw for Of<u16, 1> {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
impl Draw for Of<u16, 2> {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
impl Draw for &Pair {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
impl Draw for (u8, Pair) {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
impl Draw for [Pair] {
    type Canvas = u8;
    const SIDES: usize = 1;
    fn draw(&self) -> u8 {
        1
    }
}
pub trait Spoken {}
impl dyn Spoken {
    pub fn speak(&self) {}
}
pub trait Blanket {
    fn blanket(&self);
}
impl<T: Spoken> Blanket for T {
    fn blanket(&self) {}
}
mod nested;
"#;

fn odd() -> (tempfile::TempDir, Loaded) {
    let one = "pub fn run() {}\npub struct Shape;\n";
    fixture(&[
        ("Cargo.toml", MANIFEST),
        ("build.rs", "fn main() {}\nfn helper() {}\n"),
        ("src/lib.rs", LIB),
        ("src/shapes.rs", SHAPES),
        (
            "src/shapes/nested.rs",
            "pub struct Nest { pub egg: u8 }\nimpl Nest { pub fn egg(&self) -> u8 { self.egg } }\n",
        ),
        ("src/elsewhere.rs", one),
        (
            "src/windows.rs",
            "pub mod handles;\npub fn open() {}\npub struct Handle(u8);\nimpl Handle { fn close(self) {} }\n",
        ),
        ("src/windows/handles.rs", one),
        ("src/unix.rs", one),
        ("src/nt.rs", one),
        (
            "src/orphan.rs",
            "mod inner { pub fn alone() {} }\npub fn alone() {}\nimpl Alone { fn alone() {} }\nstruct Alone;\n",
        ),
        ("src/main.rs", "fn main() {}\nmod sub { pub fn run() {} }\n"),
        ("examples/odd_names.rs", "fn main() {}\nfn run() {}\n"),
        ("benches/odd_names.rs", "fn main() {}\nfn run() {}\n"),
        ("checks/main.rs", "#[test]\nfn run() {}\n"),
        ("tests/other.rs", "mod common;\n#[test]\nfn run() { common::help(); }\n"),
        ("tests/common/mod.rs", "pub fn help() {}\n"),
    ])
}

#[test]
fn every_odd_name_makes_the_round_trip() {
    let (_directory, it) = odd();
    match round_trip(&it) {
        Ok(count) => assert!(count > 150, "only {count} symbols"),
        Err(failures) => panic!("{} do not lead back:\n{}", failures.len(), failures.join("\n")),
    }
    // The printed paths, and other names for the same items.
    it.leads(&[
        ("inline::deeper::reached", "odd_names::inline::deeper::reached"),
        ("odd_names::renamed", "odd_names::inline::deeper::reached"),
        ("odd-names::Shape", "odd_names::shapes::Shape"),
        ("moved::run", "odd_names::moved::run"),
        ("Kind::Named::size", "odd_names::shapes::Kind::Named::size"),
        ("Tuple::1", "odd_names::shapes::Kind::Tuple::1"),
        ("Kind::Off", "odd_names::shapes::Kind::Off"),
        ("field@Shape::len", "field@odd_names::shapes::Shape::len"),
        ("Shape::len()", "method@odd_names::shapes::Shape::len"),
        ("mod@odd_names::shared", "mod@odd_names::shared"),
        ("shared!", "macro@odd_names::shared"),
        ("fn@shared", "fn@odd_names::shared"),
        ("odd_names::fn@shared::inside", "odd_names::fn@shared::inside"),
        ("odd_names::twin", "odd_names::twin"),
        ("odd_names::twin~3", "odd_names::twin~3"),
        ("bodies::helper~2", "odd_names::bodies::helper~2"),
        ("bodies::Local::method::innermost", "odd_names::bodies::Local::method::innermost"),
        ("<Local as Clone>::clone", "<odd_names::bodies::Local as core::clone::Clone>::clone"),
        ("Shape::clone", "<odd_names::shapes::Shape as core::clone::Clone>::clone"),
        ("Shape::added_in_a_body", "odd_names::shapes::Shape::added_in_a_body"),
        ("odd_names::made_by_macro", "odd_names::made_by_macro"),
        ("Made::part", "odd_names::Made::part"),
        ("<Shape as From<u8>>::from", "<odd_names::shapes::Shape as core::convert::From<u8>>::from"),
        ("<Pair as From>::from", "<odd_names::shapes::Pair as core::convert::From>::from"),
        ("odd_names::shapes::Of<u16>::first", "odd_names::shapes::Of<u16>::first"),
        ("<dyn odd_names::shapes::Spoken>::speak", "<dyn odd_names::shapes::Spoken>::speak"),
        ("windows::open", "odd_names::windows::open"),
        ("windows::handles::run", "odd_names::windows::handles::run"),
        ("odd_names::platform~2::run", "odd_names::platform~2::run"),
        ("inline::off::Hidden::method", "odd_names::inline::off::Hidden::method"),
        ("inner::alone", "src/orphan.rs::inner::alone"),
        ("bin@odd_names::sub::run", "bin@odd_names::sub::run"),
        ("example@odd_names::run", "example@odd_names::run"),
        ("bench@odd_names::run", "bench@odd_names::run"),
        ("test@odd_names::run", "test@odd_names::run"),
        ("other::common::help", "other::common::help"),
        ("build@odd_names::helper", "build@odd_names::helper"),
        ("odd_names::r#match", "odd_names::match"),
        ("impl@odd_names::shapes::nested::Nest", "impl@odd_names::shapes::nested::Nest"),
        ("<Shape as Draw>", "<odd_names::shapes::Shape as odd_names::shapes::Draw>"),
        ("Draw::twice::once", "odd_names::shapes::Draw::twice::once"),
    ]);
}

const SCOPES: &str = "\
use std::collections::HashMap;
use std::io::Result as IoResult;
mod near;
mod far;
use near::Helper as Aid;
pub fn table() -> IoResult<HashMap<u8, Aid>> {
    Ok(HashMap::new())
}
mod tests {
    use super::far::Helper;
    fn aid() -> Helper {
        Helper
    }
}
";

#[test]
fn a_name_is_what_the_file_sees() {
    let helper = "pub struct Helper;\nimpl Helper { pub fn help(&self) {} }\nfn hidden_helper() {}\n";
    let manifest = "[package]\nname = \"scopes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", SCOPES), ("src/near.rs", helper), ("src/far.rs", helper)];
    let (_directory, it) = fixture_of(&files, false, Std::Real);
    let mut failures = Vec::new();
    for (asked, file, path) in [
        ("HashMap::insert", "src/lib.rs", "std::collections::hash::map::HashMap::insert"),
        ("IoResult", "src/lib.rs", "std::io::error::Result"),
        ("Aid::help", "src/lib.rs", "scopes::near::Helper::help"),
        ("near::Helper", "src/lib.rs", "scopes::near::Helper"),
        ("Helper", "src/lib.rs", "scopes::far::Helper"),
        ("Helper", "src/near.rs", "scopes::near::Helper"),
        ("help", "src/far.rs", "scopes::far::Helper::help"),
        ("crate::far::Helper", "src/near.rs", "scopes::far::Helper"),
        ("super::table", "src/near.rs", "scopes::table"),
        ("self::Helper", "src/far.rs", "scopes::far::Helper"),
        ("scopes::far::Helper::help", "src/near.rs", "scopes::far::Helper::help"),
        ("Option::unwrap", "src/near.rs", "core::option::Option::unwrap"),
        ("vec!", "src/near.rs", "macro@alloc::vec"),
    ] {
        let found = it.meant_in(asked, Some(file));
        if found != path {
            failures.push(format!("{asked} in {file} is {found}, not {path}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));

    it.leads(&[
        ("table", "scopes::table"),
        ("std::collections::HashMap::insert", "std::collections::hash::map::HashMap::insert"),
        ("Option", "core::option::Option"),
        ("Vec::push", "alloc::vec::Vec::push"),
        ("u32", "u32"),
        ("str::to_uppercase", "str::to_uppercase"),
        ("u8::MAX", "u8::MAX"),
        ("slice::first", "<[T]>::first"),
        ("[T]::first", "<[T]>::first"),
        ("match", "std::match_keyword"),
        ("slice", "core::prim_slice"),
        ("std::prim_slice", "core::prim_slice"),
        ("println!", "std::println"),
        ("std::vec!", "macro@alloc::vec"),
        ("Iterator::map", "core::iter::traits::iterator::Iterator::map"),
        ("<String as From<char>>::from", "<alloc::string::String as core::convert::From<char>>::from"),
    ]);
    let asked_for = |asked: &str| it.meant(asked);
    // Both, and nothing else.
    let both = asked_for("Helper");
    assert!(both.starts_with("ambiguous_symbol"), "{both}");
    assert!(both.ends_with(r#"["scopes::far::Helper", "scopes::near::Helper"]"#), "{both}");
    for (asked, meant) in [
        ("scopes::near::Helpr", "scopes::near::Helper"),
        ("scopes::tabel", "scopes::table"),
        ("scopes::near::table", "scopes::table"),
        ("scopes::TABLE", "scopes::table"),
        ("scopes::hidden_helper", "scopes::"),
        ("std::collections::HashMp", "std::collections::hash::map::HashMap"),
        ("Helper::hlep", "scopes::"),
    ] {
        let miss = asked_for(asked);
        let first = miss.split("did you mean `").nth(1).unwrap_or_default();
        assert!(miss.starts_with("unknown_symbol") && first.starts_with(meant), "{asked}: {miss}");
        let (_, suggestions) = miss.split_once('[').unwrap();
        assert!(suggestions.split(']').next().unwrap().split(", ").count() <= 5, "{miss}");
    }
}

impl Loaded {
    /// The request leads to a path, and that path to itself.
    pub(super) fn leads(&self, expected: &[(&str, &str)]) {
        let wrong = |asked: &str, path: &str| {
            let found = self.meant(asked);
            (found != path).then(|| format!("{asked} is {found}, not {path}"))
        };
        let failures: Vec<String> =
            expected.iter().flat_map(|(asked, path)| [wrong(asked, path), wrong(path, path)]).flatten().collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    pub(super) fn meant(&self, symbol: &str) -> String {
        self.meant_in(symbol, None)
    }

    fn meant_in(&self, symbol: &str, file: Option<&str>) -> String {
        let asked = SymbolQuery { file: file.map(str::to_owned), ..query(symbol) };
        let found = self.asked(|view| view.ask(|context| Ok(resolve::resolve(context, &asked)?.symbol.path)));
        match found {
            Ok(path) => path,
            Err(Stop::Failed(error)) => {
                let help = error.help.as_ref();
                let candidates: Vec<&str> = help.symbols.iter().map(|it| it.path.as_str()).collect();
                format!("{error} {:?} {candidates:?}", help.suggestions)
            }
            Err(Stop::Stale) => panic!("no answer in time"),
        }
    }
}

#[test]
fn what_is_switched_off_may_be_nested_in_turns() {
    let lib = "\
#[cfg(windows)]
mod a {
    fn b() {
        fn a() {}
        mod b {
            fn a() {
                fn b() {}
            }
        }
    }
}
#[cfg(windows)]
fn b() {
    fn a() {
        fn b() {
            fn a() {}
        }
    }
}
#[cfg(windows)]
mod a {
    mod b {
        fn b() {
            fn a() {}
        }
    }
}
";
    let (_directory, it) = fixture(&[("Cargo.toml", super::MANIFEST), ("src/lib.rs", lib)]);
    let symbols = it.asked(|view| view.symbols("src/lib.rs")).unwrap().value;
    let mut flat = Vec::new();
    symbols.into_iter().for_each(|it| flatten(it, &mut flat));
    assert!(flat.len() >= 3, "{flat:?}");
}
