//! How the shown symbols are connected: which use which, who uses them from outside, and their tests. The references
//! are those of the engines; the words of the texts give the places.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::symbols::Symbols;
use crate::ranking::At;
use crate::redaction::redact;
use semdex_contract::{CallSite, TestPlace, UsePath, UsedBy};
use semdex_model::{Span, Symbol, SymbolKind};

const MOST_PATHS: usize = 24;
const MOST_USERS: usize = 16;
const MOST_TESTS: usize = 16;
/// So many places of a use are listed.
const MOST_PLACES: usize = 3;
/// Files that use one symbol: the first ones.
const USERS_OF_ONE: usize = 4;

/// The connections of shown symbols.
#[derive(Debug, Default)]
pub(super) struct Relations {
    pub paths: Vec<UsePath>,
    pub used_by: Vec<UsedBy>,
    pub tests: Vec<TestPlace>,
}

/// A shown declaration: its file, and its node and item in the graph.
struct Shown {
    file: usize,
    node: usize,
    item: usize,
    symbol: Symbol,
    /// Its shown lines.
    lines: Span,
}

/// The connections of these sections, the best first.
pub(super) fn relations(symbols: &Symbols<'_>, sections: &[At]) -> Relations {
    let shown = shown(symbols, sections);
    let by_item: HashMap<(usize, usize), &Shown> = shown.iter().map(|it| ((it.node, it.item), it)).collect();
    let spans = spans(symbols, sections);
    let mut relations = Relations { paths: paths(symbols, &shown, &by_item), ..Relations::default() };
    users(symbols, &by_item, &spans, &mut relations);
    relations
}

/// The declarations in these sections, and those of which a section is a part.
fn shown(symbols: &Symbols<'_>, sections: &[At]) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for &(file, section) in sections {
        let Some((node, of_node)) = symbols.node(file) else { continue };
        let Some(section) = symbols.file(file).and_then(|it| it.terms().sections.get(section)) else { continue };
        let span = section.span();
        for (item, declared) in of_node.items.iter().enumerate().filter(|it| it.1.listed == Some(it.0)) {
            let is_part = section.owner.is_some_and(|it| it as usize == declared.at);
            let is_known = || shown.iter().any(|it| (it.node, it.item) == (node, item));
            if !(span.contains(declared.at) || is_part) || is_known() {
                continue;
            }
            let Some(symbol) = symbols.named_at(file, declared.at) else { continue };
            let whole = Span::new(symbol.place.start, symbol.place.end);
            let lines =
                Span::new(whole.start.max(span.start), whole.end.min(span.end).max(whole.start.max(span.start)));
            shown.push(Shown { file, node, item, symbol, lines });
        }
    }
    shown
}

/// The shown lines of each file.
fn spans(symbols: &Symbols<'_>, sections: &[At]) -> HashMap<usize, Vec<Span>> {
    let mut spans: HashMap<usize, Vec<Span>> = HashMap::new();
    for &(file, section) in sections {
        let found = symbols.file(file).and_then(|it| it.terms().sections.get(section));
        spans.entry(file).or_default().extend(found.map(|it| it.span()));
    }
    spans
}

fn paths(symbols: &Symbols<'_>, shown: &[Shown], by_item: &HashMap<(usize, usize), &Shown>) -> Vec<UsePath> {
    let mut paths: Vec<UsePath> = Vec::new();
    for user in shown {
        let uses = symbols.graph.uses.get(user.node).map(Vec::as_slice).unwrap_or_default();
        let used = uses.iter().filter_map(|it| by_item.get(&(it.node, it.item?)).copied());
        for used in used.filter(|it| (it.node, it.item) != (user.node, user.item)) {
            let via: Vec<CallSite> = places(symbols, user.file, &used.symbol.name, |at| user.lines.contains(at))
                .into_iter()
                .take(MOST_PLACES)
                .filter_map(|at| site(symbols, user, at, used.symbol.name.len()))
                .collect();
            // Overloads have one path.
            let is_same = |it: &UsePath| it.from.path == user.symbol.path && it.to.path == used.symbol.path;
            let is_new = user.symbol.path != used.symbol.path && !paths.iter().any(is_same);
            if !via.is_empty() && is_new && paths.len() < MOST_PATHS {
                paths.push(UsePath { from: user.symbol.clone().into(), to: used.symbol.clone().into(), via });
            }
        }
    }
    paths
}

