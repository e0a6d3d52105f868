//! The files that a change can affect: files that use or name a changed declaration, and files that name a declaration
//! which contains such a use, until no file is added. The search by words finds too many files, but misses none.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::changed_declarations::{ChangedDeclaration, declares_result, is_callable, is_sealed};
use super::grammar::{Code, Grammar};
use super::import_graph::{ImportGraph, imported};
use super::queries::ServerQueries;
use super::symbol_paths;
use semdex_engine::files::{File, Files};
use semdex_engine::{Result, blocking};
use semdex_model::{ChangeKind, FileEdit, Span};
use semdex_text::words::words;

/// The most files that are checked before and after the change.
const MOST_FILES: usize = 250;
/// The most steps from a name to the declarations around its uses.
const MOST_STEPS: usize = 20;

pub(crate) struct AffectedSet {
    pub files: BTreeSet<String>,
    /// Descriptions of what may be affected and is not in `files`.
    pub lacks: Vec<String>,
}

/// `used`: the places that use the changed declarations according to the server.
pub(crate) async fn of(
    queries: &ServerQueries,
    after: &Arc<Files>,
    edits: &[FileEdit],
    altered: &[ChangedDeclaration],
    used: Vec<(String, usize)>,
) -> Result<AffectedSet> {
    let edited: BTreeSet<String> = edits.iter().map(|it| it.file.clone()).collect();
    let seeing = seeing(queries, after, &edited).await?;
    let may_see = |it: &&Arc<File>| seeing.as_ref().is_none_or(|seeing| seeing.contains(&it.path));
    let all = queries.own_files();
    let own: Vec<Arc<File>> = all.iter().filter(may_see).cloned().collect();
    let mut first: BTreeSet<String> = altered.iter().flat_map(visible_names).collect();
    let is_offered = |it: &&ChangedDeclaration| it.item.container.is_empty() && it.changed.kind != ChangeKind::Body;
    let mut offering: BTreeSet<String> = altered.iter().filter(is_offered).map(|it| it.file.path.to_string()).collect();
    let (before, edits, after) = (queries.files.clone(), edits.to_vec(), after.clone());
    let session = queries.session.clone();
    let grammar = move |file: &str| session.service.row_of(file).and_then(|it| Grammar::of(&it.name));
    blocking(move || {
        let mut lacks = Vec::new();
        for edit in &edits {
            let names = names_of_file(&before, &after, edit, grammar(&edit.file));
            offering.extend((!names.is_empty()).then(|| edit.file.clone()));
            first.extend(names);
            lacks.extend(importers(&all, edit));
        }
        let mut found = wildcard_importers(&own, &after, offering);
        let mut left: BTreeSet<&str> = BTreeSet::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut words = first;
        let mut step = 0;
        while (step == 0 || !words.is_empty()) && step < MOST_STEPS {
            let mut next = BTreeSet::new();
            for file in &own {
                let mut hits: Vec<usize> =
                    words.iter().flat_map(|word| symbol_paths::occurrences(file, word)).collect();
                if step == 0 {
                    hits.extend(used.iter().filter(|it| *it.0 == *file.path).map(|it| it.1));
                }
                if hits.is_empty() {
                    continue;
                }
                if found.len() >= MOST_FILES && !found.contains(&*file.path) && !edited.contains(&*file.path) {
                    left.insert(&file.path);
                    continue;
                }
                found.insert(file.path.to_string());
                hits.into_iter().for_each(|at| add_affected_names(file, at, &mut next));
            }
            seen.append(&mut words);
            next.retain(|it| !seen.contains(it));
            words = next;
            step += 1;
        }
        if !left.is_empty() {
            lacks.push(format!("{} more files name what changes; {MOST_FILES} were checked", left.len()));
        } else if !words.is_empty() {
            lacks.push("what changes is named by more and more declarations: not all of them were followed".to_owned());
        }
        found.extend(edited);
        Ok(AffectedSet { files: found, lacks })
    })
    .await
}

/// The files that can see declarations of the edited files, before or after the change. `None`: all files.
async fn seeing(
    queries: &ServerQueries,
    after: &Arc<Files>,
    edited: &BTreeSet<String>,
) -> Result<Option<BTreeSet<Arc<str>>>> {
    let graph = queries.import_graph().await?;
    let own = queries.session.own_of(after);
    let (after, before, names) = (after.clone(), queries.files.clone(), edited.clone());
    blocking(move || {
        let those =
            |files: &Files| names.iter().filter(|it| files.get(it).is_some()).map(String::as_str).collect::<Vec<_>>();
        let now = ImportGraph::new(&after, &own, Some(&graph)).seeing(those(&after));
        let was = graph.seeing(those(&before));
        Ok(was.zip(now).map(|(was, now)| was.union(&now).cloned().collect()))
    })
    .await
}

/// The names whose users may notice the change of a declaration.
fn visible_names(altered: &ChangedDeclaration) -> Vec<String> {
    let item = &altered.item;
    if is_sealed(altered) {
        // The result type is part of its signature. The body may assign fields.
        let [before, after] = altered.texts.each_ref().map(|it| assigned(it));
        return before.symmetric_difference(&after).map(|it| it.0.clone()).collect();
    }
    // A new member may be required wherever the container is named.
    item.container.iter().cloned().chain([item.name.clone()]).chain(altered.new_name.clone()).collect()
}

/// The fields of its own object that a text assigns, each with the line that assigns it.
fn assigned(text: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        found.extend(assigned_in(line).map(|it| (it, line.trim().to_owned())));
    }
    found
}

