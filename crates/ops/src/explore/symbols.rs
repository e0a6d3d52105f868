//! The symbols of sections, with the paths that the engines print.

use std::collections::HashSet;

use super::super::map::{Graph, Node};
use crate::ranking::{At, Index};
use crate::redaction::redact;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Symbol};

/// The symbols of the ranked sections.
pub(super) struct Symbols<'a> {
    pub graph: &'a Graph,
    pub index: &'a Index,
}

impl<'a> Symbols<'a> {
    pub(super) fn new(graph: &'a Graph, index: &'a Index) -> Symbols<'a> {
        Symbols { graph, index }
    }

    pub(super) fn file(&self, file: usize) -> Option<&'a File> {
        self.index.files.get(file).map(|it| &*it.file)
    }

    /// The file in the graph of references, with its position there. None while its engine is loading.
    pub(super) fn node(&self, file: usize) -> Option<(usize, &'a Node)> {
        let position = self.graph.position(&self.file(file)?.path)?;
        Some((position, self.graph.node(position)?))
    }

    /// The declarations that a file uses, as its engine resolves them. None while the engine is loading, and for a file
    /// of no engine.
    pub(super) fn uses(&self, file: usize) -> Option<HashSet<At>> {
        let (node, of_node) = self.node(file)?;
        of_node.language?;
        let uses = self.graph.uses.get(node).filter(|it| !it.is_empty())?;
        let section = |node: usize, item: usize| {
            let used = self.graph.node(node)?;
            let at = used.items.get(item)?.at;
            let position = self.index.position(&used.file.path)?;
            Some((position, self.file(position)?.terms().section_at(at)?))
        };
        Some(uses.iter().filter_map(|it| section(it.node, it.item?)).collect())
    }

    /// The innermost symbol around a section.
    pub(super) fn of(&self, at: At) -> Option<Symbol> {
        let file = self.file(at.0)?;
        let section = file.terms().sections.get(at.1)?;
        let owner = section.owner? as usize;
        // A block of a type has no path of its own: its only member represents it.
        let listed = self.node(at.0).into_iter().flat_map(|it| it.1.items.iter().enumerate());
        let members: Vec<usize> = listed
            .filter(|(position, it)| it.listed == Some(*position) && section.span().contains(it.at))
            .map(|it| it.1.at)
            .collect();
        let is_listed = members.contains(&owner) || !section.is_first;
        match members[..] {
            [only] if !is_listed => self.named_at(at.0, only),
            _ => self.named_at(at.0, owner),
        }
    }

    /// The symbol whose name begins at an offset.
    pub(super) fn named_at(&self, position: usize, at: usize) -> Option<Symbol> {
        let file = self.file(position)?;
        let item = declared_at(file, at)?;
        let node = self.node(position).map(|it| it.1);
        let known = node.and_then(|it| it.items.iter().find(|it| it.at == at)?.path.clone());
        let language = file.language?;
        let lines = file.lines();
        Some(Symbol {
            language,
            path: known.unwrap_or_else(|| short_path(file, item)),
            kind: item.kind,
            name: item.name.clone(),
            // It has the value of a constant.
            signature: redact(&item.signature, true),
            package: node.map(|it| it.package.clone()).unwrap_or_default(),
            place: lines.place(&file.path, item.span),
            name_at: lines.place(&file.path, item.name_span),
            declared_at: None,
            docs: None,
            external: false,
            origin: None,
            public: item.public,
            test: item.test || node.is_some_and(|it| it.test),
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
        })
    }

    /// The path of the innermost symbol around an offset.
    pub(super) fn path_around(&self, position: usize, offset: usize) -> Option<String> {
        let chain = self.file(position)?.outline().enclosing(offset);
        self.named_at(position, chain.last()?.name_span.start).map(|it| it.path)
    }
}

fn declared_at(file: &File, at: usize) -> Option<&OutlineItem> {
    let mut found = None;
    file.outline().walk(&mut |it| {
        if it.name_span.start == at && found.is_none() {
            found = Some(it);
        }
    });
    found
}

/// A path that the engines accept where it is unique: the containers and the name.
fn short_path(file: &File, item: &OutlineItem) -> String {
    let separator = if file.path.ends_with(".rs") { "::" } else { "." };
    item.container.iter().map(String::as_str).chain([item.name.as_str()]).collect::<Vec<_>>().join(separator)
}
