//! Futures that have to be `Send`, and hold a value that is not while they wait: in a file, and before and after a
//! change. What an `async fn` holds is seen where its future is sent, which may be behind several functions that wait
//! for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ra_ap_hir::{Adjust, DefWithBody, Function, Impl, PointerCast, Trait, Type};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{HasArgList as _, HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::AffectedSet;
use super::edit_context::{EditContext, Side};
use crate::checks::auto_traits::AutoTraits;
use crate::checks::held_values::{Futures, Held, Known, Unsent, called_function, declared_for};
use crate::checks::{anchors, bounds, expansions, native, report};
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId, merge_equal};
use crate::resolve::at;
use crate::usages;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Missing, MissingCode, Role};
use semdex_text::words::words;

/// The time limit for the bodies before a change, and again after it.
const MOST_TIME: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct SentFutures {
    pub(crate) found: Vec<Finding>,
    /// Whether there was no time for all.
    is_cut: bool,
}

impl SentFutures {
    pub(crate) fn missing(&self) -> Option<Missing> {
        let detail = "there was no time to check all futures that may be affected for `Send`: `cargo check` does";
        self.is_cut.then(|| Missing::new(MissingCode::TooMany, "rust", detail))
    }
}

/// The bodies that a change affects, and the users of the futures that they return.
pub(crate) fn sent_futures(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    edit: &EditContext,
    side: Side,
) -> SentFutures {
    let mut out = SentFutures::default();
    let with_types = affected.retyped && changes_unsendable_type(cx, affected, edit, side);
    let starts = affected.bodies_by_ref.iter().filter(|it| it.edited || with_types);
    let mut queue: VecDeque<(Arc<str>, usize)> =
        starts.filter_map(|it| Some((it.file.clone(), it.at(side)?))).filter(|it| may_wait(cx, &it.0)).collect();
    let mut known = Known::default();
    if side == Side::After && !queue.is_empty() {
        known.written = edit.written_words();
    }
    let latest = Instant::now() + MOST_TIME;
    while let Some((file, at)) = queue.pop_front() {
        let Some(id) = cx.file_id(&file) else { continue };
        if Instant::now() > latest {
            out.is_cut = true;
            break;
        }
        let mut users: Vec<(Arc<str>, usize)> = Vec::new();
        let mut of_crate = |cx: &Context<'_>| {
            for body in anchors::bodies_at(cx, &file, at) {
                let of_body = || Body::check(cx, body, &mut known, &mut out);
                for function in cx.unless_at_fault(|| native::described(cx, body), of_body).into_iter().flatten() {
                    let uses = usages::find(cx, &[Definition::Function(function)]).into_iter().flat_map(|it| it.items);
                    let uses = uses.filter(|it| !matches!(it.role, Role::Import | Role::Doc));
                    users.extend(uses.filter_map(|it| anchors::anchor_of(&cx.sema, &it)));
                }
            }
        };
        cx.for_each_instance(id, &mut of_crate);
        queue.extend(users);
    }
    merge_equal(&mut out.found);
    out
}

/// The futures that a file sends, with what its calls hold.
pub(crate) fn sent_in(cx: &Context<'_>, file: &File) -> Vec<Finding> {
    if !may_wait(cx, &file.path) {
        return Vec::new();
    }
    let (mut known, mut out) = (Known::default(), SentFutures::default());
    known.written.extend(words(&file.text).map(|it| it.1.to_owned()));
    for at in anchors::bodies_of_file(file) {
        for body in anchors::bodies_at(cx, &file.path, at) {
            let of_body = || Body::check(cx, body, &mut known, &mut out);
            cx.unless_at_fault(|| native::described(cx, body), of_body);
        }
    }
    merge_equal(&mut out.found);
    out.found
}

