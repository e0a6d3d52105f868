//! What has no type because of an error. The compiler is silent about whatever is done with it; rust-analyzer goes on
//! with a guess.

use ra_ap_hir::{Adt, Function, ModuleDef, PathResolution, Type};
use ra_ap_ide::{FileId, TextRange, TextSize};
use ra_ap_syntax::ast::{HasArgList as _, HasGenericParams as _, HasLoopBody as _, RangeItem as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::native::Told;
use crate::lang::rust::view::Context;
use crate::text::words::words;

/// After these an expression has no type.
const ENDING: [&str; 8] = ["E0369", "E0425", "E0433", "E0599", "E0600", "E0609", "E0614", "E0615"];
/// These are not told of an expression that has none.
const FOLLOWING: [&str; 16] = [
    "E0061", "E0277", "E0282", "E0308", "E0368", "E0369", "E0599", "E0600", "E0606", "E0608", "E0609", "E0614",
    "E0615", "E0616", "E0618", "E0624",
];

/// Bindings in the order of the text: where each is in scope, and whether it has no type.
type Tainted = Vec<(String, TextRange, bool)>;

enum Tells {
    Type,
    /// It means nothing any more.
    Nothing,
}

impl<'db> Context<'db> {
    /// Takes away what is told of locals that have no type.
    pub(super) fn without_tainted(&self, body: &SyntaxNode, told: &mut Vec<Told>) {
        let Some(file) = self.sema.hir_file_for(body).file_id().map(|it| it.file_id(self.db)) else { return };
        if told.is_empty() {
            return;
        }
        let is_ending = |it: &&Told| it.file == file && ENDING.contains(&it.code);
        let ends: Vec<TextRange> = told.iter().filter(is_ending).map(|it| it.range).collect();
        let is_of_unknown = || {
            let block = body.ancestors().find_map(ast::Impl::cast).and_then(|it| self.sema.to_def(&it));
            block.is_some_and(|it| it.self_ty(self.db).contains_unknown())
        };
        let mut tainted = Tainted::new();
        if is_of_unknown() {
            tainted.push(("self".to_owned(), body.text_range(), true));
        }
        // What is made of the unknown, or of such a `self`, still has a type, that may be another one than is wanted.
        let mut doubtful = tainted.clone();
        self.taint(body, &mut tainted, |it, so_far| self.has_none(it, &ends, so_far));
        self.taint(body, &mut doubtful, |it, so_far| self.has_none(it, &ends, so_far) || self.comes_of_unknown(it));
        let is_any = !ends.is_empty() || tainted.iter().any(|it| it.2 && it.0 != "self");
        let is_told = |code: &str| !FOLLOWING.contains(&code) || !is_any && code == "E0308";
        told.retain(|it| {
            let is_of_two = matches!(it.code, "E0308" | "E0368" | "E0369" | "E0600");
            let tainted = if is_of_two { &tainted } else { &doubtful };
            is_told(it.code) || !self.speaks_of(body, file, it, &ends, tainted)
        });
    }

    /// Adds the bindings of a body.
    fn taint(&self, body: &SyntaxNode, tainted: &mut Tainted, has_none: impl Fn(&ast::Expr, &Tainted) -> bool) {
        for binding in body.descendants() {
            let Some((names, from, scope)) = bound_by(&binding) else { continue };
            let has_no_type = from.is_some_and(|it| has_none(&it, tainted));
            for name in names.syntax().descendants().filter_map(ast::Name::cast) {
                // Constants and variants look the same.
                if !name.text().starts_with(char::is_uppercase) {
                    let has_none = match self.told_by_pattern(&name, &names) {
                        Some(Tells::Type) => false,
                        Some(Tells::Nothing) => true,
                        None => has_no_type,
                    };
                    tainted.push((name.text().to_string(), scope, has_none));
                }
            }
        }
    }

    fn speaks_of(&self, body: &SyntaxNode, file: FileId, told: &Told, ends: &[TextRange], tainted: &Tainted) -> bool {
        if told.file != file || !body.text_range().contains_range(told.range) {
            return false;
        }
        let first = body.token_at_offset(told.range.start()).right_biased().filter(|_| told.code == "E0606");
        // The input of a macro is no more than tokens, and a cast begins with its operand.
        let of_macro = first.filter(|it| it.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())));
        if of_macro.is_some_and(|it| names_none(it.text(), it.text_range().start(), tainted)) {
            return true;
        }
        let element = body.covering_element(told.range);
        let node = element.as_node().cloned().or_else(|| element.parent());
        // An error does not follow from itself.
        let others: Vec<TextRange> = ends.iter().copied().filter(|it| *it != told.range).collect();
        let is = |it: Option<ast::Expr>| it.is_some_and(|it| self.has_none(&it, &others, tainted));
        if told.code == "E0308" && node.clone().is_some_and(|it| self.is_beside_none(&it, ends, tainted)) {
            return true;
        }
        // The token of a method or a field stands for what it is asked of, and arguments depend on that too.
        let around = node.into_iter().flat_map(|it| it.ancestors()).take_while(|it| !ast::Stmt::can_cast(it.kind()));
        // A member is looked for in what it is asked of, whatever stands around.
        let is_of_member = matches!(told.code, "E0061" | "E0599" | "E0609" | "E0614" | "E0615" | "E0616" | "E0624");
        let around = around.filter_map(ast::Expr::cast).take(if is_of_member { 1 } else { usize::MAX });
        around.enumerate().any(|(depth, it)| match it {
            ast::Expr::MethodCallExpr(it) => is(it.receiver()),
            ast::Expr::BinExpr(it) if !is_logic(&it) => is(it.lhs()) || is(it.rhs()),
            ast::Expr::CastExpr(it) if depth == 0 => is(it.expr()),
            it => depth == 0 && is(Some(it)),
        })
    }

    /// Whether it is the value of a branch beside one that has no type.
    fn is_beside_none(&self, node: &SyntaxNode, ends: &[TextRange], tainted: &Tainted) -> bool {
        let own = node.text_range();
        let same = |it: &SyntaxNode| it.text_range() == own;
        let is_value = |it: &SyntaxNode| {
            ast::StmtList::cast(it.clone())
                .is_none_or(|it| it.tail_expr().is_some_and(|it| it.syntax().text_range().contains_range(own)))
        };
        let ends_here = |it: &SyntaxNode| {
            let kind = it.kind();
            let is_part =
                ast::BlockExpr::can_cast(kind) || ast::StmtList::can_cast(kind) || ast::MatchArm::can_cast(kind);
            is_part
                || ast::MatchArmList::can_cast(kind)
                || ast::IfExpr::can_cast(kind)
                || ast::MatchExpr::can_cast(kind)
        };
        let around = node.ancestors().skip_while(same).take_while(|it| ends_here(it) && is_value(it));
        around.filter_map(ast::Expr::cast).any(|it| match &it {
            ast::Expr::MatchExpr(of) => {
                let arms = of.match_arm_list().into_iter().flat_map(|it| it.arms());
                arms.filter_map(|it| it.expr()).any(|it| self.has_none(&it, ends, tainted))
            }
            ast::Expr::IfExpr(_) => self.has_none(&it, ends, tainted),
            _ => false,
        })
    }

    /// What the innermost path of a pattern tells of the type of what stands in it; one of generics does not tell it.
    fn told_by_pattern(&self, name: &ast::Name, pattern: &ast::Pat) -> Option<Tells> {
        let within =
            name.syntax().ancestors().take_while(|it| pattern.syntax().text_range().contains_range(it.text_range()));
        within.into_iter().find_map(|it| {
            let path = match ast::TupleStructPat::cast(it.clone()) {
                Some(it) => it.path()?,
                None => ast::RecordPat::cast(it)?.path()?,
            };
            let adt = match self.sema.resolve_path(&path) {
                Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => Adt::Enum(it.parent_enum(self.db)),
                Some(PathResolution::Def(ModuleDef::Adt(it))) => it,
                Some(_) => return None,
                None => return Some(Tells::Nothing),
            };
            let is_plain = self.sema.source(adt).is_some_and(|it| it.value.generic_param_list().is_none());
            is_plain.then_some(Tells::Type)
        })
    }

    /// Whether the value of an expression comes from one of those that end so.
    fn has_none(&self, of: &ast::Expr, ends: &[TextRange], tainted: &Tainted) -> bool {
        let is = |it: Option<ast::Expr>| it.is_some_and(|it| self.has_none(&it, ends, tainted));
        let is_at = |range: TextRange| ends.contains(&range);
        if is_at(of.syntax().text_range()) {
            return true;
        }
        match of {
            ast::Expr::ParenExpr(it) => is(it.expr()),
            ast::Expr::RefExpr(it) => is(it.expr()),
            ast::Expr::TryExpr(it) => is(it.expr()),
            ast::Expr::AwaitExpr(it) => is(it.expr()),
            ast::Expr::PrefixExpr(it) => is(it.expr()),
            ast::Expr::BinExpr(it) => !is_logic(it) && !is_comparison(it) && (is(it.lhs()) || is(it.rhs())),
            ast::Expr::RangeExpr(it) => is(it.start()) || is(it.end()),
            ast::Expr::IndexExpr(it) => is(it.base()) || is(it.index()),
            ast::Expr::FieldExpr(it) => {
                it.name_ref().is_some_and(|it| is_at(it.syntax().text_range())) || is(it.expr())
            }
            ast::Expr::MethodCallExpr(it) => {
                let arguments = || it.arg_list().is_some_and(|it| it.args().any(|it| is(Some(it))));
                let depends = || self.sema.resolve_method_call(it).is_some_and(|it| self.result_is_told(it));
                it.name_ref().is_some_and(|it| is_at(it.syntax().text_range()))
                    || is(it.receiver())
                    || arguments() && depends()
            }
            ast::Expr::TupleExpr(it) => it.fields().any(|it| is(Some(it))),
            ast::Expr::ArrayExpr(it) => it.exprs().any(|it| is(Some(it))),
            ast::Expr::CallExpr(it) => {
                let depends = |it: &ast::PathExpr| {
                    let meant = it.path().and_then(|it| self.sema.resolve_path(&it));
                    let is_told =
                        matches!(meant, Some(PathResolution::Def(ModuleDef::Function(it))) if self.result_is_told(it));
                    is_named_as_type(it) || is_told
                };
                let depends = matches!(it.expr(), Some(ast::Expr::PathExpr(it)) if depends(&it));
                is(it.expr()) || depends && it.arg_list().is_some_and(|it| it.args().any(|it| is(Some(it))))
            }
            ast::Expr::BlockExpr(it) => is(it.tail_expr()),
            ast::Expr::IfExpr(it) => {
                let other = it.else_branch().and_then(|it| match it {
                    ast::ElseBranch::Block(it) => it.tail_expr(),
                    ast::ElseBranch::IfExpr(it) => Some(it.into()),
                });
                is(it.then_branch().and_then(|it| it.tail_expr())) || is(other)
            }
            ast::Expr::MatchExpr(it) => {
                it.match_arm_list().is_some_and(|it| it.arms().any(|it| is(it.expr()))) || is(it.expr())
            }
            ast::Expr::RecordExpr(it) => it.path().is_some_and(|it| self.sema.resolve_path(&it).is_none()),
            ast::Expr::PathExpr(it) => {
                local(it).is_some_and(|name| names_none(&name, it.syntax().text_range().start(), tainted))
            }
            _ => false,
        }
    }

    /// Whether a value is made of one of no type, though rust-analyzer finds a type for it that would do.
    pub(super) fn comes_of_unknown(&self, of: &ast::Expr) -> bool {
        let made_of = |it: &ast::Expr| match it {
            ast::Expr::MethodCallExpr(it) => it.receiver(),
            ast::Expr::FieldExpr(it) => it.expr(),
            ast::Expr::TryExpr(it) => it.expr(),
            ast::Expr::RefExpr(it) => it.expr(),
            ast::Expr::CallExpr(it) => it.expr(),
            _ => None,
        };
        let ty = |it: ast::Expr| self.sema.type_of_expr(&it).map(|it| it.original);
        std::iter::successors(Some(of.clone()), made_of).filter_map(ty).any(|it| it.strip_references().is_unknown())
    }

    /// Whether the arguments of a call tell the type of its result.
    fn result_is_told(&self, of: Function) -> bool {
        let Some(source) = self.sema.source(of) else { return false };
        let generics = source.value.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
        let names: Vec<String> = generics.filter_map(|it| Some(it.name()?.text().to_string())).collect();
        let result = source.value.ret_type().map(|it| it.syntax().text().to_string()).unwrap_or_default();
        words(&result).any(|it| names.iter().any(|name| name == it.1))
    }

    /// Whether a type is, holds or leads to one that is not known.
    pub(super) fn leads_to_unknown(&self, ty: &Type<'db>) -> bool {
        let inner = ty.strip_references();
        ty.autoderef(self.db).any(|it| it.contains_unknown())
            || inner.fields(self.db).iter().any(|it| it.1.contains_unknown())
    }
}

