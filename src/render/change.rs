//! What changes and problems say.

use std::collections::BTreeSet;

use super::code::fenced;
use super::lists::{diagnostic_rows, inline, symbol_rows};
use super::{counted, line, lines, names};
use crate::contract::{
    Affected, ChangeReport, Changed, Impact, ImpactReport, Problem, ProblemCandidate, Strategy, Symbol,
};

/// A change: first whether it went well, then where it landed, what it broke, and how to take it back.
pub fn change(report: &ChangeReport) -> String {
    let mut text = format!("# {}\n\n", headline(report));
    for landed in &report.edits {
        let how = match landed.strategy {
            Strategy::Exact | Strategy::Symbol | Strategy::Whole => landed.strategy.name().to_owned(),
            inexact => format!("{} match, score {:.1}: compare with what was meant", inexact.name(), landed.score),
        };
        line(&mut text, format_args!("- {}:{} ({how})", landed.place.file, lines(&landed.place)));
    }
    for file in &report.files {
        let hash = file.hash.as_ref().map_or("deleted".to_owned(), |it| format!("hash `{it}`"));
        line(&mut text, format_args!("\n{}, {hash}\n", file.file));
        text += &fenced("diff", &file.diff);
        if let Some(note) = &file.note {
            line(&mut text, format_args!("\nNote: {note}"));
        }
    }
    if !report.validation.is_empty() {
        text += "\n## To look at\n\n";
        for it in &report.validation {
            let hint = if it.suggestions.is_empty() { String::new() } else { format!(": {}", names(&it.suggestions)) };
            line(&mut text, format_args!("- {}:{} `{}`: {}{hint}", it.file, it.line, inline(&it.text), it.detail));
        }
    }
    reached(&mut text, &report.impact);
    if !report.diagnostics.new.is_empty() {
        text += "\n## New diagnostics\n\n";
        diagnostic_rows(&mut text, &report.diagnostics.new);
    }
    if !report.diagnostics.fixed.is_empty() {
        text += "\n## Fixed diagnostics\n\n";
        diagnostic_rows(&mut text, &report.diagnostics.fixed);
    }
    if let Some(change) = &report.change {
        line(&mut text, format_args!("\nChange `{change}`"));
    }
    text
}

fn headline(report: &ChangeReport) -> String {
    let broken: BTreeSet<&str> = report.impact.broken.iter().map(|it| it.at.place.file.as_str()).collect();
    let broken = Vec::from_iter(broken).join(", ");
    match (report.applied, broken.is_empty(), report.files.is_empty()) {
        (true, true, _) => "Edit successful".to_owned(),
        (true, false, _) => format!("Edit successful, but broke references in files {broken}"),
        (false, _, true) => "Nothing changed".to_owned(),
        (false, true, false) => "Dry run, nothing written: the edit would succeed".to_owned(),
        (false, false, false) => format!("Dry run, nothing written: the edit would break references in files {broken}"),
    }
}

/// What a change that nobody made would break.
pub fn impact(report: &ImpactReport) -> String {
    let impact = &report.impact;
    let headline = match impact.broken.len() {
        0 => "Nothing would break".to_owned(),
        broken => format!("{} would break", counted(broken, "place")),
    };
    let mut text = format!("# {headline}\n");
    reached(&mut text, impact);
    text
}

