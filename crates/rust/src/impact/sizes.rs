//! Constants that compute with the size of types: a change of any type may make them fail.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::delta::Delta;
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
    let is_content = |delta: &Delta<'_>| {
        let item = delta.before.or(delta.after);
        let is_part = item.is_some_and(|it| {
            matches!(
                it.kind,
                SymbolKind::Struct
                    | SymbolKind::Enum
                    | SymbolKind::Union
                    | SymbolKind::Field
                    | SymbolKind::Variant
                    | SymbolKind::Type
            )
        });
        is_part && delta.kind != ChangeKind::Body
    };
    if !deltas.iter().any(|it| is_content(&it.1)) {
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