fn users(
    symbols: &Symbols<'_>,
    by_item: &HashMap<(usize, usize), &Shown>,
    spans: &HashMap<usize, Vec<Span>>,
    relations: &mut Relations,
) {
    let positions: HashMap<usize, usize> =
        (0..symbols.index.files.len()).filter_map(|position| Some((symbols.node(position)?.0, position))).collect();
    // By the used declaration and the file that uses it.
    let mut found: BTreeMap<((usize, usize), usize), f64> = BTreeMap::new();
    for (user, uses) in symbols.graph.uses.iter().enumerate() {
        let Some(position) = positions.get(&user) else { continue };
        for it in uses {
            if let Some(item) = it.item.filter(|item| by_item.contains_key(&(it.node, *item))) {
                *found.entry(((it.node, item), *position)).or_default() += it.count;
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut of_one: HashMap<(usize, usize), usize> = HashMap::new();
    let mut tests: HashSet<(usize, usize)> = HashSet::new();
    for ((item, position), _) in found {
        let (Some(used), Some(file)) = (by_item.get(&item), symbols.file(position)) else { continue };
        let is_shown = |at: usize| spans.get(&position).is_some_and(|it| it.iter().any(|it| it.contains(at)));
        let outside = places(symbols, position, &used.symbol.name, |at| !is_shown(at));
        let is_test = |at: &usize| {
            let section = file.terms().section_at(*at);
            section.is_some_and(|it| symbols.index.is_test((position, it)))
        };
        let (in_tests, others): (Vec<usize>, Vec<usize>) = outside.into_iter().partition(is_test);
        let count = of_one.entry(item).or_default();
        let is_known = |line: usize| {
            let mut all = relations.used_by.iter();
            all.any(|it| it.symbol == used.symbol.path && it.line == line && it.file == *file.path)
        };
        let first = others.first().filter(|it| *count < USERS_OF_ONE && !is_known(file.lines().line(**it)));
        if let Some(first) = first.filter(|_| relations.used_by.len() < MOST_USERS) {
            *count += 1;
            relations.used_by.push(UsedBy {
                symbol: used.symbol.path.clone(),
                by: symbols.path_around(position, *first),
                file: file.path.to_string(),
                line: file.lines().line(*first),
                count: others.len(),
            });
        }
        for at in in_tests {
            let Some(item) = file.outline().enclosing(at).into_iter().next_back() else { continue };
            let is_function = matches!(item.kind, SymbolKind::Function | SymbolKind::Method);
            if is_function && relations.tests.len() < MOST_TESTS && tests.insert((position, item.span.start)) {
                relations.tests.push(TestPlace {
                    place: file.lines().place(&file.path, item.name_span).into(),
                    test: item.name.clone(),
                    symbol: used.symbol.path.clone(),
                });
            }
        }
    }
}

/// Where a file has a name, except where it is declared.
fn places(symbols: &Symbols<'_>, position: usize, name: &str, takes: impl Fn(usize) -> bool) -> Vec<usize> {
    let Some(file) = symbols.file(position) else { return Vec::new() };
    let mut declared = HashSet::new();
    file.outline().walk(&mut |it| {
        declared.insert(it.name_span.start);
    });
    file.words().offsets(&file.text, name).filter(|it| takes(*it) && !declared.contains(it)).collect()
}

fn site(symbols: &Symbols<'_>, user: &Shown, at: usize, length: usize) -> Option<CallSite> {
    let file = symbols.file(user.file)?;
    let place = file.lines().place(&file.path, Span::new(at, at + length));
    let text = redact(file.lines().line_text(&file.text, place.line), true);
    let section = file.terms().section_at(at);
    let test = section.is_some_and(|it| symbols.index.is_test((user.file, it)));
    Some(CallSite { place: place.into(), text, test })
}
