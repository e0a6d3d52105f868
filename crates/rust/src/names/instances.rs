//! The instances of a text: each crate that includes a file gives it a meaning of its own.
//!
//! A file belongs to several crates if both targets of a package declare it as a module, if integration tests share it,
//! or if several Cargo workspaces load its package. Definitions of two crates are twins if the same text declares them:
//! they have the same file, kind and position. Twins are one symbol. It is represented by the twin of the first crate
//! that has one, in rust-analyzer's order, in which a crate comes after its dependencies: the library before the
//! binary.
//!
//! Crates of further builds (`load/further_builds.rs`) are instances that only a pin shows: they add meanings, and no
//! answer of the default build depends on them.
//!
//! rust-analyzer's `Semantics` reads a file for its first crate. A pin (`crates/pin`) makes another crate the first one
//! for the current thread. A `Semantics` keeps what it has read, so each pin needs one of its own.

use std::collections::HashMap;
use std::sync::Arc;

use ra_ap_base_db::{
    Crate as CrateId, FileText, SourceDatabase as _, all_crates, further_build, further_crates, relevant_crates,
};
use ra_ap_cfg::CfgAtom;
use ra_ap_hir::{Adt, Crate, DefWithBody, Impl, Module, Semantics, Trait, attach_db};
use ra_ap_hir_def::{
    AdtId, ConstId, DefWithBodyId, Lookup as _, MacroId, StaticId, TraitId, TypeAliasId, include_macro_invoc,
};
use ra_ap_hir_expand::HirFileId;
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};
use rustc_hash::FxHashMap;
use salsa::plumbing::AsId as _;
use semdex_pin::{Pin, Pinned};

use super::database::IndexDatabase;
use super::included::{Included, file_of_text};
use super::{Key, outside_crates};
use crate::syntax::declaration::is_among_items;

/// The `cfg` flag of crates that represent doctests (`load/doctest_crates.rs`).
pub(crate) const OF_DOCTESTS: &str = "semdex_doctests";

/// The most levels of macros in macros in which twins are found.
const MAX_MACROS: usize = 8;

/// The crates of the default build that include a file, each after its dependencies. A file in no crate has the only
/// crate of its package, if there is just one.
pub(crate) fn owners(db: &RootDatabase, file: FileId) -> Arc<[CrateId]> {
    owners_of(db, db.file_text(file))
}

#[salsa::tracked(returns(clone))]
fn owners_of(db: &dyn IndexDatabase, text: FileText) -> Arc<[CrateId]> {
    let root = db.root();
    let file = *text.file_id(root);
    let _unpinned = semdex_pin::pin(None);
    let near = relevant_crates(root, file);
    if near.len() < 2 {
        return near.into();
    }
    attach_db(root, || {
        let mut owners: Vec<CrateId> = Vec::new();
        for module in Semantics::new(root).file_to_module_defs(file) {
            let krate = module.krate(root).base();
            if !owners.contains(&krate) {
                owners.push(krate);
            }
        }
        owners.into()
    })
}

/// The crates of further builds that include a file.
pub(crate) fn further_owners(db: &RootDatabase, file: FileId) -> Arc<[CrateId]> {
    further_owners_of(db, db.file_text(file))
}

#[salsa::tracked(returns(clone))]
fn further_owners_of(db: &dyn IndexDatabase, text: FileText) -> Arc<[CrateId]> {
    let root = db.root();
    let file = *text.file_id(root);
    let near = further_crates(root, root.file_source_root(file).source_root_id(root));
    let includes = |krate: CrateId| {
        let _pinned = pin_to(root, file, krate);
        Semantics::new(root).file_to_module_defs(file).any(|it| it.krate(root).base() == krate)
    };
    attach_db(root, || near.iter().copied().filter(|it| includes(*it)).collect())
}

/// The crates of all builds that include a file; crates of the default build come first.
#[salsa::tracked(returns(clone))]
fn all_owners_of(db: &dyn IndexDatabase, text: FileText) -> Arc<[CrateId]> {
    owners_of(db, text).iter().chain(&*further_owners_of(db, text)).copied().collect()
}

/// All crates of the default build, without crates of doctests.
pub(crate) fn default_crates(db: &RootDatabase) -> Vec<Crate> {
    let is_default = |it: &&CrateId| further_build(db, **it).is_none() && !is_of_doctests(db, **it);
    all_crates(db).iter().filter(is_default).map(|it| Crate::from(*it)).collect()
}

