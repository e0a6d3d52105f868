//! An implementation against its trait: what rust-analyzer leaves to the compiler.
//!
//! Both fitted before the change. So a part of a signature that is written differently on the two sides is an error
//! only if the change touched it on one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ra_ap_hir::{AssocItem, Const, Function, HasSource as _, HirDisplay as _, Impl, Semantics, Trait, Type, TypeAlias};
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_syntax::ast::{self, HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::code::Code;
use super::finding::{Finding, Subject};
use super::generics::given;
use super::rules::TraitImpl;
use crate::lang::files::File;
use crate::lang::rust::view::{Context, span};
use crate::model::Place;

/// A function's signature as it is written, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    receiver: Option<String>,
    params: Vec<String>,
    result: String,
    /// Of types and constants, as written; `impl Trait` in a parameter is one too.
    generics: usize,
    is_async: bool,
    is_unsafe: bool,
}

pub(super) fn shape_at(sema: &Semantics<'_, RootDatabase>, function: Function) -> Option<Shape> {
    Some(shape(&sema.source(function)?.value))
}

fn shape(function: &ast::Fn) -> Shape {
    let list = function.param_list();
    let params = list.iter().flat_map(|it| it.params());
    let params: Vec<String> = params.map(|it| it.ty().map(|it| written(it.syntax())).unwrap_or_default()).collect();
    let own = function.generic_param_list();
    let generics = own.iter().flat_map(|it| it.type_or_const_params()).count();
    Shape {
        receiver: list.and_then(|it| it.self_param()).map(|it| receiver(&it)),
        generics: generics + params.iter().filter(|it| it.starts_with("impl ")).count(),
        params,
        result: function.ret_type().and_then(|it| it.ty()).map(|it| written(it.syntax())).unwrap_or_default(),
        is_async: function.async_token().is_some(),
        is_unsafe: function.unsafe_token().is_some(),
    }
}

/// `mut` binds, and is no part of the type.
fn receiver(it: &ast::SelfParam) -> String {
    match it.ty() {
        Some(ty) => written(ty.syntax()),
        None => match (it.amp_token().is_some(), it.mut_token().is_some()) {
            (true, true) => "&mut self".to_owned(),
            (true, false) => "&self".to_owned(),
            (false, _) => "self".to_owned(),
        },
    }
}

fn written(node: &SyntaxNode) -> String {
    let tokens = node.descendants_with_tokens().filter_map(|it| it.into_token());
    let words: Vec<String> = tokens.filter(|it| !it.kind().is_trivia()).map(|it| it.text().to_owned()).collect();
    words.join(" ")
}

/// What functions were, by the places of their names now.
pub(super) type Shapes = BTreeMap<(Arc<str>, usize), Shape>;

impl<'db> Context<'db> {
    /// What does not fit between the implementation whose name stands there and its trait. `shapes` are what the
    /// functions that the edit changed were before, by the places of their names now.
    pub(super) fn misfits(&self, file: &Arc<File>, offset: usize, shapes: &Shapes) -> Vec<Finding> {
        let Some(id) = self.file_id(&file.path) else { return Vec::new() };
        match self.impl_at(id, offset) {
            Some(block) => self.misfits_in(file, block, shapes),
            None => {
                let mut found: Vec<Finding> =
                    self.made_blocks(id, offset).into_iter().flat_map(|it| self.misfits_in(file, it, shapes)).collect();
                // The calls of a macro are alike.
                found.dedup_by(|a, b| a.place == b.place);
                found
            }
        }
    }

    /// The implementations that a call of a macro makes.
    fn made_blocks(&self, file: FileId, offset: usize) -> Vec<Impl> {
        let call = self.macro_call_at(file, offset).and_then(|it| self.sema.expand_macro_call(&it));
        let mut blocks = Vec::new();
        if let Some(expansion) = call {
            self.in_expansions(&expansion.value, &mut |node| blocks.extend(ast::Impl::cast(node.clone())));
        }
        blocks.into_iter().filter_map(|it| self.sema.to_def(&it)).collect()
    }

