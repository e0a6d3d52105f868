//! What a change may reach: the places that name what it changes, in the state before, and the bodies around them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_hir::{Adt, DefWithBody, Impl, Trait};
use ra_ap_ide::{FileId, TryToNav as _};
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, ast};

use super::EditContext;
use super::arity::Miscalls;
use super::derive_expansion::made_anchor;
use super::derives::type_of;
use super::helpers::Derived;
use super::impls::{Shapes, shape_at};
use super::macros::MAX_MACROS;
use super::objects::Objects;
use super::unresolved::bodies_with_other_imports;
use super::unused::Shaken;
use crate::lang::files::File;
use crate::lang::rust::delta::{Delta, derives, pairs};
use crate::lang::rust::index::{FileErrors, names_now};
use crate::lang::rust::named::Sense;
use crate::lang::rust::paths::{as_assoc_item, assoc_definition};
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, span};
use crate::model::{ChangeKind, OutlineItem, Role, SymbolKind};
use crate::text::words::words;

/// Of a module that is hidden or gone so many members are looked for.
const MAX_FOUND_THROUGH: usize = 512;

/// One changed declaration as it was before.
pub(super) struct ChangedSymbol<'a> {
    /// With the edited file among those of the scene. Absent for what an edit stops to re-export, and for what it
    /// reaches by way of something else.
    pub(super) delta: Option<(usize, Delta<'a>)>,
    pub(super) path: String,
    /// As the places name it.
    pub(super) name: String,
    pub(super) occurrences: Vec<Occurrence>,
    /// Places in macros that may name it: what these make is looked at too.
    pub(super) in_macros: Vec<Occurrence>,
    /// Of what goes away: the calls of each macro in whose definition such a place is.
    pub(super) calls: Vec<Vec<Occurrence>>,
    /// Whether it is named by its own name, not by that of what it belongs to.
    pub(super) is_itself: bool,
    /// The traits that it has no more.
    pub(super) lost: Vec<String>,
}

impl ChangedSymbol<'_> {
    /// Whether it is reached through what the edit changes, and is itself what it was.
    pub(super) fn is_found_through(&self) -> bool {
        self.is_itself && self.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.name != self.name)
    }

    /// Whether nothing is called so any more.
    pub(super) fn goes(&self) -> bool {
        let kind = self.delta.as_ref().map(|it| it.1.kind);
        self.is_itself && matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed))
    }
}

/// A function, constant or static with its body, by where its name stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BodyRef {
    pub(super) file: Arc<str>,
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Whether the edit itself changed it.
    pub(super) edited: bool,
}

/// All that has to be looked at.
#[derive(Default)]
pub(super) struct AffectedSet<'a> {
    pub(super) causes: Vec<ChangedSymbol<'a>>,
    pub(super) units: Vec<BodyRef>,
    /// Where the names of `impl` blocks of traits stand that have to fit them again.
    pub(super) blocks: BTreeSet<(Arc<str>, usize)>,
    /// The functions of traits and their implementations that change, as they were, by where their names stand now.
    pub(super) shapes: Shapes,
    /// Names of an edited file that meant nothing before, by their places.
    pub(super) unresolved: BTreeSet<(Arc<str>, usize)>,
    /// Traits that can be objects, by where their names stand.
    pub(super) objects: BTreeMap<(Arc<str>, usize), Objects>,
    pub(super) shaken: Shaken,
    pub(super) helpers: Vec<Derived<'a>>,
    /// Of bodies that are not asked for their errors.
    pub(super) miscalls: Miscalls,
    /// Whether an expression may have another type than before, or its type other traits.
    pub(super) retyped: bool,
}

/// What holds a body of its own.
pub(super) fn has_body(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static | SymbolKind::Variant
    )
}

fn is_among_items(call: &ast::MacroCall) -> bool {
    call.syntax().parent().is_some_and(|it| {
        ast::MacroItems::can_cast(it.kind())
            || ast::SourceFile::can_cast(it.kind())
            || ast::ItemList::can_cast(it.kind())
            || ast::AssocItemList::can_cast(it.kind())
    })
}

