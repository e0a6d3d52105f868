//! Unresolved names of an edited file, and the compiler's code for the kind of name that is expected at a position.

use std::collections::BTreeSet;

use ra_ap_cfg::{CfgExpr, CfgOptions};
use ra_ap_hir::{InFile, Module, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::code::Code;
use super::finding::{Findings, Subject};
use super::rule::{Change, EditedFile};
use super::{cascades, follows, report};
use crate::index::names::{Reader, Resolution, UnresolvedReason};
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Role, Span, SymbolKind};
use semdex_text::words::{words, words_at};

/// Whether no macro replaces the token.
pub(crate) fn is_as_written(sema: &Semantics<'_, RootDatabase>, id: FileId, token: &SyntaxToken) -> bool {
    let root = sema.hir_file_for(sema.parse_guess_edition(id).syntax());
    token.parent_ancestors().all(|it| {
        let is_input = ast::TokenTree::can_cast(it.kind()) || ast::MacroCall::can_cast(it.kind());
        let item = ast::Item::cast(it);
        !is_input && item.is_none_or(|it| !sema.is_attr_macro_call(InFile::new(root, &it)))
    })
}

/// Whether a `cfg` switches off the code around a token.
pub(super) fn is_left_out(sema: &Semantics<'_, RootDatabase>, id: FileId, token: &SyntaxToken) -> bool {
    let attributes = token.parent_ancestors().flat_map(|it| it.children()).filter_map(ast::Attr::cast);
    let conditions = attributes.filter_map(|it| match it.meta()? {
        ast::Meta::CfgMeta(it) => Some(CfgExpr::parse_from_ast(it.cfg_predicate()?)),
        _ => None,
    });
    let conditions: Vec<CfgExpr> = conditions.collect();
    let options = |it: Module| it.krate(sema.db).cfg(sema.db);
    let is_off = |of: &CfgOptions| conditions.iter().any(|it| of.check(it) == Some(false));
    !conditions.is_empty() && sema.file_to_module_defs(id).map(options).all(is_off)
}

/// Unresolved names of an edited file, if the edit wrote them or changed what the file sees.
pub(super) fn unresolved_names<'db>(
    cx: &Context<'db>,
    &EditedFile { index, file, .. }: &EditedFile<'_, '_>,
    change: &Change<'_, '_>,
    out: &mut Findings<'_>,
) {
    let Change { affected, edit, removed_variants, .. } = *change;
    let Some(own) = cx.files.get(&file.path) else { return };
    let Some(id) = cx.file_id(&file.path) else { return };
    if cx.sema.file_to_module_def(id).is_none() {
        return;
    }
    let old = &edit.olds[index];
    let Some(back) = edit.backs.get(&*file.path) else { return };
    let reader = Reader::new(&cx.sema, id);
    let scope_changes = &edit.scope_changes[index];
    let mut places: BTreeSet<(usize, &str)> = match scope_changes.all && !scope_changes.only_methods {
        true => words(&file.text).collect(),
        false => scope_changes.paths(&file.text).collect(),
    };
    places.extend(bodies_with_other_imports(old, file).into_iter().flat_map(|it| words_at(&file.text, it)));
    places.extend(scope_changes.in_blocks(&file.text));
    places.retain(|it| !removed_variants.contains(it.1));
    let written = back.gaps().into_iter().flat_map(|it| words_at(&file.text, it));
    places.extend(written.filter(|(at, word)| !back.is_untouched(Span::new(*at, at + word.len()))));
    for (at, word) in places {
        let before = back.offset(at).filter(|_| back.is_untouched(Span::new(at, at + word.len())));
        if before.is_some_and(|it| affected.unresolved.contains(&(file.path.clone(), it))) {
            continue;
        }
        // Links in comments are not names for the compiler, and all links of the file would have to be resolved.
        let Some(token) = positions::token(&cx.sema, id, at).filter(|it| it.kind() == SyntaxKind::IDENT) else {
            continue;
        };
        // Resolving a name takes time, and most names are members.
        let Some((code, what)) = unresolved_kind(&token) else { continue };
        let is_macro = |it: &(Definition<'db>, Role)| matches!(it.0, Definition::Macro(_));
        let is_no_trait = match reader.read(at, word) {
            Some(Resolution::Unresolved(UnresolvedReason::UnknownType | UnresolvedReason::Inactive)) => false,
            // Code that a derive macro reads is compiled as written all the same.
            Some(Resolution::Unresolved(UnresolvedReason::MacroInput)) if is_as_written(&cx.sema, id, &token) => false,
            // A derive macro is named after its trait.
            Some(Resolution::Names(it)) if !it.is_empty() && it.iter().all(is_macro) => true,
            _ => continue,
        };
        let code = match (code, is_no_trait) {
            (Code::E0425 | Code::E0412, false) if follows::is_there_unseen(&cx.sema, &token) => Code::E0603,
            (Code::E0405, true) => Code::E0404,
            (_, true) => continue,
            (code, false) => code,
        };
        let qualifier = token.parent_ancestors().find_map(ast::Path::cast).and_then(|it| it.qualifier());
        if qualifier.is_some_and(|it| cascades::is_unbound(&cx.sema, &token, &it.syntax().text().to_string())) {
            continue;
        }
        if is_left_out(&cx.sema, id, &token) {
            continue;
        }
        let place = own.lines().place(&own.path, Span::new(at, at + word.len()));
        let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
        out.add(report::error(cx, place, code, format!("cannot find {what} `{word}` in this scope")).about(subject));
    }
}

/// The bodies of a new text with different imports: their names may be unresolved now.
pub(super) fn bodies_with_other_imports(old: &File, new: &File) -> Vec<Span> {
    let bodies = |file: &File| -> Vec<(String, Span, Vec<String>)> {
        let mut found = Vec::new();
        file.outline().walk(&mut |item| {
            let Some(body) = item.body.filter(|_| matches!(item.kind, SymbolKind::Function | SymbolKind::Method))
            else {
                return;
            };
            let lines = file.text.get(body.start..body.end).unwrap_or_default().lines().map(str::trim);
            let imports = lines.filter(|it| it.starts_with("use ")).map(str::to_owned).collect();
            found.push((format!("{:?} {}", item.container, item.name), body, imports));
        });
        found
    };
    let olds = bodies(old);
    let is_same = |name: &str, imports: &[String]| olds.iter().any(|it| it.0 == name && it.2 == imports);
    bodies(new).into_iter().filter(|it| !is_same(&it.0, &it.2)).map(|it| it.1).collect()
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union)
}

