//! A changed declaration affects what names it, and nothing that stays known is wrong afterwards.

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;

use super::*;
use crate::LANGUAGE;
use crate::checks::errors;
use crate::finding::file_errors::FileErrors;
use crate::index::file_names::{Names, StoredResolution, names_of};
use crate::names::Key;
use crate::resolve::symbols;
use crate::view::Context;
use semdex_model::Diagnostic;

/// What is known about a file and wrong.
fn faults(context: &Context<'_>, file: &Arc<File>, id: FileId) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(known) = context.index.names(id) {
        let entry = |it: (usize, StoredResolution, Role)| (it.0, format!("{:?} {:?}", it.1, it.2));
        let all = |names: &Names| names.within(0, usize::MAX).map(entry).collect::<BTreeSet<_>>();
        let (known_names, anew) = (all(&known), all(&names_of(context.db, context.db.file_text(id))));
        let differing = known_names.symmetric_difference(&anew).filter(|it| known.is_known_at(it.0));
        faults.extend(differing.map(|it| format!("{} {it:?}", file.path)));
    }
    if let Some(known) = context.index.errors(id) {
        let sorted = |errors: &FileErrors| {
            let bodies = errors.bodies.values().flatten().cloned().map(Diagnostic::from);
            bodies.chain(errors.imports.found.iter().cloned()).collect::<BTreeSet<_>>()
        };
        let (known, anew) = (sorted(&known), sorted(&errors::errors_of_file(context, file)));
        if known != anew {
            faults.push(format!("errors of {}: {known:?}, but {anew:?}", file.path));
        }
    }
    if let Some(known) = context.index.symbols(id) {
        let (symbols, definitions) = symbols::symbols_in(context, file);
        let keys: Vec<Key> = definitions.into_iter().filter_map(|it| Key::of(it.1)).collect();
        if known.symbols != symbols || known.definitions != keys {
            faults.push(format!("symbols of {}", file.path));
        }
    }
    faults
}

/// What the index knows and is wrong.
pub(super) fn all_faults(it: &Loaded) -> Vec<String> {
    let found = it.asked(|view| {
        view.ask(|context| {
            let files = context.files.of(LANGUAGE);
            Ok(files.filter_map(|it| Some(faults(context, it, context.file_id(&it.path)?))).flatten().collect())
        })
    });
    found.unwrap()
}

/// The wrong entries for one file.
pub(super) fn faults_of(it: &Loaded, file: &str) -> Vec<String> {
    let found = |it: &Context<'_>| Ok(faults(it, it.files.get(file).unwrap(), it.file_id(file).unwrap()));
    it.asked(|view| view.ask(found)).unwrap()
}

