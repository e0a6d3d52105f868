//! What stays known where bodies differ, or what they name does.

use ra_ap_syntax::{AstNode as _, Edition, SyntaxNode, ast};

use super::invalidate::faults_of;
use super::*;
use crate::lang::rust::LANGUAGE;

const BASE: &str = "#[derive(Default, Clone)]\npub struct A;\nimpl A { pub fn m(&self) {} pub fn yes(&self) -> bool { true } }\n\
                    #[derive(Default)]\npub struct B;\nimpl B { pub fn m(&self) {} }\n\
                    pub fn a(it: A) {}\npub fn b(it: B) {}\npub fn both() -> (A, B) { todo!() }\n\
                    macro_rules! sets { ($it:ident) => { let $it = crate::base::A; } }\n";

/// Of the calls of `m` in a file those of which it is not known what they mean, by the names of what they are called on.
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
fn a_body_that_differs_touches_itself_alone() {
    let text = "#[macro_use]\npub mod base;\nuse base::*;\npub fn f(given: A) -> A { let one = A; one.m(); given.m(); given }\n\
                pub fn g() { let two = A; two.m(); }\n";
    let (_directory, mut it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", text), ("src/base.rs", BASE)]);
    for (from, to, expected) in [
        ("let one = A", "let _ = 0; let one = B", "one given"),
        ("let two = A", "let two = B", "two"),
        ("one.m();", "sets!(one); one.m(); fn m() {}", "one given"),
        ("let two = B", "let two = = B", "two"),
    ] {
        it.fill();
        assert_eq!(unknown(&it, "src/lib.rs"), "", "{from} to {to}");
        apply(&mut it, "src/lib.rs", from, to);
        assert_eq!(unknown(&it, "src/lib.rs"), expected, "{from} to {to}");
        assert_eq!(faults_of(&it, "src/lib.rs"), [] as [String; 0], "{from} to {to}");
    }
}

#[test]
fn another_signature_touches_the_bodies_that_name_it() {
    let user = "use crate::base::*;\npub fn f(given: A) { let one = made(); one.m(); given.m(); }\npub fn g(two: A) { two.m(); }\n";
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "#[macro_use]\npub mod base;\npub mod user;\npub use base::B;\n"),
        ("src/base.rs", &format!("{BASE}pub fn made() -> A {{ A }}\n")),
        ("src/user.rs", user),
    ]);
    it.fill();
    apply(&mut it, "src/base.rs", "pub fn made() -> A { A }", "pub fn made() -> B { B }");
    assert_eq!(unknown(&it, "src/user.rs"), "one given");
    assert_eq!(faults_of(&it, "src/user.rs"), [] as [String; 0]);
}

/// What a statement may become; nothing where this does not fit.
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
    let (mut made, mut number) = (0, 0);
    for at in (0..statements.len()).skip(step / 2).step_by(step) {
        // The next of the statements to which this can be done.
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
        made += 1;
        let what = format!("{} to {to} in {file}", statement.text());
        assert_eq!(faults_of(&it, &file), [] as [String; 0], "{what}");
        it.rust.apply(&[(Arc::from(file.as_str()), Some(text))]);
        it.files = before;
        assert_eq!(faults_of(&it, &file), [] as [String; 0], "taking back {what}");
    }
    assert!(made * 10 >= count * 9, "{made} edits");
}
