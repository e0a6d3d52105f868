//! Names in the definitions of macros that no call writes, in paths from the root of the macro's crate. `$crate::a::b`,
//! and `crate::a::b` in a macro that is not exported, mean the same wherever the macro is called.

use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::{HasCrate as _, Macro};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::algo::non_trivia_sibling;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, T, ast};

use super::target_usages::TargetUsages;
use crate::index::search::{Occurrence, Search};
use crate::names::definitions::{is_exported, plain_name};
use crate::names::instances::{further_owners, owners};
use crate::names::{Meaning, UnresolvedReason};
use crate::resolve::paths::members;
use crate::syntax::positions;
use crate::view::Context;

/// What follows a name in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// `::`
    Path,
    /// `!`
    Call,
    Other,
}

/// What such a path means in one crate that includes the file.
struct InCrate<'db> {
    /// The crate, if it is one of a further build.
    build: Option<CrateId>,
    meant: Vec<Definition<'db>>,
}

/// Takes the possible usages in such paths for what they mean. `position`: of the symbol in the search.
pub(super) fn settle(cx: &Context<'_>, search: &Search, position: usize, found: &mut TargetUsages) {
    for (it, why) in std::mem::take(&mut found.possible) {
        let may_be_resolved =
            matches!(why, UnresolvedReason::MacroInput | UnresolvedReason::Inactive | UnresolvedReason::NoCrate);
        let meant = if may_be_resolved { meant_at(cx, &it) } else { Vec::new() };
        let names_it = |definition: &Definition<'_>| {
            let meaning = Meaning::new(*definition, false, cx.db);
            meaning.is_some_and(|it| search.meant_by(&it).any(|target| search.targets[target].0 == position))
        };
        // A path that leads in one crate both to the symbol and to something else decides nothing.
        let count = |of: &InCrate<'_>| of.meant.iter().filter(|it| names_it(it)).count();
        let is_mixed = meant.iter().any(|of| ![0, of.meant.len()].contains(&count(of)));
        match meant.iter().find(|of| count(of) > 0) {
            _ if meant.is_empty() || is_mixed => found.possible.push((it, why)),
            Some(of) => found.items.push(Occurrence { build: of.build, calls: Some(Arc::from([])), ..it }),
            None => {}
        }
    }
}

/// What a name in such a path means in each crate where it leads somewhere; crates of the default build come first.
/// Nothing if it is in no such path.
fn meant_at<'db>(cx: &Context<'db>, it: &Occurrence) -> Vec<InCrate<'db>> {
    let token = positions::token(&cx.sema, it.id, it.at.start);
    let is_in_macro = |it: &SyntaxToken| it.parent_ancestors().any(|it| ast::Macro::can_cast(it.kind()));
    if token.filter(is_in_macro).and_then(|it| path_from_root(&it, true)).is_none() {
        return Vec::new();
    }
    let (own, further) = (owners(cx.db, it.id), further_owners(cx.db, it.id));
    let meant_in = |krate: CrateId| cx.in_instance(it.id, krate, |cx| meant_here(cx, it)).unwrap_or_default();
    let in_default = match &*own {
        [_] => vec![meant_here(cx, it).unwrap_or_default()],
        several => several.iter().map(|it| meant_in(*it)).collect(),
    };
    let in_default = in_default.into_iter().map(|meant| InCrate { build: None, meant });
    let in_further = further.iter().map(|it| InCrate { build: Some(*it), meant: meant_in(*it) });
    in_default.chain(in_further).filter(|it| !it.meant.is_empty()).collect()
}

/// What it means in the crate for which the file is read. `None` if the definition is not compiled there, or if the name
/// is in no such path.
fn meant_here<'db>(cx: &Context<'db>, it: &Occurrence) -> Option<Vec<Definition<'db>>> {
    let token = positions::token(&cx.sema, it.id, it.at.start)?;
    let outer = token.parent_ancestors().take_while(|it| it.kind() == SyntaxKind::TOKEN_TREE).last()?;
    let definition = cx.sema.to_def(&ast::Macro::cast(outer.parent()?)?)?;
    let path = path_from_root(&token, !is_exported(cx.db, definition))?;
    let behind = match next(token.into()) {
        Some(it) if it.kind() == T![::] => Behind::Path,
        Some(it) if it.kind() == T![:] && next(it.clone()).is_some_and(|it| it.kind() == T![:]) => Behind::Path,
        Some(it) if it.kind() == T![!] => Behind::Call,
        _ => Behind::Other,
    };
    Some(follow(cx, definition, &path, behind))
}

