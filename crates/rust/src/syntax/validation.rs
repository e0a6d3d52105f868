//! What the compiler's parser refuses and rust-analyzer's accepts: items that may not be members, `self` outside of
//! `impl` blocks and traits, and doc comments that document nothing. They are errors under a `cfg` too.

use ra_ap_syntax::ast;
use ra_ap_syntax::{
    AstNode as _, Direction, NodeOrToken, SourceFile, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, WalkEvent,
};

use super::attributes::attributes_of;
use super::is_read_by_tools;

type Refused = Vec<(TextRange, String)>;

/// The errors of a file that rust-analyzer's parser accepts.
pub(crate) fn refused(file: &SourceFile) -> Refused {
    let mut found = Refused::new();
    items(file.syntax(), &mut found);
    found
}

/// The same of the items that a macro makes.
pub(crate) fn refused_items(made: &SyntaxNode) -> Refused {
    let mut found = Refused::new();
    items(made, &mut found);
    found
}

/// The items of a file or module.
fn items(list: &SyntaxNode, found: &mut Refused) {
    comments(list, found);
    for item in list.children().filter_map(ast::Item::cast) {
        item_among_items(&item, found);
    }
}

fn item_among_items(item: &ast::Item, found: &mut Refused) {
    inner_comments_before(item.syntax(), found);
    match item {
        ast::Item::Module(it) => it.item_list().iter().for_each(|it| items(it.syntax(), found)),
        ast::Item::Impl(it) => it.assoc_item_list().iter().for_each(|it| members(it, "implementations", found)),
        ast::Item::Trait(it) => it.assoc_item_list().iter().for_each(|it| members(it, "traits", found)),
        ast::Item::Fn(it) => {
            let receiver = it.param_list().and_then(|it| it.self_param());
            if let Some(receiver) = receiver.filter(|_| is_as_written(it.syntax())) {
                let message = "`self` parameter is only allowed in associated functions".to_owned();
                found.push((receiver.syntax().text_range(), message));
            }
            if it.body().is_none() && it.semicolon_token().is_some() && is_as_written(it.syntax()) {
                found.extend(
                    first_of(it.syntax()).map(|it| (it.text_range(), "free function without a body".to_owned())),
                );
            }
            body(it, found);
        }
        ast::Item::Struct(it) => match it.field_list() {
            Some(ast::FieldList::RecordFieldList(it)) => comments(it.syntax(), found),
            Some(ast::FieldList::TupleFieldList(it)) => comments(it.syntax(), found),
            None => {}
        },
        ast::Item::Enum(it) => it.variant_list().iter().for_each(|it| comments(it.syntax(), found)),
        _ => {}
    }
}

fn members(list: &ast::AssocItemList, around: &str, found: &mut Refused) {
    comments(list.syntax(), found);
    for member in list.syntax().children().filter_map(ast::Item::cast) {
        let kind = match &member {
            ast::Item::Fn(it) => {
                inner_comments_before(it.syntax(), found);
                body(it, found);
                let message = match around {
                    "traits" if it.const_token().is_some() => "functions in traits cannot be `const`",
                    "implementations" if it.body().is_none() && it.semicolon_token().is_some() => {
                        "associated function in an implementation without a body"
                    }
                    _ => continue,
                };
                if is_as_written(it.syntax()) {
                    found.extend(first_of(it.syntax()).map(|it| (it.text_range(), message.to_owned())));
                }
                continue;
            }
            ast::Item::Enum(_) => "an enum",
            ast::Item::Struct(_) => "a struct",
            ast::Item::Union(_) => "a union",
            ast::Item::Trait(_) => "a trait",
            ast::Item::Impl(_) => "an implementation",
            ast::Item::Module(_) => "a module",
            ast::Item::Use(_) => "an import",
            ast::Item::Static(_) => "a static",
            ast::Item::ExternBlock(_) => "an extern block",
            ast::Item::ExternCrate(_) => "an `extern crate`",
            ast::Item::MacroRules(_) | ast::Item::MacroDef(_) => "a macro definition",
            _ => continue,
        };
        if let Some(first) = first_of(member.syntax()) {
            found.push((first.text_range(), format!("{kind} is not supported in {around}")));
        }
    }
}

/// The items and comments in a body, at any depth, and the comments among the parameters.
fn body(function: &ast::Fn, found: &mut Refused) {
    if is_as_written(function.syntax()) {
        let list = function.param_list().map(|it| it.syntax().clone());
        let tokens = list.into_iter().flat_map(|it| it.children_with_tokens()).filter_map(|it| it.into_token());
        let docs = tokens.filter(|it| it.kind() == SyntaxKind::COMMENT);
        let message = "documentation comments cannot be applied to function parameters";
        found.extend(docs.filter(|it| is_outer_doc(it.text())).map(|it| (it.text_range(), message.to_owned())));
    }
    let Some(body) = function.body() else { return };
    // The input of a macro has no statements.
    let mut inner = body.syntax().preorder();
    while let Some(event) = inner.next() {
        let WalkEvent::Enter(node) = event else { continue };
        if let Some(item) = ast::Item::cast(node.clone()) {
            item_among_items(&item, found);
            inner.skip_subtree();
        } else if matches!(node.kind(), SyntaxKind::STMT_LIST | SyntaxKind::MATCH_ARM_LIST) {
            comments(&node, found);
        }
    }
}

