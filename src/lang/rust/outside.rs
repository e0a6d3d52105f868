//! What other files can see of a file: what tells a change that only its own file must be read again for from one that
//! may reach any.

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::{EditionedFileId, FileText, SourceDatabase as _, relevant_crates};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxNode, WalkEvent, ast};
use rustc_hash::FxHasher;

use super::engine::FileIds;
use super::index::IndexDatabase;
use super::view::span;
use crate::model::{Language, Span};

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
    text: Arc<str>,
    /// What cannot be seen, in order.
    bodies: Vec<Span>,
}

impl Outside {
    pub(super) fn is_same(&self, other: &Outside) -> bool {
        self.hash == other.hash
    }

    pub(super) fn text(&self, at: Span) -> &str {
        &self.text[at.start..at.end]
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
    let mut hasher = FxHasher::default();
    let mut bodies = Vec::new();
    let tree = EditionedFileId::parse(file, root).tree();
    let mut walk = tree.syntax().preorder_with_tokens();
    while let Some(event) = walk.next() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => {
                if is_hidden_body(&node) {
                    bodies.push(span(node.text_range()));
                    walk.skip_subtree();
                } else {
                    (node.kind() as u16).hash(&mut hasher);
                }
            }
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => token.text().hash(&mut hasher),
            WalkEvent::Enter(_) => {}
            WalkEvent::Leave(_) => 0u8.hash(&mut hasher),
        }
    }
    Arc::new(Outside { hash: hasher.finish(), text: Arc::from(&**text.text(root)), bodies })
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
        has("../") && (has("#[path") || has("include!("))
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
