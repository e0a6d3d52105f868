//! Measures the depth of Rust's syntax tree. The measure is never below the tree's depth and seldom far above it.

use real::{Edition, LexedStr, SyntaxKind, SyntaxKind::*};
use semdex_nesting::Nesting;

/// Far above what people and generators write, and below what the analysis can process on a thread with a deep stack.
pub const DEEPEST: usize = 2048;

/// The weight of a pair of brackets: a block within a block takes as much stack as this many operators.
const BRACKET: usize = 7;

/// The weight of a closure: the time of inference grows with the square of the nesting of closures.
const CLOSURE: usize = 16;

/// The range of the token at which the depth of a text exceeds [`DEEPEST`]. In broken code a bracket counts as open
/// until a bracket of its own kind closes it, since the parser may read it so.
pub fn too_deep(text: &str) -> Option<std::ops::Range<usize>> {
    depths(text).find(|it| it.0 > DEEPEST).map(|it| it.1)
}

/// The depth after each token of a text.
pub fn depths(text: &str) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let tokens = LexedStr::new(Edition::LATEST, text);
    let mut depth = Depth::default();
    let mut is_joint = false;
    (0..tokens.len()).map(move |it| {
        let kind = match tokens.kind(it) {
            IDENT => SyntaxKind::from_contextual_keyword(tokens.text(it), Edition::LATEST).unwrap_or(IDENT),
            kind => kind,
        };
        if !kind.is_trivia() {
            depth.take(kind, is_joint);
        }
        is_joint = !kind.is_trivia();
        (depth.nesting.depth(), tokens.text_range(it))
    })
}

/// The greatest depth after any of these tokens. Each has a flag: whether it directly follows the previous token.
pub(crate) fn deepest(tokens: impl Iterator<Item = (SyntaxKind, bool)>) -> usize {
    let mut depth = Depth::default();
    let depths = tokens.map(|(kind, is_joint)| {
        depth.take(kind, is_joint);
        depth.nesting.depth()
    });
    depths.max().unwrap_or(0)
}

#[derive(Default)]
struct Depth {
    nesting: Nesting<Opened>,
    before: Before,
}

#[derive(Clone, Copy, PartialEq)]
enum Opened {
    /// A bracket, by the kind of its opening token.
    Bracket(SyntaxKind),
    /// Consecutive attributes do not nest.
    Attribute,
    /// The `<` of generic arguments or of a comparison.
    Angle,
}

/// What precedes a token, apart from white space and comments.
#[derive(Default, Clone, Copy, PartialEq)]
enum Before {
    #[default]
    Other,
    /// The certain end of an operand: a `|` after it does not begin a closure.
    Operand,
    /// The first half of `||` after an operand. It counts only if the second half follows directly.
    Or,
    /// The beginning of a closure's parameters. It counts only if the second half follows directly.
    Parameters,
    /// The `#` of an attribute.
    Pound,
    /// The end of a block. It ends a statement, an arm or an item unless an operator follows.
    Block,
    Colon,
    /// The first half of `->` or `=>`. It counts only if the second half follows directly.
    Arrow(SyntaxKind),
    Dot,
    /// `..`
    Range,
}

