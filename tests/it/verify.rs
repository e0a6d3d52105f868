//! `verify`: the output of compilers, linters and tests on small workspaces; its deadline, queue, bounds and end.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Home, Server, run};

/// Within this, all that a run started is dead.
const DEATH: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(120);

fn verify(server: &Server, body: Value) -> Value {
    let (status, reply) = server.post("/v1/verify", &body);
    assert_eq!(status, 200, "{reply}");
    reply
}

/// `file:line severity code`, sorted.
fn diagnostics(reply: &Value) -> Vec<String> {
    let told = |it: &Value| {
        let text = |key: &str| it[key].as_str().unwrap_or("-").to_owned();
        format!("{}:{}:{} {} {}", text("file"), it["line"], it["column"], text("severity"), text("code"))
    };
    let mut all: Vec<String> = reply["diagnostics"].as_array().unwrap().iter().map(told).collect();
    all.sort();
    all
}

/// `name file:line`, sorted.
fn failures(reply: &Value) -> Vec<String> {
    let told = |it: &Value| format!("{} {}:{}", it["name"].as_str().unwrap(), it["file"].as_str().unwrap(), it["line"]);
    let mut all: Vec<String> = reply["tests"]["failures"].as_array().unwrap().iter().map(told).collect();
    all.sort();
    all
}

fn counts(reply: &Value) -> [u64; 3] {
    ["passed", "failed", "skipped"].map(|it| reply["tests"][it].as_u64().unwrap())
}

fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
}

fn has_missing(reply: &Value, code: &str) -> bool {
    reply["meta"]["missing"].as_array().unwrap().iter().any(|it| it["code"] == code)
}

/// A workspace of two packages, one of which depends on the second, a separate package, and their errors.
fn broken_rust() -> Home {
    Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two-b\"]\nresolver = \"2\"\n"),
        ("one/Cargo.toml", &manifest("one", "")),
        ("one/src/lib.rs", "/// Ä.\npub fn f() -> u32 {\n    let unused = 1;\n    /* ä */ \"x\"\n}\n"),
        ("one/tests/it.rs", "#[test]\nfn t() {\n    nothing();\n}\n"),
        ("one/examples/e.rs", "fn main() {\n    let x: u8 = 300;\n    println!(\"{x}\");\n}\n"),
        ("two-b/Cargo.toml", &manifest("two-b", "")),
        ("two-b/build.rs", "fn main() {\n    let a = 1;\n}\n"),
        ("two-b/src/main.rs", "fn main() {\n    let v = vec![1];\n    drop(v);\n    drop(v);\n}\n"),
    ])
}

#[test]
fn check_tells_what_the_compiler_says_of_all_targets_once() {
    let server = broken_rust().serve(&["--trust"]);
    server.wait_ready();
    let before = tree(&server.home.root());
    let reply = verify(&server, json!({"kind": "check"}));
    // What needs a library that failed is not built.
    assert_eq!(
        diagnostics(&reply),
        [
            "one/src/lib.rs:4:14 error E0308",
            "two-b/build.rs:2:9 warning unused_variables",
            "two-b/src/main.rs:4:10 error E0382",
        ]
    );
    assert_eq!((&reply["ok"], &reply["kind"], &reply["exit_code"]), (&json!(false), &json!("check"), &json!(101)));
    assert_eq!((&reply["command"][0], &reply["command"][1]), (&json!("cargo"), &json!("check")));
    let of =
        |code: &str| reply["diagnostics"].as_array().unwrap().iter().find(|it| it["code"] == code).cloned().unwrap();
    assert_eq!((&of("E0308")["symbol"], &of("E0308")["source"]), (&json!("one::f"), &json!("rustc")));
    assert_eq!(
        (&of("E0382")["symbol"], &of("E0382")["message"]),
        (&json!("two_b::main"), &json!("use of moved value: `v`"))
    );
    assert!(reply["output"].as_str().unwrap().contains("could not compile"), "{reply}");

    // One package, by its name in either tool, and what a fixed library lets Cargo check.
    let reply = verify(&server, json!({"kind": "check", "packages": ["two_b"]}));
    assert!(diagnostics(&reply).iter().all(|it| it.starts_with("two-b/")), "{reply}");
    assert_eq!(reply["diagnostics"].as_array().unwrap().len(), 2, "{reply}");
    assert_eq!(diagnostics(&verify(&server, json!({"kind": "check", "packages": ["two-b"]}))), diagnostics(&reply));
    server.home.write("one/src/lib.rs", "pub fn f() -> u32 {\n    1\n}\n");
    let reply = verify(&server, json!({"kind": "check", "packages": ["one"]}));
    let expected = ["one/examples/e.rs:2:17 error overflowing_literals", "one/tests/it.rs:3:5 error E0425"];
    assert_eq!(diagnostics(&reply), expected, "{reply}");

    let (status, problem) = server.post("/v1/verify", &json!({"kind": "check", "packages": ["tow-b"]}));
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_package")), "{problem}");
    assert!(problem["suggestions"].as_array().unwrap().contains(&json!("two_b")), "{problem}");
    server.home.write("one/src/lib.rs", "/// Ä.\npub fn f() -> u32 {\n    let unused = 1;\n    /* ä */ \"x\"\n}\n");
    assert_eq!(tree(&server.home.root()), before, "something was written in the workspace");
}

/// Every file below a directory.
fn tree(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                pending.push(entry.path());
            }
            found.insert(entry.path());
        }
    }
    found
}

const TESTED: &str = r#"/// ```
/// assert_eq!(tested::double(2), 5);
/// ```
pub fn double(n: u32) -> u32 {
    n * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(double(2), 4);
    }

    #[test]
    fn fails() {
        println!("printed before");
        assert_eq!(double(2), 5, "no {}", 5);
    }

    #[test]
    #[ignore]
    fn skipped() {}
}
"#;

