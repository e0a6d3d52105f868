//! Directions of imports inside a crate: files that use each other in a circle, and folders that use those above them.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::Complaint;
use super::imports::Edge;
use super::source::Source;

/// Files that may use each other in a circle.
const MOST_IN_A_CIRCLE: usize = 3;

/// Crates whose folders have an order, from the bottom to the top: a file does not use a folder above its own. Files
/// directly in `src/` are above all folders; `src/a.rs` belongs to the folder `a`. Tests may use everything.
pub(crate) const LAYERS: &[(&str, &[&str])] = &[(
    "rust",
    &[
        "bounds",
        "syntax",
        "names",
        "file_interface",
        "finding",
        "index",
        "view",
        "resolve",
        "usages",
        "checks",
        "invalidate",
        "impact",
        "questions",
        "load",
        "verify",
        "engine",
    ],
)];

pub(crate) fn circles(edges: &[Edge<'_>]) -> Vec<Complaint> {
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges.iter().filter(|it| !it.is_reexport) {
        uses.entry(edge.from).or_default().insert(edge.to);
        uses.entry(edge.to).or_default();
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|it| (*it, reached_from(it, &uses))).collect();
    let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, others) in &reached {
        circles.insert(others.iter().filter(|it| reached[**it].contains(file)).copied().collect());
    }
    circles.retain(|it| it.len() > MOST_IN_A_CIRCLE);
    circles.iter().map(|it| circle(it, edges)).collect()
}

/// The complaint says which lines make the circle.
fn circle(files: &[&str], edges: &[Edge<'_>]) -> Complaint {
    let mut message = format!(
        "{} files use each other in a circle, {MOST_IN_A_CIRCLE} may. Move what they share to a file that uses none of \
         them:",
        files.len()
    );
    let mut seen = BTreeSet::new();
    for edge in edges.iter().filter(|it| !it.is_reexport && files.contains(&it.from) && files.contains(&it.to)) {
        if seen.insert((edge.from, edge.to)) {
            message += &format!("\n    {}:{} uses {}", edge.from, edge.line, edge.to);
        }
    }
    Complaint::new(files[0], 1, message)
}

fn reached_from<'a>(file: &str, uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<&str> = uses[file].iter().copied().collect();
    while let Some(next) = pending.pop() {
        if reached.insert(next) {
            pending.extend(&uses[next]);
        }
    }
    reached
}

pub(crate) fn layers(
    crate_name: &str,
    sources: &[&Source],
    edges: &[Edge<'_>],
    layers: &[(&str, &[&str])],
) -> Vec<Complaint> {
    let Some((_, folders)) = layers.iter().find(|(name, _)| *name == crate_name) else { return Vec::new() };
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| !it.is_test) {
        if let Place::Unknown(folder) = place(&source.file, folders) {
            complaints.push(Complaint::new(
                &source.file,
                1,
                format!("the folder `{folder}` has no place in the order of {crate_name}: enter it in LAYERS"),
            ));
        }
    }
    let mut seen = BTreeSet::new();
    for edge in edges {
        let (Place::Known(from), Place::Known(to)) = (place(edge.from, folders), place(edge.to, folders)) else {
            continue;
        };
        if from < to && seen.insert((edge.from, edge.to)) {
            complaints.push(Complaint::new(
                edge.from,
                edge.line,
                format!(
                    "`{}` is below `{}` and must not use {}: move what it needs down, or the caller up",
                    folders[from],
                    folders.get(to).unwrap_or(&"src"),
                    edge.to
                ),
            ));
        }
    }
    complaints
}

enum Place<'a> {
    /// From the bottom; the files in `src/` come after the last folder.
    Known(usize),
    Unknown(&'a str),
}

