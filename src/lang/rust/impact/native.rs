//! What rust-analyzer says of one body, in the compiler's terms. The language server asks for whole files; an edit
//! concerns single bodies, and these are asked here.

use ra_ap_hir::{
    Adt, AnyDiagnostic, AsAssocItem as _, AssocItemContainer, Const, DefWithBody, Function, GenericDef,
    HirDisplay as _, InFile, ModuleDef, PathResolution, StructKind, TraitRef, Type, UnresolvedMethodCall, VariantId,
};
use ra_ap_ide::{FileId, FileRange, TextRange};
use ra_ap_syntax::{AstNode as _, AstPtr, SyntaxNode, SyntaxNodePtr, ast};

use super::code::{Code, Phase};
use super::finding::{Finding, RawDiagnostic, Subject};
use super::places::salient;
use super::rules::RuleId;
use crate::lang::rust::ENGINE;
use crate::lang::rust::syntax::nesting;
use crate::lang::rust::view::{Context, span, unless_at_fault};
use crate::model::{Place, Severity};

impl<'db> Context<'db> {
    /// The errors in a body and in the generics of what it belongs to. A body that rust-analyzer stumbles over tells
    /// none, and the others still do.
    pub(super) fn errors_in(&self, body: DefWithBody, with_operators: bool) -> Vec<Finding> {
        unless_at_fault(|| self.errors_of_body(body, with_operators)).unwrap_or_default()
    }

    fn errors_of_body(&self, body: DefWithBody, types_differ: bool) -> Vec<Finding> {
        let mut found: Vec<RawDiagnostic> = Vec::new();
        self.ask_of_body(body, false, &mut found);
        if let Some(source) = self.body_syntax(body) {
            self.ask_of_nodes(&source, types_differ, &mut found);
            self.without_error_types(&source, &mut found);
            self.without_later_arms(&source, &mut found);
            found.retain(|it| it.code != Code::E0599 || !self.is_at_derive(it));
        }
        // Of patterns the compiler speaks when there is nothing else.
        let is_late = |it: &RawDiagnostic| it.code.phase() == Phase::Patterns;
        if found.iter().any(|it| !is_late(it) && it.code != Code::E0282) {
            found.retain(|it| !is_late(it));
        }
        self.ask_of_body(body, true, &mut found);
        // That a type is not known follows from whatever else is wrong.
        let is_alone = found.iter().all(|it| it.code == Code::E0282);
        let found = found.into_iter().filter(|it| is_alone || it.code != Code::E0282);
        let mut errors: Vec<Finding> = found.filter_map(|it| self.placed(it)).collect();
        errors.sort();
        errors.dedup();
        errors
    }

    /// What rust-analyzer itself says of a body.
    pub(super) fn native_errors(&self, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
        let mut found = Vec::new();
        if let DefWithBody::Function(function) = body {
            GenericDef::Function(function).diagnostics(self.db, &mut found);
        }
        // It stumbles over patterns, after it has told of types.
        unless_at_fault(|| body.diagnostics(self.db, &mut found, false));
        // The compiler does not miss fields where it does not know those that are there.
        let strange: Vec<_> = found
            .iter()
            .filter_map(|it| match it {
                AnyDiagnostic::NoSuchField(it) => {
                    Some((it.field.file_id, it.field.value.syntax_node_ptr().text_range()))
                }
                _ => None,
            })
            .collect();
        found.retain(|it| match it {
            AnyDiagnostic::MissingFields(it) => {
                let whole = it.field_list_parent.syntax_node_ptr().text_range();
                !strange.iter().any(|(file, range)| *file == it.file && whole.contains_range(*range))
            }
            _ => true,
        });
        out.extend(found.into_iter().filter_map(|it| self.tell(body, it)));
    }

    /// The constants that overflow: the body itself, or those in it.
    pub(super) fn overflows(&self, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
        let inner = || self.body_syntax(body).into_iter().flat_map(|it| it.descendants()).filter_map(ast::Const::cast);
        let constants: Vec<Const> = match body {
            DefWithBody::Const(it) => vec![it],
            DefWithBody::Function(_) => inner().filter_map(|it| self.sema.to_def(&it)).collect(),
            DefWithBody::Static(_) | DefWithBody::EnumVariant(_) => Vec::new(),
        };
        out.extend(constants.into_iter().filter_map(|it| self.overflow(it)));
    }

