//! Example replies for the OpenAPI document, shortened from real ones. A linter checks them against the schemas.

use serde_json::{Value, json};

const FILE: &str = "crates/searcher/src/lines.rs";
const HASH: &str = "f4b1dd7d56bc096550bac26e1872f658b89b8febc49eba3d918e44a1902fc7ec";

fn meta(elapsed_ms: f64) -> Value {
    json!({
        "workspace": "ripgrep", "revision": 17, "state": "ready", "complete": true, "missing": [],
        "elapsed_ms": elapsed_ms
    })
}

fn line_iter(with_children: bool) -> Value {
    let mut symbol = json!({
        "path": "grep_searcher::lines::LineIter", "kind": "struct", "name": "LineIter",
        "signature": "pub struct LineIter<'b> { … }", "package": "grep_searcher",
        "file": FILE, "start": 165, "end": 493, "line": 10, "end_line": 20, "column": 1,
        "name_at": {"start": 435, "end": 443, "line": 17},
        "docs": "An iterator over lines in a particular slice of bytes.",
        "external": false, "public": true, "test": false, "usages": {"total": 13, "files": 4}
    });
    if with_children {
        symbol["children"] = json!([{
            "path": "grep_searcher::lines::LineIter::bytes", "kind": "field", "name": "bytes",
            "signature": "bytes: &'b [u8]", "package": "grep_searcher",
            "file": FILE, "start": 454, "end": 469, "line": 18, "end_line": 18, "column": 5,
            "name_at": {"start": 454, "end": 459, "line": 18},
            "external": false, "public": false, "test": false, "usages": {"total": 2, "files": 1}
        }]);
    }
    symbol
}

fn usage() -> Value {
    json!({
        "file": "crates/printer/src/util.rs", "start": 7873, "end": 7881, "line": 248, "end_line": 248, "column": 40,
        "text": "    pub(crate) fn lines(&self, line_term: u8) -> LineIter<'_> {",
        "symbol": "grep_printer::util::Sunk::lines", "role": "type", "test": false
    })
}

pub(crate) fn opened() -> Value {
    json!({
        "file": FILE, "language": "rust", "package": "grep_searcher", "lines": 466, "hash": HASH,
        "docs": "A collection of routines for performing operations on lines.",
        "skeleton": "impl<'b> LineIter<'b> {\n    pub fn new(line_term: u8, bytes: &'b [u8]) -> LineIter<'b> { /* 2 lines */ }\n}\n",
        "imports": [{"path": "bstr::ByteSlice", "line": 6}],
        "symbols": [line_iter(true)],
        "upstream": [{
            "package": "grep_matcher", "external": false, "files": ["crates/matcher/src/lib.rs"],
            "symbols": ["grep_matcher::LineTerminator"]
        }],
        "downstream": [{
            "file": "crates/printer/src/util.rs", "package": "grep_printer",
            "symbols": ["grep_searcher::lines::LineIter"], "count": 4
        }],
        "next_cursor": null,
        "meta": meta(2.1)
    })
}

pub(crate) fn described() -> Value {
    json!({
        "kind": "symbol", "symbol": line_iter(false),
        "source": "#[derive(Debug)]\npub struct LineIter<'b> {\n    bytes: &'b [u8],\n    stepper: LineStep,\n}",
        "docs": "An iterator over lines in a particular slice of bytes.",
        "examples": [{
            "origin": "test", "file": FILE, "line": 311, "title": "line_iter",
            "code": "assert_eq!(lines(\"a\\nb\"), vec![\"a\\n\", \"b\"]);"
        }],
        "usages": {"total": 13, "files": 4, "possible_total": 0, "possible": [],
            "outside_builds_total": 0, "items": [usage()], "outside_builds": []},
        "implementations": [], "next_cursor": "c4-11.0.1.0", "meta": meta(8.4)
    })
}

pub(crate) fn usages() -> Value {
    json!({
        "symbol": line_iter(false), "total": 13, "files": 4, "possible_total": 0, "possible": [],
        "outside_builds_total": 0, "items": [usage()], "outside_builds": [], "next_cursor": "c1-1", "meta": meta(3.3)
    })
}