fn tested_rust() -> Home {
    Home::with(&[
        ("Cargo.toml", &manifest("tested", "")),
        ("src/lib.rs", TESTED),
        ("src/main.rs", "fn main() {}\n"),
        (
            "tests/outer.rs",
            "#[test]\nfn works() {}\n\n#[test]\nfn panics() {\n    let none: Option<u8> = None;\n    none.unwrap();\n}\n",
        ),
        ("tests/aborts.rs", "#[test]\nfn aborts() {\n    std::process::abort();\n}\n"),
    ])
}

#[test]
fn tests_tell_their_failures_with_place_and_message() {
    let server = tested_rust().serve(&["--trust"]);
    server.wait_ready();
    let reply = verify(&server, json!({"kind": "test"}));
    assert_eq!(
        failures(&reply),
        [
            "aborts tests/aborts.rs:2",
            "panics tests/outer.rs:7",
            "src/lib.rs - double (line 1) src/lib.rs:2",
            "tests::fails src/lib.rs:20"
        ]
    );
    assert_eq!((counts(&reply), &reply["ok"]), ([2, 4, 1], &json!(false)), "{reply}");
    let of = |name: &str| {
        let all = reply["tests"]["failures"].as_array().unwrap();
        all.iter().find(|it| it["name"] == name).cloned().unwrap()
    };
    let fails = of("tests::fails");
    assert_eq!(fails["message"], "assertion `left == right` failed: no 5\n  left: 4\n right: 5");
    assert!(fails["output"].as_str().unwrap().starts_with("printed before\n"), "{fails}");
    assert_eq!((&fails["symbol"], &fails["package"]), (&json!("tested::tests::fails"), &json!("tested")));
    assert!(of("aborts")["message"].as_str().unwrap().contains("SIGABRT"), "{reply}");

    // By the last part of a name, by the name of a failure, and no other test.
    let reply = verify(&server, json!({"kind": "test", "tests": ["works"]}));
    assert_eq!((counts(&reply), &reply["ok"]), ([2, 0, 0], &json!(true)), "{reply}");
    let reply = verify(&server, json!({"kind": "test", "tests": ["tests::fails", "panics"]}));
    assert_eq!(failures(&reply), ["panics tests/outer.rs:7", "tests::fails src/lib.rs:20"]);
    assert_eq!(counts(&reply), [0, 2, 0], "{reply}");
    let reply = verify(&server, json!({"kind": "test", "tests": ["src/lib.rs - double (line 1)"]}));
    assert_eq!(failures(&reply), ["src/lib.rs - double (line 1) src/lib.rs:2"]);
    let reply = verify(&server, json!({"kind": "test", "tests": ["work"]}));
    assert_eq!((counts(&reply), &reply["ok"]), ([0, 0, 0], &json!(false)), "{reply}");
    assert!(has_missing(&reply, "unknown_test"), "{reply}");

    let markdown = server.markdown("/v1/verify", Some(&json!({"kind": "test", "tests": ["fails"]}))).text;
    assert!(markdown.starts_with("# test: failed (exit code 101, "), "{markdown}");
    assert!(markdown.contains("FAILED `tests::fails` at src/lib.rs:20"), "{markdown}");
}

#[test]
fn the_linter_speaks_for_itself() {
    let server = Home::with(&[
        ("Cargo.toml", &manifest("linted", "")),
        ("src/lib.rs", "pub fn f(v: &[u8]) -> bool {\n    v.len() == 0\n}\n"),
    ])
    .serve(&["--trust"]);
    let reply = verify(&server, json!({"kind": "lint"}));
    assert_eq!(diagnostics(&reply), ["src/lib.rs:2:5 warning clippy::len_zero"]);
    assert_eq!((&reply["ok"], &reply["diagnostics"][0]["source"]), (&json!(true), &json!("clippy")), "{reply}");
}

/// Tests that end their program, print what looks like the harness's words, and a program without a harness.
fn early_ends() -> Home {
    let loud = r#"use std::io::Write;

#[test]
fn shouts() {
    println!("running 1 test\ntest inner ... FAILED\n\nfailures:\n\n---- inner stdout ----\n");
    println!("thread 'inner' panicked at src/lib.rs:1:1:\ninner\n\n\nfailures:\n    inner\n");
    println!("test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n");
    println!("---- raw stdout ----\nthread 'main' panicked at src/lib.rs:1:1:\nno\n");
    panic!("the message");
}

#[test]
fn raw() {
    let text = "\nrunning 1 test\ntest inner ... ok\n\nfailures:\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; \
                0 measured; 0 filtered out; finished in 0.00s\nerror: test failed, to rerun pass `--lib`\n";
    std::io::stdout().write_all(text.as_bytes()).unwrap();
}
"#;
    let exits = "#[test]\nfn exits() {\n    std::process::exit(0);\n}\n\n\
                 #[test]\nfn waits() {\n    loop {\n        std::thread::park();\n    }\n}\n";
    Home::with(&[
        ("Cargo.toml", &manifest("early", "[[test]]\nname = \"free\"\nharness = false\n")),
        ("src/lib.rs", "/// ```\n/// std::process::exit(0);\n/// ```\npub fn f() {}\n"),
        ("tests/exits.rs", exits),
        ("tests/free.rs", "fn main() {\n    println!(\"running 2 tests\");\n}\n"),
        ("tests/killed.rs", "#[test]\nfn fine() {}\n\n#[test]\nfn killed() {\n    std::process::abort();\n}\n"),
        ("tests/loud.rs", loud),
    ])
}

