//! Workspaces for tests: `//- path` begins a file.

use std::sync::Arc;

use semdex_engine::files::Files;

pub(crate) fn files(fixture: &str) -> Files {
    let mut files = Files::default();
    for part in fixture.split("\n//- ").skip(1) {
        let (path, text) = part.split_once('\n').unwrap_or((part, ""));
        files.insert(Arc::new(crate::file(path.trim(), format!("{text}\n"))));
    }
    files
}
