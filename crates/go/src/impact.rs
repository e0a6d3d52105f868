//! The effect of an edit before it is made: the diagnostics that it adds and fixes, and the code that it affects. The
//! checker computes it (`checker/impact.rs`), or gopls in a dry run if the checker cannot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::declaration_changes::{self, Altered};
use super::further_builds::breaks::Planned;
use super::layout::Layout;
use super::modules::{module_of, parent, rest_of};
use super::queries::GoplsQueries;
use super::session::{SCOPE, Session};
use super::symbol_paths::is_test_file;
use super::unlisted_occurrences::{self, Effort};
use super::usages;
use super::{checker, definition, diagnostics, document_sync, external_symbols, further_builds, unindexed};
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, RenamedNames, Result, Stop};
use semdex_model::{
    Affected, Broken, ChangeImpact, Changed, Diagnostic, FileEdit, Import, Missing, MissingCode, Reaching, Severity,
    Span, Symbol, SymbolKind, Unchecked,
};
use semdex_text::diff::OffsetMap;

/// The maximum number of files checked before and after; the rest are reported as unchecked.
const MAX_FILES: usize = 400;
/// The maximum number of changed declarations whose references are looked up.
const MAX_ALTERED: usize = 200;

/// An edit with the states before and after it.
pub(super) struct EditContext {
    pub before: Arc<Files>,
    pub after: Arc<Files>,
    pub altered: Vec<Altered>,
    /// What the edit renames.
    names: RenamedNames,
    /// For the files that exist before and after: the line-based map of offsets, and its inverse.
    shifts: BTreeMap<String, [OffsetMap; 2]>,
}

/// A reference to a changed declaration, in the state before.
pub(super) struct Named {
    /// Index of the changed declaration in `altered`.
    at: usize,
    file: String,
    span: Span,
}

impl Named {
    pub(crate) fn new(at: usize, file: &str, span: Span) -> Named {
        Named { at, file: file.to_owned(), span }
    }
}

/// Reverts the texts of the dry run when dropped.
pub(super) struct Overlaid<'a>(pub(super) &'a Session);

impl Drop for Overlaid<'_> {
    fn drop(&mut self) {
        self.0.take_back();
    }
}

pub(crate) async fn run(
    session: Arc<Session>,
    files: Arc<Files>,
    generation: u64,
    edits: Vec<FileEdit>,
    deadlines: Deadlines,
) -> Result<ChangeImpact> {
    if !edits.iter().any(|edit| concerns_go(&edit.file)) {
        return Ok(ChangeImpact::nothing());
    }
    let is_input = |file: &str| concerns_go(file) || document_sync::is_manifest(file);
    let edits: Vec<FileEdit> = edits.into_iter().filter(|edit| is_input(&edit.file)).collect();
    let context = EditContext::new(files, &edits);
    let layout = session.layout(&context.before);
    let after = Layout::of(context.after.clone(), &session.context());
    // The checker does not distinguish names that are undeclared from names that are missing without cgo.
    let is_partial = |it: &FileEdit| layout.cgo_behind(&it.file).or_else(|| after.cgo_behind(&it.file)).is_some();
    let builds = session.builds(&layout);
    let planned = Planned {
        session: &session,
        layouts: [&layout, &after],
        context: &context,
        edits: &edits,
        generation,
        deadlines,
    };
    let in_builds = planned.ask(&builds);
    let default = async || -> Result<ChangeImpact> {
        let quick = match !session.trusted && edits.iter().any(is_partial) {
            true => None,
            false => checker::impact::run(&session, [&layout, &after], &context, &edits, generation, deadlines).await,
        };
        if let Some(change_impact) = quick {
            return Ok(change_impact);
        }
        let mut change_impact = by_gopls(&session, [&layout, &after], &context, &edits, generation, deadlines).await?;
        leave_manifests(&after, &edits, &mut change_impact);
        Ok(change_impact)
    };
    let (change_impact, in_builds) = futures::join!(default(), in_builds);
    let mut change_impact = change_impact?;
    planned.add(&builds, in_builds.as_deref(), &mut change_impact);
    // No build that is read includes these files, so they were not checked.
    let of_go = edits.iter().filter(|it| LANGUAGE.takes(&it.file));
    for edit in of_go.filter(|it| !layout.is_active(&it.file) && !after.is_active(&it.file)) {
        let texts = [context.before.get(&edit.file), context.after.get(&edit.file)];
        let build = texts.into_iter().flatten().find_map(|it| builds.with(it).next());
        match build {
            Some(_) if in_builds.is_some() => {}
            Some((_, build)) => change_impact.lacks(further_builds::unread(build, session.further.is_given_up())),
            None => change_impact.coverage.lacks(unlisted_occurrences::left_out(&edit.file)),
        }
    }
    report_unanswered(&mut change_impact);
    unindexed::of_change(&context.before, &mut change_impact).await?;
    Ok(change_impact)
}

