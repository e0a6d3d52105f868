//! The places that name a removed item, or one that is no longer visible.

use std::collections::HashSet;

use ra_ap_hir::{HasAttrs as _, HasCrate as _, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::CrateOrigin;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::affected::ChangedSymbol;
use super::broken_imports::{BrokenImports, Imports, UnresolvedImports};
use super::delta::is_type;
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::Change;
use super::{cascades, expanded, follows};
use crate::checks::unresolved::{unresolved_kind, unresolved_kind_as_made};
use crate::checks::{constants, lookup, patterns, report, unresolved};
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId, Subject};
use crate::index::search::{Occurrence, is_keyword};
use crate::resolve::at;
use crate::resolve::symbols::is_test_at;
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, Role, Span, SymbolKind};
use semdex_text::words::words;

/// The places that named a removed or hidden item. Imports come first: errors of names that a broken import brings in
/// follow from it.
pub(crate) fn gone_names(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    let Change { affected, gone, edit, .. } = *change;
    // Members of a removed item are unresolved where they are named.
    let is_member = |changed_symbol: &&ChangedSymbol<'_>| {
        let Some((index, item)) = changed_symbol.delta.as_ref().and_then(|it| Some((it.0, it.1.before?))) else {
            return false;
        };
        let around = gone.iter().filter(|it| it.0 == index && it.1.span.encloses(item.span) && it.1.span != item.span);
        let has_members = |kind: SymbolKind| is_type(kind) || matches!(kind, SymbolKind::Trait | SymbolKind::Variant);
        around.into_iter().any(|it| has_members(it.1.kind))
    };
    let (members, changed_symbols): (Vec<&ChangedSymbol<'_>>, Vec<_>) =
        affected.changed_symbols.iter().partition(is_member);
    let (mut lost, mut imports) = (UnresolvedImports::default(), BrokenImports::default());
    let broken = |changed_symbol: &ChangedSymbol<'_>| -> Vec<Finding> {
        let imports = changed_symbol.occurrences.iter().filter(|it| it.role == Role::Import);
        imports.filter_map(|it| check_occurrence(cx, changed_symbol, it, edit)).collect()
    };
    for changed_symbol in &members {
        for error in broken(changed_symbol) {
            cascades::note_unresolved(cx, &error, &changed_symbol.name, [].into_iter(), &mut lost);
            follows::note_broken_import(cx, &error, keeps_aliases(changed_symbol), &mut imports);
        }
    }
    let mut of_imports = Vec::new();
    for changed_symbol in &changed_symbols {
        let members =
            changed_symbol.delta.as_ref().and_then(|it| it.1.before).filter(|it| it.name == changed_symbol.name);
        for error in broken(changed_symbol) {
            let members = members.into_iter().flat_map(|it| &it.children).map(|it| it.name.as_str());
            cascades::note_unresolved(cx, &error, &changed_symbol.name, members, &mut lost);
            follows::note_broken_import(cx, &error, keeps_aliases(changed_symbol), &mut imports);
            of_imports.push(error);
        }
    }
    for error in of_imports {
        match follows::is_handed_on(cx, &error, &imports) {
            true => out.add_following(error),
            false => out.add(error),
        }
    }
    // rust-analyzer reports an import in a body as a whole.
    let deferred: HashSet<(String, usize)> =
        out.following.iter().map(|it| (it.place.file.clone(), it.place.line)).collect();
    let is_whole = |it: &Finding| it.is(Code::E0432) && it.rule == RuleId::RustAnalyzer;
    out.forget(|it| is_whole(it) && deferred.contains(&(it.place.file.clone(), it.place.line)));
    // They give way to the errors that are reported here, perhaps on the same line.
    out.defer(|it| cascades::follows_from(cx, &lost, &imports, it));
    for changed_symbol in changed_symbols {
        expanded::gone_in_definitions(cx, changed_symbol, edit).into_iter().for_each(|it| out.add(it));
        for it in changed_symbol.occurrences.iter().filter(|it| it.role != Role::Import) {
            let Some(error) = check_occurrence(cx, changed_symbol, it, edit) else { continue };
            // By its own name, or by the alias that an import gives it.
            let name = cascades::text_of(cx, &error).unwrap_or(&changed_symbol.name);
            match follows::follows(cx, &error, name, &imports, &lost) {
                true => out.add_following(error),
                false => out.add(error),
            }
        }
    }
    let is_variant = |it: &ChangedSymbol<'_>| {
        it.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.kind == SymbolKind::Variant)
    };
    for changed_symbol in members.into_iter().filter(|it| is_variant(it)) {
        // Only an imported item is named without its container.
        for it in changed_symbol.occurrences.iter().filter(|it| it.role != Role::Import) {
            let error = check_occurrence(cx, changed_symbol, it, edit).filter(|it| cascades::is_bare(cx, it));
            let follows = |it: &Finding| follows::follows(cx, it, &changed_symbol.name, &imports, &lost);
            error.filter(follows).into_iter().for_each(|it| out.add_following(it));
        }
    }
    out.imports = Imports { lost, broken: imports };
}

