//! What a change leaves valid in the index, and what it invalidates.
//!
//! `file_interface` computes what other files can see of a file. If a change is visible, this module finds by words
//! what it may affect in the files that see it: everything that names the changed items, and what depends on that.
//! Within bodies it uses `file_interface/statements.rs`, and `file_interface/arguments.rs` if only parameters differ.
//! `Index::invalidate` applies the result.
//!
//! The meaning of a name depends on its scope and on the types around it, and each type begins at a written name. If
//! functions, constants and statics get another signature, are added, removed or renamed, only code that names them is
//! invalidated. In bodies these are the statements with the name, and those that depend on them (`statements`). A
//! declaration that contains the name is changed in turn, and invalidates what names it. If something cannot be decided
//! in this way, everything is invalidated.
//!
//! Why this is enough:
//! - A scope, a block of methods and a chain of receivers are each searched for one name. Items with another name than
//!   the added or removed one are found as before. Items with the same name are found where it is written, or under a
//!   name that an import or a macro of the workspace gives it, and these are followed.
//! - An added item may hide the previous meaning, or be hidden: each place of its name is uncertain. A removed item was
//!   meant where the index says so. Places with another meaning keep it, because of several possible meanings none is
//!   chosen.
//! - An unchanged item keeps its key if rust-analyzer gives it the same id in its file. `FileInterface` compares the
//!   ids, because an added item may take the id of another one.
//! - In an implementation of a trait, the trait's declaration decides the types, unless the function itself is named.
//!   No bound and no choice of an implementation depends on its functions.
//! - Paths of other items may be written differently after a name is added or removed: these are invalidated by name.
//! - If only the parameters of a function without type parameters differ, a call of it keeps its type, whatever its
//!   arguments are. The parameters determine the expected types of the arguments, and through these the types of
//!   variables in the arguments. They do not affect variables with an explicit full type, and so nothing outside such
//!   arguments is invalidated. Names in the arguments are not invalidated either, as long as these declare nothing. No
//!   receiver and no path depends on the expected type, but the chosen implementation of a trait may. This holds only
//!   for calls: a function that is passed as a value passes its parameters on. Its own body depends on the names of the
//!   changed parameters, and no macro can use these by itself.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_hir::AssocItemContainer;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::{EditionedFileId, SourceDatabase as _, further_crates, relevant_crates};
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, Direction, Edition, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, ast};

use crate::file_interface::arguments::{
    arguments, is_body_unconcerned, is_closed, is_declared_by_macro, is_plain, is_plain_call,
};
use crate::file_interface::statements::Statements;
use crate::file_interface::{ChangedItem, FileInterface, file_interface, plain_item};
use crate::index::file_names::{Names, StoredResolution};
use crate::index::{Edited, Index, Invalidated};
use crate::names::Key;
use crate::names::definitions::as_assoc_item;
use crate::syntax::positions::{span, text_size, tokens_at};
use semdex_model::{Role, Span};
use semdex_text::words::occurrences;

/// With more words than this, they invalidate most of the index.
const MAX_WORDS: usize = 64;

/// A name that may have a different meaning, or whose meaning may have a different type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    text: String,
    /// Its declaration, if each place with another meaning keeps it.
    only: Option<(FileId, u32)>,
    change: Change,
}

/// The kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Any,
    /// The parameters of a function.
    Parameters,
    /// How a macro calls such a function.
    Inside,
    /// The expansion of a macro.
    Output,
}

/// What is invalidated in `reached`, which are all files that may be affected. `None` if everything is.
pub(crate) fn invalidated(
    db: &RootDatabase,
    index: &Index,
    edited: &[Edited],
    reached: &HashSet<FileId>,
) -> Option<Invalidated> {
    let mut pass =
        Pass { db, index, edited, found: Invalidated::default(), waiting: Vec::new(), seen: BTreeSet::new() };
    for (file, before, after) in edited {
        for ChangedItem { item, was_there, is_found_elsewise, others_stay, calls_stay } in before.altered(after)? {
            if was_there && !(calls_stay && is_body_unconcerned(before, after, item)) {
                pass.invalidate(*file, item.at);
            }
            if is_found_elsewise {
                pass.found.names.insert(item.name.clone());
            }
            let change = if calls_stay { Change::Parameters } else { Change::Any };
            pass.await_word(&item.name, others_stay.then_some((*file, item.id)), change);
        }
    }
    while let Some(word) = pass.waiting.pop() {
        if pass.seen.len() > MAX_WORDS {
            tracing::debug!(change = ?word.change, "the change reaches too many words");
            return None;
        }
        let only = word.only.and_then(|(file, id)| index.declared(file, id));
        for file in reached {
            if pass.look(*file, &word, only).is_none() {
                tracing::debug!(change = ?word.change, ?file, "the change may affect everything");
                return None;
            }
        }
    }
    pass.found.words = pass.seen.iter().map(|it| it.text.clone()).collect();
    for stretches in pass.found.stretches.values_mut() {
        stretches.sort_unstable();
        stretches.dedup();
    }
    Some(pass.found)
}

