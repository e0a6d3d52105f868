//! Fuzz targets of the pure text functions: blocks, diffs, offsets, words, scores, matching.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::any;
use proptest::sample::{Index, select};
use proptest::strategy::Strategy as Generator;

use super::diff::{OffsetMap, between, unified};
use super::lines::LineIndex;
use super::matching::{Outcome, Replaced, Search, apply, find};
use super::words::{WordTable, occurrences, words, words_at};
use super::{blocks, patches, score};
use semdex_model::{Span, Strategy};
use semdex_testing::fuzz::{fuzz, mutated, soup, two_states};

const TEXTS: &[&str] = &[
    include_str!("../../../tests/fixtures/corpus/src/text/blocks.rs"),
    include_str!("../../../tests/fixtures/corpus/src/text/lines.rs"),
    include_str!("../../../tests/fixtures/corpus/src/text/matching/fuzzy.rs"),
    include_str!("../../../CONTRIBUTING.md"),
    include_str!("../../go/src/checker/program/check.go"),
    "\u{feff}eins\r\nzwei größe\r\n\r\n\tdrei 𝒳y\r\n}\r\n}",
    "a\n\n\na\n\n\na\n",
    "if a {\n    b();\n}\nif a {\n    b();\n}\n",
];
const WORDS: &[&str] = &[
    " ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "...",
    "// existing code",
    "/* … */",
    "//",
    "\"",
    "'",
    "`",
    "fn ",
    "let ",
    "name",
    "names",
    "value_1",
    "0x1f",
    "12",
    "größe",
    "𝒳",
    "e\u{301}",
    "self.",
    "::",
    " = ",
    "\\",
];

const BLOCKS: &[&str] = &[
    "src/a.rs\n<<<<<<< SEARCH\nfn a() {}\n=======\nfn b() {}\n>>>>>>> REPLACE\n",
    "Here:\n\n`a b.rs`\n```rust\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n",
    "### src/whole.rs\n````\n```\ncode\n```\n````\n\nsrc/b.rs\n<<<<<<<< SEARCH\n=======\n========\n>>>>>>>\n>>>>>>>> REPLACE\n",
];
const MARKERS: &[&str] = &[
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
    "<<<<<",
    "=====",
    ">>>>>",
    "<",
    "=",
    ">",
    " SEARCH",
    " REPLACE",
    "```",
    "````\n",
    "~~~",
    "src/a.rs\n",
    "`Makefile`\n",
    "**b.rs**:\n",
    "# ",
    "prose\n",
    "\n",
    "\r\n",
    " ",
    "x\n",
];

#[test]
fn fuzz_blocks() {
    fuzz("blocks", mutated(BLOCKS, MARKERS), |body| {
        let Ok(blocks) = blocks::parse(&body) else { return };
        assert!(!blocks.is_empty());
        let lines = body.split_inclusive('\n').count();
        for block in blocks {
            assert!(!block.file.trim().is_empty() && !block.file.contains('\n'), "{block:?}");
            assert!((1..=lines).contains(&block.line), "{block:?}");
            match block.action {
                blocks::Action::Replace { search, replacement } => {
                    assert!(!search.trim().is_empty() && body.contains(&search) && body.contains(&replacement));
                }
                blocks::Action::Create(content) | blocks::Action::Whole(content) => assert!(body.contains(&content)),
            }
        }
    });
}

