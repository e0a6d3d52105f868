//! The guard before the parser: how deep the syntax tree of a text can be.
//!
//! The parser descends by recursion, and so does everything behind it: lowering, inference, our own walks, the release
//! of a tree. A deep tree overflows the stack, and no panic handler helps against that: the process ends. A tree is as
//! deep as its brackets, and as its chains: `!!!!x`, `a.b().c()`, `a + b + c`, `else if … else if`, `Vec<Vec<…` add a
//! level with each link, to the left or to the right. So a text is measured by its tokens, without a tree, before
//! anything else looks at it. The measure is never below the tree's depth and seldom far above it.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, strip_shebang, tokenize};

use crate::model::Span;

/// Far above what people and generators write, and below what analysis bears on a thread of `STACK_BYTES`: see
/// `tests/it/depth.rs`.
pub const DEEPEST: usize = 2048;

/// What one pair of brackets counts: a block in a block takes as much stack as so many operators.
const BRACKET: usize = 7;

/// Where the depth of a text passes [`DEEPEST`]: such a text must be given to no parser. In broken code a bracket counts
/// as open until its own kind closes it, since the parser may see it so.
pub fn too_deep(text: &str) -> Option<Span> {
    depths(text).find(|it| it.0 > DEEPEST).map(|it| it.1)
}

/// The depth behind each token.
fn depths(text: &str) -> impl Iterator<Item = (usize, Span)> + '_ {
    let mut depth = Depth::default();
    let mut start = strip_shebang(text).unwrap_or(0);
    tokenize(text.get(start..).unwrap_or_default(), FrontmatterAllowed::Yes).map(move |token| {
        let span = Span::new(start, start + token.len as usize);
        start = span.end;
        depth.take(token.kind, text.get(span.start..span.end).unwrap_or_default());
        (depth.total, span)
    })
}

/// What is open where the measure stands.
#[derive(Default)]
struct Depth {
    /// Brackets and angles that are open, each with the chain around it.
    open: Vec<(Opened, Chain)>,
    chain: Chain,
    /// Of all that is open.
    total: usize,
    before: Before,
}

#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Bracket(TokenKind),
    /// The brackets of attributes stand side by side.
    Attribute,
    /// Of generic arguments, or a comparison.
    Angle,
}

/// What may nest without a bracket, since the last separator.
#[derive(Default, Clone, Copy)]
struct Chain {
    links: usize,
    /// So many of these a comma does not end: it may stand among a closure's parameters.
    kept: usize,
}

/// What stands before a token, white space and comments aside.
#[derive(Default, Clone, Copy, PartialEq)]
enum Before {
    #[default]
    Other,
    /// What ends an operand for certain: behind it `|` begins no closure.
    Operand,
    /// The first half of `||` behind an operand. It counts only where nothing stands between.
    Or,
    /// The sign of an attribute.
    Pound,
    /// The end of a block, which ends a statement, an arm or an item unless an operator goes on.
    Block,
    Colon,
    /// The first half of `->` or `=>`. It counts only where nothing stands between.
    Arrow(TokenKind),
    Dot,
    /// `..`
    Range,
}