pub(crate) fn symbols() -> Value {
    json!({"symbols": [line_iter(false)], "total": 1, "next_cursor": null, "meta": meta(1.9)})
}

pub(crate) fn map() -> Value {
    let mut symbol = line_iter(false);
    for absent in ["docs", "usages"] {
        symbol.as_object_mut().map(|it| it.remove(absent));
    }
    symbol["rank"] = json!(0.0041);
    json!({
        "files": [{"file": FILE, "rank": 0.0187, "symbols": [symbol]}], "total": 1, "next_cursor": null,
        "meta": meta(2.6)
    })
}

pub(crate) fn explore() -> Value {
    let mut symbol = line_iter(false);
    for absent in ["docs", "usages"] {
        symbol.as_object_mut().map(|it| it.remove(absent));
    }
    let mut ranked = symbol.clone();
    ranked["rank"] = json!(0.31);
    let call = json!({
        "file": "crates/printer/src/util.rs", "start": 7873, "end": 7881, "line": 248, "end_line": 248, "column": 40,
        "text": "    pub(crate) fn lines(&self, line_term: u8) -> LineIter<'_> {", "test": false
    });
    json!({
        "files": [{"file": FILE, "spans": [{
            "line": 10, "end_line": 20, "text": "#[derive(Debug)]\npub struct LineIter<'b> {\n", "symbol": symbol,
            "rank": 1.0, "why": ["named"]
        }]}],
        "signatures": [ranked], "paths": [{"from": symbol, "to": symbol, "via": [call]}],
        "used_by": [{
            "symbol": "grep_searcher::lines::LineIter", "by": "grep_printer::util::Sunk::lines",
            "file": "crates/printer/src/util.rs", "line": 248, "count": 4
        }],
        "tests": [], "omitted": [], "total": 120, "next_cursor": "m1-1", "meta": meta(9.2)
    })
}

fn diagnostic() -> Value {
    json!({
        "file": "crates/printer/src/util.rs", "start": 7900, "end": 7915, "line": 249, "end_line": 249, "column": 9,
        "severity": "error", "code": "E0061", "message": "expected 3 arguments, found 2",
        "source": "rust-analyzer", "symbol": "grep_printer::util::Sunk::lines", "confirmed": null
    })
}

fn counts(error: usize) -> Value {
    json!({"error": error, "warning": 0, "info": 0, "hint": 0})
}

pub(crate) fn diagnostics() -> Value {
    json!({
        "items": [diagnostic()], "counts": counts(1), "total": 1, "next_cursor": null, "meta": meta(41.0)
    })
}

