//! Usages of a symbol: the references from gopls, with the proof that there are no others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::checker::{self, Wanted};
use super::diagnostics::outside_the_build;
use super::identifier_index::{Named, Written, written};
use super::modules::parent;
use super::package_set::may_be_called;
use super::queries::GoplsQueries;
use super::session::{Failure, SCOPE};
use super::symbol_paths::{inner_path, is_test_file};
use super::syntax::package_clause;
use super::unlisted_occurrences::{self, Effort, UnlistedOccurrence};
use super::usage_index::{Places, Spot};
use super::{lsp_conversion, other_builds, predeclared};
use crate::LANGUAGE;
use semdex_engine::files::File;
use semdex_engine::ranking::{self, UsageRank};
use semdex_engine::{Result, Stop};
use semdex_model::{
    Answer, Coverage, Doubt, Import, Missing, MissingCode, PossibleReason, Role, Span, Symbol, SymbolKind, Usage,
    UsagePage, Usages, Window,
};

/// So many symbols are worth a list of the files of all names.
const MANY: usize = 20;

pub(crate) async fn of(queries: &GoplsQueries<'_>, symbol: &Symbol, effort: Effort) -> Result<Answer<Usages>> {
    let answer = places(queries, symbol, effort).await?;
    Ok(answer.map(|places| {
        let usages = |spots: &[Spot]| spots.iter().filter_map(|it| usage_at(queries, it)).collect();
        let possible = places.possible.iter().filter_map(|it| possible_at(queries, it)).collect();
        Usages { items: usages(&places.items), possible }
    }))
}

/// The usages of a symbol from the index, else computed and stored there.
pub(crate) async fn places(queries: &GoplsQueries<'_>, symbol: &Symbol, effort: Effort) -> Result<Answer<Arc<Places>>> {
    if symbol.name == "_" {
        return Ok(Answer::whole(Arc::default()));
    }
    let index = &queries.session.index;
    if let Some(known) = queries.generation.and_then(|generation| index.places(generation, symbol)) {
        return Ok(known);
    }
    learn(queries, std::slice::from_ref(symbol)).await;
    if let Some(known) = queries.generation.and_then(|generation| index.places(generation, symbol)) {
        return Ok(known);
    }
    // In a large workspace gopls needs longer for its first answer than the checker for its load.
    tokio::select! {
        biased;
        known = learned_after_load(queries, symbol) => Ok(known),
        answer = resolved(queries, symbol, effort) => answer,
    }
}

