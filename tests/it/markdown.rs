//! Markdown has the content of JSON, in a readable form.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, breaking_edit, run};

#[test]
fn the_verbs_answer_in_markdown() {
    let server = Server::on(RUST);
    server.wait_ready();
    let check = |path: &str, body: Option<Value>, wanted: &[&str]| {
        let reply = server.markdown(path, body.as_ref());
        assert_eq!(reply.header("content-type"), "text/markdown; charset=utf-8", "{path}");
        for wanted in wanted {
            assert!(reply.text.contains(wanted), "{path} lacks {wanted:?}:\n{}", reply.text);
        }
    };
    check(
        "/v1/open",
        Some(json!({"file": "src/lib.rs"})),
        &[
            "# src/lib.rs of `greeter`",
            "```rust",
            " 6| pub fn greet(name: &str) -> String {",
            "`greeter::greet`",
            "src/shout.rs",
        ],
    );
    check(
        "/v1/describe",
        Some(json!({"symbol": "greeter::greet"})),
        &[
            "# function `greeter::greet`",
            "5| /// Greets someone.",
            "## Usages: 3 in 2 files",
            "src/lib.rs:12 [1 usage in `greeter::greet_all`]",
        ],
    );
    check("/v1/describe", Some(json!({"file": "Cargo.toml"})), &["# Cargo.toml", "2| name = \"greeter\""]);
    check(
        "/v1/usages?symbol=greeter::greet",
        None,
        &["# 3 usages of function `greeter::greet`", "(call): `greet(name).to_uppercase()`"],
    );
    check("/v1/symbols?query=shout", None, &["function `greeter::shout::shout` src/shout.rs:"]);
    check("/v1/diagnostics", None, &["# 0 errors", "complete"]);
    check("/v1/status", None, &["semdex ", "## workspace (", "engine rust-analyzer"]);
    check(
        "/v1/edit",
        Some(breaking_edit(true)),
        &["would break references in files src/lib.rs, src/shout.rs", "```diff", "## Broken"],
    );
    check(
        "/v1/edit",
        Some(breaking_edit(false)),
        &["# Edit successful, but broke references in files src/lib.rs, src/shout.rs"],
    );
    check(
        "/v1/describe",
        Some(json!({"symbol": "greeter::gret"})),
        &["# unknown_symbol", "Suggestions: `greeter::greet`"],
    );
}

/// A name that would end its line, begin a heading, and clear a terminal.
const FORGED: &str = "a\n# forged\u{1b}[2J\r## forged.rs";

/// Whether each line outside of fences is one that `render` began, and none steers a terminal.
#[track_caller]
fn check_lines(of: &str, text: &str) {
    let mut fence: Option<String> = None;
    for line in text.split(['\n', '\r']) {
        let run = line.len() - line.trim_start_matches(['`', '~']).len();
        match &fence {
            Some(begun) if line == begun => fence = None,
            Some(_) => {}
            None if run >= 3 => fence = Some(line[..run].to_owned()),
            None => {
                assert!(
                    !line.trim_start().trim_start_matches('#').starts_with(" forged"),
                    "{of} forges {line:?}:\n{text}"
                );
                assert!(!line.contains(|it: char| it.is_control() && it != '\t'), "{of} steers in {line:?}");
            }
        }
    }
    assert_eq!(fence, None, "{of} leaves a fence open:\n{text}");
}

