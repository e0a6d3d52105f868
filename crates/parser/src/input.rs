//! The input of the parser: keeps each token, so that the depth is measured before the real parser runs.

use real::{Edition, SyntaxKind};

use crate::nesting::{DEEPEST, deepest};

/// Replaces the real `Input`, whose tokens are private.
pub struct Input {
    pub(crate) real: real::Input,
    pub(crate) tokens: Vec<Token>,
}

pub(crate) struct Token {
    pub(crate) kind: SyntaxKind,
    /// The keyword that the parser may take an identifier for.
    pub(crate) contextual: SyntaxKind,
    is_joint: bool,
}

impl Input {
    #[inline]
    pub fn with_capacity(capacity: usize) -> Input {
        Input { real: real::Input::with_capacity(capacity), tokens: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub fn push(&mut self, kind: SyntaxKind, edition: Edition) {
        self.real.push(kind, edition);
        self.tokens.push(Token { kind, contextual: kind, is_joint: false });
    }

    #[inline]
    pub fn push_ident(&mut self, contextual: SyntaxKind, edition: Edition) {
        self.real.push_ident(contextual, edition);
        self.tokens.push(Token { kind: SyntaxKind::IDENT, contextual, is_joint: false });
    }

    #[inline]
    pub fn was_joint(&mut self) {
        self.real.was_joint();
        if let Some(last) = self.tokens.last_mut() {
            last.is_joint = true;
        }
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub(crate) fn is_too_deep(&self) -> bool {
        let mut is_joint = false;
        let tokens = self.tokens.iter().map(|it| (it.contextual, std::mem::replace(&mut is_joint, it.is_joint)));
        // Each token counts for something, but few count for much.
        self.tokens.len() > DEEPEST / 16 && deepest(tokens) > DEEPEST
    }
}
