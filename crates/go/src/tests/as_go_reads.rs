//! Constraints and manifests compared with Go's own tools.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::select;
use proptest::strategy::Strategy;
use serde_json::{Value, json};

use crate::build_constraints::BuildContext;
use crate::gomod::{Replace, parse_module, parse_work};
use semdex_testing::fuzz::fuzz;

/// `oracle.go`, which runs go/build.
struct Oracle {
    program: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
}

impl Oracle {
    fn start() -> Oracle {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("oracle.go"), include_str!("oracle.go")).unwrap();
        let mut build = Command::new("go");
        build.args(["build", "-o", "oracle", "oracle.go"]).current_dir(&directory);
        assert!(build.status().expect("go is needed").success());
        let mut program = Command::new(directory.path().join("oracle"));
        let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = program.stdin.take().unwrap();
        let answers = BufReader::new(program.stdout.take().unwrap());
        Oracle { program, asked, answers, _directory: directory }
    }

    fn takes(&mut self, name: &str, text: &str, tags: &[&str], cgo: bool) -> bool {
        writeln!(self.asked, "{}", json!({"Name": name, "Text": text, "Tags": tags, "Cgo": cgo})).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim().parse().unwrap()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn fuzz_go_constraints_as_go_reads_them() {
    const NAMES: &[&str] = &[
        "a.go",
        "linux.go",
        "_a.go",
        ".a.go",
        "a_linux.go",
        "a_windows.go",
        "a_amd64.go",
        "a_arm64_test.go",
        "a_linux_amd64.go",
        "a_windows_amd64_test.go",
        "a_amd64_linux.go",
        "a_unix.go",
        "linux_amd64.go",
        "a__linux.go",
        "a_linux.x.go",
        "a_test_linux.go",
        "a_wasip1.go",
        "a_riscv.go",
        "_test.go",
        "windows_test.go",
    ];
    const PIECES: &[&str] = &[
        "//go:build ",
        "//go:build\t",
        "// +build ",
        "//+build ",
        "//  +build\t",
        "//go:buildx ",
        "/* x */",
        "/* x\n*/",
        "// text",
        "linux",
        "windows",
        "unix",
        "cgo",
        "gc",
        "gccgo",
        "go1.18",
        "go1.99",
        "go1.0",
        "go1.x",
        "go1",
        "mine",
        "a-b",
        "a.b",
        "é",
        "ignore",
        "true",
        "1",
        " && ",
        "&&",
        " || ",
        "&",
        "|",
        "!",
        "!!",
        "(",
        ")",
        ",",
        " ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\u{feff}",
        "package p\n",
        "import \"C\"\n",
    ];
    let oracle = RefCell::new(Oracle::start());
    let header = vec(select(PIECES), 0..14).prop_map(|it| it.concat());
    let end = select(&["\n\npackage p\n", "\npackage p\n", "package p\n\n//go:build ignore\n", ""][..]);
    fuzz(
        "go_constraints_as_go_reads_them",
        (select(NAMES), header, end, any::<bool>(), any::<bool>()),
        |(name, header, end, cgo, ignored)| {
            let text = [&header, end].concat();
            // go/build reports files that a constraint line excludes, but not those that import C.
            if !cgo && text.contains("\"C\"") {
                return;
            }
            let tags: &[&str] = if ignored { &["mine", "ignore"] } else { &["mine"] };
            let set = tags.iter().map(|it| (*it).to_owned()).collect();
            let context = BuildContext { tags: set, cgo, ..BuildContext::default() };
            let takes = context.takes(name, &text);
            let theirs = oracle.borrow_mut().takes(name, &text, tags, cgo);
            assert_eq!(takes, theirs, "{name}: {text:?}, cgo: {cgo}");
        },
    );
}

#[test]
fn fuzz_go_manifests_as_go_reads_them() {
    const MODULE: &[&str] = &[
        "module example.com/m\n",
        "module \"example.com/m\" // the module\n",
        "module (\n\texample.com/m\n)\n",
        "go 1.26\n",
        "go 1.21.3 // now\r\n",
        "toolchain go1.26.1\n",
        "require a.b/c v1.0.0\n",
        "require `a.b/d` v1.2.3 // indirect\n",
        "require (\n\ta.b/e v0.1.0\n\n\t// text\n\t\"a.b/f\" v0.0.0-20200101000000-abcdefabcdef // indirect\n)\n",
        "require (\n)\n",
        "exclude a.b/c v1.1.0\n",
        "exclude (\n\ta.b/c v1.2.0\n)\n",
        "retract v1.0.1\n",
        "retract [v1.0.0, v1.0.9] // bad\n",
        "retract (\n\tv1.0.2\n)\n",
        "replace a.b/c => ../c\n",
        "replace a.b/c v1.0.0 => x.y/z v2.0.0+incompatible\n",
        "replace (\n\ta.b/d => \"./with space\"\n\ta.b/e v0.1.0 => /abs\n)\n",
        "// comment\n",
        "/* no comment */\n",
        "\n",
        "\u{feff}",
        "tool a.b/c/cmd\n",
        "godebug default=go1.21\n",
        "ignore ./node_modules\n",
        "require a.b/g v1.0.0//x\n",
        "unknown a b\n",
        "require(\n\ta.b/h v1.0.0\n)\n",
        ")\n",
        "(\n",
    ];
    const WORK: &[&str] = &[
        "go 1.26\n",
        "toolchain go1.26.1\n",
        "use .\n",
        "use ./a\n",
        "use (\n\t./b\n\t\"./with space\" // text\n\t../out\n)\n",
        "use `c/d`\n",
        "use /abs\n",
        "replace a.b/c => ../c\n",
        "replace (\n\ta.b/d v1.0.0 => x.y/z v1.0.0\n)\n",
        "// text\n",
        "\n",
        "use(\n\t./e\n)\n",
        "use ./f//g\n",
        "use ./h//\n",
        "godebug default=go1.21\n",
    ];
    let directory = tempfile::tempdir().unwrap();
    let read = |kind: &str, name: &str, text: &str| -> Option<Value> {
        let file = directory.path().join(name);
        std::fs::write(&file, text).unwrap();
        let output = Command::new("go").args([kind, "edit", "-json"]).arg(&file).env("GOTOOLCHAIN", "local").output();
        let output = output.expect("go is needed");
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    };
    let texts = |lines| vec(select(lines), 0..8).prop_map(|it: Vec<&str>| it.concat());
    fuzz("go_manifests_as_go_reads_them", (texts(MODULE), texts(WORK)), |(module, work)| {
        if let Some(theirs) = read("mod", "go.mod", &module) {
            let ours = parse_module("", &module);
            let path = ours.as_ref().map(|it| it.path.as_str());
            assert_eq!(text_at(&theirs, "/Module/Path"), path.unwrap_or_default(), "{module:?}");
            // Without a path it is no module's manifest.
            let Some(ours) = ours else { return };
            assert_eq!(text_at(&theirs, "/Go"), ours.go.unwrap_or_default(), "{module:?}");
            let required = |it: &Value| (text_at(it, "/Path"), text_at(it, "/Version"));
            let mine: Vec<_> = ours.requires.into_iter().map(|it| (it.path, it.version)).collect();
            assert_eq!(list_at(&theirs, "/Require").iter().map(required).collect::<Vec<_>>(), mine, "{module:?}");
            assert_eq!(replaces(&theirs), ours.replaces, "{module:?}");
        }
        if let Some(theirs) = read("work", "go.work", &work) {
            let ours = parse_work("w", &work);
            assert_eq!(text_at(&theirs, "/Go"), ours.go.unwrap_or_default(), "{work:?}");
            assert_eq!(list_at(&theirs, "/Use").len(), ours.uses.len() + ours.uses_outside.len(), "{work:?}");
            let inside = |it: &Value| {
                let path = text_at(it, "/DiskPath");
                let path = path.strip_prefix("./").unwrap_or(&path).trim_end_matches("/.").to_owned();
                (!path.starts_with("..") && !path.starts_with('/')).then(|| match path.as_str() {
                    "." => "w".to_owned(),
                    path => format!("w/{path}"),
                })
            };
            let theirs_inside: Vec<_> = list_at(&theirs, "/Use").iter().filter_map(inside).collect();
            let mine: Vec<_> = ours.uses.iter().filter(|it| it.starts_with('w')).cloned().collect();
            assert_eq!(theirs_inside, mine, "{work:?}");
            assert_eq!(replaces(&theirs), ours.replaces, "{work:?}");
        }
    });
}

fn text_at(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list_at(value: &Value, pointer: &str) -> Vec<Value> {
    value.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
}

fn replaces(manifest: &Value) -> Vec<Replace> {
    let some = |text: String| Some(text).filter(|it| !it.is_empty());
    let of = |it: &Value| Replace {
        path: text_at(it, "/Old/Path"),
        version: some(text_at(it, "/Old/Version")),
        target: text_at(it, "/New/Path"),
        target_version: some(text_at(it, "/New/Version")),
    };
    list_at(manifest, "/Replace").iter().map(of).collect()
}
