//! rust-analyzer's own diagnostics, with the compiler's codes where its own differ.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_ide::{
    AssistResolveStrategy, Diagnostic as RaDiagnostic, DiagnosticCode, DiagnosticsConfig, FileId,
    Severity as RaSeverity,
};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_syntax::{AstNode as _, ast};

use super::doubt::LinesWithErrors;
use super::further_diagnostics::FurtherDiagnostics;
use super::{coverage, doubt};
use crate::bounds::abandoned::About;
use crate::bounds::{Bound, MOST_ERRORS};
use crate::checks::unreadable::Uncompiled;
use crate::checks::{errors, report, unresolved_paths};
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId, merge_equal};
use crate::impact::findings::Findings;
use crate::impact::included_data;
use crate::impact::sent_futures::sent_in;
use crate::impact::whole_file::errors_of_items;
use crate::names::instances;
use crate::resolve::having_crates::in_crates;
use crate::resolve::symbols;
use crate::syntax::positions::span;
use crate::syntax::{Rest, nesting};
use crate::usages::loaded;
use crate::view::parts::check_until;
use crate::view::{Context, Fault, View};
use crate::{LANGUAGE, bounds, view};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Answer, Diagnostic, Missing, MissingCode, Place, Severity};

/// The steps on types outside of bodies that the diagnostics of a file may take, for example for messages.
const STEPS_OF_FILE: u64 = 20_000_000;
const STEPS_OF_BYTE: u64 = 2_000;

impl View {
    /// For the given files, or for all files if none is given.
    pub(crate) fn diagnostics(self, files: &[String]) -> Result<Answer<Vec<Diagnostic>>> {
        let (this, _shared) = self.sharing_types()?;
        let (wanted, left_out) = this.clone().ask(|it| {
            let mut wanted: Vec<Arc<File>> = match files {
                [] => it.files.of(LANGUAGE).cloned().collect(),
                _ => files.iter().filter_map(|name| it.files.get(name).cloned()).collect(),
            };
            let uncompiled = Uncompiled::by(it, it.files.of(LANGUAGE));
            let all = wanted.len();
            wanted.retain(|file| !uncompiled.has(it, &file.path) || Rest::of(file.outline()).is_unreadable);
            let is_any_left_out = wanted.len() < all;
            Ok((wanted, uncompiled.missing().filter(|_| is_any_left_out)))
        })?;
        let asker = this.cancellation_token();
        let checked = check_until(
            &wanted,
            this.deadline(),
            || this.clone(),
            |it, file| {
                if asker.is_cancelled() {
                    return Vec::new();
                }
                let found = diagnostics_of(it, file);
                let mut further = FurtherDiagnostics::default();
                further.add(it, file);
                vec![(found, further)]
            },
        )?;
        let left = wanted.len() - checked.checked;
        let parts = checked.all();
        this.ask(|it| {
            let mut found = Vec::new();
            let mut further = FurtherDiagnostics::default();
            for (of_file, of_builds) in parts {
                found.extend(of_file);
                further.extend(of_builds);
            }
            // A macro that was called during the query may have failed.
            let mut coverage = it.coverage(true);
            further.note(&mut coverage);
            left_out.into_iter().for_each(|it| coverage.lacks(it));
            if left > 0 {
                let all = wanted.len();
                let detail = format!("{left} of {all} files were not checked in time: ask again, or about fewer files");
                coverage.lacks(Missing::being_read(LANGUAGE.name, detail));
            }
            found.append(&mut further.found);
            for file in wanted.iter().filter(|_| !files.is_empty()) {
                coverage.absorb(coverage::file_coverage(it, file));
            }
            if files.is_empty() {
                errors_in_generated(it).into_iter().for_each(|it| coverage.lacks(it));
            }
            Ok(Answer { value: found, coverage })
        })
    }
}