/// The usages that the checker computes once it has loaded; pending if it has, or if it cannot.
async fn learned_after_load(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Answer<Arc<Places>> {
    let checker = &queries.session.checker;
    if !checker.is_ready() && queries.generation.is_some() {
        while !checker.is_ready() {
            checker.settled().await;
            if checker.is_given_up() {
                break;
            }
        }
        learn(queries, std::slice::from_ref(symbol)).await;
        let index = &queries.session.index;
        if let Some(known) = queries.generation.and_then(|generation| index.places(generation, symbol)) {
            return known;
        }
    }
    std::future::pending().await
}

/// The usages as gopls resolves them.
async fn resolved(queries: &GoplsQueries<'_>, symbol: &Symbol, effort: Effort) -> Result<Answer<Arc<Places>>> {
    let reloads = || queries.session.documents().reloads();
    let before = reloads();
    tracing::trace!(symbol = symbol.path, "usages asked of gopls");
    let mut answer = once(queries, symbol, effort).await?;
    // The proof may have made gopls load files that it did not know when it listed the references.
    if reloads() != before {
        answer = once(queries, symbol, effort).await?;
    }
    let answer = answer.map(Arc::new);
    if let Some(generation) = queries.generation {
        queries.session.index.learn(generation, symbol, &answer);
    }
    Ok(answer)
}

/// Lets the checker compute the usages of as many of these symbols as it can, and stores them in the index.
pub(crate) async fn learn(queries: &GoplsQueries<'_>, symbols: &[Symbol]) {
    let session = queries.session;
    let answers = session.checker.is_ready() && !session.documents().is_restructured();
    let Some(generation) = queries.generation.filter(|_| answers) else { return };
    let asked = |it: &&Symbol| it.name != "_" && it.kind != SymbolKind::Package && !it.external;
    let unknown: Vec<&Symbol> =
        symbols.iter().filter(asked).filter(|it| !session.index.knows(generation, it)).collect();
    if unknown.len() >= MANY {
        queries.layout.files_by_name(&session.identifiers);
    }
    let occurrences: Vec<Occurrences> = unknown.into_iter().filter_map(|it| Occurrences::of(queries, it)).collect();
    if occurrences.is_empty() {
        return;
    }
    let wanted = occurrences.iter().map(|it| it.wanted(queries)).collect();
    let Some(uses) = checker::uses(session, wanted, generation, queries.deadlines.answer).await else { return };
    for (number, occurrences) in occurrences.iter().enumerate() {
        let answer = uses.of(number).and_then(|found| occurrences.answer(queries, found, uses.lost(number)));
        if let Some(answer) = answer {
            session.index.keep(generation, occurrences.symbol, &answer.map(Arc::new));
        }
    }
}

/// The occurrences of a symbol's name in the files where it may mean the symbol.
pub(crate) struct Occurrences<'a> {
    symbol: &'a Symbol,
    files: Vec<(&'a Arc<File>, Bearing, Vec<Named>)>,
}

impl<'a> Occurrences<'a> {
    fn of(queries: &GoplsQueries<'a>, symbol: &'a Symbol) -> Option<Occurrences<'a>> {
        Self::anywhere(queries, symbol).filter(|_| queries.layout.is_built(&symbol.name_at.file))
    }

    /// Also for a symbol of a file that the default build leaves out.
    pub(crate) fn anywhere(queries: &GoplsQueries<'a>, symbol: &'a Symbol) -> Option<Occurrences<'a>> {
        let origin = queries.files.get(&symbol.name_at.file)?;
        let named = |file| queries.session.identifiers.named(file, &symbol.name);
        let all = queries.layout.files_naming(&symbol.name).map(|it| (it, named(it))).filter(|it| !it.1.is_empty());
        let all = all.map(|(file, named)| (file, Bearing::of(symbol, origin, file), named));
        Some(Occurrences { symbol, files: all.filter(|it| it.1 != Bearing::Never).collect() })
    }

    /// The occurrences that may mean the symbol, judged by the syntax.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = UnlistedOccurrence> {
        self.files.iter().flat_map(|(file, bearing, named)| {
            let itself = (*file.path == *self.symbol.name_at.file).then_some(self.symbol.name_at.start);
            let may = move |it: &&Named| {
                Some(it.span.start) != itself && !it.declares && bearing.allows(written(&file.text, it.span))
            };
            named.iter().filter(may).map(|it| UnlistedOccurrence {
                file: (*file).clone(),
                span: it.span,
                role: it.role,
            })
        })
    }

    fn wanted(&self, queries: &GoplsQueries<'_>) -> Wanted {
        let doubts = self.doubts().map(|it| it.file.path.to_string());
        let mut files: Vec<String> = doubts.filter(|it| queries.layout.is_active(it)).collect();
        files.dedup();
        let Symbol { name, name_at, .. } = self.symbol;
        Wanted { file: name_at.file.clone(), at: name_at.start, name: name.clone(), files }
    }

    /// The checker's result is complete, except for names that it cannot resolve because of errors, and for files that
    /// the build excludes.
    fn answer<'f>(
        &self,
        queries: &GoplsQueries<'_>,
        found: impl Iterator<Item = (&'f str, usize)>,
        lost: impl Iterator<Item = (&'f str, usize)>,
    ) -> Option<Answer<Places>> {
        let mut answer = Answer::whole(Places::default());
        let roles: HashMap<(&str, usize), Role> = self
            .files
            .iter()
            .flat_map(|(file, _, named)| named.iter().map(|it| ((&*file.path, it.span.start), it.role)))
            .collect();
        for (file, at) in found {
            let file = queries.files.get(file)?;
            let span = Span::new(at, at + self.symbol.name.len());
            if file.text.get(span.start..span.end) != Some(self.symbol.name.as_str()) {
                return None;
            }
            let role = roles.get(&(&*file.path, at)).copied().unwrap_or(Role::Other);
            answer.value.items.push(Spot { file: file.path.clone(), span, role });
        }
        let lost: HashSet<(&str, usize)> = lost.collect();
        for doubt in self.doubts().filter(|it| lost.contains(&(&*it.file.path, it.span.start))) {
            answer.coverage.lacks(unlisted_occurrences::unresolved(&self.symbol.name, &doubt.file.path));
            answer.value.possible.push(doubt.spot());
        }
        let left_out = self.doubts().filter(|it| !queries.layout.is_active(&it.file.path));
        for doubt in left_out.chain(other_builds::twins(queries, self.symbol)) {
            answer.coverage.lacks(unlisted_occurrences::left_out(&doubt.file.path));
            answer.value.possible.push(doubt.spot());
        }
        answer.value.items.sort_unstable();
        answer.value.possible.sort_unstable();
        Some(answer)
    }
}

