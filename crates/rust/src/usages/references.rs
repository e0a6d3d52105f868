//! Which declarations each file refers to, and how often: the index of usages, grouped by file.

use std::sync::Arc;
use std::time::Instant;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;
use rustc_hash::FxHashMap;

use crate::LANGUAGE;
use crate::index::FileSymbols;
use crate::index::file_names::{Names, StoredResolution, names_of};
use crate::names::{Key, Meaning};
use crate::resolve::symbols;
use crate::syntax::is_test_file_path;
use crate::view::{Context, View, on_all_cores};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{
    Answer, Declared, FileReferences, Missing, MissingCode, Reference, References, Span, Symbol, SymbolKind,
};

/// A declaration: the index of its file in the list, and the offset of its name.
type At = (u32, u32);

impl View {
    pub(crate) fn references(self) -> Result<Answer<Arc<References>>> {
        self.ask(|it| Ok(references(it)))
    }
}

fn references(cx: &Context<'_>) -> Answer<Arc<References>> {
    let mut coverage = cx.coverage(false);
    let files = cx.files.of(LANGUAGE).filter_map(|file| Some((file, cx.file_id(&file.path)?)));
    let files: Vec<(&Arc<File>, FileId)> = files.collect();
    let names = names_by(cx, &files);
    let mut places: FxHashMap<Key, At> = FxHashMap::default();
    let mut symbols: Vec<Option<Arc<FileSymbols>>> = Vec::with_capacity(files.len());
    let mut unread = names.iter().filter(|it| it.is_none()).count();
    for (position, &(file, id)) in (0_u32..).zip(&files) {
        // Most are known, and cost nothing.
        let known = cx.index.symbols(id).or_else(|| (!is_late(cx.until)).then(|| symbols::file_symbols(cx, file, id)));
        for (key, at) in known.iter().flat_map(|it| it.definitions.iter().zip(&it.names_at)) {
            places.entry(*key).or_insert((position, *at as u32));
        }
        unread += usize::from(known.is_none());
        symbols.push(known);
    }
    if unread > 0 {
        let detail = "the names of the workspace are being read: ask again, or give a longer `wait_ms`";
        coverage.lacks(Missing::new(MissingCode::Indexing, LANGUAGE.name, detail));
    }
    let each = files.iter().zip(&names).zip(&symbols);
    let each = each.map(|((&(file, _), names), symbols)| FileReferences {
        file: file.path.clone(),
        package: symbols.as_ref().and_then(|it| it.package.clone()).unwrap_or_default(),
        test: is_test_file_path(&file.path),
        declared: symbols.as_ref().map(|it| declared(&it.symbols, &file.path)).unwrap_or_default(),
        uses: names.as_ref().map(|it| uses(file, it, &places)).unwrap_or_default(),
    });
    Answer { value: Arc::new(References { files: each.collect() }), coverage }
}

fn is_late(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() > until)
}

/// What each file names: known, or computed now within the time limit.
fn names_by(cx: &Context<'_>, files: &[(&Arc<File>, FileId)]) -> Vec<Option<Arc<Names>>> {
    let until = cx.until;
    let known = |id| cx.index.names(id).filter(|it| it.is_complete());
    let mut unread: Vec<(FileId, usize)> =
        files.iter().filter(|it| known(it.1).is_none()).map(|it| (it.1, it.0.text.len())).collect();
    // The longest files first, so that all threads finish together.
    unread.sort_by_key(|it| std::cmp::Reverse(it.1));
    let read = on_all_cores(cx.db, &unread, |sema, (id, _), read: &mut Vec<(FileId, Arc<Names>)>| {
        if !is_late(until) {
            read.push((*id, names_of(sema.db, sema.db.file_text(*id))));
        }
    });
    for (id, names) in read {
        cx.index.learn_names(id, names);
    }
    files.iter().map(|it| known(it.1)).collect()
}

/// The symbols that other replies name by a path, except members that are a part of their type's declaration.
fn declared(symbols: &[Symbol], file: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut pending: Vec<&Symbol> = symbols.iter().rev().collect();
    while let Some(symbol) = pending.pop() {
        use SymbolKind::{Field, Impl, Module, Variant};
        if symbol.place.file == file && !matches!(symbol.kind, Field | Impl | Module | Variant) {
            found.push(Declared { at: symbol.name_at.start, path: symbol.path.clone() });
        }
        pending.extend(symbol.children.iter().rev());
    }
    found
}

fn uses(file: &File, names: &Names, places: &FxHashMap<Key, At>) -> Vec<Reference> {
    let is_test_file = is_test_file_path(&file.path);
    let tests = test_code(file);
    let mut tests = tests.iter().peekable();
    let mut counts: FxHashMap<At, (u32, u32)> = FxHashMap::default();
    for (at, resolution, _) in names.within(0, usize::MAX) {
        let StoredResolution::Means(meaning) = resolution else { continue };
        let Some(&place) = meant(&meaning).find_map(|it| places.get(&it)) else { continue };
        while tests.next_if(|it| it.end <= at).is_some() {}
        let in_test = is_test_file || tests.peek().is_some_and(|it| it.contains(at));
        let (count, in_tests) = counts.entry(place).or_default();
        *count += 1;
        *in_tests += u32::from(in_test);
    }
    let mut uses: Vec<Reference> = counts
        .into_iter()
        .map(|((file, at), (count, tests))| Reference { file, at, count: count as f32, tests: tests as f32 })
        .collect();
    uses.sort_unstable_by_key(|it| (it.file, it.at));
    uses
}

/// The declarations that may be meant. The implementation of a trait's item refers to that item; a path means its last
/// segment.
fn meant(meaning: &Meaning) -> impl Iterator<Item = Key> {
    let own = (!meaning.declares).then_some(meaning.definition);
    let original = (meaning.original != meaning.definition).then_some(meaning.original);
    own.into_iter().chain(original).filter(|it| !matches!(it, Key::Module(_) | Key::Crate(_)))
}

/// The ranges of a file that only tests need, in order.
fn test_code(file: &File) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    file.outline().walk(&mut |item| {
        if item.test && found.last().is_none_or(|last| !last.encloses(item.span)) {
            found.push(item.span);
        }
    });
    found
}
