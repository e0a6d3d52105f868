//! The names that macros write themselves: those in the output of a file's macro calls that are not in the file's own
//! code. Each call is expanded, with the calls in its output, and each name is mapped by its span to the text that it
//! comes from (`ra_ap_hir_expand`, hygiene): a token of the macro's definition, a part of a string that a macro read as
//! code, or for a procedural macro the call itself. A procedural macro that makes text of its input and parses that
//! again loses the spans: then the name comes from the words of the input that name nothing else. What `include!` takes
//! into a body is the output of its call.

use std::collections::BTreeSet;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::{Crate, Semantics};
use ra_ap_hir_expand::{
    ExpandResult, FileRange, HirFileId, InFile, MacroCallId, MacroDefId, MacroDefKind, resolve_span,
};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize, WalkEvent, ast};
use rustc_hash::{FxHashMap, FxHashSet};

use super::definitions::plain_name;
use super::included::file_of_text;
use super::{Reader, Resolution, UnresolvedReason, is_name, textual_scope};
use crate::bounds;
use crate::syntax::attributes::{attributes_of, cfg_condition};
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions::{is_in_macro_definition, span, text_size, tokens_at};
use semdex_model::Span;
use semdex_text::words::occurrences;

/// The levels of macros in the output of macros that are followed: more are an error of the compiler.
const MAX_LEVELS: usize = 128;

/// The most nodes in the output of one call of the file, and of the calls in its output, that are visited. No call of
/// ripgrep or thiserror reaches this bound or the next one.
const MAX_NODES: usize = 200_000;

/// The most names in it that are resolved. The others are only collected. A call in the benches of itertools has more
/// than 4,000 and fewer than this.
const MAX_NAMES: usize = 40_000;

/// A name that a macro writes.
pub(crate) struct WrittenName<'db> {
    pub(crate) name: String,
    /// The text that it comes from.
    pub(crate) file: FileId,
    pub(crate) at: Span,
    /// The offset of the outermost call in the file that was read.
    pub(crate) call: usize,
    pub(crate) resolution: Resolution<'db>,
    /// A macro of the workspace writes it, and no text has it: the place is that of the call.
    pub(crate) has_no_text: bool,
}

/// What was left out of the output of macros.
#[derive(Default)]
pub(crate) struct Unread {
    /// Names that were not resolved at each of their places.
    pub(crate) names: BTreeSet<Box<str>>,
    /// Not even all names are known.
    pub(crate) is_cut: bool,
    /// The output renames what it imports.
    pub(crate) has_aliases: bool,
}

/// Reads the names that the macros write which a file calls, in the crate for which it is read: those that are wanted.
/// Adds what was left out.
pub(crate) fn read<'db>(
    reader: &Reader<'_, 'db>,
    is_wanted: &dyn Fn(&str) -> bool,
    unread: &mut Unread,
    visit: &mut dyn FnMut(WrittenName<'db>),
) {
    let mut walk = Walk {
        reader,
        is_wanted,
        sema: reader.sema,
        call: None,
        words: None,
        sources: FxHashMap::default(),
        is_own: false,
        nodes: 0,
        names: 0,
        unread,
        visit,
    };
    if reader.krate.is_some() && may_expand(&reader.tree) {
        walk.walk(&reader.tree, None, 0);
    }
}

/// Whether there is a macro call, or an attribute that may be one.
fn may_expand(tree: &SyntaxNode) -> bool {
    tree.descendants().any(|it| ast::MacroCall::can_cast(it.kind()) || ast::Attr::can_cast(it.kind()))
}

/// The outermost call: places in the file that is read.
#[derive(Clone, Copy)]
struct Outermost {
    /// The macro's name.
    at: Span,
    /// What the macro is given: the tokens of the call, or the item with the attribute.
    input: Span,
}

