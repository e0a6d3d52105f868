//! Resolves a name to a symbol: full paths, and shorter ones where they are unique or where a file or package makes
//! them clear.

use super::file_scope::FileScope;
use super::modules::GoPackage;
use super::package_set::{PackageSet, rest_of_path};
use super::same_paths::{Mark, preferred};
use super::symbol_paths::Declaration;
use super::{predeclared, suggest};
use semdex_engine::files::Files;
use semdex_model::{Code, Error, Help, Symbol, SymbolKind, SymbolQuery};

/// The maximum number of listed candidates.
const MAX_CANDIDATES: usize = 200;

/// The maximum number of segments in a path.
const MOST_NAMES: usize = 64;

/// Looks up a symbol outside the workspace by import path and the rest of the path.
pub(crate) type ExternalLookup<'a> = &'a dyn Fn(&str, &[String]) -> Option<Symbol>;

/// The result of resolving a name.
pub(crate) enum Meant<'w> {
    Here(Vec<Declaration<'w>>),
    Outside(Box<Symbol>),
}

#[cfg(test)]
pub(crate) fn resolve(files: &Files, query: &SymbolQuery, outside: ExternalLookup) -> Result<Vec<Symbol>, Error> {
    resolve_in(&PackageSet::of(files, query.file.as_deref()), files, query, outside)
}

/// The symbol of the workspace that a query names, or an error with suggestions.
pub(crate) fn resolve_in(
    package_set: &PackageSet,
    files: &Files,
    query: &SymbolQuery,
    outside: ExternalLookup,
) -> Result<Vec<Symbol>, Error> {
    let wanted = Wanted::parse(&query.symbol);
    wanted.check(&query.symbol)?;
    let viewpoint = match &query.file {
        None => None,
        Some(file) => Some(FileScope::of(package_set, files, file)?),
    };
    let meant = match (&query.package, &viewpoint) {
        (Some(package), Some(viewpoint)) => viewpoint.within(package, &wanted, outside)?,
        (Some(package), None) => match package_set.packages_named(package).as_slice() {
            [] => return Err(unknown_package(package_set, package)),
            scope => Meant::Here(within(package_set, scope, &wanted)),
        },
        (None, Some(viewpoint)) => viewpoint.sees(&wanted, outside),
        (None, None) => anywhere(package_set, &wanted, outside),
    };
    match meant {
        Meant::Here(found) => settle(package_set, found, query, &wanted),
        Meant::Outside(symbol) => Ok(vec![*symbol]),
    }
}

/// Every split of a name into a package's path and the rest, the longest package first: `gopkg.in/yaml.v3.Node.Kind`.
pub(crate) fn splits(symbol: &str) -> Vec<(String, Vec<String>)> {
    Wanted::parse(symbol).splits()
}

pub(crate) fn unknown_package(package_set: &PackageSet, package: &str) -> Error {
    let suggestions = suggest::packages(package_set, package);
    let hint = if suggestions.is_empty() { "" } else { "; see `suggestions`" };
    Error::new(Code::UnknownPackage, format!("no package of the workspace is called `{package}`{hint}"))
        .suggesting(suggestions)
}

/// The path that a link in a symbol's docs means in its file.
pub(crate) fn linked(package_set: &PackageSet, files: &Files, symbol: &Symbol, link: &str) -> Option<String> {
    FileScope::of(package_set, files, &symbol.name_at.file).ok()?.linked(&Wanted::parse(link))
}

/// A queried name, parsed.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The name without a disambiguator, receiver's marks, type arguments and a call's parentheses.
    pub text: String,
    /// The text split at its dots, as if it contained no package.
    pub bits: Vec<String>,
    kinds: &'static [SymbolKind],
    mark: Option<Mark>,
}

impl Wanted {
    pub(crate) fn parse(symbol: &str) -> Wanted {
        let symbol = symbol.trim();
        let (kinds, symbol) = match symbol.split_once('@').and_then(|(kind, rest)| Some((kinds(kind)?, rest))) {
            Some((kinds, rest)) => (kinds, rest),
            None => (&[][..], symbol),
        };
        let (mark, symbol) = match Mark::split(symbol) {
            Some((mark, symbol)) => (Some(mark), symbol),
            None => (None, symbol),
        };
        let mut text = String::with_capacity(symbol.len());
        let mut depth = 0_usize;
        for character in symbol.strip_suffix("()").unwrap_or(symbol).chars() {
            match character {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                '(' | ')' | '*' | '&' => {}
                _ if depth > 0 => {}
                _ => text.push(character),
            }
        }
        let bits = text.split('.').map(str::to_owned).collect();
        Wanted { text, bits, kinds, mark }
    }

