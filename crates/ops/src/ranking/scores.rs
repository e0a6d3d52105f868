//! The scores of sections and files for a query.

use std::collections::HashMap;

use super::focus::Focus;
use super::index::{At, Index};
use super::kinds::Kind;
use super::links::{Links, ResolvedUses};
use super::places::placed;
use super::query::{Name, Query};
use super::weights::Weights;
use semdex_text::terms::terms;
use semdex_text::words::word_hash;
use semdex_workspace::ChangeHistory;

/// The saturation of repeated words: the parameter k1 of BM25.
const SATURATION: f64 = 1.2;
/// The length penalty of whole files.
const FILE_LENGTH: f64 = 0.5;
/// A name that the query has, and that more declarations have, names none of them.
const MOST_DECLARATIONS: usize = 40;
/// So many of the best files say what changed together with them.
const BEST_FILES: usize = 5;

/// The weight of what is in focus: it comes before all else.
const FOCUS: f64 = 8.0;

/// The result of a ranking.
#[derive(Debug, Default)]
pub struct Ranking {
    /// The files with their scores, the best first.
    pub files: Vec<(usize, f64)>,
    /// The sections with their scores, the best first.
    pub sections: Vec<(At, f64)>,
    /// Why a section is among the best.
    pub why: HashMap<At, Vec<Why>>,
}

/// A reason for the rank of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is in focus.
    Focus,
    /// The query has its name.
    Named,
    /// The query has its place.
    Placed,
    /// Better sections use it.
    UsedBy(At),
    /// It uses better sections.
    Uses(At),
}

/// The scores of each section of each file.
type Scores = Vec<Vec<f64>>;

/// Ranks all sections for a query, what is in focus first.
pub fn rank(
    index: &Index,
    query: &str,
    focus: &[Focus],
    history: &ChangeHistory,
    weights: &Weights,
    resolved: ResolvedUses<'_>,
) -> Ranking {
    let query = &Query::new(query, weights);
    let prose = if query.is_question { weights.asked_prose } else { weights.prose };
    let focus = focused(index, focus);
    let text = Text::of(index, query, weights);
    let placed = placed(index, query);
    let named = named(index, query);
    let mut why: HashMap<At, Vec<Why>> = HashMap::new();
    let mut scores: Scores = text.sections;
    for (position, of_file) in scores.iter_mut().enumerate() {
        let file = text.files.get(position).copied().unwrap_or_default();
        let recent = index.files.get(position).map_or(0.0, |it| history.recency(&it.file.path));
        let by_path = placed.files.get(&position).copied().unwrap_or_default();
        for (section, score) in of_file.iter_mut().enumerate() {
            let at = (position, section);
            if let Some(gain) = focus.get(&at) {
                *score += FOCUS * gain;
                why.entry(at).or_default().push(Why::Focus);
            }
            if let Some(named) = named.get(&at) {
                *score += weights.named * named;
                why.entry(at).or_default().push(Why::Named);
            }
            if let Some(line) = placed.sections.get(&at) {
                *score += weights.placed * line;
                why.entry(at).or_default().push(Why::Placed);
            }
            if *score > 0.0 || by_path > 0.0 {
                *score += weights.file * file + weights.placed * 0.5 * by_path + weights.recent * recent;
            }
            *score *= factor(index, at, prose, weights);
        }
    }
    let origins = sorted(&scores);
    let links = Links::of(index, &origins, resolved);
    let ranks = links.rank(&origins);
    let most = ranks.values().copied().fold(0.0, f64::max);
    let best: HashMap<At, f64> = origins.iter().take(40).copied().collect();
    let strongest = links.strongest(&best);
    for (at, rank) in &ranks {
        let gain = weights.linked * (rank / most.max(f64::MIN_POSITIVE)).sqrt() * factor(index, *at, prose, weights);
        if let Some(score) = scores.get_mut(at.0).and_then(|it| it.get_mut(at.1)) {
            *score += gain;
        }
        if let Some(&(other, is_used)) = strongest.get(at) {
            why.entry(*at).or_default().push(if is_used { Why::UsedBy(other) } else { Why::Uses(other) });
        }
    }
    let mut files = files(&scores, weights);
    changed_together(index, history, prose, weights, &mut files);
    Ranking { files, sections: sorted(&scores), why }
}