/// Whether a crate represents the doctests of a library.
pub(crate) fn is_of_doctests(db: &RootDatabase, krate: CrateId) -> bool {
    krate.cfg_options(db).check_atom(&CfgAtom::Flag(Symbol::intern(OF_DOCTESTS)))
}

/// Until the returned value is dropped, a new `Semantics` of this thread reads the file for this crate, and so other
/// files that the crate includes.
pub(crate) fn pin_to(db: &RootDatabase, file: FileId, krate: CrateId) -> Pinned {
    let root_file = krate.data(db).root_file_id;
    let root = db.file_source_root(root_file).source_root_id(db).0;
    let (krate, is_in_graph) = (krate.as_id().as_bits(), !outside_crates::is_outside(db, krate));
    semdex_pin::pin(Some(Pin { file: file.index(), root, krate, is_in_graph }))
}

/// The crate for which this thread reads a file that several crates of the default build include.
pub(crate) fn pinned(db: &RootDatabase, file: FileId) -> Option<CrateId> {
    let pinned = semdex_pin::pinned()?.krate;
    let owners = owners(db, file);
    owners.iter().copied().find(|it| owners.len() > 1 && it.as_id().as_bits() == pinned)
}

/// Whether this thread reads files for a certain crate.
pub(crate) fn is_any_pinned() -> bool {
    semdex_pin::pinned().is_some()
}

/// Whether this crate is pinned.
pub(crate) fn is_pinned(krate: Crate) -> bool {
    semdex_pin::pinned().is_some_and(|it| it.krate == krate.base().as_id().as_bits())
}

/// Whether another crate is pinned.
pub(crate) fn is_pinned_away(krate: Crate) -> bool {
    semdex_pin::pinned().is_some_and(|it| it.krate != krate.base().as_id().as_bits())
}

/// Whether the file is read for a crate of a further build.
pub(crate) fn is_pinned_to_further_build(db: &RootDatabase, file: FileId) -> bool {
    let pinned = semdex_pin::pinned().map(|it| it.krate);
    pinned.is_some_and(|pinned| further_owners(db, file).iter().any(|it| it.as_id().as_bits() == pinned))
}

/// The first result for a crate after the first one of the default build that includes a file. None if a crate is
/// pinned.
pub(crate) fn in_later_crates<'db, T>(
    db: &'db RootDatabase,
    file: FileId,
    look: impl Fn(&Semantics<'db, RootDatabase>) -> Option<T>,
) -> Option<T> {
    if semdex_pin::pinned().is_some() {
        return None;
    }
    owners(db, file).iter().skip(1).find_map(|krate| {
        let _pinned = pin_to(db, file, *krate);
        look(&Semantics::new(db))
    })
}

/// The first result for a crate of a further build that includes a file.
pub(crate) fn in_further_builds<'db, T>(
    db: &'db RootDatabase,
    file: FileId,
    look: impl Fn(&Semantics<'db, RootDatabase>) -> Option<T>,
) -> Option<T> {
    further_owners(db, file).iter().find_map(|krate| {
        let _pinned = pin_to(db, file, *krate);
        look(&Semantics::new(db))
    })
}

/// The result for the crate that declares what is in a module. The file may be read for another one otherwise.
pub(crate) fn in_crate_of<'db, T>(
    sema: &Semantics<'db, RootDatabase>,
    module: Module,
    look: impl Fn(&Semantics<'db, RootDatabase>) -> T,
) -> T {
    let db = sema.db;
    let krate = module.krate(db);
    let file = file_of_text(db, module.definition_source_file_id(db));
    let is_read_for = || owners(db, file).first().is_some_and(|it| *it == krate.base());
    if !krate.origin(db).is_local() || is_pinned(krate) || !is_any_pinned() && is_read_for() {
        return look(sema);
    }
    let _pinned = pin_to(db, file, krate.base());
    look(&Semantics::new(db))
}

/// The crate of a definition, and the file whose text declares it. `None` for a whole crate and a built-in type.
fn declaring(db: &RootDatabase, key: Key) -> Option<(CrateId, FileId)> {
    let module = match key {
        Key::Module(module) => module,
        other => other.definition().module(db)?,
    };
    let krate = module.krate(db).base();
    let source = match include_macro_invoc(db, krate).is_empty() {
        true => None,
        false => source_of(db, key),
    };
    let source = source.unwrap_or_else(|| module.definition_source_file_id(db));
    Some((krate, file_of_text(db, source)))
}

