//! Fuzz targets for Go's parsers: sources, manifests, constraints, names, links, and the checker's answers.

use std::path::PathBuf;

use proptest::prelude::any;

use crate::build_constraints::BuildContext;
use crate::checker::{Answered, Uses};
use crate::doc_links::resolved;
use crate::gomod::{compare_versions, parse_module, parse_work};
use crate::lsp_conversion;
use crate::resolve::{Wanted, splits};
use crate::syntax::{
    all_identifiers, alter, changed_statements, group_docs, occurrences, outline, package_clause, tokens, units,
    words_touching,
};
use semdex_model::{Alteration, OutlineItem, Span};
use semdex_testing::fuzz::{fuzz, mutated, two_states};

const SOURCES: &[&str] = &[
    include_str!("../checker/program/check.go"),
    include_str!("../checker/program/file.go"),
    include_str!("../checker/program/shape.go"),
    include_str!("../checker/program/pass_test.go"),
    "//go:build linux && (amd64 || !cgo)\n// +build linux\n\n// Package p is.\npackage p\n\nimport (\n\t. \"math\"\n\tx \"a/b\"\n)\n",
    "package p\n\ntype E[K interface{ ~int | ~string }] struct {\n\t*R\n\tA, B string `json:\"b\"`\n}\n\nvar f = func(x int) {\n\tg()\n}\n",
    "package p\n\nconst (\n\tA Kind = iota // t\n\tB\n)\n\nfunc (t *T[K]) M(a ...int) (r int, err error) {\nL:\n\tfor i := range 10 {\n\t\tselect {\n\t\tcase <-c:\n\t\t\tgoto L\n\t\t}\n\t}\n\treturn\n}\n",
];
const WORDS: &[&str] = &[
    "package ",
    "import ",
    "func ",
    "type ",
    "var ",
    "const ",
    "struct",
    "interface",
    "map[",
    "chan ",
    "go ",
    "defer ",
    "if ",
    "else ",
    "for ",
    "range ",
    "switch ",
    "case ",
    "default:",
    "select ",
    "return ",
    "goto ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ":",
    ":=",
    "=",
    ".",
    "...",
    "*",
    "&",
    "<-",
    "+",
    "-",
    "!",
    "~",
    "|",
    "\"",
    "`",
    "'",
    "//",
    "/*",
    "*/",
    "\n",
    "\t",
    " ",
    "x",
    "T",
    "_",
    "é",
    "0x1p-2",
    "1i",
    "'\\x00'",
    "nil",
    "new(",
    "make(",
    "/*line f.go:1*/",
    "//go:embed a\n",
];

/// Spans are in the text, at character boundaries, and children are within their parents.
fn check_items(text: &str, items: &[OutlineItem], within: Span) {
    for item in items {
        assert!(text.get(item.span.start..item.span.end).is_some() && within.encloses(item.span), "{item:?}");
        assert!(item.span.encloses(item.name_span) && item.body.is_none_or(|it| item.span.encloses(it)), "{item:?}");
        assert_eq!(text.get(item.name_span.start..item.name_span.end).map(str::is_empty), Some(false), "{item:?}");
        assert!(!item.signature.contains('\n'), "{item:?}");
        check_items(text, &item.children, item.span);
    }
}

#[test]
fn fuzz_go_syntax() {
    fuzz("go_syntax", mutated(SOURCES, WORDS), |text| {
        let found = outline(&text);
        check_items(&text, &found.items, Span::new(0, text.len()));
        assert_eq!(found.skeleton.lines().count(), found.skeleton_lines.len());
        assert!(found.skeleton_lines.is_sorted());
        if found.errors.is_empty() {
            let again = outline(&found.skeleton);
            assert_eq!(again.errors, [], "{}", found.skeleton);
            let names = |items: &[OutlineItem]| items.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&again.items), names(&found.items), "{}", found.skeleton);
        }
        for error in &found.errors {
            assert!(text.get(error.span.start..error.span.end).is_some(), "{error:?}");
        }
        let mut end = 0;
        for token in tokens(&text) {
            assert!(token.span.start == end && token.span.end > end, "{token:?}");
            end = token.span.end;
        }
        assert_eq!(end, text.len());
        for found in all_identifiers(&text) {
            assert!(text.get(found.span.start..found.span.end).is_some(), "{found:?}");
        }
        occurrences(&text, "x");
        found.items.iter().for_each(|it| drop(group_docs(&text, it.span.start)));
        package_clause(&text);
        for item in found.items.iter().take(4) {
            for change in [Alteration::Remove, Alteration::Rename, Alteration::Signature, Alteration::Visibility] {
                if let Some((span, _)) = alter(&text, item.span, item.name_span, change) {
                    assert!(text.get(span.start..span.end).is_some());
                }
            }
        }
    });
}

#[test]
fn fuzz_go_statements() {
    fuzz("go_statements", two_states(SOURCES, WORDS), |(old, new)| {
        if let Some((before, after)) = changed_statements(&old, &new) {
            // All differences are inside.
            assert_eq!((&old[..before.start], &old[before.end..]), (&new[..after.start], &new[after.end..]));
            words_touching(&old, before);
        }
        for unit in units(&old).into_iter().flatten() {
            assert!(old.get(unit.span.start..unit.span.end).is_some() && unit.span.encloses(unit.head()));
        }
    });
}

