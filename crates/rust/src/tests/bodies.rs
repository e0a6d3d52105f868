//! What stays known about a body when some of its statements change.

use ra_ap_syntax::{AstNode as _, Edition, SyntaxNode, ast};

use super::invalidate::faults_of;
use super::*;
use crate::LANGUAGE;
use crate::index::file_names::Names;

const BASE: &str = "#[derive(Default, Clone)]\npub struct A;\nimpl A { pub fn m(&self) {} pub fn yes(&self) -> bool { true } }\n\
                    #[derive(Default)]\npub struct B;\nimpl B { pub fn m(&self) {} }\n\
                    pub fn a(it: A) {}\npub fn b(it: B) {}\npub fn both() -> (A, B) { todo!() }\n\
                    macro_rules! sets { ($it:ident) => { let $it = crate::base::A; } }\n";

/// The calls of `m` in a file whose meaning is unknown, by the names of their receivers.
fn unknown(it: &Loaded, file: &str) -> String {
    let text = it.files.get(file).unwrap().text.clone();
    let known = it.asked(|view| view.ask(|it| Ok(it.index.names(it.file_id(file).unwrap()))));
    let known = known.unwrap().unwrap();
    let calls = text.match_indices(".m()").filter(|it| !known.is_known_at(it.0 + 1));
    let receiver =
        |at: usize| text[..at].rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default().to_owned();
    calls.map(|it| receiver(it.0)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_statement_touches_what_its_variables_tell() {
    let body = |statements: &str| {
        format!(
            "#[macro_use]\npub mod base;\nuse base::*;\npub fn f(given: A, choice: bool) -> A {{\n{statements}\n}}\n"
        )
    };
    let (_directory, mut it) =
        fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &body("    given")), ("src/base.rs", BASE)]);
    for (statements, from, to, expected) in [
        // A statement that declares and names nothing determines nothing.
        ("let one = A; one.m(); given", "let one", "let _ = 0; let one", ""),
        ("let one = A; let two = A; one.m(); two.m(); given", "let two = A", "let two = B", "two"),
        // A variable's type may come from where it is used, and from there to another.
        (
            "let one = Default::default(); let two = Clone::clone(&one); let three = A; three.m(); two.m(); a(one); given",
            "a(one)",
            "b(one)",
            "two",
        ),
        ("let one: A = Default::default(); one.m(); a(one); given", "a(one)", "b(one)", ""),
        ("let (one, two) = both(); one.m(); two.m(); given", "both()", "(B, A)", "one two"),
        // A parameter has the type in the head, unless something shadows it.
        ("given.m(); a(given.clone()); given", "a(given.clone());", "", ""),
        ("given.m(); given", "given.m()", "let given = B; given.m()", "given"),
        // Statements within another one are independent unless they determine its type.
        ("if choice { let one = A; one.m(); } given.m(); given", "let one = A;", "let one = B;", "one"),
        ("if choice { let one = A; one.m(); given.m(); } given", "if choice", "if !choice", ""),
        ("if let Some(one) = Some(A) { one.m(); given.m(); } given", "Some(A)", "Some(B)", "one"),
        (
            "let one = if choice { return given; } else { A }; one.m(); given.m(); given",
            "return given;",
            "a(A);",
            "one",
        ),
        ("let one = loop { given.m(); if choice { break A; } }; one.m(); given", "break A", "break B", "one"),
        ("let one = || { if choice { return A; } given.m(); A }; one().m(); given", "return A", "return B", "given "),
        ("while choice { let one = A; one.m(); } { let two = A; two.m(); } given", "let two = A", "let two = B", "two"),
        // A statement that is moved into another block sees other variables.
        (
            "if let Some(one) = Some(A) { one.m(); } else { given.m(); } given",
            "one.m(); } else { given.m();",
            "} else { one.m(); given.m();",
            "one",
        ),
        // A name in a string, and a macro with unknown behaviour.
        ("let one = Default::default(); a(one); println!(\"{one}\"); given.m(); given", "a(one)", "b(one)", ""),
        ("let one = A; sets!(two); two.m(); one.m(); given", "let one = A", "let _ = 0; let one = A", ""),
        ("let one = A; sets!(two); two.m(); one.m(); given", "let one = A", "let one = B", "two one"),
        ("let one = A; one.m(); given", "one.m();", "one.m(); sets!(one);", "one"),
        ("fn m() {} let one = A; one.m(); given", "let one = A", "let one = B", "one"),
        ("let one = A; one.m(); given", "let one = A", "let one = = A", "one"),
        // The rest of the unknown part stays unknown.
        ("let one = A; one.m(); let None = Some(A) else { return given }; given.m(); given", "Some(A)", "Some(B)", ""),
    ] {
        let (text, statement) = (body(&format!("    {statements}")), format!("{from} to {to} in {statements}"));
        let old = it.files.get("src/lib.rs").unwrap().text.to_string();
        apply(&mut it, "src/lib.rs", &old, &text);
        it.fill();
        assert_eq!(unknown(&it, "src/lib.rs"), "", "{statement}");
        apply(&mut it, "src/lib.rs", from, to);
        assert_eq!(unknown(&it, "src/lib.rs"), expected, "{statement}");
        assert_eq!(faults_of(&it, "src/lib.rs"), [] as [String; 0], "{statement}");
    }
}

