//! A file belongs to several crates: both targets of a package declare it, tests share it, two Cargo workspaces load its
//! package. Each answer covers all of them, and twins are one symbol.

use serde_json::{Value, json};

use crate::support::{Home, Server, sorted_places};

const CODEC: &str = "/// Reads a prefix.\npub fn read_prefix(input: &[u8]) -> Option<u8> {\n    input.first().copied()\n}\n\n\
                     pub fn frame_len(input: &[u8]) -> usize {\n    usize::from(read_prefix(input).unwrap_or(0))\n}\n\n\
                     pub trait Frame {\n    fn len(&self) -> usize;\n}\n";
const FUZZ: &str = "use codec::{frame_len, read_prefix, Frame};\n\nstruct Raw;\n\nimpl Frame for Raw {\n    fn len(&self) -> usize {\n        1\n    }\n}\n\n\
                    fn main() {\n    let _ = (read_prefix(b\"a\"), frame_len(b\"b\"), Raw.len());\n}\n";

/// `fuzz` is a Cargo workspace of its own, which depends on a member of the outer one.
fn nested() -> Home {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"codec\"]\nexclude = [\"fuzz\"]\nresolver = \"2\"\n"),
        ("codec/Cargo.toml", &package("codec", "")),
        ("codec/src/lib.rs", CODEC),
        (
            "fuzz/Cargo.toml",
            &package("codec-fuzz", "\n[dependencies]\ncodec = { path = \"../codec\" }\n\n[workspace]\n"),
        ),
        ("fuzz/src/main.rs", FUZZ),
    ])
}

/// `quote` is in both targets of the package, `common` in two of its tests.
fn shared() -> Home {
    let uses = "mod common;\n\n#[test]\nfn whole() {\n    assert_eq!(common::twice(2), 4);\n}\n";
    Home::with(&[
        ("Cargo.toml", "[package]\nname = \"twin\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "src/lib.rs",
            "pub mod util;\n\npub fn shown() -> String {\n    util::quote(\"lib\")\n}\n\npub fn size() -> u16 {\n    1\n}\n",
        ),
        (
            "src/main.rs",
            "mod util;\n\nfn main() {\n    println!(\"{} {}\", util::quote(\"bin\"), twin::shown());\n}\n\nfn size() -> u8 {\n    1\n}\n",
        ),
        ("src/util.rs", "pub fn quote(text: &str) -> String {\n    format!(\"'{text}'\")\n}\n"),
        ("tests/common/mod.rs", "pub fn twice(it: u8) -> u8 {\n    it * 2\n}\n"),
        ("tests/one.rs", uses),
        ("tests/two.rs", uses),
    ])
}

fn get(server: &Server, path: &str) -> Value {
    let (status, reply) = server.get(path);
    assert_eq!(status, 200, "{reply}");
    reply
}

fn post(server: &Server, path: &str, body: &Value) -> Value {
    let (status, reply) = server.post(path, body);
    assert_eq!(status, 200, "{reply}");
    reply
}

/// The places that use a symbol, proved.
#[track_caller]
fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let reply = get(server, &format!("/v1/usages?symbol={symbol}"));
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    assert_eq!(reply["possible"], json!([]), "{reply}");
    sorted_places(&reply["items"])
}

fn dry_run(server: &Server, file: &str, from: &str, to: &str) -> Value {
    let edit = json!({"file": file, "search_context": from, "replacement": to, "dry_run": true});
    post(server, "/v1/edit", &edit)
}

/// The places that an edit breaks, proved, without those that only follow from them.
#[track_caller]
fn broken(server: &Server, file: &str, from: &str, to: &str) -> Vec<String> {
    let mut reply = dry_run(server, file, from, to);
    reply["impact"]["broken"].as_array_mut().unwrap().retain(|it| it["follows"] != true);
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    sorted_places(&reply["impact"]["broken"])
}

