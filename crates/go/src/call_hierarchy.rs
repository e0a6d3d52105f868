//! The callers and callees of a function.
//!
//! Callers are computed from the usages, which are proved complete. As in gopls, every place in code that names the
//! function counts, whether it calls the function or uses it as a value. Callees are what gopls finds in the body.
//! Where gopls has no answer, for example for a variable's initialiser, each call in the text is resolved by itself.

use std::collections::BTreeMap;

use super::diagnostics::outside_the_build;
use super::queries::GoplsQueries;
use super::session::Failure;
use super::symbol_paths::is_test_file;
use super::unlisted_occurrences::{self, Effort};
use super::usages;
use super::{definition, further_builds, lsp_conversion, predeclared, syntax};
use crate::LANGUAGE;
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Answer, CallSite, Calls, Coverage, Missing, MissingCode, Role, Span, Symbol, SymbolKind, Usage};

/// Keyed by the declaration's file and offset.
type CallMap = BTreeMap<(String, usize), Calls>;

/// The declarations that name a function, with the places.
pub(crate) async fn callers(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    build: Option<&str>,
) -> Result<Answer<Vec<Calls>>> {
    let usages = further_builds::places::of_build(queries, symbol, build, Effort::Thorough).await?;
    let mut found = CallMap::new();
    for usage in usages.value.items.iter().filter_map(|it| usages::usage_at(queries, it)) {
        if matches!(usage.role, Role::Doc | Role::Import) {
            continue;
        }
        let Some(caller) = queries.layout.declared_around(&usage.place.file, usage.place.start) else { continue };
        let Usage { place, text, test, .. } = usage;
        note(&mut found, caller, CallSite { place, text, test });
    }
    Ok(Answer { value: found.into_values().collect(), coverage: usages.coverage })
}

/// The functions that a function or a variable's initialiser calls, with the places.
pub(crate) async fn callees(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Answer<Vec<Calls>> {
    let mut coverage = Coverage::default();
    let mut found = CallMap::new();
    let Some(file) = queries.load(&symbol.name_at.file) else {
        return Answer::lacking(Vec::new(), usages::unreadable(&symbol.name_at.file));
    };
    match symbol.kind {
        SymbolKind::Function | SymbolKind::Method => {
            of_function(queries, &file, symbol, &mut found, &mut coverage).await;
        }
        SymbolKind::Variable | SymbolKind::Const => {
            of_initialiser(queries, &file, symbol, &mut found, &mut coverage).await;
        }
        _ => {}
    }
    // Calls that could not be resolved are not in the list. For code outside the workspace it is unknown whether there
    // are any.
    if !symbol.external && coverage.complete {
        match unlisted_occurrences::is_clean(queries, &file.path).await {
            Ok(true) => {}
            Ok(false) => {
                let detail = format!("code in or around {} has errors: calls in it may be missing", file.path);
                coverage.lacks(Missing::new(MissingCode::WorkspaceBroken, file.path.to_string(), detail));
            }
            Err(failure) => failure.note(&mut coverage),
        }
    }
    Answer { value: found.into_values().collect(), coverage }
}

async fn of_function(
    queries: &GoplsQueries<'_>,
    file: &File,
    symbol: &Symbol,
    found: &mut CallMap,
    coverage: &mut Coverage,
) {
    let calls = match queries.outgoing_calls(file, symbol.name_at.start).await {
        Ok(calls) => calls,
        Err(Failure::Inapplicable(message) | Failure::Refused(message)) => {
            return coverage.lacks(outside_the_build(queries, &file.path, &message));
        }
        Err(failure) => return failure.note(coverage),
    };
    for call in calls {
        let location = gen_lsp_types::Location { uri: call.to.uri, range: call.to.selection_range };
        let Some(callee) = definition::symbol_of(queries, &location) else {
            let detail = format!("where `{}` is declared cannot be read", call.to.name);
            coverage.lacks(Missing::new(MissingCode::Unsupported, file.path.to_string(), detail));
            continue;
        };
        for range in call.from_ranges {
            note(found, callee.clone(), site(file, lsp_conversion::span(file, range)));
        }
    }
}

async fn of_initialiser(
    queries: &GoplsQueries<'_>,
    file: &File,
    symbol: &Symbol,
    found: &mut CallMap,
    coverage: &mut Coverage,
) {
    let within = symbol.place.span();
    let names = syntax::all_identifiers(&file.text);
    for name in names.into_iter().filter(|it| it.role == Role::Call && within.encloses(it.span)) {
        let locations = match queries.definition(file, name.span.start).await {
            Ok(locations) => locations,
            Err(Failure::Inapplicable(_)) => continue,
            // For example a conversion to a predeclared type.
            Err(Failure::Refused(_))
                if file.text.get(name.span.start..name.span.end).is_some_and(predeclared::is_declared) =>
            {
                continue;
            }
            Err(failure) => return failure.note(coverage),
        };
        let callee = locations.first().and_then(|it| definition::symbol_of(queries, it));
        let is_function = |it: &Symbol| matches!(it.kind, SymbolKind::Function | SymbolKind::Method);
        if let Some(callee) = callee.filter(is_function) {
            note(found, callee, site(file, name.span));
        }
    }
}

fn site(file: &File, span: Span) -> CallSite {
    let place = file.lines().place(&file.path, span);
    let text = file.lines().line_text(&file.text, place.line).to_owned();
    CallSite { test: LANGUAGE.takes(&file.path) && is_test_file(&file.path), text, place }
}

fn note(found: &mut CallMap, symbol: Symbol, site: CallSite) {
    let key = (symbol.name_at.file.clone(), symbol.name_at.start);
    found.entry(key).or_insert_with(|| Calls { symbol, calls: Vec::new() }).calls.push(site);
}
