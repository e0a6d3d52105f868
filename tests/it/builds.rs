//! Cargo builds a crate more than once: with its tests and without, with other features for a target that requires them.
//! And a change decides which crates there are: by a manifest, by a file where Cargo looks for targets, by a `mod` line.

use serde_json::{Value, json};

use crate::support::{Home, Server, sorted_places};

fn package(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
}

/// The places that use a symbol, proved.
#[track_caller]
fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    sorted_places(&reply["items"])
}

/// The code and place of all that an edit breaks, proved.
#[track_caller]
fn broken(server: &Server, edits: &[(&str, &str, &str)]) -> Vec<String> {
    let edits: Vec<Value> =
        edits.iter().map(|(file, from, to)| json!({"file": file, "search_context": from, "replacement": to})).collect();
    let (status, reply) = server.post("/v1/edit", &json!({"edits": edits, "dry_run": true}));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    errors(&reply)
}

fn errors(reply: &Value) -> Vec<String> {
    let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}"));
    let error =
        |it: &Value| format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap());
    let mut errors: Vec<String> = broken.iter().map(error).collect();
    errors.sort();
    errors
}

#[track_caller]
fn written(server: &Server, file: &str, content: &str) -> Vec<String> {
    let write = json!({"file": file, "content": content, "dry_run": true});
    let (status, reply) = server.post("/v1/write", &write);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    errors(&reply)
}

#[track_caller]
fn is_healthy(server: &Server) {
    let (status, reply) = server.get("/v1/diagnostics");
    assert_eq!((status, &reply["items"]), (200, &json!([])), "{reply}");
}

/// The tests of `a` use `b`, which depends on `a`.
fn circle() -> Home {
    Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n"),
        ("a/Cargo.toml", &package("a", "\n[dev-dependencies]\nb = { path = \"../b\" }\n")),
        (
            "a/src/lib.rs",
            "pub fn level() -> u32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn both() {\n        \
             assert_eq!(b::twice(), 2 * super::level());\n    }\n}\n",
        ),
        ("a/tests/whole.rs", "#[test]\nfn whole() {\n    assert_eq!(a::level() * 2, b::twice());\n}\n"),
        ("b/Cargo.toml", &package("b", "\n[dependencies]\na = { path = \"../a\" }\n")),
        ("b/src/lib.rs", "pub fn twice() -> u32 {\n    a::level() * 2\n}\n"),
    ])
}

#[test]
fn a_dev_dependency_may_depend_on_its_crate() {
    let server = circle().serve(&["--trust"]);
    server.wait_ready();
    is_healthy(&server);
    assert_eq!(usages(&server, "b::twice"), ["a/src/lib.rs:9", "a/tests/whole.rs:3"]);
    assert_eq!(usages(&server, "a::level"), ["a/src/lib.rs:9", "a/tests/whole.rs:3", "b/src/lib.rs:2"]);
    let edit = ("b/src/lib.rs", "pub fn twice() -> u32 {", "pub fn twice(_more: u8) -> u32 {");
    assert_eq!(broken(&server, &[edit]), ["a/src/lib.rs:9 E0061", "a/tests/whole.rs:3 E0061"]);
    let edit = ("a/src/lib.rs", "pub fn level() -> u32 {", "fn level() -> u32 {");
    assert_eq!(broken(&server, &[edit]), ["a/tests/whole.rs:3 E0603", "b/src/lib.rs:2 E0603"]);
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "b::twice", "new_name": "double"}));
    assert_eq!(status, 200, "{reply}");
    assert!(server.home.read("a/src/lib.rs").contains("b::double()"));
    assert!(server.home.read("a/tests/whole.rs").contains("b::double()"));
    is_healthy(&server);
}

