//! The index of usages: what each file of the workspace names, resolved once and kept.
//!
//! A file's names are one salsa query, so that their dependencies are known precisely. After a change the query of an
//! untouched file is verified, not computed again, unless something differs that it depends on. Verifying takes time
//! all the same, and a user's query must not wait for it. The index therefore records for each file whether its names
//! are known to be correct *now*. They are correct until the file itself changes, or until another file changes outside
//! its function bodies. A user's query reads what is correct and resolves by itself the few words that it needs in
//! stale files. A background thread updates these.

pub(crate) mod file_names;
pub(crate) mod macro_names;
pub(crate) mod postings;
pub(crate) mod search;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ra_ap_hir::Crate;
use ra_ap_ide::FileId;
use rustc_hash::FxHashMap;

use self::file_names::{FurtherNames, Names};
use self::macro_names::{AllMacroNames, MacroNames};
use self::postings::Postings;
use self::search::Search;
use crate::file_interface::FileInterface;
use crate::finding::Finding;
use crate::finding::file_errors::FileErrors;
use crate::names::Key;
use semdex_engine::unpoisoned;
use semdex_model::{OutlineItem, Span, Symbol, SymbolKind, Upstream};
use semdex_text::diff::OffsetMap;
use semdex_text::words::has_word;

/// The symbols of a file as a tree, and each of them as a definition with its path.
#[derive(Debug, Default, Clone)]
pub(crate) struct FileSymbols {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) definitions: Vec<Key>,
    /// The positions of their names.
    pub(crate) names_at: Vec<usize>,
    /// The search for usages of all of them.
    pub(crate) search: Search,
    pub(crate) package: Option<String>,
    pub(crate) in_a_crate: bool,
    /// Computed on first use.
    pub(crate) upstream: OnceLock<Vec<Upstream>>,
    /// Files of modules that the tree mentions.
    pub(crate) elsewhere: Vec<FileId>,
}

impl FileSymbols {
    /// The definition that the name at an offset declares.
    pub(crate) fn declared(&self, name_at: usize) -> Option<Key> {
        let at = self.names_at.iter().position(|it| *it == name_at)?;
        self.definitions.get(at).copied()
    }

    /// The symbol of an item of this file.
    pub(crate) fn symbol_of(&self, item: &OutlineItem) -> Option<&Symbol> {
        let is_it = |it: &Symbol| {
            it.name_at.start == item.name_span.start && (it.kind == SymbolKind::Impl) == (item.kind == SymbolKind::Impl)
        };
        let mut level = &self.symbols;
        loop {
            if let Some(found) = level.iter().find(|it| is_it(it)) {
                return Some(found);
            }
            let around =
                level.iter().find(|it| it.declared_at.is_none() && it.place.span().contains(item.name_span.start));
            level = &around?.children;
        }
    }

    /// Whether a path in the tree contains this name.
    fn says(&self, name: &str) -> bool {
        fn says(symbol: &Symbol, name: &str) -> bool {
            leads_through(&symbol.path, name) || symbol.children.iter().any(|it| says(it, name))
        }
        self.symbols.iter().any(|it| says(it, name))
    }

    /// The same symbols without what the file names, which may have changed.
    fn with_other_names(&self) -> FileSymbols {
        FileSymbols { upstream: OnceLock::new(), ..self.clone() }
    }

    /// The path of the innermost symbol around an offset.
    pub(crate) fn enclosing(&self, offset: usize) -> Option<String> {
        let mut found = None;
        let mut level = &self.symbols;
        while let Some(symbol) = level.iter().find(|it| it.declared_at.is_none() && it.place.span().contains(offset)) {
            if symbol.kind != SymbolKind::Impl {
                found = Some(symbol);
            }
            level = &symbol.children;
        }
        found.map(|it| it.path.clone())
    }
}

fn leads_through(path: &str, name: &str) -> bool {
    has_word(path, name)
}

