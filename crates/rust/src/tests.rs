//! The engine on real code: a workspace is loaded, queried, changed and queried again, and compared with the results of
//! rust-analyzer's own commands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use ra_ap_ide::{FilePosition, FindAllRefsConfig, RaFixtureConfig};

use super::engine::{Adopted, Rust, RustConfig};
use super::view;
use super::view::View;
use crate::index::search::Occurrence;
use crate::load::Limits;
use crate::resolve::{at, symbols};
use crate::syntax::positions::text_size;
use crate::{LANGUAGE, usages};
use semdex_engine::files::{File, Files};
use semdex_engine::{Ended, Readiness, Result, Stop};
use semdex_model::{ChangeKind, FileEdit, MissingCode, Role, SymbolKind, SymbolQuery, Window};

mod bodies;
mod body_codes;
mod codes;
mod describe;
mod follows;
mod forms;
mod globs;
mod impact;
mod invalidate;
mod loading;
mod paths;
mod possible;
mod reexports;
mod round_trips;
mod shadow;
mod statements;
mod traits;
mod truth;
mod uses;
mod valid;
mod wellformed;

const DEADLINE: Duration = Duration::from_secs(600);

struct Loaded {
    rust: Rust,
    files: Arc<Files>,
}

fn read(root: &Path) -> Files {
    let mut files = Files::default();
    for path in crate_files(root) {
        if let Ok(text) = std::fs::read_to_string(&path) {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(Arc::new(crate::file(name, text)));
        }
    }
    files
}

fn crate_files(root: &Path) -> Vec<PathBuf> {
    let hidden = |it: &ignore::DirEntry| !matches!(it.file_name().to_str(), Some(".git" | "target"));
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).filter_entry(hidden).build();
    walk.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file())).map(ignore::DirEntry::into_path).collect()
}

/// The standard library that a test loads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Std {
    /// `tests/fixtures/std`, which takes no time.
    Small,
    /// The toolchain's own, for answers that depend on it.
    Real,
}

fn load(root: &Path, trusted: bool, std: Std) -> Loaded {
    load_within(root, trusted, std, Limits::default())
}

fn load_within(root: &Path, trusted: bool, std: Std, limits: Limits) -> Loaded {
    let files = Arc::new(read(root));
    // Next to the test binary, so that macros are built once for all runs.
    let exe = std::env::current_exe().unwrap();
    let target_dir = exe.parent().unwrap().join("semdex-analysed");
    let config = RustConfig {
        listed_builds: Vec::new(),
        max_builds: 0,
        forbidden: Arc::default(),
        root: root.to_path_buf(),
        trusted,
        target_dir,
        features: Vec::new(),
        all_features: false,
        build_scripts: true,
        proc_macros: true,
        std_sources: (std == Std::Small).then(|| in_fixtures("std/library")),
        second_database: Some(true),
        limits,
    };
    let mut loaded = Loaded { rust: Rust::new(config, &files, 0).expect("the path is UTF-8"), files };
    loaded.reload();
    loaded
}

impl Loaded {
    fn reload(&mut self) {
        let (sender, receiver) = mpsc::channel();
        self.rust.reload(&self.files, move |step| drop(sender.send(step)));
        while self.rust.readiness() < Readiness::Settled {
            let step = receiver.recv_timeout(DEADLINE).expect("a step of the load in time");
            assert!(matches!(self.rust.adopt(step), Adopted::Step { .. }));
        }
    }
}

/// A small workspace of its own.
fn fixture(files: &[(&str, &str)]) -> (tempfile::TempDir, Loaded) {
    fixture_of(files, false, Std::Small)
}

/// With its build scripts and macros, if `is_built`.
fn fixture_of(files: &[(&str, &str)], is_built: bool, std: Std) -> (tempfile::TempDir, Loaded) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let root = directory.path().canonicalize().unwrap();
    let loaded = load(&root, is_built, std);
    (directory, loaded)
}

const MANIFEST: &str = "[package]\nname = \"fix-ture\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

