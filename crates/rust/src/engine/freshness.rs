//! Whether the loaded state is out of date.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use blake3::Hash;
use ra_ap_project_model::ProjectWorkspaceKind;

use super::Rust;
use crate::LANGUAGE;
use crate::load::Rebuild;
use crate::load::external_inputs::ExternalInputs;
use crate::load::manifests::is_reload;
use crate::load::planned::is_planned;
use crate::syntax::referenced_files::takes_data;
use semdex_engine::files::Files;
use semdex_engine::{Trial, unknown_until_loaded};
use semdex_fs::FileStamp;
use semdex_model::{FileEdit, Missing, MissingCode};

impl Rust {
    /// Adopts the inputs of a finished step. Returns whether the load is final: no step follows, and no input changed
    /// during the load.
    pub(crate) fn note_inputs(&mut self, inputs: ExternalInputs, outdated: Option<SystemTime>, is_last: bool) -> bool {
        let freshness = &mut self.freshness;
        freshness.inputs = inputs;
        if !is_last {
            return false;
        }
        freshness.end();
        let root: &Path = self.root.as_ref();
        let edited = std::mem::take(&mut freshness.edited);
        for name in &edited {
            freshness.note_unnamed(&root.join(name), name);
        }
        for path in std::mem::take(&mut freshness.touched) {
            freshness.note_unnamed(&path, &name_of(root, &path));
        }
        let edited =
            edited.iter().find(|it| freshness.inputs.is_text(it) || freshness.inputs.is_in_package(&root.join(it)));
        let changed = outdated.or(freshness.changed).or_else(|| FileStamp::at(&root.join(edited?)).changed());
        if outdated.is_some() || edited.is_some() || freshness.is_outdated {
            freshness.is_outdated = freshness.may_load_again(changed);
        }
        !freshness.is_outdated
    }

    /// Whether an input has perhaps changed since the load began, so that no step before the last one can answer.
    pub(crate) fn may_be_outdated(&self, outdated: Option<SystemTime>) -> bool {
        let freshness = &self.freshness;
        let may_be_read = |it: &Path| freshness.inputs.is_doubtful(it);
        outdated.is_some()
            || freshness.is_outdated
            || freshness.touched.iter().any(|it| may_be_read(it))
            || freshness.edited.iter().any(|it| self.is_input(it) || may_be_read(self.root.join(it).as_ref()))
    }

    /// Whether an edit of this text makes the loaded state out of date.
    pub(crate) fn is_input(&self, name: &str) -> bool {
        let path: PathBuf = self.root.join(name).into();
        self.freshness.inputs.is_text(name) || self.freshness.inputs.is_in_package(&path)
    }

    /// Whether Cargo or a program that runs at compile time reads this file from disk.
    pub(crate) fn is_read_from_disk(&self, name: &str) -> bool {
        is_reload(name, false) || self.freshness.inputs.is_text(name)
    }

