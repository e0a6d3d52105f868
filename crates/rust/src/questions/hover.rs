//! What an editor shows for the word at a position: its type, and the text of rust-analyzer's hover.

use ra_ap_hir::{HirDisplay as _, Semantics, Type};
use ra_ap_ide::{
    FileId, FileRange, HoverConfig, HoverDocFormat, RaFixtureConfig, RootDatabase, SubstTyLen, TextRange, TextSize,
};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::IsString as _;
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxNode, SyntaxToken, ast};

use crate::resolve::paths;
use crate::syntax::positions::text_size;
use crate::view;

const MOST_MEMBERS: usize = 10;

/// Markdown: the signature, the docs, or the meaning of a keyword.
pub(crate) fn hover_at(db: &RootDatabase, file_id: FileId, token: &SyntaxToken, offset: usize) -> Option<String> {
    let config = HoverConfig {
        links_in_hover: false,
        memory_layout: None,
        documentation: true,
        keywords: true,
        format: HoverDocFormat::Markdown,
        max_trait_assoc_items_count: None,
        max_fields_count: Some(MOST_MEMBERS),
        max_enum_variants_count: Some(MOST_MEMBERS),
        max_subst_ty_len: SubstTyLen::Unlimited,
        show_drop_glue: false,
        ra_fixture: RaFixtureConfig::default(),
    };
    // For a range rust-analyzer returns only the type of an expression; for an offset also the named item.
    let range = TextRange::empty(asked_at(token, offset));
    let hover = view::uncaught(view::analysis(db).hover(&config, FileRange { file_id, range }));
    hover.map(|it| it.info.markup.to_string()).filter(|it| !it.is_empty())
}

/// The offset at which rust-analyzer is asked about a token: its start, or for a comment with links the given offset.
/// rust-analyzer counts from after the comment's markers, and cannot map offsets before that.
fn asked_at(token: &SyntaxToken, offset: usize) -> TextSize {
    let start = token.text_range().start();
    let signs = if let Some(comment) = ast::Comment::cast(token.clone()) {
        TextSize::of(comment.prefix())
    } else if let Some(string) = ast::String::cast(token.clone())
        && token.parent_ancestors().any(|it| ast::Attr::can_cast(it.kind()))
    {
        string.open_quote_text_range().map_or_else(TextSize::default, |it| it.len())
    } else {
        return start;
    };
    (start + signs).max(text_size(offset)).min(token.text_range().end())
}

/// The type of the innermost expression, pattern or type that has this token as its name or operator.
pub(crate) fn type_at(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> Option<String> {
    let token = sema.descend_into_macros_single_exact(token.clone());
    for node in token.parent_ancestors() {
        let ty = if let Some(it) = ast::IdentPat::cast(node.clone()) {
            sema.type_of_binding_in_pat(&it)
        } else if let Some(it) = ast::SelfParam::cast(node.clone()) {
            sema.type_of_self(&it)
        } else if let Some(it) = ast::Expr::cast(node.clone()) {
            sema.type_of_expr(&it).map(|it| it.original)
        } else if let Some(it) = ast::Pat::cast(node.clone()) {
            sema.type_of_pat(&it).map(|it| it.original)
        } else if let Some(it) = ast::Type::cast(node.clone()) {
            sema.resolve_type(&it)
        } else if is_part_of_what_has_a_type(&node) && !is_qualifier(&node) {
            continue;
        } else {
            // A statement, item or field around it does not give this word a type.
            return None;
        };
        if let Some(ty) = ty {
            let krate = sema.scope(&node)?.krate();
            return Some(ty.display(sema.db, paths::display(sema.db, krate)).to_string());
        }
    }
    None
}

/// The type of a field, constant or local, if the word itself is not an expression.
pub(crate) fn declared_type<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> Option<String> {
    let ty: Type<'db> = match definition {
        Definition::Field(it) => it.ty(db),
        Definition::Const(it) => it.ty(db),
        Definition::Static(it) => it.ty(db),
        Definition::Local(it) => it.ty(db),
        _ => return None,
    };
    Some(ty.display(db, paths::display(db, definition.krate(db)?)).to_string())
}

/// `Type` in `Type::new`: the expression is the whole path.
fn is_qualifier(node: &SyntaxNode) -> bool {
    ast::Path::can_cast(node.kind()) && node.parent().is_some_and(|it| ast::Path::can_cast(it.kind()))
}

/// The nodes between a word and the expression, pattern or type that it belongs to.
fn is_part_of_what_has_a_type(node: &SyntaxNode) -> bool {
    use ra_ap_syntax::SyntaxKind::*;
    matches!(node.kind(), NAME | NAME_REF | PATH | PATH_SEGMENT | GENERIC_ARG_LIST | TYPE_ARG | ARG_LIST)
}
