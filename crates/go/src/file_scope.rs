//! Name resolution in the scope of one file: its own package, its imports by their names there, the predeclared names,
//! and only then everything else.

use super::modules::{GoPackage, module_of, package_of};
use super::package_set::{PackageSet, may_be_called};
use super::predeclared;
use super::resolve::{ExternalLookup, Meant, Wanted, anywhere, exactly, unknown_package, within};
use super::same_paths::preferring;
use super::symbol_paths::Declaration;
use semdex_engine::files::Files;
use semdex_model::{Code, Error, Import};

pub(crate) struct FileScope<'w> {
    package_set: &'w PackageSet,
    files: &'w Files,
    file: &'w str,
    own: Option<&'w GoPackage>,
    imports: &'w [Import],
}

impl<'w> FileScope<'w> {
    pub(crate) fn of(package_set: &'w PackageSet, files: &'w Files, file: &'w str) -> Result<FileScope<'w>, Error> {
        let unknown = || Error::new(Code::UnknownFile, format!("there is no file `{file}` in the workspace"));
        let imports = &files.get(file).ok_or_else(unknown)?.outline().imports;
        let own = package_of(files, file).and_then(|(path, _)| package_set.package(&path));
        Ok(FileScope { package_set, files, file, own, imports })
    }

    pub(crate) fn sees(&self, wanted: &Wanted, outside: ExternalLookup) -> Meant<'w> {
        let own = || self.own.map(|it| self.package_set.lookup(it, &wanted.bits)).unwrap_or_default();
        for found in [exactly(self.package_set, wanted), own()] {
            if !found.is_empty() {
                return Meant::Here(self.preferring(found));
            }
        }
        if let Some(meant) = self.imported(wanted, outside) {
            return meant;
        }
        let universal = predeclared::is_declared(&wanted.text).then(|| outside(predeclared::PACKAGE, &wanted.bits));
        if let Some(symbol) = universal.flatten() {
            return Meant::Outside(Box::new(symbol));
        }
        let members = self.own.map(|it| self.package_set.members(it, &wanted.bits)).unwrap_or_default();
        if members.is_empty() {
            anywhere(self.package_set, wanted, outside)
        } else {
            Meant::Here(self.preferring(members))
        }
    }

    /// The target of a link in a doc comment: in the package, or in one that the file imports.
    pub(crate) fn linked(&self, wanted: &Wanted) -> Option<String> {
        let own = self.own.map(|it| self.package_set.lookup(it, &wanted.bits)).unwrap_or_default();
        if let Some(found) = own.first() {
            return Some(self.package_set.symbol(found).path);
        }
        let (qualifier, bits) = wanted.bits.split_first()?;
        let import = self.imports.iter().find(|it| self.is_called(it, qualifier))?;
        let Some(package) = self.package_set.package(&import.path) else {
            return Some([std::slice::from_ref(&import.path), bits].concat().join("."));
        };
        let found = self.package_set.lookup(package, bits);
        if bits.is_empty() {
            Some(import.path.clone())
        } else {
            found.first().map(|it| self.package_set.symbol(it).path)
        }
    }

