//! The feedback for the model: edits that match no place, what the edits break, and the errors of the compiler and the
//! tests, with the numbered lines of the files.

use std::collections::{BTreeMap, BTreeSet};

use super::prompt::{fenced, first_lines};
use super::visible_files::VisibleFiles;
use semdex_contract::VerifyKind;
use semdex_contract::budget::text_cost;
use semdex_ops::redaction::redact;
use semdex_text::visible::one_line;

/// How many entries of each list are shown.
const MOST_FINDINGS: usize = 30;
const MOST_MISSES: usize = 8;
/// How many lines around a place are shown if its file is too long.
const AROUND: usize = 15;
/// The largest size of a message and of the output of a failed test, in bytes.
const LONGEST_MESSAGE: usize = 1500;

/// The result of the previous reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Feedback {
    /// There was no previous reply.
    #[default]
    Nothing,
    /// The reply was cut off.
    Cut(String),
    /// The reply contains no complete edit.
    Malformed(String),
    /// Nothing was applied.
    Missed(Vec<Miss>),
    /// The edits are applied and break these places.
    Broken(Vec<Finding>),
    /// The edits, if any, are applied, and this verification failed.
    Failed { kind: VerifyKind, had_edits: bool, nameless: Vec<usize>, findings: Vec<Finding>, output: String },
}

/// An edit that matches no place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Miss {
    pub file: String,
    /// The line of the reply at which the edit begins, from 1.
    pub reply_line: usize,
    /// The searched text. None if the edit has none.
    pub search: Option<String>,
    pub why: String,
    /// The ranges of lines that may be meant: first and last line.
    pub places: Vec<(usize, usize)>,
}

/// An error at a place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Finding {
    pub file: Option<String>,
    pub line: Option<usize>,
    /// A label such as `error[E0308]`, or the name of a test.
    pub what: String,
    pub message: String,
    /// The output of a failed test.
    pub output: String,
}

/// The feedback as text of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub text: String,
    /// Files that it contains in full.
    pub shown_in_full: BTreeSet<String>,
}

impl Feedback {
    /// Renders at most `most` bytes.
    pub(crate) fn render(&self, visible: &VisibleFiles, most: usize) -> Rendered {
        let mut rendered = Rendered::default();
        let mut places: Places = BTreeMap::new();
        let head = match self {
            Feedback::Nothing => return rendered,
            Feedback::Cut(why) => format!(
                "# Your last reply did not end\n\n{why}. Nothing of it was applied: the files are as they are shown. Write \
                 smaller blocks, and fewer words between them.\n"
            ),
            Feedback::Malformed(why) => format!(
                "# Your last reply could not be read\n\n{why}. Nothing of it was applied: the files are as they are shown. \
                 Send all edits again.\n"
            ),
            Feedback::Missed(misses) => missed(misses, &mut places),
            Feedback::Broken(findings) => {
                note(findings, &mut places);
                format!(
                    "# What your last reply breaks\n\nIts edits are applied, and these places no longer compile. Fix \
                     them with further edits, of the files as they are now:\n\n{}",
                    listed(findings)
                )
            }
            Feedback::Failed { kind, had_edits, nameless, findings, output } => {
                note(findings, &mut places);
                failed(*kind, *had_edits, nameless, findings, output)
            }
        };
        rendered.text = first_lines(&redact(&head, true), most * 2 / 3);
        let mut left = most.saturating_sub(text_cost(&rendered.text));
        for (file, lines) in places {
            let Some(known) = visible.get(&file) else { continue };
            let text = visible.text(known);
            let count = text.lines().count();
            let language = known.language.map(|it| it.name).unwrap_or_default();
            let whole = section(&file, language, &text, &[(1, count)]);
            if text_cost(&whole) <= left {
                left -= text_cost(&whole);
                rendered.text.push_str(&whole);
                rendered.shown_in_full.insert(file);
                continue;
            }
            let part = section(&file, language, &text, &around(&lines, count));
            let part = if text_cost(&part) <= left { part } else { first_lines(&part, left.saturating_sub(8)) };
            // A fence is closed even if its content is cut.
            let part = if part.ends_with("```\n\n") || part.is_empty() { part } else { part + "```\n\n" };
            left = left.saturating_sub(text_cost(&part));
            rendered.text.push_str(&part);
        }
        rendered
    }
}

