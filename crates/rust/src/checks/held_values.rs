//! What a future holds while it waits. The compiler derives from the body of an `async fn` or block whether its future
//! is `Send`: each value that lives across an `.await` has to be. rust-analyzer looks only at what the future captures.
//!
//! The body is walked once, in the order of its evaluation. As in the compiler (`rustc_mir_transform::coroutine`), a
//! variable is held to the end of its scope once a reference to it was taken, even if it is moved; else, if it has to
//! be dropped, until it is moved; else to its last use. A temporary that is borrowed is held to the end of its statement
//! (Rust Reference, "Destructors").

use std::collections::{HashMap, HashSet};

use ra_ap_hir::{
    Adjust, AsAssocItem as _, DropGlue, Function, HirDisplay as _, Local, ModuleDef, PathResolution, Trait, Type,
};
use ra_ap_syntax::ast::HasLoopBody as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::auto_traits::AutoTraits;
use crate::view::Context;

/// The most levels of macros in macros that are followed: `select!` takes its branches one by one.
const MAX_MACROS: usize = 48;

/// The most levels of code within code that are walked.
const MAX_DEPTH: usize = 600;

/// A value that cannot be sent to another thread, and lives while a future waits.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// Its type.
    pub(crate) ty: String,
    /// The function that holds it, if it is not the one that is asked for.
    pub(crate) within: Option<String>,
}

/// The most functions that are followed to see what the calls hold that are followed.
const MAX_FUNCTIONS: usize = 64;

/// What the futures of functions hold, as far as it was asked.
#[derive(Default)]
pub(crate) struct Known {
    of: HashMap<Function, Option<Held>>,
    /// Calls of these are followed: the edit writes them, or the file that is asked about.
    pub(crate) written: HashSet<String>,
}

impl Known {
    /// Adds a function whose future holds something. Returns false if it is known.
    pub(crate) fn add(&mut self, function: Function, held: Held) -> bool {
        !matches!(self.of.insert(function, Some(held)), Some(Some(_)))
    }
}

/// What futures hold, in code of one crate.
pub(crate) struct Futures<'c, 'db> {
    cx: &'c Context<'db>,
    auto_traits: AutoTraits,
    known: &'c mut Known,
    /// The functions that are being followed.
    following: usize,
}

impl<'c, 'db> Futures<'c, 'db> {
    /// For code of the crate of a node.
    pub(crate) fn new(cx: &'c Context<'db>, node: &SyntaxNode, known: &'c mut Known) -> Option<Futures<'c, 'db>> {
        Some(Futures { cx, auto_traits: AutoTraits::new(cx, node)?, known, following: 0 })
    }

    pub(crate) fn send(&self) -> Trait {
        self.auto_traits.send
    }

    /// What the future of a called function holds: what is known, or what its body shows if its calls are followed.
    fn of_callee(&mut self, function: Function) -> Option<Held> {
        let name = function.name(self.cx.db);
        let held = match self.known.of.get(&function) {
            Some(known) => known.clone(),
            None if self.following > 0 || self.known.written.contains(name.as_str()) => self.follow(function),
            None => None,
        }?;
        Some(Held { within: held.within.or_else(|| Some(name.as_str().to_owned())), ..held })
    }

    fn follow(&mut self, function: Function) -> Option<Held> {
        if self.following >= MAX_FUNCTIONS {
            return None;
        }
        // One that waits for itself holds no more by that.
        self.known.of.insert(function, None);
        self.following += 1;
        let held = self.held_by(function);
        self.known.of.insert(function, held.clone());
        held
    }

    /// What the future that a function of the workspace returns holds: of an `async fn`, or of one that returns `impl
    /// Trait`.
    pub(crate) fn held_by(&mut self, function: Function) -> Option<Held> {
        let file = function.module(self.cx.db).definition_source_file_id(self.cx.db);
        let file = file.original_file(self.cx.db).file_id(self.cx.db);
        self.cx.name_of(file).and_then(|it| self.cx.files.get(&it))?;
        let source = self.cx.sema.source(function)?.value;
        let body = source.body()?;
        if source.async_token().is_some() {
            let mut walk = Walk::new(self);
            walk.captured(source.param_list());
            walk.block(&body);
            return walk.held;
        }
        let returns = source.ret_type()?;
        returns.syntax().descendants().find_map(ast::ImplTraitType::cast)?;
        let mut walk = Walk::new(self);
        walk.block(&body);
        let unsent = walk.unsent;
        let tail = body.tail_expr();
        let returned = body.syntax().descendants().filter_map(ast::ReturnExpr::cast).filter_map(|it| it.expr());
        let mut types = returned.chain(tail).filter_map(|it| self.cx.sema.type_of_expr(&it)).map(|it| it.original);
        types.find_map(|it| unsent.of(self.cx, &it))
    }

