//! Computes the impact of a change: tries the change, compares the state before with the state after, and reverts it
//! unless it is to stay. Runs on the writer's thread; no reader sees the state in between.

#[cfg(test)]
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ra_ap_ide_db::base_db::CrateGraphBuilder;

use super::Rust;
use super::changes::Tried;
use super::crate_scopes;
use super::other_crates::{self, ErrorsOfFiles, crate_changes};
use crate::checks::unreadable::Uncompiled;
use crate::checks::{imports, report};
use crate::finding::Finding;
use crate::finding::code::Phase;
use crate::impact::affected::AffectedSet;
use crate::impact::bodies::{errors_of, errors_of_moved};
use crate::impact::delta::Delta;
use crate::impact::differ::differ;
use crate::impact::edit_context::{EditContext, Side, renamed_names};
use crate::impact::misfits::misfits_of;
use crate::impact::{
    arity, compared_heads, derives, find_affected, fixed_names, further_builds, impact_of, imports_at_stake, modules,
    of_layout, of_unreadable, reaching, report_tests, scope_changes, sent_futures, settle, switched_on,
};
use crate::load::planned::{Planned, is_planned};
use crate::questions::coverage::not_included;
use crate::questions::diagnostics;
use crate::usages::loaded;
use crate::view::{Context, Stumbles};
use crate::{LANGUAGE, usages};
#[cfg(test)]
use semdex_engine::files::Files;
use semdex_engine::{Result, Stop, Trial, impact_unknown, unknown_until_loaded};
use semdex_model::{ChangeImpact, Code, Coverage, Diagnostic, FileEdit, Missing, MissingCode, SymbolKind};

impl Rust {
    /// Tries the change, computes its impact, and reverts it unless `keep` decides otherwise. Without `keep` this is a
    /// dry run.
    pub(crate) fn impact(&mut self, trial: &Trial<'_>, keep: Option<&dyn Fn(&ChangeImpact) -> bool>) -> ChangeImpact {
        let edits = trial.edits;
        let _shared = crate::view::share_types();
        let mut tried = None;
        let mut impact = self.impact_unless_it_panics(trial, keep.is_some(), &mut tried);
        let is_by_others = |it: &Stop| match it {
            Stop::Stale => true,
            Stop::Failed(error) => error.code == Code::Internal,
        };
        if matches!(&impact, Ok(Err(stop)) if is_by_others(stop)) {
            // No change can interrupt this thread. But another one, whose result it waited for, may have been ended.
            tracing::info!("computing the impact of a change once more");
            self.end_trial(edits, tried.take());
            impact = self.impact_unless_it_panics(trial, keep.is_some(), &mut tried);
        }
        let impact = impact.ok().and_then(Result::ok);
        let failed = impact.is_none();
        let change_impact = impact.unwrap_or_else(|| impact_unknown(LANGUAGE));
        match (keep.is_some_and(|it| it(&change_impact)), tried) {
            (true, Some(tried)) => self.keep(&texts(edits, |it| it.new.clone()), tried),
            (true, None) => self.apply(&texts(edits, |it| it.new.clone())),
            (false, None) if !failed => {}
            (false, tried) => self.end_trial(edits, tried),
        }
        self.renew();
        change_impact
    }

    /// Back to the state before a trial; what one that failed has made of it is not known.
    fn end_trial(&mut self, edits: &[FileEdit], tried: Option<Tried>) {
        let olds = texts(edits, |it| it.old.clone());
        match tried {
            Some(tried) => self.take_back(&olds, tried),
            None => self.apply(&olds),
        }
    }

    /// The impact, or an error if the analysis panicked, which must not end the only thread that owns the workspace.
    fn impact_unless_it_panics(
        &mut self,
        trial: &Trial<'_>,
        may_stay: bool,
        tried: &mut Option<Tried>,
    ) -> std::result::Result<Result<ChangeImpact>, ()> {
        catch_unwind(AssertUnwindSafe(|| self.try_impact(trial, may_stay, tried))).map_err(|panic| {
            if self.is_torn() {
                // The database cannot be trusted any longer: the engine has to be discarded.
                resume_unwind(panic);
            }
            tracing::error!("computing the impact of a change panicked");
            self.note_shadow_panic();
        })
    }

