//! The model's `Syntax` of a language in the table.

use super::{DEEPEST_BRACKETS, Grammar, alter, has_deep_brackets, outline};
use crate::symbol_paths;
use semdex_model::{Alteration, FindingKind, Outline, OutlineItem, Span, SymbolKind, Syntax};

/// The syntax of a language in the table.
#[derive(Debug)]
pub(crate) struct LspSyntax {
    pub grammar: Option<&'static Grammar>,
    pub extensions: &'static [&'static str],
}

impl Syntax for LspSyntax {
    fn has_commas(&self, kind: SymbolKind) -> bool {
        kind == SymbolKind::Variant
    }

    fn outline(&self, text: &str) -> Outline {
        let outlined = self.grammar.and_then(|it| outline::of(it, text));
        outlined.unwrap_or_else(|| Outline {
            skeleton: text.to_owned(),
            skeleton_lines: (1..=text.lines().count()).collect(),
            ..Outline::default()
        })
    }

    fn is_too_deep(&self, text: &str) -> bool {
        let is_long = text.len() > DEEPEST_BRACKETS;
        is_long && (has_deep_brackets(text) || self.grammar.is_some_and(|it| it.parse(text).is_none()))
    }

    fn alter(&self, text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
        let has_types = !self.extensions.contains(&"js");
        alter::alter(self.grammar.filter(|_| !self.is_too_deep(text))?, text, item, name, change, has_types)
    }

    fn are_of_one_function(&self, item: &OutlineItem, other: &OutlineItem) -> bool {
        let has_headers = self.extensions.contains(&"h") || self.extensions.contains(&"hpp");
        has_headers && symbol_paths::are_of_one_function(item, other)
    }

    fn finding(&self, code: &str) -> Option<FindingKind> {
        Some(match code {
            // basedpyright and pyright; ty; ruff.
            "reportMissingImports" | "reportMissingModuleSource" | "unresolved-import" => FindingKind::UnknownImport,
            "reportUndefinedVariable"
            | "reportAttributeAccessIssue"
            | "unresolved-reference"
            | "unresolved-attribute"
            | "F821" => FindingKind::UnknownSymbol,
            "reportUnusedImport" | "F401" => FindingKind::UnusedImport,
            "reportCallIssue" | "missing-argument" | "too-many-positional-arguments" | "unknown-argument" => {
                FindingKind::WrongArguments
            }
            // TypeScript.
            "2307" | "2305" | "2614" | "TS2307" | "TS2305" => FindingKind::UnknownImport,
            "2304" | "2552" | "2339" | "2551" | "TS2304" | "TS2339" => FindingKind::UnknownSymbol,
            "6133" | "6192" => FindingKind::UnusedImport,
            "2554" | "2555" | "TS2554" => FindingKind::WrongArguments,
            // clangd.
            "pp_file_not_found" => FindingKind::UnknownImport,
            "undeclared_var_use" | "undeclared_var_use_suggest" | "no_member" | "unknown_typename" => {
                FindingKind::UnknownSymbol
            }
            "unused-includes" => FindingKind::UnusedImport,
            "typecheck_call_too_few_args" | "typecheck_call_too_many_args" | "ovl_no_viable_function_in_call" => {
                FindingKind::WrongArguments
            }
            _ => return None,
        })
    }

    fn is_path(&self, name: &str) -> bool {
        match name.split_once("::") {
            Some((file, _)) => file.rsplit_once('.').is_some_and(|(_, extension)| self.extensions.contains(&extension)),
            // `Class.method`, `pkg.module.Class`.
            None => self.grammar.is_some() && name.contains('.') && !name.contains(['/', '<', '!', '@']),
        }
    }
}
