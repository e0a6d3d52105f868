//! Circles of imports: files that use each other, directly or through others. What a file uses is what its `use` lines and
//! its paths name; a name that a module hands on with `pub use` counts for the file that has it.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Token, code, is_test_file, tokens, without_tests};
use super::{files_below, module_path, read, root};

/// Files that may use each other in a circle.
const MOST_IN_A_CIRCLE: usize = 5;

type Path = Vec<String>;

#[test]
fn no_circle_of_imports_is_larger_than_five_files() {
    let root = root();
    let files = files_below(&root, &root.join("src"), "rs");
    let texts: Vec<(String, String)> = files.into_iter().map(|it| (it.clone(), read(&it))).collect();
    let large: Vec<_> = circles(&texts).into_iter().filter(|it| it.len() > MOST_IN_A_CIRCLE).collect();
    assert!(large.is_empty(), "circles of more files than there may be: {large:#?}");
}

#[test]
fn a_circle_is_found() {
    let found = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(file, text)| (format!("src/{file}"), (*text).to_owned())).collect();
        circles(&files).into_iter().map(|it| it.join(" ")).collect::<Vec<_>>()
    };
    let direct = [("a.rs", "use crate::{b, c::C};"), ("b.rs", "fn f() { super::a::g() }"), ("c.rs", "pub struct C;")];
    assert_eq!(found(&direct), ["src/a.rs src/b.rs"]);
    let by_child = [("a.rs", "mod b;\nfn f() { b::g() }"), ("a/b.rs", "use super::f;")];
    assert_eq!(found(&by_child), ["src/a.rs src/a/b.rs"]);
    let handed_on = [("a.rs", "pub use b::f;"), ("a/b.rs", "use crate::c;"), ("c.rs", "use crate::a::f;")];
    assert_eq!(found(&handed_on), ["src/a/b.rs src/c.rs"]);
    let none = [
        ("a.rs", "mod b;\n#[cfg(test)]\nmod tests { use super::b::f; }"),
        ("a/b.rs", "use super::X; // crate::a::b\n"),
        ("a/tests.rs", "use super::b; use crate::a;"),
    ];
    assert_eq!(found(&none), [] as [&str; 0]);
}

/// The circles of more than one file, each sorted.
fn circles(files: &[(String, String)]) -> Vec<Vec<String>> {
    let production: Vec<_> = files.iter().filter(|it| !is_test_file(&it.0)).collect();
    let modules: BTreeMap<Path, &str> = production.iter().map(|it| (module_path(&it.0), it.0.as_str())).collect();
    let mut handed_on: BTreeMap<Path, Path> = BTreeMap::new();
    let mut named: Vec<(&str, Vec<Path>)> = Vec::new();
    for (file, text) in &production {
        let tokens = tokens(&without_tests(&code(text)));
        named.push((file, paths(&module_path(file), &tokens, &modules, &mut handed_on)));
    }
    let file_of = |path: &Path| {
        let mut path = path.clone();
        // A name may be handed on more than once.
        for _ in 0..4 {
            let shorter = (1..=path.len()).rev().find(|it| handed_on.contains_key(&path[..*it]));
            let Some(length) = shorter else { break };
            path = [handed_on[&path[..length]].as_slice(), &path[length..]].concat();
        }
        (1..=path.len()).rev().find_map(|it| modules.get(&path[..it]).copied())
    };
    let uses: BTreeMap<&str, BTreeSet<&str>> =
        named.iter().map(|(file, paths)| (*file, paths.iter().filter_map(file_of).collect())).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|it| (*it, reached_from(it, &uses))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let circle: Vec<String> =
            others.iter().filter(|it| reached[**it].contains(file)).map(|it| (*it).to_owned()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
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

/// The absolute paths that a module names; what it hands on is entered with the path that it has there.
fn paths(
    own: &[String],
    tokens: &[Token],
    modules: &BTreeMap<Path, &str>,
    handed_on: &mut BTreeMap<Path, Path>,
) -> Vec<Path> {
    let text = |at: usize| tokens.get(at).map_or("", |it| it.text.as_str());
    let is_name = |it: &str| it.starts_with(|it: char| it.is_alphabetic() || it == '_');
    let mut found: Vec<Path> = Vec::new();
    // What a first segment stands for.
    let mut imported: BTreeMap<String, Path> = BTreeMap::new();
    let mut inner: Vec<Path> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if text(at) == "use" {
            let (start, mut leaves) = (at, Vec::new());
            at = tree(tokens, at + 1, &Vec::new(), &mut leaves);
            let is_public = start > 0 && matches!(text(start - 1), "pub" | ")");
            for (path, name) in leaves {
                let Some(path) = absolute(own, &path, modules) else { continue };
                imported.insert(name.clone(), path.clone());
                // What is only handed on is used by others.
                match is_public {
                    true => drop(handed_on.insert([own, &[name]].concat(), path)),
                    false => found.push(path),
                }
            }
        } else if is_name(text(at)) && text(at + 1) == "::" && (at == 0 || !matches!(text(at - 1), "::" | ".")) {
            let mut path = vec![text(at).to_owned()];
            while text(at + 1) == "::" && is_name(text(at + 2)) {
                path.push(text(at + 2).to_owned());
                at += 2;
            }
            inner.push(path);
        }
        at += 1;
    }
    for path in inner {
        let whole = match imported.get(&path[0]) {
            Some(first) => Some([first.as_slice(), &path[1..]].concat()),
            None => absolute(own, &path, modules),
        };
        found.extend(whole);
    }
    found.retain(|it| it.as_slice() != own);
    found
}

/// The leaves of a `use` tree with the names that they have; answers where it ends.
fn tree(tokens: &[Token], mut at: usize, prefix: &Path, leaves: &mut Vec<(Path, String)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or(";", |it| it.text.as_str());
    let mut path = prefix.clone();
    loop {
        match text(at) {
            "{" => {
                at += 1;
                while !matches!(text(at), "}" | ";") {
                    at = tree(tokens, at, &path, leaves);
                    if text(at) == "," {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "::" => at += 1,
            "," | "}" | ";" => break,
            "as" => {
                leaves.push((path, text(at + 1).to_owned()));
                return at + 2;
            }
            "self" if !path.is_empty() => at += 1,
            name => {
                path.push(name.to_owned());
                at += 1;
            }
        }
    }
    if let Some(name) = path.last().cloned() {
        leaves.push((path, name));
    }
    at
}

fn absolute(own: &[String], path: &[String], modules: &BTreeMap<Path, &str>) -> Option<Path> {
    let supers = path.iter().take_while(|it| *it == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([own, &path[1..]].concat()),
        "super" => Some([own.get(..own.len().checked_sub(supers)?)?, &path[supers..]].concat()),
        first => {
            let child = [own, &[first.to_owned()]].concat();
            modules.contains_key(&child).then(|| [own, path].concat())
        }
    }
}
