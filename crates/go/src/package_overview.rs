//! The overview of a package, as in its documentation: docs, files and the exported API.

use super::build_constraints::BuildContext;
use super::modules::GoPackage;
use super::package_set::PackageSet;
use super::resolve::unknown_package;
use super::symbol_paths::{Declaration, is_test_file};
use super::syntax::{group_docs, package_clause};
use semdex_engine::files::File;
use semdex_model::{Code, Error, Help, OutlineItem, Package, Symbol, SymbolKind};

/// The package of the workspace that a name means: an import path or the end of one, a directory, or the name in its
/// package clause.
pub(crate) fn package(package_set: &PackageSet, name: &str) -> Result<Package, Error> {
    match package_set.packages_named(name).as_slice() {
        [one] => Ok(overview(one, None)),
        [] => Err(unknown_package(package_set, name)),
        several => {
            let detail = format!("{} packages are called `{name}`; name one by its import path", several.len());
            let suggestions = several.iter().take(20).map(|it| it.import_path.clone()).collect();
            Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { suggestions, ..Help::default() }))
        }
    }
}

/// The exported API of a package; for a command, which exports nothing, all its declarations.
pub(crate) fn overview(package: &GoPackage, version: Option<&str>) -> Package {
    let context = BuildContext::host();
    let tests_only = package.files.iter().all(|it| is_test_file(&it.path));
    let shown = |it: &Declaration| tests_only || !it.is_test();
    let taken = |it: &Declaration| context.takes(&it.file.path, &it.file.text);
    let whole = package.name == "main" || tests_only;
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut methods: Vec<Declaration> = Vec::new();
    for declaration in package.top_level().filter(|it| shown(it) && taken(it) && it.declares()) {
        let item = declaration.item;
        if !item.container.is_empty() {
            methods.push(declaration);
        } else if item.public || whole {
            symbols.push(declaration.symbol());
        }
    }
    for symbol in &mut symbols {
        *symbol = documented(symbol.clone(), &methods, whole);
    }
    Package {
        name: package.import_path.clone(),
        version: version.map(str::to_owned),
        docs: docs(package),
        root: package.directory.clone(),
        files: package.files.iter().map(|it| it.path.to_string()).collect(),
        symbols,
        external: package.external,
        origin: None,
    }
}

/// The source text and docs of one declaration.
pub(crate) struct Documentation {
    /// Its lines, docs included.
    pub source: Option<String>,
    /// Its own docs, else the docs of its group of declarations.
    pub docs: Option<String>,
}

impl Documentation {
    pub(crate) fn of(file: &File, item: &OutlineItem) -> Documentation {
        let is_value = matches!(item.kind, SymbolKind::Const | SymbolKind::Variable);
        let group = || group_docs(&file.text, item.name_span.start).filter(|_| is_value);
        let docs = item.docs.clone().or_else(group);
        Documentation { source: file.text.get(item.span.start..item.span.end).map(str::to_owned), docs }
    }
}

/// A type with its methods as children. Without `whole`, only what is exported.
pub(crate) fn documented(mut symbol: Symbol, methods: &[Declaration], whole: bool) -> Symbol {
    symbol.children.retain(|it| it.public || whole);
    if matches!(symbol.kind, SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type) {
        let own = methods.iter().filter(|it| it.item.container.first() == Some(&symbol.name));
        symbol.children.extend(own.filter(|it| it.item.public || whole).map(Declaration::symbol));
    }
    symbol
}

/// The package comment: first from `doc.go`, then from the remaining files, joined as `go doc` does.
fn docs(package: &GoPackage) -> Option<String> {
    let tests_only = package.files.iter().all(|it| is_test_file(&it.path));
    let context = BuildContext::host();
    let speaks = |it: &&std::sync::Arc<File>| {
        (tests_only || !is_test_file(&it.path))
            && package_clause(&it.text) == Some(&package.name)
            && context.takes(&it.path, &it.text)
    };
    let docs: Vec<&str> = package.files.iter().filter(speaks).filter_map(|it| it.outline().docs.as_deref()).collect();
    (!docs.is_empty()).then(|| docs.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::files;

    #[test]
    fn api_of_a_package() {
        let files = files(
            "
//- go.mod
module m
//- a/a.go
package a

type T struct {
	A int
	b int
}

func (T) M()  {}
func (T) m()  {}
func F()      {}
func hidden() {}
//- a/b.go
package a

func (*T) Other() {}
//- a/doc.go
// Package a does.
package a
//- a/a_test.go
package a

func TestT(t *testing.T) {}
//- a/gen.go
//go:build ignore

// Makes things.
package main

func Generated() {}
//- cmd/main.go
// Command cmd runs.
package main

func main() {}
//- x/a/a.go
package a
",
        );
        let show = |name: &str| match package(&PackageSet::of(&files, None), name) {
            Ok(found) => {
                let symbols = found.symbols.iter().map(|it| {
                    let children: Vec<&str> = it.children.iter().map(|it| it.name.as_str()).collect();
                    format!("{}{children:?}", it.name)
                });
                format!("{} {:?} {}", found.name, found.docs.unwrap_or_default(), symbols.collect::<Vec<_>>().join(" "))
            }
            Err(error) => format!("{} {:?}", error.code.name(), error.help.suggestions),
        };
        assert_eq!(show("m/a"), r#"m/a "Package a does." T["A", "M", "Other"] F[]"#);
        assert_eq!(show("cmd"), r#"m/cmd "Command cmd runs." main[]"#);
        assert_eq!(show("a"), r#"m/a "Package a does." T["A", "M", "Other"] F[]"#, "a directory");
        assert_eq!(show("x/a"), r#"m/x/a "" "#);
        assert_eq!(show("m/b"), r#"unknown_package ["m/a"]"#);
        assert_eq!(
            package(&PackageSet::of(&files, None), "m/a").map(|it| (it.root, it.files.len())),
            Ok(("a".to_owned(), 5))
        );
    }
}
