//! The questions that every engine answers, for Rust. Each consumes its view; each runs on a blocking thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use ra_ap_hir::Impl;
use ra_ap_ide::{FileId, FileRange, TryToNav as _};
use ra_ap_ide_db::defs::{Definition, IdentClass};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken};

use super::index::names_now;
use super::paths::{as_assoc_item, in_trait};
use super::resolve::Meant;
use super::symbols::is_test_at;
use super::view::{Context, View, span, tokens_at};
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::lang::{Result, too_deep};
use crate::model::{
    Answer, Calls, Coverage, Downstream, Missing, MissingCode, Overview, Place, Span, Symbol, SymbolAt, SymbolKind,
    SymbolQuery, Upstream, UsageCount, UsagePage, Window,
};

impl View {
    /// Exactly one symbol, or an error that helps.
    pub fn resolve(self, query: &SymbolQuery) -> Result<Symbol> {
        self.ask(|it| Ok(it.meant(query)?.symbol))
    }

    pub fn usages(self, query: &SymbolQuery, window: Window) -> Result<Answer<(Symbol, UsagePage)>> {
        self.ask(|it| {
            let Meant { symbol, definition } = it.meant(query)?;
            let found = it.found_for(&symbol, definition);
            Ok(found.map(|found| (symbol, it.page(&found, definition, window))))
        })
    }

    pub fn callers(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        self.ask(|it| {
            let Meant { symbol, definition } = it.meant(query)?;
            Ok(match definition {
                Some(definition) => it.callers_of(definition),
                None => it.nothing_known_of(&symbol),
            }
            .map(|calls| (symbol, calls)))
        })
    }

    pub fn callees(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Calls>)>> {
        self.ask(|it| {
            let Meant { symbol, definition } = it.meant(query)?;
            Ok(match definition {
                Some(definition) => it.callees_of(&symbol, definition),
                None => it.nothing_known_of(&symbol),
            }
            .map(|calls| (symbol, calls)))
        })
    }

    pub fn implementations(self, query: &SymbolQuery) -> Result<Answer<(Symbol, Vec<Symbol>)>> {
        self.ask(|it| {
            let Meant { symbol, definition } = it.meant(query)?;
            Ok(match definition {
                Some(definition) => Answer { value: it.implementations_of(definition), coverage: it.coverage_of_all() },
                None => it.nothing_known_of(&symbol),
            }
            .map(|found| (symbol, found)))
        })
    }

    /// The symbols of a file as a tree, each with its path.
    pub fn symbols(self, file: &str) -> Result<Answer<Vec<Symbol>>> {
        self.ask(|it| {
            let known = it.files.get(file).and_then(|known| Some((known, it.file_id(&known.path)?)));
            let Some((file, id)) = known else { return Ok(Answer::lacking(Vec::new(), unknown(file))) };
            Ok(Answer { value: it.known_symbols(file, id).symbols.clone(), coverage: it.file_coverage(file) })
        })
    }

    /// A file with what it uses and what uses it.
    /// After `until` usages are counted no more.
    pub fn overview(self, file: &str, until: Instant) -> Result<Answer<Overview>> {
        self.ask(|it| it.overview(file, until))
    }

    pub fn symbol_at(self, file: &str, offset: usize) -> Result<Answer<SymbolAt>> {
        self.ask(|it| it.symbol_at(file, offset))
    }

    /// Symbols by parts of their name, the best first, with how well each fits.
    pub fn search(self, query: &str, limit: usize) -> Result<Answer<Vec<(Symbol, f64)>>> {
        self.ask(|it| Ok(it.search(query, limit)))
    }
}

impl<'db> Context<'db> {
    /// Of what may be declared in any file.
    pub(super) fn coverage_of_all(&self) -> Coverage {
        let mut coverage = self.coverage(false);
        coverage.complete &=
            !self.files.of(LANGUAGE).any(|it| it.is_too_deep()) && self.environment.included.is_empty();
        coverage
    }

    /// Also says whether any crate includes the file.
    pub(super) fn file_coverage(&self, file: &File) -> Coverage {
        let mut coverage = self.coverage(false);
        if file.is_too_deep() {
            coverage.lacks(too_deep(&file.path));
            return coverage;
        }
        let is_in_a_crate = |id| match self.index.symbols(id) {
            Some(known) => known.in_a_crate,
            None => self.sema.file_to_module_def(id).is_some(),
        };
        let in_a_crate = self.file_id(&file.path).is_some_and(is_in_a_crate);
        if self.is_loaded() && !in_a_crate {
            coverage.lacks(Missing::new(
                MissingCode::NotInAPackage,
                &*file.path,
                "no crate of the workspace includes this file: a `mod` line is missing, or no package has it as a target",
            ));
        }
        coverage
    }

