//! The workspace of a directory, by the manifests that the built-in engines know.

use std::fs;
use std::path::{Path, PathBuf};

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
        let found = semdex::engines().find_root_below(&home.join(start), Some(&home)).unwrap();
        let expected: PathBuf = home.join(root).components().collect();
        assert_eq!(found, expected, "from {start}");
    }
}

#[test]
fn a_directory_without_a_manifest_is_its_own_root() {
    check(&[], &[("a/b", "a/b"), ("", "")]);
    assert_eq!(semdex::engines().find_root_below(Path::new("/"), None).unwrap(), Path::new("/"));
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
            ("w/go.work", "go 1.26\nuse ./one // the first\nuse (\n\t\"./two\"\n\t`./three`\n)\nreplace x => ./four\n"),
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
fn everything_lies_in_the_home_directory_unless_a_manifest_makes_it_a_workspace() {
    let top = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(top.path()).unwrap().join("home");
    fs::create_dir_all(home.join("a")).unwrap();
    let is_everything = |path: &Path| semdex::engines().is_everything_of(path, Some(&home)).unwrap();
    assert!(is_everything(&home) && !is_everything(&home.join("a")));
    fs::write(home.join("go.mod"), "module m").unwrap();
    assert!(!is_everything(&home));
}

#[test]
fn what_is_no_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    let error = |name: &str| semdex::engines().find_root(&directory.path().join(name)).unwrap_err().to_string();
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
    semdex_testing::fuzz::fuzz(
        "manifests",
        (semdex_testing::fuzz::mutated(TEXTS, SIGNS), semdex_testing::fuzz::mutated(TEXTS, SIGNS)),
        |(outer, own)| {
            fs::write(root.join("Cargo.toml"), &outer).unwrap();
            fs::write(root.join("go.work"), &outer).unwrap();
            fs::write(inner.join("Cargo.toml"), &own).unwrap();
            let found = semdex::engines().find_root(&inner).unwrap();
            assert!(inner.starts_with(&found) || found.join("Cargo.toml").is_file(), "{}", found.display());
        },
    );
}
