//! No text ends the process: too deeply nested texts count as plain text, in the workspace and in its dependencies.
//! Texts nested up to the limit are analysed.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{Home, Server};

/// A construct that nests, so and so deep.
type Construct = (&'static str, fn(usize) -> String);

fn chain(before: &str, link: &str, count: usize, behind: &str) -> String {
    format!("{before}{}{behind}\n", link.repeat(count))
}

fn nest(before: &str, open: &str, middle: &str, close: &str, count: usize, behind: &str) -> String {
    format!("{before}{}{middle}{}{behind}\n", open.repeat(count), close.repeat(count))
}

const RUST: &[Construct] = &[
    ("not", |n| chain("pub fn f(x: bool) -> bool { ", "!", n, "x }")),
    ("minus", |n| chain("pub fn f(x: i32) -> i32 { ", "- ", n, "x }")),
    ("deref", |n| chain("pub fn f(x: i32) -> i32 { ", "*", n, "x }")),
    ("reference", |n| chain("pub fn f(x: i32) { let _ = ", "& ", n, "x; }")),
    ("parameters", |n| chain("pub fn f() { let _ = ", "|a: u8, b: u8| ", n, "1; }")),
    ("returns", |n| chain("pub fn f() { ", "return ", n, "; }")),
    ("methods", |n| chain("pub fn f(x: u32) -> u32 { x", ".min(1)", n, " }")),
    ("fields", |n| chain("pub fn f(x: u32) { x", ".a", n, "; }")),
    ("tuples", |n| chain("pub fn f(x: u32) { x", ".0.0", n, "; }")),
    ("tries", |n| chain("pub fn f(x: Option<u32>) { x", "?", n, "; }")),
    ("calls", |n| chain("pub fn f(x: fn()) { x", "()", n, "; }")),
    ("indices", |n| chain("pub fn f(x: &[u8]) { x", "[0]", n, "; }")),
    ("sum", |n| chain("pub fn f(x: u32) -> u32 { x", " + 1", n, " }")),
    ("constant", |n| chain("pub const X: u64 = 1", " + 1", n, ";\npub fn f() {}")),
    ("strings", |n| chain("pub fn f(x: String) -> String { x", " + \"a\"", n, " }")),
    ("casts", |n| chain("pub fn f(x: u32) { let _ = x", " as u32", n, "; }")),
    ("assignments", |n| chain("pub fn f(mut x: u32) { ", "x = ", n, "1; }")),
    ("ranges", |n| chain("pub fn f(x: u32) { let _ = ", "..", n, "x; }")),
    ("branches", |n| chain("pub fn f(x: u32) { if x == 0 {} ", "else if x == 1 {} ", n, " }")),
    ("conditions", |n| nest("pub fn f(x: bool) { ", "if ", "x", " {x}", n, " }")),
    ("references", |n| chain("pub fn f(_: ", "& ", n, "u8) {}")),
    ("pointers", |n| chain("pub fn f(_: ", "*const ", n, "u8) {}")),
    ("functions", |n| chain("pub fn f(_: ", "fn() -> ", n, "u8) {}")),
    ("generics", |n| nest("pub fn f(_: ", "Vec<", "u8", ">", n, ") {}")),
    ("open_generics", |n| chain("pub fn f(_: ", "Result<u8, ", n, "")),
    ("qualified", |n| nest("pub fn f(_: ", "<", "u8", " as T>::A", n, ") {}")),
    ("path", |n| chain("pub fn f() { a", "::a", n, "; }")),
    ("import", |n| chain("use a", "::a", n, ";\npub fn f() {}")),
    ("reference_pattern", |n| chain("pub fn f(", "& ", n, "x: u8) {}")),
    ("bindings", |n| chain("pub fn f(y: u8) { let ", "x @ ", n, "_ = y; }")),
    ("lets", |n| chain("pub fn f(y: u8) { ", "let x = ", n, "y; }")),
    ("parentheses", |n| nest("pub fn f(x: u8) -> u8 { ", "(", "x", ")", n / 8, " }")),
    ("blocks", |n| nest("pub fn f(x: u8) -> u8 { ", "{", "x", "}", n / 8, " }")),
    ("matches", |n| nest("pub fn f(x: u8) -> u8 { ", "match x { _ => ", "x", "}", n / 10, " }")),
    ("arrays", |n| nest("pub fn f() { let _ = ", "[", "1", "]", n / 8, "; }")),
    ("modules", |n| nest("pub fn f() {}\n", "mod a { ", "", "}", n / 8, "")),
    ("items", |n| nest("pub fn f() { ", "fn a() { ", "", "}", n / 9, " }")),
    ("imports", |n| nest("pub fn f() {}\n", "use a::{", "b", "}", n / 9, ";")),
    ("attributes", |n| nest("#[cfg(", "not(", "x", ")", n / 8, ")]\npub fn g() {}\npub fn f() {}")),
    ("macro_input", |n| chain("pub fn f() { m!(", "!", n, "x); }")),
    ("macros", |n| nest("pub fn f() { ", "vec![", "1", "]", n / 9, "; }")),
    ("quotes", |n| chain("/// ", "> ", n, "x\npub fn f() {}")),
    ("lists", |n| chain("/// ", "- ", n, "x\npub fn f() {}")),
    ("links", |n| nest("/// ", "[", "f", "]", n, "\npub fn f() {}")),
    ("emphasis", |n| nest("/// ", "*a ", "", " b*", n, "\npub fn f() {}")),
    ("format", |n| nest("pub fn f() { let _ = format!(\"", "{", "", "}", n, "\"); }")),
];

/// The compiler takes them for text too: they nest nothing.
const FLAT: &[&str] = &["quotes", "lists", "links", "emphasis", "format"];

const GO: &[Construct] = &[
    ("not", |n| chain("func F(x bool) bool { return ", "!", n, "x }")),
    ("pointers", |n| chain("func F(x ", "*", n, "int) {}")),
    ("slices", |n| chain("func F(x ", "[]", n, "int) {}")),
    ("functions", |n| chain("func F(x ", "func() ", n, "int) {}")),
    ("sum", |n| chain("func F(x int) int { return x", " + 1", n, " }")),
    ("constant", |n| chain("const F = \"a\"", " +\n\t\"b\"", n, "")),
    ("selectors", |n| chain("func F(x int) { x", ".a", n, " }")),
    ("calls", |n| chain("func F(x int) { x", "()", n, " }")),
    ("parentheses", |n| nest("func F(x int) int { return ", "(", "x", ")", n, " }")),
    ("blocks", |n| nest("func F() { ", "{", "", "}", n, " }")),
    ("branches", |n| chain("func F(x bool) { if x {}", " else if x {}", n, " }")),
    ("literals", |n| nest("func F() { ", "func() {", "", "}()", n, " }")),
    ("structs", |n| nest("type F ", "struct { a ", "int", " }", n, "")),
    ("values", |n| nest("var F = ", "T{", "", "}", n, "")),
    ("labels", |n| chain("func F() { ", "a: ", n, "return }")),
    ("open", |n| chain("func F() ", "{[(", n, "")),
];

fn lacks(reply: &Value, file: &str) -> bool {
    let missing = reply["meta"]["missing"].as_array().unwrap();
    missing.iter().any(|it| it["code"] == "unsupported" && it["detail"].as_str().unwrap().contains(file))
}

/// Requests about a file that is nested too deeply, and about the rest of its workspace.
fn check_text(server: &Server, file: &str, text: &str) {
    let (status, opened) = server.post("/v1/open", &json!({"file": file, "wait_ms": 60_000}));
    assert_eq!((status, &opened["symbols"], &opened["meta"]["complete"]), (200, &json!([]), &json!(false)), "{file}");
    assert_eq!(opened["skeleton"], text, "{file}");
    assert!(lacks(&opened, file), "{file}: {}", opened["meta"]);
    let (status, described) = server.post("/v1/describe", &json!({"file": file}));
    assert_eq!((status, &described["file"]["content"]), (200, &json!(text)), "{file}");
    let (status, at) = server.get(&format!("/v1/symbols/at?file={file}&offset={}&wait_ms=60000", text.len() - 2));
    // gopls reads the file itself.
    assert!(file.ends_with(".go") || status == 404 || at["meta"]["complete"] == false, "{file}: {at}");
    let edit = json!({"file": file, "search_context": "pub fn last", "replacement": "pub fn list", "dry_run": true});
    let edit: Value = match file.ends_with(".go") {
        true => json!({"file": file, "search_context": "func Last", "replacement": "func List", "dry_run": true}),
        false => edit,
    };
    let (status, edited) = server.post("/v1/edit", &edit);
    assert_eq!((status, edited["edits"][0]["strategy"].as_str()), (200, Some("exact")), "{file}: {edited}");
    assert!(server.log().lines().all(|it| !it.contains("panicked")), "{file}: {}", server.log());
}

#[test]
fn rust_that_is_nested_too_deeply_is_text() {
    const PLENTY: usize = 100_000;
    let constructs = || RUST.iter().filter(|it| !FLAT.contains(&it.0));
    let text = |it: &Construct| format!("{}pub fn last() {{}}\n", it.1(PLENTY));
    let modules: String = constructs().map(|it| format!("pub mod {};\n", it.0)).collect();
    let home = Home::with(&[
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nd = { path = \"../d\" }\n",
        ),
        (
            "src/lib.rs",
            &format!(
                "{modules}include!(\"included.txt\");\ninclude!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n\npub fn last() {{}}\npub fn healthy() {{ last(); d::fine(); }}\n"
            ),
        ),
        ("src/included.txt", &chain("pub fn included() { ", "!", PLENTY, "true; }")),
        (
            "build.rs",
            "fn main() {\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(format!(\"{out}/made.rs\"), format!(\"pub fn made() {{{{ {}true; }}}}\", \"!\".repeat(100_000))).unwrap();\n}\n",
        ),
    ]);
    for it in constructs() {
        home.write(&format!("src/{}.rs", it.0), &text(it));
    }
    let library = "pub mod deep;\npub fn fine() {}\n";
    home.write("../d/Cargo.toml", "[package]\nname = \"d\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    home.write("../d/src/lib.rs", library);
    home.write("../d/src/deep.rs", &RUST[0].1(PLENTY));
    let mut server = home.serve(&["--trust"]);
    server.wait_ready();
    for it in constructs() {
        check_text(&server, &format!("src/{}.rs", it.0), &text(it));
    }
    for again in [false, true] {
        if again {
            server = server.restart(&["--trust"]);
            server.wait_ready();
        }
        let (status, found) = server.get("/v1/diagnostics?file=src/lib.rs&wait_ms=60000");
        assert_eq!((status, &found["meta"]["complete"]), (200, &json!(false)), "{found}");
        assert!(lacks(&found, "src/not.rs") && lacks(&found, "d/src/deep.rs") && lacks(&found, "made.rs"), "{found}");
        // Their words may name the searched symbol.
        let (status, found) = server.get("/v1/usages?symbol=p::last&wait_ms=60000");
        assert_eq!((status, &found["total"], &found["meta"]["complete"]), (200, &json!(1), &json!(false)), "{found}");
        assert!(found["possible"].as_array().unwrap().iter().any(|it| it["file"] == "src/not.rs"), "{found}");
        let (status, found) = server.get("/v1/usages?symbol=d::fine&wait_ms=60000");
        assert_eq!((status, &found["total"], &found["meta"]["complete"]), (200, &json!(1), &json!(true)), "{found}");
        // A change of intact code cannot be judged there.
        let edit = json!({"file": "src/lib.rs", "search_context": "pub fn last() {}", "replacement": "pub fn last(_x: u8) {}", "dry_run": true});
        let (status, impact) = server.post("/v1/edit", &edit);
        assert_eq!((status, &impact["meta"]["complete"]), (200, &json!(false)), "{impact}");
        assert_eq!(impact["impact"]["broken"].as_array().map(Vec::len), Some(1), "{impact}");
    }
    // Once it is fixed it is analysed, and the reverse.
    let whole = |text: &str| json!({"name": "src/not.rs", "content": text, "mode": "overwrite"});
    let (status, mended) = server.post("/v1/write", &whole("pub fn f() { crate::last(); }\n"));
    assert_eq!(status, 200, "{mended}");
    let (_, found) = server.get("/v1/usages?symbol=p::last&wait_ms=60000");
    assert_eq!(found["total"], 2, "{found}");
    assert_eq!(server.post("/v1/undo", &json!({"change": mended["change"]})).0, 200);
    check_text(&server, "src/not.rs", &text(&RUST[0]));
}

#[test]
fn rust_that_is_nested_as_deeply_as_is_allowed_is_analysed() {
    const ALLOWED: usize = 1000;
    // rust-analyzer takes disproportionately long for these.
    let count = |name: &str| match name {
        "parameters" => 100,
        // Each counts several times.
        "branches" | "functions" => ALLOWED / 2,
        "quotes" | "lists" | "links" | "emphasis" | "format" => 100_000,
        _ => ALLOWED,
    };
    let modules: String = RUST.iter().map(|it| format!("pub mod {};\n", it.0)).collect();
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", &format!("{modules}\npub fn last() {{}}\n")),
    ]);
    // What `vec!`, `format!` and the operators are decides how deep it gets.
    let home = home.with_real_std();
    for it in RUST {
        home.write(&format!("src/{}.rs", it.0), &format!("{}pub fn last() {{ crate::last(); }}\n", it.1(count(it.0))));
    }
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let (status, found) = server.get("/v1/usages?symbol=p::last&wait_ms=120000&limit=100");
    assert_eq!(status, 200, "{found}");
    let named: Vec<&str> = found["items"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str()).collect();
    for it in RUST.iter().filter(|it| it.0 != "open_generics") {
        assert!(named.contains(&&*format!("src/{}.rs", it.0)), "{}: {found}", it.0);
    }
    // rust-analyzer takes long for some of them; the test does not wait for it.
    for it in RUST {
        let (status, found) = server.get(&format!("/v1/diagnostics?file=src/{}.rs&wait_ms=1000", it.0));
        assert!(matches!(status, 200 | 504) && !lacks(&found, it.0), "{}: {found}", it.0);
    }
    let edit = json!({"file": "src/lib.rs", "search_context": "pub fn last() {}", "replacement": "pub fn last(_x: u8) {}", "dry_run": true});
    let (status, impact) = server.post("/v1/edit", &edit);
    assert!(matches!(status, 200 | 504), "{impact}");
    assert_eq!(server.get("/v1/status").0, 200);
}

