//! No macro ends the process: its output may be nested without bound, and macros may call macros.

use serde_json::{Value, json};

use super::support::{Home, Server};

/// A macro that makes 30 links of each of 300 tokens: the text around the call, the text that the macro puts before the
/// links, one link of `$x`, the text after the links, and the token.
const REPEATED: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("not", "pub fn f() -> bool { @ }", "", "$x", "true", "!"),
    ("minus", "pub fn f() -> i32 { @ }", "", "$x", "1", "-"),
    ("reference", "pub fn f() { let _ = @; }", "", "$x", "1", "&"),
    ("methods", "pub fn f() -> u32 { @ }", "1u32", ".min($x)", "", "1"),
    ("fields", "pub fn f(x: u8) { x.a; @ }", "1u32", ".$x", ";", "a"),
    ("calls", "pub fn f() { @ }", "f", "$x", ";", "()"),
    ("tries", "pub fn f() { @ }", "f()", "$x", ";", "?"),
    ("sum", "pub fn f() -> u32 { @ }", "1", "+ $x", "", "1"),
    ("constant", "pub const X: u64 = @;\npub fn f() -> [u8; X as usize] { [0; X as usize] }", "1", "+ $x", "", "1"),
    ("casts", "pub fn f() -> u32 { @ }", "1", "as $x", "", "u32"),
    ("closures", "pub fn f() { let _ = @; }", "", "|$x: u8|", "1", "x"),
    ("branches", "pub fn f(x: u8) { @ }", "if 1 == 1 {}", "else if $x == 1 {}", "", "1"),
    ("references", "pub fn f(_: @) {}", "", "$x", "u8", "&"),
    ("functions", "pub fn f(_: @) {}", "", "$x() ->", "u8", "fn"),
    ("reference_pattern", "pub fn f(x: u8) { let @ = x; }", "", "$x", "_", "&"),
    ("statements", "pub fn f() { @; }", "let _ =", "$x", "true;", "!"),
    ("items", "@", "pub fn f() -> bool {", "$x", "true }", "!"),
    ("derive", "@", "#[derive(Clone, Debug)] pub struct S(", "$x", "u8);", "*const"),
    ("attribute", "@", "#[cfg(all(", "$x", "x))] pub fn f() {}", "not"),
    ("input", "pub fn f() { @; }", "unknown!(", "$x", "x)", "!"),
];

fn repeated(around: &str, before: &str, link: &str, behind: &str, token: &str) -> String {
    let links = format!("{link} ").repeat(30);
    let call = format!("m!({})", format!("{token}, ").repeat(300));
    let call = if around == "@" { format!("{call};") } else { call };
    format!(
        "macro_rules! m {{ ($($x:tt),* $(,)?) => {{ {before} $( {links} )* {behind} }} }}\n{}\n",
        around.replace('@', &call)
    )
}

