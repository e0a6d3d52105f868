//! The index of usages: what each file of the workspace names, resolved once and kept.
//!
//! A file's names are one salsa query, so that what they depend on is known precisely: after a change the query of an
//! untouched file is verified, not computed again, unless something that it rests on differs. Verifying takes time all
//! the same, and a question may not wait for it. So beside the query stands for each file whether its names are known
//! to be right *now*: they are until the file itself changes, or until a change of another file could be seen outside
//! of that file's bodies. A question reads what is right, resolves for itself the few words that it needs in the other
//! files, and a thread in the background brings these up to date.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use ra_ap_hir::db::HirDatabase;
use ra_ap_hir::{Semantics, attach_db};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::base_db::{FileText, SourceDatabase as _};
use ra_ap_ide_db::defs::Definition;
use rustc_hash::FxHashMap;

use super::impact::Finding;
use super::imports::UnusedImports;
use super::named::{Collector, Names};
use super::names::{Key, Reader};
use super::outside::outside;
use super::paths::CrateNames;
use super::postings::Postings;
use super::touch::{Edited, Touched};
use super::usages::Search;
use super::verify::verify;
use super::view::{Context, View};
use crate::lang::Result;
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::lang::sound;
use crate::model::{OutlineItem, Symbol, SymbolKind, Upstream};
use crate::text::diff::OffsetMap;
use crate::text::words::occurrences;

/// rust-analyzer's database as the queries below need it: they ask its `Semantics`, which wants the database itself.
#[salsa::db]
pub(super) trait IndexDatabase: HirDatabase {
    fn root(&self) -> &RootDatabase;
}

#[salsa::db]
impl IndexDatabase for RootDatabase {
    fn root(&self) -> &RootDatabase {
        self
    }
}

/// All names of a file.
#[salsa::tracked(returns(clone), no_eq)]
pub(super) fn names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<Names> {
    let root = db.root();
    attach_db(root, || {
        let sema = Semantics::new(root);
        let mut collector = Collector::new(root);
        Reader::new(&sema, *text.file_id(root)).read_all(|at, verdict| collector.add(at, verdict));
        Arc::new(collector.finish())
    })
}

/// The symbols of a file as a tree, and each of them as a definition with its path.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    pub(super) symbols: Vec<Symbol>,
    pub(super) definitions: Vec<Key>,
    /// Where their names stand.
    names_at: Vec<usize>,
    /// For the usages of all of them.
    pub(super) search: Search,
    pub(super) package: Option<String>,
    pub(super) in_a_crate: bool,
    /// Worked out at the first need.
    pub(super) upstream: OnceLock<Vec<Upstream>>,
    /// Other files that the tree speaks of: those of its modules.
    elsewhere: Vec<FileId>,
}

impl Known {
    /// What the name at an offset declares.
    pub(super) fn declared(&self, name_at: usize) -> Option<Key> {
        let at = self.names_at.iter().position(|it| *it == name_at)?;
        self.definitions.get(at).copied()
    }

    /// The symbol of an item of this file.
    pub(super) fn symbol_of(&self, item: &OutlineItem) -> Option<&Symbol> {
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

    /// Whether a path in the tree leads through this name.
    fn says(&self, name: &str) -> bool {
        fn says(symbol: &Symbol, name: &str) -> bool {
            leads_through(&symbol.path, name) || symbol.children.iter().any(|it| says(it, name))
        }
        self.symbols.iter().any(|it| says(it, name))
    }

    /// The same symbols in a file that may name other things.
    fn with_other_names(&self) -> Known {
        Known { upstream: OnceLock::new(), ..self.clone() }
    }

    /// The path of the innermost symbol around an offset.
    pub(super) fn enclosing(&self, offset: usize) -> Option<String> {
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
    occurrences(path, name).next().is_some()
}

/// The other files that a file's symbols stand in.
fn files_elsewhere<'a>(symbols: &'a [Symbol], file: &str) -> Vec<&'a str> {
    fn walk<'a>(symbol: &'a Symbol, file: &str, found: &mut Vec<&'a str>) {
        if symbol.place.file != file {
            found.push(&symbol.place.file);
        }
        symbol.children.iter().for_each(|it| walk(it, file, found));
    }
    let mut found = Vec::new();
    symbols.iter().for_each(|it| walk(it, file, &mut found));
    found
}