/// The file or expansion that declares something. Nothing is parsed for this.
fn source_of(db: &RootDatabase, key: Key) -> Option<HirFileId> {
    let of_adt = |it: Adt| match AdtId::from(it) {
        AdtId::StructId(it) => it.lookup(db).id.file_id,
        AdtId::UnionId(it) => it.lookup(db).id.file_id,
        AdtId::EnumId(it) => it.lookup(db).id.file_id,
    };
    Some(match key {
        Key::Adt(it) => of_adt(it),
        Key::Variant(it) => of_adt(Adt::Enum(it.parent_enum(db))),
        Key::Field(it) => of_adt(it.parent_def(db).adt(db)),
        Key::Function(it) => match DefWithBodyId::try_from(DefWithBody::from(it)).ok()? {
            DefWithBodyId::FunctionId(it) => it.lookup(db).id.file_id,
            _ => return None,
        },
        Key::Const(it) => ConstId::from(it).lookup(db).id.file_id,
        Key::Static(it) => StaticId::from(it).lookup(db).id.file_id,
        Key::Trait(it) => TraitId::from(it).lookup(db).id.file_id,
        Key::TypeAlias(it) => TypeAliasId::from(it).lookup(db).id.file_id,
        Key::Macro(it) => match MacroId::from(it) {
            MacroId::Macro2Id(it) => it.lookup(db).id.file_id,
            MacroId::MacroRulesId(it) => it.lookup(db).id.file_id,
            MacroId::ProcMacroId(it) => it.lookup(db).id.file_id,
        },
        Key::BuiltinType(_) | Key::Crate(_) | Key::ExternCrate(_) | Key::Module(_) => return None,
    })
}

/// The twin that represents a definition.
pub(crate) fn canonical(db: &RootDatabase, key: Key) -> Key {
    if let Key::Crate(krate) = key {
        return Key::Crate(first_like(db, krate));
    }
    let Some((krate, file)) = declaring(db, key) else { return key };
    let owners = owners_before(db, db.file_text(file), krate);
    if owners.first() == Some(&krate) || !owners.contains(&krate) {
        return key;
    }
    twins_in(db, db.file_text(file), krate).get(&key).copied().unwrap_or(key)
}

/// The crates with a file that may have a twin of what it declares in this crate, and the crate itself.
fn owners_before(db: &dyn IndexDatabase, text: FileText, krate: CrateId) -> Arc<[CrateId]> {
    if further_build(db, krate).is_some() { all_owners_of(db, text) } else { owners_of(db, text) }
}

/// The same for any definition.
pub(crate) fn representative<'db>(db: &RootDatabase, definition: Definition<'db>) -> Definition<'db> {
    Key::of(definition).map_or(definition, |it| canonical(db, it).definition())
}

/// All blocks that implement a trait or one of its twins.
pub(crate) fn blocks_of_trait(db: &RootDatabase, of: Trait) -> Vec<Impl> {
    let traits = twins(db, Key::Trait(of)).into_iter();
    let blocks = traits.flat_map(|it| match it {
        Key::Trait(it) => Impl::all_for_trait(db, it),
        _ => Vec::new(),
    });
    blocks.collect()
}

/// A definition that represents its twins, and these.
pub(crate) fn twins(db: &RootDatabase, key: Key) -> Vec<Key> {
    let mut found = vec![key];
    if let Key::Crate(krate) = key {
        found.extend(like(db, krate).into_iter().filter(|it| *it != krate).map(Key::Crate));
        return found;
    }
    let Some((krate, file)) = declaring(db, key) else { return found };
    let owners = owners(db, file);
    for krate in owners.iter().skip_while(|it| **it != krate).skip(1) {
        let twins = twins_in(db, db.file_text(file), *krate);
        found.extend(twins.iter().filter(|it| *it.1 == key).map(|it| *it.0));
    }
    found
}

/// The first crate with the same root file.
pub(crate) fn first_like(db: &RootDatabase, krate: Crate) -> Crate {
    like(db, krate).into_iter().next().unwrap_or(krate)
}

/// All crates with the same root file. No modules are worked out for this.
fn like(db: &RootDatabase, krate: Crate) -> Vec<Crate> {
    let root_file = krate.root_file(db);
    let _unpinned = semdex_pin::pin(None);
    let near = relevant_crates(db, root_file).iter().map(|it| Crate::from(*it));
    near.filter(|it| it.root_file(db) == root_file).collect()
}

