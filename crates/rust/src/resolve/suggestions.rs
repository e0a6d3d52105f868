//! Suggestions for an unresolved name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ra_ap_hir::{Crate, ScopeDef};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

use super::paths::items;
use super::requested::{bare, last_name, segments};
use super::{paths, walk};
use crate::LANGUAGE;
use crate::names::definitions::{module_definition, plain_name};
use crate::names::instances;
use crate::resolve::paths::{crates, members};
use crate::view::Context;
use crate::view::memo::Item;
use semdex_engine::files::File;
use semdex_model::{Code, Error, OutlineItem, SymbolKind, SymbolQuery};

const MAX_SUGGESTIONS: usize = 5;
/// The most similar items whose whole path is compared.
const MAX_COMPARED: usize = 40;
/// The most crates with similar names that are searched.
const MAX_CRATES: usize = 3;
/// Names with a lower similarity are different names.
const LEAST_LIKENESS: f64 = 0.6;

/// The same name elsewhere, another case, or a small edit distance; of equal candidates the candidate with the most
/// similar path.
pub(crate) fn unknown(cx: &Context<'_>, path: &str, query: &SymbolQuery) -> Error {
    let asked = query.package.as_deref().map_or_else(|| path.to_owned(), |it| format!("{it}::{path}"));
    let mut scored: BTreeMap<String, f64> = BTreeMap::new();
    let near = alike_in_the_workspace(cx, &asked).into_iter().chain(in_crates_alike(cx, &asked));
    let near = near.map(|(score, full)| (score + tail_likeness(bare(&full), &asked), full));
    // An item in the container that the path leads to has the rest of the path, wherever it is defined.
    let on_the_way = alike_on_the_way(cx, &asked).into_iter().map(|(score, full, _)| (score + 1.0, full));
    for (score, full) in near.chain(on_the_way) {
        let best = scored.entry(full).or_insert(0.0);
        *best = best.max(score);
    }
    let suggestions = best(scored.into_iter());
    let within = query.package.as_deref().map(|it| format!(" in `{it}`")).unwrap_or_default();
    let shown = shortened(path);
    let detail = match suggestions.first() {
        Some(first) => format!("there is no symbol `{shown}`{within}: did you mean `{first}`?"),
        None => {
            format!(
                "there is no symbol `{shown}`{within}; `symbols` with `query` finds names by their parts, `map` by \
                 their words"
            )
        }
    };
    Error::new(Code::UnknownSymbol, detail).suggesting(suggestions)
}

/// A crate of the workspace or of its dependencies, or a module of the workspace.
pub(crate) fn unknown_package(cx: &Context<'_>, name: &str) -> Error {
    let wanted = name.replace('-', "_").to_lowercase();
    let last = segments(&wanted).last().map(|it| it.name.to_owned()).unwrap_or_default();
    let mut scored: BTreeMap<String, f64> = BTreeMap::new();
    for krate in instances::default_crates(cx.db) {
        let called = crates::crate_name(cx, krate);
        let score = likeness(&called, &wanted).max(likeness(&called, &last) - 0.05);
        if score >= LEAST_LIKENESS {
            scored.insert(called, score + 1.0);
        }
        if !krate.origin(cx.db).is_local() {
            continue;
        }
        for module in krate.modules(cx.db) {
            let Some(own) = module.name(cx.db) else { continue };
            let score = likeness(own.as_str(), &last);
            if score >= LEAST_LIKENESS {
                let path = paths::module_path(cx, module);
                scored.insert(path.clone(), score + tail_likeness(&path, &wanted));
            }
        }
    }
    let on_the_way = alike_on_the_way(cx, name).into_iter();
    scored.extend(on_the_way.filter(|it| it.2).map(|it| (it.1, it.0 + 1.0)));
    let suggestions = best(scored.into_iter());
    let meant = suggestions.first().map(|it| format!(": did you mean `{it}`?")).unwrap_or_default();
    let shown = shortened(name);
    let detail = format!("there is no crate or module `{shown}` in reach of this workspace{meant}");
    Error::new(Code::UnknownPackage, detail).suggesting(suggestions)
}

