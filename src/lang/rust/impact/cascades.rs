//! What a name that means nothing any more takes with it. What goes away by itself once the name is mended is no place of
//! its own; what has to be edited too is (`follows`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::{Adt, ModuleDef, PathResolution};
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::ast::{HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::EditContext;
use super::affected_set::{AffectedSet, has_body};
use super::bounds::bound_path;
use super::code::Code;
use super::finding::{Finding, Findings, Imports, Subject};
use super::follows::{BrokenImports, brought_by};
use super::rules::Change;
use super::unresolved::is_type;
use crate::lang::files::Files;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, OutlineItem, Span, SymbolKind};
use crate::text::words::words;

/// A block of which the trait, or the type, means nothing.
pub(super) struct UnresolvedHead {
    file: String,
    span: Span,
    of_trait: bool,
}

/// The names that broken imports would have brought in, and where.
pub(super) type LostImports = HashMap<Arc<str>, Vec<(String, Span)>>;

pub(super) fn is_lost(lost: &LostImports, error: &Finding, name: &str) -> bool {
    let names = lost.get(error.place.file.as_str());
    names.into_iter().flatten().any(|(lost, within)| lost == name && within.contains(error.place.start))
}

pub(super) fn is_of_a_body(error: &Finding) -> bool {
    matches!(error.code, Code::E0277 | Code::E0282 | Code::E0308 | Code::E0369 | Code::E0599)
}

