//! What is known about Rust from a text and a name alone.

use super as syntax;
use super::nesting;
use semdex_engine::files::File;
use semdex_model::{Alteration, FindingKind, Language, LanguageId, Outline, ReferencedFile, Span, SymbolKind, Syntax};

pub(crate) const LANGUAGE: LanguageId = LanguageId(&RUST);

static RUST: Language =
    Language { name: "rust", title: "Rust", extensions: &["rs"], file_names: &[], indent: "    ", syntax: &RustSyntax };

/// The engine's name in the status.
pub(crate) const ENGINE: &str = "rust-analyzer";

/// The program that reads manifests.
pub(crate) const BUILD_TOOL: &str = "Cargo";

/// The version of the rust-analyzer crates that are linked.
pub(crate) const VERSION: &str = "0.0.348";

#[derive(Debug)]
struct RustSyntax;

impl Syntax for RustSyntax {
    fn is_found_by_reference(&self) -> bool {
        true
    }

    fn has_commas(&self, kind: SymbolKind) -> bool {
        matches!(kind, SymbolKind::Field | SymbolKind::Variant)
    }

    fn outline(&self, text: &str) -> Outline {
        syntax::outline(text)
    }

    fn outline_after(&self, old: &Outline, old_text: &str, text: &str) -> Outline {
        syntax::outline_after(old, old_text, text)
    }

    fn is_too_deep(&self, text: &str) -> bool {
        nesting::too_deep(text).is_some()
    }

    fn referenced_files(&self, name: &str, text: &str) -> Vec<ReferencedFile> {
        syntax::referenced_files(name, text)
    }

    fn alter(&self, text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
        syntax::alter(text, item, name, change)
    }

    fn is_path(&self, name: &str) -> bool {
        // The part after `@` in `syn@1.0.109` is a version; the part before it in `fn@krate::f` is a kind.
        let (is_versioned, path) = match name.split_once('@') {
            Some((_, rest)) => (rest.starts_with(|it: char| it.is_ascii_digit()), rest),
            None => (false, name),
        };
        is_versioned || path.contains("::") || path.contains('<') || path.ends_with('!')
    }

    fn is_identifier(&self, name: &str) -> bool {
        let plain = name.strip_prefix("r#").unwrap_or(name);
        plain.starts_with(|it: char| it == '_' || it.is_alphabetic())
            && plain.chars().all(|it| it == '_' || it.is_alphanumeric())
    }

    fn finding(&self, code: &str) -> Option<FindingKind> {
        Some(match code {
            "E0432" | "unresolved-import" | "unresolved-extern-crate" => FindingKind::UnknownImport,
            "E0433"
            | "E0412"
            | "E0425"
            | "E0405"
            | "E0599"
            | "E0609"
            | "unresolved-ident"
            | "unresolved-macro-call" => FindingKind::UnknownSymbol,
            "unused_imports" => FindingKind::UnusedImport,
            "E0061" | "E0057" => FindingKind::WrongArguments,
            _ => return None,
        })
    }
}

/// A text as a file; it is Rust if its name says so.
pub(crate) fn file(path: impl AsRef<str>, text: impl Into<std::sync::Arc<str>>) -> File {
    File::new(LANGUAGE.of(path.as_ref()), path.as_ref(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_by_its_form() {
        for name in ["krate::f", "syn@1.0.109", "syn@1.0.109::Item", "<T as Trait>", "vec!", "fn@krate::f"] {
            assert!(LANGUAGE.syntax.is_path(name), "{name}");
        }
        for name in ["import/path.Type", "a.go#2@import/path.init", "Type.f", "f", "fn@f"] {
            assert!(!LANGUAGE.syntax.is_path(name), "{name}");
        }
        assert!(LANGUAGE.syntax.is_identifier("r#type") && !LANGUAGE.syntax.is_identifier("a::b"));
    }
}
