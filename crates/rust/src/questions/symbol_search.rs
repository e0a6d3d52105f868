//! Symbols by parts of their names, in the whole workspace.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

use super::coverage;
use crate::names::definitions::plain_name;
use crate::resolve::{candidates, is_identifier, is_of_kind, query_of, symbols};
use crate::syntax::is_test_file_path;
use crate::view::Context;
use crate::view::memo::Item;
use crate::{LANGUAGE, resolve};
use semdex_engine::files::File;
use semdex_engine::ranking::fit;
use semdex_model::{Answer, Missing, MissingCode, OutlineItem, Symbol, SymbolKind};

/// All symbols with exactly this name, including members and macro expansions, then the best partial matches, each with
/// its score.
pub(crate) fn search<'db>(cx: &Context<'db>, query: &str, limit: usize) -> Answer<Vec<(Symbol, f64)>> {
    let (kind, around, name) = query_of(query);
    let fits_kind = |it: SymbolKind| kind.is_none_or(|word| is_of_kind(word, it));
    let mut found: Vec<(f64, &'db Arc<File>, FileId, &'db OutlineItem)> = Vec::new();
    for file in cx.files.of(LANGUAGE) {
        let Some(id) = cx.file_id(&file.path) else { continue };
        let is_test_file = is_test_file_path(&file.path);
        file.outline().walk(&mut |item| {
            if item.kind == SymbolKind::Impl || !fits_kind(item.kind) {
                return;
            }
            if let Some(fit) = fit(name, plain_name(&item.name), item.public, item.test || is_test_file) {
                found.push((fit, file, id, item));
            }
        });
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.2, a.3.name_span.start).cmp(&(b.2, b.3.name_span.start))));
    let mut definitions: HashSet<Definition<'db>> = HashSet::new();
    let mut symbols: Vec<(Symbol, f64)> = Vec::new();
    let total = found.len();
    let exact = found.iter().take_while(|it| plain_name(&it.3.name) == name).count();
    for (fit, file, id, item) in found.into_iter().take(limit.max(exact)) {
        let item = Item::of(file, id, item);
        let meant = resolve::resolved_item(cx, &item);
        definitions.extend(meant.definition);
        symbols.push((meant.symbol, fit));
    }
    let is_cut = symbols.len() < total;
    if is_identifier(name) {
        let made = candidates::declared_as(cx.db, name).into_iter().filter(|it| !definitions.contains(it));
        for symbol in made.filter_map(|it| symbols::symbol_of(cx, it)).filter(|it| fits_kind(it.kind)) {
            if let Some(fit) = fit(name, name, symbol.public, symbol.test) {
                symbols.push((symbol, fit));
            }
        }
    }
    if symbols.iter().any(|it| leads_through(&it.0.path, &around)) {
        symbols.retain(|it| leads_through(&it.0.path, &around));
    }
    let mut coverage = coverage::coverage_of_all(cx);
    if is_cut {
        let detail = format!("{total} symbols fit, the best {limit} are listed: give more of the name");
        coverage.lacks(Missing::new(MissingCode::TooMany, "rust", detail));
    }
    Answer { value: symbols, coverage }
}

/// Whether a path has these segments in this order before its last one, ignoring case.
fn leads_through(path: &str, around: &[&str]) -> bool {
    let path = path.to_lowercase();
    let mut words = path.split(|it: char| !(it == '_' || it.is_alphanumeric())).filter(|it| !it.is_empty());
    around.iter().all(|wanted| words.any(|it| it == wanted.to_lowercase()))
}
