//! From a name to what it means: a full path is walked from its crate, a shorter one is looked for among everything
//! that the workspace defines, and a miss says what was meant.

use std::collections::BTreeMap;

use either::Either;
use ra_ap_hir::{Adt, Crate, Impl, Module, ScopeDef, Type, import_map};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

use super::paths::{as_assoc_item, assoc_definition, module_definition};
use super::view::Context;
use crate::model::{Code, Error, Help, Language, Symbol, SymbolKind, SymbolQuery};

const MAX_CANDIDATES: usize = 20;
const MAX_SUGGESTIONS: usize = 5;
/// Of many names that are alike, so many are compared by their whole path.
const MAX_COMPARED: usize = 200;

/// A symbol as a request writes it, taken apart.
struct Written {
    /// As in rustdoc's links: `fn@`, `struct@`, `f()`, `name!`.
    kind: Option<fn(SymbolKind) -> bool>,
    path: String,
}

impl<'db> Context<'db> {
    /// Exactly one symbol, or an error that says which others were possible or meant.
    pub(super) fn resolve(&self, query: &SymbolQuery) -> Result<(Symbol, Definition<'db>), Error> {
        let written = Written::parse(&query.symbol);
        let mut found = self.candidates(&written.path, query);
        if let Some(fits) = written.kind {
            found.retain(|(symbol, _)| fits(symbol.kind));
        }
        if found.len() > 1 && found.iter().any(|(symbol, _)| !symbol.external) {
            found.retain(|(symbol, _)| !symbol.external);
        }
        if found.len() > 1 {
            self.prefer(&written.path, &mut found);
        }
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(self.unknown(&written.path, query)),
            n => {
                let names: Vec<&str> = found.iter().take(3).map(|(symbol, _)| symbol.path.as_str()).collect();
                let detail = format!(
                    "`{}` may be {n} symbols ({}{}): ask with the full path of one of the candidates, and where two \
                     share a path with `fn@`, `mod@`, `struct@`, `macro@`, `field@` or `method@` before it",
                    query.symbol,
                    names.join(", "),
                    if n > 3 { ", …" } else { "" },
                );
                let symbols = found.into_iter().take(MAX_CANDIDATES).map(|it| it.0).collect();
                Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { symbols, ..Help::default() }))
            }
        }
    }

    /// Everything a path may mean: walked from a crate where it begins with one, else by its end.
    fn candidates(&self, path: &str, query: &SymbolQuery) -> Vec<(Symbol, Definition<'db>)> {
        let mut found: BTreeMap<(String, usize, String), (Symbol, Definition<'db>)> = BTreeMap::new();
        let add = |found: &mut BTreeMap<_, _>, definition: Definition<'db>| {
            if let Some(symbol) = self.symbol_of(definition) {
                let key = (symbol.name_at.file.clone(), symbol.name_at.start, symbol.path.clone());
                found.entry(key).or_insert((symbol, definition));
            }
        };
        let mut walked = self.walk(path);
        if let Some(package) = &query.package {
            let package = package.replace('-', "_");
            walked.extend(self.walk(&format!("{package}::{path}")));
        }
        if let Some(file) = &query.file {
            walked.extend(self.walk_from_file(file, path));
        }
        walked.into_iter().for_each(|it| add(&mut found, it));
        if found.is_empty() {
            self.by_end(path).into_iter().for_each(|it| add(&mut found, it));
        }
        if found.is_empty() {
            self.in_dependencies(path).into_iter().for_each(|it| add(&mut found, it));
        }
        let mut found: Vec<_> = found.into_values().collect();
        if let Some(package) = &query.package {
            let package = package.replace('-', "_");
            let fits = |symbol: &Symbol| {
                symbol.package == package
                    || symbol.package.ends_with(&format!("@{package}"))
                    || bare(&symbol.path).starts_with(&format!("{package}::"))
                    || bare(&symbol.path).starts_with(&format!("<{package}::"))
            };
            if found.iter().any(|(symbol, _)| fits(symbol)) {
                found.retain(|(symbol, _)| fits(symbol));
            } else {
                // What the package re-exports may be defined elsewhere; what its name does not lead to at all may not.
                let reexported = self.walk(&format!("{package}::{path}"));
                found.retain(|(_, definition)| reexported.contains(definition));
            }
        } else if let Some(file) = &query.file
            && found.iter().any(|(symbol, _)| symbol.place.file == *file)
        {
            found.retain(|(symbol, _)| symbol.place.file == *file);
        }
        found
    }

    /// Where several remain: the path exactly as asked, an inherent member before a trait's, a trait's own member
    /// before those of its implementations.
    fn prefer(&self, path: &str, found: &mut Vec<(Symbol, Definition<'db>)>) {
        let exact = |symbol: &Symbol| bare(&symbol.path) == path;
        if found.iter().any(|(symbol, _)| exact(symbol)) {
            found.retain(|(symbol, _)| exact(symbol));
        } else if path.contains("::") {
            let plain = |symbol: &Symbol| !bare(&symbol.path).starts_with('<');
            if found.iter().any(|(symbol, _)| plain(symbol)) {
                found.retain(|(symbol, _)| plain(symbol));
            }
        }
    }

    /// Follows a path from a crate, or from a built-in type.
    pub(super) fn walk(&self, path: &str) -> Vec<Definition<'db>> {
        if let Some((ty, trait_, rest)) = split_qualified(path) {
            return self.walk_qualified(ty, trait_, rest);
        }
        let mut segments = path.split("::");
        let Some(first) = segments.next() else { return Vec::new() };
        let rest: Vec<&str> = segments.collect();
        let mut crates: Vec<Crate> = Crate::all(self.db)
            .into_iter()
            .filter(|krate| self.crate_name(*krate) == first || self.is_named(*krate, first))
            .collect();
        crates.sort_by_key(|krate| !krate.origin(self.db).is_local());
        let mut found: Vec<Definition<'db>> = Vec::new();
        if crates.is_empty() && !rest.is_empty() && first.starts_with(char::is_lowercase) && first != "core" {
            // A primitive type is in scope everywhere; this is where it has a place.
            return self.walk(&format!("core::primitive::{path}"));
        }
        for krate in crates {
            for definition in self.walk_members(Definition::Module(krate.root_module(self.db)), &rest) {
                if !found.contains(&definition) {
                    found.push(definition);
                }
            }
        }
        found
    }

    fn is_named(&self, krate: Crate, name: &str) -> bool {
        krate.display_name(self.db).is_some_and(|it| it.crate_name().symbol().as_str() == name)
    }

    fn walk_from_file(&self, file: &str, path: &str) -> Vec<Definition<'db>> {
        let Some(module) = self.file_id(file).and_then(|id| self.sema.file_to_module_def(id)) else {
            return Vec::new();
        };
        let segments: Vec<&str> = path.split("::").collect();
        self.walk_members(Definition::Module(module), &segments)
    }

    fn walk_members(&self, from: Definition<'db>, segments: &[&str]) -> Vec<Definition<'db>> {
        let Some((first, rest)) = segments.split_first() else { return vec![from] };
        self.members(from, first).into_iter().flat_map(|member| self.walk_members(member, rest)).collect()
    }

    /// `<Type as Trait>::member`.
    fn walk_qualified(&self, ty: &str, trait_: &str, rest: &str) -> Vec<Definition<'db>> {
        let bare = trait_.split('<').next().unwrap_or(trait_);
        let Some(Definition::Trait(found)) = self.walk(bare).into_iter().find(|it| matches!(it, Definition::Trait(_)))
        else {
            return Vec::new();
        };
        let wanted = format!("<{ty} as {trait_}>");
        let wanted_bare = format!("<{ty} as {bare}>");
        let mut members: Vec<Definition<'db>> = Vec::new();
        for it in Impl::all_for_trait(self.db, found) {
            let path = self.impl_path(it);
            if path != wanted && path != wanted_bare {
                continue;
            }
            let named =
                it.items(self.db).into_iter().filter(|it| it.name(self.db).is_some_and(|it| it.as_str() == rest));
            members.extend(named.map(assoc_definition));
        }
        members
    }

    /// The members of a definition that have this name.
    fn members(&self, of: Definition<'db>, name: &str) -> Vec<Definition<'db>> {
        let db = self.db;
        let mut found: Vec<Definition<'db>> = Vec::new();
        match of {
            Definition::Module(module) => self.module_members(module, name, &mut found),
            Definition::Adt(adt) => {
                let fields = match adt {
                    Adt::Struct(it) => it.fields(db),
                    Adt::Union(it) => it.fields(db),
                    Adt::Enum(it) => {
                        found.extend(it.variants(db).into_iter().map(Definition::EnumVariant));
                        Vec::new()
                    }
                };
                found.extend(fields.into_iter().map(Definition::Field));
                self.type_members(adt.ty(db), &mut found);
            }
            Definition::TypeAlias(alias) => self.type_members(alias.ty(db), &mut found),
            Definition::BuiltinType(builtin) => {
                self.type_members(builtin.ty(db), &mut found);
                // Crates above `core` add to the primitive types too.
                let lang = Crate::all(db).into_iter().filter(|krate| krate.origin(db).is_lang());
                let own = lang.flat_map(|krate| Impl::all_in_crate(db, krate));
                let own = own.filter(|it| it.trait_(db).is_none() && it.self_ty(db).as_builtin() == Some(builtin));
                found.extend(own.flat_map(|it| it.items(db)).map(assoc_definition));
            }
            Definition::Trait(it) => found.extend(it.items(db).into_iter().map(assoc_definition)),
            Definition::EnumVariant(it) => found.extend(it.fields(db).into_iter().map(Definition::Field)),
            _ => {}
        }
        found.retain(|it| it.name(db).is_some_and(|it| it.as_str() == name));
        let inherent =
            |it: &Definition<'db>| as_assoc_item(*it, db).is_none_or(|item| item.implemented_trait(db).is_none());
        if found.iter().any(inherent) {
            found.retain(inherent);
        }
        found
    }

    fn module_members(&self, module: Module, name: &str, found: &mut Vec<Definition<'db>>) {
        let named = module.scope(self.db, None).into_iter().filter(|(it, _)| it.as_str() == name);
        for (_, definition) in named {
            if let ScopeDef::ModuleDef(it) = definition {
                found.push(module_definition(it));
            }
        }
        if found.is_empty() {
            let macros = module.legacy_macros(self.db).into_iter().map(Definition::Macro);
            found.extend(macros.filter(|it| it.name(self.db).is_some_and(|it| it.as_str() == name)));
        }
    }

    fn type_members(&self, ty: Type<'db>, found: &mut Vec<Definition<'db>>) {
        for it in Impl::all_for_type(self.db, ty) {
            found.extend(it.items(self.db).into_iter().map(assoc_definition));
        }
    }

    /// Everything that the workspace writes down under a path that ends like this one.
    fn by_end(&self, path: &str) -> Vec<Definition<'db>> {
        let (qualifier, name) = match path.rsplit_once("::") {
            Some((qualifier, name)) => (Some(qualifier), name),
            None => (None, path),
        };
        let mut found = Vec::new();
        for file in self.files.of(Language::Rust) {
            let Some(id) = self.file_id(&file.path) else { continue };
            let outline = file.outline().clone();
            outline.walk(&mut |item| {
                if item.name == name && item.kind != SymbolKind::Impl {
                    let Some(definition) = self.definition_at(id, item.name_span.start) else { return };
                    let Some(full) = self.bare_path_of(definition) else { return };
                    if qualifier.is_none_or(|qualifier| ends_with(&full, qualifier, name)) {
                        found.push(definition);
                    }
                }
            });
        }
        found
    }

    /// A short path into a dependency: its first segment is something that the workspace could import.
    fn in_dependencies(&self, path: &str) -> Vec<Definition<'db>> {
        let mut segments = path.split("::");
        let Some(first) = segments.next().filter(|it| !it.is_empty() && !it.starts_with('<')) else {
            return Vec::new();
        };
        let rest: Vec<&str> = segments.collect();
        let mut found: Vec<Definition<'db>> = Vec::new();
        for krate in Crate::all(self.db).into_iter().filter(|krate| krate.origin(self.db).is_local()) {
            let query = import_map::Query::new(first.to_owned()).exact().case_sensitive();
            for (item, _) in krate.query_external_importables(self.db, query) {
                let definition = match item {
                    Either::Left(item) => module_definition(item),
                    Either::Right(item) => Definition::Macro(item),
                };
                for member in self.walk_members(definition, &rest) {
                    if !found.contains(&member) {
                        found.push(member);
                    }
                }
            }
        }
        found
    }

    /// What was meant: the same name elsewhere, another case, or a few letters off; of equals the one whose whole path
    /// is closest.
    fn unknown(&self, path: &str, query: &SymbolQuery) -> Error {
        let name = path.rsplit("::").next().unwrap_or(path).to_lowercase();
        let mut near: Vec<(f64, FileId, usize)> = Vec::new();
        for file in self.files.of(Language::Rust) {
            let Some(id) = self.file_id(&file.path) else { continue };
            file.outline().walk(&mut |item| {
                let score = strsim::normalized_damerau_levenshtein(&item.name.to_lowercase(), &name);
                if score >= 0.6 && item.kind != SymbolKind::Impl {
                    near.push((score, id, item.name_span.start));
                }
            });
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut scored: BTreeMap<String, f64> = BTreeMap::new();
        for (score, id, offset) in near.into_iter().take(MAX_COMPARED) {
            if let Some(full) = self.definition_at(id, offset).and_then(|it| self.path_of(it)) {
                let asked = query.package.as_deref().map_or_else(|| path.to_owned(), |it| format!("{it}::{path}"));
                let whole = tail_likeness(bare(&full), &asked);
                let best = scored.entry(full).or_insert(0.0);
                *best = best.max(score + whole);
            }
        }
        let mut suggestions: Vec<(String, f64)> = scored.into_iter().collect();
        suggestions.sort_by(|a, b| b.1.total_cmp(&a.1));
        let suggestions: Vec<String> = suggestions.into_iter().take(MAX_SUGGESTIONS).map(|it| it.0).collect();
        let within = query.package.as_deref().map(|it| format!(" in `{it}`")).unwrap_or_default();
        let detail = match suggestions.first() {
            Some(first) => format!("there is no symbol `{path}`{within}: did you mean `{first}`?"),
            None => {
                format!("there is no symbol `{path}`{within}; `GET /v1/symbols?query=…` searches by parts of a name")
            }
        };
        Error::new(Code::UnknownSymbol, detail).suggesting(suggestions)
    }
}

