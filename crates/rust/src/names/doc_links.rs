//! The links of doc comments to items, as rustdoc resolves them.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag};
use ra_ap_hir::{HasAttrs, IsInnerDoc, Namespace, Semantics, resolve_doc_path_on};
use ra_ap_ide::{FileId, RootDatabase, TextRange};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasDocComments as _;
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxNode, SyntaxToken, ast};

use super::included::Included;
use crate::syntax::positions::text_size;

/// Prefixes and suffixes of a link's path, and the namespace that they select.
const MARKS: &[(Namespace, &[&str], &str)] = &[
    (Namespace::Types, &["type", "struct", "enum", "mod", "trait", "union", "module", "prim", "primitive"], ""),
    (Namespace::Values, &["value", "function", "fn", "method", "const", "static", "field", "variant"], "()"),
    (Namespace::Macros, &["macro", "derive"], "!"),
];

/// The names in the doc comments of a file that link to something, in the order of the text: `a::b` names both.
/// `included`: its copy, if the file is compiled as a copy.
pub(crate) fn doc_links<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    tree: &SyntaxNode,
    included: Option<&Included>,
) -> Vec<(usize, Definition<'db>)> {
    let mut found = Vec::new();
    let has_links = |it: &ast::AnyHasDocComments| it.doc_comments().any(|it| it.text().contains('['));
    for owner in tree.descendants().filter_map(ast::AnyHasDocComments::cast).filter(has_links) {
        match included {
            None => links_of(sema, owner.syntax(), &Docs::Compiled(file), &mut found),
            Some(included) => {
                for copy in copies(included, owner.syntax()) {
                    links_of(sema, &copy, &Docs::Written(&owner), &mut found);
                }
            }
        }
    }
    found.sort_by_key(|it| it.0);
    found.dedup();
    found
}

/// The copies of an item in the expansion of `include!`. None for a file as a whole: it has no item of its own there.
fn copies(included: &Included, owner: &SyntaxNode) -> Vec<SyntaxNode> {
    let is_in_attribute =
        |it: &SyntaxToken| it.parent_ancestors().take_while(|it| it != owner).any(|it| ast::Attr::can_cast(it.kind()));
    let tokens = owner.descendants_with_tokens().filter_map(|it| it.into_token());
    let Some(first) = tokens.into_iter().find(|it| !it.kind().is_trivia() && !is_in_attribute(it)) else {
        return Vec::new();
    };
    let around = |it: &SyntaxToken| it.parent_ancestors().find(|it| it.kind() == owner.kind());
    included.copies(&first).iter().filter_map(around).collect()
}

/// Where the docs of an item are read from.
enum Docs<'a> {
    /// From the compiled item, as far as they are in this file.
    Compiled(FileId),
    /// From the comments that the item has in a file. The copy of them in an expansion has no positions in it.
    Written(&'a ast::AnyHasDocComments),
}

fn links_of<'db>(
    sema: &Semantics<'db, RootDatabase>,
    owner: &SyntaxNode,
    docs: &Docs<'_>,
    found: &mut Vec<(usize, Definition<'db>)>,
) {
    macro_rules! of {
        ($($node:ident),*) => {
            $(if let Some(node) = ast::$node::cast(owner.clone()) {
                return sema.to_def(&node).map_or((), |it| add(sema.db, docs, it, found));
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
        add(sema.db, docs, it, found);
    }
}

fn add<'db>(
    db: &'db RootDatabase,
    docs: &Docs<'_>,
    owner: impl HasAttrs + Copy,
    found: &mut Vec<(usize, Definition<'db>)>,
) {
    match docs {
        Docs::Compiled(file) => {
            let attributes = owner.attrs(db);
            let Some(docs) = attributes.hir_docs(db) else { return };
            let place_of = |place: Range<usize>| {
                let place = TextRange::new(text_size(place.start), text_size(place.end));
                let (place, is_inner) = docs.find_ast_range(place)?;
                let is_here = place.file_id.file_id().is_some_and(|it| it.file_id(db) == *file);
                is_here.then(|| (usize::from(place.value.start()), is_inner))
            };
            resolve(db, docs.docs(), place_of, owner, found);
        }
        Docs::Written(written) => {
            let written = Written::of(written);
            resolve(db, &written.text, |it| written.place_of(it.start), owner, found);
        }
    }
}

/// Resolves the paths of the links in a text of docs. `place_of`: the position in the file, and whether the docs there
/// are inner ones.
fn resolve<'db>(
    db: &'db RootDatabase,
    docs: &str,
    place_of: impl Fn(Range<usize>) -> Option<(usize, IsInnerDoc)>,
    owner: impl HasAttrs + Copy,
    found: &mut Vec<(usize, Definition<'db>)>,
) {
    for (range, target) in links(docs) {
        let (path, namespace) = without_marks(&target);
        // The position of the path: after the displayed text, if both contain it.
        let Some(at) = docs[range.clone()].rfind(path).map(|it| range.start + it) else { continue };
        let mut end = 0;
        for segment in path.split("::") {
            let start = end;
            end += segment.len();
            let is_last = end == path.len();
            let place = at + start..at + end;
            let name = &path[..end];
            end += 2;
            if matches!(segment, "" | "crate" | "self" | "super" | "Self") {
                continue;
            }
            let Some((place, is_inner)) = place_of(place) else { continue };
            let namespace = if is_last { namespace } else { Some(Namespace::Types) };
            if let Some(definition) = resolve_doc_path_on(db, owner, name, namespace, is_inner) {
                found.push((place, Definition::from(definition)));
            }
        }
    }
}

/// The text of the doc comments of an item, and where it is in their file.
struct Written {
    text: String,
    /// Where stretches of the text begin, in it and in the file.
    stretches: Vec<(usize, usize, IsInnerDoc)>,
}

impl Written {
    fn of(owner: &ast::AnyHasDocComments) -> Written {
        let mut lines = Vec::new();
        for comment in owner.doc_comments() {
            let Some((content, offset)) = comment.doc_comment() else { continue };
            let is_inner = if comment.is_inner() { IsInnerDoc::Yes } else { IsInnerDoc::No };
            let mut at = usize::from(comment.syntax().text_range().start() + offset);
            for line in content.split('\n') {
                lines.push((line.to_owned(), at, is_inner));
                at += line.len() + 1;
            }
        }
        // What all lines are indented by is no part of the docs.
        let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let written = lines.iter().filter(|it| !it.0.trim().is_empty());
        let common = written.map(|it| indentation(&it.0)).min().unwrap_or_default();
        let mut written = Written { text: String::new(), stretches: Vec::new() };
        for (line, at, is_inner) in lines {
            let cut = common.min(indentation(&line));
            written.stretches.push((written.text.len(), at + cut, is_inner));
            written.text.push_str(&line[cut..]);
            written.text.push('\n');
        }
        written
    }

    fn place_of(&self, at: usize) -> Option<(usize, IsInnerDoc)> {
        let stretch = self.stretches.partition_point(|it| it.0 <= at).checked_sub(1)?;
        let (start, place, is_inner) = *self.stretches.get(stretch)?;
        Some((place + (at - start), is_inner))
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
