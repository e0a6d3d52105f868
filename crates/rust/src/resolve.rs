//! Resolves names. A full path is followed from its crate. A shorter one is searched for in everything that the
//! workspace defines, then in its dependencies. An unresolved name produces suggestions.

pub(crate) mod alternatives;
pub(crate) mod at;
pub(crate) mod candidates;
#[cfg(test)]
mod fuzz;
pub(crate) mod having_crates;
pub(crate) mod paths;
pub(crate) mod requested;
pub(crate) mod scope;
pub(crate) mod suggestions;
pub(crate) mod symbols;
pub(crate) mod types;
pub(crate) mod walk;

use std::collections::BTreeMap;

use ra_ap_ide_db::defs::Definition;

use self::paths::items;
use super::view::Context;
use crate::names::definitions;
use crate::names::definitions::is_named_first;
use crate::names::instances::{self, representative};
use crate::resolve::paths::{containers, crates, members};
use crate::view::memo::Item;
use requested::{RequestedPath, Segment, bare, fits_end, last_name, segments};
use semdex_model::{Code, Error, Help, Symbol, SymbolKind, SymbolQuery};

pub(crate) use requested::{is_identifier, is_of_kind, query_of, well_formed};

const MAX_CANDIDATES: usize = 20;

/// The symbol that a name resolves to.
#[derive(Clone)]
pub(crate) struct ResolvedSymbol<'db> {
    pub(crate) symbol: Symbol,
    /// Absent for an item that is not compiled: it is known only from its text.
    pub(crate) definition: Option<Definition<'db>>,
}

/// Exactly one symbol, or an error with all possible or similar symbols.
pub(crate) fn resolve<'db>(cx: &Context<'db>, query: &SymbolQuery) -> Result<ResolvedSymbol<'db>, Error> {
    // No two items have the same printed path.
    if query.package.is_none()
        && query.file.is_none()
        && let Some(key) = cx.index.key(&query.symbol)
        && let Some(mut symbol) = symbols::symbol_of(cx, key.definition())
    {
        symbol.also = macros_beside(cx, key.definition());
        return Ok(ResolvedSymbol { symbol, definition: Some(key.definition()) });
    }
    let written = RequestedPath::parse(&query.symbol)?;
    if let Some(package) = &query.package {
        well_formed(package)?;
    }
    let mut found = candidates(cx, &written, query);
    let macros = set_macros_aside(&written, &mut found);
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
            for path in one.definition.map(|it| macros_beside(cx, it)).unwrap_or_default() {
                if !one.symbol.also.contains(&path) {
                    one.symbol.also.push(path);
                }
            }
            Ok(one)
        }
        0 => match &query.package {
            Some(package) if !is_package(cx, package) => Err(suggestions::unknown_package(cx, package)),
            _ => Err(suggestions::unknown(cx, &written.path, query)),
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

/// Whether `package` of a request names an item that can contain others.
fn is_package(cx: &Context<'_>, name: &str) -> bool {
    let crates = crates::crates_named(cx, &name.replace('-', "_"));
    !crates.is_empty() || !walk::walk(cx, name).is_empty()
}

/// Everything that a name may resolve to, by the first interpretation that has a result.
fn candidates<'db>(cx: &Context<'db>, written: &RequestedPath<'_>, query: &SymbolQuery) -> Vec<ResolvedSymbol<'db>> {
    let package = query.package.as_deref().map(|it| it.replace('-', "_"));
    let mut found = Vec::new();
    if let Some(file) = &query.file {
        found = symbols_of(cx, written, scope::seen_from(cx, file, &written.path));
    }
    if found.is_empty() {
        let mut walked = walk::walk_written(cx, written);
        if walked.is_empty() && query.file.is_none() {
            walked = in_some_crate(cx, written);
        }
        if let Some(package) = &package {
            walked.extend(walk::walk(cx, &format!("{package}::{}", written.path)));
        }
        found = symbols_of(cx, written, walked);
    }
    if found.is_empty() {
        found = detached_by_path(cx, written);
    }
    if found.is_empty() {
        found = by_end(cx, written);
    }
    let further = [expanded_by_macros, walk::in_the_prelude, documented_by_std, walk::in_dependencies];
    for look in further {
        if found.is_empty() {
            found = symbols_of(cx, written, look(cx, &written.path));
        }
    }
    within(cx, query, package.as_deref(), written, &mut found);
    found
}

/// Definitions as resolved symbols, without duplicates.
fn symbols_of<'db>(
    cx: &Context<'db>,
    written: &RequestedPath<'_>,
    definitions: Vec<Definition<'db>>,
) -> Vec<ResolvedSymbol<'db>> {
    let mut found: BTreeMap<(String, usize, String), ResolvedSymbol<'db>> = BTreeMap::new();
    for definition in definitions {
        let definition = representative(cx.db, definition);
        if !written.fits(walk::kind_of(cx, definition)) {
            continue;
        }
        if let Some(symbol) = symbols::symbol_of(cx, definition) {
            let key = (symbol.name_at.file.clone(), symbol.name_at.start, symbol.path.clone());
            found.entry(key).or_insert(ResolvedSymbol { symbol, definition: Some(definition) });
        }
    }
    found.into_values().collect()
}

