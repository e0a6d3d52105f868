//! Markdown holds what JSON holds, made to be read.

use serde_json::json;

use crate::support::{RUST, Server, breaking_edit};

#[test]
fn the_verbs_answer_in_markdown() {
    let server = Server::on(RUST);
    server.wait_ready();
    let check = |path: &str, body: Option<serde_json::Value>, wanted: &[&str]| {
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
