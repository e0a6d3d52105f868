//! What holds for all answers until the next load.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ra_ap_vfs::FileId;

use super::load::Faults;
use semdex_engine::files::File;
use semdex_model::{Missing, MissingCode};

/// What holds for all answers until the next load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// Some crate graph is there.
    pub loaded: bool,
    /// No load is under way.
    pub settled: bool,
    pub missing: Vec<Missing>,
    /// Files that code names and that are not read: no answer that could depend on them is complete.
    pub unread: Vec<Missing>,
    /// The same outside of the root.
    pub unread_outside: Vec<Missing>,
    /// What build scripts make may be something else: no answer is complete before that is known.
    pub doubt: Option<Missing>,
    /// Texts that `include!` takes in though they are no files of Rust by their names.
    pub included: Arc<BTreeSet<String>>,
    /// What build scripts of the workspace's packages wrote and code takes in, by absolute names.
    pub generated: Arc<Vec<(Arc<File>, FileId)>>,
    /// Texts that are compiled under another name, behind a link.
    pub compiled_elsewhere: Arc<BTreeSet<String>>,
    /// What has failed since.
    pub faults: Faults,
    /// So many expansions had been refused when the database was made.
    pub(crate) refused_before: usize,
}

impl Environment {
    /// Code that is there and is not known.
    pub(crate) fn unknown_code(&self) -> impl Iterator<Item = &Missing> {
        self.unread.iter().chain(&self.unread_outside).chain(&self.doubt)
    }

    /// All that answers may lack.
    pub(crate) fn lacks(&self) -> Vec<Missing> {
        let mut lacks = self.missing.clone();
        lacks.extend(self.unknown_code().cloned());
        lacks.extend(self.faults.list());
        if ra_ap_parser::refused() > self.refused_before {
            let detail = "what some macros expand to is nested too deeply to be analysed: it is taken for an error";
            lacks.push(Missing::new(MissingCode::Unsupported, "rust", detail));
        }
        lacks
    }
}

/// The ids of the workspace's files by their names.
pub(crate) type FileIds = HashMap<Arc<str>, FileId>;

/// What files outside of the root have become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OutsideChange {
    /// The database holds other texts.
    pub is_changed: bool,
    /// What Cargo would say may be different.
    pub needs_reload: bool,
}
