//! Changes, impacts and problems as Markdown.

use std::collections::BTreeSet;

use super::code::fenced;
use super::lists::{diagnostic_rows, inline, more, possible, symbol_rows};
use super::markdown::{apart, counted, footer, item, line, lines, names, one, paragraph, short_hash};
use crate::budget::Part;
use crate::change::{Candidate, IMPACT_PARTS, NAMED_TESTS};
use crate::pages::Headed;
use crate::{
    Affected, Broken, ChangeReport, Changed, Diagnostic, Finding, FindingKind, Impact, ImpactReport, Landed, Meta,
    Missing, Place, Problem, ProblemCandidate, Reaching, Severity, Strategy, Symbol, Unchecked,
};

/// A change: first the result, then what it broke, where it landed, and how to undo it.
pub(crate) fn change(report: &ChangeReport) -> String {
    let head = report.pages.head().map_or_else(|| headline(report), str::to_owned);
    let mut text = one(format_args!("# {head}"));
    let root = report.meta.root.as_deref();
    match &report.change {
        Some(change) => {
            let root = root.map(|it| format!(" in `{it}`")).unwrap_or_default();
            text.push('\n');
            line(&mut text, format_args!("Change `{change}`{root}: `undo` takes it back"));
        }
        None => {
            if let Some(root) = root {
                text.push('\n');
                line(&mut text, format_args!("In `{root}`"));
            }
        }
    }
    if let Some(commit) = &report.commit {
        text.push('\n');
        line(&mut text, format_args!("It is committed as `{commit}`"));
    }
    if !report.possible.is_empty() {
        apart(&mut text, format_args!("## Left as they are: {}", counted(report.possible.len(), "possible usage")));
        possible(&mut text, &report.possible);
    }
    let runs = match &report.change {
        Some(change) => format!("`verify` with `kind: test` and `change: {change}` runs them"),
        None => RUN_BY_NAME.to_owned(),
    };
    let page = Page { edits: &report.edits, runs: &runs, meta: Some(&report.meta), parts: report.impact_parts() };
    reached(&mut text, &report.impact, &page);
    if !report.diagnostics.new.is_empty() {
        text += "\n## New diagnostics\n\n";
        diagnostic_rows(&mut text, &report.diagnostics.new);
    }
    let findings: Vec<&Finding> = report.validation.iter().filter(|it| says_more(it, report)).collect();
    if !findings.is_empty() {
        text += "\n## To look at\n\n";
        for it in findings {
            let hint = if it.suggestions.is_empty() { String::new() } else { format!(": {}", names(&it.suggestions)) };
            line(&mut text, format_args!("- {}:{} `{}`: {}{hint}", it.file, it.line, inline(&it.text), it.detail));
        }
    }
    if !report.diagnostics.fixed.is_empty() {
        text += "\n## Fixed diagnostics\n\n";
        diagnostic_rows(&mut text, &report.diagnostics.fixed);
    }
    landed(&mut text, report);
    for file in &report.files {
        let from = file.moved_from.as_ref().map(|it| format!(", moved from {it}")).unwrap_or_default();
        let state = match &file.hash {
            Some(hash) => format!("hash `{}`", short_hash(hash)),
            None if file.diff.is_empty() => "moved".to_owned(),
            None => "deleted".to_owned(),
        };
        apart(&mut text, format_args!("{}{from}, {state}", file.file));
        if !file.diff.is_empty() {
            text += &fenced("diff", &file.diff);
        }
        if let Some(note) = &file.note {
            text.push('\n');
            line(&mut text, format_args!("Note: {note}"));
        }
    }
    more(&mut text, report.next_cursor.as_deref());
    text
}

/// Whether a finding says more than the errors of the reply do.
fn says_more(finding: &Finding, report: &ChangeReport) -> bool {
    let broken = report.impact.broken.iter().map(|it| &it.at.place);
    let errors = report.diagnostics.new.iter().filter(|it| it.severity == Severity::Error).map(|it| &it.place);
    let is_there = |it: &Place| it.file == finding.file && (it.line..=it.end_line).contains(&finding.line);
    !finding.suggestions.is_empty() || !broken.chain(errors).any(is_there)
}

