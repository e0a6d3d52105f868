//! What a change would break, reported before it is made.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::language_servers;
use crate::support::{Home, Server};

const FILES: &[(&str, &str)] = &[
    ("rust/Cargo.toml", "[package]\nname = \"broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    (
        "rust/src/lib.rs",
        "pub mod user;\n\npub fn twice(it: u8) -> u8 {\n    it * 2\n}\n\npub struct Pair {\n    pub left: u8,\n    pub right: u8,\n}\n",
    ),
    (
        "rust/src/user.rs",
        "use crate::{Pair, twice};\n\npub fn four() -> u8 {\n    twice(2)\n}\n\npub fn pair() -> Pair {\n    Pair { left: twice(1), right: 0 }\n}\n",
    ),
    (
        "rust/tests/it.rs",
        "use broken::user::four;\n\nfn helper() -> u8 {\n    four()\n}\n\n#[test]\nfn far() {\n    assert_eq!(helper(), 4);\n}\n\n#[test]\nfn near() {\n    assert_eq!(broken::twice(2), 4);\n}\n\n#[test]\nfn apart() {}\n",
    ),
    ("go/go.mod", "module example.com/broken\n\ngo 1.24\n"),
    ("go/twice.go", "package broken\n\nfunc Twice(it int) int {\n\treturn it * 2\n}\n"),
    (
        "go/user/user.go",
        "package user\n\nimport \"example.com/broken\"\n\nfunc Four() int {\n\treturn broken.Twice(2)\n}\n",
    ),
    (
        "go/twice_test.go",
        "package broken\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
    ),
];

/// `file:line code` of each broken place.
fn broken(reply: &Value) -> Vec<String> {
    let told = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}"));
    told.iter().map(broken_at).collect()
}

fn broken_at(it: &Value) -> String {
    format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap_or_default())
}

#[test]
fn a_small_workspace_gets_no_second_database() {
    let server = Home::with(FILES).serve(&["--trust", "--log", "semdex=debug"]);
    server.wait_ready();
    server.wait_for_log("no second database is made");
    assert!(!server.log().contains("a second database is there"), "{}", server.log());
}

#[test]
fn a_change_is_asked_about_without_being_made() {
    let server = Server::on(FILES);
    server.wait_ready();
    let before = server.get("/v1/status").1["workspaces"][0]["revision"].clone();
    let ask = |symbol: &str, change: &str| {
        let (status, reply) = server.post("/v1/impact", &json!({"symbol": symbol, "change": change}));
        assert_eq!(status, 200, "{symbol} {change}: {reply}");
        reply
    };
    let cases: [(&str, &str, &[&str]); 8] = [
        (
            "broken::twice",
            "signature",
            &["rust/src/user.rs:4 E0061", "rust/src/user.rs:8 E0061", "rust/tests/it.rs:14 E0061"],
        ),
        (
            "broken::twice",
            "remove",
            &[
                "rust/src/user.rs:1 E0432",
                "rust/src/user.rs:4 E0425",
                "rust/src/user.rs:8 E0425",
                "rust/tests/it.rs:14 E0425",
            ],
        ),
        ("broken::twice", "visibility", &["rust/tests/it.rs:14 E0603"]),
        ("broken::Pair::left", "rename", &["rust/src/user.rs:8 E0560"]),
        // A module with a file of its own.
        ("broken::user", "remove", &["rust/tests/it.rs:1 E0432", "rust/tests/it.rs:4 E0425"]),
        ("broken::user", "visibility", &["rust/tests/it.rs:1 E0603"]),
        (
            "example.com/broken.Twice",
            "signature",
            &["go/user/user.go:6 WrongArgCount", "go/twice_test.go:6 WrongArgCount"],
        ),
        (
            "example.com/broken.Twice",
            "visibility",
            &["go/user/user.go:6 UndeclaredImportedName", "go/twice_test.go:6 UndeclaredName"],
        ),
    ];
    for (symbol, change, expected) in cases {
        let mut told = broken(&ask(symbol, change));
        let mut expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        told.sort();
        expected.sort();
        assert_eq!(told, expected, "{symbol} {change}");
    }
    // A name that a broken import brings has to be edited too, though only the import breaks it.
    let reply = ask("broken::twice", "remove");
    let follows = reply["impact"]["broken"].as_array().unwrap().iter().map(|it| (broken_at(it), it["follows"] == true));
    let mut follows: Vec<(String, bool)> = follows.collect();
    follows.sort();
    let expected = [
        ("rust/src/user.rs:1 E0432", false),
        ("rust/src/user.rs:4 E0425", true),
        ("rust/src/user.rs:8 E0425", true),
        ("rust/tests/it.rs:14 E0425", false),
    ];
    assert_eq!(follows, expected.map(|it| (it.0.to_owned(), it.1)), "{reply}");
    let reply = ask("example.com/broken.Twice", "signature");
    let tests: Vec<&Value> = reply["impact"]["tests"].as_array().unwrap().iter().map(|it| &it["symbol"]).collect();
    assert_eq!(tests, ["example.com/broken.TestTwice"], "{reply}");
    assert_eq!(reply["impact"]["changed"][0]["kind"], "signature", "{reply}");
    assert_eq!(server.get("/v1/status").1["workspaces"][0]["revision"], before, "nothing was changed");
    let (status, reply) = server.post("/v1/impact", &json!({"symbol": "broken::Pair", "change": "signature"}));
    assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{reply}");
    let (status, reply) = server.post("/v1/impact", &json!({"symbol": "broken::Pair", "change": "paint"}));
    assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{reply}");
    let (status, reply) = server.post("/v1/impact", &json!({"symbol": "broken::nothing", "change": "remove"}));
    assert_eq!((status, &reply["code"]), (404, &json!("unknown_symbol")), "{reply}");
}

