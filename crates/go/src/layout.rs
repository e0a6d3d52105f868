//! One revision's files as the go command sees them: packages, modules, and the files that a build includes or
//! excludes. Computed once for each revision from names, `go.mod` files, constraints and import lines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use super::build_constraints::BuildContext;
use super::document_sync::folders;
use super::identifier_index::{FilesByName, Identifiers};
use super::language::{is_hidden, is_left_out};
use super::modules::{GoPackage, Membership, base_name, module_of, packages, parent, works};
use super::package_set::PackageSet;
use super::same_paths::SamePaths;
use super::symbol_paths::{inner_path, is_ignored, is_test_file, package_symbol, symbol};
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_engine::unpoisoned;
use semdex_model::{Symbol, SymbolKind};

pub(crate) struct Layout {
    pub files: Arc<Files>,
    directories: BTreeMap<String, Directory>,
    packages: HashMap<String, Arc<str>>,
    by_import_path: HashMap<String, String>,
    active: HashSet<String>,
    /// The files that the build excludes only because cgo is off.
    needing_cgo: BTreeSet<String>,
    /// The directories with such files or with direct or indirect imports of one, each with one of these files.
    behind_cgo: OnceLock<HashMap<String, String>>,
    /// A `go.work` at the root combines all its modules in one build.
    joined: bool,
    /// The directories of the modules that gopls loads at the start.
    loaded: BTreeSet<String>,
    meanings: Mutex<HashMap<String, Arc<BTreeSet<String>>>>,
    by_path: HashMap<Arc<str>, Vec<GoPackage>>,
    package_set: OnceLock<Arc<PackageSet>>,
    files_by_name: OnceLock<FilesByName>,
    /// The disambiguation of a package's declarations, by its import path.
    same_paths: Mutex<HashMap<Arc<str>, Arc<SamePaths>>>,
}

struct Directory {
    /// The directory of the enclosing `go.mod`.
    module: Option<String>,
    files: Vec<String>,
}

impl Layout {
    pub(crate) fn of(files: Arc<Files>, context: &BuildContext) -> Layout {
        let mut directories: BTreeMap<String, Directory> = BTreeMap::new();
        let (mut active, mut needing_cgo) = (HashSet::new(), BTreeSet::new());
        for file in files.of(LANGUAGE) {
            let directory = parent(&file.path);
            let entry = directories.entry(directory.to_owned()).or_insert_with(|| Directory {
                module: module_of(&files, directory).map(|it| it.directory),
                files: Vec::new(),
            });
            entry.files.push(file.path.to_string());
            if context.takes(&file.path, &file.text) {
                active.insert(file.path.to_string());
            } else if context.lacks_cgo(&file.path, &file.text) {
                needing_cgo.insert(file.path.to_string());
            }
        }
        let mut of_files = HashMap::new();
        let mut by_import_path = HashMap::new();
        let mut by_path: HashMap<Arc<str>, Vec<GoPackage>> = HashMap::new();
        for package in packages(&files) {
            if package.standing == Membership::Member {
                by_import_path.insert(package.import_path.clone(), package.directory.clone());
            }
            let path: Arc<str> = package.import_path.as_str().into();
            of_files.extend(package.files.iter().map(|file| (file.path.to_string(), path.clone())));
            by_path.entry(path).or_default().push(package);
        }
        let work = works(&files).into_iter().find(|it| it.directory.is_empty());
        Layout {
            joined: work.is_some(),
            loaded: work.map_or_else(|| folders(&files), |work| work.uses.into_iter().collect()),
            packages: of_files,
            meanings: Mutex::default(),
            by_path,
            package_set: OnceLock::new(),
            files_by_name: OnceLock::new(),
            same_paths: Mutex::default(),
            files,
            directories,
            by_import_path,
            active,
            needing_cgo,
            behind_cgo: OnceLock::new(),
        }
    }

    /// The packages in which names are looked up, as seen from a file.
    pub(crate) fn package_set(&self, file: Option<&str>) -> Arc<PackageSet> {
        if file.is_some_and(|it| is_ignored(&self.files, it)) {
            return Arc::new(PackageSet::of(&self.files, file));
        }
        self.package_set.get_or_init(|| Arc::new(PackageSet::of(&self.files, None))).clone()
    }

    /// The files of each name, computed at the first call.
    pub(crate) fn files_by_name(&self, identifiers: &Identifiers) -> &FilesByName {
        self.files_by_name.get_or_init(|| identifiers.by_name(&self.files))
    }

