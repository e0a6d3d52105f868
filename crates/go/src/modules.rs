//! The modules and packages of the workspace's files, and their import paths.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::build_constraints::BuildContext;
use super::gomod::{Module, Work, parse_module, parse_work};
use super::syntax::package_clause;
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};

/// The relation of a package to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Membership {
    /// A package of the workspace itself.
    Member,
    /// A copy of a dependency below `vendor`.
    Vendored,
    /// Below `testdata`, or with a name that the go command ignores.
    Ignored,
}

/// The Go files of one package in a directory. An external test package is a package of its own.
#[derive(Debug, Clone)]
pub(crate) struct GoPackage {
    pub import_path: String,
    /// The name in its files' package clauses.
    pub name: String,
    pub directory: String,
    pub files: Vec<Arc<File>>,
    pub standing: Membership,
    /// It is outside the workspace.
    pub external: bool,
}

/// Every module below the root, outer before inner.
pub(crate) fn modules(files: &Files) -> Vec<Module> {
    let found = files.iter().filter(|it| base_name(&it.path) == "go.mod");
    found.filter_map(|it| parse_module(parent(&it.path), &it.text)).collect()
}

pub(crate) fn works(files: &Files) -> Vec<Work> {
    let found = files.iter().filter(|it| base_name(&it.path) == "go.work");
    found.map(|it| parse_work(parent(&it.path), &it.text)).collect()
}

/// The module of a file or directory, by the nearest `go.mod`.
pub(crate) fn module_of(files: &Files, path: &str) -> Option<Module> {
    let mut directory = path;
    loop {
        if let Some(file) = files.get(&below(directory, "go.mod")) {
            return parse_module(directory, &file.text);
        }
        if directory.is_empty() {
            return None;
        }
        directory = parent(directory);
    }
}

/// The import path of a file's package. Without one, its directory, or in the root the package's name.
pub(crate) fn package_of(files: &Files, file: &str) -> Option<(String, Membership)> {
    let text = files.get(file)?;
    let (path, standing) = place_of(module_of(files, file).as_ref(), text);
    Some((package_path(path, text), standing))
}

fn place_of(module: Option<&Module>, file: &File) -> (String, Membership) {
    let directory = parent(&file.path);
    let (path, standing) = match module {
        Some(module) => directory_path(module, directory),
        None if directory.is_empty() => (package_clause(&file.text).unwrap_or_default().to_owned(), Membership::Member),
        None => (directory.to_owned(), standing_of(directory)),
    };
    (path, if is_package_file(&file.path) { standing } else { Membership::Ignored })
}

/// All packages with files in the workspace, ordered by directory; a package before its external test package.
pub(crate) fn packages(files: &Files) -> Vec<GoPackage> {
    let mut modules: HashMap<&str, Option<Module>> = HashMap::new();
    let mut packages: BTreeMap<(String, String), GoPackage> = BTreeMap::new();
    for file in files.of(LANGUAGE) {
        let directory = parent(&file.path);
        let module = modules.entry(directory).or_insert_with(|| module_of(files, directory));
        let (path, standing) = place_of(module.as_ref(), file);
        let path = package_path(path, file);
        let package = packages.entry((directory.to_owned(), path.clone())).or_insert_with(|| GoPackage {
            import_path: path,
            name: String::new(),
            directory: directory.to_owned(),
            files: Vec::new(),
            standing,
            external: false,
        });
        package.standing = package.standing.min(standing);
        package.files.push(file.clone());
    }
    packages.into_values().map(GoPackage::named).collect()
}

impl GoPackage {
    /// Sets the name from its files' package clauses. If they differ, the most frequent one of the files that a build
    /// includes.
    pub(crate) fn named(mut self) -> GoPackage {
        let context = BuildContext::host();
        let clauses: Vec<_> = self.files.iter().filter_map(|it| Some((it, package_clause(&it.text)?))).collect();
        let mut names = clauses.iter().map(|it| it.1);
        let first = names.next().unwrap_or_default();
        if names.all(|it| it == first) {
            self.name = first.to_owned();
            return self;
        }
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (file, name) in &clauses {
            let count = counts.entry(name).or_default();
            count.0 += usize::from(context.takes(&file.path, &file.text));
            count.1 += 1;
        }
        let name = counts.into_iter().max_by_key(|&(_, count)| count).map(|(name, _)| name.to_owned());
        self.name = name.unwrap_or_default();
        self
    }
}

