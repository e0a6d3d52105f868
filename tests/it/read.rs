//! The reading verbs, as an agent would call them, in both languages.

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server};

/// A small Go module, with the same things in it as the Rust package.
pub const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/greeter\n\ngo 1.22\n"),
    ("greet.go", GREET),
    ("cmd/hello/main.go", MAIN),
    ("greet_test.go", TEST),
];

const GREET: &str = "// Package greeter greets.\npackage greeter\n\nimport \"strings\"\n\n// Greeter greets by name.\n\
type Greeter struct {\n\tPrefix string\n}\n\n// Greet greets someone.\nfunc (g *Greeter) Greet(name string) string {\n\t\
return g.Prefix + name\n}\n\n// Shout greets loudly.\nfunc Shout(g *Greeter, name string) string {\n\t\
return strings.ToUpper(/* \u{1f600} */ g.Greet(name))\n}\n";

const MAIN: &str = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/greeter\"\n)\n\nfunc main() {\n\t\
g := &greeter.Greeter{Prefix: \"Hello, \"}\n\tfmt.Println(g.Greet(\"you\"))\n}\n";

const TEST: &str = "package greeter\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n\tg := &Greeter{}\n\t\
if g.Greet(\"a\") != \"a\" {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";

/// `file:line role symbol` of each usage.
fn places(reply: &Value) -> Vec<String> {
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let place = |it: &Value| format!("{}:{} {} {}", text(it, "file"), it["line"], text(it, "role"), text(it, "symbol"));
    reply["items"].as_array().unwrap_or_else(|| panic!("no items: {reply}")).iter().map(place).collect()
}

fn paths(symbols: &Value) -> Vec<&str> {
    symbols.as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect()
}

#[test]
fn rust_is_read() {
    // It is described in the words of the real one.
    let server = Home::with(RUST).with_real_std().serve(&["--trust"]);
    // The text alone answers immediately, and the answer says so.
    let (status, early) = server.post("/v1/open", &json!({"file": "src/lib.rs", "wait_ms": 0}));
    assert_eq!(status, 200, "{early}");
    let skeleton = early["skeleton"].as_str().unwrap();
    assert!(skeleton.contains("pub fn greet(name: &str) -> String"), "{skeleton}");
    server.wait_ready();

    let (_, opened) = server.post("/v1/open", &json!({"file": "./src/lib.rs"}));
    assert_eq!(opened["meta"]["complete"], true, "{opened}");
    assert_eq!(opened["package"], "greeter");
    assert_eq!(paths(&opened["symbols"]), ["greeter::shout", "greeter::greet", "greeter::greet_all"]);
    assert_eq!(opened["symbols"][1]["usages"], json!({"total": 3, "files": 2}));
    assert_eq!(opened["downstream"][0]["file"], "src/shout.rs");
    assert_eq!(opened["hash"], blake3::hash(server.home.read("src/lib.rs").as_bytes()).to_hex().as_str());

    let (_, usages) = server.get("/v1/usages?symbol=greeter::greet");
    assert_eq!(usages["total"], 3);
    assert_eq!(
        places(&usages),
        [
            "src/shout.rs:1 import greeter::shout",
            "src/shout.rs:5 call greeter::shout::shout",
            "src/lib.rs:12 call greeter::greet_all"
        ]
    );
    assert_eq!(usages["meta"]["complete"], true);
    let (_, first) = server.get("/v1/usages?symbol=greet&limit=2");
    let cursor = first["next_cursor"].as_str().unwrap();
    let (_, rest) = server.get(&format!("/v1/usages?symbol=greet&limit=2&cursor={cursor}"));
    assert_eq!((places(&first).len(), places(&rest).len(), &rest["next_cursor"]), (2, 1, &Value::Null));

    let (_, callers) = server.get("/v1/callers?symbol=greeter::greet");
    assert_eq!(ends(&callers), ["greeter::greet_all src/lib.rs:12", "greeter::shout::shout src/shout.rs:5"]);
    assert_eq!((&callers["total"], &callers["meta"]["complete"]), (&json!(2), &json!(true)));
    let (_, tested) = server.get("/v1/callers?symbol=greeter::shout::shout");
    assert_eq!(ends(&tested), ["greeter::shout::tests::it_is_loud src/shout.rs:12"]);
    assert_eq!(tested["items"][0]["calls"][0]["test"], true);
    let (_, callees) = server.get("/v1/callees?symbol=greeter::shout::shout");
    assert_eq!(ends(&callees), ["greeter::greet src/shout.rs:5", "str::to_uppercase src/shout.rs:5"]);

    let (_, described) = server.post("/v1/describe", &json!({"package": "greeter", "symbol": "shout::shout"}));
    assert_eq!(described["kind"], "symbol");
    assert_eq!(
        described["source"],
        "/// Greets loudly.\npub fn shout(name: &str) -> String {\n    greet(name).to_uppercase()\n}"
    );
    assert_eq!(described["examples"][0]["origin"], "test", "{described}");
    let (_, external) = server.post("/v1/describe", &json!({"symbol": "str::to_uppercase", "package": "alloc"}));
    assert_eq!(external["symbol"]["external"], true, "{external}");
    assert!(external["docs"].as_str().unwrap().contains("uppercase equivalent"), "{external}");
    assert_eq!(external["usages"]["total"], 1);
    let (_, package) = server.post("/v1/describe", &json!({"package": "greeter"}));
    assert_eq!((&package["kind"], &package["package"]["docs"]), (&json!("package"), &json!("Greetings.")));
    let (_, file) = server.post("/v1/describe", &json!({"file": "Cargo.toml"}));
    assert_eq!(file["file"]["content"], server.home.read("Cargo.toml"));

    let (_, found) = server.get("/v1/symbols?query=gret");
    assert_eq!(paths(&found["symbols"])[..2], ["greeter::greet", "greeter::greet_all"]);
    let (_, tree) = server.get("/v1/symbols?file=src/shout.rs");
    assert_eq!(tree["symbols"][1]["children"][0]["path"], "greeter::shout::tests::it_is_loud", "{tree}");
    let (_, at) = server.get("/v1/symbols/at?file=src/shout.rs&line=5&column=7");
    assert_eq!(at["symbol"]["path"], "greeter::greet", "{at}");
    assert_eq!(at["definition"]["file"], "src/lib.rs");

    let (_, diagnostics) = server.get("/v1/diagnostics");
    assert_eq!((&diagnostics["total"], &diagnostics["meta"]["complete"]), (&json!(0), &json!(true)), "{diagnostics}");

    let (status, miss) = server.get("/v1/usages?symbol=greeter::gret");
    assert_eq!(
        (status, &miss["code"], &miss["suggestions"][0]),
        (404, &json!("unknown_symbol"), &json!("greeter::greet"))
    );
    let (status, miss) = server.post("/v1/open", &json!({"file": "src/lib.sr"}));
    assert_eq!((status, &miss["code"], &miss["suggestions"][0]), (404, &json!("unknown_file"), &json!("src/lib.rs")));
}