#[test]
fn a_run_is_good_only_if_each_announced_test_has_a_result() {
    let server = early_ends().serve(&["--trust"]);
    let details = |reply: &Value| {
        let all = reply["meta"]["missing"].as_array().unwrap().clone();
        let of = |it: &Value| format!("{}: {}", it["scope"].as_str().unwrap(), it["detail"].as_str().unwrap());
        all.iter().filter(|it| it["code"] == "no_result").map(of).collect::<Vec<_>>()
    };
    let reply = verify(&server, json!({"kind": "test"}));
    let expected = ["exits tests/exits.rs:2", "killed tests/killed.rs:5", "shouts tests/loud.rs:9"];
    assert_eq!((failures(&reply), &reply["ok"]), (expected.map(str::to_owned).to_vec(), &json!(false)), "{reply}");
    let shouts = reply["tests"]["failures"].as_array().unwrap().iter().find(|it| it["name"] == "shouts").cloned();
    assert_eq!(shouts.unwrap()["message"], "the message", "{reply}");
    let missing = details(&reply);
    assert!(missing.len() == 2 && missing[0].starts_with("exits: ") && missing[1].starts_with("killed: "), "{reply}");
    assert!(missing[0].contains("2 of 2 tests (exits, waits) have no result"), "{reply}");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");

    // The exit code of all of it is 0.
    server.home.write("tests/killed.rs", "#[test]\nfn fine() {}\n");
    let loud = server.home.read("tests/loud.rs").replace("panic!(\"the message\")", "");
    server.home.write("tests/loud.rs", &loud);
    let reply = verify(&server, json!({"kind": "test"}));
    assert_eq!(
        (failures(&reply), &reply["exit_code"]),
        (vec!["exits tests/exits.rs:2".to_owned()], &json!(0)),
        "{reply}"
    );
    assert_eq!((&reply["ok"], details(&reply).len()), (&json!(false), 1), "{reply}");
    let reply = verify(&server, json!({"kind": "test", "tests": ["waits", "exits"]}));
    assert!(reply["ok"] == false && details(&reply)[0].contains("(exits, waits)"), "{reply}");

    server.home.write("tests/exits.rs", "#[test]\nfn exits() {}\n");
    let reply = verify(&server, json!({"kind": "test"}));
    assert_eq!((&reply["ok"], counts(&reply)), (&json!(true), [5, 0, 0]), "{reply}");
    assert_eq!(reply["meta"]["missing"], json!([]), "{reply}");
}

#[test]
fn a_package_of_go_is_good_only_if_each_test_has_a_result() {
    let test = |package: &str, more: &str| {
        format!(
            "package {package}\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n\
                 var _ = fmt.Sprint(os.Args, syscall.O_RDONLY)\n\n{more}"
        )
    };
    let of = |name: &str, text: &str| (format!("{name}/{name}_test.go"), test(name, text));
    let mut files = vec![
        ("go.mod".to_owned(), "module example.com/m\n\ngo 1.21\n".to_owned()),
        of("silent", "func TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n\nfunc TestSilent(t *testing.T) {}\n"),
        of(
            "forgives",
            "func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n\n\
             func TestForgiven(t *testing.T) {\n\tt.Error(\"bad\")\n}\n",
        ),
        of("panics", "func TestPanics(t *testing.T) {\n\tpanic(\"here\")\n}\n\nfunc TestNever(t *testing.T) {}\n"),
        of("exits", "func TestExits(t *testing.T) {\n\tsyscall.Exit(0)\n}\n\nfunc TestLater(t *testing.T) {}\n"),
        of(
            "loud",
            "func TestLoud(t *testing.T) {\n\tfmt.Println(\"panic: printed\\ngoroutine 1 [running]:\")\n\
             \tfmt.Println(\"    loud_test.go:1: printed\")\n\tt.Errorf(\"got %d\", 1)\n}\n",
        ),
        of(
            "good",
            "type suite struct{}\n\nfunc (suite) TestMethod(t *testing.T) {}\n\nfunc Example() {}\n\n\
             func TestGood(t *testing.T) {}\n\nfunc FuzzGood(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, n int) {})\n}\n",
        ),
    ];
    let tagged = format!("//go:build never\n\n{}", test("good", "func TestTagged(t *testing.T) {}\n"));
    files.push(("good/tagged_test.go".to_owned(), tagged));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let server = Home::with(&files).serve(&["--trust"]);
    let missing = |reply: &Value| {
        let all = reply["meta"]["missing"].as_array().unwrap().clone();
        let of = |it: &Value| it["detail"].as_str().unwrap().to_owned();
        all.iter().filter(|it| it["code"] == "no_result").map(of).collect::<Vec<_>>().join("\n")
    };
    let run =
        |package: &str| verify(&server, json!({"kind": "test", "packages": [format!("example.com/m/{package}")]}));

    let reply = run("silent");
    assert_eq!((&reply["ok"], &reply["exit_code"]), (&json!(false), &json!(0)), "{reply}");
    assert!(missing(&reply).contains("(TestSilent)"), "{reply}");
    let reply = run("forgives");
    assert_eq!((&reply["ok"], &reply["exit_code"], counts(&reply)), (&json!(false), &json!(0), [0, 1, 0]), "{reply}");
    let reply = run("panics");
    assert_eq!(failures(&reply), ["TestPanics panics/panics_test.go:13"], "{reply}");
    assert!(missing(&reply).contains("(TestNever)"), "{reply}");
    let reply = run("exits");
    assert_eq!((&reply["ok"], &reply["exit_code"]), (&json!(false), &json!(0)), "{reply}");
    assert_eq!(failures(&reply), ["TestExits exits/exits_test.go:12"]);
    assert!(missing(&reply).contains("`TestExits`") && missing(&reply).contains("(TestLater)"), "{reply}");
    let reply = run("loud");
    assert_eq!(failures(&reply), ["TestLoud loud/loud_test.go:15"]);
    assert_eq!(reply["tests"]["failures"][0]["message"], "got 1", "{reply}");
    let reply = run("good");
    assert_eq!((&reply["ok"], counts(&reply), missing(&reply)), (&json!(true), [2, 0, 0], String::new()), "{reply}");
    let reply = verify(&server, json!({"kind": "test", "tests": ["TestTagged"]}));
    assert!(reply["ok"] == false && missing(&reply).contains("good/tagged_test.go"), "{reply}");
}

