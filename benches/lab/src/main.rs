//! Ranks the files and lines of instances (JSON lines) by their texts in git, and fits the weights of the ranking.
//!
//! `localisation-bench MIRROR INSTANCES… [--fit] [--history N] [--list]`

#![allow(warnings)]
extern crate self as semdex_workspace;
pub mod ranking;
mod history;
pub use history::ChangeHistory;
mod instances;
mod measure;

use std::path::PathBuf;

use instances::{Instance, Prepared, read};
use measure::{Figures, measured};
use crate::ranking::{WEIGHTS, Weights};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, paths): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|it| it.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|it| *it == flag);
    let mut paths = paths.into_iter().map(PathBuf::from);
    let Some(mirror) = paths.next() else {
        eprintln!("usage: localisation-bench MIRROR INSTANCES… [--fit] [--list]");
        std::process::exit(2);
    };
    let mut prepared: Vec<Prepared> = Vec::new();
    for path in paths {
        let instances: Vec<Instance> = read(&path);
        prepared.extend(instances.into_iter().filter_map(|it| Prepared::new(it, &mirror)));
    }
    eprintln!("{} instances", prepared.len());
    if has("--list") {
        for it in &prepared {
            measure::list(it, &WEIGHTS);
        }
    }
    report("all", &prepared, &WEIGHTS);
    if has("--fit") {
        fit(&prepared);
    }
}

fn report(name: &str, prepared: &[Prepared], weights: &Weights) {
    let mut groups: Vec<String> = prepared.iter().map(|it| it.instance.language.clone()).collect();
    groups.sort();
    groups.dedup();
    println!("{:14} {}", name, measured(prepared.iter(), weights));
    for group in groups {
        println!("  {:12} {}", group, measured(prepared.iter().filter(|it| it.instance.language == group), weights));
    }
}

/// One weight after another takes the value that measures best; half of the repositories stay unseen.
fn fit(prepared: &[Prepared]) {
    let (seen, held_out): (Vec<&Prepared>, Vec<&Prepared>) = prepared.iter().partition(|it| it.is_seen);
    let mut best = WEIGHTS;
    let figures = |weights: &Weights| -> Figures { measured(seen.iter().copied(), weights) };
    let mut reached = figures(&best).objective();
    for round in 0..2 {
        for (name, field) in fields() {
            let start = *field(&mut best.clone());
            for factor in [0.0, 0.33, 0.6, 0.8, 1.25, 1.7, 3.0] {
                let mut tried = best;
                *field(&mut tried) = start * factor;
                let objective = figures(&tried).objective();
                if objective > reached + 0.0005 {
                    (best, reached) = (tried, objective);
                    println!("round {round}: {name} = {:.3}: {reached:.4}", start * factor);
                }
            }
        }
    }
    println!("{best:#?}");
    println!("seen      before {}", measured(seen.iter().copied(), &WEIGHTS));
    println!("seen      after  {}", measured(seen.iter().copied(), &best));
    println!("held out  before {}", measured(held_out.iter().copied(), &WEIGHTS));
    println!("held out  after  {}", measured(held_out.iter().copied(), &best));
}

type Field = fn(&mut Weights) -> &mut f64;

fn fields() -> Vec<(&'static str, Field)> {
    vec![
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
        ("length", |it| &mut it.length),
        ("breadth", |it| &mut it.breadth),
        ("share", |it| &mut it.share),
        ("first", |it| &mut it.first),
    ]
}
