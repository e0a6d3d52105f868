//! A Rust file as the rules see it: the names and literals of its code, what it imports and defines, and which of its
//! lines are tests. `parse` computes it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The segments of a path.
pub(crate) type Segments = Vec<String>;

pub(crate) struct Source {
    /// Relative to the repository.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Whether the whole file is test code.
    pub(crate) is_test: bool,
    /// In the order of the text, those in macro calls included. Attributes and comments are left out.
    pub(crate) words: Vec<Word>,
    pub(crate) attributes: Vec<Word>,
    pub(crate) uses: Vec<Use>,
    pub(crate) paths: Vec<NamedPath>,
    pub(crate) declared: Vec<Declared>,
    /// Lines of test code.
    pub(crate) tests: Vec<RangeInclusive<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    /// A name that is called: a function, a method or a tuple constructor.
    Call,
    /// The value of a string literal.
    Literal,
    /// The name of an attribute.
    Attribute,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) is_test: bool,
}

/// One leaf of a `use` item.
#[derive(Debug)]
pub(crate) struct Use {
    /// The inline modules of the file that it is in.
    pub(crate) inside: Segments,
    pub(crate) path: Segments,
    /// The name that it has here, `*` for a glob.
    pub(crate) name: String,
    pub(crate) is_public: bool,
    pub(crate) line: usize,
    pub(crate) is_test: bool,
}

/// A path in an expression, a type, a pattern or a macro call.
#[derive(Debug)]
pub(crate) struct NamedPath {
    pub(crate) inside: Segments,
    pub(crate) path: Segments,
    pub(crate) line: usize,
    pub(crate) is_test: bool,
}

/// An item of a module.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) inside: Segments,
    pub(crate) name: String,
    pub(crate) is_module: bool,
    pub(crate) is_test: bool,
}

impl Source {
    /// The name of the crate without prefix: `crates/go/src/lib.rs` is in `go`, `src/lib.rs` in `semdex`.
    pub(crate) fn crate_name(&self) -> &str {
        place(&self.file).0
    }

    /// The path of the module in its crate: `src/a/mod.rs` and `src/a.rs` are both `a`.
    pub(crate) fn module(&self) -> Segments {
        let rest = place(&self.file).1;
        let rest = rest.strip_suffix(".rs").unwrap_or(rest);
        let rest = rest.strip_suffix("/mod").unwrap_or(rest);
        if matches!(rest, "lib" | "main") { Vec::new() } else { rest.split('/').map(str::to_owned).collect() }
    }

    /// Names and literals outside tests.
    pub(crate) fn production_words(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().filter(|it| !self.is_test && !it.is_test)
    }

    /// Names, literals and attributes of tests.
    pub(crate) fn test_words(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().chain(&self.attributes).filter(|it| self.is_test || it.is_test)
    }

    /// Paths outside tests, including paths in imports, with their lines.
    pub(crate) fn production_paths(&self) -> impl Iterator<Item = (&Segments, usize)> {
        let imported = self.uses.iter().filter(|it| !it.is_test).map(|it| (&it.path, it.line));
        let named = self.paths.iter().filter(|it| !it.is_test).map(|it| (&it.path, it.line));
        imported.chain(named).filter(|_| !self.is_test)
    }
}

/// The crate of a file, and its path below the crate's `src`.
fn place(file: &str) -> (&str, &str) {
    if let Some(rest) = file.strip_prefix("src/") {
        return ("semdex", rest);
    }
    let inner = file.strip_prefix("crates/").unwrap_or(file);
    inner.split_once("/src/").unwrap_or(("", inner))
}

pub(crate) fn is_test_file(file: &str) -> bool {
    file.starts_with("tests/") || file.ends_with("/tests.rs") || file.contains("/tests/")
}

/// A file that another one declares by `#[cfg(test)] mod name;` is test code, and so are the files below it.
pub(crate) fn mark_test_files(sources: &mut [Source]) {
    let mut tests: BTreeSet<(String, Segments)> = BTreeSet::new();
    for source in sources.iter() {
        for module in source.declared.iter().filter(|it| it.is_module && it.is_test) {
            let path = [source.module(), module.inside.clone(), vec![module.name.clone()]].concat();
            tests.insert((source.crate_name().to_owned(), path));
        }
    }
    for source in sources {
        let module = source.module();
        let declared = |length| tests.contains(&(source.crate_name().to_owned(), module[..length].to_vec()));
        source.is_test |= (1..=module.len()).any(declared);
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::source;
    use super::*;

    #[test]
    fn a_file_that_is_declared_for_tests_is_a_test() {
        let mut sources = [
            source("crates/text/src/lib.rs", "#[cfg(test)]\nmod fuzz;\nmod a;"),
            source("crates/text/src/fuzz.rs", "fn f() {}"),
            source("crates/text/src/fuzz/deep.rs", "fn f() {}"),
            source("crates/text/src/a.rs", "fn f() {}"),
            source("crates/text/src/a/tests.rs", "fn f() {}"),
            source("crates/go/src/fuzz.rs", "fn f() {}"),
        ];
        mark_test_files(&mut sources);
        assert_eq!(sources.map(|it| it.is_test), [false, true, true, false, true, false]);
    }
}
