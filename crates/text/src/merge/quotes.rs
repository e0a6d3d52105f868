//! Quotes that both sides of a merge have changed.

use std::ops::Range;

use super::ThreeWay;
use super::clusters::Cluster;
use crate::tokens::Tokens;

impl ThreeWay<'_, '_> {
    /// Whether both have changed one quote of a pair, each at another place: then a literal would begin or end elsewhere.
    pub(crate) fn both_change_quotes(&self) -> bool {
        const QUOTES: [char; 2] = ['"', '`'];
        let count = |tokens: &Tokens, range: &Range<usize>, quote: char| {
            tokens.slice(range.clone()).map(|it| it.matches(quote).count()).sum::<usize>()
        };
        let is_odd = |new: (&Tokens, &Range<usize>), old: &Range<usize>, quote: char| {
            (count(new.0, new.1, quote) + count(self.base, old, quote)) % 2 == 1
        };
        let is_ours = |it: &Cluster, quote: char| it.is_ours && is_odd((self.ours, &it.ours), &it.base, quote);
        let is_theirs = |it: &Cluster, quote: char| !it.is_ours && is_odd((self.theirs, &it.theirs), &it.base, quote);
        let any = |is: &dyn Fn(&Cluster, char) -> bool, quote: char| self.clusters.iter().any(|it| is(it, quote));
        QUOTES.into_iter().any(|quote| any(&is_ours, quote) && any(&is_theirs, quote))
    }
}
