//! Counts the references of each file to declarations by name, using tree-sitter tags. Types are unknown, so several
//! declarations of one name share its references.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::import_graph::imported;
use super::queries::ServerQueries;
use super::symbol_paths::{is_test_file, package, path};
use super::tags::{FileTags, file_tags, walk};
use semdex_engine::files::File;
use semdex_model::{Answer, Coverage, Declared, FileReferences, MissingCode, Reference, References, SymbolKind};

/// A declaration: the file's index in the list, and the offset of the name.
type At = (u32, u32);

pub(crate) fn of(queries: &ServerQueries) -> Answer<Arc<References>> {
    let mut coverage = Coverage::default();
    let session = &queries.session;
    let files = queries.own_files();
    let mut unread = 0;
    let mut tags = Vec::with_capacity(files.len());
    for file in &files {
        let known = session.tags.get(file);
        let is_late = Instant::now() > queries.deadlines.answer;
        let read = || session.tags.learn(file, file_tags(queries.grammar_of(&file.path), file));
        let it = known.or_else(|| (!is_late).then(read));
        unread += usize::from(it.is_none());
        tags.push(it.unwrap_or_default());
    }
    session.tags.keep_only(&files);
    if unread > 0 {
        let detail = format!("{unread} files are not read yet: ask again");
        coverage.lacks(session.missing(MissingCode::Indexing, detail));
    }
    if files.iter().any(|it| queries.grammar_of(&it.path).is_some()) {
        let detail = "references are matched by name (tree-sitter tags), not resolved";
        coverage.note(session.missing(MissingCode::Unsupported, detail));
    }
    Answer { value: Arc::new(references(queries, &files, &tags)), coverage }
}

fn references(queries: &ServerQueries, files: &[Arc<File>], tags: &[Arc<FileTags>]) -> References {
    let mut by_name: HashMap<&str, Vec<At>> = HashMap::new();
    for (position, file) in (0_u32..).zip(files) {
        walk(file, &mut |item| {
            by_name.entry(&item.name).or_default().push((position, item.name_span.start as u32));
        });
    }
    let positions: HashMap<&str, u32> = (0_u32..).zip(files).map(|(at, it)| (&*it.path, at)).collect();
    let each = (0_u32..).zip(files).zip(tags).map(|((own, file), tags)| {
        let imports = &file.outline().imports;
        let near: HashSet<u32> = imports
            .iter()
            .filter_map(|it| imported(&queries.files, &file.path, &it.path).0)
            .filter_map(|it| positions.get(it.as_str()).copied())
            .collect();
        let mut counts: BTreeMap<At, (f32, f32)> = BTreeMap::new();
        for (name, count, tests) in tags.iter() {
            let Some(all) = by_name.get(&**name) else { continue };
            let meant = candidates(all, own, &near);
            let share = 1.0 / meant.len().max(1) as f32;
            for at in meant {
                let sum = counts.entry(at).or_default();
                sum.0 += *count as f32 * share;
                sum.1 += *tests as f32 * share;
            }
        }
        let mut declared = Vec::new();
        walk(file, &mut |item| {
            if !matches!(item.kind, SymbolKind::Field | SymbolKind::Variant | SymbolKind::Module) {
                declared.push(Declared { at: item.name_span.start, path: path(&file.path, item) });
            }
        });
        FileReferences {
            file: file.path.clone(),
            package: package(&queries.files, &file.path),
            test: is_test_file(&file.path),
            declared,
            uses: counts.into_iter().map(reference).collect(),
        }
    });
    References { files: each.collect() }
}

fn reference(((file, at), (count, tests)): (At, (f32, f32))) -> Reference {
    Reference { file, at, count, tests }
}

/// The declarations that a name in a file may refer to: declarations in the file, otherwise in imported files,
/// otherwise all.
fn candidates(all: &[At], own: u32, near: &HashSet<u32>) -> Vec<At> {
    let among = |is_meant: &dyn Fn(u32) -> bool| all.iter().copied().filter(|it| is_meant(it.0)).collect::<Vec<_>>();
    let of_its_own = among(&|it| it == own);
    if !of_its_own.is_empty() {
        return of_its_own;
    }
    let imported = among(&|it| near.contains(&it));
    if imported.is_empty() { all.to_vec() } else { imported }
}
