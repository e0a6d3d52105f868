//! Which symbol a name means: full paths, shorter ones where they are unique, as a file or a package sees them.

use super::file_scope::FileScope;
use super::modules::GoPackage;
use super::package_set::{World, rest_of_path};
use super::same_paths::{Mark, favoured};
use super::symbol_paths::Declaration;
use super::{predeclared, suggest};
use semdex_engine::files::Files;
use semdex_model::{Code, Error, Help, Symbol, SymbolKind, SymbolQuery};

/// So many of the symbols that a name may mean are listed.
const MAX_CANDIDATES: usize = 200;

/// No path has more names at its dots.
const MOST_NAMES: usize = 64;

/// Finds what the workspace names but does not hold, by an import path and what follows.
pub(crate) type ExternalLookup<'a> = &'a dyn Fn(&str, &[String]) -> Option<Symbol>;

/// What a name means.
pub(crate) enum Meant<'w> {
    Here(Vec<Declaration<'w>>),
    Outside(Box<Symbol>),
}

#[cfg(test)]
pub(crate) fn resolve(files: &Files, query: &SymbolQuery, outside: ExternalLookup) -> Result<Vec<Symbol>, Error> {
    resolve_in(&World::of(files, query.file.as_deref()), files, query, outside)
}

/// The symbols of the workspace that a query names: exactly one, or an error that helps to name it better.
pub(crate) fn resolve_in(
    world: &World,
    files: &Files,
    query: &SymbolQuery,
    outside: ExternalLookup,
) -> Result<Vec<Symbol>, Error> {
    let wanted = Wanted::parse(&query.symbol);
    wanted.check(&query.symbol)?;
    let viewpoint = match &query.file {
        None => None,
        Some(file) => Some(FileScope::of(world, files, file)?),
    };
    let meant = match (&query.package, &viewpoint) {
        (Some(package), Some(viewpoint)) => viewpoint.within(package, &wanted, outside)?,
        (Some(package), None) => match world.packages_named(package).as_slice() {
            [] => return Err(unknown_package(world, package)),
            scope => Meant::Here(within(world, scope, &wanted)),
        },
        (None, Some(viewpoint)) => viewpoint.sees(&wanted, outside),
        (None, None) => anywhere(world, &wanted, outside),
    };
    match meant {
        Meant::Here(found) => settle(world, found, query, &wanted),
        Meant::Outside(symbol) => Ok(vec![*symbol]),
    }
}

/// Every way to cut a name into a package's path and what follows, the longest package first:
/// `gopkg.in/yaml.v3.Node.Kind`.
pub(crate) fn splits(symbol: &str) -> Vec<(String, Vec<String>)> {
    Wanted::parse(symbol).splits()
}

pub(crate) fn unknown_package(world: &World, package: &str) -> Error {
    let suggestions = suggest::packages(world, package);
    let hint = if suggestions.is_empty() { "" } else { "; see `suggestions`" };
    Error::new(Code::UnknownPackage, format!("no package of the workspace is called `{package}`{hint}"))
        .suggesting(suggestions)
}

/// The path that a link in a symbol's docs means, as its file sees it.
pub(crate) fn linked(world: &World, files: &Files, symbol: &Symbol, link: &str) -> Option<String> {
    FileScope::of(world, files, &symbol.name_at.file).ok()?.linked(&Wanted::parse(link))
}

/// A name as it was asked for, taken apart.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Without a disambiguator, receivers' marks, type arguments and a call's parentheses.
    pub text: String,
    /// The text at its dots, as if no package stood in it.
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

    /// Refuses what can be no path at all.
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

/// The kinds that a disambiguator stands for, in Go's words and those that Rust shares.
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

/// In given packages: with or without the package before the name.
pub(crate) fn within<'w>(world: &'w World, scope: &[&'w GoPackage], wanted: &Wanted) -> Vec<Declaration<'w>> {
    let in_scope = |bits: &[String], loose: bool| -> Vec<Declaration<'w>> {
        scope.iter().flat_map(|it| if loose { world.members(it, bits) } else { world.lookup(it, bits) }).collect()
    };
    let mut found = in_scope(&wanted.bits, false);
    for (package, bits) in wanted.splits() {
        if found.is_empty() && scope.iter().any(|it| world.is_called(it, &package)) {
            found = in_scope(&bits, false);
        }
    }
    if found.is_empty() { in_scope(&wanted.bits, true) } else { found }
}

