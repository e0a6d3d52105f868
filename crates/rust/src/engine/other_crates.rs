//! What a change of the crates themselves does to code: a dependency that is gone or leads elsewhere, other features,
//! another edition, a new target, or what a file states for its whole crate (`crate_scopes`). Nothing names what
//! changed, so the files that it may concern are checked as a whole.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ra_ap_base_db::{CrateBuilder, CrateGraphBuilder};
use ra_ap_ide::FileId;

use crate::impact::edit_context::EditContext;
use crate::names::instances;
use crate::questions::diagnostics::diagnostics_of;
use crate::resolve::symbols;
use crate::view::parts::check_all;
use crate::view::{Context, View};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Broken, ChangeImpact, Diagnostic, Missing, MissingCode, Severity};
use semdex_text::words::has_word;

/// The time limit for checking files before a change, and again after it.
const MOST_TIME: Duration = Duration::from_secs(6);

/// How a crate differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrateChange {
    pub(super) root_file: FileId,
    pub(super) reach: Reach,
}

/// The files that a difference of a crate may concern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the crate with one of these names, which came, went, or lead to another crate.
    Names(BTreeSet<String>),
    /// All files of the crate.
    Crate,
    /// Those of the crates that depend on it too: other conditions or another edition hold, or there was no such build.
    Dependents,
}

/// The crates that differ between two graphs.
pub(crate) fn crate_changes(old: &CrateGraphBuilder, new: &CrateGraphBuilder) -> Vec<CrateChange> {
    let key = |it: &CrateBuilder| (it.basic.root_file_id, it.extra.display_name.as_ref().map(ToString::to_string));
    let named = |graph: &CrateGraphBuilder, it: &CrateBuilder| -> BTreeMap<String, FileId> {
        let dependencies = it.basic.dependencies.iter();
        dependencies.map(|it| (it.name.as_str().to_owned(), graph[it.crate_id].basic.root_file_id)).collect()
    };
    // A target may have several builds.
    let mut before: HashMap<_, Vec<&CrateBuilder>> = HashMap::new();
    for krate in old.iter().map(|it| &old[it]) {
        before.entry(key(krate)).or_default().push(krate);
    }
    let mut changes = Vec::new();
    for krate in new.iter().map(|it| &new[it]).filter(|it| it.basic.origin.is_local()) {
        let root_file = krate.basic.root_file_id;
        let is_same = |it: &&&CrateBuilder| {
            it.cfg_options.to_hashable() == krate.cfg_options.to_hashable() && it.basic.edition == krate.basic.edition
        };
        let Some(was) = before.get(&key(krate)).and_then(|it| it.iter().find(is_same)) else {
            changes.push(CrateChange { root_file, reach: Reach::Dependents });
            continue;
        };
        let (had, has) = (named(old, was), named(new, krate));
        let names: BTreeSet<&String> = had.keys().chain(has.keys()).collect();
        let dependencies: BTreeSet<String> =
            names.into_iter().filter(|it| had.get(*it) != has.get(*it)).cloned().collect();
        if !dependencies.is_empty() {
            changes.push(CrateChange { root_file, reach: Reach::Names(dependencies) });
        }
    }
    changes
}

/// The errors in the files that other crates may concern, at one side of the change.
#[derive(Debug, Default)]
pub(crate) struct ErrorsOfFiles {
    found: BTreeSet<Diagnostic>,
    /// The files that were not checked, since there was no time.
    left: BTreeSet<Arc<str>>,
}

pub(crate) fn errors_of_files(changes: &[CrateChange], view: impl Fn() -> View) -> Result<ErrorsOfFiles> {
    let files = view().ask(|cx| Ok(files_concerned(cx, changes)))?;
    let checked = check_all(&files, MOST_TIME, view, |cx, file| {
        let errors = diagnostics_of(cx, file).into_iter().filter(|it| it.severity == Severity::Error);
        errors.map(as_of_the_compiler).collect()
    })?;
    let left = files[checked.checked..].iter().map(|it| it.path.clone()).collect();
    Ok(ErrorsOfFiles { found: checked.all().into_iter().collect(), left })
}

