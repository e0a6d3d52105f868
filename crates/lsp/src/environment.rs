//! What a server reads only when it starts: installed packages (`node_modules`, `.venv`), its configuration, and its
//! root directories. Installed packages are not watched. Instead, the metadata of a few files and directories that
//! every installation changes are compared before an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use super::table::{Row, base_name};
use semdex_engine::files::{File, Files};

/// The most directories with root markers that are inspected. With more, only the workspace's root is inspected.
const MOST_DIRECTORIES: usize = 50;
/// The most paths that one pattern matches.
const MOST_MATCHES: usize = 8;
/// With more roots, the workspace's root is the only one.
const MOST_FOLDERS: usize = 20;

#[derive(Debug)]
pub(crate) struct Environment {
    row: Row,
    root: PathBuf,
    /// The texts in which the directories were last searched.
    seen: Weak<Files>,
    directories: BTreeSet<String>,
    /// Texts that a pattern without a directory matches, in any directory.
    texts: BTreeMap<Arc<str>, blake3::Hash>,
    /// The server's root directories.
    folders: Vec<String>,
    /// By path and the directory below which it was found.
    stamps: BTreeMap<(String, PathBuf), Stamp>,
}

/// Modification time and size of a file or a directory.
type Stamp = (SystemTime, u64);

impl Environment {
    pub(crate) fn new(row: &Row, root: &Path, files: &Arc<Files>) -> Environment {
        let mut environment = Environment {
            row: row.clone(),
            root: root.to_owned(),
            seen: Weak::new(),
            directories: BTreeSet::new(),
            texts: BTreeMap::new(),
            folders: Vec::new(),
            stamps: BTreeMap::new(),
        };
        environment.follow(files);
        environment
    }

    /// Whether a package was installed or removed, the configuration was changed, or a root was added or removed since
    /// the last call.
    pub(crate) fn follow(&mut self, files: &Arc<Files>) -> bool {
        let keys = &self.row.keys;
        if keys.environment.is_none() && keys.roots.is_none() {
            return false;
        }
        let known = self.directories.clone();
        let is_seen = std::ptr::eq(self.seen.as_ptr(), Arc::as_ptr(files));
        let is_read_otherwise = !is_seen && self.take(files);
        let (before, now) = (std::mem::take(&mut self.stamps), self.look());
        // An entry whose directory is only inspected from now on, or no longer, has not changed.
        let is_followed = |it: &&(String, PathBuf)| known.contains(&it.0) && self.directories.contains(&it.0);
        let has_changed = before.keys().chain(now.keys()).filter(is_followed).any(|it| before.get(it) != now.get(it));
        self.stamps = now;
        has_changed || is_read_otherwise
    }

    /// Updates the texts. Returns whether the server's configuration files or roots differ.
    fn take(&mut self, files: &Arc<Files>) -> bool {
        self.seen = Arc::downgrade(files);
        self.directories = directories_of(files, self.row.keys.roots.as_deref());
        let folders = outermost(&self.row, files, &self.directories);
        if self.directories.len() > MOST_DIRECTORIES {
            self.directories.clear();
        }
        self.directories.insert(String::new());
        // A server reads its configuration from disk.
        let names = self.row.keys.environment.as_deref().unwrap_or_default();
        let configures = |it: &&Arc<File>| !it.overlay && is_named(it, names);
        let texts: BTreeMap<Arc<str>, blake3::Hash> =
            files.iter().filter(configures).map(|it| (it.path.clone(), it.hash)).collect();
        let has_changed = texts != self.texts || folders != self.folders;
        (self.texts, self.folders) = (texts, folders);
        has_changed
    }

    fn look(&self) -> BTreeMap<(String, PathBuf), Stamp> {
        let mut stamps = BTreeMap::new();
        for directory in &self.directories {
            for path in self.row.keys.environment.iter().flatten().flat_map(|it| matches(self.root.join(directory), it))
            {
                let Ok(found) = path.metadata() else { continue };
                let stamp = (found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len());
                stamps.insert((directory.clone(), path), stamp);
            }
        }
        stamps
    }
}

/// The server's root directories: the workspace's root, or the directories below it that contain a marker.
pub(crate) fn folders(row: &Row, files: &Files) -> Vec<String> {
    outermost(row, files, &directories_of(files, row.keys.roots.as_deref()))
}

/// The roots among the marked directories.
fn outermost(row: &Row, files: &Files, marked: &BTreeSet<String>) -> Vec<String> {
    let is_within = |it: &str, outer: &str| outer.is_empty() || it == outer || it.starts_with(&format!("{outer}/"));
    // An excluded directory belongs to another server, except for roots below it.
    let excluded = directories_of(files, row.keys.exclude.as_deref());
    let found: Vec<&String> = marked.iter().filter(|it| !excluded.iter().any(|outer| is_within(it, outer))).collect();
    // Only the outermost roots: a server finds the inner roots itself.
    let outermost: Vec<String> = found
        .iter()
        .copied()
        .filter(|it| !found.iter().any(|outer| outer != it && is_within(it, outer)))
        .cloned()
        .collect();
    if outermost.is_empty() || outermost.len() > MOST_FOLDERS { vec![String::new()] } else { outermost }
}

/// The directories that contain a file with one of these names.
fn directories_of(files: &Files, names: Option<&[String]>) -> BTreeSet<String> {
    let names = names.unwrap_or_default();
    let marked = files.iter().filter(|it| is_named(it, names));
    marked.map(|it| it.path.rsplit_once('/').map_or("", |it| it.0).to_owned()).collect()
}

fn is_named(file: &File, names: &[String]) -> bool {
    let own = base_name(&file.path);
    names.iter().any(|it| it == own)
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
    use semdex_config::LanguageKeys;
    use semdex_engine::Registry;

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
        let mut texts = Files::new(Registry::new(Vec::new(), crate::kinds).languages().clone());
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
        // A root within a root is not new, and a text that configures nothing changes nothing.
        texts.insert(Arc::new(texts.file("app/web/package.json", "{}")));
        let files = Arc::new(texts.clone());
        assert!(!environment.follow(&files));
        texts.insert(Arc::new(texts.file("web/package.json", "{}")));
        let files = Arc::new(texts);
        assert!(environment.follow(&files) && !environment.follow(&files));
    }

    #[test]
    fn what_configures_a_server_is_followed_wherever_it_lies() {
        let home = tempfile::tempdir().unwrap();
        let list = |it: &[&str]| Some(it.iter().map(|it| (*it).to_owned()).collect());
        let keys = LanguageKeys { environment: list(&["flags.txt", "out/flags.txt"]), ..LanguageKeys::default() };
        let row = Row { name: "x".to_owned(), keys };
        let mut texts = Files::new(Registry::new(Vec::new(), crate::kinds).languages().clone());
        let mut environment = Environment::new(&row, home.path(), &Arc::new(texts.clone()));
        let mut follow = |texts: &Files| environment.follow(&Arc::new(texts.clone()));
        assert!(!follow(&texts), "nothing is there");
        for text in ["-a", "-b"] {
            texts.insert(Arc::new(texts.file("deep/down/flags.txt", text)));
            assert!(follow(&texts) && !follow(&texts), "{text}");
        }
        texts.insert(Arc::new(texts.file("deep/other.txt", "-a")));
        assert!(!follow(&texts));
        texts.insert(Arc::new(texts.file("flags.txt", "-a").as_overlay()));
        assert!(!follow(&texts), "the server reads the disk");
        texts.remove("deep/down/flags.txt");
        assert!(follow(&texts) && !follow(&texts));
    }
}
