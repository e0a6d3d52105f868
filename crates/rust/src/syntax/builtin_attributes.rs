//! The attributes that the compiler reads itself, as rust-analyzer lists them: no macro makes something else of what they
//! stand at, and what they are given names no symbol.

use std::sync::OnceLock;

use ra_ap_hir_expand::inert_attr_macro::INERT_ATTRIBUTES;
use rustc_hash::FxHashSet;

/// Macros of the compiler that leave a function what it is, and so are not in rust-analyzer's list.
const MACROS: [&str; 2] = ["bench", "test"];

/// The first segments of attributes that other tools read, as in `#[rustfmt::skip]`.
const TOOLS: [&str; 5] = ["clippy", "diagnostic", "miri", "rust_analyzer", "rustfmt"];

/// Attributes by which a function is there for some configurations only, or reached without its name being written.
const REACHED_OTHERWISE: [&str; 7] =
    ["cfg", "lang", "panic_handler", "proc_macro", "proc_macro_attribute", "proc_macro_derive", "start"];

/// Whether an attribute of this single name is one that the compiler reads.
pub(crate) fn is_builtin(name: &str) -> bool {
    static NAMES: OnceLock<FxHashSet<&str>> = OnceLock::new();
    NAMES.get_or_init(|| INERT_ATTRIBUTES.iter().map(|it| it.name).chain(MACROS).collect()).contains(name)
}

/// Whether an attribute, as written between its brackets, is read by the compiler or by another tool.
pub(crate) fn is_read_by_tools(attribute: &str) -> bool {
    let end = attribute.find(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(attribute.len());
    let (name, rest) = attribute.split_at(end);
    if rest.trim_start().starts_with("::") { TOOLS.contains(&name) } else { is_builtin(name) }
}

/// Whether an item with this attribute is reached by its name alone.
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