/// A directory's import path, by its module.
fn directory_path(module: &Module, directory: &str) -> (String, Membership) {
    let rest = rest_of(directory, &module.directory).unwrap_or_default();
    let components: Vec<&str> = rest.split('/').filter(|it| !it.is_empty()).collect();
    if let Some(at) = components.iter().rposition(|it| *it == "vendor")
        && at + 1 < components.len()
    {
        return (components[at + 1..].join("/"), Membership::Vendored);
    }
    (below(module_prefix(module), rest), standing_of(rest))
}

/// The standard library's module is `std`, but its packages have no such prefix.
fn module_prefix(module: &Module) -> &str {
    if module.path == "std" { "" } else { &module.path }
}

fn standing_of(directory: &str) -> Membership {
    if directory.split('/').any(|it| it == "testdata" || it.starts_with(['_', '.'])) {
        Membership::Ignored
    } else {
        Membership::Member
    }
}

fn is_package_file(file: &str) -> bool {
    LANGUAGE.takes(file) && !base_name(file).starts_with(['_', '.'])
}

/// The path of a directory's package, or for a file of its external test package, the path of that.
fn package_path(path: String, file: &File) -> String {
    let external_test =
        file.path.ends_with("_test.go") && package_clause(&file.text).is_some_and(|it| it.ends_with("_test"));
    if external_test { path + "_test" } else { path }
}

/// The rest of a path below another path; `None` if it is not below it.
pub(crate) fn rest_of<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    if prefix.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

pub(crate) fn below(directory: &str, rest: &str) -> String {
    match (directory, rest) {
        ("", rest) => rest.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}

pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::files;

    const TREE: &str = "
//- go.mod
module example.com/m // the root
go 1.26
//- main.go
package main
//- a/a.go
package a
//- a/gen.go
//go:build ignore

package main
//- a/a_test.go
package a
//- a/x_test.go
package a_test
//- a/testdata/t.go
package t
//- a/_skip/s.go
package s
//- a/_a.go
package a
//- nested/go.mod
module \"example.com/other\"
//- nested/b/v2/b.go
package b
//- vendor/golang.org/x/y/y.go
package y
//- nested/testdata/mod/go.mod
module fixture
//- nested/testdata/mod/f.go
package f
";

    #[test]
    fn import_paths() {
        let tree = files(TREE);
        let path = |file: &str| {
            let (path, standing) = package_of(&tree, file)?;
            (standing != Membership::Ignored).then_some(path)
        };
        let expected = [
            ("main.go", Some("example.com/m")),
            ("a/a.go", Some("example.com/m/a")),
            ("a/gen.go", Some("example.com/m/a")),
            ("a/a_test.go", Some("example.com/m/a")),
            ("a/x_test.go", Some("example.com/m/a_test")),
            ("a/testdata/t.go", None),
            ("a/_skip/s.go", None),
            ("a/_a.go", None),
            ("nested/b/v2/b.go", Some("example.com/other/b/v2")),
            ("vendor/golang.org/x/y/y.go", Some("golang.org/x/y")),
            ("nested/testdata/mod/f.go", Some("fixture")),
            ("go.mod", None),
            ("gone.go", None),
        ];
        for (file, expected) in expected {
            assert_eq!(path(file).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn packages_of_a_workspace() {
        let listed: Vec<String> = packages(&files(TREE))
            .iter()
            .map(|it| format!("{} {} {} {:?}", it.import_path, it.name, it.files.len(), it.standing))
            .collect();
        assert_eq!(
            listed,
            [
                "example.com/m main 1 Member",
                "example.com/m/a a 4 Member",
                "example.com/m/a_test a_test 1 Member",
                "example.com/m/a/_skip s 1 Ignored",
                "example.com/m/a/testdata t 1 Ignored",
                "example.com/other/b/v2 b 1 Member",
                "fixture f 1 Member",
                "golang.org/x/y y 1 Vendored",
            ]
        );
        let bare = files("\n//- x.go\npackage x\n//- d/e/y.go\npackage y\n");
        let bare: Vec<String> = packages(&bare).into_iter().map(|it| it.import_path).collect();
        assert_eq!(bare, ["x", "d/e"]);
        let std = files("\n//- src/go.mod\nmodule std\n//- src/net/http/h.go\npackage http\n");
        assert_eq!(package_of(&std, "src/net/http/h.go").map(|it| it.0).as_deref(), Some("net/http"));
    }
}