#[test]
fn go_that_is_nested_too_deeply_is_text() {
    // gopls reads them from the disk, and takes disproportionately long for this one.
    let count = |name: &str| if name == "functions" { 5_000 } else { 20_000 };
    let text = |it: &Construct| format!("package {}\n\n{}\nfunc Last() {{}}\n", it.0, it.1(count(it.0)));
    let home = Home::with(&[
        ("go.mod", "module example.com/m\n\ngo 1.21\n"),
        ("m.go", "package m\n\nfunc Healthy() { other() }\n\nfunc other() {}\n"),
    ]);
    for it in GO {
        home.write(&format!("{0}/{0}.go", it.0), &text(it));
    }
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    for it in GO {
        check_text(&server, &format!("{0}/{0}.go", it.0), &text(it));
    }
    let (status, found) = server.get("/v1/usages?symbol=example.com/m.other&wait_ms=60000");
    assert_eq!((status, &found["total"]), (200, &json!(1)), "{found}");
    let server = server.restart(&["--trust"]);
    server.wait_ready();
    check_text(&server, "not/not.go", &text(&GO[0]));
    let (_, status) = server.get("/v1/status");
    let engines = status["workspaces"][0]["engines"].as_array().unwrap();
    assert!(engines.iter().all(|it| it["restarts"] == 0), "{status}");
}

