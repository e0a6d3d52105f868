//! Files that an edit includes as data, by `include_str!` or `include_bytes!`, and that are not there. The disk is asked
//! when the change is judged, so that no answer outlives such a file.

use std::path::Path;

use ra_ap_ide::FileId;
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxToken, ast};

use super::findings::Findings;
use super::rule_input::Change;
use crate::checks::excluded::Excluded;
use crate::checks::report;
use crate::finding::code::Code;
use crate::syntax::positions::span;
use crate::syntax::referenced_files::data_candidates;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::Span;

/// The calls that the edit writes.
pub(crate) fn missing_data(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    let edit = change.edit;
    for (_, file) in edit.news.iter().enumerate().filter(|it| !edit.deleted.contains(&it.0)) {
        let (Some(id), Some(map)) = (cx.file_id(&file.path), edit.backs.get(&*file.path)) else { continue };
        missing_in(cx, id, file, &|at| !map.is_untouched(at), out);
    }
}

/// The calls in a file at places that are concerned.
pub(crate) fn missing_in(
    cx: &Context<'_>,
    id: FileId,
    file: &File,
    is_concerned: &dyn Fn(Span) -> bool,
    out: &mut Findings<'_>,
) {
    if !file.text.contains("include_str") && !file.text.contains("include_bytes") {
        return;
    }
    let excluded = Excluded::of(cx, id);
    let tree = cx.sema.parse_guess_edition(id);
    for call in tree.syntax().descendants().filter_map(ast::MacroCall::cast) {
        let at = span(call.syntax().text_range());
        if !is_of_data(&call) || !is_concerned(at) || excluded.has(at.start) {
            continue;
        }
        let input: Vec<SyntaxToken> = call.token_tree().into_iter().flat_map(|it| tokens_of(&it)).collect();
        let candidates = data_candidates(&file.path, &input.iter().map(SyntaxToken::text).collect::<Vec<_>>());
        let is_there = |it: &String| AsRef::<Path>::as_ref(&cx.root.join(it)).exists();
        let Some(first) = candidates.first().filter(|_| !candidates.iter().any(is_there)) else { continue };
        let place = file.lines().place(&file.path, at);
        out.add(report::error(cx, place, Code::Uncoded, format!("couldn't read `{first}`: no such file")));
    }
}

fn is_of_data(call: &ast::MacroCall) -> bool {
    let name = call.path().and_then(|it| it.segment()).and_then(|it| it.name_ref());
    name.is_some_and(|it| matches!(it.text(), "include_str" | "include_bytes"))
}

/// The tokens within the delimiters of a call, without white space and comments.
fn tokens_of(tree: &ast::TokenTree) -> Vec<SyntaxToken> {
    let tokens = tree.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token);
    let mut tokens: Vec<SyntaxToken> = tokens.filter(|it| !it.kind().is_trivia()).skip(1).collect();
    tokens.pop();
    tokens
}
