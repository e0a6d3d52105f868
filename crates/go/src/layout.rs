//! One revision's files as the go command sees them: packages, modules, what a build takes and what it leaves out.
//! Found out from names, `go.mod` files, constraints and import lines alone, and worked out once for each revision.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use super::build_constraints::BuildContext;
use super::document_sync::{folders, is_left_out};
use super::lsp_conversion::is_hidden;
use super::modules::{GoPackage, Standing, base_name, module_of, packages, parent, works};
use super::package_set::World;
use super::same_paths::SamePaths;
use super::symbol_paths::{inner_path, is_ignored, is_test_file, package_symbol, symbol};
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::unpoisoned;
use semdex_model::{Symbol, SymbolKind};

pub(crate) struct Layout {
    pub files: Arc<Files>,
    directories: BTreeMap<String, Directory>,
    packages: HashMap<String, Arc<str>>,
    by_import_path: HashMap<String, String>,
    active: HashSet<String>,
    /// The files that the build leaves out for want of cgo alone.
    needing_cgo: BTreeSet<String>,
    /// The directories that have such files or import from one that has, near or far, with one of the files.
    behind_cgo: OnceLock<HashMap<String, String>>,
    /// One `go.work` at the root makes one build of all its modules.
    joined: bool,
    /// The directories of the modules that gopls loads by itself.
    loaded: BTreeSet<String>,
    meanings: Mutex<HashMap<String, Arc<BTreeSet<String>>>>,
    by_path: HashMap<Arc<str>, Vec<GoPackage>>,
    world: OnceLock<Arc<World>>,
    /// What tells the declarations of a package apart, by its import path.
    twins: Mutex<HashMap<Arc<str>, Arc<SamePaths>>>,
}

struct Directory {
    /// The directory of the `go.mod` above.
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
            if package.standing == Standing::Member {
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
            world: OnceLock::new(),
            twins: Mutex::default(),
            files,
            directories,
            by_import_path,
            active,
            needing_cgo,
            behind_cgo: OnceLock::new(),
        }
    }

    /// The packages that names are looked for in, seen from a file.
    pub(crate) fn world(&self, file: Option<&str>) -> Arc<World> {
        if file.is_some_and(|it| is_ignored(&self.files, it)) {
            return Arc::new(World::of(&self.files, file));
        }
        self.world.get_or_init(|| Arc::new(World::of(&self.files, None))).clone()
    }

    /// The import path of a file's package.
    pub(crate) fn package_of(&self, file: &str) -> Option<&str> {
        self.packages.get(file).map(|it| &**it)
    }

    /// The symbols of one file as a tree: methods beside their types in the order of the text, fields and the methods
    /// of interfaces below their types. Empty for a file that is not there.
    pub(crate) fn symbols(&self, file: &str) -> Vec<Symbol> {
        let Some(text) = self.files.get(file).filter(|_| LANGUAGE.takes(file)) else {
            return Vec::new();
        };
        let Some(package) = self.package_of(file) else { return Vec::new() };
        text.outline().items.iter().map(|item| self.distinct(symbol(text, package, item, false))).collect()
    }

    /// The path of the innermost declaration around an offset.
    pub(crate) fn symbol_around(&self, file: &str, offset: usize) -> Option<String> {
        let file = self.files.get(file)?;
        let item = *file.outline().enclosing(offset).last()?;
        let package = self.package_of(&file.path)?;
        Some(self.twins(package).path(file, package, item))
    }

    /// The innermost declaration around an offset; the package, where there is none.
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

    /// A type of the workspace with its methods, wherever in the package they stand.
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

    /// A symbol of the workspace, by the path that means just it.
    pub(crate) fn distinct(&self, mut symbol: Symbol) -> Symbol {
        self.twins(&symbol.package).tell_apart(&mut symbol);
        symbol
    }

    fn twins(&self, import_path: &str) -> Arc<SamePaths> {
        let twins = || unpoisoned::lock(&self.twins);
        if let Some(known) = twins().get(import_path) {
            return known.clone();
        }
        let Some((path, packages)) = self.by_path.get_key_value(import_path) else { return Arc::default() };
        let found = Arc::new(SamePaths::of(packages));
        twins().insert(path.clone(), found.clone());
        found
    }

    /// Whether the build takes a file, as far as its own constraints go.
    pub(crate) fn is_active(&self, file: &str) -> bool {
        self.active.contains(file)
    }

    /// Whether the build leaves a file out for want of cgo alone.
    pub(crate) fn needs_cgo(&self, file: &str) -> bool {
        self.needing_cgo.contains(file)
    }

    /// A file that needs cgo, of a package whose declarations this file's may rest on.
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

    /// All Go files of a file's directory: its package, its tests, and what build constraints leave out.
    pub(crate) fn siblings(&self, file: &str) -> &[String] {
        self.directories.get(parent(file)).map(|it| it.files.as_slice()).unwrap_or_default()
    }

    pub(crate) fn files_of(&self, import_path: &str) -> &[String] {
        let directory = self.by_import_path.get(import_path).and_then(|it| self.directories.get(it));
        directory.map(|it| it.files.as_slice()).unwrap_or_default()
    }

    pub(crate) fn is_local(&self, import_path: &str) -> bool {
        self.by_import_path.contains_key(import_path)
    }

    /// Whether gopls, asked about a thing of one file, looks into the other by itself: they are built together, and
    /// `./...` does not leave them out.
    pub(crate) fn is_searched_from(&self, origin: &str, file: &str) -> bool {
        let Some(module) = self.loaded_module(file) else { return false };
        if origin.starts_with('/') {
            // Of a package outside it searches one build only, and does not say which.
            return self.joined || self.loaded.len() == 1;
        }
        self.loaded_module(origin).is_some_and(|it| self.joined || it == module)
    }

    /// The directory of a file's module, if gopls loads the file with it.
    fn loaded_module(&self, file: &str) -> Option<&str> {
        let left_out = parent(file).split('/').any(is_left_out) || is_hidden(base_name(file));
        let module = self.directories.get(parent(file))?.module.as_deref()?;
        (!left_out && self.loaded.contains(module)).then_some(module)
    }

    /// The files whose errors could hide what a name in `file` means: those of its package, and those of every
    /// package of the workspace that this one imports, near or far. What the build leaves out has no say.
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

    /// Every file that the build of its module takes.
    pub(crate) fn built(&self) -> impl Iterator<Item = &str> {
        let files = self.directories.values().flat_map(|it| it.files.iter().map(String::as_str));
        files.filter(|file| self.is_built(file))
    }

    /// The same of those that it takes only with cgo.
    pub(crate) fn built_with_cgo(&self) -> impl Iterator<Item = &str> {
        self.needing_cgo.iter().map(String::as_str).filter(|it| self.loaded_module(it).is_some())
    }

    pub(crate) fn is_built(&self, file: &str) -> bool {
        self.is_active(file) && self.loaded_module(file).is_some()
    }
}
