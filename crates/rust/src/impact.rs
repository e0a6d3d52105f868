//! Computes what a change would break, with the engine itself: the state before, the state after, and the difference.
//! It runs on the writer's thread, and no reader ever sees the intermediate state.
//!
//! Only what the change may affect is checked (`affected_set`). The bodies that name what it changes are each checked
//! for their own errors (`native`). `rules` has a table of all checks, including errors that the compiler reports and
//! rust-analyzer does not.

pub(crate) mod affected;
pub(crate) mod affected_set;
pub(crate) mod anchors;
pub(crate) mod arity;
pub(crate) mod bodies;
pub(crate) mod bounds;
pub(crate) mod branches;
pub(crate) mod broken_imports;
pub(crate) mod cascades;
pub(crate) mod code;
pub(crate) mod constants;
pub(crate) mod constness;
pub(crate) mod constructors;
pub(crate) mod declared;
pub(crate) mod delta;
pub(crate) mod derive_expansion;
pub(crate) mod derives;
pub(crate) mod differ;
pub(crate) mod edit_context;
pub(crate) mod entry;
pub(crate) mod error_types;
pub(crate) mod errors;
pub(crate) mod expanded;
pub(crate) mod finding;
pub(crate) mod follows;
pub(crate) mod generics;
pub(crate) mod gone;
pub(crate) mod helpers;
pub(crate) mod holders;
pub(crate) mod impls;
pub(crate) mod item_heads;
pub(crate) mod layout;
pub(crate) mod lifetimes;
pub(crate) mod macros;
pub(crate) mod missed;
pub(crate) mod modules;
pub(crate) mod native;
pub(crate) mod needs;
pub(crate) mod objects;
pub(crate) mod opaque;
pub(crate) mod operators;
pub(crate) mod origins;
pub(crate) mod patterns;
pub(crate) mod places;
pub(crate) mod projections;
pub(crate) mod reaching;
pub(crate) mod reexports;
pub(crate) mod report;
pub(crate) mod rule;
pub(crate) mod rule_id;
pub(crate) mod rules;
pub(crate) mod scope_changes;
pub(crate) mod settle;
pub(crate) mod unresolved;
pub(crate) mod unstable;
pub(crate) mod unused;
pub(crate) mod unused_imports;
pub(crate) mod updates;
pub(crate) mod wellformed;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use bodies::errors_of;
use differ::differ;
use edit_context::EditContext;
use reaching::Tests;

use self::affected::{AffectedSet, BodyRef, ChangedSymbol, Shapes};
use self::delta::Delta;
use self::edit_context::Side;
use super::engine::Rust;
use super::engine::changes::Tried;
use super::resolve::symbols::is_test_at;
use super::view::{Context, Stumbles};
use crate::LANGUAGE;
use crate::index::usages;
use crate::questions::imports;
use crate::resolve::{at, paths, symbols};
pub(super) use code::Code;
pub(super) use finding::Finding;
use semdex_engine::files::{File, Files};
use semdex_engine::{Result, Stop, impact_unknown};
use semdex_model::{
    Affected, Broken, ChangeImpact, ChangeKind, Changed, Diagnostic, FileEdit, Impact, Missing, MissingCode,
    OutlineItem, Span, SymbolKind, Unchecked,
};
use semdex_text::diff::OffsetMap;

#[cfg(test)]
pub(super) use rules::RULES;

/// The most bodies that are checked again for one edit; the answer reports that there are more.
const MAX_BODIES: usize = 4000;
impl BodyRef {
    fn at(&self, side: Side) -> Option<usize> {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }
}

