//! Traits that can be objects no more: the compiler tells so wherever one is named or used.

use ra_ap_hir::Trait;
use ra_ap_syntax::{AstNode as _, SyntaxToken, ast};

use super::Scene;
use super::reach::Reach;
use crate::lang::rust::view::Context;
use crate::model::{Diagnostic, Role, Span};

impl<'db> Context<'db> {
    pub(super) fn lost_objects(&self, reach: &Reach<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (of, places) in reach.objects.iter().filter(|it| it.0.dyn_compatibility(self.db).is_some()) {
            let message = format!("the trait `{}` is not dyn compatible", of.name(self.db).as_str());
            for it in places {
                let name: &str = &it.file.path;
                let Some((file, start)) = self.files.get(name).zip(scene.moved(name, it.at.start)) else { continue };
                let token = self.file_id(name).and_then(|id| self.token(id, start));
                let is_it = || token.is_some_and(|token| self.is_called_on(&token, *of));
                if it.role != Role::Call || is_it() {
                    let at = Span::new(start, start + (it.at.end - it.at.start));
                    let place = file.lines().place(name, at);
                    found.push(self.error(place, "E0038", message.clone()));
                }
            }
        }
        found
    }

    fn is_called_on(&self, method: &SyntaxToken, of: Trait) -> bool {
        let call = method.parent_ancestors().take(3).find_map(ast::MethodCallExpr::cast);
        let receiver = call.and_then(|it| it.receiver()).and_then(|it| self.sema.type_of_expr(&it));
        receiver.is_some_and(|it| it.original.autoderef(self.db).any(|it| it.as_dyn_trait() == Some(of)))
    }
}