/// What is known to be right at the moment. Shared by the engine, which forgets, and by those who hold a view of it,
/// who learn: as no view outlives a change, nobody learns what was just forgotten.
#[derive(Debug, Default)]
pub(super) struct Index {
    memory: RwLock<Memory>,
    /// Never wrong: who asks compares with the texts.
    postings: Arc<RwLock<Postings>>,
    /// Of the crate graph as it is.
    crates: RwLock<Option<Arc<CrateNames>>>,
    lent: RwLock<Option<Lent>>,
}

/// The paths that another database knows: right here too, unless they lead through one of these names.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) index: Arc<Index>,
    /// Of the files that are edited in this one: where what stands in it now stands in the other.
    pub(super) edited: FxHashMap<FileId, OffsetMap>,
    pub(super) names: BTreeSet<String>,
}

impl Lent {
    fn enclosing(&self, file: FileId, offset: usize) -> Option<String> {
        let offset = self.edited.get(&file).map_or(Some(offset), |it| it.offset(offset))?;
        let path = self.index.symbols(file)?.enclosing(offset)?;
        (!self.names.iter().any(|name| leads_through(&path, name))).then_some(path)
    }
}

/// What was known, to be taken up again when a change is taken back.
#[derive(Debug, Default)]
pub(super) struct Memory {
    names: FxHashMap<FileId, Arc<Names>>,
    symbols: FxHashMap<FileId, Arc<Known>>,
    /// With the file of the definition.
    paths: FxHashMap<Key, (FileId, Arc<str>)>,
    /// The other way round.
    keys: FxHashMap<Arc<str>, Key>,
    /// The plain items of a file by their ids: these stay with a text that is changed.
    declared: FxHashMap<FileId, FxHashMap<u32, Key>>,
    errors: FxHashMap<FileId, Arc<FileErrors>>,
    /// What was learned while a change is only tried.
    learned: Option<Vec<Learned>>,
}

#[derive(Debug, Clone, Copy)]
enum Learned {
    Names(FileId),
    Symbols(FileId),
    Path(Key),
    Declared(FileId),
    Errors(FileId),
}

impl Memory {
    /// Takes out all that is known of these files, and what is said of them elsewhere.
    fn take(&mut self, files: &HashSet<FileId>) -> Memory {
        let speaks_of =
            |file: &FileId, it: &Known| files.contains(file) || it.elsewhere.iter().any(|it| files.contains(it));
        let mut taken = Memory::default();
        taken.names.extend(self.names.extract_if(|file, _| files.contains(file)));
        taken.symbols.extend(self.symbols.extract_if(|file, it| speaks_of(file, it)));
        taken.errors.extend(self.errors.extract_if(|file, _| files.contains(file)));
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
            Learned::Symbols(file) => drop(self.symbols.remove(&file)),
            Learned::Declared(file) => drop(self.declared.remove(&file)),
            Learned::Errors(file) => drop(self.errors.remove(&file)),
            Learned::Path(key) => {
                if let Some((_, path)) = self.paths.remove(&key) {
                    self.keys.remove(&path);
                }
            }
        }
    }

    /// Takes out what is told by one of these names.
    fn take_told(&mut self, taken: &mut Memory, names: &BTreeSet<&str>) {
        self.take_paths(taken, |_, path| names.iter().any(|it| leads_through(path, it)));
        taken.symbols.extend(self.symbols.extract_if(|_, it| names.iter().any(|name| it.says(name))));
    }

    fn take_paths(&mut self, taken: &mut Memory, is_meant: impl Fn(FileId, &str) -> bool) {
        for (key, (file, path)) in self.paths.extract_if(|_, it| is_meant(it.0, &it.1)) {
            taken.keys.extend(self.keys.remove_entry(&path));
            taken.paths.insert(key, (file, path));
        }
    }
}

