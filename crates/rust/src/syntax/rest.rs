//! The code between the items of a file: imports, modules, the heads of blocks, macros. White space and comments do not
//! count.

use std::hash::Hash as _;

use ra_ap_syntax::ast::{self, HasName as _};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxKind, SyntaxNode, WalkEvent};

use super::source::Source;
use crate::syntax::fingerprint::{Fingerprint, Fingerprinter};
use semdex_model::{Outline, Span};

/// What a Rust outline contains in addition to the outline of any language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rest {
    /// The code besides its items, for each top-level node of the file.
    pub nodes: Vec<RestOf>,
    /// Whether the latest edition accepts it.
    pub is_current: bool,
    /// Whether the text does not consist of token trees, so that the compiler reports nothing else.
    pub is_unreadable: bool,
}

impl Rest {
    pub(crate) fn of(outline: &Outline) -> &Rest {
        static NONE: Rest = Rest { nodes: Vec::new(), is_current: false, is_unreadable: false };
        outline.detail.get().unwrap_or(&NONE)
    }

    /// The code that affects only certain names, without items.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &RestPart> {
        self.nodes.iter().flat_map(|it| &it.parts)
    }

    /// The code that may affect any name, without items.
    pub(crate) fn others(&self) -> impl Iterator<Item = Fingerprint> {
        self.nodes.iter().filter_map(|it| it.others)
    }
}

/// The code of a top-level node besides its items, without white space and comments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RestOf {
    /// Where the node ends.
    pub end: usize,
    /// The end of the node in the skeleton.
    pub skeleton_end: usize,
    /// The parts that affect only certain names: imports, inline modules, inherent blocks.
    pub parts: Vec<RestPart>,
    /// The hash of everything else, if there is anything.
    pub others: Option<Fingerprint>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestPart {
    /// The hash of its code and its position.
    pub hash: Fingerprint,
    /// The names whose meaning may depend on it.
    pub names: Vec<String>,
    /// The path of an import, relative to the file's module; empty if another module imports it.
    pub import: Option<String>,
    /// The range of a block with its contents.
    pub block: Option<Span>,
}

pub(crate) fn rest(source: &Source<'_>) -> Vec<RestOf> {
    source.tree.syntax().children().map(|it| rest_of(source, &it)).collect()
}

fn rest_of(source: &Source<'_>, node: &SyntaxNode) -> RestOf {
    let mut rest = RestOf { end: source.offset(node.text_range().end()), ..RestOf::default() };
    let mut others = Fingerprinter::default();
    let mut walk = node.preorder_with_tokens();
    while let Some(event) = walk.next() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => {
                if is_item(node.kind()) {
                    walk.skip_subtree();
                } else if let Some(import) = ast::Use::cast(node.clone()) {
                    match imports(&import) {
                        Some(parts) => rest.parts.extend(parts),
                        None => hash_tokens(&node, &mut others),
                    }
                    walk.skip_subtree();
                } else if let Some(part) = head(source, &node) {
                    rest.parts.push(part);
                } else if node.parent().is_some_and(|it| has_head(&it) && !is_list(node.kind())) {
                    walk.skip_subtree();
                }
            }
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => {
                let around = token.parent();
                let of_list = around.as_ref().filter(|it| is_list(it.kind())).and_then(SyntaxNode::parent);
                if !around.into_iter().chain(of_list).any(|it| has_head(&it)) {
                    token.text().hash(&mut others);
                }
            }
            _ => {}
        }
    }
    rest.others = (!others.is_empty()).then(|| others.fingerprint());
    rest
}

fn is_item(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::FN
            | SyntaxKind::STRUCT
            | SyntaxKind::ENUM
            | SyntaxKind::UNION
            | SyntaxKind::CONST
            | SyntaxKind::STATIC
            | SyntaxKind::TYPE_ALIAS
    )
}

fn is_list(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::ITEM_LIST | SyntaxKind::ASSOC_ITEM_LIST)
}

