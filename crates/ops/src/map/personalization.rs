//! What a map is about: the personalization vector of PageRank, and the weights of symbols in their files.

use std::collections::HashMap;

use super::graph::Graph;
use crate::ranking::{FileMatch, Focus};
use semdex_text::terms::terms;

/// The weight of each interest, relative to the whole workspace with weight 1.
const QUERY: f64 = 6.0;
const FOCUS: f64 = 6.0;
const RECENT: f64 = 0.3;
/// The part of the interest in a symbol that goes to the files that use it.
const USERS: f64 = 0.4;

/// The exponent that emphasises the best matching files of a query.
const SHARPNESS: f64 = 2.0;

/// The request of a map.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub focus: Vec<Focus>,
    pub query: String,
    /// How well each file matches the query, by its path.
    pub matches: HashMap<String, FileMatch>,
    /// Recently changed files, the last one first.
    pub recent: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Interest {
    /// The personalization vector, by file.
    pub files: Vec<f64>,
    /// How well each file matches the words of the query, from 0 to 1.
    pub matched: Vec<f64>,
    /// The weights of symbols that match the query or the focus, by file and position.
    pub symbols: HashMap<(usize, usize), f64>,
}

impl Interest {
    pub(crate) fn of(asked: &Asked, graph: &Graph) -> Interest {
        let count = graph.files.len();
        // Files without declarations are listed only if the request is about them.
        let mut base: Vec<f64> = (0..count).map(|it| if graph.is_plain(it) { 0.0 } else { 1.0 }).collect();
        scale_to(&mut base, 1.0);
        let mut symbols = HashMap::new();
        let mut matched = matches(asked, graph, &mut symbols);
        let most = matched.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            matched.iter_mut().for_each(|it| *it /= most);
        }
        let mut query: Vec<f64> = matched.iter().map(|it| it.powf(SHARPNESS)).collect();
        scale_to(&mut query, QUERY);
        let mut focus = focused(&asked.focus, graph, &mut symbols);
        scale_to(&mut focus, FOCUS);
        let mut recent = vec![0.0; count];
        for (age, file) in asked.recent.iter().enumerate() {
            if let Some(it) = graph.position(file).and_then(|it| recent.get_mut(it)) {
                *it += 1.0 / (age + 1) as f64;
            }
        }
        scale_to(&mut recent, RECENT);
        let files = base.iter().zip(query).zip(focus).zip(recent).map(|(((a, b), c), d)| a + b + c + d).collect();
        Interest { files, matched, symbols }
    }
}

fn scale_to(values: &mut [f64], total: f64) {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 {
        values.iter_mut().for_each(|it| *it *= total / sum);
    }
}

/// How well each file matches the query, and the weights of the declarations that match, both from 0 to 1. Words without
/// a match have no effect.
fn matches(asked: &Asked, graph: &Graph, symbols: &mut HashMap<(usize, usize), f64>) -> Vec<f64> {
    let mut scores = vec![0.0; graph.files.len()];
    let wanted = terms(&asked.query);
    for (position, score) in scores.iter_mut().enumerate() {
        let Some(node) = graph.node(position) else { continue };
        let Some(found) = asked.matches.get(&*node.file.path) else { continue };
        // Of a file without declarations only its name is in a map.
        if graph.is_plain(position) && !wanted.iter().any(|it| node.path_terms.contains(it)) {
            continue;
        }
        *score = found.score;
        for (at, score) in &found.declarations {
            if let Some(listed) = node.listed_at(*at) {
                let known: &mut f64 = symbols.entry((position, listed)).or_default();
                *known = known.max(*score);
            }
        }
    }
    scores
}

fn focused(focus: &[Focus], graph: &Graph, symbols: &mut HashMap<(usize, usize), f64>) -> Vec<f64> {
    let mut interest = vec![0.0; graph.files.len()];
    for it in focus {
        let Some(position) = graph.position(&it.file) else { continue };
        let symbol = it.at.and_then(|at| graph.node(position)?.listed_at(at));
        let mut add = |at: usize, part: f64| interest.iter_mut().skip(at).take(1).for_each(|it| *it += part);
        let Some(symbol) = symbol else {
            add(position, 1.0);
            continue;
        };
        *symbols.entry((position, symbol)).or_default() += 1.0;
        let of_it = |uses: &[super::graph::Use]| -> f64 {
            uses.iter().filter(|it| it.node == position && it.item == Some(symbol)).map(|it| it.count.sqrt()).sum()
        };
        let users: Vec<f64> = graph.uses.iter().map(|it| of_it(it)).collect();
        let total: f64 = users.iter().sum();
        add(position, if total > 0.0 { 1.0 - USERS } else { 1.0 });
        for (user, count) in users.iter().enumerate().filter(|it| *it.1 > 0.0) {
            add(user, USERS * count / total);
        }
    }
    interest
}