/// Adds failed queries to the list of what was not checked, so that clients do not take the result as complete.
fn report_unanswered(change_impact: &mut ChangeImpact) {
    // gopls refused a request that the impact depends on.
    let is_refusal = |it: &Missing| it.code == MissingCode::Unsupported && it.scope.as_deref() == Some(SCOPE);
    let unanswered = change_impact.coverage.missing.iter().filter(|it| it.code.passes() || is_refusal(it));
    for missing in unanswered.cloned().collect::<Vec<_>>() {
        change_impact.lacks(missing);
    }
}

/// gopls reads manifests from the disk. What a planned one does to the code is not known, so neither are the errors that
/// depend on what other modules contain.
fn leave_manifests(after: &Layout, edits: &[FileEdit], change_impact: &mut ChangeImpact) {
    let Some(manifest) = edits.iter().find(|it| document_sync::is_manifest(&it.file)) else { return };
    let depends = |found: &Diagnostic| {
        let names_other_modules = || {
            let file = after.files.get(&found.place.file);
            let module = file.and_then(|it| module_of(&after.files, parent(&it.path)));
            let own = |path: &str| module.as_ref().is_some_and(|it| rest_of(path, &it.path).is_some());
            let is_other = |it: &Import| it.path.split('/').next().is_some_and(|it| it.contains('.')) && !own(&it.path);
            file.is_some_and(|it| it.outline().imports.iter().any(is_other))
        };
        found.severity == Severity::Error
            && found.source != PARSER
            && (found.message.starts_with(BROKEN_IMPORT) || names_other_modules())
    };
    change_impact.new.retain(|it| !depends(it));
    let stays = |it: &Broken| change_impact.new.iter().any(|new| new.place == it.at.place && new.message == it.reason);
    change_impact.impact.broken.retain(stays);
    let detail = format!("what the change of `{}` does to the code is known once it is made", manifest.file);
    change_impact.lacks(Missing::new(MissingCode::Manifest, manifest.file.clone(), detail));
}

/// Holds the session exclusively. In any case gopls's texts are reverted before the next request.
pub(super) async fn by_gopls(
    session: &Session,
    [layout, after]: [&Layout; 2],
    context: &EditContext,
    edits: &[FileEdit],
    generation: u64,
    deadlines: Deadlines,
) -> Result<ChangeImpact> {
    // The texts alone determine the changed declarations.
    let unanswered = |missing: Missing| {
        let mut change_impact = ChangeImpact::unanswered(missing);
        context.impact([layout, after], &BTreeMap::new(), Vec::new(), &mut change_impact);
        change_impact
    };
    let Ok(_alone) = tokio::time::timeout_at(deadlines.answer.into(), session.gate.write()).await else {
        let detail = "gopls was busy with other questions: what the change breaks was not asked";
        return Ok(unanswered(Missing::new(MissingCode::Timeout, SCOPE, detail)));
    };
    if let Err(failure) = session.ready(deadlines.ready).await {
        return Ok(unanswered(failure.missing()));
    }
    let mut change_impact = ChangeImpact::nothing();
    let current = GoplsQueries::new(session, layout, deadlines, Some(generation));
    if session.documents().generation() != generation {
        return Err(Stop::Stale);
    }

    let reach = AffectedSet::find(&current, context, &mut change_impact).await?;
    let checked = reach.files([layout, after], edits, &mut change_impact);
    let existing: Vec<String> = checked.iter().filter(|file| context.before.get(file).is_some()).cloned().collect();
    let old = diagnostics::by_file(&current, existing, &mut change_impact.coverage).await;

    session.documents().overlay(edits.iter().map(|edit| (edit.file.clone(), planned(edit))));
    let overlaid = Overlaid(session);
    let planned = GoplsQueries::new(session, after, deadlines, None);
    let remaining: Vec<String> = checked.iter().filter(|file| context.after.get(file).is_some()).cloned().collect();
    let new = diagnostics::by_file(&planned, remaining, &mut change_impact.coverage).await;
    drop(overlaid);

    if session.documents().generation() != generation {
        return Err(Stop::Stale);
    }
    // A file that was checked in one state only gives no difference.
    for file in &checked {
        let created = context.before.get(file).is_none();
        let deleted = context.after.get(file).is_none();
        match (old.get(file), new.get(file)) {
            (Some(old), Some(new)) => context.difference(file, old, new, &mut change_impact),
            (None, Some(new)) if created => change_impact.new.extend(new.iter().cloned()),
            (Some(old), None) if deleted => change_impact.fixed.extend(old.iter().cloned()),
            _ => {}
        }
    }
    let states = [CheckedState { layout, found: &old }, CheckedState { layout: after, found: &new }];
    drop_unobservable(states, &mut change_impact, |it| context.writes(it));
    change_impact.new.sort();
    change_impact.fixed.sort();
    context.impact([layout, after], &reach.symbols, reach.named, &mut change_impact);
    for edit in edits.iter().filter(|edit| edit.new.is_none()) {
        let detail = format!("{} was judged as emptied, not as deleted", edit.file);
        change_impact.impact.unchecked.push(Unchecked { code: "deleted_file".to_owned(), detail });
    }
    Ok(change_impact)
}

