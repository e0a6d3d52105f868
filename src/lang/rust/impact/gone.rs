//! The places that name what is gone, or what may not be seen any more.

use std::collections::HashSet;

use ra_ap_hir::{Adt, AsAssocItem as _, HasVisibility as _, StructKind, Visibility};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::EditContext;
use super::affected_set::ChangedSymbol;
use super::cascades::LostImports;
use super::code::Code;
use super::finding::{Finding, Findings, Imports, Subject};
use super::follows::BrokenImports;
use super::rules::{Change, RuleId};
use super::unresolved::{is_type, unresolved_kind};
use super::unstable::loses_receiver;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, unless_at_fault};
use crate::model::{ChangeKind, Role, Span, SymbolKind};

impl<'db> Context<'db> {
    /// The places that named what is gone or hidden. Imports first: what comes by a broken one follows from it.
    pub(super) fn gone_names(&self, change: &Change<'_, '_>, told: &mut Findings<'_>) {
        let Change { affected: reach, gone, scene, .. } = *change;
        // What belongs to something that is gone is missed there.
        let is_member = |cause: &&ChangedSymbol<'_>| {
            let Some((index, item)) = cause.delta.as_ref().and_then(|it| Some((it.0, it.1.before?))) else {
                return false;
            };
            let around =
                gone.iter().filter(|it| it.0 == index && it.1.span.encloses(item.span) && it.1.span != item.span);
            let has_members =
                |kind: SymbolKind| is_type(kind) || matches!(kind, SymbolKind::Trait | SymbolKind::Variant);
            around.into_iter().any(|it| has_members(it.1.kind))
        };
        let (members, causes): (Vec<&ChangedSymbol<'_>>, Vec<_>) = reach.causes.iter().partition(is_member);
        let (mut lost, mut imports) = (LostImports::default(), BrokenImports::default());
        let broken = |cause: &ChangedSymbol<'_>| -> Vec<Finding> {
            let imports = cause.occurrences.iter().filter(|it| it.role == Role::Import);
            imports.filter_map(|it| self.judge_occurrence(cause, it, scene)).collect()
        };
        for cause in &members {
            for error in broken(cause) {
                self.note_lost(&error, &cause.name, [].into_iter(), &mut lost);
                self.note_broken_import(&error, &mut imports);
            }
        }
        let mut of_imports = Vec::new();
        for cause in &causes {
            let members = cause.delta.as_ref().and_then(|it| it.1.before).filter(|it| it.name == cause.name);
            for error in broken(cause) {
                let members = members.into_iter().flat_map(|it| &it.children).map(|it| it.name.as_str());
                self.note_lost(&error, &cause.name, members, &mut lost);
                self.note_broken_import(&error, &mut imports);
                of_imports.push(error);
            }
        }
        for error in of_imports {
            match self.is_handed_on(&error, &imports) {
                true => told.add_following(error),
                false => told.add(error),
            }
        }
        // Of an import in a body rust-analyzer tells as a whole.
        let deferred: HashSet<(String, usize)> =
            told.following.iter().map(|it| (it.place.file.clone(), it.place.line)).collect();
        let is_whole = |it: &Finding| it.is(Code::E0432) && it.rule == RuleId::RustAnalyzer;
        told.forget(|it| is_whole(it) && deferred.contains(&(it.place.file.clone(), it.place.line)));
        // They give way to those that are told here, perhaps in the same line.
        told.defer(|it| self.follows_from(&lost, &imports, it));
        for cause in causes {
            self.gone_in_definitions(cause, scene).into_iter().for_each(|it| told.add(it));
            for it in cause.occurrences.iter().filter(|it| it.role != Role::Import) {
                let Some(error) = self.judge_occurrence(cause, it, scene) else { continue };
                match self.follows(&error, &cause.name, &imports, &lost) {
                    true => told.add_following(error),
                    false => told.add(error),
                }
            }
        }
        let is_variant = |it: &ChangedSymbol<'_>| {
            it.delta.as_ref().and_then(|it| it.1.before).is_some_and(|it| it.kind == SymbolKind::Variant)
        };
        for cause in members.into_iter().filter(|it| is_variant(it)) {
            // Only what an import brings is named without what it belongs to.
            for it in cause.occurrences.iter().filter(|it| it.role != Role::Import) {
                let error = self.judge_occurrence(cause, it, scene).filter(|it| self.is_bare(it));
                let follows = |it: &Finding| self.follows(it, &cause.name, &imports, &lost);
                error.filter(follows).into_iter().for_each(|it| told.add_following(it));
            }
        }
        told.imports = Imports { lost, broken: imports };
    }

    fn judge_occurrence(
        &self,
        cause: &ChangedSymbol<'_>,
        occurrence: &Occurrence,
        scene: &EditContext,
    ) -> Option<Finding> {
        unless_at_fault(|| self.fault_of(cause, occurrence, scene)).flatten()
    }

    /// A place that named what changed: broken where it names nothing now, or may not name it any more.
    fn fault_of(&self, cause: &ChangedSymbol<'_>, occurrence: &Occurrence, scene: &EditContext) -> Option<Finding> {
        // The compiler reads no links.
        if occurrence.role == Role::Doc || !cause.is_itself {
            return None;
        }
        let kind = cause.delta.as_ref().map(|it| it.1.kind);
        let is_hiding = kind == Some(ChangeKind::Visibility);
        let is_gone = matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed));
        let before = cause.delta.as_ref().and_then(|it| it.1.before).map(|it| it.kind);
        let is_value = matches!(before, Some(SymbolKind::Const | SymbolKind::Static));
        if !is_hiding && !is_gone && !is_value && !loses_receiver(cause) {
            return None;
        }
        let name: &str = &occurrence.file.path;
        let (file, id) = self.files.get(name).zip(self.file_id(name))?;
        let start = scene.moved(name, occurrence.at.start)?;
        let at = Span::new(start, start + (occurrence.at.end - occurrence.at.start));
        if file.text.get(at.start..at.end) != Some(cause.name.as_str()) {
            return None;
        }
        let token = self.token(id, at.start)?;
        // With a path it is missed where the path leads through what changed.
        let is_named_by_path = occurrence.role == Role::Import || is_qualified(&token);
        if self.is_left_out(id, &token) || cause.is_found_through() && is_named_by_path {
            return None;
        }
        let place = file.lines().place(name, at);
        let named = self.meant_by(&token);
        let meaning = named.filter(|it| !is_gone || !is_needed_as_type(&token, *it));
        if let Some(message) = meaning.and_then(|it| self.unstable(it)) {
            return Some(self.error(place, Code::E0658, message));
        }
        match meaning {
            Some(Definition::Local(_)) if is_gone && is_alternative(&token) => {
                let message = format!("variable `{}` is not bound in all patterns", cause.name);
                Some(self.error(place, Code::E0408, message))
            }
            None if !is_gone && !is_hiding => None,
            None => {
                let (code, message) = self.gone(&token, occurrence.role, cause, is_hiding);
                let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
                // There is something else by that name.
                let code = if code == Code::E0412 && named.is_some() { Code::E0573 } else { code };
                Some(self.error(place, code, message).about(subject))
            }
            // Of a field that is given or matched by its name more is known in the body.
            Some(Definition::Field(_)) if is_hiding && is_given_by_name(&token) => None,
            Some(Definition::EnumVariant(_)) if is_hiding => None,
            Some(definition) if is_hiding => {
                let code = self.hidden(&token, definition)?;
                Some(self.error(place, code, format!("`{}` is not visible here any more", cause.path)))
            }
            Some(definition) => match self.function_as_pattern(&token, definition) {
                Some((code, message)) => Some(self.error(place, code, message)),
                None => {
                    let (code, message) = self.length(&token, definition)?;
                    Some(self.error(place, code, message))
                }
            },
        }
    }

    /// The code of the error where a definition may not be named.
    fn hidden(&self, token: &SyntaxToken, definition: Definition<'db>) -> Option<Code> {
        let from = self.sema.scope(&token.parent()?)?.module();
        let db = self.db;
        let (seen, visibility) = match definition {
            Definition::Function(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Field(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Adt(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Const(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Static(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Trait(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::TypeAlias(it) => (it.is_visible_from(db, from), it.visibility(db)),
            Definition::Module(it) => (it.is_visible_from(db, from), it.visibility(db)),
            _ => return None,
        };
        if !seen {
            return Some(match definition {
                Definition::Field(_) => Code::E0616,
                Definition::Function(it) if it.as_assoc_item(db).is_some() => Code::E0624,
                _ => Code::E0603,
            });
        }
        let import = token.parent_ancestors().find_map(ast::Use::cast)?;
        let is_public = ast::HasVisibility::visibility(&import)
            .is_some_and(|it| it.syntax().text() == "pub" && visibility != Visibility::Public);
        // Tuple and unit structs are values too.
        let is_type = match definition {
            Definition::Function(_) | Definition::Const(_) | Definition::Static(_) => false,
            Definition::Adt(Adt::Struct(it)) => it.kind(db) == StructKind::Record,
            _ => true,
        };
        is_public.then_some(if is_type { Code::E0365 } else { Code::E0364 })
    }

    /// The compiler's words for a name that means nothing any more.
    fn gone(&self, token: &SyntaxToken, role: Role, cause: &ChangedSymbol<'_>, hidden: bool) -> (Code, String) {
        let ChangedSymbol { name, path, .. } = cause;
        // What is tokens alone in the input of a macro is more in what it makes.
        let is_input = token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind()));
        let made = is_input.then(|| self.sema.descend_into_macros_exact(token.clone()).into_iter().next()).flatten();
        let kind = made.and_then(|it| unresolved_kind(&it)).or_else(|| unresolved_kind(token));
        if hidden {
            // A glob brings what may be seen, and a name is missed where nothing brings it.
            let is_missed = !(role == Role::Import || is_qualified(token)) || !self.is_there_unseen(token);
            return match (role, kind.filter(|_| is_missed)) {
                (Role::Import, _) if is_missed => {
                    (Code::E0432, format!("unresolved import: `{path}` is not visible here any more"))
                }
                (_, Some((code, what))) => {
                    (code, format!("cannot find {what} `{name}`: `{path}` is not visible here any more"))
                }
                (_, None) => (Code::E0603, format!("`{path}` is not visible here any more")),
            };
        }
        match (role, kind) {
            (Role::Import, _) => (Code::E0432, format!("unresolved import: there is no `{path}` any more")),
            (_, Some((code, what))) => (code, format!("cannot find {what} `{name}`: there is no `{path}` any more")),
            (_, None) => (Code::E0599, format!("there is no `{path}` any more")),
        }
    }
}

/// Whether what stands there is one of several patterns.
fn is_alternative(token: &SyntaxToken) -> bool {
    let pattern = token.parent().and_then(|it| it.parent()).and_then(ast::IdentPat::cast);
    pattern.and_then(|it| it.syntax().parent()).is_some_and(|it| ast::OrPat::can_cast(it.kind()))
}

/// Whether what stands there is the name of a field in a literal or in a pattern.
fn is_given_by_name(token: &SyntaxToken) -> bool {
    let mut around = token.parent_ancestors().take(2);
    around.any(|it| ast::RecordExprField::can_cast(it.kind()) || ast::RecordPatField::can_cast(it.kind()))
}

/// Whether a name is not the first of a path. In the input of a macro a path's colons are two tokens.
fn is_qualified(token: &SyntaxToken) -> bool {
    let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
    before.is_some_and(|it| match it.kind() {
        SyntaxKind::COLON2 => true,
        SyntaxKind::COLON => it.prev_token().is_some_and(|it| it.kind() == SyntaxKind::COLON),
        _ => false,
    })
}

/// Whether a type or a module is looked for where there is something else by that name.
fn is_needed_as_type(token: &SyntaxToken, meaning: Definition<'_>) -> bool {
    let is_value = matches!(
        meaning,
        Definition::EnumVariant(_) | Definition::Function(_) | Definition::Const(_) | Definition::Static(_)
    );
    is_value && matches!(unresolved_kind(token), Some((Code::E0405 | Code::E0412 | Code::E0220 | Code::E0433, _)))
}
