//! The tree of a file's items.

use std::collections::HashSet;

use ra_ap_syntax::ast::{self, HasAttrs, HasName, HasVisibility};
use ra_ap_syntax::{AstNode, AstToken, NodeOrToken, SyntaxNode, TextRange, TextSize, WalkEvent};

use semdex_model::{OutlineItem, Span, SymbolKind};

use super::attributes::Attributes;
use super::broken::{between, children, end_before, end_of, is_member, strays_of_function, strays_of_members};
use super::declaration::{impl_name, signature};
use super::source::Source;

pub(crate) fn items(source: &Source) -> Vec<OutlineItem> {
    let scope = Scope {
        container: Vec::new(),
        parent: Parent::Module,
        public: false,
        test: Attributes::of(&source.tree).test_only,
    };
    let mut items = Vec::new();
    Collector { source }.list(source.tree.syntax(), &scope, &mut items);
    items
}

/// The container of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Module,
    /// A struct or union.
    Type,
    /// An enum or one of its variants.
    Enum,
    Trait,
    Impl,
    TraitImpl,
}

/// The properties that an item inherits.
struct Scope {
    container: Vec<String>,
    parent: Parent,
    /// Whether the parent is public.
    public: bool,
    test: bool,
}

impl Scope {
    fn inside(&self, name: &str, parent: Parent, item: &OutlineItem) -> Scope {
        let mut container = self.container.clone();
        container.push(name.to_owned());
        Scope { container, parent, public: item.public, test: item.test }
    }

    fn is_public(&self, item: &impl HasVisibility) -> bool {
        match self.parent {
            Parent::Enum | Parent::Trait | Parent::TraitImpl => self.public,
            Parent::Module | Parent::Type | Parent::Impl => is_pub(item),
        }
    }
}

/// Exactly `pub`: `pub(crate)` is not visible outside.
fn is_pub(item: &impl HasVisibility) -> bool {
    item.visibility().is_some_and(|visibility| visibility.visibility_inner().is_none())
}

struct Collector<'s, 'a> {
    source: &'s Source<'a>,
}

impl Collector<'_, '_> {
    fn list(&self, list: &SyntaxNode, scope: &Scope, out: &mut Vec<OutlineItem>) {
        let first = out.len();
        for item in children::<ast::Item>(list) {
            self.item(item, scope, out);
        }
        hide_impls_of_private_types(&mut out[first..]);
    }

    fn item(&self, item: ast::Item, scope: &Scope, out: &mut Vec<OutlineItem>) {
        match item {
            ast::Item::Fn(item) => self.function(&item, scope, out),
            ast::Item::Struct(item) => {
                out.extend(self.adt(&item, SymbolKind::Struct, item.field_list(), scope));
            }
            ast::Item::Union(item) => {
                let fields = item.record_field_list().map(ast::FieldList::RecordFieldList);
                out.extend(self.adt(&item, SymbolKind::Union, fields, scope));
            }
            ast::Item::Enum(item) => out.extend(self.enumeration(&item, scope)),
            ast::Item::Trait(item) => self.trait_(&item, scope, out),
            ast::Item::Impl(item) => self.impl_(&item, scope, out),
            ast::Item::Module(item) => out.extend(self.module(&item, scope)),
            ast::Item::ExternBlock(item) => {
                if let Some(list) = item.extern_item_list() {
                    self.list(list.syntax(), scope, out);
                }
            }
            ast::Item::Const(item) => {
                out.extend(self.constant(&item, scope).map(|it| self.with_value(it, item.body(), scope)));
            }
            ast::Item::Static(item) => {
                let declared = self.named(&item, SymbolKind::Static, scope.is_public(&item), scope);
                out.extend(declared.map(|it| self.with_value(it, item.body(), scope)));
            }
            ast::Item::TypeAlias(item) => {
                out.extend(self.named(&item, SymbolKind::Type, scope.is_public(&item), scope))
            }
            ast::Item::MacroRules(item) => {
                let exported = Attributes::of(&item).macro_export;
                out.extend(self.macro_(&item, item.token_tree(), exported, scope));
            }
            ast::Item::MacroDef(item) => out.extend(self.macro_(&item, item.body(), is_pub(&item), scope)),
            ast::Item::Use(_) | ast::Item::ExternCrate(_) | ast::Item::MacroCall(_) | ast::Item::AsmExpr(_) => {}
        }
    }

    fn function(&self, item: &ast::Fn, scope: &Scope, out: &mut Vec<OutlineItem>) {
        let strays = strays_of_function(self.source, item);
        let takes_self = item.param_list().is_some_and(|list| list.self_param().is_some());
        let method = takes_self || scope.parent == Parent::Trait;
        let kind = if method { SymbolKind::Method } else { SymbolKind::Function };
        if let Some(mut function) = self.named(item, kind, scope.is_public(item), scope) {
            let body = item.body().and_then(|body| body.stmt_list());
            let braces = body.and_then(|body| between(body.l_curly_token(), body.r_curly_token()));
            // The closing brace of a function with strays belongs to another item.
            function.body = braces.filter(|_| strays.is_empty()).map(|range| self.source.span(range));
            function.span.end = self.source.offset(end_before(item.syntax(), &strays));
            if let Some(body) = item.body().filter(|_| strays.is_empty()) {
                function.children = self.inside_body(body.syntax(), &function, scope);
            }
            out.push(function);
        }
        for stray in strays {
            self.item(stray, scope, out);
        }
    }