fn follow<'db>(cx: &Context<'db>, from: Macro, path: &[String], behind: Behind) -> Vec<Definition<'db>> {
    let mut found = vec![Definition::Module(from.krate(cx.db).root_module(cx.db))];
    for (position, name) in path.iter().enumerate() {
        let behind = if position + 1 < path.len() { Behind::Path } else { behind };
        let mut below: Vec<Definition<'db>> = Vec::new();
        for it in found.into_iter().flat_map(|it| members::reachable(cx, it, name)) {
            let may_be = match behind {
                Behind::Path => matches!(
                    it,
                    Definition::Module(_)
                        | Definition::Adt(_)
                        | Definition::Trait(_)
                        | Definition::TypeAlias(_)
                        | Definition::BuiltinType(_)
                ),
                Behind::Call => matches!(it, Definition::Macro(_)),
                Behind::Other => !matches!(it, Definition::Macro(_)),
            };
            if may_be && !below.contains(&it) {
                below.push(it);
            }
        }
        found = below;
    }
    found
}

/// The names of a path after its root, up to a token in a rule of a macro. `has_crate`: the root may be `crate`.
fn path_from_root(token: &SyntaxToken, has_crate: bool) -> Option<Vec<String>> {
    let mut names = vec![plain_name(token.text()).to_owned()];
    let mut at: SyntaxElement = token.clone().into();
    loop {
        let before = match separator_before(&at) {
            Some(it) => previous(it),
            // In a group of imports.
            None => previous(separator_before(&group_around(&at)?.into())?),
        };
        let name = past_generics(before?)?.into_token()?;
        match name.kind() {
            T![crate] => {
                let is_marked = previous(name.into()).is_some_and(|it| it.kind() == T![$]);
                names.reverse();
                return (is_marked || has_crate).then_some(names);
            }
            SyntaxKind::IDENT if previous(name.clone().into()).is_none_or(|it| it.kind() != T![$]) => {
                names.push(plain_name(name.text()).to_owned());
                at = name.into();
            }
            _ => return None,
        }
    }
}

/// The first token of `::` before an element.
fn separator_before(at: &SyntaxElement) -> Option<SyntaxElement> {
    let before = previous(at.clone())?;
    match before.kind() {
        T![::] => Some(before),
        T![:] => previous(before).filter(|it| it.kind() == T![:]),
        _ => None,
    }
}

/// The braces around an element that is the first one in them, or follows a comma.
fn group_around(at: &SyntaxElement) -> Option<SyntaxNode> {
    let before = previous(at.clone())?;
    let braces = at.parent()?;
    let is_group = braces.kind() == SyntaxKind::TOKEN_TREE
        && braces.first_token().is_some_and(|it| it.kind() == T!['{'])
        && matches!(before.kind(), T!['{'] | T![,]);
    is_group.then_some(braces)
}

/// What is before generics that end with this element and follow `::`. Otherwise the element itself.
fn past_generics(end: SyntaxElement) -> Option<SyntaxElement> {
    if end.kind() != T![>] {
        return Some(end);
    }
    let (mut depth, mut at) = (0_usize, end);
    loop {
        match at.kind() {
            T![>] => depth += 1,
            T![<] => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return previous(separator_before(&at)?);
        }
        at = previous(at)?;
    }
}

fn previous(it: SyntaxElement) -> Option<SyntaxElement> {
    non_trivia_sibling(it, Direction::Prev)
}

fn next(it: SyntaxElement) -> Option<SyntaxElement> {
    non_trivia_sibling(it, Direction::Next)
}