/// The modules among these whose names are all known.
fn known(it: &Loaded, modules: &[&str]) -> String {
    let is_known = |module: &&&str| it.rust.knows_names_of(&format!("src/{module}.rs"));
    modules.iter().filter(is_known).copied().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_signature_touches_what_names_it() {
    let lib = "pub mod base;\npub mod user;\npub mod alias;\npub mod constant;\npub mod caller;\npub mod other;\n\
               #[macro_use]\npub mod makers;\npub mod made;\npub mod opaque;\npub mod linked;\n";
    let base = "pub struct Thing;\npub trait Size { fn size(&self) -> u8 { 1 } }\nimpl Size for [u8; 2] {}\n\
                impl Thing {\n    pub fn size(&self) -> u8 { 1 }\n    pub fn new() -> Thing { Thing }\n}\n\
                pub const fn width() -> usize { 2 }\npub fn free(a: u8) -> u8 { a }\n";
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        ("src/base.rs", base),
        ("src/user.rs", "use crate::base::Thing;\npub fn f() -> u8 { Thing::new().size() }\npub fn g() { f(); }\n"),
        (
            "src/alias.rs",
            "use crate::base::free as liberated;\npub fn f() { let it = liberated(1); it.count_ones(); }\n",
        ),
        (
            "src/constant.rs",
            "use crate::base::*;\npub const WIDE: usize = width();\npub fn row() -> [u8; WIDE] { [0; WIDE] }\n",
        ),
        ("src/caller.rs", "use crate::base::Size;\npub fn f() -> u8 { let it = crate::constant::row(); it.size() }\n"),
        (
            "src/other.rs",
            "pub struct Other;\nimpl Other { pub fn new() -> Other { Other }\n pub fn size(&self) {} }\npub fn f() { Other::new().size(); }\n",
        ),
        ("src/makers.rs", "macro_rules! made { ($it:expr) => { $crate::base::free($it) } }\n"),
        ("src/made.rs", "pub fn f() { let it = made!(3); it.count_ones(); }\n"),
        ("src/opaque.rs", "pub fn f() -> impl Copy { crate::base::free(1) }\npub fn g() { let _ = f(); }\n"),
        ("src/linked.rs", "//! See [`free`](crate::base::free).\npub fn f() {}\n"),
    ]);
    it.fill();
    let modules = ["alias", "base", "caller", "constant", "linked", "made", "makers", "opaque", "other", "user"];
    for (from, to, left) in [
        // A place with another meaning stays known, though it has the same name.
        (
            "pub fn size(&self) -> u8 { 1 }",
            "pub fn size(&self) -> u16 { 1 }",
            "alias caller constant linked made makers opaque other",
        ),
        // A call without arguments keeps its meaning.
        (
            "pub fn size(&self) -> u16 { 1 }",
            "pub fn size(&self, by: u8) -> u16 { by.into() }",
            "alias caller constant linked made makers opaque other user",
        ),
        // Its visibility has changed, so each place of the name is uncertain.
        (
            "    pub fn new() -> Thing { Thing }",
            "    fn new() -> Thing { Thing }",
            "alias caller constant linked made makers opaque",
        ),
        (
            "pub fn free(a: u8) -> u8 { a }",
            "pub fn free(a: u8) -> u16 { a.into() }",
            "caller constant makers other user",
        ),
        // It is evaluated, and thus part of a type, and thus of a function's type.
        (
            "pub const fn width() -> usize { 2 }",
            "pub const fn width() -> usize { 3 }",
            "alias linked made makers opaque other user",
        ),
        // A trait may be used without being named.
        ("fn size(&self) -> u8 { 1 } }\nimpl", "fn size(&self) -> u16 { 1 } }\nimpl", ""),
        ("pub struct Thing;", "pub struct Thing(u8);", ""),
    ] {
        apply(&mut it, "src/base.rs", from, to);
        assert_eq!(known(&it, &modules), left, "{to}");
        assert_eq!(all_faults(&it), [] as [String; 0], "{to}");
        it.fill();
        assert_eq!(all_faults(&it), [] as [String; 0], "all known after {to}");
    }
}

/// A module, and another one that uses all of it.
fn base_and_user(base: &str, user: &str) -> (tempfile::TempDir, Loaded) {
    let modules = "pub mod base;\npub mod user;\n";
    fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", modules), ("src/base.rs", base), ("src/user.rs", user)])
}

#[test]
fn parameters_touch_arguments_and_what_these_may_tell() {
    let base = "#[derive(Default)]\npub struct A;\nimpl A { pub fn m(&self) {} }\n\
                #[derive(Default)]\npub struct B;\nimpl B { pub fn m(&self) {} }\n\
                pub fn takes(a: A) -> u8 { 0 }\npub fn runs(a: fn(A)) {}\npub fn generic<T>(a: A, b: T) -> Option<T> { None }\n";
    let user = "use crate::base::*;\nmacro_rules! calls { ($it:ident) => { takes($it) } }\n\
                macro_rules! sets { ($it:ident) => { let $it = Default::default(); } }\n\
                pub fn typed(it: A) { takes(it); it.m(); }\n\
                pub fn open() { let it = Default::default(); takes(it); it.m(); }\n\
                pub fn written() { let it: A = Default::default(); takes(it); it.m(); }\n\
                pub fn part((it, _): (A, u8)) { takes(it); it.m(); }\n\
                pub fn shadowed(it: A) { let it = Default::default(); takes(it); it.m(); }\n\
                pub fn set(it: A) { sets!(it); takes(it); it.m(); }\n\
                pub fn handed() { let it = Default::default(); Some(it).map(takes); it.m(); }\n\
                pub fn made() { let it = Default::default(); calls!(it); it.m(); }\n\
                pub fn beside() { takes(A); takes(Default::default()); A.m(); }\n\
                pub fn within() { runs(|it| it.m()); }\n\
                pub fn told(b: B) { let it = generic(Default::default(), b); it.unwrap().m(); }\n";
    let (_directory, mut it) = base_and_user(base, user);
    it.fill();
    for (from, to, touched) in [
        ("takes(a: A)", "takes(a: B)", "open shadowed set handed made"),
        ("takes(a: B)", "takes(extra: u8, a: A)", "open shadowed set handed made"),
        ("runs(a: fn(A))", "runs(a: fn(B))", "within"),
        ("generic<T>(a: A, b: T)", "generic<T>(b: T, a: A)", "told"),
    ] {
        apply(&mut it, "src/base.rs", from, to);
        let known = it.asked(|view| view.ask(|it| Ok(it.index.names(it.file_id("src/user.rs").unwrap()))));
        let known = known.unwrap().unwrap();
        let functions = user.match_indices("pub fn ").map(|it| &user[it.0 + 7..]);
        let is_unknown = |it: &&str| !known.is_known_at(user.len() - it.len() + it.find(".m()").unwrap() + 1);
        let names = functions.filter(is_unknown).map(|it| it.split('(').next().unwrap());
        assert_eq!(names.collect::<Vec<_>>().join(" "), touched, "{to}");
        assert_eq!(all_faults(&it), [] as [String; 0], "{to}");
        it.fill();
        assert_eq!(all_faults(&it), [] as [String; 0], "all known after {to}");
    }
}

