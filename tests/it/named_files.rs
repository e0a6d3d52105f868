//! Files that code names and that are listed nowhere: behind linked directories, in caches, in `node_modules`. They are
//! ordinary code, or the answers say what is missing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Home, Server};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const MADE: &str = "pub fn made(n: u8) -> u8 {\n    n\n}\n";
const CALLS: &str = "pub fn calls() -> u8 {\n    crate::made(1) + crate::made(2)\n}\n";
const CACHE: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

fn home(names: &str) -> Home {
    Home::with(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &format!("{names}\n\n{MADE}"))])
}

/// The usages of a symbol.
fn usages(server: &Server, symbol: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!(status, 200, "{reply}");
    reply
}

/// How many usages there are, proved.
#[track_caller]
fn total(server: &Server, symbol: &str) -> u64 {
    let reply = usages(server, symbol);
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    reply["total"].as_u64().unwrap()
}

fn edit(server: &Server, file: &str, from: &str, to: &str) -> Value {
    let edit = json!({"file": file, "search_context": from, "replacement": to, "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    reply
}

/// How many places an edit of `made` breaks, proved.
#[track_caller]
fn broken(server: &Server) -> usize {
    let reply = edit(server, "src/lib.rs", "made(n: u8)", "made(n: u8, _by: u8)");
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    reply["impact"]["broken"].as_array().unwrap().len()
}

/// The file holds `CALLS`, and the code knows it whatever becomes of it.
#[track_caller]
fn check(server: &Server, file: &Path) {
    assert_eq!((total(server, "app::made"), broken(server)), (2, 2));
    fs::write(file, "pub fn calls() -> u8 {\n    crate::made(1)\n}\n").unwrap();
    assert_eq!((total(server, "app::made"), broken(server)), (1, 1));
    fs::remove_file(file).unwrap();
    assert_eq!((total(server, "app::made"), broken(server)), (0, 0));
    fs::write(file, CALLS).unwrap();
    assert_eq!((total(server, "app::made"), broken(server)), (2, 2));
}

#[test]
fn what_code_names_is_read_wherever_it_lies() {
    for (names, file) in [
        ("mod cached;", "src/cached/mod.rs"),
        ("#[path = \"../target/gen.rs\"]\nmod gen;", "target/gen.rs"),
        ("#[path = \"../node_modules/x/gen.rs\"]\nmod gen;", "node_modules/x/gen.rs"),
        ("include!(\"../target/inc.rs\");", "target/inc.rs"),
        ("include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/target/inc.rs\"));", "target/inc.rs"),
    ] {
        let home = home(names);
        home.write(file, CALLS);
        let cache = Path::new(file).parent().unwrap().join("CACHEDIR.TAG");
        home.write(cache.to_str().unwrap(), CACHE);
        let server = home.serve(&["--trust"]);
        server.wait_ready();
        check(&server, &server.home.root().join(file));
    }
}

#[test]
fn a_module_behind_a_linked_directory_is_read_and_names_others() {
    let home = home("pub mod gen;");
    home.write("generated/mod.rs", "pub mod deep;\n");
    home.write("generated/deep.rs", CALLS);
    symlink("../generated", home.root().join("src/gen")).unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    check(&server, &server.home.root().join("generated/deep.rs"));
    // An edit of the file that the link leads to.
    let root = server.home.root();
    let lib = server.home.read("src/lib.rs");
    server.home.write("src/lib.rs", &format!("{lib}\npub fn asks() -> u8 {{\n    gen::deep::calls()\n}}\n"));
    let reply = edit(&server, "generated/deep.rs", "calls() -> u8", "calls(_n: u8) -> u8");
    let broken = reply["impact"]["broken"].as_array().unwrap();
    assert!(broken.iter().any(|it| it["file"] == "src/lib.rs"), "{reply}");
    // The link leads elsewhere, is gone, and comes again.
    server.home.write("other/mod.rs", "pub mod deep;\n");
    server.home.write("other/deep.rs", "pub fn calls() -> u8 {\n    crate::made(1)\n}\n");
    // What no link leads to is compiled nowhere, so that these answers are not complete.
    let found = || usages(&server, "app::made")["total"].clone();
    for (target, expected) in [("../other", 1), ("../generated", 2)] {
        fs::remove_file(root.join("src/gen")).unwrap();
        assert_eq!(found(), 0);
        symlink(target, root.join("src/gen")).unwrap();
        assert_eq!(found(), expected);
    }
    // Another takes its place, where all files are listed.
    fs::remove_file(root.join("src/gen")).unwrap();
    server.home.write("src/gen.rs", CALLS);
    assert_eq!(found(), 2);
    server.home.write("src/lib.rs", MADE);
    assert_eq!(found(), 0);
}

#[test]
fn a_crate_behind_a_linked_directory_is_read() {
    let home = Home::with(&[
        ("Cargo.toml", MANIFEST),
        ("code/lib.rs", &format!("mod other;\n{MADE}")),
        ("code/other.rs", CALLS),
    ]);
    symlink("code", home.root().join("src")).unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(total(&server, "app::made"), 2);
    server.home.write("code/other.rs", "pub fn calls() -> u8 {\n    crate::made(1)\n}\n");
    assert_eq!(total(&server, "app::made"), 1);
}

#[test]
fn a_module_in_another_package_is_read() {
    let manifest = |name: &str| MANIFEST.replace("app", name);
    let server = Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"other\"]\n"),
        ("app/Cargo.toml", &manifest("app")),
        ("app/src/lib.rs", &format!("#[path = \"../../other/src/calls.rs\"]\nmod calls;\n#[path = \"../../shared/calls.rs\"]\nmod shared;\n{MADE}")),
        ("other/Cargo.toml", &manifest("other")),
        ("other/src/lib.rs", "mod calls;\nfn made(n: u8) -> u8 {\n    n\n}\n"),
        ("other/src/calls.rs", CALLS),
        ("shared/calls.rs", CALLS),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(total(&server, "app::made"), 4);
    fs::remove_file(server.home.root().join("shared/calls.rs")).unwrap();
    assert_eq!(total(&server, "app::made"), 2);
    server.home.write("shared/calls.rs", CALLS);
    assert_eq!(total(&server, "app::made"), 4);
}

#[test]
fn packages_of_two_editions_share_their_root_files() {
    let manifest = |name: &str, edition: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\nbuild = \"../shared/build.rs\"\n\n\
             [lib]\npath = \"../shared/src/lib.rs\"\n"
        )
    };
    let server = Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"old\", \"new\"]\nresolver = \"2\"\n"),
        ("old/Cargo.toml", &manifest("old", "2015")),
        ("new/Cargo.toml", &manifest("new", "2021")),
        ("shared/build.rs", "fn main() {}\n"),
        ("shared/src/lib.rs", &format!("mod calls;\n{MADE}")),
        ("shared/src/calls.rs", &CALLS.replace("crate", "")),
    ])
    .serve(&["--trust"]);
    server.wait_ready();
    // Only in the older edition the path begins in the crate.
    let (_, reply) = server.get("/v1/diagnostics?severity=error");
    let codes: Vec<&Value> = reply["items"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["E0425", "E0425"], "{reply}");
    server.home.write("shared/src/calls.rs", CALLS);
    assert_eq!(total(&server, "new::made"), 2);
    let edit = json!({"file": "shared/src/lib.rs", "search_context": "made(n: u8)", "replacement": "made(n: u8, _by: u8)", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    assert_eq!(reply["impact"]["broken"].as_array().unwrap().len(), 2, "{reply}");
}

#[test]
fn what_is_taken_in_under_another_kind_of_name_is_possible() {
    let home = home("include!(\"calls.in\");");
    home.write("src/calls.in", CALLS);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let reply = usages(&server, "app::made");
    assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(false)), "{reply}");
    assert_eq!(reply["possible"].as_array().unwrap().len(), 2, "{reply}");
    let reply = edit(&server, "src/lib.rs", "made(n: u8)", "made(n: u8, _by: u8)");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    assert!(reply["meta"]["missing"].to_string().contains("src/calls.in"), "{reply}");
}

