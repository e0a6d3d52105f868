//! What has to be installed for the languages of a directory.

use std::path::Path;

use ignore::WalkBuilder;

use crate::lang::engine::{EngineKind, Requirement};
use crate::lang::registry::Registry;
use crate::lang::search_path;

/// What one engine works with.
pub struct EngineRequirements {
    pub engine: String,
    /// Whether the directory has anything for it to do.
    pub is_concerned: bool,
    pub requirements: Vec<Requirement>,
}

/// Of all engines that are built in. Without trust, programs of the directory itself do not count.
pub fn requirements(root: &Path, trusted: bool, cache_dir: &Path) -> Vec<EngineRequirements> {
    let _barred = (!trusted).then(|| search_path::bar(root));
    let of = |kind: &dyn EngineKind| EngineRequirements {
        engine: kind.name().to_owned(),
        is_concerned: concerns(kind, root),
        requirements: kind.requirements(cache_dir),
    };
    Registry::default().kinds().iter().map(|it| of(it.as_ref())).collect()
}

/// By its manifests, else by the first file of one of its languages.
fn concerns(kind: &dyn EngineKind, root: &Path) -> bool {
    let is_own = |it: &Path| kind.languages().iter().any(|language| language.takes(&it.to_string_lossy()));
    let mut files = WalkBuilder::new(root).build().flatten();
    kind.root_of(&[root]).is_some()
        || files.any(|it| it.file_type().is_some_and(|it| it.is_file()) && is_own(it.path()))
}
