//! Keeps the modules that represent doctests equal to the texts that have these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::{SourceDatabase as _, SourceRoot};
use ra_ap_paths::AbsPathBuf;
use ra_ap_vfs::VfsPath;
use ra_ap_vfs::file_set::FileSet;

use super::Rust;
use super::doctest_texts::Key;
use crate::LANGUAGE;
use crate::impact::doctests::DoctestNames;
use crate::load::doctest_crates::libraries;
use crate::syntax::doctests::{Doctests, included_docs};
use crate::view::doctest_files::{DoctestFile, DoctestFiles};
use semdex_engine::files::File;

/// The texts of modules, as `shadow::Texts`.
type ModuleTexts = BTreeMap<FileId, Option<String>>;

/// New doctests of a file. `None`: it has none.
type Change = (Key, Option<Doctests>);

impl Rust {
    /// Finds the libraries and the doctests of all files again, because other workspaces are loaded.
    pub(crate) fn find_doctests(&mut self) {
        let libraries = libraries(&self.workspaces);
        if libraries == self.doctests.libraries {
            return;
        }
        let before = std::mem::take(&mut self.doctests);
        for (library, name) in before.files.into_keys() {
            let module = before.libraries[library].module(&self.absolute(&name));
            self.vfs.set_file_contents(VfsPath::from(module), None);
        }
        for library in before.libraries {
            self.vfs.set_file_contents(VfsPath::from(library.root()), None);
        }
        self.doctests.libraries = libraries;
        let db = self.host.raw_database();
        let rust = self.ids.iter().filter(|it| LANGUAGE.takes(it.0));
        let mut texts: Vec<(Arc<str>, Option<Arc<str>>)> =
            rust.map(|(name, id)| (name.clone(), Some(Arc::from(&**db.file_text(*id).text(db))))).collect();
        texts.sort();
        self.put_doctests(&texts);
        (0..self.doctests.libraries.len()).for_each(|it| self.set_root(it));
        self.share_doctests();
    }

    /// Sets the modules for the doctests of changed texts.
    pub(crate) fn put_doctests(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        let planned = self.doctests_after(changes);
        for (name, text) in changes.iter().filter(|it| LANGUAGE.takes(&it.0)) {
            let included = text.as_deref().map(|it| self.included_by(name, it)).unwrap_or_default();
            if included.is_empty() {
                self.doctests.included.remove(name);
            } else {
                self.doctests.included.insert(name.clone(), included);
            }
        }
        if planned.is_empty() {
            return;
        }
        let mut touched = BTreeSet::new();
        for ((library, name), doctests) in planned {
            let key = (library, name.clone());
            let path = self.doctests.libraries[library].module(&self.absolute(&name));
            let text = doctests.as_ref().map(|it| it.text.as_bytes().to_vec());
            self.vfs.set_file_contents(VfsPath::from(path), text);
            let made = doctests.and_then(|it| self.file_of(&key, it));
            let had = self.doctests.files.contains_key(&key);
            if made.is_some() != had {
                touched.insert(library);
            }
            match made {
                Some(it) => self.doctests.files.insert(key, Arc::new(it)),
                None => self.doctests.files.remove(&key),
            };
        }
        touched.into_iter().for_each(|it| self.set_root(it));
        self.share_doctests();
    }

    fn share_doctests(&mut self) {
        let files = Arc::new(DoctestFiles::new(self.doctests.files.values().cloned().collect()));
        self.set_environment(|it| it.doctests = files);
    }

    /// The texts of the modules after a change that is only tried, and a view's files of doctests. `None` if modules come
    /// or go.
    pub(crate) fn doctests_of_trial(
        &self,
        changes: &[(Arc<str>, Option<Arc<str>>)],
    ) -> Option<(ModuleTexts, Arc<DoctestFiles>)> {
        let planned = self.doctests_after(changes);
        let mut texts = ModuleTexts::new();
        let mut files = self.doctests.files.clone();
        for (key, doctests) in planned {
            self.doctests.files.get(&key)?;
            let made = self.file_of(&key, doctests?)?;
            texts.insert(made.module, Some(made.text.text.to_string()));
            files.insert(key, Arc::new(made));
        }
        Some((texts, Arc::new(DoctestFiles::new(files.into_values().collect()))))
    }

    /// Whether docs include a file.
    pub(crate) fn is_in_docs(&self, name: &str) -> bool {
        self.doctests.included.values().any(|it| it.contains(name))
    }