/// The mentioned lines by file.
type Places = BTreeMap<String, Vec<(usize, usize)>>;

fn note(findings: &[Finding], places: &mut Places) {
    for finding in findings {
        if let (Some(file), Some(line)) = (&finding.file, finding.line) {
            places.entry(file.clone()).or_default().push((line, line));
        }
    }
}

fn missed(misses: &[Miss], places: &mut Places) -> String {
    let mut text = String::from(
        "# Your last reply was not applied\n\nNothing of it was: the files are as they are shown here. Send all edits of \
         it again, with these put right:\n\n",
    );
    for miss in misses.iter().take(MOST_MISSES) {
        let Miss { file, reply_line, search, why, places: at } = miss;
        text.push_str(&format!(
            "- The edit of `{}` in line {reply_line} of your reply: {}\n",
            one_line(file),
            cut(why)
        ));
        if let Some(search) = search {
            text.push_str("  You searched for:\n\n");
            text.push_str(&fenced("", search));
            text.push('\n');
        }
        places.entry(file.clone()).or_default().extend(at);
    }
    if misses.len() > MOST_MISSES {
        text.push_str(&format!("- and {} more\n", misses.len() - MOST_MISSES));
    }
    text.push_str("\nWhat is there:\n\n");
    text
}

fn failed(kind: VerifyKind, had_edits: bool, nameless: &[usize], findings: &[Finding], output: &str) -> String {
    let applied = if had_edits {
        "The edits of your last reply are applied. Mend this with further edits, of the files as they are now"
    } else {
        "Your last reply had no edit"
    };
    let what = match kind {
        VerifyKind::Check => "The compiler does not accept it",
        VerifyKind::Lint => "The linter does not accept it",
        VerifyKind::Test => "Tests fail",
    };
    let mut text = format!("# {what}\n\n{applied}:\n\n");
    if !nameless.is_empty() {
        let lines: Vec<String> = nameless.iter().map(usize::to_string).collect();
        let lines = lines.join(", ");
        text.push_str(&format!(
            "- The fences in lines {lines} of your reply changed nothing: no path is on the line right above them.\n"
        ));
    }
    text.push_str(&listed(findings));
    // If no finding could be parsed, only the last lines of the output are available.
    if findings.is_empty() && !output.trim().is_empty() {
        let lines: Vec<&str> = output.lines().collect();
        let last = lines.get(lines.len().saturating_sub(60)..).unwrap_or_default().join("\n");
        text.push_str(&fenced("", &last));
    }
    text
}

fn listed(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(MOST_FINDINGS) {
        let place = match (finding.file.as_deref().map(one_line), finding.line) {
            (Some(file), Some(line)) => format!("`{file}:{line}`: "),
            (Some(file), None) => format!("`{file}`: "),
            _ => String::new(),
        };
        text.push_str(&format!("- {place}{}: {}\n", finding.what, cut(&finding.message)));
        let output = finding.output.trim();
        if !output.is_empty() && !finding.message.contains(output) {
            text.push_str(&fenced("", cut(output)));
        }
    }
    if findings.len() > MOST_FINDINGS {
        text.push_str(&format!("- and {} more\n", findings.len() - MOST_FINDINGS));
    }
    text.push('\n');
    text
}