/// Where the edits landed. Exact matches in the same file share a line. An edit that certainly landed where it was meant
/// to is in the diff, and named there only.
fn landed(text: &mut String, report: &ChangeReport) {
    let is_sure = |it: &Landed| matches!(it.strategy, Strategy::Exact | Strategy::Symbol | Strategy::Whole);
    let is_shown = |it: &Landed| report.files.iter().any(|file| file.file == it.place.file && !file.diff.is_empty());
    let is_in_diff = |it: &&Landed| is_sure(it) && !it.merged && is_shown(it);
    let edits: Vec<&Landed> = report.edits.iter().filter(|it| !is_in_diff(it)).collect();
    if edits.is_empty() {
        return;
    }
    *text += "\n## Edited\n\n";
    let together = |a: &Landed, b: &Landed| is_sure(a) && a.strategy == b.strategy && a.place.file == b.place.file;
    for group in edits.chunk_by(|a, b| together(a, b)) {
        let Some(first) = group.first() else { continue };
        let numbers = group.iter().map(|it| lines(&it.place)).collect::<Vec<_>>().join(",");
        let how = match first.strategy {
            _ if is_sure(first) => first.strategy.name().to_owned(),
            inexact => {
                format!("{} match, score {:.1}: compare with what was meant", inexact.name(), tenths(first.score))
            }
        };
        let kept: Vec<String> = group.iter().flat_map(|it| &it.kept).map(lines).collect();
        let merged = match (group.iter().any(|it| it.merged), kept.is_empty()) {
            (false, _) => String::new(),
            (true, true) => ", merged with changes of others".to_owned(),
            (true, false) => format!(", merged with changes of others, which stay: lines {}", kept.join(",")),
        };
        line(text, format_args!("- {}:{numbers} ({how}{merged})", first.place.file));
    }
}

/// How many files a line names.
const NAMED_FILES: usize = 3;

impl Headed for ChangeReport {
    fn heading(&self) -> String {
        headline(self)
    }
}

impl Headed for ImpactReport {
    fn heading(&self) -> String {
        outcome(self)
    }
}

/// The outcome, the worst fact first: a text that does not parse, what it breaks elsewhere, the errors of the new text,
/// what is not known, and the warnings.
fn headline(report: &ChangeReport) -> String {
    let applied = report.applied;
    if !applied && report.files.is_empty() && report.edits.is_empty() {
        return "Nothing changed".to_owned();
    }
    let broke = broken_files(report).map(|it| format!("{} {it}", if applied { "broke" } else { "break" }));
    let has = own_errors(report).map(|it| format!("{} {it}", if applied { "has" } else { "have" }));
    let doubt = if applied { "whether it breaks" } else { "whether it would break" };
    let is_known = is_judged(&report.meta, &report.impact);
    let outcome = match (broke, has) {
        // What the parser makes of a broken text says little about its references.
        (Some(broke), Some(has)) if does_not_parse(report) => format!("{has}, and {broke}"),
        (Some(broke), Some(has)) => format!("{broke}, and {has}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => {
            let unread: BTreeSet<&str> = unread_files(report).collect();
            if !unread.is_empty() {
                let files = Vec::from_iter(unread);
                let were = if files.len() == 1 { "was" } else { "were" };
                let files = if files.len() > NAMED_FILES { counted(files.len(), "file") } else { files.join(", ") };
                let fact = format!("{files} {were} not checked, since no module or package includes it");
                return match applied {
                    true => format!("Edit successful, but {fact}"),
                    false => format!("Dry run, nothing written: nothing would break, but {fact}"),
                };
            }
            return match (applied, is_known) {
                (true, true) => format!("Edit successful{}", small_facts(report)),
                (true, false) => format!("Edit successful; {doubt} anything is not known in full"),
                (false, true) => format!("Dry run, nothing written: the edit would succeed{}", small_facts(report)),
                (false, false) => {
                    "Dry run, nothing written: whether the edit would break anything is not known in full".to_owned()
                }
            };
        }
    };
    let outcome = if is_known { outcome } else { format!("{outcome}; {doubt} more is not known in full") };
    match outcome.strip_prefix("has ") {
        _ if !applied => format!("Dry run, nothing written: the edit would {outcome}"),
        Some(errors) => format!("Edit made, with {errors}"),
        None => format!("Edit successful, but {outcome}"),
    }
}

