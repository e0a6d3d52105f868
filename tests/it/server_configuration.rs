//! Configuration files of language servers: `pyproject.toml`, `tsconfig.json`. The impact of a change of one is not
//! computed before it is made, and the answer says so.

use serde_json::{Value, json};

use crate::language_servers::serve;
use crate::support::Server;

fn edit(server: &Server, file: &str, from: &str, to: &str) -> Value {
    let edit = json!({"file": file, "search_context": from, "replacement": to, "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    reply
}

/// What is said to be unchecked of a file.
fn unchecked(reply: &Value, file: &str) -> Vec<String> {
    let unchecked = reply["impact"]["unchecked"].as_array().unwrap();
    let details = unchecked.iter().map(|it| it["detail"].as_str().unwrap().to_owned());
    details.filter(|it| it.starts_with(&format!("`{file}` "))).collect()
}

#[test]
fn a_change_of_what_configures_a_server_is_not_judged() {
    let server = serve(&[
        ("py/pyproject.toml", "[tool.basedpyright]\nreportArgumentType = false\n"),
        ("py/pyrightconfig.json", "{\"reportCallIssue\": false}\n"),
        ("py/a.py", "def f(n: int) -> int:\n    return n\n\n\nf(\"a\")\n"),
        ("c/compile_flags.txt", "-DSIZE=1\n"),
        ("c/.clangd", "CompileFlags:\n  Add: [-DOTHER=1]\n"),
        ("c/a.c", "int size(void) { return SIZE; }\n"),
        ("web/tsconfig.json", "{\"compilerOptions\": {\"strict\": false}}\n"),
        ("web/a.ts", "export function f(n) {\n  return n;\n}\n"),
        ("notes.txt", "strict: false\n"),
        // There is no code of its language.
        ("composer.json", "{\"name\": \"a\"}\n"),
    ]);
    server.wait_ready();
    for (file, from, to, reader) in [
        ("py/pyproject.toml", "reportArgumentType = false", "reportArgumentType = true", "basedpyright"),
        ("py/pyrightconfig.json", "\"reportCallIssue\": false", "\"reportCallIssue\": true", "basedpyright"),
        ("c/compile_flags.txt", "-DSIZE=1", "-DSIZES=1", "clangd"),
        ("c/.clangd", "-DOTHER=1", "-USIZE", "clangd"),
        ("web/tsconfig.json", "\"strict\": false", "\"strict\": true", "tsc"),
    ] {
        let reply = edit(&server, file, from, to);
        assert_eq!(reply["meta"]["complete"], false, "{reply}");
        let said = format!(
            "`{file}` may be read by {reader} as its configuration: what its change makes of the code is known once it was \
             made and the workspace was loaded again"
        );
        assert_eq!(unchecked(&reply, file), [said], "{reply}");
    }
    for (file, from, to) in
        [("notes.txt", "strict: false", "strict: true"), ("composer.json", "\"name\": \"a\"", "\"name\": \"b\"")]
    {
        let reply = edit(&server, file, from, to);
        assert_eq!(unchecked(&reply, file), [""; 0], "{reply}");
    }
}