    pub(in crate::lang::rust) fn body_syntax(&self, body: DefWithBody) -> Option<SyntaxNode> {
        Some(match body {
            DefWithBody::Function(it) => self.sema.source(it)?.value.body()?.syntax().clone(),
            DefWithBody::Const(it) => self.sema.source(it)?.value.body()?.syntax().clone(),
            DefWithBody::Static(it) => self.sema.source(it)?.value.body()?.syntax().clone(),
            DefWithBody::EnumVariant(_) => return None,
        })
    }

    pub(super) fn placed(&self, found: RawDiagnostic) -> Option<Finding> {
        let RawDiagnostic { file, range, code, message, rule, subject } = found;
        let place = self.place(FileRange { file_id: file, range })?;
        Some(Finding { rule, subject, ..self.error_of(ENGINE, place, code, message) })
    }

    pub(in crate::lang::rust) fn error_of(
        &self,
        source: &'static str,
        place: Place,
        code: Code,
        message: String,
    ) -> Finding {
        let own = self.files.get(&place.file).zip(self.file_id(&place.file));
        Finding {
            symbol: own.and_then(|(file, id)| self.enclosing_path(file, id, place.start)),
            place,
            severity: Severity::Error,
            code,
            message,
            source,
            rule: RuleId::RustAnalyzer,
            subject: Subject::None,
        }
    }