impl Rust {
    /// Tries the change, computes its impact, and reverts it unless `keep` decides otherwise. Without `keep` this is a
    /// dry run. `before` and `after` are the workspace's texts.
    pub(crate) fn impact(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        keep: Option<&dyn Fn(&ChangeImpact) -> bool>,
    ) -> ChangeImpact {
        let _shared = super::view::share_types();
        let mut tried = None;
        // A panic of the analysis must not end the only thread that owns the workspace.
        let impact =
            catch_unwind(AssertUnwindSafe(|| self.try_impact(before, after, edits, keep.is_some(), &mut tried)));
        let impact = impact.unwrap_or_else(|panic| {
            if self.is_torn() {
                // The database cannot be trusted any longer: the engine has to be discarded.
                resume_unwind(panic);
            }
            tracing::error!("computing the impact of a change panicked");
            self.note_shadow_panic();
            Err(Stop::Stale)
        });
        let failed = impact.is_err();
        // No change can interrupt this thread; a query that stops all the same has no answer.
        let change_impact = impact.unwrap_or_else(|_| impact_unknown(LANGUAGE));
        match (keep.is_some_and(|it| it(&change_impact)), tried) {
            (true, Some(tried)) => self.keep(&texts(edits, |it| it.new.clone()), tried),
            (true, None) => self.apply(&texts(edits, |it| it.new.clone())),
            (false, Some(tried)) => self.take_back(&texts(edits, |it| it.old.clone()), tried),
            // Its result is unknown.
            (false, None) if failed => self.apply(&texts(edits, |it| it.old.clone())),
            (false, None) => {}
        }
        change_impact
    }