#[test]
fn code_without_tests_is_code() {
    let server = Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n"),
        ("a/Cargo.toml", &package("a", "")),
        (
            "a/src/lib.rs",
            "#[cfg(not(test))]\npub fn now(base: u32) -> u32 {\n    helper(base)\n}\n\n#[cfg(not(test))]\nmod real {\n    \
             pub fn only(x: u32) -> u32 {\n        super::helper(x)\n    }\n}\n\n#[cfg(not(test))]\npub fn also(x: u32) -> u32 \
             {\n    real::only(x)\n}\n\nfn helper(x: u32) -> u32 {\n    x\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn \
             helps() {\n        assert_eq!(super::helper(1), 1);\n    }\n}\n",
        ),
        ("b/Cargo.toml", &package("b", "\n[dependencies]\na = { path = \"../a\" }\n")),
        ("b/src/lib.rs", "pub fn sum() -> u32 {\n    a::now(2) + a::also(3)\n}\n"),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    is_healthy(&server);
    let (_, found) = server.get("/v1/symbols?file=a/src/lib.rs");
    let paths: Vec<&str> = found["symbols"].as_array().unwrap().iter().filter_map(|it| it["path"].as_str()).collect();
    assert_eq!(paths, ["a::now", "a::real", "a::also", "a::helper", "a::tests"]);
    assert_eq!(usages(&server, "a::helper"), ["a/src/lib.rs:26", "a/src/lib.rs:3", "a/src/lib.rs:9"]);
    assert_eq!(usages(&server, "a::now"), ["b/src/lib.rs:2"]);
    assert_eq!(usages(&server, "a::real::only"), ["a/src/lib.rs:15"]);
    let edit = ("a/src/lib.rs", "fn helper(x: u32)", "fn helper(x: u32, _y: u32)");
    assert_eq!(broken(&server, &[edit]), ["a/src/lib.rs:26 E0061", "a/src/lib.rs:3 E0061", "a/src/lib.rs:9 E0061"]);
    let edit = ("a/src/lib.rs", "pub fn also(x: u32)", "pub fn also(x: u32, _y: u32)");
    assert_eq!(broken(&server, &[edit]), ["b/src/lib.rs:2 E0061"]);
    // The first such code of a package.
    let edit = (
        "b/src/lib.rs",
        "pub fn sum() -> u32 {",
        "#[cfg(not(test))]\npub fn more() -> u32 {\n    a::also()\n}\n\npub fn sum() -> u32 {",
    );
    assert_eq!(broken(&server, &[edit]), ["b/src/lib.rs:3 E0061"]);
    is_healthy(&server);
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "a::helper", "new_name": "aid"}));
    assert_eq!(status, 200, "{reply}");
    assert_eq!(server.home.read("a/src/lib.rs").matches("aid(").count(), 4);
    is_healthy(&server);
}

#[test]
fn a_target_is_built_with_the_features_it_requires() {
    let server = Home::with(&[
        (
            "Cargo.toml",
            &package(
                "a",
                "\n[features]\nextra = [\"deep\"]\ndeep = []\n\n[[example]]\nname = \"show\"\nrequired-features = [\"extra\"]\n",
            ),
        ),
        (
            "src/lib.rs",
            "pub fn plain() -> u8 {\n    1\n}\n\n#[cfg(feature = \"deep\")]\npub fn deep() -> u8 {\n    plain()\n}\n",
        ),
        ("examples/show.rs", "fn main() {\n    println!(\"{} {}\", a::deep(), a::plain());\n}\n"),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    is_healthy(&server);
    assert_eq!(usages(&server, "a::plain"), ["examples/show.rs:2", "src/lib.rs:7"]);
    assert_eq!(usages(&server, "a::deep"), ["examples/show.rs:2"]);
    let edit = ("src/lib.rs", "pub fn plain()", "pub fn plain(_x: u8)");
    assert_eq!(broken(&server, &[edit]), ["examples/show.rs:2 E0061", "src/lib.rs:7 E0061"]);
}

/// `app` alone; `util` does not exist yet.
fn growing() -> Home {
    Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"app\"]\nresolver = \"2\"\n"),
        ("app/Cargo.toml", &package("app", "")),
        ("app/src/lib.rs", "mod inner;\n\npub fn total() -> u32 {\n    inner::one()\n}\n"),
        ("app/src/inner.rs", "pub fn one() -> u32 {\n    two()\n}\n\npub fn two() -> u32 {\n    1\n}\n"),
    ])
}

