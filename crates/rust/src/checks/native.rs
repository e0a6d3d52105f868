//! rust-analyzer's errors for one body, with the compiler's codes. The language server checks whole files; an edit
//! affects single bodies, which are checked here.

use std::collections::HashMap;

use either::Either;
use ra_ap_hir::{
    Adt, AnyDiagnostic, AsAssocItem as _, AssocItemContainer, CastError, Const, Crate, DefWithBody, Function,
    GenericDef, HasSource as _, HirDisplay as _, HirFileId, InFile, ModuleDef, PathResolution, Semantics, Static,
    StructKind, TraitRef, Type, UnimplementedTrait, UnresolvedMethodCall, VariantId,
};
use ra_ap_ide::{FileId, FileRange, RootDatabase, TextRange};
use ra_ap_syntax::ast::{HasArgList as _, HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, AstPtr, SyntaxKind, SyntaxNode, SyntaxNodePtr, ast};

use super::places::salient;
use super::{
    body_impls, bounds, constants, error_types, lookup, mismatches, outer_items, patterns, places, unknown_types,
};
use crate::bounds::{Bound, MOST_ERRORS};
use crate::finding::code::Code;
use crate::finding::{RawDiagnostic, Subject};
use crate::names::definitions::plain_name;
use crate::syntax::attributes::{attributes_of, cfg_condition};
use crate::syntax::nesting;
use crate::syntax::positions::span;
use crate::view::{Context, Fault, unless_at_fault};
use semdex_text::words::words;

/// The steps that the translation of an error counts as, so that it can be ended: its place and its names are looked up
/// in the tree.
const STEPS_OF_ERROR: u32 = 1 << 10;

/// rust-analyzer's own errors for a body.
pub(crate) fn native_errors(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    let mut found = Vec::new();
    if let DefWithBody::Function(function) = body {
        GenericDef::Function(function).diagnostics(cx.db, &mut found);
    }
    // rust-analyzer may panic on patterns after it has reported type errors; the compiler reports patterns only if
    // there are no other errors.
    let place = || described(cx, body);
    if let Err(fault) = unless_at_fault(|| body.diagnostics(cx.db, &mut found, false))
        && (matches!(fault, Fault::Exhausted(_)) || found.is_empty())
    {
        cx.note_stumble(fault, place);
    }
    // The compiler does not report missing fields if it does not know some of the given ones.
    let mut strange: HashMap<HirFileId, Vec<TextRange>> = HashMap::new();
    for it in &found {
        if let AnyDiagnostic::NoSuchField(it) = it {
            strange.entry(it.field.file_id).or_default().push(it.field.value.syntax_node_ptr().text_range());
        }
    }
    strange.values_mut().for_each(|it| it.sort_by_key(|it| (it.start(), it.end())));
    found.retain(|it| match it {
        AnyDiagnostic::MissingFields(it) => {
            let whole = it.field_list_parent.syntax_node_ptr().text_range();
            let strange = strange.get(&it.file).map(Vec::as_slice).unwrap_or_default();
            // The ranges are of one tree: what begins in the whole is in it.
            let next = strange.get(strange.partition_point(|it| it.start() < whole.start()));
            !next.is_some_and(|it| whole.contains_range(*it))
        }
        _ => true,
    });
    for it in found {
        // The rest is left out (`errors::keep_first`).
        if out.len() > MOST_ERRORS {
            break;
        }
        semdex_steps::count(STEPS_OF_ERROR);
        out.extend(translate(cx, body, it));
    }
}

/// The constants and statics that cannot be evaluated: the body itself, or those in it.
pub(crate) fn overflows(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    let inner = || body_syntax(&cx.sema, body).into_iter().flat_map(|it| it.descendants());
    let constants: Vec<Const> = match body {
        DefWithBody::Const(it) => vec![it],
        DefWithBody::Function(_) => inner().filter_map(ast::Const::cast).filter_map(|it| cx.sema.to_def(&it)).collect(),
        DefWithBody::Static(_) | DefWithBody::EnumVariant(_) => Vec::new(),
    };
    let statics: Vec<Static> = match body {
        DefWithBody::Static(it) => vec![it],
        DefWithBody::Function(_) => {
            inner().filter_map(ast::Static::cast).filter_map(|it| cx.sema.to_def(&it)).collect()
        }
        DefWithBody::Const(_) | DefWithBody::EnumVariant(_) => Vec::new(),
    };
    // Code with errors is not evaluated.
    let is_whole = out.is_empty();
    let failed = |it: &Const| constants::overflow(cx, *it).or_else(|| constants::failed_constant(cx, *it, is_whole));
    let failed: Vec<RawDiagnostic> = constants.iter().filter_map(failed).collect();
    out.extend(failed);
    out.extend(statics.into_iter().filter_map(|it| constants::failed_static(cx, it, is_whole)));
}

pub(crate) fn body_syntax(sema: &Semantics<'_, RootDatabase>, body: DefWithBody) -> Option<SyntaxNode> {
    Some(match body {
        DefWithBody::Function(it) => sema.source(it)?.value.body()?.syntax().clone(),
        DefWithBody::Const(it) => sema.source(it)?.value.body()?.syntax().clone(),
        DefWithBody::Static(it) => sema.source(it)?.value.body()?.syntax().clone(),
        DefWithBody::EnumVariant(_) => return None,
    })
}