/// All places that may name the symbol, as possible usages.
pub(crate) fn by_text(queries: &GoplsQueries<'_>, symbol: &Symbol, missing: Missing) -> Answer<Places> {
    let mut places = Places::default();
    let occurrences = Occurrences::anywhere(queries, symbol);
    places.possible.extend(occurrences.iter().flat_map(|it| it.doubts().map(|it| it.spot())));
    places.possible.sort_unstable();
    Answer::lacking(places, missing)
}

/// The file that declares a symbol no longer exists.
pub(crate) fn unreadable(file: &str) -> Missing {
    Missing::new(MissingCode::Unsupported, SCOPE, format!("{file} cannot be read"))
}

async fn once(queries: &GoplsQueries<'_>, symbol: &Symbol, effort: Effort) -> Result<Answer<Places>> {
    let Some(origin) = queries.load(&symbol.name_at.file) else {
        return Ok(Answer::lacking(Places::default(), unreadable(&symbol.name_at.file)));
    };
    let mut coverage = Coverage::default();
    let mut found: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    // gopls lists no references to symbols that no source declares: each occurrence is resolved by itself.
    let is_special = predeclared::is_special(&symbol.package) && symbol.external;
    let references = match is_special {
        true => Ok(Arc::default()),
        false => queries.references(&origin, symbol.name_at.start).await,
    };
    match references {
        Ok(locations) => {
            for location in locations.iter() {
                let Some(file) = queries.session.root.file(&location.uri) else { continue };
                // A file outside the workspace: of a dependency, or generated by cgo.
                let Some(text) = queries.files.get(&file) else { continue };
                found.entry(file).or_default().push(lsp_conversion::span(text, location.range));
            }
        }
        Err(Failure::Inapplicable(message) | Failure::Refused(message)) => {
            coverage.lacks(outside_the_build(queries, &origin.path, &message))
        }
        Err(failure) => failure.note(&mut coverage),
    }
    let asked = coverage.complete;
    let mut places = Places::default();
    let mut doubts = Vec::new();
    for file in queries.files.of(LANGUAGE) {
        let spans = found.remove(&*file.path).unwrap_or_default();
        let bearing = Bearing::of(symbol, &origin, file);
        if spans.is_empty() && bearing == Bearing::Never {
            continue;
        }
        let named = named(queries, symbol, file);
        for &span in &spans {
            // gopls read the file after another change, which the watcher will report.
            if symbol.kind != SymbolKind::Package && file.text.get(span.start..span.end) != Some(symbol.name.as_str()) {
                return Err(Stop::Stale);
            }
            let role = named.iter().find(|it| span.encloses(it.span)).map_or(Role::Other, |it| it.role);
            places.items.push(Spot { file: file.path.clone(), span, role });
        }
        let itself = (*file.path == *symbol.name_at.file).then_some(symbol.name_at.start);
        let left = named
            .into_iter()
            .filter(|it| Some(it.span.start) != itself && !spans.iter().any(|span| span.encloses(it.span)))
            .filter(|it| !it.declares && bearing.allows(written(&file.text, it.span)));
        let left = left.map(|it| UnlistedOccurrence { file: file.clone(), span: it.span, role: it.role });
        // A name that no enclosing scope redeclares has its predeclared meaning.
        let is_plain = is_special
            && bearing == Bearing::Unselected
            && queries.layout.is_active(&file.path)
            && !may_declare(queries, &symbol.name, file);
        let is_key = |it: &UnlistedOccurrence| written(&it.file.text, it.span) == Written::Key;
        let (certain, left): (Vec<_>, Vec<_>) = left.partition(|it| is_plain && !is_key(it));
        places.items.extend(certain.iter().map(UnlistedOccurrence::spot));
        doubts.extend(left);
    }
    if asked {
        unlisted_occurrences::settle(queries, symbol, effort, doubts, &mut places, &mut coverage).await;
    } else {
        places.possible.extend(doubts.iter().map(UnlistedOccurrence::spot));
    }
    for twin in other_builds::twins(queries, symbol) {
        coverage.lacks(unlisted_occurrences::left_out(&twin.file.path));
        places.possible.push(twin.spot());
    }
    places.items.sort_unstable();
    places.possible.sort_unstable();
    Ok(Answer { value: places, coverage })
}