#[test]
fn what_an_import_no_longer_leads_to_is_not_said_to_be_gone() {
    let lib =
        "use std::{borrow::Cow, fmt};\n\npub fn f(it: Cow<'_, str>, _: &dyn fmt::Debug) -> usize {\n    it.len()\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"named\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", lib),
    ]);
    server.wait_ready();
    let edit = json!({"file": "src/lib.rs", "search_context": "std::", "replacement": "stdd::", "dry_run": true});
    let (_, reply) = server.post("/v1/edit", &edit);
    let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}"));
    let reasons: Vec<&str> = broken.iter().map(|it| it["reason"].as_str().unwrap()).collect();
    assert!(broken.iter().any(|it| it["line"] == 1), "{reply}");
    assert!(!reasons.iter().any(|it| it.contains("no longer exists")), "{reply}");
}

#[test]
fn the_tests_that_reach_a_change_are_told_the_nearest_first() {
    let server = Server::on(FILES);
    server.wait_ready();
    let edits = [
        ("rust/src/lib.rs", "    it * 2\n", "    it + it\n", ["it::near", "it::far"].as_slice()),
        ("go/twice.go", "return it * 2", "return it + it", &["example.com/broken.TestTwice"]),
    ];
    for (file, from, to, expected) in edits {
        let ask = || {
            let edit = json!({"file": file, "search_context": from, "replacement": to, "dry_run": true});
            let (status, reply) = server.post("/v1/edit", &edit);
            assert_eq!(status, 200, "{reply}");
            reply
        };
        // The names of all files are read in the background.
        let started = Instant::now();
        let mut reply = ask();
        while reply["impact"]["unchecked"].as_array().unwrap().iter().any(|it| it["code"] == "tests") {
            assert!(started.elapsed() < Duration::from_secs(300), "{reply}");
            reply = ask();
        }
        let tests = reply["impact"]["tests"].as_array().unwrap();
        let told: Vec<&str> = tests.iter().map(|it| it["symbol"].as_str().unwrap()).collect();
        assert_eq!(told, expected, "{reply}");
        let distances: Vec<u64> = tests.iter().filter_map(|it| it["distance"].as_u64()).collect();
        assert_eq!(distances.len(), tests.len(), "{reply}");
        assert!(distances.is_sorted() && distances[0] == 1, "{reply}");
        assert_eq!(*distances.last().unwrap(), if tests.len() == 2 { 3 } else { 1 }, "{reply}");
    }
}

#[test]
fn what_is_only_asked_about_breaks_the_same_with_and_without_a_second_database() {
    let told = [true, false].map(|second| {
        let settings = format!("[rust]\nsecond_database = {second}\n");
        let files: Vec<(&str, &str)> = FILES.iter().copied().chain([("semdex.toml", settings.as_str())]).collect();
        let server = Server::on(&files);
        server.wait_ready();
        if second {
            server.wait_for(|it| it.log().contains("a second database is there"));
        }
        let edit = |from: &str, to: &str, dry_run: bool| {
            let edit =
                json!({"file": "rust/src/lib.rs", "search_context": from, "replacement": to, "dry_run": dry_run});
            let (status, reply) = server.post("/v1/edit", &edit);
            assert_eq!(status, 200, "{reply}");
            broken(&reply)
        };
        let usages = || {
            let (status, reply) = server.get("/v1/usages?symbol=broken::twice");
            assert_eq!(status, 200, "{reply}");
            assert!(!reply["items"].as_array().unwrap().is_empty(), "{reply}");
            reply["items"].clone()
        };
        let before = usages();
        let mut told = vec![edit("fn twice(it: u8)", "fn thrice(it: u8)", true)];
        assert_eq!(usages(), before, "nobody sees what is only asked about");
        told.push(edit("fn twice(it: u8)", "fn twice(it: u8, by: u8)", true));
        // The result of a real change is known at the next request.
        told.push(edit("pub right: u8", "pub right: u16", false));
        told.push(edit("pub right: u16", "pub wrong: u16", true));
        server.home.write("rust/src/user.rs", "pub fn four() -> u8 {\n    crate::twice(3)\n}\n");
        told.push(edit("fn twice(it: u8)", "fn thrice(it: u8)", true));
        told
    });
    assert_eq!(told[0], told[1]);
    let counts: Vec<usize> = told[0].iter().map(Vec::len).collect();
    assert_eq!(counts, [4, 3, 0, 1, 2], "{:?}", told[0]);
}