    /// `None` for what is no error of the compiler's, or says nothing.
    fn tell(&self, body: DefWithBody, diagnostic: AnyDiagnostic<'db>) -> Option<RawDiagnostic> {
        let krate = body.module(self.db).krate(self.db);
        let target = krate.to_display_target(self.db);
        let edition = krate.edition(self.db);
        let ty = |it: &Type<'db>| it.display(self.db, target).to_string();
        Some(match diagnostic {
            AnyDiagnostic::TypeMismatch(it) => {
                if it.expected.is_unknown() || it.actual.is_unknown() {
                    return None;
                }
                let (expected, actual) = (ty(&it.expected), ty(&it.actual));
                // Nothing can be said of what belongs to a type that is not known, nor of lengths that are not told.
                let is_unclear = |it: &String| it.contains("<{unknown} as");
                if expected == actual || is_unclear(&expected) || is_unclear(&actual) {
                    return None;
                }
                let message = format!("mismatched types: expected `{expected}`, found `{actual}`");
                let node: InFile<SyntaxNodePtr> = it.expr_or_pat.map(AstPtr::into);
                if self.ends_in_unknown_macro(&node) {
                    return None;
                }
                match self.result_of_unending(&node) {
                    Some(range) => RawDiagnostic::new(range, Code::E0308, message),
                    None => self.at_salient(node, Code::E0308, message),
                }
            }
            AnyDiagnostic::MismatchedArgCount(it) => {
                let code = if it.is_fn_trait_call { Code::E0057 } else { Code::E0061 };
                self.at_salient(it.call_expr.map(AstPtr::into), code, takes(it.expected, it.found))
            }
            AnyDiagnostic::MismatchedTupleStructPatArgCount(it) => {
                let expected = counted(it.expected, "field");
                let message = format!("this pattern has {}, but the tuple has {expected}", counted(it.found, "field"));
                let node: InFile<SyntaxNodePtr> = it.expr_or_pat.map(AstPtr::into);
                let code = if self.is_pattern_of_unit(&node) { Code::E0532 } else { Code::E0023 };
                self.at(node, code, message)
            }
            // A type that is gone is not missed in what its values would have done.
            AnyDiagnostic::UnresolvedMethodCall(it) if it.receiver.strip_references().is_never() => return None,
            AnyDiagnostic::UnresolvedField(it) if it.receiver.strip_references().is_never() => return None,
            AnyDiagnostic::UnresolvedMethodCall(it) if self.leads_to_unknown(&it.receiver) => return None,
            AnyDiagnostic::UnresolvedMethodCall(it) if self.has_method(&it) => return None,
            AnyDiagnostic::UnresolvedMethodCall(it) => {
                let name = it.name.display(self.db, edition);
                let receiver = ty(&it.receiver);
                let message = format!("no method `{name}` found for type `{receiver}`");
                self.at_salient(it.expr.map(AstPtr::into), Code::E0599, message).about(Subject::Member { receiver })
            }
            AnyDiagnostic::UnresolvedField(it) => {
                let (name, receiver) = (it.name.display(self.db, edition), ty(&it.receiver));
                match it.method_with_same_name_exists {
                    true => {
                        let message = format!("attempted to take value of method `{name}` on type `{receiver}`");
                        self.at_salient(it.expr.map(AstPtr::into), Code::E0615, message)
                    }
                    false => {
                        let message = format!("no field `{name}` on type `{receiver}`");
                        self.at_salient(it.expr.map(AstPtr::into), Code::E0609, message)
                    }
                }
            }
            AnyDiagnostic::UnresolvedAssocItem(it) => {
                let message = "no associated item of this name found".to_owned();
                let node = it.expr_or_pat.map(AstPtr::into);
                self.at(node, Code::E0599, message).about(Subject::Member { receiver: String::new() })
            }
            AnyDiagnostic::UnresolvedIdent(it) => {
                let (node, within) = it.node.value;
                let node: SyntaxNodePtr = node.into();
                let code = match within {
                    // A name in the text of a format string.
                    Some(_) => Code::E0425,
                    None => self.code_of_unresolved(&node.to_node(&self.sema.parse_or_expand(it.node.file_id)))?,
                };
                let told = self.at(InFile::new(it.node.file_id, node), code, String::new());
                let range = within.map_or(told.range, |within| within + told.range.start());
                let name = self.text_at(told.file, range);
                let message = match code {
                    Code::E0423 => format!("expected a value, found the type `{name}`"),
                    Code::E0603 => format!("`{name}` is private"),
                    _ => format!("cannot find `{name}` in this scope"),
                };
                RawDiagnostic { range, message, ..told }
            }
            AnyDiagnostic::UnresolvedMacroCall(it) => {
                let range = self.sema.diagnostics_display_range_for_range(it.range);
                let message = format!("cannot find macro `{}` in this scope", it.path.display(self.db, edition));
                RawDiagnostic::new(range, Code::Uncoded, message).about(Subject::Macro)
            }
            AnyDiagnostic::NoSuchField(it) => {
                let (code, message) = match (it.private.is_some(), it.variant) {
                    (true, _) => (Code::E0451, "this field is private"),
                    (false, VariantId::EnumVariantId(_)) => (Code::E0559, "the variant has no field of this name"),
                    (false, _) => (Code::E0560, "the struct has no field of this name"),
                };
                let ptr = it.field.map(|it| it.syntax_node_ptr());
                let is_pattern = ast::RecordPatField::can_cast(ptr.value.kind());
                let node = ptr.value.to_node(&self.sema.parse_or_expand(ptr.file_id));
                let code = match is_pattern && code != Code::E0451 {
                    true if self.is_record_of_tuple(&node) => Code::E0769,
                    true => Code::E0026,
                    false => code,
                };
                let name = node.children().find_map(ast::NameRef::cast).map(|it| it.syntax().text_range());
                let told = self.at(ptr, code, message.to_owned());
                match name.and_then(|name| self.where_written(ptr.with_value(name))) {
                    Some(at) => RawDiagnostic { file: at.file_id, range: at.range, ..told },
                    None => told,
                }
            }
            AnyDiagnostic::DuplicateField(it) => {
                self.at(it.field.map(|it| it.syntax_node_ptr()), Code::E0062, "this field is given twice".to_owned())
            }
            AnyDiagnostic::MissingFields(it) => {
                let names: Vec<String> =
                    it.missed_fields.iter().map(|(name, _)| format!("`{}`", name.display(self.db, edition))).collect();
                let is_pattern = ast::RecordPat::can_cast(it.field_list_parent.syntax_node_ptr().kind());
                let (code, what) =
                    if is_pattern { (Code::E0027, "the pattern") } else { (Code::E0063, "the initializer") };
                let path = it.field_list_parent_path.map(|it| it.syntax_node_ptr());
                let ptr = path.unwrap_or_else(|| it.field_list_parent.syntax_node_ptr());
                self.at(InFile::new(it.file, ptr), code, format!("missing in {what}: {}", names.join(", ")))
            }
            AnyDiagnostic::MissingMatchArms(it) => {
                let message = format!("non-exhaustive patterns: {}", it.uncovered_patterns);
                self.unmatched(it.scrutinee_expr, message)
            }
            AnyDiagnostic::NonExhaustiveLet(it) => {
                let message = format!("refutable pattern in local binding: {}", it.uncovered_patterns);
                self.at(it.pat.map(|it| it.syntax_node_ptr()), Code::E0005, message)
            }
            AnyDiagnostic::NonExhaustiveRecordExpr(it) => {
                let message = "a struct that is `#[non_exhaustive]` cannot be made here".to_owned();
                self.at(it.expr.map(AstPtr::into), Code::E0639, message)
            }
            AnyDiagnostic::NonExhaustiveRecordPat(it) => self.at(
                it.pat.map(AstPtr::into),
                Code::E0638,
                "`..` is required here: it is `#[non_exhaustive]`".to_owned(),
            ),
            AnyDiagnostic::PrivateField(it) => {
                let name = it.field.name(self.db);
                let message = format!("field `{}` is private", name.display(self.db, edition));
                self.at_salient(it.expr.map(AstPtr::into), Code::E0616, message)
            }
            AnyDiagnostic::PrivateAssocItem(it) => {
                let name = it.item.name(self.db).map(|it| it.display(self.db, edition).to_string());
                let message = format!("`{}` is private", name.unwrap_or_default());
                self.at_salient(it.expr_or_pat.map(AstPtr::into), Code::E0624, message)
            }
            AnyDiagnostic::UnimplementedTrait(it) => {
                let bound = it.trait_predicate.display(self.db, target).to_string();
                if bound.contains("{unknown}") || bound.contains('!') {
                    return None;
                }
                let node = it.span.map(|it| it.syntax_node_ptr());
                let message = format!("the trait bound `{bound}` is not satisfied");
                let code = self.code_of_callable(&it.trait_predicate.trait_ref()).unwrap_or(Code::E0277);
                self.at_salient(node, code, message).about(Subject::of_predicate(&bound))
            }
            AnyDiagnostic::TypeMustBeKnown(it) => {
                self.at(it.at_point.map(|it| it.syntax_node_ptr()), Code::E0282, "type annotations needed".to_owned())
            }
            AnyDiagnostic::IncorrectGenericsLen(it) => {
                let message = format!(
                    "this takes {}, but {} given",
                    counted(it.expected as usize, "generic argument"),
                    it.provided
                );
                self.at(it.generics_or_segment.map(|it| it.syntax_node_ptr()), Code::E0107, message)
            }
            AnyDiagnostic::GenericArgsProhibited(it) => {
                let ptr = it.args.map(|it| it.syntax_node_ptr());
                self.at(ptr, Code::E0109, "generic arguments are not allowed here".to_owned())
            }
            AnyDiagnostic::MissingLifetime(it) => {
                let ptr = it.generics_or_segment.map(|it| it.syntax_node_ptr());
                self.at(ptr, Code::E0106, "missing lifetime specifier".to_owned())
            }
            AnyDiagnostic::ExpectedFunction(it) => {
                let message = format!("expected function, found `{}`", ty(&it.found));
                self.at(it.call.map(AstPtr::into), Code::E0618, message)
            }
            AnyDiagnostic::CannotBeDereferenced(it) => {
                let message = format!("type `{}` cannot be dereferenced", ty(&it.found));
                self.at(it.expr.map(AstPtr::into), Code::E0614, message)
            }
            AnyDiagnostic::CannotIndexInto(it) => {
                let message = format!("cannot index into a value of type `{}`", ty(&it.found));
                self.at(it.expr.map(AstPtr::into), Code::E0608, message)
            }
            AnyDiagnostic::InvalidCast(it) => {
                let message = format!("casting `{}` as `{}` is invalid", ty(&it.expr_ty), ty(&it.cast_ty));
                self.at(it.expr.map(AstPtr::into), Code::E0606, message)
            }
            AnyDiagnostic::CastToUnsized(it) => {
                let message = format!("cast to unsized type `{}`", ty(&it.cast_ty));
                self.at(it.expr.map(AstPtr::into), Code::E0620, message)
            }
            AnyDiagnostic::ExpectedArrayOrSlicePat(it) => {
                let message = format!("expected an array or slice, found `{}`", ty(&it.found));
                self.at(it.pat.map(AstPtr::into), Code::E0529, message)
            }
            AnyDiagnostic::MismatchedArrayPatLen(it) => {
                let message = format!("pattern requires {} elements but the array has {}", it.found, it.expected);
                self.at(it.pat.map(AstPtr::into), Code::E0527, message)
            }
            AnyDiagnostic::MissingUnsafe(it) => {
                if !matches!(it.lint, ra_ap_hir::UnsafeLint::HardError) {
                    return None;
                }
                let message = "this is unsafe and requires an unsafe function or block".to_owned();
                self.at_salient(it.node.map(AstPtr::into), Code::E0133, message)
            }
            AnyDiagnostic::AwaitOutsideOfAsync(it) => {
                let message = "`await` is only allowed inside `async` functions and blocks".to_owned();
                self.at(it.node.map(|it| it.syntax_node_ptr()), Code::E0728, message)
            }
            AnyDiagnostic::BreakOutsideOfLoop(it) => {
                let what = if it.is_break { "break" } else { "continue" };
                self.at(it.expr.map(AstPtr::into), Code::E0268, format!("`{what}` outside of a loop or labeled block"))
            }
            AnyDiagnostic::InvalidLhsOfAssignment(it) => {
                // rust-analyzer looks at the left side of compound assignments alone.
                self.at(it.lhs.map(|it| it.syntax_node_ptr()), Code::E0067, "this cannot be assigned to".to_owned())
            }
            AnyDiagnostic::UndeclaredLabel(it) => {
                let message = format!("use of undeclared label `{}`", it.name.display(self.db, edition));
                self.at(it.node.map(|it| it.syntax_node_ptr()), Code::E0426, message)
            }
            AnyDiagnostic::UnresolvedImport(it) => {
                self.at(it.decl.map(|it| it.syntax_node_ptr()), Code::E0432, "unresolved import".to_owned())
            }
            AnyDiagnostic::MacroError(it) if it.error => {
                let range = self.sema.diagnostics_display_range_for_range(it.range);
                RawDiagnostic::new(range, Code::Uncoded, it.message)
            }
            AnyDiagnostic::MacroExpansionParseError(it)
                if !it.errors.iter().any(|it| nesting::is_refusal(&it.to_string())) =>
            {
                let range = self.sema.diagnostics_display_range_for_range(it.range);
                let message = it.errors.first().map(ToString::to_string).unwrap_or_default();
                RawDiagnostic::new(range, Code::Uncoded, message)
            }
            _ => return None,
        })
    }