    fn try_impact(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        may_stay: bool,
        tried: &mut Option<Tried>,
    ) -> Result<ChangeImpact> {
        let started = Instant::now();
        semdex_process::fault::point("rust.impact");
        let mut edit = EditContext::new(before, after, edits);
        let stumbles = Stumbles::default();
        let view_before = || self.view(before.clone()).with(&stumbles);
        view_before().ask(|it| {
            scope_changes::widen_by_imports(it, &mut edit);
            Ok(())
        })?;
        let deltas = edit.deltas();
        if let Some(change_impact) = view_before().ask(|it| Ok(of_layout(it, &deltas, &edit)))? {
            return Ok(change_impact);
        }
        let news = texts(edits, |it| it.new.clone());
        if !may_stay {
            // What the state after needs is computed while the state before is checked.
            *tried = self.try_in_shadow(&news);
        }
        let view_before = || self.view(before.clone()).with(&stumbles);
        let (mut affected, missed, earlier_blocks, imports, tests, modules) = view_before().ask(|it| {
            let missed = missed::missed_before(it, &edit, &deltas);
            let affected = affected_set::affected_set(it, &edit, &deltas, &missed);
            let mut blocks = misfits_of(it, &affected, &edit, Side::Before);
            blocks.extend(derives::refused_derives(it, &deltas, &edit, Side::Before));
            let imports = imports_at_stake(it, &edit);
            blocks.extend(imports.values().flatten().cloned());
            Ok((
                affected,
                missed,
                blocks,
                imports,
                reaching::tests_reaching(it, &deltas, &edit),
                modules::modules_at_stake(it, &deltas, &edit),
            ))
        })?;
        let reached = started.elapsed();
        let concerned = affected.bodies_by_ref.len();
        affected.bodies_by_ref.sort_by_key(|it| !it.edited);
        affected.bodies_by_ref.truncate(MAX_BODIES);
        let errors_before = errors_of(&affected, Side::Before, view_before)?;
        // Bodies that were not checked before are not compared.
        affected.bodies_by_ref.truncate(errors_before.checked);
        let compared = started.elapsed();
        let here = match tried {
            Some(beside) => {
                if let Some(names) = edit.names_printed_elsewhere(&deltas) {
                    self.lend_paths_to_shadow(&edit.backs, names.into_iter().map(str::to_owned).collect());
                }
                beside
            }
            None => tried.insert(self.try_out(&news, edit.names_found_elsewhere(&deltas).as_ref())),
        };
        let applied = started.elapsed();
        let view_after = || self.view_of(after, here).with(&stumbles);
        let errors_after = errors_of(&affected, Side::After, view_after)?;
        let checked = errors_after.checked;
        affected.bodies_by_ref.truncate(checked);
        let mut earlier = errors_before.of_first(checked);
        earlier.extend(earlier_blocks);
        earlier.extend(edit.olds.iter().flat_map(|it| report::syntax_errors(it)));
        let mut later = errors_after.of_first(checked);
        let inferred = started.elapsed();
        let mut change_impact = self.view_of(after, here).with(&stumbles).ask(|it| {
            if matches!(here, Tried::Here(_)) && !modules::are_there(it.db, &modules) {
                here.drop_saved_state();
            }
            later.extend(arity::miscalled(it, &affected, &edit));
            later.extend(misfits_of(it, &affected, &edit, Side::After));
            later.extend(derives::refused_derives(it, &deltas, &edit, Side::After));
            later.extend(edit.news.iter().flat_map(|it| report::syntax_errors(it)));
            let unused = imports.keys().flat_map(|at| imports::unused_imports(it, &edit.news[*at]).found);
            later.extend(unused.map(|it| Finding::of_unused_import(&it)));
            let (mut new, mut fixed) = differ(&earlier, &later, before, after, &edit.maps);
            fixed.retain(|it| !edit.follows_from_absence(&deltas, before, it));
            missed::add_mended(it, missed, &edit, &mut fixed);
            let following = settle::apply_rules(it, &affected, &deltas, &edit, &mut new);
            new.iter().chain(&following).for_each(Finding::check);
            let mut impact = impact_of(it, &affected.changed_symbols, &deltas, &edit, (&new, &following));
            report_tests(it, &tests, &edit, Side::After, &mut impact);
            let [new, fixed] = [new, fixed].map(|it| it.into_iter().map(Diagnostic::from).collect());
            Ok(ChangeImpact { new, fixed, impact, coverage: it.coverage(true) })
        })?;
        stumbles.missing().into_iter().for_each(|it| change_impact.lacks(it));
        let (bodies_by_ref, total) = (affected.bodies_by_ref.len(), started.elapsed());
        tracing::debug!(
            bodies_by_ref,
            ?reached,
            ?compared,
            ?applied,
            ?inferred,
            ?total,
            "the impact of a change computed"
        );
        for it in &affected.changed_symbols {
            if let Some(missing) = usages::in_generated(&it.in_generated) {
                let detail = format!("`{}` changes, and {}: it was not checked", it.path, missing.detail);
                change_impact.lacks(Missing { detail, ..missing });
            }
            let changes = it.delta.as_ref().and_then(|it| it.1.before).filter(|_| it.is_itself);
            let is_method = changes.is_some_and(|it| it.kind == SymbolKind::Method);
            usages::by_write(&it.name, is_method).into_iter().for_each(|it| change_impact.lacks(it));
        }
        edit.news.iter().filter(|it| !LANGUAGE.takes(&it.path)).for_each(|it| {
            let detail = format!(
                "`{}` is code by an `include!` alone and no file of Rust by its name: what its change breaks is known \
                 in part; give it a name that ends in `.rs`",
                it.path
            );
            change_impact.lacks(Missing::new(MissingCode::Unsupported, &*it.path, detail));
        });
        if concerned > bodies_by_ref {
            let why = if bodies_by_ref < MAX_BODIES { "for more there was no time" } else { "more are not" };
            let detail = format!("{concerned} bodies name what changed: {bodies_by_ref} were checked again, {why}");
            change_impact.lacks(Missing::new(MissingCode::TooMany, "rust", detail));
        }
        Ok(change_impact)
    }
}

fn texts(edits: &[FileEdit], text: impl Fn(&FileEdit) -> Option<Arc<str>>) -> Vec<(Arc<str>, Option<Arc<str>>)> {
    edits.iter().map(|it| (Arc::from(it.file.as_str()), text(it))).collect()
}

