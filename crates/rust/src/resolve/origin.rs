//! The origin of items outside the root: the package of their crate, as Cargo knows it.

use std::sync::Arc;

use ra_ap_hir::Crate;
use ra_ap_ide_db::base_db::CrateOrigin;

use super::paths::crates;
use crate::view::Context;
use semdex_model::Origin;

/// The origin of a file that answers name by its absolute path.
pub(crate) fn origin_of(cx: &Context<'_>, krate: Crate, file: &str) -> Option<Arc<Origin>> {
    if !file.starts_with('/') {
        return None;
    }
    let env = krate.base().env(cx.db);
    let package = env.get("CARGO_PKG_NAME").unwrap_or_else(|| crates::crate_name(cx, krate));
    let root = env.get("CARGO_MANIFEST_DIR").filter(|it| !it.is_empty()).unwrap_or_else(|| directory(cx, krate));
    Some(Arc::new(Origin { package, version: version_of(cx, krate), root }))
}

/// The version in Cargo's metadata. The packages of the standard library have none; for them it is the toolchain's.
pub(crate) fn version_of(cx: &Context<'_>, krate: Crate) -> Option<String> {
    match krate.origin(cx.db) {
        CrateOrigin::Lang(_) => krate.base().workspace_data(cx.db).toolchain.as_ref().map(ToString::to_string),
        _ => krate.version(cx.db),
    }
}

/// The directory of a package that is missing from Cargo's metadata: the parent of `src`, else the directory of the
/// crate's root file.
fn directory(cx: &Context<'_>, krate: Crate) -> String {
    let file = cx.name_of(krate.root_file(cx.db)).unwrap_or_default();
    let directory = file.rsplit_once('/').map_or("", |it| it.0);
    directory.strip_suffix("/src").unwrap_or(directory).to_owned()
}
