//! Calls of a function that takes another number of arguments than before. Where nothing else of it changes, each call
//! is wrong and nothing else in the body around it is: what the call gives is what it gave. So the types of these
//! bodies need not be worked out again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, SyntaxKind, SyntaxNode, ast};

use super::EditContext;
use super::affected_set::{AffectedSet, ChangedSymbol, is_outside_body, unit_around};
use super::code::Code;
use super::finding::Finding;
use super::layout::has_plain_attributes;
use super::native::takes;
use super::rules::RuleId;
use crate::lang::rust::ENGINE;
use crate::lang::rust::calls::call_by;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, span};
use crate::model::{ChangeKind, OutlineItem, Span, SymbolKind};

/// How many arguments a function takes besides its receiver.
#[derive(Clone, Copy)]
struct Arity {
    before: usize,
    after: usize,
    has_receiver: bool,
}

/// A call that gives the wrong number of arguments now.
#[derive(Debug)]
pub(super) struct Miscall {
    file: Arc<str>,
    /// What is called, in the text before.
    at: Span,
    expected: usize,
    found: usize,
}

/// Such calls by the bodies that they stand in.
pub(super) type Miscalls = BTreeMap<(Arc<str>, usize), Vec<Miscall>>;

impl<'db> Context<'db> {
    /// The bodies around all that names what changes: into `units`, but for those of which it is known what comes of it.
    pub(super) fn bodies_around(
        &self,
        causes: &[ChangedSymbol<'_>],
        scene: &EditContext,
        units: &mut BTreeSet<(Arc<str>, usize)>,
    ) -> Miscalls {
        let mut miscalls = Miscalls::new();
        for cause in causes {
            let arity = arity_of(cause, scene);
            for it in &cause.occurrences {
                let Some(anchor) = self.anchor_of(it) else { continue };
                // Who has errors already may have others for them.
                let has_errors = || self.index.errors(it.id).is_some_and(|known| known.bodies.contains_key(&anchor.1));
                match arity.and_then(|arity| self.miscall(it, arity)).filter(|_| !has_errors()) {
                    Some(call) => miscalls.entry(anchor).or_default().push(call),
                    None => drop(units.insert(anchor)),
                }
            }
        }
        miscalls
    }

    fn miscall(&self, place: &Occurrence, arity: Arity) -> Option<Miscall> {
        let owner = *place.file.outline().enclosing(place.at.start).last()?;
        if !is_function(owner) || is_outside_body(owner, place) {
            return None;
        }
        let name = ast::NameRef::cast(self.token(place.id, place.at.start)?.parent()?)?;
        let (callee, arguments) = call_by(&name)?;
        let is_method = ast::NameRef::can_cast(callee.kind());
        let receivers = usize::from(arity.has_receiver && !is_method);
        let found = arguments.args().count();
        let file = place.file.path.clone();
        let is_whole = found == arity.before + receivers && self.is_compiled(place, name.syntax());
        is_whole.then(|| Miscall { file, at: span(callee.text_range()), expected: arity.after + receivers, found })
    }

    /// What `cfg` switches off is named all the same.
    fn is_compiled(&self, place: &Occurrence, name: &SyntaxNode) -> bool {
        let Some(unit) = unit_around(&place.file, place.at.start) else { return false };
        let within = |it: &SyntaxNode| unit.body.is_some_and(|body| body.encloses(span(it.text_range())));
        let mut attributes =
            name.ancestors().take_while(within).flat_map(|it| it.children()).filter_map(ast::Attr::cast);
        !attributes.any(|it| it.syntax().text().to_string().contains("cfg"))
            && self.definition_at(place.id, unit.name_span.start).is_some()
    }

    /// In the state after.
    pub(super) fn miscalled(&self, reach: &AffectedSet<'_>, scene: &EditContext) -> Vec<Finding> {
        let tell = |call: &Miscall| {
            let file = self.files.get(&call.file)?;
            let start = scene.moved(&call.file, call.at.start)?;
            let place = file.lines().place(&call.file, Span::new(start, start + (call.at.end - call.at.start)));
            let error = self.error_of(ENGINE, place, Code::E0061, takes(call.expected, call.found));
            Some(Finding { rule: RuleId::Arity, ..error })
        };
        reach.miscalls.values().flatten().filter_map(tell).collect()
    }
}

fn is_function(item: &OutlineItem) -> bool {
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method)
}

/// Of a function of which the number of parameters alone is another. What implements a trait's is called as the trait
/// says.
fn arity_of(cause: &ChangedSymbol<'_>, scene: &EditContext) -> Option<Arity> {
    let (index, delta) = cause.delta.as_ref().filter(|it| cause.is_itself && it.1.kind == ChangeKind::Signature)?;
    let (before, after) = delta.before.zip(delta.after)?;
    if !is_function(before) || before.container.last().is_some_and(|it| it.contains(" as ")) {
        return None;
    }
    let old = Head::of(before, &scene.olds[*index].text)?;
    let new = Head::of(after, &scene.news[*index].text)?;
    let is_same = old.rest == new.rest && old.parameters != new.parameters;
    is_same.then_some(Arity { before: old.parameters, after: new.parameters, has_receiver: old.has_receiver })
}

struct Head {
    parameters: usize,
    has_receiver: bool,
    /// All but the parameters.
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
        // Which of them there are is another question, and of some functions there is no end.
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