/// The macro whose definition has the token at an offset in the output of a call. `None` for the code of the file with
/// the call.
fn writer_at(db: &RootDatabase, output: MacroCallId, at: TextSize) -> Option<MacroDefId> {
    let call = output.expansion_span_map(db).span_at(at).ctx.outer_expn(db)?;
    Some(MacroCallId::from(call).loc(db).def)
}

/// The text that the token at an offset in the output of a call comes from.
fn place_at(db: &RootDatabase, output: MacroCallId, at: TextSize) -> (FileId, TextRange) {
    let FileRange { file_id, range } = resolve_span(db, output.expansion_span_map(db).span_at(at));
    (file_id.file_id(db), range)
}

fn is_procedural(macro_: &MacroDefId) -> bool {
    matches!(macro_.kind, MacroDefKind::ProcMacro(..))
}

fn is_own(db: &RootDatabase, macro_: &MacroDefId) -> bool {
    macro_.krate.data(db).origin.is_local()
}

struct Walk<'r, 'a, 'db> {
    reader: &'r Reader<'a, 'db>,
    is_wanted: &'r dyn Fn(&str) -> bool,
    sema: &'a Semantics<'db, RootDatabase>,
    call: Option<Outermost>,
    /// The words of its input, for the input at a place.
    words: Option<(Span, FxHashSet<String>)>,
    /// Whether the sources of a crate of macros have a word.
    sources: FxHashMap<(CrateId, Box<str>), bool>,
    /// The innermost macro is the workspace's own, or one of the language's in the output of such a macro.
    is_own: bool,
    /// In its output so far.
    nodes: usize,
    names: usize,
    unread: &'r mut Unread,
    visit: &'r mut dyn FnMut(WrittenName<'db>),
}

impl<'db> Walk<'_, '_, 'db> {
    /// Visits what is written below a node: of the file, or of the output of a macro.
    fn walk(&mut self, root: &SyntaxNode, output: Option<MacroCallId>, level: usize) {
        let mut preorder = root.preorder();
        while let Some(event) = preorder.next() {
            let WalkEvent::Enter(node) = event else { continue };
            self.nodes += usize::from(self.call.is_some());
            if self.nodes > MAX_NODES {
                self.unread.is_cut = true;
                return;
            }
            self.unread.has_aliases |= output.is_some() && ast::Rename::can_cast(node.kind());
            if output.is_some() && self.is_off(&node) {
                preorder.skip_subtree();
            } else if let Some(call) = ast::MacroCall::cast(node.clone()) {
                if let Some(output) = output
                    && let Some(name) = call.path().and_then(|it| it.segment()).and_then(|it| it.name_ref())
                {
                    self.look_at(name.syntax(), output);
                }
                self.enter_call(&call, output, level);
                preorder.skip_subtree();
            } else if let Some(item) = ast::Item::cast(node.clone()) {
                if self.enter_attributes(&item, output, level) {
                    preorder.skip_subtree();
                }
            } else if let Some(output) = output.filter(|_| ast::NameLike::can_cast(node.kind())) {
                self.look_at(&node, output);
            } else if let Some(output) = output.filter(|_| in_attribute(&node)) {
                for token in node.children_with_tokens().filter_map(|it| it.into_token()).filter(is_name) {
                    let reader = self.reader;
                    let meaning = || Some(reader.meaning_in(std::slice::from_ref(&token), true, &token));
                    self.look_at_token(&token, output, &meaning);
                }
            }
        }
    }

    /// Whether the crate switches off a part of the output. Another build may have it.
    fn is_off(&self, node: &SyntaxNode) -> bool {
        let conditions = attributes_of(node).filter_map(|it| cfg_condition(&it));
        let cfg = |it: Crate| it.cfg(self.sema.db);
        conditions.into_iter().any(|of| self.reader.krate.is_some_and(|it| cfg(it).check(&of) == Some(false)))
    }