fn reached(text: &mut String, impact: &Impact) {
    let Impact { changed, broken, affected, tests, unchecked } = impact;
    if !changed.is_empty() {
        *text += "\n## Changed symbols\n\n";
        for Changed { symbol, kind, before, after } in changed {
            let both = match (before, after) {
                (Some(before), Some(after)) => format!(": `{}` → `{}`", inline(before), inline(after)),
                (Some(before), None) => format!(": `{}`", inline(before)),
                (None, Some(after)) => format!(": `{}`", inline(after)),
                (None, None) => String::new(),
            };
            line(text, format_args!("- `{symbol}` {}{both}", kind.name()));
        }
    }
    if !broken.is_empty() {
        line(text, format_args!("\n## Broken: {}\n", counted(broken.len(), "place")));
        for it in broken {
            let code = it.code.as_ref().map(|it| format!("{it} ")).unwrap_or_default();
            let (place, within) = (&it.at.place, within(&it.at));
            let follows = if it.follows { " (follows)" } else { "" };
            line(text, format_args!("- {}:{}{within}{follows}: {code}{}", place.file, place.line, it.reason));
            line(text, format_args!("  `{}`", inline(it.at.text.trim())));
        }
    }
    places(text, "Affected, but compiling", affected);
    let tests: Vec<Affected> = tests.iter().map(|it| it.at.clone()).collect();
    places(text, "Tests that reach it", &tests);
    if !unchecked.is_empty() {
        *text += "\n## Not checked\n\n";
        for it in unchecked {
            line(text, format_args!("- `{}`: {}", it.code, it.detail));
        }
    }
}

fn places(text: &mut String, title: &str, places: &[Affected]) {
    if places.is_empty() {
        return;
    }
    line(text, format_args!("\n## {title}: {}\n", counted(places.len(), "place")));
    let same = |a: &Affected, b: &Affected| (&a.place.file, &a.symbol) == (&b.place.file, &b.symbol);
    for group in places.chunk_by(same) {
        let Some(first) = group.first() else { continue };
        let numbers = group.iter().map(|it| it.place.line.to_string()).collect::<Vec<_>>().join(",");
        line(text, format_args!("- {}:{numbers}{}", first.place.file, within(first)));
    }
}

fn within(place: &Affected) -> String {
    let test = if place.test { " (test)" } else { "" };
    place.symbol.as_ref().map_or_else(|| test.to_owned(), |it| format!(" in `{it}`{test}"))
}

/// What went wrong, and what to do about it.
pub fn problem(problem: &Problem) -> String {
    let mut text = format!("# {}\n\n{}\n", problem.code.name(), problem.detail);
    if let Some(edit) = problem.edit {
        line(&mut text, format_args!("\nIn `edits[{edit}]`"));
    }
    if let Some(file) = &problem.file {
        line(&mut text, format_args!("\nFile: {file}"));
    }
    if let Some(hash) = &problem.actual_hash {
        line(&mut text, format_args!("\nActual hash: `{hash}`"));
    }
    if !problem.suggestions.is_empty() {
        line(&mut text, format_args!("\nSuggestions: {}", names(&problem.suggestions)));
    }
    candidates(&mut text, &problem.candidates);
    if let Some(nearest) = &problem.nearest {
        let (place, score) = (&nearest.place, nearest.score);
        line(&mut text, format_args!("\n## Nearest: {}:{} (score {score:.1})\n", place.file, lines(place)));
        text += &fenced("diff", &nearest.diff);
    }
    if let Some(diff) = &problem.diff {
        text += "\n## Since the change\n\n";
        text += &fenced("diff", diff);
    }
    if let Some(it) = &problem.impact {
        reached(&mut text, it);
    }
    if let Some(meta) = &problem.meta {
        text += &super::footer(meta);
    }
    text
}

fn candidates(text: &mut String, candidates: &[ProblemCandidate]) {
    let (mut places, mut symbols): (Vec<_>, Vec<Symbol>) = Default::default();
    for candidate in candidates {
        match candidate {
            ProblemCandidate::Place(it) => places.push(it),
            ProblemCandidate::Symbol(it) => symbols.push(it.clone()),
        }
    }
    if !places.is_empty() {
        *text += "\n## Candidates\n";
        for it in places {
            line(text, format_args!("\n{}:{} (score {:.1})\n", it.place.file, lines(&it.place), it.score));
            *text += &fenced("", &it.text);
        }
    }
    if !symbols.is_empty() {
        *text += "\n## Candidates\n\n";
        symbol_rows(text, &symbols);
    }
}
