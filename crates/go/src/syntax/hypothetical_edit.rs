//! A hypothetical change of a declaration, to compute what it would break.

use tree_sitter::Node;

use super::parse::Syntax;
use semdex_model::{Alteration, Span};

/// The replaced span and the new text. `None`: the change does not apply to the declaration.
pub(crate) fn alter(text: &str, item: Span, name: Span, change: Alteration) -> Option<(Span, String)> {
    let old = text.get(name.start..name.end)?;
    match change {
        Alteration::Remove => Some((item, String::new())),
        Alteration::Rename => Some((name, format!("{old}Renamed"))),
        Alteration::Visibility => {
            let first = old.chars().next().filter(|it| it.is_uppercase())?;
            let lower: String = first.to_lowercase().chain(old.chars().skip(1)).collect();
            Some((name, if super::is_keyword(&lower) { format!("{lower}_") } else { lower }))
        }
        Alteration::Signature => {
            let syntax = Syntax::parse(text);
            let node = syntax.roots().find_map(|it| it.descendant_for_byte_range(name.start, name.end))?;
            signature(node.parent()?)
        }
    }
}

/// Adds a parameter, or changes the type.
fn signature(declaration: Node) -> Option<(Span, String)> {
    if let Some(list) = declaration.child_by_field_name("parameters") {
        let at = list.start_byte() + 1;
        let named = list.named_child(0);
        let has_names = named.is_none_or(|it| it.child_by_field_name("name").is_some());
        let added = if has_names { "_ struct{}" } else { "struct{}" };
        let comma = if named.is_some() { ", " } else { "" };
        return Some((Span::new(at, at), format!("{added}{comma}")));
    }
    if let Some(ty) = declaration.child_by_field_name("type") {
        let is_value = matches!(declaration.kind(), "field_declaration" | "var_spec" | "const_spec");
        return is_value.then(|| (Span::new(ty.start_byte(), ty.end_byte()), "[0]struct{}".to_owned()));
    }
    // A value with the type of its initialiser.
    let value = declaration.child_by_field_name("value").filter(|it| it.named_child_count() == 1)?;
    Some((Span::new(value.start_byte(), value.end_byte()), "[0]struct{}{}".to_owned()))
        .filter(|_| declaration.kind() == "var_spec")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::outline;

    #[test]
    fn every_kind_of_change() {
        use Alteration::{Remove, Rename, Signature, Visibility};
        let text = "package p\n\ntype S struct {\n\tA int\n}\n\nfunc (s *S) F(a int) {}\n\nfunc g() {}\n\ntype I interface {\n\tM(int)\n}\n\nvar V int\n";
        let cases = [
            ("F", Rename, "FRenamed(a int)"),
            ("F", Signature, "F(_ struct{}, a int)"),
            ("g", Signature, "g(_ struct{})"),
            ("F", Visibility, "func (s *S) f(a int)"),
            ("A", Signature, "A [0]struct{}"),
            ("M", Signature, "M(struct{}, int)"),
            ("V", Signature, "var V [0]struct{}"),
            ("g", Remove, "{}\n\n\n\ntype I"),
        ];
        let outline = outline(text);
        for (name, change, expected) in cases {
            let mut found = None;
            outline.walk(&mut |item| {
                if item.name == name {
                    found = alter(text, item.span, item.name_span, change);
                }
            });
            let (span, new) = found.unwrap();
            let altered = format!("{}{new}{}", &text[..span.start], &text[span.end..]);
            assert!(altered.contains(expected), "{name} {change:?}: {altered}");
        }
    }
}