/// A description of a body: the name of its item, and its file.
pub(crate) fn described(cx: &Context<'_>, body: DefWithBody) -> String {
    let name = match body {
        DefWithBody::Function(it) => Some(it.name(cx.db)),
        DefWithBody::Static(it) => Some(it.name(cx.db)),
        DefWithBody::Const(it) => it.name(cx.db),
        DefWithBody::EnumVariant(it) => Some(it.name(cx.db)),
    };
    let name = name.map_or_else(|| "a constant".to_owned(), |it| format!("`{}`", it.as_str()));
    let at = body_syntax(&cx.sema, body).and_then(|it| cx.sema.original_range_opt(&it));
    match at.and_then(|it| cx.place(FileRange { file_id: it.file_id.file_id(cx.db), range: it.range })) {
        Some(place) => format!("the body of {name} ({}:{})", place.file, place.line),
        None => format!("the body of {name}"),
    }
}

/// `None` if the compiler does not report it, or if it has no content.
fn translate<'db>(cx: &Context<'db>, body: DefWithBody, diagnostic: AnyDiagnostic<'db>) -> Option<RawDiagnostic> {
    let krate = body.module(cx.db).krate(cx.db);
    let target = krate.to_display_target(cx.db);
    let edition = krate.edition(cx.db);
    let ty = |it: &Type<'db>| it.display(cx.db, target).to_string();
    Some(match diagnostic {
        AnyDiagnostic::TypeMismatch(it) => {
            if it.expected.is_unknown() || it.actual.is_unknown() {
                return None;
            }
            let (expected, actual) = (ty(&it.expected), ty(&it.actual));
            // `<&Local as Trait>::Type`
            let is_of_hidden = |text: &str, ty: &Type<'_>| text.contains(" as ") && body_impls::is_of_hidden(cx, ty);
            if is_of_hidden(&expected, &it.expected) || is_of_hidden(&actual, &it.actual) {
                return None;
            }
            // Nothing can be said about members of an unknown type, nor about unknown lengths.
            let is_unclear = |it: &String| it.contains("<{unknown} as") || is_member_of_object(it);
            if expected == actual || is_unclear(&expected) || is_unclear(&actual) {
                return None;
            }
            let message = format!("mismatched types: expected `{expected}`, found `{actual}`");
            let node: InFile<SyntaxNodePtr> = it.expr_or_pat.map(AstPtr::into);
            // A function in a pattern has an error of its own (`patterns`, `constructors`).
            let is_function =
                actual.starts_with("fn ") && matches!(node.value.kind(), SyntaxKind::PATH_PAT | SyntaxKind::IDENT_PAT);
            if is_function || ends_in_unknown_macro(&cx.sema, &node) {
                return None;
            }
            if let Some(code) = mismatches::code_of_missing_value(&cx.sema, &node) {
                return Some(diagnostic_at_salient(cx, node, code, message));
            }
            match result_of_unending(&cx.sema, &node) {
                Some(range) => RawDiagnostic::new(range, Code::E0308, message),
                None => diagnostic_at_salient(cx, node, Code::E0308, message),
            }
        }
        AnyDiagnostic::MismatchedArgCount(it) => {
            let code = if it.is_fn_trait_call { Code::E0057 } else { Code::E0061 };
            diagnostic_at_salient(cx, it.call_expr.map(AstPtr::into), code, takes(it.expected, it.found))
        }
        AnyDiagnostic::MismatchedTupleStructPatArgCount(it) => {
            let expected = counted(it.expected, "field");
            let message = format!("this pattern has {}, but the tuple has {expected}", counted(it.found, "field"));
            let node: InFile<SyntaxNodePtr> = it.expr_or_pat.map(AstPtr::into);
            let code = if is_pattern_of_unit(&cx.sema, &node) { Code::E0532 } else { Code::E0023 };
            diagnostic_at(cx, node, code, message)
        }
        // A member of a removed type's value is not reported.
        AnyDiagnostic::UnresolvedMethodCall(it) if it.receiver.strip_references().is_never() => return None,
        AnyDiagnostic::UnresolvedField(it) if it.receiver.strip_references().is_never() => return None,
        AnyDiagnostic::UnresolvedMethodCall(it) if error_types::leads_to_unknown(cx.db, &it.receiver) => return None,
        AnyDiagnostic::UnresolvedMethodCall(it) if has_method(&cx.sema, &it) => return None,
        AnyDiagnostic::UnresolvedMethodCall(it) if is_of_own_result(cx, receiver_at(cx, &it)) => return None,
        AnyDiagnostic::UnresolvedMethodCall(it) if is_member_of_object(&ty(&it.receiver)) => return None,
        AnyDiagnostic::UnresolvedField(it) if is_member_of_object(&ty(&it.receiver)) => return None,
        AnyDiagnostic::UnimplementedTrait(it) if is_of_object(cx.db, &it.trait_predicate.trait_ref()) => return None,
        AnyDiagnostic::UnimplementedTrait(it) if is_met_in_body(cx, &it) => return None,
        AnyDiagnostic::UnresolvedMethodCall(it)
            if body_impls::is_of_hidden(cx, &it.receiver)
                && !mismatches::traits_with_method(&cx.sema, &it).is_empty() =>
        {
            return None;
        }
        AnyDiagnostic::UnimplementedTrait(it) if is_implied(cx, &it.trait_predicate.trait_ref()) => return None,
        AnyDiagnostic::UnresolvedMethodCall(it)
            if body_impls::may_have_member(
                cx,
                body_impls::name_of(cx.db, &it.receiver).as_deref(),
                plain_name(it.name.as_str()),
            ) =>
        {
            return None;
        }
        AnyDiagnostic::UnresolvedMethodCall(it) => {
            let name = it.name.display(cx.db, edition);
            let receiver = ty(&it.receiver);
            if mismatches::is_ambiguous(&cx.sema, &it) {
                let message = format!("multiple traits have a method `{name}` for type `{receiver}`");
                return Some(diagnostic_at_salient(cx, it.expr.map(AstPtr::into), Code::E0034, message));
            }
            let message = format!("no method `{name}` found for type `{receiver}`");
            diagnostic_at_salient(cx, it.expr.map(AstPtr::into), Code::E0599, message)
                .about(Subject::Member { receiver })
        }
        AnyDiagnostic::UnresolvedField(it) => {
            let (name, receiver) = (it.name.display(cx.db, edition), ty(&it.receiver));
            match it.method_with_same_name_exists {
                true => {
                    let message = format!("attempted to take value of method `{name}` on type `{receiver}`");
                    diagnostic_at_salient(cx, it.expr.map(AstPtr::into), Code::E0615, message)
                }
                false => {
                    let message = format!("no field `{name}` on type `{receiver}`");
                    diagnostic_at_salient(cx, it.expr.map(AstPtr::into), Code::E0609, message)
                }
            }
        }
        AnyDiagnostic::UnresolvedAssocItem(it) => {
            let message = "no associated item of this name found".to_owned();
            let node: InFile<SyntaxNodePtr> = it.expr_or_pat.map(AstPtr::into);
            let path = node.value.to_node(&cx.sema.parse_or_expand(node.file_id));
            let names: Vec<ast::NameRef> = path.descendants().filter_map(ast::NameRef::cast).collect();
            let name = names.last();
            if let [.., ty, member] = &names[..]
                && body_impls::may_have_member(cx, Some(plain_name(ty.text())), plain_name(member.text()))
            {
                return None;
            }
            // In an expansion the name may be input of the macro where the path is not.
            let node = node.with_value(name.map_or(node.value, |it| SyntaxNodePtr::new(it.syntax())));
            diagnostic_at(cx, node, Code::E0599, message).about(Subject::Member { receiver: String::new() })
        }
        AnyDiagnostic::UnresolvedIdent(it) => {
            let (node, within) = it.node.value;
            let node: SyntaxNodePtr = node.into();
            let syntax = node.to_node(&cx.sema.parse_or_expand(it.node.file_id));
            let code = match within {
                // A name in the text of a format string.
                Some(_) => Code::E0425,
                None => code_of_unresolved(&cx.sema, &syntax)?,
            };
            let raw = diagnostic_at(cx, InFile::new(it.node.file_id, node), code, String::new());
            let range = within.map_or(raw.range, |within| within + raw.range.start());
            let name = text_at(cx, raw.file, range);
            let (code, message) = match code {
                Code::E0423 => (code, format!("expected a value, found the type `{name}`")),
                Code::E0603 => (code, format!("`{name}` is private")),
                _ => outer_items::outer_value(&cx.sema, &syntax, &name)
                    .unwrap_or_else(|| (code, format!("cannot find `{name}` in this scope"))),
            };
            RawDiagnostic { range, code, message, ..raw }
        }
        AnyDiagnostic::UnresolvedMacroCall(it) if is_switched_off(cx, krate, it.range) => return None,
        AnyDiagnostic::UnresolvedMacroCall(it) => {
            let range = cx.sema.diagnostics_display_range_for_range(it.range);
            let path = it.path.display(cx.db, edition).to_string();
            let code = if path.contains("::") { Code::E0433 } else { Code::Uncoded };
            RawDiagnostic::new(range, code, format!("cannot find macro `{path}` in this scope")).about(Subject::Macro)
        }
        AnyDiagnostic::NoSuchField(it) => {
            let (code, message) = match (it.private.is_some(), it.variant) {
                (true, _) => (Code::E0451, "this field is private"),
                (false, VariantId::EnumVariantId(_)) => (Code::E0559, "the variant has no field of this name"),
                (false, _) => (Code::E0560, "the struct has no field of this name"),
            };
            let ptr = it.field.map(|it| it.syntax_node_ptr());
            let is_pattern = ast::RecordPatField::can_cast(ptr.value.kind());
            let node = ptr.value.to_node(&cx.sema.parse_or_expand(ptr.file_id));
            let code = match is_pattern && code != Code::E0451 {
                true if is_record_of_tuple(&cx.sema, &node) => Code::E0769,
                true => Code::E0026,
                false => code,
            };
            let name = node.children().find_map(ast::NameRef::cast).map(|it| it.syntax().text_range());
            let raw = diagnostic_at(cx, ptr, code, message.to_owned());
            match name.and_then(|name| places::where_written(cx, ptr.with_value(name))) {
                Some(at) => RawDiagnostic { file: at.file_id, range: at.range, ..raw },
                None => raw,
            }
        }
        AnyDiagnostic::DuplicateField(it) => diagnostic_at(
            cx,
            it.field.map(|it| it.syntax_node_ptr()),
            Code::E0062,
            "this field is given twice".to_owned(),
        ),
        AnyDiagnostic::MissingFields(it) => {
            let names: Vec<String> =
                it.missed_fields.iter().map(|(name, _)| format!("`{}`", name.display(cx.db, edition))).collect();
            let is_pattern = ast::RecordPat::can_cast(it.field_list_parent.syntax_node_ptr().kind());
            let (code, what) = if is_pattern { (Code::E0027, "the pattern") } else { (Code::E0063, "the initializer") };
            let path = it.field_list_parent_path.map(|it| it.syntax_node_ptr());
            let ptr = path.unwrap_or_else(|| it.field_list_parent.syntax_node_ptr());
            diagnostic_at(cx, InFile::new(it.file, ptr), code, format!("missing in {what}: {}", names.join(", ")))
        }
        AnyDiagnostic::MissingMatchArms(it) => {
            let message = format!("non-exhaustive patterns: {}", it.uncovered_patterns);
            patterns::unmatched(cx, it.scrutinee_expr, message)
        }
        AnyDiagnostic::NonExhaustiveLet(it) => {
            let message = format!("refutable pattern in local binding: {}", it.uncovered_patterns);
            diagnostic_at(cx, it.pat.map(|it| it.syntax_node_ptr()), Code::E0005, message)
        }
        AnyDiagnostic::NonExhaustiveRecordExpr(it) => {
            let message = "a struct that is `#[non_exhaustive]` cannot be made here".to_owned();
            diagnostic_at(cx, it.expr.map(AstPtr::into), Code::E0639, message)
        }
        AnyDiagnostic::NonExhaustiveRecordPat(it) => diagnostic_at(
            cx,
            it.pat.map(AstPtr::into),
            Code::E0638,
            "`..` is required here: it is `#[non_exhaustive]`".to_owned(),
        ),
        AnyDiagnostic::PrivateField(it) => {
            let name = it.field.name(cx.db);
            let message = format!("field `{}` is private", name.display(cx.db, edition));
            diagnostic_at_salient(cx, it.expr.map(AstPtr::into), Code::E0616, message)
        }
        AnyDiagnostic::PrivateAssocItem(it) => {
            let name = it.item.name(cx.db).map(|it| it.display(cx.db, edition).to_string());
            let message = format!("`{}` is private", name.unwrap_or_default());
            diagnostic_at_salient(cx, it.expr_or_pat.map(AstPtr::into), Code::E0624, message)
        }
        AnyDiagnostic::UnimplementedTrait(it) => {
            let bound = it.trait_predicate.display(cx.db, target).to_string();
            if bound.contains("{unknown}") || bound.contains('!') {
                return None;
            }
            let node = it.span.map(|it| it.syntax_node_ptr());
            let trait_ref = it.trait_predicate.trait_ref();
            let node = argument_of_type(cx, node, &trait_ref.self_ty()).unwrap_or(node);
            let message = format!("the trait bound `{bound}` is not satisfied");
            let code = code_of_callable(cx.db, &it.trait_predicate.trait_ref()).unwrap_or(Code::E0277);
            diagnostic_at_salient(cx, node, code, message).about(Subject::of_predicate(&bound))
        }
        AnyDiagnostic::TypeMustBeKnown(it) => {
            let ptr = it.at_point.map(|it| it.syntax_node_ptr());
            let node = ptr.value.to_node(&cx.sema.parse_or_expand(ptr.file_id));
            if is_in_closure_of_field(&node) || unknown_types::is_compared(&cx.sema, &node) {
                return None;
            }
            let code = unknown_types::code_of_unknown(&cx.sema, &node);
            diagnostic_at(cx, ptr, code, "type annotations needed".to_owned())
        }
        AnyDiagnostic::IncorrectGenericsLen(it) => {
            let message =
                format!("this takes {}, but {} given", counted(it.expected as usize, "generic argument"), it.provided);
            diagnostic_at(cx, it.generics_or_segment.map(|it| it.syntax_node_ptr()), Code::E0107, message)
        }
        AnyDiagnostic::GenericArgsProhibited(it) => {
            let ptr = it.args.map(|it| it.syntax_node_ptr());
            if ptr.file_id.is_macro() && is_in_cast(&ptr.value.to_node(&cx.sema.parse_or_expand(ptr.file_id))) {
                return None;
            }
            diagnostic_at(cx, ptr, Code::E0109, "generic arguments are not allowed here".to_owned())
        }
        AnyDiagnostic::MissingLifetime(it) => {
            let ptr = it.generics_or_segment.map(|it| it.syntax_node_ptr());
            diagnostic_at(cx, ptr, Code::E0106, "missing lifetime specifier".to_owned())
        }
        AnyDiagnostic::ExpectedFunction(it) => {
            let message = format!("expected function, found `{}`", ty(&it.found));
            diagnostic_at(cx, it.call.map(AstPtr::into), Code::E0618, message)
        }
        AnyDiagnostic::CannotBeDereferenced(it) => {
            let message = format!("type `{}` cannot be dereferenced", ty(&it.found));
            diagnostic_at(cx, it.expr.map(AstPtr::into), Code::E0614, message)
        }
        AnyDiagnostic::CannotIndexInto(it) => {
            let message = format!("cannot index into a value of type `{}`", ty(&it.found));
            diagnostic_at(cx, it.expr.map(AstPtr::into), Code::E0608, message)
        }
        AnyDiagnostic::InvalidCast(it) => {
            let message = format!("casting `{}` as `{}` is invalid", ty(&it.expr_ty), ty(&it.cast_ty));
            let code = match it.error {
                CastError::CastToBool => Code::E0054,
                CastError::CastToChar => Code::E0604,
                CastError::NonScalar => Code::E0605,
                CastError::SizedUnsizedCast => Code::E0607,
                _ => Code::E0606,
            };
            diagnostic_at(cx, it.expr.map(AstPtr::into), code, message)
        }
        AnyDiagnostic::CastToUnsized(it) => {
            let message = format!("cast to unsized type `{}`", ty(&it.cast_ty));
            diagnostic_at(cx, it.expr.map(AstPtr::into), Code::E0620, message)
        }
        AnyDiagnostic::ExplicitDropMethodUse(it) => {
            let (file, node) = match it.expr_or_path {
                Either::Left(it) => {
                    (it.file_id, it.value.to_node(&cx.sema.parse_or_expand(it.file_id)).name_ref()?.syntax().clone())
                }
                Either::Right(it) => {
                    (it.file_id, it.value.to_node(&cx.sema.parse_or_expand(it.file_id)).syntax().clone())
                }
            };
            let message = "explicit use of a destructor: call `drop(value)` instead".to_owned();
            diagnostic_at(cx, InFile::new(file, SyntaxNodePtr::new(&node)), Code::E0040, message)
        }
        AnyDiagnostic::InvalidRangePatType(it) => {
            let message = "only `char` and numeric types are allowed in range patterns".to_owned();
            diagnostic_at(cx, it.pat.map(AstPtr::into), Code::E0029, message)
        }
        AnyDiagnostic::CannotImplicitlyDerefTraitObject(it) => {
            let message = format!("type `{}` cannot be dereferenced by a pattern", ty(&it.found));
            diagnostic_at(cx, it.pat.map(AstPtr::into), Code::E0033, message)
        }
        AnyDiagnostic::FunctionalRecordUpdateOnNonStruct(it) => {
            let message = "functional record update syntax requires a struct".to_owned();
            diagnostic_at(cx, it.base_expr.map(AstPtr::into), Code::E0436, message)
        }
        AnyDiagnostic::ReturnOutsideFunction(it) => {
            diagnostic_at(cx, it.expr.map(AstPtr::into), Code::E0572, "return outside of a function".to_owned())
        }
        AnyDiagnostic::ExpectedArrayOrSlicePat(it) => {
            let message = format!("expected an array or slice, found `{}`", ty(&it.found));
            diagnostic_at(cx, it.pat.map(AstPtr::into), Code::E0529, message)
        }
        AnyDiagnostic::MismatchedArrayPatLen(it) => {
            let message = format!("pattern requires {} elements but the array has {}", it.found, it.expected);
            diagnostic_at(cx, it.pat.map(AstPtr::into), Code::E0527, message)
        }
        AnyDiagnostic::MissingUnsafe(it) => {
            if !matches!(it.lint, ra_ap_hir::UnsafeLint::HardError) {
                return None;
            }
            let message = "this is unsafe and requires an unsafe function or block".to_owned();
            diagnostic_at_salient(cx, it.node.map(AstPtr::into), Code::E0133, message)
        }
        AnyDiagnostic::AwaitOutsideOfAsync(it) => {
            let message = "`await` is only allowed inside `async` functions and blocks".to_owned();
            diagnostic_at(cx, it.node.map(|it| it.syntax_node_ptr()), Code::E0728, message)
        }
        AnyDiagnostic::BreakOutsideOfLoop(it) => {
            let what = if it.is_break { "break" } else { "continue" };
            diagnostic_at(
                cx,
                it.expr.map(AstPtr::into),
                Code::E0268,
                format!("`{what}` outside of a loop or labeled block"),
            )
        }
        AnyDiagnostic::InvalidLhsOfAssignment(it) => {
            // rust-analyzer checks only the left side of compound assignments.
            diagnostic_at(
                cx,
                it.lhs.map(|it| it.syntax_node_ptr()),
                Code::E0067,
                "this cannot be assigned to".to_owned(),
            )
        }
        AnyDiagnostic::UndeclaredLabel(it) => {
            let message = format!("use of undeclared label `{}`", it.name.display(cx.db, edition));
            diagnostic_at(cx, it.node.map(|it| it.syntax_node_ptr()), Code::E0426, message)
        }
        AnyDiagnostic::UnresolvedImport(it) => {
            diagnostic_at(cx, it.decl.map(|it| it.syntax_node_ptr()), Code::E0432, "unresolved import".to_owned())
        }
        AnyDiagnostic::MacroError(it) if nesting::is_too_long(&it.message) => {
            cx.note_stumble(Fault::Exhausted(Bound::Steps), || described(cx, body));
            return None;
        }
        AnyDiagnostic::MacroError(it) if it.error => {
            let range = cx.sema.diagnostics_display_range_for_range(it.range);
            RawDiagnostic::new(range, Code::Uncoded, it.message)
        }
        AnyDiagnostic::MacroExpansionParseError(it)
            if !it.errors.iter().any(|it| nesting::is_refusal(&it.to_string())) =>
        {
            let message = it.errors.iter().map(ToString::to_string).find(|of| !is_of_fragment(cx, of, it.range))?;
            RawDiagnostic::new(cx.sema.diagnostics_display_range_for_range(it.range), Code::Uncoded, message)
        }
        _ => return None,
    })
}