#[test]
fn a_crate_of_two_cargo_workspaces_is_one() {
    let server = nested().serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(
        usages(&server, "codec::read_prefix"),
        ["codec/src/lib.rs:7", "fuzz/src/main.rs:1", "fuzz/src/main.rs:12"]
    );
    assert_eq!(usages(&server, "frame_len"), ["fuzz/src/main.rs:1", "fuzz/src/main.rs:12"]);
    let found = get(&server, "/v1/symbols?query=read_prefix");
    let paths: Vec<&str> = found["symbols"].as_array().unwrap().iter().filter_map(|it| it["path"].as_str()).collect();
    assert_eq!(paths, ["codec::read_prefix"], "twins have one path");
    let callers = get(&server, "/v1/callers?symbol=codec::read_prefix");
    assert_eq!(callers["total"], 2, "{callers}");
    let blocks = get(&server, "/v1/implementations?symbol=codec::Frame");
    assert_eq!(sorted_places(&blocks["items"]), ["fuzz/src/main.rs:5"], "{blocks}");
    let opened = post(&server, "/v1/open", &json!({"file": "codec/src/lib.rs"}));
    assert_eq!(opened["symbols"][1]["usages"]["total"], 2, "{opened}");

    let (from, to) = ("pub fn frame_len(input: &[u8])", "fn frame_len(input: &[u8])");
    assert_eq!(broken(&server, "codec/src/lib.rs", from, to), ["fuzz/src/main.rs:1"], "it is private");
    let to = "pub fn frame_len(input: &[u8], _more: u8)";
    assert_eq!(broken(&server, "codec/src/lib.rs", from, to), ["fuzz/src/main.rs:12"]);
    let (from, to) = ("fn len(&self) -> usize;", "fn len(&self) -> usize;\n    fn end(&self);");
    assert_eq!(broken(&server, "codec/src/lib.rs", from, to), ["fuzz/src/main.rs:5"]);

    let edit = json!({"file": "codec/src/lib.rs", "search_context": "pub fn frame_len(input: &[u8])",
        "replacement": "pub fn frame_len(input: &[u8], _more: u8)", "on_break": "reject"});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    // The same change from outside.
    let text = server.home.read("codec/src/lib.rs");
    server.home.write(
        "codec/src/lib.rs",
        &text.replace("pub fn frame_len(input: &[u8])", "pub fn frame_len(input: &[u8], _more: u8)"),
    );
    server.wait_for(|server| sorted_places(&get(server, "/v1/diagnostics")["items"]) == ["fuzz/src/main.rs:12"]);
}

#[test]
fn a_file_of_two_targets_belongs_to_both() {
    let server = shared().serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(usages(&server, "twin::util::quote"), ["src/lib.rs:4", "src/main.rs:4"]);
    assert_eq!(usages(&server, "bin@twin::util::quote"), ["src/lib.rs:4", "src/main.rs:4"], "its other name");
    assert_eq!(usages(&server, "twice"), ["tests/one.rs:5", "tests/two.rs:5"]);
    let (from, to) = ("quote(text: &str)", "quote(text: &str, _c: char)");
    assert_eq!(broken(&server, "src/util.rs", from, to), ["src/lib.rs:4", "src/main.rs:4"]);
    assert_eq!(broken(&server, "tests/common/mod.rs", "it: u8", "it: u16"), ["tests/common/mod.rs:2"]);

    let rename = json!({"symbol": "twin::util::quote", "new_name": "wrap"});
    let reply = post(&server, "/v1/rename", &rename);
    let files: Vec<&str> = reply["files"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str()).collect();
    assert_eq!(files, ["src/lib.rs", "src/main.rs", "src/util.rs"], "{reply}");
    let healthy = get(&server, "/v1/diagnostics");
    assert_eq!((&healthy["items"], &healthy["meta"]["complete"]), (&json!([]), &json!(true)), "{healthy}");

    // An error that both crates have is reported once, one of a single crate says which one.
    server.home.write("src/util.rs", "pub fn wrap(text: &str) -> String {\n    let _: u8 = crate::size();\n    let _: u8 = \"both\";\n    text.to_owned()\n}\n");
    server.wait_for(|server| {
        sorted_places(&get(server, "/v1/diagnostics")["items"]) == ["src/util.rs:2", "src/util.rs:3"]
    });
    let reply = get(&server, "/v1/diagnostics?file=src/util.rs");
    let messages: Vec<&str> =
        reply["items"].as_array().unwrap().iter().filter_map(|it| it["message"].as_str()).collect();
    assert!(messages[0].ends_with("(in `twin`)") && !messages[1].contains("(in "), "{messages:?}");
}

