//! The comments of a text.

use std::sync::OnceLock;

use ra_ap_parser::LexedStr;
use ra_ap_syntax::{Edition, SyntaxKind};

use semdex_model::Span;

/// They are searched for with the first query.
#[derive(Default)]
pub(crate) struct Comments(OnceLock<Vec<Span>>);

impl Comments {
    /// Whether an offset of the text is within a comment. Each query has the same text.
    pub(crate) fn contain(&self, text: &str, at: usize) -> bool {
        let spans = self.0.get_or_init(|| comments_of(text));
        let index = spans.partition_point(|it| it.end <= at);
        spans.get(index).is_some_and(|it| it.start <= at)
    }
}

fn comments_of(text: &str) -> Vec<Span> {
    let lexed = LexedStr::new(Edition::CURRENT, text);
    let comments = (0..lexed.len()).filter(|it| lexed.kind(*it) == SyntaxKind::COMMENT);
    let spans = comments.map(|it| lexed.text_range(it));
    spans.map(|it| Span::new(it.start, it.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_within_a_comment_from_its_start_to_its_end() {
        let text = "a // b\n\"//\" /* c /* d */ e */ f";
        let comments = Comments::default();
        for (part, is_within) in
            [("a ", false), ("// b", true), ("b", true), ("//\"", false), ("/* c", true), ("e */", true), ("f", false)]
        {
            let at = text.find(part).unwrap();
            assert_eq!(comments.contain(text, at), is_within, "{part}");
        }
    }
}
