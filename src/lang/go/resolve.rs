//! Which symbol a name means: full paths, shorter ones where they are unique, as a file or a package sees them.

use super::constraints::BuildContext;
use super::lookup::{World, import_name};
use super::modules::{GoPackage, Standing, base_name, package_of};
use super::names::Declaration;
use super::suggest;
use crate::lang::files::Files;
use crate::model::{Code, Error, Help, Symbol, SymbolKind, SymbolQuery};

/// So many of the symbols that a name may mean are told.
const MAX_CANDIDATES: usize = 20;

/// The symbols of the workspace that a query names: exactly one, or an error that helps to name it better.
pub fn resolve(files: &Files, query: &SymbolQuery) -> Result<Vec<Symbol>, Error> {
    let world = World::of(files, query.file.as_deref());
    let wanted = Wanted::parse(&query.symbol);
    let found = match (&query.package, &query.file) {
        (Some(package), file) => {
            let scope = world.packages_named(package);
            if scope.is_empty() {
                return Err(unknown_package(&world, package));
            }
            let found = within(&world, &scope, &wanted);
            preferring(found, |it| file.as_deref() == Some(&*it.file.path))
        }
        (None, Some(file)) => {
            if files.get(file).is_none() {
                return Err(Error::new(Code::UnknownFile, format!("there is no file `{file}` in the workspace")));
            }
            seen_from(&world, files, file, &wanted)
        }
        (None, None) => anywhere(&world, &wanted),
    };
    let found: Vec<Declaration> = found.into_iter().filter(|it| wanted.takes(it.item.kind)).collect();
    settle(&world, found, query, &wanted)
}

/// The import path that the qualifier of a name has in a file, and the rest: `json.Decoder.Decode` in a file that
/// imports `encoding/json`. For packages outside the workspace, which [`resolve`] does not know.
pub fn imported(files: &Files, file: &str, symbol: &str) -> Option<(String, Vec<String>)> {
    let wanted = Wanted::parse(symbol);
    let (qualifier, bits) = wanted.bits.split_first().filter(|(_, bits)| !bits.is_empty())?;
    let outline = files.get(file)?.outline();
    let import = outline.imports.iter().find(|it| match &it.alias {
        Some(alias) => alias == qualifier,
        None => import_name(&it.path) == *qualifier || base_name(&it.path) == *qualifier,
    })?;
    Some((import.path.clone(), bits.to_vec()))
}

/// Every way to cut a name into a package's path and what follows, the longest package first:
/// `gopkg.in/yaml.v3.Node.Kind`.
pub fn splits(symbol: &str) -> Vec<(String, Vec<String>)> {
    Wanted::parse(symbol).splits()
}

pub fn unknown_package(world: &World, package: &str) -> Error {
    let suggestions = suggest::packages(world, package);
    let hint = if suggestions.is_empty() { "" } else { "; see `suggestions`" };
    Error::new(Code::UnknownPackage, format!("no package of the workspace is called `{package}`{hint}"))
        .suggesting(suggestions)
}

/// A name as it was asked for, taken apart.
#[derive(Debug)]
pub struct Wanted {
    /// Without a disambiguator, receivers' marks, type arguments and a call's parentheses.
    pub text: String,
    /// The text at its dots, as if no package stood in it.
    pub bits: Vec<String>,
    kinds: &'static [SymbolKind],
}