/// The errors in the output of build scripts: these files are not in the workspace, so the errors are not listed.
fn errors_in_generated(cx: &Context<'_>) -> Vec<Missing> {
    let mut lacks = Vec::new();
    // Only files of the workspace are checked again (`doubt`): errors that follow from an unknown type are left out.
    let is_error = |it: &RaDiagnostic| {
        it.severity == RaSeverity::Error && it.code.as_str() != "E0282" && !it.message.contains("{unknown}")
    };
    for (file, id) in cx.generated() {
        let mut errors = full(cx, *id, AssistResolveStrategy::None);
        errors.retain(is_error);
        if let Some(first) = errors.first() {
            let line = file.lines().place(&file.path, span(first.range.range)).line;
            let message = &first.message;
            let errors = if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) };
            let detail = format!("what a build script wrote has {errors}, the first in line {line} of it: {message}");
            let name = file.path.rsplit('/').next().unwrap_or_default();
            lacks.push(Missing::new(MissingCode::MacroOutput, name, detail));
        }
    }
    lacks
}

/// The diagnostics of a file in all crates that include it. One that not all of them have says which do.
pub(crate) fn diagnostics_of(cx: &Context<'_>, file: &Arc<File>) -> Vec<Diagnostic> {
    let Some(id) = cx.file_id(&file.path).filter(|it| is_judged(cx, *it)) else { return Vec::new() };
    let mut found = cx.for_each_instance(id, |it| diagnostics_in_crate(it, file, id));
    let all = found.len();
    let owners = instances::owners(cx.db, id);
    // Last: where the rules come to a bound, rust-analyzer may have no result until the next change.
    let rules = if is_analysed(cx, file, id) { of_rules(cx, file, id) } else { Vec::new() };
    for (nth, found) in found.iter_mut().enumerate() {
        let is_of = |it: &Finding| it.crates.list().is_empty() || it.crates.list().contains(&owners[nth]);
        let told: Vec<&Finding> = rules.iter().filter(|it| owners.len() < 2 || is_of(it)).collect();
        give_codes(found, &told);
        told.into_iter().for_each(|it| add_unless_known(found, it.clone().into()));
        found.sort();
        found.dedup();
    }
    let mut having: BTreeMap<Diagnostic, Vec<usize>> = BTreeMap::new();
    for (nth, it) in found.into_iter().enumerate().flat_map(|(nth, it)| it.into_iter().map(move |it| (nth, it))) {
        having.entry(it).or_default().push(nth);
    }
    // Code is switched off if no crate has it.
    let is_told = |it: &(Diagnostic, Vec<usize>)| it.1.len() == all || it.0.code.as_deref() != Some("inactive-code");
    let told = having.into_iter().filter(is_told).map(|(mut it, having)| {
        let having: Vec<CrateId> = having.iter().filter_map(|nth| owners.get(*nth).copied()).collect();
        it.message.push_str(&in_crates(cx, &having, &owners));
        it
    });
    told.collect()
}

/// A file that no crate includes is not code of the workspace: a fixture, a template, an expression that `include!` takes
/// in. If a manifest could not be read, it may be code, and its syntax is checked.
fn is_judged(cx: &Context<'_>, id: FileId) -> bool {
    let is_broken = || cx.environment.missing.iter().any(|it| it.code == MissingCode::WorkspaceBroken);
    !cx.is_loaded() || cx.sema.file_to_module_defs(id).next().is_some() || is_broken()
}

/// The diagnostics of rust-analyzer for a file in the crate for which it is read.
pub(crate) fn diagnostics_in_crate(cx: &Context<'_>, file: &Arc<File>, id: FileId) -> Vec<Diagnostic> {
    if !is_analysed(cx, file, id) {
        return report::syntax_errors(file).map(Diagnostic::from).collect();
    }
    let found = full(cx, id, AssistResolveStrategy::None);
    let mut known = LinesWithErrors::new();
    let (sure, doubtful): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|it| it.severity != RaSeverity::Error || doubt::is_sure(cx, file, id, it, &mut known));
    let mut diagnostics: Vec<Diagnostic> = sure.into_iter().filter_map(|it| to_model(cx, file, id, it)).collect();
    diagnostics.extend(doubt::instead_of(cx, file, id, &doubtful));
    let place = || format!("the paths of {}", file.path);
    let missed = cx.unless_at_fault(place, || unresolved_paths::unresolved_paths(cx, file, id));
    let mut reported: BTreeSet<Place> = diagnostics.iter().map(|it| it.place.clone()).collect();
    let missed = missed.into_iter().flatten().map(Diagnostic::from);
    diagnostics.extend(missed.filter(|it| reported.insert(it.place.clone())));
    diagnostics.sort();
    diagnostics.dedup();
    diagnostics
}