    /// Refuses text that cannot be a path.
    fn check(&self, asked: &str) -> Result<(), Error> {
        let tail = self.text.rfind('/').map_or(0, |at| at + 1);
        let names = || self.text[tail..].split('.');
        let is_balanced = |open: char, close: char| asked.matches(open).count() == asked.matches(close).count();
        let why = if self.text.trim().is_empty() {
            "it is empty"
        } else if !is_balanced('(', ')') || !is_balanced('[', ']') {
            "a bracket has no partner"
        } else if names().any(|it| it.trim().is_empty()) {
            "a name in it is empty"
        } else if names().count() > MOST_NAMES {
            "it has too many names"
        } else {
            return Ok(());
        };
        let shown: String = asked.chars().take(100).collect();
        let detail = format!("`{shown}` is no path: {why}; a path is like `import/path.Type.Method`");
        Err(Error::new(Code::InvalidRequest, detail))
    }

    fn takes(&self, kind: SymbolKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn splits(&self) -> Vec<(String, Vec<String>)> {
        let tail = self.text.rfind('/').map_or(0, |at| at + 1);
        let dots = self.text.match_indices('.').map(|(at, _)| at).filter(|&at| at >= tail);
        let mut splits: Vec<(String, Vec<String>)> = dots
            .map(|at| (self.text[..at].to_owned(), self.text[at + 1..].split('.').map(str::to_owned).collect()))
            .collect();
        splits.reverse();
        splits
    }
}

/// The kinds that a disambiguator means, in Go's words and those that Rust shares.
fn kinds(word: &str) -> Option<&'static [SymbolKind]> {
    Some(match word {
        "fn" | "func" | "function" => &[SymbolKind::Function, SymbolKind::Method],
        "method" => &[SymbolKind::Method],
        "field" => &[SymbolKind::Field],
        "struct" => &[SymbolKind::Struct],
        "interface" | "trait" => &[SymbolKind::Interface],
        "type" => &[SymbolKind::Type, SymbolKind::Struct, SymbolKind::Interface],
        "const" | "constant" => &[SymbolKind::Const],
        "var" | "variable" | "static" => &[SymbolKind::Variable],
        _ => return None,
    })
}

/// Looks up a name in the given packages, with or without the package before the name.
pub(crate) fn within<'w>(
    package_set: &'w PackageSet,
    scope: &[&'w GoPackage],
    wanted: &Wanted,
) -> Vec<Declaration<'w>> {
    let in_scope = |bits: &[String], loose: bool| -> Vec<Declaration<'w>> {
        scope
            .iter()
            .flat_map(|it| if loose { package_set.members(it, bits) } else { package_set.lookup(it, bits) })
            .collect()
    };
    let mut found = in_scope(&wanted.bits, false);
    for (package, bits) in wanted.splits() {
        if found.is_empty() && scope.iter().any(|it| package_set.is_called(it, &package)) {
            found = in_scope(&bits, false);
        }
    }
    if found.is_empty() { in_scope(&wanted.bits, true) } else { found }
}