fn place<'a>(file: &'a str, folders: &[&str]) -> Place<'a> {
    let inner = file.split_once("src/").map_or(file, |it| it.1);
    let folder = inner.split_once('/').map(|it| it.0);
    let rank = |name: &str| folders.iter().position(|it| *it == name);
    match folder {
        Some(name) => rank(name).map_or(Place::Unknown(name), Place::Known),
        None => Place::Known(rank(inner.trim_end_matches(".rs")).unwrap_or(folders.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::complaint::{fails, passes};
    use super::super::imports::{edges, sources};
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<Complaint> {
        let sources = sources(files);
        let sources: Vec<&Source> = sources.iter().collect();
        circles(&edges(&sources))
    }

    #[test]
    fn a_circle_is_found() {
        let four = [
            ("a.rs", "use crate::{b, e::E};"),
            ("b.rs", "fn f() { super::c::g() }"),
            ("c.rs", "mod d;\nfn f() { d::g() }"),
            ("c/d.rs", "use super::f;\nfn g(x: super::super::a::A) {}"),
            ("e.rs", "pub struct E;"),
        ];
        fails(circles_of(&four), "crates/x/src/a.rs:1: 4 files use each other in a circle, 3 may");
        fails(circles_of(&four), "crates/x/src/c/d.rs:2 uses crates/x/src/a.rs");
        let reexported = [
            ("a.rs", "pub use b::f;"),
            ("a/b.rs", "use crate::c;"),
            ("c.rs", "use crate::d;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", "use crate::a::f;"),
        ];
        fails(circles_of(&reexported), "crates/x/src/a/b.rs:1: 4 files");
        passes(circles_of(&[("a.rs", "use crate::b;"), ("b.rs", "use crate::c;"), ("c.rs", "use crate::a;")]));
        let by_tests = [
            ("a.rs", "mod b;\n#[cfg(test)]\nmod tests { use crate::{b, c, d}; }"),
            ("b.rs", "use super::a::X; // crate::d\n"),
            ("c.rs", "use crate::b;"),
            ("d.rs", "use crate::c;"),
            ("b/tests.rs", "use super::super::d;"),
        ];
        passes(circles_of(&by_tests));
    }

    #[test]
    fn an_import_that_runs_upward_is_found() {
        let order: &[(&str, &[&str])] = &[("x", &["low", "high"])];
        let found = |files: &[(&str, &str)]| {
            let folders = [("low/mod.rs", ""), ("high/mod.rs", "mod b;")];
            let sources = sources(&[files, &folders].concat());
            let sources: Vec<&Source> = sources.iter().collect();
            layers("x", &sources, &edges(&sources), order)
        };
        let high = ("high/b.rs", "pub struct B;");
        fails(found(&[("low/a.rs", "\nuse crate::high::b::B;"), high]), "low/a.rs:2: `low` is below `high`");
        fails(found(&[("low.rs", "pub use crate::high::b::B;"), high]), "`low` is below `high`");
        fails(found(&[("low/a.rs", "use crate::F;"), ("lib.rs", "pub struct F;")]), "`low` is below `src`");
        fails(found(&[("other/a.rs", "")]), "the folder `other` has no place in the order of x");
        let lawful = [("low/a.rs", "use super::c::C;"), ("low/c.rs", ""), ("high/b.rs", "use crate::low::a;")];
        passes(found(&lawful));
        let tests = ("lib.rs", "#[cfg(test)]\nmod tests;");
        passes(found(&[tests, ("tests.rs", "mod a;"), ("tests/a.rs", "use crate::high::b::B;"), high]));
        passes(found(&[("top.rs", "use crate::{low::a, high::b};"), ("low/a.rs", ""), high]));
        passes(found(&[
            ("low/a.rs", "use crate::B;"),
            ("lib.rs", "pub use low::c::B;"),
            ("low/c.rs", "pub struct B;"),
        ]));
        let sources = sources(&[("low/a.rs", "use crate::high::b::B;"), ("high/mod.rs", ""), high]);
        let sources: Vec<&Source> = sources.iter().collect();
        passes(layers("y", &sources, &edges(&sources), order));
    }
}