#[test]
fn a_manifest_in_a_change_is_judged_by_what_cargo_will_say() {
    let server = growing().serve(&["--trust"]);
    server.wait_ready();
    let replaced =
        |file: &str, from: &str, to: &str| format!("{file}\n<<<<<<< SEARCH\n{from}=======\n{to}>>>>>>> REPLACE\n\n");
    let send = |call: &str, body: &str| {
        let blocks = [
            replaced("Cargo.toml", "members = [\"app\"]\n", "members = [\"app\", \"util\"]\n"),
            replaced(
                "app/Cargo.toml",
                "edition = \"2021\"\n",
                "edition = \"2021\"\n\n[dependencies]\nutil = { path = \"../util\" }\n",
            ),
            replaced("app/src/lib.rs", "    inner::one()\n", &format!("    {call}\n")),
            replaced("util/Cargo.toml", "", &package("util", "")),
            replaced("util/src/lib.rs", "", &format!("pub fn one() -> u32 {{\n    {body}\n}}\n")),
        ];
        let request = server.request("POST", "/v1/edit?on_break=reject");
        let reply = server.send(request.header("content-type", "text/x-search-replace").body(blocks.concat()));
        (reply.status, reply.json())
    };
    let (status, reply) = send("util::one(1)", "true");
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    assert_eq!(errors(&reply), ["app/src/lib.rs:4 E0061", "util/src/lib.rs:2 E0308"], "{reply}");
    let (status, reply) = send("util::one()", "1");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(errors(&reply), [""; 0], "{reply}");
    server.wait_for(|server| server.get("/v1/usages?symbol=util::one").1["total"] == 1);

    // The manifest alone: what it takes away.
    let manifest = "\n[dependencies]\nutil = { path = \"../util\" }";
    assert_eq!(broken(&server, &[("app/Cargo.toml", manifest, "")]), ["app/src/lib.rs:4 E0433"]);
    assert_eq!(usages(&server, "util::one"), ["app/src/lib.rs:4"]);
}

#[test]
fn a_manifest_that_cargo_cannot_judge_is_no_reason_to_refuse() {
    let server = growing().serve(&["--trust"]);
    server.wait_ready();
    let change = json!({"edits": [
        {"file": "app/Cargo.toml", "search_context": "edition = \"2021\"",
            "replacement": "edition = \"2021\"\n\n[dependencies]\nnowhere = \"1\""},
        {"file": "app/src/lib.rs", "search_context": "inner::one()", "replacement": "nowhere::one() + inner::one()"},
    ], "on_break": "reject", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &change);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    assert_eq!(errors(&reply), [""; 0], "{reply}");
    let unchecked = reply["impact"]["unchecked"].as_array().unwrap();
    let manifest = unchecked.iter().find(|it| it["code"] == "manifest").unwrap_or_else(|| panic!("{reply}"));
    assert!(manifest["detail"].as_str().unwrap().contains("nowhere"), "{manifest}");
}

#[test]
fn a_new_target_is_code() {
    let server = growing().serve(&["--trust"]);
    server.wait_ready();
    let content = "use app::nothing;\n\n#[test]\nfn wrong() {\n    let _: u32 = \"a\";\n    app::gone();\n}\n";
    let wanted = ["app/tests/new.rs:1 E0432", "app/tests/new.rs:5 E0308", "app/tests/new.rs:6 E0425"];
    assert_eq!(written(&server, "app/tests/new.rs", content), wanted);
    let content = "fn main() {\n    let _: u32 = app::total(1);\n}\n";
    for file in ["app/src/bin/more.rs", "app/examples/show.rs", "app/benches/fast/main.rs", "app/src/main.rs"] {
        assert_eq!(written(&server, file, content), [format!("{file}:2 E0061")]);
    }
    assert_eq!(written(&server, "app/tests/right.rs", "#[test]\nfn right() {\n    app::total();\n}\n"), [""; 0]);
    is_healthy(&server);
}

#[test]
fn nothing_is_broken_in_a_file_that_is_no_code_any_more() {
    let server = growing().serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(broken(&server, &[("app/src/lib.rs", "mod inner;\n", "")]), ["app/src/lib.rs:3 E0433"]);
    let edit = ("app/src/lib.rs", "mod inner;\n", "#[cfg(windows)]\nmod inner;\n");
    assert_eq!(broken(&server, &[edit]), ["app/src/lib.rs:5 E0433"]);
    let moved = [("app/src/lib.rs", "mod inner;\n", "mod inner {\n    pub fn one() -> u32 {\n        2\n    }\n}\n")];
    assert_eq!(broken(&server, &moved), [""; 0]);
}
