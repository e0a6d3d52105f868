//! What a ranking finds of the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use crate::instances::Prepared;
use crate::ranking::choice::{fill, order};
use crate::ranking::{Ranking, Weights, rank};

/// The budgets in tokens of four bytes.
const BUDGETS: [usize; 3] = [4000, 8000, 16000];
const FILES: usize = 8;

/// Mean figures of several instances, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    count: f64,
    files: f64,
    lines: [f64; 3],
    functions: f64,
    precision: f64,
}

impl Figures {
    /// What the weights are fitted for.
    pub(crate) fn objective(&self) -> f64 {
        (self.files + self.lines[1] + 0.5 * self.lines[0]) / 2.5
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let [a, b, c] = self.lines;
        write!(
            f,
            "n {:3}  files@8 {:.3}  lines {a:.3} {b:.3} {c:.3}  functions@8k {:.3}  precision@8k {:.3}",
            self.count, self.files, self.functions, self.precision
        )
    }
}

pub(crate) fn measured<'a>(prepared: impl Iterator<Item = &'a Prepared>, weights: &Weights) -> Figures {
    let prepared: Vec<&Prepared> = prepared.collect();
    let half = prepared.len().div_ceil(2).max(1);
    let parts: Vec<Vec<Figures>> = std::thread::scope(|scope| {
        let threads: Vec<_> = prepared
            .chunks(half)
            .map(|part| scope.spawn(move || part.iter().map(|it| one(it, weights)).collect()))
            .collect();
        threads.into_iter().filter_map(|it| it.join().ok()).collect()
    });
    let mut sum = Figures::default();
    for it in parts.into_iter().flatten() {
        sum.count += 1.0;
        sum.files += it.files;
        sum.functions += it.functions;
        sum.precision += it.precision;
        sum.lines.iter_mut().zip(it.lines).for_each(|(sum, it)| *sum += it);
    }
    let count = sum.count.max(1.0);
    Figures {
        count: sum.count,
        files: sum.files / count,
        functions: sum.functions / count,
        precision: sum.precision / count,
        lines: sum.lines.map(|it| it / count),
    }
}

fn first_files<'a>(it: &'a Prepared, ranking: &Ranking) -> Vec<&'a str> {
    let files = ranking.files.iter().take(FILES);
    files.filter_map(|file| it.index.files.get(file.0)).map(|it| &*it.file.path).collect()
}

fn one(it: &Prepared, weights: &Weights) -> Figures {
    let ranking = rank(&it.index, &it.instance.issue, &[], &it.history, weights);
    let first = first_files(it, &ranking);
    let found = it.instance.files.iter().filter(|file| first.contains(&file.as_str())).count();
    let mut figures = Figures { files: found as f64 / it.instance.files.len().max(1) as f64, ..Figures::default() };
    let total: usize = it.instance.lines.values().map(BTreeSet::len).sum();
    let order = order(&it.index, &ranking, weights, false);
    for (number, budget) in BUDGETS.into_iter().enumerate() {
        let (mut hit, mut shown_lines) = (0, 0);
        let mut functions = vec![0; it.instance.functions.len()];
        let mut chosen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for position in fill(&it.index, &order, 0..order.len(), budget * 4) {
            if let Some((at, _)) = order.get(position) {
                chosen.entry(at.0).or_default().insert(at.1);
            }
        }
        for (file, sections) in chosen {
            let Some(ranked) = it.index.files.get(file) else { continue };
            let (terms, lines) = (ranked.file.terms(), ranked.file.lines());
            let truth = it.instance.lines.get(&*ranked.file.path);
            for span in sections.iter().filter_map(|at| terms.sections.get(*at)).map(|it| it.span()) {
                let (start, end) = (lines.line(span.start), lines.line(span.end.saturating_sub(1)));
                shown_lines += end - start + 1;
                hit += truth.map_or(0, |it| it.range(start..=end).count());
                for (seen, (_, from, to)) in
                    functions.iter_mut().zip(&it.instance.functions).filter(|of| of.1.0 == *ranked.file.path)
                {
                    *seen += (end + 1).min(to + 1).saturating_sub(start.max(*from));
                }
            }
        }
        if let Some(lines) = figures.lines.get_mut(number) {
            *lines = hit as f64 / total.max(1) as f64;
        }
        if number == 1 {
            figures.precision = hit as f64 / f64::from(shown_lines.max(1) as u32);
            let is_seen = |(seen, (_, from, to)): (&usize, &(String, usize, usize))| *seen * 2 > to - from;
            let seen = functions.iter().zip(&it.instance.functions).filter(|it| is_seen(*it)).count();
            figures.functions = seen as f64 / functions.len().max(1) as f64;
        }
    }
    figures
}

/// Prints where the files of the truth are in the ranking.
pub(crate) fn list(it: &Prepared, weights: &Weights) {
    let figures = one(it, weights);
    let ranking = rank(&it.index, &it.instance.issue, &[], &it.history, weights);
    println!("{} {} {figures}", it.instance.name, it.instance.repository);
    for file in &it.instance.files {
        let position = it.index.position(file);
        let rank = position.and_then(|it| ranking.files.iter().position(|file| file.0 == it));
        println!("    {:>5} {file}", rank.map_or("-".to_owned(), |it| (it + 1).to_string()));
    }
    println!("    first: {}", first_files(it, &ranking).join(" "));
}