impl Written {
    fn parse(symbol: &str) -> Written {
        let symbol = symbol.trim();
        if let Some((kind, path)) = symbol.split_once('@') {
            let fits: Option<fn(SymbolKind) -> bool> = match kind {
                "mod" | "module" => Some(|it| it == SymbolKind::Module),
                "struct" => Some(|it| it == SymbolKind::Struct),
                "enum" => Some(|it| it == SymbolKind::Enum),
                "union" => Some(|it| it == SymbolKind::Union),
                "trait" => Some(|it| it == SymbolKind::Trait),
                "type" => Some(|it| it == SymbolKind::Type),
                "fn" | "function" => Some(|it| matches!(it, SymbolKind::Function | SymbolKind::Method)),
                "method" => Some(|it| it == SymbolKind::Method),
                "field" => Some(|it| it == SymbolKind::Field),
                "variant" => Some(|it| it == SymbolKind::Variant),
                "const" => Some(|it| it == SymbolKind::Const),
                "static" => Some(|it| it == SymbolKind::Static),
                "macro" => Some(|it| it == SymbolKind::Macro),
                _ => None,
            };
            if fits.is_some() {
                return Written { kind: fits, path: path.trim_end_matches("()").trim_end_matches('!').to_owned() };
            }
        }
        if let Some(path) = symbol.strip_suffix("()") {
            return Written {
                kind: Some(|it| matches!(it, SymbolKind::Function | SymbolKind::Method)),
                path: path.to_owned(),
            };
        }
        if let Some(path) = symbol.strip_suffix('!') {
            return Written { kind: Some(|it| it == SymbolKind::Macro), path: path.to_owned() };
        }
        Written { kind: None, path: symbol.to_owned() }
    }
}

