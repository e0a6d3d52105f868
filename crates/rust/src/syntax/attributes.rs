//! The attributes and doc comments of an item.

use ra_ap_cfg::CfgExpr;
use ra_ap_syntax::ast::{self, AnyString, AstToken, HasAttrs};
use ra_ap_syntax::{AstNode, NodeOrToken, SyntaxElement, SyntaxKind, SyntaxNode};

use super::docs::{DocFragment, render};
use super::is_read_by_tools;
use super::positions::tokens_at;

/// Attributes, by the last segment of their path, that make a function a test of some harness.
const TEST_ATTRIBUTES: [&str; 4] = ["test", "bench", "rstest", "test_case"];

/// The outer attributes of a node. They precede everything else in it: the many statements of a body are not looked at.
pub(crate) fn attributes_of(node: &SyntaxNode) -> impl Iterator<Item = ast::Attr> + use<> {
    node.children().map_while(ast::Attr::cast)
}

/// Whether a node has a condition of its own.
pub(crate) fn is_conditional(node: &SyntaxNode) -> bool {
    attributes_of(node).any(|it| it.syntax().text().to_string().contains("cfg"))
}

/// Whether an offset is in an attribute that is not the compiler's own, also behind `cfg_attr`.
pub(crate) fn is_in_attribute_of_macros(tree: &SyntaxNode, at: usize) -> bool {
    let token = tokens_at(tree, at).right_biased();
    let attribute = token.and_then(|it| it.parent_ancestors().find_map(ast::Attr::cast));
    let metas = attribute.into_iter().flat_map(|it| it.skip_cfg_attrs());
    metas.into_iter().any(|it| !is_read_by_tools(&it.syntax().text().to_string()))
}

/// The names in a `derive`, without their paths.
pub(crate) fn derives_in(meta: &ast::Meta) -> Vec<String> {
    let text = meta.syntax().text().to_string();
    let list = text.strip_prefix("derive").and_then(|it| it.trim().strip_prefix('(')).map(str::to_owned);
    let list = list.unwrap_or_default();
    let names = list.trim_end_matches(')').split(',').map(|it| it.rsplit("::").next().unwrap_or_default().trim());
    names.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) docs: Option<String>,
    /// The function is a test.
    pub(crate) test: bool,
    /// `#[cfg(test)]`: the item and its contents exist only in tests.
    pub(crate) test_only: bool,
    /// `#[macro_export]`: a macro is visible outside its crate.
    pub(crate) macro_export: bool,
}

impl Attributes {
    pub(crate) fn of(owner: &dyn HasAttrs) -> Attributes {
        let mut attributes = Attributes::default();
        let mut fragments = Vec::new();
        // A file has no outer attributes: those that no item follows belong to nothing.
        let is_file = ast::SourceFile::can_cast(owner.syntax().kind());
        for element in owner.syntax().children_with_tokens() {
            if is_file || !attributes.read(&element, false, &mut fragments) {
                break;
            }
        }
        if let Some(inside) = owner.inner_attributes_node() {
            for element in inside.children_with_tokens() {
                if !attributes.read(&element, true, &mut fragments) {
                    break;
                }
            }
        }
        attributes.docs = render(&fragments);
        attributes
    }

    /// `false` after the last attribute.
    fn read(&mut self, element: &SyntaxElement, inner: bool, fragments: &mut Vec<DocFragment>) -> bool {
        match element {
            NodeOrToken::Node(node) => {
                let Some(attribute) = ast::Attr::cast(node.clone()) else { return false };
                if attribute.kind().is_inner() == inner {
                    self.read_attribute(&attribute, fragments);
                }
                true
            }
            NodeOrToken::Token(token) => {
                if let Some(comment) = ast::Comment::cast(token.clone()) {
                    if comment.is_doc() && comment.is_inner() == inner {
                        fragments.extend(DocFragment::comment(&comment));
                    }
                    return true;
                }
                // Nodes that may precede the inner attributes of a block and of a file.
                matches!(
                    token.kind(),
                    SyntaxKind::WHITESPACE | SyntaxKind::L_CURLY | SyntaxKind::SHEBANG | SyntaxKind::FRONTMATTER
                )
            }
        }
    }

    fn read_attribute(&mut self, attribute: &ast::Attr, fragments: &mut Vec<DocFragment>) {
        if let Some(ast::Meta::KeyValueMeta(meta)) = attribute.meta()
            && meta.path().and_then(|path| path.as_single_name_ref()).is_some_and(|name| name.text() == "doc")
            && let Some(ast::Expr::Literal(literal)) = meta.expr()
            && let Some(text) = AnyString::cast(literal.token())
            && let Ok(text) = text.value()
        {
            fragments.push(DocFragment::attribute(text.into_owned()));
            return;
        }
        for meta in attribute.skip_cfg_attrs() {
            if let ast::Meta::CfgMeta(cfg) = &meta {
                self.test_only |= cfg.cfg_predicate().is_some_and(|predicate| wants_test(&predicate));
                continue;
            }
            let Some(name) = meta.path().and_then(|path| path.segment()).and_then(|segment| segment.name_ref()) else {
                continue;
            };
            self.test |= TEST_ATTRIBUTES.contains(&name.text());
            self.macro_export |= name.text() == "macro_export";
        }
    }
}

/// The arguments between the brackets of an attribute: the tokens of each, without white space.
pub(crate) fn arguments(list: &ast::TokenTree) -> Vec<Vec<String>> {
    let inner = list.syntax().children_with_tokens().collect::<Vec<_>>();
    let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
    let mut found = vec![Vec::new()];
    for part in inner.iter().filter(|it| !it.kind().is_trivia()) {
        match part.kind() {
            SyntaxKind::COMMA => found.push(Vec::new()),
            _ => found.last_mut().into_iter().for_each(|it| it.push(part.to_string())),
        }
    }
    found.retain(|it| !it.is_empty());
    found
}

/// The condition of a `cfg` attribute.
pub(crate) fn cfg_condition(attribute: &ast::Attr) -> Option<CfgExpr> {
    match attribute.meta()? {
        ast::Meta::CfgMeta(it) => Some(CfgExpr::parse_from_ast(it.cfg_predicate()?)),
        _ => None,
    }
}

/// Whether a predicate can hold only if `test` does.
fn wants_test(predicate: &ast::CfgPredicate) -> bool {
    match predicate {
        ast::CfgPredicate::CfgAtom(atom) => {
            atom.eq_token().is_none() && atom.ident_token().is_some_and(|name| name.text() == "test")
        }
        ast::CfgPredicate::CfgComposite(composite) => {
            let mut parts = composite.cfg_predicates().map(|part| wants_test(&part));
            match composite.keyword().as_ref().map(|keyword| keyword.text()) {
                Some("all") => parts.any(|wanted| wanted),
                Some("any") => parts.next().is_some_and(|first| first && parts.all(|wanted| wanted)),
                _ => false,
            }
        }
    }
}
