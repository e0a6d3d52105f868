//! Proof that an occurrence of the name that `textDocument/references` does not list has another meaning.
//!
//! gopls omits names that it could not resolve: in code with errors, in files that this build excludes, and in modules
//! that it does not search together. It also omits, in other packages, the fields of instantiated types. So an omission
//! is a proof only if none of these applies. Otherwise gopls is queried for the definition, and if it does not know, the
//! usage is reported as possible.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};

use super::answer_cache::Checked;
use super::diagnostics::outside_the_build;
use super::modules::parent;
use super::predeclared;
use super::queries::{GoplsQueries, MAX_CONCURRENT};
use super::session::Failure;
use super::usage_index::{Places, Spot};
use semdex_engine::files::File;
use semdex_model::{Coverage, Missing, MissingCode, Role, Span, Symbol, SymbolKind};

type Outcome<T> = Result<T, Failure>;

/// The maximum number of occurrences that gopls is queried about one by one; the rest stay possible usages.
const PROBES: usize = 200;

/// The effort to resolve the unclear occurrences of one symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    Thorough,
    /// For many symbols at a time: occurrences that are not immediately clear stay possible usages.
    Brief,
}

/// An occurrence of the name that `references` does not list.
pub(crate) struct UnlistedOccurrence {
    pub file: Arc<File>,
    pub span: Span,
    pub role: Role,
}

impl UnlistedOccurrence {
    pub(crate) fn spot(&self) -> Spot {
        Spot { file: self.file.path.clone(), span: self.span, role: self.role }
    }
}

/// Determines for each occurrence whether it means this symbol or another one, as far as possible.
pub(crate) async fn settle(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    effort: Effort,
    doubts: Vec<UnlistedOccurrence>,
    places: &mut Places,
    coverage: &mut Coverage,
) {
    let mut resolutions: HashMap<Arc<str>, Resolution> = HashMap::new();
    let mut probed = Vec::new();
    let is_instantiated = is_field_of_generic_type(queries, symbol);
    for doubt in doubts {
        let path = &doubt.file.path;
        if !resolutions.contains_key(path) {
            let of_file = match resolution(queries, symbol, path).await {
                Resolution::Another if is_instantiated && !is_in_package_of(queries, symbol, &doubt.file) => {
                    Resolution::Ask
                }
                resolution => resolution,
            };
            resolutions.insert(path.clone(), of_file);
        }
        match resolutions.get(path) {
            Some(Resolution::Another) => {}
            Some(Resolution::Hidden(missing)) => {
                coverage.lacks(missing.clone());
                places.possible.push(doubt.spot());
            }
            Some(Resolution::Ask) | None => probed.push(doubt),
        }
    }
    let is_probed = symbol.kind != SymbolKind::Package && (effort == Effort::Thorough || is_instantiated);
    let rest = probed.split_off(probed.len().min(if is_probed { PROBES } else { 0 }));
    for doubt in rest {
        coverage.lacks(match is_instantiated {
            true => too_many(&symbol.name, &doubt.file.path),
            false => unresolved(&symbol.name, &doubt.file.path),
        });
        places.possible.push(doubt.spot());
    }
    let probes = probed.into_iter().map(|doubt| async move {
        let meaning = meaning(queries, symbol, &doubt.file, doubt.span).await;
        (doubt, meaning)
    });
    let probed: Vec<_> = stream::iter(probes).buffer_unordered(MAX_CONCURRENT).collect().await;
    for (doubt, meaning) in probed {
        let found = || doubt.spot();
        match meaning {
            Ok(Some(true)) => places.items.push(found()),
            Ok(Some(false)) => {}
            Ok(None) => {
                let detail = format!("`{}` in {} cannot be resolved", symbol.name, doubt.file.path);
                coverage.lacks(Missing::new(MissingCode::WorkspaceBroken, doubt.file.path.to_string(), detail));
                places.possible.push(found());
            }
            Err(failure) => {
                failure.note(coverage);
                places.possible.push(found());
            }
        }
    }
}