    /// The doctests that these changes add or remove, by the names of their functions.
    pub(crate) fn changed_doctests(&self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> DoctestNames {
        let mut changed = DoctestNames::new();
        for (key, after) in self.doctests_after(changes) {
            let [before, after] =
                [self.doctests.files.get(&key).map(|it| &*it.doctests), after.as_ref()].map(|it| -> BTreeSet<&str> {
                    it.iter().flat_map(|it| it.tests.iter().map(|test| it.name_of(test))).collect()
                });
            let differing = before.symmetric_difference(&after).map(|it| (*it).to_owned());
            changed.entry(key.1).or_default().extend(differing);
        }
        changed.retain(|_, names| !names.is_empty());
        changed
    }

    /// The source roots of the modules, one for each library.
    pub(crate) fn doctest_roots(&self) -> Vec<SourceRoot> {
        let mut sets: Vec<FileSet> = self.doctests.libraries.iter().map(|_| FileSet::default()).collect();
        let mut add = |library: usize, path: AbsPathBuf| {
            let path = VfsPath::from(path);
            if let Some((id, _)) = self.vfs.file_id(&path) {
                sets[library].insert(id, path);
            }
        };
        for (index, library) in self.doctests.libraries.iter().enumerate() {
            add(index, library.root());
        }
        for (index, name) in self.doctests.files.keys() {
            add(*index, self.doctests.libraries[*index].module(&self.absolute(name)));
        }
        sets.into_iter().map(SourceRoot::new_local).collect()
    }

    /// The modules for the doctests of a file.
    pub(crate) fn doctest_modules(&self, name: &str) -> Vec<FileId> {
        let files = self.doctests.files.iter().filter(|it| *it.0.1 == *name);
        files.map(|it| it.1.module).collect()
    }

    /// The doctests of changed texts, where they have some or had some.
    fn doctests_after(&self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Vec<Change> {
        let mut planned: BTreeMap<Key, Option<Doctests>> = BTreeMap::new();
        let mut add = |key: Key, doctests: Option<Doctests>| {
            let library = &self.doctests.libraries[key.0];
            let doctests = doctests.filter(|it| !it.tests.is_empty()).map(|mut it| {
                it.text.push_str(&library.extern_crate());
                it
            });
            if doctests.is_some() || self.doctests.files.contains_key(&key) {
                planned.insert(key, doctests);
            }
        };
        for (name, text) in changes {
            if LANGUAGE.takes(name) {
                let Some(library) = self.doctests.library_of(&self.absolute(name)) else { continue };
                add((library, name.clone()), text.as_deref().map(Doctests::of_rust));
                // Docs may include another file now, or no longer include one.
                let now = text.as_deref().map(|it| self.included_by(name, it)).unwrap_or_default();
                let none = BTreeSet::new();
                let before = self.doctests.included.get(name).unwrap_or(&none);
                for other in now.symmetric_difference(before) {
                    let text = now.contains(other).then(|| self.text_after(other, changes)).flatten();
                    add((library, Arc::from(other.as_str())), text.as_deref().map(Doctests::of_markdown));
                }
            } else {
                for (rust, _) in self.doctests.included.iter().filter(|it| it.1.contains(&**name)) {
                    let Some(library) = self.doctests.library_of(&self.absolute(rust)) else { continue };
                    add((library, name.clone()), text.as_deref().map(Doctests::of_markdown));
                }
            }
        }
        planned.into_iter().collect()
    }

    fn text_after(&self, name: &str, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Arc<str>> {
        if let Some((_, text)) = changes.iter().find(|it| *it.0 == *name) {
            return text.clone();
        }
        let db = self.host.raw_database();
        self.ids.get(name).map(|it| Arc::from(&**db.file_text(*it).text(db)))
    }

    /// The names of the files that docs of a Rust file include.
    fn included_by(&self, name: &str, text: &str) -> BTreeSet<String> {
        let Some(directory) = self.absolute(name).parent().map(|it| it.to_path_buf()) else { return BTreeSet::new() };
        let names = included_docs(text).into_iter().map(|it| directory.absolutize(it));
        names.filter_map(|it| Some(it.strip_prefix(&self.root)?.as_str().to_owned())).collect()
    }

    fn file_of(&self, key: &Key, doctests: Doctests) -> Option<DoctestFile> {
        let (library, name) = key;
        let id = *self.ids.get(name)?;
        let path = self.doctests.libraries[*library].module(&self.absolute(name));
        let known = self.doctests.files.get(key);
        let text = match known.filter(|it| *it.text.text == *doctests.text) {
            Some(it) => it.text.clone(),
            None => Arc::new(File::new(Some(LANGUAGE), path.as_str(), doctests.text.as_str())),
        };
        let file = |path: AbsPathBuf| Some(self.vfs.file_id(&VfsPath::from(path))?.0);
        let (module, library) = (file(path)?, file(self.doctests.libraries[*library].root_file.clone())?);
        let including = || self.doctests.included.iter().find(|it| it.1.contains(&**name)).map(|it| it.0);
        let documents = if LANGUAGE.takes(name) { id } else { *self.ids.get(including()?)? };
        let doctests = Arc::new(doctests);
        Some(DoctestFile { name: name.clone(), id, documents, library, module, text, doctests })
    }

    fn set_root(&mut self, index: usize) {
        let library = &self.doctests.libraries[index];
        let files: Vec<AbsPathBuf> =
            self.doctests.files.keys().filter(|it| it.0 == index).map(|it| self.absolute(&it.1)).collect();
        let text = library.text(files.iter().map(|it| it.as_path()));
        self.vfs.set_file_contents(VfsPath::from(library.root()), Some(text.into_bytes()));
    }
}
