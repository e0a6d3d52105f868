//! Names as a client writes them: what is no name is refused, a miss says what was meant, one name finds all that have
//! it, and a place shows what an editor would.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{RUST, Server};

fn code(reply: &Value) -> &str {
    reply["code"].as_str().unwrap_or("none")
}

#[test]
fn what_is_no_name_is_refused_in_either_language() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let server = Server::shared(&all);
    server.wait_ready();
    let long = "x".repeat(100_000);
    let path = "a::".repeat(30_000) + "b";
    let brackets = "<".repeat(100_000);
    for symbol in [
        "",
        " ",
        "<",
        "<<<<",
        "::",
        "a::::b",
        "greeter::",
        "a\u{0}b",
        "\n",
        "fn@",
        "Greeter..Greet",
        "[[[[",
        &long,
        &path,
        &brackets,
    ] {
        let start: String = symbol.chars().take(20).collect();
        for (status, reply) in [
            server.post("/v1/describe", &json!({"symbol": symbol})),
            server.post("/v1/impact", &json!({"symbol": symbol, "change": "remove"})),
            server.post("/v1/edit", &json!({"symbol": symbol, "at": "body", "replacement": ""})),
        ] {
            assert_eq!((status, code(&reply)), (400, "invalid_request"), "{start:?}: {reply}");
        }
    }
    // Names as long as may be are looked for.
    for symbol in ["x".repeat(8000), "x".repeat(4000) + "::" + &"y".repeat(4000), "a.".repeat(60) + &"b".repeat(7000)] {
        let (status, reply) = server.post("/v1/describe", &json!({"symbol": symbol}));
        assert_eq!((status, code(&reply)), (404, "unknown_symbol"), "{reply}");
    }
    let (status, reply) = server.post("/v1/describe", &json!({"package": "<<<<::"}));
    assert_eq!((status, code(&reply)), (400, "invalid_request"), "{reply}");
    let (status, reply) = server.get(&format!("/v1/symbols?query={}", "x".repeat(9000)));
    assert_eq!((status, code(&reply)), (400, "invalid_request"), "{reply}");
}

#[test]
fn a_miss_says_what_was_meant() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let server = Server::shared(&all);
    server.wait_ready();
    for (query, expected, meant) in [
        ("symbol=greeter::shuot::shout", "unknown_symbol", "greeter::shout::shout"),
        ("symbol=greter::greet", "unknown_symbol", "greeter::greet"),
        ("symbol=std::collections::HashMp", "unknown_symbol", "std::collections::hash::map::HashMap"),
        ("symbol=greet&package=greter", "unknown_package", "greeter"),
        ("symbol=shout&package=greeter::shuot", "unknown_package", "greeter::shout"),
        ("symbol=Greet&package=example.com/greter", "unknown_package", "example.com/greeter"),
        ("symbol=example.com/greeter.Greter", "unknown_symbol", "example.com/greeter.Greeter"),
        ("symbol=strigns.ToUpper", "unknown_symbol", "strings.ToUpper"),
        ("symbol=ToUpper&package=strigns", "unknown_package", "strings"),
    ] {
        let (status, reply) = server.get(&format!("/v1/usages?{query}"));
        assert_eq!((status, code(&reply)), (404, expected), "{query}: {reply}");
        assert_eq!(reply["suggestions"][0], meant, "{query}: {reply}");
    }
}

#[test]
fn a_trait_is_found_with_the_macro_of_its_name() {
    let server = Server::shared(RUST);
    server.wait_ready();
    let (status, reply) = server.get("/v1/usages?symbol=std::clone::Clone");
    assert_eq!((status, &reply["symbol"]["path"]), (200, &json!("core::clone::Clone")), "{reply}");
    assert_eq!(reply["symbol"]["also"], json!(["macro@core::clone::Clone"]), "{reply}");
    let described = server.markdown("/v1/describe", Some(&json!({"symbol": "std::clone::Clone"})));
    assert!(described.text.contains("Also of this name: `macro@core::clone::Clone`"), "{}", described.text);
    let (_, plain) = server.get("/v1/usages?symbol=greeter::greet");
    assert!(plain["symbol"].get("also").is_none(), "{plain}");
}

