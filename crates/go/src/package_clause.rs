//! The package clause that makes a new Go file a part of its package.

use super::LANGUAGE;
use semdex_engine::files::Files;
use semdex_text::endings;

/// Adds the package clause of the directory to a new Go file without one.
pub(super) fn with_package_clause(files: &Files, name: &str, content: &str) -> Option<String> {
    if content.trim().is_empty() || clause(content).is_some() {
        return None;
    }
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    let beside = files.below(directory).filter(|it| {
        let rest = it.path.strip_prefix(directory).unwrap_or_default().trim_start_matches('/');
        LANGUAGE.takes(&it.path) && !rest.contains('/') && !rest.ends_with("_test.go")
    });
    let package = beside.filter_map(|it| clause(&it.text).map(str::to_owned)).next().or_else(|| {
        let last = directory.rsplit('/').next().filter(|it| !it.is_empty())?;
        last.chars().all(|it| it.is_alphanumeric() || it == '_').then(|| last.to_owned())
    })?;
    let newline = endings::at(content, 0);
    Some(format!("package {package}{newline}{newline}{content}"))
}

/// The package name in a Go file's package clause.
fn clause(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1.trim_start();
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1.trim_start();
        } else {
            let name = rest.strip_prefix("package")?.strip_prefix(char::is_whitespace)?.trim_start();
            let end = name.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(name.len());
            return Some(&name[..end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn files(texts: &[(&str, &str)]) -> Files {
        let mut files = Files::default();
        for (name, text) in texts {
            files.insert(Arc::new(crate::file(name, *text)));
        }
        files
    }

    #[test]
    fn a_package_clause_fits_the_directory() {
        let files =
            files(&[("auth/auth.go", "// Package x.\n/* y */ package login\n"), ("auth/sub/s.go", "package sub\n")]);
        let with = |name: &str, content: &str| with_package_clause(&files, name, content);
        assert_eq!(with("auth/new.go", "func F() {}\n").as_deref(), Some("package login\n\nfunc F() {}\n"));
        assert_eq!(with("auth/new.go", "func F() {}\r\n").as_deref(), Some("package login\r\n\r\nfunc F() {}\r\n"));
        assert_eq!(with("other/new.go", "func F() {}\n").as_deref(), Some("package other\n\nfunc F() {}\n"));
        assert_eq!(with("auth/new.go", "package login\n"), None);
    }
}
