//! Descriptions of symbols, and that nothing of their docs is lost.

use ra_ap_hir::{Crate, ModuleDef, ScopeDef};

use super::{Loaded, MANIFEST, Std, fixture, query, real_workspace};
use crate::names::definitions::module_definition;
use crate::resolve::symbols;
use crate::view::Context;
use semdex_engine::Stop;
use semdex_model::{Description, Example, ExampleOrigin, Package, Symbol, Window};

/// Documented items of the workspace's dependencies, spread over all of them.
fn documented_dependencies(cx: &Context<'_>, count: usize) -> Vec<String> {
    let libraries = Crate::all(cx.db).into_iter().filter(|it| it.origin(cx.db).is_lib());
    let each = libraries.map(|krate| {
        let scope = krate.root_module(cx.db).scope(cx.db, None);
        let items = scope.into_iter().filter_map(|(_, it)| match it {
            ScopeDef::ModuleDef(it @ (ModuleDef::Adt(_) | ModuleDef::Function(_) | ModuleDef::Trait(_))) => {
                Some(module_definition(it))
            }
            _ => None,
        });
        let own = items.filter(|it| it.krate(cx.db) == Some(krate)).filter_map(|it| symbols::symbol_of(cx, it));
        // Docs that are not in the text itself are not compared here.
        let plain = own.filter(|it| it.docs.is_some() && !comments(it).is_empty());
        let mut paths: Vec<String> = plain.map(|it| it.path).collect();
        paths.sort();
        paths.into_iter().take(10).collect::<Vec<_>>()
    });
    each.flatten().take(count).collect()
}

impl Loaded {
    fn described(&self, symbol: &str) -> Description {
        match self.asked(|view| view.describe(&query(symbol), Window::ALL)) {
            Ok(found) => found.value.0,
            Err(Stop::Failed(error)) => panic!("{symbol}: {error} {:?}", error.help.suggestions),
            Err(Stop::Stale) => panic!("no answer in time"),
        }
    }

    fn package(&self, name: &str) -> Package {
        self.asked(|view| view.package(name)).unwrap().value
    }
}

const LIB: &str = r#"//! About everything, as [`Gauge`] is.
pub mod parts;
pub use parts::Gauge;

/// Measures.
pub trait Measure {
    /// How much, see [the gauge](Gauge::read).
    fn measure(&self) -> u8;
}

impl Measure for Gauge {
    fn measure(&self) -> u8 {
        self.read()
    }
}

pub fn all(gauges: &[Gauge]) -> u8 {
    gauges.iter().map(|it| it.read()).sum()
}

#[cfg(windows)]
/// Not here.
pub fn elsewhere() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads() {
        let gauge = Gauge::new(3);
        assert_eq!(gauge.read(), 3);
    }
}
"#;

const PARTS: &str = r#"
/// A gauge. Its [`read`](Self::read) is cheap; [`crate::Measure`] reads too.
///
/// # How to make one
///
/// ```
/// # use fix_ture::Gauge;
/// #[allow(unused)]
/// let gauge = Gauge::new(1);
/// ## not hidden
/// #
/// assert_eq!(gauge.read(), 1); // [`Gauge`] stays
/// ```
///
/// ```text
/// no Rust
/// ```
///
/// See [new], [the trait][Measure], `[not]` and [a page](https://example.org).
///
/// [new]: Gauge::new
#[derive(Debug)]
pub struct Gauge<T = u8> {
    /// The level.
    pub level: T,
}

impl Gauge<u8> {
    /// Makes one.
    pub fn new(level: u8) -> Gauge {
        Gauge { level }
    }

    /// ~~~should_panic
    /// panic!();
    /// ~~~
    pub fn read(&self) -> u8 {
        self.level
    }

    fn private(&self) {}
}

pub enum Scale {
    Linear,
    Log { base: u8 },
}
use crate::Measure;
"#;

