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

    /// Whether one has a change of ours and the other a change of theirs.
    fn may_touch(&self, other: &Cluster) -> bool {
        self.is_ours && !other.changes.is_empty() || other.is_ours && !self.changes.is_empty()
    }

    fn take_in(&mut self, next: Cluster) {
        self.base.end = next.base.end;
        self.ours.end = next.ours.end;
        self.theirs.end = next.theirs.end;
        self.is_ours |= next.is_ours;
        self.changes.extend(next.changes);
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

/// A change with the range of the base where it may have been made.
struct Placed {
    change: Change,
    within: Range<usize>,
}

/// A cluster, and where its changes may have been made.
struct Reach {
    cluster: Cluster,
    within: Range<usize>,
    /// The ranges of the changes that only add.
    additions: Vec<Range<usize>>,
}

impl Reach {
    /// Whether the result depends on where the changes of this cluster and of the next one were made. What a change moves
    /// over is equal, so that it does not: unless the other one changes a part of it, or both add at one place.
    fn may_interact(&self, next: &Reach) -> bool {
        let (end, start) = (self.within.end, next.within.start);
        let is_moved = end > self.cluster.base.end || start < next.cluster.base.start;
        let both_add =
            || self.additions.iter().any(|it| it.end == start) && next.additions.iter().any(|it| it.start == end);
        is_moved && (end > start || end == start && both_add()) && self.cluster.may_touch(&next.cluster)
    }

    fn take_in(&mut self, next: Reach) {
        self.cluster.take_in(next.cluster);
        self.within.end = self.within.end.max(next.within.end);
        self.additions.extend(next.additions);
    }
}

/// A diff does not know which of several equal tokens was removed or added: `}` before or after another `}`. Such a change
/// may have been made at each of these places. Whole lines stay whole lines.
fn placed(base: &Tokens, new: &Tokens, changes: Vec<Change>, of_lines: bool) -> Vec<Placed> {
    // From the change before it to the change behind it.
    let behind: Vec<usize> = changes.iter().skip(1).map(|it| it.old.start).chain([base.len()]).collect();
    let mut before = 0;
    let mut found = Vec::with_capacity(changes.len());
    for (change, behind) in changes.into_iter().zip(behind) {
        let mut within = change.old.clone();
        // What is removed moves over equal tokens of the base, and what is added over those of the new text.
        let moving = match (change.old.is_empty(), change.new.is_empty()) {
            (false, true) => Some((base, change.old.clone(), of_lines)),
            (true, false) => Some((new, change.new.clone(), true)),
            _ => None,
        };
        if let Some((tokens, at, of_lines)) = moving {
            let fits = |start: usize| !of_lines || start == tokens.len() || tokens.begins_line(start);
            let most = change.old.start - before;
            let up = (1..=most).take_while(|by| tokens.get(at.start - by) == tokens.get(at.end - by));
            let up = up.filter(|by| fits(at.start - by)).last().unwrap_or(0);
            let most = behind - change.old.end;
            let down = (1..=most).take_while(|by| tokens.get(at.start + by - 1) == tokens.get(at.end + by - 1));
            let down = down.filter(|by| fits(at.start + by)).last().unwrap_or(0);
            within = within.start - up..within.end + down;
        }
        before = change.old.end;
        found.push(Placed { change, within });
    }
    found
}

/// Changes that touch each other, with what lies between them.
pub(super) fn clusters(
    base: &Tokens,
    (our_text, ours): (&Tokens, Vec<Change>),
    (their_text, theirs): (&Tokens, Vec<Change>),
    of_lines: bool,
) -> Vec<Cluster> {
    // A blank line keeps two changes apart, as a line does.
    let touches = |cluster: &Cluster, it: &Change| {
        let is_apart =
            !it.old.is_empty() && !cluster.base.is_empty() && base.gap(it.old.start).matches('\n').count() > 1;
        it.old.start < cluster.base.end || (it.old.start == cluster.base.end && !is_apart)
    };
    let (ours, theirs) = (placed(base, our_text, ours, of_lines), placed(base, their_text, theirs, of_lines));
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    let mut clusters: Vec<Reach> = Vec::new();
    // By how many tokens our text, and theirs, are longer up to here.
    let mut longer = [0isize; 2];
    loop {
        let next = |it: Option<&Placed>| it.map_or(usize::MAX, |it| it.change.old.start);
        let start = next(ours.peek()).min(next(theirs.peek()));
        if start == usize::MAX {
            break;
        }
        let [from_ours, from_theirs] = longer.map(|it| start.saturating_add_signed(it));
        let cluster = Cluster {
            base: start..start,
            ours: from_ours..from_ours,
            theirs: from_theirs..from_theirs,
            is_ours: false,
            changes: Vec::new(),
        };
        let mut reach = Reach { cluster, within: start..start, additions: Vec::new() };
        let Reach { cluster, within, additions } = &mut reach;
        let by = |it: &Change| it.new.len().cast_signed() - it.old.len().cast_signed();
        loop {
            let next = if let Some(it) = ours.next_if(|it| touches(cluster, &it.change)) {
                cluster.is_ours = true;
                longer[0] += by(&it.change);
                it
            } else if let Some(it) = theirs.next_if(|it| touches(cluster, &it.change)) {
                longer[1] += by(&it.change);
                cluster.changes.push(it.change.clone());
                it
            } else {
                break;
            };
            cluster.base.end = cluster.base.end.max(next.change.old.end);
            *within = within.start.min(next.within.start)..within.end.max(next.within.end);
            if next.change.old.is_empty() {
                additions.push(next.within);
            }
        }
        cluster.ours.end = cluster.base.end.saturating_add_signed(longer[0]);
        cluster.theirs.end = cluster.base.end.saturating_add_signed(longer[1]);
        clusters.push(reach);
    }
    let mut joined: Vec<Reach> = Vec::new();
    for next in clusters {
        match joined.last_mut().filter(|it| it.may_interact(&next)) {
            Some(before) => before.take_in(next),
            None => joined.push(next),
        }
    }
    joined.into_iter().map(|it| it.cluster).collect()
}
