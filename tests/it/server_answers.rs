//! Parts that language servers leave out of their answers: they are found anyway, or reported as missing.

use serde_json::{Value, json};

use crate::language_servers::{errors, serve, usages};
use crate::support::Server;

fn rename(server: &Server, symbol: &str, new_name: &str) -> (u16, Value) {
    server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name}))
}

#[test]
fn a_rename_that_leaves_the_declaration_is_refused() {
    let text = "def helper(x: int) -> int:\n    return x\n\n\nhelper(1)\n";
    let server = serve(&[("pyproject.toml", "[project]\nname = \"pkg\"\n"), ("a.py", text)]);
    // basedpyright answers with an edit of no places.
    let (status, reply) = rename(&server, "helper", "class");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("does not rename `a.py::helper` to `class`"), "{reply}");
    assert_eq!(server.home.read("a.py"), text);
    let (status, reply) = rename(&server, "helper", "aid");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(server.home.read("a.py"), text.replace("helper", "aid"));
}

/// Each caller of a symbol, which have to be all, with the lines of its calls.
#[track_caller]
fn callers(server: &Server, symbol: &str) -> Vec<String> {
    let (status, reply) = server.get(&format!("/v1/callers?symbol={symbol}"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let items = reply["items"].as_array().unwrap().iter();
    let lines = |calls: &Value| {
        let lines: Vec<String> = calls.as_array().unwrap().iter().map(|it| it["line"].to_string()).collect();
        lines.join(",")
    };
    items.map(|it| format!("{}:{}", it["symbol"]["path"].as_str().unwrap(), lines(&it["calls"]))).collect()
}

#[test]
fn an_error_that_names_what_is_renamed_is_no_clash() {
    let text = "def old(a: int) -> int:\n    return a\n\n\nold(\"old\")\n";
    let server = serve(&[("pyproject.toml", "[project]\nname = \"pkg\"\n"), ("a.py", text)]);
    assert_eq!(errors(&server, "/v1/diagnostics"), ["a.py:5 reportArgumentType"]);
    let (status, reply) = rename(&server, "old", "fresh");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!((&reply["diagnostics"]["new"], &reply["diagnostics"]["fixed"]), (&json!([]), &json!([])), "{reply}");
    assert_eq!(server.home.read("a.py"), text.replace("old(", "fresh("));
    // One that the new name makes is.
    server.home.write("b.py", "from a import fresh\n\n\ndef twice(a: int) -> int:\n    return 2 * fresh(a)\n");
    server.home.write("a.py", "def fresh(a: int) -> int:\n    return a\n\n\nother = 1\nother + 1\nfresh(\"x\")\n");
    let (status, reply) = rename(&server, "fresh", "other");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}

#[test]
fn a_prototype_is_renamed_with_its_function() {
    let (header, lib, main) = (
        "#ifndef LIB_H\n#define LIB_H\nint add(int a, int b);\nint lonely(int a);\n#endif\n",
        "#include \"lib.h\"\n\nint add(int a, int b) {\n  return a + b;\n}\n\nint lonely(int a) {\n  return add(a, a);\n}\n",
        "#include \"lib.h\"\n\nint main(void) {\n  return add(1, 2);\n}\n",
    );
    // Without a compile command clangd parses the header as one of C++.
    let server = serve(&[("lib.h", header), ("lib.c", lib), ("main.c", main)]);
    for (from, to) in [("lonely", "solo"), ("add", "plus")] {
        let (status, reply) = rename(&server, from, to);
        assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    }
    let renamed = |text: &str| text.replace("lonely", "solo").replace("add(", "plus(");
    for (file, text) in [("lib.h", header), ("lib.c", lib), ("main.c", main)] {
        assert_eq!(server.home.read(file), renamed(text), "{file}");
    }
}

#[test]
fn calls_of_a_method_that_changed_from_outside_are_found() {
    let server = serve(&[
        ("foo.h", "#pragma once\nstruct F {\n  int bar(int s) const;\n};\n"),
        ("foo.cpp", "#include \"foo.h\"\n\nint F::bar(int s) const {\n  return s;\n}\n"),
        ("main.cpp", "#include \"foo.h\"\n\nint main() {\n  F f;\n  return f.bar(1);\n}\n"),
    ]);
    assert!(usages(&server, "F.bar").contains(&"main.cpp:5 call".to_owned()));
    server.home.write("foo.h", "#pragma once\nstruct F {\n  int bar(int s, int z = 0) const;\n};\n");
    server.home.write("foo.cpp", "#include \"foo.h\"\n\nint F::bar(int s, int z) const {\n  return s + z;\n}\n");
    // clangd's index of main.cpp has the old method.
    assert!(usages(&server, "F.bar").contains(&"main.cpp:5 call".to_owned()));
    assert_eq!(callers(&server, "F.bar"), ["main.cpp::main:5"]);
    // Its old position now has something else.
    server.home.write("foo.h", "#pragma once\n\nstruct F {\n  long bar(int s, int y, int z = 0) const;\n};\n");
    server
        .home
        .write("foo.cpp", "#include \"foo.h\"\n\nlong F::bar(int s, int y, int z) const {\n  return s + y + z;\n}\n");
    assert!(usages(&server, "F.bar").contains(&"main.cpp:5 call".to_owned()));
}

#[test]
fn what_two_files_define_are_two_functions() {
    let server = serve(&[
        ("a.c", "static int twice(int a) {\n  return 2 * a;\n}\n\nint a(void) {\n  return twice(1);\n}\n"),
        ("b.c", "static int twice(int a) {\n  return a + a;\n}\n\nint b(void) {\n  return twice(2);\n}\n"),
    ]);
    assert_eq!(usages(&server, "a.c::twice"), ["a.c:6 call"]);
    assert_eq!(usages(&server, "b.c::twice"), ["b.c:6 call"]);
}

#[test]
fn calls_outside_of_declarations_stand_under_their_file() {
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        (
            "a.py",
            "def helper(x: int) -> int:\n    return x\n\n\ndef user() -> int:\n    return helper(1)\n\n\nhelper(2)\n",
        ),
        ("tests/test_a.py", "from a import helper\n\nhelper(3)\n"),
        ("late.py", "from a import helper\n\nprint(list(map(helper, [1])))\n"),
        ("lib.sh", "greet() {\n  echo hello\n}\ngreet world\n"),
    ]);
    assert_eq!(callers(&server, "helper"), ["a.py:9", "a.py::user:6", "late.py:3", "tests/test_a.py:3"]);
    assert_eq!(callers(&server, "lib.sh::greet"), ["lib.sh:4"]);
    let (_, reply) = server.get("/v1/callers?symbol=helper");
    assert_eq!(reply["items"][0]["symbol"]["kind"], "module", "{reply}");

    let server = serve(&[
        ("package.json", "{\"name\": \"x\"}\n"),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"jsx\": \"preserve\"}, \"include\": [\"src\"]}\n",
        ),
        ("src/fn.ts", "export function fn(n: number): number {\n  return n;\n}\n"),
        (
            "src/fn.test.ts",
            "import { fn } from './fn';\ndeclare function test(name: string, run: () => void): void;\ntest('adds', () => {\n  if (fn(1) !== 2) throw 1;\n});\n",
        ),
        (
            "src/view.tsx",
            "export function Comp(p: { a: string }) {\n  return p.a;\n}\nexport const shown = <Comp a=\"1\" />;\n[<Comp a=\"2\" />];\n",
        ),
    ]);
    assert_eq!(callers(&server, "src/fn.ts::fn"), ["src/fn.test.ts:4"]);
    assert_eq!(callers(&server, "Comp"), ["src/view.tsx:5", "src/view.tsx::shown:4"]);
}
