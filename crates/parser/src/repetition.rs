//! Bounds the time of matching the repetitions of a macro: `$($element:expr),*`.
//!
//! For each fragment rust-analyzer hands all remaining tokens of the call to the parser, so the time grows with the
//! square of the call. Nothing can cancel it.

use std::cell::RefCell;

use real::SyntaxKind;

use crate::Input;

/// Shorter inputs are not tracked.
const SHORT: usize = 128;

/// The most tokens that one call may hand over, all fragments together: those of a list with 10,000 numbers. They take
/// about a second.
const MOST_TOKENS: usize = 100_000_000;

thread_local! {
    static CALL: RefCell<Call> = const { RefCell::new(Call { tokens: Vec::new(), left: 0, handed: 0 }) };
}

/// How an input continues what the thread parsed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fragment {
    /// It may be the first of its call.
    First,
    /// It is the rest of a longer input.
    Next,
    /// The same, and the call has handed over too many tokens.
    TooMany,
}

/// The macro call whose fragments the thread parses.
struct Call {
    /// The tokens of the first fragment and all after it.
    tokens: Vec<SyntaxKind>,
    /// The number of tokens of the last fragment and all after it.
    left: usize,
    handed: usize,
}

pub(crate) fn fragment(input: &Input) -> Fragment {
    if input.len() < SHORT {
        return Fragment::First;
    }
    CALL.with_borrow_mut(|it| it.fragment(input.tokens.iter().map(|it| it.contextual)))
}

impl Call {
    fn fragment(&mut self, tokens: impl ExactSizeIterator<Item = SyntaxKind> + Clone) -> Fragment {
        let length = tokens.len();
        let is_rest = length < self.left && {
            let rest = &self.tokens[self.tokens.len() - length..];
            rest.iter().copied().eq(tokens.clone())
        };
        if !is_rest {
            self.tokens.clear();
            self.tokens.extend(tokens);
            (self.left, self.handed) = (length, length);
            return Fragment::First;
        }
        self.left = length;
        self.handed += length;
        if self.handed <= MOST_TOKENS {
            return Fragment::Next;
        }
        *self = Call { tokens: Vec::new(), left: 0, handed: 0 };
        Fragment::TooMany
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SyntaxKind::{COMMA, IDENT, INT_NUMBER};

    fn list(elements: usize) -> Vec<SyntaxKind> {
        [INT_NUMBER, COMMA].repeat(elements)
    }

    /// The fragments of a list until one is refused.
    fn parse(call: &mut Call, tokens: &[SyntaxKind]) -> usize {
        let mut fragments = (0..tokens.len() / 2).map(|it| call.fragment(tokens[2 * it..].iter().copied()));
        assert_eq!(fragments.next(), Some(Fragment::First));
        fragments.take_while(|it| *it == Fragment::Next).count() + 1
    }

    #[test]
    fn a_long_list_is_refused_and_the_next_one_is_not() {
        let mut call = Call { tokens: Vec::new(), left: 0, handed: 0 };
        assert_eq!(parse(&mut call, &list(9_000)), 9_000);
        let refused_after = parse(&mut call, &list(20_000));
        assert!((2_000..20_000).contains(&refused_after), "{refused_after}");
        assert_eq!(parse(&mut call, &list(9_000)), 9_000);
    }

    #[test]
    fn other_tokens_are_another_call() {
        let mut call = Call { tokens: Vec::new(), left: 0, handed: 0 };
        let (long, short) = (list(600), [IDENT; 400]);
        assert_eq!(call.fragment(long.iter().copied()), Fragment::First);
        assert_eq!(call.fragment(long[2..].iter().copied()), Fragment::Next);
        assert_eq!(call.fragment(short.iter().copied()), Fragment::First);
        assert_eq!(call.fragment(long[4..].iter().copied()), Fragment::First);
    }
}
