//! Runs whose edits are verified by the compiler and the tests, and committed.

use std::process::Command;

use serde_json::{Value, json};

use super::bedrock::{Bedrock, Says, USAGE};
use super::{as_before, block, carried_out, right, wrong};
use crate::support::{Home, RUST, run};

/// One that compiles, and fails its test.
fn untested() -> Says {
    Says::text(block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    format!(\"Hello, dear {name}!\")"))
}

#[test]
fn what_is_right_at_once_is_verified_and_stays() {
    let bedrock = Bedrock::new(vec![right()]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet everyone as dear.", "model": "some.model-v1:0"}));
    assert_eq!(
        (&run["state"], &run["retries"], &run["reason"]),
        (&json!("succeeded"), &json!(0), &Value::Null),
        "{run}"
    );
    assert_eq!(run["files"], json!(["src/lib.rs", "src/shout.rs"]), "{run}");
    assert_eq!((&run["errors"], &run["model"]), (&json!([]), &json!("some.model-v1:0")), "{run}");
    assert_eq!(run["usage"], json!({"input_tokens": USAGE.0, "output_tokens": USAGE.1}));
    let attempt = &run["attempts"][0];
    assert_eq!(attempt["edits"][0]["landed"]["strategy"], "exact", "{run}");
    let verified: Vec<_> = attempt["verify"].as_array().unwrap().iter().map(|it| (&it["kind"], &it["ok"])).collect();
    assert_eq!(verified, [(&json!("check"), &json!(true)), (&json!("test"), &json!(true))], "{run}");
    assert!(server.home.read("src/lib.rs").contains("Hello, dear {name}!"));
    // The journal knows it, and it can be taken back.
    let change = attempt["change"].as_str().unwrap();
    let (_, journal) = server.get("/v1/changes");
    let made = &journal["changes"][0];
    assert_eq!(
        (&made["change"], &made["client"]),
        (&json!(change), &json!(format!("run {}", run["run"].as_str().unwrap())))
    );
    assert_eq!(server.post("/v1/undo", &json!({"change": change})).0, 200);
    as_before(&server);
    let prompts = bedrock.prompts();
    assert_eq!(prompts.len(), 1);
    for wanted in ["Greet everyone as dear.", "## `src/lib.rs`", "pub fn greet(name: &str) -> String {"] {
        assert!(prompts[0].contains(wanted), "{wanted} in {}", prompts[0]);
    }
    let rules = bedrock.requests()[0]["system"][0]["text"].as_str().unwrap().to_owned();
    assert!(rules.contains("<<<<<<< SEARCH"), "{rules}");
    // As Markdown.
    let text = server.markdown(&format!("/v1/runs/{}", run["run"].as_str().unwrap()), None).text;
    assert!(text.contains("succeeded") && text.contains("## Reply 1") && text.contains("src/lib.rs:"), "{text}");
}

#[test]
fn what_fails_is_mended_with_the_errors_in_hand() {
    let mended = block(
        "src/shout.rs",
        "        assert_eq!(super::shout(\"you\"), \"HELLO, YOU!\");",
        "        assert_eq!(super::shout(\"you\"), \"HELLO, DEAR YOU!\");",
    );
    let bedrock = Bedrock::new(vec![
        wrong(),
        Says::text(block("src/lib.rs", "    name.no_such_method()", "    format!(\"Hello, dear {name}!\")")),
        Says::text(mended),
    ]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet everyone as dear."}));
    assert_eq!((&run["state"], &run["retries"]), (&json!("succeeded"), &json!(2)), "{run}");
    assert_eq!(run["usage"]["input_tokens"], 3 * USAGE.0);
    let prompts = bedrock.prompts();
    for prompt in &prompts {
        assert!(prompt.contains("Greet everyone as dear."), "{prompt}");
    }
    // The error, and the file as it is now with its numbers.
    assert!(prompts[1].contains("no_such_method") && prompts[1].contains("`src/lib.rs:7`"), "{}", prompts[1]);
    assert!(prompts[1].contains("\n 7|     name.no_such_method()\n"), "{}", prompts[1]);
    // The test that fails, and what it said.
    assert!(prompts[2].contains("it_is_loud") && prompts[2].contains("HELLO, DEAR YOU!"), "{}", prompts[2]);
    assert!(
        prompts[2].contains("\n12|         assert_eq!(super::shout(\"you\"), \"HELLO, YOU!\");\n"),
        "{}",
        prompts[2]
    );
    assert_eq!(run["attempts"][1]["verify"][1]["failed_tests"].as_array().unwrap().len(), 1, "{run}");
}

#[test]
fn what_is_never_right_is_taken_back() {
    let new = "src/deep/er/new.rs\n```rust\npub fn made() {}\n```\n";
    let bedrock = Bedrock::new(vec![
        Says::text(format!(
            "{new}\n{}",
            block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    format!(\"Hi, {name}!\")")
        )),
        Says::text("I see nothing wrong.\n"),
    ]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet.", "max_retries": 1}));
    assert_eq!((&run["state"], &run["files"], &run["changes"]), (&json!("failed"), &json!([]), &json!([])), "{run}");
    assert_eq!(run["attempts"].as_array().unwrap().len(), 2);
    assert!(run["reason"].as_str().unwrap().contains("after 2 replies"), "{run}");
    assert!(!run["errors"].as_array().unwrap().is_empty(), "{run}");
    as_before(&server);
    assert!(!server.home.root().join("src/deep").exists());
    assert_eq!(bedrock.requests().len(), 2);

    // Or it stays if the request says so, and can be taken back.
    let bedrock = Bedrock::new(vec![untested()]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet.", "max_retries": 0, "keep": true}));
    assert_eq!((&run["state"], &run["files"]), (&json!("failed"), &json!(["src/lib.rs"])), "{run}");
    assert!(server.home.read("src/lib.rs").contains("dear"));
    let change = run["changes"][0].as_str().unwrap();
    assert_eq!(server.post("/v1/undo", &json!({"change": change})).0, 200);
    as_before(&server);
}

#[test]
fn success_is_committed() {
    let git = |home: &Home, arguments: &[&str]| {
        let ended = run(Command::new("git").args(arguments).current_dir(home.root()));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.errors);
        ended.output
    };
    let home = Home::with(RUST);
    home.write(".gitignore", "/target\nCargo.lock\n");
    git(&home, &["init", "--quiet", "-b", "main"]);
    git(&home, &["config", "user.name", "A Tester"]);
    git(&home, &["config", "user.email", "tester@example.org"]);
    git(&home, &["add", "."]);
    git(&home, &["commit", "--quiet", "-m", "Begin"]);
    let bedrock = Bedrock::new(vec![right(), wrong()]);
    let server = bedrock.serve(home, &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet everyone as dear.", "commit": true}));
    assert_eq!(run["state"], "succeeded", "{run}");
    let commit = run["commit"].as_str().unwrap();
    assert_eq!(git(&server.home, &["rev-parse", "HEAD"]).trim(), commit);
    let files = git(&server.home, &["show", "--name-only", "--format=", "HEAD"]);
    assert_eq!(files.trim(), "src/lib.rs\nsrc/shout.rs");
    assert_eq!(git(&server.home, &["status", "--porcelain"]), "");
    // What fails is not.
    let run = carried_out(&server, &json!({"prompt": "Greet.", "commit": true, "max_retries": 0}));
    assert_eq!((&run["state"], &run["commit"]), (&json!("failed"), &Value::Null), "{run}");
    assert_eq!(git(&server.home, &["rev-parse", "HEAD"]).trim(), commit);
    assert_eq!(git(&server.home, &["status", "--porcelain"]), "");
}
