//! Changes of texts: what they invalidate, and how a change is only tried.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_load_cargo::{ProjectFolders, SourceRootConfig};
use ra_ap_paths::AbsPathBuf;
use ra_ap_project_model::ProjectWorkspace;
use ra_ap_vfs::VfsPath;

use super::revalidate::revalidate_in_background;
use super::{Rust, is_taken};
use crate::file_interface::{FileInterface, file_interface};
use crate::index::{Edited, IndexState, Invalidated};
use crate::invalidate::reached_from;
use crate::load::builds::has_not_test_cfg;
use crate::load::further_builds::FurtherBuild;
use crate::load::manifests::is_reload;
use crate::load::planned::PlannedCrates;
use crate::syntax::analysed::as_analysed;
use crate::view::View;
use crate::{LANGUAGE, invalidate};
use semdex_engine::files::Files;

/// The interfaces of this many edited files are kept.
const MOST_SEEN: usize = 64;

/// A change that is only tried, not kept.
pub(crate) enum Tried {
    /// Tried in the database that answers queries.
    Here(Box<SetAside>),
    /// Tried in the shadow database, which has no index and no readers.
    InShadow,
}

pub(crate) struct SetAside {
    /// The part of the index that is set aside for the duration of the trial.
    state: IndexState,
    /// The interfaces of the edited files before the change.
    before: Option<Vec<(FileId, Arc<FileInterface>)>>,
    /// The crates before the change, if it changes them.
    crates: Option<Box<CratesBefore>>,
    /// What was abandoned before the change.
    abandoned: HashSet<String>,
}

/// What a trial of other crates replaced.
struct CratesBefore {
    workspaces: Arc<Vec<ProjectWorkspace>>,
    /// If the change is one of packages, not only of their targets: where the sources are, and the further builds.
    of_packages: Option<(SourceRootConfig, Vec<FurtherBuild>)>,
    /// The sources that were added.
    added: Vec<AbsPathBuf>,
}

impl Tried {
    /// Whether the further builds are absent while the change is tried, because Cargo was not asked about them.
    pub(crate) fn lacks_further_builds(&self) -> bool {
        let crates = match self {
            Tried::Here(it) => it.crates.as_ref(),
            Tried::InShadow => None,
        };
        crates.and_then(|it| it.of_packages.as_ref()).is_some_and(|it| !it.1.is_empty())
    }

    /// Discards the saved state, so that it is not restored when the change is reverted.
    pub(crate) fn drop_saved_state(&mut self) {
        if let Tried::Here(it) = self {
            it.state = IndexState::default();
        }
    }
}

impl Rust {
    /// Applies new contents; `None` deletes a file. Names are relative to the root, or absolute for sources of path
    /// dependencies.
    pub(crate) fn apply(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        let before = self.interfaces_before(changes);
        let has_other_crates = self.put(changes);
        match before.filter(|_| !has_other_crates).map(|it| self.edited(it)) {
            Some(edited) => self.forget(&edited),
            None => drop(self.index.forget_all()),
        }
    }