/// What a file declares in a crate, each with its twin in the first crate that has one.
#[salsa::tracked(returns(clone))]
fn twins_in(db: &dyn IndexDatabase, text: FileText, krate: CrateId) -> Arc<FxHashMap<Key, Key>> {
    let root = db.root();
    let file = *text.file_id(root);
    attach_db(root, || {
        let owners = owners_before(db, text, krate);
        let mut left: HashMap<Mark, Key> = declared_in(root, file, krate).into_iter().collect();
        let mut twins = FxHashMap::default();
        for first in owners.iter().take_while(|it| **it != krate) {
            // Mostly the first crate has all of them.
            if left.is_empty() {
                break;
            }
            for (mark, twin) in declared_in(root, file, *first) {
                if let Some(own) = left.remove(&mark) {
                    twins.insert(own, twin);
                }
            }
        }
        Arc::new(twins)
    })
}

/// What a declaration has in common with its twins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mark {
    kind: SyntaxKind,
    /// The start of the declaration, or of the call of the macro that writes it.
    at: u32,
    /// For what macros write.
    name: String,
    /// The number of declarations before it for which all of the above is the same.
    nth: usize,
}

fn declared_in(db: &RootDatabase, file: FileId, krate: CrateId) -> Vec<(Mark, Key)> {
    let _pinned = pin_to(db, file, krate);
    let sema = Semantics::new(db);
    let tree = sema.parse_guess_edition(file);
    let included = Included::find(&sema, file, tree.syntax());
    let root = included.as_ref().map_or_else(|| tree.syntax().clone(), |it| it.root.clone());
    let mut declared = Declared { sema, included, found: Vec::new(), counts: HashMap::new() };
    declared.walk(&root, None, MAX_MACROS);
    declared.found
}

struct Declared<'db> {
    sema: Semantics<'db, RootDatabase>,
    /// The file as `include!` takes it in.
    included: Option<Included>,
    found: Vec<(Mark, Key)>,
    counts: HashMap<(SyntaxKind, u32, String), usize>,
}

impl Declared<'_> {
    fn walk(&mut self, tree: &SyntaxNode, call: Option<u32>, depth: usize) {
        for node in tree.descendants() {
            let of_file = self.included.as_ref().and_then(|it| it.start_of(&node));
            let at = call.or(of_file).unwrap_or_else(|| u32::from(node.text_range().start()));
            if let Some(key) = declared_by(&self.sema, &node) {
                let name = if call.is_some() { name_of(&node) } else { String::new() };
                let nth = self.counts.entry((node.kind(), at, name.clone())).or_default();
                self.found.push((Mark { kind: node.kind(), at, name, nth: *nth }, key));
                *nth += 1;
            }
            if let Some(expansion) = (depth > 0).then(|| expanded(&self.sema, &node)).flatten() {
                self.walk(&expansion, Some(at), depth - 1);
            }
        }
    }
}

fn declared_by(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Option<Key> {
    macro_rules! of {
        ($($node:ident => $key:expr),* $(,)?) => {
            $(if let Some(it) = ast::$node::cast(node.clone()) {
                return sema.to_def(&it).map($key);
            })*
        };
    }
    of!(
        SourceFile => Key::Module,
        Module => Key::Module,
        Fn => Key::Function,
        Adt => Key::Adt,
        Variant => Key::Variant,
        RecordField => Key::Field,
        TupleField => Key::Field,
        Trait => Key::Trait,
        TypeAlias => Key::TypeAlias,
        Const => Key::Const,
        Static => Key::Static,
        Macro => Key::Macro,
        ExternCrate => Key::ExternCrate,
    );
    None
}

fn name_of(node: &SyntaxNode) -> String {
    let name = node.children().find_map(ast::Name::cast).or_else(|| ast::AnyHasName::cast(node.clone())?.name());
    name.map(|it| it.text().to_string()).unwrap_or_default()
}

/// What a macro makes of a call among items, or of an item with its attribute.
fn expanded(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Option<SyntaxNode> {
    if let Some(call) = ast::MacroCall::cast(node.clone()) {
        return is_among_items(&call).then(|| sema.expand_macro_call(&call)).flatten().map(|it| it.value);
    }
    let item = ast::Item::cast(node.clone())?;
    sema.expand_attr_macro(&item).map(|it| it.value.value)
}