    fn misfits_in(&self, file: &Arc<File>, block: Impl, shapes: &Shapes) -> Vec<Finding> {
        let of = block.trait_(self.db).filter(|_| !block.is_negative(self.db));
        of.map(|of| self.ask_of_impl(&TraitImpl { file, block, of, shapes })).unwrap_or_default()
    }

    pub(super) fn unfit_impl_items(&self, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
        for own in it.block.items(self.db) {
            let same = it.of.items(self.db).into_iter().find(|it| is_same(*it, own, self.db));
            match (own, same) {
                (AssocItem::Function(own), Some(AssocItem::Function(declared))) => {
                    found.extend(self.misfit(own, declared, it.shapes));
                }
                (AssocItem::Const(own), Some(AssocItem::Const(declared))) => {
                    found.extend(self.unfit_constant(own, declared));
                }
                (AssocItem::TypeAlias(own), Some(AssocItem::TypeAlias(declared))) => {
                    found.extend(self.unfit_alias(own, declared));
                }
                (_, Some(_)) => {}
                (own, None) => found.extend(self.redundant(own, it.of)),
            }
        }
    }

    pub(super) fn unfit_impl_head(&self, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
        found.extend(self.header(it.file, it.block).and_then(|at| self.unfit_header(at, it.block, it.of)));
    }

    pub(super) fn missing_items(&self, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
        let TraitImpl { file, block, of, .. } = *it;
        let own = block.items(self.db);
        let is_missing = |it: &AssocItem| {
            let required = match it {
                AssocItem::Function(it) => !it.has_body(self.db),
                AssocItem::Const(it) => it.value(self.db).is_none(),
                AssocItem::TypeAlias(it) => it.source(self.db).is_some_and(|it| it.value.ty().is_none()),
            };
            required && !own.iter().any(|own| is_same(*it, *own, self.db))
        };
        let missing: Vec<String> = of
            .items(self.db)
            .into_iter()
            .filter(is_missing)
            .filter_map(|it| it.name(self.db))
            .map(|it| format!("`{}`", it.as_str()))
            .collect();
        let Some(place) = self.header(file, block).filter(|_| !missing.is_empty()) else { return };
        let message = format!("not all trait items implemented, missing: {}", missing.join(", "));
        found.push(self.error(place, Code::E0046, message));
    }

    fn header(&self, file: &Arc<File>, block: Impl) -> Option<Place> {
        let source = self.sema.source(block)?;
        let header = source.value.trait_()?;
        if source.file_id.macro_file().is_some() {
            return self.place(self.told_range(header.syntax()));
        }
        Some(file.lines().place(&file.path, span(header.syntax().text_range())))
    }

    fn redundant(&self, own: AssocItem, of: Trait) -> Option<Finding> {
        let (code, what) = match own {
            AssocItem::Function(_) => (Code::E0407, "method"),
            AssocItem::TypeAlias(_) => (Code::E0437, "type"),
            AssocItem::Const(_) => (Code::E0438, "const"),
        };
        let name = match own {
            AssocItem::Function(it) => self.sema.source(it)?.value.name(),
            AssocItem::TypeAlias(it) => self.sema.source(it)?.value.name(),
            AssocItem::Const(it) => self.sema.source(it)?.value.name(),
        };
        let place = self.place(self.told_range(name?.syntax()))?;
        let (name, of) = (own.name(self.db)?, of.name(self.db));
        Some(self.error(place, code, format!("{what} `{}` is not a member of trait `{}`", name.as_str(), of.as_str())))
    }