/// What is known to be correct now. It is shared by the engine, which invalidates, and by the holders of a view, which
/// add. No view outlives a change, so nobody adds what was just invalidated.
#[derive(Debug, Default)]
pub(crate) struct Index {
    state: RwLock<IndexState>,
    /// Never wrong: callers compare the result with the texts.
    pub(crate) postings: Arc<RwLock<Postings>>,
    /// For the current crate graph.
    crates: RwLock<Option<Arc<CrateNames>>>,
    borrowed: RwLock<Option<BorrowedPaths>>,
    /// The number of searches before it was known what macros write in most files.
    pub(crate) early_searches: AtomicUsize,
    /// Of a shadow database, which answers no query about the whole workspace.
    pub(crate) is_shadow: bool,
}

/// The paths that another database knows. They are correct here too, unless they contain one of these names.
#[derive(Debug)]
pub(crate) struct BorrowedPaths {
    pub(crate) index: Arc<Index>,
    /// For files that are edited in this database: maps their positions to positions in the first database.
    pub(crate) edited: FxHashMap<FileId, OffsetMap>,
    pub(crate) names: BTreeSet<String>,
}

impl BorrowedPaths {
    fn enclosing(&self, file: FileId, offset: usize) -> Option<String> {
        let offset = self.edited.get(&file).map_or(Some(offset), |it| it.offset(offset))?;
        let path = self.index.symbols(file)?.enclosing(offset)?;
        (!self.names.iter().any(|name| leads_through(&path, name))).then_some(path)
    }
}

/// The invalidated part of the index, which is restored when the change is reverted.
#[derive(Debug, Default)]
pub(crate) struct IndexState {
    names: FxHashMap<FileId, Arc<Names>>,
    further: FxHashMap<FileId, Arc<FurtherNames>>,
    macro_names: FxHashMap<FileId, Arc<MacroNames>>,
    further_macro_names: FxHashMap<FileId, Arc<MacroNames>>,
    /// Of all files, if they are known.
    all_macro_names: Option<Arc<AllMacroNames>>,
    /// How often what they are put together of has changed.
    macro_changes: u64,
    symbols: FxHashMap<FileId, Arc<FileSymbols>>,
    /// With the file of the definition.
    paths: FxHashMap<Key, (FileId, Arc<str>)>,
    /// The reverse map.
    keys: FxHashMap<Arc<str>, Key>,
    /// The plain items of a file by their ids, which stay the same when the text changes.
    declared: FxHashMap<FileId, FxHashMap<u32, Key>>,
    errors: FxHashMap<FileId, Arc<FileErrors>>,
    /// The errors outside of bodies.
    item_errors: FxHashMap<FileId, Arc<[Finding]>>,
    /// What was added while a change is being tried.
    learned: Option<Vec<Learned>>,
}

#[derive(Debug, Clone, Copy)]
enum Learned {
    Names(FileId),
    Further(FileId),
    MacroNames(FileId),
    FurtherMacroNames(FileId),
    Symbols(FileId),
    Path(Key),
    Declared(FileId),
    Errors(FileId),
    ItemErrors(FileId),
}

impl IndexState {
    /// Removes and returns everything about these files, including references from elsewhere.
    fn take(&mut self, files: &HashSet<FileId>) -> IndexState {
        let speaks_of =
            |file: &FileId, it: &FileSymbols| files.contains(file) || it.elsewhere.iter().any(|it| files.contains(it));
        let mut taken = IndexState::default();
        taken.names.extend(self.names.extract_if(|file, _| files.contains(file)));
        taken.further.extend(self.further.extract_if(|file, _| files.contains(file)));
        self.take_macro_names(&mut taken, |file, it| {
            files.contains(&file) || it.depends_on(|it| files.contains(&it), &BTreeSet::new())
        });
        taken.symbols.extend(self.symbols.extract_if(|file, it| speaks_of(file, it)));
        taken.errors.extend(self.errors.extract_if(|file, _| files.contains(file)));
        taken.item_errors.extend(self.item_errors.extract_if(|file, _| files.contains(file)));
        taken.declared.extend(self.declared.extract_if(|file, _| files.contains(file)));
        self.take_paths(&mut taken, |file, _| files.contains(&file));
        taken
    }