/// Through callers, as a language server knows them.
#[test]
fn tests_that_reach_a_change_through_others_are_told_of_languages_with_servers() {
    let chain: String = (1..12).map(|it| format!("\n\ndef f{}() -> int:\n    return f{it}()\n", it + 1)).collect();
    let server = language_servers::serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("pkg/__init__.py", ""),
        (
            "pkg/core.py",
            "def twice(it: int) -> int:\n    return it * 2\n\n\nclass Counter:\n    def __init__(self, start: int) -> None:\n        self.count = twice(start)\n\n\ndef other(it: int) -> int:\n    return it\n",
        ),
        ("pkg/middle.py", "from pkg.core import twice\n\n\ndef four(it: int) -> int:\n    return twice(twice(it))\n"),
        ("pkg/chain.py", &format!("from pkg.core import other\n\n\ndef f1() -> int:\n    return other(1)\n{chain}")),
        (
            "tests/test_far.py",
            "from pkg.middle import four\n\n\ndef helper(it: int) -> int:\n    return four(it)\n\n\ndef test_far() -> None:\n    assert helper(1) == 4\n",
        ),
        ("tests/test_near.py", "from pkg.core import twice\n\n\ndef test_near() -> None:\n    assert twice(1) == 2\n"),
        (
            "tests/test_counter.py",
            "from pkg.core import Counter\n\n\ndef test_counter() -> None:\n    assert Counter(1).count == 2\n",
        ),
        ("tests/test_chain.py", "from pkg.chain import f12\n\n\ndef test_chain() -> None:\n    assert f12() == 1\n"),
        ("package.json", "{\"name\": \"x\"}\n"),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}\n",
        ),
        ("src/add.ts", "export function add(a: number, b: number): number {\n  return a + b;\n}\n"),
        (
            "src/sum.ts",
            "import { add } from './add';\n\nexport class Sum {\n  total: number;\n\n  constructor(a: number) {\n    this.total = add(a, a);\n  }\n}\n",
        ),
        (
            "tests/sum.test.ts",
            "import { Sum } from '../src/sum';\n\ndeclare function it(name: string, test: () => void): void;\n\nit('sums', () => {\n  new Sum(1);\n});\n",
        ),
    ]);
    let ask = |file: &str, from: &str, to: &str| {
        let edit = json!({"file": file, "search_context": from, "replacement": to, "dry_run": true});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        reply
    };
    let told = |reply: &Value| -> Vec<String> {
        let tests = reply["impact"]["tests"].as_array().unwrap().iter();
        let told = tests
            .map(|it| format!("{}:{} {} {}", it["file"].as_str().unwrap(), it["line"], it["symbol"], it["distance"]));
        told.map(|it| it.replace('"', "")).collect()
    };
    let is_cut =
        |reply: &Value| reply["impact"]["unchecked"].as_array().unwrap().iter().any(|it| it["code"] == "tests");
    let reply = ask("pkg/core.py", "return it * 2", "return it + it");
    let expected = [
        "tests/test_near.py:5 tests/test_near.py::test_near 1",
        "tests/test_counter.py:5 tests/test_counter.py::test_counter 2",
        "tests/test_far.py:9 tests/test_far.py::test_far 3",
    ];
    assert_eq!((told(&reply), is_cut(&reply)), (expected.map(str::to_owned).into(), false), "{reply}");
    // Beyond the search depth, which the answer says.
    let reply = ask("pkg/core.py", "    return it\n", "    return 0 + it\n");
    assert_eq!((told(&reply), is_cut(&reply)), (Vec::new(), true), "{reply}");
    // A test that is changed itself, and where it is after the change.
    let reply =
        ask("tests/test_far.py", "def helper(it: int) -> int:\n", "def helper(it: int) -> int:\n    # Four times.\n");
    assert_eq!(told(&reply), ["tests/test_far.py:10 tests/test_far.py::test_far 1"], "{reply}");
    let reply = ask("tests/test_near.py", "== 2", "== 1 + 1");
    assert_eq!(told(&reply), ["tests/test_near.py:4 tests/test_near.py::test_near 0"], "{reply}");
    // A test that is a call has no name.
    let reply = ask("src/add.ts", "return a + b", "return b + a");
    assert_eq!(told(&reply), ["tests/sum.test.ts:6 null 2"], "{reply}");
}

/// The disk has the data, and no file of code changes when it comes or goes.
#[test]
fn data_that_an_edit_includes_has_to_be_there() {
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "pub const A: &str = include_str!(\"a.txt\");\npub const B: &[u8] =\n    include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data/b\"));\n\
             #[cfg(any())]\npub const C: &str = include_str!(\"a.txt\");\n",
        ),
        ("src/a.txt", "a\n"),
        ("src/other.txt", "b\n"),
        ("data/b", "b\n"),
    ]);
    server.wait_ready();
    let edit = |from: &str, to: &str| {
        let edit = json!({"file": "src/lib.rs", "search_context": from, "replacement": to, "dry_run": true});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        broken(&reply)
    };
    assert_eq!(edit("A: &str = include_str!(\"a.txt", "A: &str = include_str!(\"b.txt"), ["src/lib.rs:1 "]);
    assert_eq!(edit("/data/b", "/data/c"), ["src/lib.rs:3 "]);
    assert_eq!(edit("A: &str = include_str!(\"a.txt", "A: &str = include_str!(\"other.txt"), [""; 0]);
    assert_eq!(edit("C: &str = include_str!(\"a.txt", "C: &str = include_str!(\"b.txt"), [""; 0], "no build has it");
    assert_eq!(edit("pub const A", "pub(crate) const A"), [""; 0]);
}

/// The text that a `cfg` was around stays, and is compiled for the first time.
#[test]
fn code_that_an_edit_switches_on_is_judged() {
    const OFF: &str = "#[cfg(feature = \"x\")]\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nx = []\n"),
        (
            "src/lib.rs",
            &format!(
                "pub struct N;\nmacro_rules! from {{\n    ($t:ty) => {{\n        impl From<$t> for N {{\n            fn from(it: $t) -> N {{ \
                 it.missing() }}\n        }}\n    }};\n}}\n{OFF}from! {{ u128 }}\n{OFF}mod inner {{\n    pub fn f() -> u8 {{ missing() }}\n\
                 }}\n{OFF}mod file;\n{OFF}impl N {{\n    pub fn f(&self) -> Missing {{ \"\" }}\n}}\n"
            ),
        ),
        ("src/file.rs", "pub mod below;\n\npub fn f() -> u8 {\n    \"\"\n}\n"),
        ("src/file/below.rs", "pub fn f() -> u8 {\n    \"\"\n}\n"),
    ]);
    server.wait_ready();
    let edit = |before: &str| {
        let from = format!("{OFF}{before}");
        let edit = json!({"file": "src/lib.rs", "search_context": from, "replacement": before, "dry_run": true});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        broken(&reply)
    };
    assert_eq!(edit("from! { u128 }"), ["src/lib.rs:5 E0599"]);
    assert_eq!(edit("mod inner"), ["src/lib.rs:12 E0425"]);
    assert_eq!(edit("mod file;"), ["src/file.rs:4 E0308", "src/file/below.rs:2 E0308"]);
    assert_eq!(edit("impl N {"), ["src/lib.rs:18 E0425"]);
    server.home.write(
        "src/added.rs",
        "use crate::nothing;\n\npub fn f(it: Gone) -> u8 {\n    it\n}\n\npub fn g() -> u8 {\n    \"\"\n}\n",
    );
    let edit = json!({"file": "src/lib.rs", "search_context": "pub struct N;", "replacement": "pub struct N;\nmod added;", "dry_run": true});
    let found = broken(&server.post("/v1/edit", &edit).1);
    assert!(found.iter().any(|it| it == "src/added.rs:8 E0308"), "{found:?}");
    assert!(found.iter().any(|it| it.starts_with("src/added.rs:3 ")), "{found:?}");
    assert!(found.iter().any(|it| it == "src/added.rs:1 E0432"), "{found:?}");
}

