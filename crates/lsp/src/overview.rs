//! The overview of a file, and the search for symbols by parts of their names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;

use super::import_graph::imported;
use super::queries::{AT_ONCE, ResolvedItem, ServerQueries};
use super::{symbol_paths, usages};
use semdex_engine::files::{File, Files};
use semdex_engine::{Result, blocking, ranking};
use semdex_model::{
    Answer, Code, Coverage, Downstream, Error, Missing, MissingCode, OutlineItem, Overview, Package, Symbol,
    SymbolKind, Upstream, UsageCount,
};

/// The overview from the text alone.
pub(crate) async fn outline(queries: &ServerQueries, file: &Arc<File>, is_cold: bool) -> Result<Answer<Overview>> {
    let mut coverage = Coverage::default();
    let has_grammar = queries.grammar_of(&file.path).is_some();
    // If there is no grammar, this does not wait for a server that is not running.
    let items = if has_grammar || !is_cold { queries.items(file, &mut coverage).await? } else { Vec::new() };
    let symbols = items.iter().filter_map(|it| symbol_paths::symbol(&queries.files, file, it)).collect();
    let upstream = if has_grammar { upstream(&queries.files, file) } else { Vec::new() };
    let package = Some(symbol_paths::package(&queries.files, &file.path));
    let skeleton = (!has_grammar && !items.is_empty()).then(|| collapsed(file, &items));
    Ok(Answer { value: Overview { package, symbols, upstream, skeleton, ..Overview::default() }, coverage })
}

/// The same with usages. After `until`, further usages are not counted.
pub(crate) async fn of(queries: &ServerQueries, file: &Arc<File>, until: Instant) -> Result<Answer<Overview>> {
    let Answer { value: mut overview, mut coverage } = outline(queries, file, false).await?;
    let items = queries.items(file, &mut coverage).await?;
    let mut all: Vec<OutlineItem> = Vec::new();
    items.iter().for_each(|it| it.walk(&mut |it| all.push(it.clone())));
    let counted = all.into_iter().map(|item| {
        let (queries, found) = (queries.clone(), ResolvedItem { file: file.clone(), item });
        async move {
            if Instant::now() >= until {
                return Ok(None);
            }
            let mut coverage = Coverage::default();
            let counting = usages::of(&queries, &found, &mut coverage);
            match tokio::time::timeout_at(until.into(), counting).await {
                Ok(Ok(usages)) => Ok(Some((found.item.name_span.start, usages, coverage))),
                Ok(Err(stop)) => Err(stop),
                Err(_) => Ok(None),
            }
        }
    });
    let counted: Vec<Result<Option<_>>> =
        futures::stream::iter(counted.collect::<Vec<_>>()).buffered(AT_ONCE).collect().await;
    let mut counts: BTreeMap<usize, UsageCount> = BTreeMap::new();
    let mut users: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
    let left_out = queries.files.unindexed_files();
    let is_left_out = |it: &Missing| it.scope.as_deref().is_some_and(|it| left_out.contains_key(it));
    for one in counted {
        let Some((at, usages, mut lacks)) = one? else {
            let detail = "the usages of some symbols were not counted in time: ask again, or give `wait_ms`";
            coverage.lacks(queries.session.missing(MissingCode::Budget, detail));
            continue;
        };
        let is_known = !lacks.missing.iter().any(|it| it.code.passes());
        if is_known && !usages.possible.is_empty() {
            // Each symbol's count shows how many are missing. One entry for all is enough.
            lacks.missing.retain(|it| it.code != MissingCode::Unsupported || is_left_out(it));
            let detail = "some places may be usages of these symbols: `usages` of each lists them as `possible`";
            coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
        }
        // One entry for a file that may name several symbols is enough.
        lacks.missing.retain(|it| !is_left_out(it) || !coverage.missing.iter().any(|known| known.scope == it.scope));
        coverage.absorb(lacks);
        if is_known {
            counts.insert(at, usages.count());
        }
        for usage in usages.items.iter().filter(|it| it.place.file != *file.path) {
            let (symbols, count) = users.entry(usage.place.file.clone()).or_default();
            let mut chain = Vec::new();
            overview.symbols.iter().for_each(|it| name_at(it, at, &mut chain));
            symbols.extend(chain);
            *count += 1;
        }
    }
    overview.symbols.iter_mut().for_each(|it| count_in(it, &counts));
    let downstream = users.into_iter().map(|(user, (symbols, count))| Downstream {
        package: symbol_paths::package(&queries.files, &user),
        symbols: symbols.into_iter().collect(),
        count,
        file: user,
    });
    overview.downstream = downstream.collect();
    overview.downstream.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.file.cmp(&b.file)));
    queries.check()?;
    Ok(Answer { value: overview, coverage })
}