    fn learn(&mut self, it: Learned) {
        if let Some(learned) = &mut self.learned {
            learned.push(it);
        }
    }

    fn unlearn(&mut self, it: Learned) {
        match it {
            Learned::Names(file) => drop(self.names.remove(&file)),
            Learned::Further(file) => drop(self.further.remove(&file)),
            Learned::MacroNames(file) => drop(self.macro_names.remove(&file)),
            Learned::FurtherMacroNames(file) => drop(self.further_macro_names.remove(&file)),
            Learned::Symbols(file) => drop(self.symbols.remove(&file)),
            Learned::Declared(file) => drop(self.declared.remove(&file)),
            Learned::Errors(file) => drop(self.errors.remove(&file)),
            Learned::ItemErrors(file) => drop(self.item_errors.remove(&file)),
            Learned::Path(key) => {
                if let Some((_, path)) = self.paths.remove(&key) {
                    self.keys.remove(&path);
                }
            }
        }
    }

    fn forget_all_macro_names(&mut self) {
        self.all_macro_names = None;
        self.macro_changes += 1;
    }

    fn take_macro_names(&mut self, taken: &mut IndexState, is_meant: impl Fn(FileId, &MacroNames) -> bool) {
        taken.macro_names.extend(self.macro_names.extract_if(|file, it| is_meant(*file, it)));
        taken.further_macro_names.extend(self.further_macro_names.extract_if(|file, it| is_meant(*file, it)));
        self.forget_all_macro_names();
    }

    /// Removes paths that contain one of these names.
    fn take_by_names(&mut self, taken: &mut IndexState, names: &BTreeSet<&str>) {
        self.take_paths(taken, |_, path| names.iter().any(|it| leads_through(path, it)));
        taken.symbols.extend(self.symbols.extract_if(|_, it| names.iter().any(|name| it.says(name))));
    }

    fn take_paths(&mut self, taken: &mut IndexState, is_meant: impl Fn(FileId, &str) -> bool) {
        for (key, (file, path)) in self.paths.extract_if(|_, it| is_meant(it.0, &it.1)) {
            taken.keys.extend(self.keys.remove_entry(&path));
            taken.paths.insert(key, (file, path));
        }
    }
}

impl Index {
    pub(crate) fn names(&self, file: FileId) -> Option<Arc<Names>> {
        self.read().names.get(&file).cloned()
    }

    /// What further builds add to the names of a file.
    pub(crate) fn further(&self, file: FileId) -> Option<Arc<FurtherNames>> {
        self.read().further.get(&file).cloned()
    }

    /// What the macros that a file calls write.
    pub(crate) fn macro_names(&self, file: FileId) -> Option<Arc<MacroNames>> {
        self.read().macro_names.get(&file).cloned()
    }

    /// What further builds add to it.
    pub(crate) fn further_macro_names(&self, file: FileId) -> Option<Arc<MacroNames>> {
        self.read().further_macro_names.get(&file).cloned()
    }

    /// What the macros that all files call write, if it is known of each of them. What was put together while further
    /// builds were being read is not known of them.
    pub(crate) fn all_macro_names(&self, in_further_builds: bool) -> Option<Arc<AllMacroNames>> {
        self.read().all_macro_names.clone().filter(|it| it.in_further_builds == in_further_builds)
    }

