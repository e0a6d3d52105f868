//! Diagnostics as a service: filters, SARIF, the baseline, the changes since it, the gate and the statistics.

use serde_json::{Value, json};

use crate::support::{Ended, Home, RUST, Server, run};

const BAD: &str = "pub fn one() {\n    missing_one();\n}\n\npub fn Unused() {}\n";

/// A workspace with one error and one warning, both in `src/bad.rs`.
fn broken() -> Home {
    let home = Home::with(RUST);
    home.write("src/lib.rs", &format!("{}\npub mod bad;\n", home.read("src/lib.rs")));
    home.write("src/bad.rs", BAD);
    home
}

fn semdex(server: &Server, arguments: &[&str]) -> Ended {
    run(server.home.semdex().args(arguments))
}

/// A reply in which all is known.
#[track_caller]
fn get(server: &Server, path: &str) -> Value {
    let (status, reply) = server.get(path);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{path}: {reply}");
    reply
}

#[track_caller]
fn baseline(server: &Server, files: &[&str]) -> Value {
    let (status, reply) = server.post("/v1/baseline", &json!({"files": files}));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply
}

#[test]
fn diagnostics_are_filtered_and_counted() {
    let server = broken().serve(&["--trust"]);
    let all = get(&server, "/v1/diagnostics");
    assert_eq!(
        (&all["total"], &all["counts"]["error"], &all["counts"]["warning"]),
        (&json!(2), &json!(1), &json!(1)),
        "{all}"
    );
    for item in all["items"].as_array().unwrap() {
        assert_eq!(item.get("confirmed"), Some(&Value::Null), "{item}");
    }
    let severities = |list: &str| -> Vec<String> {
        let reply = get(&server, &format!("/v1/diagnostics?severity={list}"));
        assert_eq!(reply["counts"], all["counts"], "{reply}");
        reply["items"].as_array().unwrap().iter().map(|it| it["severity"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(severities("error"), ["error"]);
    assert_eq!(severities("warning"), ["warning"]);
    assert_eq!(severities("error,warning"), ["error", "warning"]);
    assert_eq!(severities("hint,info"), [""; 0]);
    let wrong = server.send(server.request("GET", "/v1/diagnostics?severity=error,fatal"));
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid_request"), "{}", wrong.text);
    for known in ["error", "warning", "info", "hint"] {
        assert!(wrong.text.contains(&format!("`{known}`")), "{}", wrong.text);
    }
    let limited = get(&server, "/v1/diagnostics?limit=1");
    assert_eq!(
        (limited["items"].as_array().unwrap().len(), &limited["total"], &limited["counts"]),
        (1, &json!(2), &all["counts"])
    );
    let rest = get(&server, &format!("/v1/diagnostics?limit=1&cursor={}", limited["next_cursor"].as_str().unwrap()));
    assert_eq!(rest["items"][0], all["items"][1]);
    let most = get(&server, "/v1/diagnostics?max=1");
    assert_eq!(
        (most["items"].as_array().unwrap().len(), &most["total"], &most["next_cursor"]),
        (1, &json!(2), &Value::Null)
    );
    assert_eq!(get(&server, "/v1/diagnostics?source=rust-analyzer")["total"], 2);
    assert_eq!(get(&server, "/v1/diagnostics?source=rustc,clippy")["total"], 0);
}

/// What SARIF 2.1.0 asks of a log: required properties, closed sets of words, places that exist.
#[track_caller]
fn check_sarif(log: &Value, results: usize) {
    assert_eq!(log["version"], "2.1.0", "{log}");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"), "{log}");
    let mut count = 0;
    for run in log["runs"].as_array().unwrap() {
        let driver = &run["tool"]["driver"];
        assert!(!driver["name"].as_str().unwrap().is_empty(), "{driver}");
        let rules: Vec<&str> =
            driver["rules"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        let mut once = rules.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), rules.len(), "rules are unique: {rules:?}");
        assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()), "{run}");
        for invocation in run["invocations"].as_array().unwrap() {
            assert!(invocation["executionSuccessful"].is_boolean(), "{invocation}");
        }
        for result in run["results"].as_array().unwrap() {
            count += 1;
            assert!(result["message"]["text"].as_str().is_some_and(|it| !it.is_empty()), "{result}");
            assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()), "{result}");
            if let Some(index) = result["ruleIndex"].as_u64() {
                assert_eq!(rules[usize::try_from(index).unwrap()], result["ruleId"], "{result}");
            }
            for location in result["locations"].as_array().unwrap() {
                let physical = &location["physicalLocation"];
                let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                assert!(!uri.starts_with('/') && !uri.contains([' ', '\\']), "{uri}");
                let region = &physical["region"];
                let number = |name: &str| region[name].as_u64();
                assert!(number("startLine") >= Some(1) && number("endLine") >= number("startLine"), "{region}");
                assert!(number("startColumn").is_none_or(|it| it >= 1), "{region}");
                assert!(region["endColumn"].is_null() || number("endColumn") >= number("startColumn"), "{region}");
            }
        }
    }
    assert_eq!(count, results, "{log}");
}

