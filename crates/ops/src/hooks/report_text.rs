//! The text for an agent after an edit: a heading with counts, and a line for each error and warning.

use std::fmt::Write;

use semdex_model::{Diagnostic, Severity};
use semdex_text::visible::one_line;
use semdex_workspace::statistics::Seen;

/// How much of the text of a hook an agent accepts.
const MOST_CHARACTERS: usize = 10_000;
/// A longer message contains an explanation by the compiler.
const MOST_OF_A_MESSAGE: usize = 400;
/// How many lines one file may have, and the other files together, so that the rest remains visible.
const MOST_LINES: usize = 40;
/// Space for the line with the number of hidden diagnostics.
const REST: usize = 60;

/// A text that grows up to a limit.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    characters: usize,
}

impl Text {
    /// Appends a line if it fits. Line breaks in it are replaced.
    fn line(&mut self, line: &str) -> bool {
        let line = &*one_line(line);
        let length = line.chars().count() + 1;
        if self.characters + length + REST > MOST_CHARACTERS {
            return false;
        }
        self.push(line, length);
        true
    }

    fn push(&mut self, line: &str, length: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.characters += length;
    }

    fn list(&mut self, lines: &[String]) {
        let shown = lines.iter().take(MOST_LINES).take_while(|it| self.line(it)).count();
        if shown < lines.len() {
            let rest = format!("  … and {} more", lines.len() - shown);
            if self.characters + rest.chars().count() < MOST_CHARACTERS {
                self.push(&rest, rest.chars().count() + 1);
            }
        }
    }

    /// Appends the present errors of a file.
    pub(super) fn of_file(&mut self, file: &str, seen: Seen, found: &[&Diagnostic]) {
        if !self.line(&format!("LSP: {} in {file}", counts(seen))) {
            return;
        }
        let lines: Vec<String> =
            found.iter().map(|it| format!("  - [{}] Line {}: {}", word(it), it.place.line, said(it))).collect();
        self.list(&lines);
    }

    /// Appends the errors that the edit caused in other files.
    pub(super) fn elsewhere(&mut self, found: &[Diagnostic]) {
        let mut files: Vec<&str> = found.iter().map(|it| it.place.file.as_str()).collect();
        files.dedup();
        let (places, of) = (plural(found.len(), "place"), plural(files.len(), "other file"));
        if self.line(&format!("This edit broke {places} in {of}:")) {
            let line =
                |it: &Diagnostic| format!("  - [{}] {}:{}: {}", word(it), it.place.file, it.place.line, said(it));
            self.list(&found.iter().map(line).collect::<Vec<_>>());
        }
    }

    /// Notes that there was no time to check other files.
    pub(super) fn elsewhere_unknown(&mut self) {
        self.line("What this edit broke in other files is not known yet.");
    }

    /// Appends the remaining errors by file, the files with the most errors first.
    pub(super) fn left(&mut self, head: &str, files: &[(String, Seen)]) {
        self.line(head);
        let lines: Vec<String> = files.iter().map(|(file, seen)| format!("  - {file}: {}", counts(*seen))).collect();
        self.list(&lines);
    }

    /// Notes why the report is incomplete or empty.
    pub(super) fn not_known(&mut self, why: &str) {
        self.line(&format!("Not all is known: {why}."));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// "2 error(s), 1 warning(s)".
pub(super) fn counts(seen: Seen) -> String {
    format!("{} error(s), {} warning(s)", seen.errors, seen.warnings)
}

fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn word(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info => "INFO",
        Severity::Hint => "HINT",
    }
}

/// The message in one line, with its source.
fn said(diagnostic: &Diagnostic) -> String {
    let mut said = String::new();
    let words = diagnostic.message.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST_OF_A_MESSAGE) {
        Some((end, _)) => said.extend([words.get(..end).unwrap_or_default(), "…"]),
        None => said.push_str(&words),
    }
    let _ = write!(said, " [{}]", diagnostic.source);
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_model::Place;

    fn at(file: &str, line: usize, severity: Severity, message: &str) -> Diagnostic {
        Diagnostic {
            place: Place { file: file.to_owned(), start: 0, end: 1, line, end_line: line, column: 1 },
            severity,
            code: None,
            message: message.to_owned(),
            source: "gopls".to_owned(),
            symbol: None,
            confirmed: None,
        }
    }

    #[test]
    fn the_text_is_that_of_the_specification() {
        let found = [
            at("src/main.go", 45, Severity::Error, "undeclared name 'foo'"),
            at("src/main.go", 67, Severity::Error, "cannot use 'x' (type int)\n\tas type string"),
            at("src/main.go", 12, Severity::Warning, "unused variable 'temp'"),
        ];
        let mut text = Text::default();
        text.of_file("src/main.go", Seen::of(found.iter()), &found.iter().collect::<Vec<_>>());
        text.elsewhere(&[at("b.go", 3, Severity::Error, "not enough arguments")]);
        assert_eq!(
            text.finish(),
            "LSP: 2 error(s), 1 warning(s) in src/main.go\n  - [ERROR] Line 45: undeclared name 'foo' [gopls]\n  - \
             [ERROR] Line 67: cannot use 'x' (type int) as type string [gopls]\n  - [WARNING] Line 12: unused variable \
             'temp' [gopls]\nThis edit broke 1 place in 1 other file:\n  - [ERROR] b.go:3: not enough arguments [gopls]"
        );
    }

    #[test]
    fn it_is_never_too_long() {
        let found: Vec<Diagnostic> = (0..500).map(|it| at("a.go", it, Severity::Error, &"é".repeat(900))).collect();
        let mut text = Text::default();
        for _ in 0..3 {
            text.of_file("a.go", Seen::of(found.iter()), &found.iter().collect::<Vec<_>>());
            text.elsewhere(&found);
        }
        let text = text.finish();
        assert!((9_000..=MOST_CHARACTERS).contains(&text.chars().count()), "{}", text.chars().count());
        assert!(text.starts_with("LSP: 500 error(s), 0 warning(s) in a.go\n") && text.contains("  … and "), "{text}");
    }
}
