//! `impl` blocks in bodies. For the compiler they hold everywhere. rust-analyzer looks for them only from a type or
//! trait that is declared directly in the same block. What it does not find because of this is no error.

use ra_ap_base_db::FileText;
use ra_ap_hir::attach_db;
use ra_ap_hir::{HasSource as _, ModuleDef, PathResolution, Semantics, Trait, Type};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_syntax::ast::{HasGenericParams as _, HasModuleItem as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, ast};

use super::expansions;
use crate::names::database::IndexDatabase;
use crate::names::definitions::plain_name;
use crate::resolve::paths::items::files_with;
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions::token;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::SymbolKind;

/// An `impl` block that rust-analyzer does not find, by the names in its head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    of: Option<String>,
    /// `None` if it may be any type.
    ty: Option<String>,
    members: Vec<String>,
    /// The types of the same block that the type contains: `T` of `&T` and of `(T, u8)`.
    own: Vec<String>,
    /// Where it stands; `None` in the output of a macro.
    start: Option<usize>,
}

impl Hidden {
    fn is_for(&self, ty: Option<&str>) -> bool {
        self.ty.as_deref().is_none_or(|it| Some(it) == ty)
    }
}

/// Whether such a block may implement a trait for a type.
pub(crate) fn may_implement(cx: &Context<'_>, of: Trait, ty: &Type<'_>) -> bool {
    let of = of.name(cx.db);
    let (of, ty) = (plain_name(of.as_str()), name_of(cx.db, ty));
    let is_it = |it: &Hidden| it.of.as_deref() == Some(of) && it.is_for(ty.as_deref());
    files_with_blocks(cx, of).any(|id| hidden_in(cx.db, cx.db.file_text(id)).iter().any(is_it))
}

/// Whether such a block may give a type a member: by itself, or by the trait that it implements.
pub(crate) fn may_have_member(cx: &Context<'_>, ty: Option<&str>, member: &str) -> bool {
    let Some(ty) = ty else { return false };
    files_with_blocks(cx, ty).any(|id| {
        let of_trait = |it: &Hidden| {
            let written = token(&cx.sema, id, it.start?)?.parent_ancestors().find_map(ast::Impl::cast)?;
            let ast::Type::PathType(path) = written.trait_()? else { return None };
            match cx.sema.resolve_path(&path.path()?)? {
                PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
                _ => None,
            }
        };
        let has = |it: Trait| it.items(cx.db).iter().any(|it| it.name(cx.db).is_some_and(|it| it.as_str() == member));
        let mut hidden = hidden_in(cx.db, cx.db.file_text(id)).iter().filter(|it| it.is_for(Some(ty)));
        hidden.any(|it| it.members.iter().any(|it| it == member) || of_trait(it).is_some_and(has))
    })
}

/// Whether a type contains one that a body declares, together with such a block for another type that contains it. Which
/// traits the type has is not known then, since a trait may be implemented for all types that have another one.
pub(crate) fn is_of_hidden(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    let mut is_found = false;
    ty.walk(cx.db, |part| {
        let local = part.as_adt().filter(|it| it.module(cx.db).krate(cx.db).origin(cx.db).is_local());
        let Some((adt, source)) = local.and_then(|it| Some((it, it.source(cx.db)?))) else { return };
        let name = adt.name(cx.db);
        let text = cx.db.file_text(source.file_id.original_file(cx.db).file_id(cx.db));
        let is_it = |it: &Hidden| it.own.iter().any(|it| it == plain_name(name.as_str()));
        is_found |= hidden_in(cx.db, text).iter().any(is_it);
    });
    is_found
}

/// The files with a word and with `impl` blocks in bodies.
fn files_with_blocks<'c, 'db>(cx: &'c Context<'db>, word: &str) -> impl Iterator<Item = FileId> + use<'c, 'db> {
    let has_block = |file: &File| {
        let mut is_found = false;
        file.outline().walk(&mut |it| {
            let has_body =
                matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static);
            is_found |= has_body && it.children.iter().any(|it| it.kind == SymbolKind::Impl);
        });
        is_found
    };
    // The outline has no items in the input of macros.
    let is_any = |id: FileId| hidden_in(cx.db, cx.db.file_text(id)).iter().any(|it| it.start.is_none());
    files_with(cx, word).into_iter().filter(move |it| has_block(it.0) || is_any(it.1)).map(|it| it.1)
}

/// The name in the head of a type, behind references.
pub(crate) fn name_of(db: &RootDatabase, ty: &Type<'_>) -> Option<String> {
    let ty = ty.strip_references();
    let name = ty.as_adt().map(|it| it.name(db)).or_else(|| ty.as_builtin().map(|it| it.name()));
    name.map(|it| plain_name(it.as_str()).to_owned())
}

