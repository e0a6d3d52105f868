//! Unstable methods of the standard library. If a type loses a method, its deref target may have one of that name:
//! `as_str` of a `str`.

use ra_ap_hir::{HasAttrs as _, HasCrate as _};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::CrateOrigin;
use ra_ap_ide_db::defs::Definition;

use super::affected::ChangedSymbol;

/// The compiler's error for a name that leads there now.
pub(super) fn unstable<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> Option<String> {
    let Definition::Function(function) = definition else { return None };
    let is_of_the_library = matches!(function.krate(db).origin(db), CrateOrigin::Lang(_));
    let attributes = is_of_the_library.then(|| function.attrs(db)).filter(|it| it.is_unstable())?;
    let feature = attributes.unstable_feature(db).map(|it| it.as_str().to_owned()).unwrap_or_default();
    Some(format!("use of unstable library feature `{feature}`"))
}

/// Whether a method is no longer a method.
pub(super) fn loses_receiver(changed_symbol: &ChangedSymbol<'_>) -> bool {
    let both = changed_symbol.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
    both.is_some_and(|(before, after)| before.signature.contains("self") && !after.signature.contains("self"))
}