/// Whether a file or its package may redeclare a name.
fn may_declare(queries: &GoplsQueries<'_>, name: &str, file: &File) -> bool {
    let declares = |file: &File| queries.session.identifiers.named(file, name).iter().any(|it| it.declares);
    let mut siblings = queries.layout.siblings(&file.path).iter().filter_map(|it| queries.files.get(it));
    let called = |it: &Import| match it.alias.as_deref() {
        Some(alias) => alias == name || alias == ".",
        None => may_be_called(&it.path, name),
    };
    siblings.any(|it| declares(it)) || file.outline().imports.iter().any(called)
}

/// One page of the usages; possible usages come first.
pub(crate) fn page(queries: &GoplsQueries<'_>, symbol: &Symbol, places: &Places, window: Window) -> UsagePage {
    let mut ranks = Vec::with_capacity(places.items.len());
    for (file, spots) in places.files().enumerate() {
        let (test, own) = (is_test_file(&spots[0].file), *spots[0].file == *symbol.place.file);
        ranks.extend(spots.iter().map(|it| UsageRank { file, at: it.span.start, test, own }));
    }
    let order = ranking::usage_order(&ranks);
    let at_spot = |spot: &Spot| usage_at(queries, spot);
    UsagePage {
        count: places.count(),
        possible_count: places.possible.len(),
        outside_builds: Vec::new(),
        possible: window.of(&places.possible).iter().filter_map(|it| possible_at(queries, it)).collect(),
        items: ranking::rest(window, places.possible.len())
            .of(&order)
            .iter()
            .filter_map(|it| at_spot(&places.items[*it]))
            .collect(),
    }
}

/// Converts a place that may name the symbol.
pub(crate) fn possible_at(queries: &GoplsQueries<'_>, spot: &Spot) -> Option<Usage> {
    let builds = queries.session.builds(queries.layout);
    let build = queries.files.get(&spot.file).and_then(|it| builds.with(it).next());
    let doubt = match build {
        _ if queries.layout.is_active(&spot.file) => {
            let detail = match queries.session.lack() {
                Some(lack) => lack.detail.lines().next().unwrap_or_default().to_owned(),
                None => "gopls does not resolve it, for example because of errors in the code".to_owned(),
            };
            Doubt { reason: PossibleReason::Unresolved, detail }
        }
        None => {
            let detail = "its file is left out by build constraints, also of the further builds".to_owned();
            Doubt { reason: PossibleReason::Cfg, detail }
        }
        Some((_, build)) if queries.session.has_further(&builds) => {
            let detail = format!("the build {} does not resolve it", build.name);
            Doubt { reason: PossibleReason::Unresolved, detail }
        }
        Some((_, build)) => {
            let detail = format!("only the build {} has its file, and it is not read yet", build.name);
            Doubt { reason: PossibleReason::Cfg, detail }
        }
    };
    Some(Usage { doubt: Some(doubt), ..usage_at(queries, spot)? })
}

