//! Matching as a whole: what matches, what is ambiguous, what is not found, and what a replacement changes.

use super::*;
use crate::lines::LineIndex;
use semdex_testing::rng::Rng;

fn search<'a>(text: &'a str, context: &'a str) -> Search<'a> {
    Search { text, context, replacement: "", autofix: 95, near_line: None, within: None, whole_lines: false }
}

/// The strategy and the text of the only place.
fn found(search: &Search) -> (Strategy, String) {
    match find(search) {
        Ok(Outcome::Found(hit)) => (hit.strategy, search.text[hit.span.start..hit.span.end].to_owned()),
        other => panic!("{other:?}"),
    }
}

fn missed(search: &Search) -> (Option<Hit>, String) {
    match find(search) {
        Ok(Outcome::NotFound { nearest, reason }) => (nearest, reason),
        other => panic!("{other:?}"),
    }
}

fn ambiguous(search: &Search) -> Vec<usize> {
    match find(search) {
        Ok(Outcome::Ambiguous(hits)) => {
            let lines = LineIndex::new(search.text);
            hits.iter().map(|hit| lines.line(hit.span.start)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn edit(text: &str, context: &str, replacement: &str) -> (Strategy, String) {
    match find(&Search { replacement, ..search(text, context) }) {
        Ok(Outcome::Found(hit)) => {
            let replaced = apply(text, &hit, context, replacement).unwrap();
            let Replaced { text: new, span, range } = &replaced;
            assert_eq!(new[..span.start], text[..range.start]);
            assert_eq!(new[span.end..], text[range.end..]);
            (hit.strategy, replaced.text)
        }
        other => panic!("{other:?}"),
    }
}

/// The text after the edit, if it is made.
fn made(search: &Search) -> Option<String> {
    match find(search) {
        Ok(Outcome::Found(hit)) => apply(search.text, &hit, search.context, search.replacement).ok().map(|it| it.text),
        _ => None,
    }
}

use Strategy::{Exact, Fuzzy, Indent, Whitespace};

#[test]
fn exact_wins_over_what_only_white_space_makes_equal() {
    let text = "f(a,b);\nf(a, b);\n  f(a, b);x\n";
    assert_eq!(found(&search(text, "f(a,b);")), (Exact, "f(a,b);".into()));
    assert_eq!(ambiguous(&search(text, "f( a,b);")), [1, 2, 3]);
    assert_eq!(ambiguous(&search(text, "f(a, b);")), [2, 3]);
    assert_eq!(ambiguous(&search("aaa", "aa")), [1, 1], "overlapping");
}

#[test]
fn near_line_decides_unless_it_is_a_tie() {
    let text = "x\ny\nx\ny\nx\n";
    let near = |line| find(&Search { near_line: Some(line), ..search(text, "x") }).unwrap();
    assert!(matches!(near(1), Outcome::Found(hit) if hit.span.start == 0));
    assert!(matches!(near(9), Outcome::Found(hit) if hit.span.start == 8));
    assert!(matches!(near(2), Outcome::Ambiguous(hits) if hits.len() == 3));
    let within = Search { within: Some(Span::new(3, 6)), ..search(text, "x") };
    assert!(matches!(find(&within).unwrap(), Outcome::Found(hit) if hit.span == Span::new(4, 5)));
}

#[test]
fn near_line_decides_only_where_every_measure_agrees() {
    let near =
        |text: &str, context: &str, line| find(&Search { near_line: Some(line), ..search(text, context) }).unwrap();
    let starts = |outcome: Outcome| match outcome {
        Outcome::Found(hit) => vec![hit.span.start],
        Outcome::Ambiguous(hits) => hits.iter().map(|hit| hit.span.start).collect(),
        other => panic!("{other:?}"),
    };
    // Lines 1 to 3 and 9 to 11.
    let text = format!("a1\nb1\nc1\n{}a1\nb1\nc1\n", "-\n".repeat(5));
    let second = text.rfind("a1").unwrap();
    for context in ["a1\nb1\nc1\n", "\ta1\n\tb1\n\tc1", "a1\nb1\nc1\n\n"] {
        assert_eq!(starts(near(&text, context, 5)).len(), 2, "as far from where both begin, {context:?}");
        assert_eq!(starts(near(&text, context, 6)).len(), 2, "as far from both, {context:?}");
        assert_eq!(starts(near(&text, context, 3)), [0], "in the first, {context:?}");
        assert_eq!(starts(near(&text, context, 7)), [second], "{context:?}");
    }
    // A long place contains lines that are nearer to the start of the next place.
    let long = "x\ny\n".repeat(4) + "z\n";
    let text = format!("{long}-\n{long}");
    assert_eq!(starts(near(&text, &long, 8)), [0]);
    assert_eq!(starts(near(&text, &long, 10)).len(), 2);
}

#[test]
fn a_block_takes_whole_lines() {
    let text = "old_value = 1;\nlet a = f(x);\n  value = 1;  \n";
    let whole = |context| Search { whole_lines: true, ..search(text, context) };
    assert_eq!(found(&whole("value = 1;\n")), (Indent, "value = 1;".into()));
    assert!(missed(&whole("f(x);\n")).0.is_some());
    assert!(missed(&whole("f( x );\n")).0.is_some());
    assert_eq!(found(&whole("let a = f(x);\n")), (Exact, "let a = f(x);\n".into()));
}

#[test]
fn line_endings_and_byte_order_marks() {
    let text = "\u{feff}one\r\ntwo\r\nthree\r\n";
    assert_eq!(found(&search(text, "one\ntwo")), (Exact, "one\r\ntwo".into()));
    assert_eq!(found(&search(text, "\u{feff}one\r\ntwo\r\n")), (Exact, "one\r\ntwo\r\n".into()));
    assert_eq!(edit(text, "two\n", "2\nzwei\n").1, "\u{feff}one\r\n2\r\nzwei\r\nthree\r\n");
    assert_eq!(edit(text, "one", "\u{feff}1").1, "\u{feff}1\r\ntwo\r\nthree\r\n");
    assert_eq!(edit(text, "three\n", "3").1, "\u{feff}one\r\ntwo\r\n3\r\n", "the final newline stays");
    assert_eq!(edit("a\nb\n", "b\r\n", "b\r\nc\r\n").1, "a\nb\nc\n");
    assert_eq!(edit("a\nb", "b\n", "c\n"), (Indent, "a\nc".into()));
    assert_eq!(edit("a\n", "a\n", "").1, "");
}

/// An agent sees the lines of such a file and sends newlines.
#[test]
fn a_carriage_return_alone_is_a_line_end_where_nothing_else_is() {
    let text = "one\rtwo\rthree\r";
    assert_eq!(edit(text, "two\nthree\n", "two\nnew\nthree\n"), (Exact, "one\rtwo\rnew\rthree\r".into()));
    assert_eq!(edit(text, "one\rtwo", "one\rTWO\rx").1, "one\rTWO\rx\rthree\r");
    assert_eq!(edit(text, "three", "3").1, "one\rtwo\r3\r");
}

#[test]
fn white_space_may_differ() {
    let text = "impl A {\n\tfn f(&self, a: u8) -> u8 {\n\t\tif a > 1 {   \n\n\t\t\ta\n\t\t}\n\t}\n}\n";
    let place = "if a > 1 {   \n\n\t\t\ta\n\t\t}";
    assert_eq!(found(&search(text, "    if a > 1 {\n\n        a\n    }\n")), (Indent, place.into()));
    assert_eq!(found(&search(text, "    if a > 1 {\n        a\n    }\n")), (Whitespace, place.into()), "blank lines");
    assert_eq!(found(&search(text, "if a > 1 { a }")), (Whitespace, place.into()), "wrapped");
    let call = "fn f (\n  &self,\n  a : u8\n) -> u8 {";
    assert_eq!(found(&search(text, call)), (Whitespace, "fn f(&self, a: u8) -> u8 {".into()));
}

#[test]
fn white_space_that_means_something_may_not_differ() {
    let strict = |text: &str, context: &str| {
        let outcome = find(&Search { autofix: 0, ..search(text, context) }).unwrap();
        assert!(matches!(outcome, Outcome::NotFound { .. }), "{context:?} in {text:?}: {outcome:?}");
    };
    strict("x = ab;", "x = a b;");
    strict("x = a b;", "x = ab;");
    strict("print(\"a  b\" );", "print(\"a b\");");
    strict("print(\"a b\" );", "print(\"ab\");");
    strict("print( 'a\tb');", "print('a b');");
    strict("a = b && c ;", "a = b & & c;");
    strict("a - -b ;", "a --b;");
    strict("f(b \"x\" );", "f(b\"x\");");
    strict("// see\nf( );", "// see f();");
    strict("f( ); // see\ng();", "f(); // see g();");
    strict("fab( c )", "b(c)");
    strict("/// a  b", "// a b");
    assert_eq!(found(&search("f( \"a  b\");", "f(\"a  b\");")).0, Whitespace);
    assert_eq!(found(&search("x=-1;", "x = -1;")).0, Whitespace);
    assert_eq!(found(&search("f(&'a  str, &'b str)", "f(&'a str, &'b str)")).0, Whitespace);
}

#[test]
fn indentation_that_is_structure_stays() {
    let text = "def f():\n    if x:\n        a()\n    b()\n";
    assert_eq!(found(&search(text, "  if x:\n    a()\n  b()\n")).0, Indent);
    assert_eq!(found(&search(text, "if x:\n    a()\nb()")).0, Indent);
    let (nearest, reason) = missed(&search(text, "    if x:\n        a()\n        b()\n"));
    assert!(nearest.is_some() && reason.contains("indentation has a meaning"), "{reason}");
}

#[test]
fn a_replacement_is_brought_to_the_place() {
    let text = "impl A {\n\tfn f() {\n\t\tone();\n\t}\n}\n";
    let (strategy, new) = edit(text, "    one();\n", "    if x {\n        two();\n    }\n");
    assert_eq!((strategy, new.as_str()), (Indent, "impl A {\n\tfn f() {\n\t\tif x {\n\t\t\ttwo();\n\t\t}\n\t}\n}\n"));
    let (_, new) = edit(text, "fn f() {\n  one();\n}", "fn f() {\n  one();\n\n  loop {\n    two();\n  }\n}");
    assert_eq!(new, "impl A {\n\tfn f() {\n\t\tone();\n\n\t\tloop {\n\t\t\ttwo();\n\t\t}\n\t}\n}\n");
    // Depths beyond those of the search text.
    let text4 = "mod m {\n    x {\n        a();\n        b();\n    }\n}\n";
    let (_, new) = edit(text4, "    a();\n    b();", "c();\n        d();");
    assert_eq!(new, "mod m {\n    x {\n    c();\n            d();\n    }\n}\n");
    // The first line lost its indentation, all later lines have it.
    let (_, new) = edit("m {\n\ta( );\n\tb();\n}\n", "a();\n\tb();", "a();\n\tc();\n\td();");
    assert_eq!(new, "m {\n\ta( );\n\tc();\n\td();\n}\n", "and what the edit leaves alone stays as it is");
    // A literal of many lines has its own indentation, but what looks like one may be none.
    let literal = made(&Search { replacement: "    q(`\n  a\n`);\n    two();\n", ..search(text, "    one();\n") });
    assert_eq!(literal, None);
    // An exact line that is deeper in the file than in the request.
    assert_eq!(edit("{\n    a();\n}\n", "a();", "if x {\n    b();\n}").1, "{\n    if x {\n        b();\n    }\n}\n");
    assert_eq!(edit("{\n    a();\n}\n", "a();", "b();\n    c();").1, "{\n    b();\n    c();\n}\n");
    assert_eq!(edit("{\n    a();\n}\n", "a();", "b();\n}\n\nfn f() {").1, "{\n    b();\n}\n\nfn f() {\n}\n");
}

#[test]
fn whole_lines_go_whole_and_blank_lines_come() {
    let text = "{\r\n\tone();\r\n\ttwo();\r\n}\r\n";
    assert_eq!(edit(text, "  two();\n", "").1, "{\r\n\tone();\r\n}\r\n");
    assert_eq!(edit(text, "  two();\n", "\n  three();\n\n").1, "{\r\n\tone();\r\n\r\n\tthree();\r\n\r\n}\r\n");
    assert_eq!(edit(text, "  one();\n  two();\n", "").1, "{\r\n}\r\n");
    assert_eq!(edit("{\r\n\tone();\r\n\r\n\ttwo();\r\n}\r\n", "  one();\n\n", "").1, "{\r\n\ttwo();\r\n}\r\n");
    assert_eq!(edit("f( a, b)", "f(a,", "").1, " b)");
}

#[test]
fn elisions_are_refused() {
    let text = "fn f() {\n    a();\n    b();\n}\n";
    for context in ["fn f() {\n    // ...\n}", "fn f() { ... }", "fn f() {\n    // existing code\n    b();"] {
        let error = find(&search(text, context)).unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
        assert!(error.detail.contains("elision"), "{}", error.detail);
    }
    assert_eq!(found(&search("a\n// ...\nb\n", "a\n// ...")).0, Exact);
    for context in ["", " \n\t", "\u{feff}"] {
        assert_eq!(find(&search(text, context)).unwrap_err().code, Code::InvalidRequest);
    }
}

#[test]
fn an_elision_is_no_line_of_a_place_that_is_merely_alike() {
    let lines = "    let first = prepare(input, options);\n    let second = compute(first, limit);\n    check(first, second);\n    finish(second, \"a long text\");\n";
    for elision in ["...", "// ...", "// existing code", "// … rest …", "[...]", "# ..."] {
        let elided = lines.replace("check(first, second);", elision);
        let text = format!("fn f() {{\n{lines}}}\n\nfn g() {{\n    {elision}\n}}\n");
        for autofix in [60, 80, 95] {
            let error = find(&Search { autofix, ..search(&text, &elided) }).unwrap_err();
            assert!(error.code == Code::InvalidRequest && error.detail.contains("line 3"), "{}", error.detail);
        }
        // Where the place has the same line, only equal lines match.
        let text = text.replace("check(first, second);", elision);
        assert_eq!(found(&search(&text, &elided)).0, Exact);
        assert!(find(&Search { autofix: 80, ..search(&text, &elided.replace("prepare", "prepar")) }).is_err());
    }
}

#[test]
fn a_brace_that_was_left_out_at_an_edge_is_not_written_twice() {
    let text =
        "fn f() {\n    if ready {\n        compute(first, second, third);\n    }\n}\n\nfn g() {\n    other();\n}\n";
    for lost in [
        "    if ready {\n        compute(frst, second, third);\n    \n",
        "    if ready {\n        compute(frst, second, third);\n    ",
        "    \n}\n\nfn g() {\n    othr();\n}\n",
    ] {
        let outcome = find(&Search { autofix: 80, ..search(text, lost) }).unwrap();
        assert!(matches!(outcome, Outcome::NotFound { nearest: Some(_), .. }), "{lost:?}: {outcome:?}");
    }
    // A blank line that the file also has, with other blanks on it.
    let (strategy, _) = found(&Search { autofix: 80, ..search(text, "    \nfn g() {\n    othr();\n}\n") });
    assert_eq!(strategy, Fuzzy);
}

const RUST: &str = "\
impl Store {
    pub fn open(path: &Path, options: &Options) -> Result<Store> {
        let file = File::open(path)?;
        let mut store = Store::with_capacity(options.capacity);
        store.load(&file)?;
        Ok(store)
    }

    pub fn insert(&mut self, key: Key, value: Value) -> Option<Value> {
        self.dirty = true;
        self.entries.insert(key, value)
    }
}
";

#[test]
fn what_is_alike_is_found() {
    let context = "    pub fn insert(&mut self, key: Key, val: Value) -> Option<Value> {\n        self.dirty = true;\n";
    let (strategy, place) = found(&search(RUST, context));
    assert_eq!((strategy, place.lines().count()), (Fuzzy, 2));
    assert!(place.starts_with("pub fn insert") && place.ends_with("true;"));
    let (nearest, reason) = missed(&Search { autofix: 99, ..search(RUST, context) });
    assert!(nearest.unwrap().score > 95.0);
    assert!(reason.contains("line 1 says `pub fn insert(&mut self, key: Key, val: Value)"), "{reason}");
    assert!(reason.contains("the file has `pub fn insert(&mut self, key: Key, value: Value)"), "{reason}");
    assert!(reason.contains("(line 9)") && reason.contains("`autofix` asks for 99"), "{reason}");
    let (_, reason) = missed(&Search { autofix: 0, ..search(RUST, context) });
    assert!(reason.contains("`autofix` is 0"), "{reason}");
    // The reported text is the one that a lower threshold would replace.
    let text = "fn twice(a: i32) -> i32 {\n    add(a, a)\n}\n";
    let (nearest, reason) = missed(&Search { autofix: 90, ..search(text, "ad(a, a)") });
    assert_eq!(&text[nearest.unwrap().span.start..nearest.unwrap().span.end], "add(a, a)", "{reason}");
    assert_eq!(found(&Search { autofix: 88, ..search(text, "ad(a, a)") }).1, "add(a, a)");
}

#[test]
fn the_extent_of_what_is_alike_is_never_guessed() {
    let spans = |text: &str, context: &str, autofix: u8| found(&Search { autofix, ..search(text, context) }).1;
    // The file has one more line before the closing bracket, or one pair of brackets less.
    let long = "let first_value = compute_the_first_value(input, options);";
    let text = format!("fn f() {{\n  {long}\n  g();\n  h();\n}}\n}}\n");
    let context = format!("fn f() {{\n  {long}\n  g();\n}}");
    assert!(text.starts_with(&spans(&text, &context, 80)));
    // A part of a line, and the semicolon after it.
    let text = format!("    {long} // why\n");
    assert_eq!(spans(&text, &long.replace("first_v", "frst_v"), 90), long);
    assert_eq!(spans(&text, &long.trim_end_matches(';').replace("first_v", "frst_v"), 90), long.trim_end_matches(';'));
    // The last word is misspelt and the line continues: the place ends with that word. If it is a different word, the
    // end is unknown.
    let line = "let total_of_all = base + offset;\n";
    assert_eq!(spans(line, "let total_of_all = base + ofset", 80), line.trim_end_matches([';', '\n']));
    let (nearest, reason) = missed(&Search { autofix: 80, ..search(line, "let total_of_all = base + other") });
    assert!(nearest.is_some() && reason.contains("extent is doubtful"), "{reason}");
}

/// A search text with errors in words, signs and white space at the same time is still found.
#[test]
fn slips_and_white_space_at_once() {
    let block = "        self.dirty = true;\n        self.entries.insert(key, value)\n    }\n";
    let slips: [(&str, &str); 12] = [
        ("entries", "entires"),
        ("insert(key", "insret(key"),
        ("value)", "value"),
        (", value", ". value"),
        (", value", " value"),
        ("true;", "true:"),
        ("true;", "true"),
        ("self.dirty", "self,dirty"),
        ("self.dirty", "selfdirty"),
        ("dirty", "dir ty"),
        ("(key", "((key"),
        ("key, value", "kay, valeu"),
    ];
    let layouts: [fn(&str) -> String; 6] = [
        str::to_owned,
        |it| it.replace("    ", "\t"),
        |it| it.replace("        ", "  ").replace("    ", ""),
        |it| it.replace(" = ", "  =  "),
        |it| it.replace('\n', "  \n"),
        |it| it.trim_start().to_owned(),
    ];
    for (word, slip) in slips {
        for layout in layouts {
            let context = layout(&block.replacen(word, slip, 1));
            let (_, place) = found(&Search { autofix: 90, ..search(RUST, &context) });
            assert_eq!(place, block.trim(), "{context:?}");
        }
    }
    // A lower threshold also accepts text that differs more.
    let drifted = block.replace("dirty", "dirtyy").replace("entries", "entrys").replace("insert", "inserts");
    assert_eq!(found(&Search { autofix: 85, ..search(RUST, &drifted) }).1, block.trim());
    assert!(missed(&search(RUST, &drifted)).1.contains("`autofix` asks for 95"));
}

#[test]
fn what_declares_another_name_or_has_another_number_is_a_neighbour() {
    let text = RUST.to_owned() + "const LIMIT_OF_ENTRIES: usize = 4096;\n";
    let context = RUST.lines().skip(8).take(3).collect::<Vec<_>>().join("\n").replace("fn insert", "fn remove");
    assert!(missed(&Search { autofix: 80, ..search(&text, &context) }).1.contains("declares another name"));
    let context = "const LIMIT_OF_ENTRIES: usize = 1234;\n";
    assert!(missed(&Search { autofix: 80, ..search(&text, context) }).1.contains("another number"));
}

/// An edit that repeats a wrongly recalled line does not change that line.
#[test]
fn a_slip_in_a_line_that_the_edit_leaves_alone_is_not_written() {
    let context = "        self.dirti = true;\n        self.entries.insert(key, value)\n";
    let replacement = "        self.dirti = true;\n        self.entries.replace(key, value)\n";
    let replaced = edit(RUST, context, replacement);
    assert_eq!(replaced, (Fuzzy, RUST.replace("entries.insert(", "entries.replace(")));
}

#[test]
fn indentation_that_is_structure_stays_where_words_are_misspelt_too() {
    let text = "def compute(values):\n    if len(values) > 1:\n        check(values)\n    finish(values)\n";
    let shifted = "  if len(valeus) > 1:\n    check(values)\n  finish(values)\n";
    assert_eq!(found(&search(text, shifted)).0, Fuzzy);
    let other = "    if len(valeus) > 1:\n        check(values)\n        finish(values)\n";
    assert!(missed(&search(text, other)).1.contains("indentation has a meaning"));
}

#[test]
fn a_blank_first_line_that_is_gone_is_not_the_end_of_the_line_above() {
    let text = "a(); // theirs\nb();\nc();\n";
    for (context, replacement, wanted) in [
        ("\nb();\n", "x();\n\nb();\n", Some("a(); // theirs\nx();\n\nb();\nc();\n")),
        ("\nb();\n", "\nB();\n", Some("a(); // theirs\nB();\nc();\n")),
        ("\nb();", "", Some("a(); // theirs\nc();\n")),
        ("\nb();\n", "", None),
    ] {
        let search = Search { replacement, ..search(text, context) };
        let Ok(Outcome::Found(hit)) = find(&search) else { panic!("{context:?} {replacement:?}") };
        let made = apply(text, &hit, context, replacement).unwrap().text;
        assert!(made.starts_with("a(); // theirs\n") && wanted.is_none_or(|it| it == made), "{made:?}");
    }
}

#[test]
fn a_neighbour_is_told_apart_by_one_letter_or_number() {
    for (asked, there) in [
        ("def handle_a(x):\n    check(x)\n    return done(x)\n", "def handle_b(x):"),
        ("func HandleA(x int) {\n\tcheck(x)\n\tdone(x)\n}\n", "func HandleB(x int) {"),
        ("    Kind::A => {\n        check(value);\n        done(value)\n    }\n", "    Kind::B => {"),
        ("    case \"a\":\n        check(value)\n        done(value)\n", "    case \"b\":"),
        ("  it('handles a', () => {\n    check(value);\n    done(value);\n  });\n", "  it('handles b', () => {"),
        ("  \"userA\": {\n    \"name\": \"somebody\",\n    \"roles\": []\n  },\n", "  \"userB\": {"),
        (".btn-a {\n  color: red;\n  margin: 1px;\n}\n", ".btn-b {"),
        ("- name: web\n  image: nginx\n  restart: always\n", "- name: web2"),
        ("## The version A of the format\n", "## The version B of the format"),
        ("<section id=\"tab1\" class=\"wide\">\n", "<section id=\"tab2\" class=\"wide\">"),
    ] {
        let text = asked.replacen(asked.lines().next().unwrap(), there, 1);
        let (_, reason) = missed(&Search { autofix: 80, ..search(&text, asked) });
        assert!(reason.contains("another name") || reason.contains("another number"), "{asked}: {reason}");
    }
}

#[test]
fn several_slips_in_a_long_file() {
    let line = |at: usize| format!("    let value_{at} = compute_{}(input_{}, {});\n", at % 97, at % 31, at % 7);
    let text: String = (0..10_000).map(line).collect();
    let block: String = (5_000..5_006).map(line).collect();
    let context =
        block.replacen("value_5001", "valeu_5001", 1).replacen("compute", "comptue", 1).replacen("(input", "input", 1);
    let (strategy, place) = found(&search(&text, &context));
    assert_eq!((strategy, place.as_str()), (Fuzzy, block.trim()));
}

#[test]
fn a_bracket_that_was_mistyped_inside_is_no_doubt() {
    let context = RUST.lines().skip(1).take(6).collect::<Vec<&str>>().join("\n").replace("(path)?", "(path?");
    assert_eq!(found(&search(RUST, &context)).0, Fuzzy);
}

#[test]
fn a_near_copy_of_what_is_meant_is_not_taken() {
    let block = |name: &str, line: &str| {
        format!(
            "fn {name}() {{\n    let value = compute(1, 2, 3);\n{line}    check(value, 17, \"a long text\");\n    again(value, 18, \"a long text\");\n}}\n"
        )
    };
    let text = block("with_git", "") + &block("with_jj", "    let second_value = compute(1, 2, 4);\n");
    let (_, reason) = missed(&search(&text, &block("with_jj", "")));
    assert!(reason.contains("it declares another name"), "{reason}");
}

#[test]
fn near_duplicates_are_ambiguous() {
    let block = |name: &str| {
        format!("on(|it| {{\n    prepare(1, 2, 3);\n    let value = compute(\"{name}\");\n    check(value, 17);\n}})\n")
    };
    let text = [block("one"), block("two"), block("six")].concat();
    let context = block("two").replace("prepare", "prepar");
    assert_eq!(found(&search(&text, &context)).1, block("two").trim_end(), "it is clearly nearer");
    let context = block("ten").replace("prepare", "prepar");
    let lines = ambiguous(&Search { replacement: "x", autofix: 80, ..search(&text, &context) });
    assert_eq!(lines.len(), 3);
    let near = Search { replacement: "x", autofix: 80, near_line: Some(12), ..search(&text, &context) };
    assert_eq!(found(&near).1, block("six").trim_end());
}

#[test]
fn a_change_that_was_made_before_is_recognised() {
    let text = "fn f() {\n    g(a, b);\n}\n";
    assert_eq!(stands_in(text, "g( a, b );"), Some(Span::new(13, 21)));
    assert_eq!(stands_in(text, "}"), None);
    assert_eq!(stands_in(text, "g(a, c);"), None);
}

#[test]
fn the_nearest_text_comes_with_a_diff() {
    let (nearest_hit, _) = missed(&Search { autofix: 99, ..search(RUST, "        let file = File::create(path)?;\n") });
    let nearest = nearest(RUST, "a.rs", "        let file = File::create(path)?;\n", &nearest_hit.unwrap());
    assert_eq!((nearest.place.line, nearest.text.as_str()), (3, "let file = File::open(path)?;"));
    assert!(nearest.diff.contains("\n-        let file = File::create(path)?;"), "{}", nearest.diff);
    assert!(nearest.diff.contains("\n+        let file = File::open(path)?;"), "{}", nearest.diff);
}

#[test]
fn several_patches_at_once() {
    let patch = |start, end, text: &str| Patch { range: Span::new(start, end), text: text.into() };
    let (new, spans) = apply_all("abcdef", &[patch(4, 5, "EE"), patch(0, 1, ""), patch(2, 2, "x")]).unwrap();
    assert_eq!((new.as_str(), spans), ("bxcdEEf", vec![Span::new(4, 6), Span::new(0, 0), Span::new(1, 2)]));
    let error = apply_all("abcdef", &[patch(2, 4, ""), patch(0, 3, "")]).unwrap_err();
    assert_eq!((error.code, error.help.edit), (Code::InvalidRequest, Some(1)));
}

/// For all texts: no panic, exactly the reported range is replaced, and only existing places are found.
#[test]
fn any_text_at_all() {
    let mut rng = Rng::new(1);
    let alphabet = "ab(){}\"'`/*#.;:=-+ß𝒳…\u{feff}\t\r\n   \n\\";
    for round in 0..6000 {
        let text = rng.text(alphabet, 80);
        let context = match round % 3 {
            0 => rng.text(alphabet, 20),
            1 => {
                let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (a, b) = (*rng.pick(&cuts), *rng.pick(&cuts));
                rng.perturb(&text[a.min(b)..a.max(b)], 2)
            }
            _ => rng.perturb(&text, 3).replace(' ', "\n "),
        };
        let autofix = rng.below(101) as u8;
        let near_line = (rng.below(3) == 0).then(|| rng.below(9));
        let search = Search {
            text: &text,
            context: &context,
            replacement: "",
            autofix,
            near_line,
            within: None,
            whole_lines: rng.below(3) == 0,
        };
        let Ok(outcome) = find(&search) else { continue };
        let hits = match outcome {
            Outcome::Found(hit) => {
                let least = if hit.strategy == Fuzzy { f64::from(autofix) } else { 0.0 };
                assert!(hit.score >= least, "{search:?} {hit:?}");
                let replacement = rng.text(alphabet, 20);
                let Ok(Replaced { text: new, span, range }) = apply(&text, &hit, &context, &replacement) else {
                    continue;
                };
                assert_eq!(new[..span.start], text[..range.start]);
                assert_eq!(new[span.end..], text[range.end..]);
                vec![hit]
            }
            Outcome::Ambiguous(hits) => hits,
            Outcome::NotFound { nearest, .. } => nearest.into_iter().collect(),
        };
        for hit in hits {
            let place = &text[hit.span.start..hit.span.end];
            let score = crate::score::score(&context.replace('\u{feff}', ""), &place.replace('\u{feff}', ""));
            if !context.contains('\u{feff}') && !place.contains('\u{feff}') {
                assert!((score - hit.score).abs() < 1e-9, "{search:?} {hit:?} {score}");
            }
        }
    }
}

#[test]
fn what_was_lost_at_the_beginning_of_a_line_is_no_indentation() {
    let text = "impl A {\n    fn a(\n        matches: &mut Vec<usize>,\n    ) {\n        let input = input(candidate);\n        for i in patset.iter() {\n";
    let asked = "        matches: &mut Vec<usize>,\n     {\n        let input = input(candidate);\n        for i in patset.iter() {\n";
    let new = "        matches: &mut Vec<usize>,\n    ) {\n        let patset = self.find_matches(candidate);\n        for i in patset.iter() {\n";
    let wanted = "impl A {\n    fn a(\n        matches: &mut Vec<usize>,\n    ) {\n        let patset = self.find_matches(candidate);\n        for i in patset.iter() {\n";
    assert_eq!(edit(text, asked, new), (Fuzzy, wanted.into()));
}

#[test]
fn a_line_is_taken_whole_where_a_part_of_it_is_no_nearer() {
    let text = "# Log\n\n## [0.1.14](https://example.com/compare/a...b) - 2026-09-25\n\n### Other\n";
    let (strategy, place) = found(&search(text, "#_ [0.1.14](https://example.com/compare/a...b) - 2026-09-25\n\n"));
    assert_eq!(
        (strategy, place.lines().next()),
        (Fuzzy, Some("## [0.1.14](https://example.com/compare/a...b) - 2026-09-25"))
    );
}

#[test]
fn a_line_with_a_bracket_alone_that_the_search_text_has_blank_is_not_left_behind() {
    let text = "var (\n\texporter unsafe.Pointer\n)\n\n// Sets.\n";
    let (_, reason) = missed(&search(text, "var (\n\texporeter unsafe.Pointer\n\n\n"));
    assert!(reason.contains("first or last line"), "{reason}");
    // Its last line is empty, and the replacement's last line has a bracket.
    let text = "fn f() {\n    g(|error| Finding {\n        message: error.message.clone(),\n    })\n}\n\nfn h() {}\n";
    let asked = "fn f() {\n    g(|error| Fin ding {\n        message: error.mesage.clone(),\n    })\n";
    let search = Search { replacement: "fn f() {}\n\nfn i() {\n}", autofix: 90, ..search(text, asked) };
    assert_eq!(made(&search), None);
}

#[test]
fn a_bracket_above_is_no_part_of_a_place_that_begins_with_one() {
    let text = "fn f() {\n    match g() {\n        Some(a) => {\n            if a {\n                return Err(b);\n            }\n        }\n        Ok(None) => Ok(None),\n        Err(e) => {\n            stderr_forwarder.forward_all();\n            Err(Error::new(\n                ErrorKind::ToolExecError,\n                format!(\"failed to wait on spawned child process `{cmd:?}`: {e}\"),\n            ))\n        }\n    }\n}\n";
    let asked = "        }\n        OOk(None) => Ok(None),\n        Err(e) => {\n            stderr_forwarder..forward_all();\n            Err(Error::new(\n                ErroeerKind::ToolExecError,\n                format!(\"failed to wait on spawned child process `{cmd:?}`: {e}}\"),\n            ))\n";
    let new = "        }\n        Ok(None) => Ok(None),\n        Err(e) => {\n            stderr_forwarder.forward_all(cmd);\n            Err(Error::new(\n                ErrorKind::ToolExecError,\n                format!(\n                    \"failed to wait on spawned child process `{}`: {e}\",\n                    CommandLine(cmd)\n                ),\n            ))\n";
    let search = Search { replacement: new, ..search(text, asked) };
    match find(&search).unwrap() {
        Outcome::Found(hit) => assert!(text[hit.span.start..].starts_with("}\n        Ok(None)"), "{hit:?}"),
        Outcome::NotFound { .. } => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_copy_is_not_taken_where_the_place_itself_is_nearer() {
    let text = "//! Shows whether it is a nightly.\n//!\n//! * Check that the running compiler was released on or after some date:\n//!\n//!   ```rust\n//!   match is_min_date(\"2018-12-18\") {\n//!       None => \"couldn't query compiler information!\",\n//!   };\n//!   ```\n//!\n//!   See [`is_max_date`] or [`is_exact_date`] to check if the compiler was\n//!   released _prior to_ or _exactly on_ a certain date.\n//!\n//! * Check that the running compiler supports feature flags:\n//!\n\nfn f() {}\n//!\n//!   See [`is_max_date`] or [`is_exact_date`] to check if the compiler was\n//!   released _prior to_ or _exactly on_ a certainZz date.\n\n/// Checks that.\n";
    let asked = "//!\n//!   See [`is_max_date`] or [`is_exact_date`] to check if the compiler was\n//!   released _prior to_ or _exactly on_ a certain thedate.\n";
    let new = "//!\n//!   See [`is_max_date`] or [`is_exact_date`] to check if the compiler was\n//!   released _prior to_ or _exactly on_ a certain date.\n//!   <br /><br />\n";
    match find(&Search { replacement: new, ..search(text, asked) }).unwrap() {
        Outcome::Found(hit) => assert!(text[..hit.span.end].ends_with("a certain date."), "{hit:?}"),
        Outcome::Ambiguous(_) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_misspelt_line_that_moves_is_not_written() {
    let text = "f() {\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tconf.Create(f)\n\n\tversion := gcimporter.IExportVersion\n\tif err != nil {\n\t\tt.Error(err)\n\t}\n\tnumPkgs := len(sorted)\n}\n";
    let asked = "\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tconf.Create(f)\n\n\tversion := gcimporter.IExpotVersion\n\tif err != nil {\n\t\tt.Error(err)\n\t}\n\tnumPkgs := len(sorted)\n";
    let new = "\tversion := gcimporter.IExpotVersion\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tconf.Create(f)\n\n\tif err != nil {\n\t\tt.Error(err)\n\t}\n\tnumPkgs := len(sorted)\n";
    let edited = made(&Search { replacement: new, ..search(text, asked) });
    assert_eq!(edited, None, "what both texts misspell is not written");
}

#[test]
fn what_only_looks_like_a_lost_bracket_is_no_reason_to_refuse() {
    let text = "fn f() {\n    let value = compute(first_argument, second_argument);\n}\n";
    let asked = "    let vale = compute(first_argument, second_argument);\n";
    let wanted = "fn f() {\n    let value = compute(other);\n}\n";
    assert_eq!(edit(text, asked, "    let value = compute(other);"), (Fuzzy, wanted.into()));
    let text = "    let value = compute(first_argument);\n    \n    let other = compute(second_argument);\n    }\n";
    let asked = text.replace("value", "vale").replace("    }\n", "");
    let new = text.replace("    }\n", "").replace("let other", "if ready {\n        let other");
    let (strategy, edited) = edit(text, &asked, &new);
    assert_eq!((strategy, edited), (Fuzzy, new + "    }\n"));
}

#[test]
fn indentation_with_a_meaning_is_compared_below_a_first_line_that_begins_otherwise() {
    let text = "class A:\n    @cache\n    def f(self):\n        return 1\n";
    let (_, reason) = missed(&search(text, "    cache\n    def f(self):\n    return 1\n"));
    assert!(reason.contains("indentation has a meaning"), "{reason}");
}

#[test]
fn a_miss_with_an_elision_of_the_file_tells_the_nearest() {
    let text = "class A:\n    def f(self):\n        ...\n";
    let (nearest, reason) = missed(&search(text, "class A:\n    def funct(self):\n        ...\n"));
    assert!(nearest.is_some() && !reason.contains("elision"), "{reason}");
}

#[test]
fn a_bracket_that_both_texts_have_wrong_moves_no_edge() {
    let text = "match event {\n    Event::Stop => {\n        if last {\n            return;\n        }\n    }\n    Event::Change { change, reply } => {\n        reply.send(self.propose(*change));\n    }\n    Event::Fix { edits, reply } => {\n        fix(edits);\n    }\n}\n";
    let asked = "        }\n    }\n    Event::Change { change, reply } => {\n        reply.send(self.propose(*change));\n    }\n    Event::Fix { edits, reply : => {\n";
    let new = asked.replace("    Event::Change", "    Event::None => {}\n    Event::Change");
    let wanted = text.replace("    Event::Change", "    Event::None => {}\n    Event::Change");
    assert_eq!(edit(text, asked, &new), (Fuzzy, wanted));
    let text = "impl Trouble {\n    pub fn unreachable(detail: impl Into<String>) -> Trouble {\n        Trouble { detail: detail.into(), lasts: Lasts::Unreachable }\n    }\n}\n";
    let asked = "    pub fn unreachable(detail: impl Into<String>) -> Trouble ;\n        Trouble { detail: detail.into(), lasts: Lasts::Unreachable }\n";
    let new = format!("    /// It could not be reached.\n{asked}");
    let wanted = text.replace("    pub fn", "    /// It could not be reached.\n    pub fn");
    assert_eq!(edit(text, asked, &new), (Fuzzy, wanted));
}

/// The edit itself changes the brackets: then no searched line is left out, and no other line is added.
#[test]
fn an_edit_that_closes_more_or_less_does_not_move_where_its_place_begins_and_ends() {
    let text = "    quote! {\n        if skip {\n            call(first_argument, second_argument, third_argument);\n        }\n    }\n}\n";
    let asked =
        "        if skp {\n            call(first_argument, second_argument, third_argument);\n        }\n    }\n";
    let new = "    if skip {\n        call(first_argument, second_argument, third_argument);\n    }\n";
    let outcome = made(&Search { replacement: new, ..search(text, asked) });
    assert!(outcome.as_ref().is_none_or(|it| !it.contains("    }\n    }")), "{outcome:?}");
    let text = "fn f() {\n    {\n        all.map(|it| {\n            {\n            }\n        })\n        .collect()\n}\n\nfn wrap_the_field_with(\n    params: &Parameters,\n";
    let asked = "            }\n        })\n        .collect_new()\n}\n\nfn wrap_the_field_with(\n";
    let new = "            }\n        });\n    }\n    all_fields\n}\n}\n\nfn wrap_the_field_with(\n";
    let outcome = made(&Search { replacement: new, autofix: 85, ..search(text, asked) });
    assert!(outcome.as_ref().is_none_or(|it| it.contains("            {\n            }\n        });")), "{outcome:?}");
}

#[test]
fn a_sign_that_stands_too_late_does_not_cut_the_line() {
    let text = ")]\n\n#[rustfmt::skip]\nmod tables;\n\nuse crate::tables::{ASCII_CONTINUE, ASCII_START, CHUNK};\n";
    let asked = "[#rustfmt::skip]\nmod tables;\n\nuse crate::tables::{ASCII_CONTINUE, ASCII_START, CHUNK};\n";
    let new = asked.replace("use", "pub use crate::tables::VERSION;\nuse");
    let wanted = text.replace("use", "pub use crate::tables::VERSION;\nuse");
    assert_eq!(edit(text, asked, &new), (Fuzzy, wanted));
}

#[test]
fn a_first_line_that_the_place_does_not_have_is_not_passed_over() {
    let line = |name: &str, value: usize| format!("pub const {name}: ::c_int = {value};\n");
    let names =
        ["O_DIRECT", "O_DIRECTORY", "O_NOFOLLOW", "MAP_HUGETLB", "MAP_LOCKED", "MAP_ANON", "MAP_STACK", "EUCLEAN"];
    let rest: String = (0..5).flat_map(|round| names.map(|it| line(&format!("{it}{round}"), 1000 + round))).collect();
    let text = format!("pub const __SIZEOF_PTHREAD_BARRIERATTR_T: usize = 4;\n{rest}");
    let asked = format!("pub const Quux: usize = 4;\n{rest}");
    let (_, reason) = missed(&search(&text, &asked));
    assert!(reason.contains("first or last line"), "{reason}");
}

#[test]
fn nothing_is_deleted_that_was_called_otherwise() {
    let text = "impl ToTokens for AttrValue {\n    fn to_tokens(&self, tokens: &mut TokenStream) {\n        match self {\n            Self::Expr(t) => t.to_tokens(tokens),\n        }\n    }\n}\n";
    let asked = "    fn to_tokens(&self, tokens: &mut TokenStream) {\n        match self {\n            Self::LitStr(t) => t.to_tokens(tokens),\n";
    let new = "    fn to_tokens(&self, tokens: &mut TokenStream) {\n        match self {\n";
    assert_eq!(made(&Search { replacement: new, autofix: 90, ..search(text, asked) }), None);
    let misspelt = asked.replace("LitStr", "Exper");
    let left = text.replace("            Self::Expr(t) => t.to_tokens(tokens),\n", "");
    // A misspelt line that the edit removes may be another one as well.
    let made = made(&Search { replacement: new, ..search(text, &misspelt) });
    assert!(made.is_none_or(|it| it == left));
}

#[test]
fn a_place_that_is_not_good_enough_hides_none_that_is() {
    const BLOCK: &str = r#"    #[cfg(web_sys_unstable_apis)]
    #[wasm_bindgen(method, {access}, js_class = "USB", js_name = "{name}")]
    #[doc = "{access} for the `{name}` field of this object."]
    #[doc = ""]
    #[doc = "[MDN Documentation](https://developer.mozilla.org/en-US/docs/Web/API/USB/{name})"]
    #[doc = ""]
    #[doc = "*This API requires the following crate features to be activated: `Usb`*"]
    #[doc = ""]
    #[doc = "*This API is unstable and requires `--cfg=web_sys_unstable_apis` to be activated, as"]
    #[doc = "[described in the `wasm-bindgen` guide](https://wasm-bindgen.github.io/wasm-bindgen/web-sys/unstable-apis.html)*"]
"#;
    const GETTER: &str = "    pub fn {name}(this: &Usb) -> Option<::js_sys::Function>;\n";
    const SETTER: &str = "    pub fn set_{name}(this: &Usb, value: Option<&::js_sys::Function>);\n";
    let of = |name: &str| {
        let block = |access: &str, function: &str| BLOCK.replace("{access}", access) + function;
        (block("getter", GETTER) + &block("setter", SETTER)).replace("{name}", name)
    };
    let text = of("onconnect") + &of("ondisconnect");
    let asked = r#"    #[mydoc = ""]
    #[doc = "*This API is unstable and requires `--cfg=web_sys_unstable_apis` to be activated, as"]
    #[doc = "[thedescribed in the `wasm-bindgen` guide](https://wasm-bindgen.github.io/wasm-bindgen/web-sys/unstab-apis.html)*"]
    pub fn onconnect(this: &Usb) -> Optio<::js_sys::Function>;
    #[cfg(web_sys_unstable_apis)]
    #[wasm_bindgen(method, setter, js_class = "USB", js_name = "onconnect")]
    #[doc = "setter for the `onconnect` field of this object."]
    #[doc = ""]
"#;
    let (_, place) = found(&Search { replacement: "x", ..search(&text, asked) });
    assert!(place.contains("pub fn onconnect"), "{place}");
}

#[test]
fn a_line_beside_a_worse_place_does_not_choose_it() {
    let block = |name: &str| {
        format!(
            "#[wasm_bindgen(method, js_class = \"DOMMatrixReadOnly\", js_name = \"{name}\")]\n#[doc = \"The `{name}()` method.\"]\n"
        )
    };
    let text = [block("flipX"), block("flipY"), block("flipX")].join("fn f() {}\n");
    let asked = block("flipX").replacen("flipX", "fliXp", 1);
    let near = |line| find(&Search { replacement: "x", near_line: Some(line), ..search(&text, &asked) }).unwrap();
    assert!(matches!(near(4), Outcome::Ambiguous(hits) if hits.len() == 3));
    let first = near(1);
    assert!(matches!(&first, Outcome::Found(hit) if hit.span.start == 0), "{first:?}");
}

#[test]
fn a_blank_that_was_lost_or_added_moves_no_line() {
    let text = "steps:\n  - name: first\n  - uses: actions/upload-artifact@v4\n";
    let asked = "   uses: actions/upload-artifct@v4\n";
    let wanted = text.replace("v4", "v7");
    let new = "  - uses: actions/upload-artifact@v7\n";
    assert_eq!(made(&Search { replacement: new, autofix: 85, ..search(text, asked) }), Some(wanted));
    let text = "    (\n        /// Not a part of the body: the path of the call names it.\n        pub file: String,\n    } }\n";
    let asked =
        "        /// Not a part of the body: the path of the call thenames it.\n        pub file: String,\n   } }\n";
    let new =
        "        /// Not a part of the body: the path of the call names it.\n        pub $field: String,\n    } }\n";
    assert_eq!(edit(text, asked, new), (Fuzzy, text.replace(" file", " $field")));
}

#[test]
fn what_has_lost_its_indentation_does_not_move_the_lines_below_it() {
    let text = "    fn size_hint(&self) -> (usize, Option<usize>) {\n        let (low, hi) = self.iter.size_hint();\n        ((low > 0 && self.used.is_empty()) as usize, hi)\n    }\n";
    let asked = "let (low, hi) , self.iter.size_hint();\n        ;(low > 0 && self.used.is_empy()) as usize, hi)";
    let new = "let (low, hi) = self.iter.size_hint();\n        (usize::from(low > 0 && self.used.is_empty()), hi)";
    assert_eq!(
        made(&Search { replacement: new, ..search(text, asked) }),
        None,
        "the edit rewrites the signs that differ"
    );
    let text =
        "        assert_eq!(\n            guess_target(\"x86_64\", \"unknown\", \"linux\", \"gnu\", \"eabi\"),\n";
    let asked = "guess_target(\"x86_64\", \"unknown\", \"linux\", \"gnu\", \"myeabi\"),";
    let new = "TargetInfo {\n                arch: \"x86_64\",\n            }\n            .target(\"invalid\", None),";
    let made = made(&Search { replacement: new, ..search(text, asked) });
    assert!(made.is_none_or(|it| it == format!("        assert_eq!(\n            {new}\n")));
}

#[test]
fn a_bracket_alone_tells_no_indentation_where_lines_are_wrapped() {
    let text = "fn f() {\n    if start == bytes.len() {\n        return Ok(());\n    }\n\n    formatter.write_string_fragment(writer, &value[start..])\n}\n";
    let asked = "        return Ok(());\n    :\n\n    formatter.write_straing_fragment(writer,\n&value[start..])\n}\n";
    let new = "        return Ok(());\n    }\n\n    formatter.write_string_fragment(writer, string_run)\n}\n";
    assert_eq!(edit(text, asked, new), (Fuzzy, text.replace("&value[start..]", "string_run")));
}

#[test]
fn what_is_left_of_a_line_does_not_stand_there_twice() {
    let text =
        "use std::path::{Path, PathBuf};\n\nuse super::names::{GitPath, Naming, text};\nuse super::program::Run;\n";
    let asked = "use std::path::{Path,\nPathBuf};\n\nuse super::names::{GitPath,\nNaming, text;}";
    let new = "use std::path::{Path, PathBuf};\n\nuse super::end::End;\nuse super::names::{GitPath, Naming, text};";
    let outcome = made(&Search { replacement: new, ..search(text, asked) });
    assert!(outcome.as_ref().is_none_or(|it| !it.contains(";;")), "{outcome:?}");
}

/// The file was changed after its author read it: what the edit does not change stays, and what both change is refused.
#[test]
fn the_place_is_what_the_file_has_and_not_what_is_remembered() {
    let place = "pub fn settle(ledger: &mut Ledger, account: u64, amount: i64) -> Result<i64, Fault> {\n    let before = ledger.balance_of(account);\n    let floor = ledger.lowest_allowed(account);\n    if before + amount < floor && !ledger.is_exempt(account) {\n        return Err(Fault::Overdrawn(account));\n    }\n    ledger.write_entry(account, amount);\n    ledger.mark_changed(account);\n    Ok(after)\n}\n";
    let others: [(&str, &str); 5] = [
        ("amount < floor", "amount <= floor"),
        ("amount: i64", "amount: i32"),
        ("floor &&", "floor ||"),
        ("    ledger.mark_changed(account);\n", ""),
        ("    ledger.mark_changed", "    audit(account)?;\n    ledger.mark_changed"),
    ];
    for (old, new) in others {
        let file = place.replacen(old, new, 1);
        for (mine, my_new) in [("Ok(after)", "Ok(after.max(0))"), ("account: u64,", "owner: u64,")] {
            let edit = place.replacen(mine, my_new, 1);
            let result = made(&Search { replacement: &edit, autofix: 85, ..search(&file, place) });
            assert_eq!(result.as_deref(), Some(&*file.replacen(mine, my_new, 1)), "{new:?} {my_new:?}");
        }
        let gone = made(&Search { replacement: "pub fn settle() {}\n", autofix: 85, ..search(&file, place) });
        assert_eq!(gone, None, "their change would be lost: {new:?}");
    }
}

/// Signs and white space that an author recalls otherwise stay as the file has them, or the edit is refused.
#[test]
fn what_both_texts_have_otherwise_than_the_file_stays_or_is_refused() {
    let cases = [
        (
            "range 3\u{2013}5 of the rows of the table \u{2014} read only\n",
            "range 3-5 of the rows of the table - read only\n",
            "5",
            "7",
        ),
        (
            "let s = \"10\u{a0}km to the next town of the map\";\n",
            "let s = \"10 km to the next town of the map\";\n",
            "next",
            "last",
        ),
        (
            "say(\"hello {name}, you have the rights of a reader\");\n",
            "say(\\\"hello {name}, you have the rights of a reader\\\");\n",
            "reader",
            "writer",
        ),
        (
            "<p>this &amp; that of the rows of the table</p>\n",
            "<p>this & that of the rows of the table</p>\n",
            "rows",
            "lines",
        ),
        (
            "    let a = b.iter().filter(|it| it.is_certain());\n",
            "-    let a = b.iter().filter(|it| it.is_certain());\n",
            "-",
            "+",
        ),
        ("// the limit\nlet a = 1;\nlet b = 2;\n", "// the limit let a = 1;\nlet b = 2;\n", "2", "3"),
        (
            "let s = \"a  b of the text that is long enough\";\n",
            "let s = \"a b of the text that is long enough\";\n",
            "let s",
            "let t",
        ),
    ];
    for (file, asked, old, new) in cases {
        let result = made(&Search { replacement: &asked.replacen(old, new, 1), autofix: 80, ..search(file, asked) });
        assert!(result.as_ref().is_none_or(|it| *it == file.replacen(old, new, 1)), "{asked:?} {result:?}");
    }
}

#[test]
fn a_change_that_begins_in_a_literal_is_indented_after_it() {
    let file = "[package]\nname = \"a\"\nversion = \"1.0\"\nauthors = [\"b\"]\nlicense = \"MIT\"\n";
    let indented = |text: &str| text.lines().map(|it| format!("    {it}\n")).collect::<String>();
    let new = "[package]\nname = \"a\"\nversion = \"2.0\"\nbuild = false\nautolib = false\nauthors = [\"b\"]\n\
               license = \"MIT\"\n";
    assert_eq!(edit(file, &indented(file), &indented(new)).1, new);
}

#[test]
fn white_space_that_the_edit_changes_is_that_of_the_replacement() {
    // The removed line ends a text without a line end: the blank line after it has no indentation.
    let file = "        f()\n        }\n\n        #[allow(x)]\n        fn g() {}\n";
    let (search, new) = ("f()\n}\n\n#[allow(x)]\n", "f()\n}\n\n");
    assert_eq!(edit(file, search, new).1, "        f()\n        }\n\n        fn g() {}\n");
    // Of the two gaps around removed words the one remains that the file has.
    let (file, search) = ("use b::{c, d, e};\nuse a::f;\n", "use b::{c,d, e};\nuse a::f;\n");
    assert_eq!(edit(file, search, "use b::{d, e};\nuse a::g;\n").1, "use b::{d, e};\nuse a::g;\n");
    // Blank lines that the edit removes where the search text has too many.
    let (file, search) = ("a one\n\nuse b::c;\nuse d::e;\n", "a one\n\n\nuse b::c;\nuse d::e;\n");
    let new = "a one\nuse x::y;\n\nuse b::c;\nuse d::e;\n";
    assert_eq!(edit(file, search, new).1, new);
    // A chain that becomes one line, and a sign that the search text has lost.
    let (file, search) =
        ("    calls\n        .iter()\n        .map(|it| it.call)\n", "calls\n    iter()\n    .map(|it| it.call)\n");
    let new = "calls.iter().map(|it| it.call)\n";
    let made = made(&Search { replacement: new, ..self::search(file, search) });
    assert!(made.is_none_or(|it| it == "    ".to_owned() + new), "it may be refused");
}

#[test]
fn a_lost_angle_bracket_is_not_left_alone() {
    let file = "    fn visit(&mut self, pat: &mut P<Pat>) {\n        let _ = pat;\n    }\n";
    let (asked, new) = (file.replace("P<Pat>", "P<Pat"), file.replace("P<Pat>", "Pat"));
    let Ok(Outcome::Found(hit)) = find(&Search { replacement: &new, ..search(file, &asked) }) else { panic!() };
    assert!(apply(file, &hit, &asked, &new).is_err());
}

#[test]
fn blanks_at_the_end_of_the_search_text_are_not_written() {
    let file = "  a: '*'\n  types: [ b ]\n  c: {}\n\nname: x\n";
    let (search, new) = ("  a:  '*'\n  types:  [ b ]\n  c:  {}  \n", "  a: [ '*' ]\n  types: [ b ]\n  c: { }\n");
    assert_eq!(edit(file, search, new).1, new.to_owned() + "\nname: x\n");
}

#[test]
fn a_lost_quote_is_not_left_alone() {
    let file = "    Arith(_) if left => \"E0277\",\n    Cmp(_) => 1,\n";
    let (asked, new) = (file.replace("E0277\"", "E0277"), file.replace("\"E0277\"", "Code::E0277"));
    let Ok(Outcome::Found(hit)) = find(&Search { replacement: &new, ..search(file, &asked) }) else {
        return;
    };
    assert!(apply(file, &hit, &asked, &new).is_err());
}

/// What is removed at the start of the first line takes no white space before it along.
#[test]
fn a_first_line_whose_first_sign_is_removed_keeps_its_indentation() {
    let text = "fn f() {\n        match it {\n            &Message::Set(len) => {\n                len\n            },\n        }\n}\n";
    let asked = "&Message::Set(len) => {\n    len\n},\n";
    let (strategy, made) = edit(text, asked, &asked[1..]);
    assert_eq!((strategy, made), (Indent, text.replace("&Message", "Message")));
}

#[test]
fn a_removed_part_that_the_file_wraps_otherwise_leaves_no_line_end_behind() {
    let file =
        "    let made = unsafe {\n        let at = self.at.add(offset);\n        flush(at, len as SIZE)\n    };\n";
    let asked = "    let made = unsafe { let at = self.at.add(offset);\n        fleush(at, len as SIZE)\n    };\n";
    let new = "    let made = unsafe { flush(self.at.add(offset), len as SIZE) };\n";
    let made = made(&Search { replacement: new, autofix: 90, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == new), "{made:?}");
}

#[test]
fn an_elision_is_not_what_makes_a_place_similar() {
    let file = "fn f() {\n    {\n        {\n        }\n        // ... (unchanged)\n    }\n}\n\n    {\n        {\n        }\n        a(b)\n    };\n";
    let asked = "        {\n        }\n        // ... (unchanged)\n    };\n";
    assert!(find(&Search { replacement: "x\n", ..search(file, asked) }).is_err());
}

#[test]
fn two_closing_brackets_with_a_sign_between_them_end_two_blocks() {
    let file = "macro! {\n        #[cfg(feature = \"num\")]\n        fn num() {}\n}\n";
    let new = "#[cfg(feature = \"rand\")]\n        fn rand() {$(\n            f::<$t>();\n        )*}\n\n        #[cfg(feature = \"num\")]\n";
    for asked in ["#[cfg(feature = \"num\")]\n", "#[cfgs(feature = \"num\")]\n"] {
        let made = made(&Search { replacement: new, ..search(file, asked) });
        assert!(made.is_none_or(|it| it == file.replace("#[cfg(feature = \"num\")]\n", new)), "{asked}");
    }
}

#[test]
fn what_is_added_to_a_run_of_equal_words_is_on_its_own_line() {
    let line = "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n";
    let file = [
        line,
        line,
        "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 21, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n",
        line,
        "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n  ],\n  tree3_level2: &[\n",
    ]
    .concat();
    let new = [
        line,
        line,
        "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 22, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n",
        line,
        "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n  ],\n  tree3_level2: &[\n",
    ]
    .concat();
    let asked = [
        line,
        line,
        "    5, 5, 5, 5, 5,, 5, 5, 5, 5, 5, 5, 5, 21, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,\n",
        "    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5_ 5, 5, 5,\n",
        "    5, 5, 5s, 5, 5, 5, 5, 5, 5, 5, 5,\n  ],\n  tree3_level2: &[\n",
    ]
    .concat();
    let made = made(&Search { replacement: &new, ..search(&file, &asked) });
    assert!(made.as_deref().is_none_or(|it| it == new), "{made:?}");
}

#[test]
fn a_removed_first_line_that_is_misspelt_takes_no_blank_line_with_it() {
    let file = "//go:build amd64 && linux\n// +build amd64,linux\n\n// Code generated by cmd/cgo -godefs; DO NOT EDIT.\n// cgo -godefs -- -Wall -Werror -static -I/tmp/amd64/include -m64 _const.go\n\npackage unix\n";
    let asked = "/; +build amd64o,linux\n\n// Code generaated by cma/cgo -godefs; DO NOT EDIT'\n// cgr -godefs -- -Wall -Werror -tatic -I/mp/amd64/itnclude -m64 _conss.go\n";
    let new = "\n// Code generated by cmd/cgo -godefs; DO NOT EDIT.\n// cgo -godefs -- -Wall -Werror -static -I/tmp/amd64/include -m64 _const.go\n";
    let made = made(&Search { replacement: new, autofix: 90, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == file.replace("// +build amd64,linux\n", "")), "{made:?}");
}

#[test]
fn an_edit_of_the_last_word_of_a_similar_place_is_refused_where_the_line_goes_on() {
    let file = "    return Poll::Ready(Err(Error::new(ErrorKind::InvalidData, err)))\n";
    let asked = "    return Poll::Ready(Err(Error:new(ErrorKind::InvalidData, err))";
    let new = file.replace(")))\n", ")));");
    let made = made(&Search { replacement: &new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it.trim_end() == new), "{made:?}");
}

#[test]
fn blanks_that_the_edit_changes_are_those_of_the_replacement() {
    let (file, asked) = ("\t\tfrac *= 10\n\t\tnext()\n", "\t\tfrac  *=  10\n\t\tnext()\n");
    let new = "\t\tfrac = frac*10\n\t\tnext()\n";
    assert_eq!(edit(file, asked, new).1, new);
    let (file, asked) = ("  help       Print this message\n  b\n", "  help         Print this message\n  b\n");
    let new = "  help     Print this message\n  b\n";
    assert_eq!(edit(file, asked, new).1, new);
}

#[test]
fn blank_lines_at_the_edges_are_those_of_the_replacement_if_the_edit_changes_them() {
    let file = "}\n    \n    /// Groups of `self`.\n    fn first() {}\n    fn last() {}\n";
    let (asked, new) = (
        "    \n    /// Groups off `self`.\n    fn first() {}\n",
        "\n    /// Groups of `self`.\n    fn first_of() {}\n",
    );
    let wanted = file.replace("    \n", "\n").replace("first()", "first_of()");
    assert_eq!(edit(file, asked, new).1, wanted);
    let (asked, new) = ("    fnn first() {}  \n", "    fn first() {}\n\n");
    assert_eq!(
        made(&Search { replacement: new, autofix: 80, ..search(file, asked) }),
        Some(file.replace("first() {}\n", "first() {}\n\n"))
    );
}

#[test]
fn line_ends_that_both_move_to_other_places_conflict() {
    let file = "    5, 5, 5, 21, 5,\n    5, 5, 5, 5, 5,\n    5, 5,\n  ],\n  tree3_level2: &[\n";
    let asked = "    5, 5, 5, 21, 5, 5, 5, 5, 5, 5,\n    5, 5,\n  ],\n  tree3_level2: &[\n";
    let new = "    5, 5, 5, 5, 22,\n    5, 5, 5, 5, 5,\n    5, 5, 5,\n  ],\n  tree3_level2: &[\n";
    let made = made(&Search { replacement: new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == new), "{made:?}");
}

#[test]
fn lines_that_may_be_those_of_a_literal_are_not_indented_by_a_guess() {
    let file = "    fn first<F>(\n        mut self,\n        mut each: F,\n    ) {}\n";
    let asked = "\tfn first<F>(\n\t\tmut self,\n\t\tmut eac: F,\n";
    let new = "\tfn first<F>(\n\t\tself,\n\t) {}\n\n\t/// ```\n\t/// use b::B;\n\t/// ```\n\tfn second<F>(\n\t\tmut self,\n\t\tmut eac: F,\n";
    let made = made(&Search { replacement: new, autofix: 80, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| !it.contains('\t')), "{made:?}");
}

#[test]
fn lines_at_the_margin_are_indented_as_the_file_is() {
    let file = "//go:import libc_a\n\nfunc b() {\n\tc()\n}\n";
    let (asked, new) = ("\t//g:import libc_a\n", "\t//go:import libc_a\n\n\tfunc d() {\n\t\te()\n\t}\n");
    let wanted = file.replacen("libc_a\n", "libc_a\n\nfunc d() {\n\te()\n}\n", 1);
    assert_eq!(made(&Search { replacement: new, autofix: 80, ..search(file, asked) }), Some(wanted));
}

#[test]
fn a_line_is_not_removed_where_the_file_has_a_longer_name() {
    let file = "  * mips64-linux-gnu\n  * mipsel-linux-gnu\n  * powerpc64le-linux-gnu\n";
    let (asked, new) = (file.replace("64le", "64"), "  * mips64-linux-gnu\n  * mipsel-linux-gnu\n");
    assert_eq!(made(&Search { replacement: new, ..search(file, &asked) }), None);
}

#[test]
fn lines_below_lines_at_the_margin_are_indented_as_the_file_is() {
    let file = "[a]\nx = 1\n\n[b]\nlist = [\n    \"c\",\n]\n";
    let (asked, new) = ("[a]\n\nx = 1\n", "[a]\nx = 2\nother = [\n\t\"d\",\n]\n");
    let wanted = file.replace("x = 1\n", "x = 2\nother = [\n    \"d\",\n]\n");
    let made = made(&Search { replacement: new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == wanted), "{made:?}");
}

#[test]
fn lines_that_are_removed_may_be_wrapped_otherwise() {
    let file = "use cfg_if::cfg_if;\nuse crate::errno::Errno;\nuse libc::{self, c_int};\nuse std::ptr;\nuse crate::sys::signal::Signal;\n";
    let asked = file.replace("self, c_int", "self,\nc_int");
    let new = "use crate::errno::Errno;\nuse crate::sys::signal::Signal;\n";
    assert_eq!(edit(file, &asked, new), (Whitespace, new.to_owned()));
}

#[test]
fn blank_lines_before_what_the_author_corrects_are_not_passed_over() {
    let file = "}\n\n\nimpl<I> IntoChunks<I>\n    where I: Iterator,\n";
    let asked = "\n\nimp<I> IntoChunks<I>\n    where I: Iterator,\n";
    let new = "\nimpl<I> Clone for IntoChunks<I>\n    where I: Clone\n{}\n\n\nimpl<I> IntoChunks<I>\n    where I: Iterator,\n";
    let made = made(&Search { replacement: new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == "}\n".to_owned() + new), "{made:?}");
}

#[test]
fn aligned_lines_are_no_unit_of_indentation() {
    let aligned =
        "    pub fn copy(allocator: Allocator,\n                capacity: Index,\n                set: Set);\n";
    let file = format!("extern {{\n{}    pub fn get(set: Set, key: *const c_void) -> Index;\n}}\n", aligned.repeat(3));
    let asked = "\tpub fn get(set: Set, key: *const c_void) -> Index;\n";
    let new = "\tpub fn get(\n\t\tset: Set,\n\t\tkey: *const c_void,\n\t) -> Index;\n";
    let line = |it: &str| it.replace('\t', "    ");
    assert_eq!(edit(&file, asked, new).1, file.replace(&line(asked), &line(new)));
}

#[test]
fn a_blank_line_at_the_end_of_a_replacement_has_no_indentation() {
    let file = "    loop {\n        let n = read()?;\n        match from(buf) {\n            Err(e) => {\n                if n == 0 {\n";
    let asked = "let n = read()?;\nmatch from(buf) {\n    Err(e) => {\n";
    let new = "match from(&mut buf) {\n    Err(e) => {\n        let n = read()?;\n\n";
    let wanted = "    loop {\n        match from(&mut buf) {\n            Err(e) => {\n                let n = read()?;\n\n                if n == 0 {\n";
    assert_eq!(edit(file, asked, new).1, wanted);
}

#[test]
fn the_white_space_after_a_new_first_part_is_that_of_the_replacement() {
    let file = "    unsafe { one(c::two(NUMBER, first.raw(), second.raw())) }\n}\n";
    let asked = "    unsafe { one(c::two(NUMBER,first.raw(), second.raw())) }\n}\n";
    let new = "    three! {\n        fn four(five: u8) via NUMBER\n    }\n\n    unsafe { six(four(first.raw(), second.raw())) }\n}\n";
    assert_eq!(edit(file, asked, new).1, new);
}

#[test]
fn a_line_end_after_a_sign_that_the_edit_replaces_is_doubtful() {
    let file = "    let Serializer::Variant(it) = self else {\n        unreachable!();\n    };\n";
    let asked = "    let Serializer::Variant(it) = self else { unreachable!();\n";
    let new = "    let it = match self {\n        Serializer::Variant(it) => it,\n        _ => unreachable!(),\n";
    let made = made(&Search { replacement: new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == new.to_owned() + "    };\n"), "{made:?}");
}

#[test]
fn a_bracket_above_a_similar_place_is_not_written_twice() {
    let file = "            f: None,\n        }\n    }\n\n    fn advance(\n        g: usize,\n    ) {}\n";
    let asked = "        }\n    \n\n    fn adance(\n";
    let new = "        }\n    }\n\n    /// Bytes.\n    fn advance(\n";
    let wanted = file.replace("    fn adv", "    /// Bytes.\n    fn adv");
    let made = made(&Search { replacement: new, autofix: 80, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == wanted), "{made:?}");
}

#[test]
fn a_word_that_the_edit_removes_is_corrected_by_no_other_word() {
    // What somebody else changed, not what the author misspelt: the same word elsewhere shows nothing.
    let file = "a = { version = 1, default = false, optional = false }\nb = { version = 2, optional = true }\n";
    let asked = file.replace("optional = false", "optional = true");
    let new = "a = { version = 1, default = false }\nb = { version = 2 }\n";
    assert_eq!(made(&Search { replacement: new, autofix: 80, ..search(file, &asked) }), None);
    let file = "    let two: [u16; 2] = bytes();\n    u16::from(two)\n    let four: [u16; 4] = bytes();\n    u32::from(four)\n";
    let asked = file.replace("[u16; 4]", "[u8; 4]");
    let new = "    let two: [u16; 2] = bytes();\n    u16::from(two)\n";
    assert_eq!(made(&Search { replacement: new, autofix: 80, ..search(file, &asked) }), None);
}

#[test]
fn a_sign_that_both_changed_by_chance_is_a_conflict() {
    let file = "        assert!(byte(s, 0) != b'}');\n        s = &s[1..];\n";
    let asked = file.replace("!=", "==");
    let new = "        if byte(s, 0) != b'}' {\n            return None;\n        }\n        s = &s[1..];\n";
    assert_eq!(made(&Search { replacement: new, ..search(file, &asked) }), None);
}

#[test]
fn a_blank_line_that_the_edit_makes_is_kept_where_the_author_joins_lines() {
    let file = "    a: int,\n    b: long,\n    c: int,\n";
    let new = "    a: int,\n\n    b: long,\n    d: int,\n";
    assert_eq!(edit(file, "    a: int, b: long,\n    c: int,\n", new).1, new);
}

#[test]
fn lines_after_a_dedented_place_and_lost_blank_lines_are_indented() {
    let file = "      with:\n        fetch-depth: 0 # fetch tags\n    - run: b\n";
    let asked = "  with:\n    fetc-depth: 0 # fetch tags\n\n";
    let new = "  with:\n    fetch-depth: 0 # fetch tags\n- uses: a";
    let wanted = file.replace("    - run", "    - uses: a\n    - run");
    let made_of = |file, asked, new| made(&Search { replacement: new, autofix: 80, ..search(file, asked) });
    let result = made_of(file, asked, new);
    assert!(result.as_deref().is_none_or(|it| it == wanted), "{result:?}");
    let file = "\t// I have added it in 144677.\n\t// Use it.\n\t// Choose.\n";
    let asked = "// I've added it in 144677.\n// Use it.\n\n\n";
    let new = "// I have added it in 144677.\n// Use it.\nif f {\n\treturn\n}\n\n";
    let result = made_of(file, asked, new);
    let wanted = file.replace("\t// Ch", "\tif f {\n\t\treturn\n\t}\n\n\t// Ch");
    assert!(result.as_deref().is_none_or(|it| it.trim() == wanted.trim()), "{result:?}");
}

#[test]
fn a_line_that_goes_on_below_is_indented_with_its_place() {
    let file = "fn f() {\n        let is_same = one(it) && two(it);\n}\n";
    let new = "let is_same =\n    three(it) && two(it);";
    let wanted = "fn f() {\n        let is_same =\n            three(it) && two(it);\n}\n";
    assert_eq!(edit(file, "let is_same = one(it) && two(it);", new), (Exact, wanted.to_owned()));
}

#[test]
fn a_word_that_the_edit_adds_is_none_that_the_author_misspells() {
    let file = "    assert(\"%C\", \"20\");\n    assert(\"%y\", \"01\");\n    assert(\"%m\", \"07\");\n";
    let asked = file.replace("%y", "%q");
    let new = file.replace("    assert(\"%m", "    assert(\"%q\", \"3\");\n    assert(\"%m");
    let made = made(&Search { replacement: &new, ..search(file, &asked) });
    assert!(made.as_deref().is_none_or(|it| it == new), "{made:?}");
}

#[test]
fn a_number_with_a_digit_more_is_another_number() {
    let file = "[one]\nversion = \"~0.2.20\"\n[two]\nversion = \"~0.2.2\"\n[three]\nversion = \"1\"\n";
    let asked = file.replace("0.2.2\"", "0.2.20\"");
    let new = "[one]\nversion = \"0.2.20\"\n[three]\nversion = \"1\"\n";
    assert_eq!(made(&Search { replacement: new, ..search(file, &asked) }), None);
}

#[test]
fn blanks_on_blank_lines_at_the_end_are_those_of_the_replacement() {
    let file = "    a(Flags::empty());\n    \n    // b\n";
    let new = "\ta(Flags::other());\n\n";
    assert_eq!(edit(file, "\ta(Flags::empty());\n\t\n", new).1, "    a(Flags::other());\n\n    // b\n");
    let file = "  int (*is)(sqlite3*);\n};\n";
    let new = "  int (*is)(sqlite3*);\n  int (*other)(sqlite3*);\n  ";
    assert_eq!(
        edit(file, "  int  (*is)(sqlite3*);", new).1,
        "  int (*is)(sqlite3*);\n  int (*other)(sqlite3*);\n  \n};\n"
    );
}

#[test]
fn a_bracket_below_a_similar_place_is_not_written_twice_where_a_sign_follows_it() {
    let file = "    let engine = match result {\n        Err(error) => {\n            debug!(\"failed to build: {error}\");\n            return None;\n        }\n    };\n    built(engine);\n";
    let asked = "    let engine , match result {\n        Err(error) => {\n            debug!(\"failed to build: {error}\");\n            return None;\n        \n    };";
    let new = "    let engine = match result {\n        Err(error) => {\n            debug!(\"failed to build: {}\", error);\n            return None;\n        }\n    };";
    let made = made(&Search { replacement: new, ..search(file, asked) });
    assert!(made.as_deref().is_none_or(|it| it == file.replace("{error}\"", "{}\", error")), "{made:?}");
}

#[test]
fn blanks_that_are_not_those_of_a_keyboard_are_signs() {
    let file = "/// Stop searching a file when a line is found after a\n/// matching line.\n";
    for blank in ["\u{a0}", "\u{2009}", "\u{3000}", " \u{200b}", "\u{2060}"] {
        let other = file.replacen("a line is", &format!("a{blank}line is"), 1);
        for (file, asked) in [(file, &*other), (&*other, file)] {
            for (old, new) in [("line is", "row is"), ("found", "seen"), ("after a\n", "after a\n/// next\n")] {
                let result = made(&Search { replacement: &asked.replacen(old, new, 1), ..search(file, asked) });
                let wanted = file.replacen(old, new, 1);
                assert!(result.as_ref().is_none_or(|it| *it == wanted), "{blank:?} {old} {result:?}");
            }
        }
    }
}

#[test]
fn a_line_that_is_added_has_no_wrong_signs_of_its_neighbours() {
    let cases = [
        ("    say(\"hello\");\n    tell(\"world\");\n", "\"", "\\\"", "hello", "again"),
        ("    let hello = &s[0..5];\n    let world = &s[6..11];\n", "&", "&amp;", "world", "other"),
        ("    let hello = &amp;s[0..5];\n    let world = &amp;s[6..11];\n", "&amp;", "&", "world", "other"),
        ("of the <code>&lt;title&gt;</code> element\nof the page\n", "&lt;", "<", "element", "other"),
        ("#[derive(Clone, Copy)]\nstruct First;\nstruct Second {}\n", "derive(", "derivee(", "Clone", "Debug"),
    ];
    for (file, right, wrong, word, other) in cases {
        let asked = file.replace(right, wrong);
        for line in asked.lines().filter(|it| it.contains(word)) {
            let new = format!("{asked}{}\n", line.replace(word, other));
            let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
            assert!(result.as_ref().is_none_or(|it| !it.contains(wrong)), "{result:?}");
        }
    }
    // Both lines have the wrong word; the edit writes one of them anew and corrects the other.
    let file = "union Two {\n    first: Two0,\n}\n#[derive(Clone, Copy)]\nstruct Two0 {}\n";
    let asked = file.replace("derive", "derivee");
    let new = "union Two {\n    guid: Guid,\n}\nimpl Default for Two {}\n#[derivee(Clone, Copy)]\nunion Three {\n    \
               first: Three0,\n}\nimpl Default for Three {}\n#[derive(Clone, Copy, Default)]\nstruct Three0 {}\n";
    let result = made(&Search { replacement: new, autofix: 80, ..search(file, &asked) });
    assert!(result.as_ref().is_none_or(|it| !it.contains("derivee")), "{result:?}");
}

#[test]
fn a_quote_that_only_the_file_has_is_none_of_a_literal_that_the_edit_unquotes() {
    let file = "    #[bindgen(\n        method,\n        class = \"HtmlAnchor\",\n        name = \"policy\"\n    )]\n";
    let asked = file.replace("= \"H", "= .H").replace("= \"p", "= p");
    let new = "    # [bindgen (structural , method , class = \"HtmlAnchor\" , name = policy)]\n";
    let result = made(&Search { replacement: new, autofix: 80, ..search(file, &asked) });
    assert!(result.as_ref().is_none_or(|it| it == new), "{result:?}");
}

#[test]
fn a_number_where_a_name_is_declared_is_another_name() {
    let file = "/// The message of type 4711 is sent to all peers.\nfn send() {\n    all();\n}\n";
    for other in ["Jigsaw", "4712"] {
        let asked = file.replace("4711", other);
        let new = asked.replace("all()", "some()");
        assert_eq!(made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) }), None, "{other}");
        assert_eq!(made(&Search { replacement: &new, autofix: 80, ..search(&asked, file) }), None, "{other}");
    }
}

#[test]
fn what_the_author_corrects_in_the_replacement_is_no_change() {
    let file =
        "    fn first(\n        self,\n    ) -> Option<u8> {\n        g(h(one), two)\n    }\n\n    fn second() {}\n";
    let new =
        file.replace("    fn second", "    /// Two.\n    fn third() {\n        g(h(two), one)\n    }\n\n    fn second");
    for (right, wrong) in [
        ("g(h(one), two)", "g(h(one)), two)"),
        ("g(h(one), two)", "g(h(one), two))"),
        ("g(h(one), two)", "g(h(one,) two)"),
        ("g(h(one), two)", "x g(h(one), two)"),
        (") -> Option<u8> {", ") ->> Option<u8> {{"),
        ("\n        g(", " g((\n "),
    ] {
        let asked = file.replace(right, wrong);
        let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
        assert_eq!(result.as_deref(), Some(&*new), "{wrong}");
    }
    // A line that somebody else has removed or added is none that the author corrects.
    let asked = file.replace("        g(h", "        f();\n        g(h");
    let new = asked.replace("second", "third");
    let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
    assert_eq!(result, Some(file.replace("second", "third")));
    // What both texts have before a line is not written with a new line above it.
    let file = "    match kind {\n        // Absolute\n        LONG => (Absolute, given, 32),\n    }\n";
    let asked = file.replace("// Ab", "t// Ab");
    let new = asked.replace("        t//", "        NONE => (None, given, 0),\n        t//");
    let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
    assert!(result.as_ref().is_none_or(|it| !it.contains("t//")), "{result:?}");
}

#[test]
fn a_line_that_the_author_corrects_keeps_its_indentation() {
    let file = "        let previous = this.method.clone();\n        let drop = |headers: &mut HeaderMap| {\n            for header in &[\n                A,\n";
    let asked =
        "let previous = this.method.clone();\nlet drop = |headers: &mut HeaderMa| {\n    for headers thein &[\n";
    let new = "let drop = |headers: &mut HeaderMap| {\n    for header in &[\n";
    let wanted = file.lines().skip(1).map(|it| format!("{it}\n")).collect::<String>();
    let result = made(&Search { replacement: new, autofix: 80, ..search(file, asked) });
    assert!(result.as_ref().is_none_or(|it| *it == wanted), "{result:?}");
    // Where the edit indents it, it does not stay as it was.
    let file = "        let uuid = new();\n        let text = uuid.braced().to_string();\n        let out = parse(&text).unwrap();\n        assert_eq!(uuid, out);\n";
    let asked = file
        .replace(".br", "..br")
        .replace("string", "strine")
        .replace("unwrap()", "unwra(p)")
        .replace("assert", "asset");
    let new =
        file.replace("  let t", "      let t").replace("  let o", "      let o").replace("  assert", "      assert");
    let new = new.replace("let uuid = new();", "for uuid in all() {") + "        }\n";
    let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
    assert!(result.as_ref().is_none_or(|it| *it == new), "{result:?}");
    // Blanks that the edit adds are those of the replacement.
    let file = "impl<Item, F: FnMut()->Item> Element<Item> for F {\n    fn generate(&mut self) -> Item {\n        self()\n    }\n";
    let new = file.replace("()->", "() -> ");
    for wrong in [")o->", ") o->", "o->", ")->->", ")>"] {
        let asked = file.replace(")->", wrong);
        let result = made(&Search { replacement: &new, autofix: 80, ..search(file, &asked) });
        assert!(result.as_ref().is_none_or(|it| *it == new), "{wrong} {result:?}");
    }
}

#[test]
fn what_follows_a_blank_line_that_the_edit_removes_is_indented() {
    let file = "        {\n            if a {\n                b = false;\n                continue;\n            }\n\n            c();\n";
    let (asked, new) =
        ("    b = false;\n    continue;\n}\n\n", "    b = false;\n    continue;\n}\nif d {\n    e();\n}\n");
    let wanted =
        file.replace("            }\n\n", "            }\n            if d {\n                e();\n            }\n");
    assert_eq!(edit(file, asked, new), (Indent, wanted));
}

#[test]
fn a_lost_bracket_of_several_at_an_edge_is_not_written_twice() {
    let file = "    }\n    fn a() {\n        f(|this| unsafe {\n            let mut result = std::mem::zeroed();\n            g(this, &mut result).map(|| result)\n        })\n    }\n";
    let asked = "    fn a() {\n        f(|this| unsafe {\n            let mut result = std::mem::zeroed();\n            g(thi, &mut result).map(|| result)\n        )\n";
    let new = "    fn a() {\n        f(|this| unsafe {\n            let mut result = core::mem::zeroed();\n            g(this, &mut result).map(|| result)\n        })\n";
    let wanted = file.replace("std::", "core::");
    assert!(made(&Search { replacement: new, ..search(file, asked) }).is_none_or(|it| it == wanted));
}

#[test]
fn a_bracket_written_twice_in_one_line_removes_none_of_another_line() {
    let file = "            f();\n        }\n    }\n\n    mod where_clause {\n        use snafu::Snafu;\n        use std::fmt::Display;\n";
    let asked = "    }}\n\n    mod where_clause {\n        use snafu::Snafu;\n        usee std::fmt:o:Display;\n";
    let new = "    }\n\n    mod where_clause {\n        use snafu::prelude::*;\n        use std::fmt::Display;\n";
    let wanted = file.replace("snafu::Snafu", "snafu::prelude::*");
    assert!(made(&Search { replacement: new, ..search(file, asked) }).is_none_or(|it| it == wanted));
    // Nor where a part with a bracket of its own is added.
    let file = "            f();\n        }\n    }\n\n    /// Sets the coordinates of a curve over a prime field, provided that it is one.\n";
    let asked = "    }}\n\n    /// Sets the coordinates of a curve over a prime field, proovided that it is one.\n";
    let line = "    /// Sets the coordinates of a curve over a prime field, provided that it is one.\n";
    let added = "    /// Sets the coordinates of a point.\n    fn set() {\n        unsafe {\n            g()\n        }\n    }\n\n";
    let new = ["    }\n\n", added, line].concat();
    let wanted = file.replace(line, &format!("{added}{line}"));
    assert!(made(&Search { replacement: &new, ..search(file, asked) }).is_none_or(|it| it == wanted));
}

#[test]
fn a_word_that_the_search_text_cuts_is_written_once() {
    let file = "autotests = false\nautobenches = false\n\n/// # Syntax\n";
    let new = "autolib = false\nautobenches = false";
    assert_eq!(edit(file, "autobenches = fal", new).1, file.replace("autobenches", "autolib = false\nautobenches"));
    assert_eq!(edit(file, "/// # Synta", "/// # New\n/// # Syntax").1, file.replace("# Syn", "# New\n/// # Syn"));
    assert_eq!(edit(file, "tests = false", "autotests = true").1, file.replacen("false", "true", 1));
    // Where the replacement does not have the rest of the word, it stays.
    assert_eq!(edit(file, "/// # Synta", "/// # Tax, synta").1, file.replace("# Synta", "# Tax, synta"));
}

#[test]
fn lines_that_continue_a_list_are_no_deeper_than_its_first_line_in_the_text() {
    let file = "const a = \"\" +\n\t\"first:|\\n\" +\n\t\"second\" +\n\t\"third\"\n";
    let (asked, new) = ("\"frist:|\\n\" +\n", "\"first:]\\n\" +\n\t\"more\" +\n");
    let wanted = file.replace("first:|\\n\" +\n", "first:]\\n\" +\n\t\"more\" +\n");
    let result = made(&Search { replacement: new, autofix: 80, ..search(file, asked) });
    assert!(result.as_ref().is_none_or(|it| *it == wanted), "{result:?}");
    assert_eq!(edit(file, "\"first:|\\n\" +\n", "\"first:]\\n\" +\n\t\"more\" +\n").1, wanted);
}

#[test]
fn a_near_copy_with_another_line_is_not_taken() {
    let part = "[package]\nedition = \"2021\"\nrust-version = \"1.82\"\nname = \"gix-index\"\nversion = \"0.50.0\"\nauthors = [\"Sebastian Thiel <sebastian.thiel@icloud.com>\"]\nbuild = false\n";
    let file = format!(
        "# It.\n\n{part}include = [\n    \"/src/**/*\",\n]\nchecked = \"allow\"\n{}",
        part.replace("authors", "authorsZz")
    );
    let asked = part.replace("build = false\n", "build = false_id");
    let new = part.replace("2021", "2024").replace("build = false\n", "build = false");
    let result = made(&Search { replacement: &new, ..search(&file, &asked) });
    assert!(result.as_ref().is_none_or(|it| *it == file.replacen("2021", "2024", 1)), "{result:?}");
}

#[test]
fn a_sign_between_two_changes_of_its_line_is_a_part_of_what_is_rewritten() {
    let file = " * Description: Return 0 if the input is zero and -1 otherwise.\n *\n * Arguments:   uint32_t x: Value to be converted into a mask\n *\n **/\n";
    let asked = file.replace(" x:", " x");
    let new =
        " * Return 0 if the input is zero and -1 otherwise.\n *\n * @param x Value to be converted into a mask.\n */\n";
    assert_eq!(made(&Search { replacement: new, ..search(file, &asked) }), None);
}

#[test]
fn a_line_of_a_comment_ends_where_the_search_text_ends_it() {
    let file = "    /// It is returned.\n    /// To configure the socket, use this\n    /// type.\n";
    let asked = "    /// It is returned.\n    ///\n";
    let (nearest, reason) = missed(&Search { replacement: "    /// New.\n", ..search(file, asked) });
    assert!(nearest.is_some() && reason.contains("white space"), "{reason}");
    // Elsewhere lines may be joined.
    assert_eq!(edit("    f();  g(); h();\n", "f();\ng();\n", "f();\nk();\n").1, "    f();  k(); h();\n");
}

#[test]
fn a_word_that_the_edit_replaces_is_not_the_word_of_a_neighbour() {
    let file = "    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {\n        Some(self.cmp(other))\n    }\n}\n\n    fn cmp(&self, other: &Self) -> Ordering {\n        let self_len = self.len() - offset();\n        let other_len = other.len() - offset();\n        self.unix.sun_path[..self_len].cmp(&other.unix.sun_path[..other_len])\n    }\n";
    let asked = "        let self_len = self.len() - offset();\n        let other_len = other.len() - offset();\n        self.unix.sun_path[..self_len].partial_cmp(&other.unix.sun_path[..other_len])\n    }\n";
    let new = "        Some(self.cmp(other))\n    }\n";
    assert_eq!(made(&Search { replacement: new, autofix: 90, ..search(file, asked) }), None);
}

#[test]
fn a_sign_that_was_lost_at_the_start_of_a_line_leaves_no_indentation() {
    let file = "- A fast baseline of 16 bytes.\n- An optimized one for `x86` using `sse` and `pclmulqdq` instructions\n- An optimized one for `aarch64`\n\nCalling the constructor at runtime will perform a feature detection to select the most\noptimal implementation.\n";
    let asked = file
        .replace("- An optimized one for `x86`", " An optimized one for `x86`")
        .replace("`pcl", "pcl")
        .replace("- An optimized one for `aarch64`", " An optimized one for `aarch64`");
    let new = file.replace(
        "- An optimized one for `aarch64`",
        "- Wider ones of 256 bits\n  and of 512 bits.\n- An optimized one for `aarch64`, with\n  a variant",
    );
    let result = made(&Search { replacement: &new, ..search(file, &asked) });
    assert!(result.as_ref().is_none_or(|it| *it == new), "{result:?}");
    let file = "    if: github.event_name != 'pull_request'\n    timeout-minutes: 45\n    steps:\n      - uses: actions/checkout@v6\n      - uses: dtolnay/rust-toolchain@nightly\n        with:\n          components: clippy\n";
    let asked = "    if: github.event_name != 'pull_equest'\n    timeout-minutes: 45\n    steps'\n      -  ses:  actiosn/checkout@v6\n       uses: dtolnnay/rust-toolchain@nightly\n        with:\n";
    let new = "    if: github.event_name != 'pull_request'\n    timeout-minutes: 45\n    steps:\n      - uses: actions/checkout@v7\n      - uses: dtolnay/rust-toolchain@nightly\n        with:\n";
    let result = made(&Search { replacement: new, autofix: 85, ..search(file, asked) });
    assert!(result.as_ref().is_none_or(|it| *it == file.replace("@v6", "@v7")), "{result:?}");
}

#[test]
fn what_is_left_of_a_line_has_the_indentation_of_the_first_line() {
    let file = "        let element = &mut self.element;\r\n\r\n        self.iter.fold(accum,\r\n            |accum, x| {\r\n                f(accum, x)\r\n        })\r\n";
    let asked = "let element = &mut self.element;\n\nself.iter.fold(accum,\n    |accum, x| {\n        f(accum, x)\n";
    let new = "iter.fold(accum, |accum, x| {\n    f(accum, x)\n";
    let wanted = "        iter.fold(accum, |accum, x| {\r\n            f(accum, x)\r\n        })\r\n";
    assert_eq!(edit(file, asked, new).1, wanted);
}

#[test]
fn an_address_in_a_literal_is_no_comment() {
    let file = "impl A {\n    pub fn new() -> Self {\n        x()\n    }\n}\n";
    let docs = "#[doc = \"a\"]\n    #[doc = \"[it](https://a.b/c.html)\"]\n    ";
    let (asked, new) = ("pub fn new() -> Self {\n", format!("{docs}pub fn new() -> Self {{\n"));
    assert_eq!(edit(file, asked, &new).1, file.replace("pub fn", &format!("{docs}pub fn")));
}
