//! How deeply expansions stand in each other. Macros expand to calls of macros, and each expansion is worked out inside of
//! the one around it: the bound on one does not bound them all.

use std::cell::RefCell;

/// rust-analyzer has threads of 16 MiB for everything. Where more is in use when a macro is expanded, only macros that
/// expand to themselves without end got there.
const MOST_IN_USE: usize = 16 << 20;

/// On a small stack so much stays free.
const LEAST_PART: usize = 4;

/// So many expansions in each other are no matter, however long they are. rust-analyzer bounds their number by the
/// crate's `recursion_limit` itself, but not in what `concat!` and the like take.
const FEW: usize = 256;

/// More of them may have so many tokens together: one expansion may have half as many.
const MOST_TOKENS: usize = 4 << 20;

/// Whether another expansion of so many tokens can be worked out here. Inference takes several times the stack of
/// lowering, and nothing asks it to stop: so the bound is far from the end.
pub(crate) fn has_room_for(tokens: usize) -> bool {
    thread_local! {
        static EXPANSIONS: RefCell<Expansions> = const { RefCell::new(Expansions { size: 0, around: Vec::new() }) };
    }
    let Some(left) = stacker::remaining_stack() else { return true };
    EXPANSIONS.with_borrow_mut(|it| it.have_room(left, tokens))
}

#[derive(Default)]
struct Expansions {
    /// Of the stack: what was left when most of it was.
    size: usize,
    /// What was left of the stack for each, and the tokens of all up to it.
    around: Vec<(usize, usize)>,
}

impl Expansions {
    fn have_room(&mut self, left: usize, tokens: usize) -> bool {
        self.size = self.size.max(left);
        // Whoever worked one of these out has returned if less was left for it.
        while self.around.pop_if(|it| it.0 <= left).is_some() {}
        let tokens = self.around.last().map_or(0, |it| it.1) + tokens;
        let least = self.size.saturating_sub(MOST_IN_USE).max(self.size / LEAST_PART);
        if left < least || self.around.len() >= FEW && tokens > MOST_TOKENS {
            return false;
        }
        self.around.push((left, tokens));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_each_other_is_bounded() {
        let size = 256 << 20;
        let mut one = Expansions::default();
        assert!(
            one.have_room(size, 1) && one.have_room(size - MOST_IN_USE, 1) && !one.have_room(size - MOST_IN_USE - 1, 1)
        );
        let mut small = Expansions::default();
        assert!(small.have_room(2 << 20, 1) && small.have_room(1 << 20, 1) && !small.have_room(500 << 10, 1));
        let mut nested = Expansions::default();
        let deepest = (0..2000).take_while(|it| nested.have_room(size - it * 100, 10_000)).count();
        assert_eq!(deepest, MOST_TOKENS / 10_000);
        let mut beside = Expansions::default();
        assert!((0..2000).all(|it| beside.have_room(size - it % 10 * 100, 10_000)));
        let mut short = Expansions::default();
        assert!((0..2000).all(|it| short.have_room(size - it * 100, 10)));
    }
}
