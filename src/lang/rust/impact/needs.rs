//! What needs a trait that a type does not implement any more: what holds the type and derives the trait, other derives
//! of the type itself, and traits that are built on the lost one.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_hir::Impl;
use ra_ap_ide::TryToNav as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasGenericArgs as _;
use ra_ap_syntax::{AstNode as _, SyntaxToken, ast};

use super::EditContext;
use super::affected_set::ChangedSymbol;
use super::code::Code;
use super::finding::Findings;
use super::unresolved::{derived, is_type};
use crate::lang::files::File;
use crate::lang::rust::delta::derives;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, span};
use crate::model::{OutlineItem, Role, Span};

/// Of a trait that is lost, the derived ones that need it.
const BUILT_ON: [(&str, &[&str]); 4] =
    [("Clone", &["Copy"]), ("Eq", &["Ord"]), ("PartialEq", &["Eq", "PartialOrd", "Ord"]), ("PartialOrd", &["Ord"])];

impl<'db> Context<'db> {
    /// What needs a trait that a type does not implement any more.
    pub(super) fn lost_traits(&self, cause: &ChangedSymbol<'_>, scene: &EditContext, told: &mut Findings<'_>) {
        for lost in &cause.lost {
            let mut printed: HashSet<(&str, usize)> = HashSet::new();
            let needs = BUILT_ON.iter().find(|it| it.0 == lost).map_or(&[][..], |it| it.1);
            for occurrence in cause.occurrences.iter().filter(|it| it.role == Role::Type) {
                let name: &str = &occurrence.file.path;
                let Some((file, start)) = self.files.get(name).zip(scene.moved(name, occurrence.at.start)) else {
                    continue;
                };
                let chain = file.outline().enclosing(start);
                let Some(holder) = chain.iter().find(|it| is_type(it.kind)) else { continue };
                let token = self.file_id(name).and_then(|id| self.token(id, start));
                if token.is_none_or(|it| needs_no(lost, &it)) {
                    continue;
                }
                // What is printed is an object of one trait in all fields, and the compiler tells of that once.
                let is_told = lost == "Debug" && !printed.insert((name, holder.name_span.start));
                if !is_told && derives(holder, &file.text).contains(lost.as_str()) {
                    let at = Span::new(start, start + (occurrence.at.end - occurrence.at.start));
                    let (code, message) = match lost.as_str() {
                        "Copy" => {
                            (Code::E0204, "the trait `Copy` cannot be implemented: a field is not `Copy`".to_owned())
                        }
                        "PartialEq" => (Code::E0369, format!("`==` cannot be applied to type `{}`", cause.name)),
                        _ => (Code::E0277, format!("`{}` does not implement `{lost}`", cause.name)),
                    };
                    let place = if lost == "Copy" { holder.name_span } else { at };
                    told.add(self.error(file.lines().place(name, place), code, message));
                }
            }
            let Some((file, own)) = self.type_of_cause(cause, scene) else { continue };
            for need in needs {
                if derived(&own, &file, need).is_some() {
                    let at = own.name_span;
                    let message = format!("`{}` does not implement `{lost}`, which `{need}` needs", own.name);
                    told.add(self.error(file.lines().place(&file.path, at), Code::E0277, message));
                }
            }
            self.supertraits(&own, &file, lost, told);
        }
    }

    fn blocks_of(&self, own: &OutlineItem, file: &File) -> Vec<Impl> {
        match self.file_id(&file.path).and_then(|id| self.definition_at(id, own.name_span.start)) {
            Some(Definition::Adt(adt)) => Impl::all_for_type(self.db, adt.ty(self.db)),
            _ => Vec::new(),
        }
    }

    /// The type that loses a trait, as it is now: that which is edited, or that of which an implementation goes.
    fn type_of_cause(&self, cause: &ChangedSymbol<'_>, scene: &EditContext) -> Option<(Arc<File>, OutlineItem)> {
        let (index, delta) = cause.delta.as_ref()?;
        if let Some(own) = delta.after.filter(|it| is_type(it.kind)) {
            return Some((scene.news[*index].clone(), own.clone()));
        }
        let is_type_name = |it: &&Occurrence| matches!(it.role, Role::Type | Role::SelfType);
        let token = cause.occurrences.iter().filter(is_type_name).find_map(|it| {
            let token = self.token(it.id, scene.moved(&it.file.path, it.at.start)?)?;
            (token.text() == cause.name).then_some(token)
        })?;
        let Definition::Adt(adt) = self.meant_by(&token)? else { return None };
        let at = Definition::Adt(adt).try_to_nav(&self.sema)?.call_site;
        let file = self.file(at.file_id)?.clone();
        let chain = file.outline().enclosing(span(at.focus_or_full_range()).start);
        let own = chain.last().filter(|it| is_type(it.kind)).map(|it| (*it).clone())?;
        Some((file, own))
    }

    /// Other traits of a type that are built on a lost one.
    fn supertraits(&self, own: &OutlineItem, file: &Arc<File>, lost: &str, told: &mut Findings<'_>) {
        for block in self.blocks_of(own, file) {
            let Some(of) = block.trait_(self.db) else { continue };
            let needs = of.all_supertraits(self.db).iter().any(|it| *it != of && it.name(self.db).as_str() == lost);
            let Some(source) = self.sema.source(block).filter(|_| needs) else { continue };
            let Some(id) = source.file_id.file_id() else { continue };
            let Some(file) = self.file(id.file_id(self.db)) else { continue };
            let Some(header) = source.value.trait_() else { continue };
            let at = span(header.syntax().text_range());
            let message =
                format!("`{}` does not implement `{lost}`, which `{}` needs", own.name, of.name(self.db).as_str());
            told.add(self.error(file.lines().place(&file.path, at), Code::E0277, message));
        }
    }
}

/// Whether what stands around a type has a trait though the type has it not.
fn needs_no(lost: &str, ty: &SyntaxToken) -> bool {
    let around = ty.parent_ancestors().take_while(|it| !ast::Item::can_cast(it.kind()));
    around.into_iter().any(|it| match (lost, ast::PathSegment::cast(it.clone())) {
        _ if ast::GenericParamList::can_cast(it.kind()) => true,
        ("Clone" | "Copy", None) => ast::RefType::can_cast(it.kind()) || ast::PtrType::can_cast(it.kind()),
        (_, Some(segment)) if segment.generic_arg_list().is_some() => {
            let name = segment.name_ref().map(|it| it.text().to_string()).unwrap_or_default();
            match lost {
                "Clone" => matches!(name.as_str(), "Arc" | "Rc" | "Weak" | "PhantomData"),
                "Default" => !matches!(name.as_str(), "Box" | "Arc" | "Rc" | "Cell" | "RefCell" | "Mutex" | "RwLock"),
                _ => name == "PhantomData",
            }
        }
        _ => false,
    })
}