/// What a statement, an arm, a loop or a closure binds, what to, and where it is in scope.
fn bound_by(node: &SyntaxNode) -> Option<(ast::Pat, Option<ast::Expr>, TextRange)> {
    let within = |from: TextSize, scope: Option<SyntaxNode>| {
        scope.map(|it| TextRange::new(from, it.text_range().end().max(from)))
    };
    let end = node.text_range().end();
    if let Some(it) = ast::LetStmt::cast(node.clone()) {
        let from = it.initializer().filter(|_| it.ty().is_none());
        return Some((it.pat()?, from, within(end, node.parent())?));
    }
    if let Some(it) = ast::LetExpr::cast(node.clone()) {
        let whole = |it: &SyntaxNode| ast::IfExpr::can_cast(it.kind()) || ast::WhileExpr::can_cast(it.kind());
        let around = node.ancestors().find(whole)?;
        let scope = match ast::IfExpr::cast(around.clone()) {
            Some(it) => it.then_branch()?.syntax().clone(),
            None => around,
        };
        return Some((it.pat()?, it.expr(), within(end, Some(scope))?));
    }
    if let Some(it) = ast::MatchArm::cast(node.clone()) {
        let of = node.ancestors().find_map(ast::MatchExpr::cast)?;
        return Some((it.pat()?, of.expr(), node.text_range()));
    }
    if let Some(it) = ast::ForExpr::cast(node.clone()) {
        return Some((it.pat()?, it.iterable(), it.loop_body()?.syntax().text_range()));
    }
    let parameter = ast::Param::cast(node.clone())?;
    let closure = node.ancestors().nth(2).and_then(ast::ClosureExpr::cast)?;
    // What is done for each of those that are not known.
    let call = closure.syntax().ancestors().nth(2).and_then(ast::MethodCallExpr::cast);
    let from = call.and_then(|it| it.receiver()).filter(|_| parameter.ty().is_none());
    Some((parameter.pat()?, from, closure.syntax().text_range()))
}

fn names_none(name: &str, at: TextSize, tainted: &Tainted) -> bool {
    tainted.iter().rfind(|(of, scope, _)| of == name && scope.contains(at)).is_some_and(|it| it.2)
}

fn local(path: &ast::PathExpr) -> Option<String> {
    Some(path.path()?.as_single_name_ref()?.text().to_string())
}

fn is_logic(of: &ast::BinExpr) -> bool {
    matches!(of.op_kind(), Some(ast::BinaryOp::LogicOp(_)))
}

fn is_comparison(of: &ast::BinExpr) -> bool {
    matches!(of.op_kind(), Some(ast::BinaryOp::CmpOp(_)))
}

fn is_named_as_type(path: &ast::PathExpr) -> bool {
    let name = path.path().and_then(|it| it.segment()?.name_ref());
    name.is_some_and(|it| it.text().starts_with(char::is_uppercase))
}
