//! Which directory is the workspace that a directory belongs to.
//!
//! The nearest that an engine takes for a root by the manifests around it, as the tools of its language would, else the
//! directory itself. The search ends at the home directory, and never takes `/`: what lies there by accident should
//! not make one workspace of everything.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::registry::Registry;

impl Registry {
    /// The root of the workspace that contains this directory, in canonical form.
    pub fn find_root(&self, start: &Path) -> io::Result<PathBuf> {
        self.find_root_below(start, home().as_deref())
    }

    /// The same, where a manifest makes it one.
    pub fn manifest_root(&self, start: &Path) -> io::Result<Option<PathBuf>> {
        Ok(self.roots_around(start, home().as_deref())?.1)
    }

    /// Whether a directory, in canonical form, is one that everything lies in, the home directory or `/`, and no manifest
    /// makes it a workspace.
    pub fn is_everything(&self, directory: &Path) -> io::Result<bool> {
        self.is_everything_of(directory, home().as_deref())
    }

    fn is_everything_of(&self, directory: &Path, home: Option<&Path>) -> io::Result<bool> {
        let holds_all = directory.parent().is_none() || Some(directory) == home;
        Ok(holds_all && self.roots_around(directory, home)?.1.is_none())
    }

    fn find_root_below(&self, start: &Path, home: Option<&Path>) -> io::Result<PathBuf> {
        let (start, root) = self.roots_around(start, home)?;
        Ok(root.unwrap_or(start))
    }

    /// The directory in canonical form, and the root that a manifest makes around it.
    fn roots_around(&self, start: &Path, home: Option<&Path>) -> io::Result<(PathBuf, Option<PathBuf>)> {
        let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", start.display()));
        let start = fs::canonicalize(start).map_err(with_path)?;
        if !start.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is not a directory", start.display()),
            ));
        }
        let around = around(&start, home);
        let nearest = self.kinds().iter().filter_map(|it| it.root_of(&around));
        let root = nearest.max_by_key(|root| root.components().count());
        Ok((start.clone(), root))
    }
}

/// The nearest directory around a path that holds `.git`, the path itself among them; in canonical form, as the path is.
pub fn repository_around(path: &Path) -> Option<PathBuf> {
    repository_below(path, home().as_deref())
}

fn repository_below(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    // A worktree and a submodule have a file of this name.
    around(path, home).into_iter().find(|it| it.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

/// In canonical form.
fn home() -> Option<PathBuf> {
    std::env::home_dir().and_then(|home| fs::canonicalize(home).ok())
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
            let found = Registry::default().find_root_below(&home.join(start), Some(&home)).unwrap();
            let expected: PathBuf = home.join(root).components().collect();
            assert_eq!(found, expected, "from {start}");
        }
    }

    #[test]
    fn a_directory_without_a_manifest_is_its_own_root() {
        check(&[], &[("a/b", "a/b"), ("", "")]);
        assert_eq!(Registry::default().find_root_below(Path::new("/"), None).unwrap(), Path::new("/"));
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
    fn the_nearest_repository_is_found_up_to_the_home_directory() {
        let top = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(top.path()).unwrap().join("home");
        for directory in ["a/.git", "a/b/c", "d", "../.git"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        fs::write(home.join("a/b/.git"), "gitdir: ../.git/modules/b\n").unwrap();
        let found = |path: &str| repository_below(&home.join(path), Some(&home));
        for path in ["a/b", "a/b/c", "a/b/c/no/such/file"] {
            assert_eq!(found(path), Some(home.join("a/b")), "from {path}");
        }
        assert_eq!(found("a/x.py"), Some(home.join("a")));
        assert_eq!(found("d"), None);
        fs::create_dir(home.join(".git")).unwrap();
        assert_eq!(found("d"), Some(home.clone()));
    }

    #[test]
    fn everything_lies_in_the_home_directory_unless_a_manifest_makes_it_a_workspace() {
        let top = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(top.path()).unwrap().join("home");
        fs::create_dir_all(home.join("a")).unwrap();
        let is_everything = |path: &Path| Registry::default().is_everything_of(path, Some(&home)).unwrap();
        assert!(is_everything(&home) && !is_everything(&home.join("a")));
        fs::write(home.join("go.mod"), "module m").unwrap();
        assert!(!is_everything(&home));
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "").unwrap();
        let error = |name: &str| Registry::default().find_root(&directory.path().join(name)).unwrap_err().to_string();
        assert!(error("file").contains("file is not a directory"));
        assert!(error("missing").contains("missing: No such file"));
    }

    #[test]
    fn fuzz_manifests() {
        const SIGNS: &[&str] = &[
            "[",
            "]",
            "[[",
            "]]",
            "{",
            "}",
            "=",
            ".",
            ",",
            "\"",
            "'",
            "\"\"\"",
            "'''",
            "#",
            "\n",
            " ",
            "true",
            "-1",
            "0x7fffffffffffffff",
            "9223372036854775808",
            "1e400",
            "nan",
            "1979-05-27T07:32:00Z",
            "512MiB",
            "99999999TiB",
            "[rust]\n",
            "[go]\n",
            "features = ",
            "\\u0000",
            "\\",
            "é",
            "..",
            "/",
        ];
        const TEXTS: &[&str] = &[
            "[package]\nname = \"a\"\nworkspace = \"..\"\n\n[workspace]\nmembers = [\"a\", \"b/*\"]\nexclude = [\"a/inner\"]\n",
            "go 1.26\nuse (\n\t./a\n\t\"a/inner\"\n)\nuse .\n",
        ];
        let home = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(home.path()).unwrap();
        let inner = root.join("a/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("go.mod"), "module m\n").unwrap();
        crate::fuzz::fuzz(
            "manifests",
            (crate::fuzz::mutated(TEXTS, SIGNS), crate::fuzz::mutated(TEXTS, SIGNS)),
            |(outer, own)| {
                fs::write(root.join("Cargo.toml"), &outer).unwrap();
                fs::write(root.join("go.work"), &outer).unwrap();
                fs::write(inner.join("Cargo.toml"), &own).unwrap();
                let found = Registry::default().find_root(&inner).unwrap();
                assert!(inner.starts_with(&found) || found.join("Cargo.toml").is_file(), "{}", found.display());
            },
        );
    }
}
