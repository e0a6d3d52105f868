//! The environment of all answers until the next load.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ra_ap_vfs::FileId;
use tokio::sync::watch;

use super::doctest_files::DoctestFiles;
use super::packages::PackageGraph;
use crate::bounds::refusals::Refusals;
use semdex_engine::files::{File, Files};
use semdex_engine::{EngineStatus, Prepared, Readiness};
use semdex_model::{FileEdit, Missing, MissingCode};

/// The environment of all answers until the next load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// A crate graph is loaded.
    pub loaded: bool,
    /// No load is running.
    pub settled: bool,
    /// See `Loaded::unbuilt`.
    pub unbuilt: Option<Arc<[PathBuf]>>,
    pub missing: Vec<Missing>,
    /// Files that code names and that are not read: no answer that may depend on them is complete.
    pub unread: Vec<Missing>,
    /// The same for files outside the root.
    pub unread_outside: Vec<Missing>,
    /// The output of build scripts may have changed: no answer is complete until that is known.
    pub doubt: Option<Missing>,
    /// Texts that `include!` takes in although they are not named like Rust files.
    pub included: Arc<BTreeSet<String>>,
    /// Files that build scripts of the workspace's packages wrote and code includes, by absolute names.
    pub generated: Arc<Vec<(Arc<File>, FileId)>>,
    /// Texts that are compiled under another name, through a link.
    pub compiled_elsewhere: Arc<BTreeSet<String>>,
    /// The builds that answers cover besides the default build.
    pub builds: Builds,
    /// The files with doctests.
    pub doctests: Arc<DoctestFiles>,
    /// Which packages can see which.
    pub packages: Arc<PackageGraph>,
    /// What has failed since the load.
    pub faults: Faults,
    /// Asks Cargo about changes of manifests. `None` before a load, and without a toolchain.
    pub planner: Option<Arc<dyn PlanCrates>>,
    /// Macros whose output is nested too deeply.
    pub(crate) refusals: Refusals,
}

/// Further builds: with other features, or for another system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Builds {
    /// What differs from the default build in each.
    pub names: Vec<String>,
    /// Builds that the configuration lists and that could not be made.
    pub failed: Vec<Missing>,
    /// They are still being made, or what they name is being read.
    pub are_pending: bool,
}

/// Asks Cargo what crates there will be.
pub(crate) trait PlanCrates: fmt::Debug + Send + Sync {
    /// What the engine needs for the impact of these edits; `None` if they decide nothing about crates.
    fn plan(&self, before: &Files, edits: &[FileEdit], deadline: Instant) -> Option<Prepared>;
}

impl Environment {
    pub(crate) fn readiness(&self) -> Readiness {
        match self {
            Environment { settled: true, .. } => Readiness::Settled,
            Environment { unbuilt: Some(_), .. } => Readiness::Most,
            Environment { loaded: true, .. } => Readiness::Unbuilt,
            _ => Readiness::Texts,
        }
    }

    /// Code that exists and is not analysed.
    pub(crate) fn unknown_code(&self) -> impl Iterator<Item = &Missing> {
        self.unread.iter().chain(&self.unread_outside).chain(&self.doubt)
    }

    /// Everything that may be missing from answers.
    pub(crate) fn lacks(&self) -> Vec<Missing> {
        let mut lacks = self.missing.clone();
        lacks.extend(self.unknown_code().cloned());
        lacks.extend(self.faults.list());
        lacks.extend(self.builds.failed.iter().cloned());
        lacks.extend(self.refusals.missing());
        lacks
    }
}

/// The ids of the workspace's files by their names.
pub(crate) type FileIds = HashMap<Arc<str>, FileId>;

/// The most failures that are listed one by one.
const MOST: usize = 16;

/// Shared by the macros of one load and all views of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    noted: Arc<Mutex<Vec<Missing>>>,
    status: Option<watch::Sender<EngineStatus>>,
}

impl Faults {
    pub(crate) fn new(status: watch::Sender<EngineStatus>) -> Faults {
        Faults { noted: Arc::default(), status: Some(status) }
    }

    /// Each failure is recorded once.
    pub(crate) fn note(&self, detail: &str) {
        let missing = Missing::new(MissingCode::ProcMacros, "rust", detail);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < MOST && !noted.contains(&missing) {
            noted.push(missing.clone());
            drop(noted);
            if let Some(status) = &self.status {
                status.send_modify(|it| it.missing.push(missing));
            }
        }
    }

    pub(crate) fn list(&self) -> Vec<Missing> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
