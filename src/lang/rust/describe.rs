//! Everything about one symbol.

mod docs;
mod examples;
mod package;

use ra_ap_hir::{Adt, AssocItemContainer, Variant};
use ra_ap_ide_db::defs::Definition;

use super::paths::as_assoc_item;
use super::resolve::Meant;
use super::usages::Found;
use super::view::{Context, View};
use crate::lang::Result;
use crate::model::{Answer, Description, Package, Symbol, SymbolQuery, UsagePage, Window};

impl View {
    /// A symbol with its source, documentation, examples and usages.
    pub fn describe(self, query: &SymbolQuery, window: Window) -> Result<Answer<(Description, UsagePage)>> {
        self.ask(|it| {
            let Meant { symbol, definition } = it.meant(query)?;
            let found = it.found_for(&symbol, definition);
            let usages = it.page(&found.value, definition, window);
            let description = match definition {
                Some(definition) => it.description(symbol, definition, &found.value),
                None => it.written_description(symbol),
            };
            Ok(Answer { value: (description, usages), coverage: found.coverage })
        })
    }

    /// A crate by its name, or a module by its path.
    pub fn package(self, name: &str) -> Result<Answer<Package>> {
        self.ask(|it| it.package_named(name))
    }
}

impl<'db> Context<'db> {
    fn description(&self, symbol: Symbol, definition: Definition<'db>, found: &Found) -> Description {
        let docs = self.docs_in_full(&symbol, definition);
        let mut examples = docs.as_deref().map(|docs| self.doctests(&symbol, docs)).unwrap_or_default();
        examples.extend(self.uses(&symbol, found));
        let krate = definition.krate(self.db);
        Description {
            source: self.source(&symbol),
            docs: docs.map(|it| self.with_paths(definition, &it)),
            examples,
            implementations: self.implementations_of(definition),
            container: self.container(definition),
            version: krate.filter(|_| symbol.external).and_then(|it| it.version(self.db)),
            symbol,
        }
    }

    /// What the text says of an item that is not compiled.
    fn written_description(&self, symbol: Symbol) -> Description {
        let docs = symbol.docs.clone();
        Description {
            source: self.source(&symbol),
            examples: docs.as_deref().map(|docs| self.doctests(&symbol, docs)).unwrap_or_default(),
            docs,
            implementations: Vec::new(),
            container: None,
            version: None,
            symbol,
        }
    }

    /// In full; of a module in a file of its own the skeleton.
    fn source(&self, symbol: &Symbol) -> Option<String> {
        let file = self.file(self.find_file(&symbol.place.file)?)?;
        let is_whole_file = symbol.place.start == 0 && symbol.place.end == file.text.len();
        if is_whole_file && symbol.declared_at.is_some() {
            return Some(file.outline().skeleton.clone());
        }
        file.text.get(symbol.place.start..symbol.place.end).map(str::to_owned)
    }

    /// The block, trait, type or variant that a member stands in.
    fn container(&self, definition: Definition<'db>) -> Option<Symbol> {
        let container = match definition {
            Definition::Field(it) => match it.parent_def(self.db) {
                Variant::Struct(it) => Definition::Adt(Adt::Struct(it)),
                Variant::Union(it) => Definition::Adt(Adt::Union(it)),
                Variant::EnumVariant(it) => Definition::EnumVariant(it),
            },
            Definition::EnumVariant(it) => Definition::Adt(Adt::Enum(it.parent_enum(self.db))),
            _ => match as_assoc_item(definition, self.db)?.container(self.db) {
                AssocItemContainer::Trait(it) => Definition::Trait(it),
                AssocItemContainer::Impl(it) => Definition::SelfType(it),
            },
        };
        self.symbol_of(container)
    }
}