    /// The same, put together of what is known of these files: all that the default build has, and as far as it is known
    /// what doctests have (`modules`), and further builds.
    pub(crate) fn gather_macro_names(
        &self,
        files: &[FileId],
        modules: &[FileId],
        in_further_builds: bool,
    ) -> Option<Arc<AllMacroNames>> {
        let all = self.read();
        let (mut each, mut is_whole) = (Vec::new(), true);
        for file in files {
            each.push((*file, all.macro_names.get(file)?.clone()));
        }
        let mut of_others = modules.iter().map(|it| (*it, all.macro_names.get(it))).collect::<Vec<_>>();
        if in_further_builds {
            of_others.extend(files.iter().chain(modules).map(|it| (*it, all.further_macro_names.get(it))));
        }
        for (file, known) in of_others {
            is_whole &= known.is_some();
            each.extend(known.map(|it| (file, it.clone())));
        }
        let changes = all.macro_changes;
        drop(all);
        let mut known = AllMacroNames::new(each);
        (known.is_whole, known.in_further_builds) = (is_whole, in_further_builds);
        let known = Arc::new(known);
        let mut all = self.write();
        if all.macro_changes == changes {
            all.all_macro_names = Some(known.clone());
        }
        Some(known)
    }

    pub(crate) fn symbols(&self, file: FileId) -> Option<Arc<FileSymbols>> {
        self.read().symbols.get(&file).cloned()
    }

    /// The path of the innermost symbol around an offset, if known.
    pub(crate) fn enclosing(&self, file: FileId, offset: usize) -> Option<String> {
        if let Some(known) = self.symbols(file) {
            return known.enclosing(offset);
        }
        unpoisoned::read(&self.borrowed).as_ref()?.enclosing(file, offset)
    }

    pub(crate) fn path(&self, key: Key) -> Option<Arc<str>> {
        self.read().paths.get(&key).map(|it| it.1.clone())
    }

    pub(crate) fn crate_names(&self, work_out: impl FnOnce() -> CrateNames) -> Arc<CrateNames> {
        if let Some(known) = unpoisoned::read(&self.crates).clone() {
            return known;
        }
        let names = Arc::new(work_out());
        *unpoisoned::write(&self.crates) = Some(names.clone());
        names
    }

    pub(crate) fn learn_errors(&self, file: FileId, errors: Arc<FileErrors>) {
        let mut all = self.write();
        all.learn(Learned::Errors(file));
        all.errors.insert(file, errors);
    }

    pub(crate) fn learn_item_errors(&self, file: FileId, errors: Arc<[Finding]>) {
        let mut all = self.write();
        all.learn(Learned::ItemErrors(file));
        all.item_errors.insert(file, errors);
    }

    /// The crate graph has changed.
    pub(crate) fn forget_crates(&self) {
        *unpoisoned::write(&self.crates) = None;
        drop(self.forget_all());
    }

