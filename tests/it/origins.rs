//! External code is named by its package, its version and its path there: no reply for a model contains a path of this
//! machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, Server};

const RUST: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlib = { path = \"../lib\" }\nmemchr = \"2\"\n",
    ),
    ("src/lib.rs", APP),
];
const APP: &str = "pub fn app(text: &[u8]) -> Vec<u8> {\n    lib::size(memchr::memchr(1, text).unwrap_or(0));\n    Vec::with_capacity(1)\n}\n";
const LIB: &str = "//! Sizes.\n\n/// Its size.\npub fn size(n: usize) -> usize {\n    n\n}\n";

const GO: &[(&str, &str)] = &[
    (
        "go.mod",
        "module example.com/app\n\ngo 1.22\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
    ),
    (
        "main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/lib\"\n)\n\nfunc main() {\n\tfmt.Println(lib.Size(1))\n}\n",
    ),
];

/// Where this machine keeps the toolchains and what they have fetched, and where the test is.
fn kept(home: &Home) -> Vec<PathBuf> {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    };
    let sysroot = said("rustc", &["--print", "sysroot"]);
    let user = PathBuf::from(std::env::var_os("HOME").unwrap());
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| user.join(".cargo"), PathBuf::from);
    let mut kept = vec![cargo, said("go", &["env", "GOROOT"]), said("go", &["env", "GOMODCACHE"]), home.path()];
    kept.extend(sysroot.join("lib/rustlib/src/rust").canonicalize());
    kept.push(sysroot);
    kept.retain(|it| it.components().count() > 1);
    kept.extend(kept.clone().iter().filter_map(|it| it.canonicalize().ok()));
    kept
}

/// The reply as Markdown holds this, and no path of the machine.
#[track_caller]
fn check(server: &Server, path: &str, body: Option<Value>, wanted: &[&str]) {
    let body = body.map(|mut it| {
        it["wait_ms"] = json!(120_000);
        it
    });
    let reply = server.markdown(path, body.as_ref());
    assert_eq!(reply.status, 200, "{path} {body:?}: {}", reply.text);
    for wanted in wanted {
        let is_there = reply.text.contains(wanted);
        assert!(is_there, "{path} {body:?} lacks {wanted:?}:\n{}", reply.text);
    }
    for directory in kept(&server.home) {
        let line = reply.text.lines().find(|it| it.contains(directory.to_str().unwrap()));
        assert_eq!(line, None, "{path} {body:?} names {}", directory.display());
    }
    // No place begins with a directory of any machine.
    for line in reply.text.lines() {
        let place = line.trim_start_matches(['-', ' ']);
        assert!(!place.starts_with('/') || place.starts_with("//"), "{path} {body:?}: {line}");
    }
}

fn package(name: &str) -> Option<Value> {
    Some(json!({"package": name}))
}

fn symbol(name: &str) -> Option<Value> {
    Some(json!({"symbol": name}))
}

/// What the toolchain calls itself, as `PACKAGE VERSION` ends.
fn version(program: &str, nth: usize) -> String {
    let argument = if program == "go" { "version" } else { "--version" };
    let output = Command::new(program).arg(argument).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').nth(nth).unwrap().trim().to_owned()
}