/// For each language with a tree-sitter grammar and without a compiler here: nested texts with brackets and without.
const GRAMMARS: &[(&str, &[Construct])] = &[
    (
        "py",
        &[
            ("negations", |n| chain("x = ", "not ", n, "x")),
            ("unary", |n| chain("x = ", "- ", n, "x")),
            ("sum", |n| chain("x = x", " + 1", n, "")),
            ("methods", |n| chain("x = x", ".a()", n, "")),
            ("powers", |n| chain("x = x", " ** x", n, "")),
            ("lambdas", |n| chain("x = ", "lambda: ", n, "1")),
            ("parentheses", |n| nest("x = ", "(", "x", ")", n, "")),
        ],
    ),
    (
        "ts",
        &[
            ("not", |n| chain("let x = ", "!", n, "x;")),
            ("types", |n| chain("let x = ", "typeof ", n, "x;")),
            ("sum", |n| chain("let x = x", " + 1", n, ";")),
            ("methods", |n| chain("let x = x", ".a()", n, ";")),
            ("arrows", |n| chain("let x = ", "y => ", n, "1;")),
            ("branches", |n| chain("if (x) {}", " else if (x) {}", n, "")),
            ("arrays", |n| nest("let x = ", "[", "1", "]", n, ";")),
        ],
    ),
    (
        "c",
        &[
            ("not", |n| chain("int f(int x) { return ", "!", n, "x; }")),
            ("pointers", |n| chain("int ", "*", n, "x;")),
            ("sum", |n| chain("int f(int x) { return x", " + 1", n, "; }")),
            ("fields", |n| chain("int f(int x) { return x", ".a", n, "; }")),
            ("branches", |n| chain("void f(int x) { if (x) {}", " else if (x) {}", n, " }")),
            ("blocks", |n| nest("void f() ", "{", "", "}", n, "")),
        ],
    ),
    (
        "sh",
        &[
            ("and", |n| chain("a", " && a", n, "")),
            ("not", |n| chain("", "! ", n, "a")),
            ("sum", |n| chain("x=$((1", " + 1", n, "))")),
            ("branches", |n| chain("if a; then b\n", "elif a; then b\n", n, "fi")),
            ("substitutions", |n| nest("x=", "$(", "a", ")", n, "")),
        ],
    ),
];

