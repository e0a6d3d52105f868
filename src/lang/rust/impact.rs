//! What a change would break, asked of the engine itself: the state before, the state after, and what differs. It
//! runs on the writer's thread, and no reader ever sees the state in between.
//!
//! Only what the change may reach is looked at (`affected_set`): the bodies that name what it changes, each asked for its own
//! errors (`native`), and what the compiler checks and rust-analyzer does not (`rules`, `impls`).

mod affected_set;
mod arity;
mod bounds;
mod branches;
mod cascades;
mod code;
mod constants;
mod constness;
mod constructors;
mod declared;
mod derive_expansion;
mod derives;
mod differ;
mod edit_context;
mod entry;
mod error_types;
mod expanded;
mod finding;
mod follows;
mod generics;
mod gone;
mod helpers;
mod holders;
mod impls;
mod item_heads;
mod layout;
mod lifetimes;
mod macros;
mod modules;
mod native;
mod needs;
mod objects;
mod opaque;
mod operators;
mod origins;
mod patterns;
mod places;
mod projections;
mod reaching;
mod rules;
mod scope_changes;
mod unresolved;
mod unstable;
mod unused;
mod updates;
mod wellformed;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::ENGINE;
use super::changes::Tried;
use super::delta::Delta;
use super::engine::Rust;
use super::symbols::is_test_at;
use super::view::{Context, View};
use crate::lang::engine::unjudged;
use crate::lang::files::{File, Files};
use crate::lang::rust::LANGUAGE;
use crate::lang::{Result, Stop};
use crate::model::{
    Affected, Broken, ChangeKind, Changed, Diagnostic, FileEdit, Impact, Judgement, Missing, MissingCode, OutlineItem,
    Severity, Span, SymbolKind, Unchecked,
};
use crate::text::diff::OffsetMap;
use affected_set::{AffectedSet, BodyRef, ChangedSymbol};
pub(super) use code::Code;
use differ::differ;
use edit_context::EditContext;
pub(super) use finding::Finding;
use finding::Subject;
use impls::Shapes;
use reaching::Tests;
#[cfg(test)]
pub(super) use rules::RULES;
use rules::RuleId;

/// More bodies than this are not checked again for one edit; the answer says so.
const MAX_UNITS: usize = 4000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl BodyRef {
    fn at(&self, side: Side) -> Option<usize> {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }
}

impl Rust {
    /// Tries the change, judges it, and takes it back unless `keep` says otherwise; without that it is only asked about.
    /// `before` and `after` are the workspace's texts.
    pub fn judge(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        keep: Option<&dyn Fn(&Judgement) -> bool>,
    ) -> Judgement {
        let _shared = super::view::share_types();
        let mut tried = None;
        // A fault of the analysis must not end the one thread that owns the workspace.
        let judged =
            catch_unwind(AssertUnwindSafe(|| self.try_judge(before, after, edits, keep.is_some(), &mut tried)));
        let judged = judged.unwrap_or_else(|panic| {
            if self.is_torn() {
                // The database is not to be believed any more: it costs the engine.
                resume_unwind(panic);
            }
            tracing::error!("judging a change panicked");
            self.note_panic_beside();
            Err(Stop::Stale)
        });
        let failed = judged.is_err();
        // On this thread nothing can come between; a question that stops all the same was not answered.
        let judgement = judged.unwrap_or_else(|_| unjudged(LANGUAGE));
        match (keep.is_some_and(|it| it(&judgement)), tried) {
            (true, Some(tried)) => self.keep(&texts(edits, |it| it.new.clone()), tried),
            (true, None) => self.apply(&texts(edits, |it| it.new.clone())),
            (false, Some(tried)) => self.take_back(&texts(edits, |it| it.old.clone()), tried),
            // What it came to is not known.
            (false, None) if failed => self.apply(&texts(edits, |it| it.old.clone())),
            (false, None) => {}
        }
        judgement
    }