/// Whether the aliases in imports remain valid when only the imports are changed to the new name.
fn keeps_aliases(changed_symbol: &ChangedSymbol<'_>) -> bool {
    changed_symbol.delta.as_ref().is_some_and(|it| it.1.kind == ChangeKind::Renamed)
}

fn check_occurrence(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    occurrence: &Occurrence,
    edit: &EditContext,
) -> Option<Finding> {
    let place = || format!("`{}` in {}", changed_symbol.name, occurrence.file.path);
    let faults = || cx.for_each_instance(occurrence.id, |it| fault_of(it, changed_symbol, occurrence, edit));
    cx.unless_at_fault(place, faults)?.into_iter().flatten().next()
}

/// The error at a place that named a changed symbol: it is unresolved now, or not allowed to name it.
fn fault_of(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    occurrence: &Occurrence,
    edit: &EditContext,
) -> Option<Finding> {
    // The compiler does not read links in docs.
    if occurrence.role == Role::Doc || !changed_symbol.is_itself {
        return None;
    }
    let kind = changed_symbol.delta.as_ref().map(|it| it.1.kind);
    let is_switched = changed_symbol.is_switched();
    let is_hiding = kind == Some(ChangeKind::Visibility) && !is_switched;
    let is_gone = is_switched || matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
    let before = changed_symbol.delta.as_ref().and_then(|it| it.1.before).map(|it| it.kind);
    let is_value = matches!(before, Some(SymbolKind::Const | SymbolKind::Static));
    let is_left = changed_symbol.is_left_to_tests();
    if !is_hiding && !is_gone && !is_value && !is_left && !loses_receiver(changed_symbol) {
        return None;
    }
    let name: &str = &occurrence.file.path;
    let (file, id) = cx.files.get(name).zip(cx.file_id(name))?;
    let start = edit.moved(name, occurrence.at.start)?;
    let at = Span::new(start, start + (occurrence.at.end - occurrence.at.start));
    let written = file.text.get(at.start..at.end)?;
    if written != changed_symbol.name && (keeps_aliases(changed_symbol) || is_keyword(written)) {
        return None;
    }
    let token = positions::token(&cx.sema, id, at.start)?;
    // A longer name is written there now, which begins or ends with the old one.
    let is_part = |it: char| it == '_' || it.is_alphanumeric();
    if file.text[at.end..].starts_with(is_part) || file.text[..at.start].ends_with(is_part) {
        return None;
    }
    // A qualified name is unresolved where its path leads through the changed symbol.
    let is_named_by_path = occurrence.role == Role::Import || is_qualified(&token);
    if unresolved::is_left_out(&cx.sema, id, &token) {
        return None;
    }
    let is_led_there = changed_symbol.is_found_through() && is_named_by_path;
    let place = file.lines().place(name, at);
    if is_left && !(is_led_there && leads_through_its_module(cx, &token)) && !is_for_tests(cx, file, id, at.start) {
        let (code, message) = gone(&cx.sema, &token, occurrence.role, changed_symbol, written, false);
        return Some(report::error(cx, place, code, format!("{message} but in tests")));
    }
    if is_led_there {
        return None;
    }
    let named = at::definition_of_token(&cx.sema, &token);
    let meaning = named.filter(|it| !is_gone || !is_needed_as_type(&token, *it));
    if let Some(message) = meaning.and_then(|it| unstable(cx.db, it)) {
        return Some(report::error(cx, place, Code::E0658, message));
    }
    match meaning {
        Some(Definition::Local(_)) if is_gone && is_alternative(&token) => {
            let message = format!("variable `{}` is not bound in all patterns", changed_symbol.name);
            Some(report::error(cx, place, Code::E0408, message))
        }
        None if !is_gone && !is_hiding => None,
        None => {
            let (code, message) = gone(&cx.sema, &token, occurrence.role, changed_symbol, written, is_hiding);
            // An import may still bring it in, with less visibility.
            let (code, message) = match changed_symbol.delta {
                None if unresolved::unless_unseen(&cx.sema, &token, code) == Code::E0603 => {
                    (Code::E0603, format!("`{}` is no longer visible here", changed_symbol.path))
                }
                _ => (code, message),
            };
            let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
            // Another item has that name.
            let code = if code == Code::E0412 && named.is_some() { Code::E0573 } else { code };
            Some(report::error(cx, place, code, message).about(subject))
        }
        // The symbol itself is unchanged, and a re-export has less visibility.
        Some(_) if changed_symbol.delta.is_none() && lookup::is_hidden_here(&cx.sema, &token) => {
            let message = format!("`{}` is no longer visible here", changed_symbol.path);
            Some(report::error(cx, place, Code::E0603, message))
        }
        // For a field in a literal or pattern the check of the body is more precise.
        Some(Definition::Field(_)) if is_hiding && is_given_by_name(&token) => None,
        Some(Definition::EnumVariant(_)) if is_hiding => None,
        Some(definition) if is_hiding => {
            let code = lookup::hidden(&cx.sema, &token, definition)?;
            Some(report::error(cx, place, code, format!("`{}` is no longer visible here", changed_symbol.path)))
        }
        Some(definition) => match patterns::function_as_pattern(cx.db, &token, definition) {
            Some((code, message)) => Some(report::error(cx, place, code, message)),
            None => {
                let (code, message) = constants::length(&cx.sema, &token, definition)?;
                Some(report::error(cx, place, code, message))
            }
        },
    }
}