/// The errors that the rules find in a file, in each crate that includes it.
fn of_rules(cx: &Context<'_>, file: &Arc<File>, id: FileId) -> Vec<Finding> {
    let known = cx.index.errors(id).unwrap_or_else(|| Arc::new(errors::errors_of_file(cx, file)));
    let of_items = cx.index.item_errors(id).unwrap_or_else(|| {
        let most = steps_of_file(cx, id);
        let of_items = || bounds::part("the items", About::File(id), most, || errors_of_items(cx, file));
        let before = cx.stumbles.count();
        let found = cx.unless_at_fault(|| format!("the items of {}", file.path), of_items);
        let found: Arc<[Finding]> = found.unwrap_or_default().into();
        if cx.stumbles.count() == before {
            cx.index.learn_item_errors(id, found.clone());
        }
        found
    });
    let found = of_items.iter().chain(known.bodies.values().flatten()).filter(|it| doubt::is_sure_of(cx, id, it));
    let found = found.filter(|it| it.is_error() && *it.place.file == *file.path).cloned();
    let sent = sent_futures(cx, file, id);
    report::syntax_errors(file).chain(missing_data(cx, id, file)).chain(found).chain(sent).collect()
}

/// The futures that are sent and hold what is not `Send`. They depend on the bodies of the functions that are awaited.
fn sent_futures(cx: &Context<'_>, file: &Arc<File>, id: FileId) -> Vec<Finding> {
    let most = steps_of_file(cx, id);
    let of_crate = |cx: &Context<'_>| {
        let part = || bounds::part("the futures", About::File(id), most, || sent_in(cx, file));
        cx.unless_at_fault(|| format!("the futures of {}", file.path), part).unwrap_or_default()
    };
    let mut found = cx.for_each_instance(id, of_crate).concat();
    merge_equal(&mut found);
    found.retain(|it| *it.place.file == *file.path);
    found
}

/// The files of data that are not there now.
fn missing_data(cx: &Context<'_>, id: FileId, file: &File) -> Vec<Finding> {
    let mut found = Vec::new();
    included_data::missing_in(cx, id, file, &|_| true, &mut Findings::new(&mut found));
    found
}

/// Gives errors of rust-analyzer the codes that the compiler has for them.
fn give_codes(diagnostics: &mut [Diagnostic], rules: &[&Finding]) {
    for known in diagnostics.iter_mut().filter(|it| it.severity == Severity::Error) {
        let is_unknown = known.code.as_deref() == Some(Code::E0282.name());
        let codes = rules.iter().filter(|it| it.place.start == known.place.start);
        let codes = codes.filter(|it| it.code.is_of_unknown_type() == is_unknown);
        let codes: Vec<&str> = codes.map(|it| it.code.name()).filter(|it| !it.is_empty()).collect();
        if let [one] = codes[..] {
            known.code = Some(one.to_owned());
        }
    }
}

/// Adds an error to those of rust-analyzer, which may have the same one with another range.
fn add_unless_known(diagnostics: &mut Vec<Diagnostic>, error: Diagnostic) {
    let is_same = |known: &Diagnostic| {
        let touches = known.place.line <= error.place.end_line && error.place.line <= known.place.end_line;
        known.severity == Severity::Error
            && (known.place.line == error.place.line || touches && known.code == error.code)
    };
    if !diagnostics.iter().any(is_same) {
        diagnostics.push(error);
    }
}

fn is_analysed(cx: &Context<'_>, file: &File, id: FileId) -> bool {
    !Rest::of(file.outline()).is_unreadable && loaded::knows_dependencies(cx, id)
}