/// The compiler reports only the delimiter, literal or comment, and compiles nothing.
#[test]
fn nothing_else_is_broken_in_a_crate_with_a_text_that_cannot_be_read() {
    let server = Server::on(FILES);
    server.wait_ready();
    let edit = |from: &str, to: &str, dry_run: bool| {
        let edit = json!({"file": "rust/src/lib.rs", "search_context": from, "replacement": to, "dry_run": dry_run});
        let (status, reply) = server.post("/v1/edit", &edit);
        let found = broken(&reply);
        let is_read = !found.iter().any(|it| it.ends_with("syntax-error"));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(is_read)), "{reply}");
        found
    };
    let (head, opened) = ("twice(it: u8) -> u8 {", "twice(it: u8) -> u8 {{");
    assert_eq!(edit(head, opened, true), ["rust/src/lib.rs:10 syntax-error"]);
    assert_eq!(edit("it * 2", "it * 2)", true), ["rust/src/lib.rs:5 syntax-error"]);
    assert_eq!(edit("pub struct", "\"pub struct", true), ["rust/src/lib.rs:7 syntax-error"]);
    assert_eq!(edit(head, opened, false), ["rust/src/lib.rs:10 syntax-error"]);
    let (_, found) = server.get("/v1/diagnostics?file=rust/src/lib.rs");
    let messages: Vec<&str> =
        found["items"].as_array().unwrap().iter().filter_map(|it| it["message"].as_str()).collect();
    assert_eq!(messages, ["this file contains an unclosed delimiter: `{` of line 3"], "{found}");
    assert_eq!(edit(opened, head, false), [""; 0]);
    assert_eq!(edit("pub fn twice", "pub fn thrice", true).len(), 4, "it is judged again");
}

/// Neither in code of other builds nor in a file that the same change makes.
#[test]
fn a_text_that_cannot_be_read_is_all_that_a_change_breaks() {
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub mod a;\n#[cfg(windows)]\nmod win;\npub use a::low;\n"),
        ("src/a.rs", "pub fn high(it: bool) {\n    if it {\n        low();\n    }\n}\n\npub fn low() {}\n"),
        ("src/win.rs", "pub fn f() {\n    crate::a::low();\n}\n"),
        ("apart/Cargo.toml", "[package]\nname = \"apart\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("apart/src/lib.rs", "pub fn n() -> u8 {\n    1\n}\n"),
    ]);
    server.wait_ready();
    let unread =
        json!({"file": "src/a.rs", "search_context": "        low();\n    }\n", "replacement": "        low();\n"});
    let made = json!({"file": "examples/e.rs", "content": "fn main() {\n    one::gone();\n}\n", "mode": "create"});
    let (status, reply) = server.post("/v1/edit", &json!({"edits": [unread, made], "dry_run": true}));
    assert_eq!((status, broken(&reply)), (200, vec!["src/a.rs:6 syntax-error".to_owned()]), "{reply}");
    let missing = reply["meta"]["missing"].to_string();
    assert!(missing.contains("have no end") && missing.contains("src/a.rs"), "{missing}");
    // Code that does not depend on it is judged all the same.
    let apart = json!({"file": "apart/src/lib.rs", "search_context": "    1\n", "replacement": "    \"\"\n"});
    let (status, reply) = server.post("/v1/edit", &json!({"edits": [unread, apart], "dry_run": true}));
    let both = ["apart/src/lib.rs:2 E0308", "src/a.rs:6 syntax-error"].map(str::to_owned).to_vec();
    assert_eq!((status, broken(&reply)), (200, both), "{reply}");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
}

/// A name that an import re-exports under another name is removed with its target; if the target is renamed, only the
/// import is edited.
#[test]
fn what_is_used_by_another_name_goes_too() {
    let lib = "mod base;\nmod user;\npub use base::Thing as Other;\n";
    let base = "pub struct Thing;\n\nimpl Thing {\n    pub fn new() -> Thing {\n        Thing\n    }\n}\n\npub fn counted(it: u8) -> u8 {\n    it\n}\n";
    let user = "use crate::Other;\nuse crate::base::counted as count;\n\npub fn made(_: &Other) -> Other {\n    count(1);\n    Other::new()\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"named\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", lib),
        ("src/base.rs", base),
        ("src/user.rs", user),
    ]);
    server.wait_ready();
    for symbol in ["named::Other", "named::base::Thing"] {
        let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
        assert_eq!((status, &reply["symbol"]["path"]), (200, &json!("named::base::Thing")), "{reply}");
        let places = reply["items"].as_array().unwrap().iter().filter(|it| it["file"] != "src/base.rs");
        let mut places: Vec<String> =
            places.map(|it| format!("{}:{}", it["file"].as_str().unwrap(), it["line"])).collect();
        places.sort();
        let expected = ["src/lib.rs:3", "src/user.rs:1", "src/user.rs:4", "src/user.rs:4", "src/user.rs:6"];
        assert_eq!(places, expected, "{symbol}: {reply}");
        assert_eq!(reply["total"], json!(reply["items"].as_array().unwrap().len()), "{reply}");
    }
    let told = |symbol: &str, change: &str| {
        let (status, reply) = server.post("/v1/impact", &json!({"symbol": symbol, "change": change}));
        assert_eq!(status, 200, "{symbol} {change}: {reply}");
        let told = reply["impact"]["broken"].as_array().unwrap().iter();
        let mut told: Vec<String> = told
            .map(|it| format!("{}{}", broken_at(it), if it["follows"] == true { " follows" } else { "" }))
            .collect();
        told.retain(|it| !it.starts_with("src/base.rs"));
        told.sort();
        told
    };
    let removed = [
        "src/lib.rs:3 E0432",
        "src/user.rs:1 E0432 follows",
        "src/user.rs:4 E0425 follows",
        "src/user.rs:6 E0433 follows",
    ];
    assert_eq!(told("named::base::Thing", "remove"), removed);
    assert_eq!(told("named::base::Thing", "rename"), ["src/lib.rs:3 E0432"]);
    assert_eq!(told("named::base::counted", "remove"), ["src/user.rs:2 E0432", "src/user.rs:5 E0425 follows"]);
    assert_eq!(told("named::base::counted", "signature"), ["src/user.rs:5 E0061"]);
}

