//! Which unresolved places cannot name a symbol. Such a place is no possible usage. Each exclusion is a proof from facts
//! that do not depend on what is unresolved: which packages and modules can see the symbol, and what its kind and its
//! parameters allow in the syntax of the place. In doubt a place stays.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::{
    Adt, AssocItemContainer, Crate, HasSource as _, HasVisibility as _, MacroKind, Module, ModuleDef, PathResolution,
    Semantics, Visibility,
};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, ast};
use rustc_hash::FxHashMap;

use super::shapes::{self, Around, PathUse, Qualifier, Shape, Site};
use super::target_usages::TargetUsages;
use crate::LANGUAGE;
use crate::index::search::Occurrence;
use crate::names::definitions::{as_assoc_item, in_trait, is_exported, syntax_of};
use crate::names::instances::{self, canonical, owners, twins};
use crate::names::{Key, UnresolvedReason};
use crate::resolve::paths::crates;
use crate::resolve::paths::items::files_with;
use crate::syntax::positions::{span, tokens_at};
use crate::syntax::referenced_files;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Span, Symbol};
use semdex_text::words::words;

/// Removes the places that can name none of these definitions.
pub(crate) fn exclude<'db>(cx: &Context<'db>, definitions: &[Definition<'db>], found: &mut TargetUsages) {
    if found.possible.is_empty() && found.in_generated.is_empty() && found.in_doctests.is_empty() {
        return;
    }
    let mut places = Places::new(cx);
    let sought: Vec<Sought<'_, 'db>> = definitions.iter().map(|it| Sought::new(cx, *it)).collect();
    let mut may_be_at = |it: &Occurrence, why| sought.iter().any(|sought| sought.may_be_at(&mut places, it, why));
    found.possible.retain(|(it, why)| may_be_at(it, *why));
    found.in_doctests.retain(|(it, why)| may_be_at(it, *why));
    found.in_generated.retain(|it| sought.iter().any(|sought| sought.is_seen_from(&places.of(it), Around::Code)));
}

/// The places of these that may name one of the definitions.
pub(super) fn retain<'db>(
    cx: &Context<'db>,
    definitions: &[Definition<'db>],
    possible: &mut Vec<(Occurrence, UnresolvedReason)>,
) {
    let mut places = Places::new(cx);
    let sought: Vec<Sought<'_, 'db>> = definitions.iter().map(|it| Sought::new(cx, *it)).collect();
    possible.retain(|(it, why)| sought.iter().any(|sought| sought.may_be_at(&mut places, it, *why)));
}

/// The same for a symbol that is not compiled, of which only the package is known.
pub(crate) fn exclude_by_package(cx: &Context<'_>, symbol: &Symbol, found: &mut TargetUsages) {
    let packages = &cx.environment.packages;
    let Some(own) = packages.package_of(cx.root.join(&symbol.place.file).as_ref()) else { return };
    let mut places = Places::new(cx);
    let scope = Scope { packages: Some(vec![own.to_owned()]), crates: None };
    found.possible.retain(|(it, why)| {
        let around = site_of(cx, it, *why).map_or(Around::MacroInput, |it| it.0.around);
        scope.is_seen_from(cx, &places.of(it), around)
    });
}

/// Where a symbol can be seen.
struct Scope {
    /// The packages of which one must be seen. `None`: every package sees it.
    packages: Option<Vec<PathBuf>>,
    /// The crates that alone can name it. `None`: all can.
    crates: Option<Vec<CrateId>>,
}