/// The edited files that nothing includes, if nothing else is unknown.
fn unread_files(report: &ChangeReport) -> impl Iterator<Item = &str> {
    let missing = report.meta.missing.iter();
    let is_all = !report.meta.complete && missing.clone().all(|it| it.code == "not_in_a_package");
    missing.filter(move |_| is_all).filter_map(|it| it.scope.as_deref())
}

/// Whether all of what breaks is known. That tests may be missing does not matter for that.
fn is_judged(meta: &Meta, impact: &Impact) -> bool {
    let is_of_tests = |lack: &Missing| impact.unchecked.iter().any(|it| it.code == TESTS && it.detail == lack.detail);
    meta.complete || !meta.missing.is_empty() && meta.missing.iter().all(is_of_tests)
}

/// What a successful edit has to say: new warnings, and that it was merged.
fn small_facts(report: &ChangeReport) -> String {
    let is_warning = |it: &&Diagnostic| it.severity == Severity::Warning;
    let warnings = report.diagnostics.new.iter().filter(is_warning).map(|it| (it.place.file.as_str(), it.place.line));
    let warnings = counted_places(&warnings.collect::<Vec<_>>(), "new warning");
    let merged = report.edits.iter().any(|it| it.merged).then(|| "merged with changes of others".to_owned());
    let facts: Vec<String> = merged.into_iter().chain(warnings.map(|it| format!("with {it}"))).collect();
    if facts.is_empty() { String::new() } else { format!(", {}", facts.join(", ")) }
}

/// Whether a broken place is an error of the new text itself: in a new file, in what the change declares, or without a
/// changed symbol that it names.
fn is_own(broken: &Broken, report: &ChangeReport) -> bool {
    let Affected { place, cause, symbol, .. } = &broken.at;
    let is_within = cause.is_none() || cause == symbol;
    report.files.iter().any(|it| it.file == place.file && (is_within || it.created && it.moved_from.is_none()))
}

fn broken_files(report: &ChangeReport) -> Option<String> {
    let broken = report.impact.broken.iter().filter(|it| !is_own(it, report));
    let files: BTreeSet<&str> = broken.map(|it| it.at.place.file.as_str()).collect();
    Some(match files.len() {
        0 => return None,
        few @ 1..=NAMED_FILES => {
            let named = Vec::from_iter(files).join(", ");
            format!("references in {} {named}", if few == 1 { "file" } else { "files" })
        }
        many => format!("references in {many} files"),
    })
}

/// The errors that appear with the change and are not about its references, with the place of the first one.
fn own_errors(report: &ChangeReport) -> Option<String> {
    let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
    let new = report.diagnostics.new.iter().filter(is_error).map(|it| (it.place.file.as_str(), it.place.line));
    let own = report.impact.broken.iter().filter(|it| is_own(it, report));
    let own = own.map(|it| (it.at.place.file.as_str(), it.at.place.line));
    let is_syntax = |it: &&Finding| it.kind == FindingKind::Syntax;
    let syntax = report.validation.iter().filter(is_syntax).map(|it| (it.file.as_str(), it.line));
    let mut errors: Vec<(&str, usize)> = new.chain(own).collect();
    // Where no engine has judged the text, its syntax is known all the same.
    if errors.is_empty() {
        errors = syntax.collect();
    }
    counted_places(&errors, "new error")
}

/// "2 new errors (first at src/lib.rs:6)".
fn counted_places(places: &[(&str, usize)], thing: &str) -> Option<String> {
    let (file, line) = places.first()?;
    let first = if places.len() == 1 { "" } else { "first at " };
    Some(format!("{} ({first}{file}:{line})", counted(places.len(), thing)))
}