    /// What the compiler says of a path that names no value: there may be a type by that name, or a value that is private.
    /// `None` where a member of a type is looked for, of which more is said elsewhere.
    fn code_of_unresolved(&self, node: &SyntaxNode) -> Option<Code> {
        let Some(path) = node.children().find_map(ast::Path::cast) else { return Some(Code::E0425) };
        let first = std::iter::successors(Some(path.clone()), ast::Path::qualifier).last();
        if first.and_then(|it| it.segment()).is_some_and(|it| it.type_anchor().is_some()) {
            return None;
        }
        if let Some(PathResolution::Def(ModuleDef::Adt(_) | ModuleDef::TypeAlias(_) | ModuleDef::Trait(_))) =
            self.sema.resolve_path(&path)
        {
            return Some(Code::E0423);
        }
        let name = path.segment().and_then(|it| it.name_ref()?.ident_token());
        Some(if name.is_some_and(|it| self.is_there_unseen(&it)) { Code::E0603 } else { Code::E0425 })
    }

    /// The code of a function or closure that takes other arguments than are asked for.
    fn code_of_callable(&self, wanted: &TraitRef<'db>) -> Option<Code> {
        let name = wanted.trait_().name(self.db);
        let is_call = matches!(name.as_str(), "Fn" | "FnMut" | "FnOnce");
        let arguments = wanted.get_type_argument(1).filter(|it| is_call && it.is_tuple())?;
        let callable = wanted.get_type_argument(0)?.as_callable(self.db)?;
        let takes = callable.params().len();
        Some(if takes == arguments.tuple_fields(self.db).len() { Code::E0631 } else { Code::E0593 })
    }

