//! What makes a new file a part of its package: Rust's `mod` line, Go's package clause.

use std::sync::Arc;

use crate::lang::files::{File, Files};
use crate::lang::{go, rust};
use crate::model::{FileEdit, OutlineItem, SymbolKind};

/// The `mod` line that a new file of Rust needs, and the file that lacks it.
pub(super) struct ModLine {
    pub parent: Arc<File>,
    pub line: String,
}

pub(super) fn mod_line(files: &Files, name: &str) -> Option<ModLine> {
    if !rust::LANGUAGE.takes(name) {
        return None;
    }
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
    let (around, module) = match file.strip_suffix(".rs")? {
        // Roots of crates of their own.
        "lib" | "main" | "build" => return None,
        "mod" => directory.rsplit_once('/').unwrap_or(("", directory)),
        stem => (directory, stem),
    };
    let parents =
        [format!("{around}/lib.rs"), format!("{around}/main.rs"), format!("{around}/mod.rs"), format!("{around}.rs")];
    let parent = parents.iter().find_map(|it| files.get(it))?.clone();
    let declares = |item: &OutlineItem| item.kind == SymbolKind::Module && item.name == module;
    let declared = parent.outline().items.iter().any(declares);
    (!declared).then(|| ModLine { parent, line: format!("mod {module};") })
}

impl ModLine {
    /// Beside its like, else behind the imports, else behind what speaks of the whole file.
    pub(super) fn edit(&self) -> FileEdit {
        let text = &*self.parent.text;
        let outline = self.parent.outline();
        let lines = self.parent.lines();
        let others = outline.items.iter().filter(|it| it.kind == SymbolKind::Module && it.body.is_none());
        let after_line =
            |end: usize| lines.line_span(lines.line(end.saturating_sub(1))).map_or(text.len(), |it| it.end);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let (at, before, after) = match others.map(|it| it.span.end).max() {
            Some(end) => (after_line(end), "", ""),
            None => match outline.imports.iter().map(|it| it.span.end).max() {
                Some(end) => (after_line(end), newline, ""),
                None => (head(text), "", newline),
            },
        };
        let joined = if at > 0 && !text[..at].ends_with('\n') { newline } else { "" };
        let new = [&text[..at], joined, before, &self.line, newline, after, &text[at..]].concat();
        FileEdit { file: self.parent.path.to_string(), old: Some(self.parent.text.clone()), new: Some(new.into()) }
    }
}

/// Where the first item may stand: behind the documentation and the attributes of the file.
fn head(text: &str) -> usize {
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let content = line.trim_start_matches('\u{feff}').trim();
        if content.is_empty() || content.starts_with("//!") || content.starts_with("#![") {
            end = at;
        } else {
            break;
        }
    }
    end
}

/// The content of a new file of Go under the package clause of its directory, if it has none of its own.
pub(super) fn with_package_clause(files: &Files, name: &str, content: &str) -> Option<String> {
    if !go::LANGUAGE.takes(name) || content.trim().is_empty() || clause(content).is_some() {
        return None;
    }
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    let beside = files.below(directory).filter(|it| {
        let rest = it.path.strip_prefix(directory).unwrap_or_default().trim_start_matches('/');
        go::LANGUAGE.takes(&it.path) && !rest.contains('/') && !rest.ends_with("_test.go")
    });
    let package = beside.filter_map(|it| clause(&it.text).map(str::to_owned)).next().or_else(|| {
        let last = directory.rsplit('/').next().filter(|it| !it.is_empty())?;
        last.chars().all(|it| it.is_alphanumeric() || it == '_').then(|| last.to_owned())
    })?;
    Some(format!("package {package}\n\n{content}"))
}

/// The package that a file of Go says it belongs to: its first word of code.
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
    use super::*;

    fn files(texts: &[(&str, &str)]) -> Files {
        let mut files = Files::new(crate::lang::registry::languages());
        for (name, text) in texts {
            files.insert(Arc::new(files.file(name, *text)));
        }
        files
    }

    fn declared(parent: &str, name: &str, parent_name: &str) -> String {
        let files = files(&[(parent_name, parent)]);
        mod_line(&files, name).expect("it needs a line").edit().new.expect("it has a text").to_string()
    }

    #[test]
    fn a_mod_line_stands_beside_its_like() {
        let lib = "//! Docs.\n\nmod a;\nmod c;\n\nfn f() {}\n";
        assert_eq!(declared(lib, "src/b.rs", "src/lib.rs"), lib.replace("mod c;\n", "mod c;\nmod b;\n"));
        assert_eq!(
            declared("//! Docs.\n\nfn f() {}\n", "src/b.rs", "src/main.rs"),
            "//! Docs.\n\nmod b;\n\nfn f() {}\n"
        );
        assert_eq!(declared("use a::B;\nfn f() {}\n", "src/x/b.rs", "src/x.rs"), "use a::B;\n\nmod b;\nfn f() {}\n");
        assert_eq!(declared("", "src/x/mod.rs", "src/lib.rs"), "mod x;\n\n");
        let files = files(&[("src/lib.rs", "mod b;\n"), ("tests/it/main.rs", "")]);
        assert!(mod_line(&files, "src/b.rs").is_none() && mod_line(&files, "src/main.rs").is_none());
        assert!(mod_line(&files, "tests/other.rs").is_none() && mod_line(&files, "a/b.go").is_none());
    }

    #[test]
    fn a_package_clause_fits_the_directory() {
        let files =
            files(&[("auth/auth.go", "// Package x.\n/* y */ package login\n"), ("auth/sub/s.go", "package sub\n")]);
        let with = |name: &str, content: &str| with_package_clause(&files, name, content);
        assert_eq!(with("auth/new.go", "func F() {}\n").as_deref(), Some("package login\n\nfunc F() {}\n"));
        assert_eq!(with("other/new.go", "func F() {}\n").as_deref(), Some("package other\n\nfunc F() {}\n"));
        assert_eq!(with("auth/new.go", "package login\n"), None);
    }
}