    fn misfit(&self, own: Function, declared: Function, shapes: &Shapes) -> Option<Finding> {
        let before = |it: Function| {
            let target = it.try_to_nav(&self.sema)?.call_site;
            let file = self.name_of(target.file_id)?;
            shapes.get(&(file.into(), span(target.focus_or_full_range()).start)).cloned()
        };
        let (own_before, declared_before) = (before(own), before(declared));
        if own_before.is_none() && declared_before.is_none() {
            return None;
        }
        let source = self.sema.source(own)?;
        let (here, there) = (shape(&source.value), shape_at(&self.sema, declared)?);
        let (own_before, declared_before) =
            (own_before.unwrap_or_else(|| here.clone()), declared_before.unwrap_or_else(|| there.clone()));
        let at = |node: Option<&SyntaxNode>| {
            let name = source.value.name()?;
            self.place(self.told_range(node.unwrap_or_else(|| name.syntax())))
        };
        let name = own.name(self.db);
        let name = name.as_str();
        let list = source.value.param_list();
        let list_node = list.as_ref().map(|it| it.syntax().clone());
        let (code, node, message) = match (&here.receiver, &there.receiver) {
            (Some(_), None) => {
                (Code::E0185, list_node, format!("method `{name}` has a `self` in the impl, but not in the trait"))
            }
            (None, Some(_)) => {
                (Code::E0186, list_node, format!("method `{name}` has a `self` in the trait, but not in the impl"))
            }
            _ if here.generics != there.generics => {
                let message =
                    format!("`{name}` has {} type parameters, the trait's has {}", here.generics, there.generics);
                (Code::E0049, None, message)
            }
            _ if here.params.len() != there.params.len() => {
                let (own, declared) = (here.params.len(), there.params.len());
                (Code::E0050, list_node, format!("`{name}` has {own} parameters, but the trait's has {declared}"))
            }
            _ if here.is_async != there.is_async
                && (own_before.is_async, declared_before.is_async) != (here.is_async, there.is_async) =>
            {
                let (own, declared) = (kind(here.is_async), kind(there.is_async));
                (Code::E0053, None, format!("`{name}` is {own}, but the trait's is {declared}"))
            }
            _ if here.is_unsafe != there.is_unsafe
                && (own_before.is_unsafe, declared_before.is_unsafe) != (here.is_unsafe, there.is_unsafe) =>
            {
                let safety = |it: bool| if it { "unsafe" } else { "safe" };
                let (own, declared) = (safety(here.is_unsafe), safety(there.is_unsafe));
                (Code::E0053, None, format!("`{name}` is {own}, but the trait's is {declared}"))
            }
            _ => {
                let params = list.iter().flat_map(|it| it.params()).map(|it| it.syntax().clone());
                let receiver = list.as_ref().and_then(|it| it.self_param()).map(|it| it.syntax().clone());
                let result = source.value.ret_type().map(|it| it.syntax().clone());
                let nodes = std::iter::once(receiver).chain(params.map(Some)).chain([result]);
                let part = |shape: &Shape, index: usize| match index {
                    0 => shape.receiver.clone().unwrap_or_default(),
                    _ => shape.params.get(index - 1).unwrap_or(&shape.result).clone(),
                };
                // Of a trait's `impl Trait` an implementation may tell the type.
                let is_open = |index: usize| index > here.params.len() && there.result.starts_with("impl ");
                let touched = |index: usize| {
                    !is_open(index)
                        && part(&here, index) != part(&there, index)
                        && (part(&here, index) != part(&own_before, index)
                            || part(&there, index) != part(&declared_before, index))
                };
                let (index, node) = nodes.enumerate().find(|(index, _)| touched(*index))?;
                let (own, declared) = (part(&here, index), part(&there, index));
                let message =
                    format!("`{name}` has an incompatible type for its trait: expected `{declared}`, found `{own}`");
                (Code::E0053, node, message)
            }
        };
        Some(self.error(at(node.as_ref())?, code, message))
    }

