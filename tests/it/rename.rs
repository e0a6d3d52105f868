//! Renames of symbols: everywhere or nowhere, and code that compiles before compiles after.

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{RUST, Server};

fn rename(server: &Server, symbol: &str, new_name: &str) -> (u16, Value) {
    server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name}))
}

fn changed(reply: &Value) -> Vec<&str> {
    let files = reply["files"].as_array().unwrap_or_else(|| panic!("{reply}"));
    files.iter().map(|it| it["file"].as_str().unwrap()).collect()
}

#[track_caller]
fn refused(reply: (u16, Value), wanted: &str) {
    assert_eq!((reply.0, &reply.1["code"]), (422, &json!("rename_refused")), "{}", reply.1);
    assert!(reply.1["detail"].as_str().unwrap().contains(wanted), "{}", reply.1);
}

fn errors(server: &Server) -> Value {
    server.get("/v1/diagnostics?severity=error").1["total"].clone()
}

#[test]
fn a_rust_symbol_is_renamed_everywhere() {
    let mut files = RUST.to_vec();
    files.push((
        "src/more.rs",
        "//! See [`crate::greet`] and [greet](crate::greet).\n\nmacro_rules! call { ($f:ident) => { $crate::$f(\"x\") }; }\n\n\
         pub struct Pair { pub left: u8, pub right: u8 }\n\npub fn pair(left: u8) -> Pair { Pair { left, right: 0 } }\n\n\
         pub fn through_a_macro() -> String { call!(greet) }\n",
    ));
    let lib = RUST[1].1.replace("pub mod shout;", "pub mod more;\npub mod shout;");
    files[1].1 = lib.as_str();
    let server = Server::on(&files);
    server.wait_ready();
    let before = server.home.read("src/lib.rs");

    let (status, dry) =
        server.post("/v1/rename", &json!({"symbol": "greeter::greet", "new_name": "hail", "dry_run": true}));
    assert_eq!((status, &dry["applied"], dry["edits"].as_array().unwrap().len()), (200, &json!(false), 7), "{dry}");
    assert_eq!(server.home.read("src/lib.rs"), before);
    let (status, reply) = rename(&server, "greeter::greet", "hail");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(changed(&reply), ["src/lib.rs", "src/more.rs", "src/shout.rs"]);
    assert_eq!(reply["diagnostics"]["new"], json!([]), "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), before.replace("greet(", "hail("));
    let more = server.home.read("src/more.rs");
    assert!(
        more.contains("[`crate::hail`]") && more.contains("](crate::hail)") && more.contains("call!(hail)"),
        "{more}"
    );
    assert_eq!(errors(&server), 0);

    // A field, with its shorthands.
    let (_, reply) = rename(&server, "greeter::more::Pair::left", "first");
    assert!(server.home.read("src/more.rs").contains("Pair { first: left, right: 0 }"), "{reply}");
    // A module, and its file with it.
    let (_, reply) = rename(&server, "greeter::shout", "cry");
    assert_eq!(changed(&reply), ["src/cry.rs", "src/lib.rs", "src/shout.rs"], "{reply}");
    assert!(server.home.read("src/lib.rs").contains("pub mod cry;"));
    assert!(
        !server.home.root().join("src/shout.rs").exists()
            && server.home.read("src/cry.rs").contains("use crate::hail;")
    );
    assert_eq!(errors(&server), 0);
}

#[test]
fn a_rust_rename_that_cannot_be_is_refused_with_the_reason() {
    let mut files = RUST.to_vec();
    let uncalled = "macro_rules! uncalled {\n    () => {\n        greet_all(1)\n    };\n}\n\n#[cfg(test)]";
    let shout = RUST[2].1.replace("#[cfg(test)]", uncalled);
    files[2].1 = shout.as_str();
    let server = Server::on(&files);
    server.wait_ready();
    let before = server.home.read("src/lib.rs");
    refused(rename(&server, "greeter::greet", "greet_all"), "taken by `greeter::greet_all`");
    refused(rename(&server, "greeter::greet", "fn"), "keyword");
    refused(rename(&server, "greeter::greet", "a b"), "no name");
    refused(rename(&server, "greeter::greet", "a::b"), "no name");
    refused(rename(&server, "std::string::String", "Text"), "not part of this workspace");
    let in_a_macro = rename(&server, "greeter::greet_all", "hail_all");
    assert_eq!(in_a_macro.1["candidates"][0]["file"], "src/shout.rs", "{}", in_a_macro.1);
    refused(in_a_macro, "in the input of a macro");
    let (status, unknown) = rename(&server, "greeter::gret", "x");
    assert_eq!((status, &unknown["code"]), (404, &json!("unknown_symbol")));
    assert_eq!(server.home.read("src/lib.rs"), before);
}

#[test]
fn a_go_symbol_is_renamed_everywhere() {
    let server = Server::on(GO);
    server.wait_ready();
    let (status, reply) = rename(&server, "Greeter.Greet", "Hail");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(reply["diagnostics"]["new"], json!([]), "{reply}");
    assert!(server.home.read("greet.go").contains(") Hail(name string)"));
    assert!(server.home.read("cmd/hello/main.go").contains(".Hail("));
    assert_eq!(errors(&server), 0);
    refused(rename(&server, "Greeter.Hail", "func"), "gopls");
    refused(rename(&server, "fmt.Println", "Print"), "not part of this workspace");
}

/// An error that was there before is still there, whatever it calls the symbol.
#[test]
fn old_errors_are_no_reason_against_a_rename() {
    let manifest = "[package]\nname = \"rn\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lib = "pub mod inner;\npub struct A;\npub fn f(a: A) { a.gone(); }\n";
    let inner = "pub fn g() {\n    nothing();\n}\n";
    let server = Server::on(&[("Cargo.toml", manifest), ("src/lib.rs", lib), ("src/inner.rs", inner)]);
    server.wait_ready();
    assert_eq!(errors(&server), 2);
    for (symbol, new_name) in [("rn::A", "B"), ("rn::inner", "m"), ("rn::B", "Longer"), ("rn::m", "n")] {
        let (status, reply) = rename(&server, symbol, new_name);
        assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
        assert_eq!((&reply["diagnostics"]["new"], &reply["diagnostics"]["fixed"]), (&json!([]), &json!([])), "{reply}");
        assert_eq!(errors(&server), 2);
    }
    // A real clash is one all the same.
    server.post(
        "/v1/edit",
        &json!({"file": "src/lib.rs", "search_context": "pub mod n;", "replacement": "pub mod n;\npub struct C;"}),
    );
    refused(rename(&server, "rn::Longer", "C"), "taken");

    let go = "package a\n\ntype A struct{}\n\nfunc F(a A) { a.Gone() }\n\nfunc G() {\n\tvar it = A{}\n\tit.Gone()\n}\n";
    let server = Server::on(&[("go.mod", "module example.com/a\n\ngo 1.22\n"), ("a.go", go)]);
    server.wait_ready();
    assert_eq!(errors(&server), 2);
    let (status, reply) = rename(&server, "A", "B");
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    assert_eq!(errors(&server), 2);
}