    fn try_judge(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        may_stay: bool,
        tried: &mut Option<Tried>,
    ) -> Result<Judgement> {
        let started = Instant::now();
        crate::fault::point("rust.judge");
        let mut scene = EditContext::new(before, after, edits);
        self.view(before.clone()).ask(|it| {
            it.weigh_imports(&mut scene);
            Ok(())
        })?;
        let deltas = scene.deltas();
        if let Some(judgement) = self.view(before.clone()).ask(|it| Ok(it.of_layout(&deltas, &scene)))? {
            return Ok(judgement);
        }
        let news = texts(edits, |it| it.new.clone());
        if !may_stay {
            // What the state after needs is worked out while the state before is asked.
            *tried = self.try_beside(&news);
        }
        let (mut reach, earlier_blocks, imports, tests, modules) = self.view(before.clone()).ask(|it| {
            let reach = it.reach(&scene, &deltas);
            let mut blocks = it.misfits_of(&reach, &scene, Side::Before);
            blocks.extend(it.refused_derives(&deltas, &scene, Side::Before));
            let imports = it.imports_at_stake(&scene);
            blocks.extend(imports.values().flatten().cloned());
            Ok((reach, blocks, imports, it.tests_reaching(&deltas, &scene), it.modules_at_stake(&deltas, &scene)))
        })?;
        let reached = started.elapsed();
        let is_cut = reach.units.len() > MAX_UNITS;
        reach.units.truncate(MAX_UNITS);
        let mut earlier = self.errors_of(&reach, Side::Before, || self.view(before.clone()))?;
        earlier.extend(earlier_blocks);
        earlier.extend(scene.olds.iter().flat_map(|it| syntax_errors(it)));
        let compared = started.elapsed();
        let here = match tried {
            Some(beside) => {
                if let Some(names) = scene.told_elsewise(&deltas) {
                    self.lend_beside(&scene.backs, names.into_iter().map(str::to_owned).collect());
                }
                beside
            }
            None => tried.insert(self.try_out(&news, scene.found_elsewise(&deltas).as_ref())),
        };
        let applied = started.elapsed();
        let mut later = self.errors_of(&reach, Side::After, || self.view_of(after, here))?;
        let inferred = started.elapsed();
        let mut judgement = self.view_of(after, here).ask(|it| {
            if matches!(here, Tried::Here(_)) && !it.are_there(&modules) {
                here.give_up_memory();
            }
            later.extend(it.miscalled(&reach, &scene));
            later.extend(it.misfits_of(&reach, &scene, Side::After));
            later.extend(it.refused_derives(&deltas, &scene, Side::After));
            later.extend(scene.news.iter().flat_map(|it| syntax_errors(it)));
            let unused = imports.keys().flat_map(|at| it.unused_imports(&scene.news[*at]).found);
            later.extend(unused.map(|it| Finding::of_unused_import(&it)));
            let (mut new, mut fixed) = differ(&earlier, &later, before, after, &scene.maps);
            fixed.retain(|it| !scene.follows_from_absence(&deltas, before, it));
            let following = it.apply_rules(&reach, &deltas, &scene, &mut new);
            new.iter().chain(&following).for_each(Finding::check);
            let mut impact = it.impact(&reach.causes, &deltas, &scene, (&new, &following));
            it.tell_tests(&tests, &scene, Side::After, &mut impact);
            let [new, fixed] = [new, fixed].map(|it| it.into_iter().map(Diagnostic::from).collect());
            Ok(Judgement { new, fixed, impact, coverage: it.coverage(true) })
        })?;
        let (units, total) = (reach.units.len(), started.elapsed());
        tracing::debug!(units, ?reached, ?compared, ?applied, ?inferred, ?total, "a change judged");
        if is_cut {
            let detail = format!("more than {MAX_UNITS} bodies name what changed: the others were not checked again");
            judgement.coverage.lacks(Missing::new(MissingCode::TooMany, "rust", detail));
        }
        Ok(judgement)
    }

    /// The errors in each of these bodies, on all cores.
    fn errors_of(&self, reach: &AffectedSet<'_>, side: Side, view: impl Fn() -> View) -> Result<Vec<Finding>> {
        let units = &reach.units;
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
        let threads = cores.min(units.len()).max(1);
        let next = AtomicUsize::new(0);
        let work = |view: View| {
            view.ask(|it| {
                let mut found = Vec::new();
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(at) = unit.at(side) else { continue };
                    let with_operators = unit.edited || reach.retyped;
                    // What was not changed yet may be known already.
                    let known = it.file_id(&unit.file).filter(|_| side == Side::Before);
                    let known = known.and_then(|id| it.index.errors(id));
                    let known = known.filter(|known| !it.is_of_made(&unit.file, at) || known.made.contains(&at));
                    match known.map(|known| known.bodies.get(&at).cloned().unwrap_or_default()) {
                        // All was looked for in what is known: what was wrong is asked for again as it is after.
                        Some(errors) if with_operators || errors.is_empty() => found.extend(errors),
                        _ => {
                            let bodies = it.bodies_at(&unit.file, at).into_iter();
                            found.extend(bodies.flat_map(|body| it.errors_in(body, with_operators)));
                        }
                    }
                }
                Ok(found)
            })
        };
        std::thread::scope(|scope| {
            let helper = || std::thread::Builder::new().name("rust-judge".to_owned()).stack_size(super::STACK_BYTES);
            let views = (1..threads).map(|_| view());
            let helpers: Vec<_> = views.map(|view| helper().spawn_scoped(scope, || work(view))).collect();
            let mut found = work(view())?;
            for helper in helpers.into_iter().flatten() {
                match helper.join() {
                    Ok(more) => found.extend(more?),
                    Err(panic) => resume_unwind(panic),
                }
            }
            Ok(found)
        })
    }
}

