//! The path that names a definition, as the contract has it: crate, modules, and for members the type or trait.
//!
//! A path is asked again as it was printed, so no two things may print the same one. Where they would, these tell
//! them apart, in this order:
//!
//! 1. `fn@krate::name`: what kind it is, before the path, as in rustdoc's links; before the one segment where what
//!    follows lies in the body of a function that shares its name with a type or module (`krate::fn@name::Inner`).
//!    A type, trait or module has the plain path where only a macro shares it: that one is `macro@krate::name`.
//! 2. `krate::Type<u8>::f`, `<krate::Type as From<A>>::from`: the arguments, where blocks of one type clash.
//! 3. `krate::name~2`: the second of that path, counted in the order of the code; what `cfg` switches off comes after
//!    what is compiled.
//!
//! An `impl` block is `impl@krate::Type` or `<krate::Type as krate::Trait>`. What no crate includes has its file in
//! the crate's place: `src/orphan.rs::name`.

mod crates;
mod definitions;
mod loose;
mod members;
mod types;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Impl, Module};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

pub(super) use crates::{CrateNames, TARGETS};
pub(super) use definitions::{as_assoc_item, assoc_definition, in_trait, module_definition};
pub(super) use loose::Item;

use super::names::Key;
use super::view::Context;
use members::Members;

/// Stands before which of several with one path is meant.
pub(super) const ORDINAL: char = '~';

/// What was worked out of names in one view.
#[derive(Default)]
pub(super) struct Names<'db> {
    crates: OnceCell<Arc<CrateNames>>,
    paths: RefCell<HashMap<Definition<'db>, Option<String>>>,
    members: RefCell<HashMap<Definition<'db>, Rc<Members<'db>>>>,
    impls: RefCell<HashMap<Impl, String>>,
    /// Implementations that have one path without arguments.
    alike: RefCell<HashMap<String, Rc<Vec<Impl>>>>,
    items: RefCell<HashMap<String, Rc<Vec<Item<'db>>>>>,
    files: RefCell<HashMap<String, String>>,
    /// The items whose rank among others is being worked out.
    ranking: RefCell<HashSet<(FileId, usize)>>,
}

/// A definition among those that have its container and name.
struct Standing {
    container: String,
    name: String,
    /// Something of another kind has the same path.
    is_shared: bool,
    /// From 1.
    ordinal: usize,
}

impl<'db> Context<'db> {
    /// `None` for what has no path: locals, generic parameters, labels.
    pub(super) fn path_of(&self, definition: Definition<'db>) -> Option<String> {
        if let Some(known) = self.names.paths.borrow().get(&definition) {
            return known.clone();
        }
        let path = match Key::of(definition) {
            Some(key) => self.known_path(key, || self.work_out_path_of(definition)).map(|it| it.to_string()),
            None => self.work_out_path_of(definition),
        };
        self.names.paths.borrow_mut().insert(definition, path.clone());
        path
    }

    fn work_out_path_of(&self, definition: Definition<'db>) -> Option<String> {
        if let Definition::SelfType(it) = definition {
            return Some(self.impl_block_path(it));
        }
        let Some(Standing { container, name, is_shared, ordinal }) = self.standing_of(definition) else {
            return self.path_as_container(definition);
        };
        let kind = if is_shared { format!("{}@", self.kind_word(definition)) } else { String::new() };
        Some(with_ordinal(format!("{kind}{container}::{name}"), ordinal))
    }

    /// What stands before `::` in the paths of its members.
    pub(super) fn path_as_container(&self, definition: Definition<'db>) -> Option<String> {
        match definition {
            Definition::Crate(krate) => Some(self.crate_name(krate)),
            Definition::Module(module) if module.is_crate_root(self.db) => Some(self.crate_name(module.krate(self.db))),
            Definition::BuiltinType(it) => Some(it.name().as_str().to_owned()),
            Definition::SelfType(it) => Some(self.impl_path(it)),
            _ => {
                let Standing { container, name, is_shared, ordinal } = self.standing_of(definition)?;
                // A type or a module has the plain name.
                let has_body =
                    matches!(definition, Definition::Function(_) | Definition::Const(_) | Definition::Static(_));
                let kind =
                    if is_shared && has_body { format!("{}@", self.kind_word(definition)) } else { String::new() };
                Some(with_ordinal(format!("{container}::{kind}{name}"), ordinal))
            }
        }
    }

    pub(super) fn module_path(&self, module: Module) -> String {
        self.path_as_container(Definition::Module(module)).unwrap_or_default()
    }

    fn standing_of(&self, definition: Definition<'db>) -> Option<Standing> {
        let within = self.container_of(definition)?;
        let name = self.name_in_path(definition)?;
        let members = self.members_of(within);
        let peers = members.named(&name);
        let mut container = self.path_as_container(within)?;
        if !peers.contains(&definition) {
            let ordinal = peers.len() + 1 + self.rank_among_loose(definition, &container, &name);
            return Some(Standing { container, name, is_shared: false, ordinal });
        }
        let kind = self.kind_word(definition);
        let yields = |it: &Definition<'db>| is_named_first(definition) && matches!(it, Definition::Macro(_));
        let is_shared = peers.iter().any(|it| self.kind_word(*it) != kind && !yields(it));
        let mut alike: Vec<Definition<'db>> = peers.iter().copied().filter(|it| self.kind_word(*it) == kind).collect();
        if alike.len() > 1
            && let Some(own) = self.inherent_impl_of(definition)
        {
            container = self.type_with_arguments(own);
            alike.retain(|it| {
                self.inherent_impl_of(*it).is_some_and(|other| self.type_with_arguments(other) == container)
            });
        }
        let ordinal = alike.iter().position(|it| *it == definition).unwrap_or_default() + 1;
        Some(Standing { container, name, is_shared, ordinal })
    }
}

/// A type, trait or module comes before a macro or derive of its name.
pub(super) fn is_named_first(definition: Definition<'_>) -> bool {
    matches!(definition, Definition::Module(_) | Definition::Adt(_) | Definition::Trait(_) | Definition::TypeAlias(_))
}

pub(super) fn with_ordinal(path: String, ordinal: usize) -> String {
    if ordinal > 1 { format!("{path}{ORDINAL}{ordinal}") } else { path }
}

/// A name as a path has it: raw identifiers without their mark.
pub(super) fn plain_name(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}
