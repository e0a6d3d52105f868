//! The forms of paths: all forms of types, names that macros share, crates with one name, and texts that are not paths.

use std::collections::BTreeSet;

use ra_ap_hir::{Crate, Impl};
use ra_ap_ide_db::defs::Definition;

use super::round_trips::round_trip;
use super::{REAL, Std, fixture, load, query};
use crate::names::definitions::{assoc_definition, module_definition};
use crate::resolve;
use crate::resolve::paths::members;
use crate::resolve::symbols;
use crate::view::Context;

const FORMS: &str = r#"
use std::fmt::Debug;
use std::path::{Path, PathBuf};
pub struct Pair(pub u8, pub u16);
pub struct Of<T>(pub T);
pub struct Lent<'a>(pub &'a str);
pub type Shown = Of<u8>;
pub mod deep {
    pub struct Pair;
}
pub trait Spoken {
    fn speak(&self) {}
}
pub trait Marked<X> {
    const SIDES: usize = 1;
    type Canvas;
    fn mark(&self) {}
}
macro_rules! marked {
    ($($ty:ty),* $(,)?) => {};
}
marked!(u8);
pub trait Draw {
    fn draw(&self) {}
}
impl Draw for &Path { fn draw(&self) {} }
impl Draw for Path { fn draw(&self) {} }
impl Spoken for Pair {}
impl Draw for PathBuf { fn draw(&self) {} }
impl Draw for &mut Path { fn draw(&self) {} }
impl Draw for &&Path { fn draw(&self) {} }
impl Draw for [Pair] { fn draw(&self) {} }
impl Draw for &[Pair] { fn draw(&self) {} }
impl Draw for &mut [Pair] { fn draw(&self) {} }
impl Draw for [u8; 4] { fn draw(&self) {} }
impl Draw for [Pair; 2] { fn draw(&self) {} }
impl Draw for [deep::Pair; 2] { fn draw(&self) {} }
impl<const N: usize> Draw for [u16; N] { fn draw(&self) {} }
impl Draw for () { fn draw(&self) {} }
impl Draw for (Pair,) { fn draw(&self) {} }
impl Draw for (Pair, PathBuf) { fn draw(&self) {} }
impl<A, B, C> Draw for (A, B, C) { fn draw(&self) {} }
impl<T> Draw for *const T { fn draw(&self) {} }
impl Draw for *mut Pair { fn draw(&self) {} }
impl Draw for dyn Spoken { fn draw(&self) {} }
impl Draw for dyn Spoken + Send { fn draw(&self) {} }
impl<'a> Draw for dyn Marked<u8, Canvas = u8> + 'a { fn draw(&self) {} }
impl Draw for Box<dyn Spoken> { fn draw(&self) {} }
impl<T: ?Sized + Spoken> Draw for &'static mut Box<T> { fn draw(&self) {} }
impl Draw for fn(u8) -> Pair { fn draw(&self) {} }
impl Draw for fn(Pair) { fn draw(&self) {} }
impl Draw for for<'a> fn(&'a Pair) -> &'a u8 { fn draw(&self) {} }
impl Draw for unsafe extern "C" fn(u8) { fn draw(&self) {} }
impl Draw for str { fn draw(&self) {} }
impl Draw for char { fn draw(&self) {} }
impl Draw for bool { fn draw(&self) {} }
impl Draw for Lent<'_> { fn draw(&self) {} }
impl Draw for Option<Pair> { fn draw(&self) {} }
impl Draw for Option<Option<u8>> { fn draw(&self) {} }
impl Draw for <Vec<u8> as IntoIterator>::IntoIter { fn draw(&self) {} }
impl Draw for Shown { fn draw(&self) {} }
impl<T: Debug> Draw for Of<Vec<T>> { fn draw(&self) {} }
impl<T: Spoken> Marked<u8> for T {
    const SIDES: usize = 2;
    type Canvas = u8;
    fn mark(&self) {}
}
impl<T: Debug> Marked<u16> for &T {
    type Canvas = u8;
    fn mark(&self) {}
}
impl Marked<(u8, Pair)> for Pair {
    type Canvas = u8;
    fn mark(&self) {}
}
impl Marked<&'static [Pair]> for Pair {
    type Canvas = u8;
    fn mark(&self) {}
}
impl Marked<fn(Pair) -> u8> for Pair {
    type Canvas = u8;
    fn mark(&self) {}
}
impl dyn Spoken { pub fn aloud(&self) {} }
impl Of<&'static [u8]> { pub fn only(&self) {} }
impl Of<fn(u8) -> u8> { pub fn only(&self) {} }
impl Shown { pub fn shown(&self) {} }
"#;

