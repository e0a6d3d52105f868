//! The text for an agent after an edit: a heading with counts, and a line for each error and warning.

use std::fmt::Write;

use semdex_model::{Diagnostic, Severity};
use semdex_text::visible::one_line;
use semdex_workspace::statistics::Seen;

/// How much of the text of a hook an agent accepts.
const MOST_CHARACTERS: usize = 10_000;
/// A longer message contains an explanation by the compiler.
const MOST_OF_A_MESSAGE: usize = 400;
/// How many lines one file may have, and all other files together, so that the rest remains visible.
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
        let lines: Vec<String> = alike(found.iter().copied())
            .into_iter()
            .map(|(said, group)| {
                let lines = if group.len() == 1 { "Line" } else { "Lines" };
                format!("  - [{}] {lines} {}: {said}", group.first().map_or("", |it| word(it)), numbers(&group))
            })
            .collect();
        self.list(&lines);
    }

    /// Appends the errors that the edit caused in other files.
    pub(super) fn elsewhere(&mut self, edit: &str, found: &[Diagnostic]) {
        let mut files: Vec<&str> = found.iter().map(|it| it.place.file.as_str()).collect();
        files.dedup();
        let (places, of) = (plural(found.len(), "place"), plural(files.len(), "other file"));
        if self.line(&format!("{edit} broke {places} in {of}:")) {
            let mut lines = Vec::new();
            for (said, group) in alike(found.iter()) {
                let Some(first) = group.first() else { continue };
                if group.len() == 1 {
                    lines.push(format!("  - [{}] {}:{}: {said}", word(first), first.place.file, first.place.line));
                    continue;
                }
                lines.push(format!("  - [{}] {}: {said}", word(first), plural(group.len(), "place")));
                let of_file = |group: &[&Diagnostic]| {
                    group.first().map(|it| format!("    - {}:{}", it.place.file, numbers(group)))
                };
                lines.extend(group.chunk_by(|a, b| a.place.file == b.place.file).filter_map(of_file));
            }
            self.list(&lines);
        }
    }

    /// Notes that the errors of files are not known yet, and why.
    pub(super) fn not_known_yet(&mut self, files: &[String], why: &str) {
        let why = why.split(": ask again").next().unwrap_or_default();
        self.line(&format!("LSP: not known yet for {}: {why}. The next hook reports it.", files.join(", ")));
    }

    /// Notes that there was no time for an answer.
    pub(super) fn put_off(&mut self, files: &[String], will_follow: bool) {
        let next = if will_follow { "the next hook reports it" } else { "`diagnostics` reports it" };
        self.line(&format!("LSP: what the edit of {} broke is not known yet: {next}.", files.join(", ")));
    }

    /// Notes that nothing includes a file, so that nothing is known of its errors.
    pub(super) fn not_included(&mut self, file: Option<&str>, detail: &str) {
        let file = file.map(|it| format!("{it}: ")).unwrap_or_default();
        self.line(&format!("LSP: {file}{detail}"));
    }

    /// Notes that there was no time to check other files.
    pub(super) fn elsewhere_unknown(&mut self, files: &[String], will_follow: bool) {
        let next = if will_follow { ": the next hook reports it" } else { "" };
        self.line(&format!("What the edit of {} broke in other files is not known yet{next}.", files.join(", ")));
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

/// Groups of diagnostics with the same severity and message, in the order in which they first appear.
fn alike<'d>(found: impl Iterator<Item = &'d Diagnostic>) -> Vec<(String, Vec<&'d Diagnostic>)> {
    let mut groups: Vec<(String, Vec<&Diagnostic>)> = Vec::new();
    for it in found {
        let said = said(it);
        let same = |(text, group): &&mut (String, Vec<&Diagnostic>)| {
            *text == said && group.first().is_some_and(|first| first.severity == it.severity)
        };
        match groups.iter_mut().find(same) {
            Some((_, group)) => group.push(it),
            None => groups.push((said, vec![it])),
        }
    }
    groups
}

fn numbers(group: &[&Diagnostic]) -> String {
    let mut numbers: Vec<usize> = group.iter().map(|it| it.place.line).collect();
    numbers.dedup();
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
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
    let build = diagnostic.build.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
    let _ = write!(said, " [{}{build}]", diagnostic.source);
    said
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

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
            build: None,
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
        text.elsewhere("This edit", &[at("b.go", 3, Severity::Error, "not enough arguments")]);
        expect![["
            LSP: 2 error(s), 1 warning(s) in src/main.go
              - [ERROR] Line 45: undeclared name 'foo' [gopls]
              - [ERROR] Line 67: cannot use 'x' (type int) as type string [gopls]
              - [WARNING] Line 12: unused variable 'temp' [gopls]
            This edit broke 1 place in 1 other file:
              - [ERROR] b.go:3: not enough arguments [gopls]
        "]]
        .assert_eq(&(text.finish() + "\n"));
    }

    #[test]
    fn equal_errors_share_a_line() {
        let all: Vec<Diagnostic> = [("b.go", 3), ("b.go", 9), ("c.go", 1), ("d.go", 2)]
            .map(|(file, line)| at(file, line, Severity::Error, if file == "d.go" { "other" } else { "same" }))
            .into();
        let mut text = Text::default();
        text.of_file("b.go", Seen::of(all[..2].iter()), &all[..2].iter().collect::<Vec<_>>());
        text.elsewhere("This edit", &all);
        expect![["
            LSP: 2 error(s), 0 warning(s) in b.go
              - [ERROR] Lines 3,9: same [gopls]
            This edit broke 4 places in 3 other files:
              - [ERROR] 3 places: same [gopls]
                - b.go:3,9
                - c.go:1
              - [ERROR] d.go:2: other [gopls]
        "]]
        .assert_eq(&(text.finish() + "\n"));
    }

    #[test]
    fn it_is_never_too_long() {
        let long = |it: usize| at("a.go", it, Severity::Error, &format!("{it} {}", "é".repeat(900)));
        let found: Vec<Diagnostic> = (0..500).map(long).collect();
        let mut text = Text::default();
        for _ in 0..3 {
            text.of_file("a.go", Seen::of(found.iter()), &found.iter().collect::<Vec<_>>());
            text.elsewhere("This edit", &found);
        }
        let text = text.finish();
        assert!((9_000..=MOST_CHARACTERS).contains(&text.chars().count()), "{}", text.chars().count());
        assert!(text.starts_with("LSP: 500 error(s), 0 warning(s) in a.go\n") && text.contains("  … and "), "{text}");
    }
}
