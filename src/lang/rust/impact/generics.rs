//! Types and traits that take other generics than before, where they are named with theirs: there may be too few or too
//! many, or one that does not implement what is asked of it now. Of types in bodies rust-analyzer counts them itself.

use either::Either;
use ra_ap_hir::{GenericDef, TypeOrConstParam};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{self, HasGenericArgs as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken};

use super::affected_set::{ChangedSymbol, is_outside_body};
use super::code::Code;
use super::finding::{Finding, Findings};
use super::rules::NamedPlace;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, SymbolKind};

/// What a name is given between its angle brackets.
pub(super) struct Given {
    pub(super) lifetimes: usize,
    /// `None` is a constant.
    pub(super) types: Vec<Option<ast::Type>>,
}

pub(super) fn given(segment: &ast::PathSegment) -> Given {
    let mut given = Given { lifetimes: 0, types: Vec::new() };
    for it in segment.generic_arg_list().into_iter().flat_map(|it| it.generic_args()) {
        match it {
            ast::GenericArg::LifetimeArg(_) => given.lifetimes += 1,
            ast::GenericArg::TypeArg(it) => given.types.push(it.ty()),
            ast::GenericArg::ConstArg(_) => given.types.push(None),
            ast::GenericArg::AssocTypeArg(_) => {}
        }
    }
    given
}

impl ChangedSymbol<'_> {
    /// Whether its generics, or what it asks of them, may be others than before.
    pub(super) fn has_other_generics(&self) -> bool {
        let delta = self.delta.as_ref().map(|it| &it.1).filter(|it| it.kind == ChangeKind::Signature);
        delta.and_then(|it| it.before.zip(it.after)).is_some_and(|(before, after)| {
            let is_generic = matches!(
                after.kind,
                SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Type
            );
            let has_generics = before.signature.contains('<') || after.signature.contains('<');
            is_generic && has_generics && before.signature != after.signature
        })
    }
}

impl<'db> Context<'db> {
    pub(super) fn unfit_generics(&self, at: &NamedPlace<'_, '_>, out: &mut Findings<'_>) {
        let NamedPlace { occurrence: it, token, .. } = at;
        let is_head = it.file.outline().enclosing(it.at.start).last().is_none_or(|item| is_outside_body(item, it));
        let Some(error) = self.unfit_generic(token, is_head) else { return };
        match token.parent().filter(|_| error.is(Code::E0277)).and_then(|it| self.through_alias(&it)) {
            Some(uses) => self.at_uses(&error, &uses).into_iter().for_each(|it| out.add(it)),
            None => out.add(error),
        }
    }

    /// The same error at each of these places.
    fn at_uses(&self, error: &Finding, uses: &[Occurrence]) -> Vec<Finding> {
        let place = |it: &Occurrence| self.files.get(&it.file.path).map(|file| file.lines().place(&file.path, it.at));
        let same = |it| self.error(it, error.code, error.message.clone()).about(error.subject.clone());
        uses.iter().filter_map(place).map(same).collect()
    }

    pub(super) fn unfit_generic(&self, token: &SyntaxToken, is_head: bool) -> Option<Finding> {
        let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?;
        // `Fn(u8) -> u8`
        if segment.parenthesized_arg_list().is_some() {
            return None;
        }
        let path = segment.parent_path();
        let Some(ty) = path.syntax().parent().and_then(ast::PathType::cast) else {
            let Definition::Adt(of) = self.meant_by(token)? else { return None };
            let lacks = self.parameters_of(GenericDef::Adt(of)).and_then(|it| self.unmet_in_value(of, &it, &path))?;
            return Some(self.unmet(self.place(self.told_range(segment.syntax()))?, lacks));
        };
        let (of, name) = match self.meant_by(token)? {
            Definition::Adt(it) => (GenericDef::Adt(it), it.name(self.db)),
            Definition::Trait(it) => (GenericDef::Trait(it), it.name(self.db)),
            Definition::TypeAlias(it) => (GenericDef::TypeAlias(it), it.name(self.db)),
            _ => return None,
        };
        let name = name.as_str();
        let place = || self.place(self.told_range(segment.syntax()));
        let given = given(&segment);
        let parameters = of.type_or_const_params(self.db);
        let is_implicit = |it: &TypeOrConstParam| it.as_type_param(self.db).is_some_and(|it| it.is_implicit(self.db));
        let parameters: Vec<_> = parameters.into_iter().filter(|it| !is_implicit(it)).collect();
        let target = self.sema.scope(ty.syntax())?.krate().to_display_target(self.db);
        let has_default = |it: &TypeOrConstParam| match it.split(self.db) {
            Either::Left(it) => it.default(self.db, target).is_some(),
            Either::Right(it) => it.default(self.db).is_some(),
        };
        let required = parameters.iter().filter(|it| !has_default(it)).count();
        let lifetimes = of.lifetime_params(self.db).len();
        if is_head && !(required..=parameters.len()).contains(&given.types.len()) {
            let message =
                format!("`{name}` takes {} generic arguments, but {} given", parameters.len(), given.types.len());
            return Some(self.error(place()?, Code::E0107, message));
        }
        if is_head && given.lifetimes != lifetimes {
            if given.lifetimes > 0 {
                let message = format!("`{name}` takes {lifetimes} lifetimes, but {} given", given.lifetimes);
                return Some(self.error(place()?, Code::E0107, message));
            }
            let mut around = ty.syntax().ancestors();
            // Functions, constants and statics need not tell them.
            let code = around.find_map(|it| match it.kind() {
                SyntaxKind::RECORD_FIELD | SyntaxKind::TUPLE_FIELD | SyntaxKind::TYPE_ALIAS => Some(Some(Code::E0106)),
                SyntaxKind::IMPL => Some(Some(Code::E0726)),
                SyntaxKind::FN | SyntaxKind::STATIC | SyntaxKind::CONST => Some(None),
                _ => None,
            });
            if let Some(code) = code.flatten() {
                return Some(self.error(place()?, code, format!("missing lifetime specifier of `{name}`")));
            }
        }
        // What an object is given is looked at where it is used.
        if ty.syntax().ancestors().skip(1).take(3).any(|it| ast::DynTraitType::can_cast(it.kind())) {
            return None;
        }
        let lacks = self.parameters_of(of).and_then(|it| self.unmet_bound(&it, &given.types))?;
        Some(self.unmet(place()?, lacks))
    }
}