fn does_not_parse(report: &ChangeReport) -> bool {
    report.validation.iter().any(|it| it.kind == FindingKind::Syntax)
}

/// The outcome of a hypothetical change.
fn outcome(report: &ImpactReport) -> String {
    match (report.impact.broken.len(), is_judged(&report.meta, &report.impact)) {
        (0, false) => "Whether anything would break is not known in full".to_owned(),
        (0, true) => "Nothing would break".to_owned(),
        (broken, false) => format!("At least {} would break", counted(broken, "place")),
        (broken, true) => format!("{} would break", counted(broken, "place")),
    }
}

/// The impact of a hypothetical change.
pub(crate) fn impact(report: &ImpactReport) -> String {
    let head = report.pages.head().map_or_else(|| outcome(report), str::to_owned);
    let mut text = one(format_args!("# {head}"));
    let page = Page { edits: &[], runs: RUN_BY_NAME, meta: Some(&report.meta), parts: report.pages.parts };
    reached(&mut text, &report.impact, &page);
    more(&mut text, report.next_cursor.as_deref());
    text
}

/// How tests are run that no change token names.
const RUN_BY_NAME: &str = "`verify` with `kind: test` and their names as `tests` runs them";

/// What an impact is shown with.
struct Page<'a> {
    /// Where the edits landed.
    edits: &'a [Landed],
    /// How the tests are run.
    runs: &'a str,
    meta: Option<&'a Meta>,
    /// The parts of the impact that are in the page. Without a total the page is the whole.
    parts: [Part; IMPACT_PARTS],
}

/// The impact. Places that the change itself edits are in its diff, and what is missing is below the reply.
fn reached(text: &mut String, impact: &Impact, page: &Page<'_>) {
    let Page { edits, runs, meta, parts: [_, all_broken, all_affected, all_tests, _] } = page;
    let missing = meta.map(|it| it.missing.as_slice()).unwrap_or_default();
    let Impact { changed, broken, affected, tests, unchecked } = impact;
    if !changed.is_empty() {
        *text += "\n## Changed symbols\n\n";
        for Changed { symbol, kind, before, after } in changed {
            let both = match (before, after) {
                // An unchanged head says nothing about the change.
                (Some(before), Some(after)) if inline(before) == inline(after) => String::new(),
                (Some(before), Some(after)) => format!(": `{}` → `{}`", inline(before), inline(after)),
                (Some(before), None) => format!(": `{}`", inline(before)),
                (None, Some(after)) => format!(": `{}`", inline(after)),
                (None, None) => String::new(),
            };
            line(text, format_args!("- `{symbol}` {}{both}", kind.name()));
        }
    }
    if !broken.is_empty() {
        apart(text, format_args!("## Broken: {}", counted_of(broken.len(), all_broken.total, "place")));
        let causes: Vec<&str> = changed.iter().map(|it| it.symbol.as_str()).collect();
        by_cause(text, broken, if let [only] = causes.as_slice() { Some(only) } else { None });
    }
    let is_edited = |it: &Affected| {
        let holds = |edit: &Landed| (edit.place.line..=edit.place.end_line).contains(&it.place.line);
        edits.iter().any(|edit| edit.place.file == it.place.file && holds(edit))
    };
    let edited = affected.iter().filter(|it| is_edited(it)).count();
    let affected: Vec<&Affected> = affected.iter().filter(|it| !is_edited(it)).collect();
    if !affected.is_empty() {
        // Of a place that no engine has judged it is not known that it compiles.
        let is_judged = meta.is_none_or(|it| it.complete || !missing.iter().any(|it| UNJUDGED.contains(&&*it.code)));
        let count = counted_of(affected.len(), all_affected.total.saturating_sub(edited), "place");
        match is_judged {
            true => apart(text, format_args!("## Affected, but compiling: {count}")),
            false => apart(text, format_args!("## Affected, not known in full whether they compile: {count}")),
        }
        places(text, affected);
    }
    reaching(text, tests, all_tests.total, runs);
    not_checked(text, unchecked, missing);
}