/// Whether a `cfg` switches off the code at a place: rust-analyzer overlooks those on calls of macros in bodies.
fn is_switched_off(cx: &Context<'_>, krate: Crate, at: InFile<TextRange>) -> bool {
    let around = cx.sema.parse_or_expand(at.file_id).covering_element(at.value);
    let conditions = around.ancestors().flat_map(|it| attributes_of(&it).collect::<Vec<_>>());
    let mut conditions = conditions.filter_map(|it| cfg_condition(&it));
    conditions.any(|it| krate.cfg(cx.db).check(&it) == Some(false))
}

/// Whether a node is in a closure without types that a literal gives to a field. The compiler takes the types of its
/// parameters from the bounds of the literal's type; rust-analyzer does not.
fn is_in_closure_of_field(node: &SyntaxNode) -> bool {
    let is_untyped =
        |it: &ast::ClosureExpr| it.param_list().into_iter().flat_map(|it| it.params()).any(|it| it.ty().is_none());
    let is_given =
        |it: &ast::ClosureExpr| it.syntax().parent().is_some_and(|it| ast::RecordExprField::can_cast(it.kind()));
    node.ancestors().filter_map(ast::ClosureExpr::cast).any(|it| is_given(&it) && is_untyped(&it))
}

/// Whether an error in an expansion comes of fragments that rust-analyzer reads as plain tokens, and the compiler as wholes:
/// no semicolon is needed behind a statement (`$it:stmt`), and `<` behind a type (`1 as $it << 2`) begins no arguments.
pub(crate) fn is_of_fragment(cx: &Context<'_>, message: &str, at: InFile<TextRange>) -> bool {
    let is_of_statement = message.ends_with("expected SEMICOLON");
    // The compiler takes attributes in the block that a macro makes.
    if message.ends_with("cannot accept inner attributes") {
        return at.file_id.is_macro() || message.contains(" in Expansion: ");
    }
    let is_of_type = message.ends_with("expected R_ANGLE") || message.ends_with("expected `::`");
    if !is_of_statement && !is_of_type {
        return false;
    }
    let around = cx.sema.parse_or_expand(at.file_id).covering_element(at.value);
    let mut calls = around.ancestors().filter_map(ast::MacroCall::cast);
    let Some(source) = calls.next().and_then(|it| cx.sema.resolve_macro_call(&it)).and_then(|it| it.source(cx.db))
    else {
        return false;
    };
    let source = match &source.value {
        Either::Left(it) => it.syntax(),
        Either::Right(it) => it.syntax(),
    };
    // A definition that a macro wrote has no blanks.
    let text = source.text().to_string().replace("as$", "as $");
    let mut casts = text
        .match_indices("as $")
        .map(|it| text[it.0 + 4..].trim_start_matches(|it: char| it.is_alphanumeric() || it == '_'));
    is_of_statement && words(&text).any(|it| it.1 == "stmt")
        || is_of_type && casts.any(|it| it.trim_start().starts_with('<'))
}