fn texts(edits: &[FileEdit], text: impl Fn(&FileEdit) -> Option<Arc<str>>) -> Vec<(Arc<str>, Option<Arc<str>>)> {
    edits.iter().map(|it| (Arc::from(it.file.as_str()), text(it))).collect()
}

impl<'db> Context<'db> {
    /// The unused imports of the old texts, where the new ones may have others.
    fn imports_at_stake(&self, scene: &EditContext) -> BTreeMap<usize, Vec<Finding>> {
        let mut at_stake = BTreeMap::new();
        for (index, (old, new)) in scene.olds.iter().zip(&scene.news).enumerate() {
            let known = self.file_id(&old.path).and_then(|id| self.index.errors(id));
            let computed;
            let unused = match &known {
                Some(known) => &known.imports,
                None => {
                    computed = self.unused_imports(old);
                    &computed
                }
            };
            let gaps = |of: &BTreeMap<String, OffsetMap>| of.get(&*old.path).map(OffsetMap::gaps).unwrap_or_default();
            let gone = gaps(&scene.maps).into_iter().map(|it| (&*old.text, it));
            let came = gaps(&scene.backs).into_iter().map(|it| (&*new.text, it));
            let is_whole = old.outline().errors.is_empty() && new.outline().errors.is_empty();
            if scene.olds.len() > 1 || !is_whole || !scene.loose[index].is_empty() || unused.rest_on(gone.chain(came)) {
                at_stake.insert(index, unused.found.iter().map(Finding::of_unused_import).collect());
            }
        }
        at_stake
    }

    /// What of the implementations does not fit their traits.
    fn misfits_of(&self, reach: &AffectedSet<'_>, scene: &EditContext, side: Side) -> Vec<Finding> {
        let nothing = Shapes::new();
        let shapes = match side {
            Side::Before => &nothing,
            Side::After => &reach.shapes,
        };
        let mut found = Vec::new();
        for (name, at) in &reach.blocks {
            let at = match side {
                Side::Before => Some(*at),
                Side::After => scene.moved(name, *at),
            };
            if let Some((file, at)) = self.files.get(name).zip(at) {
                found.extend(self.misfits(file, at, shapes));
            }
        }
        for (index, (old, new)) in scene.olds.iter().zip(&scene.news).enumerate() {
            let (name, maps) = match side {
                Side::Before => (&old.path, &scene.maps),
                Side::After => (&new.path, &scene.backs),
            };
            let Some((file, map)) = self.files.get(name).zip(maps.get(&**name)) else { continue };
            // What is written in a block decides, and what its names mean.
            let loose = &scene.loose[index];
            let is_looked_at = |at: Span| !map.is_untouched(at) || loose.concerns(&file.text[at.start..at.end]);
            file.outline().walk(&mut |item| {
                if item.kind == SymbolKind::Impl && item.name.contains(" for ") && is_looked_at(item.span) {
                    found.extend(self.misfits(file, item.name_span.start, shapes));
                }
            });
        }
        found.sort();
        found.dedup();
        found
    }