pub(crate) fn baseline() -> Value {
    json!({"baseline": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC", "files": 100, "counts": counts(0), "meta": meta(412.0)})
}

pub(crate) fn regressions() -> Value {
    json!({
        "has_regression": true, "has_improvement": false, "new_errors": 1, "fixed_errors": 0, "new_warnings": 0,
        "fixed_warnings": 0, "new": [diagnostic()], "fixed": [], "summary": "Regression detected: 1 new error",
        "baseline": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC", "next_cursor": null, "meta": meta(398.0)
    })
}

pub(crate) fn gate() -> Value {
    json!({
        "block": true, "exit_code": 2, "reasons": ["1 error, 0 allowed"], "notices": [], "counts": counts(1),
        "meta": meta(401.0)
    })
}

pub(crate) fn stats() -> Value {
    json!({
        "session": "5d3c9a70-71c4-4f4c-9f4c-0a3b1a5e7c11", "since": "2026-01-02T03:04:05.678Z", "edits": 2,
        "counts": counts(1),
        "files": [{
            "file": "crates/printer/src/util.rs", "errors": 1, "warnings": 0,
            "history": [{"revision": 16, "errors": 0, "warnings": 0}, {"revision": 17, "errors": 1, "warnings": 0}]
        }],
        "next_cursor": null, "meta": meta(0.1)
    })
}

/// The impact of an additional parameter, for `impact` and for a change.
fn impact_of_a_parameter() -> Value {
    json!({
        "changed": [{
            "symbol": "grep_searcher::lines::LineIter::new", "kind": "signature",
            "before": "pub fn new(line_term: u8, bytes: &'b [u8]) -> LineIter<'b>",
            "after": "pub fn new(line_term: u8, bytes: &'b [u8], limit: usize) -> LineIter<'b>"
        }],
        "broken": [{
            "file": "crates/printer/src/util.rs", "start": 7900, "end": 7915, "line": 249, "end_line": 249,
            "column": 9, "text": "        LineIter::new(line_term, self.bytes)", "code": "E0061",
            "reason": "expected 3 arguments, found 2", "symbol": "grep_printer::util::Sunk::lines",
            "cause": "grep_searcher::lines::LineIter::new", "test": false
        }],
        "affected": [],
        "tests": [{
            "file": FILE, "start": 9342, "end": 9355, "line": 313, "end_line": 313, "column": 25,
            "text": "        let found = LineIter::new(b'\\n', text);", "symbol": "grep_searcher::lines::tests::line_iter",
            "cause": "grep_searcher::lines::LineIter::new", "test": true, "distance": 1
        }],
        "unchecked": [{"code": "borrow_checker", "detail": "the borrow checker does not run: `cargo check` does"}]
    })
}

pub(crate) fn change() -> Value {
    json!({
        "change": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC", "applied": true,
        "files": [{
            "file": FILE, "hash": "9c1185a5c5e9fc54612808977ee8f548b2258d31aa2f3c1f3c0f0b3f5f0f3a4e", "old_hash": HASH,
            "created": false,
            "diff": "--- a/crates/searcher/src/lines.rs\n+++ b/crates/searcher/src/lines.rs\n@@ -25,1 +25,1 @@\n-    pub fn new(line_term: u8, bytes: &'b [u8])\n+    pub fn new(line_term: u8, bytes: &'b [u8], limit: usize)\n"
        }],
        "edits": [{
            "strategy": "exact", "score": 100.0, "file": FILE, "start": 655, "end": 711, "line": 25, "end_line": 25,
            "column": 5
        }],
        "validation": [], "diagnostics": {"new": [], "fixed": []}, "impact": impact_of_a_parameter(),
        "next_cursor": null, "meta": meta(152.0)
    })
}

pub(crate) fn impact() -> Value {
    json!({"impact": impact_of_a_parameter(), "next_cursor": null, "meta": meta(88.0)})
}

pub(crate) fn verified() -> Value {
    let command = json!(["cargo", "test", "-p", "grep-searcher", "--locked", "--no-fail-fast"]);
    json!({
        "kind": "test", "ok": false, "timed_out": false, "command": command, "exit_code": 101, "duration_ms": 8214.3,
        "runs": [{
            "language": "rust", "directory": "", "command": command, "exit_code": 101, "duration_ms": 7311.8
        }],
        "diagnostics": [],
        "tests": {
            "passed": 94, "failed": 1, "skipped": 0,
            "failures": [{
                "name": "lines::tests::line_iter", "package": "grep_searcher", "file": FILE, "line": 311,
                "message": "assertion `left == right` failed\n  left: 2\n right: 3",
                "output": "thread 'lines::tests::line_iter' (41) panicked at crates/searcher/src/lines.rs:311:9:\nassertion `left == right` failed",
                "symbol": "grep_searcher::lines::tests::line_iter"
            }]
        },
        "output": "test result: FAILED. 94 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        "next_cursor": null, "meta": meta(8301.0)
    })
}

pub(crate) fn changes() -> Value {
    json!({
        "changes": [{
            "change": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC", "at": "2026-01-02T03:04:05.678Z", "revision": 18, "cause": "edit",
            "client": "agent/1.0", "undoes": null, "undone_by": null,
            "files": [{
                "file": FILE, "hash": "9c1185a5c5e9fc54612808977ee8f548b2258d31aa2f3c1f3c0f0b3f5f0f3a4e",
                "old_hash": HASH
            }],
            "impact": {"changed": 1, "broken": 2, "affected": 0, "tests": 1, "complete": true}
        }],
        "total": 1, "next_cursor": null, "meta": meta(0.9)
    })
}

pub(crate) fn git() -> Value {
    json!({
        "branch": "main", "head": "9d0f1c7be2a44b0f7c3d1e5a6b8c9d0e1f2a3b4c",
        "dirty": [
            {"file": FILE, "status": "modified", "staged": false, "unstaged": true},
            {"file": "notes.txt", "status": "untracked", "staged": false, "unstaged": true}
        ],
        "total": 2, "next_cursor": null, "meta": meta(9.2)
    })
}

pub(crate) fn commit() -> Value {
    json!({
        "commit": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "files": [FILE],
        "message": "feat: change the signature of new in lines.rs\n\nWhat changed:\n- signature of `new` in crates/searcher/src/lines.rs\n",
        "branch": "main", "next_cursor": null, "meta": meta(61.0)
    })
}

pub(crate) fn status() -> Value {
    json!({
        "version": "0.1.0", "pid": 4711, "memory_bytes": 902_000_000,
        "workspaces": [{
            "id": "ripgrep", "root": "/src/ripgrep", "languages": ["rust"], "state": "indexing", "revision": 17,
            "progress": {"stage": "indexing", "done": 12, "total": 40},
            "engines": [{"name": "rust-analyzer", "version": "0.0.348", "language": "rust", "state": "indexing", "restarts": 0}],
            "trusted": true, "missing": []
        }],
        "slow_questions": [{
            "call": "usages", "at": "2026-01-02T03:04:05.678Z", "request_id": "5f3a9c01-2f", "elapsed_ms": 1312.4,
            "reading_ms": 0.1, "queue_ms": 0.2, "barrier_ms": 1.1, "index_ms": 1204.0, "engine_ms": 104.9,
            "computing_ms": 1.3, "rendering_ms": 0.8
        }],
        "meta": meta(0.2)
    })
}

pub(crate) fn calls() -> Value {
    let mut call = usage();
    for absent in ["symbol", "role"] {
        call.as_object_mut().map(|it| it.remove(absent));
    }
    json!({
        "symbol": line_iter(false), "total": 1, "items": [{"symbol": line_iter(false), "calls": [call]}],
        "next_cursor": null, "meta": meta(1.2)
    })
}

pub(crate) fn run_started() -> Value {
    json!({"run": "01JD8M4T1Q8Z3N5B6V7C9X0DEF", "meta": meta(3.0)})
}

pub(crate) fn run() -> Value {
    json!({
        "run": "01JD8M4T1Q8Z3N5B6V7C9X0DEF", "state": "succeeded", "step": null, "reason": null,
        "model": "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "attempts": [{
            "edits": [{
                "file": FILE, "reply_line": 3,
                "landed": {
                    "strategy": "exact", "score": 100.0, "file": FILE, "start": 655, "end": 711, "line": 25, "end_line": 25,
                    "column": 5
                }
            }],
            "change": "01JD8M5A2W3E4R5T6Y7U8I9GHJ", "refused": null, "diagnostics": [],
            "verify": [
                {"kind": "check", "ok": true, "duration_ms": 2110.4, "errors": 0, "failed_tests": []},
                {"kind": "test", "ok": true, "duration_ms": 6310.9, "errors": 0, "failed_tests": []}
            ],
            "diff": "--- a/crates/searcher/src/lines.rs\n+++ b/crates/searcher/src/lines.rs\n@@ -25,1 +25,1 @@\n-    pub fn new(line_term: u8)\n+    pub fn new(line_term: u8, limit: usize)\n",
            "prompt_tokens": 10412, "took": {"model_ms": 8122.0, "edit_ms": 96.1, "verify_ms": 8421.3}
        }],
        "files": [FILE], "changes": ["01JD8M5A2W3E4R5T6Y7U8I9GHJ"], "errors": [],
        "usage": {"input_tokens": 11873, "output_tokens": 412}, "retries": 0,
        "commit": "9d1f0b6f7a5c4e3d2c1b0a9f8e7d6c5b4a392817", "next_cursor": null, "meta": meta(0.4)
    })
}
pub(crate) fn implementations() -> Value {
    let matcher = "crates/matcher/src/lib.rs";
    json!({
        "symbol": {
            "path": "grep_matcher::Matcher", "kind": "trait", "name": "Matcher", "signature": "pub trait Matcher { … }",
            "package": "grep_matcher", "file": matcher, "start": 17208, "end": 38211, "line": 528, "end_line": 1087,
            "column": 1, "name_at": {"start": 17893, "end": 17900, "line": 546},
            "docs": "A matcher defines an interface for regular expression implementations.",
            "external": false, "public": true, "test": false, "usages": {"total": 96, "files": 21}
        },
        "total": 1,
        "items": [{
            "path": "<grep_regex::matcher::RegexMatcher as grep_matcher::Matcher>", "kind": "impl",
            "name": "RegexMatcher", "signature": "impl Matcher for RegexMatcher", "package": "grep_regex",
            "file": "crates/regex/src/matcher.rs", "start": 15120, "end": 19904, "line": 421, "end_line": 553,
            "column": 1, "name_at": {"start": 15137, "end": 15149, "line": 423},
            "external": false, "public": true, "test": false
        }],
        "next_cursor": null, "meta": meta(2.7)
    })
}