#[test]
fn sarif_is_a_form_of_diagnostics() {
    let server = broken().serve(&["--trust"]);
    get(&server, "/v1/diagnostics");
    let path = "/v1/diagnostics?wait_ms=120000";
    let by_header = server.send(server.request("GET", path).header("accept", "application/sarif+json"));
    assert_eq!(
        (by_header.status, by_header.header("content-type")),
        (200, "application/sarif+json"),
        "{}",
        by_header.text
    );
    check_sarif(&by_header.json(), 2);
    let result = &by_header.json()["runs"][0]["results"][0];
    let physical = &result["locations"][0]["physicalLocation"];
    assert_eq!((&result["level"], &physical["artifactLocation"]["uri"]), (&json!("error"), &json!("src/bad.rs")));
    assert_eq!(
        physical["region"],
        json!({"startLine": 2, "endLine": 2, "startColumn": 5, "endColumn": 16}),
        "{result}"
    );
    let by_query = server.send(server.request("GET", &format!("{path}&format=sarif&severity=error")));
    assert_eq!(by_query.header("content-type"), "application/sarif+json");
    check_sarif(&by_query.json(), 1);
    let printed = semdex(&server, &["diagnostics", "--format", "sarif"]);
    assert_eq!(printed.code, Some(0), "{}", printed.errors);
    check_sarif(&serde_json::from_str(&printed.output).unwrap(), 2);
    let clean = semdex(&server, &["diagnostics", "src/shout.rs", "--format", "sarif"]);
    check_sarif(&serde_json::from_str(&clean.output).unwrap(), 0);
    // Nothing else comes in this form, and who takes anything gets JSON.
    let other = server.send(server.request("GET", "/v1/status").header("accept", "application/sarif+json"));
    assert_eq!(other.code(), "not_acceptable");
    let any = server.send(server.request("GET", path).header("accept", "*/*"));
    assert_eq!(any.header("content-type"), "application/json");
}

