//! Literals that take what they do not give from another value: they name all fields of the struct, so all have to be
//! visible. rust-analyzer does not ask.

use ra_ap_hir::HasVisibility as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::code::Code;
use super::finding::RawDiagnostic;
use crate::lang::rust::view::Context;

impl<'db> Context<'db> {
    pub(super) fn unseen_in_updates(&self, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
        out.extend(ast::RecordExpr::cast(node.clone()).and_then(|it| self.unseen_in(&it)));
    }

    fn unseen_in(&self, literal: &ast::RecordExpr) -> Option<RawDiagnostic> {
        let list = literal.record_expr_field_list()?;
        let rest = list.spread()?;
        let from = self.sema.scope(literal.syntax())?.module();
        let given: Vec<String> = list.fields().filter_map(|it| Some(it.field_name()?.text().to_string())).collect();
        let fields = self.sema.resolve_variant(literal.clone())?.fields(self.db).into_iter();
        let mut names = fields.filter(|it| !it.is_visible_from(self.db, from)).map(|it| it.name(self.db));
        let unseen = names.find(|it| given.iter().all(|given| given != it.as_str()))?;
        let message = format!("field `{}` is private", unseen.as_str());
        Some(self.told_of(rest.syntax(), Code::E0451, message))
    }
}