/// The codes of `missing` with which some places were not judged.
const UNJUDGED: [&str; 7] =
    ["indexing", "engine_restarting", "engine_down", "engine_missing", "timeout", "too_many", "untrusted"];

/// "3 of 17 places" for a page, "17 places" for the whole.
fn counted_of(shown: usize, total: usize, thing: &str) -> String {
    if total > shown { format!("{shown} of {}", counted(total, thing)) } else { counted(shown, thing) }
}

/// Limits that every change of a language has, by their codes. What is about this change follows in full.
fn not_checked(text: &mut String, unchecked: &[Unchecked], missing: &[Missing]) {
    const ALWAYS: [&str; 5] = ["borrow_checker", "macro_output", "cfg_off", "untyped_code", "vet"];
    // The detail of what is about this change names its files.
    let is_general = |it: &&Unchecked| ALWAYS.contains(&it.code.as_str()) && !it.detail.contains(['/', ':'].as_slice());
    let is_limit = |it: &&Unchecked| is_general(it) || it.code != "cfg_off" && ALWAYS.contains(&it.code.as_str());
    let is_missing = |it: &&Unchecked| {
        missing.iter().any(|lack| lack.detail == it.detail && (lack.code == it.code || it.code == TESTS))
    };
    let own = unchecked.iter().filter(|it| !is_missing(it));
    let (limits, others): (Vec<&Unchecked>, Vec<&Unchecked>) = own.partition(is_limit);
    if !others.is_empty() {
        *text += "\n## Not checked\n\n";
        for it in others {
            item(text, format_args!("- `{}`: ", it.code), &it.detail, "");
        }
    }
    if !limits.is_empty() {
        let codes: Vec<String> = limits.iter().map(|it| format!("`{}`", it.code)).collect();
        text.push('\n');
        line(text, format_args!("Not checked, as always: {}", codes.join(", ")));
    }
}

/// The code of `unchecked` for tests that may be missing.
const TESTS: &str = semdex_model::Unchecked::TESTS;

/// For how many places with the same reason the text is shown.
const SHOWN_TEXTS: usize = 5;
/// How much of a line is shown.
const SHOWN_WIDTH: usize = 120;