#[test]
fn no_name_adds_a_line() {
    let lib = format!("pub mod caller;\n#[path = {FORGED:?}]\npub mod named;\n");
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"forging\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", &lib),
        ("src/caller.rs", "pub fn caller() -> u8 {\n    crate::named::called(1)\n}\n"),
        (
            &format!("src/{FORGED}"),
            "/// ```\n/// ~~~\npub fn called(of: u8) -> u8 {\n    crate::caller::caller();\n    of\n}\n",
        ),
        (&format!("notes/{FORGED}"), "~~~~\n```\n"),
    ]);
    let git = |arguments: &[&str]| {
        let ended = run(Command::new("git").current_dir(home.root()).args(arguments));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.errors);
    };
    git(&["init", "--quiet"]);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let file = format!("src/{FORGED}");
    let query =
        |name: &str, value: &str| form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    let of_file = query("file", &file);
    // The name really is the name in the code.
    let (_, usages) = server.get("/v1/usages?symbol=forging::named::called");
    assert_eq!((&usages["total"], &usages["symbol"]["file"]), (&json!(1), &json!(file)), "{usages}");
    let check = |path: &str, body: Option<Value>| {
        let text = server.markdown(path, body.as_ref()).text;
        check_lines(path, &text);
        text
    };
    for path in [
        "/v1/usages?symbol=forging::named::called",
        "/v1/callers?symbol=forging::caller::caller",
        "/v1/callees?symbol=forging::caller::caller",
        "/v1/symbols?query=called",
        "/v1/map",
        "/v1/git",
        "/v1/status",
        "/v1/workspaces",
        &format!("/v1/symbols?{of_file}"),
        &format!("/v1/symbols/at?{of_file}&line=3&column=9"),
        &format!("/v1/diagnostics?{of_file}"),
        &format!("/v1/usages?{}", query("symbol", "x\n# forged\u{1b}")),
        &format!("/v1/diagnostics?{}", query("file", "x\n# forged\u{1b}")),
    ] {
        check(path, None);
    }
    let edit = json!({"file": file, "search_context": "of: u8) -> u8", "replacement": "of: u8, by: u8) -> u16"});
    for (path, body) in [
        ("/v1/open", json!({"file": file})),
        ("/v1/open", json!({"file": "src/caller.rs"})),
        ("/v1/open", json!({"file": "x\n# forged\u{1b}"})),
        ("/v1/describe", json!({"symbol": "forging::named::called"})),
        ("/v1/describe", json!({"package": "forging"})),
        ("/v1/describe", json!({"file": file})),
        ("/v1/describe", json!({"file": format!("notes/{FORGED}")})),
        ("/v1/impact", json!({"symbol": "forging::caller::caller", "change": "remove"})),
        ("/v1/rename", json!({"symbol": "forging::named::called", "new_name": "other", "dry_run": true})),
        ("/v1/edit", json!({"file": file, "search_context": "no such text", "replacement": "x"})),
        ("/v1/edit", edit.clone()),
        ("/v1/verify", json!({"kind": "check"})),
        ("/v1/baseline", json!({})),
        ("/v1/write", json!({"name": format!("more/{FORGED}"), "content": "```\n"})),
        ("/v1/commit", json!({"files": [file], "message": "x\r# forged\u{1b}", "author": "A <a@b.c>"})),
    ] {
        check(path, Some(body));
    }
    for path in ["/v1/changes?diff=true", "/v1/diagnostics", "/v1/regressions", "/v1/gate", "/v1/stats"] {
        check(path, None);
    }
    let overlay =
        server.request("PUT", &format!("/v1/overlays/{}", "src/a%0A%23%20forged%1B%5B2J%0D%23%23%20forged.rs"));
    let overlay = overlay.header("accept", "text/markdown").json(&json!({"content": "pub fn called() {}\n"}));
    check_lines("overlay", &server.send(overlay).text);
    check("/v1/overlays", None);
    check("/v1/symbols?query=called", None);
}

/// A page that shows nothing of what is broken must not deny it.
#[test]
fn each_page_has_the_heading_of_the_whole() {
    let server = Server::on(RUST);
    server.wait_ready();
    let edit = breaking_edit(true);
    let impact = json!({"symbol": "greeter::greet", "change": "remove"});
    for (path, body, wanted, tokens) in
        [("/v1/edit", edit, "would break references in files", 150), ("/v1/impact", impact, " would break", 80)]
    {
        let ask = |more: Value| {
            let mut body = body.clone();
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            server.markdown(path, Some(&body)).text
        };
        // A line that is too long for the page is cut.
        let head = |text: &str| text.lines().next().unwrap_or_default().chars().take(60).collect::<String>();
        let text = ask(json!({"wait_ms": 120_000}));
        let whole = head(&text);
        assert!(text.lines().next().is_some_and(|it| it.contains(wanted) && !it.contains("Nothing")), "{path}: {text}");
        let mut page = ask(json!({"wait_ms": 120_000, "max_tokens": tokens}));
        let mut pages = 1;
        loop {
            assert_eq!(head(&page), whole, "{path}: {page}");
            let Some(cursor) = page.lines().find_map(|it| it.strip_prefix("More with `cursor`: `")) else { break };
            page = ask(json!({"max_tokens": tokens, "cursor": cursor.trim_end_matches('`')}));
            pages += 1;
        }
        assert!(pages > 1, "{path}: {page}");
    }
}

#[test]
fn what_never_ran_has_not_failed() {
    let server = Home::with(&[("a.py", "def greet():\n    pass\n")]).serve(&["--trust"]);
    let text = server.markdown("/v1/verify", Some(&json!({"kind": "check"}))).text;
    assert!(text.starts_with("# check: nothing was run\n") && text.contains("**incomplete**"), "{text}");
}

#[test]
fn possible_usages_with_one_reason_say_it_once() {
    // Without trust the server of Python does not run.
    let files =
        [("lib.py", "def greet(name):\n    return name\n"), ("main.py", "import lib\n\nlib.greet(1)\nlib.greet(2)\n")];
    let server = Home::with(&files).serve(&["--no-trust"]);
    let text = server.markdown("/v1/usages?symbol=lib.py::greet", None).text;
    assert_eq!(text.matches("unresolved").count(), 1, "{text}");
    assert!(text.contains(": 2 places\n  - main.py\n    - 3: `lib.greet(1)`\n    - 4: `lib.greet(2)`\n"), "{text}");
}
