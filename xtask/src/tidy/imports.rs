//! Which file of a crate uses which. What a file uses is what its `use` items and its paths name; a name that a module
//! re-exports counts for the file that defines it.

use std::collections::BTreeMap;
use std::slice;

use super::source::{Segments, Source};

/// How often a name may be re-exported until the search stops.
const MOST_REEXPORTS: usize = 8;

/// One file uses another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) line: usize,
    /// The file only re-exports what it names: others use it.
    pub(crate) is_reexport: bool,
}

/// The uses among files of one crate, tests aside, sorted.
pub(crate) fn edges<'a>(sources: &[&'a Source]) -> Vec<Edge<'a>> {
    let has_library = sources.iter().any(|it| it.file.ends_with("src/lib.rs"));
    // The program next to a library is a crate of its own.
    let is_module = |it: &&&'a Source| !(it.is_test || has_library && it.file.ends_with("src/main.rs"));
    let sources: Vec<&Source> = sources.iter().filter(is_module).copied().collect();
    let names = Names::of(&sources);
    let mut edges = Vec::new();
    for source in &sources {
        let mut used = Vec::new();
        for import in source.uses.iter().filter(|it| !it.is_test) {
            let own = [source.module(), import.inside.clone()].concat();
            used.extend(names.absolute(&own, &import.path).map(|it| (it, import.line, import.is_public)));
        }
        for named in source.paths.iter().filter(|it| !it.is_test) {
            let own = [source.module(), named.inside.clone()].concat();
            let path = match named.path.as_slice() {
                [name] => names.single(&own, name),
                path => names.absolute(&own, path),
            };
            used.extend(path.map(|it| (it, named.line, false)));
        }
        for (path, line, is_reexport) in used {
            if let Some(to) = names.file_of(path).filter(|it| *it != source.file) {
                edges.push(Edge { from: &source.file, to, line, is_reexport });
            }
        }
    }
    edges.sort_unstable();
    edges
}

struct Import {
    /// Nothing for a name of another crate.
    target: Option<Segments>,
    is_public: bool,
}

#[derive(PartialEq, Eq)]
struct Glob {
    target: Segments,
    is_public: bool,
}

/// The names of one crate. All paths are absolute.
struct Names<'a> {
    /// Files and inline modules, with the file that they are in.
    modules: BTreeMap<Segments, &'a str>,
    /// Items, with the file that they are in.
    items: BTreeMap<Segments, &'a str>,
    imports: BTreeMap<Segments, Import>,
    /// Modules that a module imports all names of.
    globs: BTreeMap<Segments, Vec<Glob>>,
}

impl<'a> Names<'a> {
    fn of(sources: &[&'a Source]) -> Self {
        let mut names = Names {
            modules: BTreeMap::new(),
            items: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: BTreeMap::new(),
        };
        for source in sources {
            for item in &source.declared {
                let path = [source.module(), item.inside.clone(), vec![item.name.clone()]].concat();
                let known = if item.is_module { &mut names.modules } else { &mut names.items };
                known.insert(path, &source.file);
            }
        }
        // A declaration without a body is in one file, and the module in another.
        names.modules.extend(sources.iter().map(|it| (it.module(), it.file.as_str())));
        // An import may begin with a name that another one imports.
        for _ in 0..2 {
            for source in sources {
                for import in source.uses.iter().filter(|it| !it.is_test) {
                    let own = [source.module(), import.inside.clone()].concat();
                    let target = names.absolute(&own, &import.path);
                    if import.name != "*" {
                        let path = [own.as_slice(), slice::from_ref(&import.name)].concat();
                        names.imports.insert(path, Import { target, is_public: import.is_public });
                    } else if let Some(target) = target {
                        let globs = names.globs.entry(own).or_default();
                        let glob = Glob { target, is_public: import.is_public };
                        if !globs.contains(&glob) {
                            globs.push(glob);
                        }
                    }
                }
            }
        }
        names
    }

    /// Nothing for a path into another crate.
    fn absolute(&self, own: &[String], path: &[String]) -> Option<Segments> {
        let supers = path.iter().take_while(|it| *it == "super").count();
        let first = path.first()?;
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([own, &path[1..]].concat()),
            "super" => Some([own.get(..own.len().checked_sub(supers)?)?, &path[supers..]].concat()),
            _ => {
                let child = [own, slice::from_ref(first)].concat();
                if self.modules.contains_key(&child) || self.items.contains_key(&child) {
                    return Some([own, path].concat());
                }
                let Some(import) = self.imports.get(&child) else {
                    let source = self.glob_with(own, first, true, MOST_REEXPORTS)?;
                    return Some([source.as_slice(), path].concat());
                };
                let target = import.target.as_ref()?;
                // `use tidy::tidy` would refer to itself.
                (*target != child).then(|| [target.as_slice(), &path[1..]].concat())
            }
        }
    }

    /// The target of a name without qualification that no private `use` names: the module re-exports it too, or has it
    /// from a glob. Only types and constants, as variables may have the name of a function.
    fn single(&self, own: &[String], name: &String) -> Option<Segments> {
        let path = [own, slice::from_ref(name)].concat();
        if !name.starts_with(char::is_uppercase) || self.items.contains_key(&path) {
            return None;
        }
        match self.imports.get(&path) {
            Some(import) => import.target.clone().filter(|_| import.is_public),
            None => self.absolute(own, slice::from_ref(name)),
        }
    }

