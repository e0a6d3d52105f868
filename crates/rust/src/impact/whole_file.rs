//! The errors in the items of a file, outside of bodies: those of a change that writes the whole file.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::affected::AffectedSet;
use super::compared_heads::errors_of_heads;
use super::edit_context::{EditContext, Side};
use super::findings::Findings;
use super::misfits::misfits_of;
use super::rule_input::Change;
use super::{derives, rules};
use crate::finding::Finding;
use crate::view::Context;
use semdex_engine::files::{File, Files};
use semdex_model::FileEdit;

/// In each crate that includes the file, or in the one for which it is read.
pub(crate) fn errors_of_items(cx: &Context<'_>, file: &Arc<File>) -> Vec<Finding> {
    let written = FileEdit { file: file.path.to_string(), old: None, new: Some(file.text.clone()) };
    let edit = EditContext::new(&Files::default(), cx.files, &[written], &BTreeMap::new());
    let (affected, deltas) = (AffectedSet::default(), edit.deltas());
    let mut found = errors_of_heads(cx, &affected, &edit, Side::After);
    found.extend(misfits_of(cx, &affected, &edit, Side::After));
    found.extend(derives::refused_derives(cx, &deltas, &edit, Side::After));
    let removed_variants = HashSet::new();
    let change =
        Change { affected: &affected, deltas: &deltas, edit: &edit, gone: &[], removed_variants: &removed_variants };
    rules::check_items(cx, &change, &mut Findings::new(&mut found));
    found
}
