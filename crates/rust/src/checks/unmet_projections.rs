//! Calls that do not meet a bound on an associated type: an iterator of certain items (E0271).
//!
//! rust-analyzer's inference reports only traits that are not implemented. So each bound of a called function that names
//! an associated type is evaluated by its trait solver, with the generic arguments that inference found.

use ra_ap_hir::{DefWithBody, HirDisplay as _};
use ra_ap_hir_def::DefWithBodyId;
use ra_ap_hir_def::expr_store::Body;
use ra_ap_hir_def::hir::{Expr, ExprId};
use ra_ap_hir_def::{CallableDefId, FunctionId, GenericDefId, HasModule as _};
use ra_ap_hir_ty::db::HirDatabase as _;
use ra_ap_hir_ty::next_solver::infer::DbInternerInferExt as _;
use ra_ap_hir_ty::next_solver::infer::traits::{Obligation, ObligationCause};
use ra_ap_hir_ty::next_solver::{ClauseKind, DbInterner, GenericArgs, Ty, TyKind};
use ra_ap_hir_ty::{GenericPredicates, InferenceResult};
use ra_ap_rustc_type_ir::inherent::IntoKind as _;
use ra_ap_rustc_type_ir::{TypeVisitableExt as _, TypingMode, Unnormalized};

use super::native::diagnostic_at_salient;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn unmet_projections(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    let Ok(id) = DefWithBodyId::try_from(body) else { return };
    let (store, source_map) = Body::with_source_map(cx.db, id);
    let inferred = InferenceResult::of(cx.db, id);
    for (call, expression) in store.exprs() {
        let (called, arguments) = match expression {
            Expr::MethodCall { args, .. } => (inferred.method_resolution(call), args),
            Expr::Call { callee, args } => (function_of(inferred.expr_ty(*callee)), args),
            _ => continue,
        };
        let Some((function, generics)) = called else { continue };
        let Some((of, message)) = unmet(cx, id, function, generics) else { continue };
        let is_it = |it: &&ExprId| inferred.type_of_expr_with_adjust(**it).is_some_and(|it| it == of);
        let at = arguments.iter().find(is_it).copied().unwrap_or(call);
        let Ok(at) = source_map.expr_syntax(at) else { continue };
        out.push(diagnostic_at_salient(cx, at.map(|it| it.syntax_node_ptr()), Code::E0271, message));
    }
}

fn function_of<'db>(callee: Ty<'db>) -> Option<(FunctionId, GenericArgs<'db>)> {
    match callee.kind() {
        TyKind::FnDef(of, generics) => match of.0 {
            CallableDefId::FunctionId(it) => Some((it, generics)),
            _ => None,
        },
        _ => None,
    }
}

/// The first bound on an associated type that certainly does not hold: the type that it is about, and what is wrong.
fn unmet<'db>(
    cx: &Context<'db>,
    body: DefWithBodyId,
    function: FunctionId,
    generics: GenericArgs<'db>,
) -> Option<(Ty<'db>, String)> {
    if generics.has_non_region_error() || generics.has_non_region_infer() {
        return None;
    }
    let krate = body.module(cx.db).krate(cx.db);
    let interner = DbInterner::new_with(cx.db, krate);
    let predicates = GenericPredicates::query_all(cx.db, GenericDefId::FunctionId(function));
    let bounds = predicates.iter_instantiated(interner, generics.as_slice()).map(Unnormalized::skip_norm_wip);
    let projections = bounds.filter_map(|clause| match clause.kind().skip_binder() {
        ClauseKind::Projection(it) => Some((clause, it)),
        _ => None,
    });
    let environment = cx.db.trait_environment(body.generic_def(cx.db));
    for (clause, projection) in projections {
        let own = projection.projection_term.self_ty();
        // What closures and `async` blocks return is compared within them.
        if matches!(
            own.kind(),
            TyKind::Closure(..) | TyKind::Coroutine(..) | TyKind::CoroutineClosure(..) | TyKind::Never
        ) {
            continue;
        }
        let context = interner.infer_ctxt().build(TypingMode::non_body_analysis());
        let of_trait = clause.kind().rebind(projection.projection_term.trait_ref(interner));
        let has_trait = Obligation::new(interner, ObligationCause::dummy(), environment, of_trait);
        let bound = Obligation::new(interner, ObligationCause::dummy(), environment, clause.as_predicate());
        // A trait that is not implemented is reported itself.
        if context.predicate_may_hold(&bound) || !context.predicate_may_hold(&has_trait) {
            continue;
        }
        let target = ra_ap_hir::Crate::from(krate).to_display_target(cx.db);
        let found = projection.projection_term.to_term(interner);
        let (found, wanted) = (found.display(cx.db, target), projection.term.display(cx.db, target));
        return Some((own, format!("type mismatch resolving `{found} == {wanted}`")));
    }
    None
}
