//! Applies the rules to a change, and settles which of their findings follow from others.

use std::collections::HashSet;

use super::affected::AffectedSet;
use super::broken_imports::{Imports, UnresolvedImports};
use super::cascades::UnresolvedHead;
use super::delta::{Delta, is_type};
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::Change;
use super::{cascades, declared, rules};
use crate::finding::code::Code;
use crate::finding::{Finding, merge_equal};
use crate::index::search::Occurrence;
use crate::view::Context;
use semdex_model::{ChangeKind, OutlineItem, SymbolKind};
use semdex_text::words::words;

/// The lines, by file, that name an item of a module whose file is deleted and whose `mod` line is still there.
fn named_in_unloaded(cx: &Context<'_>, change: &Change<'_, '_>) -> HashSet<(String, usize)> {
    let unloaded = declared::unloaded(cx, change);
    let symbols = change.affected.changed_symbols.iter();
    let symbols = symbols.filter(|it| it.delta.as_ref().is_some_and(|it| unloaded.contains(&it.0)));
    let line = |it: &Occurrence| {
        let at = change.edit.moved(&it.file.path, it.at.start)?;
        Some((it.file.path.to_string(), cx.files.get(&it.file.path)?.lines().line(at)))
    };
    symbols.flat_map(|it| &it.occurrences).filter_map(line).collect()
}

/// Adds the findings of the rules to the new errors, removes those that follow from others, and returns the following
/// errors that have to be edited too.
pub(crate) fn apply_rules(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    new: &mut Vec<Finding>,
) -> Vec<Finding> {
    let gone = deltas.iter().filter(|it| matches!(it.1.kind, ChangeKind::Removed | ChangeKind::Renamed));
    let gone: Vec<(usize, &OutlineItem)> = gone.filter_map(|(index, it)| Some((*index, it.before?))).collect();
    let members = |kind: SymbolKind| -> HashSet<&str> {
        let lost = gone.iter().filter(|it| it.1.kind == kind);
        lost.flat_map(|it| it.1.children.iter().map(|it| it.name.as_str())).collect()
    };
    let types = gone.iter().filter(|it| is_type(it.1.kind) || it.1.kind == SymbolKind::Type);
    let types: HashSet<&str> = types.map(|it| it.1.name.as_str()).collect();
    // An item that a removed trait would have provided is unresolved where the trait is.
    let removed_methods = members(SymbolKind::Trait);
    new.retain(|it| {
        let mut words = cascades::text_of(cx, it).into_iter().flat_map(words);
        !it.is(Code::E0599) || !words.any(|(_, word)| removed_methods.contains(word))
    });
    if !gone.is_empty() {
        new.retain(|it| !cascades::follows_from_unknown(cx, &types, &UnresolvedImports::default(), it));
    }
    let removed_variants = members(SymbolKind::Enum);
    let change = Change { affected, deltas, edit, gone: &gone, removed_variants: &removed_variants };
    let mut out = Findings::new(new);
    rules::check_change(cx, &change, &mut out);
    out.defer_names(&named_in_unloaded(cx, &change));
    let Imports { lost, broken } = std::mem::take(&mut out.imports);
    out.defer(|it| cascades::follows_from(cx, &lost, &broken, it));
    let Findings { new, mut following, .. } = out;
    let is_gone = |it: &Finding| {
        matches!(it.code, Code::E0220 | Code::E0412 | Code::E0432 | Code::E0433 | Code::E0573 | Code::E0603)
    };
    if new.iter().any(is_gone) {
        new.retain(|it| !cascades::follows_from_unknown(cx, &types, &lost, it));
    }
    let unresolved_heads: Vec<UnresolvedHead> = new.iter().filter_map(|it| cascades::block_headed_by(cx, it)).collect();
    new.retain(|it| {
        !cascades::is_of_a_body(it) && !cascades::is_of_self(cx, it)
            || !unresolved_heads.iter().any(|of| cascades::is_of_unresolved_head(cx, of, it))
    });
    rules::check_late(cx, &change, new);
    // Bodies from different calls of a macro report the same error in its definition.
    merge_equal(new);
    let mut lines = Findings::new(new);
    following.sort();
    following.retain(|it| {
        let name = cascades::text_of(cx, it).and_then(|it| words(it).next()).map_or("", |it| it.1);
        !broken.is_alias(name) && lines.claims(it)
    });
    following
}