    /// The futures in a body that hold such a value: what it calls, and its `async` blocks.
    pub(crate) fn unsent_in(&mut self, body: &SyntaxNode) -> Unsent<'db> {
        let mut walk = Walk::new(self);
        walk.node(body);
        walk.unsent
    }
}

/// Types of futures that hold what cannot be sent.
#[derive(Default)]
pub(crate) struct Unsent<'db> {
    types: Vec<(Type<'db>, Held)>,
}

impl<'db> Unsent<'db> {
    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// What a type holds because of such a future in it.
    pub(crate) fn of(&self, cx: &Context<'db>, ty: &Type<'db>) -> Option<Held> {
        if self.types.is_empty() {
            return None;
        }
        let mut found = None;
        ty.walk(cx.db, |part| {
            if let Some((_, held)) = self.types.iter().find(|it| found.is_none() && it.0 == part) {
                found = Some(held.clone());
            }
        });
        found
    }

    fn add(&mut self, ty: Type<'db>, held: Held) {
        if !self.types.iter().any(|it| it.0 == ty) {
            self.types.push((ty, held));
        }
    }
}

/// A variable in scope that cannot be sent.
struct Variable<'db> {
    local: Local<'db>,
    held: Held,
    needs_drop: bool,
    declared: usize,
    used: usize,
    is_borrowed: bool,
    is_moved: bool,
    /// When code waited last while it was in scope.
    waited: Option<usize>,
}

/// What an expression does with a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    Borrows,
    Moves,
}

impl Variable<'_> {
    /// Returns what the future holds if this is a use behind an `.await`.
    fn use_at(&mut self, clock: usize, by: Use) -> Option<Held> {
        let held = (self.waited.is_some() && !self.is_moved).then(|| self.held.clone());
        self.used = clock;
        self.is_borrowed |= by == Use::Borrows;
        self.is_moved |= by == Use::Moves;
        held
    }
}

/// A part of a body that is evaluated instead of others.
struct Branch<'a, W> {
    /// Whether nothing behind it is reached.
    ends: bool,
    walk: &'a mut dyn FnMut(&mut W),
}

/// The state at a point of a body.
struct Walk<'w, 'c, 'db> {
    futures: &'w mut Futures<'c, 'db>,
    variables: Vec<Variable<'db>>,
    /// The borrowed temporaries that live.
    temporaries: Vec<Held>,
    unsent: Unsent<'db>,
    held: Option<Held>,
    /// The number of nodes, and of macros, around.
    depth: usize,
    macros: usize,
    /// The starts of the loops around.
    loops: Vec<usize>,
    clock: usize,
}

impl<'w, 'c, 'db> Walk<'w, 'c, 'db> {
    fn new(futures: &'w mut Futures<'c, 'db>) -> Self {
        Walk {
            futures,
            variables: Vec::new(),
            temporaries: Vec::new(),
            unsent: Unsent::default(),
            held: None,
            depth: 0,
            macros: 0,
            loops: Vec::new(),
            clock: 0,
        }
    }

    fn cx(&self) -> &'c Context<'db> {
        self.futures.cx
    }

    /// The future of an `async fn` holds its arguments from the start.
    fn captured(&mut self, params: Option<ast::ParamList>) {
        let Some(params) = params else { return };
        let own = params.self_param().and_then(|it| self.cx().sema.type_of_self(&it));
        let types: Vec<_> = params.params().filter_map(|it| self.cx().sema.type_of_pat(&it.pat()?)).collect();
        for ty in own.into_iter().chain(types.into_iter().map(|it| it.original)) {
            self.held = self.held.take().or_else(|| self.unsendable(&ty));
        }
    }