fn query(symbol: &str) -> SymbolQuery {
    SymbolQuery { symbol: symbol.to_owned(), ..SymbolQuery::default() }
}

impl Loaded {
    /// Queries as the service does: again if something interrupted the query, for example garbage collection for
    /// another test of this process.
    fn asked<T>(&self, question: impl Fn(View) -> Result<T>) -> Result<T> {
        let started = Instant::now();
        loop {
            match question(self.rust.view(self.files.clone())) {
                Err(Stop::Stale) if started.elapsed() < DEADLINE => {}
                answer => return answer,
            }
        }
    }

    /// The state after a while without changes: the index is complete.
    fn fill(&mut self) {
        self.rust.set_primed(Ended::Finished);
        self.asked(|view| view.fill(&|_, _| {})).unwrap();
    }

    /// `file:line role` of each usage.
    fn usages(&self, symbol: &str) -> Vec<String> {
        let found = self.asked(|view| view.usages(&query(symbol), Window::ALL)).unwrap();
        let mut items = found.value.1.items.clone();
        items.sort_by(|a, b| a.place.cmp(&b.place));
        assert!(found.coverage.complete, "{symbol}: {:?} {:?}", found.coverage, found.value.1.possible);
        items.iter().map(|it| format!("{}:{} {}", it.place.file, it.place.line, it.role.name())).collect()
    }

    fn path(&self, symbol: &str) -> String {
        match self.asked(|view| view.resolve(&query(symbol))) {
            Ok(symbol) => symbol.path,
            Err(Stop::Failed(error)) => format!("{error} {:?}", error.help.suggestions),
            Err(Stop::Stale) => panic!("no answer in time"),
        }
    }

    fn change(&mut self, file: &str, from: &str, to: &str) -> (Arc<Files>, Vec<FileEdit>) {
        let old = self.files.get(file).unwrap().text.clone();
        assert!(old.contains(from), "{from} is not in {file}");
        let new: Arc<str> = Arc::from(old.replacen(from, to, 1));
        let mut after = (*self.files).clone();
        after.insert(Arc::new(crate::file(file, new.clone())));
        (Arc::new(after), vec![FileEdit { file: file.to_owned(), old: Some(old), new: Some(new) }])
    }
}

const LIB: &str = "\
//! A fixture of [`make`] and [its thing][Thing], not of make.
mod inner;
pub use inner::Thing;

pub trait Speak {
    fn speak(&self) -> u8;
}

impl Speak for Thing {
    fn speak(&self) -> u8 {
        self.size
    }
}

