//! Ranks the files and lines of instances (JSON lines) by their texts in git, and fits the weights of the ranking.

mod instances;
mod measure;

use std::collections::BTreeMap;
use std::path::PathBuf;

use instances::{Instance, Known, Prepared, read};
use measure::{Figures, figures_of, mean};
use semdex_ops::ranking::{WEIGHTS, Weights};

const USAGE: &str = "usage: localisation-bench MIRROR INSTANCES… [--NAME=VALUE]… [--list] [--time] [--fit]
  --NAME=VALUE  another weight than the one that is built in
  --list  where the files of the truth are, for each instance
  --time  the processor time of the answers, by the size of the repository
  --fit   fits the weights to one half of the repositories and measures the other half, both ways; then to all";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, paths): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|it| it.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|it| *it == flag);
    let mut paths = paths.into_iter().map(PathBuf::from);
    let Some(mirror) = paths.next() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let weights = &weights(&flags);
    let mut by_repository: BTreeMap<String, Vec<Instance>> = BTreeMap::new();
    for instance in paths.flat_map(|it| read(&it)) {
        by_repository.entry(instance.repository.to_lowercase()).or_default().push(instance);
    }
    let mut kept: Vec<Prepared> = Vec::new();
    let mut results: Vec<(String, String, Figures)> = Vec::new();
    let mut times: Vec<(f64, usize)> = Vec::new();
    for (_, instances) in by_repository {
        let mut known = Known::new();
        let prepared: Vec<Prepared> =
            instances.into_iter().filter_map(|it| Prepared::new(it, &mirror, &mut known)).collect();
        for (it, figures) in prepared.iter().zip(figures_of(&prepared.iter().collect::<Vec<_>>(), weights)) {
            results.push((it.instance.set.clone(), it.instance.language.clone(), figures));
            if has("--list") {
                measure::list(it, weights);
            }
            if has("--time") {
                times.push(measure::timed(it));
            }
        }
        if has("--fit") {
            kept.extend(prepared);
        }
    }
    report(&results);
    report_times(times);
    if has("--fit") {
        fit_all(&kept);
    }
}

/// The weights with those that the flags change.
fn weights(flags: &[&String]) -> Weights {
    let mut weights = WEIGHTS;
    for (name, value) in flags.iter().filter_map(|it| it.strip_prefix("--")?.split_once('=')) {
        let field = fields().into_iter().find(|it| it.0 == name).map(|it| it.1);
        let (Some(field), Ok(value)) = (field, value.parse()) else { panic!("no weight: {name}={value}") };
        *field(&mut weights) = value;
    }
    weights
}

fn report(results: &[(String, String, Figures)]) {
    let mut groups: BTreeMap<(&str, &str), Vec<Figures>> = BTreeMap::new();
    for (set, language, figures) in results {
        groups.entry((set, "")).or_default().push(*figures);
        groups.entry((set, language)).or_default().push(*figures);
    }
    for ((set, language), figures) in groups {
        println!(
            "{:28} {}",
            if language.is_empty() { set.to_owned() } else { format!("  {language}") },
            mean(&figures)
        );
    }
}

fn report_times(mut times: Vec<(f64, usize)>) {
    times.sort_by_key(|it| it.1);
    for (number, part) in times.chunks(times.len().div_ceil(5).max(1)).enumerate() {
        let mut of_part: Vec<f64> = part.iter().map(|it| it.0).collect();
        of_part.sort_by(f64::total_cmp);
        let at = |share: usize| of_part.get(of_part.len() * share / 100).copied().unwrap_or(0.0);
        let lines = |it: Option<&(f64, usize)>| it.map_or(0, |it| it.1 / 1000);
        let (least, most) = (lines(part.first()), lines(part.last()));
        println!("part {number}: {least} to {most} kLoC: p50 {:.0} ms, p90 {:.0} ms of a processor", at(50), at(90));
    }
}

/// The mean over the sets of the objective of each, weighed by the square root of its size: a small set has much noise.
fn objective(prepared: &[&Prepared], weights: &Weights) -> f64 {
    let mut sets: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    for (it, figures) in prepared.iter().zip(figures_of(prepared, weights)) {
        sets.entry(&it.instance.set).or_default().push(figures);
    }
    let weight = |it: &[Figures]| (it.len() as f64).sqrt();
    let all: f64 = sets.values().map(|it| weight(it)).sum();
    sets.values().map(|it| mean(it).objective() * weight(it)).sum::<f64>() / all.max(1.0)
}

fn fit_all(prepared: &[Prepared]) {
    for held_out in 0..2 {
        let (other, seen): (Vec<&Prepared>, Vec<&Prepared>) = prepared.iter().partition(|it| it.half() == held_out);
        let weights = fit(&seen);
        println!(
            "half {held_out} held out: seen {:.4} to {:.4}, held out {:.4} to {:.4}",
            objective(&seen, &WEIGHTS),
            objective(&seen, &weights),
            objective(&other, &WEIGHTS),
            objective(&other, &weights)
        );
        for (name, weights) in [("before", &WEIGHTS), ("after", &weights)] {
            println!("  held out {name:6} {}", mean(&figures_of(&other, weights)));
        }
    }
    println!("{:#?}", fit(&prepared.iter().collect::<Vec<_>>()));
}

/// The first value that is tried of a weight that is zero.
const UNUSED: f64 = 0.15;

/// One weight after another takes the value that measures best.
fn fit(prepared: &[&Prepared]) -> Weights {
    let mut best = WEIGHTS;
    let mut reached = objective(prepared, &best);
    for round in 0..2 {
        let start = reached;
        for (name, field) in fields() {
            // Goes on in the direction that helps. What is not used yet begins small.
            for factor in [0.6, 1.6] {
                for _ in 0..4 {
                    let mut tried = best;
                    let value = field(&mut tried);
                    *value = if *value == 0.0 { UNUSED } else { *value * factor };
                    let tried_value = *value;
                    let objective = objective(prepared, &tried);
                    if objective <= reached + 0.0005 {
                        break;
                    }
                    (best, reached) = (tried, objective);
                    eprintln!("round {round}: {name} = {tried_value:.3}: {reached:.4}");
                }
            }
        }
        if reached < start + 0.002 {
            break;
        }
    }
    best
}

type Field = fn(&mut Weights) -> &mut f64;

/// Those that the ranking does not read come first: they are fitted without ranking again.
fn fields() -> Vec<(&'static str, Field)> {
    vec![
        ("share", |it| &mut it.share),
        ("first", |it| &mut it.first),
        ("around", |it| &mut it.around),
        ("whole", |it| &mut it.whole),
        ("name", |it| &mut it.name),
        ("path", |it| &mut it.path),
        ("file", |it| &mut it.file),
        ("named", |it| &mut it.named),
        ("placed", |it| &mut it.placed),
        ("linked", |it| &mut it.linked),
        ("changed_together", |it| &mut it.changed_together),
        ("recent", |it| &mut it.recent),
        ("test", |it| &mut it.test),
        ("prose", |it| &mut it.prose),
        ("markup", |it| &mut it.markup),
        ("title", |it| &mut it.title),
        ("fenced", |it| &mut it.fenced),
        ("length", |it| &mut it.length),
        ("shortest", |it| &mut it.shortest),
        ("coverage", |it| &mut it.coverage),
        ("breadth", |it| &mut it.breadth),
    ]
}