/// Whether what looks like arguments may be a comparison or a shift of a cast: see [`is_of_fragment`].
fn is_in_cast(arguments: &SyntaxNode) -> bool {
    let kinds = arguments.ancestors().skip(1).map(|it| it.kind());
    let is_of_path =
        |it: &SyntaxKind| matches!(it, SyntaxKind::PATH_SEGMENT | SyntaxKind::PATH | SyntaxKind::PATH_TYPE);
    kinds.into_iter().find(|it| !is_of_path(it)) == Some(SyntaxKind::CAST_EXPR)
}

fn receiver_at(cx: &Context<'_>, call: &UnresolvedMethodCall<'_>) -> Option<ast::Expr> {
    let node = call.expr.value.to_node(&cx.sema.parse_or_expand(call.expr.file_id));
    ast::MethodCallExpr::cast(node.syntax().clone())?.receiver()
}

/// Whether a method is asked of the result of the function around, of which the compiler knows only the traits.
fn is_of_own_result(cx: &Context<'_>, receiver: Option<ast::Expr>) -> bool {
    let Some(ast::Expr::CallExpr(call)) = receiver else { return false };
    let Some(ast::Expr::PathExpr(callee)) = call.expr() else { return false };
    let Some(PathResolution::Def(ModuleDef::Function(it))) = callee.path().and_then(|it| cx.sema.resolve_path(&it))
    else {
        return false;
    };
    let mut around = cx.sema.ancestors_with_macros(call.syntax().clone()).filter_map(ast::Fn::cast);
    around.any(|around| {
        let is_opaque = |it: &SyntaxNode| it.descendants().any(|it| ast::ImplTraitType::can_cast(it.kind()));
        around.ret_type().is_some_and(|it| is_opaque(it.syntax())) && cx.sema.to_def(&around) == Some(it)
    })
}

