//! The directories of imported packages' sources outside the workspace: the module cache, a replacement, `vendor`, the
//! standard library.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::gomod::{Module, compare_versions};
use super::import_paths::{is_import_path, is_version};
use super::modules::{below, module_of, modules, rest_of, works};
use semdex_engine::files::Files;
use semdex_fs::Tree;

/// Larger files are generated; their documentation is not read.
const MOST_BYTES: usize = 10 << 20;

/// A directory of Go files, with the root of its module or of the standard library. No link may leave this root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    module: PathBuf,
    below: String,
}

impl Source {
    fn new(module: PathBuf, below: &str) -> Source {
        Source { module, below: below.to_owned() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        if self.below.is_empty() { self.module.clone() } else { self.module.join(&self.below) }
    }

    /// The root that no link may leave.
    pub(crate) fn module(&self) -> &Path {
        &self.module
    }

    /// Whether the root is a module.
    pub(crate) fn is_module(&self) -> bool {
        Tree::open(&self.module).and_then(|it| it.read(Path::new("go.mod"), MOST_BYTES)).is_ok()
    }

    /// The names of its Go files, sorted.
    pub(crate) fn go_files(&self) -> io::Result<Vec<String>> {
        let names = Tree::open(&self.module)?.names(Path::new(&self.below))?;
        Ok(names.into_iter().filter_map(|it| it.into_string().ok()).filter(|it| it.ends_with(".go")).collect())
    }

    /// The text of one of its Go files.
    pub(crate) fn read(&self, name: &str) -> io::Result<String> {
        let bytes = Tree::open(&self.module)?.read(&Path::new(&self.below).join(name), MOST_BYTES)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// The source directory of a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub module: String,
    /// `None` if a directory replaces the module.
    pub version: Option<String>,
    pub source: Source,
}

/// The directory of an imported package in the module cache, or of its `replace` or `vendor` copy. `importer` is a file
/// that imports it; without it, every module is searched. The directory need not exist. `None` for an invalid path or
/// version.
pub(crate) fn dependency(
    files: &Files,
    root: &Path,
    module_cache: &Path,
    importer: Option<&str>,
    import_path: &str,
) -> Option<Dependency> {
    if !is_import_path(import_path) {
        return None;
    }
    let all = modules(files);
    let own = importer.and_then(|it| module_of(files, it));
    let work = works(files).into_iter().find(|it| own.as_ref().is_none_or(|own| it.uses.contains(&own.directory)));
    let asked: Vec<&Module> = match (&own, &work) {
        (_, Some(work)) => all.iter().filter(|it| work.uses.contains(&it.directory)).collect(),
        (Some(own), None) => vec![own],
        (None, None) => all.iter().collect(),
    };
    let homes = asked.iter().map(|it| it.directory.as_str()).chain(work.iter().map(|it| it.directory.as_str()));
    for home in homes {
        let vendored = below(home, &below("vendor", import_path));
        if files.below(&vendored).next().is_some() {
            let source = Source::new(root.join(vendored), "");
            return Some(Dependency { module: import_path.to_owned(), version: None, source });
        }
    }
    let requires = asked.iter().flat_map(|it| &it.requires).filter(|it| rest_of(import_path, &it.path).is_some());
    let require = requires
        .max_by(|a, b| a.path.len().cmp(&b.path.len()).then_with(|| compare_versions(&a.version, &b.version)))?;
    let rest = rest_of(import_path, &require.path)?;
    let replaces = work
        .iter()
        .flat_map(|it| it.replaces.iter().map(|replace| (&it.directory, replace)))
        .chain(asked.iter().flat_map(|it| it.replaces.iter().map(|replace| (&it.directory, replace))));
    let replace = replaces
        .filter(|(_, it)| it.path == require.path && it.version.as_ref().is_none_or(|it| *it == require.version))
        .max_by_key(|(_, it)| it.version.is_some());
    let (path, version) = match replace {
        Some((home, it)) if it.target.starts_with(['.', '/']) => {
            let source = Source::new(cleaned(&root.join(home).join(&it.target)), rest);
            return Some(Dependency { module: require.path.clone(), version: None, source });
        }
        Some((_, it)) => (&it.target, it.target_version.as_ref().unwrap_or(&require.version)),
        None => (&require.path, &require.version),
    };
    if !is_import_path(path) || !is_version(version) {
        return None;
    }
    let source = Source::new(module_cache.join(format!("{}@{}", escaped(path), escaped(version))), rest);
    Some(Dependency { module: require.path.clone(), version: Some(version.clone()), source })
}

/// The directory of a package of the standard library, if it is part of it.
pub(crate) fn goroot_dir(goroot: &Path, import_path: &str) -> Option<Source> {
    let sources = goroot.join("src");
    let found = [Source::new(sources.clone(), import_path), Source::new(sources.join("vendor"), import_path)];
    let valid = is_import_path(import_path);
    // It contains Go files itself, not only subdirectories.
    found.into_iter().find(|it| valid && it.go_files().is_ok_and(|it| !it.is_empty()))
}

/// The path without `.` and `..`.
pub(crate) fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// The module cache writes an upper-case letter as `!` and the lower-case letter.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        if character.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(character.to_ascii_lowercase());
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::files;

    fn files_with_go_mod(text: &str) -> Files {
        let mut files = Files::default();
        files.insert(std::sync::Arc::new(crate::file("go.mod", text)));
        files
    }

    #[test]
    fn where_dependencies_lie() {
        let files = files(
            "
//- go.mod
module example.com/m
require (
	github.com/BurntSushi/toml v1.3.0
	github.com/BurntSushi/toml/sub v0.1.0
	local.dev/x v1.0.0
	old.dev/y v1.0.0
	example.com/nested v0.0.0
)
replace local.dev/x => ./third/x
replace old.dev/y v1.0.0 => new.dev/Y v1.1.0
//- nested/go.mod
module example.com/nested
require github.com/BurntSushi/toml v1.4.0
//- nested/n.go
package nested
//- vendored/go.mod
module example.com/vendored
require q.dev/q v1.0.0
//- vendored/vendor/q.dev/q/q.go
package q
",
        );
        let find = |importer: &str, path: &str| {
            let found = dependency(&files, Path::new("/module"), Path::new("/cache"), Some(importer), path);
            found.map(|it| {
                format!("{} {} {}", it.module, it.version.as_deref().unwrap_or("-"), it.source.directory().display())
            })
        };
        let expected = [
            (
                "a.go",
                "github.com/BurntSushi/toml/internal",
                Some("github.com/BurntSushi/toml v1.3.0 /cache/github.com/!burnt!sushi/toml@v1.3.0/internal"),
            ),
            (
                "a.go",
                "github.com/BurntSushi/toml/sub/a",
                Some("github.com/BurntSushi/toml/sub v0.1.0 /cache/github.com/!burnt!sushi/toml/sub@v0.1.0/a"),
            ),
            (
                "nested/n.go",
                "github.com/BurntSushi/toml",
                Some("github.com/BurntSushi/toml v1.4.0 /cache/github.com/!burnt!sushi/toml@v1.4.0"),
            ),
            ("a.go", "local.dev/x/y", Some("local.dev/x - /module/third/x/y")),
            ("a.go", "old.dev/y", Some("old.dev/y v1.1.0 /cache/new.dev/!y@v1.1.0")),
            ("vendored/v.go", "q.dev/q", Some("q.dev/q - /module/vendored/vendor/q.dev/q")),
            ("a.go", "github.com/BurntSushi/tomlx", None),
            ("a.go", "fmt", None),
        ];
        for (importer, path, expected) in expected {
            assert_eq!(find(importer, path).as_deref(), expected, "{path}");
        }
        let escapes = files_with_go_mod(
            "module m\nrequire (\n\tgithub.com/x/y v1.0.0\n\tbad.dev/version v1.0.0/../../../etc\n\tup.dev/../../etc v1.0.0\n\
             \tgone.dev/x v1.0.0\n)\nreplace gone.dev/x => ../../etc v1.0.0\n",
        );
        for path in [
            "github.com/x/y/../../../../../etc",
            "github.com/x/y/..",
            "github.com/x/y//etc",
            "github.com/x/y/\\..",
            "bad.dev/version",
            "up.dev/../../etc",
            "up.dev/../../etc/ssl",
        ] {
            assert_eq!(dependency(&escapes, Path::new("/m"), Path::new("/cache"), None, path), None, "{path}");
        }
        let found = dependency(&escapes, Path::new("/m"), Path::new("/cache"), None, "github.com/x/y/z").unwrap();
        assert_eq!(found.source.directory(), Path::new("/cache/github.com/x/y@v1.0.0/z"));

        let mut joined = files.clone();
        let work = crate::file("go.work", "use .\nuse ./nested\n");
        joined.insert(std::sync::Arc::new(work));
        let found =
            dependency(&joined, Path::new("/module"), Path::new("/cache"), Some("a.go"), "github.com/BurntSushi/toml");
        assert_eq!(found.and_then(|it| it.version).as_deref(), Some("v1.4.0"), "a go.work takes the highest version");
    }
}