/// The unresolved imports of files.
pub(crate) fn unresolved_imports(cx: &Context<'_>, files: &BTreeSet<Arc<str>>) -> Vec<Finding> {
    let mut all = Vec::new();
    for (file, id) in files.iter().filter_map(|it| cx.files.get(it).zip(cx.file_id(it))) {
        let found = diagnostics_in_crate(cx, file, id);
        let imports = found.iter().filter(|it| it.code.as_deref() == Some(Code::E0432.name()));
        all.extend(imports.map(|it| Finding::of_diagnostic(it, Code::E0432, RuleId::UnresolvedNames)));
    }
    all
}

/// All diagnostics of rust-analyzer for a file, with its fixes as far as `fixes` requests them.
pub(crate) fn full(cx: &Context<'_>, id: FileId, fixes: AssistResolveStrategy) -> Vec<RaDiagnostic> {
    let config = DiagnosticsConfig {
        proc_macros_enabled: true,
        proc_attr_macros_enabled: true,
        // Errors that an edit causes are among these.
        disable_experimental: false,
        // Texts are inserted as they are: nobody fills in placeholders.
        snippet_cap: None,
        ..DiagnosticsConfig::test_sample()
    };
    let place = || cx.name_of(id).unwrap_or_else(|| "a file".to_owned());
    let tree = cx.sema.parse_guess_edition(id);
    let mut matches = tree.syntax().descendants().filter_map(ast::MatchArmList::cast);
    // An arm has a byte at least.
    let is_long = usize::from(tree.syntax().text_range().len()) > bounds::MOST_ARMS;
    if is_long && matches.any(|it| it.arms().nth(bounds::MOST_ARMS).is_some()) {
        cx.note_stumble(Fault::Exhausted(Bound::Steps), place);
        return Vec::new();
    }
    let most = steps_of_file(cx, id);
    let full = || view::uncaught(view::analysis(cx.db).full_diagnostics(&config, fixes, id));
    let found = cx.unless_at_fault(place, || bounds::part("the diagnostics", About::File(id), most, full));
    let mut found = found.unwrap_or_default();
    if found.iter().any(|it| nesting::is_too_long(&it.message)) {
        let place = || format!("a macro call in {}", cx.name_of(id).unwrap_or_default());
        cx.note_stumble(Fault::Exhausted(Bound::Steps), place);
    }
    let is_refusal = |message: &str| nesting::is_refusal(message) || nesting::is_too_long(message);
    found.retain(|it| it.range.file_id == id && !is_refusal(&it.message));
    if found.len() > MOST_ERRORS {
        found.sort_by_key(|it| (it.severity != RaSeverity::Error, it.range.range.start()));
        found.truncate(MOST_ERRORS);
        cx.note_stumble(Fault::Exhausted(Bound::Errors), || cx.name_of(id).unwrap_or_default());
    }
    found
}

/// The steps outside of bodies that one part of the diagnostics of a file may take.
fn steps_of_file(cx: &Context<'_>, id: FileId) -> u64 {
    STEPS_OF_FILE + STEPS_OF_BYTE * cx.db.file_text(id).text(cx.db).len() as u64
}

/// Converts to the model's type; allowed lints are left out.
pub(crate) fn to_model(cx: &Context<'_>, file: &File, id: FileId, found: RaDiagnostic) -> Option<Diagnostic> {
    let severity = match found.severity {
        RaSeverity::Error => Severity::Error,
        RaSeverity::Warning => Severity::Warning,
        RaSeverity::WeakWarning => Severity::Hint,
        RaSeverity::Allow => return None,
    };
    let at = span(found.range.range);
    Some(Diagnostic {
        place: file.lines().place(&file.path, at),
        severity,
        code: Some(code(found.code, &found.message)),
        symbol: symbols::enclosing_path(cx, file, id, at.start),
        confirmed: None,
        build: None,
        message: found.message,
        source: "rust-analyzer".to_owned(),
    })
}

/// The compiler's code: rust-analyzer has one for the number of arguments and of generic arguments, and its own for
/// macros.
fn code(code: DiagnosticCode, message: &str) -> String {
    match code.as_str() {
        "E0107" if message.starts_with("expected ") && message.contains("argument") => "E0061".to_owned(),
        "unresolved-macro-call" if message.contains("::") => Code::E0433.name().to_owned(),
        other => other.to_owned(),
    }
}
