//! The overview of a file: its symbols with their usages, what it uses, and what uses it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};

use super::further_builds;
use super::layout::Layout;
use super::package_set::import_name;
use super::queries::GoplsQueries;
use super::symbol_paths::{flatten, is_test_file};
use super::syntax::{self, Kind};
use super::unlisted_occurrences::Effort;
use super::usage_index::Places;
use super::usages;
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Answer, Coverage, Downstream, Import, Overview, Symbol, Upstream};

/// The overview from the text alone, without usages.
pub(crate) fn of_text(layout: &Layout, file: &File) -> Overview {
    Overview {
        package: layout.package_of(&file.path).map(str::to_owned),
        docs: file.outline().docs.clone(),
        symbols: layout.symbols(&file.path),
        upstream: upstream(layout, file),
        ..Overview::default()
    }
}

/// The number of symbols whose usages are computed concurrently; each needs several requests.
const CONCURRENT_SYMBOLS: usize = 4;

pub(crate) async fn of(queries: &GoplsQueries<'_>, file: &File) -> Result<Answer<Overview>> {
    let mut coverage = Coverage::default();
    let mut value = of_text(queries.layout, file);
    let mut flat = Vec::new();
    for symbol in &value.symbols {
        flatten(symbol, &mut flat);
    }
    usages::learn(queries, &flat).await;
    let asks = flat.into_iter().map(|symbol| async move {
        let answer = further_builds::places::of(queries, &symbol, Effort::Brief).await;
        answer.map(|answer| (symbol, answer))
    });
    let answers: Vec<Result<(Symbol, Answer<Arc<Places>>)>> =
        stream::iter(asks).buffer_unordered(CONCURRENT_SYMBOLS).collect().await;
    let mut counted = BTreeMap::new();
    let mut downstream: BTreeMap<Arc<str>, (BTreeSet<String>, BTreeSet<usize>)> = BTreeMap::new();
    for answer in answers {
        let (symbol, answer) = answer?;
        // Without an answer there is no count: zero would mean that nothing uses the symbol.
        if answer.coverage.complete || !answer.value.items.is_empty() {
            counted.insert(symbol.name_at.start, answer.value.count());
        }
        coverage.absorb(answer.coverage);
        for spots in answer.value.files().filter(|spots| spots[0].file != file.path) {
            let (symbols, places) = downstream.entry(spots[0].file.clone()).or_default();
            symbols.insert(symbol.path.clone());
            places.extend(spots.iter().map(|it| it.span.start));
        }
    }
    fill(&mut value.symbols, &counted);
    let downstream = downstream.into_iter().map(|(file, (symbols, places))| Downstream {
        package: queries.layout.package_of(&file).unwrap_or_default().to_owned(),
        symbols: symbols.into_iter().collect(),
        count: places.len(),
        file: file.to_string(),
    });
    value.downstream = downstream.collect();
    Ok(Answer { value, coverage })
}

fn fill(symbols: &mut [Symbol], counted: &BTreeMap<usize, semdex_model::UsageCount>) {
    for symbol in symbols {
        symbol.usages = counted.get(&symbol.name_at.start).copied();
        fill(&mut symbol.children, counted);
    }
}

/// The names that the file uses from each package that it imports.
fn upstream(layout: &Layout, file: &File) -> Vec<Upstream> {
    let selected = selected(&file.text);
    let uses = |import: &Import| {
        let local = import.alias.clone().unwrap_or_else(|| package_name(layout, &import.path));
        let names = selected.get(local.as_str()).into_iter().flatten();
        names.map(|name| format!("{}.{name}", import.path)).collect()
    };
    let mut upstream: Vec<Upstream> = file
        .outline()
        .imports
        .iter()
        .filter(|import| import.path != "C")
        .map(|import| Upstream {
            package: import.path.clone(),
            external: !layout.is_local(&import.path),
            files: layout.files_of(&import.path).iter().filter(|file| !is_test_file(file)).cloned().collect(),
            symbols: uses(import),
        })
        .collect();
    upstream.sort_by(|a, b| (a.external, &a.package).cmp(&(b.external, &b.package)));
    upstream
}

/// The name of a package imported without an alias: from its package clause if readable, else guessed from its import
/// path.
fn package_name(layout: &Layout, import_path: &str) -> String {
    let own =
        layout.files_of(import_path).iter().filter(|file| !is_test_file(file)).find_map(|file| layout.files.get(file));
    if let Some(name) = own.and_then(|file| syntax::package_clause(&file.text)).map(str::to_owned) {
        return name;
    }
    import_name(import_path).to_owned()
}

/// The exported names after a name and a dot, by that name.
fn selected(text: &str) -> HashMap<&str, BTreeSet<&str>> {
    let mut found = HashMap::<&str, BTreeSet<&str>>::new();
    let code = syntax::tokens(text).filter(|it| !matches!(it.kind, Kind::Space | Kind::Comment));
    // The preceding tokens of a selector, as far as they match.
    let (mut before, mut name, mut dot) = ("", None, false);
    for token in code {
        let piece = text.get(token.span.start..token.span.end).unwrap_or_default();
        if token.kind == Kind::Word {
            if let Some(name) = name.filter(|_| dot && piece.starts_with(char::is_uppercase)) {
                found.entry(name).or_default().insert(piece);
            }
            name = (before != ".").then_some(piece);
        } else if piece != "." {
            name = None;
        }
        dot = piece == ".";
        before = piece;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::selected;

    #[test]
    fn what_is_selected_from_a_name() {
        let found = selected("func f() { fmt.Println(a.b.C, x . // fmt.No\n Y(fmt.Errorf), \"fmt.No\", z.w) }");
        let counts: Vec<_> = ["fmt", "a", "b", "x", "z"].map(|it| found.get(it).map_or(0, |it| it.len())).into();
        assert_eq!(counts, [2, 0, 0, 1, 0]);
    }
}
