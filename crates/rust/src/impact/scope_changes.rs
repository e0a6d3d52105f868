//! What an edit changes between the items of a file, and which bodies that may affect: all bodies of the file, or those
//! with certain names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_hir::{ModuleDef, PathResolution};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, ast};

use super::comments::Comments;
use super::delta::Delta;
use super::edit_context::EditContext;
use crate::checks::anchors::{body_item_around, has_body};
use crate::syntax::fingerprint::Fingerprint;
use crate::syntax::{Rest, RestPart};
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, Span, SymbolKind};
use semdex_text::words::{has_word, occurrences, words, words_at};

/// If more names change, all bodies are checked.
const MAX_NAMES: usize = 64;

/// Macros of the standard library that call no method of a trait that has to be imported.
const PLAIN_MACROS: [&str; 22] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
];

#[derive(Default)]
pub(crate) struct ScopeChanges {
    /// Any name may have a different meaning.
    pub(crate) all: bool,
    /// Only methods may have a different meaning, whatever their names are.
    pub(crate) only_methods: bool,
    pub(crate) names: BTreeSet<String>,
    /// Blocks of the new text whose heads have changed.
    blocks: Vec<Span>,
    /// The paths of added and removed imports.
    imports: BTreeSet<String>,
}

impl ScopeChanges {
    pub(crate) fn new(old: &File, new: &File) -> ScopeChanges {
        let (before, after) = (Rest::of(old.outline()), Rest::of(new.outline()));
        let mut scope_changes = ScopeChanges { all: !before.others().eq(after.others()), ..ScopeChanges::default() };
        if scope_changes.all {
            return scope_changes;
        }
        let (olds, news) = (counted(before.parts()), counted(after.parts()));
        let differs = |it: &&RestPart| {
            let (old, new) = (olds.get(&it.hash), news.get(&it.hash));
            // The members of blocks with the same head are compared one by one.
            if it.block.is_some() { old.is_some() != new.is_some() } else { old != new }
        };
        for part in before.parts().chain(after.parts()).filter(differs) {
            scope_changes.names.extend(part.names.iter().cloned());
            scope_changes.imports.extend(part.import.clone());
        }
        scope_changes.blocks.extend(after.parts().filter(differs).filter_map(|it| it.block));
        scope_changes.all = scope_changes.names.len() > MAX_NAMES || old.text.is_empty() || new.text.is_empty();
        scope_changes
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.names.is_empty() && self.blocks.is_empty()
    }

    pub(crate) fn concerns(&self, text: &str) -> bool {
        self.all || self.names.iter().any(|name| has_word(text, name))
    }

    /// The positions of the names in a text, in order.
    pub(crate) fn places<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        self.names.iter().flat_map(move |name| occurrences(text, name).map(move |at| (at, name.as_str())))
    }

    /// The same, with the rest of the paths that begin with them.
    pub(crate) fn paths<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        self.places(text).flat_map(move |(at, name)| {
            let behind = Span::new(at, end_of_path(text, at + name.len()));
            words_at(text, behind)
        })
    }

    /// The words of the blocks whose heads have changed.
    pub(crate) fn in_blocks<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
        self.blocks.iter().flat_map(move |it| words_at(text, *it))
    }

    /// The beginnings of these blocks.
    pub(crate) fn heads(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().map(|it| it.start)
    }

    /// The bodies of the new text that may have a different meaning now, by the positions of their names.
    pub(crate) fn bodies(&self, new: &File) -> BTreeSet<usize> {
        let mut bodies = BTreeSet::new();
        if self.all || !self.blocks.is_empty() {
            new.outline().walk(&mut |item| {
                if has_body(item.kind) && (self.all || self.blocks.iter().any(|it| it.encloses(item.span))) {
                    bodies.extend(body_item_around(new, item.name_span.start).map(|it| it.name_span.start));
                }
            });
        }
        if !self.all {
            let comments = Comments::default();
            let places = self.places(&new.text).filter(|it| !comments.contain(&new.text, it.0));
            bodies.extend(places.filter_map(|it| Some(body_item_around(new, it.0)?.name_span.start)));
        }
        bodies
    }
}