#[test]
fn a_change_of_what_is_taken_in_under_another_kind_of_name_is_judged() {
    let home = Home::with(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "include!(\"../data/inc.rs.in\");\n\npub const TEXT: &str = include_str!(\"../data/text.txt\");\n\n\
             pub fn g() -> u32 {\n    inc()\n}\n",
        ),
        ("data/inc.rs.in", "pub fn inc() -> u32 {\n    1\n}\n"),
        ("data/text.txt", "a text\n"),
        ("data/other.txt", "a text\n"),
    ]);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let is_unchecked = |reply: &Value, file: &str| {
        let unchecked = reply["impact"]["unchecked"].as_array().unwrap();
        unchecked.iter().any(|it| it["detail"].as_str().unwrap().starts_with(&format!("`{file}` is ")))
    };
    let reply = edit(&server, "data/inc.rs.in", "pub fn inc(", "pub fn other(");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    assert!(is_unchecked(&reply, "data/inc.rs.in"), "{reply}");
    let broken = reply["impact"]["broken"].as_array().unwrap();
    let places: Vec<_> = broken.iter().map(|it| (&it["file"], &it["line"], &it["code"])).collect();
    assert_eq!(places, [(&json!("src/lib.rs"), &json!(6), &json!("E0425"))], "{reply}");
    // Where it is to break nothing it is not made.
    let strict = json!({"file": "data/inc.rs.in", "search_context": "pub fn inc(", "replacement": "pub fn other(", "on_break": "reject"});
    let (status, reply) = server.post("/v1/edit", &strict);
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    assert!(server.home.read("data/inc.rs.in").contains("inc("), "{reply}");

    // What the code holds as data.
    let reply = edit(&server, "data/text.txt", "a text", "another");
    assert!(reply["meta"]["complete"] == false && is_unchecked(&reply, "data/text.txt"), "{reply}");
    let reply = edit(&server, "data/other.txt", "a text", "another");
    assert!(!is_unchecked(&reply, "data/other.txt"), "{reply}");
}

