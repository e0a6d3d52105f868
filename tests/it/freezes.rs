//! A text must not freeze a workspace: one whose analysis costs too much is abandoned soon and is named; every other
//! question is answered during that time; and once it is fixed everything is as before.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Home, Server};

const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
const LIB: (&str, &str) = ("src/lib.rs", "#![deny(unused_variables)]\npub mod costly;\npub mod good;\n");
const GOOD: (&str, &str) = ("src/good.rs", "pub fn good(x: u8) -> u8 { x }\npub fn user() -> u8 { good(1) }\n");
const FIXED: &str = "pub fn costly() -> u8 { crate::good::good(2) }\n";

/// A text that freezes its workspace does so for ever: this distinguishes it from a slow machine. The times themselves
/// are in `spikes/02-freezing-texts`.
const PATIENCE: Duration = Duration::from_secs(150);
/// A text without a bound takes all memory. In bytes.
const MOST_MEMORY: u64 = 5 << 30;

fn repeated(before: &str, statement: &str, count: usize) -> String {
    format!("pub fn costly() {{ {before}{} }}\n", statement.repeat(count))
}

fn numbered(statement: impl Fn(usize) -> String, count: usize) -> String {
    let mut body = String::from("pub fn costly() {\n");
    (0..count).for_each(|it| writeln!(body, "{}", statement(it)).unwrap());
    body + "}\n"
}

/// The name, the text, and whether it is too much for rust-analyzer.
fn texts() -> Vec<(&'static str, String, bool)> {
    let constant = "const fn fib(n: u32) -> u64 { if n < 2 { 1 } else { fib(n - 1) + fib(n - 2) } }\n";
    vec![
        ("tuples", repeated("let x = 1u8;", "let x = (x, x);\n", 45), true),
        (
            "generics",
            format!(
                "pub struct W<A, B>(A, B);\n{}",
                repeated("let x = 1u8;", "let x = W(x, x);\n", 45).replace(" }\n", " let W(_, _) = x.missing(); }\n")
            ),
            true,
        ),
        ("constant", format!("{constant}pub fn costly(x: [u8; fib(50) as usize]) -> usize {{ x.len() }}\n"), true),
        (
            "large arrays",
            "const fn f(n: usize) -> [u64; 1000000] {\n    if n == 0 { [1; 1000000] } else { let a = f(n - 1); let mut b = a; b[n] = a[n] + 1; b }\n}\n\
             const A: [u64; 1000000] = f(5000);\n\
             pub fn costly() { A[1]; [0u8; A[3] as usize]; let x = [0u8; f(100000)[1] as usize]; x.y }\n"
                .to_owned(),
            true,
        ),
        (
            "copies",
            "const fn f(n: usize) -> u64 {\n    let a = [1u64; 1000000];\n    let mut b = a;\n    let mut i = 0;\n    \
             while i < n { b = a; i += 1; }\n    b[3]\n}\n\
             pub fn costly(x: [u8; f(1000000) as usize]) -> usize { x.len() }\n"
                .to_owned(),
            true,
        ),
        (
            "closures",
            format!("pub fn costly() -> usize {{ (0..9){}.count() }}\n", ".map(|x| x + 1)".repeat(600)),
            true,
        ),
        ("brackets", format!("{FIXED}{}\n", "}".repeat(100_000)), false),
        ("lines of brackets", format!("{FIXED}{}", "}\n".repeat(100_000)), false),
        ("lets", numbered(|it| format!("let x{it} = {it};"), 200_000), false),
        ("unknown names", numbered(|it| format!("x = {it};"), 60_000), true),
        ("inner items", numbered(|it| format!("fn f{it}(y: u8) {{ x; }}"), 20_000), false),
        (
            "list",
            format!(
                "macro_rules! list {{ ($($it:expr,)*) => {{ [$($it),*] }}; }}\npub fn costly() -> usize {{ list![{}].len() }}\n",
                "1, ".repeat(60_000)
            ),
            true,
        ),
        (
            "table",
            format!(
                "{FIXED}macro_rules! table {{ ($($it:expr),*) => {{ pub const A: &[u64] = &[$($it),*]; }} }}\ntable!({});\n",
                vec!["1"; 60_000].join(", ")
            ),
            true,
        ),
        ("array", format!("{FIXED}pub static A: &[u64] = &[{}];\n", "1, ".repeat(100_000)), false),
        (
            "traits",
            format!(
                "pub trait T {{ fn f(&self) {{}} }}\npub struct P<A>(A);\nimpl<A> T for P<A> where P<P<A>>: T {{}}\n\
                 impl<A> T for (A, A) where (P<A>, P<A>): T, (P<P<A>>, P<P<A>>): T {{}}\n{}",
                repeated("", "P(1u8).f(); (1u8, 2u8).f();", 1)
            ),
            false,
        ),
        (
            "macros",
            format!(
                "macro_rules! a {{ ($($t:tt)*) => {{ b!{{$($t)* $($t)*}} }} }}\n\
                 macro_rules! b {{ ($($t:tt)*) => {{ a!{{$($t)* $($t)*}} }} }}\n{}",
                repeated("", "a!(1 + 2);", 1)
            ),
            false,
        ),
    ]
}

