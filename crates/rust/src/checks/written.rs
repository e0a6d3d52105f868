//! Facts about code as it is written: whether a macro made it, its attributes, and the unstable features of its crate.

use ra_ap_cfg::CfgExpr;
use ra_ap_hir::{Crate, HasCrate, InFile};
use ra_ap_intern::Symbol;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, TextRange, ast};

use crate::syntax::attributes::attributes_of;
use crate::syntax::is_read_by_tools;
use crate::view::Context;

/// Whether a node is code of a file, or code in the input of a macro.
pub(crate) fn is_written(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let file = cx.sema.hir_file_for(node);
    InFile::new(file, node.text_range()).original_node_file_range_rooted_opt(cx.db).is_some()
}

/// Whether a node stands in a file, or in the input of macros that leave it as it is: its first and its last token are
/// where the text has them. What a procedural macro makes may have the place of a token of its input.
pub(crate) fn is_input(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let file = cx.sema.hir_file_for(node);
    let written = |at: TextRange| InFile::new(file, at).original_node_file_range_rooted_opt(cx.db);
    let is_same = |token: Option<SyntaxToken>| {
        let token = token?;
        let stands = written(token.text_range())?;
        (stands.range.len() == token.text_range().len()).then_some(stands)
    };
    let ends = is_same(node.first_token()).zip(is_same(node.last_token()));
    let Some(whole) = written(node.text_range()) else { return false };
    ends.is_some_and(|(first, last)| {
        first.file_id == last.file_id
            && whole.range.start() == first.range.start()
            && whole.range.end() == last.range.end()
            && (first.range != last.range || node.first_token() == node.last_token())
    })
}

/// Whether the conditions (`cfg`) of a node hold in a crate. `None` if a condition is not known: one that cannot be read,
/// or any while parts of the workspace are missing, such as the output of build scripts.
pub(crate) fn is_compiled(cx: &Context<'_>, krate: Crate, node: &SyntaxNode) -> Option<bool> {
    let attributes = attributes_of(node);
    let conditions = attributes.filter_map(|it| match it.meta()? {
        ast::Meta::CfgMeta(it) => Some(it.cfg_predicate().map(CfgExpr::parse_from_ast)),
        ast::Meta::CfgAttrMeta(it) => {
            it.syntax().descendants().any(|it| ast::CfgMeta::can_cast(it.kind())).then_some(None)
        }
        _ => None,
    });
    let checked = conditions.map(|it| krate.cfg(cx.db).check(&it?)).collect::<Vec<_>>();
    if !checked.is_empty() && !cx.environment.lacks().is_empty() {
        return None;
    }
    // One that does not hold decides.
    match checked.contains(&Some(false)) {
        true => Some(false),
        false => checked.into_iter().try_fold(true, |_, it| it),
    }
}

/// Whether a condition switches off the code around a node, in an expansion or in what calls the macro.
pub(crate) fn is_left_out(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let Some(krate) = cx.sema.scope(node).map(|it| it.krate()) else { return false };
    cx.sema.ancestors_with_macros(node.clone()).any(|it| is_compiled(cx, krate, &it) == Some(false))
}

/// Whether the crate of a node enables an unstable feature.
pub(crate) fn enables(cx: &Context<'_>, node: &SyntaxNode, feature: &str) -> bool {
    let krate = cx.sema.scope(node).map(|it| it.krate());
    krate.is_none_or(|it| it.is_unstable_feature_enabled(cx.db, &Symbol::intern(feature)))
}

/// Whether an attribute macro may change a node before it is compiled.
pub(crate) fn may_be_changed(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let attributes = cx.sema.ancestors_with_macros(node.clone()).flat_map(|it| {
        let own: Vec<ast::Attr> = attributes_of(&it).collect();
        own
    });
    attributes.into_iter().any(|it| {
        let text = it.syntax().text().to_string();
        let name = text.trim_start_matches(['#', '!', '[', ' ']);
        !is_read_by_tools(name) && !name.starts_with("derive") && !name.starts_with("cfg")
    })
}

/// The feature that an attribute of an item names, as in `#[rustc_const_unstable(feature = "const_clone")]`.
pub(crate) fn feature_of(item: &impl ast::HasAttrs, attribute: &str) -> Option<String> {
    item.attrs().find_map(|it| {
        let text = it.syntax().text().to_string();
        let arguments = text.trim_start_matches(['#', '[', ' ']).strip_prefix(attribute)?;
        let (_, rest) = arguments.split_once("feature")?;
        rest.split('"').nth(1).map(str::to_owned)
    })
}

/// Whether an item belongs to the standard library.
pub(crate) fn is_of_std(cx: &Context<'_>, item: impl HasCrate) -> bool {
    item.krate(cx.db).origin(cx.db).is_lang()
}