#[test]
fn other_languages_that_are_nested_too_deeply_are_text() {
    const PLENTY: usize = 200_000;
    let all = || GRAMMARS.iter().flat_map(|(extension, constructs)| constructs.iter().map(move |it| (*extension, it)));
    let home = Home::with(&[("healthy.py", "def healthy():\n    healthy()\n")]);
    for (extension, it) in all() {
        home.write(&format!("{extension}/{}.{extension}", it.0), &it.1(PLENTY));
    }
    // Only the text is needed: there is no server.
    let server = home.serve_with(&["--trust"], &[("PATH", Path::new("/usr/bin:/bin"))]);
    server.wait_loaded();
    for (extension, it) in all() {
        let (file, text) = (format!("{extension}/{}.{extension}", it.0), it.1(PLENTY));
        let (status, opened) =
            server.post("/v1/open", &json!({"file": file, "wait_ms": 60_000, "max_tokens": 1_000_000}));
        assert_eq!((status, &opened["symbols"]), (200, &json!([])), "{file}");
        let is_flat = !lacks(&opened, &file);
        assert!(is_flat || opened["skeleton"] == text, "{file}");
        assert!(!is_flat || matches!((extension, it.0), ("sh", "branches" | "not")), "{file}: {}", opened["meta"]);
    }
    let (status, found) = server.get("/v1/usages?symbol=healthy.py::healthy&wait_ms=60000");
    assert_eq!((status, found["possible"].as_array().map(Vec::len)), (200, Some(1)), "{found}");
    // All of them are parsed for it, which takes long on a busy machine.
    let (status, found) = server.get("/v1/symbols?query=healthy&wait_ms=60000");
    assert!(matches!(status, 200 | 504), "{found}");
    assert!(server.log().lines().all(|it| !it.contains("panicked")), "{}", server.log());
}