/// Converts a place to a usage of the model.
pub(crate) fn usage_at(queries: &GoplsQueries<'_>, spot: &Spot) -> Option<Usage> {
    let file = queries.files.get(&spot.file)?;
    Some(Usage { build: build_at(queries, file), ..usage(queries, file, spot.span, spot.role) })
}

/// What differs from the default build in one that has a file; `None` if the default build has it.
fn build_at(queries: &GoplsQueries<'_>, file: &File) -> Option<String> {
    if queries.layout.is_active(&file.path) {
        return None;
    }
    queries.session.builds(queries.layout).name_at(&queries.session.context(), file)
}

/// The occurrences of a symbol in a file: for a package the import lines, else the identifiers.
fn named(queries: &GoplsQueries<'_>, symbol: &Symbol, file: &File) -> Vec<Named> {
    if symbol.kind != SymbolKind::Package {
        return queries.session.identifiers.named(file, &symbol.name);
    }
    let imports = file.outline().imports.iter().filter(|import| import.path == symbol.path);
    imports.map(|import| Named { span: import.span, role: Role::Import, declares: false }).collect()
}

/// The syntax with which a file can name a symbol. It excludes most occurrences of equal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bearing {
    Never,
    Always,
    /// After a dot: a package-level symbol, from outside.
    Selected,
    /// Not after a dot: a package-level symbol, from inside.
    Unselected,
    /// After a dot or before a colon: a field or a method.
    Member,
}

impl Bearing {
    pub(crate) fn of(symbol: &Symbol, origin: &File, file: &File) -> Bearing {
        let exported = symbol.name.chars().next().is_some_and(char::is_uppercase);
        let same_package =
            parent(&file.path) == parent(&origin.path) && package_clause(&file.text) == package_clause(&origin.text);
        let top_level = || inner_path(symbol) == symbol.name;
        let is_universal = symbol.external && symbol.package == predeclared::PACKAGE;
        match symbol.kind {
            SymbolKind::Package => Bearing::Always,
            SymbolKind::Method if is_universal => Bearing::Member,
            _ if is_universal => Bearing::Unselected,
            _ if !exported && !same_package => Bearing::Never,
            SymbolKind::Field | SymbolKind::Method => Bearing::Member,
            // Local to a function.
            _ if !top_level() => {
                if *file.path == *origin.path {
                    Bearing::Always
                } else {
                    Bearing::Never
                }
            }
            _ if same_package => Bearing::Unselected,
            _ => {
                let mut imports = file.outline().imports.iter().filter(|import| import.path == symbol.package);
                match imports.next() {
                    None => Bearing::Never,
                    Some(import) if import.alias.as_deref() == Some(".") => Bearing::Always,
                    Some(_) if imports.next().is_some() => Bearing::Always,
                    Some(_) => Bearing::Selected,
                }
            }
        }
    }

    fn allows(self, written: Written) -> bool {
        match (self, written) {
            (Bearing::Never, _) => false,
            (Bearing::Always, _) | (_, Written::Unclear) => true,
            (Bearing::Selected, written) => written == Written::Selected,
            (Bearing::Unselected, written) => written != Written::Selected,
            (Bearing::Member, written) => written != Written::Alone,
        }
    }
}

pub(crate) fn usage(queries: &GoplsQueries<'_>, file: &File, span: Span, role: Role) -> Usage {
    let place = file.lines().place(&file.path, span);
    Usage {
        text: file.lines().line_text(&file.text, place.line).to_owned(),
        symbol: queries.layout.symbol_around(&file.path, span.start),
        role,
        test: is_test_file(&file.path),
        build: None,
        calls: None,
        doubt: None,
        place,
    }
}