    #[cfg(test)]
    pub(crate) fn impact_of(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        keep: Option<&dyn Fn(&ChangeImpact) -> bool>,
    ) -> ChangeImpact {
        self.impact(&Trial { before, after, edits, moves: &BTreeMap::new(), prepared: None }, keep)
    }

    fn try_impact(
        &mut self,
        &Trial { before, after, edits, moves, prepared }: &Trial<'_>,
        may_stay: bool,
        tried: &mut Option<Tried>,
    ) -> Result<ChangeImpact> {
        let planned = prepared.and_then(|it| it.downcast_ref::<Planned>());
        let crates = match planned {
            Some(Planned::Crates(it)) => Some(it),
            _ => None,
        };
        let started = Instant::now();
        semdex_process::fault::point("rust.impact");
        let mut edit = EditContext::new(before, after, edits, moves);
        let stumbles = Stumbles::default();
        let view_before = || self.view(before.clone()).with(&stumbles);
        view_before().ask(|it| {
            scope_changes::widen_by_imports(it, &mut edit);
            switched_on::note_switches(it, &mut edit);
            Ok(())
        })?;
        let deltas = edit.deltas();
        let names = renamed_names(&deltas);
        let changed_doctests = self.changed_doctests(&texts(edits, |it| it.new.clone()));
        if crates.is_none()
            && changed_doctests.is_empty()
            && let Some(mut change_impact) = view_before().ask(|it| Ok(of_layout(it, &deltas, &edit)))?
        {
            crate_scopes::unjudged(&edit).into_iter().for_each(|it| change_impact.lacks(it));
            note_unplanned(edits, planned, &mut change_impact);
            return Ok(change_impact);
        }
        if crates.is_none() || !may_stay {
            let found = view_before().ask(|it| Ok(of_unreadable(it, &deltas, &edit, (before, after))))?;
            if let Some(mut change_impact) = found {
                note_unplanned(edits, planned, &mut change_impact);
                return Ok(change_impact);
            }
        }
        let news = texts(edits, |it| it.new.clone());
        if !may_stay && crates.is_none() {
            // What the state after needs is computed while the state before is checked.
            *tried = self.try_in_shadow(&news);
        }
        let view_before = || self.view(before.clone()).with(&stumbles);
        let mut are_declarations_known = true;
        let (mut affected, missed, earlier_blocks, imports, tests, modules, at_stake) = view_before().ask(|it| {
            let missed = fixed_names::missed_before(it, &edit, &deltas);
            let affected = find_affected::affected_set(it, &edit, &deltas, &missed);
            let stumbled = it.stumbles.count();
            let mut blocks = errors_of_declarations(it, &affected, &deltas, &edit, Side::Before);
            are_declarations_known = it.stumbles.count() == stumbled;
            let imports = imports_at_stake(it, &edit);
            let at_stake = further_builds::at_stake(it, &affected, &edit, changed_doctests);
            blocks.extend(imports.values().flatten().cloned());
            blocks.extend(errors_of_moved(it, &edit));
            blocks.extend(edit.olds.iter().flat_map(|file| report::syntax_errors_of(it, file)));
            blocks.extend(sent_futures::sent_futures(it, &affected, &edit, Side::Before).found);
            Ok((
                affected,
                missed,
                blocks,
                imports,
                reaching::tests_reaching(it, &deltas, &edit),
                modules::modules_at_stake(it, &deltas, &edit),
                at_stake,
            ))
        })?;
        let reached = started.elapsed();
        let concerned = affected.bodies_by_ref.len();
        affected.bodies_by_ref.sort_by_key(|it| !it.edited);
        affected.bodies_by_ref.truncate(MAX_BODIES);
        let errors_before = errors_of(&affected, Side::Before, view_before)?;
        let mut in_further = further_builds::Compared::before(at_stake, view_before)?;
        let mut crates_before = CrateGraphBuilder::default();
        let mut errors_of_files = ErrorsOfFiles::default();
        let mut changes = view_before().ask(|it| Ok(crate_scopes::changed_scopes(it, &edit)))?;
        if let Some(crates) = crates {
            crates_before = self.crates_of(&self.workspaces, &[]).0;
            changes.extend(crate_changes(&crates_before, &self.crates_of(&crates.workspaces, &[]).0));
        }
        if !changes.is_empty() {
            errors_of_files = other_crates::errors_of_files(&changes, view_before)?;
        }
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
            None => tried.insert(match crates {
                Some(crates) => self.try_out_crates(&news, crates),
                None => self.try_out(&news, edit.names_found_elsewhere(&deltas).as_ref()),
            }),
        };
        let applied = started.elapsed();
        let view_after = || self.view_of(after, here).with(&stumbles);
        let errors_after = errors_of(&affected, Side::After, view_after)?;
        let checked = errors_after.checked;
        affected.bodies_by_ref.truncate(checked);
        let mut earlier = errors_before.of_first(checked);
        earlier.extend(earlier_blocks);
        let mut later = errors_after.of_first(checked);
        in_further.check_after(&edit, !here.lacks_further_builds(), view_after)?;
        let inferred = started.elapsed();
        let mut change_impact = self.view_of(after, here).with(&stumbles).ask(|it| {
            if matches!(here, Tried::Here(_)) && !modules::are_there(it.db, &modules) {
                here.drop_saved_state();
            }
            later.extend(arity::miscalled(it, &affected, &edit));
            if are_declarations_known {
                later.extend(errors_of_declarations(it, &affected, &deltas, &edit, Side::After));
            }
            let mut sent = sent_futures::sent_futures(it, &affected, &edit, Side::After);
            later.append(&mut sent.found);
            let mut unresolved = switched_on::unresolved_in(it, &affected.new_files);
            unresolved.extend(diagnostics::unresolved_imports(it, &affected.new_files));
            let is_there = |it: &Finding| later.iter().any(|known| known.place == it.place);
            let unresolved: Vec<Finding> = unresolved.into_iter().filter(|it| !is_there(it)).collect();
            later.extend(unresolved);
            // What no crate includes is not compiled.
            let is_compiled = |file: &str| {
                let id = it.file_id(file).filter(|_| it.is_loaded());
                id.is_none_or(|id| it.sema.file_to_module_defs(id).next().is_some())
            };
            let compiled = edit.news.iter().filter(|it| is_compiled(&it.path));
            later.extend(compiled.flat_map(|file| report::syntax_errors_of(it, file)));
            let unused = imports.keys().flat_map(|at| imports::unused_imports(it, &edit.news[*at]).found);
            later.extend(unused.map(|it| Finding::of_unused_import(&it)));
            let (mut new, mut fixed) = differ(&earlier, &later, (before, after), &edit, &names);
            fixed.retain(|it| !edit.follows_from_absence(&deltas, before, it));
            fixed_names::add_mended(it, missed, &edit, &mut fixed);
            let following = settle::apply_rules(it, &affected, &deltas, &edit, &mut new);
            let uncompiled = Uncompiled::by(it, edit.news.iter());
            let is_unknown = |file: &str| it.file_id(file).is_some_and(|id| !loaded::knows_dependencies(it, id));
            let is_unreported = |file: &str| modules.lost(it, file) || uncompiled.has(it, file) || is_unknown(file);
            let is_out = |found: &Finding| {
                is_unplanned(planned, found) || found.code.phase() != Phase::Syntax && is_unreported(&found.place.file)
            };
            fixed.retain(|found| found.code.phase() == Phase::Syntax || !uncompiled.has(it, &found.place.file));
            new.retain(|it| !is_out(it));
            let following: Vec<Finding> = following.into_iter().filter(|it| !is_out(it)).collect();
            new.iter().chain(&following).for_each(Finding::check);
            let mut impact = impact_of(it, &affected, &deltas, &edit, (&new, &following));
            let left =
                further_builds::add_broken(it, &affected, (&edit, &names), in_further, (before, after), &mut impact);
            impact.broken.retain(|broken| broken.at.build.is_none() || uncompiled.missing().is_none());
            let without_tests = report_tests(it, &tests, &edit, Side::After, &mut impact);
            let [new, fixed] = [new, fixed].map(|it| it.into_iter().map(Diagnostic::from).collect());
            let coverage = Coverage { builds: it.environment.builds.names.clone(), ..it.coverage(true) };
            let mut change_impact = ChangeImpact { new, fixed, impact, coverage };
            let left = left.into_iter().chain(sent.missing()).chain(uncompiled.missing());
            left.for_each(|it| change_impact.lacks(it));
            let there = edit.news.iter().enumerate().filter(|it| !edit.deleted.contains(&it.0)).map(|it| &it.1.path);
            let elsewhere = &it.environment.compiled_elsewhere;
            let is_known = |it: &&Arc<str>| is_compiled(it) || elsewhere.contains(&***it);
            there
                .filter(|it| LANGUAGE.takes(it) && !is_known(it))
                .for_each(|path| change_impact.coverage.lacks(not_included(it, path)));
            without_tests.into_iter().for_each(|it| change_impact.lacks_tests(it));
            Ok(change_impact)
        })?;
        changes.extend(self.view_of(after, here).ask(|it| Ok(crate_scopes::changed_scopes(it, &edit)))?);
        if crates.is_some() {
            // The roots of new targets are files by now.
            changes.extend(crate_changes(&crates_before, &self.crates_of(&self.workspaces, &[]).0));
        }
        if !changes.is_empty() {
            let view_after = || self.view_of(after, here).with(&stumbles);
            let later = other_crates::errors_of_files(&changes, view_after)?;
            view_after().ask(|it| {
                other_crates::add_errors(it, &errors_of_files, &later, &edit, &mut change_impact);
                Ok(())
            })?;
        }
        stumbles.missing().into_iter().for_each(|it| change_impact.lacks(it));
        crate_scopes::unjudged(&edit).into_iter().for_each(|it| change_impact.lacks(it));
        note_unplanned(edits, planned, &mut change_impact);
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

/// The errors outside of bodies that are compared.
fn errors_of_declarations(
    it: &Context<'_>,
    affected: &AffectedSet<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    side: Side,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |check: &dyn Fn() -> Vec<Finding>| {
        found.extend(it.unless_at_fault(|| "the declarations".to_owned(), check).into_iter().flatten());
    };
    add(&|| misfits_of(it, affected, edit, side));
    add(&|| derives::refused_derives(it, deltas, edit, side));
    add(&|| compared_heads::errors_of_heads(it, affected, edit, side));
    found
}

/// Whether an unresolved name may be one of the crates that Cargo could not determine.
fn is_unplanned(planned: Option<&Planned>, found: &Finding) -> bool {
    let Some(Planned::Unknown { directories, .. }) = planned else { return false };
    let is_below = |it: &String| it.is_empty() || Path::new(&found.place.file).starts_with(it);
    found.code.phase() == Phase::Names && directories.iter().any(is_below)
}

/// What is not known of the crates after a change of manifests.
fn note_unplanned(edits: &[FileEdit], planned: Option<&Planned>, change_impact: &mut ChangeImpact) {
    match planned {
        Some(Planned::Crates(it)) => it.missing.iter().for_each(|it| change_impact.lacks(it.clone())),
        Some(Planned::Unknown { missing, .. }) => change_impact.lacks(missing.clone()),
        None => {
            if let Some(edit) = edits.iter().find(|it| is_planned(it)) {
                let why = "decides which crates there are, and the workspace's crates are not loaded";
                change_impact.lacks(unknown_until_loaded(MissingCode::Manifest, &edit.file, why));
            }
        }
    }
}

/// The most bodies that are checked again for one edit; the answer reports that there are more.
const MAX_BODIES: usize = 4000;

fn texts(edits: &[FileEdit], text: impl Fn(&FileEdit) -> Option<Arc<str>>) -> Vec<(Arc<str>, Option<Arc<str>>)> {
    edits.iter().map(|it| (Arc::from(it.file.as_str()), text(it))).collect()
}
