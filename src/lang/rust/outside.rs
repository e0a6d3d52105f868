//! What other files can see of a file: what tells a change that only its own file must be read again for from one that
//! may reach any.

mod unchanged;

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use ra_ap_hir::HirFileId;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::{EditionedFileId, FileText, SourceDatabase as _, relevant_crates};
use ra_ap_syntax::ast::{HasAttrs as _, HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxElement, SyntaxNode, WalkEvent, ast};
use rustc_hash::FxHasher;

use super::engine::FileIds;
use super::index::IndexDatabase;
use super::view::span;
use crate::lang::rust::LANGUAGE;
use crate::model::Span;

/// Attributes that leave an item what it is, and reachable by its name alone.
pub(super) const PLAIN_ATTRIBUTES: &[&str] = &[
    "allow",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "should_panic",
    "test",
    "track_caller",
    "warn",
];

/// Attributes of modules, blocks and crates that leave what stands in them what it is.
const AROUND_PLAIN: &[&str] = &[
    "cfg",
    "crate_name",
    "crate_type",
    "feature",
    "macro_use",
    "no_main",
    "no_std",
    "path",
    "recursion_limit",
    "type_length_limit",
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
    /// What rust-analyzer tells the items in each of these by.
    within: Vec<u64>,
    plain: Vec<Plain>,
}

/// A function, constant or static that is reached by its name alone: no macro makes something else of it, and what it
/// implements of a trait is told by the trait to all who do not name just this.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) name: String,
    pub(super) name_at: usize,
    pub(super) at: Span,
    /// What rust-analyzer tells it by in its file.
    pub(super) id: u32,
    /// What stands before it of all that is not plain.
    behind: u64,
    /// What decides whether a name means it.
    access: u64,
    /// What decides the type of a call of it, where its arguments do not.
    call: Option<u64>,
    /// All of it that can be seen.
    hash: u64,
    /// It is a trait's own, and so may be meant without being named as soon as more of it differs than its parameters.
    is_of_trait: bool,
}

impl Plain {
    /// Whether both are one thing, before a change and after it.
    fn is_same(&self, other: &Plain) -> bool {
        (self.id, self.behind, &self.name) == (other.id, other.behind, &other.name)
    }
}

/// A plain item that is not what it was.
pub(super) struct Altered<'a> {
    pub(super) item: &'a Plain,
    pub(super) was_there: bool,
    /// It came, went, or is led to in another way.
    pub(super) is_found_elsewise: bool,
    /// What its name means elsewhere it goes on to mean there.
    pub(super) others_stay: bool,
    /// A call of it is of the type that it was of.
    pub(super) calls_stay: bool,
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

    /// The plain items that are not what they were. `None` where more has changed than these.
    pub(super) fn altered<'a>(&'a self, after: &'a Outside) -> Option<Vec<Altered<'a>>> {
        if self.rest != after.rest {
            return None;
        }
        let mut altered = Vec::new();
        for item in &self.plain {
            let new = after.plain_of(item);
            let is_found_elsewise = new.is_none_or(|it| it.access != item.access);
            // Where something is gone, what another was found by is still there.
            let others_stay = new.is_none() || !is_found_elsewise;
            let calls_stay = !is_found_elsewise && item.call.is_some() && new.is_some_and(|it| it.call == item.call);
            if new.is_none_or(|it| it.hash != item.hash) {
                if item.is_of_trait && !calls_stay {
                    return None;
                }
                altered.push(Altered { item, was_there: true, is_found_elsewise, others_stay, calls_stay });
            }
        }
        let added = after.plain.iter().filter(|it| self.plain_of(it).is_none());
        if added.clone().any(|it| it.is_of_trait) {
            return None;
        }
        altered.extend(added.map(|item| Altered {
            item,
            was_there: false,
            is_found_elsewise: true,
            others_stay: false,
            calls_stay: false,
        }));
        Some(altered)
    }

    /// What a plain item of another state of the text is in this one.
    pub(super) fn plain_of(&self, item: &Plain) -> Option<&Plain> {
        self.plain.iter().find(|it| it.is_same(item))
    }

    /// The plain item of which this is the name.
    pub(super) fn plain_at(&self, name_at: usize) -> Option<&Plain> {
        let at = self.plain.partition_point(|it| it.name_at < name_at);
        self.plain.get(at).filter(|it| it.name_at == name_at)
    }

    pub(super) fn plain(&self) -> &[Plain] {
        &self.plain
    }
}