#[test]
fn what_is_new_since_the_baseline_is_a_regression_and_what_moved_is_not() {
    let server = broken().serve(&["--trust"]);
    // Without a baseline nothing can be said, and that is said.
    let (status, without) = server.get("/v1/regressions");
    assert_eq!(
        (status, &without["has_regression"], &without["baseline"]),
        (200, &json!(false), &Value::Null),
        "{without}"
    );
    assert_eq!(
        (&without["meta"]["complete"], &without["meta"]["missing"][0]["code"]),
        (&json!(false), &json!("no_baseline"))
    );

    let kept = baseline(&server, &[]);
    assert_eq!(
        (&kept["files"], &kept["counts"]["error"], &kept["counts"]["warning"]),
        (&json!(3), &json!(1), &json!(1))
    );
    let same = get(&server, "/v1/regressions");
    assert_eq!(same["summary"], "No change since the baseline", "{same}");
    assert_eq!(same["baseline"], kept["baseline"]);

    // Lines above, and another function around: it only moved.
    server.home.write("src/bad.rs", &format!("//! Bad.\n\n\n{}", BAD.replace("fn one", "fn first")));
    let moved = get(&server, "/v1/regressions");
    assert_eq!(
        (&moved["has_regression"], &moved["has_improvement"], &moved["new"], &moved["fixed"]),
        (&json!(false), &json!(false), &json!([]), &json!([])),
        "{moved}"
    );

    // The same once more counts.
    let twice = BAD.replace("    missing_one();\n", "    missing_one();\n    missing_one();\n    missing_two();\n");
    server.home.write("src/bad.rs", &twice);
    let worse = get(&server, "/v1/regressions");
    assert_eq!(
        (&worse["has_regression"], &worse["new_errors"], &worse["fixed_errors"], &worse["new_warnings"]),
        (&json!(true), &json!(2), &json!(0), &json!(0)),
        "{worse}"
    );
    assert_eq!(worse["summary"], "Regression detected: 2 new errors");
    let lines: Vec<&Value> = worse["new"].as_array().unwrap().iter().map(|it| &it["line"]).collect();
    assert_eq!(lines, [&json!(3), &json!(4)], "{worse}");
    assert_eq!(get(&server, "/v1/regressions?file=src/lib.rs")["has_regression"], false);

    // It is there after a restart, and a new error beside a fixed one is a regression.
    let server = server.restart(&["--trust"]);
    server.home.write("src/bad.rs", &BAD.replace("missing_one", "missing_three"));
    let other = get(&server, "/v1/regressions?file=src/bad.rs");
    assert_eq!(
        (&other["has_regression"], &other["has_improvement"], &other["new_errors"], &other["fixed_errors"]),
        (&json!(true), &json!(false), &json!(1), &json!(1)),
        "{other}"
    );
    assert_eq!((&other["baseline"], &other["fixed"][0]["line"]), (&kept["baseline"], &json!(2)), "{other}");
    let gate = get(&server, "/v1/gate?new_only=true");
    assert_eq!((&gate["block"], &gate["reasons"]), (&json!(true), &json!(["1 new error, 0 allowed"])), "{gate}");

    server.home.write("src/bad.rs", "pub fn one() {}\n");
    let better = get(&server, "/v1/regressions");
    assert_eq!(
        (&better["has_improvement"], &better["fixed_errors"], &better["fixed_warnings"]),
        (&json!(true), &json!(1), &json!(1)),
        "{better}"
    );
    assert!(better["summary"].as_str().unwrap().starts_with("Improvement: 1 error fixed"), "{better}");

    // One file alone; the baseline of all other files remains.
    server.home.write("src/shout.rs", "pub fn shout() {\n    nobody();\n}\n");
    assert_eq!(get(&server, "/v1/regressions")["new_errors"], 1);
    assert_eq!(baseline(&server, &["src/shout.rs"])["files"], 1);
    let after = get(&server, "/v1/regressions");
    assert_eq!((&after["new_errors"], &after["fixed_errors"]), (&json!(0), &json!(1)), "{after}");
    let markdown = semdex(&server, &["regressions"]);
    assert!(markdown.code == Some(0) && markdown.output.starts_with("# Improvement: "), "{}", markdown.output);
}

#[test]
fn a_baseline_of_some_files_speaks_of_these() {
    let server = broken().serve(&["--trust"]);
    let (status, unknown) = server.post("/v1/baseline", &json!({"files": ["src/bda.rs"]}));
    assert_eq!((status, &unknown["code"]), (404, &json!("unknown_file")), "{unknown}");
    let printed = semdex(&server, &["baseline", "src/lib.rs"]);
    assert!(printed.code == Some(0) && printed.output.contains("0 errors, 0 warnings in 1 file"), "{}", printed.output);
    let all = get(&server, "/v1/regressions");
    assert_eq!(
        (&all["has_regression"], &all["meta"]["missing"][0]["code"]),
        (&json!(false), &json!("no_baseline")),
        "{all}"
    );
    let (_, other) = server.get("/v1/regressions?file=src/bad.rs");
    assert_eq!((&other["has_regression"], &other["meta"]["complete"]), (&json!(false), &json!(false)), "{other}");
}

