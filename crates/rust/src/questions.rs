//! The queries of the engine interface, for Rust. Each consumes its view and runs on a blocking thread.

pub(crate) mod calls;
pub(crate) mod coverage;
pub(crate) mod describe;
pub(crate) mod diagnostics;
pub(crate) mod doubt;
pub(crate) mod fixes;
pub(crate) mod further_diagnostics;
pub(crate) mod hover;
pub(crate) mod rename;
pub(crate) mod symbol_search;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use ra_ap_hir::Impl;
use ra_ap_ide::{FileId, FileRange, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxKind};

use super::resolve;
use super::resolve::ResolvedSymbol;
use super::resolve::symbols::is_test_at;
use super::view::{Context, View};
use crate::bounds::abandoned::About;
use crate::names::definitions::{as_assoc_item, assoc_definition, in_trait};
use crate::names::instances::representative;
use crate::names::{Key, instances};
use crate::resolve::paths::crates;
use crate::resolve::paths::crates::origin_of;
use crate::resolve::{at, paths, symbols};
use crate::syntax::positions::{span, tokens_at};
use crate::usages::names_now;
use crate::usages::outside_builds::OutsideBuilds;
use crate::{LANGUAGE, bounds, usages};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{
    Answer, Calls, Downstream, Missing, MissingCode, Overview, Place, Span, Symbol, SymbolAt, SymbolKind, SymbolQuery,
    Upstream, UsageCount, UsagePage, Window,
};

/// The steps that a type in a reply may take to be printed: one of thousands of parts takes a few hundred thousand.
const STEPS_OF_HOVER: u64 = 4_000_000;

impl View {
    /// Exactly one symbol, or an error with suggestions.
    pub(crate) fn resolve(self, query: &SymbolQuery) -> Result<Symbol> {
        self.ask(|it| Ok(resolve::resolve(it, query)?.symbol))
    }

    pub(crate) fn usages(self, query: &SymbolQuery, window: Window) -> Result<Answer<(Symbol, UsagePage)>> {
        self.ask(|it| {
            let ResolvedSymbol { symbol, definition } = resolve::resolve(it, query)?;
            let found = usages::found_for(it, &symbol, definition, query.build.as_deref())?;
            Ok(found.map(|found| (symbol, usages::page(it, &found, definition, window))))
        })
    }

    pub(crate) fn callers(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        self.ask(|it| {
            let ResolvedSymbol { symbol, definition } = resolve::resolve(it, query)?;
            Ok(match definition {
                Some(definition) => calls::callers_of(it, definition, query.build.as_deref())?,
                None => usages::nothing_known_of(it, &symbol),
            }
            .map(|calls| (symbol, calls)))
        })
    }

    pub(crate) fn callees(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        self.ask(|it| {
            let ResolvedSymbol { symbol, definition } = resolve::resolve(it, query)?;
            Ok(match definition {
                Some(definition) => calls::callees_of(it, &symbol, definition),
                None => usages::nothing_known_of(it, &symbol),
            }
            .map(|calls| (symbol, calls)))
        })
    }

    pub(crate) fn implementations(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Symbol>)>> {
        self.ask(|it| {
            let ResolvedSymbol { symbol, definition } = resolve::resolve(it, query)?;
            Ok(match definition {
                Some(definition) => {
                    let coverage = coverage::coverage_of_users(it, definition);
                    Answer { value: implementations_of(it, definition), coverage }
                }
                None => usages::nothing_known_of(it, &symbol),
            }
            .map(|found| (symbol, found)))
        })
    }

    /// The symbols of a file as a tree, each with its path.
    pub(crate) fn symbols(self, file: &str) -> Result<Answer<Vec<Symbol>>> {
        self.ask(|it| {
            let known = it.files.get(file).and_then(|known| Some((known, it.file_id(&known.path)?)));
            let Some((file, id)) = known else { return Ok(Answer::lacking(Vec::new(), unknown(file))) };
            Ok(Answer {
                value: symbols::file_symbols(it, file, id).symbols.clone(),
                coverage: coverage::file_coverage(it, file),
            })
        })
    }