#[test]
fn calls_that_write_makes_are_said_not_to_be_told() {
    let code = "pub struct Out;\n\nimpl Out {\n    pub fn write_fmt(&mut self, _: std::fmt::Arguments<'_>) {}\n\n    pub fn flush(&mut self) {}\n}\n\npub fn told(out: &mut Out) {\n    write!(out, \"1\");\n    out.flush();\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"told\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", code),
    ]);
    server.wait_ready();
    let codes = |reply: &Value| -> Vec<String> {
        let missing = reply["meta"]["missing"].as_array().unwrap_or_else(|| panic!("{reply}"));
        missing.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
    };
    for (symbol, lacks) in [("told::Out::write_fmt", &["macro_output"][..]), ("told::Out::flush", &[])] {
        assert_eq!(codes(&server.get(&format!("/v1/usages?symbol={symbol}")).1), lacks, "{symbol}");
        let (_, reply) = server.post("/v1/impact", &json!({"symbol": symbol, "change": "signature"}));
        assert_eq!(codes(&reply), lacks, "{reply}");
    }
}

/// One file whose first text becomes another: the lines that break, with their codes.
fn broken_lines(text: &str, old: &str, new: &str) -> Vec<String> {
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", text),
    ]);
    server.wait_ready();
    assert!(text.contains(old), "{old}");
    let content = text.replacen(old, new, 1);
    let write = json!({"name": "src/lib.rs", "content": content, "mode": "overwrite", "dry_run": true});
    let (status, reply) = server.post("/v1/write", &write);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let mut found: Vec<String> =
        broken(&reply).into_iter().map(|it| it.trim_start_matches("src/lib.rs:").to_owned()).collect();
    found.dedup();
    found
}

/// The lines that are left are those of one call or of the other.
#[test]
fn what_a_call_has_already_is_not_broken_by_the_removal_of_one_beside_it() {
    let call =
        |name: &str, value: &str| format!("made! {{\n    pub fn {name}() -> u8 {{\n        {value}\n    }}\n}}\n");
    let (one, two) = (call("one", "1"), call("two", "\"two\""));
    let text =
        format!("macro_rules! made {{\n    ($($it:item)*) => {{ $($it)* }};\n}}\n{one}{two}{}", call("three", "3"));
    assert_eq!(broken_lines(&text, &one, ""), Vec::<String>::new());
    // The same lines for a differ.
    let head = "made! {\n    pub fn ";
    let changed = text.replacen(&one, "", 1).replacen(head, &format!("{head}o"), 1);
    assert_eq!(broken_lines(&text, &text, &changed), Vec::<String>::new());
    assert_eq!(broken_lines(&text, "        1\n", "        \"1\"\n"), ["6 E0308"]);
}

/// `cfg_if!` and its like: the input is code of the file.
#[test]
fn code_in_the_input_of_a_macro_is_judged_like_other_code() {
    let text = "macro_rules! same {
    ($($it:tt)*) => { $($it)* };
}
macro_rules! members {
    () => { fn one(&self) -> u8 { 1 } };
}
pub trait Plain {
    fn one(&self) -> u8;
}
pub struct By;
pub struct Other;
same! {
    impl Plain for By { members!{} }
    same! {
        // Here.
    }
}
";
    let written = "impl Plain for Other {}
        pub fn lent(_: &u8, _: &u8) -> &u8 { unreachable!() }
        pub fn twice() {}
        pub fn twice() {}
        pub fn shown<T: Debug>(_: T) {}
        pub struct Held<T>(u8);
        pub fn of(it: Option<u8>) -> u8 { match it { Some(1) => 1, None => 2 } }
";
    let found = broken_lines(text, "// Here.\n", written);
    assert_eq!(found, ["15 E0046", "16 E0106", "18 E0428", "19 E0404", "20 E0392", "21 E0004"]);
    assert_eq!(broken_lines(text, "// Here.\n", "pub fn right() {}\n"), Vec::<String>::new());
    assert_eq!(broken_lines(text, "// Here.\n", "pub fn () {}\n").len(), 1);
}

