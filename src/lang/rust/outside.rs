//! What other files can see of a file: what tells a change that only its own file must be read again for from one that
//! may reach any.

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::{EditionedFileId, FileText, SourceDatabase as _, relevant_crates};
use ra_ap_syntax::ast::{HasAttrs as _, HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SyntaxElement, SyntaxNode, WalkEvent, ast};
use rustc_hash::FxHasher;

use super::engine::FileIds;
use super::index::IndexDatabase;
use super::view::span;
use crate::model::{Language, Span};

/// Attributes that leave an item what it is, and reachable by its name alone.
const PLAIN_ATTRIBUTES: &[&str] = &[
    "allow",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "ignore",
    "inline",
    "must_use",
    "should_panic",
    "test",
    "track_caller",
    "warn",
];

/// What other files can see of a file.
pub(super) fn outside(db: &RootDatabase, file: FileId) -> Arc<Outside> {
    outside_of(db, db.file_text(file))
}

/// What other files can see of a file: all but the bodies of its functions, white space and comments. The body of a
/// function belongs to it where something of it can be seen outside: it is evaluated (`const`), its type is what the
/// function returns (`impl`), or it holds an `impl` block or declares a macro.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outside {
    hash: u64,
    /// The same without the plain items.
    rest: u64,
    text: Arc<str>,
    /// What cannot be seen, in order.
    bodies: Vec<Span>,
    plain: Vec<Plain>,
}

/// A function, constant or static that is reached by its name alone: no trait knows it, and no macro makes something
/// else of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) name: String,
    pub(super) name_at: usize,
    pub(super) at: Span,
    /// What stands before it of all that is not plain.
    behind: u64,
    /// What decides whether a name means it.
    access: u64,
    /// All of it that can be seen.
    hash: u64,
}

impl Outside {
    pub(super) fn is_same(&self, other: &Outside) -> bool {
        self.hash == other.hash
    }

    pub(super) fn text(&self, at: Span) -> &str {
        &self.text[at.start..at.end]
    }

    pub(super) fn whole(&self) -> &Arc<str> {
        &self.text
    }

    /// The body around an offset.
    pub(super) fn body_around(&self, at: usize) -> Option<Span> {
        let after = self.bodies.partition_point(|it| it.end <= at);
        self.bodies.get(after).copied().filter(|it| it.contains(at))
    }

    /// The plain items that are not what they were, each with whether a name is led to it as before. `None` where more
    /// has changed than these.
    pub(super) fn altered<'a>(&'a self, after: &Outside) -> Option<Vec<(&'a Plain, bool)>> {
        let is_same_row = self.plain.len() == after.plain.len() && self.rest == after.rest;
        let pairs = || self.plain.iter().zip(&after.plain);
        if !is_same_row || pairs().any(|(old, new)| old.name != new.name || old.behind != new.behind) {
            return None;
        }
        let altered = pairs().filter(|(old, new)| old.hash != new.hash);
        Some(altered.map(|(old, new)| (old, old.access == new.access)).collect())
    }

    /// The text cut where bodies begin and end.
    pub(super) fn stretches(&self) -> Vec<Span> {
        let mut from = 0;
        let mut stretches = Vec::with_capacity(2 * self.bodies.len() + 1);
        for body in &self.bodies {
            stretches.extend([Span::new(from, body.start), *body]);
            from = body.end;
        }
        stretches.push(Span::new(from, self.text.len()));
        stretches
    }
}

#[salsa::tracked(returns(clone), no_eq)]
fn outside_of(db: &dyn IndexDatabase, text: FileText) -> Arc<Outside> {
    let root = db.root();
    // Whatever edition its crate has: to ask would be to work out the modules of the crate.
    let file = EditionedFileId::current_edition(root, *text.file_id(root));
    let tree = EditionedFileId::parse(file, root).tree();
    let mut walk = Walk::default();
    walk.all(tree.syntax());
    let Walk { whole, rest, bodies, plain } = walk;
    Arc::new(Outside { hash: whole.finish(), rest: rest.finish(), text: Arc::from(&**text.text(root)), bodies, plain })
}

#[derive(Default)]
struct Walk {
    whole: FxHasher,
    rest: FxHasher,
    bodies: Vec<Span>,
    plain: Vec<Plain>,
}

impl Walk {
    fn all(&mut self, tree: &SyntaxNode) {
        let mut walk = tree.preorder_with_tokens();
        while let Some(event) = walk.next() {
            let plain = match &event {
                WalkEvent::Enter(NodeOrToken::Node(node)) => plain_item(node).map(|name| (node.clone(), name)),
                _ => None,
            };
            match plain {
                Some((node, name)) => {
                    let hash = visible(&node, &mut self.bodies);
                    hash.hash(&mut self.whole);
                    self.plain.push(Plain {
                        name: name.text().trim_start_matches("r#").to_owned(),
                        name_at: span(name.syntax().text_range()).start,
                        at: span(node.text_range()),
                        behind: self.rest.finish(),
                        access: access(&node),
                        hash,
                    });
                    walk.skip_subtree();
                }
                None => {
                    let mut both = [&mut self.whole, &mut self.rest];
                    if step(&event, &mut both, &mut self.bodies) {
                        walk.skip_subtree();
                    }
                }
            }
        }
    }
}

/// The hash of what can be seen of a node.
fn visible(node: &SyntaxNode, bodies: &mut Vec<Span>) -> u64 {
    let mut hasher = FxHasher::default();
    let mut walk = node.preorder_with_tokens();
    while let Some(event) = walk.next() {
        if step(&event, &mut [&mut hasher], bodies) {
            walk.skip_subtree();
        }
    }
    hasher.finish()
}

