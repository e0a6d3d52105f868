//! Compares the errors before and after a change.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::finding::Finding;
use semdex_engine::files::Files;
use semdex_text::diff::OffsetMap;

/// New and fixed errors, compared by message and by the text of their line, since an edit moves the lines below it.
pub(crate) fn differ<'a>(
    earlier: &[Finding],
    later: &[Finding],
    before: &'a Files,
    after: &'a Files,
    maps: &BTreeMap<String, OffsetMap>,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut texts = Texts::default();
    let mut key = |it: &Finding, files: &'a Files, is_after: bool| {
        let text = texts.number(it, files, is_after);
        (it.place.file.clone(), it.code, it.message.clone(), it.severity, text)
    };
    let mut alike: BTreeMap<_, Alike<'_>> = BTreeMap::new();
    for diagnostic in earlier {
        let start = diagnostic.place.start;
        let moved = maps.get(diagnostic.place.file.as_str()).map_or(Some(start), |map| map.offset(start));
        alike.entry(key(diagnostic, before, false)).or_default().push(diagnostic, moved);
    }
    let mut new = Vec::new();
    for diagnostic in later {
        let same = alike.get_mut(&key(diagnostic, after, true));
        if !same.is_some_and(|it| it.take(diagnostic.place.start)) {
            new.push(diagnostic.clone());
        }
    }
    let fixed = alike.into_values().flat_map(|it| it.all).flatten().cloned().collect();
    (new, fixed)
}

/// Numbers for the texts of lines: many errors may be on one long line.
#[derive(Default)]
struct Texts<'a> {
    lines: HashMap<(String, usize, bool), Option<usize>>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    /// The number of the text of an error's line; the same for equal texts.
    fn number(&mut self, of: &Finding, files: &'a Files, is_after: bool) -> Option<usize> {
        *self.lines.entry((of.place.file.clone(), of.place.line, is_after)).or_insert_with(|| {
            let file = files.get(&of.place.file)?;
            let text = file.lines().line_text(&file.text, of.place.line).trim();
            let next = self.numbers.len();
            Some(*self.numbers.entry(text).or_insert(next))
        })
    }
}

/// Earlier errors that differ only in their position. There may be very many.
#[derive(Default)]
struct Alike<'a> {
    /// `None` for those that remain after the change.
    all: Vec<Option<&'a Finding>>,
    /// The indices by the position after the change.
    at: HashMap<usize, VecDeque<usize>>,
    /// All before this index remain.
    first: usize,
}

impl<'a> Alike<'a> {
    fn push(&mut self, diagnostic: &'a Finding, moved: Option<usize>) {
        if let Some(moved) = moved {
            self.at.entry(moved).or_default().push_back(self.all.len());
        }
        self.all.push(Some(diagnostic));
    }

    /// Takes the error at this position, or else the first one. Returns whether there was one.
    fn take(&mut self, start: usize) -> bool {
        let here = self.at.get_mut(&start);
        let here = here.and_then(|it| std::iter::from_fn(|| it.pop_front()).find(|it| self.all[*it].is_some()));
        let found = here.or_else(|| {
            self.first += self.all[self.first..].iter().take_while(|it| it.is_none()).count();
            (self.first < self.all.len()).then_some(self.first)
        });
        found.and_then(|it| self.all[it].take()).is_some()
    }
}