    fn with_value(&self, mut declared: OutlineItem, value: Option<ast::Expr>, scope: &Scope) -> OutlineItem {
        if let Some(value) = value {
            declared.children = self.inside_body(value.syntax(), &declared, scope);
        }
        declared
    }

    /// The items of a body, which are not visible outside.
    fn inside_body(&self, body: &SyntaxNode, owner: &OutlineItem, scope: &Scope) -> Vec<OutlineItem> {
        let inside = Scope { public: false, ..scope.inside(&owner.name, Parent::Module, owner) };
        let mut found = Vec::new();
        let mut walk = body.preorder();
        while let Some(event) = walk.next() {
            if let WalkEvent::Enter(node) = event
                && let Some(item) = ast::Item::cast(node)
            {
                self.item(item, &inside, &mut found);
                walk.skip_subtree();
            }
        }
        found.iter_mut().for_each(hide);
        found
    }

    fn adt<N: HasName + HasVisibility + HasAttrs>(
        &self,
        item: &N,
        kind: SymbolKind,
        fields: Option<ast::FieldList>,
        scope: &Scope,
    ) -> Option<OutlineItem> {
        let mut adt = self.named(item, kind, scope.is_public(item), scope)?;
        adt.body = fields.as_ref().and_then(|fields| self.braces_of_fields(fields));
        if let Some(fields) = fields {
            adt.children = self.fields(&fields, &scope.inside(&adt.name, Parent::Type, &adt));
        }
        Some(adt)
    }

    fn fields(&self, fields: &ast::FieldList, scope: &Scope) -> Vec<OutlineItem> {
        match fields {
            ast::FieldList::RecordFieldList(fields) => fields
                .fields()
                .filter_map(|field| self.named(&field, SymbolKind::Field, scope.is_public(&field), scope))
                .collect(),
            ast::FieldList::TupleFieldList(fields) => {
                let fields = fields.fields().enumerate().filter_map(|(index, field)| {
                    let range = field.ty()?.syntax().text_range();
                    let public = scope.is_public(&field);
                    Some(self.declare(&field, SymbolKind::Field, index.to_string(), range, public, scope))
                });
                fields.collect()
            }
        }
    }

    fn enumeration(&self, item: &ast::Enum, scope: &Scope) -> Option<OutlineItem> {
        let mut enumeration = self.named(item, SymbolKind::Enum, scope.is_public(item), scope)?;
        let Some(list) = item.variant_list() else { return Some(enumeration) };
        enumeration.body = between(list.l_curly_token(), list.r_curly_token()).map(|range| self.source.span(range));
        let inside = scope.inside(&enumeration.name, Parent::Enum, &enumeration);
        enumeration.children = list
            .variants()
            .filter_map(|item| {
                let mut variant = self.named(&item, SymbolKind::Variant, inside.public, &inside)?;
                if let Some(fields) = item.field_list() {
                    variant.body = self.braces_of_fields(&fields);
                    variant.children = self.fields(&fields, &inside.inside(&variant.name, Parent::Enum, &variant));
                }
                Some(variant)
            })
            .collect();
        Some(enumeration)
    }

    fn braces_of_fields(&self, fields: &ast::FieldList) -> Option<Span> {
        match fields {
            ast::FieldList::RecordFieldList(fields) => {
                between(fields.l_curly_token(), fields.r_curly_token()).map(|range| self.source.span(range))
            }
            ast::FieldList::TupleFieldList(_) => None,
        }
    }

    fn trait_(&self, item: &ast::Trait, scope: &Scope, out: &mut Vec<OutlineItem>) {
        let Some(declared) = self.named(item, SymbolKind::Trait, scope.is_public(item), scope) else { return };
        let inside = scope.inside(&declared.name, Parent::Trait, &declared);
        self.members(declared, item.syntax(), item.assoc_item_list(), &inside, scope, out);
    }

    fn impl_(&self, item: &ast::Impl, scope: &Scope, out: &mut Vec<OutlineItem>) {
        let names = impl_name(item);
        // Without a type the keyword takes its place: the contents of the block may not be its own.
        let range = item.self_ty().map(|it| it.syntax().text_range()).or(item.impl_token().map(|it| it.text_range()));
        let range = range.unwrap_or(item.syntax().text_range());
        let declared = self.declare(item, SymbolKind::Impl, names.name, range, true, scope);
        let parent = if names.of_trait { Parent::TraitImpl } else { Parent::Impl };
        let inside = scope.inside(&names.container, parent, &declared);
        self.members(declared, item.syntax(), item.assoc_item_list(), &inside, scope, out);
    }

