//! Patches as git and models write them, and what is refused.

use super::{Action, FinalNewline, Form, Hunk, PatchEdit, PlaceHints, form, parse};

fn diff(patch: &str) -> Vec<PatchEdit> {
    assert_eq!(form(patch), Form::Diff, "{patch}");
    parse(Form::Diff, patch).unwrap()
}

fn apply_patch(patch: &str) -> Vec<PatchEdit> {
    assert_eq!(form(patch), Form::ApplyPatch, "{patch}");
    parse(Form::ApplyPatch, patch).unwrap()
}

fn edit(file: &str, line: usize, action: Action) -> PatchEdit {
    PatchEdit { file: file.to_owned(), line, action }
}

fn hunk(search: &str, replacement: &str, place: PlaceHints) -> Action {
    Action::Replace(Hunk {
        search: search.to_owned(),
        replacement: replacement.to_owned(),
        place: Some(place),
        final_newline: FinalNewline::Kept,
    })
}

fn at_line(line: usize) -> PlaceHints {
    PlaceHints { line: Some(line), ..PlaceHints::default() }
}

#[track_caller]
fn refused(form: Form, patch: &str, line: usize, wanted: &str) {
    let error = parse(form, patch).unwrap_err();
    let begins = format!("line {line} of the patch: ");
    assert!(error.detail.starts_with(&begins) && error.detail.contains(wanted), "{patch}\n{}", error.detail);
}

#[test]
fn diffs_in_all_the_forms_that_git_and_models_write() {
    let body = "@@ -3,3 +3,3 @@\n a\n-b\n+c\n d\n";
    let one = |line| vec![edit("src/x.rs", line, hunk("a\nb\nd\n", "a\nc\nd\n", at_line(3)))];
    for (head, tail, line) in [
        ("--- a/src/x.rs\n+++ b/src/x.rs\n", "", 3),
        ("--- src/x.rs\n+++ src/x.rs\n", "", 3),
        ("--- a/src/x.rs\n+++ src/x.rs\n", "", 3),
        ("--- i/src/x.rs\t2026-01-01 00:00:00\n+++ w/src/x.rs\t2026-01-01 00:00:00\n", "", 3),
        ("diff --git a/src/x.rs b/src/x.rs\nindex 1..2 100644\n--- a/src/x.rs\n+++ b/src/x.rs\n", "", 5),
        ("diff --git a/src/x.rs b/src/x.rs\n", "", 2),
        ("```diff\n--- a/src/x.rs\n+++ b/src/x.rs\n", "```\nThat is all.\n- a list\n", 4),
        ("From 1\nSubject: x\n\n---\n x | 2 +-\n\ndiff --git a/src/x.rs b/src/x.rs\n", "-- \n2.43.0\n\n", 8),
        ("\u{feff}--- a/src/x.rs\n+++ b/src/x.rs\n", "\n\n", 3),
    ] {
        assert_eq!(diff(&format!("{head}{body}{tail}")), one(line), "{head}");
    }
    // Numbers that are wrong, or none at all.
    for (at, place) in [
        ("@@ -3,99 +7,1 @@", at_line(3)),
        ("@@", PlaceHints::default()),
        ("@@ ... @@", PlaceHints::default()),
        ("", PlaceHints::default()),
        ("@@ fn f()", PlaceHints { headings: vec!["fn f()".to_owned()], ..PlaceHints::default() }),
        ("@@ -3 +3 @@ fn f()", PlaceHints { headings: vec!["fn f()".to_owned()], ..at_line(3) }),
    ] {
        let at = if at.is_empty() { String::new() } else { format!("{at}\n") };
        let read = diff(&format!("--- a/x\n+++ b/x\n{at} a\n-b\n+c\n d\n"));
        assert_eq!(read, [edit("x", 3, hunk("a\nb\nd\n", "a\nc\nd\n", place))], "{at}");
    }
    // Blank lines and lines that have lost the sign of a line that stays.
    let read = diff("--- a/x\n+++ b/x\n@@\nfn f() {\n\n\ta\n-b\n+c\n}\n");
    let wanted = hunk("fn f() {\n\n\ta\nb\n}\n", "fn f() {\n\n\ta\nc\n}\n", PlaceHints::default());
    assert_eq!(read, [edit("x", 3, wanted)]);
    // A line that stays, after as many lines as the counts say; prose after the hunk.
    let read =
        diff("--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\nfn g() {\n-    c\n}\n\nThis does:\n- one thing\n+ another\n");
    let wanted = hunk("a\nfn g() {\n    c\n", "b\nfn g() {\n", at_line(1));
    assert_eq!(read, [edit("x", 3, wanted)]);
    // A list of dashes is deleted.
    let read = diff("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n a\n--- b\n");
    assert_eq!(read, [edit("x.sql", 3, hunk("a\n-- b\n", "a\n", at_line(1)))]);
    let windows = "--- a/x\r\n+++ b/x\r\n@@ -3,3 +3,3 @@\r\n a\r\n-b\r\n+c\r\n";
    assert_eq!(diff(windows), [edit("x", 3, hunk("a\r\nb\r\n", "a\r\nc\r\n", at_line(3)))]);
}

