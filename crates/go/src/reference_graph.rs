//! The reference graph: which declarations each file refers to, and how often. It is the inverse of the usage index.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::layout::Layout;
use super::queries::GoplsQueries;
use super::session::SCOPE;
use super::symbol_paths::{flatten, is_test_file};
use super::unlisted_occurrences::Effort;
use super::usage_index::Places;
use super::usages;
use crate::LANGUAGE;
use semdex_engine::{Result, blocking};
use semdex_model::{
    Answer, Coverage, Declared, FileReferences, Missing, MissingCode, Reference, References, Symbol, SymbolKind,
};

/// Symbols in one query to the checker, so that other queries need not wait long.
const SYMBOLS_PER_QUERY: usize = 200;

/// The declarations of a file, members included.
struct Listed {
    file: Arc<str>,
    package: String,
    symbols: Vec<Symbol>,
}

/// Covers all files of the workspace. Usages that are not in the index are computed until the deadline.
pub(crate) async fn of(queries: &GoplsQueries<'_>, layout: &Arc<Layout>) -> Result<Answer<Arc<References>>> {
    let of = layout.clone();
    let listed = blocking(move || Ok(listed(&of))).await?;
    learn(queries, &listed).await;
    let mut coverage = Coverage::default();
    let mut places: Vec<(u32, u32, Arc<Places>)> = Vec::new();
    let (mut unread, mut uncertain) = (0, 0);
    let mut is_answering = true;
    for (position, listed) in (0_u32..).zip(&listed) {
        // No code can name a declaration that no build includes.
        for symbol in listed.symbols.iter().filter(|it| it.name != "_" && queries.layout.is_built(&it.name_at.file)) {
            let Some(answer) = answer_for(queries, symbol, is_answering).await? else {
                unread += 1;
                continue;
            };
            let passing = answer.coverage.missing.iter().any(|it| it.code.passes());
            unread += usize::from(passing);
            // If a query about one symbol fails, the next one would fail too.
            is_answering &= !passing;
            uncertain += usize::from(!passing && !answer.coverage.complete);
            places.push((position, symbol.name_at.start as u32, answer.value));
        }
    }
    if unread > 0 {
        let detail = format!(
            "the usages of {unread} symbols are being read: ask again, or give a longer `wait_ms`; until then what \
             they are used by counts less"
        );
        coverage.lacks(Missing::new(MissingCode::Indexing, SCOPE, detail));
    }
    if uncertain > 0 {
        let detail =
            format!("{uncertain} symbols are perhaps used in files that the build leaves out, which is not counted");
        coverage.note(Missing::new(MissingCode::CfgOff, LANGUAGE.name, detail));
    }
    let value = blocking(move || Ok(Arc::new(references(listed, &places)))).await?;
    Ok(Answer { value, coverage })
}

fn listed(layout: &Layout) -> Vec<Listed> {
    let files = layout.files.of(LANGUAGE).map(|file| {
        let mut symbols = Vec::new();
        layout.symbols(&file.path).iter().for_each(|it| flatten(it, &mut symbols));
        let package = layout.package_of(&file.path).unwrap_or_default().to_owned();
        Listed { file: file.path.clone(), package, symbols }
    });
    files.collect()
}

/// Lets the checker compute the usages that are not in the index.
async fn learn(queries: &GoplsQueries<'_>, listed: &[Listed]) {
    let Some(generation) = queries.generation else { return };
    let all = listed.iter().flat_map(|it| &it.symbols).filter(|it| queries.layout.is_built(&it.name_at.file));
    let unknown: Vec<Symbol> = all.filter(|it| !queries.session.index.knows(generation, it)).cloned().collect();
    for some in unknown.chunks(SYMBOLS_PER_QUERY) {
        if Instant::now() > queries.deadlines.answer {
            return;
        }
        usages::learn(queries, some).await;
        tokio::task::yield_now().await;
    }
}

/// The usages of a symbol from the index, else computed before the deadline.
async fn answer_for(queries: &GoplsQueries<'_>, symbol: &Symbol, ask: bool) -> Result<Option<Answer<Arc<Places>>>> {
    let known = queries.generation.and_then(|it| queries.session.index.places(it, symbol));
    if known.is_some() || !ask || Instant::now() > queries.deadlines.answer {
        return Ok(known);
    }
    let asked = usages::places(queries, symbol, Effort::Brief);
    match tokio::time::timeout_at(queries.deadlines.answer.into(), asked).await {
        Ok(answer) => answer.map(Some),
        Err(_) => Ok(None),
    }
}

fn references(listed: Vec<Listed>, places: &[(u32, u32, Arc<Places>)]) -> References {
    let positions: HashMap<&str, usize> = listed.iter().enumerate().map(|(at, it)| (&*it.file, at)).collect();
    let mut uses: Vec<Vec<Reference>> = listed.iter().map(|_| Vec::new()).collect();
    for (file, at, places) in places {
        for spots in places.files() {
            let Some(user) = spots.first().and_then(|it| positions.get(&*it.file)).and_then(|it| uses.get_mut(*it))
            else {
                continue;
            };
            let count = spots.len() as f32;
            let tests = if spots.first().is_some_and(|it| is_test_file(&it.file)) { count } else { 0.0 };
            user.push(Reference { file: *file, at: *at, count, tests });
        }
    }
    drop(positions);
    let files = listed.into_iter().zip(uses).map(|(listed, uses)| FileReferences {
        test: is_test_file(&listed.file),
        declared: listed.symbols.into_iter().filter(is_path_of_its_own).map(declared).collect(),
        file: listed.file,
        package: listed.package,
        uses,
    });
    References { files: files.collect() }
}

/// A field is a part of its type's declaration.
fn is_path_of_its_own(symbol: &Symbol) -> bool {
    symbol.kind != SymbolKind::Field && symbol.name != "_"
}

fn declared(symbol: Symbol) -> Declared {
    Declared { at: symbol.name_at.start, path: symbol.path }
}
