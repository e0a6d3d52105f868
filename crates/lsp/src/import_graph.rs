//! The files that can see the declarations of other files, by their imports. The graph is an upper bound: an import
//! that may refer to several files refers to all of them. One that may refer to any file, such as the name of a package
//! in the workspace, refers to all files.
//!
//! Only for languages in which a file sees nothing of other files without an import, except global declarations.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

use super::symbol_paths::joined;
use semdex_engine::files::{File, Files};
use semdex_model::LanguageId;

/// `from "x"`, `import "x"`, `import("x")`, `require("x")`, `<reference path="x"`.
static SPECIFIERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\b(?:from|import|require|path|types)\s*[(=]?\s*["'`]([^"'`\n]*)["'`]"#).ok());
/// An import with a computed path.
static COMPUTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\b(?:import|require)\s*\(\s*(?:[^"'`\s)]|[^)]*\$\{|["'`][^"'`\n]*["'`]\s*\+)"#).ok()
});
/// Makes a file a module. Without it, its declarations are global.
static MODULE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(?:import|export)\b|\brequire\s*\(|\bmodule\.exports\b|\bexports\.").ok());
static GLOBAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bdeclare\s+(?:global|module)\b|\bexport\s+as\s+namespace\b").ok());
/// `from m import a, b`, also in parentheses over several lines, and `import a.b as c, d`.
static PYTHON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bfrom[ \t]+([.\w \t]+?)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n;]*)|\bimport[ \t]+([^\n;]+)").ok()
});
/// Strings in a configuration file, including `compilerOptions.paths`.
static STRINGS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""([^"\n]+)""#).ok());
static PACKAGE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""name"\s*:\s*"([^"\n]+)""#).ok());

/// Beyond so many bytes of a line, nothing counts as a comment.
const LONGEST_COMMENT: usize = 400;

/// How files of a language see each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Python,
    Script,
}

fn kind_of(language: Option<LanguageId>) -> Option<Kind> {
    match language?.name {
        "python" => Some(Kind::Python),
        "typescript" | "javascript" => Some(Kind::Script),
        _ => None,
    }
}

/// The imports of a file, valid for one text.
#[derive(Debug, Clone)]
struct Imports {
    of: blake3::Hash,
    targets: Arc<[Arc<str>]>,
    /// It may import any file.
    is_open: bool,
    /// All files see its declarations.
    is_for_all: bool,
}

/// The imports of a server's files. Built from the graph of the previous texts, it only reads changed files.
#[derive(Debug, Default)]
pub(crate) struct ImportGraph {
    imports: HashMap<Arc<str>, Imports>,
    importers: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// Files that may import any file.
    open: Vec<Arc<str>>,
    configured: Configured,
    /// Every file sees every other: the graph contains files of other languages, or a configuration adds search
    /// directories.
    is_unbounded: bool,
}

/// What determines the targets of imports in addition to the names of files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Configured {
    names: BTreeSet<String>,
    merges_directories: bool,
}

impl ImportGraph {
    /// `own`: the server's files.
    pub(crate) fn new(files: &Files, own: &[Arc<File>], before: Option<&ImportGraph>) -> ImportGraph {
        let unbounded = || ImportGraph { is_unbounded: true, ..ImportGraph::default() };
        if own.is_empty() || own.iter().any(|it| kind_of(it.language).is_none()) {
            return unbounded();
        }
        let has_scripts = own.iter().any(|it| kind_of(it.language) == Some(Kind::Script));
        let configured = if has_scripts { Configured::new(files) } else { Configured::default() };
        if configured.merges_directories {
            return unbounded();
        }
        let same_names = |it: &&ImportGraph| {
            it.configured == configured
                && it.imports.len() == own.len()
                && own.iter().all(|file| it.imports.contains_key(&file.path))
        };
        let before = before.filter(same_names);
        let mut lookup = None;
        let mut graph = ImportGraph { configured, ..ImportGraph::default() };
        for file in own {
            let known = before.and_then(|it| it.imports.get(&file.path)).filter(|it| it.of == file.hash);
            let imports = match known {
                Some(known) => known.clone(),
                None => lookup.get_or_insert_with(|| Lookup::new(own)).imports(file, &graph.configured),
            };
            for target in imports.targets.iter() {
                graph.importers.entry(target.clone()).or_default().push(file.path.clone());
            }
            graph.open.extend(imports.is_open.then(|| file.path.clone()));
            graph.imports.insert(file.path.clone(), imports);
        }
        graph
    }

    /// The files that can see the declarations of these files, which are included. `None`: all files.
    pub(crate) fn seeing<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> Option<BTreeSet<Arc<str>>> {
        if self.is_unbounded {
            return None;
        }
        let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut pending: Vec<Arc<str>> = self.open.clone();
        for file in files {
            let (path, imports) = self.imports.get_key_value(file)?;
            if imports.is_for_all {
                return None;
            }
            pending.push(path.clone());
        }
        while let Some(file) = pending.pop() {
            if seen.insert(file.clone()) {
                pending.extend(self.importers.get(&file).into_iter().flatten().cloned());
            }
        }
        Some(seen)
    }
}

impl Configured {
    fn new(files: &Files) -> Configured {
        let mut configured = Configured::default();
        for file in files.iter().filter(|it| it.path.ends_with(".json")) {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let is_options = name.starts_with("tsconfig") || name.starts_with("jsconfig");
            let pattern = match name {
                "package.json" => &PACKAGE_NAME,
                _ if is_options => &STRINGS,
                _ => continue,
            };
            configured.merges_directories |= is_options && file.text.contains("\"rootDirs\"");
            let found = pattern.iter().flat_map(|it| it.captures_iter(&file.text));
            configured.names.extend(found.filter_map(|it| Some(first(it.get(1)?.as_str()).to_owned())));
        }
        configured
    }
}

/// The first part of a package name or path: `@scope`, `lodash`.
fn first(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// Files by the names that an import may use.
struct Lookup {
    /// By full path, without optional parts.
    by_path: HashMap<String, Vec<Arc<str>>>,
    /// By the last part of the path.
    by_name: HashMap<String, Vec<(String, Arc<str>)>>,
    /// The names of files and directories.
    names: BTreeSet<String>,
    /// Full paths of directories.
    directories: BTreeSet<String>,
}

impl Lookup {
    fn new(own: &[Arc<File>]) -> Lookup {
        let mut lookup = Lookup {
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            names: BTreeSet::new(),
            directories: BTreeSet::new(),
        };
        for file in own {
            let above = file.path.match_indices('/').filter_map(|it| file.path.get(..it.0));
            lookup.directories.extend(above.map(str::to_owned));
            for key in keys(&file.path) {
                let last = key.rsplit('/').next().unwrap_or_default().to_owned();
                lookup.names.extend(key.split('/').map(str::to_owned));
                lookup.by_name.entry(last).or_default().push((key.clone(), file.path.clone()));
                lookup.by_path.entry(key).or_default().push(file.path.clone());
            }
        }
        lookup
    }

    fn imports(&self, file: &File, configured: &Configured) -> Imports {
        let mut found = BTreeSet::new();
        let mut is_open = false;
        let matches = |pattern: &Option<Regex>| pattern.as_ref().is_none_or(|it| it.is_match(&file.text));
        let is_for_all = match kind_of(file.language) {
            Some(Kind::Script) => {
                let paths = SPECIFIERS.iter().flat_map(|it| it.captures_iter(&file.text));
                let counts =
                    |it: &Captures<'_>| it.get(0).is_some_and(|it| counts(&file.text, it.start(), it.as_str()));
                for path in paths.filter(counts).filter_map(|it| Some(it.get(1)?.as_str())) {
                    is_open |= self.script(&file.path, path, configured, &mut found);
                }
                is_open |= matches(&COMPUTED);
                !matches(&MODULE) || matches(&GLOBAL)
            }
            _ => {
                for import in PYTHON.iter().flat_map(|it| it.captures_iter(&file.text)) {
                    match (import.get(1), import.get(2), import.get(3)) {
                        (Some(module), Some(names), _) => {
                            let module: String = module.as_str().split_whitespace().collect();
                            self.python(&file.path, &module, &mut found);
                            for name in named(names.as_str()) {
                                let dot = if module.ends_with('.') { "" } else { "." };
                                self.python(&file.path, &format!("{module}{dot}{name}"), &mut found);
                            }
                        }
                        (_, _, Some(modules)) => {
                            named(modules.as_str()).for_each(|it| self.python(&file.path, it, &mut found));
                        }
                        _ => {}
                    }
                }
                matches!(file.path.rsplit('/').next(), Some("__builtins__.pyi" | "builtins.pyi"))
            }
        };
        found.remove(&file.path);
        Imports { of: file.hash, targets: found.into_iter().collect(), is_open, is_for_all }
    }

    /// Adds the targets of an import. Returns whether it may refer to any file.
    fn script(&self, from: &str, path: &str, configured: &Configured, found: &mut BTreeSet<Arc<str>>) -> bool {
        let path = path.split(['?', '!']).next().unwrap_or(path).trim_end_matches('/');
        let directory = from.rsplit_once('/').map_or("", |it| it.0);
        let bare = ["js", "jsx", "mjs", "cjs"].iter().find_map(|end| path.strip_suffix(end)?.strip_suffix('.'));
        let is_relative = path.starts_with('.') || path.starts_with('/');
        let mut is_open = false;
        for path in [Some(path), bare].into_iter().flatten() {
            match is_relative {
                true => {
                    let path = joined(directory, path);
                    let files = self.by_path.get(&path);
                    // A manifest in the directory may name any file as the target.
                    is_open |= files.is_none() && self.directories.contains(&path);
                    found.extend(files.into_iter().flatten().cloned());
                }
                false => self.ending(&path.split('/').collect::<Vec<_>>(), found),
            }
        }
        is_open || (!is_relative && (path.starts_with('#') || configured.names.contains(first(path))))
    }

    fn python(&self, from: &str, path: &str, found: &mut BTreeSet<Arc<str>>) {
        let dots = path.len() - path.trim_start_matches('.').len();
        let parts: Vec<&str> = path.split('.').filter(|it| !it.is_empty()).collect();
        let directory = from.rsplit('/').skip(dots.max(1)).collect::<Vec<_>>();
        let directory = directory.into_iter().rev().collect::<Vec<_>>().join("/");
        // The modules before the name are imported, too.
        for count in (if dots > 0 { 0 } else { 1 })..=parts.len() {
            let parts = parts.get(..count).unwrap_or_default();
            match dots > 0 {
                true => {
                    let path = joined(&directory, &parts.join("/"));
                    found.extend(self.by_path.get(&path).into_iter().flatten().cloned());
                }
                false => self.ending(parts, found),
            }
        }
    }

    /// Adds the files whose paths end with these parts.
    fn ending(&self, parts: &[&str], found: &mut BTreeSet<Arc<str>>) {
        let (Some(last), Some(first)) = (parts.last(), parts.first()) else { return };
        if !self.names.contains(*first) {
            return;
        }
        let end = parts.join("/");
        for (key, file) in self.by_name.get(*last).into_iter().flatten() {
            let is_end = key.strip_suffix(&end).is_some_and(|it| it.is_empty() || it.ends_with('/'));
            found.extend(is_end.then(|| file.clone()));
        }
    }
}

/// The names by which an import may refer to a file: its path without the extension, and its directory if the file
/// represents it.
fn keys(path: &str) -> Vec<String> {
    let path = path.replace("-stubs/", "/");
    let mut keys = vec![path.clone()];
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let below = |name: &str| if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
    let mut stem = name;
    while let Some((shorter, _)) = stem.rsplit_once('.').filter(|it| !it.0.is_empty()) {
        stem = shorter;
        keys.push(below(stem));
    }
    if matches!(stem, "index" | "__init__") {
        keys.push(directory.to_owned());
    }
    keys
}

/// Whether a match is an import. In a comment, only what a checker reads there is.
fn counts(text: &str, at: usize, written: &str) -> bool {
    let window = at.saturating_sub(LONGEST_COMMENT);
    let from = match memchr::memrchr(b'\n', text.as_bytes().get(window..at).unwrap_or_default()) {
        Some(end) => window + end + 1,
        None if window == 0 => 0,
        // A line this long is generated code.
        None => return true,
    };
    let before = text.get(from..at).unwrap_or_default();
    let line = before.trim_start();
    let is_namespace = line.starts_with("* as ") || line.starts_with("* from") || line == "* ";
    // Not the `//` of a URL.
    let is_ended = before.match_indices("//").any(|it| !before.get(..it.0).is_some_and(|it| it.ends_with(':')));
    let is_comment =
        is_ended || (line.starts_with("/*") && !line.contains("*/")) || (line.starts_with('*') && !is_namespace);
    let is_type = written.trim_start_matches("import").trim_start().starts_with('(');
    !is_comment || is_type || before.contains("@import") || before.contains("<reference")
}

/// The names after `import`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.trim_matches(['(', ')']).lines().map(|it| it.split('#').next().unwrap_or(it));
    lines.flat_map(|it| it.split(',')).filter_map(|it| it.split_whitespace().next())
}

