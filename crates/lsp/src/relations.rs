//! Relations of a symbol or a place: definition, documentation, callers, callees, implementations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::queries::{ResolvedItem, ServerQueries};
use super::{origin, symbol_paths, usages, wire};
use semdex_engine::files::File;
use semdex_engine::{Result, Stop, blocking};
use semdex_model::{
    Answer, CallSite, Calls, Code, Coverage, Description, Error, Example, ExampleOrigin, MissingCode, Role, Span,
    Symbol, SymbolAt, SymbolKind, SymbolQuery, Usage, UsagePage, Window,
};

const MOST_EXAMPLES: usize = 5;
const MOST_CALLEES: usize = 200;

pub(crate) fn symbol_of(queries: &ServerQueries, found: &ResolvedItem) -> Result<Symbol> {
    of_language(symbol_paths::symbol(&queries.files, &found.file, &found.item))
}

fn of_language(symbol: Option<Symbol>) -> Result<Symbol> {
    symbol.ok_or_else(|| Stop::Failed(Error::new(Code::Internal, "a file of no language")))
}

pub(crate) async fn describe(
    queries: &ServerQueries,
    query: &SymbolQuery,
    window: Window,
) -> Result<Answer<(Description, UsagePage)>> {
    let mut coverage = Coverage::default();
    let found = queries.resolve(query, &mut coverage).await?;
    let symbol = symbol_of(queries, &found)?;
    let used = usages::of(queries, &found, &mut coverage).await?;
    let mut docs = symbol.docs.clone();
    if docs.is_none() && usages::is_up(queries) && queries.session.has("textDocument/hover") {
        let hover = queries.ask_at(&[], "textDocument/hover", &found.file, found.item.name_span.start).await?;
        // The documentation follows the signature in the hover.
        let text = hover.ok().and_then(|it| wire::markup(&it));
        docs = text.and_then(|it| Some(it.rsplit_once("```")?.1.trim().to_owned())).filter(|it| !it.is_empty());
    }
    let mut examples = Vec::new();
    for usage in used.items.iter().filter(|it| it.test && it.role == Role::Call) {
        let Some(file) = queries.files.get(&usage.place.file) else { continue };
        let enclosing = file.outline();
        let chain = enclosing.enclosing(usage.place.start);
        let Some(test) = chain.last() else { continue };
        if examples.iter().any(|it: &Example| it.file == usage.place.file && it.title == test.name) {
            continue;
        }
        examples.push(Example {
            origin: ExampleOrigin::Test,
            file: usage.place.file.clone(),
            line: file.lines().line(test.span.start),
            title: test.name.clone(),
            code: file.text.get(test.span.start..test.span.end).unwrap_or_default().to_owned(),
        });
        if examples.len() == MOST_EXAMPLES {
            break;
        }
    }
    let can_have =
        matches!(found.item.kind, SymbolKind::Interface | SymbolKind::Struct | SymbolKind::Method | SymbolKind::Trait);
    let can_tell = usages::is_up(queries) && queries.session.has("textDocument/implementation");
    let implementations = match can_have && can_tell {
        true => implemented(queries, &found, &mut coverage).await?,
        false => Vec::new(),
    };
    let container = container_of(queries, &found);
    let source = found.file.text.get(found.item.span.start..found.item.span.end).map(str::to_owned);
    let description = Description { symbol, source, docs, examples, implementations, container, version: None };
    let page = usages::page(used, &found.file.path, window);
    Ok(Answer { value: (description, page), coverage })
}

fn container_of(queries: &ServerQueries, found: &ResolvedItem) -> Option<Symbol> {
    let chain = found.file.outline().clone();
    let enclosing = chain.enclosing(found.item.name_span.start);
    let outer = enclosing.iter().rev().find(|it| it.name_span != found.item.name_span)?;
    let symbol = symbol_paths::symbol(&queries.files, &found.file, outer)?;
    Some(Symbol { children: Vec::new(), ..symbol })
}