/// The first `most` bytes, at a character boundary.
fn cut(text: &str) -> &str {
    let text = text.trim();
    let mut end = text.len().min(LONGEST_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Extends these ranges by the lines around them, and joins ranges that meet.
fn around(lines: &[(usize, usize)], count: usize) -> Vec<(usize, usize)> {
    let mut wide: Vec<(usize, usize)> = lines
        .iter()
        .map(|(first, last)| (first.saturating_sub(AROUND).max(1), (last + AROUND).min(count)))
        .filter(|(first, last)| first <= last)
        .collect();
    wide.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (first, last) in wide {
        match joined.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// Numbered lines of a file.
fn section(file: &str, language: &str, text: &str, stretches: &[(usize, usize)]) -> String {
    let width = stretches.last().map_or(1, |(_, last)| last.to_string().len());
    let mut numbered = String::new();
    let mut shown_to = 0;
    for (first, last) in stretches {
        if shown_to + 1 < *first {
            numbered.push_str(&format!("{:>width$}|\n", "…"));
        }
        for (at, line) in text.lines().enumerate().skip(first - 1).take(last + 1 - first) {
            numbered.push_str(format!("{:>width$}| {line}", at + 1).trim_end());
            numbered.push('\n');
        }
        shown_to = *last;
    }
    let total = text.lines().count();
    let part = if stretches == [(1, total)] { String::new() } else { format!(", of {total} lines") };
    let section = fenced(language, &numbered);
    format!("## `{}` (with the number of each line{part})\n\n{section}\n", one_line(file))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use semdex_engine::files::Files;
    use semdex_model::Languages;

    fn visible(files: &[(&str, &str)]) -> VisibleFiles {
        let mut all = Files::new(Languages::default());
        for (name, text) in files {
            all.insert(Arc::new(all.file(name, *text)));
        }
        VisibleFiles::new(Arc::new(all), Path::new("/nonexistent"))
    }

    fn finding(file: &str, line: usize) -> Finding {
        Finding {
            file: Some(file.into()),
            line: Some(line),
            what: "error[E0308]".into(),
            message: "mismatched".into(),
            ..Finding::default()
        }
    }

    #[test]
    fn a_file_with_errors_comes_with_numbers() {
        let visible = visible(&[("a.rs", "fn a() {\n\n    1\n}\n")]);
        let rendered = Feedback::Broken(vec![finding("a.rs", 3)]).render(&visible, 10_000);
        assert!(rendered.text.contains("- `a.rs:3`: error[E0308]: mismatched\n"), "{}", rendered.text);
        assert!(rendered.text.contains("```\n1| fn a() {\n2|\n3|     1\n4| }\n```\n"), "{}", rendered.text);
        assert!(rendered.shown_in_full.contains("a.rs"));
    }

    #[test]
    fn of_a_long_file_the_lines_around_are_shown() {
        let long: String = (1..=2000).map(|it| format!("line {it}\n")).collect();
        let visible = visible(&[("a.txt", &long)]);
        let rendered = Feedback::Broken(vec![finding("a.txt", 500), finding("a.txt", 1500)]).render(&visible, 6000);
        for wanted in [" 485| line 485\n", " 500| line 500\n", "1515| line 1515\n", "   …|\n"] {
            assert!(rendered.text.contains(wanted), "{wanted} in {}", rendered.text);
        }
        assert!(!rendered.text.contains("line 484\n") && rendered.shown_in_full.is_empty(), "{}", rendered.text);
        assert!(text_cost(&rendered.text) <= 6000);
    }

    #[test]
    fn a_miss_says_what_was_searched_and_what_stands_there() {
        let visible = visible(&[("a.rs", "fn a() {}\nfn b() {}\n")]);
        let miss = Miss {
            file: "a.rs".into(),
            reply_line: 7,
            search: Some("fn c() {}\n".into()),
            why: "the text is not in `a.rs`".into(),
            places: vec![(2, 2)],
        };
        let text = Feedback::Missed(vec![miss]).render(&visible, 10_000).text;
        for wanted in ["line 7 of your reply: the text is not in `a.rs`", "fn c() {}\n", "2| fn b() {}\n"] {
            assert!(text.contains(wanted), "{wanted} in {text}");
        }
    }

    #[test]
    fn no_feedback_is_longer_than_it_may_be() {
        let long: String = (1..=3000).map(|it| format!("line `{it}` \"x\"\n")).collect();
        let visible = visible(&[("a.txt", &long), ("b.txt", &long)]);
        let findings: Vec<Finding> =
            (1..200).map(|it| finding(if it % 2 == 0 { "a.txt" } else { "b.txt" }, it * 14)).collect();
        for most in [0, 100, 1000, 5000, 40_000] {
            let text = Feedback::Broken(findings.clone()).render(&visible, most).text;
            assert!(text_cost(&text) <= most + 20, "{} of {most}", text_cost(&text));
        }
    }
}
