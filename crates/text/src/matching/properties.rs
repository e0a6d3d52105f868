//! Properties that hold for every text, search and replacement, checked on generated ones.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, prop_assume, proptest};
use proptest::sample::{Index, select};
use proptest::strategy::Strategy as Generator;
use proptest::test_runner::TestCaseError;

use super::*;

/// Lines of code and prose, near-duplicates included.
fn line() -> impl Generator<Value = String> {
    let word =
        select(vec!["let", "fn", "value", "values", "read_line", "x", "größe", "𝒳", "12", "0x1f", "\"a b\"", "// why"]);
    let sign =
        select(vec![" ", "  ", "(", ")", "{", "}", " = ", ", ", ";", "::", ".", " => ", "`", "'", "/*", "*/", "\\"]);
    let indent = select(vec!["", "    ", "\t", "\t\t", "  ", "        ", "   "]);
    (indent, vec((word, sign), 0..6)).prop_map(|(indent, parts)| {
        let words: String = parts.into_iter().map(|(word, sign)| format!("{word}{sign}")).collect();
        format!("{indent}{words}")
    })
}

/// A file, with any line ends, byte order mark and last line.
fn file() -> impl Generator<Value = String> {
    (vec(line(), 1..24), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(lines, windows, bom, ends)| {
        let newline = if windows { "\r\n" } else { "\n" };
        let end = if ends { newline } else { "" };
        format!("{}{}{end}", if bom { "\u{feff}" } else { "" }, lines.join(newline))
    })
}

/// Some lines of a file, and a search text that recalls them with errors.
fn recalled(text: &str, from: Index, count: usize, changes: &[(Index, char)], windows: bool) -> String {
    let lines: Vec<&str> = without_bom(text).lines().collect();
    let from = from.index(lines.len() + 1);
    let lines = lines[from..(from + count).min(lines.len())].join("\n");
    let mut characters: Vec<char> = lines.chars().collect();
    for (at, character) in changes.iter().filter(|_| !lines.is_empty()) {
        let at = at.index(characters.len());
        characters[at] = *character;
    }
    let recalled: String = characters.into_iter().collect();
    if windows { recalled.replace('\n', "\r\n") } else { recalled }
}

