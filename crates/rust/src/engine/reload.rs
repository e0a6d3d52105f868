//! Which files determine Cargo's output.

use std::path::Path;

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
