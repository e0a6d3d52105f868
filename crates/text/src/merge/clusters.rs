//! The changes of two texts of one base: which of them touch each other.

use std::ops::Range;

use crate::tokens::{Change, Tokens};

/// Changes of both sides that touch, as ranges of tokens.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    pub(super) base: Range<usize>,
    pub(super) ours: Range<usize>,
    pub(super) theirs: Range<usize>,
    pub(super) is_ours: bool,
    /// Their changes in it.
    pub(super) changes: Vec<Change>,
}

impl Cluster {
    pub(super) fn ranges(&self) -> [Range<usize>; 3] {
        [&self.base, &self.ours, &self.theirs].map(Range::clone)
    }
}

/// Changes of several lines as changes of whole lines: where such a change begins and ends is known by lines at best,
/// since tokens at its edges are often like those that it adds or removes.
pub(super) fn of_whole_lines(old: &Tokens, new: &Tokens, changes: Vec<Change>) -> Vec<Change> {
    let mut widened: Vec<Change> = Vec::new();
    let begins = |old_at: usize, new_at: usize| {
        (old_at == old.len() || old.begins_line(old_at)) && (new_at == new.len() || new.begins_line(new_at))
    };
    let mut changes = changes.into_iter().peekable();
    while let Some(mut change) = changes.next() {
        if old.has_line_end(&change.old) || new.has_line_end(&change.new) {
            while change.old.start > 0 && !begins(change.old.start, change.new.start) {
                match widened.pop_if(|it| it.old.end == change.old.start) {
                    Some(before) => (change.old.start, change.new.start) = (before.old.start, before.new.start),
                    None => (change.old.start, change.new.start) = (change.old.start - 1, change.new.start - 1),
                }
            }
            while change.old.end < old.len() && !begins(change.old.end, change.new.end) {
                match changes.next_if(|it| it.old.start == change.old.end) {
                    Some(next) => (change.old.end, change.new.end) = (next.old.end, next.new.end),
                    None => (change.old.end, change.new.end) = (change.old.end + 1, change.new.end + 1),
                }
            }
        }
        match widened.last_mut().filter(|it| it.old.end == change.old.start) {
            Some(before) => (before.old.end, before.new.end) = (change.old.end, change.new.end),
            None => widened.push(change),
        }
    }
    widened
}

/// Changes that touch each other, with what lies between them.
pub(super) fn clusters(base: &Tokens, ours: Vec<Change>, theirs: Vec<Change>) -> Vec<Cluster> {
    // A blank line keeps two changes apart, as a line does.
    let touches = |cluster: &Cluster, it: &Change| {
        let is_apart =
            !it.old.is_empty() && !cluster.base.is_empty() && base.gap(it.old.start).matches('\n').count() > 1;
        it.old.start < cluster.base.end || (it.old.start == cluster.base.end && !is_apart)
    };
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    let mut clusters: Vec<Cluster> = Vec::new();
    // By how many tokens our text, and theirs, are longer up to here.
    let mut longer = [0isize; 2];
    loop {
        let next = |it: Option<&Change>| it.map_or(usize::MAX, |it| it.old.start);
        let start = next(ours.peek()).min(next(theirs.peek()));
        if start == usize::MAX {
            return clusters;
        }
        let [from_ours, from_theirs] = longer.map(|it| start.saturating_add_signed(it));
        let mut cluster = Cluster {
            base: start..start,
            ours: from_ours..from_ours,
            theirs: from_theirs..from_theirs,
            is_ours: false,
            changes: Vec::new(),
        };
        let by = |it: &Change| it.new.len().cast_signed() - it.old.len().cast_signed();
        loop {
            if let Some(change) = ours.next_if(|it| touches(&cluster, it)) {
                cluster.base.end = cluster.base.end.max(change.old.end);
                cluster.is_ours = true;
                longer[0] += by(&change);
            } else if let Some(change) = theirs.next_if(|it| touches(&cluster, it)) {
                cluster.base.end = cluster.base.end.max(change.old.end);
                longer[1] += by(&change);
                cluster.changes.push(change);
            } else {
                break;
            }
        }
        cluster.ours.end = cluster.base.end.saturating_add_signed(longer[0]);
        cluster.theirs.end = cluster.base.end.saturating_add_signed(longer[1]);
        clusters.push(cluster);
    }
}
