//! What is installed for a workspace and is no text of it: `node_modules`, `.venv`. Nobody watches it, so a few files and
//! directories that every installation changes are looked at before an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use super::table::{Row, base_name};
use crate::lang::files::Files;

/// Directories with a root's files that are looked into; of more only the workspace's own is.
const MOST_DIRECTORIES: usize = 50;
/// What one pattern may stand for.
const MOST_MATCHES: usize = 8;

#[derive(Debug, Default)]
pub struct Environment {
    root: PathBuf,
    /// Below a directory, `*` for any one name.
    patterns: Vec<String>,
    markers: Vec<String>,
    /// Which texts the directories were last looked for in.
    seen: Weak<Files>,
    directories: BTreeSet<String>,
    /// By the directory that they were looked for in.
    stamps: BTreeMap<(String, PathBuf), Stamp>,
}

/// When a file or a directory was changed, and how large it is.
type Stamp = (SystemTime, u64);

impl Environment {
    pub fn new(row: &Row, root: &Path, files: &Arc<Files>) -> Environment {
        let list = |it: &Option<Vec<String>>| it.clone().unwrap_or_default();
        let mut environment = Environment {
            root: root.to_owned(),
            patterns: list(&row.keys.environment),
            markers: list(&row.keys.roots),
            seen: Weak::new(),
            directories: BTreeSet::new(),
            stamps: BTreeMap::new(),
        };
        environment.follow(files);
        environment
    }

    /// Whether something was installed or removed since this was last asked.
    pub fn follow(&mut self, files: &Arc<Files>) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let known = self.directories.clone();
        if !std::ptr::eq(self.seen.as_ptr(), Arc::as_ptr(files)) {
            self.seen = Arc::downgrade(files);
            let marked = files.iter().filter(|it| self.markers.iter().any(|name| name == base_name(&it.path)));
            self.directories = marked.map(|it| it.path.rsplit_once('/').map_or("", |it| it.0).to_owned()).collect();
            if self.directories.len() > MOST_DIRECTORIES {
                self.directories.clear();
            }
            self.directories.insert(String::new());
        }
        let (before, now) = (std::mem::take(&mut self.stamps), self.look());
        // What is only looked into from now on, or no longer, has not changed.
        let is_followed = |it: &&(String, PathBuf)| known.contains(&it.0) && self.directories.contains(&it.0);
        let has_changed = before.keys().chain(now.keys()).filter(is_followed).any(|it| before.get(it) != now.get(it));
        self.stamps = now;
        has_changed
    }

    fn look(&self) -> BTreeMap<(String, PathBuf), Stamp> {
        let mut stamps = BTreeMap::new();
        for directory in &self.directories {
            for path in self.patterns.iter().flat_map(|it| matches(self.root.join(directory), it)) {
                let Ok(found) = path.metadata() else { continue };
                let stamp = (found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len());
                stamps.insert((directory.clone(), path), stamp);
            }
        }
        stamps
    }
}

fn matches(directory: PathBuf, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![directory];
    for part in pattern.split('/') {
        found = match part {
            "*" => {
                let entries = found.iter().filter_map(|it| it.read_dir().ok()).flatten().flatten();
                entries.map(|it| it.path()).take(MOST_MATCHES).collect()
            }
            name => found.into_iter().map(|it| it.join(name)).collect(),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::LanguageKeys;
    use crate::lang::registry::Registry;

    #[test]
    fn what_is_installed_is_seen_once() {
        let home = tempfile::tempdir().unwrap();
        let list = |it: &[&str]| Some(it.iter().map(|it| (*it).to_owned()).collect());
        let keys = LanguageKeys {
            environment: list(&["node_modules/.package-lock.json", ".venv/lib/*/site-packages"]),
            roots: list(&["package.json"]),
            ..LanguageKeys::default()
        };
        let row = Row { name: "x".to_owned(), keys };
        let mut texts = Files::new(Registry::default().languages().clone());
        texts.insert(Arc::new(texts.file("app/package.json", "{}")));
        let files = Arc::new(texts.clone());
        let mut environment = Environment::new(&row, home.path(), &files);
        assert!(!environment.follow(&files), "nothing is there");
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("app/node_modules/.package-lock.json", "{}");
        assert!(environment.follow(&files) && !environment.follow(&files));
        write("app/node_modules/.package-lock.json", "{ }");
        assert!(environment.follow(&files) && !environment.follow(&files));
        write(".venv/lib/python3.12/site-packages/one/x.py", "");
        assert!(environment.follow(&files) && !environment.follow(&files));
        fs::remove_dir_all(home.path().join(".venv")).unwrap();
        assert!(environment.follow(&files) && !environment.follow(&files));
        // Another root is no installation.
        texts.insert(Arc::new(texts.file("web/package.json", "{}")));
        assert!(!environment.follow(&Arc::new(texts)));
    }
}