/// What is wrong in a file.
#[derive(Debug)]
pub(super) struct FileErrors {
    /// Of each body, by where the name of what it belongs to stands: those that have any.
    pub(super) bodies: FxHashMap<usize, Vec<Finding>>,
    /// Where among these stands what derive macros make.
    pub(super) made: HashSet<usize>,
    pub(super) imports: UnusedImports,
}

impl Index {
    pub(super) fn names(&self, file: FileId) -> Option<Arc<Names>> {
        self.read().names.get(&file).cloned()
    }

    pub(super) fn symbols(&self, file: FileId) -> Option<Arc<Known>> {
        self.read().symbols.get(&file).cloned()
    }

    /// The path of the innermost symbol around an offset, where it is known.
    pub(super) fn enclosing(&self, file: FileId, offset: usize) -> Option<String> {
        if let Some(known) = self.symbols(file) {
            return known.enclosing(offset);
        }
        sound::read(&self.lent).as_ref()?.enclosing(file, offset)
    }

    pub(super) fn path(&self, key: Key) -> Option<Arc<str>> {
        self.read().paths.get(&key).map(|it| it.1.clone())
    }

    pub(super) fn crate_names(&self, work_out: impl FnOnce() -> CrateNames) -> Arc<CrateNames> {
        if let Some(known) = sound::read(&self.crates).clone() {
            return known;
        }
        let names = Arc::new(work_out());
        *sound::write(&self.crates) = Some(names.clone());
        names
    }

    fn learn_errors(&self, file: FileId, errors: Arc<FileErrors>) {
        let mut all = self.write();
        all.learn(Learned::Errors(file));
        all.errors.insert(file, errors);
    }

    /// Another crate graph is there.
    pub(super) fn forget_crates(&self) {
        *sound::write(&self.crates) = None;
        drop(self.forget_all());
    }