    /// Where the code is the same nothing is asked of the state after.
    fn of_layout(&self, deltas: &[(usize, Delta<'_>)], scene: &EditContext) -> Option<Judgement> {
        if !scene.is_layout() {
            return None;
        }
        let changed = self.changed(deltas, scene, Side::Before);
        let mut impact = Impact { changed, unchecked: unchecked(), ..Impact::default() };
        self.tell_tests(&self.tests_reaching(deltas, scene), scene, Side::Before, &mut impact);
        Some(Judgement { impact, coverage: self.coverage(true), ..Judgement::nothing() })
    }

    fn tell_tests(&self, tests: &Tests, scene: &EditContext, now: Side, impact: &mut Impact) {
        impact.tests = self.told_tests(tests, scene, now);
        let detail = tests.missing.map(str::to_owned);
        impact.unchecked.extend(detail.map(|detail| Unchecked { code: "tests".to_owned(), detail }));
    }

    /// With the new errors, and those that only follow from them.
    fn impact(
        &self,
        causes: &[ChangedSymbol<'_>],
        deltas: &[(usize, Delta<'_>)],
        scene: &EditContext,
        (new, following): (&[Finding], &[Finding]),
    ) -> Impact {
        let mut impact = Impact { changed: self.changed(deltas, scene, Side::After), ..Impact::default() };
        let mut named: HashMap<(Arc<str>, usize), &ChangedSymbol<'_>> = HashMap::new();
        let mut places = Vec::new();
        for cause in causes {
            for it in &cause.occurrences {
                let Some((file, start)) = self.files.get(&it.file.path).zip(scene.moved(&it.file.path, it.at.start))
                else {
                    continue;
                };
                let line = file.lines().line(start);
                let known = named.entry((file.path.clone(), line)).or_insert(cause);
                if !known.is_itself && cause.is_itself {
                    *known = cause;
                }
                places.push((cause, file, it, start, line));
            }
        }
        let mut broken_lines: HashSet<(&str, usize)> = HashSet::new();
        let errors = new.iter().filter(|it| it.is_error()).map(|it| (it, false));
        for (diagnostic, follows) in errors.chain(following.iter().map(|it| (it, true))) {
            let Some(file) = self.files.get(&diagnostic.place.file) else { continue };
            let mut lines = diagnostic.place.line..=diagnostic.place.end_line;
            broken_lines.extend(lines.clone().map(|it| (&*diagnostic.place.file, it)));
            let cause = lines.find_map(|it| named.get(&(file.path.clone(), it)));
            impact.broken.push(Broken {
                at: Affected {
                    text: self.line(file, &diagnostic.place),
                    symbol: diagnostic.symbol.clone(),
                    cause: cause.map(|it| it.path.clone()),
                    test: is_test_at(file, diagnostic.place.start),
                    place: diagnostic.place.clone(),
                },
                code: Some(diagnostic.code.name().to_owned()).filter(|it| !it.is_empty()),
                reason: diagnostic.message.clone(),
                follows,
            });
        }
        let mut enclosing: HashMap<(&str, usize), Option<String>> = HashMap::new();
        for (cause, file, it, start, line) in places {
            let is_felt = cause.is_itself && cause.delta.as_ref().is_some_and(|it| it.1.kind != ChangeKind::Added);
            if !is_felt || broken_lines.contains(&(&*file.path, line)) {
                continue;
            }
            let at = Span::new(start, start + (it.at.end - it.at.start));
            let place = file.lines().place(&file.path, at);
            let innermost = file.outline().enclosing(start).last().map_or(0, |item| item.span.start);
            let symbol = enclosing
                .entry((&file.path, innermost))
                .or_insert_with(|| self.enclosing_path(file, it.id, start))
                .clone();
            impact.affected.push(Affected {
                text: self.line(file, &place),
                symbol,
                cause: Some(cause.path.clone()),
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

    /// Each changed declaration by the path it has where it exists.
    fn changed(&self, deltas: &[(usize, Delta<'_>)], scene: &EditContext, side: Side) -> Vec<Changed> {
        let EditContext { olds, news, .. } = scene;
        let now = |index: usize, delta: &Delta<'_>| {
            let (file, item) = match side {
                Side::Before => (&olds[index], delta.before?),
                Side::After => (&news[index], delta.after?),
            };
            self.path_of(self.definition_at(self.file_id(&file.path)?, item.name_span.start)?)
        };
        deltas
            .iter()
            .filter_map(|(index, delta)| {
                let item = delta.after.or(delta.before)?;
                let module = |file: &File| {
                    let id = self.file_id(&file.path)?;
                    Some(self.module_path(self.sema.file_to_module_def(id)?))
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
}

fn syntax_errors(file: &File) -> impl Iterator<Item = Finding> + '_ {
    file.outline().errors.iter().map(|error| Finding {
        place: file.lines().place(&file.path, error.span),
        severity: Severity::Error,
        code: Code::Syntax,
        message: error.message.clone(),
        source: ENGINE,
        symbol: None,
        rule: RuleId::Syntax,
        subject: Subject::None,
    })
}

fn unchecked() -> Vec<Unchecked> {
    let told = [
        ("borrow_checker", "lifetimes and moves were not checked: `cargo check` does"),
        (
            "macro_output",
            "of what derive and attribute macros generate, only what is named elsewhere and the code of their attributes was checked",
        ),
        ("cfg_off", "code that is switched off by `cfg` was not checked"),
    ];
    told.into_iter().map(|(code, detail)| Unchecked { code: code.to_owned(), detail: detail.to_owned() }).collect()
}