/// The compiler's code for a path that is not a value: a type may have that name, or the value is private. `None` for a
/// member of a type, which another rule reports.
fn code_of_unresolved(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Option<Code> {
    let Some(path) = node.children().find_map(ast::Path::cast) else { return Some(Code::E0425) };
    let first = std::iter::successors(Some(path.clone()), ast::Path::qualifier).last();
    if first.and_then(|it| it.segment()).is_some_and(|it| it.type_anchor().is_some()) {
        return None;
    }
    if let Some(PathResolution::Def(ModuleDef::Adt(_) | ModuleDef::TypeAlias(_) | ModuleDef::Trait(_))) =
        sema.resolve_path(&path)
    {
        return Some(Code::E0423);
    }
    let name = path.segment().and_then(|it| it.name_ref()?.ident_token());
    Some(if name.is_some_and(|it| lookup::is_there_unseen(sema, &it)) { Code::E0603 } else { Code::E0425 })
}

/// The only argument of a call that has a type: the compiler names it where a bound on that type is not met.
fn argument_of_type(cx: &Context<'_>, call: InFile<SyntaxNodePtr>, wanted: &Type<'_>) -> Option<InFile<SyntaxNodePtr>> {
    let node = call.value.to_node(&cx.sema.parse_or_expand(call.file_id));
    let around = match ast::PathExpr::cast(node.clone()) {
        Some(callee) => callee.syntax().parent()?,
        None => node,
    };
    let list = ast::CallExpr::cast(around.clone()).and_then(|it| it.arg_list());
    let list = list.or_else(|| ast::MethodCallExpr::cast(around)?.arg_list())?;
    let mut alike = list.args().filter(|it| {
        cx.sema.type_of_expr(it).is_some_and(|it| it.original.strip_references() == wanted.strip_references())
    });
    let only = alike.next().filter(|_| alike.next().is_none())?;
    Some(call.with_value(SyntaxNodePtr::new(only.syntax())))
}

/// The code for a function or closure with different parameters than required.
fn code_of_callable<'db>(db: &'db RootDatabase, wanted: &TraitRef<'db>) -> Option<Code> {
    let name = wanted.trait_().name(db);
    let is_call = matches!(name.as_str(), "Fn" | "FnMut" | "FnOnce");
    let arguments = wanted.get_type_argument(1).filter(|it| is_call && it.is_tuple())?;
    let callable = wanted.get_type_argument(0)?.as_callable(db)?;
    let takes = callable.params().len();
    Some(if takes == arguments.tuple_fields(db).len() { Code::E0631 } else { Code::E0593 })
}

