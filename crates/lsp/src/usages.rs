//! Who uses a symbol. What the server says is compared with the text: every word of the name is a usage that it listed,
//! names another thing, or is only possible. So a server that does not know everything yet is found out.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::grammar::Code;
use super::queries::{Asked, ResolvedItem, ServerQueries};
use super::session::Failure;
use super::{names, unindexed, wire};
use semdex_engine::files::File;
use semdex_engine::ranking::{self, UsageRank};
use semdex_engine::{Condition, Result, blocking};
use semdex_model::{Coverage, MissingCode, OutlineItem, Role, Span, SymbolKind, Usage, UsagePage, Usages, Window};

/// Files with the name that are opened before the question.
pub(crate) const MOST_OPENED: usize = 200;
/// The same where the users of many declarations are asked for, one after the other.
const MOST_OPENED_FOR_MANY: usize = 20;
/// Words that the server did not list and that are looked up one by one.
const MOST_LOOKED_UP: usize = 500;

/// A word of a text.
pub(crate) type At = (Arc<File>, Span);
/// What a server listed: files and words.
type PlaceSet = BTreeSet<(Arc<str>, Span)>;

/// The same, and the files of the workspace that it named and that are no texts.
#[derive(Default)]
struct Listed {
    places: PlaceSet,
    no_texts: BTreeSet<String>,
}

/// All usages of a declaration. A server that does not know enough yet is asked again.
pub(crate) async fn of(queries: &ServerQueries, found: &ResolvedItem, coverage: &mut Coverage) -> Result<Usages> {
    counted(queries, found, coverage, true).await
}

/// The same as far as the server knows them now.
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
        // What includes a header that has changed is read anew, once.
        if !accounted.stale.is_empty() && !has_touched {
            has_touched = true;
            for (file, _) in &accounted.stale {
                session.documents().touch(&file.path);
            }
            continue;
        }
        accounted.possible.append(&mut accounted.stale);
        // Of these no waiting says more: they lead where they lead.
        let apart = std::mem::take(&mut accounted.apart);
        let is_sound = knows_itself && accounted.more.is_empty() && accounted.possible.is_empty();
        // A young server may only not know yet; any other may have been asked in the middle of its work.
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
        let usages =
            Usages { items: described(queries, items).await?, possible: described(queries, accounted.possible).await? };
        queries.check()?;
        return Ok(usages);
    }
}

/// What the server lists now, without the words that it does not speak of.
pub(crate) async fn listed(queries: &ServerQueries, found: &ResolvedItem) -> Result<Asked<Vec<At>>> {
    let own = declarations(queries, found);
    let is_own = |file: &str, at: usize| *file == *found.file.path && own.contains(&at);
    let files = queries.files_naming(found).await?;
    let names_it = |it: &Arc<File>| {
        it.path != found.file.path || names::occurrences(it, &found.item.name).iter().any(|at| !own.contains(at))
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

/// What the words that the server did not list are.
#[derive(Default)]
struct Accounted {
    /// They lead to the declaration all the same.
    more: Vec<At>,
    /// They lead to a declaration of the same function in another file, of which the server does not know that it is one.
    apart: Vec<At>,
    /// They lead to where a declaration stood before its file changed.
    stale: Vec<At>,
    /// Nobody can say.
    possible: Vec<At>,
    failures: Vec<Failure>,
}

async fn look_up(queries: &ServerQueries, found: &ResolvedItem, own: &[usize], words: &[At]) -> Result<Accounted> {
    let file = &found.file.path;
    let is_own = |at: &At| at.0.path == *file && own.contains(&at.1.start);
    // Where a stub stands before a module, its users use the stub, though a definition is looked for behind it.
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

/// Where the names of a symbol's declarations begin in its file: overloads, both halves of a property, a C struct and the
/// typedef of its name; the one that was found first. What a server tells there is no use.
pub(crate) fn declarations(queries: &ServerQueries, found: &ResolvedItem) -> Vec<usize> {
    let mut all = vec![found.item.name_span.start];
    if queries.grammar_of(&found.file.path).is_some() {
        found.file.outline().walk(&mut |it| {
            if names::chain(it) == names::chain(&found.item) && !all.contains(&it.name_span.start) {
                all.push(it.name_span.start);
            }
        });
    }
    all
}

/// The references of all declarations of a symbol. A server lists some of them by one: the others are asked for apart.
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
                    // A server may list places in a file that is gone.
                    let root = &queries.session.root;
                    let is_there = |it: &String| unindexed::is_of_workspace(it) && root.directory().join(it).exists();
                    listed.no_texts.extend(root.file(&location.uri).filter(is_there));
                }
            }
        }
    }
    Ok(Ok(listed))
}