#[test]
fn diffs_of_whole_files() {
    let read = diff(
        "diff --git a/new.rs b/new.rs\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,2 @@\n+a\n\
         +\n+b\n\\ No newline at end of file\ndiff --git a/empty b/empty\nnew file mode 100644\nindex 0..e\n\
         diff --git a/old.rs b/old.rs\ndeleted file mode 100644\n--- a/old.rs\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\
         diff --git a/p q.rs b/r s.rs\nsimilarity index 90%\nrename from p q.rs\nrename to r s.rs\n--- a/p q.rs\n\
         +++ b/r s.rs\n@@ -1 +1 @@\n-a\n+b\ndiff --git \"a/\\303\\244\" \"b/\\303\\244\"\ndeleted file mode 100644\n",
    );
    assert_eq!(
        read,
        [
            edit("new.rs", 1, Action::Create("a\n\nb".to_owned())),
            edit("empty", 11, Action::Create(String::new())),
            edit("old.rs", 14, Action::Delete { content: Some("a\nb\n".to_owned()) }),
            edit("p q.rs", 21, Action::Move { to: "r s.rs".to_owned() }),
            edit("p q.rs", 27, hunk("a\n", "b\n", at_line(1))),
            edit("ä", 30, Action::Delete { content: None }),
        ]
    );
    let read = diff("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+b\n");
    assert_eq!(read, [edit("x", 1, Action::Create("a\n".to_owned())), edit("y", 7, Action::Create("b\n".to_owned()))]);
}

