//! The callers and callees of a symbol.

use std::collections::BTreeMap;
use std::sync::Arc;

use ra_ap_hir::{Adt, StructKind, Variant};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;

use crate::index::file_names::StoredResolution;
use crate::resolve::symbols::is_test_at;
use crate::resolve::{at, symbols};
use crate::usages::{loaded, names_now};
use crate::view::Context;
use crate::{LANGUAGE, usages};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Answer, CallSite, Calls, Missing, MissingCode, OutlineItem, Role, Span, Symbol, SymbolKind};

/// The symbols whose code calls this one, or uses it as a value that may be called: other code before tests.
pub(crate) fn callers_of<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    build: Option<&str>,
) -> Result<Answer<Vec<Calls>>> {
    let answer = usages::found_of(cx, definition, build)?;
    /// The sort key: tests last, then file and position.
    type Callers = BTreeMap<(bool, Arc<str>, usize), (FileId, Arc<File>, Vec<Span>)>;
    let mut callers = Callers::new();
    // What a doctest calls, the item that it belongs to does not.
    let of_code = answer.value.items.iter().filter(|it| !it.is_in_doctest(cx.db));
    for it in of_code.filter(|it| matches!(it.role, Role::Call | Role::Read)) {
        let around = caller_at(&it.file, it.at.start).map_or(usize::MAX, |item| item.name_span.start);
        let key = (is_test_at(&it.file, it.at.start), it.file.path.clone(), around);
        callers.entry(key).or_insert_with(|| (it.id, it.file.clone(), Vec::new())).2.push(it.at);
    }
    let calls = callers.into_iter().filter_map(|((_, _, around), (id, file, places))| {
        let caller = match around {
            // Outside all function bodies: the module's own code.
            usize::MAX => Definition::Module(cx.sema.file_to_module_def(id)?),
            offset => at::definition_in_any_build(&cx.sema, id, offset)?,
        };
        Some(Calls { symbol: symbols::symbol_of(cx, caller)?, calls: call_sites(&file, &places) })
    });
    let calls = calls.collect();
    let outside = answer.value.outside.len();
    let mut answer = answer.map(|_| calls);
    if outside > 0 {
        let places = if outside == 1 { "1 place".to_owned() } else { format!("{outside} places") };
        let detail = format!("{places} in files that no crate includes may call it: `usages` lists these");
        answer.coverage.note(Missing::new(MissingCode::NotInAPackage, LANGUAGE.name, detail));
    }
    Ok(answer)
}

/// What the text of a symbol calls: functions, methods and constructors, in the order of their first calls.
pub(crate) fn callees_of<'db>(cx: &Context<'db>, symbol: &Symbol, definition: Definition<'db>) -> Answer<Vec<Calls>> {
    let coverage = loaded::coverage_of(cx, &[definition]);
    let nothing = Answer { value: Vec::new(), coverage: coverage.clone() };
    let file = symbols::find_file(cx, &symbol.place.file);
    let Some((id, file)) = file.and_then(|id| Some((id, cx.file(id)?))) else { return nothing };
    if matches!(definition, Definition::Module(_) | Definition::Crate(_)) || !LANGUAGE.takes(&file.path) {
        return nothing;
    }
    let mut callees: Vec<(Definition<'db>, Vec<Span>)> = Vec::new();
    for (at, resolution, role) in names_now(cx, id).within(symbol.place.start, symbol.place.end) {
        let StoredResolution::Means(meaning) = resolution else { continue };
        let called = meaning.definition.definition();
        if role != Role::Call || !is_callable(cx.db, called) {
            continue;
        }
        let name = called.name(cx.db).map_or(0, |it| it.as_str().len());
        let place = Span::new(at, at + name);
        match callees.iter_mut().find(|it| it.0 == called) {
            Some(known) => known.1.push(place),
            None => callees.push((called, vec![place])),
        }
    }
    let calls = callees.into_iter().filter_map(|(called, places)| {
        Some(Calls { symbol: symbols::symbol_of(cx, called)?, calls: call_sites(&file, &places) })
    });
    Answer { value: calls.collect(), coverage }
}

fn is_callable<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> bool {
    let variant = match definition {
        Definition::Function(_) => return true,
        Definition::Adt(Adt::Struct(it)) => Variant::Struct(it),
        Definition::EnumVariant(it) => Variant::EnumVariant(it),
        _ => return false,
    };
    match variant {
        Variant::Struct(it) => it.kind(db) == StructKind::Tuple,
        Variant::EnumVariant(it) => it.kind(db) == StructKind::Tuple,
        Variant::Union(_) => false,
    }
}

fn call_sites(file: &File, places: &[Span]) -> Vec<CallSite> {
    let site = |at: &Span| {
        let place = file.lines().place(&file.path, *at);
        CallSite { text: symbols::line(file, &place), test: is_test_at(file, at.start), place }
    };
    places.iter().map(site).collect()
}

/// The function around an offset, or the constant with this value.
fn caller_at(file: &File, offset: usize) -> Option<&OutlineItem> {
    let is_code = |it: &&OutlineItem| {
        matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static)
    };
    file.outline().enclosing(offset).into_iter().rev().find(is_code)
}