#[salsa::tracked(returns(clone), no_eq)]
fn outside_of(db: &dyn IndexDatabase, text: FileText) -> Arc<Outside> {
    let root = db.root();
    // Whatever edition its crate has: to ask would be to work out the modules of the crate.
    let file = EditionedFileId::current_edition(root, *text.file_id(root));
    let tree = EditionedFileId::parse(file, root).tree();
    let ids = HirFileId::from(file).ast_id_map(root);
    let id_of = |node: &SyntaxNode| {
        if let Some(block) = ast::BlockExpr::cast(node.clone()) {
            return ids.ast_id_for_block(&block).map(|it| it.erase().into_raw());
        }
        let item = ast::Item::cast(node.clone()).map(|it| ids.ast_id(&it).erase());
        Some(item.or_else(|| ast::Variant::cast(node.clone()).map(|it| ids.ast_id(&it).erase()))?.into_raw())
    };
    let mut walk = Walk {
        id_of: &id_of,
        whole: FxHasher::default(),
        rest: FxHasher::default(),
        hidden: Vec::new(),
        plain: Vec::new(),
    };
    walk.all(tree.syntax());
    let Walk { whole, rest, hidden, plain, .. } = walk;
    let (bodies, within) = hidden.into_iter().unzip();
    let text = Arc::from(&**text.text(root));
    Arc::new(Outside { hash: whole.finish(), rest: rest.finish(), text, bodies, within, plain })
}

struct Walk<'a> {
    id_of: &'a dyn Fn(&SyntaxNode) -> Option<u32>,
    whole: FxHasher,
    rest: FxHasher,
    /// Bodies, each with the hash of the ids within.
    hidden: Vec<(Span, u64)>,
    plain: Vec<Plain>,
}

impl Walk<'_> {
    fn all(&mut self, tree: &SyntaxNode) {
        let mut walk = tree.preorder_with_tokens();
        while let Some(event) = walk.next() {
            let plain = match &event {
                WalkEvent::Enter(NodeOrToken::Node(node)) => plain_item(node).map(|name| (node.clone(), name)),
                _ => None,
            };
            match plain {
                Some((node, name)) => {
                    let hash = self.visible(&node);
                    let access = self.access(&node);
                    let call = ast::Fn::cast(node.clone()).and_then(|it| self.call(&it));
                    hash.hash(&mut self.whole);
                    self.plain.push(Plain {
                        name: name.text().trim_start_matches("r#").to_owned(),
                        name_at: span(name.syntax().text_range()).start,
                        at: span(node.text_range()),
                        id: (self.id_of)(&node).unwrap_or_default(),
                        behind: self.rest.finish(),
                        access,
                        call,
                        hash,
                        is_of_trait: is_of_trait(&node),
                    });
                    walk.skip_subtree();
                    // That it is left counts no more than that it was entered.
                    walk.next();
                }
                None => {
                    let mut hashers = (std::mem::take(&mut self.whole), std::mem::take(&mut self.rest));
                    if self.step(&event, &mut [&mut hashers.0, &mut hashers.1]) {
                        walk.skip_subtree();
                    }
                    (self.whole, self.rest) = hashers;
                }
            }
        }
    }

    /// The hash of what can be seen of a node.
    fn visible(&mut self, node: &SyntaxNode) -> u64 {
        let mut hasher = FxHasher::default();
        let mut walk = node.preorder_with_tokens();
        while let Some(event) = walk.next() {
            if self.step(&event, &mut [&mut hasher]) {
                walk.skip_subtree();
            }
        }
        hasher.finish()
    }

    /// Answers whether what is below is hidden.
    fn step(&mut self, event: &WalkEvent<SyntaxElement>, hashers: &mut [&mut FxHasher]) -> bool {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) if is_hidden_body(node) => {
                let mut ids = FxHasher::default();
                node.descendants().filter_map(|it| (self.id_of)(&it)).for_each(|it| it.hash(&mut ids));
                self.hidden.push((span(node.text_range()), ids.finish()));
                return true;
            }
            WalkEvent::Enter(NodeOrToken::Node(node)) => {
                let seen = (node.kind() as u16, (self.id_of)(node));
                hashers.iter_mut().for_each(|it| seen.hash(it));
            }
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => {
                hashers.iter_mut().for_each(|it| token.text().hash(it));
            }
            WalkEvent::Leave(NodeOrToken::Node(_)) => hashers.iter_mut().for_each(|it| 0u8.hash(it)),
            WalkEvent::Enter(NodeOrToken::Token(_)) | WalkEvent::Leave(NodeOrToken::Token(_)) => {}
        }
        false
    }

    /// What decides whether a name means an item: all of its head but parameters after the receiver, types and values.
    fn access(&mut self, node: &SyntaxNode) -> u64 {
        let mut parts: Vec<Option<SyntaxNode>> = Vec::new();
        if let Some(item) = ast::Item::cast(node.clone()) {
            parts.extend(item.attrs().map(|it| Some(it.syntax().clone())));
        }
        parts.push(node.children().find_map(ast::Visibility::cast).map(|it| it.syntax().clone()));
        if let Some(function) = ast::Fn::cast(node.clone()) {
            parts.push(function.generic_param_list().map(|it| it.syntax().clone()));
            parts.push(function.where_clause().map(|it| it.syntax().clone()));
            parts.push(function.param_list().and_then(|it| it.self_param()).map(|it| it.syntax().clone()));
        }
        self.hash_of(parts)
    }

    fn hash_of(&mut self, parts: Vec<Option<SyntaxNode>>) -> u64 {
        let mut hasher = FxHasher::default();
        let hidden = self.hidden.len();
        parts.into_iter().for_each(|it| it.map(|it| self.visible(&it)).hash(&mut hasher));
        self.hidden.truncate(hidden);
        hasher.finish()
    }

    /// What decides the type of a call of a function: all of its head but the parameters after the receiver. `None` where
    /// arguments may tell it too, or where it is evaluated.
    fn call(&mut self, function: &ast::Fn) -> Option<u64> {
        let mut around = function.syntax().ancestors().skip(1);
        let lists = [
            function.generic_param_list(),
            around.find_map(ast::AnyHasGenericParams::cast).and_then(|it| it.generic_param_list()),
        ];
        let mut generic = lists.iter().flatten().flat_map(|it| it.type_or_const_params());
        let below = |it: Option<SyntaxNode>| it.into_iter().flat_map(|it| it.descendants());
        let parameters = below(function.param_list().map(|it| it.syntax().clone()));
        let result = function.ret_type().map(|it| it.syntax().clone());
        let mut types = parameters.chain(below(result.clone()));
        let is_of_trait = is_of_trait(function.syntax());
        // Of a trait an argument may tell who implements it.
        let is_open = |it: SyntaxNode| {
            let names_self = || ast::NameRef::cast(it.clone()).is_some_and(|it| it.Self_token().is_some());
            ast::ImplTraitType::can_cast(it.kind()) || is_of_trait && names_self()
        };
        if generic.next().is_some() || function.const_token().is_some() || types.any(is_open) {
            return None;
        }
        let receiver = function.param_list().and_then(|it| it.self_param()).map(|it| it.syntax().clone());
        let abi = function.abi().map(|it| it.syntax().clone());
        let head = self.hash_of(vec![receiver, result, abi]);
        let keywords = [function.async_token(), function.gen_token(), function.unsafe_token()];
        let mut hasher = FxHasher::default();
        (head, keywords.map(|it| it.is_some()), function.body().is_some()).hash(&mut hasher);
        Some(hasher.finish())
    }
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
    let is_in_block = || match around.parent() {
        Some(it) if ast::Trait::can_cast(it.kind()) => ast::Fn::can_cast(item.syntax().kind()),
        it => it.and_then(ast::Impl::cast).is_some_and(|it| is_named_there(&it, &item)),
    };
    let stands_alone = ast::SourceFile::can_cast(around.kind())
        || ast::ItemList::can_cast(around.kind())
        || ast::AssocItemList::can_cast(around.kind()) && is_in_block();
    let is_known =
        || item.attrs().all(|it| is_plain(&it, &[])) && node.ancestors().skip(1).all(|it| has_plain_attributes(&it));
    let holds_more = || node.descendants().any(|it| ast::Macro::can_cast(it.kind()) || ast::Impl::can_cast(it.kind()));
    (stands_alone && is_known() && !holds_more()).then_some(name)
}