#[salsa::tracked(returns(ref))]
fn hidden_in(db: &dyn IndexDatabase, text: FileText) -> Vec<Hidden> {
    let root = db.root();
    let _unpinned = semdex_pin::pin(None);
    attach_db(root, || {
        let sema = Semantics::new(root);
        let tree = sema.parse_guess_edition(*text.file_id(root));
        let mut found: Vec<Hidden> =
            tree.syntax().descendants().filter_map(ast::Impl::cast).filter_map(|it| hidden(&it, false)).collect();
        for call in tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(may_make_blocks) {
            if let Some(made) = sema.expand_macro_call(&call) {
                expansions::in_expansions(&sema, &made.value, &mut |it| {
                    let Some(block) = ast::Impl::cast(it.clone()) else { return };
                    found.extend(hidden(&block, true).map(|mut it| {
                        it.members.extend(members_of_trait(&sema, &block));
                        it
                    }));
                });
            }
        }
        found
    })
}

/// The members of the trait that a block implements.
fn members_of_trait(sema: &Semantics<'_, RootDatabase>, block: &ast::Impl) -> Vec<String> {
    let of = block.trait_().as_ref().and_then(path_of).and_then(|it| sema.resolve_path(&it));
    let Some(PathResolution::Def(ModuleDef::Trait(of))) = of else { return Vec::new() };
    let names = of.items(sema.db).into_iter().filter_map(|it| it.name(sema.db));
    names.map(|it| plain_name(it.as_str()).to_owned()).collect()
}

/// Whether a call has an `impl` block in its input, which may be in a body.
fn may_make_blocks(call: &ast::MacroCall) -> bool {
    let tokens = call.token_tree().into_iter().flat_map(|it| it.syntax().descendants_with_tokens());
    tokens.filter(|it| it.kind() == SyntaxKind::IMPL_KW).count() > 0 && is_among_items(call)
}

fn hidden(block: &ast::Impl, is_made: bool) -> Option<Hidden> {
    let list = block.syntax().parent().and_then(ast::StmtList::cast)?;
    let around = list.syntax().ancestors().find_map(ast::Item::cast);
    // rust-analyzer has the blocks in such constants everywhere.
    if matches!(around, Some(ast::Item::Const(it)) if it.underscore_token().is_some()) {
        return None;
    }
    let declared: Vec<String> = list.items().filter_map(|it| declared_type(&it)).collect();
    let is_own = |path: &ast::Path| path.qualifier().is_none() && last(path).is_some_and(|it| declared.contains(&it));
    let (of, ty) = (block.trait_().as_ref().and_then(path_of), block.self_ty()?);
    if of.as_ref().is_some_and(is_own) || path_of(&ty).as_ref().is_some_and(is_own) {
        return None;
    }
    let parameters = block.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let parameters: Vec<String> = parameters.filter_map(|it| it.name()).map(|it| it.text().to_string()).collect();
    let contained = ty.syntax().descendants().filter_map(ast::Path::cast).filter(is_own);
    let own = contained.filter_map(|it| last(&it)).collect();
    let name = path_of(&without_references(ty)).as_ref().and_then(last).filter(|it| !parameters.contains(it));
    let members = block.assoc_item_list().into_iter().flat_map(|it| it.assoc_items());
    Some(Hidden {
        of: of.as_ref().and_then(last),
        ty: name,
        members: members.filter_map(|it| member_name(&it)).collect(),
        own,
        start: block.impl_token().map(|it| it.text_range().start().into()).filter(|_| !is_made),
    })
}

fn declared_type(item: &ast::Item) -> Option<String> {
    let name = match item {
        ast::Item::Struct(it) => it.name(),
        ast::Item::Enum(it) => it.name(),
        ast::Item::Union(it) => it.name(),
        ast::Item::Trait(it) => it.name(),
        _ => None,
    };
    Some(plain_name(name?.text()).to_owned())
}

fn member_name(item: &ast::AssocItem) -> Option<String> {
    let name = match item {
        ast::AssocItem::Fn(it) => it.name(),
        ast::AssocItem::Const(it) => it.name(),
        ast::AssocItem::TypeAlias(it) => it.name(),
        ast::AssocItem::MacroCall(_) => None,
    };
    Some(plain_name(name?.text()).to_owned())
}

fn without_references(ty: ast::Type) -> ast::Type {
    match &ty {
        ast::Type::RefType(it) => it.ty().map_or(ty, without_references),
        ast::Type::ParenType(it) => it.ty().map_or(ty, without_references),
        _ => ty,
    }
}

fn path_of(ty: &ast::Type) -> Option<ast::Path> {
    match ty {
        ast::Type::PathType(it) => it.path(),
        _ => None,
    }
}

fn last(path: &ast::Path) -> Option<String> {
    Some(plain_name(path.segment()?.name_ref()?.text()).to_owned())
}