/// Where a type derives a trait.
pub(super) fn derived(item: &OutlineItem, file: &File, name: &str) -> Option<Span> {
    let head = file.text.get(item.span.start..item.name_span.start)?;
    let list = head.find("derive(")?;
    let (at, word) = words(&head[list..]).find(|(_, word)| *word == name)?;
    let start = item.span.start + list + at;
    Some(Span::new(start, start + word.len()))
}

/// The code and the kind of item that is expected at a path; `None` for members.
pub(crate) fn unresolved_kind(token: &SyntaxToken) -> Option<(Code, &'static str)> {
    if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
        let attribute = token.parent_ancestors().find_map(ast::Attr::cast).and_then(|it| it.simple_name());
        return match attribute.is_some_and(|it| it == "derive") {
            true => Some((Code::Uncoded, "derive macro")),
            false => unresolved_in_macro(token),
        };
    }
    let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?;
    let path = segment.parent_path();
    if path.syntax().ancestors().any(|it| ast::UseTree::can_cast(it.kind())) {
        return Some((Code::E0432, "import"));
    }
    if path.parent_path().is_some() {
        return Some((Code::E0433, "type or module"));
    }
    // A member of a type, not of a module.
    let is_member = path
        .qualifier()
        .and_then(|it| it.segment()?.name_ref())
        .is_some_and(|it| it.text().starts_with(char::is_uppercase));
    let around = path.syntax().parent()?;
    Some(match around.kind() {
        SyntaxKind::PATH_TYPE => {
            let within = around.parent();
            let block = within.clone().and_then(ast::Impl::cast);
            let is_header = block.and_then(|it| it.trait_()).is_some_and(|it| *it.syntax() == around);
            match is_header || within.is_some_and(|it| it.kind() == SyntaxKind::TYPE_BOUND) {
                true => (Code::E0405, "trait"),
                false if is_member => (Code::E0220, "associated type"),
                false => (Code::E0412, "type"),
            }
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT | SyntaxKind::TUPLE_STRUCT_PAT | SyntaxKind::PATH_PAT
            if is_member =>
        {
            (Code::E0599, "variant or associated item")
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT => (Code::E0422, "struct or variant"),
        SyntaxKind::TUPLE_STRUCT_PAT => (Code::E0531, "tuple struct or variant"),
        SyntaxKind::MACRO_CALL if path.qualifier().is_some() => (Code::E0433, "macro"),
        SyntaxKind::MACRO_CALL => (Code::Uncoded, "macro"),
        SyntaxKind::PATH_EXPR if is_member => (Code::E0599, "function or associated item"),
        SyntaxKind::PATH_EXPR => (Code::E0425, "value"),
        SyntaxKind::PATH_PAT => (Code::E0531, "unit struct, variant or constant"),
        _ => return None,
    })
}

/// The same for a token in the input of a macro, by its use in the expansion.
pub(crate) fn unresolved_kind_as_made(
    sema: &Semantics<'_, RootDatabase>,
    token: &SyntaxToken,
) -> Option<(Code, &'static str)> {
    made_of_input(sema, token).and_then(|it| unresolved_kind(&it)).or_else(|| unresolved_kind(token))
}

/// The expansion of a token from a macro's input.
pub(super) fn made_of_input(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> Option<SyntaxToken> {
    let is_input = token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind()));
    is_input.then(|| sema.descend_into_macros_exact(token.clone()).into_iter().next()).flatten()
}

/// The same in the input of a macro, which is only tokens.
fn unresolved_in_macro(token: &SyntaxToken) -> Option<(Code, &'static str)> {
    let step = |it: &SyntaxToken, forth: bool| match forth {
        true => it.next_token().and_then(|it| skip_trivia_token(it, Direction::Next)),
        false => it.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev)),
    };
    let is = |it: &Option<SyntaxToken>, text: &str| it.as_ref().is_some_and(|it| it.text() == text);
    let (before, after) = (step(token, false), step(token, true));
    if is(&before, ".") {
        return None;
    }
    if is(&after, ":") && is(&after.as_ref().and_then(|it| step(it, true)), ":") {
        return Some((Code::E0433, "type or module"));
    }
    let colon = before.filter(|it| it.text() == ":").and_then(|it| step(&it, false)).filter(|it| it.text() == ":");
    let is_member = colon.and_then(|it| step(&it, false)).is_some_and(|it| it.text().starts_with(char::is_uppercase));
    match is_member {
        true => None,
        false => Some((Code::E0425, "value")),
    }
}