/// Looks up a name by a package's whole import path or its directory.
pub(crate) fn exactly<'w>(package_set: &'w PackageSet, wanted: &Wanted) -> Vec<Declaration<'w>> {
    let ways: [fn(&GoPackage, &str) -> bool; 2] = [|it, name| it.import_path == name, |it, name| it.directory == name];
    let all = || package_set.packages.iter().chain(&package_set.ignored);
    for (package, bits) in wanted.splits() {
        for way in ways {
            let found: Vec<Declaration> =
                all().filter(|it| way(it, &package)).flat_map(|it| package_set.lookup(it, &bits)).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

pub(crate) fn anywhere<'w>(package_set: &'w PackageSet, wanted: &Wanted, outside: ExternalLookup) -> Meant<'w> {
    let exact = exactly(package_set, wanted);
    if !exact.is_empty() {
        return Meant::Here(exact);
    }
    let mut found: Vec<Declaration> =
        package_set.packages.iter().flat_map(|it| package_set.lookup(it, &wanted.bits)).collect();
    for (package, bits) in wanted.splits() {
        let called = |it: &&GoPackage| it.name == package || rest_of_path(&it.import_path, &package);
        found.extend(package_set.packages.iter().filter(called).flat_map(|it| package_set.lookup(it, &bits)));
    }
    if !found.is_empty() {
        return Meant::Here(found);
    }
    // A field may have the name of a predeclared function, but hardly of a predeclared type.
    let universal = predeclared::is_type(&wanted.text).then(|| outside(predeclared::PACKAGE, &wanted.bits)).flatten();
    match universal {
        Some(symbol) => Meant::Outside(Box::new(symbol)),
        None => Meant::Here(package_set.packages.iter().flat_map(|it| package_set.members(it, &wanted.bits)).collect()),
    }
}