#[test]
fn the_default_build_has_debug_assertions() {
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "src/lib.rs",
            "pub fn level() -> u32 {\n    1\n}\n\n#[cfg(debug_assertions)]\npub fn checked() -> u32 {\n    level()\n}\n",
        ),
    ]);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(usages(&server, "shop::level"), ["src/lib.rs:7"]);
    assert_eq!(broken(&server, "src/lib.rs", "pub fn level()", "pub fn level(_a: u8)"), ["src/lib.rs:7"]);

    // Unless the profile switches them off.
    server.home.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[profile.dev]\ndebug-assertions = false\n",
    );
    server.wait_for(|server| {
        let reply = dry_run(server, "src/lib.rs", "pub fn level()", "pub fn level(_a: u8)");
        reply["meta"]["complete"] == true && reply["impact"]["broken"] == json!([])
    });
}

#[test]
fn a_module_is_renamed_in_every_crate_that_declares_it() {
    let server = shared().serve(&["--trust"]);
    server.wait_ready();
    post(&server, "/v1/rename", &json!({"symbol": "twin::util", "new_name": "tool"}));
    for (file, text) in [("src/lib.rs", "tool::quote(\"lib\")"), ("src/main.rs", "mod tool;"), ("src/tool.rs", "quote")]
    {
        assert!(server.home.read(file).contains(text), "{file}: {}", server.home.read(file));
    }
    assert_eq!(get(&server, "/v1/diagnostics")["items"], json!([]));
}

#[test]
fn what_stands_for_a_symbol_under_another_cfg_is_renamed_with_it() {
    let lib = "#[cfg(unix)]\npub fn home() -> u8 {\n    1\n}\n\n#[cfg(not(unix))]\npub fn home() -> u8 {\n    2\n}\n\npub fn own() -> u8 \
               {\n    home()\n}\n\npub fn blocks() -> u8 {\n    let first = {\n        fn home() -> u8 {\n            3\n        }\n        \
               home()\n    };\n    first\n}\n";
    let server = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", lib),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    post(&server, "/v1/rename", &json!({"symbol": "one::home", "new_name": "base"}));
    let text = server.home.read("src/lib.rs");
    assert_eq!((text.matches("fn base()").count(), text.matches("base()").count()), (2, 3), "{text}");
    assert_eq!(text.matches("home()").count(), 2, "that of a block is another one: {text}");
}

/// A name that is a keyword is meant only where it is raw.
#[test]
fn a_keyword_is_not_a_raw_name() {
    let server = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "src/lib.rs",
            "pub fn r#match(it: u8) -> u8 {\n    match it {\n        0 => 1,\n        _ => it,\n    }\n}\n\npub fn own() -> \
             bool {\n    matches!(r#match(1), 1) && vec![match 1 {\n        _ => true,\n    }][0]\n}\n",
        ),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(usages(&server, "one::match"), ["src/lib.rs:9"]);
}

