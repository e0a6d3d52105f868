//! New contents: what they make uncertain of what is known, and how a change is only tried.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_vfs::VfsPath;

use super::revalidate::revalidate_in_background;
use super::{Rust, is_taken};
use crate::LANGUAGE;
use crate::index::IndexState;
use crate::invalidate::file_interface::{FileInterface, file_interface, reached_from};
use crate::invalidate::{Edited, Invalidated, words};
use crate::syntax::analysed::as_analysed;
use crate::view::View;
use semdex_engine::files::Files;

/// Of so many edited files it is kept what others see of them.
const MOST_SEEN: usize = 64;

/// A change that is only tried.
pub(crate) enum Tried {
    /// In the database that is read.
    Here(Box<SetAside>),
    /// In the shadow database, where nothing is known and nobody reads.
    InShadow,
}

pub(crate) struct SetAside {
    /// What the index knew, and does not know for the time being.
    state: IndexState,
    /// What others saw of the edited files.
    before: Option<Vec<(FileId, Arc<FileInterface>)>>,
}

impl Tried {
    /// What was known is not so when the change is taken back.
    pub(crate) fn drop_saved_state(&mut self) {
        if let Tried::Here(it) = self {
            it.state = IndexState::default();
        }
    }
}

impl Rust {
    /// Brings new contents in; `None` is a file that is gone. Names are relative to the root, or absolute for the
    /// sources of path dependencies.
    pub(crate) fn apply(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        let before = self.interfaces_before(changes);
        self.put(changes);
        match before.map(|it| self.edited(it)) {
            Some(edited) => self.forget(&edited),
            None => drop(self.index.forget_all()),
        }
    }

    /// Sets the texts of files, and no more.
    pub(super) fn put(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        for (name, text) in changes.iter().filter(|it| is_taken(&it.0, it.1.as_deref())) {
            let path = VfsPath::from(self.absolute(name));
            self.vfs.set_file_contents(path.clone(), text.as_deref().map(as_analysed));
            // A load may have brought it, or taken it away.
            let id = self.vfs.file_id(&path).map(|it| it.0);
            if self.ids.get(name).copied() != id {
                let ids = Arc::make_mut(&mut self.ids);
                match id {
                    Some(id) => ids.insert(name.clone(), id),
                    None => ids.remove(name),
                };
            }
        }
        self.flush(None);
        self.is_indexed = false;
        self.is_complete = false;
        if self.primed {
            revalidate_in_background(self.host.raw_database());
        }
    }

    /// As `apply`, until `keep` or `take_back` says which it is. What may be uncertain is set aside meanwhile, which
    /// takes less time than to tell how narrow that is; `elsewise` names what comes, goes or is reached in another way,
    /// if that is all that others can see.
    pub(crate) fn try_out(
        &mut self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
        elsewise: Option<&BTreeSet<&str>>,
    ) -> Tried {
        let before = self.interfaces_before(changes);
        self.put(changes);
        let state = match &before {
            Some(before) => self.set_aside(before.iter().map(|it| it.0).collect(), elsewise),
            None => self.index.forget_all(),
        };
        self.index.try_out();
        Tried::Here(Box::new(SetAside { state, before }))
    }

    /// Another text in a change that is only tried.
    pub(crate) fn retry(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)], tried: &Tried) {
        match tried {
            Tried::Here(_) => self.apply(changes),
            Tried::InShadow => self.update_shadow(changes),
        }
    }

    /// A view of what is tried, these being all texts.
    pub(crate) fn view_of(&self, files: &Arc<Files>, tried: &Tried) -> View {
        let beside = match tried {
            Tried::Here(_) => None,
            Tried::InShadow => self.view_of_shadow(files.clone()),
        };
        beside.unwrap_or_else(|| self.view(files.clone()))
    }

    pub(crate) fn keep(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)], tried: Tried) {
        let Tried::Here(aside) = tried else { return self.apply(changes) };
        match aside.before {
            Some(before) => {
                self.index.restore(aside.state);
                let edited = self.edited(before);
                self.forget(&edited);
            }
            None => self.index.keep(),
        }
    }

    /// Brings the contents back that were there before a change that was only tried, and what was known of them.
    pub(crate) fn take_back(&mut self, before: &[(Arc<str>, Option<Arc<str>>)], tried: Tried) {
        match tried {
            Tried::Here(aside) => {
                self.put(before);
                self.index.restore(aside.state);
            }
            Tried::InShadow => self.take_back_in_shadow(before),
        }
    }

    fn set_aside(&self, own: HashSet<FileId>, elsewise: Option<&BTreeSet<&str>>) -> IndexState {
        match (reached_from(self.host.raw_database(), &self.ids, own.iter().copied()), elsewise) {
            (Some(reached), Some(names)) => self.index.set_aside(&own, &reached, names),
            (Some(reached), None) => self.index.forget_files(&reached),
            (None, _) => self.index.forget_all(),
        }
    }

    /// Forgets what these changes make uncertain, as narrowly as can be decided.
    fn forget(&self, edited: &[Edited]) {
        if edited.iter().all(|(_, before, after)| before.is_same(after)) {
            return self.index.invalidate(edited, &Invalidated::default());
        }
        let db = self.host.raw_database();
        let Some(reached) = reached_from(db, &self.ids, edited.iter().map(|it| it.0)) else {
            return drop(self.index.forget_all());
        };
        let stale = words::invalidated(db, &self.index, edited, &reached);
        tracing::debug!(
            reached = reached.len(),
            stale = stale.as_ref().map(|it| it.stretches.len()),
            "files invalidated"
        );
        match stale {
            Some(stale) => self.index.invalidate(edited, &stale),
            None => drop(self.index.forget_files(&reached)),
        }
    }

    /// What other files can see of these; `None` where that cannot be decided, or nobody has looked yet.
    fn interfaces_before(
        &mut self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
    ) -> Option<Vec<(FileId, Arc<FileInterface>)>> {
        if !self.primed {
            return None;
        }
        let is_rust = |it: &(Arc<str>, Option<Arc<str>>)| LANGUAGE.takes(&it.0);
        let mut found = Vec::new();
        for change in changes.iter().filter(|it| is_rust(it) || self.is_included(&it.0)) {
            found.push(*self.ids.get(&change.0).filter(|_| is_rust(change) && change.1.is_some())?);
        }
        Some(found.into_iter().map(|file| (file, self.interface(file))).collect())
    }

    fn edited(&mut self, before: Vec<(FileId, Arc<FileInterface>)>) -> Vec<Edited> {
        before.into_iter().map(|(file, before)| (file, before, self.interface(file))).collect()
    }

    /// After a change that was only tried the text is the same again, and rust-analyzer would parse it anew.
    fn interface(&mut self, file: FileId) -> Arc<FileInterface> {
        let db = self.host.raw_database();
        let text = db.file_text(file).text(db);
        if let Some(seen) = self.seen.get(&file).filter(|it| **it.whole() == **text) {
            return seen.clone();
        }
        let seen = file_interface(db, file);
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
