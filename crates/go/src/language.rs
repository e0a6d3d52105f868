//! The properties of the language Go that need only a text and a name.

use super::syntax;
use semdex_engine::files::File;
use semdex_model::{Alteration, FindingKind, Language, LanguageId, Outline, Span, Syntax};

pub(crate) const LANGUAGE: LanguageId = LanguageId(&GO);

static GO: Language =
    Language { name: "go", title: "Go", extensions: &["go"], file_names: &[], indent: "\t", syntax: &GoSyntax };

#[derive(Debug)]
struct GoSyntax;

impl Syntax for GoSyntax {
    fn may_be_in(&self, directory: &str) -> bool {
        !directory.split('/').any(is_left_out)
    }

    fn outline(&self, text: &str) -> Outline {
        syntax::outline(text)
    }

    fn is_too_deep(&self, text: &str) -> bool {
        syntax::too_deep(text).is_some()
    }

    fn alter(&self, text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
        syntax::alter(text, item, name, change)
    }

    fn is_path(&self, name: &str) -> bool {
        // `a.go#2@import/path.init`: the part before `@` distinguishes declarations and is not part of the path.
        let path = name.split_once('@').map_or(name, |(_, rest)| rest);
        let is_foreign = path.starts_with(|it: char| it.is_ascii_digit() && name != path)
            || path.contains("::")
            || path.contains('<')
            || path.ends_with('!');
        !is_foreign && (path.contains('/') || path.contains('.'))
    }

    fn finding(&self, code: &str) -> Option<FindingKind> {
        Some(match code {
            "BrokenImport" => FindingKind::UnknownImport,
            "UndeclaredImportedName" | "UndeclaredName" | "MissingFieldOrMethod" => FindingKind::UnknownSymbol,
            "UnusedImport" => FindingKind::UnusedImport,
            "WrongArgCount" => FindingKind::WrongArguments,
            _ => return None,
        })
    }
}

/// A text as a file; a Go file if its name says so.
pub(crate) fn file(path: impl AsRef<str>, text: impl Into<std::sync::Arc<str>>) -> File {
    File::new(LANGUAGE.of(path.as_ref()), path.as_ref(), text)
}

/// Whether the go command's `...` skips a directory of this name.
pub(crate) fn is_hidden(directory: &str) -> bool {
    directory == "testdata" || directory.starts_with(['_', '.'])
}

/// Whether the build of the enclosing module ignores a directory of this name.
pub(crate) fn is_left_out(directory: &str) -> bool {
    directory == "vendor" || is_hidden(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_by_its_form() {
        for name in ["import/path.Type", "a.go#2@import/path.init", "Type.f"] {
            assert!(LANGUAGE.syntax.is_path(name), "{name}");
        }
        for name in ["krate::f", "syn@1.0.109", "<T as Trait>", "a.b!", "f", "fn@f"] {
            assert!(!LANGUAGE.syntax.is_path(name), "{name}");
        }
    }
}
