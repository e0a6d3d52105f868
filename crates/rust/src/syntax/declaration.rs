//! Declarations on one line: signatures, and the names of `impl` blocks.

use ra_ap_syntax::ast::HasName;
use ra_ap_syntax::{AstNode, NodeOrToken, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, T, WalkEvent, ast};

/// A longer value is not part of a signature.
const LONGEST_VALUE: usize = 60;

/// Whether a macro is called in place of items.
pub(crate) fn is_among_items(call: &ast::MacroCall) -> bool {
    call.syntax().parent().is_some_and(|it| {
        ast::MacroItems::can_cast(it.kind())
            || ast::SourceFile::can_cast(it.kind())
            || ast::ItemList::can_cast(it.kind())
            || ast::AssocItemList::can_cast(it.kind())
    })
}

/// The declaration without docs, attributes, comments and body. The braces of a type are kept as `{ … }`.
pub(crate) fn signature(item: &SyntaxNode) -> String {
    let mut line = OneLine::default();
    let mut elements = item.children_with_tokens();
    for element in elements.by_ref() {
        match element.kind() {
            T![;] | SyntaxKind::BLOCK_EXPR | SyntaxKind::ITEM_LIST => break,
            SyntaxKind::ASSOC_ITEM_LIST if item.kind() == SyntaxKind::IMPL => break,
            SyntaxKind::TOKEN_TREE if is_macro_body(&element) => break,
            SyntaxKind::ASSOC_ITEM_LIST | SyntaxKind::VARIANT_LIST => line.braces(&element),
            SyntaxKind::RECORD_FIELD_LIST if item.kind() != SyntaxKind::VARIANT => line.braces(&element),
            T![=] if item.kind() != SyntaxKind::TYPE_ALIAS && item.kind() != SyntaxKind::TRAIT => {
                line.value(&mut elements);
                break;
            }
            _ => line.element(&element),
        }
    }
    line.finish()
}

/// The last token tree of a macro's definition: its rules, not its parameters.
fn is_macro_body(element: &SyntaxElement) -> bool {
    let next = element.as_node().and_then(|node| node.next_sibling());
    next.is_none_or(|next| next.kind() != SyntaxKind::TOKEN_TREE)
}

#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Blank,
    /// A line break or a comment, which is dropped next to a bracket.
    Break,
}

/// Tokens with one blank for any white space, in the layout that rustfmt gives to what fits on a line.
#[derive(Default)]
struct OneLine {
    text: String,
    gap: Gap,
}

impl OneLine {
    fn element(&mut self, element: &SyntaxElement) {
        match element {
            NodeOrToken::Token(token) => self.token(token),
            NodeOrToken::Node(node) => {
                let mut walk = node.preorder_with_tokens();
                while let Some(event) = walk.next() {
                    match event {
                        WalkEvent::Enter(NodeOrToken::Node(node)) if node.kind() == SyntaxKind::ATTR => {
                            walk.skip_subtree();
                            self.gap = self.gap.max(Gap::Break);
                        }
                        WalkEvent::Enter(NodeOrToken::Token(token)) => self.token(&token),
                        WalkEvent::Enter(NodeOrToken::Node(_)) | WalkEvent::Leave(_) => {}
                    }
                }
            }
        }
    }

    fn token(&mut self, token: &SyntaxToken) {
        let text = token.text();
        match token.kind() {
            SyntaxKind::WHITESPACE => {
                self.gap = self.gap.max(if text.contains('\n') { Gap::Break } else { Gap::Blank });
                return;
            }
            SyntaxKind::COMMENT => {
                self.gap = self.gap.max(Gap::Break);
                return;
            }
            _ => {}
        }
        if self.gap == Gap::Break && self.text.ends_with(',') && makes_comma_redundant(token) {
            self.text.pop();
        }
        let blank = match self.gap {
            Gap::None => false,
            Gap::Blank => true,
            Gap::Break => !closes(token) && !self.text.ends_with(['(', '[', '<']),
        };
        if blank && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = Gap::None;
        if text.contains('\n') {
            let words: Vec<&str> = text.split_whitespace().collect();
            self.text.push_str(&words.join(" "));
        } else {
            self.text.push_str(text);
        }
    }

    fn braces(&mut self, list: &SyntaxElement) {
        self.trim();
        let empty = list.as_node().is_some_and(|list| list.first_child().is_none());
        self.text.push_str(if empty { " {}" } else { " { … }" });
        self.gap = Gap::None;
    }

    /// The value after a `=`, if it is short.
    fn value(&mut self, rest: &mut impl Iterator<Item = SyntaxElement>) {
        let mut value = OneLine::default();
        for element in rest.take_while(|element| element.kind() != T![;]) {
            // Building a long table on one line and dropping it would be slow.
            let long = usize::from(element.text_range().len()) > 8 * LONGEST_VALUE;
            if !long {
                value.element(&element);
            }
            if long || value.text.len() > LONGEST_VALUE {
                return;
            }
        }
        self.trim();
        self.text.push_str(" = ");
        self.text.push_str(&value.finish());
    }

    fn trim(&mut self) {
        let end = self.text.trim_end_matches([' ', ',']).len();
        self.text.truncate(end);
    }