/// Two modules, one of which depends on the second, with errors in their tests, and a package that does not compile.
fn go_modules() -> Home {
    Home::with(&[
        ("lib/go.mod", "module example.com/lib\n\ngo 1.21\n"),
        ("lib/lib.go", "package lib\n\nfunc First(of []int) int {\n\treturn of[0]\n}\n"),
        ("lib/apart/apart.go", "package apart\n\nfunc Nothing() {}\n"),
        ("lib/apart/apart_test.go", "package apart\n\nimport \"testing\"\n\nfunc TestApart(t *testing.T) {}\n"),
        (
            "app/go.mod",
            "module example.com/app\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
        ),
        (
            "app/use/use.go",
            "package use\n\nimport \"example.com/lib\"\n\nfunc One() int { return lib.First([]int{1}) }\n",
        ),
        ("app/use/use_test.go", USE_TEST),
        ("app/other/other.go", "package other\n\nimport \"fmt\"\n\nfunc Print() { fmt.Printf(\"%d\\n\", \"text\") }\n"),
        ("app/other/other_test.go", "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n"),
    ])
}

const USE_TEST: &str = r#"package use

import (
	"testing"

	"example.com/lib"
)

func TestOne(t *testing.T) {
	t.Log("a log")
	if One() != 2 {
		t.Errorf("got %d", One())
	}
}

func TestPanics(t *testing.T) {
	lib.First(nil)
}

func TestParts(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad part", func(t *testing.T) {
		t.Fatal("bad")
	})
}
"#;

#[test]
fn modules_of_go_are_checked_vetted_and_tested() {
    let server = go_modules().serve(&["--trust"]);
    let before = tree(&server.home.root());
    let reply = verify(&server, json!({"kind": "check"}));
    assert_eq!((&reply["ok"], diagnostics(&reply).len()), (&json!(true), 0), "{reply}");
    let reply = verify(&server, json!({"kind": "lint"}));
    assert_eq!(diagnostics(&reply), ["app/other/other.go:5:28 warning printf"]);
    assert_eq!((&reply["ok"], &reply["diagnostics"][0]["source"]), (&json!(false), &json!("go vet")), "{reply}");

    let reply = verify(&server, json!({"kind": "test", "tests": ["TestOne", "TestParts", "TestApart"]}));
    assert_eq!(
        failures(&reply),
        [
            "TestOne app/use/use_test.go:12",
            "TestParts app/use/use_test.go:20",
            "TestParts/bad_part app/use/use_test.go:23"
        ]
    );
    assert_eq!(counts(&reply), [2, 3, 0], "{reply}");
    let reply = verify(&server, json!({"kind": "test", "tests": ["TestParts/bad_part"]}));
    assert_eq!(counts(&reply), [0, 2, 0], "{reply}");
    // A panic ends its program: the place is where it was, the message what it said.
    let reply = verify(&server, json!({"kind": "test", "packages": ["example.com/app/use"]}));
    let panics = reply["tests"]["failures"].as_array().unwrap().iter().find(|it| it["name"] == "TestPanics").cloned();
    let panics = panics.unwrap_or_else(|| panic!("{reply}"));
    assert_eq!((&panics["file"], &panics["line"]), (&json!("lib/lib.go"), &json!(4)), "{panics}");
    assert!(panics["message"].as_str().unwrap().contains("index out of range"), "{panics}");
    assert_eq!(panics["symbol"], "example.com/lib.First");
    let reply = verify(&server, json!({"kind": "test", "tests": ["TestNone"]}));
    assert!(reply["ok"] == false && has_missing(&reply, "unknown_test"), "{reply}");
    assert_eq!(tree(&server.home.root()), before, "something was written in the workspace");

    server.home.write(
        "app/other/other_test.go",
        "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {\n\tmissing()\n}\n",
    );
    server.home.write("lib/lib.go", "package lib\n\nfunc First(of []int) int {\n\treturn \"\"\n}\n");
    let reply = verify(&server, json!({"kind": "check"}));
    let expected = ["app/other/other_test.go:6:2 error -", "lib/lib.go:4:9 error -"];
    assert_eq!(diagnostics(&reply), expected, "{reply}");
}