    fn file_of(&self, mut path: Segments) -> Option<&'a str> {
        for _ in 0..MOST_REEXPORTS {
            match self.step(&path) {
                Step::Elsewhere => return None,
                Step::At(file) => return Some(file),
                Step::To(next) => path = next,
            }
        }
        None
    }

    /// Follows the path until its first re-export.
    fn step(&self, path: &[String]) -> Step<'a> {
        let mut file = self.modules.get(&[] as &[String]).copied();
        for length in 1..=path.len() {
            let (prefix, rest) = path.split_at(length);
            if let Some(module) = self.modules.get(prefix) {
                file = Some(module);
                continue;
            }
            if let Some(Import { target, .. }) = self.imports.get(prefix).filter(|it| it.is_public) {
                return target.as_ref().map_or(Step::Elsewhere, |it| Step::To([it.as_slice(), rest].concat()));
            }
            if !self.items.contains_key(prefix)
                && let Some(source) = self.glob_with(&path[..length - 1], &path[length - 1], false, MOST_REEXPORTS)
            {
                return Step::To([source.as_slice(), &path[length - 1..]].concat());
            }
            break;
        }
        file.map_or(Step::Elsewhere, Step::At)
    }

    /// The module among the globs of `module` that has `name`. Private globs are for the module itself.
    fn glob_with(&self, module: &[String], name: &String, from_inside: bool, depth: usize) -> Option<Segments> {
        let depth = depth.checked_sub(1)?;
        let visible = self.globs.get(module)?.iter().filter(|it| it.is_public || from_inside);
        visible.map(|it| &it.target).find_map(|target| {
            let path = [target.as_slice(), slice::from_ref(name)].concat();
            let has = self.items.contains_key(&path)
                || self.modules.contains_key(&path)
                || self.imports.get(&path).is_some_and(|it| it.is_public);
            if has { Some(target.clone()) } else { self.glob_with(target, name, false, depth) }
        })
    }
}

enum Step<'a> {
    /// Another crate has it.
    Elsewhere,
    At(&'a str),
    To(Segments),
}

#[cfg(test)]
pub(crate) fn sources(files: &[(&str, &str)]) -> Vec<Source> {
    let mut sources: Vec<Source> =
        files.iter().map(|(file, text)| super::parse::source(&format!("crates/x/src/{file}"), text)).collect();
    super::source::mark_test_files(&mut sources);
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses as `from to`, re-exports with a star.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let sources = sources(files);
        let sources: Vec<&Source> = sources.iter().collect();
        let short = |file: &str| file.trim_start_matches("crates/x/src/").trim_end_matches(".rs").to_owned();
        let star = |edge: &Edge<'_>| if edge.is_reexport { "*" } else { "" };
        let mut found: Vec<String> =
            edges(&sources).iter().map(|it| format!("{} {}{}", short(it.from), short(it.to), star(it))).collect();
        found.dedup();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_use_is_found_however_it_is_written() {
        for text in [
            "use crate::b;",
            "use crate::{b::B, c};",
            "use super::b::B;",
            "fn f() { crate::b::g() }",
            "fn f(x: super::b::B) {}",
            "fn f() { println!(\"{}\", crate::b::X) }",
            "mod inner { use super::super::b::B; }",
            "#[derive(A)] struct S { b: crate::b::B }",
            "struct S { #[arg(value_parser = super::b::f)] b: u8 }",
            "use super::*; use crate::b as d; fn f() { d::g() }",
            "pub(crate) fn f() -> crate::b::B { }",
        ] {
            let found = sources(&[("lib.rs", "mod a; mod b; fn c() {}"), ("a.rs", text), ("b.rs", "pub struct B;")]);
            let found = edges(&found.iter().collect::<Vec<_>>()).iter().any(|it| it.to.ends_with("b.rs"));
            assert!(found, "{text}");
        }
        check(
            &[("lib.rs", "mod a; fn f() {}"), ("a.rs", "use crate::f; use std::fmt; pub(super) fn g() {}")],
            &["a lib"],
        );
        check(
            &[("lib.rs", "mod a;"), ("a.rs", "// crate::b\n#[cfg(test)] mod t { use crate::b; }"), ("b.rs", "")],
            &[],
        );
    }

    #[test]
    fn a_reexport_counts_for_the_file_that_defines_the_name() {
        let user = ("a.rs", "use crate::b::C;");
        let definition = ("b/c.rs", "pub struct C;");
        check(&[user, ("b.rs", "pub use c::C;"), definition], &["a b/c", "b b/c*"]);
        check(&[user, ("b.rs", "pub(crate) use c::D as C;"), ("b/c.rs", "pub struct D;")], &["a b/c", "b b/c*"]);
        check(&[user, ("b.rs", "mod c; pub use c::*;"), definition], &["a b/c", "b b/c*"]);
        check(&[user, ("b.rs", "mod c; pub use c::*; struct C;"), definition], &["a b", "b b/c*"]);
        check(&[user, ("b.rs", "use c::C;"), definition], &["a b", "b b/c"]);
        check(&[user, ("b.rs", "pub use std::C;")], &[]);
        let glob = [
            ("a.rs", "use super::*; fn f(x: C) {}"),
            ("lib.rs", "mod a; mod b; pub use b::*;"),
            ("b.rs", "pub struct C;"),
        ];
        check(&glob, &["a b", "a lib", "lib b*"]);
        check(&[user, ("b.rs", "pub use c::C; fn f() -> C {}"), definition], &["a b/c", "b b/c", "b b/c*"]);
    }
}
