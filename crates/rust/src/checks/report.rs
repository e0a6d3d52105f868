//! Findings as they are reported: a node at the compiler's position, with a code, a message and a symbol.

use ra_ap_hir::InFile;
use ra_ap_ide::FileRange;
use ra_ap_syntax::SyntaxNode;

use super::places;
use crate::ENGINE;
use crate::finding::code::Code;
use crate::finding::{Finding, FoundIn, RawDiagnostic, RuleId, Subject};
use crate::resolve::symbols;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Place, Severity, Span};

pub(crate) fn placed(cx: &Context<'_>, found: RawDiagnostic) -> Option<Finding> {
    let RawDiagnostic { file, range, code, message, rule, subject } = found;
    let place = cx.place(FileRange { file_id: file, range })?;
    Some(Finding { rule, subject, ..error_of(cx, ENGINE, place, code, message) })
}

pub(crate) fn error_of(cx: &Context<'_>, source: &'static str, place: Place, code: Code, message: String) -> Finding {
    let own = cx.files.get(&place.file).zip(cx.file_id(&place.file));
    Finding {
        symbol: own.and_then(|(file, id)| symbols::enclosing_path(cx, file, id, place.start)),
        place,
        severity: Severity::Error,
        code,
        message,
        source,
        rule: RuleId::RustAnalyzer,
        subject: Subject::None,
        crates: own.map(|it| FoundIn::pinned(cx.db, it.1)).unwrap_or_default(),
    }
}

/// An argument that does not meet a bound: its type, and what is asked of it.
pub(crate) struct Unmet {
    pub(crate) ty: String,
    pub(crate) of: String,
    /// It implements the trait with another associated type.
    pub(crate) is_other_type: bool,
}

pub(crate) fn unmet(cx: &Context<'_>, place: Place, Unmet { ty, of, is_other_type }: Unmet) -> Finding {
    let message = format!("the trait bound `{ty}: {of}` is not satisfied");
    let code = if is_other_type { Code::E0271 } else { Code::E0277 };
    error(cx, place, code, message).about(Subject::of_bound(ty, of))
}

pub(crate) fn error(cx: &Context<'_>, place: Place, code: Code, message: String) -> Finding {
    error_of(cx, "semdex", place, code, message)
}

pub(crate) fn raw_diagnostic(cx: &Context<'_>, node: &SyntaxNode, code: Code, message: String) -> RawDiagnostic {
    RawDiagnostic::new(reported_range(cx, node), code, message)
}

/// Where the compiler reports a node that may be in an expansion.
pub(crate) fn reported_range(cx: &Context<'_>, node: &SyntaxNode) -> FileRange {
    places::reported_at(cx, InFile::new(cx.sema.hir_file_for(node), node.text_range()))
}

/// Adds an error at a node.
pub(super) type Add<'a> = dyn FnMut(&SyntaxNode, Code, &str) + 'a;

/// The syntax errors of a file as it is, also those that it has in the edition of its crate alone.
pub(crate) fn syntax_errors_of(cx: &Context<'_>, file: &File) -> Vec<Finding> {
    let found: Vec<Finding> = syntax_errors(file).collect();
    let editioned = cx.file_id(&file.path).and_then(|it| cx.sema.attach_first_edition_opt(it));
    let Some(errors) = editioned.filter(|_| found.is_empty()).and_then(|it| it.parse_errors(cx.db)) else {
        return found;
    };
    errors.iter().map(|it| syntax_error(file, span(it.range()), &it.to_string())).collect()
}

/// The syntax errors of a text, in the edition in which it has the fewest.
pub(crate) fn syntax_errors(file: &File) -> impl Iterator<Item = Finding> + '_ {
    file.outline().errors.iter().map(|it| syntax_error(file, it.span, &it.message))
}

fn syntax_error(file: &File, at: Span, message: &str) -> Finding {
    Finding {
        place: file.lines().place(&file.path, at),
        severity: Severity::Error,
        code: Code::Syntax,
        message: message.to_owned(),
        source: ENGINE,
        symbol: None,
        rule: RuleId::Syntax,
        subject: Subject::None,
        crates: FoundIn::default(),
    }
}