    fn block(&mut self, block: &ast::BlockExpr) {
        self.scope(|it| block.syntax().children().for_each(|child| it.node(&child)));
    }

    fn scope(&mut self, part: impl FnOnce(&mut Self)) {
        let outside = self.variables.len();
        part(self);
        self.variables.truncate(outside);
    }

    /// Temporaries of the part end with it.
    fn statement(&mut self, part: impl FnOnce(&mut Self)) {
        let outside = self.temporaries.len();
        part(self);
        self.temporaries.truncate(outside);
    }

    /// One of several parts is evaluated. A variable is moved behind them if each part that gets there has moved it.
    fn branches(&mut self, parts: &mut [Branch<'_, Self>]) {
        let before: Vec<bool> = self.variables.iter().map(|it| it.is_moved).collect();
        let mut is_kept = vec![false; before.len()];
        for part in parts {
            for (variable, was_moved) in self.variables.iter_mut().zip(&before) {
                variable.is_moved = *was_moved;
            }
            (part.walk)(self);
            if !part.ends {
                is_kept.iter_mut().zip(&self.variables).for_each(|(is_kept, it)| *is_kept |= !it.is_moved);
            }
        }
        self.variables.iter_mut().zip(is_kept).for_each(|(it, is_kept)| it.is_moved = !is_kept);
    }

    /// A part that is evaluated or not.
    fn branch(&mut self, node: Option<&SyntaxNode>, mut part: impl FnMut(&mut Self)) {
        let ends = node.is_some_and(|it| self.ends(it));
        self.branches(&mut [Branch { ends, walk: &mut part }, Branch { ends: false, walk: &mut |_| {} }]);
    }

    /// Whether nothing behind an expression is reached.
    fn ends(&self, node: &SyntaxNode) -> bool {
        let ty = ast::Expr::cast(node.clone()).and_then(|it| self.cx().sema.type_of_expr(&it));
        ty.is_some_and(|it| it.original.is_never())
    }

    fn children(&mut self, node: &SyntaxNode) {
        node.children().for_each(|it| self.node(&it));
    }

    fn node(&mut self, node: &SyntaxNode) {
        semdex_steps::count(1);
        self.clock += 1;
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.part(node);
            self.depth -= 1;
        }
    }

    fn part(&mut self, node: &SyntaxNode) {
        if let Some(call) = ast::MacroCall::cast(node.clone()) {
            if self.macros < MAX_MACROS
                && let Some(expansion) = self.cx().sema.expand_macro_call(&call)
            {
                self.macros += 1;
                self.node(&expansion.value);
                self.macros -= 1;
            }
            return;
        }
        if let Some(it) = ast::LetStmt::cast(node.clone()) {
            return self.declaration(&it);
        }
        if ast::Stmt::can_cast(node.kind()) || ast::Item::can_cast(node.kind()) {
            if !ast::Item::can_cast(node.kind()) {
                self.statement(|it| it.children(node));
            }
            return;
        }
        match ast::Expr::cast(node.clone()) {
            Some(it) => self.expression(&it),
            None => self.children(node),
        }
    }

    fn declaration(&mut self, it: &ast::LetStmt) {
        let Some(pattern) = it.pat() else { return };
        let value = it.initializer();
        self.statement(|walk| {
            if let Some(value) = &value {
                walk.expression(value);
            }
            if let Some(otherwise) = it.let_else().and_then(|it| it.block_expr()) {
                walk.branch(Some(otherwise.syntax()), |walk| walk.block(&otherwise));
            }
        });
        // What `_` takes is not kept.
        self.declare(pattern.syntax());
    }

    fn declare(&mut self, pattern: &SyntaxNode) {
        let cx = self.cx();
        for name in pattern.descendants().filter_map(ast::IdentPat::cast) {
            let Some((local, ty)) = cx.sema.to_def(&name).zip(cx.sema.type_of_binding_in_pat(&name)) else { continue };
            let Some(held) = self.unsendable(&ty) else { continue };
            let needs_drop = !matches!(ty.drop_glue(cx.db), DropGlue::None);
            let declared = self.clock;
            self.variables.push(Variable {
                local,
                held,
                needs_drop,
                declared,
                used: declared,
                is_borrowed: false,
                is_moved: false,
                waited: None,
            });
        }
    }

