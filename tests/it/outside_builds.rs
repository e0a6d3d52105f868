//! Files that no crate includes: UI tests, fixtures, templates. What they name of the workspace's symbols is listed
//! apart, a rename changes it, and no diagnostic judges them.

use serde_json::{Value, json};

use crate::support::Server;

const MANIFEST: &str = "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [dev-dependencies]\nhelper = { path = \"helper\" }\n\n[workspace]\nmembers = [\"helper\"]\n";

const LIB: &str = "pub struct Widget {
    pub size: u32,
}

impl Widget {
    pub fn new(size: u32) -> Widget {
        Widget { size }
    }
    pub fn grow(&mut self, by: u32) {
        self.size += by;
    }
    pub fn shrink(&mut self) {}
}

pub trait Draw {
    fn draw(&self) -> u32;
}

pub const LIMIT: u32 = 3;

pub fn only_in_ui() {}

pub fn unused() {}

#[allow(dead_code)]
fn private() {}

#[macro_export]
macro_rules! widget {
    () => {
        $crate::Widget::new(1)
    };
}

pub fn made() -> Widget {
    widget!()
}
";

/// What the compiler refuses, for reasons that the test expects.
const UI: &str = "use helper::help;
use thing::{Draw, Widget as W};

struct Own;

impl Draw for Own {
    fn draw(&self) -> u32 {
        thing::LIMIT
    }
}

