//! What differs between the default build and a further build that compiles a place.

use std::collections::BTreeSet;

use ra_ap_base_db::{Crate as CrateId, FURTHER_BUILD, ReleaseChannel, further_build, toolchain_channel};
use ra_ap_cfg::{CfgAtom, CfgExpr, CfgOptions};
use ra_ap_hir::{Crate, ModuleSource, Semantics};
use ra_ap_hir_def::nameres::crate_def_map;
use ra_ap_hir_def::nameres::diagnostics::{DefDiagnostic, DefDiagnosticKind};
use ra_ap_hir_expand::proc_macro::ProcMacros;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use rustc_hash::FxHashSet;

use super::instances::{first_like, is_of_doctests, pin_to};
use crate::syntax::attributes::{attributes_of, cfg_condition};
use crate::syntax::positions::tokens_at;

/// The name of the build that compiles doctests.
pub(crate) const DOCTEST: &str = "doctest";

/// The most differences that are named where no condition around the place says which of them counts.
const MOST_NAMED: usize = 3;

/// The name of a build for a place: `feature=parallel`, `target_os=windows`, `not(debug_assertions)`. Of the conditions
/// that hold only in this build it has those that code around the place asks for.
pub(crate) fn name_at(db: &RootDatabase, krate: CrateId, file: FileId, at: usize) -> String {
    if is_of_doctests(db, krate) {
        return DOCTEST.to_owned();
    }
    let default = first_like(db, Crate::from(krate)).base();
    let (own, other) = (krate.cfg_options(db), default.cfg_options(db));
    let mut asked: BTreeSet<CfgAtom> = BTreeSet::new();
    let _pinned = pin_to(db, file, krate);
    let sema = Semantics::new(db);
    let tree = sema.parse_guess_edition(file);
    if let Some(token) = tokens_at(tree.syntax(), at).right_biased() {
        token.parent_ancestors().for_each(|it| conditions(&it, &mut asked));
    }
    let mut module = sema.file_to_module_defs(file).find(|it| it.krate(db).base() == krate);
    while let Some(it) = module {
        if let Some(declaration) = it.declaration_source(db) {
            declaration.value.syntax().ancestors().for_each(|it| conditions(&it, &mut asked));
        }
        if let ModuleSource::SourceFile(it) = it.definition_source(db).value {
            conditions(it.syntax(), &mut asked);
        }
        module = it.parent(db);
    }
    name(&differences(own, other), &asked)
}

/// Whether the errors of a crate in a further build are the compiler's. For that the build differs from the default build
/// in its features alone, since only then its dependencies are its own, its procedural macros were built, and the compiler
/// refuses none of its crates.
pub(crate) fn is_checked(db: &RootDatabase, krate: CrateId) -> bool {
    let name = further_build(db, krate).map_or("", |it| it.as_str());
    let is_of_features = |it: &str| it.starts_with("features=") || it.starts_with("feature=");
    name != DOCTEST && name.split(',').all(is_of_features) && !is_refused(db, krate, &mut FxHashSet::default())
}

/// Whether the compiler refuses a crate, or one that it depends on in the same build, whatever its other code is: by
/// `compile_error!` among its items, as for features that exclude each other, or for a feature of the language with a
/// stable compiler. A procedural macro that was not built counts too: what it would make is not known.
fn is_refused(db: &RootDatabase, krate: CrateId, seen: &mut FxHashSet<CrateId>) -> bool {
    if krate.data(db).is_proc_macro {
        return ProcMacros::get_for_crate(db, krate).is_none_or(|it| it.get_error().is_some());
    }
    if further_build(db, krate).is_none() || !seen.insert(krate) {
        return false;
    }
    let of_items = crate_def_map(db, krate);
    let is_refusal = |it: &DefDiagnostic| match &it.kind {
        DefDiagnosticKind::MacroError { path, .. } => {
            path.segments().last().is_some_and(|it| it.as_str() == "compile_error")
        }
        _ => false,
    };
    let is_stable = matches!(toolchain_channel(db, krate), Some(ReleaseChannel::Stable | ReleaseChannel::Beta));
    of_items.diagnostics().iter().any(is_refusal)
        || is_stable && of_items.features().iter().next().is_some()
        || krate.data(db).dependencies.iter().any(|it| is_refused(db, it.crate_id, seen))
}