/// `path file:line` of each end of a call, with the place of its first call.
fn ends(reply: &Value) -> Vec<String> {
    let end = |it: &Value| {
        let call = &it["calls"][0];
        format!("{} {}:{}", it["symbol"]["path"].as_str().unwrap(), call["file"].as_str().unwrap(), call["line"])
    };
    reply["items"].as_array().unwrap_or_else(|| panic!("{reply}")).iter().map(end).collect()
}

#[test]
fn go_is_read() {
    let server = Server::on(GO);
    server.wait_ready();
    let (_, opened) = server.post("/v1/open", &json!({"file": "greet.go"}));
    assert_eq!(opened["meta"]["complete"], true, "{opened}");
    assert_eq!(opened["package"], "example.com/greeter");
    assert_eq!(
        paths(&opened["symbols"]),
        ["example.com/greeter.Greeter", "example.com/greeter.Greeter.Greet", "example.com/greeter.Shout"]
    );
    assert_eq!(opened["symbols"][1]["usages"], json!({"total": 3, "files": 3}), "{opened}");
    assert_eq!(opened["upstream"][0]["package"], "strings");

    let (_, usages) = server.get("/v1/usages?symbol=Greeter.Greet");
    assert_eq!(usages["meta"]["complete"], true, "{usages}");
    assert_eq!(
        places(&usages),
        [
            "cmd/hello/main.go:11 call example.com/greeter/cmd/hello.main",
            "greet.go:18 call example.com/greeter.Shout",
            "greet_test.go:7 call example.com/greeter.TestGreet"
        ]
    );
    // Offsets count bytes, behind a character of four bytes too.
    let at = usages["items"][1]["start"].as_u64().unwrap() as usize;
    assert_eq!(&server.home.read("greet.go")[at..at + 5], "Greet");
    let (_, meant) = server.get(&format!("/v1/symbols/at?file=greet.go&offset={at}"));
    assert_eq!(meant["symbol"]["path"], "example.com/greeter.Greeter.Greet", "{meant}");

    let (_, described) = server.post("/v1/describe", &json!({"symbol": "Shout", "package": "example.com/greeter"}));
    assert!(described["source"].as_str().unwrap().starts_with("// Shout greets loudly.\nfunc Shout("), "{described}");
    let (_, external) = server.post("/v1/describe", &json!({"symbol": "strings.ToUpper"}));
    assert_eq!(
        (&external["symbol"]["external"], &external["usages"]["total"]),
        (&json!(true), &json!(1)),
        "{external}"
    );
    let (_, package) = server.post("/v1/describe", &json!({"package": "strings"}));
    assert_eq!(package["kind"], "package", "{package}");
    let (_, found) = server.get("/v1/symbols?query=shout");
    assert_eq!(paths(&found["symbols"])[0], "example.com/greeter.Shout");
    let (status, miss) = server.get("/v1/usages?symbol=Greeter.Gret");
    assert_eq!((status, &miss["code"]), (404, &json!("unknown_symbol")), "{miss}");
    assert!(miss["suggestions"].to_string().contains("Greeter.Greet"), "{miss}");
}

#[test]
fn both_languages_share_a_workspace() {
    let all: Vec<(&str, &str)> = RUST.iter().chain(GO).copied().collect();
    let server = Server::shared(&all);
    server.wait_ready();
    let (_, found) = server.get("/v1/symbols?query=shout");
    let found = paths(&found["symbols"]).join(" ");
    assert!(found.contains("greeter::shout::shout") && found.contains("example.com/greeter.Shout"), "{found}");
    let (_, status) = server.get("/v1/status");
    assert_eq!(status["workspaces"][0]["languages"], json!(["rust", "go"]));
    let (status, ambiguous) = server.get("/v1/usages?symbol=Greeter.Greet&wait_ms=0");
    assert_eq!(status, 200, "{ambiguous}");
}
