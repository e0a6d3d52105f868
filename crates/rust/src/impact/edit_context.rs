//! The edit: the texts before and after, and the mapping of positions between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delta::{Delta, altered_types, deltas};
use super::scope_changes::ScopeChanges;
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_model::{FileEdit, OutlineItem};
use semdex_text::diff::OffsetMap;

/// The edited files in both states.
pub(crate) struct EditContext {
    pub(crate) olds: Vec<Arc<File>>,
    pub(crate) news: Vec<Arc<File>>,
    pub(crate) maps: BTreeMap<String, OffsetMap>,
    /// The mapping from the state after to the state before.
    pub(crate) backs: BTreeMap<String, OffsetMap>,
    pub(crate) scope_changes: Vec<ScopeChanges>,
    /// The indices of the files that are deleted.
    pub(crate) deleted: Vec<usize>,
}

impl EditContext {
    pub(crate) fn new(before: &Files, after: &Files, edits: &[FileEdit]) -> EditContext {
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
        EditContext { maps, backs, scope_changes, olds, news, deleted }
    }

    /// The current position of a place from the state before; `None` if the edit removed it.
    pub(crate) fn moved(&self, file: &str, offset: usize) -> Option<usize> {
        match self.maps.get(file) {
            Some(map) => map.offset(offset),
            None => Some(offset),
        }
    }

    /// The types whose text the edit alters, before and after, with the indices of their files.
    pub(crate) fn altered_types(&self) -> impl Iterator<Item = (usize, (&OutlineItem, &OutlineItem))> {
        let both = self.olds.iter().zip(&self.news).enumerate();
        both.flat_map(|(index, (old, new))| {
            altered_types((old.outline(), &old.text), (new.outline(), &new.text)).map(move |it| (index, it))
        })
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