/// A symbol of a dependency: its place on the machine of the server, and its package.
pub(crate) fn symbol_at() -> Value {
    let origin = json!({"package": "memchr", "version": "2.8.3", "root": "/registry/src/memchr-2.8.3"});
    let file = "/registry/src/memchr-2.8.3/src/memchr.rs";
    json!({
        "symbol": {
            "path": "memchr::memchr", "kind": "function", "name": "memchr",
            "signature": "pub fn memchr(needle: u8, haystack: &[u8]) -> Option<usize>", "package": "memchr",
            "file": file, "start": 1034, "end": 1688, "line": 27, "end_line": 46, "column": 1,
            "name_at": {"start": 1621, "end": 1627, "line": 44},
            "docs": "Search for the first occurrence of a byte in a slice.",
            "external": true, "origin": origin, "public": true, "test": false
        },
        "type": "fn memchr(u8, &[u8]) -> Option<usize>",
        "hover": "```rust\npub fn memchr(needle: u8, haystack: &[u8]) -> Option<usize>\n```",
        "definition": {"file": file, "start": 1621, "end": 1627, "line": 44, "end_line": 44, "column": 8},
        "origin": origin,
        "at": {"file": FILE, "start": 120, "end": 126, "line": 6, "end_line": 6, "column": 13},
        "next_cursor": null, "meta": meta(1.4)
    })
}

