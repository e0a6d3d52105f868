//! The difference of two lists of diagnostics. Two diagnostics are equal if severity, file, message and text of the
//! line are equal; the line number does not matter. Of equal diagnostics, the number counts.

use std::collections::{HashMap, HashSet};

use super::diagnostics::OnLine;
use semdex_model::{Diagnostic, Severity};
use semdex_workspace::journal::Kept;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) new: Vec<OnLine>,
    pub(super) fixed: Vec<Diagnostic>,
}

/// The key by which diagnostics are equal.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    severity: Severity,
    file: &'a str,
    message: &'a str,
    text: &'a str,
}

impl<'a> Key<'a> {
    /// The indentation of the line is ignored.
    fn new(diagnostic: &'a Diagnostic, text: &'a str) -> Key<'a> {
        let (severity, file) = (diagnostic.severity, diagnostic.place.file.as_str());
        Key { severity, file, message: diagnostic.message.trim(), text: text.trim() }
    }
}

/// Compares errors and warnings only. Both results are in the order of the lists.
pub(super) fn compare(before: &[&Kept], now: Vec<OnLine>) -> Delta {
    let mut known: HashMap<Key<'_>, Vec<(usize, &Diagnostic)>> = HashMap::with_capacity(before.len());
    for (at, Kept { diagnostic, text }) in before.iter().enumerate().filter(|it| is_kept(&it.1.diagnostic)) {
        known.entry(Key::new(diagnostic, text)).or_default().push((at, diagnostic));
    }
    // Unmoved diagnostics are matched first, so that among equal ones the diagnostic at a new place is reported as new.
    let mut same = vec![false; now.len()];
    for exact in [true, false] {
        for (is_same, it) in same.iter_mut().zip(&now).filter(|(is_same, _)| !**is_same) {
            let Some(left) = known.get_mut(&Key::new(&it.diagnostic, &it.text)) else { continue };
            let at = if exact {
                left.iter().position(|old| old.1.place.line == it.diagnostic.place.line)
            } else {
                left.len().checked_sub(1)
            };
            if let Some(at) = at {
                left.remove(at);
                *is_same = true;
            }
        }
    }
    let gone: HashSet<usize> = known.into_values().flatten().map(|it| it.0).collect();
    let fixed = before.iter().enumerate().filter(|it| gone.contains(&it.0)).map(|it| it.1.diagnostic.clone());
    let new = now.into_iter().zip(same).filter(|(it, is_same)| !is_same && is_kept(&it.diagnostic)).map(|it| it.0);
    Delta { fixed: fixed.collect(), new: new.collect() }
}

/// Infos and hints change with every version of a tool, so they are not compared.
pub(super) fn is_kept(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity <= Severity::Warning
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use super::*;
    use semdex_config::JournalBounds;
    use semdex_model::Place;
    use semdex_workspace::journal::{Baseline, Journal};

    fn at(file: &str, line: usize, message: &str, text: &str) -> OnLine {
        let place = Place { file: file.to_owned(), start: line, end: line + 1, line, end_line: line, column: 1 };
        let severity = if message.starts_with("warning") { Severity::Warning } else { Severity::Error };
        let diagnostic = Diagnostic {
            place,
            severity,
            code: None,
            message: message.to_owned(),
            source: "a".to_owned(),
            symbol: None,
            confirmed: None,
            build: None,
        };
        OnLine { diagnostic, text: text.to_owned() }
    }

    fn kept(found: Vec<OnLine>) -> Vec<Kept> {
        found.into_iter().map(|it| Kept { diagnostic: it.diagnostic, text: it.text }).collect()
    }

    /// `new` and `fixed` are line numbers.
    fn check(before: Vec<OnLine>, now: Vec<OnLine>, new: &[usize], fixed: &[usize]) {
        let before = kept(before);
        let delta = compare(&before.iter().collect::<Vec<_>>(), now);
        assert_eq!(delta.new.iter().map(|it| it.diagnostic.place.line).collect::<Vec<_>>(), new);
        assert_eq!(delta.fixed.iter().map(|it| it.place.line).collect::<Vec<_>>(), fixed);
    }

    #[test]
    fn what_moved_is_the_same() {
        let x = |line| at("f", line, "no x", "let a = x;");
        check(vec![x(1)], vec![x(9)], &[], &[]);
        check(vec![x(1)], vec![at("f", 4, "no x", "    let a = x;")], &[], &[]);
        // Equal diagnostics are counted; the new one is at a place without one before.
        check(vec![x(5)], vec![x(1), x(5), x(9)], &[1, 9], &[]);
        check(vec![x(1), x(5), x(9)], vec![x(5)], &[], &[1, 9]);
        check(vec![x(1), x(2)], vec![x(3), x(4)], &[], &[]);
    }

    #[test]
    fn another_file_message_line_or_severity_is_another() {
        let x = || at("f", 1, "no x", "let a = x;");
        for other in [
            at("g", 1, "no x", "let a = x;"),
            at("f", 1, "no y", "let a = x;"),
            at("f", 1, "no x", "let b = x;"),
            at("f", 1, "warning", "let a = x;"),
        ] {
            check(vec![x()], vec![other], &[1], &[1]);
        }
        let mut hint = x();
        hint.diagnostic.severity = Severity::Hint;
        check(vec![], vec![hint], &[], &[]);
    }

    /// `cargo test -p semdex-ops ten_thousand_diagnostics -- --nocapture` prints the times.
    #[tokio::test]
    async fn ten_thousand_diagnostics_are_kept_and_compared_at_once() {
        let found = |moved: usize| -> Vec<OnLine> {
            (0..10_000)
                .map(|it| {
                    let (file, text) =
                        (format!("src/module_{}.rs", it % 400), format!("    let value_{it} = call({it});"));
                    let message = format!("cannot find function `call` in this scope: {}", it % 50);
                    at(&file, it / 400 + moved, &message, &text)
                })
                .collect()
        };
        let mut files: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
        for it in kept(found(1)) {
            files.entry(it.diagnostic.place.file.clone()).or_default().push(it);
        }
        let baseline = Baseline {
            id: "01".to_owned(),
            workspace: "/w".to_owned(),
            made_at: 0,
            revision: 1,
            is_whole: true,
            lacking: Vec::new(),
            files,
        };
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::new(home.path(), JournalBounds { keep: Duration::from_secs(1), max_bytes: 1 });
        // The first call creates the database.
        journal.keep_baseline(Baseline { files: BTreeMap::new(), ..baseline.clone() }).await.unwrap();
        let begun = Instant::now();
        journal.keep_baseline(baseline.clone()).await.unwrap();
        let saved = begun.elapsed();
        let begun = Instant::now();
        let loaded = journal.baseline("/w".to_owned()).await.unwrap().unwrap();
        let loading = begun.elapsed();
        assert_eq!(loaded, baseline);
        let before: Vec<&Kept> = loaded.files.values().flatten().collect();
        let now = found(2);
        let begun = Instant::now();
        let delta = compare(&before, now);
        let compared = begun.elapsed();
        assert_eq!(delta, Delta::default());
        println!("10,000 diagnostics: saved in {saved:?}, loaded in {loading:?}, compared in {compared:?}");
    }
}