impl Depth {
    fn take(&mut self, kind: TokenKind, word: &str) {
        use TokenKind::*;
        if matches!(kind, Whitespace | LineComment { .. } | BlockComment { .. } | Frontmatter { .. }) {
            if matches!(self.before, Before::Arrow(_) | Before::Or) {
                self.before = Before::Other;
            }
            return;
        }
        let before = std::mem::take(&mut self.before);
        if before == Before::Block && !goes_on(kind, word) {
            self.restart(0);
        }
        match kind {
            OpenBracket if before == Before::Pound => self.open(Opened::Attribute, 0, BRACKET),
            // What stands in braces is no operand of what stands before.
            OpenBrace => self.open(Opened::Bracket(kind), 0, BRACKET),
            OpenParen | OpenBracket => self.open(Opened::Bracket(kind), 1, BRACKET),
            CloseParen => self.before = self.close(OpenParen),
            CloseBracket => self.before = self.close(OpenBracket),
            CloseBrace => {
                self.close(OpenBrace);
                self.before = Before::Block;
            }
            Semi => {
                while let Some((_, around)) = self.open.pop_if(|it| it.0 == Opened::Angle) {
                    self.restart(0);
                    self.chain = around;
                }
                self.restart(0);
            }
            Comma => self.restart(self.chain.kept),
            Lt => self.open(Opened::Angle, 1, 0),
            Gt if before == Before::Arrow(Minus) => {}
            // An arm begins another tree than its pattern's.
            Gt if before == Before::Arrow(Eq) && !self.is_in_angles() => self.restart(0),
            Gt if self.is_in_angles() => {
                self.restart(0);
                self.chain = self.open.pop().map(|it| it.1).unwrap_or_default();
            }
            Or => {
                self.link(1);
                match before {
                    Before::Operand => self.before = Before::Or,
                    Before::Or => {}
                    _ => self.chain.kept = self.chain.links,
                }
            }
            Colon if before == Before::Colon => self.link(1),
            Colon => self.before = Before::Colon,
            Eq if before == Before::Range => {}
            Minus | Eq => {
                self.link(1);
                self.before = Before::Arrow(kind);
            }
            Dot if before == Before::Dot => self.before = Before::Range,
            Dot => {
                self.link(1);
                self.before = Before::Dot;
            }
            Pound => self.before = Before::Pound,
            Bang if before == Before::Pound => self.before = Before::Pound,
            Question => {
                self.link(1);
                self.before = Before::Operand;
            }
            Bang | Star | And | Gt | Plus | Slash | Caret | Percent | At | Tilde => self.link(1),
            Ident if nests(word) => self.link(1),
            // `x.0.0`: the lexer sees a number with a point.
            Literal { kind: LiteralKind::Float { .. }, .. } if before == Before::Dot => {
                self.link(1);
                self.before = Before::Operand;
            }
            Ident | RawIdent | Literal { .. } => self.before = Before::Operand,
            _ => {}
        }
    }

    fn is_in_angles(&self) -> bool {
        self.open.last().is_some_and(|it| it.0 == Opened::Angle)
    }

    fn link(&mut self, count: usize) {
        self.chain.links += count;
        self.total += count;
    }

    /// What comes now stands beside what came before, but for so many links.
    fn restart(&mut self, kept: usize) {
        self.total -= self.chain.links - kept;
        self.chain = Chain { links: kept, kept };
    }

    fn open(&mut self, opened: Opened, links: usize, weight: usize) {
        self.link(links);
        self.open.push((opened, std::mem::take(&mut self.chain)));
        self.total += weight;
    }

    /// Closes the innermost bracket if it is of this kind, with the angles in it, and answers what then stands before
    /// the next token.
    fn close(&mut self, kind: TokenKind) -> Before {
        let at = self.open.iter().rposition(|it| it.0 != Opened::Angle);
        let Some((at, opened)) = at.and_then(|at| Some((at, self.open.get(at)?.0))) else { return Before::Operand };
        let is_attribute = opened == Opened::Attribute && kind == TokenKind::OpenBracket;
        if opened != Opened::Bracket(kind) && !is_attribute {
            return Before::Operand;
        }
        for (_, around) in self.open.drain(at..).rev() {
            self.total -= self.chain.links;
            self.chain = around;
        }
        self.total -= BRACKET;
        if is_attribute { Before::Other } else { Before::Operand }
    }
}

/// Whether an expression may go on with this after a block, or nest what follows in it.
fn goes_on(kind: TokenKind, word: &str) -> bool {
    use TokenKind::*;
    match kind {
        Ident => matches!(word, "else" | "as"),
        RawIdent | UnknownPrefix | Literal { .. } | Lifetime { .. } | RawLifetime | Pound => false,
        _ => true,
    }
}

/// Keywords that something of their own kind may follow at once.
fn nests(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "await"
            | "become"
            | "box"
            | "break"
            | "const"
            | "do"
            | "dyn"
            | "else"
            | "extern"
            | "fn"
            | "for"
            | "gen"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "move"
            | "mut"
            | "ref"
            | "return"
            | "static"
            | "try"
            | "unsafe"
            | "while"
            | "where"
            | "yeet"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> usize {
        depths(text).map(|it| it.0).max().unwrap_or_default()
    }

    /// What adds a level with each repetition is measured by its repetitions.
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
            assert!(measure(&text) >= 100 * BRACKET, "{open}");
        }
    }

    /// What stands side by side does not.
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
            // The first in a row may stand after something.
            assert!(whole(1000) <= whole(2) + 2, "{one}: {} for 2, {} for 1000", whole(2), whole(1000));
        }
    }
}