    /// A file with what it uses and what uses it. After `until` usages are no longer counted.
    pub(crate) fn overview(self, file: &str, until: Instant) -> Result<Answer<Overview>> {
        self.ask(|it| overview(it, file, until))
    }

    pub(crate) fn symbol_at(self, file: &str, offset: usize) -> Result<Answer<SymbolAt>> {
        self.ask(|it| symbol_at(it, file, offset))
    }

    /// Symbols by parts of their names, the best match first, with the score of each.
    pub(crate) fn search(self, query: &str, limit: usize) -> Result<Answer<Vec<(Symbol, f64)>>> {
        self.ask(|it| Ok(symbol_search::search(it, query, limit)))
    }
}

fn overview(cx: &Context<'_>, name: &str, until: Instant) -> Result<Answer<Overview>> {
    let Some((file, id)) = cx.files.get(name).zip(cx.file_id(name)) else {
        return Ok(Answer::lacking(Overview::default(), unknown(name)));
    };
    let mut coverage = coverage::file_coverage(cx, file);
    let known = symbols::file_symbols(cx, file, id);
    let mut symbols = known.symbols.clone();
    let package = known.package.clone();
    let docs = file.outline().docs.clone();
    let Some(mut found) = usages::search_until(cx, &known.search, until) else {
        let detail =
            "the names of the workspace are being read: usages are not counted yet; ask again, or give `wait_ms`";
        coverage.lacks(Missing::new(MissingCode::Indexing, "rust", detail));
        let upstream = known.upstream.get().cloned().unwrap_or_default();
        return Ok(Answer { value: Overview { package, docs, symbols, upstream, ..Overview::default() }, coverage });
    };
    usages::note_pending_builds(cx, &found, &mut coverage);
    let mut counts: HashMap<Arc<str>, UsageCount> = HashMap::new();
    let mut users: BTreeMap<Arc<str>, (BTreeSet<Arc<str>>, usize)> = BTreeMap::new();
    let mut outside = OutsideBuilds::new(cx, Some(until));
    for (key, found) in known.definitions.iter().zip(&mut found) {
        let Some(path) = paths::shared_path(cx, *key) else { continue };
        let mut files = 0;
        // A pass visits one file after another.
        for group in found.items.chunk_by(|a, b| a.id == b.id) {
            files += 1;
            if group[0].id != id {
                let user = users.entry(group[0].file.path.clone()).or_default();
                user.0.insert(path.clone());
                user.1 += group.len();
            }
        }
        // Whether it is unused depends on these too.
        if found.items.is_empty() {
            usages::settle_outside(cx, key.definition(), found, &mut outside, &mut coverage);
        }
        let count = UsageCount { total: found.items.len(), files, outside_builds: found.outside.len() };
        counts.insert(path, count);
    }
    count(&mut symbols, &counts);
    let mut downstream: Vec<Downstream> = users
        .into_iter()
        .map(|(file, (symbols, count))| Downstream {
            package: package_of(cx, &file),
            file: file.to_string(),
            symbols: symbols.iter().map(|it| it.to_string()).collect(),
            count,
        })
        .collect();
    downstream.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.file.cmp(&b.file)));
    let upstream = known.upstream.get_or_init(|| upstream_of(cx, id)).clone();
    Ok(Answer { value: Overview { package, docs, symbols, upstream, downstream, skeleton: None }, coverage })
}

fn package_of(cx: &Context<'_>, file: &str) -> String {
    let package = |id| match cx.index.symbols(id) {
        Some(known) => known.package.clone(),
        None => cx.sema.first_crate(id).map(|it| crates::crate_name(cx, it)),
    };
    cx.file_id(file).and_then(package).unwrap_or_default()
}