/// The scores of the words, each from 0 to 1.
struct Text {
    sections: Scores,
    files: Vec<f64>,
}

/// Where a term is: a file, its sections with the occurrences, and the occurrences in the file.
type Found = (usize, Vec<(usize, f64)>, f64);

impl Text {
    /// BM25 over sections and over files. A word in a name or a path counts as several occurrences.
    fn of(index: &Index, query: &Query, weights: &Weights) -> Text {
        let mut sections: Scores = index.files.iter().map(|it| vec![0.0; it.file.terms().sections.len()]).collect();
        let mut files = vec![0.0; index.files.len()];
        // The part of the query that each section has.
        let mut parts: Scores = sections.clone();
        let mut whole = 0.0;
        let total: f64 = index.files.iter().map(|it| it.length).sum();
        let count = sections.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        let (average, of_file) = (total / count, total / index.files.len().max(1) as f64);
        for &(term, weight) in &query.terms {
            let mut holders = 0.0;
            let mut found: Vec<Found> = Vec::new();
            for position in index.postings.files(term) {
                let Some(terms) = index.files.get(position).map(|it| it.file.terms()) else { continue };
                let mut of_sections: Vec<(usize, f64)> =
                    terms.counts(term).map(|(section, times)| (section, f64::from(times))).collect();
                holders += of_sections.len() as f64;
                for section in terms.named(term) {
                    match of_sections.binary_search_by_key(&section, |it| it.0) {
                        Ok(at) => of_sections.iter_mut().skip(at).take(1).for_each(|it| it.1 += weights.name),
                        Err(at) => of_sections.insert(at, (section, weights.name)),
                    }
                }
                let mut sum = of_sections.iter().map(|it| it.1).sum::<f64>();
                if terms.is_in_path(term) {
                    sum += weights.path * 2.0;
                    of_sections.iter_mut().for_each(|it| it.1 += weights.path);
                }
                found.push((position, of_sections, sum));
            }
            let inverse = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            whole += if found.is_empty() { 0.0 } else { weight * inverse };
            let in_files = found.len() as f64;
            let inverse_file = (1.0 + (index.files.len() as f64 - in_files + 0.5) / (in_files + 0.5)).ln();
            for (position, of_sections, sum) in found {
                let Some(ranked) = index.files.get(position) else { continue };
                let lengths = &ranked.file.terms().lengths;
                for (section, times) in of_sections {
                    let length = lengths.get(section).map_or(1.0, |it| f64::from(*it)) / average.max(1.0);
                    let length = length.max(weights.shortest);
                    let gain = weight * inverse * saturated(times, length, weights.length);
                    if let Some(part) = parts.get_mut(position).and_then(|it| it.get_mut(section)) {
                        *part += weight * inverse;
                    }
                    if let Some(score) = sections.get_mut(position).and_then(|it| it.get_mut(section)) {
                        *score += gain;
                    }
                }
                let length = ranked.length / of_file.max(1.0);
                if let Some(score) = files.get_mut(position) {
                    *score += weight * inverse_file * saturated(sum, length, FILE_LENGTH);
                }
            }
        }
        for (score, part) in sections.iter_mut().flatten().zip(parts.iter().flatten()).filter(|it| *it.1 > 0.0) {
            *score *= (part / f64::max(whole, f64::MIN_POSITIVE)).powf(weights.coverage);
        }
        let most = sections.iter().flatten().copied().fold(0.0, f64::max);
        sections.iter_mut().flatten().for_each(|it| *it /= f64::max(most, f64::MIN_POSITIVE));
        let most = files.iter().copied().fold(0.0, f64::max);
        files.iter_mut().for_each(|it| *it /= f64::max(most, f64::MIN_POSITIVE));
        Text { sections, files }
    }
}

fn saturated(times: f64, length: f64, penalty: f64) -> f64 {
    let penalty = penalty.clamp(0.0, 1.0);
    times * (SATURATION + 1.0) / (times + SATURATION * (1.0 - penalty + penalty * length))
}