/// An error that only one build of a crate has says how this build differs, in diagnostics and in the impact of a change.
#[test]
fn an_error_names_the_crates_that_have_it() {
    let server = Home::with(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\ndefault = [\"std\"]\nstd = []\n\n\
             [workspace]\nexclude = [\"bare\"]\n",
        ),
        ("src/lib.rs", "#![cfg_attr(not(feature = \"std\"), no_std)]\n\npub fn one() -> u8 {\n    1\n}\n"),
        (
            "bare/Cargo.toml",
            "[package]\nname = \"bare\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\na = { path = \"..\", \
             default-features = false }\n\n[workspace]\n",
        ),
        ("bare/src/lib.rs", "#![no_std]\n\npub fn two() -> u8 {\n    a::one() + 1\n}\n"),
    ])
    .with_real_std()
    .serve(&["--trust"]);
    server.wait_ready();
    let edit = |replacement: &str, dry_run: bool| {
        let edit = json!({"file": "src/lib.rs", "search_context": "    1\n", "replacement": replacement, "dry_run": dry_run,
            "wait_ms": 120_000});
        let broken = post(&server, "/v1/edit", &edit)["impact"]["broken"].clone();
        broken.as_array().unwrap().iter().map(|it| it["reason"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let only = "(in `a` without `feature=default`, `feature=std`)";
    let broken = edit("    std::env::args().count() as u8\n", true);
    assert!(broken.len() == 1 && broken[0].ends_with(only), "{broken:?}");
    // What both have names none.
    let broken = edit("    nothing()\n", true);
    assert!(broken.len() == 1 && !broken[0].contains("(in "), "{broken:?}");
    edit("    std::env::args().count() as u8\n", false);
    let found = get(&server, "/v1/diagnostics?severity=error&wait_ms=120000");
    let messages: Vec<&str> =
        found["items"].as_array().unwrap().iter().filter_map(|it| it["message"].as_str()).collect();
    assert!(messages.len() == 1 && messages[0].ends_with(only), "{found}");
}

/// What a file declares that `include!` takes in.
#[test]
fn an_included_file_has_scopes() {
    let items = "pub enum Kind {\n    First,\n}\n\nimpl Kind {\n    pub fn size(&self) -> u8 {\n        match self {\n            \
                 Self::First => 1,\n        }\n    }\n}\n\npub fn plain() -> u8 {\n    1\n}\n\npub fn shadowing(kind: Kind) -> u8 {\n    \
                 fn plain() -> u8 {\n        2\n    }\n    plain() + kind.size()\n}\n\npub struct Hold<T> {\n    pub value: T,\n}\n\npub mod inner {\n    pub fn deep() -> u8 {\n        3\n    }\n}\n\npub trait Told {\n    fn told(&self) -> u8;\n}\n\n/// \"As\" in [`Kind::First`],\n/// [plain].\npub fn linked() {}\n";
    let server = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "include!(\"items.rs\");\n\npub fn all() -> u8 {\n    plain() + shadowing(Kind::First) + include!(\"value.in.rs\")\n}\n"),
        ("src/items.rs", items),
        ("src/value.in.rs", "(plain() + Hold { value: 1 }.value)\n"),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(get(&server, "/v1/diagnostics")["items"], json!([]), "neither types nor expressions");
    let kind = ["src/items.rs:17", "src/items.rs:38", "src/items.rs:5", "src/items.rs:8", "src/lib.rs:4"];
    assert_eq!(usages(&server, "one::Kind"), kind);
    assert_eq!(usages(&server, "one::Kind::First"), ["src/items.rs:38", "src/items.rs:8", "src/lib.rs:4"]);
    assert_eq!(usages(&server, "one::plain"), ["src/items.rs:39", "src/lib.rs:4", "src/value.in.rs:1"]);
    assert_eq!(usages(&server, "one::Hold::value"), ["src/value.in.rs:1", "src/value.in.rs:1"]);
    let told = get(&server, "/v1/usages?symbol=one::Told");
    assert_eq!((&told["symbol"]["file"], &told["symbol"]["line"]), (&json!("src/items.rs"), &json!(34)), "{told}");
    assert_eq!(usages(&server, "one::shadowing::plain"), ["src/items.rs:21"]);
    let found = get(&server, "/v1/symbols?file=src/items.rs");
    assert_eq!(found["symbols"][1]["path"], "impl@one::Kind", "{found}");
    let inner = get(&server, "/v1/usages?symbol=one::inner");
    assert_eq!((&inner["symbol"]["file"], &inner["symbol"]["line"]), (&json!("src/items.rs"), &json!(28)), "{inner}");
    post(&server, "/v1/rename", &json!({"symbol": "one::inner", "new_name": "within"}));
    assert!(server.home.read("src/items.rs").contains("pub mod within {"));
    post(&server, "/v1/rename", &json!({"symbol": "one::Kind::First", "new_name": "Only"}));
    assert!(server.home.read("src/items.rs").contains("Self::Only => 1"));
    assert!(server.home.read("src/items.rs").contains("[`Kind::Only`]"));
}
