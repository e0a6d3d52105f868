//! What was meant by a name that nothing has.

use std::collections::BTreeMap;

use ra_ap_hir::ScopeDef;
use ra_ap_ide_db::defs::Definition;

use super::written::{bare, last_name, segments};
use crate::lang::rust::paths::{module_definition, plain_name};
use crate::lang::rust::view::Context;
use crate::model::{Code, Error, Language, SymbolKind, SymbolQuery};

const MAX_SUGGESTIONS: usize = 5;
/// Of many names that are alike, so many are compared by their whole path.
const MAX_COMPARED: usize = 200;
/// Names less alike than this are other names.
const LEAST_LIKENESS: f64 = 0.6;

impl<'db> Context<'db> {
    /// The same name elsewhere, another case, or a few letters off; of equals the one whose whole path is closest.
    pub(super) fn unknown(&self, path: &str, query: &SymbolQuery) -> Error {
        let asked = query.package.as_deref().map_or_else(|| path.to_owned(), |it| format!("{it}::{path}"));
        let mut scored: BTreeMap<String, f64> = BTreeMap::new();
        for (score, full) in self.alike_in_the_workspace(path).into_iter().chain(self.alike_on_the_way(&asked)) {
            let whole = tail_likeness(bare(&full), &asked);
            let best = scored.entry(full).or_insert(0.0);
            *best = best.max(score + whole);
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

    fn alike_in_the_workspace(&self, path: &str) -> Vec<(f64, String)> {
        let name = last_name(path).to_lowercase();
        let mut near: Vec<(f64, &str)> = Vec::new();
        for file in self.files.of(Language::Rust) {
            file.outline().walk(&mut |item| {
                let score = likeness(&item.name, &name);
                if score >= LEAST_LIKENESS && item.kind != SymbolKind::Impl {
                    near.push((score, plain_name(&item.name)));
                }
            });
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        near.dedup_by(|a, b| a.1 == b.1);
        let named = near.into_iter().flat_map(|(score, name)| {
            let items = self.items_named(name);
            items.iter().map(|it| (score, it.clone())).collect::<Vec<_>>()
        });
        let compiled = |(score, item)| Some((score, self.definition_of(&item).and_then(|it| self.path_of(it))?));
        named.filter(|it| it.1.own.kind != SymbolKind::Impl).take(MAX_COMPARED).filter_map(compiled).collect()
    }

    /// What stands where the path could be followed to, in the workspace or outside.
    fn alike_on_the_way(&self, path: &str) -> Vec<(f64, String)> {
        let parts = segments(path);
        for known in (1..parts.len()).rev() {
            let Some((head, rest)) = parts.split_at_checked(known) else { continue };
            let head: Vec<&str> = head.iter().map(|it| it.name).collect();
            let wanted = rest.first().map(|it| it.name.to_lowercase()).unwrap_or_default();
            let reached = self.walk(&head.join("::"));
            if reached.is_empty() {
                continue;
            }
            return reached
                .into_iter()
                .flat_map(|it| self.names_below(it))
                .map(|(name, definition)| (likeness(&name, &wanted), definition))
                .filter(|it| it.0 >= LEAST_LIKENESS)
                .filter_map(|(score, it)| Some((score, self.path_of(it)?)))
                .collect();
        }
        Vec::new()
    }

    fn names_below(&self, definition: Definition<'db>) -> Vec<(String, Definition<'db>)> {
        let mut found: Vec<_> = self.members_of(definition).all().map(|(name, it)| (name.to_owned(), it)).collect();
        if let Definition::Module(module) = definition {
            found.extend(module.scope(self.db, None).into_iter().filter_map(|(name, it)| match it {
                ScopeDef::ModuleDef(it) => Some((plain_name(name.as_str()).to_owned(), module_definition(it))),
                _ => None,
            }));
        }
        found
    }
}

fn likeness(name: &str, wanted: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&plain_name(name).to_lowercase(), wanted)
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