/// Whether a type is an associated type of a `dyn Trait` that does not give it: the compiler reports where that is
/// written.
fn is_member_of_object(shown: &str) -> bool {
    shown.contains("<dyn ") && shown.contains(" as ")
}

/// Whether the type is a `dyn Trait` of the trait itself, or of one that requires it. rust-analyzer requires each
/// associated type for that.
fn is_of_object<'db>(db: &'db RootDatabase, wanted: &TraitRef<'db>) -> bool {
    let object = wanted.get_type_argument(0).and_then(|it| it.strip_references().as_dyn_trait());
    object.is_some_and(|it| it.all_supertraits(db).contains(&wanted.trait_()))
}

/// Whether the type is an associated type for which the `where` clause of its trait has the bound. For the compiler
/// this holds wherever the trait is implemented.
fn is_implied(cx: &Context<'_>, wanted: &TraitRef<'_>) -> bool {
    let ty = wanted.self_ty();
    let clause = ty.as_associated_type_parent_trait(cx.db).and_then(|it| cx.sema.source(it)?.value.where_clause());
    let mut clauses = clause.into_iter().flat_map(|it| it.predicates()).filter(|it| {
        let of = it.ty().map(|it| it.syntax().text().to_string());
        of.is_some_and(|it| it.starts_with("Self::") || it.starts_with("<Self as "))
    });
    clauses.any(|it| bounds::traits_in(&cx.sema, it.type_bound_list()).contains(&wanted.trait_()))
}

