//! Files that `include!` takes in. rust-analyzer expands the macro to a copy of the file's tokens, and only the copy has
//! scopes: in the file itself no parameter, type parameter, `Self` or inner item is resolved.

use std::collections::HashMap;

use ra_ap_hir::{HirFileId, InRealFile, Semantics};
use ra_ap_hir_expand::resolve_span;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextSize};

/// The names of a file are looked for in the expansion until one is found, since not all have a copy there.
const MOST_TRIED: usize = 64;

/// The file whose text declares what is in a file or expansion: the included one, or the one with the outermost macro
/// call.
pub(crate) fn file_of_text(db: &RootDatabase, file: HirFileId) -> FileId {
    let mut at = file;
    while let Some(call) = at.macro_file() {
        let loc = call.loc(db);
        if let Some(included) = loc.include_file_id(db, call) {
            return included.file_id(db);
        }
        at = loc.kind.file_id();
    }
    at.original_file(db).file_id(db)
}

/// The copies of a file's tokens.
pub(crate) struct Included {
    pub(crate) expansion: HirFileId,
    /// All that the macro expands to.
    pub(crate) root: SyntaxNode,
    by_start: HashMap<u32, Vec<SyntaxToken>>,
    /// Where the tokens of the expansion are in the file.
    starts: HashMap<TextSize, u32>,
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
        let mut starts = HashMap::new();
        for token in root.descendants_with_tokens().filter_map(|it| it.into_token()) {
            if !token.kind().is_trivia() {
                let origin = resolve_span(db, spans.span_at(token.text_range().start()));
                if origin.file_id.file_id(db) == file {
                    let start = origin.range.start().into();
                    starts.insert(token.text_range().start(), start);
                    by_start.entry(start).or_default().push(token);
                }
            }
        }
        Some(Included { expansion: expansion.into(), root, by_start, starts })
    }

    /// Where a node of the expansion begins in the file.
    pub(crate) fn start_of(&self, node: &SyntaxNode) -> Option<u32> {
        self.starts.get(&node.first_token()?.text_range().start()).copied()
    }

    /// The copies of a token.
    pub(crate) fn copies(&self, token: &SyntaxToken) -> &[SyntaxToken] {
        self.by_start.get(&token.text_range().start().into()).map(Vec::as_slice).unwrap_or_default()
    }
}