/// Whether this module computes the impact of a change of this file.
pub(crate) fn concerns_go(file: &str) -> bool {
    LANGUAGE.takes(file) || matches!(file.rsplit('/').next(), Some("go.mod" | "go.work"))
}

/// gopls cannot be notified of a deletion that has not happened: it is sent an empty text.
pub(super) fn planned(edit: &FileEdit) -> Arc<str> {
    match (&edit.new, &edit.old) {
        (Some(new), _) => new.clone(),
        (None, Some(old)) => {
            let clause = old.lines().find(|line| line.starts_with("package ")).unwrap_or_default();
            format!("{clause}\n").into()
        }
        (None, None) => "".into(),
    }
}

/// The references to the changed declarations, and the files to check because of them.
#[derive(Default)]
struct AffectedSet {
    named: Vec<Named>,
    files: BTreeSet<String>,
    symbols: BTreeMap<usize, Symbol>,
}

impl AffectedSet {
    async fn find(
        queries: &GoplsQueries<'_>,
        context: &EditContext,
        change_impact: &mut ChangeImpact,
    ) -> Result<AffectedSet> {
        let mut reach = AffectedSet::default();
        if context.altered.len() > MAX_ALTERED {
            let detail = format!("{} declarations change; {MAX_ALTERED} were followed", context.altered.len());
            change_impact.lacks(Missing::new(MissingCode::TooMany, SCOPE, detail));
        }
        for (at, altered) in context.altered.iter().enumerate().take(MAX_ALTERED) {
            let Some(symbol) = altered.before.as_ref().and_then(|it| declared_symbol(queries.layout, it)) else {
                reach.around(queries, altered, change_impact).await?;
                continue;
            };
            let answer = usages::of(queries, &symbol, Effort::Brief).await?;
            change_impact.coverage.absorb(answer.coverage);
            for usage in answer.value.items.into_iter().chain(answer.value.possible) {
                reach.files.insert(usage.place.file.clone());
                reach.named.push(Named::new(at, &usage.place.file, usage.place.span()));
            }
            if altered.is_seen_from_outside() {
                reach.around(queries, altered, change_impact).await?;
            }
            reach.symbols.insert(at, symbol);
        }
        Ok(reach)
    }

    /// A change of a method or field can affect every use of its type, which may no longer satisfy an interface. A
    /// change of an interface can affect every use of a type that implements it.
    async fn around(
        &mut self,
        queries: &GoplsQueries<'_>,
        altered: &Altered,
        change_impact: &mut ChangeImpact,
    ) -> Result<()> {
        let Some(declared) = altered.declared() else { return Ok(()) };
        let [parent, _] = declared.path.as_slice() else { return Ok(()) };
        if !matches!(declared.kind, SymbolKind::Method | SymbolKind::Field) {
            return Ok(());
        }
        let owner = queries.layout.siblings(&declared.file).iter().find_map(|file| {
            let symbols = queries.layout.symbols(file);
            symbols.into_iter().find(|it| it.name == *parent && is_type(it.kind))
        });
        let Some(owner) = owner else { return Ok(()) };
        let mut types = Vec::new();
        if owner.kind == SymbolKind::Interface {
            let implementations = definition::implementations(queries, &owner).await;
            change_impact.coverage.absorb(implementations.coverage);
            types.extend(implementations.value.into_iter().filter(|it| !it.external));
        }
        types.push(owner);
        // These are candidates only: one that is not found leaves no gap in an answer.
        for symbol in types {
            self.files.insert(symbol.place.file.clone());
            let Some(file) = queries.load(&symbol.name_at.file) else { continue };
            match queries.references(&file, symbol.name_at.start).await {
                Ok(locations) => {
                    self.files.extend(locations.iter().filter_map(|it| queries.session.root.file(&it.uri)))
                }
                Err(failure) => failure.note(&mut change_impact.coverage),
            }
        }
        Ok(())
    }

