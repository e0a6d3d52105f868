//! No errors are reported for code that the compiler accepts.

use serde_json::{Value, json};

use crate::support::Server;

const MANIFEST: &str =
    "[package]\nname = \"well\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nextra = []\n";

fn diagnostics(server: &Server, query: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/diagnostics{query}"));
    assert_eq!(status, 200, "{reply}");
    reply
}

#[test]
fn what_is_switched_off_is_counted_and_not_listed() {
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#[cfg(windows)]\nmod gone;\n\n#[cfg(target_os = \"macos\")]\npub fn extra() -> u8 {\n    nowhere()\n}\n\npub fn plain(it: u8) -> u8 {\n    \
             #[cfg(windows)]\n    let it = other(it);\n    if cfg!(windows) { 0 } else { it }\n}\n",
        ),
    ]);
    server.wait_ready();
    for query in ["", "?file=src/lib.rs"] {
        let reply = diagnostics(&server, query);
        assert_eq!((&reply["items"], &reply["total"]), (&json!([]), &json!(0)), "{reply}");
        assert_eq!((&reply["counts"]["error"], &reply["counts"]["warning"]), (&json!(0), &json!(0)), "{reply}");
        assert!(reply["counts"]["hint"].as_u64().unwrap() > 0, "{reply}");
        let hints =
            diagnostics(&server, if query.is_empty() { "?severity=hint" } else { "?file=src/lib.rs&severity=hint" });
        assert!(hints["items"].as_array().unwrap().iter().any(|it| it["severity"] == "hint"), "{hints}");
    }
}