impl Scope {
    fn is_seen_from(&self, cx: &Context<'_>, place: &PlaceFacts, around: Around) -> bool {
        if place.is_alone && self.crates.is_some() {
            return false;
        }
        let graph = &cx.environment.packages;
        let Some(packages) = &self.packages else { return true };
        let Some(written_in) = &place.packages else { return true };
        // The code of the place may be compiled in other packages too.
        let compiled_in = written_in.iter().flat_map(|it| match around {
            Around::Code | Around::MacroDefinition { is_exported: false } => vec![it.as_path()],
            Around::MacroInput if place.makes_exported_macros => graph.dependents(it),
            Around::MacroInput => {
                let mut users = graph.users_by_proc_macros(it);
                users.push(it);
                users
            }
            Around::MacroDefinition { is_exported: true } => graph.dependents(it),
        });
        let is_private = self.crates.is_some();
        let sees = |from: &Path| {
            packages.iter().any(|it| if is_private { from == it.as_path() } else { graph.may_see(from, it) })
        };
        if !compiled_in.into_iter().any(sees) {
            return false;
        }
        // Code that is compiled where it is written names what is private only in the crates of its own file.
        let is_written_here = match around {
            Around::Code | Around::MacroDefinition { is_exported: false } => true,
            Around::MacroDefinition { is_exported: true } => false,
            Around::MacroInput => {
                !place.makes_exported_macros && written_in.iter().all(|it| graph.users_by_proc_macros(it).is_empty())
            }
        };
        let is_here = |own: &Vec<CrateId>| place.crates.is_empty() || place.crates.iter().any(|it| own.contains(it));
        !is_written_here || self.crates.as_ref().is_none_or(is_here)
    }
}

/// What is known of a symbol that excludes places.
struct Sought<'a, 'db> {
    cx: &'a Context<'db>,
    definition: Definition<'db>,
    scope: Scope,
    /// The part of a file outside of which nothing can name an item in a body.
    block: Option<(FileId, Span)>,
    is_written: bool,
    form: Form,
    /// The type that alone has it, for a path before it.
    owner: Option<Key>,
}

/// What the syntax of a place must allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `parameters` with `self`, if their number is certain.
    Function {
        parameters: Option<usize>,
        has_self: bool,
        container: Container,
    },
    Field,
    Macro,
    Module,
    Trait,
    Type,
    Value,
    /// An associated type or constant.
    Associated,
    Variant,
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Module,
    Type,
    Trait,
}

impl<'a, 'db> Sought<'a, 'db> {
    fn new(cx: &'a Context<'db>, definition: Definition<'db>) -> Sought<'a, 'db> {
        let original = in_trait(definition, cx.db);
        let source = syntax_of(&cx.sema, definition);
        let written = source.as_ref().filter(|it| !it.file_id.is_macro());
        let file = written.map(|it| it.file_id.original_file(cx.db).file_id(cx.db));
        let node = written.map(|it| &it.value);
        let is_item = as_assoc_item(definition, cx.db).is_none()
            && !matches!(definition, Definition::Field(_) | Definition::EnumVariant(_) | Definition::Macro(_));
        let block = node.filter(|_| is_item).and_then(|it| it.ancestors().find_map(ast::BlockExpr::cast));
        Sought {
            cx,
            definition,
            scope: Scope { packages: packages_of(cx, &[definition, original]), crates: only_crates(cx, definition) },
            block: file.zip(block.map(|it| span(it.syntax().text_range()))),
            is_written: written.is_some(),
            form: form_of(cx, definition, source.as_ref().map(|it| &it.value)),
            owner: owner_of(cx, definition),
        }
    }

    fn is_seen_from(&self, place: &PlaceFacts, around: Around) -> bool {
        self.scope.is_seen_from(self.cx, place, around)
    }

    fn may_be_at(&self, places: &mut Places<'_, 'db>, it: &Occurrence, why: UnresolvedReason) -> bool {
        let site = site_of(self.cx, it, why);
        let around = site.as_ref().map_or(Around::MacroInput, |it| it.0.around);
        let place = places.of(it);
        if !self.is_seen_from(&place, around) {
            return false;
        }
        let Some((site, token)) = site else { return true };
        if site.around == Around::Code {
            if self.block.is_some_and(|(file, block)| file != it.id || !block.contains(it.at.start)) {
                return false;
            }
            if self.is_written && !place.modules.is_empty() && !self.is_visible(&place.modules, &token) {
                return false;
            }
        }
        site.shapes.is_empty() || site.shapes.iter().any(|it| self.fits(it))
    }