#[test]
fn parameters_touch_what_their_names_and_types_tell() {
    let base = "pub struct A;\nimpl A { pub fn plain(&self) -> u8 { 1 } }\npub trait Makes<T> { fn make(&self) -> T; }\n\
                impl Makes<u8> for A { fn make(&self) -> u8 { 1 } }\nimpl Makes<u16> for A { fn make(&self) -> u16 { 1 } }\n\
                pub fn takes(a: u8, b: u8) -> u8 { a.count_ones(); A.plain() }\n";
    let user = "use crate::base::*;\n\
                pub fn plain(it: A) { takes(it.plain(), [A.plain(); 2][0]); }\n\
                pub fn made(it: A) { takes(A::make(&it), it.make()); it.plain(); }\n\
                pub fn closed(it: A) { takes((|| it.plain())(), it.plain()); A.plain(); }\n\
                pub fn block(it: A) { takes({ it.plain() }, 0); }\n\
                pub fn macros(it: A) { takes(vec![it.plain()][0], 0); }\n\
                pub fn cast(it: A) { takes(it.plain() as _, it.plain() as u8); }\n";
    let (_directory, mut it) = base_and_user(base, user);
    it.fill();
    for (from, to, own_touched) in [
        // The body does not name the added parameter.
        ("takes(a: u8, b: u8)", "takes(a: u8, extra: u8, b: u8)", false),
        // Nor the parameter that has a different type or is removed.
        ("extra: u8, b: u8", "extra: u8, b: u16", false),
        ("a: u8, extra: u8, b: u16", "b: u16, a: u8", false),
        ("b: u16, a: u8", "b: u16, a: u16", true),
        ("b: u16, a: u16", "A: u16, a: u16", true),
    ] {
        apply(&mut it, "src/base.rs", from, to);
        let known = it.asked(|view| {
            view.ask(|it| {
                let of = |file| it.index.names(it.file_id(file).unwrap()).unwrap();
                Ok((of("src/base.rs"), of("src/user.rs")))
            })
        });
        let (own, known) = known.unwrap();
        let text = &it.files.get("src/base.rs").unwrap().text;
        assert_eq!(!own.is_known_at(text.rfind("plain()").unwrap()), own_touched, "{to}");
        let unknown = ["plain()", "make("].map(|word| {
            let all = user.match_indices(word).filter(|it| !user[..it.0].ends_with("fn "));
            all.filter(|it| !known.is_known_at(it.0)).count()
        });
        assert_eq!(unknown, [6, 2], "{to}");
        assert_eq!(all_faults(&it), [] as [String; 0], "{to}");
        it.fill();
        assert_eq!(all_faults(&it), [] as [String; 0], "all known after {to}");
    }
}