/// Whether a tuple pattern names a struct or variant without fields.
fn is_pattern_of_unit(sema: &Semantics<'_, RootDatabase>, node: &InFile<SyntaxNodePtr>) -> bool {
    let node = node.value.to_node(&sema.parse_or_expand(node.file_id));
    let path = ast::TupleStructPat::cast(node).and_then(|it| it.path());
    match path.and_then(|it| sema.resolve_path(&it)) {
        Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => it.kind(sema.db) == StructKind::Unit,
        Some(PathResolution::Def(ModuleDef::Adt(Adt::Struct(it)))) => it.kind(sema.db) == StructKind::Unit,
        _ => false,
    }
}

/// Whether a field is in a record pattern for a tuple variant. If the pattern omits fields, the compiler reports only
/// the names.
fn is_record_of_tuple(sema: &Semantics<'_, RootDatabase>, field: &SyntaxNode) -> bool {
    let Some(pattern) = field.ancestors().find_map(ast::RecordPat::cast) else { return false };
    let is_whole = pattern.record_pat_field_list().is_some_and(|it| it.rest_pat().is_none());
    match pattern.path().filter(|_| is_whole).and_then(|it| sema.resolve_path(&it)) {
        Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => it.kind(sema.db) == StructKind::Tuple,
        _ => false,
    }
}

