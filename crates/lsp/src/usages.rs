//! The usages of a symbol. The server's references are compared with the text: every occurrence of the name is a listed
//! reference, refers to another symbol, or is only possible. This detects a server that does not know everything yet.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::grammar::Code;
use super::queries::{Asked, ResolvedItem, ServerQueries};
use super::session::Failure;
use super::{symbol_paths, unindexed, wire};
use semdex_engine::files::File;
use semdex_engine::ranking::{self, UsageRank};
use semdex_engine::{Condition, Result, blocking};
use semdex_fs::holds;
use semdex_model::{Coverage, Doubt, MissingCode, PossibleReason, Role, Span, Usage, UsagePage, Usages, Window};

/// The most files with the name that are opened before the request.
pub(crate) const MOST_OPENED: usize = 200;
/// The same if the users of many declarations are requested one after another.
const MOST_OPENED_FOR_MANY: usize = 20;
/// The most occurrences that the server did not list and that are looked up one by one.
const MOST_LOOKED_UP: usize = 500;

/// A word in a text.
pub(crate) type At = (Arc<File>, Span);
/// The files and words that a server listed.
type PlaceSet = BTreeSet<(Arc<str>, Span)>;

/// The same, and the files of the workspace that it listed and that are not indexed.
#[derive(Default)]
struct Listed {
    places: PlaceSet,
    no_texts: BTreeSet<String>,
}

/// All usages of a declaration. The request is repeated if the server does not know enough yet.
pub(crate) async fn of(queries: &ServerQueries, found: &ResolvedItem, coverage: &mut Coverage) -> Result<Usages> {
    counted(queries, found, coverage, true).await
}

/// The usages that the server knows now.
pub(crate) async fn known(queries: &ServerQueries, found: &ResolvedItem, coverage: &mut Coverage) -> Result<Usages> {
    counted(queries, found, coverage, false).await
}

async fn counted(
    queries: &ServerQueries,
    found: &ResolvedItem,
    coverage: &mut Coverage,
    waits: bool,
) -> Result<Usages> {
    let (session, name) = (&queries.session, &found.item.name);
    let files = queries.files_naming(found).await?;
    let open: Vec<&str> = files.iter().take(MOST_OPENED).map(|it| &*it.path).collect();
    let mut is_first = true;
    let mut has_touched = false;
    let own = declarations(queries, found);
    unindexed::naming(queries, name).await?.into_iter().for_each(|it| coverage.lacks(it));
    loop {
        let Listed { places: references, no_texts } = match references_of(queries, found, &own, &open).await? {
            Ok(listed) => listed,
            Err(failure) => {
                failure.note(session, coverage);
                return by_text(queries, found, files).await;
            }
        };
        let knows_itself = is_listed(&references, &found.file.path, found.item.name_span.start);
        let unaccounted = unaccounted(name, &files, &references, declared_apart(found)).await?;
        let mut accounted = look_up(queries, found, &own, &unaccounted).await?;
        // A file that includes a changed header is read again, once.
        if !accounted.stale.is_empty() && !has_touched {
            has_touched = true;
            for (file, _) in &accounted.stale {
                session.documents().touch(&file.path);
            }
            continue;
        }
        accounted.possible.append(&mut accounted.stale);
        // Waiting does not change these: their definitions are known.
        let apart = std::mem::take(&mut accounted.apart);
        let is_sound = knows_itself && accounted.more.is_empty() && accounted.possible.is_empty();
        // A server that has just started may not know everything yet. Any other may have been asked during its work.
        let may_learn = session.is_young() || (is_first && !(knows_itself && accounted.more.is_empty()));
        is_first = false;
        if waits && !is_sound && may_learn && queries.pause().await {
            continue;
        }
        if !knows_itself {
            let detail = format!("{} does not tell `{name}` itself among its uses yet", session.row.server());
            coverage.lacks(session.missing(MissingCode::Indexing, detail));
        }
        note_unread(queries, found, (&references, &no_texts), coverage).await?;
        if unaccounted.len() > MOST_LOOKED_UP {
            let detail = format!(
                "{} more places hold the word `{name}`; {MOST_LOOKED_UP} were looked up, the others are listed as possible",
                unaccounted.len()
            );
            coverage.lacks(session.missing(MissingCode::TooMany, detail));
            accounted.possible.extend(unaccounted.into_iter().skip(MOST_LOOKED_UP));
        }
        accounted.failures.into_iter().for_each(|it| it.note(session, coverage));
        if !apart.is_empty() {
            match is_defined_once(found, &files).await? {
                true => accounted.more.extend(apart),
                false => accounted.possible.extend(apart),
            }
        }
        if !accounted.possible.is_empty() {
            let detail = format!(
                "{} does not say what `{name}` means at {} of its places: they are listed as possible",
                session.row.server(),
                accounted.possible.len()
            );
            coverage.lacks(session.missing(MissingCode::Unsupported, detail));
        }
        let items: Vec<At> = references
            .into_iter()
            .filter(|(file, span)| !(*file == found.file.path && own.contains(&span.start)))
            .filter_map(|(file, span)| Some((queries.files.get(&file)?.clone(), span)))
            .chain(accounted.more)
            .collect();
        let detail = format!("{} does not say what it means", session.row.server());
        let possible = doubted(described(queries, accounted.possible).await?, &detail);
        let usages = Usages { items: described(queries, items).await?, possible };
        queries.check()?;
        return Ok(usages);
    }
}