    /// Whether a tuple pattern is that of a struct or a variant without fields.
    fn is_pattern_of_unit(&self, node: &InFile<SyntaxNodePtr>) -> bool {
        let node = node.value.to_node(&self.sema.parse_or_expand(node.file_id));
        let path = ast::TupleStructPat::cast(node).and_then(|it| it.path());
        match path.and_then(|it| self.sema.resolve_path(&it)) {
            Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => it.kind(self.db) == StructKind::Unit,
            Some(PathResolution::Def(ModuleDef::Adt(Adt::Struct(it)))) => it.kind(self.db) == StructKind::Unit,
            _ => false,
        }
    }

    /// Whether a field stands in a pattern with names of a variant whose fields have none. Where the pattern leaves fields
    /// out, the compiler misses the names alone.
    fn is_record_of_tuple(&self, field: &SyntaxNode) -> bool {
        let Some(pattern) = field.ancestors().find_map(ast::RecordPat::cast) else { return false };
        let is_whole = pattern.record_pat_field_list().is_some_and(|it| it.rest_pat().is_none());
        match pattern.path().filter(|_| is_whole).and_then(|it| self.sema.resolve_path(&it)) {
            Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => it.kind(self.db) == StructKind::Tuple,
            _ => false,
        }
    }

    /// Whether a body ends in the call of a macro that does not exist: nobody knows what it would have given.
    fn ends_in_unknown_macro(&self, node: &InFile<SyntaxNodePtr>) -> bool {
        let node = node.value.to_node(&self.sema.parse_or_expand(node.file_id));
        let last = ast::BlockExpr::cast(node).and_then(|it| it.stmt_list()).and_then(|it| it.syntax().last_child());
        let call = last.and_then(|it| {
            it.descendants().find_map(ast::MacroCall::cast).filter(|call| call.syntax().text_range() == it.text_range())
        });
        call.is_some_and(|it| self.sema.resolve_macro_call(&it).is_none())
    }

