//! The guard before the parser: the depth of a text's syntax tree.
//!
//! The parser descends by recursion, and so does everything after it: lowering, inference, our own walks, the release
//! of a tree. A deep tree overflows the stack, which no panic handler can catch: the process ends. The depth of a text
//! is therefore computed from its tokens, without a tree, before anything else uses it; `crates/parser` does the same
//! for the expansions of macros.

use ra_ap_parser::{TOO_DEEP, TOO_LONG, nesting};

use semdex_model::Span;

/// Where the depth of a text exceeds the bound: such a text must not be parsed.
pub(crate) fn too_deep(text: &str) -> Option<Span> {
    nesting::too_deep(text).map(|it| Span::new(it.start, it.end))
}

/// Whether this error is about a macro expansion that is nested too deeply: the compiler does not report it.
pub(crate) fn is_refusal(message: &str) -> bool {
    message.contains(TOO_DEEP)
}

/// Whether this error is about a macro call that is too long: the compiler does not report it either.
pub(crate) fn is_too_long(message: &str) -> bool {
    message.contains(TOO_LONG)
}

#[cfg(test)]
mod tests {
    use ra_ap_parser::nesting::depths;

    fn measure(text: &str) -> usize {
        depths(text).map(|it| it.0).max().unwrap_or_default()
    }

    /// A construct that adds a level with each repetition has a depth of its repetitions.
    #[test]
    fn chains_add_up() {
        let chains: [(&str, &str, &str); 40] = [
            ("const A: bool = ", "!", "x;"),
            ("const A: i8 = ", "-", "x;"),
            ("const A: i8 = ", "*", "x;"),
            ("const A: T = ", "&", "x;"),
            ("const A: T = ", "& mut ", "x;"),
            ("const A: T = ", "|| ", "x;"),
            ("const A: T = ", "|a, b| ", "x;"),
            ("const A: T = ", "..", "x;"),
            ("const A: T = x", ".a", ";"),
            ("const A: T = x", ".a()", ";"),
            ("const A: T = x", ".0", ";"),
            ("const A: T = x", ".0.0", ";"),
            ("const A: T = x", ".await", ";"),
            ("const A: T = x", "?", ";"),
            ("const A: T = x", "()", ";"),
            ("const A: T = x", "[0]", ";"),
            ("const A: T = x", " + 1", ";"),
            ("const A: T = x", " && y", ";"),
            ("const A: T = x", " = y", ";"),
            ("const A: T = x", " as u8", ";"),
            ("const A: T = x", "::a", ";"),
            ("use x", "::a", ";"),
            ("fn f() { ", "return ", "1; }"),
            ("fn f() { if x {} ", "else if x {} ", "else {} }"),
            ("fn f() { ", "if ", "x {} }"),
            ("fn f() { ", "async move ", "{}; }"),
            ("fn f() { ", "let x = ", "1; }"),
            ("fn f(", "& ", "x: T) {}"),
            ("fn f() { let ", "x @ ", "_ = y; }"),
            ("fn f() { let ", "box ", "x = y; }"),
            ("type A = ", "&", "T;"),
            ("type A = ", "&'a ", "T;"),
            ("type A = ", "*const ", "T;"),
            ("type A = ", "fn() -> ", "T;"),
            ("type A = ", "Vec<", ""),
            ("type A = ", "Result<u8, ", ""),
            ("type A = ", "impl A<B = ", ""),
            ("type A = ", "dyn ", "T;"),
            ("type A = ", "for<'a> ", "fn();"),
            ("type A = ", "<", "T"),
        ];
        for (before, link, behind) in chains {
            let text = format!("{before}{}{behind}", link.repeat(500));
            assert!(measure(&text) >= 500, "{link}: {}", measure(&text));
        }
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("mod a {", "}"), ("m!(", ")")] {
            let text = format!("{}{}", open.repeat(100), close.repeat(100));
            assert!(measure(&text) >= 100 * 7, "{open}");
        }
    }

    /// Constructs next to each other do not.
    #[test]
    fn siblings_do_not() {
        let siblings: [(&str, &str, &str); 22] = [
            ("", "fn f(a: &u8) -> Vec<u8> { a + 1 }\n", ""),
            ("", "struct S<T: A<B>>(T);\n", ""),
            ("", "impl A for B { fn f() -> u8 { 1 } }\n", ""),
            ("", "#[a(b)]\n#[c]\nmod x;\n", ""),
            ("enum E { ", "#[a] A = -1, B(u8), C { x: u8 },", "}"),
            ("struct S { ", "#[a] pub a: Vec<Vec<u8>>, b: fn() -> u8,", "}"),
            ("static A: &[(&str, i8)] = &[", "(\"a\", -1 as i8), f(&x)?, x.y.z | 3, a || b,", "];"),
            ("static A: &[X] = &[", "X { a: 1, b: &[1, 2] },", "];"),
            ("fn f() { match x { ", "A | B if x < 3 => {}\n(A, -1) => a + b,\n&C => {}\n[a, ..] => {}\n", "} }"),
            ("fn f() { ", "if a < b { x } else { y }\n*x = 1;\n&y;\n", "}"),
            ("fn f() { ", "{ a }\n", "}"),
            ("fn f() { ", "for i in x { a(i) }\nwhile y { b() }\n", "}"),
            ("fn f() { ", "let x = a.b().c() + 1;\n", "}"),
            ("fn f() { ", "x(y)?;\n", "}"),
            ("use a::{", "b::c, d::{e, f},", "};"),
            ("macro_rules! m { ", "($a:expr, $($b:tt)*) => { $a + 1 };", "}"),
            ("m! { ", "a => 1, b => !2,", "}"),
            ("m! { ", "a = b; c = d;", "}"),
            ("m! { ", "item { a: b }\n", "}"),
            ("", "/// > > > [a](b) ((( !!! \n// ((( \n/* ((( */ const A: char = '(';\n", ""),
            ("", "macro_rules! a { () => {} }\nm! {}\n", ""),
            ("where T: A", ", B: C<D>, E: for<'a> F<'a>", ","),
        ];
        for (before, one, behind) in siblings {
            let whole = |count: usize| measure(&format!("{before}{}{behind}", one.repeat(count)));
            // The first in a row may follow something else.
            assert!(whole(1000) <= whole(2) + 2, "{one}: {} for 2, {} for 1000", whole(2), whole(1000));
        }
    }
}
