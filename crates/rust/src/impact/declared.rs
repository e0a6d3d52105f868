//! Wrong declarations of an edit: modules without a file, and duplicates.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::Module;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, ast, ast::HasName as _};

use super::affected::DeletedFile;
use super::delta::{Delta, is_type};
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::Change;
use crate::checks::imported_twice::{DefinedAgain, imported_twice};
use crate::checks::{entry_points, report, unresolved};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::resolve::{at, paths};
use crate::syntax::positions::{self, span};
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, OutlineItem, Span, SymbolKind};

/// The files that an edit deletes, in the state before.
pub(crate) fn deleted_files(cx: &Context<'_>, edit: &EditContext) -> Vec<DeletedFile> {
    let deleted = edit.deleted.iter().map(|&index| {
        let id = cx.file_id(&edit.olds[index].path);
        let modules: Vec<Module> = id.into_iter().flat_map(|it| cx.sema.file_to_module_defs(it)).collect();
        let declared = modules.iter().filter_map(|it| {
            let source = it.declaration_source(cx.db)?;
            let file = cx.file(source.file_id.file_id()?.file_id(cx.db))?;
            Some((file.path.clone(), usize::from(source.value.name()?.syntax().text_range().start())))
        });
        let module = modules.first().map(|it| paths::module_path(cx, *it));
        DeletedFile { index, module, declared: declared.collect() }
    });
    deleted.collect()
}

/// `mod` lines that have no file: those that the edit writes, and those whose file it deletes.
pub(crate) fn without_files(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    for (index, item) in change.deltas.iter().filter_map(|it| Some((it.0, it.1.after?))) {
        if item.kind == SymbolKind::Module && item.body.is_none() {
            let file = &change.edit.news[index];
            without_file(cx, file, item.name_span.start).into_iter().for_each(|it| out.add(it));
        }
    }
    for deleted in &change.affected.deleted_files {
        lines_left(cx, deleted, change.edit).into_iter().for_each(|it| out.add(it));
    }
}

/// The `mod` lines of a deleted file that are still there.
fn lines_left(cx: &Context<'_>, deleted: &DeletedFile, edit: &EditContext) -> Vec<Finding> {
    let left = deleted.declared.iter().filter_map(|(file, at)| {
        let at = edit.moved(file, *at)?;
        without_file(cx, cx.files.get(file)?, at)
    });
    left.collect()
}

/// The error of a module that is declared at this offset and has no file.
fn without_file(cx: &Context<'_>, file: &File, at: usize) -> Option<Finding> {
    let declared = at::definition_at(&cx.sema, cx.file_id(&file.path)?, at);
    // Without a file rust-analyzer takes it for a module without items.
    let Some(Definition::Module(module)) = declared.filter(|it| !has_file(cx, *it)) else { return None };
    let name = module.name(cx.db)?.as_str().to_owned();
    let place = file.lines().place(&file.path, Span::new(at, at + name.len()));
    Some(report::error(cx, place, Code::E0583, format!("file not found for module `{name}`")))
}

fn has_file(cx: &Context<'_>, declared: Definition<'_>) -> bool {
    matches!(declared, Definition::Module(it) if it.as_source_file_id(cx.db).is_some())
}

/// The edited files whose module is declared still and has no file: the compiler reports nothing of names in it.
pub(crate) fn unloaded(cx: &Context<'_>, change: &Change<'_, '_>) -> HashSet<usize> {
    let deleted = change.affected.deleted_files.iter();
    deleted.filter(|it| !lines_left(cx, it, change.edit).is_empty()).map(|it| it.index).collect()
}

