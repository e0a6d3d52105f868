//! What stands in relation to a symbol or a place: definition, documentation, callers, callees, implementations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::inquiry::{Found, Inquiry};
use super::names;
use super::origin;
use super::usages;
use super::wire;
use crate::lang::files::File;
use crate::lang::{Result, Stop};
use crate::model::{
    Answer, CallSite, Calls, Code, Coverage, Description, Error, Example, ExampleOrigin, MissingCode, Role, Span,
    Symbol, SymbolAt, SymbolKind, SymbolQuery, UsagePage, Window,
};

const MOST_EXAMPLES: usize = 5;
const MOST_CALLEES: usize = 200;

pub fn symbol_of(inquiry: &Inquiry, found: &Found) -> Result<Symbol> {
    let symbol = names::symbol(&inquiry.files, &found.file, &found.item);
    symbol.ok_or_else(|| Stop::Failed(Error::new(Code::Internal, "a file of no language")))
}

pub async fn describe(
    inquiry: &Inquiry,
    query: &SymbolQuery,
    window: Window,
) -> Result<Answer<(Description, UsagePage)>> {
    let mut coverage = Coverage::default();
    let found = inquiry.resolve(query, &mut coverage).await?;
    let symbol = symbol_of(inquiry, &found)?;
    let used = usages::of(inquiry, &found, &mut coverage).await?;
    let mut docs = symbol.docs.clone();
    if docs.is_none() && usages::is_up(inquiry) && inquiry.session.has("textDocument/hover") {
        let hover = inquiry.ask_at(&[], "textDocument/hover", &found.file, found.item.name_span.start).await?;
        // What follows the signature in the hover is the documentation.
        let text = hover.ok().and_then(|it| wire::markup(&it));
        docs = text.and_then(|it| Some(it.rsplit_once("```")?.1.trim().to_owned())).filter(|it| !it.is_empty());
    }
    let mut examples = Vec::new();
    for usage in used.items.iter().filter(|it| it.test && it.role == Role::Call) {
        let Some(file) = inquiry.files.get(&usage.place.file) else { continue };
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
    let can_tell = usages::is_up(inquiry) && inquiry.session.has("textDocument/implementation");
    let implementations = match can_have && can_tell {
        true => implemented(inquiry, &found, &mut coverage).await?,
        false => Vec::new(),
    };
    let container = container_of(inquiry, &found);
    let source = found.file.text.get(found.item.span.start..found.item.span.end).map(str::to_owned);
    let description = Description { symbol, source, docs, examples, implementations, container, version: None };
    let page = usages::page(used, &found.file.path, window);
    Ok(Answer { value: (description, page), coverage })
}

fn container_of(inquiry: &Inquiry, found: &Found) -> Option<Symbol> {
    let chain = found.file.outline().clone();
    let enclosing = chain.enclosing(found.item.name_span.start);
    let outer = enclosing.iter().rev().find(|it| it.name_span != found.item.name_span)?;
    let symbol = names::symbol(&inquiry.files, &found.file, outer)?;
    Some(Symbol { children: Vec::new(), ..symbol })
}

pub async fn symbol_at(inquiry: &Inquiry, file: Arc<File>, offset: usize) -> Result<Answer<SymbolAt>> {
    let mut coverage = Coverage::default();
    let at = crate::text::words::words_at(&file.text, Span::new(offset, offset))
        .find(|(start, word)| *start <= offset && offset <= start + word.len() && !word.is_empty());
    let span = at.map_or(Span::new(offset, offset), |(start, word)| Span::new(start, start + word.len()));
    let mut answer = SymbolAt::nothing(file.lines().place(&file.path, span));
    match inquiry.definitions(&file, offset).await? {
        Ok(locations) => {
            answer.definition = locations.first().and_then(|it| inquiry.any_place(it));
            answer.origin = answer.definition.as_ref().and_then(|it| origin::of(&it.file));
            if let Some((target, span)) = locations.first().and_then(|it| inquiry.place(it)) {
                let found = inquiry.declaration_at(&target, span, &mut coverage).await?;
                answer.symbol = found.map(|it| symbol_of(inquiry, &it)).transpose()?;
            }
        }
        Err(failure) => failure.note(&inquiry.session, &mut coverage),
    }
    if usages::is_up(inquiry) && inquiry.session.has("textDocument/hover") {
        match inquiry.ask_at(&[], "textDocument/hover", &file, offset).await? {
            Ok(hover) => answer.hover = wire::markup(&hover),
            Err(failure) => failure.note(&inquiry.session, &mut coverage),
        }
    }
    if answer.symbol.is_none() && answer.definition.is_none() {
        // By the text alone: the name of a declaration is the declaration.
        let found = inquiry.declaration_at(&file, span, &mut coverage).await?;
        answer.symbol = found.map(|it| symbol_of(inquiry, &it)).transpose()?;
        answer.definition = answer.symbol.as_ref().map(|it| it.name_at.clone());
    }
    Ok(Answer { value: answer, coverage })
}

pub async fn implementations(inquiry: &Inquiry, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Symbol>)>> {
    let mut coverage = Coverage::default();
    let found = inquiry.resolve(query, &mut coverage).await?;
    // What it can do is known when it is up.
    if let Err(failure) = inquiry.session.ready(inquiry.deadlines.ready).await {
        failure.note(&inquiry.session, &mut coverage);
    } else if !inquiry.session.has("textDocument/implementation") {
        let detail = format!("{} does not tell implementations", inquiry.session.row.server());
        coverage.lacks(inquiry.session.missing(MissingCode::Unsupported, detail));
    } else {
        let all = implemented(inquiry, &found, &mut coverage).await?;
        return Ok(Answer { value: (symbol_of(inquiry, &found)?, all), coverage });
    }
    Ok(Answer { value: (symbol_of(inquiry, &found)?, Vec::new()), coverage })
}

async fn implemented(inquiry: &Inquiry, found: &Found, coverage: &mut Coverage) -> Result<Vec<Symbol>> {
    let files = inquiry.files_with(&found.item.name).await?;
    let open: Vec<&str> = files.iter().take(100).map(|it| &*it.path).collect();
    let at = found.item.name_span.start;
    let locations = match inquiry.ask_at(&open, "textDocument/implementation", &found.file, at).await? {
        Ok(answer) => wire::locations(&answer),
        Err(failure) => {
            failure.note(&inquiry.session, coverage);
            return Ok(Vec::new());
        }
    };
    let mut all = Vec::new();
    for (file, span) in locations.iter().filter_map(|it| inquiry.place(it)) {
        let is_itself = file.path == found.file.path && span.start == at;
        if let Some(other) = inquiry.declaration_at(&file, span, coverage).await?.filter(|_| !is_itself) {
            let symbol = Symbol { children: Vec::new(), ..symbol_of(inquiry, &other)? };
            if !all.contains(&symbol) {
                all.push(symbol);
            }
        }
    }
    Ok(all)
}

pub async fn callers(inquiry: &Inquiry, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
    let mut coverage = Coverage::default();
    let found = inquiry.resolve(query, &mut coverage).await?;
    let used = usages::of(inquiry, &found, &mut coverage).await?;
    if inquiry.grammar_of(&found.file.path).is_none() {
        let detail = format!("calls are not told from other uses in {}", inquiry.session.row.title());
        coverage.lacks(inquiry.session.missing(MissingCode::Unsupported, detail));
    }
    let mut callers: BTreeMap<(String, usize), Calls> = BTreeMap::new();
    for usage in used.items.into_iter().filter(|it| matches!(it.role, Role::Call | Role::Other)) {
        let Some(file) = inquiry.files.get(&usage.place.file) else { continue };
        let outline = file.outline().clone();
        // A call at the top of a file has no caller that has a name.
        let Some(item) = outline.enclosing(usage.place.start).last().map(|it| (*it).clone()) else { continue };
        let key = (usage.place.file.clone(), item.name_span.start);
        let symbol = symbol_of(inquiry, &Found { file: file.clone(), item })?;
        let calls = callers.entry(key).or_insert_with(|| Calls { symbol, calls: Vec::new() });
        calls.calls.push(CallSite { place: usage.place, text: usage.text, test: usage.test });
    }
    let callers = callers.into_values().map(|it| Calls { symbol: Symbol { children: Vec::new(), ..it.symbol }, ..it });
    Ok(Answer { value: (symbol_of(inquiry, &found)?, callers.collect()), coverage })
}

pub async fn callees(inquiry: &Inquiry, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
    let mut coverage = Coverage::default();
    let found = inquiry.resolve(query, &mut coverage).await?;
    let file = found.file.clone();
    let calls = inquiry.code(&file).calls(found.item.span);
    if inquiry.grammar_of(&file.path).is_none() {
        let detail = format!("calls in {} cannot be told without a grammar", inquiry.session.row.title());
        coverage.lacks(inquiry.session.missing(MissingCode::Unsupported, detail));
    }
    if calls.len() > MOST_CALLEES {
        let detail = format!("it has {} calls; {MOST_CALLEES} were followed", calls.len());
        coverage.lacks(inquiry.session.missing(MissingCode::TooMany, detail));
    }
    let places: Vec<(Arc<File>, usize)> = calls.iter().take(MOST_CALLEES).map(|it| (file.clone(), it.start)).collect();
    let definitions = inquiry.all_definitions(&places).await?;
    let mut callees: BTreeMap<String, Calls> = BTreeMap::new();
    for (call, definitions) in calls.iter().zip(definitions) {
        let locations = match definitions {
            Ok(locations) => locations,
            Err(failure) => {
                failure.note(&inquiry.session, &mut coverage);
                continue;
            }
        };
        let Some((target, span)) = locations.first().and_then(|it| inquiry.place(it)) else { continue };
        let Some(callee) = inquiry.declaration_at(&target, span, &mut coverage).await? else { continue };
        let symbol = Symbol { children: Vec::new(), ..symbol_of(inquiry, &callee)? };
        let place = file.lines().place(&file.path, *call);
        let text = file.lines().line_text(&file.text, place.line).to_owned();
        let test = names::is_test_file(&file.path);
        let entry = callees.entry(symbol.path.clone()).or_insert_with(|| Calls { symbol, calls: Vec::new() });
        entry.calls.push(CallSite { place, text, test });
    }
    Ok(Answer { value: (symbol_of(inquiry, &found)?, callees.into_values().collect()), coverage })
}