    /// What cannot be known about a change before it is made and everything is loaded again.
    pub(crate) fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        let edits = || trial.edits.iter().filter(|it| it.old != it.new && !is_planned(it));
        if let Some(edit) = edits().find(|it| self.is_read_from_disk(&it.file)) {
            let why = "is read by Cargo, or is a part of code that runs at compile time";
            return Some(unknown_until_loaded(MissingCode::MacroOutput, &edit.file, why));
        }
        let is_data = |it: &&FileEdit| {
            let name = it.file.rsplit('/').next().unwrap_or(&it.file);
            let comes_or_goes = it.old.is_none() != it.new.is_none();
            let takes = |files: &Files| files.of(LANGUAGE).any(|file| takes_data(&file.text, name, comes_or_goes));
            !LANGUAGE.takes(&it.file) && (takes(trial.before) || takes(trial.after))
        };
        let edit = edits().find(is_data)?;
        let why = "is included by `include_str!` or `include_bytes!`";
        Some(unknown_until_loaded(MissingCode::Unsupported, &edit.file, why))
    }

    /// Records edits of texts. Returns whether everything has to be loaded again now.
    pub(crate) fn note_edits<'a>(&mut self, names: impl Iterator<Item = &'a str> + Clone) -> bool {
        if !self.environment.settled {
            self.freshness.edited.extend(names.clone().map(str::to_owned));
        }
        for name in names.clone() {
            self.freshness.note_unnamed(self.root.join(name).as_ref(), name);
        }
        self.tell_doubt();
        let input = names.filter(|it| self.is_input(it)).map(|it| PathBuf::from(self.root.join(it))).next();
        input.is_some_and(|it| self.is_to_be_loaded(&[it]))
    }

    /// Checks inputs that are not texts of the workspace. Returns whether one has changed, and whether everything has
    /// to be loaded again now.
    pub(crate) fn look_at_inputs(&mut self) -> (bool, bool) {
        let changed = self.freshness.inputs.changed();
        if changed.iter().any(|it| self.freshness.inputs.is_toolchain(it)) {
            // Another toolchain has another standard library, perhaps at the same path.
            self.known = Arc::default();
        }
        (!changed.is_empty(), !changed.is_empty() && self.is_to_be_loaded(&changed))
    }

    /// Like `look_at_inputs`, for a touched path that is not a text.
    pub(crate) fn check_touched_file(&mut self, path: &Path) -> bool {
        if !self.environment.settled {
            self.freshness.note_touched(path);
        }
        let begun = self.freshness.begun();
        if self.freshness.inputs.is_perhaps_changed_at(path, begun) {
            self.freshness.note_unnamed(path, &name_of(self.root.as_ref(), path));
            self.tell_doubt();
        }
        self.freshness.inputs.is_in_package(path)
            && self.freshness.inputs.is_changed_at(path)
            && self.is_to_be_loaded(&[path.to_path_buf()])
    }

    /// A running load is not interrupted: otherwise a load that changes its own inputs would never end.
    fn is_to_be_loaded(&mut self, changed: &[PathBuf]) -> bool {
        tracing::info!(?changed, "inputs of the loaded workspace have changed");
        let last = changed.iter().filter_map(|it| FileStamp::at(it).changed()).max();
        if !self.environment.settled {
            self.freshness.is_outdated = true;
            self.freshness.changed = last;
            self.set_environment(|it| it.unbuilt = None);
            return false;
        }
        let is_to_be = self.freshness.may_load_again(last);
        if !is_to_be && let Some(lack) = self.freshness.lack() {
            self.set_environment(|it| {
                it.missing.retain(|other| *other != lack);
                it.missing.push(lack);
            });
            self.publish();
        }
        is_to_be
    }

    /// Whether it is time to run those build scripts again that may have read edited files.
    pub(crate) fn needs_rebuild(&self) -> bool {
        let runs_code = self.config.trusted && self.config.build_scripts;
        runs_code && self.environment.settled && self.freshness.is_rebuild_due()
    }

    /// What the build scripts are run for.
    pub(crate) fn begin_rebuild(&mut self) -> Rebuild {
        self.freshness.begin_rebuild();
        Rebuild {
            root: self.root.clone(),
            target_dir: self.target_dir.clone(),
            features: self.features(),
            workspaces: self.workspaces.clone(),
            superseded: self.superseded.0.clone(),
            limits: self.config.limits,
        }
    }

    /// Takes the new output of the build scripts; `None` if they did not finish.
    pub(crate) fn end_rebuild(&mut self, output: Option<Vec<Hash>>) {
        self.freshness.end_rebuild(output);
        self.tell_doubt();
    }

    /// Updates the environment: whether the output of build scripts is doubtful.
    fn tell_doubt(&mut self) {
        if self.environment.doubt.as_ref() != self.freshness.doubt() {
            let doubt = self.freshness.doubt().cloned();
            self.set_environment(|it| it.doubt = doubt);
            self.publish();
        }
    }

    /// The finished load read an input that changed during the load.
    pub(crate) fn is_outdated(&self) -> bool {
        self.freshness.is_outdated && self.freshness.has_ended()
    }

    /// The names of the root files of the workspace's own crates.
    pub(crate) fn crate_roots(&self) -> BTreeSet<String> {
        let mut roots = BTreeSet::new();
        for workspace in self.workspaces.iter() {
            let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { continue };
            let local = cargo.packages().filter(|&it| cargo[it].is_local);
            for &target in local.flat_map(|it| &cargo[it].targets) {
                roots.extend(cargo[target].root.strip_prefix(&self.root).map(|it| it.as_str().to_owned()));
            }
        }
        roots
    }
}

fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