pub(crate) fn resolved_item<'db>(cx: &Context<'db>, item: &Item<'db>) -> ResolvedSymbol<'db> {
    let definition = items::definition_of(&cx.sema, item);
    let symbol = match definition.and_then(|it| symbols::symbol_of(cx, it)) {
        Some(symbol) => symbol,
        None => symbols::unresolved(cx, item.file, item.own, paths::path_of_item(cx, item)),
    };
    ResolvedSymbol { symbol, definition }
}

/// Keeps the symbols in the package or file of the request.
fn within<'db>(
    cx: &Context<'db>,
    query: &SymbolQuery,
    package: Option<&str>,
    written: &RequestedPath<'_>,
    found: &mut Vec<ResolvedSymbol<'db>>,
) {
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
            // An item that the package re-exports may be defined elsewhere; an item that its name does not lead to is
            // excluded.
            let reexported = walk::walk(cx, &format!("{package}::{}", written.path));
            found.retain(|it| it.definition.is_some_and(|it| reexported.contains(&it)));
        }
    } else if let Some(file) = &query.file
        && found.iter().any(|it| it.symbol.place.file == *file)
    {
        found.retain(|it| it.symbol.place.file == *file);
    }
}

/// An item that no path leads to is found by its name, if its printed path is this one.
fn detached_by_path<'db>(cx: &Context<'db>, written: &RequestedPath<'_>) -> Vec<ResolvedSymbol<'db>> {
    let parts = segments(bare(written.asked));
    let names_a_file = |it: &Segment<'_>| it.name.ends_with(".rs") || it.name.contains('/');
    let is_whole = parts.first().is_some_and(|first| {
        first.is_qualified() || names_a_file(first) || !crates::crates_named(cx, first.name).is_empty()
    });
    if !is_whole {
        return Vec::new();
    }
    let items = items::items_named(cx, &last_name(written.asked));
    let ends = candidates::endings(cx, &parts);
    let found = items.iter().filter(|it| ends.may_end(it) && paths::path_of_item(cx, it) == written.asked);
    found.map(|it| resolved_item(cx, it)).collect()
}

/// Everything in the workspace whose path ends like this one.
fn by_end<'db>(cx: &Context<'db>, written: &RequestedPath<'_>) -> Vec<ResolvedSymbol<'db>> {
    let name = last_name(&written.path);
    let items = items::items_named(cx, &name);
    let blocks_too = written.kind == Some("impl") || name.contains(" for ");
    let ends = candidates::endings(cx, &segments(&written.path));
    let fits = |item: &&Item<'db>| {
        (item.own.kind != SymbolKind::Impl || blocks_too)
            && written.fits(Some(item.own.kind))
            && ends.may_end(item)
            && fits_end(&paths::path_of_item(cx, item), &written.path)
    };
    let mut found: Vec<ResolvedSymbol<'db>> = items.iter().filter(fits).map(|it| resolved_item(cx, it)).collect();
    if found.iter().any(|it| it.definition.is_some()) {
        found.retain(|it| it.definition.is_some());
    }
    found
}

