//! Bounds the nesting of macro expansions. Macros expand to calls of macros, and each expansion is computed inside the
//! expansion around it. A bound on a single expansion does not bound them all.

use std::cell::RefCell;

/// rust-analyzer's own threads have 16 MiB for everything. If more is in use when a macro is expanded, only macros that
/// expand to themselves without end can be the reason.
const MOST_IN_USE: usize = 16 << 20;

/// This part of a small stack stays free.
const LEAST_PART: usize = 4;

/// This many nested expansions are harmless, however long they are. rust-analyzer itself bounds their number by the
/// crate's `recursion_limit`, except in the arguments of `concat!` and similar macros.
const FEW: usize = 256;

/// More nested expansions may have this many tokens together; a single expansion may have half as many.
const MOST_TOKENS: usize = 4 << 20;

/// Whether another expansion of `tokens` tokens can be computed here. Inference needs several times the stack of
/// lowering, and does not check this bound. The bound is therefore far from the end of the stack.
pub(crate) fn has_room_for(tokens: usize) -> bool {
    thread_local! {
        static EXPANSIONS: RefCell<Expansions> = const { RefCell::new(Expansions { size: 0, around: Vec::new() }) };
    }
    let Some(left) = stacker::remaining_stack() else { return true };
    EXPANSIONS.with_borrow_mut(|it| it.have_room(left, tokens))
}

#[derive(Default)]
struct Expansions {
    /// The size of the stack: the most that was ever left.
    size: usize,
    /// For each open expansion: the stack that was left, and the tokens of all expansions up to it.
    around: Vec<(usize, usize)>,
}

impl Expansions {
    fn have_room(&mut self, left: usize, tokens: usize) -> bool {
        self.size = self.size.max(left);
        // Expansions that began with less stack left have returned.
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
