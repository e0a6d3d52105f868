//! Modules outside the workspace root that its build reads from directories: `use` of `go.work`, and directories in
//! `replace`. They have no versions, so they are watched like the workspace itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::dependency_sources::cleaned;
use super::gomod::{Replace, parse_module};
use super::modules::{base_name, modules, works};
use semdex_engine::files::Files;
use semdex_fs::read_file;

/// A longer file is not a manifest.
const LONGEST_MANIFEST: usize = 1 << 20;

/// Whether a file may name such modules.
pub(crate) fn is_named_in(file: &str) -> bool {
    matches!(base_name(file), "go.mod" | "go.work")
}

/// Their directories, whether they exist or not.
pub(crate) fn outside(files: &Files, root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut add = |home: &Path, written: &str| {
        let directory = cleaned(&home.join(written));
        if !directory.starts_with(root) {
            found.insert(directory);
        }
    };
    for module in modules(files) {
        let home = root.join(&module.directory);
        local(&module.replaces).for_each(|it| add(&home, it));
    }
    for work in works(files) {
        let home = root.join(&work.directory);
        local(&work.replaces).for_each(|it| add(&home, it));
        for used in &work.uses_outside {
            add(&home, used);
            // It is a main module like those inside, so its replacements apply.
            let used = cleaned(&home.join(used));
            let manifest = manifest(&used.join("go.mod")).and_then(|it| parse_module("", &it));
            local(manifest.iter().flat_map(|it| &it.replaces)).for_each(|it| add(&used, it));
        }
    }
    found
}

fn local<'a>(replaces: impl IntoIterator<Item = &'a Replace>) -> impl Iterator<Item = &'a str> {
    replaces.into_iter().map(|it| it.target.as_str()).filter(|it| it.starts_with(['.', '/']))
}

fn manifest(path: &Path) -> Option<String> {
    String::from_utf8(read_file(path, LONGEST_MANIFEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::files;

    #[test]
    fn what_lies_outside_is_found_through_every_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("used")).unwrap();
        std::fs::write(base.join("used/go.mod"), "module used\nreplace far => ../far\n").unwrap();
        let root = base.join("root");
        let files = files(
            "
//- go.mod
module m
replace (
	lib => ../lib
	inner => ./inner
	other => example.com/other v1.0.0
	absolute => /somewhere/else
)
//- nested/go.mod
module nested
replace back => ../inner
replace near => ../../near
//- go.work
use (
	.
	../used
)
replace once => ../once
",
        );
        let found = outside(&files, &root);
        let expected = ["far", "lib", "near", "once", "used"].map(|it| base.join(it));
        assert_eq!(found, expected.into_iter().chain([PathBuf::from("/somewhere/else")]).collect());
    }
}
