//! Where the compiler reports an error: at the significant token of a long expression; for an expansion, where its
//! token is written.

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::{InFile, MacroKind};
use ra_ap_hir_expand::{MacroCallId, MacroDefKind};
use ra_ap_ide::{FileRange, RootDatabase, TextRange};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken, ast};

use crate::view::Context;

/// Where the compiler reports an error in a possible expansion: where the code is written, or at the innermost call
/// that is written.
pub(crate) fn reported_at(cx: &Context<'_>, at: InFile<TextRange>) -> FileRange {
    let mut inner = at;
    loop {
        if let Some(written) = where_written(cx, inner) {
            return written;
        }
        let Some(made) = inner.file_id.macro_file() else { break };
        let call = Some(made.call_node(cx.db)).filter(|_| inner.original_node_file_range_rooted_opt(cx.db).is_none());
        let Some(call) = call.filter(|it| ast::MacroCall::can_cast(it.value.kind())) else { break };
        inner = call.map(|it| it.text_range());
    }
    let in_calls = inner.file_id.macro_file().is_some();
    cx.sema.diagnostics_display_range_for_range(if in_calls { inner } else { at })
}

/// For code that a macro of the workspace generates from its own definition, the place in the definition, as in the
/// compiler's messages. One end in the definition is enough, if the opposite end is direct input of the macro. `None`
/// if the definition is in another crate than the compiled one, or defines a procedural macro: there the
/// compiler names the call.
pub(crate) fn where_written(cx: &Context<'_>, at: InFile<TextRange>) -> Option<FileRange> {
    let expanded_by = at.file_id.macro_file()?;
    let made = cx.sema.parse_or_expand(at.file_id);
    let mut from = made.token_at_offset(at.value.start()).right_biased()?;
    let mut to = made.token_at_offset(at.value.end()).left_biased()?;
    // An expression in the input of a macro is expanded with parentheses that are not in the text.
    let is_expanded = |it: &SyntaxToken| {
        let stands = at.with_value(it.text_range()).original_node_file_range_opt(cx.db);
        stands.is_some_and(|(stands, _)| stands.range.len() != it.text_range().len())
    };
    while from.kind() == SyntaxKind::L_PAREN && to.kind() == SyntaxKind::R_PAREN && is_expanded(&from) {
        (from, to) = (from.next_token()?, to.prev_token()?);
    }
    let written = |it: SyntaxToken| at.with_value(it.text_range()).original_node_file_range_opt(cx.db);
    let ((first, context), (last, last_context)) = (written(from)?, written(to)?);
    let is_by_example = matches!(expanded_by.kind(cx.db), MacroKind::Declarative);
    let is_first_hand = || is_by_example && expanded_by.call_node(cx.db).file_id.macro_file().is_none();
    if [context, last_context].iter().any(|it| is_from_elsewhere(cx.db, it.outer_expn(cx.db).map(MacroCallId::from))) {
        return None;
    }
    let range = match (context.is_root(), last_context.is_root()) {
        (false, false) if context == last_context && first.file_id == last.file_id => first.range.cover(last.range),
        (false, true) if is_first_hand() => first.range,
        (true, false) if is_first_hand() => last.range,
        _ => return None,
    };
    let file = if context.is_root() { last.file_id } else { first.file_id }.file_id(cx.db);
    let is_own = cx.name_of(file).is_some_and(|name| cx.files.get(&name).is_some());
    is_own.then_some(FileRange { file_id: file, range })
}

/// Whether the compiler names the call for a name in an expansion.
pub(crate) fn is_reported_at_call(cx: &Context<'_>, at: InFile<TextRange>) -> bool {
    let written = at.original_node_file_range_opt(cx.db);
    written.is_some_and(|(_, context)| is_from_elsewhere(cx.db, context.outer_expn(cx.db).map(MacroCallId::from)))
}

/// Whether the compiler names the call for what a macro wrote.
fn is_from_elsewhere(db: &RootDatabase, writer: Option<MacroCallId>) -> bool {
    writer.is_some_and(|it| {
        let loc = it.loc(db);
        let root_of = |it: CrateId| it.data(db).root_file_id;
        matches!(loc.def.kind, MacroDefKind::ProcMacro(..)) || root_of(loc.def.krate) != root_of(loc.krate)
    })
}

pub(crate) fn salient(expression: &ast::Expr) -> Option<TextRange> {
    use ast::HasArgList as _;
    Some(match expression {
        ast::Expr::IfExpr(it) => it.if_token()?.text_range(),
        ast::Expr::LoopExpr(it) => it.loop_token()?.text_range(),
        ast::Expr::ForExpr(it) => it.for_token()?.text_range(),
        ast::Expr::WhileExpr(it) => it.while_token()?.text_range(),
        ast::Expr::BlockExpr(it) => match it.tail_expr() {
            Some(value) => salient(&value).unwrap_or_else(|| value.syntax().text_range()),
            None => it.stmt_list()?.r_curly_token()?.text_range(),
        },
        ast::Expr::MatchExpr(it) => it.match_token()?.text_range(),
        ast::Expr::MethodCallExpr(it) => it.name_ref()?.syntax().text_range(),
        ast::Expr::FieldExpr(it) => it.name_ref()?.syntax().text_range(),
        ast::Expr::AwaitExpr(it) => it.await_token()?.text_range(),
        ast::Expr::CallExpr(it) => {
            it.arg_list()?;
            it.expr()?.syntax().text_range()
        }
        _ => return None,
    })
}
