//! What implementations give for the types of their traits, where it does not implement any more what the trait asks of
//! it: `type Error = Failure;` of a `Failure` that is no error now.

use ra_ap_hir::{AssocItem, HirDisplay as _, Impl, ModuleDef, PathResolution, Trait, Type};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{self, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxToken};

use super::EditContext;
use super::affected_set::AffectedSet;
use super::code::Code;
use super::finding::Findings;
use crate::lang::rust::view::{Context, span};
use crate::model::{Role, Span};

impl<'db> Context<'db> {
    pub(super) fn unfit_types(&self, reach: &AffectedSet<'_>, scene: &EditContext, told: &mut Findings<'_>) {
        let mut blocks: Vec<(String, Span)> = Vec::new();
        for cause in reach.causes.iter().filter(|it| !it.lost.is_empty()) {
            for it in cause.occurrences.iter().filter(|it| it.role == Role::Type) {
                let token = scene.moved(&it.file.path, it.at.start).and_then(|at| self.token(it.id, at));
                token.into_iter().for_each(|it| self.unfit_type(&it, &cause.lost, told, &mut blocks));
            }
        }
        for error in told.of(Code::E0405) {
            let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
            let block = token.and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
            let lost = block.and_then(|it| self.sema.to_def(&it)).filter(|it| it.trait_(self.db).is_none());
            let adt = lost.and_then(|it| it.self_ty(self.db).as_adt()).map(Definition::Adt);
            for it in adt.into_iter().flat_map(|it| self.find(&[it])).flat_map(|it| it.items) {
                let token = self.token(it.id, it.at.start).filter(|_| it.role == Role::Type);
                token.into_iter().for_each(|it| self.unfit_type(&it, &[], told, &mut blocks));
            }
        }
        // The compiler knows nothing of such a type then, and says nothing more of what is made of it.
        told.forget(|it| {
            let is_there = |of: &(String, Span)| of.0 == it.place.file && of.1.contains(it.place.start);
            it.is(Code::E0277) && it.rule.is_of_bodies() && blocks.iter().any(is_there)
        });
    }

    /// A name that is the whole of what an implementation gives for a type of its trait. What is lost is any trait where
    /// it is not told.
    fn unfit_type(
        &self,
        token: &SyntaxToken,
        lost: &[String],
        told: &mut Findings<'_>,
        blocks: &mut Vec<(String, Span)>,
    ) {
        let Some(alias) = token.parent_ancestors().find_map(ast::TypeAlias::cast) else { return };
        let Some(ty) = alias.ty().filter(|it| it.syntax().text_range().end() == token.text_range().end()) else {
            return;
        };
        let Some(block) = alias.syntax().ancestors().find_map(ast::Impl::cast) else { return };
        let given =
            self.sema.resolve_type(&ty).filter(|it| it.type_arguments().next().is_none() && !it.contains_unknown());
        let of = self.sema.to_def(&block).zip(alias.name());
        let is_lost = |it: &Trait| lost.is_empty() || lost.iter().any(|lost| it.name(self.db).as_str() == lost);
        let mut wanted = of.map(|(of, name)| self.bounds_of(of, name.text())).unwrap_or_default();
        wanted.retain(is_lost);
        let Some((given, lacks)) = given.and_then(|it| self.lacks(&it, &wanted).map(|of| (it, of))) else { return };
        let target = self.sema.scope(alias.syntax()).map(|it| it.krate().to_display_target(self.db));
        let (Some(place), Some(target)) = (self.place(self.told_range(ty.syntax())), target) else { return };
        let lacks = (given.display(self.db, target).to_string(), lacks.name(self.db).as_str().to_owned());
        blocks.push((place.file.clone(), span(block.syntax().text_range())));
        told.add(self.unmet(place, lacks));
    }

    /// The traits that a trait asks of one of its types.
    fn bounds_of(&self, block: Impl, name: &str) -> Vec<Trait> {
        let items = block.trait_(self.db).into_iter().flat_map(|it| it.items(self.db));
        let declared = items.into_iter().find_map(|it| match it {
            AssocItem::TypeAlias(it) if it.name(self.db).as_str() == name => Some(it),
            _ => None,
        });
        let source = declared.and_then(|it| self.sema.source(it));
        self.traits_in(source.and_then(|it| it.value.type_bound_list()))
    }

    /// With those that they are built on.
    pub(super) fn traits_in(&self, bounds: Option<ast::TypeBoundList>) -> Vec<Trait> {
        let bounds = bounds.into_iter().flat_map(|it| it.bounds());
        let traits = bounds.filter_map(bound_path).filter_map(|it| match self.sema.resolve_path(&it)? {
            PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
            _ => None,
        });
        traits.flat_map(|it| it.all_supertraits(self.db)).collect()
    }

    /// The first of these that a type does not implement. What has a size is left to the compiler.
    pub(super) fn lacks(&self, ty: &Type<'db>, wanted: &[Trait]) -> Option<Trait> {
        let is_plain = |it: &&Trait| {
            it.type_or_const_param_count(self.db, false) == 0 && !it.name(self.db).as_str().ends_with("Sized")
        };
        wanted.iter().filter(is_plain).find(|it| !ty.impls_trait(self.db, **it, &[])).copied()
    }
}

/// What a bound names.
pub(super) fn bound_path(bound: ast::TypeBound) -> Option<ast::Path> {
    match bound.ty()? {
        ast::Type::PathType(it) => it.path(),
        _ => None,
    }
}