    pub(crate) fn postings(&self) -> RwLockReadGuard<'_, Postings> {
        unpoisoned::read(&self.postings)
    }

    /// The definition with exactly this path.
    pub(crate) fn key(&self, path: &str) -> Option<Key> {
        self.read().keys.get(path).copied()
    }

    pub(crate) fn errors(&self, file: FileId) -> Option<Arc<FileErrors>> {
        self.read().errors.get(&file).cloned()
    }

    /// The errors of a file outside of bodies.
    pub(crate) fn item_errors(&self, file: FileId) -> Option<Arc<[Finding]>> {
        self.read().item_errors.get(&file).cloned()
    }

    /// Invalidates these for files that see a change of declarations.
    pub(crate) fn forget_item_errors(&self, reached: &HashSet<FileId>) {
        self.write().item_errors.retain(|file, _| !reached.contains(file));
    }

    /// The definition of a plain item of a file.
    pub(crate) fn declared(&self, file: FileId, id: u32) -> Option<Key> {
        self.read().declared.get(&file)?.get(&id).copied()
    }

    pub(crate) fn learn_declared(&self, file: FileId, declared: FxHashMap<u32, Key>) {
        let mut all = self.write();
        all.learn(Learned::Declared(file));
        all.declared.insert(file, declared);
    }

    pub(crate) fn learn_names(&self, file: FileId, names: Arc<Names>) {
        let mut all = self.write();
        all.learn(Learned::Names(file));
        all.names.insert(file, names);
    }

    pub(crate) fn learn_further(&self, file: FileId, names: Arc<FurtherNames>) {
        let mut all = self.write();
        all.learn(Learned::Further(file));
        all.further.insert(file, names);
    }

    pub(crate) fn learn_macro_names(&self, file: FileId, names: Arc<MacroNames>) {
        let mut all = self.write();
        all.learn(Learned::MacroNames(file));
        all.macro_names.insert(file, names);
        all.forget_all_macro_names();
    }

    pub(crate) fn learn_further_macro_names(&self, file: FileId, names: Arc<MacroNames>) {
        let mut all = self.write();
        all.learn(Learned::FurtherMacroNames(file));
        all.further_macro_names.insert(file, names);
        all.forget_all_macro_names();
    }

    /// Further builds have joined: the default build is as it was, and more symbols are known.
    pub(crate) fn forget_further(&self) {
        *unpoisoned::write(&self.crates) = None;
        let mut all = self.write();
        all.further.clear();
        all.further_macro_names.clear();
        all.forget_all_macro_names();
        all.symbols.clear();
    }

    pub(crate) fn learn_symbols(&self, file: FileId, known: Arc<FileSymbols>) {
        let mut all = self.write();
        all.learn(Learned::Symbols(file));
        all.symbols.insert(file, known);
    }

    pub(crate) fn learn_path(&self, key: Key, file: FileId, path: Arc<str>) {
        let mut all = self.write();
        all.learn(Learned::Path(key));
        all.keys.insert(path.clone(), key);
        all.paths.insert(key, (file, path));
    }

    /// Invalidates the edited files, except the ranges that their texts have in common before and after, and in all
    /// files what a change of declarations affects.
    pub(crate) fn invalidate(&self, edited: &[Edited], stale: &Invalidated) {
        let mut all = self.write();
        let mut forgotten = all.take(&edited.iter().map(|it| it.0).collect());
        for (file, before, after) in edited {
            let stretches = stale.stretches.get(file).map_or(&[][..], Vec::as_slice);
            let names = forgotten.names.get(file).map(|it| Arc::new(it.without(stretches).moved(before, after)));
            all.names.extend(names.map(|it| (*file, it)));
            let further = forgotten.further.get(file).map(|it| it.without(stretches).moved(before, after));
            all.further.extend(further.map(|it| (*file, Arc::new(it))));
            let same = before.plain().iter().filter(|it| after.plain_of(it).is_some()).map(|it| it.id);
            let declared = forgotten.declared.get(file);
            let kept = declared.map(|known| same.filter_map(|id| Some((id, *known.get(&id)?))).collect());
            all.declared.extend(kept.map(|it| (*file, it)));
        }
        all.take_by_names(&mut forgotten, &stale.names.iter().map(String::as_str).collect());
        for (file, stretches) in stale.stretches.iter().filter(|it| !edited.iter().any(|edited| edited.0 == *it.0)) {
            if let Some(names) = all.names.get_mut(file) {
                *names = Arc::new(names.without(stretches));
            }
            if let Some(names) = all.further.get_mut(file) {
                *names = Arc::new(names.without(stretches));
            }
            if let Some(known) = all.symbols.get_mut(file) {
                *known = Arc::new(known.with_other_names());
            }
            all.errors.remove(file);
        }
        for file in &stale.recheck {
            all.errors.remove(file);
        }
        let is_touched = |it: &FileId| stale.stretches.contains_key(it) || stale.recheck.contains(it);
        all.take_macro_names(&mut forgotten, |file, it| is_touched(&file) || it.depends_on(|_| false, &stale.words));
    }

    /// Removes and returns what may be wrong after a change of declarations: everything about these files, the names
    /// and errors of all affected files, and the paths with these names.
    pub(crate) fn set_aside(
        &self,
        files: &HashSet<FileId>,
        reached: &HashSet<FileId>,
        names: &BTreeSet<&str>,
    ) -> IndexState {
        let mut all = self.write();
        let mut taken = all.take(files);
        taken.names.extend(all.names.extract_if(|file, _| reached.contains(file)));
        taken.further.extend(all.further.extract_if(|file, _| reached.contains(file)));
        taken.errors.extend(all.errors.extract_if(|file, _| reached.contains(file)));
        taken.item_errors.extend(all.item_errors.extract_if(|file, _| reached.contains(file)));
        all.take_macro_names(&mut taken, |file, _| reached.contains(&file));
        all.take_by_names(&mut taken, names);
        taken
    }

    /// Invalidates everything about these files.
    pub(crate) fn forget_files(&self, files: &HashSet<FileId>) -> IndexState {
        self.write().take(files)
    }

    pub(crate) fn forget_all(&self) -> IndexState {
        let mut all = self.write();
        all.forget_all_macro_names();
        let (learned, macro_changes) = (all.learned.take(), all.macro_changes);
        std::mem::replace(&mut *all, IndexState { learned, macro_changes, ..IndexState::default() })
    }

    /// For a shadow database with the same texts, for which nothing is known yet.
    pub(crate) fn for_shadow(&self) -> Index {
        Index { postings: self.postings.clone(), is_shadow: true, ..Index::default() }
    }

    pub(crate) fn set_borrowed(&self, borrowed: Option<BorrowedPaths>) {
        *unpoisoned::write(&self.borrowed) = borrowed;
    }

    /// The last change is only tried: what is added from here on is removed when it is reverted.
    pub(crate) fn try_out(&self) {
        self.write().learned = Some(Vec::new());
    }

    /// The tried change is kept.
    pub(crate) fn keep(&self) {
        self.write().learned = None;
    }

    /// The texts are again the ones for which this state was removed.
    pub(crate) fn restore(&self, state: IndexState) {
        let mut all = self.write();
        for it in all.learned.take().unwrap_or_default() {
            all.unlearn(it);
        }
        all.names.extend(state.names);
        all.further.extend(state.further);
        all.macro_names.extend(state.macro_names);
        all.further_macro_names.extend(state.further_macro_names);
        all.forget_all_macro_names();
        all.symbols.extend(state.symbols);
        all.paths.extend(state.paths);
        all.keys.extend(state.keys);
        all.declared.extend(state.declared);
        all.errors.extend(state.errors);
        all.item_errors.extend(state.item_errors);
    }

    pub(crate) fn bytes(&self) -> usize {
        let all = self.read();
        let names = all.names.values().map(|it| it.bytes()).chain(all.further.values().map(|it| it.bytes()));
        let macro_names = all.macro_names.values().chain(all.further_macro_names.values());
        names.chain(macro_names.map(|it| it.bytes())).sum()
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexState> {
        unpoisoned::read(&self.state)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexState> {
        unpoisoned::write(&self.state)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Invalidated {
    /// Files with the ranges whose names are no longer known.
    pub(crate) stretches: BTreeMap<FileId, Vec<Span>>,
    /// Names that may be written differently in paths now.
    pub(crate) names: BTreeSet<String>,
    /// Names that may mean something else, or whose meaning may have another type.
    pub(crate) words: BTreeSet<String>,
    /// Files that may have different errors although their names mean the same.
    pub(crate) recheck: BTreeSet<FileId>,
}

/// A file's interface before and after a change.
pub(crate) type Edited = (FileId, Arc<FileInterface>, Arc<FileInterface>);

#[derive(Debug, Default)]
pub(crate) struct CrateNames {
    pub(crate) printed: HashMap<Crate, String>,
    pub(crate) by_printed: HashMap<String, Crate>,
    /// By every possible name of a crate, shared or not.
    pub(crate) by_form: HashMap<String, Vec<Crate>>,
    /// By the name without additions; crates of the workspace first.
    pub(crate) by_name: HashMap<String, Vec<Crate>>,
    /// By the names that the workspace's members give their dependencies.
    pub(crate) by_dependency: HashMap<String, Vec<Crate>>,
}
