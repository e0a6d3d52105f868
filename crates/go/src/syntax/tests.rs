//! Outlines, skeletons and identifiers of Go, on small files and on a real module.

use std::fmt::Write as _;

use expect_test::expect;

use super::*;
use semdex_model::{OutlineItem, Span, SymbolKind};

/// Everything in an outline, one line each: kind, path, signature, docs.
fn listed(text: &str) -> String {
    let mut lines = String::new();
    outline(text).walk(&mut |item: &OutlineItem| {
        let path: Vec<&str> = item.container.iter().chain([&item.name]).map(String::as_str).collect();
        let docs = item.docs.as_deref().map(|it| format!(" // {}", it.replace('\n', "\\n"))).unwrap_or_default();
        let test = if item.test { " (test)" } else { "" };
        writeln!(lines, "{} {}{test}: {}{docs}", item.kind.name(), path.join("."), item.signature).unwrap();
    });
    lines
}

fn text_of(text: &str, span: Span) -> &str {
    &text[span.start..span.end]
}

#[test]
fn functions_and_methods() {
    let text = "package p

// Run runs
// it.
//
//go:noinline
func Run[T any](
	a int, // one
	b ...T,
) (err error) {
	return nil
}

func (c *Context[T]) JSON(code int, obj any) { c.x() }
func (Kind) asm() int

// not a doc

func x() {}
";
    expect![[r"
        function Run: func Run[T any](a int, b ...T) (err error) // Run runs\nit.
        method Context.JSON: func (c *Context[T]) JSON(code int, obj any)
        method Kind.asm: func (Kind) asm() int
        function x: func x()
    "]]
    .assert_eq(&listed(text));
    let outline = outline(text);
    let run = &outline.items[0];
    assert!(text_of(text, run.span).starts_with("// Run runs") && text_of(text, run.span).ends_with("nil\n}"));
    assert_eq!(text_of(text, run.name_span), "Run");
    assert_eq!(run.body.map(|it| text_of(text, it)), Some("\n\treturn nil\n"));
    assert_eq!(outline.items.iter().map(|it| it.public).collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(package_clause(text), Some("p"));
}

#[test]
fn types_and_their_members() {
    let text = r#"package p

// E is big.
type E[K interface{ ~int | ~string }] struct {
	*RouterGroup // embedded
	binding.Base[T] `json:"b"`
	// Both.
	A, B string
	inner struct {
		X int
	}
	list []struct{ Y int }
}

type (
	// R reads.
	R interface {
		io.Reader
		// Do does.
		Do(a int,
			b string) error
		~int | string
	}
	Alias = E[int]
	None struct{}
	f func(a int) error // f
)
"#;
    expect![[r#"
        struct E: type E[K interface{ ~int | ~string }] struct { … } // E is big.
        field E.RouterGroup: *RouterGroup // embedded
        field E.Base: binding.Base[T] `json:"b"`
        field E.A: A, B string // Both.
        field E.B: A, B string // Both.
        field E.inner: inner struct { … }
        field E.inner.X: X int
        field E.list: list []struct{ Y int }
        field E.list.Y: Y int
        interface R: type R interface { … } // R reads.
        interface R.Reader: io.Reader
        method R.Do: Do(a int, b string) error // Do does.
        type Alias: type Alias = E[int]
        struct None: type None struct{}
        type f: type f func(a int) error // f
    "#]]
    .assert_eq(&listed(text));
    let outline = outline(text);
    let reads = outline.items.iter().find(|it| it.name == "R").map(|it| text_of(text, it.span));
    assert!(reads.is_some_and(|it| it.starts_with("// R reads.\n\tR interface {") && it.ends_with('}')));
    assert!(outline.items[0].body.is_some_and(|it| text_of(text, it).starts_with("\n\t*RouterGroup")));
}

#[test]
fn constants_and_variables() {
    let text = r#"package p

// Alone.
const Alone, Other = 1, "x"

// Kinds.
const (
	// A is first.
	A Kind = iota // trailing
	B             // b
	C
)

// The table.
var (
	table = []T{
		1,
		2,
		3,
		4,
	}
)
var f = func(x int) {
	g()
	h()
}
var short = []int{1, 2}
"#;
    expect![[r#"
        const Alone: const Alone, Other = 1, "x" // Alone.
        const Other: const Alone, Other = 1, "x" // Alone.
        const A: const A Kind = iota // A is first.
        const B: const B // b
        const C: const C
        variable table: var table = []T{ … } // The table.
        variable f: var f = func(x int) { … }
        variable short: var short = []int{1, 2}
    "#]]
    .assert_eq(&listed(text));
    assert_eq!(text_of(text, outline(text).items[2].span), "// A is first.\n\tA Kind = iota // trailing");
}

#[test]
fn what_go_test_runs() {
    let text = "package p\nfunc TestA(t *testing.T) {}\nfunc Testa(t *testing.T) {}\nfunc TestB(x int) {}\nfunc BenchmarkA(b *testing.B) {}\n\
                func FuzzA(f *testing.F) {}\nfunc TestMain(m *testing.M) {}\nfunc ExampleA() {}\nfunc ExampleB() int {}\nfunc (T) TestC(t *testing.T) {}\n";
    let outline = outline(text);
    let tests: Vec<&str> = outline.items.iter().filter(|it| it.test).map(|it| it.name.as_str()).collect();
    assert_eq!(tests, ["TestA", "BenchmarkA", "FuzzA", "TestMain", "ExampleA"]);
}

#[test]
fn package_clause_and_imports() {
    let text = "// Copyright\n\n//go:build linux\n\n/*\nPackage a does\nthings.\n*/\npackage a\n\nimport \"fmt\"\nimport (\n\t. \"math\"\n\t_ `embed`\n\tstr \"a/strings\"\n)\n";
    let outline = outline(text);
    assert_eq!(outline.docs.as_deref(), Some("Package a does\nthings."));
    let imports: Vec<_> = outline.imports.iter().map(|it| (it.alias.as_deref(), it.path.as_str(), it.line)).collect();
    assert_eq!(
        imports,
        [(None, "fmt", 11), (Some("."), "math", 13), (Some("_"), "embed", 14), (Some("str"), "a/strings", 15)]
    );
}

#[test]
fn skeleton_and_its_lines() {
    let long = "x".repeat(300);
    let text = format!(
        "\u{feff}package p\n\n// F does.\nfunc F() {{\n\ta()\n\t// inside\n\tb()\n}}\n\n// between\n\nfunc one() int {{ return 1 }}\n\nvar f = once(func() {{\n\ta()\n\tb()\n}}, 1)\n\
         const s = \"{long}\" // s\nvar (\n\tsum = \"a\" +\n\t\t\"b\" +\n\t\t\"c\" +\n\t\t\"d\" +\n\t\t\"e\"\n\traw = `\nselect\n1\n2\n3\n4`\n\tlast = T{{\n\t\tA: 1,\n\t\tB: 2,\n\t\tC: 3,\n\t}}\n)\n"
    );
    let outline = outline(&text);
    expect![[r#"
        package p

        // F does.
        func F() { /* 3 lines */ }

        // between

        func one() int { return 1 }

        var f = once(func() { /* 2 lines */ }, 1)
        const s = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" /* … */ // s
        var (
        	sum = "a" /* … */
        	raw = `select` /* … */
        	last = T{ /* … */ }
        )
    "#]]
    .assert_eq(&outline.skeleton);
    assert_eq!(outline.skeleton_lines, [1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 18, 19, 20, 25, 31, 36]);
    assert_eq!(super::outline(&outline.skeleton).skeleton, outline.skeleton, "a skeleton is its own skeleton");
    assert_eq!(listed(&text), listed(&outline.skeleton));
}

#[test]
fn calls_that_the_grammar_does_not_know() {
    assert_eq!(
        outline(
            "package p\n\nvar x = new(1 + y)\n\nfunc f() {\n\tmake(n - 1)\n\t_ = new([]int{1})\n\t_ = new([]int)\n}\n"
        )
        .errors,
        []
    );
    let broken = outline("package p\n\nfunc f() {\n\tif x {\n}\n");
    assert!(!broken.errors.is_empty());
    assert_eq!(outline("").errors, []);
}

/// A syntax error in one declaration costs at most that declaration.
#[test]
fn an_error_stays_where_it_was_made() {
    let before = "package p\n\ntype T struct{ A int }\n\n";
    let after = "\n// F does.\nfunc F() {\n\ta()\n}\n\nvar s = `\nfunc G() {\n`\n";
    for (broken, name, error) in [
        ("func (t *T) M() {\n\tif x {\n\ta()\n}\n", Some("M"), "missing `}`"),
        ("func M() {\n\ta(\n}\n", Some("M"), "unexpected `(`"),
        ("func M(a int,\n", Some("M"), "missing `)`"),
        ("func M() {\n", Some("M"), "unexpected `{`"),
        ("type M struct {\n\tA int\n", None, "unexpected `type M struct {`"),
        ("var M = \n", None, "unexpected `var M =`"),
        ("<<<<<<< HEAD\n", None, "unexpected `<<<<<<<`"),
    ] {
        let text = format!("{before}{broken}{after}");
        let outline = outline(&text);
        let names: Vec<&str> = outline.items.iter().map(|it| it.name.as_str()).collect();
        let expected: Vec<&str> = ["T"].into_iter().chain(name).chain(["F", "s"]).collect();
        assert_eq!(names, expected, "{broken}");
        let first = outline.errors.first().map(|it| (it.message.as_str(), it.span));
        assert!(first.is_some_and(|(message, _)| message == error), "{broken} {first:?}");
        let broken_at = Span::new(before.len(), before.len() + broken.len());
        assert!(outline.errors.iter().all(|it| broken_at.encloses(it.span)), "{broken} {:?}", outline.errors);
        assert!(outline.skeleton.contains("// F does.\nfunc F() { /* 1 line */ }"), "{}", outline.skeleton);
        let docs = outline.items.iter().find(|it| it.name == "F").and_then(|it| it.docs.as_deref());
        assert_eq!(docs, Some("F does."));
    }
}

#[test]
fn roles_of_identifiers() {
    let text = "package p\n\nimport x \"a/x\"\n\nfunc (c *T) F(x int) {\n\tx.x(x)\n\tx = T{x: x}\n\tx++\n\tm := map[K]int{x: 1}\n\tvar y x.x = x\n\tfor x := range x {\n\t}\n\tx.x[0] = *x\n}\n";
    let found = occurrences(text, "x");
    let roles: Vec<(&str, bool)> = found.iter().map(|it| (it.role.name(), it.declares)).collect();
    let read = ("read", false);
    assert_eq!(
        roles,
        [
            ("import", true),
            ("other", true),
            read,
            ("call", false),
            read,
            ("write", false),
            ("write", false),
            read,
            ("write", false),
            read,
            read,
            ("type", false),
            read,
            ("write", true),
            read,
            read,
            read,
            read,
        ]
    );
    assert!(found.iter().all(|it| text_of(text, it.span) == "x"));
    let enclosing = found[5].enclosing.as_deref().map(|it| it.join("."));
    assert_eq!((found[0].enclosing.is_none(), enclosing.as_deref()), (true, Some("T.F")));
}

#[test]
fn broken_text_loses_no_identifier() {
    let text = "package p\n\nfunc f() {\n\tfoo(bar\n}}} foo @ foo\nfunc g() { foo";
    assert_eq!(occurrences(text, "foo").len(), 4);
    assert_eq!(all_identifiers(text).iter().filter(|it| text_of(text, it.span) == "bar").count(), 1);
}

#[test]
fn any_text_has_an_outline() {
    let whole = "package p\n\n// ß𝒳\ntype T struct {\r\n\tA int `x`\r\n\tinner struct{ B *[]map[string]struct{ C int } }\n}\n\nconst c = `a\nb` + \"\\x41\" + 'ß'\n\n\
                 func (t *T) f(x interface{ M() }) (y int) {\n\tfor i := range x { t.A = T{A: 1} /* ß */ }\n}\n\nvar f = func() { g(func() {}) }\n";
    for at in (0..=whole.len()).filter(|&at| whole.is_char_boundary(at)) {
        for text in [&whole[..at], &whole[at..]] {
            let outline = outline(text);
            assert!(outline.skeleton_lines.iter().all(|&it| it <= text.lines().count()));
            outline.walk(&mut |it| {
                assert!(!text_of(text, it.name_span).is_empty() && it.span.encloses(it.name_span));
                assert!(it.body.is_none_or(|body| it.span.encloses(body)));
            });
            all_identifiers(text);
        }
    }
    let deep = |count: usize| format!("package p\n\nvar x = {}1{}\n", "(".repeat(count), ")".repeat(count));
    assert_eq!(outline(&deep(400)).items.len(), 1);
    let given_up = outline(&deep(20_000));
    assert_eq!((given_up.items.len(), given_up.errors.len()), (0, 1));
    assert_eq!(given_up.skeleton, deep(20_000));
    let sum = format!("package p\n\nvar x = 1{}\n", " + 1".repeat(4_000));
    assert_eq!(outline(&sum).skeleton, "package p\n\nvar x = 1 /* … */\n");
    assert_eq!(outline(&sum).items[0].kind, SymbolKind::Variable);
}

fn go(arguments: &[&str]) -> String {
    let output = std::process::Command::new("go").args(arguments).output().expect("go is needed for these tests");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn go_files(directory: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_some_and(|it| it != "testdata") {
            go_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "go") {
            found.push(path);
        }
    }
}

/// The skeleton of every file of a real module is valid Go for gofmt and contains every signature.
#[test]
fn skeletons_of_a_real_module() {
    let module = "golang.org/x/tools/gopls@v0.23.0";
    let root = std::path::Path::new(&go(&["env", "GOMODCACHE"])).join(module);
    if !root.is_dir() {
        go(&["mod", "download", module]);
    }
    let mut paths = Vec::new();
    go_files(&root, &mut paths);
    let skeletons = tempfile::tempdir().unwrap();
    for (at, path) in paths.iter().take(400).enumerate() {
        let text = std::fs::read_to_string(path).unwrap();
        let outline = outline(&text);
        assert_eq!(outline.errors, [], "{}", path.display());
        let again = super::outline(&outline.skeleton);
        assert_eq!(again.errors, [], "{}", path.display());
        assert_eq!(listed(&text), listed(&outline.skeleton), "{}", path.display());
        assert_eq!(again.skeleton, outline.skeleton, "{}", path.display());
        let source: Vec<&str> = text.lines().collect();
        assert_eq!(outline.skeleton_lines.len(), outline.skeleton.lines().count());
        for (line, number) in outline.skeleton.lines().zip(&outline.skeleton_lines) {
            let head = line.split(['{', '(', '`', '"']).next().unwrap_or_default();
            assert!(source[number - 1].starts_with(head), "{}:{number}: {line}", path.display());
        }
        std::fs::write(skeletons.path().join(format!("{at}.go")), outline.skeleton).unwrap();
    }
    let gofmt = std::path::Path::new(&go(&["env", "GOROOT"])).join("bin/gofmt");
    let output = std::process::Command::new(gofmt).args(["-l", "-e"]).arg(skeletons.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_package_clause_needs_no_parser() {
    let named = [
        ("package p", Some("p")),
        ("\u{feff}// package no\n/* package no */\n//go:build ignore\n\npackage /* so */ main // yes\n", Some("main")),
        ("package\n\n\tп\nfunc package() {}", Some("п")),
        ("package func", None),
        ("package", None),
        ("/* package p", None),
        ("", None),
        ("const a = `package x`\n", None),
    ];
    for (text, name) in named {
        assert_eq!(package_clause(text), name, "{text:?}");
    }
}