    /// All files to check: the edited ones, their packages, and the affected ones.
    fn files(
        &self,
        [before, after]: [&Layout; 2],
        edits: &[FileEdit],
        change_impact: &mut ChangeImpact,
    ) -> Vec<String> {
        let mut files = BTreeSet::new();
        for edit in edits {
            if LANGUAGE.takes(&edit.file) {
                files.insert(edit.file.clone());
                files.extend(before.siblings(&edit.file).iter().cloned());
            } else {
                files.extend(before.built().map(str::to_owned));
            }
        }
        files.extend(self.files.iter().cloned());
        files.retain(|file| before.is_active(file) || after.is_active(file));
        if files.len() > MAX_FILES {
            let detail = format!("{} files may be touched; {MAX_FILES} were checked", files.len());
            change_impact.lacks(Missing::new(MissingCode::TooMany, SCOPE, detail));
        }
        // The edited files come first.
        let edited: Vec<String> =
            files.iter().filter(|file| edits.iter().any(|it| it.file == **file)).cloned().collect();
        let others = files.iter().filter(|file| !edited.contains(file)).cloned().collect::<Vec<_>>();
        edited.into_iter().chain(others).take(MAX_FILES).collect()
    }
}

fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type)
}

fn declared_symbol(layout: &Layout, declared: &declaration_changes::Declared) -> Option<Symbol> {
    let file = layout.files.get(&declared.file)?;
    let place = file.lines().place(&file.path, declared.name);
    let found = external_symbols::declared_at(file, layout.package_of(&file.path)?, &place, false)?;
    Some(layout.distinct(found))
}

impl EditContext {
    pub(crate) fn new(before: Arc<Files>, edits: &[FileEdit]) -> EditContext {
        let mut after = Files::clone(&before);
        for edit in edits {
            match &edit.new {
                Some(text) => {
                    after.insert(Arc::new(crate::file(edit.file.as_str(), text.clone())));
                }
                None => {
                    after.remove(&edit.file);
                }
            }
        }
        let shifts = edits.iter().filter_map(|edit| {
            let map = OffsetMap::of_lines(&before.get(&edit.file)?.text, &after.get(&edit.file)?.text);
            let back = map.inverse();
            Some((edit.file.clone(), [map, back]))
        });
        let shifts = shifts.collect();
        let altered = declaration_changes::of(&before, &after, edits);
        let renamed = altered.iter().filter_map(|it| Some((it.before.as_ref()?.name(), it.after.as_ref()?.name())));
        let names = RenamedNames::new(renamed);
        EditContext { shifts, altered, names, after: Arc::new(after), before }
    }

    /// Sorts the diagnostics of one file into new and fixed. A diagnostic on a moved line is the same diagnostic.
    pub(crate) fn difference(
        &self,
        file: &str,
        old: &[Diagnostic],
        new: &[Diagnostic],
        change_impact: &mut ChangeImpact,
    ) {
        let Some(after) = self.after.get(file) else {
            return change_impact.fixed.extend(old.iter().cloned());
        };
        let mut left: Vec<(&Diagnostic, Option<Diagnostic>)> = old
            .iter()
            .map(|it| {
                if !self.shifts.contains_key(file) {
                    return (it, Some(it.clone()));
                }
                let moved = self.moved(file, it.place.span()).map(|span| after.lines().place(file, span));
                (it, moved.map(|place| Diagnostic { place, ..it.clone() }))
            })
            .collect();
        for found in new {
            let stays = self.stays(file, found.place.line);
            let same = |(old, moved): &(&Diagnostic, Option<Diagnostic>)| match moved {
                Some(moved) => stays && moved.place.line == found.place.line && self.is_same(moved, found),
                None => !stays && self.is_same(old, found),
            };
            match left.iter().position(same) {
                Some(at) => {
                    left.swap_remove(at);
                }
                None => change_impact.new.push(found.clone()),
            }
        }
        change_impact.fixed.extend(left.into_iter().map(|(old, moved)| moved.unwrap_or_else(|| old.clone())));
    }