    /// Whether the type has the method all the same: it was not known yet where the method was looked for, for want of
    /// something else.
    fn has_method(&self, call: &UnresolvedMethodCall<'db>) -> bool {
        let node = call.expr.value.to_node(&self.sema.parse_or_expand(call.expr.file_id));
        let Some(scope) = self.sema.scope(node.syntax()) else { return false };
        let receiver = call.receiver.strip_references();
        let object = receiver.as_dyn_trait();
        // All that such a type has is what its bounds say.
        let is_parameter = receiver.as_type_param(self.db).is_some() || receiver.as_impl_traits(self.db).is_some();
        let has_it = |it: Function| match it.self_param(self.db).and(it.as_assoc_item(self.db))?.container(self.db) {
            AssocItemContainer::Impl(of) if of.trait_(self.db).is_none() => Some(()),
            AssocItemContainer::Trait(of) if Some(of) == object || is_parameter => Some(()),
            AssocItemContainer::Trait(of) if of.type_or_const_param_count(self.db, false) == 0 => {
                receiver.impls_trait(self.db, of, &[]).then_some(())
            }
            _ => None,
        };
        call.receiver.iterate_method_candidates(self.db, &scope, Some(&call.name), has_it).is_some()
    }

    /// Of the body of a function that ends in no expression, the result that the function promises.
    fn result_of_unending(&self, node: &InFile<SyntaxNodePtr>) -> Option<FileRange> {
        let root = self.sema.parse_or_expand(node.file_id);
        let block = ast::BlockExpr::cast(node.value.to_node(&root)).filter(|it| it.tail_expr().is_none())?;
        let result = ast::Fn::cast(block.syntax().parent()?)?.ret_type()?.ty()?;
        let range = self.sema.original_range_opt(result.syntax())?;
        Some(FileRange { file_id: range.file_id.file_id(self.db), range: range.range })
    }

    fn at(&self, node: InFile<SyntaxNodePtr>, code: Code, message: String) -> RawDiagnostic {
        let range = self.told_at(node.map(|it| it.text_range()));
        RawDiagnostic::new(range, code, message)
    }

    /// Where an expression is long, at the token that matters.
    fn at_salient(&self, node: InFile<SyntaxNodePtr>, code: Code, message: String) -> RawDiagnostic {
        let expression = ast::Expr::cast(node.value.to_node(&self.sema.parse_or_expand(node.file_id)));
        let Some((expression, salient)) = expression.and_then(|it| Some((it.clone(), salient(&it)?))) else {
            return self.at(node, code, message);
        };
        let at = InFile::new(node.file_id, salient);
        // Of a member that is missed its name is told, else the whole, of which a macro may be given that token alone.
        let is_member = matches!(expression, ast::Expr::MethodCallExpr(_) | ast::Expr::FieldExpr(_));
        let whole = node.map(|it| it.text_range());
        let written = self.where_written(at).or_else(|| match is_member && code != Code::E0308 {
            true => None,
            false => self.where_written(whole),
        });
        let range = written.unwrap_or_else(|| self.told_at(at));
        RawDiagnostic::new(range, code, message)
    }

    fn text_at(&self, file: FileId, range: TextRange) -> String {
        let at = span(range);
        self.file(file).and_then(|it| it.text.get(at.start..at.end).map(str::to_owned)).unwrap_or_default()
    }
}

/// Of a call with the wrong number of arguments.
pub(super) fn takes(expected: usize, found: usize) -> String {
    let given = if found == 1 { "1 was".to_owned() } else { format!("{found} were") };
    format!("this takes {}, but {given} given", counted(expected, "argument"))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
