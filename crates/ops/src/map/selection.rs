//! The ranking of files and symbols of a map, and the selection that fits the budget.

use std::collections::{HashMap, HashSet};

use super::graph::{Graph, Item, Node};
use super::pagerank::pagerank;
use super::personalization::Interest;
use semdex_contract::{Listed, RowSizes};
use semdex_model::SymbolKind;

/// The parts of the rank of a file that its symbols get independently of other files: an equal share each, and a share
/// by the uses in the file itself.
const SHARED: f64 = 0.05;
const OWN_USES: f64 = 0.1;
/// How strongly further symbols of a file are devalued. With 1, the second symbol of a file counts half.
const SPREAD: f64 = 1.0;
/// The weight of query words in a name.
const NAMED: f64 = 4.0;
/// How strongly matching files are preferred to files that are merely used.
const FITTING: f64 = 2.0;
const TEST_FILE: f64 = 0.8;
const IN_TEST: f64 = 0.02;
const GENERATED: f64 = 0.3;
const PRIVATE: f64 = 0.6;
const VALUE: f64 = 0.5;

/// If less than this percentage of the budget is used, later candidates that still fit are added.
const WELL_USED: usize = 97;
/// How far behind the last listed candidate they are searched.
const LOOK_AHEAD: usize = 400;
const MOST_BEHIND: usize = 12;

/// A candidate for the list: a symbol, or the name of a file without symbols.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub node: usize,
    pub item: Option<usize>,
    priority: f64,
}

/// The workspace ranked for one request.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// The rank of each file.
    pub files: Vec<f64>,
    /// The rank of each listed symbol, by file and position.
    pub symbols: HashMap<(usize, usize), f64>,
    /// The candidates, the most important first.
    pub order: Vec<Candidate>,
}

impl Ranked {
    pub(crate) fn new(graph: &Graph, interest: &Interest) -> Ranked {
        let files = pagerank(&graph.edges, &interest.files);
        let symbols = spread(graph, &files);
        let mut order: Vec<Candidate> = Vec::new();
        for (position, node) in graph.nodes() {
            let rank = files.get(position).copied().unwrap_or_default();
            let fits = interest.matched.get(position).copied().unwrap_or_default();
            candidates(position, node, rank * (1.0 + FITTING * fits), &symbols, interest, &mut order);
        }
        order.sort_by(|a, b| {
            let later = |it: &Candidate| (it.node, it.item);
            b.priority.total_cmp(&a.priority).then_with(|| later(a).cmp(&later(b)))
        });
        Ranked { files, symbols, order }
    }

    /// The candidates of a page within a budget, after those listed before. A page has at least one candidate.
    pub(crate) fn page(&self, graph: &Graph, before: &Listed, most: usize, limit: usize) -> (Vec<Candidate>, Listed) {
        let left: Vec<usize> = (0..self.order.len()).filter(|it| !before.holds(*it)).collect();
        let chosen = |count: usize| left.iter().take(count).filter_map(|it| self.order.get(*it)).copied();
        let fits = |count: usize| size(graph, chosen(count)) <= most;
        // Bisection for the largest number that fits; the size is monotonic.
        let (mut fitting, mut too_many) = (0, left.len().min(limit) + 1);
        while fitting + 1 < too_many {
            let middle = fitting.midpoint(too_many);
            if fits(middle) { fitting = middle } else { too_many = middle }
        }
        let first = fitting.max(1).min(left.len());
        let mut all: Vec<Candidate> = chosen(first).collect();
        let mut taken = size(graph, all.iter().copied());
        let mut files: HashSet<usize> = all.iter().map(|it| it.node).collect();
        let mut more: Vec<usize> = Vec::new();
        for position in left.iter().skip(first).take(LOOK_AHEAD) {
            if taken * 100 >= most * WELL_USED || more.len() >= MOST_BEHIND || all.len() >= limit {
                break;
            }
            let Some(candidate) = self.order.get(*position) else { continue };
            let takes = most_of(graph, candidate, !files.contains(&candidate.node));
            if taken + takes <= most {
                taken += takes;
                files.insert(candidate.node);
                all.push(*candidate);
                more.push(*position);
            }
        }
        let end = left.get(first).copied().unwrap_or(self.order.len());
        more.extend(before.more.iter().filter(|it| **it >= end));
        more.sort_unstable();
        (all, Listed { first: end, more })
    }
}

impl Ranked {
    /// How many of the listed candidates are names of files without symbols.
    pub(crate) fn bare(&self, listed: &Listed) -> usize {
        let all = self.order.iter().enumerate();
        all.filter(|(at, it)| it.item.is_none() && listed.holds(*at)).count()
    }
}