/// Whether a changed type, or the type of a changed function or value, is not `Send`: what holds it may be anywhere.
fn changes_unsendable_type(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext, side: Side) -> bool {
    affected.changed_symbols.iter().filter_map(|it| it.delta.as_ref()).any(|(index, delta)| {
        let (file, item) = match side {
            Side::Before => (&edit.olds[*index], delta.before),
            Side::After => (&edit.news[*index], delta.after),
        };
        let id = cx.file_id(&file.path);
        let definition = id.zip(item).and_then(|(id, item)| at::definition_at(&cx.sema, id, item.name_span.start));
        let ty = match definition {
            Some(Definition::Adt(it)) => it.ty(cx.db),
            Some(Definition::EnumVariant(it)) => it.parent_enum(cx.db).ty(cx.db),
            Some(Definition::Field(it)) => it.ty(cx.db),
            Some(Definition::Function(it)) => it.async_ret_type(cx.db).unwrap_or_else(|| it.ret_type(cx.db)),
            Some(Definition::TypeAlias(it)) => it.ty(cx.db),
            Some(Definition::Const(it)) => it.ty(cx.db),
            Some(Definition::Static(it)) => it.ty(cx.db),
            _ => return false,
        };
        let tree = id.map(|it| cx.sema.parse_guess_edition(it));
        tree.and_then(|it| AutoTraits::new(cx, it.syntax())).is_some_and(|it| it.never_sends(cx, &ty))
    })
}

/// Whether a file has futures.
fn may_wait(cx: &Context<'_>, file: &str) -> bool {
    cx.files.get(file).is_some_and(|it| it.text.contains("async") || it.text.contains("Future"))
}

/// A body in which futures may be sent.
struct Body<'b, 'c, 'db> {
    cx: &'c Context<'db>,
    send: Trait,
    unsent: Unsent<'db>,
    out: &'b mut SentFutures,
}

impl Body<'_, '_, '_> {
    /// Returns the functions whose users see what the body's own future holds, once.
    fn check(cx: &Context<'_>, body: DefWithBody, known: &mut Known, out: &mut SentFutures) -> Vec<Function> {
        let Some(source) = native::body_syntax(&cx.sema, body) else { return Vec::new() };
        let Some(mut futures) = Futures::new(cx, &source, known) else { return Vec::new() };
        let unsent = futures.unsent_in(&source);
        let mut of_body = Body { cx, send: futures.send(), unsent, out };
        if !of_body.unsent.is_empty() {
            expansions::in_expansions(&cx.sema, &source, &mut |node| of_body.node(node));
        }
        let DefWithBody::Function(function) = body else { return Vec::new() };
        let Some(held) = futures.held_by(function) else { return Vec::new() };
        let declared = declared_for(cx, function);
        of_body.result(function, declared, &held);
        match known.add(function, held) {
            true => declared.into_iter().chain([function]).collect(),
            false => Vec::new(),
        }
    }

    /// The result of a function that it, or its trait, declares as `Send`.
    fn result(&mut self, function: Function, declared: Option<Function>, held: &Held) {
        let heads = [Some(function), declared].into_iter().flatten();
        let results = heads.filter_map(|it| self.cx.sema.source(it)?.value.ret_type());
        let opaque =
            results.flat_map(|it| it.syntax().descendants().filter_map(ast::ImplTraitType::cast).collect::<Vec<_>>());
        let asks = opaque.into_iter().any(|it| asks_for(it.type_bound_list(), &["Send"]));
        let own = self.cx.sema.source(function).filter(|_| asks).map(|it| it.value);
        let at = own.and_then(|it| match it.ret_type() {
            Some(it) => Some(it.syntax().clone()),
            None => Some(it.param_list()?.syntax().clone()),
        });
        at.iter().for_each(|it| self.report(it, held));
    }

    fn node(&mut self, node: &SyntaxNode) {
        let Some(expression) = ast::Expr::cast(node.clone()) else { return };
        let (cx, send) = (self.cx, self.send);
        let coerced = cx.sema.expr_adjustments(&expression).into_iter().flatten().find(|it| {
            matches!(it.kind, Adjust::Pointer(PointerCast::Unsize)) && bounds::implements(cx.db, &it.target, send, &[])
        });
        if let Some(held) = coerced.and_then(|it| self.unsent.of(cx, &it.source)) {
            return self.report(node, &held);
        }
        let (function, arguments, receiver) = match &expression {
            ast::Expr::CallExpr(it) => (called_function(cx, it), it.arg_list(), None),
            ast::Expr::MethodCallExpr(it) => (cx.sema.resolve_method_call(it), it.arg_list(), it.receiver()),
            _ => return,
        };
        let Some(function) = function else { return };
        if let Some(held) = receiver.and_then(|it| self.held_by(&it)).filter(|_| asks_of_receiver(cx, function)) {
            self.report(node, &held);
        }
        let params = match expression {
            ast::Expr::CallExpr(_) => function.assoc_fn_params(cx.db),
            _ => function.params_without_self(cx.db),
        };
        let arguments = arguments.into_iter().flat_map(|it| it.args());
        for (argument, param) in arguments.zip(params) {
            let Some(param) = param.ty().as_type_param(cx.db) else { continue };
            let wanted = param.trait_bounds(cx.db);
            let asks_send = wanted.iter().any(|it| it.all_supertraits(cx.db).contains(&send));
            if asks_send && let Some(held) = self.held_by(&argument) {
                self.report(argument.syntax(), &held);
            } else if let Some(held) = self.held_by_result(&argument)
                && let Some(of) = wanted.into_iter().find(|it| asks_of_functions(cx, *it))
            {
                let what = argument.syntax().text();
                let of = of.name(cx.db);
                let message = format!(
                    "the trait bound `{what}: {}` is not satisfied: its future is not `Send`, {}",
                    of.as_str(),
                    described(&held)
                );
                self.add(argument.syntax(), Code::E0277, message);
            }
        }
    }

    fn held_by(&self, value: &ast::Expr) -> Option<Held> {
        let ty: Type<'_> = self.cx.sema.type_of_expr(value)?.original;
        self.unsent.of(self.cx, &ty)
    }

    /// Of the future that a function returns which is given as a value.
    fn held_by_result(&self, value: &ast::Expr) -> Option<Held> {
        let callable = self.cx.sema.type_of_expr(value)?.original.as_callable(self.cx.db)?;
        self.unsent.of(self.cx, &callable.return_type())
    }

    fn report(&mut self, node: &SyntaxNode, held: &Held) {
        let message = format!("future cannot be sent between threads safely: {}", described(held));
        self.add(node, Code::Uncoded, message);
    }

    fn add(&mut self, node: &SyntaxNode, code: Code, message: String) {
        if let Some(place) = self.cx.place(report::reported_range(self.cx, node)) {
            let found = report::error(self.cx, place, code, message);
            self.out.found.push(Finding { rule: RuleId::Futures, ..found });
        }
    }
}