/// A macro that calls itself inside its own output, for each of 3,000 tokens: the text around the call, the text that
/// the macro makes around its own call, and its final output.
const NESTED: &[(&str, &str, &str, &str, &str)] = &[
    ("not", "pub fn f() -> bool { @ }", "!!!!!!!!!!!!!!!!!!!!", "", "true"),
    ("blocks", "pub fn f() -> u8 { @ }", "{{{{{{{{{{", "}}}}}}}}}}", "1"),
    ("parentheses", "pub fn f() -> u8 { @ }", "((((((((((", "))))))))))", "1"),
    ("methods", "pub fn f() -> u32 { @ }", "", ".min(1).min(1).min(1).min(1).min(1).min(1).min(1)", "1u32"),
    ("arguments", "pub fn f() -> u32 { @ }", "1u32.min(1u32.min(1u32.min(", ")))", "1"),
    ("sum", "pub fn f() -> u32 { @ }", "1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 +", "", "1"),
    ("closures", "pub fn f() { let _ = @; }", "|_: u8| ", "", "1"),
    ("matches", "pub fn f() -> u8 { @ }", "match 1 { _ => match 1 { _ =>", "}}", "1"),
    ("statements", "pub fn f() { @; }", "if true { let _x = 1; if true {", ";}}", "1"),
    ("types", "pub fn f(_: @) {}", "Option<&'static &'static", ">", "u8"),
    ("patterns", "pub fn f(x: u8) { let @ = x; }", "(&&&", ",)", "_"),
    ("modules", "@", "mod a { mod a { mod a {", "} } }", "pub fn g() {}"),
    ("functions", "@", "pub fn f() { pub fn g() {", "} }", "pub fn g() {}"),
    ("arrays", "pub fn f() { let _ = @; }", "[[[[", "]]]]", "1"),
    ("vectors", "pub fn f() { let _ = @; }", "vec![vec![", "]]", "1"),
    ("lengths", "pub fn f(_: [u8; @]) {}", "{ let _: [u8;", "] = [0; 1]; 1 }", "1"),
    ("format", "pub fn f() { let _ = @; }", "format!(\"{}\", format!(\"{}\",", "))", "1"),
    ("eager", "pub fn f() { let _ = @; }", "concat!(\"a\", concat!(\"b\", ", "))", "\"c\""),
];

fn nested(around: &str, open: &str, close: &str, end: &str) -> String {
    let call = format!("n!({})", "x ".repeat(3_000));
    let (semicolon, call) = if around == "@" { (";", format!("{call};")) } else { ("", call) };
    format!(
        "macro_rules! n {{\n    () => {{ {end} }};\n    ($first:tt $($rest:tt)*) => {{ {open} n!($($rest)*){semicolon} {close} }};\n}}\n{}\n",
        around.replace('@', &call)
    )
}

/// What calls itself without end.
const ENDLESS: &[(&str, &str)] = &[
    ("same", "macro_rules! e { () => { e!() } }\npub fn f() { e!(); }\n"),
    ("same_items", "macro_rules! e { () => { e!{} } }\ne!{}\npub fn f() {}\n"),
    ("grows", "macro_rules! e { ($($x:tt)*) => { e!($($x)* $($x)*) } }\npub fn f() { e!(x); }\n"),
    ("eager", "macro_rules! e { () => { concat!(e!()) } }\npub fn f() { let _ = concat!(e!()); }\n"),
    ("eager_plain", "macro_rules! e { () => { e!() } }\npub fn f() { let _ = concat!(e!()); }\n"),
    ("included", "pub fn f() { include!(\"included_endless.rs\"); }\n"),
    ("types", "macro_rules! e { () => { Option<e!()> } }\npub fn f(_: e!()) {}\n"),
    ("patterns", "macro_rules! e { () => { &e!() } }\npub fn f(x: u8) { let e!() = x; }\n"),
    ("brackets", "macro_rules! e { ($($x:tt)*) => { e!(($($x)*)) } }\npub fn f() { e!(x); }\n"),
];

fn refuses(reply: &Value) -> bool {
    let missing = reply["meta"]["missing"].as_array().unwrap();
    missing.iter().any(|it| it["code"] == "unsupported" && it["detail"].as_str().unwrap().contains("macros expand to"))
}

/// All files of a crate are analysed, but for what their macros make.
fn check_crate(server: &Server, name: &str, files: &[String]) {
    let (status, found) = server.get(&format!("/v1/usages?symbol={name}::last&wait_ms=120000&limit=200"));
    assert_eq!(status, 200, "{found}");
    let mut named: Vec<&str> = found["items"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str()).collect();
    named.dedup();
    let missed: Vec<&String> = files.iter().filter(|it| !named.contains(&it.as_str())).collect();
    assert!(missed.is_empty(), "{missed:?}: {}", found["meta"]);
}