    /// Adds the members of an `impl` or trait; items that cannot be members are put after it.
    fn members(
        &self,
        mut owner: OutlineItem,
        node: &SyntaxNode,
        list: Option<ast::AssocItemList>,
        inside: &Scope,
        outside: &Scope,
        out: &mut Vec<OutlineItem>,
    ) {
        let Some(list) = list else {
            out.push(owner);
            return;
        };
        let strays = strays_of_members(&list);
        if strays.is_empty() {
            owner.body = between(list.l_curly_token(), list.r_curly_token()).map(|range| self.source.span(range));
        }
        owner.span.end = self.source.offset(end_before(node, &strays));
        for member in children::<ast::Item>(list.syntax()).take_while(is_member) {
            self.item(member, inside, &mut owner.children);
        }
        out.push(owner);
        for stray in strays {
            self.item(stray, outside, out);
        }
    }

    fn module(&self, item: &ast::Module, scope: &Scope) -> Option<OutlineItem> {
        let mut module = self.named(item, SymbolKind::Module, scope.is_public(item), scope)?;
        if let Some(list) = item.item_list() {
            module.body = between(list.l_curly_token(), list.r_curly_token()).map(|range| self.source.span(range));
            let inside = scope.inside(&module.name, Parent::Module, &module);
            self.list(list.syntax(), &inside, &mut module.children);
        }
        Some(module)
    }

    fn constant(&self, item: &ast::Const, scope: &Scope) -> Option<OutlineItem> {
        let public = scope.is_public(item);
        let Some(underscore) = item.underscore_token() else {
            return self.named(item, SymbolKind::Const, public, scope);
        };
        Some(self.declare(item, SymbolKind::Const, "_".to_owned(), underscore.text_range(), public, scope))
    }

    fn macro_<N: HasName + HasAttrs>(
        &self,
        item: &N,
        rules: Option<ast::TokenTree>,
        public: bool,
        scope: &Scope,
    ) -> Option<OutlineItem> {
        let mut declared = self.named(item, SymbolKind::Macro, public, scope)?;
        let rules = rules.and_then(|rules| between(rules.left_delimiter_token(), rules.right_delimiter_token()));
        declared.body = rules.map(|range| self.source.span(range));
        Some(declared)
    }

    /// `None` if it has no name, which happens only in broken code.
    fn named<N: HasName + HasAttrs>(
        &self,
        item: &N,
        kind: SymbolKind,
        public: bool,
        scope: &Scope,
    ) -> Option<OutlineItem> {
        let name = item.name()?;
        Some(self.declare(item, kind, name.text().to_owned(), name.syntax().text_range(), public, scope))
    }

    fn declare(
        &self,
        item: &dyn HasAttrs,
        kind: SymbolKind,
        name: String,
        name_range: TextRange,
        public: bool,
        scope: &Scope,
    ) -> OutlineItem {
        let attributes = Attributes::of(item);
        let node = item.syntax();
        let start = start_of(node);
        let range = TextRange::new(start, end_of(node).max(start));
        // In broken code a type may end with the same white space.
        let name_end = name_range.end().min(range.end()).max(name_range.start());
        let name_range = TextRange::new(name_range.start(), name_end);
        OutlineItem {
            kind,
            name,
            container: scope.container.clone(),
            signature: signature(node),
            docs: attributes.docs,
            span: self.source.span(range),
            name_span: self.source.span(name_range),
            body: None,
            public,
            test: scope.test || attributes.test || attributes.test_only,
            children: Vec::new(),
        }
    }
}

fn hide(item: &mut OutlineItem) {
    item.public = false;
    item.children.iter_mut().for_each(hide);
}

/// Where an item begins: the parser includes plain comments before it, and we do not.
fn start_of(node: &SyntaxNode) -> TextSize {
    node.children_with_tokens()
        .find(|element| match element {
            NodeOrToken::Node(_) => true,
            NodeOrToken::Token(token) => {
                !token.kind().is_trivia() || ast::Comment::cast(token.clone()).is_some_and(|comment| comment.is_doc())
            }
        })
        .map_or(node.text_range().start(), |element| element.text_range().start())
}

/// An `impl` has no visibility of its own: it is visible where its type and its trait are. The text shows that only for
/// types and traits next to it.
pub(crate) fn hide_impls_of_private_types(siblings: &mut [OutlineItem]) {
    let private: HashSet<String> =
        siblings.iter().filter(|item| is_private_type(item)).map(|item| item.name.clone()).collect();
    if private.is_empty() {
        return;
    }
    for item in siblings.iter_mut().filter(|item| item.kind == SymbolKind::Impl) {
        let (of_trait, self_type) =
            item.name.split_once(" for ").map_or((None, item.name.as_str()), |(of, ty)| (Some(of), ty));
        let self_type = self_type.trim_start_matches("&mut ").trim_start_matches('&');
        if !private.contains(self_type) && !of_trait.is_some_and(|name| private.contains(name)) {
            continue;
        }
        if of_trait.is_some() {
            item.children.iter_mut().for_each(|member| member.public = false);
        }
        item.public = false;
    }
}

/// A type or a trait that is not public.
pub(crate) fn is_private_type(item: &OutlineItem) -> bool {
    let type_or_trait = matches!(
        item.kind,
        SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Type
    );
    type_or_trait && !item.public
}
