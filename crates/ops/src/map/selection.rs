//! In which order a map lists what there is, and how much of it a budget takes.

use std::collections::{HashMap, HashSet};

use super::graph::{Graph, Item, Node};
use super::pagerank::pagerank;
use super::personalization::Interest;
use semdex_contract::{Listed, RowSizes};
use semdex_model::SymbolKind;

/// The part of a file's rank that its symbols have whoever uses them: each the same, and by what the file itself uses.
const SHARED: f64 = 0.05;
const OWN_USES: f64 = 0.1;
/// How much sooner the next file has its first symbol than a file its next: the second of a file counts half with 1.
const SPREAD: f64 = 1.0;
/// What the words of a query in a name count.
const NAMED: f64 = 4.0;
/// How much what fits the words of a query comes before what is merely used.
const FITTING: f64 = 2.0;
const TEST_FILE: f64 = 0.8;
const IN_TEST: f64 = 0.02;
const GENERATED: f64 = 0.3;
const PRIVATE: f64 = 0.6;
const VALUE: f64 = 0.5;

/// A budget is used to so many hundredths before what comes later is looked at for what still has room.
const WELL_USED: usize = 97;
/// So far behind the last that had room.
const LOOK_AHEAD: usize = 400;
const MOST_BEHIND: usize = 12;

/// What may be listed: a symbol, or the name of a file alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub node: usize,
    pub item: Option<usize>,
    priority: f64,
}

/// A workspace as one question sees it.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// Of each file.
    pub files: Vec<f64>,
    /// Of each listed symbol, by file and position.
    pub symbols: HashMap<(usize, usize), f64>,
    /// The most important first.
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

    /// What a page lists within a budget, after what was listed before it. Something is always listed.
    pub(crate) fn page(&self, graph: &Graph, before: &Listed, most: usize, limit: usize) -> (Vec<Candidate>, Listed) {
        let left: Vec<usize> = (0..self.order.len()).filter(|it| !before.holds(*it)).collect();
        let chosen = |count: usize| left.iter().take(count).filter_map(|it| self.order.get(*it)).copied();
        let fits = |count: usize| size(graph, chosen(count)) <= most;
        // The most that fit: by halves, as more never take less.
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
    /// How many of what was listed are names of files alone.
    pub(crate) fn bare(&self, listed: &Listed) -> usize {
        let all = self.order.iter().enumerate();
        all.filter(|(at, it)| it.item.is_none() && listed.holds(*at)).count()
    }
}

/// The rank of each listed symbol: of the ranks of those that use its file what goes to it.
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

/// What of a file may be listed. The first symbol of a file counts as the file does, each further one for less.
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
    // Which tests there are tells more than what is in them.
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

/// What one more takes at most.
fn most_of(graph: &Graph, candidate: &Candidate, is_new: bool) -> usize {
    let Some(node) = graph.node(candidate.node) else { return 0 };
    let file = if is_new { RowSizes::file(&node.file.path) } else { 0 };
    let item = candidate.item.and_then(|it| node.items.get(it));
    file + item.map_or(0, |it| {
        let heading = it.parent.and_then(|it| node.items.get(it)).map_or(0, |it| RowSizes::heading(&it.heading));
        heading + RowSizes::symbol(it.line, it.length, it.parent.is_some())
    })
}

/// The bytes of the rows of these.
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

/// What stands above a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading<'n> {
    /// It stands by itself.
    None,
    /// What it stands in is listed too.
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
