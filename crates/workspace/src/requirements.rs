//! What has to be installed for the languages of a directory.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::watch::walk;
use semdex_config::Config;
use semdex_engine::{EngineKind, Registry, Requirement, Site};
use semdex_fs::{Tree, is_linked_worktree};
use semdex_process::search_path;

/// What one engine works with.
pub struct EngineRequirements {
    /// The engine's name.
    pub engine: String,
    /// Whether the directory has anything for it to do.
    pub is_concerned: bool,
    /// The programs and parts that it needs.
    pub requirements: Vec<Requirement>,
    /// What is not run, and what is unknown by that, without trust.
    pub lost_without_trust: Option<String>,
}

/// Of all engines that there can be by the settings that count in the directory. Without trust, programs of the
/// directory itself do not count.
pub fn requirements(root: &Path, trusted: bool, config: &Config, engines: &Registry) -> Vec<EngineRequirements> {
    let _barred = (!trusted).then(|| search_path::bar(root));
    // As where it is served: a file that is wrong says nothing.
    let settings = config.settings(root, trusted).unwrap_or_else(|_| config.settings_in_part(root, trusted));
    let registry = engines.configured(&settings.languages);
    let kinds: Vec<&dyn EngineKind> = registry.kinds().iter().map(|it| &**it).collect();
    // All files of a workspace are served. Those that git ignores, or whose directory begins with a dot, say nothing
    // about its main language.
    let served = Tree::open(root).and_then(|it| walk(&it)).unwrap_or_default();
    let served = count(&kinds, served.iter().map(PathBuf::as_path));
    let counts = count_files(&kinds, root);
    let main = main_engine(&kinds, &counts);
    let of_each = kinds.iter().enumerate().map(|(at, kind)| {
        let site = Site { root, trusted, cache_dir: &config.cache_dir, is_main: main == Some(at) };
        EngineRequirements {
            engine: kind.name().to_owned(),
            is_concerned: served[at] > 0 || kind.root_of(&[root]).is_some(),
            requirements: kind.requirements(&site),
            lost_without_trust: kind.lost_without_trust(),
        }
    });
    of_each.collect()
}

/// How many files of the repository each engine has.
fn count_files(kinds: &[&dyn EngineKind], root: &Path) -> Vec<usize> {
    let is_inside = |it: &ignore::DirEntry| {
        let is_file = it.file_type().is_none_or(|it| it.is_file());
        it.depth() == 0 || is_file || it.file_name() != "node_modules" && !is_linked_worktree(it.path())
    };
    let walk = WalkBuilder::new(root).filter_entry(is_inside).build();
    let files = walk.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file()));
    let files: Vec<PathBuf> = files.map(ignore::DirEntry::into_path).collect();
    count(kinds, files.iter().map(PathBuf::as_path))
}

/// How many of these files each engine has.
fn count<'f>(kinds: &[&dyn EngineKind], files: impl Iterator<Item = &'f Path>) -> Vec<usize> {
    let mut counts = vec![0; kinds.len()];
    for file in files {
        let name = file.to_string_lossy();
        for (kind, count) in kinds.iter().zip(&mut counts) {
            *count += usize::from(kind.languages().iter().any(|it| it.takes(&name)));
        }
    }
    counts
}

/// The engine that has most files, of equals the first. Those that are asked only about files that are named, data and
/// pages mostly, count where there is no other.
fn main_engine(kinds: &[&dyn EngineKind], counts: &[usize]) -> Option<usize> {
    let most = |is_on_request: bool| {
        let kinds = (0..kinds.len()).filter(|&it| counts[it] > 0 && kinds[it].is_on_request() == is_on_request);
        kinds.rev().max_by_key(|&it| counts[it])
    };
    most(false).or_else(|| most(true))
}