    fn enter_call(&mut self, call: &ast::MacroCall, within: Option<MacroCallId>, level: usize) {
        let Some(id) = self.sema.to_def(call).filter(|it| self.may_write(*it, Some(call))) else { return };
        let meant = textual_scope::macro_of(self.sema, call);
        if meant.is_some() && meant != self.sema.resolve_macro_call(call) {
            return;
        }
        let name = call.path().and_then(|it| it.segment()).and_then(|it| it.name_ref());
        let at = name.map_or_else(|| call.syntax().text_range(), |it| it.syntax().text_range());
        let output = self.sema.parse_or_expand(id.into());
        let tokens = call.token_tree();
        if let Some((tokens, within)) = tokens.as_ref().zip(within) {
            self.look_at_dropped(tokens, within, id);
        }
        let input = tokens.map_or(at, |it| it.syntax().text_range());
        let call = self.outermost(at, input, within);
        self.enter(&output, id, call, level);
    }

    /// Enters the output of an item's attributes and derive macros. Returns whether the output replaces the item.
    fn enter_attributes(&mut self, item: &ast::Item, within: Option<MacroCallId>, level: usize) -> bool {
        if item.attrs().next().is_none() {
            return false;
        }
        let name_at = item.syntax().children().find_map(ast::Name::cast);
        let input = item.syntax().text_range();
        let at = name_at.map_or(input, |it| it.syntax().text_range());
        if let Some(ExpandResult { value: InFile { file_id, value }, .. }) = self.sema.expand_attr_macro(item) {
            if let Some(id) = file_id.macro_file() {
                let call = self.outermost(self.attribute(item, id).unwrap_or(at), input, within);
                self.enter(&value, id, call, level);
            }
            return true;
        }
        for meta in item.attrs().flat_map(|it| it.skip_cfg_attrs()) {
            for made in self.sema.expand_derive_macro(&meta).into_iter().flatten().flatten() {
                let HirFileId::MacroFile(id) = self.sema.hir_file_for(&made.value) else { continue };
                if self.may_write(id, None) {
                    let call = self.outermost(self.attribute(item, id).unwrap_or(at), input, within);
                    self.enter(&made.value, id, call, level);
                }
            }
        }
        false
    }

    /// The name of an attribute macro, or of a derive macro in its list.
    fn attribute(&self, item: &ast::Item, id: MacroCallId) -> Option<TextRange> {
        let loc = id.loc(self.sema.db);
        let MacroDefKind::ProcMacro(definition, ..) = loc.def.kind else { return None };
        let derived = |it: &ast::Fn| {
            let of = it.attrs().find(|it| it.simple_name().is_some_and(|it| it == "proc_macro_derive"))?;
            let tokens = of.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
            // After the attribute's own name.
            tokens.filter(|it| it.kind() == SyntaxKind::IDENT).nth(1).map(|it| it.text().to_owned())
        };
        let function = definition.to_node(self.sema.db);
        let wanted = derived(&function).or_else(|| Some(function.name()?.text().to_string()))?;
        let tokens = item.attrs().flat_map(|it| it.syntax().descendants_with_tokens().collect::<Vec<_>>());
        let mut tokens = tokens.filter_map(|it| it.into_token());
        tokens.find(|it| it.kind() == SyntaxKind::IDENT && it.text() == wanted).map(|it| it.text_range())
    }

    fn outermost(&self, at: TextRange, input: TextRange, within: Option<MacroCallId>) -> Outermost {
        let last = TextRange::empty(input.end() - TextSize::from(1));
        let input = Span::new(self.written_at(input, within).start, self.written_at(last, within).end);
        Outermost { at: self.written_at(at, within), input }
    }

    /// The place in the file of what is in its tree, or in the output of an attribute of the language like `#[test]`.
    fn written_at(&self, at: TextRange, within: Option<MacroCallId>) -> Span {
        match within.filter(|_| self.call.is_none()) {
            Some(output) => {
                let db = self.sema.db;
                span(resolve_span(db, output.expansion_span_map(db).span_at(at.start())).range)
            }
            None => span(at),
        }
    }