/// The references that the server lists now, without a comparison with the text.
pub(crate) async fn listed(queries: &ServerQueries, found: &ResolvedItem) -> Result<Asked<Vec<At>>> {
    let own = declarations(queries, found);
    let is_own = |file: &str, at: usize| *file == *found.file.path && own.contains(&at);
    let files = queries.files_naming(found).await?;
    let names_it = |it: &Arc<File>| {
        it.path != found.file.path || symbol_paths::occurrences(it, &found.item.name).iter().any(|at| !own.contains(at))
    };
    if !files.iter().any(names_it) {
        return Ok(Ok(Vec::new()));
    }
    let open: Vec<&str> = files.iter().take(MOST_OPENED_FOR_MANY).map(|it| &*it.path).collect();
    let references = references_of(queries, found, &own, &open).await?;
    Ok(references.map(|listed| {
        let others = listed.places.into_iter().filter(|(file, span)| !is_own(file, span.start));
        others.filter_map(|(file, span)| Some((queries.files.get(&file)?.clone(), span))).collect()
    }))
}

/// The occurrences that the server did not list, by what they refer to.
#[derive(Default)]
struct Accounted {
    /// References to the declaration.
    more: Vec<At>,
    /// References to a declaration of the same function in another file that the server treats as another symbol.
    apart: Vec<At>,
    /// References to where a declaration was before its file changed.
    stale: Vec<At>,
    /// Unknown.
    possible: Vec<At>,
    failures: Vec<Failure>,
}

async fn look_up(queries: &ServerQueries, found: &ResolvedItem, own: &[usize], words: &[At]) -> Result<Accounted> {
    let file = &found.file.path;
    let is_own = |at: &At| at.0.path == *file && own.contains(&at.1.start);
    // If a module has a stub, its users refer to the stub, although a definition request leads to the module.
    let has_stub = file.ends_with(".py") && queries.files.get(&format!("{file}i")).is_some();
    let mut accounted = Accounted::default();
    let asked = words.get(..MOST_LOOKED_UP).unwrap_or(words);
    let places: Vec<(Arc<File>, usize)> = asked.iter().map(|(file, span)| (file.clone(), span.start)).collect();
    for (at, definitions) in asked.iter().cloned().zip(queries.all_definitions(&places).await?) {
        match definitions {
            Ok(definitions) if definitions.is_empty() => accounted.possible.push(at),
            Ok(definitions) => {
                let targets: Vec<Option<At>> = definitions.iter().map(|it| queries.place(it)).collect();
                let is_here = |it: &At| is_own(it) || (it.0.path == *file && it.1.start == found.item.span.start);
                let is_either = |it: &At| is_here(it) || is_counterpart(found, &it.0, it.1.start);
                if has_stub || is_own(&at) || targets.iter().any(Option::is_none) {
                    continue;
                }
                if targets.iter().flatten().all(is_here) {
                    accounted.more.push(at);
                } else if targets.iter().flatten().all(is_either) {
                    accounted.apart.push(at);
                } else if found.has_headers() && targets.iter().flatten().any(|it| !is_named(it, &found.item.name)) {
                    accounted.stale.push(at);
                }
            }
            Err(failure) => {
                accounted.possible.push(at);
                if !accounted.failures.contains(&failure) {
                    accounted.failures.push(failure);
                }
            }
        }
    }
    accounted.possible.retain(|it| !is_own(it));
    Ok(accounted)
}

