//! The text of paths and their parts.

use ra_ap_ide_db::defs::Definition;

/// Separates a path from the number of an item among several with this path.
pub(crate) const ORDINAL: char = '~';

/// Whether a definition takes precedence over a macro or derive with the same name: a type, trait or module.
pub(crate) fn is_named_first(definition: Definition<'_>) -> bool {
    matches!(definition, Definition::Module(_) | Definition::Adt(_) | Definition::Trait(_) | Definition::TypeAlias(_))
}

pub(crate) fn with_ordinal(path: String, ordinal: usize) -> String {
    if ordinal > 1 { format!("{path}{ORDINAL}{ordinal}") } else { path }
}

/// A name as in a path: without `r#`.
pub(crate) fn plain_name(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}
