//! No errors are reported for code that the compiler accepts.

use serde_json::{Value, json};

use crate::support::{Home, Server};

const MANIFEST: &str =
    "[package]\nname = \"well\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nextra = []\n";

fn diagnostics(server: &Server, query: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/diagnostics{query}"));
    assert_eq!(status, 200, "{reply}");
    reply
}

#[test]
fn what_is_switched_off_is_counted_and_not_listed() {
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#[cfg(windows)]\nmod gone;\n\n#[cfg(target_os = \"macos\")]\npub fn extra() -> u8 {\n    nowhere()\n}\n\npub fn plain(it: u8) -> u8 {\n    \
             #[cfg(windows)]\n    let it = other(it);\n    if cfg!(windows) { 0 } else { it }\n}\n",
        ),
    ]);
    server.wait_ready();
    for query in ["", "?file=src/lib.rs"] {
        let reply = diagnostics(&server, query);
        assert_eq!((&reply["items"], &reply["total"]), (&json!([]), &json!(0)), "{reply}");
        assert_eq!((&reply["counts"]["error"], &reply["counts"]["warning"]), (&json!(0), &json!(0)), "{reply}");
        assert!(reply["counts"]["hint"].as_u64().unwrap() > 0, "{reply}");
        let hints =
            diagnostics(&server, if query.is_empty() { "?severity=hint" } else { "?file=src/lib.rs&severity=hint" });
        assert!(hints["items"].as_array().unwrap().iter().any(|it| it["severity"] == "hint"), "{hints}");
    }
}

/// The compiler passes over an unstable method of the standard library as long as another one applies.
#[test]
fn unstable_methods_do_not_take_the_place_of_others() {
    let lib = "\
use std::alloc::Layout;

pub trait Between: Iterator + Sized {
    fn intersperse(self, it: Self::Item) -> Vec<Self::Item> {
        let _ = it;
        self.collect()
    }
}

impl<I: Iterator> Between for I {}

pub trait Padding {
    fn padding_needed_for(&self, align: usize) -> usize;
}

impl Padding for Layout {
    fn padding_needed_for(&self, align: usize) -> usize {
        self.size() % align
    }
}

pub fn used(it: std::vec::IntoIter<u8>, layout: Layout) -> usize {
    let between: Vec<u8> = it.intersperse(1);
    between.len() + layout.padding_needed_for(8)
}

pub fn called<F: Fn(u8) -> u8>(f: F) -> u8 {
    f(1)
}

pub trait Calls {
    fn call(&self, args: (u8,)) -> u8;
}
";
    let home = Home::with(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]).with_real_std();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let reply = diagnostics(&server, "?severity=error&wait_ms=60000");
    assert_eq!((&reply["items"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
    for (symbol, line) in [("well::Between::intersperse", 23), ("well::Padding::padding_needed_for", 24)] {
        let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}&wait_ms=60000"));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        assert!(reply["items"].as_array().unwrap().iter().any(|it| it["line"] == line), "{reply}");
    }
}

/// Features that exclude each other are no build.
#[test]
fn a_build_that_the_compiler_refuses_has_no_errors() {
    let manifest = format!("{MANIFEST}bare = []\n");
    let lib = "\
#![cfg_attr(feature = \"bare\", no_std)]

#[cfg(all(feature = \"bare\", feature = \"extra\"))]
compile_error!(\"`bare` and `extra` exclude each other\");

#[cfg(feature = \"extra\")]
pub fn extra() -> std::string::String {
    std::string::String::new()
}
";
    let home = Home::with(&[("Cargo.toml", &manifest), ("src/lib.rs", lib)]).with_real_std();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let reply = diagnostics(&server, "?severity=error&wait_ms=60000");
    assert_eq!((&reply["items"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
}

/// A statement that a macro takes as such needs no semicolon.
#[test]
fn statements_of_macros_need_no_semicolons() {
    let lib = "\
macro_rules! functions {
    ($($name:ident { $($first:stmt;)* } $last:expr;)*) => {
        $(pub fn $name() -> u8 {
            $($first)*
            return $last;
        })*
    };
}

functions! {
    one { let a = 1; let b = 2; } a + b;
    two { } 2;
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    server.wait_ready();
    let reply = diagnostics(&server, "?severity=error&wait_ms=60000");
    assert_eq!((&reply["items"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
}