fn main() {
    let mut it = W::new(\"no number\");
    it.grow(help());
    thing::only_in_ui();
    match 3 {
        thing::LIMIT => {}
        _ => {}
    }
    let W { size } = it;
    thing::widget!().grow(size);
    thing::private();
    macro_rules! grow {
        ($it:ident) => {
            $it.grow(1);
        };
    }
    grow!(it);
}
";

const STDERR: &str =
    "error[E0308]: mismatched types\n  --> tests/ui/grow.rs:13:25\n   |\nnote: method `grow` is here\n";

const FILES: [(&str, &str); 12] = [
    ("Cargo.toml", MANIFEST),
    ("src/lib.rs", LIB),
    ("helper/Cargo.toml", "[package]\nname = \"helper\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("helper/src/lib.rs", "pub fn help() -> u32 {\n    1\n}\n"),
    ("tests/compile_fail.rs", "#[test]\nfn ui() {\n    let _ = \"tests/ui/grow.rs\";\n}\n"),
    ("tests/ui/grow.rs", UI),
    ("tests/ui/grow.stderr", STDERR),
    // Another symbol of the same name.
    (
        "tests/ui/other.rs",
        "struct Widget;\n\nimpl Widget {\n    fn grow(&mut self, _: u32) {}\n}\n\nfn main() {\n    Widget.grow(1);\n}\n",
    ),
    // A program of two files.
    (
        "tests/ui/with_module.rs",
        "mod common;\n\nfn size() -> u32 {\n    1\n}\n\nfn main() {\n    common::make().grow(2);\n}\n",
    ),
    ("tests/ui/common.rs", "use thing::Widget;\n\npub fn make() -> Widget {\n    Widget::new(crate::size())\n}\n"),
    // Only a format string has the name.
    ("tests/ui/format.rs", "use thing::*;\n\nfn main() {\n    println!(\"{LIMIT}\");\n}\n"),
    ("templates/broken.rs", "{{#each items}}\nfn {{name}}() {\n    let it = missing();\n    it.shrink();\n"),
];

fn usages(server: &Server, symbol: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!(status, 200, "{reply}");
    reply
}

fn places(list: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
    let place = |it: &Value| format!("{}:{} {}", text(&it["file"]), it["line"], text(&it["role"]));
    list.as_array().unwrap().iter().map(place).collect()
}

/// The places outside all builds, in an answer that has nothing else to say.
#[track_caller]
fn outside(server: &Server, symbol: &str) -> Vec<String> {
    let reply = usages(server, symbol);
    assert_eq!((&reply["possible"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
    let found = places(&reply["outside_builds"]);
    assert_eq!(reply["outside_builds_total"], found.len(), "{reply}");
    found
}

#[test]
fn a_file_that_no_crate_includes_is_a_program_of_its_own() {
    let server = Server::shared(&FILES);
    server.wait_ready();
    assert_eq!(
        outside(&server, "thing::Widget"),
        [
            "tests/ui/common.rs:1 import",
            "tests/ui/common.rs:3 type",
            "tests/ui/common.rs:4 type",
            "tests/ui/grow.rs:2 import",
            "tests/ui/grow.rs:13 type",
            "tests/ui/grow.rs:20 type",
        ],
        "under its alias too"
    );
    assert_eq!(
        outside(&server, "thing::Widget::grow"),
        [
            "tests/ui/grow.rs:14 call",
            "tests/ui/grow.rs:21 call",
            "tests/ui/grow.rs:25 call",
            "tests/ui/with_module.rs:8 call"
        ],
        "not that of another type"
    );
    assert_eq!(
        outside(&server, "thing::LIMIT"),
        ["tests/ui/format.rs:4 read", "tests/ui/grow.rs:8 read", "tests/ui/grow.rs:17 read"]
    );
    assert_eq!(outside(&server, "thing::Widget::size"), ["tests/ui/grow.rs:20 read"]);
    assert_eq!(outside(&server, "thing::Draw::draw"), ["tests/ui/grow.rs:7 impl"]);
    assert_eq!(outside(&server, "thing::widget"), ["tests/ui/grow.rs:21 call"]);
    assert_eq!(outside(&server, "helper::help"), ["tests/ui/grow.rs:1 import", "tests/ui/grow.rs:14 call"]);
    // What is private is not named there.
    assert_eq!(outside(&server, "thing::private"), [] as [&str; 0]);
    assert_eq!(outside(&server, "thing::unused"), [] as [&str; 0]);
    let reply = usages(&server, "thing::only_in_ui");
    assert_eq!((&reply["total"], &reply["symbol"]["usages"]["outside_builds"]), (&json!(0), &json!(1)), "{reply}");
    let item = &reply["outside_builds"][0];
    assert_eq!(
        (&item["text"], &item["symbol"]),
        (&json!("    thing::only_in_ui();"), &json!("tests/ui/grow.rs::main"))
    );

    let reply = usages(&server, "thing::Widget::grow&build=default");
    assert_eq!(reply["outside_builds"], json!([]), "no build has them: {reply}");

    let markdown = server.markdown("/v1/usages?symbol=thing::Widget::grow", None).text;
    assert!(
        markdown.starts_with("# 0 usages of method `thing::Widget::grow`, and 4 in files that no build includes\n"),
        "{markdown}"
    );
    assert!(markdown.contains("In files that no build includes:\n\n- tests/ui/grow.rs\n  - 14 in"), "{markdown}");
}

#[test]
fn what_no_program_resolves_stays_possible() {
    let server = Server::shared(&FILES);
    server.wait_ready();
    let reply = usages(&server, "thing::Widget::shrink");
    assert_eq!(places(&reply["possible"]), ["templates/broken.rs:4 other"], "{reply}");
    assert_eq!(reply["possible"][0]["reason"], "unresolved");
    assert_eq!(reply["meta"]["complete"], false);
    assert_eq!(reply["meta"]["missing"][0]["code"], "not_in_a_package");
}

#[test]
fn only_its_own_programs_use_what_such_a_file_declares() {
    let server = Server::shared(&FILES);
    server.wait_ready();
    assert_eq!(outside(&server, "tests/ui/other.rs::Widget::grow"), ["tests/ui/other.rs:8 call"]);
    assert_eq!(outside(&server, "tests/ui/grow.rs::Own"), ["tests/ui/grow.rs:6 type"]);
    assert_eq!(outside(&server, "tests/ui/with_module.rs::size"), ["tests/ui/common.rs:4 call"]);
    assert_eq!(outside(&server, "tests/ui/with_module.rs::common::make"), ["tests/ui/with_module.rs:8 call"]);
    let reply = usages(&server, "tests/ui/with_module.rs::main");
    assert_eq!((&reply["outside_builds_total"], &reply["meta"]["complete"]), (&json!(0), &json!(true)), "{reply}");
}

#[test]
fn a_symbol_that_only_a_ui_test_uses_is_not_called_unused() {
    let server = Server::shared(&FILES);
    server.wait_ready();
    let (_, reply) = server.post("/v1/open", &json!({"file": "src/lib.rs"}));
    let symbols = reply["symbols"].as_array().unwrap();
    let of = |name: &str| &symbols.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{reply}"))["usages"];
    assert_eq!(*of("only_in_ui"), json!({"total": 0, "files": 0, "outside_builds": 1}));
    assert_eq!(*of("unused"), json!({"total": 0, "files": 0}));
    let markdown = server.markdown("/v1/open", Some(&json!({"file": "src/lib.rs"}))).text;
    assert!(markdown.contains("pub fn only_in_ui() {} // 1 use, all in files that no build includes\n"), "{markdown}");
    assert!(markdown.contains("pub fn unused() {} // unused\n"), "{markdown}");
}

#[test]
fn a_list_of_places_outside_all_builds_has_pages() {
    let server = Server::shared(&FILES);
    server.wait_ready();
    let whole = usages(&server, "thing::Widget");
    let mut found = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    loop {
        let (_, page) = server.get(&format!("/v1/usages?symbol=thing::Widget&limit=2{cursor}"));
        found.0.extend(places(&page["items"]));
        found.1.extend(places(&page["outside_builds"]));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, (places(&whole["items"]), places(&whole["outside_builds"])));
}

#[test]
fn a_rename_changes_them_and_says_so() {
    let server = Server::on(&FILES);
    server.wait_ready();
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "thing::Widget::grow", "new_name": "enlarge"}));
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let ui = server.home.read("tests/ui/grow.rs");
    assert!(ui.contains("it.enlarge(help());") && ui.contains("widget!().enlarge(size)"), "{ui}");
    assert!(server.home.read("tests/ui/with_module.rs").contains("make().enlarge(2)"));
    assert!(server.home.read("tests/ui/other.rs").contains("Widget.grow(1)"));
    assert_eq!(server.home.read("tests/ui/grow.stderr"), STDERR);
    let files = reply["files"].as_array().unwrap();
    let note = |name: &str| files.iter().find(|it| it["file"] == name).unwrap()["note"].as_str().unwrap_or_default();
    assert!(note("tests/ui/grow.rs").contains("tests/ui/grow.stderr:2,4 has `grow`"), "{reply}");
    assert!(note("tests/ui/with_module.rs").starts_with("no build includes this file"), "{reply}");
    assert_eq!(note("src/lib.rs"), "");
    // A shorthand is written out.
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "thing::Widget::size", "new_name": "width"}));
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let ui = server.home.read("tests/ui/grow.rs");
    assert!(ui.contains("let W { width: size } = it;\n") && ui.contains("enlarge(size)"), "{ui}");
    assert!(server.home.read("tests/ui/common.rs").contains("crate::size()"));
    // The next question sees the new text.
    assert_eq!(outside(&server, "thing::Widget::enlarge").len(), 4);

    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "thing::Widget::shrink", "new_name": "lessen"}));
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}