/// Whether no attribute around an item may change it before its parameters are looked at.
fn is_as_written(item: &SyntaxNode) -> bool {
    let attributes = item.ancestors().flat_map(|it| attributes_of(&it).collect::<Vec<_>>());
    attributes.into_iter().all(|it| {
        let text = it.syntax().text().to_string();
        let name = text.trim_start_matches(['#', '!', '[', ' ']);
        name.starts_with("cfg") && !name.starts_with("cfg_attr") || is_read_by_tools(name)
    })
}

/// The first token of an item after its attributes and comments.
fn first_of(item: &SyntaxNode) -> Option<SyntaxToken> {
    let mut parts = item.children_with_tokens().filter(|it| match it {
        NodeOrToken::Node(it) => !ast::Attr::can_cast(it.kind()),
        NodeOrToken::Token(it) => !it.kind().is_trivia(),
    });
    match parts.next()? {
        NodeOrToken::Node(it) => it.first_token(),
        NodeOrToken::Token(it) => Some(it),
    }
}

/// Doc comments directly in a list: inner ones that are not at its start, outer ones with nothing behind them.
fn comments(list: &SyntaxNode, found: &mut Refused) {
    let mut is_start = true;
    for element in list.children_with_tokens() {
        let Some(comment) = element.as_token().filter(|it| it.kind() == SyntaxKind::COMMENT) else {
            let is_inner = |it: &SyntaxNode| ast::Attr::cast(it.clone()).is_some_and(|it| it.kind().is_inner());
            is_start &= match &element {
                NodeOrToken::Node(it) => is_inner(it),
                NodeOrToken::Token(it) => {
                    matches!(it.kind(), SyntaxKind::WHITESPACE | SyntaxKind::L_CURLY | SyntaxKind::SHEBANG)
                }
            };
            continue;
        };
        if is_inner_doc(comment.text()) {
            if !is_start {
                found.push((comment.text_range(), MISPLACED.to_owned()));
            }
        } else if is_outer_doc(comment.text()) {
            let behind = comment.siblings_with_tokens(Direction::Next).skip(1).find(|it| !it.kind().is_trivia());
            if behind.is_none_or(|it| it.kind() == SyntaxKind::R_CURLY) {
                let message = "this doc comment documents nothing: an item has to follow it".to_owned();
                found.push((comment.text_range(), message));
            }
        }
    }
}

const MISPLACED: &str = "an inner doc comment has to be at the start of its file, module or function";

/// Inner doc comments in front of an item belong to nothing.
fn inner_comments_before(item: &SyntaxNode, found: &mut Refused) {
    let tokens = item.children_with_tokens().map_while(|it| match it {
        NodeOrToken::Token(it) if it.kind().is_trivia() => Some(Some(it)),
        NodeOrToken::Node(it) if ast::Attr::can_cast(it.kind()) => Some(None),
        _ => None,
    });
    let inner = tokens.flatten().filter(|it| is_inner_doc(it.text()));
    found.extend(inner.map(|it| (it.text_range(), MISPLACED.to_owned())));
}

fn is_inner_doc(comment: &str) -> bool {
    comment.starts_with("//!") || comment.starts_with("/*!")
}

fn is_outer_doc(comment: &str) -> bool {
    let is_line = comment.starts_with("///") && !comment.starts_with("////");
    is_line || comment.starts_with("/**") && !comment.starts_with("/***") && comment != "/**/"
}

#[cfg(test)]
mod tests {
    use crate::syntax::source::Source;

    #[test]
    fn what_the_compiler_refuses_is_an_error() {
        for text in [
            "impl A {\n    enum B {}\n}",
            "trait T { use a::b; }",
            "impl A { pub struct B; }",
            "#[cfg(any())]\nimpl A { mod m {} }",
            "fn f(&self) {}",
            "fn f();",
            "impl A { fn f(); }",
            "trait T { const fn f(); }",
            "fn f() { fn g(self) {} }",
            "mod m { fn f(self: &u8) {} }",
            "use a::b;\n//! Inner.\nfn f() {}",
            "fn f() {}\n/// Nothing.",
            "fn f(\n    /// Of a parameter.\n    a: u8,\n) {\n}",
            "impl A {\n    fn f() {}\n    /// Nothing.\n}",
            "fn f() {\n    g();\n    /// Nothing.\n}",
            "struct A {\n    a: u8,\n    /// Nothing.\n}",
        ] {
            assert_eq!(Source::parse(text).errors.len(), 1, "{text}: {:?}", Source::parse(text).errors);
        }
        for text in [
            "//! Inner.\n#![allow(x)]\n//! Again.\nfn f() {}",
            "mod m {\n    //! Inner.\n    fn f() {}\n}",
            "fn f() {\n    //! Inner.\n    g();\n}",
            "impl A {\n    //! Inner.\n    /// Outer.\n    fn f(&self) {}\n    //// None.\n}",
            "fn f() {\n    /// Of a statement.\n    let a = 1;\n    // None.\n}",
            "struct A {\n    /// A field.\n    a: u8,\n    // None.\n}\n// None.",
            "/// Outer.\n#[derive(Debug)]\n/// Outer.\nstruct A;\n/***/",
            "extern \"C\" { fn f(a: u8); }",
            "trait T { const A: u8; type B; fn f(self); m!{} }",
        ] {
            assert_eq!(Source::parse(text).errors, [], "{text}");
        }
    }
}