fn is_named(reply: &Value) -> bool {
    let missing = reply["meta"]["missing"].as_array().unwrap();
    missing.iter().any(|it| it["code"] == "too_many" && it["detail"].as_str().unwrap().contains("src/costly.rs"))
}

/// Requests that read other code.
fn read_others(server: &Server, why: &str) {
    let begun = Instant::now();
    let (status, found) = server.get("/v1/diagnostics?file=src/good.rs");
    assert_eq!((status, &found["items"]), (200, &json!([])), "{why}: {found}");
    let (status, found) = server.get("/v1/usages?symbol=p::good::user");
    assert_eq!((status, &found["total"]), (200, &json!(0)), "{why}: {found}");
    let (status, found) = server.post("/v1/describe", &json!({"symbol": "p::good::good"}));
    assert_eq!(status, 200, "{why}: {found}");
    assert!(begun.elapsed() < PATIENCE, "{why}: {:?}", begun.elapsed());
}

/// Requests for which the writer has to be free.
fn write_others(server: &Server, why: &str) {
    let begun = Instant::now();
    for (file, before, after) in [("src/good.rs", "fn user()", "fn other()"), ("src/lib.rs", "deny", "warn")] {
        let edit = json!({"file": file, "search_context": before, "replacement": after, "dry_run": true});
        let (status, found) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{why}: {found}");
    }
    let (status, found) = server.post("/v1/write", &json!({"name": "note.txt", "content": why, "mode": "overwrite"}));
    assert_eq!(status, 200, "{why}: {found}");
    assert!(begun.elapsed() < PATIENCE, "{why}: {:?}", begun.elapsed());
}

/// Questions that need the whole analysis of the text, each within its deadline.
fn ask_about(server: &Server, text: &str) -> Vec<Value> {
    let last = text.rfind(" x").map_or(10, |it| it + 1);
    let mut replies = vec![
        server.get("/v1/diagnostics?file=src/costly.rs&wait_ms=2000"),
        server.get(&format!("/v1/symbols/at?file=src/costly.rs&offset={last}&wait_ms=2000")),
        server.post("/v1/describe", &json!({"symbol": "p::costly::costly", "wait_ms": 2000})),
        server.get("/v1/callees?symbol=p::costly::costly&wait_ms=2000"),
    ];
    let edit = json!({"file": "src/costly.rs", "search_context": "pub fn costly", "replacement": "pub(crate) fn costly", "dry_run": true});
    replies.push(server.post("/v1/edit", &edit));
    for (status, reply) in &replies {
        assert!(matches!(status, 200 | 503 | 504), "{status} {reply}");
        assert!(*status == 200 || reply["meta"]["complete"] == false, "{reply}");
    }
    replies.into_iter().map(|it| it.1).collect()
}

/// The same, again while the deadlines of a busy machine are over before the bound on the analysis is.
fn ask_until_named(server: &Server, text: &str, is_too_much: bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let replies = ask_about(server, text);
        if !is_too_much || replies.iter().any(is_named) || begun.elapsed() > PATIENCE {
            return replies;
        }
    }
}