impl Depth {
    fn take(&mut self, kind: SyntaxKind, is_joint: bool) {
        let mut before = std::mem::take(&mut self.before);
        if !is_joint && matches!(before, Before::Arrow(_) | Before::Or | Before::Parameters) {
            before = Before::Other;
        }
        if before == Before::Block && !goes_on(kind) {
            self.nesting.end();
        }
        match kind {
            L_BRACK if before == Before::Pound => self.nesting.open(Opened::Attribute, BRACKET),
            // The contents of braces are not an operand of what precedes the braces.
            L_CURLY => self.nesting.open(Opened::Bracket(kind), BRACKET),
            L_PAREN | L_BRACK => {
                self.nesting.link(1);
                self.nesting.open(Opened::Bracket(kind), BRACKET);
            }
            R_PAREN => self.before = self.close(L_PAREN),
            R_BRACK => self.before = self.close(L_BRACK),
            R_CURLY => {
                self.close(L_CURLY);
                self.before = Before::Block;
            }
            SEMICOLON => {
                while self.is_in_angles() {
                    self.nesting.close();
                }
                self.nesting.end();
            }
            COMMA => self.nesting.separate(),
            L_ANGLE => {
                self.nesting.link(1);
                self.nesting.open(Opened::Angle, 0);
            }
            R_ANGLE if before == Before::Arrow(MINUS) => {}
            // The body of an arm is not in the tree of its pattern.
            R_ANGLE if before == Before::Arrow(EQ) && !self.is_in_angles() => self.nesting.end(),
            R_ANGLE if self.is_in_angles() => self.nesting.close(),
            PIPE => match before {
                Before::Operand => {
                    self.nesting.link(1);
                    self.before = Before::Or;
                }
                Before::Or => self.nesting.link(1),
                Before::Parameters => {}
                // The commas that follow may separate the parameters of a closure.
                _ => {
                    self.nesting.link(CLOSURE);
                    self.nesting.keep();
                    self.before = Before::Parameters;
                }
            },
            COLON if before == Before::Colon => self.nesting.link(1),
            COLON => self.before = Before::Colon,
            EQ if before == Before::Range => {}
            MINUS | EQ => {
                self.nesting.link(1);
                self.before = Before::Arrow(kind);
            }
            DOT if before == Before::Dot => self.before = Before::Range,
            DOT => {
                self.nesting.link(1);
                self.before = Before::Dot;
            }
            POUND => self.before = Before::Pound,
            BANG if before == Before::Pound => self.before = Before::Pound,
            QUESTION => {
                self.nesting.link(1);
                self.before = Before::Operand;
            }
            BANG | STAR | AMP | R_ANGLE | PLUS | SLASH | CARET | PERCENT | AT | TILDE => self.nesting.link(1),
            // `x.0.0`: the lexer reads a float.
            FLOAT_NUMBER if before == Before::Dot => {
                self.nesting.link(1);
                self.before = Before::Operand;
            }
            _ if nests(kind) => self.nesting.link(1),
            _ if is_word(kind) || kind.is_literal() => self.before = Before::Operand,
            _ => {}
        }
    }

    fn is_in_angles(&self) -> bool {
        self.nesting.innermost() == Some(&Opened::Angle)
    }

    /// Closes the innermost bracket of this kind with the angles in it, and returns what precedes the next token.
    fn close(&mut self, kind: SyntaxKind) -> Before {
        match self.nesting.find(|it| *it != Opened::Angle) {
            Some((around, Opened::Attribute)) if kind == L_BRACK => {
                self.nesting.close_to(around);
                Before::Other
            }
            Some((around, opened)) if *opened == Opened::Bracket(kind) => {
                self.nesting.close_to(around);
                Before::Operand
            }
            _ => Before::Operand,
        }
    }
}

fn is_word(kind: SyntaxKind) -> bool {
    matches!(kind, IDENT | UNDERSCORE) || kind.is_keyword(Edition::LATEST)
}

/// Whether an expression can continue with this token after a block, or nest what follows it.
fn goes_on(kind: SyntaxKind) -> bool {
    match kind {
        ELSE_KW | AS_KW => true,
        LIFETIME_IDENT | POUND => false,
        _ => !is_word(kind) && !kind.is_literal(),
    }
}

/// Keywords that another one of the same kind may follow directly.
fn nests(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        AS_KW
            | ASYNC_KW
            | AWAIT_KW
            | BECOME_KW
            | BOX_KW
            | BREAK_KW
            | CONST_KW
            | DO_KW
            | DYN_KW
            | ELSE_KW
            | EXTERN_KW
            | FN_KW
            | FOR_KW
            | GEN_KW
            | IF_KW
            | IMPL_KW
            | IN_KW
            | LET_KW
            | LOOP_KW
            | MATCH_KW
            | MOVE_KW
            | MUT_KW
            | REF_KW
            | RETURN_KW
            | STATIC_KW
            | TRY_KW
            | UNSAFE_KW
            | WHERE_KW
            | WHILE_KW
            | YEET_KW
            | YIELD_KW
    )
}