fn described(held: &Held) -> String {
    let holder = held.within.as_ref().map_or_else(|| "it".to_owned(), |it| format!("`{it}`"));
    format!("{holder} holds `{}` while it waits", held.ty)
}

/// Whether all these traits are in a list of bounds.
fn asks_for(bounds: Option<ast::TypeBoundList>, traits: &[&str]) -> bool {
    let paths = bounds.into_iter().flat_map(|it| it.bounds()).filter_map(bounds::bound_path);
    let names: Vec<String> = paths.filter_map(|it| Some(it.segment()?.name_ref()?.text().to_string())).collect();
    traits.iter().all(|it| names.iter().any(|name| name == it))
}

/// Whether a method asks its receiver to be `Send`, as `FutureExt::boxed` does.
fn asks_of_receiver(cx: &Context<'_>, method: Function) -> bool {
    let clauses = cx.sema.source(method).and_then(|it| it.value.where_clause());
    let mut clauses = clauses.into_iter().flat_map(|it| it.predicates());
    clauses
        .any(|it| it.ty().is_some_and(|it| it.syntax().text() == "Self") && asks_for(it.type_bound_list(), &["Send"]))
}

/// Whether a trait is implemented for functions whose futures are `Send`, as a web framework does for its handlers.
fn asks_of_functions(cx: &Context<'_>, of: Trait) -> bool {
    let asks = |block: Impl| {
        block.self_ty(cx.db).as_type_param(cx.db).is_some()
            && cx.sema.source(block).is_some_and(|it| {
                let mut lists = it.value.syntax().descendants().filter_map(ast::TypeBoundList::cast);
                lists.any(|it| asks_for(Some(it), &["Future", "Send"]))
            })
    };
    !of.module(cx.db).krate(cx.db).is_builtin(cx.db) && Impl::all_for_trait(cx.db, of).into_iter().any(asks)
}