/// Answers whether what is below is hidden.
fn step(event: &WalkEvent<SyntaxElement>, hashers: &mut [&mut FxHasher], bodies: &mut Vec<Span>) -> bool {
    match event {
        WalkEvent::Enter(NodeOrToken::Node(node)) if is_hidden_body(node) => {
            bodies.push(span(node.text_range()));
            return true;
        }
        WalkEvent::Enter(NodeOrToken::Node(node)) => {
            hashers.iter_mut().for_each(|it| (node.kind() as u16).hash(it));
        }
        WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => {
            hashers.iter_mut().for_each(|it| token.text().hash(it));
        }
        WalkEvent::Enter(_) => {}
        WalkEvent::Leave(_) => hashers.iter_mut().for_each(|it| 0u8.hash(it)),
    }
    false
}

/// The name of a plain item.
pub(super) fn plain_item(node: &SyntaxNode) -> Option<ast::Name> {
    let item = ast::Item::cast(node.clone())?;
    let name = match &item {
        ast::Item::Fn(it) => it.name(),
        ast::Item::Const(it) => it.name(),
        ast::Item::Static(it) => it.name(),
        _ => None,
    }?;
    let around = node.parent()?;
    let is_inherent = || around.parent().and_then(ast::Impl::cast).is_some_and(|it| it.trait_().is_none());
    let stands_alone = ast::SourceFile::can_cast(around.kind())
        || ast::ItemList::can_cast(around.kind())
        || ast::AssocItemList::can_cast(around.kind()) && is_inherent();
    let known = |it: ast::Attr| {
        let name = it.path().and_then(|it| it.as_single_name_ref());
        name.is_some_and(|it| PLAIN_ATTRIBUTES.contains(&it.text()))
    };
    let holds_more = || node.descendants().any(|it| ast::Macro::can_cast(it.kind()) || ast::Impl::can_cast(it.kind()));
    (stands_alone && item.attrs().all(known) && !holds_more()).then_some(name)
}

/// What decides whether a name means an item: all of its head but parameters after the receiver, types and values.
fn access(node: &SyntaxNode) -> u64 {
    let mut hasher = FxHasher::default();
    let mut add = |it: Option<SyntaxNode>| it.map(|it| visible(&it, &mut Vec::new())).hash(&mut hasher);
    if let Some(item) = ast::Item::cast(node.clone()) {
        item.attrs().for_each(|it| add(Some(it.syntax().clone())));
    }
    add(node.children().find_map(ast::Visibility::cast).map(|it| it.syntax().clone()));
    if let Some(function) = ast::Fn::cast(node.clone()) {
        add(function.generic_param_list().map(|it| it.syntax().clone()));
        add(function.where_clause().map(|it| it.syntax().clone()));
        add(function.param_list().and_then(|it| it.self_param()).map(|it| it.syntax().clone()));
    }
    hasher.finish()
}

fn is_hidden_body(node: &SyntaxNode) -> bool {
    if !ast::BlockExpr::can_cast(node.kind()) {
        return false;
    }
    let Some(function) = node.parent().and_then(ast::Fn::cast) else { return false };
    let returns_impl = || {
        let returned = function.ret_type()?.ty()?;
        returned.syntax().descendants().find_map(ast::ImplTraitType::cast)
    };
    let is_seen = |it: SyntaxNode| ast::Macro::can_cast(it.kind()) || ast::Impl::can_cast(it.kind());
    function.const_token().is_none() && returns_impl().is_none() && !node.descendants().any(is_seen)
}

/// The files of all crates that a change of these may reach: of those that they are in, and of those that depend on
/// these. `None` where files may be in crates whose directories they do not lie in, and where no crate is known.
pub(super) fn reached_from(
    db: &RootDatabase,
    ids: &FileIds,
    changed: impl Iterator<Item = FileId>,
) -> Option<HashSet<FileId>> {
    let rust = || ids.iter().filter(|(name, _)| Language::of(name) == Some(Language::Rust)).map(|it| *it.1);
    let is_far = |text: &str| {
        let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        has("../") && (has("#[path") || has("include!(")) && leads_out(text)
    };
    if rust().any(|it| is_far(db.file_text(it).text(db))) {
        return None;
    }
    let root_of = |file: FileId| db.file_source_root(file).source_root_id(db);
    let mut roots = HashSet::new();
    for file in changed {
        let crates = relevant_crates(db, file);
        if crates.is_empty() {
            return None;
        }
        for krate in crates {
            roots.extend(krate.transitive_rev_deps(db).iter().map(|it| root_of(it.data(db).root_file_id)));
        }
    }
    Some(rust().filter(|it| roots.contains(&root_of(*it))).collect())
}

/// Whether an attribute or a macro takes in what lies in another directory.
fn leads_out(text: &str) -> bool {
    let tree = ast::SourceFile::parse(text, Edition::CURRENT).tree();
    tree.syntax().descendants().any(|it| {
        let name = match ast::Attr::cast(it.clone()) {
            Some(attribute) => attribute.path(),
            None => ast::MacroCall::cast(it.clone()).and_then(|it| it.path()),
        };
        let name = name.and_then(|it| it.segment()?.name_ref());
        name.is_some_and(|it| matches!(it.text(), "path" | "include")) && it.text().to_string().contains("..")
    })
}