/// Returns the only declaration; of several, the preferred ones.
fn settle(
    package_set: &PackageSet,
    mut found: Vec<Declaration>,
    query: &SymbolQuery,
    wanted: &Wanted,
) -> Result<Vec<Symbol>, Error> {
    found.retain(|it| wanted.takes(it.item.kind));
    found.sort_by(|a, b| (&a.file.path, a.item.name_span.start).cmp(&(&b.file.path, b.item.name_span.start)));
    found.dedup_by(|a, b| a.file.path == b.file.path && a.item.name_span == b.item.name_span);
    let found = match &wanted.mark {
        Some(mark) => mark.pick(found),
        None => preferred(found),
    };
    match found.as_slice() {
        [one] => Ok(vec![package_set.symbol(one)]),
        [] => {
            if predeclared::is_keyword(&query.symbol) {
                return Err(Error::new(Code::UnknownSymbol, predeclared::keyword(&query.symbol)));
            }
            let scope = query.package.as_ref().map(|it| format!(" in package `{it}`")).unwrap_or_default();
            let suggestions = suggest::symbols(package_set, wanted, query.package.as_deref());
            let hint = if suggestions.is_empty() { "" } else { "; see `suggestions`" };
            Err(Error::new(Code::UnknownSymbol, format!("no symbol is called `{}`{scope}{hint}", query.symbol))
                .suggesting(suggestions))
        }
        several => {
            let detail =
                format!("{} symbols are called `{}`; give its full path or its file", several.len(), query.symbol);
            let symbols = several.iter().take(MAX_CANDIDATES).map(|it| package_set.symbol(it)).collect();
            Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { symbols, ..Help::default() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Membership;
    use crate::tests::fixture::files;
    use std::sync::Arc;

    const TREE: &str = "
//- go.mod
module example.com/gin
//- gin.go
package gin

import (
	b \"example.com/gin/binding\"
	\"example.com/gin/render\"
)

type Context struct {
	*Params
	writer int
	Base
}

func (c *Context) JSON(code int) {}

type Engine struct {
	RouterGroup
	b.Binder
	render.Alias
	Params string
}

type RouterGroup struct{ root bool }

func (g *RouterGroup) GET() {}

type IRouter interface {
	IRoutes
	Group()
}

type IRoutes interface{ Use() }

func New() *Engine { return nil }
//- gin_test.go
package gin

func New() {}

func onlyInTests() {}
//- os_windows.go
package gin

func terminal() {}
//- os_plan9.go
package gin

func terminal() {}
//- x_test.go
package gin_test

import \"example.com/gin\"

func TestNew(t *testing.T) { gin.New() }
//- binding/binding.go
package binding

type Binder struct{ Tag string }

func (Binder) Bind() {}

func New() {}
//- render/render.go
package render

import \"encoding/json\"

type Alias = *Render

type Render struct{}

func (Render) JSON() {}

func Render2() {}
//- binding/json/json.go
package json

import (
	. \"encoding/json\"
	j \"encoding/json\"
)

type Decoder struct{ error }

func (Decoder) close() {}
//- v3.d/y.go
package yaml

func Unmarshal() {}
//- binding/testdata/t.go
package t

func Hidden() {}
//- vendor/example.com/dep/d.go
package dep

func Vendored() {}
func New() {}
";

    /// Packages outside of the workspace.
    fn elsewhere(import_path: &str, bits: &[String]) -> Option<Symbol> {
        let (name, text) = match import_path {
            "encoding/json" => ("json", "type Decoder int\nfunc (Decoder) Decode() {}\nfunc Marshal() {}\n"),
            "builtin" => ("builtin", "type error interface{ Error() string }\nfunc close() {}\n"),
            _ => return None,
        };
        let file = crate::file(format!("/{name}.go"), format!("package {name}\n{text}"));
        let package_set = PackageSet::new(vec![GoPackage {
            import_path: import_path.to_owned(),
            name: name.to_owned(),
            directory: "/".to_owned(),
            files: vec![Arc::new(file)],
            standing: Membership::Member,
            external: true,
        }]);
        let found = package_set.packages.iter().flat_map(|it| package_set.lookup(it, bits)).next()?;
        Some(found.symbol())
    }

    /// The path that a query finds, or the code of its error with what helps.
    fn ask(symbol: &str, package: &str, file: &str) -> String {
        let given = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let query = SymbolQuery { symbol: symbol.to_owned(), package: given(package), file: given(file), build: None };
        match resolve(&files(TREE), &query, &elsewhere) {
            Ok(found) => found.iter().map(|it| format!("{} {}", it.path, it.place.file)).collect::<Vec<_>>().join(", "),
            Err(error) => {
                let symbols: Vec<String> = error.help.symbols.into_iter().map(|it| it.path).collect();
                format!("{} {}", error.code.name(), [error.help.suggestions, symbols].concat().join(" "))
            }
        }
    }

    #[test]
    fn full_and_short_paths() {
        for (symbol, expected) in [
            ("example.com/gin.Context.JSON", "example.com/gin.Context.JSON gin.go"),
            ("gin.Context.JSON", "example.com/gin.Context.JSON gin.go"),
            ("Context.JSON", "example.com/gin.Context.JSON gin.go"),
            ("(*Context).JSON", "example.com/gin.Context.JSON gin.go"),
            ("method@Context.JSON()", "example.com/gin.Context.JSON gin.go"),
            ("Context.writer", "example.com/gin.Context.writer gin.go"),
            ("GET", "example.com/gin.RouterGroup.GET gin.go"),
            ("root", "example.com/gin.RouterGroup.root gin.go"),
            ("example.com/gin/v3.d.Unmarshal", "example.com/gin/v3.d.Unmarshal v3.d/y.go"),
            ("yaml.Unmarshal", "example.com/gin/v3.d.Unmarshal v3.d/y.go"),
            ("gin/binding.New", "example.com/gin/binding.New binding/binding.go"),
            ("gin.New", "example.com/gin.New gin.go"),
            ("onlyInTests", "example.com/gin.onlyInTests gin_test.go"),
            ("example.com/gin_test.TestNew", "example.com/gin_test.TestNew x_test.go"),
            ("Vendored", "example.com/dep.Vendored vendor/example.com/dep/d.go"),
            ("IRoutes", "example.com/gin.IRoutes gin.go"),
        ] {
            assert_eq!(ask(symbol, "", ""), expected, "{symbol}");
        }
    }

    #[test]
    fn promoted_members() {
        for (symbol, expected) in [
            ("Engine.GET", "example.com/gin.RouterGroup.GET gin.go"),
            ("gin.Engine.Bind", "example.com/gin/binding.Binder.Bind binding/binding.go"),
            ("Engine.Tag", "example.com/gin/binding.Binder.Tag binding/binding.go"),
            ("Engine.JSON", "example.com/gin/render.Render.JSON render/render.go"),
            ("IRouter.Use", "example.com/gin.IRoutes.Use gin.go"),
            ("Engine.Params", "example.com/gin.Engine.Params gin.go"),
        ] {
            assert_eq!(ask(symbol, "", ""), expected, "{symbol}");
        }
    }

    #[test]
    fn as_a_package_or_file_sees_it() {
        for (symbol, package, file, expected) in [
            ("New", "binding", "", "example.com/gin/binding.New binding/binding.go"),
            ("New", "example.com/gin", "", "example.com/gin.New gin.go"),
            ("gin.New", "gin", "", "example.com/gin.New gin.go"),
            ("JSON", "render", "", "example.com/gin/render.Render.JSON render/render.go"),
            ("Unmarshal", "./v3.d", "", "example.com/gin/v3.d.Unmarshal v3.d/y.go"),
            ("New", "", "gin.go", "example.com/gin.New gin.go"),
            ("New", "", "gin_test.go", "gin_test.go@example.com/gin.New gin_test.go"),
            ("b.New", "", "gin.go", "example.com/gin/binding.New binding/binding.go"),
            ("b.Binder.Bind", "", "gin.go", "example.com/gin/binding.Binder.Bind binding/binding.go"),
            ("gin.Context", "", "x_test.go", "example.com/gin.Context gin.go"),
            ("TestNew", "", "x_test.go", "example.com/gin_test.TestNew x_test.go"),
            ("terminal", "", "os_windows.go", "os_windows.go@example.com/gin.terminal os_windows.go"),
            ("Hidden", "", "binding/testdata/t.go", "example.com/gin/binding/testdata.Hidden binding/testdata/t.go"),
            ("Render2", "", "binding/binding.go", "example.com/gin/render.Render2 render/render.go"),
        ] {
            assert_eq!(ask(symbol, package, file), expected, "{symbol} {package} {file}");
        }
    }

    #[test]
    fn what_helps_after_a_miss() {
        for (symbol, package, file, expected) in [
            ("New", "", "", "ambiguous_symbol example.com/gin/binding.New example.com/gin.New"),
            ("JSON", "", "", "ambiguous_symbol example.com/gin.Context.JSON example.com/gin/render.Render.JSON"),
            (
                "terminal",
                "",
                "",
                "ambiguous_symbol os_plan9.go@example.com/gin.terminal os_windows.go@example.com/gin.terminal",
            ),
            ("Context.Json", "", "", "unknown_symbol example.com/gin.Context.JSON example.com/gin/render.Render.JSON"),
            ("Contxt", "", "", "unknown_symbol example.com/gin.Context"),
            ("Context", "binding", "", "unknown_symbol example.com/gin.Context"),
            ("x", "bindng", "", "unknown_package example.com/gin/binding"),
            ("Hidden", "", "", "unknown_symbol "),
            ("New", "", "gone.go", "unknown_file "),
            ("func@Context", "", "", "unknown_symbol example.com/gin.Context"),
            ("", "", "", "invalid_request "),
            (".", "", "", "invalid_request "),
            ("Context..JSON", "", "", "invalid_request "),
            ("gin.", "", "", "invalid_request "),
            ("[[[[", "", "", "invalid_request "),
            ("func@", "", "", "invalid_request "),
        ] {
            assert_eq!(ask(symbol, package, file), expected, "{symbol} {package} {file}");
        }
    }

    #[test]
    fn names_of_packages_elsewhere() {
        for (symbol, package, file, expected) in [
            ("json.Decoder.Decode", "", "render/render.go", "encoding/json.Decoder.Decode /json.go"),
            ("Decoder", "json", "render/render.go", "encoding/json.Decoder /json.go"),
            ("j.Decoder", "", "binding/json/json.go", "encoding/json.Decoder /json.go"),
            ("Marshal", "", "binding/json/json.go", "encoding/json.Marshal /json.go"),
            ("Decoder", "", "binding/json/json.go", "example.com/gin/binding/json.Decoder binding/json/json.go"),
            ("json.Decoder", "", "", "example.com/gin/binding/json.Decoder binding/json/json.go"),
            ("json.Decoder", "", "gin.go", "example.com/gin/binding/json.Decoder binding/json/json.go"),
            ("error", "", "gin.go", "builtin.error /builtin.go"),
            ("error", "", "", "builtin.error /builtin.go"),
            ("close", "", "gin.go", "builtin.close /builtin.go"),
            ("close", "", "", "example.com/gin/binding/json.Decoder.close binding/json/json.go"),
            ("for", "", "", "unknown_symbol "),
        ] {
            assert_eq!(ask(symbol, package, file), expected, "{symbol} {package} {file}");
        }
        let splits: Vec<String> = splits("gopkg.in/yaml.v3.Node.Kind").into_iter().map(|(it, _)| it).collect();
        assert_eq!(splits, ["gopkg.in/yaml.v3.Node", "gopkg.in/yaml.v3", "gopkg.in/yaml"]);
    }
}
