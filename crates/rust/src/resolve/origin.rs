//! Where what lies outside of the root comes from: the package that a crate is built of, as Cargo knows it.

use std::sync::Arc;

use ra_ap_hir::Crate;
use ra_ap_ide_db::base_db::CrateOrigin;

use super::paths::crates;
use crate::view::Context;
use semdex_model::Origin;

/// Of a file that answers name by its absolute path.
pub(crate) fn origin_of(cx: &Context<'_>, krate: Crate, file: &str) -> Option<Arc<Origin>> {
    if !file.starts_with('/') {
        return None;
    }
    let env = krate.base().env(cx.db);
    let package = env.get("CARGO_PKG_NAME").unwrap_or_else(|| crates::crate_name(cx, krate));
    let root = env.get("CARGO_MANIFEST_DIR").filter(|it| !it.is_empty()).unwrap_or_else(|| directory(cx, krate));
    Some(Arc::new(Origin { package, version: version_of(cx, krate), root }))
}

/// As Cargo tells it; of the standard library, whose packages have none, that of the toolchain.
pub(crate) fn version_of(cx: &Context<'_>, krate: Crate) -> Option<String> {
    match krate.origin(cx.db) {
        CrateOrigin::Lang(_) => krate.base().workspace_data(cx.db).toolchain.as_ref().map(ToString::to_string),
        _ => krate.version(cx.db),
    }
}

/// The directory of a package that Cargo says nothing of: the one that holds `src`, else that of the crate's root.
fn directory(cx: &Context<'_>, krate: Crate) -> String {
    let file = cx.name_of(krate.root_file(cx.db)).unwrap_or_default();
    let directory = file.rsplit_once('/').map_or("", |it| it.0);
    directory.strip_suffix("/src").unwrap_or(directory).to_owned()
}