/// Makes one.
pub fn make(size: u8) -> Thing {
    Thing { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speaks() {
        assert_eq!(make(3).speak(), 3);
    }
}
";

const INNER: &str = "\
#[derive(Clone)]
pub struct Thing {
    pub size: u8,
}

impl Thing {
    pub fn new() -> Self {
        Self { size: 0 }
    }
    pub fn double(&self) -> u8 {
        self.size * 2
    }
}

fn uses() -> u8 {
    let thing = crate::make(1);
    thing.double() + Thing::new().size
}
";

fn small() -> (tempfile::TempDir, Loaded) {
    fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", LIB), ("src/inner.rs", INNER)])
}

#[test]
fn names_usages_and_impact_of_a_small_crate() {
    let (_directory, mut it) = small();
    // Any name of a definition leads to its printed path, and that path leads back.
    for (asked, path) in [
        ("fix_ture::Thing", "fix_ture::inner::Thing"),
        ("Thing", "fix_ture::inner::Thing"),
        ("Thing::new", "fix_ture::inner::Thing::new"),
        ("Thing::speak", "<fix_ture::inner::Thing as fix_ture::Speak>::speak"),
        ("Speak::speak", "fix_ture::Speak::speak"),
        ("Thing::size", "fix_ture::inner::Thing::size"),
        ("fn@make", "fix_ture::make"),
        ("std::option::Option::unwrap", "core::option::Option::unwrap"),
    ] {
        assert_eq!(it.path(asked), path, "{asked}");
        assert_eq!(it.path(path), path);
    }
    assert!(it.path("Thing::dubble").contains("fix_ture::inner::Thing::double"));

    assert_eq!(it.usages("fix_ture::make"), ["src/inner.rs:16 call", "src/lib.rs:1 doc", "src/lib.rs:26 call"]);
    let size = [
        "src/inner.rs:8 write",
        "src/inner.rs:11 read",
        "src/inner.rs:17 read",
        "src/lib.rs:11 read",
        "src/lib.rs:17 write",
    ];
    assert_eq!(it.usages("Thing::size"), size);
    assert_eq!(it.usages("fix_ture::Speak::speak"), ["src/lib.rs:10 impl", "src/lib.rs:26 call"]);
    let thing = it.usages("Thing");
    assert!(
        ["src/inner.rs:8 self", "src/lib.rs:3 import", "src/lib.rs:1 doc"]
            .iter()
            .all(|it| thing.contains(&(*it).to_owned())),
        "{thing:?}"
    );

    // A dry run reports what breaks, and changes nothing.
    let (after, edits) = it.change("src/inner.rs", "pub fn double(&self)", "pub fn double(&self, by: u8)");
    let before = it.files.clone();
    let impact = it.rust.impact_of(&before, &after, &edits, None);
    let broken: Vec<_> =
        impact.impact.broken.iter().map(|it| (it.at.place.line, it.code.as_deref().unwrap())).collect();
    assert_eq!(broken, [(17, "E0061")], "{impact:?}");
    assert_eq!(impact.impact.changed[0].kind, ChangeKind::Signature);
    assert_eq!(impact.impact.changed[0].symbol, "fix_ture::inner::Thing::double");
    let healthy = it.asked(|view| view.diagnostics(&[])).unwrap();
    assert_eq!(healthy.value, []);

    let (after, edits) = it.change("src/lib.rs", "pub fn make(", "pub fn build(");
    let impact = it.rust.impact_of(&before, &after, &edits, Some(&|_| true));
    let broken: Vec<_> =
        impact.impact.broken.iter().map(|it| format!("{}:{}", it.at.place.file, it.at.place.line)).collect();
    assert_eq!(broken, ["src/inner.rs:16", "src/lib.rs:26"], "{impact:?}");
    assert_eq!(impact.impact.changed[0].kind, ChangeKind::Renamed);
    it.files = after;
    assert!(it.path("fix_ture::make").starts_with("unknown_symbol"));
    assert_eq!(it.usages("fix_ture::build"), [] as [&str; 0]);
}

/// Usages as rust-analyzer's own command finds them: file and offset.
fn all_refs(it: &Loaded, file: &str, offset: usize, kind: SymbolKind) -> BTreeSet<(String, usize)> {
    let id = it.rust.ids()[file];
    let name = |id| it.rust.ids().iter().find(|(_, other)| **other == id).map(|(name, _)| name.to_string());
    if kind == SymbolKind::Type {
        // The command counts every name of the aliased type as a reference to the alias. Its search does not.
        let found = it.asked(|view| {
            view.ask(|context| {
                let definition = at::definition_at(&context.sema, id, offset).expect("an alias is a definition");
                let found = definition.usages(&context.sema).all();
                let places = found.file_ranges().map(|it| (it.file_id.file_id(context.db), it.range.start()));
                Ok(places.collect::<Vec<_>>())
            })
        });
        return found.unwrap().into_iter().filter_map(|(id, at)| Some((name(id)?, at.into()))).collect();
    }
    let config = FindAllRefsConfig {
        search_scope: None,
        ra_fixture: RaFixtureConfig::default(),
        exclude_imports: false,
        exclude_tests: false,
    };
    let position = FilePosition { file_id: id, offset: text_size(offset) };
    let found = it.asked(|view| view.ask(|context| Ok(view::analysis(context.db).find_all_refs(position, &config))));
    let found = found.unwrap().unwrap().unwrap_or_default();
    found
        .into_iter()
        .flat_map(|it| it.references)
        .filter_map(|(id, ranges)| Some((name(id)?, ranges)))
        .flat_map(|(name, ranges)| ranges.into_iter().map(move |it| (name.clone(), usize::from(it.0.start()))))
        .collect()
}

fn in_fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name).canonicalize().unwrap()
}

