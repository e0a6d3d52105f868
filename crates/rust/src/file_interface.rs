//! The interface of a file: what other files can see of it. It decides whether a change affects only its own file or
//! may affect any.

pub(crate) mod arguments;
pub(crate) mod statements;
pub(crate) mod unchanged;

use std::hash::Hash as _;
use std::sync::Arc;

use ra_ap_hir::HirFileId;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::{EditionedFileId, FileText, SourceDatabase as _};
use ra_ap_syntax::ast::{HasAttrs as _, HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxElement, SyntaxNode, WalkEvent, ast};

use crate::names::database::IndexDatabase;
use crate::syntax::attributes::attributes_of;
use crate::syntax::fingerprint::{Fingerprint, Fingerprinter};
use crate::syntax::positions::span;
use crate::syntax::{is_builtin, leaves_access};
use semdex_model::Span;

/// The interface of a file.
pub(crate) fn file_interface(db: &RootDatabase, file: FileId) -> Arc<FileInterface> {
    interface_of(db, db.file_text(file))
}

/// What other files can see of a file: everything except the bodies of its functions, white space and comments. The
/// body of a function is included if a part of it is visible outside. Then it is evaluated (`const`), determines the
/// function's type (`impl`), contains an `impl` block or declares a macro.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileInterface {
    hash: Fingerprint,
    /// The hash of everything except plain items.
    rest: Fingerprint,
    text: Arc<str>,
    /// The invisible ranges, in order.
    bodies: Vec<Span>,
    /// For each of these, a hash of the ids by which rust-analyzer identifies the items in it.
    within: Vec<Fingerprint>,
    plain: Vec<PlainItem>,
}

/// A function, constant or static that is reached only by its name: no macro transforms it. If it implements a trait's
/// item, the trait declares it for all code that does not name this implementation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlainItem {
    pub(crate) name: String,
    pub(crate) name_at: usize,
    pub(crate) at: Span,
    /// The id by which rust-analyzer identifies it within its file.
    pub(crate) id: u32,
    /// The hash of everything before it that is not plain.
    behind: Fingerprint,
    /// What decides whether a name refers to it.
    access: Fingerprint,
    /// What decides the type of a call of it, unless its arguments do.
    call: Option<Fingerprint>,
    /// Everything of it that is visible.
    hash: Fingerprint,
    /// It is declared in a trait. It may be used without being named if more than its parameters differ.
    is_of_trait: bool,
}

impl PlainItem {
    /// Whether both are the same item, before a change and after it.
    fn is_same(&self, other: &PlainItem) -> bool {
        (self.id, self.behind, &self.name) == (other.id, other.behind, &other.name)
    }
}

/// A changed plain item.
pub(crate) struct ChangedItem<'a> {
    pub(crate) item: &'a PlainItem,
    pub(crate) was_there: bool,
    /// It was added, removed, or is reached by another path.
    pub(crate) is_found_elsewise: bool,
    /// Other items that its name refers to elsewhere stay the same.
    pub(crate) others_stay: bool,
    /// The type of a call of it stays the same.
    pub(crate) calls_stay: bool,
}

impl FileInterface {
    pub(crate) fn is_same(&self, other: &FileInterface) -> bool {
        self.hash == other.hash
    }

    pub(crate) fn text(&self, at: Span) -> &str {
        &self.text[at.start..at.end]
    }

    pub(crate) fn whole(&self) -> &Arc<str> {
        &self.text
    }

    /// The body around an offset.
    pub(crate) fn body_around(&self, at: usize) -> Option<Span> {
        let after = self.bodies.partition_point(|it| it.end <= at);
        self.bodies.get(after).copied().filter(|it| it.contains(at))
    }

    /// The changed plain items; `None` if more has changed.
    pub(crate) fn altered<'a>(&'a self, after: &'a FileInterface) -> Option<Vec<ChangedItem<'a>>> {
        if self.rest != after.rest {
            return None;
        }
        let mut altered = Vec::new();
        for item in &self.plain {
            let new = after.plain_of(item);
            let is_found_elsewise = new.is_none_or(|it| it.access != item.access);
            // After a removal other items are found as before.
            let others_stay = new.is_none() || !is_found_elsewise;
            let calls_stay = !is_found_elsewise && item.call.is_some() && new.is_some_and(|it| it.call == item.call);
            if new.is_none_or(|it| it.hash != item.hash) {
                if item.is_of_trait && !calls_stay {
                    return None;
                }
                altered.push(ChangedItem { item, was_there: true, is_found_elsewise, others_stay, calls_stay });
            }
        }
        let added = after.plain.iter().filter(|it| self.plain_of(it).is_none());
        if added.clone().any(|it| it.is_of_trait) {
            return None;
        }
        altered.extend(added.map(|item| ChangedItem {
            item,
            was_there: false,
            is_found_elsewise: true,
            others_stay: false,
            calls_stay: false,
        }));
        Some(altered)
    }

    /// The corresponding plain item of this state for one of another state of the text.
    pub(crate) fn plain_of(&self, item: &PlainItem) -> Option<&PlainItem> {
        self.plain.iter().find(|it| it.is_same(item))
    }

    /// The plain item with its name at this offset.
    pub(crate) fn plain_at(&self, name_at: usize) -> Option<&PlainItem> {
        let at = self.plain.partition_point(|it| it.name_at < name_at);
        self.plain.get(at).filter(|it| it.name_at == name_at)
    }

    pub(crate) fn plain(&self) -> &[PlainItem] {
        &self.plain
    }
}