pub(crate) async fn symbol_at(queries: &ServerQueries, file: Arc<File>, offset: usize) -> Result<Answer<SymbolAt>> {
    let mut coverage = Coverage::default();
    let at = semdex_text::words::words_at(&file.text, Span::new(offset, offset))
        .find(|(start, word)| *start <= offset && offset <= start + word.len() && !word.is_empty());
    let span = at.map_or(Span::new(offset, offset), |(start, word)| Span::new(start, start + word.len()));
    let mut answer = SymbolAt::nothing(file.lines().place(&file.path, span));
    let is_name = at.is_some() && queries.code(&file).word(span).is_some();
    let definitions = match is_name {
        true => queries.settled_definitions(&file, offset).await?,
        false => queries.definitions(&file, offset).await?,
    };
    match definitions {
        Ok(locations) => {
            if is_name && locations.is_empty() {
                let detail = format!("{} does not say what this name means", queries.session.row.server());
                coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
            }
            answer.definition = locations.first().and_then(|it| queries.any_place(it));
            answer.origin = answer.definition.as_ref().and_then(|it| origin::of(&it.file));
            if let Some((target, span)) = locations.first().and_then(|it| queries.place(it)) {
                let found = queries.declaration_at(&target, span, &mut coverage).await?;
                answer.symbol = found.map(|it| symbol_of(queries, &it)).transpose()?;
            }
        }
        Err(failure) => failure.note(&queries.session, &mut coverage),
    }
    if usages::is_up(queries) && queries.session.has("textDocument/hover") {
        match queries.ask_at(&[], "textDocument/hover", &file, offset).await? {
            Ok(hover) => answer.hover = wire::markup(&hover),
            Err(failure) => failure.note(&queries.session, &mut coverage),
        }
    }
    if answer.symbol.is_none() && answer.definition.is_none() {
        // From the text alone: the name of a declaration refers to the declaration.
        let found = queries.declaration_at(&file, span, &mut coverage).await?;
        answer.symbol = found.map(|it| symbol_of(queries, &it)).transpose()?;
        answer.definition = answer.symbol.as_ref().map(|it| it.name_at.clone());
    }
    Ok(Answer { value: answer, coverage })
}

pub(crate) async fn implementations(
    queries: &ServerQueries,
    query: &SymbolQuery,
) -> Result<Answer<(Symbol, Vec<Symbol>)>> {
    let mut coverage = Coverage::default();
    let found = queries.resolve(query, &mut coverage).await?;
    // The capabilities are known once the server is running.
    if let Err(failure) = queries.session.ready(queries.deadlines.ready).await {
        failure.note(&queries.session, &mut coverage);
    } else if !queries.session.has("textDocument/implementation") {
        let detail = format!("{} does not tell implementations", queries.session.row.server());
        coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
    } else {
        let all = implemented(queries, &found, &mut coverage).await?;
        return Ok(Answer { value: (symbol_of(queries, &found)?, all), coverage });
    }
    Ok(Answer { value: (symbol_of(queries, &found)?, Vec::new()), coverage })
}

async fn implemented(queries: &ServerQueries, found: &ResolvedItem, coverage: &mut Coverage) -> Result<Vec<Symbol>> {
    let files = queries.files_with(&found.item.name).await?;
    let open: Vec<&str> = files.iter().take(100).map(|it| &*it.path).collect();
    let at = found.item.name_span.start;
    let derived = derived(&found.item.name, &files).await?;
    let mut is_first = true;
    let locations = loop {
        let locations = match queries.ask_at(&open, "textDocument/implementation", &found.file, at).await? {
            Ok(answer) => wire::locations(&answer),
            Err(failure) => {
                failure.note(&queries.session, coverage);
                return Ok(Vec::new());
            }
        };
        let others = locations.iter().filter_map(|it| queries.place(it));
        let is_sound = derived == 0 || others.filter(|it| it.0.path != found.file.path || it.1.start != at).count() > 0;
        if is_sound {
            break locations;
        }
        if !(is_first || queries.session.is_young()) || !queries.pause().await {
            let detail = format!(
                "{} reports no implementation, though {derived} declarations name `{}` in their heads",
                queries.session.row.server(),
                found.item.name
            );
            coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
            break locations;
        }
        is_first = false;
    };
    let mut all = Vec::new();
    for (file, span) in locations.iter().filter_map(|it| queries.place(it)) {
        let is_itself = file.path == found.file.path && span.start == at;
        if let Some(other) = queries.declaration_at(&file, span, coverage).await?.filter(|_| !is_itself) {
            let symbol = Symbol { children: Vec::new(), ..symbol_of(queries, &other)? };
            if !all.contains(&symbol) {
                all.push(symbol);
            }
        }
    }
    Ok(all)
}

/// The number of types whose signatures name this type, so that they may implement it.
async fn derived(name: &str, files: &[Arc<File>]) -> Result<usize> {
    let (name, files) = (name.to_owned(), files.to_vec());
    blocking(move || {
        let mut count = 0;
        for file in files {
            file.outline().walk(&mut |it| {
                let is_type = matches!(it.kind, SymbolKind::Struct | SymbolKind::Interface);
                let head = it.signature.split_once(it.name.as_str()).map_or("", |it| it.1);
                let names_it = || semdex_text::words::words(head).any(|it| it.1 == name);
                count += usize::from(is_type && it.name != name && names_it());
            });
        }
        Ok(count)
    })
    .await
}