/// Code in a realistic style that changes only when a test needs more of it.
fn corpus() -> PathBuf {
    in_fixtures("corpus")
}

/// The corpus, or the workspace that `SEMDEX_COMPARE_ROOT` names (`make bench` gives ripgrep).
fn real_workspace(std: Std) -> Loaded {
    match std::env::var_os("SEMDEX_COMPARE_ROOT") {
        Some(root) => load(&PathBuf::from(root).canonicalize().unwrap(), false, Std::Real),
        None => load(&corpus(), false, std),
    }
}

/// Loaded once for all tests. Without trust nothing has to be built first.
static REAL: LazyLock<Mutex<Loaded>> = LazyLock::new(|| Mutex::new(real_workspace(Std::Small)));

#[test]
fn what_is_not_compiled_has_only_possible_usages() {
    let lib =
        "#[cfg(windows)]\npub fn away() {}\n\n#[cfg(windows)]\npub fn user() {\n    away();\n}\n\npub fn here() {}\n";
    let (_directory, it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        ("src/orphan.rs", "pub fn lost() {\n    away();\n}\n"),
    ]);
    let found = it.asked(|view| view.usages(&query("fix_ture::away"), Window::ALL)).unwrap();
    let (symbol, page) = found.value;
    assert_eq!((symbol.path.as_str(), page.count.total), ("fix_ture::away", 0));
    let mut possible: Vec<String> =
        page.possible.iter().map(|it| format!("{}:{}", it.place.file, it.place.line)).collect();
    possible.sort();
    assert_eq!(possible, ["src/lib.rs:6", "src/orphan.rs:2"]);
    assert!(!found.coverage.complete);
    for answer in [
        it.asked(|view| view.callers(&query("fix_ture::away"))),
        it.asked(|view| view.callees(&query("fix_ture::user"))),
    ] {
        let answer = answer.unwrap();
        assert!(answer.value.1.is_empty() && !answer.coverage.complete);
        assert_eq!(answer.coverage.missing.last().map(|it| it.code), Some(MissingCode::CfgOff));
    }
    let lost = it.asked(|view| view.implementations(&query("lost"))).unwrap();
    assert_eq!(lost.coverage.missing.last().map(|it| it.code), Some(MissingCode::NotInAPackage));
}

#[test]
fn usages_equal_those_of_rust_analyzer_on_a_real_workspace() {
    let mut it = REAL.lock().unwrap_or_else(PoisonError::into_inner);
    it.fill();
    let mut all = Vec::new();
    for file in it.files.of(LANGUAGE) {
        file.outline().walk(&mut |item| {
            // An unnamed tuple field has the name span of its type.
            let is_named = file.text.get(item.name_span.start..item.name_span.end) == Some(&item.name);
            if is_named && !matches!(item.kind, SymbolKind::Impl | SymbolKind::Module) {
                all.push((file.path.to_string(), item.name_span.start, item.name.clone(), item.kind));
            }
        });
    }
    let count = std::env::var("SEMDEX_COMPARE_COUNT").map_or(50, |it| it.parse().expect("a number of symbols"));
    let step = (all.len() / count).max(1);
    let sampled: Vec<_> = all.into_iter().step_by(step).collect();
    assert!(sampled.len() >= count, "a real workspace has more symbols");
    let (mut own_time, mut their_time) = (Duration::ZERO, Duration::ZERO);
    let mut compared = 0;
    let mut differing = Vec::new();
    for (file, offset, name, kind) in &sampled {
        let symbol = it.asked(|view| view.symbol_at(file, *offset)).unwrap().value.symbol;
        let Some(symbol) = symbol else { continue };
        let started = Instant::now();
        let found = it.asked(|view| view.usages(&query(&symbol.path), Window::ALL));
        own_time += started.elapsed();
        let Ok(found) = found else {
            differing.push(format!("{name} in {file}: {} does not resolve", symbol.path));
            continue;
        };
        // The command does not look into doc comments.
        let named = found.value.1.items.iter().filter(|it| it.role != Role::Doc);
        let own: BTreeSet<_> = named.map(|it| (it.place.file.clone(), it.place.start)).collect();
        let started = Instant::now();
        let theirs = all_refs(&it, file, *offset, *kind);
        their_time += started.elapsed();
        compared += 1;
        if own != theirs {
            let only_own: Vec<_> = own.difference(&theirs).take(3).collect();
            let only_theirs: Vec<_> = theirs.difference(&own).take(3).collect();
            differing.push(format!(
                "{} ({kind:?} {name} in {file}): only here {only_own:?}, only there {only_theirs:?}",
                symbol.path
            ));
        }
    }
    println!("{compared} symbols compared, {} differ; {own_time:?} here, {their_time:?} there", differing.len());
    assert!(compared * 10 >= count * 9, "only {compared} symbols could be compared");
    assert_eq!(differing, [] as [String; 0]);
}