/// The unused imports of the old texts, if the new texts may have different ones.
fn imports_at_stake(cx: &Context<'_>, edit: &EditContext) -> BTreeMap<usize, Vec<Finding>> {
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

/// The items of implementations that do not fit their traits.
fn misfits_of(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext, side: Side) -> Vec<Finding> {
    let nothing = Shapes::new();
    let shapes = match side {
        Side::Before => &nothing,
        Side::After => &affected.shapes,
    };
    let mut found = Vec::new();
    for (name, at) in &affected.blocks {
        let at = match side {
            Side::Before => Some(*at),
            Side::After => edit.moved(name, *at),
        };
        if let Some((file, at)) = cx.files.get(name).zip(at) {
            found.extend(errors::misfits(cx, file, at, shapes));
        }
    }
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let (name, maps) = match side {
            Side::Before => (&old.path, &edit.maps),
            Side::After => (&new.path, &edit.backs),
        };
        let Some((file, map)) = cx.files.get(name).zip(maps.get(&**name)) else { continue };
        // The contents of the block and the meaning of its names decide.
        let scope_changes = &edit.scope_changes[index];
        let is_looked_at = |at: Span| !map.is_untouched(at) || scope_changes.concerns(&file.text[at.start..at.end]);
        file.outline().walk(&mut |item| {
            if item.kind == SymbolKind::Impl && item.name.contains(" for ") && is_looked_at(item.span) {
                found.extend(errors::misfits(cx, file, item.name_span.start, shapes));
            }
        });
    }
    found.sort();
    found.dedup();
    found
}

/// If the code is the same, the state after is not checked.
fn of_layout(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Option<ChangeImpact> {
    if !edit.is_layout() {
        return None;
    }
    let changed = changed_items(cx, deltas, edit, Side::Before);
    let mut impact = Impact { changed, unchecked: unchecked(), ..Impact::default() };
    report_tests(cx, &reaching::tests_reaching(cx, deltas, edit), edit, Side::Before, &mut impact);
    Some(ChangeImpact { impact, coverage: cx.coverage(true), ..ChangeImpact::nothing() })
}

fn report_tests(cx: &Context<'_>, tests: &Tests, edit: &EditContext, now: Side, impact: &mut Impact) {
    impact.tests = reaching::reported_tests(cx, tests, edit, now);
    let detail = tests.missing.map(str::to_owned);
    impact.unchecked.extend(detail.map(|detail| Unchecked { code: "tests".to_owned(), detail }));
}

/// With the new errors, and those that only follow from them.
fn impact_of(
    cx: &Context<'_>,
    changed_symbols: &[ChangedSymbol<'_>],
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    (new, following): (&[Finding], &[Finding]),
) -> Impact {
    let mut impact = Impact { changed: changed_items(cx, deltas, edit, Side::After), ..Impact::default() };
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
        impact.broken.push(Broken {
            at: Affected {
                text: symbols::line(file, &diagnostic.place),
                symbol: diagnostic.symbol.clone(),
                cause: changed_symbol.map(|it| it.path.clone()),
                test: is_test_at(file, diagnostic.place.start),
                place: diagnostic.place.clone(),
            },
            code: Some(diagnostic.code.name().to_owned()).filter(|it| !it.is_empty()),
            reason: diagnostic.message.clone(),
            follows,
        });
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
fn changed_items(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext, side: Side) -> Vec<Changed> {
    let EditContext { olds, news, .. } = edit;
    let now = |index: usize, delta: &Delta<'_>| {
        let (file, item) = match side {
            Side::Before => (&olds[index], delta.before?),
            Side::After => (&news[index], delta.after?),
        };
        paths::path_of(cx, at::definition_at(&cx.sema, cx.file_id(&file.path)?, item.name_span.start)?)
    };
    deltas
        .iter()
        .filter_map(|(index, delta)| {
            let item = delta.after.or(delta.before)?;
            let module = |file: &File| {
                let id = cx.file_id(&file.path)?;
                Some(paths::module_path(cx, cx.sema.file_to_module_def(id)?))
            };
            let written = |item: &OutlineItem| {
                let mut path = module(&olds[*index]).unwrap_or_else(|| olds[*index].path.to_string());
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
        ("cfg_off", "code that is switched off by `cfg` was not checked"),
    ];
    limits.into_iter().map(|(code, detail)| Unchecked { code: code.to_owned(), detail: detail.to_owned() }).collect()
}
