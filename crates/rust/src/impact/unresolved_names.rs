//! Unresolved names of an edited file, and the compiler's code for the kind of name that is expected at a position.

use std::collections::BTreeSet;

use ra_ap_hir::{ModuleDef, PathResolution};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken, ast};

use super::cascades;
use super::findings::Findings;
use super::rule_input::{Change, EditedFile};
use crate::checks::unresolved::{is_left_out, path_of, unresolved_kind};
use crate::checks::unresolved_paths::as_code;
use crate::checks::{body_impls, lookup, report};
use crate::finding::Subject;
use crate::finding::code::Code;
use crate::names::definitions::plain_name;
use crate::names::{Reader, Resolution, UnresolvedReason};
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Role, Span, SymbolKind};
use semdex_text::words::{words, words_at};

/// Unresolved names of an edited file, if the edit wrote them or changed what the file sees.
pub(crate) fn unresolved_names<'db>(
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
    places.extend(back.gaps().into_iter().flat_map(|it| words_at(&file.text, with_paths(&file.text, it))));
    let is_on = |at: usize, word: &str| edit.is_switched_on(index, Span::new(at, at + word.len()));
    if edit.may_switch_on(index) {
        places.extend(words(&file.text).filter(|it| is_on(it.0, it.1)));
    }
    for (at, word) in places {
        let is_old = || back.is_untouched(Span::new(at, at + word.len())) && !is_on(at, word);
        let before = back.offset(at).filter(|_| is_old());
        if before.is_some_and(|it| affected.unresolved.contains(&(file.path.clone(), it))) {
            continue;
        }
        if edit.place_before_move(&file.path, at).is_some_and(|it| affected.unresolved.contains(&it)) {
            continue;
        }
        // Links in comments are not names for the compiler, and all links of the file would have to be resolved.
        let is_name = |it: &SyntaxToken| matches!(it.kind(), SyntaxKind::IDENT | SyntaxKind::SELF_TYPE_KW);
        let Some(written) = positions::token(&cx.sema, id, at).filter(is_name) else { continue };
        let mut token = written.clone();
        // Resolving a name takes time, and most names are members.
        let Some((mut code, mut what)) = unresolved_kind(&token) else { continue };
        let is_macro = |it: &(Definition<'db>, Role)| matches!(it.0, Definition::Macro(_));
        let is_no_trait = match reader.read(at, word) {
            Some(Resolution::Unresolved(UnresolvedReason::UnknownType | UnresolvedReason::Inactive)) => false,
            // Code that a derive macro reads is compiled as written all the same, and macros of the standard library
            // keep the code in their input.
            Some(Resolution::Unresolved(UnresolvedReason::MacroInput)) => {
                let Some(made) = as_code(cx, id, &token) else { continue };
                if made != token {
                    let Some(kind) = unresolved_kind(&made).filter(|it| !is_reported_in_bodies(&made, it.0)) else {
                        continue;
                    };
                    ((code, what), token) = (kind, made);
                }
                false
            }
            // What the types of a body are is not known, and its scopes are.
            Some(Resolution::Unresolved(UnresolvedReason::Abandoned)) => match is_in_scope(cx, &token) {
                Some(false) => false,
                _ => continue,
            },
            // A derive macro is named after its trait.
            Some(Resolution::Names(it)) if !it.is_empty() && it.iter().all(is_macro) => true,
            _ => continue,
        };
        if token.kind() == SyntaxKind::SELF_TYPE_KW && code == Code::E0412 {
            code = Code::E0411;
        }
        let code = match (code, is_no_trait) {
            (Code::E0425 | Code::E0412, false) if lookup::is_there_unseen(&cx.sema, &token) => Code::E0603,
            (Code::E0405, true) => Code::E0404,
            (_, true) => continue,
            (code, false) => code,
        };
        let qualifier = token.parent_ancestors().find_map(ast::Path::cast).and_then(|it| it.qualifier());
        let of = qualifier.as_ref().filter(|_| code == Code::E0599).and_then(|it| it.segment()?.name_ref());
        if of.is_some_and(|it| body_impls::may_have_member(cx, Some(plain_name(it.text())), word)) {
            continue;
        }
        if qualifier.is_some_and(|it| cascades::is_unbound(&cx.sema, &token, &it.syntax().text().to_string())) {
            continue;
        }
        if is_left_out(&cx.sema, id, &written) {
            continue;
        }
        let place = own.lines().place(&own.path, Span::new(at, at + word.len()));
        let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
        out.add(report::error(cx, place, code, format!("cannot find {what} `{word}` in this scope")).about(subject));
    }
}

/// What an edit wrote with the rest of the paths that it touches: without `std::`, the `io` that stays is another one.
fn with_paths(text: &str, written: Span) -> Span {
    let is_of_path = |it: char| it.is_alphanumeric() || matches!(it, '_' | ':');
    let before: usize = text[..written.start].chars().rev().take_while(|it| is_of_path(*it)).map(char::len_utf8).sum();
    let after: usize = text[written.end..].chars().take_while(|it| is_of_path(*it)).map(char::len_utf8).sum();
    Span::new(written.start - before, written.end + after)
}

/// Whether a path up to a name leads somewhere, by the scopes of its body alone. `None` for members of types.
fn is_in_scope(cx: &Context<'_>, name: &SyntaxToken) -> Option<bool> {
    let path = path_of(name)?;
    let scope = cx.sema.scope(path.syntax())?;
    let is_of_module = path
        .qualifier()
        .is_none_or(|it| matches!(scope.speculative_resolve(&it), Some(PathResolution::Def(ModuleDef::Module(_)))));
    is_of_module.then(|| scope.speculative_resolve(&path).is_some())
}

/// Whether rust-analyzer reports such a name itself: single names of values, and macros.
fn is_reported_in_bodies(token: &SyntaxToken, code: Code) -> bool {
    let path = token.parent_ancestors().find_map(ast::Path::cast);
    let is_single = path.is_some_and(|it| it.qualifier().is_none() && it.parent_path().is_none());
    code == Code::Uncoded || code == Code::E0425 && is_single
}

/// The bodies of a new text with different imports: their names may be unresolved now.
pub(crate) fn bodies_with_other_imports(old: &File, new: &File) -> Vec<Span> {
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

/// Where a type derives a trait.
pub(crate) fn derived(item: &OutlineItem, file: &File, name: &str) -> Option<Span> {
    let head = file.text.get(item.span.start..item.name_span.start)?;
    let list = head.find("derive(")?;
    let (at, word) = words(&head[list..]).find(|(_, word)| *word == name)?;
    let start = item.span.start + list + at;
    Some(Span::new(start, start + word.len()))
}