/// Whether the code before the item list of a node affects only certain names: an inline module, an inherent block.
fn has_head(node: &SyntaxNode) -> bool {
    if let Some(module) = ast::Module::cast(node.clone()) {
        let is_plain = |it: ast::Attr| !it.syntax().text().to_string().contains("macro_use");
        return module.item_list().is_some() && ast::HasAttrs::attrs(&module).all(is_plain);
    }
    ast::Impl::cast(node.clone()).is_some_and(|it| it.trait_().is_none() && it.assoc_item_list().is_some())
}

fn head(source: &Source<'_>, node: &SyntaxNode) -> Option<RestPart> {
    if !has_head(node) {
        return None;
    }
    let mut hasher = hasher_within(node);
    for child in node.children_with_tokens().filter(|it| !is_list(it.kind())) {
        match child {
            NodeOrToken::Node(it) => hash_tokens(&it, &mut hasher),
            NodeOrToken::Token(it) if !it.kind().is_trivia() => it.text().hash(&mut hasher),
            NodeOrToken::Token(_) => {}
        }
    }
    let name = |it: Option<ast::Name>| it.map(|it| it.text().to_owned());
    let mut part = RestPart { hash: hasher.fingerprint(), names: Vec::new(), import: None, block: None };
    if let Some(module) = ast::Module::cast(node.clone()) {
        part.names.extend(name(module.name()));
    } else if let Some(block) = ast::Impl::cast(node.clone()) {
        let items = block.assoc_item_list().into_iter().flat_map(|it| it.assoc_items());
        part.names.extend(items.filter_map(|it| match it {
            ast::AssocItem::Const(it) => name(it.name()),
            ast::AssocItem::Fn(it) => name(it.name()),
            ast::AssocItem::TypeAlias(it) => name(it.name()),
            ast::AssocItem::MacroCall(_) => None,
        }));
        part.block = Some(source.span(node.text_range()));
    }
    Some(part)
}

/// Each name that a `use` brings in; `None` if it may be any.
fn imports(import: &ast::Use) -> Option<Vec<RestPart>> {
    let tree = import.use_tree()?;
    let of_module = import.syntax().ancestors().skip(1).all(|it| !ast::Module::can_cast(it.kind()));
    let mut head = hasher_within(import.syntax());
    for child in import.syntax().children().filter(|it| !ast::UseTree::can_cast(it.kind())) {
        hash_tokens(&child, &mut head);
    }
    let head = head.fingerprint();
    let mut parts = Vec::new();
    for leaf in tree.syntax().descendants().filter_map(ast::UseTree::cast).filter(|it| it.use_tree_list().is_none()) {
        if leaf.star_token().is_some() {
            return None;
        }
        let mut path: Vec<String> = leaf
            .syntax()
            .ancestors()
            .filter_map(ast::UseTree::cast)
            .filter_map(|it| Some(tokens(it.path()?.syntax())))
            .collect();
        path.reverse();
        if path.len() > 1 && path.last().is_some_and(|it| it == "self") {
            path.pop();
        }
        let path = path.join("::");
        let name = match leaf.rename() {
            Some(rename) => rename.name().map(|it| it.text().to_owned()),
            None => path.rsplit("::").next().map(str::to_owned),
        };
        parts.push(RestPart {
            hash: Fingerprint::of((head, &path, &name)),
            names: name.into_iter().collect(),
            // From another module the path would lead elsewhere.
            import: Some(if of_module { path } else { String::new() }),
            block: None,
        });
    }
    Some(parts)
}

/// A hasher that already contains the names of the modules around a node.
fn hasher_within(node: &SyntaxNode) -> Fingerprinter {
    let mut hasher = Fingerprinter::default();
    for module in node.ancestors().skip(1).filter_map(ast::Module::cast) {
        module.name().map(|it| it.text().to_owned()).hash(&mut hasher);
    }
    hasher
}

fn hash_tokens(node: &SyntaxNode, hasher: &mut Fingerprinter) {
    tokens(node).hash(hasher);
}

/// The text of a node without white space and comments.
fn tokens(node: &SyntaxNode) -> String {
    let tokens = node.descendants_with_tokens().filter_map(NodeOrToken::into_token);
    tokens.filter(|it| !it.kind().is_trivia()).map(|it| it.text().to_owned()).collect()
}