fn lines_of(count: usize) -> impl Generator<Value = String> {
    vec(line(), 0..count).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// For every request: exactly the reported range is replaced, and the score is the contract's.
    #[test]
    fn exactly_the_reported_range_is_replaced(
        text in file(), from in any::<Index>(), count in 1usize..6, windows in any::<bool>(),
        changes in vec((any::<Index>(), select(vec!['q', ' ', '\n', '(', '}', '"', 'ß', '0'])), 0..4),
        replacement in lines_of(6), autofix in 0u8..=100, near_line in proptest::option::of(1usize..24),
        whole_lines in any::<bool>(),
    ) {
        let context = recalled(&text, from, count, &changes, windows);
        let search = Search {
            text: &text, context: &context, replacement: &replacement, autofix, near_line, within: None, whole_lines,
        };
        let Ok(outcome) = find(&search) else { return Ok(()) };
        let hits = match &outcome {
            Outcome::Found(hit) => vec![*hit],
            Outcome::Ambiguous(hits) => {
                prop_assert!(hits.len() > 1, "{:?}", hits);
                hits.clone()
            }
            Outcome::NotFound { nearest, .. } => nearest.iter().copied().collect(),
        };
        for hit in hits {
            let place = &text[hit.span.start..hit.span.end];
            prop_assert!((0.0..=100.0).contains(&hit.score));
            let score = crate::score::score(&context, place);
            prop_assert!((score - hit.score).abs() < 1e-9, "{:?} {}", hit, score);
        }
        let Outcome::Found(hit) = outcome else { return Ok(()) };
        let fuzzy = hit.strategy == Strategy::Fuzzy;
        prop_assert!(!fuzzy || (autofix > 0 && hit.score >= f64::from(autofix)));
        let Ok(Replaced { text: new, span, range }) = apply(&text, &hit, &context, &replacement) else { return Ok(()) };
        prop_assert_eq!(&new[..span.start], &text[..range.start]);
        prop_assert_eq!(&new[span.end..], &text[range.end..]);
        let blank = |from: usize, to: usize| text[from..to].trim().is_empty();
        let (from, to) = (range.start.min(hit.span.start), range.end.max(hit.span.end));
        prop_assert!(blank(from, hit.span.start) && blank(hit.span.end, to), "words go with the place");
    }

    /// Every edit keeps a file's line ends, byte order mark and final newline.
    #[test]
    fn a_file_stays_in_its_form(
        text in file(), from in any::<Index>(), count in 1usize..5,
        changes in vec((any::<Index>(), select(vec!['q', ' ', '0'])), 0..3), replacement in lines_of(5),
    ) {
        let context = recalled(&text, from, count, &changes, false);
        let search = Search { autofix: 80, ..plain(&text, &context, &replacement) };
        let Ok(Outcome::Found(hit)) = find(&search) else { return Ok(()) };
        let Ok(Replaced { text: new, .. }) = apply(&text, &hit, &context, &replacement) else { return Ok(()) };
        prop_assert_eq!(new.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        prop_assert_eq!(new.matches('\u{feff}').count(), text.matches('\u{feff}').count());
        if text.contains("\r\n") {
            prop_assert_eq!(new.matches('\n').count(), new.matches("\r\n").count(), "{:?}", new);
        } else {
            prop_assert!(!new.contains('\r'));
        }
        if text.ends_with('\n') && !without_bom(&new).is_empty() {
            prop_assert!(new.ends_with('\n'), "{:?}", new);
        }
    }

    /// Whole lines that occur once are found exactly, and the replacement is written as it was sent.
    #[test]
    fn what_stands_there_once_is_found_there(
        text in file(), from in any::<Index>(), count in 1usize..6, replacement in lines_of(6),
    ) {
        let lines: Vec<&str> = without_bom(&text).split_inclusive('\n').collect();
        let from = from.index(lines.len() + 1);
        let context = lines[from..(from + count).min(lines.len())].concat();
        let start = text.len() - without_bom(&text).len() + lines[..from].concat().len();
        prop_assume!(!context.trim().is_empty() && context.ends_with('\n'));
        prop_assume!(exact::find(&text, &context).len() == 1);
        let replacement = replacement + "\n";
        let search = plain(&text, &context, &replacement);
        match find(&search) {
            Ok(Outcome::Found(hit)) => {
                prop_assert_eq!(hit.span, Span::new(start, start + context.len()));
                prop_assert_eq!(hit.strategy, Strategy::Exact);
                let sent = if text[start..].contains("\r\n") { replacement.replace('\n', "\r\n") } else { replacement.clone() };
                if !sent.trim().is_empty() && !context.starts_with(['\r', '\n']) && !sent.starts_with(['\r', '\n']) {
                    prop_assert_eq!(apply(&text, &hit, &context, &replacement).unwrap().text, [&text[..start], &sent, &text[hit.span.end..]].concat());
                }
            }
            Err(error) => prop_assert!(error.detail.contains("elision"), "{}", error.detail),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

/// Lines of a few words, so that many are similar, with composed and wide characters.
fn alike() -> impl Generator<Value = String> {
    let words = vec!["load", "store", "key", "value", "e\u{301}t\u{e9}", "語", "👩\u{200d}💻", "f(a)", "{", "}"];
    vec(select(words), 1..5).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// However many places are similar: no other range of whole lines has a better score than the chosen one.
    #[test]
    fn no_other_place_is_better(
        lines in vec(alike(), 2..24), from in any::<Index>(), count in 1usize..5, windows in any::<bool>(),
        slips in vec((any::<Index>(), select(vec!['x', 'y', ';'])), 1..4), autofix in 50u8..=97,
    ) {
        let newline = if windows { "\r\n" } else { "\n" };
        let text = lines.join(newline);
        let context = recalled(&text, from, count, &slips, false);
        prop_assume!(!context.trim().is_empty());
        let Ok(Outcome::Found(hit)) = find(&Search { autofix, ..plain(&text, &context, "new") }) else { return Ok(()) };
        let starts: Vec<usize> = (0..lines.len()).map(|at| lines[..at].iter().map(|it| it.len() + newline.len()).sum()).collect();
        prop_assume!(hit.strategy == Strategy::Fuzzy);
        // An extent may be some edits worse than the nearest one, to get the brackets right.
        let leeway = 450.0 / context.chars().count().max(1) as f64;
        for first in 0..lines.len() {
            for last in first..lines.len().min(first + count + 1) {
                let span = Span::new(starts[first], starts[last] + lines[last].len());
                if !span.overlaps(hit.span) {
                    let score = crate::score::score(&context, &text[span.start..span.end]);
                    prop_assert!(score <= hit.score + leeway, "{:?} at {:?} {}", hit, span, score);
                }
            }
        }
    }

    /// A search text that is the whole file, longer than it, blank, or of composed characters.
    #[test]
    fn the_ends_of_what_can_be_asked(text in file(), more in lines_of(3), blank in select(vec!["", " ", "\n\t", "\u{feff}\n"]), replacement in lines_of(4)) {
        prop_assert!(find(&plain(&text, blank, "x")).is_err());
        let in_nothing = find(&plain("", "some words\n", "x"));
        let is_missed = matches!(in_nothing, Ok(Outcome::NotFound { .. }));
        prop_assert!(is_missed);
        let own = without_bom(&text);
        prop_assume!(!own.trim().is_empty());
        if let Ok(outcome) = find(&plain(&text, &text, &replacement)) {
            let Outcome::Found(hit) = outcome else { return Err(TestCaseError::fail(format!("{outcome:?}"))) };
            prop_assert_eq!(&text[hit.span.start..hit.span.end], own);
        }
        let longer = format!("{text}\n{more}\nand words that the file does not have at all");
        if let Ok(Outcome::Found(hit)) = find(&plain(&text, &longer, &replacement)) {
            prop_assert!(hit.score >= 95.0 && hit.strategy == Strategy::Fuzzy);
        }
    }

    /// A place never begins or ends within a code point, and all bytes outside the place stay unchanged.
    #[test]
    fn composed_characters_stay_whole(lines in vec(alike(), 1..12), from in any::<Index>(), count in 1usize..4,
        slips in vec((any::<Index>(), select(vec!['x', 'ë', '\u{301}'])), 0..3), replacement in alike()) {
        let text = lines.join("\n") + "\n";
        let context = recalled(&text, from, count, &slips, false);
        let Ok(Outcome::Found(hit)) = find(&Search { autofix: 60, ..plain(&text, &context, &replacement) }) else { return Ok(()) };
        let Ok(Replaced { text: new, span, range }) = apply(&text, &hit, &context, &replacement) else { return Ok(()) };
        prop_assert_eq!(&new[..span.start], &text[..range.start]);
        prop_assert_eq!(&new[span.end..], &text[range.end..]);
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert!(squeezed(&new).contains(&squeezed(&replacement)));
    }
}

fn plain<'a>(text: &'a str, context: &'a str, replacement: &'a str) -> Search<'a> {
    Search { text, context, replacement, autofix: 95, near_line: None, within: None, whole_lines: false }
}

/// The processor time of this thread, which a busy machine does not lengthen.
fn running() -> Duration {
    let on_the_processor = || {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
    };
    static START: OnceLock<Instant> = OnceLock::new();
    on_the_processor().unwrap_or_else(|| START.get_or_init(Instant::now).elapsed())
}

/// The time of the quickest of a few rounds.
fn quickest(text: &str, context: &str) -> Duration {
    let round = || {
        let started = running();
        let found = find(&Search { autofix: 60, ..plain(text, context, "x") });
        drop(found);
        running() - started
    };
    (0..3).map(|_| round()).min().unwrap_or_default()
}

/// A text that is sixteen times as long takes about sixteen times as long, not two hundred and fifty-six times.
#[test]
fn no_input_makes_it_quadratic() {
    let repeated: [(&str, &str); 12] = [
        ("    foo(bar, baz);\n", "    foo(bar, bat);\n    foo(bar, baz);\n    fooo(bar, baz);\n"),
        ("foo(bar, baz); ", "foo(bar, baz); foo(bar, bat); foo(bra, baz);"),
        ("   \n", "a b c\n\n\nd e f"),
        ("}\n}\n)\n", "}\n}\n)\n]\n} x"),
        ("\"'`/*\n", "\"a'`b/*\n\"'` /* c"),
        ("aaaaaaaaaaaaaaa\n", "aaaaaaaaaaaaaaaa aaaab aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
        ("\\\"", "a \\\"\\\"\\\" b"),
        ("r#\"", "x r#\" r#\" y"),
        ("```\n`\n", "` a ``` b"),
        ("ab ", "ab abab ab ab ba ab ab ab"),
        ("\t\n \r\n", "x\n\n\t\n y"),
    ];
    for (piece, context) in repeated {
        let (small, large) = (piece.repeat(4_000), piece.repeat(64_000));
        let (quick, slow) = (quickest(&small, context), quickest(&large, context));
        let allowed = quick.max(Duration::from_millis(4)) * 64;
        assert!(slow < allowed, "{piece:?}: {quick:?} for one part, {slow:?} for sixteen");
    }
}