#[salsa::tracked(returns(clone), no_eq)]
fn interface_of(db: &dyn IndexDatabase, text: FileText) -> Arc<FileInterface> {
    let root = db.root();
    // The edition does not matter here: looking it up would compute the modules of the crate.
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
        whole: Fingerprinter::default(),
        rest: Fingerprinter::default(),
        hidden: Vec::new(),
        plain: Vec::new(),
    };
    walk.all(tree.syntax());
    let Walk { whole, rest, hidden, plain, .. } = walk;
    let (bodies, within) = hidden.into_iter().unzip();
    let text = Arc::from(&**text.text(root));
    Arc::new(FileInterface { hash: whole.fingerprint(), rest: rest.fingerprint(), text, bodies, within, plain })
}

struct Walk<'a> {
    id_of: &'a dyn Fn(&SyntaxNode) -> Option<u32>,
    whole: Fingerprinter,
    rest: Fingerprinter,
    /// Bodies, each with the hash of the ids within.
    hidden: Vec<(Span, Fingerprint)>,
    plain: Vec<PlainItem>,
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
                    self.plain.push(PlainItem {
                        name: name.text().trim_start_matches("r#").to_owned(),
                        name_at: span(name.syntax().text_range()).start,
                        at: span(node.text_range()),
                        id: (self.id_of)(&node).unwrap_or_default(),
                        behind: self.rest.fingerprint(),
                        access,
                        call,
                        hash,
                        is_of_trait: is_of_trait(&node),
                    });
                    walk.skip_subtree();
                    // Leaving a node is hashed like entering it.
                    walk.next();
                }
                None => {
                    let Walk { id_of, whole, rest, hidden, .. } = self;
                    if step(id_of, hidden, &event, &mut [whole, rest]) {
                        walk.skip_subtree();
                    }
                }
            }
        }
    }

    /// The hash of the visible part of a node.
    fn visible(&mut self, node: &SyntaxNode) -> Fingerprint {
        let mut hasher = Fingerprinter::default();
        let mut walk = node.preorder_with_tokens();
        while let Some(event) = walk.next() {
            if step(self.id_of, &mut self.hidden, &event, &mut [&mut hasher]) {
                walk.skip_subtree();
            }
        }
        hasher.fingerprint()
    }

    /// What decides whether a name refers to an item: its head without parameters after the receiver, types and values.
    fn access(&mut self, node: &SyntaxNode) -> Fingerprint {
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

    fn hash_of(&mut self, parts: Vec<Option<SyntaxNode>>) -> Fingerprint {
        let mut hasher = Fingerprinter::default();
        let hidden = self.hidden.len();
        parts.into_iter().for_each(|it| it.map(|it| self.visible(&it)).hash(&mut hasher));
        self.hidden.truncate(hidden);
        hasher.fingerprint()
    }

    /// What decides the type of a function's call: its head without the parameters after the receiver. `None` if
    /// arguments may decide it too, or if the function is evaluated.
    fn call(&mut self, function: &ast::Fn) -> Option<Fingerprint> {
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
        // For a trait's function an argument may decide which implementation is meant.
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
        let mut hasher = Fingerprinter::default();
        (head, keywords.map(|it| it.is_some()), function.body().is_some()).hash(&mut hasher);
        Some(hasher.fingerprint())
    }
}

/// Hashes one step of a walk; returns whether the nodes below are invisible.
fn step(
    id_of: &dyn Fn(&SyntaxNode) -> Option<u32>,
    hidden: &mut Vec<(Span, Fingerprint)>,
    event: &WalkEvent<SyntaxElement>,
    hashers: &mut [&mut Fingerprinter],
) -> bool {
    match event {
        WalkEvent::Enter(NodeOrToken::Node(node)) if is_hidden_body(node) => {
            let mut ids = Fingerprinter::default();
            node.descendants().filter_map(|it| id_of(&it)).for_each(|it| it.hash(&mut ids));
            hidden.push((span(node.text_range()), ids.fingerprint()));
            return true;
        }
        WalkEvent::Enter(NodeOrToken::Node(node)) => {
            let seen = (node.kind() as u16, id_of(node));
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

/// The name of a plain item.
pub(crate) fn plain_item(node: &SyntaxNode) -> Option<ast::Name> {
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
    let is_known = || {
        item.attrs().all(|it| all_named(&it, leaves_access))
            && node.ancestors().skip(1).all(|it| has_plain_attributes(&it))
    };
    let holds_more = || node.descendants().any(|it| ast::Macro::can_cast(it.kind()) || ast::Impl::can_cast(it.kind()));
    (stands_alone && is_known() && !holds_more()).then_some(name)
}

fn is_of_trait(item: &SyntaxNode) -> bool {
    item.ancestors().nth(2).is_some_and(|it| ast::Trait::can_cast(it.kind()))
}

/// Whether each attribute that this one may become has an accepted name.
fn all_named(attribute: &ast::Attr, fits: fn(&str) -> bool) -> bool {
    let is_one = |meta: &ast::Meta| match meta {
        ast::Meta::CfgMeta(_) => fits("cfg"),
        meta => meta.path().and_then(|it| it.as_single_name_ref()).is_some_and(|it| fits(it.text())),
    };
    attribute.meta().is_some() && attribute.skip_cfg_attrs().iter().all(is_one)
}

/// Whether no attribute may transform an item or something in it.
pub(crate) fn has_plain_attributes(node: &SyntaxNode) -> bool {
    let mut attributes = attributes_of(node);
    attributes.all(|it| all_named(&it, is_builtin))
}

/// Whether an item of a block is reached only by its name. Code that uses a trait depends on the trait's declaration of
/// its functions, except for types that only an implementation knows.
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