fn check_files(server: &Server, files: &[String]) {
    for file in files {
        // rust-analyzer takes long for what calls itself without end, which is not waited for; and it panics where a refused
        // expansion is a pattern.
        let wait_ms = if file.contains("endless_") { 3_000 } else { 120_000 };
        let (status, found) = server.get(&format!("/v1/diagnostics?file={file}&wait_ms={wait_ms}"));
        if matches!(status, 500 | 504) {
            assert_eq!(found["meta"]["complete"], false, "{file}: {found}");
            continue;
        }
        assert_eq!((status, &found["meta"]["complete"]), (200, &json!(false)), "{file}: {found}");
        assert!(refuses(&found), "{file}: {}", found["meta"]);
        let says = |it: &Value| it["message"].as_str().unwrap().contains("nested too deeply");
        assert!(!found["items"].as_array().unwrap().iter().any(says), "{file}: {found}");
    }
    assert!(!server.log().contains("overflowed its stack"), "{}", server.log());
}

const MANIFEST: &str = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

/// What the crate of these modules is made of neither ends its process nor hides what else it has.
fn check(constructs: &[(String, String)]) {
    // Some of the macros exist only in the real one.
    let home = Home::with(&[("Cargo.toml", MANIFEST)]).with_real_std();
    let modules: String = constructs.iter().map(|it| format!("pub mod {};\n", it.0)).collect();
    home.write("src/lib.rs", &format!("{modules}\npub fn last() {{}}\n"));
    home.write("src/included_endless.rs", "include!(\"included_endless.rs\")");
    let mut files = Vec::new();
    for (name, text) in constructs {
        let file = format!("src/{name}.rs");
        home.write(&file, &format!("{text}pub fn last() {{ crate::last(); }}\n"));
        files.push(file);
    }
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    check_crate(&server, "p", &files);
    check_files(&server, &files);
    let server = server.restart(&["--trust"]);
    server.wait_ready();
    check_crate(&server, "p", &files);
}

// A crate for each, so that they are analysed at the same time.

#[test]
fn macros_that_repeat_do_not_end_the_process() {
    let constructs = REPEATED.iter().map(|it| (format!("repeated_{}", it.0), repeated(it.1, it.2, it.3, it.4, it.5)));
    check(&constructs.collect::<Vec<_>>());
}

#[test]
fn macros_that_nest_do_not_end_the_process() {
    let constructs = NESTED.iter().map(|it| (format!("nested_{}", it.0), nested(it.1, it.2, it.3, it.4)));
    check(&constructs.collect::<Vec<_>>());
}

#[test]
fn macros_without_end_do_not_end_the_process() {
    let constructs = ENDLESS.iter().map(|it| (format!("endless_{}", it.0), it.1.to_owned()));
    check(&constructs.collect::<Vec<_>>());
}

/// Once no macro expands to such code, nothing is missing any longer.
#[test]
fn fixed_macros_leave_nothing_missing() {
    let chain = format!(
        "macro_rules! chain {{ ($($x:ident)*) => {{ a.$($x.)*b }} }}\npub fn f() {{ let _ = chain!({}); crate::last(); }}\n",
        "x ".repeat(3_000)
    );
    let home = Home::with(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "pub mod deep;\n\npub fn last() {}\n")]);
    home.write("src/deep.rs", &chain);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let usages = || server.get("/v1/usages?symbol=p::last").1;
    server.wait_for_log("usages indexed");
    server.wait_for(|it| refuses(&it.get("/v1/diagnostics?file=src/deep.rs").1));
    server.home.write("src/other.txt", "not code\n");
    assert!(refuses(&usages()), "another file does not fix it");
    server.home.write("src/deep.rs", "pub fn f() { crate::last(); }\n");
    server.wait_for(|_| usages()["meta"]["missing"] == json!([]));
    let found = usages();
    assert_eq!((&found["total"], &found["meta"]["missing"]), (&json!(1), &json!([])), "{found}");
}