impl EditContext {
    /// The names that are added, removed or reached by another path, if nothing else is visible outside the files.
    pub(crate) fn names_found_elsewhere<'a>(&self, deltas: &[(usize, Delta<'a>)]) -> Option<BTreeSet<&'a str>> {
        self.names_of_changed(deltas, is_plain)
    }

    /// The names that the paths of other items may no longer contain, or contain in a different form; `None` if that
    /// cannot be decided.
    pub(crate) fn names_printed_elsewhere<'a>(&self, deltas: &[(usize, Delta<'a>)]) -> Option<BTreeSet<&'a str>> {
        let is_meant = |kind| {
            let is_of_type = matches!(kind, SymbolKind::Field | SymbolKind::Variant | SymbolKind::Trait);
            is_plain(kind) || is_of_type || matches!(kind, SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union)
        };
        self.names_of_changed(deltas, is_meant)
    }

    fn names_of_changed<'a>(
        &self,
        deltas: &[(usize, Delta<'a>)],
        is_meant: impl Fn(SymbolKind) -> bool,
    ) -> Option<BTreeSet<&'a str>> {
        let is_whole = |it: &Arc<File>| it.outline().errors.is_empty();
        let items = |it: &Delta<'a>| [it.before, it.after].into_iter().flatten();
        let is_narrow = self.olds.iter().chain(&self.news).all(is_whole)
            && self.scope_changes.iter().all(ScopeChanges::is_empty)
            && deltas.iter().flat_map(|it| items(&it.1)).all(|it| is_meant(it.kind));
        let changed = deltas.iter().filter(|it| it.1.kind != ChangeKind::Body);
        is_narrow.then(|| changed.flat_map(|it| items(&it.1)).map(|it| it.name.as_str()).collect())
    }
}

fn is_plain(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static)
}

/// The end of the path with a segment that ends at an offset; a list of imports is included.
fn end_of_path(text: &str, segment_end: usize) -> usize {
    let mut end = segment_end;
    while let Some(behind) = text[end..].strip_prefix("::") {
        let length = match behind.strip_prefix('{') {
            Some(_) => behind.find(';').unwrap_or(behind.len()),
            None => words(behind).next().filter(|it| it.0 == 0).map_or(0, |it| it.1.len()),
        };
        if length == 0 {
            break;
        }
        end += 2 + length;
    }
    end
}

/// The number of parts with each fingerprint.
fn counted<'a>(parts: impl Iterator<Item = &'a RestPart>) -> BTreeMap<Fingerprint, usize> {
    let mut counted = BTreeMap::new();
    for part in parts {
        *counted.entry(part.hash).or_default() += 1;
    }
    counted
}

/// The import of a trait affects the callers of its methods.
pub(crate) fn widen_by_imports(cx: &Context<'_>, edit: &mut EditContext) {
    let EditContext { olds, news, scope_changes, .. } = edit;
    for ((old, new), scope_changes) in olds.iter().zip(news).zip(scope_changes).filter(|it| !it.1.all) {
        let meant: Vec<Option<PathResolution>> = scope_changes.imports.iter().map(|it| imported(cx, old, it)).collect();
        let mut methods = BTreeSet::new();
        for it in &meant {
            if let Some(PathResolution::Def(ModuleDef::Trait(of))) = it {
                let items = of.items(cx.db).into_iter().filter_map(|it| it.name(cx.db));
                methods.extend(items.map(|it| it.as_str().to_owned()));
            }
        }
        if methods.contains("write_fmt") {
            methods.extend(["write", "writeln"].map(str::to_owned));
        }
        if !methods.is_empty() {
            methods.extend(called_macros(&new.text));
        }
        scope_changes.all = meant.iter().any(Option::is_none);
        scope_changes.only_methods = !scope_changes.all && scope_changes.names.len() + methods.len() > MAX_NAMES;
        match scope_changes.only_methods {
            true => scope_changes.all = true,
            false => scope_changes.names.extend(methods),
        }
    }
}

fn imported<'c>(cx: &'c Context<'_>, file: &Arc<File>, import: &str) -> Option<PathResolution<'c>> {
    let text = format!("use {import};");
    let path = SourceFile::parse(&text, Edition::CURRENT).tree().syntax().descendants().find_map(ast::Path::cast)?;
    let id = cx.file_id(&file.path)?;
    let tree = cx.sema.parse_guess_edition(id);
    cx.sema.scope(tree.syntax())?.speculative_resolve(&path)
}

/// The macros that a text calls and whose method calls are unknown here.
fn called_macros(text: &str) -> BTreeSet<String> {
    let calls = words(text).filter(|(at, word)| text[at + word.len()..].starts_with('!'));
    let calls = calls.filter(|(at, word)| !text[at + word.len()..].starts_with("!="));
    calls.map(|it| it.1).filter(|it| !PLAIN_MACROS.contains(it)).map(str::to_owned).collect()
}