/// The offsets of all declarations of a symbol in its file: overloads, both accessors of a property, a C struct and the
/// typedef of its name. The found one is first. References there are not usages.
pub(crate) fn declarations(queries: &ServerQueries, found: &ResolvedItem) -> Vec<usize> {
    let mut all = vec![found.item.name_span.start];
    if queries.grammar_of(&found.file.path).is_some() {
        found.file.outline().walk(&mut |it| {
            if symbol_paths::chain(it) == symbol_paths::chain(&found.item) && !all.contains(&it.name_span.start) {
                all.push(it.name_span.start);
            }
        });
    }
    all
}

/// The references of all declarations of a symbol. A server may list several declarations with one of them. Only the
/// rest are requested separately.
async fn references_of(
    queries: &ServerQueries,
    found: &ResolvedItem,
    own: &[usize],
    open: &[&str],
) -> Result<Asked<Listed>> {
    let mut listed = Listed::default();
    for &at in own {
        if is_listed(&listed.places, &found.file.path, at) {
            continue;
        }
        let answer = match queries.ask_at(open, "textDocument/references", &found.file, at).await? {
            Ok(answer) => wire::locations(&answer),
            Err(failure) => return Ok(Err(failure)),
        };
        for location in &answer {
            match queries.place(location) {
                Some((file, span)) => drop(listed.places.insert((file.path.clone(), span))),
                None => {
                    // A server may list places in a file that no longer exists.
                    let root = &queries.session.root;
                    let is_there = |it: &String| {
                        let file = root.directory().join(it);
                        unindexed::is_of_workspace(it) && holds(root.directory(), &file) && file.exists()
                    };
                    listed.no_texts.extend(root.file(&location.uri).filter(is_there));
                }
            }
        }
    }
    Ok(Ok(listed))
}

/// Adds the missing coverage for files that are not indexed and may use the symbol.
async fn note_unread(
    queries: &ServerQueries,
    found: &ResolvedItem,
    (places, no_texts): (&PlaceSet, &BTreeSet<String>),
    coverage: &mut Coverage,
) -> Result<()> {
    let name = &found.item.name;
    let is_told = |coverage: &Coverage, file: &str| coverage.missing.iter().any(|it| it.scope.as_deref() == Some(file));
    for file in no_texts.iter().filter(|it| !is_told(coverage, it)).collect::<Vec<_>>() {
        coverage.lacks(unindexed::of_no_text(file, name));
    }
    for file in unindexed::included(queries, found).await? {
        // If the server lists one place in a file, it knows all of them.
        if !places.iter().any(|it| it.0 == file.path) {
            coverage.lacks(unindexed::of_no_language(&file.path, name));
        }
    }
    Ok(())
}

fn is_listed(references: &PlaceSet, file: &Arc<str>, at: usize) -> bool {
    references.range((file.clone(), Span::new(at, 0))..).next().is_some_and(|it| it.0 == *file && it.1.start == at)
}

/// The path of a symbol that several files may declare.
fn declared_apart(found: &ResolvedItem) -> Option<Vec<String>> {
    found.has_headers().then(|| symbol_paths::chain(&found.item).into_iter().map(str::to_owned).collect())
}

/// Whether another file declares the same function at this offset: a prototype or its definition. clangd treats them as
/// two symbols if it parses the header as another language, or has an outdated version of the file.
pub(crate) fn is_counterpart(found: &ResolvedItem, file: &File, at: usize) -> bool {
    if !found.has_headers() || file.path == found.file.path {
        return false;
    }
    let mut is_it = false;
    file.outline().walk(&mut |it| {
        is_it |= it.name_span.start == at && symbol_paths::are_of_one_function(&found.item, it);
    });
    is_it
}

/// Whether the name is at the place that the server reports as its declaration. The name of a destructor follows a `~`.
fn is_named((file, span): &At, name: &str) -> bool {
    let text = file.text.get(span.start..).unwrap_or_default();
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let begins = |it: &str| it.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_part));
    begins(text) || text.strip_prefix('~').is_some_and(begins)
}

/// Whether at most one of the files defines a function with this path, so that all declarations refer to that one.
async fn is_defined_once(found: &ResolvedItem, files: &[Arc<File>]) -> Result<bool> {
    let (item, files) = (found.item.clone(), files.to_vec());
    blocking(move || {
        let mut count = 0;
        for file in files {
            let mut defines = false;
            file.outline().walk(&mut |it| {
                let is_same =
                    symbol_paths::is_shared_function(it) && symbol_paths::chain(it) == symbol_paths::chain(&item);
                defines |= is_same && it.body.is_some();
            });
            count += usize::from(defines);
        }
        Ok(count <= 1)
    })
    .await
}