    /// Sets the texts of files. Returns whether other crates result: a package begins or ceases to have code under
    /// `cfg(not(test))`.
    pub(crate) fn put(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> bool {
        let has_other_crates = self.environment.loaded && changes.iter().any(|it| self.changes_not_test_cfg(it));
        for (name, text) in changes.iter().filter(|it| is_taken(&it.0, it.1.as_deref())) {
            let path = VfsPath::from(self.absolute(name));
            self.vfs.set_file_contents(path.clone(), text.as_deref().map(as_analysed));
            // A load may have created or deleted the file.
            let id = self.vfs.file_id(&path).map(|it| it.0);
            if self.ids.get(name).copied() != id {
                let ids = Arc::make_mut(&mut self.ids);
                match id {
                    Some(id) => ids.insert(name.clone(), id),
                    None => ids.remove(name),
                };
            }
        }
        self.put_doctests(changes);
        self.flush(None);
        if has_other_crates {
            self.set_graph();
        }
        self.is_indexed = false;
        self.is_complete = false;
        if self.primed {
            revalidate_in_background(self.host.raw_database());
        }
        has_other_crates
    }

    /// Whether a file begins or ceases to have code under `cfg(not(test))`.
    pub(crate) fn changes_not_test_cfg(&self, (name, new): &(Arc<str>, Option<Arc<str>>)) -> bool {
        let db = self.host.raw_database();
        let old = self.ids.get(name).map(|it| db.file_text(*it).text(db));
        let has = |text: Option<&str>| text.is_some_and(has_not_test_cfg);
        LANGUAGE.takes(name) && has(old.map(|it| &**it)) != has(new.as_deref())
    }

    /// Sets the crates again, after what they depend on has changed.
    pub(crate) fn set_graph(&mut self) {
        self.shadow_database.note_graph();
        self.flush(Some(self.graph()));
        self.index.forget_crates();
    }

    /// Like `apply`, until `keep` or `take_back` decides about the change. Everything that may be affected is set aside
    /// during the trial, which is faster than computing a narrow set. `elsewise` has the names that are created,
    /// deleted or reached by another path, if other files see no other change.
    pub(crate) fn try_out(
        &mut self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
        elsewise: Option<&BTreeSet<&str>>,
    ) -> Tried {
        let before = self.interfaces_before(changes);
        let has_other_crates = self.put(changes);
        let before = before.filter(|_| !has_other_crates);
        let state = match &before {
            Some(before) => self.set_aside(before.iter().map(|it| it.0).collect(), elsewise),
            None => self.index.forget_all(),
        };
        self.index.try_out();
        let abandoned = self.abandoned.queries();
        Tried::Here(Box::new(SetAside { state, before, crates: None, abandoned }))
    }

    /// The same for a change that makes other crates.
    pub(crate) fn try_out_crates(
        &mut self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
        planned: &PlannedCrates,
    ) -> Tried {
        // What a build script wrote is read for each plan, and further builds may have other sources already.
        let is_new = |it: &&(AbsPathBuf, Vec<u8>)| self.vfs.file_id(&VfsPath::from(it.0.clone())).is_none();
        let new: Vec<&(AbsPathBuf, Vec<u8>)> = planned.sources.iter().filter(is_new).collect();
        for (path, bytes) in &new {
            self.vfs.set_file_contents(VfsPath::from(path.clone()), Some(bytes.clone()));
        }
        let has_other_packages = !new.is_empty() || changes.iter().any(|it| is_reload(&it.0, false));
        let of_packages = has_other_packages.then(|| {
            let source_roots = ProjectFolders::new(&planned.workspaces, &[], None).source_root_config;
            // Cargo was asked about the default build only.
            (std::mem::replace(&mut self.source_roots, source_roots), std::mem::take(&mut self.further))
        });
        let crates = CratesBefore {
            workspaces: std::mem::replace(&mut self.workspaces, planned.workspaces.clone()),
            of_packages,
            added: new.iter().map(|it| it.0.clone()).collect(),
        };
        self.find_doctests();
        self.put(changes);
        let state = self.index.forget_all();
        self.set_graph();
        self.index.try_out();
        let (crates, abandoned) = (Some(Box::new(crates)), self.abandoned.queries());
        Tried::Here(Box::new(SetAside { state, before: None, crates, abandoned }))
    }

    fn take_crates_back(&mut self, crates: CratesBefore) {
        self.workspaces = crates.workspaces;
        if let Some(before) = crates.of_packages {
            (self.source_roots, self.further) = before;
        }
        for path in crates.added {
            self.vfs.set_file_contents(VfsPath::from(path), None);
        }
        self.find_doctests();
        self.set_graph();
    }

    /// Sets another text in a change that is being tried.
    pub(crate) fn retry(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)], tried: &Tried) {
        match tried {
            Tried::Here(_) => self.apply(changes),
            Tried::InShadow => self.update_shadow(changes),
        }
    }

    /// A view of the tried state; `files` are all its texts.
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

    /// Restores the contents from before a tried change, and the part of the index that was set aside.
    pub(crate) fn take_back(&mut self, before: &[(Arc<str>, Option<Arc<str>>)], tried: Tried) {
        match tried {
            Tried::Here(aside) => {
                self.abandoned.forget_all_but(&aside.abandoned);
                let has_other_crates = self.put(before);
                let state = if has_other_crates { IndexState::default() } else { aside.state };
                if let Some(crates) = aside.crates {
                    self.take_crates_back(*crates);
                }
                self.index.restore(state);
            }
            Tried::InShadow => self.take_back_in_shadow(before),
        }
    }

    fn set_aside(&self, own: HashSet<FileId>, elsewise: Option<&BTreeSet<&str>>) -> IndexState {
        match (self.reached_from(own.iter().copied()), elsewise) {
            (Some(reached), Some(names)) => self.index.set_aside(&own, &reached, names),
            (Some(reached), None) => self.index.forget_files(&reached),
            (None, _) => self.index.forget_all(),
        }
    }

    /// The files, and the modules for doctests, that a change of these files may affect.
    fn reached_from(&self, changed: impl Iterator<Item = FileId>) -> Option<HashSet<FileId>> {
        let rust = self.ids.iter().filter(|it| LANGUAGE.takes(it.0)).map(|it| *it.1);
        let modules = self.environment.doctests.iter().map(|it| it.module);
        reached_from(self.host.raw_database(), rust.chain(modules), changed)
    }

    /// Invalidates what these changes affect, as narrowly as can be decided.
    fn forget(&self, edited: &[Edited]) {
        if edited.iter().all(|(_, before, after)| before.is_same(after)) {
            return self.index.invalidate(edited, &Invalidated::default());
        }
        let db = self.host.raw_database();
        let Some(reached) = self.reached_from(edited.iter().map(|it| it.0)) else {
            return drop(self.index.forget_all());
        };
        self.index.forget_item_errors(&reached);
        let stale = invalidate::invalidated(db, &self.index, edited, &reached);
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

    /// The interfaces of these files before the change; `None` if that cannot be decided, or if they were never
    /// computed.
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
        found.extend(changes.iter().flat_map(|it| self.doctest_modules(&it.0)));
        Some(found.into_iter().map(|file| (file, self.interface(file))).collect())
    }

    fn edited(&mut self, before: Vec<(FileId, Arc<FileInterface>)>) -> Vec<Edited> {
        before.into_iter().map(|(file, before)| (file, before, self.interface(file))).collect()
    }

    /// After a tried change the text is the same as before, but rust-analyzer would parse it again.
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

    /// Whether some Rust file may include this one, for example by `include!`: a file contains its name.
    fn is_included(&self, name: &str) -> bool {
        let db = self.host.raw_database();
        let name = name.rsplit('/').next().unwrap_or(name);
        let rust = self.ids.iter().filter(|(other, _)| LANGUAGE.takes(other));
        let texts = rust.map(|(_, id)| db.file_text(*id).text(db));
        texts.into_iter().any(|text| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some())
    }
}