    fn expression(&mut self, expression: &ast::Expr) {
        let node = expression.syntax();
        match expression {
            ast::Expr::BlockExpr(it) if it.async_token().is_some() => {
                let held = self.inner(|walk| walk.block(it));
                self.note_unsent(expression, held);
                self.captures(node, it.move_token().is_some());
            }
            ast::Expr::BlockExpr(it) => self.block(it),
            ast::Expr::ClosureExpr(it) => {
                self.captures(node, it.move_token().is_some());
                self.closure(it);
            }
            ast::Expr::AwaitExpr(it) => {
                self.children(node);
                let waited = it.expr().and_then(|it| self.cx().sema.type_of_expr(&it));
                let held = waited.and_then(|it| self.unsendable(&it.original));
                self.wait(held);
            }
            ast::Expr::MatchExpr(it) => {
                it.expr().into_iter().for_each(|it| self.expression(&it));
                let arms: Vec<ast::MatchArm> = it.match_arm_list().into_iter().flat_map(|it| it.arms()).collect();
                let ends = |arm: &ast::MatchArm| arm.expr().is_some_and(|it| self.ends(it.syntax()));
                let ends: Vec<bool> = arms.iter().map(ends).collect();
                let mut walks: Vec<_> = arms.iter().map(|arm| |walk: &mut Self| walk.arm(arm)).collect();
                let parts = ends.into_iter().zip(&mut walks).map(|(ends, walk)| Branch { ends, walk });
                self.branches(&mut parts.collect::<Vec<_>>());
            }
            ast::Expr::LetExpr(it) => {
                it.expr().into_iter().for_each(|it| self.expression(&it));
                it.pat().into_iter().for_each(|it| self.declare(it.syntax()));
            }
            ast::Expr::IfExpr(it) => self.statement(|walk| walk.choice(it)),
            ast::Expr::WhileExpr(it) => self.repeated(|walk| {
                walk.statement(|walk| {
                    walk.scope(|walk| {
                        it.condition().into_iter().for_each(|it| walk.condition(&it));
                        it.loop_body().into_iter().for_each(|it| walk.block(&it));
                    });
                });
            }),
            ast::Expr::LoopExpr(it) => self.repeated(|walk| it.loop_body().into_iter().for_each(|it| walk.block(&it))),
            ast::Expr::ForExpr(it) => {
                it.iterable().into_iter().for_each(|it| self.expression(&it));
                // The loop has moved it into its own variable.
                let iterated = it.iterable().and_then(|it| self.cx().sema.type_of_expr(&it));
                let held = iterated.and_then(|it| self.unsendable(&it.original));
                self.statement(|walk| {
                    walk.temporaries.extend(held);
                    walk.repeated(|walk| {
                        walk.scope(|walk| {
                            it.pat().into_iter().for_each(|it| walk.declare(it.syntax()));
                            it.loop_body().into_iter().for_each(|it| walk.block(&it));
                        });
                    });
                });
            }
            ast::Expr::PathExpr(it) => {
                self.named(it);
                self.used(it);
            }
            ast::Expr::BinExpr(it) if matches!(it.op_kind(), Some(ast::BinaryOp::Assignment { op: None })) => {
                it.rhs().into_iter().for_each(|it| self.expression(&it));
                match it.lhs() {
                    Some(ast::Expr::PathExpr(it)) => {
                        if let Some(variable) = self.variable(&it) {
                            variable.is_moved = false;
                        }
                    }
                    other => other.into_iter().for_each(|it| self.expression(&it)),
                }
            }
            _ => {
                self.children(node);
                self.called(expression);
                if is_borrowed(self.cx(), expression) {
                    let ty = self.cx().sema.type_of_expr(expression).map(|it| it.original);
                    let ty = ty.filter(|it| !matches!(it.drop_glue(self.cx().db), DropGlue::None));
                    let held = ty.and_then(|it| self.unsendable(&it));
                    self.temporaries.extend(held);
                }
            }
        }
    }

