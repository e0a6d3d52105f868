//! Which directory is the workspace that a directory belongs to.
//!
//! That of the nearest Cargo workspace or Go module around it, as cargo and go themselves would find it, else the
//! directory itself. The search ends at the home directory, and never takes `/`: what lies there by accident should
//! not make one workspace of everything.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::Table;

use crate::beneath::read_file;

/// Of a manifest.
const LONGEST_FILE: usize = 10 << 20;

/// The root of the workspace that contains this directory, in canonical form.
pub fn find_root(start: &Path) -> io::Result<PathBuf> {
    find_root_below(start, std::env::home_dir().as_deref())
}

fn find_root_below(start: &Path, home: Option<&Path>) -> io::Result<PathBuf> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", start.display()));
    let start = fs::canonicalize(start).map_err(told)?;
    if !start.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{} is not a directory", start.display())));
    }
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let around = around(&start, home.as_deref());
    let nearest = [cargo_root(&around), go_root(&around)].into_iter().flatten();
    Ok(nearest.max_by_key(|root| root.components().count()).unwrap_or(start))
}

/// The directory and those above it that may be a root, innermost first.
fn around<'a>(start: &'a Path, home: Option<&Path>) -> Vec<&'a Path> {
    let mut around = Vec::new();
    for directory in start.ancestors() {
        if directory.parent().is_some() || directory == start {
            around.push(directory);
        }
        if Some(directory) == home {
            break;
        }
    }
    around
}

fn cargo_root(around: &[&Path]) -> Option<PathBuf> {
    let manifests = || around.iter().filter_map(|directory| Some((*directory, manifest(directory)?)));
    let (package, own) = manifests().next()?;
    if own.contains_key("workspace") {
        return Some(package.to_path_buf());
    }
    let named = own.get("package").and_then(|section| section.get("workspace")).and_then(|path| path.as_str());
    if let Some(named) = named.and_then(|named| fs::canonicalize(package.join(named)).ok())
        && manifest(&named).is_some_and(|manifest| manifest.contains_key("workspace"))
    {
        return Some(named);
    }
    let above = manifests().skip(1);
    let enclosing = above.filter_map(|(root, manifest)| Some((root, manifest.get("workspace")?.clone())));
    let mut taken = enclosing.filter(|(root, workspace)| !excludes(root, workspace, package));
    Some(taken.next().map_or(package, |(root, _)| root).to_path_buf())
}

/// Whether a workspace leaves a package out: an `exclude` covers it, and no `members` entry names it again.
fn excludes(root: &Path, workspace: &toml::Value, package: &Path) -> bool {
    let covered = |key: &str| {
        let entries = workspace.get(key).and_then(|entries| entries.as_array());
        entries.into_iter().flatten().filter_map(|entry| entry.as_str()).any(|entry| {
            let entry: PathBuf = root.join(entry).components().collect();
            package.starts_with(entry)
        })
    };
    covered("exclude") && !covered("members")
}

/// A directory's `Cargo.toml`; an empty one where it is broken, since the directory is a package all the same.
fn manifest(directory: &Path) -> Option<Table> {
    let text = read_text(&directory.join("Cargo.toml"))?;
    Some(text.parse().unwrap_or_default())
}

fn go_root(around: &[&Path]) -> Option<PathBuf> {
    let module = around.iter().find(|directory| directory.join("go.mod").is_file());
    let workspace = around.iter().find_map(|directory| Some((*directory, read_text(&directory.join("go.work"))?)));
    let root = match (module, workspace) {
        // A module inside that the workspace does not use stands by itself.
        (Some(module), Some((root, text))) if module.starts_with(root) && !uses(root, &text, module) => module,
        (_, Some((root, _))) => root,
        (Some(module), None) => module,
        (None, None) => return None,
    };
    Some(root.to_path_buf())
}

/// Whether the text of a `go.work` names a module's directory in a `use` directive.
fn uses(root: &Path, text: &str, module: &Path) -> bool {
    let mut block = false;
    text.lines().any(|line| {
        let line = line.split_once("//").map_or(line, |(code, _)| code).trim();
        let entry = match line.strip_prefix("use") {
            Some(rest) if rest.trim() == "(" => {
                block = true;
                return false;
            }
            Some(rest) if rest.starts_with([' ', '\t']) => rest.trim(),
            _ if line == ")" => {
                block = false;
                return false;
            }
            _ if block => line,
            _ => return false,
        };
        let entry = entry.trim_matches(['"', '`']);
        !entry.is_empty() && fs::canonicalize(root.join(entry)).is_ok_and(|used| used == module)
    })
}