/// What the file names that is defined elsewhere: items, not members.
pub(crate) fn upstream_of(cx: &Context<'_>, id: FileId) -> Vec<Upstream> {
    #[derive(Default)]
    struct Used {
        files: BTreeSet<String>,
        symbols: BTreeSet<Arc<str>>,
    }
    let mut used: BTreeMap<(String, bool), Used> = BTreeMap::new();
    for meaning in names_now(cx, id).meanings().filter(|it| !it.declares) {
        let definition = meaning.definition.definition();
        let is_item = matches!(
            definition,
            Definition::Adt(_)
                | Definition::Trait(_)
                | Definition::Function(_)
                | Definition::Const(_)
                | Definition::Static(_)
                | Definition::TypeAlias(_)
                | Definition::Macro(_)
        );
        let Some(krate) = definition.krate(cx.db).filter(|_| is_item) else { continue };
        let Some(module) = definition.module(cx.db) else { continue };
        let file = module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db);
        if file == id {
            continue;
        }
        let Some(path) = paths::shared_path(cx, meaning.definition) else { continue };
        let external = !krate.origin(cx.db).is_local();
        let place = if external { None } else { cx.name_of(file) };
        let entry = used.entry((crates::crate_name(cx, krate), external)).or_default();
        entry.files.extend(place);
        entry.symbols.insert(path);
    }
    let upstream = |((package, external), used): ((String, bool), Used)| {
        let symbols = used.symbols.iter().map(|it| it.to_string()).collect();
        Upstream { package, external, files: used.files.into_iter().collect(), symbols }
    };
    used.into_iter().map(upstream).collect()
}

fn symbol_at(cx: &Context<'_>, name: &str, offset: usize) -> Result<Answer<SymbolAt>> {
    let nothing = |file: &File, at: Span| SymbolAt::nothing(file.lines().place(&file.path, at));
    let Some((file, id)) = cx.files.get(name).zip(cx.file_id(name)) else {
        return Ok(Answer::lacking(SymbolAt::nothing(Place::start_of(name)), unknown(name)));
    };
    let mut coverage = coverage::file_coverage(cx, file);
    let tree = cx.sema.parse_guess_edition(id);
    let token = tokens_at(tree.syntax(), offset).max_by_key(|it| match it.kind() {
        SyntaxKind::IDENT => 3,
        kind if kind.is_keyword(ra_ap_ide::Edition::LATEST) => 2,
        kind if kind.is_trivia() => 0,
        _ => 1,
    });
    let Some(token) = token else {
        return Ok(Answer { value: nothing(file, Span::new(offset, offset)), coverage });
    };
    let at = span(token.text_range());
    let mut answer = nothing(file, at);
    let definition = at::definition_of_token(&cx.sema, &token);
    answer.symbol = definition.and_then(|it| symbols::symbol_of(cx, it));
    answer.definition = match (&answer.symbol, definition) {
        (Some(symbol), _) => Some(symbol.name_at.clone()),
        (None, Some(definition)) => definition.try_to_nav(&cx.sema).and_then(|it| {
            let range = it.call_site.focus_or_full_range();
            cx.place(FileRange { file_id: it.call_site.file_id, range })
        }),
        (None, None) => None,
    };
    answer.origin = definition
        .zip(answer.definition.as_ref())
        .and_then(|(it, at)| it.krate(cx.db).and_then(|krate| origin_of(cx, krate, &at.file)));
    let shown = || -> Result<_> {
        bounds::part(&format!("the type at {}", at.start), About::File(id), STEPS_OF_HOVER, || {
            let ty = hover::type_at(&cx.sema, &token).or_else(|| hover::declared_type(cx.db, definition?));
            Ok((ty, hover::hover_at(cx.db, id, &token, offset)))
        })
    };
    let place = || format!("the type at {}:{}", file.path, answer.at.line);
    let shown = cx.unless_at_fault(place, shown).transpose()?;
    coverage.absorb(cx.stumbled());
    (answer.ty, answer.hover) = shown.unwrap_or_default();
    Ok(Answer { value: answer, coverage })
}

