//! The path that names a definition, as the contract has it: crate, modules, and for members the type or trait.

use ra_ap_hir::{
    Adt, AsAssocItem, AssocItem, AssocItemContainer, Crate, DisplayTarget, HasCrate, HasVisibility as _, HirDisplay,
    Impl, MacroKind, Module, ModuleDef, Trait, Type, Variant, Visibility,
};
use ra_ap_ide_db::base_db::CrateOrigin;
use ra_ap_ide_db::defs::Definition;

use super::view::Context;

impl<'db> Context<'db> {
    /// `None` for what has no path: locals, generic parameters, labels. Where another thing has the same path, what
    /// kind it is stands before it, as in rustdoc's links.
    pub(super) fn path_of(&self, definition: Definition<'db>) -> Option<String> {
        let path = self.bare_path_of(definition)?;
        Some(if self.shares_its_path(definition) { format!("{}@{path}", self.kind_word(definition)) } else { path })
    }

    /// The path alone.
    pub(super) fn bare_path_of(&self, definition: Definition<'db>) -> Option<String> {
        let db = self.db;
        let name = || definition.name(db).map(|it| it.as_str().to_owned());
        match definition {
            Definition::Crate(krate) => Some(self.crate_name(krate)),
            Definition::Module(module) => Some(self.module_path(module)),
            Definition::Field(field) => {
                let parent = match field.parent_def(db) {
                    Variant::Struct(it) => Definition::Adt(Adt::Struct(it)),
                    Variant::Union(it) => Definition::Adt(Adt::Union(it)),
                    Variant::EnumVariant(it) => Definition::EnumVariant(it),
                };
                Some(format!("{}::{}", self.bare_path_of(parent)?, name()?))
            }
            Definition::EnumVariant(variant) => {
                let parent = self.bare_path_of(Definition::Adt(Adt::Enum(variant.parent_enum(db))))?;
                Some(format!("{parent}::{}", name()?))
            }
            Definition::Macro(it) => {
                let is_exported = it.kind(db) == MacroKind::Declarative && it.visibility(db) == Visibility::Public;
                let module = if is_exported { it.krate(db).root_module(db) } else { it.module(db) };
                Some(format!("{}::{}", self.module_path(module), name()?))
            }
            Definition::BuiltinType(it) => Some(it.name().as_str().to_owned()),
            Definition::Function(_)
            | Definition::Const(_)
            | Definition::TypeAlias(_)
            | Definition::Static(_)
            | Definition::Adt(_)
            | Definition::Trait(_) => {
                let container = match as_assoc_item(definition, db).map(|it| it.container(db)) {
                    Some(AssocItemContainer::Trait(it)) => self.bare_path_of(Definition::Trait(it))?,
                    Some(AssocItemContainer::Impl(it)) => self.impl_path(it),
                    None => self.module_path(definition.module(db)?),
                };
                Some(format!("{container}::{}", name()?))
            }
            _ => None,
        }
    }

    fn shares_its_path(&self, definition: Definition<'db>) -> bool {
        let db = self.db;
        let Some(name) = definition.name(db) else { return false };
        match definition {
            Definition::Field(field) => {
                let parent = match field.parent_def(db) {
                    Variant::Struct(it) => Adt::Struct(it),
                    Variant::Union(it) => Adt::Union(it),
                    Variant::EnumVariant(_) => return false,
                };
                let inherent = |it: &Impl| it.trait_(db).is_none();
                let impls = Impl::all_for_type(db, parent.ty(db));
                impls
                    .into_iter()
                    .filter(inherent)
                    .flat_map(|it| it.items(db))
                    .any(|it| it.name(db).as_ref() == Some(&name))
            }
            Definition::EnumVariant(_) | Definition::Module(_) | Definition::Crate(_) | Definition::BuiltinType(_) => {
                matches!(definition, Definition::Module(module) if module.parent(db).is_some_and(|it| self.is_shared(it, &name)))
            }
            _ => match as_assoc_item(definition, db).map(|it| it.container(db)) {
                Some(AssocItemContainer::Impl(it)) if it.trait_(db).is_none() => {
                    let fields = match it.self_ty(db).as_adt() {
                        Some(Adt::Struct(it)) => it.fields(db),
                        Some(Adt::Union(it)) => it.fields(db),
                        _ => return false,
                    };
                    fields.into_iter().any(|it| it.name(db) == name)
                }
                Some(_) => false,
                None => definition.module(db).is_some_and(|it| self.is_shared(it, &name)),
            },
        }
    }

    /// Whether a module declares several things of one name: a type and a function, a macro and a module.
    fn is_shared(&self, module: Module, name: &ra_ap_hir::Name) -> bool {
        let mut shared = self.shared_names.borrow_mut();
        let names = shared.entry(module).or_insert_with(|| {
            let mut seen = std::collections::HashSet::new();
            let macros = module.legacy_macros(self.db).into_iter().map(ModuleDef::Macro);
            let mut declared = module.declarations(self.db);
            declared.extend(macros.filter(|it| !declared.contains(it)).collect::<Vec<_>>());
            declared.into_iter().filter_map(|it| it.name(self.db)).filter(|it| !seen.insert(it.clone())).collect()
        });
        names.contains(name)
    }

