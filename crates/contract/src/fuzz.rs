//! Fuzz targets for requests (JSON bodies, bodies of blocks, queries) and for cursors: a cursor of a reply continues
//! there, and any other text is refused.

use proptest::prelude::any;

use super::budget::{Part, next_cursor, positions};
use super::patch::from_patch;
use super::{CALLS, Request};
use semdex_model::{Code, Result};
use semdex_testing::fuzz::{JSON, fuzz, mutated, words_of};

const CURSORS: &[&str] = &["c1-20", "c2-20.3", "c3-0.0.18446744073709551615", "before-01J0000000000000000000000"];
const SIGNS: &[&str] = &["c", "1", "2", "-", ".", "+", "0", "99999999999999999999", "before-", "٣"];

#[test]
fn fuzz_cursors() {
    let given = (any::<(usize, usize)>(), any::<(usize, usize)>());
    fuzz("cursors", (mutated(CURSORS, SIGNS), given), |(cursor, (a, b))| {
        // Any text gives positions or an error, never a panic.
        let _ = positions::<1>(Some(&cursor));
        let _ = positions::<2>(Some(&cursor));
        let _ = positions::<3>(Some(&cursor));
        let parts = [a, b].map(|(from, total)| Part::after(from, total));
        for part in parts {
            part.lines("a\nb\n");
        }
        if let Some(cursor) = next_cursor(&parts) {
            assert_eq!(positions::<2>(Some(&cursor)).unwrap(), parts.map(|it| it.from + it.count));
        }
    });
}

const BODIES: &[&str] = &[
    r#"{"file":"src/lib.rs","search_context":"fn a() {","replacement":"pub fn a() {","autofix":95,"near_line":3,"dry_run":true}"#,
    r#"{"edits":[{"file":"a","search_context":"b","replacement":""},{"symbol":"a::b","at":"body","replacement":"\n"}],"on_break":"reject"}"#,
    r#"{"name":"src/new.rs","content":"\u00e9\ud834\udd1e","mode":"create"}"#,
    "src/a.rs\n<<<<<<< SEARCH\nfn a() {}\n=======\nfn b() {}\n>>>>>>> REPLACE\n",
];
const FIELDS: &[&str] = &[
    "\"file\"",
    "\"edits\"",
    "\"autofix\"",
    "\"at\"",
    "\"fiel\"",
    "`, expected `x",
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
];
const QUERIES: &[&str] =
    &["autofix=95&dry_run=true&on_break=reject", "dry_run=%74rue&&format=+", "autofix=%C3%A9&autofix=1"];
const PARTS: &[&str] =
    &["&", "=", "%", "%2", "%00", "%ff", "+", ";", "autofix", "autofx", "on_break", "true", "1e9", "-1", "256"];

/// An error has a detail and is not internal.
fn check(outcome: Result<Request>) {
    if let Err(error) = outcome {
        assert!(!error.detail.is_empty() && error.code != Code::Internal, "{error}");
    }
}

#[test]
fn fuzz_requests() {
    fuzz("requests", (mutated(BODIES, words_of(&[JSON, FIELDS])), mutated(QUERIES, PARTS)), |(body, query)| {
        for call in CALLS {
            check(call.from_json(body.as_bytes()));
            check(call.from_query(&query));
            check(call.from_text(&query, "", body.clone()));
        }
        let _ = from_patch(None, &body);
    });
}