    fn choice(&mut self, it: &ast::IfExpr) {
        let outside = self.variables.len();
        it.condition().into_iter().for_each(|it| self.condition(&it));
        let then = it.then_branch();
        let otherwise = match it.else_branch() {
            Some(ast::ElseBranch::Block(it)) => Some(ast::Expr::BlockExpr(it)),
            Some(ast::ElseBranch::IfExpr(it)) => Some(ast::Expr::IfExpr(it)),
            None => None,
        };
        let ends = |of: Option<&SyntaxNode>| of.is_some_and(|it| self.ends(it));
        let (then_ends, otherwise_ends) =
            (ends(then.as_ref().map(|it| it.syntax())), ends(otherwise.as_ref().map(|it| it.syntax())));
        self.branches(&mut [
            Branch { ends: then_ends, walk: &mut |walk| then.iter().for_each(|it| walk.block(it)) },
            Branch { ends: otherwise_ends, walk: &mut |walk| otherwise.iter().for_each(|it| walk.expression(it)) },
        ]);
        self.variables.truncate(outside);
    }

    fn arm(&mut self, arm: &ast::MatchArm) {
        self.scope(|walk| {
            arm.pat().into_iter().for_each(|it| walk.declare(it.syntax()));
            arm.guard().into_iter().for_each(|it| walk.children(it.syntax()));
            arm.expr().into_iter().for_each(|it| walk.expression(&it));
        });
    }

    /// The temporaries of a condition end with it, unless it has a pattern.
    fn condition(&mut self, it: &ast::Expr) {
        match it.syntax().descendants().any(|it| ast::LetExpr::can_cast(it.kind())) {
            true => self.expression(it),
            false => self.statement(|walk| walk.expression(it)),
        }
    }

    fn repeated(&mut self, part: impl FnMut(&mut Self)) {
        let start = self.clock;
        self.loops.push(start);
        self.branch(None, part);
        self.loops.pop();
        // A reference that was taken behind an `.await` is there in front of it, the next time.
        let is_held = |it: &&Variable<'_>| it.is_borrowed && it.waited.is_some_and(|at| at >= start);
        let held = self.variables.iter().find(is_held).map(|it| it.held.clone());
        held.into_iter().for_each(|it| self.hold(it));
    }

    /// Notes the future that a call returns.
    fn called(&mut self, call: &ast::Expr) {
        let cx = self.cx();
        let function = match call {
            ast::Expr::MethodCallExpr(it) => cx.sema.resolve_method_call(it),
            ast::Expr::CallExpr(it) => called_function(cx, it),
            _ => None,
        };
        let Some(function) = function else { return };
        let held = self.futures.of_callee(function);
        self.note_unsent(call, held);
    }

    /// Notes the future that a function returns which is given as a value.
    fn named(&mut self, path: &ast::PathExpr) {
        let cx = self.cx();
        let is_called = path.syntax().parent().is_some_and(|it| ast::CallExpr::can_cast(it.kind()));
        let meant = path.path().filter(|_| !is_called).and_then(|it| cx.sema.resolve_path(&it));
        let Some(PathResolution::Def(ModuleDef::Function(function))) = meant else { return };
        let held = self.futures.of_callee(function);
        let ty = cx.sema.type_of_expr(&path.clone().into()).and_then(|it| it.original.as_callable(cx.db));
        if let Some((callable, held)) = ty.zip(held) {
            self.unsent.add(callable.return_type(), held);
        }
    }

    fn note_unsent(&mut self, future: &ast::Expr, held: Option<Held>) {
        let ty = self.cx().sema.type_of_expr(future);
        if let Some((ty, held)) = ty.zip(held) {
            self.unsent.add(ty.original, held);
        }
    }

