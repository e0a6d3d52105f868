//! Links within the workspace that lead to code. The code has another name by each link, which not every engine
//! follows.

use std::path::Path;

use crate::disk::Disk;
use crate::watch::is_ignored_dir_name;
use semdex_engine::EngineKind;
use semdex_engine::files::Files;
use semdex_engine::links::Link;
use semdex_fs::{Reader, holds};
use semdex_model::LanguageId;

/// The links to code, in the order of their names.
#[derive(Default)]
pub(super) struct Links {
    links: Vec<Link>,
    /// Files have changed since the links were found.
    is_stale: bool,
}

impl Links {
    /// All links.
    pub(super) fn all(&self) -> &[Link] {
        &self.links
    }

    /// The links have to be found again, since files have changed.
    pub(super) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Whether the links have to be found again. They count as found from now on.
    pub(super) fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.is_stale)
    }

    /// Replaces the links.
    pub(super) fn set(&mut self, links: Vec<Link>) {
        self.links = links;
    }

    /// The links among these paths that lead to code of one of the languages. The known ones if the root cannot be
    /// read.
    pub(super) fn find<'p>(
        &self,
        disk: &Disk,
        paths: impl Iterator<Item = &'p Path>,
        files: &Files,
        languages: &[LanguageId],
    ) -> Vec<Link> {
        let mut paths = paths.filter(|it| it.starts_with(disk.root())).peekable();
        if paths.peek().is_none() {
            return Vec::new();
        }
        let Ok(reader) = disk.tree().reader() else { return self.links.clone() };
        let mut links: Vec<Link> = paths.filter_map(|it| link_at(&reader, it)).collect();
        links.retain(|it| it.leads_to_code(files, languages));
        links.sort_unstable();
        links
    }

    /// The links to an engine's code that the engine does not follow.
    pub(super) fn missed_by(&self, kind: &dyn EngineKind, files: &Files) -> Vec<Link> {
        let misses = |it: &&Link| kind.misses_link(it, files) && it.leads_to_code(files, kind.languages());
        self.links.iter().filter(misses).cloned().collect()
    }
}

/// The link at a path, if it leads to something in the tree and neither its name nor its target is ignored.
fn link_at(reader: &Reader, path: &Path) -> Option<Link> {
    let name = path.strip_prefix(reader.root()).ok()?;
    let found = reader.resolve(name).ok().filter(|it| it.kind.is_some())?;
    let target = found.path.strip_prefix(reader.root()).ok()?;
    let is_ignored = |it: &Path| it.components().any(|it| is_ignored_dir_name(it.as_os_str()));
    let is_inside = |it: &Path| holds(reader.root(), &reader.root().join(it));
    if is_ignored(name) || is_ignored(target) || !is_inside(name) || !is_inside(target) {
        return None;
    }
    Some(Link { name: name.to_str()?.to_owned(), target: target.to_str()?.to_owned() })
}