    fn enter(&mut self, output: &SyntaxNode, id: MacroCallId, call: Outermost, level: usize) {
        if level >= MAX_LEVELS {
            return;
        }
        // An attribute of the language leaves the code as it is.
        let is_builtin = matches!(id.loc(self.sema.db).def.kind, MacroDefKind::BuiltInAttr(..));
        let is_outermost = self.call.is_none() && !is_builtin;
        if is_outermost {
            (self.call, self.nodes, self.names) = (Some(call), 0, 0);
        }
        let called = id.loc(self.sema.db).def;
        let is_own = is_own(self.sema.db, &called) || self.is_own && !is_procedural(&called);
        let was_own = std::mem::replace(&mut self.is_own, is_own);
        self.walk(output, Some(id), level + 1);
        self.is_own = was_own;
        if is_outermost {
            (self.call, self.nodes, self.names) = (None, 0, 0);
        }
    }

    /// Whether the output may have names of the workspace that are not in the file's code. A library's declarative macro
    /// that the file's code calls has none, except names of calls in its input.
    fn may_write(&self, id: MacroCallId, call: Option<&ast::MacroCall>) -> bool {
        let loc = id.loc(self.sema.db);
        match loc.def.kind {
            _ if self.call.is_some() => true,
            _ if loc.def.krate.data(self.sema.db).origin.is_local() => true,
            MacroDefKind::ProcMacro(..) => true,
            // The files that it takes in among items are read as such.
            _ if loc.def.is_include() => call.is_some_and(|it| !is_among_items(it)),
            _ => call.and_then(|it| it.token_tree()).is_some_and(|it| {
                let tokens = it.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
                tokens.skip(1).any(|it| it.kind() == SyntaxKind::BANG)
            }),
        }
    }

    /// A name in the output of a macro.
    fn look_at(&mut self, node: &SyntaxNode, output: MacroCallId) {
        let token = node.descendants_with_tokens().filter_map(|it| it.into_token()).find(is_name);
        let reader = self.reader;
        if let Some(token) = token {
            self.look_at_token(&token, output, &|| reader.resolve_node(node));
        }
    }

    fn look_at_token(
        &mut self,
        token: &SyntaxToken,
        output: MacroCallId,
        meaning: &dyn Fn() -> Option<Resolution<'db>>,
    ) {
        let db = self.sema.db;
        let Some(call) = self.call.filter(|_| token.text() != "$crate") else { return };
        let name = plain_name(token.text());
        if !(self.is_wanted)(name) {
            return;
        }
        if self.names > MAX_NAMES {
            self.unread.names.insert(name.into());
            return;
        }
        let writer = writer_at(db, output, token.text_range().start());
        let (is_own, is_procedural) =
            (writer.is_some_and(|it| is_own(db, &it)), writer.as_ref().is_some_and(is_procedural));
        let own = self.reader.file;
        let (file, places) = match writer {
            // A library's macro may only have lost where the name comes from.
            Some(_) if is_procedural && !is_own && !self.is_word_of_input(call, name) => return,
            Some(_) if is_procedural => (own, Vec::new()),
            Some(_) if !is_own => return,
            _ => {
                let (file, range) = place_at(db, output, token.text_range().start());
                let text = db.file_text(file).text(db);
                let (start, end) = (usize::from(range.start()), usize::from(range.end()));
                let Some(written) = text.get(start..end) else { return };
                let is_same = plain_name(written) == name;
                // What the file's own code has is read there. Another file is one that `include!` takes into a body.
                if is_same && writer.is_none() && file == own && self.is_read_as_code(start) {
                    return;
                }
                let in_string = named_in_string(written, name).filter(|_| written.ends_with(['"', '#']));
                let in_string = in_string.map(|at| Span::new(start + at, start + at + name.len()));
                let places = if is_same { vec![Span::new(end - name.len(), end)] } else { in_string.collect() };
                match places.is_empty() {
                    false => (file, places),
                    // It is put together of other names, or has the place of something else.
                    true => (own, vec![call.at]),
                }
            }
        };
        self.names += 1;
        let resolution = bounds::catch(meaning).unwrap_or_else(|_| {
            self.reader.abandoned.set(Some(token.text_range()));
            self.unread.names.insert(name.into());
            None
        });
        let resolution = resolution.map(|it| self.reader.with_bound_fields(it));
        let resolution = resolution.unwrap_or(Resolution::Unresolved(UnresolvedReason::MacroInput));
        let places = match is_procedural {
            false => places,
            true if is_own => match self.words_of_input(call, name, &resolution) {
                // It may also write the name by itself.
                Some(of_input)
                    if of_input.is_empty() && writer.is_some_and(|it| self.is_word_of_sources(it.krate, name)) =>
                {
                    vec![call.at]
                }
                of_input => of_input.unwrap_or(vec![call.at]),
            },
            true => self.words_of_input(call, name, &resolution).unwrap_or_default(),
        };
        let is_own = is_own || writer.is_none() && self.is_own;
        for at in places {
            let (name, resolution) = (name.to_owned(), resolution.clone());
            let has_no_text = is_own && file == own && at == call.at;
            (self.visit)(WrittenName { name, file, at, call: call.at.start, resolution, has_no_text });
        }
    }

