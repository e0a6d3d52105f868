//! Whether a text consists of token trees: its delimiters match, and its literals and comments end. Of a text that does
//! not, the compiler reports only that, and it compiles nothing.
//!
//! The delimiters are matched as in `rustc_parse::lexer::tokentrees`, so that the errors are at the same places.

use ra_ap_syntax::{
    AstNode as _, NodeOrToken, SourceFile, SyntaxError, SyntaxKind, SyntaxToken, T, TextRange, TextSize,
};

/// How the lexer's errors about literals and comments begin that have no end.
const WITHOUT_END: &str = "Missing trailing";

/// What keeps a text from consisting of token trees, at the places where the compiler reports it.
pub(super) fn errors(tree: &SourceFile, errors: &[SyntaxError]) -> Vec<(TextRange, String)> {
    if let Some(first) = errors.iter().find(|it| it.to_string().starts_with(WITHOUT_END)) {
        return vec![(first.range(), first.to_string())];
    }
    let tokens = tree.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token);
    let mut open: Vec<SyntaxToken> = Vec::new();
    let mut mismatched = Vec::new();
    let mut end = TextSize::default();
    for token in tokens.filter(|it| !it.kind().is_trivia()) {
        end = token.text_range().end();
        if matches!(token.kind(), T!['('] | T!['['] | T!['{']) {
            open.push(token);
            continue;
        }
        let Some(opening) = opening(token.kind()) else { continue };
        let Some(innermost) = open.pop() else {
            return vec![(token.text_range(), format!("unexpected closing delimiter: `{token}`"))];
        };
        if innermost.kind() == opening {
            continue;
        }
        let message = format!("mismatched closing delimiter: `{token}` for {}", described(tree, &innermost));
        mismatched.push((token.text_range(), message));
        // It closes the delimiters within an outer one that it matches, or stands for the right one.
        if let Some(matching) = open.iter().rposition(|it| it.kind() == opening) {
            open.truncate(matching);
        }
    }
    match open.last() {
        Some(unclosed) => {
            let message = format!("this file contains an unclosed delimiter: {}", described(tree, unclosed));
            vec![(TextRange::empty(end), message)]
        }
        None => mismatched,
    }
}

fn opening(closing: SyntaxKind) -> Option<SyntaxKind> {
    match closing {
        T![')'] => Some(T!['(']),
        T![']'] => Some(T!['[']),
        T!['}'] => Some(T!['{']),
        _ => None,
    }
}

/// A delimiter with its line, from 1.
fn described(tree: &SourceFile, delimiter: &SyntaxToken) -> String {
    let before = tree.syntax().text().slice(..delimiter.text_range().start());
    let mut lines = 1;
    before.for_each_chunk(|it| lines += it.matches('\n').count());
    format!("`{delimiter}` of line {lines}")
}

#[cfg(test)]
mod tests {
    use semdex_model::Outline;

    use crate::syntax::outline;

    fn errors(text: &str) -> Vec<(usize, String)> {
        let Outline { errors, .. } = outline(text);
        errors.into_iter().map(|it| (it.span.start, it.message)).collect()
    }

    /// The places and messages of rustc 1.95.
    #[test]
    fn only_what_the_compiler_reports() {
        let text = "fn one(x: u32) -> u32 {\n    if x > 1 {\n        return (2);\n    }\n    x\n}\nfn two() {}\n";
        assert_eq!(errors(text), []);
        let of = |from: &str, to: &str| {
            let [(at, message)] = &errors(&text.replacen(from, to, 1))[..] else { panic!("{to}") };
            (*at, message.clone())
        };
        let end = text.trim_end().len();
        assert_eq!(
            of("> 1 {", "> 1 {{"),
            (end + 1, "this file contains an unclosed delimiter: `{` of line 1".to_owned())
        );
        assert_eq!(
            of("> 1 {", "> 1"),
            (text.find("}\nfn").unwrap() - 2, "unexpected closing delimiter: `}`".to_owned())
        );
        assert_eq!(
            of("(2)", "(2"),
            (text.find(";\n").unwrap() + 5, "mismatched closing delimiter: `}` for `(` of line 3".to_owned())
        );
        assert!(of("(2)", "\"2").1.starts_with("Missing trailing"));
        assert_eq!(of("if x", "/* if x").0, text.find("if x").unwrap());
        assert_eq!(errors("fn f() { g([1); h((2]; }").len(), 3, "each is reported");
        assert!(errors("fn f() { let = 1; let }").len() > 1, "these are token trees");
    }
}