    /// Whether two diagnostics say the same, in the names after the edit.
    fn is_same(&self, old: &Diagnostic, new: &Diagnostic) -> bool {
        let [was, is] = [old, new].map(|it| self.names.written_in(&it.message));
        (was, &old.code, old.severity, &old.source) == (is, &new.code, new.severity, &new.source)
    }

    /// Whether a diagnostic of the state after is on a line that the edit added.
    pub(crate) fn writes(&self, found: &Diagnostic) -> bool {
        match self.shifts.contains_key(&found.place.file) {
            true => !self.stays(&found.place.file, found.place.line),
            false => self.before.get(&found.place.file).is_none(),
        }
    }

    /// The place in the state after of a place in the state before; `None` if its line does not stay.
    pub(crate) fn moved(&self, file: &str, span: Span) -> Option<Span> {
        let Some([map, _]) = self.shifts.get(file) else { return Some(span) };
        let lines = self.before.get(file)?.lines();
        let start = lines.line_span(lines.line(span.start))?.start;
        let moved = map.part(Span::new(start, start + 1))?.start + (span.start - start);
        let moved = Span::new(moved, moved + span.end - span.start);
        (moved.end <= self.after.get(file)?.text.len()).then_some(moved)
    }

    /// Whether a line of the state after, counted from 1, exists in the state before too.
    fn stays(&self, file: &str, line: usize) -> bool {
        let Some([_, back]) = self.shifts.get(file) else { return true };
        let start = self.after.get(file).and_then(|it| it.lines().line_span(line)).map(|it| it.start);
        start.is_some_and(|start| back.part(Span::new(start, start + 1)).is_some())
    }

    pub(crate) fn impact(
        &self,
        layouts: [&Layout; 2],
        symbols: &BTreeMap<usize, Symbol>,
        named: Vec<Named>,
        change_impact: &mut ChangeImpact,
    ) {
        let impact = &mut change_impact.impact;
        let altered = self.altered.iter().enumerate();
        impact.changed = altered.map(|(at, it)| changed(layouts, symbols.get(&at), it)).collect();
        // The references to the changed declarations, at their places after the change.
        let mut references: Vec<(usize, Affected)> = Vec::new();
        for Named { at, file, span } in named {
            if let (Some(span), Some(file)) = (self.moved(&file, span), self.after.get(&file)) {
                let place = file.lines().place(&file.path, span);
                let affected = Affected {
                    build: None,
                    text: file.lines().line_text(&file.text, place.line).to_owned(),
                    symbol: layouts[1].symbol_around(&file.path, span.start),
                    cause: impact.changed.get(at).map(|it| it.symbol.clone()),
                    test: is_test_file(&file.path),
                    place,
                };
                references.push((at, affected));
            }
        }
        for found in change_impact.new.iter().filter(|it| it.severity == Severity::Error) {
            let Some(file) = self.after.get(&found.place.file) else { continue };
            let named = references.iter().find(|(_, it)| {
                it.place.file == found.place.file
                    && (it.place.span().overlaps(found.place.span()) || it.place.line == found.place.line)
            });
            let cause = named.and_then(|(_, it)| it.cause.clone()).or_else(|| self.named_in(found, &impact.changed));
            impact.broken.push(Broken {
                at: Affected {
                    build: None,
                    text: file.lines().line_text(&file.text, found.place.line).to_owned(),
                    symbol: found.symbol.clone(),
                    cause,
                    test: is_test_file(&found.place.file),
                    place: found.place.clone(),
                },
                code: found.code.clone(),
                reason: found.message.clone(),
                follows: false,
            });
        }
        let broken: BTreeSet<(&str, usize)> =
            impact.broken.iter().map(|it| (it.at.place.file.as_str(), it.at.place.line)).collect();
        let whole = |(_, it): &&(usize, Affected)| !broken.contains(&(it.place.file.as_str(), it.place.line));
        let outward = |(at, _): &&(usize, Affected)| self.altered.get(*at).is_some_and(Altered::is_seen_from_outside);
        impact.affected = references.iter().filter(outward).filter(whole).map(|(_, it)| it.clone()).collect();
        impact.tests = tests(references.into_iter().map(|(_, it)| it)).into_iter().map(Reaching::from).collect();
    }

