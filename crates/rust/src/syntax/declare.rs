//! Makes a new Rust file a part of its crate: the `mod` line in another file.

use semdex_engine::Mention;
use semdex_engine::files::{File, Files};
use semdex_model::{FileEdit, OutlineItem, SymbolKind};
use semdex_text::endings;

/// The `mod` line that a new file needs, and the file in which it is missing.
pub(crate) fn mod_line(files: &Files, name: &str) -> Option<Mention> {
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
    let (around, module) = match file.strip_suffix(".rs")? {
        // Roots of crates of their own.
        "lib" | "main" | "build" => return None,
        "mod" => directory.rsplit_once('/').unwrap_or(("", directory)),
        stem => (directory, stem),
    };
    let parents =
        [format!("{around}/lib.rs"), format!("{around}/main.rs"), format!("{around}/mod.rs"), format!("{around}.rs")];
    let parent = parents.iter().find_map(|it| files.get(it))?;
    let declares = |item: &OutlineItem| item.kind == SymbolKind::Module && item.name == module;
    if parent.outline().items.iter().any(declares) {
        return None;
    }
    let line = format!("mod {module};");
    Some(Mention { edit: with_line(parent, &line), line, whole: "crate" })
}

/// Next to similar lines, else after the imports, else after the attributes and docs of the file.
fn with_line(parent: &File, line: &str) -> FileEdit {
    let text = &*parent.text;
    let outline = parent.outline();
    let lines = parent.lines();
    let others = outline.items.iter().filter(|it| it.kind == SymbolKind::Module && it.body.is_none());
    let after_line = |end: usize| lines.line_span(lines.line(end.saturating_sub(1))).map_or(text.len(), |it| it.end);
    let (at, is_behind_imports, is_first) = match others.map(|it| it.span.end).max() {
        Some(end) => (after_line(end), false, false),
        None => match outline.imports.iter().map(|it| it.span.end).max() {
            Some(end) => (after_line(end), true, false),
            None => (head(text), false, true),
        },
    };
    let newline = endings::at(text, at.saturating_sub(1));
    let (before, after) = (if is_behind_imports { newline } else { "" }, if is_first { newline } else { "" });
    let is_within_line = !text[..at].trim_start_matches('\u{feff}').is_empty() && !text[..at].ends_with('\n');
    let joined = if is_within_line { newline } else { "" };
    let new = [&text[..at], joined, before, line, newline, after, &text[at..]].concat();
    FileEdit { file: parent.path.to_string(), old: Some(parent.text.clone()), new: Some(new.into()) }
}

/// The first possible position of an item: after the docs and the attributes of the file.
fn head(text: &str) -> usize {
    let mut end = text.len() - text.trim_start_matches('\u{feff}').len();
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

    fn declared(parent: &str, name: &str, parent_name: &str) -> String {
        let files = files(&[(parent_name, parent)]);
        mod_line(&files, name).expect("it needs a line").edit.new.expect("it has a text").to_string()
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
        // With the line ends of the lines around it, and after a byte order mark.
        assert_eq!(declared("mod a;\r\n\nfn f() {}\n", "src/b.rs", "src/lib.rs"), "mod a;\r\nmod b;\r\n\nfn f() {}\n");
        assert_eq!(declared("mod a;\n\nfn f() {}\r\n", "src/b.rs", "src/lib.rs"), "mod a;\nmod b;\n\nfn f() {}\r\n");
        assert_eq!(
            declared("use a::B;\r\nfn f() {}\n", "src/b.rs", "src/lib.rs"),
            "use a::B;\r\n\r\nmod b;\r\nfn f() {}\n"
        );
        assert_eq!(declared("\u{feff}fn f() {}\r\n", "src/b.rs", "src/lib.rs"), "\u{feff}mod b;\r\n\r\nfn f() {}\r\n");
        let files = files(&[("src/lib.rs", "mod b;\n"), ("tests/it/main.rs", "")]);
        assert!(mod_line(&files, "src/b.rs").is_none() && mod_line(&files, "src/main.rs").is_none());
        assert!(mod_line(&files, "tests/other.rs").is_none() && mod_line(&files, "a/b.go").is_none());
    }
}
