//! Files of a language without an engine: an empty list about them is not an answer.

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server};

const HASKELL: &str = "module Main where\n\ngreet :: String\ngreet = \"hello\"\n";

#[track_caller]
fn assert_lacks(status: u16, reply: &Value, scope: &str, detail: &str) {
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    let missing = reply["meta"]["missing"].as_array().unwrap();
    let is_it = |it: &Value| {
        it["code"] == "unsupported" && it["scope"] == scope && it["detail"].as_str().unwrap().contains(detail)
    };
    assert!(missing.iter().any(is_it), "{scope} {detail}: {reply}");
}

const OF_A_FILE: &str = "no engine analyses this kind of file";
const OF_THE_WORKSPACE: &str = "no file here is of a language that is analysed: `.hs`, `.tcl`";
const NO_SYMBOLS: &str = "no file of this workspace is of a language that is analysed, so there are no symbols";

#[test]
fn a_workspace_of_no_language_says_so() {
    let files = [("Main.hs", HASKELL), ("Other.hs", HASKELL), ("a.tcl", "proc greet {} {}\n")];
    let server = Home::with(&files).serve(&["--trust"]);
    for path in ["/v1/diagnostics", "/v1/map", "/v1/symbols?query=greet", "/v1/gate"] {
        let (status, reply) = server.get(path);
        assert_lacks(status, &reply, "workspace", OF_THE_WORKSPACE);
    }
    for path in ["/v1/symbols?file=Main.hs", "/v1/diagnostics?file=Main.hs"] {
        let (status, reply) = server.get(path);
        assert_lacks(status, &reply, "Main.hs", OF_A_FILE);
    }
    let (status, described) = server.post("/v1/describe", &json!({"file": "Main.hs"}));
    assert_lacks(status, &described, "Main.hs", OF_A_FILE);
    assert_eq!(described["file"]["content"], HASKELL, "{described}");
    // The text as a whole leaves nothing out.
    let (status, opened) = server.post("/v1/open", &json!({"file": "Main.hs"}));
    assert_eq!((status, &opened["skeleton"]), (200, &json!(HASKELL)), "{opened}");
    assert_eq!((&opened["meta"]["complete"], &opened["meta"]["missing"]), (&json!(true), &json!([])), "{opened}");

    // Whatever form the name has, no language is named that happens to be the first.
    for symbol in ["greet", "main::greet", "Main.greet", "Main.hs::greet"] {
        let edit = json!({"symbol": symbol, "at": "body", "replacement": ""});
        for (status, refused) in [
            server.get(&format!("/v1/usages?symbol={symbol}")),
            server.post("/v1/describe", &json!({"symbol": symbol})),
            server.post("/v1/impact", &json!({"symbol": symbol, "change": "remove"})),
            server.post("/v1/edit", &edit),
        ] {
            assert_eq!((status, &refused["code"]), (404, &json!("unknown_symbol")), "{symbol}: {refused}");
            assert_eq!(refused["detail"], NO_SYMBOLS, "{symbol}: {refused}");
            assert_eq!(refused["meta"]["complete"], false, "{symbol}: {refused}");
        }
    }
}

#[test]
fn a_file_of_no_language_beside_others_says_so() {
    let server = Server::on(&[RUST, &[("web/Main.hs", HASKELL)]].concat());
    server.wait_ready();
    let (status, reply) = server.get("/v1/symbols?file=web/Main.hs");
    assert_lacks(status, &reply, "web/Main.hs", OF_A_FILE);
    // Queries about the workspace are answered from the analysed part.
    for path in ["/v1/diagnostics", "/v1/symbols?query=greet", "/v1/symbols?file=src/lib.rs"] {
        let (status, reply) = server.get(path);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{path}: {reply}");
    }
}

#[test]
fn an_empty_workspace_lacks_nothing() {
    let server = Home::with(&[]).serve(&["--trust"]);
    let (status, reply) = server.get("/v1/diagnostics");
    assert_eq!((status, &reply["total"], &reply["meta"]["complete"]), (200, &json!(0), &json!(true)), "{reply}");
}
