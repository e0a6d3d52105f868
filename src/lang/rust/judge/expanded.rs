//! Names in the definitions of macros. They are no more than tokens there, and mean something in what calls make: the
//! compiler tells them where they are written.

use ra_ap_hir::InFile;
use ra_ap_ide::FileRange;
use ra_ap_ide_db::defs::{Definition, NameRefClass};
use ra_ap_syntax::{AstNode as _, ast};

use super::Scene;
use super::reach::Cause;
use super::rules::unresolved_kind;
use crate::lang::rust::view::{Context, span};
use crate::model::{ChangeKind, Diagnostic, Span};

impl<'db> Context<'db> {
    /// Where the definition of a macro names what is gone.
    pub(super) fn gone_in_definitions(&self, cause: &Cause<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let kind = cause.delta.as_ref().map(|it| it.1.kind);
        let is_gone = matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        if !cause.is_itself || !is_gone {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut macros: Vec<Definition<'db>> = Vec::new();
        for it in &cause.in_macros {
            let start = scene.moved(&it.file.path, it.at.start);
            let token = start.and_then(|start| self.token(it.id, start));
            let definition = token.and_then(|it| it.parent_ancestors().find_map(ast::Macro::cast));
            let definition = definition.and_then(|it| self.sema.to_def(&it)).map(Definition::Macro);
            macros.extend(definition.filter(|it| !macros.contains(it)));
        }
        for calls in self.find(&macros) {
            // The calls of one file are alike.
            for calls in calls.items.chunk_by(|a, b| a.id == b.id) {
                let token = self.token(calls[0].id, calls[0].at.start);
                let call = token.and_then(|it| it.parent_ancestors().find_map(ast::MacroCall::cast));
                let Some(expansion) = call.and_then(|it| self.sema.expand_macro_call(&it)) else { continue };
                self.in_expansions(&expansion.value, &mut |node| {
                    let name = ast::NameRef::cast(node.clone()).filter(|it| it.text() == cause.name);
                    found.extend(name.and_then(|it| self.gone_as_written(&it, cause)));
                });
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn gone_as_written(&self, name: &ast::NameRef, cause: &Cause<'_>) -> Option<Diagnostic> {
        if NameRefClass::classify(&self.sema, name).is_some() {
            return None;
        }
        let (code, what) = unresolved_kind(&name.ident_token()?)?;
        let syntax = name.syntax();
        let FileRange { file_id, range } =
            self.where_written(InFile::new(self.sema.hir_file_for(syntax), syntax.text_range()))?;
        let name = self.name_of(file_id)?;
        let file = self.files.get(&name)?;
        let at: Span = span(range);
        (file.text.get(at.start..at.end) == Some(cause.name.as_str())).then(|| {
            let message = format!("cannot find {what} `{}`: there is no `{}` any more", cause.name, cause.path);
            self.error(file.lines().place(&name, at), code, message)
        })
    }
}