pub(crate) fn described_package() -> Value {
    json!({
        "kind": "package",
        "package": {
            "name": "grep_searcher", "version": "0.1.14", "docs": "This crate provides line oriented search.",
            "root": "crates/searcher/src", "files": [FILE], "symbols": [line_iter(true)], "external": false
        },
        "next_cursor": "c3-0.0.2", "meta": meta(5.0)
    })
}

pub(crate) fn described_file() -> Value {
    json!({
        "kind": "file",
        "file": {"file": "build.rs", "language": "rust", "content": "fn main() {}\n", "hash": HASH, "lines": 1},
        "next_cursor": null, "meta": meta(0.4)
    })
}

fn overlay_state() -> Value {
    json!({"file": FILE, "hash": HASH, "edits": "refuse", "ends_at": "2026-01-02T04:04:05.678Z"})
}

pub(crate) fn overlay() -> Value {
    let mut overlay = overlay_state();
    overlay["old_hash"] = "9c1185a5c5e9fc54612808977ee8f548b2258d31aa2f3c1f3c0f0b3f5f0f3a4e".into();
    overlay["meta"] = meta(1.0);
    overlay
}

pub(crate) fn overlays() -> Value {
    json!({"overlays": [overlay_state()], "total": 1, "next_cursor": null, "meta": meta(0.1)})
}

fn workspace_status() -> Value {
    json!({
        "id": "ripgrep", "root": "/src/ripgrep", "languages": ["rust"], "state": "ready", "revision": 17,
        "engines": [{"name": "rust-analyzer", "version": "0.0.348", "language": "rust", "state": "ready", "restarts": 0}],
        "trusted": true, "missing": []
    })
}

pub(crate) fn workspace() -> Value {
    json!({"workspace": workspace_status(), "meta": meta(0.3)})
}

pub(crate) fn workspaces() -> Value {
    json!({"workspaces": [workspace_status()], "meta": meta(0.1)})
}

pub(crate) fn health() -> Value {
    json!({"status": "ok", "version": "0.1.0"})
}