    fn variable(&mut self, path: &ast::PathExpr) -> Option<&mut Variable<'db>> {
        let Some(PathResolution::Local(local)) = self.cx().sema.resolve_path(&path.path()?) else { return None };
        self.variables.iter_mut().rev().find(|it| it.local == local)
    }

    fn used(&mut self, path: &ast::PathExpr) {
        if self.variables.is_empty() {
            return;
        }
        let (clock, by) = (self.clock, use_of(self.cx(), path));
        let Some(variable) = self.variable(path) else { return };
        let held = variable.use_at(clock, by);
        held.into_iter().for_each(|it| self.hold(it));
    }

    /// A closure or block that uses variables of the body around it.
    fn captures(&mut self, node: &SyntaxNode, moves: bool) {
        if self.variables.is_empty() {
            return;
        }
        let clock = self.clock;
        let by = if moves { Use::Moves } else { Use::Borrows };
        for path in node.descendants().filter_map(ast::PathExpr::cast) {
            let held = self.variable(&path).and_then(|it| it.use_at(clock, by));
            held.into_iter().for_each(|it| self.hold(it));
        }
    }

    /// The futures that a closure makes.
    fn closure(&mut self, closure: &ast::ClosureExpr) {
        let Some(body) = closure.body() else { return };
        let held = self.inner(|walk| walk.expression(&body)).filter(|_| closure.async_token().is_some());
        let ty = self.cx().sema.type_of_expr(&closure.clone().into()).map(|it| it.original);
        if let Some((callable, held)) = ty.and_then(|it| it.as_callable(self.cx().db)).zip(held) {
            self.unsent.add(callable.return_type(), held);
        }
    }

    /// What the future of inner code holds.
    fn inner(&mut self, part: impl FnOnce(&mut Walk<'_, 'c, 'db>)) -> Option<Held> {
        let mut inner = Walk { depth: self.depth, ..Walk::new(self.futures) };
        part(&mut inner);
        let Walk { unsent, held, .. } = inner;
        unsent.types.into_iter().for_each(|(ty, held)| self.unsent.add(ty, held));
        held
    }

    fn wait(&mut self, of_future: Option<Held>) {
        of_future.into_iter().for_each(|it| self.hold(it));
        let living = self.temporaries.first().cloned();
        living.into_iter().for_each(|it| self.hold(it));
        let mut held = Vec::new();
        let clock = self.clock;
        for variable in &mut self.variables {
            let is_used_again = self.loops.iter().any(|start| *start >= variable.declared && variable.used >= *start);
            let is_kept = !variable.is_moved && (variable.needs_drop || is_used_again);
            if variable.is_borrowed || is_kept {
                held.push(variable.held.clone());
            }
            variable.waited = Some(clock);
        }
        held.into_iter().for_each(|it| self.hold(it));
    }

    fn hold(&mut self, it: Held) {
        self.held.get_or_insert(it);
    }

    /// A type that is not `Send`, or contains a future that is not.
    fn unsendable(&self, ty: &Type<'db>) -> Option<Held> {
        let cx = self.cx();
        let of_future = self.unsent.of(cx, ty);
        of_future.or_else(|| self.futures.auto_traits.lacks_send(cx, ty).then(|| self.held_of(ty)))
    }

    fn held_of(&self, ty: &Type<'db>) -> Held {
        let krate = self.futures.send().module(self.cx().db).krate(self.cx().db);
        let ty = ty.display(self.cx().db, krate.to_display_target(self.cx().db)).to_string();
        Held { ty: ty.replace(", Global>", ">"), within: None }
    }
}

pub(crate) fn called_function(cx: &Context<'_>, call: &ast::CallExpr) -> Option<Function> {
    let ast::Expr::PathExpr(callee) = call.expr()? else { return None };
    match cx.sema.resolve_path(&callee.path()?)? {
        PathResolution::Def(ModuleDef::Function(it)) => Some(it),
        _ => None,
    }
}

/// Whether a reference to a temporary value is taken: as the receiver of a method that takes one, or by `&`.
fn is_borrowed(cx: &Context<'_>, value: &ast::Expr) -> bool {
    if !matches!(value, ast::Expr::CallExpr(_) | ast::Expr::MethodCallExpr(_)) {
        return false;
    }
    let Some(parent) = value.syntax().parent() else { return false };
    if ast::RefExpr::can_cast(parent.kind()) || ast::FieldExpr::can_cast(parent.kind()) {
        return true;
    }
    let is_dereferenced =
        ast::PrefixExpr::cast(parent.clone()).is_some_and(|it| it.op_kind() == Some(ast::UnaryOp::Deref));
    is_dereferenced || is_receiver(value, &parent) && is_adjusted(cx, value)
}

fn is_receiver(value: &ast::Expr, parent: &SyntaxNode) -> bool {
    ast::MethodCallExpr::cast(parent.clone()).and_then(|it| it.receiver()).is_some_and(|it| it == *value)
}