#[test]
fn a_text_does_not_freeze_its_workspace() {
    let server = Home::with(&[MANIFEST, LIB, GOOD, ("src/costly.rs", FIXED)]).serve(&["--trust"]);
    server.wait_ready();
    for (name, text, is_too_much) in texts() {
        server.home.write("src/costly.rs", &text);
        let replies = thread::scope(|scope| {
            let asked = scope.spawn(|| ask_until_named(&server, &text, is_too_much));
            read_others(&server, name);
            write_others(&server, name);
            while !asked.is_finished() {
                read_others(&server, name);
            }
            asked.join().unwrap()
        });
        if is_too_much {
            assert!(replies.iter().any(is_named), "{name}: {replies:#?}");
            assert!(
                replies.iter().all(|it| it["meta"]["complete"] == true || it["meta"]["missing"] != json!([])),
                "{name}: {replies:#?}"
            );
        }
        // It is not computed again.
        let begun = Instant::now();
        if is_too_much {
            ask_about(&server, &text);
            assert!(begun.elapsed() < PATIENCE, "{name}: {:?}", begun.elapsed());
        }
        read_others(&server, name);
        write_others(&server, name);
        let memory = server.get("/v1/status").1["memory_bytes"].as_u64().unwrap();
        assert!(memory < MOST_MEMORY, "{name}: {memory}");
        server.home.write("src/costly.rs", FIXED);
        let (status, found) = server.get("/v1/usages?symbol=p::good::good&wait_ms=60000");
        assert_eq!(
            (status, &found["total"], &found["meta"]["complete"]),
            (200, &json!(2), &json!(true)),
            "{name}: {found}"
        );
        let (status, found) = server.get("/v1/diagnostics?file=src/costly.rs&wait_ms=60000");
        assert_eq!((status, &found["items"]), (200, &json!([])), "{name}: {found}");
        assert!(!is_named(&found) && found["meta"]["complete"] == true || name == "macros", "{name}: {found}");
    }
    assert!(!server.log().contains("a question panicked"), "{}", server.log());
}

#[test]
fn names_are_judged_in_a_body_whose_types_cost_too_much() {
    let server = Home::with(&[MANIFEST, LIB, GOOD, ("src/costly.rs", FIXED)]).serve(&["--trust"]);
    server.wait_ready();
    let (_, costly, _) = texts().into_iter().find(|it| it.0 == "generics").unwrap();
    let names = ["let a = 1;", "drop(a);", "crate::good::good(2);", "crate::good::gone(2);", "Gone::new();"];
    let text = costly.replacen("let x = 1u8;", &format!("{}\nlet x = 1u8;", names.join("\n")), 1);
    let write = json!({"name": "src/costly.rs", "content": text, "mode": "overwrite", "dry_run": true});
    let (status, reply) = server.post("/v1/write", &write);
    assert_eq!(status, 200, "{reply}");
    assert!(is_named(&reply), "{reply}");
    let broken = reply["impact"]["broken"].as_array().unwrap();
    let found: Vec<_> = broken.iter().map(|it| (it["line"].as_u64().unwrap(), it["code"].as_str().unwrap())).collect();
    assert_eq!(found, [(5, "E0425"), (6, "E0433")], "{reply}");
}

/// The body is costly in the state that is tried, and in no other.
#[test]
fn what_a_dry_run_makes_costly_is_as_before_afterwards() {
    let good = "pub fn pair<T>(x: T) -> T { x }\npub fn good(x: u8) -> u8 { x }\n";
    let costly =
        repeated("let x = 1u8;", "let x = crate::good::pair(x);\n", 45).replace(" }\n", " x.count_ones(); }\n");
    let server = Home::with(&[MANIFEST, LIB, ("src/good.rs", good), ("src/costly.rs", &costly)]).serve(&["--trust"]);
    server.wait_ready();
    let dry_run = |before: &str, after: &str| {
        let edit = json!({"file": "src/good.rs", "search_context": before, "replacement": after, "dry_run": true});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        reply
    };
    let reply = dry_run("-> T { x }", "-> (T, T) { todo!() }");
    let missing = reply["meta"]["missing"].to_string();
    assert!(missing.contains("too_many") && missing.contains("`costly`"), "{reply}");
    let (status, found) = server.get("/v1/diagnostics?file=src/costly.rs");
    assert_eq!((status, &found["items"], &found["meta"]["complete"]), (200, &json!([]), &json!(true)), "{found}");
    let status = server.get("/v1/status").1.to_string();
    assert!(!status.contains("was abandoned"), "{status}");
    let reply = dry_run("pair<T>(x: T)", "pair<T: Copy>(x: T)");
    assert_eq!((&reply["impact"]["broken"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
}
