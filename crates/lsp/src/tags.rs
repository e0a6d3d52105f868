//! The names that each text uses and their counts, from tree-sitter tags, cached by file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::grammar::{Code, Grammar};
use super::symbol_paths::is_test_file;
use semdex_engine::files::File;
use semdex_engine::unpoisoned;
use semdex_model::{OutlineItem, Span, SymbolKind};

/// The hash of the text, and its names.
type Known = (blake3::Hash, Arc<FileTags>);

/// The names in the texts of a service, by file.
#[derive(Default)]
pub(crate) struct Tags {
    known: Mutex<HashMap<Arc<str>, Known>>,
}

/// How often each name occurs in a text, and how often of that in test code.
pub(crate) type FileTags = Vec<(Box<str>, u32, u32)>;

impl Tags {
    pub(crate) fn get(&self, file: &File) -> Option<Arc<FileTags>> {
        let known = unpoisoned::lock(&self.known);
        known.get(&file.path).filter(|it| it.0 == file.hash).map(|it| it.1.clone())
    }

    pub(crate) fn learn(&self, file: &File, tags: FileTags) -> Arc<FileTags> {
        let tags = Arc::new(tags);
        unpoisoned::lock(&self.known).insert(file.path.clone(), (file.hash, tags.clone()));
        tags
    }

    /// Removes files that no longer exist.
    pub(crate) fn keep_only(&self, files: &[Arc<File>]) {
        let mut known = unpoisoned::lock(&self.known);
        if known.len() > files.len() {
            let there: HashSet<&str> = files.iter().map(|it| &*it.path).collect();
            known.retain(|file, _| there.contains(&**file));
        }
    }
}

/// The names in a text, without the names of its own declarations.
pub(crate) fn file_tags(grammar: Option<&'static Grammar>, file: &File) -> FileTags {
    let mut declared: HashSet<usize> = HashSet::new();
    let mut tests: Vec<Span> = Vec::new();
    walk(file, &mut |item| {
        declared.insert(item.name_span.start);
        if item.test && tests.last().is_none_or(|last| !last.encloses(item.span)) {
            tests.push(item.span);
        }
    });
    let is_test_file = is_test_file(&file.path);
    let code = Code::new(grammar, &file.text);
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (at, name) in code.names(&file.text) {
        if !declared.contains(&at) {
            let (count, in_tests) = counts.entry(name).or_default();
            *count += 1;
            *in_tests += u32::from(is_test_file || tests.iter().any(|it| it.contains(at)));
        }
    }
    counts.into_iter().map(|(name, (count, tests))| (name.into(), count, tests)).collect()
}

/// Visits the declarations that other files can name, which are not inside functions.
pub(crate) fn walk<'f>(file: &'f File, visit: &mut dyn FnMut(&'f OutlineItem)) {
    let mut pending: Vec<&OutlineItem> = file.outline().items.iter().rev().collect();
    while let Some(item) = pending.pop() {
        visit(item);
        if !matches!(item.kind, SymbolKind::Function | SymbolKind::Method) {
            pending.extend(item.children.iter().rev());
        }
    }
}