#[test]
fn packages_of_rust_are_named_in_place_of_their_directories() {
    let home = Home::with(RUST).with_real_std();
    let lib = home.path().join("lib");
    fs::create_dir_all(lib.join("src")).unwrap();
    fs::write(lib.join("Cargo.toml"), "[package]\nname = \"lib\"\nversion = \"0.3.0\"\nedition = \"2021\"\n").unwrap();
    fs::write(lib.join("src/lib.rs"), LIB).unwrap();
    let corpus =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus/Cargo.lock")).unwrap();
    let locked = corpus.split("[[package]]").find(|it| it.contains("name = \"memchr\"")).unwrap();
    home.write(
        "Cargo.lock",
        &format!(
            "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"lib\",\n \"memchr\",\n]\n\n\
             [[package]]\nname = \"lib\"\nversion = \"0.3.0\"\n\n[[package]]{locked}"
        ),
    );
    let memchr = locked.split('"').nth(3).unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();

    let std = version("rustc", 1);
    let of_memchr = format!("memchr {memchr}: src/memchr.rs:");
    check(&server, "/v1/describe", package("memchr"), &[&format!("\n\nmemchr {memchr}: src\n"), &of_memchr]);
    check(&server, "/v1/describe", symbol("memchr::memchr"), &[&format!("\n\n{of_memchr}")]);
    let collections = format!("\n\nstd {std}: src/collections\n");
    check(
        &server,
        "/v1/describe",
        package("std::collections"),
        &[&collections, &format!("std {std}: src/collections")],
    );
    check(&server, "/v1/describe", symbol("std::vec::Vec"), &[&format!("alloc {std}: src/vec/mod.rs:")]);
    check(&server, "/v1/describe", symbol("lib::size"), &["\n\nlib 0.3.0: src/lib.rs:3-6"]);
    check(&server, "/v1/describe", package("lib"), &["lib 0.3.0: src", "`lib::size` lib 0.3.0: src/lib.rs:3-6"]);
    check(&server, "/v1/usages?symbol=memchr::memchr::memchr&wait_ms=120000", None, &["- src/lib.rs"]);
    let callees = ["`lib::size` lib 0.3.0: src/lib.rs:3-6", &of_memchr, "src/lib.rs:2: `"];
    check(&server, "/v1/callees?symbol=app::app&wait_ms=120000", None, &callees);
    for (word, wanted) in [
        ("size", "Defined at lib 0.3.0: src/lib.rs:4"),
        ("memchr(", &format!("Defined at {of_memchr}")),
        ("with_capacity", &format!("Defined at alloc {std}: src/vec/mod.rs:")),
    ] {
        let path = format!("/v1/symbols/at?file=src/lib.rs&offset={}&wait_ms=120000", APP.find(word).unwrap());
        check(&server, &path, None, &[wanted]);
    }

    // A program gets both: the absolute path, and what it is made of.
    let (_, reply) = server.post("/v1/describe", &json!({"symbol": "memchr::memchr"}));
    let (file, origin) = (&reply["symbol"]["file"], &reply["symbol"]["origin"]);
    assert_eq!((origin["package"].as_str(), origin["version"].as_str()), (Some("memchr"), Some(memchr)), "{origin}");
    assert!(file.as_str().unwrap().starts_with(origin["root"].as_str().unwrap()), "{file} {origin}");
    let (_, own) = server.post("/v1/describe", &json!({"symbol": "app::app"}));
    assert!(own["symbol"].get("origin").is_none(), "{own}");
}

#[test]
fn packages_of_go_are_named_in_place_of_their_directories() {
    let home = Home::with(GO);
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib/go.mod", "module example.com/lib\n\ngo 1.22\n");
    write(
        "lib/lib.go",
        "// Package lib sizes.\npackage lib\n\n// Size is the size.\nfunc Size(n int) int { return n }\n",
    );
    let server = home.serve(&["--trust"]);
    server.wait_ready();

    let fmt = format!("fmt {}", version("go", 2));
    let files = ["## Files\n\ndoc.go\n", &format!("`fmt.Errorf` {fmt}: errors.go:"), &format!("\n\n{fmt}\n")];
    check(&server, "/v1/describe", package("fmt"), &files);
    check(&server, "/v1/describe", symbol("fmt.Errorf"), &[&format!("\n\n{fmt}: errors.go:")]);
    // Examples of its own.
    check(&server, "/v1/describe", symbol("fmt.Sprintf"), &[&format!("({fmt}: example_test.go:")]);
    check(&server, "/v1/describe", symbol("example.com/lib.Size"), &["\n\nexample.com/lib: lib.go:4-5 (external)"]);
    check(
        &server,
        "/v1/describe",
        package("example.com/lib"),
        &["\n\nexample.com/lib\n", "example.com/lib: lib.go:4-5"],
    );
    for (column, wanted) in [(7, format!("Defined at {fmt}: print.go:")), (18, "example.com/lib: lib.go:5".to_owned())]
    {
        let path = format!("/v1/symbols/at?file=main.go&line=10&column={column}&wait_ms=120000");
        check(&server, &path, None, &[&wanted]);
    }
    check(&server, "/v1/callees?symbol=example.com/app.main&wait_ms=120000", None, &[&format!("{fmt}: print.go:")]);
}

/// The cache of modules writes capitals in a way of its own; nothing is downloaded or built for an overview.
#[test]
fn a_module_of_the_cache_is_named_as_it_is_imported() {
    let home = Home::with(&[
        ("go.mod", "module example.com/app\n\ngo 1.22\n\nrequire example.com/Cached/deep v1.2.3\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
    ]);
    let cache = home.path().join("cache");
    let module = cache.join("example.com/!cached/deep@v1.2.3");
    fs::create_dir_all(module.join("er")).unwrap();
    fs::write(module.join("go.mod"), "module example.com/Cached/deep\n\ngo 1.22\n").unwrap();
    fs::write(module.join("er/er.go"), "// Package er is deep.\npackage er\n\n// Deep does.\nfunc Deep() {}\n")
        .unwrap();
    let server = home.serve_with(&["--no-trust"], &[("GOMODCACHE", &cache)]);
    let deep = "example.com/Cached/deep v1.2.3: er";
    let row = format!("`example.com/Cached/deep/er.Deep` {deep}/er.go:4-5");
    check(&server, "/v1/describe", package("example.com/Cached/deep/er"), &[&format!("\n\n{deep}\n"), &row]);
}