pub(crate) async fn callers(queries: &ServerQueries, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
    let mut coverage = Coverage::default();
    let found = queries.resolve(query, &mut coverage).await?;
    let used = usages::of(queries, &found, &mut coverage).await?;
    if queries.grammar_of(&found.file.path).is_none() {
        let detail = format!("calls are not told from other uses in {}", queries.session.row.title());
        coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
    }
    // Tests come last.
    let mut callers: BTreeMap<(bool, String, Option<usize>), Calls> = BTreeMap::new();
    // A function that is read may be called later.
    let calling = |it: &Usage| matches!(it.role, Role::Call | Role::Read | Role::Other);
    for usage in used.items.into_iter().filter(calling) {
        let Some(file) = queries.files.get(&usage.place.file) else { continue };
        let outline = file.outline().clone();
        let enclosing = outline.enclosing(usage.place.start);
        // A declaration of the symbol in another file is not a call.
        if enclosing.iter().any(|it| it.name_span.contains(usage.place.start)) {
            continue;
        }
        let around = enclosing.last().map(|it| (*it).clone());
        let key = (usage.test, usage.place.file.clone(), around.as_ref().map(|it| it.name_span.start));
        let symbol = match around {
            Some(item) => symbol_of(queries, &ResolvedItem { file: file.clone(), item })?,
            None => of_language(symbol_paths::file_symbol(&queries.files, file))?,
        };
        let calls = callers.entry(key).or_insert_with(|| Calls { symbol, calls: Vec::new() });
        calls.calls.push(CallSite { place: usage.place, text: usage.text, test: usage.test });
    }
    let callers = callers.into_values().map(|it| Calls { symbol: Symbol { children: Vec::new(), ..it.symbol }, ..it });
    Ok(Answer { value: (symbol_of(queries, &found)?, callers.collect()), coverage })
}

pub(crate) async fn callees(queries: &ServerQueries, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
    let mut coverage = Coverage::default();
    let found = queries.resolve(query, &mut coverage).await?;
    let file = found.file.clone();
    let calls = queries.code(&file).calls(found.item.span);
    if queries.grammar_of(&file.path).is_none() {
        let detail = format!("calls in {} cannot be told without a grammar", queries.session.row.title());
        coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
    }
    if calls.len() > MOST_CALLEES {
        let detail = format!("it has {} calls; {MOST_CALLEES} were followed", calls.len());
        coverage.lacks(queries.session.missing(MissingCode::TooMany, detail));
    }
    let places: Vec<(Arc<File>, usize)> = calls.iter().take(MOST_CALLEES).map(|it| (file.clone(), it.start)).collect();
    let definitions = queries.all_settled_definitions(&places).await?;
    let (mut unknown, mut outside) = (0, 0);
    let mut callees: BTreeMap<String, Calls> = BTreeMap::new();
    for (call, definitions) in calls.iter().zip(definitions) {
        let locations = match definitions {
            Ok(locations) => locations,
            Err(failure) => {
                failure.note(&queries.session, &mut coverage);
                continue;
            }
        };
        unknown += usize::from(locations.is_empty());
        let Some((target, span)) = locations.first().and_then(|it| queries.place(it)) else {
            outside += usize::from(!locations.is_empty());
            continue;
        };
        let Some(callee) = queries.declaration_at(&target, span, &mut coverage).await? else { continue };
        let symbol = Symbol { children: Vec::new(), ..symbol_of(queries, &callee)? };
        let place = file.lines().place(&file.path, *call);
        let text = file.lines().line_text(&file.text, place.line).to_owned();
        let test = symbol_paths::is_test_file(&file.path);
        let entry = callees.entry(symbol.path.clone()).or_insert_with(|| Calls { symbol, calls: Vec::new() });
        entry.calls.push(CallSite { place, text, test });
    }
    if unknown > 0 {
        let detail = format!("{} does not say what {unknown} of its calls lead to", queries.session.row.server());
        coverage.lacks(queries.session.missing(MissingCode::Unsupported, detail));
    }
    if outside > 0 {
        let detail = format!("{outside} of its calls lead to code outside of the workspace, which is not listed");
        coverage.note(queries.session.missing(MissingCode::Unsupported, detail));
    }
    Ok(Answer { value: (symbol_of(queries, &found)?, callees.into_values().collect()), coverage })
}
