//! Paths and their pieces as texts.

use ra_ap_ide_db::defs::Definition;

/// Stands before which of several with one path is meant.
pub(crate) const ORDINAL: char = '~';

/// A type, trait or module comes before a macro or derive of its name.
pub(crate) fn is_named_first(definition: Definition<'_>) -> bool {
    matches!(definition, Definition::Module(_) | Definition::Adt(_) | Definition::Trait(_) | Definition::TypeAlias(_))
}

pub(crate) fn with_ordinal(path: String, ordinal: usize) -> String {
    if ordinal > 1 { format!("{path}{ORDINAL}{ordinal}") } else { path }
}

/// A name as a path has it: raw identifiers without their mark.
pub(crate) fn plain_name(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}