/// A change to a file of the workspace, as the writer makes it.
fn apply(it: &mut Loaded, file: &str, from: &str, to: &str) {
    let (after, edits) = it.change(file, from, to);
    it.rust.apply(&[(Arc::from(file), edits[0].new.clone())]);
    it.files = after;
}

/// All usages of all symbols of some files, the places in order.
fn found_of(it: &Loaded, files: &[&str]) -> Vec<String> {
    let found = it.asked(|view| {
        view.ask(|context| {
            let definitions =
                files.iter().flat_map(|file| symbols::symbols_in(context, context.files.get(file).unwrap()).1);
            let definitions: Vec<_> = definitions.map(|it| it.1).collect();
            let all = usages::find(context, &definitions);
            let lines = definitions.iter().zip(all).flat_map(|(definition, found)| {
                let path = crate::resolve::paths::path_of(context, *definition).unwrap_or_default();
                let line = move |it: &Occurrence| format!("{path} {}:{} {}", it.file.path, it.at.start, it.role.name());
                found.items.iter().map(line).collect::<Vec<_>>()
            });
            Ok(lines.collect())
        })
    });
    found.unwrap()
}

#[test]
fn the_index_never_differs_from_what_is_asked_anew() {
    let mut it = load(&corpus(), false, Std::Small);
    it.fill();
    let files = ["src/model.rs", "src/model/error.rs", "src/store/series.rs", "src/text/lines.rs"];
    // Each in turn: a body, a signature, a name, a field's position, a trait's implementation, and all of it reverted.
    let changes = [
        ("src/text/lines.rs", "pub fn line_count(&self) -> usize {", "pub fn line_count(&self) -> usize { let _ = 1;"),
        ("src/text/lines.rs", "pub fn line_count(&self) -> usize {", "pub fn line_count(&self) -> u64 {"),
        ("src/model.rs", "pub struct Span {\n    pub start: usize,", "pub struct Span {\n    pub end: usize,"),
        ("src/model.rs", "pub fn contains(self", "pub fn holds(self"),
        ("src/store/series.rs", "pub fn since(&self, at: u64) -> &[Sample] {", "fn since(&self, at: u64) -> usize {"),
        ("src/model/error.rs", "impl std::error::Error for Error {}", "impl Error { pub fn span(&self) -> u8 { 0 } }"),
        ("src/store/series.rs", "pub fn last(", "pub fn newest("),
    ];
    let originals: Vec<(Arc<str>, Option<Arc<str>>)> =
        files.iter().map(|file| (Arc::from(*file), Some(it.files.get(file).unwrap().text.clone()))).collect();
    let original_files = it.files.clone();
    let check = |it: &mut Loaded, after: &str| {
        // Directly after the change some of it is known and the rest is computed; then everything is known; then
        // nothing is.
        let mixed = found_of(it, &files);
        it.asked(|view| view.fill(&|_, _| {})).unwrap();
        let known = found_of(it, &files);
        it.rust.forget_index();
        let asked = found_of(it, &files);
        assert!(asked.len() > 200, "{}", asked.len());
        assert_eq!(mixed, asked, "right after {after}");
        assert_eq!(known, asked, "after {after}");
        it.asked(|view| view.fill(&|_, _| {})).unwrap();
    };
    check(&mut it, "nothing");
    for (file, from, to) in changes {
        apply(&mut it, file, from, to);
        check(&mut it, to);
    }
    // A dry run leaves nothing behind, and removes nothing.
    for (file, from, to) in [
        ("src/text/lines.rs", "pub fn line_count(&self) -> u64 {", "pub fn line_count(&self) -> u64 { let _ = 2;"),
        ("src/model.rs", "pub fn holds(self", "pub fn covers(self"),
    ] {
        let (after, edits) = it.change(file, from, to);
        let before = it.files.clone();
        let _ = it.rust.impact_of(&before, &after, &edits, None);
        check(&mut it, &format!("asking what {to} would do"));
    }
    it.rust.apply(&originals);
    it.files = original_files;
    check(&mut it, "taking all back");
}

