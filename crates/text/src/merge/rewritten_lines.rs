//! Lines that we rewrite around a change of theirs.

use std::ops::Range;

use super::clusters::Cluster;
use super::{Conflict, SAME_TOKENS, ThreeWay};
use crate::tokens::{Tokens, is_word};

impl ThreeWay<'_, '_> {
    /// A sign that an author recalls otherwise, between two changes of its line, may be a part of what the author rewrites.
    pub(super) fn check_rewritten_lines(&self) -> Result<(), Conflict> {
        let line = |at: usize| self.lines[0].get(at.min(self.base.len().saturating_sub(1)));
        let signs =
            |tokens: &Tokens, range: &Range<usize>| tokens.slice(range.clone()).all(|it| !it.starts_with(is_word));
        let is_between = |it: &&[Cluster]| {
            let [before, sign, after] = it else { return false };
            let lines =
                [before.base.end.saturating_sub(1), sign.base.start, after.base.start.saturating_sub(1)].map(line);
            !sign.is_ours
                && before.is_ours
                && after.is_ours
                && lines[0] == lines[1]
                && lines[1] == lines[2]
                && signs(self.base, &sign.base)
                && signs(self.theirs, &sign.theirs)
        };
        match self.clusters.windows(3).find(is_between).filter(|_| self.context.recalled) {
            Some(it) => Err(self.conflict(SAME_TOKENS, it[1].ranges())),
            None => Ok(()),
        }
    }
}
