//! Everything about one symbol.

pub(crate) mod docs;
pub(crate) mod examples;
pub(crate) mod package;

use ra_ap_hir::{Adt, AssocItemContainer, Variant};
use ra_ap_ide_db::defs::Definition;

use crate::names::definitions::as_assoc_item;
use crate::resolve::paths::crates::version_of;
use crate::resolve::{ResolvedSymbol, symbols};
use crate::usages::TargetUsages;
use crate::view::{Context, View};
use crate::{questions, resolve, usages};
use semdex_engine::Result;
use semdex_model::{Answer, Description, Package, Symbol, SymbolQuery, UsagePage, Window};

impl View {
    /// A symbol with its source, documentation, examples and usages.
    pub(crate) fn describe(self, query: &SymbolQuery, window: Window) -> Result<Answer<(Description, UsagePage)>> {
        self.ask(|it| {
            let ResolvedSymbol { symbol, definition } = resolve::resolve(it, query)?;
            let found = usages::found_for(it, &symbol, definition, None)?;
            let usages = usages::page(it, &found.value, definition, window);
            let description = match definition {
                Some(definition) => describe(it, symbol, definition, &found.value),
                None => written_description(it, symbol),
            };
            Ok(Answer { value: (description, usages), coverage: found.coverage })
        })
    }

    /// A crate by its name, or a module by its path.
    pub(crate) fn package(self, name: &str) -> Result<Answer<Package>> {
        self.ask(|it| package::package_named(it, name))
    }
}

fn describe<'db>(cx: &Context<'db>, symbol: Symbol, definition: Definition<'db>, found: &TargetUsages) -> Description {
    let docs = docs::docs_in_full(cx.db, &symbol, definition);
    let mut examples = docs.as_deref().map(|docs| examples::doctests(cx, &symbol, docs)).unwrap_or_default();
    examples.extend(examples::uses(cx, &symbol, found));
    let krate = definition.krate(cx.db);
    Description {
        source: source_of(cx, &symbol),
        docs: docs.map(|it| docs::with_paths(cx, definition, &it)),
        examples,
        implementations: questions::implementations_of(cx, definition),
        container: container_symbol(cx, definition),
        version: krate.filter(|_| symbol.external).and_then(|it| version_of(cx, it)),
        symbol,
    }
}

/// The description of an item that is not compiled, from its text.
fn written_description(cx: &Context<'_>, symbol: Symbol) -> Description {
    let docs = symbol.docs.clone();
    Description {
        source: source_of(cx, &symbol),
        examples: docs.as_deref().map(|docs| examples::doctests(cx, &symbol, docs)).unwrap_or_default(),
        docs,
        implementations: Vec::new(),
        container: None,
        version: None,
        symbol,
    }
}

/// The full source; for a module with a file of its own the skeleton.
fn source_of(cx: &Context<'_>, symbol: &Symbol) -> Option<String> {
    let file = cx.file(symbols::find_file(cx, &symbol.place.file)?)?;
    let is_whole_file = symbol.place.start == 0 && symbol.place.end == file.text.len();
    if is_whole_file && symbol.declared_at.is_some() {
        return Some(file.outline().skeleton.clone());
    }
    file.text.get(symbol.place.start..symbol.place.end).map(str::to_owned)
}

/// The block, trait, type or variant that contains a member.
fn container_symbol<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<Symbol> {
    let container = match definition {
        Definition::Field(it) => match it.parent_def(cx.db) {
            Variant::Struct(it) => Definition::Adt(Adt::Struct(it)),
            Variant::Union(it) => Definition::Adt(Adt::Union(it)),
            Variant::EnumVariant(it) => Definition::EnumVariant(it),
        },
        Definition::EnumVariant(it) => Definition::Adt(Adt::Enum(it.parent_enum(cx.db))),
        _ => match as_assoc_item(definition, cx.db)?.container(cx.db) {
            AssocItemContainer::Trait(it) => Definition::Trait(it),
            AssocItemContainer::Impl(it) => Definition::SelfType(it),
        },
    };
    symbols::symbol_of(cx, container)
}