    pub(super) fn postings(&self) -> RwLockReadGuard<'_, Postings> {
        sound::read(&self.postings)
    }

    /// What exactly this path names.
    pub(super) fn key(&self, path: &str) -> Option<Key> {
        self.read().keys.get(path).copied()
    }

    pub(super) fn errors(&self, file: FileId) -> Option<Arc<FileErrors>> {
        self.read().errors.get(&file).cloned()
    }

    /// What a plain item of a file is.
    pub(super) fn declared(&self, file: FileId, id: u32) -> Option<Key> {
        self.read().declared.get(&file)?.get(&id).copied()
    }

    fn learn_declared(&self, file: FileId, declared: FxHashMap<u32, Key>) {
        let mut all = self.write();
        all.learn(Learned::Declared(file));
        all.declared.insert(file, declared);
    }

    fn learn_names(&self, file: FileId, names: Arc<Names>) {
        let mut all = self.write();
        all.learn(Learned::Names(file));
        all.names.insert(file, names);
    }

    pub(super) fn learn_symbols(&self, file: FileId, known: Arc<Known>) {
        let mut all = self.write();
        all.learn(Learned::Symbols(file));
        all.symbols.insert(file, known);
    }

    pub(super) fn learn_path(&self, key: Key, file: FileId, path: Arc<str>) {
        let mut all = self.write();
        all.learn(Learned::Path(key));
        all.keys.insert(path.clone(), key);
        all.paths.insert(key, (file, path));
    }

    /// Forgets of the edited files what is not in the stretches that their texts before and after have in common, and of
    /// all files what a change of declarations touches.
    pub(super) fn touch(&self, edited: &[Edited], touched: &Touched) {
        let mut all = self.write();
        let mut forgotten = all.take(&edited.iter().map(|it| it.0).collect());
        for (file, before, after) in edited {
            let stretches = touched.stretches.get(file).map_or(&[][..], Vec::as_slice);
            let names = forgotten.names.get(file).map(|it| Arc::new(it.without(stretches).moved(before, after)));
            all.names.extend(names.map(|it| (*file, it)));
            let same = before.plain().iter().filter(|it| after.plain_of(it).is_some()).map(|it| it.id);
            let declared = forgotten.declared.get(file);
            let kept = declared.map(|known| same.filter_map(|id| Some((id, *known.get(&id)?))).collect());
            all.declared.extend(kept.map(|it| (*file, it)));
        }
        all.take_told(&mut forgotten, &touched.names.iter().map(String::as_str).collect());
        for (file, stretches) in touched.stretches.iter().filter(|it| !edited.iter().any(|edited| edited.0 == *it.0)) {
            if let Some(names) = all.names.get_mut(file) {
                *names = Arc::new(names.without(stretches));
            }
            if let Some(known) = all.symbols.get_mut(file) {
                *known = Arc::new(known.with_other_names());
            }
            all.errors.remove(file);
        }
        for file in &touched.judged {
            all.errors.remove(file);
        }
    }

    /// Takes out what may be wrong after a change of declarations: all of these files, who names what and what is wrong
    /// in all files that it reaches, and what is told by these names.
    pub(super) fn set_aside(
        &self,
        files: &HashSet<FileId>,
        reached: &HashSet<FileId>,
        names: &BTreeSet<&str>,
    ) -> Memory {
        let mut all = self.write();
        let mut taken = all.take(files);
        taken.names.extend(all.names.extract_if(|file, _| reached.contains(file)));
        taken.errors.extend(all.errors.extract_if(|file, _| reached.contains(file)));
        all.take_told(&mut taken, names);
        taken
    }

    /// Forgets all of these files.
    pub(super) fn forget_files(&self, files: &HashSet<FileId>) -> Memory {
        self.write().take(files)
    }

    pub(super) fn forget_all(&self) -> Memory {
        let mut all = self.write();
        let learned = all.learned.take();
        std::mem::replace(&mut *all, Memory { learned, ..Memory::default() })
    }

    /// For a second database of the same texts, of which nothing is known yet.
    pub(super) fn beside(&self) -> Index {
        Index { postings: self.postings.clone(), ..Index::default() }
    }

    pub(super) fn lend(&self, lent: Option<Lent>) {
        *sound::write(&self.lent) = lent;
    }

    /// The change that was just made is only tried: what is learned from here on goes with it.
    pub(super) fn try_out(&self) {
        self.write().learned = Some(Vec::new());
    }

    /// The change is there to stay.
    pub(super) fn keep(&self) {
        self.write().learned = None;
    }

    /// The texts are again what they were when this was forgotten.
    pub(super) fn restore(&self, memory: Memory) {
        let mut all = self.write();
        for it in all.learned.take().unwrap_or_default() {
            all.unlearn(it);
        }
        all.names.extend(memory.names);
        all.symbols.extend(memory.symbols);
        all.paths.extend(memory.paths);
        all.keys.extend(memory.keys);
        all.declared.extend(memory.declared);
        all.errors.extend(memory.errors);
    }

    fn bytes(&self) -> usize {
        self.read().names.values().map(|it| it.bytes()).sum()
    }

    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        sound::read(&self.memory)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memory> {
        sound::write(&self.memory)
    }
}

/// All names of a file, brought up to date if need be.
pub(super) fn names_now(context: &Context<'_>, file: FileId) -> Arc<Names> {
    let known = context.index.names(file).filter(|it| it.is_complete());
    known.unwrap_or_else(|| names_of(context.db, context.db.file_text(file)))
}