/// Atoms, each with whether the build has it and the default build has not, or vice versa.
pub(crate) fn differences(own: &CfgOptions, default: &CfgOptions) -> BTreeSet<(CfgAtom, bool)> {
    let is_mark = |it: &CfgAtom| matches!(it, CfgAtom::KeyValue { key, .. } if key.as_str() == FURTHER_BUILD);
    let is_test = |it: &CfgAtom| matches!(it, CfgAtom::Flag(name) if name.as_str() == "test");
    let lacking = |all: &CfgOptions, from: &CfgOptions, is_on: bool| {
        let lacking = all.into_iter().filter(|it| !from.check_atom(it) && !is_mark(it) && !is_test(it));
        lacking.map(|it| (it.clone(), is_on)).collect::<Vec<_>>()
    };
    lacking(own, default, true).into_iter().chain(lacking(default, own, false)).collect()
}

/// Whether a condition is about the system that code is built for.
pub(crate) fn is_of_system(it: &CfgAtom) -> bool {
    match it {
        CfgAtom::Flag(name) => matches!(name.as_str(), "unix" | "windows"),
        CfgAtom::KeyValue { key, .. } => key.as_str().starts_with("target_"),
    }
}

/// A condition as names of builds have it: `feature=parallel`.
pub(crate) fn text_of(atom: &CfgAtom) -> String {
    match atom {
        CfgAtom::Flag(name) => name.as_str().to_owned(),
        CfgAtom::KeyValue { key, value } => format!("{}={}", key.as_str(), value.as_str()),
    }
}

/// The name of a build by what differs, and by what the code asks for.
pub(crate) fn name(differences: &BTreeSet<(CfgAtom, bool)>, asked: &BTreeSet<CfgAtom>) -> String {
    let has = |wanted: &str| {
        differences.iter().find_map(|it| match it {
            (CfgAtom::KeyValue { key, value }, true) if key.as_str() == wanted => Some(value.as_str()),
            _ => None,
        })
    };
    let said = |(atom, is_on): &(CfgAtom, bool)| {
        let atom = text_of(atom);
        if *is_on { atom } else { format!("not({atom})") }
    };
    let others: Vec<&(CfgAtom, bool)> = differences.iter().filter(|it| !is_of_system(&it.0)).collect();
    let wanted: Vec<String> = others.iter().filter(|it| asked.contains(&it.0)).map(|it| said(it)).collect();
    let mut parts: Vec<String> = Vec::new();
    if differences.iter().any(|it| is_of_system(&it.0)) && (wanted.is_empty() || asked.iter().any(is_of_system)) {
        let known = has("target_os").filter(|it| !matches!(*it, "unknown" | "none"));
        let part =
            known.map(|it| format!("target_os={it}")).or_else(|| Some(format!("target_arch={}", has("target_arch")?)));
        parts.extend(part);
    }
    if !wanted.is_empty() {
        parts.extend(wanted);
    } else if parts.is_empty() {
        parts.extend(others.iter().take(MOST_NAMED).map(|it| said(it)));
        parts.extend((others.len() > MOST_NAMED).then(|| "…".to_owned()));
    }
    parts.join(",")
}

/// The atoms in the `cfg` attributes of a node, and in those that its own contents begin with.
fn conditions(node: &SyntaxNode, found: &mut BTreeSet<CfgAtom>) {
    let attributes = attributes_of(node);
    attributes.filter_map(|it| cfg_condition(&it)).for_each(|it| atoms(&it, found));
}

pub(crate) fn atoms(condition: &CfgExpr, found: &mut BTreeSet<CfgAtom>) {
    match condition {
        CfgExpr::Invalid => {}
        CfgExpr::Atom(it) => drop(found.insert(it.clone())),
        CfgExpr::All(all) | CfgExpr::Any(all) => all.iter().for_each(|it| atoms(it, found)),
        CfgExpr::Not(it) => atoms(it, found),
    }
}
