//! Which directory is which package of which module, as far as names, `go.mod` files and import lines tell.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::book::is_left_out;
use super::modules::{self, base_name, module_of, parent};
use super::names::is_test_file;
use super::wire::is_hidden;
use crate::lang::files::Files;
use crate::model::Language;

pub struct Layout {
    directories: BTreeMap<String, Directory>,
    by_import_path: HashMap<String, String>,
    /// One `go.work` at the root makes one build of all its modules.
    joined: bool,
}

#[derive(Default)]
struct Directory {
    /// The directory of the `go.mod` above.
    module: Option<String>,
    files: Vec<String>,
}

impl Layout {
    pub fn of(files: &Files) -> Layout {
        let mut layout = Layout {
            directories: BTreeMap::new(),
            by_import_path: HashMap::new(),
            joined: files.get("go.work").is_some(),
        };
        for file in files.of(Language::Go) {
            let directory = parent(&file.path);
            let entry = layout.directories.entry(directory.to_owned()).or_insert_with(|| Directory {
                module: module_of(files, directory).map(|it| it.directory),
                files: Vec::new(),
            });
            entry.files.push(file.path.to_string());
            if entry.files.len() == 1
                && let Some(path) = modules::import_path(files, &file.path)
            {
                layout.by_import_path.insert(path, directory.to_owned());
            }
        }
        layout
    }

    /// All Go files of a file's directory: its package, its tests, and what build constraints leave out.
    pub fn siblings(&self, file: &str) -> &[String] {
        self.directories.get(parent(file)).map(|it| it.files.as_slice()).unwrap_or_default()
    }

    pub fn files_of(&self, import_path: &str) -> &[String] {
        let directory = self.by_import_path.get(import_path).and_then(|it| self.directories.get(it));
        directory.map(|it| it.files.as_slice()).unwrap_or_default()
    }

    pub fn is_local(&self, import_path: &str) -> bool {
        self.by_import_path.contains_key(import_path)
    }

    /// Whether gopls, asked about a thing of one file, looks into the other by itself: they are built together, and
    /// `./...` does not leave it out.
    pub fn is_searched_from(&self, origin: &str, file: &str) -> bool {
        let left_out = parent(file).split('/').any(is_left_out) || is_hidden(base_name(file));
        !left_out && (self.joined || self.module_of(origin) == self.module_of(file))
    }

    /// The module's directory. For a file outside the workspace: the only module that there is, else none.
    fn module_of(&self, file: &str) -> Option<&str> {
        if file.starts_with('/') {
            let modules: BTreeSet<&str> = self.directories.values().filter_map(|it| it.module.as_deref()).collect();
            return modules.first().copied().filter(|_| modules.len() == 1);
        }
        self.directories.get(parent(file)).and_then(|it| it.module.as_deref())
    }

    /// The files whose errors could hide what a name in `file` means: those of its package, and those of every
    /// package of the workspace that this one imports, near or far.
    pub fn meaning_of(&self, files: &Files, file: &str) -> BTreeSet<String> {
        let mut seen = BTreeSet::from([parent(file).to_owned()]);
        let mut queue = vec![(parent(file).to_owned(), true)];
        let mut meaning = BTreeSet::new();
        while let Some((directory, with_tests)) = queue.pop() {
            let Some(entry) = self.directories.get(&directory) else { continue };
            for file in entry.files.iter().filter(|file| with_tests || !is_test_file(file)) {
                meaning.insert(file.clone());
                let Some(file) = files.get(file) else { continue };
                for import in &file.outline().imports {
                    if let Some(next) = self.by_import_path.get(&import.path)
                        && seen.insert(next.clone())
                    {
                        queue.push((next.clone(), false));
                    }
                }
            }
        }
        meaning
    }

    /// Every file that `./...` of its module includes, build constraints aside.
    pub fn built(&self) -> impl Iterator<Item = &str> {
        self.directories
            .values()
            .filter(|it| it.module.is_some())
            .flat_map(|it| it.files.iter().map(String::as_str))
            .filter(|file| self.is_searched_from(file, file))
    }
}
