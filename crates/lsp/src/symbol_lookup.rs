//! Finds the declaration that a symbol query refers to.

use std::sync::Arc;

use super::queries::{ResolvedItem, ServerQueries};
use super::{symbol_paths, unindexed};
use semdex_engine::files::File;
use semdex_engine::{Result, blocking};
use semdex_model::{Code as ProblemCode, Coverage, Error, Help, MissingCode, Symbol, SymbolKind, SymbolQuery};

/// The server outlines files without a grammar. This is the most files for one name.
const MOST_OUTLINED: usize = 60;
const MOST_CANDIDATES: usize = 20;

impl ServerQueries {
    /// The declaration that a query refers to.
    pub(crate) async fn resolve(&self, query: &SymbolQuery, coverage: &mut Coverage) -> Result<ResolvedItem> {
        let (within, chain) = match query.symbol.rsplit_once("::") {
            Some((file, chain)) => (Some(file.to_owned()), chain),
            None => (query.file.clone(), query.symbol.as_str()),
        };
        let mut parts: Vec<&str> = chain.split('.').map(str::trim).filter(|it| !it.is_empty()).collect();
        let package: Vec<&str> = query.package.iter().flat_map(|it| it.split('.')).collect();
        let Some(last) = parts.last().copied() else { return Err(self.unknown(query, Vec::new()).into()) };
        let files = match &within {
            Some(name) => self.files.get(name).cloned().into_iter().collect(),
            None => self.files_with(last).await?,
        };
        let by_server = files.iter().filter(|it| self.grammar_of(&it.path).is_none()).count();
        if by_server > MOST_OUTLINED {
            let detail = format!("{by_server} files hold the word `{last}`: give the file too, as `path::{last}`");
            coverage.lacks(self.session.missing(MissingCode::TooMany, detail));
        }
        let mut all: Vec<(bool, ResolvedItem)> = Vec::new();
        if !package.is_empty() && within.is_none() {
            let is_file = files.iter().any(|it| *it.path == *package.join("."));
            if !is_file {
                parts = package.iter().copied().chain(parts).collect();
            }
        }
        for file in files.iter().filter(|it| by_server <= MOST_OUTLINED || self.grammar_of(&it.path).is_some()) {
            if query.package.as_deref().is_some_and(|it| *it == *file.path) {
                parts = chain.split('.').collect();
            }
            let mut matches = Vec::new();
            for item in &self.items(file, coverage).await? {
                item.walk(&mut |it| {
                    if let Some(is_full) = symbol_paths::fits(&self.files, &file.path, it, &parts) {
                        matches.push((is_full, ResolvedItem { file: file.clone(), item: it.clone() }));
                    }
                });
            }
            all.append(&mut matches);
        }
        self.check()?;
        let mut found = chosen(all);
        match found.len() {
            // With incomplete coverage, the symbol may exist.
            0 if !coverage.complete => {
                let why = coverage.missing.iter().find(|it| it.code.passes()).or(coverage.missing.first());
                let detail = why.map(|it| it.detail.as_str()).unwrap_or_default();
                let detail = format!("whether there is a symbol `{}` is not known: {detail}", query.symbol);
                let code = match why.map(|it| it.code) {
                    Some(MissingCode::Indexing | MissingCode::EngineRestarting | MissingCode::Timeout) => {
                        ProblemCode::NotReady
                    }
                    _ => ProblemCode::EngineUnavailable,
                };
                Err(Error::new(code, detail).into())
            }
            0 => {
                let mut unknown = self.unknown(query, self.near(last).await?);
                // It may be declared in a file that is not indexed.
                if let Some(lack) = unindexed::naming(self, last).await?.first() {
                    unknown.detail = format!("{}; {}", unknown.detail, lack.detail);
                }
                Err(unknown.into())
            }
            1 => Ok(found.remove(0)),
            _ => {
                let symbols: Vec<Symbol> = found
                    .iter()
                    .filter_map(|it| symbol_paths::symbol(&self.files, &it.file, &it.item))
                    .map(|it| Symbol { children: Vec::new(), ..it })
                    .take(MOST_CANDIDATES)
                    .collect();
                let detail = format!("`{}` may be one of {} symbols: give its full path", query.symbol, found.len());
                let help = Help { symbols, ..Help::default() };
                Err(Error::new(ProblemCode::AmbiguousSymbol, detail).with_help(help).into())
            }
        }
    }

    fn unknown(&self, query: &SymbolQuery, near: Vec<String>) -> Error {
        let title = self.session.row.title();
        let detail = match near.first() {
            Some(first) => format!("there is no {title} symbol `{}`: did you mean `{first}`?", query.symbol),
            None => format!("there is no {title} symbol `{}`", query.symbol),
        };
        Error::new(ProblemCode::UnknownSymbol, detail).suggesting(near)
    }

    /// The paths of symbols with similar names.
    async fn near(&self, name: &str) -> Result<Vec<String>> {
        let files: Vec<Arc<File>> =
            self.own_files().into_iter().filter(|it| self.grammar_of(&it.path).is_some()).collect();
        let name = name.to_owned();
        blocking(move || {
            let mut near: Vec<(f64, String)> = Vec::new();
            for file in files {
                file.outline().walk(&mut |it| {
                    let score = strsim::jaro_winkler(&name, &it.name);
                    if score > 0.85 {
                        near.push((score, symbol_paths::path(&file.path, it)));
                    }
                });
            }
            near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            Ok(near.into_iter().take(5).map(|it| it.1).collect())
        })
        .await
    }
}

/// Prefers declarations whose full path was given. Of several declarations with the same path, it chooses a declaration
/// with a body, and for C functions the definition.
fn chosen(all: Vec<(bool, ResolvedItem)>) -> Vec<ResolvedItem> {
    let has_full = all.iter().any(|it| it.0);
    let mut found: Vec<ResolvedItem> = Vec::new();
    for (_, one) in all.into_iter().filter(|it| it.0 || !has_full) {
        let same = found.iter_mut().find(|it| {
            it.file.path == one.file.path && symbol_paths::chain(&it.item) == symbol_paths::chain(&one.item)
        });
        match same {
            Some(same) if same.item.body.is_none() && one.item.body.is_some() => *same = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    let is_callable = |it: &ResolvedItem| matches!(it.item.kind, SymbolKind::Function | SymbolKind::Method);
    if found.len() > 1 && found.iter().all(is_callable) && found.iter().any(|it| it.item.body.is_some()) {
        found.retain(|it| it.item.body.is_some());
    }
    found
}
