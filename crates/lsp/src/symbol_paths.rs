//! Names of symbols: `path/to/file.py::Class.method`. Python symbols also have their dotted module path.

use semdex_engine::files::{File, Files};
use semdex_model::{OutlineItem, Place, Span, Symbol, SymbolKind};
use semdex_text::words::words;

/// The names of the enclosing declarations and of the declaration itself.
pub(crate) fn chain(item: &OutlineItem) -> Vec<&str> {
    item.container.iter().map(String::as_str).chain([item.name.as_str()]).collect()
}

pub(crate) fn path(file: &str, item: &OutlineItem) -> String {
    format!("{file}::{}", chain(item).join("."))
}

/// Whether it is a function that other files can refer to.
pub(crate) fn is_shared_function(item: &OutlineItem) -> bool {
    let is_internal = item.container.is_empty() && item.signature.split(' ').take(4).any(|it| it == "static");
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method) && !is_internal
}

/// Whether two declarations in different files of C or C++ are of one function. Two definitions are two functions.
pub(crate) fn are_of_one_function(one: &OutlineItem, other: &OutlineItem) -> bool {
    let are_shared = is_shared_function(one) && is_shared_function(other);
    are_shared && chain(one) == chain(other) && !(one.body.is_some() && other.body.is_some())
}

/// Resolves a path relative to a directory.
pub(crate) fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// The dotted path of a Python module, starting at its topmost package.
pub(crate) fn module(files: &Files, path: &str) -> Option<String> {
    let stem = path.strip_suffix(".py").or_else(|| path.strip_suffix(".pyi"))?;
    let (mut directory, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let mut parts = if name == "__init__" { Vec::new() } else { vec![name] };
    let is_package = |it: &str| ["py", "pyi"].iter().any(|end| files.get(&format!("{it}/__init__.{end}")).is_some());
    while !directory.is_empty() && is_package(directory) {
        let (above, name) = directory.rsplit_once('/').unwrap_or(("", directory));
        parts.push(name);
        directory = above;
    }
    parts.reverse();
    Some(parts.join(".")).filter(|it| !it.is_empty())
}

/// The package of a file: its module or its directory.
pub(crate) fn package(files: &Files, path: &str) -> String {
    let directory = || path.rsplit_once('/').map_or(".", |it| it.0).to_owned();
    module(files, path).unwrap_or_else(directory)
}

pub(crate) fn is_test_file(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |it| it.0);
    let in_tests = directories.split('/').any(|it| matches!(it, "test" | "tests" | "__tests__" | "testing" | "spec"));
    in_tests
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// The offsets of a whole name in a text, including comments and strings. The name may contain characters that are not
/// part of words.
pub(crate) fn occurrences(file: &File, name: &str) -> Vec<usize> {
    let Some((at, word)) = words(name).max_by_key(|it| it.1.len()) else { return Vec::new() };
    let is_whole = |start: &usize| file.text.get(*start..).is_some_and(|it| it.starts_with(name));
    file.words().offsets(&file.text, word).filter_map(|it| it.checked_sub(at)).filter(is_whole).collect()
}

pub(crate) fn symbol(files: &Files, file: &File, item: &OutlineItem) -> Option<Symbol> {
    let lines = file.lines();
    Some(Symbol {
        language: file.language?,
        path: path(&file.path, item),
        kind: item.kind,
        name: item.name.clone(),
        signature: item.signature.clone(),
        package: package(files, &file.path),
        place: lines.place(&file.path, item.span),
        name_at: lines.place(&file.path, item.name_span),
        declared_at: None,
        docs: item.docs.clone(),
        external: false,
        origin: None,
        public: item.public,
        test: item.test || is_test_file(&file.path),
        usages: None,
        also: Vec::new(),
        children: item.children.iter().filter_map(|it| symbol(files, file, it)).collect(),
    })
}

/// A symbol for a file, which contains the code outside of declarations.
pub(crate) fn file_symbol(files: &Files, file: &File) -> Option<Symbol> {
    let name = file.path.rsplit_once('/').map_or(&*file.path, |it| it.1);
    Some(Symbol {
        language: file.language?,
        path: file.path.to_string(),
        kind: SymbolKind::Module,
        name: name.to_owned(),
        signature: name.to_owned(),
        package: package(files, &file.path),
        place: file.lines().place(&file.path, Span::new(0, file.text.len())),
        name_at: Place::start_of(&file.path),
        declared_at: None,
        docs: None,
        external: false,
        origin: None,
        public: true,
        test: is_test_file(&file.path),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
    })
}

/// Whether a name as the user wrote it refers to a declaration of a file, and whether it is the full name.
pub(crate) fn fits(files: &Files, file: &str, item: &OutlineItem, query: &[&str]) -> Option<bool> {
    let chain = chain(item);
    if chain == query {
        return Some(true);
    }
    if chain.ends_with(query) {
        return Some(false);
    }
    let module_part = query.strip_suffix(chain.as_slice())?;
    let module = module(files, file)?;
    let module: Vec<&str> = module.split('.').collect();
    module.ends_with(module_part).then_some(module == module_part)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use semdex_engine::Registry;

    #[test]
    fn a_module_begins_at_the_topmost_package() {
        let mut files = Files::new(Registry::new(Vec::new(), crate::kinds).languages().clone());
        for name in ["src/pkg/__init__.py", "src/pkg/mod_a.py", "src/pkg/sub/__init__.py", "src/pkg/sub/b.py", "top.py"]
        {
            files.insert(Arc::new(files.file(name, "class Ka:\n    def f(self): pass\n")));
        }
        let modules = ["src/pkg/mod_a.py", "src/pkg/__init__.py", "src/pkg/sub/b.py", "top.py", "a.ts"];
        let modules = modules.map(|it| module(&files, it).unwrap_or_default());
        assert_eq!(modules, ["pkg.mod_a", "pkg", "pkg.sub.b", "top", ""]);
        let file = files.get("src/pkg/mod_a.py").unwrap();
        let item = &file.outline().items[0].children[0];
        assert_eq!(path(&file.path, item), "src/pkg/mod_a.py::Ka.f");
        let fits = |name: &str| fits(&files, &file.path, item, &name.split('.').collect::<Vec<_>>());
        assert_eq!(
            ["Ka.f", "pkg.mod_a.Ka.f", "f", "mod_a.Ka.f"].map(fits),
            [Some(true), Some(true), Some(false), Some(false)]
        );
        assert_eq!(["Kb.f", "other.mod_a.Ka.f", "Ka"].map(fits), [None; 3]);
        assert!(is_test_file("a/tests/b.py") && is_test_file("a.test.ts") && !is_test_file("src/contest.py"));
    }
}