impl View {
    /// Brings the index up to date; a change stops it, and nothing is lost.
    /// `progress` is told how many files are done, of how many; each counts twice.
    pub(super) fn fill(self, progress: &dyn Fn(usize, usize)) -> Result<()> {
        self.ask(|it| {
            let started = Instant::now();
            verify(it.db, &|| true);
            let mut read = 0;
            let files = it.files.of(LANGUAGE).filter_map(|file| Some((file, it.file_id(&file.path)?)));
            let files: Vec<(&Arc<File>, FileId)> = files.collect();
            let tell = |done| {
                it.db.unwind_if_revision_cancelled();
                progress(done, 2 * files.len());
            };
            // Who names what first: questions wait for that, and only changes for what is wrong.
            for (done, &(file, id)) in files.iter().enumerate() {
                tell(done);
                if it.index.names(id).is_none_or(|it| !it.is_complete()) {
                    it.index.learn_names(id, names_of(it.db, it.db.file_text(id)));
                    read += 1;
                }
                // Answers need these too, and the first to ask would wait.
                if !it.index.postings().knows(id, file) {
                    sound::write(&it.index.postings).add(id, file);
                }
                it.known_symbols(file, id).upstream.get_or_init(|| it.upstream(id));
                // A change of another file's declarations asks what this one names outside of its bodies.
                outside(it.db, id);
            }
            for (done, &(file, id)) in files.iter().enumerate() {
                tell(files.len() + done);
                if it.index.errors(id).is_none() {
                    it.index.learn_errors(id, Arc::new(it.errors_of_file(file)));
                }
            }
            tracing::info!(files = read, bytes = it.index.bytes(), elapsed = ?started.elapsed(), "usages indexed");
            Ok(())
        })
    }
}

impl<'db> Context<'db> {
    /// The path of a definition: known, or worked out now.
    pub(super) fn known_path(&self, key: Key, work_out: impl FnOnce() -> Option<String>) -> Option<Arc<str>> {
        if let Some(path) = self.index.path(key) {
            return Some(path);
        }
        let path: Arc<str> = work_out()?.into();
        if let Some(module) = key.definition().module(self.db) {
            let file = module.definition_source_file_id(self.db).original_file(self.db).file_id(self.db);
            self.index.learn_path(key, file, path.clone());
        }
        Some(path)
    }

    /// As `path_of`, without a copy of what is known.
    pub(super) fn shared_path(&self, key: Key) -> Option<Arc<str>> {
        self.index.path(key).or_else(|| self.path_of(key.definition()).map(Arc::from))
    }

    /// The symbols of a file of the workspace: known, or worked out now.
    pub(super) fn known_symbols(&self, file: &Arc<File>, id: FileId) -> Arc<Known> {
        if let Some(known) = self.index.symbols(id) {
            return known;
        }
        let (symbols, definitions) = self.symbols_in(file);
        let known = definitions.into_iter().filter(|it| Key::of(it.1).is_some());
        let (names_at, definitions): (Vec<usize>, Vec<Definition<'db>>) = known.unzip();
        let elsewhere = files_elsewhere(&symbols, &file.path).into_iter().filter_map(|it| self.file_id(it)).collect();
        let seen = outside(self.db, id);
        let declared = names_at.iter().zip(&definitions);
        let declared = declared.filter_map(|(at, it)| Some((seen.plain_at(*at)?.id, Key::of(*it)?)));
        self.index.learn_declared(id, declared.collect());
        let known = Arc::new(Known {
            symbols,
            search: Search::new(self, &definitions),
            definitions: definitions.into_iter().filter_map(Key::of).collect(),
            names_at,
            package: self.sema.first_crate(id).map(|it| self.crate_name(it)),
            in_a_crate: self.sema.file_to_module_def(id).is_some(),
            upstream: OnceLock::new(),
            elsewhere,
        });
        self.index.learn_symbols(id, known.clone());
        known
    }
}
