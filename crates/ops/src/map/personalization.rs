//! What a map is about: the personalization vector of PageRank, and the weights of symbols in their files.

use std::collections::HashMap;

use super::graph::Graph;
use semdex_text::terms::{Field, terms};

/// The weight of each interest, relative to the whole workspace with weight 1.
const QUERY: f64 = 6.0;
const FOCUS: f64 = 6.0;
const RECENT: f64 = 0.3;
/// The part of the interest in a symbol that goes to the files that use it.
const USERS: f64 = 0.4;

/// The weight of a word by where it occurs.
const IN_PATH: f64 = 6.0;
const IN_NAME: f64 = 2.0;
const IN_DOCS: f64 = 1.0;
const IN_TEXT: f64 = 0.7;
/// The parameters k1 and b of BM25: the saturation of repeated words, and the penalty for long files.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// The exponent that emphasises the best matching files of a query.
const SHARPNESS: f64 = 2.0;

/// The request of a map.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub focus: Vec<Focus>,
    pub query: String,
    /// Recently changed files, the last one first.
    pub recent: Vec<String>,
}

/// A file, or a symbol in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Focus {
    pub file: String,
    /// The offset of the name of the symbol.
    pub at: Option<usize>,
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
        let mut matched = matches(&asked.query, graph, &mut symbols);
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

/// How well the words of a query match each file. A word without a match has no effect.
fn matches(query: &str, graph: &Graph, symbols: &mut HashMap<(usize, usize), f64>) -> Vec<f64> {
    let count = graph.files.len();
    let mut scores = vec![0.0; count];
    let wanted = terms(query);
    if wanted.is_empty() {
        return scores;
    }
    let lengths: usize = graph.nodes().filter(|it| !graph.is_plain(it.0)).map(|it| it.1.file.terms().length).sum();
    let average = lengths as f64 / count.max(1) as f64;
    let mut found_weight = 0.0;
    for term in wanted {
        let mut found: Vec<(usize, f64)> = Vec::new();
        let mut named: Vec<((usize, usize), f64)> = Vec::new();
        for (position, node) in graph.nodes() {
            let (mut score, mut names, mut docs) = (0.0, 0_u32, 0_u32);
            if graph.is_plain(position) {
                score = if node.path_terms.contains(&term) { IN_PATH } else { 0.0 };
            } else {
                for field in node.file.terms().fields(term) {
                    match field {
                        Field::Path => score += IN_PATH,
                        Field::Head => docs += 1,
                        Field::Name(at) => {
                            names += 1;
                            named.extend(node.listed_at(at as usize).map(|it| ((position, it), 1.0)));
                        }
                        Field::Docs(at) => {
                            docs += 1;
                            named.extend(node.listed_at(at as usize).map(|it| ((position, it), 0.3)));
                        }
                        Field::Text(times) => {
                            let times = f64::from(times);
                            let length = node.file.terms().length as f64 / average.max(1.0);
                            let most = SATURATION * (1.0 - LENGTH + LENGTH * length);
                            score += IN_TEXT * times * (SATURATION + 1.0) / (times + most);
                        }
                    }
                }
                score += IN_NAME * saturated(names) + IN_DOCS * saturated(docs);
            }
            if score > 0.0 {
                found.push((position, score));
            }
        }
        // A word in few files weighs more (inverse document frequency).
        let holders = found.len() as f64;
        let weight = (1.0 + (count as f64 - holders + 0.5) / (holders + 0.5)).ln();
        if !found.is_empty() {
            found_weight += weight;
        }
        for (position, score) in found {
            if let Some(sum) = scores.get_mut(position) {
                *sum += weight * score;
            }
        }
        for (symbol, part) in named {
            let sum: &mut f64 = symbols.entry(symbol).or_default();
            *sum += weight * part;
        }
    }
    symbols.values_mut().for_each(|it| *it /= f64::max(found_weight, 1e-9));
    scores
}

fn saturated(count: u32) -> f64 {
    let count = f64::from(count);
    2.0 * count / (count + 1.0)
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
