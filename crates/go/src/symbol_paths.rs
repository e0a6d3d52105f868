//! The paths of symbols, `import/path.Type.Method`, and the conversion from declarations to symbols.

use std::sync::Arc;

use super::modules::{GoPackage, Membership, package_of};
use super::syntax;
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_model::{OutlineItem, Symbol, SymbolKind};

/// A declaration with its package and file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration<'p> {
    pub package: &'p GoPackage,
    pub file: &'p Arc<File>,
    pub item: &'p OutlineItem,
}

impl<'p> Declaration<'p> {
    pub(crate) fn path(&self) -> String {
        path_of(&self.package.import_path, self.item)
    }

    pub(crate) fn symbol(&self) -> Symbol {
        symbol(self.file, &self.package.import_path, self.item, self.package.external)
    }

    /// The segments of the path after the package.
    pub(crate) fn bits(&self) -> impl DoubleEndedIterator<Item = &'p str> {
        self.item.container.iter().chain([&self.item.name]).map(String::as_str)
    }

    pub(crate) fn is_test(&self) -> bool {
        is_test_file(&self.file.path)
    }

    /// Whether it declares a name. An embedded interface is listed with the methods but declares none.
    pub(crate) fn declares(&self) -> bool {
        let embedded = self.item.kind == SymbolKind::Interface && !self.item.container.is_empty();
        !embedded && self.item.name != "_"
    }
}

impl GoPackage {
    /// All declarations, members of types included.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = Declaration<'_>> {
        self.files.iter().flat_map(move |file| {
            let mut items = Vec::new();
            file.outline().walk(&mut |item| items.push(item));
            items.into_iter().map(move |item| Declaration { package: self, file, item })
        })
    }

    /// The top-level declarations: methods included, members of types excluded.
    pub(crate) fn top_level(&self) -> impl Iterator<Item = Declaration<'_>> {
        self.files.iter().flat_map(move |file| {
            file.outline().items.iter().map(move |item| Declaration { package: self, file, item })
        })
    }
}

/// The part of a symbol's path after its package: `Type.Method`; empty for a package.
pub(crate) fn inner_path(symbol: &Symbol) -> &str {
    let starts = std::iter::once(0).chain(symbol.path.match_indices('@').map(|(at, _)| at + 1));
    let mut inner = starts.filter_map(|at| symbol.path.get(at..)?.strip_prefix(symbol.package.as_str()));
    inner.next().unwrap_or_default().trim_start_matches('.')
}

/// Whether a file is part of tests only.
pub(crate) fn is_test_file(file: &str) -> bool {
    file.ends_with("_test.go")
}

/// Whether a file is in no package of the workspace, so that its symbols have no usages there.
pub(crate) fn is_ignored(files: &Files, file: &str) -> bool {
    package_of(files, file).is_none_or(|(_, standing)| standing == Membership::Ignored)
}

pub(crate) fn path_of(package: &str, item: &OutlineItem) -> String {
    let mut path = package.to_owned();
    for bit in item.container.iter().chain([&item.name]) {
        path.push('.');
        path.push_str(bit);
    }
    path
}

pub(crate) fn symbol(file: &File, package: &str, item: &OutlineItem, external: bool) -> Symbol {
    let children = item.children.iter().map(|it| symbol(file, package, it, external)).collect();
    Symbol {
        language: LANGUAGE,
        path: path_of(package, item),
        kind: item.kind,
        name: item.name.clone(),
        signature: item.signature.clone(),
        package: package.to_owned(),
        place: file.lines().place(&file.path, item.span),
        name_at: file.lines().place(&file.path, item.name_span),
        declared_at: None,
        docs: item.docs.clone(),
        external,
        origin: None,
        public: item.public,
        test: item.test || is_test_file(&file.path),
        usages: None,
        also: Vec::new(),
        children,
    }
}

/// A symbol and all its members, each without its own.
pub(crate) fn flatten(symbol: &Symbol, flat: &mut Vec<Symbol>) {
    flat.push(Symbol { children: Vec::new(), ..symbol.clone() });
    for child in &symbol.children {
        flatten(child, flat);
    }
}

/// A file's package as a symbol at the name in its package clause.
pub(crate) fn package_symbol(file: &File, import_path: &str, external: bool) -> Option<Symbol> {
    let name = syntax::package_clause(&file.text)?.to_owned();
    let clause = syntax::occurrences(&file.text, &name).into_iter().find(|it| is_clause(&file.text, it.span.start))?;
    let place = file.lines().place(&file.path, clause.span);
    Some(Symbol {
        language: LANGUAGE,
        signature: format!("package {name}"),
        kind: SymbolKind::Package,
        package: import_path.to_owned(),
        path: import_path.to_owned(),
        name_at: place.clone(),
        place,
        declared_at: None,
        docs: file.outline().docs.clone(),
        external,
        origin: None,
        public: true,
        test: is_test_file(&file.path),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
        name,
    })
}

fn is_clause(text: &str, name: usize) -> bool {
    text.get(..name).is_some_and(|before| before.trim_end().ends_with("package"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_constraints::BuildContext;
    use crate::layout::Layout;
    use crate::tests::fixture::files;

    #[test]
    fn paths_of_one_file() {
        let files = Arc::new(files(
            "
//- go.mod
module example.com/m
//- a/a.go
package a

// T is.
type T struct {
	F int
	in struct{ G int }
}

func (t *T) M() { t.F = 1 }

type I interface{ N() }

var x, y = 1, 2
//- a/x_test.go
package a_test

func TestT(t *testing.T) {}
//- a/testdata/t.go
package t

func F() {}
",
        ));
        let layout = Layout::of(files.clone(), &BuildContext::host());
        let mut listed = Vec::new();
        for file in ["a/a.go", "a/x_test.go", "a/testdata/t.go", "gone.go", "go.mod"] {
            for symbol in layout.symbols(file) {
                let children: Vec<&str> = symbol.children.iter().map(|it| it.path.as_str()).collect();
                listed.push(format!("{} {} {children:?}", symbol.kind.name(), symbol.path));
            }
        }
        assert_eq!(
            listed,
            [
                r#"struct example.com/m/a.T ["example.com/m/a.T.F", "example.com/m/a.T.in"]"#,
                "method example.com/m/a.T.M []",
                r#"interface example.com/m/a.I ["example.com/m/a.I.N"]"#,
                "variable example.com/m/a.x []",
                "variable example.com/m/a.y []",
                "function example.com/m/a_test.TestT []",
                "function example.com/m/a/testdata.F []",
            ]
        );
        let around = |needle: &str| {
            let at = files.get("a/a.go").and_then(|it| it.text.find(needle))?;
            layout.symbol_around("a/a.go", at)
        };
        assert_eq!(around("t.F = 1").as_deref(), Some("example.com/m/a.T.M"));
        assert_eq!(around("G int").as_deref(), Some("example.com/m/a.T.in.G"));
        assert_eq!(around("T is.").as_deref(), Some("example.com/m/a.T"));
        assert_eq!(around("package"), None);
        assert!(is_ignored(&files, "a/testdata/t.go") && !is_ignored(&files, "a/a.go"));
    }
}