    /// The files that may have a name.
    pub(crate) fn files_naming<'l>(&'l self, name: &str) -> Box<dyn Iterator<Item = &'l Arc<File>> + 'l> {
        match self.files_by_name.get() {
            Some(known) => Box::new(known.with(name)),
            None => Box::new(self.files.of(LANGUAGE)),
        }
    }

    /// The import path of a file's package.
    pub(crate) fn package_of(&self, file: &str) -> Option<&str> {
        self.packages.get(file).map(|it| &**it)
    }

    /// The symbols of one file as a tree: methods next to their types in the order of the text, fields and interface
    /// methods below their types. Empty if the file does not exist.
    pub(crate) fn symbols(&self, file: &str) -> Vec<Symbol> {
        let Some(text) = self.files.get(file).filter(|_| LANGUAGE.takes(file)) else {
            return Vec::new();
        };
        let Some(package) = self.package_of(file) else { return Vec::new() };
        text.outline().items.iter().map(|item| self.distinct(symbol(text, package, item, false))).collect()
    }

    /// The path of the innermost declaration that encloses an offset.
    pub(crate) fn symbol_around(&self, file: &str, offset: usize) -> Option<String> {
        let file = self.files.get(file)?;
        let item = *file.outline().enclosing(offset).last()?;
        let package = self.package_of(&file.path)?;
        Some(self.same_paths(package).path(file, package, item))
    }

    /// The innermost declaration that encloses an offset; the package if there is none.
    pub(crate) fn declared_around(&self, file: &str, offset: usize) -> Option<Symbol> {
        let file = self.files.get(file)?;
        let package = self.package_of(&file.path)?;
        match file.outline().enclosing(offset).last() {
            Some(item) => {
                let symbol = Symbol { children: Vec::new(), ..symbol(file, package, item, false) };
                Some(self.distinct(symbol))
            }
            None => package_symbol(file, package, false),
        }
    }

    /// A type of the workspace with its methods from the whole package.
    pub(crate) fn with_methods(&self, mut symbol: Symbol) -> Symbol {
        let is_type = matches!(symbol.kind, SymbolKind::Struct | SymbolKind::Type);
        if !is_type || inner_path(&symbol) != symbol.name {
            return symbol;
        }
        let packages = self.by_path.get(symbol.package.as_str()).map(Vec::as_slice).unwrap_or_default();
        let here = packages.iter().filter(|it| it.directory == parent(&symbol.name_at.file));
        let methods = here.flat_map(GoPackage::top_level).filter(|it| it.item.container.first() == Some(&symbol.name));
        symbol.children.extend(methods.map(|it| self.distinct(it.symbol())));
        symbol
    }

    /// Gives a symbol of the workspace its unique path.
    pub(crate) fn distinct(&self, mut symbol: Symbol) -> Symbol {
        self.same_paths(&symbol.package).disambiguate(&mut symbol);
        symbol
    }

    fn same_paths(&self, import_path: &str) -> Arc<SamePaths> {
        let same_paths = || unpoisoned::lock(&self.same_paths);
        if let Some(known) = same_paths().get(import_path) {
            return known.clone();
        }
        let Some((path, packages)) = self.by_path.get_key_value(import_path) else { return Arc::default() };
        let found = Arc::new(SamePaths::of(packages));
        same_paths().insert(path.clone(), found.clone());
        found
    }

    /// Whether the build includes a file, judged by the file's own constraints.
    pub(crate) fn is_active(&self, file: &str) -> bool {
        self.active.contains(file)
    }

    /// Whether the build excludes a file only because cgo is off.
    pub(crate) fn needs_cgo(&self, file: &str) -> bool {
        self.needing_cgo.contains(file)
    }

    /// The files that the default build leaves out, and that cgo would not add, in directories that a build reads.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &Arc<File>> {
        let files = self.directories.values().flat_map(|it| &it.files).filter(|it| !self.is_active(it));
        let files = files.filter(|it| !self.needs_cgo(it) && self.loaded_module(it).is_some());
        files.filter_map(|it| self.files.get(it))
    }

    /// All Go files of a directory.
    pub(crate) fn files_in(&self, directory: &str) -> &[String] {
        self.directories.get(directory).map(|it| it.files.as_slice()).unwrap_or_default()
    }

    /// A file that needs cgo, in a package that this file's package may depend on.
    pub(crate) fn cgo_behind(&self, file: &str) -> Option<String> {
        let own = self.behind_cgo().get(parent(file));
        let of_tests = || {
            let tests = self.siblings(file).iter().filter(|it| is_test_file(it) && self.is_active(it));
            let imports = tests.filter_map(|it| self.files.get(it)).flat_map(|it| &it.outline().imports);
            let directories = imports.filter_map(|it| self.by_import_path.get(&it.path));
            directories.filter_map(|it| self.behind_cgo().get(it)).next()
        };
        own.or_else(|| if is_test_file(file) { of_tests() } else { None }).cloned()
    }

    fn behind_cgo(&self) -> &HashMap<String, String> {
        self.behind_cgo.get_or_init(|| {
            let mut behind: HashMap<String, String> = HashMap::new();
            let mut queue: Vec<(String, String)> = Vec::new();
            queue.extend(self.needing_cgo.iter().map(|it| (parent(it).to_owned(), it.clone())));
            if queue.is_empty() {
                return behind;
            }
            let mut importers: HashMap<&str, BTreeSet<&str>> = HashMap::new();
            for (directory, entry) in &self.directories {
                let code =
                    entry.files.iter().filter(|it| !is_test_file(it) && (self.is_active(it) || self.needs_cgo(it)));
                for import in code.filter_map(|it| self.files.get(it)).flat_map(|it| &it.outline().imports) {
                    if let Some(imported) = self.by_import_path.get(&import.path) {
                        importers.entry(imported).or_default().insert(directory);
                    }
                }
            }
            while let Some((directory, cause)) = queue.pop() {
                if behind.contains_key(&directory) {
                    continue;
                }
                let next = importers.get(directory.as_str()).into_iter().flatten();
                queue.extend(next.map(|it| ((*it).to_owned(), cause.clone())));
                behind.insert(directory, cause);
            }
            behind
        })
    }

    /// All Go files of a file's directory: its package, its tests, and those that build constraints exclude.
    pub(crate) fn siblings(&self, file: &str) -> &[String] {
        self.files_in(parent(file))
    }

    pub(crate) fn files_of(&self, import_path: &str) -> &[String] {
        let directory = self.by_import_path.get(import_path).and_then(|it| self.directories.get(it));
        directory.map(|it| it.files.as_slice()).unwrap_or_default()
    }

    pub(crate) fn is_local(&self, import_path: &str) -> bool {
        self.by_import_path.contains_key(import_path)
    }

    /// Whether gopls's references for a symbol in `origin` include those in `file`: both are built together, and
    /// `./...` includes them.
    pub(crate) fn is_searched_from(&self, origin: &str, file: &str) -> bool {
        let Some(module) = self.loaded_module(file) else { return false };
        if origin.starts_with('/') {
            // For a package outside the workspace, gopls searches one build only, and does not report which.
            return self.joined || self.loaded.len() == 1;
        }
        self.loaded_module(origin).is_some_and(|it| self.joined || it == module)
    }

    /// The directory of a file's module if gopls loads the file as part of it.
    fn loaded_module(&self, file: &str) -> Option<&str> {
        let left_out = parent(file).split('/').any(is_left_out) || is_hidden(base_name(file));
        let module = self.directories.get(parent(file))?.module.as_deref()?;
        (!left_out && self.loaded.contains(module)).then_some(module)
    }

    /// The files whose errors could hide the meaning of a name in `file`. These are the files of its package and of the
    /// workspace's packages that it imports, directly or not. Files that the build excludes do not matter.
    pub(crate) fn meaning_of(&self, file: &str) -> Arc<BTreeSet<String>> {
        let meanings = || unpoisoned::lock(&self.meanings);
        if let Some(meaning) = meanings().get(parent(file)) {
            return meaning.clone();
        }
        let mut seen = BTreeSet::from([parent(file).to_owned()]);
        let mut queue = vec![(parent(file).to_owned(), true)];
        let mut meaning = BTreeSet::new();
        while let Some((directory, with_tests)) = queue.pop() {
            let Some(entry) = self.directories.get(&directory) else { continue };
            let taken = entry.files.iter().filter(|file| self.is_active(file) && (with_tests || !is_test_file(file)));
            for file in taken {
                meaning.insert(file.clone());
                let Some(file) = self.files.get(file) else { continue };
                for import in &file.outline().imports {
                    if let Some(next) = self.by_import_path.get(&import.path)
                        && seen.insert(next.clone())
                    {
                        queue.push((next.clone(), false));
                    }
                }
            }
        }
        let meaning = Arc::new(meaning);
        meanings().insert(parent(file).to_owned(), meaning.clone());
        meaning
    }

    /// Whether code of a file can name the members of a package's types in any build: its package imports that package,
    /// directly or not. Imports of other modules by modules outside the workspace are not followed.
    pub(crate) fn may_depend_on(&self, file: &str, import_path: &str) -> bool {
        let Some(target) = self.by_import_path.get(import_path) else { return true };
        let mut seen = BTreeSet::from([parent(file)]);
        let mut queue = vec![parent(file)];
        while let Some(directory) = queue.pop() {
            if directory == target {
                return true;
            }
            let files = self.directories.get(directory).into_iter().flat_map(|it| &it.files);
            let imports = files.filter_map(|it| self.files.get(it)).flat_map(|it| &it.outline().imports);
            let next = imports.filter_map(|it| self.by_import_path.get(&it.path)).map(String::as_str);
            queue.extend(next.filter(|it| seen.insert(it)));
        }
        false
    }

    /// Every file that its module's build includes.
    pub(crate) fn built(&self) -> impl Iterator<Item = &str> {
        let files = self.directories.values().flat_map(|it| it.files.iter().map(String::as_str));
        files.filter(|file| self.is_built(file))
    }

    /// Every file that its module's build includes only with cgo.
    pub(crate) fn built_with_cgo(&self) -> impl Iterator<Item = &str> {
        self.needing_cgo.iter().map(String::as_str).filter(|it| self.loaded_module(it).is_some())
    }

    pub(crate) fn is_built(&self, file: &str) -> bool {
        self.is_active(file) && self.loaded_module(file).is_some()
    }
}