/// A text without the bodies of its functions, by the ranges that the server reports.
fn collapsed(file: &File, items: &[OutlineItem]) -> (String, Vec<usize>) {
    let lines = file.lines();
    // The first removed line, and the first line after them.
    let mut gone: Vec<(usize, usize)> = Vec::new();
    let mut take = |it: &OutlineItem| {
        if !matches!(it.kind, SymbolKind::Function | SymbolKind::Method) {
            return;
        }
        let last = lines.line(it.span.end.saturating_sub(1).max(it.span.start));
        let closes = lines.line_text(&file.text, last).trim();
        let is_end = closes.len() <= 4 || closes.chars().all(|it| !it.is_alphanumeric());
        let (from, to) = (lines.line(it.name_span.start) + 1, if is_end { last } else { last + 1 });
        if to > from + 1 && gone.last().is_none_or(|it| it.1 <= from) {
            gone.push((from, to));
        }
    };
    let mut all: Vec<&OutlineItem> = Vec::new();
    items.iter().for_each(|it| it.walk(&mut |it| all.push(it)));
    all.sort_by_key(|it| it.span);
    all.into_iter().for_each(&mut take);
    let (mut skeleton, mut numbers) = (String::new(), Vec::new());
    for (at, text) in file.text.split_inclusive('\n').enumerate() {
        let line = at + 1;
        match gone.iter().find(|it| it.0 <= line && line < it.1) {
            None => skeleton.push_str(text),
            Some((from, to)) if *from == line => {
                let indent: String = text.chars().take_while(|it| matches!(it, ' ' | '\t')).collect();
                skeleton.push_str(&format!("{indent}… {} lines\n", to - from));
            }
            Some(_) => continue,
        }
        numbers.push(line);
    }
    (skeleton, numbers)
}

fn name_at(symbol: &Symbol, at: usize, found: &mut Vec<String>) {
    if symbol.name_at.start == at {
        found.push(symbol.path.clone());
    }
    symbol.children.iter().for_each(|it| name_at(it, at, found));
}

fn count_in(symbol: &mut Symbol, counts: &BTreeMap<usize, UsageCount>) {
    symbol.usages = counts.get(&symbol.name_at.start).copied();
    symbol.children.iter_mut().for_each(|it| count_in(it, counts));
}

/// The imports of a file: files of the workspace if a path resolves to one, otherwise packages.
fn upstream(files: &Files, file: &File) -> Vec<Upstream> {
    let mut found: BTreeMap<String, Upstream> = BTreeMap::new();
    for import in &file.outline().imports {
        let (target, name) = imported(files, &file.path, &import.path);
        let package = target.as_ref().map_or_else(|| import.path.clone(), |it| symbol_paths::package(files, it));
        let entry = found.entry(package.clone()).or_insert_with(|| Upstream {
            package,
            external: target.is_none(),
            files: Vec::new(),
            symbols: Vec::new(),
        });
        if let Some(target) = target.filter(|it| !entry.files.contains(it)) {
            entry.files.push(target);
        }
        entry.symbols.extend(name);
    }
    found.into_values().collect()
}

/// Searches symbols by parts of their names, in the texts.
pub(crate) async fn search(queries: &ServerQueries, query: String, limit: usize) -> Result<Answer<Vec<(Symbol, f64)>>> {
    let mut coverage = Coverage::default();
    let own = queries.own_files();
    let (by_text, others): (Vec<_>, Vec<_>) = own.into_iter().partition(|it| queries.grammar_of(&it.path).is_some());
    let files = queries.files.clone();
    let wanted = query.clone();
    let mut found: Vec<(Symbol, f64)> = blocking(move || {
        let mut found = Vec::new();
        for file in by_text {
            file.outline().walk(&mut |it| {
                let fit = ranking::fit(&wanted, &it.name, it.public, it.test || symbol_paths::is_test_file(&file.path));
                if let Some((fit, symbol)) = fit.zip(symbol_paths::symbol(&files, &file, it)) {
                    found.push((Symbol { children: Vec::new(), ..symbol }, fit));
                }
            });
        }
        Ok(found)
    })
    .await?;
    // The server outlines files that contain the exact word. Other files have no index.
    if !others.is_empty() {
        for file in others.iter().filter(|it| it.words().offsets(&it.text, &query).next().is_some()).take(AT_ONCE) {
            for item in queries.items(file, &mut coverage).await? {
                item.walk(&mut |it| {
                    let fit = ranking::fit(&query, &it.name, true, false);
                    if let Some((fit, symbol)) = fit.zip(symbol_paths::symbol(&queries.files, file, it)) {
                        found.push((Symbol { children: Vec::new(), ..symbol }, fit));
                    }
                });
            }
        }
        if queries.session.row.keys.on_request != Some(true) {
            let detail = format!("symbols of {} are found by their whole names alone", queries.session.row.title());
            coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(limit);
    Ok(Answer { value: found, coverage })
}

/// A directory or a Python module.
pub(crate) async fn package(queries: &ServerQueries, name: &str) -> Result<Answer<Package>> {
    let own = queries.own_files();
    let wanted = name.trim_end_matches('/');
    let members: Vec<Arc<File>> = own
        .into_iter()
        .filter(|it| symbol_paths::package(&queries.files, &it.path) == wanted || *it.path == *wanted)
        .collect();
    let Some(first) = members.first() else {
        let detail = format!("there is no {} package `{name}`", queries.session.row.title());
        return Err(Error::new(Code::UnknownPackage, detail).into());
    };
    let mut coverage = Coverage::default();
    let mut symbols = Vec::new();
    for file in &members {
        let items = queries.items(file, &mut coverage).await?;
        symbols.extend(items.iter().filter_map(|it| symbol_paths::symbol(&queries.files, file, it)));
    }
    let package = Package {
        name: wanted.to_owned(),
        version: None,
        docs: members.iter().find_map(|it| it.outline().docs.clone()),
        root: first.path.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned()),
        files: members.iter().map(|it| it.path.to_string()).collect(),
        symbols,
        external: false,
        origin: None,
    };
    Ok(Answer { value: package, coverage })
}
