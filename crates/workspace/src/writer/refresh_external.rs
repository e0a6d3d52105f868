//! How the writer follows external inputs: the sources and modules outside the root that engines read, the environment,
//! and touched files that have no text. A change of them is a revision of its own, since answers may change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Writer;
use crate::engines::Slot;
use crate::external_inputs::ModulePaths;
use crate::file_reader::FileReader;
use crate::watch::is_hidden_name;
use semdex_engine::{ExternalText, FileChange};
use semdex_model::Result;

impl Writer {
    /// Before an answer: the environment and the toolchain may have changed, which nobody watches.
    pub(super) fn check_environment(&mut self) {
        for at in 0..self.engines.len() {
            let files = self.files.clone();
            if self.with_engine(at, |it| it.check_environment(&files)) == Some(true) {
                self.note_external_change();
                self.publish();
            }
            self.watch_new_modules(at);
        }
    }

    /// Reports the touched files among these paths that have no text: a build may read them.
    pub(super) fn check_touched(&mut self, paths: &BTreeSet<PathBuf>) {
        for path in paths.iter().filter(|it| !it.file_name().is_some_and(is_hidden_name)) {
            if self.files.get(&self.disk.name_of(path)).is_some() {
                continue;
            }
            for at in 0..self.engines.len() {
                let files = self.files.clone();
                if self.with_engine(at, |it| it.check_touched_file(path, &files)) == Some(true) {
                    self.note_external_change();
                    self.publish();
                }
            }
        }
    }

    /// Watches the external sources that an engine reads now. It compares files that changed since the engine read
    /// them, and files that existed before their directory was watched, since nobody has reported those.
    pub(super) fn watch_external_sources(&mut self, at: usize) {
        let Some(Some(sources)) = self.with_engine(at, |it| it.take_external_sources()) else { return };
        let mut found = BTreeSet::new();
        for root in self.external_roots.unknown(sources.roots) {
            let tree = self.disk.external_tree(&root);
            self.external_roots.add(root.clone());
            match self.disk_changes.watch_also(&tree) {
                Ok(files) => found.extend(files),
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "external sources cannot be watched");
                    self.disk_changes.compare_all();
                }
            }
        }
        self.report_watching();
        found.extend(sources.read);
        found.retain(|it| self.external_roots.root_of(it).is_some());
        if let Err(error) = self.compare_external_sources(found, false) {
            tracing::error!(%error, "the next request tries again");
        }
        self.publish();
    }

    /// Compares external sources with what the engines have. A path that is not a file means everything known below it.
    /// `is_all`: the paths are all files that exist.
    pub(super) fn compare_external_sources(&mut self, paths: BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        if paths.is_empty() && !is_all {
            return Ok(());
        }
        for at in 0..self.engines.len() {
            self.compare_sources_of(at, &paths, is_all)?;
        }
        Ok(())
    }

    fn compare_sources_of(&mut self, at: usize, paths: &BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        let Some(engine) = &self.engines.slot(at).engine else { return Ok(()) };
        let is_concerned = |it: &Path| {
            self.external_roots.root_of(it).is_some() && (is_all || it.ancestors().any(|above| paths.contains(above)))
        };
        let known = engine.known_external_sources().filter(|it| is_concerned(it)).map(Path::to_path_buf);
        let named = paths.iter().filter(|it| engine.is_external_source(it)).cloned();
        let compared: BTreeSet<PathBuf> = known.chain(named).collect();
        let mut reader = self.reader();
        let read = |path: &PathBuf| Ok((path.clone(), reader.read_bytes(path)?));
        let contents: Result<Vec<ExternalText>> = compared.iter().map(read).collect();
        // Files that cannot be read now are compared again before the next answer.
        let contents = contents.inspect_err(|_| self.disk_changes.retry(compared.iter().cloned()))?;
        let files = self.files.clone();
        if self.with_engine(at, |it| it.set_external_sources(contents, &files)) == Some(true) {
            self.note_external_change();
            tracing::debug!(revision = self.revisions.current().0, "external sources changed");
            self.publish();
        }
        Ok(())
    }

    /// Watches the modules that the manifests name now. Reports the files found there, which may have changed before
    /// the engine reads them.
    pub(super) fn watch_external_modules(&mut self) {
        for at in 0..self.engines.len() {
            let paths = self.watch_modules_of(at);
            let changes = self.compare_modules_of(at, ModulePaths { paths, is_all: false });
            if !changes.is_empty() {
                self.with_engine(at, |it| it.apply_external_changes(&changes));
            }
        }
    }

    /// Whether a change of this file may change which external modules there are.
    pub(super) fn declares_external_modules(&self, file: &str) -> bool {
        self.engines.running().any(|it| it.declares_external_modules(file))
    }

    /// Takes the paths of external modules out of these paths, for each engine. `is_all`: the paths are all files that
    /// exist.
    pub(super) fn split_external_modules(&self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Vec<ModulePaths> {
        let select = |it: &Slot| it.external_modules.select(paths, &self.external_roots, is_all);
        let modules: Vec<ModulePaths> = self.engines.iter().map(select).collect();
        paths.retain(|it| !modules.iter().any(|module| module.paths.contains(it)));
        modules
    }

    /// Compares external modules with what they held, and reports the changes to each engine.
    pub(super) fn compare_external_modules(&mut self, modules: Vec<ModulePaths>) {
        for (at, what) in modules.into_iter().enumerate() {
            let changes = self.compare_modules_of(at, what);
            self.report_module_changes(at, &changes);
        }
    }

    /// Before an answer: modules that the manifests name, and that did not exist yet.
    fn watch_new_modules(&mut self, at: usize) {
        if self.engines.slot(at).external_modules.has_unwatched() {
            let paths = self.watch_modules_of(at);
            let changes = self.compare_modules_of(at, ModulePaths { paths, is_all: false });
            self.report_module_changes(at, &changes);
        }
    }

    /// Watches the modules that the manifests name now, and forgets others. Returns the files that were found.
    fn watch_modules_of(&mut self, at: usize) -> BTreeSet<PathBuf> {
        let slot = self.engines.slot_mut(at);
        let Some(engine) = &slot.engine else { return BTreeSet::new() };
        slot.external_modules.set_roots(engine.external_modules(&self.files));
        let mut touched = BTreeSet::new();
        for root in slot.external_modules.unwatched() {
            if !self.engines.slot(at).engine.as_ref().is_some_and(|it| it.is_external_module(&root)) {
                continue;
            }
            match self.disk_changes.watch_also(&self.disk.external_tree(&root)) {
                Ok(found) => {
                    let modules = &mut self.engines.slot_mut(at).external_modules;
                    touched.extend(found.into_iter().filter(|it| modules.contains(it, &self.external_roots)));
                    modules.set_watched(root);
                }
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "an external module cannot be watched");
                }
            }
        }
        touched
    }

    fn compare_modules_of(&mut self, at: usize, what: ModulePaths) -> Vec<FileChange> {
        let mut reader = FileReader::new(&self.disk, &self.external_roots, self.settings.values().max_file_bytes);
        let Slot { engine, external_modules, .. } = self.engines.slot_mut(at);
        let Some(engine) = engine else { return Vec::new() };
        external_modules.compare(what, &mut reader, |it| engine.reads_external(it))
    }

    fn report_module_changes(&mut self, at: usize, changes: &[FileChange]) {
        if changes.is_empty() || self.with_engine(at, |it| it.apply_external_changes(changes)).is_none() {
            return;
        }
        self.note_external_change();
        tracing::debug!(revision = self.revisions.current().0, files = changes.len(), "external modules changed");
        self.publish();
    }
}