#[test]
fn another_signature_touches_of_a_body_what_its_variables_tell() {
    let user = "use crate::base::*;\npub fn f(given: A) {\n    let one = made();\n    let two = A;\n    one.m();\n    two.m();\n    // made\n    \
                if given.yes() { let three = one; three.m(); given.m(); }\n    given.m();\n}\n";
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "#[macro_use]\npub mod base;\npub mod user;\npub use base::B;\n"),
        ("src/base.rs", &format!("{BASE}pub fn made() -> A {{ A }}\n")),
        ("src/user.rs", user),
    ]);
    it.fill();
    apply(&mut it, "src/base.rs", "pub fn made() -> A { A }", "pub fn made() -> B { B }");
    assert_eq!(unknown(&it, "src/user.rs"), "one three");
    assert_eq!(faults_of(&it, "src/user.rs"), [] as [String; 0]);
}

/// A changed statement; `None` if the change is not possible.
fn altered(node: &SyntaxNode, text: &str, other: &str, how: usize) -> Option<String> {
    let replaced = |part: &SyntaxNode, by: &str| {
        let (own, at) = (node.text_range().start(), part.text_range());
        let mut text = node.text().to_string();
        text.replace_range(usize::from(at.start() - own)..usize::from(at.end() - own), by);
        text
    };
    let declares = ast::LetStmt::cast(node.clone());
    let first = |is: fn(&SyntaxNode) -> bool| node.descendants().find(is);
    Some(match how % 9 {
        0 => String::new(),
        1 => format!("let _ = 0; {text}"),
        2 => replaced(declares?.initializer()?.syntax(), "Default::default()"),
        3 => format!("{other} {text}"),
        4 => format!("{{ {text} }}"),
        5 => replaced(&first(|it| ast::Literal::can_cast(it.kind()))?, "0u8"),
        6 => replaced(&first(|it| ast::IdentPat::can_cast(it.kind()))?, "another"),
        7 => replaced(&first(|it| ast::PathExpr::can_cast(it.kind()))?, "Default::default()"),
        _ => replaced(&first(|it| ast::MethodCallExpr::can_cast(it.kind()))?, "()"),
    })
}