#[test]
fn a_change_is_verified_by_what_can_reach_it() {
    let member = |name: &str, more: &str| (format!("{name}/Cargo.toml"), manifest(name, more));
    let fails = "#[test]\nfn reads() {\n    assert_eq!(include_str!(\"../../base/data.txt\").trim(), \"one\");\n}\n";
    let mut files = vec![
        (
            "Cargo.toml".to_owned(),
            "[workspace]\nmembers = [\"base\", \"user\", \"tester\", \"reader\", \"apart\"]\nresolver = \"2\"\n"
                .to_owned(),
        ),
        member("base", ""),
        ("base/src/lib.rs".to_owned(), "pub const N: u32 = 1;\n\n#[test]\nfn base() {}\n".to_owned()),
        ("base/data.txt".to_owned(), "one\n".to_owned()),
        ("base/tests/own.rs".to_owned(), "#[test]\nfn own() {}\n".to_owned()),
        member("user", "[dependencies]\nbase = { path = \"../base\" }\n"),
        ("user/src/lib.rs".to_owned(), "#[test]\nfn user() {\n    assert_eq!(base::N, 1);\n}\n".to_owned()),
        member("tester", "[dev-dependencies]\nuser = { path = \"../user\" }\n"),
        ("tester/src/lib.rs".to_owned(), "#[test]\nfn tester() {}\n".to_owned()),
        member("reader", ""),
        ("reader/src/lib.rs".to_owned(), String::new()),
        ("reader/tests/reads.rs".to_owned(), fails.to_owned()),
        member("apart", "[dependencies]\ntester = { path = \"../tester\" }\n"),
        ("apart/src/lib.rs".to_owned(), "#[test]\nfn apart() {}\n".to_owned()),
    ];
    files.push(("notes.md".to_owned(), "notes\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let server = Server::on(&files);
    let change = |file: &str, search: &str, replacement: &str| {
        let edit = json!({"file": file, "search_context": search, "replacement": replacement});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        reply["change"].as_str().unwrap().to_owned()
    };
    let packages = |change: &str| {
        let reply = verify(&server, json!({"kind": "test", "change": change}));
        let ran: BTreeSet<String> =
            reply["runs"].as_array().unwrap().iter().flat_map(|it| of_command(&it["command"])).collect();
        (ran.into_iter().collect::<Vec<_>>().join(" "), reply)
    };
    let (ran, reply) = packages(&change("base/src/lib.rs", "N: u32 = 1", "N: u32 = 2"));
    assert_eq!(ran, "base tester user", "{reply}");
    assert_eq!(failures(&reply), ["user user/src/lib.rs:3"]);
    let (ran, reply) = packages(&change("base/data.txt", "one", "two"));
    assert_eq!(
        (ran.as_str(), failures(&reply)),
        (
            "base reader tester user",
            vec!["reads reader/tests/reads.rs:3".to_owned(), "user user/src/lib.rs:3".to_owned()]
        ),
        "{reply}"
    );
    let (ran, _) = packages(&change("base/tests/own.rs", "fn own", "fn owned"));
    assert_eq!(ran, "base");
    let (ran, reply) = packages(&change("notes.md", "notes", "more notes"));
    assert_eq!((ran.as_str(), &reply["ok"]), ("", &json!(true)), "{reply}");
    let (status, problem) = server.post("/v1/verify", &json!({"kind": "test", "change": "01J"}));
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_change")), "{problem}");
}

/// The packages that a command of Cargo names.
fn of_command(command: &Value) -> Vec<String> {
    let words: Vec<&str> = command.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    words.windows(2).filter(|it| it[0] == "-p").map(|it| it[1].to_owned()).collect()
}

#[test]
fn a_change_of_go_is_verified_by_what_imports_it() {
    let server = go_modules().serve(&["--trust"]);
    let edit = json!({"file": "lib/lib.go", "search_context": "of[0]", "replacement": "of[0] + 1"});
    let (_, reply) = server.post("/v1/edit", &edit);
    let reply = verify(&server, json!({"kind": "test", "change": reply["change"]}));
    let commands: Vec<String> = reply["runs"].as_array().unwrap().iter().map(|it| it["command"].to_string()).collect();
    let all = commands.concat();
    assert!(all.contains("./use") && !all.contains("other") && !all.contains("apart"), "{all}");
    assert_eq!(failures(&reply), ["TestPanics lib/lib.go:4"], "{reply}");
}

#[test]
fn nothing_runs_without_trust_and_nonsense_is_refused() {
    let server = tested_rust().serve(&["--no-trust"]);
    let (status, problem) = server.post("/v1/verify", &json!({"kind": "check"}));
    assert_eq!((status, &problem["code"]), (403, &json!("untrusted")), "{problem}");
    for wrong in [
        json!({"kind": "check", "timeout_ms": 0}),
        json!({"kind": "check", "timeout_ms": -1}),
        json!({"kind": "check", "timeout_ms": 1.5}),
        json!({"kind": "build"}),
        json!({}),
    ] {
        let (status, problem) = server.post("/v1/verify", &wrong);
        assert_eq!((status, &problem["code"]), (400, &json!("invalid_request")), "{wrong}: {problem}");
    }
}

/// A package whose test never ends: it and its child ignore SIGTERM, and write their process ids.
fn endless() -> Home {
    let home = Home::with(&[("Cargo.toml", &manifest("endless", "")), ("src/lib.rs", "")]);
    // One child is in a session of its own.
    let child = "sh -c 'trap \"\" TERM; echo $$ >> PIDS; while :; do sleep 1; done'";
    let script = format!("trap '' TERM; echo $$ >> PIDS; setsid {child} & {child} & while :; do sleep 1; done");
    let script = script.replace("PIDS", &home.path().join("pids").display().to_string());
    let test = format!(
        "#[test]\nfn hangs() {{\n    std::process::Command::new(\"sh\").args([\"-c\", {script:?}]).status().unwrap();\n}}\n"
    );
    home.write("tests/hangs.rs", &test);
    home
}

fn pids(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.path().join("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn is_running(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

#[track_caller]
fn dead_within(home: &Home, limit: Duration) {
    let pids = pids(home);
    assert!(pids.len() >= 3, "{pids:?}");
    let deadline = Instant::now() + limit;
    while pids.iter().any(|it| is_running(it)) {
        assert!(Instant::now() < deadline, "{pids:?} run on");
        thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn a_run_ends_at_its_deadline_with_its_client_and_with_the_server() {
    let mut server = endless().serve(&["--trust"]);
    // What it is built of is there before the clock runs.
    verify(&server, json!({"kind": "test", "tests": ["none"]}));
    let begun = Instant::now();
    let reply = verify(&server, json!({"kind": "test", "timeout_ms": 20_000}));
    assert!(
        begun.elapsed() >= Duration::from_secs(20) && begun.elapsed() < Duration::from_secs(40),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(
        (&reply["ok"], &reply["timed_out"], &reply["exit_code"]),
        (&json!(false), &json!(true), &Value::Null),
        "{reply}"
    );
    assert!(reply.to_string().contains("timeout") && has_missing(&reply, "timeout"), "{reply}");
    let missing = reply["meta"]["missing"].as_array().unwrap();
    let of_hangs = |it: &&Value| it["code"] == "no_result" && it["scope"] == "hangs";
    let detail = missing.iter().find(of_hangs).unwrap_or_else(|| panic!("{reply}"))["detail"].as_str().unwrap();
    assert!(detail.contains("at the deadline; `hangs` has no result"), "{detail}");
    dead_within(&server.home, DEATH);

    // The client leaves.
    fs::remove_file(server.home.path().join("pids")).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let body = r#"{"kind":"test"}"#;
    let request = format!(
        "POST /v1/verify HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        server.home.token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    server.wait_for(|it| pids(&it.home).len() >= 3);
    drop(stream);
    dead_within(&server.home, 2 * DEATH);

    // The server is stopped.
    fs::remove_file(server.home.path().join("pids")).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    server.wait_for(|it| pids(&it.home).len() >= 3);
    server.signal(rustix::process::Signal::TERM);
    dead_within(&server.home, 2 * DEATH);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_run_ends_with_the_trust_in_its_workspace() {
    let home = endless();
    let trust = |home: &Home, arguments: &[&str]| {
        let ended = run(home.semdex().arg("trust").args(arguments));
        assert_eq!(ended.code, Some(0), "{}", ended.errors);
    };
    trust(&home, &["."]);
    let server = home.serve(&["--no-auth"]);
    let ask = |kind: &str| {
        let (url, body) = (format!("{}/v1/verify", server.base()), json!({"kind": kind}));
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
                let reply = client.post(url).json(&body).send().await.unwrap();
                (reply.status().as_u16(), reply.json::<Value>().await.unwrap())
            })
        })
    };
    let running = ask("test");
    server.wait_for(|it| pids(&it.home).len() >= 3);
    let queued = ask("check");
    trust(&server.home, &["--revoke", "."]);
    dead_within(&server.home, DEATH);
    for answer in [running, queued] {
        let (status, problem) = answer.join().unwrap();
        assert_eq!((status, &problem["code"]), (403, &json!("untrusted")), "{problem}");
    }
    let before = pids(&server.home).len();
    assert_eq!(server.post("/v1/verify", &json!({"kind": "test"})).0, 403);
    assert_eq!(pids(&server.home).len(), before);

    // And the reverse.
    trust(&server.home, &["."]);
    server.wait_for(|it| it.get("/v1/status").1["workspaces"][0]["trusted"] == true);
    assert_eq!(server.post("/v1/verify", &json!({"kind": "check"})).0, 200);
}

#[test]
fn the_same_is_run_once_and_too_many_are_told_to_come_back() {
    let server = endless().serve(&["--trust", "--no-auth"]);
    let ask = |body: Value| {
        let url = format!("{}/v1/verify", server.base());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
                let reply = client.post(url).json(&body).send().await.unwrap();
                (reply.status().as_u16(), reply.headers().get("retry-after").is_some(), reply.text().await.unwrap())
            })
        })
    };
    let same: Vec<_> = (0..3).map(|_| ask(json!({"kind": "test", "timeout_ms": 30_000}))).collect();
    server.wait_for(|it| pids(&it.home).len() >= 3);
    assert_eq!(pids(&server.home).len(), 3, "each ran by itself");
    let others: Vec<_> = (0..12).map(|it| ask(json!({"kind": "check", "timeout_ms": 20_000 + it}))).collect();
    let answers: Vec<_> = others.into_iter().map(|it| it.join().unwrap()).collect();
    let busy = answers.iter().filter(|it| it.0 == 429).count();
    assert!(busy >= 3 && answers.iter().all(|it| it.0 == 200 || it.0 == 429 && it.1), "{answers:?}");
    for answer in same {
        let (status, _, text) = answer.join().unwrap();
        assert!(status == 200 && text.contains("\"timed_out\":true"), "{status} {text}");
    }
    assert_eq!(pids(&server.home).len(), 3);
    dead_within(&server.home, DEATH);
}

/// Much output, in many lines and in one, from a test that fails.
const FLOOD: &str = r#"use std::io::Write;

#[test]
fn floods() {
    let mut out = std::io::stdout().lock();
    let line = [b"x".repeat(999), b"\n".to_vec()].concat();
    for _ in 0..100_000 {
        out.write_all(&line).unwrap();
    }
    for _ in 0..100_000 {
        out.write_all(&[1; 1000]).unwrap();
    }
    drop(out);
    for number in 0..100_000 {
        println!("captured {number} \u{1}\u{1}\u{1}\u{1}");
    }
    panic!("the end");
}
"#;

#[test]
fn a_flood_of_output_takes_little() {
    let server = Server::on(&[("Cargo.toml", &manifest("flood", "")), ("src/lib.rs", ""), ("tests/flood.rs", FLOOD)]);
    server.wait_ready();
    verify(&server, json!({"kind": "check"}));
    let peak = || {
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = peak();
    let reply = server.send(server.request("POST", "/v1/verify").json(&json!({"kind": "test"})));
    assert!(reply.text.len() < 2 << 20, "{} bytes", reply.text.len());
    assert!(peak() < before + (100 << 10), "{} KiB after {before}", peak());
    let reply = reply.json();
    assert_eq!(failures(&reply), ["floods tests/flood.rs:17"]);
    assert_eq!(reply["tests"]["failures"][0]["message"], "the end");
    assert!(reply["output"].as_str().unwrap().lines().count() <= 200, "{reply}");
}

#[test]
fn one_call_verifies_all_languages_of_the_disk() {
    let server = Home::with(&[
        ("Cargo.toml", &manifest("mixed", "")),
        ("src/lib.rs", "#[test]\nfn fine() {}\n"),
        ("nested/Cargo.toml", &format!("{}[workspace]\n", manifest("nested", ""))),
        ("nested/src/lib.rs", "#[test]\nfn deep() {}\n"),
        ("go.mod", "module example.com/mixed\n\ngo 1.21\n"),
        ("a_test.go", "package mixed\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"),
        ("tool.nonesuch", "x\n"),
        (
            "semdex.toml",
            "[languages.nonesuch]\ncommand = ['none']\nextensions = {nonesuch = 'nonesuch'}\n\
             verify.check = ['sh', '-c', 'echo tool.nonesuch:1:1: error: not good; exit 3']\n",
        ),
    ])
    .serve(&["--trust"]);
    let reply = verify(&server, json!({"kind": "test"}));
    assert_eq!((counts(&reply), &reply["ok"]), ([3, 0, 0], &json!(true)), "{reply}");
    let reply = verify(&server, json!({"kind": "check"}));
    assert_eq!(diagnostics(&reply), ["tool.nonesuch:1:1 error -"]);
    assert_eq!(
        (&reply["ok"], &reply["exit_code"], &reply["command"][0]),
        (&json!(false), &json!(3), &json!("sh")),
        "{reply}"
    );
    let languages: BTreeSet<&str> =
        reply["runs"].as_array().unwrap().iter().filter_map(|it| it["language"].as_str()).collect();
    assert_eq!(languages.into_iter().collect::<Vec<_>>(), ["go", "nonesuch", "rust"]);

    // Overlays are not on the disk.
    let put = server.request("PUT", "/v1/overlays/src/lib.rs").json(&json!({"content": "not rust\n"}));
    assert_eq!(server.send(put).status, 200);
    let reply = verify(&server, json!({"kind": "test"}));
    assert!(reply["ok"] == true && has_missing(&reply, "overlays"), "{reply}");
}

#[test]
fn a_run_is_told_as_events() {
    let server = tested_rust().serve(&["--trust"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listen = async { server.request("GET", "/v1/events?types=verify").send().await };
    let mut stream = runtime.block_on(listen).unwrap();
    verify(&server, json!({"kind": "check"}));
    let mut told = String::new();
    runtime.block_on(async {
        while !told.contains("\"finished\"") {
            let piece = tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap().unwrap();
            told.push_str(&String::from_utf8_lossy(&piece));
        }
    });
    assert!(told.contains("event: verify") && told.contains("\"queued\"") && told.contains("\"ok\":true"), "{told}");
    assert!(told.contains("\"kind\":\"check\"") && told.contains("\"progress\":{\"stage\":"), "{told}");
}

#[test]
fn the_command_line_says_by_its_exit_code_how_it_went() {
    let server = tested_rust().serve(&["--trust"]);
    let semdex = |arguments: &[&str]| run(server.home.semdex().arg("verify").args(arguments));
    let good = semdex(&["test", "--test", "works"]);
    assert!(good.code == Some(0) && good.output.contains("test: ok"), "{} {}", good.output, good.errors);
    let bad = semdex(&["test", "--package", "tested", "--test", "fails", "--json"]);
    let reply: Value = serde_json::from_str(&bad.output).unwrap();
    assert_eq!((bad.code, &reply["ok"]), (Some(1), &json!(false)), "{}", bad.output);
    let unknown = semdex(&["check", "--package", "nonesuch"]);
    assert!(unknown.code == Some(1) && unknown.errors.contains("nonesuch"), "{} {}", unknown.output, unknown.errors);
}

#[test]
fn a_build_of_the_user_runs_beside() {
    let server = tested_rust().serve(&["--trust"]);
    let target = server.home.root().join("target");
    fs::create_dir_all(target.join("debug")).unwrap();
    // As a build of the user's holds it for as long as it runs.
    let lock = fs::File::create(target.join("debug/.cargo-lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let reply = verify(&server, json!({"kind": "check", "timeout_ms": 60_000}));
    assert_eq!(reply["ok"], true, "{reply}");
    assert_eq!(fs::read_dir(target.join("debug")).unwrap().count(), 1);
    assert!(!server.home.root().join("Cargo.lock").exists());
}

/// The diagnostics as soon as they are as expected. Polled seldom, because each request delays the compiler.
fn confirmed(server: &Server, wanted: &dyn Fn(&[Value]) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        thread::park_timeout(Duration::from_secs(5));
        let (_, reply) = server.get("/v1/diagnostics");
        if wanted(reply["items"].as_array().unwrap()) {
            return reply;
        }
        assert!(Instant::now() < deadline, "{reply}");
    }
}

#[test]
fn the_compiler_confirms_when_nobody_asks() {
    let good = "pub fn first(v: &[u8]) -> Option<u8> {\n    v.first().copied()\n}\n";
    let settings = ("semdex.toml", "[rust]\nconfirm = true\n");
    let server = Server::on(&[("Cargo.toml", &manifest("borrows", "")), ("src/lib.rs", good), settings]);
    server.wait_ready();
    let confirmed = |wanted: &dyn Fn(&[Value]) -> bool| confirmed(&server, wanted);
    let borrows = "pub fn moved(v: Vec<u8>) -> usize {\n    drop(v);\n    v.len()\n}\n";
    server.home.write("src/lib.rs", &format!("{good}\n{borrows}"));
    let reply = confirmed(&|items| !items.is_empty());
    let item = &reply["items"][0];
    assert_eq!((&item["code"], &item["source"], &item["confirmed"]), (&json!("E0382"), &json!("rustc"), &json!(true)));
    assert_eq!((&item["line"], &item["symbol"]), (&json!(7), &json!("borrows::moved")), "{reply}");
    // An error of both is reported once.
    server.home.write("src/lib.rs", &format!("{good}\npub fn none() -> u8 {{\n    nothing()\n}}\n"));
    let reply = confirmed(&|items| items.iter().any(|it| it["confirmed"] == true));
    assert_eq!((reply["total"].as_u64(), &reply["items"][0]["source"]), (Some(1), &json!("rust-analyzer")), "{reply}");
    // At another revision nobody was asked.
    server.home.write("src/lib.rs", &format!("{good}\npub fn none() -> u8 {{\n    nothing_else()\n}}\n"));
    let (_, reply) = server.get("/v1/diagnostics");
    assert_eq!((reply["total"].as_u64(), &reply["items"][0]["confirmed"]), (Some(1), &Value::Null), "{reply}");
    server.home.write("src/lib.rs", good);
    let (_, reply) = server.get("/v1/diagnostics");
    assert_eq!(reply["total"], 0, "{reply}");
}

#[test]
fn linters_are_asked_where_the_settings_say_so() {
    let rust = "pub fn has_none(v: &[u8]) -> bool {\n    v.len() == 0\n}\n";
    let go = "package p\n\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Printf(\"%d\\n\", \"no number\")\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", &manifest("lints", "")),
        ("src/lib.rs", rust),
        ("go.mod", "module example.com/p\n\ngo 1.24\n"),
        ("p.go", go),
    ]);
    server.wait_ready();
    let told = |reply: &Value| {
        let told = |it: &Value| {
            let text = |key: &str| it[key].as_str().unwrap_or("-");
            format!("{}:{} {} {} {}", text("file"), it["line"], text("source"), text("code"), it["confirmed"])
        };
        reply["items"].as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    let before = told(&server.get("/v1/diagnostics").1);
    assert!(before.iter().all(|it| it.starts_with("p.go:6 ") && it.ends_with(" null")), "{before:?}");
    server.home.write("semdex.toml", "[rust]\nclippy = true\n[go]\nvet = true\n");
    let after = told(&confirmed(&server, &|items| items.iter().any(|it| it["source"] == "clippy")));
    assert!(after.contains(&"src/lib.rs:2 clippy clippy::len_zero true".to_owned()), "{after:?}");
    // An error that gopls reports too is reported once.
    let vetted: Vec<_> = after.iter().filter(|it| it.starts_with("p.go:6 ")).collect();
    assert!(vetted.len() == 1 && vetted[0].ends_with(" true"), "{after:?}");
}

/// The counts equal the tools' output, and each failure is reported once.
#[test]
fn tests_of_other_languages_are_counted_as_their_tools_count_them() {
    let python = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_fine(self):\n        pass\n\n    def test_x(self):\n        self.assertEqual(1, 2)\n\n    def test_y(self):\n        raise KeyError('k')\n\n    @unittest.skip('no')\n    def test_z(self):\n        pass\n";
    let server = Home::with(&[
        ("test_a.py", python),
        ("print.sh", "cat printed.txt; exit 1\n"),
        ("printed.txt", ""),
        ("a.nonesuch", ""),
        (
            "semdex.toml",
            "[languages.python.verify]\ntest = ['python3', '-m', 'unittest']\n\
             [languages.nonesuch]\ncommand = ['none']\nextensions = {nonesuch = 'nonesuch'}\n\
             verify.test = ['sh', 'print.sh']\n",
        ),
    ])
    .serve(&["--trust"]);
    // What others print beside it has its own counts.
    for (printed, [passed, failed, skipped], named) in [
        ("ERROR test_a.py::t - KeyError\n2 passed, 1 error in 0.03s\n", [2, 1, 0], "test_a.py::t KeyError"),
        ("Tests:       1 failed, 5 passed, 6 total\nSnapshots:   2 passed, 2 total\n", [5, 1, 0], ""),
        ("# pass 3\n# fail 1\n# skipped 2\n", [3, 1, 2], ""),
    ] {
        server.home.write("printed.txt", printed);
        let reply = verify(&server, json!({"kind": "test"}));
        assert_eq!((counts(&reply), &reply["ok"]), ([1 + passed, 2 + failed, 1 + skipped], &json!(false)), "{reply}");
        assert_eq!(reply["meta"]["complete"], true, "{reply}");
        let failures = reply["tests"]["failures"].as_array().unwrap();
        let told = |it: &Value| format!("{} {}", it["name"].as_str().unwrap(), it["message"].as_str().unwrap());
        let all: BTreeSet<String> = failures.iter().map(told).collect();
        assert_eq!((all.len(), failures.len()), (3, 3), "{reply}");
        assert!(all.contains("test_a.T.test_x AssertionError: 1 != 2"), "{reply}");
        assert!(named.is_empty() || all.contains(named), "{reply}");
        let y = failures.iter().find(|it| it["name"] == "test_a.T.test_y").unwrap();
        assert_eq!(
            (&y["file"], &y["line"], &y["message"]),
            (&json!("test_a.py"), &json!(12), &json!("KeyError: 'k'")),
            "{reply}"
        );
    }
    let (status, reply) = server.post("/v1/verify", &json!({"kind": "test", "packages": ["x"]}));
    assert_eq!((status, &reply["code"]), (404, &json!("unknown_package")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().ends_with("none of its tools knows packages by names"), "{reply}");
}