#[test]
fn implementations_for_types_of_every_form_make_the_round_trip() {
    let (_directory, it) = fixture(&[("Cargo.toml", super::MANIFEST), ("src/lib.rs", FORMS)]);
    match round_trip(&it) {
        Ok(count) => assert!(count > 110, "only {count} symbols"),
        Err(failures) => panic!("{} do not lead back:\n{}", failures.len(), failures.join("\n")),
    }
    let block = |ty: &str| format!("<{ty} as fix_ture::Draw>::draw");
    let expected: Vec<(String, String)> = [
        ("&Path", "&std::path::Path"),
        ("&std::path::Path", "&std::path::Path"),
        ("&'a Path", "&std::path::Path"),
        ("Path", "std::path::Path"),
        ("&mut Path", "&mut std::path::Path"),
        ("&&Path", "&&std::path::Path"),
        ("[Pair]", "[fix_ture::Pair]"),
        ("&mut [Pair]", "&mut [fix_ture::Pair]"),
        ("[u8;4]", "[u8; 4]"),
        ("[u16; N]", "[u16; N]"),
        ("()", "()"),
        ("(Pair,PathBuf)", "(fix_ture::Pair, std::path::PathBuf)"),
        ("(A, B, C)", "(A, B, C)"),
        ("*const T", "*const T"),
        ("*mut Pair", "*mut fix_ture::Pair"),
        ("fn(Pair)", "fn(Pair)"),
        ("str", "str"),
        ("Lent<'_>", "fix_ture::Lent"),
    ]
    .iter()
    .map(|(asked, full)| (format!("<{asked} as Draw>::draw"), block(full)))
    .collect();
    let mut failures = Vec::new();
    for (asked, full) in &expected {
        let found = it.meant(asked);
        if found != *full {
            failures.push(format!("{asked} is {found}, not {full}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    it.leads(&[
        ("<dyn Spoken>::aloud", "<dyn fix_ture::Spoken>::aloud"),
        ("Of::shown", "fix_ture::Of::shown"),
        ("Shown::shown", "fix_ture::Of::shown"),
        ("crate::deep::Pair", "fix_ture::deep::Pair"),
        ("::fix_ture::deep::Pair", "fix_ture::deep::Pair"),
        ("Pair::0", "fix_ture::Pair::0"),
        ("Pair::speak", "fix_ture::Spoken::speak"),
        ("<Vec<u8> as From<&str>>::from", "<alloc::vec::Vec as core::convert::From<&str>>::from"),
        (
            "<std::string::String as std::convert::From<std::boxed::Box<str>>>::from",
            "<alloc::string::String as core::convert::From<alloc::boxed::Box<str, alloc::alloc::Global>>>::from",
        ),
        ("<*const T>::is_null", "<*const T>::is_null"),
        ("<[T]>::len", "<[T]>::len"),
        ("<dyn core::any::Any>::is", "<dyn core::any::Any>::is"),
    ]);
}

const SHARED: &str = "
pub mod vec {
    pub fn inside() {}
}
#[macro_export]
macro_rules! vec { () => {}; }
pub trait Named {}
macro_rules! Named { () => {}; }
pub struct both;
pub fn both_of() {}
#[macro_export]
macro_rules! both_of { () => {}; }
";

#[test]
fn a_type_trait_or_module_comes_before_a_macro_of_its_name() {
    let (_directory, it) = fixture(&[("Cargo.toml", super::MANIFEST), ("src/lib.rs", SHARED)]);
    let resolved = |asked: &str| it.asked(|view| view.resolve(&query(asked))).map(|it| (it.path, it.also));
    for (asked, path, also) in [
        ("std::clone::Clone", "core::clone::Clone", "macro@core::clone::Clone"),
        ("core::clone::Clone", "core::clone::Clone", "macro@core::clone::Clone"),
        ("std::fmt::Debug", "core::fmt::Debug", "macro@core::fmt::macros::Debug"),
        ("std::hash::Hash", "core::hash::Hash", "macro@core::hash::macros::Hash"),
        ("std::vec", "alloc::vec", "macro@alloc::vec"),
        ("fix_ture::vec", "fix_ture::vec", "macro@fix_ture::vec"),
        ("fix_ture::Named", "fix_ture::Named", "macro@fix_ture::Named"),
        ("trait@std::clone::Clone", "core::clone::Clone", "macro@core::clone::Clone"),
    ] {
        let (found, macros) = resolved(asked).unwrap_or_else(|error| panic!("{asked}: {error:?}"));
        let found_macros: Vec<String> = macros.iter().map(|it| it.trim_start_matches("macro@").to_owned()).collect();
        assert_eq!(
            (found.as_str(), found_macros.as_slice()),
            (path, &[also.trim_start_matches("macro@").to_owned()][..])
        );
    }
    it.leads(&[
        ("macro@std::clone::Clone", "macro@core::clone::Clone"),
        ("derive@std::clone::Clone", "macro@core::clone::Clone"),
        ("fix_ture::vec!", "macro@fix_ture::vec"),
        ("fix_ture::vec::inside", "fix_ture::vec::inside"),
        ("fix_ture::both", "fix_ture::both"),
        ("fn@both_of", "fn@fix_ture::both_of"),
    ]);
    // Neither takes precedence.
    let both = it.meant("fix_ture::both_of");
    assert!(both.starts_with("ambiguous_symbol"), "{both}");
}

#[test]
fn a_crate_is_what_the_members_of_the_workspace_call_so() {
    let directory = tempfile::tempdir().unwrap();
    let package = |name: &str, version: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{rest}")
    };
    let dependencies = "[dependencies]\ndice = \"1\"\ntable = \"1\"\ncards = { package = \"deck\", version = \"1\" }\n";
    let config = "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"../vendor\"\n";
    let checksum = "{\"files\":{},\"package\":null}";
    for (name, text) in [
        ("ws/.cargo/config.toml", config),
        ("ws/Cargo.toml", &package("app", "0.1.0", dependencies)),
        ("ws/src/lib.rs", "pub fn own() {}\n"),
        ("ws/tests/table.rs", "#[test]\nfn it_plays() {}\n"),
        ("vendor/dice-1/Cargo.toml", &package("dice", "1.0.0", "")),
        ("vendor/dice-1/src/lib.rs", "pub fn roll() {}\npub fn one() {}\n"),
        ("vendor/dice-1/.cargo-checksum.json", checksum),
        ("vendor/dice-2/Cargo.toml", &package("dice", "2.0.0", "")),
        ("vendor/dice-2/src/lib.rs", "pub fn roll() {}\npub fn two_of_them() {}\n"),
        ("vendor/dice-2/.cargo-checksum.json", checksum),
        ("vendor/table/Cargo.toml", &package("table", "1.0.0", "[dependencies]\ndice = \"2\"\ncards = \"1\"\n")),
        ("vendor/table/src/lib.rs", "pub fn play() {}\n"),
        ("vendor/table/.cargo-checksum.json", checksum),
        ("vendor/deck/Cargo.toml", &package("deck", "1.0.0", "")),
        ("vendor/deck/src/lib.rs", "pub struct Card;\n"),
        ("vendor/deck/.cargo-checksum.json", checksum),
        ("vendor/cards/Cargo.toml", &package("cards", "1.0.0", "")),
        ("vendor/cards/src/lib.rs", "pub struct Card;\npub struct Joker;\n"),
        ("vendor/cards/.cargo-checksum.json", checksum),
    ] {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let it = load(&directory.path().canonicalize().unwrap().join("ws"), true, Std::Small);
    it.leads(&[
        ("dice::roll", "dice::roll"),
        ("dice::one", "dice::one"),
        ("dice@2.0.0::two_of_them", "dice@2.0.0::two_of_them"),
        ("cards::Card", "deck::Card"),
        ("deck::Card", "deck::Card"),
        ("cards@1.0.0::Joker", "cards@1.0.0::Joker"),
        ("table::play", "table::play"),
        ("test@table::it_plays", "test@table::it_plays"),
        ("app::own", "app::own"),
    ]);
    let far = it.meant("dice::two_of_them");
    assert!(far.starts_with("unknown_symbol") && far.contains("`dice@2.0.0::two_of_them`"), "{far}");
    let misspelt = it.meant("dise::roll");
    assert!(misspelt.contains("did you mean `dice::roll`"), "{misspelt}");
}

#[test]
fn what_is_no_path_is_refused() {
    let it = REAL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let many = "a::".repeat(100) + "b";
    let deep = "<".repeat(40) + "T" + &">".repeat(40);
    for nonsense in [
        "", " ", "<", "<<<<", "::", "a::::b", "a::", "fn@", "<>", "<>::f", "a<b", "a>b", "(", "[T", "()", "!", &many,
        &deep,
    ] {
        let found = it.meant(nonsense);
        assert!(found.starts_with("invalid_request"), "{nonsense:?} is {found}");
    }
    for unknown in
        ["a:b", "%", "-", "ä", "🦀", "fn", "x y", "<T>", "<A as B>", "~", "a~9", "@", "é@x", "a.b", "#", "'a", "{}"]
    {
        let found = it.meant(unknown);
        assert!(found.starts_with("unknown_symbol") || unknown == "fn", "{unknown:?} is {found}");
    }
    let package = it.asked(|view| view.package("text::matchign"));
    assert!(format!("{package:?}").contains("text::matching"), "{package:?}");
    let package = it.asked(|view| view.package("<<<"));
    assert!(format!("{package:?}").contains("InvalidRequest"), "{package:?}");
}

/// Every printed path of the standard library; a part of them is requested again.
#[test]
fn what_is_outside_of_the_workspace_makes_the_round_trip() {
    let it = REAL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let found = it.asked(|view| {
        view.ask(|context| {
            let all = outside(context);
            let step = (all.len() / 1500).max(1);
            let mut failures = Vec::new();
            let mut asked = 0;
            for definition in all.into_iter().step_by(step) {
                let Some(symbol) = symbols::symbol_of(context, definition) else { continue };
                asked += 1;
                match resolve::resolve(context, &query(&symbol.path)) {
                    Ok(back) if back.symbol.path == symbol.path && back.symbol.name_at == symbol.name_at => {}
                    Ok(back) => failures.push(format!("{} is {}", symbol.path, back.symbol.path)),
                    Err(error) => failures.push(format!("{}: {error}", symbol.path)),
                }
            }
            Ok((asked, failures))
        })
    });
    let (asked, failures) = found.unwrap();
    assert!(asked > 500, "only {asked}");
    assert!(failures.is_empty(), "{} of {asked} do not lead back:\n{}", failures.len(), failures.join("\n"));
}

fn outside<'db>(context: &Context<'db>) -> Vec<Definition<'db>> {
    let db = context.db;
    let mut found = Vec::new();
    for krate in Crate::all(db).into_iter().filter(|it| !it.origin(db).is_local()) {
        for module in krate.modules(db) {
            for definition in module.declarations(db).into_iter().map(module_definition) {
                found.push(definition);
                found.extend(members::members_of(context, definition).all().map(|it| it.1));
            }
        }
        let items = Impl::all_in_crate(db, krate).into_iter().flat_map(|it| it.items(db)).map(assoc_definition);
        found.extend(items);
    }
    found
}