#[test]
fn an_edit_changes_what_they_name() {
    let server = Server::on(&FILES);
    server.wait_ready();
    assert_eq!(outside(&server, "thing::unused"), [] as [&str; 0]);
    let edit = json!({
        "file": "tests/ui/other.rs", "search_context": "Widget.grow(1);", "replacement": "thing::unused();",
        "on_break": "reject",
    });
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    assert_eq!(outside(&server, "thing::unused"), ["tests/ui/other.rs:8 call"]);
    // The file becomes a part of the library.
    let edit = json!({
        "file": "src/lib.rs", "search_context": "pub fn unused() {}",
        "replacement": "pub fn unused() {}\n\n#[path = \"../tests/ui/own.rs\"]\nmod own;",
    });
    server
        .post("/v1/write", &json!({"file": "tests/ui/own.rs", "content": "pub fn own() {\n    crate::unused();\n}\n"}));
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    let reply = usages(&server, "thing::unused");
    assert_eq!(places(&reply["items"]), ["tests/ui/own.rs:2 call"], "{reply}");
    assert_eq!(places(&reply["outside_builds"]), ["tests/ui/other.rs:8 call"], "{reply}");
}

#[test]
fn nothing_judges_them() {
    let server = Server::on(&FILES);
    server.wait_ready();
    for file in ["", "?file=tests/ui/grow.rs", "?file=templates/broken.rs"] {
        usages(&server, "thing::Widget");
        let (status, reply) = server.get(&format!("/v1/diagnostics{file}"));
        assert_eq!((status, &reply["counts"]["error"]), (200, &json!(0)), "{file} {reply}");
    }
    let (_, gate) = server.get("/v1/gate?max_errors=0&block_on_error=true");
    assert_eq!(gate["block"], false, "{gate}");
    // An edit that breaks a UI test breaks no build.
    let edit = json!({
        "symbol": "thing::only_in_ui", "at": "delete", "replacement": "", "on_break": "reject", "dry_run": true,
    });
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    let edit = json!({
        "file": "tests/ui/grow.rs", "search_context": "it.grow(help());", "replacement": "it.grow(help()", "on_break": "reject",
    });
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["diagnostics"]["new"]), (200, &json!([])), "{reply}");
}
