//! Constants that compute with the size of types: a change of any type may make them fail.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::delta::{Delta, is_content};
use crate::LANGUAGE;
use crate::view::Context;
use semdex_model::{ChangeKind, SymbolKind};

/// What reads the size of a type.
const OF_SIZES: [&str; 2] = ["size_of", "align_of"];

/// If a change affects the content of a type, the constants that compute with sizes, in the state before.
pub(crate) fn note_constants(
    cx: &Context<'_>,
    deltas: &[(usize, Delta<'_>)],
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) {
    let changes_content = |delta: &Delta<'_>| {
        delta.kind != ChangeKind::Body && delta.before.or(delta.after).is_some_and(|it| is_content(it.kind))
    };
    if !deltas.iter().any(|it| changes_content(&it.1)) {
        return;
    }
    let reads = |text: &str| OF_SIZES.iter().any(|it| text.contains(it));
    for file in cx.files.of(LANGUAGE).filter(|it| reads(&it.text)) {
        file.outline().walk(&mut |item| {
            let is_constant = matches!(item.kind, SymbolKind::Const | SymbolKind::Static);
            if is_constant && file.text.get(item.span.start..item.span.end).is_some_and(reads) {
                bodies_by_ref.insert((file.path.clone(), item.name_span.start));
            }
        });
    }
}