    /// Where the input of a procedural macro has a name that it writes without saying where it comes from: the words of
    /// that name that mean nothing by themselves, and no place if one means the same by itself. `None` if there are no
    /// such words: the macro has the name from elsewhere.
    fn words_of_input(&self, call: Outermost, name: &str, meaning: &Resolution<'db>) -> Option<Vec<Span>> {
        let mut places = Vec::new();
        for word in self.input(call).filter(|it| plain_name(it.text()) == name) {
            let Span { start, end } = span(word.text_range());
            match self.reader.resolve_token(&word, start) {
                Resolution::Other | Resolution::Unresolved(UnresolvedReason::MacroInput) => {
                    places.push(Span::new(end - name.len(), end));
                }
                own if own.agrees_with(meaning) => return Some(Vec::new()),
                _ => {}
            }
        }
        (!places.is_empty()).then_some(places)
    }

    /// The words of what a macro is given.
    fn input(&self, call: Outermost) -> impl Iterator<Item = SyntaxToken> + use<> {
        let (tree, input) = (&self.reader.tree, TextRange::new(text_size(call.input.start), text_size(call.input.end)));
        let covered = tree.text_range().contains_range(input).then(|| tree.covering_element(input));
        let node = covered.and_then(|it| it.into_node());
        let tokens = node.into_iter().flat_map(|it| it.descendants_with_tokens());
        tokens.filter_map(|it| it.into_token()).filter(move |it| input.contains_range(it.text_range()) && is_name(it))
    }

    /// Whether what a macro is given has this word.
    fn is_word_of_input(&mut self, call: Outermost, name: &str) -> bool {
        if self.words.as_ref().is_none_or(|it| it.0 != call.input) {
            let words = self.input(call).map(|it| plain_name(it.text()).to_owned()).collect();
            self.words = Some((call.input, words));
        }
        self.words.as_ref().is_some_and(|it| it.1.contains(name))
    }

    /// Whether the sources of a crate, or of the workspace's crates that it depends on, have this word.
    fn is_word_of_sources(&mut self, krate: CrateId, name: &str) -> bool {
        let db = self.sema.db;
        let is_there = || {
            let crates = krate.transitive_deps(db).into_iter().filter(|it| it.data(db).origin.is_local());
            let modules = crates.flat_map(|it| Crate::from(it).modules(db));
            let mut files = modules.map(|it| file_of_text(db, it.definition_source_file_id(db)));
            files.any(|it| occurrences(db.file_text(it).text(db), name).next().is_some())
        };
        *self.sources.entry((krate, name.into())).or_insert_with(is_there)
    }