const SAME: &str = "
pub fn weight() {}
pub struct Stone { pub weight: u8 }
impl Stone { pub fn weight(&self) -> u8 { self.weight } }
pub trait Heavy { fn weight(&self); const weight_of: u8 = 1; }
impl Heavy for Stone { fn weight(&self) {} }
pub enum Load { weight, Named { weight: u8 } }
pub mod weight { pub fn weightless() {} }
pub fn around() { fn weight() {} weight() }
#[cfg(windows)]
pub fn weight() -> u8 { 1 }
macro_rules! made { ($name:ident) => { pub struct Made { pub $name: u8 } impl Made { pub fn $name(&self) {} } }; }
made!(weight);
#[cfg(test)]
mod tests { fn weight() {} }
pub fn r#type() {}
";

#[test]
fn a_search_for_a_name_finds_all_that_have_it() {
    let (_directory, it) = fixture(&[("Cargo.toml", super::MANIFEST), ("src/lib.rs", SAME)]);
    let search = |query: &str| -> Vec<String> {
        let found = it.asked(|view| view.search(query, 5)).unwrap();
        found.value.into_iter().map(|it| it.0.path.trim_start_matches("fix_ture::").to_owned()).collect()
    };
    let found = search("weight");
    let exact: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let expected = [
        "fn@fix_ture::weight",
        "field@fix_ture::Stone::weight",
        "method@fix_ture::Stone::weight",
        "Heavy::weight",
        "<fix_ture::Stone as fix_ture::Heavy>::weight",
        "Load::weight",
        "Load::Named::weight",
        "mod@fix_ture::weight",
        "around::weight",
        "weight~3",
        "field@fix_ture::Made::weight",
        "method@fix_ture::Made::weight",
        "tests::weight",
    ];
    for path in expected {
        assert!(exact.contains(path), "{path} is not in {found:#?}");
    }
    assert!(found.iter().all(|it| it.ends_with("weight") || it.ends_with("weight~3")), "{found:#?}");
    assert_eq!(search("Load::weight"), ["Load::weight", "Load::Named::weight"]);
    assert_eq!(search("field@Stone::weight"), ["field@fix_ture::Stone::weight"]);
    assert_eq!(search("r#type")[0], "type");
    assert!(search("weightl").contains(&"weight::weightless".to_owned()));
}

