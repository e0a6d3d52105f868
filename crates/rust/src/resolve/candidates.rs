//! Which items with a name may have a path that ends as requested: decided by their text, so that only items are
//! resolved whose path matters. And everything that is declared with a name, in a text or by a macro.

use std::cell::OnceCell;
use std::collections::HashSet;

use ra_ap_hir::{Adt, AssocItem, Impl, ModuleDef};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;

use super::requested::{Segment, split_qualified};
use super::types;
use super::types::Piece;
use crate::LANGUAGE;
use crate::names::definitions::{assoc_definition, module_definition, plain_name};
use crate::names::instances::{self, representative};
use crate::view::Context;
use crate::view::memo::Item;
use semdex_engine::files::Files;
use semdex_model::SymbolKind;

/// The segments before the name in a requested path.
pub(crate) struct Endings<'db> {
    files: &'db Files,
    /// The segment before the last; for an implementation its trait. `None` if there is none.
    container: Option<String>,
    /// Names that may differ in the paths of their targets: type aliases and renaming imports.
    renamed: OnceCell<HashSet<&'db str>>,
}

impl Endings<'_> {
    /// Whether the path of an item may end as requested, judged by the texts.
    pub(crate) fn may_end(&self, item: &Item<'_>) -> bool {
        // The path of an exported macro is below its crate, and a block has the path of its type, wherever they are.
        let is_elsewhere = matches!(item.own.kind, SymbolKind::Macro | SymbolKind::Impl);
        let Some((container, parent)) = self.container.as_deref().zip(item.parent_item()).filter(|_| !is_elsewhere)
        else {
            return true;
        };
        if parent.kind != SymbolKind::Impl {
            return plain_name(&parent.name) == container;
        }
        let may_be = |name: &str| name == container || self.renamed().contains(name);
        types::pieces(&parent.name).iter().any(|it| match it {
            Piece::Path(path) => path.last().is_some_and(|it| may_be(it)),
            Piece::Sign(_) | Piece::Other(_) => false,
        })
    }

    fn renamed(&self) -> &HashSet<&str> {
        self.renamed.get_or_init(|| {
            let mut renamed = HashSet::new();
            for file in self.files.of(LANGUAGE) {
                let outline = file.outline();
                renamed.extend(outline.imports.iter().filter_map(|it| it.alias.as_deref()).map(plain_name));
                outline.walk(&mut |item| {
                    if item.kind == SymbolKind::Type {
                        renamed.insert(plain_name(&item.name));
                    }
                });
            }
            renamed
        })
    }
}

pub(crate) fn endings<'db>(cx: &Context<'db>, parts: &[Segment<'_>]) -> Endings<'db> {
    let last = |path: &str| match types::pieces(path).first() {
        Some(Piece::Path(path)) => path.last().cloned(),
        _ => None,
    };
    let container = match parts {
        [.., container, _] if container.is_qualified() => split_qualified(container.name).and_then(|(_, of)| last(of)),
        [.., container, _] => Some(container.name.to_owned()),
        _ => None,
    };
    Endings { files: cx.files, container, renamed: OnceCell::new() }
}

/// Everything that the workspace's crates declare with a name, members included.
pub(crate) fn declared_as<'db>(db: &'db RootDatabase, name: &str) -> Vec<Definition<'db>> {
    let mut found: Vec<Definition<'db>> = Vec::new();
    let is_it = |it: Definition<'db>| it.name(db).is_some_and(|it| plain_name(it.as_str()) == name);
    let items = |items: Vec<AssocItem>, found: &mut Vec<Definition<'db>>| {
        found.extend(items.into_iter().map(assoc_definition).filter(|it| is_it(*it)));
    };
    for krate in instances::default_crates(db).into_iter().filter(|it| it.origin(db).is_local()) {
        for module in krate.modules(db) {
            for declared in module.declarations(db) {
                found.extend(Some(module_definition(declared)).filter(|it| is_it(*it)));
                match declared {
                    ModuleDef::Adt(Adt::Enum(it)) => {
                        for variant in it.variants(db) {
                            let fields = variant.fields(db).into_iter().map(Definition::Field);
                            found.extend(fields.chain([Definition::EnumVariant(variant)]).filter(|it| is_it(*it)));
                        }
                    }
                    ModuleDef::Adt(Adt::Struct(it)) => {
                        found.extend(it.fields(db).into_iter().map(Definition::Field).filter(|it| is_it(*it)));
                    }
                    ModuleDef::Adt(Adt::Union(it)) => {
                        found.extend(it.fields(db).into_iter().map(Definition::Field).filter(|it| is_it(*it)));
                    }
                    ModuleDef::Trait(it) => items(it.items(db), &mut found),
                    _ => {}
                }
            }
            found.extend(module.legacy_macros(db).into_iter().map(Definition::Macro).filter(|it| is_it(*it)));
        }
        Impl::all_in_crate(db, krate).into_iter().for_each(|it| items(it.items(db), &mut found));
    }
    let mut seen = HashSet::new();
    found.iter_mut().for_each(|it| *it = representative(db, *it));
    found.retain(|it| seen.insert(*it));
    found
}
