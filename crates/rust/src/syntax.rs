//! What the text of one Rust file shows by itself: its items, imports, docs, errors, and its skeleton. It needs no
//! index, no types and no other file, and only one parse, so it is available while everything else is still loading.
//!
//! The text may have any content: broken code gives the items that the parser recognizes.

pub(crate) mod alter;
pub(crate) mod analysed;
pub(crate) mod attributes;
pub(crate) mod broken;
pub(crate) mod builtin_attributes;
pub(crate) mod declaration;
pub(crate) mod declare;
pub(crate) mod docs;
pub(crate) mod doctests;
pub(crate) mod fingerprint;
pub(crate) mod imports;
pub(crate) mod items;
pub(crate) mod language;
pub(crate) mod nesting;
pub(crate) mod positions;
pub(crate) mod referenced_files;
pub(crate) mod rest;
pub(crate) mod skeleton;
pub(crate) mod source;
#[cfg(test)]
mod tests;
mod token_trees;
pub(crate) mod validation;
pub(crate) mod window;

use fingerprint::Fingerprint;
use ra_ap_syntax::{AstNode as _, ast};
use source::Source;

pub(crate) use alter::alter;
pub(crate) use builtin_attributes::{is_builtin, is_read_by_tools, leaves_access};
pub(crate) use referenced_files::referenced_files;
pub(crate) use rest::{Rest, RestOf, RestPart};
use semdex_model::{Detail, Outline, SyntaxError};
use semdex_text::lines::LineIndex;

/// The outline of a file, from its text.
pub(crate) fn outline(text: &str) -> Outline {
    if let Some(span) = nesting::too_deep(text) {
        let message = "nested too deeply: the file is not analysed".to_owned();
        let whole = RestOf { others: Some(Fingerprint::of(text)), ..RestOf::default() };
        return Outline {
            skeleton: text.to_owned(),
            skeleton_lines: (1..=LineIndex::new(text).line_count()).collect(),
            errors: vec![SyntaxError { message, span }],
            detail: Detail::new(Rest { nodes: vec![whole], ..Rest::default() }),
            ..Outline::default()
        };
    }
    let source = Source::parse(text);
    let mut nodes = rest::rest(&source);
    let (skeleton, skeleton_lines) = skeleton::skeleton(&source, &mut nodes);
    Outline {
        docs: attributes::Attributes::of(&source.tree).docs,
        imports: imports::imports(&source),
        items: items::items(&source),
        skeleton,
        skeleton_lines,
        detail: Detail::new(Rest { nodes, is_current: source.is_current, is_unreadable: source.is_unreadable }),
        errors: source.errors,
    }
}

/// The same, if the outline of an earlier state of the text is known.
pub(crate) fn outline_after(old: &Outline, old_text: &str, text: &str) -> Outline {
    window::outline_after(old, old_text, text).unwrap_or_else(|| outline(text))
}

/// The name of an `impl` block among the items of its file.
pub(crate) fn written_block(item: &ast::Impl) -> String {
    declaration::impl_name(item).name
}

/// The trait that a block implements, by its last segment; `None` for an inherent block.
pub(crate) fn written_trait(item: &ast::Impl) -> Option<String> {
    item.trait_().map(|it| type_name(&it))
}

/// The type of a block, by the last segments of its paths.
pub(crate) fn written_type(item: &ast::Impl) -> Option<String> {
    item.self_ty().map(|it| type_name(&it))
}

/// A type as in paths: the last segment of each path, without generics, lifetimes and bounds.
pub(crate) fn type_name(ty: &ast::Type) -> String {
    declaration::type_name(ty.syntax())
}

/// Whether a whole file is test code by Cargo's conventions: it is below a `tests` directory, or it is named like a
/// test module. A `#[cfg(test)]` on its `mod` line is in another file and is not considered here.
pub(crate) fn is_test_file_path(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(stem) = file.strip_suffix(".rs") else { return false };
    directories.split('/').any(|directory| directory == "tests")
        || stem == "tests"
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
}
