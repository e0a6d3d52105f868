//! The skeleton: what is removed, what is kept, and that it is still Rust.

use super::{disagreement, outline};

fn check(text: &str, expected: &str) {
    let outline = outline(text);
    assert_eq!(outline.skeleton, expected);
    assert_eq!(outline.errors, []);
    assert_eq!(disagreement(text, &outline), None);
}

#[test]
fn bodies_are_collapsed_and_the_rest_is_kept() {
    let text = r"//! Docs.

use std::{
    io,
};

// A comment between items.
/// Docs.
pub fn long(
    a: u8,
) -> u8
where
    u8: Copy,
{
    // Inside.
    fn nested() {}
    a
}

fn empty() {}
fn short() { 1 }
fn closure() { |x| x }
fn one_line() { println!(); println!(); }
trait T {
    fn default(&self) -> u8 {
        1
    }
    fn required(&self);
}
impl T for u8 {
    // Kept.
    fn required(&self) {
        let x = 1;

        drop(x);
    }
}
macro_rules! m {
    () => {};
    (a) => {};
}
macro_rules! paren (
    () => {}
);
macro modern($x:expr) {
    $x
}
lazy_static! {
    static ref A: u8 = 1;
    static ref B: u8 = 1;
}
thread_local!(static C: u8 = 1);
mod inner {
    fn f() {
        1
    }
}
";
    let skeleton = r"//! Docs.

use std::{
    io,
};

// A comment between items.
/// Docs.
pub fn long(
    a: u8,
) -> u8
where
    u8: Copy,
{ /* 3 lines */ }

fn empty() {}
fn short() { 1 }
fn closure() { /* 1 line */ }
fn one_line() { /* 1 line */ }
trait T {
    fn default(&self) -> u8 { /* 1 line */ }
    fn required(&self);
}
impl T for u8 {
    // Kept.
    fn required(&self) { /* 3 lines */ }
}
macro_rules! m { /* 2 lines */ }
macro_rules! paren ( /* 1 line */ );
macro modern($x:expr) { /* 1 line */ }
lazy_static! { /* 2 lines */ }
thread_local!(static C: u8 = 1);
mod inner {
    fn f() { /* 1 line */ }
}
";
    check(text, skeleton);
    check(&text.replace('\n', "\r\n"), &skeleton.replace('\n', "\r\n"));

    // Each line corresponds to the line that it copies, or to the beginning of its body.
    let outline = outline(text);
    let lines: Vec<&str> = text.lines().collect();
    for (line, &from) in skeleton.lines().zip(&outline.skeleton_lines) {
        let before_body = line.split("/*").next().unwrap_or_default();
        assert!(lines[from - 1].starts_with(before_body.trim_end()), "{line:?} from {from}");
    }
}

#[test]
fn test_modules_are_counted() {
    check(
        "/// T.\n#[cfg(test)]\n#[rustfmt::skip]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a() {}\n    mod b {\n        \
         #[tokio::test]\n        async fn c() {}\n    }\n}\n#[cfg(test)]\nmod one { #[test] fn a() {} }\n#[cfg(test)]\nmod file;\n",
        "/// T.\n#[cfg(test)]\n#[rustfmt::skip]\nmod tests { /* 2 tests, 8 lines */ }\n#[cfg(test)]\n\
         mod one { /* 1 test, 1 line */ }\n#[cfg(test)]\nmod file;\n",
    );
    check("#[cfg(test)] mod helpers {\n    fn a() {\n    }\n}\n", "#[cfg(test)] mod helpers { /* 2 lines */ }\n");
}

#[test]
fn long_values_are_cut_in_their_own_form() {
    let cut = |value: &str| {
        let text = format!("const X: T = {value};\n");
        let outline = outline(&text);
        assert_eq!(disagreement(&text, &outline), None);
        outline.skeleton.trim_end().trim_start_matches("const X: T = ").trim_end_matches(';').to_owned()
    };
    let items = "\"item\", ".repeat(40);
    let text = "abcdefghi ".repeat(30);
    assert_eq!(cut("&[1, 2, 3]"), "&[1, 2, 3]");
    assert_eq!(cut(&format!("&[{items}]")), "&[/* … */]");
    assert_eq!(cut(&format!("({items})")), "(/* … */)");
    assert_eq!(cut(&format!("Table {{ rows: [{items}] }}")), "Table { /* … */ }");
    assert_eq!(cut(&format!("LazyLock::new(|| Regex::new([{items}]))")), "LazyLock::new(/* … */)");
    assert_eq!(cut(&format!("concat!({items})")), "concat!(/* … */)");
    assert_eq!(cut(&format!("\"{text}\"")), "\"/* … */\"");
    assert_eq!(cut(&format!("r#\"{text}\"#")), "\"/* … */\"");
    assert_eq!(cut(&format!("b\"{text}\"")), "b\"/* ... */\"");
    assert_eq!(cut(&format!("if A {{ [{items}] }} else {{ B }}")), "{ /* … */ }");
    assert_eq!(cut(&format!("a::b([{items}]).c(1)")), "{ /* … */ }");
    assert_eq!(cut("{\n1;\n2;\n3;\n4;\n5\n}"), "{ /* … */ }");
}