/// One heading for each reason, below it a line for each file, and the text of the first places outside tests.
fn by_cause(text: &mut String, broken: &[Broken], only_cause: Option<&str>) {
    type Reason<'a> = (Option<&'a str>, &'a str, Option<&'a str>, bool, Option<&'a str>);
    let mut reasons: Vec<(Reason<'_>, Vec<&Affected>)> = Vec::new();
    for Broken { at, code, reason, follows } in broken {
        let key = (code.as_deref(), reason.as_str(), at.cause.as_deref(), *follows, at.build.as_deref());
        match reasons.iter_mut().find(|it| it.0 == key) {
            Some((_, places)) => places.push(at),
            None => reasons.push((key, vec![at])),
        }
    }
    for ((code, reason, cause, follows, build), places) in reasons {
        let code = code.map(|it| format!("{it} ")).unwrap_or_default();
        let cause = cause
            .filter(|it| !reason.contains(it) && Some(*it) != only_cause)
            .map(|it| format!(" (by `{it}`)"))
            .unwrap_or_default();
        let follows = if follows { ", through another broken place" } else { "" };
        let count = if places.len() > 1 { format!(", {}", counted(places.len(), "place")) } else { String::new() };
        let build = build.map(|it| format!(", with {it}")).unwrap_or_default();
        // Some servers write sentences.
        let mut reason = reason.trim_end().trim_end_matches('.').lines();
        let first = reason.next().unwrap_or_default();
        line(text, format_args!("{code}{first}{cause}{follows}{build}{count}"));
        for further in reason.map(str::trim).filter(|it| !it.is_empty()) {
            line(text, format_args!("  {further}"));
        }
        let mut texts = SHOWN_TEXTS;
        for (file, here) in by_file(places) {
            let line_of_first = here.first().map(|it| it.place.line);
            let is_one_line = here.iter().all(|it| Some(it.place.line) == line_of_first);
            if let Some(at) = here.first().filter(|_| is_one_line)
                && !at.test
                && texts > 0
            {
                line(text, format_args!("- {file}:{}: `{}`", at.place.line, shortened(&inline(at.text.trim()))));
                texts -= 1;
                continue;
            }
            line(text, format_args!("- {file}:{}{}", numbers(&here), in_tests(&here)));
            let mut shown = here.clone();
            shown.retain(|it| !it.test);
            shown.dedup_by_key(|it| it.place.line);
            for at in shown.into_iter().take(texts) {
                line(text, format_args!("  {}: `{}`", at.place.line, shortened(&inline(at.text.trim()))));
                texts -= 1;
            }
        }
        text.push('\n');
    }
    // The next heading starts with an empty line.
    text.pop();
}

/// The places by file, in the order in which the files first appear.
fn by_file(places: Vec<&Affected>) -> Vec<(&str, Vec<&Affected>)> {
    let mut files: Vec<(&str, Vec<&Affected>)> = Vec::new();
    for at in places {
        match files.iter_mut().find(|it| it.0 == at.place.file) {
            Some((_, here)) => here.push(at),
            None => files.push((&at.place.file, vec![at])),
        }
    }
    files
}

/// The numbers of the lines, each once.
fn numbers(places: &[&Affected]) -> String {
    let lines: BTreeSet<usize> = places.iter().map(|it| it.place.line).collect();
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// " [57 in tests]".
fn in_tests(places: &[&Affected]) -> String {
    match places.iter().filter(|it| it.test).count() {
        0 => String::new(),
        all if all == places.len() && all == 1 => " [in a test]".to_owned(),
        all if all == places.len() => " [all in tests]".to_owned(),
        some => format!(" [{some} in tests]"),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn places(text: &mut String, places: Vec<&Affected>) {
    for (file, here) in by_file(places) {
        line(text, format_args!("- {file}:{}{}", numbers(&here), in_tests(&here)));
    }
}

/// The nearest tests by file, with the names by which they are run, and how all are run.
fn reaching(text: &mut String, tests: &[Reaching], total: usize, runs: &str) {
    if tests.is_empty() {
        return;
    }
    let count = if total > tests.len() { format!("{} of {total}", tests.len()) } else { tests.len().to_string() };
    apart(text, format_args!("## Tests that reach it: {count}; {runs}"));
    for (file, here) in by_file(tests.iter().take(NAMED_TESTS).map(|it| &it.at).collect()) {
        let mut named: Vec<&str> =
            here.iter().filter_map(|it| it.symbol.as_deref()?.rsplit(['.', ':', '/']).next()).collect();
        named.dedup();
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        // In the order of the names.
        let lines: Vec<String> = here.iter().map(|it| it.place.line.to_string()).collect();
        line(text, format_args!("- {file}:{}{named}", lines.join(",")));
    }
    if let more @ 1.. = tests.len().saturating_sub(NAMED_TESTS) {
        line(text, format_args!("- and {more} more"));
    }
}

/// A problem with its details.
pub(crate) fn problem(problem: &Problem) -> String {
    let mut text = format!("# {}\n\n", problem.code.name());
    paragraph(&mut text, &problem.detail);
    let details = [
        problem.edit.map(|it| format!("In `edits[{it}]`")),
        problem.file.as_ref().map(|it| format!("File: {it}")),
        problem.actual_hash.as_ref().map(|it| format!("Actual hash: `{}`", short_hash(it))),
        Some(&problem.suggestions).filter(|it| !it.is_empty()).map(|it| format!("Suggestions: {}", names(it))),
        Some(&problem.trees).filter(|it| !it.is_empty()).map(|it| format!("Trees: {}", names(it))),
    ];
    for it in details.into_iter().flatten() {
        text.push('\n');
        line(&mut text, format_args!("{it}"));
    }
    candidates(&mut text, &problem.candidates);
    if let Some(nearest) = &problem.nearest {
        let (place, score) = (&nearest.place, tenths(nearest.score));
        apart(&mut text, format_args!("## Nearest: {}:{} (score {score:.1})", place.file, lines(place)));
        text += &fenced("diff", &nearest.diff);
    }
    conflict(&mut text, problem);
    if let Some(diff) = &problem.diff {
        text += "\n## Since the change\n\n";
        text += &fenced("diff", diff);
    }
    if !problem.lost.is_empty() {
        text += "\n## Lines that would be lost\n\n";
        let lost: String = problem.lost.iter().map(|it| format!("{}: {}\n", it.line, it.text)).collect();
        text += &fenced("", &lost);
    }
    if let Some(it) = &problem.impact {
        let page = Page { edits: &[], runs: RUN_BY_NAME, meta: problem.meta.as_ref(), parts: Default::default() };
        reached(&mut text, it, &page);
    }
    if let Some(meta) = &problem.meta {
        // What the problem itself says is not repeated.
        let is_said = |it: &Missing| it.detail == problem.detail || problem.detail.contains(&it.detail);
        let missing = meta.missing.iter().filter(|it| !is_said(it)).cloned().collect();
        text += &footer(&Meta { missing, ..meta.clone() });
    }
    if let Some(id) = &problem.request_id {
        text += if problem.meta.is_some() { "- " } else { "\n---\n" };
        line(&mut text, format_args!("request `{id}`"));
    }
    text
}

/// A score with one decimal, never rounded up to the threshold that it misses.
fn tenths(score: f64) -> f64 {
    (score * 10.0).floor() / 10.0
}

/// The place that the request and somebody else change, as each has it.
fn conflict(text: &mut String, problem: &Problem) {
    let Some(place) = &problem.place else { return };
    for (title, version) in [
        (one(format_args!("In the file now ({}:{})", place.file, lines(place))), &problem.theirs),
        ("With this edit".to_owned(), &problem.ours),
        ("Before both changes".to_owned(), &problem.base),
    ] {
        apart(text, format_args!("## {}", title.trim_end()));
        *text += &fenced("", version.as_deref().unwrap_or_default());
    }
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
        *text += "\n## Candidates\n\n";
        // Equal lines of a file share one.
        let is_line = |it: &Candidate| !it.text.trim_end().contains('\n');
        let together = |a: &&Candidate, b: &&Candidate| {
            is_line(a) && (&a.place.file, &a.text, a.score) == (&b.place.file, &b.text, b.score)
        };
        for group in places.chunk_by(together) {
            let Some(first) = group.first() else { continue };
            let file = &first.place.file;
            let is_exact = first.score >= 100.0;
            let score = if is_exact { String::new() } else { format!(" (score {:.1})", tenths(first.score)) };
            if is_line(first) {
                let numbers = group.iter().map(|it| it.place.line.to_string()).collect::<Vec<_>>().join(",");
                line(text, format_args!("- {file}:{numbers}{score}: `{}`", shortened(&inline(first.text.trim()))));
            } else {
                line(text, format_args!("- {file}:{}{score}:", lines(&first.place)));
                text.push('\n');
                *text += &fenced("", &first.text);
                text.push('\n');
            }
        }
        if text.ends_with("\n\n") {
            text.pop();
        }
    }
    if !symbols.is_empty() {
        *text += "\n## Candidates\n\n";
        symbol_rows(text, &symbols);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn report(code: Option<&str>) -> ImpactReport {
        let missing: Vec<Missing> = code
            .map(|it| Missing { code: it.to_owned(), detail: "later".to_owned(), scope: None })
            .into_iter()
            .collect();
        let meta = Meta {
            workspace: None,
            root: None,
            revision: 1,
            state: State::Ready,
            complete: missing.is_empty(),
            missing,
            fallback: None,
            builds: Vec::new(),
            overlays: Vec::new(),
            elapsed_ms: 0.0,
        };
        let place = Place { file: "a.ts".to_owned(), start: 0, end: 1, line: 3, end_line: 3, column: 1 };
        let affected =
            Affected { place, text: "f(1);".to_owned(), symbol: None, cause: None, test: false, build: None };
        let impact = Impact {
            changed: Vec::new(),
            broken: Vec::new(),
            affected: vec![affected],
            tests: Vec::new(),
            unchecked: Vec::new(),
        };
        ImpactReport { impact, next_cursor: None, meta, pages: Default::default() }
    }

    #[test]
    fn a_place_that_was_not_judged_is_not_said_to_compile() {
        assert!(impact(&report(None)).contains("## Affected, but compiling: 1 place\n"));
        assert!(impact(&report(Some("cfg_off"))).contains("## Affected, but compiling: 1 place\n"));
        let unknown = impact(&report(Some("timeout")));
        assert!(unknown.contains("## Affected, not known in full whether they compile: 1 place\n"), "{unknown}");
    }

    #[test]
    fn tests_that_may_be_missing_are_no_doubt_about_what_breaks() {
        let mut found = report(Some("indexing"));
        let unchecked = |code: &str| Unchecked { code: code.to_owned(), detail: "later".to_owned() };
        found.impact.unchecked = vec![unchecked("tests")];
        let text = impact(&found);
        assert!(text.starts_with("# Nothing would break\n") && !text.contains("## Not checked"), "{text}");
        found.impact.unchecked = vec![unchecked("indexing")];
        assert!(impact(&found).starts_with("# Whether anything would break is not known in full\n"));
    }

    #[test]
    fn a_line_is_named_once() {
        let mut found = report(None);
        let first = found.impact.affected.remove(0);
        let at = |line: usize, text: &str| {
            let place = Place { line, ..first.place.clone() };
            Affected { place, text: text.to_owned(), ..first.clone() }
        };
        found.impact.affected = [4, 5, 9, 6, 9].map(|it| at(it, "")).to_vec();
        let broken = |line: usize, reason: &str| Broken {
            at: at(line, &format!("line {line}")),
            code: None,
            reason: reason.to_owned(),
            follows: false,
        };
        found.impact.broken =
            vec![broken(42, "one"), broken(42, "one"), broken(42, "two"), broken(7, "two"), broken(42, "two")];
        let text = impact(&found);
        assert!(text.contains("\n- a.ts:4,5,6,9\n"), "{text}");
        assert!(text.contains("one, 2 places\n- a.ts:42: `line 42`\n"), "{text}");
        assert!(text.contains("two, 3 places\n- a.ts:7,42\n  42: `line 42`\n  7: `line 7`\n"), "{text}");
    }

    #[test]
    fn equal_candidates_share_a_line() {
        let at = |line: usize, text: &str, score: f64| {
            let place =
                semdex_model::Place { file: "a.py".to_owned(), start: 0, end: 1, line, end_line: line, column: 1 };
            semdex_model::Candidate { place, score, text: text.to_owned() }
        };
        let candidates = vec![at(3, "url", 100.0), at(9, "url", 100.0), at(4, "a\nb\n", 97.26)];
        let help = semdex_model::Help { candidates, ..semdex_model::Help::default() };
        let error = semdex_model::Error::new(semdex_model::Code::Ambiguous, "several").with_help(help);
        let text = problem(&Problem::new(error));
        assert!(
            text.ends_with("## Candidates\n\n- a.py:3,9: `url`\n- a.py:4 (score 97.2):\n\n```\na\nb\n```\n"),
            "{text}"
        );
    }

    #[test]
    fn the_lines_of_a_reason_stay_lines() {
        let mut found = report(None);
        let at = found.impact.affected.remove(0);
        let reason = "not enough arguments\n\thave (int)\n\twant (int, bool)".to_owned();
        found.impact.broken.push(Broken { at, code: Some("WrongArgCount".to_owned()), reason, follows: false });
        let text = impact(&found);
        assert!(
            text.contains("WrongArgCount not enough arguments\n  have (int)\n  want (int, bool)\n- a.ts:3"),
            "{text}"
        );
    }
}