/// The text of a regular file; whatever else has the name (a FIFO would never end) is not a manifest.
fn read_text(path: &Path) -> Option<String> {
    let bytes = read_file(path, LONGEST_FILE).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files, and says which root each directory belongs to, both relative to a fresh home directory.
    fn check(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let top = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(top.path()).unwrap().join("home");
        for (path, text) in files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (start, root) in expected {
            fs::create_dir_all(home.join(start)).unwrap();
            let found = find_root_below(&home.join(start), Some(&home)).unwrap();
            let expected: PathBuf = home.join(root).components().collect();
            assert_eq!(found, expected, "from {start}");
        }
    }

    #[test]
    fn a_directory_without_a_manifest_is_its_own_root() {
        check(&[], &[("a/b", "a/b"), ("", "")]);
        assert_eq!(find_root_below(Path::new("/"), None).unwrap(), Path::new("/"));
    }

    #[test]
    fn a_manifest_above_home_does_not_count() {
        check(&[("../Cargo.toml", "[workspace]"), ("../go.mod", "module m")], &[("a/b", "a/b")]);
        check(&[("go.mod", "module m")], &[("a/b", "")]);
    }

    #[test]
    fn cargo_workspaces_are_found() {
        let package = "[package]\nname = 'p'";
        check(
            &[
                ("w/Cargo.toml", "[workspace]\nmembers = ['crates/*', 'fuzz/kept']\nexclude = ['fuzz', './old']"),
                ("w/crates/a/Cargo.toml", package),
                ("w/crates/broken/Cargo.toml", "[package"),
                ("w/fuzz/Cargo.toml", package),
                ("w/fuzz/kept/Cargo.toml", package),
                ("w/old/Cargo.toml", package),
                ("w/nested/Cargo.toml", "[workspace]"),
                ("far/Cargo.toml", "[package]\nname = 'far'\nworkspace = '../w'"),
                ("lost/Cargo.toml", "[package]\nname = 'lost'\nworkspace = '../nowhere'"),
            ],
            &[
                ("w", "w"),
                ("w/docs", "w"),
                ("w/crates/a/src", "w"),
                ("w/crates/broken/src", "w"),
                ("w/fuzz/src", "w/fuzz"),
                ("w/fuzz/kept/src", "w"),
                ("w/old", "w/old"),
                ("w/nested/x", "w/nested"),
                ("far/src", "w"),
                ("lost/src", "lost"),
            ],
        );
    }

    #[test]
    fn go_modules_and_workspaces_are_found() {
        let module = "module m";
        check(
            &[
                (
                    "w/go.work",
                    "go 1.26\nuse ./one // the first\nuse (\n\t\"./two\"\n\t`./three`\n)\nreplace x => ./four\n",
                ),
                ("w/one/go.mod", module),
                ("w/two/go.mod", module),
                ("w/three/go.mod", module),
                ("w/four/go.mod", module),
                ("m/go.mod", module),
                ("m/nested/go.mod", module),
                ("m/work/go.work", "use .."),
            ],
            &[
                ("w/one/pkg", "w"),
                ("w/two", "w"),
                ("w/three", "w"),
                ("w/four/pkg", "w/four"),
                ("w/docs", "w"),
                ("m/pkg", "m"),
                ("m/nested/pkg", "m/nested"),
                ("m/work/x", "m/work"),
            ],
        );
    }

    #[test]
    fn the_nearer_language_counts() {
        check(
            &[
                ("r/Cargo.toml", "[workspace]"),
                ("r/go/go.mod", "module m"),
                ("g/go.mod", "module g"),
                ("g/rs/Cargo.toml", ""),
            ],
            &[("r/go/pkg", "r/go"), ("r/src", "r"), ("g/rs/src", "g/rs"), ("g/pkg", "g")],
        );
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "").unwrap();
        let error = |name: &str| find_root(&directory.path().join(name)).unwrap_err().to_string();
        assert!(error("file").contains("file is not a directory"));
        assert!(error("missing").contains("missing: No such file"));
    }
}
