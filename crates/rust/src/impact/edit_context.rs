//! The edit: the texts before and after, and the mapping of positions between them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::comments::Comments;
use super::delta::{Delta, altered_types, deltas};
use super::scope_changes::ScopeChanges;
use super::switched_on::Switches;
use crate::LANGUAGE;
use semdex_engine::RenamedNames;
use semdex_engine::files::{File, Files};
use semdex_model::{FileEdit, OutlineItem, Span};
use semdex_text::diff::OffsetMap;
use semdex_text::words::words;

/// The edited files in both states.
pub(crate) struct EditContext {
    pub(crate) olds: Vec<Arc<File>>,
    pub(crate) news: Vec<Arc<File>>,
    pub(crate) maps: BTreeMap<String, OffsetMap>,
    /// The mapping from the state after to the state before.
    pub(crate) backs: BTreeMap<String, OffsetMap>,
    pub(crate) scope_changes: Vec<ScopeChanges>,
    /// What `cfg` switches off in each file, once it is known.
    pub(crate) switches: Vec<Switches>,
    /// The indices of the files that are deleted.
    pub(crate) deleted: Vec<usize>,
    /// The moved files by their old names: the new name, and the map of the text with its inverse.
    moved_files: BTreeMap<String, (String, [OffsetMap; 2])>,
    /// The comments of each edited file, before and after.
    comments: Vec<[Comments; 2]>,
}

impl EditContext {
    /// `moves`: the new names of moved files, each with the old name.
    pub(crate) fn new(
        before: &Files,
        after: &Files,
        edits: &[FileEdit],
        moves: &BTreeMap<String, String>,
    ) -> EditContext {
        let is_code =
            |it: &str| LANGUAGE.takes(it) || before.references(LANGUAGE, it) || after.references(LANGUAGE, it);
        let rust: Vec<&FileEdit> = edits.iter().filter(|it| is_code(&it.file)).collect();
        let olds: Vec<Arc<File>> = rust.iter().map(|it| file_of(before, it)).collect();
        let news: Vec<Arc<File>> = rust.iter().map(|it| file_of(after, it)).collect();
        for (old, new) in olds.iter().zip(&news) {
            new.outline_after(old);
        }
        let text = |it: &Option<Arc<str>>| it.clone().unwrap_or_default();
        let map = |it: &&FileEdit| (it.file.clone(), OffsetMap::new(&text(&it.old), &text(&it.new)));
        let maps: BTreeMap<String, OffsetMap> = rust.iter().map(map).collect();
        let backs = maps.iter().map(|(file, it)| (file.clone(), it.inverse())).collect();
        let scope_changes = olds.iter().zip(&news).map(|(old, new)| ScopeChanges::new(old, new)).collect();
        let deleted = rust.iter().enumerate().filter(|it| it.1.new.is_none()).map(|it| it.0).collect();
        let moved_files = moves.iter().filter_map(|(to, from)| {
            let map = OffsetMap::new(&before.get(from)?.text, &after.get(to)?.text);
            let back = map.inverse();
            Some((from.clone(), (to.clone(), [map, back])))
        });
        let moved_files = moved_files.collect();
        let comments = olds.iter().map(|_| Default::default()).collect();
        let switches = Vec::new();
        EditContext { maps, backs, scope_changes, switches, olds, news, deleted, moved_files, comments }
    }

    /// Whether a place of an edited file, which stays, is compiled only since the edit.
    pub(crate) fn is_switched_on(&self, index: usize, at: Span) -> bool {
        let back = self.backs.get(&*self.news[index].path);
        self.switches.get(index).zip(back).is_some_and(|(switches, back)| switches.switch_on(back, at))
    }

    /// Whether a place of this file may be one.
    pub(crate) fn may_switch_on(&self, index: usize) -> bool {
        self.switches.get(index).is_some_and(|it| !it.is_empty())
    }

    /// The current position of a place from the state before; `None` if the edit removed it, or made it a comment.
    pub(crate) fn moved(&self, file: &str, offset: usize) -> Option<usize> {
        let Some(map) = self.maps.get(file) else { return Some(offset) };
        map.offset(offset).filter(|at| !self.is_commented_out(file, offset, *at))
    }

    /// Whether a place is in a comment now, and was not in one.
    fn is_commented_out(&self, file: &str, before: usize, after: usize) -> bool {
        let Some(index) = self.news.iter().position(|it| &*it.path == file) else { return false };
        let [old_comments, new_comments] = &self.comments[index];
        new_comments.contain(&self.news[index].text, after) && !old_comments.contain(&self.olds[index].text, before)
    }

    /// The name of a file after the change.
    pub(crate) fn name_after<'a>(&'a self, file: &'a str) -> &'a str {
        self.moved_files.get(file).map_or(file, |it| &it.0)
    }

    /// The position after the change of a place from the state before, in its file or where that is moved to.
    pub(crate) fn place_after(&self, file: &str, offset: usize) -> Option<usize> {
        match self.moved_files.get(file) {
            Some((_, [map, _])) => map.offset(offset),
            None => self.moved(file, offset),
        }
    }

    /// The place before the change of a place in a file that is moved.
    pub(crate) fn place_before_move(&self, file: &str, offset: usize) -> Option<(Arc<str>, usize)> {
        let (from, (_, [_, back])) = self.moved_files.iter().find(|it| it.1.0 == file)?;
        Some((Arc::from(from.as_str()), back.offset(offset)?))
    }

    /// The moved files as they were.
    pub(crate) fn moved_files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.olds.iter().filter(|it| self.moved_files.contains_key(&*it.path))
    }

    /// The types whose text the edit alters, before and after, with the indices of their files.
    pub(crate) fn altered_types(&self) -> impl Iterator<Item = (usize, (&OutlineItem, &OutlineItem))> {
        let both = self.olds.iter().zip(&self.news).enumerate();
        both.flat_map(|(index, (old, new))| {
            altered_types((old.outline(), &old.text), (new.outline(), &new.text)).map(move |it| (index, it))
        })
    }

    /// The words in what the edit writes.
    pub(crate) fn written_words(&self) -> HashSet<String> {
        let mut found = HashSet::new();
        for new in &self.news {
            let gaps = self.backs.get(&*new.path).map(OffsetMap::gaps).unwrap_or_default();
            let is_written = |(at, word): &(usize, &str)| {
                let next = gaps.partition_point(|it| it.end <= *at);
                gaps.get(next).is_some_and(|it| it.start < at + word.len())
            };
            found.extend(words(&new.text).filter(is_written).map(|it| it.1.to_owned()));
        }
        found
    }

    pub(crate) fn deltas(&self) -> Vec<(usize, Delta<'_>)> {
        let both = self.olds.iter().zip(&self.news).enumerate();
        both.flat_map(|(index, (old, new))| {
            let found = deltas(old.outline(), &old.text, new.outline(), &new.text);
            found.into_iter().map(move |it| (index, it))
        })
        .collect()
    }
}

/// What a change renames.
pub(crate) fn renamed_names(deltas: &[(usize, Delta<'_>)]) -> RenamedNames {
    RenamedNames::new(deltas.iter().filter_map(|it| Some((&*it.1.before?.name, &*it.1.after?.name))))
}

fn file_of(files: &Files, edit: &FileEdit) -> Arc<File> {
    match files.get(&edit.file) {
        Some(file) if LANGUAGE.takes(&edit.file) => file.clone(),
        // A file that `include!` takes in is code whatever its name.
        file => Arc::new(File::new(
            Some(LANGUAGE),
            edit.file.as_str(),
            file.map_or_else(Arc::default, |it| it.text.clone()),
        )),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}