/// By a package's whole import path, or its directory.
pub(crate) fn exactly<'w>(world: &'w World, wanted: &Wanted) -> Vec<Declaration<'w>> {
    let ways: [fn(&GoPackage, &str) -> bool; 2] = [|it, name| it.import_path == name, |it, name| it.directory == name];
    let all = || world.packages.iter().chain(&world.ignored);
    for (package, bits) in wanted.splits() {
        for way in ways {
            let found: Vec<Declaration> =
                all().filter(|it| way(it, &package)).flat_map(|it| world.lookup(it, &bits)).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

pub(crate) fn anywhere<'w>(world: &'w World, wanted: &Wanted, outside: ExternalLookup) -> Meant<'w> {
    let exact = exactly(world, wanted);
    if !exact.is_empty() {
        return Meant::Here(exact);
    }
    let mut found: Vec<Declaration> = world.packages.iter().flat_map(|it| world.lookup(it, &wanted.bits)).collect();
    for (package, bits) in wanted.splits() {
        let called = |it: &&GoPackage| it.name == package || rest_of_path(&it.import_path, &package);
        found.extend(world.packages.iter().filter(called).flat_map(|it| world.lookup(it, &bits)));
    }
    if !found.is_empty() {
        return Meant::Here(found);
    }
    // A field may well be called like a function of the language, but hardly like a type.
    let universal = predeclared::is_type(&wanted.text).then(|| outside(predeclared::PACKAGE, &wanted.bits)).flatten();
    match universal {
        Some(symbol) => Meant::Outside(Box::new(symbol)),
        None => Meant::Here(world.packages.iter().flat_map(|it| world.members(it, &wanted.bits)).collect()),
    }
}

/// One is the answer; of several those that are meant where nothing else is said.
fn settle(
    world: &World,
    mut found: Vec<Declaration>,
    query: &SymbolQuery,
    wanted: &Wanted,
) -> Result<Vec<Symbol>, Error> {
    found.retain(|it| wanted.takes(it.item.kind));
    found.sort_by(|a, b| (&a.file.path, a.item.name_span.start).cmp(&(&b.file.path, b.item.name_span.start)));
    found.dedup_by(|a, b| a.file.path == b.file.path && a.item.name_span == b.item.name_span);
    let found = match &wanted.mark {
        Some(mark) => mark.pick(found),
        None => favoured(found),
    };
    match found.as_slice() {
        [one] => Ok(vec![world.symbol(one)]),
        [] => {
            if predeclared::is_keyword(&query.symbol) {
                return Err(Error::new(Code::UnknownSymbol, predeclared::keyword(&query.symbol)));
            }
            let scope = query.package.as_ref().map(|it| format!(" in package `{it}`")).unwrap_or_default();
            let suggestions = suggest::symbols(world, wanted, query.package.as_deref());
            let hint = if suggestions.is_empty() { "" } else { "; see `suggestions`" };
            Err(Error::new(Code::UnknownSymbol, format!("no symbol is called `{}`{scope}{hint}", query.symbol))
                .suggesting(suggestions))
        }
        several => {
            let detail = format!(
                "{} symbols are called `{}`; say which by its full path, or by the file that it stands in",
                several.len(),
                query.symbol
            );
            let symbols = several.iter().take(MAX_CANDIDATES).map(|it| world.symbol(it)).collect();
            Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { symbols, ..Help::default() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Standing;
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
        let world = World::new(vec![GoPackage {
            import_path: import_path.to_owned(),
            name: name.to_owned(),
            directory: "/".to_owned(),
            files: vec![Arc::new(file)],
            standing: Standing::Member,
            external: true,
        }]);
        let found = world.packages.iter().flat_map(|it| world.lookup(it, bits)).next()?;
        Some(found.symbol())
    }

    /// The path that a query finds, or the code of its error with what helps.
    fn ask(symbol: &str, package: &str, file: &str) -> String {
        let given = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let query = SymbolQuery { symbol: symbol.to_owned(), package: given(package), file: given(file) };
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
