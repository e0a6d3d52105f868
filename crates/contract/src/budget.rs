//! Pages of a reply: they start at the cursor and end at the token budget. What is left out is counted, and the next
//! cursor continues there.

use serde::Serialize;

use super::shared_types::{Symbol, Usage};
use semdex_model::{Code, Error, Result};

/// How many bytes of a reply body count as one token.
pub const BYTES_PER_TOKEN: usize = 4;

/// A range of a list or of the lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Position of the first item in the reply, from 0.
    pub from: usize,
    /// How many items are in the reply.
    pub count: usize,
    /// How many items there are.
    pub total: usize,
    /// The request asked for no more than `count`, so that nothing that it wants is left out.
    pub is_limited: bool,
}

impl Part {
    /// All items from a position on.
    pub fn after(from: usize, total: usize) -> Part {
        let from = from.min(total);
        Part { from, count: total - from, total, is_limited: false }
    }

    /// The request asks for at most `limit` items: a page of so many leaves out nothing that it wants.
    pub fn asked_for(&mut self, limit: Option<usize>) {
        self.is_limited = limit.is_some_and(|it| self.count >= it);
    }

    /// The range of this list. Panics if the list is shorter than `from + count`.
    pub fn of<T>(self, items: &[T]) -> &[T] {
        &items[self.from..self.from + self.count]
    }

    /// The range of the lines of this text.
    pub fn lines(self, text: &str) -> String {
        text.split_inclusive('\n').skip(self.from).take(self.count).collect()
    }

    fn end(self) -> usize {
        self.from + self.count
    }
}

/// The cursor that continues after these parts. None if nothing is left. A cursor holds positions, so it stays valid
/// when the revision changes: the next reply continues at the same positions of the new contents.
pub(crate) fn next_cursor(parts: &[Part]) -> Option<String> {
    let is_more = parts.iter().any(|it| it.end() < it.total);
    let positions: Vec<String> = parts.iter().map(|it| it.end().to_string()).collect();
    is_more.then(|| format!("c{}-{}", parts.len(), positions.join(".")))
}

/// The position at which each part of a reply continues.
pub fn positions<const N: usize>(cursor: Option<&str>) -> Result<[usize; N]> {
    let Some(cursor) = cursor else { return Ok([0; N]) };
    let parsed = || {
        let positions = cursor.strip_prefix(&format!("c{N}-"))?;
        let positions: Option<Vec<usize>> = positions.split('.').map(|it| it.parse().ok()).collect();
        <[usize; N]>::try_from(positions?).ok()
    };
    parsed().ok_or_else(|| foreign_cursor(cursor))
}

/// The error for a cursor that no reply of this kind has returned.
pub(super) fn foreign_cursor(cursor: &str) -> Error {
    let detail =
        format!("`cursor` is `{cursor}`, which no reply of this kind gave: take `next_cursor` of the reply before");
    Error::new(Code::InvalidRequest, detail)
}

/// The format of a reply. A place costs a whole object in JSON, and often only a line number in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each place is an object with field names.
    Json,
    /// Places share the heading of their file.
    Markdown,
}

impl Form {
    /// The figure for this format.
    pub(crate) fn or(self, markdown: usize, json: usize) -> usize {
        match self {
            Form::Markdown => markdown,
            Form::Json => json,
        }
    }
}

/// How many bytes a reply may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: usize,
    form: Form,
}

impl Budget {
    /// A budget in bytes for a reply in this format.
    pub(crate) fn new(bytes: usize, form: Form) -> Budget {
        Budget { left: bytes, form }
    }

    /// The format of the reply, which determines the costs.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Subtracts what is always part of the reply.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Shortens each part to what fits: first within its share (in percent of what the parts before it have left), then
    /// with the rest of the budget. Each part comes with the costs of its items. At least one item remains, otherwise
    /// paging with a small budget would never end.
    pub(crate) fn share(&mut self, parts: &mut [(&mut Part, Vec<usize>, usize)]) {
        let mut left = self.left;
        let mut counts = vec![0; parts.len()];
        for round in 0..2 {
            for (count, (part, costs, percent)) in counts.iter_mut().zip(parts.iter()) {
                let mut share = if round == 0 { left * percent / 100 } else { left };
                for cost in costs.iter().skip(*count).take(part.count - *count) {
                    if *cost > share {
                        break;
                    }
                    share -= cost;
                    left -= cost;
                    *count += 1;
                }
            }
        }
        if counts.iter().all(|it| *it == 0)
            && let Some((first, (_, costs, _))) = parts.iter().enumerate().find(|(_, it)| it.0.count > 0)
        {
            counts[first] = 1;
            left = left.saturating_sub(costs.first().copied().unwrap_or_default());
        }
        for (count, (part, ..)) in counts.into_iter().zip(parts.iter_mut()) {
            part.is_limited &= part.count <= count;
            part.count = part.count.min(count);
        }
        self.left = left;
    }
}

/// A page of a long list, with the total and the position for the cursor. It is serialized as its items.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Listing<T> {
    /// Which of all items are in the page.
    #[serde(skip)]
    pub part: Part,
    /// The items in the page.
    pub items: Vec<T>,
}