/// Whether the path to an item leads through the module that declares it, not through a re-export.
fn leads_through_its_module(cx: &Context<'_>, token: &SyntaxToken) -> bool {
    let own = at::definition_of_token(&cx.sema, token).and_then(|it| it.module(cx.db));
    lookup::module_before(&cx.sema, token.clone()).is_none_or(|it| Some(it) == own)
}

/// Whether the code at this offset is compiled only for tests.
fn is_for_tests(cx: &Context<'_>, file: &File, id: FileId, at: usize) -> bool {
    let modules = cx.sema.file_to_module_def(id).into_iter().flat_map(|it| it.path_to_root(cx.db));
    let is_marked = |it: ast::Module| {
        ast::HasAttrs::attrs(&it).any(|it| words(&it.syntax().text().to_string()).any(|it| it.1 == "test"))
    };
    let mut declared = modules.filter_map(|it| it.declaration_source(cx.db));
    is_test_at(file, at) || declared.any(|it| is_marked(it.value))
}

/// The compiler's message for an unresolved name.
fn gone(
    sema: &Semantics<'_, RootDatabase>,
    token: &SyntaxToken,
    role: Role,
    ChangedSymbol { path, delta, .. }: &ChangedSymbol<'_>,
    name: &str,
    hidden: bool,
) -> (Code, String) {
    // Without a change of its own it is still there: what an edit changed is the import that named it.
    let is_gone = if delta.is_some() { "no longer exists" } else { "is no longer found by this name" };
    let kind = unresolved_kind_as_made(sema, token);
    if hidden {
        // A glob imports what is visible, and a name that nothing imports is unresolved.
        let is_missed = !(role == Role::Import || is_qualified(token)) || !lookup::is_there_unseen(sema, token);
        return match (role, kind.filter(|_| is_missed)) {
            (Role::Import, _) if is_missed => {
                (Code::E0432, format!("unresolved import: `{path}` is no longer visible here"))
            }
            (_, Some((code, what))) => {
                (code, format!("cannot find {what} `{name}`: `{path}` is no longer visible here"))
            }
            (_, None) => (Code::E0603, format!("`{path}` is no longer visible here")),
        };
    }
    match (role, kind) {
        (Role::Import, _) => (Code::E0432, format!("unresolved import: `{path}` {is_gone}")),
        (_, Some((code, what))) => (code, format!("cannot find {what} `{name}`: `{path}` {is_gone}")),
        (_, None) => (Code::E0599, format!("`{path}` {is_gone}")),
    }
}

/// Whether the token is one alternative of a pattern.
fn is_alternative(token: &SyntaxToken) -> bool {
    let pattern = token.parent().and_then(|it| it.parent()).and_then(ast::IdentPat::cast);
    pattern.and_then(|it| it.syntax().parent()).is_some_and(|it| ast::OrPat::can_cast(it.kind()))
}

/// Whether the token is the name of a field in a literal or pattern.
fn is_given_by_name(token: &SyntaxToken) -> bool {
    let mut around = token.parent_ancestors().take(2);
    around.any(|it| ast::RecordExprField::can_cast(it.kind()) || ast::RecordPatField::can_cast(it.kind()))
}

/// Whether a name is not the first segment of a path. In the input of a macro a path's colons are two tokens.
fn is_qualified(token: &SyntaxToken) -> bool {
    let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
    before.is_some_and(|it| match it.kind() {
        SyntaxKind::COLON2 => true,
        SyntaxKind::COLON => it.prev_token().is_some_and(|it| it.kind() == SyntaxKind::COLON),
        _ => false,
    })
}

/// Whether a type or module is required where another item has that name.
fn is_needed_as_type(token: &SyntaxToken, meaning: Definition<'_>) -> bool {
    let is_value = matches!(
        meaning,
        Definition::EnumVariant(_) | Definition::Function(_) | Definition::Const(_) | Definition::Static(_)
    );
    is_value && matches!(unresolved_kind(token), Some((Code::E0405 | Code::E0412 | Code::E0220 | Code::E0433, _)))
}

/// The compiler's error for a name that leads there now.
pub(crate) fn unstable<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> Option<String> {
    let Definition::Function(function) = definition else { return None };
    let is_of_the_library = matches!(function.krate(db).origin(db), CrateOrigin::Lang(_));
    let attributes = is_of_the_library.then(|| function.attrs(db)).filter(|it| it.is_unstable())?;
    let feature = attributes.unstable_feature(db).map(|it| it.as_str().to_owned()).unwrap_or_default();
    Some(format!("use of unstable library feature `{feature}`"))
}

/// Whether a method is no longer a method.
fn loses_receiver(changed_symbol: &ChangedSymbol<'_>) -> bool {
    let both = changed_symbol.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
    both.is_some_and(|(before, after)| before.signature.contains("self") && !after.signature.contains("self"))
}
