//! How deep the syntax tree of Rust can be. The measure is never below the tree's depth and seldom far above it.

use real::{Edition, LexedStr, SyntaxKind, SyntaxKind::*};
use semdex_nesting::Nesting;

/// Far above what people and generators write, and below what analysis bears on a thread with a deep stack.
pub const DEEPEST: usize = 2048;

/// What one pair of brackets counts: a block in a block takes as much stack as so many operators.
const BRACKET: usize = 7;

/// What a closure counts: the time that inference takes grows with the square of closures in closures.
const CLOSURE: usize = 16;

/// The bytes of the token behind which the depth of a text passes [`DEEPEST`]. In broken code a bracket counts as open
/// until its own kind closes it, since the parser may see it so.
pub fn too_deep(text: &str) -> Option<std::ops::Range<usize>> {
    depths(text).find(|it| it.0 > DEEPEST).map(|it| it.1)
}

/// The depth behind each token of a text.
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

/// The greatest depth behind any of these tokens. Each says whether it stands right behind the one before.
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
    /// By the kind that opens it.
    Bracket(SyntaxKind),
    /// The brackets of attributes stand side by side.
    Attribute,
    /// Of generic arguments, or a comparison.
    Angle,
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
    /// What begins a closure's parameters. It counts only where nothing stands between.
    Parameters,
    /// The sign of an attribute.
    Pound,
    /// The end of a block, which ends a statement, an arm or an item unless an operator goes on.
    Block,
    Colon,
    /// The first half of `->` or `=>`. It counts only where nothing stands between.
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
            // What stands in braces is no operand of what stands before.
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
            // An arm begins another tree than its pattern's.
            R_ANGLE if before == Before::Arrow(EQ) && !self.is_in_angles() => self.nesting.end(),
            R_ANGLE if self.is_in_angles() => self.nesting.close(),
            PIPE => match before {
                Before::Operand => {
                    self.nesting.link(1);
                    self.before = Before::Or;
                }
                Before::Or => self.nesting.link(1),
                Before::Parameters => {}
                // The commas that follow may stand among the parameters of a closure.
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
            // `x.0.0`: the lexer sees a number with a point.
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

    /// Closes the innermost bracket if it is of this kind, with the angles in it, and answers what then stands before
    /// the next token.
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

/// Whether an expression may go on with this after a block, or nest what follows in it.
fn goes_on(kind: SyntaxKind) -> bool {
    match kind {
        ELSE_KW | AS_KW => true,
        LIFETIME_IDENT | POUND => false,
        _ => !is_word(kind) && !kind.is_literal(),
    }
}

/// Keywords that something of their own kind may follow at once.
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
