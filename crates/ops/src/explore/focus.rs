//! The files of a `focus` that are usually not ranked: ignored and generated ones.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ranking::{Focus, Index};
use crate::redaction::{Secrets, is_code, is_secret_name};
use semdex_engine::files::Files;

/// The index with the files of the focus. Secrets stay hidden.
pub(super) fn focused(index: Arc<Index>, files: &Files, focus: &[Focus], secrets: &Secrets) -> Arc<Index> {
    let is_new = |it: &&Focus| index.position(&it.file).is_none();
    let named: HashSet<&str> = focus.iter().filter(is_new).map(|it| it.file.as_str()).collect();
    if named.is_empty() {
        return index;
    }
    let hides = |file: &str| {
        let is_code = is_code(files.languages(), file);
        if named.contains(file) { is_secret_name(file, is_code) } else { secrets.hides(file, is_code) }
    };
    Arc::new(index.after(files, |it| hides(&it.path), |it| named.contains(&*it.path)))
}