/// The implementations of a trait or its member, and of the trait's member that a member implements; for a type the
/// traits that it implements.
fn implementations_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Symbol> {
    let db = cx.db;
    let local = |it: &Impl| it.module(db).krate(db).origin(db).is_local();
    let item = |it: Definition<'db>| representative(db, in_trait(it, db));
    let own = item(definition);
    let mut found: Vec<Symbol> = match definition {
        Definition::Trait(it) => {
            instances::blocks_of_trait(db, it).into_iter().filter(local).filter_map(|it| impl_symbol(cx, it)).collect()
        }
        Definition::Adt(it) => instances::twins(db, Key::Adt(it))
            .into_iter()
            .filter_map(|it| if let Key::Adt(it) = it { Some(it) } else { None })
            .flat_map(|it| Impl::all_for_type(db, it.ty(db)))
            .filter(|it| it.trait_(db).is_some())
            .filter(local)
            .filter_map(|it| impl_symbol(cx, it))
            .collect(),
        // For an implementation of a trait's item: all implementations of that item.
        _ => match as_assoc_item(in_trait(definition, db), db).map(|it| it.container(db)) {
            Some(ra_ap_hir::AssocItemContainer::Trait(it)) => instances::blocks_of_trait(db, it)
                .into_iter()
                .filter(local)
                .flat_map(|block| block.items(db).into_iter().map(move |it| (block, it)))
                .map(|(block, it)| (block, assoc_definition(it)))
                .filter(|(_, it)| item(*it) == own)
                // A derived implementation has no text except the derive.
                .filter_map(|(block, it)| symbols::symbol_of(cx, it).or_else(|| impl_symbol(cx, block)))
                .collect(),
            _ => Vec::new(),
        },
    };
    found.sort_by(|a, b| a.place.cmp(&b.place));
    found.dedup_by(|a, b| a.place == b.place && a.path == b.path);
    found
}

fn impl_symbol(cx: &Context<'_>, it: Impl) -> Option<Symbol> {
    let target = it.try_to_nav(&cx.sema)?.call_site;
    let file = cx.file(target.file_id)?;
    let whole = span(target.full_range);
    let path = paths::impl_path(cx, it);
    let outline = file.outline().clone();
    let mut item = None;
    outline.walk(&mut |candidate| {
        if candidate.kind == SymbolKind::Impl && candidate.span.start == whole.start {
            item = Some(candidate);
        }
    });
    let name_span = item.map_or(span(target.focus_or_full_range()), |it| it.name_span);
    let krate = it.module(cx.db).krate(cx.db);
    Some(Symbol {
        language: LANGUAGE,
        name: item.map_or_else(|| path.clone(), |it| it.name.clone()),
        kind: SymbolKind::Impl,
        signature: item.map_or_else(|| format!("impl {path}"), |it| it.signature.clone()),
        package: crates::crate_name(cx, krate),
        place: file.lines().place(&file.path, whole),
        name_at: file.lines().place(&file.path, name_span),
        declared_at: None,
        docs: item.and_then(|it| it.docs.clone()),
        external: !krate.origin(cx.db).is_local(),
        origin: origin_of(cx, krate, &file.path),
        public: true,
        test: is_test_at(&file, whole.start),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
        path,
    })
}

fn count(symbols: &mut [Symbol], counts: &HashMap<Arc<str>, UsageCount>) {
    for symbol in symbols {
        if symbol.kind != SymbolKind::Impl {
            symbol.usages = counts.get(symbol.path.as_str()).copied();
        }
        count(&mut symbol.children, counts);
    }
}

/// rust-analyzer did not receive this file.
fn unknown(file: &str) -> Missing {
    Missing::new(MissingCode::NotInAPackage, file, "rust-analyzer does not have this file: what it says is not known")
}