    /// Whether its visibility allows a name in one of these modules, or in a module written around the token.
    fn is_visible(&self, modules: &[Module], token: &SyntaxToken) -> bool {
        let db = self.cx.db;
        if matches!(self.definition, Definition::Macro(_)) || is_of_trait(db, self.definition) {
            return true;
        }
        let Some(Visibility::Module(..)) = self.definition.visibility(db) else { return true };
        let sees = |module: Module| match self.definition {
            Definition::Function(it) => it.is_visible_from(db, module),
            Definition::Adt(it) => it.is_visible_from(db, module),
            Definition::Const(it) => it.is_visible_from(db, module),
            Definition::Static(it) => it.is_visible_from(db, module),
            Definition::Trait(it) => it.is_visible_from(db, module),
            Definition::TypeAlias(it) => it.is_visible_from(db, module),
            Definition::Field(it) => it.is_visible_from(db, module),
            Definition::Module(it) => it.is_visible_from(db, module),
            _ => true,
        };
        let written = || token.parent_ancestors().filter_map(ast::Module::cast);
        modules.iter().any(|it| sees(*it)) || written().any(|it| self.cx.sema.to_def(&it).is_some_and(sees))
    }

    fn fits(&self, shape: &Shape) -> bool {
        let (qualifier, is_last, what) = match shape {
            Shape::NoName => return false,
            Shape::MethodCall(arguments) => {
                return match self.form {
                    Form::Function { parameters, has_self: true, container } => {
                        container != Container::Module
                            && parameters.zip(*arguments).is_none_or(|(all, given)| all == given + 1)
                    }
                    form => form == Form::Any,
                };
            }
            Shape::FieldAccess | Shape::RecordField => return matches!(self.form, Form::Field | Form::Any),
            Shape::MacroCall => return matches!(self.form, Form::Macro | Form::Any),
            Shape::Import => {
                let is_inherent = |it| matches!(it, Form::Function { container: Container::Type, .. } | Form::Field);
                return !is_inherent(self.form);
            }
            Shape::Declaration(_) => return self.may_be_declared(),
            Shape::Segment { qualifier, is_last, what } => (qualifier, *is_last, *what),
        };
        if let Qualifier::Some(Some(path)) = qualifier
            && !self.may_follow(path)
        {
            return false;
        }
        match self.form {
            Form::Any => true,
            Form::Field => false,
            Form::Macro => what == PathUse::Attribute,
            Form::Module => !is_last || matches!(what, PathUse::Other | PathUse::Attribute),
            Form::Trait => !matches!(what, PathUse::Value | PathUse::Pattern | PathUse::Record) || !is_last,
            Form::Type => true,
            Form::Associated => *qualifier != Qualifier::None,
            Form::Value | Form::Variant => is_last,
            Form::Function { parameters, container, .. } => {
                let has_qualifier = *qualifier != Qualifier::None;
                let is_reached = container != Container::Type || has_qualifier;
                is_last
                    && is_reached
                    && match what {
                        PathUse::Call(given) => parameters.zip(given).is_none_or(|(all, given)| all == given),
                        PathUse::Value | PathUse::Other => true,
                        PathUse::Type | PathUse::Attribute => container == Container::Trait,
                        PathUse::Pattern | PathUse::Record => false,
                    }
            }
        }
    }

    /// Whether a declaration of its name may implement it.
    fn may_be_declared(&self) -> bool {
        self.form == Form::Any || is_of_trait(self.cx.db, self.definition)
    }

    /// Whether it can be named behind this path, `path::name`.
    fn may_follow(&self, path: &ast::Path) -> bool {
        let Some(resolution) = self.cx.sema.resolve_path(path) else { return true };
        let db = self.cx.db;
        let adt = match resolution {
            PathResolution::Def(ModuleDef::Adt(it)) => Some(it),
            PathResolution::SelfType(it) => it.self_ty(db).as_adt(),
            _ => return true,
        };
        let key = adt.map(|it| canonical(db, Key::Adt(it)));
        match (self.owner, self.form) {
            (Some(owner), _) => key.is_none_or(|it| it == owner),
            (None, Form::Function { container: Container::Module, .. } | Form::Module | Form::Trait) => key.is_none(),
            _ => true,
        }
    }
}