/// Whether the name there means this symbol; `None` if gopls does not know.
async fn meaning(queries: &GoplsQueries<'_>, symbol: &Symbol, file: &File, span: Span) -> Outcome<Option<bool>> {
    let definitions = match queries.definition(file, span.start).await {
        Ok(definitions) => definitions,
        Err(Failure::Inapplicable(_) | Failure::Refused(_)) => return Ok(None),
        Err(lacking) => return Err(lacking),
    };
    if definitions.is_empty() {
        return Ok(None);
    }
    let name_at = (symbol.name_at.file.as_str(), symbol.name_at.start);
    let meant = definitions.iter().filter_map(|it| queries.place(it));
    Ok(Some(meant.map(|it| (it.file, it.start)).any(|(file, start)| (file.as_str(), start) == name_at)))
}

/// Whether the symbol is a field, at any depth, of a type with type parameters. An array type looks the same.
fn is_field_of_generic_type(queries: &GoplsQueries<'_>, symbol: &Symbol) -> bool {
    let Some(file) = queries.load(&symbol.name_at.file).filter(|_| symbol.kind == SymbolKind::Field) else {
        return false;
    };
    let around = file.outline().enclosing(symbol.name_at.start);
    let after = around.first().and_then(|it| file.text.get(it.name_span.end..));
    after.is_some_and(|it| it.trim_start().starts_with('['))
}

/// The external tests in a package's directory are another package.
fn is_in_package_of(queries: &GoplsQueries<'_>, symbol: &Symbol, file: &File) -> bool {
    queries.layout.package_of(&file.path) == Some(symbol.package.as_str())
}

enum Resolution {
    Another,
    Ask,
    Hidden(Missing),
}

/// What gopls's omission of a place proves. It is a proof in files that gopls searched, if no error there or in
/// imported code leaves a type unknown.
async fn resolution(queries: &GoplsQueries<'_>, symbol: &Symbol, file: &str) -> Resolution {
    if !queries.layout.is_active(file) {
        return Resolution::Hidden(left_out(file));
    }
    match queries.check(file).await {
        Ok(Checked::Known(_)) => {}
        Ok(Checked::Unknown(message)) => return Resolution::Hidden(outside_the_build(queries, file, &message)),
        Err(failure) => return Resolution::Hidden(failure.missing()),
    }
    // gopls lists no references to symbols that no source declares.
    if symbol.external && predeclared::is_special(&symbol.package) {
        return Resolution::Ask;
    }
    if !queries.layout.is_searched_from(&symbol.name_at.file, file) {
        return Resolution::Ask;
    }
    match is_clean(queries, file).await {
        Ok(true) => Resolution::Another,
        Ok(false) => Resolution::Ask,
        Err(failure) => Resolution::Hidden(failure.missing()),
    }
}

pub(crate) fn unresolved(name: &str, file: &str) -> Missing {
    let detail = format!("what `{name}` means in {file} is not known: code there has errors");
    Missing::new(MissingCode::WorkspaceBroken, file, detail)
}

fn too_many(name: &str, file: &str) -> Missing {
    let why = "too many places have the name of a field of a generic type";
    Missing::new(MissingCode::TooMany, file, format!("what `{name}` means in {file} is not known: {why}"))
}

pub(crate) fn left_out(file: &str) -> Missing {
    Missing::new(MissingCode::CfgOff, file, format!("{file} is left out by its build constraints"))
}

/// Whether all code that determines the meaning of a file's names is free of errors.
pub(crate) async fn is_clean(queries: &GoplsQueries<'_>, file: &str) -> Outcome<bool> {
    let cache = &queries.session.cache;
    let directory = parent(file);
    if let Some(clean) = queries.generation.and_then(|generation| cache.clean(generation, directory)) {
        return Ok(clean);
    }
    let meaning = queries.layout.meaning_of(file);
    let mut clean = true;
    for (_, checked) in queries.check_all(meaning.iter().cloned().collect()).await {
        clean &= checked?.is_clean();
    }
    if let Some(generation) = queries.generation {
        cache.keep_clean(generation, directory, clean);
    }
    Ok(clean)
}
