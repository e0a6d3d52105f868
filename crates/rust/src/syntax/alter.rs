//! Generates an altered declaration, to find out what the change would break.

use ra_ap_syntax::ast::{self, HasName as _, HasVisibility as _};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, SyntaxNode, TextRange, TextSize};

use super::nesting;
use semdex_model::{Alteration, Span};

/// The replacement, and the range that it replaces. `None` if the declaration has nothing of this kind to change.
pub(crate) fn alter(text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
    if nesting::too_deep(text).is_some() {
        return None;
    }
    let tree = SourceFile::parse(text, Edition::CURRENT).tree();
    let at = TextSize::try_from(name.start).ok()?;
    let token = tree.syntax().token_at_offset(at).right_biased()?;
    let node = token.parent_ancestors().find(|it| is_declaration(it, token.text_range()))?;
    match change {
        Alteration::Remove => Some((item, String::new())),
        Alteration::Rename => Some((name, format!("{}_renamed", text.get(name.start..name.end)?))),
        Alteration::Visibility => {
            let visibility = visibility(&node)?.syntax().text_range();
            let blank = text.get(usize::from(visibility.end())..)?;
            let blank = blank.len() - blank.trim_start().len();
            Some((Span::new(visibility.start().into(), usize::from(visibility.end()) + blank), String::new()))
        }
        Alteration::Signature => signature(&node, text),
    }
}

fn is_declaration(node: &SyntaxNode, name: TextRange) -> bool {
    let named = match ast::AnyHasName::cast(node.clone()) {
        Some(it) => it.name(),
        None => return false,
    };
    named.is_some_and(|it| it.syntax().text_range().contains_range(name))
}

fn visibility(node: &SyntaxNode) -> Option<ast::Visibility> {
    ast::AnyHasVisibility::cast(node.clone())?.visibility()
}

/// An additional parameter, or another type.
fn signature(node: &SyntaxNode, text: &str) -> Option<(Span, String)> {
    if let Some(function) = ast::Fn::cast(node.clone()) {
        let list = function.param_list()?;
        let close = usize::from(list.r_paren_token()?.text_range().start());
        let head = text.get(usize::from(list.l_paren_token()?.text_range().end())..close)?.trim_end();
        let comma = if head.is_empty() || head.ends_with(',') { "" } else { ", " };
        return Some((Span::new(close, close), format!("{comma}_added: ()")));
    }
    let ty = match node {
        _ if ast::Const::can_cast(node.kind()) => ast::Const::cast(node.clone())?.ty(),
        _ if ast::Static::can_cast(node.kind()) => ast::Static::cast(node.clone())?.ty(),
        _ if ast::RecordField::can_cast(node.kind()) => ast::RecordField::cast(node.clone())?.ty(),
        _ if ast::TypeAlias::can_cast(node.kind()) => ast::TypeAlias::cast(node.clone())?.ty(),
        _ => None,
    };
    let range = ty?.syntax().text_range();
    Some((Span::new(range.start().into(), range.end().into()), "[(); 0]".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::outline;

    fn altered(text: &str, name: &str, change: Alteration) -> Option<String> {
        let outline = outline(text);
        let mut found = None;
        outline.walk(&mut |item| {
            if item.name == name {
                found = alter(text, item.span, item.name_span, change);
            }
        });
        let (span, new) = found?;
        Some(format!("{}{new}{}", &text[..span.start], &text[span.end..]))
    }

    #[test]
    fn every_kind_of_change() {
        use Alteration::{Remove, Rename, Signature, Visibility};
        let text = "pub struct S {\n    pub(crate) a: u8,\n}\nimpl S {\n    pub fn f(&self, b: u8,) {}\n    fn g() {}\n}\nconst C: u8 = 1;\n";
        let cases = [
            ("f", Rename, "pub fn f_renamed(&self"),
            ("f", Signature, "pub fn f(&self, b: u8,_added: ()) {}"),
            ("g", Signature, "fn g(_added: ()) {}"),
            ("f", Visibility, "    fn f(&self"),
            ("a", Visibility, "{\n    a: u8,"),
            ("a", Signature, "pub(crate) a: [(); 0],"),
            ("C", Signature, "const C: [(); 0] = 1;"),
            ("C", Remove, "}\n\n"),
        ];
        for (name, change, expected) in cases {
            let altered = altered(text, name, change).unwrap();
            assert!(altered.contains(expected), "{name} {change:?}: {altered}");
        }
        assert_eq!(altered(text, "g", Visibility), None);
        assert_eq!(altered(text, "S", Signature), None);
    }
}