/// The compiler has no code for a macro that does not exist.
fn as_of_the_compiler(error: Diagnostic) -> Diagnostic {
    let code = error.code.filter(|it| it != "unresolved-macro-call");
    Diagnostic { code, ..error }
}

fn files_concerned(cx: &Context<'_>, changes: &[CrateChange]) -> Vec<Arc<File>> {
    let mut concerned: BTreeMap<Arc<str>, Arc<File>> = BTreeMap::new();
    for krate in instances::default_crates(cx.db) {
        let root_file = krate.root_file(cx.db);
        for change in changes.iter().filter(|it| it.root_file == root_file) {
            let mut crates = vec![krate];
            if change.reach == Reach::Dependents {
                crates.extend(krate.transitive_reverse_dependencies(cx.db));
            }
            crates.retain(|it| !instances::is_of_doctests(cx.db, it.base()));
            let mut seen: HashSet<FileId> = HashSet::new();
            for module in crates.into_iter().flat_map(|it| it.modules(cx.db)) {
                let id = module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db);
                let Some(file) = seen.insert(id).then(|| cx.file(id)).flatten() else { continue };
                let names = |it: &String| has_word(&file.text, it);
                let is_concerned = match &change.reach {
                    Reach::Names(all) => all.iter().any(names),
                    Reach::Crate | Reach::Dependents => true,
                };
                if is_concerned {
                    concerned.insert(file.path.clone(), file.clone());
                }
            }
        }
    }
    concerned.into_values().collect()
}

/// Adds the errors that came and went to the impact of a change.
pub(crate) fn add_errors(
    cx: &Context<'_>,
    before: &ErrorsOfFiles,
    after: &ErrorsOfFiles,
    edit: &EditContext,
    change_impact: &mut ChangeImpact,
) {
    let key =
        |it: &Diagnostic, start: Option<usize>| (it.place.file.clone(), start, it.code.clone(), it.message.clone());
    let moved = |it: &Diagnostic| key(it, edit.moved(&it.place.file, it.place.start));
    let still = |it: &Diagnostic| key(it, Some(it.place.start));
    let (had, has): (BTreeSet<_>, BTreeSet<_>) =
        (before.found.iter().map(moved).collect(), after.found.iter().map(still).collect());
    let mut lines: HashSet<(String, usize)> =
        change_impact.new.iter().map(|it| (it.place.file.clone(), it.place.line)).collect();
    let left: HashSet<&str> = before.left.union(&after.left).map(|it| &**it).collect();
    let is_compared = |it: &&Diagnostic| !left.contains(&*it.place.file);
    for it in after.found.iter().filter(is_compared).filter(|it| !had.contains(&still(it))) {
        let Some(file) = cx.files.get(&it.place.file) else { continue };
        if !lines.insert((it.place.file.clone(), it.place.line)) {
            continue;
        }
        let (text, test) = (symbols::line(file, &it.place), symbols::is_test_at(file, it.place.start));
        change_impact.impact.broken.push(Broken::of_error(it, text, test));
        change_impact.new.push(it.clone());
    }
    let gone = before.found.iter().filter(is_compared).filter(|it| !has.contains(&moved(it)));
    let known: HashSet<(String, usize)> =
        change_impact.fixed.iter().map(|it| (it.place.file.clone(), it.place.line)).collect();
    let gone = gone.filter(|it| !known.contains(&(it.place.file.clone(), it.place.line)));
    change_impact.fixed.extend(gone.cloned());
    change_impact.impact.broken.sort_by(|a, b| (a.at.test, &a.at.place).cmp(&(b.at.test, &b.at.place)));
    if !left.is_empty() {
        let left = left.len();
        let detail = format!("the change concerns whole crates: there was no time to check {left} of their files");
        change_impact.lacks(Missing::new(MissingCode::TooMany, "rust", detail));
    }
}
