//! The guard before the parser. It descends by recursion, and so does everything behind it: a file of a few
//! kilobytes, all brackets, would overflow the stack and end the process. No panic handler helps against that.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

use crate::model::Span;

/// Far above what people and generators write, and far below what the parser stands on a thread of 2 MiB.
pub const DEEPEST: usize = 256;

/// The first bracket that is nested too deep, in a text that must be given to no parser. In broken code a bracket
/// counts as open until its own kind closes it, since the parser may see it so.
pub fn too_deep(text: &str) -> Option<Span> {
    let mut open = Vec::new();
    let mut start = strip_shebang(text).unwrap_or(0);
    for token in tokenize(text.get(start..).unwrap_or_default(), FrontmatterAllowed::Yes) {
        let end = start + token.len as usize;
        match token.kind {
            TokenKind::OpenParen | TokenKind::OpenBrace | TokenKind::OpenBracket => open.push(token.kind),
            TokenKind::CloseParen => drop(open.pop_if(|it| *it == TokenKind::OpenParen)),
            TokenKind::CloseBrace => drop(open.pop_if(|it| *it == TokenKind::OpenBrace)),
            TokenKind::CloseBracket => drop(open.pop_if(|it| *it == TokenKind::OpenBracket)),
            _ => {}
        }
        if open.len() > DEEPEST {
            return Some(Span::new(start, end));
        }
        start = end;
    }
    None
}
