//! The diagnostics of code that only builds with other features compile: those of rust-analyzer alone. Builds for other
//! systems are not asked: the standard library and the dependencies are the host's.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_base_db::further_build;

use super::diagnostics::diagnostics_in_crate;
use crate::LANGUAGE;
use crate::checks::excluded::Excluded;
use crate::names::builds;
use crate::names::instances::further_owners;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Coverage, Diagnostic, Missing, Severity};

/// What the diagnostics of further builds were asked about.
#[derive(Default)]
pub(crate) struct FurtherDiagnostics {
    pub(crate) found: Vec<Diagnostic>,
    builds: BTreeSet<String>,
    /// A file with code that no build so far compiles.
    waiting: Option<Arc<str>>,
}

impl FurtherDiagnostics {
    /// Adds the diagnostics of a file.
    pub(crate) fn add(&mut self, cx: &Context<'_>, file: &Arc<File>) {
        let Some(id) = cx.file_id(&file.path) else { return };
        let further = further_owners(cx.db, id);
        if further.is_empty() && !cx.environment.builds.are_pending {
            return;
        }
        let excluded = Excluded::of(cx, id);
        if excluded.is_empty() {
            return;
        }
        if cx.environment.builds.are_pending {
            self.waiting.get_or_insert_with(|| file.path.clone());
        }
        let mut found: Vec<Diagnostic> = Vec::new();
        for &krate in further.iter() {
            let Some(build) = further_build(cx.db, krate).filter(|_| builds::is_checked(cx.db, krate)) else {
                continue;
            };
            self.builds.insert(build.as_str().to_owned());
            for it in cx.in_instance(id, krate, |cx| diagnostics_in_crate(cx, file, id)) {
                let is_known = || found.iter().any(|known| (&known.place, &known.message) == (&it.place, &it.message));
                if it.severity <= Severity::Warning && excluded.has(it.place.start) && !is_known() {
                    let build = builds::name_at(cx.db, krate, id, it.place.start);
                    found.push(Diagnostic { build: Some(build), ..it });
                }
            }
        }
        self.found.append(&mut found);
    }

    /// Takes over those of another file.
    pub(crate) fn extend(&mut self, other: FurtherDiagnostics) {
        self.found.extend(other.found);
        self.builds.extend(other.builds);
        self.waiting = self.waiting.take().or(other.waiting);
    }

    /// What the answer covers besides the default build, and what it does not yet.
    pub(crate) fn note(&self, coverage: &mut Coverage) {
        coverage.builds.extend(self.builds.iter().cloned());
        if let Some(file) = &self.waiting {
            let detail = format!("`{file}` has code that only further builds compile, and they are still being made");
            coverage.lacks(Missing::being_read(LANGUAGE.name, detail));
        }
    }
}
