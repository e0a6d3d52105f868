//! What may be missing from an answer.

use ra_ap_ide_db::defs::Definition;

use crate::LANGUAGE;
use crate::names::instances;
use crate::usages::loaded;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_engine::too_deep;
use semdex_model::{Coverage, Missing, MissingCode};

/// For declarations that may be in any file.
pub(crate) fn coverage_of_all(cx: &Context<'_>) -> Coverage {
    of_all_files(cx, cx.coverage(false))
}

/// The same for what only code that can name the definition declares.
pub(crate) fn coverage_of_users(cx: &Context<'_>, definition: Definition<'_>) -> Coverage {
    of_all_files(cx, loaded::coverage_of(cx, &[definition]))
}

fn of_all_files(cx: &Context<'_>, mut coverage: Coverage) -> Coverage {
    coverage.complete &= !cx.files.of(LANGUAGE).any(|it| it.is_too_deep()) && cx.environment.included.is_empty();
    coverage
}

/// Also reports if no crate includes the file.
pub(crate) fn file_coverage(cx: &Context<'_>, file: &File) -> Coverage {
    let modules: Vec<_> = cx.file_id(&file.path).into_iter().flat_map(|id| cx.sema.file_to_module_defs(id)).collect();
    let mut coverage = match modules.is_empty() {
        true => cx.coverage(false),
        false => loaded::coverage_of_crates(cx, modules.iter().map(|it| Some(it.krate(cx.db).base()))),
    };
    if file.is_too_deep() {
        coverage.lacks(too_deep(&file.path));
        return coverage;
    }
    let is_in_a_crate = |id| match cx.index.symbols(id) {
        Some(known) => known.in_a_crate,
        None => cx.sema.file_to_module_def(id).is_some(),
    };
    let in_a_crate = cx.file_id(&file.path).is_some_and(is_in_a_crate);
    if cx.is_loaded() && !in_a_crate {
        coverage.lacks(not_included(cx, &file.path));
    }
    coverage
}

/// No crate of the default build includes the file, so it was not checked in full.
pub(crate) fn not_included(cx: &Context<'_>, file: &str) -> Missing {
    let is_of_further = |id| !instances::further_owners(cx.db, id).is_empty();
    let (code, detail) = match cx.file_id(file).is_some_and(is_of_further) {
        true => (
            MissingCode::CfgOff,
            "`cfg` keeps this file out of the default build, and the builds that compile it are not checked in full",
        ),
        false => (
            MissingCode::NotInAPackage,
            "no crate of the workspace includes this file: a `mod` line is missing, or no package has it as a target",
        ),
    };
    Missing::new(code, file, detail)
}