    /// The changed declaration that a message names; the only one, if there is only one.
    pub(crate) fn named_in(&self, found: &Diagnostic, changed: &[Changed]) -> Option<String> {
        let outward: Vec<(&Altered, &Changed)> =
            self.altered.iter().zip(changed).filter(|(it, _)| it.is_seen_from_outside()).collect();
        let named = outward.iter().find(|(altered, _)| {
            let names = [&altered.before, &altered.after];
            names.into_iter().flatten().any(|it| {
                let words = found.message.split(|it: char| it != '_' && !it.is_alphanumeric());
                words.into_iter().any(|word| word == it.name())
            })
        });
        let only = || outward.first().filter(|_| outward.len() == 1);
        named.or_else(only).map(|(_, changed)| changed.symbol.clone())
    }
}

fn changed([before, after]: [&Layout; 2], known: Option<&Symbol>, altered: &Altered) -> Changed {
    let known = known.cloned();
    let old = known.or_else(|| altered.before.as_ref().and_then(|it| declared_symbol(before, it)));
    let new = altered.after.as_ref().and_then(|it| declared_symbol(after, it));
    let plain = || altered.declared().map(|it| it.path.join(".")).unwrap_or_default();
    Changed {
        symbol: old.or(new).map_or_else(plain, |it| it.path),
        kind: altered.kind,
        before: altered.before.as_ref().map(|it| it.signature.clone()),
        after: altered.after.as_ref().map(|it| it.signature.clone()),
    }
}

/// The test functions that name a changed declaration, each once.
fn tests(references: impl Iterator<Item = Affected>) -> Vec<Affected> {
    let mut seen = BTreeSet::new();
    let is_function = |path: &str| {
        let name = path.rsplit('.').next().unwrap_or(path);
        ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|it| name.starts_with(it))
    };
    references
        .filter(|it| it.test && it.symbol.as_deref().is_some_and(is_function))
        .filter(|it| seen.insert(it.symbol.clone()))
        .collect()
}

/// The source that gopls gives to diagnostics of its parser.
const PARSER: &str = "syntax";
/// The start of the message about an import that cannot be loaded.
const BROKEN_IMPORT: &str = "could not import ";

/// One state of the files with its diagnostics.
#[derive(Clone, Copy)]
pub(crate) struct CheckedState<'a> {
    pub layout: &'a Layout,
    pub found: &'a HashMap<String, Vec<Diagnostic>>,
}

impl CheckedState<'_> {
    fn has(&self, file: &str, what: impl Fn(&Diagnostic) -> bool) -> bool {
        self.found.get(file).is_some_and(|found| found.iter().any(what))
    }

    /// Whether a file's package, or one that it imports, has errors. Errors in tests do not affect other files.
    fn is_broken(&self, file: &str) -> bool {
        let is_error = |it: &Diagnostic| it.severity == Severity::Error;
        let meaning = self.layout.meaning_of(file);
        meaning.iter().filter(|it| is_test_file(file) || !is_test_file(it)).any(|it| self.has(it, is_error))
    }

    /// Whether such a diagnostic could not be found in this file. Analyzers skip a package with errors, and the type
    /// checker does not report on a file that does not parse.
    fn hides(&self, diagnostic: &Diagnostic) -> bool {
        let file = &diagnostic.place.file;
        match diagnostic.severity {
            Severity::Error => diagnostic.source != PARSER && self.has(file, |it| it.source == PARSER),
            _ => self.is_broken(file),
        }
    }
}

/// Drops diagnostics that only seem fixed because their analysis did not run after the edit. Drops warnings that only
/// seem new because their analysis did not run before, unless they are on a line that the edit wrote.
pub(crate) fn drop_unobservable(
    [before, after]: [CheckedState; 2],
    change_impact: &mut ChangeImpact,
    is_written: impl Fn(&Diagnostic) -> bool,
) {
    // A diagnostic that was found in spite of errors before can be found in spite of errors after.
    let is_hidden_after = |it: &Diagnostic| after.hides(it) && !before.hides(it);
    let is_revealed = |it: &Diagnostic| before.hides(it) && !after.hides(it);
    change_impact.fixed.retain(|it| !is_hidden_after(it));
    change_impact.new.retain(|it| it.severity == Severity::Error || !is_revealed(it) || is_written(it));
}
