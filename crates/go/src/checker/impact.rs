//! The impact of a change, computed by the checker: it sends nothing to gopls and does not wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::{Answered, Fault, Spot};
use crate::impact::{CheckedState, EditContext, Named, drop_unobservable};
use crate::layout::Layout;
use crate::session::Session;
use crate::symbol_paths::is_test_file;
use semdex_engine::Deadlines;
use semdex_engine::files::Files;
use semdex_model::{
    Affected, ChangeImpact, Changed, Diagnostic, FileEdit, Missing, MissingCode, Reaching, Severity, Span, Unchecked,
};

/// `None` if the checker cannot compute it.
pub(crate) async fn run(
    session: &Session,
    [before, after]: [&Layout; 2],
    context: &EditContext,
    edits: &[FileEdit],
    generation: u64,
    deadlines: Deadlines,
) -> Option<ChangeImpact> {
    let begun = Instant::now();
    let key = |it: &crate::declaration_changes::Declared| {
        let package = before.package_of(&it.file)?;
        Some(format!("{package}.{}", it.path.join(".")))
    };
    // An added declaration has no uses before the change.
    let symbols = context.altered.iter().map(|it| it.before.as_ref().and_then(key).unwrap_or_default()).collect();
    let states = [&*context.before, &*context.after];
    let answered = super::ask(session, states, edits, symbols, generation, deadlines.answer).await?;
    let asked = begun.elapsed();
    let mut change_impact = impact_of(context, [before, after], &answered);
    let detail = "what the analyzers of `go vet` find, like a wrong format of Printf, was not looked for";
    change_impact.impact.unchecked.push(Unchecked { code: "vet".to_owned(), detail: detail.to_owned() });
    if let Some(packages) = answered.elsewhere.filter(|it| !it.is_empty()) {
        let detail = format!("packages of other modules that import what changes break: {}", packages.join(", "));
        change_impact.impact.unchecked.push(Unchecked { code: "other_modules".to_owned(), detail });
    }
    for folder in answered.unloaded.iter().flatten() {
        let file = format!("{folder}/go.mod");
        let detail = format!(
            "`{file}` makes a new module: of its packages only those that other modules import were checked; the rest \
             is known once it exists"
        );
        change_impact.lacks(Missing::new(MissingCode::Manifest, file, detail));
    }
    let (checked, answered) = (answered.checked, answered.answered);
    tracing::debug!(checked, answered, ?asked, total = ?begun.elapsed(), "the impact of a change computed");
    Some(change_impact)
}

/// Without gopls in any case.
#[cfg(test)]
pub(crate) async fn alone(
    session: &Session,
    files: std::sync::Arc<Files>,
    edits: &[FileEdit],
    generation: u64,
    deadlines: Deadlines,
) -> Option<ChangeImpact> {
    let context = EditContext::new(files, edits);
    let after = Layout::of(context.after.clone(), &session.context());
    run(session, [&*session.layout(&context.before), &after], &context, edits, generation, deadlines).await
}

fn impact_of(context: &EditContext, layouts: [&Layout; 2], answered: &Answered) -> ChangeImpact {
    let mut change_impact = ChangeImpact::nothing();
    let [before, after] = layouts;
    let old = by_file(before, answered.before.as_deref().unwrap_or_default());
    let new = by_file(after, answered.after.as_deref().unwrap_or_default());
    let none = Vec::new();
    for file in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        let (old, new) = (old.get(file).unwrap_or(&none), new.get(file).unwrap_or(&none));
        context.difference(file, old, new, &mut change_impact);
    }
    let states = [CheckedState { layout: before, found: &old }, CheckedState { layout: after, found: &new }];
    drop_unobservable(states, &mut change_impact, |it| context.writes(it));
    change_impact.new.sort();
    change_impact.fixed.sort();
    let uses = answered.uses.iter().flatten().enumerate();
    let named = uses.flat_map(|(at, spots)| spots.iter().flatten().map(move |it| Named::new(at, &it.file, it.span())));
    context.impact(layouts, &BTreeMap::new(), named.collect(), &mut change_impact);
    change_impact.impact.tests = tests_of(context, after, &change_impact.impact.changed, answered);
    change_impact
}

pub(crate) fn by_file(layout: &Layout, faults: &[Fault]) -> std::collections::HashMap<String, Vec<Diagnostic>> {
    let mut found = std::collections::HashMap::<String, Vec<Diagnostic>>::new();
    for fault in faults.iter().collect::<BTreeSet<_>>() {
        if let Some(diagnostic) = diagnostic(layout, fault) {
            found.entry(fault.file.clone()).or_default().push(diagnostic);
        }
    }
    found
}

fn diagnostic(layout: &Layout, fault: &Fault) -> Option<Diagnostic> {
    let file = layout.files.get(&fault.file)?;
    let place = file.lines().place(&file.path, Span::new(fault.start, fault.end.max(fault.start)));
    Some(Diagnostic {
        severity: Severity::Error,
        code: fault.code.clone(),
        message: fault.message.clone(),
        source: fault.source.clone(),
        symbol: layout.symbol_around(&file.path, place.start),
        confirmed: None,
        build: None,
        place,
    })
}

impl Spot {
    pub(crate) fn span(&self) -> Span {
        Span::new(self.start, self.end.max(self.start))
    }
}

/// The tests that reach the change, nearest first, at their places in the text after it.
pub(crate) fn tests_of(
    context: &EditContext,
    after: &Layout,
    changed: &[Changed],
    answered: &Answered,
) -> Vec<Reaching> {
    let files: &Files = &context.after;
    let reaching = answered.tests.iter().flatten().filter_map(|it| {
        let file = files.get(&it.place.file)?;
        let place = file.lines().place(&file.path, context.moved(&it.place.file, it.place.span())?);
        let at = Affected {
            build: None,
            text: file.lines().line_text(&file.text, place.line).to_owned(),
            symbol: after.symbol_around(&file.path, place.start),
            cause: changed.get(it.of).map(|it| it.symbol.clone()),
            test: is_test_file(&file.path),
            place,
        };
        Some(Reaching { at, distance: Some(it.distance) })
    });
    reaching.collect()
}
