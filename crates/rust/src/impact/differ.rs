//! Compares the errors before and after a change.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::edit_context::EditContext;
use crate::finding::Finding;
use semdex_engine::RenamedNames;
use semdex_engine::files::Files;

/// New and fixed errors. An error is the same if it says the same at the same place, since an edit moves the lines below
/// it, or else if the text of its line is the same. What a change renames counts as the same.
pub(crate) fn differ<'a>(
    earlier: &[Finding],
    later: &[Finding],
    (before, after): (&'a Files, &'a Files),
    edit: &'a EditContext,
    names: &'a RenamedNames,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut texts = Texts { names, lines: HashMap::new(), numbers: HashMap::new() };
    let key =
        |it: &Finding, file: &str| (file.to_owned(), it.code, names.written_in(&it.message).into_owned(), it.severity);
    let mut alike: BTreeMap<_, Alike<'_>> = BTreeMap::new();
    for diagnostic in earlier {
        let place = &diagnostic.place;
        let moved = edit.place_after(&place.file, place.start);
        let text = texts.number(diagnostic, before, false);
        alike.entry(key(diagnostic, edit.name_after(&place.file))).or_default().push(diagnostic, moved, text);
    }
    let mut new = Vec::new();
    for diagnostic in later {
        let text = texts.number(diagnostic, after, true);
        let same = alike.get_mut(&key(diagnostic, &diagnostic.place.file));
        if !same.is_some_and(|it| it.take(diagnostic.place.start, text)) {
            new.push(diagnostic.clone());
        }
    }
    let fixed = alike.into_values().flat_map(|it| it.all).flatten().cloned().collect();
    (new, fixed)
}

/// Numbers for the texts of lines: many errors may be on one long line.
struct Texts<'a> {
    names: &'a RenamedNames,
    lines: HashMap<(String, usize, bool), Option<usize>>,
    numbers: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Texts<'a> {
    /// The number of the text of an error's line; the same for equal texts.
    fn number(&mut self, of: &Finding, files: &'a Files, is_after: bool) -> Option<usize> {
        *self.lines.entry((of.place.file.clone(), of.place.line, is_after)).or_insert_with(|| {
            let file = files.get(&of.place.file)?;
            let text = self.names.written_in(file.lines().line_text(&file.text, of.place.line).trim());
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
    by_position: HashMap<usize, VecDeque<usize>>,
    /// The indices by the text of the line.
    by_text: HashMap<Option<usize>, VecDeque<usize>>,
}

impl<'a> Alike<'a> {
    fn push(&mut self, diagnostic: &'a Finding, moved: Option<usize>, text: Option<usize>) {
        if let Some(moved) = moved {
            self.by_position.entry(moved).or_default().push_back(self.all.len());
        }
        self.by_text.entry(text).or_default().push_back(self.all.len());
        self.all.push(Some(diagnostic));
    }

    /// Takes the error at this position, or else the first one on such a line. Returns whether there was one.
    fn take(&mut self, start: usize, text: Option<usize>) -> bool {
        let all = &self.all;
        let first = |of: Option<&mut VecDeque<usize>>| {
            of.and_then(|it| std::iter::from_fn(|| it.pop_front()).find(|it| all[*it].is_some()))
        };
        let found = first(self.by_position.get_mut(&start)).or_else(|| first(self.by_text.get_mut(&text)));
        found.and_then(|it| self.all[it].take()).is_some()
    }
}