/// Duplicate declarations of the edit.
pub(crate) fn duplicates(cx: &Context<'_>, file: &Arc<File>, deltas: &[&Delta<'_>], out: &mut Findings<'_>) {
    let is_new = |kind: ChangeKind| matches!(kind, ChangeKind::Added | ChangeKind::Renamed);
    let added: Vec<&OutlineItem> = deltas.iter().filter(|it| is_new(it.kind)).filter_map(|it| it.after).collect();
    let Some(id) = cx.file_id(&file.path).filter(|_| !added.is_empty()) else { return };
    let starts: BTreeSet<usize> = added.iter().map(|it| it.name_span.start).collect();
    // The parts of a new type are not listed by themselves.
    let types: Vec<Span> = added.iter().filter(|it| is_type(it.kind)).map(|it| it.span).collect();
    let is_added = |it: &OutlineItem| {
        starts.contains(&it.name_span.start)
            || namespace(it.kind) > Some(1) && types.iter().any(|of| of.encloses(it.span))
    };
    let mut known: HashMap<(&[String], &str, u8), &OutlineItem> = HashMap::new();
    let mut found = Vec::new();
    file.outline().walk(&mut |item| {
        let Some(space) = namespace(item.kind) else { return };
        let Some(first) = known.insert((&item.container, &item.name, space), item) else { return };
        if is_added(item) || is_added(first) {
            found.push((item, first));
        }
    });
    for (item, first) in found {
        let compiled = |it: &OutlineItem| match it.kind {
            // Of two variants or modules rust-analyzer knows one.
            SymbolKind::Variant | SymbolKind::Module => positions::token(&cx.sema, id, it.name_span.start)
                .is_some_and(|it| !unresolved::is_left_out(&cx.sema, id, &it)),
            _ => at::definition_at(&cx.sema, id, it.name_span.start).is_some(),
        };
        // Blocks of one type with different arguments may have members of the same name.
        let block = |it: &OutlineItem| {
            let around =
                positions::token(&cx.sema, id, it.name_span.start)?.parent_ancestors().find_map(ast::Impl::cast);
            let around = around?;
            let start = around.syntax().text_range().start();
            let of_trait = around.trait_().map(|_| start);
            Some((around.self_ty()?.syntax().text().to_string(), of_trait))
        };
        // Another block for the same trait is reported itself.
        let is_of_trait = block(item).is_some_and(|it| it.1.is_some());
        // Each block of code in a body has its own items.
        let list = |it: &OutlineItem| {
            let token = positions::token(&cx.sema, id, it.name_span.start)?;
            token.parent_ancestors().find(|it| ast::StmtList::can_cast(it.kind()))
        };
        if !compiled(item) || !compiled(first) || block(item) != block(first) || list(item) != list(first) {
            continue;
        }
        let code = match item.kind {
            SymbolKind::Field => Code::E0124,
            _ if is_of_trait => Code::E0201,
            SymbolKind::Method | SymbolKind::Function if !item.container.is_empty() => Code::E0592,
            _ => Code::E0428,
        };
        let line = file.lines().line(first.name_span.start);
        let message = format!("`{}` is declared twice, first at line {line}", item.name);
        out.add(report::error(cx, file.lines().place(&file.path, item.name_span), code, message));
    }
}

/// Names that an import of the edit, or an item beside an import, defines again.
pub(crate) fn imported_again(cx: &Context<'_>, file: &Arc<File>, old: &File, out: &mut Findings<'_>) {
    let Some(id) = cx.file_id(&file.path).filter(|_| file.text != old.text) else { return };
    let count = |text: &'_ str| -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        text.lines().for_each(|it| *counts.entry(it.trim().to_owned()).or_default() += 1);
        counts
    };
    let (before, after) = (count(&old.text), count(&file.text));
    // A line that the old text has less often.
    let is_new = |at: usize| {
        let line = file.lines().line_text(&file.text, file.lines().line(at)).trim();
        after.get(line) > before.get(line)
    };
    for DefinedAgain { name, code, first, second } in imported_twice(cx, id) {
        let (first, second) = (span(first), span(second));
        if is_new(first.start) || is_new(second.start) {
            let line = file.lines().line(first.start);
            let message = format!("the name `{name}` is defined multiple times, first at line {line}");
            out.add(report::error(cx, file.lines().place(&file.path, second), code, message));
        }
    }
}

/// Types and values have separate namespaces.
fn namespace(kind: SymbolKind) -> Option<u8> {
    match kind {
        SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Union
        | SymbolKind::Trait
        | SymbolKind::Type
        | SymbolKind::Module => Some(0),
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static => Some(1),
        SymbolKind::Field => Some(2),
        SymbolKind::Variant => Some(3),
        _ => None,
    }
}

/// The crate root of a program without `main`.
pub(crate) fn without_main(cx: &Context<'_>, file: &File, old: &File, deltas: &[&Delta<'_>]) -> Option<Finding> {
    let is_main = |delta: &&Delta<'_>| {
        let item = delta.before.filter(|it| it.container.is_empty() && it.name == "main");
        let goes = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Renamed);
        goes && item.is_some_and(|it| it.kind == SymbolKind::Function)
    };
    let id = cx.file_id(&file.path)?;
    // The items of a file that is created are all new.
    let is_created = || old.text.is_empty() && !file.text.is_empty() && entry_points::is_program(cx, id);
    if !deltas.iter().any(is_main) && !is_created() {
        return None;
    }
    let module = cx.sema.file_to_module_def(id)?;
    let has_main = || module.scope(cx.db, None).iter().any(|(name, _)| name.as_str() == "main");
    if !module.is_crate_root(cx.db) || file.path.ends_with("lib.rs") || has_main() {
        return None;
    }
    let end = file.text.trim_end().len();
    let place = file.lines().place(&file.path, Span::new(end, end));
    Some(report::error(cx, place, Code::E0601, "`main` function not found in this crate".to_owned()))
}