const PATCHES: &[&str] = &[
    "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,3 @@ fn f() {\n x\n-a\n+b\n\n y\n",
    "--- a/a.rs\n+++ b/a.rs\n@@\n-a\n\\ No newline at end of file\n+b\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+new\n",
    "diff --git a/old b/new\nrename from old\nrename to new\ndiff --git \"a/\\303\\244\" \"b/\\303\\244\"\ndeleted file mode 1\n",
    "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn f() {\n x\n-a\n+b\n*** End of File\n*** Add File: c\n+c\n*** Delete File: d\n*** End Patch\n",
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n+x\n*** End Patch\nEOF\n",
];
const PATCH_MARKERS: &[&str] = &[
    "--- a/x\n",
    "+++ b/x\n",
    "/dev/null",
    "diff --git a/x b/y\n",
    "rename from x\n",
    "rename to y\n",
    "new file mode 100644\n",
    "@@ -1,2 +3,4 @@\n",
    "@@\n",
    "@@ ",
    "-",
    "+",
    " ",
    "\\ No newline at end of file\n",
    "*** Begin Patch\n",
    "*** Update File: x\n",
    "*** Add File: y\n",
    "*** Move to: z\n",
    "*** End of File\n",
    "*** End Patch\n",
    "```diff\n",
    "```\n",
    "-- \n",
    "\"",
    "\n",
    "\r\n",
    "99999999999999999999",
    "größe\n",
];

#[test]
fn fuzz_patches() {
    use patches::{Action, Form, form, parse};
    fuzz("patches", mutated(PATCHES, PATCH_MARKERS), |patch| {
        let lines = patch.split_inclusive('\n').count();
        form(&patch);
        for form in [Form::Blocks, Form::Diff, Form::ApplyPatch] {
            let edits = match parse(form, &patch) {
                Ok(edits) => edits,
                Err(error) => {
                    assert!(error.detail.starts_with("line "), "{error}");
                    continue;
                }
            };
            assert!(!edits.is_empty());
            for edit in edits {
                assert!((1..=lines).contains(&edit.line), "{edit:?}");
                if let Action::Replace(hunk) = edit.action {
                    assert!(!hunk.search.trim().is_empty() && hunk.search.ends_with('\n'), "{hunk:?}");
                }
            }
        }
    });
}

/// What is read of a diff of two texts is what the diff says: the hunks, applied to the old text, give the new one.
#[test]
fn fuzz_read_diffs() {
    use patches::{Action, FinalNewline, Form, parse};
    fuzz("read_diffs", two_states(TEXTS, WORDS), |(old, new)| {
        let (old, new) = (old.replace('\r', ""), new.replace('\r', ""));
        if old == new || old.is_empty() || new.is_empty() {
            return;
        }
        let edits = match parse(Form::Diff, &unified(Some(&old), Some(&new), "x")) {
            Ok(edits) => edits,
            // A hunk of blank lines has no place of its own.
            Err(error) => return assert!(error.detail.contains("where this hunk belongs"), "{error}"),
        };
        let (mut made, mut rest) = (String::new(), old.as_str());
        for edit in edits {
            assert_eq!(edit.file, "x");
            let Action::Replace(hunk) = edit.action else { panic!("{edit:?}") };
            let line = hunk.place.as_ref().and_then(|it| it.line).unwrap();
            let at = old.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>() - (old.len() - rest.len());
            made.push_str(&rest[..at]);
            let there = &rest[at..];
            // The last line may have no line end, which the hunk says apart.
            let search =
                if there.starts_with(&hunk.search) { &hunk.search[..] } else { hunk.search.trim_end_matches('\n') };
            assert!(there.starts_with(search), "{there:?} {hunk:?}");
            rest = &there[search.len()..];
            let ends_bare = search.len() < hunk.search.len();
            match hunk.final_newline {
                FinalNewline::Removed => made.push_str(hunk.replacement.strip_suffix('\n').unwrap()),
                FinalNewline::Kept if ends_bare => made.push_str(hunk.replacement.strip_suffix('\n').unwrap()),
                _ => made.push_str(&hunk.replacement),
            }
        }
        made.push_str(rest);
        assert_eq!(made, new);
    });
}