#[test]
fn a_change_is_forgotten_only_where_it_reaches() {
    let member = |name: &str, on: &str| {
        let on: String = on.split_whitespace().map(|it| format!("{it} = {{ path = \"../{it}\" }}\n")).collect();
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{on}")
    };
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"base\", \"user\", \"other\", \"top\"]\n"),
        ("base/Cargo.toml", &member("base", "")),
        ("user/Cargo.toml", &member("user", "base")),
        ("other/Cargo.toml", &member("other", "")),
        ("top/Cargo.toml", &member("top", "user other")),
        (
            "base/src/lib.rs",
            "pub struct Thing { pub n: u8 }\nimpl Thing {\n    pub fn get(&self) -> u8 { self.n }\n}\npub trait Get { fn all(&self) -> u8 { 1 } }\n",
        ),
        (
            "user/src/lib.rs",
            "pub use base::Get;\npub fn make() -> base::Thing { base::Thing { n: 1 } }\npub fn get() -> u8 { make().get() }\n",
        ),
        (
            "other/src/lib.rs",
            "pub struct Thing;\nimpl Thing {\n    pub fn get(&self) -> Thing { Thing.get().get() }\n}\n",
        ),
        (
            "top/src/lib.rs",
            "use user::Get as _;\nfn f() -> u8 { user::make().get() + user::make().n }\nfn g() { other::Thing.get().get(); }\n",
        ),
    ]);
    it.fill();
    let files = ["base/src/lib.rs", "user/src/lib.rs", "other/src/lib.rs", "top/src/lib.rs"];
    let known = |it: &Loaded| {
        let is_known = |file: &&str| it.rust.knows_names_of(file);
        files.into_iter().filter(is_known).map(|it| it.split('/').next().unwrap()).collect::<Vec<_>>().join(" ")
    };
    for (file, from, to, left) in [
        ("base/src/lib.rs", "pub fn get(&self) -> u8", "pub fn get(&self) -> Thing", "other"),
        (
            "base/src/lib.rs",
            "pub struct Thing { pub n: u8 }",
            "pub struct Thing { n: u8 }\nimpl Get for Thing {}",
            "other",
        ),
        ("user/src/lib.rs", "pub fn make() -> base::Thing", "pub fn make() -> u8", "base other"),
        ("other/src/lib.rs", "pub fn get(&self) -> Thing", "pub fn gets(&self) -> Thing", "base user"),
        ("top/src/lib.rs", "fn g() {", "fn g(other: u8) {", "base user other"),
        // No query finds the target of such a path.
        (
            "top/src/lib.rs",
            "fn g(other: u8) {",
            "#[path = \"../../other/src/lib.rs\"]\nmod copy;\nfn g() {",
            "base user other",
        ),
    ] {
        apply(&mut it, file, from, to);
        assert_eq!(known(&it), left, "{to}");
        let mixed = found_of(&it, &files);
        it.rust.forget_index();
        let asked = found_of(&it, &files);
        assert_eq!(mixed, asked, "{to}");
        it.asked(|view| view.fill(&|_, _| {})).unwrap();
        assert_eq!(known(&it), "base user other top");
    }
}