/// Files that the server reads and that are not looked into may use the symbol too.
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
        // Of a file of which it tells one place the server knows all.
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
    found.has_headers().then(|| names::chain(&found.item).into_iter().map(str::to_owned).collect())
}

/// Whether another file declares the same function at this place: a prototype and what it is for. clangd takes them for
/// two things where it knows a header as one of another language, or a file as it was.
pub(crate) fn is_counterpart(found: &ResolvedItem, file: &File, at: usize) -> bool {
    let own = &found.item;
    if !found.has_headers() || file.path == found.file.path || !is_shared_function(own) {
        return false;
    }
    let mut is_it = false;
    file.outline().walk(&mut |it| {
        let is_same = it.name_span.start == at && is_shared_function(it) && names::chain(it) == names::chain(own);
        // What two files define are two things.
        is_it |= is_same && !(it.body.is_some() && own.body.is_some());
    });
    is_it
}

/// Whether the name stands where a server says that what it names is declared. That of a destructor has a sign before it.
fn is_named((file, span): &At, name: &str) -> bool {
    let text = file.text.get(span.start..).unwrap_or_default();
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let begins = |it: &str| it.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_part));
    begins(text) || text.strip_prefix('~').is_some_and(begins)
}

/// Whether it is a function that more than its own file can mean.
fn is_shared_function(item: &OutlineItem) -> bool {
    let is_internal = item.container.is_empty() && item.signature.split(' ').take(4).any(|it| it == "static");
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method) && !is_internal
}

/// Whether at most one of the files defines a function of this path, so that all who declare it mean that one.
async fn is_defined_once(found: &ResolvedItem, files: &[Arc<File>]) -> Result<bool> {
    let (item, files) = (found.item.clone(), files.to_vec());
    blocking(move || {
        let mut count = 0;
        for file in files {
            let mut defines = false;
            file.outline().walk(&mut |it| {
                let is_same = is_shared_function(it) && names::chain(it) == names::chain(&item);
                defines |= is_same && it.body.is_some();
            });
            count += usize::from(defines);
        }
        Ok(count <= 1)
    })
    .await
}

/// Words of the name in the code that the server did not list. Without a grammar every word may be code. `apart`: of
/// this path another file's declaration may be one of the same symbol.
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
            let occurrences = names::occurrences(&file, &name);
            let left: Vec<usize> =
                occurrences.into_iter().filter(|at| !is_listed(&references, &file.path, *at)).collect();
            if left.is_empty() {
                continue;
            }
            let code = Code::new(grammar, &file.text);
            let words = left.into_iter().map(|at| Span::new(at, at + name.len())).filter(|it| code.word(*it).is_some());
            // A declaration of another thing of that name is no use of this one.
            let declared: BTreeSet<usize> = {
                let mut declared = BTreeSet::new();
                file.outline().walk(&mut |it| {
                    let may_be_it = apart.as_ref().is_some_and(|apart| names::chain(it) == *apart);
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

/// Without a server: every word of the name in the code is possible.
async fn by_text(queries: &ServerQueries, found: &ResolvedItem, files: Vec<Arc<File>>) -> Result<Usages> {
    let own = BTreeSet::from([(found.file.path.clone(), found.item.name_span)]);
    let words = unaccounted(&found.item.name, &files, &own, declared_apart(found)).await?;
    Ok(Usages { items: Vec::new(), possible: described(queries, words).await? })
}

/// Usages as they are reported: the whole line, what it stands in, what it does there.
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

/// A stretch of the usages in the order in which they are reported.
pub(crate) fn page(usages: Usages, own: &str, window: Window) -> UsagePage {
    let (count, possible_count) = (usages.count(), usages.possible.len());
    let items = ordered(usages.items, own);
    let possible = ordered(usages.possible, own);
    let rest = ranking::rest(window, items.len());
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
    ranking::usage_order(&ranks).into_iter().filter_map(|at| usages.get(at).cloned()).collect()
}

/// Whether the server is there to be asked.
pub(crate) fn is_up(queries: &ServerQueries) -> bool {
    queries.session.status.borrow().condition == Condition::Normal
}