/// The file that an import refers to, and the name that it imports from the file.
pub(crate) fn imported(files: &Files, from: &str, path: &str) -> (Option<String>, Option<String>) {
    let directory = from.rsplit_once('/').map_or("", |it| it.0);
    let exists = |it: &String| files.get(it).is_some();
    if path.starts_with("./") || path.starts_with("../") || path.contains('/') || path.ends_with(".h") {
        let joined = joined(directory, path);
        let endings =
            ["", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts", "/index.ts", "/index.tsx", "/index.js", ".rb", ".sh"];
        let stem = joined.strip_suffix(".js").unwrap_or(&joined);
        let all = endings.iter().flat_map(|end| [format!("{joined}{end}"), format!("{stem}{end}")]);
        return (all.into_iter().find(exists), None);
    }
    // Python: `.mod.name`, `pkg.mod.name`.
    let dots = path.len() - path.trim_start_matches('.').len();
    let mut base = directory.to_owned();
    for _ in 1..dots {
        base = base.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    }
    let parts: Vec<&str> = path.trim_start_matches('.').split('.').filter(|it| !it.is_empty()).collect();
    let bases = if dots > 0 { vec![base] } else { vec![String::new(), directory.to_owned(), "src".to_owned()] };
    // The first part of an absolute import is never a name in the importing package.
    let cuts = [parts.len(), parts.len().saturating_sub(1)].into_iter().filter(|cut| *cut > 0 || dots > 0);
    for cut in cuts {
        let below = parts.get(..cut).unwrap_or_default().join("/");
        let name = parts.get(cut..).unwrap_or_default().first().map(|it| (*it).to_owned());
        for base in &bases {
            let stem = joined(base, &below);
            for end in [".py", "/__init__.py", ".pyi", "/__init__.pyi"] {
                let target = format!("{stem}{end}").trim_start_matches('/').to_owned();
                if files.get(&target).is_some() {
                    return (Some(target), name);
                }
            }
        }
    }
    (None, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_engine::Registry;

    fn files(texts: &[(&str, &str)]) -> (Files, Vec<Arc<File>>) {
        let mut files = Files::new(Registry::new(Vec::new(), crate::kinds).languages().clone());
        for (name, text) in texts {
            files.insert(Arc::new(files.file(name, *text)));
        }
        let own = files.iter().filter(|it| kind_of(it.language).is_some()).cloned().collect();
        (files, own)
    }

    fn seeing(texts: &[(&str, &str)], target: &str) -> Option<Vec<String>> {
        let (files, own) = files(texts);
        let graph = ImportGraph::new(&files, &own, None);
        Some(graph.seeing([target])?.iter().map(|it| it.to_string()).collect())
    }

    #[test]
    fn scripts_see_what_they_import_by_any_form() {
        let texts = [
            ("src/a.ts", "export const a = 1;\n"),
            ("src/b.ts", "export {\n  a,\n} from './a.js';\n"),
            ("src/c.ts", "export const c = import(\"./b\");\n"),
            ("src/d.js", "const b = require('../src/b');\nmodule.exports = b;\n"),
            ("src/e.ts", "export let e: typeof import('./b');\n"),
            ("src/f.ts", "/// <reference path=\"./a.ts\" />\nexport {};\n"),
            ("src/g.ts", "import { a } from 'lib/a';\n"),
            ("src/h.ts", "import x from 'src/a';\nexport default x;\n"),
            ("dir/index.ts", "export * from '../src/h';\n"),
            ("use.ts", "import dir from './dir';\nexport { dir };\n"),
            ("doc.ts", "/**\n * import { a } from './src/a';\n */\nexport {}; // from './src/a'\n"),
            ("doc.js", "/** @type {import('./src/a').T} */\nexport let t;\n"),
        ];
        let found = seeing(&texts, "src/a.ts").unwrap();
        assert_eq!(
            found,
            [
                "dir/index.ts",
                "doc.js",
                "src/a.ts",
                "src/b.ts",
                "src/c.ts",
                "src/d.js",
                "src/e.ts",
                "src/f.ts",
                "src/h.ts",
                "use.ts"
            ]
        );
        assert_eq!(seeing(&texts, "src/g.ts").unwrap(), ["src/g.ts"]);
    }

    #[test]
    fn what_may_lead_anywhere_leads_everywhere() {
        let a = ("src/a.ts", "export const a = 1;\n");
        let by = |texts: &[(&str, &str)]| {
            let all: Vec<(&str, &str)> = [a].into_iter().chain(texts.iter().copied()).collect();
            seeing(&all, "src/a.ts")
        };
        let one = ("b.ts", "import { a } from '@me/lib/x';\nexport { a };\n");
        assert_eq!(by(&[one]).unwrap(), ["src/a.ts"]);
        let named = ("package.json", "{\"name\": \"@me/lib\"}");
        assert_eq!(by(&[one, named]).unwrap(), ["b.ts", "src/a.ts"]);
        let paths = ("tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"@me/*\": [\"src/*\"]}}}");
        assert_eq!(by(&[one, paths]).unwrap(), ["b.ts", "src/a.ts"]);
        let computed = ("b.ts", "export const b = import(`./${name}`);\n");
        assert_eq!(by(&[computed]).unwrap(), ["b.ts", "src/a.ts"]);
        let directory = [("lib/main.ts", "export * from '../src/a';\n"), ("b.ts", "export * from './lib';\n")];
        assert_eq!(seeing(&directory, "b.ts").unwrap(), ["b.ts"]);
        assert_eq!(seeing(&directory, "lib/main.ts").unwrap(), ["b.ts", "lib/main.ts"]);
        let merged = ("tsconfig.json", "{\"compilerOptions\": {\"rootDirs\": [\"x\", \"src\"]}}");
        assert_eq!(by(&[one, merged]), None);
        assert_eq!(seeing(&[("a.ts", "const everywhere = 1;\n"), one], "a.ts"), None);
        assert_eq!(seeing(&[("a.ts", "export {};\ndeclare global { var x: 1 }\n"), one], "a.ts"), None);
    }

    #[test]
    fn python_sees_what_it_imports_by_any_form() {
        let texts = [
            ("src/pkg/__init__.py", "from ._a import (  # all of it\n    f,\n    g as h,\n)\n"),
            ("src/pkg/_a.py", "def f(): pass\n"),
            ("src/pkg/b.py", "def late():\n    from . import _a\n    return _a\n"),
            ("src/pkg/sub/c.py", "from .. import b\n"),
            ("src/pkg/sub/d.py", "from ..other import x\n"),
            ("src/pkg/other.py", "x = 1\n"),
            ("tests/test_e.py", "import os, pkg.b as b\n"),
            ("tests/test_f.py", "import os\n"),
            ("tests/test_g.py", "from tests import test_e\n"),
        ];
        let found = seeing(&texts, "src/pkg/_a.py").unwrap();
        // `from ..other` runs the package that contains it.
        assert_eq!(
            found,
            [
                "src/pkg/__init__.py",
                "src/pkg/_a.py",
                "src/pkg/b.py",
                "src/pkg/sub/c.py",
                "src/pkg/sub/d.py",
                "tests/test_e.py",
                "tests/test_g.py"
            ]
        );
        assert_eq!(seeing(&texts, "tests/test_f.py").unwrap(), ["tests/test_f.py"]);
    }

    #[test]
    fn only_what_has_changed_is_read_again() {
        let (files, own) = files(&[("a.ts", "export const a = 1;\n"), ("b.ts", "import { a } from './a';\n")]);
        let graph = ImportGraph::new(&files, &own, None);
        let mut after = files.clone();
        after.insert(Arc::new(after.file("b.ts", "export const b = 1;\n")));
        let own: Vec<Arc<File>> = after.iter().cloned().collect();
        let next = ImportGraph::new(&after, &own, Some(&graph));
        assert!(Arc::ptr_eq(&next.imports["a.ts"].targets, &graph.imports["a.ts"].targets));
        let seen = |graph: &ImportGraph| graph.seeing(["a.ts"]).unwrap().len();
        assert_eq!((seen(&graph), seen(&next)), (2, 1));
    }
}
