//! The order in which sections are shown, and what of them fits into a budget.

use std::collections::BTreeMap;

use super::index::{At, Index};
use super::scores::{Ranking, Why};
use super::weights::Weights;

/// The size of the number before a line, with its separator.
const NUMBER: usize = 6;
/// The size of what is around a section: its line in the list, the name of its symbol, a part of the file's heading.
const SECTION: usize = 48;
/// The sections of so many of the best files are shown first.
const FIRST_FILES: usize = 12;

/// The order in which sections are shown: the best section of each of the best files and those whose lines the query
/// names, then the best sections of these files, then all other ones. Of the best files every section counts, also
/// without a word of the query: what is around the best lines is read next. Tests are only among them if the query has
/// their place, or if `tests` says so.
pub fn order(index: &Index, ranking: &Ranking, weights: &Weights, tests: bool) -> Vec<(At, f64)> {
    let best = ranking.files.first().map_or(0.0, |it| it.1).max(f64::MIN_POSITIVE);
    let ranks: BTreeMap<usize, (usize, f64)> =
        ranking.files.iter().enumerate().map(|(rank, it)| (it.0, (rank, it.1 / best))).collect();
    let is_placed = |at: &At| ranking.why.get(at).is_some_and(|it| it.contains(&Why::Placed));
    let is_shown = |at: &At| tests || !index.is_test(*at) || is_placed(at);
    let mut of_files: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    for (at, score) in ranking.sections.iter().filter(|it| is_shown(&it.0)) {
        of_files.entry(at.0).or_default().insert(at.1, *score);
    }
    let mut order: Vec<(u8, At, f64)> = Vec::new();
    for (file, mut scores) in of_files {
        let Some((rank, share)) = ranks.get(&file) else { continue };
        let first = scores.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))).map(|it| (*it.0, *it.1));
        let Some((first, most)) = first else { continue };
        if *rank < FIRST_FILES && weights.whole > 0.0 {
            let count = index.files.get(file).map_or(0, |it| it.file.terms().sections.len());
            for section in (0..count).filter(|it| is_shown(&(file, *it))) {
                scores.entry(section).or_insert(0.0);
            }
        }
        for (section, score) in &scores {
            let is_best = *section == first && (*rank as f64) < weights.first;
            let is_first = is_best || is_placed(&(file, *section));
            let tier = if is_first { 0 } else { 1 + u8::from(*rank >= FIRST_FILES) };
            let beside = |it: Option<usize>| it.and_then(|it| scores.get(&it)).copied().unwrap_or_default();
            let around = f64::max(beside(section.checked_sub(1)), beside(section.checked_add(1)));
            let value = score + weights.around * around + weights.whole * most;
            order.push((tier, (file, *section), value * share.powf(weights.share)));
        }
    }
    order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.2.total_cmp(&a.2)).then_with(|| a.1.cmp(&b.1)));
    order.into_iter().map(|it| (it.1, it.2)).collect()
}

/// The positions in an order that fit into so many bytes, ascending. At least one, if there is any.
pub fn fill(index: &Index, order: &[(At, f64)], positions: impl Iterator<Item = usize>, most: usize) -> Vec<usize> {
    /// So many sections that do not fit are passed over.
    const PASSED: usize = 60;
    let mut taken = 0;
    let mut passed = 0;
    let mut chosen = Vec::new();
    for position in positions {
        let Some((at, _)) = order.get(position) else { continue };
        let size = size(index, *at);
        if taken + size > most && !chosen.is_empty() {
            passed += 1;
            if passed > PASSED {
                break;
            }
            continue;
        }
        taken += size;
        chosen.push(position);
    }
    chosen
}

/// The size of a section as it is shown.
fn size(index: &Index, (file, section): At) -> usize {
    let Some(ranked) = index.files.get(file) else { return 0 };
    let Some(span) = ranked.file.terms().sections.get(section).map(|it| it.span()) else { return 0 };
    let text = ranked.file.text.get(span.start..span.end).unwrap_or_default();
    SECTION + text.len() + NUMBER * text.lines().count()
}