#[test]
fn what_stands_in_a_trait_or_a_module_and_what_a_macro_names_is_distinguished() {
    let lib = "#![cfg_attr(docsrs, feature(doc_cfg))]\n#![recursion_limit = \"256\"]\npub mod base;\npub mod implementor;\n\
               pub mod caller;\n#[macro_use]\npub mod makers;\npub mod made;\npub mod other;\npub fn root(a: u8) -> u8 { a }\n";
    let base = "pub trait Size {\n    fn size(&self, by: u8) -> u8;\n    fn twice(&self, by: u8) -> u8 { by }\n    \
                fn sum(of: u8) -> u8 where Self: Sized;\n}\npub fn free(a: u8) -> u8 { a }\n\
                #[cfg(test)]\nmod tests {\n    fn helps(a: u8) -> u8 { a }\n    fn f() { helps(1); }\n}\n";
    let implementor = "impl crate::base::Size for u8 {\n    fn size(&self, by: u8) -> u8 { self.count_ones() as u8 }\n    \
                       fn sum(of: u8) -> u8 { of }\n}\n";
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        ("src/base.rs", base),
        ("src/implementor.rs", implementor),
        ("src/caller.rs", "use crate::base::Size;\npub fn f() -> u8 { 1u8.size(u8::MAX.twice(2)) }\n"),
        ("src/makers.rs", "macro_rules! made { ($it:expr) => { $crate::base::free($it) } }\n"),
        ("src/made.rs", "pub fn f() { let it = made!(3); it.count_ones(); }\n"),
        ("src/other.rs", "pub struct Other { made: u8 }\nimpl Other { fn made(&self) -> u8 { self.made } }\n"),
    ]);
    it.fill();
    let modules = ["base", "caller", "implementor", "lib", "made", "makers", "other"];
    for (file, from, to, left) in [
        (
            "src/base.rs",
            "fn size(&self, by: u8)",
            "fn size(&self, by: u8, extra: u8)",
            "implementor lib made makers other",
        ),
        (
            "src/implementor.rs",
            "fn size(&self, by: u8)",
            "fn size(&self, by: u8, extra: u8)",
            "base lib made makers other",
        ),
        ("src/base.rs", "fn twice(&self, by: u8)", "fn twice(&self)", "caller implementor lib made makers other"),
        // Implementations need it, and its arguments may decide the implementation.
        ("src/base.rs", "fn twice(&self) -> u8 { by }", "fn twice(&self) -> u8;", ""),
        ("src/base.rs", "fn sum(of: u8)", "fn sum(of: Self)", ""),
        ("src/base.rs", "fn helps(a: u8)", "fn helps(extra: u8, a: u8)", "caller implementor lib made makers other"),
        ("src/base.rs", "fn free(a: u8)", "fn free(a: u16)", "caller implementor lib makers other"),
        ("src/lib.rs", "fn root(a: u8)", "fn root(extra: u8, a: u8)", "base caller implementor made makers other"),
    ] {
        apply(&mut it, file, from, to);
        assert_eq!(known(&it, &modules), left, "{to}");
        assert_eq!(all_faults(&it), [] as [String; 0], "{to}");
        it.fill();
        assert_eq!(all_faults(&it), [] as [String; 0], "all known after {to}");
    }
}

#[test]
fn nothing_known_is_wrong_after_signatures_by_chance() {
    let mut it = REAL.lock().unwrap_or_else(PoisonError::into_inner);
    it.fill();
    let count = std::env::var("SEMDEX_COMPARE_COUNT").map_or(2, |it| it.parse().expect("a number of edits"));
    let mut functions = Vec::new();
    for file in it.files.of(LANGUAGE) {
        file.outline().walk(&mut |item| {
            let head = item.body.and_then(|body| file.text.get(item.name_span.end..body.start));
            if matches!(item.kind, SymbolKind::Function | SymbolKind::Method)
                && head.is_some_and(|it| it.starts_with('('))
            {
                functions.push((file.path.to_string(), item.span, item.name_span.end, item.name.clone()));
            }
        });
    }
    let step = (functions.len() / count).max(1);
    let files = it.files.of(LANGUAGE).count();
    let mut left = 0;
    let names: Vec<String> = functions.iter().map(|it| it.3.clone()).collect();
    for (number, (file, span, at, name)) in functions.into_iter().skip(step / 2).step_by(step).take(count).enumerate() {
        let before = it.files.clone();
        let text = before.get(&file).unwrap().text.clone();
        let whole = text[span.start..span.end].to_owned();
        let head = format!("fn {name}(");
        let other = &names[number * 31 % names.len()];
        // An additional parameter, another visibility or result, another name, its removal, other parameters, or an
        // item before it with the name of another one.
        let (from, to) = match number % 8 {
            0 => (head, format!("fn {name}(extra: u8, ")),
            1 => (head, format!("pub(crate) fn {name}(")),
            2 => (text[at..].split_inclusive('{').next().unwrap().to_owned(), "() -> Vec<u8> {".to_owned()),
            3 => (head, format!("fn {name}_more(")),
            4 => (whole, String::new()),
            5 => (head, format!("fn {other}(")),
            6 => (text[at..].split_inclusive(')').next().unwrap().to_owned(), "(&self, extra: Vec<u8>)".to_owned()),
            _ => (whole.clone(), format!("fn {other}(a: u8) -> u8 {{ a }}\n{whole}")),
        };
        apply(&mut it, &file, &from, &to);
        let after = it.files.of(LANGUAGE).filter(|file| it.rust.knows_names_of(&file.path)).count();
        left += after;
        let to = format!(
            "{} {name} to {}",
            ["a parameter", "visibility", "a result", "a name", "none", "another", "parameters", "more"][number % 8],
            to.lines().next().unwrap_or_default()
        );
        println!("{to} in {file}: {after} of {files} files are known");
        assert_eq!(all_faults(&it), [] as [String; 0], "{to} in {file}");
        it.rust.apply(&[(Arc::from(file.as_str()), Some(text))]);
        it.files = before;
        assert_eq!(all_faults(&it), [] as [String; 0], "taking back {to} in {file}");
        it.fill();
    }
    assert!(left > 0, "every change touched everything");
}