struct Pass<'a> {
    db: &'a RootDatabase,
    index: &'a Index,
    edited: &'a [Edited],
    found: Invalidated,
    waiting: Vec<Word>,
    seen: BTreeSet<Word>,
}

impl Pass<'_> {
    fn await_word(&mut self, text: &str, only: Option<(FileId, u32)>, change: Change) {
        let word = Word { text: text.to_owned(), only, change };
        if self.seen.insert(word.clone()) {
            self.waiting.push(word);
        }
    }

    fn before(&self, file: FileId) -> Arc<FileInterface> {
        let edited = self.edited.iter().find(|it| it.0 == file);
        edited.map_or_else(|| file_interface(self.db, file), |it| it.1.clone())
    }

    /// The syntax tree of a file before the change.
    fn tree(&self, file: FileId, text: &str) -> SyntaxNode {
        if self.edited.iter().any(|it| it.0 == file) {
            return ast::SourceFile::parse(text, Edition::CURRENT).tree().syntax().clone();
        }
        // The edition does not matter here: looking it up would compute the modules of the crate.
        EditionedFileId::current_edition(self.db, file).parse(self.db).tree().syntax().clone()
    }

    /// Records what a word invalidates in a file, in its text before the change.
    fn look(&mut self, file: FileId, word: &Word, only: Option<Key>) -> Option<()> {
        let before = self.before(file);
        let text = before.whole().clone();
        let known = self.index.names(file);
        let mut tree: Option<SyntaxNode> = None;
        let mut read = None;
        for at in occurrences(&text, &word.text) {
            if let Some((names, key)) = known.as_deref().zip(only)
                && names.is_known_at(at)
                && self.index.further(file).is_none_or(|it| it.at(at).next().is_none())
                && (means_others(names, at, key) || word.change != Change::Any && names.at(at).next().is_none())
            {
                continue;
            }
            let body = before.body_around(at);
            if let Some(body) = body.filter(|_| word.change == Change::Any) {
                self.invalidate_body(file, &before, body, at, &mut read);
                continue;
            }
            let tree = tree.get_or_insert_with(|| self.tree(file, &text));
            let token = tokens_at(tree, at).right_biased()?;
            if is_declared_by_macro(&token) {
                self.found.recheck.insert(file);
                continue;
            }
            if matches!(word.change, Change::Inside | Change::Output) && !may_name_macro(&token) {
                continue;
            }
            match (self.look_at_call(file, word, &token), body) {
                (Some(()), _) => {}
                (None, Some(body)) => self.invalidate_body(file, &before, body, at, &mut read),
                (None, None) => self.look_at(file, &before, &token, word.change)?,
            }
        }
        Some(())
    }

    /// A place where only the parameters of the named function differ. `None` if more may differ.
    fn look_at_call(&mut self, file: FileId, word: &Word, token: &SyntaxToken) -> Option<()> {
        let is_within = |can_cast: fn(SyntaxKind) -> bool| token.parent_ancestors().any(|it| can_cast(it.kind()));
        if matches!(word.change, Change::Any | Change::Output) {
            return None;
        }
        if matches!(token.kind(), SyntaxKind::COMMENT | SyntaxKind::STRING) {
            self.invalidate(file, span(token.text_range()));
        } else if word.change == Change::Inside {
            if is_within(ast::Use::can_cast) || is_within(ast::MacroRules::can_cast) {
                return None;
            }
        } else if let Some(list) = arguments(token) {
            if !is_closed(&list) {
                return None;
            }
            let names = self.index.names(file);
            let concerned = names.filter(|_| is_plain(&list)).map(|it| self.decided_by_types(&list, &it));
            let concerned = concerned.unwrap_or_else(|| vec![span(list.syntax().text_range())]);
            concerned.into_iter().for_each(|it| self.invalidate(file, it));
        } else {
            let around = token.parent_ancestors().find_map(ast::MacroRules::cast);
            let name = around.filter(|_| is_plain_call(token))?.name()?;
            self.await_word(name.text(), None, Change::Inside);
        }
        self.found.recheck.insert(file);
        Some(())
    }

    /// A place outside all bodies.
    fn look_at(&mut self, file: FileId, before: &FileInterface, token: &SyntaxToken, change: Change) -> Option<()> {
        if matches!(token.kind(), SyntaxKind::COMMENT | SyntaxKind::STRING) {
            self.invalidate(file, span(token.text_range()));
            return Some(());
        }
        let parent = token.parent()?;
        // A declaration with this name is another item, but it may have to fit a trait, and a pattern may be a
        // constant.
        if ast::Name::can_cast(parent.kind()) && parent.parent().is_some_and(|it| !ast::IdentPat::can_cast(it.kind())) {
            self.found.recheck.insert(file);
            return Some(());
        }
        for node in token.parent_ancestors() {
            if let Some(import) = ast::Use::cast(node.clone()) {
                self.invalidate(file, span(node.text_range()));
                let renamed = import.syntax().descendants().filter_map(ast::Rename::cast).filter_map(|it| it.name());
                for name in renamed.collect::<Vec<_>>() {
                    self.await_word(name.text(), None, change);
                }
                return Some(());
            }
            if let Some(name) = ast::MacroRules::cast(node.clone()).map(|it| it.name()) {
                let change = if change == Change::Inside { change } else { Change::Output };
                self.await_word(name?.text(), None, change);
                return Some(());
            }
            if let Some(name) = plain_item(&node) {
                self.invalidate(file, span(node.text_range()));
                let item = before.plain_at(span(name.syntax().text_range()).start)?;
                self.await_word(&item.name, Some((file, item.id)), Change::Any);
                return Some(());
            }
            if ast::MacroCall::can_cast(node.kind()) {
                // Its result may be a constant that is part of a type.
                let is_seen = |it: SyntaxKind| matches!(it, SyntaxKind::CONST_KW | SyntaxKind::IMPL_KW);
                let mut tokens = node.descendants_with_tokens().filter_map(|it| it.into_token());
                if tokens.any(|it| is_seen(it.kind())) {
                    return None;
                }
                self.invalidate(file, span(node.text_range()));
                return Some(());
            }
        }
        None
    }

    /// The names in plain arguments whose meaning depends on their expected types.
    fn decided_by_types(&self, list: &ast::ArgList, names: &Names) -> Vec<Span> {
        let at = span(list.syntax().text_range());
        let of_a_trait = |key: Key| match as_assoc_item(key.definition(), self.db)?.container(self.db) {
            AssocItemContainer::Trait(_) => Some(()),
            AssocItemContainer::Impl(it) => it.trait_(self.db).map(drop),
        };
        let is_decided = |resolution: StoredResolution| match resolution {
            StoredResolution::Means(meaning) => {
                meaning.definition != meaning.original || of_a_trait(meaning.definition).is_some()
            }
            StoredResolution::Unresolved(_) => true,
        };
        let concerned = names.within(at.start, at.end).filter(|it| is_decided(it.1));
        let word = |at: usize| {
            let token = list.syntax().covering_element(TextRange::at(text_size(at), text_size(1)));
            span(token.text_range())
        };
        concerned.map(|it| word(it.0)).collect()
    }

    /// A name in a body has a different meaning, which may affect dependent statements. `read` is the body that was
    /// parsed last.
    fn invalidate_body(
        &mut self,
        file: FileId,
        before: &FileInterface,
        body: Span,
        at: usize,
        read: &mut Option<(Span, Option<Statements>)>,
    ) {
        let text = before.text(body);
        let (_, statements) = match read.take().filter(|it| it.0 == body) {
            Some(known) => read.insert(known),
            None => read.insert((body, Statements::read(text))),
        };
        match statements.as_ref().and_then(|it| it.dependents(text, at - body.start)) {
            Some(parts) => parts.into_iter().for_each(|it| self.invalidate(file, it.moved(|at| at + body.start))),
            None => self.invalidate(file, body),
        }
    }

    fn invalidate(&mut self, file: FileId, stretch: Span) {
        self.found.stretches.entry(file).or_default().push(stretch);
    }
}