/// The occurrences of the name in the code that the server did not list. Without a grammar, every occurrence may be
/// code. `apart`: a declaration with this path in another file may be one of the same symbol.
async fn unaccounted(
    name: &str,
    files: &[Arc<File>],
    references: &PlaceSet,
    apart: Option<Vec<String>>,
) -> Result<Vec<At>> {
    let (name, files, references) = (name.to_owned(), files.to_vec(), references.clone());
    blocking(move || {
        let mut found = Vec::new();
        for file in files {
            let grammar = file.language.and_then(|it| super::grammar::Grammar::of(it.name));
            let occurrences = symbol_paths::occurrences(&file, &name);
            let left: Vec<usize> =
                occurrences.into_iter().filter(|at| !is_listed(&references, &file.path, *at)).collect();
            if left.is_empty() {
                continue;
            }
            let code = Code::new(grammar, &file.text);
            let words = left.into_iter().map(|at| Span::new(at, at + name.len())).filter(|it| code.word(*it).is_some());
            // A declaration of another symbol with that name is not a use of this one.
            let declared: BTreeSet<usize> = {
                let mut declared = BTreeSet::new();
                file.outline().walk(&mut |it| {
                    let may_be_it = apart.as_ref().is_some_and(|apart| symbol_paths::chain(it) == *apart);
                    declared.extend((!may_be_it).then_some(it.name_span.start));
                });
                declared
            };
            found.extend(words.filter(|it| !declared.contains(&it.start)).map(|it| (file.clone(), it)));
        }
        Ok(found)
    })
    .await
}

/// Without a server, every occurrence of the name in the code is a possible usage.
async fn by_text(queries: &ServerQueries, found: &ResolvedItem, files: Vec<Arc<File>>) -> Result<Usages> {
    let own = BTreeSet::from([(found.file.path.clone(), found.item.name_span)]);
    let words = unaccounted(&found.item.name, &files, &own, declared_apart(found)).await?;
    let detail = format!("{} does not answer", queries.session.row.server());
    Ok(Usages { items: Vec::new(), possible: doubted(described(queries, words).await?, &detail) })
}

/// Notes why these usages are only possible.
fn doubted(usages: Vec<Usage>, detail: &str) -> Vec<Usage> {
    let doubt = Doubt { reason: PossibleReason::Unresolved, detail: detail.to_owned() };
    usages.into_iter().map(|it| Usage { doubt: Some(doubt.clone()), ..it }).collect()
}

/// Converts places to usages: the whole line, the enclosing symbol, and the role.
pub(crate) async fn described(queries: &ServerQueries, places: Vec<At>) -> Result<Vec<Usage>> {
    let mut sorted = places;
    sorted.sort_by(|a, b| (&a.0.path, a.1).cmp(&(&b.0.path, b.1)));
    sorted.dedup_by(|a, b| a.0.path == b.0.path && a.1 == b.1);
    let queries = queries.clone();
    blocking(move || {
        let mut usages = Vec::with_capacity(sorted.len());
        for group in sorted.chunk_by(|a, b| a.0.path == b.0.path) {
            let Some((file, _)) = group.first() else { continue };
            let code = queries.code(file);
            let in_tests = symbol_paths::is_test_file(&file.path);
            for (_, span) in group {
                let place = file.lines().place(&file.path, *span);
                let enclosing = file.outline().enclosing(span.start);
                let inner = enclosing.iter().rev().find(|it| !it.name_span.contains(span.start));
                usages.push(Usage {
                    text: file.lines().line_text(&file.text, place.line).to_owned(),
                    symbol: inner.map(|it| symbol_paths::path(&file.path, it)),
                    role: code.word(*span).map_or(Role::Other, |it| it.role),
                    test: in_tests || enclosing.iter().any(|it| it.test),
                    build: None,
                    calls: None,
                    doubt: None,
                    place,
                });
            }
        }
        Ok(usages)
    })
    .await
}

/// A page of the usages in the order of the report.
pub(crate) fn page(usages: Usages, own: &str, window: Window) -> UsagePage {
    let (count, possible_count) = (usages.count(), usages.possible.len());
    let items = ordered(usages.items, own);
    let possible = ordered(usages.possible, own);
    let rest = ranking::rest(window, possible.len());
    UsagePage {
        count,
        possible_count,
        items: rest.of(&items).to_vec(),
        possible: window.of(&possible).to_vec(),
        outside_builds: Vec::new(),
    }
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
    ranking::usage_order(&ranks).into_iter().filter_map(|at| usages.get(at).cloned()).collect()
}

/// Whether the server is available.
pub(crate) fn is_up(queries: &ServerQueries) -> bool {
    queries.session.status.borrow().condition == Condition::Normal
}
