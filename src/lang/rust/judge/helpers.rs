//! The attributes that derive macros read. They mean nothing where the macro is not derived any more.

use std::collections::BTreeSet;

use ra_ap_hir::{HasSource as _, Macro};
use ra_ap_ide::FileRange;
use ra_ap_syntax::ast::{self, HasAttrs as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::Scene;
use super::derives::type_of;
use crate::lang::files::File;
use crate::lang::rust::delta::{Delta, derives};
use crate::lang::rust::view::Context;
use crate::model::{Diagnostic, OutlineItem};
use crate::text::words::words;

/// Of a type that loses a derive: the file among those of the scene, and the attributes that its derives read before.
pub(super) type Helpers<'a> = Vec<(usize, Delta<'a>, BTreeSet<String>)>;

impl<'db> Context<'db> {
    pub(super) fn helpers_at_stake<'a>(&self, scene: &Scene, deltas: &[(usize, Delta<'a>)]) -> Helpers<'a> {
        let mut found = Helpers::new();
        for (index, delta) in deltas {
            let (Some(before), Some(after)) = (delta.before, delta.after) else { continue };
            let (old, new) = (&scene.olds[*index], &scene.news[*index]);
            let kept = derives(after, &new.text);
            if derives(before, &old.text).iter().any(|it| !kept.contains(it)) {
                let helpers = self.adt_of(old, before).map(|it| self.helpers(&it)).unwrap_or_default();
                found.push((*index, delta.clone(), helpers));
            }
        }
        found
    }

    /// The attributes that no derive reads any more.
    pub(super) fn unread_helpers(&self, before: &Helpers<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (index, delta, helpers) in before {
            let adt = delta.after.and_then(|it| self.adt_of(&scene.news[*index], it));
            let Some(adt) = adt.filter(|_| !helpers.is_empty()) else { continue };
            let kept = self.helpers(&adt);
            for attribute in adt.syntax().descendants().filter_map(ast::Attr::cast) {
                let Some(name) = attribute.simple_name().filter(|it| helpers.contains(&**it)) else { continue };
                let Some(path) = attribute.path().filter(|_| !kept.contains(&*name)) else { continue };
                let range = self.sema.original_range(path.syntax());
                let at = FileRange { file_id: range.file_id.file_id(self.db), range: range.range };
                let message = format!("cannot find attribute `{name}` in this scope");
                found.extend(self.place(at).map(|it| self.error(it, "", message)));
            }
        }
        found
    }

    fn adt_of(&self, file: &File, item: &OutlineItem) -> Option<ast::Adt> {
        let own = type_of(file.outline(), item)?;
        let token = self.token(self.file_id(&file.path)?, own.name_span.start)?;
        token.parent_ancestors().find_map(ast::Adt::cast)
    }

    /// What the macros that a type derives say that they read.
    fn helpers(&self, adt: &ast::Adt) -> BTreeSet<String> {
        let metas = adt.attrs().filter_map(|it| it.meta());
        let macros = metas.filter_map(|it| self.sema.resolve_derive_macro(&it)).flatten().flatten();
        macros.into_iter().flat_map(|it| self.helpers_of(it)).collect()
    }

    fn helpers_of(&self, derive: Macro) -> Vec<String> {
        let source =
            derive.source(self.db).map(|it| it.value.either(|it| it.syntax().clone(), |it| it.syntax().clone()));
        let attributes =
            |it: SyntaxNode| it.children().filter_map(ast::Attr::cast).map(|it| it.syntax().text().to_string());
        let texts = source.into_iter().flat_map(attributes);
        let lists = texts.filter_map(|it| it.split_once("attributes(").map(|it| it.1.to_owned()));
        let names =
            |it: String| words(it.split(')').next().unwrap_or_default()).map(|it| it.1.to_owned()).collect::<Vec<_>>();
        lists.flat_map(names).collect()
    }
}
