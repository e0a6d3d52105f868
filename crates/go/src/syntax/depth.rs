//! A limit on nesting before the parser runs: the possible depth of a text's syntax tree. A recursive tree walk needs
//! stack for this depth, and a tree is as deep as its brackets and its chains: `!!!x`, `a.b().c()`, `a + b + c`, `else
//! if`.

use semdex_nesting::Nesting;

use super::lexer::{Kind, is_keyword, tokens};
use semdex_model::Span;

/// The maximum in Go's own sources is 964, compiler torture tests excluded; code by people and generators is far below
/// the limit. Much deeper code takes gopls and the compiler's type checker seconds.
pub(crate) const DEEPEST: usize = 4096;

/// The depth of one pair of brackets: a nested statement adds several levels to the tree.
const BRACKET: usize = 8;

/// The place where the depth of a text exceeds the limit; such a text is not parsed. A bracket counts as open until its
/// own kind closes it.
pub(crate) fn too_deep(text: &str) -> Option<Span> {
    depths(text).find(|it| it.0 > DEEPEST).map(|it| it.1)
}

/// The depth after each token.
fn depths(text: &str) -> impl Iterator<Item = (usize, Span)> + '_ {
    let mut depth = Depth::default();
    tokens(text).map(move |token| {
        depth.take(token.kind, text.get(token.span.start..token.span.end).unwrap_or_default());
        (depth.nesting.depth(), token.span)
    })
}

#[derive(Default)]
struct Depth {
    /// Open brackets, by their closing token.
    nesting: Nesting<&'static str>,
    /// Whether a line break would end the statement here.
    may_end: bool,
    /// The preceding sign, if it may be the first half of `++` or `--`.
    half: Option<char>,
}

impl Depth {
    fn take(&mut self, kind: Kind, word: &str) {
        let half = self.half.take();
        match kind {
            Kind::Comment => {}
            Kind::Space if self.may_end && word.contains('\n') => self.nesting.end(),
            Kind::Space => {}
            Kind::Text | Kind::Number => self.may_end = true,
            Kind::Word => {
                self.may_end = !is_keyword(word) || matches!(word, "break" | "continue" | "fallthrough" | "return");
                match word {
                    // A new clause is a sibling of the previous one.
                    "case" | "default" => self.nesting.end(),
                    _ => self.nesting.link(usize::from(!self.may_end)),
                }
            }
            Kind::Mark => {
                let is_step = half.is_some() && word.chars().next() == half;
                if !is_step {
                    self.half = word.chars().next().filter(|it| matches!(it, '+' | '-'));
                }
                self.may_end = is_step || matches!(word, ")" | "]" | "}");
                match word {
                    "(" => self.open(")"),
                    "[" => self.open("]"),
                    "{" => self.open("}"),
                    ")" | "]" | "}" if self.nesting.innermost() == Some(&word) => self.nesting.close(),
                    ")" | "]" | "}" => {}
                    "," | ";" => self.nesting.end(),
                    _ => self.nesting.link(1),
                }
            }
        }
    }

    fn open(&mut self, closed_by: &'static str) {
        self.nesting.link(1);
        self.nesting.open(closed_by, BRACKET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> usize {
        depths(text).map(|it| it.0).max().unwrap_or_default()
    }

    #[test]
    fn chains_add_up() {
        let chains = [
            "!",
            "-",
            "*",
            "&",
            "<-",
            "x + ",
            "x && ",
            "x.",
            "x()",
            "[0]",
            "[]",
            "[2]",
            "map[int]",
            "chan ",
            "func() ",
            "func() {",
            "struct { a ",
            "interface { M(",
            "if x {",
            "else if x {} ",
            "a: ",
            "T[",
            "T{",
            "{",
            "(",
            "for {",
            "x + \n",
            "x.\n",
        ];
        for link in chains {
            let text = format!("package p\n\nvar x = {}", link.repeat(500));
            assert!(measure(&text) >= 500, "{link}: {}", measure(&text));
        }
    }

    #[test]
    fn siblings_do_not() {
        let siblings = [
            "func f(a, b *int) (map[string][]int, error) { return a.b().c() + 1, nil }\n",
            "x := a.b(c)\n",
            "x++\n",
            "case a, b:\n\tx()\n",
            "default:\n",
            "if a { b() } else { c() }\n",
            "{a: -1, b: []T{}},\n",
            "a | b, !c,",
            "type T struct { a, b int `json:\"a\"` }\n",
            "// ((( !!!\n",
            "\"(((\" +\n\"x\"\n",
        ];
        for one in siblings {
            let whole = |count: usize| measure(&format!("package p\n{}", one.repeat(count)));
            assert!(whole(1000) <= whole(2), "{one}: {} for 2, {} for 1000", whole(2), whole(1000));
        }
        assert_eq!(too_deep(include_str!("../checker/program/check.go")), None);
    }
}