#[test]
fn one_name_finds_all_that_have_it_first() {
    let lib = "pub struct Name { pub name: u8 }\nimpl Name { pub fn name(&self) -> u8 { self.name } pub fn name_of(&self) {} }\n\
               #[cfg(test)]\nmod tests { fn name() {} }\npub fn names() {}\n";
    let go =
        "package m\n\ntype Name struct{ name int }\n\nfunc (n Name) Name() {}\n\nfunc name() {}\n\nfunc names() {}\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"n\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", lib),
        ("go.mod", "module m\n\ngo 1.22\n"),
        ("m.go", go),
    ]);
    server.wait_ready();
    let (_, found) = server.get("/v1/symbols?query=name");
    let paths: Vec<&str> = found["symbols"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    let first: BTreeSet<&str> = paths.iter().take(5).copied().collect();
    let exact = ["field@n::Name::name", "m.Name.name", "m.name", "method@n::Name::name", "n::tests::name"];
    assert_eq!(first, BTreeSet::from(exact), "{paths:?}");
    assert_eq!(found["meta"]["complete"], true, "{found}");
}

#[test]
fn a_place_shows_what_an_editor_would() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let server = Server::shared(&all);
    server.wait_ready();
    for (file, needle, skip, hover, ty) in [
        ("src/shout.rs", "greet(name)", 0, "Greets someone.", json!("fn greet(&str) -> String")),
        ("src/shout.rs", "name).to", 0, "name: &str", json!("&str")),
        ("src/lib.rs", "|name|", 1, "name: &&str", json!("&&str")),
        ("src/lib.rs", "pub fn greet_all", 0, "pub", Value::Null),
        ("greet.go", "g.Greet", 2, "Greet greets someone.", Value::Null),
    ] {
        let at = server.home.read(file).find(needle).unwrap() + skip;
        let (status, reply) = server.get(&format!("/v1/symbols/at?file={file}&offset={at}"));
        assert_eq!(status, 200, "{reply}");
        assert!(reply["hover"].as_str().unwrap_or_default().contains(hover), "{needle}: {reply}");
        if file.ends_with(".rs") {
            assert_eq!(reply["type"], ty, "{needle}: {reply}");
        }
    }
}

#[test]
fn a_place_in_a_doc_comment_shows_what_is_linked_there() {
    let lib = "//! See [`greet`].\n\n/// As [`greet`], for [many](crate::greet_all).\n#[doc = \"And [`greet`].\"]\npub fn greet_two() {}\n\n\
               // Plain.\n/// Greets one.\npub fn greet() {}\n\n/** Greets\n all. */\npub fn greet_all() {}\n";
    let server = Server::on(&[RUST[0], ("src/lib.rs", lib)]);
    server.wait_ready();
    for (needle, skip, hover) in [
        ("//! See", 0, None),
        ("//! See [`greet`]", 12, Some("Greets one.")),
        ("/// As", 0, None),
        ("/// As", 3, None),
        ("/// As [`greet`]", 10, Some("Greets one.")),
        ("[many]", 2, Some("Greets\n")),
        ("\"And [`greet`]", 0, None),
        ("\"And [`greet`]", 8, Some("Greets one.")),
        ("// Plain", 0, None),
        ("/** Greets", 0, None),
        ("all. */", 6, None),
    ] {
        let at = lib.find(needle).unwrap() + skip;
        let (status, reply) = server.get(&format!("/v1/symbols/at?file=src/lib.rs&offset={at}"));
        assert_eq!(status, 200, "{needle} {skip}: {reply}");
        let shown = reply["hover"].as_str();
        match hover {
            Some(hover) => assert!(shown.is_some_and(|it| it.contains(hover)), "{needle} {skip}: {reply}"),
            None => assert_eq!(shown, None, "{needle} {skip}: {reply}"),
        }
    }
}