#[test]
fn what_comes_and_goes_touches_what_writes_its_name() {
    let lib = "pub mod base;\npub mod user;\npub mod glob;\npub mod local;\npub mod shape;\npub mod chained;\npub mod other;\n";
    let base = "pub struct Thing;\npub trait Size { fn size(&self) -> u8; fn twice(&self) -> u8 { 2 } }\n\
                impl Thing {\n    pub fn new() -> Thing { Thing }\n    pub fn depth(&self) -> u8 { 3 }\n}\n\
                impl Size for Thing {\n    fn size(&self) -> u8 { 1 }\n}\n\
                impl Default for Thing {\n    fn default() -> Thing { Thing }\n}\n\
                pub fn free(a: u8) -> u8 { a }\npub fn other() -> u8 { 0 }\n";
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        ("src/base.rs", base),
        (
            "src/user.rs",
            "use crate::base::{Size, Thing};\npub fn f() -> u8 { Thing::new().size() }\npub fn g() -> Thing { Thing::default() }\n",
        ),
        ("src/glob.rs", "use crate::base::*;\npub fn f() -> u8 { free(1) }\npub fn g() { Thing::new().twice(); }\n"),
        ("src/local.rs", "pub fn f() { let it = 1; let _ = [it]; }\npub fn g() -> u32 { Default::default() }\n"),
        (
            "src/shape.rs",
            "use crate::base::Thing;\nimpl Thing { pub fn area(&self) -> u8 { self.depth() } }\npub fn f(it: &Thing) { it.area().count_ones(); }\n",
        ),
        (
            "src/chained.rs",
            "pub const ROW: [u8; 2] = [crate::base::free(1); 2];\npub fn f() { crate::chained::ROW.len(); }\n",
        ),
        ("src/other.rs", "pub fn f() { crate::base::other(); }\n"),
    ]);
    it.fill();
    let modules = ["base", "chained", "glob", "local", "other", "shape", "user"];
    for (from, to, left) in [
        // For a trait's implementation: code that uses the trait depends on the trait.
        ("    fn size(&self) -> u8 { 1 }", "    fn size(&self) -> u16 { 1 }", "chained glob local other shape"),
        ("fn default() -> Thing", "fn default() -> u8", "chained glob local other shape"),
        ("pub fn depth(&self) -> u8 { 3 }", "pub fn deep(&self) -> u8 { 3 }", "chained glob local other user"),
        // It hides the trait's item with this name.
        ("pub fn deep(", "pub fn twice(&self) -> u16 { 4 }\n    pub fn deep(", "chained local other shape user"),
        ("pub fn twice(&self) -> u16 { 4 }\n    ", "", "base chained local other shape user"),
        // An implementation of an item that had the trait's default.
        ("    fn size(", "    fn twice(&self) -> u8 { 8 }\n    fn size(", "chained local other shape user"),
        ("pub fn free(a: u8) -> u8 { a }\n", "", "local other shape user"),
        ("pub fn other()", "pub fn free(a: u8) -> u16 { a.into() }\npub fn other()", "local other shape user"),
        // Two items with one name in two blocks: the paths of both change.
        ("    pub fn deep(", "    pub fn area(&self) -> u8 { 3 }\n    pub fn deep(", "chained glob local other user"),
        ("pub fn area(&self) -> u8 { 3 }\n    ", "", "base chained glob local other user"),
        // A trait's own item may be used without being named.
        ("fn twice(&self) -> u8 { 2 }", "", ""),
    ] {
        apply(&mut it, "src/base.rs", from, to);
        assert_eq!(known(&it, &modules), left, "{from} to {to}");
        assert_eq!(all_faults(&it), [] as [String; 0], "{from} to {to}");
        it.fill();
        assert_eq!(all_faults(&it), [] as [String; 0], "all known after {from} to {to}");
    }
}