/// The rank of each listed symbol: its share of the ranks of the files that use its file.
fn spread(graph: &Graph, ranks: &[f64]) -> HashMap<(usize, usize), f64> {
    let mut symbols: HashMap<(usize, usize), f64> = HashMap::new();
    let rank_of = |it: usize| ranks.get(it).copied().unwrap_or_default();
    for (position, node) in graph.nodes() {
        let listed: Vec<usize> =
            node.items.iter().enumerate().filter(|it| it.1.path.is_some()).map(|it| it.0).collect();
        let share = SHARED * rank_of(position) / listed.len().max(1) as f64;
        symbols.extend(listed.into_iter().map(|it| ((position, it), share)));
    }
    for (user, uses) in graph.uses.iter().enumerate() {
        let edges = graph.edges.get(user).map(Vec::as_slice).unwrap_or_default();
        let total: f64 = edges.iter().map(|it| it.1).sum();
        let mut counts: HashMap<usize, f64> = HashMap::new();
        uses.iter().for_each(|it| *counts.entry(it.node).or_default() += it.count);
        for it in uses {
            let (Some(item), Some(count)) = (it.item, counts.get(&it.node)) else { continue };
            let flow = if it.node == user {
                OWN_USES * rank_of(user)
            } else {
                let weight = edges.binary_search_by_key(&it.node, |it| it.0).ok().and_then(|at| edges.get(at));
                rank_of(user) * weight.map_or(0.0, |it| it.1) / total.max(f64::MIN_POSITIVE)
            };
            *symbols.entry((it.node, item)).or_default() += flow * it.count / count.max(f64::MIN_POSITIVE);
        }
    }
    symbols
}

/// The candidates of a file. The first symbol has the priority of the file, each further symbol a lower one.
fn candidates(
    position: usize,
    node: &Node,
    rank: f64,
    symbols: &HashMap<(usize, usize), f64>,
    interest: &Interest,
    order: &mut Vec<Candidate>,
) {
    let rank = if node.generated { GENERATED * rank } else { rank };
    let mut listed: Vec<(f64, usize)> = Vec::new();
    for (at, item) in node.items.iter().enumerate().filter(|it| it.1.path.is_some()) {
        let own = symbols.get(&(position, at)).copied().unwrap_or_default();
        let asked = interest.symbols.get(&(position, at)).copied().unwrap_or_default();
        listed.push((own * weight(item) * (1.0 + NAMED * asked), at));
    }
    listed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let is_plain = node.items.is_empty();
    // The names of tests say more than their contents.
    if node.test || listed.is_empty() {
        let is_asked = !is_plain || interest.files.get(position).is_some_and(|it| *it > 0.0);
        let priority = if node.test { TEST_FILE * rank } else { rank };
        order.extend(is_asked.then_some(Candidate { node: position, item: None, priority }));
    }
    for (number, (_, at)) in listed.into_iter().enumerate() {
        let is_test = node.test || node.items.get(at).is_some_and(|it| it.test);
        let rank = if is_test { IN_TEST * rank } else { rank };
        let priority = rank / ((number + 1) as f64).powf(SPREAD);
        order.push(Candidate { node: position, item: Some(at), priority });
    }
}

fn weight(item: &Item) -> f64 {
    use SymbolKind::{Const, Static, Variable};
    let kind = if matches!(item.kind, Const | Static | Variable) { VALUE } else { 1.0 };
    let seen = if item.public { 1.0 } else { PRIVATE };
    let test = if item.test { IN_TEST } else { 1.0 };
    kind * seen * test
}

/// The largest size of one more candidate.
fn most_of(graph: &Graph, candidate: &Candidate, is_new: bool) -> usize {
    let Some(node) = graph.node(candidate.node) else { return 0 };
    let file = if is_new { RowSizes::file(&node.file.path) } else { 0 };
    let item = candidate.item.and_then(|it| node.items.get(it));
    file + item.map_or(0, |it| {
        let heading = it.parent.and_then(|it| node.items.get(it)).map_or(0, |it| RowSizes::heading(&it.heading));
        heading + RowSizes::symbol(it.line, it.length, it.parent.is_some())
    })
}

/// The size of the rows of these candidates in bytes.
pub(crate) fn size(graph: &Graph, chosen: impl Iterator<Item = Candidate>) -> usize {
    let mut by_file: HashMap<usize, Vec<usize>> = HashMap::new();
    for it in chosen {
        by_file.entry(it.node).or_default().extend(it.item);
    }
    let mut size = 0;
    for (position, items) in &mut by_file {
        let Some(node) = graph.node(*position) else { continue };
        items.sort_unstable();
        size += RowSizes::file(&node.file.path);
        let mut above: Option<&str> = None;
        for it in items.iter().filter_map(|it| node.items.get(*it)) {
            size += RowSizes::symbol(it.line, it.length, it.parent.is_some());
            match heading(node, it, items) {
                Heading::None => above = None,
                Heading::Listed => {}
                Heading::Row(heading) => {
                    if above != Some(heading) {
                        size += RowSizes::heading(heading);
                    }
                    above = Some(heading);
                }
            }
        }
    }
    size
}

/// What is shown above a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading<'n> {
    /// It is a top-level symbol.
    None,
    /// The enclosing item is also in the list.
    Listed,
    Row(&'n str),
}

pub(crate) fn heading<'n>(node: &'n Node, item: &Item, listed: &[usize]) -> Heading<'n> {
    let Some(parent) = item.parent else { return Heading::None };
    match node.items.get(parent) {
        _ if listed.binary_search(&parent).is_ok() => Heading::Listed,
        Some(parent) => Heading::Row(&parent.heading),
        None => Heading::None,
    }
}