fn gauges() -> (tempfile::TempDir, Loaded) {
    let example = "fn main() {\n    println!(\"{}\", fix_ture::Gauge::new(7).read());\n}\n";
    fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", LIB), ("src/parts.rs", PARTS), ("examples/show.rs", example)])
}

#[test]
fn a_symbol_is_described_in_full() {
    let (_directory, it) = gauges();
    let gauge = it.described("Gauge");
    let source = gauge.source.unwrap();
    assert!(source.starts_with("/// A gauge.") && source.contains("#[derive(Debug)]") && source.ends_with('}'));
    let docs = gauge.docs.unwrap();
    for linked in [
        "[`read`](fix_ture::parts::Gauge::read)",
        "[`crate::Measure`](fix_ture::Measure)",
        "[the trait](fix_ture::Measure)",
        "`[not]`",
        "[a page](https://example.org)",
        "[new]: fix_ture::parts::Gauge::new",
        "See [new],",
        "// [`Gauge`] stays",
    ] {
        assert!(docs.contains(linked), "{linked} is not in {docs}");
    }
    let fields = |it: &Example| (it.origin, it.line, it.title.clone(), it.code.clone());
    let doctest =
        "#[allow(unused)]\nlet gauge = Gauge::new(1);\n# not hidden\nassert_eq!(gauge.read(), 1); // [`Gauge`] stays";
    assert_eq!(
        fields(&gauge.examples[0]),
        (ExampleOrigin::Doctest, 6, "How to make one".to_owned(), doctest.to_owned())
    );
    let origins: Vec<_> = gauge.examples.iter().map(|it| (it.origin, it.title.as_str())).collect();
    assert!(origins.contains(&(ExampleOrigin::Test, "fix_ture::tests::reads")), "{origins:?}");
    assert!(origins.contains(&(ExampleOrigin::Example, "show::main")), "{origins:?}");
    assert!(gauge.implementations.iter().any(|it| it.path == "<fix_ture::parts::Gauge as fix_ture::Measure>"));

    let read = it.described("Gauge::read");
    let container = read.container.unwrap();
    assert_eq!(
        (container.path.as_str(), container.signature.as_str()),
        ("impl@fix_ture::parts::Gauge", "impl Gauge<u8>")
    );
    assert_eq!(read.examples[0].code, "panic!();");
    let measure = it.described("<Gauge as Measure>::measure");
    assert_eq!(measure.container.unwrap().path, "<fix_ture::parts::Gauge as fix_ture::Measure>");
    assert_eq!(it.described("Log::base").container.unwrap().path, "fix_ture::parts::Scale::Log");
    assert_eq!(it.described("Gauge::level").container.unwrap().signature, "pub struct Gauge<T = u8> { … }");
    let off = it.asked(|view| view.describe(&query("elsewhere"), Window::ALL)).unwrap();
    assert_eq!(off.value.0.docs.as_deref(), Some("Not here."));
    assert!(!off.coverage.complete);
}

#[test]
fn a_package_is_described_as_its_users_write_it() {
    let (_directory, it) = gauges();
    let package = it.package("fix-ture");
    assert_eq!(package.docs.as_deref(), Some("About everything, as [`Gauge`](fix_ture::parts::Gauge) is."));
    let mut flat = Vec::new();
    package.symbols.into_iter().for_each(|it| super::round_trips::flatten(it, &mut flat));
    let paths: Vec<&str> = flat.iter().map(|it| it.path.as_str()).collect();
    for path in [
        "fix_ture::Gauge",
        "fix_ture::parts",
        "fix_ture::parts::Gauge",
        "fix_ture::parts::Gauge::new",
        "fix_ture::parts::Scale::Log",
        "fix_ture::Measure::measure",
        "fix_ture::all",
    ] {
        assert!(paths.contains(&path), "{path} is not in {paths:?}");
    }
    assert!(!paths.iter().any(|it| it.contains("private") || it.contains("tests")), "{paths:?}");
    for symbol in &flat {
        assert_eq!(it.described(&symbol.path).symbol.name_at, symbol.name_at, "{}", symbol.path);
    }
}