    fn kind_word(&self, definition: Definition<'db>) -> &'static str {
        match definition {
            Definition::Module(_) | Definition::Crate(_) => "mod",
            Definition::Adt(Adt::Struct(_)) => "struct",
            Definition::Adt(Adt::Enum(_)) => "enum",
            Definition::Adt(Adt::Union(_)) => "union",
            Definition::Trait(_) => "trait",
            Definition::TypeAlias(_) => "type",
            Definition::Function(it) if it.has_self_param(self.db) => "method",
            Definition::Function(_) => "fn",
            Definition::Field(_) => "field",
            Definition::Const(_) => "const",
            Definition::Static(_) => "static",
            Definition::Macro(_) => "macro",
            _ => "variant",
        }
    }

    /// A crate's name, with its kind of target before it where several targets share the name.
    pub(super) fn crate_name(&self, krate: Crate) -> String {
        let db = self.db;
        let name =
            krate.display_name(db).map_or_else(|| "_".to_owned(), |it| it.crate_name().symbol().as_str().to_owned());
        let CrateOrigin::Local { name: package, .. } = krate.origin(db) else { return name };
        let root = self.name_of(krate.root_file(db)).unwrap_or_default();
        if root.ends_with("build.rs") {
            return format!("build@{}", package.map_or(name, |it| it.as_str().replace('-', "_")));
        }
        let is_shared = Crate::all(db).into_iter().any(|other| {
            other != krate
                && other.origin(db).is_local()
                && other.display_name(db).is_some_and(|it| it.crate_name().symbol().as_str() == name)
        });
        let kind = match () {
            () if !is_shared => None,
            () if root.contains("tests/") => Some("test"),
            () if root.contains("examples/") => Some("example"),
            () if root.contains("benches/") => Some("bench"),
            () if root.ends_with("main.rs") || root.contains("src/bin/") => Some("bin"),
            () => None,
        };
        kind.map_or_else(|| name.clone(), |kind| format!("{kind}@{name}"))
    }

    pub(super) fn module_path(&self, module: Module) -> String {
        let mut path = self.crate_name(module.krate(self.db));
        for part in module.path_to_root(self.db).into_iter().rev() {
            if let Some(name) = part.name(self.db) {
                path.push_str("::");
                path.push_str(name.as_str());
            }
        }
        path
    }

    /// `krate::m::Type`, or `<krate::m::Type as krate::m::Trait>` for a trait's implementation.
    pub(super) fn impl_path(&self, it: Impl) -> String {
        let db = self.db;
        let self_ty = it.self_ty(db);
        let ty = self.type_path(&self_ty, it.krate(db));
        let Some(trait_) = it.trait_(db) else {
            return ty;
        };
        format!("<{ty} as {}>", self.implemented_trait(it, trait_, &self_ty))
    }

    /// The trait's path; with its arguments where the type implements it more than once.
    fn implemented_trait(&self, it: Impl, trait_: Trait, self_ty: &Type<'db>) -> String {
        let db = self.db;
        let path = self.bare_path_of(Definition::Trait(trait_)).unwrap_or_default();
        let arguments = ra_ap_hir::GenericDef::Trait(trait_).type_or_const_params(db);
        // The first parameter of a trait is `Self`.
        if arguments.len() < 2 {
            return path;
        }
        let clashes = Impl::all_for_type(db, self_ty.clone())
            .into_iter()
            .filter(|other| other.trait_(db) == Some(trait_) && other.self_ty(db).as_adt() == self_ty.as_adt())
            .count();
        if clashes < 2 {
            return path;
        }
        let shown = it.trait_ref(db).map(|it| it.display(db, self.display(trait_.module(db).krate(db))).to_string());
        match shown.as_deref().and_then(|it| it.find('<').map(|at| it[at..].to_owned())) {
            Some(arguments) => format!("{path}{arguments}"),
            None => path,
        }
    }

    /// A type without generics and lifetimes.
    fn type_path(&self, ty: &Type<'db>, krate: Crate) -> String {
        if let Some(adt) = ty.as_adt() {
            return self.bare_path_of(Definition::Adt(adt)).unwrap_or_default();
        }
        if let Some((inner, mutability)) = ty.as_reference() {
            let sign = if mutability.is_mut() { "&mut " } else { "&" };
            return format!("{sign}{}", self.type_path(&inner, krate));
        }
        if let Some(it) = ty.as_builtin() {
            return it.name().as_str().to_owned();
        }
        if let Some(it) = ty.as_dyn_trait() {
            return format!("dyn {}", self.bare_path_of(Definition::Trait(it)).unwrap_or_default());
        }
        if let Some(it) = ty.as_type_param(self.db) {
            return it.name(self.db).as_str().to_owned();
        }
        if let Some(it) = ty.as_slice() {
            return format!("[{}]", self.type_path(&it, krate));
        }
        ty.display(self.db, self.display(krate)).to_string()
    }

    pub(super) fn display(&self, krate: Crate) -> DisplayTarget {
        krate.to_display_target(self.db)
    }
}

pub(super) fn as_assoc_item<'db>(definition: Definition<'db>, db: &'db ra_ap_ide::RootDatabase) -> Option<AssocItem> {
    match definition {
        Definition::Function(it) => it.as_assoc_item(db),
        Definition::Const(it) => it.as_assoc_item(db),
        Definition::TypeAlias(it) => it.as_assoc_item(db),
        _ => None,
    }
}

pub(super) fn assoc_definition<'db>(item: AssocItem) -> Definition<'db> {
    match item {
        AssocItem::Function(it) => Definition::Function(it),
        AssocItem::Const(it) => Definition::Const(it),
        AssocItem::TypeAlias(it) => Definition::TypeAlias(it),
    }
}

pub(super) fn module_definition<'db>(item: ModuleDef) -> Definition<'db> {
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

/// The item of the trait that an implementation's item stands for; anything else itself.
pub(super) fn in_trait<'db>(definition: Definition<'db>, db: &'db ra_ap_ide::RootDatabase) -> Definition<'db> {
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