#[test]
fn links_in_a_circle_come_to_an_end() {
    let home = home("mod a;");
    home.write("src/more/mod.rs", &format!("pub mod a;\n{CALLS}"));
    symlink("more", home.root().join("src/a")).unwrap();
    symlink(".", home.root().join("src/more/a")).unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    assert!(usages(&server, "app::made")["total"].as_u64().unwrap() >= 2);
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[test]
fn what_may_not_be_read_is_missing() {
    let home = home("mod outer;\nmod large;\n#[path = \"../../outside/also.rs\"]\nmod also;");
    let base = home.path();
    fs::create_dir(base.join("outside")).unwrap();
    fs::write(base.join("outside/outer.rs"), CALLS).unwrap();
    fs::write(base.join("outside/also.rs"), CALLS).unwrap();
    symlink(base.join("outside/outer.rs"), home.root().join("src/outer.rs")).unwrap();
    home.write("src/large.rs", &format!("{CALLS}{}", "// padding\n".repeat(1 << 20)));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let lacking = |reply: &Value| {
        assert!(!reply.to_string().contains("crate::made(1)"), "{reply}");
        let missing = reply["meta"]["missing"].as_array().unwrap();
        let files: Vec<&str> =
            missing.iter().filter_map(|it| it["scope"].as_str()).filter(|it| it.ends_with(".rs")).collect();
        assert_eq!(reply["meta"]["complete"], files.is_empty(), "{reply}");
        files.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let replies = |server: &Server| {
        let diagnostics = server.get("/v1/diagnostics?severity=error").1;
        [usages(server, "app::made"), edit(server, "src/lib.rs", "made(n: u8)", "made(n: u8, _by: u8)"), diagnostics]
    };
    for reply in replies(&server) {
        assert_eq!(lacking(&reply), ["../outside/also.rs", "src/large.rs", "src/outer.rs"]);
    }
    // Once they can be read they are.
    server.home.write("src/large.rs", CALLS);
    fs::remove_file(server.home.root().join("src/outer.rs")).unwrap();
    server.home.write("src/outer.rs", CALLS);
    server.home.write("src/lib.rs", &format!("mod outer;\nmod large;\n\n{MADE}"));
    assert_eq!((total(&server, "app::made"), broken(&server)), (4, 4));
}