/// `crate::name`, if no file determines the crate.
fn in_some_crate<'db>(cx: &Context<'db>, written: &RequestedPath<'_>) -> Vec<Definition<'db>> {
    let Some(rest) = written.path.strip_prefix("crate::") else { return Vec::new() };
    let parts = segments(rest);
    let local = instances::default_crates(cx.db).into_iter().filter(|it| it.origin(cx.db).is_local());
    let roots = local.map(|it| Definition::Module(it.root_module(cx.db)));
    roots.flat_map(|it| walk::walk_members(cx, it, &parts)).collect()
}

/// The expansions of the workspace's macros are in no file.
fn expanded_by_macros<'db>(cx: &Context<'db>, path: &str) -> Vec<Definition<'db>> {
    let parts = segments(path);
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    if first.is_qualified() {
        return Vec::new();
    }
    if rest.is_empty() {
        return candidates::declared_as(cx.db, first.name);
    }
    let mut found: Vec<Definition<'db>> = Vec::new();
    for krate in instances::default_crates(cx.db).into_iter().filter(|krate| krate.origin(cx.db).is_local()) {
        for module in krate.modules(cx.db) {
            let declared = members::members_of(cx, Definition::Module(module));
            let here = declared.named(first.name).iter();
            found.extend(here.flat_map(|it| walk::walk_members(cx, *it, rest)));
        }
    }
    found
}

/// Keywords, and primitive types that are not paths: std documents both.
fn documented_by_std<'db>(cx: &Context<'db>, name: &str) -> Vec<Definition<'db>> {
    if !is_identifier(name) {
        return Vec::new();
    }
    let keyword = if name == "Self" { "self_upper" } else { name };
    [format!("std::{keyword}_keyword"), format!("std::prim_{name}")]
        .iter()
        .map(|it| walk::walk(cx, it))
        .find(|it| !it.is_empty())
        .unwrap_or_default()
}

/// If several symbols remain: the exact path is preferred, then an inherent member before a trait's, then a trait's own
/// member before its implementations.
fn prefer(written: &RequestedPath<'_>, found: &mut Vec<ResolvedSymbol<'_>>) {
    let exactly = |it: &ResolvedSymbol<'_>| it.symbol.path == written.asked;
    let bare_as_asked = |it: &ResolvedSymbol<'_>| bare(&it.symbol.path) == written.path;
    let plain = |it: &ResolvedSymbol<'_>| !bare(&it.symbol.path).starts_with('<');
    let is_in_one = written.path.contains("::");
    let wanted: [&dyn Fn(&ResolvedSymbol<'_>) -> bool; 3] = [&exactly, &bare_as_asked, &|it| is_in_one && plain(it)];
    for wanted in wanted {
        if found.iter().any(wanted) {
            found.retain(wanted);
            return;
        }
    }
}

/// If a type, trait or module was found, macros are removed. Returns their paths.
fn set_macros_aside<'db>(written: &RequestedPath<'_>, found: &mut Vec<ResolvedSymbol<'db>>) -> Vec<String> {
    let comes_first = |it: &ResolvedSymbol<'db>| it.definition.is_some_and(is_named_first);
    if written.kind.is_some() || !found.iter().any(comes_first) {
        return Vec::new();
    }
    let is_macro = |it: &mut ResolvedSymbol<'db>| it.symbol.kind == SymbolKind::Macro;
    found.extract_if(.., is_macro).map(|it| it.symbol.path).collect()
}

/// The macros with the name of a definition in the same scope.
fn macros_beside<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<String> {
    if !is_named_first(definition) {
        return Vec::new();
    }
    let Some((container, name)) =
        containers::container_of(&cx.sema, definition).zip(definitions::name_in_path(cx.db, definition))
    else {
        return Vec::new();
    };
    let members = members::members_of(cx, container);
    let macros = members.named(&name).iter().filter(|it| matches!(it, Definition::Macro(_)));
    macros.filter_map(|it| paths::path_of(cx, *it)).collect()
}