fn is_of_trait(item: &SyntaxNode) -> bool {
    item.ancestors().nth(2).is_some_and(|it| ast::Trait::can_cast(it.kind()))
}

fn is_plain(attribute: &ast::Attr, more: &[&str]) -> bool {
    let is_known = |name: &str| PLAIN_ATTRIBUTES.contains(&name) || more.contains(&name);
    let is_plain = |meta: &ast::Meta| match meta {
        ast::Meta::CfgMeta(_) => is_known("cfg"),
        meta => meta.path().and_then(|it| it.as_single_name_ref()).is_some_and(|it| is_known(it.text())),
    };
    attribute.meta().is_some() && attribute.skip_cfg_attrs().iter().all(is_plain)
}

/// Whether no attribute may make something else of what stands in this.
pub(super) fn has_plain_attributes(node: &SyntaxNode) -> bool {
    let mut attributes = node.children().filter_map(ast::Attr::cast);
    attributes.all(|it| is_plain(&it, AROUND_PLAIN))
}

/// Whether an item of a block is reached by its name alone. Who works with a trait goes by what the trait says of its
/// functions, save for types that an implementation alone knows.
fn is_named_there(block: &ast::Impl, item: &ast::Item) -> bool {
    if block.trait_().is_none() {
        return true;
    }
    let ast::Item::Fn(function) = item else { return false };
    let parts =
        [function.param_list().map(|it| it.syntax().clone()), function.ret_type().map(|it| it.syntax().clone())];
    let has_own_types = || {
        let mut below = parts.iter().flatten().flat_map(SyntaxNode::descendants);
        below.any(|it| ast::ImplTraitType::can_cast(it.kind()) || ast::MacroType::can_cast(it.kind()))
    };
    let keywords = [function.async_token(), function.const_token(), function.default_token(), block.const_token()];
    keywords.iter().all(Option::is_none) && !has_own_types()
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
/// these. Whatever a module or a macro says of where its file is, rust-analyzer looks for it in the source root that it
/// stands in itself, and so a crate's files are all in the root of its first one. `None` where no crate is known.
pub(super) fn reached_from(
    db: &RootDatabase,
    ids: &FileIds,
    changed: impl Iterator<Item = FileId>,
) -> Option<HashSet<FileId>> {
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
    let rust = ids.iter().filter(|(name, _)| LANGUAGE.takes(name)).map(|it| *it.1);
    Some(rust.filter(|it| roots.contains(&root_of(*it))).collect())
}
