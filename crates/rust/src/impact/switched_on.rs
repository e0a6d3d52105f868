//! Code that stays as it is and is compiled for the first time, so that all of its errors are new: an edit removes or
//! changes a `cfg` around it, or writes the `mod` line of its file.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_syntax::{AstNode as _, Edition, SourceFile, TextRange, ast};

use super::affected::{AffectedSet, BodyRef};
use super::edit_context::EditContext;
use crate::checks::anchors::{bodies_of_file, body_item_around};
use crate::checks::unresolved_paths;
use crate::finding::{Finding, RuleId};
use crate::names::{instances, left_out};
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions::{span, text_size};
use crate::syntax::referenced_files;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Span, SymbolKind};
use semdex_text::diff::OffsetMap;

/// What `cfg` switches off in a file before and after an edit, for each crate that includes it.
#[derive(Default)]
pub(crate) struct Switches(Vec<[Vec<TextRange>; 2]>);

impl Switches {
    fn of(cx: &Context<'_>, old: &File, new: &File, map: &OffsetMap) -> Switches {
        let Some(id) = cx.file_id(&old.path).filter(|_| old.text.contains("cfg")) else { return Switches::default() };
        let before = cx.sema.parse_guess_edition(id);
        let after = OnceCell::new();
        let after = || after.get_or_init(|| SourceFile::parse(&new.text, Edition::CURRENT).tree());
        let owners = instances::owners(cx.db, id);
        let of_crates = owners.iter().filter_map(|it| {
            let conditions = it.cfg_options(cx.db);
            let off = left_out(before.syntax(), conditions);
            let is_touched = off.iter().any(|it| !map.is_untouched(span(*it)));
            is_touched.then(|| [off, left_out(after().syntax(), conditions)])
        });
        Switches(of_crates.collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a place of the text after the edit, which stays, is compiled only since.
    pub(crate) fn switch_on(&self, back: &OffsetMap, at: Span) -> bool {
        let Some(before) = back.offset(at.start).filter(|_| !self.is_empty()) else { return false };
        let have = |all: &[TextRange], offset: usize| all.iter().any(|it| it.contains(text_size(offset)));
        self.0.iter().any(|[off_before, off_after]| have(off_before, before) && !have(off_after, at.start))
    }
}

/// In the state before.
pub(crate) fn note_switches(cx: &Context<'_>, edit: &mut EditContext) {
    let of_file = |(old, new): (&Arc<File>, &Arc<File>)| {
        edit.maps.get(&*old.path).map(|map| Switches::of(cx, old, new, map)).unwrap_or_default()
    };
    edit.switches = edit.olds.iter().zip(&edit.news).map(of_file).collect();
}

/// The bodies of an edited file that are switched on, by the positions of their names after the edit.
pub(crate) fn bodies(edit: &EditContext, index: usize) -> BTreeSet<usize> {
    let new = &edit.news[index];
    let mut bodies = BTreeSet::new();
    new.outline().walk(&mut |item| {
        if edit.is_switched_on(index, item.name_span) {
            bodies.extend(body_item_around(new, item.name_span.start).map(|it| it.name_span.start));
        }
    });
    bodies
}

/// The files whose `mod` line the edit writes or switches on, and those of their modules.
pub(crate) fn new_files(cx: &Context<'_>, edit: &EditContext, index: usize) -> Vec<Arc<File>> {
    let new = &edit.news[index];
    let back = edit.backs.get(&*new.path);
    let is_written = |at: Span| back.is_some_and(|it| !it.is_untouched(at));
    let mut is_any = false;
    new.outline().walk(&mut |it| {
        let is_line = it.kind == SymbolKind::Module && it.body.is_none();
        is_any |= is_line && (is_written(it.name_span) || edit.is_switched_on(index, it.name_span));
    });
    let mut found: Vec<Arc<File>> = Vec::new();
    let mut left: Vec<Arc<File>> = if is_any { vec![new.clone()] } else { Vec::new() };
    while let Some(file) = left.pop() {
        for named in referenced_files(&file.path, &file.text).into_iter().flat_map(|it| it.candidates) {
            let is_known = || edit.news.iter().chain(&found).any(|it| *it.path == *named);
            let Some(file) = cx.files.get(&named).filter(|_| !is_known()) else { continue };
            if cx.file_id(&named).is_none_or(|it| cx.sema.file_to_module_defs(it).next().is_none()) {
                found.push(file.clone());
                left.push(file.clone());
            }
        }
    }
    found
}

/// The unresolved names of files that are compiled for the first time that rust-analyzer does not report, in the state
/// after.
pub(crate) fn unresolved_in(cx: &Context<'_>, files: &BTreeSet<Arc<str>>) -> Vec<Finding> {
    let of_file = |name: &Arc<str>| {
        let (file, id) = cx.files.get(name).zip(cx.file_id(name))?;
        cx.unless_at_fault(|| format!("the paths of {name}"), || unresolved_paths::unresolved_paths(cx, file, id))
    };
    let found = files.iter().filter_map(of_file).flatten();
    let found = found.map(|it| Finding { rule: RuleId::UnresolvedNames, ..it });
    found.filter(|it| it.rule.lists(it.code)).collect()
}

/// Enters a file that is compiled for the first time among what is checked.
pub(crate) fn note_file(file: &File, affected: &mut AffectedSet<'_>) {
    affected.new_files.insert(file.path.clone());
    affected.bodies_by_ref.extend(all_bodies(file));
    file.outline().walk(&mut |it| {
        affected.heads.insert((file.path.clone(), it.name_span.start));
    });
}

fn all_bodies(file: &File) -> Vec<BodyRef> {
    let mut places = bodies_of_file(file);
    let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
    let calls = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
    places.extend(calls.map(|it| span(it.syntax().text_range()).start));
    let body = |at| BodyRef { file: file.path.clone(), before: None, after: Some(at), edited: true };
    places.into_iter().map(body).collect()
}
