//! The errors that a change causes and fixes: the difference between the state before and the state after.
//! `engine/compute_impact.rs` tries the change and calls this.
//!
//! Only what the change may affect is checked (`find_affected`). The bodies that name what it changes are each checked
//! for their own errors (`checks`). `rules` has the table of the rules that compare two states.

pub(crate) mod affected;
pub(crate) mod arity;
pub(crate) mod bodies;
pub(crate) mod broken_imports;
pub(crate) mod cascades;
mod comments;
pub(crate) mod compared_heads;
pub(crate) mod conflicts;
pub(crate) mod constness;
pub(crate) mod declared;
pub(crate) mod delta;
pub(crate) mod derives;
pub(crate) mod differ;
pub(crate) mod doctests;
pub(crate) mod dyn_traits;
pub(crate) mod edit_context;
pub(crate) mod expanded;
pub(crate) mod find_affected;
pub(crate) mod findings;
pub(crate) mod fixed_names;
pub(crate) mod follows;
pub(crate) mod further_builds;
pub(crate) mod gated_heads;
pub(crate) mod generics;
pub(crate) mod given_types;
pub(crate) mod gone;
pub(crate) mod helper_attributes;
pub(crate) mod holders;
pub(crate) mod impls;
pub(crate) mod included_data;
pub(crate) mod item_heads;
pub(crate) mod layout;
pub(crate) mod lifetimes;
pub(crate) mod macros;
mod made_items;
pub(crate) mod method_bounds;
pub(crate) mod misfits;
pub(crate) mod modules;
mod provided;
pub(crate) mod reaching;
pub(crate) mod reexports;
pub(crate) mod removed_traits;
pub(crate) mod rule_input;
pub(crate) mod rules;
pub(crate) mod scope_changes;
pub(crate) mod sent_futures;
pub(crate) mod settle;
pub(crate) mod shadowed;
pub(crate) mod sizes;
pub(crate) mod switched_on;
pub(crate) mod unresolved_names;
pub(crate) mod unused;
pub(crate) mod wellformed;
pub(crate) mod whole_file;
pub(crate) mod written_types;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use self::affected::{AffectedSet, BodyRef, ChangedSymbol, DeletedFile};
use self::delta::Delta;
use self::edit_context::Side;
use super::resolve::symbols::is_test_at;
use super::view::Context;
use crate::LANGUAGE;
use crate::checks::unreadable::Uncompiled;
use crate::checks::{imports, report};
use crate::names::instances;
use crate::resolve::having_crates::in_crates;
use crate::resolve::{at, paths, symbols};
use edit_context::{EditContext, renamed_names};
use reaching::Tests;
use semdex_engine::files::{File, Files};
use semdex_model::{
    Affected, Broken, ChangeImpact, ChangeKind, Changed, Diagnostic, Impact, Missing, OutlineItem, Span, Unchecked,
};
use semdex_text::diff::OffsetMap;

pub(crate) use crate::finding::Finding;

impl BodyRef {
    pub(crate) fn at(&self, side: Side) -> Option<usize> {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }
}

/// The unused imports of the old texts, if the new texts may have different ones.
pub(crate) fn imports_at_stake(cx: &Context<'_>, edit: &EditContext) -> BTreeMap<usize, Vec<Finding>> {
    let mut at_stake = BTreeMap::new();
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let known = cx.file_id(&old.path).and_then(|id| cx.index.errors(id));
        let computed;
        let unused = match &known {
            Some(known) => &known.imports,
            None => {
                computed = imports::unused_imports(cx, old);
                &computed
            }
        };
        let gaps = |of: &BTreeMap<String, OffsetMap>| of.get(&*old.path).map(OffsetMap::gaps).unwrap_or_default();
        let gone = gaps(&edit.maps).into_iter().map(|it| (&*old.text, it));
        let came = gaps(&edit.backs).into_iter().map(|it| (&*new.text, it));
        let is_whole = old.outline().errors.is_empty() && new.outline().errors.is_empty();
        if edit.olds.len() > 1 || !is_whole || !edit.scope_changes[index].is_empty() || unused.rest_on(gone.chain(came))
        {
            at_stake.insert(index, unused.found.iter().map(Finding::of_unused_import).collect());
        }
    }
    at_stake
}

