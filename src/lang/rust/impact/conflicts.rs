//! A conversion from what means nothing any more: it might be one from anything, and so the compiler holds it against
//! each `TryFrom` of the same type, which the standard library has for whatever can be converted.

use ra_ap_hir::Impl;
use ra_ap_syntax::{AstNode as _, ast};

use super::Scene;
use super::reach::{Cause, Reach};
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, Diagnostic, Role, SymbolKind};

impl<'db> Context<'db> {
    pub(super) fn conflicts(&self, reach: &Reach<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let kind = |cause: &Cause<'_>| cause.delta.as_ref().map(|it| it.1.kind);
        let is_gone = |it: &&Cause<'_>| matches!(kind(it), None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        let causes = reach.causes.iter().filter(|it| it.is_itself).filter(is_gone);
        for it in causes.flat_map(|it| &it.occurrences).filter(|it| it.role == Role::Type) {
            let around = it.file.outline().enclosing(it.at.start);
            let is_from =
                |name: &str| name.split_once(" for ").is_some_and(|it| it.0.rsplit("::").next() == Some("From"));
            let head = around.last().filter(|item| item.kind == SymbolKind::Impl && is_from(&item.name));
            let start = head.and_then(|_| scene.moved(&it.file.path, it.at.start));
            let Some(token) = start.and_then(|start| self.token(it.id, start)) else { continue };
            let Some(block) = token.parent_ancestors().find_map(ast::Impl::cast) else { continue };
            // The whole of what is converted.
            let is_argument = |it: &ast::PathType| {
                let argument = it.syntax().parent().filter(|it| ast::TypeArg::can_cast(it.kind()));
                let of = argument.and_then(|it| it.ancestors().find_map(ast::PathType::cast));
                of.zip(block.trait_()).is_some_and(|(of, header)| of.syntax() == header.syntax())
            };
            let is_lost = token
                .parent_ancestors()
                .find_map(ast::PathType::cast)
                .filter(is_argument)
                .and_then(|it| it.path())
                .is_some_and(|it| self.sema.resolve_path(&it).is_none());
            let own = self.sema.to_def(&block).filter(|_| is_lost);
            found.extend(own.into_iter().flat_map(|it| self.attempts_of(it)));
        }
        found
    }

    /// The implementations of `TryFrom` for the same type.
    fn attempts_of(&self, block: Impl) -> Vec<Diagnostic> {
        let Some(adt) = block.self_ty(self.db).as_adt() else { return Vec::new() };
        let mut found = Vec::new();
        for other in Impl::all_for_type(self.db, adt.ty(self.db)) {
            let name = other.trait_(self.db).map(|it| it.name(self.db));
            let Some(name) = name.filter(|it| it.as_str() == "TryFrom") else { continue };
            let Some(header) = self.sema.source(other).and_then(|it| it.value.trait_()) else { continue };
            let message = format!("conflicting implementations of trait `{}`", name.as_str());
            found.extend(self.place(self.told_range(header.syntax())).map(|it| self.error(it, "E0119", message)));
        }
        found
    }
}