#[test]
fn the_gate_blocks_by_its_thresholds() {
    let server = broken().serve(&["--trust"]);
    let gate = |query: &str| get(&server, &format!("/v1/gate?{query}"));
    let blocked = gate("");
    assert_eq!((&blocked["block"], &blocked["exit_code"]), (&json!(true), &json!(2)), "{blocked}");
    assert_eq!((&blocked["reasons"], &blocked["counts"]["error"]), (&json!(["1 error, 0 allowed"]), &json!(1)));
    for passing in ["max_errors=1", "block_on_error=false", "max_errors=1&max_warnings=0"] {
        let passed = gate(passing);
        assert_eq!(
            (&passed["block"], &passed["exit_code"], &passed["reasons"]),
            (&json!(false), &json!(0), &json!([])),
            "{passing}"
        );
    }
    assert_eq!(gate("max_errors=1&max_warnings=0")["notices"], json!(["1 warning, 0 allowed"]));
    assert_eq!(gate("max_errors=1&max_warnings=0&block_on_warning=true")["reasons"], json!(["1 warning, 0 allowed"]));
    for wrong in ["max_errors=-1", "max_errors=x", "block_on_error=1", "max_error=1"] {
        let refused = server.send(server.request("GET", &format!("/v1/gate?{wrong}")));
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_request"), "{wrong}: {}", refused.text);
    }

    // The configuration is read at each call, and the query comes before it.
    server.home.write("semdex.toml", "[gate]\nmax_errors = 1\nmax_warnings = 0\nblock_on_warning = true\n");
    assert_eq!(gate("")["reasons"], json!(["1 warning, 0 allowed"]));
    assert_eq!(gate("max_errors=0&max_warnings=9")["reasons"], json!(["1 error, 0 allowed"]));
    server.home.write("semdex.toml", "[gate]\nmax_error = 1\n");
    let (status, wrong) = server.get("/v1/gate");
    assert!(status == 400 && wrong["detail"].as_str().unwrap().contains("max_errors"), "{wrong}");
    server.home.write("semdex.toml", "");

    let ended = semdex(&server, &["gate"]);
    assert_eq!(ended.code, Some(2), "{}{}", ended.output, ended.errors);
    assert!(ended.output.starts_with("Blocked") && ended.output.contains("1 error, 0 allowed"), "{}", ended.output);
    let ended = semdex(&server, &["gate", "--max-errors", "1", "--max-warnings", "0"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.output, ended.errors);
    assert!(ended.output.starts_with("Passed") && ended.output.contains("1 warning, 0 allowed"), "{}", ended.output);
    let ended = semdex(&server, &["gate", "--block-on-error=false", "--json"]);
    let json: Value = serde_json::from_str(&ended.output).unwrap();
    assert_eq!((ended.code, &json["exit_code"]), (Some(0), &json!(0)), "{json}");
    let ended = semdex(&server, &["gate", "--block-on-warning", "--max-warnings", "0", "--max-errors", "9"]);
    assert_eq!(ended.code, Some(2), "{}", ended.output);
    // Without a baseline nothing is known to be old.
    let ended = semdex(&server, &["gate", "--new-only"]);
    assert!(ended.code == Some(2) && ended.output.contains("not known: no baseline"), "{}", ended.output);
    assert_eq!(semdex(&server, &["baseline"]).code, Some(0));
    assert_eq!(semdex(&server, &["gate", "--new-only"]).code, Some(0));
    assert_eq!(semdex(&server, &["gate", "--max-errors", "x"]).code, Some(2), "bad usage");
}