/// If the code is the same, the state after is not checked.
pub(crate) fn of_layout(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Option<ChangeImpact> {
    if !edit.is_layout() || !edit.deleted.is_empty() {
        return None;
    }
    let changed = changed_items(cx, deltas, edit, &[], Side::Before);
    let mut impact = Impact { changed, unchecked: unchecked(), ..Impact::default() };
    let missing = report_tests(cx, &reaching::tests_reaching(cx, deltas, edit), edit, Side::Before, &mut impact);
    let mut change_impact = ChangeImpact { impact, coverage: cx.coverage(true), ..ChangeImpact::nothing() };
    missing.into_iter().for_each(|it| change_impact.lacks_tests(it));
    Some(change_impact)
}

/// Of a change that leaves a text without its token trees: what that breaks, if all that it edits is in crates that the
/// compiler does not look at then, or in new files.
pub(crate) fn of_unreadable(
    cx: &Context<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    texts: (&Files, &Files),
) -> Option<ChangeImpact> {
    let uncompiled = Uncompiled::by(cx, edit.news.iter());
    let missing = uncompiled.missing()?;
    if !edit.news.iter().all(|it| cx.file_id(&it.path).is_none() || uncompiled.has(cx, &it.path)) {
        return None;
    }
    let [earlier, later] = [&edit.olds, &edit.news].map(|it| -> Vec<Finding> {
        let code = it.iter().filter(|it| LANGUAGE.takes(&it.path));
        code.flat_map(|it| report::syntax_errors(it)).collect()
    });
    let names = renamed_names(deltas);
    let (new, fixed) = differ::differ(&earlier, &later, texts, edit, &names);
    let broken = new.iter().filter_map(|it| Some(broken_at(texts.1.get(&it.place.file)?, it)));
    let impact = Impact { broken: broken.collect(), unchecked: unchecked(), ..Impact::default() };
    let [new, fixed] = [new, fixed].map(|it| it.into_iter().map(Diagnostic::from).collect());
    let mut change_impact = ChangeImpact { new, fixed, impact, coverage: cx.coverage(true) };
    change_impact.lacks(missing);
    Some(change_impact)
}

/// A new error of the default build, of which no cause is known.
fn broken_at(file: &File, error: &Finding) -> Broken {
    Broken {
        at: Affected {
            build: None,
            text: symbols::line(file, &error.place),
            symbol: error.symbol.clone(),
            cause: None,
            test: is_test_at(file, error.place.start),
            place: error.place.clone(),
        },
        code: Some(error.code.name().to_owned()).filter(|it| !it.is_empty()),
        reason: error.message.clone(),
        follows: false,
    }
}

/// Reports the tests that reach a change, and returns why some may be missing.
pub(crate) fn report_tests(
    cx: &Context<'_>,
    tests: &Tests,
    edit: &EditContext,
    now: Side,
    impact: &mut Impact,
) -> Option<Missing> {
    impact.tests = reaching::reported_tests(cx, tests, edit, now);
    impact.unchecked.extend(tests.cut.map(|it| Unchecked { code: Unchecked::TESTS.to_owned(), detail: it.to_owned() }));
    tests.is_unread.then(|| {
        let detail = "tests that reach the change may be missing: the names of some files are being read; ask again";
        Missing::being_read(LANGUAGE.name, detail)
    })
}

/// In which of the crates that include its file an error is found, if not in all.
fn where_found(cx: &Context<'_>, it: &Finding) -> String {
    let having = it.crates.list();
    let file = cx.file_id(&it.place.file).filter(|_| !having.is_empty());
    file.map(|it| in_crates(cx, having, &instances::owners(cx.db, it))).unwrap_or_default()
}

/// With the new errors, and those that only follow from them.
pub(crate) fn impact_of(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    (new, following): (&[Finding], &[Finding]),
) -> Impact {
    let AffectedSet { changed_symbols, deleted_files, .. } = affected;
    let mut impact =
        Impact { changed: changed_items(cx, deltas, edit, deleted_files, Side::After), ..Impact::default() };
    let mut named: HashMap<(Arc<str>, usize), &ChangedSymbol<'_>> = HashMap::new();
    let mut places = Vec::new();
    for changed_symbol in changed_symbols {
        for it in &changed_symbol.occurrences {
            let Some((file, start)) = cx.files.get(&it.file.path).zip(edit.moved(&it.file.path, it.at.start)) else {
                continue;
            };
            let line = file.lines().line(start);
            let known = named.entry((file.path.clone(), line)).or_insert(changed_symbol);
            if !known.is_itself && changed_symbol.is_itself {
                *known = changed_symbol;
            }
            places.push((changed_symbol, file, it, start, line));
        }
    }
    let mut broken_lines: HashSet<(&str, usize)> = HashSet::new();
    let errors = new.iter().filter(|it| it.is_error()).map(|it| (it, false));
    for (diagnostic, follows) in errors.chain(following.iter().map(|it| (it, true))) {
        let Some(file) = cx.files.get(&diagnostic.place.file) else { continue };
        let mut lines = diagnostic.place.line..=diagnostic.place.end_line;
        broken_lines.extend(lines.clone().map(|it| (&*diagnostic.place.file, it)));
        let changed_symbol = lines.find_map(|it| named.get(&(file.path.clone(), it)));
        let mut broken = broken_at(file, diagnostic);
        broken.at.cause = changed_symbol.map(|it| it.path.clone());
        broken.reason.push_str(&where_found(cx, diagnostic));
        impact.broken.push(Broken { follows, ..broken });
    }
    let mut enclosing: HashMap<(&str, usize), Option<String>> = HashMap::new();
    for (changed_symbol, file, it, start, line) in places {
        let is_felt =
            changed_symbol.is_itself && changed_symbol.delta.as_ref().is_some_and(|it| it.1.kind != ChangeKind::Added);
        if !is_felt || broken_lines.contains(&(&*file.path, line)) {
            continue;
        }
        let at = Span::new(start, start + (it.at.end - it.at.start));
        let place = file.lines().place(&file.path, at);
        let innermost = file.outline().enclosing(start).last().map_or(0, |item| item.span.start);
        let symbol = enclosing
            .entry((&file.path, innermost))
            .or_insert_with(|| symbols::enclosing_path(cx, file, it.id, start))
            .clone();
        impact.affected.push(Affected {
            build: None,
            text: symbols::line(file, &place),
            symbol,
            cause: Some(changed_symbol.path.clone()),
            test: is_test_at(file, start),
            place,
        });
    }
    impact.affected.sort_by(|a, b| a.place.cmp(&b.place));
    impact.affected.dedup_by(|a, b| a.place == b.place);
    impact.broken.sort_by(|a, b| (a.at.test, &a.at.place).cmp(&(b.at.test, &b.at.place)));
    impact.unchecked = unchecked();
    impact
}

/// Each changed declaration, by its path in the state in which it exists.
fn changed_items(
    cx: &Context<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    deleted: &[DeletedFile],
    side: Side,
) -> Vec<Changed> {
    let EditContext { olds, news, .. } = edit;
    let now = |index: usize, delta: &Delta<'_>| {
        let (file, item) = match side {
            Side::Before => (&olds[index], delta.before?),
            Side::After => (&news[index], delta.after?),
        };
        paths::path_of(cx, at::definition_in_any_build(&cx.sema, cx.file_id(&file.path)?, item.name_span.start)?)
    };
    deltas
        .iter()
        .filter_map(|(index, delta)| {
            let item = delta.after.or(delta.before)?;
            let module = || match deleted.iter().find(|it| it.index == *index) {
                Some(deleted) => deleted.module.clone(),
                None => {
                    let id = cx.file_id(&olds[*index].path)?;
                    Some(paths::module_path(cx, cx.sema.file_to_module_def(id)?))
                }
            };
            let written = |item: &OutlineItem| {
                let mut path = module().unwrap_or_else(|| olds[*index].path.to_string());
                for part in item.container.iter().chain([&item.name]) {
                    path = format!("{path}::{part}");
                }
                path
            };
            let symbol = match (delta.kind, delta.before) {
                (ChangeKind::Removed | ChangeKind::Renamed, Some(before)) => written(before),
                _ => now(*index, delta).unwrap_or_else(|| written(item)),
            };
            Some(Changed {
                symbol,
                kind: delta.kind,
                before: delta.before.map(|it| it.signature.clone()),
                after: delta.after.map(|it| it.signature.clone()),
            })
        })
        .collect()
}

fn unchecked() -> Vec<Unchecked> {
    let limits = [
        ("borrow_checker", "lifetimes and moves were not checked: `cargo check` does"),
        (
            "macro_output",
            "of what derive and attribute macros generate, only what is named elsewhere and the code of their attributes was checked",
        ),
        ("cfg_off", "code that no build compiles was not checked, of further builds only what names the change"),
    ];
    limits.into_iter().map(|(code, detail)| Unchecked { code: code.to_owned(), detail: detail.to_owned() }).collect()
}