fn alike_in_the_workspace<'db>(cx: &Context<'db>, path: &str) -> Vec<(f64, String)> {
    let name = last_name(path).to_lowercase();
    let mut scores: HashMap<&str, f64> = HashMap::new();
    let mut near: Vec<(f64, f64, &'db Arc<File>, FileId, &'db OutlineItem)> = Vec::new();
    for file in cx.files.of(LANGUAGE) {
        let Some(id) = cx.file_id(&file.path) else { continue };
        let file_as_path = file.path.strip_suffix(".rs").unwrap_or(&file.path).replace('/', "::");
        file.outline().walk(&mut |item| {
            let score = *scores.entry(&item.name).or_insert_with(|| likeness(&item.name, &name));
            if score >= LEAST_LIKENESS && item.kind != SymbolKind::Impl {
                // The container as the text shows it: enough to decide whose path is worth computing.
                let around = item.container.join("::");
                let whole = tail_likeness(&format!("{file_as_path}::{around}::{}", item.name), path);
                near.push((score + whole, score, file, id, item));
            }
        });
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let compiled = |(_, score, file, id, item)| {
        let item = Item::of(file, id, item);
        items::definition_of(&cx.sema, &item)?;
        Some((score, paths::path_of_item(cx, &item)))
    };
    near.into_iter().take(MAX_COMPARED).filter_map(compiled).collect()
}

/// Items in the container up to which the path can be followed, in the workspace or outside, and whether each is a
/// module.
fn alike_on_the_way<'db>(cx: &Context<'db>, path: &str) -> Vec<(f64, String, bool)> {
    let parts = segments(path);
    for known in (1..parts.len()).rev() {
        let Some((head, rest)) = parts.split_at_checked(known) else { continue };
        let head: Vec<&str> = head.iter().map(|it| it.name).collect();
        let wanted = rest.first().map(|it| it.name.to_lowercase()).unwrap_or_default();
        let reached = walk::walk(cx, &head.join("::"));
        if reached.is_empty() {
            continue;
        }
        let is_module = |it: &Definition<'db>| matches!(it, Definition::Module(_));
        return reached
            .into_iter()
            .flat_map(|it| names_below(cx, it))
            .map(|(name, definition)| (likeness(&name, &wanted), definition))
            .filter(|it| it.0 >= LEAST_LIKENESS)
            .filter_map(|(score, it)| Some((score, paths::path_of(cx, it)?, is_module(&it))))
            .collect();
    }
    Vec::new()
}

/// The same path in crates with similar names, and in other versions of the named crate.
fn in_crates_alike(cx: &Context<'_>, path: &str) -> Vec<(f64, String)> {
    let Some((first, rest)) = path.split_once("::") else { return Vec::new() };
    let wanted = first.replace('-', "_").to_lowercase();
    let named: Vec<Crate> = crates::crates_named(cx, first).into_iter().flatten().collect();
    let others = instances::default_crates(cx.db)
        .into_iter()
        .filter(|it| !named.contains(it))
        .map(|it| crates::crate_name(cx, it));
    let unversioned = |it: &str| it.split_once('@').map_or(it, |it| it.0).to_owned();
    let mut near: Vec<(f64, String)> = others.map(|it| (likeness(&unversioned(&it), &wanted), it)).collect();
    near.retain(|it| it.0 >= LEAST_LIKENESS);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let below = |(score, krate): (f64, String)| {
        let found = walk::walk(cx, &format!("{krate}::{rest}"));
        found.into_iter().filter_map(move |it| Some((score, paths::path_of(cx, it)?))).collect::<Vec<_>>()
    };
    near.into_iter().take(MAX_CRATES).flat_map(below).collect()
}

fn names_below<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<(String, Definition<'db>)> {
    let mut found: Vec<_> = members::members_of(cx, definition).all().map(|(name, it)| (name.to_owned(), it)).collect();
    if let Definition::Module(module) = definition {
        found.extend(module.scope(cx.db, None).into_iter().filter_map(|(name, it)| match it {
            ScopeDef::ModuleDef(it) => Some((plain_name(name.as_str()).to_owned(), module_definition(it))),
            _ => None,
        }));
    }
    found
}

fn best(scored: impl Iterator<Item = (String, f64)>) -> Vec<String> {
    let mut scored: Vec<(String, f64)> = scored.collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.into_iter().take(MAX_SUGGESTIONS).map(|it| it.0).collect()
}

/// The part of a name that an error repeats.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 200;
    match name.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

/// From 0 to 1. Names whose lengths differ too much are not compared.
fn likeness(name: &str, wanted: &str) -> f64 {
    let name = plain_name(name);
    let (short, long) = (name.len().min(wanted.len()), name.len().max(wanted.len()));
    if (short as f64) < LEAST_LIKENESS * long as f64 {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(&name.to_lowercase(), wanted)
}

/// The similarity of the segments before the name, from 0 to 1: the nearest segment is compared at its position, and
/// the rest at any position.
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
    let Some((nearest, _)) = asked.split_first() else { return 0.0 };
    let anywhere = |wanted: &String| full.iter().map(|it| likeness(it, wanted)).fold(0.0, f64::max);
    let anywhere = asked.iter().map(anywhere).sum::<f64>() / asked.len() as f64;
    let near = full.first().map_or(0.0, |it| likeness(it, nearest));
    (anywhere + near) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{likeness, tail_likeness};

    #[test]
    fn the_nearest_segment_counts_most() {
        let asked = "Searcher::nw";
        let own = tail_likeness("grep_searcher::searcher::Searcher::new", asked);
        let other = tail_likeness("grep_searcher::searcher::Encoding::new", asked);
        assert!(own > other && other > 0.0, "{own} {other}");
        assert_eq!(tail_likeness("a::b", "b"), 0.0);
    }

    #[test]
    fn names_of_other_lengths_are_not_compared() {
        assert_eq!(likeness(&"x".repeat(5), &"x".repeat(9)), 0.0);
        assert!(likeness("Searchr", "searcher") > 0.8);
        assert!(likeness("r#type", "type") > 0.99);
    }
}
