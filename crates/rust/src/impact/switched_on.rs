//! Code that an edit switches on, by a `cfg` that it removes or changes around text that stays: it was not compiled
//! before, so that all of its errors are new.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_syntax::{AstNode as _, Edition, SourceFile, TextRange, ast};

use super::affected::BodyRef;
use super::edit_context::EditContext;
use crate::checks::anchors::body_item_around;
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

/// The bodies of files whose `mod` line is switched on, and of their modules.
pub(crate) fn bodies_of_files(cx: &Context<'_>, edit: &EditContext, index: usize) -> BTreeSet<BodyRef> {
    let new = &edit.news[index];
    let mut is_any = false;
    new.outline().walk(&mut |it| {
        is_any |= it.kind == SymbolKind::Module && it.body.is_none() && edit.is_switched_on(index, it.name_span);
    });
    let mut bodies = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut left: Vec<Arc<File>> = if is_any { vec![new.clone()] } else { Vec::new() };
    while let Some(file) = left.pop() {
        for named in referenced_files(&file.path, &file.text).into_iter().flat_map(|it| it.candidates) {
            let Some(file) = cx.files.get(&named).filter(|_| seen.insert(named.clone())) else { continue };
            let is_module = |it| cx.sema.file_to_module_defs(it).next().is_some();
            if cx.file_id(&named).is_some_and(is_module) || edit.news.iter().any(|it| it.path == file.path) {
                continue;
            }
            bodies.extend(all_bodies(file));
            left.push(file.clone());
        }
    }
    bodies
}

fn all_bodies(file: &File) -> Vec<BodyRef> {
    let mut places = BTreeSet::new();
    file.outline().walk(&mut |item| {
        places.extend(body_item_around(file, item.name_span.start).map(|it| it.name_span.start));
    });
    let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
    let calls = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
    places.extend(calls.map(|it| span(it.syntax().text_range()).start));
    let body = |at| BodyRef { file: file.path.clone(), before: None, after: Some(at), edited: true };
    places.into_iter().map(body).collect()
}