#[test]
fn built_in_macros_refuse_what_they_do_not_take() {
    let written = "pub struct S { pub a: u8 }
pub fn a() { let _ = file!(\"x\"); }
pub fn b() { let _ = cfg!(unix, windows); }
pub fn c() { todo!(\"{}\") }
pub fn d() { let _ = format!(\"{:1$}\", 1, \"a\"); }
pub fn e() { let _ = format!(concat!(\"{}\", \"{}\"), 1); }
pub fn f() { assert!(true \"x\"); }
pub fn g() { let _ = core::mem::offset_of!(S, zz); }
pub fn h() { let _ = std::ptr::addr_of!(1 + 1); }
pub fn right() {
    let _ = (file!(), line!(), cfg!(all(unix, windows),), core::mem::offset_of!(S, a));
    assert!(Vec::<(u8, u8)>::new().is_empty(), \"it {}\", 1);
    let w = 5;
    let _ = format!(\"{:w$} {:1$}\", 1, w);
    let _ = format!(concat!(\"{}\", \"{}\"), 1, 2);
    todo!(\"{}\", 1)
}
";
    let lines: Vec<String> = broken_lines("// Here.\n", "// Here.\n", written);
    let lines: Vec<&str> = lines.iter().filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(lines, ["2", "3", "4", "5", "6", "7", "8", "9"]);
}

/// What a trait provides is there without an implementation's own function, and with the trait's type.
#[test]
fn a_function_that_the_trait_provides_may_go() {
    let text = "pub trait Steps {
    fn first(&self) -> u8;
    fn second(&self) -> u8 {
        self.first()
    }
}
pub struct One;
impl Steps for One {
    fn first(&self) -> u8 { 1 }
    fn second(&self) -> u8 { 2 }
}
pub fn user(it: &One) -> u8 {
    it.second() + <One as Steps>::second(it) + Steps::first(it)
}
";
    assert_eq!(broken_lines(text, "    fn second(&self) -> u8 { 2 }\n", ""), Vec::<String>::new());
    assert_eq!(broken_lines(text, "    fn first(&self) -> u8 { 1 }\n", ""), ["8 E0046"]);
    let block = &text[text.find("impl Steps").unwrap()..text.find("pub fn user").unwrap()];
    assert_eq!(broken_lines(text, block, ""), ["9 E0599"]);
}

#[test]
fn generics_are_judged_in_what_macros_write() {
    let text = "macro_rules! make {\n    ($n:ident) => {\n        pub struct $n {\n            pub h: Head<u8>,\n        }\n        \
                impl $n {\n            pub fn of(_: &Head<u8>) {}\n        }\n    };\n}\npub struct Head<T>(pub T);\nmake!(One);\nmake!(Two);\n";
    assert_eq!(broken_lines(text, "Head<T>(pub T)", "Head<T, U>(pub T, pub U)"), ["4 E0107", "7 E0107"]);
    assert_eq!(broken_lines(text, "Head<T>", "Head<T: Iterator>"), ["4 E0277", "7 E0277"]);
    assert_eq!(broken_lines(text, "Head<T>", "Head<T: Copy>"), Vec::<String>::new());
    let alias = "macro_rules! alias {\n    ($n:ident) => {\n        pub type $n = Head<String>;\n    };\n}\npub struct Head<T>(pub T);\nalias!(One);\nalias!(Two);\npub fn f(_: One) {}\n";
    assert_eq!(broken_lines(alias, "Head<T>", "Head<T: Copy>"), ["9 E0277"]);
}

#[test]
fn bounds_on_associated_types_and_sizes_are_judged() {
    let text = "pub struct Need<T: Iterator>(pub T);\nimpl<T: Iterator> Need<T> {}\n\
                pub fn one(_: Need<std::vec::IntoIter<u8>>) {}\npub fn two(_: Need<std::ops::Range<u16>>) {}\n\
                impl<T: Iterator<Item = u16>> From<T> for Need<T> {\n    fn from(it: T) -> Self {\n        Need(it)\n    }\n}\n";
    assert_eq!(broken_lines(text, "Need<T: Iterator>", "Need<T: Iterator<Item = u16>>"), ["2 E0271", "3 E0271"]);
    let text = "pub trait Value {}\nimpl Value for i16 {}\nimpl Value for i32 {}\n";
    assert_eq!(broken_lines(text, "Value {}", "Value: std::ops::Neg<Output = i32> {}"), ["2 E0271"]);
    assert_eq!(broken_lines(text, "Value {}", "Value: From<i16> {}"), Vec::<String>::new());
    assert_eq!(broken_lines(text, "Value {}", "Value: From<u16> {}"), ["2 E0277"]);
    let text = "pub struct View<'a, T: ?Sized>(pub &'a T);\nimpl<'a, T: ?Sized> View<'a, T> {}\n\
                pub fn take<T: ?Sized>(_: &View<'_, T>) {}\npub fn sized<T>(_: &View<'_, T>) {}\npub fn text(_: &View<'_, str>) {}\n";
    assert_eq!(broken_lines(text, "T: ?Sized>(pub", "T>(pub"), ["2 E0277", "3 E0277", "5 E0277"]);
}

#[test]
fn bounds_on_projections_are_judged() {
    let text = "pub struct Plain;\npub struct Bag<T: Iterator>(pub T)\nwhere\n    T: Clone;\n\
                pub fn one(_: Bag<std::vec::IntoIter<u8>>) {}\npub fn two(_: Bag<std::iter::Empty<Plain>>) {}\n\
                pub trait Walk: Iterator {}\nimpl Walk for std::vec::IntoIter<u8> {}\nimpl Walk for std::vec::IntoIter<Plain> {}\n\
                pub trait Own {\n    type Out;\n}\nimpl Own for u8 {\n    type Out = u8;\n}\nimpl Own for u16 {\n    type Out = Plain;\n}\n";
    for bound in ["T::Item: Copy", "<T as Iterator>::Item: Copy", "T::Item: PartialOrd<u8>"] {
        assert_eq!(broken_lines(text, "T: Clone;", &format!("T: Clone, {bound};")), ["6 E0277"], "{bound}");
    }
    assert_eq!(broken_lines(text, "Walk: Iterator {}", "Walk: Iterator where Self::Item: Copy {}"), ["9 E0277"]);
    let user = "pub fn user<T: Own>(it: fn() -> T) -> fn(T) -> T::Out {\n    get(it())\n}\npub fn get<T: Own>(_: T) -> fn(T) -> T::Out {\n    todo!()\n}\n";
    let text = format!("{text}{user}");
    assert_eq!(broken_lines(&text, "Own {", "Own where Self::Out: Copy {"), ["17 E0277"]);
}

#[test]
fn names_are_judged_in_what_attribute_macros_make() {
    let server = Server::on(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"same\", \"app\"]\nresolver = \"2\"\n"),
        (
            "same/Cargo.toml",
            "[package]\nname = \"same\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nproc-macro = true\n",
        ),
        (
            "same/src/lib.rs",
            "use proc_macro::TokenStream;\n\n#[proc_macro_attribute]\npub fn same(_: TokenStream, item: TokenStream) -> TokenStream {\n    item\n}\n\
             #[proc_macro_attribute]\npub fn test(_: TokenStream, item: TokenStream) -> TokenStream {\n    \
             let mut made: TokenStream = \"#[::core::prelude::v1::test]\".parse().unwrap();\n    made.extend(item);\n    made\n}\n",
        ),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nsame = { path = \"../same\" }\n",
        ),
        (
            "app/src/lib.rs",
            "pub enum Command {\n    Get { key: u8 },\n}\n#[same::same]\npub fn run(it: Command) {\n    match it {\n        Command::Get { key } => drop(key),\n    }\n}\n#[same::test]\nfn checked() {\n    drop(1);\n}\n",
        ),
    ]);
    server.wait_for(|it| it.get("/v1/usages?symbol=app::run").1["meta"]["complete"] == true);
    for (old, new, found) in [
        ("match it {\n", "match it {\n        Command::Ping { msg } => drop(msg),\n", "7 E0599"),
        ("match it {\n", "match it {\n        _ if false => drop(Command::Ping { key: 1 }),\n", "7 E0599"),
        ("drop(1)", "drop(Gone::new())", "12 E0433"),
        ("drop(1)", "let _: Gone", "12 E0425"),
    ] {
        let edit =
            json!({"edits": [{"file": "app/src/lib.rs", "search_context": old, "replacement": new}], "dry_run": true});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        assert_eq!(broken(&reply), [format!("app/src/lib.rs:{found}")], "{reply}");
    }
}

#[test]
fn a_lost_trait_is_followed_through_patterns_of_tuples() {
    let text = "#[derive(Debug)]\npub struct Inner(pub u8);\npub struct Other(pub Inner);\npub enum Kind {\n    One(Inner),\n    No,\n}\n\
                pub fn show<T: std::fmt::Debug>(_: T) {}\npub fn a(o: &Other) {\n    let Other(r) = o;\n    show(r)\n}\n\
                pub fn b(k: &Kind) {\n    if let Kind::One(ref r) = k {\n        show(r)\n    }\n}\n\
                pub fn c(k: &Kind) {\n    if let Kind::No = k {\n        show(1)\n    }\n}\n";
    assert_eq!(broken_lines(text, "#[derive(Debug)]\n", "\n"), ["11 E0277", "15 E0277"]);
}

#[test]
fn fields_behind_lifetimes_statics_and_aliases_are_judged() {
    let text = "#[derive(Clone)]\npub struct A<'a> {\n    pub a: &'a u8,\n}\n#[derive(Clone)]\npub struct G<'a, T> {\n    pub b: &'a T,\n}\n";
    assert_eq!(broken_lines(text, "&'a u8", "&'a mut u8"), ["3 E0277"]);
    assert_eq!(broken_lines(text, "&'a T", "&'a mut T"), ["7 E0277"]);
    let text = "pub struct Holder(pub u8);\npub static CELL: std::sync::OnceLock<Holder> = std::sync::OnceLock::new();\n\
                pub fn held(_: std::sync::OnceLock<Holder>) {}\n";
    assert_eq!(broken_lines(text, "Holder(pub u8)", "Holder(pub std::rc::Rc<u8>)"), ["2 E0277"]);
    let text = "pub trait Visit {\n    fn v(&mut self, n: u8);\n}\npub type A = Box<dyn Visit>;\npub type Unused = Box<dyn Visit>;\npub fn f(_: A) {}\n";
    assert_eq!(broken_lines(text, "v(&mut self, n: u8)", "v<T>(&mut self, n: T)"), ["6 E0038"]);
}

/// What the compiler says of these was looked up: `cargo check` with Rust 1.95.
#[test]
fn futures_that_hold_what_cannot_be_sent_are_judged_where_they_are_sent() {
    let text = "use std::future::Future;\nuse std::pin::Pin;\nuse std::rc::Rc;\nuse std::sync::Mutex;\n\
                pub static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());\n\
                pub fn spawn<F: Future + Send + 'static>(_: F) {}\n\
                pub fn local<F: Future + 'static>(_: F) {}\n\
                pub trait Handler {}\nimpl<F: Fn() -> R, R: Future<Output = u32> + Send> Handler for F {}\n\
                pub fn handle(_: impl Handler) {}\n\
                pub trait Go {\n    fn go(&self) -> impl Future<Output = u32> + Send;\n}\n\
                pub async fn tick() {}\n\
                pub async fn work() -> u32 {\n    let _ = Rc::new(1);\n    tick().await;\n    1\n}\n\
                pub async fn outer() -> u32 {\n    work().await\n}\n\
                pub fn sent() {\n    spawn(outer());\n}\n\
                pub fn kept() {\n    local(outer()); local(plain());\n    spawn(tick());\n}\n\
                pub fn block() {\n    spawn(async {\n        work().await;\n    });\n}\n\
                pub fn boxed() -> Pin<Box<dyn Future<Output = u32> + Send>> {\n    Box::pin(outer())\n}\n\
                pub fn opaque() -> impl Future<Output = u32> {\n    outer()\n}\n\
                pub fn through() {\n    spawn(opaque());\n}\n\
                pub fn declared() -> impl Future<Output = u32> + Send {\n    work()\n}\n\
                pub fn handled() {\n    handle(work);\n}\n\
                impl Go for u8 {\n    async fn go(&self) -> u32 {\n        work().await\n    }\n}\n\
                pub fn plain() -> impl Future<Output = Option<Box<dyn Fn() + Send>>> {\n    async { work().await; None }\n}\n\
                pub fn nested() {\n    spawn(async {\n        spawn(work());\n    });\n}\n\
                pub type Shared = std::sync::Arc<u8>;\n#[derive(Default)]\npub struct Kept {\n    pub n: u32,\n    pub r: Shared,\n}\n\
                pub async fn keeps() -> u32 {\n    let it = Kept::default();\n    tick().await;\n    it.n\n}\n\
                pub async fn gets() {\n    drop(give().await);\n}\npub async fn give() -> Shared {\n    Shared::default()\n}\n\
                pub async fn takes() {\n    let it = give().await;\n    tick().await;\n    drop(it);\n}\n\
                pub fn keep() {\n    spawn(keeps());\n    spawn(gets());\n    spawn(takes());\n}\n";
    let sent = ["24 ", "31 ", "36 ", "42 ", "44 ", "48 E0277", "51 ", "60 "];
    let held = |body: &str| broken_lines(text, "    let _ = Rc::new(1);\n    tick().await;\n    1\n", body);
    for body in [
        "let it = Rc::new(1); tick().await; *it\n\n\n",
        "let it = LIST.lock().unwrap(); tick().await; it[0]\n\n\n",
        // A reference to it was taken.
        "let it = LIST.lock().unwrap(); let n = it[0]; drop(it); tick().await; n\n\n\n",
        "match LIST.lock().unwrap().first() { Some(it) => { tick().await; *it } None => 1 }\n\n\n",
        "for it in LIST.lock().unwrap().iter() { let _ = it; tick().await; }\n1\n\n",
        "let it: *const u8 = std::ptr::null(); tick().await; it.is_null() as u32\n\n\n",
        "let it: Result<u32, Box<dyn std::error::Error>> = Ok(1); tick().await; it.unwrap()\n\n\n",
        "let it = Rc::new(1); let wait = async move { tick().await; *it }; wait.await\n\n\n",
    ] {
        assert_eq!(held(body), sent, "{body}");
    }
    for body in [
        "let it = Rc::new(1); drop(it); tick().await; 1\n\n\n",
        "let n = { let it = Rc::new(1); *it }; tick().await; n\n\n\n",
        "let n = LIST.lock().unwrap()[0]; tick().await; n\n\n\n",
        "if LIST.lock().unwrap().is_empty() { tick().await; }\n1\n\n",
        "let it: *const u8 = std::ptr::null(); let n = it.is_null() as u32; tick().await; n\n\n\n",
        "let it: Result<u32, Box<dyn std::error::Error>> = Ok(1); let n = it.unwrap(); tick().await; n\n\n\n",
        "tick().await; let it = Rc::new(1); *it\n\n\n",
    ] {
        assert_eq!(held(body), Vec::<String>::new(), "{body}");
    }
    assert_eq!(broken_lines(text, "std::sync::Arc<u8>", "Rc<u8>"), ["86 ", "88 "]);
}

#[test]
fn what_is_left_to_tests_is_gone_elsewhere_whatever_else_changes() {
    let text = "pub struct A(u8);\nimpl A {\n    pub fn new(mut n: u8) -> A {\n        n += 1;\n        A(n)\n    }\n}\n\
                pub fn user() -> A {\n    A::new(1)\n}\n#[cfg(test)]\nmod tests {\n    fn user() -> super::A {\n        super::A::new(1)\n    }\n}\n";
    let left = "    #[cfg(test)] pub fn new(n: u8) -> A {\n        let n = n + 1;\n";
    let old = "    pub fn new(mut n: u8) -> A {\n        n += 1;\n";
    assert_eq!(broken_lines(text, old, left), ["9 E0599"]);
}

#[test]
fn a_derive_that_becomes_an_implementation_is_not_lost() {
    let text = "#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]\npub struct Week(u8);\n#[derive(PartialEq, Eq)]\npub struct Year(Week);\n";
    let own = "use std::cmp::Ordering;\n#[derive(Copy)]\npub struct Week(u8);\nimpl Clone for Week {\n    fn clone(&self) -> Week {\n        *self\n    }\n}\n\
               impl PartialEq for Week {\n    fn eq(&self, it: &Self) -> bool {\n        self.0 == it.0\n    }\n}\nimpl Eq for Week {}\n\
               impl PartialOrd for Week {\n    fn partial_cmp(&self, it: &Self) -> Option<Ordering> {\n        Some(self.cmp(it))\n    }\n}\n\
               impl Ord for Week {\n    fn cmp(&self, it: &Self) -> Ordering {\n        self.0.cmp(&it.0)\n    }\n}\n";
    let derived = "#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]\npub struct Week(u8);\n";
    assert_eq!(broken_lines(text, derived, own), Vec::<String>::new());
    let without = own.replace("impl Eq for Week {}\n", "");
    assert_eq!(broken_lines(text, derived, &without), ["16 E0277", "19 E0277", "25 E0277"]);
    let generic = "#[derive(PartialEq, Eq)]\npub struct Pair<T>(T);\n";
    let partly = "#[derive(Eq)]\npub struct Pair<T>(T);\nimpl<T: PartialEq> PartialEq for Pair<T> {\n    fn eq(&self, it: &Self) -> bool {\n        self.0 == it.0\n    }\n}\n";
    assert_eq!(broken_lines(generic, generic, partly), Vec::<String>::new());
}

#[test]
fn calls_that_a_new_member_takes_from_traits_and_behind_references_are_judged() {
    let text = "pub trait Size {\n    fn size(&self) -> usize;\n}\npub struct Bag(pub Vec<u8>);\npub struct Other;\n\
                impl Size for Bag {\n    fn size(&self) -> usize {\n        self.0.len()\n    }\n}\n\
                impl Size for Other {\n    fn size(&self) -> usize {\n        0\n    }\n}\n\
                impl std::ops::Deref for Bag {\n    type Target = Vec<u8>;\n    fn deref(&self) -> &Vec<u8> {\n        &self.0\n    }\n}\n\
                pub fn bag() -> Bag {\n    Bag(Vec::new())\n}\n\
                pub fn one() -> usize {\n    bag().size()\n}\npub fn two() -> usize {\n    bag().len()\n}\n\
                pub fn three() -> usize {\n    vec![1].len() + Size::size(&bag()) + Other.size()\n}\n// END\n";
    let members = "impl Bag {\n    pub fn size(&self) -> u8 {\n        0\n    }\n    pub fn len(&self) -> u8 {\n        0\n    }\n}\n";
    assert_eq!(broken_lines(text, "// END\n", members), ["26 E0308", "29 E0308"]);
    assert_eq!(broken_lines(text, "// END\n", &members.replace("u8", "usize")), Vec::<String>::new());
}

#[test]
fn test_data_that_no_crate_takes_is_no_reason_for_doubt() {
    let deep = format!("fn f() {{ {}{} }}\n", "(".repeat(20_000), ")".repeat(20_000));
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn one() {}\n"),
        ("tests/data/Cargo.toml", "[package\nname\n"),
        ("tests/texts/output.rs", &deep),
    ]);
    server.wait_ready();
    let edit = json!({"edits": [{"symbol": "one::one", "at": "whole", "replacement": "pub fn one() -> u8 { 1 }"}], "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["meta"]["missing"]), (200, &json!([])), "{reply}");
    // A file that a crate includes is another matter.
    let write = json!({"name": "src/deep.rs", "content": deep, "mode": "create"});
    assert_eq!(server.post("/v1/write", &write).0, 200);
    let write = json!({"name": "src/lib.rs", "content": "pub mod deep;\npub fn one() {}\n", "mode": "overwrite"});
    assert_eq!(server.post("/v1/write", &write).0, 200);
    let (_, reply) = server.post("/v1/edit", &edit);
    assert!(reply["meta"]["missing"].to_string().contains("src/deep.rs"), "{reply}");
}
