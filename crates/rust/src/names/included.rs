//! Files that `include!` takes in. rust-analyzer expands the macro to a copy of the file's tokens, and only the copy has
//! scopes: in the file itself no parameter, type parameter, `Self` or inner item is resolved.

use std::collections::HashMap;

use ra_ap_hir::{HirFileId, InRealFile, Semantics};
use ra_ap_hir_expand::resolve_span;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

/// The names of a file are looked for in the expansion until one is found, since not all have a copy there.
const MOST_TRIED: usize = 64;

/// The copies of a file's tokens.
pub(crate) struct Included {
    pub(crate) expansion: HirFileId,
    by_start: HashMap<u32, Vec<SyntaxToken>>,
}

impl Included {
    /// `None` if no `include!` among items takes in this file.
    pub(crate) fn find(sema: &Semantics<'_, RootDatabase>, file: FileId, tree: &SyntaxNode) -> Option<Included> {
        let db = sema.db;
        let real = sema.hir_file_for(tree).file_id()?;
        let tokens = tree.descendants_with_tokens().filter_map(|it| it.into_token());
        let mut names = tokens.filter(|it| it.kind() == SyntaxKind::IDENT).take(MOST_TRIED);
        let expansion = names.find_map(|it| {
            let copy = sema.descend_token_into_include_expansion(InRealFile::new(real, it));
            copy.file_id.macro_file()
        })?;
        let spans = expansion.expansion_span_map(db);
        let root = sema.parse_or_expand(expansion.into());
        let mut by_start: HashMap<u32, Vec<SyntaxToken>> = HashMap::new();
        for token in root.descendants_with_tokens().filter_map(|it| it.into_token()) {
            if !token.kind().is_trivia() {
                let origin = resolve_span(db, spans.span_at(token.text_range().start()));
                if origin.file_id.file_id(db) == file {
                    by_start.entry(origin.range.start().into()).or_default().push(token);
                }
            }
        }
        Some(Included { expansion: expansion.into(), by_start })
    }

    /// The copies of a token.
    pub(crate) fn copies(&self, token: &SyntaxToken) -> &[SyntaxToken] {
        self.by_start.get(&token.text_range().start().into()).map(Vec::as_slice).unwrap_or_default()
    }
}