#[test]
fn the_end_of_a_file_is_what_the_diff_says() {
    const MARK: &str = "\\ No newline at end of file\n";
    for (lines, wanted) in [
        (format!("-a\n{MARK}+b\n"), FinalNewline::Added),
        (format!("-a\n+b\n{MARK}"), FinalNewline::Removed),
        (format!("-a\n{MARK}+b\n{MARK}"), FinalNewline::Kept),
        (format!("-a\n+b\n c\n{MARK}"), FinalNewline::Kept),
        ("-a\n+b\n".to_owned(), FinalNewline::Kept),
    ] {
        let read = diff(&format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n{lines}"));
        let Action::Replace(hunk) = &read[0].action else { panic!("{read:?}") };
        assert_eq!((hunk.final_newline, &hunk.search[..2]), (wanted, "a\n"), "{lines}");
    }
}

#[test]
fn what_a_diff_leaves_open_is_refused_with_its_line() {
    let head = "--- a/x\n+++ b/x\n";
    refused(Form::Diff, "prose\n", 1, "no change in the diff");
    refused(Form::Diff, "@@ -1 +1 @@\n-a\n+b\n", 1, "no file is named");
    refused(Form::Diff, "--- a/x\n+++ b/y\n@@\n-a\n+b\n", 1, "`x` and `y` differ");
    refused(Form::Diff, &format!("{head}@@ -5,0 +6 @@\n+a\n"), 3, "where this hunk belongs");
    refused(Form::Diff, &format!("{head}@@ -5 +5 @@\n a\n"), 3, "changes nothing");
    refused(Form::Diff, head, 1, "no hunk");
    refused(Form::Diff, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n b\n", 5, "begins with `+`");
    refused(Form::Diff, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n+b\n", 5, "begins with `-`");
    refused(Form::Diff, "diff --git a/x b/y\nrename from x\n", 1, "belong together");
    refused(Form::Diff, "diff --git a/x b/y\ncopy from x\n", 2, "not copied");
    refused(Form::Diff, "diff --git a/x b/x\nBinary files a/x and b/x differ\n", 2, "binary");
    refused(Form::Diff, "diff --cc x\n@@@ -1 -1 +1 @@@\n", 2, "combined");
    refused(Form::Diff, &format!("```diff\n{head}@@\n a\n-b\n```\n+c\n```\n"), 8, "belongs to no hunk");
}

#[test]
fn codex_patches() {
    let below = |headings: &[&str], at_end| PlaceHints {
        headings: headings.iter().map(|it| (*it).to_owned()).collect(),
        is_below: true,
        at_end,
        ..PlaceHints::default()
    };
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ class A\n@@ def f\n x\n-a\n+b\n\n@@\n-c\n+d\n\
                 *** End of File\n*** Add File: new.rs\n+a\n\n+b\n\n*** Delete File: old.rs\n*** Update File: log\n+line\n\
                 *** End Patch\n";
    let wanted = [
        edit("src/a.rs", 2, Action::Move { to: "src/b.rs".to_owned() }),
        edit("src/a.rs", 4, hunk("x\na\n", "x\nb\n", below(&["class A", "def f"], false))),
        edit("src/a.rs", 10, hunk("c\n", "d\n", below(&[], true))),
        edit("new.rs", 14, Action::Create("a\n\nb\n".to_owned())),
        edit("old.rs", 19, Action::Delete { content: None }),
        edit("log", 21, Action::Append("line\n".to_owned())),
    ];
    assert_eq!(apply_patch(patch), wanted);
    // As it comes in a command or a fence, which closes a patch without its last line too.
    let bare = patch.trim_end_matches("*** End Patch\n");
    let shifted =
        |edits: Vec<PatchEdit>| edits.into_iter().map(|it| PatchEdit { line: it.line - 1, ..it }).collect::<Vec<_>>();
    for (before, after) in [
        ("apply_patch <<'EOF'\n", "EOF\n"),
        ("cat <<\"END\" | apply_patch\n", "END\n"),
        ("```\n", "```\n"),
        ("Here it is:\n", ""),
    ] {
        for text in [patch, bare].into_iter().take(if after.is_empty() { 1 } else { 2 }) {
            assert_eq!(shifted(apply_patch(&format!("{before}{text}{after}"))), wanted, "{before}");
        }
    }
    let last = "*** Update File: a\n-x\n+y\n*** End Patch";
    assert_eq!(apply_patch(last), [edit("a", 2, hunk("x\n", "y\n", below(&[], false)))]);
}

#[test]
fn what_a_codex_patch_leaves_open_is_refused_with_its_line() {
    let form = Form::ApplyPatch;
    refused(form, "*** Begin Patch\n*** End Patch\n", 1, "no file in the patch");
    refused(form, "*** Begin Patch\n*** Update File:\n", 2, "name of the file is missing");
    refused(form, "*** Begin Patch\n*** Update File: a\n*** End Patch\n", 2, "nothing of this file changes");
    refused(form, "*** Begin Patch\n*** Update File: a\n*** Move to: \n", 3, "new name");
    refused(form, "*** Begin Patch\n*** Update File: a\n@@\n x\n", 3, "changes nothing");
    refused(form, "*** Begin Patch\n*** Update File: a\n@@ fn f\n+x\n", 3, "only adds lines");
    refused(form, "*** Begin Patch\n*** Add File: a\n+x\ny\n", 4, "begins with `+`");
    refused(form, "*** Begin Patch\n*** Rename File: a\n", 2, "`*** Rename File: a`");
    refused(form, "*** Begin Patch\n*** Delete File: a\nx\n", 3, "neither a line of a hunk");
}

#[test]
fn a_patch_that_is_cut_off_is_refused() {
    let cut = "may be cut off";
    let codex = Form::ApplyPatch;
    let update = "*** Begin Patch\n*** Update File: p/t.rs\n@@ fn b() {\n     one();\n-    two();\n+    TWO(ar";
    refused(codex, update, 6, cut);
    refused(codex, &format!("{update}\n"), 6, cut);
    refused(codex, "*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+fn moved() {\n+    let a = ", 5, cut);
    refused(codex, "*** Update File: a\n-x\n+y\n", 3, cut);
    refused(codex, "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Pat", 5, "`*** End Pat`");
    refused(codex, "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n", 3, cut);
    let twice = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n";
    refused(codex, twice, 5, cut);

    let head = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n";
    refused(Form::Diff, &format!("{head} a\n-b\n+    B(ar"), 6, cut);
    refused(Form::Diff, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,9 @@\n+a\n+b", 5, cut);
    refused(Form::Diff, &format!("```diff\n{head} a\n-b\n+    B(ar"), 7, cut);
    // Whole lines, all lines, or a closed fence: the counts alone prove nothing.
    for whole in
        [format!("{head} a\n-b\n+c\n"), format!("{head} a\n-b\n+c\n d\n+e"), format!("```diff\n{head}-b\n+c\n```")]
    {
        assert_eq!(diff(&whole).len(), 1, "{whole}");
    }
}

#[test]
fn the_form_shows_in_the_text() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    assert_eq!(form(&format!("src/a.rs\n{block}")), Form::Blocks);
    assert_eq!(form(&format!("Prose.\n\nsrc/a.rs\n```rust\n{block}```\n")), Form::Blocks);
    assert_eq!(form("notes.md\n```\n--- a\n+++ b\n*** Begin Patch\n```\n"), Form::Blocks);
    assert_eq!(form("changes.md\n```diff\n--- a/x\n+++ b/x\n@@\n-a\n+b\n```\n"), Form::Diff);
    assert_eq!(form("nothing\n"), Form::Blocks);
}
