//! What tools print for people, in the forms that most have in common: `file:line:column: message`.

use semdex_model::Severity;

/// A line of output that speaks of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding<'a> {
    /// As it is written.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: usize,
    /// 1 where the tool does not say.
    pub column: usize,
    /// `None` where the tool does not say.
    pub severity: Option<Severity>,
    /// The code of the diagnostic, if there is one.
    pub code: Option<&'a str>,
    /// The message.
    pub message: &'a str,
}

/// What a line says of a place, if it does.
pub fn finding(line: &str) -> Option<Finding<'_>> {
    let line = line.trim();
    let (file, line, column, rest) = with_colons(line).or_else(|| in_parentheses(line))?;
    let (severity, rest) = severity(rest);
    let (code, message) = code(rest);
    (!message.is_empty()).then_some(Finding { file, line, column, severity, code, message })
}

/// `a.c:3:5: message`, `a.py:3: message`, `a.py:3:5 - message`.
fn with_colons(text: &str) -> Option<(&str, usize, usize, &str)> {
    for (at, _) in text.match_indices(':') {
        let (file, rest) = (text.get(..at)?, text.get(at + 1..)?);
        if !is_file(file) {
            return None;
        }
        let Some((line, rest)) = number(rest) else { continue };
        let (column, rest) = match rest.strip_prefix(':').and_then(number) {
            Some((column, rest)) => (column, rest),
            None => (1, rest),
        };
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix(" - "))?;
        return Some((file, line, column, rest.trim_start()));
    }
    None
}

/// `a.ts(3,5): message`.
fn in_parentheses(text: &str) -> Option<(&str, usize, usize, &str)> {
    let (file, rest) = text.split_once('(')?;
    let (line, rest) = number(rest)?;
    let (column, rest) = rest.strip_prefix(',').and_then(number).unwrap_or((1, rest));
    let message = rest.strip_prefix("):")?.trim_start();
    is_file(file).then_some((file, line, column, message))
}

fn is_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.contains('.') && !text.contains(['"', '\t', '\'', '`', '=', '<']) && !text.starts_with(' ')
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok().filter(|it| *it > 0)?, rest))
}

fn severity(text: &str) -> (Option<Severity>, &str) {
    const WORDS: [(&str, Severity); 8] = [
        ("fatal error", Severity::Error),
        ("error", Severity::Error),
        ("Error", Severity::Error),
        ("warning", Severity::Warning),
        ("Warning", Severity::Warning),
        ("note", Severity::Info),
        ("information", Severity::Info),
        ("info", Severity::Info),
    ];
    for (word, severity) in WORDS {
        if let Some(rest) = text.strip_prefix(word)
            && rest.starts_with([':', ' '])
        {
            return (Some(severity), rest.trim_start_matches(':').trim_start());
        }
    }
    (None, text)
}

/// `TS2322: message`, `F401 message`, `message [code]`, `message (reportCode)`.
fn code(text: &str) -> (Option<&str>, &str) {
    if let Some((first, rest)) = text.split_once([' ', ':']) {
        let letters = first.trim_end_matches(|it: char| it.is_ascii_digit());
        let is_code =
            !letters.is_empty() && letters.len() < first.len() && letters.chars().all(|it| it.is_ascii_uppercase());
        if is_code {
            return (Some(first), rest.trim_start());
        }
    }
    for (open, close) in [(" [", ']'), (" (", ')')] {
        if let Some((message, code)) = text.strip_suffix(close).and_then(|it| it.rsplit_once(open))
            && !code.is_empty()
            && code.chars().all(|it| it.is_alphanumeric() || "-_.".contains(it))
            && (open == " [" || code.starts_with("report"))
        {
            return (Some(code), message.trim_end());
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, file: &str, at: (usize, usize), code: Option<&str>, message: &str) {
        let found = finding(line).unwrap_or_else(|| panic!("nothing in {line:?}"));
        assert_eq!((found.file, (found.line, found.column), found.code, found.message), (file, at, code, message));
    }

    #[test]
    fn the_usual_forms_are_read() {
        check("a/a.go:5:23: undefined: x", "a/a.go", (5, 23), None, "undefined: x");
        check("x.py:3: error: bad  [arg-type]", "x.py", (3, 1), Some("arg-type"), "bad");
        check("  /r/x.py:3:5 - error: bad (reportX)", "/r/x.py", (3, 5), Some("reportX"), "bad");
        check("x.py:1:8: F401 [*] `os` unused", "x.py", (1, 8), Some("F401"), "[*] `os` unused");
        check("s/a.ts(3,5): error TS2322: no", "s/a.ts", (3, 5), Some("TS2322"), "no");
        check("a.c:1:2: fatal error: 'x.h' file not found", "a.c", (1, 2), None, "'x.h' file not found");
        assert_eq!(finding("a.c:1:2: warning: w").unwrap().severity, Some(Severity::Warning));
        for nothing in ["", "ok", "12:30: x", "FAIL\tp 0.1s", "see http://a.b/c", "a.go: 5", "x = \"a.b:1:2: c\""] {
            assert_eq!(finding(nothing), None, "{nothing}");
        }
    }
}