#[test]
fn manifests_and_requests_that_are_nested_deeply_are_refused() {
    let deep = |open: &str, close: &str| nest("", open, "", close, 100_000, "");
    let server = Server::on(&[
        ("Cargo.toml", &format!("[package]\nname = \"p\"\nversion = \"0.1.0\"\nx = {}", deep("[", "]"))),
        ("a/Cargo.toml", &format!("[package]\nname = \"a\"\nversion = \"0.1.0\"\n{}= 1\n", "a.".repeat(100_000))),
        ("a/src/lib.rs", "pub fn a() {}\n"),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("b/go.mod", &format!("module b\n\nrequire {}\n", deep("(", ")"))),
        ("b/b.go", &format!("//go:build {}\n\npackage b\n", deep("!(", ")").trim_end())),
        ("b/c.go", "package b\n\nfunc F() {}\n"),
    ]);
    let sent = |path: &str, kind: &str, body: String| {
        server.send(server.request("POST", path).header("content-type", kind).body(body)).status
    };
    assert_eq!(sent("/v1/edit", "application/json", format!("{{\"edits\": {}}}", deep("[", "]"))), 400);
    assert_eq!(sent("/v1/edit", "application/json", deep("{\"edits\": ", "}")), 400);
    assert_eq!(sent("/v1/edit", "text/x-search-replace", deep("<<<<<<< SEARCH\n", "=======\n")), 400);
    assert_eq!(sent("/v1/edit", "text/x-search-replace", deep("```\n", "```\n")), 400);
    for symbol in
        [deep("<", ">"), deep("<a as ", ">::b"), deep("& ", ""), deep("[", "]"), deep("a::", "b"), deep("(*", ")")]
    {
        let (status, answer) =
            server.post("/v1/describe", &json!({"symbol": symbol.trim(), "file": "src/lib.rs", "wait_ms": 30_000}));
        assert!((400..=504).contains(&status) && status != 500, "{status} {}", answer["detail"]);
    }
    assert_eq!(server.post("/v1/open", &json!({"file": "src/lib.rs"})).0, 200);
    assert_eq!(server.post("/v1/open", &json!({"file": "b/c.go"})).0, 200);
    assert!(server.log().lines().all(|it| !it.contains("panicked")), "{}", server.log());
    // An unreadable configuration is reported.
    let server = Home::with(&[("semdex.toml", &format!("[rust]\nfeatures = {}", deep("{a=", "}")))]).serve(&[]);
    let missing = server.get("/v1/status").1["workspaces"][0]["missing"].to_string();
    assert!(missing.contains("semdex.toml:2"), "{missing}");
}
