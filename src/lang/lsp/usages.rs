//! Who uses a symbol. What the server says is compared with the text: every word of the name is a usage that it told,
//! names another thing, or is only possible. So a server that does not know everything yet is found out.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::grammar::Code;
use super::names;
use super::queries::{Found, ServerQueries};
use super::wire;
use crate::lang::files::File;
use crate::lang::rank::{self, UsageRank};
use crate::lang::view::blocking;
use crate::lang::{Condition, Result};
use crate::model::{Coverage, MissingCode, Role, Span, Usage, UsagePage, Usages, Window};

/// Files with the name that are opened before the question.
const MOST_OPENED: usize = 200;
/// Words that the server did not tell and that are looked up one by one.
const MOST_LOOKED_UP: usize = 100;
/// A server that has been up for longer does not learn more by waiting.
const LEARNING: Duration = Duration::from_secs(3);

/// A word of a text.
type At = (Arc<File>, Span);

/// All usages of a declaration.
pub async fn of(queries: &ServerQueries, found: &Found, coverage: &mut Coverage) -> Result<Usages> {
    let name = &found.item.name;
    let mut files = queries.files_with(name).await?;
    files.sort_by_key(|it| (it.path != found.file.path, it.path.clone()));
    let open: Vec<&str> = files.iter().take(MOST_OPENED).map(|it| &*it.path).collect();
    let begun = Instant::now();
    loop {
        let answer = queries.ask_at(&open, "textDocument/references", &found.file, found.item.name_span.start).await?;
        let told = match answer {
            Ok(answer) => wire::locations(&answer),
            Err(failure) => {
                failure.note(&queries.session, coverage);
                return by_text(queries, found, files).await;
            }
        };
        let told: BTreeSet<(Arc<str>, Span)> =
            told.iter().filter_map(|it| queries.place(it)).map(|(file, span)| (file.path.clone(), span)).collect();
        let own = (found.file.path.clone(), found.item.name_span.start);
        // Where a stub stands before a module, its users use the stub, though a definition is looked for behind it.
        let has_stub = own.0.ends_with(".py") && queries.files.get(&format!("{}i", own.0)).is_some();
        let knows_itself = told.iter().any(|(file, span)| *file == own.0 && span.start == own.1);
        let unaccounted = unaccounted(name, &files, &told).await?;
        let mut usages = Usages::default();
        let mut is_sound = knows_itself;
        let checked: Vec<At> = unaccounted.into_iter().take(MOST_LOOKED_UP).collect();
        let places: Vec<(Arc<File>, usize)> = checked.iter().map(|(file, span)| (file.clone(), span.start)).collect();
        let mut more = Vec::new();
        let mut possible = Vec::new();
        for (at, definitions) in checked.into_iter().zip(queries.all_definitions(&places).await?) {
            match definitions {
                Ok(definitions) if definitions.is_empty() => possible.push(at),
                Ok(definitions) => {
                    // Of a name that is declared twice, as an interface and as a constant, no one can say which is used.
                    let leads_here = definitions.iter().all(|it| {
                        queries.place(it).is_some_and(|(file, span)| {
                            file.path == own.0 && (span.start == own.1 || span.start == found.item.span.start)
                        })
                    });
                    if leads_here && !has_stub && !(at.0.path == own.0 && at.1.start == own.1) {
                        is_sound = false;
                        more.push(at);
                    }
                }
                Err(failure) => failure.note(&queries.session, coverage),
            }
        }
        let is_learning = begun.elapsed() < LEARNING;
        if !is_sound && is_learning && queries.pause().await {
            continue;
        }
        if !knows_itself {
            let detail = format!("{} does not tell `{name}` itself among its uses yet", queries.session.row.server());
            coverage.lacks(queries.session.missing(MissingCode::Indexing, detail));
        }
        let items: Vec<At> = told
            .into_iter()
            .filter(|(file, span)| !is_declaration(queries, found, file, *span))
            .filter_map(|(file, span)| Some((queries.files.get(&file)?.clone(), span)))
            .chain(more)
            .collect();
        usages.items = described(queries, items).await?;
        usages.possible = described(queries, possible).await?;
        queries.check()?;
        return Ok(usages);
    }
}

/// What a server told is no use where the symbol itself is declared: overloads, and both halves of a property.
fn is_declaration(queries: &ServerQueries, found: &Found, file: &str, span: Span) -> bool {
    if file != &*found.file.path {
        return false;
    }
    if span.start == found.item.name_span.start {
        return true;
    }
    if queries.grammar_of(file).is_none() {
        return false;
    }
    let mut is_it = false;
    found.file.outline().walk(&mut |it| {
        is_it |= it.name_span.start == span.start && names::chain(it) == names::chain(&found.item);
    });
    is_it
}

