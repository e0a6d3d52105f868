//! Properties of a definition in paths: its name and kind.

use ra_ap_hir::{
    Adt, AsAssocItem, AssocItem, AssocItemContainer, FieldSource, HasSource, HasVisibility as _, Impl, InFile, Macro,
    MacroKind, ModuleDef, ModuleSource, Semantics, Trait, Visibility,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use crate::syntax;

/// A definition's segment: `_` for a constant without a name.
pub(crate) fn name_in_path<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> Option<String> {
    match definition.name(db) {
        Some(name) => Some(plain_name(name.as_str()).to_owned()),
        None => matches!(definition, Definition::Const(_)).then(|| "_".to_owned()),
    }
}

pub(crate) fn kind_word<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> &'static str {
    match definition {
        Definition::Module(_) | Definition::Crate(_) => "mod",
        Definition::Adt(Adt::Struct(_)) => "struct",
        Definition::Adt(Adt::Enum(_)) => "enum",
        Definition::Adt(Adt::Union(_)) => "union",
        Definition::Trait(_) => "trait",
        Definition::TypeAlias(_) | Definition::BuiltinType(_) => "type",
        Definition::Function(it) if it.has_self_param(db) => "method",
        Definition::Function(_) => "fn",
        Definition::Field(_) => "field",
        Definition::Const(_) => "const",
        Definition::Static(_) => "static",
        Definition::Macro(_) => "macro",
        Definition::SelfType(_) => "impl",
        _ => "variant",
    }
}

/// The inherent block that contains a member.
pub(crate) fn inherent_impl_of<'db>(sema: &Semantics<'db, RootDatabase>, definition: Definition<'db>) -> Option<Impl> {
    match as_assoc_item(definition, sema.db)?.container(sema.db) {
        AssocItemContainer::Impl(it) if trait_of(sema, it).is_none() => Some(it),
        AssocItemContainer::Impl(_) | AssocItemContainer::Trait(_) => None,
    }
}

pub(crate) fn is_exported(db: &RootDatabase, it: Macro) -> bool {
    it.kind(db) == MacroKind::Declarative && it.visibility(db) == Visibility::Public
}

pub(crate) fn syntax_of<'db>(
    sema: &Semantics<'db, RootDatabase>,
    definition: Definition<'db>,
) -> Option<InFile<SyntaxNode>> {
    match definition {
        Definition::Function(it) => node(sema, it),
        Definition::Const(it) => node(sema, it),
        Definition::Static(it) => node(sema, it),
        Definition::TypeAlias(it) => node(sema, it),
        Definition::Trait(it) => node(sema, it),
        Definition::EnumVariant(it) => node(sema, it),
        Definition::SelfType(it) => node(sema, it),
        Definition::Adt(it) => node(sema, it),
        Definition::Macro(it) => Some(sema.source(it)?.map(|it| it.either(node_of, node_of))),
        Definition::Field(it) => Some(sema.source(it)?.map(|it| match it {
            FieldSource::Named(it) => node_of(it),
            FieldSource::Pos(it) => node_of(it),
        })),
        Definition::Module(it) => {
            let source = it.definition_source(sema.db);
            match &source.value {
                ModuleSource::Module(module) => {
                    sema.parse_or_expand(source.file_id);
                    Some(InFile::new(source.file_id, module.syntax().clone()))
                }
                ModuleSource::SourceFile(_) | ModuleSource::BlockExpr(_) => None,
            }
        }
        _ => None,
    }
}

fn node<T: HasSource>(sema: &Semantics<'_, RootDatabase>, it: T) -> Option<InFile<SyntaxNode>>
where
    T::Ast: ra_ap_syntax::AstNode,
{
    Some(sema.source(it)?.map(node_of))
}

fn node_of(it: impl ra_ap_syntax::AstNode) -> SyntaxNode {
    it.syntax().clone()
}

pub(crate) fn as_assoc_item<'db>(definition: Definition<'db>, db: &'db RootDatabase) -> Option<AssocItem> {
    match definition {
        Definition::Function(it) => it.as_assoc_item(db),
        Definition::Const(it) => it.as_assoc_item(db),
        Definition::TypeAlias(it) => it.as_assoc_item(db),
        _ => None,
    }
}

pub(crate) fn assoc_definition<'db>(item: AssocItem) -> Definition<'db> {
    match item {
        AssocItem::Function(it) => Definition::Function(it),
        AssocItem::Const(it) => Definition::Const(it),
        AssocItem::TypeAlias(it) => Definition::TypeAlias(it),
    }
}

pub(crate) fn module_definition<'db>(item: ModuleDef) -> Definition<'db> {
    match item {
        ModuleDef::Module(it) => Definition::Module(it),
        ModuleDef::Function(it) => Definition::Function(it),
        ModuleDef::Adt(it) => Definition::Adt(it),
        ModuleDef::EnumVariant(it) => Definition::EnumVariant(it),
        ModuleDef::Const(it) => Definition::Const(it),
        ModuleDef::Static(it) => Definition::Static(it),
        ModuleDef::Trait(it) => Definition::Trait(it),
        ModuleDef::TypeAlias(it) => Definition::TypeAlias(it),
        ModuleDef::BuiltinType(it) => Definition::BuiltinType(it),
        ModuleDef::Macro(it) => Definition::Macro(it),
    }
}

/// The trait's item that an implementation's item implements; any other definition itself.
pub(crate) fn in_trait<'db>(definition: Definition<'db>, db: &'db RootDatabase) -> Definition<'db> {
    let found = || {
        let item = as_assoc_item(definition, db)?;
        let AssocItemContainer::Impl(container) = item.container(db) else { return None };
        let name = item.name(db)?;
        let same = |other: &AssocItem| {
            other.name(db).as_ref() == Some(&name) && std::mem::discriminant(other) == std::mem::discriminant(&item)
        };
        container.trait_(db)?.items(db).into_iter().find(same).map(assoc_definition)
    };
    found().unwrap_or(definition)
}

/// What an `impl` block implements.
pub(crate) enum ImplementedTrait {
    FileSymbols(Trait),
    /// As written: the trait is unresolved or switched off.
    Written(String),
}

/// `None` for an inherent block.
pub(crate) fn trait_of(sema: &Semantics<'_, RootDatabase>, it: Impl) -> Option<ImplementedTrait> {
    if let Some(known) = it.trait_(sema.db) {
        return Some(ImplementedTrait::FileSymbols(known));
    }
    // Blocks of the language's own crates and of dependencies are complete.
    if !it.module(sema.db).krate(sema.db).origin(sema.db).is_local() {
        return None;
    }
    let source = sema.source(it)?;
    syntax::written_trait(&source.value).map(ImplementedTrait::Written)
}

/// Separates a path from the number of an item among several with this path.
pub(crate) const ORDINAL: char = '~';

/// Whether a definition takes precedence over a macro or derive with the same name: a type, trait or module.
pub(crate) fn is_named_first(definition: Definition<'_>) -> bool {
    matches!(definition, Definition::Module(_) | Definition::Adt(_) | Definition::Trait(_) | Definition::TypeAlias(_))
}

pub(crate) fn with_ordinal(path: String, ordinal: usize) -> String {
    if ordinal > 1 { format!("{path}{ORDINAL}{ordinal}") } else { path }
}

/// A name as in a path: without `r#`.
pub(crate) fn plain_name(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}