    fn overview(&self, name: &str, until: Instant) -> Result<Answer<Overview>> {
        let Some((file, id)) = self.files.get(name).zip(self.file_id(name)) else {
            return Ok(Answer::lacking(Overview::default(), unknown(name)));
        };
        let mut coverage = self.file_coverage(file);
        let known = self.known_symbols(file, id);
        let mut symbols = known.symbols.clone();
        let package = known.package.clone();
        let docs = file.outline().docs.clone();
        let Some(found) = self.search_until(&known.search, until) else {
            let detail =
                "the names of the workspace are being read: usages are not counted yet; ask again, or give `wait_ms`";
            coverage.lacks(Missing::new(MissingCode::Indexing, "rust", detail));
            let upstream = known.upstream.get().cloned().unwrap_or_default();
            return Ok(Answer {
                value: Overview { package, docs, symbols, upstream, downstream: Vec::new() },
                coverage,
            });
        };
        let mut counts: HashMap<Arc<str>, UsageCount> = HashMap::new();
        let mut users: BTreeMap<Arc<str>, (BTreeSet<Arc<str>>, usize)> = BTreeMap::new();
        for (key, found) in known.definitions.iter().zip(&found) {
            let Some(path) = self.shared_path(*key) else { continue };
            let mut files = 0;
            // A pass goes through the files one after the other.
            for group in found.items.chunk_by(|a, b| a.id == b.id) {
                files += 1;
                if group[0].id != id {
                    let user = users.entry(group[0].file.path.clone()).or_default();
                    user.0.insert(path.clone());
                    user.1 += group.len();
                }
            }
            counts.insert(path, UsageCount { total: found.items.len(), files });
        }
        count(&mut symbols, &counts);
        let mut downstream: Vec<Downstream> = users
            .into_iter()
            .map(|(file, (symbols, count))| Downstream {
                package: self.package_of(&file),
                file: file.to_string(),
                symbols: symbols.iter().map(|it| it.to_string()).collect(),
                count,
            })
            .collect();
        downstream.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.file.cmp(&b.file)));
        let upstream = known.upstream.get_or_init(|| self.upstream(id)).clone();
        Ok(Answer { value: Overview { package, docs, symbols, upstream, downstream }, coverage })
    }

    fn package_of(&self, file: &str) -> String {
        let package = |id| match self.index.symbols(id) {
            Some(known) => known.package.clone(),
            None => self.sema.first_crate(id).map(|it| self.crate_name(it)),
        };
        self.file_id(file).and_then(package).unwrap_or_default()
    }

    /// What the file names that is defined elsewhere: items, not members.
    pub(super) fn upstream(&self, id: FileId) -> Vec<Upstream> {
        #[derive(Default)]
        struct Used {
            files: BTreeSet<String>,
            symbols: BTreeSet<Arc<str>>,
        }
        let mut used: BTreeMap<(String, bool), Used> = BTreeMap::new();
        for meaning in names_now(self, id).meanings().filter(|it| !it.declares) {
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
            let Some(krate) = definition.krate(self.db).filter(|_| is_item) else { continue };
            let Some(module) = definition.module(self.db) else { continue };
            let file = module.definition_source_file_id(self.db).original_file(self.db).file_id(self.db);
            if file == id {
                continue;
            }
            let Some(path) = self.shared_path(meaning.definition) else { continue };
            let external = !krate.origin(self.db).is_local();
            let place = if external { None } else { self.name_of(file) };
            let entry = used.entry((self.crate_name(krate), external)).or_default();
            entry.files.extend(place);
            entry.symbols.insert(path);
        }
        let upstream = |((package, external), used): ((String, bool), Used)| {
            let symbols = used.symbols.iter().map(|it| it.to_string()).collect();
            Upstream { package, external, files: used.files.into_iter().collect(), symbols }
        };
        used.into_iter().map(upstream).collect()
    }

    fn symbol_at(&self, name: &str, offset: usize) -> Result<Answer<SymbolAt>> {
        let nothing = |file: &File, at: Span| SymbolAt::nothing(file.lines().place(&file.path, at));
        let Some((file, id)) = self.files.get(name).zip(self.file_id(name)) else {
            return Ok(Answer::lacking(SymbolAt::nothing(Place::start_of(name)), unknown(name)));
        };
        let coverage = self.file_coverage(file);
        let tree = self.sema.parse_guess_edition(id);
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
        let definition = self.meant_by(&token);
        answer.symbol = definition.and_then(|it| self.symbol_of(it));
        answer.definition = match (&answer.symbol, definition) {
            (Some(symbol), _) => Some(symbol.name_at.clone()),
            (None, Some(definition)) => definition.try_to_nav(&self.sema).and_then(|it| {
                let range = it.call_site.focus_or_full_range();
                self.place(FileRange { file_id: it.call_site.file_id, range })
            }),
            (None, None) => None,
        };
        answer.ty = self.type_at(&token).or_else(|| self.declared_type(definition?));
        answer.hover = self.hover_at(id, &token)?;
        Ok(Answer { value: answer, coverage })
    }

    /// What a token defines or refers to.
    pub(super) fn meant_by(&self, token: &SyntaxToken) -> Option<Definition<'db>> {
        let classify = |token: SyntaxToken| {
            IdentClass::classify_token(&self.sema, &token)?.definitions_no_ops().into_iter().next()
        };
        self.sema.descend_into_macros_exact(token.clone()).into_iter().find_map(classify)
    }

    /// A trait's or its member's implementations, and those of what a member implements; for a type the traits that it
    /// implements.
    pub(super) fn implementations_of(&self, definition: Definition<'db>) -> Vec<Symbol> {
        let db = self.db;
        let local = |it: &Impl| it.module(db).krate(db).origin(db).is_local();
        let mut found: Vec<Symbol> = match definition {
            Definition::Trait(it) => {
                Impl::all_for_trait(db, it).into_iter().filter(local).filter_map(|it| self.impl_symbol(it)).collect()
            }
            Definition::Adt(it) => Impl::all_for_type(db, it.ty(db))
                .into_iter()
                .filter(|it| it.trait_(db).is_some())
                .filter(local)
                .filter_map(|it| self.impl_symbol(it))
                .collect(),
            // Of an implementation of a trait's item: all of that item.
            _ => match as_assoc_item(in_trait(definition, db), db).map(|it| it.container(db)) {
                Some(ra_ap_hir::AssocItemContainer::Trait(it)) => Impl::all_for_trait(db, it)
                    .into_iter()
                    .filter(local)
                    .flat_map(|block| block.items(db).into_iter().map(move |it| (block, it)))
                    .map(|(block, it)| (block, super::paths::assoc_definition(it)))
                    .filter(|(_, it)| in_trait(*it, db) == in_trait(definition, db))
                    // What a derive makes has no text of its own but the derive.
                    .filter_map(|(block, it)| self.symbol_of(it).or_else(|| self.impl_symbol(block)))
                    .collect(),
                _ => Vec::new(),
            },
        };
        found.sort_by(|a, b| a.place.cmp(&b.place));
        found.dedup_by(|a, b| a.place == b.place && a.path == b.path);
        found
    }

    fn impl_symbol(&self, it: Impl) -> Option<Symbol> {
        let target = it.try_to_nav(&self.sema)?.call_site;
        let file = self.file(target.file_id)?;
        let whole = span(target.full_range);
        let path = self.impl_path(it);
        let outline = file.outline().clone();
        let mut item = None;
        outline.walk(&mut |candidate| {
            if candidate.kind == SymbolKind::Impl && candidate.span.start == whole.start {
                item = Some(candidate);
            }
        });
        let name_span = item.map_or(span(target.focus_or_full_range()), |it| it.name_span);
        Some(Symbol {
            language: LANGUAGE,
            name: item.map_or_else(|| path.clone(), |it| it.name.clone()),
            kind: SymbolKind::Impl,
            signature: item.map_or_else(|| format!("impl {path}"), |it| it.signature.clone()),
            package: self.crate_name(it.module(self.db).krate(self.db)),
            place: file.lines().place(&file.path, whole),
            name_at: file.lines().place(&file.path, name_span),
            declared_at: None,
            docs: item.and_then(|it| it.docs.clone()),
            external: !it.module(self.db).krate(self.db).origin(self.db).is_local(),
            public: true,
            test: is_test_at(&file, whole.start),
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
            path,
        })
    }
}

fn count(symbols: &mut [Symbol], counts: &HashMap<Arc<str>, UsageCount>) {
    for symbol in symbols {
        if symbol.kind != SymbolKind::Impl {
            symbol.usages = counts.get(symbol.path.as_str()).copied();
        }
        count(&mut symbol.children, counts);
    }
}

/// rust-analyzer was not told of this file.
fn unknown(file: &str) -> Missing {
    Missing::new(MissingCode::NotInAPackage, file, "rust-analyzer does not have this file: what it says is not known")
}