/// Whether a body ends with the call of an unresolved macro: its type is unknown.
fn ends_in_unknown_macro(sema: &Semantics<'_, RootDatabase>, node: &InFile<SyntaxNodePtr>) -> bool {
    let node = node.value.to_node(&sema.parse_or_expand(node.file_id));
    let last = ast::BlockExpr::cast(node).and_then(|it| it.stmt_list()).and_then(|it| it.syntax().last_child());
    let call = last.and_then(|it| {
        it.descendants().find_map(ast::MacroCall::cast).filter(|call| call.syntax().text_range() == it.text_range())
    });
    call.is_some_and(|it| sema.resolve_macro_call(&it).is_none())
}

/// Whether an `impl` block in a body may meet a bound, or one that it comes from.
fn is_met_in_body(cx: &Context<'_>, error: &UnimplementedTrait<'_>) -> bool {
    let mut bounds = std::iter::once(&error.trait_predicate).chain(&error.parent_trait_predicates);
    bounds.any(|it| {
        let of = it.trait_ref();
        let ty = of.self_ty();
        body_impls::may_implement(cx, of.trait_(), &ty) || body_impls::is_of_hidden(cx, &ty)
    })
}

/// Whether the type has the method all the same: it was not known yet when the method was looked up, because of
/// something else.
fn has_method<'db>(sema: &Semantics<'db, RootDatabase>, call: &UnresolvedMethodCall<'db>) -> bool {
    let node = call.expr.value.to_node(&sema.parse_or_expand(call.expr.file_id));
    let Some(scope) = sema.scope(node.syntax()) else { return false };
    let receiver = call.receiver.strip_references();
    let object = receiver.as_dyn_trait();
    // Such a type has only what its bounds provide.
    let is_parameter = receiver.as_type_param(sema.db).is_some() || receiver.as_impl_traits(sema.db).is_some();
    let has_it = |it: Function| match it.self_param(sema.db).and(it.as_assoc_item(sema.db))?.container(sema.db) {
        AssocItemContainer::Impl(of) if of.trait_(sema.db).is_none() => Some(()),
        AssocItemContainer::Trait(of) if Some(of) == object || is_parameter => Some(()),
        AssocItemContainer::Trait(of) if of.type_or_const_param_count(sema.db, false) == 0 => {
            receiver.impls_trait(sema.db, of, &[]).then_some(())
        }
        _ => None,
    };
    call.receiver.iterate_method_candidates(sema.db, &scope, Some(&call.name), has_it).is_some()
}

/// The result type of a function whose body has no final expression.
fn result_of_unending(sema: &Semantics<'_, RootDatabase>, node: &InFile<SyntaxNodePtr>) -> Option<FileRange> {
    let root = sema.parse_or_expand(node.file_id);
    let block = ast::BlockExpr::cast(node.value.to_node(&root)).filter(|it| it.tail_expr().is_none())?;
    let result = ast::Fn::cast(block.syntax().parent()?)?.ret_type()?.ty()?;
    let range = sema.original_range_opt(result.syntax())?;
    Some(FileRange { file_id: range.file_id.file_id(sema.db), range: range.range })
}

fn diagnostic_at(cx: &Context<'_>, node: InFile<SyntaxNodePtr>, code: Code, message: String) -> RawDiagnostic {
    let range = places::reported_at(cx, node.map(|it| it.text_range()));
    RawDiagnostic::new(range, code, message)
}

/// The diagnostic of a long expression, at its significant token.
pub(crate) fn diagnostic_at_salient(
    cx: &Context<'_>,
    node: InFile<SyntaxNodePtr>,
    code: Code,
    message: String,
) -> RawDiagnostic {
    let expression = ast::Expr::cast(node.value.to_node(&cx.sema.parse_or_expand(node.file_id)));
    let Some((expression, salient)) = expression.and_then(|it| Some((it.clone(), salient(&it)?))) else {
        return diagnostic_at(cx, node, code, message);
    };
    let at = InFile::new(node.file_id, salient);
    // For an unresolved member its name is reported; otherwise the whole expression, of which a macro may have received
    // only that token.
    let is_member = matches!(expression, ast::Expr::MethodCallExpr(_) | ast::Expr::FieldExpr(_));
    let whole = node.map(|it| it.text_range());
    let written = places::where_written(cx, at).or_else(|| match is_member && code != Code::E0308 {
        true => None,
        false => places::where_written(cx, whole),
    });
    let range = written.unwrap_or_else(|| places::reported_at(cx, at));
    RawDiagnostic::new(range, code, message)
}

fn text_at(cx: &Context<'_>, file: FileId, range: TextRange) -> String {
    let at = span(range);
    cx.file(file).and_then(|it| it.text.get(at.start..at.end).map(str::to_owned)).unwrap_or_default()
}

/// The message for a call with the wrong number of arguments.
pub(crate) fn takes(expected: usize, found: usize) -> String {
    let given = if found == 1 { "1 was".to_owned() } else { format!("{found} were") };
    format!("this takes {}, but {given} given", counted(expected, "argument"))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