impl<T> Listing<T> {
    /// All items from a position on.
    pub fn after(from: usize, mut items: Vec<T>) -> Listing<T> {
        let part = Part::after(from, items.len());
        items.drain(..part.from);
        Listing { part, items }
    }

    /// How many items there are, including those outside the page.
    pub(crate) fn total(&self) -> usize {
        self.part.total
    }

    /// The cursor that continues the list. None if nothing is left.
    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.part])
    }

    /// The same page with converted items.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Listing<U> {
        Listing { part: self.part, items: self.items.into_iter().map(f).collect() }
    }

    /// Limits the page to `count` items.
    pub fn limit(&mut self, count: usize) {
        self.part.count = self.part.count.min(count);
        self.truncate();
    }

    /// Drops the items that are no longer in the part.
    pub(super) fn truncate(&mut self) {
        self.items.truncate(self.part.count);
    }

    pub(super) fn costs(&self, cost: impl Fn(&T) -> usize) -> Vec<usize> {
        self.items.iter().map(cost).collect()
    }

    /// Shortens it to the budget.
    pub(super) fn cut(&mut self, budget: &mut Budget, cost: impl Fn(&T) -> usize) {
        let costs = self.costs(cost);
        budget.share(&mut [(&mut self.part, costs, 100)]);
        self.truncate();
    }
}

/// For each part that the budget cut: "40 of 120 lines of the source".
pub(crate) fn left_out(parts: &[(&str, Part)]) -> Vec<String> {
    let is_cut = |it: &&(&str, Part)| it.1.end() < it.1.total && !it.1.is_limited;
    let describe = |(name, part): &(&str, Part)| format!("{} of {} {name}", part.end(), part.total);
    parts.iter().filter(is_cut).map(describe).collect()
}

/// The approximate size of a text in a reply, with escapes.
pub fn text_cost(text: &str) -> usize {
    text.len() + text.bytes().filter(|it| matches!(it, b'"' | b'\\' | b'\n' | b'\t' | b'\r')).count()
}

/// The costs of the lines of a text, from a position on.
pub(crate) fn line_costs(text: &str, part: Part) -> Vec<usize> {
    text.split_inclusive('\n').skip(part.from).map(|it| text_cost(it) + 2).collect()
}

/// The approximate size of a symbol in a reply, without its children.
pub(crate) fn symbol_cost(symbol: &Symbol, form: Form) -> usize {
    if form == Form::Markdown {
        return symbol.path.len() + symbol.place.file.len() + 50;
    }
    let texts = [&symbol.path, &symbol.name, &symbol.signature, &symbol.package, &symbol.place.file];
    let docs = symbol.docs.as_deref().map_or(0, text_cost);
    let origin = symbol.origin.as_ref().map_or(0, |it| text_cost(&it.root) + it.package.len() + 60);
    let also = symbol.also.iter().map(|it| text_cost(it) + 4).sum::<usize>();
    texts.iter().map(|it| text_cost(it)).sum::<usize>() + docs + also + origin + 240
}

/// The approximate size of a usage in a reply.
pub(crate) fn usage_cost(usage: &Usage, form: Form) -> usize {
    if form == Form::Markdown {
        let doubt = usage.detail.as_ref().map_or(0, |it| it.len() + usage.place.file.len() + 10);
        return if usage.test && doubt == 0 { 8 } else { text_cost(usage.text.trim()) + 30 + doubt };
    }
    text_cost(&usage.text)
        + usage.place.file.len()
        + usage.symbol.as_deref().map_or(0, text_cost)
        + usage.detail.as_deref().map_or(0, |it| text_cost(it) + 40)
        + 120
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_part_leaves_goes_to_the_others() {
        let mut parts = [Part::after(0, 10), Part::after(2, 10), Part::after(0, 0)];
        let [a, b, c] = &mut parts;
        Budget::new(100, Form::Json).share(&mut [(a, vec![10; 10], 50), (b, vec![20; 8], 50), (c, Vec::new(), 50)]);
        assert_eq!([parts[0].count, parts[1].count], [8, 1], "5 by its share, then 3 of what was left");
        assert_eq!(next_cursor(&parts).as_deref(), Some("c3-8.3.0"));
        assert_eq!(positions::<3>(Some("c3-8.3.0")).unwrap(), [8, 3, 0]);
        assert_eq!(left_out(&[("lines", parts[0]), ("none", parts[2])]), ["8 of 10 lines"]);
    }

    #[test]
    fn something_is_always_given() {
        let mut parts = [Part::after(3, 3), Part::after(0, 2)];
        let [a, b] = &mut parts;
        Budget::new(1, Form::Json).share(&mut [(a, Vec::new(), 50), (b, vec![10; 2], 50)]);
        assert_eq!([parts[0].count, parts[1].count], [0, 1]);
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for cursor in ["", "c1-", "c2-1", "c1-1.2", "c1--1", "1", "c1-99999999999999999999999"] {
            assert!(positions::<1>(Some(cursor)).is_err(), "{cursor}");
        }
        // A position behind the end gives an empty page.
        assert_eq!(Part::after(positions::<1>(Some("c1-7")).unwrap()[0], 3), Part::after(3, 3));
    }
}
