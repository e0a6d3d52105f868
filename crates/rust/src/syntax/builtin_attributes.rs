//! The attributes that the compiler reads itself, according to rust-analyzer's list: their items are not transformed by
//! a macro, and their arguments name no symbol.

use std::sync::OnceLock;

use ra_ap_hir_expand::inert_attr_macro::INERT_ATTRIBUTES;
use rustc_hash::FxHashSet;

/// Macros of the compiler that do not change their function, and are therefore not in rust-analyzer's list.
const MACROS: [&str; 2] = ["bench", "test"];

/// The first segments of attributes that other tools read, as in `#[rustfmt::skip]`.
const TOOLS: [&str; 5] = ["clippy", "diagnostic", "miri", "rust_analyzer", "rustfmt"];

/// Where the macros of the compiler are by their full path, as `tokio::test` writes it.
const PRELUDES: [&str; 2] = ["core::prelude::v1::", "std::prelude::v1::"];

/// Attributes with which a function exists only in some configurations, or is reached without being named.
const REACHED_OTHERWISE: [&str; 7] =
    ["cfg", "lang", "panic_handler", "proc_macro", "proc_macro_attribute", "proc_macro_derive", "start"];

/// Whether the compiler reads attributes with this single name.
pub(crate) fn is_builtin(name: &str) -> bool {
    static NAMES: OnceLock<FxHashSet<&str>> = OnceLock::new();
    NAMES.get_or_init(|| INERT_ATTRIBUTES.iter().map(|it| it.name).chain(MACROS).collect()).contains(name)
}

/// Whether the compiler or another tool reads an attribute, given as the text between its brackets.
pub(crate) fn is_read_by_tools(attribute: &str) -> bool {
    let path = attribute.trim_start_matches("::").replace(' ', "");
    if let Some(name) = PRELUDES.iter().find_map(|it| path.strip_prefix(it)) {
        return is_read_by_tools(name);
    }
    let end = attribute.find(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(attribute.len());
    let (name, rest) = attribute.split_at(end);
    if rest.trim_start().starts_with("::") { TOOLS.contains(&name) } else { is_builtin(name) }
}

/// Whether an item with this attribute is reached only by its name.
pub(crate) fn leaves_access(name: &str) -> bool {
    is_builtin(name) && !name.starts_with("rustc_") && !REACHED_OTHERWISE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_the_compiler_are_distinguished_from_macros() {
        for (attribute, is_read) in [
            ("inline(always)", true),
            ("export_name = \"f\"", true),
            ("test", true),
            ("::core::prelude::v1::test", true),
            ("std :: prelude :: v1 :: test", true),
            ("core::prelude::v1::derived", false),
            ("rustfmt::skip", true),
            ("clippy :: msrv = \"1.95\"", true),
            ("tokio::test", false),
            ("test::case(1)", false),
            ("derive(Debug)", false),
            ("rustfmt", false),
        ] {
            assert_eq!(is_read_by_tools(attribute), is_read, "{attribute}");
        }
        assert!(leaves_access("inline") && leaves_access("target_feature") && leaves_access("test"));
        assert!(!leaves_access("cfg") && !leaves_access("proc_macro") && !leaves_access("rustc_legacy_const_generics"));
    }
}
