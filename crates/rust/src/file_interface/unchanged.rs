//! Which names of a file keep their meaning after a change, as far as the file itself decides.
//!
//! A text is cut where bodies and plain items begin and end. Parts that are identical in both texts, within a sequence
//! of identical parts, keep the meaning of their names. Of bodies and heads that differ, parts may keep it.

use super::{FileInterface, PlainItem, arguments, statements};
use crate::syntax::fingerprint::Fingerprint;
use semdex_model::Span;

/// Ranges of a text after a change. If a range keeps the meaning of its names, it has the corresponding range before
/// the change.
type Stretches = Vec<(Option<Span>, Span)>;

impl FileInterface {
    /// For each range after a change the corresponding range before it, if its names keep their meaning. Text outside
    /// all ranges names nothing.
    pub(crate) fn unchanged(&self, after: &FileInterface) -> Stretches {
        let (old, new) = (self.stretches(), after.stretches());
        let is_same = |(a, b): (usize, usize)| {
            self.text(old[a]) == after.text(new[b]) && self.within_body(a) == after.within_body(b)
        };
        let both = old.len().min(new.len());
        let is_same_row =
            self.plain.len() == after.plain.len() && self.plain.iter().zip(&after.plain).all(|(a, b)| a.is_same(b));
        if is_same_row && old.len() == new.len() {
            let parts = |at: usize| match (self.within_body(at), after.within_body(at)) {
                _ if is_same((at, at)) => vec![(Some(old[at]), new[at])],
                (None, None) => self.heads(old[at], after, new[at]),
                (a, b) => {
                    let parts =
                        (a == b).then(|| statements::unchanged(self.text(old[at]), after.text(new[at]))).flatten();
                    parts.map_or_else(|| vec![(None, new[at])], |it| placed(it, old[at].start, new[at].start))
                }
            };
            return (0..both).flat_map(parts).collect();
        }
        // The context of an identical part may differ, unless everything up to one end of the text is identical.
        let first = (0..both).take_while(|it| is_same((*it, *it))).count();
        let last = (1..=both - first).take_while(|it| is_same((old.len() - it, new.len() - it))).count();
        let partner = |at: usize| match at {
            _ if at < first => Some(old[at]),
            _ if at >= new.len() - last => Some(old[at + old.len() - new.len()]),
            _ => None,
        };
        (0..new.len()).map(|it| (partner(it), new[it])).collect()
    }

    /// The text cut where bodies begin and end: every second range is a body.
    fn stretches(&self) -> Vec<Span> {
        let mut from = 0;
        let mut stretches = Vec::with_capacity(2 * self.bodies.len() + 1);
        for body in &self.bodies {
            stretches.extend([Span::new(from, body.start), *body]);
            from = body.end;
        }
        stretches.push(Span::new(from, self.text.len()));
        stretches
    }

    /// The identity of the items in a range, if it is a body.
    fn within_body(&self, at: usize) -> Option<Fingerprint> {
        (at % 2 == 1).then(|| self.within[at / 2])
    }

    /// The text between two bodies, cut where plain items begin and end. Both texts have the same items.
    fn heads(&self, old: Span, after: &FileInterface, new: Span) -> Stretches {
        let mut stretches = Vec::new();
        let same = |a: Span, b: Span| (self.text(a) == after.text(b)).then_some(a);
        let (mut from, mut to) = (old.start, new.start);
        let both =
            self.plain.iter().zip(&after.plain).filter(|(a, b)| old.contains(a.name_at) && new.contains(b.name_at));
        for (a, b) in both {
            let (gap, new_gap) = (Span::new(from, a.at.start.max(from)), Span::new(to, b.at.start.max(to)));
            let (head, new_head) =
                (Span::new(gap.end, a.at.end.min(old.end)), Span::new(new_gap.end, b.at.end.min(new.end)));
            stretches.push((same(gap, new_gap), new_gap));
            match same(head, new_head) {
                Some(same) => stretches.push((Some(same), new_head)),
                None => stretches.extend(self.head(a, head, after, b, new_head)),
            }
            (from, to) = (head.end, new_head.end);
        }
        let (rest, new_rest) = (Span::new(from, old.end), Span::new(to, new.end));
        stretches.push((same(rest, new_rest), new_rest));
        stretches
    }

    /// The head of a function. If only parameters differ, unchanged parameters and the text around them keep their
    /// meaning.
    fn head(&self, old: &PlainItem, head: Span, after: &FileInterface, new: &PlainItem, new_head: Span) -> Stretches {
        let apart = || {
            let calls_stay = old.access == new.access && old.call.is_some() && old.call == new.call;
            let (was, is) = arguments::parameters_apart(calls_stay.then(|| self.text(old.at))?, after.text(new.at))?;
            let (was, is) = (was.moved(|at| at + old.at.start), is.moved(|at| at + new.at.start));
            let pairs = [
                (Span::new(head.start, was.start), Span::new(new_head.start, is.start)),
                (Span::new(was.end, head.end), Span::new(is.end, new_head.end)),
            ];
            let is_same = pairs.iter().all(|(a, b)| self.text(*a) == after.text(*b));
            is_same.then(|| vec![(Some(pairs[0].0), pairs[0].1), (None, is), (Some(pairs[1].0), pairs[1].1)])
        };
        apart().unwrap_or_else(|| vec![(None, new_head)])
    }
}

fn placed(stretches: Stretches, old: usize, new: usize) -> Stretches {
    let placed = |it: Span, start: usize| it.moved(|at| at + start);
    stretches.into_iter().map(|(a, b)| (a.map(|it| placed(it, old)), placed(b, new))).collect()
}