/// Applies a unified diff to the text before it. Each hunk has to fit exactly.
fn patched(old: &str, diff: &str) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    let mut of_diff = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(head) = of_diff.next() {
        let (range, _) = head.strip_prefix("@@ -").and_then(|it| it.split_once(' ')).expect(head);
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        let first: usize = first.parse().unwrap();
        let start = if count == "0" { first } else { first - 1 };
        new.extend(lines[at..start].iter().copied());
        at = start;
        while let Some(line) = of_diff.next_if(|it| !it.starts_with("@@ ")) {
            let (sign, content) = line.split_at(1);
            let bare = of_diff.next_if(|it| it.starts_with("\\ No newline")).is_some();
            let content = if bare { content.strip_suffix('\n').unwrap() } else { content };
            match sign {
                "+" => new.push_str(content),
                " " | "-" => {
                    assert_eq!(lines[at], content);
                    at += 1;
                    new.push_str(if sign == " " { content } else { "" });
                }
                _ => panic!("{line:?} in a diff"),
            }
        }
    }
    new.extend(lines[at..].iter().copied());
    new
}

#[test]
fn fuzz_diffs() {
    fuzz("diffs", two_states(TEXTS, WORDS), |(old, new)| {
        // The library takes a lone `\r` for a line end; no other reader of diffs does.
        let (old, new) = (old.replace('\r', ""), new.replace('\r', ""));
        let diff = between("a", &old, "b", &new);
        assert_eq!(diff.is_empty(), old == new);
        if !diff.is_empty() {
            assert_eq!(patched(&old, &diff), new, "{diff}");
        }
        assert_eq!(patched("", &unified(None, Some(&new), "x")), new);
    });
}

#[test]
fn fuzz_offset_maps() {
    fuzz("offset_maps", two_states(TEXTS, WORDS), |(old, new)| {
        let map = OffsetMap::new(&old, &new);
        let inverse = map.inverse();
        let mut last = None;
        for (at, character) in old.char_indices() {
            let Some(now) = map.offset(at) else { continue };
            assert!(new[now..].starts_with(character) && last.is_none_or(|it| it < now), "{at} → {now}");
            assert_eq!(inverse.offset(now), Some(at));
            last = Some(now);
        }
        for gap in map.gaps() {
            assert!(old.get(gap.start..gap.end).is_some());
        }
        assert_eq!(old == new, map.gaps().is_empty());
    });
}

#[test]
fn fuzz_lines() {
    fuzz("lines", (mutated(TEXTS, WORDS), any::<(u32, u32)>()), |(text, (line, column))| {
        let index = LineIndex::new(&text);
        assert_eq!(index.line_count(), text.lines().count());
        for (at, _) in text.char_indices() {
            let place = index.place("f", Span::new(at, text.len()));
            assert!(place.line <= place.end_line && place.end_line <= index.line_count());
            let ends = text[at..].starts_with('\n') || text[at..].starts_with('\r');
            assert!(ends || index.offset(&text, place.line, place.column) == Some(at), "{at} {place:?}");
            let (utf16_line, utf16_column) = index.utf16_of_offset(at);
            assert!(ends || index.offset_of_utf16(&text, utf16_line, utf16_column) == at, "{at}");
        }
        // A server may send any position.
        for (line, column) in [(line, column), (line % 64, column % 64), (line % 64, column)] {
            let at = index.offset_of_utf16(&text, line, column);
            assert!(text.is_char_boundary(at));
            if let Some(at) = index.offset(&text, line as usize, column as usize) {
                assert!(text.is_char_boundary(at));
            }
            index.line_text(&text, line as usize);
        }
    });
}