fn assigned_in(line: &str) -> Option<String> {
    let rest = ["self.", "this."].iter().find_map(|it| line.split_once(it))?.1;
    let name: String = rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    let is_set = rest.get(name.len()..).is_some_and(|it| it.contains('=') && !it.trim_start().starts_with(['(', '.']));
    (is_set && !name.is_empty()).then_some(name)
}

/// Adds the names whose meaning depends on the use at this offset.
fn add_affected_names(file: &File, at: usize, next: &mut BTreeSet<String>) {
    let line = file.lines().line_text(&file.text, file.lines().line(at));
    // `import { name as other }`, `from m import name as other`.
    for (_, tail) in line.match_indices(" as ").map(|it| line.split_at(it.0 + it.1.len())) {
        next.extend(words(tail).next().map(|it| it.1.to_owned()));
    }
    let outline = file.outline();
    let enclosing = outline.enclosing(at);
    let Some(item) = enclosing.last() else { return };
    let is_inside = item.body.is_some_and(|it| it.contains(at));
    if is_inside && is_callable(item) && declares_result(file, item) {
        next.extend(assigned_in(line));
        return;
    }
    next.insert(item.name.clone());
}

/// The names by which other files refer to a file that is created, deleted or changed outside of its declarations: its
/// own name, and the names in lines that import or export.
fn names_of_file(
    before: &Files,
    after: &Files,
    edit: &FileEdit,
    grammar: Option<&'static Grammar>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let of = |files: &Files| files.get(&edit.file).map(|it| top_level_lines(it, grammar)).unwrap_or_default();
    let (old, new) = (of(before), of(after));
    if edit.old.is_some() && edit.new.is_some() && old == new {
        return found;
    }
    let (stem, is_directory) = stem(&edit.file);
    found.insert(stem.to_owned());
    for line in old.symmetric_difference(&new) {
        // `from . import name` names neither the file nor its directory. A name that is exported without its
        // declaration may reach other files through a file that re-exports everything.
        if is_directory || words(line).any(|it| it.1 == "export") {
            found.extend(words(line).map(|it| it.1.to_owned()).filter(|it| !KEYWORDS.contains(&it.as_str())));
        }
    }
    found
}

/// The files that import everything from one of these files without naming it, by `export * from` or `from m import *`,
/// and the files that import everything from those. Bounded.
fn wildcard_importers(own: &[Arc<File>], files: &Files, offering: BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut offering = offering;
    while !offering.is_empty() && found.len() < MOST_FILES {
        let takes = |file: &&Arc<File>| {
            !found.contains(&*file.path)
                && file.outline().imports.iter().any(|it| {
                    let written = file.text.get(it.span.start..it.span.end).unwrap_or_default();
                    written.contains('*')
                        && imported(files, &file.path, &it.path).0.is_some_and(|it| offering.contains(&it))
                })
        };
        let next: BTreeSet<String> = own.iter().filter(takes).map(|it| it.path.to_string()).collect();
        found.extend(next.iter().cloned());
        offering = next;
    }
    found
}

const KEYWORDS: [&str; 10] = ["import", "from", "export", "as", "type", "default", "const", "if", "else", "in"];

/// The name by which other files import a file, and whether that is the name of its directory.
fn stem(file: &str) -> (&str, bool) {
    let name = file.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let directory = file.rsplit('/').nth(1).unwrap_or_default();
    match matches!(stem, "__init__" | "index") && !directory.is_empty() {
        true => (directory, true),
        false => (stem, false),
    }
}

/// The lines of a text outside of its declarations, without their comments.
fn top_level_lines(file: &Arc<File>, grammar: Option<&'static Grammar>) -> BTreeSet<String> {
    let code = Code::new(grammar, &file.text);
    let mut found = BTreeSet::new();
    let mut from = 0;
    let outline = file.outline();
    let spans = outline.items.iter().map(|it| (it.span.start, it.span.end)).chain([(file.text.len(), 0)]);
    for (start, end) in spans {
        let mut at = from;
        for line in file.text.get(from..start).unwrap_or_default().split_inclusive('\n') {
            let span = Span::new(at, at + line.trim_end().len());
            found.insert(code.significant_text(&file.text, span).trim().to_owned());
            at += line.len();
        }
        from = from.max(end);
    }
    found.remove("");
    found
}

/// Describes that other files may import a file which is created or deleted. The server searches for it on disk, where
/// nothing has changed yet.
fn importers(own: &[Arc<File>], edit: &FileEdit) -> Option<String> {
    if edit.old.is_some() && edit.new.is_some() {
        return None;
    }
    let (stem, _) = stem(&edit.file);
    let imports = |file: &&Arc<File>| {
        let outline = file.outline();
        let by_import = outline.imports.iter().any(|it| words(&it.path).any(|it| it.1 == stem));
        let is_outlined = !outline.items.is_empty() || !outline.imports.is_empty();
        *file.path != *edit.file && (by_import || (!is_outlined && !symbol_paths::occurrences(file, stem).is_empty()))
    };
    let first = own.iter().find(imports)?;
    let what = if edit.old.is_none() { "new" } else { "to be deleted" };
    Some(format!(
        "{} is {what}, and may be imported by others ({}): what they make of that was not asked",
        edit.file, first.path
    ))
}

/// Whether a line imports a file that these edits create. A server cannot find it before it is written.
pub(crate) fn imports_new_file(line: &str, edits: &[FileEdit]) -> bool {
    let is_import =
        words(line).any(|it| matches!(it.1, "import" | "from" | "require" | "include" | "source" | "export"));
    let is_named = |it: &FileEdit| words(line).any(|word| word.1 == stem(&it.file).0);
    is_import && edits.iter().any(|it| it.old.is_none() && is_named(it))
}
