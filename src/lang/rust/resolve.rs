//! From a name to what it means: a full path is walked from its crate, a shorter one is looked for among everything
//! that the workspace defines, then in what it depends on; a miss says what was meant.

mod also;
#[cfg(test)]
mod fuzz;
mod miss;
mod named;
mod scope;
mod types;
mod walk;
mod written;

use std::collections::BTreeMap;

use either::Either;
use ra_ap_hir::{Crate, import_map};
use ra_ap_ide_db::defs::Definition;

use super::paths::{Item, module_definition};
use super::view::Context;
use crate::model::{Code, Error, Help, Symbol, SymbolKind, SymbolQuery};
use written::{Segment, Written, bare, fits_end, last_name, segments};

pub(super) use written::{is_identifier, is_of_kind, query_of, well_formed};

const MAX_CANDIDATES: usize = 20;

/// What a name stands for.
#[derive(Clone)]
pub(super) struct Meant<'db> {
    pub(super) symbol: Symbol,
    /// Absent for what is not compiled: only the text shows it.
    pub(super) definition: Option<Definition<'db>>,
}

impl<'db> Context<'db> {
    /// Exactly one symbol, or an error that says which others were possible or meant.
    pub(super) fn meant(&self, query: &SymbolQuery) -> Result<Meant<'db>, Error> {
        // No two things print one path.
        if query.package.is_none()
            && query.file.is_none()
            && let Some(key) = self.index.key(&query.symbol)
            && let Some(mut symbol) = self.symbol_of(key.definition())
        {
            symbol.also = self.macros_beside(key.definition());
            return Ok(Meant { symbol, definition: Some(key.definition()) });
        }
        let written = Written::parse(&query.symbol)?;
        if let Some(package) = &query.package {
            well_formed(package)?;
        }
        let mut found = self.candidates(&written, query);
        let macros = self.set_macros_aside(&written, &mut found);
        if found.len() > 1 && found.iter().any(|it| !it.symbol.external) {
            found.retain(|it| !it.symbol.external);
        }
        if found.len() > 1 {
            prefer(&written, &mut found);
        }
        match found.len() {
            1 => {
                let mut one = found.remove(0);
                one.symbol.also = macros;
                for path in one.definition.map(|it| self.macros_beside(it)).unwrap_or_default() {
                    if !one.symbol.also.contains(&path) {
                        one.symbol.also.push(path);
                    }
                }
                Ok(one)
            }
            0 => match &query.package {
                Some(package) if !self.is_package(package) => Err(self.unknown_package(package)),
                _ => Err(self.unknown(&written.path, query)),
            },
            n => {
                let names: Vec<&str> = found.iter().take(3).map(|it| it.symbol.path.as_str()).collect();
                let detail = format!(
                    "`{}` may be {n} symbols ({}{}): ask with the full path of one of the candidates, and where two \
                     share a path with `fn@`, `mod@`, `struct@`, `macro@`, `field@` or `method@` before it",
                    query.symbol,
                    names.join(", "),
                    if n > 3 { ", …" } else { "" },
                );
                let symbols = found.into_iter().take(MAX_CANDIDATES).map(|it| it.symbol).collect();
                Err(Error::new(Code::AmbiguousSymbol, detail).with_help(Help { symbols, ..Help::default() }))
            }
        }
    }

    /// Whether `package` of a request names anything that can hold others.
    fn is_package(&self, name: &str) -> bool {
        let crates = self.crates_meant(&name.replace('-', "_"));
        !crates.is_empty() || !self.walk(name).is_empty()
    }

    /// Everything that a name may stand for: of the ways to read it the first that leads somewhere.
    fn candidates(&self, written: &Written<'_>, query: &SymbolQuery) -> Vec<Meant<'db>> {
        let package = query.package.as_deref().map(|it| it.replace('-', "_"));
        let mut found = Vec::new();
        if let Some(file) = &query.file {
            found = self.told(written, self.seen_from(file, &written.path));
        }
        if found.is_empty() {
            let mut walked = self.walk_written(written);
            if walked.is_empty() && query.file.is_none() {
                walked = self.in_some_crate(written);
            }
            if let Some(package) = &package {
                walked.extend(self.walk(&format!("{package}::{}", written.path)));
            }
            found = self.told(written, walked);
        }
        if found.is_empty() {
            found = self.loose_of_path(written);
        }
        if found.is_empty() {
            found = self.by_end(written);
        }
        let further = [Self::made_by_macros, Self::in_the_prelude, Self::documented_by_std, Self::in_dependencies];
        for look in further {
            if found.is_empty() {
                found = self.told(written, look(self, &written.path));
            }
        }
        self.within(query, package.as_deref(), written, &mut found);
        found
    }

    /// Definitions as what they stand for, each once.
    fn told(&self, written: &Written<'_>, definitions: Vec<Definition<'db>>) -> Vec<Meant<'db>> {
        let mut found: BTreeMap<(String, usize, String), Meant<'db>> = BTreeMap::new();
        for definition in definitions {
            if !written.fits(super::symbols::kind_of(self, definition)) {
                continue;
            }
            if let Some(symbol) = self.symbol_of(definition) {
                let key = (symbol.name_at.file.clone(), symbol.name_at.start, symbol.path.clone());
                found.entry(key).or_insert(Meant { symbol, definition: Some(definition) });
            }
        }
        found.into_values().collect()
    }

    pub(super) fn told_item(&self, item: &Item<'db>) -> Meant<'db> {
        let definition = self.definition_of(item);
        let symbol = match definition.and_then(|it| self.symbol_of(it)) {
            Some(symbol) => symbol,
            None => self.unresolved(item.file, item.own, self.path_of_item(item)),
        };
        Meant { symbol, definition }
    }

    /// Keeps what the package or the file of the request allows.
    fn within(&self, query: &SymbolQuery, package: Option<&str>, written: &Written<'_>, found: &mut Vec<Meant<'db>>) {
        if let Some(package) = package {
            let fits = |symbol: &Symbol| {
                let path = bare(&symbol.path).trim_start_matches('<');
                symbol.package == package
                    || symbol.package.ends_with(&format!("@{package}"))
                    || path.strip_prefix(package).is_some_and(|rest| rest.starts_with("::") || rest.is_empty())
            };
            if found.iter().any(|it| fits(&it.symbol)) {
                found.retain(|it| fits(&it.symbol));
            } else {
                // What the package re-exports may be defined elsewhere; what its name does not lead to at all may not.
                let reexported = self.walk(&format!("{package}::{}", written.path));
                found.retain(|it| it.definition.is_some_and(|it| reexported.contains(&it)));
            }
        } else if let Some(file) = &query.file
            && found.iter().any(|it| it.symbol.place.file == *file)
        {
            found.retain(|it| it.symbol.place.file == *file);
        }
    }

    /// What no walk leads to is found by its name, and is what prints this very path.
    fn loose_of_path(&self, written: &Written<'_>) -> Vec<Meant<'db>> {
        let parts = segments(bare(written.asked));
        let names_a_file = |it: &Segment<'_>| it.name.ends_with(".rs") || it.name.contains('/');
        let is_whole = parts.first().is_some_and(|first| {
            first.is_qualified() || names_a_file(first) || !self.crates_meant(first.name).is_empty()
        });
        if !is_whole {
            return Vec::new();
        }
        let items = self.items_named(&last_name(written.asked));
        let ends = self.endings(&parts);
        let found = items.iter().filter(|it| ends.may_end(it) && self.path_of_item(it) == written.asked);
        found.map(|it| self.told_item(it)).collect()
    }

    /// Everything that the workspace writes down under a path that ends like this one.
    fn by_end(&self, written: &Written<'_>) -> Vec<Meant<'db>> {
        let name = last_name(&written.path);
        let items = self.items_named(&name);
        let blocks_too = written.kind == Some("impl") || name.contains(" for ");
        let ends = self.endings(&segments(&written.path));
        let fits = |item: &&Item<'db>| {
            (item.own.kind != SymbolKind::Impl || blocks_too)
                && written.fits(Some(item.own.kind))
                && ends.may_end(item)
                && fits_end(&self.path_of_item(item), &written.path)
        };
        let mut found: Vec<Meant<'db>> = items.iter().filter(fits).map(|it| self.told_item(it)).collect();
        if found.iter().any(|it| it.definition.is_some()) {
            found.retain(|it| it.definition.is_some());
        }
        found
    }

    /// `crate::name`, where no file says which crate is meant.
    fn in_some_crate(&self, written: &Written<'_>) -> Vec<Definition<'db>> {
        let Some(rest) = written.path.strip_prefix("crate::") else { return Vec::new() };
        let parts = segments(rest);
        let local = Crate::all(self.db).into_iter().filter(|it| it.origin(self.db).is_local());
        let roots = local.map(|it| Definition::Module(it.root_module(self.db)));
        roots.flat_map(|it| self.walk_members(it, &parts)).collect()
    }

    /// What macros of the workspace make stands in no file.
    fn made_by_macros(&self, path: &str) -> Vec<Definition<'db>> {
        let parts = segments(path);
        let Some((first, rest)) = parts.split_first() else { return Vec::new() };
        if first.is_qualified() {
            return Vec::new();
        }
        if rest.is_empty() {
            return self.declared_as(first.name);
        }
        let mut found: Vec<Definition<'db>> = Vec::new();
        for krate in Crate::all(self.db).into_iter().filter(|krate| krate.origin(self.db).is_local()) {
            for module in krate.modules(self.db) {
                let declared = self.members_of(Definition::Module(module));
                let here = declared.named(first.name).iter();
                found.extend(here.flat_map(|it| self.walk_members(*it, rest)));
            }
        }
        found
    }

    /// What every file sees without an import.
    pub(super) fn in_the_prelude(&self, path: &str) -> Vec<Definition<'db>> {
        if path.starts_with('<') {
            return Vec::new();
        }
        ["std::prelude::rust_2024", "core::prelude::rust_2024"]
            .into_iter()
            .map(|prelude| self.walk(&format!("{prelude}::{path}")))
            .find(|it| !it.is_empty())
            .unwrap_or_default()
    }

    /// A short path into a dependency: its first segment is something that the workspace could import.
    pub(super) fn in_dependencies(&self, path: &str) -> Vec<Definition<'db>> {
        let parts = segments(path);
        let Some((first, rest)) = parts.split_first().filter(|it| !it.0.name.is_empty() && !it.0.is_qualified()) else {
            return Vec::new();
        };
        let mut found: Vec<Definition<'db>> = Vec::new();
        for krate in Crate::all(self.db).into_iter().filter(|krate| krate.origin(self.db).is_local()) {
            let query = import_map::Query::new(first.name.to_owned()).exact().case_sensitive();
            for (item, _) in krate.query_external_importables(self.db, query) {
                let definition = match item {
                    Either::Left(item) => module_definition(item),
                    Either::Right(item) => Definition::Macro(item),
                };
                for member in self.walk_members(definition, rest) {
                    if !found.contains(&member) {
                        found.push(member);
                    }
                }
            }
        }
        found
    }

    /// Keywords, and the primitive types that are no path: std has documentation for both.
    fn documented_by_std(&self, name: &str) -> Vec<Definition<'db>> {
        if !is_identifier(name) {
            return Vec::new();
        }
        let keyword = if name == "Self" { "self_upper" } else { name };
        [format!("std::{keyword}_keyword"), format!("std::prim_{name}")]
            .iter()
            .map(|it| self.walk(it))
            .find(|it| !it.is_empty())
            .unwrap_or_default()
    }
}

/// Where several remain: the path exactly as asked, an inherent member before a trait's, a trait's own member before
/// those of its implementations.
fn prefer(written: &Written<'_>, found: &mut Vec<Meant<'_>>) {
    let exactly = |it: &Meant<'_>| it.symbol.path == written.asked;
    let bare_as_asked = |it: &Meant<'_>| bare(&it.symbol.path) == written.path;
    let plain = |it: &Meant<'_>| !bare(&it.symbol.path).starts_with('<');
    let is_in_one = written.path.contains("::");
    let wanted: [&dyn Fn(&Meant<'_>) -> bool; 3] = [&exactly, &bare_as_asked, &|it| is_in_one && plain(it)];
    for wanted in wanted {
        if found.iter().any(wanted) {
            found.retain(wanted);
            return;
        }
    }
}