impl Wanted {
    pub fn parse(symbol: &str) -> Wanted {
        let symbol = symbol.trim();
        let (kinds, symbol) = match symbol.split_once('@').and_then(|(kind, rest)| Some((kinds(kind)?, rest))) {
            Some((kinds, rest)) => (kinds, rest),
            None => (&[][..], symbol),
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
        Wanted { text, bits, kinds }
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
fn within<'w>(world: &'w World, scope: &[&'w GoPackage], wanted: &Wanted) -> Vec<Declaration<'w>> {
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

/// As a file sees it: its own package, its imports, then everything.
fn seen_from<'w>(world: &'w World, files: &Files, file: &str, wanted: &Wanted) -> Vec<Declaration<'w>> {
    let here = |it: &Declaration| &*it.file.path == file;
    let exact = exactly(world, wanted);
    if !exact.is_empty() {
        return preferring(exact, here);
    }
    let own = package_of(files, file).and_then(|(path, _)| world.package(&path));
    let own_found = own.map(|it| world.lookup(it, &wanted.bits)).unwrap_or_default();
    if !own_found.is_empty() {
        return preferring(own_found, here);
    }
    let imports = files.get(file).map(|it| it.outline().imports.clone()).unwrap_or_default();
    if let Some((qualifier, bits)) = wanted.bits.split_first() {
        for import in &imports {
            let Some(package) = world.package(&import.path) else { continue };
            let found = match import.alias.as_deref() {
                Some(".") => world.lookup(package, &wanted.bits),
                Some(alias) if alias == qualifier => world.lookup(package, bits),
                None if package.name == *qualifier => world.lookup(package, bits),
                _ => Vec::new(),
            };
            if !found.is_empty() {
                return found;
            }
        }
    }
    let members = own.map(|it| world.members(it, &wanted.bits)).unwrap_or_default();
    if members.is_empty() { anywhere(world, wanted) } else { preferring(members, here) }
}

/// By a package's whole import path or directory.
fn exactly<'w>(world: &'w World, wanted: &Wanted) -> Vec<Declaration<'w>> {
    for (package, bits) in wanted.splits() {
        let exact = |it: &&GoPackage| it.import_path == package || it.directory == package;
        let found: Vec<Declaration> =
            world.packages.iter().filter(exact).flat_map(|it| world.lookup(it, &bits)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn anywhere<'w>(world: &'w World, wanted: &Wanted) -> Vec<Declaration<'w>> {
    let exact = exactly(world, wanted);
    if !exact.is_empty() {
        return exact;
    }
    let mut found: Vec<Declaration> = world.packages.iter().flat_map(|it| world.lookup(it, &wanted.bits)).collect();
    for (package, bits) in wanted.splits() {
        let called = |it: &&GoPackage| it.name == package || rest_of_path(&it.import_path, &package);
        found.extend(world.packages.iter().filter(called).flat_map(|it| world.lookup(it, &bits)));
    }
    if found.is_empty() {
        found = world.packages.iter().flat_map(|it| world.members(it, &wanted.bits)).collect();
    }
    found
}

/// Whether a path ends with another, at a slash.
pub fn rest_of_path(path: &str, end: &str) -> bool {
    !end.is_empty() && path.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with('/'))
}

/// Those that fit, if any do; else all.
fn preferring<'w>(found: Vec<Declaration<'w>>, fits: impl Fn(&Declaration<'w>) -> bool) -> Vec<Declaration<'w>> {
    let (better, worse): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| fits(it));
    if better.is_empty() { worse } else { better }
}

/// One is the answer; of several, those that a build of this machine takes, outside of tests and `vendor`.
fn settle(world: &World, found: Vec<Declaration>, query: &SymbolQuery, wanted: &Wanted) -> Result<Vec<Symbol>, Error> {
    let context = BuildContext::host();
    let mut found = preferring(found, |it| it.package.standing == Standing::Member);
    found = preferring(found, |it| !it.is_test());
    found = preferring(found, |it| context.takes(&it.file.path, &it.file.text));
    found.sort_by(|a, b| (&a.file.path, a.item.name_span.start).cmp(&(&b.file.path, b.item.name_span.start)));
    found.dedup_by(|a, b| a.file.path == b.file.path && a.item.name_span == b.item.name_span);
    match found.as_slice() {
        [one] => Ok(vec![one.symbol()]),
        [] => {
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
            let symbols = several.iter().take(MAX_CANDIDATES).map(Declaration::symbol).collect();
            Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { symbols, ..Help::default() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::go::fixture::files;

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

    /// The path that a query finds, or the code of its error with what helps.
    fn ask(symbol: &str, package: &str, file: &str) -> String {
        let given = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let query = SymbolQuery { symbol: symbol.to_owned(), package: given(package), file: given(file) };
        match resolve(&files(TREE), &query) {
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
            ("New", "", "gin_test.go", "example.com/gin.New gin_test.go"),
            ("b.New", "", "gin.go", "example.com/gin/binding.New binding/binding.go"),
            ("b.Binder.Bind", "", "gin.go", "example.com/gin/binding.Binder.Bind binding/binding.go"),
            ("gin.Context", "", "x_test.go", "example.com/gin.Context gin.go"),
            ("TestNew", "", "x_test.go", "example.com/gin_test.TestNew x_test.go"),
            ("terminal", "", "os_windows.go", "example.com/gin.terminal os_windows.go"),
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
            ("terminal", "", "", "ambiguous_symbol example.com/gin.terminal example.com/gin.terminal"),
            ("Context.Json", "", "", "unknown_symbol example.com/gin.Context.JSON example.com/gin/render.Render.JSON"),
            ("Contxt", "", "", "unknown_symbol example.com/gin.Context"),
            ("Context", "binding", "", "unknown_symbol example.com/gin.Context"),
            ("x", "bindng", "", "unknown_package example.com/gin/binding"),
            ("Hidden", "", "", "unknown_symbol "),
            ("New", "", "gone.go", "unknown_file "),
            ("func@Context", "", "", "unknown_symbol example.com/gin.Context"),
            ("", "", "", "unknown_symbol "),
            (".", "", "", "unknown_symbol "),
        ] {
            assert_eq!(ask(symbol, package, file), expected, "{symbol} {package} {file}");
        }
    }

    #[test]
    fn names_of_packages_elsewhere() {
        let files = files(TREE);
        let found = imported(&files, "render/render.go", "json.Decoder.Decode");
        assert_eq!(found, Some(("encoding/json".to_owned(), vec!["Decoder".to_owned(), "Decode".to_owned()])));
        assert_eq!(imported(&files, "gin.go", "json.Decoder"), None);
        let splits: Vec<String> = splits("gopkg.in/yaml.v3.Node.Kind").into_iter().map(|(it, _)| it).collect();
        assert_eq!(splits, ["gopkg.in/yaml.v3.Node", "gopkg.in/yaml.v3", "gopkg.in/yaml"]);
    }
}