    /// What a trait asks of all that implement it.
    fn unfit_header(&self, place: Place, block: Impl, of: Trait) -> Option<Finding> {
        let name = of.name(self.db);
        let name = name.as_str();
        let (is_unsafe, wants_unsafe) = (block.is_unsafe(self.db), of.is_unsafe(self.db));
        if wants_unsafe && !is_unsafe {
            return Some(self.error(
                place,
                Code::E0200,
                format!("the trait `{name}` requires an `unsafe impl` declaration"),
            ));
        }
        if is_unsafe && !wants_unsafe {
            return Some(self.error(place, Code::E0199, format!("implementing the trait `{name}` is not unsafe")));
        }
        let source = self.sema.source(block)?.value;
        let Some(ast::Type::PathType(header)) = source.trait_() else { return None };
        let given = given(&header.path()?.segment()?).types.len();
        let wanted = of.type_or_const_param_count(self.db, true)..=of.type_or_const_param_count(self.db, false);
        if !wanted.contains(&given) {
            let message = format!("the trait `{name}` takes {}, but {given} given", wanted.end());
            return Some(self.error(place, Code::E0107, message));
        }
        let ty = block.self_ty(self.db);
        let wanted = of.direct_supertraits(self.db);
        let lacks = self.lacks(&ty, &wanted).filter(|_| !ty.contains_unknown())?;
        let message =
            format!("the trait bound `_: {}` is not satisfied, which `{name}` needs", lacks.name(self.db).as_str());
        let target = block.module(self.db).krate(self.db).to_display_target(self.db);
        let bound = Subject::of_bound(ty.display(self.db, target).to_string(), lacks.name(self.db).as_str());
        Some(self.error(place, Code::E0277, message).about(bound))
    }

    fn unfit_constant(&self, own: Const, declared: Const) -> Option<Finding> {
        let (source, wanted) = (self.sema.source(own)?.value.ty()?, self.sema.source(declared)?.value.ty()?);
        let (here, there) = (self.sema.resolve_type(&source)?, self.sema.resolve_type(&wanted)?);
        let is_plain = |it: &Type<'db>| it.as_builtin().is_some();
        if !is_plain(&here) || !is_plain(&there) || here == there {
            return None;
        }
        let name = own.name(self.db)?;
        let message =
            format!("the type of `{}` does not fit its trait: expected `{}`", name.as_str(), wanted.syntax().text());
        Some(self.error(self.place(self.told_range(source.syntax()))?, Code::E0326, message))
    }

    fn unfit_alias(&self, own: TypeAlias, declared: TypeAlias) -> Option<Finding> {
        let (here, there) = (self.sema.source(own)?.value, self.sema.source(declared)?.value);
        let count =
            |it: &ast::TypeAlias| it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params()).count();
        let (own, declared) = (count(&here), count(&there));
        if own != declared {
            let name = here.name()?;
            let message = format!("`{}` has {own} type parameters, the trait's has {declared}", name.text());
            return Some(self.error(self.place(self.told_range(name.syntax()))?, Code::E0049, message));
        }
        let ty = here.ty()?;
        let given = self.sema.resolve_type(&ty).filter(|it| !it.contains_unknown())?;
        let lacks = self.lacks(&given, &self.traits_in(there.type_bound_list()))?;
        let message =
            format!("the trait bound `{}: {}` is not satisfied", ty.syntax().text(), lacks.name(self.db).as_str());
        let bound = Subject::of_bound(ty.syntax().text().to_string(), lacks.name(self.db).as_str());
        Some(self.error(self.place(self.told_range(ty.syntax()))?, Code::E0277, message).about(bound))
    }

    /// A type that does not implement a trait.
    pub(super) fn unmet(&self, place: Place, (ty, of): (String, String)) -> Finding {
        let message = format!("the trait bound `{ty}: {of}` is not satisfied");
        self.error(place, Code::E0277, message).about(Subject::of_bound(ty, of))
    }

    pub(super) fn error(&self, place: Place, code: Code, message: String) -> Finding {
        self.error_of("semdex", place, code, message)
    }
}

fn kind(is_async: bool) -> &'static str {
    if is_async { "`async`" } else { "not `async`" }
}

fn is_same(a: AssocItem, b: AssocItem, db: &RootDatabase) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b) && a.name(db) == b.name(db)
}