#[test]
fn fuzz_words() {
    fuzz("words", (mutated(TEXTS, WORDS), any::<Index>(), any::<Index>()), |(text, from, to)| {
        let table = WordTable::new(&text);
        let all: Vec<(usize, &str)> = words(&text).collect();
        assert_eq!(table.hashes().count(), all.iter().map(|it| it.1).collect::<std::collections::BTreeSet<_>>().len());
        for (at, word) in &all {
            assert!(text[*at..].starts_with(word) && !word.is_empty());
        }
        for (_, word) in all.iter().take(20) {
            let said: Vec<usize> = all.iter().filter(|it| it.1 == *word).map(|it| it.0).collect();
            assert_eq!(table.offsets(&text, word).collect::<Vec<_>>(), said, "{word}");
            assert_eq!(occurrences(&text, word).collect::<Vec<_>>(), said, "{word}");
        }
        let boundary = |it: &Index| {
            let at = it.index(text.len() + 1);
            (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
        };
        let (a, b) = (boundary(&from), boundary(&to));
        let stretch = Span::new(a.min(b), a.max(b));
        for (at, word) in words_at(&text, stretch) {
            assert!(at <= stretch.end && stretch.start <= at + word.len(), "{at} {word} {stretch:?}");
            assert!(all.contains(&(at, word)));
        }
    });
}

#[test]
fn fuzz_scores() {
    fuzz("scores", (two_states(TEXTS, WORDS), soup(WORDS)), |((a, b), c)| {
        for (a, b) in [(&a, &b), (&a, &c)] {
            let said = score::score(a, b);
            assert!((0.0..=100.0).contains(&said) && (score::score(b, a) - said).abs() < 1e-9, "{said}");
            let (one, other) = (score::collapse(a), score::collapse(b));
            assert_eq!(said >= 100.0, one == other);
            let distance = score::distance(a, b);
            assert!(distance <= a.chars().count().max(b.chars().count()) && score::distance(b, a) == distance);
            assert_eq!(score::collapse(&one), one);
        }
    });
}

/// A search text made from some lines, with more or fewer errors.
fn searches() -> impl Generator<Value = (String, String, String, u8, Option<usize>, bool)> {
    let recalled =
        (mutated(TEXTS, WORDS), any::<(Index, Index)>(), vec((any::<Index>(), select(WORDS)), 0..4), 0_usize..3);
    let context = recalled.prop_map(|(text, (from, count), pieces, removed)| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let from = from.index(lines.len() + 1);
        let end = from + count.index(8);
        let mut context: Vec<char> = lines[from..end.min(lines.len())].concat().chars().collect();
        for (at, piece) in pieces {
            let at = at.index(context.len() + 1);
            context.splice(at..(at + removed).min(context.len()), piece.chars());
        }
        (text, context.into_iter().collect::<String>())
    });
    let autofix = select(&[0_u8, 1, 50, 60, 80, 90, 95, 100][..]);
    (context, soup(WORDS), autofix, option::of(0_usize..60), any::<bool>())
        .prop_map(|((text, context), new, autofix, near, whole)| (text, context, new, autofix, near, whole))
}

#[test]
fn fuzz_matching() {
    fuzz("matching", searches(), |(text, context, replacement, autofix, near_line, whole_lines)| {
        let search = Search {
            text: &text,
            context: &context,
            replacement: &replacement,
            autofix,
            near_line,
            within: None,
            whole_lines,
        };
        let Ok(outcome) = find(&search) else { return };
        let hit = match outcome {
            Outcome::Found(hit) => hit,
            Outcome::Ambiguous(hits) => {
                assert!(hits.len() > 1);
                return;
            }
            Outcome::NotFound { nearest, .. } => {
                assert!(nearest.is_none_or(|it| text.get(it.span.start..it.span.end).is_some()));
                return;
            }
        };
        // A byte order mark is never part of a search.
        let context = context.strip_prefix('\u{feff}').unwrap_or(&context);
        let said = score::score(context, &text[hit.span.start..hit.span.end]);
        assert!((said - hit.score).abs() < 1e-9, "{hit:?}, but {said}");
        let is_good = autofix > 0 && hit.score >= f64::from(autofix);
        assert!(hit.strategy != Strategy::Fuzzy || is_good, "{hit:?}");
        let Ok(Replaced { text: new, span, range }) = apply(&text, &hit, context, &replacement) else { return };
        assert_eq!((&new[..span.start], &new[span.end..]), (&text[..range.start], &text[range.end..]));
        let blank = |from: usize, to: usize| text[from..to].trim().is_empty();
        let (from, to) = (range.start.min(hit.span.start), range.end.max(hit.span.end));
        assert!(blank(from, hit.span.start) && blank(hit.span.end, to), "{hit:?} {range:?}");
    });
}