/// The outermost item with a body around an offset.
pub(super) fn unit_around(file: &File, offset: usize) -> Option<&OutlineItem> {
    file.outline().enclosing(offset).into_iter().find(|it| has_body(it.kind))
}

impl<'db> Context<'db> {
    pub(super) fn reach<'a>(&self, scene: &'a EditContext, deltas: &[(usize, Delta<'a>)]) -> AffectedSet<'a> {
        let mut reach = AffectedSet { causes: self.causes(scene, deltas), ..AffectedSet::default() };
        let mut units: BTreeSet<(Arc<str>, usize)> = BTreeSet::new();
        let mut miscalls = self.bodies_around(&reach.causes, scene, &mut units);
        // What a literal or a pattern of a type lacks or has too much is wrong in macros too.
        for cause in reach.causes.iter().filter(|it| it.is_itself || it.delta.is_some()) {
            self.follow_macros(cause, &cause.in_macros, MAX_MACROS, &mut units);
        }
        units.extend(self.made_anew(scene, deltas, &reach.causes));
        for (index, delta) in deltas {
            self.follow_traits(&scene.olds[*index], delta, &mut reach, &mut units);
        }
        self.note_shaken(scene, deltas, &mut reach);
        reach.helpers = self.helpers_at_stake(scene, deltas);
        miscalls.retain(|body, _| !units.contains(body));
        for (index, (old, new)) in scene.olds.iter().zip(&scene.news).enumerate() {
            let of_file: Vec<Delta<'a>> = deltas.iter().filter(|it| it.0 == index).map(|it| it.1.clone()).collect();
            let changed: BTreeSet<usize> =
                of_file.iter().filter_map(|it| it.after).map(|it| it.name_span.start).collect();
            let loose = &scene.loose[index];
            let mut bodies = loose.bodies(new);
            bodies.extend(changed.into_iter().filter_map(|it| Some(unit_around(new, it)?.name_span.start)));
            let mut shapes = Shapes::new();
            for (before, after) in pairs((old.outline(), &old.text), (new.outline(), &new.text), &of_file) {
                if let Some(shape) = before.and_then(|it| reach.shapes.remove(&(old.path.clone(), it))) {
                    shapes.insert((old.path.clone(), after), shape);
                }
                let asked = before.is_some_and(|it| units.remove(&(old.path.clone(), it)));
                let edited = bodies.contains(&after);
                if edited && let Some(before) = before {
                    miscalls.remove(&(old.path.clone(), before));
                }
                if asked || edited {
                    reach.units.push(BodyRef { file: old.path.clone(), before, after: Some(after), edited });
                }
            }
            reach.shapes.extend(shapes);
            if !loose.is_empty() || !bodies_with_other_imports(old, new).is_empty() {
                self.note_unresolved(old, &mut reach.unresolved);
            }
            // What is left of the old file is gone, but for calls of macros.
            let left: Vec<usize> = units.extract_if(.., |it| it.0 == old.path).map(|it| it.1).collect();
            for before in left {
                if let Some(after) = scene.moved(&old.path, before) {
                    let (file, edited) = (old.path.clone(), loose.all);
                    reach.units.push(BodyRef { file, before: Some(before), after: Some(after), edited });
                }
            }
        }
        let unit = |(file, at)| BodyRef { file, before: Some(at), after: Some(at), edited: false };
        reach.units.extend(units.into_iter().map(unit));
        reach.miscalls = miscalls;
        reach.retyped =
            reach.causes.iter().any(|it| !it.lost.is_empty() || it.delta.as_ref().is_none_or(|it| retypes(&it.1)));
        reach
    }

    /// The errors of all bodies of a file, of those that have any.
    pub(in crate::lang::rust) fn errors_of_file(&self, file: &File) -> FileErrors {
        let (mut bodies, mut made) = (BTreeSet::new(), HashSet::new());
        file.outline().walk(&mut |item| {
            bodies.extend(unit_around(file, item.name_span.start).map(|it| it.name_span.start));
        });
        if let Some(id) = self.file_id(&file.path) {
            let tree = self.sema.parse_guess_edition(id);
            let calls = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
            bodies.extend(calls.map(|it| usize::from(it.syntax().text_range().start())));
            made.extend(tree.syntax().descendants().filter_map(ast::Adt::cast).filter_map(|it| made_anchor(&it)));
            bodies.extend(made.iter().copied());
        }
        let errors = |at: usize| {
            self.db.unwind_if_revision_cancelled();
            let bodies = self.bodies_at(&file.path, at).into_iter();
            (at, bodies.flat_map(|it| self.errors_in(it, true)).collect::<Vec<_>>())
        };
        let bodies = bodies.into_iter().map(errors).filter(|it| !it.1.is_empty()).collect();
        FileErrors { bodies, made, imports: self.unused_imports(file) }
    }

    /// The lines on which the bodies of an anchor have errors.
    pub(in crate::lang::rust) fn lines_with_errors(&self, file: &File, id: FileId, anchor: usize) -> BTreeSet<usize> {
        let errors = match self.index.errors(id) {
            Some(known) => known.bodies.get(&anchor).cloned().unwrap_or_default(),
            None => self.bodies_at(&file.path, anchor).into_iter().flat_map(|it| self.errors_in(it, true)).collect(),
        };
        errors.iter().flat_map(|it| it.place.line..=it.place.end_line).collect()
    }

    /// The body of what is named at an offset; where a macro is called among items, the bodies that it makes.
    pub(in crate::lang::rust) fn bodies_at(&self, file: &str, offset: usize) -> Vec<DefWithBody> {
        let Some(id) = self.file_id(file) else { return Vec::new() };
        let body = match self.definition_at(id, offset) {
            Some(Definition::Function(it)) => Some(it.into()),
            Some(Definition::Const(it)) => Some(it.into()),
            Some(Definition::Static(it)) => Some(it.into()),
            Some(Definition::EnumVariant(it)) => Some(it.into()),
            _ => None,
        };
        if body.is_some() {
            return body.into_iter().collect();
        }
        if let Some((attribute, adt)) = self.attribute_at(id, offset) {
            let is_its_start = usize::from(attribute.syntax().text_range().start()) == offset;
            return if is_its_start { self.derived_bodies(&adt) } else { Vec::new() };
        }
        let call = self.macro_call_at(id, offset).filter(|it| usize::from(it.syntax().text_range().start()) == offset);
        let Some(expansion) = call.and_then(|it| self.sema.expand_macro_call(&it)) else { return Vec::new() };
        let mut functions = Vec::new();
        self.in_expansions(&expansion.value, &mut |node| functions.extend(ast::Fn::cast(node.clone())));
        functions.into_iter().filter_map(|it| self.sema.to_def(&it)).map(DefWithBody::from).collect()
    }

    /// What holds the bodies around an offset: the outermost item with one, an attribute of a type, or a call of a
    /// macro among items.
    pub(in crate::lang::rust) fn anchor(&self, file: &File, id: FileId, offset: usize) -> Option<usize> {
        if let Some((attribute, _)) = self.attribute_at(id, offset) {
            return Some(attribute.syntax().text_range().start().into());
        }
        let item = unit_around(file, offset).map(|it| it.name_span.start);
        item.or_else(|| Some(self.macro_call_at(id, offset)?.syntax().text_range().start().into()))
    }

    pub(super) fn anchor_of(&self, place: &Occurrence) -> Option<(Arc<str>, usize)> {
        Some((place.file.path.clone(), self.anchor(&place.file, place.id, place.at.start)?))
    }

    pub(super) fn macro_call_at(&self, file: FileId, offset: usize) -> Option<ast::MacroCall> {
        let token = self.token(file, offset)?;
        token.parent_ancestors().filter_map(ast::MacroCall::cast).find(is_among_items)
    }

    /// The changed declarations with the places that name them.
    fn causes<'a>(&self, scene: &EditContext, deltas: &[(usize, Delta<'a>)]) -> Vec<ChangedSymbol<'a>> {
        let mut definitions: Vec<Definition<'db>> = Vec::new();
        let mut causes: Vec<ChangedSymbol<'a>> = Vec::new();
        type Of<'b, 'a> = Option<&'b (usize, Delta<'a>)>;
        let mut add = |delta: Of<'_, 'a>, definition: Definition<'db>, is_itself: bool, lost: Vec<String>| {
            let Some(path) = self.path_of(definition) else { return };
            let name = definition.name(self.db).map(|it| it.as_str().to_owned()).unwrap_or_default();
            let (delta, occurrences, in_macros, calls) = (delta.cloned(), Vec::new(), Vec::new(), Vec::new());
            causes.push(ChangedSymbol { delta, path, name, occurrences, in_macros, calls, is_itself, lost });
            definitions.push(definition);
        };
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        for edited in deltas {
            let (index, delta) = edited;
            let file = &scene.olds[*index];
            let Some(id) = self.file_id(&file.path) else { continue };
            let Some(item) = delta.before else {
                // A new member may break who names its parent: a literal, a pattern, an implementation.
                for parent in delta.after.into_iter().flat_map(|it| self.with_siblings(file, id, it)) {
                    add(Some(edited), parent, false, Vec::new());
                }
                continue;
            };
            let is_evaluated = matches!(item.kind, SymbolKind::Const | SymbolKind::Static | SymbolKind::Macro);
            if delta.kind == ChangeKind::Body && !is_evaluated {
                continue;
            }
            let lost = lost_traits(delta, file, scene.news.get(*index).map(|it| &**it));
            if item.kind == SymbolKind::Impl {
                if let Some(adt) = self.adt_of_block(id, item) {
                    add(Some(edited), adt, false, lost);
                }
                continue;
            }
            if let Some(of) = type_of(file.outline(), item).filter(|it| seen.insert((*index, it.name_span.start))) {
                let goes = |it: &(usize, Delta<'_>)| {
                    let is_it = it.0 == *index && it.1.before.is_some_and(|it| it.name_span == of.name_span);
                    is_it && matches!(it.1.kind, ChangeKind::Removed | ChangeKind::Renamed)
                };
                let is_gone = deltas.iter().any(goes);
                for made in self.made_of(id, of) {
                    // What belongs to a type that is gone is missed there.
                    let is_member =
                        as_assoc_item(made, self.db).is_some() || matches!(made, Definition::EnumVariant(_));
                    if !is_gone || !is_member {
                        add(None, made, true, Vec::new());
                    }
                }
            }
            let Some(definition) = self.definition_at(id, item.name_span.start) else { continue };
            add(Some(edited), definition, true, lost);
            for member in self.found_through(definition, delta) {
                add(Some(edited), member, true, Vec::new());
            }
            if matches!(definition, Definition::Field(_) | Definition::EnumVariant(_)) {
                for parent in self.with_siblings(file, id, item) {
                    add(Some(edited), parent, false, Vec::new());
                }
            }
        }
        for definition in self.no_more_imported(scene) {
            add(None, definition, true, Vec::new());
        }
        for (cause, found) in causes.iter_mut().zip(self.find(&definitions)) {
            let mut found = found;
            cause.occurrences = std::mem::take(&mut found.items);
            cause.in_macros = found.in_macros().collect();
            if cause.goes() {
                cause.calls = self.calls_around(&cause.in_macros);
            }
        }
        self.follow_types(scene, &definitions, &mut causes);
        causes
    }

    /// What globs and imports find through an enum or a module, where nobody finds that any more. Of what is written in the
    /// edited text itself the outline knows what goes.
    fn found_through(&self, definition: Definition<'db>, delta: &Delta<'_>) -> Vec<Definition<'db>> {
        let is_hidden = delta.kind == ChangeKind::Visibility;
        let goes = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Renamed);
        let is_elsewhere = delta.before.is_some_and(|it| it.children.is_empty());
        match definition {
            Definition::Adt(Adt::Enum(it)) if is_hidden => {
                it.variants(self.db).into_iter().map(Definition::EnumVariant).collect()
            }
            Definition::Module(it) if is_hidden || goes && is_elsewhere => {
                it.declarations(self.db).into_iter().take(MAX_FOUND_THROUGH).map(Definition::from).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The type that an item is a member of, as it is in the old text; of a variant its siblings too, since a pattern
    /// names these.
    fn with_siblings(&self, file: &File, id: FileId, item: &OutlineItem) -> Vec<Definition<'db>> {
        let kinds = [SymbolKind::Struct, SymbolKind::Enum, SymbolKind::Union, SymbolKind::Variant];
        let mut found = Vec::new();
        for parent in parents(file, item, &kinds) {
            found.push(parent.name_span.start);
            let siblings = parent.children.iter().filter(|it| it.kind == SymbolKind::Variant);
            found.extend(siblings.filter(|it| it.name != item.name).map(|it| it.name_span.start));
        }
        found.into_iter().filter_map(|it| self.definition_at(id, it)).collect()
    }

    fn adt_of_block(&self, file: FileId, item: &OutlineItem) -> Option<Definition<'db>> {
        let block = self.impl_at(file, item.name_span.start)?;
        block.self_ty(self.db).as_adt().map(Definition::Adt)
    }

    /// What the old text's imports name that no import of the new text names.
    fn no_more_imported(&self, scene: &EditContext) -> Vec<Definition<'db>> {
        let mut gone = Vec::new();
        for (old, new) in scene.olds.iter().zip(&scene.news) {
            let kept: BTreeSet<&str> = new.outline().imports.iter().map(|it| it.path.as_str()).collect();
            let lines: BTreeSet<usize> =
                old.outline().imports.iter().filter(|it| !kept.contains(it.path.as_str())).map(|it| it.line).collect();
            let Some(id) = self.file_id(&old.path).filter(|_| !lines.is_empty()) else { continue };
            let names = names_now(self, id);
            for (at, sense, role) in names.within(0, old.text.len()) {
                let Sense::Means(meaning) = sense else { continue };
                if role == Role::Import && lines.contains(&old.lines().line(at)) {
                    let definition = meaning.definition.definition();
                    if !matches!(definition, Definition::Module(_) | Definition::Crate(_)) {
                        gone.push(definition);
                    }
                }
            }
        }
        gone
    }

    /// A trait and its implementations have to fit each other.
    fn follow_traits(
        &self,
        file: &Arc<File>,
        delta: &Delta<'_>,
        reach: &mut AffectedSet<'_>,
        units: &mut BTreeSet<(Arc<str>, usize)>,
    ) {
        let Some(id) = self.file_id(&file.path) else { return };
        if delta.kind == ChangeKind::Body {
            return;
        }
        let item = delta.before.or(delta.after);
        let own = delta.before.and_then(|it| self.definition_at(id, it.name_span.start));
        if let (Some(Definition::Function(function)), Some(before)) = (own, delta.before)
            && let Some(shape) = shape_at(&self.sema, function)
        {
            reach.shapes.insert((file.path.clone(), before.name_span.start), shape);
        }
        let of_trait = match own {
            Some(Definition::Trait(it)) => Some(it),
            Some(it) => as_assoc_item(it, self.db).and_then(|it| it.container_trait(self.db)),
            None => item.and_then(|it| self.trait_around(file, id, it)),
        };
        if let Some(of) = of_trait {
            self.note_objects(of, reach);
            self.note_inner_blocks(of, reach);
            for block in Impl::all_for_trait(self.db, of) {
                let Some(target) = block.try_to_nav(&self.sema).map(|it| it.call_site) else { continue };
                let Some(name) = self.name_of(target.file_id).filter(|it| self.files.get(it).is_some()) else {
                    continue;
                };
                let name: Arc<str> = name.into();
                reach.blocks.insert((name.clone(), span(target.focus_or_full_range()).start));
                let member = item.map_or("", |it| it.name.as_str());
                for own in block.items(self.db) {
                    let same = own.name(self.db).is_some_and(|it| it.as_str() == member);
                    let at = assoc_definition(own).try_to_nav(&self.sema);
                    if let Some(at) = at.filter(|_| same) {
                        units.insert((name.clone(), span(at.call_site.focus_or_full_range()).start));
                    }
                }
            }
        }
    }

    /// The trait that an item of a new text is a member of, as it is in the old text.
    fn trait_around(&self, file: &File, id: FileId, item: &OutlineItem) -> Option<Trait> {
        let around = parents(file, item, &[SymbolKind::Trait]).into_iter().next()?;
        match self.definition_at(id, around.name_span.start)? {
            Definition::Trait(it) => Some(it),
            _ => None,
        }
    }

    fn note_unresolved(&self, file: &Arc<File>, unresolved: &mut BTreeSet<(Arc<str>, usize)>) {
        let Some(id) = self.file_id(&file.path) else { return };
        for (at, sense, _) in names_now(self, id).within(0, file.text.len()) {
            if matches!(sense, Sense::Unresolved(_)) {
                unresolved.insert((file.path.clone(), at));
            }
        }
    }
}

