//! Types as an implementation and its trait write them: `Self`, and the associated types, are replaced by what the
//! implementation gives them, so that two ways to write one type are equal.

use std::collections::HashMap;

use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

/// An associated type may be given by others, so many levels deep.
const DEEPEST: usize = 4;

/// The code of a node without comments, with one space between tokens.
pub(crate) fn written(node: &SyntaxNode) -> String {
    let tokens = node.descendants_with_tokens().filter_map(|it| it.into_token());
    let words: Vec<String> = tokens.filter(|it| !it.kind().is_trivia()).map(|it| it.text().to_owned()).collect();
    words.join(" ")
}

/// What an implementation gives to `Self` and to associated types.
#[derive(Debug, Default)]
pub(crate) struct GivenTypes {
    own: Vec<String>,
    associated: HashMap<String, Vec<String>>,
}

impl GivenTypes {
    pub(crate) fn of(block: &ast::Impl) -> GivenTypes {
        let words = |it: ast::Type| -> Vec<String> { written(it.syntax()).split(' ').map(str::to_owned).collect() };
        let items = block.assoc_item_list().into_iter().flat_map(|it| it.assoc_items());
        let associated = items.filter_map(|it| match it {
            ast::AssocItem::TypeAlias(it) => Some((it.name()?.text().to_string(), words(it.ty()?))),
            _ => None,
        });
        GivenTypes { own: block.self_ty().map(words).unwrap_or_default(), associated: associated.collect() }
    }

    /// A written type with everything replaced that the implementation gives.
    pub(crate) fn spelled_out(&self, ty: &str) -> String {
        let words: Vec<String> = ty.split(' ').map(str::to_owned).collect();
        self.replaced(&words, DEEPEST).join(" ")
    }

    fn replaced(&self, words: &[String], depth: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let path = self.qualified(rest).or_else(|| {
                let name = after.get(1).filter(|_| word == "Self" && after[0] == "::")?;
                Some((self.associated.get(name)?, 3))
            });
            match path {
                Some((given, length)) if depth > 0 => {
                    out.extend(self.replaced(given, depth - 1));
                    rest = &rest[length..];
                }
                _ if word == "Self" => {
                    out.extend(self.own.iter().cloned());
                    rest = after;
                }
                _ => {
                    out.push(word.clone());
                    rest = after;
                }
            }
        }
        out
    }

    /// `<Self as Trait>::Name` at the start, or the same with the type itself, and how many words it has.
    fn qualified(&self, words: &[String]) -> Option<(&Vec<String>, usize)> {
        let (first, inner) = words.split_first()?;
        let of_self = |it: &[String]| {
            it.first()
                .is_some_and(|it| it == "Self")
                .then_some(1)
                .or_else(|| it.starts_with(&self.own).then_some(self.own.len()))
        };
        let length = of_self(inner).filter(|_| first == "<" && !self.own.is_empty())?;
        if inner.get(length)? != "as" {
            return None;
        }
        let mut open = 1;
        let end = inner.iter().skip(length).position(|it| {
            open += i32::from(it == "<") - i32::from(it == ">");
            open == 0
        })?;
        let [colons, name, ..] = &inner[length + end + 1..] else { return None };
        Some((self.associated.get(name).filter(|_| colons == "::")?, 1 + length + end + 3))
    }
}

#[cfg(test)]
mod tests {
    use ra_ap_syntax::{AstNode as _, Edition, SourceFile, ast};

    use super::GivenTypes;

    #[test]
    fn two_ways_to_write_a_type_are_equal() {
        let text = "impl Kind<u8> for Holder<T> { type Item = Vec<Self::Part>; type Part = u8; }";
        let tree = SourceFile::parse(text, Edition::CURRENT).tree();
        let given = GivenTypes::of(&tree.syntax().descendants().find_map(ast::Impl::cast).unwrap());
        for (ty, spelled_out) in [
            ("& Self :: Item", "& Vec < u8 >"),
            ("< Self as Kind < u8 > > :: Part", "u8"),
            ("Option < < Holder < T > as Kind > :: Part >", "Option < u8 >"),
            ("Self", "Holder < T >"),
            ("Self :: Other", "Holder < T > :: Other"),
            ("< u8 as Kind > :: Part", "< u8 as Kind > :: Part"),
            ("<", "<"),
        ] {
            assert_eq!(given.spelled_out(ty), spelled_out, "{ty}");
        }
    }
}
