//! Equal tokens beside each other, of which nobody knows which one was changed.

use super::ThreeWay;
use super::clusters::Cluster;
use crate::tokens::Tokens;

impl ThreeWay<'_, '_> {
    /// Whether the tokens that we removed could be exchanged for equal ones beside them.
    pub(super) fn removes_one_of_equal(&self, Cluster { base, ours, .. }: &Cluster) -> bool {
        let is_equal = |one: usize, other: usize| self.base.get(one) == self.base.get(other);
        if ours.is_empty() {
            return base.start > 0 && is_equal(base.start - 1, base.end - 1)
                || base.end < self.base.len() && is_equal(base.start, base.end);
        }
        let mut all = self.base.slice(base.clone()).chain(self.ours.slice(ours.clone()));
        ours.len() < base.len() && all.all(|it| it == self.base.get(base.start))
    }

    /// Whether a token of the base is equal to the one before it, they have wrapped both otherwise, and we have not left
    /// both as they were: then it is not known which of the two changed (`}}` for two brackets on two lines).
    pub(super) fn may_be_either(&self, at: usize) -> bool {
        let breaks = |tokens: &Tokens, at: usize| tokens.gap(at).contains('\n');
        let before = breaks(self.base, at);
        let is_left = |(first, second): (usize, usize)| first + 1 == second && breaks(self.ours, second) == before;
        self.base.get(at - 1) == self.base.get(at)
            && self.kept[at].is_some_and(|it| breaks(self.theirs, it) != before)
            && !self.ours_kept[at - 1].zip(self.ours_kept[at]).is_some_and(is_left)
    }
}