/// Whether a word may be a macro's name: in a call, in an import, or in the input of another macro.
fn may_name_macro(token: &SyntaxToken) -> bool {
    let after = token.next_token().and_then(|it| skip_trivia_token(it, Direction::Next));
    token.kind() == SyntaxKind::IDENT
        && (after.is_some_and(|it| it.kind() == SyntaxKind::BANG)
            || token.parent_ancestors().any(|it| ast::Use::can_cast(it.kind()) || ast::TokenTree::can_cast(it.kind())))
}

/// Whether all meanings at a place are known, and none of them is this item. An import may have more meanings than are
/// known, and a field that is called cannot be distinguished from a method.
fn means_others(names: &Names, at: usize, key: Key) -> bool {
    let mut resolutions = names.at(at).peekable();
    resolutions.peek().is_some()
        && resolutions.all(|(resolution, role)| match resolution {
            StoredResolution::Means(meaning) => {
                let is_called_field = role == Role::Call && matches!(meaning.definition, Key::Field(_));
                meaning.definition != key && meaning.original != key && role != Role::Import && !is_called_field
            }
            StoredResolution::Unresolved(_) => false,
        })
}

/// Of all these files the files of the crates that a change of these files may affect: their own crates, and the crates
/// that depend on those. Whatever a module or macro says about the location of its file, rust-analyzer looks for it in
/// its own source root. A crate's files are therefore all in the source root of its root file. `None` if no crate is
/// known.
pub(crate) fn reached_from(
    db: &RootDatabase,
    all: impl Iterator<Item = FileId>,
    changed: impl Iterator<Item = FileId>,
) -> Option<HashSet<FileId>> {
    let root_of = |file: FileId| db.file_source_root(file).source_root_id(db);
    let mut roots = HashSet::new();
    for file in changed {
        let crates = relevant_crates(db, file);
        if crates.is_empty() {
            return None;
        }
        for krate in crates.iter().chain(further_crates(db, root_of(file))) {
            roots.extend(krate.transitive_rev_deps(db).iter().map(|it| root_of(it.data(db).root_file_id)));
        }
    }
    Some(all.filter(|it| roots.contains(&root_of(*it))).collect())
}
