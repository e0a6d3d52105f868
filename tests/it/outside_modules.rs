//! Modules of Go outside of the root: a change of them is in the next answer.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Home, Server};

const MAIN: &str = "package main\n\nimport \"example.com/lib\"\n\nfunc main() {\n\tprintln(lib.Size(1))\n}\n";
const LIB: &str = "package lib\n\nfunc Size(n int) int { return n }\n";
const OTHER: &str = "package lib\n\nfunc Size(n int, by int) int { return n * by }\n";

/// A workspace whose build reads `../lib`, by the manifests given.
fn home(manifests: &[(&str, &str)], has_lib: bool) -> Home {
    let home = Home::with(&[("main.go", MAIN)]);
    if has_lib {
        write_lib(&home.path(), LIB);
    }
    manifests.iter().for_each(|(name, text)| home.write(name, text));
    home
}

fn write_lib(base: &Path, text: &str) {
    fs::create_dir_all(base.join("lib")).unwrap();
    fs::write(base.join("lib/go.mod"), "module example.com/lib\n\ngo 1.22\n").unwrap();
    fs::write(base.join("lib/lib.go"), text).unwrap();
}

const REPLACED: &[(&str, &str)] = &[(
    "go.mod",
    "module example.com/app\n\ngo 1.22\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
)];
const USED: &[(&str, &str)] =
    &[("go.mod", "module example.com/app\n\ngo 1.22\n"), ("go.work", "go 1.22\n\nuse (\n\t.\n\t../lib\n)\n")];

/// How many errors there are in `main.go`, proved.
fn errors(server: &Server) -> u64 {
    let (status, reply) = server.get("/v1/diagnostics?severity=error&file=main.go");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["total"].as_u64().unwrap()
}

/// Whether an edit of `main.go` that fits the second text of the library would break something.
fn breaks(server: &Server) -> bool {
    let edit =
        json!({"file": "main.go", "search_context": "lib.Size(1)", "replacement": "lib.Size(1, 2)", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    !reply["diagnostics"]["new"].as_array().unwrap().is_empty()
        || !reply["impact"]["broken"].as_array().unwrap().is_empty()
}

#[test]
fn a_change_of_a_module_outside_is_in_the_next_answer() {
    for manifests in [REPLACED, USED] {
        let server = home(manifests, true).serve(&["--trust"]);
        server.wait_ready();
        let base = server.home.path();
        for _ in 0..3 {
            assert_eq!((errors(&server), breaks(&server)), (0, true), "{manifests:?}");
            write_lib(&base, OTHER);
            assert_eq!((errors(&server), breaks(&server)), (1, false), "{manifests:?}");
            // A file more, in place of one changed.
            fs::write(base.join("lib/lib.go"), "package lib\n").unwrap();
            fs::write(base.join("lib/more.go"), LIB).unwrap();
            assert_eq!((errors(&server), breaks(&server)), (0, true), "{manifests:?}");
            fs::remove_file(base.join("lib/more.go")).unwrap();
            write_lib(&base, LIB);
        }
    }
}

#[test]
fn a_module_outside_comes_and_goes() {
    let server = home(REPLACED, false).serve(&["--trust"]);
    server.wait_ready();
    let base = server.home.path();
    let is_missing = || {
        let (status, reply) = server.get("/v1/diagnostics?severity=error");
        assert_eq!(status, 200, "{reply}");
        reply["total"] != 0 || reply["meta"]["complete"] == false
    };
    for _ in 0..2 {
        assert!(is_missing());
        write_lib(&base, LIB);
        assert_eq!(errors(&server), 0);
        write_lib(&base, OTHER);
        assert_eq!(errors(&server), 1);
        fs::remove_dir_all(base.join("lib")).unwrap();
    }
    assert!(is_missing());
}

#[test]
fn a_module_outside_that_a_manifest_names_later_is_followed() {
    let server = home(&[("go.mod", "module example.com/app\n\ngo 1.22\n")], true).serve(&["--trust"]);
    server.wait_ready();
    let base = server.home.path();
    server.home.write("go.work", "go 1.22\n\nuse (\n\t.\n\t../lib\n)\n");
    assert_eq!(errors(&server), 0);
    write_lib(&base, OTHER);
    assert_eq!(errors(&server), 1);
    // Another takes its place.
    let other = base.join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("go.mod"), "module example.com/lib\n\ngo 1.22\n").unwrap();
    fs::write(other.join("lib.go"), LIB).unwrap();
    server.home.write("go.work", "go 1.22\n\nuse (\n\t.\n\t../other\n)\n");
    assert_eq!(errors(&server), 0);
    fs::write(other.join("lib.go"), OTHER).unwrap();
    assert_eq!(errors(&server), 1);
}

#[test]
fn a_go_work_that_comes_above_the_root_is_followed() {
    // Nothing is requested from the network in between.
    let server = home(&[("go.mod", "module example.com/app\n\ngo 1.22\n")], true).serve(&["--no-trust"]);
    server.wait_ready();
    let above = server.home.path().join("go.work");
    let has_errors = || {
        let (status, reply) = server.get("/v1/diagnostics?severity=error&file=main.go");
        assert_eq!(status, 200, "{reply}");
        reply["total"] != 0
    };
    for _ in 0..2 {
        assert!(has_errors());
        fs::write(&above, "go 1.22\n\nuse (\n\t./workspace\n\t./lib\n)\n").unwrap();
        assert_eq!(errors(&server), 0);
        fs::remove_file(&above).unwrap();
    }
    assert!(has_errors());
}

#[test]
fn another_environment_of_go_is_followed() {
    let home = Home::with(&[
        ("go.mod", "module example.com/app\n\ngo 1.22\n"),
        ("main.go", "package main\n\nfunc main() {\n\tprintln(size())\n}\n"),
        ("small.go", "//go:build !big\n\npackage main\n\nfunc size() int { return 1 }\n"),
        ("big.go", "//go:build big\n\npackage main\n\nfunc size() int { return 2 + nothing }\n"),
    ]);
    let environment = home.path().join("goenv");
    let server = home.serve_with(&["--trust"], &[("GOENV", &environment)]);
    server.wait_ready();
    let errors = || {
        let (status, reply) = server.get("/v1/diagnostics?severity=error");
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        reply["items"].as_array().unwrap().iter().map(|it| it["file"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(errors(), Vec::<serde_json::Value>::new());
    fs::write(&environment, "GOFLAGS=-tags=big\n").unwrap();
    assert_eq!(errors(), ["big.go"]);
}