    /// Whether the file's own code is read at this offset: not the definition of a macro, and not a helper attribute
    /// under a condition, whose tokens cannot be followed into the output.
    fn is_read_as_code(&self, at: usize) -> bool {
        if is_in_macro_definition(&self.reader.tree, at) {
            return false;
        }
        let token = tokens_at(&self.reader.tree, at).right_biased();
        !token.is_some_and(|it| it.parent_ancestors().any(|it| ast::CfgAttrMeta::can_cast(it.kind())))
    }

    /// Visits the names in the input of a call in the output that a definition of the workspace writes and the called
    /// macro does not: it compares them with its rules, or makes text of them. They name nothing.
    fn look_at_dropped(&mut self, input: &ast::TokenTree, within: MacroCallId, called: MacroCallId) {
        let db = self.sema.db;
        let Some(call) = self.call else { return };
        if called.parse_macro_expansion_error(db).is_some() {
            return;
        }
        let tokens = input.syntax().descendants_with_tokens().filter_map(|it| it.into_token()).filter(is_name);
        let is_written = |it: &SyntaxToken| {
            let writer = writer_at(db, within, it.text_range().start());
            writer.is_some_and(|it| is_own(db, &it) && !is_procedural(&it))
        };
        let written: Vec<SyntaxToken> = tokens.filter(|it| it.text() != "$crate").filter(is_written).collect();
        if written.is_empty() {
            return;
        }
        let outputs = [Some(called), called.eager_arg(db)].into_iter().flatten();
        let spans = outputs.clone().flat_map(|it| it.expansion_span_map(db).iter());
        let kept: FxHashSet<_> = spans.map(|it| (it.1.anchor, it.1.range)).collect();
        // It may have lost where a name comes from.
        let is_lost = |name: &str| {
            let tokens = outputs.clone().flat_map(|it| self.sema.parse_or_expand(it.into()).descendants_with_tokens());
            tokens.filter_map(|it| it.into_token()).any(|it| plain_name(it.text()) == name)
        };
        let is_procedural = is_procedural(&called.loc(db).def);
        for token in written {
            let at = token.text_range().start();
            let span = within.expansion_span_map(db).span_at(at);
            let name = plain_name(token.text());
            if !(self.is_wanted)(name) {
                continue;
            }
            if kept.contains(&(span.anchor, span.range)) || is_procedural && is_lost(name) {
                continue;
            }
            let (file, range) = place_at(db, within, at);
            let end = usize::from(range.end());
            let at = Span::new(end.saturating_sub(name.len()), end);
            let (name, resolution) = (name.to_owned(), Resolution::Other);
            (self.visit)(WrittenName { name, file, at, call: call.at.start, resolution, has_no_text: false });
        }
    }
}

/// Whether a node is the input of an attribute, or a part of it.
fn in_attribute(node: &SyntaxNode) -> bool {
    node.kind() == SyntaxKind::TOKEN_TREE && node.ancestors().any(|it| ast::Attr::can_cast(it.kind()))
}

/// Where a string has a name that a macro read as code: in braces if it is there, and otherwise anywhere.
fn named_in_string<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let in_braces = |at: &usize| text[..*at].rfind(['{', '}']).is_some_and(|it| text[it..].starts_with('{'));
    let has_any = occurrences(text, name).any(|it| in_braces(&it));
    occurrences(text, name).filter(move |it| !has_any || in_braces(it))
}

#[cfg(test)]
mod tests {
    use super::named_in_string;

    #[test]
    fn names_in_strings() {
        let found = |text: &'static str| named_in_string(text, "port").collect::<Vec<_>>();
        assert_eq!(found("\"port\""), [1]);
        assert_eq!(found("\"self::port\""), [7]);
        assert_eq!(found("\"port {port} of {.port}\""), [7, 18]);
        assert_eq!(found("\"ports\""), [0; 0]);
    }
}
