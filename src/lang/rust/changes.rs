//! New contents: what they make uncertain of what is known, and how a change is only tried.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;

use super::engine::Rust;
use super::index::Memory;
use super::outside::{Outside, outside, reached_from};
use super::touch::{Edited, Touched, touched};
use super::view::View;
use crate::lang::files::Files;
use crate::lang::rust::LANGUAGE;

/// Of so many edited files it is kept what others see of them.
const MOST_SEEN: usize = 64;

/// A change that is only tried.
pub(super) enum Tried {
    /// In the database that is read.
    Here(Box<SetAside>),
    /// In the second one, where nothing is known and nobody reads.
    Beside,
}

pub(super) struct SetAside {
    /// What the index knew, and does not know for the time being.
    memory: Memory,
    /// What others saw of the edited files.
    before: Option<Vec<(FileId, Arc<Outside>)>>,
}

impl Tried {
    /// What was known is not so when the change is taken back.
    pub(super) fn give_up_memory(&mut self) {
        if let Tried::Here(it) = self {
            it.memory = Memory::default();
        }
    }
}

impl Rust {
    /// Brings new contents in; `None` is a file that is gone. Names are relative to the root, or absolute for the
    /// sources of path dependencies.
    pub fn apply(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        let before = self.seen_outside(changes);
        self.put(changes);
        match before.map(|it| self.edited(it)) {
            Some(edited) => self.forget(&edited),
            None => drop(self.index.forget_all()),
        }
    }

    /// As `apply`, until `keep` or `take_back` says which it is. What may be uncertain is set aside meanwhile, which
    /// takes less time than to tell how narrow that is; `elsewise` names what comes, goes or is reached in another way,
    /// if that is all that others can see.
    pub(super) fn try_out(
        &mut self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
        elsewise: Option<&BTreeSet<&str>>,
    ) -> Tried {
        let before = self.seen_outside(changes);
        self.put(changes);
        let memory = match &before {
            Some(before) => self.set_aside(before.iter().map(|it| it.0).collect(), elsewise),
            None => self.index.forget_all(),
        };
        self.index.try_out();
        Tried::Here(Box::new(SetAside { memory, before }))
    }

    /// Another text in a change that is only tried.
    pub(super) fn retry(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)], tried: &Tried) {
        match tried {
            Tried::Here(_) => self.apply(changes),
            Tried::Beside => self.set_beside(changes),
        }
    }

    /// A view of what is tried, these being all texts.
    pub(super) fn view_of(&self, files: &Arc<Files>, tried: &Tried) -> View {
        let beside = match tried {
            Tried::Here(_) => None,
            Tried::Beside => self.view_beside(files.clone()),
        };
        beside.unwrap_or_else(|| self.view(files.clone()))
    }

    pub(super) fn keep(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)], tried: Tried) {
        let Tried::Here(aside) = tried else { return self.apply(changes) };
        match aside.before {
            Some(before) => {
                self.index.restore(aside.memory);
                let edited = self.edited(before);
                self.forget(&edited);
            }
            None => self.index.keep(),
        }
    }

    /// Brings the contents back that were there before a change that was only tried, and what was known of them.
    pub(super) fn take_back(&mut self, before: &[(Arc<str>, Option<Arc<str>>)], tried: Tried) {
        match tried {
            Tried::Here(aside) => {
                self.put(before);
                self.index.restore(aside.memory);
            }
            Tried::Beside => self.take_back_beside(before),
        }
    }

    fn set_aside(&self, own: HashSet<FileId>, elsewise: Option<&BTreeSet<&str>>) -> Memory {
        match (reached_from(self.host.raw_database(), &self.ids, own.iter().copied()), elsewise) {
            (Some(reached), Some(names)) => self.index.set_aside(&own, &reached, names),
            (Some(reached), None) => self.index.forget_files(&reached),
            (None, _) => self.index.forget_all(),
        }
    }

    /// Forgets what these changes make uncertain, as narrowly as can be told.
    fn forget(&self, edited: &[Edited]) {
        if edited.iter().all(|(_, before, after)| before.is_same(after)) {
            return self.index.touch(edited, &Touched::default());
        }
        let db = self.host.raw_database();
        let Some(reached) = reached_from(db, &self.ids, edited.iter().map(|it| it.0)) else {
            return drop(self.index.forget_all());
        };
        let touched = touched(db, &self.index, edited, &reached);
        tracing::debug!(reached = reached.len(), touched = touched.as_ref().map(|it| it.stretches.len()), "files seen");
        match touched {
            Some(touched) => self.index.touch(edited, &touched),
            None => drop(self.index.forget_files(&reached)),
        }
    }

    /// What other files can see of these; `None` where that cannot be told, or nobody has looked yet.
    fn seen_outside(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Vec<(FileId, Arc<Outside>)>> {
        if !self.primed {
            return None;
        }
        let is_rust = |it: &(Arc<str>, Option<Arc<str>>)| LANGUAGE.takes(&it.0);
        let mut found = Vec::new();
        for change in changes.iter().filter(|it| is_rust(it) || self.is_included(&it.0)) {
            found.push(*self.ids.get(&change.0).filter(|_| is_rust(change) && change.1.is_some())?);
        }
        Some(found.into_iter().map(|file| (file, self.outside(file))).collect())
    }

    fn edited(&mut self, before: Vec<(FileId, Arc<Outside>)>) -> Vec<Edited> {
        before.into_iter().map(|(file, before)| (file, before, self.outside(file))).collect()
    }

    /// After a change that was only tried the text is the same again, and rust-analyzer would parse it anew.
    fn outside(&mut self, file: FileId) -> Arc<Outside> {
        let db = self.host.raw_database();
        let text = db.file_text(file).text(db);
        if let Some(seen) = self.seen.get(&file).filter(|it| **it.whole() == **text) {
            return seen.clone();
        }
        let seen = outside(db, file);
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        self.seen.insert(file, seen.clone());
        seen
    }

    /// Whether some Rust file may take the text of this one in, by `include!` say: it has its name.
    fn is_included(&self, name: &str) -> bool {
        let db = self.host.raw_database();
        let name = name.rsplit('/').next().unwrap_or(name);
        let rust = self.ids.iter().filter(|(other, _)| LANGUAGE.takes(other));
        let texts = rust.map(|(_, id)| db.file_text(*id).text(db));
        texts.into_iter().any(|text| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some())
    }
}
