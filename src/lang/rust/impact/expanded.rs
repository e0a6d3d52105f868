//! Names in the definitions of macros. They are no more than tokens there, and mean something in what calls make: the
//! compiler tells them where they are written.

use std::collections::BTreeSet;

use ra_ap_hir::InFile;
use ra_ap_ide::FileRange;
use ra_ap_ide_db::defs::NameRefClass;
use ra_ap_syntax::{AstNode as _, ast};

use super::EditContext;
use super::affected_set::ChangedSymbol;
use super::code::Code;
use super::finding::{Finding, Subject};
use super::unresolved::unresolved_kind;
use crate::lang::rust::view::Context;
use crate::text::words::words;

impl<'db> Context<'db> {
    /// Where the definition of a macro names what is gone.
    pub(super) fn gone_in_definitions(&self, cause: &ChangedSymbol<'_>, scene: &EditContext) -> Vec<Finding> {
        if !cause.goes() {
            return Vec::new();
        }
        let mut found = Vec::new();
        // The calls of one file are alike.
        for calls in cause.calls.iter().flat_map(|of| of.chunk_by(|a, b| a.id == b.id)) {
            let mut now = calls.iter().filter_map(|it| Some((it.id, scene.moved(&it.file.path, it.at.start)?)));
            let call = now.next().and_then(|(file, at)| self.call_at(file, at));
            if let Some(expansion) = call.and_then(|it| self.sema.expand_macro_call(&it)) {
                self.in_expansions(&expansion.value, &mut |node| {
                    let name = ast::NameRef::cast(node.clone()).filter(|it| it.text() == cause.name);
                    found.extend(name.and_then(|it| self.gone_as_written(&it, cause)));
                });
            }
        }
        let mut holders = BTreeSet::new();
        self.told_in_attributes(&cause.name, &mut holders);
        for (id, at) in holders {
            let adt = self.token(id, at).and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast));
            let made = adt.iter().flat_map(|it| self.made_by_derives(it));
            let names = made.flat_map(|it| it.descendants().filter_map(ast::NameRef::cast).collect::<Vec<_>>());
            let names = names.filter(|it| it.text() == cause.name);
            found.extend(names.filter_map(|it| self.gone_at(&it, self.told_range(it.syntax()), cause)));
        }
        found.sort();
        found.dedup();
        found
    }

    fn gone_as_written(&self, name: &ast::NameRef, cause: &ChangedSymbol<'_>) -> Option<Finding> {
        let syntax = name.syntax();
        let at = self.where_written(InFile::new(self.sema.hir_file_for(syntax), syntax.text_range()))?;
        self.gone_at(name, at, cause)
    }

    fn gone_at(&self, name: &ast::NameRef, at: FileRange, cause: &ChangedSymbol<'_>) -> Option<Finding> {
        if NameRefClass::classify(&self.sema, name).is_some() {
            return None;
        }
        let (code, what) = unresolved_kind(&name.ident_token()?)?;
        let place = self.place(at)?;
        // Whether it is written there, as code or in a text.
        let text = self.files.get(&place.file)?.text.get(place.start..place.end)?;
        words(text).last().is_some_and(|it| it.1 == cause.name).then(|| {
            let message = format!("cannot find {what} `{}`: there is no `{}` any more", cause.name, cause.path);
            let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
            self.error(place, code, message).about(subject)
        })
    }
}
