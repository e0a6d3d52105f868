//! Edits of symbols that have neighbours: on the same line, or in the same declaration. No edit removes, joins or hides
//! a neighbour: it gets the separator of the language, or it is refused. The symbols are found by the text alone where
//! no language server is installed.

use serde_json::{Value, json};

use crate::support::Server;

/// An edit of a symbol in a file of its own, and the text after it. `None`: it is refused, and the text stays.
type Case = (&'static str, &'static str, (&'static str, &'static str, &'static str), Option<&'static str>);

#[track_caller]
fn check(cases: &[Case]) {
    let name = |at: usize, extension: &str| match extension {
        "go" => format!("p{at}/f.go"),
        _ => format!("f{at}.{extension}"),
    };
    let mut files: Vec<(String, &str)> =
        cases.iter().enumerate().map(|(at, (extension, text, ..))| (name(at, extension), *text)).collect();
    if cases.iter().any(|it| it.0 == "go") {
        files.push(("go.mod".to_owned(), "module example.com/g\n\ngo 1.21\n"));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let server = Server::on(&files);
    for (number, (extension, text, (symbol, at, new), wanted)) in cases.iter().enumerate() {
        let file = name(number, extension);
        let edit = json!({"file": file, "symbol": symbol, "at": at, "replacement": new, "wait_ms": 60_000});
        let (status, reply) = server.post("/v1/edit", &edit);
        match wanted {
            Some(_) => assert_eq!(status, 200, "{edit}\n{reply}"),
            None => {
                assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{edit}\n{reply}");
                assert!(reply["detail"].as_str().unwrap().contains("edit the text of the "), "{reply}");
            }
        }
        assert_eq!(server.home.read(&file), wanted.unwrap_or(text), "{edit}");
        // A retry is safe.
        if wanted.is_some() && ["before", "after"].contains(at) {
            let (status, reply) = server.post("/v1/edit", &edit);
            assert_eq!((status, &reply["code"]), (409, &json!("already_applied")), "{edit}\n{reply}");
        }
    }
}

#[test]
fn one_of_several_names_is_deleted_alone_or_not() {
    check(&[
        (
            "go",
            "package p\n\ntype P struct{ X, Y int }\n",
            ("P.X", "delete", ""),
            Some("package p\n\ntype P struct{ Y int }\n"),
        ),
        (
            "go",
            "package p\n\ntype P struct{ X, Y int }\n",
            ("P.Y", "delete", ""),
            Some("package p\n\ntype P struct{ X int }\n"),
        ),
        (
            "go",
            "package p\n\ntype P struct {\n\t// Both.\n\tX, Y, Z *int\n\tW int\n}\n",
            ("P.Y", "delete", ""),
            Some("package p\n\ntype P struct {\n\t// Both.\n\tX, Z *int\n\tW int\n}\n"),
        ),
        ("go", "package p\n\nvar P, Q = 1, 2\n", ("P", "delete", ""), None),
        ("go", "package p\n\nconst U, V = 1, 2\n", ("U", "whole", "const U = 1"), None),
        (
            "go",
            "package p\n\nconst U, V = 1, 2\n",
            ("U", "whole", "const U, V = 3, 4"),
            Some("package p\n\nconst U, V = 3, 4\n"),
        ),
        (
            "java",
            "class A {\n    private int x, y;\n}\n",
            ("A.x", "delete", ""),
            Some("class A {\n    private int y;\n}\n"),
        ),
        ("java", "class A {\n    private int x = 1, y;\n}\n", ("A.y", "delete", ""), None),
        ("c", "struct s {\n    int *x, y;\n};\n", ("s.x", "delete", ""), None),
        ("c", "struct s { int a; } one;\n", ("one", "delete", ""), None),
        (
            "cs",
            "class A {\n    public int x;\n    public int y, z;\n}\n",
            ("A.x", "delete", ""),
            Some("class A {\n    public int y, z;\n}\n"),
        ),
        (
            "cs",
            "class A {\n    public int y, z;\n}\n",
            ("A.y", "delete", ""),
            Some("class A {\n    public int z;\n}\n"),
        ),
        (
            "php",
            "<?php\nclass A {\n    public $x = 1;\n    private $y;\n}\n",
            ("A.x", "delete", ""),
            Some("<?php\nclass A {\n    private $y;\n}\n"),
        ),
        ("php", "<?php\nclass A {\n    const B = 1, C = 2;\n}\n", ("A.B", "delete", ""), None),
        ("js", "let a = 1, b = 2;\n", ("b", "delete", ""), None),
        (
            "js",
            "let a = 1,\n  b = 2,\n  c = 3,\n  d = 4;\nf();\n",
            ("d", "delete", ""),
            Some("let a = 1,\n  b = 2,\n  c = 3;\nf();\n"),
        ),
    ]);
}

#[test]
fn a_neighbour_on_the_line_stays_what_it_is() {
    check(&[
        (
            "go",
            "package p\n\ntype P struct{ X, Y int }\n",
            ("P.Y", "after", "Z string"),
            Some("package p\n\ntype P struct{ X, Y int; Z string }\n"),
        ),
        (
            "go",
            "package p\n\ntype I interface{ Get() int }\n",
            ("I.Get", "after", "Set(int)"),
            Some("package p\n\ntype I interface{ Get() int; Set(int) }\n"),
        ),
        (
            "go",
            "package p\n\nvar (\n\ta = 1; b = 2\n)\n",
            ("a", "after", "c = 3"),
            Some("package p\n\nvar (\n\ta = 1; c = 3; b = 2\n)\n"),
        ),
        (
            "go",
            "package p\n\nvar (\n\ta = 1; b = 2\n)\n",
            ("a", "delete", ""),
            Some("package p\n\nvar (\n\tb = 2\n)\n"),
        ),
        (
            "ts",
            "interface I { x: number }\n",
            ("I.x", "after", "y: string"),
            Some("interface I { x: number; y: string }\n"),
        ),
        ("ts", "class C { a = 1; b() {} }\n", ("C.a", "after", "c = 2"), Some("class C { a = 1; c = 2; b() {} }\n")),
        ("ts", "class C { a = 1; b() {} }\n", ("C.b", "before", "c = 2"), Some("class C { a = 1; c = 2; b() {} }\n")),
        ("ts", "class C { a = 1; b() {} }\n", ("C.a", "whole", "a = 2"), Some("class C { a = 2; b() {} }\n")),
        ("ts", "class C { a = 1; b() {} }\n", ("C.a", "after", "// c"), None),
        ("py", "A = 1; B = 2\n", ("A", "after", "C = 3"), Some("A = 1; C = 3; B = 2\n")),
        ("py", "A = 1; B = 2\n", ("A", "after", "def f():\n    pass"), None),
        (
            "java",
            "enum E {\n    A,\n    B;\n    int x;\n}\n",
            ("E.B", "after", "C"),
            Some("enum E {\n    A,\n    B, C;\n    int x;\n}\n"),
        ),
        (
            "java",
            "enum E {\n    A,\n    B;\n    int x;\n}\n",
            ("E.B", "delete", ""),
            Some("enum E {\n    A;\n    int x;\n}\n"),
        ),
        ("js", "let a = 1, b = 2, c = 3, d = 4;\n", ("d", "after", "e = 5"), None),
    ]);
}

#[test]
fn decorators_stay_with_their_method() {
    const TEXT: &str = "export class C {\n  /** g */\n  @dec()\n  // why\n  @other()\n  g(): number {\n    return 1;\n  }\n\n  \
                        @Input() name: string;\n}\n";
    let before = TEXT.replace("  /** g */", "  h() {}\n\n  /** g */");
    let without = "export class C {\n\n  @Input() name: string;\n}\n";
    let inline = "class C { a() {} @dec() b() {} c() {} }\n";
    let cases: Vec<Case> = vec![
        ("ts", TEXT, ("C.g", "before", "h() {}"), Some(before.leak())),
        ("ts", TEXT, ("C.g", "delete", ""), Some(without)),
        ("ts", inline, ("C.b", "delete", ""), Some("class C { a() {} c() {} }\n")),
        ("ts", inline, ("C.b", "before", "d() {}"), Some("class C { a() {} d() {} @dec() b() {} c() {} }\n")),
    ];
    check(&cases);
}

#[test]
fn a_path_that_is_printed_is_known_to_every_verb() {
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"q\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("x/m.js", "export function f() {}\n"),
        ("x/m.jsx", "export function f() {}\n"),
        ("x/m.mjs", "export function f() {}\n"),
        ("x/m.cpp", "int f() { return 1; }\n"),
        ("x/m.ts", "export function f() {}\n"),
    ]);
    for file in ["x/m.js", "x/m.jsx", "x/m.mjs", "x/m.cpp", "x/m.ts"] {
        let (_, opened) = server.post("/v1/open", &json!({"file": file}));
        let path = opened["symbols"][0]["path"].clone();
        assert_eq!(path, format!("{file}::f"), "{opened}");
        let edit = json!({"symbol": path, "at": "delete", "dry_run": true, "wait_ms": 60_000});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["files"][0]["file"]), (200, &json!(file)), "{reply}");
        let (status, reply) = server.post("/v1/describe", &json!({"symbol": path, "wait_ms": 60_000}));
        assert_eq!((status, &reply["symbol"]["path"]), (200, &path), "{reply}");
    }
    let (status, reply): (u16, Value) = server.post("/v1/describe", &json!({"symbol": "q::f", "wait_ms": 60_000}));
    assert_eq!(status, 200, "{reply}");
}