/// Words of the name in the code that the server did not tell. None without a grammar that tells code from comments.
async fn unaccounted(name: &str, files: &[Arc<File>], told: &BTreeSet<(Arc<str>, Span)>) -> Result<Vec<At>> {
    let (name, files, told) = (name.to_owned(), files.to_vec(), told.clone());
    blocking(move || {
        let mut found = Vec::new();
        for file in files {
            let Some(grammar) = file.language.and_then(|it| super::grammar::Grammar::of(it.name)) else {
                return Ok(Vec::new());
            };
            let is_told = |at: usize| {
                told.range((file.path.clone(), Span::new(at, 0))..)
                    .next()
                    .is_some_and(|it| it.0 == file.path && it.1.start == at)
            };
            let left: Vec<usize> = names::occurrences(&file, &name).into_iter().filter(|at| !is_told(*at)).collect();
            if left.is_empty() {
                continue;
            }
            let code = Code::new(Some(grammar), &file.text);
            let words = left.into_iter().map(|at| Span::new(at, at + name.len())).filter(|it| code.word(*it).is_some());
            // A declaration of another thing of that name is no use of this one.
            let declared: BTreeSet<usize> = {
                let mut declared = BTreeSet::new();
                file.outline().walk(&mut |it| declared.extend([it.name_span.start]));
                declared
            };
            found.extend(words.filter(|it| !declared.contains(&it.start)).map(|it| (file.clone(), it)));
        }
        Ok(found)
    })
    .await
}

/// Without a server: every word of the name in the code is possible.
async fn by_text(queries: &ServerQueries, found: &Found, files: Vec<Arc<File>>) -> Result<Usages> {
    let own = BTreeSet::from([(found.file.path.clone(), found.item.name_span)]);
    let words = unaccounted(&found.item.name, &files, &own).await?;
    Ok(Usages { items: Vec::new(), possible: described(queries, words).await? })
}

/// Usages as they are told: the whole line, what it stands in, what it does there.
pub async fn described(queries: &ServerQueries, places: Vec<At>) -> Result<Vec<Usage>> {
    let mut sorted = places;
    sorted.sort_by(|a, b| (&a.0.path, a.1).cmp(&(&b.0.path, b.1)));
    sorted.dedup_by(|a, b| a.0.path == b.0.path && a.1 == b.1);
    let queries = queries.clone();
    blocking(move || {
        let mut usages = Vec::with_capacity(sorted.len());
        for group in sorted.chunk_by(|a, b| a.0.path == b.0.path) {
            let Some((file, _)) = group.first() else { continue };
            let code = queries.code(file);
            let in_tests = names::is_test_file(&file.path);
            for (_, span) in group {
                let place = file.lines().place(&file.path, *span);
                let enclosing = file.outline().enclosing(span.start);
                let inner = enclosing.iter().rev().find(|it| !it.name_span.contains(span.start));
                usages.push(Usage {
                    text: file.lines().line_text(&file.text, place.line).to_owned(),
                    symbol: inner.map(|it| names::path(&file.path, it)),
                    role: code.word(*span).map_or(Role::Other, |it| it.role),
                    test: in_tests || enclosing.iter().any(|it| it.test),
                    place,
                });
            }
        }
        Ok(usages)
    })
    .await
}

/// A stretch of the usages in the order in which they are told.
pub fn page(usages: Usages, own: &str, window: Window) -> UsagePage {
    let (count, possible_count) = (usages.count(), usages.possible.len());
    let items = ordered(usages.items, own);
    let possible = ordered(usages.possible, own);
    let rest = rank::rest(window, items.len());
    UsagePage { count, possible_count, items: window.of(&items).to_vec(), possible: rest.of(&possible).to_vec() }
}

fn ordered(usages: Vec<Usage>, own: &str) -> Vec<Usage> {
    let mut file = 0;
    let mut last: Option<&str> = None;
    let ranks: Vec<UsageRank> = usages
        .iter()
        .map(|it| {
            file += usize::from(last.replace(&it.place.file).is_some_and(|last| last != it.place.file));
            UsageRank { file, at: it.place.start, test: it.test, own: it.place.file == own }
        })
        .collect();
    rank::usage_order(&ranks).into_iter().filter_map(|at| usages.get(at).cloned()).collect()
}

/// Whether the server is there to be asked.
pub fn is_up(queries: &ServerQueries) -> bool {
    queries.session.status.borrow().condition == Condition::Normal
}