    fn finish(mut self) -> String {
        self.trim();
        self.text
    }
}

/// A bracket that directly follows its contents.
fn closes(token: &SyntaxToken) -> bool {
    match token.kind() {
        T![')'] | T![']'] => true,
        // Otherwise it is the operator.
        T![>] => token.parent().is_some_and(|parent| {
            matches!(parent.kind(), SyntaxKind::GENERIC_PARAM_LIST | SyntaxKind::GENERIC_ARG_LIST)
        }),
        _ => false,
    }
}

/// It closes a list in which a trailing comma has no meaning; in a tuple of one element it has.
fn makes_comma_redundant(token: &SyntaxToken) -> bool {
    let Some(list) = token.parent() else { return false };
    let listed = matches!(
        list.kind(),
        SyntaxKind::PARAM_LIST
            | SyntaxKind::ARG_LIST
            | SyntaxKind::PARENTHESIZED_ARG_LIST
            | SyntaxKind::GENERIC_PARAM_LIST
            | SyntaxKind::GENERIC_ARG_LIST
            | SyntaxKind::TUPLE_FIELD_LIST
            | SyntaxKind::RECORD_FIELD_LIST
    );
    listed && list.last_token().is_some_and(|last| last == *token)
}

/// The name of an `impl` block.
pub(crate) struct ImplName {
    /// `Type` or `Trait for Type`.
    pub(crate) name: String,
    /// The container in the paths of its members: `Type` or `<Type as Trait>`.
    pub(crate) container: String,
    pub(crate) of_trait: bool,
}

pub(crate) fn impl_name(item: &ast::Impl) -> ImplName {
    let self_type = item.self_ty().map_or_else(|| "_".to_owned(), |ty| type_name(ty.syntax()));
    match item.trait_().map(|ty| type_name(ty.syntax())) {
        Some(of) => {
            let negation = if item.excl_token().is_some() { "!" } else { "" };
            let name = format!("{negation}{of} for {self_type}");
            ImplName { name, container: format!("<{self_type} as {of}>"), of_trait: true }
        }
        None => ImplName { name: self_type.clone(), container: self_type, of_trait: false },
    }
}

/// A type as in paths: the last segment of each path, without generics, lifetimes and bounds.
pub(crate) fn type_name(ty: &SyntaxNode) -> String {
    let mut line = OneLine::default();
    let mut walk = ty.preorder_with_tokens();
    while let Some(event) = walk.next() {
        let WalkEvent::Enter(element) = event else { continue };
        match element.kind() {
            SyntaxKind::GENERIC_ARG_LIST
            | SyntaxKind::PARENTHESIZED_ARG_LIST
            | SyntaxKind::FOR_BINDER
            | SyntaxKind::LIFETIME
            | SyntaxKind::ATTR => {
                walk.skip_subtree();
            }
            // The result of `Fn(A) -> B`; the result of `fn(A) -> B` is part of the type.
            SyntaxKind::RET_TYPE
                if element.parent().is_some_and(|parent| parent.kind() == SyntaxKind::PATH_SEGMENT) =>
            {
                walk.skip_subtree();
            }
            // A path's qualifier, and the `::` after it.
            SyntaxKind::PATH if element.parent().is_some_and(|parent| parent.kind() == SyntaxKind::PATH) => {
                walk.skip_subtree();
            }
            T![::] => {}
            _ => match &element {
                NodeOrToken::Token(token) => line.token(token),
                NodeOrToken::Node(_) => {}
            },
        }
    }
    // What removed lifetimes leave in `&'a T` and `dyn Trait + 'a + Send`.
    line.finish().replace("& ", "&").replace("+ +", "+").trim_end_matches([' ', '+']).to_owned()
}

/// The name that an item declares in the scope around it.
pub(crate) fn declared_name(item: &ast::Item) -> Option<ast::Name> {
    match item {
        ast::Item::Const(it) => it.name(),
        ast::Item::Enum(it) => it.name(),
        ast::Item::Fn(it) => it.name(),
        ast::Item::MacroDef(it) => it.name(),
        ast::Item::MacroRules(it) => it.name(),
        ast::Item::Module(it) => it.name(),
        ast::Item::Static(it) => it.name(),
        ast::Item::Struct(it) => it.name(),
        ast::Item::Trait(it) => it.name(),
        ast::Item::TypeAlias(it) => it.name(),
        ast::Item::Union(it) => it.name(),
        ast::Item::AsmExpr(_)
        | ast::Item::ExternBlock(_)
        | ast::Item::ExternCrate(_)
        | ast::Item::Impl(_)
        | ast::Item::MacroCall(_)
        | ast::Item::Use(_) => None,
    }
}

/// The alias around a node, if it belongs to no trait or `impl`: the compiler checks such a one where it is used.
pub(crate) fn free_alias_around(node: &SyntaxNode) -> Option<ast::TypeAlias> {
    let alias = node.ancestors().find_map(ast::TypeAlias::cast)?;
    let is_free = alias.syntax().parent().is_some_and(|it| !ast::AssocItemList::can_cast(it.kind()));
    is_free.then_some(alias)
}
