//! Links within the workspace that lead to code: it has a name more by each, which not every engine follows.

use std::path::Path;

use super::watch::is_ignored_dir_name;
use super::writer::Writer;
use semdex_engine::EngineKind;
use semdex_engine::links::Link;
use semdex_fs::Reader;

impl Writer {
    /// Before an answer, where anything has changed: a revision of its own where other links are there than before. No
    /// text has changed, and answers are complete no more, or again.
    pub(super) fn follow_links(&mut self) {
        if !std::mem::take(&mut self.has_to_find_links) {
            return;
        }
        let links = self.find_links();
        if links != self.links {
            self.links = links;
            self.named.note_news();
            self.note_change_outside();
            self.publish();
        }
    }

    /// The links that lead to code of whatever language, in the order of their names.
    pub(super) fn find_links(&self) -> Vec<Link> {
        let root = self.disk.root();
        let mut paths = self.watcher.iter().flat_map(|it| it.links()).filter(|it| it.starts_with(root)).peekable();
        if paths.peek().is_none() {
            return Vec::new();
        }
        let Ok(reader) = self.disk.tree().reader() else { return self.links.clone() };
        let mut links: Vec<Link> = paths.filter_map(|it| link_at(&reader, it)).collect();
        let languages: Vec<_> = self.slots.iter().flat_map(|it| it.kind.languages()).copied().collect();
        links.retain(|it| it.leads_to_code(&self.files, &languages));
        links.sort_unstable();
        links
    }

    /// Those by which an engine misses code.
    pub(super) fn links_missed_by(&self, kind: &dyn EngineKind) -> Vec<Link> {
        let misses = |it: &&Link| kind.misses_link(it, &self.files) && it.leads_to_code(&self.files, kind.languages());
        self.links.iter().filter(misses).cloned().collect()
    }
}

/// The link at a path, if it leads to something in the tree, and nothing on either way is ignored.
fn link_at(reader: &Reader, path: &Path) -> Option<Link> {
    let name = path.strip_prefix(reader.root()).ok()?;
    let found = reader.resolve(name).ok().filter(|it| it.kind.is_some())?;
    let target = found.path.strip_prefix(reader.root()).ok()?;
    let is_ignored = |it: &Path| it.components().any(|it| is_ignored_dir_name(it.as_os_str()));
    if is_ignored(name) || is_ignored(target) {
        return None;
    }
    Some(Link { name: name.to_str()?.to_owned(), target: target.to_str()?.to_owned() })
}