    /// Resolves a name in a package, given by its name in this file.
    pub(crate) fn within(&self, package: &str, wanted: &Wanted, outside: ExternalLookup) -> Result<Meant<'w>, Error> {
        let scope = self.packages(package);
        let named = self.imports.iter().filter(|it| self.is_called(it, package));
        if scope.is_empty() {
            let mut elsewhere = named.filter_map(|it| outside(&it.path, &wanted.bits));
            return elsewhere
                .next()
                .map(|it| Meant::Outside(Box::new(it)))
                .ok_or_else(|| unknown_package(self.package_set, package));
        }
        Ok(Meant::Here(self.preferring(within(self.package_set, &scope, wanted))))
    }

    /// The packages that a name means here: by the whole path or directory, by the name of an import, and otherwise
    /// packages that the file imports or that are in its module.
    fn packages(&self, name: &str) -> Vec<&'w GoPackage> {
        let named = self.package_set.packages_named(name);
        if named.iter().any(|it| it.import_path == name || it.directory == name) {
            return named;
        }
        if let Some(import) = self.imports.iter().find(|it| self.is_called(it, name)) {
            return self.package_set.package(&import.path).into_iter().collect();
        }
        let module = |path: &str| module_of(self.files, path).map(|it| it.directory);
        let here = module(self.file);
        let is_imported = |it: &&GoPackage| self.imports.iter().any(|import| import.path == it.import_path);
        let is_near = |it: &&GoPackage| module(&it.directory) == here;
        let ways: [&dyn Fn(&&GoPackage) -> bool; 2] = [&is_imported, &is_near];
        for way in ways {
            let found: Vec<&GoPackage> = named.iter().copied().filter(way).collect();
            if !found.is_empty() {
                return found;
            }
        }
        named
    }

    /// Resolves a name by an import: after the import's name, or without it for a dot import.
    fn imported(&self, wanted: &Wanted, outside: ExternalLookup) -> Option<Meant<'w>> {
        let qualified = wanted.bits.split_first().filter(|(_, bits)| !bits.is_empty());
        let by_name = self.imports.iter().filter_map(|import| {
            let (qualifier, bits) = qualified?;
            self.is_called(import, qualifier).then_some((import, bits))
        });
        let dotted = self.imports.iter().filter(|it| it.alias.as_deref() == Some("."));
        by_name.chain(dotted.map(|it| (it, wanted.bits.as_slice()))).find_map(|(import, bits)| {
            let Some(package) = self.package_set.package(&import.path) else {
                return outside(&import.path, bits).map(|it| Meant::Outside(Box::new(it)));
            };
            let found = self.package_set.lookup(package, bits);
            (!found.is_empty()).then_some(Meant::Here(found))
        })
    }

    fn is_called(&self, import: &Import, name: &str) -> bool {
        match (&import.alias, self.package_set.package(&import.path)) {
            (Some(alias), _) => alias == name,
            (None, Some(package)) => package.name == name,
            (None, None) => may_be_called(&import.path, name),
        }
    }

    fn preferring(&self, found: Vec<Declaration<'w>>) -> Vec<Declaration<'w>> {
        preferring(found, |it| *it.file.path == *self.file)
    }
}

#[cfg(test)]
mod tests {
    use crate::resolve::resolve;
    use crate::tests::fixture::files;
    use semdex_model::SymbolQuery;

    const TREE: &str = "
//- a/go.mod
module example.com/a
//- a/cmd/main.go
package main

import (
	people \"example.com/a/internal/user\"
	\"example.com/lib/http-go\"
	. \"example.com/lib/dotted\"
	_ \"example.com/lib/blank\"
)
//- a/other/o.go
package other
//- a/internal/user/user.go
package user

type User struct{}
//- b/go.mod
module example.com/b
//- b/cmd/main.go
package main

import \"example.com/a/internal/user\"
//- b/internal/user/user.go
package user

type User struct{}
//- lib/go.mod
module example.com/lib
//- lib/http-go/h.go
package http

type Client struct{}
//- lib/dotted/d.go
package dotted

type Described struct{}
//- lib/blank/b.go
package blank

type Client struct{}
//- lib/net/http/h.go
package http

type Client struct{}
";

    fn ask(symbol: &str, package: &str, file: &str) -> String {
        let given = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let query = SymbolQuery { symbol: symbol.to_owned(), package: given(package), file: given(file), build: None };
        match resolve(&files(TREE), &query, &|_, _| None) {
            Ok(found) => found[0].path.clone(),
            Err(error) => error.code.name().to_owned(),
        }
    }

    #[test]
    fn packages_go_by_the_names_that_a_file_gives_them() {
        for (symbol, package, file, expected) in [
            ("User", "internal/user", "a/cmd/main.go", "example.com/a/internal/user.User"),
            ("User", "people", "a/cmd/main.go", "example.com/a/internal/user.User"),
            ("User", "people", "a/other/o.go", "unknown_package"),
            ("User", "user", "a/other/o.go", "example.com/a/internal/user.User"),
            ("User", "internal/user", "b/cmd/main.go", "example.com/a/internal/user.User"),
            ("User", "b/internal/user", "b/cmd/main.go", "example.com/b/internal/user.User"),
            ("User", "internal/user", "", "ambiguous_symbol"),
            ("people.User", "", "a/cmd/main.go", "example.com/a/internal/user.User"),
            ("http.Client", "", "a/cmd/main.go", "example.com/lib/http-go.Client"),
            ("Client", "http", "a/cmd/main.go", "example.com/lib/http-go.Client"),
            ("http.Client", "", "", "ambiguous_symbol"),
            ("Described", "", "a/cmd/main.go", "example.com/lib/dotted.Described"),
            ("blank.Client", "", "a/cmd/main.go", "example.com/lib/blank.Client"),
        ] {
            assert_eq!(ask(symbol, package, file), expected, "{symbol} {package} {file}");
        }
    }
}
