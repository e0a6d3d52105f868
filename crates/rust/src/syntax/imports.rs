//! The imports of a file: each leaf of its `use` trees, as written.

use ra_ap_syntax::ast::{self, HasName};
use ra_ap_syntax::{AstNode, TextRange};

use semdex_model::Import;
use semdex_text::lines::LineIndex;

use super::broken::children;
use super::source::Source;

/// The imports of all modules of the file, without those in function bodies.
pub(crate) fn imports(source: &Source) -> Vec<Import> {
    let mut leaves = Leaves { source, lines: LineIndex::new(source.text), imports: Vec::new() };
    leaves.items(children(source.tree.syntax()));
    leaves.imports
}

struct Leaves<'s, 'a> {
    source: &'s Source<'a>,
    lines: LineIndex,
    imports: Vec<Import>,
}

impl Leaves<'_, '_> {
    fn items(&mut self, items: impl Iterator<Item = ast::Item>) {
        for item in items {
            match item {
                ast::Item::Use(item) => {
                    if let Some(tree) = item.use_tree() {
                        self.tree(&tree, "");
                    }
                }
                ast::Item::ExternCrate(item) => {
                    if let Some(name) = item.name_ref() {
                        let rename = item.rename();
                        let end = rename.as_ref().map_or(name.syntax(), |rename| rename.syntax()).text_range();
                        let range = name.syntax().text_range().cover(end);
                        self.leaf(name.text().to_owned(), alias(rename), range);
                    }
                }
                ast::Item::Module(module) => {
                    if let Some(list) = module.item_list() {
                        self.items(children(list.syntax()));
                    }
                }
                _ => {}
            }
        }
    }

    fn tree(&mut self, tree: &ast::UseTree, prefix: &str) {
        let written = tree.path().map(|path| path.syntax().text().to_string());
        // White space and comments inside a path are not a part of it.
        let written = written.map(|path| if path.contains([' ', '\n', '\t']) { without_trivia(tree) } else { path });
        // `use ::{a, b}` has a `::` and no path.
        let path = match written {
            Some(path) if prefix.is_empty() => path,
            Some(path) if path == "self" => prefix.to_owned(),
            Some(path) => format!("{prefix}::{path}"),
            None => prefix.to_owned(),
        };
        if let Some(list) = tree.use_tree_list() {
            for branch in list.use_trees() {
                self.tree(&branch, &path);
            }
        } else if tree.star_token().is_some() {
            let glob = if path.is_empty() { "*".to_owned() } else { format!("{path}::*") };
            self.leaf(glob, None, tree.syntax().text_range());
        } else if !path.is_empty() {
            self.leaf(path, alias(tree.rename()), tree.syntax().text_range());
        }
    }

    fn leaf(&mut self, path: String, alias: Option<String>, range: TextRange) {
        let span = self.source.span(range);
        self.imports.push(Import { path, alias, span, line: self.lines.line(span.start) });
    }
}

fn alias(rename: Option<ast::Rename>) -> Option<String> {
    let rename = rename?;
    match rename.name() {
        Some(name) => Some(name.text().to_owned()),
        None => rename.underscore_token().map(|underscore| underscore.text().to_owned()),
    }
}

fn without_trivia(tree: &ast::UseTree) -> String {
    let tokens = tree.path().into_iter().flat_map(|path| path.syntax().descendants_with_tokens().collect::<Vec<_>>());
    tokens
        .filter_map(|element| element.into_token())
        .filter(|token| !token.kind().is_trivia())
        .map(|token| token.text().to_owned())
        .collect()
}