#[test]
fn nothing_known_is_wrong_after_statements_by_chance() {
    let mut it = REAL.lock().unwrap_or_else(PoisonError::into_inner);
    it.fill();
    let count = std::env::var("SEMDEX_COMPARE_COUNT").map_or(18, |it| it.parse().expect("a number of edits"));
    let mut statements = Vec::new();
    for file in it.files.of(LANGUAGE) {
        let tree = ast::SourceFile::parse(&file.text, Edition::CURRENT).tree();
        let all =
            tree.syntax().descendants().filter(|it| ast::Stmt::can_cast(it.kind()) && !ast::Item::can_cast(it.kind()));
        statements.extend(all.map(|it| (file.path.to_string(), it)));
    }
    let step = (statements.len() / count).max(1);
    let (mut made, mut stays, mut number) = (0, 0, 0);
    for at in (0..statements.len()).skip(step / 2).step_by(step) {
        // The next statement that can be changed in this way.
        number += 1;
        let other = statements[(at * 7 + number) % statements.len()].1.text().to_string();
        let found = statements[at..].iter().find_map(|(file, it)| {
            Some((file.clone(), it.clone(), altered(it, &it.text().to_string(), &other, number)?))
        });
        let Some((file, statement, to)) = found else { continue };
        let before = it.files.clone();
        let text = before.get(&file).unwrap().text.clone();
        let (start, end) = (usize::from(statement.text_range().start()), usize::from(statement.text_range().end()));
        let new = format!("{}{to}{}", &text[..start], &text[end..]);
        apply(&mut it, &file, &text, &new);
        let known = it.asked(|view| view.ask(|it| Ok(it.index.names(it.file_id(&file).unwrap()))));
        let body = statement.ancestors().filter(|it| ast::Fn::can_cast(it.kind())).last();
        let body_end = body.map_or(start, |it| usize::from(it.text_range().end()) + new.len() - text.len());
        stays += usize::from(known.unwrap().is_some_and(|it| it.within(start + to.len(), body_end).next().is_some()));
        made += 1;
        let what = format!("{} to {to} in {file}", statement.text());
        assert_eq!(faults_of(&it, &file), [] as [String; 0], "{what}");
        it.rust.apply(&[(Arc::from(file.as_str()), Some(text))]);
        it.files = before;
        assert_eq!(faults_of(&it, &file), [] as [String; 0], "taking back {what}");
    }
    println!("{made} edits, something of the body stays known after {stays}");
    assert!(made * 10 >= count * 9 && stays > 0, "{made} edits, {stays}");
}

#[test]
fn another_parameter_leaves_the_rest_of_a_head_known() {
    let lib = "pub struct A;\npub struct B;\n/// Of [`A`].\npub fn free(a: A, b: B) -> A { a }\n\
               impl A {\n    pub fn with(&self, b: B) -> A { A }\n}\npub trait Size {\n    fn size(&self, a: A) -> B;\n}\n";
    let (_directory, mut it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    it.fill();
    for (from, to, expected) in [
        ("(a: A, b", "(a: A, extra: Vec<A>, b", "extra Vec A"),
        ("extra: Vec<A>, ", "", ""),
        ("(&self, b: B)", "(&self, a: A)", "self a A"),
        ("size(&self, a: A)", "size(&self, a: A, b: B)", "b B"),
        // The body depends on more of its result than callers do.
        ("size(&self, a: A, b: B) -> B", "size(&self, a: A, b: B) -> A", "all"),
    ] {
        apply(&mut it, "src/lib.rs", from, to);
        let text = it.files.get("src/lib.rs").unwrap().text.clone();
        let names = it.asked(|view| view.ask(|it| Ok(it.index.names(it.file_id("src/lib.rs").unwrap()))));
        let names = names.unwrap();
        let unknown = |names: &Names| {
            let mut words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
            let at = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
            let all: Vec<&str> = words.by_ref().filter(|it| !names.is_known_at(at(it))).collect();
            all.join(" ")
        };
        assert_eq!(names.as_deref().map_or("all".to_owned(), unknown), expected, "{to}");
        assert_eq!(faults_of(&it, "src/lib.rs"), [] as [String; 0], "{to}");
        it.fill();
    }
}
