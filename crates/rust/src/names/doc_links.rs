//! The links of doc comments to items, as rustdoc resolves them.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag};
use ra_ap_hir::{HasAttrs, Namespace, Semantics, resolve_doc_path_on};
use ra_ap_ide::{FileId, RootDatabase, TextRange};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasDocComments as _;
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxNode, ast};

use crate::syntax::positions::text_size;

/// Prefixes and suffixes of a link's path, and the namespace that they select.
const MARKS: &[(Namespace, &[&str], &str)] = &[
    (Namespace::Types, &["type", "struct", "enum", "mod", "trait", "union", "module", "prim", "primitive"], ""),
    (Namespace::Values, &["value", "function", "fn", "method", "const", "static", "field", "variant"], "()"),
    (Namespace::Macros, &["macro", "derive"], "!"),
];

/// The names in the doc comments of a file that link to something, in the order of the text: `a::b` names both.
pub(crate) fn doc_links<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    tree: &SyntaxNode,
) -> Vec<(usize, Definition<'db>)> {
    let mut found = Vec::new();
    let has_links = |it: &ast::AnyHasDocComments| it.doc_comments().any(|it| it.text().contains('['));
    for owner in tree.descendants().filter_map(ast::AnyHasDocComments::cast).filter(has_links) {
        links_of(sema, file, owner.syntax(), &mut found);
    }
    found.sort_by_key(|it| it.0);
    found.dedup();
    found
}

fn links_of<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    owner: &SyntaxNode,
    found: &mut Vec<(usize, Definition<'db>)>,
) {
    macro_rules! of {
        ($($node:ident),*) => {
            $(if let Some(node) = ast::$node::cast(owner.clone()) {
                return sema.to_def(&node).map_or((), |it| add(sema.db, file, it, found));
            })*
        };
    }
    of!(
        SourceFile,
        Module,
        Fn,
        Struct,
        Union,
        Enum,
        Variant,
        Trait,
        Static,
        Const,
        TypeAlias,
        Impl,
        RecordField,
        TupleField
    );
    if let Some(it) = ast::Macro::cast(owner.clone()).and_then(|node| sema.to_def(&node)) {
        add(sema.db, file, it, found);
    }
}

fn add<'db>(
    db: &'db RootDatabase,
    file: FileId,
    owner: impl HasAttrs + Copy,
    found: &mut Vec<(usize, Definition<'db>)>,
) {
    let attributes = owner.attrs(db);
    let Some(docs) = attributes.hir_docs(db) else { return };
    for (range, target) in links(docs.docs()) {
        let (path, namespace) = without_marks(&target);
        // The position of the path: after the displayed text, if both contain it.
        let Some(at) = docs.docs()[range.clone()].rfind(path).map(|it| range.start + it) else { continue };
        let mut end = 0;
        for segment in path.split("::") {
            let start = end;
            end += segment.len();
            let is_last = end == path.len();
            let place = TextRange::new(text_size(at + start), text_size(at + end));
            let name = &path[..end];
            end += 2;
            if matches!(segment, "" | "crate" | "self" | "super" | "Self") {
                continue;
            }
            let Some((place, is_inner)) = docs.find_ast_range(place) else { continue };
            let is_here = place.file_id.file_id().is_some_and(|it| it.file_id(db) == file);
            let namespace = if is_last { namespace } else { Some(Namespace::Types) };
            if is_here && let Some(definition) = resolve_doc_path_on(db, owner, name, namespace, is_inner) {
                found.push((usize::from(place.value.start()), Definition::from(definition)));
            }
        }
    }
}

/// The links of a Markdown text: the range and the target of each. A reference definition counts as a link at its own
/// position.
fn links(docs: &str) -> Vec<(Range<usize>, String)> {
    let mut keep = |link: BrokenLink<'_>| Some((CowStr::from(link.reference.to_string()), CowStr::from("")));
    let parser = Parser::new_with_broken_link_callback(docs, Options::ENABLE_TABLES, Some(&mut keep));
    let defined: Vec<(Range<usize>, String)> =
        parser.reference_definitions().iter().map(|(_, it)| (it.span.clone(), it.dest.to_string())).collect();
    let written = parser.into_offset_iter().filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some((range, dest_url.to_string())),
        _ => None,
    });
    written.chain(defined).filter(|(_, target)| !target.contains('/')).collect()
}

/// `fn@a::b()#c` is `a::b`, looked up among the values.
fn without_marks(target: &str) -> (&str, Option<Namespace>) {
    let target = target.split('#').next().unwrap_or(target).trim_matches('`').trim();
    for (namespace, kinds, suffix) in MARKS {
        if let Some((kind, path)) = target.split_once(['@', ' '])
            && kinds.contains(&kind)
        {
            return (path.trim_end_matches("()").trim_end_matches('!'), Some(*namespace));
        }
        if let Some(path) = target.strip_suffix(suffix).filter(|_| !suffix.is_empty()) {
            return (path, Some(*namespace));
        }
    }
    (target, None)
}

#[cfg(test)]
mod tests {
    use super::{links, without_marks};

    #[test]
    fn links_are_found_as_rustdoc_finds_them() {
        let docs = "See [`A::b`], [it](fn@c()) and [this][d].\n\n[d]: crate::e\n[web](https://f/g) [`x!`]\n";
        let found: Vec<(&str, String)> = links(docs).into_iter().map(|(at, target)| (&docs[at], target)).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(text, target)| (*text, without_marks(target).0)).collect();
        assert!(found.contains(&("[`A::b`]", "A::b")), "{found:?}");
        assert!(found.contains(&("[it](fn@c())", "c")), "{found:?}");
        assert!(found.iter().any(|it| it.0.starts_with("[d]: crate::e") && it.1 == "crate::e"), "{found:?}");
        assert!(found.contains(&("[`x!`]", "x")), "{found:?}");
        assert!(!found.iter().any(|it| it.1.contains("https")), "{found:?}");
    }
}