/// What an item of a new text is a member of, as it is in the old text.
fn parents<'f>(old: &'f File, item: &OutlineItem, kinds: &[SymbolKind]) -> Vec<&'f OutlineItem> {
    let Some((name, around)) = item.container.split_last() else { return Vec::new() };
    let mut found = Vec::new();
    old.outline().walk(&mut |candidate| {
        if kinds.contains(&candidate.kind) && candidate.name == *name && candidate.container == around {
            found.push(candidate);
        }
    });
    found
}

/// Whether a place within an item stands in its head.
pub(super) fn is_outside_body(item: &OutlineItem, place: &Occurrence) -> bool {
    item.body.is_none_or(|body| place.at.start < body.start)
}

fn lost_traits(delta: &Delta<'_>, old: &File, new: Option<&File>) -> Vec<String> {
    let Some(before) = delta.before else { return Vec::new() };
    match (before.kind, delta.after, new) {
        (SymbolKind::Impl, None, _) => {
            let of = before.name.split(" for ").next().unwrap_or_default();
            let of = of.split('<').next().unwrap_or_default();
            vec![of.rsplit("::").next().unwrap_or_default().to_owned()]
        }
        (_, Some(after), Some(new)) => {
            let kept = derives(after, &new.text);
            derives(before, &old.text).into_iter().filter(|it| !kept.contains(it)).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether what names a declaration may have another type now.
fn retypes(delta: &Delta<'_>) -> bool {
    let result = |item: &OutlineItem| {
        let (head, result) = item.signature.split_once("->").unwrap_or((&item.signature, ""));
        (result.trim().to_owned(), head.contains("async fn"))
    };
    match (delta.kind, delta.before.zip(delta.after)) {
        (ChangeKind::Visibility | ChangeKind::Added | ChangeKind::Renamed | ChangeKind::Removed, _) => {
            delta.before.is_some_and(|it| it.kind == SymbolKind::Impl)
        }
        (_, Some((before, after))) if matches!(before.kind, SymbolKind::Function | SymbolKind::Method) => {
            // What is called takes and gives something of its own.
            let takes_called = |it: &OutlineItem| words(&it.signature).any(|it| it.1.starts_with("Fn"));
            result(before) != result(after) || takes_called(before) || takes_called(after)
        }
        _ => true,
    }
}