/// The sections whose declarations the query names, from 0 to 1.
fn named(index: &Index, query: &Query) -> HashMap<At, f64> {
    let mut named: HashMap<At, f64> = HashMap::new();
    for name in &query.names {
        let all: Vec<At> = index.declared(word_hash(&name.name)).collect();
        let fitting: Vec<At> = all.iter().copied().filter(|at| qualifies(index, name, *at)).collect();
        let is_qualified = !name.qualifier.is_empty() && !fitting.is_empty();
        let meant = if is_qualified { fitting } else { all };
        if meant.is_empty() || meant.len() > MOST_DECLARATIONS {
            continue;
        }
        let share = 1.0 / (meant.len() as f64).sqrt();
        let share = if name.is_code { share } else { 0.3 * share };
        for at in meant {
            let known = named.entry(at).or_default();
            *known = known.max(share);
        }
    }
    named
}

/// The sections in focus: those of a file alike, the section of a symbol most.
fn focused(index: &Index, focus: &[Focus]) -> HashMap<At, f64> {
    let mut focused = HashMap::new();
    for it in focus {
        let Some(position) = index.position(&it.file) else { continue };
        let Some(terms) = index.files.get(position).map(|it| it.file.terms()) else { continue };
        match it.at.and_then(|at| terms.section_at(at)) {
            Some(section) => drop(focused.insert((position, section), 1.0)),
            None => focused.extend((0..terms.sections.len()).map(|it| ((position, it), 0.5))),
        }
    }
    focused
}

/// Whether the qualifier of a name fits the declaration: its last part is in the path or around it.
fn qualifies(index: &Index, name: &Name, (file, section): At) -> bool {
    let (Some(last), Some(ranked)) = (name.qualifier.last(), index.files.get(file)) else { return false };
    let wanted = terms(last);
    let in_path = !wanted.is_empty() && wanted.iter().all(|it| ranked.file.terms().is_in_path(*it));
    let Some(section) = ranked.file.terms().sections.get(section) else { return false };
    let around = ranked.file.outline().enclosing(section.span().start);
    in_path || around.iter().any(|it| &it.name == last || it.container.iter().any(|it| it == last))
}

fn factor(index: &Index, at: At, prose: f64, weights: &Weights) -> f64 {
    match index.files.get(at.0).map(|it| it.kind) {
        Some(Kind::Prose) => prose,
        Some(Kind::Markup) => weights.markup,
        _ if index.is_test(at) => weights.test,
        _ => 1.0,
    }
}

fn sorted(scores: &Scores) -> Vec<(At, f64)> {
    let all =
        scores.iter().enumerate().flat_map(|(file, it)| it.iter().enumerate().map(move |(at, it)| ((file, at), *it)));
    let mut sorted: Vec<(At, f64)> = all.filter(|it| it.1 > 0.0).collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted
}

/// The files by their best section, and a little by all of them.
fn files(scores: &Scores, weights: &Weights) -> Vec<(usize, f64)> {
    let mut files: Vec<(usize, f64)> = Vec::new();
    for (file, of_file) in scores.iter().enumerate() {
        let mut sorted: Vec<f64> = of_file.iter().copied().filter(|it| *it > 0.0).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let Some(best) = sorted.first() else { continue };
        let rest: f64 = sorted.iter().skip(1).take(5).zip(2..).map(|(it, number)| it / f64::from(number)).sum();
        files.push((file, best + weights.breadth * rest));
    }
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    files
}

/// Adds what changed together with the best files.
fn changed_together(
    index: &Index,
    history: &ChangeHistory,
    prose: f64,
    weights: &Weights,
    files: &mut Vec<(usize, f64)>,
) {
    if history.is_empty() || weights.changed_together <= 0.0 {
        return;
    }
    let mut gains: HashMap<usize, f64> = HashMap::new();
    for (file, score) in files.iter().take(BEST_FILES) {
        let Some(ranked) = index.files.get(*file) else { continue };
        for (other, share) in history.changed_with(&ranked.file.path) {
            if let Some(other) = index.position(other) {
                *gains.entry(other).or_default() += score * share;
            }
        }
    }
    let mut known: HashMap<usize, f64> = files.iter().copied().collect();
    for (file, gain) in gains {
        let factor = factor(index, (file, 0), prose, weights);
        *known.entry(file).or_default() += weights.changed_together * gain * factor;
    }
    *files = known.into_iter().collect();
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}