/// The doc comments before a symbol in the text of its file, parsed independently.
fn comments(symbol: &Symbol) -> Vec<String> {
    let text = std::fs::read_to_string(&symbol.place.file).unwrap();
    let head = &text[symbol.place.start..symbol.name_at.start];
    // For a macro's output the whole call precedes it.
    let is_made = head.lines().map(str::trim_start).any(|it| !it.starts_with("//") && it.ends_with('{'));
    let lines = head.lines().filter(|_| !is_made).map(str::trim_start).filter_map(|line| line.strip_prefix("///"));
    lines.map(|it| it.trim().to_owned()).collect()
}

/// Without link targets and white space: `[a](b)`, `[a][b]`, and the lines `[a]: b`.
fn unlinked(text: &str) -> String {
    let mut plain = String::new();
    for line in text.lines().map(str::trim) {
        let mut rest = match line.split_once("]: ") {
            Some((label, _)) if label.starts_with('[') => label,
            _ => line,
        };
        while let Some((before, after)) = rest.split_once(']') {
            plain += before;
            let target = after.strip_prefix('(').and_then(|it| it.split_once(')'));
            let target = target.or_else(|| after.strip_prefix('[').and_then(|it| it.split_once(']')));
            rest = target.map_or(after, |it| it.1);
        }
        plain += rest;
    }
    plain.retain(|it| !it.is_whitespace());
    plain
}

/// The docs of the workspace's dependencies and std are complete, with every example.
#[test]
fn the_docs_of_what_is_outside_are_whole() {
    let it = real_workspace(Std::Real);
    let of_std = [
        "std::vec::Vec",
        "std::vec::Vec::push",
        "std::vec::Vec::drain",
        "std::string::String",
        "std::string::String::from_utf8",
        "std::option::Option",
        "std::option::Option::map_or",
        "std::result::Result::and_then",
        "std::collections::HashMap",
        "std::collections::HashMap::entry",
        "std::collections::BTreeMap::range",
        "std::iter::Iterator",
        "std::iter::Iterator::map",
        "std::iter::Iterator::fold",
        "std::sync::Arc",
        "std::sync::Mutex",
        "std::rc::Rc",
        "std::cell::RefCell",
        "std::fs::File",
        "std::io::Read",
        "std::io::BufRead::lines",
        "std::path::Path::join",
        "std::thread::spawn",
        "std::mem::take",
        "str::split",
    ];
    let mut outside: Vec<String> = of_std.map(str::to_owned).to_vec();
    let of_dependencies = it.asked(|view| view.ask(|context| Ok(documented_dependencies(context, 25))));
    outside.extend(of_dependencies.unwrap());
    assert!(outside.len() >= 50, "{outside:?}");
    let (mut examples, mut wrong) = (0, Vec::new());
    for path in &outside {
        let described = it.described(path);
        let docs = described.docs.unwrap_or_default();
        let written = comments(&described.symbol);
        let (docs_plain, written_plain) = (unlinked(&docs), unlinked(&written.join("\n")));
        if docs_plain != written_plain || written_plain.is_empty() {
            let at = docs_plain.chars().zip(written_plain.chars()).take_while(|(a, b)| a == b).count();
            let around = |text: &str| text.chars().skip(at.saturating_sub(30)).take(80).collect::<String>();
            wrong.push(format!("{path}: told …{}…, written …{}…", around(&docs_plain), around(&written_plain)));
        }
        let fences = written.iter().filter(|it| it.starts_with("```")).count() / 2;
        let others = written
            .iter()
            .filter(|it| it.starts_with("```text") || it.starts_with("```console") || it.starts_with("```toml"))
            .count();
        let doctests = described.examples.iter().filter(|it| it.origin == ExampleOrigin::Doctest).count();
        examples += doctests;
        if doctests + others != fences {
            wrong.push(format!("{path}: {doctests} examples of {fences} blocks"));
        }
    }
    println!("{} symbols outside, {examples} examples", outside.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(examples > 25);
}
