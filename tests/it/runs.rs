//! Runs: a model that follows a script writes edits, in a Bedrock that the test serves on loopback.

mod bedrock;
mod verified;

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, run};
use bedrock::{Bedrock, Says, USAGE};

/// A run waits for a compiler, on a machine that is busy.
const DEADLINE: Duration = Duration::from_secs(600);

/// SEARCH/REPLACE, as a model writes it.
fn block(file: &str, search: &str, replacement: &str) -> String {
    format!("{file}\n<<<<<<< SEARCH\n{search}\n=======\n{replacement}\n>>>>>>> REPLACE\n")
}

/// An edit that is right.
fn right() -> Says {
    let edit = block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    format!(\"Hello, dear {name}!\")");
    let test = block(
        "src/shout.rs",
        "        assert_eq!(super::shout(\"you\"), \"HELLO, YOU!\");",
        "        assert_eq!(super::shout(\"you\"), \"HELLO, DEAR YOU!\");",
    );
    Says::text(format!("I change the greeting, and its test.\n\n{edit}\nAnd the test:\n\n{test}\nThat is all.\n"))
}

/// One that does not compile.
fn wrong() -> Says {
    Says::text(block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    name.no_such_method()"))
}

/// Starts a run, and waits for its end.
#[track_caller]
fn carried_out(server: &Server, task: &Value) -> Value {
    let run = started(server, task);
    ended(server, &run)
}

#[track_caller]
fn started(server: &Server, task: &Value) -> String {
    let (status, begun) = server.post("/v1/runs", task);
    assert_eq!(status, 202, "{begun}");
    begun["run"].as_str().unwrap().to_owned()
}

#[track_caller]
fn ended(server: &Server, run: &str) -> Value {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (status, state) = server.get(&format!("/v1/runs/{run}"));
        assert_eq!(status, 200, "{state}");
        if state["state"] != "running" {
            return state;
        }
        assert!(Instant::now() < deadline, "the run did not end in time: {state}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn as_before(server: &Server) {
    for (name, text) in RUST {
        assert_eq!(server.home.read(name), *text, "{name}");
    }
}

#[test]
fn throttling_and_cut_streams_cost_nothing() {
    let half = "src/lib.rs\n<<<<<<< SEARCH\n    format!(\"Hello, {name}!\")\n=======\n    wro";
    let bedrock = Bedrock::new(vec![
        Says::Refuses(429, "ThrottlingException"),
        Says::Cut(half.to_owned()),
        Says::Refuses(503, "ServiceUnavailableException"),
        Says::Breaks(half.to_owned(), "modelStreamErrorException"),
        Says::Thinks(
            block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    unreachable!()"),
            "Nothing is to be done.\n".to_owned(),
        ),
    ]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet.", "max_retries": 0, "verify": []}));
    assert_eq!((&run["state"], &run["retries"], &run["files"]), (&json!("succeeded"), &json!(0), &json!([])), "{run}");
    assert_eq!(run["usage"], json!({"input_tokens": USAGE.0, "output_tokens": USAGE.1}), "{run}");
    assert_eq!(bedrock.requests().len(), 5);
    as_before(&server);
}

#[test]
fn whoever_is_not_let_in_is_told_so() {
    let bedrock = Bedrock::new(vec![Says::Refuses(403, "UnrecognizedClientException")]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet.", "verify": []}));
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("UnrecognizedClientException"), "{run}");
    assert_eq!((run["attempts"].as_array().unwrap().len(), bedrock.requests().len()), (0, 1));

    // Without a region, and without credentials.
    let none = Path::new("/nonexistent");
    let without = [
        ("AWS_CONFIG_FILE", none),
        ("AWS_SHARED_CREDENTIALS_FILE", none),
        ("AWS_EC2_METADATA_DISABLED", Path::new("true")),
        ("AWS_ENDPOINT_URL", Path::new("http://127.0.0.1:9")),
    ];
    let server = Home::with(RUST).serve_with(&["--trust"], &without);
    let (status, refused) = server.post("/v1/runs", &json!({"prompt": "Greet."}));
    assert_eq!((status, &refused["code"]), (424, &json!("model_unavailable")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("AWS_REGION"), "{refused}");
    let region = [without.as_slice(), &[("AWS_REGION", Path::new("eu-west-1"))]].concat();
    let server = Home::with(RUST).serve_with(&["--trust"], &region);
    let run = carried_out(&server, &json!({"prompt": "Greet."}));
    assert!(run["reason"].as_str().unwrap().contains("no AWS credentials"), "{run}");
    // Nobody there.
    let keys = [("AWS_ACCESS_KEY_ID", Path::new("a")), ("AWS_SECRET_ACCESS_KEY", Path::new("b"))];
    let server = Home::with(RUST).serve_with(&["--trust"], &[region.as_slice(), &keys].concat());
    let run = carried_out(&server, &json!({"prompt": "Greet."}));
    assert!(run["reason"].as_str().unwrap().contains("cannot be reached"), "{run}");
}

#[test]
fn what_may_not_run_is_refused_at_once() {
    let bedrock = Bedrock::new(vec![Says::text("Nothing.\n")]);
    let server = bedrock.serve(Home::with(RUST), &["--no-trust"]);
    let refused = |task: Value, status: u16, code: &str| {
        let (got, reply) = server.post("/v1/runs", &task);
        assert_eq!((got, &reply["code"]), (status, &json!(code)), "{task}: {reply}");
    };
    refused(json!({"prompt": "Greet."}), 403, "untrusted");
    refused(json!({"prompt": "Greet.", "verify": ["lint"]}), 403, "untrusted");
    refused(json!({"prompt": ""}), 400, "invalid_request");
    refused(json!({"prompt": "Greet.", "verify": ["chek"]}), 400, "invalid_request");
    refused(json!({"prompt": "Greet.", "verify": [], "files": ["src/gone.rs"]}), 404, "unknown_file");
    refused(json!({"prompt": "Greet.", "verify": [], "files": ["../log"]}), 400, "outside_workspace");
    let (status, unknown) = server.get("/v1/runs/01JD8M4T1Q8Z3N5B6V7C9X0DEF");
    assert_eq!((status, &unknown["code"]), (404, &json!("unknown_run")), "{unknown}");
    assert!(bedrock.requests().is_empty());
    let run = carried_out(&server, &json!({"prompt": "Greet.", "verify": []}));
    assert_eq!(run["state"], "succeeded", "{run}");
}

#[test]
fn an_edit_that_misses_goes_back_with_what_stands_there() {
    let missed = block("src/lib.rs", "    format!(\"Good day to you, {name}!\", name = name)", "    String::new()");
    let also = block("src/shout.rs", "fn no_such_line_in_any_file()", "x");
    let bedrock = Bedrock::new(vec![Says::text(format!("{missed}\n{also}")), right()]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet everyone as dear.", "verify": []}));
    assert_eq!((&run["state"], &run["retries"]), (&json!("succeeded"), &json!(1)), "{run}");
    let first = &run["attempts"][0];
    assert!(first["refused"].as_str().unwrap().contains("src/lib.rs") && first["change"].is_null(), "{run}");
    let prompt = &bedrock.prompts()[1];
    for wanted in [
        "Greet everyone as dear.",
        "Good day to you, {name}!",
        "the text is not in `src/lib.rs`",
        "\n 7|     format!(\"Hello, {name}!\")\n",
        "fn no_such_line_in_any_file()",
    ] {
        assert!(prompt.contains(wanted), "{wanted} in {prompt}");
    }
}

#[test]
fn replies_that_are_no_edit_go_back() {
    let elided =
        block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    // ... existing code ...\n    String::new()");
    let bedrock = Bedrock::new(vec![
        Says::text(elided),
        Says::text("src/lib.rs\n<<<<<<< SEARCH\n    format!(\"Hello, {name}!\")\n=======\n    String::new()\n"),
        Says::Stopped(block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    String::new()"), "max_tokens"),
        Says::text(block(".env", "A=1", "A=2")),
        right(),
    ]);
    let home = Home::with(RUST);
    home.write(".env", "A=1\n");
    let server = bedrock.serve(home, &["--trust"]);
    let run = carried_out(&server, &json!({"prompt": "Greet.", "verify": [], "max_retries": 4}));
    assert_eq!((&run["state"], &run["retries"]), (&json!("succeeded"), &json!(4)), "{run}");
    let refused: Vec<&str> =
        run["attempts"].as_array().unwrap().iter().map(|it| it["refused"].as_str().unwrap_or_default()).collect();
    for (refused, wanted) in refused.iter().zip(["existing code", "REPLACE", "did not end", "holds secrets", ""]) {
        assert!(refused.contains(wanted), "{wanted} in {refused}");
    }
    assert_eq!(
        run["changes"].as_array().unwrap().len(),
        1,
        "one reply is one change, and of the others nothing was applied"
    );
    assert_eq!(server.home.read(".env"), "A=1\n");
    let prompts = bedrock.prompts();
    assert!(prompts[1].contains("existing code") && prompts[2].contains("could not be read"), "{}", prompts[1]);
    assert!(prompts[3].contains("did not end") && prompts.iter().all(|it| !it.contains("A=1")), "{}", prompts[3]);
}

#[test]
fn a_run_that_is_cancelled_gives_its_files_back() {
    let bedrock = Bedrock::new(vec![wrong(), Says::Hangs, Says::Hangs]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let run = started(&server, &json!({"prompt": "Greet."}));
    server.wait_for(|_| bedrock.requests().len() == 2);
    assert!(server.home.read("src/lib.rs").contains("no_such_method"));
    // One at a time.
    let (status, busy) = server.post("/v1/runs", &json!({"prompt": "Greet."}));
    assert_eq!((status, &busy["code"]), (429, &json!("busy")), "{busy}");
    // Concurrent edits of another program remain: in another file, and next to the edit.
    server.home.write("src/other.rs", "// Mine.\n");
    let text = server.home.read("src/lib.rs");
    server.home.write("src/lib.rs", &text.replace("//! Greetings.", "//! Greetings, mine."));
    let began = Instant::now();
    let cancelled = server.send(server.request("DELETE", &format!("/v1/runs/{run}"))).json();
    assert_eq!((&cancelled["state"], &cancelled["files"]), (&json!("cancelled"), &json!([])), "{cancelled}");
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(server.home.read("src/lib.rs"), RUST[1].1.replace("//! Greetings.", "//! Greetings, mine."));
    assert_eq!(server.home.read("src/other.rs"), "// Mine.\n");
    // It stays as it is.
    let again = server.send(server.request("DELETE", &format!("/v1/runs/{run}")));
    assert_eq!((again.status, &again.json()["state"]), (200, &json!("cancelled")));
}

#[test]
fn where_others_wrote_over_an_edit_the_file_stays() {
    let both = format!(
        "{}\nsrc/new.rs\n```rust\n// New.\n```\n",
        block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    name.no_such_method()")
    );
    let bedrock = Bedrock::new(vec![Says::text(both), Says::Hangs]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let run = started(&server, &json!({"prompt": "Greet."}));
    server.wait_for(|_| bedrock.requests().len() == 2);
    let mine = server.home.read("src/lib.rs").replace("no_such_method", "mine");
    server.home.write("src/lib.rs", &mine);
    let cancelled = server.send(server.request("DELETE", &format!("/v1/runs/{run}"))).json();
    assert_eq!(
        (&cancelled["state"], &cancelled["files"]),
        (&json!("cancelled"), &json!(["src/lib.rs"])),
        "{cancelled}"
    );
    assert_eq!(server.home.read("src/lib.rs"), mine);
    assert!(!server.home.root().join("src/new.rs").exists());
}

#[test]
fn a_server_that_ends_gives_the_files_back() {
    let bedrock = Bedrock::new(vec![wrong(), Says::Hangs]);
    let mut server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    started(&server, &json!({"prompt": "Greet."}));
    server.wait_for(|_| bedrock.requests().len() == 2);
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    as_before(&server);
}

#[test]
fn a_dry_run_shows_its_edits_and_writes_nothing() {
    let bedrock = Bedrock::new(vec![right(), wrong()]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let run = carried_out(&server, &json!({"prompt": "Greet.", "dry_run": true}));
    assert_eq!((&run["state"], &run["files"], &run["changes"]), (&json!("succeeded"), &json!([]), &json!([])), "{run}");
    let attempt = &run["attempts"][0];
    assert_eq!((attempt["edits"].as_array().unwrap().len(), &attempt["change"]), (2, &Value::Null), "{run}");
    assert!(attempt["diff"].as_str().unwrap().contains("+    format!(\"Hello, dear {name}!\")"), "{run}");
    let run = carried_out(&server, &json!({"prompt": "Greet.", "dry_run": true}));
    assert_eq!((&run["state"], run["errors"].as_array().unwrap().is_empty()), (&json!("failed"), false), "{run}");
    assert_eq!(server.get("/v1/changes").1["total"], 0);
    as_before(&server);
}

#[test]
fn no_request_holds_a_secret() {
    let home = Home::with(RUST);
    let secrets = [
        (".env", "DATABASE=canary-env\n"),
        ("deploy/.env.production", "X=canary-production\n"),
        ("certs/server.pem", "canary-pem\n"),
        ("id_rsa", "canary-rsa\n"),
        (".gitignore", "ignored.rs\n/target\n"),
        ("src/ignored.rs", "// canary-ignored greet\n"),
        ("config.toml", "api_key = \"canary-0123456789\"\nname = \"greeter\"\n"),
        ("src/keys.rs", "// greet\npub const AWS: &str = \"AKIAIOSFODNN7CANARYX\";\npub fn signed() {}\n"),
        ("notes.md", "-----BEGIN PRIVATE KEY-----\ncanary-armour\n-----END PRIVATE KEY-----\ngreet\n"),
    ];
    for (name, text) in secrets {
        home.write(name, text);
    }
    let miss = block("src/keys.rs", "pub const AWS: &str = \"something else that stands nowhere\";", "");
    let bedrock = Bedrock::new(vec![Says::text(miss), Says::text("Nothing.\n")]);
    let server = bedrock.serve(home, &["--trust"]);
    let files = [".env", "id_rsa", "src/ignored.rs", "src/keys.rs", "config.toml", "notes.md"];
    let run = carried_out(
        &server,
        &json!({"prompt": "Look at .env and certs/server.pem, and greet.", "files": files, "verify": []}),
    );
    assert_eq!(run["state"], "succeeded", "{run}");
    let requests = bedrock.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        let body = request.to_string();
        assert!(body.contains("pub fn signed() {}") && body.contains("name = \\\"greeter\\\""), "{body}");
        for canary in ["canary", "CANARY"] {
            assert!(!body.contains(canary), "{body}");
        }
    }
}

#[test]
fn prompts_keep_to_their_size() {
    let tokens = |request: &Value| request.to_string().len().div_ceil(4);
    let line =
        |at: usize| format!("/// Says \"{at}\", and greets.\npub fn function_{at}() -> usize {{\n    {at}\n}}\n\n");
    let code = |lines: usize| (0..lines).map(line).collect::<String>();
    let ask = |home: Home, task: &Value, script: Vec<Says>| {
        let bedrock = Bedrock::new(script);
        let server = bedrock.serve(home, &["--no-trust"]);
        let run = carried_out(&server, task);
        assert_eq!(run["state"], "succeeded", "{run}");
        let requests = bedrock.requests();
        let told = run["attempts"][0]["prompt_tokens"].as_u64().unwrap() as usize;
        assert!(told.abs_diff(tokens(&requests[0])) < 200, "{told} is told of {}", tokens(&requests[0]));
        requests.iter().map(tokens).collect::<Vec<_>>()
    };
    let nothing = || vec![Says::text("Nothing.\n")];
    // Small: all of it, and much of it.
    let home = Home::with(RUST);
    for at in 0..8 {
        home.write(&format!("src/part_{at}.rs"), &code(300));
    }
    let miss = Says::text(block("src/part_1.rs", "pub fn greet_nobody_at_all() {", "x"));
    let task = json!({"prompt": "Greet in function_7.", "verify": []});
    let sizes = ask(home, &task, vec![miss, Says::text("Nothing.\n")]);
    assert!(sizes.iter().all(|it| (6_000..=12_000).contains(it)), "{sizes:?}");
    // Large.
    let home = Home::with(RUST);
    for at in 0..200 {
        home.write(&format!("src/part_{at}.rs"), &code(300));
    }
    let named = json!({"prompt": "Greet.", "verify": [], "files": ["src/part_1.rs", "src/part_2.rs"]});
    let sizes = ask(home, &named, nothing());
    assert!(sizes.iter().all(|it| (12_000..=60_000).contains(it)), "{sizes:?}");
    // A huge file that is named, and one that no prompt holds.
    let home = Home::with(RUST);
    home.write("src/huge.rs", &code(5000));
    home.write("src/too_huge.rs", &code(9000));
    let bedrock = Bedrock::new(nothing());
    let server = bedrock.serve(home, &["--no-trust"]);
    let (status, refused) =
        server.post("/v1/runs", &json!({"prompt": "Greet.", "verify": [], "files": ["src/too_huge.rs"]}));
    assert_eq!((status, &refused["code"]), (413, &json!("too_large")), "{refused}");
    let run = carried_out(&server, &json!({"prompt": "Greet.", "verify": [], "files": ["src/huge.rs"]}));
    assert_eq!(run["state"], "succeeded", "{run}");
    let request = bedrock.requests().remove(0);
    assert!((60_000..=120_000).contains(&tokens(&request)), "{}", tokens(&request));
    assert!(request.to_string().contains("function_4999"), "all of it is there");
}

#[test]
fn a_run_on_the_command_line() {
    let bedrock = Bedrock::new(vec![right(), Says::text("Nothing.\n"), wrong(), Says::Hangs]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let semdex = |arguments: &[&str]| run(server.home.semdex().args(arguments));
    let fine = semdex(&["run", "--model", "m", "--no-verify", "Greet", "everyone"]);
    assert_eq!(fine.code, Some(0), "{}", fine.errors);
    assert!(fine.output.contains("succeeded") && fine.errors.starts_with("semdex: run 01"), "{}", fine.errors);
    assert!(bedrock.prompts()[0].contains("Greet everyone"));
    let json = semdex(&["run", "--json", "--no-verify", "Greet"]);
    let run: Value = serde_json::from_str(&json.output).unwrap();
    assert_eq!((json.code, &run["state"]), (Some(0), &json!("succeeded")), "{run}");
    let shown = semdex(&["runs", "show", run["run"].as_str().unwrap()]);
    assert!(shown.output.contains("succeeded"), "{}", shown.output);
    let failed = semdex(&["run", "--no-verify", "--max-retries", "0", "Greet"]);
    assert_eq!(failed.code, Some(1), "{}", failed.output);
    assert_eq!(semdex(&["run"]).code, Some(2));
    // Interrupted.
    let mut command = server.home.semdex();
    command.args(["run", "--no-verify", "Greet"]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    server.wait_for(|_| bedrock.requests().len() == 4);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("cancelled"), "{said}");
}

#[test]
fn what_never_fits_together_is_taken_back() {
    let both = format!(
        "{}\nsrc/deep/er/new.rs\n```rust\n// New.\n```\n",
        block("src/lib.rs", "    format!(\"Hello, {name}!\")", "    name.no_such_method()")
    );
    let bedrock = Bedrock::new(vec![
        Says::text(both),
        Says::text(block("src/lib.rs", "    name.no_such_method()", "    name.neither_this()")),
    ]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let run = carried_out(&server, &json!({"prompt": "Greet.", "max_retries": 1, "verify": []}));
    assert_eq!((&run["state"], &run["files"], &run["changes"]), (&json!("failed"), &json!([]), &json!([])), "{run}");
    assert!(
        run["reason"].as_str().unwrap().contains("after 2 replies") && !run["errors"].as_array().unwrap().is_empty(),
        "{run}"
    );
    assert_eq!(run["usage"]["input_tokens"], 2 * USAGE.0, "{run}");
    // The broken place is returned immediately, with line numbers.
    let prompt = &bedrock.prompts()[1];
    assert!(prompt.contains("no_such_method") && prompt.contains("\n 7|     name.no_such_method()\n"), "{prompt}");
    as_before(&server);
    assert!(!server.home.root().join("src/deep").exists());
    // The journal has each step, and who made it.
    let (_, journal) = server.get("/v1/changes");
    let causes: Vec<_> =
        journal["changes"].as_array().unwrap().iter().map(|it| it["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["undo", "undo", "edit", "edit"], "{journal}");
    assert_eq!(journal["changes"][3]["client"], format!("run {}", run["run"].as_str().unwrap()), "{journal}");
    let text = server.markdown(&format!("/v1/runs/{}", run["run"].as_str().unwrap()), None).text;
    assert!(text.contains("failed") && text.contains("## Reply 2") && text.contains("## Still wrong"), "{text}");
    // Or they stay, where that is asked for.
    let bedrock = Bedrock::new(vec![wrong()]);
    let server = bedrock.serve(Home::with(RUST), &["--trust"]);
    server.wait_ready();
    let run = carried_out(&server, &json!({"prompt": "Greet.", "max_retries": 0, "verify": [], "keep": true}));
    assert_eq!((&run["state"], &run["files"]), (&json!("failed"), &json!(["src/lib.rs"])), "{run}");
    let change = run["changes"][0].as_str().unwrap();
    assert_eq!(server.post("/v1/undo", &json!({"change": change})).0, 200);
    as_before(&server);
}
