//! Which files determine Cargo's output.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

use semdex_engine::read_manifest;

/// Whether a file is the manifest of a package or workspace, by its name.
pub(crate) fn is_manifest(file: &str) -> bool {
    file.rsplit('/').next() == Some("Cargo.toml")
}

/// Whether Cargo decides by this file alone which packages it builds.
pub(crate) fn decides_packages(file: &str) -> bool {
    is_manifest(file) || file.rsplit('/').next() == Some("Cargo.lock")
}

/// Whether a change of this file changes Cargo's output: manifests, configuration, and files that Cargo finds by their
/// location.
pub(crate) fn is_reload(name: &str, created_or_deleted: bool) -> bool {
    let path = Path::new(name);
    let file_name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let parents: Vec<&str> =
        path.parent().into_iter().flat_map(Path::components).filter_map(|it| it.as_os_str().to_str()).collect();
    match file_name {
        "Cargo.toml" | "Cargo.lock" | "rust-toolchain" | "rust-toolchain.toml" => return true,
        "config.toml" | "config" if parents.last() == Some(&".cargo") => return true,
        "build.rs" => return true,
        _ => {}
    }
    if !created_or_deleted || !file_name.ends_with(".rs") {
        return false;
    }
    let in_target_dir = |parents: &[&str]| {
        parents.ends_with(&["src", "bin"]) || matches!(parents.last(), Some(&("examples" | "tests" | "benches")))
    };
    match file_name {
        "main.rs" => {
            parents.last() == Some(&"src")
                || in_target_dir(&parents[..parents.len().saturating_sub(1)])
                || in_target_dir(&parents)
        }
        "lib.rs" if parents.last() == Some(&"src") => true,
        _ => in_target_dir(&parents),
    }
}

/// The root among these directories, which are ordered from the innermost.
pub(crate) fn cargo_root(around: &[&Path]) -> Option<PathBuf> {
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

/// Whether a workspace excludes a package: an `exclude` covers it, and no `members` entry includes it again.
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

/// A directory's `Cargo.toml`; empty if it is broken, since the directory is a package all the same.
fn manifest(directory: &Path) -> Option<Table> {
    let text = read_manifest(&directory.join("Cargo.toml"))?;
    Some(text.parse().unwrap_or_default())
}