/// The packages of which a place must see one to name these. `None` if every package sees one of them.
fn packages_of(cx: &Context<'_>, definitions: &[Definition<'_>]) -> Option<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for definition in definitions {
        let key = canonical(cx.db, Key::of(*definition)?);
        for twin in twins(cx.db, key) {
            let krate = match twin {
                Key::Crate(krate) => krate,
                Key::Module(module) => module.krate(cx.db),
                other => other.definition().module(cx.db)?.krate(cx.db),
            };
            packages.push(package_of_crate(cx, krate.base())?);
        }
    }
    packages.dedup();
    Some(packages)
}

/// The directory of a crate's package, as Cargo reports it to the compiler.
pub(super) fn package_of_crate(cx: &Context<'_>, krate: CrateId) -> Option<PathBuf> {
    if Crate::from(krate).is_builtin(cx.db) {
        return None;
    }
    krate.env(cx.db).get("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

/// The crates that alone can name a definition: it is private, or no library's. `None` if others can too.
fn only_crates(cx: &Context<'_>, definition: Definition<'_>) -> Option<Vec<CrateId>> {
    let db = cx.db;
    let is_private = match definition {
        Definition::Macro(it) => it.kind(db) == MacroKind::Declarative && !is_exported(db, it),
        Definition::Crate(_) | Definition::ExternCrateDecl(_) => false,
        Definition::Module(it) if it.is_crate_root(db) => false,
        other if is_of_trait(db, other) => false,
        other => matches!(other.visibility(db), Some(Visibility::Module(..) | Visibility::PubCrate(_))),
    };
    let krate = |it: Key| match it {
        Key::Crate(it) => Some(it),
        Key::Module(it) => Some(it.krate(db)),
        other => Some(other.definition().module(db)?.krate(db)),
    };
    let crates: Vec<Crate> =
        twins(db, canonical(db, Key::of(definition)?)).into_iter().map(krate).collect::<Option<_>>()?;
    let is_local = |it: &Crate| it.origin(db).is_local();
    let is_found_outside = |it: &Crate| {
        let is_macro = matches!(definition, Definition::Function(_) | Definition::Macro(_));
        crates::is_library(cx, *it) || it.base().data(db).is_proc_macro && is_macro
    };
    let is_own = is_private || crates.iter().all(|it| is_local(it) && !is_found_outside(it));
    is_own.then(|| crates.iter().map(|it| it.base()).collect())
}

/// Whether it is a trait's item or implements one. A bound brings these with it, even items of a private trait.
fn is_of_trait(db: &RootDatabase, definition: Definition<'_>) -> bool {
    as_assoc_item(definition, db).is_some_and(|it| match it.container(db) {
        AssocItemContainer::Trait(_) => true,
        AssocItemContainer::Impl(it) => it.trait_(db).is_some(),
    })
}

fn form_of(cx: &Context<'_>, definition: Definition<'_>, source: Option<&SyntaxNode>) -> Form {
    match definition {
        Definition::Function(function) => {
            let container = match as_assoc_item(definition, cx.db) {
                None => Container::Module,
                Some(_) if is_of_trait(cx.db, definition) => Container::Trait,
                Some(_) => Container::Type,
            };
            let Some(source) = source else { return Form::Any };
            if shapes::attributes(source).any(|it| it.starts_with("proc_macro")) {
                return Form::Any;
            }
            let of_parameters = source.children().filter(|it| ast::ParamList::can_cast(it.kind()));
            let is_certain = !function.is_varargs(cx.db)
                && source.ancestors().all(|it| shapes::attributes(&it).all(|it| shapes::leaves_code(&it)))
                && !of_parameters.flat_map(|it| it.descendants()).any(|it| ast::Attr::can_cast(it.kind()));
            let parameters = is_certain.then(|| function.num_params(cx.db));
            Form::Function { parameters, has_self: function.has_self_param(cx.db), container }
        }
        Definition::Field(_) => Form::Field,
        Definition::Macro(_) => Form::Macro,
        Definition::Module(_) | Definition::Crate(_) => Form::Module,
        Definition::Trait(_) => Form::Trait,
        Definition::TypeAlias(_) | Definition::Const(_) if as_assoc_item(definition, cx.db).is_some() => {
            Form::Associated
        }
        Definition::Adt(_) | Definition::TypeAlias(_) => Form::Type,
        Definition::Const(_) | Definition::Static(_) => Form::Value,
        Definition::EnumVariant(_) => Form::Variant,
        _ => Form::Any,
    }
}

/// The type behind which alone a member is named.
fn owner_of(cx: &Context<'_>, definition: Definition<'_>) -> Option<Key> {
    let adt = match definition {
        Definition::EnumVariant(it) => Adt::Enum(it.parent_enum(cx.db)),
        _ if is_of_trait(cx.db, definition) => return None,
        _ => match as_assoc_item(definition, cx.db)?.container(cx.db) {
            AssocItemContainer::Impl(it) => it.self_ty(cx.db).as_adt()?,
            AssocItemContainer::Trait(_) => return None,
        },
    };
    Some(canonical(cx.db, Key::Adt(adt)))
}

/// The syntax of a place, and its token. `None` if there is none.
fn site_of(cx: &Context<'_>, it: &Occurrence, why: UnresolvedReason) -> Option<(Site, SyntaxToken)> {
    use UnresolvedReason::{Abandoned, Included, OutOfTime, TooDeep};
    // The text at the place of a call does not have the name that the macro writes.
    if matches!(why, Included | TooDeep) || it.calls.is_some() {
        return None;
    }
    let tree = cx.sema.parse_guess_edition(it.id);
    let token = tokens_at(tree.syntax(), it.at.start).right_biased()?;
    let expands = !matches!(why, Abandoned | OutOfTime)
        && cx.sema.file_to_module_def(it.id).is_some()
        && owners(cx.db, it.id).len() == 1;
    let sema: Option<&Semantics<'_, RootDatabase>> = expands.then_some(&cx.sema);
    Some((shapes::site(sema, &token), token))
}

/// What is known of all places in a file.
struct PlaceFacts {
    /// The packages that the file may belong to. `None` if these are not known.
    packages: Option<Vec<PathBuf>>,
    /// The crates that include it. None if it is in no crate.
    crates: Vec<CrateId>,
    modules: Vec<Module>,
    /// No crate includes the file, whatever its build: it can only be the root of a crate of its own.
    is_alone: bool,
    /// The input of macros there may be in exported macros.
    makes_exported_macros: bool,
}

struct Places<'a, 'db> {
    cx: &'a Context<'db>,
    of_files: FxHashMap<FileId, Arc<PlaceFacts>>,
    /// The packages whose code names files of another one by a path: by the latter. `None` for an unknown package.
    references: Option<FxHashMap<PathBuf, Vec<Option<PathBuf>>>>,
}

impl<'a, 'db> Places<'a, 'db> {
    fn new(cx: &'a Context<'db>) -> Places<'a, 'db> {
        Places { cx, of_files: FxHashMap::default(), references: None }
    }

    fn of(&mut self, it: &Occurrence) -> Arc<PlaceFacts> {
        if let Some(known) = self.of_files.get(&it.id) {
            return known.clone();
        }
        let cx = self.cx;
        let modules: Vec<Module> = cx.sema.file_to_module_defs(it.id).collect();
        let mut crates: Vec<CrateId> = modules.iter().map(|it| it.krate(cx.db).base()).collect();
        crates.dedup();
        let is_alone = crates.is_empty() && programs_with(cx, &it.file).is_some();
        let facts = Arc::new(PlaceFacts {
            is_alone,
            packages: self.packages_with(&it.file, &crates),
            makes_exported_macros: crates.iter().any(|it| has_generated_macros(cx, *it)),
            crates,
            modules,
        });
        self.of_files.insert(it.id, facts.clone());
        facts
    }

    fn packages_with(&mut self, file: &File, crates: &[CrateId]) -> Option<Vec<PathBuf>> {
        let graph = &self.cx.environment.packages;
        let mut packages: Vec<PathBuf> =
            crates.iter().map(|it| package_of_crate(self.cx, *it)).collect::<Option<_>>()?;
        if !Path::new(&*file.path).is_absolute() {
            packages.push(graph.package_of(self.cx.root.join(&*file.path).as_ref())?.to_owned());
        }
        let cx = self.cx;
        let references = self.references.get_or_insert_with(|| references(cx));
        let mut position = 0;
        while let Some(package) = packages.get(position) {
            for user in references.get(package).cloned().unwrap_or_default() {
                let user = user?;
                if !packages.contains(&user) {
                    packages.push(user);
                }
            }
            position += 1;
        }
        packages.sort();
        packages.dedup();
        (!packages.is_empty()).then_some(packages)
    }
}

/// The root files of the programs that may include a file which no crate includes: the file itself, or those that refer to
/// it, directly or not. `None` if a text of a crate refers to one of them, in code of any build.
pub(super) fn programs_with(cx: &Context<'_>, file: &Arc<File>) -> Option<Vec<Arc<File>>> {
    let mut seen = HashSet::from([file.path.clone()]);
    let mut pending = vec![file.clone()];
    let mut roots = Vec::new();
    while let Some(file) = pending.pop() {
        let users = users_of(cx, &file)?;
        if users.is_empty() {
            roots.push(file);
        }
        for (user, id) in users {
            if cx.sema.file_to_module_def(id).is_some() {
                return None;
            }
            if seen.insert(user.path.clone()) {
                pending.push(user);
            }
        }
    }
    // Files that refer to each other.
    if roots.is_empty() {
        roots.push(file.clone());
    }
    Some(roots)
}

/// The files whose text refers to a file. `None` if these are not known.
fn users_of(cx: &Context<'_>, file: &File) -> Option<Vec<(Arc<File>, FileId)>> {
    let (directory, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let named = if name == "mod.rs" { directory.rsplit('/').next().unwrap_or_default() } else { name };
    // Without a word in the name nothing can be looked up.
    words(named).next()?;
    let mut found = Vec::new();
    for (user, id) in files_with(cx, named) {
        let is_it = |it: &String| **it == *file.path;
        let refers = || referenced_files(&user.path, &user.text).iter().any(|it| it.candidates.iter().any(is_it));
        if *user.path != *file.path && refers() {
            found.push((user.clone(), id));
        }
    }
    Some(found)
}

/// The packages that take in files of another one by their path.
fn references(cx: &Context<'_>) -> FxHashMap<PathBuf, Vec<Option<PathBuf>>> {
    let graph = &cx.environment.packages;
    let package_of = |file: &str| graph.package_of(cx.root.join(file).as_ref());
    let names_paths = |text: &str| {
        let is_path = |it: (usize, &str)| text[it.0 + it.1.len()..].trim_start().starts_with('=');
        text.contains("include!") || text.match_indices("path").any(is_path)
    };
    let mut references: FxHashMap<PathBuf, Vec<Option<PathBuf>>> = FxHashMap::default();
    for file in cx.files.of(LANGUAGE).filter(|it| names_paths(&it.text)) {
        let user = package_of(&file.path);
        let named = referenced_files(&file.path, &file.text).into_iter().filter(|it| it.has_path);
        for candidate in named.flat_map(|it| it.candidates) {
            if let Some(package) = package_of(&candidate).filter(|it| Some(*it) != user) {
                references.entry(package.to_owned()).or_default().push(user.map(Path::to_owned));
            }
        }
    }
    // A target may be in the directory of another package.
    for krate in instances::default_crates(cx.db) {
        let Some(user) = package_of_crate(cx, krate.base()) else { continue };
        let root = cx.name_of(krate.root_file(cx.db));
        if let Some(package) = root.and_then(|it| package_of(&it)).filter(|it| *it != user) {
            references.entry(package.to_owned()).or_default().push(Some(user));
        }
    }
    references
}

/// Whether macros write exported macros of a crate.
fn has_generated_macros(cx: &Context<'_>, krate: CrateId) -> bool {
    let declared = Crate::from(krate).root_module(cx.db).declarations(cx.db);
    declared.into_iter().any(|it| match it {
        ModuleDef::Macro(it) => is_exported(cx.db, it) && it.source(cx.db).is_none_or(|it| it.file_id.is_macro()),
        _ => false,
    })
}