impl EditContext {
    /// Whether an error of the state before was there because of a name that the change brings: then the compiler said so
    /// where the name was missing.
    pub(super) fn follows_from_absence(&self, deltas: &[(usize, Delta<'_>)], before: &Files, error: &Finding) -> bool {
        if !is_of_a_body(error) {
            return false;
        }
        let is_brought =
            |it: &Delta<'_>| matches!(it.kind, ChangeKind::Added | ChangeKind::Renamed | ChangeKind::Visibility);
        let items = deltas.iter().filter(|it| is_brought(&it.1)).filter_map(|it| it.1.after);
        let mut names: HashSet<&str> = items.map(|it| it.name.as_str()).collect();
        names.extend(self.loose.iter().flat_map(|it| &it.names).map(String::as_str));
        let is_any = self.loose.iter().any(|it| it.all);
        let Some(file) = before.get(&error.place.file) else { return false };
        let line = file.lines().line_text(&file.text, error.place.line);
        let is_named = || error.code != Code::E0282 && words(line).any(|it| names.contains(it.1));
        is_any || !names.is_empty() && !is_named()
    }
}

impl<'db> Context<'db> {
    /// Adds what the rules find to the new errors, takes off what follows from others, and answers what follows but has to
    /// be edited too.
    pub(super) fn apply_rules(
        &self,
        affected: &AffectedSet<'_>,
        deltas: &[(usize, Delta<'_>)],
        scene: &EditContext,
        new: &mut Vec<Finding>,
    ) -> Vec<Finding> {
        let gone = deltas.iter().filter(|it| matches!(it.1.kind, ChangeKind::Removed | ChangeKind::Renamed));
        let gone: Vec<(usize, &OutlineItem)> = gone.filter_map(|(index, it)| Some((*index, it.before?))).collect();
        let members = |kind: SymbolKind| -> HashSet<&str> {
            let lost = gone.iter().filter(|it| it.1.kind == kind);
            lost.flat_map(|it| it.1.children.iter().map(|it| it.name.as_str())).collect()
        };
        let types = gone.iter().filter(|it| is_type(it.1.kind) || it.1.kind == SymbolKind::Type);
        let types: HashSet<&str> = types.map(|it| it.1.name.as_str()).collect();
        // What a trait that is gone would have provided is missed where the trait is.
        let lost_methods = members(SymbolKind::Trait);
        new.retain(|it| {
            let mut words = self.text_of(it).into_iter().flat_map(words);
            !it.is(Code::E0599) || !words.any(|(_, word)| lost_methods.contains(word))
        });
        if !gone.is_empty() {
            new.retain(|it| !self.follows_from_unknown(&types, &LostImports::default(), it));
        }
        let lost_variants = members(SymbolKind::Enum);
        let change = Change { affected, deltas, scene, gone: &gone, lost_variants: &lost_variants };
        let mut out = Findings::new(new);
        self.ask_of_change(&change, &mut out);
        let Imports { lost, broken } = std::mem::take(&mut out.imports);
        out.defer(|it| self.follows_from(&lost, &broken, it));
        let Findings { new, mut following, .. } = out;
        let is_gone = |it: &Finding| {
            matches!(it.code, Code::E0220 | Code::E0412 | Code::E0432 | Code::E0433 | Code::E0573 | Code::E0603)
        };
        if new.iter().any(is_gone) {
            new.retain(|it| !self.follows_from_unknown(&types, &lost, it));
        }
        let unheaded: Vec<UnresolvedHead> = new.iter().filter_map(|it| self.block_headed_by(it)).collect();
        new.retain(|it| {
            !is_of_a_body(it) && !self.is_of_self(it) || !unheaded.iter().any(|of| self.is_of_unresolved_head(of, it))
        });
        self.ask_late(&change, new);
        new.sort();
        // Bodies that a macro makes tell the same of its definition.
        new.dedup();
        let mut lines = Findings::new(new);
        following.sort();
        following.retain(|it| {
            let name = self.text_of(it).and_then(|it| words(it).next()).map_or("", |it| it.1);
            !broken.is_alias(name) && lines.claims(it)
        });
        following
    }

    /// Whether a member of `Self` is missed, that a trait would have.
    pub(super) fn is_of_self(&self, error: &Finding) -> bool {
        let before = || self.files.get(&error.place.file)?.text.get(..error.place.start);
        error.code == Code::E0220 && before().is_some_and(|it| it.ends_with("Self::"))
    }

    /// What a broken import would have brought in: the name itself, or members of what it names.
    pub(super) fn note_lost<'a>(
        &self,
        import: &Finding,
        name: &str,
        members: impl Iterator<Item = &'a str>,
        lost: &mut LostImports,
    ) {
        let Some(file) = self.files.get(&import.place.file) else { return };
        let around = file.outline().enclosing(import.place.start);
        let scope = around.iter().rfind(|it| it.kind == SymbolKind::Module || has_body(it.kind));
        let within = scope.map_or(Span::new(0, file.text.len()), |it| it.span);
        let mut names = match self.use_tree_of(import) {
            Some(tree) => brought_by(&tree).unwrap_or_else(|| members.map(str::to_owned).collect()),
            None => vec![name.to_owned()],
        };
        names.retain(|it| !self.is_globbed_variant(import, it));
        lost.entry(file.path.clone()).or_default().extend(names.into_iter().map(|it| (it, within)));
    }

    /// The block of which the trait, or the type, means nothing: of its bodies the compiler says nothing more.
    pub(super) fn block_headed_by(&self, error: &Finding) -> Option<UnresolvedHead> {
        let file = self.files.get(&error.place.file)?;
        let of_trait = match error.code {
            Code::E0404 | Code::E0405 => true,
            Code::E0433 if self.leads_to_header(error) => true,
            Code::E0412 if self.is_headed(error) => false,
            _ => return None,
        };
        let block = file.outline().enclosing(error.place.start).pop().filter(|it| it.kind == SymbolKind::Impl)?;
        Some(UnresolvedHead { file: error.place.file.clone(), span: block.span, of_trait })
    }

    /// Whether an error is within such a block, or misses what the block would give its type: where a trait means nothing
    /// the compiler comes to its end before it asks for that.
    pub(super) fn is_of_unresolved_head(&self, of: &UnresolvedHead, error: &Finding) -> bool {
        if of.file == error.place.file && of.span.contains(error.place.start) {
            return true;
        }
        let Some(file) = self.files.get(&of.file).filter(|_| of.of_trait) else { return false };
        let chain = file.outline().enclosing(of.span.start);
        let Some(block) = chain.last().filter(|it| it.span == of.span) else { return false };
        match error.code {
            Code::E0277 => {
                let of = block.name.split(" for ").next().and_then(|it| it.rsplit("::").next()).unwrap_or_default();
                matches!(&error.subject, Subject::Bound { of: lacks, .. } if lacks == of)
            }
            Code::E0599 => {
                let text = self.text_of(error).unwrap_or_default();
                let member = text.rsplit("::").next().unwrap_or_default();
                block.children.iter().any(|it| it.name == member)
            }
            _ => false,
        }
    }

    /// Whether what is missed is the type that a block is of.
    fn is_headed(&self, error: &Finding) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let Some(ast::Type::PathType(of)) = block.and_then(|it| it.self_ty()) else { return false };
        of.path().and_then(|it| it.segment()?.name_ref()?.ident_token()) == token
    }

    /// Whether what is missed is a module on the way to the trait that a block implements.
    fn leads_to_header(&self, error: &Finding) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let Some(ast::Type::PathType(of)) = block.and_then(|it| it.trait_()) else { return false };
        let mut way = std::iter::successors(of.path().and_then(|it| it.qualifier()), |it| it.qualifier());
        way.any(|it| it.segment().and_then(|it| it.name_ref()?.ident_token()) == token)
    }

    /// Whether a variant of that name is brought in by a glob beside an import: then it is what the name means.
    fn is_globbed_variant(&self, import: &Finding, name: &str) -> bool {
        let Some(module) = self.module_around(import) else { return false };
        let trees = self.nodes_in(module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
        let globs = trees.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
        globs.into_iter().any(|it| match self.sema.resolve_path(&it) {
            Some(PathResolution::Def(ModuleDef::Adt(Adt::Enum(it)))) => {
                it.variants(self.db).iter().any(|it| it.name(self.db).as_str() == name)
            }
            _ => false,
        })
    }

    /// Whether a name of a body is missed for an import that is broken.
    pub(super) fn follows_from(&self, lost: &LostImports, imports: &BrokenImports, error: &Finding) -> bool {
        let is_of_name = match error.code {
            Code::Uncoded => error.subject == Subject::Macro,
            Code::E0220
            | Code::E0404
            | Code::E0405
            | Code::E0412
            | Code::E0422
            | Code::E0425
            | Code::E0433
            | Code::E0531 => true,
            _ => false,
        };
        if !is_of_name {
            return false;
        }
        let text = self.text_of(error).unwrap_or_default();
        let first = text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
        self.follows(error, first, imports, lost)
            || self.is_bare(error) && self.is_lost_in_definition(lost, error, first)
    }

    /// Whether a name stands in the definition of a macro, and would have been imported wherever that is called.
    fn is_lost_in_definition(&self, lost: &LostImports, error: &Finding, name: &str) -> bool {
        let names = || lost.values().flatten().any(|it| it.0 == name);
        let id = self.file_id(&error.place.file).filter(|_| names());
        let Some(definition) = id.and_then(|id| self.macro_around(id, error.place.start)) else { return false };
        let is_lost_there = |it: &Occurrence| {
            let names = lost.get(&it.file.path).into_iter().flatten();
            names.into_iter().any(|(lost, within)| lost == name && within.contains(it.at.start))
        };
        self.find(&[definition]).into_iter().all(|it| !it.items.is_empty() && it.items.iter().all(is_lost_there))
    }

    /// Whether an error is there because a type is not known any more: that is told where the type is named, or was
    /// imported.
    pub(super) fn follows_from_unknown(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Finding) -> bool {
        let is_of_nothing = || error.subject.ty() == Some("()");
        match error.code {
            Code::E0282 => true,
            Code::E0277 | Code::E0599 if is_of_nothing() || self.is_of_unbound(error) => true,
            // Where an import is lost, the name does not mean another one from a prelude.
            Code::E0107 => self.names_lost(&HashSet::new(), lost, error),
            Code::E0277 | Code::E0308 | Code::E0369 => self.names_lost(gone, lost, error),
            Code::E0599 => {
                let is_of_member = matches!(error.subject, Subject::Member { .. });
                is_of_member && self.names_lost(gone, lost, error) && !self.is_of_known_type(error)
            }
            _ => false,
        }
    }

    /// Whether what is missed is a variant, or the like, of a type that there is.
    fn is_of_known_type(&self, error: &Finding) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let paths = token.into_iter().flat_map(|it| it.parent_ancestors()).map_while(|it| match it.kind() {
            SyntaxKind::NAME_REF | SyntaxKind::PATH_SEGMENT => Some(None),
            _ => ast::Path::cast(it).map(Some),
        });
        let qualifier = paths.flatten().find_map(|it| it.qualifier());
        let meant = qualifier.and_then(|it| self.sema.resolve_path(&it));
        matches!(meant, Some(PathResolution::Def(ModuleDef::Adt(_))))
    }

    /// Whether an error speaks of a type parameter that is bound by something that means nothing: it may have any method.
    fn is_of_unbound(&self, error: &Finding) -> bool {
        let name = error.subject.ty().unwrap_or_default().trim_start_matches(['&', ' ']).trim_start_matches("mut ");
        if !name.chars().all(char::is_alphanumeric) {
            return false;
        }
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        token.is_some_and(|it| self.is_unbound(&it, name))
    }

    /// Whether a name is that of a type parameter that is bound so.
    pub(super) fn is_unbound(&self, token: &SyntaxToken, name: &str) -> bool {
        let around = token.parent_ancestors().filter_map(ast::AnyHasGenericParams::cast);
        around.into_iter().any(|it| {
            let own = it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
            let own = own.filter(|it| it.name().is_some_and(|it| it.text() == name)).filter_map(|it| match it {
                ast::TypeOrConstParam::Type(it) => it.type_bound_list(),
                ast::TypeOrConstParam::Const(_) => None,
            });
            let clauses = it.where_clause().into_iter().flat_map(|it| it.predicates());
            let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == name));
            let lists = own.chain(clauses.filter_map(|it| it.type_bound_list()));
            let mut paths = lists.flat_map(|it| it.bounds()).filter_map(bound_path);
            paths.any(|it| self.sema.resolve_path(&it).is_none())
        })
    }

    /// Whether a line of an error names what is gone.
    pub(super) fn names_lost(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Finding) -> bool {
        let Some(file) = self.files.get(&error.place.file) else { return false };
        let mut lines = (error.place.line..=error.place.end_line).map(|it| file.lines().line_text(&file.text, it));
        lines.any(|line| words(line).any(|(_, word)| gone.contains(word) || is_lost(lost, error, word)))
    }

    pub(super) fn text_of(&self, error: &Finding) -> Option<&'db str> {
        self.files.get(&error.place.file)?.text.get(error.place.start..error.place.end)
    }

    /// Whether a name stands there without what contains it.
    pub(super) fn is_bare(&self, error: &Finding) -> bool {
        let Some(token) = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start)) else {
            return false;
        };
        // The input of a macro is no more than tokens.
        if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
            let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
            return before.is_none_or(|it| it.text() != ":");
        }
        let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast);
        segment.is_some_and(|it| it.parent_path().qualifier().is_none())
    }
}
