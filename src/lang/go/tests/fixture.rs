//! Workspaces for tests: `//- path` begins a file.

use std::sync::Arc;

use crate::lang::files::Files;

pub fn files(fixture: &str) -> Files {
    let mut files = Files::default();
    for part in fixture.split("\n//- ").skip(1) {
        let (path, text) = part.split_once('\n').unwrap_or((part, ""));
        files.insert(Arc::new(crate::lang::go::file(path.trim(), format!("{text}\n"))));
    }
    files
}
