//! The lexer, which wraps the real one: converts its tokens to our `Input`, and merges our `Output` with its trivia.

use std::ops::Deref;

use real::{Edition, StrStep, SyntaxKind};

use crate::output::TOO_DEEP;
use crate::{Input, Output};

/// The real `LexedStr`, for our `Input` and `Output`.
pub struct LexedStr<'a>(real::LexedStr<'a>);

impl<'a> Deref for LexedStr<'a> {
    type Target = real::LexedStr<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> LexedStr<'a> {
    pub fn new(edition: Edition, text: &'a str) -> LexedStr<'a> {
        LexedStr(real::LexedStr::new(edition, text))
    }

    pub fn single_token(edition: Edition, text: &'a str) -> Option<(SyntaxKind, Option<String>)> {
        real::LexedStr::single_token(edition, text)
    }

    pub fn to_input(&self, edition: Edition) -> Input {
        let mut input = Input::with_capacity(self.len());
        let mut was_joint = false;
        for token in 0..self.len() {
            let kind = self.kind(token);
            if kind.is_trivia() {
                was_joint = false;
            } else if kind == SyntaxKind::IDENT {
                let keyword = SyntaxKind::from_contextual_keyword(self.text(token), edition);
                // The real parser takes the macro of `safe! { … }` for a modifier.
                let keyword = keyword.filter(|it| *it != SyntaxKind::SAFE_KW || !self.is_called(token));
                input.push_ident(keyword.unwrap_or(SyntaxKind::IDENT), edition);
            } else {
                if was_joint {
                    input.was_joint();
                }
                input.push(kind, edition);
                // For a float, this is whether something follows the point.
                was_joint = kind != SyntaxKind::FLOAT_NUMBER || !self.text(token).ends_with('.');
                if kind == SyntaxKind::FLOAT_NUMBER && was_joint {
                    input.was_joint();
                }
            }
        }
        input
    }

    /// Whether the next token is the `!` of a macro call.
    fn is_called(&self, token: usize) -> bool {
        let mut next = (token + 1..self.len()).map(|it| self.kind(it)).filter(|it| !it.is_trivia());
        next.next() == Some(SyntaxKind::BANG)
    }

    pub fn intersperse_trivia(&self, output: &Output, sink: &mut dyn FnMut(StrStep<'_>)) -> bool {
        let refused = match output.as_real() {
            Ok(parsed) => return self.0.intersperse_trivia(parsed, sink),
            Err(it) => it,
        };
        let kinds = || refused.root.into_iter().chain([SyntaxKind::ERROR]);
        kinds().for_each(|kind| sink(StrStep::Enter { kind }));
        sink(StrStep::Error { msg: TOO_DEEP, pos: 0 });
        for token in 0..self.len() {
            sink(StrStep::Token { kind: self.kind(token), text: self.text(token) });
        }
        kinds().for_each(|_| sink(StrStep::Exit));
        true
    }
}
