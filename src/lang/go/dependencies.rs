//! Where the sources of imported packages lie outside of the workspace: the module cache, a replacement, `vendor`,
//! the standard library.

use std::path::{Component, Path, PathBuf};

use super::gomod::{Module, compare_versions};
use super::modules::{below, module_of, modules, rest_of, works};
use crate::lang::files::Files;

/// Where the source of a dependency lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub module: String,
    /// Absent where a directory replaces it.
    pub version: Option<String>,
    pub directory: PathBuf,
}

/// The directory of an imported package in the module cache, or where `replace` or `vendor` put it. `importer` is
/// a file that imports it; absent, every module is asked. The directory need not exist.
pub fn dependency(
    files: &Files,
    root: &Path,
    module_cache: &Path,
    importer: Option<&str>,
    import_path: &str,
) -> Option<Dependency> {
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
            let directory = root.join(vendored);
            return Some(Dependency { module: import_path.to_owned(), version: None, directory });
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
            let directory = cleaned(&root.join(home).join(&it.target).join(rest));
            return Some(Dependency { module: require.path.clone(), version: None, directory });
        }
        Some((_, it)) => (&it.target, it.target_version.as_ref().unwrap_or(&require.version)),
        None => (&require.path, &require.version),
    };
    let directory = cleaned(&module_cache.join(format!("{}@{}", escaped(path), escaped(version))).join(rest));
    Some(Dependency { module: require.path.clone(), version: Some(version.clone()), directory })
}

/// The directory of a package of the standard library, if it is one.
pub fn goroot_dir(goroot: &Path, import_path: &str) -> Option<PathBuf> {
    let lawful = import_path.split('/').all(|it| !it.is_empty() && !it.starts_with('.'));
    let sources = goroot.join("src");
    let found = [sources.join(import_path), sources.join("vendor").join(import_path)];
    found.into_iter().find(|it| lawful && holds_go(it))
}

/// Whether Go files lie there, and not only in directories below.
fn holds_go(directory: &Path) -> bool {
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|it| it.path().extension().is_some_and(|it| it == "go"))
}

/// Without `.` and `..`.
fn cleaned(path: &Path) -> PathBuf {
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

/// The module cache writes upper case as `!` and lower case.
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
    use crate::lang::go::fixture::files;

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
            found.map(|it| format!("{} {} {}", it.module, it.version.as_deref().unwrap_or("-"), it.directory.display()))
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
        let mut joined = files.clone();
        let work = crate::lang::files::File::new("go.work", "use .\nuse ./nested\n");
        joined.insert(std::sync::Arc::new(work));
        let found =
            dependency(&joined, Path::new("/module"), Path::new("/cache"), Some("a.go"), "github.com/BurntSushi/toml");
        assert_eq!(found.and_then(|it| it.version).as_deref(), Some("v1.4.0"), "a go.work takes the highest version");
    }
}
