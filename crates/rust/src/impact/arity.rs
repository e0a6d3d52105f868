//! Calls of a function whose number of parameters changes. If nothing else of the function changes, each call is wrong,
//! but its result has the same type as before. The bodies around the calls need not be inferred again.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, SyntaxKind, SyntaxNode, ast};

use super::affected::{AffectedSet, ChangedSymbol, Miscall, Miscalls, is_outside_body};
use super::edit_context::EditContext;
use super::layout::has_plain_attributes;
use crate::ENGINE;
use crate::checks::anchors::body_item_around;
use crate::checks::native::takes;
use crate::checks::{anchors, report};
use crate::file_interface::arguments::call_by;
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId};
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::attributes::attributes_of;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_model::{ChangeKind, OutlineItem, Span, SymbolKind};

/// The number of parameters besides the receiver.
#[derive(Clone, Copy)]
struct Arity {
    before: usize,
    after: usize,
    has_receiver: bool,
}

/// Adds the bodies around all places that name a changed symbol to `bodies_by_ref`, except those whose result is known.
pub(crate) fn bodies_around(
    cx: &Context<'_>,
    changed_symbols: &[ChangedSymbol<'_>],
    edit: &EditContext,
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) -> Miscalls {
    let mut miscalls = Miscalls::new();
    for changed_symbol in changed_symbols.iter().filter(|it| !it.is_provided) {
        let arity = arity_of(changed_symbol, edit);
        for it in &changed_symbol.occurrences {
            let Some(anchor) = anchors::anchor_of(&cx.sema, it) else { continue };
            // A body that already has errors may have different ones.
            let has_errors = || cx.index.errors(it.id).is_some_and(|known| known.bodies.contains_key(&anchor.1));
            match arity.and_then(|arity| miscall(&cx.sema, it, arity)).filter(|_| !has_errors()) {
                Some(call) => miscalls.entry(anchor).or_default().push(call),
                None => drop(bodies_by_ref.insert(anchor)),
            }
        }
    }
    miscalls
}

fn miscall(sema: &Semantics<'_, RootDatabase>, place: &Occurrence, arity: Arity) -> Option<Miscall> {
    let owner = *place.file.outline().enclosing(place.at.start).last()?;
    if !is_function(owner) || is_outside_body(owner, place) {
        return None;
    }
    let name = ast::NameRef::cast(positions::token(sema, place.id, place.at.start)?.parent()?)?;
    let (callee, arguments) = call_by(&name)?;
    let is_method = ast::NameRef::can_cast(callee.kind());
    let receivers = usize::from(arity.has_receiver && !is_method);
    let found = arguments.args().count();
    let file = place.file.path.clone();
    let is_whole = found == arity.before + receivers && is_compiled(sema, place, name.syntax());
    is_whole.then(|| Miscall { file, at: span(callee.text_range()), expected: arity.after + receivers, found })
}

/// Code that `cfg` switches off contains names too.
fn is_compiled(sema: &Semantics<'_, RootDatabase>, place: &Occurrence, name: &SyntaxNode) -> bool {
    let Some(body_ref) = body_item_around(&place.file, place.at.start) else { return false };
    let within = |it: &SyntaxNode| body_ref.body.is_some_and(|body| body.encloses(span(it.text_range())));
    let mut attributes = name.ancestors().take_while(within).flat_map(|it| attributes_of(&it));
    !attributes.any(|it| it.syntax().text().to_string().contains("cfg"))
        && at::definition_at(sema, place.id, body_ref.name_span.start).is_some()
}

/// In the state after.
pub(crate) fn miscalled(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext) -> Vec<Finding> {
    let finding_of = |call: &Miscall| {
        let file = cx.files.get(&call.file)?;
        let start = edit.moved(&call.file, call.at.start)?;
        let place = file.lines().place(&call.file, Span::new(start, start + (call.at.end - call.at.start)));
        let error = report::error_of(cx, ENGINE, place, Code::E0061, takes(call.expected, call.found));
        Some(Finding { rule: RuleId::Arity, ..error })
    };
    affected.miscalls.values().flatten().filter_map(finding_of).collect()
}

fn is_function(item: &OutlineItem) -> bool {
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method)
}

/// The arity of a function of which only the number of parameters changes. An implementation of a trait's function is
/// called as the trait declares it.
fn arity_of(changed_symbol: &ChangedSymbol<'_>, edit: &EditContext) -> Option<Arity> {
    let (index, delta) =
        changed_symbol.delta.as_ref().filter(|it| changed_symbol.is_itself && it.1.kind == ChangeKind::Signature)?;
    let (before, after) = delta.before.zip(delta.after)?;
    if !is_function(before) || before.container.last().is_some_and(|it| it.contains(" as ")) {
        return None;
    }
    let old = Head::of(before, &edit.olds[*index].text)?;
    let new = Head::of(after, &edit.news[*index].text)?;
    let is_same = old.rest == new.rest && old.parameters != new.parameters;
    is_same.then_some(Arity { before: old.parameters, after: new.parameters, has_receiver: old.has_receiver })
}

struct Head {
    parameters: usize,
    has_receiver: bool,
    /// Everything except the parameters.
    rest: String,
}

impl Head {
    fn of(item: &OutlineItem, text: &str) -> Option<Head> {
        let end = item.body.map_or(item.span.end, |body| body.start);
        let head = format!("{}{}", text.get(item.span.start..end)?, if item.body.is_some() { "}" } else { "" });
        if !has_plain_attributes(text.get(item.span.start..item.name_span.start)?) {
            return None;
        }
        let tree = SourceFile::parse(&head, Edition::CURRENT).tree();
        let function = tree.syntax().descendants().find_map(ast::Fn::cast).filter(|it| it.name().is_some())?;
        let list = function.param_list()?;
        // Variadic parameters, and parameters with attributes, which may be switched off.
        let is_odd = |it: ast::Param| it.dotdotdot_token().is_some() || ast::HasAttrs::attrs(&it).next().is_some();
        if list.params().any(is_odd) {
            return None;
        }
        let tokens = function.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token);
        let counts = |it: &ra_ap_syntax::SyntaxToken| {
            let is_between = it.kind() == SyntaxKind::COMMA && it.parent().as_ref() == Some(list.syntax());
            !it.kind().is_trivia() && !is_between && !it.parent_ancestors().any(|it| ast::Param::can_cast(it.kind()))
        };
        let rest: Vec<String> = tokens.filter(counts).map(|it| it.text().to_owned()).collect();
        Some(Head {
            parameters: list.params().count(),
            has_receiver: list.self_param().is_some(),
            rest: rest.join(" "),
        })
    }
}