fn is_adjusted(cx: &Context<'_>, value: &ast::Expr) -> bool {
    cx.sema.expr_adjustments(value).is_some_and(|it| !it.is_empty())
}

/// What the expression around a variable does with it. Behind a reference or `Box` it does nothing with the variable.
fn use_of(cx: &Context<'_>, path: &ast::PathExpr) -> Use {
    let mut place = ast::Expr::PathExpr(path.clone());
    let moved = || match cx.sema.type_of_expr(&path.clone().into()).is_some_and(|it| it.original.is_copy(cx.db)) {
        true => Use::Reads,
        false => Use::Moves,
    };
    loop {
        let Some(parent) = place.syntax().parent() else { return Use::Reads };
        let Some(around) = ast::Expr::cast(parent.clone()) else {
            let is_name = |it: &ast::LetStmt| matches!(it.pat(), Some(ast::Pat::IdentPat(_)));
            if ast::LetStmt::cast(parent.clone()).is_some_and(|it| !is_name(&it)) {
                return Use::Reads;
            }
            let takes = ast::ArgList::can_cast(parent.kind())
                || ast::LetStmt::can_cast(parent.kind())
                || ast::RecordExprField::can_cast(parent.kind())
                || ast::StmtList::can_cast(parent.kind());
            // Of arguments for formatting a reference is taken.
            let is_part = !matches!(place, ast::Expr::PathExpr(_));
            return match takes {
                true if is_part => Use::Reads,
                true => moved(),
                false => Use::Borrows,
            };
        };
        match &around {
            ast::Expr::ParenExpr(_) | ast::Expr::FieldExpr(_) if !is_indirect(cx, &place) => place = around,
            ast::Expr::PrefixExpr(it) if it.op_kind() == Some(ast::UnaryOp::Deref) => {
                return if is_indirect(cx, &place) { Use::Reads } else { Use::Borrows };
            }
            ast::Expr::MethodCallExpr(it) if it.receiver().as_ref() == Some(&place) => {
                let first = cx.sema.expr_adjustments(&place).and_then(|it| it.into_iter().next());
                return match first.map(|it| it.kind) {
                    Some(Adjust::Deref(None)) => Use::Reads,
                    Some(_) => Use::Borrows,
                    None if matches!(place, ast::Expr::PathExpr(_)) => moved(),
                    None => Use::Reads,
                };
            }
            ast::Expr::RefExpr(_) | ast::Expr::IndexExpr(_) | ast::Expr::CallExpr(_) => return Use::Borrows,
            ast::Expr::BinExpr(it) if matches!(it.op_kind(), Some(ast::BinaryOp::ArithOp(_))) => return moved(),
            ast::Expr::BinExpr(_) => return Use::Borrows,
            ast::Expr::MatchExpr(_) | ast::Expr::LetExpr(_) | ast::Expr::FieldExpr(_) | ast::Expr::PrefixExpr(_) => {
                return Use::Reads;
            }
            _ if matches!(place, ast::Expr::PathExpr(_)) => return moved(),
            _ => return Use::Reads,
        }
    }
}

/// Whether what is behind a place is elsewhere: a reference, pointer or `Box`.
fn is_indirect(cx: &Context<'_>, place: &ast::Expr) -> bool {
    let ty = cx.sema.type_of_expr(place).map(|it| it.original);
    let is_box = |it: &Type<'_>| it.as_adt().is_some_and(|it| it.name(cx.db).as_str() == "Box");
    ty.is_some_and(|it| it.is_reference() || it.is_raw_ptr() || is_box(&it))
}

/// The functions whose futures an item of a trait has to be like: `fn f() -> impl Future + Send` of the trait for an
/// `async fn f()` of an implementation.
pub(crate) fn declared_for(cx: &Context<'_>, function: Function) -> Option<Function> {
    let of = function.as_assoc_item(cx.db)?.implemented_trait(cx.db)?;
    let name = function.name(cx.db);
    of.items(cx.db).into_iter().find_map(|it| match it {
        ra_ap_hir::AssocItem::Function(it) if it.name(cx.db) == name => Some(it),
        _ => None,
    })
}