#[test]
fn fuzz_go_manifests() {
    const TEXTS: &[&str] = &[
        "module example.com/m // c\n\ngo 1.26\n\nrequire (\n\ta.b/c v1.2.3 // indirect\n\t\"d\" v0.0.0-1\n)\nreplace a.b/c v1.2.3 => ../c\nexclude x v1.0.0\n",
        "go 1.26\nuse (\n\t.\n\t./a/../b\n)\nuse `c`\nreplace x => /y\n",
    ];
    const SIGNS: &[&str] = &[
        "module ",
        "require ",
        "replace ",
        "=>",
        "use ",
        "(",
        ")",
        "\n",
        " ",
        "//",
        "/*",
        "\"",
        "`",
        "v1.2.3",
        "v1-rc.1+b",
        "../",
        ".",
        "/",
        "\\",
        "go 1.26",
    ];
    fuzz("go_manifests", (mutated(TEXTS, SIGNS), mutated(TEXTS, SIGNS)), |(text, other)| {
        for directory in ["", "a", "a/b"] {
            let _ = parse_module(directory, &text);
            let _ = parse_work(directory, &text);
        }
        assert_eq!(compare_versions(&text, &other), compare_versions(&other, &text).reverse());
        assert!(compare_versions(&text, &text).is_eq());
    });
}

#[test]
fn fuzz_go_constraints() {
    const TEXTS: &[&str] = &[
        "//go:build linux && (amd64 || !cgo) && go1.20\npackage p\n",
        "// +build linux,!cgo darwin\n// +build a\n\npackage p\n",
        "a_linux_amd64_test.go",
    ];
    const SIGNS: &[&str] = &[
        "//go:build ",
        "// +build ",
        "linux",
        "windows",
        "go1.1",
        "go1.99999999999",
        "&&",
        "||",
        "!",
        "(",
        ")",
        ",",
        " ",
        "\n",
        "_linux",
        "_test.go",
        "/* */",
        "package p",
        "import \"C\"",
    ];
    fuzz("go_constraints", (mutated(TEXTS, SIGNS), mutated(TEXTS, SIGNS)), |(file, text)| {
        let context = BuildContext::default();
        assert_eq!(context.takes(&file, &text), context.takes(&file, &text));
        let tag = ["//go:build ", &text.replace(['\n', '\r'], " ")].concat();
        let not = ["//go:build !(", &text.replace(['\n', '\r'], " "), ")"].concat();
        // No build includes a file with a malformed constraint, in either form.
        let taken = [tag, not].map(|it| context.takes("a.go", &format!("{it}\npackage p\n")));
        assert_ne!(taken, [true, true]);
    });
}

#[test]
fn fuzz_go_names() {
    const TEXTS: &[&str] = &[
        "gopkg.in/yaml.v3.Node.Kind",
        "(*T[K]).M",
        "method@a/b.T.M()",
        "func@x",
        "a/b_test.T",
        "[Reader] and [*json.Decoder.Token]",
    ];
    const SIGNS: &[&str] = &[".", "/", "[", "]", "(", ")", "*", "&", "@", "~", "func", "T", "_test", " ", "é"];
    fuzz("go_names", mutated(TEXTS, SIGNS), |text| {
        let wanted = Wanted::parse(&text);
        assert_eq!(wanted.bits.join("."), wanted.text);
        for (package, bits) in splits(&text) {
            assert_eq!(format!("{package}.{}", bits.join(".")), wanted.text);
        }
        assert_eq!(resolved(&text, |_| None), text);
        resolved(&text, |it| Some(format!("p.{it}")));
    });
}

#[test]
fn fuzz_file_uris() {
    const TEXTS: &[&str] = &["file:///a/b%20c.go", "file:///%C3%A9/%zz", "file://host/a", "/a/ß d/%41.go"];
    const SIGNS: &[&str] = &["file://", "%", "%2", "%2F", "%00", "%+1", "/", "..", "?", "#", "é", ":"];
    fuzz("file_uris", mutated(TEXTS, SIGNS), |text| {
        let path = PathBuf::from(format!("/{text}"));
        let made = lsp_conversion::uri(&path);
        assert_eq!(lsp_conversion::path(&made), Some(path), "{}", made.0);
        let _ = lsp_conversion::path(&text.into());
    });
}

#[test]
fn fuzz_checker_answers() {
    const TEXTS: &[&str] = &[
        r#"{"before":[{"file":"a.go","start":1,"end":2,"message":"m","code":null,"source":"s"}],"after":[],"checked":1.5,"answered":2}"#,
        r#"{"files":["a.go"],"found":[[0,12,0,99],null,[7]]}"#,
    ];
    const SIGNS: &[&str] =
        &["{", "}", "[", "]", ",", ":", "null", "-1", "1e99", "\"found\"", "\"start\"", "18446744073709551615"];
    fuzz("checker_answers", (mutated(TEXTS, SIGNS), any::<usize>()), |(text, number)| {
        let _ = serde_json::from_str::<Answered>(&text);
        if let Ok(uses) = serde_json::from_str::<Uses>(&text) {
            for number in [0, 1, 2, number] {
                uses.of(number).into_iter().flatten().for_each(drop);
            }
        }
    });
}