const SHOWN: &str = "\
/// A point.
pub struct Point { /** Across. */ pub x: u8 }
/// Adds *one*.
pub fn add(point: &Point) -> u16 {
    let sum = u16::from(point.x) + 1;
    match sum { 0 => sum, _ => add(&Point { x: 1 }) }
}
";

#[test]
fn hover_and_type_of_what_stands_at_a_place() {
    let (_directory, it) = fixture(&[("Cargo.toml", super::MANIFEST), ("src/lib.rs", SHOWN)]);
    let at = |needle: &str, skip: usize| {
        let offset = SHOWN.find(needle).unwrap() + skip;
        it.asked(|view| view.symbol_at("src/lib.rs", offset)).unwrap().value
    };
    for (needle, skip, hover, ty) in [
        ("add(point", 0, "Adds *one*.", ""),
        ("add(&Point", 0, "pub fn add(point: &Point) -> u16", "fn add(&Point) -> u16"),
        ("sum = ", 0, "let sum: u16", "u16"),
        ("sum { 0", 0, "let sum: u16", "u16"),
        ("point.x", 0, "point: &Point", "&Point"),
        ("point.x", 6, "Across.", "u8"),
        ("x: 1", 0, "Across.", "u8"),
        ("Point { x: 1", 0, "A point.", ""),
        ("Point) ->", 0, "A point.", "Point"),
        ("match", 0, "Control flow based on pattern matching.", "u16"),
        ("let", 0, "let", ""),
        ("fn add", 0, "fn", ""),
        ("u16::from", 0, "u16", ""),
        ("+ 1", 0, "", "u16"),
        ("1;", 0, "u16", "u16"),
    ] {
        let shown = at(needle, skip);
        assert!(shown.hover.as_deref().unwrap_or_default().contains(hover), "{needle}+{skip}: {:?}", shown.hover);
        assert!(!shown.hover.unwrap_or_else(|| hover.to_owned()).is_empty() || hover.is_empty());
        if !ty.is_empty() {
            assert_eq!(shown.ty.as_deref(), Some(ty), "{needle}+{skip}");
        }
    }
    assert_eq!(at("fn add", 0).ty, None);
}