/// A path without the kind before it. The kind of a crate's target belongs to the path.
pub(super) fn bare(path: &str) -> &str {
    match path.split_once('@') {
        Some((kind, rest)) if !matches!(kind, "bin" | "example" | "test" | "bench" | "build") => rest,
        _ => path,
    }
}

/// `<ty as trait>::rest`, taken apart.
fn split_qualified(path: &str) -> Option<(&str, &str, &str)> {
    let inner = path.strip_prefix('<')?;
    let (head, rest) = inner.rsplit_once(">::")?;
    let (ty, trait_) = head.split_once(" as ")?;
    Some((ty, trait_, rest))
}

/// How much the segments before the name are alike, the nearest first, from 0 to 1.
fn tail_likeness(full: &str, asked: &str) -> f64 {
    let segments = |path: &str| -> Vec<String> {
        path.split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .filter(|it| !it.is_empty())
            .map(str::to_lowercase)
            .rev()
            .skip(1)
            .collect()
    };
    let (full, asked) = (segments(full), segments(asked));
    if asked.is_empty() {
        return 0.0;
    }
    let likeness =
        |wanted: &String| full.iter().map(|it| strsim::normalized_damerau_levenshtein(it, wanted)).fold(0.0, f64::max);
    asked.iter().map(likeness).sum::<f64>() / asked.len() as f64
}

/// Whether `full` may be written as `qualifier::name`: by its last segments, or for a trait's implementation by the
/// last segments of its type or of its trait.
fn ends_with(full: &str, qualifier: &str, name: &str) -> bool {
    let tail = |path: &str, end: &str| path == end || path.ends_with(&format!("::{end}"));
    match split_qualified(full) {
        Some((ty, trait_, rest)) => {
            if rest != name {
                return false;
            }
            let trait_ = trait_.split('<').next().unwrap_or(trait_);
            match qualifier.strip_prefix('<').and_then(|it| it.strip_suffix('>')).and_then(|it| it.split_once(" as ")) {
                Some((wanted_ty, wanted_trait)) => {
                    tail(ty, wanted_ty) && tail(trait_, wanted_trait.split('<').next().unwrap_or(wanted_trait))
                }
                None => tail(ty, qualifier) || tail(trait_, qualifier),
            }
        }
        None => tail(full, &format!("{qualifier}::{name}")),
    }
}
